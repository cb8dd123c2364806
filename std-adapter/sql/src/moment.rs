//! Dates and times of day, as texts like `2026-11-21 17:31:54`.

use crate::decimal::Decimal;
use rusqlite::types::Value;
use std::fmt;

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;
/// The day before all: 0000-00-00.
const ZERO: i64 = -719_529 * DAY;

/// The years that MySQL knows, 0 to 9999.
const FIRST: i64 = -62_167_219_200_000_000;
const LAST: i64 = 253_402_300_799_000_000;

/// The last second that a TIMESTAMP can have, since 1970: `3001-01-18 23:59:59`.
pub(crate) const LAST_TIMESTAMP: i64 = 32_536_771_199;

/// Year, month and day.
type Date = (i64, i64, i64);

/// Microseconds since 1970, and how it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    micros: i64,
    /// Whether it is a date only.
    date_only: bool,
}

impl Moment {
    /// From seconds since 1970.
    pub(crate) fn from_unix(seconds: f64) -> Moment {
        // Still a number of microseconds.
        let micros = (seconds.clamp(-1e12, 1e12) * 1e6).round() as i64;
        Moment { micros: micros.clamp(FIRST, LAST), date_only: false }
    }

    pub(crate) fn now() -> Moment {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Moment { micros: i64::try_from(since.as_micros()).unwrap_or(0), date_only: false }
    }

    /// What clocks show that are ahead by so many microseconds, or behind.
    pub(crate) fn later(self, micros: i64) -> Moment {
        Moment { micros: self.micros.saturating_add(micros).clamp(FIRST, LAST), ..self }
    }

    /// The same, and never a date only.
    pub(crate) fn with_clock(self) -> Moment {
        Moment { date_only: false, ..self }
    }

    /// Later by so many microseconds; None out of the years that there are.
    pub(crate) fn add_micros(self, micros: i64) -> Option<Moment> {
        let micros = self.micros.checked_add(micros).filter(|micros| (FIRST..=LAST + 999_999).contains(micros))?;
        Some(Moment { micros, ..self })
    }

    /// In units of 100 ns since the Gregorian calendar began.
    pub(crate) fn since_1582(self) -> u64 {
        const TO_1970: u64 = 0x01b2_1dd2_1381_4000;
        u64::try_from(self.micros).map_or(0, |micros| micros.saturating_mul(10)) + TO_1970
    }

