//! Functions of moments and of times, which are lengths: `-12:30:00`.

use crate::decimal::Decimal;
use crate::functions::Arguments;
use crate::kinds::Kind;
use crate::moment::{self, LAST_TIMESTAMP, MONTHS, Moment, WEEKDAYS, formatted, full_year, of_clock};
use crate::state::State;
use crate::value::{self, Number};
use crate::zone::Zone;
use crate::{Error, numbers};
use perfschema::core::table::SqlType;
use rusqlite::Result;
use rusqlite::types::{Value, ValueRef};

/// The longest time that MySQL has: 838:59:59.
const MAX_SECONDS: f64 = 3_020_399.0;

/// A time of so many microseconds, with digits of a fraction.
fn time_text(micros: i64, digits: usize) -> String {
    let unit = 10_i64.pow(6_u32.saturating_sub(digits as u32));
    let most = MAX_SECONDS as i64 * 1_000_000;
    let rounded = (micros.unsigned_abs() as i64).saturating_add(unit / 2) / unit * unit;
    let rounded = rounded.min(most);
    let (sign, seconds) = (if micros < 0 && rounded > 0 { "-" } else { "" }, rounded / 1_000_000);
    let fraction = format!(".{:06}", rounded % 1_000_000);
    let fraction = if digits == 0 { "" } else { &fraction[..=digits.min(6)] };
    format!("{sign}{:02}:{:02}:{:02}{fraction}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Microseconds of what is a time, or the time of day of a moment: `12:30:00`, `123000`.
pub(crate) fn time_micros(text: &str) -> Option<i64> {
    time_alone(text).or_else(|| Some(Moment::parse(text)?.micros_of_day()))
}

fn micros_of(value: ValueRef<'_>) -> Option<i64> {
    time_micros(&value::text(value)?)
}

/// The same of what is no moment: six digits may be both.
fn time_alone(text: &str) -> Option<i64> {
    let of_number = || {
        let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let is_number = (1..=7).contains(&whole.len()) && whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
        let number = whole.parse::<i64>().ok().filter(|number| is_number && number / 100 % 100 < 60 && number % 100 < 60)?;
        let fraction = format!("{fraction:0<6}")[..6].parse::<i64>().ok()?;
        Some(sign * (((number / 10_000 * 60 + number / 100 % 100) * 60 + number % 100) * 1_000_000 + fraction))
    };
    parse(text).map(|seconds| (seconds * 1e6).round() as i64).or_else(of_number)
}

/// Seconds as a time; a fraction only if there is one.
pub(crate) fn time_of(seconds: f64) -> String {
    let micros = (seconds.clamp(-MAX_SECONDS, MAX_SECONDS) * 1e6).round() as i64;
    time_text(micros, if micros % 1_000_000 == 0 { 0 } else { 6 })
}

/// `[-][D ]HHH:MM:SS[.ffffff]`, in seconds.
fn parse(text: &str) -> Option<f64> {
    let text = text.trim();
    let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let number = |text: &str| text.parse::<u32>().ok().map(f64::from);
    let (days, text) = match text.split_once(' ') {
        // No more than fit into the longest time.
        Some((days, rest)) => (number(days).filter(|days| *days <= 34.0)?, rest.trim_start()),
        None => (0.0, text),
    };
    let mut parts = text.split(':');
    let hours = days * 24.0 + number(parts.next()?)?;
    // `1 10` is a day and ten hours.
    let minutes = parts.next().map_or_else(|| (days > 0.0).then_some(0.0), number)?;
    let seconds = parts.next().map_or(Some(0.0), |seconds| seconds.parse::<f64>().ok())?;
    let is_time = parts.next().is_none() && minutes < 60.0 && (0.0..60.0).contains(&seconds);
    is_time.then_some(sign * ((hours * 60.0 + minutes) * 60.0 + seconds))
}

/// The text that is read as a moment; a number's with the zeros that it would have in front.
fn moment_text(value: ValueRef<'_>) -> Option<String> {
    let text = value::text(value)?;
    Some(if let ValueRef::Text(_) = value { text } else { moment::with_zeros(text) })
}

fn moment(value: ValueRef<'_>) -> Option<Moment> {
    Moment::parse(&moment_text(value)?)
}

pub(crate) fn from_unixtime(arguments: Arguments<'_>, state: &State) -> Result<Value, Error> {
    let Some(seconds) = Number::of(arguments[0]) else { return Ok(Value::Null) };
    // What no TIMESTAMP can be.
    if !(0.0..(LAST_TIMESTAMP + 1) as f64).contains(&seconds.real()) {
        return Ok(Value::Null);
    }
    let moment = state.time_zone().at(Moment::from_unix(seconds.real()));
    Ok(match arguments.get(1) {
        None => Value::Text(moment.to_string()),
        Some(format) => value::text(*format).map_or(Value::Null, |format| Value::Text(moment.format(&format))),
    })
}

/// From one time zone to another. What is no moment of UTC that a TIMESTAMP can have, is not converted.
pub(crate) fn convert_tz(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let zone = |index: usize| Zone::find(&value::text(arguments[index])?);
    let Some((from, to)) = zone(1).zip(zone(2)) else { return Ok(Value::Null) };
    at(arguments, |moment| {
        let utc = from.utc(moment);
        let has_timestamp = (1..=LAST_TIMESTAMP).contains(&utc.unix_seconds());
        // With a time of day, which a date is without; the digits of its fraction are cut where they are known.
        Value::Text(if has_timestamp { to.at(utc) } else { moment }.rounded_down(6).0)
    })
}

/// Of a time, which has no date: zeros in the place of its numbers, and nothing where a name would be.
pub(crate) fn time_format(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let time = micros_of(arguments[0]);
    let Some((time, format)) = time.zip(value::text(arguments[1])) else { return Ok(Value::Null) };
    let text = formatted(&format, |specifier| match specifier {
        'Y' => Some("0000".to_owned()),
        'y' | 'm' | 'd' => Some("00".to_owned()),
        'c' | 'e' => Some("0".to_owned()),
        'D' => Some("0th".to_owned()),
        'M' | 'b' | 'W' | 'a' | 'w' | 'j' | 'U' | 'u' | 'V' | 'v' | 'X' | 'x' => None,
        _ => Some(of_clock(time.saturating_abs(), specifier)),
    });
    let sign = if time < 0 { "-" } else { "" };
    Ok(text.map_or(Value::Null, |text| Value::Text(format!("{sign}{text}"))))
}

/// Whole units from the second to the third.
pub(crate) fn timestampdiff(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some(unit) = value::text(arguments[0]) else { return Ok(Value::Null) };
    let Some((from, to)) = moment(arguments[1]).zip(moment(arguments[2])) else { return Ok(Value::Null) };
    Ok(from.until(to, &unit).map_or(Value::Null, Value::Integer))
}

/// Of two moments or two times.
pub(crate) fn timediff(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some((a, b)) = value::text(arguments[0]).zip(value::text(arguments[1])) else { return Ok(Value::Null) };
    let micros = match (time_alone(&a), time_alone(&b)) {
        (Some(a), Some(b)) => Some(a - b),
        (None, None) => Moment::parse(&b).zip(Moment::parse(&a)).and_then(|(b, a)| b.until(a, "MICROSECOND")),
        _ => None,
    };
    Ok(micros.map_or(Value::Null, |micros| Value::Text(time_of(micros as f64 / 1e6))))
}

pub(crate) fn time_to_sec(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let micros = micros_of(arguments[0]);
    Ok(micros.map_or(Value::Null, |micros| Value::Integer(micros / 1_000_000)))
}

/// A function of a moment; NULL of what is none.
pub(crate) fn at(arguments: Arguments<'_>, f: impl Fn(Moment) -> Value) -> Result<Value, Error> {
    Ok(moment(arguments[0]).map_or(Value::Null, f))
}

pub(crate) fn date(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    Ok(moment_or_zero(arguments[0]).map_or(Value::Null, |moment| Value::Text(moment.date())))
}

fn moment_or_zero(value: ValueRef<'_>) -> Option<Moment> {
    Moment::parse_or_zero(&moment_text(value)?)
}

fn digits(arguments: Arguments<'_>) -> usize {
    arguments.get(1).and_then(|digits| Number::of(*digits)).map_or(0, |digits| digits.whole().clamp(0, 6) as usize)
}

/// The text of a moment with so many digits of a fraction.
pub(crate) fn to_datetime(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let moment = moment_or_zero(arguments[0]);
    Ok(moment.and_then(|moment| moment.rounded(digits(arguments))).map_or(Value::Null, Value::Text))
}

/// The same of a time.
pub(crate) fn to_time(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let micros = micros_of(arguments[0]);
    Ok(micros.map_or(Value::Null, |micros| Value::Text(time_text(micros, digits(arguments)))))
}

/// A moment as a column of this type has it; None if it is none.
pub(crate) fn in_column(value: ValueRef<'_>, sql_type: SqlType) -> Option<Value> {
    let text = match sql_type {
        SqlType::Date => moment_or_zero(value)?.date(),
        SqlType::Time(digits) => time_text(micros_of(value)?, digits.into()),
        SqlType::Datetime(digits) => moment_or_zero(value)?.rounded(digits.into())?,
        _ => return None,
    };
    Some(Value::Text(text))
}

/// Microseconds, by which moments are compared.
pub(crate) fn moment_key(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    Ok(moment_or_zero(arguments[0]).map_or(Value::Null, |moment| Value::Integer(moment.micros())))
}

pub(crate) fn time_key(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    Ok(micros_of(arguments[0]).map_or(Value::Null, Value::Integer))
}

pub(crate) fn time_of_key(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    Ok(match arguments[0] {
        ValueRef::Integer(micros) => Value::Text(time_text(micros, 6)),
        _ => Value::Null,
    })
}

/// The number that a moment is where it is added to another: `20261124123000`.
pub(crate) fn moment_number(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some(text) = value::text(arguments[0]) else { return Ok(Value::Null) };
    let sign = if text.starts_with('-') { "-" } else { "" };
    let digits: String = text.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    let number = format!("{sign}{digits}");
    Decimal::literal(&number).map_or_else(|| Number::parse(&number).store(), |decimal| Ok(decimal.store()))
}

/// How many of which unit an interval is: of seconds the microseconds count, of all others only whole ones. `-SECOND` are seconds to be taken
/// away.
fn interval<'u>(number: ValueRef<'_>, unit: &'u str) -> Option<(i64, &'u str)> {
    let (sign, unit) = unit.strip_prefix('-').map_or((1, unit), |unit| (-1, unit));
    let (number, unit) = match unit {
        "SECOND" => {
            let micros = Decimal::from(1_000_000).multiply(&numbers::as_decimal(number)?.to_places(6, false)).ok()?;
            (micros.whole(), "MICROSECOND")
        }
        unit => (Number::to_integer(number)?.whole(), unit),
    };
    Some((i64::try_from(number.checked_mul(sign)?).ok()?, unit))
}

/// A time later by an interval.
pub(crate) fn time_add(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let (Some(text), Some(unit)) = (value::text(arguments[0]), value::text(arguments[2])) else { return Ok(Value::Null) };
    let later = || {
        let (number, unit) = interval(arguments[1], &unit)?;
        let size = match unit {
            "MICROSECOND" => 1,
            "MINUTE" => 60_000_000,
            "HOUR" => 3_600_000_000,
            _ => return None,
        };
        let micros = time_micros(&text)?.checked_add(number.checked_mul(size)?)?;
        // Beyond the times that there are.
        (micros.unsigned_abs() <= MAX_SECONDS as u64 * 1_000_000).then_some(micros)
    };
    Ok(later().map_or(Value::Null, |micros| Value::Text(time_text(micros, digits(&arguments[2..])))))
}

/// A number out of a moment or a time; of several units, one number behind the other.
pub(crate) fn part(value: ValueRef<'_>, unit: &str) -> Option<i64> {
    if let Some((first, last)) = unit.split_once('_') {
        const UNITS: [&str; 6] = ["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"];
        let place = |unit: &str| UNITS.iter().position(|name| *name == unit);
        let units = &UNITS[place(first)?..=place(last).unwrap_or(UNITS.len() - 1)];
        let number = units.iter().try_fold(0, |number, unit| Some(number * 100 + part(value, unit)?))?;
        return if last == "MICROSECOND" { Some(number * 1_000_000 + part(value, last)?) } else { Some(number) };
    }
    let text = moment_text(value)?;
    let most = MAX_SECONDS as i64 * 1_000_000;
    let of_time = |part: fn(i64) -> i64| Some(part(time_micros(&text)?.clamp(-most, most)));
    match unit.to_ascii_uppercase().as_str() {
        "HOUR" => of_time(|micros| micros / 3_600_000_000),
        "MINUTE" => of_time(|micros| micros / 60_000_000 % 60),
        "SECOND" => of_time(|micros| micros / 1_000_000 % 60),
        "MICROSECOND" => of_time(|micros| micros % 1_000_000),
        unit => Moment::parse(&text).map_or_else(
            || {
                let (year, month, day) = Moment::incomplete(&text)?;
                Some(match unit {
                    "YEAR" => year,
                    "QUARTER" => (month + 2) / 3,
                    "MONTH" => month,
                    "DAY" => day,
                    _ => return None,
                })
            },
            |moment| moment.part(unit),
        ),
    }
}

/// What is told how many digits it has, always has a time of day.
pub(crate) fn date_add(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some(unit) = value::text(arguments[2]) else { return Ok(Value::Null) };
    let Some((number, unit)) = interval(arguments[1], &unit) else { return Ok(Value::Null) };
    let text = |moment: Moment| match arguments {
        [_, _, _] => Some(moment.to_string()),
        _ => moment.rounded(digits(&arguments[2..])),
    };
    at(arguments, |moment| moment.add(number, unit).and_then(text).map_or(Value::Null, Value::Text))
}

pub(crate) fn datediff(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let day = |index: usize| moment(arguments[index]).map(Moment::day);
    Ok(day(0).zip(day(1)).map_or(Value::Null, |(a, b)| Value::Integer(a - b)))
}

/// WEEK, and with the year YEARWEEK: by one of eight modes.
pub(crate) fn week(arguments: Arguments<'_>, with_year: bool) -> Result<Value, Error> {
    let mode = arguments.get(1).map_or(Some(Number::Integer(0)), |mode| Number::of(*mode));
    let Some(mode) = mode.map(|mode| (mode.whole() & 7) as i64) else { return Ok(Value::Null) };
    // Where weeks begin on Sunday the modes say the contrary of what they mean.
    let mode = if mode & 1 == 0 { mode ^ 4 } else { mode };
    at(&arguments[..1], |moment| {
        let (week, year) = moment.week(if with_year { mode | 2 } else { mode });
        Value::Integer(if with_year { year * 100 + week } else { week })
    })
}

/// The day of this number of a year.
pub(crate) fn makedate(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some((year, day)) = Number::of(arguments[0]).zip(Number::of(arguments[1])) else { return Ok(Value::Null) };
    let year = i64::try_from(year.whole()).unwrap_or(-1);
    let year = if (0..100).contains(&year) { full_year(year) } else { year };
    let first = Moment::of_parts((year, 1, 1), 0).filter(|_| day.whole() > 0);
    let date = first.and_then(|first| first.add(i64::try_from(day.whole()).ok()?.checked_sub(1)?, "DAY"));
    Ok(date.map_or(Value::Null, |date| Value::Text(date.date())))
}

pub(crate) fn maketime(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let parts: Option<Vec<f64>> = arguments.iter().map(|part| Number::of(*part).map(|part| part.real())).collect();
    let Some([hour, minute, second]) = parts.as_deref() else { return Ok(Value::Null) };
    if !(0.0..60.0).contains(minute) || !(0.0..60.0).contains(second) {
        return Ok(Value::Null);
    }
    let seconds = hour.abs().round() * 3600.0 + minute.round() * 60.0 + second;
    Ok(Value::Text(time_of(if *hour < 0.0 { -seconds } else { seconds })))
}

/// The day of this number since the year 0; none before the Gregorian calendar's first year.
pub(crate) fn from_days(arguments: Arguments<'_>) -> Value {
    let Some(days) = Number::of(arguments[0]).map(|days| days.whole()) else { return Value::Null };
    let since_1970 = days.checked_sub(719_528).and_then(|days| i64::try_from(days).ok()).filter(|_| days > 365);
    let date = since_1970.and_then(|days| Moment::from_unix(0.0).add(days, "DAY"));
    Value::Text(date.map_or_else(|| "0000-00-00".to_owned(), Moment::date))
}

/// Months of a period: `202611`, `2611`.
fn months(period: ValueRef<'_>, function: &str) -> Result<Option<i64>, Error> {
    let Some(period) = Number::to_integer(period) else { return Ok(None) };
    match i64::try_from(period.whole()) {
        Ok(period @ 1..=999_999) if (1..=12).contains(&(period % 100)) => {
            let year = period / 100;
            Ok(Some((if year < 100 { full_year(year) } else { year }) * 12 + period % 100 - 1))
        }
        _ => Err(Error::new(1210, "HY000", format!("Incorrect arguments to {function}"))),
    }
}

/// A period later by so many months.
pub(crate) fn period_add(arguments: Arguments<'_>) -> Result<Value, Error> {
    let Some((from, more)) = months(arguments[0], "period_add")?.zip(Number::of(arguments[1])) else { return Ok(Value::Null) };
    let months = i64::try_from(more.whole()).unwrap_or(i64::MAX).saturating_add(from);
    let year = months.div_euclid(12);
    let year = if (0..100).contains(&year) { full_year(year) } else { year };
    Ok(Value::Integer(year.saturating_mul(100).saturating_add(months.rem_euclid(12) + 1)))
}

pub(crate) fn period_diff(arguments: Arguments<'_>) -> Result<Value, Error> {
    let (from, to) = (months(arguments[1], "period_diff")?, months(arguments[0], "period_diff")?);
    Ok(to.zip(from).map_or(Value::Null, |(to, from)| Value::Integer(to - from)))
}

/// A moment or a time, later by a time, or earlier.
pub(crate) fn add_time(arguments: Arguments<'_>, sign: i64) -> Value {
    let more = value::text(arguments[1]).and_then(|text| Some(sign * time_alone(&text)?));
    let Some((from, more)) = value::text(arguments[0]).zip(more) else { return Value::Null };
    let Some(time) = time_alone(&from) else { return moment_later(&from, more) };
    let micros = time.saturating_add(more);
    Value::Text(time_text(micros, if micros % 1_000_000 == 0 { 0 } else { 6 }))
}

fn moment_later(text: &str, micros: i64) -> Value {
    let later = Moment::parse(text).and_then(|moment| moment.with_clock().add_micros(micros));
    later.map_or(Value::Null, |moment| Value::Text(moment.to_string()))
}

/// TIMESTAMP of two arguments: a moment later by a time.
pub(crate) fn timestamp(arguments: Arguments<'_>) -> Value {
    let more = arguments.get(1).and_then(|more| time_alone(&value::text(*more)?));
    moment_text(arguments[0]).zip(more).map_or(Value::Null, |(moment, more)| moment_later(&moment, more))
}

/// An interval of several units, as `'1:30' MINUTE_SECOND`, in the unit that [`compound_unit`] says. What is missing is missing in front.
pub(crate) fn interval_of(arguments: Arguments<'_>) -> Value {
    let Some((text, unit)) = value::text(arguments[0]).zip(value::text(arguments[1])) else { return Value::Null };
    let (sign, digits) = text.trim_start().strip_prefix('-').map_or((1, text.as_str()), |rest| (-1, rest));
    let parts: Vec<&str> = digits.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
    const UNITS: [(&str, i64); 7] = [
        ("YEAR", 12),
        ("MONTH", 1),
        ("DAY", 86_400_000_000),
        ("HOUR", 3_600_000_000),
        ("MINUTE", 60_000_000),
        ("SECOND", 1_000_000),
        ("MICROSECOND", 1),
    ];
    let (first, last) = unit.split_once('_').unwrap_or((&unit, &unit));
    let place = |unit: &str| UNITS.iter().position(|(name, _)| *name == unit).unwrap_or(0);
    let units = &UNITS[place(first)..=place(last)];
    if parts.len() > units.len() {
        return Value::Null;
    }
    let number = |(part, (name, size)): (&&str, &(&str, i64))| {
        // They are a fraction of the second before them.
        let part = if *name == "MICROSECOND" { format!("{part:0<6}").get(..6)?.to_owned() } else { (*part).to_owned() };
        part.parse::<i64>().ok()?.checked_mul(*size)
    };
    let sum = parts.iter().rev().zip(units.iter().rev()).map(number).try_fold(0_i64, |sum, part| sum.checked_add(part?));
    let divisor = if compound_unit(&unit) == "SECOND" { 1_000_000 } else { 1 };
    sum.map_or(Value::Null, |sum| Value::Integer(sign * sum / divisor))
}

/// The one unit that several are counted in.
pub(crate) fn compound_unit(unit: &str) -> &str {
    match unit.split_once('_') {
        Some(("YEAR", _)) => "MONTH",
        Some((_, "MICROSECOND")) => "MICROSECOND",
        Some(_) => "SECOND",
        None => unit,
    }
}

/// What of a format is about the time of day.
const TIME_SPECIFIERS: &str = "HhIklisSTrpf";

/// What STR_TO_DATE reads.
#[derive(Default)]
struct Parts {
    date: Option<(i64, i64, i64)>,
    day_of_year: Option<i64>,
    /// The specifier of a week, which says how weeks are counted, and its number.
    week: Option<(char, i64)>,
    /// The same of the year that a week is of.
    year_of_week: Option<(char, i64)>,
    /// From Sunday.
    weekday: Option<i64>,
    hour: i64,
    is_afternoon: Option<bool>,
    minute: i64,
    second: i64,
    micros: i64,
    has_time: bool,
    has_micros: bool,
}

impl Parts {
    fn date(&mut self) -> &mut (i64, i64, i64) {
        self.date.get_or_insert((0, 0, 0))
    }

    /// Reads a text, which may end before the format does, and gives what is left of it; None if it is not as the format says.
    fn read<'t>(&mut self, text: &'t str, format: &str) -> Option<&'t str> {
        let mut rest = text.trim_start();
        let mut format = format.chars();
        while let Some(expected) = format.next() {
            rest = rest.trim_start();
            if rest.is_empty() {
                break;
            }
            if expected.is_whitespace() {
                continue;
            }
            if expected != '%' {
                rest = rest.strip_prefix(expected)?;
                continue;
            }
            let mut number = |most: usize| {
                let digits = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
                let number = rest[..digits].parse::<i64>().ok();
                rest = &rest[digits..];
                number
            };
            let specifier = format.next()?;
            match specifier {
                'Y' => self.date().0 = number(4)?,
                'y' => self.date().0 = full_year(number(2)?),
                'm' | 'c' => self.date().1 = number(2)?,
                'd' | 'e' => self.date().2 = number(2)?,
                'D' => {
                    self.date().2 = number(2)?;
                    // `st`, `nd` and so on.
                    rest = rest.get(2..)?;
                }
                'U' | 'u' | 'V' | 'v' => {
                    let least = i64::from(specifier.eq_ignore_ascii_case(&'V'));
                    self.week = Some((specifier, number(2).filter(|week| (least..=53).contains(week))?));
                }
                'X' | 'x' => self.year_of_week = Some((specifier, number(4)?)),
                'w' => self.weekday = Some(number(1).filter(|day| *day < 7)?),
                'j' => self.day_of_year = Some(number(3)?),
                'H' | 'k' | 'h' | 'I' | 'l' => self.hour = number(2)?,
                'i' => self.minute = number(2)?,
                's' | 'S' => self.second = number(2)?,
                'f' => {
                    let digits = rest.bytes().take(6).take_while(u8::is_ascii_digit).count();
                    self.micros = format!("{:0<6}", &rest[..digits]).parse().ok()?;
                    rest = &rest[digits..];
                }
                'p' => {
                    let half = rest.get(..2)?;
                    self.is_afternoon = Some(half.eq_ignore_ascii_case("PM"));
                    if !half.eq_ignore_ascii_case("AM") && !half.eq_ignore_ascii_case("PM") {
                        return None;
                    }
                    rest = &rest[2..];
                }
                'M' | 'b' => {
                    let short = specifier == 'b';
                    let (index, length) = named(rest, &MONTHS, short)?;
                    self.date().1 = index + 1;
                    rest = &rest[length..];
                }
                'W' | 'a' => {
                    let (index, length) = named(rest, &WEEKDAYS, specifier == 'a')?;
                    self.weekday = Some(index);
                    rest = &rest[length..];
                }
                'T' => rest = self.read(rest, "%H:%i:%s")?,
                'r' => rest = self.read(rest, "%I:%i:%s %p")?,
                '%' => rest = rest.strip_prefix('%')?,
                _ => return None,
            }
        }
        Some(rest)
    }

    /// Makes a date of a week and a day of it, if both are there; None: the week is of another kind of year.
    fn join_week(&mut self) -> Option<()> {
        let (Some((specifier, week)), Some(weekday)) = (self.week, self.weekday) else { return Some(()) };
        let year = match (specifier, self.year_of_week) {
            ('V', Some(('X', year))) | ('v', Some(('x', year))) => year,
            ('U' | 'u', None) => self.date().0,
            _ => return None,
        };
        let is_from_sunday = specifier.is_uppercase();
        let place = |from_sunday: i64| if is_from_sunday { from_sunday } else { (from_sunday + 6) % 7 };
        let first = Moment::of_parts((year, 1, 1), 0)?;
        let place_of_first = place(first.weekday());
        // The first week that is whole, or that has most of its days in the year.
        let is_in_first_week = place_of_first == 0 || !is_from_sunday && place_of_first <= 3;
        let to_first_week = if is_in_first_week { -place_of_first } else { 7 - place_of_first };
        let moment = first.add(to_first_week + (week - 1) * 7 + place(weekday), "DAY")?;
        self.date = Some(moment.civil());
        Some(())
    }

    fn text(mut self) -> Option<String> {
        if let Some(is_afternoon) = self.is_afternoon {
            if !(1..=12).contains(&self.hour) {
                return None;
            }
            self.hour = self.hour % 12 + if is_afternoon { 12 } else { 0 };
        }
        if !(0..24).contains(&self.hour) || !(0..60).contains(&self.minute) || !(0..60).contains(&self.second) {
            return None;
        }
        let seconds = (self.hour * 60 + self.minute) * 60 + self.second;
        let micros = seconds * 1_000_000 + self.micros;
        if let Some(day) = self.day_of_year {
            let first = Moment::of_parts((self.date().0, 1, 1), 0)?;
            let moment = first.add(day - 1, "DAY")?;
            self.date = Some(moment.civil());
        }
        self.join_week()?;
        let time = format!("{:02}:{:02}:{:02}", self.hour, self.minute, self.second);
        let time = if self.has_micros { format!("{time}.{:06}", self.micros) } else { time };
        let has_date = self.week.is_some() || self.year_of_week.is_some() || self.weekday.is_some();
        match self.date {
            None => (self.has_time && !has_date).then_some(time),
            Some(date) => {
                let moment = Moment::of_parts(date, micros)?;
                Some(if self.has_time { format!("{} {time}", moment.date()) } else { moment.date() })
            }
        }
    }
}

