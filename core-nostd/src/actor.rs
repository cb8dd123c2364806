//! An actor records: one thread, task or interrupt level, and everything that only it writes.
//!
//! Who pays what, for one wait that is on, timed, visible and kept:
//! ```text
//! begin  the actor             switches (1 load), mask (1 load), event id, record: 6 stores; first timer read
//! end    the actor             record: 2 stores, summary: 6 loads, 3 stores, histogram: 3 loads, 2 stores; second timer read among them
//! read   whoever reads a table names, source lines, picoseconds of each row, sums over the actors
//! ```
//! Nothing in `begin` or `end` can fail, block, allocate or panic (`ci/targets` links a program that proves it), and nothing that follows
//! waits for the second timer value: it decides what is stored, not where, and no branch but those for a new extreme, which is rare. The
//! timer is read late in both: what is written before the second reading is written in the shadow of what the event itself still does.
//!
//! Nearly all events are alike ([`Switches::PLAIN_SHOWN`]), lie within no other, and have none within: their way is short, and inlined. What is
//! rare ends out of line, with all that is left out here.

use crate::class::Class;
use crate::event::{EventStore, Place, STAGES, STATEMENTS, TRANSACTIONS, WAITS};
use crate::instance::Held;
use crate::io;
use crate::long_history;
use crate::memory::{self, MemoryChange};
use crate::metric;
use crate::nest::Nest;
use crate::record::{self, Enclosing, EventType, IoEvent, RecordWords, Sequence, Start, What};
use crate::region::{RECORD, Region, STAT, STATEMENT_STAT, Section};
use crate::ring::Ring;
use crate::setup::{self, Switches};
use crate::slot::{self, ActorId, ActorIdentity, Claimed, SlotWords};
use crate::source::{Recent, Site};
use crate::stage::RunningStage;
use crate::stat::{self, Epochs, StatWords, Unit};
use crate::statement::Sizes;
use crate::sync::{Counter, Word};
use crate::wait::{Ends, Wait, WaitStart};
use crate::{Lost, histogram, wait_histogram};
use core::cell::Cell;
use core::hint::cold_path;
use core::num::NonZeroU64;
use core::panic::Location;
use perfschema_timer::{Clock, Conversion, TimerName};
use sums::Object;

mod ending;
mod sums;

/// Something that records, used by one thread at a time. [`detach`](Self::detach) ends it: one that is only dropped keeps its slot, as a
/// thread does that is there and does nothing.
///
/// ```
/// use perfschema_core::{Actor, ActorIdentity, Config, Held, Identity, InstrumentName, Operation, Region, Setting, StaticRegion, WaitStart};
/// use perfschema_timer::{SystemClock, Timers};
///
/// static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
/// let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &Timers::calibrate())?;
/// let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
/// region.enable_everything();
///
/// let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
/// let wait = actor.begin(&SystemClock, region.switches(class), class, &WaitStart::new(Operation::Lock));
/// // … the lock is taken here …
/// actor.end(&SystemClock, wait, Held::None);
/// assert_eq!(region.summary_by_event_name(class).count, 1);
/// actor.detach();
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct Actor<'r> {
    region: &'r Region<'r>,
    slot: Option<Claimed<'r>>,
    thread_id: u64,
    /// That before the first event: what the event ids in the tables count from.
    pub(crate) base: Sequence,
    /// Its slot's, or those of what there is in place of one. What others set there is looked at at every event.
    slot_words: Cell<&'r SlotWords>,
    /// What is left of an event's switches at its end: everything, until the slot is given back.
    keep: Cell<u64>,
    instance_epoch: &'r Word,
    /// That of the last event that has one: waits that are not visible have none, as in MySQL. The owner's alone.
    sequence: Counter,
    /// Number of events of which was decided whether they are timed, and a number to begin with that other threads have not.
    drawn: Cell<u64>,
    /// What encloses what begins now; but not the wait that runs alone, which [`enclosing`](Self::enclosing) knows.
    pub(crate) outer: Cell<Enclosing>,
    pub(crate) waits: Recorder<'r>,
    /// None once the slot is given back.
    stats: Cell<&'r [StatWords]>,
    pub(crate) recent_sources: Recent,
    /// Of all histograms the buckets of waits that are not long, and which of them counts so many ticks.
    histograms: &'r [Word],
    tick_buckets: &'r [Word],
    pub(crate) stages: Recorder<'r>,
    /// The one that runs.
    pub(crate) stage: Cell<Option<RunningStage<'r>>>,
    /// The statements that it lies within, as [`Nest::enclosing`] has them, and the innermost visible of them.
    pub(crate) stage_statements: Cell<u64>,
    pub(crate) stage_statement: Cell<Enclosing>,
    /// See [`number`](Self::number): 0 until it is asked for, without a slot.
    pub(crate) number: Cell<u64>,
    pub(crate) statements: Recorder<'r>,
    pub(crate) statement_nest: Nest,
    pub(crate) statement_sizes: Sizes,
    /// None once the slot is given back.
    statement_stats: Cell<&'r [[Word; STATEMENT_STAT]]>,
    pub(crate) transactions: Recorder<'r>,
    pub(crate) transaction_nest: Nest,
    files: io::Recorder<'r>,
    sockets: io::Recorder<'r>,
    memory: memory::Recorder<'r>,
    /// None once the slot is given back.
    metrics: Cell<metric::Recorder<'r>>,
    conversions: [Conversion; 8],
}

