//! What the models in `loom-tests` see of the core: the real functions behind thin wrappers, and memory of which a model watches
//! the words that its protocol is about. Only with `--cfg perfschema_loom`.
//!
//! Nothing here decides anything: a wrapper calls one function of the core and renames what it returns.

use crate::record::Sequence;
use crate::region::{CARRY, CHUNK, CLASS, Layout, MEMORY, RECORD, RUNNING, SLOT, STAT, STATEMENT, Section, header};
use crate::stat::View;
use crate::statement_digest::{self, word as digest};
use crate::tables::setup_actors;
use crate::{
    ActorIdentity, Class, Config, Identity, Lost, Operation, Region, RegionError, Summary, Switches, ThreadSetting, Word,
};
use crate::{
    StatementStatistics, class, file, instance, long_history, memory, metric, record, setup, slot, source, stat, statement,
    transaction,
};
use core::cell::Cell;
use perfschema_timer::{Clock, Conversion, MockClock, TimerName};
use std::vec::Vec;

/// The words that a model can watch. Each stands for the words that its protocol needs, of every entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// What publishes a region, and a word of what it publishes.
    Header,
    /// State and two words of the identity.
    Slots,
    /// State and THREAD_ID.
    SlotThreads,
    /// State, and where the events of a slot's owner begin.
    SlotBases,
    /// What truncates the sums.
    SlotEpochs,
    /// Version, epochs and sum.
    Stats,
    /// Version, epochs and the number of untimed events.
    Counts,
    /// Sum, and the counts, with whose carry it is.
    Carries,
    /// What several threads sum: the sum.
    SharedStats,
    /// Version, start and amount.
    Rings,
    /// Who fills the chunks.
    LongChunks,
    /// Who took them last, and is whose rows are there.
    LongOwners,
    /// Version, start and amount of the long history's records.
    LongRecords,
    /// Their versions alone.
    LongVersions,
    /// Consumers and generation.
    Setup,
    /// Effective switches.
    Switches,
    /// State, length of the name, its first word.
    Classes,
    /// Settings of the classes.
    ClassSettings,
    /// Key, length, first word of the text.
    Sources,
    /// Of statements that are alike: key, state, first word of the digest, counts of those that are timed and that are not.
    Digests,
    /// Of what they are called: lengths, first word of the schema.
    DigestNames,
    /// First words of their texts.
    DigestTexts,
    /// State, class and address of mutexes.
    Instances,
    /// Where the search for a free mutex starts.
    InstanceHints,
    /// Version, count and sum of mutexes.
    InstanceSums,
    /// State, hash of the path and references of files.
    Files,
    /// The first word of the paths of files.
    FilePaths,
    /// The buckets of files.
    FileIndex,
    /// The version of the sums that the owner of a file writes.
    FileVersions,
    /// State and the first word of HOST of the rows of `setup_actors`.
    SetupActors,
    /// Which row `setup_actors` got last.
    LastActor,
    /// State, lengths and control word of metrics.
    Metrics,
    /// The first word of their names.
    MetricTexts,
    /// What an actor counts of the first.
    MetricSums,
    /// Versions of the records of transactions.
    TransactionRings,
    /// What is beside those: what is said at the start, how it ended, and TRX_ID.
    TransactionDetails,
    /// The same two in the long history.
    TransactionLongRecords,
    /// See there.
    TransactionLongDetails,
}

/// What is said of a transaction at its start, how it ended, and TRX_ID.
const TRANSACTION: &[usize] = &[transaction::word::START, transaction::word::END, transaction::word::DETAILS.start];

