//! Values on their way into SQLite and back.
//!
//! SQLite's integers are signed, MySQL's counters and picoseconds are not: a number above 2⁶³−1 travels as 16 bytes, largest first. SQLite
//! orders such bytes after all numbers and among themselves by size, which is the order of whole numbers; so comparisons, ORDER BY, MIN,
//! MAX, GROUP BY and DISTINCT need nothing more, but where there are fractions among them ([`crate::order`]). An exact number with a point
//! travels as bytes, too, of another length ([`crate::decimal`]); equal ones of one scale are equal bytes. Arithmetic and SUM are functions
//! of this crate ([`crate::functions`]), which know all forms. Nothing else is a blob here: texts of bytes are texts.

use crate::catalog::Column;
use crate::decimal::{Decimal, MAX_DIGITS};
use crate::state::State;
use crate::{Error, numbers, times};
use perfschema::core::table::{SqlType, Value};
use perfschema::render::OwnedValue;
use rusqlite::types::{Value as SqliteValue, ValueRef};

/// A number as arithmetic needs it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Number {
    Integer(i128),
    Decimal(Decimal),
    Real(f64),
}

impl Number {
    /// The number that a value is taken for, as MySQL does: a text by what it begins with. None for NULL.
    pub(crate) fn of(value: ValueRef<'_>) -> Option<Number> {
        match value {
            ValueRef::Null => None,
            ValueRef::Integer(number) => Some(Number::Integer(number.into())),
            ValueRef::Real(number) => Some(Number::Real(number)),
            ValueRef::Text(text) => Some(Number::parse(&String::from_utf8_lossy(text))),
            ValueRef::Blob(bytes) => Some(match (big(bytes), Decimal::load(bytes)) {
                (Some(number), _) if number <= u64::MAX.into() => Number::Integer(number),
                (Some(number), _) => Number::Decimal(number.into()),
                (None, Some(decimal)) => Number::Decimal(decimal),
                (None, None) => Number::Integer(0),
            }),
        }
    }

    /// The same where a whole number is asked for: of a text no more than the digits that it begins with.
    pub(crate) fn to_integer(value: ValueRef<'_>) -> Option<Number> {
        let ValueRef::Text(text) = value else { return Number::of(value) };
        let text = String::from_utf8_lossy(text);
        let text = text.trim_start();
        let sign = usize::from(text.starts_with(['-', '+']));
        let end = text[sign..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |length| sign + length);
        let digits = text[sign..end].bytes().map(|digit| i128::from(digit - b'0'));
        let size = digits.fold(0, |size: i128, digit| size.saturating_mul(10).saturating_add(digit));
        Some(Number::Integer(if text.starts_with('-') { size.min(1 << 63).wrapping_neg() } else { size.min(u64::MAX.into()) }))
    }

    pub(crate) fn parse(text: &str) -> Number {
        let text = text.trim_start();
        let digits_from =
            |from: usize| text[from..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |length| from + length);
        let sign = usize::from(text.starts_with(['-', '+']));
        let whole = digits_from(sign);
        let mut end = whole;
        if text[end..].starts_with('.') {
            end = digits_from(end + 1);
        }
        if text[end..].starts_with(['e', 'E']) {
            let sign = usize::from(text[end + 1..].starts_with(['-', '+']));
            let exponent = digits_from(end + 1 + sign);
            if exponent > end + 1 + sign {
                end = exponent;
            }
        }
        match text[..end].parse::<i128>() {
            Ok(number) if end == whole => Number::Integer(number),
            // One that is too large is the largest that there is.
            _ => Number::Real(text[..end].parse().unwrap_or(0.0_f64).clamp(f64::MIN, f64::MAX)),
        }
    }

    /// The same of a number alone, not of a text that is taken for one: that is no exact number. None for all else.
    pub(crate) fn exact(value: ValueRef<'_>) -> Option<Decimal> {
        match value {
            ValueRef::Text(_) => None,
            value => Number::of(value)?.decimal(),
        }
    }

