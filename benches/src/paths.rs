//! The paths that are measured, each a loop of its own so that the compiler sees what it would see in a program.

use self::Goal::{CyclesMore, TimerPairs, TimesTimed};
use crate::BATCH;
use crate::io::{IO, Io};
use crate::metrics::METRICS;
use crate::peers::{PEERS, Peers};
use crate::stages::STAGES;
use crate::statements::STATEMENTS;
use crate::transactions::TRANSACTIONS;
use perfschema::sync::{Mutex, RwLock};
use perfschema::{Consumer, Region, Setting};
use perfschema_core::{Actor, ActorIdentity, Class, Held, InstrumentName, IoEvent, Operation, Switches, WaitStart, Word};
use perfschema_timer::{Clock, SystemClock, TimerName};
use std::arch::asm;
use std::cell::LazyCell;
use std::hint::black_box;
use std::panic::Location;
use std::sync::atomic::{AtomicPtr, Ordering, compiler_fence};

/// What all paths of one thread work on.
pub(crate) struct Bench {
    pub(crate) region: &'static Region<'static>,
    actor: Actor<'static>,
    event: Class,
    mutex: Mutex<u64>,
    plain: std::sync::Mutex<u64>,
    lock: RwLock<u64>,
    plain_lock: std::sync::RwLock<u64>,
    /// Made when its first path runs: most threads need none of it.
    pub(crate) io: LazyCell<Io>,
    /// Made when the first peer runs: some of them start threads.
    pub(crate) peers: LazyCell<Peers>,
}

/// One path.
#[derive(Clone, Copy)]
pub(crate) struct Path {
    pub(crate) name: &'static str,
    pub(crate) variant: &'static str,
    /// Sets the switches.
    pub(crate) prepare: fn(&Bench),
    /// Runs so many events.
    pub(crate) run: fn(&Bench, u32),
    /// Events of one batch: some hundred microseconds at most, so that most batches are not interrupted.
    pub(crate) batch: u32,
    /// An event calls the system, which takes now longer, now shorter, and not only by interruptions: what it costs more is the median of
    /// differences within rounds, of the quarter of them that took least, and not the difference of the least batches.
    pub(crate) calls_system: bool,
    pub(crate) threads: usize,
    /// The path that it is compared with: the same without an event.
    pub(crate) over: Option<&'static str>,
    /// What `--check` asks: so many timer pairs more than `over`. Wider than what is aimed at, so that a noisy machine passes.
    pub(crate) limit: Option<f64>,
    /// What is aimed at.
    pub(crate) goal: Option<Goal>,
    /// The instructions aimed at, more than those of `over` or of an empty loop.
    pub(crate) instructions_goal: Option<f64>,
    /// Of a peer: what perfschema shows and it does not.
    pub(crate) cannot_show: &'static str,
}

/// What the cost of a path shall at most be.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    /// So many timer pairs more than `over`.
    TimerPairs(f64),
    /// So many cycles more than `over`.
    CyclesMore(f64),
    /// So many times `over` and a timer pair together.
    TimesTimed(f64),
    /// So many times `over`.
    Times(f64),
}

impl Path {
    pub(crate) const fn new(name: &'static str, variant: &'static str, prepare: fn(&Bench), run: fn(&Bench, u32)) -> Path {
        let (over, limit, goal, instructions_goal) = (None, None, None, None);
        let (batch, calls_system, threads, cannot_show) = (BATCH, false, 1, "");
        Path { name, variant, prepare, run, batch, calls_system, threads, over, limit, goal, instructions_goal, cannot_show }
    }

    pub(crate) const fn batch(self, batch: u32) -> Path {
        Path { batch, ..self }
    }

    pub(crate) const fn calls_system(self, batch: u32) -> Path {
        Path { batch, calls_system: true, ..self }
    }

    pub(crate) const fn threads(self, threads: usize) -> Path {
        Path { threads, ..self }
    }

    pub(crate) const fn over(self, name: &'static str) -> Path {
        Path { over: Some(name), ..self }
    }

    const fn limit(self, timer_pairs: f64) -> Path {
        Path { limit: Some(timer_pairs), ..self }
    }

    pub(crate) const fn goal(self, goal: Goal) -> Path {
        Path { goal: Some(goal), ..self }
    }

    pub(crate) const fn instructions(self, at_most: f64) -> Path {
        Path { instructions_goal: Some(at_most), ..self }
    }

    /// Whether others are compared with it, whatever they are.
    pub(crate) fn is_scale(&self) -> bool {
        matches!(self.name, "timer pair" | "empty loop")
    }

