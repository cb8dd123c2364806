//! Functions of numbers.

use crate::decimal::{Decimal, MAX_DIGITS, MAX_SCALE};
use crate::functions::Arguments;
use crate::state::State;
use crate::value::{self, Number};
use crate::{Error, compare, texts};
use rusqlite::Result;
use rusqlite::types::{Value, ValueRef};

/// A function of one number; NULL of NULL.
pub(crate) fn one(arguments: Arguments<'_>, f: impl Fn(Number) -> Result<Number, Error>) -> Result<Value, Error> {
    Number::of(arguments[0]).map_or(Ok(Value::Null), |number| f(number)?.store())
}

pub(crate) fn one_text(arguments: Arguments<'_>, f: impl Fn(Number) -> String) -> Result<Value, Error> {
    Ok(Number::of(arguments[0]).map_or(Value::Null, |number| Value::Text(f(number))))
}

/// As CONV: of no digits at all NULL.
pub(crate) fn digits_of(arguments: Arguments<'_>, f: impl Fn(Number) -> String) -> Result<Value, Error> {
    if matches!(arguments[0], ValueRef::Text(b"")) { Ok(Value::Null) } else { one_text(arguments, f) }
}

pub(crate) fn both(arguments: Arguments<'_>, f: impl Fn(Number, Number) -> Number) -> Result<Value, Error> {
    match (Number::of(arguments[0]), Number::of(arguments[1])) {
        (Some(a), Some(b)) => f(a, b).store(),
        _ => Ok(Value::Null),
    }
}

/// Of whole numbers, of exact ones, or else of fractions. A text is taken for a whole number if it is one, for a fraction otherwise.
pub(crate) fn arithmetic(
    arguments: Arguments<'_>,
    integers: fn(i128, i128) -> Option<i128>,
    decimals: fn(&Decimal, &Decimal) -> Result<Decimal, Error>,
    reals: fn(f64, f64) -> f64,
) -> Result<Value, Error> {
    let (Some(a), Some(b)) = (Number::of(arguments[0]), Number::of(arguments[1])) else { return Ok(Value::Null) };
    if let (Number::Integer(a), Number::Integer(b)) = (&a, &b) {
        return Number::Integer(integers(*a, *b).ok_or_else(|| Error::out_of_range("BIGINT UNSIGNED"))?).store();
    }
    match (Number::exact(arguments[0]), Number::exact(arguments[1])) {
        (Some(a), Some(b)) => Ok(decimals(&a, &b)?.store()),
        _ => Number::Real(reals(a.real(), b.real())).store(),
    }
}

/// Division of any kind: by zero it is NULL.
pub(crate) fn quotient(
    arguments: Arguments<'_>,
    decimals: fn(&Decimal, &Decimal) -> Option<Result<Decimal, Error>>,
    others: fn(&Number, &Number) -> Number,
) -> Result<Value, Error> {
    let (Some(a), Some(b)) = (Number::of(arguments[0]), Number::of(arguments[1])) else { return Ok(Value::Null) };
    match (Number::exact(arguments[0]), Number::exact(arguments[1])) {
        _ if b.is_zero() => Ok(Value::Null),
        (Some(a), Some(b)) => decimals(&a, &b).map_or(Ok(Value::Null), |result| Ok(result?.store())),
        _ => others(&a, &b).store(),
    }
}

pub(crate) fn integer_division(a: &Number, b: &Number) -> Number {
    match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => Number::Integer(a.checked_div(*b).unwrap_or(0)),
        (a, b) => Number::Integer((a.real() / b.real()).trunc() as i128),
    }
}

pub(crate) fn remainder(a: &Number, b: &Number) -> Number {
    match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => Number::Integer(a.checked_rem(*b).unwrap_or(0)),
        (a, b) => Number::Real(a.real() % b.real()),
    }
}

/// An exact number with a point; all else stays as it is.
pub(crate) fn on_decimal(value: ValueRef<'_>, f: impl Fn(&Decimal) -> Decimal) -> Value {
    if let ValueRef::Blob(_) = value
        && let Some(Number::Decimal(decimal)) = Number::of(value)
    {
        return f(&decimal).store();
    }
    value::owned(value)
}

