//! Which signals end a command.

use signal_hook::consts::SIGHUP;

/// SIGHUP, unless whoever started the program has had it ignored, as `nohup` does: who listens to it ignores it no more.
pub(super) fn hang_up() -> impl Iterator<Item = i32> {
    // As `proc(5)` has it.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    (ignored(&status) >> (SIGHUP - 1) & 1 == 0).then_some(SIGHUP).into_iter()
}

/// A bit for each, the lowest that of signal 1.
fn ignored(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_a_mask_in_the_status() {
        assert_eq!(ignored("SigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\nSigCgt:\tffffffffffffffff\n"), 0x1001);
        assert_eq!([ignored(""), ignored("SigIgn:\tx")], [0, 0]);
    }
}
