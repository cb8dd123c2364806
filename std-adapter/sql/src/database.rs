//! The tables of one program, who may read them, and a connection of SQLite's with the doors shut.

use crate::budget::Budget;
use crate::catalog::{self, Catalog};
use crate::session::{Session, with_stack};
use crate::state::{ROW_NUMBER, State};
use crate::status::{Counter, Counters};
use crate::{Error, Program, functions, parse, vtab};
use perfschema::render::OwnedValue;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What a session may do.
///
/// ```
/// use perfschema_sql::{Account, Database, Right};
///
/// let reader = Account { user: "ada".to_owned(), host: "db1".to_owned(), right: Right::Read };
/// let mut session = Database::new(perfschema::start()?).session(reader)?;
/// session.execute("SELECT * FROM performance_schema.threads")?;
/// let error = session.execute("TRUNCATE performance_schema.events_waits_history_long").unwrap_err();
/// assert_eq!((error.errno, error.sqlstate), (1142, "42000"));
/// assert_eq!(error.message, "DROP command denied to user 'ada'@'db1' for table 'events_waits_history_long'");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// SELECT and SHOW, and what changes nothing but the session itself.
    Read,
    /// Also UPDATE, INSERT, DELETE and TRUNCATE.
    Control,
}

/// Who a session belongs to: named in errors and by `USER()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The user.
    pub user: String,
    /// The host that the user came from.
    pub host: String,
    /// What the user may do.
    pub right: Right,
}

impl Default for Account {
    /// `root@localhost`, who may do all that there is.
    fn default() -> Account {
        Account { user: "root".to_owned(), host: "localhost".to_owned(), right: Right::Control }
    }
}

impl Right {
    /// MySQL's privileges for what it allows, on all schemas together.
    pub(crate) fn global_privileges(self) -> &'static [&'static str] {
        match self {
            Right::Read => &["USAGE"],
            // FLUSH, SHOW PROCESSLIST of all, KILL of others.
            Right::Control => &["RELOAD", "PROCESS", "CONNECTION_ADMIN"],
        }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.user, self.host)
    }
}

/// What one statement may take.
///
/// ```
/// use perfschema_sql::{Account, Database, Limits};
/// # use std::time::Duration;
///
/// let limits = Limits { time: Duration::from_millis(100), ..Limits::default() };
/// let mut session = Database::new(perfschema::start()?).limits(limits).session(Account::default())?;
/// session.execute("SET cte_max_recursion_depth = 4294967295")?;
/// let endless = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";
/// let error = session.execute(endless).unwrap_err();
/// assert_eq!((error.errno, error.sqlstate), (3024, "HY000")); // What takes too much memory ends with error 1041.
/// # let limits = Limits { memory_bytes: 1 << 20, ..Limits::default() };
/// # let mut session = Database::new(perfschema::process().unwrap()).limits(limits).session(Account::default())?;
/// # assert_eq!(session.execute("SELECT REPEAT('x', 1000000), REPEAT('y', 1000000)").unwrap_err().errno, 1041);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time; a session may set itself less by `max_execution_time`.
    pub time: Duration,
    /// Memory in bytes, once for the rows copied from the tables, and once for the result. What a join looks rows up by is not counted:
    /// about 100 bytes for each row of a column that it compares.
    pub memory_bytes: usize,
    /// The same in bytes of all sessions together, of which an eighth is for those that may control: they see what the others do. The result of a
    /// session's last statement counts until its next one, or until [`Session::forget_result`]. Its user variables and what it has
    /// prepared by PREPARE count for as long as it keeps them.
    pub all_bytes: usize,
    /// Memory in bytes that SQLite may take **in the whole process**, all sessions together, and whatever else the process does with
    /// SQLite. SQLite counts per process only; the least value that any database was made with holds. Tables of schema `test` have half of it,
    /// all together: so there is room for new sessions. An eighth of that half is for those that may control. Those of one session have half of that
    /// half, and no more than `memory_bytes`.
    pub engine_bytes: u64,
}

impl Limits {
    /// Bytes of the tables of schema `test`, of all sessions together.
    pub(crate) fn scratch_bytes(&self) -> usize {
        usize::try_from(self.engine_bytes / 2).unwrap_or(usize::MAX)
    }

    /// And of one session.
    pub(crate) fn scratch_bytes_of_session(&self) -> usize {
        self.memory_bytes.min(self.scratch_bytes() / 2)
    }
}

impl Default for Limits {
    /// 10 seconds, 256 MiB, 1 GiB, 512 MiB.
    fn default() -> Limits {
        Limits { time: Duration::from_secs(10), memory_bytes: 256 << 20, all_bytes: 1 << 30, engine_bytes: 512 << 20 }
    }
}

