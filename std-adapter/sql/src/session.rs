//! One client's connection, and how a statement is run.

use crate::budget::Part;
use crate::catalog::{self, Column, Kind, Relation};
use crate::columns::{self, Clauses, Written};
use crate::database::Account;
use crate::dialect::{self, Rewritten};
use crate::found::{self, Found};
use crate::set::Characters;
use crate::state::{State, lock};
use crate::status::{self, Counter};
use crate::warnings::Warnings;
use crate::{Error, explain, kinds, parse, prepared, show, value, variables, vtab};
use perfschema::core::table::SqlType;
use perfschema::render::{ColumnHead, Grid, OwnedValue};
use rusqlite::{Connection, params_from_iter};
use sqlparser::ast::{LimitClause, ObjectType, Query, Statement};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Stack in bytes that a statement may take. In a thread that has less left it gets a stack of its own each time, which takes some
/// microseconds.
pub const STATEMENT_STACK: usize = 4 << 20;

/// Trees are walked, printed and dropped by recursion; how deep they are is bounded, how large the caller's stack is, is not.
pub(crate) fn with_stack<T>(body: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STATEMENT_STACK, 4 * STATEMENT_STACK, body)
}

/// What a statement has done.
///
/// ```
/// use perfschema_sql::{Account, Database, Outcome};
///
/// let mut session = Database::new(perfschema::start()?).session(Account::default())?; // Everything is on.
/// let update = "UPDATE performance_schema.setup_consumers SET enabled = 'NO' WHERE name LIKE 'events_waits_history%'";
/// let info = "Rows matched: 2  Changed: 2  Warnings: 0".to_owned();
/// assert_eq!(session.execute(update)?, Outcome::Done { matched: 2, changed: 2, info });
/// let Outcome::Done { matched, changed, .. } = session.execute(update)? else { panic!("an UPDATE has no rows") };
/// assert_eq!((matched, changed), (2, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

    pub(crate) fn changed(changed: u64) -> Outcome {
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

/// The table that a column of a result is a column of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its schema.
    pub schema: &'static str,
    /// The table.
    pub table: String,
    /// The column's name there.
    pub column: String,
    /// Whether it is of the table's primary key.
    pub is_of_key: bool,
}

/// Bytes that an allocator keeps beside each block, and rounds it up by: of rows that are short it is more than what is in them.
const BLOCK: usize = 16;

/// Bytes of a result that are taken of all sessions' memory at once.
const TAKEN_AT_ONCE: usize = 64 * 1024;

/// How a session's client is connected, as `Ssl_cipher`, `Ssl_version` and `@@have_ssl` tell it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encryption {
    /// Whether the server has a certificate.
    pub is_offered: bool,
    /// OpenSSL's name of the cipher suite; empty without encryption.
    pub cipher: String,
    /// `TLSv1.2` or `TLSv1.3`; empty without encryption.
    pub version: String,
}

/// Stops the statement that a session runs, from any thread. If none runs, nothing happens, unless one was [announced](Self::announce).
///
/// ```
/// # use perfschema_sql::{Account, Database};
/// # let mut session = Database::new(perfschema::start()?).session(Account::default())?;
/// # let select = "SELECT * FROM performance_schema.threads";
/// let canceller = session.canceller(); // It goes to another thread.
/// canceller.cancel(); // Nothing runs, and nothing is announced.
/// session.execute(select)?;
/// canceller.announce();
/// canceller.cancel(); // The SELECT that follows has not begun yet.
/// assert_eq!(session.execute(select).unwrap_err().to_string(), "ERROR 1317 (70100): Query execution was interrupted");
/// canceller.announce();
/// canceller.cancel();
/// canceller.revoke(); // What was announced did not begin.
/// session.execute(select)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Canceller(Arc<State>);

impl Canceller {
    /// A statement is about to begin: [`cancel`](Self::cancel) stops it from now on, also before it has. For whoever tells others that it
    /// runs.
    pub fn announce(&self) {
        self.0.cancelled.store(false, Ordering::Relaxed);
        self.0.is_announced.store(true, Ordering::Relaxed);
    }

    /// What was announced has ended, or does not begin.
    pub fn revoke(&self) {
        self.0.is_announced.store(false, Ordering::Relaxed);
    }

    /// Stops it: it ends with error 1317.
    pub fn cancel(&self) {
        // Relaxed: nothing else is published by it; the statement looks every few thousand steps.
        self.0.cancelled.store(true, Ordering::Relaxed);
    }
}

