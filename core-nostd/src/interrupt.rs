//! Interrupts, injected before every single step of a writer or a reader: what a signal handler or an interrupt does to a region whose
//! own thread is in the middle of something.
//!
//! Compiled into the unit tests only: `sync.rs` calls [`step`] before each access to a word. An interrupt runs to its end where it was
//! injected, as one does on a processor, and may be interrupted itself. So every point between two accesses is tried, and what is
//! written is seen whole or not at all. Orderings between processors are not tried here; the models of `loom-tests` do that.
//!
//! Each level records with an actor of its own, which is the rule that a ring has one writer.

use crate::fork::tests::into_own_memory;
use crate::record::{self, Read};
use crate::region::{RECORD, SLOT, Section};
use crate::table::Sweep;
use crate::{
    Actor, ActorIdentity, Child, Class, Config, Consumer, FileIo, Group, Held, Identity, InstanceId, InstrumentName, Lost,
    MemoryChange, Operation, Region, Setting, Size, WaitStart, Word, tables,
};
use core::cell::{Cell, OnceCell, RefCell};
use core::iter::StepBy;
use core::ops::RangeFrom;
use perfschema_timer::{Clock, MockClock, TimerName};
use std::collections::BTreeSet;
use std::rc::Rc;

mod copies;
mod files_and_memory;
mod forks;
mod metrics;
mod settings;
mod stages;
mod statements;
mod transactions;
mod truncation;

const LEVELS: usize = 3;

/// How much farther apart than elsewhere steps are tried where each is to meet those of another level: of words of two halves both levels
/// make twice as many steps, which would be four times as many cases.
const APART_OF_HALVES: u64 = if cfg!(target_has_atomic = "64") { 1 } else { 4 };

/// Whether an interrupt records, too, after how much of what the thread does it comes, and at which steps: at once, in a thread's first
/// records, and `later`, in records that are written again. Where words have two halves, each at every second step, and two of them at each.
fn interrupts_by_kind(later: u64) -> [(bool, u64, StepBy<RangeFrom<u64>>); 4] {
    const APART: u64 = if cfg!(target_has_atomic = "64") { 1 } else { 2 };
    let steps = |first: u64| (first..).step_by(APART as usize);
    [(false, 0, steps(0)), (true, 0, steps(APART - 1)), (false, later, steps(APART - 1)), (true, later, steps(0))]
}

/// When so many steps have been made, and what happens then.
type Interrupt = (u64, Rc<dyn Fn()>);

/// Where each level is, and what is to happen there.
struct Plan {
    /// How many interrupts run, each within the one before.
    level: Cell<usize>,
    steps: [Cell<u64>; LEVELS],
    /// The step at which a level is interrupted.
    at: [Cell<Option<u64>>; LEVELS],
}

thread_local! {
    /// Whether accesses are steps. Of most they are not: a region is made as it was at first before each case. So this is looked at alone,
    /// and inline.
    static WATCHING: Cell<bool> = const { Cell::new(false) };
    static PLAN: Plan = const {
        Plan { level: Cell::new(0), steps: [const { Cell::new(0) }; LEVELS], at: [const { Cell::new(None) }; LEVELS] }
    };
    /// What happens there. Not part of the plan, which has nothing to drop: a thread's own value that has is found more slowly.
    static INTERRUPTS: RefCell<[Option<Interrupt>; LEVELS]> = const { RefCell::new([const { None }; LEVELS]) };
}

/// The next access to a word is about to be made.
#[inline]
pub(crate) fn step() {
    if WATCHING.get() {
        make_step();
    }
}

fn make_step() {
    PLAN.with(|plan| {
        let level = plan.level.get();
        let made = plan.steps[level].replace(plan.steps[level].get() + 1);
        if plan.at[level].get() == Some(made) {
            plan.level.set(level + 1);
            let interrupt = INTERRUPTS.with_borrow(|interrupts| interrupts[level].clone());
            let (_, run) = interrupt.expect("it has a step, so it is there");
            run();
            plan.level.set(level);
        }
    });
}

