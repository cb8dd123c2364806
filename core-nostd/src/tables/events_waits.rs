//! `events_waits_current`, `events_waits_history`, `events_waits_history_long`: single waits, copied under their version.
//!
//! The first two are read from the same records, the rings of the live threads. Which rows they show:
//!
//! - current: of each thread the waits that run now, or if none does, the one that ended last (WL#2360);
//! - history: of each thread the waits that ended last, as many as the history has places.

use crate::config::Size;
use crate::operation::Operation;
use crate::record::{self, IoEvent, Read, Sequence, Snapshot};
use crate::region::{RECORD, RUNNING, Region, SLOT, Section, Text};
use crate::slot::{self, Look, Owner};
use crate::source::{Source, source_text};
use crate::table::{Declaration, NestingEventType, Rights, SqlType, Sweep, TableSource, row};
use crate::{Class, InstrumentKind, InstrumentName};
use core::cell::Cell;
use core::cmp::Reverse;
use perfschema_timer::{TimerName, difference};

row! {
    /// A row of the tables of single waits.
    pub struct EventsWaitsRow {
        /// The thread.
        THREAD_ID as thread_id: u64,
        /// The event's number in its thread, from 1; together with THREAD_ID it identifies the row.
        EVENT_ID as event_id: u64,
        /// The number of the thread's last event when this one ended; NULL while it lasts.
        END_EVENT_ID as end_event_id: Option<u64>,
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
        /// File and line of the code that waits.
        SOURCE as source: Option<Text<64>>,
        /// When the wait began, in picoseconds since the start; after 2⁶⁴, 213 days, from 0 again; NULL if it is not timed.
        TIMER_START as timer_start: Option<u64>,
        /// When it ended, in picoseconds since the start; NULL while it lasts.
        TIMER_END as timer_end: Option<u64>,
        /// How long it took, in picoseconds; NULL while it lasts.
        TIMER_WAIT as timer_wait: Option<u64>,
        /// Spin rounds, for a lock that spins.
        SPINS as spins: Option<u32>,
        /// Schema of the object; NULL.
        OBJECT_SCHEMA as object_schema: Option<Text<64>>,
        /// Name of the object: a file's path, a socket's IP:PORT; NULL for a lock.
        OBJECT_NAME as object_name: Option<Text<512>>,
        /// Index of the object; NULL.
        INDEX_NAME as index_name: Option<Text<64>>,
        /// Type of the object: FILE or SOCKET; NULL for a lock.
        OBJECT_TYPE as object_type: Option<Text<64>>,
        /// Address of the lock in memory, the number of the socket, the offset in the file; 0 where there is none.
        OBJECT_INSTANCE_BEGIN as object_instance_begin: u64,
        /// EVENT_ID of the event that this one lies within, of those that were visible from their start.
        NESTING_EVENT_ID as nesting_event_id: Option<u64>,
        /// Type of the event that this one lies within.
        NESTING_EVENT_TYPE as nesting_event_type: Option<NestingEventType>,
        /// What is done: lock, read_lock, wait, ….
        OPERATION as operation: &'static str = SqlType::Varchar(32),
        /// Bytes to be read or written, and once it has ended, those that were; NULL for a lock and where there are none.
        NUMBER_OF_BYTES as number_of_bytes: Option<i64>,
        /// What is special about the open of a file, such as O_DIRECT; 0 for its other operations, NULL for all that is no file.
        FLAGS as flags: Option<u32>,
    }
}

/// `events_waits_current`
#[derive(Clone, Copy, Debug)]
pub struct EventsWaitsCurrent;

impl TableSource for EventsWaitsCurrent {
    type Row = EventsWaitsRow;
    const DECLARATION: Declaration = Declaration {
        name: "events_waits_current",
        doc: "What each thread waits for now, or waited for last.",
        columns: EventsWaitsRow::COLUMNS,
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&EventsWaitsRow)) -> Sweep {
        sweep_rings(region, &mut |snapshots| {
            // Two looks: what runs decides whether the last ended one is shown.
            let rank = |snapshot: &Snapshot| match snapshot.ended {
                false => (true, (snapshot.sequence, Reverse(snapshot.sequence))),
                true => (false, end_order(snapshot)),
            };
            let mut newest: Option<Snapshot> = None;
            snapshots.each(&mut |snapshot| {
                if newest.as_ref().is_none_or(|newest| rank(newest) < rank(snapshot)) {
                    newest = Some(*snapshot);
                }
            });
            let mut sweep = snapshots.rows(region, each, &mut |snapshot| {
                let current = newest.as_ref().is_some_and(|newest| match newest.ended {
                    false => !snapshot.ended,
                    true => rank(newest) == rank(snapshot),
                });
                current && !snapshot.hidden_current
            });
            // At the second look it had ended, or was overwritten: a thread at work is shown as it was at the first.
            if let Some(newest) = newest.filter(|newest| !newest.hidden_current)
                && (sweep.rows, sweep.skipped) == (0, 0)
            {
                each(&snapshots.row(region, &newest));
                sweep.row_after_all();
            }
            sweep
        })
    }

    fn truncate(&self, region: &Region<'_>) {
        region.arrays::<RECORD>(Section::Rings).iter().for_each(record::hide_current);
    }
}

