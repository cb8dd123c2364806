//! `OnceCell` and `SetOnce`

use super::wait::pass;
use super::{SetError, SetOnceError};
use crate::hook::Hook;
use crate::instrument::Instrument;
use perfschema_core::{InstrumentKind, Operation};
use std::fmt;
use std::panic::Location;

static ONCE_CELL: Instrument = Instrument::new("wait/synch/once/tokio/OnceCell");
static SET_ONCE: Instrument = Instrument::new("wait/synch/once/tokio/SetOnce");

/// [`tokio::sync::OnceCell`], with the work and the waits for it recorded; once there is a value, nothing is.
///
/// ```
/// use perfschema::tokio::sync::OnceCell;
/// static POOL: OnceCell<Vec<u32>> = OnceCell::const_new();
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// assert_eq!(POOL.get_or_init(async || vec![1, 2]).await, &[1, 2]);
/// assert!(POOL.initialized());
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct OnceCell<T> {
    hook: Hook,
    inner: tokio::sync::OnceCell<T>,
}

/// [`tokio::sync::SetOnce`], with the waits for its value recorded; once there is one, nothing is.
///
/// ```
/// use perfschema::tokio::sync::SetOnce;
/// static CONFIG: SetOnce<u32> = SetOnce::const_new();
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// tokio::spawn(async { CONFIG.set(7) });
/// assert_eq!(CONFIG.wait().await, &7);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct SetOnce<T> {
    hook: Hook,
    inner: tokio::sync::SetOnce<T>,
}

/// What both have.
macro_rules! once {
    ($type:ident, $default:ident) => {
        impl<T> $type<T> {
            #[doc = concat!("See [`tokio::sync::", stringify!($type), "::new`].")]
            pub const fn new() -> $type<T> {
                $type { hook: Hook::new(&$default), inner: tokio::sync::$type::const_new() }
            }

            #[doc = concat!("See [`tokio::sync::", stringify!($type), "::const_new`].")]
            pub const fn const_new() -> $type<T> {
                $type::new()
            }

            #[doc = concat!("See [`tokio::sync::", stringify!($type), "::new_with`].")]
            pub fn new_with(value: Option<T>) -> $type<T> {
                $type { hook: Hook::new(&$default), inner: tokio::sync::$type::new_with(value) }
            }

            #[doc = concat!("See [`tokio::sync::", stringify!($type), "::const_new_with`].")]
            pub const fn const_new_with(value: T) -> $type<T> {
                $type { hook: Hook::new(&$default), inner: tokio::sync::$type::const_new_with(value) }
            }

            /// One without a value that is recorded by `instrument`, a `wait/synch/once/…`. Also in a `static`.
            ///
            /// # Panics
            /// If the instrument is of another kind; in a `static`, that is a compile error. A `const` cannot look at a `static`.
            pub const fn with_instrument(instrument: &'static Instrument) -> $type<T> {
                $type { hook: Hook::checked(instrument, InstrumentKind::Synch), inner: tokio::sync::$type::const_new() }
            }

            #[doc = concat!("See [`tokio::sync::", stringify!($type), "::initialized`].")]
            pub fn initialized(&self) -> bool {
                self.inner.initialized()
            }

            #[doc = concat!("See [`tokio::sync::", stringify!($type), "::get`].")]
            pub fn get(&self) -> Option<&T> {
                self.inner.get()
            }

            #[doc = concat!("See [`tokio::sync::", stringify!($type), "::into_inner`].")]
            pub fn into_inner(self) -> Option<T> {
                self.inner.into_inner()
            }
        }

        impl<T> Default for $type<T> {
            fn default() -> $type<T> {
                $type::new()
            }
        }

        impl<T> From<T> for $type<T> {
            fn from(value: T) -> $type<T> {
                $type::const_new_with(value)
            }
        }

        impl<T: fmt::Debug> fmt::Debug for $type<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.inner.fmt(f)
            }
        }

        /// Another one, recorded by the same instrument.
        impl<T: Clone> Clone for $type<T> {
            fn clone(&self) -> $type<T> {
                $type { hook: Hook::new(self.hook.instrument()), inner: self.inner.clone() }
            }
        }

        impl<T: PartialEq> PartialEq for $type<T> {
            fn eq(&self, other: &$type<T>) -> bool {
                self.inner == other.inner
            }
        }

        impl<T: Eq> Eq for $type<T> {}
    };
}

once!(OnceCell, ONCE_CELL);
once!(SetOnce, SET_ONCE);

impl<T> OnceCell<T> {
    /// See [`tokio::sync::OnceCell::get_mut`].
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.inner.get_mut()
    }

    /// See [`tokio::sync::OnceCell::set`].
    ///
    /// # Errors
    /// If there is a value, or somebody is making one.
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        self.inner.set(value)
    }

    /// See [`tokio::sync::OnceCell::get_or_init`]. What `f` does is within the wait.
    #[track_caller]
    pub fn get_or_init<F, Fut>(&self, f: F) -> impl Future<Output = &T>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = T>,
    {
        let caller = Location::caller();
        async move {
            match self.get() {
                Some(value) => value,
                None => pass(&self.hook, Operation::CallOnce, caller, self.inner.get_or_init(f)).await,
            }
        }
    }

    /// See [`tokio::sync::OnceCell::get_or_try_init`]. What `f` does is within the wait.
    ///
    /// # Errors
    /// That of `f`.
    #[track_caller]
    pub fn get_or_try_init<E, F, Fut>(&self, f: F) -> impl Future<Output = Result<&T, E>>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let caller = Location::caller();
        async move {
            match self.get() {
                Some(value) => Ok(value),
                None => pass(&self.hook, Operation::CallOnce, caller, self.inner.get_or_try_init(f)).await,
            }
        }
    }

    /// See [`tokio::sync::OnceCell::take`].
    pub fn take(&mut self) -> Option<T> {
        self.inner.take()
    }
}

impl<T> SetOnce<T> {
    /// See [`tokio::sync::SetOnce::set`].
    ///
    /// # Errors
    /// If there is a value.
    pub fn set(&self, value: T) -> Result<(), SetOnceError<T>> {
        self.inner.set(value)
    }

    /// See [`tokio::sync::SetOnce::wait`].
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = &T> {
        let caller = Location::caller();
        async move {
            match self.get() {
                Some(value) => value,
                None => pass(&self.hook, Operation::CallOnce, caller, self.inner.wait()).await,
            }
        }
    }
}
