//! The worklogs' own transcripts, and what they have no example of.

use super::{Fit, Footer, TextTable, Times, shorten};
use crate::render::samples::{ODD, number_column, odd_grids, text_column, texts};
use crate::render::{ColumnHead, Grid, OwnedValue};
use core::time::Duration;
use perfschema_core::table::SqlType;
use unicode_width::UnicodeWidthStr;

#[track_caller]
fn check(table: TextTable<'_>, expected: &str) {
    assert_eq!(table.to_string(), expected);
}

/// For transcripts that have come down as flowing text.
#[track_caller]
fn check_words(text: &str, expected: &str) {
    assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), expected);
}

fn seconds(seconds: f64) -> Footer {
    Footer::Timed(Duration::from_secs_f64(seconds))
}

/// One row, from `name value` pairs: digits are numbers, `NULL` is NULL.
fn record(pairs: &[(&str, &str)]) -> Grid {
    let column =
        |&(name, value): &(&str, &str)| if value.parse::<u64>().is_ok() { number_column(name) } else { text_column(name) };
    let value = |&(_, value): &(&str, &str)| match value.parse::<u64>() {
        Ok(number) => number.into(),
        Err(_) if value == "NULL" => OwnedValue::Null,
        Err(_) => value.into(),
    };
    Grid { columns: pairs.iter().map(column).collect(), rows: vec![pairs.iter().map(value).collect()] }
}

#[test]
fn wl4813_setup_instruments() {
    let names = [
        "After create",
        "allocating local table",
        "Changing master",
        "Checking master version",
        "checking permissions",
        "checking privileges on cached query",
        "checking query cache for query",
        "cleaning up",
        "closing tables",
        "Connecting to master",
    ]
    .map(|name| format!("stage/sql/{name}"));
    let rows = names.each_ref().map(|name| [name.as_str(), "YES", "YES"]);
    let grid = texts(&["NAME", "ENABLED", "TIMED"], &rows.each_ref().map(|row| row.as_slice()));
    let expected = "\
+-----------------------------------------------+---------+-------+
| NAME                                          | ENABLED | TIMED |
+-----------------------------------------------+---------+-------+
| stage/sql/After create                        | YES     | YES   |
| stage/sql/allocating local table              | YES     | YES   |
| stage/sql/Changing master                     | YES     | YES   |
| stage/sql/Checking master version             | YES     | YES   |
| stage/sql/checking permissions                | YES     | YES   |
| stage/sql/checking privileges on cached query | YES     | YES   |
| stage/sql/checking query cache for query      | YES     | YES   |
| stage/sql/cleaning up                         | YES     | YES   |
| stage/sql/closing tables                      | YES     | YES   |
| stage/sql/Connecting to master                | YES     | YES   |
+-----------------------------------------------+---------+-------+
10 rows in set (0.00 sec)
";
    check(grid.boxed().footer(seconds(0.0)), expected);
}

#[test]
fn wl4813_setup_consumers() {
    let rows: &[&[&str]] =
        &[&["events_stages_current", "YES"], &["events_stages_history", "YES"], &["events_stages_history_long", "YES"]];
    let expected = "\
+----------------------------+---------+
| NAME                       | ENABLED |
+----------------------------+---------+
| events_stages_current      | YES     |
| events_stages_history      | YES     |
| events_stages_history_long | YES     |
+----------------------------+---------+
";
    check(texts(&["NAME", "ENABLED"], rows).boxed().footer(Footer::None), expected);
}

