//! `clock_gettime`

use super::Moment;
use crate::Source;
use core::ffi::CStr;
use libc::clockid_t;

pub(crate) const PRESENT: bool = true;

pub(crate) const SOURCE: Source = Source::MonotonicClock;

/// Linux keeps the time of its last timer interrupt; reading that is five times as fast.
#[cfg(any(target_os = "linux", target_os = "android"))]
const COARSE: Option<clockid_t> = Some(libc::CLOCK_MONOTONIC_COARSE);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const COARSE: Option<clockid_t> = None;

/// The time since some fixed moment; zero if the system has no such clock, which POSIX allows.
#[inline]
pub(crate) fn monotonic() -> Moment {
    read(libc::CLOCK_MONOTONIC)
}

/// The time of the last timer interrupt.
#[inline]
pub(crate) fn coarse_ns() -> u64 {
    COARSE.map_or(0, |clock| read(clock).in_units_of(1_000_000_000))
}

/// The time between two timer interrupts, 1 ns to 1 s; `None` where there is no coarse clock.
#[cold]
pub(crate) fn coarse_resolution_ns() -> Option<u32> {
    if cfg!(miri) {
        return None; // Miri has the clock but no clock_getres.
    }
    let mut resolution = zero();
    // SAFETY: the pointer is to a timespec of our own; an unknown clock is an error, not a fault.
    if unsafe { libc::clock_getres(COARSE?, &mut resolution) } != 0 {
        return None;
    }
    let ns = u32::try_from(resolution.tv_nsec).ok()?;
    (resolution.tv_sec == 0 && ns > 0).then_some(ns)
}

/// The start of a file, as much as one `read` gives; the kernel's own files are read whole by it.
pub(crate) fn read_file<'b>(path: &CStr, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    // SAFETY: the path ends with a zero byte and is only read; these flags need no third argument.
    let file = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if file < 0 {
        return None;
    }
    // SAFETY: the file is open, and the buffer is ours and as long as we say.
    let len = unsafe { libc::read(file, buffer.as_mut_ptr().cast(), buffer.len()) };
    // SAFETY: we opened it, and nobody else knows its number.
    unsafe { libc::close(file) };
    buffer.get(..usize::try_from(len).ok()?)
}

/// Not by its fields: where a processor of 32 bits has times of 64, libc adds one that only it can name.
#[cfg_attr(not(debug_assertions), inline(always))]
const fn zero() -> libc::timespec {
    // SAFETY: integers, all of which may be zero.
    unsafe { core::mem::zeroed() }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn read(clock: clockid_t) -> Moment {
    let mut now = zero();
    // SAFETY: the pointer is to a timespec of our own. A failure leaves it zero, which is our answer then.
    unsafe { libc::clock_gettime(clock, &mut now) };
    // Neither part is ever negative in a monotonic clock.
    Moment { s: now.tv_sec as u64, ns: now.tv_nsec as u64 }
}