/// The number of the name that a text begins with, and how long it is.
fn named(text: &str, names: &[&str], short: bool) -> Option<(i64, usize)> {
    let length = |name: &str| if short { 3 } else { name.len() };
    let is_at = |name: &str| text.get(..length(name)).is_some_and(|text| text.eq_ignore_ascii_case(&name[..length(name)]));
    let index = names.iter().position(|name| is_at(name))?;
    Some((index as i64, length(names[index])))
}

/// What STR_TO_DATE makes by this format.
pub(crate) fn read_kind(format: &str) -> Kind {
    let format = format.replace("%%", "");
    let specifiers: Vec<char> = format.split('%').skip(1).filter_map(|part| part.chars().next()).collect();
    let has = |some: &str| specifiers.iter().any(|specifier| some.contains(*specifier));
    let digits = if has("f") { 6 } else { 0 };
    match (has("YymcdejMbDUuVvXxWaw"), has(TIME_SPECIFIERS)) {
        (false, true) => Kind::Time(digits),
        (_, false) => Kind::Date,
        _ => Kind::Datetime(digits),
    }
}

pub(crate) fn str_to_date(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some((text, format)) = value::text(arguments[0]).zip(value::text(arguments[1])) else { return Ok(Value::Null) };
    let kind = read_kind(&format);
    let has_micros = matches!(kind, Kind::Time(6) | Kind::Datetime(6));
    let mut parts = Parts { has_time: kind != Kind::Date, has_micros, ..Parts::default() };
    let Some(_) = parts.read(&text, &format) else { return Ok(Value::Null) };
    if !matches!(kind, Kind::Time(_)) {
        // The format has one, though the text may have ended before.
        parts.date();
    }
    Ok(parts.text().map_or(Value::Null, Value::Text))
}
