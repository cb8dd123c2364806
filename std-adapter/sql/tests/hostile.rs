//! Statements that would take for ever, or all memory, or reach what they should not: an error in time, never a panic.

mod common;

use common::{AN_HOUR, World, run};
use perfschema::core::Size;
use perfschema_sql::{Account, Database, Error, Limits, Outcome, Right, STATEMENT_STACK, Session};
use std::time::{Duration, Instant};

fn limited(time: Duration, memory_bytes: usize) -> Session {
    let world = World::new();
    let actor = world.actor("thread/test/main");
    for event in 0..16 {
        world.wait(&actor, 0, event, 1);
    }
    let limits = Limits { time, memory_bytes, ..Limits::default() };
    let mut session = Database::new(world.region).limits(limits).session(Account::default()).expect("there is memory");
    session.use_schema("performance_schema").expect("it is there");
    session
}

const JOIN: &str = "SELECT COUNT(*) FROM events_waits_history_long a, events_waits_history_long b, events_waits_history_long c, \
                    events_waits_history_long d, events_waits_history_long e, events_waits_history_long f, events_waits_history_long g";

/// Long after all that is here to end in time.
const A_MINUTE: Duration = Duration::from_secs(60);

#[test]
fn a_statement_ends_in_time() {
    let limit = Duration::from_millis(200);
    let mut session = limited(limit, 64 << 20);
    assert_eq!(run(&mut session, "SET cte_max_recursion_depth = 4294967295"), "0 changed");
    for statement in [
        JOIN,
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n",
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT * FROM n) SELECT COUNT(*) FROM n",
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT 1 FROM n) SELECT * FROM n WHERE i = 2",
        "SELECT SUM(CONCAT(a.event_id, REPEAT('a', 100000)) LIKE '%aab%') FROM events_waits_history_long a, events_waits_history_long b, \
         events_waits_history_long c, events_waits_history_long d",
        "SELECT SUM(CONCAT(a.event_id, REPEAT('a', 60000)) REGEXP '(a*)*b') FROM events_waits_history_long a, events_waits_history_long b, events_waits_history_long c",
        // Of each place all that is left is looked at.
        "SELECT REGEXP_REPLACE(REPEAT('a', 65000), '.*b|a', '')",
    ] {
        let start = Instant::now();
        let error = session.execute(statement).expect_err(statement);
        assert_eq!((error.errno, error.sqlstate), (3024, "HY000"), "{statement}: {error}");
        // They would run for half an hour, or for ever.
        assert!(start.elapsed() < A_MINUTE, "{statement}: {:?}", start.elapsed());
    }
    assert_eq!(run(&mut session, "SELECT 1"), "1\n1\n");
}

#[test]
fn a_session_may_want_less_time_and_never_more() {
    for (limit, own) in [(2 * A_MINUTE, "20"), (Duration::from_millis(200), "99999999")] {
        let mut session = limited(limit, 64 << 20);
        assert_eq!(run(&mut session, &format!("SET max_execution_time = {own}")), "0 changed");
        let start = Instant::now();
        assert_eq!(session.execute(JOIN).map_err(|error| error.errno), Err(3024));
        assert!(start.elapsed() < A_MINUTE, "{own}: {:?}", start.elapsed());
    }
}

#[test]
fn a_time_that_no_clock_will_see() {
    assert_eq!(run(&mut limited(Duration::MAX, 4 << 20), "SELECT 1"), "1\n1\n");
}

