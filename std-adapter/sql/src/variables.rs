//! `@@variables`: what clients ask for and set. Those of the region are its own; of the rest, MySQL's defaults.

use crate::catalog::{CHARACTER_SET, COLLATION};
use crate::collation::{check_character_set, check_collation};
use crate::database::Account;
use crate::state::State;
use crate::zone::Zone;
use crate::{Error, parse};
use perfschema::render::OwnedValue;
use perfschema::tables;
use sqlparser::tokenizer::TokenWithSpan;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The version that clients are told: what they may expect of tables, columns and dialect. From 8.0.28 on exporters ask for the processor's
/// time of statements, SUM_CPU_TIME, which nobody counts here.
pub(crate) const VERSION: &str = concat!("8.0.27-perfschema-", env!("CARGO_PKG_VERSION"));
/// The same as `/*!80027 … */` has it.
pub(crate) const VERSION_NUMBER: u32 = 80_027;

/// What a variable may be set to.
#[derive(Clone, Copy)]
enum Kind {
    /// `1` or `0`, which SHOW prints as a word.
    Switch,
    /// A whole number, at least and at most; one beyond becomes that, with a warning.
    Number(u64, u64),
    /// A number that may have a fraction.
    Real,
    /// One of these, by its name or by its place from 0.
    Word(&'static [&'static str]),
    SqlMode,
    TimeZone,
    Text,
    /// As its server has it, for all sessions.
    OfServer,
}
use Kind::{Number, OfServer, Real, SqlMode, Switch, Text, TimeZone, Word};

/// Name, value at start and kind.
type Variable = (&'static str, &'static str, Kind);

const MOST: u64 = u64::MAX;
const ISOLATION: &[&str] = &["READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"];

