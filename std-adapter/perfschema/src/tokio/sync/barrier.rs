//! `Barrier`

use super::BarrierWaitResult;
use super::wait::pass;
use crate::hook::Hook;
use crate::instrument::Instrument;
use perfschema_core::{InstrumentKind, Operation};
use std::fmt;
use std::panic::Location;

static DEFAULT: Instrument = Instrument::new("wait/synch/barrier/tokio/Barrier");

/// [`tokio::sync::Barrier`], with its waits recorded.
pub struct Barrier {
    hook: Hook,
    inner: tokio::sync::Barrier,
}

impl Barrier {
    /// See [`tokio::sync::Barrier::new`].
    #[track_caller]
    pub fn new(n: usize) -> Barrier {
        Barrier { hook: Hook::new(&DEFAULT), inner: tokio::sync::Barrier::new(n) }
    }

    /// A barrier that is recorded by `instrument`, a `wait/synch/barrier/…`.
    ///
    /// # Panics
    /// If the instrument is of another kind.
    #[track_caller]
    pub fn with_instrument(instrument: &'static Instrument, n: usize) -> Barrier {
        Barrier { hook: Hook::checked(instrument, InstrumentKind::Synch), inner: tokio::sync::Barrier::new(n) }
    }

    /// See [`tokio::sync::Barrier::wait`].
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = BarrierWaitResult> {
        pass(&self.hook, Operation::Barrier, Location::caller(), self.inner.wait())
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
