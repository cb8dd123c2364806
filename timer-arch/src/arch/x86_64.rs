//! x86-64: the time-stamp counter.

use super::Probe;
use crate::Source;
use core::arch::asm;
use core::arch::x86_64::{__cpuid, _mm_lfence, _rdtsc};

pub(crate) const SOURCE: Source = Source::Tsc;

/// The TSC is always there, but on old processors its rate follows the clock frequency.
pub(crate) const ALWAYS: bool = false;

/// Unordered, as is the practice for intervals: 25 cycles instead of 48.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn read() -> u64 {
    // SAFETY: every x86-64 has the instruction; a system that forbids it breaks clock_gettime too, see probe().
    unsafe { _rdtsc() }
}

/// `lfence` waits for all earlier instructions, and holds back the reading until then. Not `rdtscp`: that
/// costs the same and lets later instructions start before it just as well.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn read_ordered() -> u64 {
    // SAFETY: SSE2, which has `lfence`, is part of x86-64.
    unsafe { _mm_lfence() };
    read()
}

/// Not `prefetchw`, which sometimes helps more, but which the first of these processors did not know. Not by `_mm_prefetch`, which is there only
/// where SSE's registers are used, and so not for a kernel.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn prefetch_for_write<const OFFSET: usize>(address: usize) {
    // SAFETY: a hint, which every x86-64 knows: it changes nothing, and faults at no address.
    unsafe { asm!("prefetcht0 [{} + {}]", in(reg) address, const OFFSET, options(nomem, nostack, preserves_flags)) };
}

/// Steady only if the processor says so: invariant TSC, CPUID 0x8000_0007 EDX bit 8.
///
/// A processor too old for that leaf, or a virtual machine that hides the bit, cannot say; its TSC may
/// stop or change its rate, and a kernel does not trust it either. There `clock_gettime` is the better
/// answer, and without an operating system the TSC is still better than nothing.
///
/// A process that forbids itself the TSC (`PR_SET_TSC`) is not looked for: the vDSO's `clock_gettime` reads the
/// TSC too, so there `Instant::now()` faults just the same.
#[cold]
pub(crate) fn probe() -> Probe {
    if is_invariant() { Probe::Steady { stated_hz: stated_hz() } } else { Probe::LastResort { stated_hz: stated_hz() } }
}

fn is_invariant() -> bool {
    __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0
}

/// The frequency by CPUID: leaf 0x15, crystal × numerator ÷ denominator; 0 on AMD and in most virtual
/// machines, and often without the crystal.
///
/// Used only where nothing can measure: a nominal frequency drifts against `CLOCK_MONOTONIC`, which is
/// steered, by tens of parts in 10⁶, and then TIMER_START of two timers would drift apart likewise.
fn stated_hz() -> u64 {
    if __cpuid(0).eax < 0x15 {
        return 0;
    }
    let leaf = __cpuid(0x15);
    match u64::from(leaf.ecx) * u64::from(leaf.ebx) {
        0 => 0,
        product => product.checked_div(u64::from(leaf.eax)).unwrap_or(0),
    }
}
