//! Transactions: what belongs together of what a thread does, and is done as a whole or not at all (WL#4813 names them; the columns are
//! shipped MySQL's).
//!
//! A transaction goes on over several statements, and may begin in one and end in another:
//! ```text
//!        ├───────────────── transaction ─────────────┤
//!   ├─ BEGIN ─┤   ├── statement ──┤        ├── COMMIT ──┤
//!       wait        stage   wait     wait      wait
//! ```
//! A statement lies within the younger of the innermost statement and the innermost transaction, and so does a transaction. Where no statement
//! runs, stages lie within the transaction, and so do waits that lie within no stage.
//!
//! There is one instrument of that name. A transaction is recorded by the same code as a wait, into records and sums of its own
//! (`event::TRANSACTIONS`); those that only read are summed beside the others, as if they had an instrument behind it.

use crate::class::Class;
use crate::event::Place;
use crate::nest::NestedEvent;
use crate::record::{self, EventType};
use crate::region::{Region, Section, TRANSACTION, Text, read_text, write_text};
use crate::setup::Switches;
use crate::sync::Word;
use crate::{Actor, ActorId, Summary};
use core::panic::Location;
use perfschema_timer::Clock;

/// What a transaction may do: column ACCESS_MODE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccessMode {
    /// READ ONLY
    ReadOnly,
    /// READ WRITE
    #[default]
    ReadWrite,
}

/// How a transaction is, or how it ended: column STATE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransactionState {
    /// ACTIVE: it runs.
    #[default]
    Active,
    /// COMMITTED: what it did is done.
    Committed,
    /// ROLLED BACK: nothing of it is.
    RolledBack,
}

/// What is known of a transaction when it begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransactionStart<'a> {
    /// ACCESS_MODE.
    pub access_mode: AccessMode,
    /// ISOLATION_LEVEL, as the program calls it, for example `REPEATABLE READ`; 64 bytes are kept, empty is NULL.
    pub isolation_level: &'a str,
    /// AUTOCOMMIT: it is one statement's, which begins and ends it.
    pub autocommit: bool,
    /// SOURCE.
    pub source: Option<&'static Location<'static>>,
}

/// What can be said of a transaction while it lasts. What does not apply to a program stays 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionDetails {
    /// TRX_ID: its number, for those who gave it one; 0 is NULL.
    pub trx_id: u64,
    /// NUMBER_OF_SAVEPOINTS: how many were set.
    pub savepoints: u64,
    /// NUMBER_OF_ROLLBACK_TO_SAVEPOINT: how often it went back to one.
    pub rollbacks_to_savepoint: u64,
    /// NUMBER_OF_RELEASE_SAVEPOINT: how many were given up.
    pub released_savepoints: u64,
}

impl TransactionDetails {
    const COUNT: usize = 4;

    fn values(&self) -> [u64; Self::COUNT] {
        [self.trx_id, self.savepoints, self.rollbacks_to_savepoint, self.released_savepoints]
    }

    fn from_values([trx_id, savepoints, rollbacks_to_savepoint, released_savepoints]: [u64; Self::COUNT]) -> TransactionDetails {
        TransactionDetails { trx_id, savepoints, rollbacks_to_savepoint, released_savepoints }
    }
}

/// Sums of transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionSummary {
    /// Those that may write.
    pub read_write: Summary,
    /// Those that only read.
    pub read_only: Summary,
}

impl TransactionSummary {
    /// All of them.
    pub fn all(&self) -> Summary {
        let mut all = self.read_write;
        all.add(&self.read_only);
        all
    }
}

/// A transaction between its begin and its end, both of which are one actor's. Switches are those of its start.
#[must_use = "a transaction that is not ended stays visible as running"]
#[derive(Debug)]
pub struct Transaction<'r> {
    event: NestedEvent<'r>,
    entry: Entry<'r>,
    access_mode: AccessMode,
    details: TransactionDetails,
    /// Its entry has others, because another actor was to change them.
    is_stale: bool,
}

