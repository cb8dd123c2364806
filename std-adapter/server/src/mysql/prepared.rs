//! The statements that a client has prepared, with what has come of their parameters and what has not gone of their rows, and how many
//! bytes that is.

use super::command::ParameterType;
use super::response::Column;
use crate::Limits;
use crate::clients::error;
use perfschema::render::OwnedValue;
use perfschema_sql::Error;
use std::collections::HashMap;
use std::vec::IntoIter;

/// What a parameter that comes in pieces takes beside its bytes, even if it has none: its entry, and the room that the map keeps
/// free.
const PARAMETER_BYTES: usize = 2 * size_of::<(u16, Vec<u8>)>();

/// Parameters that came in pieces, by their places.
pub(crate) type Long = HashMap<u16, Vec<u8>>;

/// Rows that a client fetches by and by.
#[derive(Debug)]
pub(crate) struct Cursor {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: IntoIter<Vec<OwnedValue>>,
    size_bytes: usize,
}

impl Cursor {
    pub(crate) fn new(columns: Vec<Column>, rows: Vec<Vec<OwnedValue>>) -> Cursor {
        let texts = |row: &[OwnedValue]| row.iter().map(OwnedValue::text_bytes).sum::<usize>();
        let row = |row: &Vec<OwnedValue>| size_of_val(row) + size_of_val(row.as_slice()) + texts(row);
        let size_bytes = size_of_val(columns.as_slice()) + rows.iter().map(row).sum::<usize>();
        Cursor { columns, rows: rows.into_iter(), size_bytes }
    }
}

/// A statement that a client has prepared.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) text: String,
    pub(crate) parameters: usize,
    pub(crate) types: Vec<ParameterType>,
    long: Long,
    /// Of all values in `long`.
    long_bytes: usize,
    /// What was wrong with a piece; it has no answer of its own.
    long_error: Option<Error>,
    cursor: Option<Cursor>,
}

impl Prepared {
    fn size_bytes(&self) -> usize {
        let cursor = self.cursor.as_ref().map_or(0, |cursor| cursor.size_bytes);
        self.text.len() + self.parameters * size_of::<ParameterType>() + self.long_size_bytes() + cursor
    }

    fn long_size_bytes(&self) -> usize {
        self.long_bytes + self.long.len() * PARAMETER_BYTES
    }

    /// The map goes with what is in it: an empty one would keep its room.
    fn take_long(&mut self) -> Long {
        self.long_bytes = 0;
        std::mem::take(&mut self.long)
    }
}

/// All of one client's.
#[derive(Debug, Default)]
pub(crate) struct Statements {
    all: HashMap<u32, Prepared>,
    last: u32,
    /// Of all together, kept up: a client may send many small pieces.
    size_bytes: usize,
}

impl Statements {
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Adds a statement, and gives its number.
    pub(crate) fn insert(&mut self, text: String, parameters: usize) -> u32 {
        self.last = self.last.wrapping_add(1);
        // After four billion others there may be one of this number.
        self.remove(self.last);
        let prepared =
            Prepared { text, parameters, types: Vec::new(), long: Long::new(), long_bytes: 0, long_error: None, cursor: None };
        self.size_bytes += prepared.size_bytes();
        self.all.insert(self.last, prepared);
        self.last
    }

    pub(crate) fn remove(&mut self, id: u32) {
        self.size_bytes -= self.all.remove(&id).map_or(0, |prepared| prepared.size_bytes());
    }

    pub(crate) fn clear(&mut self) {
        *self = Statements { last: self.last, ..Statements::default() };
    }

    /// A statement, and what has come of its parameters, or what was wrong with that: it serves once.
    pub(crate) fn take_long(&mut self, id: u32) -> Option<(&mut Prepared, Result<Long, Error>)> {
        let prepared = self.all.get_mut(&id)?;
        self.size_bytes -= prepared.long_size_bytes();
        let long = prepared.take_long();
        let result = prepared.long_error.take().map_or(Ok(long), Err);
        Some((prepared, result))
    }

    /// Keeps rows to be fetched; gives them back where there is no room for them, or no such statement.
    pub(crate) fn open(&mut self, id: u32, cursor: Cursor, limits: &Limits) -> Result<(), Cursor> {
        match self.all.get_mut(&id) {
            Some(prepared) if prepared.cursor.is_none() && self.size_bytes + cursor.size_bytes <= limits.prepared_bytes => {
                self.size_bytes += cursor.size_bytes;
                prepared.cursor = Some(cursor);
                Ok(())
            }
            _ => Err(cursor),
        }
    }

