//! The rows of a table as one statement sees them: the columns that it asks for, copied once, however often and through however many cursors it looks.

use crate::catalog::Column;
use crate::moment::Moment;
use crate::zone::Zone;
use perfschema::core::table::{SqlType, Value};
use rusqlite::types::{ToSqlOutput, ValueRef};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Rows, cell after cell, of the columns that the statement asks for; the texts stand in one string.
#[derive(Debug)]
pub(crate) struct Rows {
    /// Where in a row each column is; None of those that are not asked for.
    places: Vec<Option<usize>>,
    width: usize,
    len: usize,
    cells: Vec<Cell>,
    texts: String,
    /// Which columns are moments, and the zone of the session's clocks, if that is not theirs.
    local: Option<(Vec<bool>, Zone)>,
    /// One for each column.
    lookups: Vec<Lookup>,
}

/// Which rows have a value in a column, once that was asked twice: a join asks for each of another table's rows. One look at all rows takes a
/// small part of the time and memory of an index, and a statement that names one thread is content with that.
#[derive(Debug, Default)]
struct Lookup {
    was_asked: AtomicBool,
    index: OnceLock<Index>,
}

/// Which rows have a value in a column.
#[derive(Debug, Default)]
struct Index {
    rows: HashMap<Key, Arc<[u32]>>,
    texts: bool,
    numbers: bool,
    fractions: bool,
}

#[derive(Clone, Copy, Debug)]
enum Cell {
    Null,
    Integer(i64),
    Big(u64),
    Real(f64),
    Text { start: u32, end: u32 },
}

/// What is looked up: texts as the collation folds them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Integer(i64),
    Big(Vec<u8>),
    Text(String),
}

/// The text as MySQL's default collation compares it: without case.
pub(crate) fn fold(text: &str) -> String {
    folded(text).collect()
}

fn folded(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase)
}

/// The order of texts in MySQL's default collation: without case.
pub(crate) fn compare(a: &str, b: &str) -> std::cmp::Ordering {
    // Most that are equal are the same: where rows are grouped by name, say.
    if a == b {
        std::cmp::Ordering::Equal
    } else if a.is_ascii() && b.is_ascii() {
        let lower = |byte: u8| byte.to_ascii_lowercase();
        a.bytes().map(lower).cmp(b.bytes().map(lower))
    } else {
        folded(a).cmp(folded(b))
    }
}

/// Whether SQLite's word says that a column is used.
fn is_used(used: u64, column: usize) -> bool {
    used >> column.min(63) & 1 != 0
}

impl Rows {
    /// Of those of these columns that `used` has a bit for, as SQLite says it: the last bit is that of all columns behind the others, too. Those of
    /// type TIMESTAMP are shown as clocks of this zone have them, the session's.
    pub(crate) fn new(columns: &[Column], used: u64, zone: Zone) -> Rows {
        let mut width = 0;
        let place = |column| {
            is_used(used, column).then(|| {
                width += 1;
                width - 1
            })
        };
        let places: Vec<Option<usize>> = (0..columns.len()).map(place).collect();
        let is_moment = |column: &Column| matches!(column.sql_type, SqlType::Timestamp(_));
        let moments: Vec<bool> = columns.iter().map(is_moment).collect();
        let local = (!zone.is_utc() && moments.contains(&true)).then_some((moments, zone));
        let lookups = columns.iter().map(|_| Lookup::default()).collect();
        Rows { places, width, len: 0, cells: Vec::new(), texts: String::new(), local, lookups }
    }

    /// Whether it has all columns that are in `used`.
    pub(crate) fn has(&self, used: u64) -> bool {
        (0..).zip(&self.places).all(|(column, place)| place.is_some() || !is_used(used, column))
    }

