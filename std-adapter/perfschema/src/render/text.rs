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
use perfschema_core::picotime::format_pico_time;
use perfschema_core::table::{SqlType, Value};
use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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
        f.write_str(" (")?;
        write_elapsed(f, time)?;
        f.write_char(')')?;
    }
    f.write_char('\n')
}

/// `1 day 2 hours 3 min 4.56 sec`, from the first of them that is not 0, as the client has it.
fn write_elapsed(f: &mut fmt::Formatter<'_>, time: Duration) -> fmt::Result {
    let mut seconds = time.as_secs();
    for (unit_s, one, many) in [(86_400, "day", "days"), (3_600, "hour", "hours"), (60, "min", "min")] {
        let count = seconds / unit_s;
        seconds %= unit_s;
        if count > 0 {
            write!(f, "{count} {} ", if count == 1 { one } else { many })?;
        }
    }
    write!(f, "{:.2} sec", seconds as f64 + f64::from(time.subsec_nanos()) / 1e9)
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
    let pico_time = |time_ps: u64| Cow::Owned(format_pico_time(time_ps).to_string().trim_start().to_owned());
    match value {
        Value::Null => Cow::Borrowed("NULL"),
        Value::Text(text) => match text.parse::<f64>() {
            // What SUM() and AVG() come as.
            Ok(time_ps @ 0.0..) if human && is_exact => pico_time(time_ps.round() as u64),
            _ => Cow::Borrowed(text),
        },
        Value::Unsigned(time_ps) if human => pico_time(time_ps),
        Value::Signed(time_ps @ 0..) if human => pico_time(time_ps as u64),
        Value::Double(time_ps @ 0.0..) if human => pico_time(time_ps.round() as u64),
        number => Cow::Owned(number.to_string()),
    }
}

/// The text with everything escaped that a terminal would act on instead of showing it, as all forms of this module show it.
///
/// ```
/// assert_eq!(perfschema::render::text::escape("a\n\u{1b}[2Jb"), r"a\n\u{1b}[2Jb");
/// ```
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_hostile(c) { escaped.extend(c.escape_default()) } else { escaped.push(c) }
    }
    escaped
}

/// The text in at most `width` columns, with `…` for what is gone. A name or path loses its front, since the names of a column differ
/// at the end; it is cut before a `/` if there is one near. A text of several words loses its end, and a name with several only if its last
/// part is too long by itself. One that is short enough stays.
///
/// ```
/// use perfschema::render::text::shorten;
/// assert_eq!(shorten("wait/synch/mutex/demo/postings", 16), "…/demo/postings");
/// assert_eq!(shorten("stage/sql/Sending data", 16), "…/Sending data");
/// assert_eq!(shorten("two words", 6), "two w…");
/// assert_eq!(shorten("words", 5), "words");
/// ```
pub fn shorten(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let Some(room) = width.checked_sub(1) else { return String::new() };
    let last_part = last_part(text);
    if last_part.contains(' ') && (last_part.len() == text.len() || last_part.width() > room) {
        let front = if last_part.len() == text.len() || room == 0 { "" } else { "…" };
        return format!("{front}{}…", head(last_part, room - front.width()));
    }
    let mut start = cut(text.char_indices().rev(), room).unwrap_or(text.len());
    // What is left must not begin with a part of a character that is gone.
    while text[start..].chars().next().is_some_and(|c| c.width() == Some(0)) || text[start..].width() > room {
        start += text[start..].chars().next().map_or(1, char::len_utf8);
    }
    let tail = &text[start..];
    let slash = tail.find('/').filter(|&at| at <= tail.len() / 4).unwrap_or(0);
    format!("…{}", &tail[slash..])
}

/// What stands behind the last `/` of a name or path, with it; all of a text that is neither.
fn last_part(text: &str) -> &str {
    let first_word = text.split(' ').next().unwrap_or(text);
    let is_name = first_word.contains('/') && !first_word.starts_with("/*");
    text.rfind('/').filter(|_| is_name).map_or(text, |slash| &text[slash..])
}