impl Transaction<'_> {
    /// Whether anything is recorded for it.
    pub fn is_recorded(&self) -> bool {
        self.event.is_recorded()
    }

    /// The actor that began it; None of one without a slot, and if nothing is recorded.
    pub fn actor_id(&self) -> Option<ActorId> {
        self.event.actor_id()
    }

    /// What was said of it.
    pub fn details(&self) -> &TransactionDetails {
        &self.details
    }
}

/// Words of an entry.
pub(crate) mod word {
    /// Whether it only reads, whether it is one statement's, and bytes of the isolation level.
    pub(crate) const START: usize = 0;
    /// State, and bytes of the GTID. Readers look there, and at the GTID, when it has ended.
    pub(crate) const END: usize = 1;
    pub(crate) const DETAILS: core::ops::Range<usize> = 2..6;
    pub(super) const ISOLATION_LEVEL: core::ops::Range<usize> = 8..16;
    pub(super) const GTID: core::ops::Range<usize> = 16..24;
}

const READ_ONLY: u64 = 1;
const AUTOCOMMIT: u64 = 2;
const STATE: u64 = 3;
/// Above it is how many bytes a text has.
const LENGTH_SHIFT: u32 = 8;

/// What a record of a transaction has besides; nothing of it is there in a damaged region.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry<'r>(Option<&'r [Word; TRANSACTION]>);

/// What a row shows of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryText {
    pub(crate) state: TransactionState,
    pub(crate) access_mode: AccessMode,
    pub(crate) autocommit: bool,
    pub(crate) isolation_level: Text<64>,
    pub(crate) gtid: Text<64>,
    pub(crate) details: TransactionDetails,
}

impl<'r> Entry<'r> {
    /// That of the record at this place.
    pub(crate) fn of(region: &Region<'r>, place: Place) -> Entry<'r> {
        let (section, index) = match place {
            Place::Ring(index) => (Section::TransactionDetails, index),
            Place::Long(index) => (Section::TransactionLongDetails, index),
        };
        Entry(region.arrays::<TRANSACTION>(section).get(index))
    }

    /// Owner, between [`record::begin_start`] and [`record::finish_start`].
    fn begin(self, start: &TransactionStart<'_>) {
        let Entry(Some(words)) = self else { return };
        words[word::DETAILS].iter().chain(&words[word::GTID]).for_each(|word| word.set(0));
        words[word::END].set(0);
        let length = write_text(&words[word::ISOLATION_LEVEL], start.isolation_level) as u64;
        let read_only = if start.access_mode == AccessMode::ReadOnly { READ_ONLY } else { 0 };
        let autocommit = if start.autocommit { AUTOCOMMIT } else { 0 };
        words[word::START].set(read_only | autocommit | length << LENGTH_SHIFT);
    }

    /// Owner, while it runs: what was said as of now. Readers see some of it or all.
    fn replace(self, details: &TransactionDetails) {
        let Entry(Some(words)) = self else { return };
        for (word, value) in words[word::DETAILS].iter().zip(details.values()) {
            if word.get() != value {
                record::replace(word, value);
            }
        }
    }

    /// Owner, while it runs: what it is called by others. Readers look there when it has ended.
    fn set_gtid(self, gtid: &str) {
        let Entry(Some(words)) = self else { return };
        let length = write_text(&words[word::GTID], gtid) as u64;
        words[word::END].set(length << LENGTH_SHIFT);
    }

    /// Owner, between [`record::begin_change`] and [`record::finish_end`]: how it ended. `details` where they were not said here.
    fn end(self, state: TransactionState, details: Option<&TransactionDetails>) {
        let Entry(Some(words)) = self else { return };
        words[word::END].set((words[word::END].get() & !STATE) | state as u64);
        if let Some(details) = details {
            words[word::DETAILS].iter().zip(details.values()).for_each(|(word, value)| word.set(value));
        }
    }

    /// Owner of both, between [`record::begin_ended`] and [`record::finish_ended`] of the one that is written.
    fn copy(self, from: Entry<'_>) {
        if let (Entry(Some(words)), Entry(Some(from))) = (self, from) {
            words.iter().zip(from).for_each(|(to, from)| to.set(from.get()));
        }
    }

    /// For a fork.
    pub(crate) fn all_words(self) -> impl Iterator<Item = &'r Word> {
        self.0.into_iter().flatten()
    }

