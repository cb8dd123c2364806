//! `perfschema top` on a terminal: keys, sizes, programs that stop and end, signals; and as plain text.
#![cfg(all(feature = "instrument", target_os = "linux"))]

mod common;
#[path = "common/terminal.rs"]
mod terminal;

use common::{Demo, PROGRAM, perfschema, succeeds, until, until_it_shares};
use std::os::unix::process::ExitStatusExt;
use terminal::Terminal;

const HOME: &str = "\u{1b}[H";
const END: &str = "\u{1b}[F";

fn demo() -> Demo {
    let demo = Demo::start();
    until_it_shares(&demo.pid());
    until("its locks are known", || succeeds(&["show", &demo.pid(), "setup_instruments"]).contains("demo/postings"));
    demo
}

fn top(demo: &Demo, size: (u16, u16)) -> Terminal {
    Terminal::start(PROGRAM, &["top", &demo.pid(), "--delay", "0.1"], &[], size)
}

/// The cells of a list's row, and of its heading.
fn row<'a>(screen: &'a str, with: &str) -> Vec<&'a str> {
    screen.lines().find(|line| line.contains(with)).map_or_else(Vec::new, |line| line.split_whitespace().collect())
}

fn is_switched(demo: &Demo, instrument: &str, column: &str) -> bool {
    let select = format!("SELECT {column} FROM setup_instruments WHERE name LIKE '%{instrument}'");
    succeeds(&["sql", &demo.pid(), &select, "--csv"]).ends_with("YES\n")
}

