//! Tables as text, CSV and JSON lines.
//!
//! A [`Grid`] holds the rows of any table, or of any query, as they were at one moment. It is cut to what is wanted, and then
//! displayed in one of four forms:
//!
//! ```
//! # use perfschema::core::{Config, Identity, InstrumentName, Region, Setting, StaticRegion, timer::Timers};
//! use perfschema::{core::tables, render::Grid};
//! # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
//! # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &Timers::calibrate())?;
//! # region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::OFF)?;
//!
//! let grid = Grid::of(&region, &tables::SetupInstruments).select(&["NAME", "ENABLED"])?;
//! let expected = "\
//! +--------------------------------+---------+
//! | NAME                           | ENABLED |
//! +--------------------------------+---------+
//! | wait/synch/mutex/app/LOCK_open | NO      |
//! +--------------------------------+---------+
//! 1 row in set
//! ";
//! assert_eq!(grid.boxed().to_string(), expected);
//! assert_eq!(grid.csv().to_string(), "NAME,ENABLED\nwait/synch/mutex/app/LOCK_open,NO\n");
//! assert_eq!(grid.json_lines().to_string(), "{\"NAME\":\"wait/synch/mutex/app/LOCK_open\",\"ENABLED\":\"NO\"}\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Every form is a value that implements [`Display`](core::fmt::Display) and nothing else: so it goes to `print!`, `to_string()`, a
//! `String` or any `io::Write` (`write!(file, "{}", grid.csv())` hands on the file's own error). A form is written in many small
//! pieces; give it a buffered or locked writer.
//!
//! The text forms are for eyes: they follow the `mysql` client byte for byte, and what a terminal would act on is shown escaped. CSV
//! and JSON lines are for programs: they lose nothing, and show times as numbers of picoseconds only.

pub mod csv;
pub mod json;
pub mod text;

use core::cmp::Ordering;
use perfschema_core::Region;
use perfschema_core::table::{Column, Row, SqlType, Sweep, Table, TableError, Value};

/// What the numbers of a column measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Nothing in particular: counts, ids, texts.
    #[default]
    None,
    /// Time in picoseconds.
    Picoseconds,
}

impl Unit {
    /// The unit that a column of this name has, in any letter case. This is the only place that tells times from other numbers: MySQL
    /// declares no units, but names its columns consistently.
    ///
    /// ```
    /// use perfschema::render::Unit;
    /// assert_eq!(["SUM_TIMER_WAIT", "wait_so_far"].map(Unit::of), [Unit::Picoseconds; 2]);
    /// assert_eq!(Unit::of("TIMER_OVERHEAD"), Unit::None); // in cycles
    /// assert_eq!(Unit::of("PROCESSLIST_TIME"), Unit::None); // in seconds
    /// ```
    pub fn of(column: &str) -> Unit {
        let name = column.to_ascii_uppercase();
        let is_aggregate = |rest: &str| rest.starts_with("TIMER_") || matches!(rest, "LOCK_TIME" | "CPU_TIME");
        let aggregates = ["SUM_", "MIN_", "AVG_", "MAX_"];
        let picoseconds = match name.as_str() {
            "TIMER_START" | "TIMER_END" | "TIMER_WAIT" | "TIMER_PREPARE" => true,
            "BUCKET_TIMER_LOW" | "BUCKET_TIMER_HIGH" | "LOCK_TIME" | "CPU_TIME" => true,
            // Of sys.x$…; where those are texts, so is what is shown.
            _ if name.ends_with("_SO_FAR") || name.ends_with("_LATENCY") => true,
            _ if name.strip_prefix("QUANTILE_").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit())) => true,
            _ => aggregates.iter().any(|prefix| name.strip_prefix(prefix).is_some_and(is_aggregate)),
        };
        if picoseconds { Unit::Picoseconds } else { Unit::None }
    }
}

/// What is known of a column of a [`Grid`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnHead {
    /// Its name; two columns of a query may have the same.
    pub name: String,
    /// Its type, which decides the alignment.
    pub sql_type: SqlType,
    /// Whether it can be NULL; a boxed table then leaves room for the word.
    pub nullable: bool,
    /// What its numbers measure.
    pub unit: Unit,
}

