//! `perfschema serve` and `perfschema account`, as their users start them; ci/clients has the clients.
#![cfg(all(feature = "instrument", target_os = "linux"))]

mod common;
#[path = "common/terminal.rs"]
mod terminal;

use common::{Demo, PROGRAM, perfschema, until, until_it_shares};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use terminal::Terminal;

fn account(args: &[&str], password: &str) -> (bool, String, String) {
    let mut command = Command::new(PROGRAM);
    command.arg("account").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program was built");
    // Who refuses the arguments has ended without reading.
    let _ = child.stdin.take().expect("piped").write_all(password.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[test]
fn accounts_are_lines() {
    let (success, line, err) = account(&["grafana", "reader", "--native"], "correct horse\n");
    assert!(success, "{err}");
    // SHA256(SHA256("correct horse")), SHA1(SHA1("correct horse")), as Python's hashlib has them.
    assert_eq!(
        line,
        "grafana reader caching_sha2_password:bf7ffba958c798f80e3cf8ebea1cbc781495cadb8880a7f2bbc73d530712b52d mysql_native_password:*0e8f21e4240f5ad5a07d088f9c93890d13d78a4e\n"
    );
    let (success, out, err) = account(&["grafana", "reader"], "\n");
    assert_eq!((success, out.as_str(), err.as_str()), (false, "", "perfschema: the password is empty\n"));
    // Before a password is asked for.
    let (success, _, err) = account(&["a b", "reader"], "");
    assert!(!success && err.contains("'a b' for '<NAME>': a name has 1 to 32 characters, without spaces and #\n"), "{err}");
    assert!(!account(&["grafana", "root"], "x\n").0);
}

/// Who has it open before it becomes private reads what is written to it later.
#[test]
fn the_example_of_an_account_makes_a_file_that_is_private_at_once() {
    let (_, help, _) = perfschema(&["account", "--help"]);
    let example = help.lines().skip_while(|line| *line != "Example:").nth(1).expect("there is one").trim();
    let folder = std::env::temp_dir().join(format!("perfschema-example-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("it can be made");
    let mut shell = Command::new("sh");
    // As nearly everybody has it.
    shell.args(["-c", &format!("umask 022; {}", example.replace("perfschema", PROGRAM))]).current_dir(&folder);
    let mut shell = shell.stdin(Stdio::piped()).spawn().expect("every Unix has it");
    let mode = || std::fs::metadata(folder.join("accounts")).map(|file| file.permissions().mode() & 0o777);
    until("there is a file", || mode().is_ok());
    // It waits for the password.
    let early = mode().expect("it is there");
    shell.stdin.take().expect("piped").write_all(b"correct horse\n").expect("it reads");
    assert!(shell.wait().expect("it ends").success());
    let (late, text) = (mode().expect("it is there"), std::fs::read_to_string(folder.join("accounts")));
    std::fs::remove_dir_all(folder).expect("it is there");
    assert!(text.expect("it is there").starts_with("grafana reader caching_sha2_password:"));
    assert_eq!([early, late], [0o600; 2], "{early:o}");
}

/// It is not shown, and whoever gives up has a terminal that shows again what is typed.
#[test]
fn a_password_that_is_typed() {
    // Where the standard error goes elsewhere, there is no question; the answer is read all the same.
    let silent = format!("exec {PROGRAM} account grafana reader 2> /dev/null");
    for (program, arguments) in [(PROGRAM, &["account", "grafana", "reader"][..]), ("sh", &["-c", &silent])] {
        let mut terminal = Terminal::start(program, arguments, &[], (24, 200));
        until("it does not show what is typed", || !terminal.is_cooked());
        for _ in 0..2 {
            terminal.press("correct horse\r");
        }
        terminal.until("the line", |screen| screen.contains("caching_sha2_password:bf7ffba958c798f8"));
        assert!(!terminal.screen().contains("horse"), "{}", terminal.screen());
        assert!(terminal.ended().success());
        terminal.is_as_before();
    }
    let mut terminal = Terminal::start(PROGRAM, &["account", "grafana", "reader"], &[], (24, 80));
    terminal.until("it asks", |screen| screen.contains("Password: "));
    until("it does not show what is typed", || !terminal.is_cooked());
    terminal.press("corr\u{3}");
    assert_eq!(terminal.ended().signal(), Some(2));
    terminal.is_as_before();

    let mut terminal = Terminal::start(PROGRAM, &["account", "grafana", "reader"], &[], (24, 80));
    for (question, answer) in [("Password: ", "correct horse\r"), ("The same again: ", "correct house\r")] {
        terminal.until("it asks", |screen| screen.contains(question));
        terminal.press(answer);
    }
    assert_eq!(terminal.ended().code(), Some(1));
    terminal.until("why", |screen| screen.contains("perfschema: the two passwords differ"));
    terminal.is_as_before();
}

/// Who stops the program has a terminal that shows what is typed, and is asked again on coming back.
#[test]
fn a_password_that_is_typed_later() {
    let mut terminal = Terminal::start(PROGRAM, &["account", "grafana", "reader"], &[], (24, 200));
    let is_stopped = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", terminal.pid())).expect("it is there");
        stat.contains(") T ")
    };
    for questions in 1..4 {
        terminal.until("it asks", |screen| screen.matches("Password: ").count() == questions);
        assert!(!terminal.is_cooked());
        if questions < 3 {
            terminal.press("corr\u{1a}");
            until("it is stopped", is_stopped);
            assert!(terminal.is_cooked());
            Command::new("kill").args(["-CONT", &terminal.pid().to_string()]).status().expect("there is kill");
        }
    }
    terminal.press("correct horse\r");
    terminal.until("it asks again", |screen| screen.contains("The same again: "));
    terminal.press("correct horse\r");
    terminal.until("the line", |screen| screen.contains("caching_sha2_password:bf7ffba958c798f8"));
    assert!(terminal.ended().success());
    terminal.is_as_before();
}

fn file(name: &str, text: &str, mode: u32) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("its owner");
    path
}

#[test]
fn what_cannot_be_served_is_said() {
    let fails = |accounts: &Path, args: &[&str], expected: &str| {
        let accounts = accounts.to_str().expect("UTF-8");
        let (success, out, err) = perfschema(&[&["serve", "no-such-program", "--accounts", accounts], args].concat());
        assert!(!success && out.is_empty() && err.contains(expected), "{args:?}: {out}{err}");
    };
    let good = file("serve-good", "a reader no-password\n", 0o600);
    fails(&good, &[], "required arguments were not provided");
    fails(&good, &["--mysql", "localhost"], "invalid value 'localhost'");
    fails(&good, &["--mysql", "127.0.0.1:0"], "no program no-such-program shares its tables");
    fails(&good, &["--mysql", "127.0.0.1:0", "--idle", "0"], "invalid value '0' for '--idle <SECONDS>'");
    fails(&good, &["--mysql", "127.0.0.1:0", "--connections", "0"], "invalid value '0' for '--connections <NUMBER>'");
    // What would be of no consequence.
    for limit in [["--idle", "1"], ["--connections", "1"], ["--timeout", "1"]] {
        fails(&good, &[&["--prometheus", "127.0.0.1:0"], &limit[..]].concat(), "<--mysql <ADDRESS>|--socket <PATH>>");
    }
    fails(&good, &["--socket", "/no/such", "--beyond-loopback"], "<--mysql <ADDRESS>|--prometheus <ADDRESS>>");
    let open = file("serve-open", "a reader no-password\n", 0o640);
    fails(&open, &["--mysql", "127.0.0.1:0"], "others than its owner may read it: chmod 600");
    let wrong = file("serve-wrong", "\na reader\n", 0o600);
    fails(&wrong, &["--mysql", "127.0.0.1:0"], "serve-wrong: line 2: it says nothing about a password");
    fails(Path::new("/"), &["--mysql", "127.0.0.1:0"], "/: is a directory");
    fails(
        Path::new("/no/such/file"),
        &["--mysql", "127.0.0.1:0"],
        "/no/such/file: No such file or directory (os error 2); `perfschema account` prints its lines",
    );
}

#[test]
fn metrics_are_encrypted_where_there_is_a_certificate() {
    let demo = Demo::start();
    until_it_shares(&demo.pid());
    let accounts = file("serve-metrics", &account(&["scraper", "reader"], "secret\n").1, 0o600);
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let certificate = file("serve-metrics.crt", &made.cert.pem(), 0o644);
    let key = file("serve-metrics.key", &made.signing_key.serialize_pem(), 0o600);
    let place = |more: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command.args(["serve", &demo.pid(), "--prometheus", "127.0.0.1:0", "--accounts"]).arg(&accounts).args(more);
        // Ended like a demo.
        let mut server = Demo(command.stderr(Stdio::piped()).spawn().expect("the program was built"));
        let mut line = String::new();
        BufReader::new(server.0.stderr.take().expect("piped")).read_line(&mut line).expect("UTF-8");
        line
    };
    let check = |line: String, expected: &str| assert!(line.starts_with(expected), "{line}");
    check(place(&[]), "perfschema: metrics at http://127.0.0.1:");
    let [certificate, key] = [&certificate, &key].map(|path| path.to_str().expect("UTF-8"));
    check(place(&["--tls-certificate", certificate, "--tls-key", key]), "perfschema: metrics at https://127.0.0.1:");
    // Other addresses may be beyond; this one is not.
    check(place(&["--beyond-loopback"]), "perfschema: metrics at http://127.0.0.1:");
    // Nothing is said to listen where something cannot.
    let taken = TcpListener::bind("127.0.0.1:0").and_then(|listener| Ok((listener.local_addr()?.to_string(), listener)));
    let (taken, _listener) = taken.expect("a free port");
    let (pid, accounts) = (demo.pid(), accounts.to_str().expect("UTF-8"));
    for (more, expected) in [
        (
            &["--mysql", "127.0.0.1:0", "--prometheus", "0.0.0.0:0", "--beyond-loopback"][..],
            "perfschema: --prometheus beyond loopback needs --tls-certificate and --tls-key\n",
        ),
        (
            &["--mysql", &taken, "--prometheus", "127.0.0.1:0"],
            &format!("perfschema: {taken}: Address already in use (os error 98)\n"),
        ),
    ] {
        let (success, _, err) = perfschema(&[&["serve", &pid, "--accounts", accounts], more].concat());
        assert_eq!((success, err.as_str()), (false, expected));
    }
}

/// A packet of MySQL's protocol, without its number.
fn packet(stream: &mut UnixStream) -> Vec<u8> {
    let mut header = [0; 4];
    stream.read_exact(&mut header).expect("a packet");
    let mut packet = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
    stream.read_exact(&mut packet).expect("all of it");
    packet
}

fn send(stream: &mut UnixStream, number: u8, packet: &[u8]) {
    let length = (packet.len() as u32).to_le_bytes();
    stream.write_all(&[&[length[0], length[1], length[2], number], packet].concat()).expect("it reads");
}

/// Who waits for an answer is told that there will be none.
#[test]
fn statements_that_run_are_interrupted_when_it_ends() {
    let demo = Demo::start();
    until_it_shares(&demo.pid());
    let accounts = file("serve-ends", "boss controller no-password\n", 0o600);
    let socket = Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve-ends.socket");
    let mut command = Command::new(PROGRAM);
    command.args(["serve", &demo.pid(), "--accounts"]).arg(&accounts).arg("--socket").arg(&socket);
    let mut server = Demo(command.spawn().expect("the program was built"));
    let connect = || {
        let mut stream = UnixStream::connect(&socket).ok()?;
        packet(&mut stream);
        // PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH.
        let login = [&(1_u32 << 9 | 1 << 15 | 1 << 19).to_le_bytes()[..], &[0; 28], b"boss\0\0caching_sha2_password\0"].concat();
        send(&mut stream, 1, &login);
        (packet(&mut stream)[0] == 0).then_some(stream)
    };
    let mut client = None;
    until("it listens", || {
        client = connect();
        client.is_some()
    });
    let (mut client, mut other) = (client.expect("connected"), connect().expect("connected"));
    // As many rows as they are from the start, and more than anybody waits for.
    let table = "performance_schema.global_variables";
    let tables: Vec<String> = ('a'..='h').map(|alias| format!("{table} {alias}")).collect();
    send(&mut client, 0, format!("\x03SELECT COUNT(*) FROM {}", tables.join(", ")).as_bytes());
    until("it runs", || {
        // What is asked is seen beside it.
        send(&mut other, 0, b"\x03SELECT GROUP_CONCAT(INFO) FROM information_schema.PROCESSLIST WHERE INFO LIKE '%global%'");
        let packets: Vec<Vec<u8>> = (0..5).map(|_| packet(&mut other)).collect();
        packets[3].windows(5).any(|part| part == b"COUNT")
    });
    server.signal("-TERM");
    let answer = packet(&mut client);
    assert_eq!(answer[..3], [&[0xff][..], &1317_u16.to_le_bytes()].concat(), "{}", String::from_utf8_lossy(&answer));
    assert!(server.0.wait().expect("it ends").success());
}

/// As `nohup` has it.
#[test]
fn sighup_that_is_ignored_ends_nothing() {
    let demo = Demo::start();
    until_it_shares(&demo.pid());
    let accounts = file("serve-nohup", "boss controller no-password\n", 0o600);
    let socket = Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve-nohup.socket");
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$@\"", "sh", PROGRAM, "serve", &demo.pid(), "--accounts"]);
    let mut server = Demo(command.arg(&accounts).arg("--socket").arg(&socket).spawn().expect("there is sh"));
    // Where it is not ignored it ends at the first, in good order.
    let answers = || UnixStream::connect(&socket).map(|mut stream| packet(&mut stream));
    until("it listens", || answers().is_ok());
    server.signal("-HUP");
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert!(answers().is_ok() && server.0.try_wait().is_ok_and(|ended| ended.is_none()));
    server.signal("-TERM");
    assert!(server.0.wait().expect("it ends").success());
}