    /// Exactly this number; None of one that is not exact.
    pub(crate) fn decimal(self) -> Option<Decimal> {
        match self {
            Number::Integer(number) => Some(number.into()),
            Number::Decimal(decimal) => Some(decimal),
            Number::Real(_) => None,
        }
    }

    pub(crate) fn real(&self) -> f64 {
        match self {
            Number::Integer(number) => *number as f64,
            Number::Decimal(decimal) => decimal.real(),
            Number::Real(number) => *number,
        }
    }

    /// What becomes of an exact number; all else stays as it is.
    pub(crate) fn decimal_or(self, f: impl Fn(&Decimal) -> Number) -> Number {
        match self {
            Number::Decimal(decimal) => f(&decimal),
            other => other,
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Number::Integer(number) => *number == 0,
            Number::Decimal(decimal) => decimal.is_zero(),
            Number::Real(number) => *number == 0.0,
        }
    }

    /// Rounded to a whole number where it has a fraction: half of one to what is even, of an exact number away from zero.
    pub(crate) fn whole(&self) -> i128 {
        match self {
            Number::Integer(number) => *number,
            Number::Decimal(decimal) => decimal.whole(),
            Number::Real(number) => number.round_ties_even() as i128,
        }
    }

    /// As SQLite is given it.
    pub(crate) fn store(self) -> Result<SqliteValue, Error> {
        match self {
            Number::Integer(number) => match i64::try_from(number) {
                Ok(number) => Ok(SqliteValue::Integer(number)),
                Err(_) if number > 0 => Ok(SqliteValue::Blob(number.to_be_bytes().to_vec())),
                Err(_) => Err(Error::out_of_range("BIGINT")),
            },
            Number::Decimal(decimal) => Ok(decimal.store()),
            // SQLite makes NULL of what is not a number.
            Number::Real(number) if number.is_finite() => Ok(SqliteValue::Real(number)),
            Number::Real(_) => Err(Error::out_of_range("DOUBLE")),
        }
    }
}

fn big(bytes: &[u8]) -> Option<i128> {
    bytes.try_into().ok().map(i128::from_be_bytes)
}

/// As SQLite is given it: 16 bytes where SQLite has no integer for it.
pub(crate) fn unsigned(number: u64) -> SqliteValue {
    i64::try_from(number).map_or_else(|_| SqliteValue::Blob(i128::from(number).to_be_bytes().to_vec()), SqliteValue::Integer)
}

pub(crate) fn owned(value: ValueRef<'_>) -> SqliteValue {
    SqliteValue::try_from(value).unwrap_or(SqliteValue::Null)
}

/// As SQLite is given it, an exact number too.
pub(crate) fn store_owned(value: &OwnedValue) -> SqliteValue {
    match value {
        OwnedValue::Decimal(digits) => Decimal::of_text(digits).store(),
        other => store(other.as_value()),
    }
}

/// As a table is given it: none has a column of exact numbers.
pub(crate) fn plain(value: OwnedValue) -> OwnedValue {
    let OwnedValue::Decimal(digits) = &value else { return value };
    let whole = Decimal::of_text(digits).normal();
    match (whole.scale(), i64::try_from(whole.whole())) {
        (0, Ok(number)) => number.into(),
        _ => whole.real().into(),
    }
}

/// As SQLite is given it.
pub(crate) fn store(value: Value<'_>) -> SqliteValue {
    match value {
        Value::Null => SqliteValue::Null,
        Value::Unsigned(number) => unsigned(number),
        Value::Signed(number) => SqliteValue::Integer(number),
        Value::Double(number) => SqliteValue::Real(number),
        Value::Text(text) => SqliteValue::Text(text.to_owned()),
    }
}

