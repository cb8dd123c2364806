//! Statements: what a thread does for somebody, from the request to the answer (WL#2360, WL#4813; the columns are shipped MySQL's).
//!
//! A statement has a text, and figures that its program fills in while it lasts: rows, errors, time lost in locks. Statements may lie within
//! one another; stages lie within the statement that runs when they begin, and end with it, and waits within either:
//! ```text
//!   ├──────────────────── statement ───────────────────┤
//!     ├─ stage ─┼──────────── stage ──────────────────┤
//!       wait       wait   ├── statement ──┤   wait
//!                               wait
//! ```
//! A statement is recorded by the same code as a wait, into records and sums of its own (`event::STATEMENTS`). What it has besides is in
//! entries beside its record, which are covered by the record's version as its words are, and beside its sums.

use crate::class;
use crate::config::{Config, Size};
use crate::event::{Place, STATEMENTS};
use crate::nest::NestedEvent;
use crate::record::{self, EventType};
use crate::region::{Region, SHARED_STATEMENT_STAT, STATEMENT, STATEMENT_STAT, Section, Text, read_text, write_text};
use crate::setup::Switches;
use crate::stat::Figure;
use crate::statement_digest::{self, HeldPlace};
use crate::sync::{Ordering, Word};
use crate::{Actor, ActorId};
use core::panic::Location;
use perfschema_timer::{Clock, TimerName};

macro_rules! statistics {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => {
        /// The figures of a statement, or their sums over several. What does not apply to a program stays 0.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct StatementStatistics { $($(#[doc = $doc])* pub $name: u64,)* }

        impl StatementStatistics {
            pub(crate) const COUNT: usize = [$(stringify!($name)),*].len();

            fn values(&self) -> [u64; Self::COUNT] {
                [$(self.$name),*]
            }

            pub(crate) fn from_values([$($name),*]: [u64; Self::COUNT]) -> StatementStatistics {
                StatementStatistics { $($name),* }
            }
        }
    };
}

statistics! {
    /// LOCK_TIME: picoseconds spent waiting for locks.
    lock_time_ps;
    /// ERRORS: how many errors there were.
    errors;
    /// WARNINGS: how many warnings there were.
    warnings;
    /// ROWS_AFFECTED: rows that were inserted, changed or deleted.
    rows_affected;
    /// ROWS_SENT: rows of the answer.
    rows_sent;
    /// ROWS_EXAMINED: rows that were looked at.
    rows_examined;
    /// CREATED_TMP_DISK_TABLES: temporary tables made on disk.
    created_tmp_disk_tables;
    /// CREATED_TMP_TABLES: temporary tables made, there or in memory.
    created_tmp_tables;
    /// SELECT_FULL_JOIN: joins that looked through a whole table.
    select_full_join;
    /// SELECT_FULL_RANGE_JOIN: joins that looked through a range of the table that they refer to.
    select_full_range_join;
    /// SELECT_RANGE: joins that looked through a range of the first table.
    select_range;
    /// SELECT_RANGE_CHECK: joins without keys that looked for one at each row.
    select_range_check;
    /// SELECT_SCAN: joins that looked through all of the first table.
    select_scan;
    /// SORT_MERGE_PASSES: passes that sorting took to merge.
    sort_merge_passes;
    /// SORT_RANGE: sorts of ranges.
    sort_range;
    /// SORT_ROWS: rows that were sorted.
    sort_rows;
    /// SORT_SCAN: sorts of whole tables.
    sort_scan;
    /// NO_INDEX_USED: 1 if a table was looked through without an index.
    no_index_used;
    /// NO_GOOD_INDEX_USED: 1 if none was good for it.
    no_good_index_used;
}

impl StatementStatistics {
    /// Adds those of others to these.
    pub fn add(&mut self, other: &StatementStatistics) {
        let mut sums = self.values();
        for (sum, other) in sums.iter_mut().zip(other.values()) {
            *sum = sum.wrapping_add(other);
        }
        *self = StatementStatistics::from_values(sums);
    }
}