impl Watch {
    fn words(self) -> (Section, &'static [usize]) {
        match self {
            Watch::Header => (Section::Header, &[header::MAGIC, header::READY, header::VERSION, header::PID]),
            Watch::Slots => (Section::Slots, &[slot::word::STATE, slot::word::OS_ID, slot::word::PARENT]),
            Watch::SlotThreads => (Section::Slots, &[slot::word::STATE, slot::word::THREAD_ID]),
            Watch::SlotBases => (Section::Slots, &[slot::word::STATE, slot::word::BASE]),
            Watch::SlotEpochs => (Section::Slots, &[slot::word::EPOCHS]),
            Watch::Stats => {
                (Section::Stats, &[stat::word::VERSION, stat::word::EPOCHS, stat::word::OWNED.start + stat::own::SUM])
            }
            Watch::Counts => {
                (Section::Stats, &[stat::word::VERSION, stat::word::EPOCHS, stat::word::OWNED.start + stat::own::UNTIMED])
            }
            Watch::Carries => (Section::Carries, &[stat::carry::SUM, stat::carry::COUNTS]),
            Watch::SharedStats => (Section::SharedStats, &[stat::sum::SUM]),
            Watch::Rings => (Section::Rings, &RECORD_WORDS),
            Watch::LongChunks => (Section::LongChunks, &[long_history::word::STATE]),
            Watch::LongOwners => (Section::LongChunks, &LONG_OWNERS),
            Watch::LongRecords => (Section::LongRecords, &RECORD_WORDS),
            Watch::LongVersions => (Section::LongRecords, &[record::word::VERSION]),
            Watch::Setup => (Section::Setup, &[setup::word::CONSUMERS, setup::word::GENERATION]),
            Watch::Switches => (Section::Switches, &[0]),
            Watch::Classes => (Section::Classes, &[class::word::STATE, class::word::NAME_LEN, class::word::NAME.start]),
            Watch::ClassSettings => (Section::Classes, &[class::word::SETTING]),
            Watch::Sources => (Section::Sources, &[source::word::KEY, source::word::LEN, source::word::TEXT.start]),
            Watch::Instances => {
                (Section::MutexInstances, &[instance::word::STATE, instance::word::CLASS, instance::word::ADDRESS])
            }
            Watch::InstanceHints => (Section::Setup, &[setup::word::INSTANCE_HINTS.start]),
            Watch::InstanceSums => (
                Section::MutexInstances,
                &[
                    instance::word::VERSION,
                    instance::word::OWNED.start + stat::own::TIMED,
                    instance::word::OWNED.start + stat::own::SUM,
                ],
            ),
            Watch::Files => (Section::FileInstances, &[file::word::STATE, file::word::HASH, file::word::REFERENCES]),
            Watch::FilePaths => (Section::FileInstances, &[file::word::PATH.start]),
            Watch::FileIndex => (Section::FileIndex, &[0]),
            Watch::FileVersions => (Section::FileInstances, &[file::word::OWN_VERSION]),
            Watch::SetupActors => (Section::SetupActors, &[setup_actors::word::STATE, setup_actors::word::HOST.start]),
            Watch::LastActor => (Section::Setup, &[setup::word::LAST_ACTOR]),
            Watch::Digests => (
                Section::StatementDigests,
                &[digest::KEY, digest::STATE, digest::DIGEST.start, digest::SUMS.start, digest::SUMS.start + 1],
            ),
            Watch::DigestNames => (Section::StatementDigests, &[digest::LENGTHS, digest::SCHEMA.start]),
            Watch::DigestTexts => (Section::StatementDigestTexts, &[0]),
            Watch::Metrics => (Section::Metrics, &[metric::word::STATE, metric::word::LENGTHS, metric::word::CONTROL]),
            Watch::MetricTexts => (Section::MetricTexts, &[metric::word::NAME.start]),
            Watch::MetricSums => (Section::MetricSums, &[0]),
            Watch::TransactionRings => (Section::TransactionRings, &[record::word::VERSION]),
            Watch::TransactionDetails => (Section::TransactionDetails, TRANSACTION),
            Watch::TransactionLongRecords => (Section::TransactionLongRecords, &[record::word::VERSION]),
            Watch::TransactionLongDetails => (Section::TransactionLongDetails, TRANSACTION),
        }
    }
}

const LONG_OWNERS: [usize; 6] = {
    let first = long_history::word::OWNERS;
    [first, first + 1, first + 2, first + 3, first + 4, first + 5]
};
const RECORD_WORDS: [usize; 3] = [record::word::VERSION, record::word::START, record::word::AMOUNT];
const STAT_WORDS: [usize; 3] =
    [stat::word::VERSION, stat::word::OWNED.start + stat::own::TIMED, stat::word::OWNED.start + stat::own::SUM];

fn word(watched: bool) -> Word {
    if watched { Word::new(0) } else { Word::unwatched(0) }
}

