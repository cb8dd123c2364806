//! Raw locks for [lock_api](https://docs.rs/lock_api), instrumented: wrap the raw lock of parking_lot, or of anybody else.
//!
//! ```
//! use perfschema::{Instrument, lock_api::{LockClass, RawMutex}};
//!
//! static LOCK_CACHE: Instrument = Instrument::new("wait/synch/mutex/app/LOCK_cache");
//! struct Cache;
//! impl LockClass for Cache {
//!     const INSTRUMENT: &'static Instrument = &LOCK_CACHE;
//! }
//! type Mutex<T> = lock_api::Mutex<RawMutex<parking_lot::RawMutex, Cache>, T>;
//!
//! static CACHE: Mutex<Vec<u32>> = Mutex::new(Vec::new());
//! CACHE.lock().push(1);
//! ```
//!
//! The state of an acquisition lives in the guard, which is what lock_api 0.5 added: so parking_lot must be 0.13. For 0.12, whose traits are those of
//! lock_api 0.4, there is the feature `lock_api_0_4`. A lock has the traits that the lock within has: timed and fair locking, upgradable reads,
//! downgrading.
//!
//! `bump` is a wait for the lock that is held already, of the line that calls it, however short because nobody waits.
//!
//! A [`RawCondvar`] wraps the raw condition variable that works with the lock within: a guard of an instrumented mutex waits for no other. Its
//! SOURCE is a line of lock_api's, which does not say by whom it was called.
//!
//! An upgradable read is one of the readers that `rwlock_instances` counts; it waits by the operation that MySQL has for such a lock,
//! `shared_exclusive_lock`, and to upgrade by `write_lock`.

pub use crate::raw_lock::LockClass;

use crate::hook::{self, Holder, Hook, Reader, Waiting, hold_again, passed};
use crate::raw_lock::{lock_within, marked};
use ::lock_api::{
    RawCondvar as LockApiCondvar, RawCondvarTimed, RawMutex as LockApiMutex, RawMutexFair, RawMutexTimed,
    RawRwLock as LockApiRwLock, RawRwLockDowngrade, RawRwLockFair, RawRwLockTimed, RawRwLockUpgrade, RawRwLockUpgradeDowngrade,
    RawRwLockUpgradeFair, RawRwLockUpgradeTimed,
};
use perfschema_core::Operation;
use std::marker::PhantomData;
use std::panic::Location;

/// A raw mutex whose waits are recorded.
pub struct RawMutex<R, N> {
    hook: Hook,
    inner: R,
    name: PhantomData<fn() -> N>,
}

/// A raw read-write lock whose waits are recorded.
pub struct RawRwLock<R, N> {
    hook: Hook,
    inner: R,
    name: PhantomData<fn() -> N>,
}

/// A raw condition variable whose waits are recorded, for mutexes that are a [`RawMutex`] of class `M`. While one lasts, the mutex is shown as
/// not held by the waiting thread. What it says of spurious wakeups is what `R` says.
///
/// ```
/// use perfschema::{Instrument, lock_api::{LockClass, RawCondvar, RawMutex}};
///
/// static LOCK_JOBS: Instrument = Instrument::new("wait/synch/mutex/app/LOCK_jobs");
/// static COND_JOBS: Instrument = Instrument::new("wait/synch/cond/app/COND_jobs");
/// struct Jobs;
/// impl LockClass for Jobs {
///     const INSTRUMENT: &'static Instrument = &LOCK_JOBS;
/// }
/// struct Arrived;
/// impl LockClass for Arrived {
///     const INSTRUMENT: &'static Instrument = &COND_JOBS;
/// }
/// static JOBS: lock_api::Mutex<RawMutex<parking_lot::RawMutex, Jobs>, u32> = lock_api::Mutex::new(0);
/// static ARRIVED: lock_api::Condvar<RawCondvar<parking_lot::RawCondvar, Arrived, Jobs>> = lock_api::Condvar::new();
///
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         *JOBS.lock() += 1;
///         ARRIVED.notify_one();
///     });
///     let mut jobs = JOBS.lock();
///     ARRIVED.wait_while(&mut jobs, |jobs| *jobs == 0);
///     *jobs -= 1;
/// });
/// ```
pub struct RawCondvar<R, N, M> {
    hook: Hook,
    inner: R,
    names: PhantomData<fn() -> (N, M)>,
}

/// What the guard of an exclusive lock keeps.
#[derive(Debug)]
pub struct ExclusiveGuard<G> {
    holder: Holder,
    inner: G,
}

