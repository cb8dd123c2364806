//! `Mutex`

use super::guard::{maps, owned_maps};
use super::owned::{Owned, forever};
use super::{TryLockError, wait::wait};
use crate::hook::{Holder, Hook, marked};
use crate::instrument::Instrument;
use crate::sync::{guard_traits, lock_traits};
use perfschema_core::{InstrumentKind, Operation};
use std::panic::Location;
use std::sync::Arc;

static DEFAULT: Instrument = Instrument::new("wait/synch/mutex/tokio/Mutex");

/// [`tokio::sync::Mutex`], with its waits recorded.
///
/// ```
/// use perfschema::tokio::sync::Mutex;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let numbers = Mutex::new(vec![1]);
/// numbers.lock().await.push(2);
/// assert_eq!(numbers.into_inner(), [1, 2]);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Mutex<T: ?Sized> {
    hook: Hook,
    inner: tokio::sync::Mutex<T>,
}

/// [`tokio::sync::MutexGuard`] of a [`Mutex`].
#[must_use = "if unused the Mutex will immediately unlock"]
#[clippy::has_significant_drop]
pub struct MutexGuard<'a, T: ?Sized> {
    // Dropped in this order: the mark is taken away before the mutex is unlocked, or it would take away the next holder's.
    mark: Holder,
    inner: tokio::sync::MutexGuard<'a, T>,
    mutex: &'a Mutex<T>,
}

/// [`tokio::sync::MappedMutexGuard`] of a [`Mutex`].
#[must_use = "if unused the Mutex will immediately unlock"]
#[clippy::has_significant_drop]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    // Dropped in this order, as that of a MutexGuard.
    mark: Holder,
    inner: tokio::sync::MappedMutexGuard<'a, T>,
}

/// [`tokio::sync::OwnedMutexGuard`] of a [`Mutex`].
#[clippy::has_significant_drop]
pub struct OwnedMutexGuard<T: ?Sized + 'static> {
    inner: Owned<MutexGuard<'static, T>, Mutex<T>>,
}

/// [`tokio::sync::OwnedMappedMutexGuard`] of a [`Mutex`].
#[must_use = "if unused the Mutex will immediately unlock"]
#[clippy::has_significant_drop]
pub struct OwnedMappedMutexGuard<T: ?Sized + 'static, U: ?Sized + 'static = T> {
    inner: Owned<MappedMutexGuard<'static, U>, Mutex<T>>,
}

impl<T> Mutex<T> {
    /// See [`tokio::sync::Mutex::new`].
    pub const fn new(value: T) -> Mutex<T> {
        Mutex { hook: Hook::new(&DEFAULT), inner: tokio::sync::Mutex::const_new(value) }
    }

    /// See [`tokio::sync::Mutex::const_new`].
    pub const fn const_new(value: T) -> Mutex<T> {
        Mutex::new(value)
    }

    /// A mutex whose waits are recorded by `instrument`, a `wait/synch/mutex/…`. Also in a `static`.
    ///
    /// ```
    /// use perfschema::{Instrument, tokio::sync::Mutex};
    /// static LOCK_ORDERS: Mutex<Vec<u32>> = Mutex::with_instrument(&ORDERS, Vec::new());
    /// static ORDERS: Instrument = Instrument::new("wait/synch/mutex/app/LOCK_orders");
    /// assert!(LOCK_ORDERS.try_lock().unwrap().is_empty());
    /// ```
    ///
    /// # Panics
    /// If the instrument is of another kind; in a `static`, that is a compile error. A `const` cannot look at a `static`.
    pub const fn with_instrument(instrument: &'static Instrument, value: T) -> Mutex<T> {
        Mutex { hook: Hook::checked(instrument, InstrumentKind::Mutex), inner: tokio::sync::Mutex::const_new(value) }
    }

