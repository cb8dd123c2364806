//! The locks of parking_lot 0.12, and of spin, instrumented through lock_api 0.4.
#![cfg(feature = "lock_api_0_4")]

use ::{lock_api_0_4 as lock_api, parking_lot_0_12 as parking_lot};
use lock_api::{RawMutexFair, RawRwLockFair, RawRwLockUpgrade, RawRwLockUpgradeFair};
use perfschema::lock_api_0_4 as instrumented;
use perfschema::lock_api_0_4::{LockClass, RawMutex, RawRwLock};
use perfschema::{Consumer, Instrument, Region, tables};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use story::FAIR;

#[path = "parking_lot/story.rs"]
mod story;

macro_rules! class {
    ($class:ident, $name:literal) => {
        struct $class;
        impl LockClass for $class {
            const INSTRUMENT: &'static Instrument = {
                static INSTRUMENT: Instrument = Instrument::new($name);
                &INSTRUMENT
            };
        }
    };
}

#[test]
fn parking_lots_locks_and_what_the_tables_say_of_them() {
    let region = story::tell();
    upgrades_in_time(region);
    readers_of_readers(region);
    reentrant(region);
    another_ones_locks(region);
    switched_on_and_off_while_it_is_held(region);
    no_mark_stays(region);
    // Not a test of its own, which would run at the same time: these count what all have recorded.
    the_lock_within();
}

/// WRITE_LOCKED_BY_THREAD_ID is there, and READ_LOCKED_BY_COUNT, of the only lock of a class.
fn marks<N: LockClass>(region: &'static Region<'static>) -> (bool, u32) {
    let mut marks = None;
    region.scan(&tables::RwlockInstances, |row| {
        if row.name == *N::INSTRUMENT.name() {
            marks = Some((row.write_locked_by_thread_id.is_some(), row.read_locked_by_count));
        }
    });
    marks.expect("it was used")
}

/// LOCKED_BY_THREAD_ID.
fn holder<N: LockClass>(region: &'static Region<'static>) -> Option<u64> {
    let mut holder = None;
    region.scan(&tables::MutexInstances, |row| {
        holder = if row.name == *N::INSTRUMENT.name() { row.locked_by_thread_id } else { holder };
    });
    holder
}

/// How many waits of a class were counted, in vain or not.
fn count<N: LockClass>(region: &'static Region<'static>) -> u64 {
    let mut count = 0;
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| {
        count += if row.event_name == *N::INSTRUMENT.name() { row.count_star } else { 0 };
    });
    count
}

/// What only the lock within has.
fn the_lock_within() {
    class!(Within, "wait/synch/mutex/test/within");
    static LOCK: lock_api::Mutex<RawMutex<parking_lot::RawMutex, Within>, ()> = lock_api::Mutex::new(());
    // SAFETY: nothing is unlocked.
    let within = || lock_api::RawMutex::is_locked(unsafe { LOCK.raw() }.get_ref());
    let lock = LOCK.lock();
    assert!(within() && LOCK.is_locked());
    drop(lock);
    assert!(!within() && !LOCK.is_locked());
    // SAFETY: nothing is unlocked.
    let raw = unsafe { LOCK.raw() };
    assert_eq!(format!("{raw:?}").split(' ').next(), Some("RawMutex"));
}

