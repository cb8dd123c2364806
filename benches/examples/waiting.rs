//! How long threads wait for a lock that others want, too, and how often they get it: std's mutex, and ours with everything on, by turns.
//! `cargo run --release -p perfschema-benches --example waiting`, on a quiet machine.
//!
//! The table of `perfschema-benches` has the throughput of threads that do next to nothing but lock. This one has those that work between
//! two locks, and the longest waits: what a thread gains by waiting otherwise than std does, these may pay for.

use perfschema::sync::Mutex;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Threads; nanoseconds of work under the lock, and on average beside it.
const LOADS: [(usize, u64, u64); 9] = [
    (2, 0, 0),
    (2, 0, 200),
    (2, 100, 1_000),
    (2, 500, 5_000),
    (2, 2_000, 4_000),
    (2, 5_000, 20_000),
    (2, 50_000, 100_000),
    (8, 0, 0),
    (8, 500, 5_000),
];
const RUN: Duration = Duration::from_millis(400);
const ROUNDS: usize = 3;

type Lock<'l> = &'l (dyn Fn(&dyn Fn()) + Sync);

fn nanoseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn work(duration_ns: u64) {
    let begin = Instant::now();
    while nanoseconds(begin) < duration_ns {}
}

/// Locks a second of all threads, and how long each lasted from its call on, the work under it left out, sorted.
fn run(threads: usize, under_ns: u64, beside_ns: u64, lock: Lock<'_>) -> (f64, Vec<u64>) {
    let stop = AtomicBool::new(false);
    let thread = |number: usize| {
        let (mut waits, mut random) = (Vec::new(), number as u64 * 77 + 1);
        // Relaxed: it ends some time.
        while !stop.load(Ordering::Relaxed) {
            if beside_ns > 0 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                work((random >> 33) % (2 * beside_ns));
            }
            let begin = Instant::now();
            lock(&|| work(black_box(under_ns)));
            waits.push(nanoseconds(begin).saturating_sub(under_ns));
        }
        waits
    };
    let begin = Instant::now();
    let mut waits: Vec<u64> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|number| scope.spawn(move || thread(number))).collect();
        std::thread::sleep(RUN);
        stop.store(true, Ordering::Relaxed);
        handles.into_iter().flat_map(|handle| handle.join().expect("nothing in it panics")).collect()
    });
    let rate = waits.len() as f64 / begin.elapsed().as_secs_f64();
    waits.sort_unstable();
    (rate, waits)
}

fn main() -> Result<(), perfschema::StartError> {
    perfschema::builder().everything(true).start()?;
    let plain = std::sync::Mutex::new(());
    let ours: Mutex<()> = perfschema::mutex!("wait/synch/mutex/bench/waiting", ());
    let locks: [Lock<'_>; 2] = [
        &|work| {
            let _guard = plain.lock().expect("nothing panics under it");
            work();
        },
        &|work| {
            let _guard = ours.lock().expect("nothing panics under it");
            work();
        },
    ];
    println!("                              locks of ours  nanoseconds up to which 50 %, 90 %, 99 %, 99.9 % of the waits last");
    println!("threads  under ns  beside ns  to std's       {:<36}  ours", "std's");
    for (threads, under_ns, beside_ns) in LOADS {
        for _ in 0..ROUNDS {
            let [(plain_rate, plain), (our_rate, ours)] = locks.map(|lock| run(threads, under_ns, beside_ns, lock));
            let [plain, ours] = [plain, ours].map(|waits| {
                let shown =
                    [500, 900, 990, 999].map(|part| waits.get(waits.len().saturating_sub(1) * part / 1000).map_or(0, |ns| *ns));
                shown.map(|ns| format!("{ns:<9}")).concat()
            });
            println!("{threads:<8} {under_ns:<9} {beside_ns:<10} {:<14.2} {plain}  {}", our_rate / plain_rate, ours.trim_end());
        }
    }
    Ok(())
}