/// Memory for a region. Threads of a model share it in an `Arc`, and each opens it.
#[derive(Debug)]
pub struct Memory(Vec<Word>);

impl Memory {
    /// Zeroed memory for a region of these sizes.
    pub fn new(config: &Config, watch: &[Watch]) -> Memory {
        let layout = Layout::of(config);
        let mut watched = std::vec![false; layout.total_words()];
        for (section, words) in watch.iter().map(|watch| watch.words()) {
            let place = layout.place(section);
            for entry in 0..place.count {
                for word in words {
                    watched[place.offset + entry * section.stride() + word] = true;
                }
            }
        }
        Memory(watched.into_iter().map(word).collect())
    }

    /// In a forked child, all places of classes after what others had claimed.
    pub fn forget_classes(&self) {
        let region = self.region();
        region.arrays::<CLASS>(Section::Classes).iter().for_each(|class| class[class::word::STATE].set(class::FORGOTTEN));
    }

    /// Memory with a region in it.
    pub fn with_region(config: &Config, watch: &[Watch]) -> Memory {
        let memory = Memory::new(config, watch);
        let _ = memory.create(config, 1);
        memory
    }

    /// [`Region::create`] for the process `pid`. A cycle of its timers is 400 ps.
    ///
    /// # Errors
    /// Those of [`Region::create`].
    pub fn create(&self, config: &Config, pid: u32) -> Result<Region<'_>, RegionError> {
        Region::create(&self.0, config, &Identity { pid, ..Default::default() }, &MockClock::new().timers())
    }

    /// [`Region::open`].
    ///
    /// # Errors
    /// Those of [`Region::open`].
    pub fn open(&self) -> Result<Region<'_>, RegionError> {
        Region::open(&self.0)
    }

    /// The region that is known to be there.
    pub fn region(&self) -> Region<'_> {
        self.open().expect("made by with_region() before the threads started")
    }
}

/// A clock that says what the model wants.
#[derive(Debug, Default)]
pub struct Ticks(Cell<u64>);

impl Ticks {
    /// The next events are at `ticks`.
    pub fn set(&self, ticks: u64) {
        self.0.set(ticks);
    }
}

impl Clock for Ticks {
    fn ticks(&self, _: TimerName) -> u64 {
        self.0.get()
    }
}

/// An event record.
#[derive(Debug)]
pub struct Record([Word; RECORD]);

/// What [`Record::read`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing yet.
    Free,
    /// The row was being written, or changed while it was read.
    Changed,
    /// A row.
    Row(Row),
}

/// What the models look at in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after the columns")]
pub struct Row {
    pub sequence: u64,
    pub ended: bool,
    pub start: u64,
    pub amount: u64,
    pub end: u64,
    pub hidden: bool,
}

impl From<record::Read> for Found {
    fn from(read: record::Read) -> Found {
        match read {
            record::Read::Free => Found::Free,
            record::Read::Changed => Found::Changed,
            record::Read::Whole(row) => Found::Row(Row {
                sequence: row.sequence.number(),
                ended: row.ended,
                start: row.start,
                amount: row.amount,
                end: row.end,
                hidden: row.is_hidden_from_current(),
            }),
        }
    }
}

fn start(amount: u64) -> record::Start {
    record::Start {
        what: record::What::new(Switches(Switches::TIMED), source::Site::nowhere(Operation::Lock as u8)),
        object: 0,
        nesting: record::Enclosing::default(),
        amount: Some(amount),
        io: crate::IoEvent::None,
    }
}

impl Record {
    /// An empty record; version, start and amount are watched.
    #[expect(clippy::new_without_default, reason = "loom's words can be made in a model only")]
    pub fn new() -> Record {
        Record(core::array::from_fn(|index| word(RECORD_WORDS.contains(&index))))
    }

    /// An empty record; version, start and end are watched.
    pub fn to_end() -> Record {
        let watched = [record::word::VERSION, record::word::START, record::word::END];
        Record(core::array::from_fn(|index| word(watched.contains(&index))))
    }

    /// An empty record; version and what TRUNCATE hid are watched.
    pub fn to_truncate() -> Record {
        let watched = [record::word::VERSION, record::word::HIDDEN_CURRENT];
        Record(core::array::from_fn(|index| word(watched.contains(&index))))
    }