impl core::fmt::Debug for Actor<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Actor").field("thread_id", &self.thread_id).finish_non_exhaustive()
    }
}

/// Where an actor records the events of one class.
#[derive(Debug)]
pub(crate) struct Recorder<'r> {
    pub(crate) ring: Ring<'r>,
    long: long_history::Writer<'r>,
}

impl<'r> Recorder<'r> {
    /// For the actor of this slot, if it has one.
    fn new(region: &'r Region<'r>, store: &'static EventStore, slot: Option<&Claimed<'r>>) -> Recorder<'r> {
        let owner = slot
            .map_or_else(long_history::Owner::default, |slot| long_history::Owner { thread_id: slot.thread_id, base: slot.base });
        Recorder {
            ring: Ring::new(slot.map_or(&[], |slot| region.arrays_of::<RECORD>(store.rings, slot.index)), owner.base),
            long: long_history::Writer::new(region, store, owner),
        }
    }

    fn store(&self) -> &'static EventStore {
        self.long.store()
    }
}

impl<'r> Actor<'r> {
    /// Starts recording for a thread. If there is no free slot, which is counted, this is one [without a slot](Self::without_slot).
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # const SIZES: Config = Config::SMALL.with(Size::MaxThreadInstances, 1);
    /// # static MEMORY: StaticRegion<{ SIZES.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &SIZES, &Identity::default(), &timer::Timers::calibrate())?;
    /// let identity = ActorIdentity { name: "thread/app/worker", thread_type: ThreadType::Foreground, user: "ada", ..Default::default() };
    /// let (first, second) = (Actor::attach(&region, &identity), Actor::attach(&region, &identity));
    /// // There was one place. The second one has no row, and its events have none.
    /// assert_eq!((first.thread_id(), second.thread_id(), second.id()), (1, 0, None));
    /// assert_eq!(region.lost(Lost::ThreadInstances), 1);
    /// region.scan(&tables::Threads, |row| assert_eq!((row.thread_id, row.processlist_user), (1, Some("ada".into()))));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn attach(region: &'r Region<'r>, identity: &ActorIdentity<'_>) -> Actor<'r> {
        let setting = crate::tables::setup_actors::setting_for(region, identity);
        match slot::claim(region, identity, setting) {
            Some(claimed) => Actor::with_slot(region, claimed),
            None => Actor::without_slot(region),
        }
    }

    /// Says anew who it is, if none of its events has a number yet (waits that are not visible have none): memory may have been counted before
    /// the thread could say so. Returns whether it did.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// # let memory = region.register(InstrumentName::literal("memory/app/cache"), Setting::ON)?;
    /// # region.enable_everything();
    /// let actor = Actor::attach(&region, &ActorIdentity::default());
    /// actor.count_memory(region.switches(memory), memory, MemoryChange::allocated(100));
    /// assert!(actor.identify(&ActorIdentity { name: "thread/app/worker", ..Default::default() }));
    /// region.scan(&tables::Threads, |row| assert_eq!(row.name, "thread/app/worker"));
    /// actor.begin(&clock, region.switches(class), class, &WaitStart::new(Operation::Lock));
    /// assert!(!actor.identify(&ActorIdentity::default()), "there is an event");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn identify(&self, identity: &ActorIdentity<'_>) -> bool {
        let Some(slot) = self.slot.as_ref().filter(|slot| self.owns(slot.words)) else { return false };
        let unused = self.last_sequence() == self.base;
        if unused {
            slot.identify(identity, crate::tables::setup_actors::setting_for(self.region, identity));
        }
        unused
    }

    fn with_slot(region: &'r Region<'r>, claimed: Claimed<'r>) -> Actor<'r> {
        Actor {
            thread_id: claimed.thread_id,
            base: claimed.base,
            slot_words: Cell::new(claimed.words),
            sequence: Counter::new(claimed.base.0),
            drawn: Cell::new(claimed.thread_id),
            waits: Recorder::new(region, &WAITS, Some(&claimed)),
            stages: Recorder::new(region, &STAGES, Some(&claimed)),
            number: Cell::new(claimed.thread_id),
            statements: Recorder::new(region, &STATEMENTS, Some(&claimed)),
            statement_stats: Cell::new(region.arrays_of::<STATEMENT_STAT>(Section::StatementStats, claimed.index)),
            transactions: Recorder::new(region, &TRANSACTIONS, Some(&claimed)),
            stats: Cell::new(region.arrays_of::<STAT>(Section::Stats, claimed.index)),
            files: io::Recorder::new(region, &io::FILES, Some(claimed.index)),
            sockets: io::Recorder::new(region, &io::SOCKETS, Some(claimed.index)),
            memory: memory::Recorder::new(region, Some((claimed.index, claimed.words))),
            metrics: Cell::new(metric::Recorder::new(region, claimed.index)),
            slot: Some(claimed),
            ..Actor::without_slot(region)
        }
    }

    /// An actor that has no row of its own: its events count in the global sums and those of the instances only.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// # region.enable_everything();
    /// let lock = region.create_instance(class, 0x1000).and_then(|id| region.instance(id)).expect("there is room");
    /// let actor = Actor::without_slot(&region);
    /// let wait = actor.begin(&clock, region.switches(class), class, &WaitStart::new(Operation::Lock));
    /// actor.end(&clock, wait, Held::Exclusive(&lock));
    /// region.scan(&tables::EventsWaitsSummaryByInstance, |row| assert_eq!(row.count_star, 1));
    /// assert_eq!(region.summary_by_event_name(class).count, 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn without_slot(region: &'r Region<'r>) -> Actor<'r> {
        let mut conversions = [Conversion::from_multiplier(0); 8];
        for (conversion, timer) in conversions.iter_mut().zip(TimerName::ALL) {
            *conversion = region.timer(timer).conversion;
        }
        Actor {
            region,
            slot: None,
            thread_id: 0,
            base: Sequence::from_number(0),
            slot_words: Cell::new(region.no_slot()),
            keep: Cell::new(u64::MAX),
            instance_epoch: &region.setup()[setup::word::INSTANCE_EPOCH],
            sequence: Counter::new(Sequence::from_number(0).0),
            drawn: Cell::new(0),
            outer: Cell::new(Enclosing::default()),
            waits: Recorder::new(region, &WAITS, None),
            stats: Cell::new(&[]),
            recent_sources: Recent::default(),
            histograms: region.section(Section::Histograms),
            tick_buckets: histogram::tick_buckets_below(region.section(Section::TickBuckets), wait_histogram::SHORT),
            stages: Recorder::new(region, &STAGES, None),
            stage: Cell::new(None),
            stage_statements: Cell::new(0),
            stage_statement: Cell::new(Enclosing::default()),
            number: Cell::new(0),
            statements: Recorder::new(region, &STATEMENTS, None),
            statement_nest: Nest::default(),
            statement_sizes: Sizes::of(region),
            statement_stats: Cell::new(&[]),
            transactions: Recorder::new(region, &TRANSACTIONS, None),
            transaction_nest: Nest::default(),
            files: io::Recorder::new(region, &io::FILES, None),
            sockets: io::Recorder::new(region, &io::SOCKETS, None),
            memory: memory::Recorder::new(region, None),
            metrics: Cell::new(metric::Recorder::NONE),
            conversions,
        }
    }

    /// THREAD_ID; 0 for an actor without a slot.
    #[inline]
    pub fn thread_id(&self) -> u64 {
        self.thread_id
    }

    /// As others know it; None for an actor without a slot.
    #[inline]
    pub fn id(&self) -> Option<ActorId> {
        Some(ActorId { thread_id: NonZeroU64::new(self.thread_id)?, slot: self.slot_index() })
    }

    /// The region that it records into.
    #[inline]
    pub fn region(&self) -> &'r Region<'r> {
        self.region
    }

    /// Gives the slot back: the thread ends. Its sums stay counted; events that still run are gone. What it records after this, in
    /// destructors that run later still, counts as that of an actor [without a slot](Self::without_slot). A second call does nothing.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// let id = actor.id().expect("there is room");
    /// let wait = actor.begin(&clock, region.switches(class), class, &WaitStart::new(Operation::Lock));
    /// actor.end(&clock, wait, Held::None);
    /// actor.detach();
    /// assert!(!region.has_actor(id));
    /// assert_eq!(region.scan(&tables::EventsWaitsHistory, |_| ()).rows, 0);
    /// assert_eq!(region.summary_by_event_name(class).count, 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn detach(&self) {
        let no_slot = self.region.no_slot();
        if core::ptr::eq(self.slot_words.replace(no_slot), no_slot) {
            return;
        }
        self.keep.set(slot::mask_word(no_slot).get());
        self.stage.set(self.stage.take().map(RunningStage::without_record));
        self.stats.set(&[]);
        self.statement_stats.set(&[]);
        self.finish_chunks();
        self.metrics.set(metric::Recorder::NONE);
        if let Some(slot) = &self.slot {
            slot.release(self.last_sequence());
        }
    }

    /// A wait begins. `switches` are those of its class, loaded by the caller, who found them on.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// region.set_wait_timer(timer::TimerName::Nanosecond);
    /// let start = WaitStart { object: 0x1000, source: Some(core::panic::Location::caller()), ..WaitStart::new(Operation::Lock) };
    /// let wait = actor.begin(&clock, region.switches(class), class, &start);
    /// clock.advance(timer::TimerName::Nanosecond, 40);
    /// assert_eq!(actor.end(&clock, wait, Held::None), Some(40));
    /// region.scan(&tables::EventsWaitsHistory, |row| {
    ///     assert_eq!((row.operation, row.object_instance_begin, row.timer_wait), ("lock", 0x1000, Some(40_000)));
    /// });
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn begin(&self, clock: &impl Clock, switches: Switches, class: Class, what: &WaitStart) -> Wait<'r> {
        self.begin_at(self.masked(switches), |switches| switches.read(clock), class, what)
    }

    /// Counts memory that comes or goes. `switches` are those of its class, loaded by the caller, who found them on. It is no event: it
    /// has no number and no time.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn count_memory(&self, switches: Switches, class: Class, change: MemoryChange) {
        let switches = self.masked(switches);
        if switches.has(Switches::THREAD) {
            self.memory.count(self.region, class, change);
        } else if switches.has(Switches::ENABLED) {
            memory::count_shared(self.region, class, change);
        }
    }

    /// What this thread does of what the class's switches say.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn masked(&self, switches: Switches) -> Switches {
        // Relaxed: a setting of its own, as the switches are.
        Switches(switches.0 & slot::mask_word(self.slot_words.get()).get())
    }

    /// The epochs of its own sums of one class of events. Without a slot there are neither.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn epochs(&self, store: &EventStore) -> Epochs {
        slot::epochs(self.slot_words.get(), store)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn begin_at(
        &self,
        mut switches: Switches,
        read: impl Fn(Switches) -> u64,
        class: Class,
        what: &WaitStart,
    ) -> Wait<'r> {
        let mut wait = Wait::starting(class, what);
        if switches.has(Switches::PLAIN_SHOWN) {
            // There is nothing to decide. It goes straight on; all others jump. Apart from them, because it is timed by the counter or not at all.
            wait.switches = switches;
            let counter = || read(Switches(Switches::TIMED_BY_COUNTER));
            return self.begin_visible(wait, |switches| switches.has(Switches::TIMED_BY_COUNTER).then(counter), what);
        } else if switches.has(Switches::COUNTED) {
            cold_path();
            return Wait { switches, ends: Ends::Counted, ..wait };
        } else if switches.has(Switches::PLAIN_TIMED) {
            cold_path();
            return Wait { switches, start: read(Switches(Switches::TIMED_BY_COUNTER)), ..wait };
        } else if switches.has(Switches::PLAIN_UNKEPT) {
            self.waits.ring.expect_unkept();
        } else if switches.has(Switches::PLAIN_SAMPLED) {
            cold_path();
            let is_timed = self.draw(switches);
            switches = switches.drawn(is_timed);
            if !switches.has(Switches::CURRENT) {
                return match is_timed {
                    true => Wait { switches, start: read(Switches(Switches::TIMED_BY_COUNTER)), ..wait },
                    false => Wait { switches, ends: Ends::Counted, ..wait },
                };
            }
            if !switches.has(Switches::HISTORY) {
                self.waits.ring.expect_unkept();
            }
        } else {
            cold_path();
            if !switches.has(Switches::ENABLED) {
                return Wait::NONE;
            }
            wait.plain_class = usize::MAX;
            switches = self.sampled(switches);
            if !switches.has(Switches::CURRENT) {
                return Wait { switches, start: read(switches), ..wait };
            }
            self.waits.ring.expect_unkept();
        }
        wait.switches = switches;
        self.begin_visible(wait, |switches| Some(read(switches)), what)
    }

    /// A wait begins of which all is decided, and which is visible; `start` gives the ticks, if its switches say that it is timed.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn begin_visible(
        &self,
        mut wait: Wait<'r>,
        start: impl FnOnce(Switches) -> Option<u64>,
        what: &WaitStart,
    ) -> Wait<'r> {
        if wait.ends == Ends::WithMore {
            wait.switches = wait.switches.with_more();
        }
        if let Some(record) = self.show(&mut wait, what) {
            wait.shown = Some(record);
            let start = start(wait.switches);
            record::finish_start(record, start);
            self.waits.ring.set_running(record);
            // Nobody asks for the start of what is not timed: so it is whatever there is.
            wait.start = start.unwrap_or(wait.sequence.0);
        } else {
            // Else its end would take it for one that is not to be visible, and so is timed.
            wait.plain_class = usize::MAX;
            wait.start = start(wait.switches).unwrap_or(0);
        }
        wait
    }

    /// A number for an event that begins.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn next_sequence(&self) -> Sequence {
        self.sequence.add(Sequence::STEP);
        self.last_sequence()
    }

    /// That of the event that began last.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn last_sequence(&self) -> Sequence {
        Sequence(self.sequence.get())
    }

    /// Whether an event that begins is timed, of [`SAMPLED`](Switches::SAMPLED) ones.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn draw(&self, switches: Switches) -> bool {
        let drawn = self.drawn.get().wrapping_add(1);
        self.drawn.set(drawn);
        switches.is_timed(drawn)
    }

    /// The switches of an event that begins, be it [`SAMPLED`](Switches::SAMPLED) or not.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn sampled(&self, switches: Switches) -> Switches {
        if switches.has(Switches::SAMPLED) { switches.drawn(self.draw(switches)) } else { switches }
    }

    /// Gives it a number, takes the record that ended longest ago, and writes there what is known before the timer is read. What begins from
    /// now on lies within this event, until it ends.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn show(&self, wait: &mut Wait<'_>, what: &WaitStart) -> Option<&'r RecordWords> {
        wait.sequence = self.next_sequence();
        let (record, nesting) = match self.waits.ring.take_alone() {
            Some(record) => (record, self.outer.get()),
            None => self.take_beside(wait.sequence)?,
        };
        let operation = what.operation as u8;
        let site = match what.source {
            Some(location) => self.recent_sources.intern(self.region, location, operation),
            None => Site::nowhere(operation),
        };
        let start = Start {
            what: What::new(wait.switches, site),
            object: what.object,
            nesting,
            amount: (what.amount != 0).then_some(what.amount),
            io: what.io,
        };
        wait.switches = record::begin_start(record, wait.sequence, &start).as_switches();
        Some(record)
    }

    /// The same for an event that is no wait, from `source`; what it lies within is the caller's to say.
    pub(crate) fn show_other(
        &self,
        on: &Recorder<'r>,
        event: &Wait<'_>,
        source: Option<&'static Location<'static>>,
        nesting: Enclosing,
        amount: Option<u64>,
    ) -> Option<&'r RecordWords> {
        let record = on.ring.take(event.switches.has(Switches::HISTORY))?;
        let site = source.map_or(Site::default(), |location| self.recent_sources.intern(self.region, location, 0));
        let what = What::without_operation(event.switches, site);
        record::begin_start(record, event.sequence, &Start { what, object: 0, nesting, amount, io: IoEvent::None });
        Some(record)
    }

    /// A record for a wait that begins while others run, and what it lies within.
    #[cold]
    #[inline(never)]
    fn take_beside(&self, sequence: Sequence) -> Option<(&'r RecordWords, Enclosing)> {
        if let Some(record) = self.waits.ring.take_unkept() {
            return Some((record, self.outer.get()));
        }
        let nesting = self.enclosing();
        let Some(record) = self.waits.ring.take_beside() else {
            self.region.count_lost(Lost::NestedEvents);
            return None;
        };
        self.outer.set(Enclosing::event(sequence, EventType::Wait));
        Some((record, nesting))
    }

    /// What encloses what begins now. Nearly all waits run alone and enclose nothing, so only who asks here makes of such a wait one
    /// among others, which is noted in `outer` and taken away at its end.
    pub(crate) fn enclosing(&self) -> Enclosing {
        // Once the slot is given back, its records are somebody else's.
        if !self.is_detached()
            && let Some(enclosing) = self.waits.ring.join().and_then(record::as_enclosing)
        {
            self.outer.set(enclosing);
        }
        self.outer.get()
    }

    /// A wait ends. Returns the timer's ticks, if it was timed.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn end(&self, clock: &impl Clock, wait: Wait<'_>, held: Held<'_, '_>) -> Option<u64> {
        let switches = wait.switches;
        // Apart, so that a compiler that sees begin(), too, drops the rest; what is of an object goes the common way, or its sums were there twice.
        // And what is only counted apart from what is timed: so it is not asked which it is.
        if matches!(held, Held::None) && wait.shown.is_none() {
            if wait.ends == Ends::Counted {
                if let Some(stat) = self.current(wait.plain_class) {
                    stat::count_untimed(stat);
                    return None;
                }
            } else if let Some(stat) = self.current(wait.plain_class) {
                // Timed: see begin_at(). It jumps, so that what is visible goes straight on.
                cold_path();
                let sums = stat::begin_current(stat);
                let ticks = clock.counter();
                self.count_ticks(sums, &wait, switches, ticks);
                return Some(ticks);
            }
            return self.end_otherwise(clock, &wait, &held);
        }
        let Some(stat) = self.current(wait.plain_class) else { return self.end_otherwise(clock, &wait, &held) };
        // Known here, as where it began.
        let is_timed = switches.has(Switches::TIMED_BY_COUNTER);
        self.end_current(&wait, stat, switches, &Object::of(&held), is_timed, || clock.counter())
    }

    /// The sums of a wait that is as nearly all are, if they are [current](stat::is_current).
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn current(&self, plain_class: usize) -> Option<&'r StatWords> {
        self.stats.get().get(plain_class).filter(|stat| stat::is_current(stat, self.epochs(&WAITS)))
    }

    /// Ends a wait whose switches say [`PLAIN_SHOWN_TIMED`](Switches::PLAIN_SHOWN_TIMED). None if they do not, it found no record, or its
    /// slot was given back meanwhile: then nothing has happened, and [`end_otherwise`](Self::end_otherwise) ends it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn end_plain(&self, clock: &impl Clock, wait: &Wait<'_>, held: &Held<'_, '_>) -> Option<u64> {
        let switches = wait.switches;
        if !switches.has(Switches::PLAIN_SHOWN_TIMED) {
            return None;
        }
        let stat = self.current(wait.plain_class)?;
        let wait = Wait { shown: Some(wait.shown?), ends: Ends::Recorded, ..*wait };
        self.end_current(&wait, stat, switches, &Object::of(held), true, || clock.counter())
    }

    /// A wait ends that is rare, or whose slot was given back meanwhile.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn end_otherwise(&self, clock: &impl Clock, wait: &Wait<'_>, held: &Held<'_, '_>) -> Option<u64> {
        let Wait { sequence: _, start, shown, plain_class: _, switches, amount, ends } = *wait;
        // Of what is only counted the switches say that, too: so compilers need not keep it.
        let ends = if ends == Ends::Counted { Ends::Recorded } else { ends };
        self.end_parts(clock, start, shown, switches, amount, ends, Object::of(held))
    }

    /// The same of its parts: a wait that is given whole to a function of its own is kept in memory by compilers, also on the way of all that do
    /// not come here.
    #[cold]
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "a wait's parts")]
    fn end_parts(
        &self,
        clock: &impl Clock,
        start: u64,
        shown: Option<&RecordWords>,
        switches: Switches,
        amount: u64,
        ends: Ends,
        object: Object<'_>,
    ) -> Option<u64> {
        let mut wait = Wait { start, shown, switches, amount, ends, ..Wait::NONE };
        let switches = self.kept(&mut wait)?;
        self.end_by_switches(&self.waits, &wait, switches, &object, Unit::Ticks, || switches.read(clock))
    }

    /// What is left of an event's switches at its end, if anything is, and of its place.
    pub(crate) fn kept(&self, event: &mut Wait<'_>) -> Option<Switches> {
        let switches = Switches(event.switches.0 & self.keep.get());
        if !switches.has(Switches::CURRENT) {
            event.shown = None;
        }
        switches.has(Switches::ENABLED).then_some(switches)
    }

    /// An event ends, as its switches say; its sums may have to be in `unit`.
    fn end_by_switches(
        &self,
        on: &Recorder<'r>,
        wait: &Wait<'_>,
        switches: Switches,
        object: &Object<'_>,
        unit: Unit,
        read: impl Fn() -> u64,
    ) -> Option<u64> {
        let timer = usize::from(switches.timer_index());
        let is_timed = switches.has(Switches::TIMED);
        let unit = if is_timed && timer != TimerName::Cycle.index() { Unit::Picoseconds } else { unit };
        let stat = self.stats.get().get(switches.class().index()).filter(|_| switches.has(Switches::THREAD));
        let sums =
            stat.map(|stat| stat::begin(stat, self.epochs(on.store()), unit, || self.honour(on, stat, &[], switches, unit)));
        let ending = self.begin_end(on, wait, switches);
        let (ticks, wait_ps) = if is_timed {
            let ticks = ending.finish(on, read);
            let wait_ps = || self.conversions[timer % 8].wait(wait.start, ticks).1;
            (Some(ticks), Some(sums.map_or_else(wait_ps, |sums| self.count_timed(sums, wait, switches, timer, ticks))))
        } else {
            ending.finish(on, || None);
            if let Some(sums) = sums {
                sums.count_none();
                sums.publish();
            }
            (None, None)
        };
        if stat.is_none() {
            self.count_shared(switches, wait_ps);
        }
        self.count_object(wait, switches, object, || wait_ps);
        ticks
    }

    /// The stage that runs ends, at `read` if it is timed. What encloses the waits is the caller's to say.
    pub(crate) fn finish_stage(&self, stage: RunningStage<'_>, read: impl Fn(Switches) -> u64) {
        let stage = stage.as_wait();
        self.end_by_switches(&self.stages, &stage, stage.switches, &Object::None, Unit::Picoseconds, || read(stage.switches));
    }

    /// The record of an event ends, and what is beside it; returns how long the event took, in picoseconds. `entries` gets the index of its row
    /// in the long history, and is called if it is visible.
    pub(crate) fn finish_record(
        &self,
        on: &Recorder<'r>,
        event: &Wait<'_>,
        switches: Switches,
        ticks: Option<u64>,
        entries: impl FnOnce(Option<usize>),
    ) -> Option<u64> {
        let mut ending = self.begin_end(on, event, switches);
        if let Some(record) = ending.record {
            record::begin_change(record);
            ending.changed = true;
            entries(ending.row.map(|row| on.long.index_of(row)));
        }
        ending.finish(on, || ticks);
        let conversion = &self.conversions[usize::from(switches.timer_index()) % 8];
        ticks.map(|ticks| conversion.wait(event.start, ticks).1)
    }

    /// Where its records of a class of events begin in their section.
    pub(crate) fn first_record(&self, on: &Recorder<'_>) -> usize {
        self.slot_index().saturating_mul(on.ring.records().len())
    }

    /// Where its slot is; 0 without one.
    pub(crate) fn slot_index(&self) -> usize {
        self.slot.as_ref().map_or(0, |slot| slot.index)
    }

    /// A wait ends that is as nearly all are, and enters the history if it is visible; `stat` is its [current](stat::is_current) sums.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn end_current(
        &self,
        wait: &Wait<'_>,
        stat: &StatWords,
        switches: Switches,
        object: &Object<'_>,
        is_timed: bool,
        read: impl Fn() -> u64,
    ) -> Option<u64> {
        let on = &self.waits;
        if !is_timed {
            cold_path();
            stat::count_untimed(stat);
            self.begin_end(on, wait, switches).finish(on, || None);
            self.count_object(wait, switches, object, || None);
            return None;
        }
        let sums = stat::begin_current(stat);
        let ticks = self.begin_end(on, wait, switches).finish(on, read);
        self.count_ticks(sums, wait, switches, ticks);
        self.count_object(wait, switches, object, || Some(self.conversions[TimerName::Cycle.index()].wait(wait.start, ticks).1));
        Some(ticks)
    }

    /// Whether the slot is this actor's.
    pub(crate) fn owns(&self, words: &SlotWords) -> bool {
        self.slot.as_ref().is_some_and(|slot| core::ptr::eq(slot.words, words)) && !self.is_detached()
    }

    /// Whether its slot is given back.
    pub(crate) fn is_detached(&self) -> bool {
        self.keep.get() != u64::MAX
    }

    /// The words that must agree with what the actor itself remembers.
    pub(crate) fn own_words(&self) -> impl Iterator<Item = &'r Word> {
        let slot = self.slot.iter().flat_map(|slot| slot.words);
        let records = self.recorders().into_iter().flat_map(|on| {
            let (first, records) = (self.first_record(on), on.ring.records());
            let beside = (first..first + records.len()).flat_map(|index| on.store().beside(self.region, Place::Ring(index)));
            let chunk = on.long.last_chunk().into_iter().flat_map(|(first, rows, state)| {
                let beside = (first..first + rows.len()).flat_map(|index| on.store().beside(self.region, Place::Long(index)));
                rows.as_flattened().iter().chain(beside).chain([state])
            });
            records.as_flattened().iter().chain(beside).chain(chunk)
        });
        // Of sums only whether they are being written.
        slot.chain(records).chain(self.stats.get().iter().map(|stat| &stat[stat::word::VERSION]))
    }

    fn recorders(&self) -> [&Recorder<'r>; 4] {
        [&self.waits, &self.stages, &self.statements, &self.transactions]
    }

    /// Where it counts metrics.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn metrics(&self) -> metric::Recorder<'r> {
        self.metrics.get()
    }

    /// Whether it is filling the chunk at this index of a long history.
    pub(crate) fn is_filling(&self, store: &EventStore, index: usize) -> bool {
        self.recorders().into_iter().any(|on| on.long.store().long_chunks == store.long_chunks && on.long.is_filling(index))
    }

    /// Gives back the chunks of the long histories that it has not filled.
    pub(crate) fn finish_chunks(&self) {
        self.recorders().into_iter().for_each(|on| on.long.close());
    }
}
