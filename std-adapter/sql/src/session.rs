//! Database, session, and how a statement is run.

use crate::catalog::{self, Catalog, Column, Kind, Relation};
use crate::dialect::{self, Rewritten};
use crate::snapshot::Rows;
use crate::{Error, Program, functions, moment, show, value, variables, vtab};
use perfschema::Region;
use perfschema::core::table::{Row, SqlType, Table, TableError, Value};
use perfschema::core::timer::{Clock, SystemClock, TimerName};
use perfschema::render::{ColumnHead, Grid, OwnedValue};
use regex_lite::Regex;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, params_from_iter};
use sqlparser::ast::{
    AssignmentTarget, CreateTable, Delete, Expr, FromTable, Ident, Insert, LimitClause, ObjectName, ObjectType, OrderBy,
    OrderByKind, Query, Select, SelectItem, Set, SetExpr, Statement, TableAlias, TableFactor, TableObject, TableWithJoins,
    Truncate, Update,
};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a session may do.
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

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.user, self.host)
    }
}

/// What one statement may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time; a session may set itself less by `max_execution_time`.
    pub time: Duration,
    /// Memory in bytes, once for the rows copied from the tables, and once for the result.
    pub memory_bytes: usize,
    /// Memory in bytes that SQLite may take **in the whole process**, all sessions together. SQLite counts per process only; the least
    /// value that any database was made with holds.
    pub engine_bytes: u64,
}

impl Default for Limits {
    /// 10 seconds, 256 MiB, 512 MiB.
    fn default() -> Limits {
        Limits { time: Duration::from_secs(10), memory_bytes: 256 << 20, engine_bytes: 512 << 20 }
    }
}

/// The tables of one program, ready for sessions. Cloning it is cheap, and gives the same.
///
/// ```
/// use perfschema_sql::{Account, Database, Outcome};
///
/// let process = perfschema::start()?;
/// let database = Database::new(process);
/// let mut session = database.session(Account::default())?;
/// let outcome = session.execute("SELECT name, timer_name FROM performance_schema.setup_timers")?;
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
            catalog: Arc::new(Catalog::new()),
            limits: Limits::default(),
            read_only: false,
            sessions: Arc::default(),
        }
    }

    /// The same with other limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Database {
        Database { limits, ..self }
    }

    /// The same, with every change refused by error 1290: for a program that has ended. Its clock has stopped, too: what still waited has
    /// no time so far.
    #[must_use]
    pub fn read_only(self) -> Database {
        Database { read_only: true, ..self }
    }

    /// A session of its own: current schema, variables, warnings, and a schema `test` that goes with it.
    ///
    /// # Errors
    /// No memory for it.
    pub fn session(&self, account: Account) -> Result<Session, Error> {
        let state = Arc::new(State {
            program: Arc::clone(&self.program),
            catalog: Arc::clone(&self.catalog),
            limits: self.limits,
            read_only: self.read_only,
            account,
            // Relaxed: one number a session, nothing else is published by it.
            connection_id: self.sessions.fetch_add(1, Ordering::Relaxed) + 1,
            started: Instant::now(),
            settings: Mutex::default(),
            statement: Mutex::default(),
            cancelled: AtomicBool::new(false),
        });
        let mut session = Session { connection: open(&state)?, state };
        session.describe_views()?;
        Ok(session)
    }
}

/// What a statement has done.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It has rows: their columns are described in the [`Grid`].
    Rows(Grid),
    /// It has changed something, or nothing.
    Done {
        /// Rows that a condition chose.
        matched: u64,
        /// Rows that are different now.
        changed: u64,
        /// What a client prints after that, or nothing.
        info: String,
    },
}

impl Outcome {
    pub(crate) fn done() -> Outcome {
        Outcome::Done { matched: 0, changed: 0, info: String::new() }
    }

    fn changed(changed: u64) -> Outcome {
        Outcome::Done { matched: changed, changed, info: String::new() }
    }
}

/// A warning, as SHOW WARNINGS lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// `Error`, `Warning` or `Note`.
    pub level: &'static str,
    /// What it says.
    pub error: Error,
}

/// What a statement will return and wants to be given.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// How many `?` it has.
    pub parameters: usize,
    /// The columns of its rows; none for a statement without rows. The types of expressions are a guess until there are rows.
    pub columns: Vec<ColumnHead>,
}

/// Stops the statement that a session runs, from any thread. If none runs, nothing happens.
#[derive(Clone, Debug)]
pub struct Canceller(Arc<State>);

impl Canceller {
    /// Stops it: it ends with error 1317.
    pub fn cancel(&self) {
        // Relaxed: nothing else is published by it; the statement looks every few thousand steps.
        self.0.cancelled.store(true, Ordering::Relaxed);
    }
}

/// One client's connection.
#[derive(Debug)]
pub struct Session {
    // Before the state: SQLite's callbacks hold it, too.
    connection: Connection,
    state: Arc<State>,
}

/// What a session's statements, functions and tables share.
pub(crate) struct State {
    program: Arc<dyn Program>,
    pub(crate) catalog: Arc<Catalog>,
    limits: Limits,
    read_only: bool,
    account: Account,
    connection_id: u64,
    started: Instant,
    settings: Mutex<Settings>,
    statement: Mutex<Running>,
    cancelled: AtomicBool,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("account", &self.account)
            .field("connection_id", &self.connection_id)
            .finish_non_exhaustive()
    }
}

/// What lasts as long as the session.
#[derive(Default)]
struct Settings {
    schema: Option<&'static str>,
    variables: BTreeMap<String, String>,
    user_variables: HashMap<String, OwnedValue>,
    warnings: Vec<Warning>,
    scratch: Vec<ScratchTable>,
    /// Tables made so far: their numbers are never used again.
    scratch_made: usize,
    row_count: i64,
    found_rows: u64,
}

/// A table of schema `test`.
#[derive(Clone, Debug)]
pub(crate) struct ScratchTable {
    number: usize,
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
}

/// Numbers of relations from here on are tables of schema `test`.
const SCRATCH: usize = 1 << 20;

