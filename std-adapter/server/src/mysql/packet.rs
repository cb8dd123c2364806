//! Packets: pieces of less than 16 MiB, each with its length and a number that counts them.
//!
//! ```text
//! length: 3 bytes | number: 1 byte | that many bytes      A piece of 2²⁴ − 1 bytes is followed by another, which may be empty.
//! ```

use super::compression::{FrameError, Frames};
use std::cell::Cell;
use std::io::{self, Read, Write};
use std::rc::Rc;
use std::time::Instant;

/// The most that three bytes say: the length of a piece that another one follows.
pub(super) const FULL: usize = 0xff_ff_ff;
/// How much is gathered before it is sent.
const GATHER: usize = 64 * 1024;

/// What packets come through. None of its calls is interrupted by a signal: TLS would take that for the connection's end.
pub(crate) trait Stream: Read + Write {
    /// Reading fails with [`io::ErrorKind::TimedOut`] from then on.
    fn set_deadline(&mut self, deadline: Option<Instant>);
}

/// Why there is no packet.
#[derive(Debug)]
pub(crate) enum PacketError {
    /// The client is gone, or too slow.
    Gone,
    /// It has more bytes than are allowed.
    TooLarge,
    /// Its number is not the next one.
    OutOfOrder,
    /// It does not decompress.
    Undecodable,
}

impl From<io::Error> for PacketError {
    fn from(error: io::Error) -> PacketError {
        match error.downcast() {
            Ok(FrameError::OutOfOrder) => PacketError::OutOfOrder,
            Ok(FrameError::Undecodable) => PacketError::Undecodable,
            Err(_) => PacketError::Gone,
        }
    }
}

/// Bytes that came and went, compressed if they were.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) received: Cell<u64>,
    pub(crate) sent: Cell<u64>,
}

/// A length as it is sent.
pub(super) fn length_bytes(length: usize) -> [u8; 3] {
    let [a, b, c, ..] = length.to_le_bytes();
    [a, b, c]
}

/// A length that came.
pub(super) fn length([a, b, c]: [u8; 3]) -> usize {
    u32::from_le_bytes([a, b, c, 0]) as usize
}

/// Packets in both directions.
#[derive(Debug)]
pub(crate) struct Packets<S> {
    stream: S,
    number: u8,
    limit: usize,
    out: Vec<u8>,
    traffic: Rc<Traffic>,
    /// None if nothing is compressed.
    frames: Option<Frames>,
    /// The first byte of what has begun.
    ahead: Option<u8>,
}

impl<S: Stream> Packets<S> {
    /// `limit`: the most bytes that a packet from the client may have.
    pub(crate) fn new(stream: S, limit: usize) -> Packets<S> {
        Packets { stream, number: 0, limit, out: Vec::new(), traffic: Rc::default(), frames: None, ahead: None }
    }

    /// What is counted of them, for somebody who outlives them.
    pub(crate) fn traffic(&self) -> Rc<Traffic> {
        Rc::clone(&self.traffic)
    }

    pub(crate) fn stream(&mut self) -> &mut S {
        &mut self.stream
    }

    /// The same packets go on over another stream, made of this one. Nothing of what follows was read ahead.
    pub(crate) fn over<T: Stream>(self, make: impl FnOnce(S) -> io::Result<T>) -> io::Result<Packets<T>> {
        let Packets { stream, number, limit, out, traffic, frames, ahead } = self;
        Ok(Packets { stream: make(stream)?, number, limit, out, traffic, frames, ahead })
    }

    /// From the next command on both sides compress.
    pub(crate) fn compress(&mut self) {
        self.frames = Some(Frames::new());
    }

    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// The next packet begins a command.
    pub(crate) fn begin(&mut self) {
        self.number = 0;
        if let Some(frames) = &mut self.frames {
            frames.begin();
        }
    }

    /// Waits for a packet to begin, or the frame that it is in, until the stream's deadline. [`finish`](Self::finish) reads it.
    pub(crate) fn start(&mut self) -> io::Result<()> {
        let has_begun = self.ahead.is_some() || self.frames.as_ref().is_some_and(Frames::is_within);
        if !has_begun {
            let mut first = [0];
            self.stream.read_exact(&mut first)?;
            self.ahead = Some(first[0]);
        }
        Ok(())
    }