    pub(crate) const fn cannot_show(self, what: &'static str) -> Path {
        Path { cannot_show: what, ..self }
    }
}

/// Where the word is that switches the event, as an instrumentation point in a `static` keeps it.
static SWITCH: AtomicPtr<Word> = AtomicPtr::new((&raw const OFF).cast_mut());
static OFF: Word = Word::new(0);

#[inline(always)]
fn event_switches() -> Switches {
    // SAFETY: it points to a static, or to a word of the process's region, which is never freed.
    unsafe { &*SWITCH.load(Ordering::Acquire) }.switches()
}

const EVENT: InstrumentName<'static> = InstrumentName::literal("wait/synch/mutex/bench/event");

impl Bench {
    /// Starts the performance schema, and makes what the calling thread works on.
    pub(crate) fn start() -> Bench {
        perfschema::builder().environment(false).start().expect("nothing started it before, and the sizes are the defaults");
        let bench = Bench::of_thread();
        // Its instruments are registered before anybody sets switches.
        LazyCell::force(&bench.io);
        bench
    }

    /// What another thread works on: an actor and locks of its own.
    pub(crate) fn of_thread() -> Bench {
        let region = perfschema::process().expect("Bench::start() comes first").region();
        let event = region.register(EVENT, Setting::OFF).expect("there is room for a handful of instruments");
        let word = region.switch_word(event).expect("a registered class has one");
        SWITCH.store(std::ptr::from_ref(word).cast_mut(), Ordering::Release);
        let identity = ActorIdentity { name: "thread/bench/actor", ..Default::default() };
        let bench = Bench {
            region,
            actor: Actor::attach(region, &identity),
            event,
            mutex: perfschema::mutex!("wait/synch/mutex/bench/mutex", 0),
            plain: std::sync::Mutex::new(0),
            lock: perfschema::rwlock!("wait/synch/rwlock/bench/lock", 0),
            plain_lock: std::sync::RwLock::new(0),
            io: LazyCell::new(Io::new),
            peers: LazyCell::new(Peers::start),
        };
        // Registers the instruments of the locks.
        drop(bench.mutex.lock());
        drop(bench.lock.read());
        bench
    }

    pub(crate) fn everything_on(&self) {
        self.set(Setting::ON, Consumer::ALL);
    }

