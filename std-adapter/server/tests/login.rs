//! How a client says who it is, and proves it.

mod common;

use common::{Client, Packet, server};
use perfschema_server::{Limits, Server, account_line};
use perfschema_sql::{Database, Right};
use std::io::{Cursor, Read, Write};
use std::time::Duration;

#[test]
fn logins_that_are_cut_or_wrong() {
    let server = server(Limits::default());
    let login = common::login("boss", common::CAPABILITIES);
    let framed = |bytes: &[u8]| Packet { number: 1, bytes }.framed();
    // Every beginning of the bytes, and every beginning of the packet in a whole frame.
    for end in 0..login.len() {
        assert_eq!(converse(&server, framed(&login)[..end].to_vec()).len(), 1, "only the greeting: {end}");
        let answers = converse(&server, framed(&login[..end]));
        let last = answers.last().unwrap();
        assert!(last[0] == 0xff || last[0] == 0xfe || last[0] == 0, "{end}: {last:?}");
    }
    for user in ["nobody", "BOSS", "", "boss'--"] {
        let answers = converse(&server, framed(&common::login(user, common::CAPABILITIES)));
        assert!(answers[1].starts_with(b"\xff\x15\x04#28000Access denied for user '"), "{user}: {answers:?}");
    }
    // An answer where there is no password.
    let name_ends = 32 + b"boss\0".len();
    let answered = [&login[..name_ends], b"\x03abc", &login[name_ends + 1..]].concat();
    assert!(converse(&server, framed(&answered))[1].starts_with(b"\xff\x15\x04#28000Access denied for user 'boss'"));
    // A client from before there were plugins, which has one way to prove a password, and cannot be asked for another.
    let without_plugins = common::CAPABILITIES & !(1 << 19);
    let answers = converse(&server, framed(&common::login("open", without_plugins)));
    assert_eq!(answers[1][0], 0, "{answers:?}");
    let native = account_line("native", Right::Read, "x", true).unwrap();
    for (line, expected) in
        [(native.as_str(), b"\xff\x15\x04#28000"), (native.split(" mysql").next().unwrap(), b"\xff\xe3\x04#08004")]
    {
        let with_password = Server::new(Database::new(common::process()), line.parse().unwrap()).unwrap();
        assert!(converse(&with_password, framed(&common::login("native", without_plugins)))[1].starts_with(expected), "{line}");
    }
    // The places are counted where they are taken, too.
    let full = common::server(Limits { connections: 0, ..Limits::default() });
    let answers = converse(&full, framed(&common::login("open", common::CAPABILITIES)));
    assert!(answers[1].starts_with(b"\xff\x10\x04"), "{answers:?}");
    let old = common::login("boss", common::CAPABILITIES & !(1 << 9));
    assert!(converse(&server, framed(&old))[1].starts_with(b"\xff\x13\x04#08S01Bad handshake"));
    assert_eq!(server.connections(), 0);
}

/// What a client is sent whose bytes all come at once.
fn converse(server: &perfschema_server::Server, bytes: Vec<u8>) -> Vec<Vec<u8>> {
    struct Both(Cursor<Vec<u8>>, Vec<u8>);
    impl Read for Both {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.0.read(buffer)
        }
    }
    impl Write for Both {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.1.write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut both = Both(Cursor::new(bytes), Vec::new());
    server.converse(&mut both, "localhost");
    common::packets(&both.1)
}

/// An account that has the older way alone is asked for that, also of a client that begins with the other.
#[test]
fn who_knows_only_the_older_way() {
    let line = account_line("old", Right::Read, "x", true).unwrap();
    let native: String = line.split(' ').filter(|word| !word.starts_with("caching_sha2")).collect::<Vec<_>>().join(" ");
    let server = Server::new(Database::new(common::process()), native.parse().unwrap()).unwrap();
    let listener = server.listen_beyond_loopback(common::LOOPBACK).expect("it has a password");
    let mut client = Client::open(&listener);
    client.read();
    client.write(&common::login("old", common::CAPABILITIES));
    let switch = client.read();
    assert!(switch.starts_with(b"\xfemysql_native_password\0"), "{switch:?}");
    client.write(&[7; 20]);
    assert_eq!(client.error(), 1045);
}

/// A login with an answer.
fn login(user: &str, answer: &[u8], plugin: &str) -> Vec<u8> {
    let empty = common::login(user, common::CAPABILITIES);
    let name_ends = 32 + user.len() + 1;
    [&empty[..name_ends], &[answer.len() as u8], answer, plugin.as_bytes(), b"\0"].concat()
}

/// What the server has chosen for this login.
fn nonce(greeting: &[u8]) -> Vec<u8> {
    let id = 2 + greeting[1..].iter().position(|&byte| byte == 0).expect("it ends");
    [&greeting[id + 4..id + 12], &greeting[id + 31..id + 43]].concat()
}