/// What is known of a statement when it begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct StatementStart<'a> {
    /// SQL_TEXT: what was asked for, in the program's own language. `performance_schema_max_sql_text_length` bytes are kept; empty is NULL.
    pub text: &'a str,
    /// CURRENT_SCHEMA: what the text's names are looked up in; 64 bytes are kept, empty is NULL.
    pub schema: &'a str,
    /// SOURCE.
    pub source: Option<&'static Location<'static>>,
}

/// How a statement failed: [`Actor::set_statement_error`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatementError {
    /// MYSQL_ERRNO.
    pub number: u32,
    /// RETURNED_SQLSTATE, five characters.
    pub sqlstate: Text<5>,
    /// MESSAGE_TEXT; 128 bytes are kept.
    pub message: Text<128>,
}

/// A statement between its begin and its end, both of which are one actor's. Switches are those of its start.
#[must_use = "a statement that is not ended stays visible as running"]
#[derive(Debug)]
pub struct Statement<'r> {
    event: NestedEvent<'r>,
    entry: Entry<'r>,
    /// Where those are counted that are like it.
    digest: Option<HeldPlace<'r>>,
    statistics: StatementStatistics,
    /// Its entry has other figures, because another actor was to change them.
    is_stale: bool,
}

impl Statement<'_> {
    /// Whether anything is recorded for it.
    pub fn is_recorded(&self) -> bool {
        self.event.is_recorded()
    }

    /// The actor that began it; None of one without a slot, and if nothing is recorded.
    pub fn actor_id(&self) -> Option<ActorId> {
        self.event.actor_id()
    }

    /// What was said of it.
    pub fn statistics(&self) -> &StatementStatistics {
        &self.statistics
    }
}

/// Words of an entry.
pub(crate) mod word {
    pub(crate) const STATISTICS: core::ops::Range<usize> = 0..super::StatementStatistics::COUNT;
    pub(super) const ERROR: usize = 19;
    pub(super) const SQLSTATE: usize = 20;
    /// Bytes of the text, of the error's class, of its message and of the schema, in 16 bits each.
    pub(super) const LENGTHS: usize = 21;
    pub(super) const MESSAGE: core::ops::Range<usize> = 22..38;
    pub(super) const SCHEMA: core::ops::Range<usize> = 38..46;
}

/// What the recorder knows of entries and figures without asking the region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// The first of the classes of statements.
    first_class: u32,
    /// Words of an entry's text.
    text_words: u32,
}

impl Sizes {
    pub(crate) fn of(region: &Region<'_>) -> Sizes {
        let text = Config::kept(region.section(Section::Sizes), Size::MaxSqlTextLength);
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Sizes {
            first_class: narrow(class::of_events(region, &STATEMENTS).start),
            text_words: narrow(usize::try_from(text).unwrap_or(usize::MAX).div_ceil(8)),
        }
    }

    /// The figures of an instrument of statements: where `class` has its own.
    pub(crate) fn class_index(self, class: usize) -> usize {
        class.wrapping_sub(self.first_class as usize)
    }
}

/// What a record of a statement has besides; nothing of it is there in a damaged region.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry<'r> {
    words: Option<&'r [Word; STATEMENT]>,
    text: &'r [Word],
}

/// What a row shows of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryText {
    pub(crate) statistics: StatementStatistics,
    pub(crate) error: StatementError,
    pub(crate) schema: Text<64>,
    pub(crate) text: Text<1024>,
}