#[test]
fn a_statement_takes_bounded_memory() {
    let mut session = limited(AN_HOUR, 4 << 20);
    assert_eq!(run(&mut session, "SET cte_max_recursion_depth = 4294967295"), "0 changed");
    for statement in [
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n LIMIT 1000000) SELECT i, REPEAT('a', 1000) FROM n",
        "SELECT a.*, b.*, c.* FROM events_waits_history_long a, events_waits_history_long b, events_waits_history_long c, events_waits_history_long d",
    ] {
        let error = session.execute(statement).expect_err(statement);
        assert_eq!(error.errno, 1041, "{statement}: {error}");
    }
    let full = session.execute("CREATE TABLE test.t AS SELECT REPEAT('a', 1000000) AS a UNION ALL SELECT REPEAT('b', 1000000)");
    assert!(full.is_ok(), "{full:?}");
    let mut last = None;
    for _ in 0..8 {
        last = session.execute("INSERT INTO test.t SELECT * FROM test.t LIMIT 2").err();
    }
    assert_eq!(last.map(|error| error.errno), Some(1114));
    for statement in [
        "SELECT REPEAT('a', 99999999)",
        "SELECT LPAD('a', 99999999, 'b')",
        "SELECT SPACE(18446744073709551615)",
        "SELECT REPLACE(REPEAT('a', 1000000), 'a', REPEAT('b', 1000000))",
        "SELECT CONCAT(a, a) FROM test.t",
        "SELECT GROUP_CONCAT(a) FROM test.t a JOIN events_waits_history_long",
        "SELECT 'a' REGEXP REPEAT('a', 100000)",
        "SELECT 'a' REGEXP '((a{100}){100}){100}'",
        "SELECT REPEAT('a', 100000) REGEXP 'b'",
        "SELECT REPEAT('a', 1000000) LIKE REPEAT('%a', 1000)",
    ] {
        let error = session.execute(statement).map(|_| ()).expect_err(statement);
        assert!([1153, 1139].contains(&error.errno), "{statement}: {error}");
    }
    assert_eq!(run(&mut session, "SELECT 1"), "1\n1\n");
}

const UPDATED: &str = "Rows matched: 1  Changed: 1  Warnings: 0";

