//! `RwLock`

use super::TryLockError;
use super::guard::{keep, maps, owned_maps};
use super::owned::{Owned, forever};
use super::wait::wait;
use crate::hook::{Holder, Hook, Reader, marked};
use crate::instrument::Instrument;
use crate::sync::{guard_traits, lock_traits};
use perfschema_core::{InstrumentKind, Operation};
use std::panic::Location;
use std::sync::Arc;

static DEFAULT: Instrument = Instrument::new("wait/synch/rwlock/tokio/RwLock");

/// [`tokio::sync::RwLock`], with its waits recorded, those for reading and those for writing apart.
///
/// ```
/// use perfschema::tokio::sync::RwLock;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let number = RwLock::new(1);
/// *number.write().await += 1;
/// assert_eq!(*number.read().await, 2);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct RwLock<T: ?Sized> {
    hook: Hook,
    inner: tokio::sync::RwLock<T>,
}

/// [`tokio::sync::RwLockReadGuard`] of a [`RwLock`].
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    // Dropped in this order: a lock that is free has no reader left in the tables.
    mark: Reader,
    inner: tokio::sync::RwLockReadGuard<'a, T>,
}

/// [`tokio::sync::RwLockWriteGuard`] of a [`RwLock`].
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    // Dropped in this order, as that of a MutexGuard; also below.
    mark: Holder,
    inner: tokio::sync::RwLockWriteGuard<'a, T>,
}

/// [`tokio::sync::RwLockMappedWriteGuard`] of a [`RwLock`].
#[clippy::has_significant_drop]
pub struct RwLockMappedWriteGuard<'a, T: ?Sized> {
    mark: Holder,
    inner: tokio::sync::RwLockMappedWriteGuard<'a, T>,
}

/// [`tokio::sync::OwnedRwLockReadGuard`] of a [`RwLock`].
#[clippy::has_significant_drop]
pub struct OwnedRwLockReadGuard<T: ?Sized + 'static, U: ?Sized + 'static = T> {
    inner: Owned<RwLockReadGuard<'static, U>, RwLock<T>>,
}

/// [`tokio::sync::OwnedRwLockWriteGuard`] of a [`RwLock`].
#[clippy::has_significant_drop]
pub struct OwnedRwLockWriteGuard<T: ?Sized + 'static> {
    inner: Owned<RwLockWriteGuard<'static, T>, RwLock<T>>,
}

/// [`tokio::sync::OwnedRwLockMappedWriteGuard`] of a [`RwLock`].
#[clippy::has_significant_drop]
pub struct OwnedRwLockMappedWriteGuard<T: ?Sized + 'static, U: ?Sized + 'static = T> {
    inner: Owned<RwLockMappedWriteGuard<'static, U>, RwLock<T>>,
}

impl<T> RwLock<T> {
    /// See [`tokio::sync::RwLock::new`].
    pub const fn new(value: T) -> RwLock<T> {
        RwLock { hook: Hook::new(&DEFAULT), inner: tokio::sync::RwLock::const_new(value) }
    }

    /// See [`tokio::sync::RwLock::const_new`].
    pub const fn const_new(value: T) -> RwLock<T> {
        RwLock::new(value)
    }

    /// A lock whose waits are recorded by `instrument`, a `wait/synch/rwlock/…`. Also in a `static`.
    ///
    /// # Panics
    /// If the instrument is of another kind; in a `static`, that is a compile error. A `const` cannot look at a `static`.
    pub const fn with_instrument(instrument: &'static Instrument, value: T) -> RwLock<T> {
        RwLock { hook: Hook::checked(instrument, InstrumentKind::RwLock), inner: tokio::sync::RwLock::const_new(value) }
    }

    /// See [`tokio::sync::RwLock::with_max_readers`].
    ///
    /// # Panics
    /// If there are to be none, or more than `u32::MAX >> 3`.
    #[track_caller]
    pub fn with_max_readers(value: T, max_reads: u32) -> RwLock<T> {
        // Not the next one, which says in other words why it panics.
        RwLock { hook: Hook::new(&DEFAULT), inner: tokio::sync::RwLock::with_max_readers(value, max_reads) }
    }

    /// See [`tokio::sync::RwLock::const_with_max_readers`].
    ///
    /// # Panics
    /// As [`with_max_readers`](Self::with_max_readers).
    pub const fn const_with_max_readers(value: T, max_reads: u32) -> RwLock<T> {
        RwLock { hook: Hook::new(&DEFAULT), inner: tokio::sync::RwLock::const_with_max_readers(value, max_reads) }
    }

