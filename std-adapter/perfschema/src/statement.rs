//! Statements: what a thread does for somebody, from the request to the answer.
//!
//! ```
//! use perfschema::{statement::Statement, tables};
//!
//! static SEARCH: Statement = perfschema::statement!("statement/app/search");
//!
//! fn search(words: &[&str], query: &str) -> usize {
//!     let mut statement = SEARCH.begin(query);
//!     let found = words.iter().filter(|word| word.contains(query)).count();
//!     statement.add_rows_examined(words.len() as u64);
//!     statement.add_rows_sent(found as u64);
//!     found
//! }
//!
//! # #[cfg(feature = "instrument")] {
//! let process = perfschema::start()?;
//! assert_eq!(search(&["one", "two", "three"], "o"), 2);
//! process.region().scan(&tables::EventsStatementsHistory, |row| {
//!     assert_eq!(row.sql_text.as_ref().map(|text| text.as_str()), Some("o"));
//!     assert_eq!((row.rows_examined, row.rows_sent), (3, 2));
//! });
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The text is in whatever language the program is asked in: a query, a command line, the path of a request. It can hold what is nobody
//! else's business: it is readable to whoever may read the region, so leave out what is not theirs, or pass an empty text.
//!
//! Statements lie within one another, as far as one begins while another runs in the same thread or attached [task](crate::task);
//! [stages](mod@crate::stage) lie within the statement that runs when they begin, and end with it, and waits within either.
//!
//! **Over an await.** A statement of a thread's cannot go to another thread, so that a future that holds one is not `Send`. What a task
//! executes begins with [`begin_async`](Statement::begin_async), and may be held while the task waits, and goes from thread to thread:
//! in an attached task it is shown in the task's rows while it lasts, in any other it is recorded when it ends. An attached task may give it
//! away, to `spawn_blocking` or to a task within: it ends there, as its row says once the task is polled again. One that outlives its task
//! has no row from then on, also in no history; it counts in the sums, and for its digest, when it ends.
//!
//! **What it costs.** Off, two loads and a branch. On, with everything kept, 0.1 µs, with a text of a hundred bytes and the clock 0.2, and with its
//! digest 0.6 (on a Xeon of 2.3 GHz): it is made to be had a few times a request. In a task that is not attached, a copy of its text more.
//! Without the feature `instrument`, nothing.

#[cfg(feature = "instrument")]
use crate::{
    hook::At,
    instrument::Instrument,
    recorded::{OfActor, Recorded, When},
    thread::with_actor,
};
use perfschema_core::StatementStatistics;
#[cfg(feature = "instrument")]
use perfschema_core::{Actor, ActorId, InstrumentKind, StatementError, StatementStart, Switches};
#[cfg(feature = "instrument")]
use perfschema_timer::SystemClock;
use std::marker::PhantomData;
#[cfg(feature = "instrument")]
use std::panic::Location;
use std::time::Duration;

/// A kind of statement that threads can execute; made by [`statement!`](crate::statement!), also in a `static`.
#[derive(Clone, Copy, Debug)]
pub struct Statement {
    #[cfg(feature = "instrument")]
    instrument: &'static Instrument,
}

/// A statement that runs, and ends where this is dropped. It belongs to whom it was begun for: [`OfThread`], or [`OfTask`].
#[must_use = "the statement ends at once; `let statement = …` keeps it"]
#[derive(Debug)]
pub struct Executing<Of = OfThread> {
    #[cfg(feature = "instrument")]
    recorded: Recorded<Own, Whole>,
    of: PhantomData<Of>,
}

/// Of the thread that began it, or of the attached task within one poll: it stays there.
#[derive(Debug)]
pub struct OfThread(
    // Another thread has others.
    PhantomData<*const ()>,
);

/// Of an async task, which may go from thread to thread.
#[derive(Debug)]
pub struct OfTask(());

/// One that is with the actor that began it.
#[cfg(feature = "instrument")]
#[derive(Debug)]
struct Own {
    statement: perfschema_core::Statement<'static>,
    /// What was said while another actor was at hand, which may not write there.
    error: Option<Box<StatementError>>,
}

#[cfg(feature = "instrument")]
impl Own {
    fn of(statement: perfschema_core::Statement<'static>) -> Own {
        Own { statement, error: None }
    }

    fn end(mut self, actor: &Actor<'static>, clock: &When) -> Option<Box<StatementError>> {
        if let Some(error) = &self.error {
            actor.set_statement_error(&mut self.statement, error);
        }
        actor.end_statement(clock, self.statement);
        self.error
    }
}

#[cfg(feature = "instrument")]
impl OfActor for Own {
    type Rest = Option<Box<StatementError>>;

    fn actor_id(&self) -> Option<ActorId> {
        self.statement.actor_id()
    }
}

/// All that there is to record of a statement.
#[cfg(feature = "instrument")]
#[derive(Debug)]
struct Whole {
    switches: Switches,
    /// Ticks of their timer.
    start: u64,
    text: Box<str>,
    schema: Box<str>,
    source: &'static Location<'static>,
    statistics: StatementStatistics,
    error: Option<StatementError>,
}

