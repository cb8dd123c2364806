//! `Barrier`

use super::BarrierWaitResult;
use crate::hook::Hook;
use crate::instrument::Instrument;
use perfschema_core::{InstrumentKind, Operation};
use std::fmt;
use std::panic::Location;

static DEFAULT: Instrument = Instrument::new("wait/synch/barrier/std/Barrier");

/// [`std::sync::Barrier`], with its waits recorded.
pub struct Barrier {
    hook: Hook,
    inner: std::sync::Barrier,
}

impl Barrier {
    /// See [`std::sync::Barrier::new`].
    #[must_use]
    pub const fn new(n: usize) -> Barrier {
        Barrier { hook: Hook::new(&DEFAULT), inner: std::sync::Barrier::new(n) }
    }

    /// A barrier that is recorded by `instrument`, a `wait/synch/barrier/…`.
    ///
    /// # Panics
    /// If the instrument is of another kind; in a `static`, that is a compile error. A `const` cannot look at a `static`.
    pub const fn with_instrument(instrument: &'static Instrument, n: usize) -> Barrier {
        Barrier { hook: Hook::checked(instrument, InstrumentKind::Synch), inner: std::sync::Barrier::new(n) }
    }

    /// See [`std::sync::Barrier::wait`].
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        self.hook.pass(Operation::Barrier, Location::caller(), || self.inner.wait())
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