#[test]
fn lists_keys_and_switches() {
    let demo = demo();
    let mut top = top(&demo, (24, 140));
    let screen = top.until("who waits", |screen| screen.contains("THREAD") && screen.contains("1 Waits"));
    assert!(screen.starts_with(&format!("perfschema, pid {} runs, ", demo.pid())), "{screen}");
    assert!(screen.contains("WAITS▼") && screen.contains("2 Events  3 Files"), "{screen}");
    assert!(top.is_full_screen());
    top.until("a worker waits", |screen| screen.contains("worker-"));

    // Rates: something happens in each tenth of a second.
    top.press("2");
    let postings = |screen: &str| row(screen, "demo/postings").join(" ");
    let is_rate = |screen: &str| row(screen, "demo/postings").get(2).is_some_and(|unit| ["ns", "us", "ms", "s"].contains(unit));
    top.until("rates", is_rate);
    let busy = |screen: &str| row(screen, "demo/postings").get(3).and_then(|rate| rate.parse::<f64>().ok()) > Some(0.0);
    let screen = top.until("events in a second", busy);
    assert!(screen.contains("TIME/S▼") && screen.contains("TOTAL TIME") && screen.contains("AVERAGE"), "{screen}");

    // Sorting: by the next column, the other way round, by the former.
    top.press("s");
    top.until("sorted by events", |screen| screen.contains("TIME/S  ") && row(screen, "EVENT").contains(&"/S▼"));
    top.press("r");
    top.until("the least first", |screen| row(screen, "EVENT").contains(&"/S▲"));
    top.press("S");
    top.until("sorted by time", |screen| row(screen, "EVENT").contains(&"TIME/S▼"));

    // Only rows with a text; one of them is chosen and switched.
    top.press("/POSTi");
    top.until("while it is typed", |screen| screen.contains("only rows with: POSTi") && !screen.contains("demo/queue"));
    top.press("\r");
    top.until("and after", |screen| screen.contains("with \"POSTi\"") && screen.contains("demo/postings"));
    assert!(is_switched(&demo, "postings", "enabled") && is_switched(&demo, "postings", "timed"));
    top.press("t");
    top.until("it is counted only", |screen| postings(screen).ends_with("counted") && screen.contains("TIMED = NO"));
    assert!(!is_switched(&demo, "postings", "timed") && is_switched(&demo, "queue", "timed"));
    top.press("e");
    top.until("it is off", |screen| postings(screen).ends_with("off") && screen.contains("ENABLED = NO"));
    assert!(!is_switched(&demo, "postings", "enabled") && is_switched(&demo, "queue", "enabled"));
    top.press("e");
    top.until("it is on again", |screen| postings(screen).ends_with("counted"));
    top.press("\u{1b}");
    top.until("all rows", |screen| screen.contains("demo/queue"));

    // All that the table says of a row, wherever it has gone meanwhile.
    let chosen = |screen: &str| screen.contains("│      EVENT_NAME: wait/synch/mutex/demo/postings");
    top.press("\r");
    top.until("the row", chosen);
    // More lines than the terminal has, and longer ones.
    top.resize(9, 40);
    // The program has drawn it, not only the terminal cut it: before that there is nothing to scroll.
    top.until("the first lines", |screen| screen.contains("┌Row, from line 1 of ") && !screen.contains("QUANTILE_999"));
    top.press("\u{1b}[B");
    top.until("the second line is the first", |screen| screen.contains("┌Row, from line 2 of "));
    top.press(END);
    top.until("the last line", |screen| screen.contains("QUANTILE_999: ") && !screen.contains("EVENT_NAME: "));
    top.press(HOME);
    let name = |screen: &str| screen.split(|c: char| c.is_whitespace() || "│┐".contains(c)).collect::<String>();
    top.until("the whole name", |screen| name(screen).contains("wait/synch/mutex/demo/postings"));
    top.resize(24, 140);
    top.until("all of it", |screen| chosen(screen) && screen.contains("QUANTILE_999: "));
    top.press("x");
    top.until("the list", |screen| !screen.contains("EVENT_NAME"));
    // The row's name is the first of its details; the first row and the last one are two.
    let details = |screen: &str| screen.lines().find_map(|line| line.split("EVENT_NAME: ").nth(1)).map(str::to_owned);
    top.press(HOME);
    top.press("\r");
    let first = details(&top.until("the first row", |screen| details(screen).is_some()));
    top.press("x");
    top.until("the list", |screen| details(screen).is_none());
    top.press(END);
    top.press("\r");
    top.until("the last row", |screen| details(screen).is_some_and(|last| Some(last) != first));
    top.press("\rh");
    top.until("the keys", |screen| screen.contains("ENABLED of the row's instrument") && screen.contains("q, Ctrl-C"));
    top.press("h");
    top.until("the list", |screen| !screen.contains("q, Ctrl-C"));

    // Paused, nothing changes, although the program goes on counting.
    top.press(" ");
    let paused = top.until("a pause", |screen| screen.contains("PAUSED"));
    let total =
        || succeeds(&["sql", &demo.pid(), "SELECT SUM(count_star) FROM events_waits_summary_global_by_event_name", "--csv"]);
    until("the screen stands still while the program goes on", || {
        let (screen, before) = (top.screen(), total());
        until("it goes on", || total() != before);
        top.screen() == screen
    });
    top.press(" ");
    top.until("on", |screen| !screen.contains("PAUSED") && postings(screen) != postings(&paused));

    // Files, and instruments: the keys after those of the views do nothing.
    top.press("3");
    top.until("files", |screen| screen.contains("FILE ") && screen.contains("BYTES READ/S") && screen.contains(".rs"));
    top.press("9\t");
    let next = top.until("the next list", |screen| !screen.contains("FILE "));
    assert!(next.contains("NAME▲") || next.contains("/S"), "{next}");
    top.press("q");
    assert!(top.ended().success());
    top.is_as_before();
}

