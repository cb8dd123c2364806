//! Values of cells, and how Rust types become SQL types.

use super::TableError;
use crate::record::EventType;
use crate::region::Text;
use core::fmt;
use perfschema_timer::TimerName;

/// The value of a cell.
///
/// ```
/// use perfschema_core::table::Value;
/// assert_eq!([Value::Null, Value::Signed(-7), Value::Text("ON")].map(|value| value.to_string()), ["NULL", "-7", "ON"]);
/// assert_ne!(Value::Unsigned(7), Value::Signed(7), "a column has one of both");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// A number from 0 to 2⁶⁴−1.
    Unsigned(u64),
    /// A number that can be negative.
    Signed(i64),
    /// A number with a fraction.
    Double(f64),
    /// A text, or the name of an enum's value.
    Text(&'a str),
}

impl fmt::Display for Value<'_> {
    /// As the `mysql` client prints it: a double with an exponent where there would be too many digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.pad("NULL"),
            Value::Unsigned(number) => number.fmt(f),
            Value::Signed(number) => number.fmt(f),
            Value::Double(number) => {
                let size = number.abs();
                if size == 0.0 || (1e-5..1e15).contains(&size) || !number.is_finite() {
                    number.fmt(f)
                } else {
                    fmt::LowerExp::fmt(number, f)
                }
            }
            Value::Text(text) => f.pad(text),
        }
    }
}

/// The type of a column in SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SqlType {
    /// `bigint unsigned`
    BigintUnsigned,
    /// `bigint`
    Bigint,
    /// `int`
    Int,
    /// `int unsigned`
    IntUnsigned,
    /// `double`
    Double,
    /// `decimal(m,n)`: m digits, n of them behind the point; a text like `-12.50`. No column of a table is one, results of SQL are.
    ///
    /// ```
    /// use perfschema_core::table::SqlType;
    /// assert_eq!(SqlType::Decimal(24, 4).to_string(), "decimal(24,4)");
    /// ```
    Decimal(u8, u8),
    /// `varchar(n)`
    Varchar(u16),
    /// `char(n)`
    Char(u16),
    /// `longtext`
    Longtext,
    /// `json`, a text with a document. No column of a table is one, results of SQL are.
    Json,
    /// `date`, a text like `2026-11-24`
    Date,
    /// `time(n)`, a text like `-12:30:00`, and n digits of a fraction
    Time(u8),
    /// `datetime(n)`, a text like `2026-11-24 12:30:00`, and n digits of a fraction
    Datetime(u8),
    /// `timestamp(n)`, in UTC here; a text as that of `datetime(n)`
    Timestamp(u8),
    /// `enum('a','b',…)`
    Enum(&'static [&'static str]),
}

impl SqlType {
    /// Whether its values are texts that say when something was, or how long.
    ///
    /// ```
    /// use perfschema_core::table::SqlType;
    /// assert!(SqlType::Timestamp(6).is_moment() && !SqlType::Varchar(26).is_moment());
    /// assert_eq!(SqlType::Timestamp(6).to_string(), "timestamp(6)");
    /// ```
    pub fn is_moment(self) -> bool {
        matches!(self, SqlType::Date | SqlType::Time(_) | SqlType::Datetime(_) | SqlType::Timestamp(_))
    }

    /// How many digits of a fraction of a second its values have; None if it is no moment.
    ///
    /// ```
    /// use perfschema_core::table::SqlType;
    /// assert_eq!([SqlType::Timestamp(6), SqlType::Date, SqlType::Bigint].map(SqlType::fraction_digits), [Some(6), Some(0), None]);
    /// ```
    pub fn fraction_digits(self) -> Option<u8> {
        match self {
            SqlType::Date => Some(0),
            SqlType::Time(digits) | SqlType::Datetime(digits) | SqlType::Timestamp(digits) => Some(digits),
            _ => None,
        }
    }

