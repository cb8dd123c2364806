//! Packets of MySQL's protocol, as a client may send them: the server answers in packets, and the conversation ends.

use flate2::Compression;
use flate2::read::{ZlibDecoder, ZlibEncoder};
use perfschema_server::{Limits, Server};
use std::io::{self, Read, Write};
use std::sync::LazyLock;

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let accounts = "fuzz controller no-password\nother reader caching_sha2_password:";
    let accounts = format!("{accounts}{}", "00".repeat(32)).parse().expect("two accounts");
    let limits = Limits { packet_bytes: 4096, prepared_statements: 4, prepared_bytes: 4096, ..Limits::default() };
    Server::with_limits(crate::sql::DATABASE.clone(), accounts, limits).expect("there is memory")
});

/// A login without a password: PROTOCOL_41, SECURE_CONNECTION, MULTI_STATEMENTS, PLUGIN_AUTH.
const LOGIN: &[u8] =
    b"\x3c\0\0\x01\0\x82\x09\0\0\0\0\x01\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0fuzz\0\0caching_sha2_password\0";

/// The first byte says whether the others come after a login, or instead of one; after a login whether that asks for compression, and then
/// whether they are frames already, or what is to be put into one.
///
/// # Panics
/// If what is answered is no sequence of packets, or far more than was asked for.
pub fn packets(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let mut login = if first % 2 == 0 { LOGIN.to_vec() } else { Vec::new() };
    let is_compressed = !login.is_empty() && first & 4 != 0;
    let mut says = rest.to_vec();
    if is_compressed {
        login[4] |= 1 << 5;
        if first & 2 != 0 {
            says = frame(rest);
        }
    }
    let mut client = Client { says: login.chain(&says), hears: Vec::new() };
    SERVER.converse(&mut client, "localhost");

    let mut hears = client.hears.as_slice();
    let plain;
    if is_compressed {
        // The greeting and the answer to the login are not.
        for _ in 0..2 {
            hears = piece(hears, 4).expect("they are there").rest;
        }
        plain = unframed(hears);
        hears = &plain;
    }
    let mut count = 0;
    while let Some(packet) = piece(hears, 4) {
        hears = packet.rest;
        count += 1;
    }
    assert!(hears.is_empty(), "half a header: {hears:?}");
    assert!(is_compressed || count >= 1, "no greeting");
    assert!(!login.is_empty() || count <= 3 || rest.len() > 32, "{count} packets for {rest:?}");
}

/// What has its length in the first three bytes of a header.
struct Piece<'a> {
    header: &'a [u8],
    body: &'a [u8],
    /// What is behind it.
    rest: &'a [u8],
}

fn piece(bytes: &[u8], header: usize) -> Option<Piece<'_>> {
    let (header, rest) = bytes.split_at_checked(header)?;
    let (body, rest) = rest.split_at(length(header));
    Some(Piece { header, body, rest })
}

fn length(bytes: &[u8]) -> usize {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]) as usize
}

/// What a client sends compressed.
fn frame(plain: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    ZlibEncoder::new(plain, Compression::fast()).read_to_end(&mut body).expect("it is memory");
    let ([a, b, c, _], [d, e, f, _]) = ((body.len() as u32).to_le_bytes(), (plain.len() as u32).to_le_bytes());
    [&[a, b, c, 0, d, e, f], &body[..]].concat()
}

/// What the server's frames hold.
fn unframed(mut bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    while let Some(frame) = piece(bytes, 7) {
        bytes = frame.rest;
        match length(&frame.header[4..]) {
            0 => plain.extend_from_slice(frame.body),
            made => {
                let before = plain.len();
                ZlibDecoder::new(frame.body).read_to_end(&mut plain).expect("it is compressed");
                assert_eq!(plain.len() - before, made);
            }
        }
    }
    assert!(bytes.is_empty(), "half a header: {bytes:?}");
    plain
}

/// Says what it has to say, whatever it hears.
struct Client<'a> {
    says: io::Chain<&'a [u8], &'a [u8]>,
    hears: Vec<u8>,
}

impl Read for Client<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.says.read(buffer)
    }
}

impl Write for Client<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hears.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_login_is_one() {
        let mut client = Client { says: LOGIN.chain(b"\x01\0\0\0\x0e"), hears: Vec::new() };
        SERVER.converse(&mut client, "localhost");
        assert!(
            client.hears.ends_with(b"\x07\0\0\x02\0\0\0\x02\0\0\0\x07\0\0\x01\0\0\0\x02\0\0\0"),
            "{:?}",
            client.hears.escape_ascii().to_string()
        );
    }
}
