//! What a command is answered with: OK, an error, or columns and rows, as text or binary.

use super::moment::{put_moment, put_time};
use super::packet::{put_counted, put_number};
use perfschema::core::table::SqlType;
use perfschema::render::{ColumnHead, OwnedValue};
use perfschema_sql::{Error, Origin};

/// Bits of an answer's status.
pub(crate) mod status {
    /// A transaction has begun.
    pub(crate) const IN_TRANSACTION: u16 = 1;
    pub(crate) const AUTOCOMMIT: u16 = 2;
    /// Another statement of the same command has an answer, too.
    pub(crate) const MORE_RESULTS: u16 = 8;
    /// The rows are fetched by and by.
    pub(crate) const CURSOR_EXISTS: u16 = 64;
    /// There are no more of these.
    pub(crate) const LAST_ROW_SENT: u16 = 128;
}

/// What a statement without rows has done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done<'a> {
    pub(crate) affected: u64,
    pub(crate) status: u16,
    pub(crate) warnings: u16,
    pub(crate) info: &'a str,
}

impl Done<'_> {
    pub(crate) fn packet(&self) -> Vec<u8> {
        self.with_header(0)
    }

    /// After rows: an EOF packet, or the OK packet that replaces it.
    pub(crate) fn end_of_rows(&self, deprecate_eof: bool) -> Vec<u8> {
        if deprecate_eof { self.with_header(0xfe) } else { self.eof() }
    }

    pub(crate) fn eof(&self) -> Vec<u8> {
        let mut packet = vec![0xfe];
        packet.extend_from_slice(&self.warnings.to_le_bytes());
        packet.extend_from_slice(&self.status.to_le_bytes());
        packet
    }

    fn with_header(&self, header: u8) -> Vec<u8> {
        let mut packet = vec![header];
        put_number(&mut packet, self.affected);
        // No table here has a column that counts up.
        put_number(&mut packet, 0);
        packet.extend_from_slice(&self.status.to_le_bytes());
        packet.extend_from_slice(&self.warnings.to_le_bytes());
        if !self.info.is_empty() {
            put_counted(&mut packet, self.info.as_bytes());
        }
        packet
    }
}

/// An error packet.
pub(crate) fn error(error: &Error) -> Vec<u8> {
    let mut packet = vec![0xff];
    packet.extend_from_slice(&error.errno.to_le_bytes());
    packet.push(b'#');
    packet.extend_from_slice(error.sqlstate.as_bytes());
    packet.extend_from_slice(error.message.as_bytes());
    packet
}

/// The types of values on the wire; only those that a result here can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wire {
    Long = 3,
    Double = 5,
    Timestamp = 7,
    Longlong = 8,
    Date = 10,
    Time = 11,
    Datetime = 12,
    Json = 245,
    Newdecimal = 246,
    Blob = 252,
    VarString = 253,
    String = 254,
}

const NOT_NULL: u16 = 1;
/// Of the primary key, and of any key.
const KEY: u16 = 1 << 1 | 1 << 14;
const BLOB: u16 = 1 << 4;
const UNSIGNED: u16 = 1 << 5;
const BINARY: u16 = 1 << 7;
const ENUM: u16 = 1 << 8;

/// utf8mb4_0900_ai_ci, and no character set at all.
const UTF8MB4: u16 = 255;
const NO_CHARACTERS: u16 = 63;

/// How a column's values are sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    wire: Wire,
    flags: u16,
    length: u32,
    decimals: u8,
}

