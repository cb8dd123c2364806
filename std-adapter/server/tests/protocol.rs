//! The protocol as a client sees it that keeps to it, and as one does that does not.

mod common;

use common::{Client, FOUND, server, until};
use perfschema_server::{Limits, ListenError, Server, account_line};
use perfschema_sql::{Database, Right};
use std::io::Read;

#[test]
fn text_and_binary_results() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    for deprecate_eof in [false, true] {
        let mut client = Client::connect(&listener, "boss", deprecate_eof);
        let rows =
            client.query("SELECT name, enabled FROM performance_schema.setup_consumers WHERE name = 'global_instrumentation'");
        assert_eq!(rows, [[Some("global_instrumentation".to_owned()), Some("YES".to_owned())]]);
        assert_eq!(client.query("SELECT 18446744073709551615, NULL"), [[Some("18446744073709551615".to_owned()), None]]);
        let doubles = ["1e300", "-1.5e-300", "0.5"].map(|number| Some(number.to_owned()));
        assert_eq!(client.query("SELECT 1e300, -1.5e-300, 0.5"), [doubles]);
        assert_eq!(client.query("SELECT 1 WHERE 1 = 0"), Vec::<Vec<Option<String>>>::new());
        assert_eq!(client.send(b"\x03SELECT timer_name AS t, 1 FROM performance_schema.setup_timers x"), [2]);
        assert!(
            client
                .read()
                .starts_with(b"\x03def\x12performance_schema\x0csetup_timers\x0csetup_timers\x01t\x0aTIMER_NAME\x0c\xff\0")
        );
        assert!(client.read().starts_with(b"\x03def\0\0\0\x011\0\x0c\x3f\0"), "an expression");
        // Five rows.
        client.skip(if deprecate_eof { 6 } else { 7 });
        // A text as long as it likes: a blob in the client's character set.
        assert_eq!(client.send(b"\x03SELECT sql_text FROM performance_schema.events_statements_history_long LIMIT 0"), [1]);
        let table = b"\x1eevents_statements_history_long";
        let longtext = [
            b"\x03def\x12performance_schema",
            &table[..],
            table,
            b"\x08sql_text\x08SQL_TEXT\x0c\xff\0",
            &[0xff; 4],
            b"\xfc\x10\0",
        ];
        assert!(client.read().starts_with(&longtext.concat()));
        client.skip(if deprecate_eof { 1 } else { 2 });
        assert_eq!(client.fails(b"\x03SELECT nothing"), 1054);
        assert_eq!(client.fails(b"\x03SELECT '\xff'"), 1300);
        assert_eq!(client.fails(b"\x03"), 1065);

        // COM_STMT_PREPARE, with a `?` that is given in pieces and one that is a number.
        let answer = client.send(b"\x16SELECT CONCAT(?, 'c'), ? + 1");
        assert_eq!((answer[0], &answer[5..9]), (0, &[2, 0, 2, 0][..]));
        let id = answer[1..5].to_vec();
        client.skip(if deprecate_eof { 4 } else { 6 });
        let packet = |command: u8, rest: &[u8]| [&[command], id.as_slice(), rest].concat();
        client.tell(&packet(0x18, b"\0\0a"));
        client.tell(&packet(0x18, b"\0\0b"));
        let answer = client.send(&packet(0x17, b"\0\x01\0\0\0\0\x01\xfd\0\x08\x80\xff\xff\xff\xff\0\0\0\0"));
        assert_eq!(answer, [2]);
        client.skip(if deprecate_eof { 2 } else { 3 });
        assert_eq!(client.read(), [&b"\0\0\x03abc"[..], &0x1_0000_0000_u64.to_le_bytes()].concat());
        client.skip(1);
        // The piece was for one execution.
        assert_eq!(client.fails(&packet(0x17, b"\0\x01\0\0\0\0\0")), 1210);
        assert_eq!(client.fails(&packet(0x17, b"\0\x01\0\0\0")), 1210);
        client.tell(&packet(0x18, b"\x02\0x"));
        assert_eq!(client.fails(&packet(0x17, b"\0\x01\0\0\0\x03\0")), 1210);
        assert_eq!(client.send(&packet(0x1a, b""))[0], 0);
        client.tell(&packet(0x19, b""));
        assert_eq!(client.fails(&packet(0x17, b"\0\x01\0\0\0\x03\0")), 1243);
        assert_eq!(client.fails(&packet(0x1a, b"")), 1243);

        // A DATETIME and a DATE of the same day.
        let id = client.send(b"\x16SELECT ? = ?")[1..5].to_vec();
        client.skip(if deprecate_eof { 3 } else { 5 });
        let values = b"\0\x01\0\0\0\0\x01\x0c\0\x0a\0\x07\xe4\x07\x01\x02\0\0\0\x04\xe4\x07\x01\x02";
        assert_eq!(client.send(&[&[0x17], id.as_slice(), values].concat()), [1]);
        client.skip(if deprecate_eof { 1 } else { 2 });
        assert_eq!(client.read(), [&b"\0\0"[..], &1_u64.to_le_bytes()].concat());
        client.skip(1);
    }
}