#[test]
fn wl4678_events_waits_current() {
    let grid = record(&[
        ("THREAD_ID", "1"),
        ("EVENT_ID", "2"),
        ("EVENT_NAME", "wait/io/file/sql/pid"),
        ("SOURCE", "mysqld.cc:9258"),
        ("TIMER_START", "197474322940"),
        ("TIMER_END", "197506166308"),
        ("TIMER_WAIT", "31843368"),
        ("SPINS", "NULL"),
        ("OBJECT_SCHEMA", "NULL"),
        ("OBJECT_NAME", "/usr/local/mysql/var/linux.pid"),
        ("OBJECT_TYPE", "NULL"),
        ("OBJECT_INSTANCE_BEGIN", "NULL"),
        ("NESTING_EVENT_ID", "NULL"),
        ("OPERATION", "FILEWRITE"),
        ("NUMBER_OF_BYTES", "6"),
    ]);
    let expected = "\
*************************** 1. row ***************************
            THREAD_ID: 1
             EVENT_ID: 2
           EVENT_NAME: wait/io/file/sql/pid
               SOURCE: mysqld.cc:9258
          TIMER_START: 197474322940
            TIMER_END: 197506166308
           TIMER_WAIT: 31843368
                SPINS: NULL
        OBJECT_SCHEMA: NULL
          OBJECT_NAME: /usr/local/mysql/var/linux.pid
          OBJECT_TYPE: NULL
OBJECT_INSTANCE_BEGIN: NULL
     NESTING_EVENT_ID: NULL
            OPERATION: FILEWRITE
      NUMBER_OF_BYTES: 6
1 row in set (0.00 sec)
";
    // The first line of each literal stands on a line of its own, so that spaces before the first name survive.
    check(grid.vertical().footer(seconds(0.0)), expected);
}

#[test]
fn wl4678_events_waits_summary_by_event_name() {
    let names = ["EVENT_NAME", "COUNT_WAIT", "SUM_TIMER_WAIT", "MIN_TIMER_WAIT", "AVG_TIMER_WAIT", "MAX_TIMER_WAIT"];
    let columns =
        names.iter().enumerate().map(|(index, name)| if index == 0 { text_column(name) } else { number_column(name) }).collect();
    let row = |name: &str, numbers: [u64; 5]| core::iter::once(name.into()).chain(numbers.map(OwnedValue::from)).collect();
    let rows = vec![
        row("wait/io/file/sql/ERRMSG", [3, 163141234, 9438828, 54380411, 137474608]),
        row("wait/io/file/sql/FRM", [296, 1439109522, 63852, 4861856, 93699054]),
        row("wait/io/file/sql/pid", [1, 31843368, 31843368, 31843368, 31843368]),
        row("wait/io/file/mysys/charset", [1, 68423052, 68423052, 68423052, 68423052]),
        row("wait/io/file/maria/key_file", [11, 41439948, 1364054, 3767268, 7402450]),
        row("wait/io/file/maria/data_file", [2, 17721434, 8298882, 8860717, 9422552]),
    ];
    let expected = "\
*************************** 1. row ***************************
    EVENT_NAME: wait/io/file/sql/ERRMSG
    COUNT_WAIT: 3
SUM_TIMER_WAIT: 163141234
MIN_TIMER_WAIT: 9438828
AVG_TIMER_WAIT: 54380411
MAX_TIMER_WAIT: 137474608
*************************** 2. row ***************************
    EVENT_NAME: wait/io/file/sql/FRM
    COUNT_WAIT: 296
SUM_TIMER_WAIT: 1439109522
MIN_TIMER_WAIT: 63852
AVG_TIMER_WAIT: 4861856
MAX_TIMER_WAIT: 93699054
*************************** 3. row ***************************
    EVENT_NAME: wait/io/file/sql/pid
    COUNT_WAIT: 1
SUM_TIMER_WAIT: 31843368
MIN_TIMER_WAIT: 31843368
AVG_TIMER_WAIT: 31843368
MAX_TIMER_WAIT: 31843368
*************************** 4. row ***************************
    EVENT_NAME: wait/io/file/mysys/charset
    COUNT_WAIT: 1
SUM_TIMER_WAIT: 68423052
MIN_TIMER_WAIT: 68423052
AVG_TIMER_WAIT: 68423052
MAX_TIMER_WAIT: 68423052
*************************** 5. row ***************************
    EVENT_NAME: wait/io/file/maria/key_file
    COUNT_WAIT: 11
SUM_TIMER_WAIT: 41439948
MIN_TIMER_WAIT: 1364054
AVG_TIMER_WAIT: 3767268
MAX_TIMER_WAIT: 7402450
*************************** 6. row ***************************
    EVENT_NAME: wait/io/file/maria/data_file
    COUNT_WAIT: 2
SUM_TIMER_WAIT: 17721434
MIN_TIMER_WAIT: 8298882
AVG_TIMER_WAIT: 8860717
MAX_TIMER_WAIT: 9422552
6 rows in set (0.01 sec)
";
    let grid = Grid { columns, rows };
    check(grid.vertical().footer(seconds(0.01)), expected);
    let human = grid.clone().limit(1).vertical().times(Times::Human).to_string();
    assert!(human.contains("COUNT_WAIT: 3\nSUM_TIMER_WAIT: 163.14 us\nMIN_TIMER_WAIT: 9.44 us\n"), "{human}");
}