/// The beginning in at most `room` columns.
fn head(text: &str, room: usize) -> &str {
    let mut end = cut(text.char_indices().map(|(at, c)| (at + c.len_utf8(), c)), room).unwrap_or(0);
    // Characters may be wider together than apart.
    while text[..end].width() > room {
        end = text[..end].char_indices().next_back().map_or(0, |(at, _)| at);
    }
    text[..end].trim_end_matches(['\u{200d}', ' '])
}

/// The last place that is reached within `room` columns.
fn cut(places: impl Iterator<Item = (usize, char)>, room: usize) -> Option<usize> {
    let mut width = 0;
    places
        .take_while(|(_, c)| {
            width += c.width().unwrap_or(0);
            width <= room
        })
        .last()
        .map(|(at, _)| at)
}

/// By hand: the width of a format string ends at 65535, and a cell need not.
fn repeat(f: &mut fmt::Formatter<'_>, c: char, count: usize) -> fmt::Result {
    (0..count).try_for_each(|_| f.write_char(c))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{ODD, number_column, odd_grids, text_column, texts};
    use super::super::{ColumnHead, Grid, OwnedValue};
    use super::{Fit, Footer, TextTable, Times, shorten};
    use core::time::Duration;
    use perfschema_core::table::SqlType;
    use unicode_width::UnicodeWidthStr;

    #[track_caller]
    fn check(table: TextTable<'_>, expected: &str) {
        assert_eq!(table.to_string(), expected);
    }

    /// For transcripts that have come down as flowing text.
    #[track_caller]
    fn check_words(text: &str, expected: &str) {
        assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), expected);
    }

    fn seconds(seconds: f64) -> Footer {
        Footer::Timed(Duration::from_secs_f64(seconds))
    }

    /// One row, from `name value` pairs: digits are numbers, `NULL` is NULL.
    fn record(pairs: &[(&str, &str)]) -> Grid {
        let column =
            |&(name, value): &(&str, &str)| if value.parse::<u64>().is_ok() { number_column(name) } else { text_column(name) };
        let value = |&(_, value): &(&str, &str)| match value.parse::<u64>() {
            Ok(number) => number.into(),
            Err(_) if value == "NULL" => OwnedValue::Null,
            Err(_) => value.into(),
        };
        Grid { columns: pairs.iter().map(column).collect(), rows: vec![pairs.iter().map(value).collect()] }
    }

    #[test]
    fn wl4813_setup_instruments() {
        let names = [
            "After create",
            "allocating local table",
            "Changing master",
            "Checking master version",
            "checking permissions",
            "checking privileges on cached query",
            "checking query cache for query",
            "cleaning up",
            "closing tables",
            "Connecting to master",
        ]
        .map(|name| format!("stage/sql/{name}"));
        let rows = names.each_ref().map(|name| [name.as_str(), "YES", "YES"]);
        let grid = texts(&["NAME", "ENABLED", "TIMED"], &rows.each_ref().map(|row| row.as_slice()));
        let expected = "\
+-----------------------------------------------+---------+-------+
| NAME                                          | ENABLED | TIMED |
+-----------------------------------------------+---------+-------+
| stage/sql/After create                        | YES     | YES   |
| stage/sql/allocating local table              | YES     | YES   |
| stage/sql/Changing master                     | YES     | YES   |
| stage/sql/Checking master version             | YES     | YES   |
| stage/sql/checking permissions                | YES     | YES   |
| stage/sql/checking privileges on cached query | YES     | YES   |
| stage/sql/checking query cache for query      | YES     | YES   |
| stage/sql/cleaning up                         | YES     | YES   |
| stage/sql/closing tables                      | YES     | YES   |
| stage/sql/Connecting to master                | YES     | YES   |
+-----------------------------------------------+---------+-------+
10 rows in set (0.00 sec)
";
        check(grid.boxed().footer(seconds(0.0)), expected);
    }

    #[test]
    fn wl4813_setup_consumers() {
        let rows: &[&[&str]] =
            &[&["events_stages_current", "YES"], &["events_stages_history", "YES"], &["events_stages_history_long", "YES"]];
        let expected = "\
+----------------------------+---------+
| NAME                       | ENABLED |
+----------------------------+---------+
| events_stages_current      | YES     |
| events_stages_history      | YES     |
| events_stages_history_long | YES     |
+----------------------------+---------+
";
        check(texts(&["NAME", "ENABLED"], rows).boxed().footer(Footer::None), expected);
    }

    #[test]
    fn wl4678_events_waits_current() {
        let grid = record(&[
            ("THREAD_ID", "1"),
            ("EVENT_ID", "2"),
            ("EVENT_NAME", "wait/io/file/sql/pid"),
            ("SOURCE", "mysqld.cc:9258"),
            ("TIMER_START", "197474322940"),
            ("TIMER_END", "197506166308"),
            ("TIMER_WAIT", "31843368"),
            ("SPINS", "NULL"),
            ("OBJECT_SCHEMA", "NULL"),
            ("OBJECT_NAME", "/usr/local/mysql/var/linux.pid"),
            ("OBJECT_TYPE", "NULL"),
            ("OBJECT_INSTANCE_BEGIN", "NULL"),
            ("NESTING_EVENT_ID", "NULL"),
            ("OPERATION", "FILEWRITE"),
            ("NUMBER_OF_BYTES", "6"),
        ]);
        let expected = "\
*************************** 1. row ***************************
            THREAD_ID: 1
             EVENT_ID: 2
           EVENT_NAME: wait/io/file/sql/pid
               SOURCE: mysqld.cc:9258
          TIMER_START: 197474322940
            TIMER_END: 197506166308
           TIMER_WAIT: 31843368
                SPINS: NULL
        OBJECT_SCHEMA: NULL
          OBJECT_NAME: /usr/local/mysql/var/linux.pid
          OBJECT_TYPE: NULL
OBJECT_INSTANCE_BEGIN: NULL
     NESTING_EVENT_ID: NULL
            OPERATION: FILEWRITE
      NUMBER_OF_BYTES: 6
1 row in set (0.00 sec)
";
        // The first line of each literal stands on a line of its own, so that spaces before the first name survive.
        check(grid.vertical().footer(seconds(0.0)), expected);
    }

    #[test]
    fn wl4678_events_waits_summary_by_event_name() {
        let names = ["EVENT_NAME", "COUNT_WAIT", "SUM_TIMER_WAIT", "MIN_TIMER_WAIT", "AVG_TIMER_WAIT", "MAX_TIMER_WAIT"];
        let columns = names
            .iter()
            .enumerate()
            .map(|(index, name)| if index == 0 { text_column(name) } else { number_column(name) })
            .collect();
        let row = |name: &str, numbers: [u64; 5]| core::iter::once(name.into()).chain(numbers.map(OwnedValue::from)).collect();
        let rows = vec![
            row("wait/io/file/sql/ERRMSG", [3, 163141234, 9438828, 54380411, 137474608]),
            row("wait/io/file/sql/FRM", [296, 1439109522, 63852, 4861856, 93699054]),
            row("wait/io/file/sql/pid", [1, 31843368, 31843368, 31843368, 31843368]),
            row("wait/io/file/mysys/charset", [1, 68423052, 68423052, 68423052, 68423052]),
            row("wait/io/file/maria/key_file", [11, 41439948, 1364054, 3767268, 7402450]),
            row("wait/io/file/maria/data_file", [2, 17721434, 8298882, 8860717, 9422552]),
        ];
        let expected = "\
*************************** 1. row ***************************
    EVENT_NAME: wait/io/file/sql/ERRMSG
    COUNT_WAIT: 3
SUM_TIMER_WAIT: 163141234
MIN_TIMER_WAIT: 9438828
AVG_TIMER_WAIT: 54380411
MAX_TIMER_WAIT: 137474608
*************************** 2. row ***************************
    EVENT_NAME: wait/io/file/sql/FRM
    COUNT_WAIT: 296
SUM_TIMER_WAIT: 1439109522
MIN_TIMER_WAIT: 63852
AVG_TIMER_WAIT: 4861856
MAX_TIMER_WAIT: 93699054
*************************** 3. row ***************************
    EVENT_NAME: wait/io/file/sql/pid
    COUNT_WAIT: 1
SUM_TIMER_WAIT: 31843368
MIN_TIMER_WAIT: 31843368
AVG_TIMER_WAIT: 31843368
MAX_TIMER_WAIT: 31843368
*************************** 4. row ***************************
    EVENT_NAME: wait/io/file/mysys/charset
    COUNT_WAIT: 1
SUM_TIMER_WAIT: 68423052
MIN_TIMER_WAIT: 68423052
AVG_TIMER_WAIT: 68423052
MAX_TIMER_WAIT: 68423052
*************************** 5. row ***************************
    EVENT_NAME: wait/io/file/maria/key_file
    COUNT_WAIT: 11
SUM_TIMER_WAIT: 41439948
MIN_TIMER_WAIT: 1364054
AVG_TIMER_WAIT: 3767268
MAX_TIMER_WAIT: 7402450
*************************** 6. row ***************************
    EVENT_NAME: wait/io/file/maria/data_file
    COUNT_WAIT: 2
SUM_TIMER_WAIT: 17721434
MIN_TIMER_WAIT: 8298882
AVG_TIMER_WAIT: 8860717
MAX_TIMER_WAIT: 9422552
6 rows in set (0.01 sec)
";
        let grid = Grid { columns, rows };
        check(grid.vertical().footer(seconds(0.01)), expected);
        let human = grid.clone().limit(1).vertical().times(Times::Human).to_string();
        assert!(human.contains("COUNT_WAIT: 3\nSUM_TIMER_WAIT: 163.14 us\nMIN_TIMER_WAIT: 9.44 us\n"), "{human}");
    }

    #[test]
    fn wl4678_file_summaries() {
        let grid = record(&[
            ("FILE_NAME", "/usr/local/mysql/share/mysql/english/errmsg.sys"),
            ("EVENT_NAME", "wait/io/file/sql/ERRMSG"),
            ("COUNT_READ", "3"),
            ("COUNT_WRITE", "0"),
            ("SUM_NUMBER_OF_BYTES_READ", "43250"),
            ("SUM_NUMBER_OF_BYTES_WRITE", "0"),
        ]);
        let expected = "\
*************************** 1. row ***************************
                FILE_NAME: /usr/local/mysql/share/mysql/english/errmsg.sys
               EVENT_NAME: wait/io/file/sql/ERRMSG
               COUNT_READ: 3
              COUNT_WRITE: 0
 SUM_NUMBER_OF_BYTES_READ: 43250
SUM_NUMBER_OF_BYTES_WRITE: 0
1 row in set (0.01 sec)
";
        check(grid.vertical().footer(seconds(0.01)), expected);
        let by_event_name = ["EVENT_NAME", "COUNT_READ", "COUNT_WRITE", "SUM_NUMBER_OF_BYTES_READ", "SUM_NUMBER_OF_BYTES_WRITE"];
        let expected = "\
*************************** 1. row ***************************
               EVENT_NAME: wait/io/file/sql/ERRMSG
               COUNT_READ: 3
              COUNT_WRITE: 0
 SUM_NUMBER_OF_BYTES_READ: 43250
SUM_NUMBER_OF_BYTES_WRITE: 0
1 row in set (0.00 sec)
";
        check(grid.select(&by_event_name).unwrap().vertical().footer(seconds(0.0)), expected);
    }

    /// The text of WL#2360 has lost its line ends and runs of spaces, so only the words are compared; the frame is one word.
    #[test]
    fn wl2360_setup_instruments() {
        let transcript = "\
        +----------------------------------------------------------+---------+-------+ | NAME | ENABLED | TIMED | \
        +----------------------------------------------------------+---------+-------+ | wait/synch/mutex/sql/LOCK_des_key_file \
        | YES | YES | | wait/synch/mutex/mysys/KEY_CACHE::cache_lock | YES | YES | | wait/synch/mutex/myisam/MI_SORT_INFO::mutex \
        | YES | YES | | wait/synch/mutex/tina/tina_mutex | YES | YES | | wait/synch/mutex/archive/archive_mutex | YES | YES | | \
        wait/synch/mutex/archive/azio_container::thresh_mutex | YES | YES | | wait/synch/mutex/blackhole/blackhole_mutex | YES | \
        YES | | wait/synch/mutex/heap/HP_SHARE::intern_lock | YES | YES | | wait/synch/mutex/maria/MARIA_SHARE::key_del_lock | \
        YES | YES | | wait/synch/mutex/myisammrg/MYRG_INFO::mutex | YES | YES | | wait/synch/rwlock/sql/LOCK_grant | YES | YES | \
        | wait/synch/rwlock/mysys/WT_RESOURCE::lock | YES | YES | | wait/synch/rwlock/mysys/SAFE_HASH_mutex | YES | YES | | \
        wait/synch/rwlock/myisam/MYISAM_SHARE::key_root_lock | YES | YES | | wait/synch/rwlock/maria/MARIA_KEYDEF::root_lock | \
        YES | YES | | wait/synch/cond/sql/PAGE::cond | YES | YES | | wait/synch/cond/mysys/WT_RESOURCE::cond | YES | YES | | \
        wait/synch/cond/myisam/MI_SORT_INFO::cond | YES | YES | | wait/synch/cond/archive/azio_container::threshhold | YES | YES \
        | | wait/synch/cond/maria/MARIA_SHARE::intern_cond | YES | YES | | wait/io/file/sql/ERRMSG | YES | YES | | \
        wait/io/file/mysys/proc_meminfo | YES | YES | | wait/io/file/myisam/backup_log | YES | YES | | \
        wait/io/file/tina/metadata | YES | YES | | wait/io/file/maria/control | YES | YES | \
        +----------------------------------------------------------+---------+-------+";
        let names = transcript.split(['|', '+']).map(str::trim).filter(|cell| cell.starts_with("wait/"));
        let mut rows: Vec<Vec<&str>> = names.map(|name| vec![name, "YES", "YES"]).collect();
        assert_eq!(rows.len(), 25);
        // The frame is wider than any of these sample rows: it was that of the whole table, whose longest name it tells to have 56.
        let longest = "wait/synch/rwlock/".to_owned() + &"x".repeat(56 - 18);
        rows.push(vec![&longest, "YES", "YES"]);
        let grid = texts(&["NAME", "ENABLED", "TIMED"], &rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let text = grid.boxed().footer(Footer::None).to_string();
        check_words(&text.replace(&format!("| {longest} | YES     | YES   |\n"), ""), transcript);
    }

    #[test]
    fn wl2360_performance_timers() {
        let row = |name: &str, numbers: [i64; 3]| core::iter::once(name.into()).chain(numbers.map(OwnedValue::from)).collect();
        let mut columns: Vec<ColumnHead> =
            ["TIMER_FREQUENCY", "TIMER_RESOLUTION", "TIMER_OVERHEAD"].map(|name| ColumnHead::new(name, SqlType::Bigint)).into();
        columns.insert(0, text_column("TIMER_NAME").not_null());
        let rows = vec![
            row("CYCLE", [1595661691, 1, 14]),
            row("NANOSECOND", [1000000000, 1, 1350]),
            row("MICROSECOND", [1000000, 1, 1227]),
            row("MILLISECOND", [1004, 1, 1319]),
            row("TICK", [103, 1, 947]),
        ];
        let grid = Grid { columns, rows };
        let expected = "\
+-------------+-----------------+------------------+----------------+
| TIMER_NAME  | TIMER_FREQUENCY | TIMER_RESOLUTION | TIMER_OVERHEAD |
+-------------+-----------------+------------------+----------------+
| CYCLE       |      1595661691 |                1 |             14 |
| NANOSECOND  |      1000000000 |                1 |           1350 |
| MICROSECOND |         1000000 |                1 |           1227 |
| MILLISECOND |            1004 |                1 |           1319 |
| TICK        |             103 |                1 |            947 |
+-------------+-----------------+------------------+----------------+
5 rows in set (0.13 sec)
";
        check(grid.boxed().footer(seconds(0.13)), expected);
        // The worklog's transcript was touched by hand: a heading shortened within its frame, a count not updated.
        let transcript = "\
        +-------------+-----------------+------------------+----------------+ | TIMER_NAME | TIMER_FREQUENCY | RESOLUTION | \
        TIMER_OVERHEAD | +-------------+-----------------+------------------+----------------+ | CYCLE | 1595661691 | 1 | 14 | | \
        NANOSECOND | 1000000000 | 1 | 1350 | | MICROSECOND | 1000000 | 1 | 1227 | | MILLISECOND | 1004 | 1 | 1319 | | TICK | 103 \
        | 1 | 947 | +-------------+-----------------+------------------+----------------+ 6 rows in set (0.13 sec)";
        check_words(&expected.replace("TIMER_RESOLUTION", "RESOLUTION").replace("5 rows", "6 rows"), transcript);
    }

    #[test]
    fn wl2360_setup_timers() {
        let grid = texts(&["NAME", "TIMER_NAME"], &[&["Wait", "CYCLE"]]);
        let expected = "\
+------+------------+
| NAME | TIMER_NAME |
+------+------------+
| Wait | CYCLE      |
+------+------------+
1 row in set (0.00 sec)
";
        check(grid.boxed().footer(seconds(0.0)), expected);
        let transcript = "\
        +------+------------+ | NAME | TIMER_NAME | +------+------------+ | Wait | CYCLE | +------+------------+ 1 row in set \
        (0.00 sec)";
        check_words(expected, transcript);
    }

    #[test]
    fn nothing_to_show() {
        let grid = texts(&["NAME"], &[]);
        check(grid.boxed(), "Empty set\n");
        check(grid.vertical().footer(seconds(0.004)), "Empty set (0.00 sec)\n");
        check(grid.boxed().footer(Footer::None), "");
        check(texts(&[], &[&[], &[]]).boxed(), "+\n|\n+\n|\n|\n+\n2 rows in set\n");
    }

    #[test]
    fn footers() {
        let grid = texts(&["A"], &[&["b"]]);
        let footer = |time| grid.boxed().footer(Footer::Timed(time)).to_string().lines().last().map(str::to_owned);
        assert_eq!(footer(Duration::from_millis(59_990)).as_deref(), Some("1 row in set (59.99 sec)"));
        assert_eq!(footer(Duration::from_secs(61)).as_deref(), Some("1 row in set (1 min 1.00 sec)"));
        assert_eq!(footer(Duration::from_secs(7_200)).as_deref(), Some("1 row in set (2 hours 0.00 sec)"));
        assert_eq!(
            footer(Duration::from_secs(2 * 86_400 + 3_600 + 120)).as_deref(),
            Some("1 row in set (2 days 1 hour 2 min 0.00 sec)")
        );
    }

    #[test]
    fn room_for_null_and_sides() {
        let mut grid = Grid {
            columns: vec![
                text_column("T"),
                text_column("U").not_null(),
                number_column("N"),
                ColumnHead::new("D", SqlType::Double),
            ],
            rows: vec![vec!["a".into(), "b".into(), 7_u64.into(), 0.5.into()]],
        };
        check(
            grid.boxed().footer(Footer::None),
            "\
+------+---+------+------+
| T    | U | N    | D    |
+------+---+------+------+
| a    | b |    7 |  0.5 |
+------+---+------+------+
",
        );
        grid.rows.push(vec![OwnedValue::Null, "".into(), OwnedValue::Null, 1e300.into()]);
        check(
            grid.boxed().footer(Footer::None),
            "\
+------+---+------+-------+
| T    | U | N    | D     |
+------+---+------+-------+
| a    | b |    7 |   0.5 |
| NULL |   | NULL | 1e300 |
+------+---+------+-------+
",
        );
    }

    #[test]
    fn odd_cells() {
        let rows: &[&[&str]] = &[
            &["日本語", "2 columns each"],
            &["e\u{301}a", "combining"],
            &["👩\u{200d}👩\u{200d}👧", "joined"],
            &["a\nb\tc", "control"],
            &["\u{1b}]0;t\u{7}", "commands"],
            &["a\u{202e}b", "direction"],
            &["C:\\n", "backslash"],
        ];
        check(
            texts(&["NAME\n", "WHAT"], rows).boxed(),
            r"+-----------------+----------------+
| NAME\n          | WHAT           |
+-----------------+----------------+
| 日本語          | 2 columns each |
| éa              | combining      |
| 👩‍👩‍👧              | joined         |
| a\nb\tc         | control        |
| \u{1b}]0;t\u{7} | commands       |
| a\u{202e}b      | direction      |
| C:\n            | backslash      |
+-----------------+----------------+
7 rows in set
",
        );
        check(
            texts(&["N\u{1b}"], &[&["1\n*** 2. row ***"]]).vertical(),
            r"*************************** 1. row ***************************
N\u{1b}: 1\n*** 2. row ***
1 row in set
",
        );
    }

    #[test]
    fn times_for_people() {
        let columns = vec![number_column("COUNT_STAR"), number_column("TIMER_WAIT"), number_column("TIMER_OVERHEAD")];
        let times = [Some(31_843_368_u64), None, Some(43), Some(u64::MAX)];
        let rows = times.map(|time| vec![1000_u64.into(), time.into(), 1350_u64.into()]).to_vec();
        let mut grid = Grid { columns, rows };
        check(
            grid.boxed().times(Times::Human).footer(Footer::None),
            "\
+------------+------------+----------------+
| COUNT_STAR | TIMER_WAIT | TIMER_OVERHEAD |
+------------+------------+----------------+
|       1000 |   31.84 us |           1350 |
|       1000 |       NULL |           1350 |
|       1000 |      43 ps |           1350 |
|       1000 |   213.50 d |           1350 |
+------------+------------+----------------+
",
        );
        assert!(grid.vertical().times(Times::Human).to_string().contains("    TIMER_WAIT: 43 ps\n"));
        // What SUM and AVG come as.
        let columns = vec![
            ColumnHead::new("SUM_TIMER_WAIT", SqlType::Decimal(42, 0)),
            ColumnHead::new("AVG_TIMER_WAIT", SqlType::Decimal(24, 4)),
        ];
        let exact = |digits: &str| OwnedValue::Decimal(digits.to_owned());
        let sums = Grid { columns, rows: vec![vec![exact("31843368"), exact("43.5000")], vec![exact("-5"), OwnedValue::Null]] };
        assert_eq!(
            sums.boxed().times(Times::Human).footer(Footer::None).to_string().lines().skip(3).take(2).collect::<Vec<_>>(),
            ["|       31.84 us |          44 ps |", "|             -5 |           NULL |"]
        );
        let odd: [OwnedValue; 5] = [5_i64.into(), (-5_i64).into(), 2401.4.into(), f64::NAN.into(), "5".into()];
        grid.rows = odd.map(|time| vec![1_u64.into(), time, 1_u64.into()]).to_vec();
        let text = grid.boxed().times(Times::Human).to_string();
        for time in ["|       5 ps |", "|         -5 |", "|    2.40 ns |", "|        NaN |", "|          5 |"] {
            assert!(text.contains(time), "{time} {text}");
        }
    }

    #[test]
    fn too_wide() {
        let columns = vec![text_column("EVENT_NAME"), text_column("SOURCE"), number_column("TIMER_WAIT")];
        let row = |name: &str, source: &str| vec![name.into(), source.into(), 31_843_368_u64.into()];
        let rows =
            vec![row("wait/synch/mutex/mysys/KEY_CACHE::cache_lock", "src/main.rs:7"), row("idle", "a few words more than fit")];
        let grid = Grid { columns, rows };
        let fit = |columns| grid.boxed().fit(Fit::Columns(columns)).footer(Footer::None);
        assert_eq!(fit(90).to_string(), grid.boxed().footer(Footer::None).to_string());
        check(
            fit(80),
            "\
+-------------------------------------+---------------------------+------------+
| EVENT_NAME                          | SOURCE                    | TIMER_WAIT |
+-------------------------------------+---------------------------+------------+
| …/mutex/mysys/KEY_CACHE::cache_lock | src/main.rs:7             |   31843368 |
| idle                                | a few words more than fit |   31843368 |
+-------------------------------------+---------------------------+------------+
",
        );
        check(
            fit(60),
            "\
+----------------------+----------------------+------------+
| EVENT_NAME           | SOURCE               | TIMER_WAIT |
+----------------------+----------------------+------------+
| …Y_CACHE::cache_lock | src/main.rs:7        |   31843368 |
| idle                 | a few words more th… |   31843368 |
+----------------------+----------------------+------------+
",
        );
        for columns in [51, 1, 0] {
            assert_eq!(fit(columns).to_string(), grid.vertical().footer(Footer::None).to_string());
        }
        // Headings are never shortened.
        let heading = "PERFORMANCE_SCHEMA_ACTORS_SIZE";
        let text = texts(&[heading, "B"], &[&["wait/synch/mutex/mysys/KEY_CACHE::cache_lock", "b"]]);
        assert!(text.boxed().fit(Fit::Columns(38)).to_string().contains(&format!("| {heading} | B |")));
        assert!(text.boxed().fit(Fit::Columns(37)).to_string().contains(&format!("\n{heading}: ")));
        assert_eq!(fit(52).to_string().lines().next().map(str::len), Some(52));
    }

    #[test]
    fn what_is_kept_of_a_long_text() {
        let check = |text: &str, width: usize, expected: &str| assert_eq!(shorten(text, width), expected, "{text} {width}");
        check("wait/synch/mutex/app/LOCK_open", 20, "…mutex/app/LOCK_open");
        check("wait/synch/mutex/app/LOCK_open", 24, "…/mutex/app/LOCK_open");
        check("wait/synch/mutex/app/LOCK_open", 9, "…OCK_open");
        check("/home/me/src/search/index.rs:120", 16, "…/index.rs:120");
        check("stage/sql/Sending data to a client", 16, "…/Sending data…");
        check("stage/sql/Sending data to a client", 26, "…/Sending data to a client");
        check("stage/sql/a b", 9, "…/sql/a b");
        check("stage/sql/a b", 1, "…");
        check("/home/me/My Documents/index.rs:120", 16, "…/index.rs:120");
        check("/* a/b */ SELECT c FROM d", 12, "/* a/b */ S…");
        check("SELECT a/b FROM c", 12, "SELECT a/b…");
        check("日本語日本語", 5, "…本語");
        check("日本語 日本語", 6, "日本…");
        check("aae\u{301}", 2, "…e\u{301}");
        check("a日\u{301}", 2, "…");
        check("abc", 1, "…");
        check("abc", 0, "");
    }

    #[test]
    fn shortened_texts_are_short() {
        for grid in odd_grids(300) {
            for text in
                grid.rows.iter().flatten().filter_map(|value| if let OwnedValue::Text(text) = value { Some(text) } else { None })
            {
                let shown = super::Shown::new(text.into());
                for width in 0..shown.width {
                    assert!(shorten(&shown.text, width).width() <= width, "{text:?} {width}");
                }
            }
        }
    }

    #[test]
    fn frames_are_straight() {
        let grids = odd_grids(400).chain(core::iter::once(texts(ODD, &[ODD, ODD])));
        for grid in grids {
            for fit in [Fit::Never, Fit::Columns(40), Fit::Columns(80), Fit::Columns(120)] {
                let text = grid.boxed().fit(fit).footer(Footer::None).to_string();
                assert!(!text.contains(|c: char| c != '\n' && super::is_hostile(c)), "{text}");
                if text.starts_with('*') {
                    assert_ne!(fit, Fit::Never);
                    continue;
                }
                let mut lines = text.lines();
                let width = lines.next().map_or(0, str::width);
                assert!(lines.all(|line| line.width() == width), "{text}");
                assert_eq!(text.lines().count(), grid.rows.len() + 4, "{text}");
                if let Fit::Columns(limit) = fit {
                    assert!(width <= limit, "{text}");
                }
            }
        }
    }

    #[test]
    fn a_huge_cell() {
        let huge = "x".repeat(70_000);
        let grid = texts(&["A", "B"], &[&[&huge, "y"], &["z", "y"]]);
        assert!(grid.boxed().to_string().lines().take(6).all(|line| line.len() == 70_000 + 8));
        let text = grid.boxed().fit(Fit::Columns(80)).to_string();
        assert!(text.lines().take(6).all(|line| line.width() == 80), "{text}");
    }
}
