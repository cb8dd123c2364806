//! What a session's statements, functions and tables share, and what bounds a statement.

use crate::budget::{Budget, Part};
use crate::catalog::{self, Catalog, Column, Kind, Relation};
use crate::database::{Account, Clients, Limits, Right};
use crate::found::Found;
use crate::numbers::Generator;
use crate::prepared::Statements;
use crate::session::{Encryption, Origin};
use crate::snapshot::Rows;
use crate::spelling::Modes;
use crate::status::{Counter, Counters};
use crate::texts::Matching;
use crate::warnings::Warnings;
use crate::zone::Zone;
use crate::{Error, Program, moment, variables, vtab};
use perfschema::core::name::EventClass;
use perfschema::core::table::{SqlType, TableSource, Value};
use perfschema::core::timer::{SystemClock, TimerName};
use perfschema::render::{self, OwnedValue};
use perfschema::tables::Threads;
use perfschema::{Now, Region};
use regex_lite::Regex;
use rusqlite::types::ValueRef;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a session's statements, functions and tables share.
pub(crate) struct State {
    pub(crate) program: Arc<dyn Program>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) limits: Limits,
    pub(crate) budget: Arc<Budget>,
    /// Of the tables of schema `test`.
    pub(crate) scratch_budget: Arc<Budget>,
    pub(crate) read_only: bool,
    pub(crate) clients: Option<Arc<dyn Clients>>,
    /// What the server says of variables.
    pub(crate) variables: Arc<BTreeMap<&'static str, String>>,
    /// This session's.
    pub(crate) counters: Counters,
    /// Those of all sessions.
    pub(crate) all_counters: Arc<Counters>,
    pub(crate) account: Account,
    pub(crate) connection_id: u64,
    pub(crate) started: Instant,
    pub(crate) settings: Mutex<Settings>,
    pub(crate) statement: Mutex<Running>,
    pub(crate) cancelled: AtomicBool,
    /// The next statement may be cancelled before it begins. As `cancelled`, relaxed: nothing else is published by it.
    pub(crate) is_announced: AtomicBool,
    /// Whether what SQLite runs is this crate's own, and may do what no client's statement may.
    pub(crate) is_own: AtomicBool,
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
pub(crate) struct Settings {
    pub(crate) schema: Option<&'static str>,
    pub(crate) variables: BTreeMap<String, String>,
    user_variables: HashMap<String, OwnedValue>,
    /// Bytes that these take.
    user_variables_bytes: usize,
    /// Of the memory of all sessions, for these and for what is prepared.
    kept: Part,
    pub(crate) prepared: Statements,
    pub(crate) warnings: Warnings,
    /// Whether the last statement was one that lists them.
    pub(crate) lists_warnings: bool,
    pub(crate) encryption: Encryption,
    pub(crate) is_compressed: bool,
    /// Of the result of the last statement, which its client may still have.
    pub(crate) result: Part,
    pub(crate) scratch: Vec<ScratchTable>,
    /// Of the memory for these.
    pub(crate) scratch_bytes: Part,
    /// Tables made so far: their numbers are never used again.
    pub(crate) scratch_made: usize,
    /// Those of the transaction; None outside of one.
    pub(crate) savepoints: Option<Vec<String>>,
    pub(crate) row_count: i64,
    pub(crate) found_rows: u64,
    /// Relations that SQLite has a table of: those that some statement has named.
    pub(crate) known: HashSet<usize>,
    /// Of the columns of the last rows.
    pub(crate) origins: Vec<Option<Origin>>,
}

impl Settings {
    /// Gives what the variable was.
    fn set_user_variable(&mut self, name: &str, value: Option<OwnedValue>) -> Option<OwnedValue> {
        // A place in the map, beside the name and the text.
        let bytes = |value: &OwnedValue| size_of::<(String, OwnedValue)>() + name.len() + value.text_bytes();
        self.user_variables_bytes += value.as_ref().map_or(0, bytes);
        let before = match value {
            Some(value) => self.user_variables.insert(name.to_owned(), value),
            None => self.user_variables.remove(name),
        };
        self.user_variables_bytes -= before.as_ref().map_or(0, bytes);
        before
    }
}