#[test]
fn wl4678_file_summaries() {
    let grid = record(&[
        ("FILE_NAME", "/usr/local/mysql/share/mysql/english/errmsg.sys"),
        ("EVENT_NAME", "wait/io/file/sql/ERRMSG"),
        ("COUNT_READ", "3"),
        ("COUNT_WRITE", "0"),
        ("SUM_NUMBER_OF_BYTES_READ", "43250"),
        ("SUM_NUMBER_OF_BYTES_WRITE", "0"),
    ]);
    let expected = "\
*************************** 1. row ***************************
                FILE_NAME: /usr/local/mysql/share/mysql/english/errmsg.sys
               EVENT_NAME: wait/io/file/sql/ERRMSG
               COUNT_READ: 3
              COUNT_WRITE: 0
 SUM_NUMBER_OF_BYTES_READ: 43250
SUM_NUMBER_OF_BYTES_WRITE: 0
1 row in set (0.01 sec)
";
    check(grid.vertical().footer(seconds(0.01)), expected);
    let by_event_name = ["EVENT_NAME", "COUNT_READ", "COUNT_WRITE", "SUM_NUMBER_OF_BYTES_READ", "SUM_NUMBER_OF_BYTES_WRITE"];
    let expected = "\
*************************** 1. row ***************************
               EVENT_NAME: wait/io/file/sql/ERRMSG
               COUNT_READ: 3
              COUNT_WRITE: 0
 SUM_NUMBER_OF_BYTES_READ: 43250
SUM_NUMBER_OF_BYTES_WRITE: 0
1 row in set (0.00 sec)
";
    check(grid.select(&by_event_name).unwrap().vertical().footer(seconds(0.0)), expected);
}

