//! `perfschema shell` at a terminal: lines, completion, Ctrl-C, history; and as a script.
#![cfg(all(feature = "instrument", target_os = "linux"))]

mod common;
#[path = "common/terminal.rs"]
mod terminal;

use common::{Demo, PROGRAM, perfschema, succeeds, until, until_it_shares};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use terminal::Terminal;

/// A folder for the history, removed at the end.
struct State(PathBuf);

impl State {
    fn new(name: &str) -> State {
        let folder = std::env::temp_dir().join(format!("perfschema-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("there is a folder for such");
        State(folder)
    }

    fn shell(&self, demo: &Demo, size: (u16, u16)) -> Terminal {
        let folder = self.0.to_str().expect("UTF-8");
        let terminal = Terminal::start(PROGRAM, &["shell", &demo.pid()], &[("XDG_STATE_HOME", folder)], size);
        terminal.until("the prompt", |screen| screen.trim_end().ends_with("perfschema>"));
        terminal
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn demo() -> Demo {
    let demo = Demo::start();
    until_it_shares(&demo.pid());
    demo
}

/// Without the spaces at the ends of the lines.
fn lines(screen: &str) -> String {
    screen.trim_end().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Types it, and waits for what follows and the next prompt.
#[track_caller]
fn ask(shell: &Terminal, typed: &str, expected: &str) -> String {
    shell.press(typed);
    shell.press("\r");
    shell.until(expected, |screen| screen.contains(expected) && screen.trim_end().ends_with("perfschema>"))
}

#[test]
fn statements_at_a_terminal() {
    let demo = demo();
    let state = State::new("statements");
    let mut shell = state.shell(&demo, (40, 100));
    assert!(shell.screen().starts_with(&format!("perfschema, pid {}, runs.", demo.pid())), "{}", shell.screen());

    let screen = ask(&shell, "SELECT * FROM setup_timers WHERE name = 'wait';", "1 row in set (0.");
    let table = "+------+------------+\n| NAME | TIMER_NAME |\n+------+------------+\n| wait | CYCLE      |\n+------+------------+\n1 row in set (0.";
    assert!(lines(&screen).contains(table), "{screen}");

    // Over several lines, with an open text; \G; an error; nothing.
    shell.press("SELECT 'a\r");
    shell.until("a text is open", |screen| screen.trim_end().ends_with("\n         '>"));
    shell.press("b' AS x\r");
    shell.until("a statement is open", |screen| screen.trim_end().ends_with("\n         ->"));
    let screen = ask(&shell, "\\G", "x: a\\nb");
    assert!(screen.contains("*************************** 1. row ***************************"), "{screen}");
    ask(&shell, "SELECT nothing FROM threads;", "ERROR 1054 (42S22): Unknown column 'nothing' in 'field list'");
    ask(&shell, "SHOW WARNINGS\\G", "Code: 1054");
    assert!(!shell.screen().contains("1 warning"), "those of another statement");
    ask(&shell, "SELECT 1 FROM threads WHERE 1 = 2;", "Empty set (0.");
    ask(&shell, "UPDATE setup_timers SET timer_name = 'CYCLE' WHERE name = 'wait';", "Rows matched: 1  Changed: 0  Warnings: 0");

    // The shell's own commands.
    ask(&shell, "USE sys", "Database changed");
    ask(&shell, "SELECT DATABASE() AS d\\G", "d: sys");
    ask(&shell, "\\u nothing", "ERROR 1049 (42000): Unknown database 'nothing'");
    ask(&shell, "\\s", "Current database:       sys");
    ask(&shell, "help", "Tab completes names");
    ask(&shell, "\\k", "Unknown command '\\k'");
    shell.press("SELECT what I did not mean\r");
    shell.until("it goes on", |screen| screen.trim_end().ends_with("->"));
    ask(&shell, "\\c", "->  \\c".trim_start_matches("->  "));

    shell.press("\\q\r");
    assert!(shell.ended().success());
    shell.until("a word", |screen| screen.trim_end().ends_with("Bye"));
    shell.is_as_before();
}

/// What a process has computed so far, in hundredths of a second.
fn cpu_ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    fields.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// What runs is stopped; the shell goes on. What is typed is forgotten.
#[test]
fn interrupts() {
    let demo = demo();
    let state = State::new("interrupts");
    let mut shell = state.shell(&demo, (24, 80));
    ask(&shell, "SET cte_max_recursion_depth = 4294967295;", "Query OK");
    shell.press("WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n;\r");
    // It runs: the editor has given the terminal back, so that the key is a signal, and the statement computes.
    let before = cpu_ticks(shell.pid());
    until("it runs", || shell.is_cooked() && cpu_ticks(shell.pid()) > before + 30);
    shell.press("\u{3}");
    shell.until("it is stopped", |screen| screen.contains("ERROR 1317 (70100): Query execution was interrupted"));
    shell.until("a prompt", |screen| screen.trim_end().ends_with("perfschema>"));
    shell.press("SELECT 1 FROM\u{3}");
    // What is typed before the next prompt is forgotten, too.
    shell.until("forgotten", |screen| lines(screen).ends_with("SELECT 1 FROM\n^C\nperfschema>"));
    ask(&shell, "SELECT 6 * 7 AS answer\\G", "answer: 42");
    // Rows that are printed already.
    shell.press("SELECT a.COLUMN_NAME FROM information_schema.columns a, information_schema.columns b LIMIT 200000;\r");
    shell.until("they are printed", |screen| screen.matches("\n| ").count() > 10);
    shell.press("\u{3}");
    let screen = shell.until("the next prompt", |screen| screen.trim_end().ends_with("perfschema>"));
    assert!(screen.contains("^C, the rest is not printed"), "{screen}");
    ask(&shell, "SELECT 6 * 7 AS answer\\G", "answer: 42");
    // Ctrl-D
    shell.press("\u{4}");
    assert!(shell.ended().success());
    shell.is_as_before();
}

/// Also one that is ended while a line is edited gives the terminal back.
#[test]
fn a_shell_that_is_ended() {
    let demo = demo();
    let state = State::new("ended");
    for (name, signal) in [("-TERM", 15), ("-HUP", 1)] {
        let mut shell = state.shell(&demo, (24, 80));
        until("it edits lines", || !shell.is_cooked());
        let status = Command::new("kill").args([name, &shell.pid().to_string()]).status();
        assert!(status.expect("there is kill").success());
        assert_eq!(shell.ended().signal(), Some(signal));
        shell.is_as_before();
        shell.until("what is pasted comes as it is", |_| {
            let bytes = shell.bytes();
            let last = |what: &[u8]| bytes.windows(what.len()).rposition(|window| window == what);
            last(b"\x1b[?2004h") < last(b"\x1b[?2004l")
        });
    }
}

#[test]
fn completion_and_history() {
    let demo = demo();
    let state = State::new("history");
    let mut shell = state.shell(&demo, (24, 100));
    // One candidate is put in, of several the common part, and then all are listed.
    shell.press("select TIMER_NAME from setup_t\t");
    shell.until("a table", |screen| screen.trim_end().ends_with("from setup_timers"));
    shell.press(" where timer_n\t= 'CYCLE';\r");
    shell.until("a column", |screen| screen.contains("where TIMER_NAME= 'CYCLE';") && screen.contains("1 row in set"));
    shell.press("select * from events_waits_s\t\t");
    let screen = shell.until("all of them", |screen| screen.contains("events_waits_summary_by_instance"));
    assert!(screen.contains("events_waits_summary_global_by_event_name"), "{screen}");
    shell.press("\u{3}");
    shell.until("forgotten", |screen| lines(screen).ends_with("\n^C\nperfschema>"));
    ask(&shell, "SELECT 'first\rsecond' AS text\\G", "text: first\\nsecond");
    shell.press("\\q\r");
    assert!(shell.ended().success());

    let file = state.0.join("perfschema/history");
    let mode = |path: &std::path::Path| path.metadata().expect("it was written").permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(&state.0.join("perfschema"))), (0o600, 0o700));

    // Another shell recalls it whole.
    let mut again = state.shell(&demo, (24, 100));
    let up = "\u{1b}[A";
    again.press(&format!("{up}{up}"));
    again.until("the last but one", |screen| screen.contains("SELECT 'first") && screen.contains("second' AS text"));
    ask(&again, "", "text: first\\nsecond");
    again.press("\u{4}");
    assert!(again.ended().success());
}

/// What a script prints, and what it says of what went wrong.
fn script(demo: &Demo, options: &[&str], text: &[u8]) -> (bool, String, String) {
    let pid = demo.pid();
    let mut command = Command::new(PROGRAM);
    command.args(["shell", &pid]).args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program was built");
    // One that has ended early reads no further.
    let _ = child.stdin.take().expect("piped").write_all(text);
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[test]
fn scripts() {
    let mut demo = demo();
    let text = b"-- as mysql reads it\nuse sys\nSELECT DATABASE() AS d, NULL AS n, 'a\\tb\\\\\\n' AS t;\nUPDATE\n performance_schema.setup_timers SET timer_name = 'CYCLE';\nSELECT 1 WHERE 1 = 2; SELECT 2 AS two\\G\nSELECT 3";
    let expected =
        "d\tn\tt\nsys\tNULL\ta\\tb\\\\\\n\n*************************** 1. row ***************************\ntwo: 2\n3\n3\n";
    assert_eq!(script(&demo, &[], text), (true, expected.into(), String::new()));
    let framed = "+---+\n| 1 |\n+---+\n| 1 |\n+---+\n";
    assert_eq!(script(&demo, &["--table"], b"SELECT 1;"), (true, framed.into(), String::new()));
    // Some editors mark UTF-8.
    assert_eq!(script(&demo, &[], "\u{feff}SELECT 1;".as_bytes()), (true, "1\n1\n".into(), String::new()));

    let wrong = b"SELECT 1;\n\nSELECT\n nothing;\nSELECT 2;\n";
    let error = "ERROR 1054 (42S22) at line 3: Unknown column 'nothing' in 'field list'\n";
    assert_eq!(script(&demo, &[], wrong), (false, "1\n1\n".into(), error.into()));
    assert_eq!(script(&demo, &["--force"], wrong), (true, "1\n1\n2\n2\n".into(), error.into()));
    assert_eq!(script(&demo, &[], b"SELECT 1;\n\xff;\n"), (false, "1\n1\n".into(), "perfschema: line 2 is not UTF-8\n".into()));
    let folder = std::fs::File::open("/").expect("there is one");
    let output = Command::new(PROGRAM).args(["shell", &demo.pid()]).stdin(folder).output().expect("the program was built");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "perfschema: cannot read: Is a directory (os error 21)\n");
    assert_eq!(script(&demo, &[], b"\\q\nSELECT 1;"), (true, String::new(), String::new()));
    let unknown = "ERROR 1049 (42000) at line 1: Unknown database 'x'\n";
    assert_eq!(script(&demo, &[], b"use x\nSELECT 1;"), (false, String::new(), unknown.into()));
    assert_eq!(script(&demo, &["--force"], b"use x\nSELECT 1;"), (true, "1\n1\n".into(), unknown.into()));

    demo.signal("-KILL");
    demo.0.wait().expect("it was started here");
    let (success, out, err) =
        script(&demo, &[], b"SELECT COUNT(*) > 0 AS some FROM threads; UPDATE setup_instruments SET enabled = 'NO';");
    assert!(!success && out == "some\n1\n" && err.starts_with("ERROR 1290 (HY000) at line 1: "), "{out}{err}");
    let (success, _, err) = perfschema(&["shell", "no-such-program"]);
    assert!(!success && err.contains("no program no-such-program"), "{err}");
}

/// As with `mysql`: what goes into a file has neither prompts nor what moves a cursor.
#[test]
fn typed_and_written_to_a_file() {
    let demo = demo();
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("shell-typed");
    let command = format!("exec {PROGRAM} shell {} >{}", demo.pid(), path.display());
    let mut terminal = Terminal::start("/bin/sh", &["-c", &command], &[], (24, 100));
    terminal.press("SELECT 1 AS one;\r\u{4}");
    assert!(terminal.ended().success());
    assert_eq!(std::fs::read_to_string(path).expect("it is written"), "one\n1\n");
}

/// Nothing that is printed acts on the terminal, whatever program it is meant for.
#[test]
fn a_terminal_is_not_commanded() {
    let demo = demo();
    let pid = demo.pid();
    let select = "SELECT '\u{1b}]0;owned\u{7}' AS `a\u{1b}[31mb`, 'x\ty'";
    let script = format!("printf '%s' \"$STATEMENT\" | {PROGRAM} shell {pid}");
    let wrong = "SELECT * FROM `\u{1b}[31m\u{7}`";
    let runs: [(&str, &[&str], &str, &str); 5] = [
        (PROGRAM, &["sql", &pid, "--csv", select], "", "\\u{1b}]0;owned\\u{7}"),
        (PROGRAM, &["sql", &pid, "--json", select], "", "\\u001b]0;owned\\u0007"),
        (PROGRAM, &["sql", &pid, wrong], "", "\\u{1b}[31m\\u{7}' doesn't exist"),
        ("sh", &["-c", &script], select, "\\u{1b}]0;owned\\u{7}"),
        ("sh", &["-c", &script], wrong, "\\u{1b}[31m\\u{7}' doesn't exist"),
    ];
    for (program, arguments, statement, expected) in runs {
        let mut terminal = Terminal::start(program, arguments, &[("STATEMENT", statement)], (24, 200));
        terminal.ended();
        terminal.until(expected, |screen| screen.contains(expected));
        assert!(!terminal.bytes().contains(&0x1b) && !terminal.bytes().contains(&7), "{arguments:?}");
    }
    // A program reads it as it is.
    assert!(succeeds(&["sql", &pid, "--csv", select]).contains("\u{1b}]0;owned\u{7},x\ty\n"));
}
