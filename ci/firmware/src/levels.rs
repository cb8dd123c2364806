//! Three levels, of which each interrupts the one below: the main loop, the first timer's handler, the second's. Each has an actor.
//!
//! Event `n` of a level is for the object `level << 24 | n`, and of an operation that follows from `n`: so each row says itself whether
//! all of it is of one event.

use crate::board::Timer;
use core::cell::{Cell, UnsafeCell};
use core::panic::Location;
use core::sync::atomic::{AtomicU32, Ordering};
use perfschema_core::timer::SystemClock;
use perfschema_core::{
    Actor, ActorIdentity, Class, Config, Consumer, Held, InstanceId, InstrumentName, Lost, Operation, Region, Setting, Size,
    StaticRegion, WaitStart, tables,
};

pub(crate) const CONFIG: Config = Config::SMALL
    .with(Size::MaxThreadInstances, 3)
    .with(Size::MaxMutexInstances, 8)
    .with(Size::EventsWaitsHistorySize, 3)
    .with(Size::MaxWaitHistograms, 3)
    // There are no files, no sockets, and no allocator.
    .with(Size::MaxFileClasses, 0)
    .with(Size::MaxFileInstances, 0)
    .with(Size::MaxSocketClasses, 0)
    .with(Size::MaxSocketInstances, 0)
    .with(Size::MaxMemoryClasses, 0);
pub(crate) static MEMORY: StaticRegion<{ CONFIG.words() }> = StaticRegion::new();

const BUS: InstrumentName<'static> = InstrumentName::literal("wait/synch/mutex/firmware/bus");

/// What the first timer's handler records at each interrupt: more than any reader has seen of its ring.
const WAITS_AN_INTERRUPT: u32 = 8;

struct Level {
    /// Written before the first interrupt.
    own: UnsafeCell<Option<Own>>,
    begun: AtomicU32,
    ended: AtomicU32,
    interrupts: AtomicU32,
}

/// What a level alone uses.
struct Own {
    actor: Actor<'static>,
    class: Class,
    /// A lock that stays from one interrupt to the next.
    kept: Cell<Option<InstanceId>>,
}

// SAFETY: `own` is written before interrupts come, and then read on its level only, which interrupts itself never.
unsafe impl Sync for Level {}

static LEVELS: [Level; 3] = [const {
    Level { own: UnsafeCell::new(None), begun: AtomicU32::new(0), ended: AtomicU32::new(0), interrupts: AtomicU32::new(0) }
}; 3];

/// Adds one, on the only level that writes the number: not every Cortex-M has a better way.
fn count(number: &AtomicU32) -> u32 {
    let next = number.load(Ordering::Relaxed) + 1;
    number.store(next, Ordering::Relaxed);
    next
}

fn total(number: impl Fn(&Level) -> &AtomicU32) -> u64 {
    LEVELS.iter().map(|level| u64::from(number(level).load(Ordering::Relaxed))).sum()
}

fn object(level: usize, event: u64) -> u64 {
    (level as u64) << 24 | event
}

fn operation(event: u64) -> Operation {
    if event.is_multiple_of(3) { Operation::TryLock } else { Operation::Lock }
}

/// What of a level is its own; only there.
fn own(level: usize) -> Option<&'static Own> {
    // SAFETY: see Sync.
    unsafe { &*LEVELS[level].own.get() }.as_ref()
}

/// Waits for a lock that comes and goes, and within that, each fourth time, once more.
fn work(level: usize) {
    let Some(Own { actor, class, .. }) = own(level) else { return };
    let region = actor.region();
    let event = u64::from(count(&LEVELS[level].begun));
    let start = WaitStart { source: Some(Location::caller()), object: object(level, event), ..WaitStart::new(operation(event)) };
    let lock = region.create_instance(*class, start.object);
    let wait = actor.begin(&SystemClock, region.switches(*class), *class, &start);
    if event.is_multiple_of(4) {
        work(level);
    }
    let instance = lock.and_then(|lock| region.instance(lock));
    actor.end(&SystemClock, wait, instance.as_ref().map_or(Held::None, Held::Exclusive));
    if let Some(lock) = lock {
        region.destroy_instance(lock);
    }
    count(&LEVELS[level].ended);
}

/// The object of the lock that the first timer's handler keeps.
fn kept_object(interrupt: u32) -> u64 {
    object(1, 1 << 23 | u64::from(interrupt))
}

/// Whether a level leaves a consumer switched on, the so manieth time.
fn switches_on(times: u32) -> bool {
    times.is_multiple_of(2)
}

/// One of the timers interrupts: work is done, a lock goes and another one comes, a setting is changed.
pub(crate) fn interrupted_by(timer: Timer) {
    timer.stop();
    if timer == Timer::Second {
        work(2);
        count(&LEVELS[2].interrupts);
        return;
    }
    let Some(Own { actor, class, kept }) = own(1) else { return };
    let interrupt = LEVELS[1].interrupts.load(Ordering::Relaxed) + 1;
    // Somewhere within what follows.
    Timer::Second.start(1 + interrupt.wrapping_mul(2_654_435_761) % 4001);
    let region = actor.region();
    if let Some(lock) = kept.take() {
        region.destroy_instance(lock);
    }
    kept.set(region.create_instance(*class, kept_object(interrupt)));
    region.set_consumer(Consumer::EventsWaitsHistoryLong, switches_on(interrupt));
    (0..WAITS_AN_INTERRUPT).for_each(|_| work(1));
    count(&LEVELS[1].interrupts);
}

