//! JSON lines: one object a row, a newline after each.
//!
//! Numbers are JSON numbers, all 64 bits of them. Readers that keep numbers as doubles (JavaScript, `jq` before 1.7) round beyond 2⁵³,
//! which 2.5 hours in picoseconds exceed; most other readers do not. NaN and the infinities, which JSON lacks, are `null` as NULL is.
//!
//! Control characters and those that turn the direction of writing are escaped, more than JSON demands, so that lines can be looked at
//! in a terminal; they read back as they were. Where two columns have the same name, the object has the key twice, in their order.

use super::{ColumnHead, Grid, is_hostile};
use core::fmt::{self, Write};
use perfschema_core::table::{SqlType, Value};

/// A [`Grid`] that displays as JSON lines; made by [`lines`].
#[derive(Clone, Copy, Debug)]
pub struct JsonLines<'a> {
    grid: &'a Grid,
}

/// The table as JSON lines.
///
/// ```
/// use perfschema::core::table::SqlType;
/// use perfschema::render::{ColumnHead, Grid, OwnedValue, json};
///
/// let columns = vec![ColumnHead::new("EVENT_NAME", SqlType::Varchar(128)), ColumnHead::new("TIMER_WAIT", SqlType::BigintUnsigned)];
/// let rows = vec![vec!["wait/io/file/sql/pid".into(), u64::MAX.into()], vec!["idle".into(), OwnedValue::Null]];
/// let expected = r#"{"EVENT_NAME":"wait/io/file/sql/pid","TIMER_WAIT":18446744073709551615}
/// {"EVENT_NAME":"idle","TIMER_WAIT":null}
/// "#;
/// assert_eq!(json::lines(&Grid { columns, rows }).to_string(), expected);
/// ```
pub fn lines(grid: &Grid) -> JsonLines<'_> {
    JsonLines { grid }
}

impl fmt::Display for JsonLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.grid.rows {
            f.write_char('{')?;
            for (index, (head, value)) in self.grid.cells(row).enumerate() {
                f.write_str(if index == 0 { "" } else { "," })?;
                write_text(f, &head.name)?;
                f.write_char(':')?;
                match value {
                    Value::Text(digits) if is_number(head, digits) => f.write_str(digits)?,
                    value => write_value(f, value)?,
                }
            }
            f.write_str("}\n")?;
        }
        Ok(())
    }
}

/// A text that displays as JSON has it; made by [`text`].
#[derive(Clone, Copy, Debug)]
pub struct JsonText<'a>(&'a str);

/// A text in quotes, for whoever writes JSON of another shape.
///
/// ```
/// use perfschema::render::json;
/// assert_eq!(json::text("a \"name\"\n").to_string(), r#""a \"name\"\n""#);
/// ```
pub fn text(text: &str) -> JsonText<'_> {
    JsonText(text)
}

impl fmt::Display for JsonText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_text(f, self.0)
    }
}

/// Whether the text is the digits of an exact number, as JSON has them, too.
fn is_number(head: &ColumnHead, digits: &str) -> bool {
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    matches!(head.sql_type, SqlType::Decimal(..))
        && is_digits(whole)
        && is_digits(fraction)
        && (whole == "0" || !whole.starts_with('0'))
}

fn write_value(f: &mut fmt::Formatter<'_>, value: Value<'_>) -> fmt::Result {
    match value {
        Value::Null => f.write_str("null"),
        Value::Double(number) if !number.is_finite() => f.write_str("null"),
        Value::Text(text) => write_text(f, text),
        number => write!(f, "{number}"),
    }
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    let mut rest = text;
    while let Some(at) = rest.find(|c| matches!(c, '"' | '\\') || is_hostile(c)) {
        f.write_str(&rest[..at])?;
        let Some(c) = rest[at..].chars().next() else { break };
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            // Beyond the basic plane it is two units.
            _ => c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(f, "\\u{unit:04x}"))?,
        }
        rest = &rest[at + c.len_utf8()..];
    }
    f.write_str(rest)?;
    f.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::super::samples::{ODD, odd_grids, text_column, texts};
    use super::super::{ColumnHead, Grid, OwnedValue};
    use super::lines;
    use perfschema_core::table::SqlType;

    #[track_caller]
    fn check(value: impl Into<OwnedValue>, expected: &str) {
        let grid = Grid { columns: vec![text_column("A")], rows: vec![vec![value.into()]] };
        assert_eq!(lines(&grid).to_string(), format!("{{\"A\":{expected}}}\n"));
    }

    #[test]
    fn values() {
        check(OwnedValue::Null, "null");
        check(u64::MAX, "18446744073709551615");
        check(i64::MIN, "-9223372036854775808");
        check(0.95, "0.95");
        check(1.0, "1");
        check(1e300, "1e300");
        check(-1e-7, "-1e-7");
        check(f64::NAN, "null");
        check(f64::NEG_INFINITY, "null");
        check("", r#""""#);
        check("wait/io", r#""wait/io""#);
        check("a\u{e0041}\u{3164}", r#""a\udb40\udc41\u3164""#);
        check("\"\\\n\r\t\0\u{1b}\u{7f}\u{9b}\u{202e}日", r#""\"\\\n\r\t\u0000\u001b\u007f\u009b\u202e日""#);
    }

    #[test]
    fn exact_numbers_are_numbers() {
        let check = |digits: &str, expected: &str| {
            let columns = vec![ColumnHead::new("A", SqlType::Decimal(65, 30))];
            let grid = Grid { columns, rows: vec![vec![OwnedValue::Decimal(digits.to_owned())]] };
            assert_eq!(lines(&grid).to_string(), format!("{{\"A\":{expected}}}\n"));
        };
        check("36893488147419103230", "36893488147419103230");
        check("-0.3300", "-0.3300");
        // Whatever somebody has put there.
        for other in ["", "-", "1.", ".5", "01", "1e5", "1.5.2", "NaN"] {
            check(other, &format!("\"{other}\""));
        }
    }

    #[test]
    fn rows() {
        assert_eq!(
            lines(&texts(&["A", "B\""], &[&["1", "2"], &["3", "4"]])).to_string(),
            "{\"A\":\"1\",\"B\\\"\":\"2\"}\n{\"A\":\"3\",\"B\\\"\":\"4\"}\n"
        );
        assert_eq!(lines(&texts(&["A"], &[])).to_string(), "");
    }

    #[test]
    fn reads_back_as_it_was() {
        let odd: Vec<String> = ODD.iter().enumerate().map(|(index, name)| format!("{index}{name}")).collect();
        let names: Vec<&str> = odd.iter().map(String::as_str).collect();
        for grid in odd_grids(400).chain(core::iter::once(texts(&names, &[ODD, ODD]))) {
            let text = lines(&grid).to_string();
            assert_eq!(text.lines().count(), grid.rows.len());
            for (line, row) in text.lines().zip(&grid.rows) {
                let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
                assert_eq!(object.len(), row.len());
                for (head, value) in grid.columns.iter().zip(row) {
                    let found = &object[&head.name];
                    match value {
                        OwnedValue::Null => assert!(found.is_null()),
                        OwnedValue::Unsigned(number) => assert_eq!(found.as_u64(), Some(*number)),
                        OwnedValue::Signed(number) => assert_eq!(found.as_i64(), Some(*number)),
                        OwnedValue::Double(number) => assert_eq!(found.as_f64(), Some(*number)),
                        OwnedValue::Decimal(digits) => assert_eq!(found.as_f64(), digits.parse().ok()),
                        OwnedValue::Text(text) => assert_eq!(found.as_str(), Some(text.as_str())),
                    }
                }
            }
        }
    }
}
