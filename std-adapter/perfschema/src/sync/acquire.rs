//! How a lock is taken whose waits are recorded. Nearly always it is free: then the thread's actor is looked for once, and the wait stays in
//! registers.

use super::{LockResult, TryLockError, TryLockResult, backoff};
use crate::hook::{Hook, Mark, Waiting, marked};
use crate::thread::Entered;
use perfschema_core::{Operation, Switches};
use std::mem::ManuallyDrop;
use std::panic::Location;

/// Whether std's locks are but words. Elsewhere they are made at their first use, which allocates, and that may be recorded, too.
const LOCKS_ARE_WORDS: bool = cfg!(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_os = "openbsd",
    target_os = "dragonfly",
    windows
));

/// Takes a lock, `switches` having been found [`on`](Hook::on), and marks who has it.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn lock<G, M: Mark>(
    hook: &Hook,
    switches: Switches,
    operation: Operation,
    location: &'static Location<'static>,
    try_lock: impl Fn() -> TryLockResult<G>,
    lock: impl FnOnce() -> LockResult<G>,
) -> (LockResult<G>, M) {
    if !LOCKS_ARE_WORDS {
        let waiting = hook.begin_on(switches, operation, location);
        let (result, spins) = backoff::lock(try_lock, lock);
        return (result, marked(waiting.map(|waiting| waiting.spun(spins))));
    }
    let switches = hook.registered(switches);
    let Some(entered) = Entered::new() else { return (lock(), M::default()) };
    let wait = hook.begin_by(entered.actor, switches, operation, location);
    let Some(result) = backoff::had(try_lock()) else {
        entered.leave();
        return contended(hook.waiting(wait), try_lock, lock);
    };
    // Recording does not panic: no code, and no place in memory, for a guard that is dropped if it did.
    let result = ManuallyDrop::new(result);
    let mark = M::by(hook, entered.actor, wait);
    entered.leave();
    (ManuallyDrop::into_inner(result), mark)
}

/// Tries to take a lock, and marks who has it if it was free.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn try_lock<G, M: Mark>(
    hook: &Hook,
    switches: Switches,
    operation: Operation,
    location: &'static Location<'static>,
    try_lock: impl FnOnce() -> TryLockResult<G>,
) -> (TryLockResult<G>, M) {
    let waiting = hook.begin_on(switches, operation, location);
    let tried = try_lock();
    // Otherwise it ends in vain.
    let had = waiting.filter(|_| !matches!(tried, Err(TryLockError::WouldBlock)));
    (tried, marked(had))
}

#[cold]
fn contended<G, M: Mark>(
    waiting: Waiting<'_>,
    try_lock: impl Fn() -> TryLockResult<G>,
    lock: impl FnOnce() -> LockResult<G>,
) -> (LockResult<G>, M) {
    let (result, spins) = backoff::wait(try_lock, lock);
    (result, waiting.spun(spins).marked())
}
