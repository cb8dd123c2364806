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
            if !on.ring.give_back() {
                self.put_in(on, record, Some(row), history);
            } else if !is_wait {
                self.say_more(record, Some(row));
            }
        } else if !on.ring.give_back() {
            self.put_in(on, record, None, history);
        } else if !is_wait {
            self.say_more(record, None);
        }
        Ending { record: Some(record), row, changed: amount.is_some() }
    }

    /// The record of an event that ends, where others ran, or without history, and its row in the long history. What encloses what begins now is
    /// what enclosed a wait that ran beside others; in other rings it is the caller's to say.
    #[cold]
    #[inline(never)]
    fn put_in(&self, on: &Recorder<'r>, record: &RecordWords, row: Option<&RecordWords>, history: bool) {
        self.say_more(record, row);
        if on.ring.put_in(record, history) && core::ptr::eq(on, &self.waits) {
            let enclosing = record::nesting(record);
            // What it lay within otherwise may have ended before it.
            self.outer.set(if enclosing.is_wait() { enclosing } else { self.enclosing_stage() });
        }
    }

    /// What is said of all events that end but of waits that ran alone. The last that began before the end was such a wait itself, for what begins
    /// beside it joins it; and it was not hidden while it ran, or it had come to be [among others](Self::honour).
    fn say_more(&self, record: &RecordWords, row: Option<&RecordWords>) {
        let last = self.last_sequence();
        record::set_end_event(record, last);
        if let Some(row) = row {
            record::hide_ended(row, record);
            record::set_end_event(row, last);
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
