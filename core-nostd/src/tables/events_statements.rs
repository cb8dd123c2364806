//! `events_statements_current`, `events_statements_history`, `events_statements_history_long`: single statements.

use super::single_events::{Event, SingleEvents, event_row, single_event_tables};
use crate::digest::{Digest, digest_text};
use crate::event::STATEMENTS;
use crate::region::{Region, Text};
use crate::statement::{Entry, EntryText, Sizes};
use crate::table::{SqlType, example};

event_row! {
    /// A row of the tables of single statements, such as [`events_statements_history`](EventsStatementsHistory).
    pub struct EventsStatementsRow {
        ..event,
        ..timer,
        /// Time spent waiting for locks, in picoseconds, as far as the program says.
        LOCK_TIME as lock_time: u64,
        /// What was asked for; NULL if the program does not say.
        SQL_TEXT as sql_text: Option<Text<1024>> = SqlType::Longtext,
        /// What statements that are alike have in common, 32 hexadecimal digits; NULL without the consumer `statements_digest`.
        DIGEST as digest: Option<Text<32>>,
        /// The text without literals and comments; NULL as DIGEST.
        DIGEST_TEXT as digest_text: Option<Text<1024>> = SqlType::Longtext,
        /// What the text's names are looked up in; NULL if the program does not say.
        CURRENT_SCHEMA as current_schema: Option<Text<64>>,
        /// NULL: there are no stored programs.
        OBJECT_TYPE as object_type: Option<Text<64>>,
        /// NULL: there are no stored programs.
        OBJECT_SCHEMA as object_schema: Option<Text<64>>,
        /// NULL: there are no stored programs.
        OBJECT_NAME as object_name: Option<Text<64>>,
        /// NULL: a statement is no object.
        OBJECT_INSTANCE_BEGIN as object_instance_begin: Option<u64>,
        /// The number of its error; NULL while it lasts, 0 if there was none.
        MYSQL_ERRNO as mysql_errno: Option<i32>,
        /// The class of its error, five characters; NULL if the program does not say.
        RETURNED_SQLSTATE as returned_sqlstate: Option<Text<5>>,
        /// The text of its error; NULL if the program does not say.
        MESSAGE_TEXT as message_text: Option<Text<128>>,
        /// Number of errors.
        ERRORS as errors: u64,
        /// Number of warnings.
        WARNINGS as warnings: u64,
        /// Rows that were inserted, changed or deleted.
        ROWS_AFFECTED as rows_affected: u64,
        /// Rows of the answer.
        ROWS_SENT as rows_sent: u64,
        /// Rows that were looked at.
        ROWS_EXAMINED as rows_examined: u64,
        /// Temporary tables made on disk.
        CREATED_TMP_DISK_TABLES as created_tmp_disk_tables: u64,
        /// Temporary tables made, on disk or in memory.
        CREATED_TMP_TABLES as created_tmp_tables: u64,
        /// Joins that looked through a whole table.
        SELECT_FULL_JOIN as select_full_join: u64,
        /// Joins that looked through a range of the table that they refer to.
        SELECT_FULL_RANGE_JOIN as select_full_range_join: u64,
        /// Joins that looked through a range of the first table.
        SELECT_RANGE as select_range: u64,
        /// Joins without keys that looked for one at each row.
        SELECT_RANGE_CHECK as select_range_check: u64,
        /// Joins that looked through all of the first table.
        SELECT_SCAN as select_scan: u64,
        /// Passes that sorting took to merge.
        SORT_MERGE_PASSES as sort_merge_passes: u64,
        /// Sorts of ranges.
        SORT_RANGE as sort_range: u64,
        /// Rows that were sorted.
        SORT_ROWS as sort_rows: u64,
        /// Sorts of whole tables.
        SORT_SCAN as sort_scan: u64,
        /// 1 if a table was looked through without an index.
        NO_INDEX_USED as no_index_used: u64,
        /// 1 if no index was good for it.
        NO_GOOD_INDEX_USED as no_good_index_used: u64,
        ..nesting,
        /// How many statements it lies within.
        NESTING_EVENT_LEVEL as nesting_event_level: Option<i32>,
    }
    row(region, event, columns) {
        let entry = entry(region, event);
        let digested = Some(entry.text).filter(|text| event.record.digest && !text.as_str().is_empty());
        Row {
            lock_time: entry.statistics.lock_time_ps,
            sql_text: Some(entry.text).filter(|text| !text.as_str().is_empty()),
            digest: digested.map(|text| Digest::of(text.as_str()).text()),
            digest_text: digested.map(|text| digest_text(text.as_str())),
            current_schema: Some(entry.schema).filter(|schema| !schema.as_str().is_empty()),
            object_type: None,
            object_schema: None,
            object_name: None,
            object_instance_begin: None,
            mysql_errno: event.record.ended.then(|| entry.error.number.try_into().unwrap_or(i32::MAX)),
            returned_sqlstate: Some(entry.error.sqlstate).filter(|sqlstate| !sqlstate.as_str().is_empty()),
            message_text: Some(entry.error.message).filter(|message| !message.as_str().is_empty()),
            errors: entry.statistics.errors,
            warnings: entry.statistics.warnings,
            rows_affected: entry.statistics.rows_affected,
            rows_sent: entry.statistics.rows_sent,
            rows_examined: entry.statistics.rows_examined,
            created_tmp_disk_tables: entry.statistics.created_tmp_disk_tables,
            created_tmp_tables: entry.statistics.created_tmp_tables,
            select_full_join: entry.statistics.select_full_join,
            select_full_range_join: entry.statistics.select_full_range_join,
            select_range: entry.statistics.select_range,
            select_range_check: entry.statistics.select_range_check,
            select_scan: entry.statistics.select_scan,
            sort_merge_passes: entry.statistics.sort_merge_passes,
            sort_range: entry.statistics.sort_range,
            sort_rows: entry.statistics.sort_rows,
            sort_scan: entry.statistics.sort_scan,
            no_index_used: entry.statistics.no_index_used,
            no_good_index_used: entry.statistics.no_good_index_used,
            nesting_event_level: Some(event.record.amount.try_into().unwrap_or(i32::MAX)),
        }
    }
}

