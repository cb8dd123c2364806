//! The first packets: what the server can do, who the client is.

use super::authentication::{Nonce, Plugin};
use super::packet::{Malformed, Parts};

/// What client or server can do. Each is used only if both can.
pub(crate) mod capability {
    pub(crate) const LONG_PASSWORD: u32 = 1;
    /// UPDATE tells how many rows it has found, not how many it has changed.
    pub(crate) const FOUND_ROWS: u32 = 1 << 1;
    pub(crate) const LONG_FLAG: u32 = 1 << 2;
    pub(crate) const CONNECT_WITH_DB: u32 = 1 << 3;
    /// By zlib, behind the login.
    pub(crate) const COMPRESS: u32 = 1 << 5;
    pub(crate) const PROTOCOL_41: u32 = 1 << 9;
    pub(crate) const INTERACTIVE: u32 = 1 << 10;
    /// Only of a server with a certificate.
    pub(crate) const SSL: u32 = 1 << 11;
    pub(crate) const TRANSACTIONS: u32 = 1 << 13;
    pub(crate) const SECURE_CONNECTION: u32 = 1 << 15;
    pub(crate) const MULTI_STATEMENTS: u32 = 1 << 16;
    pub(crate) const MULTI_RESULTS: u32 = 1 << 17;
    pub(crate) const PS_MULTI_RESULTS: u32 = 1 << 18;
    pub(crate) const PLUGIN_AUTH: u32 = 1 << 19;
    pub(crate) const CONNECT_ATTRS: u32 = 1 << 20;
    pub(crate) const PLUGIN_AUTH_COUNTED: u32 = 1 << 21;
    /// Rows end with an OK packet instead of an EOF one.
    pub(crate) const DEPRECATE_EOF: u32 = 1 << 24;

    pub(crate) const SERVER: u32 = LONG_PASSWORD
        | FOUND_ROWS
        | LONG_FLAG
        | CONNECT_WITH_DB
        | COMPRESS
        | PROTOCOL_41
        | INTERACTIVE
        | TRANSACTIONS
        | SECURE_CONNECTION
        | MULTI_STATEMENTS
        | MULTI_RESULTS
        | PS_MULTI_RESULTS
        | PLUGIN_AUTH
        | CONNECT_ATTRS
        | PLUGIN_AUTH_COUNTED
        | DEPRECATE_EOF;
}

/// utf8mb4_0900_ai_ci, whose number fits the one byte that the greeting has.
const UTF8MB4: u8 = 255;

/// The server's first packet.
pub(crate) fn greeting(version: &str, connection_id: u64, nonce: &Nonce, status: u16, offers_tls: bool) -> Vec<u8> {
    let capabilities = (capability::SERVER | if offers_tls { capability::SSL } else { 0 }).to_le_bytes();
    let mut packet = vec![10];
    packet.extend_from_slice(version.as_bytes());
    packet.push(0);
    // The protocol has 4 bytes for it.
    packet.extend_from_slice(&(connection_id as u32).to_le_bytes());
    packet.extend_from_slice(&nonce[..8]);
    packet.push(0);
    packet.extend_from_slice(&capabilities[..2]);
    packet.push(UTF8MB4);
    packet.extend_from_slice(&status.to_le_bytes());
    packet.extend_from_slice(&capabilities[2..]);
    packet.push(nonce.len() as u8 + 1);
    packet.extend_from_slice(&[0; 10]);
    packet.extend_from_slice(&nonce[8..]);
    packet.push(0);
    packet.extend_from_slice(Plugin::CachingSha2.name().as_bytes());
    packet.push(0);
    packet
}

/// Whether a client's first packet asks to go on encrypted: it is the beginning of a login, up to the user.
pub(crate) fn wants_tls(packet: &[u8]) -> bool {
    packet.len() == 32 && Parts(packet).u32().is_ok_and(|capabilities| capabilities & capability::SSL != 0)
}

/// Who a client is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Login<'a> {
    pub(crate) capabilities: u32,
    pub(crate) user: &'a [u8],
    pub(crate) answer: &'a [u8],
    pub(crate) schema: &'a [u8],
    /// How `answer` was made; None if the server does not know it.
    pub(crate) plugin: Option<Plugin>,
}

