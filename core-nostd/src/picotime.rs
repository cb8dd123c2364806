//! Picoseconds as people read them: MySQL's `FORMAT_PICO_TIME()`.
//!
//! | at least | unit | example |
//! |---|---|---|
//! | 0 | `ps`, whole, padded to three places | <code>&nbsp;43 ps</code> |
//! | 1000 ps | `ns` | `2.40 ns` |
//! | 1000 ns | `us` | `31.84 us` |
//! | 1000 us | `ms` | `432.11 ms` |
//! | 1000 ms | `s` | `43.21 s` |
//! | 60 s | `min` | `3.15 min` |
//! | 60 min | `h` | `1.20 h` |
//! | 24 h | `d` | `5.00 d` |
//!
//! From nanoseconds on there are two decimals. The unit is chosen before rounding, so 999 999 ps is
//! `1000.00 ns`: that is what MySQL prints, and output of both must compare equal.

use crate::Text;
use core::fmt::{self, Write};

/// The units from the largest down: picoseconds in one, and its name.
const UNITS: [(u64, &str); 7] = [
    (86_400_000_000_000_000, "d"),
    (3_600_000_000_000_000, "h"),
    (60_000_000_000_000, "min"),
    (1_000_000_000_000, "s"),
    (1_000_000_000, "ms"),
    (1_000_000, "us"),
    (1_000, "ns"),
];

/// A time in picoseconds that displays as `FORMAT_PICO_TIME()` does; made by [`format_pico_time`] and [`format_pico_real`].
///
/// Width, fill and alignment of the format string apply to the whole text.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct PicoTime(f64);

/// `time_ps` picoseconds, ready to be displayed with a unit that suits its size.
///
/// A SQL NULL stays the caller's business: map it over the `Option`.
///
/// ```
/// use perfschema_core::picotime::format_pico_time;
///
/// assert_eq!(format!("{}", format_pico_time(31_840_000)), "31.84 us");
/// assert_eq!(format!("{:>10}", format_pico_time(2_401)), "   2.40 ns");
/// ```
#[must_use]
pub const fn format_pico_time(time_ps: u64) -> PicoTime {
    PicoTime(time_ps as f64)
}

/// The same as [`format_pico_time`] of a sum, which may exceed 64 bits, of an average, which has fractions, or of a difference.
///
/// ```
/// use perfschema_core::picotime::format_pico_real;
///
/// assert_eq!(format_pico_real(1e20).to_string(), "1157.41 d");
/// assert_eq!(format_pico_real(-2_401.0).to_string(), "-2.40 ns");
/// ```
#[must_use]
pub const fn format_pico_real(time_ps: f64) -> PicoTime {
    PicoTime(time_ps)
}

impl fmt::Display for PicoTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The longest are `-1000.00 ns` and, of the largest number that there is, `-2.08e+291 d`.
        let mut text = Text::<16>::default();
        // In f64, as MySQL: a time half-way between two decimals must fall to the same side there and here.
        match UNITS.iter().find(|(unit_ps, _)| self.0.abs() >= *unit_ps as f64) {
            Some((unit_ps, unit)) => write!(text, "{} {unit}", Amount(self.0 / *unit_ps as f64))?,
            None => write!(text, "{:3} ps", self.0 as i64)?,
        }
        f.pad(text.as_str())
    }
}