/// How long a query may take by its hint MAX_EXECUTION_TIME.
fn hinted_time(hints: &str) -> Option<Duration> {
    let hints = hints.to_ascii_uppercase();
    let (_, rest) = hints.split_once("MAX_EXECUTION_TIME")?;
    let (milliseconds, _) = rest.trim_start().strip_prefix('(')?.split_once(')')?;
    Some(Duration::from_millis(milliseconds.trim().parse::<u32>().ok()?.into()))
}

/// One client's connection.
///
/// ```
/// # use perfschema_sql::{Account, Database, Outcome};
/// static ORDER: perfschema::statement::Statement = perfschema::statement!("statement/shop/order");
///
/// let mut session = Database::new(perfschema::start()?).session(Account::default())?;
/// let order = ORDER.begin("GET /orders/7");
/// let select = "SELECT event_name, sql_text FROM sys.current_statements";
/// let Outcome::Rows(grid) = session.execute(select)? else { panic!("a SELECT has rows") };
/// assert_eq!(grid.csv().to_string(), "event_name,sql_text\nstatement/shop/order,GET /orders/7\n");
/// drop(order);
/// let Outcome::Rows(grid) = session.execute(select)? else { panic!("a SELECT has rows") };
/// assert!(grid.rows.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Session {
    // Before the state: SQLite's callbacks hold it, too.
    pub(crate) connection: Connection,
    pub(crate) state: Arc<State>,
}

impl Session {
    /// Runs one statement. A `;` may end it.
    ///
    /// ```
    /// # use perfschema_sql::{Account, Database, Outcome};
    /// # let mut session = Database::new(perfschema::start()?).session(Account::default())?;
    /// let select = "SELECT name, enabled FROM performance_schema.setup_consumers WHERE name LIKE 'events_waits_history%'";
    /// let Outcome::Rows(grid) = session.execute(&format!("{select} ORDER BY name;"))? else { panic!("a SELECT has rows") };
    /// assert_eq!(grid.columns[1].name, "enabled");
    /// assert_eq!(grid.rows[0], ["events_waits_history".into(), "YES".into()]);
    /// assert_eq!(session.execute("SELECT 1; SELECT 2").unwrap_err().errno, 1064); // `split` cuts them apart.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As MySQL has them. Nothing is changed then, but by an INSERT of several rows: those before the one that was refused stay.
    pub fn execute(&mut self, statement: &str) -> Result<Outcome, Error> {
        self.execute_with(statement, &[])
    }