/// What tries until a moment, or for so long, by the operation that it is.
fn upgrades_in_time(region: &'static Region<'static>) {
    class!(Timed, "wait/synch/rwlock/test/LOCK_timed");
    static TIMED: lock_api::RwLock<RawRwLock<parking_lot::RawRwLock, Timed>, ()> = lock_api::RwLock::new(());
    let (soon, now) = (Duration::from_millis(1), std::time::Instant::now);
    let second = TIMED.try_upgradable_read_until(now() + soon).expect("nobody has it");
    let reader = TIMED.try_read_for(soon).expect("readers may");
    assert!(TIMED.try_write_for(soon).is_none() && TIMED.try_write_until(now()).is_none());
    let Err(second) = lock_api::RwLockUpgradableReadGuard::try_upgrade_until(second, now()) else { panic!("beside a reader") };
    assert_eq!(marks::<Timed>(region), (false, 2), "what was not upgraded still reads");
    drop(reader);
    let Ok(writer) = lock_api::RwLockUpgradableReadGuard::try_upgrade_for(second, soon) else { panic!("nobody else has it") };
    assert_eq!(marks::<Timed>(region), (true, 0));
    assert!(TIMED.try_read_until(now()).is_none() && TIMED.is_locked_exclusive());
    drop(writer);
    assert_eq!((marks::<Timed>(region), count::<Timed>(region), TIMED.is_locked()), ((false, 0), 7, false));
}

/// Who reads already may read again, also while somebody waits to write.
fn readers_of_readers(region: &'static Region<'static>) {
    class!(Again, "wait/synch/rwlock/test/LOCK_again");
    static AGAIN: lock_api::RwLock<RawRwLock<parking_lot::RawRwLock, Again>, ()> = lock_api::RwLock::new(());
    let first = AGAIN.read_recursive();
    let second = AGAIN.try_read_recursive().expect("readers may");
    let third = AGAIN.try_read_recursive_for(Duration::ZERO).expect("readers may");
    let fourth = AGAIN.try_read_recursive_until(std::time::Instant::now()).expect("readers may");
    assert_eq!(marks::<Again>(region), (false, 4));
    drop((first, second, third, fourth));
    assert_eq!((marks::<Again>(region), count::<Again>(region)), ((false, 0), 4));
}

/// A lock that a thread may take again is one wait, for the first time.
fn reentrant(region: &'static Region<'static>) {
    class!(Reentrant, "wait/synch/mutex/test/LOCK_reentrant");
    type Lock = lock_api::ReentrantMutex<RawMutex<parking_lot::RawMutex, Reentrant>, parking_lot::RawThreadId, u32>;
    static LOCK: Lock = Lock::new(1);
    let first = LOCK.lock();
    let second = LOCK.lock();
    assert_eq!((*first + *second, holder::<Reentrant>(region)), (2, perfschema::thread::thread_id()));
    drop(second);
    assert_eq!(holder::<Reentrant>(region), perfschema::thread::thread_id());
    drop(first);
    assert_eq!((holder::<Reentrant>(region), count::<Reentrant>(region)), (None, 1));
}

/// spin's locks have fewer of lock_api's traits.
fn another_ones_locks(region: &'static Region<'static>) {
    class!(Spinning, "wait/synch/mutex/test/LOCK_spinning");
    class!(SpinningTable, "wait/synch/rwlock/test/LOCK_spinning_table");
    static LOCK: lock_api::Mutex<RawMutex<spin::Mutex<()>, Spinning>, u32> = lock_api::Mutex::new(0);
    static TABLE: lock_api::RwLock<RawRwLock<spin::RwLock<()>, SpinningTable>, u32> = lock_api::RwLock::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..100 {
                    *LOCK.lock() += *TABLE.read() + 1;
                }
            });
        }
    });
    let guard = LOCK.lock();
    assert_eq!((*guard, holder::<Spinning>(region)), (200, perfschema::thread::thread_id()));
    assert!(LOCK.try_lock().is_none());
    drop(guard);
    let upgradable = TABLE.upgradable_read();
    assert_eq!(marks::<SpinningTable>(region), (false, 1));
    let writer = lock_api::RwLockUpgradableReadGuard::upgrade(upgradable);
    assert_eq!(marks::<SpinningTable>(region), (true, 0));
    drop(lock_api::RwLockWriteGuard::downgrade(writer));
    assert_eq!((holder::<Spinning>(region), marks::<SpinningTable>(region)), (None, (false, 0)));
    assert_eq!((count::<Spinning>(region), count::<SpinningTable>(region)), (202, 202));
}

