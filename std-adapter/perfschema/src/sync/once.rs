//! `Once`

use super::OnceState;
use crate::hook::{Hook, Waiting, passed};
use crate::instrument::Instrument;
use perfschema_core::{InstrumentKind, Operation};
use std::fmt;
use std::panic::Location;

static DEFAULT: Instrument = Instrument::new("wait/synch/once/std/Once");

/// [`std::sync::Once`], with the work and the waits for it recorded; once it is done, nothing is.
///
/// ```
/// use perfschema::sync::Once;
/// static START: Once = Once::new();
/// START.call_once(|| println!("only once"));
/// assert!(START.is_completed());
/// ```
pub struct Once {
    hook: Hook,
    inner: std::sync::Once,
}

/// See [`std::sync::ONCE_INIT`].
#[deprecated(note = "the `Once::new()` function is now preferred, as std's")]
#[expect(clippy::declare_interior_mutable_const, reason = "as std's")]
pub const ONCE_INIT: Once = Once::new();

impl Once {
    /// See [`std::sync::Once::new`].
    #[expect(clippy::new_without_default, reason = "std's has none")]
    #[must_use]
    pub const fn new() -> Once {
        Once::__of(&DEFAULT)
    }

    /// A `Once` that is recorded by `instrument`, a `wait/synch/once/…`.
    ///
    /// # Panics
    /// If the instrument is of another kind; in a `static`, that is a compile error. A `const` cannot look at a `static`, and has [`once!`](crate::once!).
    pub const fn with_instrument(instrument: &'static Instrument) -> Once {
        crate::__check_kind(instrument.kind(), InstrumentKind::Synch);
        Once::__of(instrument)
    }

    // For once!, which has looked at the name.
    #[doc(hidden)]
    pub const fn __of(instrument: &'static Instrument) -> Once {
        Once { hook: Hook::new(instrument), inner: std::sync::Once::new() }
    }

    /// See [`std::sync::Once::call_once`].
    ///
    /// # Panics
    /// If an earlier closure panicked.
    #[inline]
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, work: F) {
        if !self.inner.is_completed() {
            let waiting = self.begin(Location::caller());
            self.inner.call_once(work);
            passed(waiting);
        }
    }

    /// See [`std::sync::Once::call_once_force`].
    #[inline]
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, work: F) {
        if !self.inner.is_completed() {
            let waiting = self.begin(Location::caller());
            self.inner.call_once_force(work);
            passed(waiting);
        }
    }

    /// See [`std::sync::Once::wait`].
    ///
    /// # Panics
    /// If the closure panicked.
    #[track_caller]
    pub fn wait(&self) {
        if !self.inner.is_completed() {
            let waiting = self.begin(Location::caller());
            self.inner.wait();
            passed(waiting);
        }
    }

    /// See [`std::sync::Once::wait_force`].
    #[track_caller]
    pub fn wait_force(&self) {
        if !self.inner.is_completed() {
            let waiting = self.begin(Location::caller());
            self.inner.wait_force();
            passed(waiting);
        }
    }

    /// See [`std::sync::Once::is_completed`].
    #[inline]
    pub fn is_completed(&self) -> bool {
        self.inner.is_completed()
    }

    #[cold]
    fn begin(&self, location: &'static Location<'static>) -> Option<Waiting<'_>> {
        self.hook.begin(Operation::CallOnce, location)
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
