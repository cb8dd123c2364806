//! Transactions: what belongs together of what a thread does, and is done as a whole or not at all.
//!
//! ```
//! use perfschema::{tables, transaction};
//!
//! fn transfer(accounts: &mut [i64; 2], amount: i64) -> bool {
//!     let mut transaction = transaction::options().isolation_level("SERIALIZABLE").begin();
//!     transaction.set_id(7);
//!     if accounts[0] < amount {
//!         return false; // Rolled back, because it was not committed.
//!     }
//!     accounts[0] -= amount;
//!     accounts[1] += amount;
//!     transaction.commit();
//!     true
//! }
//!
//! # #[cfg(feature = "instrument")] {
//! let process = perfschema::start()?;
//! assert!(transfer(&mut [10, 0], 4) && !transfer(&mut [1, 0], 4));
//! let mut states = Vec::new();
//! process.region().scan(&tables::EventsTransactionsHistory, |row| states.extend(row.state));
//! # use perfschema::core::TransactionState::{Committed, RolledBack};
//! assert_eq!(states, [Committed, RolledBack]);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [Statements](mod@crate::statement) that begin while it lasts lie within it; so do [stages](mod@crate::stage) and waits outside of all
//! statements. There is one instrument for all of them, `transaction`, as in MySQL.
//!
//! **Over an await.** As of statements: a thread's transaction cannot go to another thread; what a task does begins with
//! [`begin_async`], and goes with it from thread to thread. In an [attached](crate::task) task it is shown while it lasts, in any other it is
//! recorded when it ends. It may be given away, to `spawn_blocking` say, and end there. One that outlives the attached task that began it has
//! no row from then on, also in no history; it counts in the sums when it ends.
//!
//! **What it costs.** As much as a statement without text and digest. Without the feature `instrument`, nothing.

pub use crate::statement::{OfTask, OfThread};
#[cfg(feature = "instrument")]
use crate::{
    hook::At,
    instrument::Instrument,
    recorded::{OfActor, Recorded, When},
    thread::with_actor,
};
#[cfg(feature = "instrument")]
use perfschema_core::{AccessMode, Actor, ActorId, Switches, Text, TransactionDetails, TransactionStart, TransactionState};
#[cfg(feature = "instrument")]
use perfschema_timer::SystemClock;
use std::marker::PhantomData;
#[cfg(feature = "instrument")]
use std::panic::Location;

#[cfg(feature = "instrument")]
static TRANSACTION: Instrument = Instrument::new("transaction");

/// What a transaction is to be, other than READ WRITE, over several statements, and of no isolation level that the program says; made by
/// [`options`].
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing begins before begin()"]
pub struct Options<'a> {
    #[cfg(feature = "instrument")]
    start: TransactionStart<'a>,
    text: PhantomData<&'a str>,
}

/// A transaction that runs. It is rolled back where this is dropped, unless it was [committed](Self::commit). It belongs to whom it was
/// begun for: [`OfThread`], or [`OfTask`].
#[must_use = "the transaction is rolled back at once; `let transaction = …` keeps it"]
#[derive(Debug)]
pub struct Transaction<Of = OfThread> {
    #[cfg(feature = "instrument")]
    recorded: Recorded<Own, Whole>,
    of: PhantomData<Of>,
}

/// A transaction of the calling thread begins: READ WRITE, over several statements. [`options`] has others.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
pub fn begin() -> Transaction {
    options().begin()
}

/// A transaction of the task that is polled begins, which may go on on another thread.
///
/// ```
/// use perfschema::{task, transaction};
///
/// async fn write(_part: &str) {}
/// let request = async {
///     let transaction = transaction::begin_async();
///     write("bolts").await;
///     transaction.commit();
/// };
/// # fn spawn(_: impl Future + Send + 'static) {}
/// spawn(task::attach("task/app/request", request)); // A runtime's, such as tokio::spawn
/// ```
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
pub fn begin_async() -> Transaction<OfTask> {
    options().begin_async()
}

/// What a transaction is to be.
///
/// ```
/// use perfschema::transaction;
/// let report = transaction::options().read_only().isolation_level("REPEATABLE READ").begin();
/// report.commit();
/// ```
pub const fn options<'a>() -> Options<'a> {
    Options {
        #[cfg(feature = "instrument")]
        start: TransactionStart { access_mode: AccessMode::ReadWrite, isolation_level: "", autocommit: false, source: None },
        text: PhantomData,
    }
}

