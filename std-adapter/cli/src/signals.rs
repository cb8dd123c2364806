//! Signals, but for those that whoever started the program has had ignored: as `nohup` has SIGHUP, and a shell SIGINT and SIGQUIT of what it
//! starts in the background. To listen to one would end that.

/// Of these, those that were not ignored when the program was started.
pub(crate) fn not_ignored<const N: usize>(signals: [i32; N]) -> impl Iterator<Item = i32> {
    // As `proc(5)` has it. Elsewhere nothing is known.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = ignored(&status);
    signals.into_iter().filter(move |signal| ignored >> (signal - 1) & 1 == 0)
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
