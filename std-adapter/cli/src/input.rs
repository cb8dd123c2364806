//! What is read from outside, as far as it is not endless: of `/dev/zero`, or a pipe that somebody forgot to close, no more is kept in memory beside
//! the program that is looked at.

use perfschema_server::read_at_most;
use std::io::{self, BufRead, Read};

/// Bytes of one text: a script, or one of its lines.
pub(crate) const MAX_TEXT: u64 = 64 << 20;
/// Bytes of a file of settings, or of a line that somebody types.
pub(crate) const MAX_SETTINGS: u64 = 1 << 20;

/// All of it.
pub(crate) fn text(input: impl Read, most: u64) -> io::Result<String> {
    // Asked for behind the length: where it is cut may be the middle of a character.
    io::read_to_string(read_at_most(input, most)?.as_slice())
}

/// The next line with its end; nothing at the end of all.
pub(crate) fn line(input: impl BufRead, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(most + 1).read_until(b'\n', &mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("longer than {} MiB", most >> 20)));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused() {
        let kind = |error: io::Error| (error.kind(), error.to_string());
        let too_large = (io::ErrorKind::FileTooLarge, "longer than 1 MiB".to_owned());
        assert_eq!(text(io::repeat(0), 1 << 20).map_err(kind), Err(too_large.clone()));
        assert_eq!(line(io::BufReader::new(io::repeat(0)), 1 << 20).map_err(kind), Err(too_large));
        assert_eq!(text(&b"\xc3\xa4"[..], 2).ok().as_deref(), Some("\u{e4}"));
        assert_eq!(text(&b"\xc3\xa4"[..], 1).map_err(|error| error.kind()), Err(io::ErrorKind::FileTooLarge));
        assert_eq!(text(&b"\xc3"[..], 1).map_err(|error| error.kind()), Err(io::ErrorKind::InvalidData));
        let mut input = &b"one\ntwo"[..];
        assert_eq!(
            [(); 3].map(|()| line(&mut input, 4).ok()),
            [Some(b"one\n".to_vec()), Some(b"two".to_vec()), Some(Vec::new())]
        );
    }
}