/// Runs `main`, with interrupt n at a step of interrupt n - 1, or of `main`. Returns how many steps each level made; a level that made
/// fewer than it was to be interrupted at was not.
fn interrupted(main: impl FnOnce(), interrupts: &[Interrupt]) -> [u64; LEVELS] {
    PLAN.with(|plan| {
        plan.steps.iter().for_each(|steps| steps.set(0));
        plan.at.iter().enumerate().for_each(|(level, at)| at.set(interrupts.get(level).map(|(at, _)| *at)));
        INTERRUPTS.set(core::array::from_fn(|level| interrupts.get(level).cloned()));
        WATCHING.set(true);
        main();
        WATCHING.set(false);
        INTERRUPTS.take();
        plan.steps.each_ref().map(Cell::get)
    })
}

/// A clock that stands where an event's number puts it, so that a row says itself whether it is whole.
struct At(u64);

impl Clock for At {
    fn ticks(&self, _: TimerName) -> u64 {
        self.0
    }
}

const fn start_ns(event: u64) -> u64 {
    event * 1_000
}

const fn wait_ns(event: u64) -> u64 {
    event % 7 + 1
}

const CLASS: InstrumentName<'static> = InstrumentName::literal("wait/synch/mutex/test/interrupted");
const HISTORY: u32 = 2;
/// Events for which each of a thread's records is written twice, and one more.
const BURST: u64 = 2 * (HISTORY as u64 + 6) + 1;
const CONFIG: Config = Config::EMPTY
    .with(Size::MaxMutexClasses, 1)
    .with(Size::MaxMutexInstances, LEVELS as u32)
    .with(Size::MaxThreadInstances, LEVELS as u32)
    .with(Size::EventsWaitsHistorySize, HISTORY)
    .with(Size::EventsWaitsHistoryLongSize, 24)
    .with(Size::MaxWaitHistograms, LEVELS as u32)
    .with(Size::MaxSourceLocations, 4)
    .with(Size::SetupActorsSize, 1);

/// A region to which everything happens, again and again from the start.
struct Ground {
    region: &'static Region<'static>,
    /// What the words were when nothing had happened.
    untouched: Vec<u64>,
}

thread_local! {
    /// One for each test.
    static GROUND: Ground = Ground::new();
}

/// A region of these sizes, that its test leaks.
fn region_of(config: &Config) -> &'static Region<'static> {
    /// Keeps them reachable.
    static REGIONS: std::sync::Mutex<Vec<&'static Region<'static>>> = std::sync::Mutex::new(Vec::new());
    let words: &'static [Word] = Vec::leak((0..config.words()).map(|_| Word::new(0)).collect());
    let region = Region::create(words, config, &Identity::default(), &MockClock::new().timers()).unwrap();
    let region: &'static Region<'static> = Box::leak(Box::new(region));
    REGIONS.lock().unwrap().push(region);
    region
}

impl Ground {
    fn new() -> Ground {
        let (region, untouched) = ground(&CONFIG);
        Ground { region, untouched }
    }
}

/// A region of these sizes, and what its words are when nothing has happened.
fn ground(config: &Config) -> (&'static Region<'static>, Vec<u64>) {
    let region = region_of(config);
    region.set_wait_timer(TimerName::Nanosecond);
    region.enable_everything();
    (region, region.words().iter().map(Word::get).collect())
}

/// Nothing has happened there.
fn forget(region: &Region<'static>, untouched: &[u64]) {
    region.words().iter().zip(untouched).for_each(|(word, value)| word.set(*value));
}

