//! Tables of single events: `…_current`, `…_history`, `…_history_long`, copied under their version.
//!
//! The first two are read from the same records, the rings of the live threads. Which rows they show:
//!
//! - current: of each thread the events that run now, or if none does, the one that ended last (WL#2360);
//! - history: of each thread the events that ended last, as many as the history has places.

use crate::Class;
use crate::event::{EventStore, Place};
use crate::long_history;
use crate::record::{self, Read, Sequence, Snapshot};
use crate::region::{RECORD, RUNNING, Region, SLOT, Section, Text};
use crate::slot::{self, Look, Owner};
use crate::source::{Source, source_text};
use crate::table::{NestingEventType, Sweep};
use core::cell::Cell;
use core::cmp::Reverse;
use perfschema_timer::TimerName;

/// The declarations of the three: name, meaning, and which of the ways below they are read and truncated.
macro_rules! single_event_tables {
    ($tables:ident: $row:ident; $($(#[$example:meta])* $table:ident = $name:literal, $doc:literal, $scan:ident, $truncate:ident;)*) => { $(
        #[doc = concat!("`", $name, "`")]
        $(#[$example])*
        #[derive(Clone, Copy, Debug)]
        pub struct $table;

        impl $crate::table::TableSource for $table {
            type Row = $row;
            const DECLARATION: $crate::table::Declaration = $crate::table::Declaration {
                name: $name,
                doc: $doc,
                columns: $row::COLUMNS,
                primary_key: $crate::tables::single_events::primary_key!($scan),
                rights: $crate::table::Rights::TRUNCATE,
            };

            fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&$row)) -> $crate::table::Sweep {
                $tables.$scan(region, each)
            }

            fn truncate(&self, region: &Region<'_>) {
                $tables.$truncate(region);
            }
        }
    )* };
}
pub(super) use single_event_tables;

/// The long history has none, in MySQL either.
macro_rules! primary_key {
    (history_long) => {
        &[]
    };
    ($of_each_thread:ident) => {
        &["THREAD_ID", "EVENT_ID"]
    };
}
pub(super) use primary_key;

/// Looks at a thread's records for the row of `…_current`, where what is beside them may be overwritten before it is read.
pub(super) const LOOKS: usize = 8;

/// The three tables of a class of events.
pub(crate) struct SingleEvents<R> {
    pub(crate) store: &'static EventStore,
    /// What a row shows of an event.
    pub(crate) row: fn(&Region<'_>, &Event<'_>) -> R,
}