#[cfg(feature = "instrument")]
impl Whole {
    fn record(&self, actor: &Actor<'static>) {
        let start = StatementStart { text: &self.text, schema: &self.schema, source: Some(self.source) };
        let mut statement = actor.begin_statement(&At(self.start), self.switches, &start);
        actor.change_statement(&mut statement, |statistics| *statistics = self.statistics);
        if let Some(error) = &self.error {
            actor.set_statement_error(&mut statement, error);
        }
        actor.end_statement(&SystemClock, statement);
    }
}

#[cfg(feature = "instrument")]
impl Statement {
    /// The statements of `instrument`, a `statement/…`. In a `static` or at run time: a `const` cannot look at a `static`, and has
    /// [`statement!`](crate::statement!).
    ///
    /// # Panics
    /// If the instrument is of another kind; in a `static`, that is a compile error.
    pub const fn with_instrument(instrument: &'static Instrument) -> Statement {
        crate::__check_kind(instrument.kind(), InstrumentKind::Statement);
        Statement { instrument }
    }

    // For statement!, which has looked at the name.
    #[doc(hidden)]
    pub const fn __of(instrument: &'static Instrument) -> Statement {
        Statement { instrument }
    }

    /// The calling thread executes a statement until what is returned is dropped. `text` is SQL_TEXT; empty is NULL.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn begin(&self, text: &str) -> Executing {
        self.begin_in("", text)
    }

    /// The same with CURRENT_SCHEMA: what the names of the text are looked up in.
    ///
    /// ```
    /// # use perfschema::statement::Statement;
    /// static QUERY: Statement = perfschema::statement!("statement/app/query");
    /// let _statement = QUERY.begin_in("inventory", "count bolts");
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn begin_in(&self, schema: &str, text: &str) -> Executing {
        match self.instrument.on() {
            Some(switches) => begin(switches, &StatementStart { text, schema, source: Some(Location::caller()) }),
            None => Executing::of(Recorded::Nowhere),
        }
    }

    /// The task that is polled executes a statement until what is returned is dropped, also on another thread. In an
    /// [attached](crate::task) task it is shown while it lasts, and what the task waits for lies within it. In any other, or in none, it is
    /// recorded whole when it ends, by the thread that ends it; until then it is nowhere to be seen, and nothing lies within it.
    ///
    /// ```
    /// use perfschema::{statement::Statement, task};
    /// static GET: Statement = perfschema::statement!("statement/app/get");
    ///
    /// async fn rows_of(_part: &str) -> u64 {
    ///     2
    /// }
    /// let request = async {
    ///     let mut statement = GET.begin_async("GET /parts/7");
    ///     statement.add_rows_sent(rows_of("7").await);
    /// };
    /// # fn spawn(_: impl Future + Send + 'static) {}
    /// spawn(task::attach("task/app/request", request)); // A runtime's, such as tokio::spawn
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn begin_async(&self, text: &str) -> Executing<OfTask> {
        self.begin_async_in("", text)
    }

    /// The same with CURRENT_SCHEMA, as [`begin_in`](Self::begin_in).
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn begin_async_in(&self, schema: &str, text: &str) -> Executing<OfTask> {
        match self.instrument.on() {
            Some(switches) => begin_async(switches, schema, text, Location::caller()),
            None => Executing::of(Recorded::Nowhere),
        }
    }
}

#[cfg(feature = "instrument")]
#[inline(never)]
fn begin(switches: Switches, start: &StatementStart<'_>) -> Executing {
    Executing::of(Recorded::by_thread(|actor| Own::of(actor.begin_statement(&SystemClock, switches, start))))
}

#[cfg(feature = "instrument")]
#[inline(never)]
fn begin_async(switches: Switches, schema: &str, text: &str, source: &'static Location<'static>) -> Executing<OfTask> {
    let start = StatementStart { text, schema, source: Some(source) };
    let whole = || Whole {
        switches,
        start: switches.read(&SystemClock),
        text: text.into(),
        schema: schema.into(),
        source,
        statistics: StatementStatistics::default(),
        error: None,
    };
    Executing::of(Recorded::by_task(|actor| Own::of(actor.begin_statement(&SystemClock, switches, &start)), whole))
}

#[cfg(feature = "instrument")]
#[inline(never)]
fn end(recorded: &mut Recorded<Own, Whole>) {
    recorded.end(|actor, own: Own, clock| own.end(actor, clock), |actor, whole| whole.record(actor));
}

#[cfg(feature = "instrument")]
impl<Of> Executing<Of> {
    const fn of(recorded: Recorded<Own, Whole>) -> Executing<Of> {
        Executing { recorded, of: PhantomData }
    }

