//! The end of an event that is visible: what is written of it before the timer is read, and behind it.

use super::{Actor, Recorder};
use crate::record::{self, Ended, RecordWords, What};
use crate::setup::Switches;
use crate::wait::{Ends, Wait};

impl<'r> Actor<'r> {
    /// Whatever of the end comes before the timer is read, where the wait is visible and in the histories.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn begin_end<'a>(&'a self, on: &'a Recorder<'r>, wait: &'a Wait<'_>, switches: Switches) -> Ending<'a> {
        let Some(record) = wait.shown else { return Ending { record: None, row: None, changed: false } };
        let amount = (wait.ends == Ends::WithAmount).then_some(wait.amount);
        record::begin_end(record, amount);
        let is_wait = core::ptr::eq(on, &self.waits);
        let history = switches.has(Switches::HISTORY);
        let row = if switches.has(Switches::HISTORY_LONG) { on.long.next() } else { None };
        if let Some(row) = row {
            // The switches of a wait say all that its record does.
            let what = if is_wait { What::of_wait(wait.switches, amount) } else { What::of(record) };
            let ended = Ended { record, what, start: wait.start, amount: wait.ends.has_more().then_some(wait.amount) };
            on.long.begin(row, &ended);
            if !is_wait {
                record::hide_ended(row, record);
                record::set_end_event(row, self.last_sequence());
            }
            if !on.ring.give_back() {
                self.put_in_both(on, record, row, history);
            }
        } else if !on.ring.give_back() {
            self.put_in(on, record, history);
        }
        // What begins beside a wait says so: of one that is alone, the last that began is the wait itself.
        if !is_wait {
            record::set_end_event(record, self.last_sequence());
        }
        Ending { record: Some(record), row, changed: amount.is_some() }
    }

    /// As [`put_in`](Self::put_in), of an event that is in the long history, too. Whether it is hidden there is asked here alone: while a wait ran
    /// that was hidden, it came to be [among others](Self::honour).
    #[cold]
    #[inline(never)]
    fn put_in_both(&self, on: &Recorder<'r>, record: &RecordWords, row: &RecordWords, history: bool) {
        record::hide_ended(row, record);
        record::say_end_event(row, self.last_sequence());
        self.put_in(on, record, history);
    }

    /// The record of an event that ends, where others ran, or without history. What encloses what begins now is what enclosed a wait that
    /// ran beside others; in other rings it is the caller's to say.
    #[cold]
    #[inline(never)]
    fn put_in(&self, on: &Recorder<'r>, record: &RecordWords, history: bool) {
        record::say_end_event(record, self.last_sequence());
        if on.ring.put_in(record, history) && core::ptr::eq(on, &self.waits) {
            let enclosing = record::nesting(record);
            // What it lay within otherwise may have ended before it.
            self.outer.set(if enclosing.is_wait() { enclosing } else { self.enclosing_stage() });
        }
    }
}

/// Where a wait is being written that ends, but for the time.
pub(crate) struct Ending<'r> {
    pub(super) record: Option<&'r RecordWords>,
    /// In the long history.
    pub(super) row: Option<&'r RecordWords>,
    /// Whether words of the record change that readers look at while the event runs.
    pub(super) changed: bool,
}

impl Ending<'_> {
    /// The event has ended, at what `read` gives, if it is timed.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn finish<T: Copy + Into<Option<u64>>>(self, on: &Recorder<'_>, read: impl FnOnce() -> T) -> T {
        let Some(record) = self.record else { return read() };
        // Apart, and not asked behind the reading whether there is a row.
        match self.row {
            None => {
                let ticks = read();
                record::finish_end(record, self.changed, ticks.into());
                ticks
            }
            Some(row) => {
                let ticks = read();
                on.long.finish(row, ticks.into());
                record::finish_end(record, self.changed, ticks.into());
                ticks
            }
        }
    }
}
