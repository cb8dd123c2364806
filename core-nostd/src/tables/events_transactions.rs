//! `events_transactions_current`, `events_transactions_history`, `events_transactions_history_long`: single transactions.

use super::single_events::{Event, SingleEvents, event_row, single_event_tables};
use crate::event::TRANSACTIONS;
use crate::region::{Region, Text};
use crate::table::{Cell, SqlType, Value, YesNo, example};
use crate::transaction::{AccessMode, Entry, EntryText, TransactionState};

/// In the order of the variants.
const ACCESS_MODES: &[&str] = &["READ ONLY", "READ WRITE"];
const STATES: &[&str] = &["ACTIVE", "COMMITTED", "ROLLED BACK"];

impl Cell for AccessMode {
    const SQL_TYPE: SqlType = SqlType::Enum(ACCESS_MODES);
    fn value(&self) -> Value<'_> {
        Value::Text(ACCESS_MODES[*self as usize])
    }
}

impl Cell for TransactionState {
    const SQL_TYPE: SqlType = SqlType::Enum(STATES);
    fn value(&self) -> Value<'_> {
        Value::Text(STATES[*self as usize])
    }
}

event_row! {
    /// A row of the tables of single transactions, such as [`events_transactions_history`](EventsTransactionsHistory).
    pub struct EventsTransactionsRow {
        ..event,
        /// ACTIVE while it lasts, then COMMITTED or ROLLED BACK.
        STATE as state: Option<TransactionState>,
        /// Its number; NULL if the program does not say.
        TRX_ID as trx_id: Option<u64>,
        /// What those call it who repeat it elsewhere; NULL while it lasts, and if the program does not say.
        GTID as gtid: Option<Text<64>>,
        /// NULL: there are no transactions over several resource managers.
        XID_FORMAT_ID as xid_format_id: Option<i32>,
        /// NULL: there are no transactions over several resource managers.
        XID_GTRID as xid_gtrid: Option<Text<130>>,
        /// NULL: there are no transactions over several resource managers.
        XID_BQUAL as xid_bqual: Option<Text<130>>,
        /// NULL: there are no transactions over several resource managers.
        XA_STATE as xa_state: Option<Text<64>>,
        ..timer,
        /// READ ONLY or READ WRITE.
        ACCESS_MODE as access_mode: Option<AccessMode>,
        /// What it sees of others, as the program calls it; NULL if it does not say.
        ISOLATION_LEVEL as isolation_level: Option<Text<64>>,
        /// YES if it is one statement's, which begins and ends it.
        AUTOCOMMIT as autocommit: YesNo,
        /// How many savepoints were set.
        NUMBER_OF_SAVEPOINTS as number_of_savepoints: Option<u64>,
        /// How often it went back to a savepoint.
        NUMBER_OF_ROLLBACK_TO_SAVEPOINT as number_of_rollback_to_savepoint: Option<u64>,
        /// How many savepoints were given up.
        NUMBER_OF_RELEASE_SAVEPOINT as number_of_release_savepoint: Option<u64>,
        /// NULL: a transaction is no object.
        OBJECT_INSTANCE_BEGIN as object_instance_begin: Option<u64>,
        ..nesting,
    }
    row(region, event, columns) {
        let entry = entry(region, event);
        let said = |text: Text<64>| Some(text).filter(|text| !text.as_str().is_empty());
        Row {
            state: Some(entry.state),
            trx_id: Some(entry.details.trx_id).filter(|trx_id| *trx_id != 0),
            gtid: said(entry.gtid),
            xid_format_id: None,
            xid_gtrid: None,
            xid_bqual: None,
            xa_state: None,
            access_mode: Some(entry.access_mode),
            isolation_level: said(entry.isolation_level),
            autocommit: entry.autocommit.into(),
            number_of_savepoints: Some(entry.details.savepoints),
            number_of_rollback_to_savepoint: Some(entry.details.rollbacks_to_savepoint),
            number_of_release_savepoint: Some(entry.details.released_savepoints),
            object_instance_begin: None,
        }
    }
}

fn entry(region: &Region<'_>, event: &Event<'_>) -> EntryText {
    event.place.map(|place| Entry::of(region, place)).unwrap_or_default().read(event.record.ended)
}

/// How these tables are read.
const TABLES: SingleEvents<EventsTransactionsRow> = SingleEvents { store: &TRANSACTIONS, row };

single_event_tables! {
    TABLES: EventsTransactionsRow;
    #[doc = example!(
        "A transaction runs that only reads:",
        EventsTransactionsCurrent,
        "{:?} {:?}",
        [row.state, row.access_mode],
        ["Some(Active) Some(ReadOnly)"]
    )]
    EventsTransactionsCurrent =
        "events_transactions_current", "The transactions that each thread has begun and not ended, or the one that ended last.",
        current, truncate_current;
    #[doc = example!(
        "The transaction that was given the number 7 has ended:",
        EventsTransactionsHistory,
        "{:?} {:?}",
        [row.trx_id, row.state],
        ["Some(7) Some(Committed)"]
    )]
    EventsTransactionsHistory =
        "events_transactions_history", "The transactions of each thread that ended last.", history, truncate_history;
    #[doc = example!(
        "A transaction has ended that took 5.04 µs:",
        EventsTransactionsHistoryLong,
        "thread {}: {:?}",
        [row.thread_id, row.timer_wait],
        ["thread 1: Some(5040000)"]
    )]
    EventsTransactionsHistoryLong =
        "events_transactions_history_long", "The last transactions that have ended, over all threads, also those that are gone.",
        history_long, truncate_history_long;
}
