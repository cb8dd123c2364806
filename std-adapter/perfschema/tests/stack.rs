//! Threads with small stacks, as programs have that start many, record in a build without optimisation, too.
#![cfg(all(feature = "instrument", not(miri), not(perfschema_sanitizer)))]

use perfschema::sync::{Condvar, Mutex, RwLock};
use perfschema::tables;
use std::time::Duration;

/// The smallest that the system allows, of which it takes some itself.
const STACK_BYTES: usize = 16 << 10;

#[test]
fn a_thread_with_a_small_stack_records() {
    static MUTEX: Mutex<u32> = perfschema::mutex!("wait/synch/mutex/test/small_stack", 0);
    static RWLOCK: RwLock<u32> = perfschema::rwlock!("wait/synch/rwlock/test/small_stack", 0);
    static CONDVAR: Condvar = perfschema::condvar!("wait/synch/cond/test/small_stack");
    let region = perfschema::builder().everything(true).environment(false).start().unwrap().region();
    for _ in 0..2 {
        let records = || {
            let guard = MUTEX.lock().unwrap();
            drop(CONDVAR.wait_timeout(guard, Duration::from_millis(1)).unwrap());
            let read = *RWLOCK.read().unwrap();
            *RWLOCK.write().unwrap() += read + *MUTEX.try_lock().unwrap();
        };
        std::thread::Builder::new().stack_size(STACK_BYTES).spawn(records).unwrap().join().unwrap();
    }
    let mut waits = 0;
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| waits += row.count_star);
    assert_eq!(waits, 10);
}
