//! Ticks to picoseconds: one multiplication that does not overflow, one shift.

/// Picoseconds in a second, the canonical unit of WL#2360.
const PS_PER_S: u64 = 1_000_000_000_000;

/// How many picoseconds a tick has, as a fixed-point number: `ps = ticks × multiplier / 2²⁴`.
///
/// WL#2360 rounds its multiplier to a whole number of picoseconds, which makes a 2.6 GHz counter drift
/// by 0.1 %. Here the error is at most 1 part in 10⁹ for any counter from 1 Hz to 30 GHz:
///
/// ```text
///     frequency    multiplier          bits left to round in
///        1 Hz      10¹² × 2²⁴          64: the largest that fits
///       30 GHz     33.3 × 2²⁴ = 5.6e8  29: half of the last one is 8.9e-10
/// ```
///
/// The shift is the same for all timers, so it is an immediate in the hot path instead of a load, and
/// 24 is the largest one at which 1 Hz still fits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Conversion {
    multiplier: u64,
    /// The most ticks of a wait that is converted the short way: what `multiplier` times them is has 64 bits. So it is always some 1.1 s.
    short: u64,
}

// 1 Hz fits at this shift and would not at the next.
const _: () = assert!((PS_PER_S as u128) << Conversion::SHIFT <= u64::MAX as u128);
const _: () = assert!((PS_PER_S as u128) << (Conversion::SHIFT + 1) > u64::MAX as u128);

impl Conversion {
    /// The number of fraction bits of the multiplier, for every timer.
    pub const SHIFT: u32 = 24;

    /// The conversion of a counter of `hz` ticks a second, rounded to nearest.
    ///
    /// A frequency of 0 converts every reading to 0: that timer does not exist.
    ///
    /// ```
    /// # use perfschema_timer::Conversion;
    /// let tsc = Conversion::from_frequency(2_600_000_000);
    /// assert_eq!(tsc.picoseconds(1), 384); // of 384.6
    /// assert_eq!(tsc.picoseconds(26), 10_000);
    /// assert_eq!(Conversion::from_frequency(1_000).picoseconds(7), 7_000_000_000);
    /// ```
    #[must_use]
    pub const fn from_frequency(hz: u64) -> Conversion {
        if hz == 0 {
            return Conversion::from_multiplier(0);
        }
        let dividend = PS_PER_S << Self::SHIFT;
        let rest = dividend % hz;
        // Rounds up from one half on; `rest + hz / 2` could overflow.
        Conversion::from_multiplier(dividend / hz + (rest >= hz - rest) as u64)
    }

    /// The conversion with that multiplier, as [`multiplier`](Self::multiplier) gave it: for a reader
    /// that finds it in the header of a region. Any number is valid.
    ///
    /// ```
    /// # use perfschema_timer::Conversion;
    /// let kept = Conversion::from_frequency(2_600_000_000).multiplier();
    /// assert_eq!(Conversion::from_multiplier(kept).picoseconds(26), 10_000);
    /// ```
    #[must_use]
    pub const fn from_multiplier(multiplier: u64) -> Conversion {
        // What went backward is never short.
        let short = match u64::MAX.checked_div(multiplier) {
            Some(fits) if fits <= u64::MAX >> 1 => fits,
            _ => u64::MAX >> 1,
        };
        Conversion { multiplier, short }
    }

    /// Picoseconds a tick, times 2²⁴.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[must_use]
    pub const fn multiplier(self) -> u64 {
        self.multiplier
    }

    /// `ticks` in picoseconds, fractions cut off.
    ///
    /// More than 2⁶⁴ − 1 ps, which is 213 days, gives `u64::MAX` instead of wrapping to something small.
    ///
    /// ```
    /// # use perfschema_timer::Conversion;
    /// let seconds = Conversion::from_frequency(1);
    /// assert_eq!(seconds.picoseconds(3), 3_000_000_000_000);
    /// assert_eq!(seconds.picoseconds(214 * 24 * 60 * 60), u64::MAX);
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[must_use]
    pub const fn picoseconds(self, ticks: u64) -> u64 {
        let product = ticks as u128 * self.multiplier as u128;
        // The upper half alone tells: a compare and a conditional move, no second 128-bit shift.
        if (product >> 64) as u64 >> Self::SHIFT != 0 { u64::MAX } else { (product >> Self::SHIFT) as u64 }
    }

    /// How long it was from one reading to another: in ticks, and in picoseconds. The counter may have come round at 2⁶⁴. If it went backward,
    /// which is all that is 2⁶³ ticks or more, it took no time.
    ///
    /// ```
    /// # use perfschema_timer::Conversion;
    /// let tsc = Conversion::from_frequency(2_600_000_000);
    /// assert_eq!(tsc.wait(100, 126), (26, 10_000));
    /// assert_eq!(tsc.wait(126, 100), (0, 0));
    /// assert_eq!(tsc.wait(u64::MAX, 25), (26, 10_000));
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[must_use]
    // By reference: else each caller loads the multiplier for the rare way, too.
    pub const fn wait(&self, start: u64, end: u64) -> (u64, u64) {
        let ticks = end.wrapping_sub(start);
        // What nearly every wait is shorter than is one product of 64 bits and a shift: others wait for it, and it takes less time than the
        // upper half of one of 128 bits. And of what went backward nothing need be asked.
        if ticks <= self.short { (ticks, ticks.wrapping_mul(self.multiplier) >> Self::SHIFT) } else { self.long_wait(start, end) }
    }

    #[cold]
    #[inline(never)]
    const fn long_wait(&self, start: u64, end: u64) -> (u64, u64) {
        let ticks = end.wrapping_sub(start);
        if ticks >> (u64::BITS - 1) == 0 { (ticks, self.picoseconds(ticks)) } else { (0, 0) }
    }

