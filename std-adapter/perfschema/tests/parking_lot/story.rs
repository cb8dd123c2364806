//! What the tables say of parking_lot's locks, whichever of lock_api's versions they are of: the same of both.

use super::{Counted, instrumented, lock_api, parking_lot};
use instrumented::{LockClass, RawMutex, RawRwLock};
use lock_api::{MutexGuard, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard};
use perfschema::{Instrument, Region, tables};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

static LOCK_CACHE: Instrument = Instrument::new("wait/synch/mutex/test/LOCK_cache");
static LOCK_TABLE: Instrument = Instrument::new("wait/synch/rwlock/test/LOCK_table");
static LOCK_BUMPED: Instrument = Instrument::new("wait/synch/mutex/test/LOCK_bumped");
static LOCK_SHARED: Instrument = Instrument::new("wait/synch/rwlock/test/LOCK_shared");
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

type Mutex<T> = lock_api::Mutex<RawMutex<parking_lot::RawMutex, Cache>, T>;
type RwLock<T> = lock_api::RwLock<RawRwLock<parking_lot::RawRwLock, Table>, T>;

/// How often [`Counted`] locks were bumped, and how often unlocked fairly, each kind of guard by a digit.
static BUMPS: AtomicU32 = AtomicU32::new(0);
pub(crate) static FAIR: AtomicU32 = AtomicU32::new(0);

/// Somebody was marked to have a lock that was about to be bumped, which others may have before the bump is over.
static STILL_MARKED: AtomicBool = AtomicBool::new(false);

/// A lock is about to be bumped, `digits` say how. Looks who is marked, and leaves what it finds to [`bumps`]: a panic here would leave the
/// lock held, for which others wait.
pub(crate) fn bumping(digits: u32) {
    let region = perfschema::process().expect("it records").region();
    let found = |is_marked: bool| STILL_MARKED.fetch_or(is_marked, Ordering::Relaxed);
    region.scan(&tables::MutexInstances, |row| {
        found(row.name == *LOCK_BUMPED.name() && row.locked_by_thread_id.is_some());
    });
    region.scan(&tables::RwlockInstances, |row| {
        let is_marked = row.write_locked_by_thread_id.is_some() || row.read_locked_by_count > 0;
        found(row.name == *LOCK_SHARED.name() && is_marked);
    });
    BUMPS.fetch_add(digits, Ordering::Relaxed);
}

/// Starts recording, and tells all of it.
pub(crate) fn tell() -> &'static Region<'static> {
    let region = perfschema::builder().everything(true).environment(false).start().unwrap().region();
    waits_holders_and_lines(region);
    upgradable_reads(region);
    bumps(region);
    region
}

fn waits_holders_and_lines(region: &'static Region<'static>) {
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
    assert_eq!(holder, perfschema::thread::thread_id());
    drop(guard);
    let write = TABLE.write();
    let read = lock_api::RwLockWriteGuard::downgrade(write);
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
        assert!(source.as_str().starts_with("story.rs:"), "{source}: not the caller's line");
    });
}

