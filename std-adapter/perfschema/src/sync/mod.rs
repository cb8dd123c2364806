//! `std::sync`, instrumented: the same names, so that a `use` line is the whole change.
//!
//! What can wait is here and records its waits, but for [`OnceLock`] and [`LazyLock`], which are std's, as everything else is: what waits
//! for those is not seen. Without the feature `instrument` all of it is std's.
//!
//! What std's types do, these do; but dropping one of them runs code, which takes its row away, and so a `const fn` cannot. Nor is one that is
//! a `thread_local!` there until the end: what the thread drops after it finds it gone, where std's `Mutex<u32>` would still be there.
//! rustc's lint `let_underscore_lock` and clippy's `await_holding_lock` and `mut_mutex_lock` know std's guards only (in `clippy.toml`,
//! `await-holding-invalid-types = ["perfschema::sync::MutexGuard", "perfschema::sync::RwLockReadGuard", "perfschema::sync::RwLockWriteGuard"]` has
//! clippy look for these instead); and what other crates have for std's types, as serde has `Serialize` for its `Mutex`,
//! they have not for these. A thread whose waits are recorded, and that finds a [`Mutex`] or a [`RwLock`] held, looks
//! away for 60 ns before it tries again, up to three times and for up to 11 µs in all if it has mostly found them still held then: so threads
//! that fight for a lock do not slow down who has it.
//!
//! | type | instrument by default | operations recorded |
//! |---|---|---|
//! | [`Mutex`] | `wait/synch/mutex/std/Mutex` | `lock`, `try_lock` |
//! | [`RwLock`] | `wait/synch/rwlock/std/RwLock` | `read_lock`, `write_lock`, `try_read_lock`, `try_write_lock` |
//! | [`Condvar`] | `wait/synch/cond/std/Condvar` | `wait`, `timed_wait` |
//! | [`Once`] | `wait/synch/once/std/Once` | `call_once`, until it is done |
//! | [`Barrier`] | `wait/synch/barrier/std/Barrier` | `barrier_wait` |
//! | [`mpsc`] | `wait/synch/mpsc/std/channel` | `send` where it can wait, `recv` |
//!
//! `with_instrument` gives an object an instrument of its own; the macros [`mutex!`](crate::mutex), [`rwlock!`](crate::rwlock),
//! [`condvar!`](crate::condvar) and [`once!`](crate::once) place one at the call site.

/// What a guard around one of std's or tokio's shares with it; `[…]` has the parameters of one that is more than a reference to a value.
#[cfg(feature = "instrument")]
macro_rules! guard_traits {
    ($guard:ident $(, $mutable:ident)?) => { guard_traits!([T: ?Sized] $guard<'_, T>, T $(, $mutable)?); };
    ([$($params:tt)*] $guard:ty, $target:ident, DerefMut) => {
        guard_traits!([$($params)*] $guard, $target);

        impl<$($params)*> std::ops::DerefMut for $guard {
            #[inline]
            fn deref_mut(&mut self) -> &mut $target {
                &mut self.inner
            }
        }
    };
    ([$($params:tt)*] $guard:ty, $target:ident) => {
        impl<$($params)*> std::ops::Deref for $guard {
            type Target = $target;
            #[inline]
            fn deref(&self) -> &$target {
                &self.inner
            }
        }

        impl<$($params)*> std::fmt::Debug for $guard
        where
            $target: std::fmt::Debug,
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&**self, f)
            }
        }

        impl<$($params)*> std::fmt::Display for $guard
        where
            $target: std::fmt::Display,
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&**self, f)
            }
        }
    };
}

/// What a lock around one of std's or tokio's shares with it, besides its methods.
#[cfg(feature = "instrument")]
macro_rules! lock_traits {
    ($lock:ident) => {
        impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for $lock<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.inner.fmt(f)
            }
        }

        impl<T: Default> Default for $lock<T> {
            fn default() -> Self {
                $lock::new(T::default())
            }
        }

        impl<T> From<T> for $lock<T> {
            fn from(value: T) -> Self {
                $lock::new(value)
            }
        }
    };
}

#[cfg(all(feature = "tokio", feature = "instrument"))]
pub(crate) use {guard_traits, lock_traits};

#[cfg(feature = "instrument")]
mod acquire;
#[cfg(feature = "instrument")]
mod backoff;
#[cfg(feature = "instrument")]
mod barrier;
#[cfg(feature = "instrument")]
mod condvar;
#[cfg(feature = "instrument")]
pub mod mpsc;
#[cfg(feature = "instrument")]
mod mutex;
#[cfg(feature = "instrument")]
mod once;
#[cfg(feature = "instrument")]
mod rwlock;

#[cfg(feature = "instrument")]
#[expect(deprecated, reason = "std has it")]
pub use self::once::ONCE_INIT;

#[cfg(feature = "instrument")]
pub use self::{
    barrier::Barrier,
    condvar::Condvar,
    mutex::{Mutex, MutexGuard},
    once::Once,
    rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard},
};

#[cfg(not(feature = "instrument"))]
pub use std::sync::{Barrier, Condvar, Mutex, MutexGuard, Once, RwLock, RwLockReadGuard, RwLockWriteGuard, mpsc};

#[cfg(not(feature = "instrument"))]
#[expect(deprecated, reason = "std has it")]
pub use std::sync::ONCE_INIT;

pub use std::sync::{
    Arc, BarrierWaitResult, LazyLock, LockResult, OnceLock, OnceState, PoisonError, TryLockError, TryLockResult,
    WaitTimeoutResult, Weak, atomic,
};

/// A guard, poisoned or not, with more around it.
#[cfg(feature = "instrument")]
#[cfg_attr(not(debug_assertions), inline(always))]
fn map_guard<G, N>(result: LockResult<G>, around: impl FnOnce(G) -> N) -> LockResult<N> {
    match result {
        Ok(guard) => Ok(around(guard)),
        Err(poisoned) => Err(PoisonError::new(around(poisoned.into_inner()))),
    }
}

/// The same for a guard that may not be had.
#[cfg(feature = "instrument")]
#[cfg_attr(not(debug_assertions), inline(always))]
fn map_try<G, N>(result: TryLockResult<G>, around: impl FnOnce(G) -> N) -> TryLockResult<N> {
    match result {
        Ok(guard) => Ok(around(guard)),
        Err(TryLockError::Poisoned(poisoned)) => Err(PoisonError::new(around(poisoned.into_inner())).into()),
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
    }
}