/// A number of some unit, as MySQL's FORMAT_PICO_TIME and FORMAT_BYTES write it: two decimals, and from 100000 on an exponent.
///
/// ```
/// use perfschema_core::picotime::Amount;
///
/// assert_eq!([2.4, 99_999.0, 2e5, -1e30].map(|number| Amount(number).to_string()), ["2.40", "99999.00", "2.00e+05", "-1.00e+30"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Amount(pub f64);

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Amount(number) = *self;
        if number.abs() < 100_000.0 {
            return write!(f, "{number:.2}");
        }
        // C's printf gives an exponent a sign and two digits.
        let mut scientific = Text::<16>::default();
        write!(scientific, "{number:.2e}")?;
        match scientific.as_str().split_once('e') {
            Some((digits, exponent)) => write!(f, "{digits}e+{exponent:0>2}"),
            None => f.write_str(scientific.as_str()), // infinite, or none
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{UNITS, format_pico_real, format_pico_time};
    use crate::Text;
    use core::fmt::Write;

    #[track_caller]
    fn check(time_ps: u64, expected: &str) {
        let mut text = Text::<16>::default();
        write!(text, "{}", format_pico_time(time_ps)).unwrap();
        assert_eq!(text.as_str(), expected, "{time_ps} ps");
    }

    #[test]
    fn examples_of_the_manuals() {
        // MySQL 8.0.
        check(2_401, "2.40 ns");
        check(3_501, "3.50 ns");
        check(188_732_396_662_000, "3.15 min");
        // MariaDB 11.0.
        check(43, " 43 ps");
        check(4_321, "4.32 ns");
        check(43_211_234, "43.21 us");
        check(432_112_344_321, "432.11 ms");
        check(43_211_234_432_123, "43.21 s");
        check(432_112_344_321_234, "7.20 min");
        check(4_321_123_443_212_345, "1.20 h");
        check(432_112_344_321_234_545, "5.00 d");
    }

    #[test]
    fn the_ends_of_each_unit() {
        check(0, "  0 ps");
        check(999, "999 ps");
        check(1_000, "1.00 ns");
        check(999_994, "999.99 ns");
        check(999_999, "1000.00 ns");
        check(1_000_000, "1.00 us");
        check(31_840_000, "31.84 us");
        check(60_000_000_000_000 - 1, "60.00 s");
        check(60_000_000_000_000, "1.00 min");
        check(3_600_000_000_000_000 - 1, "60.00 min");
        check(86_400_000_000_000_000 - 9, "24.00 h");
        // In f64 this is a day.
        check(86_400_000_000_000_000 - 1, "1.00 d");
        check(u64::MAX, "213.50 d");
    }

    #[test]
    fn half_way_falls_where_printf_puts_it() {
        // 1.005 is a little less in binary, 1.015 too, 1.125 is exact and goes to the even digit.
        check(1_005, "1.00 ns");
        check(1_015, "1.01 ns");
        check(1_125, "1.12 ns");
        check(1_375, "1.38 ns");
    }

    #[test]
    fn any_number_is_one_of_picoseconds() {
        for (time_ps, expected) in [
            (-0.5, "  0 ps"),
            (-43.9, "-43 ps"),
            (999.9, "999 ps"),
            (1_134.8, "1.13 ns"),
            (-31_843_368.0, "-31.84 us"),
            (1e20, "1157.41 d"),
            (8.639_9e21, "99998.84 d"),
            (8.64e21, "1.00e+05 d"),
            (1e30, "1.16e+13 d"),
            (-f64::MAX, "-2.08e+291 d"),
            (f64::INFINITY, "inf d"),
            (f64::NAN, "  0 ps"),
        ] {
            let mut text = Text::<16>::default();
            write!(text, "{}", format_pico_real(time_ps)).unwrap();
            assert_eq!(text.as_str(), expected, "{time_ps} ps");
        }
    }

    #[test]
    fn the_longest_texts_fit() {
        for (unit_ps, _) in UNITS {
            let mut text = Text::<16>::default();
            write!(text, "{}", format_pico_time(unit_ps - 1)).unwrap();
            assert!(text.as_str().len() <= 10);
        }
        check(999_999_999, "1000.00 us");
    }

    #[test]
    fn width_applies_to_the_whole_text() {
        let mut text = Text::<16>::default();
        write!(text, "{:>12}|", format_pico_time(2_401)).unwrap();
        assert_eq!(text.as_str(), "     2.40 ns|");
    }
}