    /// The rows that are to be fetched; None: there is no such statement.
    pub(crate) fn cursor(&mut self, id: u32) -> Option<Option<&mut Cursor>> {
        Some(self.all.get_mut(&id)?.cursor.as_mut())
    }

    pub(crate) fn close_cursor(&mut self, id: u32) {
        let cursor = self.all.get_mut(&id).and_then(|prepared| prepared.cursor.take());
        self.size_bytes -= cursor.map_or(0, |cursor| cursor.size_bytes);
    }

    /// A piece of a parameter. What is wrong with it is said when the statement is executed.
    pub(crate) fn add_piece(&mut self, id: u32, parameter: u16, bytes: &[u8], limits: &Limits) {
        let Some(prepared) = self.all.get_mut(&id).filter(|prepared| prepared.long_error.is_none()) else { return };
        if usize::from(parameter) >= prepared.parameters {
            prepared.long_error = Some(error(1210, "HY000", "Incorrect arguments to mysqld_stmt_send_long_data"));
            return;
        }
        let before = prepared.long.get(&parameter).map(Vec::len);
        let size_bytes = bytes.len() + if before.is_none() { PARAMETER_BYTES } else { 0 };
        let is_too_long = before.unwrap_or(0) + bytes.len() > limits.packet_bytes;
        if is_too_long || self.size_bytes + size_bytes > limits.prepared_bytes {
            let message = "Parameter of prepared statement which is set through mysql_send_long_data() is longer than \
                           'max_allowed_packet' bytes";
            prepared.long_error = Some(error(1105, "HY000", message));
            self.size_bytes -= prepared.long_size_bytes();
            prepared.take_long();
        } else {
            prepared.long.entry(parameter).or_default().extend_from_slice(bytes);
            prepared.long_bytes += bytes.len();
            self.size_bytes += size_bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each parameter may be as long as a packet; all together are bounded with the rest.
    #[test]
    fn parameters_are_as_long_as_packets() {
        let limits = Limits { prepared_bytes: 2000, packet_bytes: 300, ..Limits::default() };
        let mut statements = Statements::default();
        let id = statements.insert("SELECT ?, ?".to_owned(), 2);
        let mut is_right = |lengths: &[(u16, usize)]| {
            for &(parameter, length) in lengths {
                statements.add_piece(id, parameter, &vec![b'x'; length], &limits);
            }
            statements.take_long(id).is_some_and(|(_, long)| long.is_ok())
        };
        assert!(is_right(&[(0, 200), (0, 100), (1, 300)]));
        assert!(!is_right(&[(0, 200), (0, 101)]));
    }

    #[test]
    fn the_total_is_the_sum() {
        let limits = Limits { prepared_bytes: 2000, packet_bytes: 300, ..Limits::default() };
        let mut statements = Statements::default();
        let (mut refused, mut opened) = (0, 0);
        for step in 0..5000_u32 {
            let id = statements.last.saturating_sub(step / 3 % 4);
            match step * 7 % 23 {
                0 => {
                    statements.insert("SELECT ?, ?, ?".to_owned(), 3);
                }
                1 => statements.remove(id),
                2 => refused += u32::from(statements.take_long(id).is_some_and(|(_, long)| long.is_err())),
                3 if step % 11 == 0 => statements.clear(),
                4 => {
                    let rows = vec![vec![OwnedValue::Text("x".repeat((step % 400) as usize))]; 2];
                    let before = statements.size_bytes();
                    opened += u32::from(statements.open(id, Cursor::new(Vec::new(), rows), &limits).is_ok());
                    assert!(statements.size_bytes() <= before.max(limits.prepared_bytes), "{step}");
                }
                5 => statements.close_cursor(id),
                _ => {
                    let before = statements.size_bytes();
                    statements.add_piece(id, (step % 4) as u16, &[b'x'; 40][..(step % 41) as usize], &limits);
                    assert!(statements.size_bytes() <= before.max(limits.prepared_bytes), "{step}");
                }
            }
            let sum: usize = statements.all.values().map(Prepared::size_bytes).sum();
            assert_eq!(statements.size_bytes(), sum, "{step}");
        }
        assert!(refused > 10 && opened > 10, "{refused}, {opened}");
    }
}