    /// Of its parts, as MAKEDATE and STR_TO_DATE have them; None: there is no such day or time.
    pub(crate) fn of_parts((year, month, day): Date, micros: i64) -> Option<Moment> {
        let is_day = (0..=9999).contains(&year) && (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
        let is_time = (0..DAY).contains(&micros);
        (is_day && is_time).then(|| Moment { micros: days(year, month, day) * DAY + micros, date_only: false })
    }

    /// The week of its year, and of what year: MySQL's modes are sums of 1 (weeks begin on Monday), 2 (from 1, not 0, and the year is
    /// the week's) and 4 (the first week begins on the first such day of the year, not with most of its days).
    pub(crate) fn week(self, mode: i64) -> (i64, i64) {
        let (mut year, month, day) = self.civil();
        let (monday_first, whole_weeks) = (mode & 1 != 0, mode & 4 != 0);
        let mut of_week = mode & 2 != 0;
        let length = |year| days(year + 1, 1, 1) - days(year, 1, 1);
        let mut first = days(year, 1, 1);
        let mut weekday = (first + if monday_first { 3 } else { 4 }).rem_euclid(7);
        let is_late = |weekday: i64| if whole_weeks { weekday != 0 } else { weekday >= 4 };
        if month == 1 && day <= 7 - weekday {
            if !of_week && is_late(weekday) {
                return (0, year);
            }
            of_week = true;
            year -= 1;
            first -= length(year);
            weekday = (weekday + 53 * 7 - length(year)).rem_euclid(7);
        }
        let since = self.day() - if is_late(weekday) { first + 7 - weekday } else { first - weekday };
        if of_week && since >= 52 * 7 && !is_late((weekday + length(year)).rem_euclid(7)) {
            return (1, year + 1);
        }
        (since / 7 + 1, year)
    }

    /// With so many digits of its fraction, up to 6: the text of the moment and of its time of day.
    pub(crate) fn rounded_down(self, digits: usize) -> (String, String) {
        let whole = Moment { micros: self.micros - self.micros.rem_euclid(1_000_000), date_only: false };
        let fraction = format!(".{:06}", self.micros.rem_euclid(1_000_000));
        let fraction = if digits == 0 { "" } else { &fraction[..=digits.min(6)] };
        (format!("{whole}{fraction}"), format!("{}{fraction}", whole.time()))
    }

    /// The text of the moment with so many digits of its fraction, rounded to the nearest; None beyond the last year.
    pub(crate) fn rounded(self, digits: usize) -> Option<String> {
        let unit = 10_i64.pow(6_u32.saturating_sub(digits as u32));
        let micros = (self.micros + unit / 2).div_euclid(unit) * unit;
        let moment = Moment { micros, ..self };
        (moment.civil().0 <= 9999).then(|| moment.rounded_down(digits).0)
    }

    /// Its text beside those that have so many digits of a fraction: with more, where it has more, so that it is equal to none of them.
    pub(crate) fn written_like(self, digits: usize) -> String {
        let more = (digits..6).find(|digits| self.micros % 10_i64.pow(6 - *digits as u32) == 0);
        self.rounded_down(more.unwrap_or(6)).0
    }

    pub(crate) fn micros(self) -> i64 {
        self.micros
    }

    pub(crate) fn micros_of_day(self) -> i64 {
        self.micros.rem_euclid(DAY)
    }

    pub(crate) fn is_midnight(self) -> bool {
        self.micros_of_day() == 0
    }

    /// The date of the last day of its month.
    pub(crate) fn last_day(self) -> String {
        let (year, month, _) = self.civil();
        format!("{year:04}-{month:02}-{:02}", days_in(year, month))
    }

    /// How many whole units later the other is; negative, if it is earlier. None: no such unit.
    pub(crate) fn until(self, other: Moment, unit: &str) -> Option<i64> {
        let micros = other.micros - self.micros;
        let months = || {
            let (from, to, sign) = if micros < 0 { (other, self, -1) } else { (self, other, 1) };
            let ((year, month, day), (to_year, to_month, to_day)) = (from.civil(), to.civil());
            // Not whole if the day of the month, or the time of that day, has not come yet.
            let is_early = (to_day, to.micros.rem_euclid(DAY)) < (day, from.micros.rem_euclid(DAY));
            sign * ((to_year - year) * 12 + to_month - month - i64::from(is_early))
        };
        Some(match unit.to_ascii_uppercase().as_str() {
            "MICROSECOND" => micros,
            "SECOND" => micros / 1_000_000,
            "MINUTE" => micros / 60_000_000,
            "HOUR" => micros / 3_600_000_000,
            "DAY" => micros / DAY,
            "WEEK" => micros / (7 * DAY),
            "MONTH" => months(),
            "QUARTER" => months() / 3,
            "YEAR" => months() / 12,
            _ => return None,
        })
    }

    /// The same, or zeros, which MySQL has before all moments.
    pub(crate) fn parse_or_zero(text: &str) -> Option<Moment> {
        let is_zero = text == "0" || text.starts_with("0000-00-00") && text.bytes().all(|byte| b"0-: T.".contains(&byte));
        if is_zero { Some(Moment { micros: ZERO, date_only: false }) } else { Moment::parse(text) }
    }

    /// The numbers of a date, of which month and day may be 0, and what follows it. Whatever separates them does, but what separates those
    /// of a time; a year of two digits is of 1970 to 2069.
    fn parts(text: &str) -> Option<(Date, Option<&str>)> {
        let (date, time) = text.split_once([' ', 'T']).map_or((text, None), |(date, time)| (date, Some(time)));
        let mut parts = date.splitn(3, |c: char| c.is_ascii_punctuation() && c != ':');
        let mut number = |most: usize| {
            let part = parts.next().filter(|part| part.len() <= most && part.bytes().all(|byte| byte.is_ascii_digit()))?;
            Some((part.parse::<i64>().ok()?, part.len()))
        };
        let ((year, digits), (month, _), (day, _)) = (number(4)?, number(2)?, number(2)?);
        let is_date = month <= 12 && day <= 31;
        is_date.then_some(((if digits <= 2 { full_year(year) } else { year }, month, day), time))
    }

    /// What clocks show: `17:31`, `17:31:54.5`. Whatever separates the numbers does, but before a fraction.
    fn micros_of_clock(time: &str) -> Option<i64> {
        let mut parts = time.splitn(3, |c: char| c.is_ascii_punctuation());
        let number = |part: &str| part.parse::<i64>().ok();
        let (hour, minute) = (number(parts.next()?)?, number(parts.next()?)?);
        let (second, fraction) = parts.next().map_or(("0", ""), |part| part.split_once('.').unwrap_or((part, "")));
        let second = number(second)?;
        if !(0..24).contains(&hour) || !(0..60).contains(&minute) || !(0..60).contains(&second) {
            return None;
        }
        let fraction: String = fraction.chars().chain("000000".chars()).take(6).collect();
        Some(((hour * 60 + minute) * 60 + second) * SECOND + fraction.parse::<u32>().map_or(0, i64::from))
    }

    /// Year, month and day of a date that is none because month or day is 0.
    pub(crate) fn incomplete(text: &str) -> Option<Date> {
        Some(Moment::parts(text.trim())?.0).filter(|(_, month, day)| *month == 0 || *day == 0)
    }

    /// `2026-11-21`, `2026-11-21 17:31:54`, `2026-11-21T17:31:54.5`, `26/11/21`, `20261121`, `20261121173154`, `261121`, `261121173154`
    pub(crate) fn parse(text: &str) -> Option<Moment> {
        let text = text.trim();
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        if matches!(whole.len(), 6 | 8 | 12 | 14) && whole.bytes().all(|byte| byte.is_ascii_digit()) {
            // With a time of day, or without.
            let (date, time) = whole.split_at(if whole.len() < 12 { whole.len() } else { whole.len() - 6 });
            let (year, day) = date.split_at(date.len() - 4);
            let mut text = format!("{year}-{}-{}", &day[..2], &day[2..]);
            if !time.is_empty() {
                text += &format!(" {}:{}:{}.{fraction}", &time[..2], &time[2..4], &time[4..]);
            }
            return Moment::parse(&text);
        }
        let (date, time) = Moment::parts(text)?;
        let micros = time.map_or(Some(0), Moment::micros_of_clock)?;
        Some(Moment { date_only: time.is_none(), ..Moment::of_parts(date, micros)? })
    }

    /// Later by so many units; earlier, if negative. None: out of the years that there are, or no such unit.
    pub(crate) fn add(self, number: i64, unit: &str) -> Option<Moment> {
        let months = |size: i64| {
            let (year, month, day) = self.civil();
            let total = number.checked_mul(size)?.checked_add(year * 12 + month - 1)?;
            let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
            let date = || days(year, month, day.min(days_in(year, month))) * DAY;
            (0..=9999).contains(&year).then(|| Moment { micros: date() + self.micros_of_day(), ..self })
        };
        let size = match unit.to_ascii_uppercase().as_str() {
            "MICROSECOND" => 1,
            "SECOND" => SECOND,
            "MINUTE" => 60 * SECOND,
            "HOUR" => 3600 * SECOND,
            "DAY" => DAY,
            "WEEK" => 7 * DAY,
            "MONTH" => return months(1),
            "QUARTER" => return months(3),
            "YEAR" => return months(12),
            _ => return None,
        };
        let micros = self.micros.checked_add(number.checked_mul(size)?)?;
        // What is less than a day brings a time of day along.
        let moment = Moment { micros, date_only: self.date_only && size >= DAY };
        (0..=9999).contains(&moment.civil().0).then_some(moment)
    }

    /// Days since 1970.
    pub(crate) fn day(self) -> i64 {
        self.micros.div_euclid(DAY)
    }

    pub(crate) fn unix_seconds(self) -> i64 {
        self.micros.div_euclid(1_000_000)
    }

    /// Seconds since 1970, with a fraction if there is one; 0 of what no TIMESTAMP can be.
    pub(crate) fn unix(self) -> Value {
        let (seconds, fraction) = (self.unix_seconds(), self.micros.rem_euclid(1_000_000));
        match Decimal::literal(&format!("{seconds}.{fraction:06}")) {
            _ if !(0..=LAST_TIMESTAMP).contains(&seconds) => Value::Integer(0),
            Some(decimal) if fraction != 0 => decimal.store(),
            _ => Value::Integer(seconds),
        }
    }

    pub(crate) fn date(self) -> String {
        if self.micros == ZERO {
            return "0000-00-00".to_owned();
        }
        let (year, month, day) = self.civil();
        format!("{year:04}-{month:02}-{day:02}")
    }

    pub(crate) fn time(self) -> String {
        let (hour, minute, second, micros) = self.clock();
        let fraction = if micros == 0 { String::new() } else { format!(".{micros:06}") };
        format!("{hour:02}:{minute:02}:{second:02}{fraction}")
    }

    /// A number out of it, for EXTRACT, YEAR() and the like.
    pub(crate) fn part(self, unit: &str) -> Option<i64> {
        let (year, month, day) = self.civil();
        let (hour, minute, second, micros) = self.clock();
        match unit.to_ascii_uppercase().as_str() {
            "YEAR" => Some(year),
            "QUARTER" => Some((month + 2) / 3),
            "MONTH" => Some(month),
            "DAY" => Some(day),
            "HOUR" => Some(hour),
            "MINUTE" => Some(minute),
            "SECOND" => Some(second),
            "MICROSECOND" => Some(micros),
            _ => None,
        }
    }

    /// DATE_FORMAT
    pub(crate) fn format(self, format: &str) -> String {
        let (year, month, day) = self.civil();
        let month_name = MONTHS[(month - 1).rem_euclid(12) as usize];
        let weekday = WEEKDAYS[self.weekday() as usize];
        let of = |specifier| match specifier {
            'Y' => format!("{year:04}"),
            'y' => format!("{:02}", year % 100),
            'm' => format!("{month:02}"),
            'c' => month.to_string(),
            'M' => month_name.to_owned(),
            'b' => month_name[..3].to_owned(),
            'd' => format!("{day:02}"),
            'e' => day.to_string(),
            'j' => format!("{:03}", self.day() - days(year, 1, 1) + 1),
            'W' => weekday.to_owned(),
            'a' => weekday[..3].to_owned(),
            'U' => format!("{:02}", self.week(4).0),
            'u' => format!("{:02}", self.week(1).0),
            'V' => format!("{:02}", self.week(6).0),
            'v' => format!("{:02}", self.week(3).0),
            'X' => format!("{:04}", self.week(6).1),
            'x' => format!("{:04}", self.week(3).1),
            'w' => self.weekday().to_string(),
            'D' => format!("{day}{}", ordinal(day)),
            other => of_clock(self.micros_of_day(), other),
        };
        formatted(format, |specifier| Some(of(specifier))).unwrap_or_default()
    }

    fn clock(self) -> (i64, i64, i64, i64) {
        clock(self.micros_of_day())
    }

    /// From Sunday, which is 0.
    pub(crate) fn weekday(self) -> i64 {
        (self.day() + 4).rem_euclid(7)
    }

    /// Year, month and day; the reverse of [`days`].
    pub(crate) fn civil(self) -> (i64, i64, i64) {
        let shifted = self.day() + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        (year_of_era + era * 400 + i64::from(month <= 2), month, day_of_year - (153 * from_march + 2) / 5 + 1)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.date())?;
        if self.date_only { Ok(()) } else { write!(f, " {}", self.time()) }
    }
}