/// What becomes of a value in a column: a number where it has numbers, with the digits that it has, a moment where it has these, a number's text
/// where it has texts. What is none stays as it is, but is 0 in a column of exact ones.
pub(crate) fn in_column(value: SqliteValue, column: &Column, state: &State) -> SqliteValue {
    let is_number = match &value {
        SqliteValue::Null => false,
        SqliteValue::Text(text) => is_number(text.trim()),
        _ => true,
    };
    let number = || Number::of(ValueRef::from(&value)).filter(|_| is_number);
    let kept = match column.sql_type {
        SqlType::BigintUnsigned | SqlType::Bigint | SqlType::Int | SqlType::IntUnsigned => {
            let whole = number().map(|number| number.whole());
            whole
                .filter(|whole| (i64::MIN.into()..=u64::MAX.into()).contains(whole))
                .and_then(|whole| Number::Integer(whole).store().ok())
        }
        SqlType::Double => number().map(|number| SqliteValue::Real(number.real())),
        SqlType::Decimal(_, scale) => Some(numbers::fitted((&value).into(), (MAX_DIGITS, scale), &column.name, state)),
        SqlType::Varchar(_) | SqlType::Char(_) | SqlType::Longtext => text(ValueRef::from(&value)).map(SqliteValue::Text),
        SqlType::Date | SqlType::Time(_) | SqlType::Datetime(_) => times::in_column((&value).into(), column.sql_type),
        _ => None,
    };
    kept.unwrap_or(value)
}

/// Whether all of a text is a number.
fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// As a client is given it: an integer is Signed, unless it only fits Unsigned; beyond 2⁶⁴ it is an exact number.
pub(crate) fn load(value: ValueRef<'_>) -> OwnedValue {
    match value {
        ValueRef::Null => OwnedValue::Null,
        ValueRef::Integer(number) => OwnedValue::Signed(number),
        ValueRef::Real(number) => OwnedValue::Double(number),
        ValueRef::Text(text) => OwnedValue::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => match big(bytes) {
            Some(number) => u64::try_from(number).map_or_else(|_| OwnedValue::Decimal(number.to_string()), OwnedValue::Unsigned),
            None => match Decimal::load(bytes) {
                Some(decimal) => OwnedValue::Decimal(decimal.to_string()),
                None => OwnedValue::Text(String::from_utf8_lossy(bytes).into_owned()),
            },
        },
    }
}

/// The text of a value, as CONCAT and LIKE see it. None for NULL.
pub(crate) fn text(value: ValueRef<'_>) -> Option<String> {
    match load(value) {
        OwnedValue::Null => None,
        OwnedValue::Decimal(text) | OwnedValue::Text(text) => Some(text),
        other => Some(other.as_value().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_order_and_their_digits() {
        let numbers = [0, 1, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX - 1, u64::MAX];
        let connection = rusqlite::Connection::open_in_memory().expect("memory");
        for a in numbers {
            assert_eq!(load(ValueRef::from(&unsigned(a))).as_value().to_string(), a.to_string());
            for b in numbers {
                let less: bool =
                    connection.query_row("SELECT ?1 < ?2", [unsigned(a), unsigned(b)], |row| row.get(0)).expect("valid");
                assert_eq!(less, a < b, "{a} {b}");
            }
        }
    }

    #[test]
    fn texts_are_whole_numbers_by_their_digits() {
        for (text, expected) in [
            ("1.9", 1),
            (" -5.9", -5),
            ("1e3", 1),
            ("+7x", 7),
            ("", 0),
            ("-", 0),
            ("é", 0),
            ("-99999999999999999999999999999999999999999999", i64::MIN.into()),
            ("99999999999999999999", u64::MAX.into()),
        ] {
            assert_eq!(Number::to_integer(ValueRef::Text(text.as_bytes())), Some(Number::Integer(expected)), "{text}");
        }
        assert_eq!(Number::to_integer(ValueRef::Real(1.9)), Some(Number::Real(1.9)));
    }

    #[test]
    fn texts_are_numbers_by_their_beginning() {
        let check = |text: &str, expected: Number| assert_eq!(Number::parse(text), expected, "{text}");
        check("12", Number::Integer(12));
        check(" -12abc", Number::Integer(-12));
        check("1.5e2x", Number::Real(150.0));
        check("1e", Number::Integer(1));
        check("1e+", Number::Integer(1));
        check(".5", Number::Real(0.5));
        check("18446744073709551615", Number::Integer(u64::MAX.into()));
        check("", Number::Real(0.0));
        check("-", Number::Real(0.0));
        check("é", Number::Real(0.0));
    }
}
