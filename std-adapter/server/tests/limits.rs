//! How many clients there may be, and how much and how long each may take.

mod common;

use common::{Client, server, until};
use perfschema_server::Limits;
use std::io::Write;
use std::time::{Duration, Instant};

#[test]
fn limits() {
    let server = server(Limits {
        connections: 3,
        packet_bytes: 1000,
        login_time: Duration::from_millis(500),
        read_time: Duration::from_millis(500),
        idle_time: Duration::from_millis(1500),
        prepared_statements: 2,
        ..Limits::default()
    });
    let listener = server.listen(common::LOOPBACK).unwrap();
    let started = Instant::now();
    // Says nothing; says something now and then.
    let silent = Client::open(&listener);
    let mut slow = Client::open(&listener);
    slow.read();
    while slow.stream.write_all(b"\0").is_ok() && started.elapsed() < Duration::from_secs(100) {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    drop((silent, slow));
    until(|| server.connections() == 0);

    let mut clients: Vec<Client> = (0..3).map(|_| Client::connect(&listener, "open", true)).collect();
    let is_refused = |refused: Vec<u8>| assert!(refused.starts_with(b"\xff\x10\x04#08004Too many connections"), "{refused:?}");
    let mut reader = Client::open(&listener);
    assert_eq!(reader.read()[0], 10, "it is greeted");
    reader.write(&common::login("open", common::CAPABILITIES));
    is_refused(reader.read());
    assert!(reader.is_closed());
    // Who may control comes in all the same, but no second one; and does not become somebody who could not.
    until(|| server.connections() == 3);
    let mut controls = Client::connect(&listener, "boss", true);
    is_refused(Client::open(&listener).read());
    assert_eq!(controls.query("SELECT COUNT(*) FROM information_schema.processlist"), [[Some("4".to_owned())]]);
    // Who is in already, and begins anew, takes no more room.
    assert_eq!(clients[0].send(b"\x1f")[0], 0, "COM_RESET_CONNECTION");
    assert_eq!(controls.send(b"\x11open\0\0test\0\xff\0caching_sha2_password\0")[0], 0xfe, "asked for another answer");
    controls.write(b"");
    is_refused(controls.read());
    drop(controls);
    until(|| server.connections() == 3);
    // Room again, once one has gone.
    clients.pop();
    until(|| server.connections() == 2);
    let mut client = Client::connect(&listener, "boss", true);

    let long = format!("\x03SELECT '{}'", "x".repeat(1000 - 10));
    assert_eq!(long.len(), 1000);
    assert_eq!(client.send(long.as_bytes()), [1], "as long as allowed");
    client.skip(3);
    assert_eq!(client.fails(&[b'\x03'; 1001]), 1153);
    assert!(client.is_closed());
    drop(client);
    until(|| server.connections() == 2);

    let mut client = Client::connect(&listener, "boss", true);
    // The limits have MySQL's names.
    let limits = "SELECT @@max_connections, @@max_allowed_packet, @@connect_timeout, @@wait_timeout, @@max_prepared_stmt_count";
    let expected = ["3", "1000", "1", "2", "2"].map(|limit| Some(limit.to_owned()));
    assert_eq!(client.query(limits), [expected]);
    for _ in 0..2 {
        assert_eq!(client.send(b"\x16SELECT 1")[0], 0);
        client.skip(1);
    }
    assert_eq!(client.fails(b"\x16SELECT 1"), 1461);
    client.tell(b"\x19\x01\0\0\0");
    assert_eq!(client.send(b"\x16SELECT 1")[0], 0);
    client.skip(1);

    // Half a command; a number out of order; no command at all.
    client.stream.write_all(b"\x05\0\0\0\x03SE").unwrap();
    assert!(client.is_closed());
    drop(client);
    until(|| server.connections() == 2);
    let mut client = Client::connect(&listener, "boss", true);
    client.stream.write_all(b"\x01\0\0\x07\x0e").unwrap();
    client.number = 0;
    assert_eq!(client.error(), 1156);
    assert!(client.is_closed());
    let mut idle = clients.pop().unwrap();
    idle.number = 0;
    assert_eq!(idle.error(), 4031);
    assert!(idle.is_closed());
}

/// Whoever was accepted before a stop, also a moment before.
#[test]
fn stop_ends_who_has_just_come() {
    let server = server(Limits { login_time: Duration::from_secs(3600), ..Limits::default() });
    for round in 0..200 {
        let listener = server.listen(common::LOOPBACK).unwrap();
        let mut client = Client::open(&listener);
        std::thread::sleep(Duration::from_micros(round % 30 * 10));
        drop(listener);
        server.stop();
        assert!(client.is_closed(), "round {round}");
    }
}

#[test]
fn a_thousand_clients() {
    let server = server(Limits { connections: 20, ..Limits::default() });
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut there: Vec<Client> = Vec::new();
    let mut refused = 0;
    for _ in 0..1000 {
        let mut client = Client::open(&listener);
        match client.read()[0] {
            10 => {
                client.write(&common::login("open", common::CAPABILITIES));
                match client.read()[0] {
                    0 => there.push(client),
                    _ => refused += 1,
                }
            }
            _ => refused += 1,
        }
    }
    assert_eq!((there.len(), refused), (20, 980));
    drop(there);
    until(|| server.connections() == 0);
    assert_eq!(Client::connect(&listener, "boss", true).query("SELECT 1").len(), 1);
}

/// There is room for two, and one who may control: for those who say who they are.
#[test]
fn who_says_nothing_keeps_nobody_out() {
    let server = server(Limits { connections: 2, ..Limits::default() });
    let listener = server.listen(common::LOOPBACK).unwrap();
    let open = || {
        let mut client = Client::open(&listener);
        assert_eq!(client.read()[0], 10, "it is greeted");
        client
    };
    let [mut first, mut second, mut third] = [(); 3].map(|()| open());
    let mut there = vec![Client::connect(&listener, "boss", true)];
    assert!(first.is_closed());
    // Who is quick enough stays.
    second.write(&common::login("open", common::CAPABILITIES));
    assert_eq!(second.read()[0], 0);
    there.push(second);
    there.push(Client::connect(&listener, "boss", true));
    assert!(third.is_closed());
    assert_eq!(Client::open(&listener).error(), 1040);
    for client in &mut there {
        assert_eq!(client.send(b"\x0e")[0], 0, "ping");
    }
    // A crowd that comes and says nothing.
    there.pop();
    until(|| server.connections() == 2);
    let crowd: Vec<Client> = (0..200).map(|_| open()).collect();
    there.push(Client::connect(&listener, "boss", true));
    until(|| server.connections() == 3);
    drop(crowd);
    assert!(there.iter_mut().all(|client| client.send(b"\x0e")[0] == 0));
}

/// What is sent must be taken before the client can hear what was wrong with it: closed with bytes unread, a connection is reset.
#[test]
fn who_sends_too_much_is_told_so() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    for pieces in [&[9 << 20][..], &[(1 << 24) - 1, 1 << 20], &[(1 << 24) - 1, 0]] {
        let mut client = Client::connect(&listener, "boss", true);
        client.number = 0;
        for length in pieces {
            client.write(&vec![b'\x03'; *length]);
        }
        // The answer's number is the one after that of the last piece.
        assert_eq!(client.error(), 1153);
        assert!(client.is_closed());
    }
}

#[test]
fn a_client_may_ask_for_less_time_for_a_command() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut client = Client::connect(&listener, "boss", true);
    assert_eq!(client.query("SELECT @@net_read_timeout"), [[Some("30".to_owned())]]);
    assert_eq!(client.send(b"\x03SET net_read_timeout = 1")[0], 0);
    client.stream.write_all(b"\x05\0\0\0\x03SE").unwrap();
    assert!(client.is_closed(), "in less time than this client waits");
}
