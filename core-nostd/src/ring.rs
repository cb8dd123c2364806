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
    /// Where no event runs, the record that is taken next, or [`UNKEPT`] more; where one runs alone, [`ALONE`] or [`ALONE_UNKEPT`]; otherwise
    /// [`OUT`].
    next: Cell<usize>,
    /// Where `next` is [`OUT`]: the record that is taken next, [`OUT`] if none is left, and how many events run.
    first: Cell<usize>,
    running: Cell<usize>,
}

/// No index: several run, or one that did not begin alone.
const OUT: usize = usize::MAX >> 1;
/// No index: an event runs alone, and is kept when it ends. Nothing else is more than [`OUT`], so its sign tells. Which record it has is looked
/// for where that matters: so nobody need keep it.
const ALONE: usize = usize::MAX;
/// No index: the same, but it is asked at the end whether it is kept.
const ALONE_UNKEPT: usize = OUT - 1;
/// What the next record's index is more, where what begins may not be kept.
const UNKEPT: usize = OUT / 2;

impl<'r> Ring<'r> {
    pub(crate) fn new(records: &'r [RecordWords], base: Sequence) -> Ring<'r> {
        let len = records.len();
        for (index, record) in records.iter().enumerate() {
            let next = if index + 1 == len { 0 } else { index + 1 };
            let previous = if index == 0 { len - 1 } else { index - 1 };
            record[record::word::NEXT].set(next as u64);
            record[record::word::PREVIOUS].set(previous as u64);
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
        self.next.get() == ALONE || self.next.get() == ALONE_UNKEPT
    }

    /// The record for an event that begins, and is kept when it ends or not. None if each is used by an event that runs.
    pub(crate) fn take(&self, is_kept: bool) -> Option<&'r RecordWords> {
        if !is_kept {
            self.expect_unkept();
        }
        self.take_alone().or_else(|| self.take_unkept()).or_else(|| self.take_beside())
    }

    /// The same of one that is kept when it ends, if no other event runs. Otherwise None, and [`take_unkept`](Self::take_unkept) is to be asked,
    /// then [`take_beside`](Self::take_beside).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn take_alone(&self) -> Option<&'r RecordWords> {
        let next = self.next.get();
        let record = self.records.get(next)?;
        self.next.set(ALONE);
        Some(record)
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
        self.next.set(ALONE_UNKEPT);
        Some(record)
    }

    /// Takes the record of the event that runs alone out of the order, so that it is one among others from now on. None if there is none.
    pub(crate) fn join(&self) -> Option<&'r RecordWords> {
        if !self.is_alone() {
            return None;
        }
        let alone = self.records.iter().position(|record| record::is_unfinished_of(record, self.base))?;
        let record = self.records.get(alone)?;
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
        let (next, previous) = (record[record::word::NEXT].get() as usize, record[record::word::PREVIOUS].get() as usize);
        let (Some(behind), Some(before)) = (self.records.get(next), self.records.get(previous)) else { return OUT };
        behind[record::word::PREVIOUS].set(previous as u64);
        before[record::word::NEXT].set(next as u64);
        if next == index { OUT } else { next }
    }

    /// The record of an event that ends is the last that is written again, if the event ran alone, and is kept. Otherwise false, and
    /// [`put_in`](Self::put_in) is to be called.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn give_back(&self, record: &RecordWords) -> bool {
        let is_alone = self.next.get() > OUT;
        if is_alone {
            self.next.set(record[record::word::NEXT].get() as usize);
        }
        is_alone
    }

    /// The same, where other events ran, or without history: then it is the next that is written again. Returns whether others ran.
    pub(crate) fn put_in(&self, record: &RecordWords, history: bool) -> bool {
        let index = self.index_of(record);
        if self.is_alone() {
            self.next.set(if history { record[record::word::NEXT].get() as usize } else { index });
            return false;
        }
        let first = self.first.get();
        let (next, previous) = match self.records.get(first) {
            Some(next) => (first, next[record::word::PREVIOUS].get() as usize),
            None => (index, index),
        };
        record[record::word::NEXT].set(next as u64);
        record[record::word::PREVIOUS].set(previous as u64);
        if let (Some(behind), Some(before)) = (self.records.get(next), self.records.get(previous)) {
            behind[record::word::PREVIOUS].set(index as u64);
            before[record::word::NEXT].set(index as u64);
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
