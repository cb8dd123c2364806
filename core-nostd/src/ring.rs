//! The records of an actor, and the order in which they are taken: the one whose event ended longest ago first.
//!
//! They are linked in that order, round and round. Where events follow one another, what is taken is what comes next, and stays in its
//! place among the others until it has ended; then it is the last. Only where events lie within one another, or overlap, are the records
//! of those that run taken out, and put in where they belong when they end.

use crate::record::{self, RecordWords, Sequence};
use core::cell::Cell;

/// The records of one actor, used by it alone.
#[derive(Debug)]
pub(crate) struct Ring<'r> {
    records: &'r [RecordWords],
    /// What the owner's events count from.
    base: Sequence,
    /// Where no event runs, the record that is taken next, or [`UNKEPT`] more; where one runs alone, [`ALONE`] more than the one behind its own, or
    /// [`ALONE_UNKEPT`]; otherwise [`OUT`].
    next: Cell<usize>,
    /// Where `next` is [`OUT`]: the record that is taken next, [`OUT`] if none is left, and how many events run.
    first: Cell<usize>,
    running: Cell<usize>,
}

/// What runs alone and is kept when it ends makes of the next record's index so much more: so at the end it is taken off, and the sign of what is
/// left tells whether it was there. A record's link is as much more than an index, and what `next` is while the event runs: so where it begins
/// nothing is added, and which of these states it is in need not be asked.
const ALONE: usize = 1 << (if usize::BITS < 32 { usize::BITS } else { 32 } - 2);
/// No index: several run, or one that did not begin alone. The link of each of these.
const OUT: usize = ALONE / 2;
/// No index: an event runs alone, and it is asked at the end whether it is kept. Its link; that which it had is in `first`.
const ALONE_UNKEPT: usize = OUT + 1;
/// What the next record's index is more, where what begins may not be kept.
const UNKEPT: usize = OUT / 2;

#[cfg_attr(not(debug_assertions), inline(always))]
fn link(record: &RecordWords) -> usize {
    record[record::word::NEXT].get() as usize
}

fn set_link(record: &RecordWords, link: usize) {
    record[record::word::NEXT].set(link as u64);
}

/// The record that is taken after this one.
fn next_of(record: &RecordWords) -> usize {
    link(record).wrapping_sub(ALONE)
}

fn set_next_of(record: &RecordWords, index: usize) {
    set_link(record, index.wrapping_add(ALONE));
}

/// The one before.
fn previous_of(record: &RecordWords) -> usize {
    record[record::word::PREVIOUS].get() as usize
}

fn set_previous_of(record: &RecordWords, index: usize) {
    record[record::word::PREVIOUS].set(index as u64);
}

impl<'r> Ring<'r> {
    pub(crate) fn new(records: &'r [RecordWords], base: Sequence) -> Ring<'r> {
        let len = records.len();
        for (index, record) in records.iter().enumerate() {
            set_next_of(record, if index + 1 == len { 0 } else { index + 1 });
            set_previous_of(record, if index == 0 { len - 1 } else { index - 1 });
        }
        Ring { records, base, next: Cell::new(0), first: Cell::new(OUT), running: Cell::new(0) }
    }

    /// All of them.
    pub(crate) fn records(&self) -> &'r [RecordWords] {
        self.records
    }

    /// Where a record is among them.
    pub(crate) fn index_of(&self, record: &RecordWords) -> usize {
        record::index_in(self.records, record)
    }

    /// Whether no event runs.
    pub(crate) fn is_idle(&self) -> bool {
        self.next.get() < self.records.len()
    }

    /// Whether an event runs alone: nothing else ran since it began that runs now.
    pub(crate) fn is_alone(&self) -> bool {
        self.next.get() >= ALONE_UNKEPT
    }