/// A table of schema `test`.
#[derive(Clone, Debug)]
pub(crate) struct ScratchTable {
    pub(crate) number: usize,
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
}

/// Rows of a table that are copied before it is asked whether there is memory and time for more.
const ROWS_AT_ONCE: usize = 256;

/// Bytes that the user variables of a session may take.
const MAX_USER_VARIABLES: usize = 8 << 20;

/// What SQLite calls the number of a row, whatever the statement does.
pub(crate) const ROW_NUMBER: &str = "ROWID";

/// Numbers of relations from here on are tables of schema `test`.
pub(crate) const SCRATCH: usize = 1 << 20;

/// What lasts as long as the statement.
#[derive(Default)]
pub(crate) struct Running {
    deadline: Option<Instant>,
    /// Of each relation the columns that are asked for.
    used: HashMap<usize, u64>,
    rows: HashMap<usize, Arc<Rows>>,
    rows_bytes: usize,
    regexes: HashMap<(String, Matching), Arc<Regex>>,
    /// Of the calls of RAND with one seed for all rows: how many there are, and by their numbers what gives the next of each.
    seeded: i64,
    generators: HashMap<i64, Generator>,
    /// Bytes of what is being collected of many rows.
    collected_bytes: usize,
    /// Of both.
    taken: Part,
    failure: Option<Error>,
    has_ended: Option<bool>,
    /// What is written like a name of SQLite's for the number of a row: the first.
    row_number: Option<String>,
    /// Whether that number is read whatever the client wrote.
    means_row_numbers: bool,
    /// Where all rows are counted, also those that the client is not given.
    pub(crate) found: Option<Found>,
    /// Whether its first word says so: it changes nothing.
    pub(crate) is_select: bool,
    /// Of its parameters, where they are moments.
    pub(crate) types: Vec<Option<SqlType>>,
    now: Option<moment::Moment>,
    time_zone: Option<Zone>,
    /// By [`TimerName::index`].
    ticks: Option<[Option<u64>; TimerName::ALL.len()]>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic left behind is whole: every change is one assignment.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    pub(crate) fn region(&self) -> &Region<'_> {
        self.program.region()
    }

    pub(crate) fn session_seconds(&self) -> u64 {
        self.started.elapsed().as_secs()
    }

    pub(crate) fn count(&self, counter: Counter, by: u64) {
        self.counters.add(counter, by);
        self.all_counters.add(counter, by);
    }

    /// What a statement names, and its number. In MySQL's own schema nobody has a right to anything, whether it is there or not.
    pub(crate) fn relation(&self, schema: &str, table: &str, command: &str) -> Result<(usize, &Relation), Error> {
        if schema == catalog::MYSQL {
            return Err(self.command_denied(command, table));
        }
        self.catalog.find(schema, table).ok_or_else(|| Error::unknown_table(schema, table))
    }

    pub(crate) fn command_denied(&self, command: &str, table: &str) -> Error {
        let Account { user, host, .. } = &self.account;
        Error::new(1142, "42000", format!("{command} command denied to user '{user}'@'{host}' for table '{table}'"))
    }

    pub(crate) fn schema(&self) -> Option<&'static str> {
        lock(&self.settings).schema
    }

    /// The schema that a statement names, or else the current one.
    pub(crate) fn schema_or_current(&self, name: Option<&str>) -> Result<&'static str, Error> {
        name.map_or_else(|| self.schema().ok_or_else(Error::no_database), catalog::known_schema)
    }

    pub(crate) fn row_count(&self) -> i64 {
        lock(&self.settings).row_count
    }

    pub(crate) fn found_rows(&self) -> u64 {
        lock(&self.settings).found_rows
    }

    pub(crate) fn encryption(&self) -> Encryption {
        lock(&self.settings).encryption.clone()
    }

    pub(crate) fn is_compressed(&self) -> bool {
        lock(&self.settings).is_compressed
    }

    pub(crate) fn scratch(&self) -> Vec<ScratchTable> {
        lock(&self.settings).scratch.clone()
    }

    pub(crate) fn scratch_table(&self, name: &str) -> Option<ScratchTable> {
        lock(&self.settings).scratch.iter().find(|table| table.name.eq_ignore_ascii_case(name)).cloned()
    }

    pub(crate) fn scratch_name(&self, name: &str) -> Option<String> {
        let settings = lock(&self.settings);
        settings.scratch.iter().find(|table| table.name.eq_ignore_ascii_case(name)).map(|table| table.name.clone())
    }

    /// A variable as set by this session, or else as it is at start.
    pub(crate) fn variable(&self, name: &str) -> Option<OwnedValue> {
        let name = name.to_ascii_lowercase();
        let set = lock(&self.settings).variables.get(&name).cloned();
        set.map(variables::typed).or_else(|| self.global_variable(&name))
    }

    /// A variable as it is at the start of every session.
    pub(crate) fn global_variable(&self, name: &str) -> Option<OwnedValue> {
        variables::default(self, &name.to_ascii_lowercase()).map(variables::typed)
    }

    /// How this session's statements are read.
    pub(crate) fn modes(&self) -> Modes {
        match self.variable("sql_mode") {
            Some(OwnedValue::Text(mode)) => Modes::of(&mode),
            _ => Modes::default(),
        }
    }

    /// A variable that is a whole number; 0, if it is none.
    pub(crate) fn number(&self, name: &str) -> u64 {
        match self.variable(name) {
            Some(OwnedValue::Signed(number)) => u64::try_from(number).unwrap_or(0),
            Some(OwnedValue::Unsigned(number)) => number,
            _ => 0,
        }
    }

    pub(crate) fn variables_set(&self) -> BTreeMap<String, String> {
        lock(&self.settings).variables.clone()
    }

    /// `SET @name = value`
    pub(crate) fn set_user_variable(&self, name: &str, value: OwnedValue) -> Result<(), Error> {
        self.set_user_variables(vec![(name.to_owned(), value)])
    }

    /// All of them, or none.
    pub(crate) fn set_user_variables(&self, assignments: Vec<(String, OwnedValue)>) -> Result<(), Error> {
        let settings = &mut *lock(&self.settings);
        let mut before = Vec::new();
        let mut set = |(name, value): (String, OwnedValue)| {
            let name = name.to_ascii_lowercase();
            before.push((settings.set_user_variable(&name, Some(value)), name));
            if settings.user_variables_bytes > MAX_USER_VARIABLES { Err(Error::out_of_memory()) } else { Ok(()) }
        };
        let result = assignments.into_iter().try_for_each(&mut set).and_then(|()| self.count_kept(settings));
        if result.is_err() {
            for (value, name) in before.into_iter().rev() {
                settings.set_user_variable(&name, value);
            }
        }
        result
    }

    /// What the session keeps counts among what all sessions may take. An error is that there is no room for more than it kept before.
    pub(crate) fn count_kept(&self, settings: &mut Settings) -> Result<(), Error> {
        let (now, before) = (settings.user_variables_bytes + settings.prepared.bytes(), settings.kept.bytes());
        settings.kept.shrink(before.saturating_sub(now));
        if now > before { self.take(&mut settings.kept, now - before) } else { Ok(()) }
    }

    pub(crate) fn user_variable(&self, name: &str) -> OwnedValue {
        lock(&self.settings).user_variables.get(&name.to_ascii_lowercase()).cloned().unwrap_or_default()
    }

    /// The moment at which the statement first asks, in UTC; or that which the session has set.
    pub(crate) fn now(&self) -> moment::Moment {
        let set = self.set_moment();
        *lock(&self.statement).now.get_or_insert_with(|| set.unwrap_or_else(moment::Moment::now))
    }

    /// What the session has as the moment of all its statements, in the variable `timestamp`.
    pub(crate) fn set_moment(&self) -> Option<moment::Moment> {
        let seconds: f64 = lock(&self.settings).variables.get("timestamp")?.parse().ok()?;
        (seconds > 0.0).then(|| moment::Moment::from_unix(seconds))
    }

    /// That of the session's clocks.
    pub(crate) fn time_zone(&self) -> Zone {
        if let Some(zone) = &lock(&self.statement).time_zone {
            return zone.clone();
        }
        let zone = lock(&self.settings).variables.get("time_zone").cloned();
        let zone = zone.and_then(|zone| Zone::find(&zone)).unwrap_or(Zone::UTC);
        lock(&self.statement).time_zone.insert(zone).clone()
    }

    /// Whether nothing can be changed.
    pub(crate) fn is_read_only(&self) -> bool {
        self.has_ended() || self.program.is_read_only()
    }

    /// Because it was said so, or because the program has ended since.
    fn has_ended(&self) -> bool {
        self.read_only || *lock(&self.statement).has_ended.get_or_insert_with(|| self.program.has_ended())
    }

    /// A timer of the region's when the statement first asks for any: one moment for all its rows. None once the program has ended, and of a
    /// timer that nobody can read here.
    fn ticks(&self, timer: TimerName) -> Option<u64> {
        let has_ended = self.has_ended();
        let read = || match self.region().now() {
            _ if has_ended => Default::default(),
            Now::Unknown => Default::default(),
            Now::Clock => TimerName::ALL.map(|timer| Some(self.region().ticks(&SystemClock, timer))),
            Now::At(ns) => TimerName::ALL.map(|timer| (timer == TimerName::Nanosecond).then_some(ns)),
        };
        lock(&self.statement).ticks.get_or_insert_with(read)[timer.index()]
    }

    /// The region's clock NANOSECOND.
    pub(crate) fn clock_ns(&self) -> Option<u64> {
        self.ticks(TimerName::Nanosecond)
    }

    /// How long ago TIMER_START was of an event of this class, in picoseconds; 0 if it is later.
    ///
    /// By the timer that timed it: two timers are apart by what their frequencies are wrong, which in a month may be half a second. By
    /// NANOSECOND where that timer cannot be read here, or is not the same one here.
    pub(crate) fn time_since(&self, class: EventClass, start_ps: u64) -> Option<u64> {
        const PS_PER_DAY: u64 = 86_400 * 1_000_000_000_000;
        let now_ps = |timer: TimerName| Some(self.region().timer(timer).since_epoch_ps(self.ticks(timer)?));
        let by_clock = now_ps(TimerName::Nanosecond)?;
        let elapsed_ns = self.clock_ns()?.saturating_sub(self.region().timer(TimerName::Nanosecond).epoch_ticks);
        // A machine may have slept, which not every timer counts.
        let most_apart = elapsed_ns.saturating_mul(1_000 / 2).saturating_add(PS_PER_DAY);
        let timer = self.region().event_timer(class);
        // One that has not reached the epoch is another one: an emulated processor's, or it has begun anew since.
        let has_reached_epoch = self.ticks(timer).is_some_and(|ticks| ticks >= self.region().timer(timer).epoch_ticks);
        let by_timer = now_ps(timer).filter(|_| has_reached_epoch);
        let by_timer = by_timer.filter(|now| now.wrapping_sub(by_clock).cast_signed().unsigned_abs() <= most_apart);
        // Moments begin at 0 again after 2⁶⁴ ps, so a long time ago is also a while from now. By its own timer what began later did so since
        // the statement began; by another one nobody knows how much later it may be.
        let (now, later) = by_timer.map_or((by_clock, u64::MAX / 2), |now| (now, PS_PER_DAY));
        let since = now.wrapping_sub(start_ps);
        Some(if since > u64::MAX - later { 0 } else { since })
    }

    /// A statement begins, and has this long.
    pub(crate) fn begin(&self, time: Duration) {
        if !self.is_announced.swap(false, Ordering::Relaxed) {
            self.cancelled.store(false, Ordering::Relaxed);
        }
        // None: a time that no clock will see.
        *lock(&self.statement) = Running { deadline: Instant::now().checked_add(time), ..Running::default() };
    }

    /// It says itself how long it may take from here on.
    pub(crate) fn bound_time(&self, time: Duration) {
        lock(&self.statement).deadline = Instant::now().checked_add(time);
    }

    /// The statement has ended; its rows are given back.
    pub(crate) fn end(&self) {
        *lock(&self.statement) = Running::default();
    }

    /// What SQLite may ask of a relation's rows; it says so for each place where the statement names it, before it runs. There is a bit for each
    /// column, the last one for all behind the 63rd.
    pub(crate) fn will_read(&self, relation: usize, columns: u64) {
        *lock(&self.statement).used.entry(relation).or_default() |= columns;
    }

    /// The rows of a relation: copied when the statement first asks, of the columns that it asks for.
    pub(crate) fn rows(&self, relation: usize) -> Result<Arc<Rows>, Error> {
        let found = self.catalog.relations.get(relation).ok_or_else(|| Error::unknown_table("", ""))?;
        // Functions look into this one, too, of which SQLite knows nothing, and see the same rows as the statement.
        let is_whole = found.name == Threads::DECLARATION.name;
        let used = lock(&self.statement).used.get(&relation).copied().filter(|_| !is_whole).unwrap_or(u64::MAX);
        if let Some(rows) = lock(&self.statement).rows.get(&relation).filter(|rows| rows.has(used)) {
            return Ok(Arc::clone(rows));
        }
        let mut rows = Rows::new(found.all_columns(), used, self.time_zone());
        let left = self.limits.memory_bytes.saturating_sub(lock(&self.statement).rows_bytes);
        // Taken while they are copied: many sessions that copy at once have no more than all may have.
        let mut taken = 0;
        let mut take = |rows: &Rows| {
            let bytes = rows.bytes();
            self.take(&mut lock(&self.statement).taken, bytes - std::mem::replace(&mut taken, bytes))?;
            if bytes > left { Err(Error::out_of_memory()) } else { self.check_time() }
        };
        let mut result = Ok(());
        match &found.kind {
            Kind::Table(table) => {
                let region = self.region().as_of(self.clock_ns().map_or(Now::Unknown, Now::At));
                let sweep = table.scan(&region, &mut |row| {
                    if result.is_ok() {
                        rows.push(|column| row.cell(column));
                        if rows.len().is_multiple_of(ROWS_AT_ONCE) {
                            result = take(&rows);
                        }
                    }
                });
                // While it runs, they show the next time.
                if let Some(missing) = render::missing(&sweep).filter(|_| self.has_ended()) {
                    self.warn("Warning", Error::new(1105, "HY000", format!("{}: {missing}", found.name)));
                }
            }
            Kind::Information(make) => {
                make(self).iter().for_each(|row| rows.push(|column| row.get(column).map_or(Value::Null, OwnedValue::as_value)));
            }
            Kind::View(_) => {}
        }
        result.and_then(|()| take(&rows))?;
        let rows = Arc::new(rows);
        let mut statement = lock(&self.statement);
        statement.rows_bytes += rows.bytes();
        statement.rows.insert(relation, Arc::clone(&rows));
        Ok(rows)
    }

    /// So many bytes more are collected of many rows.
    pub(crate) fn collect(&self, bytes: usize) -> Result<(), Error> {
        let mut statement = lock(&self.statement);
        self.take(&mut statement.taken, bytes)?;
        statement.collected_bytes += bytes;
        if statement.collected_bytes > self.limits.memory_bytes { Err(Error::out_of_memory()) } else { Ok(()) }
    }

    /// So many bytes are collected no longer.
    pub(crate) fn give_back(&self, bytes: usize) {
        let mut statement = lock(&self.statement);
        statement.collected_bytes = statement.collected_bytes.saturating_sub(bytes);
        statement.taken.shrink(bytes);
    }

    /// Runs what no client has said, as which SQLite is to take it.
    pub(crate) fn as_own<R>(&self, run: impl FnOnce() -> R) -> R {
        // Relaxed: the authorizer runs in this thread.
        self.is_own.store(true, Ordering::Relaxed);
        let result = run();
        self.is_own.store(false, Ordering::Relaxed);
        result
    }

    pub(crate) fn is_own(&self) -> bool {
        self.is_own.load(Ordering::Relaxed)
    }

    /// What of so many bytes this session may not have: who may control can see what the others do.
    pub(crate) fn kept_for_control(&self, bytes: usize) -> usize {
        if self.account.right == Right::Control { 0 } else { bytes / 8 }
    }

    /// So many bytes more of what all sessions have.
    pub(crate) fn take(&self, part: &mut Part, bytes: usize) -> Result<(), Error> {
        let most = self.limits.all_bytes - self.kept_for_control(self.limits.all_bytes);
        if part.grow(&self.budget, bytes, most) { Ok(()) } else { Err(Error::all_out_of_memory()) }
    }

    /// A UUID of version 1: the moment in units of 100 ns since 1582, counted on so that no two are the same, and what stands for
    /// this process.
    pub(crate) fn uuid(&self) -> String {
        static LAST: AtomicU64 = AtomicU64::new(0);
        static NODE: LazyLock<u64> = LazyLock::new(|| BuildHasher::hash_one(&RandomState::new(), 0_u8));
        let now = moment::Moment::now().since_1582();
        let next = |last: u64| now.max(last + 1);
        // Relaxed: each gets a number of its own, nothing else is published by it.
        let time = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last))).map_or(now, next);
        // The bit that says that this is no network card's address.
        let (clock, node) = (*NODE >> 50 & 0x3fff | 0x8000, *NODE & 0xffff_ffff_ffff | 0x0100_0000_0000);
        format!("{:08x}-{:04x}-1{:03x}-{clock:04x}-{node:012x}", time & 0xffff_ffff, time >> 32 & 0xffff, time >> 48 & 0xfff)
    }

    /// A number that is unlike all others of this program: seconds of its start, and how many there were before.
    pub(crate) fn uuid_short(&self) -> u64 {
        static NEXT: LazyLock<AtomicU64> =
            LazyLock::new(|| AtomicU64::new((moment::Moment::now().unix_seconds() as u64 & 0xffff_ffff) << 24));
        // Relaxed: each gets a number of its own, nothing else is published by it.
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    /// The pattern, compiled once a statement.
    pub(crate) fn regex(&self, pattern: &str, matching: Matching) -> Result<Arc<Regex>, Error> {
        let key = (pattern.to_owned(), matching);
        if let Some(regex) = lock(&self.statement).regexes.get(&key) {
            return Ok(Arc::clone(regex));
        }
        let wrong = |error: &dyn fmt::Display| Error::new(1139, "42000", format!("Got error '{error}' from regexp"));
        if pattern.len() > 4096 {
            return Err(wrong(&"pattern too long"));
        }
        let regex = regex_lite::RegexBuilder::new(pattern)
            .case_insensitive(matching.ignore_case)
            .multi_line(matching.multi_line)
            .dot_matches_new_line(matching.dot_matches_new_line)
            .size_limit(1 << 16)
            .nest_limit(50)
            .build();
        let regex = Arc::new(regex.map_err(|error| wrong(&error))?);
        let mut statement = lock(&self.statement);
        // A pattern of its own for every row is not worth keeping.
        if statement.regexes.len() < 16 {
            statement.regexes.insert(key, Arc::clone(&regex));
        }
        Ok(regex)
    }

    /// A number for a call of RAND that has a seed.
    pub(crate) fn number_of_seeded(&self) -> i64 {
        let mut statement = lock(&self.statement);
        statement.seeded += 1;
        statement.seeded
    }

    /// The statement is run again from its beginning.
    pub(crate) fn seed_again(&self) {
        lock(&self.statement).generators.clear();
    }

    /// What the call of RAND that has this number gives next.
    pub(crate) fn random(&self, call: ValueRef<'_>, seed: ValueRef<'_>) -> f64 {
        let call = call.as_i64().unwrap_or(0);
        lock(&self.statement).generators.entry(call).or_insert_with(|| Generator::of(seed)).next()
    }

    /// A name that is one of SQLite's for the number of a row, too, and may be a column's.
    pub(crate) fn note_row_number(&self, written: String) {
        lock(&self.statement).row_number.get_or_insert(written);
    }

    /// The statement reads the numbers of rows by what the dialect or SQLite makes of it.
    pub(crate) fn mean_row_numbers(&self) {
        lock(&self.statement).means_row_numbers = true;
    }

    /// Whether what SQLite takes for the number of a row in this table may be read. An error is kept if not.
    pub(crate) fn allows_row_number(&self, table: &str) -> bool {
        // SQLite says the same of a column that is called so.
        let has_column = |scratch: &ScratchTable| scratch.name == table && scratch.columns.iter().any(|c| c.name == ROW_NUMBER);
        let is_column = lock(&self.settings).scratch.iter().any(has_column);
        let mut statement = lock(&self.statement);
        match &statement.row_number {
            Some(name) if !statement.means_row_numbers && !is_column => {
                let error = Error::unknown_column(name, "field list");
                statement.failure.get_or_insert(error);
                false
            }
            _ => true,
        }
    }

    /// Keeps what really went wrong while SQLite is told that something did.
    pub(crate) fn fail(&self, error: Error) -> rusqlite::Error {
        let text = error.message.clone();
        lock(&self.statement).failure.get_or_insert(error);
        rusqlite::Error::UserFunctionError(text.into())
    }

    pub(crate) fn must_stop(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
            || lock(&self.statement).deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// An error once the statement was cancelled or has had its time.
    pub(crate) fn check_time(&self) -> Result<(), Error> {
        if self.must_stop() { Err(self.stopped()) } else { Ok(()) }
    }

    pub(crate) fn stopped(&self) -> Error {
        if self.cancelled.load(Ordering::Relaxed) { Error::cancelled() } else { Error::too_slow() }
    }

    /// What an error of SQLite's is in truth.
    pub(crate) fn explain(&self, error: rusqlite::Error) -> Error {
        if let Some(failure) = lock(&self.statement).failure.take() {
            return failure;
        }
        if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) { self.stopped() } else { error.into() }
    }

    /// Where a column of this declared type comes from.
    pub(crate) fn origin(&self, decl_type: Option<&str>) -> Option<Origin> {
        let (number, _) = vtab::declared(decl_type?)?;
        let column = self.declared(decl_type)?.name;
        if let Some(relation) = self.catalog.relations.get(number) {
            let is_of_key = relation.primary_key.contains(&column.as_str());
            return Some(Origin { schema: relation.schema, table: relation.name.clone(), column, is_of_key });
        }
        let settings = lock(&self.settings);
        let table = settings.scratch.iter().find(|table| table.number == number)?.name.clone();
        Some(Origin { schema: catalog::TEST, table, column, is_of_key: false })
    }

    /// The column that a declared type belongs to.
    pub(crate) fn declared(&self, decl_type: Option<&str>) -> Option<Column> {
        let (relation, column) = vtab::declared(decl_type?)?;
        if relation < SCRATCH {
            return self.catalog.relations.get(relation)?.all_columns().get(column).cloned();
        }
        let settings = lock(&self.settings);
        settings.scratch.iter().find(|table| table.number == relation)?.columns.get(column).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Database;
    use perfschema::core::timer::MockClock;
    use perfschema::core::{Actor, ActorIdentity, Config, Identity, Size, Word};

    /// A statement that is cancelled, or has no time left, copies no more of a table: less than it would take to find that it is too large.
    #[test]
    fn a_copy_ends_with_its_statement() {
        let config = Config::SMALL.with(Size::MaxThreadInstances, 2 * ROWS_AT_ONCE as u32);
        let words: &[Word] = (0..config.words()).map(|_| Word::new(0)).collect::<Vec<Word>>().leak();
        let timers = MockClock::new().timers();
        let region = Region::create(words, &config, &Identity::default(), &timers).expect("it fits");
        let region: &Region<'_> = Box::leak(Box::new(region));
        let _actors: Vec<Actor<'_>> = (0..2 * ROWS_AT_ONCE).map(|_| Actor::attach(region, &ActorIdentity::default())).collect();
        let copy = |memory_bytes, stop: fn(&State)| {
            let limits = Limits { memory_bytes, ..Limits::default() };
            let session = Database::new(region).limits(limits).session(Account::default()).expect("there is memory");
            let (number, _) = session.state.relation("performance_schema", "threads", "SELECT")?;
            stop(&session.state);
            session.state.rows(number).map(|rows| rows.bytes())
        };
        let bytes = copy(usize::MAX, |_| ()).expect("there is memory");
        let too_little = bytes - bytes / 4;
        assert_eq!(copy(too_little, |_| ()), Err(Error::out_of_memory()));
        assert_eq!(copy(too_little, |state| state.cancelled.store(true, Ordering::Relaxed)), Err(Error::cancelled()));
        assert_eq!(copy(too_little, |state| state.bound_time(Duration::ZERO)), Err(Error::too_slow()));
    }
}