/// All that a thread has besides is overwritten between two steps of `read`: events from the first to `last`, each of which `outer` begins and
/// `end` ends. When the first step comes, the first of them runs or has ended; at the end the last does.
fn at_every_step_of_a_reader<E: 'static>(
    (region, untouched): (&'static Region<'static>, Vec<u64>),
    last: u64,
    outer: fn(&Region<'static>, &Actor<'static>, u64) -> E,
    end: fn(&Actor<'static>, E, u64),
    read: fn(&Region<'static>, u64),
) {
    for (runs, goes_on) in [(false, false), (true, false), (false, true), (true, true)] {
        for at in 0.. {
            forget(region, &untouched);
            let actor = Actor::attach(region, &ActorIdentity::default());
            let first = Cell::new(Some(outer(region, &actor, 1)));
            let end_first = move |actor: &Actor<'static>| first.take().into_iter().for_each(|first| end(actor, first, 1));
            if !runs {
                end_first(&actor);
            }
            let work = Rc::new(move || {
                end_first(&actor);
                for number in 2..=last {
                    let event = outer(region, &actor, number);
                    if number < last || !goes_on {
                        end(&actor, event, number);
                    }
                }
            });
            let steps = interrupted(|| read(region, at), &[(at, work)]);
            if steps[0] <= at {
                break;
            }
        }
    }
}

/// The account of a read closes.
fn closes(sweep: Sweep, at: u64) {
    assert_eq!(sweep.rows + sweep.free + sweep.skipped + sweep.changed, sweep.places, "at {at}");
}

/// One life of the region: the actors, and what they have recorded.
struct Life {
    region: &'static Region<'static>,
    actors: [OnceCell<Actor<'static>>; LEVELS],
    instances: [Cell<InstanceId>; LEVELS],
    next: Cell<u64>,
    begun: Cell<u64>,
    /// Events of each level that run, each within the one before.
    running: [RefCell<Vec<u64>>; LEVELS],
    /// Events of each level in the order in which they ended.
    ended: [RefCell<Vec<u64>>; LEVELS],
}

impl Life {
    fn new() -> Rc<Life> {
        let region = GROUND.with(|ground| {
            forget(ground.region, &ground.untouched);
            ground.region
        });
        Rc::new(Life {
            region,
            actors: Default::default(),
            instances: Default::default(),
            next: Cell::new(1),
            begun: Cell::new(0),
            running: Default::default(),
            ended: Default::default(),
        })
    }

    /// What an instrumentation point does at its first use, and a level at its first event.
    fn arrive(&self, level: usize) -> Class {
        let class = self.region.register(CLASS, Setting::ON).unwrap();
        if self.instances[level].get() == InstanceId::NONE {
            self.instances[level].set(self.region.create_instance(class, level as u64).unwrap_or(InstanceId::NONE));
        }
        self.actors[level]
            .get_or_init(|| Actor::attach(self.region, &ActorIdentity { name: "thread/test/level", ..Default::default() }));
        class
    }

    /// Records `count` events, one after the other, each with one within it if `nested`.
    fn record(&self, level: usize, count: u64, nested: bool) {
        let class = self.arrive(level);
        for _ in 0..count {
            self.event(level, class, &mut |life| {
                if nested {
                    life.event(level, class, &mut |_| {});
                }
            });
        }
    }

    fn event(&self, level: usize, class: Class, within: &mut dyn FnMut(&Life)) {
        let Some(actor) = self.actors[level].get() else { return };
        let event = self.next.replace(self.next.get() + 1);
        let switches = self.region.switches(class);
        // Off while the interrupted level is about to register the class.
        if !switches.is_on() {
            return;
        }
        self.begun.set(self.begun.get() + 1);
        self.running[level].borrow_mut().push(event);
        let source = Some(core::panic::Location::caller());
        let what = WaitStart { object: event, amount: event, source, ..WaitStart::new(Operation::Lock) };
        let wait = actor.begin(&At(start_ns(event)), switches, class, &what);
        within(self);
        let instance = self.region.instance(self.instances[level].get());
        let held = instance.as_ref().map_or(Held::None, Held::Exclusive);
        actor.end(&At(start_ns(event) + wait_ns(event)), wait, held);
        self.running[level].borrow_mut().pop();
        self.ended[level].borrow_mut().push(event);
    }

    /// The program that is interrupted.
    fn main(&self) {
        self.record(0, 1, true);
        self.record(0, 1, false);
    }

    /// Everything recorded is there, whole, once, and nothing else.
    fn check(&self, at: &dyn core::fmt::Debug) {
        let all: Vec<u64> = self.ended.iter().flat_map(|ended| ended.borrow().clone()).collect();
        assert_eq!(all.len() as u64, self.begun.get());
        let summary = self.region.find_class(CLASS.as_str()).map(|class| self.region.summary_by_event_name(class)).unwrap();
        let waits = || all.iter().map(|&event| wait_ns(event) * 1_000);
        assert_eq!((summary.count, summary.sum_ps), (all.len() as u64, waits().sum()), "{at:?}");
        assert_eq!((Some(summary.min_ps), Some(summary.max_ps)), (waits().min(), waits().max()), "{at:?}");
        let mut buckets = 0;
        self.region.scan(&tables::EventsWaitsHistogramByEventName, |row| buckets += row.count_bucket);
        assert_eq!(buckets, all.len() as u64, "{at:?}");
        for &lost in Lost::ALL {
            assert_eq!(self.region.lost(lost), 0, "{lost:?} at {at:?}");
        }
        let mut threads = 0;
        self.region.scan(&tables::Threads, |_| threads += 1);
        assert_eq!(threads, self.actors.iter().filter(|actor| actor.get().is_some()).count(), "{at:?}");
        for (level, actor) in self.actors.iter().enumerate() {
            let Some(thread_id) = actor.get().map(Actor::thread_id) else { continue };
            let ended = self.ended[level].borrow();
            let last: BTreeSet<u64> = ended.iter().rev().take(HISTORY as usize).copied().collect();
            let mut history = BTreeSet::new();
            self.region.scan(&tables::EventsWaitsHistory, |row| {
                if row.thread_id == thread_id {
                    history.insert(row.object_instance_begin);
                }
            });
            assert_eq!(history, last, "history of level {level} at {at:?}");
            let mut by_thread = 0;
            self.region.scan(&tables::EventsWaitsSummaryByThreadByEventName, |row| {
                by_thread += if row.thread_id == thread_id { row.count_star } else { 0 };
            });
            assert_eq!(by_thread, ended.len() as u64, "level {level} at {at:?}");
            let mut by_instance = 0;
            self.region.scan(&tables::EventsWaitsSummaryByInstance, |row| {
                by_instance += if row.object_instance_begin == level as u64 { row.count_star } else { 0 };
            });
            assert_eq!(by_instance, ended.len() as u64, "level {level} at {at:?}");
        }
        assert_eq!(self.read(at), all.len() as u64);
    }

    /// Reads every table at whatever moment this is: no row is torn, every account closes. Returns COUNT_STAR.
    fn read(&self, at: &dyn core::fmt::Debug) -> u64 {
        for table in tables::ALL {
            let declaration = table.declaration();
            // The timers of a region of one's own are measured anew, which takes a while.
            if declaration.name == "performance_timers" {
                continue;
            }
            let sweep = table.scan(self.region, &mut |row| {
                for (column, declared) in declaration.columns.iter().enumerate() {
                    assert!(declared.holds(&row.cell(column)), "{} at {at:?}", declared.name);
                }
            });
            assert_eq!(sweep.rows + sweep.free + sweep.skipped + sweep.changed, sweep.places, "{} at {at:?}", declaration.name);
        }
        self.region.scan(&tables::EventsWaitsCurrent, |row| whole(row, at));
        self.region.scan(&tables::EventsWaitsHistory, |row| whole(row, at));
        // The tables show few of a thread's records, and hide the one that is written next; here is each of them.
        for words in self.region.arrays::<RECORD>(Section::Rings) {
            if let Read::Whole(found) = record::read(words) {
                let event = found.object;
                assert_eq!((found.amount, found.start), (event, start_ns(event)), "{at:?}");
                assert!(!found.ended || found.end == start_ns(event) + wait_ns(event), "{at:?}");
            }
        }
        let mut seen = BTreeSet::new();
        self.region.scan(&tables::EventsWaitsHistoryLong, |row| {
            whole(row, at);
            assert!(seen.insert(row.object_instance_begin), "twice at {at:?}");
        });
        self.region.scan(&tables::EventsWaitsSummaryByThreadByEventName, |row| {
            let level = self.actors.iter().position(|actor| actor.get().is_some_and(|actor| actor.thread_id() == row.thread_id));
            // Of an actor that is just being attached nothing is known here.
            let Some(level) = level else { return assert_eq!(row.count_star, 0, "{at:?}") };
            let (ended, running) = (self.ended[level].borrow(), self.running[level].borrow());
            // The one that is ending may be in it or not, but all of it.
            let counted = ended.iter().chain(running.last()).take(row.count_star as usize);
            let sum = counted.clone().map(|&event| wait_ns(event) * 1_000).sum::<u64>();
            assert_eq!((row.count_star, row.sum_timer_wait), (counted.count() as u64, sum), "level {level} at {at:?}");
        });
        let mut count = 0;
        self.region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| count += row.count_star);
        count
    }
}

/// Every column of the row belongs to the event that its object names.
fn whole(row: &tables::EventsWaitsRow, at: &dyn core::fmt::Debug) {
    let event = row.object_instance_begin;
    assert_eq!(row.event_name, CLASS.as_str(), "{at:?}");
    assert_eq!(row.operation, "lock", "{at:?}");
    assert_eq!(row.spins.map(u64::from), Some(event), "{at:?}");
    assert_eq!(row.timer_start, Some(start_ns(event) * 1_000), "{at:?}");
    if row.timer_end.is_some() {
        assert_eq!(row.timer_wait, Some(wait_ns(event) * 1_000), "{at:?}");
        assert!(row.end_event_id >= Some(row.event_id), "{at:?}");
    }
}

/// An interrupt that records so many events at `level`.
fn records(life: &Rc<Life>, level: usize, count: u64) -> Rc<dyn Fn()> {
    let life = Rc::clone(life);
    Rc::new(move || life.record(level, count, false))
}

#[test]
fn an_interrupt_at_every_step_and_one_within_it_at_every_step() {
    // Each step of either with every third of the other.
    const APART: u64 = 3 * APART_OF_HALVES;
    let mut cases = 0_u32;
    for first in 0.. {
        let mut second = first % APART;
        loop {
            let life = Life::new();
            let interrupts = [(first, records(&life, 1, 1)), (second, records(&life, 2, 1))];
            let steps = interrupted(|| life.main(), &interrupts);
            // Looking at every table takes longer than the case itself; the sums say whether it is worth it.
            if cases.is_multiple_of(16) || steps[2] == 0 {
                life.check(&(first, second));
            } else {
                let class = life.region.find_class(CLASS.as_str()).unwrap();
                assert_eq!(life.region.summary_by_event_name(class).count, life.begun.get(), "{:?}", (first, second));
            }
            cases += 1;
            if steps[0] <= first {
                assert!(cases > 20_000, "{cases} cases");
                return;
            }
            if steps[1] <= second {
                break;
            }
            second += APART;
        }
    }
}

#[test]
fn bursts_longer_than_a_ring_at_every_step() {
    // Each step of either level in turn with every 151st of the other.
    const APART: u64 = 151 * APART_OF_HALVES;
    for first in 0.. {
        let mut second = first % APART;
        loop {
            let life = Life::new();
            let interrupts = [(first, records(&life, 1, BURST)), (second, records(&life, 2, BURST))];
            let steps = interrupted(|| life.main(), &interrupts);
            life.check(&(first, second));
            if steps[0] <= first {
                return;
            }
            if steps[1] <= second {
                break;
            }
            second += APART;
        }
    }
}

#[test]
fn a_reader_at_every_step_of_a_writer_and_of_its_interrupt() {
    let reader = |life: &Rc<Life>, first: u64| -> Rc<dyn Fn()> {
        let life = Rc::clone(life);
        Rc::new(move || {
            let (count, begun) = (life.read(&first), life.begun.get());
            let ended: usize = life.ended.iter().map(|ended| ended.borrow().len()).sum();
            assert!((ended as u64..=begun).contains(&count), "{count} of {ended} to {begun} at {first}");
        })
    };
    // A thread's first records, and records that are written again.
    for before in [0, BURST] {
        for first in 0.. {
            let life = Life::new();
            life.record(0, before, false);
            let steps = interrupted(|| life.main(), &[(first, reader(&life, first))]);
            life.check(&first);
            if steps[0] <= first {
                break;
            }
            // Two levels in mid-record, and the reader.
            let life = Life::new();
            life.record(0, before, false);
            interrupted(|| life.main(), &[(first, records(&life, 1, 2)), (first * 7 % 300, reader(&life, first))]);
            life.check(&first);
        }
    }
}

#[test]
fn a_writer_at_every_step_of_a_reader() {
    for first in 0.. {
        let life = Life::new();
        life.main();
        let steps = interrupted(|| _ = life.read(&first), &[(first, records(&life, 0, BURST))]);
        if steps[0] <= first {
            return;
        }
    }
}

/// Whatever a thread begins and ends meanwhile, it always waits for something, or has waited for something last.
#[test]
fn a_thread_at_work_is_in_events_waits_current_at_every_step_of_a_reader() {
    for (ends_one, count) in [(true, 0), (true, 1), (false, 1), (false, BURST)] {
        for at in 0.. {
            let life = Life::new();
            life.main();
            let class = life.arrive(0);
            let actor = life.actors[0].get().expect("it has arrived");
            let what = WaitStart { object: 99, amount: 99, ..WaitStart::new(Operation::Lock) };
            let wait = Cell::new(ends_one.then(|| actor.begin(&At(start_ns(99)), life.region.switches(class), class, &what)));
            let inner = Rc::clone(&life);
            let work = Rc::new(move || {
                if let (Some(wait), Some(actor)) = (wait.take(), inner.actors[0].get()) {
                    actor.end(&At(start_ns(99) + wait_ns(99)), wait, Held::None);
                }
                inner.record(0, count, false);
            });
            let mut rows = 0;
            let look = || {
                let sweep = life.region.scan(&tables::EventsWaitsCurrent, |row| {
                    whole(row, &at);
                    rows += 1;
                });
                assert_eq!(sweep.rows + sweep.free + sweep.skipped + sweep.changed, sweep.places);
                assert_eq!((sweep.rows, sweep.skipped), (rows, 0));
            };
            let steps = interrupted(look, &[(at, work)]);
            assert_eq!(rows, 1, "{ends_one} {count} at {at}");
            if steps[0] <= at {
                break;
            }
        }
    }
}

#[test]
fn an_actor_that_is_given_back_is_interrupted_at_every_step() {
    for first in 0.. {
        let life = Life::new();
        life.main();
        let steps = interrupted(|| life.actors[0].get().unwrap().detach(), &[(first, records(&life, 1, BURST))]);
        let count = life.read(&first);
        assert_eq!(count, life.begun.get(), "{first}");
        // The place is free, once: three more find room, with the interrupt's that is two.
        let more: Vec<Actor<'_>> = (0..LEVELS).map(|_| Actor::attach(life.region, &ActorIdentity::default())).collect();
        let room = if steps[1] == 0 { LEVELS } else { LEVELS - 1 };
        assert_eq!(more.iter().filter(|actor| actor.thread_id() != 0).count(), room, "{first}");
        if steps[0] <= first {
            return;
        }
    }
}

/// What the rule is for: two levels with one actor between them lose events or tear them.
#[test]
fn without_an_actor_of_its_own_an_interrupt_does_harm() {
    let mut harmed = 0;
    for first in 0..200 {
        let life = Life::new();
        life.record(0, 1, false);
        let steps = interrupted(|| life.record(0, 1, false), &[(first, records(&life, 0, BURST))]);
        let class = life.region.find_class(CLASS.as_str()).unwrap();
        let count = life.region.summary_by_event_name(class).count;
        let mut history = BTreeSet::new();
        life.region.scan(&tables::EventsWaitsHistory, |row| _ = history.insert(row.object_instance_begin));
        let last: BTreeSet<u64> = life.ended[0].borrow().iter().rev().take(HISTORY as usize).copied().collect();
        harmed += u32::from(steps[1] > 0 && (count != life.begun.get() || history != last));
    }
    assert!(harmed > 0);
}

/// A handler forks while its thread records: what the child goes on to write is whole, and stays so.
#[test]
fn a_fork_at_every_step_of_a_wait() {
    let region = region_of(&CONFIG);
    region.enable_everything();
    let class = region.register(CLASS, Setting::ON).unwrap();
    let lock = region.create_instance(class, 1).unwrap();
    let actor = Rc::new(Actor::attach(region, &ActorIdentity::default()));
    let child = Child { pid: 2, os_id: 2, start_unix_ns: 0, start_monotonic_ns: 0 };
    let wait = |actor: &Actor<'static>| {
        let wait = actor.begin(&At(0), region.switches(class), class, &WaitStart::new(Operation::Lock));
        actor.end(&At(1), wait, Held::Exclusive(&region.instance(lock).unwrap()));
    };
    let counts = || {
        let (mut by_thread, mut by_instance) = (Vec::new(), Vec::new());
        region.scan(&tables::EventsWaitsSummaryByThreadByEventName, |row| by_thread.push(row.count_star));
        region.scan(&tables::EventsWaitsSummaryByInstance, |row| by_instance.push(row.count_star));
        (by_thread, by_instance)
    };
    let mut cases = 0;
    let settings = [Setting::ON, Setting::COUNTED].into_iter().flat_map(|setting| [(setting, true), (setting, false)]);
    // In memory that is copied at the first write, or in memory of the child's own.
    for (setting, visible, own_memory) in
        settings.flat_map(|(setting, visible)| [(setting, visible, false), (setting, visible, true)])
    {
        region.set_setting(class, setting);
        region.set_consumer(Consumer::EventsWaitsCurrent, visible);
        for at in 0.. {
            let own = Rc::clone(&actor);
            let fork = move || {
                if own_memory {
                    into_own_memory(region, &own);
                }
                region.forked(&child, &[Some(&own)], false);
            };
            let steps = interrupted(|| wait(&actor), &[(at, Rc::new(fork))]);
            let case = (setting, visible, own_memory, at);
            let (by_thread, by_instance) = counts();
            assert_eq!((by_thread.len(), by_instance.len()), (1, 1), "{case:?}");
            wait(&actor);
            assert_eq!(counts(), (vec![by_thread[0] + 1], vec![by_instance[0] + 1]), "{case:?}");
            cases += 1;
            if steps[0] <= at {
                break;
            }
        }
    }
    assert!(cases > 100, "{cases}");
}