/// Moments have their types in both protocols; a row of the binary one leaves out what is zero at the end.
#[test]
fn moments_have_their_types() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut client = Client::connect(&listener, "boss", true);
    let moments = "DATE'2026-11-24', TIME'-30:00:00.5', TIMESTAMP'2026-11-24 12:30:00', TIMESTAMP'2026-11-24 00:00:00.000', NULLIF(CURDATE(), CURDATE())";
    // Of each the length, the type, that it is binary, and its digits.
    let ends: [&[u8]; 4] = [
        b"\x0c\x3f\0\x0a\0\0\0\x0a\x80\0\0\0\0",
        b"\x0c\x3f\0\x0c\0\0\0\x0b\x80\0\x01\0\0",
        b"\x0c\x3f\0\x13\0\0\0\x0c\x80\0\0\0\0",
        b"\x0c\x3f\0\x17\0\0\0\x0c\x80\0\x03\0\0",
    ];
    assert_eq!(client.send(format!("\x03SELECT {moments}").as_bytes()), [5]);
    for end in ends {
        let definition = client.read();
        assert!(definition.ends_with(end), "{definition:x?}");
    }
    client.skip(1);
    assert_eq!(client.read(), b"\x0a2026-11-24\x0b-30:00:00.5\x132026-11-24 12:30:00\x172026-11-24 00:00:00.000\xfb");
    client.skip(1);

    let answer = client.send(format!("\x16SELECT {moments}, ? > TIMESTAMP'2026-11-24 12:30:00', TIMEDIFF(?, '1:0')").as_bytes());
    assert_eq!((answer[0], &answer[5..9]), (0, &[7, 0, 2, 0][..]));
    let id = answer[1..5].to_vec();
    client.skip(2);
    for end in ends {
        assert!(client.read().ends_with(end), "described");
    }
    client.skip(3);
    // A DATETIME a microsecond later, and a TIME of a day.
    let parameters = b"\0\x01\0\0\0\0\x01\x0c\0\x0b\0\x0b\xea\x07\x0b\x18\x0c\x1e\0\x01\0\0\0\x08\0\x01\0\0\0\0\0\0";
    assert_eq!(client.send(&[&b"\x17"[..], &id, parameters].concat()), [7]);
    client.skip(7);
    let row =
        b"\0\x40\0\x04\xea\x07\x0b\x18\x0c\x01\x01\0\0\0\x06\0\0\x20\xa1\x07\0\x07\xea\x07\x0b\x18\x0c\x1e\0\x04\xea\x07\x0b\x18\
                \x01\0\0\0\0\0\0\0\x08\0\0\0\0\0\x17\0\0";
    assert_eq!(client.read(), row);
    client.skip(1);

    // A column that is declared so: of the table, NOT NULL, with microseconds.
    let statement = b"\x03SELECT last_seen FROM performance_schema.events_statements_summary_by_digest LIMIT 0";
    assert_eq!(client.send(statement), [1]);
    assert!(client.read().ends_with(b"\x09last_seen\x09LAST_SEEN\x0c\x3f\0\x1a\0\0\0\x07\x81\0\x06\0\0"));
    client.skip(1);
}

/// NEWDECIMAL: its length, its decimals, and in either protocol the text of its digits; a client may send one, too.
#[test]
fn exact_numbers_have_their_type() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut client = Client::connect(&listener, "boss", true);
    let numbers = "1 / 3, 1.50, SUM(18446744073709551615), CAST(-7 AS DECIMAL(65,30)), 0.5 / NULL";
    // Of each the length with a sign and a point, the type, that it is binary, and its decimals.
    let ends: [&[u8]; 4] = [
        b"\x0c\x3f\0\x07\0\0\0\xf6\x80\0\x04\0\0",
        // A literal is never NULL.
        b"\x0c\x3f\0\x05\0\0\0\xf6\x81\0\x02\0\0",
        b"\x0c\x3f\0\x2b\0\0\0\xf6\x80\0\0\0\0",
        b"\x0c\x3f\0\x43\0\0\0\xf6\x80\0\x1e\0\0",
    ];
    assert_eq!(client.send(format!("\x03SELECT {numbers}").as_bytes()), [5]);
    for end in ends {
        let definition = client.read();
        assert!(definition.ends_with(end), "{definition:x?}");
    }
    client.skip(1);
    let row = b"\x060.3333\x041.50\x1418446744073709551615\x21-7.000000000000000000000000000000\xfb";
    assert_eq!(client.read(), row);
    client.skip(1);

    let answer = client.send(format!("\x16SELECT {numbers}, ? + 0.25, ? < 2, ?").as_bytes());
    assert_eq!((answer[0], &answer[5..9]), (0, &[8, 0, 3, 0][..]));
    let id = answer[1..5].to_vec();
    client.skip(3);
    for end in ends {
        assert!(client.read().ends_with(end), "described");
    }
    client.skip(4);
    // 1.50 twice, and what is no number.
    let parameters = b"\0\x01\0\0\0\0\x01\xf6\0\xf6\0\xf6\0\x041.50\x041.50\x041e50";
    assert_eq!(client.send(&[&b"\x17"[..], &id, parameters].concat()), [8]);
    client.skip(5);
    assert!(client.read().ends_with(b"\x0c\x3f\0\x06\0\0\0\xf6\x80\0\x02\0\0"));
    client.skip(2);
    let binary = [b"\0\x40\0", &row[..row.len() - 1], b"\x041.75\x01\0\0\0\0\0\0\0\x041e50"].concat();
    assert_eq!(client.read(), binary);
    client.skip(1);
}