impl ColumnHead {
    /// A column that can be NULL, with the unit that its name implies.
    pub fn new(name: impl Into<String>, sql_type: SqlType) -> ColumnHead {
        let name = name.into();
        let unit = Unit::of(&name);
        ColumnHead { name, sql_type, nullable: true, unit }
    }

    /// The same column, never NULL.
    #[must_use]
    pub fn not_null(self) -> ColumnHead {
        ColumnHead { nullable: false, ..self }
    }

    /// Whether its values are numbers, which stand on the right.
    pub fn is_numeric(&self) -> bool {
        use SqlType::{Bigint, BigintUnsigned, Decimal, Double, Int, IntUnsigned};
        matches!(self.sql_type, BigintUnsigned | Bigint | Int | IntUnsigned | Double | Decimal(..))
    }
}

impl From<&Column> for ColumnHead {
    fn from(column: &Column) -> ColumnHead {
        ColumnHead { nullable: column.nullable, ..ColumnHead::new(column.name, column.sql_type) }
    }
}

/// A [`Value`] that owns its text.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum OwnedValue {
    /// NULL.
    #[default]
    Null,
    /// A number from 0 to 2⁶⁴−1.
    Unsigned(u64),
    /// A number that can be negative.
    Signed(i64),
    /// A number with a fraction.
    Double(f64),
    /// An exact number, as its digits: a sum, or one that has a point, like `-12.50`.
    ///
    /// ```
    /// use perfschema::core::table::SqlType;
    /// use perfschema::render::{ColumnHead, Grid, OwnedValue};
    ///
    /// let columns = vec![ColumnHead::new("AVG(COUNT_STAR)", SqlType::Decimal(24, 4))];
    /// let grid = Grid { columns, rows: vec![vec![OwnedValue::Decimal("2.5000".to_owned())]] };
    /// assert_eq!(grid.json_lines().to_string(), "{\"AVG(COUNT_STAR)\":2.5000}\n");
    /// ```
    Decimal(String),
    /// A text, or the name of an enum's value.
    Text(String),
}

impl OwnedValue {
    /// The value, borrowed; an exact number is the text of its digits.
    pub fn as_value(&self) -> Value<'_> {
        match self {
            OwnedValue::Null => Value::Null,
            OwnedValue::Unsigned(number) => Value::Unsigned(*number),
            OwnedValue::Signed(number) => Value::Signed(*number),
            OwnedValue::Double(number) => Value::Double(*number),
            OwnedValue::Decimal(text) | OwnedValue::Text(text) => Value::Text(text),
        }
    }

    /// Bytes of memory that it takes, but for those of this type itself.
    ///
    /// ```
    /// # use perfschema::render::OwnedValue;
    /// assert_eq!(OwnedValue::from("LOCK_open".to_owned()).text_bytes(), 9);
    /// assert_eq!(OwnedValue::Unsigned(9).text_bytes(), 0);
    /// ```
    pub fn text_bytes(&self) -> usize {
        match self.as_value() {
            Value::Text(text) => text.len(),
            _ => 0,
        }
    }

    /// The order in which [`Grid::order_by`] sorts: NULL, then numbers by size, then texts by bytes.
    ///
    /// ```
    /// # use perfschema::render::OwnedValue;
    /// let mut values = ["b".into(), OwnedValue::Unsigned(10), OwnedValue::Double(9.5), OwnedValue::Null, "a".into()];
    /// values.sort_by(OwnedValue::total_cmp);
    /// assert_eq!(values, [OwnedValue::Null, OwnedValue::Double(9.5), OwnedValue::Unsigned(10), "a".into(), "b".into()]);
    /// ```
    pub fn total_cmp(&self, other: &OwnedValue) -> Ordering {
        let (a, b) = (sort_key(self), sort_key(other));
        // Of two negative numbers the one with more behind the point is less.
        let last = || if a.1 < 0.0 { b.3.cmp(a.3) } else { a.3.cmp(b.3) };
        a.0.cmp(&b.0).then_with(|| a.1.total_cmp(&b.1)).then_with(|| a.2.cmp(&b.2)).then_with(last)
    }
}