/// Numbers that several levels write have no version. Where a word is two halves, a handler comes between them, too: what is read of one
/// might be neither what it was nor what it is, and an extreme be taken for a larger one.
#[test]
fn numbers_that_several_levels_write_are_whole_at_every_step() {
    const SHARED: Config =
        Config::EMPTY.with(Size::MaxMutexClasses, 1).with(Size::MaxFileClasses, 1).with(Size::MaxMemoryClasses, 1);
    // In picoseconds just below 2³², just above it, and between what these two look like if they are mixed.
    const NS: [u64; 3] = [4_294_967, 4_294_968, 4_299_999];
    const BYTES: [i64; 3] = [-1, 2, -3];
    let region = region_of(&SHARED);
    region.set_wait_timer(TimerName::Nanosecond);
    let [lock, file, heap] = [CLASS.as_str(), "wait/io/file/test/interrupted", "memory/test/interrupted"]
        .map(|name| region.register(InstrumentName::new(name).unwrap(), Setting::ON).unwrap());
    region.enable_everything();
    let untouched: Vec<u64> = region.words().iter().map(Word::get).collect();
    // There is no slot for anybody.
    let actor = Rc::new(Actor::without_slot(region));
    let record = move |actor: &Actor<'static>, number: usize| {
        for (class, held) in [(lock, Held::None), (file, Held::File(FileIo { file: None, group: Group::Read }))] {
            let wait = actor.begin(&At(0), region.switches(class), class, &WaitStart::new(Operation::Read));
            actor.end(&At(NS[number]), wait, held);
        }
        let [bytes_allocated, bytes_freed] = [BYTES[number].max(0).unsigned_abs(), BYTES[number].min(0).unsigned_abs()];
        actor.count_memory(region.switches(heap), heap, MemoryChange { bytes_allocated, bytes_freed, ..Default::default() });
    };
    // What was counted may be one or the other: that of the first so many.
    let read = |counted: [usize; 2], at| {
        let sums = counted.map(|count| NS[..count].iter().sum::<u64>() * 1_000);
        let most = counted.map(|count| NS[..count].iter().max().unwrap() * 1_000);
        for waits in [region.summary_by_event_name(lock), region.file_summary_by_event_name(file).group(Group::Read).waits] {
            assert!(sums.contains(&waits.sum_ps) && most.contains(&waits.max_ps), "{waits:?} at {at}");
        }
        let bytes = region.memory_summary_by_event_name(heap).bytes;
        let in_use = counted.map(|count| BYTES[..count].iter().sum::<i64>());
        assert!(in_use.contains(&bytes.current()) && bytes.low <= bytes.current(), "{bytes:?} at {at}");
        assert!((-4..0).contains(&bytes.low) && (0..2).contains(&bytes.high), "{bytes:?} at {at}");
    };
    for writes in [false, true] {
        for at in 0.. {
            region.words().iter().zip(&untouched).for_each(|(word, value)| word.set(*value));
            record(&actor, 0);
            let other = Rc::clone(&actor);
            let main = || if writes { record(&actor, 2) } else { read([1, 2], at) };
            let steps = interrupted(main, &[(at, Rc::new(move || record(&other, 1)))]);
            if steps[0] <= at {
                break;
            }
            let counted = if writes { 3 } else { 2 };
            read([counted; 2], at);
        }
    }
}

