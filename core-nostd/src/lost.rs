//! The `…_lost` counters: everything that found no room is counted here, in exactly one place.

use crate::region::{Region, Section};
use crate::sync::{Ordering, Word};

macro_rules! lost {
    ($($(#[doc = $doc:literal])* $name:ident = $variable:literal;)*) => {
        /// What can be lost because a pool is full; the variant's documentation is the meaning of its status variable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(usize)]
        pub enum Lost { $($(#[doc = $doc])* $name,)* }

        impl Lost {
            /// All counters, in the order in which `global_status` shows them.
            pub const ALL: &'static [Lost] = &[$(Lost::$name,)*];

            /// The status variable's name, for example `Performance_schema_mutex_classes_lost`.
            pub const fn variable(self) -> &'static str {
                match self { $(Lost::$name => $variable,)* }
            }

            /// What it counts.
            pub(crate) fn doc(self) -> &'static str {
                match self { $(Lost::$name => concat!($($doc),*).trim_ascii_start(),)* }
            }
        }
    };
}

lost! {
    /// Mutex instruments that could not be registered.
    MutexClasses = "Performance_schema_mutex_classes_lost";
    /// Read-write lock instruments that could not be registered.
    RwlockClasses = "Performance_schema_rwlock_classes_lost";
    /// Condition variable instruments that could not be registered.
    CondClasses = "Performance_schema_cond_classes_lost";
    /// Other synchronization instruments, and those of ordinary waits, that could not be registered.
    SynchClasses = "Performance_schema_synch_classes_lost";
    /// File instruments that could not be registered.
    FileClasses = "Performance_schema_file_classes_lost";
    /// Socket instruments that could not be registered.
    SocketClasses = "Performance_schema_socket_classes_lost";
    /// Stage instruments that could not be registered.
    StageClasses = "Performance_schema_stage_classes_lost";
    /// Statement instruments that could not be registered.
    StatementClasses = "Performance_schema_statement_classes_lost";
    /// The instrument of transactions, which could not be registered.
    TransactionClasses = "Performance_schema_transaction_classes_lost";
    /// Memory instruments that could not be registered.
    MemoryClasses = "Performance_schema_memory_classes_lost";
    /// Mutexes that found no place. Their waits count by thread and event name, not by instance.
    MutexInstances = "Performance_schema_mutex_instances_lost";
    /// Read-write locks that found no place.
    RwlockInstances = "Performance_schema_rwlock_instances_lost";
    /// Condition variables that found no place.
    CondInstances = "Performance_schema_cond_instances_lost";
    /// Other synchronization objects that found no place.
    SynchInstances = "Performance_schema_synch_instances_lost";
    /// Uses of files that found no place. Their waits count by thread and event name, not by instance, and their names are not shown.
    FileInstances = "Performance_schema_file_instances_lost";
    /// Sockets that found no place. Their waits count by thread and event name, not by instance.
    SocketInstances = "Performance_schema_socket_instances_lost";
    /// Threads that found no slot. Their waits still count in the global summary and in histograms.
    ThreadInstances = "Performance_schema_thread_instances_lost";
    /// Events that were neither visible nor kept in a history, because more events ran in one thread at one time than it has records.
    /// They count in the sums.
    NestedEvents = "Performance_schema_nested_events_lost";
    /// Events of signal handlers that interrupted one another in the middle of a record, deeper than there are levels. They are recorded
    /// nowhere.
    NestedLevels = "Performance_schema_nested_levels_lost";
    /// Events that did not enter the long history because every part of it was being filled by another thread.
    HistoryLongRows = "Performance_schema_events_waits_history_long_lost";
    /// The same for stages.
    StageHistoryLongRows = "Performance_schema_events_stages_history_long_lost";
    /// Statements whose digests found no place. They are in the row that has none.
    StatementDigests = "Performance_schema_digest_lost";
    /// Statements that did not enter the long history, as waits.
    StatementHistoryLongRows = "Performance_schema_events_statements_history_long_lost";
    /// Transactions that did not enter the long history, as waits.
    TransactionHistoryLongRows = "Performance_schema_events_transactions_history_long_lost";
    /// Source locations that found no place; SOURCE is NULL. A thread counts each once, or again if it has met others since.
    SourceLocations = "Performance_schema_source_locations_lost";
    /// Metrics that could not be registered.
    Metrics = "Performance_schema_metrics_lost";
}

impl Region<'_> {
    /// How much was lost in all, and how much of that before the last `FLUSH STATUS`.
    fn lost_words(&self, lost: Lost) -> Option<&[Word; 2]> {
        self.arrays::<2>(Section::LostCounters).get(lost as usize)
    }

    /// Counts one loss: for adapters, of what they could not even begin to record. A read-modify-write, which is fine here: it happens only
    /// when something is full.
    #[cold]
    #[inline(never)]
    pub fn count_lost(&self, lost: Lost) {
        if let Some([total, _]) = self.lost_words(lost) {
            // Relaxed: a count that nothing depends on.
            total.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// One less: what was counted was not lost.
    pub(crate) fn take_back_lost(&self, lost: Lost) {
        if let Some([total, flushed]) = self.lost_words(lost) {
            // Not if it was flushed meanwhile, or forgotten by a fork: it would be one of the next.
            let flushed = flushed.whole();
            total.update(|count| if count > flushed { count - 1 } else { count });
        }
    }

    /// How much was lost since the start or the last [`flush_status`](Self::flush_status).
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # const SIZES: Config = Config::SMALL.with(Size::MaxMutexClasses, 1);
    /// # static MEMORY: StaticRegion<{ SIZES.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &SIZES, &Identity::default(), &timer::Timers::calibrate())?;
    /// region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// assert!(region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_close"), Setting::ON).is_err());
    /// region.count_lost(Lost::MutexClasses);
    /// assert_eq!(region.lost(Lost::MutexClasses), 2);
    /// assert_eq!(Lost::MutexClasses.variable(), "Performance_schema_mutex_classes_lost");
    /// region.flush_status();
    /// assert!(Lost::ALL.iter().all(|lost| region.lost(*lost) == 0));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn lost(&self, lost: Lost) -> u64 {
        // Not below 0: the one may be older than the other.
        self.lost_words(lost).map_or(0, |[total, flushed]| total.whole().saturating_sub(flushed.whole()))
    }

    /// The same since the start.
    pub(crate) fn lost_in_all(&self, lost: Lost) -> u64 {
        self.lost_words(lost).map_or(0, |[total, _]| total.whole())
    }

    /// `FLUSH STATUS`: sets the lost counters to zero, as shipped MySQL does. Their metrics show what they showed.
    pub fn flush_status(&self) {
        for [total, flushed] in self.arrays::<2>(Section::LostCounters) {
            flushed.swap(total.whole(), Ordering::Relaxed);
        }
    }
}
