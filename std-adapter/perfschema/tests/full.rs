//! A pool with room for one lock: what is lost is counted, each once.
#![cfg(feature = "instrument")]

use perfschema::sync::Mutex;
use perfschema::{Lost, Size, tables};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Locks that two threads come to at the same moment, for the first time.
fn meet_at(locks: &[Mutex<()>]) {
    let (start, next) = (Barrier::new(2), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                start.wait();
                for (index, lock) in locks.iter().enumerate() {
                    // Each waits for the other before each lock.
                    next.fetch_add(1, Ordering::AcqRel);
                    while next.load(Ordering::Acquire) < 2 * (index + 1) {
                        std::thread::yield_now();
                    }
                    drop(lock.lock().unwrap());
                }
            });
        }
    });
}

#[test]
fn a_lock_that_two_threads_find_at_once_is_lost_once_or_not_at_all() {
    let rounds = if cfg!(miri) { 3 } else { 2000 };
    let process = perfschema::builder().everything(true).environment(false).size(Size::MaxMutexInstances, 1).start().unwrap();
    let region = process.region();
    let rows = || {
        let mut rows = 0;
        region.scan(&tables::MutexInstances, |_| rows += 1);
        rows
    };
    // One at a time: there is room for each.
    for _ in 0..rounds {
        let lock = [Mutex::new(())];
        meet_at(&lock);
        assert_eq!((rows(), region.lost(Lost::MutexInstances)), (1, 0));
    }
    // Of all these for one.
    let locks: Vec<_> = (0..rounds).map(|_| Mutex::new(())).collect();
    meet_at(&locks);
    assert_eq!((rows(), region.lost(Lost::MutexInstances)), (1, rounds - 1));
}
