//! `events_waits_current`, `events_waits_history`, `events_waits_history_long`: single waits.

use super::single_events::{Event, EventColumns, SingleEvents, single_event_tables};
use crate::event::WAITS;
use crate::operation::Operation;
use crate::record::IoEvent;
use crate::region::{Region, Text};
use crate::table::{NestingEventType, SqlType, row};
use crate::{InstrumentKind, InstrumentName};

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

/// How these tables are read.
pub(crate) const TABLES: SingleEvents<EventsWaitsRow> = SingleEvents { store: &WAITS, row };

single_event_tables! {
    TABLES: EventsWaitsRow;
    EventsWaitsCurrent = "events_waits_current", "What each thread waits for now, or waited for last.", current, truncate_current;
    EventsWaitsHistory =
        "events_waits_history", "What each thread waited for: its last waits that have ended.", history, truncate_history;
    EventsWaitsHistoryLong = "events_waits_history_long", "The last waits that have ended, over all threads, also those that are gone.",
        history_long, truncate_history_long;
}

fn row(region: &Region<'_>, event: &Event<'_>) -> EventsWaitsRow {
    let EventColumns {
        event_id,
        end_event_id,
        event_name,
        source,
        timer_start,
        timer_end,
        timer_wait,
        nesting_event_id,
        nesting_event_type,
    } = event.columns(region);
    let record = event.record;
    let kind = InstrumentName::new(event_name.as_str()).map(|name| name.kind());
    let io = matches!(kind, Ok(InstrumentKind::File | InstrumentKind::Socket));
    EventsWaitsRow {
        thread_id: event.thread_id,
        event_id,
        end_event_id,
        event_name,
        source,
        timer_start,
        timer_end,
        timer_wait,
        spins: (!io && record.amount != 0).then(|| u32::try_from(record.amount).unwrap_or(u32::MAX)),
        object_schema: None,
        object_name: match record.io {
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
        object_instance_begin: record.object,
        nesting_event_id,
        nesting_event_type,
        operation: Operation::from_code(record.operation).map_or("", Operation::name),
        // One more than the number, so that none is not 0.
        number_of_bytes: record.amount.checked_sub(1).filter(|_| io).map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX)),
        flags: match record.io {
            IoEvent::File(file) => Some(file.flags),
            _ => None,
        },
    }
}
