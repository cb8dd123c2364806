//! UPDATE, and DEFAULT wherever a value is given: what is assigned, in which order, and to all rows or to none.

mod common;

use common::{World, check, run};
use perfschema_sql::{Account, Database, Limits};
use std::sync::mpsc::channel;
use std::time::Duration;

const ONE: &str = "Rows matched: 1  Changed: 1  Warnings: 0";

/// What is assigned is computed once, however many read it, and they read what the column has then.
#[test]
fn what_is_assigned_is_computed_once() {
    let mut session = World::new().session();
    run(&mut session, "CREATE TABLE test.t AS SELECT 0 AS a, 0 AS b, 0 AS c");
    run(&mut session, "SET @i = 0");
    check(&mut session, "UPDATE test.t SET a = (@i := @i + 1), b = a, c = a + b", ONE);
    check(&mut session, "SELECT a, b, c, @i FROM test.t", "1,1,2,1");
    run(&mut session, "CREATE TABLE test.v AS SELECT REPEAT('x', 40) AS x, REPEAT('y', 40) AS y, 2 AS n");
    check(&mut session, "UPDATE test.v SET x = UUID(), y = x", ONE);
    check(&mut session, "SELECT x = y, LENGTH(x) FROM test.v", "1,36");
    // From row to row, in their order.
    run(&mut session, "INSERT INTO test.t VALUES (5, 0, 0), (9, 0, 0)");
    run(&mut session, "SET @i = 0");
    let update = "UPDATE test.t SET b = (@i := @i + 1), c = b * 10 + @i WHERE a > 0 ORDER BY a DESC LIMIT 2";
    check(&mut session, update, "Rows matched: 2  Changed: 2  Warnings: 0");
    check(&mut session, "SELECT a, b, c, @i FROM test.t ORDER BY a", "1,1,2,2\n5,2,22,2\n9,1,11,2");
    // As the column's type has it.
    check(&mut session, "UPDATE test.v SET n = '7', x = CONCAT(n, '!'), n = n + 1, y = n", ONE);
    check(&mut session, "SELECT n, x, y FROM test.v", "8,7!,8");
    check(&mut session, "UPDATE test.v SET n = 1.6, y = n", ONE);
    check(&mut session, "SELECT y FROM test.v", "2");
    for (assignments, after) in [
        ("enabled = 2, timed = IF(enabled = 'NO', 'NO', 'YES')", "NO,NO"),
        ("enabled = 'no', timed = IF(BINARY enabled = 'NO', 'NO', 'YES')", "NO,NO"),
        ("enabled = '1', timed = IF(enabled = 'YES', 2, 1)", "YES,NO"),
        ("enabled = 2, timed = enabled, enabled = IF(timed = 'NO', 'YES', 'NO')", "YES,NO"),
    ] {
        run(&mut session, "UPDATE setup_instruments SET enabled = 'YES', timed = 'YES'");
        let name = "wait/synch/cond/sql/PAGE::cond";
        check(&mut session, &format!("UPDATE setup_instruments SET {assignments} WHERE name = '{name}'"), ONE);
        check(&mut session, &format!("SELECT enabled, timed FROM setup_instruments WHERE name = '{name}'"), after);
    }
}

/// What is wrong is named where it was written.
#[test]
fn what_an_update_does_not_know() {
    let mut session = World::new().session();
    run(&mut session, "CREATE TABLE test.t AS SELECT 1 AS a, 2 AS b");
    for (rest, clause) in
        [("b = nothing", "field list"), ("b = a WHERE nothing = 1", "where clause"), ("b = a ORDER BY nothing", "order clause")]
    {
        let expected = format!("ERROR 1054 (42S22): Unknown column 'nothing' in '{clause}'");
        check(&mut session, &format!("UPDATE test.t SET a = 1, {rest}"), &expected);
    }
    // The columns that are assigned, too, are those of the table.
    for name in ["x.a", "x.t.a", "performance_schema.t.a", "t.nothing", "nothing"] {
        let expected = format!("ERROR 1054 (42S22): Unknown column '{name}' in 'field list'");
        let expected = expected.replace("t.nothing", "nothing");
        check(&mut session, &format!("UPDATE test.t SET {name} = 3"), &expected);
    }
    check(&mut session, "UPDATE test.t AS x SET t.a = 3", "ERROR 1054 (42S22): Unknown column 't.a' in 'field list'");
    let update = "UPDATE setup_instruments SET x.enabled = 'NO'";
    check(&mut session, update, "ERROR 1054 (42S22): Unknown column 'x.enabled' in 'field list'");
    check(&mut session, "SELECT a, b FROM test.t", "1,2");
    for name in ["t.a", "test.t.A", "T.a"] {
        check(&mut session, &format!("UPDATE test.t SET {name} = a + 1"), ONE);
    }
    check(&mut session, "UPDATE test.t AS x SET x.a = 9", ONE);
}