    /// [`record::begin_start`] to [`record::finish_start`].
    pub fn start(&self, sequence: u64, ticks: u64, amount: u64) {
        let sequence = Sequence::from_number(sequence);
        record::begin_start(&self.0, sequence, &start(amount));
        record::finish_start(&self.0, Some(ticks));
    }

    /// [`record::set_progress`] of a stage that runs; the amount is `amount` then.
    pub fn progress(&self, amount: u64) {
        record::set_progress(&self.0, crate::StageProgress { completed: 0, estimated: amount - 1 });
    }

    /// As [`end`](Self::end), of an event whose amount is what was said last.
    pub fn end_alone(&self, ticks: u64) {
        record::begin_end(&self.0, None);
        record::finish_end(&self.0, false, Some(ticks));
    }

    /// [`record::begin_end`], [`record::finish_end`].
    pub fn end(&self, ticks: u64, amount: u64) {
        record::begin_end(&self.0, Some(amount));
        record::finish_end(&self.0, true, Some(ticks));
    }

    /// [`record::read`].
    pub fn read(&self) -> Found {
        record::read(&self.0).into()
    }

    /// [`record::hide_current`].
    pub fn hide(&self) {
        record::hide_current(&self.0);
    }
}

/// A statement of this text begins and ends, timed or not, as far as those are counted that are like it.
pub fn count_digest(region: &Region<'_>, text: &str, timed: bool) {
    if let Some(held) = statement_digest::hold(region, "loom", text) {
        held.end(region, 0, timed.then_some(1), &StatementStatistics::default());
    }
}

/// The record of a statement, and what is beside it.
#[derive(Debug)]
pub struct StatementRecord {
    record: Record,
    beside: [Word; STATEMENT],
    text: [Word; 1],
}

/// What [`StatementRecord::read`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundStatement {
    /// Nothing yet.
    Free,
    /// It was being written, or changed while it was read.
    Changed,
    /// It changed while what is beside it was read.
    ChangedBeside,
    /// Its number, whether it has ended, a figure of it, and its text.
    Row(u64, bool, u64, crate::Text<8>),
}

impl StatementRecord {
    /// An empty one; of the record the version is watched, of what is beside it the first figure and the first word of the text.
    #[expect(clippy::new_without_default, reason = "loom's words can be made in a model only")]
    pub fn new() -> StatementRecord {
        StatementRecord {
            record: Record(core::array::from_fn(|index| word(index == record::word::VERSION))),
            beside: core::array::from_fn(|index| word(index == statement::word::STATISTICS.start)),
            text: [word(true)],
        }
    }

    fn entry(&self) -> statement::Entry<'_> {
        statement::Entry::of_words(&self.beside, &self.text)
    }

    fn statistics(figure: u64) -> crate::StatementStatistics {
        crate::StatementStatistics { lock_time_ps: figure, ..Default::default() }
    }

    /// [`record::begin_start`], [`statement::Entry::begin`], [`record::finish_start`].
    pub fn start(&self, sequence: u64, text: &str) {
        let sequence = Sequence::from_number(sequence);
        record::begin_start(&self.record.0, sequence, &start(0));
        self.entry().begin(&crate::StatementStart { text, schema: "", source: None });
        record::finish_start(&self.record.0, Some(0));
    }

    /// [`statement::Entry::replace`] of a statement that runs.
    pub fn change(&self, figure: u64) {
        self.entry().replace(&Self::statistics(figure));
    }

    /// [`record::begin_end`], [`record::begin_change`], [`statement::Entry::end`], [`record::finish_end`].
    pub fn end(&self, figure: u64) {
        record::begin_end(&self.record.0, None);
        record::begin_change(&self.record.0);
        self.entry().end(&Self::statistics(figure));
        record::finish_end(&self.record.0, true, None);
    }

    /// [`record::read`], [`statement::Entry::read`], [`record::still`].
    pub fn read(&self) -> FoundStatement {
        let found = match record::read(&self.record.0) {
            record::Read::Free => return FoundStatement::Free,
            record::Read::Changed => return FoundStatement::Changed,
            record::Read::Whole(found) => found,
        };
        let beside = self.entry().read(found.ended);
        if !record::still(&self.record.0, &found) {
            return FoundStatement::ChangedBeside;
        }
        let text = beside.text.as_str().into();
        FoundStatement::Row(found.sequence.number(), found.ended, beside.statistics.lock_time_ps, text)
    }
}