    /// See [`tokio::sync::Mutex::into_inner`].
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// See [`tokio::sync::Mutex::lock`].
    #[track_caller]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> {
        self.lock_from(Location::caller())
    }

    fn lock_from(&self, caller: &'static Location<'static>) -> impl Future<Output = MutexGuard<'_, T>> {
        wait(&self.hook, Operation::Lock, caller, self.inner.lock(), |pending, inner| MutexGuard {
            mark: pending.held(),
            inner,
            mutex: self,
        })
    }

    /// See [`tokio::sync::Mutex::blocking_lock`].
    ///
    /// # Panics
    /// Within an asynchronous task.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        let waiting = self.hook.begin(Operation::Lock, Location::caller());
        let inner = self.inner.blocking_lock();
        MutexGuard { mark: marked(waiting), inner, mutex: self }
    }

    /// See [`tokio::sync::Mutex::try_lock`].
    ///
    /// # Errors
    /// If the mutex is held.
    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        let waiting = self.hook.begin(Operation::TryLock, Location::caller());
        let inner = self.inner.try_lock()?;
        Ok(MutexGuard { mark: marked(waiting), inner, mutex: self })
    }

    /// See [`tokio::sync::Mutex::get_mut`].
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }
}

impl<T: ?Sized + 'static> Mutex<T> {
    /// See [`tokio::sync::Mutex::lock_owned`].
    ///
    /// ```
    /// use perfschema::tokio::sync::Mutex;
    /// use std::sync::Arc;
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let number = Arc::new(Mutex::new(1));
    /// let mut guard = Arc::clone(&number).lock_owned().await;
    /// tokio::spawn(async move { *guard += 1 }).await.unwrap();
    /// assert_eq!(*number.lock().await, 2);
    /// # });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn lock_owned(self: Arc<Self>) -> impl Future<Output = OwnedMutexGuard<T>> {
        let caller = Location::caller();
        async move {
            // SAFETY: the wait goes before `self`, and the guard is kept with it.
            let guard = unsafe { forever(&self) }.lock_from(caller).await;
            OwnedMutexGuard { inner: Owned::new(guard, self) }
        }
    }

    /// See [`tokio::sync::Mutex::blocking_lock_owned`].
    ///
    /// # Panics
    /// Within an asynchronous task.
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        // SAFETY: the guard is kept with `self`.
        let guard = unsafe { forever(&self) }.blocking_lock();
        OwnedMutexGuard { inner: Owned::new(guard, self) }
    }

    /// See [`tokio::sync::Mutex::try_lock_owned`].
    ///
    /// # Errors
    /// If the mutex is held.
    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        // SAFETY: as above.
        let guard = unsafe { forever(&self) }.try_lock()?;
        Ok(OwnedMutexGuard { inner: Owned::new(guard, self) })
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// See [`tokio::sync::MutexGuard::mutex`].
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.mutex
    }
}

impl<T: ?Sized + 'static> OwnedMutexGuard<T> {
    /// See [`tokio::sync::OwnedMutexGuard::mutex`].
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        this.inner.lock()
    }
}

maps!(<U, F> MutexGuard, mutex => MappedMutexGuard<U: ?Sized>, Holder, &mut);
maps!(<U, F> MappedMutexGuard => MappedMutexGuard<U>, Holder, &mut);
owned_maps!(<V, F> OwnedMutexGuard<T>, MutexGuard<T> => OwnedMappedMutexGuard<V: ?Sized>, &mut);
owned_maps!(<V, F> OwnedMappedMutexGuard<T, U>, MappedMutexGuard<U> => OwnedMappedMutexGuard<V>, &mut);

lock_traits!(Mutex);
guard_traits!(MutexGuard, DerefMut);
guard_traits!(MappedMutexGuard, DerefMut);
guard_traits!([T: ?Sized + 'static] OwnedMutexGuard<T>, T, DerefMut);
guard_traits!([T: ?Sized + 'static, U: ?Sized + 'static] OwnedMappedMutexGuard<T, U>, U, DerefMut);