    /// Reads the packet that has begun.
    pub(crate) fn finish(&mut self, packet: &mut Vec<u8>) -> Result<(), PacketError> {
        packet.clear();
        let mut header = [0; 4];
        self.incoming().read_exact(&mut header)?;
        let mut is_too_large = false;
        loop {
            let [a, b, c, number] = header;
            let length = length([a, b, c]);
            // Where frames have numbers nobody looks at these: some clients count on, others from 0.
            if self.frames.is_none() && number != self.number {
                return Err(PacketError::OutOfOrder);
            }
            self.number = number.wrapping_add(1);
            is_too_large |= length > self.limit.saturating_sub(packet.len());
            let mut piece = self.incoming().take(length as u64);
            let read = if is_too_large {
                // Closed with bytes unread, the connection would be reset before the client has heard why.
                io::copy(&mut piece, &mut io::sink())?
            } else {
                // Memory grows with what has come, not with what was announced.
                piece.read_to_end(packet)? as u64
            };
            if read < length as u64 {
                return Err(PacketError::Gone);
            }
            if length < FULL {
                return if is_too_large { Err(PacketError::TooLarge) } else { Ok(()) };
            }
            self.incoming().read_exact(&mut header)?;
        }
    }

    fn incoming(&mut self) -> Incoming<'_, S> {
        let stream = Counted { stream: &mut self.stream, ahead: &mut self.ahead, count: &self.traffic.received };
        Incoming { stream, frames: self.frames.as_mut() }
    }

    /// Reads a packet.
    pub(crate) fn read(&mut self) -> Result<Vec<u8>, PacketError> {
        let mut packet = Vec::new();
        self.start()?;
        self.finish(&mut packet)?;
        Ok(packet)
    }

    /// Sends a packet, at the latest with [`flush`](Self::flush).
    pub(crate) fn write(&mut self, packet: &[u8]) -> io::Result<()> {
        let mut rest = packet;
        loop {
            let (piece, after) = rest.split_at(rest.len().min(FULL));
            let [a, b, c] = length_bytes(piece.len());
            self.out.extend_from_slice(&[a, b, c, self.number]);
            self.number = self.number.wrapping_add(1);
            self.out.extend_from_slice(piece);
            if self.out.len() >= GATHER {
                self.send()?;
            }
            if piece.len() < FULL {
                return Ok(());
            }
            rest = after;
        }
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.send()?;
        self.stream.flush()
    }

    fn send(&mut self) -> io::Result<()> {
        let mut compressed = Vec::new();
        let bytes = match &mut self.frames {
            Some(frames) => {
                frames.write(&self.out, &mut compressed);
                &compressed
            }
            None => &self.out,
        };
        let result = self.stream.write_all(bytes);
        self.traffic.sent.set(self.traffic.sent.get() + bytes.len() as u64);
        self.out.clear();
        // One large row is no reason to keep as much for ever.
        self.out.shrink_to(2 * GATHER);
        result
    }
}

/// What comes, and how much of it.
struct Counted<'a, S> {
    stream: &'a mut S,
    ahead: &'a mut Option<u8>,
    count: &'a Cell<u64>,
}

impl<S: Read> Read for Counted<'_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match (buffer.first_mut(), self.ahead.take()) {
            (Some(first), Some(ahead)) => {
                *first = ahead;
                1
            }
            (_, ahead) => {
                *self.ahead = ahead;
                self.stream.read(buffer)?
            }
        };
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

/// What comes, decompressed if it is compressed.
struct Incoming<'a, S> {
    stream: Counted<'a, S>,
    frames: Option<&'a mut Frames>,
}

impl<S: Read> Read for Incoming<'_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.frames {
            Some(frames) => frames.read(&mut self.stream, buffer),
            None => self.stream.read(buffer),
        }
    }
}

/// A packet is shorter than it says, or says what it cannot mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Takes the parts of a packet off its front.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'a>(pub(crate) &'a [u8]);

