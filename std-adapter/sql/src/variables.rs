//! `@@variables`: what clients ask for and set. Those of the region are its own; of the rest, MySQL's defaults.

use crate::Error;
use crate::catalog::{CHARACTER_SET, COLLATION};
use crate::database::Account;
use crate::state::State;
use perfschema::core::timer::TimerName;
use perfschema::render::OwnedValue;
use perfschema::tables;
use std::collections::BTreeMap;

/// The version that clients are told: what they may expect of tables, columns and dialect.
pub(crate) const VERSION: &str = concat!("8.0.40-perfschema-", env!("CARGO_PKG_VERSION"));
/// The same as `/*!80040 … */` has it.
pub(crate) const VERSION_NUMBER: u32 = 80_040;

/// Variables of a session: name and value at start. A session may set them; what is heeded is `cte_max_recursion_depth`, `max_execution_time`,
/// `sql_mode`, `sql_safe_updates` and `sql_select_limit`.
const SESSION: &[(&str, &str)] = &[
    ("auto_increment_increment", "1"),
    ("auto_increment_offset", "1"),
    ("autocommit", "1"),
    ("big_tables", "0"),
    ("bulk_insert_buffer_size", "8388608"),
    ("character_set_client", CHARACTER_SET),
    ("character_set_connection", CHARACTER_SET),
    ("character_set_database", CHARACTER_SET),
    ("character_set_filesystem", "binary"),
    ("character_set_results", CHARACTER_SET),
    ("character_set_server", CHARACTER_SET),
    ("collation_connection", COLLATION),
    ("collation_database", COLLATION),
    ("collation_server", COLLATION),
    ("completion_type", "NO_CHAIN"),
    ("cte_max_recursion_depth", "1000"),
    ("default_collation_for_utf8mb4", COLLATION),
    ("default_storage_engine", "PERFORMANCE_SCHEMA"),
    ("default_tmp_storage_engine", "MEMORY"),
    ("default_week_format", "0"),
    ("div_precision_increment", "4"),
    ("end_markers_in_json", "0"),
    ("explicit_defaults_for_timestamp", "1"),
    ("foreign_key_checks", "1"),
    ("group_concat_max_len", "1024"),
    ("gtid_next", "AUTOMATIC"),
    ("information_schema_stats_expiry", "86400"),
    ("innodb_lock_wait_timeout", "50"),
    ("innodb_strict_mode", "1"),
    ("interactive_timeout", "28800"),
    ("join_buffer_size", "262144"),
    ("keep_files_on_create", "0"),
    ("lc_messages", "en_US"),
    ("lc_time_names", "en_US"),
    ("lock_wait_timeout", "31536000"),
    ("long_query_time", "10.000000"),
    ("low_priority_updates", "0"),
    ("max_allowed_packet", "1048576"),
    ("max_error_count", "1024"),
    // Milliseconds; 0: what the database was given.
    ("max_execution_time", "0"),
    ("max_heap_table_size", "16777216"),
    ("max_join_size", "18446744073709551615"),
    ("max_length_for_sort_data", "4096"),
    ("max_seeks_for_key", "18446744073709551615"),
    ("max_sort_length", "1024"),
    ("max_sp_recursion_depth", "0"),
    ("max_user_connections", "0"),
    ("min_examined_row_limit", "0"),
    ("net_buffer_length", "16384"),
    ("net_read_timeout", "30"),
    ("net_retry_count", "10"),
    ("net_write_timeout", "60"),
    ("new", "0"),
    ("old_alter_table", "0"),
    ("optimizer_prune_level", "1"),
    ("optimizer_search_depth", "62"),
    ("optimizer_switch", ""),
    ("optimizer_trace", "enabled=off,one_line=off"),
    ("print_identified_with_as_hex", "0"),
    ("profiling", "0"),
    ("profiling_history_size", "15"),
    ("query_cache_size", "0"),
    ("query_cache_type", "OFF"),
    ("range_optimizer_max_mem_size", "8388608"),
    ("read_buffer_size", "131072"),
    ("read_rnd_buffer_size", "262144"),
    ("resultset_metadata", "FULL"),
    ("session_track_gtids", "OFF"),
    ("session_track_schema", "1"),
    ("session_track_state_change", "0"),
    (
        "session_track_system_variables",
        "time_zone,autocommit,character_set_client,character_set_results,character_set_connection",
    ),
    ("session_track_transaction_info", "OFF"),
    ("show_create_table_verbosity", "0"),
    ("sort_buffer_size", "262144"),
    ("sql_auto_is_null", "0"),
    ("sql_big_selects", "1"),
    ("sql_buffer_result", "0"),
    ("sql_log_bin", "1"),
    ("sql_log_off", "0"),
    ("sql_mode", "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION"),
    ("sql_notes", "1"),
    ("sql_quote_show_create", "1"),
    ("sql_require_primary_key", "0"),
    ("sql_safe_updates", "0"),
    ("sql_select_limit", "18446744073709551615"),
    ("sql_warnings", "0"),
    ("time_zone", "+00:00"),
    ("timestamp", "0"),
    ("tmp_table_size", "16777216"),
    ("transaction_isolation", "REPEATABLE-READ"),
    ("transaction_read_only", "0"),
    ("tx_isolation", "REPEATABLE-READ"),
    ("tx_read_only", "0"),
    ("unique_checks", "1"),
    ("updatable_views_with_limit", "YES"),
    ("use_secondary_engine", "ON"),
    ("wait_timeout", "28800"),
    ("windowing_use_high_precision", "1"),
];

