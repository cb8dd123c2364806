//! Which sections a region has, how long their entries are, and where each one starts.

use crate::config::{Config, Size};
use crate::histogram::{BUCKET_COUNT, TICK_BUCKETS};
use crate::lost::Lost;
use crate::wait_histogram;

/// Words of a cache line: sections start on one, so that two sections never share it.
const LINE: usize = 8;

/// Words of an event record: two cache lines, the first holds all that a wait of a lock writes.
pub(crate) const RECORD: usize = 16;
/// A line, so that no two threads write one.
pub(crate) const CHUNK: usize = 8;
/// Words of a summary of one actor and one instrument: one cache line.
pub(crate) const STAT: usize = 8;
/// Words of what such a summary keeps for the table that was truncated less recently.
pub(crate) const CARRY: usize = 4;
/// Words of an instrument class: identity and settings. Its switch is in a section of its own.
pub(crate) const CLASS: usize = 20;
/// Words of an actor's slot.
pub(crate) const SLOT: usize = 64;
/// Words of an instance of a lock: two cache lines.
pub(crate) const INSTANCE: usize = 16;
/// Words of a file: an instance, its sums twice, and 512 bytes of path.
pub(crate) const FILE: usize = 136;
/// Words of a socket: an instance, and its sums twice.
pub(crate) const SOCKET: usize = crate::io::PLACE;
/// Words of the sums of a file or a socket, or of one actor and one instrument of those: reads, writes, everything else.
pub(crate) const IO_SUMS: usize = 24;
/// Words of the memory of one actor and one instrument: three cache lines, the first two hold all that a change writes.
pub(crate) const MEMORY: usize = 24;
/// Words of the memory of one instrument that no actor owns: one cache line.
pub(crate) const SHARED_MEMORY: usize = 8;
/// Words of a source location.
pub(crate) const SOURCE: usize = 10;
/// Words of a row of `setup_actors`.
pub(crate) const SETUP_ACTOR: usize = 64;
/// Words of a timer's calibration.
pub(crate) const TIMER: usize = 4;
/// Words of the header.
pub(crate) const HEADER: usize = 64;
/// Words of the settings that are not of one instrument.
pub(crate) const SETUP: usize = 24;
/// Words of a metric: one cache line.
pub(crate) const METRIC: usize = 8;
/// Words of its name, subsystem and comment.
pub(crate) const METRIC_TEXTS: usize = 32;
/// Words of it that several threads write: one cache line.
pub(crate) const METRIC_SHARED: usize = 8;
/// Words of the counts of eight metrics by one actor: one cache line.
pub(crate) const METRIC_SUMS: usize = LINE;
/// Words of what a statement's record has besides that of every event: its figures, error and schema. Its text is in a section of its own.
pub(crate) const STATEMENT: usize = 48;
/// Words of the figures of one actor and one instrument of statements: each twice, the second for the table truncated less recently.
pub(crate) const STATEMENT_STAT: usize = 40;
/// Words of the figures of one instrument of statements that no actor owns.
pub(crate) const SHARED_STATEMENT_STAT: usize = 24;
/// Words of what a transaction's record has besides that of every event.
pub(crate) const TRANSACTION: usize = 24;
/// Words of the sums of statements that are alike.
pub(crate) const DIGEST: usize = 40;
/// Words of a directory entry.
pub(crate) const DIRECTORY_ENTRY: usize = 4;

