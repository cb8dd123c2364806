//! `Condvar`

use super::{LockResult, MutexGuard, PoisonError, WaitTimeoutResult};
use crate::hook::{Hook, passed};
use crate::instrument::Instrument;
use perfschema_core::{InstrumentKind, Operation};
use std::fmt;
use std::panic::Location;
use std::time::{Duration, Instant};

static DEFAULT: Instrument = Instrument::new("wait/synch/cond/std/Condvar");

/// [`std::sync::Condvar`], with its waits recorded. While one lasts, the mutex is shown as not held by the waiting thread.
///
/// ```
/// use perfschema::sync::{Condvar, Mutex};
/// let (ready, changed) = (Mutex::new(false), Condvar::new());
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         *ready.lock().unwrap() = true;
///         changed.notify_one();
///     });
///     let guard = changed.wait_while(ready.lock().unwrap(), |ready| !*ready).unwrap();
///     assert!(*guard);
/// });
/// ```
pub struct Condvar {
    hook: Hook,
    inner: std::sync::Condvar,
}

impl Condvar {
    /// See [`std::sync::Condvar::new`].
    #[must_use]
    pub const fn new() -> Condvar {
        Condvar::__of(&DEFAULT)
    }

    /// A condition variable whose waits are recorded by `instrument`, a `wait/synch/cond/…`.
    ///
    /// # Panics
    /// If the instrument is of another kind; in a `static`, that is a compile error. A `const` cannot look at a `static`, and has [`condvar!`](crate::condvar!).
    pub const fn with_instrument(instrument: &'static Instrument) -> Condvar {
        crate::__check_kind(instrument.kind(), InstrumentKind::Cond);
        Condvar::__of(instrument)
    }

    // For condvar!, which has looked at the name.
    #[doc(hidden)]
    pub const fn __of(instrument: &'static Instrument) -> Condvar {
        Condvar { hook: Hook::new(instrument), inner: std::sync::Condvar::new() }
    }

    /// See [`std::sync::Condvar::wait`].
    ///
    /// # Errors
    /// If the mutex is poisoned; the guard is in the error.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.recorded(Operation::Wait, Location::caller(), guard, |guard| match self.inner.wait(guard) {
            Ok(guard) => Ok((guard, ())),
            Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), ()))),
        })
        .map(|(guard, ())| guard)
        .map_err(|poisoned| PoisonError::new(poisoned.into_inner().0))
    }

    /// See [`std::sync::Condvar::wait_while`]. Each time the condition is waited for is a wait of its own.
    ///
    /// # Errors
    /// If the mutex is poisoned; the guard is in the error.
    #[track_caller]
    pub fn wait_while<'a, T, F>(&self, mut guard: MutexGuard<'a, T>, mut condition: F) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// See [`std::sync::Condvar::wait_timeout`].
    ///
    /// # Errors
    /// If the mutex is poisoned; guard and result are in the error.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        self.recorded(Operation::TimedWait, Location::caller(), guard, |guard| self.inner.wait_timeout(guard, timeout))
    }

    /// See [`std::sync::Condvar::wait_timeout_while`].
    ///
    /// # Errors
    /// If the mutex is poisoned; guard and result are in the error.
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timeout: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let start = Instant::now();
        loop {
            if !condition(&mut *guard) {
                return self.without_waiting(guard, || false);
            }
            let Some(left) = timeout.checked_sub(start.elapsed()) else {
                return self.without_waiting(guard, || {
                    let now = Instant::now();
                    while Instant::now() <= now {}
                    true
                });
            };
            guard = self.wait_timeout(guard, left)?.0;
        }
    }

    /// The result of a wait whose condition is met, or whose time is up before it is. Only std can make one: here by its own loop, which has
    /// no time, and does not wait, but looks at the condition, and then at the clock.
    fn without_waiting<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        mut condition: impl FnMut() -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        guard.during(|guard| self.inner.wait_timeout_while(guard, Duration::ZERO, |_| condition()))
    }

    /// See [`std::sync::Condvar::wait_timeout_ms`].
    ///
    /// # Errors
    /// If the mutex is poisoned; guard and result are in the error.
    #[deprecated(note = "replaced by `Condvar::wait_timeout`, as std's")]
    #[track_caller]
    pub fn wait_timeout_ms<'a, T>(&self, guard: MutexGuard<'a, T>, ms: u32) -> LockResult<(MutexGuard<'a, T>, bool)> {
        let waited = |(guard, result): (_, WaitTimeoutResult)| (guard, !result.timed_out());
        match self.wait_timeout(guard, Duration::from_millis(ms.into())) {
            Ok(result) => Ok(waited(result)),
            Err(poisoned) => Err(PoisonError::new(waited(poisoned.into_inner()))),
        }
    }

    /// See [`std::sync::Condvar::notify_one`].
    pub fn notify_one(&self) {
        self.inner.notify_one();
    }

    /// See [`std::sync::Condvar::notify_all`].
    pub fn notify_all(&self) {
        self.inner.notify_all();
    }

    fn recorded<'a, T, R>(
        &self,
        operation: Operation,
        location: &'static Location<'static>,
        guard: MutexGuard<'a, T>,
        wait: impl FnOnce(std::sync::MutexGuard<'a, T>) -> LockResult<(std::sync::MutexGuard<'a, T>, R)>,
    ) -> LockResult<(MutexGuard<'a, T>, R)> {
        let waiting = self.hook.begin(operation, location);
        let result = guard.during(wait);
        // The mutex is held again; but another thread may wait for this condition with another mutex.
        passed(waiting);
        result
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
