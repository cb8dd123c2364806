//! riscv64: the real-time counter, `rdtime`.
//!
//! Never `rdcycle`: it follows the clock frequency, and since Linux 6.6 a program that reads it is killed.

use super::Probe;
use crate::Source;
use core::arch::asm;

pub(crate) const SOURCE: Source = Source::Rdtime;

/// Linux guarantees `rdtime`, by emulation if need be. In machine mode of bare metal it traps on some
/// chips: there, an external clock comes first.
pub(crate) const ALWAYS: bool = cfg!(target_os = "linux");

/// Unordered. Without `nomem`, so that the compiler keeps it on its side of memory accesses.
#[inline(always)]
pub(crate) fn read() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register; no memory, no stack, no flags.
    unsafe { asm!("rdtime {}", out(reg) ticks, options(nostack, preserves_flags)) };
    ticks
}

/// `fence` orders memory accesses before the reading, the most that the base architecture offers.
#[inline(always)]
pub(crate) fn read_ordered() -> u64 {
    let ticks: u64;
    // SAFETY: a barrier and the reading of a register; no stack, no flags.
    unsafe { asm!("fence iorw, iorw", "rdtime {}", out(reg) ticks, options(nostack, preserves_flags)) };
    ticks
}

/// No register states the frequency; it is in the device tree, out of reach here.
#[cold]
pub(crate) fn probe() -> Probe {
    if ALWAYS { Probe::Steady { stated_hz: 0 } } else { Probe::LastResort { stated_hz: 0 } }
}