    fn set(&self, setting: Setting, consumers: &[Consumer]) {
        for &consumer in Consumer::ALL {
            self.region.set_consumer(consumer, consumers.contains(&consumer));
        }
        for class in self.region.classes() {
            self.region.set_setting(class, setting);
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.actor.detach();
    }
}

const SUMMARY: &[Consumer] = &[Consumer::GlobalInstrumentation, Consumer::ThreadInstrumentation];
const VISIBLE: &[Consumer] = &[
    Consumer::GlobalInstrumentation,
    Consumer::ThreadInstrumentation,
    Consumer::EventsWaitsCurrent,
    Consumer::EventsWaitsHistory,
];

const HISTOGRAM: &[Consumer] =
    &[Consumer::GlobalInstrumentation, Consumer::ThreadInstrumentation, Consumer::EventsWaitsHistogram];
const LONG: &[Consumer] = &[
    Consumer::GlobalInstrumentation,
    Consumer::ThreadInstrumentation,
    Consumer::EventsWaitsCurrent,
    Consumer::EventsWaitsHistory,
    Consumer::EventsWaitsHistoryLong,
];

/// Nothing of an actor is kept in registers from event to event. It is no instruction.
#[inline(always)]
fn forget_what_is_known() {
    compiler_fence(Ordering::SeqCst);
}

#[inline(always)]
fn event(bench: &Bench) {
    let switches = event_switches();
    if switches.is_on() {
        forget_what_is_known();
        let start =
            WaitStart { operation: Operation::Lock, object: 1, source: Some(Location::caller()), amount: 0, io: IoEvent::None };
        let wait = bench.actor.begin(&SystemClock, switches, bench.event, &start);
        bench.actor.end(&SystemClock, wait, Held::None);
    }
}

pub(crate) fn events(bench: &Bench, count: u32) {
    for _ in 0..count {
        event(bench);
    }
}

fn chained(bench: &Bench, count: u32) {
    let switches = event_switches();
    let start =
        WaitStart { operation: Operation::Lock, object: 1, source: Some(Location::caller()), amount: 0, io: IoEvent::None };
    let mut wait = bench.actor.begin(&SystemClock, switches, bench.event, &start);
    for _ in 1..count {
        forget_what_is_known();
        let switches = event_switches();
        wait = bench.actor.chain(&SystemClock, wait, Held::None, switches, bench.event, &start);
    }
    bench.actor.end(&SystemClock, wait, Held::None);
}

/// About 250 cycles of multiplications, each waiting for the one before.
#[inline(always)]
pub(crate) fn busy() {
    let mut x = black_box(3_u64);
    for _ in 0..90 {
        x = x.wrapping_mul(6_364_136_223_846_793_005).rotate_left(5);
    }
    black_box(x);
}

/// Processors take instructions in by groups of four to eight, and where in one the body begins decides how far they look ahead in it: an
/// instruction more or less elsewhere is up to three cycles of the TSC, in either direction. So that this is not what is measured, the body
/// begins everywhere in turn: each element is the loop with so many instructions before the event that do nothing. A function of its own: compiled
/// together, the registers would be those of twelve events.
macro_rules! phases {
    ($of:ident) => {
        [$of::<0>, $of::<1>, $of::<2>, $of::<3>, $of::<4>, $of::<5>, $of::<6>, $of::<7>, $of::<8>, $of::<9>, $of::<10>, $of::<11>]
    };
}

#[inline(always)]
fn shift<const INSTRUCTIONS: u32>() {
    // SAFETY: they do nothing.
    unsafe { asm!(".rept {n}", "nop", ".endr", n = const INSTRUCTIONS, options(nomem, nostack, preserves_flags)) };
}

fn each_phase<const PHASES: usize>(phases: [fn(&Bench, u32); PHASES], bench: &Bench, count: u32) {
    for (phase, run) in (0..).zip(phases) {
        run(bench, (count + phase) / PHASES as u32);
    }
}

fn busy_events(bench: &Bench, count: u32) {
    each_phase(phases!(busy_events_at), bench, count);
}

#[inline(never)]
fn busy_events_at<const PHASE: u32>(bench: &Bench, count: u32) {
    for _ in 0..count {
        forget_what_is_known();
        shift::<PHASE>();
        let switches = event_switches();
        let start =
            WaitStart { operation: Operation::Lock, object: 1, source: Some(Location::caller()), amount: 0, io: IoEvent::None };
        let wait = bench.actor.begin(&SystemClock, switches, bench.event, &start);
        busy();
        bench.actor.end(&SystemClock, wait, Held::None);
    }
}

fn busy_timer_pairs(bench: &Bench, count: u32) {
    each_phase(phases!(busy_timer_pairs_at), bench, count);
}

#[inline(never)]
fn busy_timer_pairs_at<const PHASE: u32>(_: &Bench, count: u32) {
    for _ in 0..count {
        shift::<PHASE>();
        black_box(SystemClock.ticks(TimerName::Cycle));
        busy();
        black_box(SystemClock.ticks(TimerName::Cycle));
    }
}

pub(crate) fn locks(bench: &Bench, count: u32) {
    for _ in 0..count {
        if let Ok(mut guard) = black_box(&bench.mutex).lock() {
            *guard = guard.wrapping_add(1);
        }
    }
}

pub(crate) fn plain_locks(bench: &Bench, count: u32) {
    for _ in 0..count {
        if let Ok(mut guard) = black_box(&bench.plain).lock() {
            *guard = guard.wrapping_add(1);
        }
    }
}

fn writes(bench: &Bench, count: u32) {
    for _ in 0..count {
        if let Ok(mut guard) = black_box(&bench.lock).write() {
            *guard = guard.wrapping_add(1);
        }
    }
}

fn plain_writes(bench: &Bench, count: u32) {
    for _ in 0..count {
        if let Ok(mut guard) = black_box(&bench.plain_lock).write() {
            *guard = guard.wrapping_add(1);
        }
    }
}

fn reads(bench: &Bench, count: u32) {
    for _ in 0..count {
        if let Ok(guard) = black_box(&bench.lock).read() {
            black_box(*guard);
        }
    }
}

fn plain_reads(bench: &Bench, count: u32) {
    for _ in 0..count {
        if let Ok(guard) = black_box(&bench.plain_lock).read() {
            black_box(*guard);
        }
    }
}

/// The mutex of std, with a bare reading of the counter before and behind its lock, and nothing recorded.
fn timed_plain_locks(bench: &Bench, count: u32) {
    for _ in 0..count {
        let mutex = black_box(&bench.plain);
        black_box(SystemClock.ticks(TimerName::Cycle));
        if let Ok(mut guard) = mutex.lock() {
            black_box(SystemClock.ticks(TimerName::Cycle));
            *guard = guard.wrapping_add(1);
        }
    }
}

pub(crate) fn timer_pairs(_: &Bench, count: u32) {
    for _ in 0..count {
        black_box(SystemClock.ticks(TimerName::Cycle));
        black_box(SystemClock.ticks(TimerName::Cycle));
    }
}

/// The loop around all of them; the compiler keeps it, not knowing that nothing is done.
fn empty(_: &Bench, count: u32) {
    for _ in 0..count {
        black_box(());
    }
}

pub(crate) fn visible(bench: &Bench) {
    bench.set(Setting::ON, VISIBLE);
}

pub(crate) fn histogram(bench: &Bench) {
    bench.set(Setting::ON, HISTOGRAM);
}

pub(crate) fn long(bench: &Bench) {
    bench.set(Setting::ON, LONG);
}

fn one_in_16(bench: &Bench) {
    bench.set(Setting { timed_one_in: 16, ..Setting::ON }, SUMMARY);
}

pub(crate) fn off(bench: &Bench) {
    bench.set(Setting::OFF, &[]);
}

/// Everything that is ours, and what it is made of; those that others are compared with come first.
pub(crate) const OURS: &[Path] = &[
    Path::new("timer pair", "", |_| (), timer_pairs),
    Path::new("empty loop", "", |_| (), empty),
    Path::new("std Mutex", "", |_| (), plain_locks),
    Path::new("event", "off", off, events).over("empty loop").limit(0.05).goal(TimerPairs(0.03)).instructions(4.0),
    Path::new("event", "untimed, summary", |bench| bench.set(Setting::COUNTED, SUMMARY), events)
        .goal(TimerPairs(0.10))
        .instructions(24.0),
    Path::new("event", "untimed, visible, history", |bench| bench.set(Setting::COUNTED, VISIBLE), events)
        .goal(TimerPairs(0.20))
        .instructions(48.0),
    Path::new("event", "timed, summary", |bench| bench.set(Setting::ON, SUMMARY), events)
        .limit(1.3)
        .goal(TimerPairs(1.05))
        .instructions(45.0),
    Path::new("event", "timed, visible, history", visible, events).limit(1.3).goal(TimerPairs(1.10)).instructions(75.0),
    Path::new("event", "one in 16 timed, summary", one_in_16, events).goal(TimerPairs(0.20)),
    Path::new("event", "timed, histogram", histogram, events),
    Path::new("event", "timed, long history", long, events),
    Path::new("event", "everything on", Bench::everything_on, events).goal(TimerPairs(1.15)).instructions(110.0),
    Path::new("chained events", "everything on", Bench::everything_on, chained).goal(TimerPairs(0.65)),
    Path::new("busy body, timer pair", "", |_| (), busy_timer_pairs),
    Path::new("busy body, event", "timed, visible, history", visible, busy_events)
        .over("busy body, timer pair")
        .goal(CyclesMore(6.0)),
    Path::new("busy body, event", "everything on", Bench::everything_on, busy_events)
        .over("busy body, timer pair")
        .goal(CyclesMore(15.0)),
    Path::new("std Mutex", "timer pair", |_| (), timed_plain_locks).over("std Mutex").goal(TimesTimed(1.15)),
    Path::new("perfschema Mutex", "off", off, locks).over("std Mutex").limit(0.05).goal(TimerPairs(0.03)).instructions(4.0),
    Path::new("perfschema Mutex", "timed, visible, history", visible, locks).over("std Mutex").limit(1.3),
    Path::new("perfschema Mutex", "everything on", Bench::everything_on, locks).over("std Mutex").goal(TimesTimed(1.15)),
    Path::new("std RwLock, write", "", |_| (), plain_writes),
    Path::new("RwLock, write", "off", off, writes).over("std RwLock, write").limit(0.05).goal(TimerPairs(0.03)),
    Path::new("RwLock, write", "everything on", Bench::everything_on, writes).over("std RwLock, write").goal(TimesTimed(1.15)),
    Path::new("std RwLock, read", "", |_| (), plain_reads),
    Path::new("RwLock, read", "off", off, reads).over("std RwLock, read").limit(0.05).goal(TimerPairs(0.03)),
    Path::new("RwLock, read", "everything on", Bench::everything_on, reads).over("std RwLock, read").goal(TimesTimed(1.15)),
];

/// Every path, the peers last.
pub(crate) fn all() -> Vec<Path> {
    [OURS, IO, METRICS, STAGES, STATEMENTS, TRANSACTIONS, PEERS].concat()
}