    /// Whether a text is one of such a moment: digits and signs where its type has them. Zeros are a moment, too, as in MySQL.
    ///
    /// ```
    /// use perfschema_core::table::SqlType;
    /// assert!(SqlType::Datetime(0).is_moment_text("2026-11-24 12:30:00"));
    /// assert!(!SqlType::Datetime(0).is_moment_text("2026-11-24 12:30:00.5"));
    /// ```
    pub fn is_moment_text(self, text: &str) -> bool {
        let (shape, text) = match self {
            SqlType::Date => (&b"0000-00-00"[..], text),
            SqlType::Datetime(_) | SqlType::Timestamp(_) => (&b"0000-00-00 00:00:00"[..], text),
            SqlType::Time(_) => {
                let text = text.strip_prefix('-').unwrap_or(text);
                (if text.find(':') == Some(3) { &b"000:00:00"[..] } else { b"00:00:00" }, text)
            }
            _ => return false,
        };
        let fraction = match self.fraction_digits() {
            None | Some(0) => 0,
            Some(digits) => 1 + usize::from(digits),
        };
        let shape = shape.iter().chain(b".000000".iter().take(fraction));
        shape.clone().count() == text.len()
            && shape.zip(text.bytes()).all(|(sign, byte)| if *sign == b'0' { byte.is_ascii_digit() } else { byte == *sign })
    }
}

impl fmt::Display for SqlType {
    /// As DDL has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut moment = |name: &str, digits: u8| match digits {
            0 => f.write_str(name),
            _ => write!(f, "{name}({digits})"),
        };
        match self {
            SqlType::Date => moment("date", 0),
            SqlType::Time(digits) => moment("time", *digits),
            SqlType::Datetime(digits) => moment("datetime", *digits),
            SqlType::Timestamp(digits) => moment("timestamp", *digits),
            SqlType::BigintUnsigned => f.write_str("bigint unsigned"),
            SqlType::Bigint => f.write_str("bigint"),
            SqlType::Int => f.write_str("int"),
            SqlType::IntUnsigned => f.write_str("int unsigned"),
            SqlType::Double => f.write_str("double"),
            SqlType::Decimal(digits, scale) => write!(f, "decimal({digits},{scale})"),
            SqlType::Varchar(n) => write!(f, "varchar({n})"),
            SqlType::Char(n) => write!(f, "char({n})"),
            SqlType::Longtext => f.write_str("longtext"),
            SqlType::Json => f.write_str("json"),
            SqlType::Enum(names) => {
                f.write_str("enum(")?;
                for (i, name) in names.iter().enumerate() {
                    write!(f, "{}'{name}'", if i == 0 { "" } else { "," })?;
                }
                f.write_str(")")
            }
        }
    }
}

/// A Rust type that a column can have.
///
/// ```
/// use perfschema_core::table::{Cell, SqlType, Value};
/// assert_eq!((Some(7_u64).value(), None::<u64>.value()), (Value::Unsigned(7), Value::Null));
/// assert_eq!((<Option<u64>>::SQL_TYPE, <Option<u64>>::NULLABLE, u64::NULLABLE), (SqlType::BigintUnsigned, true, false));
/// ```
pub trait Cell {
    /// Its SQL type.
    const SQL_TYPE: SqlType;
    /// Whether it can be NULL.
    const NULLABLE: bool = false;
    /// The value.
    fn value(&self) -> Value<'_>;
}

impl Cell for u64 {
    const SQL_TYPE: SqlType = SqlType::BigintUnsigned;
    fn value(&self) -> Value<'_> {
        Value::Unsigned(*self)
    }
}

impl Cell for i64 {
    const SQL_TYPE: SqlType = SqlType::Bigint;
    fn value(&self) -> Value<'_> {
        Value::Signed(*self)
    }
}

impl Cell for i32 {
    const SQL_TYPE: SqlType = SqlType::Int;
    fn value(&self) -> Value<'_> {
        Value::Signed((*self).into())
    }
}

