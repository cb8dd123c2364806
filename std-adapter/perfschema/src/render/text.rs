//! Tables for eyes: boxed, and one line a value, as the `mysql` client prints them.
//!
//! The client's rules, all kept: headings stand on the left and numbers on the right; a column that can be NULL is at least four wide;
//! of an empty result there is only the line `Empty set`, and without a footer nothing.
//!
//! Unlike the client, a column is as wide as its text is in the terminal, not as its bytes in UTF-8; and a character that a terminal
//! would act on (newline, escape, a turn of the direction of writing) is shown as Rust writes it in a literal, `\n` or `\u{1b}`. So no
//! value, not even a hostile name in memory of another process, can break the frame, fake a row or command the terminal. A backslash
//! stays a backslash: who needs text back byte by byte takes CSV or JSON lines.
//!
//! Widths are Unicode's. Terminals agree on letters, ideographs and plain emoji; an older one may still draw joined or coloured emoji
//! wider or narrower than that, and lines with them then end a column or two off.

use super::{ColumnHead, Grid, OwnedValue, Unit, is_hostile};
use core::fmt::{self, Write};
use core::time::Duration;
use perfschema_core::picotime::format_pico_real;
use perfschema_core::table::{SqlType, Value};
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr;

mod shorten;
pub use shorten::shorten;

/// What a boxed table does that is too wide for the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fit {
    /// Nothing; its lines are as long as they are.
    #[default]
    Never,
    /// Its widest texts are shortened until it is this wide. If that is not enough it is printed [`vertical`], and nothing is shortened.
    Columns(usize),
}

/// How times are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Times {
    /// As the numbers of picoseconds that the tables hold.
    #[default]
    Picoseconds,
    /// With a unit that suits their size: `31.84 us`.
    Human,
}

/// The line below the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Footer {
    /// There is none.
    None,
    /// `3 rows in set`
    #[default]
    Rows,
    /// `3 rows in set (0.01 sec)`
    Timed(Duration),
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Boxed,
    Vertical,
}

/// A [`Grid`] that displays as text; made by [`boxed`] and [`vertical`].
#[derive(Clone, Copy, Debug)]
pub struct TextTable<'a> {
    grid: &'a Grid,
    form: Form,
    fit: Fit,
    times: Times,
    footer: Footer,
}

/// A table in a frame.
///
/// ```
/// use perfschema::core::table::SqlType;
/// use perfschema::render::{ColumnHead, Grid, text::{self, Fit, Footer, Times}};
///
/// let columns = vec![ColumnHead::new("EVENT_NAME", SqlType::Varchar(128)), ColumnHead::new("TIMER_WAIT", SqlType::BigintUnsigned)];
/// let rows = vec![vec!["wait/io/file/sql/pid".into(), 31_843_368_u64.into()]];
/// let grid = Grid { columns, rows };
/// let expected = "\
/// +----------------------+------------+
/// | EVENT_NAME           | TIMER_WAIT |
/// +----------------------+------------+
/// | wait/io/file/sql/pid |   31.84 us |
/// +----------------------+------------+
/// ";
/// assert_eq!(text::boxed(&grid).times(Times::Human).footer(Footer::None).to_string(), expected);
/// let expected = "\
/// +------------------+------------+
/// | EVENT_NAME       | TIMER_WAIT |
/// +------------------+------------+
/// | …/file/sql/pid   |   31843368 |
/// +------------------+------------+
/// 1 row in set
/// ";
/// assert_eq!(text::boxed(&grid).fit(Fit::Columns(33)).to_string(), expected);
/// ```
pub fn boxed(grid: &Grid) -> TextTable<'_> {
    TextTable { grid, form: Form::Boxed, fit: Fit::default(), times: Times::default(), footer: Footer::default() }
}

/// A table with one line a value, as after `\G`.
///
/// ```
/// use perfschema::core::table::SqlType;
/// use perfschema::render::{ColumnHead, Grid, OwnedValue, text};
///
/// let columns = vec![ColumnHead::new("EVENT_NAME", SqlType::Varchar(128)), ColumnHead::new("TIMER_END", SqlType::BigintUnsigned)];
/// let grid = Grid { columns, rows: vec![vec!["wait/io/file/sql/pid".into(), OwnedValue::Null]] };
/// let expected = "\
/// *************************** 1. row ***************************
/// EVENT_NAME: wait/io/file/sql/pid
///  TIMER_END: NULL
/// 1 row in set
/// ";
/// assert_eq!(text::vertical(&grid).to_string(), expected);
/// ```
pub fn vertical(grid: &Grid) -> TextTable<'_> {
    TextTable { form: Form::Vertical, ..boxed(grid) }
}

