//! 10 000 threads come and go past a pool of 64 while readers sweep the tables: nothing is lost but what the counters say.
#![cfg(feature = "instrument")]

use perfschema::sync::Mutex;
use perfschema::{Lost, Size, tables};
use std::sync::atomic::{AtomicBool, Ordering};

const THREADS: u64 = if cfg!(miri) { 30 } else { 10_000 };
const LOCKS_EACH: u64 = 5;
const AT_ONCE: u64 = if cfg!(miri) { 3 } else { 100 };

#[test]
fn ten_thousand_threads_and_a_pool_of_64() {
    static LOCK: Mutex<u64> = perfschema::mutex!("wait/synch/mutex/test/busy", 0);
    // Under Miri one sweep over all places that there are by default takes a minute.
    let pools = Size::ALL.iter().filter(|size| cfg!(miri) && **size != Size::MaxTransactionClasses);
    let process = pools
        .fold(perfschema::builder(), |builder, size| builder.size(*size, 4))
        .everything(true)
        .environment(false)
        .size(Size::MaxThreadInstances, if cfg!(miri) { 2 } else { 64 })
        .size(Size::EventsWaitsHistoryLongSize, if cfg!(miri) { 12 } else { 1000 })
        .start()
        .unwrap();
    let region = process.region();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut sweeps = 0_u64;
                    while !done.load(Ordering::Relaxed) {
                        for table in tables::ALL {
                            // The timers are measured anew, which takes a while.
                            if table.declaration().name == "performance_timers" {
                                continue;
                            }
                            let sweep = table.scan(region, &mut |row| {
                                for column in 0..table.declaration().columns.len() {
                                    std::hint::black_box(row.cell(column));
                                }
                            });
                            assert_eq!(sweep.rows + sweep.free + sweep.skipped + sweep.changed, sweep.places);
                        }
                        sweeps += 1;
                    }
                    sweeps
                })
            })
            .collect();
        for _ in 0..THREADS / AT_ONCE {
            std::thread::scope(|scope| {
                for _ in 0..AT_ONCE {
                    scope.spawn(|| {
                        for _ in 0..LOCKS_EACH {
                            *LOCK.lock().unwrap() += 1;
                        }
                    });
                }
            });
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            assert!(reader.join().unwrap() > 0);
        }
    });
    let mut sums = Vec::new();
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| sums.push((row.event_name, row.count_star)));
    sums.retain(|(name, _)| *name != "idle");
    assert_eq!(sums.len(), 1);
    assert_eq!(sums[0].1, THREADS * LOCKS_EACH);
    assert_eq!(*LOCK.lock().unwrap(), THREADS * LOCKS_EACH);
    let mut by_instance = 0;
    region.scan(&tables::EventsWaitsSummaryByInstance, |row| by_instance += row.count_star);
    assert_eq!(by_instance, THREADS * LOCKS_EACH + 1);
    // Every thread either had a slot once or is counted; the last row of `threads` is this one, the highest number.
    let with_slot = perfschema::thread::thread_id().unwrap() - 1;
    assert_eq!(with_slot + region.lost(Lost::ThreadInstances), THREADS);
}
