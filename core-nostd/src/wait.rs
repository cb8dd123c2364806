//! A wait: what is known of it when it begins, what its actor keeps of it until it ends, and how it may begin and end beside, behind and across
//! others. The actor records it, in `actor.rs`.

use crate::event::WAITS;
use crate::record::{self, Enclosing, EventType, IoEvent, RecordWords, Sequence, What};
use crate::region::{RECORD, Region};
use crate::setup::Switches;
use crate::{Actor, ActorId, Class, Held, Operation};
use core::num::NonZeroU64;
use core::panic::Location;
use perfschema_timer::Clock;

/// What is known of a wait when it begins.
#[derive(Clone, Copy, Debug)]
pub struct WaitStart {
    /// OPERATION.
    pub operation: Operation,
    /// OBJECT_INSTANCE_BEGIN: the address of the lock, the number of the socket, the offset in the file; of an ordinary wait any number.
    pub object: u64,
    /// SOURCE.
    pub source: Option<&'static Location<'static>>,
    /// SPINS for a lock, NUMBER_OF_BYTES plus 1 for io and for an ordinary wait; 0 is none.
    pub amount: u64,
    /// OBJECT_NAME and FLAGS of a wait for a file or a socket.
    pub io: IoEvent,
}

impl WaitStart {
    /// A wait of which nothing but the operation is known.
    pub const fn new(operation: Operation) -> WaitStart {
        WaitStart { operation, object: 0, source: None, amount: 0, io: IoEvent::None }
    }
}

/// A wait between its begin and its end, of which there is one each, and both one actor's: one that is ended twice, or by another actor, takes
/// records out of their order, and what is recorded later may not be visible. Switches are those of its start.
///
/// A clone is the same wait, and only one of them may be ended: it is for a guard that ends it when it is dropped.
///
/// ```compile_fail,E0382
/// # use perfschema_core::{Actor, Held, Wait};
/// # fn end(actor: &Actor<'_>, wait: Wait<'_>) {
/// actor.end(&perfschema_timer::SystemClock, wait, Held::None);
/// actor.end(&perfschema_timer::SystemClock, wait, Held::None); // it has ended
/// # }
/// ```
#[must_use = "a wait that is not ended stays visible as running"]
// No `Copy`: nobody ends one twice by mistake.
#[derive(Clone, Debug)]
pub struct Wait<'r> {
    pub(crate) sequence: Sequence,
    pub(crate) start: u64,
    /// The record in which it is visible.
    pub(crate) shown: Option<&'r RecordWords>,
    /// Where its sums are, if it is plain, as its switches say, or only counted; nowhere otherwise, nor where no record was left
    /// for it. So what is not visible and has a place is counted, or timed by the processor's counter.
    pub(crate) plain_class: usize,
    /// Of one that is visible, all that its record says in WHAT.
    pub(crate) switches: Switches,
    pub(crate) amount: u64,
    pub(crate) ends: Ends,
}

/// How a wait ends.
// As long as a word: behind bytes there would be bytes that say nothing, which a copy of a wait copies one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Ends {
    /// It is only counted, as [`COUNTED`](Switches::COUNTED) ones are. Where compilers see its begin and its end together, nothing is tested
    /// at the end.
    Counted,
    /// As its switches say, and its record has no more words than that of a wait for a lock: where compilers see both, the long history
    /// asks for none.
    Recorded,
    /// The same, but there is an amount, a file or a socket.
    WithMore,
    /// The same, with an amount that was not known at the start.
    WithAmount,
}

impl Ends {
    /// Whether its record has more words than that of a wait for a lock.
    // Asked so, not by what it is not: where it is known to be one of the first two, compilers need not keep which.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn has_more(self) -> bool {
        matches!(self, Ends::WithMore | Ends::WithAmount)
    }
}

