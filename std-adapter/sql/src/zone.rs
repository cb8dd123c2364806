//! Time zones: what the clocks of one show at a moment of UTC, and the other way round.

use crate::moment::Moment;
use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

const MICROS: i64 = 1_000_000;

/// A time zone.
#[derive(Clone, Debug)]
pub(crate) enum Zone {
    /// Microseconds by which its clocks are always ahead of UTC.
    Fixed(i64),
    /// One with a name and a history.
    Named(TimeZone),
}

impl Zone {
    pub(crate) const UTC: Zone = Zone::Fixed(0);

    /// `+02:00`, `SYSTEM`, which is UTC, or a name like `Europe/Berlin`. None: there is no such zone.
    pub(crate) fn find(zone: &str) -> Option<Zone> {
        if zone.eq_ignore_ascii_case("SYSTEM") || zone.eq_ignore_ascii_case("UTC") {
            return Some(Zone::UTC);
        }
        match zone.as_bytes().first() {
            Some(b'+' | b'-') => offset(zone).map(Zone::Fixed),
            _ => TimeZone::get(zone).ok().map(Zone::Named),
        }
    }

    pub(crate) fn is_utc(&self) -> bool {
        matches!(self, Zone::Fixed(0))
    }

    /// What its clocks show at this moment of UTC.
    pub(crate) fn at(&self, utc: Moment) -> Moment {
        utc.later(match self {
            Zone::Fixed(ahead) => *ahead,
            Zone::Named(zone) => timestamp(utc).map_or(0, |utc| micros(zone.to_offset(utc))),
        })
    }

    /// When its clocks show this: the first time, of two; when the clocks go forward, of what they leave out.
    pub(crate) fn utc(&self, local: Moment) -> Moment {
        let ahead = match self {
            Zone::Fixed(ahead) => *ahead,
            Zone::Named(zone) => timestamp(local).map_or(0, |as_if_utc| {
                match zone.to_ambiguous_timestamp(Offset::UTC.to_datetime(as_if_utc)).offset() {
                    AmbiguousOffset::Unambiguous { offset } => micros(offset),
                    AmbiguousOffset::Fold { before, .. } => micros(before),
                    AmbiguousOffset::Gap { before, .. } => {
                        // The clocks went forward before they could show it.
                        let later = timestamp(local.later(1 - micros(before))).and_then(|later| zone.preceding(later).next());
                        later.map_or(micros(before), |change| local.micros() - change.timestamp().as_microsecond())
                    }
                }
            }),
        };
        local.later(-ahead)
    }
}

fn timestamp(utc: Moment) -> Option<Timestamp> {
    Timestamp::from_microsecond(utc.micros()).ok()
}

fn micros(offset: Offset) -> i64 {
    i64::from(offset.seconds()) * MICROS
}

/// Microseconds of `+02:00`.
fn offset(zone: &str) -> Option<i64> {
    let (sign, time) = zone.strip_prefix('+').map(|time| (1, time)).or_else(|| zone.strip_prefix('-').map(|time| (-1, time)))?;
    let number =
        |text: &str| text.parse::<i64>().ok().filter(|_| text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit()));
    let (hours, minutes) = time.split_once(':')?;
    let minutes = sign * (number(hours)? * 60 + number(minutes).filter(|minutes| *minutes < 60)?);
    // As far as zones are from each other, and as far as MySQL goes.
    (-839..=840).contains(&minutes).then_some(minutes * 60 * MICROS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(name: &str) -> Zone {
        Zone::find(name).unwrap_or_else(|| panic!("{name}"))
    }

    #[test]
    fn clocks_of_a_zone() {
        let moment = |text: &str| Moment::parse(text).expect("a moment").with_clock();
        for (name, utc, local) in [
            ("SYSTEM", "2026-07-01 12:00:00", "2026-07-01 12:00:00"),
            ("+05:30", "2026-07-01 12:00:00", "2026-07-01 17:30:00"),
            ("-13:59", "2026-07-01 12:00:00", "2026-06-30 22:01:00"),
            ("europe/berlin", "2026-07-01 12:00:00", "2026-07-01 14:00:00"),
            ("Europe/Berlin", "2026-12-01 12:00:00", "2026-12-01 13:00:00"),
            ("America/Chicago", "2026-01-01 03:00:00", "2025-12-31 21:00:00"),
            ("Asia/Kathmandu", "2026-01-01 00:00:00", "2026-01-01 05:45:00"),
        ] {
            let zone = zone(name);
            assert_eq!((zone.at(moment(utc)), zone.utc(moment(local))), (moment(local), moment(utc)), "{name}");
        }
        // The clocks go from 2 to 3: both are the moment at which they do, as MySQL's manual has it of CONVERT_TZ().
        let eastern = zone("US/Eastern");
        for left_out in ["2007-03-11 02:00:00", "2007-03-11 02:59:59", "2007-03-11 03:00:00"] {
            assert_eq!(eastern.utc(moment(left_out)), moment("2007-03-11 07:00:00"), "{left_out}");
        }
        // From 2 to 1: the first of the two.
        assert_eq!(eastern.utc(moment("2007-11-04 01:30:00")), moment("2007-11-04 05:30:00"));
        for none in ["", "Nowhere/Else", "+14:01", "-14:00", "+2", "+1:2:3", "+aa:00", "../etc/passwd", "/etc/localtime"] {
            assert!(Zone::find(none).is_none(), "{none}");
        }
    }
}