/// What the guard of a lock for reading keeps, upgradable or not.
#[derive(Debug)]
pub struct SharedGuard<G> {
    reader: Reader,
    inner: G,
}

lock_within!(RawMutex<N> RawRwLock<N> RawCondvar<N, M>);

fn exclusive<G>(waiting: Option<Waiting<'_>>, inner: G) -> ExclusiveGuard<G> {
    ExclusiveGuard { holder: hook::marked(waiting), inner }
}

fn shared<G>(waiting: Option<Waiting<'_>>, inner: G) -> SharedGuard<G> {
    SharedGuard { reader: hook::marked(waiting), inner }
}

// SAFETY: every call goes to the inner lock, which keeps the contract; what is recorded around it changes nothing of it.
unsafe impl<R: LockApiMutex, N: LockClass> LockApiMutex for RawMutex<R, N> {
    const INIT: Self = RawMutex { hook: Hook::new(N::INSTRUMENT), inner: R::INIT, name: PhantomData };
    type Guard = ExclusiveGuard<R::Guard>;

    #[inline]
    #[track_caller]
    fn lock(&self) -> Self::Guard {
        let (holder, inner) = marked(&self.hook, Operation::Lock, Location::caller(), || self.inner.lock());
        ExclusiveGuard { holder, inner }
    }

    #[inline]
    #[track_caller]
    fn try_lock(&self) -> Option<Self::Guard> {
        let waiting = self.hook.begin(Operation::TryLock, Location::caller());
        self.inner.try_lock().map(|inner| exclusive(waiting, inner))
    }

    #[inline]
    unsafe fn unlock(&self, guard: Self::Guard) {
        drop(guard.holder);
        // SAFETY: the caller's promise, for the guard that our lock returned.
        unsafe { self.inner.unlock(guard.inner) }
    }

    fn is_locked(&self) -> bool {
        self.inner.is_locked()
    }
}

// SAFETY: as above.
unsafe impl<R: RawMutexFair, N: LockClass> RawMutexFair for RawMutex<R, N> {
    unsafe fn unlock_fair(&self, guard: Self::Guard) {
        drop(guard.holder);
        // SAFETY: the caller's promise.
        unsafe { self.inner.unlock_fair(guard.inner) }
    }

    #[track_caller]
    unsafe fn bump(&self, guard: &mut Self::Guard) {
        let waiting = self.hook.begin(Operation::Lock, Location::caller());
        // Before another may hold it, as in unlock(); should the inner lock unwind, it is held with nobody marked.
        guard.holder = Holder::NONE;
        // SAFETY: the caller's promise.
        unsafe { self.inner.bump(&mut guard.inner) };
        guard.holder = hook::marked(waiting);
    }
}

// SAFETY: as above.
unsafe impl<R: RawMutexTimed, N: LockClass> RawMutexTimed for RawMutex<R, N> {
    type Duration = R::Duration;
    type Instant = R::Instant;

    #[track_caller]
    fn try_lock_for(&self, timeout: R::Duration) -> Option<Self::Guard> {
        let waiting = self.hook.begin(Operation::TryLock, Location::caller());
        self.inner.try_lock_for(timeout).map(|inner| exclusive(waiting, inner))
    }

    #[track_caller]
    fn try_lock_until(&self, timeout: R::Instant) -> Option<Self::Guard> {
        let waiting = self.hook.begin(Operation::TryLock, Location::caller());
        self.inner.try_lock_until(timeout).map(|inner| exclusive(waiting, inner))
    }
}

impl<R: LockApiCondvar, N: LockClass, M: LockClass> RawCondvar<R, N, M> {
    #[track_caller]
    fn recorded<T>(
        &self,
        operation: Operation,
        mutex: &RawMutex<R::RawMutex, M>,
        guard: &mut ExclusiveGuard<<R::RawMutex as LockApiMutex>::Guard>,
        wait: impl FnOnce(&R, &R::RawMutex, &mut <R::RawMutex as LockApiMutex>::Guard) -> T,
    ) -> T {
        let waiting = self.hook.begin(operation, Location::caller());
        let marked = guard.holder.is_marked();
        // Before another may hold it, as in unlock(); should the inner one unwind, the mutex is held with nobody marked.
        guard.holder = Holder::NONE;
        let result = wait(&self.inner, &mutex.inner, &mut guard.inner);
        guard.holder = hold_again(&mutex.hook, marked);
        passed(waiting);
        result
    }
}