impl Wait<'_> {
    /// One that begins, of a class whose sums are where those of plain ones are; nothing is decided yet.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn starting(class: Class, what: &WaitStart) -> Wait<'static> {
        let has_more = what.amount != 0 || !matches!(what.io, IoEvent::None);
        let ends = if has_more { Ends::WithMore } else { Ends::Recorded };
        Wait { plain_class: class.index(), amount: what.amount, ends, ..Wait::NONE }
    }

    /// One of which nothing is recorded.
    pub(crate) const NONE: Wait<'static> = Wait {
        sequence: Sequence::from_number(0),
        start: 0,
        shown: None,
        plain_class: usize::MAX,
        switches: Switches::OFF,
        amount: 0,
        ends: Ends::Recorded,
    };

    /// A stage, a statement or a transaction, which are recorded as a wait is; nowhere visible yet.
    pub(crate) fn of_other_class(sequence: Sequence, switches: Switches) -> Wait<'static> {
        Wait { sequence, switches, ends: Ends::WithMore, ..Wait::NONE }
    }

    /// Sets SPINS, or NUMBER_OF_BYTES plus 1, known when the wait ends.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// let mut wait = actor.begin(&clock, region.switches(class), class, &WaitStart::new(Operation::Lock));
    /// wait.set_amount(3);
    /// actor.end(&clock, wait, Held::None);
    /// region.scan(&tables::EventsWaitsHistory, |row| assert_eq!(row.spins, Some(3)));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_amount(&mut self, amount: u64) {
        self.amount = amount;
        self.switches = self.switches.with_more();
        if self.ends != Ends::Counted {
            self.ends = Ends::WithAmount;
        }
    }

    /// Whether anything is recorded for it.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// let start = WaitStart::new(Operation::Lock);
    /// assert!(actor.begin(&clock, region.switches(class), class, &start).is_recorded());
    /// let table: &dyn table::Table = &tables::Threads;
    /// table.update(&region, &mut |_| true, &[("INSTRUMENTED", table::Value::Text("NO"))])?;
    /// assert!(!actor.begin(&clock, region.switches(class), class, &start).is_recorded(), "the thread is not instrumented");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn is_recorded(&self) -> bool {
        self.switches.is_on()
    }

    /// Whether its instance's figures are kept, too.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// let start = WaitStart::new(Operation::Lock);
    /// assert!(actor.begin(&clock, region.switches(class), class, &start).records_instance());
    /// region.set_consumer(Consumer::EventsWaitsSummaryByInstance, false);
    /// let wait = actor.begin(&clock, region.switches(class), class, &start);
    /// assert!(wait.is_recorded() && !wait.records_instance());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn records_instance(&self) -> bool {
        self.switches.has(Switches::INSTANCE)
    }
}

impl Region<'_> {
    /// The actor of this THREAD_ID that began a wait which is visible; None if it is not. Found by where the wait is: so nobody need keep it.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// let wait = actor.begin(&clock, region.switches(class), class, &WaitStart::new(Operation::Lock));
    /// let id = region.actor_of(&wait, actor.thread_id());
    /// assert_eq!(id, actor.id());
    /// actor.detach();
    /// assert!(id.is_some_and(|id| !region.has_actor(id)), "whoever began the wait is gone");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn actor_of(&self, wait: &Wait<'_>, thread_id: u64) -> Option<ActorId> {
        let records = self.arrays::<RECORD>(WAITS.rings);
        let of_each = self.arrays_of::<RECORD>(WAITS.rings, 0).len();
        let slot = record::index_in(records, wait.shown?).checked_div(of_each)?;
        Some(ActorId { thread_id: NonZeroU64::new(thread_id)?, slot })
    }
}

