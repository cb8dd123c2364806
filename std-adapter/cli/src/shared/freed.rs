//! What the process has freed goes back to the system.
//!
//! The C library keeps what is freed among blocks that are in use: what results of a gigabyte took that clients have long since been sent was the
//! process's until the last of them had gone.

use std::fs;

/// Bytes more than at the start from which on it is worth looking.
const WORTH: u64 = 64 << 20;

/// Gives it back, now and then.
#[derive(Debug)]
pub(super) struct Freed {
    at_start: u64,
}

impl Freed {
    pub(super) fn new() -> Freed {
        Freed { at_start: resident() }
    }

    pub(super) fn give_back(&self) {
        if resident() > self.at_start + WORTH {
            trim();
        }
    }
}

/// Bytes of memory that are the process's own, and not the program's that it looks at; 0 if nobody says.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes =
        status.lines().find_map(|line| line.strip_prefix("RssAnon:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// Other C libraries give back by themselves.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "a function of the C library, which no crate wraps")]
fn trim() {
    // SAFETY: the call takes a number, and only what is free goes.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(target_env = "gnu"))]
fn trim() {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small blocks, of which some stay in between.
    #[test]
    #[cfg(target_env = "gnu")]
    fn what_lies_between_blocks_goes_back() {
        let freed = Freed::new();
        let mut blocks: Vec<Option<Box<[u8]>>> = (0..100_000).map(|_| Some(vec![1; 2000].into())).collect();
        blocks.iter_mut().enumerate().filter(|(index, _)| index % 1000 != 0).for_each(|(_, block)| *block = None);
        let before = resident();
        freed.give_back();
        assert!(before > freed.at_start + 150_000_000 && resident() < before - 150_000_000, "{before} {}", resident());
        assert_eq!(blocks.iter().flatten().count(), 100);
    }
}
