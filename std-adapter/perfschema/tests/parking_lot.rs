//! parking_lot's locks, instrumented through lock_api.
#![cfg(feature = "lock_api")]

use perfschema::lock_api::{LockClass, RawMutex, RawRwLock};
use perfschema::{Instrument, tables};

static LOCK_CACHE: Instrument = Instrument::new("wait/synch/mutex/test/LOCK_cache");
static LOCK_TABLE: Instrument = Instrument::new("wait/synch/rwlock/test/LOCK_table");

struct Cache;
impl LockClass for Cache {
    const INSTRUMENT: &'static Instrument = &LOCK_CACHE;
}
struct Table;
impl LockClass for Table {
    const INSTRUMENT: &'static Instrument = &LOCK_TABLE;
}

type Mutex<T> = ::lock_api::Mutex<RawMutex<parking_lot::RawMutex, Cache>, T>;
type RwLock<T> = ::lock_api::RwLock<RawRwLock<parking_lot::RawRwLock, Table>, T>;

#[test]
fn waits_holders_and_lines() {
    let process = perfschema::builder().everything(true).environment(false).start().unwrap();
    let region = process.region();
    static CACHE: Mutex<u64> = Mutex::new(0);
    static TABLE: RwLock<u64> = RwLock::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    *CACHE.lock() += *TABLE.read() + 1;
                }
            });
        }
    });
    let guard = CACHE.lock();
    assert_eq!(*guard, 4000);
    let mut holder = None;
    region.scan(&tables::MutexInstances, |row| holder = row.locked_by_thread_id);
    assert_eq!(holder, perfschema::thread::current_id());
    drop(guard);
    let write = TABLE.write();
    let read = ::lock_api::RwLockWriteGuard::downgrade(write);
    let mut readers = Vec::new();
    region.scan(&tables::RwlockInstances, |row| readers.push((row.write_locked_by_thread_id, row.read_locked_by_count)));
    assert_eq!(readers, [(None, 1)]);
    drop(read);
    assert!(CACHE.try_lock_for(std::time::Duration::from_millis(1)).is_some());
    let mut counts = Vec::new();
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| counts.push(row.count_star));
    counts.sort_unstable();
    assert_eq!(counts, [4001, 4002]);
    region.scan(&tables::EventsWaitsHistory, |row| {
        let source = row.source.expect("there is room for a few lines");
        assert!(source.as_str().starts_with("parking_lot.rs:"), "{source}: not the caller's line");
    });
}
