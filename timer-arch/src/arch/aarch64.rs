//! aarch64: the virtual count of the generic timer.

use super::Probe;
use crate::Source;
use core::arch::asm;

pub(crate) const SOURCE: Source = Source::Cntvct;

/// The architecture guarantees a counter of constant rate, and every system lets programs read it.
pub(crate) const ALWAYS: bool = true;

/// Unordered. Without `nomem`, so that the compiler keeps it on its side of memory accesses, as it does
/// with `_rdtsc`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn read() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register; no memory, no stack, no flags.
    unsafe { asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nostack, preserves_flags)) };
    ticks
}

/// `isb` waits for all earlier instructions, and holds back the reading until then.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn read_ordered() -> u64 {
    let ticks: u64;
    // SAFETY: a barrier and the reading of a register; no memory, no stack, no flags.
    unsafe { asm!("isb", "mrs {}, cntvct_el0", out(reg) ticks, options(nostack, preserves_flags)) };
    ticks
}

#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn prefetch_for_write<const OFFSET: usize>(address: usize) {
    // SAFETY: a hint: it changes nothing, and faults at no address.
    unsafe { asm!("prfm pstl1keep, [{}, {}]", in(reg) address, const OFFSET, options(nomem, nostack, preserves_flags)) };
}

/// The firmware states the frequency in `cntfrq_el0`; 0 or nonsense if it is careless, which calibration
/// notices where it has a clock to compare with.
#[cold]
pub(crate) fn probe() -> Probe {
    let stated_hz: u64;
    // SAFETY: reads a register; no memory, no stack, no flags.
    unsafe { asm!("mrs {}, cntfrq_el0", out(reg) stated_hz, options(nomem, nostack, preserves_flags)) };
    // 32 bits in the architecture; the upper ones are reserved.
    Probe::Steady { stated_hz: stated_hz & 0xFFFF_FFFF }
}