    /// See [`tokio::sync::RwLock::into_inner`].
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// See [`tokio::sync::RwLock::read`].
    #[track_caller]
    pub fn read(&self) -> impl Future<Output = RwLockReadGuard<'_, T>> {
        self.read_from(Location::caller())
    }

    fn read_from(&self, caller: &'static Location<'static>) -> impl Future<Output = RwLockReadGuard<'_, T>> {
        wait(&self.hook, Operation::ReadLock, caller, self.inner.read(), |pending, inner| RwLockReadGuard {
            mark: pending.read(),
            inner,
        })
    }

    /// See [`tokio::sync::RwLock::blocking_read`].
    ///
    /// # Panics
    /// Within an asynchronous task.
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T> {
        let waiting = self.hook.begin(Operation::ReadLock, Location::caller());
        let inner = self.inner.blocking_read();
        RwLockReadGuard { mark: marked(waiting), inner }
    }

    /// See [`tokio::sync::RwLock::try_read`].
    ///
    /// # Errors
    /// If the lock is held by a writer.
    #[track_caller]
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        let waiting = self.hook.begin(Operation::TryReadLock, Location::caller());
        let inner = self.inner.try_read()?;
        Ok(RwLockReadGuard { mark: marked(waiting), inner })
    }

    /// See [`tokio::sync::RwLock::write`].
    #[track_caller]
    pub fn write(&self) -> impl Future<Output = RwLockWriteGuard<'_, T>> {
        self.write_from(Location::caller())
    }

    fn write_from(&self, caller: &'static Location<'static>) -> impl Future<Output = RwLockWriteGuard<'_, T>> {
        wait(&self.hook, Operation::WriteLock, caller, self.inner.write(), |pending, inner| RwLockWriteGuard {
            mark: pending.held(),
            inner,
        })
    }

    /// See [`tokio::sync::RwLock::blocking_write`].
    ///
    /// # Panics
    /// Within an asynchronous task.
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T> {
        let waiting = self.hook.begin(Operation::WriteLock, Location::caller());
        let inner = self.inner.blocking_write();
        RwLockWriteGuard { mark: marked(waiting), inner }
    }

    /// See [`tokio::sync::RwLock::try_write`].
    ///
    /// # Errors
    /// If the lock is held.
    #[track_caller]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        let waiting = self.hook.begin(Operation::TryWriteLock, Location::caller());
        let inner = self.inner.try_write()?;
        Ok(RwLockWriteGuard { mark: marked(waiting), inner })
    }

    /// See [`tokio::sync::RwLock::get_mut`].
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }
}

impl<T: ?Sized + 'static> RwLock<T> {
    /// See [`tokio::sync::RwLock::read_owned`].
    #[track_caller]
    pub fn read_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockReadGuard<T>> {
        let caller = Location::caller();
        async move {
            // SAFETY: the wait goes before `self`, and the guard is kept with it.
            let guard = unsafe { forever(&self) }.read_from(caller).await;
            OwnedRwLockReadGuard { inner: Owned::new(guard, self) }
        }
    }

    /// See [`tokio::sync::RwLock::try_read_owned`].
    ///
    /// # Errors
    /// If the lock is held by a writer.
    #[track_caller]
    pub fn try_read_owned(self: Arc<Self>) -> Result<OwnedRwLockReadGuard<T>, TryLockError> {
        // SAFETY: the guard is kept with `self`.
        let guard = unsafe { forever(&self) }.try_read()?;
        Ok(OwnedRwLockReadGuard { inner: Owned::new(guard, self) })
    }

    /// See [`tokio::sync::RwLock::write_owned`].
    #[track_caller]
    pub fn write_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockWriteGuard<T>> {
        let caller = Location::caller();
        async move {
            // SAFETY: as of `read_owned`.
            let guard = unsafe { forever(&self) }.write_from(caller).await;
            OwnedRwLockWriteGuard { inner: Owned::new(guard, self) }
        }
    }

    /// See [`tokio::sync::RwLock::try_write_owned`].
    ///
    /// # Errors
    /// If the lock is held.
    #[track_caller]
    pub fn try_write_owned(self: Arc<Self>) -> Result<OwnedRwLockWriteGuard<T>, TryLockError> {
        // SAFETY: as of `try_read_owned`.
        let guard = unsafe { forever(&self) }.try_write()?;
        Ok(OwnedRwLockWriteGuard { inner: Owned::new(guard, self) })
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// See [`tokio::sync::RwLockWriteGuard::into_mapped`].
    pub fn into_mapped(this: Self) -> RwLockMappedWriteGuard<'a, T> {
        RwLockWriteGuard::map(this, |value| value)
    }

    /// See [`tokio::sync::RwLockWriteGuard::downgrade`].
    ///
    /// ```
    /// use perfschema::tokio::sync::RwLock;
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let number = RwLock::new(1);
    /// let mut writer = number.write().await;
    /// *writer += 1;
    /// let reader = writer.downgrade();
    /// assert_eq!((*reader, *number.read().await), (2, 2));
    /// # });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn downgrade(self) -> RwLockReadGuard<'a, T> {
        let mark = self.mark.into_reader();
        RwLockReadGuard { mark, inner: self.inner.downgrade() }
    }

    /// See [`tokio::sync::RwLockWriteGuard::downgrade_map`].
    pub fn downgrade_map<F, U: ?Sized>(this: Self, f: F) -> RwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
    {
        let RwLockWriteGuard { mark, inner } = this;
        let mut kept = Holder::NONE;
        let inner = tokio::sync::RwLockWriteGuard::downgrade_map(inner, keep!(f, mark => kept));
        RwLockReadGuard { mark: kept.into_reader(), inner }
    }

    /// See [`tokio::sync::RwLockWriteGuard::try_downgrade_map`].
    ///
    /// # Errors
    /// The guard, if `f` returns None.
    pub fn try_downgrade_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        let RwLockWriteGuard { mark, inner } = this;
        let mut kept = Holder::NONE;
        match tokio::sync::RwLockWriteGuard::try_downgrade_map(inner, keep!(f, mark => kept)) {
            Ok(inner) => Ok(RwLockReadGuard { mark: kept.into_reader(), inner }),
            Err(inner) => Err(RwLockWriteGuard { mark: kept, inner }),
        }
    }
}

