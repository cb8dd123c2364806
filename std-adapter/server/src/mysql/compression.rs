//! Compressed packets: pieces of the stream of packets, wherever they begin and end, in frames with lengths and a number of their own.
//!
//! ```text
//! length: 3 bytes | number: 1 byte | length decompressed: 3 bytes | that many bytes      0 decompressed: they are not compressed.
//! ```

use super::packet::{FULL, length, length_bytes};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use std::fmt;
use std::io::{self, Read};

/// Bytes in front of each frame.
const HEADER: usize = 7;
/// What is shorter is not compressed, as in MySQL: it would hardly get shorter.
const LEAST: usize = 50;
/// How much of a compressed frame is read at once.
const READ: usize = 4096;

/// What is wrong with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameError {
    /// Its number is not the next one.
    OutOfOrder,
    /// It does not decompress to what it says.
    Undecodable,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FrameError::OutOfOrder => "a frame whose number is not the next one",
            FrameError::Undecodable => "a frame that does not decompress to what it says",
        })
    }
}

impl std::error::Error for FrameError {}

impl From<FrameError> for io::Error {
    fn from(error: FrameError) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, error)
    }
}

/// Frames in both directions.
pub(crate) struct Frames {
    number: u8,
    /// Of the frame that is being read: bytes that are still to come,
    coming: usize,
    /// and what they make; None if they are not compressed.
    making: Option<usize>,
    inflate: Decompress,
    /// What has come and is not decompressed yet.
    input: Vec<u8>,
    /// A third of a megabyte, so it is made when it is needed.
    deflate: Option<Compress>,
}

impl fmt::Debug for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frames").field("number", &self.number).field("coming", &self.coming).finish_non_exhaustive()
    }
}

impl Frames {
    pub(crate) fn new() -> Frames {
        Frames {
            number: 0,
            coming: 0,
            making: None,
            inflate: Decompress::new(true),
            input: Vec::with_capacity(READ),
            deflate: None,
        }
    }

    /// Whether a frame has begun and not ended.
    pub(crate) fn is_within(&self) -> bool {
        self.coming > 0 || self.making.is_some()
    }

    /// The next frame begins a command.
    pub(crate) fn begin(&mut self) {
        self.number = 0;
    }

    /// Reads what the frames of a stream hold. A frame is decompressed as it is read, so however much it says that it makes takes no memory.
    pub(crate) fn read(&mut self, stream: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() {
            let read = match self.making {
                None if self.coming == 0 => {
                    if !self.begin_frame(stream)? {
                        return Ok(0);
                    }
                    0
                }
                None => {
                    let (piece, _) = buffer.split_at_mut(buffer.len().min(self.coming));
                    let read = some(stream.read(piece)?)?;
                    self.coming -= read;
                    read
                }
                Some(length) => self.inflate(stream, buffer, length)?,
            };
            if read > 0 {
                return Ok(read);
            }
        }
        Ok(0)
    }

    /// Whether there is a frame: at its end a stream has none.
    fn begin_frame(&mut self, stream: &mut impl Read) -> io::Result<bool> {
        let mut header = [0; HEADER];
        let (first, rest) = header.split_at_mut(1);
        if stream.read(first)? == 0 {
            return Ok(false);
        }
        stream.read_exact(rest)?;
        let [a, b, c, number, d, e, f] = header;
        if number != self.number {
            return Err(FrameError::OutOfOrder.into());
        }
        self.number = self.number.wrapping_add(1);
        self.coming = length([a, b, c]);
        self.making = Some(length([d, e, f])).filter(|&length| length > 0);
        self.inflate.reset(true);
        self.input.clear();
        Ok(true)
    }

    /// Decompresses a piece of the frame, of which `length` bytes are still to be made; at its end, what ends it.
    fn inflate(&mut self, stream: &mut impl Read, buffer: &mut [u8], length: usize) -> io::Result<usize> {
        if self.input.is_empty() && self.coming > 0 {
            self.input.resize(READ.min(self.coming), 0);
            let read = some(stream.read(&mut self.input)?)?;
            self.input.truncate(read);
            self.coming -= read;
        }
        // Behind all that it says there must be nothing more.
        let mut more = [0];
        let output = if length == 0 { &mut more[..] } else { buffer.split_at_mut(buffer.len().min(length)).0 };
        let (read, made) = (self.inflate.total_in(), self.inflate.total_out());
        let status = self.inflate.decompress(&self.input, output, FlushDecompress::None).map_err(|_| FrameError::Undecodable)?;
        let (read, made) = ((self.inflate.total_in() - read) as usize, (self.inflate.total_out() - made) as usize);
        self.input.drain(..read);
        let left = length.checked_sub(made).ok_or(FrameError::Undecodable)?;
        self.making = Some(left);
        let is_at_end = status == Status::StreamEnd;
        let has_ended_well = left == 0 && self.input.is_empty() && self.coming == 0;
        if is_at_end && has_ended_well {
            self.making = None;
        } else if is_at_end || (read == 0 && made == 0) {
            return Err(FrameError::Undecodable.into());
        }
        Ok(made)
    }