    /// One more row, of these values of all columns.
    pub(crate) fn push<'v>(&mut self, value: impl Fn(usize) -> Value<'v>) {
        for column in 0..self.places.len() {
            if self.places[column].is_none() {
                continue;
            }
            let cell = match value(column) {
                Value::Null => Cell::Null,
                Value::Unsigned(number) => i64::try_from(number).map_or(Cell::Big(number), Cell::Integer),
                Value::Signed(number) => Cell::Integer(number),
                Value::Double(number) => Cell::Real(number),
                Value::Text(text) => match self.local(column, text) {
                    Some(local) => self.text(&local),
                    None => self.text(text),
                },
            };
            self.cells.push(cell);
        }
        self.len += 1;
        debug_assert_eq!(self.cells.len(), self.len * self.width);
    }

    /// The moment as the session's clocks have it; None where that is as it stands.
    fn local(&self, column: usize, text: &str) -> Option<String> {
        let (_, zone) = self.local.as_ref().filter(|(moments, _)| moments.get(column) == Some(&true))?;
        let digits = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        Some(zone.at(Moment::parse(text)?).rounded_down(digits).0)
    }

    fn text(&mut self, text: &str) -> Cell {
        let start = self.texts.len();
        self.texts.push_str(text);
        match (u32::try_from(start), u32::try_from(self.texts.len())) {
            (Ok(start), Ok(end)) => Cell::Text { start, end },
            // The caller's bound is far below 4 GiB.
            _ => Cell::Null,
        }
    }

    /// The memory that they take.
    pub(crate) fn bytes(&self) -> usize {
        self.cells.len() * size_of::<Cell>() + self.texts.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// A cell as SQLite is given it; None of a column that was not asked for.
    pub(crate) fn get(&self, row: usize, column: usize) -> Option<ToSqlOutput<'_>> {
        let cell = self.cells.get(row * self.width + (*self.places.get(column)?)?)?;
        Some(match *cell {
            Cell::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Cell::Integer(number) => ToSqlOutput::Borrowed(ValueRef::Integer(number)),
            Cell::Big(number) => ToSqlOutput::Owned(crate::value::unsigned(number)),
            Cell::Real(number) => ToSqlOutput::Borrowed(ValueRef::Real(number)),
            Cell::Text { start, end } => ToSqlOutput::Borrowed(ValueRef::Text(self.slice(start, end).as_bytes())),
        })
    }

    fn slice(&self, start: u32, end: u32) -> &str {
        self.texts.get(start as usize..end as usize).unwrap_or_default()
    }

    fn key(&self, cell: Cell) -> Option<Key> {
        match cell {
            Cell::Integer(number) => Some(Key::Integer(number)),
            Cell::Big(number) => Some(Key::Big(i128::from(number).to_be_bytes().to_vec())),
            Cell::Text { start, end } => Some(Key::Text(fold(self.slice(start, end)))),
            Cell::Null | Cell::Real(_) => None,
        }
    }

    /// The rows that may have this value in the column, where NULL is equal to NULL or to nothing; None if all may. SQLite compares once more.
    pub(crate) fn find(&self, column: usize, value: ValueRef<'_>, also_null: bool) -> Option<Arc<[u32]>> {
        if value == ValueRef::Null && !also_null {
            // A lock that nobody holds, say, looks at no thread.
            return Some(Arc::default());
        }
        let lookup = &self.lookups[column];
        // A column that is not asked for has nothing to look at.
        self.places[column]?;
        // Relaxed: one thread asks, that which runs the statement.
        if !lookup.was_asked.swap(true, Ordering::Relaxed) {
            return self.look(column, value);
        }
        let is_text = matches!(value, ValueRef::Text(_));
        let key = match value {
            ValueRef::Integer(number) => Key::Integer(number),
            ValueRef::Blob(bytes) => Key::Big(bytes.to_vec()),
            ValueRef::Text(text) => Key::Text(fold(std::str::from_utf8(text).ok()?)),
            // Both are rarely looked up.
            ValueRef::Null | ValueRef::Real(_) => return None,
        };
        let index = lookup.index.get_or_init(|| self.index(column));
        // A column of texts against a number, or the other way round: SQLite converts.
        let converts = index.fractions || if is_text { index.numbers } else { index.texts };
        if converts { None } else { Some(index.rows.get(&key).cloned().unwrap_or_default()) }
    }

    /// What [`find`](Self::find) finds, by one look at all rows.
    fn look(&self, column: usize, value: ValueRef<'_>) -> Option<Arc<[u32]>> {
        let text = match value {
            ValueRef::Text(text) => std::str::from_utf8(text).ok()?,
            _ => "",
        };
        let mut found = Vec::new();
        for (row, cell) in self.column(column) {
            let is_found = match (cell, value) {
                (_, ValueRef::Null | ValueRef::Real(_)) | (Cell::Real(_), _) => return None,
                (Cell::Null, _) | (Cell::Integer(_), ValueRef::Blob(_)) | (Cell::Big(_), ValueRef::Integer(_)) => false,
                (Cell::Integer(number), ValueRef::Integer(wanted)) => number == wanted,
                (Cell::Big(number), ValueRef::Blob(wanted)) => i128::from(number).to_be_bytes() == wanted,
                (Cell::Text { start, end }, ValueRef::Text(_)) => compare(self.slice(start, end), text).is_eq(),
                (Cell::Text { .. }, _) | (_, ValueRef::Text(_)) => return None,
            };
            if is_found {
                found.push(row);
            }
        }
        Some(found.into())
    }

    /// Each row's cell in a column; none, if that is not asked for.
    fn column(&self, column: usize) -> impl Iterator<Item = (u32, Cell)> {
        let cells = self.places[column].and_then(|place| self.cells.get(place..)).unwrap_or_default();
        (0..).zip(cells.iter().step_by(self.width.max(1)).copied())
    }

    fn index(&self, column: usize) -> Index {
        let mut index = Index::default();
        let mut rows: HashMap<Key, Vec<u32>> = HashMap::new();
        for (row, cell) in self.column(column) {
            match cell {
                Cell::Null => {}
                Cell::Real(_) => index.fractions = true,
                Cell::Text { .. } => index.texts = true,
                Cell::Integer(_) | Cell::Big(_) => index.numbers = true,
            }
            if let Some(key) = self.key(cell) {
                rows.entry(key).or_default().push(row);
            }
        }
        index.rows = rows.into_iter().map(|(key, rows)| (key, rows.into())).collect();
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second time an index says what a look at all rows said the first time; nothing is equal to NULL, unless NULL is.
    #[test]
    fn rows_are_found_by_their_value() {
        let column = |name, sql_type| Column::new(name, sql_type, true);
        let columns =
            [column("number", SqlType::BigintUnsigned), column("text", SqlType::Varchar(9)), column("left_out", SqlType::Int)];
        let mut rows = Rows::new(&columns, 0b011, Zone::UTC);
        let numbers = [Value::Unsigned(7), Value::Null, Value::Unsigned(u64::MAX), Value::Signed(7)];
        for (number, text) in numbers.into_iter().zip(["Ab", "x", "aB", "y"]) {
            rows.push(|column| [number, Value::Text(text), Value::Signed(1)][column]);
        }
        assert!(rows.has(0b011) && rows.has(0b001) && !rows.has(0b100) && rows.len() == 4);
        assert!(rows.get(3, 1).is_some() && rows.get(3, 2).is_none());
        let most = i128::from(u64::MAX).to_be_bytes();
        for (column, value, expected) in [
            (0, ValueRef::Integer(7), Some(&[0, 3][..])),
            (0, ValueRef::Integer(8), Some(&[])),
            (0, ValueRef::Blob(&most), Some(&[2])),
            (0, ValueRef::Text(b"7"), None),
            (0, ValueRef::Real(7.0), None),
            (1, ValueRef::Text(b"ab"), Some(&[0, 2])),
            (1, ValueRef::Integer(7), None),
        ] {
            assert_eq!(rows.look(column, value).as_deref(), expected, "{column} {value:?}, looked at");
            for _ in 0..2 {
                assert_eq!(rows.find(column, value, false).as_deref(), expected, "{column} {value:?}");
            }
        }
        assert_eq!(rows.find(0, ValueRef::Null, false).as_deref(), Some(&[][..]));
        assert_eq!(rows.find(0, ValueRef::Null, true), None, "NULL may be equal to it");
    }
}