/// Above the numbers of a program's own connections. The greeting of MySQL's protocol has room for 32 bits, the first of which MariaDB's
/// Connector/J takes for a sign.
const OWN_SESSIONS: u64 = 1 << 30;

/// The tables of one program, ready for sessions. Cloning it is cheap, and gives the same.
///
/// ```
/// use perfschema_sql::{Account, Database, Outcome};
///
/// let process = perfschema::start()?;
/// let database = Database::new(process);
/// let mut session = database.session(Account::default())?;
/// let outcome = session.execute("SELECT name, timer_name FROM performance_schema.setup_timers WHERE name = 'wait'")?;
/// let Outcome::Rows(grid) = outcome else { panic!("a SELECT has rows") };
/// assert_eq!(grid.csv().to_string(), "name,timer_name\nwait,CYCLE\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Database {
    program: Arc<dyn Program>,
    catalog: Arc<Catalog>,
    limits: Limits,
    read_only: bool,
    sessions: Arc<AtomicU64>,
    clients: Option<Arc<dyn Clients>>,
    variables: Arc<BTreeMap<&'static str, String>>,
    counters: Arc<Counters>,
    budget: Arc<Budget>,
    scratch_budget: Arc<Budget>,
}

/// The clients of a server, which alone knows them all.
///
/// ```
/// use perfschema::render::OwnedValue;
/// use perfschema_sql::{Account, Clients, Database};
/// use std::sync::Arc;
///
/// /// Nobody yet.
/// struct Empty;
///
/// impl Clients for Empty {
///     fn processlist(&self, _: &Account) -> Vec<Vec<OwnedValue>> {
///         Vec::new()
///     }
///     fn status(&self) -> Vec<(&'static str, u64)> {
///         vec![("Threads_connected", 0)]
///     }
///     fn places(&self) -> (u16, String) {
///         (3307, String::new())
///     }
///     fn flush_status(&self) {}
/// }
///
/// let database = Database::new(perfschema::start()?).clients(Arc::new(Empty));
/// assert_eq!(database.session(Account::default())?.variable("port"), Some(3307_i64.into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Clients: Send + Sync {
    /// The rows of `information_schema.PROCESSLIST` and SHOW PROCESSLIST, as this account may see them.
    fn processlist(&self, to: &Account) -> Vec<Vec<OwnedValue>>;

    /// Status variables of now, like `Threads_connected`: what is no [`Counter`].
    fn status(&self) -> Vec<(&'static str, u64)>;

    /// Where they come in: `@@port`, 0 if there is none, and `@@socket`.
    fn places(&self) -> (u16, String);

    /// FLUSH STATUS: what is the most that there was is what there is.
    fn flush_status(&self);
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("limits", &self.limits).field("read_only", &self.read_only).finish_non_exhaustive()
    }
}

impl Database {
    /// The tables of a program.
    pub fn new(program: impl Program) -> Database {
        Database {
            program: Arc::new(program),
            // It reads the views, as deep as a client's statements may be.
            catalog: Arc::new(with_stack(Catalog::new)),
            limits: Limits::default(),
            read_only: false,
            sessions: Arc::default(),
            clients: None,
            variables: Arc::default(),
            counters: Arc::default(),
            budget: Arc::default(),
            scratch_budget: Arc::default(),
        }
    }