#[cfg(feature = "instrument")]
impl<'a> Options<'a> {
    /// ACCESS_MODE is READ ONLY.
    pub const fn read_only(mut self) -> Options<'a> {
        self.start.access_mode = AccessMode::ReadOnly;
        self
    }

    /// AUTOCOMMIT: it is one statement's, which begins and ends it.
    pub const fn autocommit(mut self) -> Options<'a> {
        self.start.autocommit = true;
        self
    }

    /// ISOLATION_LEVEL, as the program calls it; 64 bytes are kept.
    pub const fn isolation_level(mut self, level: &'a str) -> Options<'a> {
        self.start.isolation_level = level;
        self
    }

    /// A transaction of the calling thread begins.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn begin(self) -> Transaction {
        let Some(switches) = TRANSACTION.on() else { return Transaction::of(Recorded::Nowhere) };
        let TransactionStart { access_mode, isolation_level, autocommit, .. } = self.start;
        begin_of_thread(switches, access_mode, isolation_level, autocommit, Location::caller())
    }

    /// A transaction of the task that is polled begins, as [`begin_async`] says.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn begin_async(self) -> Transaction<OfTask> {
        let Some(switches) = TRANSACTION.on() else { return Transaction::of(Recorded::Nowhere) };
        let TransactionStart { access_mode, isolation_level, autocommit, .. } = self.start;
        begin_of_task(switches, access_mode, isolation_level, autocommit, Location::caller())
    }
}

// Both by value: what is in memory for a call would be written there before it is known whether there is one.
#[cfg(feature = "instrument")]
#[inline(never)]
fn begin_of_thread(
    switches: Switches,
    access_mode: AccessMode,
    isolation_level: &str,
    autocommit: bool,
    source: &'static Location<'static>,
) -> Transaction {
    let start = TransactionStart { access_mode, isolation_level, autocommit, source: Some(source) };
    Transaction::of(Recorded::by_thread(|actor| Own::of(actor.begin_transaction(&SystemClock, switches, &start))))
}

#[cfg(feature = "instrument")]
#[inline(never)]
fn begin_of_task(
    switches: Switches,
    access_mode: AccessMode,
    isolation_level: &str,
    autocommit: bool,
    source: &'static Location<'static>,
) -> Transaction<OfTask> {
    let start = TransactionStart { access_mode, isolation_level, autocommit, source: Some(source) };
    let whole = || Whole {
        switches,
        start: switches.read(&SystemClock),
        isolation_level: isolation_level.into(),
        what: TransactionStart { isolation_level: "", ..start },
        details: TransactionDetails::default(),
        gtid: Text::EMPTY,
    };
    Transaction::of(Recorded::by_task(|actor| Own::of(actor.begin_transaction(&SystemClock, switches, &start)), whole))
}

/// One that is with the actor that began it.
#[cfg(feature = "instrument")]
#[derive(Debug)]
struct Own {
    transaction: perfschema_core::Transaction<'static>,
    /// What was said while another actor was at hand, which may not write there.
    gtid: Option<Box<Text<64>>>,
}

#[cfg(feature = "instrument")]
impl Own {
    fn of(transaction: perfschema_core::Transaction<'static>) -> Own {
        Own { transaction, gtid: None }
    }

    fn end(mut self, actor: &Actor<'static>, clock: &When, state: TransactionState) -> Option<Box<Text<64>>> {
        if let Some(gtid) = &self.gtid {
            actor.set_transaction_gtid(&mut self.transaction, gtid.as_str());
        }
        actor.end_transaction(clock, self.transaction, state);
        self.gtid
    }
}

#[cfg(feature = "instrument")]
impl OfActor for Own {
    type Rest = Option<Box<Text<64>>>;

    fn actor_id(&self) -> Option<ActorId> {
        self.transaction.actor_id()
    }
}

/// All that there is to record of a transaction.
#[cfg(feature = "instrument")]
#[derive(Debug)]
struct Whole {
    switches: Switches,
    /// Ticks of their timer.
    start: u64,
    isolation_level: Text<64>,
    /// All but that.
    what: TransactionStart<'static>,
    details: TransactionDetails,
    gtid: Text<64>,
}

#[cfg(feature = "instrument")]
impl Whole {
    fn record(&self, actor: &Actor<'static>, state: TransactionState) {
        let what = TransactionStart { isolation_level: self.isolation_level.as_str(), ..self.what };
        let mut transaction = actor.begin_transaction(&At(self.start), self.switches, &what);
        actor.change_transaction(&mut transaction, |details| *details = self.details);
        actor.set_transaction_gtid(&mut transaction, self.gtid.as_str());
        actor.end_transaction(&SystemClock, transaction, state);
    }
}

#[cfg(feature = "instrument")]
impl<Of> Transaction<Of> {
    const fn of(recorded: Recorded<Own, Whole>) -> Transaction<Of> {
        Transaction { recorded, of: PhantomData }
    }

    fn change(&mut self, change: impl FnOnce(&mut TransactionDetails)) {
        match &mut self.recorded {
            Recorded::At(Own { transaction, .. }) if transaction.is_recorded() => {
                with_actor(|actor| actor.change_transaction(transaction, change));
            }
            Recorded::AtItsEnd(whole) => change(&mut whole.details),
            Recorded::At(_) | Recorded::Nowhere => {}
        }
    }

