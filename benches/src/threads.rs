//! Several threads: on locks of their own, where nothing may cost more than on one thread, and on one lock.

use crate::cores::{self, Cores, Start, on_core, on_each, undisturbed};
use crate::paths::{self, Bench};
use crate::report::{Aim, Cost, Row, Target};
use crate::{BATCH, batch};
use perfschema::sync::{Mutex, RwLock};
use perfschema_timer::{Clock, SystemClock, TimerName, Timers};
use std::hint::black_box;
use std::time::Duration;

/// Batches of one thread in one round: some milliseconds, so that what a thread does alone at start and end is little.
const BATCHES: usize = 20;

type Run = fn(&Bench, u32);

/// How many threads run at a time, each on a core of its own.
const THREADS: [usize; 4] = [2, 4, 8, 16];

/// The rows of several threads, of those that are wanted by name and variant, and for which there are cores.
pub(crate) fn measure(bench: &Bench, rounds: usize, wants: impl Fn(&str, &str) -> bool) -> Vec<Row> {
    let available = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let cores = Cores::new(Duration::from_millis(300) * rounds as u32);
    let mut rows = Vec::new();
    let own: Vec<Kind> = KINDS.into_iter().filter(|(name, variant, ..)| wants(name, variant)).collect();
    for threads in THREADS.into_iter().filter(|_| !own.is_empty()) {
        if threads > available {
            eprintln!("{threads} threads: left out, there are {available} cores");
            continue;
        }
        rows.extend(own_locks(bench, &cores, threads, &own, rounds));
    }
    for threads in THREADS.into_iter().filter(|threads| *threads <= available) {
        for load in LOADS.iter().filter(|load| wants("Mutex RwLock", load.name)) {
            let rounds = if load.under + load.apart == 0 { rounds } else { rounds.div_ceil(10) };
            rows.extend(contended(bench, &cores, threads, rounds, load));
        }
    }
    rows
}

/// Name, variant, what sets the switches, and what runs.
type Kind = (&'static str, &'static str, fn(&Bench), Run);

/// What runs on several threads and on one by turns, each with an actor and a lock of its own.
///
/// The first three write nothing that is ours: they show what the machine adds where two of its cores are one, or others work on it.
const KINDS: [Kind; 8] = [
    ("timer pair", "own", |_| (), paths::timer_pairs),
    ("wide arithmetic", "own", |_| (), |_, count| cores::wide_arithmetic(count)),
    ("std Mutex", "own", |_| (), paths::plain_locks),
    ("event", "visible, history, own", paths::visible, paths::events),
    ("event", "histogram, own", paths::histogram, paths::events),
    ("event", "long history, own", paths::long, paths::events),
    ("event", "everything on, own", Bench::everything_on, paths::events),
    ("perfschema Mutex", "everything on, own", Bench::everything_on, paths::locks),
];

fn own_locks(bench: &Bench, cores: &Cores, threads: usize, kinds: &[Kind], rounds: usize) -> impl Iterator<Item = Row> {
    let mut measured = vec![Vec::new(); kinds.len()];
    for _ in 0..rounds {
        for (index, (_, _, prepare, run)) in kinds.iter().enumerate() {
            prepare(bench);
            let own = || {
                let bench = Bench::of_thread();
                run(&bench, BATCH);
                bench
            };
            let (mut alone, alone_is_free) = on_threads(cores, 1, own, |bench| batch(bench, *run, BATCH));
            let (mut several, several_are_free) = on_threads(cores, threads, own, |bench| batch(bench, *run, BATCH));
            let ratio = Cost::of(&mut several).median / Cost::of(&mut alone).median;
            measured[index].push(((ratio, several), alone_is_free && several_are_free));
        }
    }
    kinds.iter().zip(measured).map(move |(kind, rounds)| {
        let (name, variant, ..) = *kind;
        let rounds = undisturbed(rounds, &format!("{name} {variant}, {threads} threads"));
        let (mut ratios, cycles): (Vec<f64>, Vec<Vec<f64>>) = rounds.into_iter().unzip();
        let mut cycles = cycles.concat();
        let ratio = Cost::of(&mut ratios).median;
        let (measured, unit, target) = match threads {
            2 => (ratio, "x one thread's cost", Some(Target::AtMost(1.05))),
            16 => (threads as f64 / ratio, "x one thread's rate", Some(Target::AtLeast(14.0))),
            _ => (threads as f64 / ratio, "x one thread's rate", None),
        };
        let target = target.filter(|_| variant.starts_with("everything"));
        let (variant, cost) = (variant.to_owned(), Some(Cost::of(&mut cycles)));
        Row { name, variant, threads, cost, aim: Some(Aim { measured, unit, target }), ..Row::default() }
    })
}