impl From<Value<'_>> for OwnedValue {
    fn from(value: Value<'_>) -> OwnedValue {
        match value {
            Value::Null => OwnedValue::Null,
            Value::Unsigned(number) => OwnedValue::Unsigned(number),
            Value::Signed(number) => OwnedValue::Signed(number),
            Value::Double(number) => OwnedValue::Double(number),
            Value::Text(text) => OwnedValue::Text(text.to_owned()),
        }
    }
}

impl From<u64> for OwnedValue {
    fn from(number: u64) -> OwnedValue {
        OwnedValue::Unsigned(number)
    }
}

impl From<i64> for OwnedValue {
    fn from(number: i64) -> OwnedValue {
        OwnedValue::Signed(number)
    }
}

impl From<f64> for OwnedValue {
    fn from(number: f64) -> OwnedValue {
        OwnedValue::Double(number)
    }
}

impl From<&str> for OwnedValue {
    fn from(text: &str) -> OwnedValue {
        OwnedValue::Text(text.to_owned())
    }
}

impl From<String> for OwnedValue {
    fn from(text: String) -> OwnedValue {
        OwnedValue::Text(text)
    }
}

impl<T: Into<OwnedValue>> From<Option<T>> for OwnedValue {
    fn from(value: Option<T>) -> OwnedValue {
        value.map_or(OwnedValue::Null, T::into)
    }
}

/// The direction of [`Grid::order_by`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The smallest first; NULL before all.
    Ascending,
    /// The largest first; NULL after all.
    Descending,
}

/// What a look at a table does not show: rows that are written at this moment, and those in the middle of which their program has died.
/// None where all is shown.
///
/// ```
/// use perfschema::{core::table::Sweep, render};
/// let mut sweep = Sweep::default();
/// assert_eq!(render::missing(&sweep), None);
/// sweep.changed = 1;
/// assert_eq!(render::missing(&sweep).unwrap(), "1 row was being written, and is not shown");
/// sweep.skipped = 6;
/// assert_eq!(render::missing(&sweep).unwrap(), "7 rows were being written, and are not shown");
/// ```
pub fn missing(sweep: &Sweep) -> Option<String> {
    match sweep.changed + sweep.skipped {
        0 => None,
        1 => Some("1 row was being written, and is not shown".into()),
        rows => Some(format!("{rows} rows were being written, and are not shown")),
    }
}

/// Rows, collected: of a table by [`of`](Self::of), or of anything else by filling in the fields.
///
/// ```
/// use perfschema::core::table::{SqlType, TableError};
/// use perfschema::render::{ColumnHead, Grid, Order};
///
/// let columns = [("EVENT_NAME", SqlType::Varchar(128)), ("COUNT_STAR", SqlType::BigintUnsigned)];
/// let grid = Grid {
///     columns: columns.map(|(name, sql_type)| ColumnHead::new(name, sql_type)).into(),
///     rows: [("wait/app/a", 7_u64), ("wait/app/b", 0), ("wait/app/c", 9)].map(|(name, count)| vec![name.into(), count.into()]).into(),
/// };
/// let busiest = grid.retain(|row| row.number("COUNT_STAR") > Some(0)).order_by("count_star", Order::Descending)?.limit(1);
/// assert_eq!(busiest.csv().to_string(), "EVENT_NAME,COUNT_STAR\nwait/app/c,9\n");
/// assert!(matches!(busiest.select(&["COUNT"]), Err(TableError::UnknownColumn { .. })));
/// # Ok::<(), TableError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// The columns, in order.
    pub columns: Vec<ColumnHead>,
    /// The rows, each with a value for each column. Where one is too short, NULL is shown; what is too many is left out.
    pub rows: Vec<Vec<OwnedValue>>,
}

impl Grid {
    /// All rows of a table as they are now.
    pub fn of(region: &Region<'_>, table: &dyn Table) -> Grid {
        Grid::collect(region, table, |_| true).0
    }