/// Aggregates and windows would choose other rows than those that there are.
#[test]
fn rows_are_changed_one_by_one() {
    let mut session = World::new().session();
    run(&mut session, "CREATE TABLE test.k AS SELECT 1 AS v UNION ALL SELECT 2");
    let group = "ERROR 1111 (HY000): Invalid use of group function";
    let window = |name: &str| format!("ERROR 3593 (HY000): You cannot use the window function '{name}' in this context.'");
    for (statement, expected) in [
        ("UPDATE test.k SET v = SUM(v)", group.to_owned()),
        ("UPDATE test.k SET v = 1 + GROUP_CONCAT(v)", group.to_owned()),
        ("UPDATE test.k SET v = 7 ORDER BY COUNT(*)", group.to_owned()),
        ("UPDATE test.k SET v = 7 WHERE MAX(v) = 2", group.to_owned()),
        ("DELETE FROM test.k ORDER BY MAX(v)", group.to_owned()),
        ("UPDATE setup_instruments SET enabled = IF(COUNT(*) > 0, 'NO', 'YES')", group.to_owned()),
        ("UPDATE setup_instruments SET enabled = IF(ROW_NUMBER() OVER (ORDER BY name) > 3, 'NO', 'YES')", window("row_number")),
        ("UPDATE test.k SET v = SUM(v) OVER ()", window("sum")),
        ("UPDATE test.k SET v = 7 ORDER BY RANK() OVER (ORDER BY v)", window("rank")),
    ] {
        check(&mut session, statement, &expected);
    }
    check(&mut session, "SELECT v FROM test.k", "1\n2");
    check(&mut session, "SELECT COUNT(*) FROM setup_instruments WHERE enabled = 'NO'", "0");
    // Those of a query within are its own.
    let update = "UPDATE test.k SET v = (SELECT COUNT(*) + MAX(n) OVER () FROM (SELECT 4 AS n) AS t)";
    check(&mut session, update, "Rows matched: 2  Changed: 2  Warnings: 0");
    check(&mut session, "SELECT v FROM test.k", "5\n5");
}

/// All rows or none, whatever comes in between.
#[test]
fn an_update_is_whole() {
    let limits = Limits { memory_bytes: 16 << 20, ..Limits::default() };
    let database = Database::new(World::new().region).limits(limits);
    let mut session = database.session(Account::default()).expect("there is memory");
    run(&mut session, "SET cte_max_recursion_depth = 100000");
    let numbers = |rows| {
        format!("WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n LIMIT {rows}) SELECT i, 'a' AS x FROM n")
    };
    // There is no room for all of them.
    check(&mut session, &format!("CREATE TABLE test.t AS {}", numbers(60)), "Records: 60  Duplicates: 0  Warnings: 0");
    check(&mut session, "UPDATE test.t SET x = REPEAT('b', 50000)", "Rows matched: 60  Changed: 60  Warnings: 0");
    run(&mut session, "CREATE TABLE test.rest AS SELECT 1 AS i, REPEAT('r', 1000000) AS x");
    while session.execute("INSERT INTO test.rest SELECT * FROM test.rest LIMIT 1").is_ok() {}
    let full = session.execute("UPDATE test.t SET x = REPEAT('c', 100000)").map_err(|error| error.errno);
    assert_eq!(full, Err(1114));
    check(&mut session, "SELECT x = REPEAT('b', 50000), COUNT(*) FROM test.t GROUP BY 1", "1,60");
    run(&mut session, "DROP TABLE test.rest, test.t");
    // KILL QUERY at any moment.
    run(&mut session, &format!("CREATE TABLE test.t AS {}", numbers(20_000)));
    let canceller = session.canceller();
    let ((begin, begun), (end, ended)) = (channel(), channel());
    let killer = std::thread::spawn(move || {
        for wait in begun {
            std::thread::sleep(wait);
            canceller.cancel();
            end.send(()).expect("it is waited for");
        }
    });
    let mut killed = 0;
    for round in 1..15 {
        begin.send(Duration::from_millis(round * 20)).expect("it goes on");
        let result = session.execute(&format!("UPDATE test.t SET i = i + 1, x = '{round}'"));
        killed += u32::from(result.is_err());
        ended.recv().expect("it goes on");
        check(&mut session, "SELECT COUNT(DISTINCT x), MAX(i) - MIN(i) FROM test.t", "1,19999");
    }
    drop(begin);
    killer.join().expect("it has ended");
    assert!(killed > 0);
}