impl<'r> Entry<'r> {
    /// That of the record at this place.
    pub(crate) fn of(region: &Region<'r>, sizes: Sizes, place: Place) -> Entry<'r> {
        let (entries, texts, index) = match place {
            Place::Ring(index) => (Section::StatementDetails, Section::StatementTexts, index),
            Place::Long(index) => (Section::StatementLongDetails, Section::StatementLongTexts, index),
        };
        let each = sizes.text_words as usize;
        let texts = region.section(texts).get(index.saturating_mul(each)..).unwrap_or(&[]);
        Entry { words: region.arrays::<STATEMENT>(entries).get(index), text: texts.get(..each).unwrap_or(&[]) }
    }

    /// That of a record in no region.
    #[cfg(perfschema_loom)]
    pub(crate) fn of_words(words: &'r [Word; STATEMENT], text: &'r [Word]) -> Entry<'r> {
        Entry { words: Some(words), text }
    }

    /// Owner, between [`record::begin_start`] and [`record::finish_start`].
    pub(crate) fn begin(self, start: &StatementStart<'_>) {
        let Some(words) = self.words else { return };
        words[word::STATISTICS].iter().for_each(|figure| figure.set(0));
        words[word::ERROR].set(0);
        let text = write_beginning(self.text, start.text);
        let schema = write_beginning(&words[word::SCHEMA], start.schema);
        words[word::LENGTHS].set(Lengths::SCHEMA.of(schema) | Lengths::TEXT.of(text));
    }

    /// Owner, while the statement runs: figures as of now. Readers see some of them or all.
    pub(crate) fn replace(self, statistics: &StatementStatistics) {
        let Some(words) = self.words else { return };
        for (figure, value) in words[word::STATISTICS].iter().zip(statistics.values()) {
            if figure.get() != value {
                record::replace(figure, value);
            }
        }
    }

    /// Owner, while the statement runs: how it failed. Readers look there when it has ended. They have the other lengths in the same word
    /// meanwhile, which stay what they are, each within one half of it.
    pub(crate) fn set_error(self, error: &StatementError) {
        let Some(words) = self.words else { return };
        let (sqlstate, message) = (error.sqlstate.as_str(), error.message.as_str());
        let others = words[word::LENGTHS].get() & (Lengths::TEXT.mask() | Lengths::SCHEMA.mask());
        // First, so that a fork by a handler in the midst of this leaves in the child what is there.
        words[word::LENGTHS].set(others | Lengths::SQLSTATE.of(sqlstate.len()) | Lengths::MESSAGE.of(message.len()));
        words[word::ERROR].set(error.number.into());
        write_text(core::slice::from_ref(&words[word::SQLSTATE]), sqlstate);
        write_beginning(&words[word::MESSAGE], message);
    }

    /// Owner, between [`record::begin_change`] and [`record::finish_end`], where they were not said here.
    pub(crate) fn end(self, statistics: &StatementStatistics) {
        let Some(words) = self.words else { return };
        words[word::STATISTICS].iter().zip(statistics.values()).for_each(|(figure, value)| figure.set(value));
    }

    /// Owner of both, between [`record::begin_ended`] and [`record::finish_ended`] of the one that is written.
    fn copy(self, from: Entry<'_>) {
        let (Some(words), Some(from_words)) = (self.words, from.words) else { return };
        words[..word::SQLSTATE].iter().zip(from_words).for_each(|(to, from)| to.set(from.get()));
        words[word::LENGTHS].set(from_words[word::LENGTHS].get());
        for ((to, _), (from, used)) in self.texts().into_iter().zip(from.texts()) {
            to.iter().zip(from).take(used).for_each(|(to, from)| to.set(from.get()));
        }
    }

    /// Its texts, and how many words of each are used.
    fn texts(self) -> [(&'r [Word], usize); 4] {
        let Some(words) = self.words else { return [(&[], 0); 4] };
        let lengths = words[word::LENGTHS].get();
        [
            (self.text, Lengths::TEXT),
            (core::slice::from_ref(&words[word::SQLSTATE]), Lengths::SQLSTATE),
            (&words[word::MESSAGE], Lengths::MESSAGE),
            (&words[word::SCHEMA], Lengths::SCHEMA),
        ]
        .map(|(words, length)| (words, length.words(lengths)))
    }

    /// For a fork.
    pub(crate) fn all_words(self) -> impl Iterator<Item = &'r Word> {
        self.words.into_iter().flatten().chain(self.text)
    }