/// Deep and long statements, on a small stack, too.
#[test]
fn deep_and_long_statements() {
    let sum = |name: &str| vec![name; 400].join("+");
    let aliased = |clause: &str| format!("SELECT {} AS x FROM (SELECT 1 AS a) AS t {clause} {}", sum("a"), sum("x"));
    let statements = [
        // An alias is as deep and as long each time.
        aliased("ORDER BY"),
        format!("SELECT ({})", aliased("WHERE")),
        aliased("GROUP BY"),
        aliased("HAVING"),
        format!("SELECT {}1", "1+".repeat(100_000)),
        format!("SELECT {}1", "1 AND ".repeat(50_000)),
        format!("SELECT {}1", "- ".repeat(100_000)),
        format!("SELECT {}1", "NOT ".repeat(100_000)),
        format!("SELECT {}1{}", "(".repeat(50_000), ")".repeat(50_000)),
        format!("SELECT {}1{}", "ABS(".repeat(50_000), ")".repeat(50_000)),
        format!("SELECT {}1{}", "(SELECT ".repeat(20_000), ")".repeat(20_000)),
        format!("SELECT * FROM {}threads{}", "(SELECT * FROM ".repeat(20_000), ") a".repeat(20_000)),
        format!("SELECT 1{}", " UNION SELECT 1".repeat(50_000)),
        format!("(SELECT 1){}", " UNION (SELECT 1)".repeat(700)),
        format!("SELECT 1{}", " EXCEPT SELECT 1".repeat(300)),
        format!("SELECT 1 FROM threads a0{}", (1..200).map(|n| format!(" JOIN threads a{n}")).collect::<String>()),
        format!("SELECT 1{}", " IS NULL".repeat(100_000)),
        format!("SELECT CASE {}1{}", "WHEN 1 THEN CASE ".repeat(20_000), " END".repeat(20_000)),
        format!("SELECT 'a'{}", " COLLATE utf8mb4_bin".repeat(30_000)),
        "(".repeat(1 << 19),
        "SELECT ".repeat(1 << 16),
        format!("SELECT '{}'", "a".repeat(2 << 20)),
    ];
    // Within what is allowed, and refused by SQLite or not at all.
    let within = [
        format!("SELECT {}1", "1+".repeat(900)),
        format!("SELECT {}1", "1 AND ".repeat(900)),
        format!("SELECT {}1{}", "(".repeat(30), ")".repeat(30)),
        format!("SELECT 1{}", " UNION SELECT 1".repeat(90)),
        format!("(SELECT 1){}", " UNION (SELECT 1)".repeat(120)),
        format!("SELECT * FROM (SELECT 1{}) AS t", " UNION ALL SELECT 1".repeat(110)),
        format!("SELECT 1 IN (SELECT 1{})", " INTERSECT SELECT 1".repeat(110)),
        format!("SELECT 1 FROM (SELECT 1) a0{}", (1..60).map(|n| format!(" JOIN (SELECT 1) a{n}")).collect::<String>()),
        format!("SELECT 1 IN ({}1)", "1,".repeat(30_000)),
        format!("SELECT {}1", "1,".repeat(900)),
        format!("SELECT CONCAT({}1)", "1,".repeat(90)),
    ];
    // A small one, and one that is just not taken for too small.
    let stacks = [256 << 10, STATEMENT_STACK + (512 << 10)];
    let run = move || {
        let mut session = World::new().session();
        for statement in &statements {
            let error = session.execute(statement).map(|_| ()).expect_err("too much");
            let head: String = statement.chars().take(30).collect();
            assert!([1436, 1153, 1064, 3170].contains(&error.errno), "{head}…: {error}");
        }
        for statement in &within {
            let result = session.execute(statement).map(|_| ());
            let head: String = statement.chars().take(30).collect();
            assert!(matches!(&result, Ok(()) | Err(Error { errno: 1436, .. })), "{head}…: {result:?}");
        }
        let many = format!("SELECT 1 IN ({}1)", "1,".repeat(100_000));
        let error = "ERROR 3170 (HY000): Memory capacity of 33554432 bytes for 'parser_max_mem_size' exceeded. Parser bailed out for this query.";
        assert_eq!(run(&mut session, &many), error);
        // Also where the tokenizer knows another end of a text or a comment than one would think.
        for hidden in [r"b'\',1,", "@/*,1,"] {
            let many = format!("SELECT {}", hidden.replace("1,", &"1,".repeat(100_000)));
            assert_eq!(run(&mut session, &many), error, "{hidden}");
        }
        // Texts, names and comments are one each, however long.
        for long in ["'1,'", "\"it\\\"s\"", "1 AS `1,`", "1 # 1,", "1 -- 1,", "1 /* 1, */", "1 /*!99999 1, */"] {
            let statement = format!("SELECT {}", long.replace("1,", &"1,".repeat(100_000)));
            assert!(session.execute(&statement).is_ok(), "{long}");
        }
        assert!(session.execute(&format!("SELECT '{}'", "''".repeat(100_000))).is_ok());
        // What an UPDATE assigns may be deep each time.
        assert!(session.execute("CREATE TABLE test.t AS SELECT 1 AS a, 2 AS b").is_ok());
        let sum = vec!["a"; 150].join(" + ");
        assert_eq!(run(&mut session, &format!("UPDATE test.t SET a = {sum}, b = {sum}")), UPDATED);
        assert_eq!(run(&mut session, "SELECT a, b FROM test.t"), "a,b\n150,22500\n");
        let deep = vec!["a"; 900].join(" + ");
        let deep = session.execute(&format!("UPDATE test.t SET a = {deep}, b = {deep}")).map(|_| ()).map_err(|error| error.errno);
        assert!(matches!(deep, Ok(()) | Err(1436)), "{deep:?}");
        let doubled = |times| format!("UPDATE test.t SET {}", vec!["a = a + a"; times].join(", "));
        assert_eq!(run(&mut session, &doubled(38)), UPDATED);
        let found = session.execute(&doubled(1000)).map_err(|error| error.errno);
        assert_eq!(found, Err(1436));
        let most = format!("SELECT {}1", "1+".repeat(200));
        assert!(matches!(session.execute(&most), Ok(Outcome::Rows(_))));
    };
    for stack in stacks {
        let thread = std::thread::Builder::new().stack_size(stack).spawn(run.clone());
        thread.expect("a thread").join().expect("no overflow");
    }
}

