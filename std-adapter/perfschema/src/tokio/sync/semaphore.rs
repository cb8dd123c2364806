//! `Semaphore`

use super::wait::{pass, passed, wait};
use super::{AcquireError, SemaphorePermit, TryAcquireError};
use crate::hook::{self, Hook};
use crate::instrument::Instrument;
use perfschema_core::{InstrumentKind, Operation};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

static DEFAULT: Instrument = Instrument::new("wait/synch/semaphore/tokio/Semaphore");

/// [`tokio::sync::Semaphore`], with its waits recorded.
///
/// ```
/// use perfschema::tokio::sync::Semaphore;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let connections = Semaphore::new(2);
/// let _one = connections.acquire().await.unwrap();
/// assert_eq!(connections.available_permits(), 1);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Semaphore {
    hook: Hook,
    inner: tokio::sync::Semaphore,
}

/// [`tokio::sync::OwnedSemaphorePermit`] of a [`Semaphore`].
#[must_use]
#[clippy::has_significant_drop]
pub struct OwnedSemaphorePermit {
    semaphore: Arc<Semaphore>,
    permits: usize,
}

impl Semaphore {
    /// See [`tokio::sync::Semaphore::MAX_PERMITS`].
    pub const MAX_PERMITS: usize = tokio::sync::Semaphore::MAX_PERMITS;

    /// See [`tokio::sync::Semaphore::new`].
    ///
    /// # Panics
    /// If there are to be more permits than [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[track_caller]
    pub fn new(permits: usize) -> Semaphore {
        // Not the next one, which says in other words why it panics.
        Semaphore { hook: Hook::new(&DEFAULT), inner: tokio::sync::Semaphore::new(permits) }
    }

    /// See [`tokio::sync::Semaphore::const_new`].
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub const fn const_new(permits: usize) -> Semaphore {
        Semaphore { hook: Hook::new(&DEFAULT), inner: tokio::sync::Semaphore::const_new(permits) }
    }

    /// A semaphore that is recorded by `instrument`, a `wait/synch/semaphore/…`. Also in a `static`.
    ///
    /// ```
    /// use perfschema::{Instrument, tokio::sync::Semaphore};
    /// static CONNECTIONS: Semaphore = Semaphore::with_instrument(&PERMITS, 100);
    /// static PERMITS: Instrument = Instrument::new("wait/synch/semaphore/app/connections");
    /// assert_eq!(CONNECTIONS.available_permits(), 100);
    /// ```
    ///
    /// # Panics
    /// As [`new`](Self::new), and if the instrument is of another kind; in a `static`, that is a compile error. A `const` cannot look at a `static`.
    #[track_caller]
    pub const fn with_instrument(instrument: &'static Instrument, permits: usize) -> Semaphore {
        Semaphore { hook: Hook::checked(instrument, InstrumentKind::Synch), inner: tokio::sync::Semaphore::const_new(permits) }
    }

    /// See [`tokio::sync::Semaphore::available_permits`].
    pub fn available_permits(&self) -> usize {
        self.inner.available_permits()
    }

    /// See [`tokio::sync::Semaphore::add_permits`].
    pub fn add_permits(&self, n: usize) {
        self.inner.add_permits(n);
    }

    /// See [`tokio::sync::Semaphore::forget_permits`].
    pub fn forget_permits(&self, n: usize) -> usize {
        self.inner.forget_permits(n)
    }

    /// See [`tokio::sync::Semaphore::close`].
    pub fn close(&self) {
        self.inner.close();
    }

