//! Packets of MySQL's protocol, as a client may send them: the server answers in packets, and the conversation ends.

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

/// The first byte says whether the others come after a login, or instead of one.
///
/// # Panics
/// If what is answered is no sequence of packets, or far more than was asked for.
pub fn packets(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let login = if first % 2 == 0 { LOGIN } else { &[] };
    let mut client = Client { says: login.chain(rest), hears: Vec::new() };
    SERVER.converse(&mut client, "localhost");

    let mut hears = client.hears.as_slice();
    let mut count = 0;
    while let Some((header, after)) = hears.split_at_checked(4) {
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        hears = after.get(length..).expect("all of the packet");
        count += 1;
    }
    assert!(hears.is_empty(), "half a header: {hears:?}");
    assert!(count >= 1, "no greeting");
    assert!(!login.is_empty() || count <= 3 || rest.len() > 32, "{count} packets for {rest:?}");
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