impl TextTable<'_> {
    /// What to do if it is too wide; [`Fit::Never`] if not said.
    #[must_use]
    pub fn fit(self, fit: Fit) -> Self {
        TextTable { fit, ..self }
    }

    /// How to show times; [`Times::Picoseconds`] if not said.
    #[must_use]
    pub fn times(self, times: Times) -> Self {
        TextTable { times, ..self }
    }

    /// What to print below; [`Footer::Rows`] if not said.
    #[must_use]
    pub fn footer(self, footer: Footer) -> Self {
        TextTable { footer, ..self }
    }
}

impl fmt::Display for TextTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.grid.rows.is_empty() {
            let heads: Vec<Shown<'_>> = self.grid.columns.iter().map(|head| Shown::new(Cow::Borrowed(&head.name))).collect();
            let rows: Vec<Vec<Shown<'_>>> = self.grid.rows.iter().map(|row| self.shown(row)).collect();
            let widths = match self.form {
                Form::Boxed => self.widths(&heads, &rows),
                Form::Vertical => None,
            };
            match widths {
                Some(widths) => self.write_boxed(f, &heads, &rows, &widths)?,
                None => write_vertical(f, &heads, &rows)?,
            }
        }
        write_footer(f, self.footer, self.grid.rows.len())
    }
}

impl TextTable<'_> {
    fn shown<'b>(&'b self, row: &'b [OwnedValue]) -> Vec<Shown<'b>> {
        let is_exact = |head: &ColumnHead| matches!(head.sql_type, SqlType::Decimal(..));
        let is_human = |head: &ColumnHead| self.times == Times::Human && head.unit == Unit::Picoseconds;
        self.grid.cells(row).map(|(head, value)| Shown::new(value_text(value, is_human(head), is_exact(head)))).collect()
    }

    /// The width of each column; None if the table cannot be made to fit.
    fn widths(&self, heads: &[Shown<'_>], rows: &[Vec<Shown<'_>>]) -> Option<Vec<usize>> {
        let columns = || self.grid.columns.iter().zip(heads).enumerate();
        let least = |nullable, head: &Shown<'_>| head.width.max(if nullable { "NULL".len() } else { 0 });
        let widths: Vec<usize> = columns()
            .map(|(index, (column, head))| rows.iter().map(|row| row[index].width).fold(least(column.nullable, head), usize::max))
            .collect();
        let Fit::Columns(limit) = self.fit else { return Some(widths) };
        let frame = |widths: &[usize]| 1 + widths.iter().map(|width| width + 3).sum::<usize>();
        if frame(&widths) <= limit {
            return Some(widths);
        }
        // The widest are cut first: the cap sinks until the frame fits.
        let capped = |cap: usize| -> Vec<usize> {
            columns()
                .map(|(index, (column, head))| {
                    let width = widths[index];
                    if column.is_numeric() { width } else { width.min(cap.max(least(column.nullable, head))) }
                })
                .collect()
        };
        (READABLE..=limit).rev().map(capped).find(|widths| frame(widths) <= limit)
    }

    fn write_boxed(
        &self,
        f: &mut fmt::Formatter<'_>,
        heads: &[Shown<'_>],
        rows: &[Vec<Shown<'_>>],
        widths: &[usize],
    ) -> fmt::Result {
        let frame = |f: &mut fmt::Formatter<'_>| {
            for width in widths {
                f.write_char('+')?;
                repeat(f, '-', width + 2)?;
            }
            f.write_str("+\n")
        };
        frame(f)?;
        for (head, &width) in heads.iter().zip(widths) {
            f.write_str("| ")?;
            head.write(f, width, false)?;
            f.write_char(' ')?;
        }
        f.write_str("|\n")?;
        frame(f)?;
        for row in rows {
            for ((cell, column), &width) in row.iter().zip(&self.grid.columns).zip(widths) {
                f.write_str("| ")?;
                cell.write(f, width, column.is_numeric())?;
                f.write_char(' ')?;
            }
            f.write_str("|\n")?;
        }
        frame(f)
    }
}

fn write_vertical(f: &mut fmt::Formatter<'_>, heads: &[Shown<'_>], rows: &[Vec<Shown<'_>>]) -> fmt::Result {
    let width = heads.iter().map(|head| head.width).max().unwrap_or(0);
    for (index, row) in rows.iter().enumerate() {
        writeln!(f, "*************************** {}. row ***************************", index + 1)?;
        for (head, cell) in heads.iter().zip(row) {
            head.write(f, width, true)?;
            writeln!(f, ": {}", cell.text)?;
        }
    }
    Ok(())
}