impl Column {
    /// The type that was declared, if all values have it; an expression may have given others, and they go as text.
    pub(crate) fn of<'a>(head: &ColumnHead, values: impl IntoIterator<Item = &'a OwnedValue>) -> Column {
        let fits = |value: &OwnedValue| match (value, head.sql_type) {
            (OwnedValue::Null, _) => head.nullable,
            (OwnedValue::Unsigned(_), SqlType::BigintUnsigned) => true,
            (OwnedValue::Signed(number), SqlType::BigintUnsigned) => *number >= 0,
            (OwnedValue::Signed(_), SqlType::Bigint) => true,
            (OwnedValue::Unsigned(number), SqlType::Bigint) => i64::try_from(*number).is_ok(),
            (OwnedValue::Unsigned(number), SqlType::IntUnsigned) => u32::try_from(*number).is_ok(),
            (OwnedValue::Signed(number), SqlType::IntUnsigned) => u32::try_from(*number).is_ok(),
            (OwnedValue::Unsigned(number), SqlType::Int) => i32::try_from(*number).is_ok(),
            (OwnedValue::Signed(number), SqlType::Int) => i32::try_from(*number).is_ok(),
            (OwnedValue::Double(_) | OwnedValue::Signed(_) | OwnedValue::Unsigned(_), SqlType::Double) => true,
            (OwnedValue::Decimal(_), SqlType::Decimal(..)) | (OwnedValue::Text(_), SqlType::Json) => true,
            (_, SqlType::Varchar(_) | SqlType::Char(_) | SqlType::Longtext | SqlType::Enum(_)) => true,
            (OwnedValue::Text(text), moment) => moment.is_moment_text(text),
            _ => false,
        };
        if values.into_iter().all(fits) { Column::declared(head) } else { Column::text(Wire::VarString, 0, u32::from(u16::MAX)) }
    }

    fn declared(head: &ColumnHead) -> Column {
        let number = |wire, flags, length, decimals| Column { wire, flags: flags | BINARY, length, decimals };
        let moment = |wire, length, digits: u8| {
            let point = u32::from(digits > 0);
            number(wire, 0, length + point + u32::from(digits), digits)
        };
        let characters = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).saturating_mul(4);
        let mut column = match head.sql_type {
            SqlType::BigintUnsigned => number(Wire::Longlong, UNSIGNED, 20, 0),
            SqlType::Bigint => number(Wire::Longlong, 0, 20, 0),
            SqlType::Int => number(Wire::Long, 0, 11, 0),
            SqlType::IntUnsigned => number(Wire::Long, UNSIGNED, 10, 0),
            // 31: as many decimals as there are.
            SqlType::Double => number(Wire::Double, 0, 23, 31),
            // A sign, and a point if there is one.
            SqlType::Decimal(digits, scale) => number(Wire::Newdecimal, 0, u32::from(digits) + 1 + u32::from(scale > 0), scale),
            SqlType::Date => moment(Wire::Date, 10, 0),
            SqlType::Time(digits) => moment(Wire::Time, 10, digits),
            SqlType::Datetime(digits) => moment(Wire::Datetime, 19, digits),
            SqlType::Timestamp(digits) => moment(Wire::Timestamp, 19, digits),
            SqlType::Varchar(length) => Column::text(Wire::VarString, 0, characters(length.into())),
            SqlType::Char(length) => Column::text(Wire::String, 0, characters(length.into())),
            SqlType::Longtext => Column::text(Wire::Blob, BLOB, u32::MAX),
            // As a function's result, not as a column of a table, which would have no character set.
            SqlType::Json => Column::text(Wire::Json, BINARY, u32::MAX),
            SqlType::Enum(names) => {
                Column::text(Wire::String, ENUM, characters(names.iter().map(|name| name.chars().count()).max().unwrap_or(0)))
            }
            _ => Column::text(Wire::VarString, 0, u32::from(u16::MAX)),
        };
        if !head.nullable {
            column.flags |= NOT_NULL;
        }
        column
    }

    fn text(wire: Wire, flags: u16, length: u32) -> Column {
        Column { wire, flags, length, decimals: 0 }
    }

    fn is_text(&self) -> bool {
        matches!(self.wire, Wire::Blob | Wire::Json | Wire::VarString | Wire::String)
    }

    /// The packet that describes the column.
    pub(crate) fn definition(&self, head: &ColumnHead, origin: Option<&Origin>) -> Vec<u8> {
        let mut packet = Vec::new();
        put_counted(&mut packet, b"def");
        // An expression has a heading and no origin.
        let (schema, table, column) =
            origin.map_or(("", "", ""), |origin| (origin.schema, origin.table.as_str(), origin.column.as_str()));
        for text in [schema, table, table, &head.name, column] {
            put_counted(&mut packet, text.as_bytes());
        }
        packet.push(12);
        packet.extend_from_slice(&(if self.is_text() { UTF8MB4 } else { NO_CHARACTERS }).to_le_bytes());
        packet.extend_from_slice(&self.length.to_le_bytes());
        packet.push(self.wire as u8);
        let key = if origin.is_some_and(|origin| origin.is_of_key) { KEY } else { 0 };
        packet.extend_from_slice(&(self.flags | key).to_le_bytes());
        packet.push(self.decimals);
        packet.extend_from_slice(&[0, 0]);
        packet
    }
}

/// What a `?` is described as, before it has a value.
pub(crate) fn parameter_definition() -> Vec<u8> {
    let head = ColumnHead::new("?", SqlType::Varchar(u16::MAX));
    Column::of(&head, []).definition(&head, None)
}