    /// The rows of a table for which `keep` is true, and what the reader met: rows that changed meanwhile are counted there.
    ///
    /// Rows not kept are never copied, which [`retain`](Self::retain) cannot say.
    ///
    /// ```
    /// # use perfschema::core::{Config, Identity, Region, StaticRegion, timer::Timers};
    /// use perfschema::{core::table::Value, render::Grid, tables};
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &Timers::calibrate())?;
    /// let (grid, sweep) = Grid::collect(&region, &tables::SetupConsumers, |row| {
    ///     matches!(row.cell(0), Value::Text(name) if name.starts_with("events_stages_"))
    /// });
    /// assert_eq!((grid.rows.len(), sweep.changed), (3, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn collect(region: &Region<'_>, table: &dyn Table, mut keep: impl FnMut(&dyn Row) -> bool) -> (Grid, Sweep) {
        let columns: Vec<ColumnHead> = table.declaration().columns.iter().map(ColumnHead::from).collect();
        let mut rows = Vec::new();
        let sweep = table.scan(region, &mut |row| {
            if keep(row) {
                rows.push((0..columns.len()).map(|index| row.cell(index).into()).collect());
            }
        });
        (Grid { columns, rows }, sweep)
    }

    /// The index of the first column of this name, in any letter case.
    ///
    /// # Errors
    /// [`TableError::UnknownColumn`].
    pub fn column(&self, name: &str) -> Result<usize, TableError> {
        position(&self.columns, name).ok_or_else(|| TableError::UnknownColumn { column: name.into() })
    }

    /// Only these columns, in this order, named in any letter case.
    ///
    /// # Errors
    /// [`TableError::UnknownColumn`].
    pub fn select(self, names: &[&str]) -> Result<Grid, TableError> {
        let indices = names.iter().map(|name| self.column(name)).collect::<Result<Vec<_>, _>>()?;
        let columns = indices.iter().map(|&index| self.columns[index].clone()).collect();
        let pick = |row: Vec<OwnedValue>| indices.iter().map(|&index| row.get(index).cloned().unwrap_or_default()).collect();
        Ok(Grid { columns, rows: self.rows.into_iter().map(pick).collect() })
    }

    /// Only the rows for which `keep` is true.
    ///
    /// ```
    /// use perfschema::render::Grid;
    /// fn that_waited(grid: Grid) -> Grid {
    ///     grid.retain(|row| row.number("COUNT_STAR") > Some(0))
    /// }
    /// ```
    #[must_use]
    pub fn retain(mut self, mut keep: impl FnMut(GridRow<'_>) -> bool) -> Grid {
        let columns = &self.columns;
        self.rows.retain(|values| keep(GridRow { columns, values }));
        self
    }

    /// The rows in this order; equal ones keep theirs.
    ///
    /// ```
    /// use perfschema::render::Grid;
    /// fn by_object_and_time(grid: Grid) -> Grid {
    ///     let key = |row: perfschema::render::GridRow<'_>| (row.number("OBJECT_INSTANCE_BEGIN"), row.number("TIMER_WAIT"));
    ///     grid.sort_by(|a, b| key(a).cmp(&key(b)))
    /// }
    /// # by_object_and_time(Grid::default());
    /// ```
    #[must_use]
    pub fn sort_by(mut self, mut compare: impl FnMut(GridRow<'_>, GridRow<'_>) -> Ordering) -> Grid {
        let columns = &self.columns;
        self.rows.sort_by(|a, b| compare(GridRow { columns, values: a }, GridRow { columns, values: b }));
        self
    }

    /// The rows by the values of a column: numbers by size, texts by bytes. Equal ones keep their order.
    ///
    /// # Errors
    /// [`TableError::UnknownColumn`].
    pub fn order_by(mut self, name: &str, order: Order) -> Result<Grid, TableError> {
        let index = self.column(name)?;
        self.rows.sort_by(|a, b| {
            let [a, b] = [a, b].map(|row| row.get(index).unwrap_or(&OwnedValue::Null));
            if order == Order::Ascending { a.total_cmp(b) } else { b.total_cmp(a) }
        });
        Ok(self)
    }

    /// The first `rows` rows.
    #[must_use]
    pub fn limit(mut self, rows: usize) -> Grid {
        self.rows.truncate(rows);
        self
    }

    /// As the `mysql` client draws it: [`text::boxed`].
    pub fn boxed(&self) -> text::TextTable<'_> {
        text::boxed(self)
    }

    /// One line a value, as after `\G`: [`text::vertical`].
    pub fn vertical(&self) -> text::TextTable<'_> {
        text::vertical(self)
    }

    /// Comma-separated values: [`csv::table`].
    pub fn csv(&self) -> csv::Csv<'_> {
        csv::table(self)
    }

    /// One JSON object a row: [`json::lines`].
    pub fn json_lines(&self) -> json::JsonLines<'_> {
        json::lines(self)
    }

    /// The cells of a row, one for each column whatever the length of the row.
    fn cells<'a>(&'a self, row: &'a [OwnedValue]) -> impl Iterator<Item = (&'a ColumnHead, Value<'a>)> {
        self.columns.iter().enumerate().map(|(index, head)| (head, row.get(index).map_or(Value::Null, OwnedValue::as_value)))
    }
}

