//! Compressed packets, by a client that has its own way of making them.

mod common;

use common::{CAPABILITIES, Client, Packet, packets, server};
use flate2::Compression;
use flate2::read::{ZlibDecoder, ZlibEncoder};
use perfschema_server::{Limits, Listener};
use std::io::{Read, Write};
use std::time::Duration;

const COMPRESS: u32 = 1 << 5;

/// A client whose packets are in frames.
struct Compressed {
    client: Client,
    number: u8,
    /// Frames that came and were compressed.
    compressed: usize,
}

impl Compressed {
    /// The login is not compressed.
    fn connect(listener: &Listener) -> Compressed {
        let client = Client::connect_with(listener, "boss", CAPABILITIES | COMPRESS);
        Compressed { client, number: 0, compressed: 0 }
    }

    /// A command, or the beginning of one, in a frame.
    fn frame(&mut self, plain: &[u8], is_compressed: bool) {
        let mut bytes = Vec::new();
        if is_compressed {
            ZlibEncoder::new(plain, Compression::best()).read_to_end(&mut bytes).unwrap();
        } else {
            bytes.extend_from_slice(plain);
        }
        let plain_length = if is_compressed { plain.len() } else { 0 };
        let ([a, b, c, _], [d, e, f, _]) = ((bytes.len() as u32).to_le_bytes(), (plain_length as u32).to_le_bytes());
        self.client.stream.write_all(&[&[a, b, c, self.number, d, e, f], &bytes[..]].concat()).unwrap();
        self.number = self.number.wrapping_add(1);
    }

    /// Packets of an answer, as many as there are in it.
    fn answer(&mut self, count: usize) -> Vec<Vec<u8>> {
        let mut plain = Vec::new();
        loop {
            let mut header = [0; 7];
            self.client.stream.read_exact(&mut header).unwrap();
            assert_eq!(header[3], self.number, "the number of the frame");
            self.number = self.number.wrapping_add(1);
            let length = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]) as usize;
            let mut bytes = vec![0; length(&header)];
            self.client.stream.read_exact(&mut bytes).unwrap();
            match length(&header[4..]) {
                0 => plain.extend_from_slice(&bytes),
                plain_length => {
                    let before = plain.len();
                    ZlibDecoder::new(&bytes[..]).read_to_end(&mut plain).unwrap();
                    assert_eq!(plain.len() - before, plain_length);
                    assert!(bytes.len() < plain_length);
                    self.compressed += 1;
                }
            }
            if is_whole(&plain) && packets(&plain).len() >= count {
                return packets(&plain);
            }
        }
    }

    /// The rows of a statement with one column.
    fn rows(&mut self, statement: &str, is_compressed: bool, count: usize) -> Vec<String> {
        self.number = 0;
        self.frame(&command(statement), is_compressed);
        let packets = self.answer(count + 4);
        // How many columns, the column, and an end; behind the rows another.
        assert_eq!((&packets[0][..], packets.len()), (&b"\x01"[..], count + 4));
        packets[3..3 + count].iter().map(|row| String::from_utf8(row[1..].to_vec()).unwrap()).collect()
    }

    fn error(&mut self) -> u16 {
        let packet = self.answer(1).remove(0);
        assert_eq!(packet[0], 0xff);
        u16::from_le_bytes([packet[1], packet[2]])
    }
}

fn command(statement: &str) -> Vec<u8> {
    Packet { number: 0, bytes: &[b"\x03", statement.as_bytes()].concat() }.framed()
}

fn is_whole(mut plain: &[u8]) -> bool {
    while let Some((header, rest)) = plain.split_at_checked(4) {
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        let Some((_, rest)) = rest.split_at_checked(length) else { return false };
        plain = rest;
    }
    plain.is_empty()
}