/// `events_waits_history`
#[derive(Clone, Copy, Debug)]
pub struct EventsWaitsHistory;

impl TableSource for EventsWaitsHistory {
    type Row = EventsWaitsRow;
    const DECLARATION: Declaration = Declaration {
        name: "events_waits_history",
        doc: "What each thread waited for: its last waits that have ended.",
        columns: EventsWaitsRow::COLUMNS,
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&EventsWaitsRow)) -> Sweep {
        let size = region.config().get(Size::EventsWaitsHistorySize) as usize;
        sweep_rings(region, &mut |snapshots| {
            let belongs = |snapshot: &Snapshot| snapshot.ended && snapshot.history && !snapshot.hidden_history;
            // A ring has room for a few records more than the history has rows: those that ended longest ago are left out.
            let mut ended = 0_usize;
            let mut oldest = [None; RUNNING];
            snapshots.each(&mut |snapshot| {
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
            snapshots.rows(region, each, &mut |snapshot| {
                let shown = belongs(snapshot) && Some(end_order(snapshot)) > begin && left > 0;
                left -= usize::from(shown);
                shown
            })
        })
    }

    fn truncate(&self, region: &Region<'_>) {
        region.arrays::<RECORD>(Section::Rings).iter().for_each(record::hide_history);
    }
}

/// `events_waits_history_long`
#[derive(Clone, Copy, Debug)]
pub struct EventsWaitsHistoryLong;

impl TableSource for EventsWaitsHistoryLong {
    type Row = EventsWaitsRow;
    const DECLARATION: Declaration = Declaration {
        name: "events_waits_history_long",
        doc: "The last waits that have ended, over all threads, also those that are gone.",
        columns: EventsWaitsRow::COLUMNS,
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&EventsWaitsRow)) -> Sweep {
        let records = region.arrays::<RECORD>(Section::LongRecords);
        let mut sweep = Sweep::of(records.len());
        for words in records {
            match record::read(words) {
                Read::Whole(snapshot) if snapshot.ended && !snapshot.hidden_history => {
                    each(&row(region, &snapshot, snapshot.thread_id, snapshot.event, snapshot.base));
                    sweep.row();
                }
                Read::Whole(_) | Read::Free => sweep.free(1),
                Read::Changed => sweep.changed(),
            }
        }
        sweep
    }

    fn truncate(&self, region: &Region<'_>) {
        region.arrays::<RECORD>(Section::LongRecords).iter().for_each(record::hide_history);
    }
}

/// The order in which events of one thread ended: by the last event begun before the end; of two that ended without one between them,
/// the inner one, which began later, ended first. Waits beside each other may have ended the other way round: nothing tells, and only
/// which of them the history leaves out depends on it.
fn end_order(snapshot: &Snapshot) -> (Sequence, Reverse<Sequence>) {
    (snapshot.end_event, Reverse(snapshot.sequence))
}

/// The records of one live thread.
struct Snapshots<'a, 'r> {
    slot: &'r slot::SlotWords,
    owner: &'a Owner,
    ring: &'r [record::RecordWords],
    /// The newest event of the first look.
    newest: Cell<Sequence>,
}

impl Snapshots<'_, '_> {
    /// A record of this owner.
    fn read(&self, words: &record::RecordWords) -> Read {
        match record::read(words) {
            Read::Whole(snapshot) if snapshot.sequence <= self.owner.base => Read::Free,
            other => other,
        }
    }

    /// Looks at every record once.
    fn each(&self, look: &mut dyn FnMut(&Snapshot)) {
        for words in self.ring {
            if let Read::Whole(snapshot) = self.read(words) {
                self.newest.set(self.newest.get().max(snapshot.sequence));
                look(&snapshot);
            }
        }
    }