/// A row of the text protocol.
pub(crate) fn text_row(packet: &mut Vec<u8>, row: &[OwnedValue]) {
    packet.clear();
    for value in row {
        match value {
            OwnedValue::Null => packet.push(0xfb),
            OwnedValue::Text(text) | OwnedValue::Decimal(text) => put_counted(packet, text.as_bytes()),
            number => put_counted(packet, number.as_value().to_string().as_bytes()),
        }
    }
}

/// A row of the binary protocol.
pub(crate) fn binary_row(packet: &mut Vec<u8>, row: &[OwnedValue], columns: &[Column]) {
    packet.clear();
    // A zero, and a bit for each column that is NULL, from the third bit on.
    packet.resize(1 + (row.len() + 2).div_ceil(8), 0);
    for (index, (value, column)) in row.iter().zip(columns).enumerate() {
        let bits = match value {
            OwnedValue::Null => {
                packet[1 + (index + 2) / 8] |= 1 << ((index + 2) % 8);
                continue;
            }
            OwnedValue::Decimal(digits) => {
                put_counted(packet, digits.as_bytes());
                continue;
            }
            OwnedValue::Text(text) => {
                match column.wire {
                    Wire::Date | Wire::Datetime | Wire::Timestamp => put_moment(packet, text),
                    Wire::Time => put_time(packet, text),
                    _ => put_counted(packet, text.as_bytes()),
                }
                continue;
            }
            number if column.is_text() => {
                put_counted(packet, number.as_value().to_string().as_bytes());
                continue;
            }
            OwnedValue::Double(number) => number.to_bits(),
            OwnedValue::Signed(number) if column.wire == Wire::Double => (*number as f64).to_bits(),
            OwnedValue::Unsigned(number) if column.wire == Wire::Double => (*number as f64).to_bits(),
            OwnedValue::Signed(number) => number.cast_unsigned(),
            OwnedValue::Unsigned(number) => *number,
        };
        let length = if column.wire == Wire::Long { 4 } else { 8 };
        packet.extend_from_slice(&bits.to_le_bytes()[..length]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_not_of_the_type_go_as_text() {
        let head = ColumnHead::new("n", SqlType::BigintUnsigned);
        let check = |values: &[OwnedValue], expected| assert_eq!(Column::of(&head, values).wire, expected, "{values:?}");
        check(&[], Wire::Longlong);
        check(&[OwnedValue::Unsigned(u64::MAX), OwnedValue::Signed(1), OwnedValue::Null], Wire::Longlong);
        check(&[OwnedValue::Signed(-1)], Wire::VarString);
        check(&[OwnedValue::Text("18446744073709551616".to_owned())], Wire::VarString);
        let head = ColumnHead::new("j", SqlType::Json);
        let check = |value: OwnedValue, expected| assert_eq!(Column::of(&head, [&value]).wire, expected, "{value:?}");
        check("[1]".into(), Wire::Json);
        check(OwnedValue::Null, Wire::Json);
        check(1_u64.into(), Wire::VarString);
        let head = ColumnHead::new("m", SqlType::Datetime(0));
        let check = |text: &str, expected| assert_eq!(Column::of(&head, [&text.into()]).wire, expected, "{text}");
        check("0000-00-00 00:00:00", Wire::Datetime);
        check("2026-11-24 12:30:00.5", Wire::VarString);
    }

    #[test]
    fn rows() {
        let heads = [
            ColumnHead::new("a", SqlType::BigintUnsigned),
            ColumnHead::new("b", SqlType::Varchar(5)),
            ColumnHead::new("c", SqlType::IntUnsigned),
            ColumnHead::new("d", SqlType::Double),
        ];
        let row = [OwnedValue::Unsigned(u64::MAX), OwnedValue::Null, OwnedValue::Signed(7), OwnedValue::Signed(-2)];
        let columns: Vec<Column> = heads.iter().zip(&row).map(|(head, value)| Column::of(head, [value])).collect();
        let mut packet = Vec::new();
        text_row(&mut packet, &row);
        assert_eq!(packet, b"\x1418446744073709551615\xfb\x017\x02-2");
        binary_row(&mut packet, &row, &columns);
        assert_eq!(packet, b"\0\x08\xff\xff\xff\xff\xff\xff\xff\xff\x07\0\0\0\0\0\0\0\0\0\0\xc0");
    }

    /// A bit for each, from the third on, in as many bytes as they need.
    #[test]
    fn nulls_beyond_the_first_byte() {
        let head = ColumnHead::new("n", SqlType::Bigint);
        let row: Vec<OwnedValue> =
            (0..16_u64).map(|n| if [0, 5, 6, 14].contains(&n) { OwnedValue::Null } else { n.into() }).collect();
        let columns = vec![Column::of(&head, &row); row.len()];
        let mut packet = Vec::new();
        binary_row(&mut packet, &row, &columns);
        assert_eq!((&packet[..4], packet.len()), (&b"\0\x84\x01\x01"[..], 1 + 3 + 12 * 8));
    }

    /// Character set, length, type, flags and decimals of each type; and which values are of it.
    #[test]
    fn types() {
        let text = (&b"\xff\0\xff\xff\0\0\xfd\0\0\0\0\0"[..], "text");
        let check = |sql_type: SqlType, value: OwnedValue, (expected, as_what): (&[u8], &str)| {
            let head = ColumnHead::new("n", sql_type);
            let definition = Column::of(&head, [&value]).definition(&head, None);
            assert!(definition.ends_with(expected), "{sql_type:?} {value:?} as {as_what}: {definition:x?}");
        };
        let (signed, unsigned) = (OwnedValue::Signed, OwnedValue::Unsigned);
        let own = |bytes: &'static [u8]| (bytes, "what it is");
        let bigint_unsigned = own(b"\x3f\0\x14\0\0\0\x08\xa0\0\0\0\0");
        check(SqlType::BigintUnsigned, unsigned(u64::MAX), bigint_unsigned);
        check(SqlType::BigintUnsigned, signed(0), bigint_unsigned);
        check(SqlType::BigintUnsigned, signed(-1), text);
        let bigint = own(b"\x3f\0\x14\0\0\0\x08\x80\0\0\0\0");
        check(SqlType::Bigint, signed(i64::MIN), bigint);
        check(SqlType::Bigint, unsigned(i64::MAX as u64), bigint);
        check(SqlType::Bigint, unsigned(1 << 63), text);
        let int = own(b"\x3f\0\x0b\0\0\0\x03\x80\0\0\0\0");
        check(SqlType::Int, signed(i32::MIN.into()), int);
        check(SqlType::Int, unsigned(i32::MAX as u64), int);
        check(SqlType::Int, signed(1 << 31), text);
        check(SqlType::Int, unsigned(1 << 31), text);
        let int_unsigned = own(b"\x3f\0\x0a\0\0\0\x03\xa0\0\0\0\0");
        check(SqlType::IntUnsigned, unsigned(u32::MAX.into()), int_unsigned);
        check(SqlType::IntUnsigned, signed(u32::MAX.into()), int_unsigned);
        check(SqlType::IntUnsigned, unsigned(1 << 32), text);
        check(SqlType::IntUnsigned, signed(-1), text);
        let double = own(b"\x3f\0\x17\0\0\0\x05\x80\0\x1f\0\0");
        for value in [OwnedValue::Double(0.5), signed(-1), unsigned(1)] {
            check(SqlType::Double, value, double);
        }
        check(SqlType::Double, "x".into(), text);
        check(SqlType::Varchar(3), "x".into(), own(b"\xff\0\x0c\0\0\0\xfd\0\0\0\0\0"));
        check(SqlType::Char(3), "x".into(), own(b"\xff\0\x0c\0\0\0\xfe\0\0\0\0\0"));
        check(SqlType::Longtext, "x".into(), own(b"\xff\0\xff\xff\xff\xff\xfc\x10\0\0\0\0"));
        check(SqlType::Json, "[]".into(), own(b"\xff\0\xff\xff\xff\xff\xf5\x80\0\0\0\0"));
        check(SqlType::Decimal(3, 0), OwnedValue::Decimal("-12".to_owned()), own(b"\x3f\0\x04\0\0\0\xf6\x80\0\0\0\0"));
        // What is never NULL, and is.
        let head = ColumnHead::new("n", SqlType::Bigint).not_null();
        assert_eq!(Column::of(&head, [&OwnedValue::Null]).wire, Wire::VarString);
        assert_eq!(parameter_definition(), b"\x03def\0\0\0\x01?\0\x0c\xff\0\xfc\xff\x03\0\xfd\0\0\0\0\0");
    }

    #[test]
    fn definitions() {
        let head = ColumnHead::new("ENABLED", SqlType::Enum(&["YES", "NO"])).not_null();
        let origin = Origin { schema: "s", table: "t".to_owned(), column: "C".to_owned(), is_of_key: true };
        let packet = Column::of(&head, []).definition(&head, Some(&origin));
        assert_eq!(packet, b"\x03def\x01s\x01t\x01t\x07ENABLED\x01C\x0c\xff\0\x0c\0\0\0\xfe\x03\x41\0\0\0");
    }
}
