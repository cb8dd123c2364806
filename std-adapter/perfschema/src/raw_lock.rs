//! What the raw locks of both of lock_api's versions have in common.

use crate::hook::{self, Hook, Mark};
use crate::instrument::Instrument;
use perfschema_core::{Operation, Switches};
use std::panic::Location;

/// A class of locks: lock_api makes locks by their type alone, so the instrument must be part of it.
pub trait LockClass: 'static {
    /// The instrument: `wait/synch/mutex/…`, `wait/synch/rwlock/…` or `wait/synch/cond/…`, as the lock is, or `wait/synch/…` of a family of its own. Nothing
    /// panics where it is another, because lock_api makes locks as constants, and a `const` cannot look at a `static`: then the lock has its row in the
    /// table of what the instrument is of, and if that is nothing of `wait/synch`, nothing is recorded.
    const INSTRUMENT: &'static Instrument;
}

/// What `lock` locks, and the mark of who has it.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn marked<G, M: Mark>(
    hook: &Hook,
    operation: Operation,
    location: &'static Location<'static>,
    lock: impl Fn() -> G,
) -> (M, G) {
    match hook.on() {
        None => (M::default(), lock()),
        Some(switches) => recorded(hook, switches, operation, location, lock),
    }
}

/// The same where it is recorded: apart, so that the caller's code stays small.
#[inline(never)]
fn recorded<G, M: Mark>(
    hook: &Hook,
    switches: Switches,
    operation: Operation,
    location: &'static Location<'static>,
    lock: impl Fn() -> G,
) -> (M, G) {
    let waiting = hook.begin_on(switches, operation, location);
    let inner = lock();
    (hook::marked(waiting), inner)
}

macro_rules! lock_within {
    ($($raw:ident<$first:ident $(, $more:ident)*>)*) => {$(
        impl<R, $first $(, $more)*> $raw<R, $first $(, $more)*> {
            /// The one within, for what lock_api has no trait for. What is done by way of it is not recorded.
            pub const fn get_ref(&self) -> &R {
                &self.inner
            }
        }

        impl<R, $first $(, $more)*> std::fmt::Debug for $raw<R, $first $(, $more)*> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($raw)).field("hook", &self.hook).finish_non_exhaustive()
            }
        }
    )*};
}
pub(crate) use lock_within;