/// Marks that there are go, and who left none takes none away but another reader's: never are there more than readers, and in the end none.
fn switched_on_and_off_while_it_is_held(region: &'static Region<'static>) {
    class!(Switched, "wait/synch/rwlock/test/LOCK_switched");
    class!(SwitchedMutex, "wait/synch/mutex/test/LOCK_switched");
    static TABLE: lock_api::RwLock<RawRwLock<parking_lot::RawRwLock, Switched>, ()> = lock_api::RwLock::new(());
    static LOCK: lock_api::Mutex<RawMutex<parking_lot::RawMutex, SwitchedMutex>, ()> = lock_api::Mutex::new(());
    let switch = |on| region.set_consumer(Consumer::GlobalInstrumentation, on);
    drop((TABLE.read(), LOCK.lock()));
    drop(TABLE.write());
    switch(false);
    let (unmarked, held) = (TABLE.read(), LOCK.lock());
    switch(true);
    assert_eq!((marks::<Switched>(region), holder::<SwitchedMutex>(region)), ((false, 0), None));
    drop(held);
    let (marked, held) = (TABLE.read(), LOCK.lock());
    assert_eq!((marks::<Switched>(region), holder::<SwitchedMutex>(region)), ((false, 1), perfschema::thread::thread_id()));
    switch(false);
    drop((unmarked, held));
    assert_eq!((marks::<Switched>(region), holder::<SwitchedMutex>(region)), ((false, 0), None), "too few, of one");
    drop(marked);
    let writer = TABLE.write();
    switch(true);
    assert_eq!(marks::<Switched>(region), (false, 0));
    let reader = lock_api::RwLockWriteGuard::downgrade(writer);
    assert_eq!(marks::<Switched>(region), (false, 0), "who was not marked is not");
    drop(reader);
    assert_eq!((marks::<Switched>(region), count::<Switched>(region), count::<SwitchedMutex>(region)), ((false, 0), 3, 2));
}