/// Narrow, low, a single cell: something is shown, nothing breaks; the most important columns go last.
#[test]
fn small_terminals() {
    let demo = demo();
    let mut top = top(&demo, (24, 80));
    // A single row: which rows come first, and so which a low terminal shows, is decided by what the machine does meanwhile. The keys are
    // pressed before the program has begun to ask for them.
    top.press("2/postings\r");
    let screen = top.until("80 columns", |screen| screen.contains("/postings") && screen.contains("with \"postings\""));
    assert!(["TIME/S▼", "AVERAGE", "TOTAL TIME"].iter().all(|title| screen.contains(title)), "{screen}");
    assert!(screen.contains("…/synch/mutex/demo/postings "), "{screen}");
    // Of all views those that find room, and always the one that is shown.
    let views = |screen: &str| screen.lines().nth(1).unwrap_or_default().trim_end().to_owned();
    assert!(views(&screen).starts_with("1 Waits  2 Events") && views(&screen).ends_with("7 Transactions  …"), "{screen}");
    top.press("8");
    top.until("the last view", |screen| {
        views(screen).starts_with('…') && views(screen).ends_with("7 Transactions  8 Instruments")
    });
    top.press("2");
    top.until("the first ones", |screen| views(screen).starts_with("1 Waits"));
    top.resize(10, 200);
    top.until("a wide one has all columns", |screen| {
        screen.contains("99.9 %") && screen.contains("wait/synch/mutex/demo/postings")
    });
    top.resize(6, 30);
    top.until("the name, the time and how many", |screen| {
        screen.contains("TIME/S▼") && !screen.contains("AVERAGE") && row(screen, "/postings").len() == 4
    });
    // What the keys do goes on beside them.
    top.resize(30, 40);
    top.press("h");
    let goes_on = format!("│{:15}instrument: on, off", "");
    top.until("the keys", |screen| screen.contains("ENABLED of the row's") && screen.contains(&goes_on));
    top.press("h");
    for (rows, columns) in [(3, 12), (2, 3), (1, 1), (1, 40), (40, 1)] {
        top.resize(rows, columns);
        // The keys still work.
        top.press("h");
        top.press("\r");
        top.press("\r");
        top.press("x");
    }
    top.resize(24, 80);
    top.until("as before", |screen| screen.contains("TIME/S▼") && screen.contains("h help"));
    // Ctrl-C
    top.press("\u{3}");
    assert!(top.ended().success());
    top.is_as_before();
}

/// The terminal tells of both at once: neither waits for the next key.
#[test]
fn a_key_together_with_a_resize() {
    let demo = demo();
    let mut top = Terminal::start(PROGRAM, &["top", &demo.pid(), "--delay", "0.05"], &[], (24, 100));
    top.until("it shows something", |screen| screen.contains("THREAD"));
    for columns in 80..200 {
        // Something to draw, so that both come meanwhile.
        top.press("r");
        std::thread::sleep(std::time::Duration::from_micros(100 * (u64::from(columns) % 20)));
        top.resize(24, columns);
        top.press("h");
        top.until("the keys", |screen| screen.contains("q, Ctrl-C"));
        top.press("h");
        top.until("the list", |screen| !screen.contains("q, Ctrl-C"));
    }
    top.press("q");
    assert!(top.ended().success());
}

#[test]
fn a_program_that_is_stopped_and_ends() {
    let mut demo = demo();
    let mut top = top(&demo, (24, 100));
    top.until("it runs", |screen| screen.contains(" runs, "));
    demo.signal("-STOP");
    top.until("it is stopped", |screen| screen.contains(" is stopped, "));
    demo.signal("-CONT");
    top.until("it runs again", |screen| screen.contains(" runs, "));
    demo.signal("-KILL");
    demo.0.wait().expect("it was started here");
    top.until("it has ended", |screen| screen.contains(" has ended, "));
    top.press("2");
    top.until("its totals stay", |screen| screen.contains("demo/postings") && screen.contains("TOTAL TIME"));
    top.press("e");
    top.until("its setup too", |screen| screen.contains("the program has ended, its setup cannot be changed"));
    top.press("q");
    assert!(top.ended().success());

    // And a program that has ended before. No core of this one is wanted.
    let script = "ulimit -c 0 && exec \"$0\" top \"$1\" --view events";
    for (name, signal) in [("-TERM", 15), ("-QUIT", 3)] {
        let mut again = Terminal::start("sh", &["-c", script, PROGRAM, &demo.pid()], &[("NO_COLOR", "1")], (24, 100));
        again.until("its totals", |screen| screen.contains(" has ended, ") && screen.contains("demo/postings"));
        again.signal(name);
        assert_eq!(again.ended().signal(), Some(signal));
        again.is_as_before();
    }
}