impl Cell for u32 {
    const SQL_TYPE: SqlType = SqlType::IntUnsigned;
    fn value(&self) -> Value<'_> {
        Value::Unsigned((*self).into())
    }
}

impl Cell for f64 {
    const SQL_TYPE: SqlType = SqlType::Double;
    fn value(&self) -> Value<'_> {
        Value::Double(*self)
    }
}

impl<const N: usize> Cell for Text<N> {
    const SQL_TYPE: SqlType = SqlType::Varchar(N as u16);
    fn value(&self) -> Value<'_> {
        Value::Text(self.as_str())
    }
}

impl Cell for &'static str {
    const SQL_TYPE: SqlType = SqlType::Varchar(64);
    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl Cell for TimerName {
    const SQL_TYPE: SqlType = SqlType::Enum(&["CYCLE", "NANOSECOND", "MICROSECOND", "MILLISECOND", "TICK"]);
    fn value(&self) -> Value<'_> {
        Value::Text(self.name())
    }
}

impl<T: Cell> Cell for Option<T> {
    const SQL_TYPE: SqlType = T::SQL_TYPE;
    const NULLABLE: bool = true;
    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, T::value)
    }
}

/// `enum('YES','NO')`, as the setup tables have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YesNo {
    /// 'YES'
    Yes,
    /// 'NO'
    No,
}

impl From<bool> for YesNo {
    fn from(yes: bool) -> Self {
        if yes { YesNo::Yes } else { YesNo::No }
    }
}

impl Cell for YesNo {
    const SQL_TYPE: SqlType = SqlType::Enum(YesNo::NAMES);
    fn value(&self) -> Value<'_> {
        Value::Text(YesNo::NAMES[*self as usize])
    }
}

impl YesNo {
    /// In the order of the variants.
    const NAMES: &'static [&'static str] = &["YES", "NO"];

    /// The value as SQL gives it: a name in any letter case, or the number 1 or 2. None is what strict mode refuses.
    pub(crate) fn from_value(value: &Value<'_>) -> Option<bool> {
        enum_index(value, YesNo::NAMES).map(|index| index == 0)
    }
}

/// Index of a value given to an enum column: a name in any letter case, and whatever blanks behind it, or a number counted from 1.
pub(crate) fn enum_index(value: &Value<'_>, names: &[&str]) -> Option<usize> {
    let by_number = |number: u64| {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        (index < names.len()).then_some(index)
    };
    match value {
        Value::Unsigned(number) => by_number(*number),
        Value::Signed(number) => by_number(u64::try_from(*number).ok()?),
        Value::Text(text) => {
            let text = text.trim_end_matches(' ');
            names.iter().position(|name| name.eq_ignore_ascii_case(text)).or_else(|| by_number(text.parse().ok()?))
        }
        Value::Null | Value::Double(_) => None,
    }
}

/// A value given to the `int unsigned` column `column`.
pub(crate) fn unsigned(value: &Value<'_>, column: &'static str) -> Result<u32, TableError> {
    let number = match value {
        Value::Unsigned(number) => i128::from(*number),
        Value::Signed(number) => i128::from(*number),
        Value::Text(text) => text.trim().parse().map_err(|_| TableError::NotANumber { column, value: Text::from(*text) })?,
        // As MySQL rounds.
        Value::Double(number) => (*number + 0.5f64.copysign(*number)) as i128,
        Value::Null => return Err(TableError::NotNull { column }),
    };
    u32::try_from(number).map_err(|_| TableError::OutOfRange { column })
}

/// Column NESTING_EVENT_TYPE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NestingEventType(pub(crate) EventType);

impl NestingEventType {
    /// The name of the type, for example `WAIT`.
    pub fn name(self) -> &'static str {
        EventType::NAMES[self.0 as usize - 1]
    }
}

impl Cell for NestingEventType {
    const SQL_TYPE: SqlType = SqlType::Enum(EventType::NAMES);
    fn value(&self) -> Value<'_> {
        Value::Text(self.name())
    }
}
