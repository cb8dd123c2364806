//! parking_lot's locks, instrumented through lock_api.
#![cfg(feature = "lock_api")]

use ::lock_api::RwLockUpgradableReadGuard;
use perfschema::lock_api::{LockClass, RawMutex, RawRwLock};
use perfschema::{Instrument, Region, tables};
use std::time::Duration;

static LOCK_CACHE: Instrument = Instrument::new("wait/synch/mutex/test/LOCK_cache");
static LOCK_TABLE: Instrument = Instrument::new("wait/synch/rwlock/test/LOCK_table");
static LOCK_ORDERS: Instrument = Instrument::new("wait/synch/rwlock/test/LOCK_orders");

struct Cache;
impl LockClass for Cache {
    const INSTRUMENT: &'static Instrument = &LOCK_CACHE;
}
struct Table;
impl LockClass for Table {
    const INSTRUMENT: &'static Instrument = &LOCK_TABLE;
}
struct Orders;
impl LockClass for Orders {
    const INSTRUMENT: &'static Instrument = &LOCK_ORDERS;
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
    assert!(CACHE.try_lock_for(Duration::from_millis(1)).is_some());
    let mut counts = Vec::new();
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| {
        if row.event_name != "idle" {
            counts.push(row.count_star);
        }
    });
    counts.sort_unstable();
    assert_eq!(counts, [4001, 4002]);
    region.scan(&tables::EventsWaitsHistory, |row| {
        let source = row.source.expect("there is room for a few lines");
        assert!(source.as_str().starts_with("parking_lot.rs:"), "{source}: not the caller's line");
    });
    upgradable_reads(region);
}

/// An upgradable read is one reader; upgraded it is the writer, and never is there a moment with neither.
fn upgradable_reads(region: &'static Region<'static>) {
    type Table = ::lock_api::RwLock<RawRwLock<parking_lot::RawRwLock, Orders>, u64>;
    static ORDERS: Table = Table::new(0);
    let marks = || {
        let mut marks = None;
        region.scan(&tables::RwlockInstances, |row| {
            if row.name.as_str() == LOCK_ORDERS.name() {
                marks = Some((row.write_locked_by_thread_id.is_some(), row.read_locked_by_count));
            }
        });
        marks
    };
    let second = ORDERS.upgradable_read();
    assert_eq!(marks(), Some((false, 1)));
    assert!(ORDERS.try_upgradable_read().is_none(), "there is one at a time");
    let reader = ORDERS.read();
    assert_eq!(marks(), Some((false, 2)));
    let Err(second) = RwLockUpgradableReadGuard::try_upgrade(second) else { panic!("upgraded beside a reader") };
    let Err(second) = RwLockUpgradableReadGuard::try_upgrade_for(second, Duration::from_millis(1)) else {
        panic!("upgraded beside a reader")
    };
    assert_eq!(marks(), Some((false, 2)), "what was not upgraded still reads");
    drop(reader);
    let mut writer = RwLockUpgradableReadGuard::upgrade(second);
    *writer += 1;
    assert_eq!(marks(), Some((true, 0)));
    let second = ::lock_api::RwLockWriteGuard::downgrade_to_upgradable(writer);
    assert_eq!((*second, marks()), (1, Some((false, 1))));
    drop(RwLockUpgradableReadGuard::downgrade(second));
    RwLockUpgradableReadGuard::unlock_fair(ORDERS.try_upgradable_read_for(Duration::from_millis(1)).expect("nobody has it"));
    assert_eq!(marks(), Some((false, 0)));

    let mut operations = Vec::new();
    region.scan(&tables::EventsWaitsHistory, |row| {
        if row.event_name.as_str() == LOCK_ORDERS.name() {
            assert!(row.source.is_some_and(|source| source.as_str().starts_with("parking_lot.rs:")), "not the caller's line");
            operations.push(row.operation);
        }
    });
    let expected = [
        "shared_exclusive_lock",
        "try_shared_exclusive_lock",
        "read_lock",
        "try_write_lock",
        "try_write_lock",
        "write_lock",
        "try_shared_exclusive_lock",
    ];
    assert_eq!(operations, expected);
}
