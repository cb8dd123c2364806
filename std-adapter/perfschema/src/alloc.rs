//! Memory, counted: an allocator for `#[global_allocator]`, and counters for what a program keeps in pools and caches of its own.
//!
//! ```
//! use perfschema::{Setting, alloc::Allocator, tables};
//!
//! #[global_allocator]
//! static ALLOCATOR: Allocator = perfschema::allocator!("memory/app/heap");
//!
//! # #[cfg(feature = "instrument")] {
//! let process = perfschema::builder().everything(true).instrument("memory/%", Setting::COUNTED).start()?;
//! let kept = vec![0_u8; 1_000_000];
//! process.region().scan(&tables::MemorySummaryGlobalByEventName, |row| {
//!     assert!(row.event_name == "memory/app/heap" && row.sum_number_of_bytes_alloc >= 1_000_000);
//! });
//! # drop(kept);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Counted are blocks and bytes as the program asks for them, not what the allocator takes from the system. Memory is never timed, and no
//! row of the events tables.
//!
//! **Off by default**, also after [`start`](crate::start): `performance-schema-instrument='memory/%=ON'`, or UPDATE of `setup_instruments`
//! while the program runs. Counting begins then: memory that was allocated before and is freed later is counted as freed only, so that
//! what is in use can be less than nothing. A forked child begins at nothing, too.
//!
//! Off, an allocation costs two loads and a branch more. On, a thread counts in words of its own with plain loads and stores; there is no
//! lock, no call of the system and no allocation on the way, so it never comes back to itself. A thread takes its row in `threads` at the
//! first allocation that is counted. What finds no room there counts in sums that are shared.

#[cfg(feature = "instrument")]
use crate::{instrument::Instrument, thread::with_actor};
#[cfg(feature = "instrument")]
use perfschema_core::{InstrumentKind, MemoryChange, Switches};
use std::alloc::{GlobalAlloc, Layout, System};

/// Memory of one kind, counted where the program says so; made by [`memory!`](crate::memory!), also in a `static`.
///
/// ```
/// use perfschema::alloc::Memory;
/// static CACHE: Memory = perfschema::memory!("memory/app/cache");
/// // A page is taken into the cache, grows, and is thrown out:
/// CACHE.allocated(4096);
/// CACHE.resized(4096, 8192);
/// CACHE.freed(8192);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    #[cfg(feature = "instrument")]
    instrument: &'static Instrument,
}

#[cfg(feature = "instrument")]
impl Memory {
    /// Memory that is counted by `instrument`, a `memory/…`. In a `static` or at run time: a `const` cannot look at a `static`, and has
    /// [`memory!`](crate::memory!).
    ///
    /// # Panics
    /// If the instrument is of another kind; in a `static`, that is a compile error.
    ///
    /// ```compile_fail
    /// use perfschema::{Instrument, alloc::Memory};
    /// static INSTRUMENT: Instrument = Instrument::new("wait/io/file/app/cache");
    /// static CACHE: Memory = Memory::with_instrument(&INSTRUMENT);
    /// ```
    pub const fn with_instrument(instrument: &'static Instrument) -> Memory {
        crate::__check_kind(instrument.kind(), InstrumentKind::Memory);
        Memory { instrument }
    }

    // For memory!, which has looked at the name.
    #[doc(hidden)]
    pub const fn __of(instrument: &'static Instrument) -> Memory {
        Memory { instrument }
    }

    /// A block of so many bytes came.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn allocated(&self, bytes: usize) {
        if let Some(switches) = self.instrument.on() {
            allocated(self.instrument, switches, bytes as u64);
        }
    }

    /// A block of so many bytes went.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn freed(&self, bytes: usize) {
        if let Some(switches) = self.instrument.on() {
            freed(self.instrument, switches, bytes as u64);
        }
    }

    /// A block got another size: one went and one came, as MySQL counts it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn resized(&self, from_bytes: usize, to_bytes: usize) {
        if let Some(switches) = self.instrument.on() {
            count(self.instrument, switches, MemoryChange::resized(from_bytes as u64, to_bytes as u64));
        }
    }
}

// Out of line, each: so an allocator that is off stays small, and each has what happens compiled in.
#[cfg(feature = "instrument")]
#[inline(never)]
fn allocated(instrument: &'static Instrument, switches: Switches, bytes: u64) {
    with_actor(|actor| actor.count_memory(switches, instrument.registered(), MemoryChange::allocated(bytes)));
}

#[cfg(feature = "instrument")]
#[inline(never)]
fn freed(instrument: &'static Instrument, switches: Switches, bytes: u64) {
    with_actor(|actor| actor.count_memory(switches, instrument.registered(), MemoryChange::freed(bytes)));
}

#[cfg(feature = "instrument")]
#[inline(never)]
fn count(instrument: &'static Instrument, switches: Switches, change: MemoryChange) {
    with_actor(|actor| actor.count_memory(switches, instrument.registered(), change));
}

#[cfg(not(feature = "instrument"))]
impl Memory {
    #[doc(hidden)]
    pub const fn new() -> Memory {
        Memory {}
    }

    /// A block of so many bytes came.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn allocated(&self, _bytes: usize) {}

    /// A block of so many bytes went.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn freed(&self, _bytes: usize) {}

    /// A block got another size: one went and one came, as MySQL counts it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn resized(&self, _from_bytes: usize, _to_bytes: usize) {}
}

/// An allocator that counts what passes through it to another one, std's unless told otherwise; made by
/// [`allocator!`](crate::allocator!).
#[derive(Clone, Copy, Debug)]
pub struct Allocator<A = System> {
    memory: Memory,
    inner: A,
}

impl<A> Allocator<A> {
    /// Counts what `inner` gives and takes as this memory.
    ///
    /// ```
    /// use perfschema::alloc::Allocator;
    /// use std::alloc::System;
    ///
    /// static OTHER: Allocator<System> = Allocator::new(perfschema::memory!("memory/app/other"), System);
    /// # let _ = &OTHER;
    /// ```
    pub const fn new(memory: Memory, inner: A) -> Allocator<A> {
        Allocator { memory, inner }
    }
}

// SAFETY: every call goes to the inner allocator unchanged, and its result comes back unchanged. What is done besides neither allocates nor
// unwinds, and touches no memory that this gave.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Allocator<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the promises that this function asks for; the inner one asks for the same.
        let memory = unsafe { self.inner.alloc(layout) };
        if !memory.is_null() {
            self.memory.allocated(layout.size());
        }
        memory
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in alloc().
        let memory = unsafe { self.inner.alloc_zeroed(layout) };
        if !memory.is_null() {
            self.memory.allocated(layout.size());
        }
        memory
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        self.memory.freed(layout.size());
        // SAFETY: as in alloc(); the memory is one that the inner allocator gave, because nothing else is given here.
        unsafe { self.inner.dealloc(memory, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as in dealloc().
        let new = unsafe { self.inner.realloc(memory, layout, new_size) };
        // If it failed, the old block is still there.
        if !new.is_null() {
            self.memory.resized(layout.size(), new_size);
        }
        new
    }
}
