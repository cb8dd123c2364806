//! The statements that a client has prepared, with what has come of their parameters, and how many bytes that is.

use super::command::ParameterType;
use crate::Limits;
use crate::clients::error;
use perfschema_sql::Error;
use std::collections::HashMap;

/// What a parameter that comes in pieces takes beside its bytes, even if it has none: its entry, and the room that the map keeps
/// free.
const PARAMETER_BYTES: usize = 2 * size_of::<(u16, Vec<u8>)>();

/// Parameters that came in pieces, by their places.
pub(crate) type Long = HashMap<u16, Vec<u8>>;

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
}

impl Prepared {
    fn size_bytes(&self) -> usize {
        self.text.len() + self.parameters * size_of::<ParameterType>() + self.long_size_bytes()
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
        let prepared = Prepared { text, parameters, types: Vec::new(), long: Long::new(), long_bytes: 0, long_error: None };
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

    /// A piece of a parameter. What is wrong with it is said when the statement is executed.
    pub(crate) fn add_piece(&mut self, id: u32, parameter: u16, bytes: &[u8], limits: &Limits) {
        let Some(prepared) = self.all.get_mut(&id).filter(|prepared| prepared.long_error.is_none()) else { return };
        if usize::from(parameter) >= prepared.parameters {
            prepared.long_error = Some(error(1210, "HY000", "Incorrect arguments to mysqld_stmt_send_long_data"));
            return;
        }
        let is_new = !prepared.long.contains_key(&parameter);
        let size_bytes = bytes.len() + if is_new { PARAMETER_BYTES } else { 0 };
        if self.size_bytes + size_bytes > limits.prepared_bytes || prepared.long_bytes + bytes.len() > limits.packet_bytes {
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

    #[test]
    fn the_total_is_the_sum() {
        let limits = Limits { prepared_bytes: 2000, packet_bytes: 300, ..Limits::default() };
        let mut statements = Statements::default();
        let mut refused = 0;
        for step in 0..5000_u32 {
            let id = statements.last.saturating_sub(step / 3 % 4);
            match step * 7 % 23 {
                0 => {
                    statements.insert("SELECT ?, ?, ?".to_owned(), 3);
                }
                1 => statements.remove(id),
                2 => refused += u32::from(statements.take_long(id).is_some_and(|(_, long)| long.is_err())),
                3 if step % 11 == 0 => statements.clear(),
                _ => {
                    let before = statements.size_bytes();
                    statements.add_piece(id, (step % 4) as u16, &[b'x'; 40][..(step % 41) as usize], &limits);
                    assert!(statements.size_bytes() <= before.max(limits.prepared_bytes), "{step}");
                }
            }
            let sum: usize = statements.all.values().map(Prepared::size_bytes).sum();
            assert_eq!(statements.size_bytes(), sum, "{step}");
        }
        assert!(refused > 10, "{refused}");
    }
}