/// A row of a [`Grid`], with the names of its columns.
///
/// ```
/// # use perfschema::core::{Config, Identity, Region, StaticRegion, table::Value, timer::Timers};
/// use perfschema::{render::Grid, tables};
/// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
/// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &Timers::calibrate())?;
///
/// Grid::of(&region, &tables::PerformanceTimers).retain(|row| {
///     let name = row.text("TIMER_NAME").unwrap_or_default();
///     assert_eq!(row.number("timer_name"), None, "it is a text");
///     assert_eq!(row.get("TIMER"), None, "there is no such column");
///     name == "CYCLE"
/// });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GridRow<'a> {
    columns: &'a [ColumnHead],
    values: &'a [OwnedValue],
}

impl<'a> GridRow<'a> {
    /// The value of a column, named in any letter case. None: there is no such column.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        position(self.columns, name).map(|index| self.values.get(index).map_or(Value::Null, OwnedValue::as_value))
    }

    /// The value of a column if it is a whole number, not negative.
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.values.get(position(self.columns, name)?)? {
            OwnedValue::Unsigned(number) => Some(*number),
            OwnedValue::Signed(number) => (*number).try_into().ok(),
            OwnedValue::Decimal(digits) => digits.parse().ok(),
            _ => None,
        }
    }

    /// The value of a column if it is a text.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        match self.get(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

fn position(columns: &[ColumnHead], name: &str) -> Option<usize> {
    columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
}

/// NULL, numbers, texts: compared part by part. A number that no double can hold exactly is told from its neighbours by what it is before the
/// point, and behind it; the order stays total even where doubles and exact numbers are mixed.
type SortKey<'a> = (u8, f64, i128, &'a str);

fn sort_key(value: &OwnedValue) -> SortKey<'_> {
    match value {
        OwnedValue::Null => (0, 0.0, 0, ""),
        // Adding 0.0 makes −0 equal to 0.
        OwnedValue::Double(number) => (1, number + 0.0, i128::MIN, ""),
        OwnedValue::Unsigned(number) => (1, *number as f64, (*number).into(), ""),
        OwnedValue::Signed(number) => (1, *number as f64, (*number).into(), ""),
        OwnedValue::Decimal(digits) => {
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
            let number = digits.parse().unwrap_or(0.0);
            match whole.parse() {
                Ok(whole) => (1, number, whole, fraction.trim_end_matches('0')),
                // What no i128 holds is told from its neighbours as a double is.
                Err(_) => (1, number, i128::MIN, digits),
            }
        }
        OwnedValue::Text(text) => (2, 0.0, 0, text),
    }
}

/// Whether a terminal or an editor would act on the character instead of showing it: control characters, those that turn the direction
/// of writing, and those that cannot be seen: also letters that are empty, and the tags, which repeat ASCII unseen. The joiners of emoji and of many
/// scripts (U+200C, U+200D) are harmless and stay, as what selects a variant of the character before it does.
fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

/// What the tests of all forms are tried on.
#[cfg(test)]
mod samples {
    use super::{ColumnHead, Grid, OwnedValue};
    use perfschema_core::table::SqlType;

