//! `clock_gettime`: the wall clock of a Unix. Elsewhere there is none and [`PRESENT`] says so.

pub(crate) use imp::{PRESENT, coarse_ns, coarse_resolution_ns, monotonic};

/// A reading of `CLOCK_MONOTONIC`.
#[derive(Copy, Clone, Default, Debug)]
pub(crate) struct Moment {
    pub(crate) s: u64,
    pub(crate) ns: u64,
}

impl Moment {
    /// In units of `hz`, which divides 10⁹. Divides nanoseconds only: by a constant, after inlining.
    #[inline(always)]
    pub(crate) const fn in_units_of(self, hz: u64) -> u64 {
        self.s.wrapping_mul(hz).wrapping_add(self.ns / (1_000_000_000 / hz))
    }
}

#[cfg(unix)]
mod imp {
    use super::Moment;
    use libc::clockid_t;

    pub(crate) const PRESENT: bool = true;

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
        let mut resolution = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is to a timespec of our own; an unknown clock is an error, not a fault.
        if unsafe { libc::clock_getres(COARSE?, &mut resolution) } != 0 {
            return None;
        }
        let ns = u32::try_from(resolution.tv_nsec).ok()?;
        (resolution.tv_sec == 0 && ns > 0).then_some(ns)
    }

    #[inline(always)]
    fn read(clock: clockid_t) -> Moment {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is to a timespec of our own. A failure leaves it zero, which is our answer then.
        unsafe { libc::clock_gettime(clock, &mut now) };
        // Neither part is ever negative in a monotonic clock.
        Moment { s: now.tv_sec as u64, ns: now.tv_nsec as u64 }
    }
}

#[cfg(not(unix))]
mod imp {
    use super::Moment;

    pub(crate) const PRESENT: bool = false;

    pub(crate) fn monotonic() -> Moment {
        Moment::default()
    }

    pub(crate) fn coarse_ns() -> u64 {
        0
    }

    pub(crate) fn coarse_resolution_ns() -> Option<u32> {
        None
    }
}
