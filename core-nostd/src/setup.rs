//! Settings: consumers, timers, and how they fold into the one word that an instrumentation point loads.
//!
//! ```text
//! setup_instruments ─┐
//! setup_consumers  ──┼─ fold() ─→ Switches, one word a class ─→ loaded relaxed at every event
//! setup_timers     ──┘
//! threads.INSTRUMENTED, HISTORY ─→ a mask, one word an actor ─→ anded to it
//! ```
//! Whoever changes a setting pays for the folding; an event pays one load and one branch.

use crate::class::{self, Class, Setting};
use crate::event::{EventStore, STAGES, STORES, WAITS};
use crate::name::EventClass;
use crate::region::{Region, Section};
use crate::slot;
use crate::sync::{Ordering, Word, fence};
use core::ops::Range;
use perfschema_timer::{Clock, TimerName};

/// Words of the section.
pub(crate) mod word {
    pub(crate) const CONSUMERS: usize = 0;
    pub(crate) const GENERATION: usize = 1;
    /// One for each [`EventClass`](crate::name::EventClass).
    pub(crate) const TIMERS: usize = 2;
    // A line that events load from, and is written where somebody changes a setting or truncates a table.
    /// Bumped by TRUNCATE of `events_waits_summary_by_instance`.
    pub(crate) const INSTANCE_EPOCH: usize = 8;
    /// 1 once any instrument of stages has been on.
    pub(crate) const STAGES_USED: usize = 9;
    /// Bumped by TRUNCATE of `file_summary_by_instance`, and of `file_summary_by_event_name`.
    pub(crate) const FILE_INSTANCE_EPOCH: usize = 10;
    pub(crate) const FILE_EVENT_EPOCH: usize = 11;
    /// Bumped by TRUNCATE of `socket_summary_by_instance`, and of `socket_summary_by_event_name`.
    pub(crate) const SOCKET_INSTANCE_EPOCH: usize = 12;
    pub(crate) const SOCKET_EVENT_EPOCH: usize = 13;
    /// Which row `setup_actors` got last.
    pub(crate) const LAST_ACTOR: usize = 14;
    // A line that is written whenever a lock, a file or a socket comes or goes.
    /// Where the search for a free instance starts, and how often one was given back, one word for each pool.
    pub(crate) const INSTANCE_HINTS: core::ops::Range<usize> = 16..20;
    /// Where the search for a file's place starts, and how many are taken.
    pub(crate) const FILE_HINT: usize = 20;
    pub(crate) const FILES_USED: usize = 21;
    /// As [`INSTANCE_HINTS`], for sockets.
    pub(crate) const SOCKET_HINT: usize = 22;
}

/// The classes of events that have a row in `setup_timers`, and what times them in a new region.
pub(crate) const TIMED_CLASSES: [(EventClass, TimerName); 5] = [
    (EventClass::Idle, TimerName::Microsecond),
    (EventClass::Wait, TimerName::Cycle),
    (EventClass::Stage, TimerName::Nanosecond),
    (EventClass::Statement, TimerName::Nanosecond),
    (EventClass::Transaction, TimerName::Nanosecond),
];

/// The effective switches of an instrument, or of one event as of its start.
///
/// ```text
///  63    62            47 46            32 31      26 25          10 9          0
/// ┌───────┬────────────────┬────────────────┬──────────┬──────────────┬────────────┐
/// │ plain │ how many of    │ class          │ plain, 0 │ what is done │ 0          │
/// │ shown │ 2¹⁶ not timed  │                │          │ 0: off       │            │
/// └───────┴────────────────┴────────────────┴──────────┴──────────────┴────────────┘
/// ```
/// Those of an event are, as they stand, its word WHAT in a record but for what is 0 here (see `record`; of bits 26 to 31 those that say
/// nothing of what is plain), as a thread's setting is its mask (see `slot`).
///
/// Where a word is two halves, one may be older than the other: so the class is there whatever is switched, and the lower half says alone
/// what is done; also what is plain and shown, by bit 28.
///
/// ```
/// # use perfschema_core::*;
/// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
/// # let clock = timer::MockClock::new();
/// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
/// let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
/// assert!(!region.switches(class).is_on(), "all consumers are off");
/// region.enable_everything();
/// let switches = region.switches(class);
/// clock.set(timer::TimerName::Cycle, 7);
/// assert_eq!((switches.is_on(), switches.read(&clock)), (true, 7));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches(pub(crate) u64);