/// Variables that nobody can set.
const FIXED: &[(&str, &str)] = &[
    ("back_log", "100"),
    ("basedir", ""),
    ("character_set_system", "utf8mb3"),
    ("character_sets_dir", ""),
    ("datadir", ""),
    ("default_authentication_plugin", "caching_sha2_password"),
    ("event_scheduler", "DISABLED"),
    ("general_log", "0"),
    ("gtid_executed", ""),
    ("gtid_mode", "OFF"),
    ("gtid_purged", ""),
    ("have_compress", "NO"),
    ("have_dynamic_loading", "NO"),
    ("have_profiling", "NO"),
    ("have_query_cache", "NO"),
    ("have_statement_timeout", "YES"),
    ("have_symlink", "DISABLED"),
    ("hostname", "localhost"),
    ("init_connect", ""),
    ("license", "MIT OR Apache-2.0"),
    ("local_infile", "0"),
    ("log_bin", "0"),
    ("log_output", "NONE"),
    ("lower_case_file_system", "0"),
    ("lower_case_table_names", "2"),
    ("max_connections", "100"),
    ("offline_mode", "0"),
    ("partial_revokes", "0"),
    ("pid_file", ""),
    ("plugin_dir", ""),
    ("port", "0"),
    ("protocol_compression_algorithms", "uncompressed"),
    ("protocol_version", "10"),
    ("read_only", "0"),
    ("secure_file_priv", ""),
    ("server_id", "0"),
    ("skip_name_resolve", "1"),
    ("skip_networking", "0"),
    ("slow_query_log", "0"),
    ("socket", ""),
    ("super_read_only", "0"),
    ("system_time_zone", "UTC"),
    ("tmpdir", ""),
    ("version", VERSION),
    ("version_compile_machine", std::env::consts::ARCH),
    ("version_compile_os", std::env::consts::OS),
];

/// What SHOW prints as a word and SELECT as a number.
const SWITCHES: &[&str] = &[
    "autocommit",
    "big_tables",
    "end_markers_in_json",
    "explicit_defaults_for_timestamp",
    "foreign_key_checks",
    "general_log",
    "innodb_strict_mode",
    "keep_files_on_create",
    "local_infile",
    "log_bin",
    "low_priority_updates",
    "lower_case_file_system",
    "new",
    "offline_mode",
    "old_alter_table",
    "partial_revokes",
    "print_identified_with_as_hex",
    "profiling",
    "read_only",
    "session_track_schema",
    "session_track_state_change",
    "show_create_table_verbosity",
    "skip_name_resolve",
    "skip_networking",
    "slow_query_log",
    "sql_auto_is_null",
    "sql_big_selects",
    "sql_buffer_result",
    "sql_log_bin",
    "sql_log_off",
    "sql_notes",
    "sql_quote_show_create",
    "sql_require_primary_key",
    "sql_safe_updates",
    "sql_warnings",
    "super_read_only",
    "transaction_read_only",
    "tx_read_only",
    "unique_checks",
    "windowing_use_high_precision",
];

