//! A client that says exactly what a test wants it to say.
#![allow(missing_docs, reason = "a test's own helpers")]
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(unreachable_pub, reason = "a test's own helpers")]
#![allow(missing_debug_implementations, reason = "a test's own helpers")]

use perfschema_server::{Accounts, Limits, Listener, Server};
use perfschema_sql::Database;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

pub const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);
/// PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH.
pub const CAPABILITIES: u32 = 1 << 9 | 1 << 15 | 1 << 19;
pub const FOUND: u32 = 1 << 1;
pub const MULTI_STATEMENTS: u32 = 1 << 16;
const DEPRECATE_EOF: u32 = 1 << 24;

pub fn accounts() -> Accounts {
    "boss controller no-password\nopen reader no-password".parse().expect("lines of accounts")
}

/// This process, which starts recording once.
pub fn process() -> &'static perfschema::Process {
    static PROCESS: LazyLock<&perfschema::Process> = LazyLock::new(|| perfschema::start().expect("there is room for a region"));
    *PROCESS
}

pub fn server(limits: Limits) -> Server {
    Server::with_limits(Database::new(process()), accounts(), limits).expect("a session")
}

#[track_caller]
pub fn until(mut is_true: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_true() {
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub struct Packet<'a> {
    pub number: u8,
    pub bytes: &'a [u8],
}

impl Packet<'_> {
    pub fn framed(&self) -> Vec<u8> {
        let length = (self.bytes.len() as u32).to_le_bytes();
        [&[length[0], length[1], length[2], self.number], self.bytes].concat()
    }
}

pub fn packets(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    while let Some((header, rest)) = bytes.split_at_checked(4) {
        let (packet, rest) = rest.split_at(u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize);
        packets.push(packet.to_vec());
        bytes = rest;
    }
    assert!(bytes.is_empty(), "{bytes:?}");
    packets
}

/// Without a password.
pub fn login(user: &str, capabilities: u32) -> Vec<u8> {
    let mut packet = capabilities.to_le_bytes().to_vec();
    packet.extend_from_slice(&[0, 0, 0, 1, 255]);
    packet.extend_from_slice(&[0; 23]);
    packet.extend_from_slice(user.as_bytes());
    packet.extend_from_slice(b"\0\0caching_sha2_password\0");
    packet
}

pub struct Client {
    pub stream: TcpStream,
    pub number: u8,
    pub id: u64,
    /// Bytes of packets.
    pub has_sent: usize,
    pub has_received: usize,
    deprecate_eof: bool,
}

impl Client {
    pub fn open(listener: &Listener) -> Client {
        let stream = TcpStream::connect(listener.address().expect("TCP")).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time");
        Client { stream, number: 0, id: 0, has_sent: 0, has_received: 0, deprecate_eof: false }
    }

    pub fn connect(listener: &Listener, user: &str, deprecate_eof: bool) -> Client {
        Client::connect_with(listener, user, CAPABILITIES | if deprecate_eof { DEPRECATE_EOF } else { 0 })
    }

    pub fn connect_with(listener: &Listener, user: &str, capabilities: u32) -> Client {
        let mut client = Client::open(listener);
        let greeting = client.read();
        let after_version = 2 + greeting[1..].iter().position(|&byte| byte == 0).expect("it ends");
        client.id = u32::from_le_bytes(greeting[after_version..after_version + 4].try_into().expect("four")).into();
        client.deprecate_eof = capabilities & DEPRECATE_EOF != 0;
        client.write(&login(user, capabilities));
        let answer = client.read();
        assert_eq!(answer[0], 0, "{}", String::from_utf8_lossy(&answer));
        client
    }

    /// The next packet, which has the next number.
    #[track_caller]
    pub fn read(&mut self) -> Vec<u8> {
        let mut header = [0; 4];
        self.stream.read_exact(&mut header).expect("a packet");
        assert_eq!(header[3], self.number, "the number of the packet");
        self.number = self.number.wrapping_add(1);
        let mut packet = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
        self.stream.read_exact(&mut packet).expect("all of it");
        self.has_received += header.len() + packet.len();
        packet
    }

    pub fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(&Packet { number: self.number, bytes }.framed()).expect("it reads");
        self.number = self.number.wrapping_add(1);
        self.has_sent += 4 + bytes.len();
    }

    #[track_caller]
    pub fn skip(&mut self, packets: usize) {
        for _ in 0..packets {
            self.read();
        }
    }

    /// A command without an answer.
    pub fn tell(&mut self, command: &[u8]) {
        self.number = 0;
        self.write(command);
    }

    /// A command, and the first packet of its answer.
    #[track_caller]
    pub fn send(&mut self, command: &[u8]) -> Vec<u8> {
        self.tell(command);
        self.read()
    }

    /// A command that is refused, and with which number.
    #[track_caller]
    pub fn fails(&mut self, command: &[u8]) -> u16 {
        self.tell(command);
        self.error()
    }

    #[track_caller]
    pub fn error(&mut self) -> u16 {
        let packet = self.read();
        assert_eq!((packet[0], packet.get(3)), (0xff, Some(&b'#')), "{}", String::from_utf8_lossy(&packet));
        u16::from_le_bytes([packet[1], packet[2]])
    }

    #[track_caller]
    pub fn query(&mut self, statement: &str) -> Vec<Vec<Option<String>>> {
        let first = self.send(&[b"\x03", statement.as_bytes()].concat());
        assert_eq!(first.len(), 1, "{}", String::from_utf8_lossy(&first));
        let columns = usize::from(first[0]);
        self.skip(columns + usize::from(!self.deprecate_eof));
        let mut rows = Vec::new();
        loop {
            let packet = self.read();
            if packet[0] == 0xfe && packet.len() < 9 {
                return rows;
            }
            let mut rest = packet.as_slice();
            let mut row = Vec::new();
            while let Some((&length, after)) = rest.split_first() {
                let length = if length == 0xfb { None } else { Some(usize::from(length)) };
                row.push(length.map(|length| String::from_utf8(after[..length].to_vec()).expect("UTF-8")));
                rest = &after[length.unwrap_or(0)..];
            }
            assert_eq!(row.len(), columns);
            rows.push(row);
        }
    }

    /// Whether the server ends the connection, in time.
    pub fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}