/// The same of who shares a lock, also where somebody has left it of whom it did not know that they came.
#[test]
fn who_shares_a_lock_is_counted_whole_at_every_step() {
    const RWLOCK: InstrumentName<'static> = InstrumentName::literal("wait/synch/rwlock/test/interrupted");
    let (region, _) = ground(&Config::EMPTY.with(Size::MaxRwlockClasses, 1).with(Size::MaxRwlockInstances, 1));
    let class = region.register(RWLOCK, Setting::ON).unwrap();
    let lock = region.instance(region.create_instance(class, 1).unwrap()).unwrap();
    let read = || {
        let mut readers = None;
        region.scan(&tables::RwlockInstances, |row| readers = Some(row.read_locked_by_count));
        readers.unwrap()
    };
    // As many as the low half has room for, and as many as are none.
    for (readers, expected) in [(-1, [0, 0]), (u16::MAX.into(), [65535, 65536])] {
        let (come, leave) = if readers > 0 { (readers, 0) } else { (0, -readers) };
        (0..come).for_each(|_| lock.add_reader());
        (0..leave).for_each(|_| lock.remove_reader());
        for comes in [true, false] {
            let change = move || if comes { lock.add_reader() } else { lock.remove_reader() };
            for at in 0.. {
                let mut found = 0;
                let steps = interrupted(|| found = read(), &[(at, Rc::new(change))]);
                assert!(expected.contains(&found), "{found} of {readers} at {at}");
                if steps[0] <= at {
                    break;
                }
                if comes { lock.remove_reader() } else { lock.add_reader() }
            }
            // One more than at first, from which one goes; and as many as at first.
            change();
        }
        (0..come).for_each(|_| lock.remove_reader());
        (0..leave).for_each(|_| lock.add_reader());
    }
    assert_eq!(read(), 0);
}