/// The value at start of a session.
pub(crate) fn default(state: &State, name: &str) -> Option<String> {
    if let Some((_, value)) = SESSION.iter().chain(FIXED).find(|(known, _)| *known == name) {
        return Some((*value).to_owned());
    }
    if let Some((_, value)) = of_program(state).into_iter().find(|(known, _)| *known == name) {
        return Some(value);
    }
    let mut found = None;
    state.region().scan(&tables::GlobalVariables, |row| {
        if row.variable_name.eq_ignore_ascii_case(name) {
            // What was never set is an empty text, as in MySQL.
            found = Some(row.variable_value.map(|value| value.as_str().to_owned()).unwrap_or_default());
        }
    });
    found
}

/// What the program and the connection decide.
fn of_program(state: &State) -> [(&'static str, String); 5] {
    let (region, id) = (state.region(), state.connection_id());
    [
        ("have_openssl", have_ssl(state).to_owned()),
        ("have_ssl", have_ssl(state).to_owned()),
        ("pseudo_thread_id", id.to_string()),
        // A number for the program, as the others that run here have theirs.
        ("server_uuid", format!("00000000-0000-8000-8000-{:012x}", region.pid())),
        ("version_comment", comment(state)),
    ]
}

fn have_ssl(state: &State) -> &'static str {
    if state.encryption().is_offered { "YES" } else { "DISABLED" }
}

fn comment(state: &State) -> String {
    let region = state.region();
    format!("perfschema of {} ({})", region.program().as_str(), region.pid())
}

/// A number as a number: clients expect `SELECT @@autocommit` to be one.
pub(crate) fn typed(value: String) -> OwnedValue {
    match (value.parse::<i64>(), value.parse::<u64>()) {
        (Ok(number), _) => number.into(),
        (_, Ok(number)) => number.into(),
        _ => value.into(),
    }
}

/// A value as it is kept: of a switch, `1` or `0`.
pub(crate) fn checked(name: &str, value: String) -> Result<String, Error> {
    if name == "sql_mode" {
        check_sql_mode(&value)?;
    }
    if !SWITCHES.contains(&name) {
        return Ok(value);
    }
    match value.to_ascii_lowercase().as_str() {
        "1" | "on" | "true" => Ok("1".to_owned()),
        "0" | "off" | "false" => Ok("0".to_owned()),
        _ => Err(Error::new(1231, "42000", format!("Variable '{name}' can't be set to the value of '{value}'"))),
    }
}

/// Whether a session may set it.
pub(crate) fn check(state: &State, name: &str) -> Result<(), Error> {
    if SESSION.iter().any(|(known, _)| *known == name) {
        Ok(())
    } else if state.variable(name).is_some() {
        Err(Error::new(1238, "HY000", format!("Variable '{name}' is a read only variable")))
    } else {
        Err(Error::unknown_variable(name))
    }
}

/// The modes that there are in MySQL 8.0; NO_BACKSLASH_ESCAPES, which would change what a text is, is not among them.
const SQL_MODES: &[&str] = &[
    "ALLOW_INVALID_DATES",
    "ANSI",
    "ANSI_QUOTES",
    "DEFAULT",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "HIGH_NOT_PRECEDENCE",
    "IGNORE_SPACE",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_DIR_IN_CREATE",
    "NO_ENGINE_SUBSTITUTION",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_ZERO_DATE",
    "NO_ZERO_IN_DATE",
    "ONLY_FULL_GROUP_BY",
    "PAD_CHAR_TO_FULL_LENGTH",
    "PIPES_AS_CONCAT",
    "REAL_AS_FLOAT",
    "STRICT_ALL_TABLES",
    "STRICT_TRANS_TABLES",
    "TIME_TRUNCATE_FRACTIONAL",
    "TRADITIONAL",
];

