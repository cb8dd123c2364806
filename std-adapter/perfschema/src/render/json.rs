//! JSON lines: one object a row, a newline after each.
//!
//! Numbers are JSON numbers, all 64 bits of them. Readers that keep numbers as doubles (JavaScript, `jq` before 1.7) round beyond 2⁵³,
//! which 2.5 hours in picoseconds exceed; most other readers do not. NaN and the infinities, which JSON lacks, are `null` as NULL is.
//!
//! Control characters and those that turn the direction of writing are escaped, more than JSON demands, so that lines can be looked at
//! in a terminal; they read back as they were. Where two columns have the same name, the object has the key twice, in their order.

use super::{Grid, is_hostile, write_double};
use core::fmt::{self, Write};
use perfschema_core::table::Value;

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
                write_value(f, value)?;
            }
            f.write_str("}\n")?;
        }
        Ok(())
    }
}

fn write_value(f: &mut fmt::Formatter<'_>, value: Value<'_>) -> fmt::Result {
    match value {
        Value::Unsigned(number) => write!(f, "{number}"),
        Value::Signed(number) => write!(f, "{number}"),
        Value::Double(number) if number.is_finite() => write_double(f, number),
        Value::Null | Value::Double(_) => f.write_str("null"),
        Value::Text(text) => write_text(f, text),
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
            // Every hostile character is in the basic plane, so one unit of UTF-16 is enough.
            _ => write!(f, "\\u{:04x}", u32::from(c))?,
        }
        rest = &rest[at + c.len_utf8()..];
    }
    f.write_str(rest)?;
    f.write_char('"')
}
