//! Functions of moments and of times, which are lengths: `-12:30:00`.

use crate::Error;
use crate::functions::Arguments;
use crate::moment::Moment;
use crate::state::State;
use crate::value::{self, Number};
use rusqlite::Result;
use rusqlite::types::{Value, ValueRef};

/// The longest time that MySQL has: 838:59:59.
const MAX_SECONDS: f64 = 3_020_399.0;

/// Seconds as a time; a fraction only if there is one.
pub(crate) fn time_of(seconds: f64) -> String {
    let micros = (seconds.clamp(-MAX_SECONDS, MAX_SECONDS) * 1e6).round() as i64;
    let (sign, micros) = (if micros < 0 { "-" } else { "" }, micros.abs());
    let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
    let fraction = if micros == 0 { String::new() } else { format!(".{micros:06}") };
    format!("{sign}{:02}:{:02}:{:02}{fraction}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// `[-]HHH:MM:SS[.ffffff]`, in seconds.
fn parse(text: &str) -> Option<f64> {
    let text = text.trim();
    let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let mut parts = text.split(':');
    let mut whole = || parts.next()?.parse::<u32>().ok().map(f64::from);
    let (hours, minutes) = (whole()?, whole()?);
    let seconds = parts.next().map_or(Some(0.0), |seconds| seconds.parse::<f64>().ok())?;
    let is_time = parts.next().is_none() && minutes < 60.0 && (0.0..60.0).contains(&seconds);
    is_time.then_some(sign * ((hours * 60.0 + minutes) * 60.0 + seconds))
}

fn moment(value: ValueRef<'_>) -> Option<Moment> {
    Moment::parse(&value::text(value)?)
}

pub(crate) fn from_unixtime(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some(moment) = Number::of(arguments[0]).map(|seconds| Moment::from_unix(seconds.real())) else { return Ok(Value::Null) };
    Ok(match arguments.get(1) {
        None => Value::Text(moment.to_string()),
        Some(format) => value::text(*format).map_or(Value::Null, |format| Value::Text(moment.format(&format))),
    })
}

/// Whole units from the second to the third.
pub(crate) fn timestampdiff(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some(unit) = value::text(arguments[0]) else { return Ok(Value::Null) };
    let Some((from, to)) = moment(arguments[1]).zip(moment(arguments[2])) else { return Ok(Value::Null) };
    Ok(from.until(to, &unit).map_or(Value::Null, Value::Integer))
}

/// Of two moments or two times.
pub(crate) fn timediff(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    if let Some((a, b)) = moment(arguments[0]).zip(moment(arguments[1])) {
        let micros = b.until(a, "MICROSECOND").unwrap_or(0);
        return Ok(Value::Text(time_of(micros as f64 / 1e6)));
    }
    let seconds = |index: usize| value::text(arguments[index]).and_then(|text| parse(&text));
    Ok(seconds(0).zip(seconds(1)).map_or(Value::Null, |(a, b)| Value::Text(time_of(a - b))))
}

pub(crate) fn time_to_sec(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    match value::text(arguments[0]).and_then(|text| parse(&text)) {
        Some(seconds) => Ok(Value::Integer(seconds.trunc() as i64)),
        None => {
            at(arguments, |moment| parse(&moment.time()).map_or(Value::Null, |seconds| Value::Integer(seconds.trunc() as i64)))
        }
    }
}

/// A function of a moment; NULL of what is none.
pub(crate) fn at(arguments: Arguments<'_>, f: impl Fn(Moment) -> Value) -> Result<Value, Error> {
    Ok(value::text(arguments[0]).and_then(|text| Moment::parse(&text)).map_or(Value::Null, f))
}

pub(crate) fn date_add(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let (Some(number), Some(unit)) = (Number::of(arguments[1]), value::text(arguments[2])) else { return Ok(Value::Null) };
    at(arguments, |moment| moment.add(number.real(), &unit).map_or(Value::Null, |moment| Value::Text(moment.to_string())))
}

pub(crate) fn datediff(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let day = |index: usize| value::text(arguments[index]).and_then(|text| Moment::parse(&text)).map(|moment| moment.day());
    Ok(day(0).zip(day(1)).map_or(Value::Null, |(a, b)| Value::Integer(a - b)))
}