/// What an answer says of transactions: bit 0, one has begun; bit 1, `@@autocommit`.
#[test]
fn the_status_tells_of_transactions() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut client = Client::connect(&listener, "boss", false);
    for (statement, status) in [
        ("BEGIN", 3),
        ("DO 1", 3),
        ("COMMIT", 2),
        ("SET autocommit = 0", 0),
        ("START TRANSACTION READ ONLY", 1),
        ("ROLLBACK", 0),
        ("SET autocommit = 1", 2),
        ("BEGIN", 3),
    ] {
        assert_eq!(client.send(format!("\x03{statement}").as_bytes()), [0, 0, 0, status, 0, 0, 0], "{statement}");
    }
    assert_eq!(client.send(b"\x03SELECT 1"), [1]);
    client.skip(1);
    assert_eq!(client.read(), b"\xfe\0\0\x03\0");
    client.skip(1);
    assert_eq!(client.read(), b"\xfe\0\0\x03\0");
    assert_eq!(client.send(b"\x1f"), [0, 0, 0, 2, 0, 0, 0], "reset");
    // Who shows the warnings is not told that there are some: clients would show them again.
    assert_eq!(client.send(b"\x03DROP TABLE IF EXISTS test.nothing"), [0, 0, 0, 2, 0, 1, 0]);
    assert_eq!(client.send(b"\x03SHOW WARNINGS"), [3]);
    client.skip(3);
    assert_eq!(client.read(), b"\xfe\0\0\x02\0");
    client.skip(2);
}