impl Switches {
    /// Nothing is recorded.
    pub const OFF: Switches = Switches(0);
    /// On, but nothing is recorded, because it is not enabled: sends an instrumentation point that is not registered yet to where it
    /// registers.
    pub const UNREGISTERED: Switches = Switches(Self::TIMED);
    /// Of a stage that is not recorded, and ends the one before.
    pub const STAGE_OFF: Switches = Switches(Self::ENDS_STAGE);
    // All that is asked of nearly every event is below 2³¹, so that a mask is part of an instruction.
    pub(crate) const ENABLED: u64 = 1 << 10;
    /// The event is visible while it lasts: `events_waits_current`.
    pub(crate) const CURRENT: u64 = 1 << 11;
    pub(crate) const HISTORY_LONG: u64 = 1 << 12;
    pub(crate) const HISTOGRAM: u64 = 1 << 13;
    pub(crate) const INSTANCE: u64 = 1 << 14;
    /// Of a stage, which has no instance: one may be running, which ends where this one begins, though this one be off.
    pub(crate) const ENDS_STAGE: u64 = Self::INSTANCE;
    /// Of a statement: it counts among those that are alike.
    pub(crate) const DIGEST: u64 = Self::INSTANCE;
    /// Sums belong to the thread; without it they go to those that all threads share.
    pub(crate) const THREAD: u64 = 1 << 15;
    pub(crate) const TIMED: u64 = 1 << 16;
    pub(crate) const HISTORY: u64 = 1 << 17;
    const TIMER_SHIFT: u32 = 18;
    /// Timed, and by the processor's counter: nearly always so, and one test.
    pub(crate) const TIMED_BY_COUNTER: u64 = 1 << 21;
    /// Of its events some are not timed; 16 bits say how many in 2¹⁶.
    pub(crate) const SAMPLED: u64 = 1 << 22;
    const NOT_TIMED_SHIFT: u32 = Self::CLASS_SHIFT + Self::CLASS_BITS;
    const ALL_TIMED: u64 = (1 << Self::NOT_TIMED_SHIFT) - 1;
    /// Visible, kept in the history, summed by thread, and timed by the processor's counter or not at all: as nearly all events that are visible
    /// are, so that one test leaves out all that is rare.
    // The uppermost bit: where the switches are masked, a processor tells it without being asked.
    pub(crate) const PLAIN_SHOWN: u64 = 1 << if cfg!(target_has_atomic = "64") { 63 } else { 28 };
    /// [`PLAIN_SHOWN`](Self::PLAIN_SHOWN), and timed. Of a wait that has begun it says, too, that its record has no more words than that of a
    /// wait for a lock.
    pub(crate) const PLAIN_SHOWN_TIMED: u64 = 1 << 23;
    /// Enabled, summed by thread, and of some of its events that are timed by the processor's counter, the others not at all.
    pub(crate) const PLAIN_SAMPLED: u64 = 1 << 24;
    /// Enabled, summed by thread, neither timed nor visible: it is counted, by its instrument and its instance, and nothing else.
    pub(crate) const COUNTED: u64 = 1 << 25;
    /// Enabled, summed by thread, timed by the processor's counter, not visible.
    pub(crate) const PLAIN_TIMED: u64 = 1 << 29;
    /// Enabled, visible, summed by thread, and timed by the processor's counter or not at all: whatever mask a thread has.
    pub(crate) const PLAIN_UNKEPT: u64 = 1 << 31;
    pub(crate) const CLASS_SHIFT: u32 = 32;
    /// Bits of a class.
    pub(crate) const CLASS_BITS: u32 = 15;
    const CLASS: u64 = ((1 << Self::CLASS_BITS) - 1) << Self::CLASS_SHIFT;