#[test]
fn default_is_what_the_column_declares() {
    let mut session = World::new().session();
    for (statement, expected) in [
        ("INSERT INTO setup_actors VALUES (DEFAULT, 'x', default, 'NO', DEFAULT(enabled))", "1 changed"),
        ("SELECT * FROM setup_actors WHERE user = 'x'", "%,x,%,NO,YES"),
        ("INSERT INTO setup_actors SET user = DEFAULT(setup_actors.HOST), host = 'y', history = DEFAULT", "1 changed"),
        (
            "UPDATE setup_actors SET enabled = DEFAULT, history = 'NO' WHERE user = 'x'",
            "Rows matched: 1  Changed: 1  Warnings: 0",
        ),
        ("SELECT * FROM setup_actors ORDER BY host, user", "%,%,%,YES,YES\n%,x,%,YES,NO\ny,%,%,YES,YES"),
        ("UPDATE setup_instruments SET enabled = DEFAULT", "ERROR 1364 (HY000): Field 'ENABLED' doesn't have a default value"),
        (
            "INSERT INTO setup_actors (host) VALUES (DEFAULT(nothing))",
            "ERROR 1054 (42S22): Unknown column 'nothing' in 'field list'",
        ),
        // A name, as in MySQL.
        ("UPDATE setup_actors SET enabled = `DEFAULT`", "ERROR 1054 (42S22): Unknown column 'DEFAULT' in 'field list'"),
        (
            "CREATE TABLE test.saved AS SELECT name, timed FROM setup_instruments LIMIT 0",
            "Records: 0  Duplicates: 0  Warnings: 0",
        ),
        ("INSERT INTO test.saved VALUES ('a', 'NO'), ('b', DEFAULT)", "2 changed"),
        ("UPDATE test.saved SET timed = DEFAULT WHERE name = 'a'", "Rows matched: 1  Changed: 1  Warnings: 0"),
        ("SELECT * FROM test.saved", "a,\nb,"),
        ("INSERT INTO test.saved SET name = DEFAULT", "ERROR 1364 (HY000): Field 'name' doesn't have a default value"),
    ] {
        check(&mut session, statement, expected);
    }
    assert!(run(&mut session, "SHOW CREATE TABLE setup_actors").contains("`HOST` char(255) NOT NULL DEFAULT '%' COMMENT"));
    session.execute_with("INSERT INTO setup_actors (user, role) VALUES (?, DEFAULT)", &["z".into()]).unwrap();
    check(&mut session, "SELECT * FROM setup_actors WHERE user = 'z'", "%,z,%,YES,YES");
}

/// INSERT, however its columns are named: each gets one value, also in a table of the session's own.
#[test]
fn columns_of_an_insert() {
    let mut session = World::new().session();
    check(
        &mut session,
        "CREATE TABLE test.d AS SELECT NULLIF(1, 2) AS a, NULLIF(2, 1) AS b",
        "Records: 1  Duplicates: 0  Warnings: 0",
    );
    for (statement, column) in [
        ("INSERT INTO setup_actors (host, user, HOST) VALUES ('x', 'y', 'z')", "HOST"),
        ("INSERT INTO setup_actors SET user = 'x', `User` = 'y'", "USER"),
        ("INSERT IGNORE INTO setup_actors (host, host) SELECT 'x', 'y'", "HOST"),
        ("INSERT INTO test.d (a, A) VALUES (3, 4)", "a"),
        ("INSERT INTO test.d SET b = 3, a = 4, b = 5", "b"),
    ] {
        check(&mut session, statement, &format!("ERROR 1110 (42000): Column '{column}' specified twice"));
    }
    check(&mut session, "SELECT host, user FROM setup_actors", "%,%");
    check(&mut session, "INSERT INTO test.d SET b = 1 + 3, a = 3", "1 changed");
    check(&mut session, "INSERT INTO test.d SET b = DEFAULT", "1 changed");
    check(&mut session, "INSERT INTO test.d SET c = 1", "ERROR 1054 (42S22): Unknown column 'c' in 'field list'");
    check(&mut session, "SELECT a, IFNULL(b, '-') FROM test.d", "1,2\n3,4\n,-");
    session.execute_with("INSERT INTO test.d SET a = ?, b = ?", &[5_i64.into(), 6_i64.into()]).unwrap();
    check(&mut session, "SELECT * FROM test.d WHERE a = 5", "5,6");
}

