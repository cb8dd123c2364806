//! parking_lot's locks, instrumented through lock_api.
#![cfg(feature = "lock_api")]

use ::lock_api::{MutexGuard, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard};
use ::lock_api::{RawMutexFair, RawRwLockFair, RawRwLockUpgrade, RawRwLockUpgradeFair};
use perfschema::lock_api::{LockClass, RawCondvar, RawMutex, RawRwLock};
use perfschema::{Instrument, Region, tables};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

static LOCK_CACHE: Instrument = Instrument::new("wait/synch/mutex/test/LOCK_cache");
static LOCK_TABLE: Instrument = Instrument::new("wait/synch/rwlock/test/LOCK_table");
static LOCK_BUMPED: Instrument = Instrument::new("wait/synch/mutex/test/LOCK_bumped");
static LOCK_JOBS: Instrument = Instrument::new("wait/synch/mutex/test/LOCK_jobs");
static COND_JOBS: Instrument = Instrument::new("wait/synch/cond/test/COND_jobs");
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

type Mutex<T> = ::lock_api::Mutex<RawMutex<parking_lot::RawMutex, Cache>, T>;
type RwLock<T> = ::lock_api::RwLock<RawRwLock<parking_lot::RawRwLock, Table>, T>;

/// What only the lock within has.
#[test]
fn the_lock_within() {
    // Of no other test's instrument.
    static WITHIN: Instrument = Instrument::new("wait/synch/mutex/test/within");
    struct Within;
    impl LockClass for Within {
        const INSTRUMENT: &'static Instrument = &WITHIN;
    }
    static LOCK: ::lock_api::Mutex<RawMutex<parking_lot::RawMutex, Within>, ()> = ::lock_api::Mutex::new(());
    // SAFETY: nothing is unlocked.
    let within = || ::lock_api::RawMutex::is_locked(unsafe { LOCK.raw() }.get_ref());
    let lock = LOCK.lock();
    assert!(within());
    drop(lock);
    assert!(!within());
}

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
    bumps(region);
    conditions(region);
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
    // Of each the lock has its time, also of those that did not get it.
    let mut by_instance = 0;
    region.scan(&tables::EventsWaitsSummaryByInstance, |row| {
        if row.event_name.as_str() == LOCK_ORDERS.name() {
            by_instance += row.count_star;
        }
    });
    assert_eq!(by_instance, expected.len() as u64);
}

/// parking_lot's locks, which say how often they were bumped, and how often unlocked fairly, each kind of guard by a digit.
struct Counted<R>(R);

static BUMPS: AtomicU32 = AtomicU32::new(0);
static FAIR: AtomicU32 = AtomicU32::new(0);

// SAFETY: every call goes to the inner lock.
unsafe impl ::lock_api::RawMutex for Counted<parking_lot::RawMutex> {
    const INIT: Self = Counted(parking_lot::RawMutex::INIT);
    type Guard = <parking_lot::RawMutex as ::lock_api::RawMutex>::Guard;
    fn lock(&self) -> Self::Guard {
        self.0.lock()
    }
    fn try_lock(&self) -> Option<Self::Guard> {
        self.0.try_lock()
    }
    unsafe fn unlock(&self, guard: Self::Guard) {
        // SAFETY: the caller's promise, here and below.
        unsafe { self.0.unlock(guard) }
    }
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
}

// SAFETY: as above.
unsafe impl RawMutexFair for Counted<parking_lot::RawMutex> {
    unsafe fn unlock_fair(&self, guard: Self::Guard) {
        FAIR.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { self.0.unlock_fair(guard) }
    }
    unsafe fn bump(&self, guard: &mut Self::Guard) {
        BUMPS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { self.0.bump(guard) }
    }
}

// SAFETY: as above.
unsafe impl ::lock_api::RawRwLock for Counted<parking_lot::RawRwLock> {
    const INIT: Self = Counted(parking_lot::RawRwLock::INIT);
    type SharedGuard = <parking_lot::RawRwLock as ::lock_api::RawRwLock>::SharedGuard;
    type ExclusiveGuard = <parking_lot::RawRwLock as ::lock_api::RawRwLock>::ExclusiveGuard;
    fn lock_shared(&self) -> Self::SharedGuard {
        self.0.lock_shared()
    }
    fn try_lock_shared(&self) -> Option<Self::SharedGuard> {
        self.0.try_lock_shared()
    }
    unsafe fn unlock_shared(&self, guard: Self::SharedGuard) {
        // SAFETY: as above.
        unsafe { self.0.unlock_shared(guard) }
    }
    fn lock_exclusive(&self) -> Self::ExclusiveGuard {
        self.0.lock_exclusive()
    }
    fn try_lock_exclusive(&self) -> Option<Self::ExclusiveGuard> {
        self.0.try_lock_exclusive()
    }
    unsafe fn unlock_exclusive(&self, guard: Self::ExclusiveGuard) {
        // SAFETY: as above.
        unsafe { self.0.unlock_exclusive(guard) }
    }
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
    fn is_locked_exclusive(&self) -> bool {
        self.0.is_locked_exclusive()
    }
}