#[test]
fn statements_and_rows_are_compressed() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut client = Compressed::connect(&listener);
    // Too short to be worth it.
    client.frame(b"\x01\0\0\0\x0e", false);
    assert_eq!(client.answer(1)[0][0], 0);
    assert_eq!(client.compressed, 0);
    for is_compressed in [false, true] {
        assert_eq!(client.rows("SELECT 1 AS x", is_compressed, 1), ["1"]);
        let names = client.rows("SELECT name FROM performance_schema.setup_consumers ORDER BY name LIMIT 10", is_compressed, 10);
        assert_eq!((names.len(), names[0].as_str()), (10, "events_stages_current"));
    }
    assert!(client.compressed > 0);
    // More than is gathered before it is sent: several frames.
    let before = client.compressed;
    client.number = 0;
    client.frame(&command("SELECT REPEAT('abc', 200000) UNION ALL SELECT REPEAT('x', 300000)"), true);
    let answer = client.answer(6);
    assert_eq!(answer[3].len(), 4 + 600_000);
    assert!(client.compressed > before + 1);

    // A statement in pieces, as long ones are sent.
    client.number = 0;
    let statement = command(&format!("SELECT LENGTH('{}')", "y".repeat(1000)));
    for (index, piece) in statement.chunks(300).enumerate() {
        client.frame(piece, index % 2 == 0);
    }
    assert_eq!(client.answer(5)[3], b"\x041000");
}

#[test]
fn status_tells_it() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    let status = "SELECT variable_value FROM performance_schema.session_status WHERE variable_name LIKE 'Compression%'";
    let mut client = Compressed::connect(&listener);
    assert_eq!(client.rows(status, true, 3), ["ON", "zlib", "6"].map(|value| value.to_owned()), "in the order of names");
    // Reset, it is as before.
    client.number = 0;
    client.frame(b"\x01\0\0\0\x1f", false);
    client.answer(1);
    assert_eq!(client.rows(status, true, 3), ["ON", "zlib", "6"].map(|value| value.to_owned()));
    // What is counted is what was sent.
    let sent = "SELECT variable_value FROM performance_schema.session_status WHERE variable_name = 'Bytes_sent'";
    let count = |client: &mut Compressed| client.rows(sent, true, 1)[0].parse::<u64>().unwrap();
    let before = count(&mut client);
    client.rows("SELECT REPEAT('x', 200)", true, 1);
    let after = count(&mut client);
    assert!(after > before && after - before < 450, "{before} {after}");

    let mut plain = Client::connect(&listener, "boss", true);
    let values = plain.query(status).concat();
    assert_eq!(values, ["OFF", "uncompressed", "0"].map(|value| Some(value.to_owned())));
}

/// As clients send them that do not wait for each answer. Of the packets' own numbers some count on, and nobody looks at them.
#[test]
fn several_commands_in_one_frame() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut client = Compressed::connect(&listener);
    for is_compressed in [false, true] {
        client.number = 0;
        client.frame(b"\x01\0\0\0\x0e\x01\0\0\x07\x0e", is_compressed);
        assert_eq!(client.answer(1)[0][0], 0);
        client.number = 0;
        assert_eq!(client.answer(1)[0][0], 0);
    }
}

/// A frame that has begun is to end in time, as a packet is; who has begun nothing may take longer.
#[test]
fn a_frame_that_has_begun_ends() {
    let server = server(Limits { read_time: Duration::from_millis(300), ..Limits::default() });
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut idle = Compressed::connect(&listener);
    // A part of the header, the header alone, and what is within it in part.
    for begun in [&b"\x14\0\0\0"[..], b"\x14\0\0\0\0\0\0", b"\x14\0\0\0\0\0\0\x05\0\0"] {
        let mut client = Compressed::connect(&listener);
        client.client.stream.write_all(begun).unwrap();
        assert!(client.client.is_closed(), "{begun:?}");
    }
    idle.frame(b"\x01\0\0\0\x0e", false);
    assert_eq!(idle.answer(1)[0][0], 0);
}

#[test]
fn frames_that_are_none() {
    let server = server(Limits { packet_bytes: 100_000, ..Limits::default() });
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut client = Compressed::connect(&listener);
    client.number = 7;
    client.frame(b"\x01\0\0\0\x0e", false);
    // Its answer has the number that was awaited.
    client.number = 0;
    assert_eq!(client.error(), 1156);
    assert!(client.client.is_closed());

    let mut client = Compressed::connect(&listener);
    client.client.stream.write_all(b"\x05\0\0\0\x64\0\0\x01\0\0\0\x0e").unwrap();
    client.number = 1;
    assert_eq!(client.error(), 1157);
    assert!(client.client.is_closed());

    // Sixteen million bytes in sixteen thousand; they are thrown away as they are made.
    let mut client = Compressed::connect(&listener);
    let length = 16_000_000_usize;
    let [a, b, c, _] = (length as u32).to_le_bytes();
    let mut packet = vec![a, b, c, 0];
    packet.resize(4 + length, b'x');
    client.frame(&packet, true);
    assert_eq!(client.error(), 1153);
    assert!(client.client.is_closed());
}