/// Rows that are fetched by and by.
#[test]
fn cursors() {
    let server = server(Limits { prepared_bytes: 64 * 1024, ..Limits::default() });
    let listener = server.listen(common::LOOPBACK).unwrap();
    for deprecate_eof in [false, true] {
        let mut client = Client::connect(&listener, "boss", deprecate_eof);
        let end = |status: u8| if deprecate_eof { vec![0xfe, 0, 0, status, 0, 0, 0] } else { vec![0xfe, 0, 0, status, 0] };
        let prepare = |client: &mut Client, text: &str, others: usize| {
            let answer = client.send(format!("\x16{text}").as_bytes());
            assert_eq!(answer[0], 0, "{}", String::from_utf8_lossy(&answer));
            client.skip(others);
            answer[1..5].to_vec()
        };
        let (one, two) = (if deprecate_eof { 1 } else { 2 }, if deprecate_eof { 2 } else { 4 });
        let text = "SELECT 1 WHERE ? UNION ALL SELECT 2 UNION ALL SELECT 3";
        let id = prepare(&mut client, text, two);
        let of = |id: &[u8], command: u8, rest: &[u8]| [&[command], id, rest].concat();
        let execute = of(&id, 0x17, b"\x01\x01\0\0\0\0\x01\x08\0\x01\0\0\0\0\0\0\0");
        let fetch = |count: u32| of(&id, 0x1c, &count.to_le_bytes());
        let row = |number: u64| [&[0, 0][..], &number.to_le_bytes()].concat();
        assert_eq!(client.fails(&fetch(1)), 1421);
        for _ in 0..2 {
            assert_eq!(client.send(&execute), [1]);
            client.skip(1);
            assert_eq!(client.read(), end(2 | 64), "the columns' end");
            assert_eq!(client.send(&fetch(2)), row(1));
            assert_eq!([client.read(), client.read()], [row(2), end(2 | 64)]);
            // Another statement meanwhile.
            assert_eq!(client.query("SELECT 7"), [[Some("7".to_owned())]]);
            assert_eq!(client.send(&fetch(1)), row(3));
            assert_eq!(client.read(), end(2 | 64));
            assert_eq!(client.send(&fetch(1)), end(2 | 128));
            assert_eq!(client.fails(&fetch(1)), 1421);
        }
        // Executed anew it begins anew; reset it has none.
        client.send(&execute);
        client.skip(2);
        client.send(&fetch(2));
        client.skip(2);
        client.send(&execute);
        client.skip(2);
        assert_eq!(client.send(&fetch(9)), row(1));
        assert_eq!([client.read(), client.read(), client.read()], [row(2), row(3), end(2 | 128)]);
        client.send(&execute);
        client.skip(2);
        assert_eq!(client.send(&of(&id, 0x1a, b""))[0], 0);
        assert_eq!(client.fails(&fetch(1)), 1421);
        // What has no rows has no cursor, and neither has what there is no room for.
        let other = prepare(&mut client, "DO 1", 0);
        assert_eq!(client.send(&of(&other, 0x17, b"\x01\x01\0\0\0")), [0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(client.fails(&of(&other, 0x1c, b"\x01\0\0\0")), 1421);
        let large = prepare(&mut client, "SELECT REPEAT('x', 70000)", one);
        assert_eq!(client.send(&of(&large, 0x17, b"\x01\x01\0\0\0")), [1]);
        client.skip(one);
        assert_eq!(client.read().len(), 2 + 4 + 70000);
        assert_eq!(client.read(), end(2));
        client.tell(&of(&id, 0x19, b""));
        assert_eq!(client.fails(&fetch(1)), 1243);
    }
}

/// A piece takes room even if it has no bytes.
#[test]
fn pieces_of_parameters_are_counted() {
    let server = server(Limits { prepared_bytes: 64 * 1024, ..Limits::default() });
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut client = Client::connect(&listener, "boss", true);
    let count = 2000_u16;
    let answer = client.send(format!("\x16SELECT 1 IN ({})", vec!["?"; usize::from(count)].join(",")).as_bytes());
    assert_eq!((answer[0], &answer[7..9]), (0, &count.to_le_bytes()[..]));
    let id = answer[1..5].to_vec();
    client.skip(usize::from(count) + 1);
    let packet = |command: u8, rest: &[u8]| [&[command], id.as_slice(), rest].concat();
    let values = [b"\0\x01\0\0\0".as_slice(), &vec![0xff; 250], b"\x01", &b"\xfd\0".repeat(usize::from(count))].concat();
    for (parameters, is_too_much) in [(count, true), (100, false), (count, true)] {
        for parameter in 0..parameters {
            client.tell(&packet(0x18, &parameter.to_le_bytes()));
        }
        if is_too_much {
            assert_eq!(client.fails(&packet(0x17, &values)), 1105);
        } else {
            assert_eq!(client.send(&packet(0x17, &values)), [1]);
            client.skip(3);
        }
    }
    // A statement that is closed, or begun anew, keeps nothing.
    for parameter in 0..500_u16 {
        client.tell(&packet(0x18, &parameter.to_le_bytes()));
    }
    let other = format!("\x16SELECT '{}'", "x".repeat(40_000));
    assert_eq!(client.fails(other.as_bytes()), 1461);
    assert_eq!(client.send(&packet(0x1a, b""))[0], 0);
    assert_eq!(client.send(other.as_bytes())[0], 0);
    client.skip(1);
    assert_eq!(client.fails(other.as_bytes()), 1461);
    client.tell(&packet(0x19, b""));
    client.tell(b"\x19\x02\0\0\0");
    assert_eq!(client.send(other.as_bytes())[0], 0);
}

#[test]
fn every_command() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut client = Client::connect(&listener, "boss", false);
    assert_eq!(client.send(b"\x0e")[0], 0, "ping");
    assert_eq!(client.send(b"\x02performance_schema")[0], 0, "init db");
    assert_eq!(client.fails(b"\x02nothing"), 1049);
    let id = client.id.to_string();
    assert_eq!(client.query("SELECT DATABASE(), CONNECTION_ID()"), [[Some("performance_schema".to_owned()), Some(id)]]);
    assert_eq!([b"\x07\x1f", b"\x07\x04"].map(|refresh| client.send(refresh)[0]), [0, 0], "refresh");
    // As MySQL words it, because programs cut it apart; of the program's own time, as SHOW STATUS has it.
    let uptime = "SELECT CAST(VARIABLE_VALUE AS UNSIGNED) FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Uptime'";
    let before: u64 = client.query(uptime)[0][0].clone().unwrap().parse().unwrap();
    let statistics = client.send(b"\x09");
    let line = String::from_utf8(statistics).unwrap();
    let fields: Vec<(&str, f64)> = line
        .split("  ")
        .map(|field| field.split_once(": ").unwrap())
        .map(|(name, value)| (name, value.parse().unwrap()))
        .collect();
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let expected = "Uptime,Threads,Questions,Slow queries,Opens,Flush tables,Open tables,Queries per second avg";
    assert_eq!(names.join(","), expected);
    assert!((before..=before + 60).contains(&(fields[0].1 as u64)) && fields[1].1 == 1.0 && fields[2].1 >= 2.0, "{line}");
    let column = client.send(b"\x04setup_timers\0");
    assert!(column.starts_with(b"\x03def\x12performance_schema\x0csetup_timers") && column.ends_with(b"\xfb"), "field list");
    client.skip(2);
    assert_eq!(client.fails(b"\x04nothing\0"), 1146);
    assert_eq!(client.fails(b"\x03SELECT 1; SELECT 2"), 1064);
    assert_eq!(client.send(b"\x1b\0\0")[0], 0xfe, "set option");
    assert_eq!(client.query("SELECT 1; "), [[Some("1".to_owned())]]);
    assert_eq!(client.fails(format!("\x03{}", "DO 1;".repeat(50_000)).as_bytes()), 3170, "several, but not any number");
    assert_eq!(client.send(b"\x1b\x01\0")[0], 0xfe);
    client.send(b"\x03SET @kept = 7");
    assert_eq!(client.query("SELECT @kept"), [[Some("7".to_owned())]]);
    let prepared = client.send(b"\x16SELECT 1");
    client.skip(2);
    assert_eq!(client.send(b"\x1f")[0], 0, "reset connection");
    assert_eq!(client.fails(&[b"\x17", &prepared[1..5], b"\0\x01\0\0\0"].concat()), 1243);
    assert_eq!(client.query("SELECT @kept, DATABASE()"), [[None, Some("performance_schema".to_owned())]]);
    let mut process_list = |command: &[u8]| {
        assert_eq!(client.send(command), [8]);
        let columns: Vec<Vec<u8>> = (0..8).map(|_| client.read()).collect();
        client.skip(1 + 1 + 1);
        columns
    };
    assert_eq!(process_list(b"\x0a"), process_list(b"\x03SHOW PROCESSLIST"), "process info");
    for unknown in [0x00, 0x05, 0x06, 0x08, 0x0d, 0x12, 0x20, 0xff] {
        assert_eq!(client.fails(&[unknown]), 1047, "{unknown:#x}");
    }
    for cut in [&b""[..], b"\x04t", b"\x07", b"\x0c\0", b"\x17\0", b"\x18\0", b"\x19", b"\x1a", b"\x1b", b"\x1c\0\0\0\0\0"] {
        assert_eq!(client.fails(cut), 1835, "{cut:?}");
    }
    // Change user: asked for another answer, which is empty here.
    let switch = client.send(b"\x11open\0\0test\0\xff\0caching_sha2_password\0");
    assert!(switch.starts_with(b"\xfecaching_sha2_password\0") && switch.len() == 1 + 22 + 20 + 1);
    client.write(b"");
    assert_eq!(client.read()[0], 0);
    assert_eq!(client.query("SELECT CURRENT_USER(), DATABASE()"), [[Some("open@localhost".to_owned()), Some("test".to_owned())]]);
    assert_eq!(client.fails(b"\x03TRUNCATE performance_schema.events_waits_history"), 1142);
    assert_eq!(client.fails(b"\x07\x04"), 1227);
    // COM_PROCESS_KILL of itself.
    let id = client.id as u32;
    assert_eq!(client.fails(&[&[0x0c][..], &id.to_le_bytes()].concat()), 1317);
    assert!(client.is_closed());
}

/// As MySQL: the killer of itself hears so first.
#[test]
fn who_kills_itself_is_told_so() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut client = Client::connect(&listener, "open", true);
    let kill = |client: &Client, what: &str| format!("\x03KILL {what}{}", client.id).into_bytes();
    let query = kill(&client, "QUERY ");
    assert_eq!(client.fails(&query), 1317);
    assert_eq!(client.query("SELECT 1").len(), 1, "the statement alone");
    // As editors say who they are.
    let commented = format!("\x03/* an editor */ KILL /* that */ QUERY {} -- why", client.id);
    assert_eq!(client.fails(commented.as_bytes()), 1317);
    for what in ["", "CONNECTION "] {
        let mut client = Client::connect(&listener, "open", true);
        let connection = kill(&client, what);
        assert_eq!(client.fails(&connection), 1317, "{what}");
        assert!(client.is_closed());
    }
}

