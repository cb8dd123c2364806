//! `QueryPerformanceCounter`

pub(crate) use super::lacking::{coarse_ns, coarse_resolution_ns, read_file};

use super::Moment;
use crate::Source;
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};

pub(crate) const PRESENT: bool = true;

pub(crate) const SOURCE: Source = Source::PerformanceCounter;

/// The time since some fixed moment, mostly in steps of 100 ns.
// Its coarse clocks have other beginnings than this one.
#[inline]
pub(crate) fn monotonic() -> Moment {
    let (mut ticks, mut hz) = (0, 0);
    // SAFETY: both are places to write to. The calls cannot fail since Windows XP; where they did, zero is our answer.
    unsafe {
        QueryPerformanceCounter(&mut ticks);
        // Fixed while the system runs, and as cheap as if it were kept here.
        QueryPerformanceFrequency(&mut hz);
    }
    let (ticks, hz) = (ticks as u64, (hz as u64).max(1));
    Moment { s: ticks / hz, ns: crate::external::scale(ticks % hz, hz, 1_000_000_000) }
}