    /// Says more of the statement: `change` gets its figures as they are, and is not called if nothing is recorded.
    ///
    /// ```
    /// # use perfschema::{statement::Statement, tables};
    /// static REPORT: Statement = perfschema::statement!("statement/app/report");
    /// let process = perfschema::start()?;
    /// let mut statement = REPORT.begin("parts by month");
    /// statement.change(|figures| {
    ///     figures.no_index_used = 1;
    ///     figures.sort_rows += 12;
    /// });
    /// drop(statement);
    /// process.region().scan(&tables::EventsStatementsHistory, |row| assert_eq!((row.no_index_used, row.sort_rows), (1, 12)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn change(&mut self, change: impl FnOnce(&mut StatementStatistics)) {
        // It may panic, and may do what is recorded.
        match &mut self.recorded {
            Recorded::At(Own { statement, .. }) if statement.is_recorded() => {
                let mut figures = *statement.statistics();
                change(&mut figures);
                with_actor(|actor| actor.change_statement(statement, |statistics| *statistics = figures));
            }
            Recorded::AtItsEnd(whole) => change(&mut whole.statistics),
            Recorded::At(_) | Recorded::Nowhere => {}
        }
    }

    /// The statement fails: one more error, and MYSQL_ERRNO, RETURNED_SQLSTATE and MESSAGE_TEXT are those of the last one. Five characters
    /// and 128 bytes are kept.
    ///
    /// ```
    /// # use perfschema::statement::Statement;
    /// static QUERY: Statement = perfschema::statement!("statement/app/query");
    /// let mut statement = QUERY.begin("count bolts");
    /// statement.fail(1146, "42S02", "there is no table bolts");
    /// ```
    pub fn fail(&mut self, number: u32, sqlstate: &str, message: &str) {
        let error = || StatementError { number, sqlstate: sqlstate.into(), message: message.into() };
        match &mut self.recorded {
            Recorded::At(Own { statement, error: later }) if statement.is_recorded() => {
                let error = error();
                let is_kept = with_actor(|actor| actor.set_statement_error(statement, &error)).unwrap_or(false);
                *later = (!is_kept).then(|| Box::new(error));
            }
            Recorded::AtItsEnd(whole) => whole.error = Some(error()),
            Recorded::At(_) | Recorded::Nowhere => {}
        }
        self.change(|statistics| statistics.errors = statistics.errors.saturating_add(1));
    }
}

#[cfg(feature = "instrument")]
impl<Of> Drop for Executing<Of> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if self.recorded.is_anywhere() {
            end(&mut self.recorded);
        }
    }
}

impl<Of> Executing<Of> {
    /// Adds to ROWS_SENT.
    pub fn add_rows_sent(&mut self, rows: u64) {
        self.change(|statistics| statistics.rows_sent = statistics.rows_sent.saturating_add(rows));
    }

    /// Adds to ROWS_EXAMINED.
    pub fn add_rows_examined(&mut self, rows: u64) {
        self.change(|statistics| statistics.rows_examined = statistics.rows_examined.saturating_add(rows));
    }

    /// Adds to ROWS_AFFECTED.
    pub fn add_rows_affected(&mut self, rows: u64) {
        self.change(|statistics| statistics.rows_affected = statistics.rows_affected.saturating_add(rows));
    }

    /// Adds to WARNINGS.
    pub fn add_warnings(&mut self, warnings: u64) {
        self.change(|statistics| statistics.warnings = statistics.warnings.saturating_add(warnings));
    }

    /// Adds to LOCK_TIME.
    pub fn add_lock_time(&mut self, time: Duration) {
        let ps = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).saturating_mul(1000);
        self.change(|statistics| statistics.lock_time_ps = statistics.lock_time_ps.saturating_add(ps));
    }
}

#[cfg(not(feature = "instrument"))]
impl Statement {
    #[doc(hidden)]
    pub const fn new() -> Statement {
        Statement {}
    }

    /// The calling thread executes a statement until what is returned is dropped. `text` is SQL_TEXT; empty is NULL.
    #[inline]
    pub fn begin(&self, _text: &str) -> Executing {
        Executing { of: PhantomData }
    }

    /// The same with CURRENT_SCHEMA: what the names of the text are looked up in.
    #[inline]
    pub fn begin_in(&self, _schema: &str, _text: &str) -> Executing {
        Executing { of: PhantomData }
    }

    /// The task that is polled executes a statement until what is returned is dropped, also on another thread.
    #[inline]
    pub fn begin_async(&self, _text: &str) -> Executing<OfTask> {
        Executing { of: PhantomData }
    }

    /// The same with CURRENT_SCHEMA, as [`begin_in`](Self::begin_in).
    #[inline]
    pub fn begin_async_in(&self, _schema: &str, _text: &str) -> Executing<OfTask> {
        Executing { of: PhantomData }
    }
}

#[cfg(not(feature = "instrument"))]
impl<Of> Executing<Of> {
    /// Says more of the statement: `change` gets its figures as they are, and is not called if nothing is recorded.
    #[inline]
    pub fn change(&mut self, _change: impl FnOnce(&mut StatementStatistics)) {}

    /// The statement fails: one more error, and MYSQL_ERRNO, RETURNED_SQLSTATE and MESSAGE_TEXT are those of the last one.
    #[inline]
    pub fn fail(&mut self, _number: u32, _sqlstate: &str, _message: &str) {}
}