/// A row of those tables: the columns that all of them have around those of its own, and how it is made of an event.
macro_rules! event_row {
    (
        $(#[$meta:meta])*
        pub struct $row:ident {
            ..event,
            $( #[doc = $doc_before:literal] $sql_before:ident as $field_before:ident: $type_before:ty $(= $sql_type_before:expr)?, )*
            ..timer,
            $( #[doc = $doc:literal] $sql:ident as $field:ident: $type:ty $(= $sql_type:expr)?, )*
            ..nesting,
            $( #[doc = $doc_after:literal] $sql_after:ident as $field_after:ident: $type_after:ty $(= $sql_type_after:expr)?, )*
        }
        row($region:ident, $event:ident, $columns:ident) {
            $( let $name:ident = $init:expr; )*
            Row { $( $own:ident: $value:expr, )* }
        }
    ) => {
        $crate::table::row! {
            $(#[$meta])*
            pub struct $row {
                /// The thread.
                THREAD_ID as thread_id: u64,
                /// The event's number in its thread, from 1, over events of all classes but waits that are not visible; with THREAD_ID it identifies the row.
                EVENT_ID as event_id: u64,
                /// The number of the thread's last event when this one ended; NULL while it lasts.
                END_EVENT_ID as end_event_id: Option<u64>,
                /// Instrument name.
                EVENT_NAME as event_name: Text<128>,
                $( #[doc = $doc_before] $sql_before as $field_before: $type_before $(= $sql_type_before)?, )*
                /// File and line of the code that began it.
                SOURCE as source: Option<Text<64>>,
                /// When it began, in picoseconds since the start; after 2⁶⁴, 213 days, from 0 again; NULL if it is not timed.
                TIMER_START as timer_start: Option<u64>,
                /// When it ended, in picoseconds since the start; NULL while it lasts.
                TIMER_END as timer_end: Option<u64>,
                /// How long it took, in picoseconds; NULL while it lasts.
                TIMER_WAIT as timer_wait: Option<u64>,
                $( #[doc = $doc] $sql as $field: $type $(= $sql_type)?, )*
                /// EVENT_ID of the event that this one lies within, of those that were visible from their start.
                NESTING_EVENT_ID as nesting_event_id: Option<u64>,
                /// Type of the event that this one lies within.
                NESTING_EVENT_TYPE as nesting_event_type: Option<$crate::table::NestingEventType>,
                $( #[doc = $doc_after] $sql_after as $field_after: $type_after $(= $sql_type_after)?, )*
            }
        }

        fn row($region: &Region<'_>, $event: &$crate::tables::single_events::Event<'_>) -> $row {
            let $columns = $event.columns($region);
            $( let $name = $init; )*
            $row {
                thread_id: $event.thread_id,
                event_id: $columns.event_id,
                end_event_id: $columns.end_event_id,
                event_name: $columns.event_name,
                source: $columns.source,
                timer_start: $columns.timer_start,
                timer_end: $columns.timer_end,
                timer_wait: $columns.timer_wait,
                nesting_event_id: $columns.nesting_event_id,
                nesting_event_type: $columns.nesting_event_type,
                $( $own: $value, )*
            }
        }
    };
}
pub(super) use event_row;

/// An event as it was at one moment, whole, and whose it is.
pub(crate) struct Event<'a> {
    pub(crate) record: &'a Snapshot,
    pub(crate) thread_id: u64,
    pub(crate) sequence: Sequence,
    /// That before the first event of its thread.
    pub(crate) base: Sequence,
    /// Where its record is; None of a copy.
    pub(crate) place: Option<Place>,
}

/// The columns that all these tables have.
pub(crate) struct EventColumns {
    pub(crate) event_id: u64,
    pub(crate) end_event_id: Option<u64>,
    pub(crate) event_name: Text<128>,
    pub(crate) source: Option<Text<64>>,
    pub(crate) timer_start: Option<u64>,
    pub(crate) timer_end: Option<u64>,
    pub(crate) timer_wait: Option<u64>,
    pub(crate) nesting_event_id: Option<u64>,
    pub(crate) nesting_event_type: Option<NestingEventType>,
}

impl Event<'_> {
    pub(crate) fn columns(&self, region: &Region<'_>) -> EventColumns {
        let Event { record, base, .. } = *self;
        let timer = TimerName::from_index(record.timer_index).map(|timer| region.timer(timer)).filter(|_| record.timed);
        let timer_start = timer.map(|timer| timer.since_epoch_ps(record.start));
        let timer_wait = timer.filter(|_| record.ended).map(|timer| timer.conversion.wait(record.start, record.end).1);
        let nesting = record.nesting.parts(base);
        EventColumns {
            event_id: self.sequence.event_id(base),
            end_event_id: record.ended.then(|| record.end_event(self.sequence).event_id(base)),
            event_name: region.class_name(Class(record.class)),
            source: source_text(region, Source(record.source)),
            timer_start,
            // So that END - START = WAIT whatever the rounding.
            timer_end: timer_start.zip(timer_wait).map(|(start, wait)| start.wrapping_add(wait)),
            timer_wait,
            nesting_event_id: nesting.map(|(event, _)| event),
            nesting_event_type: nesting.map(|(_, kind)| NestingEventType(kind)),
        }
    }
}

impl<R> SingleEvents<R> {
    pub(super) fn current(&self, region: &Region<'_>, each: &mut dyn FnMut(&R)) -> Sweep {
        self.sweep_rings(region, &mut |snapshots| {
            // Two looks: what runs decides whether the last ended one is shown.
            let rank = |snapshot: &Snapshot| match snapshot.ended {
                false => (true, (snapshot.sequence, Reverse(snapshot.sequence))),
                true => (false, end_order(snapshot)),
            };
            let mut look = || {
                let mut newest: Option<(usize, Snapshot)> = None;
                snapshots.each(&mut |index, snapshot| {
                    if newest.as_ref().is_none_or(|(_, newest)| rank(newest) < rank(snapshot)) {
                        newest = Some((index, *snapshot));
                    }
                });
                let sweep = self.rows(region, snapshots, each, &mut |snapshot| {
                    let current = newest.as_ref().is_some_and(|(_, newest)| match newest.ended {
                        false => !snapshot.ended,
                        true => rank(newest) == rank(snapshot),
                    });
                    current && !snapshot.is_hidden_from_current()
                });
                (sweep, newest.filter(|(_, newest)| !newest.is_hidden_from_current() && (sweep.rows, sweep.skipped) == (0, 0)))
            };
            let (mut sweep, mut missed) = look();
            // At the second look it had ended, or was overwritten: a thread at work is shown as it was at the first; or looked at again,
            // if there was more to see than the first has taken along.
            for _ in 1..LOOKS {
                if missed.is_none() || !self.store.has_more {
                    break;
                }
                (sweep, missed) = look();
            }
            if let Some((index, newest)) = missed.filter(|_| !self.store.has_more) {
                each(&self.row(region, snapshots, index, &newest));
                sweep.row_after_all();
            }
            sweep
        })
    }

    pub(super) fn truncate_current(&self, region: &Region<'_>) {
        // First: who ends an event that is hidden below is to look.
        region.arrays::<SLOT>(Section::Slots).iter().for_each(|words| slot::bump_current(words, self.store));
        region.arrays::<RECORD>(self.store.rings).iter().for_each(record::hide_current);
    }

    pub(super) fn history(&self, region: &Region<'_>, each: &mut dyn FnMut(&R)) -> Sweep {
        let size = region.config().get(self.store.history_size) as usize;
        self.sweep_rings(region, &mut |snapshots| {
            let is_hidden = |snapshot: &Snapshot| snapshot.hidden_history || snapshot.was_hidden_running();
            let belongs = |snapshot: &Snapshot| snapshot.ended && snapshot.history && !is_hidden(snapshot);
            // A ring has room for a few records more than the history has rows: those that ended longest ago are left out.
            let mut ended = 0_usize;
            let mut oldest = [None; RUNNING];
            snapshots.each(&mut |_, snapshot| {
                if !belongs(snapshot) {
                    return;
                }
                ended += 1;
                let mut order = end_order(snapshot);
                for oldest in &mut oldest {
                    match oldest {
                        Some(earlier) if *earlier <= order => {}
                        Some(later) => core::mem::swap(later, &mut order),
                        None => {
                            *oldest = Some(order);
                            break;
                        }
                    }
                }
            });
            let left_out = ended.saturating_sub(size).min(RUNNING);
            let begin = left_out.checked_sub(1).and_then(|last| oldest[last]);
            let mut left = size;
            self.rows(region, snapshots, each, &mut |snapshot| {
                let shown = belongs(snapshot) && Some(end_order(snapshot)) > begin && left > 0;
                left -= usize::from(shown);
                shown
            })
        })
    }

    pub(super) fn truncate_history(&self, region: &Region<'_>) {
        region.arrays::<RECORD>(self.store.rings).iter().for_each(record::hide_history);
    }

    pub(super) fn history_long(&self, region: &Region<'_>, each: &mut dyn FnMut(&R)) -> Sweep {
        let mut sweep = Sweep::of(region.arrays::<RECORD>(self.store.long_records).len());
        let is_hidden = |snapshot: &Snapshot| snapshot.hidden_history || snapshot.was_hidden_running();
        for (index, (words, chunk)) in long_history::rows(region, self.store).enumerate() {
            let snapshot = match record::read(words) {
                Read::Whole(snapshot) if snapshot.ended && !is_hidden(&snapshot) => snapshot,
                Read::Whole(_) | Read::Free => {
                    sweep.free(1);
                    continue;
                }
                Read::Changed => {
                    sweep.changed();
                    continue;
                }
            };
            match long_history::owner_of(chunk, &snapshot) {
                Some(long_history::Owner { thread_id, base }) => {
                    let (sequence, place) = (snapshot.event, Some(Place::Long(index)));
                    let event = Event { record: &snapshot, thread_id, sequence, base, place };
                    self.deliver(words, &snapshot, (self.row)(region, &event), each, &mut sweep);
                }
                None => sweep.free(1),
            }
        }
        sweep
    }

    pub(super) fn truncate_history_long(&self, region: &Region<'_>) {
        region.arrays::<RECORD>(self.store.long_records).iter().for_each(record::hide_history);
    }

    fn sweep_rings(&self, region: &Region<'_>, thread: &mut dyn FnMut(&Snapshots<'_, '_>) -> Sweep) -> Sweep {
        let mut sweep = Sweep::of(region.arrays::<RECORD>(self.store.rings).len());
        for (index, words) in region.arrays::<SLOT>(Section::Slots).iter().enumerate() {
            let places = || region.arrays_of::<RECORD>(self.store.rings, index).len();
            match slot::look(words) {
                Look::Free => sweep.free(places()),
                Look::Changed => sweep.skipped(places()),
                Look::Live(owner) => sweep.add(thread(&Snapshots::of(region, self.store, (index, words), &owner))),
            }
        }
        sweep
    }

    fn row(&self, region: &Region<'_>, of: &Snapshots<'_, '_>, index: usize, snapshot: &Snapshot) -> R {
        let Owner { thread_id, base, .. } = *of.owner;
        let place = Some(Place::Ring(of.place(index)));
        (self.row)(region, &Event { record: snapshot, thread_id, sequence: snapshot.sequence, base, place })
    }

    /// Delivers a row, if what was read beside its record belongs to it.
    fn deliver(&self, words: &record::RecordWords, snapshot: &Snapshot, row: R, each: &mut dyn FnMut(&R), sweep: &mut Sweep) {
        if !self.store.has_more || record::still(words, snapshot) {
            each(&row);
            sweep.row();
        } else {
            sweep.changed();
        }
    }

    /// Delivers the records that `choose` is true for. The caller counts the places.
    fn rows(
        &self,
        region: &Region<'_>,
        of: &Snapshots<'_, '_>,
        each: &mut dyn FnMut(&R),
        choose: &mut dyn FnMut(&Snapshot) -> bool,
    ) -> Sweep {
        let mut sweep = Sweep::default();
        let mut recording = false;
        for (index, words) in of.ring.iter().enumerate() {
            let read = of.read(words);
            if !slot::still(of.slot, of.owner) {
                sweep.skipped(of.ring.len() - index);
                break;
            }
            match read {
                Read::Whole(snapshot) if choose(&snapshot) => {
                    self.deliver(words, &snapshot, self.row(region, of, index, &snapshot), each, &mut sweep);
                }
                Read::Whole(_) | Read::Free => sweep.free(1),
                Read::Changed => sweep.changed(),
            }
            recording |= matches!(read, Read::Whole(snapshot) if snapshot.sequence > of.newest.get());
        }
        if recording {
            sweep.disturbed(of.ring.len());
        }
        sweep
    }
}

/// The order in which events of one thread ended: by the last event begun before the end; of two that ended without one between them,
/// the inner one, which began later, ended first. Events beside each other may have ended the other way round: nothing tells, and only
/// which of them the history leaves out depends on it.
pub(super) fn end_order(snapshot: &Snapshot) -> (Sequence, Reverse<Sequence>) {
    (snapshot.end_event(snapshot.sequence), Reverse(snapshot.sequence))
}

/// The records of one live thread, for events of one class.
pub(super) struct Snapshots<'a, 'r> {
    slot: &'r slot::SlotWords,
    owner: &'a Owner,
    /// Where the ring begins in its section.
    first: usize,
    ring: &'r [record::RecordWords],
    /// The newest event of the first look.
    newest: Cell<Sequence>,
}

impl<'a, 'r> Snapshots<'a, 'r> {
    /// Those in a slot, which is given with its index.
    pub(super) fn of(
        region: &Region<'r>,
        store: &EventStore,
        (index, slot): (usize, &'r slot::SlotWords),
        owner: &'a Owner,
    ) -> Snapshots<'a, 'r> {
        let ring = region.arrays_of::<RECORD>(store.rings, index);
        Snapshots { slot, owner, first: index.saturating_mul(ring.len()), ring, newest: Cell::new(Sequence::default()) }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ring.len()
    }

    /// Where one of them is in its section.
    pub(super) fn place(&self, index: usize) -> usize {
        self.first.saturating_add(index)
    }

    /// Whether one of them is still what it was.
    pub(super) fn still(&self, index: usize, snapshot: &Snapshot) -> bool {
        self.ring.get(index).is_some_and(|words| record::still(words, snapshot))
    }

    /// A record of this owner.
    fn read(&self, words: &record::RecordWords) -> Read {
        match record::read(words) {
            Read::Whole(snapshot) if snapshot.sequence <= self.owner.base => Read::Free,
            other => other,
        }
    }

    /// Looks at every record once.
    pub(super) fn each(&self, look: &mut dyn FnMut(usize, &Snapshot)) {
        for (index, words) in self.ring.iter().enumerate() {
            if let Read::Whole(snapshot) = self.read(words) {
                self.newest.set(self.newest.get().max(snapshot.sequence));
                look(index, &snapshot);
            }
        }
    }
}