    /// Reader: whatever is there; whole if the record's version is the same before and after. Of one that runs not how it ends.
    pub(crate) fn read(self, ended: bool) -> EntryText {
        let mut read = EntryText {
            state: TransactionState::Active,
            access_mode: AccessMode::ReadWrite,
            autocommit: false,
            isolation_level: Text::EMPTY,
            gtid: Text::EMPTY,
            details: TransactionDetails::default(),
        };
        let Entry(Some(words)) = self else { return read };
        let start = words[word::START].get();
        if start & READ_ONLY != 0 {
            read.access_mode = AccessMode::ReadOnly;
        }
        read.autocommit = start & AUTOCOMMIT != 0;
        read.isolation_level = read_text(&words[word::ISOLATION_LEVEL], start >> LENGTH_SHIFT);
        let mut values = [0; TransactionDetails::COUNT];
        values.iter_mut().zip(&words[word::DETAILS]).for_each(|(value, word)| *value = word.whole());
        read.details = TransactionDetails::from_values(values);
        if ended {
            let end = words[word::END].get();
            read.state = match end & STATE {
                end if end == TransactionState::Committed as u64 => TransactionState::Committed,
                _ => TransactionState::RolledBack,
            };
            read.gtid = read_text(&words[word::GTID], end >> LENGTH_SHIFT);
        }
        read
    }
}

/// Where the sums are of the instrument's transactions: behind those that may write are those that only read.
pub(crate) fn sums_class(class: Class, access_mode: AccessMode) -> Class {
    match access_mode {
        AccessMode::ReadWrite => class,
        AccessMode::ReadOnly => Class(class.0.saturating_add(1)),
    }
}