/// As many pieces as a statement may have: what is done for each must not depend on how many there are.
#[test]
fn statements_of_many_pieces() {
    let start = Instant::now();
    let mut session = World::new().session();
    assert_eq!(perfschema_sql::split(&"1;".repeat(1 << 17)).len(), 1 << 17);
    let lines = perfschema_sql::split(&"1é;\n".repeat(1 << 16));
    assert!(lines.len() == 1 << 16 && lines.iter().all(|piece| piece.text == "1é"));
    let texts: String = (1..32_767).map(|number| format!("'{number:x}',")).collect();
    let names: String = (0..1_500).map(|number| format!("n{number} AS (SELECT 1),")).collect();
    let aliases: String = (0..10_000).map(|number| format!("z z{number},")).collect();
    for (statement, errno) in [
        (format!("SELECT {}1", "1,".repeat(30_000)), 1436),
        (format!("SELECT{texts}'0'"), 1390),
        (format!("WITH {names}z AS (SELECT 1) SELECT 1 FROM {aliases}z"), 1436),
        (format!("WITH {names}z AS (SELECT 1) SELECT 1 FROM {}z", "z,".repeat(20_000)), 1066),
        (format!("SELECT {}1{}", "BINARY(".repeat(20_000), ")".repeat(20_000)), 1436),
        (format!("SELECT {}x", "BINARY ".repeat(30_000)), 1054),
        (format!("SELECT x IN ({0}1) IN ({0}1) FROM (SELECT '1' AS x) AS t", "1.5,".repeat(8_000)), 1436),
    ] {
        let head: String = statement.chars().take(30).collect();
        for result in [session.execute(&statement).map(|_| ()), session.describe(&statement).map(|_| ())] {
            // On a slow machine its time may be over.
            let errno_here = result.expect_err("too much").errno;
            assert!(errno_here == errno || errno_here == 3024, "{head}…: {errno_here}");
        }
    }
    // By the square of their number it would be many minutes.
    assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
}

#[test]
fn what_a_session_keeps_is_bounded() {
    let mut session = World::new().session();
    let mut kept = 0;
    let error = loop {
        let set = format!("SET @v{kept} = REPEAT('x', 1000000)");
        match session.execute(&set) {
            Ok(_) => kept += 1,
            Err(error) => break error,
        }
        assert!(kept < 100, "there is no end");
    };
    assert_eq!((error.errno, kept), (1041, 8));
    assert_eq!(run(&mut session, "SELECT LENGTH(@v7), @v8 IS NULL"), "LENGTH(@v7),@v8 IS NULL\n1000000,1\n");
    // A value makes room for the next one of its name, or for others.
    for set in ["SET @v7 = REPEAT('y', 1000000)", "SET @v7 = NULL", "SET @v8 = REPEAT('x', 1000000)"] {
        assert_eq!(run(&mut session, set), "0 changed", "{set}");
    }
}

/// What sessions keep from one statement to the next is of that which all of them have.
#[test]
fn what_all_sessions_keep_is_bounded() {
    let database = Database::new(World::new().region).limits(Limits { all_bytes: 8 << 20, ..Limits::default() });
    let [mut one, mut two] = [(); 2].map(|()| database.session(Account::default()).expect("there is memory"));
    let done = |session: &mut Session, statement: &str| session.execute(statement).map(|_| ()).map_err(|error| error.errno);
    let prepare = |name: u32| format!("PREPARE p{name} FROM 'SELECT 1 /* {} */'", "x".repeat(1_000_000));
    for kept in 0..3 {
        assert_eq!(done(&mut one, &format!("SET @v{kept} = REPEAT('x', 1000000)")), Ok(()));
        assert_eq!(done(&mut one, &prepare(kept)), Ok(()));
    }
    for kept in 0..2 {
        assert_eq!(done(&mut two, &prepare(kept)), Ok(()));
    }
    for more in ["SET @v = REPEAT('x', 1000000)", "SET @a = 1, @v = REPEAT('x', 1000000)", &prepare(2)] {
        assert_eq!(done(&mut two, more), Err(1041), "{more:.20}");
    }
    assert_eq!(run(&mut two, "SELECT @a IS NULL, @v IS NULL"), "@a IS NULL,@v IS NULL\n1,1\n");
    // What one gives up, another one has.
    for (less, more) in [("SET @v0 = NULL", &prepare(2)), ("DEALLOCATE PREPARE p0", &prepare(3))] {
        assert_eq!(done(&mut two, more), Err(1041), "{more:.20}");
        assert_eq!((done(&mut one, less), done(&mut two, more)), (Ok(()), Ok(())), "{more:.20}");
    }
    drop(one);
    assert_eq!(done(&mut two, "SET @w = REPEAT('x', 1000000)"), Ok(()));
}

