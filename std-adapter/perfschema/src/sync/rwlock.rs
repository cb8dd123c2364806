//! `RwLock`

use super::{LockResult, TryLockResult, acquire, map_guard, map_try};
use crate::hook::{Holder, Hook, Reader};
use crate::instrument::Instrument;
use perfschema_core::{InstrumentKind, Operation, Switches};
use std::panic::Location;

static DEFAULT: Instrument = Instrument::new("wait/synch/rwlock/std/RwLock");

/// [`std::sync::RwLock`], with its waits recorded, those for reading and those for writing apart.
///
/// ```
/// use perfschema::sync::RwLock;
/// let number = RwLock::new(1);
/// *number.write().unwrap() += 1;
/// assert_eq!(*number.read().unwrap(), 2);
/// ```
pub struct RwLock<T: ?Sized> {
    hook: Hook,
    inner: std::sync::RwLock<T>,
}

/// [`std::sync::RwLockReadGuard`] of a [`RwLock`].
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    // Dropped in this order: a lock that is free has no reader left in the tables.
    _reader: Reader,
    inner: std::sync::RwLockReadGuard<'a, T>,
}

/// [`std::sync::RwLockWriteGuard`] of a [`RwLock`].
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    // Dropped in this order, as that of a MutexGuard.
    _holder: Holder,
    inner: std::sync::RwLockWriteGuard<'a, T>,
}

impl<T> RwLock<T> {
    /// See [`std::sync::RwLock::new`].
    pub const fn new(value: T) -> RwLock<T> {
        RwLock::__of(&DEFAULT, value)
    }

    /// A lock whose waits are recorded by `instrument`, a `wait/synch/rwlock/…`.
    ///
    /// # Panics
    /// If the instrument is of another kind; in a `static`, that is a compile error. A `const` cannot look at a `static`, and has [`rwlock!`](crate::rwlock!).
    pub const fn with_instrument(instrument: &'static Instrument, value: T) -> RwLock<T> {
        crate::__check_kind(instrument.kind(), InstrumentKind::RwLock);
        RwLock::__of(instrument, value)
    }

    // For rwlock!, which has looked at the name.
    #[doc(hidden)]
    pub const fn __of(instrument: &'static Instrument, value: T) -> RwLock<T> {
        RwLock { hook: Hook::new(instrument), inner: std::sync::RwLock::new(value) }
    }

    /// See [`std::sync::RwLock::into_inner`].
    ///
    /// # Errors
    /// If the lock is poisoned.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// See [`std::sync::RwLock::read`].
    ///
    /// # Errors
    /// If the lock is poisoned; the guard is in the error.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let (result, _reader) = match self.hook.on() {
            None => (self.inner.read(), Reader::NONE),
            Some(switches) => self.read_recorded(switches, Location::caller()),
        };
        map_guard(result, |inner| RwLockReadGuard { _reader, inner })
    }

    /// Apart from `read`, so that the caller's code stays small; and std's guard, as of a [`Mutex`](super::Mutex).
    #[inline(never)]
    fn read_recorded(
        &self,
        switches: Switches,
        location: &'static Location<'static>,
    ) -> (LockResult<std::sync::RwLockReadGuard<'_, T>>, Reader) {
        let (try_read, read) = (|| self.inner.try_read(), || self.inner.read());
        acquire::lock(&self.hook, switches, Operation::ReadLock, location, try_read, read)
    }

    /// See [`std::sync::RwLock::try_read`].
    ///
    /// # Errors
    /// If the lock is held by a writer, or poisoned.
    #[inline]
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let (tried, _reader) = match self.hook.on() {
            None => (self.inner.try_read(), Reader::NONE),
            Some(switches) => self.try_read_recorded(switches, Location::caller()),
        };
        map_try(tried, |inner| RwLockReadGuard { _reader, inner })
    }

    /// Apart from `try_read`, as that of `read`.
    #[inline(never)]
    fn try_read_recorded(
        &self,
        switches: Switches,
        location: &'static Location<'static>,
    ) -> (TryLockResult<std::sync::RwLockReadGuard<'_, T>>, Reader) {
        acquire::try_lock(&self.hook, switches, Operation::TryReadLock, location, || self.inner.try_read())
    }

    /// See [`std::sync::RwLock::write`].
    ///
    /// # Errors
    /// If the lock is poisoned; the guard is in the error.
    #[inline]
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let (result, _holder) = match self.hook.on() {
            None => (self.inner.write(), Holder::NONE),
            Some(switches) => self.write_recorded(switches, Location::caller()),
        };
        map_guard(result, |inner| RwLockWriteGuard { _holder, inner })
    }

    /// Apart from `write`, as that of `read`.
    #[inline(never)]
    fn write_recorded(
        &self,
        switches: Switches,
        location: &'static Location<'static>,
    ) -> (LockResult<std::sync::RwLockWriteGuard<'_, T>>, Holder) {
        let (try_write, write) = (|| self.inner.try_write(), || self.inner.write());
        acquire::lock(&self.hook, switches, Operation::WriteLock, location, try_write, write)
    }

    /// See [`std::sync::RwLock::try_write`].
    ///
    /// # Errors
    /// If the lock is held, or poisoned.
    #[inline]
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let (tried, _holder) = match self.hook.on() {
            None => (self.inner.try_write(), Holder::NONE),
            Some(switches) => self.try_write_recorded(switches, Location::caller()),
        };
        map_try(tried, |inner| RwLockWriteGuard { _holder, inner })
    }

    /// Apart from `try_write`, as that of `read`.
    #[inline(never)]
    fn try_write_recorded(
        &self,
        switches: Switches,
        location: &'static Location<'static>,
    ) -> (TryLockResult<std::sync::RwLockWriteGuard<'_, T>>, Holder) {
        acquire::try_lock(&self.hook, switches, Operation::TryWriteLock, location, || self.inner.try_write())
    }

    /// See [`std::sync::RwLock::is_poisoned`].
    pub fn is_poisoned(&self) -> bool {
        self.inner.is_poisoned()
    }

    /// See [`std::sync::RwLock::clear_poison`].
    pub fn clear_poison(&self) {
        self.inner.clear_poison();
    }

    /// See [`std::sync::RwLock::get_mut`].
    ///
    /// # Errors
    /// If the lock is poisoned.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner.get_mut()
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// See [`std::sync::RwLockWriteGuard::downgrade`].
    ///
    /// ```
    /// use perfschema::sync::{RwLock, RwLockWriteGuard};
    /// let number = RwLock::new(1);
    /// let mut writer = number.write().unwrap();
    /// *writer += 1;
    /// let reader = RwLockWriteGuard::downgrade(writer);
    /// assert_eq!((*reader, *number.read().unwrap()), (2, 2));
    /// ```
    pub fn downgrade(s: Self) -> RwLockReadGuard<'a, T> {
        let RwLockWriteGuard { _holder, inner } = s;
        let _reader = _holder.into_reader();
        RwLockReadGuard { _reader, inner: std::sync::RwLockWriteGuard::downgrade(inner) }
    }
}

lock_traits!(RwLock);
guard_traits!(RwLockReadGuard);
guard_traits!(RwLockWriteGuard, DerefMut);