/// Of several statements in one packet none begins any more, however soon each ends.
#[test]
fn what_is_killed_begins_no_statement() {
    const STATEMENTS: usize = 2000;
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut client = Client::connect_with(&listener, "open", common::CAPABILITIES | common::MULTI_STATEMENTS);
    // One call is not interrupted.
    client.tell(format!("\x03{}", "SET @a = CRC32(SPACE(1000000));".repeat(STATEMENTS)).as_bytes());
    assert_eq!(client.read()[0], 0);
    let kill = format!("\x03KILL {}", client.id);
    assert_eq!(Client::connect(&listener, "open", true).send(kill.as_bytes())[0], 0);
    let mut answers = Vec::new();
    // An error of the connection ends them as well.
    let _ = client.stream.read_to_end(&mut answers);
    let answers = common::packets(&answers);
    assert!(answers.len() < STATEMENTS - 1, "all of them ran");
    assert!(answers.iter().all(|answer| answer[0] == 0 || answer.starts_with(&[0xff, 0x25, 0x05])), "{:?}", answers.last());
}

#[test]
fn what_is_changed_is_counted() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    let update = b"\x03UPDATE performance_schema.setup_timers SET timer_name = 'CYCLE' WHERE name = 'wait'";
    assert_eq!(Client::connect(&listener, "boss", true).send(update)[1], 0);
    assert_eq!(Client::connect_with(&listener, "boss", common::CAPABILITIES | FOUND).send(update)[1], 1);
}