// SAFETY: every call goes to the inner one, which unlocks and locks the inner mutex and keeps the state of that within the guard.
unsafe impl<R: LockApiCondvar, N: LockClass, M: LockClass> LockApiCondvar for RawCondvar<R, N, M> {
    const INIT: Self = RawCondvar { hook: Hook::new(N::INSTRUMENT), inner: R::INIT, names: PhantomData };
    type RawMutex = RawMutex<R::RawMutex, M>;

    #[track_caller]
    unsafe fn wait(&self, mutex: &Self::RawMutex, guard: &mut ExclusiveGuard<<R::RawMutex as LockApiMutex>::Guard>) {
        // SAFETY: the caller's promise, for the mutex and the guard within.
        self.recorded(Operation::Wait, mutex, guard, |inner, mutex, guard| unsafe { inner.wait(mutex, guard) });
    }

    fn notify_one(&self) -> bool {
        self.inner.notify_one()
    }

    fn notify_all(&self) -> usize {
        self.inner.notify_all()
    }
}

// SAFETY: as above.
unsafe impl<R: RawCondvarTimed<RawMutex: RawMutexTimed>, N: LockClass, M: LockClass> RawCondvarTimed for RawCondvar<R, N, M> {
    fn checked_duration_to_instant(
        timeout: &<R::RawMutex as RawMutexTimed>::Duration,
    ) -> Option<<R::RawMutex as RawMutexTimed>::Instant> {
        R::checked_duration_to_instant(timeout)
    }

    #[track_caller]
    unsafe fn wait_until(
        &self,
        mutex: &Self::RawMutex,
        guard: &mut ExclusiveGuard<<R::RawMutex as LockApiMutex>::Guard>,
        timeout: &<R::RawMutex as RawMutexTimed>::Instant,
    ) -> bool {
        // SAFETY: the caller's promise.
        self.recorded(Operation::TimedWait, mutex, guard, |inner, mutex, guard| unsafe {
            inner.wait_until(mutex, guard, timeout)
        })
    }

    #[track_caller]
    unsafe fn wait_for(
        &self,
        mutex: &Self::RawMutex,
        guard: &mut ExclusiveGuard<<R::RawMutex as LockApiMutex>::Guard>,
        timeout: &<R::RawMutex as RawMutexTimed>::Duration,
    ) -> bool {
        // SAFETY: the caller's promise.
        self.recorded(Operation::TimedWait, mutex, guard, |inner, mutex, guard| unsafe { inner.wait_for(mutex, guard, timeout) })
    }
}

// SAFETY: every call goes to the inner lock, which keeps the contract.
unsafe impl<R: LockApiRwLock, N: LockClass> LockApiRwLock for RawRwLock<R, N> {
    const INIT: Self = RawRwLock { hook: Hook::new(N::INSTRUMENT), inner: R::INIT, name: PhantomData };
    type SharedGuard = SharedGuard<R::SharedGuard>;
    type ExclusiveGuard = ExclusiveGuard<R::ExclusiveGuard>;

    #[inline]
    #[track_caller]
    fn lock_shared(&self) -> Self::SharedGuard {
        let (reader, inner) = marked(&self.hook, Operation::ReadLock, Location::caller(), || self.inner.lock_shared());
        SharedGuard { reader, inner }
    }

    #[inline]
    #[track_caller]
    fn try_lock_shared(&self) -> Option<Self::SharedGuard> {
        let waiting = self.hook.begin(Operation::TryReadLock, Location::caller());
        self.inner.try_lock_shared().map(|inner| shared(waiting, inner))
    }

    #[inline]
    unsafe fn unlock_shared(&self, guard: Self::SharedGuard) {
        drop(guard.reader);
        // SAFETY: the caller's promise, for the guard that our lock returned.
        unsafe { self.inner.unlock_shared(guard.inner) }
    }

    #[inline]
    #[track_caller]
    fn lock_exclusive(&self) -> Self::ExclusiveGuard {
        let (holder, inner) = marked(&self.hook, Operation::WriteLock, Location::caller(), || self.inner.lock_exclusive());
        ExclusiveGuard { holder, inner }
    }

    #[inline]
    #[track_caller]
    fn try_lock_exclusive(&self) -> Option<Self::ExclusiveGuard> {
        let waiting = self.hook.begin(Operation::TryWriteLock, Location::caller());
        self.inner.try_lock_exclusive().map(|inner| exclusive(waiting, inner))
    }

    #[inline]
    unsafe fn unlock_exclusive(&self, guard: Self::ExclusiveGuard) {
        drop(guard.holder);
        // SAFETY: the caller's promise.
        unsafe { self.inner.unlock_exclusive(guard.inner) }
    }

