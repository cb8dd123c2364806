//! `events_waits_current`, `events_waits_history`, `events_waits_history_long`: single waits.

use super::single_events::{SingleEvents, event_row, single_event_tables};
use crate::event::WAITS;
use crate::name::{InstrumentKind, kind_of};
use crate::operation::Operation;
use crate::record::IoEvent;
use crate::region::{Region, Text};
use crate::table::{SqlType, example};

event_row! {
    /// A row of the tables of single waits, such as [`events_waits_history`](EventsWaitsHistory).
    pub struct EventsWaitsRow {
        ..event,
        ..timer,
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
        /// Address of the lock in memory, number of the socket, offset in the file, or what the program says; 0 where there is none.
        OBJECT_INSTANCE_BEGIN as object_instance_begin: u64,
        ..nesting,
        /// What is done: lock, read_lock, wait, ….
        OPERATION as operation: &'static str = SqlType::Varchar(32),
        /// Bytes to be read or written, once it has ended those that were, or what the program says; NULL for a lock and where there are none.
        NUMBER_OF_BYTES as number_of_bytes: Option<i64>,
        /// What is special about the open of a file, such as O_DIRECT; 0 for its other operations, NULL for all that is no file.
        FLAGS as flags: Option<u32>,
    }
    row(region, event, columns) {
        let record = event.record;
        let kind = kind_of(columns.event_name.as_bytes());
        // Else spin rounds.
        let has_bytes = matches!(kind, Some(InstrumentKind::File | InstrumentKind::Socket | InstrumentKind::Wait));
        Row {
            spins: (!has_bytes && record.amount != 0).then(|| u32::try_from(record.amount).unwrap_or(u32::MAX)),
            object_schema: None,
            object_name: match record.io {
                IoEvent::None => None,
                IoEvent::File(file) => region.event_file_name(file),
                IoEvent::Socket(socket) => socket.address.object_name(),
            },
            index_name: None,
            object_type: match kind {
                Some(InstrumentKind::File) => Some("FILE".into()),
                Some(InstrumentKind::Socket) => Some("SOCKET".into()),
                _ => None,
            },
            object_instance_begin: record.object,
            operation: Operation::from_code(record.operation).map_or("", Operation::name),
            // One more than the number, so that none is not 0.
            number_of_bytes: record.amount.checked_sub(1).filter(|_| has_bytes).map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX)),
            flags: match record.io {
                IoEvent::File(file) => Some(file.flags),
                _ => None,
            },
        }
    }
}

/// How these tables are read.
pub(crate) const TABLES: SingleEvents<EventsWaitsRow> = SingleEvents { store: &WAITS, row };

single_event_tables! {
    TABLES: EventsWaitsRow;
    #[doc = example!(
        "Thread 1 waits for a lock:",
        EventsWaitsCurrent,
        "thread {}: {} {:?}",
        [row.thread_id, row.event_name, row.timer_end],
        ["thread 1: wait/synch/mutex/app/LOCK_open None"]
    )]
    EventsWaitsCurrent = "events_waits_current", "What each thread waits for now, or waited for last.", current, truncate_current;
    #[doc = example!(
        "A thread has waited for a lock, for a file and for a client:",
        EventsWaitsHistory,
        "{} {} {:?}",
        [row.event_name, row.operation, row.timer_wait],
        [
            "wait/synch/mutex/app/LOCK_open lock Some(40000)",
            "wait/io/file/app/index write Some(3000000)",
            "wait/io/socket/app/client_connection recv Some(2000000)"
        ]
    )]
    EventsWaitsHistory =
        "events_waits_history", "What each thread waited for: its last waits that have ended.", history, truncate_history;
    #[doc = example!(
        "A thread has waited for a lock, for a file and for a client:",
        EventsWaitsHistoryLong,
        "{} {:?} {:?}",
        [row.operation, row.object_name, row.number_of_bytes],
        ["lock None None", "write Some(\"/var/lib/app/index\") Some(512)", "recv None Some(100)"]
    )]
    EventsWaitsHistoryLong = "events_waits_history_long", "The last waits that have ended, over all threads, also those that are gone.",
        history_long, truncate_history_long;
}