    /// Runs one statement with values for its `?`, in order.
    ///
    /// ```
    /// # use perfschema_sql::{Account, Database, Outcome};
    /// # let mut session = Database::new(perfschema::start()?).session(Account::default())?;
    /// let select = "SELECT COUNT(*) FROM performance_schema.setup_consumers WHERE name = ?";
    /// for (name, count) in [("global_instrumentation", 1_i64), ("' OR '' = '", 0)] {
    ///     let Outcome::Rows(grid) = session.execute_with(select, &[name.into()])? else { panic!("a SELECT has rows") };
    ///     assert_eq!(grid.rows, [[count.into()]]);
    /// }
    /// assert_eq!(session.execute_with(select, &[]).unwrap_err().errno, 1210); // As many as there are `?`.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub fn execute_with(&mut self, statement: &str, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        self.execute_typed(statement, parameters, &[])
    }

    /// The same with values that are moments, in texts: by place their types, `Date`, `Datetime` or `Time`. What has none, or is no text of one, is
    /// what the value is.
    ///
    /// ```
    /// # use perfschema::core::table::SqlType;
    /// # use perfschema::render::OwnedValue;
    /// # use perfschema_sql::{Account, Database, Outcome};
    /// # let process = perfschema::builder().environment(false).start()?;
    /// let mut session = Database::new(process.region()).session(Account::default())?;
    /// let moment = OwnedValue::Text("2020-01-02 03:04:05".into());
    /// let Outcome::Rows(rows) = session.execute_typed("SELECT ? + 0", &[moment], &[Some(SqlType::Datetime(0))])? else {
    ///     panic!("a SELECT has rows");
    /// };
    /// assert_eq!(rows.rows[0][0].as_value().to_string(), "20200102030405");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub fn execute_typed(
        &mut self,
        statement: &str,
        parameters: &[OwnedValue],
        types: &[Option<SqlType>],
    ) -> Result<Outcome, Error> {
        self.count(Counter::Questions, 1);
        self.count(Counter::Queries, 1);
        with_stack(|| self.execute_here(statement, parameters, types))
    }

    /// Says what a statement will return, without running it.
    ///
    /// ```
    /// # use perfschema::core::table::SqlType;
    /// # use perfschema_sql::{Account, Database};
    /// # let mut session = Database::new(perfschema::start()?).session(Account::default())?;
    /// let found = session.describe("SELECT thread_id, name FROM performance_schema.threads WHERE name LIKE ?")?;
    /// assert_eq!((found.parameters, found.columns[0].sql_type), (1, SqlType::BigintUnsigned));
    /// assert!(session.describe("CREATE TABLE test.kept AS SELECT 1")?.columns.is_empty(), "it has no rows");
    /// assert_eq!(session.describe("SELECT * FROM test.kept").unwrap_err().errno, 1146); // It has not been run.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`execute`](Self::execute), for what can be known before.
    pub fn describe(&mut self, statement: &str) -> Result<Description, Error> {
        with_stack(|| {
            self.begin();
            self.describe_here(statement)
        })
    }

    pub(crate) fn describe_here(&mut self, statement: &str) -> Result<Description, Error> {
        let tokens = parse::tokens_in(statement, self.state.modes())?;
        let parameters = parse::placeholders(&tokens);
        if prepared::is_about_prepared(&tokens) {
            return Err(prepared::not_preparable());
        }
        if let Some((_, format)) = explain::explained(&tokens)? {
            return Ok(Description { parameters, columns: explain::columns(format) });
        }
        if let Some(grid) = show::warnings(&tokens, statement, &Warnings::default())? {
            return Ok(Description { parameters, columns: grid.columns });
        }
        if let Some(select) = show::select(&self.state, &tokens, statement)? {
            return Ok(Description { parameters, columns: self.describe_here(&select)?.columns });
        }
        // What the parser does not know, or not all of it.
        let is_one = |first: &&str| parse::is_word(&tokens, 0, first);
        if ["COMMIT", "DO", "FLUSH", "ROLLBACK"].iter().any(is_one)
            || Characters::of(&tokens, statement)?.is_some()
            || self.definition_denied(&tokens, statement).is_some()
        {
            return Ok(Description { parameters, columns: Vec::new() });
        }
        let headings = parse::headings(&tokens, statement);
        let columns = match parse::parse(tokens, statement)? {
            Statement::Query(mut query) => {
                columns::name_as_written(&mut query, headings);
                self.columns_and_kinds_of(&mut query)?.0
            }
            _ => Vec::new(),
        };
        Ok(Description { parameters, columns })
    }

    /// Counts what the client has done beside statements, for this session and for all of the database.
    pub fn count(&self, counter: Counter, by: u64) {
        self.state.count(counter, by);
    }

    /// How long the program has run, how many clients there are, and what they have asked for, in one line, as MySQL's clients ask for it by a
    /// command.
    ///
    /// ```
    /// # use perfschema_sql::{Account, Database};
    /// # let mut session = Database::new(perfschema::start()?).session(Account::default())?;
    /// session.execute("SELECT 1")?;
    /// let line = session.statistics();
    /// assert!(line.starts_with("Uptime: ") && line.contains("  Questions: 1  Slow queries: 0  "), "{line}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn statistics(&self) -> String {
        let line = status::line(&self.state);
        self.state.end();
        line
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
    /// ```
    /// # use perfschema_sql::{Account, Database};
    /// # let mut session = Database::new(perfschema::start()?).session(Account::default())?;
    /// assert_eq!(session.schema(), None);
    /// assert_eq!(session.execute("SELECT * FROM threads").unwrap_err().errno, 1046);
    /// session.use_schema("performance_schema")?;
    /// session.execute("SELECT * FROM threads")?;
    /// assert_eq!(session.use_schema("shop").unwrap_err().to_string(), "ERROR 1049 (42000): Unknown database 'shop'");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// 1049, there is no such schema.
    pub fn use_schema(&mut self, name: &str) -> Result<(), Error> {
        lock(&self.state.settings).schema = Some(catalog::known_schema(name)?);
        Ok(())
    }

    /// The value of a variable as the session has it, like `version` or `sql_mode`.
    ///
    /// ```
    /// # use perfschema_sql::{Account, Database};
    /// # let mut session = Database::new(perfschema::start()?).session(Account::default())?;
    /// session.execute("SET max_execution_time = 500")?;
    /// assert_eq!(session.variable("max_execution_time"), Some(500_i64.into()));
    /// assert_eq!(session.variable("no_such_variable"), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn variable(&self, name: &str) -> Option<OwnedValue> {
        self.state.variable(name)
    }

    /// Whether each statement outside of a transaction is one of its own: `@@autocommit`.
    pub fn is_autocommit(&self) -> bool {
        self.state.variable("autocommit") != Some(0_i64.into())
    }

    /// Whether a transaction has begun and not ended. Clients ask, though nothing is kept back here until it does.
    ///
    /// ```
    /// # use perfschema_sql::{Account, Database, Outcome};
    /// # let mut session = Database::new(perfschema::start()?).session(Account::default())?;
    /// session.execute("BEGIN")?;
    /// session.execute("UPDATE performance_schema.setup_consumers SET enabled = 'NO' WHERE name = 'thread_instrumentation'")?;
    /// assert!(session.is_in_transaction() && session.is_autocommit());
    /// session.execute("ROLLBACK")?;
    /// assert!(!session.is_in_transaction());
    /// let select = "SELECT enabled FROM performance_schema.setup_consumers WHERE name = 'thread_instrumentation'";
    /// let Outcome::Rows(grid) = session.execute(select)? else { panic!("a SELECT has rows") };
    /// assert_eq!(grid.rows, [["NO".into()]]); // It stays off.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_in_transaction(&self) -> bool {
        lock(&self.state.settings).savepoints.is_some()
    }

    /// Says how the client is connected.
    ///
    /// ```
    /// # use perfschema_sql::{Account, Database, Encryption, Outcome};
    /// # let mut session = Database::new(perfschema::start()?).session(Account::default())?;
    /// let (cipher, version) = ("TLS_AES_256_GCM_SHA384".to_owned(), "TLSv1.3".to_owned());
    /// session.set_encryption(Encryption { is_offered: true, cipher, version });
    /// session.set_compression(true);
    /// let show = "SHOW STATUS WHERE Variable_name IN ('Ssl_cipher', 'Compression')";
    /// let Outcome::Rows(grid) = session.execute(show)? else { panic!("SHOW has rows") };
    /// assert_eq!(grid.csv().to_string(), "Variable_name,Value\nCompression,ON\nSsl_cipher,TLS_AES_256_GCM_SHA384\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_encryption(&mut self, encryption: Encryption) {
        lock(&self.state.settings).encryption = encryption;
    }

    /// Says whether what client and server send each other is compressed, as `Compression` tells it.
    pub fn set_compression(&mut self, is_compressed: bool) {
        lock(&self.state.settings).is_compressed = is_compressed;
    }

    /// What the last statement warned of, as much of it as `max_error_count` says.
    ///
    /// ```
    /// # use perfschema_sql::{Account, Database};
    /// # let mut session = Database::new(perfschema::start()?).session(Account::default())?;
    /// session.execute("DROP TABLE IF EXISTS test.before")?;
    /// let warnings = session.warnings();
    /// assert_eq!((warnings[0].level, warnings[0].error.errno), ("Note", 1051));
    /// assert_eq!(warnings[0].error.message, "Unknown table 'test.before'");
    /// session.execute("SHOW WARNINGS")?;
    /// assert_eq!((session.warnings().len(), session.warning_count()), (1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn warnings(&self) -> Vec<Warning> {
        self.state.warnings().kept().to_vec()
    }

    /// How many these are of the last statement's own: one that lists them has none.
    pub fn warning_count(&self) -> usize {
        let settings = lock(&self.state.settings);
        if settings.lists_warnings { 0 } else { settings.warnings.count() }
    }

    /// The result of the last statement is in memory no longer: others may have what it took. A server says so when a client has it.
    ///
    /// ```
    /// # let process = perfschema::start()?;
    /// let mut session = perfschema_sql::Database::new(process).session(Default::default())?;
    /// drop(session.execute("SELECT * FROM performance_schema.threads")?);
    /// session.forget_result();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn forget_result(&self) {
        lock(&self.state.settings).result = Part::default();
    }

    /// Where the columns of the last rows, or of the last description, come from; None for an expression.
    ///
    /// ```
    /// # use perfschema_sql::{Account, Database};
    /// # let mut session = Database::new(perfschema::start()?).session(Account::default())?;
    /// session.execute("SELECT name AS consumer, UPPER(enabled) FROM performance_schema.setup_consumers")?;
    /// let origins = session.origins();
    /// let consumer = origins[0].as_ref().expect("a column of a table");
    /// assert_eq!((consumer.schema, consumer.table.as_str(), consumer.column.as_str()), ("performance_schema", "setup_consumers", "NAME"));
    /// assert!(consumer.is_of_key && origins[1].is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn origins(&self) -> Vec<Option<Origin>> {
        lock(&self.state.settings).origins.clone()
    }

    fn begin(&mut self) {
        let mut settings = lock(&self.state.settings);
        settings.origins.clear();
        settings.result = Part::default();
        settings.lists_warnings = false;
        drop(settings);
        let (time, own) = (self.state.limits.time, self.state.number("max_execution_time"));
        self.state.begin(if own == 0 { time } else { time.min(Duration::from_millis(own)) });
    }

    fn execute_here(&mut self, statement: &str, parameters: &[OwnedValue], types: &[Option<SqlType>]) -> Result<Outcome, Error> {
        let begun = Instant::now();
        self.begin();
        lock(&self.state.statement).types = types.to_vec();
        // What was stopped before it began does nothing, also where nothing in it takes time.
        let result = self.state.check_time().and_then(|()| self.dispatch(statement, parameters));
        if self.is_slow(begun.elapsed()) {
            self.count(Counter::SlowQueries, 1);
        }
        if result.as_ref().is_err_and(|error| *error == Error::too_slow()) {
            self.count(Counter::MaxExecutionTimeExceeded, 1);
        }
        let found = lock(&self.state.statement).found.take();
        self.state.end();
        let mut settings = lock(&self.state.settings);
        match &result {
            Ok(Outcome::Rows(grid)) => {
                settings.row_count = -1;
                settings.found_rows = found.map_or(grid.rows.len() as u64, |found| found.rows);
            }
            Ok(Outcome::Done { changed, .. }) => settings.row_count = i64::try_from(*changed).unwrap_or(i64::MAX),
            Err(error) => {
                settings.row_count = -1;
                drop(settings);
                self.state.forget_warnings();
                self.state.warn("Error", error.clone());
            }
        }
        result
    }

    /// Whether a statement has taken longer than `long_query_time`.
    fn is_slow(&self, time: Duration) -> bool {
        let seconds = self.variable("long_query_time").and_then(|value| value.as_value().to_string().parse().ok());
        seconds.is_some_and(|seconds: f64| time.as_secs_f64() > seconds)
    }

    pub(crate) fn dispatch(&mut self, text: &str, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        let tokens = parse::tokens_in(text, self.state.modes())?;
        status::of_statement(&tokens).into_iter().for_each(|counter| self.count(counter, 1));
        let wanted = parse::placeholders(&tokens);
        if wanted != parameters.len() {
            return Err(Error::new(1210, "HY000", "Incorrect arguments to EXECUTE"));
        }
        if let Some(grid) = show::warnings(&tokens, text, &self.state.warnings())? {
            lock(&self.state.settings).lists_warnings = true;
            return Ok(Outcome::Rows(grid));
        }
        if variables::counts_warnings(&tokens) {
            lock(&self.state.settings).lists_warnings = true;
        } else {
            self.state.forget_warnings();
        }
        if let Some(query) = explain::explained(&tokens)? {
            return self.explain(query, text, parameters).map(Outcome::Rows);
        }
        if let Some(select) = show::select(&self.state, &tokens, text)? {
            return self.run_text(&select, parameters).map(Outcome::Rows);
        }
        if let Some(outcome) = self.prepared_statement(&tokens, text)? {
            return Ok(outcome);
        }
        if let Some(outcome) = self.session_statement(&tokens, text, parameters)? {
            return Ok(outcome);
        }
        if let Some(error) = self.definition_denied(&tokens, text) {
            return Err(error);
        }
        let headings = parse::headings(&tokens, text);
        lock(&self.state.statement).is_select = parse::is_word(&tokens, 0, "SELECT");
        if let Some(time) = hinted_time(parse::hints(&tokens, text)) {
            // 0: as long as any.
            let most = self.state.limits.time;
            self.state.bound_time(if time.is_zero() { most } else { most.min(time) });
        }
        match parse::parse(tokens, text)? {
            Statement::Query(mut query) => {
                columns::name_as_written(&mut query, headings);
                self.limit(&mut query);
                found::count_all(&mut query, parameters, &self.state);
                self.run(&mut query, parameters).map(Outcome::Rows)
            }
            Statement::Update(update) => self.update(update, parameters),
            Statement::Insert(insert) => self.insert(insert, parameters),
            Statement::Delete(delete) => self.delete(delete, parameters),
            Statement::Truncate(truncate) => {
                self.commit();
                self.truncate(&truncate)
            }
            Statement::CreateTable(create) => {
                self.commit();
                self.create_table(create, parameters)
            }
            Statement::Drop { object_type: ObjectType::Table, if_exists, names, .. } => {
                self.commit();
                self.drop_tables(&names, if_exists)
            }
            Statement::Set(set) => self.set(set, parameters),
            Statement::Use(name) => {
                let text = name.to_string();
                let schema = text.strip_prefix("USE ").unwrap_or(&text).trim_matches('`');
                self.use_schema(schema)?;
                Ok(Outcome::done())
            }
            Statement::Call(call) => self.call(call, parameters),
            other => {
                let text = other.to_string();
                let command: Vec<&str> = text.split_whitespace().take(2).collect();
                Err(Error::unsupported(&command.join(" ")))
            }
        }
    }

    /// Runs a query of this crate's own.
    fn run_text(&mut self, sql: &str, parameters: &[OwnedValue]) -> Result<Grid, Error> {
        match parse::parse(parse::tokens_in(sql, self.state.modes())?, sql)? {
            Statement::Query(mut query) => self.run(&mut query, parameters),
            other => Err(Error::unsupported(&other.to_string())),
        }
    }

    /// A SELECT without LIMIT has that of `sql_select_limit`.
    fn limit(&self, query: &mut Query) {
        // As many rows as there can be are no limit.
        if query.limit_clause.is_none()
            && let Ok(limit) = i64::try_from(self.state.number("sql_select_limit"))
        {
            let limit = Some(dialect::numeral(limit));
            query.limit_clause = Some(LimitClause::LimitOffset { limit, offset: None, limit_by: Vec::new() });
        }
    }

    pub(crate) fn run(&mut self, query: &mut Query, parameters: &[OwnedValue]) -> Result<Grid, Error> {
        let clauses = Clauses::of(query);
        self.run_as(query, &clauses, parameters)
    }

    /// The same of one that was written otherwise: where its names stand is known from there.
    pub(crate) fn run_as(&mut self, query: &mut Query, clauses: &Clauses, parameters: &[OwnedValue]) -> Result<Grid, Error> {
        let written = Written::of(query);
        let rewritten = dialect::rewrite(query, &self.state, parameters);
        let grid = rewritten.and_then(|rewritten| self.run_rewritten(query, &rewritten, written));
        grid.map_err(|error| clauses.name(error))
    }

    /// What SQLite is to run, after a prefix of its own.
    pub(crate) fn prepare(&self, rewritten: &Rewritten, prefix: &str) -> Result<rusqlite::Statement<'_>, Error> {
        self.make_relations(rewritten)?;
        self.connection.prepare(&format!("{prefix}{}", rewritten.sql)).map_err(|error| self.state.explain(error))
    }

    /// SQLite has a table of each relation from the first statement on that names it: making all of them would take longer than most sessions
    /// last. Outside of what may be rolled back, which would take it away again.
    pub(crate) fn make_relations(&self, rewritten: &Rewritten) -> Result<(), Error> {
        let state = &self.state;
        for &number in &rewritten.relations {
            if !lock(&state.settings).known.contains(&number)
                && let Some(relation) = state.catalog.relations.get(number)
            {
                let made = state.as_own(|| vtab::create(&self.connection, number, relation));
                made.map_err(|error| state.explain(error))?;
                lock(&state.settings).known.insert(number);
            }
        }
        Ok(())
    }

    /// The columns of a statement of SQLite's, whose origins the session knows from then on. Those of a UNION have none.
    fn columns_found(&self, statement: &rusqlite::Statement<'_>, written: &Written) -> Vec<columns::ResultColumn> {
        let state = &self.state;
        let origins: Vec<Option<Origin>> = statement.columns().map(|column| state.origin(column.decl_type())).collect();
        let found = |(column, origin): (rusqlite::Column<'_>, &Option<Origin>)| {
            let table = origin.as_ref().map(|origin| origin.table.clone());
            columns::ResultColumn { name: column.name().to_owned(), declared: state.declared(column.decl_type()).zip(table) }
        };
        let columns = statement.columns().zip(&origins).map(found).collect();
        lock(&state.settings).origins = if written.is_union() { vec![None; origins.len()] } else { origins };
        columns
    }

    fn run_rewritten(&mut self, query: &Query, rewritten: &Rewritten, written: Written) -> Result<Grid, Error> {
        let (state, bound) = (&self.state, &rewritten.bound);
        let explain = |error| state.explain(error);
        let mut statement = self.prepare(rewritten, "")?;
        let columns = self.columns_found(&statement, &written);
        let used = statement.parameter_count().min(bound.len());
        let mut rows = statement.query(params_from_iter(&bound[..used])).map_err(explain)?;
        let mut grid = Vec::new();
        let (mut bytes, mut taken, mut part) = (0, 0, Part::default());
        let counts = lock(&state.statement).found.is_some();
        while let Some(row) = rows.next().map_err(explain)? {
            if counts && !lock(&state.statement).found.as_mut().is_none_or(Found::is_wanted) {
                continue;
            }
            let mut values = Vec::with_capacity(columns.len());
            bytes += size_of::<Vec<OwnedValue>>() + BLOCK;
            for index in 0..columns.len() {
                let value = value::load(row.get_ref(index).map_err(explain)?);
                bytes += size_of::<OwnedValue>();
                bytes += if value.text_bytes() > 0 { value.text_bytes() + BLOCK } else { 0 };
                values.push(value);
            }
            grid.push(values);
            if bytes > state.limits.memory_bytes {
                return Err(Error::out_of_memory());
            }
            if bytes - taken > TAKEN_AT_ONCE {
                state.take(&mut part, bytes - taken)?;
                taken = bytes;
            }
        }
        state.take(&mut part, bytes - taken)?;
        lock(&state.settings).result = part;
        let (columns, _) = columns::heads(query, written, rewritten, columns, &mut grid);
        Ok(Grid { columns, rows: grid })
    }

    fn columns_and_kinds_of(&mut self, query: &mut Query) -> Result<(Vec<ColumnHead>, Vec<kinds::Kind>), Error> {
        // The values of its placeholders are of no consequence here.
        let written = Written::of(query);
        let rewritten = dialect::rewrite(query, &self.state, &[])?;
        let statement = self.prepare(&rewritten, "")?;
        let columns = self.columns_found(&statement, &written);
        Ok(columns::heads(query, written, &rewritten, columns, &mut []))
    }

    /// The columns of the views, found out by the first session.
    pub(crate) fn describe_views(&mut self) -> Result<(), Error> {
        let catalog = Arc::clone(&self.state.catalog);
        // No client's statement, which had its time.
        self.state.begin(Duration::MAX);
        // Those with numbers first: the others are made of them.
        let (raw, others): (Vec<_>, Vec<_>) = catalog.relations.iter().partition(|relation| relation.name.starts_with("x$"));
        for relation in raw.into_iter().chain(others) {
            if let Kind::View(query) = &relation.kind
                && relation.columns().is_empty()
            {
                let columns = with_stack(|| self.describe_view(query))?;
                relation.set_columns(columns);
            }
        }
        Ok(())
    }

    fn describe_view(&mut self, query: &Query) -> Result<Vec<Column>, Error> {
        let (heads, kinds) = self.columns_and_kinds_of(&mut query.clone())?;
        let of_view = self.state.catalog.only_view(query).map_or(&[][..], Relation::columns);
        let column = |(head, kind): (&ColumnHead, kinds::Kind)| {
            let same = of_view.iter().find(|column| column.name.eq_ignore_ascii_case(&head.name));
            let known = [Some(head.sql_type), Some(kind.column_type()), same.map(|same| same.sql_type)];
            let sql_type = known.into_iter().flatten().find(|known| *known != SqlType::Varchar(0));
            let sql_type = sql_type.unwrap_or(SqlType::Varchar(0));
            let nullable = head.nullable || same.is_some_and(|same| same.nullable);
            Column::new(&head.name, sql_type, nullable)
        };
        Ok(heads.iter().zip(kinds).map(column).collect())
    }
}
