//! Raw locks for [lock_api 0.4](https://docs.rs/lock_api/0.4), instrumented: for parking_lot 0.12, spin, and whatever else has not come to 0.5.
//!
//! ```
//! # use ::{lock_api_0_4 as lock_api, parking_lot_0_12 as parking_lot};
//! use perfschema::{Instrument, lock_api_0_4::{LockClass, RawMutex}};
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
//! All is as in `perfschema::lock_api`, which is for 0.5, but for two things that follow from there being no state in a guard of 0.4:
//! - Whether the holder is marked is noted in the lock, and how many are of those who share it. Where recording is switched on while some do,
//!   whoever leaves first takes a mark along, so READ_LOCKED_BY_COUNT may be too small until all have left; it is never too large.
//! - There are no raw condition variables: parking_lot 0.12's is for its own mutexes alone.

pub use crate::raw_lock::LockClass;

use crate::hook::{self, Holder, Hook, Mark, Reader};
use crate::raw_lock::{lock_within, marked};
use ::lock_api_0_4::{
    RawMutex as LockApiMutex, RawMutexFair, RawMutexTimed, RawRwLock as LockApiRwLock, RawRwLockDowngrade, RawRwLockFair,
    RawRwLockRecursive, RawRwLockRecursiveTimed, RawRwLockTimed, RawRwLockUpgrade, RawRwLockUpgradeDowngrade,
    RawRwLockUpgradeFair, RawRwLockUpgradeTimed,
};
use perfschema_core::Operation;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A raw mutex whose waits are recorded.
pub struct RawMutex<R, N> {
    hook: Hook,
    holder: HolderMark,
    inner: R,
    name: PhantomData<fn() -> N>,
}

/// A raw read-write lock whose waits are recorded.
pub struct RawRwLock<R, N> {
    hook: Hook,
    holder: HolderMark,
    readers: ReaderMarks,
    inner: R,
    name: PhantomData<fn() -> N>,
}

/// Whether whoever holds the lock alone is marked: a [`Holder`] that no guard can keep.
// Relaxed: only who holds the lock looks, and the lock hands it on.
#[derive(Debug)]
struct HolderMark(AtomicBool);

impl HolderMark {
    const fn none() -> HolderMark {
        HolderMark(AtomicBool::new(false))
    }

    fn keep(&self, holder: Holder) {
        if holder.is_marked() {
            self.0.store(true, Ordering::Relaxed);
            std::mem::forget(holder);
        }
    }

    fn take(&self, hook: &Hook) -> Holder {
        if !self.0.load(Ordering::Relaxed) {
            return Holder::NONE;
        }
        self.0.store(false, Ordering::Relaxed);
        hook.marked_holder()
    }
}

/// How many of those who share the lock are marked: [`Reader`]s that no guard can keep.
// Relaxed: a number of its own.
#[derive(Debug)]
struct ReaderMarks(AtomicU32);

impl ReaderMarks {
    const fn none() -> ReaderMarks {
        ReaderMarks(AtomicU32::new(0))
    }

    fn keep(&self, reader: Reader) {
        if reader.is_marked() {
            self.0.fetch_add(1, Ordering::Relaxed);
            std::mem::forget(reader);
        }
    }

    fn take(&self, hook: &Hook) -> Reader {
        // The load first, so that nothing is written where nothing is recorded.
        let is_any = self.0.load(Ordering::Relaxed) != 0
            && self.0.try_update(Ordering::Relaxed, Ordering::Relaxed, |marked| marked.checked_sub(1)).is_ok();
        if is_any { hook.marked_reader() } else { Reader::NONE }
    }
}

lock_within!(RawMutex<N> RawRwLock<N>);

/// Tries to lock, and returns the mark of who has it if it was to be had.
#[cfg_attr(not(debug_assertions), inline(always))]
fn tried<M: Mark>(
    hook: &Hook,
    operation: Operation,
    location: &'static Location<'static>,
    lock: impl FnOnce() -> bool,
) -> Option<M> {
    let waiting = hook.begin(operation, location);
    // Otherwise the wait ends in vain.
    lock().then(|| hook::marked(waiting))
}