    /// The same with another value of a system variable than MySQL's default, at the start of every session: from a server, which knows
    /// how many clients it takes, and for how long.
    ///
    /// ```
    /// use perfschema_sql::{Account, Database};
    ///
    /// let database = Database::new(perfschema::start()?).variable("max_connections", 20);
    /// assert_eq!(database.session(Account::default())?.variable("max_connections"), Some(20_i64.into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn variable(mut self, name: &'static str, value: u64) -> Database {
        Arc::make_mut(&mut self.variables).insert(name, value.to_string());
        self
    }

    /// The same with what a server knows of its clients. Without that, a session sees itself. Whom the program serves is in
    /// `performance_schema.processlist`.
    #[must_use]
    pub fn clients(self, clients: Arc<dyn Clients>) -> Database {
        Database { clients: Some(clients), ..self }
    }

    /// The same with other limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Database {
        Database { limits, ..self }
    }

    /// The same, with every change of the program's tables refused by error 1290: for a program that has ended. Its clock has stopped, too: what
    /// still waited has no time so far.
    ///
    /// ```
    /// # use perfschema_sql::{Account, Database};
    /// let mut session = Database::new(perfschema::start()?).read_only().session(Account::default())?;
    /// session.execute("CREATE TABLE test.kept AS SELECT * FROM performance_schema.threads")?; // That is the session's own.
    /// let error = session.execute("UPDATE performance_schema.setup_consumers SET enabled = 'YES'").unwrap_err();
    /// assert_eq!(error.errno, 1290);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn read_only(self) -> Database {
        Database { read_only: true, ..self }
    }

    /// Counts what no session has done: a client that did not get in, say. [`Session::count`] is for what a session's client has done.
    pub fn count(&self, counter: Counter, by: u64) {
        self.counters.add(counter, by);
    }

    /// How much was counted by all sessions that there are and were, and by [`count`](Self::count).
    ///
    /// ```
    /// use perfschema_sql::{Account, Counter, Database};
    ///
    /// let database = Database::new(perfschema::start()?);
    /// database.session(Account::default())?.execute("SELECT 1")?;
    /// assert_eq!(database.counted(Counter::ComSelect), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn counted(&self, counter: Counter) -> u64 {
        self.counters.get(counter)
    }

    /// A session of its own: current schema, variables, warnings, and a schema `test` that goes with it.
    ///
    /// ```
    /// # use perfschema_sql::{Account, Database};
    /// let database = Database::new(perfschema::start()?);
    /// let (mut one, mut two) = (database.session(Account::default())?, database.session(Account::default())?);
    /// one.execute("CREATE TABLE test.before AS SELECT * FROM performance_schema.global_status")?;
    /// one.execute("SELECT * FROM test.before JOIN performance_schema.global_status USING (VARIABLE_NAME)")?;
    /// let error = two.execute("SELECT * FROM test.before").unwrap_err();
    /// assert_eq!(error.to_string(), "ERROR 1146 (42S02): Table 'test.before' doesn't exist");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// No memory for it.
    pub fn session(&self, account: Account) -> Result<Session, Error> {
        self.session_numbered(account, self.next_connection_id())
    }

    /// A number for a session of this database: each is given once, from 2³⁰ + 1. The program's own connections, which are PROCESSLIST_ID in
    /// `threads`, have numbers below that, so that neither CONNECTION_ID() nor KILL means one of them; until it has had 2³⁰ threads.
    pub fn next_connection_id(&self) -> u64 {
        // Relaxed: one number a session, nothing else is published by it.
        OWN_SESSIONS + self.sessions.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// As [`session`](Self::session), with a number from [`next_connection_id`](Self::next_connection_id): a server tells a client its
    /// number before it knows who the client is.
    ///
    /// ```
    /// # use perfschema_sql::{Account, Database, Outcome};
    /// let database = Database::new(perfschema::start()?);
    /// let id = database.next_connection_id();
    /// let mut session = database.session_numbered(Account::default(), id)?;
    /// let Outcome::Rows(grid) = session.execute("SELECT CONNECTION_ID(), USER()")? else { panic!("a SELECT has rows") };
    /// assert_eq!(grid.csv().to_string(), "CONNECTION_ID(),USER()\n1073741825,root@localhost\n");
    /// assert_eq!(database.session(Account::default())?.connection_id(), id + 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// No memory for it.
    pub fn session_numbered(&self, account: Account, connection_id: u64) -> Result<Session, Error> {
        let state = Arc::new(State {
            program: Arc::clone(&self.program),
            catalog: Arc::clone(&self.catalog),
            limits: self.limits,
            budget: Arc::clone(&self.budget),
            scratch_budget: Arc::clone(&self.scratch_budget),
            read_only: self.read_only,
            clients: self.clients.clone(),
            variables: Arc::clone(&self.variables),
            counters: Counters::default(),
            all_counters: Arc::clone(&self.counters),
            account,
            connection_id,
            started: Instant::now(),
            settings: Mutex::default(),
            statement: Mutex::default(),
            cancelled: AtomicBool::new(false),
            is_announced: AtomicBool::new(false),
            is_own: AtomicBool::new(false),
        });
        let mut session = Session { connection: open(&state)?, state };
        session.describe_views()?;
        Ok(session)
    }
}