    /// TRX_ID: its number, where the program gives it one. 0 is none.
    pub fn set_id(&mut self, id: u64) {
        self.change(|details| details.trx_id = id);
    }

    /// GTID: what those call it who repeat it elsewhere, visible when it has ended; 64 bytes are kept.
    pub fn set_gtid(&mut self, gtid: &str) {
        match &mut self.recorded {
            Recorded::At(Own { transaction, gtid: later }) if transaction.is_recorded() => {
                let is_kept = with_actor(|actor| actor.set_transaction_gtid(transaction, gtid)).unwrap_or(false);
                *later = (!is_kept).then(|| Box::new(gtid.into()));
            }
            Recorded::AtItsEnd(whole) => whole.gtid = gtid.into(),
            Recorded::At(_) | Recorded::Nowhere => {}
        }
    }

    /// A savepoint is set: NUMBER_OF_SAVEPOINTS.
    ///
    /// ```
    /// use perfschema::{tables, transaction};
    /// let process = perfschema::start()?;
    /// let mut import = transaction::begin();
    /// for row in ["bolts,7", "nuts,?"] {
    ///     import.savepoint();
    ///     if row.ends_with('?') {
    ///         import.rollback_to_savepoint(); // Of this row alone.
    ///     } else {
    ///         import.release_savepoint();
    ///     }
    /// }
    /// import.commit();
    /// process.region().scan(&tables::EventsTransactionsHistory, |row| {
    ///     assert_eq!((row.number_of_savepoints, row.number_of_rollback_to_savepoint), (Some(2), Some(1)));
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn savepoint(&mut self) {
        self.change(|details| details.savepoints = details.savepoints.saturating_add(1));
    }

    /// It goes back to a savepoint: NUMBER_OF_ROLLBACK_TO_SAVEPOINT.
    pub fn rollback_to_savepoint(&mut self) {
        self.change(|details| details.rollbacks_to_savepoint = details.rollbacks_to_savepoint.saturating_add(1));
    }

    /// A savepoint is given up: NUMBER_OF_RELEASE_SAVEPOINT.
    pub fn release_savepoint(&mut self) {
        self.change(|details| details.released_savepoints = details.released_savepoints.saturating_add(1));
    }

    /// It ends: STATE is COMMITTED.
    pub fn commit(mut self) {
        if self.recorded.is_anywhere() {
            end(&mut self.recorded, TransactionState::Committed);
        }
    }

    /// It ends: STATE is ROLLED BACK, as where it is dropped.
    pub fn rollback(self) {}
}

#[cfg(feature = "instrument")]
impl<Of> Drop for Transaction<Of> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if self.recorded.is_anywhere() {
            end(&mut self.recorded, TransactionState::RolledBack);
        }
    }
}

#[cfg(feature = "instrument")]
#[inline(never)]
fn end(recorded: &mut Recorded<Own, Whole>, state: TransactionState) {
    recorded.end(move |actor, own: Own, clock| own.end(actor, clock, state), |actor, whole| whole.record(actor, state));
}

#[cfg(not(feature = "instrument"))]
impl<'a> Options<'a> {
    /// ACCESS_MODE is READ ONLY.
    pub const fn read_only(self) -> Options<'a> {
        self
    }

    /// AUTOCOMMIT: it is one statement's, which begins and ends it.
    pub const fn autocommit(self) -> Options<'a> {
        self
    }

    /// ISOLATION_LEVEL, as the program calls it.
    pub const fn isolation_level(self, _level: &'a str) -> Options<'a> {
        self
    }

    /// A transaction of the calling thread begins.
    #[inline]
    pub fn begin(self) -> Transaction {
        Transaction { of: PhantomData }
    }

    /// A transaction of the task that is polled begins.
    #[inline]
    pub fn begin_async(self) -> Transaction<OfTask> {
        Transaction { of: PhantomData }
    }
}

#[cfg(not(feature = "instrument"))]
impl<Of> Transaction<Of> {
    /// TRX_ID: its number, where the program gives it one. 0 is none.
    #[inline]
    pub fn set_id(&mut self, _id: u64) {}

    /// GTID: what those call it who repeat it elsewhere.
    #[inline]
    pub fn set_gtid(&mut self, _gtid: &str) {}

    /// A savepoint is set: NUMBER_OF_SAVEPOINTS.
    #[inline]
    pub fn savepoint(&mut self) {}

    /// It goes back to a savepoint: NUMBER_OF_ROLLBACK_TO_SAVEPOINT.
    #[inline]
    pub fn rollback_to_savepoint(&mut self) {}

    /// A savepoint is given up: NUMBER_OF_RELEASE_SAVEPOINT.
    #[inline]
    pub fn release_savepoint(&mut self) {}

    /// It ends: STATE is COMMITTED.
    #[inline]
    pub fn commit(self) {}

    /// It ends: STATE is ROLLED BACK, as where it is dropped.
    #[inline]
    pub fn rollback(self) {}
}
