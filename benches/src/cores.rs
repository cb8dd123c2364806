//! Threads on cores of their own. Schedulers put threads that live for milliseconds on one core, and then nothing is at the same moment. And
//! what is a core to a virtual machine is, for milliseconds or minutes, half of one that another thread of ours has the other half of.

use crate::report::Cost;
use perfschema_timer::{Clock, SystemClock, TimerName};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Runs `work` on the core of this number, where the system can do that.
pub(crate) fn on_core<R>(core: usize, work: impl FnOnce() -> R) -> R {
    #[cfg(target_os = "linux")]
    let before = {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
        let before = sched_getaffinity(None).ok();
        let mut one = CpuSet::new();
        one.set(core);
        // If it is refused, the scheduler decides.
        let _ = sched_setaffinity(None, &one);
        before
    };
    #[cfg(not(target_os = "linux"))]
    let _ = core;
    let result = work();
    #[cfg(target_os = "linux")]
    if let Some(before) = before {
        let _ = rustix::thread::sched_setaffinity(None, &before);
    }
    result
}

/// Where threads wait for each other awake: a thread that has to be woken starts when the other is done.
pub(crate) struct Start {
    missing: AtomicUsize,
}

impl Start {
    pub(crate) fn of(threads: usize) -> Start {
        Start { missing: AtomicUsize::new(threads) }
    }

    pub(crate) fn wait(&self) {
        // Relaxed: nothing but the moment is handed over.
        self.missing.fetch_sub(1, Ordering::Relaxed);
        while self.missing.load(Ordering::Relaxed) != 0 {
            std::hint::spin_loop();
        }
    }
}

/// What each of so many threads returns, all of them started at one moment.
pub(crate) fn on_each<R: Send>(threads: usize, run: impl Fn(usize, &Start) -> R + Sync) -> Vec<R> {
    let (start, run) = (&Start::of(threads), &run);
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|core| scope.spawn(move || run(core, start))).collect();
        handles.into_iter().map(|handle| handle.join().expect("nothing in it panics")).collect()
    })
}

/// Arithmetic that fills the processor, and touches no memory: on two threads it costs more only where they share a physical core.
pub(crate) fn wide_arithmetic(count: u32) {
    let mut sums = black_box([1_u64, 2, 3, 4, 5, 6, 7, 8]);
    for round in 0..u64::from(count) * 8 {
        sums = black_box(sums.map(|sum| sum.rotate_left(7) ^ round));
    }
}

/// The least cycles that some batches of it take a thread.
fn arithmetic() -> f64 {
    let batch = || {
        let begin = SystemClock.ticks(TimerName::Cycle);
        wide_arithmetic(1000);
        SystemClock.ticks(TimerName::Cycle).saturating_sub(begin) as f64
    };
    Cost::of(&mut [batch(), batch(), batch(), batch()]).min
}

/// Whether threads have a physical core each.
pub(crate) struct Cores {
    /// What [`arithmetic`] takes a thread alone.
    alone: f64,
    /// How long more it is tried again where threads share a core: where they always do, that is what is measured.
    patience: Cell<Duration>,
}

impl Cores {
    pub(crate) fn new(patience: Duration) -> Cores {
        let alone = on_core(0, || Cost::of(&mut [arithmetic(), arithmetic(), arithmetic()]).min);
        Cores { alone, patience: Cell::new(patience) }
    }

    fn are_own(&self, threads: usize) -> bool {
        let one = |core, start: &Start| {
            on_core(core, || {
                start.wait();
                arithmetic()
            })
        };
        on_each(threads, one).iter().all(|cycles| *cycles < 1.25 * self.alone)
    }

    /// What so many threads measure, which says whether nobody was interrupted. Tried again if somebody was, or if two of them shared a core
    /// before or behind it. Returns whether it is free of all that.
    pub(crate) fn measure<T>(&self, threads: usize, mut measure: impl FnMut() -> (T, bool)) -> (T, bool) {
        while !self.patience.get().is_zero() {
            let begin = Instant::now();
            if self.are_own(threads) {
                let (measured, undisturbed) = measure();
                if undisturbed && self.are_own(threads) {
                    return (measured, true);
                }
            }
            self.patience.set(self.patience.get().saturating_sub(begin.elapsed()));
        }
        (measure().0, false)
    }
}

/// Cycles that a cache line takes from one core to another and back: what threads pay that write what others read. Cores of a virtual machine may be far
/// apart, and be put elsewhere while it runs.
pub(crate) fn there_and_back() -> f64 {
    const TIMES: usize = 1000;
    let line = AtomicUsize::new(0);
    let hand_over = |core: usize, start: &Start| {
        on_core(core, || {
            start.wait();
            let begin = SystemClock.ticks(TimerName::Cycle);
            for turn in (core..2 * TIMES).step_by(2) {
                // Relaxed, here and below: nothing but the turn is handed over.
                while line.load(Ordering::Relaxed) != turn {
                    std::hint::spin_loop();
                }
                line.store(turn + 1, Ordering::Relaxed);
            }
            SystemClock.ticks(TimerName::Cycle).saturating_sub(begin) as f64 / TIMES as f64
        })
    };
    on_each(2, hand_over)[0]
}

/// Of the rounds those that are free of disturbances, or all of them where none is.
pub(crate) fn undisturbed<T>(rounds: Vec<(T, bool)>, what: &str) -> Vec<T> {
    let all = rounds.len();
    let (free, others): (Vec<_>, Vec<_>) = rounds.into_iter().partition(|(_, free)| *free);
    if !others.is_empty() {
        let left = if free.is_empty() { "are measured as they are" } else { "are left out" };
        eprintln!("{what}: in {} rounds of {all} threads shared a physical core or were interrupted, which {left}", others.len());
    }
    let rounds = if free.is_empty() { others } else { free };
    rounds.into_iter().map(|(round, _)| round).collect()
}
