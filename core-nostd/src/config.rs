//! Every size of a region, once: MySQL's variable names, defaults, limits.
//!
//! Sizes are set when a region is made and never change. When a pool is full, what does not fit goes unrecorded and a
//! counter in `global_status` goes up; nothing fails. The names follow the server variables of WL#2360 and of shipped MySQL.

use crate::options::same_name;
use crate::sync::Word;

/// Why a [`Config`] was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A size above what the region's format can address.
    TooLarge {
        /// The size in question.
        size: Size,
        /// What was asked for.
        value: u64,
        /// The largest value that is accepted.
        limit: u32,
    },
}

impl core::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            ConfigError::TooLarge { size, value, limit } => {
                write!(f, "{} = {value} is too large, expected at most {limit}", size.variable())
            }
        }
    }
}

impl core::error::Error for ConfigError {}

macro_rules! sizes {
    ($($(#[$doc:meta])* $name:ident = $variable:literal, default $default:literal, limit $limit:literal;)*) => {
        /// One size of a region; the variant's documentation is the meaning of its variable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(usize)]
        pub enum Size { $($(#[$doc])* $name,)* }

        impl Size {
            /// All sizes, in the order in which `global_variables` shows them.
            pub const ALL: &'static [Size] = &[$(Size::$name,)*];
            const DEFAULTS: [u32; Size::COUNT] = [$($default,)*];
            const LIMITS: [u32; Size::COUNT] = [$($limit,)*];

            /// The variable's name, for example `performance_schema_max_mutex_classes`.
            pub const fn variable(self) -> &'static str {
                match self { $(Size::$name => $variable,)* }
            }
        }
    };
}

sizes! {
    /// Mutex instruments (`wait/synch/mutex/…`) that can be registered.
    MaxMutexClasses = "performance_schema_max_mutex_classes", default 128, limit 1024;
    /// Read-write lock instruments (`wait/synch/rwlock/…`) that can be registered.
    MaxRwlockClasses = "performance_schema_max_rwlock_classes", default 64, limit 1024;
    /// Condition variable instruments (`wait/synch/cond/…`) that can be registered.
    MaxCondClasses = "performance_schema_max_cond_classes", default 32, limit 1024;
    /// Other synchronization instruments (`wait/synch/semaphore/…`, `wait/synch/once/…` and the like), and those of ordinary waits
    /// (`wait/lock/…`, `wait/app/…` and the like), that can be registered.
    MaxSynchClasses = "performance_schema_max_synch_classes", default 32, limit 1024;
    /// File instruments (`wait/io/file/…`) that can be registered.
    MaxFileClasses = "performance_schema_max_file_classes", default 80, limit 1024;
    /// Socket instruments (`wait/io/socket/…`) that can be registered.
    MaxSocketClasses = "performance_schema_max_socket_classes", default 10, limit 1024;
    /// Stage instruments (`stage/…`) that can be registered.
    MaxStageClasses = "performance_schema_max_stage_classes", default 32, limit 1024;
    /// Statement instruments (`statement/…`) that can be registered.
    MaxStatementClasses = "performance_schema_max_statement_classes", default 16, limit 1024;
    /// Whether there is the instrument `transaction`: 1, or 0.
    MaxTransactionClasses = "performance_schema_max_transaction_classes", default 1, limit 1;
    /// Memory instruments (`memory/…`) that can be registered.
    MaxMemoryClasses = "performance_schema_max_memory_classes", default 32, limit 1024;
    /// Mutexes known at one time.
    MaxMutexInstances = "performance_schema_max_mutex_instances", default 4096, limit 1048576;
    /// Read-write locks known at one time.
    MaxRwlockInstances = "performance_schema_max_rwlock_instances", default 2048, limit 1048576;
    /// Condition variables known at one time.
    MaxCondInstances = "performance_schema_max_cond_instances", default 1024, limit 1048576;
    /// Other synchronization objects known at one time.
    MaxSynchInstances = "performance_schema_max_synch_instances", default 512, limit 1048576;
    /// Files known at one time.
    MaxFileInstances = "performance_schema_max_file_instances", default 1024, limit 65535;
    /// Sockets known at one time.
    MaxSocketInstances = "performance_schema_max_socket_instances", default 1024, limit 1048576;
    /// Threads (or other actors) that can be recorded at one time.
    MaxThreadInstances = "performance_schema_max_thread_instances", default 256, limit 65536;
    /// Ended waits kept for each thread.
    EventsWaitsHistorySize = "performance_schema_events_waits_history_size", default 10, limit 1024;
    /// Ended waits kept over all threads.
    EventsWaitsHistoryLongSize = "performance_schema_events_waits_history_long_size", default 10000, limit 1048576;
    /// Ended stages kept for each thread.
    EventsStagesHistorySize = "performance_schema_events_stages_history_size", default 10, limit 1024;
    /// Ended stages kept over all threads.
    EventsStagesHistoryLongSize = "performance_schema_events_stages_history_long_size", default 10000, limit 1048576;
    /// Ended statements kept for each thread.
    EventsStatementsHistorySize = "performance_schema_events_statements_history_size", default 10, limit 1024;
    /// Ended statements kept over all threads. A tenth of MySQL's, because each has its text, and a region that is shared is memory at once.
    EventsStatementsHistoryLongSize = "performance_schema_events_statements_history_long_size", default 1000, limit 1048576;
    /// Ended transactions kept for each thread.
    EventsTransactionsHistorySize = "performance_schema_events_transactions_history_size", default 10, limit 1024;
    /// Ended transactions kept over all threads. A tenth of MySQL's, as of statements.
    EventsTransactionsHistoryLongSize = "performance_schema_events_transactions_history_long_size", default 1000, limit 1048576;
    /// Bytes that are kept of the text of a statement; rounded up to a multiple of 8. With 0 there are no digests either.
    MaxSqlTextLength = "performance_schema_max_sql_text_length", default 1024, limit 1024;
    /// Statements that can be told apart by their digests; one place is for all others.
    DigestsSize = "performance_schema_digests_size", default 500, limit 1048576;
    /// Histograms, one for each pair of a thread and an instrument that has waited. Pairs that find none share one for each instrument, which
    /// is slower; with 0 there is none at all.
    MaxWaitHistograms = "performance_schema_max_wait_histograms", default 512, limit 65534;
    /// Source lines that can be told apart; rounded up to a power of two.
    MaxSourceLocations = "performance_schema_max_source_locations", default 1024, limit 32768;
    /// Rows of `setup_actors`.
    SetupActorsSize = "performance_schema_setup_actors_size", default 100, limit 1024;
    /// Metrics (`innodb_metrics`) that can be registered.
    MaxMetrics = "performance_schema_max_metrics", default 128, limit 4096;
}

impl Size {
    /// How many sizes there are.
    pub const COUNT: usize = Size::ALL.len();

    /// The size whose variable is `name`, with or without the prefix `performance_schema_`, in any letter case,
    /// dashes or underscores.
    ///
    /// ```
    /// use perfschema_core::Size;
    /// assert_eq!(Size::from_variable("performance-schema-max-mutex-classes"), Some(Size::MaxMutexClasses));
    /// assert_eq!(Size::from_variable("max_mutex_classes"), Some(Size::MaxMutexClasses));
    /// assert_eq!(Size::from_variable("max_unicorns"), None);
    /// ```
    pub fn from_variable(name: &str) -> Option<Size> {
        Size::ALL
            .iter()
            .copied()
            .find(|size| same_name(name, size.variable()) || same_name(name, &size.variable()["performance_schema_".len()..]))
    }
}

/// The sizes of a region.
///
/// ```
/// use perfschema_core::{Config, Size};
/// const SMALL: Config = Config::SMALL.with(Size::MaxThreadInstances, 4);
/// const WORDS: usize = SMALL.words();
/// assert!(WORDS * 8 < 128 * 1024, "{} bytes", WORDS * 8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config([u32; Size::COUNT]);

impl Config {
    /// What a server starts with: 256 instruments of locks, 80 of files and 10 of sockets, 256 threads, history of 10 and 10 000.
    pub const DEFAULT: Config = Config(Size::DEFAULTS);

    /// What a small program or a microcontroller starts with; every pool has a handful of places, but for histograms, statements and
    /// transactions, each of which takes more than a microcontroller has for them: there is none until [`Size::MaxWaitHistograms`],
    /// [`Size::MaxStatementClasses`] and [`Size::MaxTransactionClasses`] say so.
    pub const SMALL: Config = Config([4; Size::COUNT])
        .with(Size::EventsWaitsHistoryLongSize, 16)
        .with(Size::EventsStagesHistoryLongSize, 16)
        .with(Size::MaxStatementClasses, 0)
        .with(Size::EventsStatementsHistoryLongSize, 0)
        .with(Size::MaxTransactionClasses, 0)
        .with(Size::EventsTransactionsHistoryLongSize, 0)
        .with(Size::DigestsSize, 0)
        .with(Size::MaxSqlTextLength, 64)
        .with(Size::MaxWaitHistograms, 0)
        .with(Size::MaxSourceLocations, 16)
        .with(Size::SetupActorsSize, 1);

    /// No place for anything: a start for those who set every size.
    pub const EMPTY: Config = Config([0; Size::COUNT]);

    /// One size.
    pub const fn get(&self, size: Size) -> u32 {
        self.0[size as usize]
    }

    /// The same sizes but one.
    ///
    /// # Panics
    /// If `value` is above the limit of that size; in a constant, that is a compile error. [`try_set`](Self::try_set) for the rest.
    ///
    /// ```
    /// use perfschema_core::{Config, Size};
    /// /// A region without files, of a size that the compiler knows.
    /// const CONFIG: Config = Config::SMALL.with(Size::MaxFileClasses, 0).with(Size::MaxFileInstances, 0);
    /// const _: () = assert!(CONFIG.size_bytes() == CONFIG.words() * 8 && CONFIG.size_bytes() <= 60 * 1024);
    /// assert_eq!((CONFIG.get(Size::MaxFileInstances), CONFIG.get(Size::MaxMutexInstances)), (0, 4));
    /// ```
    pub const fn with(mut self, size: Size, value: u32) -> Config {
        assert!(value <= Size::LIMITS[size as usize], "size above its limit");
        self.0[size as usize] = value;
        self
    }

    /// Changes one size.
    ///
    /// # Errors
    /// [`ConfigError::TooLarge`], and nothing is changed.
    ///
    /// ```
    /// use perfschema_core::{Config, ConfigError, Size};
    /// let mut config = Config::DEFAULT;
    /// let size = Size::from_variable("performance-schema-max-file-instances").unwrap();
    /// config.try_set(size, 65_535)?;
    /// assert_eq!(config.try_set(size, 65_536), Err(ConfigError::TooLarge { size, value: 65_536, limit: 65_535 }));
    /// assert_eq!(config.get(size), 65_535);
    /// # Ok::<(), ConfigError>(())
    /// ```
    pub fn try_set(&mut self, size: Size, value: u64) -> Result<(), ConfigError> {
        let limit = Size::LIMITS[size as usize];
        match u32::try_from(value) {
            Ok(fits) if fits <= limit => {
                self.0[size as usize] = fits;
                Ok(())
            }
            _ => Err(ConfigError::TooLarge { size, value, limit }),
        }
    }

    /// A size as a region keeps it; 0 where no region has such a size. What sections there are the directory says.
    #[inline]
    pub(crate) fn kept(sizes: &[Word], size: Size) -> u32 {
        let kept = sizes.get(size as usize).and_then(|word| u32::try_from(word.get()).ok());
        kept.filter(|kept| Size::LIMITS.get(size as usize).is_some_and(|limit| kept <= limit)).unwrap_or(0)
    }

    /// How many 64-bit words a region of these sizes takes: the number to give to a `static`. `usize::MAX` if there are more.
    pub const fn words(&self) -> usize {
        crate::region::Layout::of(self).total_words()
    }

    /// How many bytes a region of these sizes takes, all tables and names in it. `usize::MAX` if there are more, as a machine of 32 bits
    /// has it of the largest sizes.
    pub const fn size_bytes(&self) -> usize {
        self.words().saturating_mul(8)
    }
}

impl Default for Config {
    fn default() -> Self {
        Config::DEFAULT
    }
}