/// As clients prove a password that is `secret`: a proof by caching_sha2_password is said to be enough, of the others nothing is said.
#[test]
fn a_password_is_proven() {
    use sha1::Sha1;
    use sha2::{Digest, Sha256};
    let covered = |once: &[u8], cover: &[u8]| once.iter().zip(cover).map(|(a, b)| a ^ b).collect::<Vec<u8>>();
    let line = account_line("boss", Right::Control, "secret", true).unwrap();
    let server = Server::new(Database::new(common::process()), line.parse().unwrap()).unwrap();
    let listener = server.listen(common::LOOPBACK).unwrap();
    for (way, is_told) in [("caching_sha2_password", true), ("nonce first", false), ("mysql_native_password", false)] {
        let mut client = Client::open(&listener);
        let nonce = nonce(&client.read());
        let once = Sha256::digest(b"secret");
        let twice = Sha256::digest(once);
        let answer = match way {
            "caching_sha2_password" => covered(&once, &Sha256::new().chain_update(twice).chain_update(&nonce).finalize()),
            "nonce first" => covered(&once, &Sha256::new().chain_update(&nonce).chain_update(twice).finalize()),
            _ => {
                let once = Sha1::digest(b"secret");
                covered(&once, &Sha1::new().chain_update(&nonce).chain_update(Sha1::digest(once)).finalize())
            }
        };
        let plugin = if way == "nonce first" { "caching_sha2_password" } else { way };
        client.write(&login("boss", &answer, plugin));
        if is_told {
            assert_eq!(client.read(), [1, 3]);
        }
        assert_eq!(client.read()[0], 0, "{way}");
        assert_eq!(client.query("SELECT CURRENT_USER()"), [[Some("boss@localhost".to_owned())]]);
    }
}

/// By mysql_native_password some clients give no answer until they are asked for one.
#[test]
fn who_waits_to_be_asked_is() {
    let line = account_line("boss", Right::Control, "secret", true).unwrap();
    let server = Server::new(Database::new(common::process()), line.parse().unwrap()).unwrap();
    let listener = server.listen(common::LOOPBACK).unwrap();
    let first = |answer: &[u8], plugin: &str| {
        let mut client = Client::open(&listener);
        client.read();
        client.write(&login("boss", answer, plugin));
        client.read()
    };
    let switch = first(b"", "mysql_native_password");
    assert!(switch.starts_with(b"\xfecaching_sha2_password\0") && switch.ends_with(b"\0"), "{switch:?}");
    assert!(first(b"", "another").starts_with(b"\xfecaching_sha2_password\0"));
    for (answer, plugin, using) in [
        (&[7; 20][..], "mysql_native_password", "YES"),
        (&[7; 32], "caching_sha2_password", "YES"),
        (b"", "caching_sha2_password", "NO"),
    ] {
        let denied = format!("\u{15}\u{4}#28000Access denied for user 'boss'@'localhost' (using password: {using})");
        assert_eq!(first(answer, plugin)[1..], *denied.as_bytes(), "{plugin}");
    }
}

/// A client that may be encrypted or not would ask for what there is not.
#[test]
fn what_is_not_there_is_not_offered() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    let greeting = Client::open(&listener).read();
    let id = 2 + greeting[1..].iter().position(|&byte| byte == 0).expect("it ends");
    let capabilities = u16::from_le_bytes([greeting[id + 13], greeting[id + 14]]);
    assert_eq!((capabilities & 1 << 9 != 0, capabilities & 1 << 11 != 0), (true, false), "PROTOCOL_41 and SSL: {capabilities:x}");
}

/// The whole login, and not each of its bytes.
#[test]
fn a_login_ends_in_time() {
    let server = server(Limits { login_time: Duration::from_secs(1), ..Limits::default() });
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut silent = Client::open(&listener);
    silent.read();
    let mut slow = Client::open(&listener);
    slow.read();
    let login = Packet { number: 1, bytes: &login("open", &[7; 200], "caching_sha2_password") }.framed();
    let said = login.iter().take_while(|byte| {
        std::thread::sleep(Duration::from_millis(50));
        slow.stream.write_all(&[**byte]).is_ok()
    });
    assert!(said.count() < 100);
    assert!(silent.is_closed());
    // Who is in may take longer than that for nothing.
    let mut client = Client::connect(&listener, "open", true);
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(client.query("SELECT 1").len(), 1);
}

/// Who has not logged in yet sends no more than a login has.
#[test]
fn a_login_is_no_longer_than_a_packet_may_be() {
    let refused = b"\xff\x81\x04#08S01Got a packet bigger than";
    for (packet_bytes, most) in [(1000, 1000), (1 << 20, 65536)] {
        let server = server(Limits { packet_bytes, ..Limits::default() });
        let listener = server.listen(common::LOOPBACK).unwrap();
        for (length, is_in) in [(most, true), (most + 1, false)] {
            let mut client = Client::open(&listener);
            client.read();
            let mut login = common::login("open", common::CAPABILITIES);
            login.resize(length, 0);
            client.write(&login);
            let answer = client.read();
            assert!(if is_in { answer[0] == 0 } else { answer.starts_with(refused) }, "{length}: {answer:?}");
        }
    }
}

#[test]
fn another_login_ends_in_time() {
    let server = server(Limits { login_time: Duration::from_secs(1), ..Limits::default() });
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut client = Client::connect(&listener, "boss", true);
    assert_eq!(client.send(b"\x11open\0\0test\0\xff\0caching_sha2_password\0")[0], 0xfe, "asked for another answer");
    assert!(client.is_closed(), "in less time than this client waits");
}