fn entry(region: &Region<'_>, event: &Event<'_>) -> EntryText {
    let entry = event.place.map(|place| Entry::of(region, Sizes::of(region), place));
    entry.unwrap_or_default().read(event.record.ended)
}

/// How these tables are read.
const TABLES: SingleEvents<EventsStatementsRow> = SingleEvents { store: &STATEMENTS, row };

single_event_tables! {
    TABLES: EventsStatementsRow;
    #[doc = example!(
        "A statement runs:",
        EventsStatementsCurrent,
        "{:?} {:?}",
        [row.sql_text, row.timer_end],
        ["Some(\"find 'bolts'\") None"]
    )]
    EventsStatementsCurrent =
        "events_statements_current", "The statements that each thread executes now, or the one that ended last.", current,
        truncate_current;
    #[doc = example!(
        "A statement has ended that sent 3 rows:",
        EventsStatementsHistory,
        "{:?} {}",
        [row.sql_text, row.rows_sent],
        ["Some(\"find 17\") 3"]
    )]
    EventsStatementsHistory =
        "events_statements_history", "The statements of each thread that ended last.", history, truncate_history;
    #[doc = example!(
        "A statement has ended, whose literal is not part of its digest:",
        EventsStatementsHistoryLong,
        "{:?} {:?}",
        [row.sql_text, row.digest_text],
        ["Some(\"find 17\") Some(\"find ?\")"]
    )]
    EventsStatementsHistoryLong =
        "events_statements_history_long", "The last statements that have ended, over all threads, also those that are gone.",
        history_long, truncate_history_long;
}