/// A connection to nothing but memory, with the tables in it and the doors shut.
fn open(state: &Arc<State>) -> Result<Connection, Error> {
    // One thread at a time uses it, as Rust makes sure.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_in_memory_with_flags(flags)?;
    // Nothing goes to disk.
    connection.execute_batch("PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;")?;
    connection.pragma_update(None, "hard_heap_limit", i64::try_from(state.limits.engine_bytes).unwrap_or(i64::MAX))?;
    for schema in [catalog::INFORMATION_SCHEMA, catalog::PERFORMANCE_SCHEMA, catalog::TEST] {
        connection.execute_batch(&format!("ATTACH ':memory:' AS {schema}"))?;
    }
    // What is dropped there is given back.
    connection.execute_batch("PRAGMA test.auto_vacuum = FULL")?;
    functions::register(&connection, state)?;
    vtab::register(&connection, state)?;
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_LENGTH, functions::MAX_TEXT as i32 * 2),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, parse::MAX_STATEMENT as i32 * 4),
        (Limit::SQLITE_LIMIT_COLUMN, 1000),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 1000),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 100),
        (Limit::SQLITE_LIMIT_VDBE_OP, 1_000_000),
        (Limit::SQLITE_LIMIT_FUNCTION_ARG, 100),
        (Limit::SQLITE_LIMIT_ATTACHED, 3),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, value)?;
    }
    let stop = Arc::clone(state);
    connection.progress_handler(2000, Some(move || stop.must_stop()))?;
    let own = Arc::clone(state);
    let allow = move |context: AuthContext<'_>| match own.is_own() {
        true => Authorization::Allow,
        false => authorize(context, &own),
    };
    connection.authorizer(Some(allow))?;
    Ok(connection)
}

/// Reading, but not the numbers of rows, and whatever happens within schema `test`.
fn authorize(context: AuthContext<'_>, state: &State) -> Authorization {
    let in_test = context.database_name == Some(catalog::TEST);
    let allowed = match context.action {
        AuthAction::Select | AuthAction::Recursive => true,
        AuthAction::Read { table_name, column_name } => {
            let schemas = [catalog::INFORMATION_SCHEMA, catalog::PERFORMANCE_SCHEMA];
            // COUNT(*) reads no column, and SQLite does not say of what schema.
            let ours = context.database_name.map_or(column_name.is_empty(), |name| schemas.contains(&name));
            let is_own = table_name.starts_with("sqlite_");
            (in_test || (ours && !is_own)) && (is_own || column_name != ROW_NUMBER || state.allows_row_number(table_name))
        }
        AuthAction::Function { function_name } => {
            let name = function_name.to_ascii_lowercase();
            name.starts_with(functions::PREFIX) || functions::BUILT_IN.iter().any(|(built_in, _)| *built_in == name)
        }
        AuthAction::CreateTable { .. }
        | AuthAction::DropTable { .. }
        | AuthAction::Insert { .. }
        | AuthAction::Update { .. }
        | AuthAction::Delete { .. } => in_test,
        _ => false,
    };
    if allowed { Authorization::Allow } else { Authorization::Deny }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the dialect never writes, written by hand.
    #[test]
    fn sqlite_refuses_what_is_not_reading() {
        let process = perfschema::start().expect("it starts");
        let mut session = Database::new(process).session(Account::default()).expect("there is memory");
        // SQLite has a table of it from here on.
        session.execute("SELECT COUNT(*) FROM performance_schema.threads").expect("it is there");
        session.connection.execute_batch("SELECT thread_id FROM performance_schema.threads").expect("it is there");
        for statement in [
            "ATTACH ':memory:' AS x",
            "DETACH test",
            "PRAGMA temp_store",
            "PRAGMA hard_heap_limit = 0",
            "SELECT * FROM pragma_database_list",
            "SELECT * FROM main.sqlite_master",
            "SELECT * FROM performance_schema.sqlite_master",
            "SELECT load_extension('x')",
            "SELECT randomblob(1000000)",
            "SELECT readfile('/etc/passwd')",
            "SELECT writefile('/tmp/x', 'x')",
            "CREATE TABLE main.x (a)",
            "CREATE TEMP TABLE x (a)",
            "CREATE VIRTUAL TABLE test.x USING fts5(a)",
            "CREATE VIRTUAL TABLE performance_schema.x USING perfschema(3)",
            "CREATE VIEW test.x AS SELECT 1",
            "CREATE TRIGGER test.x AFTER INSERT ON test.y BEGIN SELECT 1; END",
            "DROP TABLE performance_schema.threads",
            "DELETE FROM performance_schema.threads",
            "VACUUM INTO '/tmp/perfschema-sql-test'",
            "ANALYZE",
            "SELECT * FROM json_each('[1]')",
            "SELECT * FROM dbstat",
        ] {
            let result = session.connection.execute_batch(statement);
            assert!(result.is_err(), "{statement}");
        }
        assert!(!std::path::Path::new("/tmp/perfschema-sql-test").exists());
        session
            .connection
            .execute_batch("CREATE TABLE test.x (a); INSERT INTO test.x VALUES (1); DROP TABLE test.x")
            .expect("allowed");
    }
}