impl<'a> Parts<'a> {
    pub(crate) fn bytes(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.bytes(N)?.try_into().map_err(|_| Malformed)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    /// Up to a zero byte.
    pub(crate) fn until_zero(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.0.iter().position(|&byte| byte == 0).ok_or(Malformed)?;
        let bytes = self.bytes(length)?;
        self.u8()?;
        Ok(bytes)
    }

    /// A number of 1 to 9 bytes.
    pub(crate) fn number(&mut self) -> Result<u64, Malformed> {
        match self.u8()? {
            small @ 0..=0xfa => Ok(small.into()),
            0xfc => self.u16().map(u64::from),
            0xfd => self.array().map(|[a, b, c]| u32::from_le_bytes([a, b, c, 0]).into()),
            0xfe => self.array().map(u64::from_le_bytes),
            _ => Err(Malformed),
        }
    }

    /// Bytes with their number in front.
    pub(crate) fn counted(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.number()?;
        self.bytes(usize::try_from(length).map_err(|_| Malformed)?)
    }
}

/// Appends a number of 1 to 9 bytes.
pub(crate) fn put_number(packet: &mut Vec<u8>, number: u64) {
    let bytes = number.to_le_bytes();
    match number {
        0..=0xfa => packet.push(bytes[0]),
        0xfb..=0xffff => {
            packet.push(0xfc);
            packet.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xff_ffff => {
            packet.push(0xfd);
            packet.extend_from_slice(&bytes[..3]);
        }
        _ => {
            packet.push(0xfe);
            packet.extend_from_slice(&bytes);
        }
    }
}

/// Appends bytes with their number in front.
pub(crate) fn put_counted(packet: &mut Vec<u8>, bytes: &[u8]) {
    put_number(packet, bytes.len() as u64);
    packet.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    impl Stream for Cursor<Vec<u8>> {
        fn set_deadline(&mut self, _: Option<Instant>) {}
    }

    fn written(packet: &[u8]) -> Vec<u8> {
        let mut packets = Packets::new(Cursor::default(), 0);
        packets.write(packet).unwrap();
        packets.flush().unwrap();
        packets.stream.into_inner()
    }

    fn read(bytes: &[u8], limit: usize) -> Result<Vec<u8>, PacketError> {
        Packets::new(Cursor::new(bytes.to_vec()), limit).read()
    }

    #[test]
    fn what_is_written_is_read() {
        for length in [0, 1, 250, 65_535, FULL - 1, FULL, FULL + 1, 2 * FULL] {
            let packet: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
            let bytes = written(&packet);
            assert_eq!(bytes.len(), length + 4 * (length / FULL + 1));
            assert!(read(&bytes, length).unwrap() == packet, "{length}");
            if length > 0 {
                assert!(matches!(read(&bytes, length - 1), Err(PacketError::TooLarge)), "{length}");
            }
        }
    }

    /// What has a password is wiped where it is, and must have been nowhere else.
    #[test]
    fn a_packet_stays_where_there_is_room_for_it() {
        for length in [0, 8, 1000, 65_535] {
            let mut packet = Vec::with_capacity(65_536);
            let place = packet.as_ptr();
            let mut packets = Packets::new(Cursor::new(written(&vec![b'x'; length])), length);
            packets.start().unwrap();
            packets.finish(&mut packet).unwrap();
            assert_eq!((packet.len(), packet.as_ptr()), (length, place));
        }
    }

    #[test]
    fn every_beginning_ends_in_an_error() {
        let bytes = written(b"\x03SELECT 1");
        for end in 0..bytes.len() {
            let error = read(&bytes[..end], 100).unwrap_err();
            assert!(matches!(error, PacketError::Gone), "{end}: {error:?}");
        }
    }

    #[test]
    fn numbers_of_packets_count() {
        let mut bytes = written(b"one");
        bytes[3] = 1;
        assert!(matches!(read(&bytes, 100), Err(PacketError::OutOfOrder)));
        // Announced, never sent: no memory for it.
        let mut packets = Packets::new(Cursor::new(vec![0xfe, 0xff, 0xff, 0, b'x']), usize::MAX);
        let mut packet = Vec::new();
        packets.start().unwrap();
        packets.finish(&mut packet).unwrap_err();
        assert!(packet.capacity() < 4096, "{}", packet.capacity());
    }

    #[test]
    fn numbers() {
        for number in [0, 250, 251, 252, 65_535, 65_536, 0xff_ffff, 0x100_0000, u64::MAX] {
            let mut packet = Vec::new();
            put_number(&mut packet, number);
            let mut parts = Parts(&packet);
            assert_eq!((parts.number(), parts.0.len()), (Ok(number), 0));
            for end in 0..packet.len() {
                assert_eq!(Parts(&packet[..end]).number(), Err(Malformed));
            }
        }
        assert_eq!(Parts(&[0xfb]).number(), Err(Malformed));
        assert_eq!(Parts(&[0xff]).number(), Err(Malformed));
        assert_eq!(Parts(&[0xfe, 255, 255, 255, 255, 255, 255, 255, 255]).counted(), Err(Malformed));
    }
}