    /// The record for an event that begins, and is kept when it ends or not. None if each is used by an event that runs.
    pub(crate) fn take(&self, is_kept: bool) -> Option<&'r RecordWords> {
        if !is_kept {
            self.expect_unkept();
        }
        let record = self.take_alone().or_else(|| self.take_unkept()).or_else(|| self.take_beside())?;
        self.set_running(record);
        Some(record)
    }

    /// The same of one that is kept when it ends, if no other event runs. Otherwise None, and [`take_unkept`](Self::take_unkept) is to be asked,
    /// then [`take_beside`](Self::take_beside). [`set_running`](Self::set_running) follows.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn take_alone(&self) -> Option<&'r RecordWords> {
        self.records.get(self.next.get())
    }

    /// The event runs whose record was taken. Not where it was taken: so what is written there need not wait for the link.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn set_running(&self, record: &RecordWords) {
        self.next.set(link(record));
    }

    /// An event begins that may not be kept: [`take_alone`](Self::take_alone) does not find its record, and [`take_unkept`](Self::take_unkept)
    /// does. So of one that is kept nobody asks, neither where it begins nor where it ends.
    #[cold]
    #[inline(never)]
    pub(crate) fn expect_unkept(&self) {
        if self.is_idle() {
            self.next.set(self.next.get() + UNKEPT);
        }
    }

    /// The record of an event that [may not be kept](Self::expect_unkept); None if other events run.
    pub(crate) fn take_unkept(&self) -> Option<&'r RecordWords> {
        let record = self.records.get(self.next.get().wrapping_sub(UNKEPT))?;
        self.first.set(link(record));
        set_link(record, ALONE_UNKEPT);
        Some(record)
    }

    /// The record of the event that runs alone has its link again, if it [may not be kept](Self::expect_unkept).
    fn relink(&self, record: &RecordWords) {
        if self.next.get() == ALONE_UNKEPT {
            set_link(record, self.first.get());
        }
    }

    /// Takes the record of the event that runs alone out of the order, so that it is one among others from now on. None if there is none.
    pub(crate) fn join(&self) -> Option<&'r RecordWords> {
        if !self.is_alone() {
            return None;
        }
        let alone = self.records.iter().position(|record| record::is_unfinished_of(record, self.base))?;
        let record = self.records.get(alone)?;
        self.relink(record);
        self.first.set(self.take_out(alone));
        self.running.set(1);
        self.next.set(OUT);
        Some(record)
    }

    /// The record for an event that begins while others run. None if each is used by one that runs.
    pub(crate) fn take_beside(&self) -> Option<&'r RecordWords> {
        if self.is_alone() {
            self.join()?;
        }
        let first = self.first.get();
        let record = self.records.get(first)?;
        self.first.set(self.take_out(first));
        self.running.set(self.running.get() + 1);
        Some(record)
    }

    /// Takes a record out of the order, and returns the one behind it, if there is another.
    fn take_out(&self, index: usize) -> usize {
        let Some(record) = self.records.get(index) else { return OUT };
        let (next, previous) = (next_of(record), previous_of(record));
        let (Some(behind), Some(before)) = (self.records.get(next), self.records.get(previous)) else { return OUT };
        set_previous_of(behind, previous);
        set_next_of(before, next);
        set_link(record, OUT);
        if next == index { OUT } else { next }
    }

    /// The record of the event that ends is the last that is written again, if the event ran alone, and is kept. Otherwise false, and
    /// [`put_in`](Self::put_in) is to be called.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn give_back(&self) -> bool {
        let next = self.next.get().wrapping_sub(ALONE);
        self.next.set(next);
        next.cast_signed() >= 0
    }

    /// After [`give_back`](Self::give_back), which did not: the same, where other events ran, or without history: then it is the next that is
    /// written again. Returns whether others ran.
    pub(crate) fn put_in(&self, record: &RecordWords, history: bool) -> bool {
        self.next.set(self.next.get().wrapping_add(ALONE));
        let index = self.index_of(record);
        if self.is_alone() {
            self.relink(record);
            self.next.set(if history { next_of(record) } else { index });
            return false;
        }
        let first = self.first.get();
        let (next, previous) = match self.records.get(first) {
            Some(next) => (first, previous_of(next)),
            None => (index, index),
        };
        set_next_of(record, next);
        set_previous_of(record, previous);
        if let (Some(behind), Some(before)) = (self.records.get(next), self.records.get(previous)) {
            set_previous_of(behind, index);
            set_next_of(before, index);
        }
        if !history || next == index {
            self.first.set(index);
        }
        let running = self.running.get().saturating_sub(1);
        self.running.set(running);
        if running == 0 {
            self.next.set(self.first.get());
        }
        true
    }
}
