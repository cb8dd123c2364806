//! Status variables: how often sessions have asked for what, and what a server knows besides.
//!
//! A counter is declared once, below: its name, whether a session has one of its own, and the statements that it counts.

use crate::parse;
use crate::state::State;
use perfschema::core::timer::TimerName;
use perfschema::render::OwnedValue;
use perfschema::tables;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::sync::atomic::{AtomicU64, Ordering};

/// Whose a counter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// The server's alone.
    Global,
    /// Each session's, and of all sessions together, of those that have ended, too.
    Session,
}

/// A counter as it is declared.
struct Declared {
    counter: Counter,
    name: &'static str,
    scope: Scope,
    /// How the statements begin that it counts, in capitals.
    statements: &'static [&'static str],
}

macro_rules! counters {
    (@doc) => { "such statements" };
    (@doc $doc:literal) => { $doc };
    ($($counter:ident $name:literal $scope:ident $(: $doc:literal)? $([$($statement:literal),+])?)*) => {
        /// A status variable that counts, by MySQL's names, as SHOW STATUS lists them.
        ///
        /// ```
        /// # use perfschema_sql::{Account, Counter, Database, Outcome};
        /// let database = Database::new(perfschema::start()?);
        /// let mut session = database.session(Account::default())?;
        /// session.count(Counter::ComStmtClose, 1); // A client's own command, which is no statement.
        /// database.count(Counter::AbortedConnects, 1); // Nobody's who has a session.
        /// assert_eq!(database.counted(Counter::ComStmtClose), 1);
        /// let Outcome::Rows(grid) = session.execute("SHOW GLOBAL STATUS LIKE 'Aborted_connects'")? else { panic!("it has rows") };
        /// assert_eq!(grid.csv().to_string(), "Variable_name,Value\nAborted_connects,1\n");
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Counter {
            $(#[doc = concat!("`", $name, "`: ", counters!(@doc $($doc)?), ".")] $counter,)*
        }

        /// In the order of [`Counter`].
        const DECLARED: &[Declared] = &[$(Declared {
            counter: Counter::$counter,
            name: $name,
            scope: Scope::$scope,
            statements: &[$($($statement),+)?],
        },)*];
    };
}

counters! {
    AbortedClients "Aborted_clients" Global: "connections that ended without a word of their client's"
    AbortedConnects "Aborted_connects" Global: "clients that did not get in"
    BytesReceived "Bytes_received" Session: "bytes of packets that clients have sent, compressed if they compress, before encryption"
    BytesSent "Bytes_sent" Session: "bytes of packets that clients were sent, compressed if they compress, before encryption"
    ComAdminCommands "Com_admin_commands" Session: "commands like ping, change user and reset connection"
    ComBegin "Com_begin" Session: "transactions that were begun" ["BEGIN", "START TRANSACTION"]
    ComCallProcedure "Com_call_procedure" Session ["CALL"]
    ComChangeDb "Com_change_db" Session: "such statements, and commands that do the same" ["USE"]
    ComCommit "Com_commit" Session ["COMMIT"]
    ComCreateTable "Com_create_table" Session ["CREATE TABLE", "CREATE TEMPORARY TABLE"]
    ComDeallocSql "Com_dealloc_sql" Session ["DEALLOCATE PREPARE", "DROP PREPARE"]
    ComDelete "Com_delete" Session ["DELETE"]
    ComDo "Com_do" Session ["DO"]
    ComDropTable "Com_drop_table" Session ["DROP TABLE", "DROP TEMPORARY TABLE"]
    ComExecuteSql "Com_execute_sql" Session ["EXECUTE"]
    ComFlush "Com_flush" Session: "such statements, and commands that do the same" ["FLUSH"]
    ComInsert "Com_insert" Session ["INSERT"]
    ComKill "Com_kill" Session: "such statements, and commands that do the same" ["KILL"]
    ComLockTables "Com_lock_tables" Session ["LOCK"]
    ComPrepareSql "Com_prepare_sql" Session ["PREPARE"]
    ComReleaseSavepoint "Com_release_savepoint" Session ["RELEASE SAVEPOINT"]
    ComReplace "Com_replace" Session ["REPLACE"]
    ComRollback "Com_rollback" Session ["ROLLBACK"]
    ComRollbackToSavepoint "Com_rollback_to_savepoint" Session ["ROLLBACK TO", "ROLLBACK WORK TO"]
    ComSavepoint "Com_savepoint" Session ["SAVEPOINT"]
    ComSelect "Com_select" Session: "such statements, and EXPLAIN of them"
        ["SELECT", "WITH", "TABLE", "VALUES", "EXPLAIN SELECT", "EXPLAIN WITH", "EXPLAIN FORMAT"]
    ComSetOption "Com_set_option" Session: "such statements, and commands that do the same" ["SET"]
    ComShowBinlogs "Com_show_binlogs" Session ["SHOW BINARY LOGS", "SHOW MASTER LOGS"]
    ComShowCharsets "Com_show_charsets" Session ["SHOW CHARACTER SET", "SHOW CHARSET"]
    ComShowCollations "Com_show_collations" Session ["SHOW COLLATION"]
    ComShowCreateDb "Com_show_create_db" Session ["SHOW CREATE DATABASE", "SHOW CREATE SCHEMA"]
    ComShowCreateTable "Com_show_create_table" Session ["SHOW CREATE TABLE", "SHOW CREATE VIEW"]
    ComShowDatabases "Com_show_databases" Session ["SHOW DATABASES", "SHOW SCHEMAS"]
    ComShowEngineStatus "Com_show_engine_status" Session ["SHOW ENGINE"]
    ComShowErrors "Com_show_errors" Session ["SHOW ERRORS", "SHOW COUNT ERRORS"]
    ComShowEvents "Com_show_events" Session ["SHOW EVENTS"]
    ComShowFields "Com_show_fields" Session: "such statements, DESCRIBE, and commands that do the same"
        ["SHOW COLUMNS", "SHOW FIELDS", "DESCRIBE", "DESC", "EXPLAIN"]
    ComShowFunctionStatus "Com_show_function_status" Session ["SHOW FUNCTION STATUS"]
    ComShowGrants "Com_show_grants" Session ["SHOW GRANTS"]
    ComShowKeys "Com_show_keys" Session ["SHOW INDEX", "SHOW INDEXES", "SHOW KEYS"]
    ComShowMasterStatus "Com_show_master_status" Session ["SHOW MASTER STATUS"]
    ComShowOpenTables "Com_show_open_tables" Session ["SHOW OPEN TABLES"]
    ComShowPlugins "Com_show_plugins" Session ["SHOW PLUGINS"]
    ComShowPrivileges "Com_show_privileges" Session ["SHOW PRIVILEGES"]
    ComShowProcedureStatus "Com_show_procedure_status" Session ["SHOW PROCEDURE STATUS"]
    ComShowProcesslist "Com_show_processlist" Session: "such statements, and commands that do the same" ["SHOW PROCESSLIST"]
    ComShowProfiles "Com_show_profiles" Session ["SHOW PROFILES"]
    ComShowReplicaStatus "Com_show_replica_status" Session ["SHOW REPLICA STATUS", "SHOW SLAVE STATUS"]
    ComShowReplicas "Com_show_replicas" Session ["SHOW REPLICAS", "SHOW SLAVE HOSTS"]
    ComShowStatus "Com_show_status" Session: "such statements, and commands for a line of statistics" ["SHOW STATUS"]
    ComShowStorageEngines "Com_show_storage_engines" Session ["SHOW ENGINES", "SHOW STORAGE ENGINES"]
    ComShowTableStatus "Com_show_table_status" Session ["SHOW TABLE STATUS"]
    ComShowTables "Com_show_tables" Session ["SHOW TABLES"]
    ComShowTriggers "Com_show_triggers" Session ["SHOW TRIGGERS"]
    ComShowVariables "Com_show_variables" Session ["SHOW VARIABLES"]
    ComShowWarnings "Com_show_warnings" Session ["SHOW WARNINGS", "SHOW COUNT WARNINGS"]
    ComStmtClose "Com_stmt_close" Session: "prepared statements that were closed, by a command or by DEALLOCATE PREPARE"
    ComStmtExecute "Com_stmt_execute" Session: "executions of prepared statements, by a command or by EXECUTE"
    ComStmtFetch "Com_stmt_fetch" Session: "times that a client has fetched rows of a cursor"
    ComStmtPrepare "Com_stmt_prepare" Session: "statements that were prepared, by a command or by PREPARE"
    ComStmtReset "Com_stmt_reset" Session: "prepared statements that were reset"
    ComStmtSendLongData "Com_stmt_send_long_data" Session: "pieces of values for prepared statements"
    ComTruncate "Com_truncate" Session ["TRUNCATE"]
    ComUnlockTables "Com_unlock_tables" Session ["UNLOCK"]
    ComUpdate "Com_update" Session ["UPDATE"]
    ConnectionErrorsAccept "Connection_errors_accept" Global: "clients whom the system did not let in"
    ConnectionErrorsInternal "Connection_errors_internal" Global: "clients for whom there was no thread"
    ConnectionErrorsMaxConnections "Connection_errors_max_connections" Global: "clients for whom there was no room"
    Connections "Connections" Global: "clients that came, whether they got in or not"
    MaxExecutionTimeExceeded "Max_execution_time_exceeded" Session: "statements that had their time"
    Queries "Queries" Session: "statements and commands, those about prepared statements among them; neither ping nor statistics"
    Questions "Questions" Session: "the same without preparing, closing and resetting of prepared statements"
    SlowQueries "Slow_queries" Session: "statements that took longer than `long_query_time`"
    ThreadsCreated "Threads_created" Global: "threads that were started for clients"
}

/// What MySQL counts and there is none of here: nothing goes to disk, no table is opened or locked, no key is cached, no
/// client's name is looked up.
const NONE: &[&str] = &[
    "Connection_errors_peer_address",
    "Connection_errors_select",
    "Connection_errors_tcpwrap",
    "Created_tmp_disk_tables",
    "Created_tmp_files",
    "Delayed_errors",
    "Delayed_insert_threads",
    "Delayed_writes",
    "Flush_commands",
    "Key_blocks_not_flushed",
    "Key_blocks_unused",
    "Key_blocks_used",
    "Key_read_requests",
    "Key_reads",
    "Key_write_requests",
    "Key_writes",
    "Not_flushed_delayed_rows",
    "Open_table_definitions",
    "Open_tables",
    "Opened_table_definitions",
    "Opened_tables",
    "Table_locks_immediate",
    "Table_locks_waited",
    "Table_open_cache_hits",
    "Table_open_cache_misses",
    "Table_open_cache_overflows",
];

/// The value of each counter.
#[derive(Debug)]
pub(crate) struct Counters([AtomicU64; DECLARED.len()]);

impl Default for Counters {
    fn default() -> Counters {
        Counters([const { AtomicU64::new(0) }; DECLARED.len()])
    }
}

// Relaxed throughout: numbers for people to read, each of which stands alone.
impl Counters {
    pub(crate) fn add(&self, counter: Counter, by: u64) {
        self.0[counter as usize].fetch_add(by, Ordering::Relaxed);
    }

    pub(crate) fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn reset(&self) {
        self.0.iter().for_each(|value| value.store(0, Ordering::Relaxed));
    }
}

/// What counts a statement of this kind. How it begins decides, whether the rest makes sense or not.
pub(crate) fn of_statement(tokens: &[TokenWithSpan]) -> Option<Counter> {
    // Words of the longest beginning.
    const LONGEST: usize = 3;
    let is_show = parse::is_word(tokens, 0, "SHOW");
    let is_modifier = |word: &str| is_show && matches!(word, "EXTENDED" | "FULL" | "GLOBAL" | "LOCAL" | "SESSION");
    let words = tokens.iter().map_while(|token| match &token.token {
        Token::Word(word) => Some(word.value.to_ascii_uppercase()),
        // Left out: `(SELECT …)` is one, `SHOW COUNT(*) WARNINGS` is about warnings.
        Token::LParen | Token::RParen | Token::Mul => Some(String::new()),
        _ => None,
    });
    let words = words.filter(|word| !word.is_empty() && !is_modifier(word)).take(LONGEST);
    let beginning = words.collect::<Vec<_>>().join(" ");
    let begins = |with: &str| beginning.strip_prefix(with).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let longest =
        |declared: &'static Declared| declared.statements.iter().filter(|with| begins(with)).map(|with| with.len()).max();
    let found = DECLARED.iter().filter_map(|declared| Some((longest(declared)?, declared.counter)));
    found.max_by_key(|(length, _)| *length).map(|(_, counter)| counter)
}

/// For SHOW GLOBAL STATUS and `global_status`, in alphabetical order.
pub(crate) fn global_rows(state: &State) -> Vec<Vec<OwnedValue>> {
    rows(state, Scope::Global)
}

/// For SHOW STATUS and `session_status`, in alphabetical order: what is the server's alone is there, too.
pub(crate) fn session_rows(state: &State) -> Vec<Vec<OwnedValue>> {
    rows(state, Scope::Session)
}

fn rows(state: &State, scope: Scope) -> Vec<Vec<OwnedValue>> {
    let mut rows: Vec<(String, String)> = Vec::new();
    state.region().scan(&tables::GlobalStatus, |row| {
        let value = row.variable_value.map(|value| value.as_str().to_owned()).unwrap_or_default();
        rows.push((row.variable_name.to_owned(), value));
    });
    rows.extend(DECLARED.iter().map(|declared| {
        let is_own = scope == Scope::Session && declared.scope == Scope::Session;
        let counters = if is_own { &state.counters } else { &*state.all_counters };
        (declared.name.to_owned(), counters.get(declared.counter).to_string())
    }));
    rows.extend(NONE.iter().map(|name| ((*name).to_owned(), "0".to_owned())));
    rows.push(("Open_files".to_owned(), open_files(state).to_string()));
    let of_server = state.clients.as_ref().map(|clients| clients.status()).unwrap_or_default();
    rows.extend(of_server.into_iter().map(|(name, value)| (name.to_owned(), value.to_string())));
    // Of the clock itself: picoseconds start again at 0 after 213 days.
    let started_ns = match state.region().start_monotonic_ns() {
        0 => state.region().timer(TimerName::Nanosecond).epoch_ticks,
        // A forked child has started later than the timer's epoch, which is its parent's.
        started_ns => started_ns,
    };
    let uptime_s = |ns: u64| ns.saturating_sub(started_ns) / 1_000_000_000;
    rows.extend(state.clock_ns().map(|ns| ("Uptime".to_owned(), uptime_s(ns).to_string())));
    let encryption = if scope == Scope::Session { state.encryption() } else { Default::default() };
    rows.push(("Ssl_cipher".to_owned(), encryption.cipher));
    rows.push(("Ssl_version".to_owned(), encryption.version));
    let compression =
        if scope == Scope::Session && state.is_compressed() { ["ON", "zlib", "6"] } else { ["OFF", "uncompressed", "0"] };
    let names = ["Compression", "Compression_algorithm", "Compression_level"];
    rows.extend(names.into_iter().zip(compression).map(|(name, value)| (name.to_owned(), value.to_owned())));
    if scope == Scope::Session {
        rows.push(("Connection_seconds".to_owned(), state.session_seconds().to_string()));
    }
    rows.sort();
    rows.into_iter().map(|(name, value)| vec![name.into(), value.into()]).collect()
}

/// The program's files that are open, of those that it says so of.
fn open_files(state: &State) -> u64 {
    let mut open = 0;
    state.region().scan(&tables::FileInstances, |row| open += u64::from(row.open_count));
    open
}

/// The line for people that clients can ask for: as MySQL words it, because programs cut it apart.
pub(crate) fn line(state: &State) -> String {
    let rows = global_rows(state);
    let value = |name: &str| -> u64 {
        let found = rows.iter().find(|row| row.first() == Some(&name.into()));
        found.and_then(|row| row.get(1)).map_or(0, |value| value.as_value().to_string().parse().unwrap_or(0))
    };
    let (uptime, questions) = (value("Uptime"), value("Questions"));
    format!(
        "Uptime: {uptime}  Threads: {}  Questions: {questions}  Slow queries: {}  Opens: {}  Flush tables: {}  Open tables: {}  Queries per \
         second avg: {:.3}",
        value("Threads_connected"),
        value("Slow_queries"),
        value("Opened_tables"),
        value("Flush_commands"),
        value("Open_tables"),
        questions as f64 / uptime.max(1) as f64
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_in_the_order_of_their_values_and_names() {
        for (place, declared) in DECLARED.iter().enumerate() {
            assert_eq!(declared.counter as usize, place, "{}", declared.name);
        }
        assert!(DECLARED.is_sorted_by(|a, b| a.name < b.name));
        assert!(DECLARED.iter().flat_map(|declared| declared.statements).all(|words| words.split(' ').count() <= 3));
    }

    #[test]
    fn statements_by_their_beginning() {
        for (statement, name) in [
            ("select 1", "Com_select"),
            ("(SELECT 1) UNION (SELECT 2)", "Com_select"),
            ("((SELECT 1))", "Com_select"),
            ("WITH x AS (SELECT 1) SELECT * FROM x", "Com_select"),
            ("EXPLAIN SELECT 1", "Com_select"),
            ("explain threads", "Com_show_fields"),
            ("DESC threads", "Com_show_fields"),
            ("SHOW FULL COLUMNS FROM threads", "Com_show_fields"),
            ("SHOW GLOBAL STATUS LIKE 'x'", "Com_show_status"),
            ("show status", "Com_show_status"),
            ("SHOW TABLE STATUS", "Com_show_table_status"),
            ("SHOW TABLES", "Com_show_tables"),
            ("SHOW FULL TABLES FROM sys", "Com_show_tables"),
            ("SHOW COUNT(*) WARNINGS", "Com_show_warnings"),
            ("SHOW COUNT(*) ERRORS", "Com_show_errors"),
            ("SHOW MASTER STATUS", "Com_show_master_status"),
            ("START TRANSACTION READ ONLY", "Com_begin"),
            ("BEGIN", "Com_begin"),
            ("ROLLBACK", "Com_rollback"),
            ("ROLLBACK TO x", "Com_rollback_to_savepoint"),
            ("ROLLBACK WORK TO SAVEPOINT x", "Com_rollback_to_savepoint"),
            ("SET @a = 1", "Com_set_option"),
            ("/* c */ TRUNCATE TABLE x", "Com_truncate"),
            ("KILL QUERY 3", "Com_kill"),
            ("CREATE TABLE test.x AS SELECT 1", "Com_create_table"),
        ] {
            let tokens = parse::tokens(statement).expect("tokens");
            let found = of_statement(&tokens).map(|counter| DECLARED[counter as usize].name);
            assert_eq!(found, Some(name), "{statement}");
        }
        for statement in ["SELECTED", "SHOW", "HANDLER x OPEN", "1"] {
            assert_eq!(of_statement(&parse::tokens(statement).expect("tokens")), None, "{statement}");
        }
    }
}