    /// The same, of a statement that runs: where those before it may have left something of their texts.
    pub(crate) fn leftovers(self) -> impl Iterator<Item = &'r Word> {
        self.texts().into_iter().flat_map(|(words, used)| words.iter().skip(used))
    }

    /// Reader: whatever is there; whole if the record's version is the same before and after. Of one that runs not how it failed.
    pub(crate) fn read(self, ended: bool) -> EntryText {
        let mut read = EntryText {
            statistics: StatementStatistics::default(),
            error: StatementError::default(),
            schema: Text::EMPTY,
            text: Text::EMPTY,
        };
        let Some(words) = self.words else { return read };
        read.statistics = statistics(&words[word::STATISTICS], Word::whole);
        let lengths = words[word::LENGTHS].get();
        read.schema = read_text(&words[word::SCHEMA], Lengths::SCHEMA.bytes(lengths));
        read.text = read_text(self.text, Lengths::TEXT.bytes(lengths));
        if ended {
            read.error = StatementError {
                number: words[word::ERROR].get() as u32,
                sqlstate: read_text(core::slice::from_ref(&words[word::SQLSTATE]), Lengths::SQLSTATE.bytes(lengths)),
                message: read_text(&words[word::MESSAGE], Lengths::MESSAGE.bytes(lengths)),
            };
        }
        read
    }
}

/// Which 16 bits of the word LENGTHS say how many bytes there are.
#[derive(Clone, Copy)]
struct Lengths(u32);

impl Lengths {
    const TEXT: Lengths = Lengths(0);
    const SQLSTATE: Lengths = Lengths(16);
    const MESSAGE: Lengths = Lengths(32);
    const SCHEMA: Lengths = Lengths(48);

    fn mask(self) -> u64 {
        0xffff << self.0
    }

    fn of(self, bytes: usize) -> u64 {
        (bytes as u64) << self.0
    }

    fn bytes(self, lengths: u64) -> u64 {
        lengths >> self.0 & 0xffff
    }

    fn words(self, lengths: u64) -> usize {
        usize::from(self.bytes(lengths) as u16).div_ceil(8)
    }
}

/// Writes what fits of `text`, and leaves what is behind it as it is.
fn write_beginning(words: &[Word], text: &str) -> usize {
    write_text(words.get(..text.len().div_ceil(8)).unwrap_or(words), text)
}

/// The figures of one actor's statements of one instrument; none in a damaged region.
pub(crate) fn figures(words: Option<&[Word; STATEMENT_STAT]>) -> &[Figure] {
    words.and_then(|words| words.as_chunks().0.get(..StatementStatistics::COUNT)).unwrap_or_default()
}

/// Those that no actor owns.
pub(crate) fn shared_figures<'r>(region: &Region<'r>, index: usize) -> &'r [Word] {
    let words = region.arrays::<SHARED_STATEMENT_STAT>(Section::SharedStatementStats).get(index);
    words.and_then(|words| words.get(..StatementStatistics::COUNT)).unwrap_or_default()
}

/// What `value` makes of each of the figures.
pub(crate) fn statistics<T>(figures: &[T], value: impl Fn(&T) -> u64) -> StatementStatistics {
    let mut values = [0; StatementStatistics::COUNT];
    values.iter_mut().zip(figures).for_each(|(to, figure)| *to = value(figure));
    StatementStatistics::from_values(values)
}

