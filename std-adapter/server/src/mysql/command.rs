//! What a client wants, and the values that it gives for a statement's `?`.

use super::packet::{Malformed, Parts};
use super::prepared::Long;
use perfschema::core::table::SqlType;
use perfschema::render::OwnedValue;
use perfschema_sql::Counter;

/// A command's packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command<'a> {
    Quit,
    UseSchema(&'a [u8]),
    Query(&'a [u8]),
    FieldList { table: &'a [u8] },
    Refresh { status: bool },
    Statistics,
    ProcessInfo,
    ProcessKill(u32),
    Ping,
    ChangeUser(&'a [u8]),
    ResetConnection,
    SetMultiStatements(bool),
    Prepare(&'a [u8]),
    Execute { statement: u32, with_cursor: bool, arguments: &'a [u8] },
    Fetch { statement: u32, rows: u32 },
    SendLongData { statement: u32, parameter: u16, bytes: &'a [u8] },
    Close(u32),
    Reset(u32),
    Unknown,
}

impl<'a> Command<'a> {
    pub(crate) fn parse(packet: &'a [u8]) -> Result<Command<'a>, Malformed> {
        let mut parts = Parts(packet);
        Ok(match parts.u8()? {
            0x01 => Command::Quit,
            0x02 => Command::UseSchema(parts.0),
            0x03 => Command::Query(parts.0),
            0x04 => Command::FieldList { table: parts.until_zero()? },
            // REFRESH_STATUS
            0x07 => Command::Refresh { status: parts.u8()? & 0x10 != 0 },
            0x09 => Command::Statistics,
            0x0a => Command::ProcessInfo,
            0x0c => Command::ProcessKill(parts.u32()?),
            0x0e => Command::Ping,
            0x11 => Command::ChangeUser(parts.0),
            0x16 => Command::Prepare(parts.0),
            0x17 => {
                let statement = parts.u32()?;
                // CURSOR_TYPE_READ_ONLY; the other kinds MySQL has not either.
                let with_cursor = parts.u8()? & 1 != 0;
                // How often, which is always once.
                parts.bytes(4)?;
                Command::Execute { statement, with_cursor, arguments: parts.0 }
            }
            0x18 => Command::SendLongData { statement: parts.u32()?, parameter: parts.u16()?, bytes: parts.0 },
            0x19 => Command::Close(parts.u32()?),
            0x1a => Command::Reset(parts.u32()?),
            0x1b => match parts.u16()? {
                0 => Command::SetMultiStatements(true),
                1 => Command::SetMultiStatements(false),
                _ => Command::Unknown,
            },
            0x1c => Command::Fetch { statement: parts.u32()?, rows: parts.u32()? },
            0x1f => Command::ResetConnection,
            _ => Command::Unknown,
        })
    }

    /// What SHOW PROCESSLIST calls it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Command::Quit => "Quit",
            Command::UseSchema(_) => "Init DB",
            Command::Query(_) => "Query",
            Command::FieldList { .. } => "Field List",
            Command::Refresh { .. } => "Refresh",
            Command::Statistics => "Statistics",
            Command::ProcessInfo => "Processlist",
            Command::ProcessKill(_) => "Kill",
            Command::Ping => "Ping",
            Command::ChangeUser(_) => "Change user",
            Command::ResetConnection => "Reset Connection",
            Command::SetMultiStatements(_) => "Set option",
            Command::Prepare(_) => "Prepare",
            Command::Execute { .. } => "Execute",
            Command::Fetch { .. } => "Fetch",
            Command::SendLongData { .. } => "Long Data",
            Command::Close(_) => "Close stmt",
            Command::Reset(_) => "Reset stmt",
            Command::Unknown => "Error",
        }
    }
}

/// What counts KILL, the command and the statement.
pub(crate) const KILL: &[Counter] = &[Counter::ComKill, Counter::Queries, Counter::Questions];

impl Command<'_> {
    /// What counts it: of what is a statement the session counts itself what it is.
    pub(crate) fn counters(&self) -> &'static [Counter] {
        use Counter::{
            ComAdminCommands, ComChangeDb, ComSetOption, ComShowFields, ComShowStatus, ComStmtClose, ComStmtExecute,
            ComStmtFetch, ComStmtPrepare, ComStmtReset, ComStmtSendLongData, Queries, Questions,
        };
        match self {
            Command::Query(_) | Command::Refresh { .. } | Command::ProcessInfo => &[],
            Command::Execute { .. } => &[ComStmtExecute],
            Command::Ping => &[ComAdminCommands],
            Command::Statistics => &[ComShowStatus],
            Command::Prepare(_) => &[ComStmtPrepare, Queries],
            Command::Close(_) => &[ComStmtClose, Queries],
            Command::Reset(_) => &[ComStmtReset, Queries],
            Command::UseSchema(_) => &[ComChangeDb, Queries, Questions],
            Command::FieldList { .. } => &[ComShowFields, Queries, Questions],
            Command::ProcessKill(_) => KILL,
            Command::SetMultiStatements(_) => &[ComSetOption, Queries, Questions],
            Command::ChangeUser(_) | Command::ResetConnection => &[ComAdminCommands, Queries, Questions],
            Command::SendLongData { .. } => &[ComStmtSendLongData, Queries, Questions],
            Command::Fetch { .. } => &[ComStmtFetch, Queries, Questions],
            Command::Quit | Command::Unknown => &[Queries, Questions],
        }
    }
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParameterType {
    code: u8,
    unsigned: bool,
}

impl ParameterType {
    /// Of a moment, whose value is a text.
    pub(crate) fn moment(self) -> Option<SqlType> {
        match self.code {
            7 | 12 => Some(SqlType::Datetime(6)),
            10 => Some(SqlType::Date),
            11 => Some(SqlType::Time(6)),
            _ => None,
        }
    }
}

/// The values of a statement's `?`, as the client sends them for one execution.
///
/// `types`: as the last execution had them; a client need not repeat them. `long`: what came before, in pieces.
pub(crate) fn arguments(
    bytes: &[u8],
    count: usize,
    types: &mut Vec<ParameterType>,
    long: &Long,
) -> Result<Vec<OwnedValue>, Malformed> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let mut parts = Parts(bytes);
    let nulls = parts.bytes(count.div_ceil(8))?;
    if parts.u8()? == 1 {
        let codes = parts.bytes(2 * count)?;
        *types = codes.chunks_exact(2).map(|pair| ParameterType { code: pair[0], unsigned: pair[1] & 0x80 != 0 }).collect();
    }
    if types.len() != count {
        return Err(Malformed);
    }
    let mut values = Vec::with_capacity(count);
    for (index, parameter) in types.iter().enumerate() {
        let sent = u16::try_from(index).ok().and_then(|index| long.get(&index));
        values.push(if let Some(bytes) = sent {
            text(bytes)?
        } else if nulls[index / 8] & (1 << (index % 8)) != 0 {
            OwnedValue::Null
        } else {
            value(&mut parts, *parameter)?
        });
    }
    Ok(values)
}

fn value(parts: &mut Parts<'_>, ParameterType { code, unsigned }: ParameterType) -> Result<OwnedValue, Malformed> {
    Ok(match code {
        1 if unsigned => u64::from(parts.u8()?).into(),
        1 => i64::from(i8::from_le_bytes(parts.array()?)).into(),
        2 | 13 if unsigned => u64::from(parts.u16()?).into(),
        2 | 13 => i64::from(i16::from_le_bytes(parts.array()?)).into(),
        3 | 9 if unsigned => u64::from(parts.u32()?).into(),
        3 | 9 => i64::from(i32::from_le_bytes(parts.array()?)).into(),
        8 if unsigned => u64::from_le_bytes(parts.array()?).into(),
        8 => i64::from_le_bytes(parts.array()?).into(),
        4 => OwnedValue::Double(f32::from_le_bytes(parts.array()?).into()),
        5 => OwnedValue::Double(f64::from_le_bytes(parts.array()?)),
        6 => OwnedValue::Null,
        7 | 12 => OwnedValue::Text(moment(parts)?),
        // Some clients send one with the time of day that it has not.
        10 => OwnedValue::Text(moment(parts)?.split(' ').next().unwrap_or_default().to_owned()),
        11 => OwnedValue::Text(time(parts)?),
        0 | 246 => match text(parts.counted()?)? {
            OwnedValue::Text(digits) if is_decimal(&digits) => OwnedValue::Decimal(digits),
            other => other,
        },
        // Texts, enums, blobs, JSON.
        15 | 16 | 245 | 247..=254 => text(parts.counted()?)?,
        _ => return Err(Malformed),
    })
}

/// Digits and at most one point, of no more digits than DECIMAL has.
fn is_decimal(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    let is_digits = |text: &str| (1..=65).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits(whole) && is_digits(fraction)
}

fn text(bytes: &[u8]) -> Result<OwnedValue, Malformed> {
    // The tables hold UTF-8 and nothing else.
    std::str::from_utf8(bytes).map(|text| OwnedValue::Text(text.to_owned())).map_err(|_| Malformed)
}

/// `2026-11-21 12:34:56.000001`
fn moment(parts: &mut Parts<'_>) -> Result<String, Malformed> {
    let length = parts.u8()?;
    let mut parts = Parts(parts.bytes(length.into())?);
    let (year, month, day) = if length == 0 { (0, 0, 0) } else { (parts.u16()?, parts.u8()?, parts.u8()?) };
    // What is zero at the end is left out, midnight too.
    let [hour, minute, second] = if length > 4 { [parts.u8()?, parts.u8()?, parts.u8()?] } else { [0; 3] };
    let mut text = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
    if length > 7 {
        text += &format!(".{:06}", parts.u32()?);
    }
    Ok(text)
}

/// `-12:34:56.000001`
fn time(parts: &mut Parts<'_>) -> Result<String, Malformed> {
    let length = parts.u8()?;
    let mut parts = Parts(parts.bytes(length.into())?);
    if length == 0 {
        return Ok("00:00:00".to_owned());
    }
    let sign = if parts.u8()? == 1 { "-" } else { "" };
    let hours = u64::from(parts.u32()?) * 24 + u64::from(parts.u8()?);
    let mut text = format!("{sign}{hours:02}:{:02}:{:02}", parts.u8()?, parts.u8()?);
    if length > 8 {
        text += &format!(".{:06}", parts.u32()?);
    }
    Ok(text)
}

/// `KILL 7`, `KILL CONNECTION 7`, `KILL QUERY 7`, with comments anywhere: the number, and whether only the statement is meant.
pub(crate) fn kill(statement: &str) -> Option<(u64, bool)> {
    let mut rest = statement;
    if !word(&mut rest).eq_ignore_ascii_case("KILL") {
        return None;
    }
    let mut next = word(&mut rest);
    let is_query = next.eq_ignore_ascii_case("QUERY");
    if is_query || next.eq_ignore_ascii_case("CONNECTION") {
        next = word(&mut rest);
    }
    let number = next.parse().ok()?;
    rest = without_comments(rest);
    while let Some(behind) = rest.strip_prefix(';') {
        rest = without_comments(behind);
    }
    rest.is_empty().then_some((number, is_query))
}

/// Takes a word off the front; it is empty where something else stands there.
fn word<'a>(rest: &mut &'a str) -> &'a str {
    let text = without_comments(rest);
    let length = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let (word, behind) = text.split_at(length);
    *rest = behind;
    word
}

/// The text behind space and comments. One that begins with `/*!` is none.
fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let behind = if rest.starts_with("/*") && !rest.starts_with("/*!") {
            rest[2..].split_once("*/").map_or("", |(_, behind)| behind)
        } else if rest.starts_with('#') || rest == "--" || rest.starts_with("--") && rest[2..].starts_with(char::is_whitespace) {
            rest.split_once('\n').map_or("", |(_, behind)| behind)
        } else {
            return rest;
        };
        rest = behind.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        let bytes = b"\x04\x01\x01\x80\x01\0\x06\0\x08\x80\xfd\0\x0c\0\x0b\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\
                      \x02hi\x0b\xea\x07\x0b\x15\x01\x02\x03\x04\0\0\0\x08\x01\x01\0\0\0\x02\x03\x04";
        let mut types = Vec::new();
        let values = arguments(bytes, 7, &mut types, &Long::new()).unwrap();
        let text = |text: &str| OwnedValue::Text(text.to_owned());
        let expected = [
            OwnedValue::Unsigned(255),
            OwnedValue::Signed(-1),
            OwnedValue::Null,
            OwnedValue::Unsigned(u64::MAX),
            text("hi"),
            text("2026-11-21 01:02:03.000004"),
            text("-26:03:04"),
        ];
        assert_eq!(values, expected);
        for end in 0..bytes.len() {
            assert_eq!(arguments(&bytes[..end], 7, &mut Vec::new(), &Long::new()), Err(Malformed), "{end}");
        }
        // A DATE has no time of day, whatever comes with it.
        let dates = b"\x00\x01\x0a\0\x0a\0\x0a\0\x07\xea\x07\x0b\x15\0\0\0\x04\xea\x07\x0b\x15\0";
        let expected = ["2026-11-21", "2026-11-21", "0000-00-00"].map(text);
        assert_eq!(arguments(dates, 3, &mut Vec::new(), &Long::new()), Ok(expected.to_vec()));
        // A DATETIME has one, also at midnight.
        let midnight = b"\x00\x01\x0c\0\x07\0\x04\xea\x07\x0b\x15\0";
        let expected = ["2026-11-21 00:00:00", "0000-00-00 00:00:00"].map(text);
        assert_eq!(arguments(midnight, 2, &mut Vec::new(), &Long::new()), Ok(expected.to_vec()));
        // The next execution may leave out the types, but not change their number.
        let again: Vec<u8> = [&[0x7f, 0][..], &[]].concat();
        assert_eq!(arguments(&again, 7, &mut types, &Long::new()), Ok(vec![OwnedValue::Null; 7]));
        assert_eq!(arguments(b"\x00\x00", 6, &mut types, &Long::new()), Err(Malformed));
        let long = Long::from([(0, b"long".to_vec())]);
        assert_eq!(arguments(b"\x00\x01\xfc\x00", 1, &mut types, &long), Ok(vec![text("long")]));
    }

    #[test]
    fn values_of_every_type() {
        let given = |code: u8, flags: u8, bytes: &[u8]| {
            let packet = [&[0, 1, code, flags], bytes].concat();
            arguments(&packet, 1, &mut Vec::new(), &Long::new()).map(|mut values| values.remove(0))
        };
        let check =
            |code: u8, bytes: &[u8], expected: OwnedValue| assert_eq!(given(code, 0, bytes), Ok(expected), "{code}: {bytes:?}");
        // Numbers, with a sign and without.
        for (codes, bytes, signed, unsigned) in [
            (&[1][..], &b"\xfe"[..], -2, 0xfe),
            (&[2, 13], b"\xfe\xff", -2, 0xfffe),
            (&[3, 9], b"\xfe\xff\xff\xff", -2, 0xffff_fffe),
            (&[8], b"\xfe\xff\xff\xff\xff\xff\xff\xff", -2, u64::MAX - 1),
        ] {
            for code in codes {
                check(*code, bytes, OwnedValue::Signed(signed));
                assert_eq!(given(*code, 0x80, bytes), Ok(OwnedValue::Unsigned(unsigned)), "{code}");
            }
        }
        check(4, &1.5_f32.to_le_bytes(), OwnedValue::Double(1.5));
        check(5, &0.1_f64.to_le_bytes(), OwnedValue::Double(0.1));
        check(6, b"", OwnedValue::Null);
        let text = |text: &str| OwnedValue::Text(text.to_owned());
        for code in [7, 12] {
            check(code, b"\x07\xea\x07\x0b\x15\x01\x02\x03", text("2026-11-21 01:02:03"));
            check(code, b"\x0b\xea\x07\x0b\x15\x01\x02\x03\x04\0\0\0", text("2026-11-21 01:02:03.000004"));
        }
        check(11, b"\0", text("00:00:00"));
        check(11, b"\x08\0\x01\0\0\0\x02\x03\x04", text("26:03:04"));
        check(11, b"\x0c\x01\0\0\0\0\x02\x03\x04\x05\0\0\0", text("-02:03:04.000005"));
        for code in [15, 16, 245, 247, 248, 249, 250, 251, 252, 253, 254] {
            check(code, b"\x021.", text("1."));
        }
        let counted = |digits: &str| [&[digits.len() as u8], digits.as_bytes()].concat();
        let (most, more) = ("9".repeat(65), "9".repeat(66));
        for code in [0, 246] {
            for digits in ["1", "-1.50", "0.0", &most] {
                check(code, &counted(digits), OwnedValue::Decimal(digits.to_owned()));
            }
            for other in ["", "-", ".5", "1.", "1.5.2", "1e5", "+1", "x.1", "1.x", &more] {
                check(code, &counted(other), text(other));
            }
        }
        for unknown in [14, 17, 18, 128, 244, 255] {
            assert_eq!(given(unknown, 0, &[0; 16]), Err(Malformed), "{unknown}");
        }
    }

    /// A bit for each, in as many bytes as they need.
    #[test]
    fn nulls_beyond_the_first_eight() {
        let bytes = [&[0x02, 0x01, 1][..], &b"\x01\0".repeat(10), &[0, 2, 3, 4, 5, 6, 7, 9]].concat();
        let expected = [Some(0), None, Some(2), Some(3), Some(4), Some(5), Some(6), Some(7), None, Some(9)];
        let expected = expected.map(|number| number.map_or(OwnedValue::Null, OwnedValue::Signed));
        assert_eq!(arguments(&bytes, 10, &mut Vec::new(), &Long::new()), Ok(expected.to_vec()));
    }

    #[test]
    fn commands_that_are_cut() {
        for packet in [&b""[..], b"\x04t", b"\x0c123", b"\x17\0\0\0\0\0\0\0\0", b"\x18\0\0\0\0\0", b"\x19\0\0\0", b"\x1b\0"] {
            assert_eq!(Command::parse(packet), Err(Malformed), "{packet:?}");
        }
        assert_eq!(Command::parse(b"\xfe"), Ok(Command::Unknown));
        assert_eq!(Command::parse(b"\x03"), Ok(Command::Query(b"")));
    }

    #[test]
    fn kills() {
        assert_eq!(kill("kill 12 ;"), Some((12, false)));
        assert_eq!(kill("KILL QUERY 12"), Some((12, true)));
        assert_eq!(kill("KILL connection 12"), Some((12, false)));
        // As programs say who they are, and people why.
        assert_eq!(kill("/* an editor */ -- of somebody's\n KILL/**/QUERY 12 # too long"), Some((12, true)));
        assert_eq!(kill("kill 12;-- \n;/* never closed"), Some((12, false)));
        assert_eq!(kill("KILL 12 --"), Some((12, false)));
        for other in [
            "/*!KILL 12*/",
            "/* KILL 12",
            "/*/ KILL 12",
            "-- KILL 12",
            "KILL 12--1",
            "KILL 12/*!13*/",
            "KILLQUERY 12",
            "KILL 12 ' ;",
        ] {
            assert_eq!(kill(other), None, "{other}");
        }
        for other in ["KILL", "KILL QUERY", "KILL 12 13", "KILL x", "SELECT 1", "KILL -1", "KILL 18446744073709551616"] {
            assert_eq!(kill(other), None, "{other}");
        }
    }
}