/// Variables of a session. It may set them, but for those of its server; what is heeded is `autocommit`, `cte_max_recursion_depth`,
/// `default_week_format`, `group_concat_max_len`, `long_query_time`, `max_error_count`, `max_execution_time`, `sql_mode`,
/// `sql_safe_updates`, `sql_select_limit`, `time_zone` and `timestamp`, and by a server `net_read_timeout` and `wait_timeout`.
const SESSION: &[Variable] = &[
    ("auto_increment_increment", "1", Number(1, 65_535)),
    ("auto_increment_offset", "1", Number(1, 65_535)),
    ("autocommit", "1", Switch),
    ("big_tables", "0", Switch),
    ("bulk_insert_buffer_size", "8388608", Number(0, MOST)),
    ("character_set_client", CHARACTER_SET, Text),
    ("character_set_connection", CHARACTER_SET, Text),
    ("character_set_database", CHARACTER_SET, Text),
    ("character_set_filesystem", "binary", Text),
    ("character_set_results", CHARACTER_SET, Text),
    ("character_set_server", CHARACTER_SET, Text),
    ("collation_connection", COLLATION, Text),
    ("collation_database", COLLATION, Text),
    ("collation_server", COLLATION, Text),
    ("completion_type", "NO_CHAIN", Word(&["NO_CHAIN", "CHAIN", "RELEASE"])),
    ("cte_max_recursion_depth", "1000", Number(0, u32::MAX as u64)),
    ("default_collation_for_utf8mb4", COLLATION, Text),
    ("default_storage_engine", "PERFORMANCE_SCHEMA", Text),
    ("default_tmp_storage_engine", "MEMORY", Text),
    ("default_week_format", "0", Number(0, 7)),
    ("div_precision_increment", "4", Number(4, 4)),
    ("end_markers_in_json", "0", Switch),
    ("explicit_defaults_for_timestamp", "1", Switch),
    ("foreign_key_checks", "1", Switch),
    ("group_concat_max_len", "1024", Number(4, MOST)),
    ("gtid_next", "AUTOMATIC", Text),
    ("information_schema_stats_expiry", "86400", Number(0, 31_536_000)),
    ("innodb_lock_wait_timeout", "50", Number(1, 1_073_741_824)),
    ("innodb_strict_mode", "1", Switch),
    ("interactive_timeout", "28800", Number(1, 31_536_000)),
    ("join_buffer_size", "262144", Number(128, MOST)),
    ("keep_files_on_create", "0", Switch),
    ("lc_messages", "en_US", Word(&["en_US"])),
    ("lc_time_names", "en_US", Word(&["en_US"])),
    ("lock_wait_timeout", "31536000", Number(1, 31_536_000)),
    ("long_query_time", "10.000000", Real),
    ("low_priority_updates", "0", Switch),
    ("max_allowed_packet", "1048576", OfServer),
    ("max_error_count", "1024", Number(0, 65_535)),
    // Milliseconds; 0: what the database was given.
    ("max_execution_time", "0", Number(0, u32::MAX as u64)),
    ("max_heap_table_size", "16777216", Number(16_384, MOST)),
    ("max_join_size", "18446744073709551615", Number(1, MOST)),
    ("max_length_for_sort_data", "4096", Number(4, 8_388_608)),
    ("max_seeks_for_key", "18446744073709551615", Number(1, MOST)),
    ("max_sort_length", "1024", Number(4, 8_388_608)),
    ("max_sp_recursion_depth", "0", Number(0, 255)),
    ("max_user_connections", "0", Number(0, u32::MAX as u64)),
    ("min_examined_row_limit", "0", Number(0, MOST)),
    ("net_buffer_length", "16384", OfServer),
    ("net_read_timeout", "30", Number(1, 31_536_000)),
    ("net_retry_count", "10", Number(1, MOST)),
    ("net_write_timeout", "60", Number(1, 31_536_000)),
    ("new", "0", Switch),
    ("old_alter_table", "0", Switch),
    ("optimizer_prune_level", "1", Number(0, 1)),
    ("optimizer_search_depth", "62", Number(0, 62)),
    ("optimizer_switch", "", Text),
    ("optimizer_trace", "enabled=off,one_line=off", Text),
    ("parser_max_mem_size", parse::PARSER_MEMORY, Number(10_000_000, MOST)),
    ("print_identified_with_as_hex", "0", Switch),
    ("profiling", "0", Switch),
    ("profiling_history_size", "15", Number(0, 100)),
    ("query_cache_size", "0", Number(0, MOST)),
    ("query_cache_type", "OFF", Word(&["OFF", "ON", "DEMAND"])),
    ("range_optimizer_max_mem_size", "8388608", Number(0, MOST)),
    ("read_buffer_size", "131072", Number(8192, 2_147_479_552)),
    ("read_rnd_buffer_size", "262144", Number(1, 2_147_483_647)),
    ("resultset_metadata", "FULL", Word(&["NONE", "FULL"])),
    ("session_track_gtids", "OFF", Word(&["OFF", "OWN_GTID", "ALL_GTIDS"])),
    ("session_track_schema", "1", Switch),
    ("session_track_state_change", "0", Switch),
    (
        "session_track_system_variables",
        "time_zone,autocommit,character_set_client,character_set_results,character_set_connection",
        Text,
    ),
    ("session_track_transaction_info", "OFF", Word(&["OFF", "STATE", "CHARACTERISTICS"])),
    ("show_create_table_verbosity", "0", Switch),
    ("sort_buffer_size", "262144", Number(32_768, MOST)),
    ("sql_auto_is_null", "0", Switch),
    ("sql_big_selects", "1", Switch),
    ("sql_buffer_result", "0", Switch),
    ("sql_log_bin", "1", Switch),
    ("sql_log_off", "0", Switch),
    ("sql_mode", "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION", SqlMode),
    ("sql_notes", "1", Switch),
    ("sql_quote_show_create", "1", Switch),
    ("sql_require_primary_key", "0", Switch),
    ("sql_safe_updates", "0", Switch),
    ("sql_select_limit", "18446744073709551615", Number(0, MOST)),
    ("sql_warnings", "0", Switch),
    ("time_zone", "+00:00", TimeZone),
    ("timestamp", "0", Real),
    ("tmp_table_size", "16777216", Number(1024, MOST)),
    ("transaction_isolation", "REPEATABLE-READ", Word(ISOLATION)),
    ("transaction_read_only", "0", Switch),
    ("tx_isolation", "REPEATABLE-READ", Word(ISOLATION)),
    ("tx_read_only", "0", Switch),
    ("unique_checks", "1", Switch),
    ("updatable_views_with_limit", "YES", Word(&["NO", "YES"])),
    ("use_secondary_engine", "ON", Word(&["OFF", "ON", "FORCED"])),
    ("wait_timeout", "28800", Number(1, 31_536_000)),
    ("windowing_use_high_precision", "1", Switch),
];