/// Threads that do everything, while recording goes on and off: in the end nobody is marked.
fn no_mark_stays(region: &'static Region<'static>) {
    class!(Busy, "wait/synch/rwlock/test/LOCK_busy");
    class!(BusyMutex, "wait/synch/mutex/test/LOCK_busy");
    static TABLE: lock_api::RwLock<RawRwLock<parking_lot::RawRwLock, Busy>, u64> = lock_api::RwLock::new(0);
    static LOCK: lock_api::Mutex<RawMutex<parking_lot::RawMutex, BusyMutex>, u64> = lock_api::Mutex::new(0);
    static DONE: AtomicBool = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut on = true;
            while !DONE.load(Ordering::Relaxed) {
                on = !on;
                region.set_consumer(Consumer::GlobalInstrumentation, on);
                std::thread::yield_now();
            }
            region.set_consumer(Consumer::GlobalInstrumentation, true);
        });
        let threads = [0, 1, 2].map(|which| {
            scope.spawn(move || {
                for round in 0..2000_u64 {
                    match (round + which) % 4 {
                        0 => drop((TABLE.read(), TABLE.try_read_recursive())),
                        1 => *TABLE.write() += 1,
                        2 => {
                            let second = TABLE.upgradable_read();
                            let mut writer = lock_api::RwLockUpgradableReadGuard::upgrade(second);
                            *writer += 1;
                            drop(lock_api::RwLockWriteGuard::downgrade_to_upgradable(writer));
                        }
                        _ => *LOCK.lock() += 1,
                    }
                }
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        DONE.store(true, Ordering::Relaxed);
    });
    assert_eq!((*TABLE.read(), *LOCK.lock()), (3000, 1500));
    assert_eq!((marks::<Busy>(region), holder::<BusyMutex>(region)), ((false, 0), None));
}

/// parking_lot's locks, which say in `BUMPS` and [`FAIR`] how often they were bumped and unlocked fairly.
struct Counted<R>(R);

// SAFETY: every call goes to the inner lock.
unsafe impl lock_api::RawMutex for Counted<parking_lot::RawMutex> {
    const INIT: Self = Counted(parking_lot::RawMutex::INIT);
    type GuardMarker = <parking_lot::RawMutex as lock_api::RawMutex>::GuardMarker;
    fn lock(&self) {
        self.0.lock();
    }
    fn try_lock(&self) -> bool {
        self.0.try_lock()
    }
    unsafe fn unlock(&self) {
        // SAFETY: the caller's promise, here and below.
        unsafe { self.0.unlock() }
    }
}

// SAFETY: as above.
unsafe impl RawMutexFair for Counted<parking_lot::RawMutex> {
    unsafe fn unlock_fair(&self) {
        FAIR.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { self.0.unlock_fair() }
    }
    unsafe fn bump(&self) {
        story::bumping(1);
        // SAFETY: as above.
        unsafe { self.0.bump() }
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLock for Counted<parking_lot::RawRwLock> {
    const INIT: Self = Counted(parking_lot::RawRwLock::INIT);
    type GuardMarker = <parking_lot::RawRwLock as lock_api::RawRwLock>::GuardMarker;
    fn lock_shared(&self) {
        self.0.lock_shared();
    }
    fn try_lock_shared(&self) -> bool {
        self.0.try_lock_shared()
    }
    unsafe fn unlock_shared(&self) {
        // SAFETY: as above.
        unsafe { self.0.unlock_shared() }
    }
    fn lock_exclusive(&self) {
        self.0.lock_exclusive();
    }
    fn try_lock_exclusive(&self) -> bool {
        self.0.try_lock_exclusive()
    }
    unsafe fn unlock_exclusive(&self) {
        // SAFETY: as above.
        unsafe { self.0.unlock_exclusive() }
    }
}

// SAFETY: as above.
unsafe impl RawRwLockFair for Counted<parking_lot::RawRwLock> {
    unsafe fn unlock_shared_fair(&self) {
        FAIR.fetch_add(10, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { self.0.unlock_shared_fair() }
    }
    unsafe fn unlock_exclusive_fair(&self) {
        FAIR.fetch_add(100, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { self.0.unlock_exclusive_fair() }
    }
    unsafe fn bump_shared(&self) {
        story::bumping(10);
        // SAFETY: as above.
        unsafe { self.0.bump_shared() }
    }
    unsafe fn bump_exclusive(&self) {
        story::bumping(100);
        // SAFETY: as above.
        unsafe { self.0.bump_exclusive() }
    }
}

// SAFETY: as above.
unsafe impl RawRwLockUpgrade for Counted<parking_lot::RawRwLock> {
    fn lock_upgradable(&self) {
        self.0.lock_upgradable();
    }
    fn try_lock_upgradable(&self) -> bool {
        self.0.try_lock_upgradable()
    }
    unsafe fn unlock_upgradable(&self) {
        // SAFETY: as above.
        unsafe { self.0.unlock_upgradable() }
    }
    unsafe fn upgrade(&self) {
        // SAFETY: as above.
        unsafe { self.0.upgrade() }
    }
    unsafe fn try_upgrade(&self) -> bool {
        // SAFETY: as above.
        unsafe { self.0.try_upgrade() }
    }
}

// SAFETY: as above.
unsafe impl RawRwLockUpgradeFair for Counted<parking_lot::RawRwLock> {
    unsafe fn unlock_upgradable_fair(&self) {
        FAIR.fetch_add(1000, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { self.0.unlock_upgradable_fair() }
    }
    unsafe fn bump_upgradable(&self) {
        story::bumping(1000);
        // SAFETY: as above.
        unsafe { self.0.bump_upgradable() }
    }
}