    fn row(&self, region: &Region<'_>, snapshot: &Snapshot) -> EventsWaitsRow {
        row(region, snapshot, self.owner.thread_id, snapshot.sequence, self.owner.base)
    }

    /// Delivers the records that `choose` is true for. The caller counts the places.
    fn rows(
        &self,
        region: &Region<'_>,
        each: &mut dyn FnMut(&EventsWaitsRow),
        choose: &mut dyn FnMut(&Snapshot) -> bool,
    ) -> Sweep {
        let mut sweep = Sweep::default();
        let mut recording = false;
        for (index, words) in self.ring.iter().enumerate() {
            let read = self.read(words);
            if !slot::still(self.slot, self.owner) {
                sweep.skipped(self.ring.len() - index);
                break;
            }
            match read {
                Read::Whole(snapshot) if choose(&snapshot) => {
                    each(&self.row(region, &snapshot));
                    sweep.row();
                }
                Read::Whole(_) | Read::Free => sweep.free(1),
                Read::Changed => sweep.changed(),
            }
            recording |= matches!(read, Read::Whole(snapshot) if snapshot.sequence > self.newest.get());
        }
        if recording {
            sweep.disturbed(self.ring.len());
        }
        sweep
    }
}

fn sweep_rings(region: &Region<'_>, thread: &mut dyn FnMut(&Snapshots<'_, '_>) -> Sweep) -> Sweep {
    let mut sweep = Sweep::of(region.arrays::<RECORD>(Section::Rings).len());
    for (index, words) in region.arrays::<SLOT>(Section::Slots).iter().enumerate() {
        let ring = region.arrays_of::<RECORD>(Section::Rings, index);
        match slot::look(words) {
            Look::Free => sweep.free(ring.len()),
            Look::Changed => sweep.skipped(ring.len()),
            Look::Live(owner) => {
                sweep.add(thread(&Snapshots { slot: words, owner: &owner, ring, newest: Cell::new(Sequence::default()) }));
            }
        }
    }
    sweep
}

/// A record as a row: of the event `event` of an owner that began after `base`.
pub(crate) fn row(region: &Region<'_>, snapshot: &Snapshot, thread_id: u64, event: Sequence, base: Sequence) -> EventsWaitsRow {
    let event_name = region.class_name(Class(snapshot.class));
    let kind = InstrumentName::new(event_name.as_str()).map(|name| name.kind());
    let io = matches!(kind, Ok(InstrumentKind::File | InstrumentKind::Socket));
    let timer = TimerName::from_index(snapshot.timer_index).map(|timer| region.timer(timer)).filter(|_| snapshot.timed);
    let timer_start = timer.map(|timer| timer.since_epoch_ps(snapshot.start));
    let timer_wait =
        timer.filter(|_| snapshot.ended).map(|timer| timer.conversion.picoseconds(difference(snapshot.start, snapshot.end)));
    let nesting = snapshot.nesting.parts(base);
    EventsWaitsRow {
        thread_id,
        event_id: event.event_id(base),
        end_event_id: snapshot.ended.then(|| snapshot.end_event.event_id(base)),
        event_name,
        source: source_text(region, Source(snapshot.source)),
        timer_start,
        // So that END - START = WAIT whatever the rounding.
        timer_end: timer_start.zip(timer_wait).map(|(start, wait)| start.wrapping_add(wait)),
        timer_wait,
        spins: (!io && snapshot.amount != 0).then(|| u32::try_from(snapshot.amount).unwrap_or(u32::MAX)),
        object_schema: None,
        object_name: match snapshot.io {
            IoEvent::None => None,
            IoEvent::File(file) => region.event_file_name(file),
            IoEvent::Socket(socket) => socket.address.object_name(),
        },
        index_name: None,
        object_type: match kind {
            Ok(InstrumentKind::File) => Some("FILE".into()),
            Ok(InstrumentKind::Socket) => Some("SOCKET".into()),
            _ => None,
        },
        object_instance_begin: snapshot.object,
        nesting_event_id: nesting.map(|(event, _)| event),
        nesting_event_type: nesting.map(|(_, kind)| NestingEventType(kind)),
        operation: Operation::from_code(snapshot.operation).map_or("", Operation::name),
        // One more than the number, so that none is not 0.
        number_of_bytes: snapshot.amount.checked_sub(1).filter(|_| io).map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX)),
        flags: match snapshot.io {
            IoEvent::File(file) => Some(file.flags),
            _ => None,
        },
    }
}