/// SHOW STATUS, beside what the client itself has counted.
#[test]
fn what_clients_do_is_counted() {
    let server = server(Limits { connections: 2, ..Limits::default() });
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut client = Client::connect(&listener, "boss", true);
    fn status(client: &mut Client, scope: &str, like: &str) -> Vec<(String, u64)> {
        let rows = client.query(&format!("SHOW {scope} STATUS LIKE '{like}'"));
        let row = |row: Vec<Option<String>>| {
            let [Some(name), Some(value)] = &row[..] else { panic!("{row:?}") };
            (name.clone(), value.parse().unwrap())
        };
        rows.into_iter().map(row).collect()
    }
    let one = |client: &mut Client, name: &str| status(client, "GLOBAL", name)[0].1;
    for scope in ["SESSION", "GLOBAL"] {
        let before = client.has_received as u64;
        let found = status(&mut client, scope, "Bytes\\_%");
        let expected = [("Bytes_received", client.has_sent as u64), ("Bytes_sent", before)];
        assert_eq!(found, expected.map(|(name, bytes)| (name.to_owned(), bytes)), "{scope}");
    }
    // Commands that are no statements.
    let before = one(&mut client, "Questions");
    client.send(b"\x0e");
    client.send(b"\x09");
    let prepared = client.send(b"\x16SELECT 1");
    client.skip(1);
    client.send(&[b"\x17", &prepared[1..5], b"\0\x01\0\0\0"].concat());
    client.skip(3);
    client.tell(&[b"\x19", &prepared[1..5]].concat());
    client.send(b"\x02sys");
    assert_eq!(one(&mut client, "Questions"), before + 3, "the execution, the schema, and this one");
    for (name, count) in [
        ("Com_admin_commands", 1),
        ("Com_change_db", 1),
        ("Com_select", 1),
        ("Com_stmt_close", 1),
        ("Com_stmt_execute", 1),
        ("Com_stmt_prepare", 1),
    ] {
        assert_eq!(status(&mut client, "SESSION", name), [(name.to_owned(), count)]);
    }
    // Who leaves, who is gone, who does not get in.
    let mut leaves = Client::connect(&listener, "open", true);
    assert_eq!(one(&mut client, "Threads_connected"), 2);
    let mut refused = Client::open(&listener);
    refused.read();
    refused.write(&common::login("open", common::CAPABILITIES));
    assert_eq!(refused.error(), 1040);
    leaves.tell(b"\x01");
    until(|| server.connections() == 1);
    drop(Client::connect(&listener, "open", true));
    until(|| one(&mut client, "Aborted_clients") == 1 && server.connections() == 1);
    let mut wrong = Client::open(&listener);
    wrong.read();
    wrong.write(&common::login("nobody", common::CAPABILITIES));
    assert_eq!(wrong.error(), 1045);
    until(|| one(&mut client, "Aborted_connects") == 2);
    for (name, count) in [
        ("Aborted_clients", 1),
        ("Connection_errors_max_connections", 1),
        ("Connections", 5),
        ("Max_used_connections", 3),
        ("Threads_created", 5),
        ("Threads_running", 1),
    ] {
        assert_eq!(one(&mut client, name), count, "{name}");
    }
    client.send(b"\x03FLUSH STATUS");
    assert_eq!(one(&mut client, "Max_used_connections"), 1);
    let port = listener.address().unwrap().port().to_string();
    assert_eq!(client.query("SELECT @@port, @@socket"), [[Some(port), Some(String::new())]]);
}

#[test]
fn where_it_listens() {
    let server = server(Limits::default());
    let everywhere = "0.0.0.0:0".parse().unwrap();
    assert!(matches!(server.listen(everywhere), Err(ListenError::BeyondLoopback(_))));
    assert!(matches!(server.listen_beyond_loopback(everywhere), Err(ListenError::NoPassword)));

    let listener = server.listen(common::LOOPBACK).unwrap();
    let address = listener.address().unwrap();
    let mut client = Client::connect(&listener, "boss", true);
    drop(listener);
    assert!(std::net::TcpStream::connect(address).is_err());
    assert_eq!(client.query("SELECT 1").len(), 1, "who is in, stays");
    server.stop();
    assert!(client.is_closed());
}

/// Whoever comes by IPv4 to an address of IPv6 comes from where it comes from.
#[test]
fn hosts() {
    let accounts = account_line("a", Right::Read, "x", false).unwrap().parse().unwrap();
    let server = Server::new(Database::new(common::process()), accounts).unwrap();
    // A machine may have no IPv6.
    let Ok(listener) = server.listen_beyond_loopback("[::]:0".parse().unwrap()) else { return };
    for address in ["127.0.0.1", "::1"] {
        let to = (address.parse::<std::net::IpAddr>().unwrap(), listener.address().unwrap().port());
        let stream = std::net::TcpStream::connect(to).unwrap();
        let mut client = Client::open(&listener);
        client.stream = stream;
        client.read();
        client.write(&common::login("nobody", common::CAPABILITIES));
        let answer = String::from_utf8_lossy(&client.read()).into_owned();
        assert!(answer.contains("Access denied for user 'nobody'@'localhost'"), "{address}: {answer}");
    }
}