    pub(super) fn text_column(name: &str) -> ColumnHead {
        ColumnHead::new(name, SqlType::Varchar(128))
    }

    pub(super) fn number_column(name: &str) -> ColumnHead {
        ColumnHead::new(name, SqlType::BigintUnsigned)
    }

    /// A table of texts, not NULL.
    pub(super) fn texts(names: &[&str], rows: &[&[&str]]) -> Grid {
        Grid {
            columns: names.iter().map(|name| text_column(name).not_null()).collect(),
            rows: rows.iter().map(|row| row.iter().map(|&text| text.into()).collect()).collect(),
        }
    }

    /// Texts and parts of texts that frames, quotes and escapes fail on.
    pub(super) const ODD: &[&str] = &[
        "",
        " ",
        "a",
        "NULL",
        "\\N",
        "\\",
        "\"",
        "\"\"",
        ",",
        "\n",
        "\r\n",
        "\r",
        "\t",
        "\0",
        "|",
        "+--",
        "'",
        "/",
        "LOCK_open",
        "0",
        "\u{1b}[2J",
        "\u{9b}31m",
        "\u{7f}",
        "\u{202e}",
        "\u{2066}",
        "\u{feff}",
        "\u{200b}",
        "\u{ad}",
        "\u{2028}",
        "日本語",
        "ｱ",
        "한",
        "e\u{301}",
        "\u{301}",
        "👩\u{200d}👩\u{200d}👧",
        "\u{200d}",
        "❤\u{fe0f}",
        "❤",
        "\u{fe0f}",
        "1\u{fe0f}\u{20e3}",
        "🇩🇪",
        "🇩",
        "👍🏽",
        "🏽",
        "لا",
        "א\u{200d}ל",
        "क्ष",
        "\u{1100}\u{1161}",
        "\u{17d2}\u{1780}",
        "\u{10ffff}",
        "😀",
        "ß",
        "…",
    ];

