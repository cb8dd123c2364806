//! When a command was given, in whole seconds: what TIME_ENABLED shows, and what TIME_ELAPSED is counted from.

use crate::region::Text;
use core::fmt::Write;

/// A moment in whole seconds, on two clocks: that of the wall, which is shown, and one that nobody sets, by which what has passed since is
/// counted. Both come from whoever gives a command or reads; nothing reads a clock where a metric is counted.
///
/// ```
/// use perfschema_core::metric::Moment;
/// // Where there is no clock of the wall: any number of seconds.
/// let (start, end) = (Moment::of_seconds(100), Moment::of_seconds(127));
/// assert_eq!(end.since(start), Some(27));
/// assert_eq!(start.since(end), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment(u64);

impl Moment {
    const MONOTONIC_BITS: u32 = 30;
    const MONOTONIC: u64 = (1 << Self::MONOTONIC_BITS) - 1;

    /// Seconds since 1970, up to the year 2514, and seconds of a clock that only goes forward, which start again after 34 years.
    pub const fn new(unix_s: u64, monotonic_s: u64) -> Moment {
        // Zero is "never" where a moment is kept. The wall's second, which is only shown: what is counted is right.
        match (unix_s << Self::MONOTONIC_BITS) | (monotonic_s & Self::MONOTONIC) {
            0 => Moment(1 << Self::MONOTONIC_BITS),
            bits => Moment(bits),
        }
    }

    /// A moment on a single clock.
    pub const fn of_seconds(seconds: u64) -> Moment {
        Moment::new(seconds, seconds)
    }

    /// Seconds since 1970.
    pub const fn unix_s(self) -> u64 {
        self.0 >> Self::MONOTONIC_BITS
    }

    /// Whole seconds from `earlier` to this one; None if it is the earlier one of both, as after a restart of the machine.
    pub fn since(self, earlier: Moment) -> Option<u64> {
        let seconds = self.0.wrapping_sub(earlier.0) & Self::MONOTONIC;
        (seconds <= Self::MONOTONIC / 2).then_some(seconds)
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    /// None: never.
    pub(crate) fn from_bits(bits: u64) -> Option<Moment> {
        (bits != 0).then_some(Moment(bits))
    }

    /// `2011-02-14 19:20:15`, in UTC.
    ///
    /// ```
    /// use perfschema_core::metric::Moment;
    /// let moment = Moment::new(1_297_711_215, 500);
    /// assert_eq!((moment.text().as_str(), moment.unix_s()), ("2011-02-14 19:20:15", 1_297_711_215));
    /// ```
    pub fn text(self) -> Text<19> {
        let mut text = Text::EMPTY;
        let _ = write_moment(&mut text, self.unix_s());
        text
    }
}

/// `2011-02-14 19:20:15.000000`, of microseconds since 1970.
pub(crate) fn moment_text(unix_us: u64) -> Text<26> {
    let mut text = Text::EMPTY;
    let _ = write_moment(&mut text, unix_us / 1_000_000).and_then(|()| write!(text, ".{:06}", unix_us % 1_000_000));
    text
}

fn write_moment(text: &mut impl Write, unix_s: u64) -> core::fmt::Result {
    let (days, second) = ((unix_s / 86_400) as i64, unix_s % 86_400);
    let (year, month, day) = civil(days);
    write!(text, "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
}

/// Year, month and day of the day that comes so many after 1970-01-01. Counted from a first of March, so that a leap day is a year's last.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let of_era_years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_era_years + of_era_years / 4 - of_era_years / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + of_era_years + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_shown_in_utc() {
        for (unix_s, text) in [
            (1_297_711_215, "2011-02-14 19:20:15"),
            (0, "1970-01-01 00:00:00"),
            (951_782_399, "2000-02-28 23:59:59"),
            (951_782_400, "2000-02-29 00:00:00"),
            (951_868_800, "2000-03-01 00:00:00"),
            (4_107_542_400, "2100-03-01 00:00:00"),
            (1_735_689_599, "2024-12-31 23:59:59"),
            ((1 << 34) - 1, "2514-05-30 01:53:03"),
        ] {
            assert_eq!(Moment::new(unix_s, 7).text(), text);
        }
    }

    #[test]
    fn what_has_passed_is_told_by_the_clock_that_nobody_sets() {
        let start = Moment::new(1_000_000, 50);
        assert_eq!(Moment::new(900, 51).since(start), Some(1));
        assert_eq!(Moment::new(2_000_000, 49).since(start), None);
        assert_eq!(Moment::new(0, 4).since(Moment::new(0, (1 << 30) - 4)), Some(8));
        // Where a device counts from its start, its first second is none that is lost.
        assert_eq!(Moment::of_seconds(27).since(Moment::of_seconds(0)), Some(27));
        assert_eq!(Moment::of_seconds(0).since(Moment::of_seconds(0)), Some(0));
        assert_ne!(Moment::new(0, 0).bits(), 0);
    }
}
