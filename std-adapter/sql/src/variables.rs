//! `@@variables`: what clients ask for and set. Those of the region are its own; of the rest, MySQL's defaults.

use crate::Error;
use crate::catalog::{CHARACTER_SET, COLLATION};
use crate::database::Account;
use crate::state::State;
use perfschema::render::OwnedValue;
use perfschema::tables;
use std::collections::BTreeMap;

/// The version that clients are told: what they may expect of tables, columns and dialect.
pub(crate) const VERSION: &str = concat!("8.0.40-perfschema-", env!("CARGO_PKG_VERSION"));
/// The same as `/*!80040 … */` has it.
pub(crate) const VERSION_NUMBER: u32 = 80_040;

/// Variables of a session: name and value at start. A session may set them, and nothing but what is noted here comes of it.
const SESSION: &[(&str, &str)] = &[
    ("auto_increment_increment", "1"),
    ("autocommit", "1"),
    ("big_tables", "0"),
    ("character_set_client", CHARACTER_SET),
    ("character_set_connection", CHARACTER_SET),
    ("character_set_database", CHARACTER_SET),
    ("character_set_results", CHARACTER_SET),
    ("character_set_server", CHARACTER_SET),
    ("collation_connection", COLLATION),
    ("collation_database", COLLATION),
    ("collation_server", COLLATION),
    ("foreign_key_checks", "1"),
    ("group_concat_max_len", "1024"),
    ("innodb_lock_wait_timeout", "50"),
    ("interactive_timeout", "28800"),
    ("lc_time_names", "en_US"),
    ("lock_wait_timeout", "31536000"),
    ("max_allowed_packet", "1048576"),
    // Milliseconds; 0: what the database was given. It is heeded.
    ("max_execution_time", "0"),
    ("net_buffer_length", "16384"),
    ("net_read_timeout", "30"),
    ("net_write_timeout", "60"),
    ("profiling", "0"),
    ("query_cache_size", "0"),
    ("query_cache_type", "OFF"),
    ("session_track_schema", "1"),
    ("sql_auto_is_null", "0"),
    ("sql_log_bin", "1"),
    ("sql_mode", "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION"),
    ("sql_notes", "1"),
    ("sql_quote_show_create", "1"),
    ("sql_safe_updates", "0"),
    ("sql_select_limit", "18446744073709551615"),
    ("sql_warnings", "0"),
    ("time_zone", "+00:00"),
    ("timestamp", "0"),
    ("transaction_isolation", "REPEATABLE-READ"),
    ("transaction_read_only", "0"),
    ("tx_isolation", "REPEATABLE-READ"),
    ("tx_read_only", "0"),
    ("unique_checks", "1"),
    ("wait_timeout", "28800"),
];

/// Variables that nobody can set.
const FIXED: &[(&str, &str)] = &[
    ("hostname", "localhost"),
    ("init_connect", ""),
    ("license", "MIT OR Apache-2.0"),
    ("lower_case_table_names", "2"),
    ("port", "0"),
    ("protocol_version", "10"),
    ("read_only", "0"),
    ("server_id", "0"),
    ("super_read_only", "0"),
    ("system_time_zone", "UTC"),
    ("version", VERSION),
    ("version_compile_machine", std::env::consts::ARCH),
    ("version_compile_os", std::env::consts::OS),
];

/// The value at start of a session.
pub(crate) fn default(state: &State, name: &str) -> Option<String> {
    if let Some((_, value)) = SESSION.iter().chain(FIXED).find(|(known, _)| *known == name) {
        return Some((*value).to_owned());
    }
    if name == "version_comment" {
        return Some(comment(state));
    }
    if name == "have_ssl" {
        return Some(have_ssl(state).to_owned());
    }
    let mut found = None;
    state.region().scan(&tables::GlobalVariables, |row| {
        if row.variable_name.eq_ignore_ascii_case(name) {
            found = row.variable_value.map(|value| value.as_str().to_owned());
        }
    });
    found
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

/// The modes that there are in MySQL, or were in versions before that clients still speak to; NO_BACKSLASH_ESCAPES, which would change
/// what a text is, is not among them.
const SQL_MODES: &[&str] = &[
    "ALLOW_INVALID_DATES",
    "ANSI",
    "ANSI_QUOTES",
    "DB2",
    "DEFAULT",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "HIGH_NOT_PRECEDENCE",
    "IGNORE_SPACE",
    "MAXDB",
    "MSSQL",
    "MYSQL323",
    "MYSQL40",
    "NO_AUTO_CREATE_USER",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_DIR_IN_CREATE",
    "NO_ENGINE_SUBSTITUTION",
    "NO_FIELD_OPTIONS",
    "NO_KEY_OPTIONS",
    "NO_TABLE_OPTIONS",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_ZERO_DATE",
    "NO_ZERO_IN_DATE",
    "ONLY_FULL_GROUP_BY",
    "ORACLE",
    "PAD_CHAR_TO_FULL_LENGTH",
    "PIPES_AS_CONCAT",
    "POSTGRESQL",
    "REAL_AS_FLOAT",
    "STRICT_ALL_TABLES",
    "STRICT_TRANS_TABLES",
    "TIME_TRUNCATE_FRACTIONAL",
    "TRADITIONAL",
];

/// A list of modes. `0` is none.
pub(crate) fn check_sql_mode(list: &str) -> Result<(), Error> {
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
    rows.push(("version_comment".to_owned(), comment(state)));
    rows.push(("have_ssl".to_owned(), have_ssl(state).to_owned()));
    state.region().scan(&tables::GlobalVariables, |row| {
        let value = row.variable_value.map(|value| value.as_str().to_owned()).unwrap_or_default();
        rows.push((row.variable_name.to_owned(), value));
    });
    for (name, value) in set {
        if let Some(row) = rows.iter_mut().find(|(known, _)| *known == name) {
            row.1 = value;
        }
    }
    // SHOW prints a switch as a word, SELECT as a number.
    const SWITCHES: [&str; 16] = [
        "autocommit",
        "big_tables",
        "foreign_key_checks",
        "profiling",
        "read_only",
        "session_track_schema",
        "sql_auto_is_null",
        "sql_log_bin",
        "sql_notes",
        "sql_quote_show_create",
        "sql_safe_updates",
        "sql_warnings",
        "super_read_only",
        "transaction_read_only",
        "tx_read_only",
        "unique_checks",
    ];
    for (name, value) in &mut rows {
        if SWITCHES.contains(&name.as_str()) {
            *value = if value == "1" || value.eq_ignore_ascii_case("on") { "ON" } else { "OFF" }.to_owned();
        }
    }
    rows.sort();
    rows.into_iter().map(|(name, value)| vec![name.into(), value.into()]).collect()
}

/// For SHOW PROCESSLIST.
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
    rows.extend(state.timer_now().map(|now| ("Uptime".to_owned(), (now / 1_000_000_000_000).to_string())));
    let encryption = state.encryption();
    rows.push(("Ssl_cipher".to_owned(), encryption.cipher));
    rows.push(("Ssl_version".to_owned(), encryption.version));
    rows.push(("Connection_seconds".to_owned(), state.session_seconds().to_string()));
    rows.sort();
    rows.into_iter().map(|(name, value)| vec![name.into(), value.into()]).collect()
}