/// With so many digits behind the point, if it is exact.
pub(crate) fn with_scale(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let scale = Number::of(arguments[1]).map_or(0, |scale| scale.whole().clamp(0, MAX_SCALE.into()) as u8);
    Ok(match arguments[0] {
        ValueRef::Integer(number) => Decimal::from(i128::from(number)).with_scale(scale).store(),
        value => on_decimal(value, |decimal| decimal.with_scale(scale)),
    })
}

/// The exact number that a value is taken for; None for NULL.
pub(crate) fn as_decimal(value: ValueRef<'_>) -> Option<Decimal> {
    match value {
        ValueRef::Text(text) => Some(Decimal::of_text(&String::from_utf8_lossy(text))),
        value => match Number::of(value)? {
            Number::Real(number) => Some(Decimal::of_real(number)),
            number => number.decimal(),
        },
    }
}

/// `CAST(x AS DECIMAL(digits, scale))`: what is too large becomes the largest, with a warning that names the column.
pub(crate) fn decimal(arguments: Arguments<'_>, state: &State) -> Result<Value, Error> {
    let limit = |index: usize, most: u8| Number::of(arguments[index]).map_or(most, |n| n.whole().clamp(0, most.into()) as u8);
    let (digits, scale) = (limit(1, MAX_DIGITS), limit(2, MAX_SCALE));
    let column = value::text(arguments[3]).unwrap_or_default();
    Ok(fitted(arguments[0], (digits, scale), &column, state))
}

/// The same of a value for this column.
pub(crate) fn fitted(value: ValueRef<'_>, (digits, scale): (u8, u8), column: &str, state: &State) -> Value {
    let Some(number) = as_decimal(value) else { return Value::Null };
    let (fitted, is_too_large) = number.fitted(digits, scale);
    if is_too_large {
        let error = Error::new(1264, "22003", format!("Out of range value for column '{column}' at row 1"));
        state.warn("Warning", error);
    }
    fitted.store()
}

/// A number as SQLite compares it with all others: whole, or a fraction.
pub(crate) fn comparable(number: Number) -> Number {
    number.decimal_or(|decimal| {
        let normal = decimal.normal();
        if normal.scale() == 0 { Number::Decimal(normal) } else { Number::Real(decimal.real()) }
    })
}

pub(crate) fn to_unsigned(number: Number) -> u64 {
    let whole = number.whole();
    // A negative number wraps round, as MySQL's CAST does.
    u64::try_from(whole).unwrap_or(if whole < 0 { whole as u64 } else { u64::MAX })
}

pub(crate) fn to_signed(number: Number) -> i64 {
    match number {
        // One that only fits unsigned wraps round, as in MySQL.
        Number::Integer(whole) => i64::try_from(whole).or(u64::try_from(whole).map(|whole| whole as i64)),
        Number::Decimal(_) | Number::Real(_) => i64::try_from(number.whole()),
    }
    .unwrap_or(if number.real() < 0.0 { i64::MIN } else { i64::MAX })
}

/// A function of a number that is made whole; NULL of NULL.
pub(crate) fn integer(arguments: Arguments<'_>, f: impl Fn(Number) -> i128) -> Result<Value, Error> {
    Number::to_integer(arguments[0]).map_or(Ok(Value::Null), |number| Number::Integer(f(number)).store())
}

pub(crate) fn bits(arguments: Arguments<'_>, f: impl Fn(u64, u64) -> u64) -> Result<Value, Error> {
    let numbers = Number::to_integer(arguments[0]).zip(Number::to_integer(arguments[1]));
    numbers.map_or(Ok(Value::Null), |(a, b)| Number::Integer(f(to_unsigned(a), to_unsigned(b)).into()).store())
}

/// By so many bits; none are left of what is shifted by more than there are.
pub(crate) fn shifted(by: u64, shift: impl Fn(u32) -> Option<u64>) -> u64 {
    u32::try_from(by).ok().and_then(shift).unwrap_or(0)
}