    /// The same of a moment, of which only the distance to others matters: after 2⁶⁴ ps it starts again at 0.
    ///
    /// ```
    /// # use perfschema_timer::Conversion;
    /// let second = Conversion::from_frequency(1);
    /// let (before, after) = (second.picoseconds_modulo(18_446_744), second.picoseconds_modulo(18_446_745));
    /// assert_eq!(after.wrapping_sub(before), 1_000_000_000_000);
    /// ```
    #[must_use]
    pub const fn picoseconds_modulo(self, ticks: u64) -> u64 {
        ((ticks as u128 * self.multiplier as u128) >> Self::SHIFT) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::{Conversion, PS_PER_S};
    use std::vec::Vec;

    /// Frequencies from 1 Hz to 30 GHz: the real ones, round ones, and a dense geometric walk.
    fn frequencies() -> Vec<u64> {
        let mut all = std::vec![
            1,
            2,
            3,
            7,
            100,
            250,
            300,
            1000,
            1024,
            32_768,
            1_193_182,
            3_579_545,
            10_000_000,
            14_318_180,
            16_777_216,
            19_200_000,
            24_000_000,
            54_000_000,
            62_500_000,
            999_999_937,
            1_000_000_000,
            1_595_661_691,
            2_389_029_850,
            2_445_430_164,
            2_596_000_000,
            5_000_000_000,
            30_000_000_000,
            29_999_999_999,
            29_999_999_957,
        ];
        let step = if cfg!(miri) { 1.37 } else { 1.000_37 };
        let mut hz = 1.0_f64;
        while hz < 3e10 {
            all.push(hz as u64);
            hz *= step;
        }
        all
    }

    /// The short way and the long one are one function, up to where each begins.
    #[test]
    fn a_wait_is_the_difference_of_two_readings() {
        let mut waits = std::vec![0, 1, 2, 3, 999, u64::MAX >> 1];
        waits.extend(
            (0..64).step_by(if cfg!(miri) { 9 } else { 1 }).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1]),
        );
        for hz in frequencies() {
            let conversion = Conversion::from_frequency(hz);
            let boundary = [conversion.short, conversion.short + 1];
            for &ticks in waits.iter().chain(&boundary) {
                let expected = if ticks <= u64::MAX >> 1 { (ticks, conversion.picoseconds(ticks)) } else { (0, 0) };
                for start in [0, 1, ticks, !ticks, u64::MAX] {
                    assert_eq!(conversion.wait(start, start.wrapping_add(ticks)), expected, "{hz} Hz");
                }
            }
        }
    }

    #[test]
    fn multiplier_is_within_one_part_in_a_billion() {
        for hz in frequencies() {
            // |multiplier × hz − 10¹² × 2²⁴| ÷ (10¹² × 2²⁴) ≤ 10⁻⁹, in whole numbers.
            let exact = u128::from(PS_PER_S) << Conversion::SHIFT;
            let got = u128::from(Conversion::from_frequency(hz).multiplier()) * u128::from(hz);
            assert!(exact.abs_diff(got) * 1_000_000_000 <= exact, "{hz} Hz: {got} for {exact}");
        }
    }

    #[test]
    fn picoseconds_are_exact_to_one_part_in_a_billion_and_the_cut() {
        for hz in frequencies() {
            let conversion = Conversion::from_frequency(hz);
            for ticks in [0, 1, 2, 999, 1 << 20, hz / 3, hz, hz.saturating_mul(60), hz.saturating_mul(86_400 * 200)] {
                let exact = u128::from(ticks) * u128::from(PS_PER_S) / u128::from(hz);
                let got = u128::from(conversion.picoseconds(ticks));
                assert!(exact.abs_diff(got) <= exact / 1_000_000_000 + 1, "{hz} Hz, {ticks}: {got} for {exact}");
            }
        }
    }

    #[test]
    fn more_ticks_are_never_fewer_picoseconds() {
        for hz in frequencies().into_iter().step_by(97) {
            let conversion = Conversion::from_frequency(hz);
            let (mut ticks, mut before) = (0_u64, 0);
            while ticks < u64::MAX / 4 {
                for next in [ticks, ticks + 1] {
                    let now = conversion.picoseconds(next);
                    assert!(now >= before, "{hz} Hz, {next} ticks");
                    before = now;
                }
                ticks = ticks * 3 + 1;
            }
        }
    }

    #[test]
    fn the_longest_time_saturates() {
        let second = Conversion::from_frequency(1);
        assert_eq!(second.picoseconds(18_446_744), 18_446_744_000_000_000_000);
        assert_eq!(second.picoseconds(18_446_745), u64::MAX);
        assert_eq!(second.picoseconds(u64::MAX), u64::MAX);
        assert_eq!(Conversion::from_multiplier(u64::MAX).picoseconds(u64::MAX), u64::MAX);
        // The last product that fits and the first that does not.
        let one = Conversion::from_multiplier(1 << Conversion::SHIFT);
        assert_eq!(one.picoseconds(u64::MAX), u64::MAX);
        assert_eq!(one.picoseconds(u64::MAX - 1), u64::MAX - 1);
        assert_eq!(Conversion::from_multiplier(2 << Conversion::SHIFT).picoseconds(1 << 63), u64::MAX);
    }

    #[test]
    fn extreme_frequencies_do_not_panic() {
        assert_eq!(Conversion::from_frequency(0).picoseconds(u64::MAX), 0);
        assert_eq!(Conversion::from_frequency(u64::MAX).multiplier(), 1);
        for hz in [u64::MAX - 1, u64::MAX / 2, 1 << 63] {
            assert!(Conversion::from_frequency(hz).multiplier() <= 2);
        }
    }
}