    /// Grids of odd cells of every type, the same at each run.
    pub(super) fn odd_grids(count: usize) -> impl Iterator<Item = Grid> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = move |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as usize % below
        };
        (0..count).map(move |_| {
            let width = 1 + random(4);
            let mut columns = Vec::new();
            for index in 0..width {
                let types = [
                    SqlType::Varchar(64),
                    SqlType::BigintUnsigned,
                    SqlType::Bigint,
                    SqlType::Double,
                    SqlType::Decimal(20, 2),
                    SqlType::Enum(&["YES", "NO"]),
                ];
                columns.push(ColumnHead::new(format!("{index}{}", ODD[random(ODD.len())]), types[random(types.len())]));
            }
            let mut cell = |column: &ColumnHead| match (random(8), column.sql_type) {
                (0, _) => OwnedValue::Null,
                (_, SqlType::BigintUnsigned) => (u64::MAX >> random(64)).into(),
                (_, SqlType::Bigint) => (i64::MIN >> random(64)).into(),
                (_, SqlType::Double) => [0.0, -1.5, 1e300, 1e-7, 0.1 + 0.2, f64::MAX, 123_456.0][random(7)].into(),
                (_, SqlType::Decimal(..)) => OwnedValue::Decimal(["0.00", "-1.50", "123456789.25"][random(3)].to_owned()),
                (7, _) => (0..random(12)).map(|_| ODD[random(ODD.len())]).collect::<String>().into(),
                (length, _) => (0..length).map(|_| ODD[random(ODD.len())]).collect::<String>().into(),
            };
            let rows = (0..5).map(|_| columns.iter().map(&mut cell).collect()).collect();
            Grid { columns, rows }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::samples::{number_column, text_column};
    use super::{ColumnHead, Grid, Order, OwnedValue, Unit};
    use core::cmp::Ordering;
    use perfschema_core::table::{SqlType, TableError, Value};
    use perfschema_core::timer::Timers;
    use perfschema_core::{Config, Identity, InstrumentName, Region, Setting, StaticRegion, tables};

    fn waits() -> Grid {
        let rows = [("b", Some(2)), ("a", Some(30)), ("d", None), ("c", Some(2))];
        Grid {
            columns: vec![text_column("EVENT_NAME"), number_column("COUNT_STAR")],
            rows: rows.map(|(name, count): (&str, Option<u64>)| vec![name.into(), count.into()]).to_vec(),
        }
    }

    #[track_caller]
    fn check(grid: Grid, names: &str) {
        let found: String = grid.rows.iter().map(|row| row[0].as_value().to_string()).collect();
        assert_eq!(found, names);
    }

    #[test]
    fn rows_are_chosen_and_ordered() {
        check(waits(), "badc");
        check(waits().retain(|row| row.number("count_star") == Some(2)), "bc");
        check(waits().retain(|row| row.get("COUNT_STAR") == Some(Value::Null)), "d");
        check(waits().retain(|row| row.text("EVENT_NAME") > Some("b")), "dc");
        check(waits().retain(|row| row.get("NO_SUCH").is_some() || row.number("EVENT_NAME").is_some()), "");
        check(waits().limit(3), "bad");
        check(waits().order_by("EVENT_NAME", Order::Ascending).unwrap(), "abcd");
        check(waits().order_by("COUNT_STAR", Order::Ascending).unwrap(), "dbca");
        check(waits().order_by("count_star", Order::Descending).unwrap(), "abcd");
        // As numbers, also where they have more digits than any other.
        let mut exact = waits();
        let digits =
            ["30.5", "-2.50", "100000000000000000000000000000000000000001", "100000000000000000000000000000000000000000"];
        exact.rows.iter_mut().zip(digits).for_each(|(row, digits)| row[1] = OwnedValue::Decimal(digits.to_owned()));
        check(exact.clone().order_by("COUNT_STAR", Order::Ascending).unwrap(), "abcd");
        exact.rows[1][1] = OwnedValue::Decimal("2".to_owned());
        check(exact.retain(|row| row.number("COUNT_STAR") == Some(2)), "a");
        check(waits().sort_by(|a, b| b.text("EVENT_NAME").cmp(&a.text("EVENT_NAME"))), "dcba");
    }

    #[test]
    fn columns_are_chosen() {
        let grid = waits().select(&["count_star", "EVENT_NAME", "COUNT_STAR"]).unwrap();
        assert_eq!(
            grid.columns.iter().map(|head| head.name.as_str()).collect::<Vec<_>>(),
            ["COUNT_STAR", "EVENT_NAME", "COUNT_STAR"]
        );
        assert_eq!(grid.rows[1], [30_u64.into(), "a".into(), 30_u64.into()]);
        let unknown = TableError::UnknownColumn { column: "COUNT".into() };
        assert_eq!(waits().select(&["EVENT_NAME", "COUNT"]), Err(unknown.clone()));
        assert_eq!(waits().order_by("COUNT", Order::Ascending), Err(unknown));
    }

    #[test]
    fn values_have_one_order() {
        let mut values: Vec<OwnedValue> = vec![
            OwnedValue::Null,
            f64::NEG_INFINITY.into(),
            OwnedValue::Decimal("-100000000000000000000.75".into()),
            OwnedValue::Decimal("-100000000000000000000.25".into()),
            OwnedValue::Decimal("-100000000000000000000".into()),
            i64::MIN.into(),
            (-1_i64).into(),
            0_u64.into(),
            0.5.into(),
            1_u64.into(),
            ((1_u64 << 53) as f64).into(),
            (1_u64 << 53).into(),
            OwnedValue::Decimal("9007199254740992.3".into()),
            ((1_u64 << 53) + 1).into(),
            (u64::MAX - 1).into(),
            u64::MAX.into(),
            f64::NAN.into(),
            "".into(),
            "A".into(),
            "a".into(),
        ];
        let compare = OwnedValue::total_cmp;
        for (i, a) in values.iter().enumerate() {
            for (j, b) in values.iter().enumerate() {
                assert_eq!(compare(a, b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
        values.reverse();
        values.sort_by(compare);
        assert_eq!(compare(&(-0.0).into(), &0.0.into()), Ordering::Equal);
        assert_eq!(compare(&OwnedValue::Decimal("-1.50".into()), &OwnedValue::Decimal("-1.5".into())), Ordering::Equal);
    }

    #[test]
    fn times_are_told_by_name() {
        let times = |name| Unit::of(name) == Unit::Picoseconds;
        for name in
            ["TIMER_START", "timer_end", "SUM_TIMER_WAIT", "AVG_TIMER_READ_WITH_SHARED_LOCKS", "QUANTILE_999", "SUM_LOCK_TIME"]
        {
            assert!(times(name), "{name}");
        }
        for name in
            ["TIMER_NAME", "TIMER_RESOLUTION", "COUNT_STAR", "BUCKET_QUANTILE", "WORKER_IDLE_TIME", "SUM_NUMBER_OF_BYTES_READ"]
        {
            assert!(!times(name), "{name}");
        }
        // The times of the tables that there are: a new one is added to the rule or here.
        let mut found: Vec<&str> =
            tables::ALL.iter().flat_map(|table| table.declaration().columns).map(|column| column.name).collect();
        found.retain(|name| times(name));
        found.sort_unstable();
        found.dedup();
        let expected = "AVG_TIMER_MISC AVG_TIMER_READ AVG_TIMER_READ_ONLY AVG_TIMER_READ_WRITE AVG_TIMER_WAIT AVG_TIMER_WRITE \
                        BUCKET_TIMER_HIGH BUCKET_TIMER_LOW LOCK_TIME \
                        MAX_TIMER_MISC MAX_TIMER_READ MAX_TIMER_READ_ONLY MAX_TIMER_READ_WRITE MAX_TIMER_WAIT MAX_TIMER_WRITE \
                        MIN_TIMER_MISC MIN_TIMER_READ MIN_TIMER_READ_ONLY MIN_TIMER_READ_WRITE MIN_TIMER_WAIT MIN_TIMER_WRITE \
                        QUANTILE_95 QUANTILE_99 QUANTILE_999 SUM_LOCK_TIME \
                        SUM_TIMER_MISC SUM_TIMER_READ SUM_TIMER_READ_ONLY SUM_TIMER_READ_WRITE SUM_TIMER_WAIT SUM_TIMER_WRITE \
                        TIMER_END TIMER_START TIMER_WAIT";
        assert_eq!(found.join(" "), expected);
        // And what else in them calls itself picoseconds is one of them.
        for column in tables::ALL.iter().flat_map(|table| table.declaration().columns) {
            assert_eq!(times(column.name), column.doc.contains("icosecond"), "{}: {}", column.name, column.doc);
        }
    }

    #[test]
    fn every_table_becomes_a_grid() {
        static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
        let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &Timers::calibrate()).unwrap();
        region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON).unwrap();
        for table in tables::ALL {
            let grid = Grid::of(&region, *table);
            assert_eq!(grid.columns.len(), table.declaration().columns.len());
            assert!(grid.rows.iter().all(|row| row.len() == grid.columns.len()));
            let (none, sweep) = Grid::collect(&region, *table, |_| false);
            assert_eq!((none.rows.len(), sweep.rows), (0, grid.rows.len() as u64));
            assert!(!grid.boxed().to_string().is_empty() && !grid.csv().to_string().is_empty());
        }
        let grid = Grid::of(&region, &tables::SetupInstruments);
        assert_eq!(grid.columns[0], ColumnHead::new("NAME", SqlType::Varchar(128)).not_null());
    }

    #[test]
    fn a_row_of_the_wrong_length_is_shown() {
        let mut grid = waits().limit(2);
        grid.rows[0].pop();
        grid.rows[1].push(5_u64.into());
        assert_eq!(grid.csv().to_string(), "EVENT_NAME,COUNT_STAR\nb,\na,30\n");
        assert_eq!(grid.json_lines().to_string().lines().next(), Some(r#"{"EVENT_NAME":"b","COUNT_STAR":null}"#));
        assert!(grid.boxed().to_string().contains("| b          |       NULL |"));
        assert!(grid.vertical().to_string().contains("COUNT_STAR: NULL"));
        assert_eq!(grid.select(&["COUNT_STAR"]).unwrap().rows, [[OwnedValue::Null], [30_u64.into()]]);
    }
}