impl<'r> Actor<'r> {
    /// A statement begins. `switches` are those of its class, which must be one of statements: loaded by the caller, who found them on.
    ///
    /// ```
    /// # use perfschema_core::{Actor, ActorIdentity, Config, Identity, InstrumentName, Region, Setting, Size, StatementStart, StaticRegion, tables};
    /// # use perfschema_timer::{SystemClock, Timers};
    /// # const SIZES: Config = Config::SMALL.with(Size::MaxStatementClasses, 4);
    /// # static MEMORY: StaticRegion<{ SIZES.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &SIZES, &Identity::default(), &Timers::calibrate())?;
    /// let search = region.register(InstrumentName::literal("statement/app/search"), Setting::ON)?;
    /// region.enable_everything();
    /// let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    ///
    /// let start = StatementStart { text: "words with ä", ..Default::default() };
    /// let mut statement = actor.begin_statement(&SystemClock, region.switches(search), &start);
    /// actor.change_statement(&mut statement, |statistics| statistics.rows_sent += 3);
    /// region.scan(&tables::EventsStatementsCurrent, |row| {
    ///     assert_eq!(row.sql_text.as_ref().map(|text| text.as_str()), Some("words with ä"));
    ///     assert_eq!((row.rows_sent, row.timer_end), (3, None));
    /// });
    /// actor.end_statement(&SystemClock, statement);
    /// assert_eq!(region.statements_by_event_name(search).1.rows_sent, 3);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn begin_statement(&self, clock: &impl Clock, switches: Switches, start: &StatementStart<'_>) -> Statement<'r> {
        let mut statement = Statement {
            event: NestedEvent::NONE,
            entry: Entry::default(),
            digest: None,
            statistics: StatementStatistics::default(),
            is_stale: false,
        };
        let switches = self.masked(switches);
        if !switches.has(Switches::ENABLED) {
            return statement;
        }
        // Before the record is begun, which nobody can read until that is finished.
        if switches.has(Switches::DIGEST) {
            statement.digest = statement_digest::hold(self.region(), start.schema, start.text);
        }
        let of = (&self.statements, &self.statement_nest, EventType::Statement);
        // NESTING_EVENT_LEVEL.
        let level = Some(self.statement_nest.depth().into());
        let (event, entry) = self.begin_nested(clock, switches, of, start.source, level, |index| {
            let entry = Entry::of(self.region(), self.statement_sizes, Place::Ring(index));
            entry.begin(start);
            entry
        });
        (statement.event, statement.entry) = (event, entry.unwrap_or_default());
        statement
    }

    /// Says more of a statement that runs: `change` gets its figures as they are.
    pub fn change_statement(&self, statement: &mut Statement<'_>, change: impl FnOnce(&mut StatementStatistics)) {
        change(&mut statement.statistics);
        if self.shows(&statement.event) {
            statement.entry.replace(&statement.statistics);
        } else {
            statement.is_stale = true;
        }
    }

    /// How it failed: MYSQL_ERRNO, RETURNED_SQLSTATE and MESSAGE_TEXT, visible when it has ended. ERRORS is up to the caller. Returns whether
    /// it is this actor's to say: what another one says is not kept.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # const SIZES: Config = Config::SMALL.with(Size::MaxStatementClasses, 1);
    /// # static MEMORY: StaticRegion<{ SIZES.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &SIZES, &Identity::default(), &clock.timers())?;
    /// # let search = region.register(InstrumentName::literal("statement/app/search"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// let mut statement = actor.begin_statement(&clock, region.switches(search), &StatementStart::default());
    /// let error = StatementError { number: 1064, sqlstate: "42000".into(), message: "what is that?".into() };
    /// assert!(actor.set_statement_error(&mut statement, &error));
    /// actor.change_statement(&mut statement, |statistics| statistics.errors = 1);
    /// actor.end_statement(&clock, statement);
    /// region.scan(&tables::EventsStatementsHistory, |row| {
    ///     assert_eq!((row.errors, row.mysql_errno, row.message_text), (1, Some(1064), Some("what is that?".into())));
    /// });
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_statement_error(&self, statement: &mut Statement<'_>, error: &StatementError) -> bool {
        let is_own = self.shows(&statement.event);
        if is_own {
            statement.entry.set_error(error);
        }
        is_own
    }

    /// A statement ends, and the stage that lies within it, at the same moment. Returns the timer's ticks, if it was timed. One that another
    /// actor began is counted here, in sums and by digest; where it is visible it stays so until that actor detaches, for nobody else writes
    /// there.
    ///
    /// Statements that lie within it and have not ended run on, but from now on nothing that begins lies within them.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # const SIZES: Config = Config::SMALL.with(Size::MaxStatementClasses, 1);
    /// # static MEMORY: StaticRegion<{ SIZES.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &SIZES, &Identity::default(), &clock.timers())?;
    /// # let search = region.register(InstrumentName::literal("statement/app/search"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// let sorting = region.register(InstrumentName::literal("stage/app/sorting"), Setting::ON)?;
    /// let outer = actor.begin_statement(&clock, region.switches(search), &StatementStart::default());
    /// let inner = actor.begin_statement(&clock, region.switches(search), &StatementStart::default());
    /// actor.begin_stage(&clock, region.switches(sorting), None);
    /// assert_eq!((inner.actor_id(), inner.statistics().errors), (actor.id(), 0));
    /// actor.end_statement(&clock, inner);
    /// assert_eq!(actor.running_stage(), None);
    /// actor.end_statement(&clock, outer);
    /// region.scan(&tables::EventsStatementsHistory, |row| assert_eq!(row.nesting_event_id, (row.event_id == 2).then_some(1)));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn end_statement(&self, clock: &impl Clock, mut statement: Statement<'_>) -> Option<u64> {
        let (wait, switches) = self.end_nested(&mut statement.event)?;
        let ticks = switches.read(clock);
        if statement.event.level().is_among(self.stage_statements.get()) {
            self.end_any_stage_at(|stage| {
                let same_timer = switches.has(Switches::TIMED) && stage.timer_index() == switches.timer_index();
                if same_timer { ticks } else { stage.read(clock) }
            });
        }
        let timed = switches.has(Switches::TIMED).then_some(ticks);
        let wait_ps = self.finish_record(&self.statements, &wait, switches, timed, |row| {
            if statement.is_stale {
                statement.entry.end(&statement.statistics);
            }
            if let Some(row) = row {
                Entry::of(self.region(), self.statement_sizes, Place::Long(row)).copy(statement.entry);
            }
        });
        let figures = self.statement_figures(switches.class());
        let is_own = self.sum(&self.statements, switches, wait_ps, figures, || count(figures, &statement.statistics));
        if !is_own {
            count_shared(self.region(), switches.class().index(), &statement.statistics);
        }
        if let Some(digest) = statement.digest {
            let is_at_hand = timed.is_some() && switches.timer_index() == TimerName::Nanosecond.index() as u8;
            let now = if is_at_hand { ticks } else { clock.ticks(TimerName::Nanosecond) };
            digest.end(self.region(), now, wait_ps, &statement.statistics);
        }
        self.leave(&self.statement_nest, &statement.event, wait.sequence);
        timed
    }
}

/// Counts a statement where no actor owns the sums. Relaxed, as in [`Shared`](crate::stat::Shared).
fn count_shared(region: &Region<'_>, class: usize, statistics: &StatementStatistics) {
    add_shared(shared_figures(region, Sizes::of(region).class_index(class)), statistics);
}

/// The same for any such figures.
pub(crate) fn add_shared(figures: &[Word], statistics: &StatementStatistics) {
    for (figure, value) in figures.iter().zip(statistics.values()) {
        if value != 0 {
            figure.fetch_add(value, Ordering::Relaxed);
        }
    }
}

/// Owner, while the version of the sums is odd.
fn count(figures: &[Figure], statistics: &StatementStatistics) {
    for ([sum, _], value) in figures.iter().zip(statistics.values()) {
        if value != 0 {
            sum.set(sum.get().wrapping_add(value));
        }
    }
}

/// TRUNCATE of the global table, of what no actor owns.
pub(crate) fn reset_shared(region: &Region<'_>) {
    for figure in region.section(Section::SharedStatementStats) {
        figure.swap(0, Ordering::Relaxed);
    }
}