/// An upgradable read is one reader; upgraded it is the writer, and never is there a moment with neither.
fn upgradable_reads(region: &'static Region<'static>) {
    type Table = lock_api::RwLock<RawRwLock<parking_lot::RawRwLock, Orders>, u64>;
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
    let second = lock_api::RwLockWriteGuard::downgrade_to_upgradable(writer);
    assert_eq!((*second, marks()), (1, Some((false, 1))));
    drop(RwLockUpgradableReadGuard::downgrade(second));
    RwLockUpgradableReadGuard::unlock_fair(ORDERS.try_upgradable_read_for(Duration::from_millis(1)).expect("nobody has it"));
    assert_eq!(marks(), Some((false, 0)));
    drop(ORDERS.upgradable_read());
    assert_eq!(marks(), Some((false, 0)));

    let mut operations = Vec::new();
    region.scan(&tables::EventsWaitsHistory, |row| {
        if row.event_name.as_str() == LOCK_ORDERS.name() {
            assert!(row.source.is_some_and(|source| source.as_str().starts_with("story.rs:")), "not the caller's line");
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
        "shared_exclusive_lock",
    ];
    assert_eq!(operations, expected);
    // Of each the lock has its time, also of those that did not get it.
    let mut by_instance = 0;
    region.scan(&tables::EventsWaitsSummaryByInstance, |row| {
        if row.event_name.as_str() == LOCK_ORDERS.name() {
            by_instance += row.count_star;
        }
    });
    assert_eq!(by_instance, expected.len() as u64);
}

/// A bump is the inner lock's, which is cheap where nobody waits; whoever waited has had the lock when it is over. Its line is the
/// caller's. To unlock fairly is the inner lock's, too.
fn bumps(region: &'static Region<'static>) {
    struct Bumped;
    impl LockClass for Bumped {
        const INSTRUMENT: &'static Instrument = &LOCK_BUMPED;
    }
    struct Shared;
    impl LockClass for Shared {
        const INSTRUMENT: &'static Instrument = &LOCK_SHARED;
    }
    static BUMPED: lock_api::Mutex<RawMutex<Counted<parking_lot::RawMutex>, Bumped>, u32> = lock_api::Mutex::new(0);
    static SHARED: lock_api::RwLock<RawRwLock<Counted<parking_lot::RawRwLock>, Shared>, ()> = lock_api::RwLock::new(());
    let own = perfschema::thread::thread_id();
    let holder = || {
        let mut holder = None;
        region.scan(&tables::MutexInstances, |row| {
            holder = if row.name == *LOCK_BUMPED.name() { row.locked_by_thread_id } else { holder };
        });
        holder
    };
    let (mut guard, mut holders) = (BUMPED.lock(), Vec::new());
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            *BUMPED.lock() += 1;
        });
        while *guard == 0 {
            MutexGuard::bump(&mut guard);
            holders.push(holder());
        }
        other.join().unwrap();
    });
    MutexGuard::unlock_fair(guard);
    assert!(holders.iter().all(|holder| *holder == own), "{holders:?}");
    assert_eq!(holder(), None);
    let mut count = 0;
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| {
        count += if row.event_name == *LOCK_BUMPED.name() { row.count_star } else { 0 };
    });
    assert_eq!(count, u64::from(BUMPS.swap(0, Ordering::Relaxed)) + 2, "each is a wait of its own");

    let last = |expected: &str| {
        let mut events = Vec::new();
        region.scan(&tables::EventsWaitsHistory, |row| {
            if Some(row.thread_id) == own {
                events.push((row.event_id, row.operation, row.source.unwrap()));
            }
        });
        let (_, operation, source) = events.into_iter().max_by_key(|(event_id, ..)| *event_id).unwrap();
        assert!(operation == expected && source.as_str().starts_with("story.rs:"), "{operation} {source}: not the caller's line");
    };
    last("lock");
    let marks = || {
        let mut marks = Vec::new();
        region.scan(&tables::RwlockInstances, |row| {
            if row.name == *LOCK_SHARED.name() {
                marks.push((row.write_locked_by_thread_id, row.read_locked_by_count));
            }
        });
        marks
    };
    let mut read = SHARED.read();
    RwLockReadGuard::bump(&mut read);
    last("read_lock");
    assert_eq!(marks(), [(None, 1)]);
    RwLockReadGuard::unlock_fair(read);
    assert_eq!(marks(), [(None, 0)]);
    let mut write = SHARED.write();
    RwLockWriteGuard::bump(&mut write);
    last("write_lock");
    assert_eq!(marks(), [(own, 0)]);
    RwLockWriteGuard::unlock_fair(write);
    assert_eq!(marks(), [(None, 0)]);
    let mut upgradable = SHARED.upgradable_read();
    RwLockUpgradableReadGuard::bump(&mut upgradable);
    last("shared_exclusive_lock");
    assert_eq!(marks(), [(None, 1)]);
    RwLockUpgradableReadGuard::unlock_fair(upgradable);
    assert_eq!(marks(), [(None, 0)]);
    assert_eq!((BUMPS.load(Ordering::Relaxed), FAIR.load(Ordering::Relaxed)), (1110, 1111), "once each");
    assert!(!STILL_MARKED.load(Ordering::Relaxed), "somebody was marked to have what was being bumped");
}
