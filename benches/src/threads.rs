//! Several threads: on locks of their own, where nothing may cost more than on one thread, and on one lock.

use crate::cores::on_core;
use crate::paths::{self, Bench};
use crate::report::{Aim, Cost, Row, Target, median};
use crate::{BATCH, batch};
use perfschema::sync::Mutex;
use perfschema_timer::{Clock, SystemClock, TimerName};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Batches of one thread in one round: about 5 ms, so that what a thread does alone at start and end is little.
const BATCHES: usize = 30;

/// Locks of one thread in one round on a lock that two share.
const CONTENDED: u32 = 100_000;

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

/// The rows of two threads, and of sixteen where there are as many cores.
pub(crate) fn measure(bench: &Bench, rounds: usize) -> Vec<Row> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut rows = Vec::new();
    for threads in [2, 16] {
        if threads > cores {
            eprintln!("{threads} threads: left out, there are {cores} cores");
            continue;
        }
        rows.extend(own_locks(bench, threads, rounds));
    }
    rows.extend(contended(bench, rounds));
    rows
}

/// What runs on several threads and on one by turns, each with an actor and a lock of its own.
///
/// The first three write nothing that is ours: they show what the machine adds where two of its cores are one, or others work on it.
const KINDS: [(&str, &str, fn(&Bench), Run); 8] = [
    ("timer pair", "own", |_| (), paths::timer_pairs),
    ("wide arithmetic", "own", |_| (), paths::wide_arithmetic),
    ("std Mutex", "own", |_| (), paths::plain_locks),
    ("event", "visible, history, own", paths::visible, paths::events),
    ("event", "histogram, own", paths::histogram, paths::events),
    ("event", "long history, own", paths::long, paths::events),
    ("event", "everything on, own", Bench::everything_on, paths::events),
    ("perfschema Mutex", "everything on, own", Bench::everything_on, paths::locks),
];

fn own_locks(bench: &Bench, threads: usize, rounds: usize) -> impl Iterator<Item = Row> {
    let mut together = KINDS.map(|_| Vec::new());
    let mut ratios = KINDS.map(|_| Vec::new());
    for _ in 0..rounds {
        for (index, (_, _, prepare, run)) in KINDS.iter().enumerate() {
            prepare(bench);
            let mut alone = on_threads(1, *run);
            let mut several = on_threads(threads, *run);
            ratios[index].push(Cost::of(&mut several).median / Cost::of(&mut alone).median);
            together[index].append(&mut several);
        }
    }
    KINDS.into_iter().zip(together.into_iter().zip(ratios)).map(move |(kind, (mut cycles, mut ratios))| {
        let (name, variant, ..) = kind;
        let ratio = Cost::of(&mut ratios).median;
        let (measured, unit, target) = if threads == 16 {
            (threads as f64 / ratio, "x one thread's rate", Target::AtLeast(14.0))
        } else {
            (ratio, "x one thread's cost", Target::AtMost(1.05))
        };
        let target = variant.starts_with("everything").then_some(target);
        let (variant, cost) = (variant.to_owned(), Some(Cost::of(&mut cycles)));
        Row { name, variant, threads, cost, aim: Some(Aim { measured, unit, target }), ..Row::default() }
    })
}

/// Cycles an event of each batch of each thread, all of them started at one moment.
fn on_threads(threads: usize, run: Run) -> Vec<f64> {
    let start = &Start::of(threads);
    let work = |core| {
        on_core(core, || {
            let bench = Bench::of_thread();
            run(&bench, BATCH);
            start.wait();
            (0..BATCHES).map(|_| batch(&bench, run)).collect::<Vec<f64>>()
        })
    };
    on_each(threads, work).concat()
}

/// What each of so many threads returns.
fn on_each<R: Send>(threads: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let work = &work;
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|number| scope.spawn(move || work(number))).collect();
        handles.into_iter().map(|handle| handle.join().expect("nothing in it panics")).collect()
    })
}

/// Two threads on one mutex: std's and ours by turns.
fn contended(bench: &Bench, rounds: usize) -> [Row; 2] {
    let plain = std::sync::Mutex::new(0_u64);
    let ours: Mutex<u64> = perfschema::mutex!("wait/synch/mutex/bench/contended", 0);
    // Registers it, so that it is switched on, too.
    drop(ours.lock());
    bench.everything_on();
    let (mut plain_cycles, mut our_cycles, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let std = two_threads(&|| *plain.lock().expect("nothing panics under it") += 1);
        let instrumented = two_threads(&|| *ours.lock().expect("nothing panics under it") += 1);
        rates.push(std / instrumented);
        plain_cycles.push(std);
        our_cycles.push(instrumented);
    }
    rates.sort_by(f64::total_cmp);
    let aim = Aim { measured: median(&rates), unit: "x std's throughput", target: Some(Target::AtLeast(0.97)) };
    let row = |name, variant: &str, cycles: &mut [f64], aim| Row {
        name,
        variant: variant.to_owned(),
        threads: 2,
        cost: Some(Cost::of(cycles)),
        aim,
        ..Row::default()
    };
    [
        row("std Mutex", "contended", &mut plain_cycles, None),
        row("perfschema Mutex", "everything on, contended", &mut our_cycles, Some(aim)),
    ]
}

/// Cycles of the clock for each lock, both threads' counted.
fn two_threads(lock: &(dyn Fn() + Sync)) -> f64 {
    let start = &Start::of(2);
    let work = |core| {
        on_core(core, || {
            lock();
            start.wait();
            let begin = SystemClock.ticks(TimerName::Cycle);
            (0..CONTENDED).for_each(|_| lock());
            (begin, SystemClock.ticks(TimerName::Cycle))
        })
    };
    let times = on_each(2, work);
    let first = times.iter().map(|&(begin, _)| begin).min().unwrap_or(0);
    let last = times.iter().map(|&(_, end)| end).max().unwrap_or(0);
    last.saturating_sub(first) as f64 / f64::from(2 * CONTENDED)
}
