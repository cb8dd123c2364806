//! Events counted and summed, by event name, and by thread and event name.
//!
//! By thread: copied from the owner's summary under its version. Global: added up over all slots, used now or earlier, and the sums that
//! belong to no thread.

use super::by_thread;
use crate::class::{self, Class};
use crate::event::{EventStore, TRANSACTIONS};
use crate::name::EventClass;
use crate::region::{CARRY, Region, SLOT, STAT, STATEMENT_STAT, Section, Text};
use crate::slot::{self, Owner, SlotWords};
use crate::stat::{self, Epochs, Figure, Shared, Summary, View};
use crate::statement::{self, Sizes, StatementStatistics};
use crate::sync::Word;
use crate::table::Sweep;
use crate::transaction::{self, AccessMode, TransactionSummary};
use perfschema_timer::TimerName;

/// The columns that every summary has, after those of its own.
macro_rules! summary_row {
    (
        $(#[$meta:meta])*
        pub struct $row:ident {
            $( #[doc = $doc:literal] $sql:ident as $field:ident: $type:ty, )*
            ..summary,
            $( #[doc = $doc_after:literal] $sql_after:ident as $field_after:ident: $type_after:ty, )*
            $( invisible, $( #[doc = $hidden_doc:literal] $hidden_sql:ident as $hidden:ident: $hidden_type:ty, )* )?
        }
    ) => {
        $crate::table::row! {
            $(#[$meta])*
            pub struct $row {
                $( #[doc = $doc] $sql as $field: $type, )*
                /// Number of events.
                COUNT_STAR as count_star: u64,
                /// Sum of the timed events, in picoseconds; after 2⁶⁴, 213 days of all threads together, it starts again at 0.
                SUM_TIMER_WAIT as sum_timer_wait: u64,
                /// The shortest timed event, in picoseconds; 0 if there was none.
                MIN_TIMER_WAIT as min_timer_wait: u64,
                /// Average of the timed events, in picoseconds: of their sum, so less than that once it has begun at 0 again.
                AVG_TIMER_WAIT as avg_timer_wait: u64,
                /// The longest timed event, in picoseconds.
                MAX_TIMER_WAIT as max_timer_wait: u64,
                $( #[doc = $doc_after] $sql_after as $field_after: $type_after, )*
                invisible,
                /// Number of timed events, which AVG_TIMER_WAIT divides by.
                COUNT_TIMER_WAIT as count_timer_wait: u64,
                $( $( #[doc = $hidden_doc] $hidden_sql as $hidden: $hidden_type, )* )?
            }
        }

        impl $row {
            #[allow(clippy::too_many_arguments, reason = "one argument a column")]
            fn new(
                $($field: $type,)*
                summary: &$crate::Summary,
                $($field_after: $type_after,)*
                $($($hidden: $hidden_type,)*)?
            ) -> $row {
                $row {
                    $($field,)*
                    count_star: summary.count,
                    sum_timer_wait: summary.sum_ps,
                    min_timer_wait: summary.min_ps,
                    avg_timer_wait: summary.avg_ps(),
                    max_timer_wait: summary.max_ps,
                    $($field_after,)*
                    count_timer_wait: summary.count_timed,
                    $($($hidden,)*)?
                }
            }
        }
    };
}
pub(super) use summary_row;

/// Delivers THREAD_ID, EVENT_NAME and the sums of each instrument in each thread, and what `figures` makes of those that they have besides.
pub(super) fn sweep_by_thread<T>(
    region: &Region<'_>,
    store: &EventStore,
    figures: impl Fn(&Look<'_>) -> T,
    mut each: impl FnMut(u64, Text<128>, &Summary, &T),
) -> Sweep {
    let sums = |slot: usize, words: &SlotWords, _: &Owner, class: Class| {
        read(region, (slot, words), store, class, View::Thread, &figures)
            .map(|(summary, figures, settled)| ((summary, figures), settled))
    };
    by_thread::sweep(region, region.event_classes(store), sums, |thread_id, name, (summary, figures)| {
        each(thread_id, name, summary, figures);
    })
}

/// The same of transactions: of those that may write, and of those that only read.
pub(super) fn sweep_transactions_by_thread(
    region: &Region<'_>,
    mut each: impl FnMut(u64, Text<128>, &TransactionSummary),
) -> Sweep {
    let sums = |slot: usize, words: &SlotWords, _: &Owner, class: Class| {
        let sums = |access_mode| {
            let class = transaction::sums_class(class, access_mode);
            read(region, (slot, words), &TRANSACTIONS, class, View::Thread, |_| ())
        };
        let (read_write, (), writers_settled) = sums(AccessMode::ReadWrite)?;
        let (read_only, (), readers_settled) = sums(AccessMode::ReadOnly)?;
        Some((TransactionSummary { read_write, read_only }, writers_settled && readers_settled))
    };
    by_thread::sweep(region, region.event_classes(&TRANSACTIONS), sums, |thread_id, name, sums| each(thread_id, name, sums))
}

/// One look at the sums of an instrument in a slot.
pub(super) struct Look<'a> {
    snapshot: &'a stat::Snapshot,
    view: View,
    epochs: Epochs,
    pub(super) slot: usize,
    pub(super) class: Class,
}

impl Look<'_> {
    /// One of the figures that those sums have besides.
    pub(super) fn figure(&self, figure: &Figure) -> u64 {
        self.snapshot.figure(figure, self.view, self.epochs)
    }
}

/// The sums of an instrument in a slot, what `figures` makes of those that they have besides, and whether both are whole.
fn read<T>(
    region: &Region<'_>,
    (slot, words): (usize, &SlotWords),
    store: &EventStore,
    class: Class,
    view: View,
    figures: impl Fn(&Look<'_>) -> T,
) -> Option<(Summary, T, bool)> {
    let stat = region.arrays_of::<STAT>(Section::Stats, slot).get(class.index())?;
    let carry = region.arrays_of::<CARRY>(Section::Carries, slot).get(class.index())?;
    let (snapshot, (epochs, figures)) = stat::read(region.patience(), stat, carry, |snapshot| {
        let epochs = slot::epochs(words, store);
        (epochs, figures(&Look { snapshot, view, epochs, slot, class }))
    });
    let sums = snapshot.view(view, epochs, || region.timer(TimerName::Cycle).conversion);
    Some((sums, figures, snapshot.settled))
}

/// TRUNCATE of the table by thread.
pub(super) fn truncate_by_thread(region: &Region<'_>, store: &EventStore) {
    bump_all(region, store, View::Thread);
}

/// TRUNCATE of the global table.
pub(super) fn truncate_global(region: &Region<'_>, store: &EventStore) {
    bump_all(region, store, View::Global);
    let shared = region.arrays::<STAT>(Section::SharedStats);
    for words in shared.get(class::of_events(region, store)).unwrap_or_default() {
        Shared::of(words).into_iter().for_each(Shared::reset);
    }
}

/// Figures of statements.
pub(super) fn statement_figures(region: &Region<'_>, look: &Look<'_>) -> StatementStatistics {
    let stats = region.arrays_of::<STATEMENT_STAT>(Section::StatementStats, look.slot);
    let figures = statement::figures(stats.get(Sizes::of(region).class_index(look.class.index())));
    statement::statistics(figures, |figure| look.figure(figure))
}

fn bump_all(region: &Region<'_>, store: &EventStore, view: View) {
    for words in region.arrays::<SLOT>(Section::Slots) {
        slot::bump_epoch(words, store, view);
    }
}

impl Region<'_> {
    /// The events of an instrument, summed over all threads that ever were, since the table was truncated.
    ///
    /// A thread that was stopped in the middle of counting an event, for longer than a reader waits, is taken in as it is: leaving out all
    /// that it ever counted would be worse than one event of which the count is there and the time is not.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// for cycles in [100, 300] {
    ///     let wait = actor.begin(&clock, region.switches(class), class, &WaitStart::new(Operation::Lock));
    ///     clock.advance(timer::TimerName::Cycle, cycles);
    ///     actor.end(&clock, wait, Held::None);
    /// }
    /// let waits = region.summary_by_event_name(class);
    /// assert_eq!((waits.count, waits.min_ps, waits.max_ps, waits.avg_ps()), (2, 40_000, 120_000, 80_000));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn summary_by_event_name(&self, class: Class) -> Summary {
        if class::store_of(self, class).class == EventClass::Transaction {
            return self.transactions_by_event_name(class).all();
        }
        self.sums_by_event_name(class, |_| (), |()| ())
    }

    /// The transactions of their instrument, as [`summary_by_event_name`](Self::summary_by_event_name).
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
    /// for access_mode in [AccessMode::ReadOnly, AccessMode::ReadWrite, AccessMode::ReadOnly] {
    ///     let start = TransactionStart { access_mode, ..Default::default() };
    ///     let transaction = actor.begin_transaction(&clock, region.switches(class), &start);
    ///     actor.end_transaction(&clock, transaction, TransactionState::Committed);
    /// }
    /// let transactions = region.transactions_by_event_name(class);
    /// assert_eq!((transactions.read_write.count, transactions.read_only.count, transactions.all().count), (1, 2, 3));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn transactions_by_event_name(&self, class: Class) -> TransactionSummary {
        let [read_write, read_only] = [AccessMode::ReadWrite, AccessMode::ReadOnly]
            .map(|access_mode| self.sums_by_event_name(transaction::sums_class(class, access_mode), |_| (), |()| ()));
        TransactionSummary { read_write, read_only }
    }

    /// The statements of an instrument, as [`summary_by_event_name`](Self::summary_by_event_name), and their figures.
    pub fn statements_by_event_name(&self, class: Class) -> (Summary, StatementStatistics) {
        let shared = statement::shared_figures(self, Sizes::of(self).class_index(class.index()));
        let mut statistics = statement::statistics(shared, Word::whole);
        let summary = self.sums_by_event_name(class, |look| statement_figures(self, look), |more| statistics.add(&more));
        (summary, statistics)
    }

    /// The sums of an instrument; `add` gets what `figures` makes of the others of each slot.
    fn sums_by_event_name<T>(&self, class: Class, figures: impl Fn(&Look<'_>) -> T, mut add: impl FnMut(T)) -> Summary {
        let mut sum = Summary::default();
        if let Some(shared) = self.arrays::<STAT>(Section::SharedStats).get(class.index()).and_then(|words| Shared::of(words)) {
            sum.add(&shared.read());
        }
        let store = class::store_of(self, class);
        for slot in slot::used(self) {
            if let Some((summary, more, _)) = read(self, slot, store, class, View::Global, &figures) {
                sum.add(&summary);
                add(more);
            }
        }
        sum
    }
}
