//! A counting allocator: an event allocates nothing, and this is how one knows.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

pub(crate) struct Counting;

thread_local! {
    // By thread: what the background threads of some peers allocate is not the measured path's.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// Allocations of the calling thread so far.
pub(crate) fn count() -> u64 {
    COUNT.get()
}

// SAFETY: every call goes to the system's allocator unchanged. The count neither allocates nor has a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's promises are those that System asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}