/// Joins of a table with itself look rows up instead of trying all pairs, of which there are 25 millions here: more than a statement has time for.
#[test]
fn a_join_by_equality_is_no_product() {
    let world = World::of(&common::CONFIG.with(Size::EventsWaitsHistoryLongSize, 5_000));
    let actor = world.actor("thread/test/main");
    for event in 0..5_000 {
        world.wait(&actor, 0, event, 1);
    }
    let mut session = world.session();
    let from = "SELECT COUNT(*) FROM events_waits_history_long a";
    for (join, expected) in [
        ("JOIN events_waits_history_long b USING (event_id) JOIN events_waits_history_long c USING (event_id)", "5000"),
        ("JOIN events_waits_history_long b ON b.object_instance_begin = a.event_id", "4999"),
        ("LEFT JOIN setup_instruments i ON i.name = a.event_name WHERE i.name IS NOT NULL", "5000"),
        ("WHERE EXISTS (SELECT 1 FROM events_waits_history_long b WHERE b.timer_start = a.timer_end)", "4999"),
    ] {
        assert_eq!(run(&mut session, &format!("{from} {join}")).lines().last(), Some(expected), "{join}");
    }
}

/// What one session has, or its client has not taken yet, another one has not: an error, while the program still has memory.
#[test]
fn sessions_share_a_bound_of_memory() {
    let limits = Limits { all_bytes: 8 << 20, ..Limits::default() };
    let database = Database::new(World::new().region).limits(limits);
    let [mut one, mut two] = [(); 2].map(|()| database.session(Account::default()).expect("there is memory"));
    let rows = |session: &mut Session, rows: usize| {
        let statement = format!(
            "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) SELECT REPEAT('x', 1000000) FROM n"
        );
        session.execute(&statement).map(|_| ()).map_err(|error| error.errno)
    };
    let is_full = rows(&mut one, 9);
    assert!(is_full.is_err(), "by itself");
    assert_eq!(rows(&mut one, 5), Ok(()), "what was refused is nobody's");
    assert_eq!(rows(&mut two, 5), is_full);
    one.forget_result();
    assert_eq!(rows(&mut two, 5), Ok(()));
    assert_eq!(rows(&mut one, 5), is_full);
    // Its next statement, or its end.
    assert_eq!(rows(&mut two, 1), Ok(()));
    assert_eq!(rows(&mut one, 5), Ok(()));
    drop(one);
    assert_eq!(rows(&mut two, 7), Ok(()));
    // Those that may only read leave some of it: who may control can see what they do.
    let reader = Account { right: Right::Read, ..Account::default() };
    let mut readers = [(); 2].map(|()| database.session(reader.clone()).expect("there is memory"));
    two.forget_result();
    assert_eq!(rows(&mut readers[0], 6), Ok(()));
    assert_eq!(rows(&mut readers[1], 2), is_full);
    let error = readers[1].execute("SELECT REPEAT('x', 1000000) UNION ALL SELECT REPEAT('y', 1000000)").map(|_| ());
    assert_eq!(error.expect_err("all is taken").message, "Out of memory; what all sessions may take together is taken");
    assert_eq!(rows(&mut two, 2), Ok(()));
    drop(readers);
    // What is collected of many rows is of it, too, and given back with the statement.
    let collects = "SELECT LENGTH(GROUP_CONCAT(REPEAT('x', 9))) AS n FROM performance_schema.setup_consumers";
    assert_eq!(run(&mut two, collects), "n\n169\n");
    assert_eq!(rows(&mut two, 7), Ok(()));
}