/// A format with what its specifiers stand for. None: there is nothing that one of them could stand for.
pub(crate) fn formatted(format: &str, of: impl Fn(char) -> Option<String>) -> Option<String> {
    let mut text = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        match (c, chars.as_str().chars().next()) {
            ('%', Some(specifier)) => {
                text += &of(specifier)?;
                chars.next();
            }
            ('%', None) => {}
            _ => text.push(c),
        }
    }
    Some(text)
}

/// Hours, minutes, seconds and microseconds.
fn clock(micros: i64) -> (i64, i64, i64, i64) {
    let seconds = micros / 1_000_000;
    (seconds / 3600, seconds / 60 % 60, seconds % 60, micros % 1_000_000)
}

/// What a specifier stands for in so many microseconds since midnight, or of a time that may be longer than a day. One that is not about hours,
/// minutes and seconds stands for itself.
pub(crate) fn of_clock(micros: i64, specifier: char) -> String {
    let (hour, minute, second, micros) = clock(micros);
    let hour12 = (hour + 11) % 12 + 1;
    let half = if hour % 24 < 12 { "AM" } else { "PM" };
    match specifier {
        'H' => format!("{hour:02}"),
        'k' => hour.to_string(),
        'h' | 'I' => format!("{hour12:02}"),
        'l' => hour12.to_string(),
        'i' => format!("{minute:02}"),
        's' | 'S' => format!("{second:02}"),
        'f' => format!("{micros:06}"),
        'p' => half.to_owned(),
        'T' => format!("{hour:02}:{minute:02}:{second:02}"),
        'r' => format!("{hour12:02}:{minute:02}:{second:02} {half}"),
        other => other.to_string(),
    }
}