/// What [`read_transaction`] and [`read_long_transaction`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundTransaction {
    /// Nothing yet.
    Free,
    /// It was being written, or changed while it was read.
    Changed,
    /// It changed while what is beside it was read.
    ChangedBeside,
    /// What is beside it, and whether it has ended.
    Row {
        /// Of the record.
        ended: bool,
        /// STATE.
        state: crate::TransactionState,
        /// ACCESS_MODE.
        access_mode: crate::AccessMode,
        /// TRX_ID; 0 if nothing was said.
        trx_id: u64,
    },
}

/// The records that an actor has for its transactions, where no history keeps any.
pub const TRANSACTION_RECORDS: usize = RUNNING;

/// [`record::read`], [`transaction::Entry::read`], [`record::still`], of the first actor's record of this index.
pub fn read_transaction(region: &Region<'_>, index: usize) -> FoundTransaction {
    let records = region.arrays::<RECORD>(Section::TransactionRings);
    found_transaction(&records[index], transaction::Entry::of(region, crate::event::Place::Ring(index)))
}

/// The same of the first row of the long history.
pub fn read_long_transaction(region: &Region<'_>) -> FoundTransaction {
    let records = region.arrays::<RECORD>(Section::TransactionLongRecords);
    found_transaction(&records[0], transaction::Entry::of(region, crate::event::Place::Long(0)))
}

fn found_transaction(words: &record::RecordWords, entry: transaction::Entry<'_>) -> FoundTransaction {
    let found = match record::read(words) {
        record::Read::Free => return FoundTransaction::Free,
        record::Read::Changed => return FoundTransaction::Changed,
        record::Read::Whole(found) => found,
    };
    let beside = entry.read(found.ended);
    if !record::still(words, &found) {
        return FoundTransaction::ChangedBeside;
    }
    let transaction::EntryText { state, access_mode, details, .. } = beside;
    FoundTransaction::Row { ended: found.ended, state, access_mode, trx_id: details.trx_id }
}

/// A summary of one actor and one class, with no slot around it.
#[derive(Debug)]
pub struct Stat {
    words: [Word; STAT],
    carry: [[Word; CARRY]; 1],
}

impl Stat {
    /// An empty summary; version, count and sum are watched.
    #[expect(clippy::new_without_default, reason = "loom's words can be made in a model only")]
    pub fn new() -> Stat {
        Stat::watching(&STAT_WORDS)
    }

    /// An empty summary; version, count of untimed events, and sum are watched.
    pub fn to_count() -> Stat {
        let owned = stat::word::OWNED.start;
        Stat::watching(&[stat::word::VERSION, owned + stat::own::UNTIMED, owned + stat::own::SUM])
    }

    fn watching(watched: &[usize]) -> Stat {
        Stat {
            words: core::array::from_fn(|index| word(watched.contains(&index))),
            carry: [core::array::from_fn(|_| word(false))],
        }
    }

    /// [`stat::begin`], and what follows.
    pub fn record(&self, wait_ps: u64) {
        let sums = stat::begin_current(&self.words);
        sums.count_ticks(wait_ps);
        sums.publish();
    }

    /// [`stat::count_untimed`], while nothing is truncated.
    pub fn count(&self) {
        stat::count_untimed(&self.words);
    }

    /// [`stat::read`]; None if the attempt did not succeed.
    pub fn read(&self) -> Option<Summary> {
        let (snapshot, ()) = stat::read(&stat::Patience::default(), &self.words, &self.carry[0], |_| ());
        let conversion = || Conversion::from_multiplier(1 << Conversion::SHIFT);
        snapshot.settled.then(|| snapshot.view(View::Global, stat::Epochs(0), conversion))
    }
}

/// The memory of one actor and one class, with no slot around it.
#[derive(Debug)]
pub struct MemorySums([Word; MEMORY]);

