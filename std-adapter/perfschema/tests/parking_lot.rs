//! parking_lot's locks, instrumented through lock_api.
#![cfg(feature = "lock_api")]

use ::{lock_api, parking_lot};
use ::lock_api::{RawMutexFair, RawRwLockFair, RawRwLockUpgrade, RawRwLockUpgradeFair};
use perfschema::lock_api as instrumented;
use perfschema::lock_api::{LockClass, RawCondvar, RawMutex};
use perfschema::{Instrument, Region, tables};
use std::sync::atomic::Ordering;
use std::time::Duration;
use story::FAIR;

#[path = "parking_lot/story.rs"]
mod story;

#[test]
fn parking_lots_locks_and_what_the_tables_say_of_them() {
    let region = story::tell();
    conditions(region);
    // Not a test of its own, which would run at the same time: these count what all have recorded.
    the_lock_within();
    instruments_of_something_else(region);
}

/// As [`LockClass::INSTRUMENT`] says.
fn instruments_of_something_else(region: &Region<'_>) {
    static RWLOCK: Instrument = Instrument::new("wait/synch/rwlock/test/of_a_mutex");
    static FILE: Instrument = Instrument::new("wait/io/file/test/of_a_mutex");
    struct AsRwLock;
    impl LockClass for AsRwLock {
        const INSTRUMENT: &'static Instrument = &RWLOCK;
    }
    struct AsFile;
    impl LockClass for AsFile {
        const INSTRUMENT: &'static Instrument = &FILE;
    }
    let one = ::lock_api::Mutex::<RawMutex<parking_lot::RawMutex, AsRwLock>, ()>::new(());
    let other = ::lock_api::Mutex::<RawMutex<parking_lot::RawMutex, AsFile>, ()>::new(());
    let _held = (one.lock(), other.lock());
    let mut places = Vec::new();
    region.scan(&tables::MutexInstances, |row| places.push(("mutex", row.name)));
    region.scan(&tables::RwlockInstances, |row| places.push(("rwlock", row.name)));
    places.retain(|(_, name)| name.as_str().ends_with("/of_a_mutex"));
    assert_eq!(places, [("rwlock", RWLOCK.name().into())]);
    let mut waits = 0;
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| {
        waits += row.count_star * u64::from(row.event_name == FILE.name());
    });
    assert_eq!(waits, 0);
}

static LOCK_JOBS: Instrument = Instrument::new("wait/synch/mutex/test/LOCK_jobs");
static COND_JOBS: Instrument = Instrument::new("wait/synch/cond/test/COND_jobs");

/// What only the lock within has.
fn the_lock_within() {
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

/// parking_lot's locks, which say in `BUMPS` and [`FAIR`] how often they were bumped and unlocked fairly.
struct Counted<R>(R);

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
        story::bumping(1);
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
        story::bumping(10);
        // SAFETY: as above.
        unsafe { self.0.bump_shared(guard) }
    }
    unsafe fn bump_exclusive(&self, guard: &mut Self::ExclusiveGuard) {
        story::bumping(100);
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
        story::bumping(1000);
        // SAFETY: as above.
        unsafe { self.0.bump_upgradable(guard) }
    }
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
            let own = perfschema::thread::thread_id();
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
        assert_eq!((holder(), operation), (perfschema::thread::thread_id(), "wait"));
        *jobs += 1;
        drop(jobs);
        assert!(ARRIVED.notify_one(), "as parking_lot's, it says whether anybody waited");
        assert_eq!(waiter.join().unwrap(), thread);
    });
    let mut jobs = JOBS.lock();
    assert!(ARRIVED.wait_for(&mut jobs, Duration::from_millis(1)).timed_out());
    assert!(ARRIVED.wait_until(&mut jobs, std::time::Instant::now()).timed_out());
    assert_eq!((holder(), ARRIVED.notify_all()), (perfschema::thread::thread_id(), 0));
    drop(jobs);
    assert_eq!((holder(), waits()), (None, vec![]));
    let mut count = 0;
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| {
        count += if row.event_name == *COND_JOBS.name() { row.count_star } else { 0 };
    });
    assert_eq!(count, 3);
}