/// Where a word is two halves: a reader at every step of events at which the low half of their versions comes round.
#[test]
fn a_version_whose_low_half_comes_round() {
    const AROUND: u64 = 2;
    let (region, untouched) = ground(&CONFIG);
    let class = region.register(CLASS, Setting::ON).unwrap();
    let words = |section| region.section(section);
    for at in 0.. {
        forget(region, &untouched);
        region.register(CLASS, Setting::ON).unwrap();
        // As after 2³⁰ events of the slot's owners before, less two, and 2³¹ of the instrument there.
        words(Section::Slots)[crate::slot::word::BASE].set((1 << 32) - 4 * AROUND);
        let stat = words(Section::Stats);
        stat[crate::stat::word::VERSION].set((1 << 32) - 2 * AROUND);
        let actor = Actor::attach(region, &ActorIdentity::default());
        // None of them is the actor's own.
        let [_, epochs, not_own, ..] = stat else { panic!("there is a place") };
        epochs.set(crate::slot::epochs(&region.arrays::<SLOT>(Section::Slots)[0], &crate::event::WAITS).0);
        not_own.set((1 << 31) - AROUND);
        let found = Rc::new(RefCell::new(Vec::new()));
        let look = Rc::clone(&found);
        let look = Rc::new(move || {
            let mut found = look.borrow_mut();
            region.scan(&tables::EventsWaitsCurrent, |row| found.extend([row.event_id, row.end_event_id.unwrap_or(0)]));
            region.scan(&tables::EventsWaitsHistory, |row| found.extend([row.event_id, row.end_event_id.unwrap_or(0)]));
            region.scan(&tables::EventsWaitsHistoryLong, |row| found.push(row.event_id));
            found.push(region.summary_by_event_name(class).count);
        });
        let events = || {
            for number in 1..=2 * AROUND {
                let what = WaitStart::new(Operation::Lock);
                let wait = actor.begin(&At(start_ns(number)), region.switches(class), class, &what);
                actor.end(&At(start_ns(number) + wait_ns(number)), wait, Held::None);
            }
        };
        let steps = interrupted(events, &[(at, look)])[0];
        assert!(found.borrow().iter().all(|&number| number <= 2 * AROUND), "{:?} at {at}", found.borrow());
        assert_eq!(region.summary_by_event_name(class).count, 2 * AROUND, "at {at}");
        if steps <= at {
            break;
        }
    }
}
