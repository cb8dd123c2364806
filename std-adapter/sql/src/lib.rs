//! # perfschema-sql
//!
//! **What.** SQL over the tables of a program, in MySQL's dialect: the program's own, another's, or those that a dead one left.
//!
//! ```
//! use perfschema_sql::{Account, Database, Outcome};
//!
//! static LOCK: perfschema::sync::Mutex<u64> = perfschema::mutex!("wait/synch/mutex/sql/LOCK", 0);
//!
//! let process = perfschema::builder().everything(true).start()?;
//! let mut session = Database::new(process).session(Account::default())?;
//! *LOCK.lock().unwrap() += 1;
//!
//! let select = "SELECT event_name, COUNT(*) FROM performance_schema.events_waits_history_long GROUP BY event_name";
//! let Outcome::Rows(grid) = session.execute(select)? else { panic!("a SELECT has rows") };
//! assert_eq!(grid.csv().to_string(), "event_name,COUNT(*)\nwait/synch/mutex/sql/LOCK,1\n");
//!
//! session.execute("UPDATE performance_schema.setup_instruments SET enabled = 'NO' WHERE name LIKE '%/sql/%'")?;
//! session.execute("TRUNCATE TABLE performance_schema.events_waits_history_long")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **How it fits.** A [`Database`] is made of a [`Program`] and gives each client a [`Session`], with a current schema, variables and
//! warnings of its own. Results are [`Grid`](perfschema::render::Grid)s, refusals are [`Error`]s with MySQL's number, SQLSTATE and text.
//! The command `perfschema sql` prints them, perfschema-server sends them.
//!
//! **How it works.** A statement is parsed, rewritten as a tree, and run by SQLite over virtual tables. Every table that the core declares
//! is there, with the columns that it declares. A statement copies the rows of a table once, each of them whole, and every part of the
//! statement sees the same ones. UPDATE, INSERT, DELETE and TRUNCATE are the tables' own; SQLite only finds the rows.
//!
//! **Schemas.** `performance_schema`, where `session_variables` and `session_status` are of the session that asks,
//! `global_variables` and `global_status` have beside the region's rows what sessions and a server say of themselves, and what MySQL has
//! and a program has nothing of is empty; `information_schema` with MySQL's tables about schemas, tables,
//! columns, views, privileges and what there is none of here, and GLOBAL_VARIABLES, GLOBAL_STATUS, SESSION_VARIABLES and SESSION_STATUS; `sys` with views
//! for people, among them `sys.current_transactions`, `sys.current_statements`, `sys.current_stages`, `sys.current_waits` and
//! `sys.lock_waits`: who does what, and who waits for whom at this moment; `mysql`, in which nobody may see anything; and `test`, where CREATE TABLE … AS SELECT keeps what a session
//! wants to compare or restore, in memory, until the session ends.
//!
//! # Where it differs from MySQL
//!
//! - DECIMAL is as in MySQL's chapter on precision math: what has a point and no exponent, `/`, SUM and AVG of exact numbers, with up to 65 digits.
//!   `a - b` of unsigned numbers may be negative, and a whole number beyond 2⁶⁴ is a DECIMAL. `div_precision_increment` is always 4. Where
//!   whole numbers stand beside it in IF, COALESCE and the like, the type may have more digits before the point than MySQL says. What a
//!   recursion adds has more digits with each step, as it is computed. Within a document of JSON every number with a
//!   point is a double. INSERT into a table of `test` keeps the digits before the point that it is given.
//! - Times of day are UTC, or what clocks show in the session's `time_zone`. Strings compare without case, but not without accents.
//! - GROUP BY does not insist on ONLY_FULL_GROUP_BY. UPDATE IGNORE keeps no error away.
//! - SAVEPOINT, LOCK TABLES of what can be changed and the like are accepted, and nothing comes of them.
//! - There are no transactions: changes of the setup take effect at once, as in MySQL. Within schema `test`, too.
//! - A recursion whose columns are `*` is bounded by time and memory, not by `cte_max_recursion_depth`.
//! - WITH ROLLUP knows neither `*` nor window functions. No LATERAL, no EXCEPT ALL and INTERSECT ALL.
//! - What is a document of JSON is known by the function that made it, and by the column of `test` that was made of it, where INSERT does not
//!   look whether a text is one. No JSON_TABLE, no functions that change documents.
//! - A text has characters, and no bytes that are none: HEX(UNHEX('FF')) is that of `\u{fffd}`. REGEXP has no `\p{L}`, no look-around and no
//!   references to groups; letters beyond ASCII are none for `\w`, and have their case.
//! - A fraction is shown with the digits that it has: PI() with all of them, and ROUND(x, 2) of a DOUBLE without zeros behind. FORMAT knows the
//!   locales of the most common languages.
//! - WHERE of a query within an expression knows what the columns of its result are called. A query within an assignment of UPDATE sees the
//!   row as it was.
//! - A text that is no number is 0 without a warning. Of texts that differ in case only, UNION keeps the last. HAVING takes any column where
//!   a query is within an expression.
//! - A user variable that a SELECT assigns is assigned before rows are sorted, and is deprecated without a warning.
//! - No full text, stored programs, LOAD, SELECT INTO.
//!
//! # Bounds
//!
//! [`Limits`] bound time and memory, [`Canceller`] stops a statement from another thread. A statement may be 1 MiB long, of 65536 tokens and
//! spaces, and 60 levels deep, with 32766 different literals; a text within it 1 MiB, a document 100 levels deep; WITH ROLLUP has 99 keys at
//! most; user variables may take 8 MiB, and as much the statements that PREPARE keeps, of which there may be 1024. No statement reaches a file, an extension or
//! a pragma of SQLite's: what the dialect does not know it refuses, and SQLite's authorizer refuses the rest.