/// A column that is no table's, and values that are too few, change nothing, and nothing stays open behind them.
#[test]
fn changes_that_fail() {
    let mut session = World::new().session();
    run(&mut session, "CREATE TABLE test.d AS SELECT 1.25 AS v, 'a' AS t");
    for name in ["rowid", "_rowid_"] {
        let error = format!("ERROR 1054 (42S22): Unknown column '{name}' in 'field list'");
        check(&mut session, &format!("UPDATE test.d SET {name} = 5"), &error);
    }
    assert!(run(&mut session, "INSERT INTO test.d VALUES (1)").starts_with("ERROR 1136 "));
    check(&mut session, "INSERT INTO test.d VALUES (2.345, 'b')", "1 changed");
    check(&mut session, "SELECT * FROM test.d", "1.25,a\n2.35,b");
    // As many digits as an INSERT gives it, and it counts as changed once.
    let largest = format!("{}.99", "9".repeat(63));
    for (value, stored, warnings) in [("1e80", largest.as_str(), 1), ("'abc'", "0.00", 0), ("'2.345'", "2.35", 0)] {
        for changed in [1, 0] {
            let expected = format!("Rows matched: 1  Changed: {changed}  Warnings: {warnings}");
            check(&mut session, &format!("UPDATE test.d SET v = {value} WHERE t = 'a'"), &expected);
        }
        run(&mut session, &format!("INSERT INTO test.d VALUES ({value}, 'c')"));
        check(&mut session, "SELECT DISTINCT v FROM test.d WHERE t <> 'b'", stored);
        run(&mut session, "DELETE FROM test.d WHERE t = 'c'");
    }
}

/// Only rows that are different then count as changed, whatever was assigned before and how it was written.
#[test]
fn what_changes_nothing() {
    let mut session = World::new().session();
    run(&mut session, "CREATE TABLE test.t AS SELECT 1 AS a, 2.50 AS d, 1e0 AS r, '7' AS x UNION ALL SELECT 1, 2.50, 1e0, '7'");
    let none = "Rows matched: 2  Changed: 0  Warnings: 0";
    for assignments in [
        "a = '1'",
        "a = 1.0",
        "a = 1e0",
        "a = a + 1, a = a - 1",
        "a = 9, A = 1",
        "d = 2.5",
        "d = '2.5'",
        "d = 2.504",
        "r = 1",
        "r = '1'",
        "x = 7",
        "x = 3 + 4, a = x - 6",
    ] {
        check(&mut session, &format!("UPDATE test.t SET {assignments}"), none);
    }
    let both = "Rows matched: 2  Changed: 2  Warnings: 0";
    check(&mut session, "UPDATE test.t SET a = 2.6, d = 1, r = '2', x = 1.50", both);
    check(&mut session, "SELECT a, d, r, x, x + 0 FROM test.t LIMIT 1", "3,1.00,2,1.50,1.5");
    // Capitals are a difference.
    check(&mut session, "UPDATE test.t SET x = 'a'", both);
    check(&mut session, "UPDATE test.t SET x = 'A'", both);
    check(&mut session, "UPDATE setup_timers SET timer_name = 'TICK' WHERE name = 'wait'", ONE);
    let update = "UPDATE setup_timers SET timer_name = 'CYCLE', timer_name = 'TICK' WHERE name = 'wait'";
    check(&mut session, update, "Rows matched: 1  Changed: 0  Warnings: 0");
}