impl<T: ?Sized + 'static> OwnedRwLockWriteGuard<T> {
    /// See [`tokio::sync::OwnedRwLockWriteGuard::into_mapped`].
    pub fn into_mapped(this: Self) -> OwnedRwLockMappedWriteGuard<T> {
        OwnedRwLockMappedWriteGuard { inner: this.inner.map(RwLockWriteGuard::into_mapped) }
    }

    /// See [`tokio::sync::OwnedRwLockWriteGuard::downgrade`].
    pub fn downgrade(self) -> OwnedRwLockReadGuard<T> {
        OwnedRwLockReadGuard { inner: self.inner.map(RwLockWriteGuard::downgrade) }
    }

    /// See [`tokio::sync::OwnedRwLockWriteGuard::downgrade_map`].
    pub fn downgrade_map<F, U: ?Sized + 'static>(this: Self, f: F) -> OwnedRwLockReadGuard<T, U>
    where
        F: FnOnce(&T) -> &U,
    {
        OwnedRwLockReadGuard { inner: this.inner.map(|guard| RwLockWriteGuard::downgrade_map(guard, f)) }
    }

    /// See [`tokio::sync::OwnedRwLockWriteGuard::try_downgrade_map`].
    ///
    /// # Errors
    /// The guard, if `f` returns None.
    pub fn try_downgrade_map<F, U: ?Sized + 'static>(this: Self, f: F) -> Result<OwnedRwLockReadGuard<T, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        let downgraded = this.inner.try_map(|guard| RwLockWriteGuard::try_downgrade_map(guard, f));
        downgraded.map(|inner| OwnedRwLockReadGuard { inner }).map_err(|inner| OwnedRwLockWriteGuard { inner })
    }

    /// See [`tokio::sync::OwnedRwLockWriteGuard::rwlock`].
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.inner.lock()
    }
}

impl<T: ?Sized + 'static, U: ?Sized + 'static> OwnedRwLockMappedWriteGuard<T, U> {
    /// See [`tokio::sync::OwnedRwLockMappedWriteGuard::rwlock`].
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.inner.lock()
    }
}

impl<T: ?Sized + 'static, U: ?Sized + 'static> OwnedRwLockReadGuard<T, U> {
    /// See [`tokio::sync::OwnedRwLockReadGuard::rwlock`].
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.inner.lock()
    }
}

maps!(<F, U> RwLockReadGuard => RwLockReadGuard<U: ?Sized>, Reader, &);
maps!(<F, U> RwLockWriteGuard => RwLockMappedWriteGuard<U: ?Sized>, Holder, &mut);
maps!(<F, U> RwLockMappedWriteGuard => RwLockMappedWriteGuard<U: ?Sized>, Holder, &mut);
owned_maps!(<F, V> OwnedRwLockReadGuard<T, U>, RwLockReadGuard<U> => OwnedRwLockReadGuard<V: ?Sized>, &);
owned_maps!(<F, V> OwnedRwLockWriteGuard<T>, RwLockWriteGuard<T> => OwnedRwLockMappedWriteGuard<V: ?Sized>, &mut);
owned_maps!(<F, V> OwnedRwLockMappedWriteGuard<T, U>, RwLockMappedWriteGuard<U> => OwnedRwLockMappedWriteGuard<V: ?Sized>, &mut);

lock_traits!(RwLock);
guard_traits!(RwLockReadGuard);
guard_traits!(RwLockWriteGuard, DerefMut);
guard_traits!(RwLockMappedWriteGuard, DerefMut);
guard_traits!([T: ?Sized + 'static, U: ?Sized + 'static] OwnedRwLockReadGuard<T, U>, U);
guard_traits!([T: ?Sized + 'static] OwnedRwLockWriteGuard<T>, T, DerefMut);
guard_traits!([T: ?Sized + 'static, U: ?Sized + 'static] OwnedRwLockMappedWriteGuard<T, U>, U, DerefMut);