fn is_stopped(pid: u32) -> bool {
    // 17694 (perfschema) T …
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") T "))
}

/// Stopped, it leaves the terminal to others; let go on, it draws all that they may have spoilt.
#[test]
fn stopped_and_let_go_on() {
    let demo = demo();
    let mut top = top(&demo, (24, 100));
    let is_drawn =
        |screen: &str| screen.starts_with("perfschema, pid ") && screen.contains("THREAD") && screen.contains("h help");
    top.until("it shows something", is_drawn);
    for _ in 0..2 {
        top.signal("-TSTP");
        until("it is stopped", || is_stopped(top.pid()));
        top.is_as_before();
        top.signal("-CONT");
        top.until("the list is there again", |screen| is_drawn(screen) && top.is_full_screen() && !top.is_cooked());
    }
    // Of this it learns only afterwards.
    top.signal("-STOP");
    until("it is stopped", || is_stopped(top.pid()));
    top.wipe();
    top.cook();
    assert!(!is_drawn(&top.screen()) && top.is_cooked());
    top.signal("-CONT");
    top.until("the list is there again", |screen| is_drawn(screen) && top.is_full_screen() && !top.is_cooked());
    // No shell could let it go on after this one.
    top.press("\u{1a}h");
    top.until("the keys", |screen| screen.contains("q, Ctrl-C") && screen.contains("Ctrl-Z"));
    top.press("h q");
    assert!(top.ended().success());
    top.is_as_before();
}

/// A shell's job, as most are.
#[test]
fn ctrl_z_and_fg() {
    let demo = demo();
    let script = "set -m; \"$0\" top \"$1\" --delay 0.1; echo stopped; read line; fg; echo ended with $?";
    let mut shell = Terminal::start("sh", &["-c", script, PROGRAM, &demo.pid()], &[], (24, 100));
    shell.until("it shows something", |screen| screen.contains("THREAD"));
    shell.press("/post\u{1a}");
    shell.until("the shell again", |screen| screen.contains("stopped"));
    shell.is_as_before();
    shell.press("\n");
    shell.until("as it was left", |screen| screen.contains("only rows with: post"));
    // What another program has written over it, a list like the former one leaves there.
    shell.wipe();
    shell.press("\u{c}");
    shell.until("all of it is drawn", |screen| screen.starts_with("perfschema, pid "));
    shell.press("\u{3}");
    shell.until("it ends", |screen| screen.contains("ended with 0"));
    assert!(shell.ended().success());
    shell.is_as_before();
}

/// The window is closed: a signal says so to whoever the terminal belongs to. To others nothing but the end of what they read.
#[test]
fn a_terminal_that_goes_away() {
    let demo = demo();
    let mut first = top(&demo, (24, 80));
    first.until("it shows something", |screen| screen.contains("THREAD"));
    first.hang_up();
    assert_eq!(first.ended().signal(), Some(1), "as a program that knows nothing of terminals");

    let arguments = ["--wait", PROGRAM, "top", &demo.pid(), "--delay", "0.1"];
    let mut second = Terminal::start("setsid", &arguments, &[], (24, 80));
    second.until("it shows something", |screen| screen.contains("THREAD"));
    let children = format!("/proc/{pid}/task/{pid}/children", pid = second.pid());
    let child = std::fs::read_to_string(children).expect("it runs").trim().to_owned();
    let is_there = || std::fs::read_to_string(format!("/proc/{child}/cmdline")).is_ok_and(|line| line.contains("top"));
    assert!(is_there(), "the one that shows it: {child}");
    second.hang_up();
    until("it ends", || !is_there());
}