pub(crate) fn map(number: Number, integer: fn(i128) -> i128, decimal: fn(&Decimal) -> Decimal, real: fn(f64) -> f64) -> Number {
    match number {
        Number::Integer(number) => Number::Integer(integer(number)),
        Number::Decimal(number) => Number::Decimal(decimal(&number)),
        Number::Real(number) => Number::Real(real(number)),
    }
}

/// Rounded to a whole number, which stays one.
pub(crate) fn whole(number: Number, decimal: fn(&Decimal) -> Decimal, round: fn(f64) -> f64) -> Number {
    match number {
        Number::Real(number) if round(number).abs() < 1e18 => Number::Integer(round(number) as i128),
        other => map(other, |number| number, decimal, round),
    }
}

pub(crate) fn rounded(arguments: Arguments<'_>, is_rounded: bool, round: fn(f64) -> f64) -> Result<Value, Error> {
    let places = match arguments.get(1) {
        None => 0,
        Some(places) => match Number::of(*places) {
            None => return Ok(Value::Null),
            Some(places) => places.whole(),
        },
    };
    one(arguments, |number| match number {
        Number::Integer(_) if places >= 0 => Ok(number),
        Number::Integer(number) => Ok(Number::Decimal(Decimal::from(number).to_places(places, is_rounded))),
        Number::Decimal(number) => Ok(Number::Decimal(number.to_places(places, is_rounded))),
        Number::Real(number) if places == 0 => Ok(whole(Number::Real(number), Decimal::clone, round)),
        Number::Real(number) => Ok(Number::Real(to_places(number, places, round))),
    })
}

fn to_places(number: f64, places: i128, round: fn(f64) -> f64) -> f64 {
    // The nearest number that there is, which what multiplies up to it is not; infinite beyond all.
    let unit: f64 = format!("1e{}", places.unsigned_abs()).parse().unwrap_or(f64::INFINITY);
    match places {
        ..0 if unit.is_infinite() => 0.0,
        ..0 => round(number / unit) * unit,
        // What is as large has no digits there, and what is 0 has none anywhere.
        _ if !(number * unit).is_finite() => number,
        _ => round(number * unit) / unit,
    }
}

pub(crate) fn positive(arguments: Arguments<'_>, f: fn(f64) -> f64) -> Result<Value, Error> {
    one(arguments, |number| Ok(Number::Real(f(number.real())))).or(Ok(Value::Null))
}

/// Of one number to the base e, or of the second to the base of the first.
pub(crate) fn log(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    match arguments {
        [number] => positive(&[*number], f64::ln),
        _ => both(arguments, |base, number| Number::Real(number.real().log(base.real()))).or(Ok(Value::Null)),
    }
}

/// How many of the numbers behind the first are not larger than that, up to one that is; -1 of NULL.
pub(crate) fn interval(arguments: Arguments<'_>) -> Value {
    let [first, rest @ ..] = arguments else { return Value::Null };
    if *first == ValueRef::Null {
        return Value::Integer(-1);
    }
    let is_larger = |other: &&ValueRef<'_>| compare::numbers(**other, *first).is_some_and(std::cmp::Ordering::is_gt);
    texts::integer(rest.iter().position(|other| is_larger(&other)).unwrap_or(rest.len()))
}

/// Random numbers, the same for the same seed as in MySQL.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Generator {
    first: u64,
    second: u64,
}

impl Generator {
    const MOST: u64 = 0x3FFF_FFFF;

    pub(crate) fn of(seed: ValueRef<'_>) -> Generator {
        // The last 32 bits of it count.
        let seed = Number::of(seed).map_or(0, to_signed) as u32;
        let first = seed.wrapping_mul(0x1_0001).wrapping_add(55_555_555);
        let second = seed.wrapping_mul(0x1000_0001);
        Generator { first: u64::from(first) % Generator::MOST, second: u64::from(second) % Generator::MOST }
    }

    /// From 0 to 1, and not 1.
    pub(crate) fn next(&mut self) -> f64 {
        self.first = (self.first * 3 + self.second) % Generator::MOST;
        self.second = (self.first + self.second + 33) % Generator::MOST;
        self.first as f64 / Generator::MOST as f64
    }
}