/// What the main loop does, and what it finds wrong.
type Step = fn(&Region<'_>, &Threads, u32) -> Result<(), &'static str>;

/// Ticks of the timer from one interrupt of a step to the next: each instruction takes 1.6, so none is left out of a short step. Reading
/// takes some 70,000, of which a record is some hundred.
const EACH: usize = 1;
const SOME: usize = 41;

/// Which thread is which level.
struct Threads([u64; 3]);

const STEPS: [(&str, usize, Step); 3] = [
    ("a wait", EACH, |_, _, _| {
        work(0);
        Ok(())
    }),
    ("a setting", EACH, |region, _, times| {
        region.set_consumer(Consumer::EventsWaitsSummaryByInstance, switches_on(times));
        let is_on = region.consumer_enabled(Consumer::EventsWaitsSummaryByInstance);
        if is_on == switches_on(times) { Ok(()) } else { Err("a setting is not what the main loop has made it") }
    }),
    ("the tables read", SOME, |region, threads, _| read(region, threads)),
];

/// Each step of the main loop, interrupted at one place after the other. `report` is told at how many.
pub(crate) fn run(region: &'static Region<'static>, mut report: impl FnMut(&str, usize)) -> Result<(), &'static str> {
    let class = region.register(BUS, Setting::ON).map_err(|_| "no room for the instrument")?;
    region.enable_everything();
    let names = ["thread/firmware/main", "thread/firmware/first_timer", "thread/firmware/second_timer"];
    let mut threads = Threads([0; 3]);
    for ((level, name), thread) in LEVELS.iter().zip(names).zip(&mut threads.0) {
        let actor = Actor::attach(region, &ActorIdentity { name, ..Default::default() });
        *thread = actor.thread_id();
        // SAFETY: no timer was started.
        unsafe { *level.own.get() = Some(Own { actor, class, kept: Cell::new(None) }) };
    }
    for (name, stride, step) in STEPS {
        for (times, ticks) in (1..).step_by(stride).enumerate() {
            let interrupts = LEVELS[1].interrupts.load(Ordering::Relaxed);
            Timer::First.start(ticks);
            step(region, &threads, times as u32)?;
            let was_interrupted = LEVELS[1].interrupts.load(Ordering::Relaxed) != interrupts;
            while LEVELS[1..].iter().any(|level| level.interrupts.load(Ordering::Relaxed) == interrupts) {
                core::hint::spin_loop();
            }
            check(region, class)?;
            if !was_interrupted {
                report(name, times);
                break;
            }
        }
        read(region, &threads)?;
    }
    Ok(())
}

/// Nobody is at work: what was counted is what was done.
fn check(region: &Region<'_>, class: Class) -> Result<(), &'static str> {
    if region.summary_by_event_name(class).count != total(|level| &level.ended) {
        return Err("not as many waits are counted as have ended");
    }
    let mut in_buckets = 0;
    region.scan(&tables::EventsWaitsHistogramByEventName, |row| in_buckets += row.count_bucket);
    if in_buckets != total(|level| &level.ended) {
        return Err("not as many waits are in the histogram as have ended");
    }
    let interrupts = LEVELS[1].interrupts.load(Ordering::Relaxed);
    if region.consumer_enabled(Consumer::EventsWaitsHistoryLong) != switches_on(interrupts) {
        return Err("a setting is not what the handler has made it");
    }
    let mut locks = [0; 2];
    region.scan(&tables::MutexInstances, |row| locks[usize::from(row.object_instance_begin == kept_object(interrupts))] += 1);
    if locks != [0, 1] {
        return Err("the locks are not those that there are");
    }
    if Lost::ALL.iter().any(|lost| region.lost(*lost) != 0) {
        return Err("something was lost");
    }
    Ok(())
}

/// Reads the tables: each row is of one event, and the sum is that of a moment.
fn read(region: &Region<'_>, threads: &Threads) -> Result<(), &'static str> {
    let mut problem = None;
    macro_rules! check_rows {
        ($($table:ident)*) => {$(
            region.scan(&tables::$table, |row| {
                let level = threads.0.iter().position(|thread| *thread == row.thread_id);
                if level.is_none_or(|level| row.object_instance_begin != object(level, row.event_id)) {
                    problem = Some("a row has another event's object");
                }
                if row.operation != operation(row.event_id).name() {
                    problem = Some("a row has another event's operation");
                }
                if row.event_name != BUS.as_str() || row.source.is_none() {
                    problem = Some("a row has another event's instrument or source");
                }
                if row.end_event_id.is_some_and(|end| end < row.event_id || end > row.event_id + 1) {
                    problem = Some("a row has another event's END_EVENT_ID");
                }
                if let (Some(start), Some(end)) = (row.timer_start, row.timer_end)
                    && (end < start || row.timer_wait != Some(end - start))
                {
                    problem = Some("a wait ends before it begins");
                }
            });
        )*};
    }
    check_rows!(EventsWaitsCurrent EventsWaitsHistory EventsWaitsHistoryLong);
    let ended = total(|level| &level.ended);
    let mut counted = 0;
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| counted += row.count_star);
    if !(ended..=total(|level| &level.begun)).contains(&counted) {
        problem = Some("the sum is of no moment");
    }
    problem.map_or(Ok(()), Err)
}
