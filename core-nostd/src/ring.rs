//! The records of an actor, and the order in which they are taken: the one whose event ended longest ago first.
//!
//! They are linked in that order, round and round. Where events follow one another, what is taken is what comes next, and stays in its
//! place among the others until it has ended; then it is the last. Only where events lie within one another, or overlap, are the records
//! of those that run taken out, and put in where they belong when they end.

use crate::record::{self, RecordWords};
use core::cell::Cell;

/// The records of one actor, used by it alone.
#[derive(Debug)]
pub(crate) struct Ring<'r> {
    records: &'r [RecordWords],
    /// Where no event runs, the record that is taken next; of one that runs alone, the complement of its record; otherwise [`OUT`].
    next: Cell<usize>,
    /// Where `next` is [`OUT`]: the record that is taken next, [`OUT`] if none is left, and how many events run.
    first: Cell<usize>,
    running: Cell<usize>,
}

/// No index, nor the complement of one.
const OUT: usize = usize::MAX >> 1;

impl<'r> Ring<'r> {
    pub(crate) fn new(records: &'r [RecordWords]) -> Ring<'r> {
        let len = records.len();
        for (index, record) in records.iter().enumerate() {
            let next = if index + 1 == len { 0 } else { index + 1 };
            let previous = if index == 0 { len - 1 } else { index - 1 };
            record[record::word::NEXT].set(next as u64);
            record[record::word::PREVIOUS].set(previous as u64);
        }
        Ring { records, next: Cell::new(0), first: Cell::new(OUT), running: Cell::new(0) }
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
        self.next.get() > OUT
    }

    /// The record for an event that begins. None if each is used by an event that runs.
    pub(crate) fn take(&self) -> Option<&'r RecordWords> {
        self.take_alone().or_else(|| self.take_beside())
    }

    /// The same, if no other event runs; otherwise None, and [`take_beside`](Self::take_beside) is to be asked.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn take_alone(&self) -> Option<&'r RecordWords> {
        let next = self.next.get();
        let record = self.records.get(next)?;
        self.next.set(!next);
        Some(record)
    }

    /// Takes the record of the event that runs alone out of the order, so that it is one among others from now on. None if there is none.
    pub(crate) fn join(&self) -> Option<&'r RecordWords> {
        let alone = !self.next.get();
        let record = self.records.get(alone)?;
        self.first.set(self.take_out(alone));
        self.running.set(1);
        self.next.set(OUT);
        Some(record)
    }

    /// The record for an event that begins while others run. None if each is used by one that runs.
    pub(crate) fn take_beside(&self) -> Option<&'r RecordWords> {
        self.join();
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

    /// The record of an event that ends is the last that is written again, if the event ran alone, and enters the history. Otherwise false,
    /// and [`put_in`](Self::put_in) is to be called.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn give_back(&self, record: &RecordWords, history: bool) -> bool {
        let is_alone = history && self.next.get() > OUT;
        if is_alone {
            self.next.set(record[record::word::NEXT].get() as usize);
        }
        is_alone
    }

    /// The same, where other events ran, or without history: then it is the next that is written again. Returns whether others ran.
    pub(crate) fn put_in(&self, record: &RecordWords, history: bool) -> bool {
        let index = self.index_of(record);
        if self.next.get() > OUT {
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