    /// What a thread without a slot can do: count, by event name, by instance and in histograms.
    const WITHOUT_SLOT: u64 = !(Self::CURRENT
        | Self::HISTORY
        | Self::HISTORY_LONG
        | Self::THREAD
        | Self::PLAIN_SHOWN
        | Self::PLAIN_SHOWN_TIMED
        | Self::PLAIN_SAMPLED
        | Self::PLAIN_TIMED
        | Self::PLAIN_UNKEPT
        | Self::COUNTED);
    /// What a thread with HISTORY = 'NO' does not.
    pub(crate) const NO_HISTORY: u64 = !(Self::HISTORY | Self::HISTORY_LONG | Self::PLAIN_SHOWN | Self::PLAIN_SHOWN_TIMED);
    /// What one with INSTRUMENTED = 'NO' does: nothing.
    // Of two halves the upper one is what every mask has.
    pub(crate) const NOT_INSTRUMENTED: u64 = u64::MAX << 32 & !Self::PLAIN_SHOWN;

    /// Whether anything is to be recorded.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub const fn is_on(self) -> bool {
        self.0 as u32 != 0
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn has(self, bit: u64) -> bool {
        self.0 & bit != 0
    }

    /// The timer that the event uses, as an index.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn timer_index(self) -> u8 {
        (self.0 >> Self::TIMER_SHIFT) as u8 & 7
    }

    /// The class that they are of.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn class(self) -> Class {
        Class(((self.0 & Self::CLASS) >> Self::CLASS_SHIFT) as u16)
    }

    /// The same of another class.
    pub(crate) fn of(self, class: Class) -> Switches {
        Switches(self.0 & !Self::CLASS | u64::from(class.0) << Self::CLASS_SHIFT & Self::CLASS)
    }

    /// Whether event `number` is timed, of [`SAMPLED`](Self::SAMPLED) ones.
    ///
    /// Which are is decided by the fractional part of a multiple of the golden ratio: evenly spread, and out of step with every loop of the
    /// program, so that of two locks taken by turns not always the same one is timed.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_timed(self, number: u64) -> bool {
        const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
        number.wrapping_mul(GOLDEN_RATIO) >> 48 >= self.0 >> Self::NOT_TIMED_SHIFT
    }

    /// The switches of a [`SAMPLED`](Self::SAMPLED) event that is timed, or is not.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn drawn(self, is_timed: bool) -> Switches {
        let not_timed = if is_timed { 0 } else { Self::TIMED | Self::TIMED_BY_COUNTER };
        Switches(self.0 & Self::ALL_TIMED & !not_timed)
    }

    /// What is done of them where no actor has a row or a sum of it.
    pub(crate) fn without_slot(self) -> Switches {
        Switches(self.0 & Self::WITHOUT_SLOT)
    }

    /// Those of a wait whose record has more words, or will have.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn with_more(self) -> Switches {
        Switches(self.0 & !Self::PLAIN_SHOWN_TIMED)
    }

    /// Ticks of the timer that the event uses, read now; 0 if it is not timed.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn read(self, clock: &impl Clock) -> u64 {
        if self.has(Self::TIMED_BY_COUNTER) {
            return clock.counter();
        }
        core::hint::cold_path();
        if self.has(Self::TIMED) { self.read_other(clock) } else { 0 }
    }

    #[inline(never)]
    fn read_other(self, clock: &impl Clock) -> u64 {
        clock.ticks(TimerName::from_index(self.timer_index()).unwrap_or(TimerName::Cycle))
    }
}