    /// Appends frames of what is to be sent.
    pub(crate) fn write(&mut self, plain: &[u8], out: &mut Vec<u8>) {
        for piece in plain.chunks(FULL) {
            let start = out.len();
            out.resize(start + HEADER, 0);
            let is_compressed = piece.len() >= LEAST && self.deflate(piece, out);
            if !is_compressed {
                out.truncate(start + HEADER);
                out.extend_from_slice(piece);
            }
            let [a, b, c] = length_bytes(out.len() - start - HEADER);
            let [d, e, f] = length_bytes(if is_compressed { piece.len() } else { 0 });
            if let Some(header) = out.get_mut(start..start + HEADER) {
                header.copy_from_slice(&[a, b, c, self.number, d, e, f]);
            }
            self.number = self.number.wrapping_add(1);
        }
    }

    /// Appends it compressed. Returns whether it has become shorter.
    fn deflate(&mut self, piece: &[u8], out: &mut Vec<u8>) -> bool {
        // MySQL's level, too: 6.
        let deflate = self.deflate.get_or_insert_with(|| Compress::new(Compression::default(), true));
        deflate.reset();
        out.reserve(piece.len());
        let status = deflate.compress_vec(piece, out, FlushCompress::Finish);
        matches!(status, Ok(Status::StreamEnd)) && deflate.total_out() < piece.len() as u64
    }
}

/// What was read in the middle of a frame, where there must be something.
fn some(read: usize) -> io::Result<usize> {
    if read == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(read) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::write::ZlibEncoder;
    use std::io::Write;

    /// By the library's other half, which knows nothing of pieces.
    fn compressed(plain: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn frame(number: u8, bytes: &[u8], plain_length: usize) -> Vec<u8> {
        let ([a, b, c, _], [d, e, f, _]) = ((bytes.len() as u32).to_le_bytes(), (plain_length as u32).to_le_bytes());
        [&[a, b, c, number, d, e, f], bytes].concat()
    }

    /// What frames hold, read so many bytes at once.
    fn read(mut bytes: &[u8], at_once: usize) -> io::Result<Vec<u8>> {
        let (mut frames, mut buffer, mut all) = (Frames::new(), vec![0; at_once], Vec::new());
        loop {
            match frames.read(&mut bytes, &mut buffer)? {
                0 => return Ok(all),
                read => all.extend_from_slice(&buffer[..read]),
            }
        }
    }

    fn found(bytes: &[u8]) -> Option<FrameError> {
        let errors: Vec<_> =
            [1, 7, 100_000].map(|at_once| read(bytes, at_once).unwrap_err().downcast::<FrameError>().ok()).into();
        assert!(errors.iter().all(|error| error == &errors[0]), "{errors:?}");
        errors[0]
    }

    fn text(length: usize) -> Vec<u8> {
        (0..).flat_map(|n| format!("{n} waits, ").into_bytes()).take(length).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        for length in [0, 1, LEAST - 1, LEAST, 1000, READ, 100_000] {
            let plain = text(length);
            let mut bytes = Vec::new();
            let mut frames = Frames::new();
            for piece in plain.chunks(40_000) {
                frames.write(piece, &mut bytes);
            }
            assert!(length < 100 || bytes.len() < length, "{length}: {}", bytes.len());
            for at_once in [1, 3, 4096, 100_000] {
                assert!(read(&bytes, at_once).unwrap() == plain, "{length}, {at_once}");
            }
        }
        // What cannot become shorter goes as it is.
        let noise: Vec<u8> = (0..100_u8).map(|n| n.wrapping_mul(37)).collect();
        let mut bytes = Vec::new();
        Frames::new().write(&noise, &mut bytes);
        assert!(bytes == frame(0, &noise, 0));
    }

    #[test]
    fn frames_of_another_are_read() {
        let plain = text(20_000);
        let bytes = [
            frame(0, &plain[..10], 0),
            frame(1, b"", 0),
            frame(2, &compressed(&plain[10..15_000]), 14_990),
            frame(3, &compressed(&plain[15_000..]), 5000),
        ];
        for at_once in [1, 10, 100_000] {
            assert!(read(&bytes.concat(), at_once).unwrap() == plain);
        }
        assert!(read(&frame(0, &compressed(&vec![0; FULL]), FULL), 65_536).unwrap() == vec![0; FULL]);
    }

    #[test]
    fn what_is_no_frame() {
        let plain = text(2000);
        let good = compressed(&plain);
        assert_eq!(found(&frame(1, b"x", 0)), Some(FrameError::OutOfOrder));
        let wrong = Some(FrameError::Undecodable);
        // It makes more than it says, or less; it ends before its end, or goes on behind it.
        for length in [1, 1999, 2001, FULL] {
            assert_eq!(found(&frame(0, &good, length)), wrong, "{length}");
        }
        for end in 0..good.len() {
            assert_eq!(found(&frame(0, &good[..end], 2000)), wrong, "{end}");
        }
        assert_eq!(found(&frame(0, &[&good[..], b"x"].concat(), 2000)), wrong);
        // A byte is another one: of the head, what is packed, the sum at the end.
        for place in [0, 1, good.len() / 2, good.len() - 1] {
            let mut bad = good.clone();
            bad[place] ^= 0x55;
            assert_eq!(found(&frame(0, &bad, 2000)), wrong, "{place}");
        }
        // The stream ends within it.
        let bytes = frame(0, &good, 2000);
        for end in 1..bytes.len() {
            let error = read(&bytes[..end], 4096).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{end}");
        }
    }
}