/// Variables that nobody can set.
const FIXED: &[Variable] = &[
    ("back_log", "100", Text),
    ("basedir", "", Text),
    ("bind_address", "", Text),
    ("character_set_system", "utf8mb3", Text),
    ("character_sets_dir", "", Text),
    ("concurrent_insert", "AUTO", Text),
    ("connect_timeout", "10", Text),
    ("datadir", "", Text),
    ("default_authentication_plugin", "caching_sha2_password", Text),
    ("disabled_storage_engines", "InnoDB", Text),
    ("event_scheduler", "DISABLED", Text),
    ("general_log", "0", Switch),
    ("gtid_executed", "", Text),
    ("gtid_mode", "OFF", Text),
    ("gtid_purged", "", Text),
    ("have_compress", "NO", Text),
    ("have_dynamic_loading", "NO", Text),
    ("have_profiling", "NO", Text),
    ("have_query_cache", "NO", Text),
    ("have_statement_timeout", "YES", Text),
    ("have_symlink", "DISABLED", Text),
    ("init_connect", "", Text),
    ("key_buffer_size", "0", Text),
    ("license", "MIT OR Apache-2.0", Text),
    ("local_infile", "0", Switch),
    ("log_bin", "0", Switch),
    ("log_error", "stderr", Text),
    ("log_output", "NONE", Text),
    ("lower_case_file_system", "0", Switch),
    ("lower_case_table_names", "2", Text),
    ("max_connect_errors", "100", Text),
    ("max_connections", "100", Text),
    ("max_prepared_stmt_count", "1024", Text),
    ("offline_mode", "0", Switch),
    ("partial_revokes", "0", Switch),
    ("pid_file", "", Text),
    ("plugin_dir", "", Text),
    ("protocol_compression_algorithms", "zlib,uncompressed", Text),
    ("protocol_version", "10", Text),
    ("read_only", "0", Switch), // unless nothing can be changed: see of_program()
    ("secure_file_priv", "", Text),
    ("server_id", "0", Text),
    ("skip_name_resolve", "1", Switch),
    ("skip_networking", "0", Switch),
    ("slow_launch_time", "2", Text),
    ("slow_query_log", "0", Switch),
    ("super_read_only", "0", Switch), // the same
    ("system_time_zone", "UTC", Text),
    ("table_definition_cache", "2000", Text),
    ("table_open_cache", "4000", Text),
    ("thread_cache_size", "0", Text),
    ("thread_handling", "one-thread-per-connection", Text),
    ("tmpdir", "", Text),
    ("version", VERSION, Text),
    ("version_compile_machine", std::env::consts::ARCH, Text),
    ("version_compile_os", std::env::consts::OS, Text),
];

/// Of these and of [`of_program`], what is a session's alone: it has no value of the server's.
const SESSION_ONLY: &[&str] = &[
    "error_count",
    "gtid_next",
    "pseudo_thread_id",
    "resultset_metadata",
    "sql_log_bin",
    "timestamp",
    "use_secondary_engine",
    "warning_count",
];

