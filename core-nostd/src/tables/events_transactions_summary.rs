//! `events_transactions_summary_…`: transactions counted and summed, by event name, and by thread and event name; all of them, and those that
//! may write and those that only read.

use super::by_event_name;
use super::event_summary::{summary_row, sweep_transactions_by_thread, truncate_by_thread, truncate_global};
use crate::TransactionSummary;
use crate::event::TRANSACTIONS;
use crate::region::{Region, Text};
use crate::table::{Declaration, Rights, Sweep, TableSource, example};

/// The columns that both have, after those of their own.
macro_rules! transaction_summary_row {
    (
        $(#[$meta:meta])*
        pub struct $row:ident {
            $( #[doc = $doc:literal] $sql:ident as $field:ident: $type:ty, )*
            ..summary,
        }
    ) => {
        summary_row! {
            $(#[$meta])*
            pub struct $row {
                $( #[doc = $doc] $sql as $field: $type, )*
                ..summary,
                /// Number of those that may write.
                COUNT_READ_WRITE as count_read_write: u64,
                /// Sum of the timed ones of these, in picoseconds.
                SUM_TIMER_READ_WRITE as sum_timer_read_write: u64,
                /// The shortest of these, in picoseconds.
                MIN_TIMER_READ_WRITE as min_timer_read_write: u64,
                /// Average of these, in picoseconds.
                AVG_TIMER_READ_WRITE as avg_timer_read_write: u64,
                /// The longest of these, in picoseconds.
                MAX_TIMER_READ_WRITE as max_timer_read_write: u64,
                /// Number of those that only read.
                COUNT_READ_ONLY as count_read_only: u64,
                /// Sum of the timed ones of these, in picoseconds.
                SUM_TIMER_READ_ONLY as sum_timer_read_only: u64,
                /// The shortest of these, in picoseconds.
                MIN_TIMER_READ_ONLY as min_timer_read_only: u64,
                /// Average of these, in picoseconds.
                AVG_TIMER_READ_ONLY as avg_timer_read_only: u64,
                /// The longest of these, in picoseconds.
                MAX_TIMER_READ_ONLY as max_timer_read_only: u64,
                invisible,
                /// Number of timed ones of those that may write.
                COUNT_TIMER_READ_WRITE as count_timer_read_write: u64,
                /// Number of timed ones of those that only read.
                COUNT_TIMER_READ_ONLY as count_timer_read_only: u64,
            }
        }

        impl $row {
            fn of($($field: $type,)* sums: &TransactionSummary) -> $row {
                let TransactionSummary { read_write, read_only } = sums;
                $row::new(
                    $($field,)*
                    &sums.all(),
                    read_write.count,
                    read_write.sum_ps,
                    read_write.min_ps,
                    read_write.avg_ps(),
                    read_write.max_ps,
                    read_only.count,
                    read_only.sum_ps,
                    read_only.min_ps,
                    read_only.avg_ps(),
                    read_only.max_ps,
                    read_write.count_timed,
                    read_only.count_timed,
                )
            }
        }
    };
}

transaction_summary_row! {
    /// A row of [`events_transactions_summary_by_thread_by_event_name`](EventsTransactionsSummaryByThreadByEventName).
    pub struct EventsTransactionsSummaryByThreadByEventNameRow {
        /// The thread.
        THREAD_ID as thread_id: u64,
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
        ..summary,
    }
}

transaction_summary_row! {
    /// A row of [`events_transactions_summary_global_by_event_name`](EventsTransactionsSummaryGlobalByEventName).
    pub struct EventsTransactionsSummaryGlobalByEventNameRow {
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
        ..summary,
    }
}

/// `events_transactions_summary_by_thread_by_event_name`
#[doc = example!(
    "One that may write has ended, one that only reads goes on:",
    EventsTransactionsSummaryByThreadByEventName,
    "thread {}: {} and {}",
    [row.thread_id, row.count_read_write, row.count_read_only],
    ["thread 1: 1 and 0"]
)]
#[derive(Clone, Copy, Debug)]
pub struct EventsTransactionsSummaryByThreadByEventName;

impl TableSource for EventsTransactionsSummaryByThreadByEventName {
    type Row = EventsTransactionsSummaryByThreadByEventNameRow;
    const DECLARATION: Declaration = Declaration {
        name: "events_transactions_summary_by_thread_by_event_name",
        doc: "Transactions of each thread.",
        columns: EventsTransactionsSummaryByThreadByEventNameRow::COLUMNS,
        primary_key: &["THREAD_ID", "EVENT_NAME"],
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&Self::Row)) -> Sweep {
        sweep_transactions_by_thread(region, |thread_id, name, sums| {
            each(&EventsTransactionsSummaryByThreadByEventNameRow::of(thread_id, name, sums));
        })
    }

    fn truncate(&self, region: &Region<'_>) {
        truncate_by_thread(region, &TRANSACTIONS);
    }
}

/// `events_transactions_summary_global_by_event_name`
#[doc = example!(
    "One that may write has ended, one that only reads goes on:",
    EventsTransactionsSummaryGlobalByEventName,
    "{}: {} and {}",
    [row.event_name, row.count_read_write, row.count_read_only],
    ["transaction: 1 and 0"]
)]
#[derive(Clone, Copy, Debug)]
pub struct EventsTransactionsSummaryGlobalByEventName;

impl TableSource for EventsTransactionsSummaryGlobalByEventName {
    type Row = EventsTransactionsSummaryGlobalByEventNameRow;
    const DECLARATION: Declaration = Declaration {
        name: "events_transactions_summary_global_by_event_name",
        doc: "Transactions, summed over all threads.",
        columns: EventsTransactionsSummaryGlobalByEventNameRow::COLUMNS,
        primary_key: &["EVENT_NAME"],
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&Self::Row)) -> Sweep {
        by_event_name::sweep(region, region.event_classes(&TRANSACTIONS), 1, |class, name| {
            each(&EventsTransactionsSummaryGlobalByEventNameRow::of(name, &region.transactions_by_event_name(class)));
        })
    }

    fn truncate(&self, region: &Region<'_>) {
        truncate_global(region, &TRANSACTIONS);
    }
}