impl<R, N> RawMutex<R, N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn try_by(&self, location: &'static Location<'static>, lock: impl FnOnce() -> bool) -> bool {
        tried(&self.hook, Operation::TryLock, location, lock).map(|holder| self.holder.keep(holder)).is_some()
    }
}

// SAFETY: every call goes to the inner lock, which keeps the contract; what is recorded around it changes nothing of it.
unsafe impl<R: LockApiMutex, N: LockClass> LockApiMutex for RawMutex<R, N> {
    const INIT: Self = RawMutex { hook: Hook::new(N::INSTRUMENT), holder: HolderMark::none(), inner: R::INIT, name: PhantomData };
    type GuardMarker = R::GuardMarker;

    #[inline]
    #[track_caller]
    fn lock(&self) {
        self.holder.keep(marked(&self.hook, Operation::Lock, Location::caller(), || self.inner.lock()).0);
    }

    #[inline]
    #[track_caller]
    fn try_lock(&self) -> bool {
        self.try_by(Location::caller(), || self.inner.try_lock())
    }

    #[inline]
    unsafe fn unlock(&self) {
        // The mark is taken away before another may hold the lock.
        drop(self.holder.take(&self.hook));
        // SAFETY: the caller's promise.
        unsafe { self.inner.unlock() }
    }

    fn is_locked(&self) -> bool {
        self.inner.is_locked()
    }
}

// SAFETY: as above.
unsafe impl<R: RawMutexFair, N: LockClass> RawMutexFair for RawMutex<R, N> {
    unsafe fn unlock_fair(&self) {
        drop(self.holder.take(&self.hook));
        // SAFETY: the caller's promise.
        unsafe { self.inner.unlock_fair() }
    }

    #[track_caller]
    unsafe fn bump(&self) {
        let waiting = self.hook.begin(Operation::Lock, Location::caller());
        // Before another may hold it, as in unlock(); should the inner lock unwind, it is held with nobody marked.
        drop(self.holder.take(&self.hook));
        // SAFETY: the caller's promise.
        unsafe { self.inner.bump() };
        self.holder.keep(hook::marked(waiting));
    }
}

// SAFETY: as above.
unsafe impl<R: RawMutexTimed, N: LockClass> RawMutexTimed for RawMutex<R, N> {
    type Duration = R::Duration;
    type Instant = R::Instant;

    #[track_caller]
    fn try_lock_for(&self, timeout: R::Duration) -> bool {
        self.try_by(Location::caller(), || self.inner.try_lock_for(timeout))
    }

    #[track_caller]
    fn try_lock_until(&self, timeout: R::Instant) -> bool {
        self.try_by(Location::caller(), || self.inner.try_lock_until(timeout))
    }
}

impl<R, N> RawRwLock<R, N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn share(&self, operation: Operation, location: &'static Location<'static>, lock: impl Fn()) {
        self.readers.keep(marked(&self.hook, operation, location, lock).0);
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn try_share(&self, operation: Operation, location: &'static Location<'static>, lock: impl FnOnce() -> bool) -> bool {
        tried(&self.hook, operation, location, lock).map(|reader| self.readers.keep(reader)).is_some()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn try_exclude(&self, location: &'static Location<'static>, lock: impl FnOnce() -> bool) -> bool {
        tried(&self.hook, Operation::TryWriteLock, location, lock).map(|holder| self.holder.keep(holder)).is_some()
    }

    /// The same of one who shares it; as long as that is not upgraded, it is a reader.
    fn try_upgrade_by(&self, location: &'static Location<'static>, upgrade: impl FnOnce() -> bool) -> bool {
        let upgraded = self.try_exclude(location, upgrade);
        if upgraded {
            drop(self.readers.take(&self.hook));
        }
        upgraded
    }

    /// Who holds it alone shares it from now on: marked as a reader before the other mark goes, so that no moment shows nobody.
    fn downgrade_by(&self, downgrade: impl FnOnce()) {
        let reader = self.holder.take(&self.hook).into_reader();
        downgrade();
        self.readers.keep(reader);
    }
}

// SAFETY: every call goes to the inner lock, which keeps the contract.
unsafe impl<R: LockApiRwLock, N: LockClass> LockApiRwLock for RawRwLock<R, N> {
    const INIT: Self = RawRwLock {
        hook: Hook::new(N::INSTRUMENT),
        holder: HolderMark::none(),
        readers: ReaderMarks::none(),
        inner: R::INIT,
        name: PhantomData,
    };
    type GuardMarker = R::GuardMarker;