/// What lasts as long as the statement.
#[derive(Default)]
struct Running {
    deadline: Option<Instant>,
    rows: HashMap<usize, Arc<Rows>>,
    rows_bytes: usize,
    regexes: HashMap<(String, bool), Arc<Regex>>,
    failure: Option<Error>,
    now: Option<moment::Moment>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic left behind is whole: every change is one assignment.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    pub(crate) fn region(&self) -> &Region<'_> {
        self.program.region()
    }

    pub(crate) fn account(&self) -> &Account {
        &self.account
    }

    pub(crate) fn connection_id(&self) -> u64 {
        self.connection_id
    }

    pub(crate) fn session_seconds(&self) -> u64 {
        self.started.elapsed().as_secs()
    }

    pub(crate) fn schema(&self) -> Option<&'static str> {
        lock(&self.settings).schema
    }

    pub(crate) fn row_count(&self) -> i64 {
        lock(&self.settings).row_count
    }

    pub(crate) fn found_rows(&self) -> u64 {
        lock(&self.settings).found_rows
    }

    pub(crate) fn warnings(&self) -> Vec<Warning> {
        lock(&self.settings).warnings.clone()
    }

    pub(crate) fn scratch(&self) -> Vec<ScratchTable> {
        lock(&self.settings).scratch.clone()
    }

    pub(crate) fn scratch_name(&self, name: &str) -> Option<String> {
        let settings = lock(&self.settings);
        settings.scratch.iter().find(|table| table.name.eq_ignore_ascii_case(name)).map(|table| table.name.clone())
    }

    /// A variable as set by this session, or else as it is at start.
    pub(crate) fn variable(&self, name: &str) -> Option<OwnedValue> {
        let name = name.to_ascii_lowercase();
        let set = lock(&self.settings).variables.get(&name).cloned();
        set.map(variables::typed).or_else(|| variables::default(self, &name).map(variables::typed))
    }

    pub(crate) fn variables_set(&self) -> BTreeMap<String, String> {
        lock(&self.settings).variables.clone()
    }

    pub(crate) fn user_variable(&self, name: &str) -> OwnedValue {
        lock(&self.settings).user_variables.get(&name.to_ascii_lowercase()).cloned().unwrap_or_default()
    }

    pub(crate) fn now(&self) -> moment::Moment {
        *lock(&self.statement).now.get_or_insert_with(dialect::now)
    }

    /// The region's clock, in picoseconds since its start; None once the program has ended.
    pub(crate) fn timer_now(&self) -> Option<u64> {
        let timer = self.region().timer(TimerName::Nanosecond);
        (!self.read_only).then(|| timer.since_epoch_ps(SystemClock.ticks(TimerName::Nanosecond)))
    }

    /// The rows of a relation: copied when the statement first asks.
    pub(crate) fn rows(&self, relation: usize) -> Result<Arc<Rows>, Error> {
        if let Some(rows) = lock(&self.statement).rows.get(&relation) {
            return Ok(Arc::clone(rows));
        }
        let found = self.catalog.relations.get(relation).ok_or_else(|| Error::unknown_table("", ""))?;
        let width = found.columns().len();
        let mut rows = Rows::new(width);
        let left = self.limits.memory_bytes.saturating_sub(lock(&self.statement).rows_bytes);
        match &found.kind {
            Kind::Table(table) => {
                table.scan(self.region(), &mut |row| {
                    if rows.bytes() <= left {
                        rows.push((0..width).map(|column| row.cell(column)));
                    }
                });
            }
            Kind::Information(make) => make(self).iter().for_each(|row| rows.push(row.iter().map(OwnedValue::as_value))),
            Kind::View(_) => {}
        }
        if rows.bytes() > left {
            return Err(Error::out_of_memory());
        }
        let rows = Arc::new(rows);
        let mut statement = lock(&self.statement);
        statement.rows_bytes += rows.bytes();
        statement.rows.insert(relation, Arc::clone(&rows));
        Ok(rows)
    }

    /// The pattern, compiled once a statement.
    pub(crate) fn regex(&self, pattern: &str, ignore_case: bool) -> Result<Arc<Regex>, Error> {
        let key = (pattern.to_owned(), ignore_case);
        if let Some(regex) = lock(&self.statement).regexes.get(&key) {
            return Ok(Arc::clone(regex));
        }
        let wrong = |error: &dyn fmt::Display| Error::new(1139, "42000", format!("Got error '{error}' from regexp"));
        if pattern.len() > 4096 {
            return Err(wrong(&"pattern too long"));
        }
        let regex =
            regex_lite::RegexBuilder::new(pattern).case_insensitive(ignore_case).size_limit(1 << 16).nest_limit(50).build();
        let regex = Arc::new(regex.map_err(|error| wrong(&error))?);
        let mut statement = lock(&self.statement);
        // A pattern of its own for every row is not worth keeping.
        if statement.regexes.len() < 16 {
            statement.regexes.insert(key, Arc::clone(&regex));
        }
        Ok(regex)
    }

    /// Keeps what really went wrong while SQLite is told that something did.
    pub(crate) fn fail(&self, error: Error) -> rusqlite::Error {
        let text = error.message.clone();
        lock(&self.statement).failure.get_or_insert(error);
        rusqlite::Error::UserFunctionError(text.into())
    }

    fn must_stop(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
            || lock(&self.statement).deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// An error once the statement was cancelled or has had its time.
    pub(crate) fn check_time(&self) -> Result<(), Error> {
        if self.must_stop() { Err(self.stopped()) } else { Ok(()) }
    }

    fn stopped(&self) -> Error {
        if self.cancelled.load(Ordering::Relaxed) { Error::cancelled() } else { Error::too_slow() }
    }

    /// What an error of SQLite's is in truth.
    fn explain(&self, error: rusqlite::Error) -> Error {
        if let Some(failure) = lock(&self.statement).failure.take() {
            return failure;
        }
        if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) { self.stopped() } else { error.into() }
    }

    /// The column that a declared type belongs to.
    fn declared(&self, decl_type: Option<&str>) -> Option<Column> {
        let (relation, column) = vtab::declared(decl_type?)?;
        if relation < SCRATCH {
            return self.catalog.relations.get(relation)?.columns().get(column).cloned();
        }
        let settings = lock(&self.settings);
        settings.scratch.iter().find(|table| table.number == relation)?.columns.get(column).cloned()
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
    // 4 KiB each.
    let pages = (state.limits.memory_bytes / 4096).max(16);
    connection.execute_batch(&format!("PRAGMA test.max_page_count = {pages}"))?;
    functions::register(&connection, state)?;
    vtab::create(&connection, state)?;
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_LENGTH, functions::MAX_TEXT as i32 * 2),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, dialect::MAX_STATEMENT as i32 * 4),
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
    connection.authorizer(Some(authorize))?;
    Ok(connection)
}

