//! `Mutex`

use super::{LockResult, TryLockResult, backoff, map_guard, map_try};
use crate::hook::{Holder, Hook, Waiting, hold_again};
use crate::instrument::Instrument;
use crate::thread::Entered;
use perfschema_core::{Operation, Switches};
use std::mem::ManuallyDrop;
use std::panic::Location;

static DEFAULT: Instrument = Instrument::new("wait/synch/mutex/std/Mutex");

/// Whether std's mutex is but a word. Elsewhere it is made at its first use, which allocates, and that may be recorded, too.
const IS_A_WORD: bool = cfg!(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_os = "openbsd",
    target_os = "dragonfly",
    windows
));

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
        Mutex::with_instrument(&DEFAULT, value)
    }

    /// A mutex whose waits are recorded by `instrument`, a `wait/synch/mutex/…`.
    pub const fn with_instrument(instrument: &'static Instrument, value: T) -> Mutex<T> {
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
        match self.hook.on() {
            None => self.guard(self.inner.lock(), Holder::NONE),
            Some(switches) => self.lock_recorded(switches, Location::caller()),
        }
    }

    /// Apart from `lock`, so that the caller's code stays small. Nearly always the mutex is free: then the thread's actor is looked for once,
    /// and the wait stays in registers.
    #[inline(never)]
    fn lock_recorded(&self, switches: Switches, location: &'static Location<'static>) -> LockResult<MutexGuard<'_, T>> {
        if !IS_A_WORD {
            let waiting = self.hook.begin_on(switches, Operation::Lock, location);
            let result = backoff::lock(|| self.inner.try_lock(), || self.inner.lock());
            return self.guard(result, waiting.map_or(Holder::NONE, Waiting::held));
        }
        let switches = self.hook.registered(switches);
        let Some(entered) = Entered::new() else { return self.guard(self.inner.lock(), Holder::NONE) };
        let wait = self.hook.begin_by(entered.actor, switches, Operation::Lock, location);
        let Some(result) = backoff::had(self.inner.try_lock()) else {
            entered.leave();
            return self.lock_contended(self.hook.waiting(wait));
        };
        // Recording does not panic: no code, and no place in memory, for a guard that is dropped if it did.
        let result = ManuallyDrop::new(result);
        let holder = self.hook.held_by(entered.actor, wait);
        entered.leave();
        self.guard(ManuallyDrop::into_inner(result), holder)
    }

    #[cold]
    fn lock_contended(&self, waiting: Waiting<'_>) -> LockResult<MutexGuard<'_, T>> {
        let result = backoff::wait(|| self.inner.try_lock(), || self.inner.lock());
        self.guard(result, waiting.held())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn guard<'a>(&'a self, result: LockResult<std::sync::MutexGuard<'a, T>>, holder: Holder) -> LockResult<MutexGuard<'a, T>> {
        map_guard(result, |inner| MutexGuard { holder, inner, hook: &self.hook })
    }

    /// See [`std::sync::Mutex::try_lock`].
    ///
    /// # Errors
    /// If the mutex is held, or poisoned.
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let waiting = self.hook.begin(Operation::TryLock, Location::caller());
        map_try(self.inner.try_lock(), |inner| {
            let holder = waiting.map_or(Holder::NONE, Waiting::held);
            MutexGuard { holder, inner, hook: &self.hook }
        })
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