macro_rules! sections {
    ($($(#[$doc:meta])* $name:ident: $stride:expr, |$config:ident| $count:expr;)*) => {
        /// The parts of a region; the discriminant is the kind in the directory, and says which of them it is within one layout version only.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(usize)]
        pub(crate) enum Section { $($(#[$doc])* $name,)* }

        impl Section {
            pub(crate) const ALL: &'static [Section] = &[$(Section::$name,)*];
            pub(crate) const COUNT: usize = Section::ALL.len();

            /// Words of one entry.
            pub(crate) const fn stride(self) -> usize {
                match self { $(Section::$name => $stride,)* }
            }

            /// Entries in a region of these sizes.
            const fn entries(self, config: &Config) -> usize {
                match self { $(Section::$name => { let $config = config; $count })* }
            }
        }
    };
}

sections! {
    /// Magic, version, identity of the process, the counters that all threads share.
    Header: HEADER, |_c| 1;
    /// Where the sections are.
    Directory: DIRECTORY_ENTRY, |_c| Section::COUNT;
    /// The configured sizes, in the order of [`Size::ALL`].
    Sizes: 1, |_c| Size::COUNT;
    /// The `…_lost` counters, in the order of [`Lost::ALL`]: since the start, and before the last FLUSH STATUS.
    LostCounters: 2, |_c| Lost::ALL.len();
    /// The five timers: frequency, multiplier, epoch; whether it is the processor's counter, and the error of the frequency.
    Timers: TIMER, |_c| 5;
    /// Consumers, chosen timers, epochs.
    Setup: SETUP, |_c| 1;
    /// Rows of `setup_actors`.
    SetupActors: SETUP_ACTOR, |c| size(c, Size::SetupActorsSize);
    /// The effective switches of each class: the one word that an instrumentation point loads.
    Switches: 1, |c| event_classes(c) + size(c, Size::MaxMemoryClasses);
    /// Names and settings of the classes.
    Classes: CLASS, |c| event_classes(c) + size(c, Size::MaxMemoryClasses);
    /// Source locations, a hash table keyed by their address.
    Sources: SOURCE, |c| sources(c);
    /// Summaries that no actor owns: of threads without a slot, and while `thread_instrumentation` is off.
    SharedStats: STAT, |c| event_classes(c);
    /// The actors: identity and state.
    Slots: SLOT, |c| size(c, Size::MaxThreadInstances);
    /// Records of their waits, [`ring_len`] for each.
    Rings: RECORD, |c| size(c, Size::MaxThreadInstances).saturating_mul(ring_len(c));
    /// Summaries by actor and class.
    Stats: STAT, |c| size(c, Size::MaxThreadInstances).saturating_mul(event_classes(c));
    /// What those summaries keep for the table truncated less recently.
    Carries: CARRY, |c| size(c, Size::MaxThreadInstances).saturating_mul(event_classes(c));
    /// Mutexes.
    MutexInstances: INSTANCE, |c| size(c, Size::MaxMutexInstances);
    /// Read-write locks.
    RwlockInstances: INSTANCE, |c| size(c, Size::MaxRwlockInstances);
    /// Condition variables.
    CondInstances: INSTANCE, |c| size(c, Size::MaxCondInstances);
    /// Other synchronization objects.
    SynchInstances: INSTANCE, |c| size(c, Size::MaxSynchInstances);
    /// Files.
    FileInstances: FILE, |c| size(c, Size::MaxFileInstances);
    /// Buckets of files by their paths.
    FileIndex: 1, |c| crate::file::bucket_count(size(c, Size::MaxFileInstances));
    /// Sums of io by actor and instrument of files.
    FileStats: IO_SUMS, |c| size(c, Size::MaxThreadInstances).saturating_mul(size(c, Size::MaxFileClasses));
    /// Sums of io that no actor owns.
    SharedFileStats: IO_SUMS, |c| size(c, Size::MaxFileClasses);
    /// Sockets.
    SocketInstances: SOCKET, |c| size(c, Size::MaxSocketInstances);
    /// Sums of io by actor and instrument of sockets.
    SocketStats: IO_SUMS, |c| size(c, Size::MaxThreadInstances).saturating_mul(size(c, Size::MaxSocketClasses));
    /// Sums of io of sockets that no actor owns.
    SharedSocketStats: IO_SUMS, |c| size(c, Size::MaxSocketClasses);
    /// Who fills which chunk of the long history.
    LongChunks: CHUNK, |c| long_chunks(c, Size::EventsWaitsHistoryLongSize);
    /// The records of the long history.
    LongRecords: RECORD, |c| long_records(c, Size::EventsWaitsHistoryLongSize);
    /// Histograms, each of one actor and one class: the buckets of waits that are not long.
    Histograms: wait_histogram::SHORT, |c| size(c, Size::MaxWaitHistograms);
    /// By class, waits of all lengths that are in no actor's own histogram, less what the actors' held when their table was truncated.
    SharedHistograms: BUCKET_COUNT, |c| if size(c, Size::MaxWaitHistograms) == 0 { 0 } else { classes(c) };
    /// Memory by actor and instrument of memory.
    MemoryStats: MEMORY, |c| size(c, Size::MaxThreadInstances).saturating_mul(size(c, Size::MaxMemoryClasses));
    /// Memory that no actor owns.
    SharedMemoryStats: SHARED_MEMORY, |c| size(c, Size::MaxMemoryClasses);
    /// Records of the actors' stages: their histories, and the stage that runs. None where there are no instruments of stages.
    StageRings: RECORD, |c| size(c, Size::MaxThreadInstances).saturating_mul(stage_ring_len(c));
    /// Who fills which chunk of the long history of stages.
    StageLongChunks: CHUNK, |c| long_chunks(c, Size::EventsStagesHistoryLongSize);
    /// Its records.
    StageLongRecords: RECORD, |c| long_records(c, Size::EventsStagesHistoryLongSize);
    /// Records of the actors' statements, as those of waits. None where there are no instruments of statements.
    StatementRings: RECORD, |c| statement_records(c);
    /// What those records have besides, each that of the record of its index.
    StatementDetails: STATEMENT, |c| statement_records(c);
    /// Their texts.
    StatementTexts: 1, |c| statement_records(c).saturating_mul(statement_text_words(c));
    /// Who fills which chunk of the long history of statements.
    StatementLongChunks: CHUNK, |c| long_chunks(c, Size::EventsStatementsHistoryLongSize);
    /// Its records.
    StatementLongRecords: RECORD, |c| long_records(c, Size::EventsStatementsHistoryLongSize);
    /// What those have besides.
    StatementLongDetails: STATEMENT, |c| long_records(c, Size::EventsStatementsHistoryLongSize);
    /// Their texts.
    StatementLongTexts: 1, |c| long_records(c, Size::EventsStatementsHistoryLongSize).saturating_mul(statement_text_words(c));
    /// Figures of statements by actor and instrument.
    StatementStats: STATEMENT_STAT, |c| size(c, Size::MaxThreadInstances).saturating_mul(size(c, Size::MaxStatementClasses));
    /// Figures of statements that no actor owns.
    SharedStatementStats: SHARED_STATEMENT_STAT, |c| size(c, Size::MaxStatementClasses);
    /// Statements that are alike: what they are called, and their sums.
    StatementDigests: DIGEST, |c| size(c, Size::DigestsSize);
    /// A text of each.
    StatementDigestTexts: 1, |c| size(c, Size::DigestsSize).saturating_mul(statement_text_words(c));
    /// Metrics: the region's own, then those that are registered.
    Metrics: METRIC, |c| crate::metric::places(size(c, Size::MaxMetrics));
    /// What the registered ones are called.
    MetricTexts: METRIC_TEXTS, |c| size(c, Size::MaxMetrics);
    /// Of the registered ones what no actor owns: values, and the counts of threads without a slot.
    SharedMetrics: METRIC_SHARED, |c| size(c, Size::MaxMetrics);
    /// The counts of each actor, a word for each registered metric.
    MetricSums: METRIC_SUMS, |c| size(c, Size::MaxThreadInstances).saturating_mul(size(c, Size::MaxMetrics).div_ceil(METRIC_SUMS));
    /// What the variables `innodb_monitor_…` were set to last.
    LastMonitors: 1, |_c| crate::metric::MonitorCommand::ALL.len();
    /// Which bucket of a histogram counts so many ticks of CYCLE.
    TickBuckets: 1, |c| if size(c, Size::MaxWaitHistograms) == 0 { 0 } else { TICK_BUCKETS };
    /// What actors without a slot have in its place: nobody's, and only the mask in it says something.
    NoSlot: SLOT, |_c| 1;
    /// Records of the actors' transactions, as those of statements. None where there is no instrument of them.
    TransactionRings: RECORD, |c| transaction_records(c);
    /// What those records have besides, each that of the record of its index.
    TransactionDetails: TRANSACTION, |c| transaction_records(c);
    /// Who fills which chunk of the long history of transactions.
    TransactionLongChunks: CHUNK, |c| long_chunks(c, Size::EventsTransactionsHistoryLongSize);
    /// Its records.
    TransactionLongRecords: RECORD, |c| long_records(c, Size::EventsTransactionsHistoryLongSize);
    /// What those have besides.
    TransactionLongDetails: TRANSACTION, |c| long_records(c, Size::EventsTransactionsHistoryLongSize);
}

const fn size(config: &Config, size: Size) -> usize {
    config.get(size) as usize
}

/// Instrument classes of all events: those of stages are behind those of waits, then those of statements, then that of transactions; behind
/// them those of memory.
pub(crate) const fn event_classes(config: &Config) -> usize {
    classes(config)
        + size(config, Size::MaxStageClasses)
        + size(config, Size::MaxStatementClasses)
        // Two places for the sums: behind the instrument there is one that nobody registers.
        + 2 * size(config, Size::MaxTransactionClasses)
}

/// Instrument classes of all kinds of waits together; each kind has a run of them, but for ordinary waits, which are among `synch`.
pub(crate) const fn classes(config: &Config) -> usize {
    size(config, Size::MaxMutexClasses)
        + size(config, Size::MaxRwlockClasses)
        + size(config, Size::MaxCondClasses)
        + size(config, Size::MaxSynchClasses)
        + size(config, Size::MaxFileClasses)
        + size(config, Size::MaxSocketClasses)
        // The instrument `idle`.
        + 1
}

const fn sources(config: &Config) -> usize {
    match size(config, Size::MaxSourceLocations) {
        0 => 0,
        n => n.next_power_of_two(),
    }
}

/// Events that one actor can have running at the same time (an event, the waits within it, …), and show, without one of its history's rows.
pub(crate) const RUNNING: usize = if cfg!(perfschema_loom) { 1 } else { 6 };

/// Records of one actor: its history, and room for the events that run.
pub(crate) const fn ring_len(config: &Config) -> usize {
    size(config, Size::EventsWaitsHistorySize) + RUNNING
}

/// Records of one actor's stages: its history, and the one that runs.
const fn stage_ring_len(config: &Config) -> usize {
    match size(config, Size::MaxStageClasses) {
        0 => 0,
        _ => size(config, Size::EventsStagesHistorySize) + 1,
    }
}

/// Records of all actors' statements.
const fn statement_records(config: &Config) -> usize {
    match size(config, Size::MaxStatementClasses) {
        0 => 0,
        _ => size(config, Size::MaxThreadInstances).saturating_mul(size(config, Size::EventsStatementsHistorySize) + RUNNING),
    }
}

/// Records of all actors' transactions.
const fn transaction_records(config: &Config) -> usize {
    match size(config, Size::MaxTransactionClasses) {
        0 => 0,
        _ => size(config, Size::MaxThreadInstances).saturating_mul(size(config, Size::EventsTransactionsHistorySize) + RUNNING),
    }
}

/// Words of the text of a statement.
const fn statement_text_words(config: &Config) -> usize {
    size(config, Size::MaxSqlTextLength).div_ceil(8)
}

/// Records that an actor reserves at once in the long history. The larger, the rarer two threads meet at the counter; but
/// every actor may hold one chunk unfinished, and those together may not be more than half of the history.
pub(crate) const fn long_chunk_len(config: &Config, history_long: Size) -> usize {
    let long = size(config, history_long);
    let threads = size(config, Size::MaxThreadInstances);
    if long == 0 || threads == 0 {
        return 1;
    }
    let fair = long / (2 * threads);
    match fair {
        0 | 1 => 1,
        n if n > 64 => 64,
        n => 1 << n.ilog2(),
    }
}

const fn long_chunks(config: &Config, history_long: Size) -> usize {
    size(config, history_long).div_ceil(long_chunk_len(config, history_long))
}

const fn long_records(config: &Config, history_long: Size) -> usize {
    long_chunks(config, history_long) * long_chunk_len(config, history_long)
}

/// Where one section is: in words from the start of the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) offset: usize,
    pub(crate) count: usize,
}

/// Where everything is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    places: [Place; Section::COUNT],
    total_words: usize,
}

impl Layout {
    /// The layout of a new region.
    pub(crate) const fn of(config: &Config) -> Layout {
        let mut places = [Place { offset: 0, count: 0 }; Section::COUNT];
        let mut offset = 0;
        let mut i = 0;
        while i < Section::COUNT {
            let section = Section::ALL[i];
            let count = section.entries(config);
            places[i] = Place { offset, count };
            // Saturating: on a machine of 32 bits the largest sizes are more than it can address, and more than any memory given.
            offset = match section.stride().saturating_mul(count).checked_next_multiple_of(LINE) {
                Some(words) => offset.saturating_add(words),
                None => usize::MAX,
            };
            i += 1;
        }
        Layout { places, total_words: offset }
    }

    pub(crate) const fn total_words(&self) -> usize {
        self.total_words
    }

    #[inline]
    pub(crate) const fn place(&self, section: Section) -> Place {
        self.places[section as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_start_on_a_line_and_do_not_overlap() {
        for config in [Config::DEFAULT, Config::SMALL, Config::EMPTY] {
            let layout = Layout::of(&config);
            let mut end = 0;
            for &section in Section::ALL {
                let place = layout.place(section);
                assert_eq!(place.offset % LINE, 0, "{section:?}");
                assert!(place.offset >= end, "{section:?}");
                end = place.offset + place.count * section.stride();
            }
            assert!(end <= layout.total_words());
        }
    }

    #[test]
    fn a_large_server_fits_in_32_mib() {
        let server = Config::DEFAULT
            .with(Size::MaxThreadInstances, 1000)
            .with(Size::MaxMemoryClasses, 0)
            .with(Size::MaxStageClasses, 0)
            .with(Size::EventsStagesHistoryLongSize, 0)
            .with(Size::MaxStatementClasses, 0)
            .with(Size::EventsStatementsHistoryLongSize, 0)
            .with(Size::MaxTransactionClasses, 0)
            .with(Size::EventsTransactionsHistoryLongSize, 0)
            .with(Size::DigestsSize, 0)
            .with(Size::MaxFileClasses, 0)
            .with(Size::MaxFileInstances, 0)
            .with(Size::MaxSocketClasses, 0)
            .with(Size::MaxSocketInstances, 0)
            .with(Size::MaxMetrics, 0);
        assert_eq!(classes(&server), 256 + 1);
        assert!(server.size_bytes() <= 32 << 20, "{} bytes", server.size_bytes());
        // An instrument of files or of sockets takes as much in every thread as three of locks.
        let with_files = server.with(Size::MaxFileClasses, 16).with(Size::MaxFileInstances, 1024);
        assert!(with_files.size_bytes() <= 40 << 20, "{} bytes", with_files.size_bytes());
    }

    /// Switches, and the records of events, have so many bits for a class.
    #[test]
    fn there_are_bits_for_every_class() {
        let mut most = Config::EMPTY;
        for size in Size::ALL.iter().filter(|size| size.variable().ends_with("_classes")) {
            // The limit: what is more is refused.
            let limit = (0..=u16::MAX.into()).rev().find(|value| most.try_set(*size, *value).is_ok());
            assert!(limit.is_some(), "{size:?}");
        }
        let classes = event_classes(&most) + size(&most, Size::MaxMemoryClasses);
        assert!((8_000..1 << crate::setup::Switches::CLASS_BITS).contains(&classes), "{classes}");
    }

    #[test]
    fn unfinished_chunks_are_at_most_half_of_the_long_history() {
        for long in [0, 1, 7, 100, 10_000] {
            for threads in [1, 3, 64, 1000] {
                let config = Config::EMPTY.with(Size::EventsWaitsHistoryLongSize, long).with(Size::MaxThreadInstances, threads);
                let chunk_len = long_chunk_len(&config, Size::EventsWaitsHistoryLongSize);
                let rows = long_records(&config, Size::EventsWaitsHistoryLongSize);
                assert!(rows >= long as usize && rows < long as usize + chunk_len);
                assert!(chunk_len == 1 || chunk_len * threads as usize * 2 <= long as usize);
            }
        }
    }
}