/// What threads do that want one lock.
struct Load {
    name: &'static str,
    /// How often, while a thread has the lock, the busy body runs, of some 250 cycles.
    under: u32,
    /// The same before it locks again.
    apart: u32,
}

const LOADS: [Load; 4] = [
    Load { name: "contended", under: 0, apart: 0 },
    Load { name: "held 1200", under: 5, apart: 0 },
    Load { name: "held 10000", under: 40, apart: 0 },
    Load { name: "held 250 of 2250", under: 1, apart: 8 },
];

type Lock<'l> = &'l (dyn Fn() + Sync);

/// Several threads on one lock.
fn contended(bench: &Bench, cores: &Cores, threads: usize, rounds: usize, load: &Load) -> [Row; 6] {
    let (mutex, lock) = (std::sync::Mutex::new(0_u64), std::sync::RwLock::new(0_u64));
    let our_mutex: Mutex<u64> = perfschema::mutex!("wait/synch/mutex/bench/contended", 0);
    let our_lock: RwLock<u64> = perfschema::rwlock!("wait/synch/rwlock/bench/contended", 0);
    // Registers them, so that they are switched on, too.
    drop((our_mutex.lock(), our_lock.write()));
    bench.everything_on();
    let work = |count: &mut u64| {
        *count += 1;
        (0..load.under).for_each(|_| paths::busy());
    };
    let timed_mutex = || work(&mut timed(|| mutex.lock()).expect(NO_PANIC));
    let timed_lock = || work(&mut timed(|| lock.write()).expect(NO_PANIC));
    let mutexes: [Lock<'_>; 3] =
        [&|| work(&mut mutex.lock().expect(NO_PANIC)), &timed_mutex, &|| work(&mut our_mutex.lock().expect(NO_PANIC))];
    let locks: [Lock<'_>; 3] =
        [&|| work(&mut lock.write().expect(NO_PANIC)), &timed_lock, &|| work(&mut our_lock.write().expect(NO_PANIC))];
    let target = (threads == 2 && load.apart == 0).then_some(Target::AtLeast(0.97));
    let [plain, timed, ours] = compared(cores, ["std Mutex", "perfschema Mutex"], threads, rounds, load, target, mutexes);
    let [plain_lock, timed_lock, our_lock] =
        compared(cores, ["std RwLock", "perfschema RwLock"], threads, rounds, load, None, locks);
    [plain, timed, ours, plain_lock, timed_lock, our_lock]
}

const NO_PANIC: &str = "nothing panics under it";

/// A lock, and a bare reading of the counter before and behind it.
fn timed<G>(lock: impl FnOnce() -> G) -> G {
    black_box(SystemClock.ticks(TimerName::Cycle));
    let guard = lock();
    black_box(SystemClock.ticks(TimerName::Cycle));
    guard
}

/// Std's lock, the same with a bare reading of the counter before and behind it, and ours, by turns. What is done between an unlock and the next
/// lock gives the lock to another thread, so that the readings alone cost throughput.
fn compared(
    cores: &Cores,
    [plain, recorded]: [&'static str; 2],
    threads: usize,
    rounds: usize,
    load: &Load,
    target: Option<Target>,
    locks: [Lock<'_>; 3],
) -> [Row; 3] {
    let measured = (0..rounds).map(|_| {
        let round = locks.map(|lock| contending(cores, threads, load, lock));
        (round.map(|(cycles, _)| cycles), round.iter().all(|(_, undisturbed)| *undisturbed))
    });
    let measured = undisturbed(measured.collect(), &format!("{plain} and {recorded}, {}, {threads} threads", load.name));
    let (mut cycles, mut rates) = (locks.map(|_| Vec::new()), locks.map(|_| Vec::new()));
    for round in measured {
        for (index, one) in round.into_iter().enumerate() {
            cycles[index].push(one);
            rates[index].push(round[0] / one);
        }
    }
    let [_, timed_rate, our_rate] = rates.map(|mut rates| Cost::of(&mut rates).median);
    let [std, timed, ours] = cycles.map(|mut cycles| Some(Cost::of(&mut cycles)));
    let aim = |measured, target| Some(Aim { measured, unit: "x std's throughput", target });
    let row = |name, variant, cost, aim| Row { name, variant, threads, cost, aim, ..Row::default() };
    [
        row(plain, load.name.to_owned(), std, None),
        row(plain, format!("timer pair, {}", load.name), timed, aim(timed_rate, None)),
        row(recorded, format!("everything on, {}", load.name), ours, aim(our_rate, target)),
    ]
}

/// Cycles from one lock to the next, whichever of so many threads has it, over 10 ms. One of two threads that was interrupted for long left
/// the other alone.
fn contending(cores: &Cores, threads: usize, load: &Load, lock: Lock<'_>) -> (f64, bool) {
    // From one look at the time to the next.
    let locks_at_once = 100 / (load.under + load.apart + 1);
    // With work to do under the lock, or of many, one thread has it for long, and another waits: that is no interruption.
    let looks = load.under == 0 && threads == 2;
    let window = Timers::calibrate().get(TimerName::Cycle).frequency_hz / 100;
    let run = |core: usize, start: &Start| {
        on_core(core, || {
            start.wait();
            let begin = SystemClock.ticks(TimerName::Cycle);
            let (mut locks, mut now, mut longest) = (0, begin, 0);
            while now.saturating_sub(begin) < window {
                (0..locks_at_once).for_each(|_| {
                    lock();
                    (0..load.apart).for_each(|_| paths::busy());
                });
                let before = std::mem::replace(&mut now, SystemClock.ticks(TimerName::Cycle));
                longest = longest.max(now.saturating_sub(before));
                locks += locks_at_once;
            }
            (locks, longest)
        })
    };
    cores.measure(threads, || {
        let results = on_each(threads, run);
        let cycles = window as f64 / results.iter().map(|(locks, _)| f64::from(*locks)).sum::<f64>();
        (cycles, !looks || results.iter().all(|(_, longest)| *longest < window / 20))
    })
}

/// Cycles an event of each batch of each thread, all of them started at one moment and each on a core. A thread that was interrupted for long
/// left the others alone.
fn on_threads<T>(
    cores: &Cores,
    threads: usize,
    own: impl Fn() -> T + Sync,
    batch: impl Fn(&T) -> f64 + Sync,
) -> (Vec<f64>, bool) {
    let (own, batch) = (&own, &batch);
    let run = |core: usize, start: &Start| {
        on_core(core, || {
            let own = own();
            start.wait();
            let begin = SystemClock.ticks(TimerName::Cycle);
            let cycles: Vec<f64> = (0..BATCHES).map(|_| batch(&own)).collect();
            (begin, SystemClock.ticks(TimerName::Cycle), cycles)
        })
    };
    cores.measure(threads, || {
        let results: Vec<(u64, u64, Vec<f64>)> = on_each(threads, run);
        let begins = || results.iter().map(|(begin, ..)| *begin);
        let ends = || results.iter().map(|(_, end, _)| *end);
        let all_run = ends().min().unwrap_or(0).saturating_sub(begins().max().unwrap_or(0));
        let some_run = ends().max().unwrap_or(0).saturating_sub(begins().min().unwrap_or(0));
        let mut cycles: Vec<f64> = results.into_iter().flat_map(|(.., cycles)| cycles).collect();
        let Cost { median, max, .. } = Cost::of(&mut cycles);
        (cycles, all_run * 10 >= some_run * 8 && max < 5.0 * median)
    })
}