impl<'r> Actor<'r> {
    /// A wait begins where another one ends: WL#2360's suggestion for pieces of code with nothing between them.
    /// One timer read serves both. `held` is what the first one was for.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// let switches = region.switches(class);
    /// let first = actor.begin(&clock, switches, class, &WaitStart::new(Operation::Wait));
    /// clock.advance(timer::TimerName::Cycle, 100);
    /// let second = actor.chain(&clock, first, Held::None, switches, class, &WaitStart::new(Operation::Lock));
    /// clock.advance(timer::TimerName::Cycle, 50);
    /// actor.end(&clock, second, Held::None);
    /// let mut times = Vec::new();
    /// region.scan(&tables::EventsWaitsHistory, |row| times.push((row.operation, row.timer_start, row.timer_end)));
    /// assert_eq!(times, [("wait", Some(0), Some(40_000)), ("lock", Some(40_000), Some(60_000))]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn chain(
        &self,
        clock: &impl Clock,
        ended: Wait<'_>,
        held: Held<'_, '_>,
        switches: Switches,
        class: Class,
        what: &WaitStart,
    ) -> Wait<'r> {
        let (before, switches) = (ended.switches, self.masked(switches));
        let end = match self.end_plain(clock, &ended, &held) {
            Some(ticks) if switches.has(Switches::PLAIN_SHOWN_TIMED) => {
                // Nearly always: what is known is asked neither where the one ends nor where the other begins.
                let wait = Wait { switches, ..Wait::starting(class, what) };
                return self.begin_visible(wait, |_| Some(ticks), what);
            }
            Some(ticks) => Some(ticks),
            None => self.end_otherwise(clock, &ended, &held),
        };
        let end = end.filter(|_| before.timer_index() == switches.timer_index());
        self.begin_at(switches, move |switches| end.unwrap_or_else(|| switches.read(clock)), class, what)
    }

    /// A wait begins beside others: as those of a task that goes on meanwhile, and may end them in any order. What begins before its end
    /// does not lie within it. [`end_concurrent`](Self::end_concurrent) ends it.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// let start = WaitStart::new(Operation::Lock);
    /// let first = actor.begin_concurrent(&clock, region.switches(class), class, &start);
    /// let second = actor.begin_concurrent(&clock, region.switches(class), class, &start);
    /// actor.end_concurrent(&clock, first, Held::None);
    /// region.scan(&tables::EventsWaitsCurrent, |row| assert_eq!((row.event_id, row.nesting_event_id), (2, None)));
    /// actor.end_concurrent(&clock, second, Held::None);
    /// assert_eq!(region.summary_by_event_name(class).count, 2);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn begin_concurrent(&self, clock: &impl Clock, switches: Switches, class: Class, what: &WaitStart) -> Wait<'r> {
        let enclosing = self.enclosing();
        let wait = self.begin(clock, switches, class, what);
        self.outer.set(enclosing);
        wait.shown.into_iter().for_each(record::set_concurrent);
        wait
    }

    /// Ends what [`begin_concurrent`](Self::begin_concurrent) began. Returns the timer's ticks, if it was timed.
    pub fn end_concurrent(&self, clock: &impl Clock, wait: Wait<'_>, held: Held<'_, '_>) -> Option<u64> {
        let outer = self.outer.get();
        let ticks = self.end(clock, wait, held);
        self.outer.set(outer);
        ticks
    }

    /// A wait ends that began at `start`, ticks that [`Switches::read`] gave there, where no actor was at hand that would be there at its
    /// end. It was not visible while it lasted. Returns the timer's ticks, if it was timed.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// let switches = region.switches(class);
    /// let start = switches.read(&clock);
    /// // … a future waits, and nobody knows which thread will poll it last …
    /// clock.advance(timer::TimerName::Cycle, 100);
    /// actor.record_since(&clock, start, switches, class, &WaitStart::new(Operation::Acquire), Held::None);
    /// region.scan(&tables::EventsWaitsHistory, |row| assert_eq!((row.operation, row.timer_wait), ("acquire", Some(40_000))));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn record_since(
        &self,
        clock: &impl Clock,
        start: u64,
        switches: Switches,
        class: Class,
        what: &WaitStart,
        held: Held<'_, '_>,
    ) -> Option<u64> {
        let wait = self.begin_at(self.masked(switches), move |_| start, class, what);
        self.end(clock, wait, held)
    }

    /// A wait that another actor has begun ends here, with switches as of its start: what it is to be recorded as is not asked again. Where this
    /// actor is not instrumented it has no row of it and no sum, and those of all threads have. The other one [withdraws](Self::withdraw)
    /// its own. Returns the timer's ticks, if it was timed.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// # let other = Actor::attach(&region, &ActorIdentity { name: "thread/app/other", ..Default::default() });
    /// let start = WaitStart::new(Operation::Lock);
    /// let wait = actor.begin(&clock, region.switches(class), class, &start);
    /// clock.advance(timer::TimerName::Cycle, 100);
    /// // The task goes on in another thread, which ends what it waits for.
    /// other.record_given(&clock, &wait, class, &start, Held::None);
    /// actor.withdraw(wait);
    /// region.scan(&tables::EventsWaitsHistory, |row| assert_eq!((row.thread_id, row.timer_wait), (other.thread_id(), Some(40_000))));
    /// assert_eq!(region.summary_by_event_name(class).count, 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn record_given(
        &self,
        clock: &impl Clock,
        given: &Wait<'_>,
        class: Class,
        what: &WaitStart,
        held: Held<'_, '_>,
    ) -> Option<u64> {
        // Whether it is timed was drawn then.
        let begun = Switches(What::switches_alone(given.switches).0 & !(Switches::SAMPLED | Switches::PLAIN_SAMPLED));
        let masked = self.masked(begun);
        let switches = if masked.has(Switches::ENABLED) { masked } else { begun.without_slot() };
        let wait = self.begin_at(switches, |_| given.start, class, what);
        self.end(clock, wait, held)
    }

    /// Ends a wait that waits within it may outlive, as where a program holds several: [`end`](Self::end) takes it that what began last ends
    /// first. Those that go on lie within what this one lay within, but for those that go on beside others. Returns the timer's ticks, if it was
    /// timed.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// let start = WaitStart::new(Operation::Lock);
    /// let outer = actor.begin(&clock, region.switches(class), class, &start);
    /// let inner = actor.begin(&clock, region.switches(class), class, &start);
    /// actor.end_in_any_order(&clock, outer, Held::None);
    /// region.scan(&tables::EventsWaitsCurrent, |row| assert_eq!((row.event_id, row.nesting_event_id), (2, None)));
    /// actor.end_in_any_order(&clock, inner, Held::None);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn end_in_any_order(&self, clock: &impl Clock, wait: Wait<'_>, held: Held<'_, '_>) -> Option<u64> {
        let own = Enclosing::event(wait.sequence, EventType::Wait);
        // Nearly always it runs alone.
        let Some(record) = wait.shown.filter(|_| !self.waits.ring.is_alone() && self.enclosing() != own) else {
            return self.end(clock, wait, held);
        };
        let enclosing = self.enclosing();
        self.enclose_within(own, record::nesting(record));
        let ticks = self.end(clock, wait, held);
        self.outer.set(enclosing);
        ticks
    }

    /// The waits that run within `own` lie within `around` from now on, but for those that go on beside others.
    fn enclose_within(&self, own: Enclosing, around: Enclosing) {
        let within = |record: &&RecordWords| record::nesting(record) == own && record::as_enclosing(record).is_some();
        self.running_waits().filter(within).for_each(|record| record::enclose(record, around));
    }

    /// A wait does not go on here any more, however it began: another actor has recorded it, with [`record_given`](Self::record_given). No
    /// table shows this one, and it is counted nowhere.
    pub fn withdraw(&self, mut wait: Wait<'_>) {
        let _ = self.kept(&mut wait);
        let Some(record) = wait.shown else { return };
        record::hide_current(record);
        // Asked for what encloses, a wait that runs alone is one among others; so its end asks whether it is kept.
        let (own, enclosing) = (record::running(record), self.enclosing());
        self.enclose_within(own, record::nesting(record));
        self.begin_end(&self.waits, &wait, Switches::OFF).finish(&self.waits, || None);
        // Otherwise it is what this one lay within.
        if enclosing != own {
            self.outer.set(enclosing);
        }
    }
}

