//! `perfschema sql`: another program, asked and changed while it runs, while it is stopped, and when it was killed.
#![cfg(all(feature = "instrument", target_os = "linux"))]

mod common;

use common::{Demo, PROGRAM, perfschema, succeeds, until, until_it_shares};
use std::io::Write;
use std::process::{Command, Stdio};

const WAITS: &str = "SELECT SUM(count_star) FROM events_waits_summary_global_by_event_name";

/// The rows of a statement as CSV, without the heading.
#[track_caller]
fn rows(demo: &Demo, statement: &str) -> String {
    let out = succeeds(&["sql", &demo.pid(), statement, "--csv"]);
    out.split_once('\n').map_or_else(String::new, |(_, rows)| rows.trim_end().to_owned())
}

fn waits(demo: &Demo) -> u64 {
    rows(demo, WAITS).parse().unwrap_or(0)
}

#[test]
fn running_stopped_killed() {
    let mut demo = Demo::start();
    until_it_shares(&demo.pid());
    until("it counts", || waits(&demo) > 0);
    let before = waits(&demo);
    until("it goes on", || waits(&demo) > before);

    // A change takes effect at once.
    let out = succeeds(&["sql", &demo.pid(), "UPDATE setup_instruments SET enabled = 'NO'; TRUNCATE events_waits_history_long"]);
    assert!(
        out.starts_with("Query OK, ") && out.contains("Rows matched: ") && out.contains("\n\nQuery OK, 0 rows affected ("),
        "{out}"
    );
    // What began before the change ends recorded.
    until("nothing is counted any more", || {
        let counted = waits(&demo);
        std::thread::sleep(std::time::Duration::from_millis(200));
        waits(&demo) == counted
    });
    succeeds(&["sql", &demo.pid(), "UPDATE setup_instruments SET enabled = 'YES'"]);
    let before = waits(&demo);
    until("it counts again", || waits(&demo) > before);

    demo.stop();
    assert_eq!(rows(&demo, "SELECT COUNT(*) > 3 FROM threads"), "1");
    // Files and locks have no address in common.
    for table in ["events_waits_summary_by_instance", "file_summary_by_instance", "mutex_instances", "rwlock_instances"] {
        let select = format!("SELECT COUNT(*) > 1, COUNT(*) - COUNT(DISTINCT object_instance_begin) FROM {table}");
        assert_eq!(rows(&demo, &select), if table == "rwlock_instances" { "0,0" } else { "1,0" }, "{table}");
    }
    let current = "SELECT event_name LIKE 'wait/%/demo/%', wait_so_far > 0 FROM sys.`x$current_waits` ORDER BY 1 LIMIT 1";
    assert!(["1,1", ""].contains(&rows(&demo, current).as_str()), "{}", rows(&demo, current));
    succeeds(&["sql", &demo.pid(), "UPDATE setup_consumers SET enabled = 'NO' WHERE name = 'events_waits_history'"]);

    demo.signal("-KILL");
    demo.0.wait().expect("it was started here");
    assert!(waits(&demo) >= before);
    assert_eq!(rows(&demo, "SELECT enabled FROM setup_consumers WHERE name = 'events_waits_history'"), "NO");
    let (success, out, err) = perfschema(&["sql", &demo.pid(), "SELECT 1; UPDATE setup_instruments SET enabled = 'NO'"]);
    assert!(!success && out.starts_with("+---+\n| 1 |\n"), "{out}");
    assert_eq!(
        err,
        "perfschema: the program has ended, its tables can only be read\nERROR 1290 (HY000): The MySQL server is running with the \
         --read-only option so it cannot execute this statement\n"
    );
}

/// A column of a metric's row.
fn of(demo: &Demo, column: &str, name: &str) -> String {
    rows(demo, &format!("SELECT {column} FROM information_schema.innodb_metrics WHERE name = '{name}'"))
}

fn words(demo: &Demo) -> u64 {
    of(demo, "count", "index_words").parse().unwrap_or(0)
}

