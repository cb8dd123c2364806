//! Functions of texts that stand for bytes: base64, addresses, numbers of characters.

use crate::Error;
use crate::functions::Arguments;
use crate::state::State;
use crate::texts::{bounded, on_text};
use crate::value::{self, Number};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rusqlite::Result;
use rusqlite::types::Value;
use std::net::Ipv4Addr;

/// How long MySQL's lines of base64 are.
const LINE: usize = 76;

/// Bytes as a text.
fn text(bytes: &[u8]) -> Value {
    Value::Text(String::from_utf8_lossy(bytes).into_owned())
}

pub(crate) fn to_base64(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    on_text(arguments, |text| {
        let mut lines = String::new();
        for (index, character) in BASE64_STANDARD.encode(text).chars().enumerate() {
            if index > 0 && index % LINE == 0 {
                lines.push('\n');
            }
            lines.push(character);
        }
        lines
    })
}

/// White space does not count; NULL of what is no base64.
pub(crate) fn from_base64(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some(mut encoded) = value::text(arguments[0]) else { return Ok(Value::Null) };
    encoded.retain(|c| !c.is_ascii_whitespace());
    Ok(BASE64_STANDARD.decode(encoded).map_or(Value::Null, |bytes| text(&bytes)))
}

/// The number of an address, whose parts before the last may be fewer than three: `127.1` is `127.0.0.1`.
pub(crate) fn inet_aton(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some(text) = value::text(arguments[0]) else { return Ok(Value::Null) };
    let part = |part: &str| part.parse::<u8>().ok().filter(|_| part.bytes().all(|byte| byte.is_ascii_digit()));
    let parts: Option<Vec<u8>> = text.split('.').map(part).collect();
    Ok(match parts.as_deref() {
        Some([first @ .., last]) if first.len() <= 3 => {
            let mut all = [0; 4];
            all[..first.len()].copy_from_slice(first);
            all[3] = *last;
            Value::Integer(u32::from_be_bytes(all).into())
        }
        _ => Value::Null,
    })
}

pub(crate) fn inet_ntoa(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let address = Number::to_integer(arguments[0]).and_then(|number| u32::try_from(number.whole()).ok());
    Ok(address.map_or(Value::Null, |address| Value::Text(Ipv4Addr::from(address).to_string())))
}

/// The bytes of numbers, each without the zeros before it; NULL is none.
pub(crate) fn char(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let mut all = Vec::new();
    for number in arguments.iter().filter_map(|number| Number::to_integer(*number)) {
        // Of larger numbers the last four bytes count.
        let bytes = (number.whole() as u32).to_be_bytes();
        all.extend(&bytes[(number.whole() as u32 | 1).leading_zeros() as usize / 8..]);
    }
    bounded(String::from_utf8_lossy(&all).into_owned())
}