#[cfg(unix)]
#[test]
fn a_socket_of_ones_own() {
    use std::os::unix::fs::PermissionsExt;
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join("server-socket");
    let _ = std::fs::remove_file(&path);
    let server = server(Limits::default());
    let listener = server.listen_unix(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(server.listen_unix(&path).unwrap_err().to_string().ends_with("another server listens there"));
    let mut greeting = [0; 5];
    std::os::unix::net::UnixStream::connect(&path).unwrap().read_exact(&mut greeting).unwrap();
    assert_eq!(greeting[4], 10);
    drop(listener);
    assert!(!path.exists());
    // What a server left that has ended, and what is no socket.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    drop(server.listen_unix(&path).unwrap());
    std::fs::write(&path, "mine").unwrap();
    assert!(server.listen_unix(&path).unwrap_err().to_string().ends_with("it exists, and is no socket"));
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    std::fs::remove_file(&path).unwrap();
}

/// Who listens without accepting what the protocol needs has not ended.
#[cfg(unix)]
#[test]
fn a_socket_of_another_kind_is_not_replaced() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("server-datagrams");
    let _ = std::fs::remove_file(&path);
    let receiver = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    assert!(server(Limits::default()).listen_unix(&path).is_err());
    std::os::unix::net::UnixDatagram::unbound().unwrap().send_to(b"still there", &path).unwrap();
    assert_eq!(receiver.recv(&mut [0; 20]).unwrap(), 11);
    std::fs::remove_file(&path).unwrap();
}

/// Each server ends its own listening, and takes its own file with it, whatever its path leads to by then.
#[cfg(unix)]
#[test]
fn a_socket_of_anothers() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("server-others");
    let _ = std::fs::remove_file(&path);
    let server = server(Limits::default());
    let first = server.listen_unix(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let second = server.listen_unix(&path).unwrap();
    let ended = std::thread::spawn(move || drop(first));
    until(|| ended.is_finished());
    let mut greeting = [0; 5];
    std::os::unix::net::UnixStream::connect(&path).unwrap().read_exact(&mut greeting).unwrap();
    assert_eq!(greeting[4], 10);
    // Nor is what has taken the place of the file removed, or waited for.
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "mine").unwrap();
    let ended = std::thread::spawn(move || drop(second));
    until(|| ended.is_finished());
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    std::fs::remove_file(&path).unwrap();
}

/// A moment is one, and not its text: it becomes a number with all its digits.
#[test]
fn moments_as_parameters() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut client = Client::connect(&listener, "boss", true);
    let id = client.send(b"\x16SELECT CONCAT(? + 0), CONCAT(? + 0), CONCAT(? + 0), CONCAT(? + 0)")[1..5].to_vec();
    client.skip(8);
    // DATE, DATETIME, TIMESTAMP, TIME.
    let types = b"\0\x01\0\0\0\0\x01\x0a\0\x0c\0\x07\0\x0b\0";
    let day = b"\x04\xea\x07\x0b\x18";
    let moment = |micros: [u8; 4]| [&b"\x0b\xea\x07\x0b\x18\x0c\x1e\x01"[..], &micros].concat();
    let time = b"\x0c\0\0\0\0\0\x0c\x1e\x02\x01\0\0\0";
    let values = [&day[..], &moment([0x20, 0xa1, 7, 0]), &moment([1, 0, 0, 0]), time].concat();
    assert_eq!(client.send(&[&b"\x17"[..], &id, types, &values].concat()), [4]);
    client.skip(4);
    let row = b"\0\0\x0820261124\x1520261124123001.500000\x1520261124123001.000001\x0d123002.000001";
    assert_eq!(String::from_utf8_lossy(&client.read()), String::from_utf8_lossy(row));
    client.skip(1);
    // What came in pieces is a text, whatever its type.
    let id = client.send(b"\x16SELECT CONCAT(? + 0)")[1..5].to_vec();
    client.skip(2);
    client.tell(&[&b"\x18"[..], &id, b"\0\x002026-11-24 12:30:01"].concat());
    assert_eq!(client.send(&[&b"\x17"[..], &id, b"\0\x01\0\0\0\0\x01\x0c\0"].concat()), [1]);
    client.skip(1);
    assert_eq!(client.read(), b"\0\0\x042026");
    client.skip(1);
}