    /// See [`tokio::sync::Semaphore::is_closed`].
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// See [`tokio::sync::Semaphore::acquire`].
    ///
    /// # Errors
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        pass(&self.hook, Operation::Acquire, Location::caller(), self.inner.acquire())
    }

    /// See [`tokio::sync::Semaphore::acquire_many`].
    ///
    /// # Errors
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire_many(&self, n: u32) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        pass(&self.hook, Operation::Acquire, Location::caller(), self.inner.acquire_many(n))
    }

    /// See [`tokio::sync::Semaphore::try_acquire`].
    ///
    /// # Errors
    /// If there is no permit left, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// See [`tokio::sync::Semaphore::try_acquire_many`].
    ///
    /// # Errors
    /// If there are not so many permits left, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.hook.pass(Operation::TryAcquire, Location::caller(), || self.inner.try_acquire_many(n))
    }

    /// See [`tokio::sync::Semaphore::blocking_acquire`].
    ///
    /// # Errors
    /// If the semaphore is closed.
    ///
    /// # Panics
    /// Within an asynchronous task.
    #[track_caller]
    pub fn blocking_acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.blocking_acquire_many(1)
    }

    /// See [`tokio::sync::Semaphore::blocking_acquire_many`].
    ///
    /// # Errors
    /// If the semaphore is closed.
    ///
    /// # Panics
    /// Within an asynchronous task.
    #[track_caller]
    pub fn blocking_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        let waiting = self.hook.begin(Operation::Acquire, Location::caller());
        let result = self.inner.blocking_acquire_many(n);
        hook::passed(waiting);
        result
    }

    /// See [`tokio::sync::Semaphore::acquire_owned`].
    ///
    /// # Errors
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire_owned(self: Arc<Self>) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_many_owned(1)
    }

    /// See [`tokio::sync::Semaphore::acquire_many_owned`].
    ///
    /// # Errors
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire_many_owned(self: Arc<Self>, n: u32) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        let caller = Location::caller();
        async move {
            let permits = {
                let acquire = self.inner.acquire_many(n);
                wait(&self.hook, Operation::Acquire, caller, acquire, |pending, result| passed(pending, kept(result))).await?
            };
            Ok(OwnedSemaphorePermit { semaphore: self, permits })
        }
    }

    /// See [`tokio::sync::Semaphore::try_acquire_owned`].
    ///
    /// # Errors
    /// If there is no permit left, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// See [`tokio::sync::Semaphore::try_acquire_many_owned`].
    ///
    /// # Errors
    /// If there are not so many permits left, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire_many_owned(self: Arc<Self>, n: u32) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        let permits = kept(self.try_acquire_many(n))?;
        Ok(OwnedSemaphorePermit { semaphore: self, permits })
    }

    /// See [`tokio::sync::Semaphore::blocking_acquire_owned`].
    ///
    /// # Errors
    /// If the semaphore is closed.
    ///
    /// # Panics
    /// Within an asynchronous task.
    #[track_caller]
    pub fn blocking_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.blocking_acquire_many_owned(1)
    }

    /// See [`tokio::sync::Semaphore::blocking_acquire_many_owned`].
    ///
    /// # Errors
    /// If the semaphore is closed.
    ///
    /// # Panics
    /// Within an asynchronous task.
    #[track_caller]
    pub fn blocking_acquire_many_owned(self: Arc<Self>, n: u32) -> Result<OwnedSemaphorePermit, AcquireError> {
        let permits = kept(self.blocking_acquire_many(n))?;
        Ok(OwnedSemaphorePermit { semaphore: self, permits })
    }
}

/// How many permits they are, which are somebody else's to give back from now on.
fn kept<E>(permit: Result<SemaphorePermit<'_>, E>) -> Result<usize, E> {
    permit.map(|permit| {
        let permits = permit.num_permits();
        permit.forget();
        permits
    })
}

impl OwnedSemaphorePermit {
    /// See [`tokio::sync::OwnedSemaphorePermit::forget`].
    pub fn forget(mut self) {
        self.permits = 0;
    }

    /// See [`tokio::sync::OwnedSemaphorePermit::merge`].
    ///
    /// # Panics
    /// If they are of different semaphores.
    #[track_caller]
    pub fn merge(&mut self, mut other: Self) {
        assert!(Arc::ptr_eq(&self.semaphore, &other.semaphore), "merging permits from different semaphore instances");
        self.permits = self.permits.checked_add(other.permits).expect("number of permits overflowed");
        other.permits = 0;
    }

    /// See [`tokio::sync::OwnedSemaphorePermit::split`].
    pub fn split(&mut self, n: usize) -> Option<Self> {
        self.permits = self.permits.checked_sub(n)?;
        Some(OwnedSemaphorePermit { semaphore: Arc::clone(&self.semaphore), permits: n })
    }

    /// See [`tokio::sync::OwnedSemaphorePermit::semaphore`].
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.semaphore
    }

    /// See [`tokio::sync::OwnedSemaphorePermit::num_permits`].
    pub fn num_permits(&self) -> usize {
        self.permits
    }
}

impl Drop for OwnedSemaphorePermit {
    fn drop(&mut self) {
        self.semaphore.inner.add_permits(self.permits);
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// As tokio's.
impl fmt::Debug for OwnedSemaphorePermit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedSemaphorePermit").field("sem", &self.semaphore).field("permits", &self.permits).finish()
    }
}