/// A list of modes. `0` is none.
fn check_sql_mode(list: &str) -> Result<(), Error> {
    let is_known = |mode: &str| mode.is_empty() || mode == "0" || SQL_MODES.iter().any(|known| known.eq_ignore_ascii_case(mode));
    match list.split(',').map(str::trim).find(|mode| !is_known(mode)) {
        None => Ok(()),
        Some(mode) => Err(Error::new(1231, "42000", format!("Variable 'sql_mode' can't be set to the value of '{mode}'"))),
    }
}

/// For SHOW GLOBAL VARIABLES, in alphabetical order: as every session begins.
pub(crate) fn global_rows(state: &State) -> Vec<Vec<OwnedValue>> {
    rows(state, BTreeMap::new())
}

/// For SHOW VARIABLES, in alphabetical order.
pub(crate) fn session_rows(state: &State) -> Vec<Vec<OwnedValue>> {
    rows(state, state.variables_set())
}

fn rows(state: &State, set: BTreeMap<String, String>) -> Vec<Vec<OwnedValue>> {
    let mut rows: Vec<(String, String)> =
        SESSION.iter().chain(FIXED).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    rows.extend(of_program(state).map(|(name, value)| (name.to_owned(), value)));
    state.region().scan(&tables::GlobalVariables, |row| {
        let value = row.variable_value.map(|value| value.as_str().to_owned()).unwrap_or_default();
        rows.push((row.variable_name.to_owned(), value));
    });
    for (name, value) in set {
        if let Some(row) = rows.iter_mut().find(|(known, _)| *known == name) {
            row.1 = value;
        }
    }
    for (name, value) in &mut rows {
        if SWITCHES.contains(&name.as_str()) {
            *value = if value == "1" { "ON" } else { "OFF" }.to_owned();
        }
    }
    rows.sort();
    rows.into_iter().map(|(name, value)| vec![name.into(), value.into()]).collect()
}

/// For SHOW PROCESSLIST: who reads, not whom the program serves.
pub(crate) fn processlist_rows(state: &State) -> Vec<Vec<OwnedValue>> {
    if let Some(rows) = &state.processlist {
        return rows(state.account());
    }
    let (id, seconds) = (state.connection_id(), state.session_seconds());
    let Account { user, host, .. } = state.account();
    let schema = state.schema().map_or(OwnedValue::Null, OwnedValue::from);
    let (user, host) = (user.as_str().into(), host.as_str().into());
    vec![vec![id.into(), user, host, schema, "Query".into(), seconds.into(), "".into(), OwnedValue::Null]]
}

/// For SHOW STATUS, in alphabetical order.
pub(crate) fn status_rows(state: &State) -> Vec<Vec<OwnedValue>> {
    let mut rows = Vec::new();
    state.region().scan(&tables::GlobalStatus, |row| {
        let value = row.variable_value.map(|value| value.as_str().to_owned()).unwrap_or_default();
        rows.push((row.variable_name.to_owned(), value));
    });
    // Of the clock itself: picoseconds start again at 0 after 213 days.
    let timer = state.region().timer(TimerName::Nanosecond);
    let uptime_s = |ns: u64| ns.saturating_sub(timer.epoch_ticks) / 1_000_000_000;
    rows.extend(state.clock_ns().map(|ns| ("Uptime".to_owned(), uptime_s(ns).to_string())));
    let encryption = state.encryption();
    rows.push(("Ssl_cipher".to_owned(), encryption.cipher));
    rows.push(("Ssl_version".to_owned(), encryption.version));
    rows.push(("Connection_seconds".to_owned(), state.session_seconds().to_string()));
    rows.sort();
    rows.into_iter().map(|(name, value)| vec![name.into(), value.into()]).collect()
}