/// Metrics of another program, switched and set back while it runs, and read when it was killed.
#[test]
fn metrics_of_another_program() {
    let mut demo = Demo::start();
    until_it_shares(&demo.pid());
    until("it counts words", || words(&demo) > 0);
    assert_eq!(of(&demo, "status, type, subsystem", "index_words"), "enabled,counter,index");
    // Of a set the average is that of one call: bytes a file.
    assert_eq!(
        of(
            &demo,
            "ROUND(avg_count * (SELECT count FROM information_schema.innodb_metrics WHERE name = 'index_files')) > 0",
            "index_file_bytes"
        ),
        "1"
    );

    succeeds(&["sql", &demo.pid(), "SET GLOBAL innodb_monitor_disable = module_index"]);
    // Who found it on at that moment is done.
    let counted = words(&demo);
    assert_eq!(of(&demo, "status", "index_words"), "disabled");
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert_eq!(words(&demo), counted);
    succeeds(&["sql", &demo.pid(), "SET GLOBAL innodb_monitor_reset_all = 'index\\_w%'"]);
    assert_eq!((words(&demo), of(&demo, "time_enabled IS NULL", "index_words").as_str()), (0, "1"));
    succeeds(&["sql", &demo.pid(), "SET GLOBAL innodb_monitor_enable = index_words"]);
    until("it counts again", || words(&demo) > 0);
    let (success, _, err) = perfschema(&["sql", &demo.pid(), "SET GLOBAL innodb_monitor_enable = index_wards"]);
    assert!(!success, "{err}");
    assert_eq!(err, "ERROR 1231 (42000): Variable 'innodb_monitor_enable' can't be set to the value of 'index_wards'\n");

    demo.stop();
    let shown = succeeds(&["show", &demo.pid(), "innodb_metrics", "--format", "csv"]);
    assert!(shown.lines().any(|line| line.starts_with(&format!("index_words,index,{},", words(&demo)))), "{shown}");
    demo.signal("-KILL");
    demo.0.wait().expect("it was started here");
    assert!(words(&demo) > 0);
    let (success, _, err) = perfschema(&["sql", &demo.pid(), "SET GLOBAL innodb_monitor_disable = all"]);
    assert!(!success && err.contains("ERROR 1290 (HY000)"), "{err}");
    assert_eq!(of(&demo, "status", "index_words"), "enabled");
}

#[test]
fn forms_and_errors() {
    let demo = Demo::start();
    until_it_shares(&demo.pid());
    let pid = demo.pid();
    let timers = "SELECT * FROM setup_timers WHERE name = 'wait'";
    let boxed = succeeds(&["sql", &pid, timers]);
    let expected = "+------+------------+\n| NAME | TIMER_NAME |\n+------+------------+\n| wait | CYCLE      |\n+------+------------+\n1 row in set (";
    assert!(boxed.starts_with(expected), "{boxed}");
    let vertical = succeeds(&["sql", &pid, &format!(r"{timers}\G")]);
    assert!(
        vertical.starts_with("*************************** 1. row ***************************\n      NAME: wait\n"),
        "{vertical}"
    );
    assert_eq!(succeeds(&["sql", &pid, timers, "--csv"]), "NAME,TIMER_NAME\nwait,CYCLE\n");
    assert_eq!(succeeds(&["sql", &pid, timers, "--json"]), "{\"NAME\":\"wait\",\"TIMER_NAME\":\"CYCLE\"}\n");
    assert_eq!(succeeds(&["sql", &pid, "", "--json"]), "");

    let (success, out, err) = perfschema(&["sql", &pid, "SELECT 1; SELECT * FROM nothing; SELECT 2", "--csv"]);
    assert_eq!((success, out.as_str()), (false, "1\n1\n"));
    assert_eq!(err, "ERROR 1146 (42S02): Table 'performance_schema.nothing' doesn't exist\n");
    // What was warned of is said once, and not again where it is listed.
    let (success, _, err) = perfschema(&["sql", &pid, "SELECT FOUND_ROWS(); SHOW WARNINGS; SHOW COUNT(*) WARNINGS"]);
    assert!(success && err.starts_with("Warning 1287: ") && err.lines().count() == 1, "{err}");
    let (success, _, err) = perfschema(&["sql", &pid, "SELECT 1", "--csv", "--json"]);
    assert!(!success && err.contains("cannot be used with"), "{err}");
    let endless = "SET cte_max_recursion_depth = 4294967295; \
                   WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";
    let (success, _, err) = perfschema(&["sql", &pid, endless, "--timeout", "1"]);
    assert!(!success && err.starts_with("ERROR 3024 (HY000): "), "{err}");
    let (success, _, err) = perfschema(&["sql", "no-such-program", "SELECT 1"]);
    assert!(!success && err.contains("no program no-such-program"), "{err}");

    // Statements from the standard input, as the worklog saves and restores.
    let mut child = Command::new(PROGRAM)
        .args(["sql", &pid, "--csv"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program was built");
    let script = "\u{feff}CREATE TABLE test.saved AS SELECT * FROM setup_instruments; -- in memory, until the end\n\
                  UPDATE setup_instruments SET timed = 'NO';\n\
                  UPDATE setup_instruments x SET timed = (SELECT timed FROM test.saved y WHERE x.name = y.name);\n\
                  SELECT ';' AS semicolon, COUNT(*) > 0 AS some FROM setup_instruments WHERE timed = 'YES';\n";
    child.stdin.take().expect("piped").write_all(script.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.success(), String::from_utf8_lossy(&output.stdout).as_ref()), (true, "semicolon,some\n;,1\n"));
}
