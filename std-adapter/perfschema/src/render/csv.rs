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

use super::Grid;
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
    ///
    /// ```
    /// # use perfschema::core::table::SqlType;
    /// # use perfschema::render::{ColumnHead, Grid, csv};
    /// # let grid = Grid { columns: vec![ColumnHead::new("SPINS", SqlType::IntUnsigned)], rows: vec![vec![7_u64.into()]] };
    /// assert_eq!(csv::table(&grid).crlf().to_string(), "SPINS\r\n7\r\n");
    /// ```
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
            Value::Text(text) => self.write_text(f, text),
            number => write!(f, "{number}"),
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

#[cfg(test)]
mod tests {
    use super::super::samples::{ODD, number_column, odd_grids, text_column, texts};
    use super::super::{Grid, OwnedValue};
    use super::{Csv, table};

    #[track_caller]
    fn check(csv: Csv<'_>, expected: &str) {
        assert_eq!(csv.to_string(), expected);
    }

    #[test]
    fn quotes_where_needed() {
        let row: &[&str] = &["plain", "with space ", "a,b", "say \"hi\"", "two\nlines", "cr\r", "'", "=1+1", "日本"];
        let names = ["A", "B,", "C", "D", "E", "F", "G", "H", "I"];
        let expected =
            "A,\"B,\",C,D,E,F,G,H,I\nplain,with space ,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\"cr\r\",',=1+1,日本\n";
        check(table(&texts(&names, &[row])), expected);
    }

    #[test]
    fn null_is_not_an_empty_text() {
        let columns = vec![text_column("T"), number_column("N")];
        let rows =
            vec![vec!["".into(), OwnedValue::Null], vec![OwnedValue::Null, 0_u64.into()], vec!["\\N".into(), 1_u64.into()]];
        let grid = Grid { columns, rows };
        check(table(&grid), "T,N\n\"\",\n,0\n\\N,1\n");
        check(table(&grid).null("\\N"), "T,N\n\"\",\\N\n\\N,0\n\"\\N\",1\n");
        check(table(&grid).header(false).crlf(), "\"\",\r\n,0\r\n\\N,1\r\n");
    }

    #[test]
    fn a_line_is_never_empty() {
        let grid = Grid { columns: vec![text_column("T")], rows: vec![vec![OwnedValue::Null], vec!["a".into()]] };
        check(table(&grid), "T\n\"\"\na\n");
        check(table(&grid).null("\\N"), "T\n\\N\na\n");
        check(table(&texts(&["T"], &[])), "T\n");
    }

    #[test]
    fn reads_back_as_it_was() {
        let grids = odd_grids(400).chain(core::iter::once(texts(ODD, &[ODD, ODD])));
        for grid in grids {
            for text in [table(&grid).to_string(), table(&grid).crlf().null("\\N").to_string()] {
                let mut reader = ::csv::Reader::from_reader(text.as_bytes());
                assert!(reader.headers().unwrap().iter().eq(grid.columns.iter().map(|head| head.name.as_str())), "{text}");
                let mut rows = grid.rows.iter();
                for record in reader.records() {
                    let (record, row) = (record.unwrap(), rows.next().unwrap());
                    assert_eq!(record.len(), row.len());
                    for (field, value) in record.iter().zip(row) {
                        match value {
                            OwnedValue::Null => assert!(matches!(field, "" | "\\N")),
                            OwnedValue::Unsigned(number) => assert_eq!(field.parse(), Ok(*number)),
                            OwnedValue::Signed(number) => assert_eq!(field.parse(), Ok(*number)),
                            OwnedValue::Double(number) => assert_eq!(field.parse(), Ok(*number)),
                            OwnedValue::Decimal(text) | OwnedValue::Text(text) => assert_eq!(field, text),
                        }
                    }
                }
                assert_eq!(rows.next(), None, "{text}");
            }
        }
    }
}
