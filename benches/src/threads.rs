//! Several threads: on locks of their own, where nothing may cost more than on one thread, and on one lock.

use crate::cores::on_core;
use crate::paths::{self, Bench};
use crate::report::{Aim, Cost, Row, Target};
use crate::{BATCH, batch};
use perfschema::sync::{Mutex, RwLock};
use perfschema_timer::{Clock, SystemClock, TimerName, Timers};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Batches of one thread in one round: some milliseconds, so that what a thread does alone at start and end is little.
const BATCHES: usize = 20;

/// How often something is tried until nobody is interrupted.
const TRIES: usize = 20;

type Run = fn(&Bench, u32);

/// Where threads wait for each other awake: a thread that has to be woken starts when the other is done.
struct Start {
    missing: AtomicUsize,
}

impl Start {
    fn of(threads: usize) -> Start {
        Start { missing: AtomicUsize::new(threads) }
    }

    fn wait(&self) {
        // Relaxed: nothing but the moment is handed over.
        self.missing.fetch_sub(1, Ordering::Relaxed);
        while self.missing.load(Ordering::Relaxed) != 0 {
            std::hint::spin_loop();
        }
    }
}

/// How many threads run at a time, each on a core of its own.
const THREADS: [usize; 4] = [2, 4, 8, 16];

/// The rows of several threads, of those that are wanted by name and variant, and for which there are cores.
pub(crate) fn measure(bench: &Bench, rounds: usize, wants: impl Fn(&str, &str) -> bool) -> Vec<Row> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut rows = Vec::new();
    let own: Vec<Kind> = KINDS.into_iter().filter(|(name, variant, ..)| wants(name, variant)).collect();
    for threads in THREADS.into_iter().filter(|_| !own.is_empty()) {
        if threads > cores {
            eprintln!("{threads} threads: left out, there are {cores} cores");
            continue;
        }
        rows.extend(own_locks(bench, threads, &own, rounds));
    }
    for threads in THREADS.into_iter().filter(|threads| *threads <= cores) {
        for load in LOADS.iter().filter(|load| wants("Mutex RwLock", load.name)) {
            let rounds = if load.under + load.apart == 0 { rounds } else { rounds.div_ceil(10) };
            rows.extend(contended(bench, threads, rounds, load));
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
    ("wide arithmetic", "own", |_| (), paths::wide_arithmetic),
    ("std Mutex", "own", |_| (), paths::plain_locks),
    ("event", "visible, history, own", paths::visible, paths::events),
    ("event", "histogram, own", paths::histogram, paths::events),
    ("event", "long history, own", paths::long, paths::events),
    ("event", "everything on, own", Bench::everything_on, paths::events),
    ("perfschema Mutex", "everything on, own", Bench::everything_on, paths::locks),
];

fn own_locks(bench: &Bench, threads: usize, kinds: &[Kind], rounds: usize) -> impl Iterator<Item = Row> {
    let mut together = vec![Vec::new(); kinds.len()];
    let mut ratios = together.clone();
    for _ in 0..rounds {
        for (index, (_, _, prepare, run)) in kinds.iter().enumerate() {
            prepare(bench);
            let own = || {
                let bench = Bench::of_thread();
                run(&bench, BATCH);
                bench
            };
            let mut alone = on_threads(1, own, |bench| batch(bench, *run, BATCH));
            let mut several = on_threads(threads, own, |bench| batch(bench, *run, BATCH));
            ratios[index].push(Cost::of(&mut several).median / Cost::of(&mut alone).median);
            together[index].append(&mut several);
        }
    }
    kinds.iter().zip(together.into_iter().zip(ratios)).map(move |(kind, (mut cycles, mut ratios))| {
        let (name, variant, ..) = *kind;
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
fn contended(bench: &Bench, threads: usize, rounds: usize, load: &Load) -> [Row; 6] {
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
    let [plain, timed, ours] = compared(["std Mutex", "perfschema Mutex"], threads, rounds, load, target, mutexes);
    let [plain_lock, timed_lock, our_lock] = compared(["std RwLock", "perfschema RwLock"], threads, rounds, load, None, locks);
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
    [plain, recorded]: [&'static str; 2],
    threads: usize,
    rounds: usize,
    load: &Load,
    target: Option<Target>,
    locks: [Lock<'_>; 3],
) -> [Row; 3] {
    let (mut cycles, mut rates) = (locks.map(|_| Vec::new()), locks.map(|_| Vec::new()));
    for _ in 0..rounds {
        let round = locks.map(|lock| contending(threads, load, lock));
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

/// Cycles from one lock to the next, whichever of so many threads has it, over 10 ms. Tried again, some times, if one of two threads was
/// interrupted for long: the other was alone then.
fn contending(threads: usize, load: &Load, lock: Lock<'_>) -> f64 {
    // From one look at the time to the next.
    let locks_at_once = 100 / (load.under + load.apart + 1);
    // With work to do under the lock, or of many, one thread has it for long, and another waits: that is no interruption.
    let tries = if load.under == 0 && threads == 2 { TRIES } else { 1 };
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
    let mut cycles = f64::NAN;
    for _ in 0..tries {
        let results = on_each(threads, run);
        cycles = window as f64 / results.iter().map(|(locks, _)| f64::from(*locks)).sum::<f64>();
        if results.iter().all(|(_, longest)| *longest < window / 20) {
            break;
        }
    }
    cycles
}

/// What each of so many threads returns, all of them started at one moment.
fn on_each<R: Send>(threads: usize, run: impl Fn(usize, &Start) -> R + Sync) -> Vec<R> {
    let (start, run) = (&Start::of(threads), &run);
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|core| scope.spawn(move || run(core, start))).collect();
        handles.into_iter().map(|handle| handle.join().expect("nothing in it panics")).collect()
    })
}

/// Cycles an event of each batch of each thread, all of them started at one moment and each on a core. Tried again, some times, if a thread
/// was interrupted for long: the others were alone then.
fn on_threads<T>(threads: usize, own: impl Fn() -> T + Sync, batch: impl Fn(&T) -> f64 + Sync) -> Vec<f64> {
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
    let mut cycles = Vec::new();
    for _ in 0..TRIES {
        let results: Vec<(u64, u64, Vec<f64>)> = on_each(threads, run);
        let begins = || results.iter().map(|(begin, ..)| *begin);
        let ends = || results.iter().map(|(_, end, _)| *end);
        let all_run = ends().min().unwrap_or(0).saturating_sub(begins().max().unwrap_or(0));
        let some_run = ends().max().unwrap_or(0).saturating_sub(begins().min().unwrap_or(0));
        cycles = results.into_iter().flat_map(|(.., cycles)| cycles).collect();
        let Cost { median, max, .. } = Cost::of(&mut cycles);
        if all_run * 10 >= some_run * 8 && max < 5.0 * median {
            break;
        }
    }
    cycles
}