impl MemorySums {
    /// Nothing yet; version, blocks and bytes allocated are watched.
    #[expect(clippy::new_without_default, reason = "loom's words can be made in a model only")]
    pub fn new() -> MemorySums {
        let watched = [memory::word::VERSION, memory::word::OWN.start, memory::word::OWN.start + 4];
        MemorySums(core::array::from_fn(|index| word(watched.contains(&index))))
    }

    /// [`memory::record`] of a block of so many bytes.
    pub fn allocated(&self, bytes: u64) {
        memory::record(&self.0, stat::Epochs(0), crate::MemoryChange::allocated(bytes), || ());
    }

    /// Blocks and bytes allocated; None if the attempt did not succeed.
    pub fn read(&self) -> Option<(u64, u64)> {
        memory::read_global(&self.0).map(|sums| (sums.blocks.allocated, sums.bytes.allocated))
    }
}

/// A summary that several threads write.
#[derive(Debug)]
pub struct Shared([Word; 5]);

impl Shared {
    /// An empty summary.
    #[expect(clippy::new_without_default, reason = "loom's words can be made in a model only")]
    pub fn new() -> Shared {
        Shared(core::array::from_fn(|_| word(true)))
    }

    /// [`stat::Shared::record`].
    pub fn record(&self, wait_ps: u64) {
        stat::Shared(&self.0).record(Some(wait_ps));
    }

    /// [`stat::Shared::read`].
    pub fn read(&self) -> Summary {
        stat::Shared(&self.0).read()
    }
}

loom::thread_local! {
    static UNSETTLED: Cell<bool> = Cell::new(false);
}

pub(crate) fn note_unsettled() {
    UNSETTLED.with(|unsettled| unsettled.set(true));
}

/// What `read` returns, and whether every sum that it read was whole.
pub fn settled<T>(read: impl FnOnce() -> T) -> (T, bool) {
    UNSETTLED.with(|unsettled| unsettled.set(false));
    let value = read();
    (value, UNSETTLED.with(|unsettled| !unsettled.get()))
}

/// A slot of a region.
#[derive(Debug)]
pub struct Claimed<'r>(slot::Claimed<'r>);

/// [`slot::claim`] for a thread of this `os_id`; its parent is `os_id + 1000`.
pub fn claim<'r>(region: &Region<'r>, os_id: u64) -> Option<Claimed<'r>> {
    let identity = ActorIdentity { os_id, parent_thread_id: os_id + 1000, ..Default::default() };
    slot::claim(region, &identity, ThreadSetting { instrumented: true, history: true }).map(Claimed)
}

impl Claimed<'_> {
    /// The sequence number of the last event of the owner before.
    pub fn base(&self) -> u64 {
        self.0.base.number()
    }

    /// [`slot::Claimed::release`].
    pub fn release(&self, sequence: u64) {
        self.0.release(Sequence::from_number(sequence));
    }
}

/// What [`look`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looked {
    /// No owner.
    Free,
    /// It changed while it was read.
    Changed,
    /// OS id and parent of the owner.
    Live(u64, u64),
}

/// [`slot::look`] at the first slot.
pub fn look(region: &Region<'_>) -> Looked {
    match slot::look(&region.arrays::<SLOT>(Section::Slots)[0]) {
        slot::Look::Free => Looked::Free,
        slot::Look::Changed => Looked::Changed,
        slot::Look::Live(owner) => Looked::Live(owner.os_id, owner.parent_thread_id),
    }
}

/// A thread's place in the long history.
#[derive(Debug)]
pub struct LongWriter<'r>(long_history::Writer<'r>);

impl<'r> LongWriter<'r> {
    /// [`long_history::Writer::new`].
    pub fn new(region: &'r Region<'r>) -> LongWriter<'r> {
        LongWriter::of(region, 0)
    }

    /// The same, of the thread of this THREAD_ID, whose events count from as much.
    pub fn of(region: &'r Region<'r>, thread_id: u64) -> LongWriter<'r> {
        let owner = long_history::Owner { thread_id, base: Sequence::from_number(thread_id) };
        LongWriter(long_history::Writer::new(region, &crate::event::WAITS, owner))
    }

    /// [`long_history::Writer::begin`] and the rest of a row whose start and amount are these.
    pub fn write(&self, ticks: u64, amount: u64) {
        // An event of the writer's own ring, which nobody else looks at.
        let record = core::array::from_fn(|_| Word::unwatched(0));
        let none = Sequence::from_number(0);
        record::begin_start(&record, none, &start(amount));
        record::finish_start(&record, Some(ticks));
        record::begin_end(&record, None);
        record::finish_end(&record, false, Some(ticks));
        let Some(row) = self.0.next() else { return };
        let ended = record::Ended { record: &record, what: record::What::of(&record), start: ticks, amount: Some(amount) };
        self.0.begin(row, &ended);
        self.0.finish(row, Some(ticks));
    }

    /// The chunk that it writes now.
    pub fn chunk(&self) -> Option<usize> {
        self.0.open_chunk()
    }

    /// [`long_history::Writer::close`].
    pub fn finish(&self) {
        self.0.close();
    }
}