/// The text of WL#2360 has lost its line ends and runs of spaces, so only the words are compared; the frame is one word.
#[test]
fn wl2360_setup_instruments() {
    let transcript = "\
        +----------------------------------------------------------+---------+-------+ | NAME | ENABLED | TIMED | \
        +----------------------------------------------------------+---------+-------+ | wait/synch/mutex/sql/LOCK_des_key_file \
        | YES | YES | | wait/synch/mutex/mysys/KEY_CACHE::cache_lock | YES | YES | | wait/synch/mutex/myisam/MI_SORT_INFO::mutex \
        | YES | YES | | wait/synch/mutex/tina/tina_mutex | YES | YES | | wait/synch/mutex/archive/archive_mutex | YES | YES | | \
        wait/synch/mutex/archive/azio_container::thresh_mutex | YES | YES | | wait/synch/mutex/blackhole/blackhole_mutex | YES | \
        YES | | wait/synch/mutex/heap/HP_SHARE::intern_lock | YES | YES | | wait/synch/mutex/maria/MARIA_SHARE::key_del_lock | \
        YES | YES | | wait/synch/mutex/myisammrg/MYRG_INFO::mutex | YES | YES | | wait/synch/rwlock/sql/LOCK_grant | YES | YES | \
        | wait/synch/rwlock/mysys/WT_RESOURCE::lock | YES | YES | | wait/synch/rwlock/mysys/SAFE_HASH_mutex | YES | YES | | \
        wait/synch/rwlock/myisam/MYISAM_SHARE::key_root_lock | YES | YES | | wait/synch/rwlock/maria/MARIA_KEYDEF::root_lock | \
        YES | YES | | wait/synch/cond/sql/PAGE::cond | YES | YES | | wait/synch/cond/mysys/WT_RESOURCE::cond | YES | YES | | \
        wait/synch/cond/myisam/MI_SORT_INFO::cond | YES | YES | | wait/synch/cond/archive/azio_container::threshhold | YES | YES \
        | | wait/synch/cond/maria/MARIA_SHARE::intern_cond | YES | YES | | wait/io/file/sql/ERRMSG | YES | YES | | \
        wait/io/file/mysys/proc_meminfo | YES | YES | | wait/io/file/myisam/backup_log | YES | YES | | \
        wait/io/file/tina/metadata | YES | YES | | wait/io/file/maria/control | YES | YES | \
        +----------------------------------------------------------+---------+-------+";
    let names = transcript.split(['|', '+']).map(str::trim).filter(|cell| cell.starts_with("wait/"));
    let mut rows: Vec<Vec<&str>> = names.map(|name| vec![name, "YES", "YES"]).collect();
    assert_eq!(rows.len(), 25);
    // The frame is wider than any of these sample rows: it was that of the whole table, whose longest name it tells to have 56.
    let longest = "wait/synch/rwlock/".to_owned() + &"x".repeat(56 - 18);
    rows.push(vec![&longest, "YES", "YES"]);
    let grid = texts(&["NAME", "ENABLED", "TIMED"], &rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let text = grid.boxed().footer(Footer::None).to_string();
    check_words(&text.replace(&format!("| {longest} | YES     | YES   |\n"), ""), transcript);
}

#[test]
fn wl2360_performance_timers() {
    let row = |name: &str, numbers: [i64; 3]| core::iter::once(name.into()).chain(numbers.map(OwnedValue::from)).collect();
    let mut columns: Vec<ColumnHead> =
        ["TIMER_FREQUENCY", "TIMER_RESOLUTION", "TIMER_OVERHEAD"].map(|name| ColumnHead::new(name, SqlType::Bigint)).into();
    columns.insert(0, text_column("TIMER_NAME").not_null());
    let rows = vec![
        row("CYCLE", [1595661691, 1, 14]),
        row("NANOSECOND", [1000000000, 1, 1350]),
        row("MICROSECOND", [1000000, 1, 1227]),
        row("MILLISECOND", [1004, 1, 1319]),
        row("TICK", [103, 1, 947]),
    ];
    let grid = Grid { columns, rows };
    let expected = "\
+-------------+-----------------+------------------+----------------+
| TIMER_NAME  | TIMER_FREQUENCY | TIMER_RESOLUTION | TIMER_OVERHEAD |
+-------------+-----------------+------------------+----------------+
| CYCLE       |      1595661691 |                1 |             14 |
| NANOSECOND  |      1000000000 |                1 |           1350 |
| MICROSECOND |         1000000 |                1 |           1227 |
| MILLISECOND |            1004 |                1 |           1319 |
| TICK        |             103 |                1 |            947 |
+-------------+-----------------+------------------+----------------+
5 rows in set (0.13 sec)
";
    check(grid.boxed().footer(seconds(0.13)), expected);
    // The worklog's transcript was touched by hand: a heading shortened within its frame, a count not updated.
    let transcript = "\
        +-------------+-----------------+------------------+----------------+ | TIMER_NAME | TIMER_FREQUENCY | RESOLUTION | \
        TIMER_OVERHEAD | +-------------+-----------------+------------------+----------------+ | CYCLE | 1595661691 | 1 | 14 | | \
        NANOSECOND | 1000000000 | 1 | 1350 | | MICROSECOND | 1000000 | 1 | 1227 | | MILLISECOND | 1004 | 1 | 1319 | | TICK | 103 \
        | 1 | 947 | +-------------+-----------------+------------------+----------------+ 6 rows in set (0.13 sec)";
    check_words(&expected.replace("TIMER_RESOLUTION", "RESOLUTION").replace("5 rows", "6 rows"), transcript);
}

#[test]
fn wl2360_setup_timers() {
    let grid = texts(&["NAME", "TIMER_NAME"], &[&["Wait", "CYCLE"]]);
    let expected = "\
+------+------------+
| NAME | TIMER_NAME |
+------+------------+
| Wait | CYCLE      |
+------+------------+
1 row in set (0.00 sec)
";
    check(grid.boxed().footer(seconds(0.0)), expected);
    let transcript = "\
        +------+------------+ | NAME | TIMER_NAME | +------+------------+ | Wait | CYCLE | +------+------------+ 1 row in set \
        (0.00 sec)";
    check_words(expected, transcript);
}

#[test]
fn nothing_to_show() {
    let grid = texts(&["NAME"], &[]);
    check(grid.boxed(), "Empty set\n");
    check(grid.vertical().footer(seconds(0.004)), "Empty set (0.00 sec)\n");
    check(grid.boxed().footer(Footer::None), "");
    check(texts(&[], &[&[], &[]]).boxed(), "+\n|\n+\n|\n|\n+\n2 rows in set\n");
}

#[test]
fn footers() {
    let grid = texts(&["A"], &[&["b"]]);
    let footer = |time| grid.boxed().footer(Footer::Timed(time)).to_string().lines().last().map(str::to_owned);
    assert_eq!(footer(Duration::from_millis(59_990)).as_deref(), Some("1 row in set (59.99 sec)"));
    assert_eq!(footer(Duration::from_secs(61)).as_deref(), Some("1 row in set (1 min 1.00 sec)"));
    assert_eq!(footer(Duration::from_secs(7_200)).as_deref(), Some("1 row in set (2 hours 0.00 sec)"));
    assert_eq!(
        footer(Duration::from_secs(2 * 86_400 + 3_600 + 120)).as_deref(),
        Some("1 row in set (2 days 1 hour 2 min 0.00 sec)")
    );
}

#[test]
fn room_for_null_and_sides() {
    let mut grid = Grid {
        columns: vec![text_column("T"), text_column("U").not_null(), number_column("N"), ColumnHead::new("D", SqlType::Double)],
        rows: vec![vec!["a".into(), "b".into(), 7_u64.into(), 0.5.into()]],
    };
    check(
        grid.boxed().footer(Footer::None),
        "\
+------+---+------+------+
| T    | U | N    | D    |
+------+---+------+------+
| a    | b |    7 |  0.5 |
+------+---+------+------+
",
    );
    grid.rows.push(vec![OwnedValue::Null, "".into(), OwnedValue::Null, 1e300.into()]);
    check(
        grid.boxed().footer(Footer::None),
        "\
+------+---+------+-------+
| T    | U | N    | D     |
+------+---+------+-------+
| a    | b |    7 |   0.5 |
| NULL |   | NULL | 1e300 |
+------+---+------+-------+
",
    );
}

#[test]
fn odd_cells() {
    let rows: &[&[&str]] = &[
        &["日本語", "2 columns each"],
        &["e\u{301}a", "combining"],
        &["👩\u{200d}👩\u{200d}👧", "joined"],
        &["a\nb\tc", "control"],
        &["\u{1b}]0;t\u{7}", "commands"],
        &["a\u{202e}b", "direction"],
        &["C:\\n", "backslash"],
    ];
    check(
        texts(&["NAME\n", "WHAT"], rows).boxed(),
        r"+-----------------+----------------+
| NAME\n          | WHAT           |
+-----------------+----------------+
| 日本語          | 2 columns each |
| éa              | combining      |
| 👩‍👩‍👧              | joined         |
| a\nb\tc         | control        |
| \u{1b}]0;t\u{7} | commands       |
| a\u{202e}b      | direction      |
| C:\n            | backslash      |
+-----------------+----------------+
7 rows in set
",
    );
    check(
        texts(&["N\u{1b}"], &[&["1\n*** 2. row ***"]]).vertical(),
        r"*************************** 1. row ***************************
N\u{1b}: 1\n*** 2. row ***
1 row in set
",
    );
}