/// Whether only a session has it.
pub(crate) fn is_session_only(name: &str) -> bool {
    SESSION_ONLY.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether no session has one of its own, if there is such a variable: what the program, the region and the server decide.
pub(crate) fn is_global_only(name: &str) -> bool {
    !is_session_only(name) && !SESSION.iter().any(|(known, ..)| known.eq_ignore_ascii_case(name))
}

fn known(name: &str) -> Option<&'static Variable> {
    SESSION.iter().chain(FIXED).find(|(known, ..)| *known == name)
}

/// The value at start of a session.
pub(crate) fn default(state: &State, name: &str) -> Option<String> {
    if let Some(value) = state.variables.get(name) {
        return Some(value.clone());
    }
    if let Some((_, value)) = of_program(state).into_iter().find(|(known, _)| *known == name) {
        return Some(value);
    }
    if let Some((_, value, _)) = known(name) {
        return Some((*value).to_owned());
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

/// What the program, the connection and its server decide.
fn of_program(state: &State) -> Vec<(&'static str, String)> {
    let (region, id) = (state.region(), state.connection_id);
    let warnings = state.warnings();
    let [warning_count, error_count] = COUNTS.map(|name| name.trim_start_matches('@'));
    let read_only = u8::from(state.is_read_only()).to_string();
    let (port, socket) = state.clients.as_ref().map(|clients| clients.places()).unwrap_or_default();
    vec![
        (error_count, warnings.errors().to_string()),
        ("have_openssl", have_ssl(state).to_owned()),
        ("have_ssl", have_ssl(state).to_owned()),
        ("hostname", HOSTNAME.clone()),
        ("open_files_limit", OPEN_FILES_LIMIT.to_string()),
        ("port", port.to_string()),
        ("pseudo_thread_id", id.to_string()),
        ("read_only", read_only.clone()),
        // A number for the program, as the others that run here have theirs.
        ("server_uuid", format!("00000000-0000-8000-8000-{:012x}", region.pid())),
        ("socket", socket),
        ("super_read_only", read_only),
        ("version_comment", comment(state)),
        (warning_count, warnings.count().to_string()),
    ]
}

/// The machine's name, where it can be had without asking C.
static HOSTNAME: LazyLock<String> = LazyLock::new(|| {
    let of_linux = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = of_linux.or_else(|| std::env::var("COMPUTERNAME").ok());
    name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).unwrap_or_else(|| "localhost".to_owned())
});

/// How many files, sockets among them, the process may have open that is asked; 0 where the system does not say.
static OPEN_FILES_LIMIT: LazyLock<u64> = LazyLock::new(|| {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    limit.and_then(|limit| limit.split_whitespace().next()?.parse().ok()).unwrap_or(0)
});

/// How many warnings the last statement had, errors among them, and how many errors.
const COUNTS: [&str; 2] = ["@@warning_count", "@@error_count"];

/// Whether a statement asks for these: of one that does, they are still those of the statement before.
pub(crate) fn counts_warnings(tokens: &[TokenWithSpan]) -> bool {
    let is = |index, word: &str| parse::is_word(tokens, index, word);
    let is_of_session = |index| is(index, "@@session") || is(index, "@@local");
    let is_count = |name: &str, index| is(index, name) || is_of_session(index) && is(index + 2, name.trim_start_matches('@'));
    (0..tokens.len()).any(|index| COUNTS.iter().any(|name| is_count(name, index)))
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

/// What a session may set, and to what.
///
/// # Errors
/// There is no such variable, or it is read only; it cannot have this value.
pub(crate) fn check(state: &State, name: &str, value: &OwnedValue) -> Result<Checked, Error> {
    let Some((.., kind)) = SESSION.iter().find(|(known, ..)| *known == name) else {
        return Err(match state.variable(name) {
            Some(_) => Error::new(1238, "HY000", format!("Variable '{name}' is a read only variable")),
            None => Error::unknown_variable(name),
        });
    };
    kind.check(name, value)
}

/// A value that a variable can have.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Checked {
    /// As it was at the start of the session.
    Default,
    /// As it is kept.
    Value(String),
    /// The nearest to what was asked for, which is warned of.
    Nearest(String, Error),
}

impl Kind {
    fn check(self, name: &str, value: &OwnedValue) -> Result<Checked, Error> {
        let text = value.as_value().to_string();
        let wrong_type = || Error::new(1232, "42000", format!("Incorrect argument type to variable '{name}'"));
        let wrong_value =
            |text: &str| Error::new(1231, "42000", format!("Variable '{name}' can't be set to the value of '{text}'"));
        let is_null = *value == OwnedValue::Null;
        let kept = match self {
            OfServer => {
                let message = format!("SESSION variable '{name}' is read-only. Use SET GLOBAL to assign the value");
                return Err(Error::new(1621, "HY000", message));
            }
            _ if text.eq_ignore_ascii_case("default") => return Ok(Checked::Default),
            // What MySQL's NULL means for the character sets.
            Text if is_null => return Ok(Checked::Default),
            _ if is_null => return Err(if matches!(self, Number(..) | Real) { wrong_type() } else { wrong_value("NULL") }),
            Switch => match text.to_ascii_lowercase().as_str() {
                "1" | "on" | "true" => "1".to_owned(),
                "0" | "off" | "false" => "0".to_owned(),
                _ => return Err(wrong_value(&text)),
            },
            Number(least, most) => {
                let number = match *value {
                    OwnedValue::Signed(number) => i128::from(number),
                    OwnedValue::Unsigned(number) => i128::from(number),
                    _ => return Err(wrong_type()),
                };
                let nearest = number.clamp(least.into(), most.into());
                if nearest != number {
                    let message = format!("Truncated incorrect {name} value: '{text}'");
                    return Ok(Checked::Nearest(nearest.to_string(), Error::new(1292, "22007", message)));
                }
                text
            }
            Real if text.parse::<f64>().is_ok_and(f64::is_finite) => text,
            Real => return Err(wrong_type()),
            Word(words) => {
                let by_place = text.parse::<usize>().ok().and_then(|place| words.get(place));
                let found = by_place.or_else(|| words.iter().find(|word| word.eq_ignore_ascii_case(&text)));
                (*found.ok_or_else(|| wrong_value(&text))?).to_owned()
            }
            SqlMode => sql_mode(&text).map_err(wrong_value)?,
            TimeZone if Zone::find(&text).is_some() => text,
            TimeZone => return Err(Error::new(1298, "HY000", format!("Unknown or incorrect time zone: '{text}'"))),
            // By the number of a collation, too.
            Text if text.parse::<u16>().is_ok() => text,
            Text if name.starts_with("character_set_") => check_character_set(&text).map(|()| text)?,
            Text if name.contains("collation_") => check_collation(&text).map(|()| text)?,
            Text => text,
        };
        if kept.len() > 4096 {
            return Err(Error::new(1231, "42000", format!("Variable '{name}' can't be set to a value of this length")));
        }
        Ok(Checked::Value(kept))
    }
}

/// The modes that there are in MySQL 8.0, in its order; NO_BACKSLASH_ESCAPES, which would change what a text is, is not among them.
const SQL_MODES: &[&str] = &[
    "REAL_AS_FLOAT",
    "PIPES_AS_CONCAT",
    "ANSI_QUOTES",
    "IGNORE_SPACE",
    "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE",
    "ANSI",
    "NO_AUTO_VALUE_ON_ZERO",
    "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "TRADITIONAL",
    "HIGH_NOT_PRECEDENCE",
    "NO_ENGINE_SUBSTITUTION",
    "PAD_CHAR_TO_FULL_LENGTH",
    "TIME_TRUNCATE_FRACTIONAL",
];

/// Modes that stand for others, too.
const COMBINED: &[(&str, &[&str])] = &[
    ("ANSI", &["REAL_AS_FLOAT", "PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE", "ONLY_FULL_GROUP_BY"]),
    (
        "TRADITIONAL",
        &[
            "STRICT_TRANS_TABLES",
            "STRICT_ALL_TABLES",
            "NO_ZERO_IN_DATE",
            "NO_ZERO_DATE",
            "ERROR_FOR_DIVISION_BY_ZERO",
            "NO_ENGINE_SUBSTITUTION",
        ],
    ),
];

/// As it is kept: each mode once, in MySQL's order. `0` is none. Or a mode that there is not.
fn sql_mode(text: &str) -> Result<String, &str> {
    let mut set = [false; SQL_MODES.len()];
    for mode in text.split(',').map(str::trim).filter(|mode| !mode.is_empty() && *mode != "0") {
        let place = |mode: &str| SQL_MODES.iter().position(|known| known.eq_ignore_ascii_case(mode));
        let found = place(mode).ok_or(mode)?;
        let others = COMBINED.iter().filter(|(name, _)| name.eq_ignore_ascii_case(mode)).flat_map(|(_, others)| *others);
        others.filter_map(|other| place(other)).chain([found]).for_each(|place| set[place] = true);
    }
    let modes = SQL_MODES.iter().zip(set).filter(|(_, is_set)| *is_set).map(|(mode, _)| *mode);
    Ok(modes.collect::<Vec<_>>().join(","))
}

/// For SHOW GLOBAL VARIABLES, in alphabetical order: as every session begins.
pub(crate) fn global_rows(state: &State) -> Vec<Vec<OwnedValue>> {
    rows(state, BTreeMap::new(), |name| !is_session_only(name))
}

/// For SHOW VARIABLES, in alphabetical order.
pub(crate) fn session_rows(state: &State) -> Vec<Vec<OwnedValue>> {
    rows(state, state.variables_set(), |_| true)
}

fn rows(state: &State, set: BTreeMap<String, String>, is_shown: impl Fn(&str) -> bool) -> Vec<Vec<OwnedValue>> {
    let known_ones = SESSION.iter().chain(FIXED).map(|(name, value, _)| ((*name).to_owned(), (*value).to_owned()));
    let mut rows: BTreeMap<String, String> = known_ones.collect();
    rows.extend(of_program(state).into_iter().map(|(name, value)| (name.to_owned(), value)));
    rows.extend(state.variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    state.region().scan(&tables::GlobalVariables, |row| {
        let value = row.variable_value.map(|value| value.as_str().to_owned()).unwrap_or_default();
        rows.insert(row.variable_name.to_owned(), value);
    });
    rows.extend(set);
    let shown = |(name, value): (String, String)| {
        let is_switch = matches!(known(&name), Some((.., Switch)));
        let word = if value == "1" { "ON" } else { "OFF" };
        vec![name.into(), if is_switch { word.into() } else { value.into() }]
    };
    rows.into_iter().filter(|(name, _)| is_shown(name)).map(shown).collect()
}

/// For SHOW PROCESSLIST: who reads, not whom the program serves.
pub(crate) fn processlist_rows(state: &State) -> Vec<Vec<OwnedValue>> {
    if let Some(clients) = &state.clients {
        return clients.processlist(&state.account);
    }
    let (id, seconds) = (state.connection_id, state.session_seconds());
    let Account { user, host, .. } = &state.account;
    let schema = state.schema().map_or(OwnedValue::Null, OwnedValue::from);
    let (user, host) = (user.as_str().into(), host.as_str().into());
    vec![vec![id.into(), user, host, schema, "Query".into(), seconds.into(), "".into(), OwnedValue::Null]]
}
