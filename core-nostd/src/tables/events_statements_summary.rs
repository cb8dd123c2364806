//! `events_statements_summary_…`: statements counted and summed, by event name, and by thread and event name, with their figures.

use super::by_event_name;
use super::event_summary::{statement_figures, sweep_by_thread, truncate_by_thread, truncate_global};
use crate::event::STATEMENTS;
use crate::region::{Region, Text};
use crate::statement;
use crate::table::{Declaration, Rights, Sweep, TableSource, example};

/// The columns that every summary of statements has, after those of its own.
macro_rules! statement_summary_row {
    (
        $(#[$meta:meta])*
        pub struct $row:ident {
            $( #[doc = $doc:literal] $sql:ident as $field:ident: $type:ty $(= $sql_type:expr)?, )*
            ..summary,
            $( #[doc = $doc_after:literal] $sql_after:ident as $field_after:ident: $type_after:ty $(= $sql_type_after:expr)?, )*
        }
    ) => {
        $crate::table::row! {
            $(#[$meta])*
            pub struct $row {
                $( #[doc = $doc] $sql as $field: $type $(= $sql_type)?, )*
                /// Number of statements.
                COUNT_STAR as count_star: u64,
                /// Sum of the timed ones, in picoseconds; after 2⁶⁴, 213 days of all threads together, it starts again at 0.
                SUM_TIMER_WAIT as sum_timer_wait: u64,
                /// The shortest timed one, in picoseconds; 0 if there was none.
                MIN_TIMER_WAIT as min_timer_wait: u64,
                /// Average of the timed ones, in picoseconds.
                AVG_TIMER_WAIT as avg_timer_wait: u64,
                /// The longest timed one, in picoseconds.
                MAX_TIMER_WAIT as max_timer_wait: u64,
                /// Sum of the time spent waiting for locks, in picoseconds.
                SUM_LOCK_TIME as sum_lock_time: u64,
                /// Number of errors.
                SUM_ERRORS as sum_errors: u64,
                /// Number of warnings.
                SUM_WARNINGS as sum_warnings: u64,
                /// Rows that were inserted, changed or deleted.
                SUM_ROWS_AFFECTED as sum_rows_affected: u64,
                /// Rows of the answers.
                SUM_ROWS_SENT as sum_rows_sent: u64,
                /// Rows that were looked at.
                SUM_ROWS_EXAMINED as sum_rows_examined: u64,
                /// Temporary tables made on disk.
                SUM_CREATED_TMP_DISK_TABLES as sum_created_tmp_disk_tables: u64,
                /// Temporary tables made, on disk or in memory.
                SUM_CREATED_TMP_TABLES as sum_created_tmp_tables: u64,
                /// Joins that looked through a whole table.
                SUM_SELECT_FULL_JOIN as sum_select_full_join: u64,
                /// Joins that looked through a range of the table that they refer to.
                SUM_SELECT_FULL_RANGE_JOIN as sum_select_full_range_join: u64,
                /// Joins that looked through a range of the first table.
                SUM_SELECT_RANGE as sum_select_range: u64,
                /// Joins without keys that looked for one at each row.
                SUM_SELECT_RANGE_CHECK as sum_select_range_check: u64,
                /// Joins that looked through all of the first table.
                SUM_SELECT_SCAN as sum_select_scan: u64,
                /// Passes that sorting took to merge.
                SUM_SORT_MERGE_PASSES as sum_sort_merge_passes: u64,
                /// Sorts of ranges.
                SUM_SORT_RANGE as sum_sort_range: u64,
                /// Rows that were sorted.
                SUM_SORT_ROWS as sum_sort_rows: u64,
                /// Sorts of whole tables.
                SUM_SORT_SCAN as sum_sort_scan: u64,
                /// Statements that looked through a table without an index.
                SUM_NO_INDEX_USED as sum_no_index_used: u64,
                /// Statements that had no good index.
                SUM_NO_GOOD_INDEX_USED as sum_no_good_index_used: u64,
                $( #[doc = $doc_after] $sql_after as $field_after: $type_after $(= $sql_type_after)?, )*
                invisible,
                /// Number of timed ones, which AVG_TIMER_WAIT divides by.
                COUNT_TIMER_WAIT as count_timer_wait: u64,
            }
        }

        impl $row {
            #[allow(clippy::too_many_arguments, reason = "one argument a column")]
            pub(super) fn new(
                $($field: $type,)*
                summary: &$crate::Summary,
                statistics: &$crate::StatementStatistics,
                $($field_after: $type_after,)*
            ) -> $row {
                $row {
                    $($field,)*
                    count_star: summary.count,
                    sum_timer_wait: summary.sum_ps,
                    min_timer_wait: summary.min_ps,
                    avg_timer_wait: summary.avg_ps(),
                    max_timer_wait: summary.max_ps,
                    sum_lock_time: statistics.lock_time_ps,
                    sum_errors: statistics.errors,
                    sum_warnings: statistics.warnings,
                    sum_rows_affected: statistics.rows_affected,
                    sum_rows_sent: statistics.rows_sent,
                    sum_rows_examined: statistics.rows_examined,
                    sum_created_tmp_disk_tables: statistics.created_tmp_disk_tables,
                    sum_created_tmp_tables: statistics.created_tmp_tables,
                    sum_select_full_join: statistics.select_full_join,
                    sum_select_full_range_join: statistics.select_full_range_join,
                    sum_select_range: statistics.select_range,
                    sum_select_range_check: statistics.select_range_check,
                    sum_select_scan: statistics.select_scan,
                    sum_sort_merge_passes: statistics.sort_merge_passes,
                    sum_sort_range: statistics.sort_range,
                    sum_sort_rows: statistics.sort_rows,
                    sum_sort_scan: statistics.sort_scan,
                    sum_no_index_used: statistics.no_index_used,
                    sum_no_good_index_used: statistics.no_good_index_used,
                    $($field_after,)*
                    count_timer_wait: summary.count_timed,
                }
            }
        }
    };
}

pub(super) use statement_summary_row;

statement_summary_row! {
    /// A row of [`events_statements_summary_by_thread_by_event_name`](EventsStatementsSummaryByThreadByEventName).
    pub struct EventsStatementsSummaryByThreadByEventNameRow {
        /// The thread.
        THREAD_ID as thread_id: u64,
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
        ..summary,
    }
}

statement_summary_row! {
    /// A row of [`events_statements_summary_global_by_event_name`](EventsStatementsSummaryGlobalByEventName).
    pub struct EventsStatementsSummaryGlobalByEventNameRow {
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
        ..summary,
    }
}

/// `events_statements_summary_by_thread_by_event_name`
#[doc = example!(
    "A statement has ended that sent 3 rows, another goes on:",
    EventsStatementsSummaryByThreadByEventName,
    "thread {}: {} {}",
    [row.thread_id, row.count_star, row.sum_rows_sent],
    ["thread 1: 1 3"]
)]
#[derive(Clone, Copy, Debug)]
pub struct EventsStatementsSummaryByThreadByEventName;

impl TableSource for EventsStatementsSummaryByThreadByEventName {
    type Row = EventsStatementsSummaryByThreadByEventNameRow;
    const DECLARATION: Declaration = Declaration {
        name: "events_statements_summary_by_thread_by_event_name",
        doc: "Statements of each instrument in each thread.",
        columns: EventsStatementsSummaryByThreadByEventNameRow::COLUMNS,
        primary_key: &["THREAD_ID", "EVENT_NAME"],
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&Self::Row)) -> Sweep {
        sweep_by_thread(
            region,
            &STATEMENTS,
            |look| statement_figures(region, look),
            |thread_id, name, sums, statistics| {
                each(&EventsStatementsSummaryByThreadByEventNameRow::new(thread_id, name, sums, statistics));
            },
        )
    }

    fn truncate(&self, region: &Region<'_>) {
        truncate_by_thread(region, &STATEMENTS);
    }
}

/// `events_statements_summary_global_by_event_name`
#[doc = example!(
    "A statement has ended that sent 3 rows, another goes on:",
    EventsStatementsSummaryGlobalByEventName,
    "{} {} {}",
    [row.event_name, row.count_star, row.sum_rows_sent],
    ["statement/app/search 1 3"]
)]
#[derive(Clone, Copy, Debug)]
pub struct EventsStatementsSummaryGlobalByEventName;

impl TableSource for EventsStatementsSummaryGlobalByEventName {
    type Row = EventsStatementsSummaryGlobalByEventNameRow;
    const DECLARATION: Declaration = Declaration {
        name: "events_statements_summary_global_by_event_name",
        doc: "Statements of each instrument, summed over all threads.",
        columns: EventsStatementsSummaryGlobalByEventNameRow::COLUMNS,
        primary_key: &["EVENT_NAME"],
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&Self::Row)) -> Sweep {
        by_event_name::sweep(region, region.event_classes(&STATEMENTS), 1, |class, name| {
            let (summary, statistics) = region.statements_by_event_name(class);
            each(&EventsStatementsSummaryGlobalByEventNameRow::new(name, &summary, &statistics));
        })
    }

    fn truncate(&self, region: &Region<'_>) {
        truncate_global(region, &STATEMENTS);
        statement::reset_shared(region);
    }
}