#[test]
fn times_for_people() {
    let columns = vec![number_column("COUNT_STAR"), number_column("TIMER_WAIT"), number_column("TIMER_OVERHEAD")];
    let times = [Some(31_843_368_u64), None, Some(43), Some(u64::MAX)];
    let rows = times.map(|time| vec![1000_u64.into(), time.into(), 1350_u64.into()]).to_vec();
    let mut grid = Grid { columns, rows };
    check(
        grid.boxed().times(Times::Human).footer(Footer::None),
        "\
+------------+------------+----------------+
| COUNT_STAR | TIMER_WAIT | TIMER_OVERHEAD |
+------------+------------+----------------+
|       1000 |   31.84 us |           1350 |
|       1000 |       NULL |           1350 |
|       1000 |      43 ps |           1350 |
|       1000 |   213.50 d |           1350 |
+------------+------------+----------------+
",
    );
    assert!(grid.vertical().times(Times::Human).to_string().contains("    TIMER_WAIT: 43 ps\n"));
    // What SUM and AVG come as.
    let columns = vec![
        ColumnHead::new("SUM_TIMER_WAIT", SqlType::Decimal(42, 0)),
        ColumnHead::new("AVG_TIMER_WAIT", SqlType::Decimal(24, 4)),
    ];
    let exact = |digits: &str| OwnedValue::Decimal(digits.to_owned());
    // Sums of many threads exceed 64 bits.
    let rows = [["31843368", "43.5000"], ["-5", "0.0000"], ["100000000000000000000", "1.0000"]];
    let sums = Grid { columns, rows: rows.map(|row| row.map(exact).to_vec()).to_vec() };
    assert_eq!(
        sums.boxed().times(Times::Human).footer(Footer::None).to_string().lines().skip(3).take(3).collect::<Vec<_>>(),
        ["|       31.84 us |          44 ps |", "|             -5 |           0 ps |", "|      1157.41 d |           1 ps |"]
    );
    let odd: [OwnedValue; 5] = [5_i64.into(), (-5_i64).into(), 2401.4.into(), f64::NAN.into(), "5".into()];
    grid.rows = odd.map(|time| vec![1_u64.into(), time, 1_u64.into()]).to_vec();
    let text = grid.boxed().times(Times::Human).to_string();
    for time in ["|       5 ps |", "|         -5 |", "|    2.40 ns |", "|        NaN |", "|          5 |"] {
        assert!(text.contains(time), "{time} {text}");
    }
}