    #[inline]
    #[track_caller]
    fn lock_shared(&self) {
        self.share(Operation::ReadLock, Location::caller(), || self.inner.lock_shared());
    }

    #[inline]
    #[track_caller]
    fn try_lock_shared(&self) -> bool {
        self.try_share(Operation::TryReadLock, Location::caller(), || self.inner.try_lock_shared())
    }

    #[inline]
    unsafe fn unlock_shared(&self) {
        drop(self.readers.take(&self.hook));
        // SAFETY: the caller's promise.
        unsafe { self.inner.unlock_shared() }
    }

    #[inline]
    #[track_caller]
    fn lock_exclusive(&self) {
        self.holder.keep(marked(&self.hook, Operation::WriteLock, Location::caller(), || self.inner.lock_exclusive()).0);
    }

    #[inline]
    #[track_caller]
    fn try_lock_exclusive(&self) -> bool {
        self.try_exclude(Location::caller(), || self.inner.try_lock_exclusive())
    }

    #[inline]
    unsafe fn unlock_exclusive(&self) {
        drop(self.holder.take(&self.hook));
        // SAFETY: the caller's promise.
        unsafe { self.inner.unlock_exclusive() }
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
    unsafe fn unlock_shared_fair(&self) {
        drop(self.readers.take(&self.hook));
        // SAFETY: the caller's promise.
        unsafe { self.inner.unlock_shared_fair() }
    }

    unsafe fn unlock_exclusive_fair(&self) {
        drop(self.holder.take(&self.hook));
        // SAFETY: the caller's promise.
        unsafe { self.inner.unlock_exclusive_fair() }
    }

    #[track_caller]
    unsafe fn bump_shared(&self) {
        let waiting = self.hook.begin(Operation::ReadLock, Location::caller());
        drop(self.readers.take(&self.hook));
        // SAFETY: the caller's promise.
        unsafe { self.inner.bump_shared() };
        self.readers.keep(hook::marked(waiting));
    }

    #[track_caller]
    unsafe fn bump_exclusive(&self) {
        let waiting = self.hook.begin(Operation::WriteLock, Location::caller());
        drop(self.holder.take(&self.hook));
        // SAFETY: the caller's promise.
        unsafe { self.inner.bump_exclusive() };
        self.holder.keep(hook::marked(waiting));
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockTimed, N: LockClass> RawRwLockTimed for RawRwLock<R, N> {
    type Duration = R::Duration;
    type Instant = R::Instant;

    #[track_caller]
    fn try_lock_shared_for(&self, timeout: R::Duration) -> bool {
        self.try_share(Operation::TryReadLock, Location::caller(), || self.inner.try_lock_shared_for(timeout))
    }

    #[track_caller]
    fn try_lock_shared_until(&self, timeout: R::Instant) -> bool {
        self.try_share(Operation::TryReadLock, Location::caller(), || self.inner.try_lock_shared_until(timeout))
    }

    #[track_caller]
    fn try_lock_exclusive_for(&self, timeout: R::Duration) -> bool {
        self.try_exclude(Location::caller(), || self.inner.try_lock_exclusive_for(timeout))
    }

    #[track_caller]
    fn try_lock_exclusive_until(&self, timeout: R::Instant) -> bool {
        self.try_exclude(Location::caller(), || self.inner.try_lock_exclusive_until(timeout))
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockRecursive, N: LockClass> RawRwLockRecursive for RawRwLock<R, N> {
    #[track_caller]
    fn lock_shared_recursive(&self) {
        self.share(Operation::ReadLock, Location::caller(), || self.inner.lock_shared_recursive());
    }

    #[track_caller]
    fn try_lock_shared_recursive(&self) -> bool {
        self.try_share(Operation::TryReadLock, Location::caller(), || self.inner.try_lock_shared_recursive())
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockRecursiveTimed, N: LockClass> RawRwLockRecursiveTimed for RawRwLock<R, N> {
    #[track_caller]
    fn try_lock_shared_recursive_for(&self, timeout: R::Duration) -> bool {
        self.try_share(Operation::TryReadLock, Location::caller(), || self.inner.try_lock_shared_recursive_for(timeout))
    }

    #[track_caller]
    fn try_lock_shared_recursive_until(&self, timeout: R::Instant) -> bool {
        self.try_share(Operation::TryReadLock, Location::caller(), || self.inner.try_lock_shared_recursive_until(timeout))
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockDowngrade, N: LockClass> RawRwLockDowngrade for RawRwLock<R, N> {
    unsafe fn downgrade(&self) {
        // SAFETY: the caller's promise.
        self.downgrade_by(|| unsafe { self.inner.downgrade() });
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockUpgrade, N: LockClass> RawRwLockUpgrade for RawRwLock<R, N> {
    #[track_caller]
    fn lock_upgradable(&self) {
        self.share(Operation::SharedExclusiveLock, Location::caller(), || self.inner.lock_upgradable());
    }

    #[track_caller]
    fn try_lock_upgradable(&self) -> bool {
        self.try_share(Operation::TrySharedExclusiveLock, Location::caller(), || self.inner.try_lock_upgradable())
    }

    unsafe fn unlock_upgradable(&self) {
        drop(self.readers.take(&self.hook));
        // SAFETY: the caller's promise.
        unsafe { self.inner.unlock_upgradable() }
    }

    #[track_caller]
    unsafe fn upgrade(&self) {
        let waiting = self.hook.begin(Operation::WriteLock, Location::caller());
        // SAFETY: the caller's promise.
        unsafe { self.inner.upgrade() };
        self.holder.keep(hook::marked(waiting));
        drop(self.readers.take(&self.hook));
    }

    #[track_caller]
    unsafe fn try_upgrade(&self) -> bool {
        // SAFETY: the caller's promise.
        self.try_upgrade_by(Location::caller(), || unsafe { self.inner.try_upgrade() })
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockUpgradeFair, N: LockClass> RawRwLockUpgradeFair for RawRwLock<R, N> {
    unsafe fn unlock_upgradable_fair(&self) {
        drop(self.readers.take(&self.hook));
        // SAFETY: the caller's promise.
        unsafe { self.inner.unlock_upgradable_fair() }
    }

    #[track_caller]
    unsafe fn bump_upgradable(&self) {
        let waiting = self.hook.begin(Operation::SharedExclusiveLock, Location::caller());
        drop(self.readers.take(&self.hook));
        // SAFETY: the caller's promise.
        unsafe { self.inner.bump_upgradable() };
        self.readers.keep(hook::marked(waiting));
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockUpgradeDowngrade, N: LockClass> RawRwLockUpgradeDowngrade for RawRwLock<R, N> {
    unsafe fn downgrade_upgradable(&self) {
        // SAFETY: the caller's promise. Who shares it goes on sharing it.
        unsafe { self.inner.downgrade_upgradable() }
    }

    unsafe fn downgrade_to_upgradable(&self) {
        // SAFETY: the caller's promise.
        self.downgrade_by(|| unsafe { self.inner.downgrade_to_upgradable() });
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockUpgradeTimed, N: LockClass> RawRwLockUpgradeTimed for RawRwLock<R, N> {
    #[track_caller]
    fn try_lock_upgradable_for(&self, timeout: R::Duration) -> bool {
        self.try_share(Operation::TrySharedExclusiveLock, Location::caller(), || self.inner.try_lock_upgradable_for(timeout))
    }

    #[track_caller]
    fn try_lock_upgradable_until(&self, timeout: R::Instant) -> bool {
        self.try_share(Operation::TrySharedExclusiveLock, Location::caller(), || self.inner.try_lock_upgradable_until(timeout))
    }

    #[track_caller]
    unsafe fn try_upgrade_for(&self, timeout: R::Duration) -> bool {
        // SAFETY: the caller's promise.
        self.try_upgrade_by(Location::caller(), || unsafe { self.inner.try_upgrade_for(timeout) })
    }

    #[track_caller]
    unsafe fn try_upgrade_until(&self, timeout: R::Instant) -> bool {
        // SAFETY: the caller's promise.
        self.try_upgrade_by(Location::caller(), || unsafe { self.inner.try_upgrade_until(timeout) })
    }
}
