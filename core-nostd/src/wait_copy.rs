//! Copies of waits: whole, but not decoded, for who looks at many threads often and at few of the rows.

use crate::record::{self, Read, Sequence};
use crate::region::{RECORD, Region, SLOT, Section};
use crate::slot::{self, Look};
use crate::sync::Word;
use crate::table::Sweep;
use crate::tables::EventsWaitsRow;
use crate::tables::events_waits;
use crate::tables::single_events::Event;

/// A wait as it was in the region at one moment, whole. [`row`](Self::row) makes of it what the tables show.
#[derive(Clone, Copy, Debug, Default)]
// Two cache lines, as the record is: with a word more each copy would be written to three.
#[repr(align(64))]
pub struct WaitCopy {
    record: [u64; RECORD],
}

/// What a copy has in the words that in a record are the ring's alone.
mod word {
    pub(super) const THREAD_ID: usize = crate::record::word::NEXT;
    pub(super) const BASE: usize = crate::record::word::PREVIOUS;
}

impl WaitCopy {
    /// The thread.
    pub fn thread_id(&self) -> u64 {
        self.record[word::THREAD_ID]
    }

    /// Whether it had ended.
    pub fn has_ended(&self) -> bool {
        record::is_ended(self.record[0])
    }

    /// The row that `events_waits_current` or `events_waits_history` show of it. None for a copy that was never made, and for an event
    /// that TRUNCATE has hidden from both, or from the first where it has not entered the second.
    pub fn row(&self, region: &Region<'_>) -> Option<EventsWaitsRow> {
        let words = self.record.map(Word::new);
        let Read::Whole(snapshot) = record::read(&words) else { return None };
        let hidden = snapshot.was_hidden_running()
            || (snapshot.is_hidden_from_current() && (snapshot.hidden_history || !snapshot.history));
        let base = Sequence(self.record[word::BASE]);
        let event = Event { record: &snapshot, thread_id: self.thread_id(), sequence: snapshot.sequence, base, place: None };
        (!hidden).then(|| (events_waits::TABLES.row)(region, &event))
    }
}

impl Region<'_> {
    /// How many waits [`copy_waits`](Self::copy_waits) finds at most.
    pub fn wait_places(&self) -> usize {
        self.arrays::<RECORD>(Section::Rings).len()
    }

    /// Copies the waits of all threads that are there now, those that run and those that ended last, whole and in no order. As many as
    /// `into` has room for; what does not fit counts as skipped. The first so many of `into` are those of this call: `rows` of the account.
    ///
    /// Takes a twentieth of the time that reading the tables takes, because names, source lines and times are left to
    /// [`WaitCopy::row`]; and unlike [`scan`](Self::scan) it does not pause for the threads that it disturbs.
    ///
    /// ```
    /// # use perfschema_core::{Actor, ActorIdentity, Config, Held, Identity, InstrumentName, Operation, Region, Setting, StaticRegion};
    /// # use perfschema_core::WaitStart;
    /// # use perfschema_timer::{SystemClock, Timers};
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &Timers::calibrate())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// let wait = actor.begin(&SystemClock, region.switches(class), class, &WaitStart::new(Operation::Lock));
    /// let mut waits = vec![Default::default(); region.wait_places()];
    /// let found = region.copy_waits(&mut waits).rows as usize;
    /// let running = waits[..found].iter().find(|wait| !wait.has_ended()).and_then(|wait| wait.row(&region));
    /// assert_eq!(running.unwrap().event_name, "wait/synch/mutex/app/LOCK_open");
    /// # actor.end(&SystemClock, wait, Held::None);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn copy_waits(&self, into: &mut [WaitCopy]) -> Sweep {
        let mut sweep = Sweep::of(self.wait_places());
        let mut into = into;
        for (index, words) in self.arrays::<SLOT>(Section::Slots).iter().enumerate() {
            let ring = self.arrays_of::<RECORD>(Section::Rings, index);
            let owner = match slot::look(words) {
                Look::Live(owner) => owner,
                Look::Free => {
                    sweep.free(ring.len());
                    continue;
                }
                Look::Changed => {
                    sweep.skipped(ring.len());
                    continue;
                }
            };
            let mut account = Sweep::default();
            let mut taken = 0;
            for record in ring {
                let Some(copy) = into.get_mut(taken) else {
                    account.skipped(1);
                    continue;
                };
                match record::copy(record, &mut copy.record) {
                    Read::Whole(version) if record::belongs_to(version, owner.base) => {
                        copy.record[word::THREAD_ID] = owner.thread_id;
                        copy.record[word::BASE] = owner.base.0;
                        taken += 1;
                        account.row();
                    }
                    Read::Whole(_) | Read::Free => account.free(1),
                    Read::Changed => account.changed(),
                }
            }
            if slot::still(words, &owner) {
                sweep.add(account);
                into = into.split_at_mut(taken).1;
            } else {
                // The thread has ended: some of them may be its successor's.
                sweep.skipped(ring.len());
            }
        }
        sweep
    }
}