/// [`record::read`] of the first record of the long history: start and amount of its row.
pub fn read_long(region: &Region<'_>) -> Found {
    record::read(&region.arrays::<RECORD>(Section::LongRecords)[0]).into()
}

/// [`long_history::owner_of`] the first record of the long history: the number of its chunk, and the THREAD_ID and the base of who wrote it.
/// None if the record is not whole, or nobody knows any more.
pub fn read_long_owner(region: &Region<'_>) -> Option<(u64, u64, u64)> {
    let record::Read::Whole(row) = record::read(&region.arrays::<RECORD>(Section::LongRecords)[0]) else { return None };
    let owner = long_history::owner_of(&region.arrays::<CHUNK>(Section::LongChunks)[0], &row)?;
    Some((row.sequence.number(), owner.thread_id, owner.base.number()))
}

/// Rows that the long history lost.
pub fn lost_long(region: &Region<'_>) -> u64 {
    region.lost(Lost::HistoryLongRows)
}

/// [`source::intern`] of the caller's line; the place that it got.
#[track_caller]
pub fn intern(region: &Region<'_>) -> u16 {
    source::intern(region, core::panic::Location::caller()).0
}

/// [`source::source_text`].
pub fn source_text(region: &Region<'_>, source: u16) -> Option<crate::Text<64>> {
    source::source_text(region, source::Source(source))
}

/// The class of an index.
pub fn class(index: u16) -> Class {
    Class(index)
}

/// What a reader finds in the only place for a mutex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutex {
    /// No mutex.
    None,
    /// Another one came or went, or its holder counted, while it was read.
    Changed,
    /// Class, address, sums.
    Live(usize, u64, Summary),
}

/// The only mutex of a region, and the sums of its waits.
pub fn mutex(region: &Region<'_>) -> Mutex {
    let mut found = Mutex::None;
    let sweep = region.sweep_instance_sums(Section::MutexInstances, &mut |_, mutex, sums| {
        found = Mutex::Live(mutex.class.index(), mutex.address, *sums);
    });
    match (sweep.rows, sweep.free, sweep.changed) {
        (0, 0, 1) => Mutex::Changed,
        (1, 0, 0) | (0, 1, 0) => found,
        other => panic!("one place has one state: {other:?}"),
    }
}

/// [`crate::Instance::record_alone`]: the caller holds the mutex.
pub fn record_alone(instance: &crate::Instance<'_>, wait_ps: u64) {
    instance.record_alone(0, Some(wait_ps));
}

/// The rows of `file_instances`, when nobody changes them: name and OPEN_COUNT.
pub fn file_rows(region: &Region<'_>) -> Vec<(std::string::String, u64)> {
    let mut rows = Vec::new();
    let sweep = region.sweep_files(|_| Some(()), |found, ()| rows.push((found.file_name.as_str().into(), found.open_count)));
    assert_eq!(sweep.changed, 0, "nobody changes them");
    rows
}

/// Counts a read as the thread that writes the file's sums with plain stores, and returns their version then.
pub fn count_as_owner(region: &Region<'_>, id: crate::FileId) -> u64 {
    crate::file::count_as_owner(region, id)
}

/// How many places of files are taken, and how many are in buckets.
pub fn files_used(region: &Region<'_>) -> (u64, usize) {
    let buckets = region.section(Section::FileIndex).iter();
    let linked = buckets.map(|word| file::bucket::places(word.get()).count()).sum();
    (region.setup()[setup::word::FILES_USED].get(), linked)
}