#[test]
fn too_wide() {
    let columns = vec![text_column("EVENT_NAME"), text_column("SOURCE"), number_column("TIMER_WAIT")];
    let row = |name: &str, source: &str| vec![name.into(), source.into(), 31_843_368_u64.into()];
    let rows =
        vec![row("wait/synch/mutex/mysys/KEY_CACHE::cache_lock", "src/main.rs:7"), row("idle", "a few words more than fit")];
    let grid = Grid { columns, rows };
    let fit = |columns| grid.boxed().fit(Fit::Columns(columns)).footer(Footer::None);
    assert_eq!(fit(90).to_string(), grid.boxed().footer(Footer::None).to_string());
    check(
        fit(80),
        "\
+-------------------------------------+---------------------------+------------+
| EVENT_NAME                          | SOURCE                    | TIMER_WAIT |
+-------------------------------------+---------------------------+------------+
| …/mutex/mysys/KEY_CACHE::cache_lock | src/main.rs:7             |   31843368 |
| idle                                | a few words more than fit |   31843368 |
+-------------------------------------+---------------------------+------------+
",
    );
    check(
        fit(60),
        "\
+----------------------+----------------------+------------+
| EVENT_NAME           | SOURCE               | TIMER_WAIT |
+----------------------+----------------------+------------+
| …Y_CACHE::cache_lock | src/main.rs:7        |   31843368 |
| idle                 | a few words more th… |   31843368 |
+----------------------+----------------------+------------+
",
    );
    for columns in [51, 1, 0] {
        assert_eq!(fit(columns).to_string(), grid.vertical().footer(Footer::None).to_string());
    }
    // Headings are never shortened.
    let heading = "PERFORMANCE_SCHEMA_ACTORS_SIZE";
    let text = texts(&[heading, "B"], &[&["wait/synch/mutex/mysys/KEY_CACHE::cache_lock", "b"]]);
    assert!(text.boxed().fit(Fit::Columns(38)).to_string().contains(&format!("| {heading} | B |")));
    assert!(text.boxed().fit(Fit::Columns(37)).to_string().contains(&format!("\n{heading}: ")));
    assert_eq!(fit(52).to_string().lines().next().map(str::len), Some(52));
}

