//! Comma-separated values, as RFC 4180 has them.
//!
//! A field is quoted only where it must be. The RFC has no NULL: here NULL is an empty field, and an empty text is `""`, as PostgreSQL
//! writes them and as spreadsheets, pandas and DuckDB read them. For MySQL's `LOAD DATA` say [`null("\\N")`](Csv::null). A NULL that is
//! the only field of its line is `""` all the same, since readers skip empty lines.
//!
//! Lines end with a newline: every reader of CSV takes that, and so do `cut`, `awk` and `diff`. [`Csv::crlf`] gives the RFC's own.
//!
//! Text is not changed, only quoted. A spreadsheet takes a field that begins with `=` for a formula, quoted or not; import names from
//! a source that is not trusted as text.

use super::{Grid, write_double};
use core::fmt::{self, Write};
use perfschema_core::table::Value;

/// A [`Grid`] that displays as CSV; made by [`table`].
#[derive(Clone, Copy, Debug)]
pub struct Csv<'a> {
    grid: &'a Grid,
    header: bool,
    null: &'a str,
    line_end: &'static str,
}

/// The table as CSV, with a header line.
///
/// ```
/// use perfschema::core::table::SqlType;
/// use perfschema::render::{ColumnHead, Grid, OwnedValue, csv};
///
/// let columns = vec![ColumnHead::new("OBJECT_NAME", SqlType::Varchar(512)), ColumnHead::new("SPINS", SqlType::IntUnsigned)];
/// let grid = Grid { columns, rows: vec![vec!["/tmp/a,b".into(), OwnedValue::Null]] };
/// assert_eq!(csv::table(&grid).to_string(), "OBJECT_NAME,SPINS\n\"/tmp/a,b\",\n");
/// assert_eq!(csv::table(&grid).header(false).null("\\N").to_string(), "\"/tmp/a,b\",\\N\n");
/// ```
pub fn table(grid: &Grid) -> Csv<'_> {
    Csv { grid, header: true, null: "", line_end: "\n" }
}

impl<'a> Csv<'a> {
    /// Whether there is a first line with the names of the columns.
    #[must_use]
    pub fn header(self, header: bool) -> Self {
        Csv { header, ..self }
    }

    /// What to write for NULL, unquoted; a text that reads the same is quoted. It must not need quotes itself.
    #[must_use]
    pub fn null(self, null: &'a str) -> Self {
        Csv { null, ..self }
    }

    /// Ends lines with CR LF.
    #[must_use]
    pub fn crlf(self) -> Self {
        Csv { line_end: "\r\n", ..self }
    }

    fn write_text(&self, f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
        if text != self.null && !text.is_empty() && !text.contains([',', '"', '\r', '\n']) {
            return f.write_str(text);
        }
        f.write_char('"')?;
        for (index, part) in text.split('"').enumerate() {
            f.write_str(if index == 0 { "" } else { "\"\"" })?;
            f.write_str(part)?;
        }
        f.write_char('"')
    }

    fn write_value(&self, f: &mut fmt::Formatter<'_>, value: Value<'_>) -> fmt::Result {
        match value {
            Value::Null if self.null.is_empty() && self.grid.columns.len() == 1 => f.write_str("\"\""),
            Value::Null => f.write_str(self.null),
            Value::Unsigned(number) => write!(f, "{number}"),
            Value::Signed(number) => write!(f, "{number}"),
            Value::Double(number) => write_double(f, number),
            Value::Text(text) => self.write_text(f, text),
        }
    }
}

impl fmt::Display for Csv<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.header {
            for (index, head) in self.grid.columns.iter().enumerate() {
                f.write_str(if index == 0 { "" } else { "," })?;
                self.write_text(f, &head.name)?;
            }
            f.write_str(self.line_end)?;
        }
        for row in &self.grid.rows {
            for (index, (_, value)) in self.grid.cells(row).enumerate() {
                f.write_str(if index == 0 { "" } else { "," })?;
                self.write_value(f, value)?;
            }
            f.write_str(self.line_end)?;
        }
        Ok(())
    }
}
