//! `Mutex`

use super::{LockResult, TryLockResult, acquire, map_guard, map_try};
use crate::hook::{Holder, Hook, hold_again};
use crate::instrument::Instrument;
use perfschema_core::{InstrumentKind, Operation, Switches};
use std::panic::Location;

static DEFAULT: Instrument = Instrument::new("wait/synch/mutex/std/Mutex");

/// [`std::sync::Mutex`], with its waits recorded.
///
/// ```
/// use perfschema::sync::Mutex;
/// let numbers = Mutex::new(vec![1]);
/// numbers.lock().unwrap().push(2);
/// assert_eq!(numbers.into_inner().unwrap(), [1, 2]);
/// ```
pub struct Mutex<T: ?Sized> {
    hook: Hook,
    inner: std::sync::Mutex<T>,
}

/// [`std::sync::MutexGuard`] of a [`Mutex`].
#[must_use = "if unused the Mutex will immediately unlock"]
#[clippy::has_significant_drop]
pub struct MutexGuard<'a, T: ?Sized> {
    // Dropped in this order: the mark is taken away before the mutex is unlocked, or it would take away the next holder's.
    holder: Holder,
    inner: std::sync::MutexGuard<'a, T>,
    hook: &'a Hook,
}

impl<T> Mutex<T> {
    /// See [`std::sync::Mutex::new`].
    pub const fn new(value: T) -> Mutex<T> {
        Mutex::__of(&DEFAULT, value)
    }

    /// A mutex whose waits are recorded by `instrument`, a `wait/synch/mutex/…`.
    ///
    /// # Panics
    /// If the instrument is of another kind; in a `static`, that is a compile error. A `const` cannot look at a `static`, and has [`mutex!`](crate::mutex!).
    pub const fn with_instrument(instrument: &'static Instrument, value: T) -> Mutex<T> {
        crate::__check_kind(instrument.kind(), InstrumentKind::Mutex);
        Mutex::__of(instrument, value)
    }

    // For mutex!, which has looked at the name.
    #[doc(hidden)]
    pub const fn __of(instrument: &'static Instrument, value: T) -> Mutex<T> {
        Mutex { hook: Hook::new(instrument), inner: std::sync::Mutex::new(value) }
    }

    /// See [`std::sync::Mutex::into_inner`].
    ///
    /// # Errors
    /// If the mutex is poisoned.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// See [`std::sync::Mutex::lock`].
    ///
    /// # Errors
    /// If the mutex is poisoned; the guard is in the error.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let (result, holder) = match self.hook.on() {
            None => (self.inner.lock(), Holder::NONE),
            Some(switches) => self.lock_recorded(switches, Location::caller()),
        };
        map_guard(result, |inner| MutexGuard { holder, inner, hook: &self.hook })
    }

    /// Apart from `lock`, so that the caller's code stays small; and std's guard, so that the caller puts ours together, which then need not be
    /// in memory where nothing is recorded.
    #[inline(never)]
    fn lock_recorded(
        &self,
        switches: Switches,
        location: &'static Location<'static>,
    ) -> (LockResult<std::sync::MutexGuard<'_, T>>, Holder) {
        let (try_lock, lock) = (|| self.inner.try_lock(), || self.inner.lock());
        acquire::lock(&self.hook, switches, Operation::Lock, location, try_lock, lock)
    }

    /// See [`std::sync::Mutex::try_lock`].
    ///
    /// # Errors
    /// If the mutex is held, or poisoned.
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let (tried, holder) = match self.hook.on() {
            None => (self.inner.try_lock(), Holder::NONE),
            Some(switches) => self.try_lock_recorded(switches, Location::caller()),
        };
        map_try(tried, |inner| MutexGuard { holder, inner, hook: &self.hook })
    }

    /// Apart from `try_lock`, as that of `lock`.
    #[inline(never)]
    fn try_lock_recorded(
        &self,
        switches: Switches,
        location: &'static Location<'static>,
    ) -> (TryLockResult<std::sync::MutexGuard<'_, T>>, Holder) {
        acquire::try_lock(&self.hook, switches, Operation::TryLock, location, || self.inner.try_lock())
    }

    /// See [`std::sync::Mutex::is_poisoned`].
    pub fn is_poisoned(&self) -> bool {
        self.inner.is_poisoned()
    }

    /// See [`std::sync::Mutex::clear_poison`].
    pub fn clear_poison(&self) {
        self.inner.clear_poison();
    }

    /// See [`std::sync::Mutex::get_mut`].
    ///
    /// # Errors
    /// If the mutex is poisoned.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner.get_mut()
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Lets std's guard go to `wait`, a wait for a condition, with nobody marked as holder, and takes it back.
    pub(super) fn during<R>(
        self,
        wait: impl FnOnce(std::sync::MutexGuard<'a, T>) -> LockResult<(std::sync::MutexGuard<'a, T>, R)>,
    ) -> LockResult<(MutexGuard<'a, T>, R)> {
        let MutexGuard { holder, inner, hook } = self;
        let marked = holder.is_marked();
        drop(holder);
        map_guard(wait(inner), |(inner, result)| (MutexGuard { holder: hold_again(hook, marked), inner, hook }, result))
    }
}

lock_traits!(Mutex);
guard_traits!(MutexGuard, DerefMut);