impl<'r> Actor<'r> {
    /// A transaction begins. `switches` are those of its class, which must be that of transactions: loaded by the caller, who found them on.
    ///
    /// ```
    /// # use perfschema_core::{
    /// #     Actor, ActorIdentity, Config, Identity, InstrumentName, Region, Setting, Size, StaticRegion, TransactionStart,
    /// #     TransactionState, tables,
    /// # };
    /// # use perfschema_timer::{SystemClock, Timers};
    /// # const SIZES: Config = Config::SMALL.with(Size::MaxTransactionClasses, 1);
    /// # static MEMORY: StaticRegion<{ SIZES.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &SIZES, &Identity::default(), &Timers::calibrate())?;
    /// let class = region.register(InstrumentName::literal("transaction"), Setting::ON)?;
    /// region.enable_everything();
    /// let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    ///
    /// let start = TransactionStart { isolation_level: "SERIALIZABLE", ..Default::default() };
    /// let mut transaction = actor.begin_transaction(&SystemClock, region.switches(class), &start);
    /// actor.change_transaction(&mut transaction, |details| details.trx_id = 7);
    /// region.scan(&tables::EventsTransactionsCurrent, |row| {
    ///     assert_eq!((row.state, row.trx_id), (Some(TransactionState::Active), Some(7)));
    /// });
    /// actor.end_transaction(&SystemClock, transaction, TransactionState::Committed);
    /// assert_eq!(region.transactions_by_event_name(class).read_write.count, 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn begin_transaction(&self, clock: &impl Clock, switches: Switches, start: &TransactionStart<'_>) -> Transaction<'r> {
        let mut transaction = Transaction {
            event: NestedEvent::NONE,
            entry: Entry::default(),
            access_mode: start.access_mode,
            details: TransactionDetails::default(),
            is_stale: false,
        };
        let switches = self.masked(switches);
        if switches.has(Switches::ENABLED) {
            let of = (&self.transactions, &self.transaction_nest, EventType::Transaction);
            let (event, entry) = self.begin_nested(clock, switches, of, start.source, None, |index| {
                let entry = Entry::of(self.region(), Place::Ring(index));
                entry.begin(start);
                entry
            });
            (transaction.event, transaction.entry) = (event, entry.unwrap_or_default());
        }
        transaction
    }

    /// Says more of a transaction that runs: `change` gets what was said before.
    pub fn change_transaction(&self, transaction: &mut Transaction<'_>, change: impl FnOnce(&mut TransactionDetails)) {
        change(&mut transaction.details);
        if self.shows(&transaction.event) {
            transaction.entry.replace(&transaction.details);
        } else {
            transaction.is_stale = true;
        }
    }

    /// GTID: what a transaction is called by those who repeat it elsewhere, visible when it has ended; 64 bytes are kept. Returns whether it
    /// is this actor's to say: what another one says is not kept.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # const SIZES: Config = Config::SMALL.with(Size::MaxTransactionClasses, 1);
    /// # static MEMORY: StaticRegion<{ SIZES.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &SIZES, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("transaction"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// let mut transaction = actor.begin_transaction(&clock, region.switches(class), &TransactionStart::default());
    /// assert!(actor.set_transaction_gtid(&mut transaction, "3E11FA47:23"));
    /// actor.end_transaction(&clock, transaction, TransactionState::Committed);
    /// region.scan(&tables::EventsTransactionsHistory, |row| assert_eq!(row.gtid, Some("3E11FA47:23".into())));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_transaction_gtid(&self, transaction: &mut Transaction<'_>, gtid: &str) -> bool {
        let is_own = self.shows(&transaction.event);
        if is_own {
            transaction.entry.set_gtid(gtid);
        }
        is_own
    }

    /// A transaction ends, as `state` says; one that is said to be active still is rolled back. Returns the timer's ticks, if it was timed.
    /// One that another actor began is summed here; where it is visible it stays so until that actor detaches, for nobody else writes there.
    ///
    /// Those that lie within it and have not ended run on, but from now on nothing that begins lies within them.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # const SIZES: Config = Config::SMALL.with(Size::MaxTransactionClasses, 1);
    /// # static MEMORY: StaticRegion<{ SIZES.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &SIZES, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("transaction"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// let mut transaction = actor.begin_transaction(&clock, region.switches(class), &TransactionStart::default());
    /// actor.change_transaction(&mut transaction, |details| details.savepoints += 1);
    /// assert_eq!((transaction.is_recorded(), transaction.details().savepoints), (true, 1));
    /// clock.advance(timer::TimerName::Nanosecond, 40);
    /// assert_eq!(actor.end_transaction(&clock, transaction, TransactionState::Active), Some(40));
    /// region.scan(&tables::EventsTransactionsHistory, |row| assert_eq!(row.state, Some(TransactionState::RolledBack)));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn end_transaction(&self, clock: &impl Clock, mut transaction: Transaction<'_>, state: TransactionState) -> Option<u64> {
        let (wait, switches) = self.end_nested(&mut transaction.event)?;
        let ticks = switches.has(Switches::TIMED).then(|| switches.read(clock));
        let wait_ps = self.finish_record(&self.transactions, &wait, switches, ticks, |row| {
            transaction.entry.end(state, transaction.is_stale.then_some(&transaction.details));
            if let Some(row) = row {
                Entry::of(self.region(), Place::Long(row)).copy(transaction.entry);
            }
        });
        let class = sums_class(switches.class(), transaction.access_mode);
        self.sum(&self.transactions, switches.of(class), wait_ps, &[], || ());
        self.leave(&self.transaction_nest, &transaction.event, wait.sequence);
        ticks
    }
}