macro_rules! consumers {
    ($($(#[$doc:meta])* $name:ident = $text:literal, within $parent:expr;)*) => {
        /// A row of `setup_consumers`: a table that data goes into, or a level that others depend on.
        ///
        /// The tree is that of shipped MySQL. A consumer works while it and all above it are enabled; otherwise its table is
        /// frozen, not emptied.
        ///
        /// ```
        /// use perfschema_core::Consumer;
        /// let consumer = Consumer::from_name("EVENTS_WAITS_HISTORY").unwrap();
        /// let levels = core::iter::successors(Some(consumer), |consumer| consumer.parent()).map(Consumer::name);
        /// assert!(levels.eq(["events_waits_history", "events_waits_current", "thread_instrumentation", "global_instrumentation"]));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Consumer { $($(#[$doc])* $name,)* }

        impl Consumer {
            /// All consumers, in the order of the table.
            pub const ALL: &'static [Consumer] = &[$(Consumer::$name,)*];

            /// The consumer's name.
            pub const fn name(self) -> &'static str {
                match self { $(Consumer::$name => $text,)* }
            }

            /// The consumer that this one depends on.
            pub const fn parent(self) -> Option<Consumer> {
                match self { $(Consumer::$name => $parent,)* }
            }
        }
    };
}

consumers! {
    /// The stage that a thread is in is visible while it lasts.
    EventsStagesCurrent = "events_stages_current", within Some(Consumer::ThreadInstrumentation);
    /// Ended stages are kept for each thread.
    EventsStagesHistory = "events_stages_history", within Some(Consumer::EventsStagesCurrent);
    /// Ended stages are kept over all threads.
    EventsStagesHistoryLong = "events_stages_history_long", within Some(Consumer::EventsStagesCurrent);
    /// Statements are visible while they last.
    EventsStatementsCurrent = "events_statements_current", within Some(Consumer::ThreadInstrumentation);
    /// Ended statements are kept for each thread.
    EventsStatementsHistory = "events_statements_history", within Some(Consumer::EventsStatementsCurrent);
    /// Ended statements are kept over all threads.
    EventsStatementsHistoryLong = "events_statements_history_long", within Some(Consumer::EventsStatementsCurrent);
    /// Transactions are visible while they last.
    EventsTransactionsCurrent = "events_transactions_current", within Some(Consumer::ThreadInstrumentation);
    /// Ended transactions are kept for each thread.
    EventsTransactionsHistory = "events_transactions_history", within Some(Consumer::EventsTransactionsCurrent);
    /// Ended transactions are kept over all threads.
    EventsTransactionsHistoryLong = "events_transactions_history_long", within Some(Consumer::EventsTransactionsCurrent);
    /// Waits are visible while they last.
    EventsWaitsCurrent = "events_waits_current", within Some(Consumer::ThreadInstrumentation);
    /// Ended waits are kept for each thread.
    EventsWaitsHistory = "events_waits_history", within Some(Consumer::EventsWaitsCurrent);
    /// Ended waits are kept over all threads.
    EventsWaitsHistoryLong = "events_waits_history_long", within Some(Consumer::EventsWaitsCurrent);
    /// Waits are counted by how long they took. Beyond MySQL.
    EventsWaitsHistogram = "events_waits_histogram_by_event_name", within Some(Consumer::ThreadInstrumentation);
    /// Waits are summed for each lock. Shipped MySQL does so whenever the instrument is on.
    EventsWaitsSummaryByInstance = "events_waits_summary_by_instance", within Some(Consumer::GlobalInstrumentation);
    /// Anything is recorded at all.
    GlobalInstrumentation = "global_instrumentation", within None;
    /// Anything is recorded for each thread; without it only global sums are kept.
    ThreadInstrumentation = "thread_instrumentation", within Some(Consumer::GlobalInstrumentation);
    /// Statements that are alike are counted together.
    StatementsDigest = "statements_digest", within Some(Consumer::GlobalInstrumentation);
}

impl Consumer {
    /// The consumer of this name, in any letter case.
    pub fn from_name(name: &str) -> Option<Consumer> {
        Consumer::ALL.iter().copied().find(|consumer| consumer.name().eq_ignore_ascii_case(name))
    }

    const fn bit(self) -> u64 {
        1 << self as u8
    }

    /// Whether it and all that it depends on are enabled.
    fn works(self, enabled: u64) -> bool {
        let mut level = Some(self);
        while let Some(consumer) = level {
            if enabled & consumer.bit() == 0 {
                return false;
            }
            level = consumer.parent();
        }
        true
    }
}

/// The settings of a new region: everything off.
pub(crate) fn create(region: &Region<'_>) {
    let words = region.setup();
    for (class, timer) in TIMED_CLASSES {
        words[word::TIMERS + class as usize].set(timer.index() as u64);
    }
    slot::mask_word(region.no_slot()).set(Switches::WITHOUT_SLOT);
    crate::tables::setup_actors::create(region);
}

/// How often a fold begins anew, each time because somebody else has changed a setting meanwhile.
const FOLDS: u32 = 1024;

/// Recomputes the switches of all classes.
///
/// Two threads may fold at the same time, each having changed one setting. The generation makes the last one right:
/// ```text
/// A: reads settings                          … stores an old switch, sees that the generation moved, folds again
/// B:                 changes one, generation += 1, folds
/// ```
/// and no switch goes back to what it was: A compares, and so stores nothing where B has stored already. (Where B found it as it is to be, and
/// stored nothing, A may, until it looks at the generation.)
/// Nobody waits; who finds the generation or a switch changed did so because somebody else made progress. Whoever else writes to a shared
/// region, and changes nothing but these, does not keep this for ever.
pub(crate) fn fold(region: &Region<'_>) {
    fold_these(region, 0..region.class_count());
}

/// The same where what has changed is the setting of one class: no other switch is made of it. So who registers many instruments does not fold
/// all of them each time.
pub(crate) fn fold_class(region: &Region<'_>, class: Class) {
    fold_these(region, class.index()..class.index() + 1);
}

fn fold_these(region: &Region<'_>, mut changed: Range<usize>) {
    let setup = region.setup();
    // [F1] Release: the setting just changed is seen by whoever bumps the generation after us, or finds it changed below.
    let mut generation = setup[word::GENERATION].fetch_add(1, Ordering::Release).wrapping_add(1);
    // [F2] SeqCst fence: below we see the settings of all who bumped the generation before us (so [F1] need not acquire); and with
    // [F3] of the other, for everybody our switches come after our generation. Without it a new switch may be visible first, and be
    // overwritten by the old one of somebody who does not see the generation yet.
    fence(Ordering::SeqCst);
    let stores = STORES.map(|store| (store, class::of_events(region, store)));
    let idle_class = class::idle(region);
    let used = || setup[word::STAGES_USED].get() != 0;
    let mut was_unused = !used();
    for _ in 0..FOLDS {
        // Set once and for all; also before the first of them is folded, which may be another one.
        let stages = class::of_events(region, &STAGES);
        let mut stages = stages.start.max(changed.start)..stages.end.min(changed.end);
        if !used() && stages.any(|index| region.setting(Class(index as u16)).enabled) {
            setup[word::STAGES_USED].set(1);
        }
        // The switches of all stages say so, and whoever sets it has found it unset when he began.
        if was_unused && used() {
            was_unused = false;
            changed = 0..region.class_count();
        }
        let switches = region.section(Section::Switches).get(changed.clone()).unwrap_or_default();
        for (index, switch) in changed.clone().zip(switches) {
            // Those of memory are behind all of these, and what times them is nothing to them.
            let store = stores.iter().find(|(_, classes)| classes.contains(&index)).map_or(&WAITS, |(store, _)| store);
            let timer = if idle_class.contains(&index) { EventClass::Idle } else { store.class };
            fold_one(region, Class(index as u16), switch, store, timer);
        }
        // [F3] SeqCst fence between the stores above and the load below: either we see the other's generation, or it
        // stores its switches after ours.
        fence(Ordering::SeqCst);
        // Relaxed: whose generation we see, whose setting we fold next, behind [F4].
        let now = setup[word::GENERATION].get();
        if now == generation && !(was_unused && used()) {
            return;
        }
        generation = now;
    }
}

/// TRUNCATE: what was counted before is of another epoch.
pub(crate) fn next_epoch(epoch: &Word) {
    // Relaxed: only that two truncations are two matters; a reader compares the epoch with the one noted behind the version.
    epoch.fetch_add(1, Ordering::Relaxed);
}

/// A switch becomes what the settings say.
fn fold_one(region: &Region<'_>, class: Class, switch: &Word, store: &EventStore, timed_as: EventClass) {
    let setup = region.setup();
    for _ in 0..FOLDS {
        let before = switch.get();
        // [F4] Acquire fence: pairs with [F5], so that the settings below are at least as new as those that this switch was made of; and with
        // [F1] of the generation that was seen.
        fence(Ordering::Acquire);
        let timer = setup[word::TIMERS + timed_as as usize].get();
        let by_counter = timer == TimerName::Cycle.index() as u64 && region.cycle_is_counter();
        let (setting, is_stage) = (region.setting(class), store.class == EventClass::Stage);
        // Whose setting it is may not have folded yet: whoever switches it off again is to see that it was on.
        if is_stage && setting.enabled && setup[word::STAGES_USED].get() == 0 {
            setup[word::STAGES_USED].set(1);
        }
        let ends_stage = is_stage && setup[word::STAGES_USED].get() != 0;
        let switches =
            effective(region, class, setting, store, timer, by_counter) | if ends_stage { Switches::ENDS_STAGE } else { 0 };
        // [F5] Release: pairs with [F4]. For events a switch is a value of its own: one that started with either is right.
        if switches == before || switch.compare_exchange(before, switches, Ordering::Release).is_ok() {
            return;
        }
    }
}

/// The switches that these settings mean.
fn effective(region: &Region<'_>, class: Class, setting: Setting, store: &EventStore, timer: u64, by_counter: bool) -> u64 {
    let consumers = region.setup()[word::CONSUMERS].get();
    let mut switches = u64::from(class.0) << Switches::CLASS_SHIFT;
    if !setting.enabled || !Consumer::GlobalInstrumentation.works(consumers) {
        return switches;
    }
    switches |= Switches::ENABLED | (timer & 7) << Switches::TIMER_SHIFT;
    if setting.timed {
        switches |= Switches::TIMED;
        if setting.timed_one_in > 1 {
            let one_in = u64::from(setting.timed_one_in);
            let timed = (0x1_0000 + one_in / 2) / one_in;
            switches |= Switches::SAMPLED | (0x1_0000 - timed) << Switches::NOT_TIMED_SHIFT;
        }
        if by_counter {
            switches |= Switches::TIMED_BY_COUNTER;
        }
    }
    // Only they have histograms and instances, as only statements have digests.
    let only = |class: EventClass, bit: u64| if store.class == class { bit } else { 0 };
    // What a region has no place for is neither kept nor lost.
    let within = |section: Section, bit: u64| if region.section(section).is_empty() { 0 } else { bit };
    for (consumer, bit) in [
        (Consumer::ThreadInstrumentation, Switches::THREAD),
        (store.current, Switches::CURRENT),
        (store.history, Switches::HISTORY),
        (store.history_long, within(store.long_chunks, Switches::HISTORY_LONG)),
        (Consumer::EventsWaitsHistogram, only(EventClass::Wait, within(Section::Histograms, Switches::HISTOGRAM))),
        (Consumer::EventsWaitsSummaryByInstance, only(EventClass::Wait, Switches::INSTANCE)),
        (Consumer::StatementsDigest, only(EventClass::Statement, Switches::DIGEST)),
    ] {
        if consumer.works(consumers) {
            switches |= bit;
        }
    }
    let has = |bit: u64| switches & bit != 0;
    if has(Switches::THREAD) && (by_counter || !setting.timed) {
        switches |= match (has(Switches::SAMPLED), has(Switches::CURRENT), has(Switches::TIMED)) {
            (true, _, _) => Switches::PLAIN_SAMPLED,
            (false, false, false) => Switches::COUNTED,
            (false, false, true) => Switches::PLAIN_TIMED,
            (false, true, _) if !has(Switches::HISTORY) => Switches::PLAIN_UNKEPT,
            (false, true, false) => Switches::PLAIN_UNKEPT | Switches::PLAIN_SHOWN,
            (false, true, true) => Switches::PLAIN_UNKEPT | Switches::PLAIN_SHOWN | Switches::PLAIN_SHOWN_TIMED,
        };
    }
    switches
}

impl Region<'_> {
    /// The word that switches a class: load it with [`switches`](Self::switches), or keep a reference to it.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// let word = region.switch_word(class).expect("it was registered");
    /// assert!(!word.switches().is_on());
    /// region.enable_everything();
    /// assert!(word.switches().is_on(), "the same word, one load");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn switch_word(&self, class: Class) -> Option<&Word> {
        self.section(Section::Switches).get(class.index())
    }

    /// The effective switches of a class, now.
    #[inline]
    pub fn switches(&self, class: Class) -> Switches {
        self.switch_word(class).map_or(Switches::OFF, |word| word.switches())
    }

    /// Whether a consumer is enabled; whether it [works](Self::consumer_works) depends on those above it, too.
    pub fn consumer_enabled(&self, consumer: Consumer) -> bool {
        self.setup()[word::CONSUMERS].get() & consumer.bit() != 0
    }

    /// Whether a consumer works: it and those above it are enabled.
    pub fn consumer_works(&self, consumer: Consumer) -> bool {
        consumer.works(self.setup()[word::CONSUMERS].get())
    }

    /// Switches a consumer. Takes effect at once, for events that begin later.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// region.set_consumer(Consumer::ThreadInstrumentation, false);
    /// assert!(region.consumer_enabled(Consumer::EventsWaitsHistory) && !region.consumer_works(Consumer::EventsWaitsHistory));
    /// let wait = actor.begin(&clock, region.switches(class), class, &WaitStart::new(Operation::Lock));
    /// actor.end(&clock, wait, Held::None);
    /// assert_eq!(region.scan(&tables::EventsWaitsHistory, |_| ()).rows, 0);
    /// assert_eq!(region.summary_by_event_name(class).count, 1, "global_instrumentation is enabled");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_consumer(&self, consumer: Consumer, enabled: bool) {
        self.setup()[word::CONSUMERS].update(|bits| if enabled { bits | consumer.bit() } else { bits & !consumer.bit() });
        fold(self);
    }

    /// The timer that events of a class are timed with. Those that have no row in `setup_timers` are not timed, whatever it says.
    pub fn event_timer(&self, class: EventClass) -> TimerName {
        let index = self.setup()[word::TIMERS + class as usize].get();
        u8::try_from(index).ok().and_then(TimerName::from_index).unwrap_or(TimerName::Cycle)
    }

    /// Chooses the timer for events of a class that begin later. A record says which timer wrote it, so units never mix.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let sorting = region.register(InstrumentName::literal("stage/app/sorting"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// use perfschema_core::{name::EventClass, timer::TimerName};
    /// assert_eq!((region.wait_timer(), region.event_timer(EventClass::Stage)), (TimerName::Cycle, TimerName::Nanosecond));
    /// region.set_event_timer(EventClass::Stage, TimerName::Cycle);
    /// actor.begin_stage(&clock, region.switches(sorting), None);
    /// clock.advance(TimerName::Cycle, 100);
    /// actor.end_any_stage(&clock);
    /// assert_eq!(region.summary_by_event_name(sorting).sum_ps, 40_000);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_event_timer(&self, class: EventClass, timer: TimerName) {
        self.setup()[word::TIMERS + class as usize].set(timer.index() as u64);
        fold(self);
    }

    /// The timer that waits are timed with.
    pub fn wait_timer(&self) -> TimerName {
        self.event_timer(EventClass::Wait)
    }

    /// Chooses the timer for waits that begin later.
    pub fn set_wait_timer(&self, timer: TimerName) {
        self.set_event_timer(EventClass::Wait, timer);
    }

    /// Turns everything on: every consumer, and every instrument registered so far, timed; other than
    /// [`StartOption::Everything`](crate::options::StartOption::Everything) also those of memory, which are never timed.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// let first = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::OFF)?;
    /// region.enable_everything();
    /// let later = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_close"), Setting::OFF)?;
    /// assert_eq!((region.setting(first), region.setting(later)), (Setting::ON, Setting::OFF));
    /// assert!(Consumer::ALL.iter().all(|consumer| region.consumer_works(*consumer)));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn enable_everything(&self) {
        for &consumer in Consumer::ALL {
            self.setup()[word::CONSUMERS].update(|bits| bits | consumer.bit());
        }
        for class in self.classes() {
            self.store_setting(class, Setting::ON);
        }
        fold(self);
    }
}

impl Word {
    /// Makes this a word of switches that an instrumentation point can load before it is registered.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// // A static that an instrumentation point loads, until it is registered and loads the region's.
    /// static NOT_YET: Word = Word::new(0);
    /// assert!(!NOT_YET.switches().is_on());
    /// NOT_YET.set_switches(Switches::UNREGISTERED);
    /// assert!(NOT_YET.switches().is_on(), "so whoever loads it goes and registers");
    /// ```
    pub fn set_switches(&self, switches: Switches) {
        self.set(switches.0);
    }

    /// The switches in this word, which must be one of [`Region::switch_word`] or set by [`set_switches`](Self::set_switches).
    // Relaxed: a switch is a value of its own; what an event does with it needs nothing else to be visible.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn switches(&self) -> Switches {
        let switches = Switches(self.get());
        // The halves may be of two settings: how many are not timed, and that all are.
        if cfg!(not(target_has_atomic = "64")) && !switches.has(Switches::SAMPLED) {
            return Switches(switches.0 & Switches::ALL_TIMED);
        }
        switches
    }
}