/// The text of a number that may be a moment: `50101` is 050101, of 2005, and `101` of 2000.
pub(crate) fn with_zeros(text: String) -> String {
    let whole = text.find('.').unwrap_or(text.len());
    let missing = match whole {
        3..=5 => 6 - whole,
        9..=11 => 12 - whole,
        _ => 0,
    };
    // Not of a number with a sign.
    let is_digits = text.bytes().take(whole).all(|byte| byte.is_ascii_digit());
    if missing > 0 && is_digits { format!("{}{text}", "0".repeat(missing)) } else { text }
}

/// Two digits of a year: from 1970 to 2069.
pub(crate) fn full_year(year: i64) -> i64 {
    if year < 70 { 2000 + year } else { 1900 + year }
}

fn ordinal(day: i64) -> &'static str {
    match (day % 10, day) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

pub(crate) const MONTHS: [&str; 12] =
    ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
pub(crate) const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Days since 1970 of a date of the Gregorian calendar, counted in eras of 400 years that begin in March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    let year_of_era = year.rem_euclid(400);
    year.div_euclid(400) * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::Moment;

    #[test]
    fn every_day_is_found_again() {
        let mut moment = Moment::parse("1890-01-01 12:34:56").expect("a date");
        while let Some(next) = moment.add(1, "DAY").filter(|next| next.part("YEAR") < Some(2110)) {
            assert_eq!(next.day(), moment.day() + 1);
            assert_eq!(Moment::parse(&next.to_string()), Some(next), "{next}");
            moment = next;
        }
        assert_eq!(moment.date(), "2109-12-31");
    }

    #[test]
    fn moments() {
        let moment = |text| Moment::parse(text).expect("a date");
        assert_eq!(moment("1970-01-01").day(), 0);
        assert_eq!(moment("2024-01-31").add(1, "MONTH").map(Moment::date).as_deref(), Some("2024-02-29"));
        assert_eq!(moment("2026-11-21").add(-1, "SECOND").map(|m| m.to_string()).as_deref(), Some("2026-11-20 23:59:59"));
        assert_eq!(moment("2026-11-21").add(1, "WEEK").map(|m| m.to_string()).as_deref(), Some("2026-11-28"));
        assert_eq!(moment("2026-11-21").add(9_000_000_000, "YEAR"), None);
        assert_eq!(moment("2026-11-21 17:31:54.5").format("%W %e %b %Y %r %f"), "Saturday 21 Nov 2026 05:31:54 PM 500000");
        for wrong in ["", "x", "2026-13-01", "2026-02-29", "2026-02-28 24:00:00", "2026-02", "99999-01-01"] {
            assert_eq!(Moment::parse(wrong), None, "{wrong}");
        }
    }
}
