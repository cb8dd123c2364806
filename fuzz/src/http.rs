//! Requests of HTTP, as a client may send them: each is answered once, or not at all if it has no end.

use perfschema_server::Metrics;
use std::io::{self, Read, Write};
use std::sync::LazyLock;

static METRICS: LazyLock<Metrics> = LazyLock::new(|| Metrics::new(*crate::sql::REGION));

/// # Panics
/// If what is answered is no answer of HTTP, or more than one.
pub fn http(data: &[u8]) {
    let mut client = Client { says: data, hears: Vec::new() };
    METRICS.converse(&mut client).expect("this stream does not fail");
    let has_end = data.windows(4).any(|end| end == b"\r\n\r\n");
    if client.hears.is_empty() {
        assert!(!has_end && data.len() <= 8192 + 1024, "a request without an answer");
        return;
    }
    let text = String::from_utf8(client.hears).expect("UTF-8");
    let (head, body) = text.split_once("\r\n\r\n").expect("an empty line");
    assert!(head.starts_with("HTTP/1.1 ") && head.lines().all(|line| line.is_ascii()), "{head}");
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).expect("a length");
    assert!(body.is_empty() || length.parse() == Ok(body.len()), "{head}");
    // Nothing that a client says comes back to it.
    let is_ours = ["200 OK", "400 ", "404 ", "405 ", "431 "].iter().any(|status| head["HTTP/1.1 ".len()..].starts_with(status));
    assert!(is_ours, "{head}");
}

/// Says what it has to say, whatever it hears.
struct Client<'a> {
    says: &'a [u8],
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
