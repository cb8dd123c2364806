//! riscv64: the real-time counter, `rdtime`.
//!
//! Never `rdcycle`: it follows the clock frequency, and since Linux 6.6 a program that reads it is killed.

use super::Probe;
use crate::{Source, os};
use core::arch::asm;

pub(crate) const SOURCE: Source = Source::Rdtime;

/// Linux guarantees `rdtime`, by emulation if need be. In machine mode of bare metal it traps on some
/// chips: there, an external clock comes first.
pub(crate) const ALWAYS: bool = cfg!(target_os = "linux");

/// Unordered. Without `nomem`, so that the compiler keeps it on its side of memory accesses.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn read() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register; no memory, no stack, no flags.
    unsafe { asm!("rdtime {}", out(reg) ticks, options(nostack, preserves_flags)) };
    ticks
}

/// `fence` orders memory accesses before the reading, the most that the base architecture offers.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn read_ordered() -> u64 {
    let ticks: u64;
    // SAFETY: a barrier and the reading of a register; no stack, no flags.
    unsafe { asm!("fence iorw, iorw", "rdtime {}", out(reg) ticks, options(nostack, preserves_flags)) };
    ticks
}

/// The base architecture has no such hint.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn prefetch_for_write<const OFFSET: usize>(_: usize) {}

/// No register states the frequency. Linux takes it from the device tree and counts its own clock by it, and so can we: `rdtime` is
/// often of 10 MHz, which in 5 ms is measured to some 50 parts in 10⁶ only. Calibration believes it if the measurement bears it
/// out. Where ACPI has the number instead, or there is no Linux, it stays unknown.
#[cold]
pub(crate) fn probe() -> Probe {
    if ALWAYS {
        let stated_hz = os::device_tree_number(c"/proc/device-tree/cpus/timebase-frequency").unwrap_or(0);
        Probe::Steady { stated_hz }
    } else {
        Probe::LastResort { stated_hz: 0 }
    }
}
