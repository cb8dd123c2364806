//! The counter of each processor. This is the only list of `target_arch`.
//!
//! Every module has the same items; adding a processor is one file and one entry below.
//!
//! | item | meaning |
//! |---|---|
//! | `SOURCE` | what to call the counter; [`Source::None`] where there is none |
//! | `ALWAYS` | the architecture guarantees the counter: the hot path need not ask |
//! | `read()` | the counter, unordered |
//! | `read_ordered()` | the counter, after everything before it has finished |
//! | `probe()` | may it be used, and what does the hardware say of its frequency |
//! | `prefetch_for_write()` | asks for the cache line at an address and an offset; nothing where there is no such hint |
//!
//! Miri runs no instructions of our own, and an SGX enclave may trap them: both take `generic`.

use crate::Source;

#[cfg(all(target_arch = "x86_64", not(miri), not(target_env = "sgx")))]
#[path = "x86_64.rs"]
mod imp;

#[cfg(all(target_arch = "aarch64", not(miri)))]
#[path = "aarch64.rs"]
mod imp;

// riscv32 has `rdtime` in two halves, on few chips, and trapping on most: an external clock serves it better.
#[cfg(all(target_arch = "riscv64", not(miri)))]
#[path = "riscv.rs"]
mod imp;

#[cfg(not(any(
    all(target_arch = "x86_64", not(miri), not(target_env = "sgx")),
    all(target_arch = "aarch64", not(miri)),
    all(target_arch = "riscv64", not(miri)),
)))]
#[path = "generic.rs"]
mod imp;

// Under test everywhere: its arithmetic is the same on the host.
#[cfg(any(test, all(target_arch = "arm", target_os = "none", target_has_atomic = "ptr")))]
pub(crate) mod cortex_m;

pub(crate) use imp::{ALWAYS, SOURCE, probe, read, read_ordered};

/// Tells the processor that the cache line `OFFSET` bytes behind `place` is going to be written by this thread, and by no other: it fetches it
/// meanwhile. What is there need not be the caller's, nor memory at all. `OFFSET` is a multiple of 8, and at most 32760.
///
/// It is no timer; but this crate is where an instruction is chosen by the processor, and `perfschema-core`, which has no `unsafe`, wants
/// it for records that nobody has looked at for long. A hint: nothing is accessed, and where there is no such instruction nothing is done.
///
/// ```
/// perfschema_timer::prefetch_for_write::<64, _>(&[0_u64; 16]);
/// ```
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn prefetch_for_write<const OFFSET: usize, T>(place: &T) {
    const { assert!(OFFSET.is_multiple_of(8) && OFFSET <= 32_760, "an offset that every instruction has room for") };
    // An offset of the instruction's, not of the pointer: nothing need be added.
    imp::prefetch_for_write::<OFFSET>(core::ptr::from_ref(place).addr());
}

/// The same of the element of a slice that is `count` behind `place`, whether it is there or not.
///
/// ```
/// perfschema_timer::prefetch_ahead(&[0_u64; 16], 3);
/// ```
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn prefetch_ahead<T>(place: &T, count: usize) {
    imp::prefetch_for_write::<0>(core::ptr::from_ref(place).wrapping_add(count).addr());
}

/// Whether the processor has a counter at all.
pub(crate) const PRESENT: bool = !matches!(SOURCE, Source::None);

/// What the hardware says of its counter. A frequency of 0 is one that it does not say.
// Each target constructs some of the variants; the tests, all.
#[allow(dead_code, reason = "each architecture constructs its own variants")]
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Probe {
    /// Constant rate, readable from here.
    Steady {
        /// Ticks a second, 0 if unknown.
        stated_hz: u64,
    },
    /// Possibly of varying rate, or trapping: to be used where there is no other clock.
    LastResort {
        /// Ticks a second, 0 if unknown.
        stated_hz: u64,
    },
    /// No counter, or one that this process may not read.
    Absent,
}
