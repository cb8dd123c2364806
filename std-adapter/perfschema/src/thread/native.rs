//! The thread's own: a thread-local of the compiler's.

use super::Thread;
use std::ptr;

thread_local! {
    static THREAD: Thread = const { Thread::new() };
}

// The thread-local has no destructor.
const _: () = assert!(!std::mem::needs_drop::<Thread>());

/// That of the calling thread: always one here.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn own() -> Option<&'static Thread> {
    let thread = THREAD.with(ptr::from_ref);
    // SAFETY: a thread-local without a destructor is there as long as its thread. This stays in it: a `Thread` is not `Sync`.
    Some(unsafe { &*thread })
}

/// Shows that of the calling thread.
pub(super) fn with<R>(show: impl FnOnce(&Thread) -> R) -> Option<R> {
    Some(THREAD.with(show))
}

/// Nothing: it is there.
pub(super) fn started() {}

/// Ends that of the calling thread.
pub(super) fn end(end: impl FnOnce(&Thread)) {
    THREAD.with(end);
}
