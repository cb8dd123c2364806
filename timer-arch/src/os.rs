//! The wall clock of a Unix, or of Windows. Elsewhere there is none and [`PRESENT`] says so. And what Linux knows of the machine.

use core::ffi::CStr;

#[cfg_attr(unix, path = "os/unix.rs")]
#[cfg_attr(windows, path = "os/windows.rs")]
#[cfg_attr(not(any(unix, windows)), path = "os/none.rs")]
mod imp;

pub(crate) use imp::{PRESENT, SOURCE, coarse_ns, coarse_resolution_ns, monotonic};

/// What only a Unix has.
#[cfg(not(unix))]
mod lacking {
    use core::ffi::CStr;

    pub(crate) fn coarse_ns() -> u64 {
        0
    }

    pub(crate) fn coarse_resolution_ns() -> Option<u32> {
        None
    }

    pub(crate) fn read_file<'b>(_path: &CStr, _buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        None
    }
}

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

/// A reading of it.
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