#[test]
fn a_dumb_terminal_gets_plain_text() {
    let demo = demo();
    let arguments = ["top", &demo.pid(), "--view", "events", "--filter", "postings", "--delay", "0.1"];
    for term in ["dumb", ""] {
        let mut top = Terminal::start(PROGRAM, &arguments, &[("TERM", term)], (24, 140));
        assert!(top.ended().success());
        top.until("the list", |screen| screen.contains("demo/postings") && screen.contains("TOTAL TIME"));
        assert!(top.bytes().iter().all(|byte| *byte != 0x1b), "{}", top.screen());
    }
}

#[test]
fn plain_text() {
    let mut demo = demo();
    let pid = demo.pid();
    // Of one event list, twice; both halves of an interval count what happens in it.
    let out = succeeds(&["top", &pid, "--batch", "-n", "2", "-d", "0.2", "--view", "events", "--filter", "/demo/"]);
    assert!(!out.contains('\u{1b}'), "{out}");
    let times: Vec<&str> = out.lines().filter(|line| line.starts_with("perfschema, pid ")).collect();
    assert_eq!(times.len(), 2, "{out}");
    let heading = out.lines().find(|line| line.starts_with("EVENT ")).unwrap_or_default();
    let titles: Vec<&str> = heading.split("  ").map(str::trim).filter(|title| !title.is_empty()).collect();
    let expected = ["EVENT", "TIME/S", "/S", "AVERAGE", "LONGEST", "95 %", "99 %", "99.9 %", "TOTAL", "TOTAL TIME", "IS"];
    assert_eq!(titles, expected, "{out}");
    assert!(out.contains("\nwait/synch/mutex/demo/postings "), "{out}");

    // No terminal: all lists, once. Stopped, it has no rates, and its totals are those of its tables.
    demo.stop();
    let total = || {
        let select = "SELECT count_star FROM events_waits_summary_global_by_event_name WHERE event_name LIKE '%demo/postings'";
        succeeds(&["sql", &pid, select, "--csv"]).lines().nth(1).map(str::to_owned)
    };
    let out = succeeds(&["top", &pid, "-d", "0.05"]);
    let headings: Vec<&str> = out
        .lines()
        .filter(|line| ["Waits", "Events", "Files", "Stages", "Statements", "Transactions", "Instruments"].contains(line))
        .collect();
    assert_eq!(headings, ["Waits", "Events", "Files", "Stages", "Statements", "Transactions", "Instruments"]);
    let events = out.split("\nEvents\n").nth(1).unwrap_or_default();
    let cells = row(events, "demo/postings");
    assert_eq!((cells[1], cells[2], cells[3]), ("0", "ps", "0"), "{cells:?}");
    assert!(cells.contains(&total().expect("a row").as_str()), "{cells:?}");

    demo.signal("-KILL");
    demo.0.wait().expect("it was started here");
    let out = succeeds(&["top", &pid, "-n", "5", "--view", "waits"]);
    assert_eq!(out.matches(" has ended, ").count(), 1, "once is enough: {out}");

    // What found no room is said above all.
    let mut command = std::process::Command::new(PROGRAM);
    command.args(["demo", "--seconds", "60", "--option", "performance_schema_max_file_instances=2", env!("CARGO_MANIFEST_DIR")]);
    command.env("PERFSCHEMA_SHARE", "1").stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let full = Demo(command.spawn().expect("the program was built"));
    until_it_shares(&full.pid());
    until("files find no room", || {
        succeeds(&["top", &full.pid(), "-d", "0.05", "--view", "waits"]).contains("\nlost: file_instances ")
    });

    let (success, _, err) = perfschema(&["top", "no-such-program"]);
    assert!(!success && err.contains("no program no-such-program"), "{err}");
    let (success, _, err) = perfschema(&["top", &pid, "--view", "nothing"]);
    assert!(!success && err.contains("expected one of waits, events, files"), "{err}");
}