#[test]
fn options_and_refreshes() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut client = Client::connect(&listener, "boss", false);
    // COM_SET_OPTION
    client.send(b"\x1b\0\0");
    assert_eq!(client.send(b"\x03DO 1; DO 2"), [0, 0, 0, 2 | 8, 0, 0, 0]);
    assert_eq!(client.read(), [0, 0, 0, 2, 0, 0, 0]);
    assert_eq!(client.send(b"\x1b\x01\0")[0], 0xfe);
    assert_eq!(client.fails(b"\x03DO 1; DO 2"), 1064, "and off again");
    let most = "SELECT variable_value FROM performance_schema.global_status WHERE variable_name = 'Max_used_connections'";
    drop(Client::connect(&listener, "open", true));
    until(|| server.connections() == 1);
    for (refresh, expected) in [(b"\x07\xef", "2"), (b"\x07\x10", "1")] {
        assert_eq!(client.send(refresh), [0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(client.query(most), [[Some(expected.to_owned())]], "{refresh:?}");
    }
}

/// What the others do, as whoever may control sees it.
#[test]
fn what_a_client_does_is_listed() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut boss = Client::connect(&listener, "boss", true);
    let mut client = Client::connect(&listener, "open", true);
    client.send(b"\x02performance_schema");
    let host = format!("localhost:{}", client.stream.local_addr().unwrap().port());
    let list =
        format!("SELECT user, host, db, command, state, info FROM information_schema.processlist WHERE id = {}", client.id);
    let row = |command: &str, info: Option<&str>| {
        let first = ["open", &host, "performance_schema", command, ""].map(|text| Some(text.to_owned()));
        [first.as_slice(), &[info.map(str::to_owned)]].concat()
    };
    let sleep = "SELECT SLEEP(600)";
    let id = client.send(format!("\x16{sleep}").as_bytes())[1..5].to_vec();
    client.skip(1);
    for (command, name) in
        [(&[b"\x03", sleep.as_bytes()].concat(), "Query"), (&[&b"\x17"[..], &id, b"\0\x01\0\0\0"].concat(), "Execute")]
    {
        until(|| boss.query(&list) == [row("Sleep", None)]);
        client.tell(command);
        until(|| boss.query(&list) == [row(name, Some(sleep))]);
        assert_eq!(boss.send(format!("\x03KILL QUERY {}", client.id).as_bytes())[0], 0);
        // One that is stopped before it sleeps fails; a sleep that is cut short is a row, 1.
        if client.read()[0] != 0xff {
            client.skip(3);
        }
    }
}

/// Also what had come already, and does not know it yet.
#[test]
fn who_is_killed_begins_no_command() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut client = Client::connect(&listener, "open", true);
    client.tell(b"\x03SELECT SLEEP(600)");
    client.tell(b"\x0e");
    let mut boss = Client::connect(&listener, "boss", true);
    let runs = format!("SELECT command FROM information_schema.processlist WHERE id = {} AND info LIKE '%SLEEP%'", client.id);
    until(|| !boss.query(&runs).is_empty());
    assert_eq!(boss.send(format!("\x03KILL {}", client.id).as_bytes())[0], 0);
    let mut answers = Vec::new();
    let _ = client.stream.read_to_end(&mut answers);
    assert!(common::packets(&answers).iter().all(|answer| answer[0] != 0), "{answers:?}");
}

/// Each has an answer, which says whether another follows; the first that fails is the last.
#[test]
fn several_statements_in_one_packet() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut client = Client::connect_with(&listener, "boss", common::CAPABILITIES | common::MULTI_STATEMENTS);
    let done = |more: u8| [0, 0, 0, 2 | more, 0, 0, 0];
    assert_eq!(client.send(b"\x03DO 1; SELECT 7; DO 2;"), done(8));
    assert_eq!(client.read(), [1]);
    client.skip(1);
    assert_eq!([client.read(), client.read(), client.read()], [&b"\xfe\0\0\x0a\0"[..], b"\x017", b"\xfe\0\0\x0a\0"]);
    assert_eq!(client.read(), done(0));
    assert_eq!(client.send(b"\x03SET @a = 1; SELECT nothing; SET @a = 2"), done(8));
    assert_eq!(client.error(), 1054);
    assert_eq!(client.query("SELECT @a"), [[Some("1".to_owned())]]);
}

/// Who may not control sees and stops what is its own.
#[test]
fn what_a_reader_sees_and_stops() {
    let server = server(Limits::default());
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut boss = Client::connect(&listener, "boss", true);
    let mut reader = Client::connect(&listener, "open", true);
    let mut other = Client::connect(&listener, "open", true);
    let mut unknown = Client::open(&listener);
    unknown.read();
    let list = "SELECT user, command FROM information_schema.processlist ORDER BY id";
    let row = |user: &str, command: &str| [user, command].map(|text| Some(text.to_owned())).to_vec();
    until(|| server.connections() == 4);
    until(|| reader.query(list) == [row("open", "Query"), row("open", "Sleep")]);
    let all = [row("boss", "Query"), row("open", "Sleep"), row("open", "Sleep"), row("unauthenticated user", "Connect")];
    until(|| boss.query(list) == all);
    let kill = |id: u64| format!("\x03KILL {id}").into_bytes();
    assert_eq!(reader.fails(&kill(boss.id)), 1095);
    assert_eq!(reader.fails(&kill(u64::MAX)), 1094);
    let process_kill = [&b"\x0c"[..], &(boss.id as u32).to_le_bytes()].concat();
    assert_eq!(reader.fails(&process_kill), 1095);
    assert_eq!(boss.send(b"\x0e")[0], 0, "it is still there");
    assert_eq!(reader.send(&kill(other.id)), [0, 0, 0, 2, 0, 0, 0]);
    assert!(other.is_closed());
    assert_eq!(boss.send(&kill(reader.id))[0], 0);
    assert!(reader.is_closed());
}

#[cfg(unix)]
#[test]
fn where_its_socket_is() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("server-named");
    let _ = std::fs::remove_file(&path);
    let server = server(Limits::default());
    let _socket = server.listen_unix(&path).unwrap();
    let listener = server.listen(common::LOOPBACK).unwrap();
    let mut client = Client::connect(&listener, "open", true);
    assert_eq!(client.query("SELECT @@socket"), [[Some(path.display().to_string())]]);
}