// SAFETY: as above.
unsafe impl RawRwLockFair for Counted<parking_lot::RawRwLock> {
    unsafe fn unlock_shared_fair(&self, guard: Self::SharedGuard) {
        FAIR.fetch_add(10, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { self.0.unlock_shared_fair(guard) }
    }
    unsafe fn unlock_exclusive_fair(&self, guard: Self::ExclusiveGuard) {
        FAIR.fetch_add(100, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { self.0.unlock_exclusive_fair(guard) }
    }
    unsafe fn bump_shared(&self, guard: &mut Self::SharedGuard) {
        BUMPS.fetch_add(10, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { self.0.bump_shared(guard) }
    }
    unsafe fn bump_exclusive(&self, guard: &mut Self::ExclusiveGuard) {
        BUMPS.fetch_add(100, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { self.0.bump_exclusive(guard) }
    }
}

// SAFETY: as above.
unsafe impl RawRwLockUpgrade for Counted<parking_lot::RawRwLock> {
    type UpgradableGuard = <parking_lot::RawRwLock as RawRwLockUpgrade>::UpgradableGuard;
    fn lock_upgradable(&self) -> Self::UpgradableGuard {
        self.0.lock_upgradable()
    }
    fn try_lock_upgradable(&self) -> Option<Self::UpgradableGuard> {
        self.0.try_lock_upgradable()
    }
    unsafe fn unlock_upgradable(&self, guard: Self::UpgradableGuard) {
        // SAFETY: as above.
        unsafe { self.0.unlock_upgradable(guard) }
    }
    unsafe fn upgrade(&self, guard: Self::UpgradableGuard) -> Self::ExclusiveGuard {
        // SAFETY: as above.
        unsafe { self.0.upgrade(guard) }
    }
    unsafe fn try_upgrade(&self, guard: Self::UpgradableGuard) -> Result<Self::ExclusiveGuard, Self::UpgradableGuard> {
        // SAFETY: as above.
        unsafe { self.0.try_upgrade(guard) }
    }
}

// SAFETY: as above.
unsafe impl RawRwLockUpgradeFair for Counted<parking_lot::RawRwLock> {
    unsafe fn unlock_upgradable_fair(&self, guard: Self::UpgradableGuard) {
        FAIR.fetch_add(1000, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { self.0.unlock_upgradable_fair(guard) }
    }
    unsafe fn bump_upgradable(&self, guard: &mut Self::UpgradableGuard) {
        BUMPS.fetch_add(1000, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { self.0.bump_upgradable(guard) }
    }
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
    static BUMPED: ::lock_api::Mutex<RawMutex<Counted<parking_lot::RawMutex>, Bumped>, u32> = ::lock_api::Mutex::new(0);
    static SHARED: ::lock_api::RwLock<RawRwLock<Counted<parking_lot::RawRwLock>, Shared>, ()> = ::lock_api::RwLock::new(());
    let own = perfschema::thread::current_id();
    let holder = || {
        let mut holder = None;
        region.scan(&tables::MutexInstances, |row| {
            holder = if row.name == *LOCK_BUMPED.name() { row.locked_by_thread_id } else { holder };
        });
        holder
    };
    let mut guard = BUMPED.lock();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            *BUMPED.lock() += 1;
        });
        while *guard == 0 {
            MutexGuard::bump(&mut guard);
            assert_eq!(holder(), own);
        }
        other.join().unwrap();
    });
    MutexGuard::unlock_fair(guard);
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
        assert!(
            operation == expected && source.as_str().starts_with("parking_lot.rs:"),
            "{operation} {source}: not the caller's line"
        );
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
}

/// Who waits for a condition does not hold the mutex meanwhile, and holds it again afterwards.
fn conditions(region: &'static Region<'static>) {
    struct Jobs;
    impl LockClass for Jobs {
        const INSTRUMENT: &'static Instrument = &LOCK_JOBS;
    }
    struct Arrived;
    impl LockClass for Arrived {
        const INSTRUMENT: &'static Instrument = &COND_JOBS;
    }
    static JOBS: ::lock_api::Mutex<RawMutex<parking_lot::RawMutex, Jobs>, u32> = ::lock_api::Mutex::new(0);
    static ARRIVED: ::lock_api::Condvar<RawCondvar<parking_lot::RawCondvar, Arrived, Jobs>> = ::lock_api::Condvar::new();
    let holder = || {
        let mut holder = None;
        region.scan(&tables::MutexInstances, |row| {
            holder = if row.name == *LOCK_JOBS.name() { row.locked_by_thread_id } else { holder };
        });
        holder
    };
    let waits = || {
        let mut waits = Vec::new();
        region.scan(&tables::EventsWaitsCurrent, |row| {
            if row.event_name == *COND_JOBS.name() && row.timer_end.is_none() {
                waits.push((Some(row.thread_id), row.operation));
            }
        });
        waits
    };
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let own = perfschema::thread::current_id();
            let mut jobs = JOBS.lock();
            ARRIVED.wait_while(&mut jobs, |jobs| *jobs == 0);
            assert_eq!((holder(), *jobs), (own, 1));
            own
        });
        while waits().is_empty() {
            std::thread::yield_now();
        }
        let (thread, operation) = waits()[0];
        let mut jobs = JOBS.lock();
        assert_eq!((holder(), operation), (perfschema::thread::current_id(), "wait"));
        *jobs += 1;
        drop(jobs);
        assert!(ARRIVED.notify_one(), "as parking_lot's, it says whether anybody waited");
        assert_eq!(waiter.join().unwrap(), thread);
    });
    let mut jobs = JOBS.lock();
    assert!(ARRIVED.wait_for(&mut jobs, Duration::from_millis(1)).timed_out());
    assert!(ARRIVED.wait_until(&mut jobs, std::time::Instant::now()).timed_out());
    assert_eq!((holder(), ARRIVED.notify_all()), (perfschema::thread::current_id(), 0));
    drop(jobs);
    assert_eq!((holder(), waits()), (None, vec![]));
    let mut count = 0;
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| {
        count += if row.event_name == *COND_JOBS.name() { row.count_star } else { 0 };
    });
    assert_eq!(count, 3);
}