fn write_footer(f: &mut fmt::Formatter<'_>, footer: Footer, rows: usize) -> fmt::Result {
    match (footer, rows) {
        (Footer::None, _) => return Ok(()),
        (_, 0) => f.write_str("Empty set")?,
        (_, 1) => f.write_str("1 row in set")?,
        _ => write!(f, "{rows} rows in set")?,
    }
    if let Footer::Timed(time) = footer {
        write!(f, " ({})", Elapsed(time))?;
    }
    f.write_char('\n')
}

/// How long a statement took, as the client has it: `1 day 2 hours 3 min 4.56 sec`, from the first of them that is not 0.
///
/// ```
/// use perfschema::render::text::Elapsed;
/// use std::time::Duration;
/// assert_eq!(Elapsed(Duration::from_millis(7_262_500)).to_string(), "2 hours 1 min 2.50 sec");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed(pub Duration);

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut seconds = self.0.as_secs();
        for (unit_s, one, many) in [(86_400, "day", "days"), (3_600, "hour", "hours"), (60, "min", "min")] {
            let count = seconds / unit_s;
            seconds %= unit_s;
            if count > 0 {
                write!(f, "{count} {} ", if count == 1 { one } else { many })?;
            }
        }
        write!(f, "{:.2} sec", seconds as f64 + f64::from(self.0.subsec_nanos()) / 1e9)
    }
}

/// The narrowest that a text is shortened to.
const READABLE: usize = 16;

/// A text as the terminal shall get it, and how wide it is there.
struct Shown<'a> {
    text: Cow<'a, str>,
    width: usize,
}

impl<'a> Shown<'a> {
    fn new(text: Cow<'a, str>) -> Shown<'a> {
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return Shown { width: text.len(), text };
        }
        let text = if text.contains(is_hostile) { Cow::Owned(escape(&text)) } else { text };
        Shown { width: text.width(), text }
    }

    /// Writes it in exactly `width` columns, shortened if need be.
    fn write(&self, f: &mut fmt::Formatter<'_>, width: usize, right: bool) -> fmt::Result {
        if self.width > width {
            let short = shorten(&self.text, width);
            f.write_str(&short)?;
            return repeat(f, ' ', width - short.width());
        }
        let space = width - self.width;
        repeat(f, ' ', if right { space } else { 0 })?;
        f.write_str(&self.text)?;
        repeat(f, ' ', if right { 0 } else { space })
    }
}

fn value_text(value: Value<'_>, human: bool, is_exact: bool) -> Cow<'_, str> {
    // A time below 1000 ps comes with spaces in front, for a column of its own kind; here the column aligns it.
    let pico_time = |time_ps: f64| Cow::Owned(format_pico_real(time_ps).to_string().trim_start().to_owned());
    match value {
        Value::Null => Cow::Borrowed("NULL"),
        Value::Text(text) => match text.parse::<f64>() {
            // What SUM() and AVG() come as.
            Ok(time_ps @ 0.0..) if human && is_exact => pico_time(time_ps.round()),
            _ => Cow::Borrowed(text),
        },
        Value::Unsigned(time_ps) if human => pico_time(time_ps as f64),
        Value::Signed(time_ps @ 0..) if human => pico_time(time_ps as f64),
        Value::Double(time_ps @ 0.0..) if human => pico_time(time_ps.round()),
        number => Cow::Owned(number.to_string()),
    }
}

/// The text with everything escaped that a terminal would act on instead of showing it, as all forms of this module show it.
///
/// ```
/// assert_eq!(perfschema::render::text::escape("a\n\u{1b}[2Jb"), r"a\n\u{1b}[2Jb");
/// assert_eq!(perfschema::render::text::escape("a\u{3164}\u{e0062}"), r"a\u{3164}\u{e0062}"); // Nobody sees that there is more than one.
/// ```
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_hostile(c) { escaped.extend(c.escape_default()) } else { escaped.push(c) }
    }
    escaped
}

/// By hand: the width of a format string ends at 65535, and a cell need not.
fn repeat(f: &mut fmt::Formatter<'_>, c: char, count: usize) -> fmt::Result {
    (0..count).try_for_each(|_| f.write_char(c))
}

#[cfg(test)]
mod tests;