    fn is_locked(&self) -> bool {
        self.inner.is_locked()
    }

    fn is_locked_exclusive(&self) -> bool {
        self.inner.is_locked_exclusive()
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockFair, N: LockClass> RawRwLockFair for RawRwLock<R, N> {
    unsafe fn unlock_shared_fair(&self, guard: Self::SharedGuard) {
        drop(guard.reader);
        // SAFETY: the caller's promise.
        unsafe { self.inner.unlock_shared_fair(guard.inner) }
    }

    unsafe fn unlock_exclusive_fair(&self, guard: Self::ExclusiveGuard) {
        drop(guard.holder);
        // SAFETY: the caller's promise.
        unsafe { self.inner.unlock_exclusive_fair(guard.inner) }
    }

    #[track_caller]
    unsafe fn bump_shared(&self, guard: &mut Self::SharedGuard) {
        let waiting = self.hook.begin(Operation::ReadLock, Location::caller());
        guard.reader = Reader::NONE;
        // SAFETY: the caller's promise.
        unsafe { self.inner.bump_shared(&mut guard.inner) };
        guard.reader = hook::marked(waiting);
    }

    #[track_caller]
    unsafe fn bump_exclusive(&self, guard: &mut Self::ExclusiveGuard) {
        let waiting = self.hook.begin(Operation::WriteLock, Location::caller());
        guard.holder = Holder::NONE;
        // SAFETY: the caller's promise.
        unsafe { self.inner.bump_exclusive(&mut guard.inner) };
        guard.holder = hook::marked(waiting);
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockTimed, N: LockClass> RawRwLockTimed for RawRwLock<R, N> {
    type Duration = R::Duration;
    type Instant = R::Instant;

    #[track_caller]
    fn try_lock_shared_for(&self, timeout: R::Duration) -> Option<Self::SharedGuard> {
        let waiting = self.hook.begin(Operation::TryReadLock, Location::caller());
        self.inner.try_lock_shared_for(timeout).map(|inner| shared(waiting, inner))
    }

    #[track_caller]
    fn try_lock_shared_until(&self, timeout: R::Instant) -> Option<Self::SharedGuard> {
        let waiting = self.hook.begin(Operation::TryReadLock, Location::caller());
        self.inner.try_lock_shared_until(timeout).map(|inner| shared(waiting, inner))
    }

    #[track_caller]
    fn try_lock_exclusive_for(&self, timeout: R::Duration) -> Option<Self::ExclusiveGuard> {
        let waiting = self.hook.begin(Operation::TryWriteLock, Location::caller());
        self.inner.try_lock_exclusive_for(timeout).map(|inner| exclusive(waiting, inner))
    }

    #[track_caller]
    fn try_lock_exclusive_until(&self, timeout: R::Instant) -> Option<Self::ExclusiveGuard> {
        let waiting = self.hook.begin(Operation::TryWriteLock, Location::caller());
        self.inner.try_lock_exclusive_until(timeout).map(|inner| exclusive(waiting, inner))
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockDowngrade, N: LockClass> RawRwLockDowngrade for RawRwLock<R, N> {
    unsafe fn downgrade(&self, guard: Self::ExclusiveGuard) -> Self::SharedGuard {
        let reader = guard.holder.into_reader();
        // SAFETY: the caller's promise.
        let inner = unsafe { self.inner.downgrade(guard.inner) };
        SharedGuard { reader, inner }
    }
}

/// What became of the wait to upgrade. The reader's mark goes when the writer's is there; after a failure it stays.
fn upgraded<E, S>(
    waiting: Option<Waiting<'_>>,
    reader: Reader,
    result: Result<E, S>,
) -> Result<ExclusiveGuard<E>, SharedGuard<S>> {
    match result {
        Ok(inner) => Ok(exclusive(waiting, inner)),
        Err(inner) => Err(SharedGuard { reader, inner }),
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockUpgrade, N: LockClass> RawRwLockUpgrade for RawRwLock<R, N> {
    type UpgradableGuard = SharedGuard<R::UpgradableGuard>;

    #[track_caller]
    fn lock_upgradable(&self) -> Self::UpgradableGuard {
        let lock = || self.inner.lock_upgradable();
        let (reader, inner) = marked(&self.hook, Operation::SharedExclusiveLock, Location::caller(), lock);
        SharedGuard { reader, inner }
    }

    #[track_caller]
    fn try_lock_upgradable(&self) -> Option<Self::UpgradableGuard> {
        let waiting = self.hook.begin(Operation::TrySharedExclusiveLock, Location::caller());
        self.inner.try_lock_upgradable().map(|inner| shared(waiting, inner))
    }

    unsafe fn unlock_upgradable(&self, guard: Self::UpgradableGuard) {
        drop(guard.reader);
        // SAFETY: the caller's promise, for the guard that our lock returned.
        unsafe { self.inner.unlock_upgradable(guard.inner) }
    }

    #[track_caller]
    unsafe fn upgrade(&self, guard: Self::UpgradableGuard) -> Self::ExclusiveGuard {
        let waiting = self.hook.begin(Operation::WriteLock, Location::caller());
        // SAFETY: the caller's promise.
        let inner = unsafe { self.inner.upgrade(guard.inner) };
        exclusive(waiting, inner)
    }

    #[track_caller]
    unsafe fn try_upgrade(&self, guard: Self::UpgradableGuard) -> Result<Self::ExclusiveGuard, Self::UpgradableGuard> {
        let waiting = self.hook.begin(Operation::TryWriteLock, Location::caller());
        // SAFETY: the caller's promise.
        let result = unsafe { self.inner.try_upgrade(guard.inner) };
        upgraded(waiting, guard.reader, result)
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockUpgradeFair, N: LockClass> RawRwLockUpgradeFair for RawRwLock<R, N> {
    unsafe fn unlock_upgradable_fair(&self, guard: Self::UpgradableGuard) {
        drop(guard.reader);
        // SAFETY: the caller's promise.
        unsafe { self.inner.unlock_upgradable_fair(guard.inner) }
    }

    #[track_caller]
    unsafe fn bump_upgradable(&self, guard: &mut Self::UpgradableGuard) {
        let waiting = self.hook.begin(Operation::SharedExclusiveLock, Location::caller());
        guard.reader = Reader::NONE;
        // SAFETY: the caller's promise.
        unsafe { self.inner.bump_upgradable(&mut guard.inner) };
        guard.reader = hook::marked(waiting);
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockUpgradeDowngrade, N: LockClass> RawRwLockUpgradeDowngrade for RawRwLock<R, N> {
    unsafe fn downgrade_upgradable(&self, guard: Self::UpgradableGuard) -> Self::SharedGuard {
        // SAFETY: the caller's promise.
        let inner = unsafe { self.inner.downgrade_upgradable(guard.inner) };
        SharedGuard { reader: guard.reader, inner }
    }

    unsafe fn downgrade_to_upgradable(&self, guard: Self::ExclusiveGuard) -> Self::UpgradableGuard {
        let reader = guard.holder.into_reader();
        // SAFETY: the caller's promise.
        let inner = unsafe { self.inner.downgrade_to_upgradable(guard.inner) };
        SharedGuard { reader, inner }
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockUpgradeTimed, N: LockClass> RawRwLockUpgradeTimed for RawRwLock<R, N> {
    #[track_caller]
    fn try_lock_upgradable_for(&self, timeout: R::Duration) -> Option<Self::UpgradableGuard> {
        let waiting = self.hook.begin(Operation::TrySharedExclusiveLock, Location::caller());
        self.inner.try_lock_upgradable_for(timeout).map(|inner| shared(waiting, inner))
    }

    #[track_caller]
    fn try_lock_upgradable_until(&self, timeout: R::Instant) -> Option<Self::UpgradableGuard> {
        let waiting = self.hook.begin(Operation::TrySharedExclusiveLock, Location::caller());
        self.inner.try_lock_upgradable_until(timeout).map(|inner| shared(waiting, inner))
    }

    #[track_caller]
    unsafe fn try_upgrade_for(
        &self,
        guard: Self::UpgradableGuard,
        timeout: R::Duration,
    ) -> Result<Self::ExclusiveGuard, Self::UpgradableGuard> {
        let waiting = self.hook.begin(Operation::TryWriteLock, Location::caller());
        // SAFETY: the caller's promise.
        let result = unsafe { self.inner.try_upgrade_for(guard.inner, timeout) };
        upgraded(waiting, guard.reader, result)
    }

    #[track_caller]
    unsafe fn try_upgrade_until(
        &self,
        guard: Self::UpgradableGuard,
        timeout: R::Instant,
    ) -> Result<Self::ExclusiveGuard, Self::UpgradableGuard> {
        let waiting = self.hook.begin(Operation::TryWriteLock, Location::caller());
        // SAFETY: the caller's promise.
        let result = unsafe { self.inner.try_upgrade_until(guard.inner, timeout) };
        upgraded(waiting, guard.reader, result)
    }
}