impl<'a> Login<'a> {
    /// The client's first packet.
    pub(crate) fn parse(packet: &'a [u8]) -> Result<Login<'a>, Malformed> {
        let mut parts = Parts(packet);
        let capabilities = parts.u32()? & capability::SERVER;
        if capabilities & capability::PROTOCOL_41 == 0 {
            return Err(Malformed);
        }
        // Largest packet, character set, nothing.
        parts.bytes(4 + 1 + 23)?;
        let user = parts.until_zero()?;
        let answer = if capabilities & capability::PLUGIN_AUTH_COUNTED != 0 {
            parts.counted()?
        } else if capabilities & capability::SECURE_CONNECTION != 0 {
            let length = parts.u8()?;
            parts.bytes(length.into())?
        } else {
            parts.until_zero()?
        };
        let schema = if capabilities & capability::CONNECT_WITH_DB != 0 { parts.until_zero()? } else { &[] };
        let plugin = plugin(capabilities, &mut parts)?;
        // Attributes of the connection are nobody's business here.
        Ok(Login { capabilities, user, answer, schema, plugin })
    }

    /// COM_CHANGE_USER, without the byte that says so.
    pub(crate) fn parse_change(packet: &'a [u8], capabilities: u32) -> Result<Login<'a>, Malformed> {
        let mut parts = Parts(packet);
        let user = parts.until_zero()?;
        let length = parts.u8()?;
        let answer = parts.bytes(length.into())?;
        let schema = parts.until_zero()?;
        if parts.0.is_empty() {
            return Ok(Login { capabilities, user, answer, schema, plugin: Some(Plugin::Native) });
        }
        parts.u16()?;
        let plugin = plugin(capabilities, &mut parts)?;
        Ok(Login { capabilities, user, answer, schema, plugin })
    }
}

fn plugin(capabilities: u32, parts: &mut Parts<'_>) -> Result<Option<Plugin>, Malformed> {
    if capabilities & capability::PLUGIN_AUTH == 0 {
        return Ok(Some(Plugin::Native));
    }
    // Some clients leave out the last zero.
    let name = if parts.0.contains(&0) { parts.until_zero()? } else { parts.bytes(parts.0.len())? };
    Ok(Plugin::find(name))
}

/// Asks for another answer.
pub(crate) fn switch_request(plugin: Plugin, nonce: &Nonce) -> Vec<u8> {
    let mut packet = vec![0xfe];
    packet.extend_from_slice(plugin.name().as_bytes());
    packet.push(0);
    packet.extend_from_slice(nonce);
    packet.push(0);
    packet
}

/// caching_sha2_password says so before the OK packet.
pub(crate) const FAST_AUTHENTICATION_HAS_SUCCEEDED: [u8; 2] = [1, 3];

/// caching_sha2_password asks for the password itself by it.
pub(crate) const PERFORM_FULL_AUTHENTICATION: [u8; 2] = [1, 4];

#[cfg(test)]
mod tests {
    use super::*;

    /// As PyMySQL sends it.
    fn login() -> Vec<u8> {
        let capabilities = capability::SERVER;
        let mut packet = capabilities.to_le_bytes().to_vec();
        packet.extend_from_slice(&[0, 0, 0, 1, 45]);
        packet.extend_from_slice(&[0; 23]);
        packet.extend_from_slice(b"reader\0\x03abctest\0caching_sha2_password\0\x05\x01a\x02bc");
        packet
    }

    #[test]
    fn a_login() {
        let packet = login();
        let expected = Login {
            capabilities: capability::SERVER,
            user: b"reader",
            answer: b"abc",
            schema: b"test",
            plugin: Some(Plugin::CachingSha2),
        };
        assert_eq!(Login::parse(&packet), Ok(expected));
        let change = b"reader\0\x03abctest\0\x2d\0mysql_native_password\0";
        let login = Login::parse_change(change, capability::SERVER).unwrap();
        assert_eq!((login.user, login.plugin), (&b"reader"[..], Some(Plugin::Native)));
    }

    #[test]
    fn what_is_cut_is_refused_or_another_login() {
        let packet = login();
        let name_starts = packet.len() - b"caching_sha2_password\0\x05\x01a\x02bc".len();
        for end in 0..packet.len() {
            let result = Login::parse(&packet[..end]);
            assert_eq!(result.is_err(), end < name_starts, "{end}: {result:?}");
        }
        let mut old = packet;
        old[1] &= !2;
        assert_eq!(Login::parse(&old), Err(Malformed), "without PROTOCOL_41");
    }

    #[test]
    fn the_greeting_has_the_nonce_in_two_parts() {
        let packet = greeting("8", 7, b"abcdefghijklmnopqrst", 2, false);
        assert_eq!(&packet[..16], b"\x0a8\0\x07\0\0\0abcdefgh\0");
        let difference: Vec<u8> =
            greeting("8", 7, b"abcdefghijklmnopqrst", 2, true).iter().zip(&packet).map(|(a, b)| a ^ b).collect();
        assert_eq!(difference.iter().position(|&byte| byte == 1 << 3), Some(17), "CLIENT_SSL: {difference:?}");
        assert!(packet.ends_with(b"\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0caching_sha2_password\0"));
    }
}
