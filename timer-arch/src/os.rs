//! `clock_gettime`: the wall clock of a Unix. Elsewhere there is none and [`PRESENT`] says so. And what Linux knows of the machine.

use core::ffi::CStr;

pub(crate) use imp::{PRESENT, coarse_ns, coarse_resolution_ns, monotonic};

/// A number out of Linux's device tree, at `path`: one cell of 32 bits or two, big-endian. `None` where there is no device tree, and
/// on x86 and servers with ACPI there is none.
#[cold]
#[allow(dead_code, reason = "for the architectures whose counter's frequency is in no register; the tests, everywhere")]
pub(crate) fn device_tree_number(path: &CStr) -> Option<u64> {
    // One more byte than a number has: a longer property is something else.
    let mut bytes = [0; 9];
    match *imp::read_file(path, &mut bytes)? {
        [a, b, c, d] => Some(u32::from_be_bytes([a, b, c, d]).into()),
        [a, b, c, d, e, f, g, h] => Some(u64::from_be_bytes([a, b, c, d, e, f, g, h])),
        _ => None,
    }
}

/// A reading of `CLOCK_MONOTONIC`.
#[derive(Copy, Clone, Default, Debug)]
pub(crate) struct Moment {
    pub(crate) s: u64,
    pub(crate) ns: u64,
}

impl Moment {
    /// In units of `hz`, which divides 10⁹. Divides nanoseconds only: by a constant, after inlining.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn in_units_of(self, hz: u64) -> u64 {
        self.s.wrapping_mul(hz).wrapping_add(self.ns / (1_000_000_000 / hz))
    }
}

#[cfg(unix)]
mod imp {
    use super::Moment;
    use core::ffi::CStr;
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

    #[cfg_attr(not(debug_assertions), inline(always))]
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
    use core::ffi::CStr;

    pub(crate) const PRESENT: bool = false;

    pub(crate) fn read_file<'b>(_path: &CStr, _buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        None
    }

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

#[cfg(all(test, unix))]
mod tests {
    use super::device_tree_number;
    use std::ffi::CString;
    use std::{env, format, fs, process};

    /// The kernel gives a property as a file with its bytes.
    #[test]
    #[cfg_attr(miri, ignore = "needs files")]
    fn a_device_tree_number_is_one_cell_or_two() {
        let file = env::temp_dir().join(format!("perfschema-timer-{}-timebase-frequency", process::id()));
        let path = CString::new(file.to_str().expect("UTF-8")).expect("no zero byte");
        for (bytes, expected) in [
            (&[0x00, 0x98, 0x96, 0x80][..], Some(10_000_000)),
            (&[0, 0, 0, 0, 0x3b, 0x9a, 0xca, 0x00][..], Some(1_000_000_000)),
            (&[][..], None),
            (&[0x98, 0x96, 0x80][..], None),
            (&[0x01; 9][..], None),
            (&[0x01; 4_096][..], None),
        ] {
            fs::write(&file, bytes).expect("a file of our own");
            assert_eq!(device_tree_number(&path), expected, "{} bytes", bytes.len());
        }
        fs::remove_file(&file).expect("a file of our own");
        assert_eq!(device_tree_number(&path), None);
    }
}