#[test]
fn what_is_kept_of_a_long_text() {
    let check = |text: &str, width: usize, expected: &str| assert_eq!(shorten(text, width), expected, "{text} {width}");
    check("wait/synch/mutex/app/LOCK_open", 20, "…mutex/app/LOCK_open");
    check("wait/synch/mutex/app/LOCK_open", 24, "…/mutex/app/LOCK_open");
    check("wait/synch/mutex/app/LOCK_open", 9, "…OCK_open");
    check("/home/me/src/search/index.rs:120", 16, "…/index.rs:120");
    check("stage/sql/Sending data to a client", 16, "…/Sending data…");
    check("stage/sql/Sending data to a client", 26, "…/Sending data to a client");
    check("stage/sql/a b", 9, "…/sql/a b");
    check("stage/sql/a b", 1, "…");
    check("/home/me/My Documents/index.rs:120", 16, "…/index.rs:120");
    check("/* a/b */ SELECT c FROM d", 12, "/* a/b */ S…");
    check("SELECT a/b FROM c", 12, "SELECT a/b…");
    check("日本語日本語", 5, "…本語");
    check("日本語 日本語", 6, "日本…");
    check("aae\u{301}", 2, "…e\u{301}");
    check("a日\u{301}", 2, "…");
    check("abc", 1, "…");
    check("abc", 0, "");
}

#[test]
fn shortened_texts_are_short() {
    for grid in odd_grids(300) {
        for text in
            grid.rows.iter().flatten().filter_map(|value| if let OwnedValue::Text(text) = value { Some(text) } else { None })
        {
            let shown = super::Shown::new(text.into());
            for width in 0..shown.width {
                assert!(shorten(&shown.text, width).width() <= width, "{text:?} {width}");
            }
        }
    }
}

#[test]
fn frames_are_straight() {
    let grids = odd_grids(400).chain(core::iter::once(texts(ODD, &[ODD, ODD])));
    for grid in grids {
        for fit in [Fit::Never, Fit::Columns(40), Fit::Columns(80), Fit::Columns(120)] {
            let text = grid.boxed().fit(fit).footer(Footer::None).to_string();
            assert!(!text.contains(|c: char| c != '\n' && super::is_hostile(c)), "{text}");
            if text.starts_with('*') {
                assert_ne!(fit, Fit::Never);
                continue;
            }
            let mut lines = text.lines();
            let width = lines.next().map_or(0, str::width);
            assert!(lines.all(|line| line.width() == width), "{text}");
            assert_eq!(text.lines().count(), grid.rows.len() + 4, "{text}");
            if let Fit::Columns(limit) = fit {
                assert!(width <= limit, "{text}");
            }
        }
    }
}

#[test]
fn a_huge_cell() {
    let huge = "x".repeat(70_000);
    let grid = texts(&["A", "B"], &[&[&huge, "y"], &["z", "y"]]);
    assert!(grid.boxed().to_string().lines().take(6).all(|line| line.len() == 70_000 + 8));
    let text = grid.boxed().fit(Fit::Columns(80)).to_string();
    assert!(text.lines().take(6).all(|line| line.width() == 80), "{text}");
}
