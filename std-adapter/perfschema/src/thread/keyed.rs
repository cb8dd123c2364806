//! The thread's own: memory by a key of the system's.

use super::Thread;
use crate::process::process;
use perfschema_core::Lost;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use windows_sys::Win32::Foundation::{GetLastError, SetLastError};
use windows_sys::Win32::System::Threading::{TLS_OUT_OF_INDEXES, TlsAlloc, TlsGetValue, TlsSetValue};

/// `TLS_OUT_OF_INDEXES` is none: nobody records.
static KEY: AtomicU32 = AtomicU32::new(TLS_OUT_OF_INDEXES);

/// What a thread has that has ended: it gets nothing any more, because nobody would give it back.
const ENDED: *mut Thread = ptr::without_provenance_mut(1);

/// Makes the key.
pub(super) fn started() {
    // SAFETY: the call takes nothing.
    KEY.store(unsafe { TlsAlloc() }, Ordering::Relaxed);
}

/// That of the calling thread; none before anybody records, without memory for it, and where the thread has ended.
#[inline]
pub(super) fn own() -> Option<&'static Thread> {
    // Relaxed: whoever found the process started sees it.
    let key = KEY.load(Ordering::Relaxed);
    if key == TLS_OUT_OF_INDEXES {
        return None;
    }
    let thread = value(key);
    if thread.is_null() {
        return first(key);
    }
    // SAFETY: it is one of first(), there until the thread ends, and this stays in the thread: a `Thread` is not `Sync`.
    (thread != ENDED).then(|| unsafe { &*thread })
}

/// The thread's value; the caller's last error stays what it was.
fn value(key: u32) -> *mut Thread {
    // SAFETY: the key was made and is never freed.
    unsafe {
        let error = GetLastError();
        let value = TlsGetValue(key);
        SetLastError(error);
        value.cast()
    }
}

/// Gives the thread its own. Not from the program's allocator, which may be one that records.
#[cold]
#[inline(never)]
fn first(key: u32) -> Option<&'static Thread> {
    // SAFETY: its size is not zero.
    let memory = unsafe { System.alloc(Layout::new::<Thread>()) }.cast::<Thread>();
    if !memory.is_null() {
        // SAFETY: the memory is new, and as large as is needed; the key was made and is never freed.
        unsafe {
            memory.write(Thread::new());
            if TlsSetValue(key, memory.cast::<c_void>()) != 0 {
                return Some(&*memory);
            }
        }
        free(memory);
    }
    process()?.region().count_lost(Lost::ThreadInstances);
    None
}

fn free(thread: *mut Thread) {
    const { assert!(!std::mem::needs_drop::<Thread>()) };
    // SAFETY: it is one of first(), and nobody finds it any more.
    unsafe { System.dealloc(thread.cast(), Layout::new::<Thread>()) };
}

/// Shows that of the calling thread.
pub(super) fn with<R>(show: impl FnOnce(&Thread) -> R) -> Option<R> {
    own().map(show)
}

/// Ends that of the calling thread, if it has one; it gets none any more.
pub(super) fn end(end: impl FnOnce(&Thread)) {
    let key = KEY.load(Ordering::Relaxed);
    if key == TLS_OUT_OF_INDEXES {
        return;
    }
    let thread = value(key);
    let has_own = !thread.is_null() && thread != ENDED;
    if has_own {
        // SAFETY: it is one of first(), and only this thread uses it.
        end(unsafe { &*thread });
    }
    // SAFETY: the key was made and is never freed.
    if unsafe { TlsSetValue(key, ENDED.cast()) } != 0 && has_own {
        free(thread);
    }
}