/// Reading, and whatever happens within schema `test`.
fn authorize(context: AuthContext<'_>) -> Authorization {
    let in_test = context.database_name == Some(catalog::TEST);
    let allowed = match context.action {
        AuthAction::Select | AuthAction::Recursive => true,
        AuthAction::Read { table_name, .. } => in_test || !table_name.starts_with("sqlite_"),
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

impl Session {
    /// Runs one statement. A `;` may end it.
    ///
    /// # Errors
    /// As MySQL has them; nothing is changed then, unless an UPDATE ran out of time between rows.
    pub fn execute(&mut self, statement: &str) -> Result<Outcome, Error> {
        self.execute_with(statement, &[])
    }

    /// Runs one statement with values for its `?`, in order.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub fn execute_with(&mut self, statement: &str, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        // Trees are walked, printed and dropped by recursion; how deep they are is bounded, how large the caller's stack is, is not.
        stacker::maybe_grow(4 << 20, 16 << 20, || self.execute_here(statement, parameters))
    }

    /// Says what a statement will return, without running it.
    ///
    /// # Errors
    /// As [`execute`](Self::execute), for what can be known before.
    pub fn describe(&mut self, statement: &str) -> Result<Description, Error> {
        stacker::maybe_grow(4 << 20, 16 << 20, || {
            self.begin();
            let tokens = dialect::tokens(statement)?;
            let parameters = dialect::placeholders(&tokens);
            if let Some(select) = show::select(&self.state, &tokens, statement)? {
                return Ok(Description { parameters, columns: self.describe(&select)?.columns });
            }
            let headings = dialect::headings(&tokens, statement);
            let mut columns = match dialect::parse(tokens, statement)? {
                Statement::Query(mut query) => self.columns_of(&mut query)?,
                _ => Vec::new(),
            };
            for (column, heading) in columns.iter_mut().zip(headings) {
                column.name = heading_of(&column.name, heading);
            }
            Ok(Description { parameters, columns })
        })
    }

    /// Stops what this session runs, from another thread.
    pub fn canceller(&self) -> Canceller {
        Canceller(Arc::clone(&self.state))
    }

    /// The number of this session, from 1.
    pub fn connection_id(&self) -> u64 {
        self.state.connection_id
    }

    /// Who it belongs to.
    pub fn account(&self) -> &Account {
        &self.state.account
    }

    /// The current schema.
    pub fn schema(&self) -> Option<&'static str> {
        self.state.schema()
    }

    /// Makes a schema the current one, as USE does.
    ///
    /// # Errors
    /// 1049, there is no such schema.
    pub fn use_schema(&mut self, name: &str) -> Result<(), Error> {
        let schema = catalog::schema(name).ok_or_else(|| Error::unknown_database(name))?;
        lock(&self.state.settings).schema = Some(schema);
        Ok(())
    }

    /// The value of a variable as the session has it, like `version` or `sql_mode`.
    pub fn variable(&self, name: &str) -> Option<OwnedValue> {
        self.state.variable(name)
    }

    /// What the last statement warned of.
    pub fn warnings(&self) -> Vec<Warning> {
        self.state.warnings()
    }

    fn begin(&mut self) {
        self.state.cancelled.store(false, Ordering::Relaxed);
        let own = self.state.variable("max_execution_time").and_then(|value| match value {
            OwnedValue::Signed(milliseconds) => u64::try_from(milliseconds).ok().filter(|milliseconds| *milliseconds > 0),
            _ => None,
        });
        let time = own.map_or(self.state.limits.time, |own| self.state.limits.time.min(Duration::from_millis(own)));
        *lock(&self.state.statement) = Running { deadline: Some(Instant::now() + time), ..Running::default() };
    }

    fn execute_here(&mut self, statement: &str, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        self.begin();
        let result = self.dispatch(statement, parameters);
        // The rows are not kept until the next statement.
        *lock(&self.state.statement) = Running::default();
        let mut settings = lock(&self.state.settings);
        match &result {
            Ok(Outcome::Rows(grid)) => {
                settings.row_count = -1;
                settings.found_rows = grid.rows.len() as u64;
            }
            Ok(Outcome::Done { changed, .. }) => settings.row_count = i64::try_from(*changed).unwrap_or(i64::MAX),
            Err(error) => {
                settings.row_count = -1;
                settings.warnings = vec![Warning { level: "Error", error: error.clone() }];
            }
        }
        result
    }

    fn dispatch(&mut self, text: &str, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        let tokens = dialect::tokens(text)?;
        let wanted = dialect::placeholders(&tokens);
        if wanted != parameters.len() {
            return Err(Error::new(1210, "HY000", "Incorrect arguments to EXECUTE"));
        }
        if show::is_warnings(&tokens) {
            return Ok(Outcome::Rows(show::warnings(&self.state.warnings())));
        }
        lock(&self.state.settings).warnings.clear();
        if let Some(select) = show::select(&self.state, &tokens, text)? {
            return self.run_text(&select).map(Outcome::Rows);
        }
        if let Some(outcome) = self.session_statement(&tokens)? {
            return Ok(outcome);
        }
        let headings = dialect::headings(&tokens, text);
        match dialect::parse(tokens, text)? {
            Statement::Query(mut query) => {
                let mut grid = self.run(&mut *query, parameters)?;
                for (column, heading) in grid.columns.iter_mut().zip(headings) {
                    column.name = heading_of(&column.name, heading);
                }
                Ok(Outcome::Rows(grid))
            }
            Statement::Update(update) => self.update(update, parameters),
            Statement::Insert(insert) => self.insert(insert, parameters),
            Statement::Delete(delete) => self.delete(delete, parameters),
            Statement::Truncate(truncate) => self.truncate(&truncate),
            Statement::CreateTable(create) => self.create_table(create, parameters),
            Statement::Drop { object_type: ObjectType::Table, if_exists, names, .. } => self.drop_tables(&names, if_exists),
            Statement::Set(set) => self.set(set, parameters),
            Statement::Use(name) => {
                let text = name.to_string();
                let schema = text.strip_prefix("USE ").unwrap_or(&text).trim_matches('`');
                self.use_schema(schema)?;
                Ok(Outcome::done())
            }
            Statement::StartTransaction { .. } | Statement::Commit { .. } | Statement::Rollback { .. } => Ok(Outcome::done()),
            Statement::CreateView(_)
            | Statement::CreateIndex(_)
            | Statement::AlterTable(_)
            | Statement::Drop { .. }
            | Statement::CreateDatabase { .. }
            | Statement::CreateSchema { .. } => {
                Err(self.database_denied(self.state.schema().unwrap_or(catalog::PERFORMANCE_SCHEMA)))
            }
            other => {
                let text = other.to_string();
                let command: Vec<&str> = text.split_whitespace().take(2).collect();
                Err(Error::unsupported(&command.join(" ")))
            }
        }
    }

    /// What only changes the session, in forms that the parser does not know.
    fn session_statement(&mut self, tokens: &[sqlparser::tokenizer::TokenWithSpan]) -> Result<Option<Outcome>, Error> {
        let word = |index, expected| dialect::is_word(tokens, index, expected);
        let characters = word(0, "SET") && (word(1, "CHARACTER") || word(1, "CHARSET"));
        let transaction = word(0, "SET") && (word(1, "TRANSACTION") || (word(1, "SESSION") && word(2, "TRANSACTION")));
        let nothing =
            word(0, "BEGIN") || word(0, "COMMIT") || word(0, "ROLLBACK") || (word(0, "START") && word(1, "TRANSACTION"));
        if characters || transaction || nothing || (word(0, "UNLOCK") && word(1, "TABLES")) {
            return Ok(Some(Outcome::done()));
        }
        if word(0, "FLUSH") && word(1, "STATUS") {
            self.may_control("RELOAD")?;
            self.state.region().flush_status();
            return Ok(Some(Outcome::done()));
        }
        Ok(None)
    }

    /// Runs a query of this crate's own.
    fn run_text(&mut self, sql: &str) -> Result<Grid, Error> {
        match dialect::parse(dialect::tokens(sql)?, sql)? {
            Statement::Query(mut query) => self.run(&mut *query, &[]),
            other => Err(Error::unsupported(&other.to_string())),
        }
    }

    fn run(&mut self, query: &mut Query, parameters: &[OwnedValue]) -> Result<Grid, Error> {
        let clauses = Clauses::of(query);
        let types = result_types(query);
        let rewritten = dialect::rewrite(query, &self.state, parameters)?;
        self.run_rewritten(&rewritten, &types).map_err(|error| clauses.name(error))
    }

    fn run_rewritten(&mut self, Rewritten { sql, bound }: &Rewritten, types: &[Option<SqlType>]) -> Result<Grid, Error> {
        let state = &self.state;
        let explain = |error| state.explain(error);
        let mut statement = self.connection.prepare(sql).map_err(explain)?;
        let columns: Vec<(String, Option<Column>)> =
            statement.columns().map(|column| (column.name().to_owned(), state.declared(column.decl_type()))).collect();
        let used = statement.parameter_count().min(bound.len());
        let mut rows = statement.query(params_from_iter(&bound[..used])).map_err(explain)?;
        let mut grid = Vec::new();
        let mut bytes = 0;
        while let Some(row) = rows.next().map_err(explain)? {
            let mut values = Vec::with_capacity(columns.len());
            for index in 0..columns.len() {
                let value = value::load(row.get_ref(index).map_err(explain)?);
                bytes += size_of::<OwnedValue>() + if let OwnedValue::Text(text) = &value { text.len() } else { 0 };
                values.push(value);
            }
            grid.push(values);
            if bytes > state.limits.memory_bytes {
                return Err(Error::out_of_memory());
            }
        }
        let head = |(index, (name, column))| head(name, column, types.get(index).copied().flatten(), &mut grid, index);
        let columns = (0_usize..).zip(columns).map(head).collect();
        Ok(Grid { columns, rows: grid })
    }

    fn columns_of(&mut self, query: &mut Query) -> Result<Vec<ColumnHead>, Error> {
        // The values of its placeholders are of no consequence here.
        let types = result_types(query);
        let rewritten = dialect::rewrite(query, &self.state, &[])?;
        let statement = self.connection.prepare(&rewritten.sql).map_err(|error| self.state.explain(error))?;
        let columns = statement.columns();
        let head = |(index, column): (usize, rusqlite::Column<'_>)| {
            let known = types.get(index).copied().flatten();
            head(column.name().to_owned(), self.state.declared(column.decl_type()), known, &mut [], 0)
        };
        Ok(columns.enumerate().map(head).collect())
    }

    /// The columns of the views, found out by the first session.
    fn describe_views(&mut self) -> Result<(), Error> {
        let catalog = Arc::clone(&self.state.catalog);
        self.begin();
        for relation in &catalog.relations {
            if let Kind::View(query) = &relation.kind
                && relation.columns().is_empty()
            {
                let heads = stacker::maybe_grow(4 << 20, 16 << 20, || self.columns_of(&mut query.clone()))?;
                let column =
                    |head: ColumnHead| Column { name: head.name, sql_type: head.sql_type, nullable: head.nullable, doc: "" };
                relation.set_columns(heads.into_iter().map(column).collect());
            }
        }
        Ok(())
    }

    fn may_control(&self, privilege: &str) -> Result<(), Error> {
        match (self.state.account.right, self.state.read_only) {
            (Right::Read, _) => {
                let message =
                    format!("Access denied; you need (at least one of) the {privilege} privilege(s) for this operation");
                Err(Error::new(1227, "42000", message))
            }
            (Right::Control, true) => Err(Error::read_only()),
            (Right::Control, false) => Ok(()),
        }
    }

    fn command_denied(&self, command: &str, table: &str) -> Error {
        let Account { user, host, .. } = &self.state.account;
        Error::new(1142, "42000", format!("{command} command denied to user '{user}'@'{host}' for table '{table}'"))
    }

    fn database_denied(&self, schema: &str) -> Error {
        let Account { user, host, .. } = &self.state.account;
        Error::new(1044, "42000", format!("Access denied for user '{user}'@'{host}' to database '{schema}'"))
    }

    /// The table that a statement changes.
    fn target(&self, name: &ObjectName, command: &'static str) -> Result<Target, Error> {
        let (schema, table) = dialect::qualified(name)?;
        let schema = match schema {
            Some(schema) => catalog::schema(schema).ok_or_else(|| Error::unknown_database(schema))?,
            None => self.state.schema().ok_or_else(Error::no_database)?,
        };
        if schema == catalog::TEST {
            return self.state.scratch_name(table).map(Target::Scratch).ok_or_else(|| Error::unknown_table(schema, table));
        }
        let (_, relation) = self.state.catalog.find(schema, table).ok_or_else(|| Error::unknown_table(schema, table))?;
        match relation.kind {
            Kind::Table(_) if self.state.account.right == Right::Read => Err(self.command_denied(command, &relation.name)),
            Kind::Table(_) if self.state.read_only => Err(Error::read_only()),
            Kind::Table(table) => Ok(Target::Table(table)),
            Kind::Information(_) => Err(self.database_denied(schema)),
            Kind::View(_) => {
                Err(Error::new(1288, "HY000", format!("The target table {} of the {command} is not updatable", relation.name)))
            }
        }
    }

    /// A refusal of a table, with the session's user in it.
    fn refusal(&self, error: TableError) -> Error {
        match error {
            TableError::CommandDenied { command, table } => self.command_denied(command, table),
            TableError::AccessDenied => self.database_denied(catalog::PERFORMANCE_SCHEMA),
            other => other.into(),
        }
    }

    /// The rows that a condition chooses are found by SQLite; the changes are the table's own. A row is known by the columns that no UPDATE
    /// can change.
    fn update(&mut self, mut update: Update, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        let plain = update.table.joins.is_empty()
            && update.from.is_none()
            && update.returning.is_none()
            && update.output.is_none()
            && update.or.is_none();
        let TableFactor::Table { name, .. } = &update.table.relation else {
            return Err(Error::unsupported("this kind of UPDATE"));
        };
        if !plain {
            return Err(Error::unsupported("multi-table UPDATE"));
        }
        let table = match self.target(name, "UPDATE")? {
            Target::Table(table) => table,
            Target::Scratch(_) => return self.change_scratch(&mut Statement::Update(update), parameters),
        };
        let declaration = table.declaration();
        if declaration.rights.update.is_empty() {
            return Err(self.command_denied("UPDATE", declaration.name));
        }
        let adopted = dialect::adopted_alias(&mut update);
        if let (Some(adopted), TableFactor::Table { alias: alias @ None, .. }) = (adopted, &mut update.table.relation) {
            *alias = Some(TableAlias { explicit: true, name: Ident::with_quote('`', adopted), columns: Vec::new(), at: None });
        }
        let mut columns = Vec::new();
        for assignment in &update.assignments {
            let AssignmentTarget::ColumnName(name) = &assignment.target else {
                return Err(Error::unsupported("this kind of SET"));
            };
            let name = name.0.last().and_then(|part| part.as_ident()).map(|ident| ident.value.as_str()).unwrap_or_default();
            let column = &declaration.columns[declaration.column(name)?];
            if !declaration.rights.update.contains(&column.name) {
                return Err(Error::wrong_usage());
            }
            columns.push(column.name);
        }
        let mut query = dialect::template("SELECT 1 FROM dual");
        let key = key_columns(table, update.table.relation.clone());
        let keys = key.columns.len();
        query.order_by = (!update.order_by.is_empty())
            .then(|| OrderBy { kind: OrderByKind::Expressions(std::mem::take(&mut update.order_by)), interpolate: None });
        query.limit_clause =
            update.limit.take().map(|limit| LimitClause::LimitOffset { limit: Some(limit), offset: None, limit_by: Vec::new() });
        let values = update.assignments.into_iter().map(|assignment| SelectItem::UnnamedExpr(assignment.value));
        let select = select_of(&mut query)?;
        // Values first: `?` are counted in the order of the text.
        select.projection = values.chain(key.items).collect();
        select.from = vec![update.table];
        select.selection = update.selection;
        let grid = self.run(&mut query, parameters)?;

        // Rows that get the same values are changed together.
        type Chosen = Vec<Vec<OwnedValue>>;
        let mut groups: Vec<(Vec<OwnedValue>, Chosen)> = Vec::new();
        for mut row in grid.rows {
            let key = row.split_off(row.len() - keys);
            match groups.iter_mut().find(|(values, _)| *values == row) {
                Some((_, chosen)) => chosen.push(key),
                None => groups.push((row, vec![key])),
            }
        }
        // All are looked at before the first is changed.
        for (values, _) in &groups {
            for (column, value) in columns.iter().zip(values) {
                let column = &declaration.columns[declaration.column(column)?];
                column.check(&value.as_value()).map_err(|error| self.refusal(error))?;
            }
        }
        let (mut matched, mut changed) = (0, 0);
        for (values, chosen) in &groups {
            let chosen: std::collections::HashSet<String> =
                chosen.iter().map(|key| key_text(key.iter().map(OwnedValue::as_value))).collect();
            let new: Vec<(&str, Value<'_>)> = columns.iter().copied().zip(values.iter().map(OwnedValue::as_value)).collect();
            let mut choose = |row: &dyn Row| chosen.contains(&key_text(key.columns.iter().map(|&column| row.cell(column))));
            let updated = table.update(self.state.region(), &mut choose, &new).map_err(|error| self.refusal(error))?;
            matched += updated.matched;
            changed += updated.changed;
        }
        Ok(Outcome::Done { matched, changed, info: format!("Rows matched: {matched}  Changed: {changed}  Warnings: 0") })
    }

    fn insert(&mut self, insert: Insert, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        let TableObject::TableName(name) = &insert.table else { return Err(Error::unsupported("this kind of INSERT")) };
        let plain = insert.or.is_none()
            && insert.on.is_none()
            && insert.returning.is_none()
            && insert.table_alias.is_none()
            && insert.partitioned.is_none()
            && !insert.overwrite
            && !insert.replace_into;
        if !plain {
            return Err(Error::unsupported("this kind of INSERT"));
        }
        let table = match self.target(name, "INSERT")? {
            Target::Table(table) => table,
            Target::Scratch(_) => return self.change_scratch(&mut Statement::Insert(insert), parameters),
        };
        let declaration = table.declaration();
        if !declaration.rights.insert_delete {
            return Err(self.command_denied("INSERT", declaration.name));
        }
        let (names, mut query) = if insert.assignments.is_empty() {
            let mut names = Vec::new();
            for column in &insert.columns {
                names.push(dialect::qualified(column)?.1.to_owned());
            }
            (names, *insert.source.ok_or_else(Error::empty)?)
        } else {
            let mut query = dialect::template("SELECT 1");
            let (mut names, mut items) = (Vec::new(), Vec::new());
            for assignment in insert.assignments {
                let AssignmentTarget::ColumnName(name) = &assignment.target else {
                    return Err(Error::unsupported("this kind of SET"));
                };
                names.push(dialect::qualified(name)?.1.to_owned());
                items.push(SelectItem::UnnamedExpr(assignment.value));
            }
            select_of(&mut query)?.projection = items;
            (names, query)
        };
        let mut columns = Vec::new();
        for name in &names {
            columns.push(declaration.columns[declaration.column(name)?].name);
        }
        if names.is_empty() {
            columns = declaration.columns.iter().map(|column| column.name).collect();
        }
        let grid = self.run(&mut query, parameters)?;
        // MySQL's own SETUP_ACTORS has fewer columns in the worklog: values for the first columns, defaults for the rest.
        let fits = |row: &Vec<OwnedValue>| row.len() == columns.len() || (names.is_empty() && row.len() < columns.len());
        if !grid.rows.iter().all(fits) {
            return Err(Error::new(1136, "21S01", "Column count doesn't match value count at row 1"));
        }
        let mut inserted = 0;
        for row in &grid.rows {
            let values: Vec<(&str, Value<'_>)> = columns.iter().copied().zip(row.iter().map(OwnedValue::as_value)).collect();
            table.insert(self.state.region(), &values).map_err(|error| self.refusal(error))?;
            inserted += 1;
        }
        Ok(Outcome::changed(inserted))
    }

    fn delete(&mut self, delete: Delete, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        let ([TableWithJoins { relation: relation @ TableFactor::Table { name, .. }, joins }], [], None) =
            (from.as_slice(), delete.tables.as_slice(), &delete.using)
        else {
            return Err(Error::unsupported("multi-table DELETE"));
        };
        if !joins.is_empty() || delete.returning.is_some() || delete.output.is_some() {
            return Err(Error::unsupported("this kind of DELETE"));
        }
        let table = match self.target(name, "DELETE")? {
            Target::Table(table) => table,
            Target::Scratch(_) => return self.change_scratch(&mut Statement::Delete(delete), parameters),
        };
        let declaration = table.declaration();
        if !declaration.rights.insert_delete {
            return Err(self.command_denied("DELETE", declaration.name));
        }
        let key = key_columns(table, relation.clone());
        let mut query = dialect::template("SELECT 1 FROM dual");
        query.order_by = (!delete.order_by.is_empty())
            .then(|| OrderBy { kind: OrderByKind::Expressions(delete.order_by.clone()), interpolate: None });
        query.limit_clause =
            delete.limit.clone().map(|limit| LimitClause::LimitOffset { limit: Some(limit), offset: None, limit_by: Vec::new() });
        let select = select_of(&mut query)?;
        select.projection = key.items;
        select.from = from.clone();
        select.selection = delete.selection.clone();
        let grid = self.run(&mut query, parameters)?;
        let chosen: std::collections::HashSet<String> =
            grid.rows.iter().map(|row| key_text(row.iter().map(OwnedValue::as_value))).collect();
        let mut choose = |row: &dyn Row| chosen.contains(&key_text(key.columns.iter().map(|&column| row.cell(column))));
        let deleted = table.delete(self.state.region(), &mut choose).map_err(|error| self.refusal(error))?;
        Ok(Outcome::changed(deleted))
    }

    fn truncate(&mut self, truncate: &Truncate) -> Result<Outcome, Error> {
        let [target] = truncate.table_names.as_slice() else { return Err(Error::syntax("", 1)) };
        match self.target(&target.name, "DROP")? {
            Target::Table(table) => table.truncate(self.state.region()).map_err(|error| self.refusal(error))?,
            Target::Scratch(name) => self.batch(&format!("DELETE FROM test.`{name}`"))?,
        }
        Ok(Outcome::done())
    }

    /// INSERT, UPDATE and DELETE of a table in schema `test` are SQLite's business.
    fn change_scratch(&mut self, statement: &mut Statement, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        // The target's name is no table factor in every statement, and is put in by hand.
        if let Statement::Insert(Insert { table: TableObject::TableName(name), .. }) = statement
            && let Target::Scratch(table) = self.target(name, "INSERT")?
        {
            *name = ObjectName::from(vec![Ident::with_quote('`', catalog::TEST), Ident::with_quote('`', table)]);
        }
        let Rewritten { sql, bound } = dialect::rewrite(statement, &self.state, parameters)?;
        let state = &self.state;
        let mut statement = self.connection.prepare(&sql).map_err(|error| state.explain(error))?;
        let used = statement.parameter_count().min(bound.len());
        let changed = statement.execute(params_from_iter(&bound[..used])).map_err(|error| state.explain(error))?;
        Ok(Outcome::changed(changed as u64))
    }

    fn batch(&self, sql: &str) -> Result<(), Error> {
        self.connection.execute_batch(sql).map_err(|error| self.state.explain(error))
    }

    /// `CREATE TABLE test.x AS SELECT …`
    fn create_table(&mut self, create: CreateTable, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        let (schema, name) = dialect::qualified(&create.name)?;
        let schema = match schema {
            Some(schema) => catalog::schema(schema).ok_or_else(|| Error::unknown_database(schema))?,
            None => self.state.schema().ok_or_else(Error::no_database)?,
        };
        if schema != catalog::TEST {
            return Err(self.database_denied(schema));
        }
        let name = name.to_owned();
        if name.contains(['`', '\0']) || name.to_ascii_lowercase().starts_with("sqlite_") || name.len() > 64 {
            return Err(Error::new(1103, "42000", format!("Incorrect table name '{name}'")));
        }
        if self.state.scratch_name(&name).is_some() {
            if create.if_not_exists {
                return Ok(Outcome::done());
            }
            return Err(Error::new(1050, "42S01", format!("Table '{name}' already exists")));
        }
        let (Some(mut query), true) = (create.query, create.columns.is_empty() && create.constraints.is_empty()) else {
            return Err(Error::unsupported("CREATE TABLE other than AS SELECT"));
        };
        let grid = self.run(&mut query, parameters)?;
        let columns: Vec<Column> = grid
            .columns
            .iter()
            .map(|head| Column { name: head.name.clone(), sql_type: head.sql_type, nullable: head.nullable, doc: "" })
            .collect();
        if let Some(twice) = columns.iter().enumerate().find_map(|(index, column)| {
            columns[..index].iter().any(|other| other.name.eq_ignore_ascii_case(&column.name)).then_some(&column.name)
        }) {
            return Err(Error::new(1060, "42S21", format!("Duplicate column name '{twice}'")));
        }
        let number = {
            let mut settings = lock(&self.state.settings);
            settings.scratch_made += 1;
            SCRATCH + settings.scratch_made
        };
        let declared: Vec<String> =
            columns.iter().enumerate().map(|(index, column)| vtab::declare(number, index, column)).collect();
        self.batch(&format!("CREATE TABLE test.`{name}` ({})", declared.join(", ")))?;
        let places = vec!["?"; columns.len()].join(", ");
        let inserted = (|| {
            let mut insert = self.connection.prepare(&format!("INSERT INTO test.`{name}` VALUES ({places})"))?;
            for row in &grid.rows {
                insert.execute(params_from_iter(row.iter().map(|value| value::store(value.as_value()))))?;
            }
            Ok(grid.rows.len() as u64)
        })();
        match inserted {
            Ok(count) => {
                lock(&self.state.settings).scratch.push(ScratchTable { number, name, columns });
                Ok(Outcome::Done {
                    matched: count,
                    changed: count,
                    info: format!("Records: {count}  Duplicates: 0  Warnings: 0"),
                })
            }
            Err(error) => {
                let error = self.state.explain(error);
                self.batch(&format!("DROP TABLE test.`{name}`"))?;
                Err(error)
            }
        }
    }

    fn drop_tables(&mut self, names: &[ObjectName], if_exists: bool) -> Result<Outcome, Error> {
        for name in names {
            let (schema, table) = dialect::qualified(name)?;
            let schema = match schema {
                Some(schema) => catalog::schema(schema).ok_or_else(|| Error::unknown_database(schema))?,
                None => self.state.schema().ok_or_else(Error::no_database)?,
            };
            if schema != catalog::TEST {
                return Err(self.database_denied(schema));
            }
            match self.state.scratch_name(table) {
                Some(name) => {
                    self.batch(&format!("DROP TABLE test.`{name}`"))?;
                    lock(&self.state.settings).scratch.retain(|table| table.name != name);
                }
                None if if_exists => {}
                None => return Err(Error::new(1051, "42S02", format!("Unknown table '{schema}.{table}'"))),
            }
        }
        Ok(Outcome::done())
    }

    fn set(&mut self, set: Set, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        let assignments: Vec<(bool, ObjectName, Expr)> = match set {
            Set::SetNames { charset_name, .. } => {
                let names = ["character_set_client", "character_set_connection", "character_set_results"];
                for name in names {
                    self.set_variable(name, &OwnedValue::Text(charset_name.value.clone()))?;
                }
                return Ok(Outcome::done());
            }
            Set::SetNamesDefault {} | Set::SetTransaction { .. } => return Ok(Outcome::done()),
            Set::SetTimeZone { .. } => return Ok(Outcome::done()),
            Set::SingleAssignment { scope, variable, mut values, .. } => match (values.pop(), values.is_empty()) {
                (Some(value), true) => vec![(is_global(scope.as_ref()), variable, value)],
                _ => return Err(Error::unsupported("SET of several values")),
            },
            Set::MultipleAssignments { assignments } => {
                assignments.into_iter().map(|one| (is_global(one.scope.as_ref()), one.name, one.value)).collect()
            }
            other => return Err(Error::unsupported(&other.to_string())),
        };
        let values: Vec<SelectItem> = assignments
            .iter()
            .map(|(_, _, value)| match value {
                // `SET sql_mode = ansi`: a bare word is a text.
                Expr::Identifier(name) if !name.value.starts_with('@') => SelectItem::UnnamedExpr(Expr::Value(
                    sqlparser::ast::Value::SingleQuotedString(name.value.clone()).with_empty_span(),
                )),
                other => SelectItem::UnnamedExpr(other.clone()),
            })
            .collect();
        let mut query = dialect::template("SELECT 1");
        select_of(&mut query)?.projection = values;
        let grid = self.run(&mut query, parameters)?;
        let values = grid.rows.into_iter().next().unwrap_or_default();
        for ((global, name, _), value) in assignments.iter().zip(values) {
            let parts: Vec<&str> = name.0.iter().filter_map(|part| part.as_ident()).map(|ident| ident.value.as_str()).collect();
            let (global, name) = match parts.as_slice() {
                [user] if user.starts_with('@') && !user.starts_with("@@") => {
                    lock(&self.state.settings).user_variables.insert(user[1..].to_ascii_lowercase(), value);
                    continue;
                }
                [name] => (*global, name.trim_start_matches('@')),
                [scope, name] => (scope.eq_ignore_ascii_case("@@global"), *name),
                _ => return Err(Error::syntax(&name.to_string(), 1)),
            };
            if global {
                if self.state.variable(name).is_none() {
                    return Err(Error::unknown_variable(name));
                }
                self.may_control("SUPER or SYSTEM_VARIABLES_ADMIN")?;
                return Err(Error::new(1238, "HY000", format!("Variable '{name}' is a read only variable")));
            }
            self.set_variable(name, &value)?;
        }
        Ok(Outcome::done())
    }

    fn set_variable(&mut self, name: &str, value: &OwnedValue) -> Result<(), Error> {
        let name = name.to_ascii_lowercase();
        variables::check(&self.state, &name)?;
        let text = if *value == OwnedValue::Null { String::new() } else { value.as_value().to_string() };
        let mut settings = lock(&self.state.settings);
        if text.len() > 4096 {
            return Err(Error::new(1231, "42000", format!("Variable '{name}' can't be set to a value of this length")));
        }
        // DEFAULT, and what MySQL's NULL means for the character sets.
        if text.is_empty() || text.eq_ignore_ascii_case("default") {
            settings.variables.remove(&name);
        } else {
            settings.variables.insert(name, text);
        }
        Ok(())
    }
}

enum Target {
    Table(&'static dyn Table),
    /// A table of schema `test`, by its name as it was made.
    Scratch(String),
}

fn is_global(scope: Option<&sqlparser::ast::ContextModifier>) -> bool {
    matches!(scope, Some(sqlparser::ast::ContextModifier::Global))
}

fn select_of(query: &mut Query) -> Result<&mut Select, Error> {
    match &mut *query.body {
        SetExpr::Select(select) => Ok(select),
        other => Err(Error::unsupported(&other.to_string())),
    }
}

/// The columns that tell rows apart: those that are never NULL and that no UPDATE changes.
struct Key {
    columns: Vec<usize>,
    items: Vec<SelectItem>,
}

fn key_columns(table: &dyn Table, relation: TableFactor) -> Key {
    let declaration = table.declaration();
    let qualifier = match relation {
        TableFactor::Table { alias: Some(alias), .. } => alias.name,
        _ => Ident::with_quote('`', declaration.name),
    };
    let is_key = |column: &perfschema::core::table::Column| !column.nullable && !declaration.rights.update.contains(&column.name);
    let columns: Vec<usize> = (0..declaration.columns.len()).filter(|&index| is_key(&declaration.columns[index])).collect();
    let item = |&index: &usize| {
        let column = Ident::with_quote('`', declaration.columns[index].name);
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(vec![qualifier.clone(), column]))
    };
    Key { items: columns.iter().map(item).collect(), columns }
}

/// A key as text that no other key has.
fn key_text<'a>(values: impl Iterator<Item = Value<'a>>) -> String {
    use fmt::Write;
    let mut text = String::new();
    for value in values {
        let _ = match value {
            Value::Text(part) => write!(text, "{}:{part}", part.len()),
            other => write!(text, "{other},"),
        };
    }
    text
}

/// The types of the columns that are calls of functions, as far as the functions have one; empty where `*` stands among them.
fn result_types(query: &Query) -> Vec<Option<SqlType>> {
    let SetExpr::Select(select) = &*query.body else { return Vec::new() };
    let mut types = Vec::new();
    for item in &select.projection {
        let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else { return Vec::new() };
        types.push(match expr {
            Expr::Function(function) => {
                let name = function.name.0.last().and_then(|part| part.as_ident()).map_or("", |ident| ident.value.as_str());
                functions::result(name)
            }
            _ => None,
        });
    }
    types
}

/// What is known of a result column: from its declaration, or else from its values, or else from the function that makes it.
fn head(name: String, column: Option<Column>, known: Option<SqlType>, rows: &mut [Vec<OwnedValue>], index: usize) -> ColumnHead {
    let mut values = rows.iter().map(|row| &row[index]);
    let has_null = values.clone().any(|value| *value == OwnedValue::Null);
    let sql_type = match &column {
        Some(column) => column.sql_type,
        None => {
            let mut found = (false, false, false, 0);
            for value in values.by_ref() {
                match value {
                    OwnedValue::Null => {}
                    OwnedValue::Unsigned(_) => found.1 = true,
                    OwnedValue::Signed(_) => found.0 = true,
                    OwnedValue::Double(_) => found.2 = true,
                    OwnedValue::Text(text) => found.3 = found.3.max(text.chars().count().max(1)),
                }
            }
            match found {
                (_, _, _, length @ 1..) => u16::try_from(length).map_or(SqlType::Longtext, SqlType::Varchar),
                (_, _, true, _) => SqlType::Double,
                (_, true, ..) => SqlType::BigintUnsigned,
                (true, ..) => SqlType::Bigint,
                _ => known.unwrap_or(SqlType::Varchar(0)),
            }
        }
    };
    // Integers are told apart by the type alone; those of a column that is unsigned come out so.
    let is_unsigned = matches!(sql_type, SqlType::BigintUnsigned | SqlType::IntUnsigned);
    for row in rows.iter_mut() {
        match &row[index] {
            OwnedValue::Signed(number) if is_unsigned => {
                if let Ok(number) = u64::try_from(*number) {
                    row[index] = OwnedValue::Unsigned(number);
                }
            }
            OwnedValue::Signed(number) if sql_type == SqlType::Double => row[index] = OwnedValue::Double(*number as f64),
            _ => {}
        }
    }
    let nullable = has_null || column.is_none_or(|column| column.nullable);
    ColumnHead { nullable, ..ColumnHead::new(name, sql_type) }
}

/// The heading as it was written, if the name is that of an expression, which the parser's printing may have spaced otherwise.
fn heading_of(name: &str, written: String) -> String {
    let bare =
        |text: &str| text.chars().filter(|c| !c.is_whitespace() && *c != '`').flat_map(char::to_lowercase).collect::<String>();
    if bare(name) == bare(&written) && !written.contains('`') { written } else { name.to_owned() }
}

/// Where names of a query stand, so that an unknown one can be reported as MySQL does.
struct Clauses(Vec<(&'static str, String)>);

impl Clauses {
    fn of(query: &Query) -> Clauses {
        let mut clauses = Vec::new();
        if let SetExpr::Select(select) = &*query.body {
            let projection: Vec<String> = select.projection.iter().map(SelectItem::to_string).collect();
            clauses.push(("field list", projection.join(" ")));
            clauses.extend(select.selection.as_ref().map(|selection| ("where clause", selection.to_string())));
            clauses.push(("on clause", select.from.iter().map(TableWithJoins::to_string).collect::<Vec<_>>().join(" ")));
            clauses.push(("group statement", select.group_by.to_string()));
            clauses.extend(select.having.as_ref().map(|having| ("having clause", having.to_string())));
        }
        clauses.extend(query.order_by.as_ref().map(|order| ("order clause", order.to_string())));
        Clauses(clauses)
    }

    fn name(&self, error: Error) -> Error {
        let Some(column) = error.message.strip_prefix("Unknown column '").and_then(|rest| rest.strip_suffix("' in 'field list'"))
        else {
            return error;
        };
        let wanted = column.to_lowercase();
        let holds = |text: &str| text.to_lowercase().replace('`', "").contains(&wanted);
        let clause = self.0.iter().find(|(_, text)| holds(text)).map_or("field list", |(clause, _)| *clause);
        Error::unknown_column(column, clause)
    }
}

/// Unused relations of a catalog are of no use to a session either.
impl Relation {
    pub(crate) fn is_view(&self) -> bool {
        matches!(self.kind, Kind::View(_))
    }
}