#[cfg(all(test, not(perfschema_loom)))]
mod tests {
    use crate::record::Sequence;
    use crate::region::{SLOT, Section};
    use crate::{
        Actor, ActorIdentity, Config, Held, Identity, InstrumentName, Operation, Region, Setting, Size, WaitStart, slot, tables,
    };
    use perfschema_timer::MockClock;
    use std::vec::Vec;

    const CONFIG: Config = Config::SMALL.with(Size::MaxStageClasses, 1);

    /// What lies within what, of a thread whose slot has seen so many events: where a word is two halves, both of them say what a wait lies within.
    #[test]
    fn what_encloses_ends_first_after_any_number_of_events() {
        let numbers = [29, 32, 40].into_iter().flat_map(|bits| (0..4).map(move |less| (1_u64 << bits) - less)).chain([0]);
        for before in numbers {
            let words: Vec<_> = (0..CONFIG.words()).map(|_| crate::Word::new(0)).collect();
            let clock = MockClock::new();
            let region = Region::create(&words, &CONFIG, &Identity::default(), &clock.timers()).expect("it fits");
            let register = |name| region.register(InstrumentName::literal(name), Setting::ON).expect("there is room");
            let [class, stage] = ["wait/synch/mutex/t/A", "stage/t/sorting"].map(register);
            region.enable_everything();
            region.arrays::<SLOT>(Section::Slots)[0][slot::word::BASE].set(Sequence::from_number(before).0);
            let actor = Actor::attach(&region, &ActorIdentity::default());
            let begin = || actor.begin(&clock, region.switches(class), class, &WaitStart::new(Operation::Lock));
            let nesting_of = |event: u64| {
                let mut found = None;
                region.scan(&tables::EventsWaitsCurrent, |row| {
                    if row.event_id == event {
                        found = Some(row.nesting_event_id);
                    }
                });
                found.expect("it runs")
            };
            let (outer, inner) = (begin(), begin());
            assert_eq!(nesting_of(2), Some(1), "{before}");
            actor.end_in_any_order(&clock, outer, Held::None);
            assert_eq!(nesting_of(2), None, "the wait around it has ended, {before}");
            actor.end_in_any_order(&clock, inner, Held::None);
            let next = begin();
            assert_eq!(nesting_of(3), None, "nothing is around it, {before}");
            // The stage comes in between, and goes.
            actor.begin_stage(&clock, region.switches(stage), None);
            assert_eq!(nesting_of(3), Some(4), "{before}");
            assert!(actor.end_any_stage(&clock));
            assert_eq!(nesting_of(3), None, "the stage has ended, {before}");
            actor.end(&clock, next, Held::None);
        }
    }
}