mod aggregates;
mod assigned;
mod assignments;
mod budget;
mod calls;
mod catalog;
mod change;
mod collation;
mod columns;
mod compare;
mod copies;
mod database;
mod decimal;
mod defaults;
mod definition;
mod dialect;
mod documents;
mod empty;
mod encodings;
mod error;
mod expand;
mod explain;
mod found;
mod functions;
mod information;
mod json;
mod kinds;
mod limits;
mod literals;
mod moment;
mod monitor;
mod nulls;
mod numbers;
mod operators;
mod order;
mod parse;
mod prepared;
mod procedures;
mod recursion;
mod reserved;
mod rollup;
mod routines;
mod scope;
mod session;
mod set;
mod show;
mod snapshot;
mod spelling;
mod star;
mod state;
mod status;
mod subquery;
mod sys;
mod temporal;
mod texts;
mod times;
mod transaction;
mod using;
mod value;
mod variables;
mod views;
mod vtab;
mod warnings;
mod zone;

pub use database::{Account, Clients, Database, Limits, Right};
pub use error::Error;
pub use parse::{Piece, fits, split};
pub use session::{Canceller, Description, Encryption, Origin, Outcome, STATEMENT_STACK, Session, Warning};
pub use status::Counter;

/// Whose tables they are.
///
/// Implemented for the process's own region and for one that was attached to; anything that keeps a region alive can be one.
///
/// ```
/// # use perfschema_sql::{Account, Database, Program};
/// struct Ended(&'static perfschema::Process);
///
/// impl Program for Ended {
///     fn region(&self) -> &perfschema::Region<'_> { self.0.region() }
///     fn has_ended(&self) -> bool { true }
/// }
///
/// let mut session = Database::new(Ended(perfschema::start()?)).session(Account::default())?;
/// session.execute("SELECT * FROM performance_schema.threads")?;
/// assert_eq!(session.execute("TRUNCATE performance_schema.events_waits_history").unwrap_err().errno, 1290);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Program: Send + Sync + 'static {
    /// The region with the tables.
    fn region(&self) -> &perfschema::Region<'_>;

    /// Whether the program has ended: its tables can only be read from then on. Asked once by each statement that needs to know.
    fn has_ended(&self) -> bool {
        false
    }

    /// Whether its tables can only be read although it has not.
    fn is_read_only(&self) -> bool {
        false
    }
}

impl Program for perfschema::Process {
    fn region(&self) -> &perfschema::Region<'_> {
        perfschema::Process::region(self)
    }
}

impl Program for perfschema::Region<'static> {
    fn region(&self) -> &perfschema::Region<'_> {
        self
    }
}

impl<P: Program + ?Sized> Program for &'static P {
    fn region(&self) -> &perfschema::Region<'_> {
        P::region(self)
    }

    fn has_ended(&self) -> bool {
        P::has_ended(self)
    }

    fn is_read_only(&self) -> bool {
        P::is_read_only(self)
    }
}

impl<P: Program + ?Sized> Program for std::sync::Arc<P> {
    fn region(&self) -> &perfschema::Region<'_> {
        P::region(self)
    }

    fn has_ended(&self) -> bool {
        P::has_ended(self)
    }

    fn is_read_only(&self) -> bool {
        P::is_read_only(self)
    }
}

#[cfg(target_os = "linux")]
impl Program for perfschema::Attached {
    fn region(&self) -> &perfschema::Region<'_> {
        perfschema::Attached::region(self)
    }

    fn has_ended(&self) -> bool {
        !self.is_in_use()
    }

    fn is_read_only(&self) -> bool {
        perfschema::Attached::is_read_only(self)
    }
}
