//! Several threads: on locks of their own, where nothing may cost more than on one thread, and on one lock.

use crate::cores::on_core;
use crate::paths::{self, Bench};
use crate::report::{Aim, Cost, Row, Target};
use crate::{BATCH, batch};
use perfschema::sync::Mutex;
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
    for (busy, held) in [(0, "contended"), (5, "held 1200"), (40, "held 10000")] {
        if wants("Mutex", held) {
            let rounds = if busy == 0 { rounds } else { rounds.div_ceil(10) };
            rows.extend(contended(bench, rounds, busy, held));
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

/// Two threads on one mutex: std's, the same with a bare reading of the counter before and behind its lock, and ours, by turns. What is done
/// between an unlock and the next lock gives the mutex to the other thread, so that the readings alone cost throughput. `busy`: how often,
/// while it is held, the busy body runs, of some 250 cycles; with none, there is nothing to do but to pass the lock on. `held`: that, in words.
fn contended(bench: &Bench, rounds: usize, busy: u32, held: &str) -> [Row; 3] {
    let plain = std::sync::Mutex::new(0_u64);
    let ours: Mutex<u64> = perfschema::mutex!("wait/synch/mutex/bench/contended", 0);
    // Registers it, so that it is switched on, too.
    drop(ours.lock());
    bench.everything_on();
    let work = |count: &mut u64| {
        *count += 1;
        (0..busy).for_each(|_| paths::busy());
    };
    let timed = || {
        black_box(SystemClock.ticks(TimerName::Cycle));
        let guard = plain.lock();
        black_box(SystemClock.ticks(TimerName::Cycle));
        guard
    };
    let locks: [&(dyn Fn() + Sync); 3] = [
        &|| work(&mut plain.lock().expect("nothing panics under it")),
        &|| work(&mut timed().expect("nothing panics under it")),
        &|| work(&mut ours.lock().expect("nothing panics under it")),
    ];
    let (mut cycles, mut rates) = (locks.map(|_| Vec::new()), locks.map(|_| Vec::new()));
    for _ in 0..rounds {
        let round = locks.map(|lock| contending(busy, lock));
        for (index, one) in round.into_iter().enumerate() {
            cycles[index].push(one);
            rates[index].push(round[0] / one);
        }
    }
    let [_, timed_rate, our_rate] = rates.map(|mut rates| Cost::of(&mut rates).median);
    let [std, timed, ours] = cycles.map(|mut cycles| Some(Cost::of(&mut cycles)));
    let aim = |measured, target| Some(Aim { measured, unit: "x std's throughput", target });
    let row = |name, variant, cost, aim| Row { name, variant, threads: 2, cost, aim, ..Row::default() };
    [
        row("std Mutex", held.to_owned(), std, None),
        row("std Mutex", format!("timer pair, {held}"), timed, aim(timed_rate, None)),
        row("perfschema Mutex", format!("everything on, {held}"), ours, aim(our_rate, Some(Target::AtLeast(0.97)))),
    ]
}

/// Cycles from one lock to the next, whichever of two threads has it, over 10 ms. Tried again, some times, if a thread was interrupted for
/// long: the other was alone then. `busy`: as in [`contended`].
fn contending(busy: u32, lock: &(dyn Fn() + Sync)) -> f64 {
    // From one look at the time to the next.
    let locks_at_once = 100 / (busy + 1);
    // With work to do under the lock one thread has it for long, and the other waits: that is no interruption.
    let tries = if busy == 0 { TRIES } else { 1 };
    let window = Timers::calibrate().get(TimerName::Cycle).frequency_hz / 100;
    let run = |core: usize, start: &Start| {
        on_core(core, || {
            start.wait();
            let begin = SystemClock.ticks(TimerName::Cycle);
            let (mut locks, mut now, mut longest) = (0, begin, 0);
            while now.saturating_sub(begin) < window {
                (0..locks_at_once).for_each(|_| lock());
                let before = std::mem::replace(&mut now, SystemClock.ticks(TimerName::Cycle));
                longest = longest.max(now.saturating_sub(before));
                locks += locks_at_once;
            }
            (locks, longest)
        })
    };
    let mut cycles = f64::NAN;
    for _ in 0..tries {
        let results = on_each(2, run);
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
