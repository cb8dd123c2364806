//! Clauses and modes that decide how a statement is read: HAVING, LIMIT, subqueries, `sql_mode`, comments for some versions.

mod common;

use common::{World, check, run, session};
use perfschema::render::OwnedValue;
use perfschema_sql::Outcome;

#[test]
fn having_without_groups_chooses_rows() {
    let mut session = session();
    for (statement, expected) in [
        ("SELECT name FROM setup_timers HAVING name = 'wait'", "wait"),
        ("SELECT name AS n FROM setup_timers WHERE name <> 'x' HAVING n LIKE 'i%' OR n = 'y'", "idle"),
        // The name of a column of the result comes first.
        ("SELECT CONCAT(name, '!') AS name FROM setup_timers HAVING name = 'wait!'", "wait!"),
        ("SELECT UPPER(name) AS u, LENGTH(name) AS l FROM setup_timers HAVING u = 'wait' AND l > '3' ORDER BY l", "WAIT,4"),
        ("SELECT 1 HAVING 1", "1"),
        ("SELECT DISTINCT 1 AS one FROM setup_timers HAVING one", "1"),
        ("SELECT COUNT(*) AS c FROM setup_timers HAVING c > 1", "5"),
        ("SELECT 1 AS one FROM setup_timers HAVING COUNT(*) = 5", "1"),
        ("SELECT 'x' FROM threads HAVING COUNT(1) = 0", "x"),
        ("SELECT name FROM setup_timers GROUP BY name HAVING name > 'tz'", "wait"),
        ("SELECT name FROM setup_timers t HAVING (SELECT COUNT(*) FROM setup_consumers) > 0 ORDER BY name LIMIT 1", "idle"),
    ] {
        check(&mut session, statement, expected);
    }
    let error = "ERROR 1054 (42S22): Unknown column 'nothing' in 'having clause'";
    assert_eq!(run(&mut session, "SELECT name FROM setup_timers HAVING nothing = 1"), error);
    // However often a long alias is named.
    let statement = format!("SELECT CONCAT('{}') AS x HAVING {}", "a".repeat(50_000), ["x = 'a'"; 800].join(" OR "));
    assert!(run(&mut session, &statement).starts_with("ERROR 1436 "));
}

#[test]
fn having_prefers_what_is_grouped_by_and_then_the_result() {
    let mut session = session();
    let table = "(SELECT 'x' AS user, 5 AS c UNION ALL SELECT 'x', 6 UNION ALL SELECT 'y', 7) AS t";
    for (select, rest, expected) in [
        ("user, SUM(c) AS c", "GROUP BY user HAVING c > 10", "x,11"),
        ("t.user, SUM(t.c) AS C", "GROUP BY t.user HAVING c > 10 ORDER BY c", "x,11"),
        ("SUM(c) AS c", "HAVING c > 10", "18"),
        ("-c AS c", "HAVING COUNT(*) = 3 AND c < 0", "-5"),
        // What is grouped by.
        ("c + 1 AS c", "GROUP BY c HAVING c = 5", "6"),
        ("UPPER(user) AS user, COUNT(*)", "GROUP BY t.user HAVING user LIKE BINARY 'x'", "X,2"),
        ("UPPER(user) AS u, COUNT(*)", "GROUP BY u HAVING u = 'y'", "Y,1"),
        ("UPPER(user) AS u, COUNT(*)", "GROUP BY 1 HAVING u LIKE BINARY 'Y'", "Y,1"),
        // An aggregate is of the table's, and so is what a query within finds.
        ("user, SUM(c) AS c", "GROUP BY user HAVING SUM(c) = 11 AND MAX(c) = 6", "x,11"),
        ("user, SUM(c) AS c", "GROUP BY user HAVING c > (SELECT c FROM (SELECT 10 AS c) AS q WHERE c < 11)", "x,11"),
        ("user, SUM(c) AS s", "GROUP BY user HAVING EXISTS (SELECT 1 FROM (SELECT 11 AS n) AS q WHERE n = s)", "x,11"),
        ("user, SUM(c) AS c", "GROUP BY user WITH ROLLUP HAVING c > 10", "x,11\n,18"),
    ] {
        check(&mut session, &format!("SELECT {select} FROM {table} {rest}"), expected);
    }
    // However often a long alias is named.
    let statement = format!("SELECT MAX(CONCAT('{}')) AS x HAVING {}", "a".repeat(50_000), ["x = 'a'"; 800].join(" OR "));
    assert!(run(&mut session, &statement).starts_with("ERROR 1436 "));
}

#[test]
fn a_scalar_subquery_has_one_row() {
    let world = World::new();
    let _actors = [world.actor("thread/test/a"), world.actor("thread/test/b")];
    let mut session = world.session();
    let several = "ERROR 1242 (21000): Subquery returns more than 1 row";
    for statement in [
        "SELECT (SELECT name FROM threads)",
        "SELECT 1 FROM setup_timers WHERE name = (SELECT name FROM threads ORDER BY name)",
        "SELECT (SELECT name FROM threads GROUP BY name)",
        "SELECT (SELECT 1 UNION SELECT 2)",
        "SELECT (SELECT 1 UNION ALL SELECT 1)",
        "SELECT (SELECT DISTINCT name FROM threads LIMIT 2)",
        "SELECT (SELECT t.name FROM threads LIMIT 5) FROM setup_timers t",
        "SELECT (WITH q AS (SELECT name FROM threads) SELECT name FROM q)",
        "SELECT COUNT(*) + (SELECT 1 FROM threads) FROM setup_timers",
        "UPDATE setup_timers SET timer_name = (SELECT 'CYCLE' FROM threads)",
    ] {
        assert_eq!(run(&mut session, statement), several, "{statement}");
    }
    for (statement, expected) in [
        ("SELECT (SELECT name FROM threads LIMIT 1)", "thread/test/a"),
        ("SELECT (SELECT name FROM threads WHERE thread_id = 2), (SELECT name FROM threads WHERE 0) IS NULL", "thread/test/b,1"),
        ("SELECT (SELECT COUNT(*) FROM threads), (SELECT MAX(thread_id) FROM threads) > '1'", "2,1"),
        (
            "SELECT t.thread_id, (SELECT u.name FROM threads u WHERE u.thread_id = t.thread_id) FROM threads t ORDER BY 1",
            "1,thread/test/a\n2,thread/test/b",
        ),
        ("SELECT (SELECT t.timer_name FROM threads WHERE thread_id = 1) FROM setup_timers t WHERE t.name = 'wait'", "NANOSECOND"),
        ("SELECT SUM((SELECT thread_id FROM threads u WHERE u.name = t.name)) FROM threads t", "3"),
        (
            "SELECT EXISTS (SELECT 1 FROM threads), 1 IN (SELECT 1 FROM threads), 2 <> ALL (SELECT thread_id - 1 FROM threads)",
            "1,1,1",
        ),
        ("SELECT 1 IN ((SELECT thread_id FROM threads)), 7 IN (((SELECT thread_id FROM threads)))", "1,0"),
        ("SELECT (SELECT 1, 2) = (1, 2)", "1"),
    ] {
        check(&mut session, statement, expected);
    }
}

#[test]
fn limits() {
    let mut session = session();
    check(&mut session, "SELECT name FROM setup_timers LIMIT 4, 18446744073709551615", "transaction");
    check(&mut session, "SELECT name FROM setup_timers LIMIT 18446744073709551615 OFFSET 4", "transaction");
    match session.execute_with("SELECT name FROM setup_timers LIMIT ?, ?", &[4_i64.into(), u64::MAX.into()]) {
        Ok(Outcome::Rows(grid)) => assert_eq!(grid.rows, [[OwnedValue::from("transaction")]]),
        other => panic!("{other:?}"),
    }
    check(&mut session, "SET sql_select_limit = 1", "0 changed");
    check(&mut session, "SELECT name FROM setup_timers", "idle");
    check(&mut session, "(SELECT name FROM setup_timers) UNION ALL (SELECT name FROM setup_timers)", "idle");
    // It is no business of LIMIT's, of queries within others or of SHOW.
    check(&mut session, "SELECT name FROM setup_timers LIMIT 5", "idle\nwait\nstage\nstatement\ntransaction");
    check(&mut session, "SELECT COUNT(*) FROM (SELECT name FROM setup_timers) AS t", "5");
    check(&mut session, "SHOW TABLES LIKE 'setup\\_t%s'", "setup_timers");
    check(&mut session, "SHOW COLUMNS FROM setup_timers WHERE Type <> 'x'", &{
        let mut fresh = common::session();
        let found = run(&mut fresh, "SHOW COLUMNS FROM setup_timers");
        found.split_once('\n').map_or(String::new(), |(_, rows)| rows.trim_end().to_owned())
    });
    check(&mut session, "SET sql_select_limit = DEFAULT", "0 changed");
    check(&mut session, "SELECT name FROM setup_timers", "idle\nwait\nstage\nstatement\ntransaction");
}

#[test]
fn sql_mode() {
    let mut session = session();
    check(&mut session, "SELECT 0 = 0 || 1, 1 || 0 AND 0, \"wait\" = 'wait'", "1,1,1");
    check(&mut session, "SET sql_mode = 'PIPES_AS_CONCAT'", "0 changed");
    check(&mut session, "SELECT 'a' || 1 || \"b\", NULL || 'x' IS NULL", "a1b,1");
    check(&mut session, "SET sql_mode = 'STRICT_TRANS_TABLES,ANSI_QUOTES'", "0 changed");
    check(&mut session, "SELECT \"name\" AS \"from\" FROM \"setup_timers\" WHERE \"name\" = 'wait' || 0", "wait");
    check(&mut session, "SHOW TABLES WHERE \"Tables_in_performance_schema\" = 'threads'", "threads");
    assert_eq!(session.describe("SELECT \"name\" FROM setup_timers").map(|found| found.columns.len()), Ok(1));
    check(&mut session, "SET sql_mode = 'ansi'", "0 changed");
    check(&mut session, "SELECT \"name\" || '!' FROM setup_timers LIMIT 1", "idle!");
    // Each once, in MySQL's order, and what stands for others with them.
    let ansi = "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,ANSI";
    check(&mut session, "SELECT @@sql_mode", &format!("\"{ansi}\""));
    check(&mut session, "SET sql_mode = 'no_engine_substitution, ANSI_QUOTES,STRICT_ALL_TABLES,ANSI_QUOTES,0'", "0 changed");
    check(&mut session, "SELECT @@sql_mode", "\"ANSI_QUOTES,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION\"");
    check(&mut session, "SET sql_mode = ''", "0 changed");
    check(&mut session, "SELECT @@sql_mode, \"x\"", "\"\",x");
    check(&mut session, "SET sql_mode = DEFAULT", "0 changed");
    check(&mut session, "SELECT @@sql_mode", "\"STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION\"");
    for mode in ["NO_BACKSLASH_ESCAPES", "nothing", "NO_AUTO_CREATE_USER", "MYSQL40", "ORACLE"] {
        let refused = format!("ERROR 1231 (42000): Variable 'sql_mode' can't be set to the value of '{mode}'");
        assert_eq!(run(&mut session, &format!("SET sql_mode = 'ANSI,{mode}'")), refused);
    }
}

#[test]
fn comments_for_some_versions() {
    let mut session = session();
    for (statement, expected) in [
        ("SELECT 1 /*!80027 + 1 */ /*!80028 + 1 */ /*!99999 + 1 */ /*!050100 + 1 */ /*! + 1 */", "4"),
        (
            "SELECT '/*!99999 x */', \"/*!99999\", 1 AS `/*!99999` -- /*!99999\n# /*!99999\n /* /*!99999 */ FROM dual",
            "/*!99999 x */,/*!99999,1",
        ),
        ("/*!99999 nothing */ SELECT 'é' /*!99999 é", ""),
    ] {
        if expected.is_empty() {
            assert!(run(&mut session, statement).starts_with("ERROR 1064 "), "{statement}");
        } else {
            check(&mut session, statement, expected);
        }
    }
}

/// Words that ask for what is always so here.
#[test]
fn modifiers() {
    let mut session = session();
    for (statement, expected) in [
        ("UPDATE LOW_PRIORITY IGNORE setup_timers SET timer_name = 'TICK'", "Rows matched: 5  Changed: 5  Warnings: 0"),
        ("DELETE QUICK FROM setup_actors WHERE 0", "0 changed"),
        ("TABLE setup_timers ORDER BY name LIMIT 1", "idle,TICK"),
        ("SELECT HIGH_PRIORITY SQL_BUFFER_RESULT name FROM setup_timers LIMIT 1", "idle"),
        ("SELECT name FROM setup_timers WHERE name = 'wait' LOCK IN SHARE MODE", "wait"),
        ("SELECT * FROM (SELECT name FROM setup_timers LOCK IN SHARE MODE) AS t WHERE name = 'wait' FOR SHARE", "wait"),
        ("SELECT name FROM setup_timers WHERE name = 'wait' FOR UPDATE NOWAIT", "wait"),
        ("SELECT name FROM setup_timers t WHERE name = 'wait' FOR SHARE OF t SKIP LOCKED", "wait"),
    ] {
        check(&mut session, statement, expected);
    }
}

#[test]
fn names_that_mean_nothing_or_too_much() {
    let mut session = session();
    for (statement, expected) in [
        ("SELECT x.* FROM threads t", "1051 (42S02): Unknown table 'x'"),
        ("SELECT 1 FROM threads t JOIN setup_timers T", "1066 (42000): Not unique table/alias: 'T'"),
        ("SELECT 1 FROM threads, threads", "1066 (42000): Not unique table/alias: 'threads'"),
        ("SELECT 1 FROM threads a JOIN (setup_timers b JOIN setup_actors a)", "1066 (42000): Not unique table/alias: 'a'"),
        ("SELECT SUM(COUNT(*)) FROM threads", "1111 (HY000): Invalid use of group function"),
        ("SELECT 1 FROM threads GROUP BY COUNT(*)", "1111 (HY000): Invalid use of group function"),
        ("SELECT name FROM threads WHERE MAX(thread_id) = 1", "1111 (HY000): Invalid use of group function"),
    ] {
        assert_eq!(run(&mut session, statement), format!("ERROR {expected}"), "{statement}");
    }
    check(&mut session, "SELECT COUNT(*) FROM setup_timers a JOIN performance_schema.setup_timers", "25");
}

/// It chooses rows before there is a result.
#[test]
fn where_knows_no_aliases() {
    let world = World::new();
    let _actor = world.actor("thread/test/a");
    let mut session = world.session();
    let unknown = "ERROR 1054 (42S22): Unknown column 'n' in 'where clause'";
    for statement in [
        "SELECT name AS n FROM setup_timers WHERE n = 'wait'",
        "SELECT 1 AS n WHERE n = 1",
        "SELECT t.name AS n FROM setup_timers t JOIN threads u WHERE u.thread_id = 1 AND LOWER(n) = 'wait'",
        "SELECT * FROM (SELECT name AS n FROM setup_timers WHERE n = 'wait') AS t",
        "WITH t AS (SELECT name AS n FROM setup_timers WHERE n = 'wait') SELECT * FROM t",
        "SELECT thread_id FROM threads UNION SELECT name AS n FROM setup_timers WHERE n = 'wait'",
        "SELECT n AS n FROM setup_timers WHERE n = 'wait'",
    ] {
        let found = run(&mut session, statement);
        assert_eq!(found.replace("'field list'", "'where clause'"), unknown, "{statement}");
    }
    for (statement, expected) in [
        // A column of the tables is meant, invisible ones and those of queries around it among them.
        ("SELECT timer_name AS name FROM setup_timers WHERE name = 'wait'", "NANOSECOND"),
        ("SELECT LOWER(name) AS name FROM setup_timers WHERE name = 'wait'", "wait"),
        ("SELECT 1 AS count_timer_wait FROM events_waits_summary_global_by_event_name WHERE count_timer_wait = 5", ""),
        ("SELECT 2 AS n FROM (SELECT 1 AS n) AS t WHERE n = 1", "2"),
        ("WITH t (n) AS (SELECT 1) SELECT 2 AS n FROM t WHERE n = 1", "2"),
        ("SELECT name AS n FROM setup_timers HAVING n = 'wait'", "wait"),
        ("SELECT name AS n FROM setup_timers GROUP BY n ORDER BY n LIMIT 1", "idle"),
    ] {
        check(&mut session, statement, expected);
    }
}

#[test]
fn a_join_binds_closer_than_a_comma() {
    let mut session = session();
    let (p, q, r) =
        ("(SELECT 1 AS a UNION ALL SELECT 2) AS p", "(SELECT 1 AS a, 'X' AS b) AS q", "(SELECT 5 AS a, 'x' AS c) AS r");
    for (select, from, expected) in [
        ("COUNT(*)", format!("{p}, {q} RIGHT JOIN {r} ON q.a = r.a"), "2"),
        ("p.a, q.a, r.a, b, c", format!("{p}, {q} LEFT JOIN {r} USING (a)"), "1,1,,X,\n2,1,,X,"),
        ("*", format!("{p}, {q} JOIN {r} ON b = c"), "1,1,X,5,x\n2,1,X,5,x"),
        ("p.a, r.a", format!("{p}, {q} JOIN {r} ON 0.5 WHERE p.a <> q.a"), "2,5"),
        (
            "p.a, s.name",
            format!("{p}, setup_timers s NATURAL JOIN performance_schema.setup_timers t WHERE name = 'WAIT'"),
            "1,wait\n2,wait",
        ),
        ("COUNT(*)", format!("{q} LEFT JOIN {r} ON 0, {p}, (SELECT 5 AS d) AS s"), "2"),
        // A join without a condition, and one whose condition comes later.
        ("p.a, r.a", format!("{p} JOIN {q} JOIN {r} ON p.a = q.a"), "1,5"),
        ("p.a, r.a", format!("{p} JOIN {q} LEFT JOIN {r} ON p.a = r.a WHERE p.a = 2"), "2,"),
        ("p.a, r.a", format!("{p} JOIN {q} JOIN {r} ON b = c ON p.a = q.a"), "1,5"),
        // What is joined in parentheses is on a condition, too.
        ("COUNT(*)", format!("{p} JOIN ({q} JOIN {r} ON 0.5) ON 0.5"), "2"),
    ] {
        check(&mut session, &format!("SELECT {select} FROM {from}"), expected);
    }
    check(
        &mut session,
        "WITH RECURSIVE w AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM (SELECT 3 AS most) AS p, w JOIN (SELECT 1 AS b) AS q ON b \
         WHERE n < most) SELECT COUNT(*) FROM w",
        "3",
    );
    let error = "ERROR 1054 (42S22): Unknown column 'p.a' in 'on clause'";
    assert_eq!(run(&mut session, &format!("SELECT 1 FROM {p}, {q} JOIN {r} ON p.a = r.a")), error);
}

/// With their names, on a first line.
#[test]
fn columns_that_two_tables_share_come_first() {
    let mut session = session();
    let (t, u) = ("(SELECT 2 AS b, 1 AS a, 'X' AS x) AS t", "(SELECT 3 AS c, 'x' AS x, 5 AS a) AS u");
    for (select, from, expected) in [
        ("*", format!("{t} LEFT JOIN {u} USING (a)"), "a,b,x,c,x\n1,2,X,,\n"),
        ("*", format!("{t} RIGHT JOIN {u} USING (x)"), "x,c,a,b,a\nx,3,5,2,1\n"),
        ("*", format!("{t} NATURAL LEFT JOIN {u}"), "a,x,b,c\n1,X,2,\n"),
        ("*", format!("{t} NATURAL RIGHT JOIN {u}"), "x,a,c,b\nx,5,3,\n"),
        ("u.*, *", format!("{t} JOIN {u} USING (x)"), "c,x,a,x,b,a,c,a\n3,x,5,X,2,1,3,5\n"),
        (
            "*",
            format!("{t} LEFT JOIN {u} USING (a) RIGHT JOIN (SELECT 1 AS d, 2 AS b) AS v USING (b)"),
            "b,d,a,x,c,x\n2,1,1,X,,\n",
        ),
        // Each is called as in its table, however it is joined.
        ("*, v.*", format!("{t}, {u} JOIN (SELECT 5 AS a) AS v ON u.a = v.a"), "b,a,x,c,x,a,a,a\n2,1,X,3,x,5,5,5\n"),
        // Tables that are declared, derived, named by WITH or by an alias.
        ("*", "setup_consumers NATURAL JOIN setup_instruments".to_owned(), "NAME,ENABLED,TIMED,TIMED_ONE_IN\n"),
        (
            "*",
            format!("(SELECT * FROM {t} RIGHT JOIN {u} USING (a)) AS v (p, q, r, s, t) JOIN (SELECT 3 AS q) AS w USING (q)"),
            "q,p,r,s,t\n3,5,x,,\n",
        ),
        ("*", "(VALUES ROW(1, 2)) AS v (a, b) JOIN (SELECT 2 AS b) AS w USING (b)".to_owned(), "b,a\n2,1\n"),
    ] {
        assert_eq!(run(&mut session, &format!("SELECT {select} FROM {from}")), expected, "{select} FROM {from}");
    }
    let with = "WITH p (b, a) AS (SELECT 2, 1), q AS (SELECT 3 AS c, p.* FROM p) SELECT * FROM p RIGHT JOIN q USING (a)";
    assert_eq!(run(&mut session, with), "a,c,b,b\n1,3,2,2\n");
    check(&mut session, "CREATE TABLE test.kept AS SELECT 1 AS x, 2 AS y", "Records: 1  Duplicates: 0  Warnings: 0");
    assert_eq!(run(&mut session, "SELECT * FROM test.kept RIGHT JOIN (SELECT 2 AS y) AS q USING (y)"), "y,x\n2,1\n");
    let view = "SELECT * FROM sys.version v JOIN (SELECT mysql_version FROM sys.version) AS w USING (mysql_version)";
    assert_eq!(run(&mut session, view).lines().next(), Some("mysql_version,sys_version"));
    // However often they are doubled.
    let stars = vec!["*"; 30_000].join(",");
    let statement = format!("SELECT {stars} FROM setup_instruments NATURAL JOIN setup_consumers");
    assert!(run(&mut session, &statement).starts_with("ERROR 1436 "));
    let doubled: Vec<String> = (1..40).map(|n| format!("q{n} AS (SELECT p.*, q.* FROM q{} p, q{0} q)", n - 1)).collect();
    let statement = format!("WITH q0 AS (SELECT 1 AS a), {} SELECT 1 FROM q1 NATURAL JOIN q0", doubled.join(", "));
    assert_eq!(run(&mut session, &statement), "ERROR 1060 (42S21): Duplicate column name 'a'");
}

#[test]
fn an_enum_is_sorted_by_its_numbers() {
    let mut session = session();
    check(
        &mut session,
        "UPDATE setup_instruments SET enabled = 'NO' WHERE name LIKE '%cond%'",
        "Rows matched: 3  Changed: 3  Warnings: 0",
    );
    for (statement, expected) in [
        ("SELECT DISTINCT enabled FROM setup_instruments ORDER BY enabled", "YES\nNO"),
        ("SELECT DISTINCT enabled FROM setup_instruments ORDER BY 1 DESC", "NO\nYES"),
        ("SELECT enabled AS e, COUNT(*) FROM setup_instruments GROUP BY e ORDER BY e", "YES,8\nNO,3"),
        ("SELECT e FROM (SELECT DISTINCT enabled AS e FROM setup_instruments) AS q ORDER BY e", "YES\nNO"),
        ("WITH q (e) AS (SELECT DISTINCT enabled FROM setup_instruments) SELECT e FROM q ORDER BY e", "YES\nNO"),
        ("SELECT enabled, COUNT(*) FROM setup_instruments GROUP BY enabled WITH ROLLUP", "YES,8\nNO,3\n,11"),
        ("SELECT GROUP_CONCAT(DISTINCT enabled ORDER BY enabled) FROM setup_instruments", "\"YES,NO\""),
        ("SELECT DISTINCT enabled, DENSE_RANK() OVER (ORDER BY enabled) FROM setup_instruments ORDER BY 2", "YES,1\nNO,2"),
        // Its texts are what is compared, and what a UNION is of.
        ("SELECT MIN(enabled), MAX(enabled) FROM setup_instruments", "NO,YES"),
        ("SELECT enabled FROM setup_instruments UNION SELECT 'MAYBE' ORDER BY enabled", "MAYBE\nNO\nYES"),
    ] {
        check(&mut session, statement, expected);
    }
}

#[test]
fn large_numbers_and_fractions_have_one_order() {
    let mut session = session();
    let numbers = "SELECT 18446744073709551615 AS x UNION SELECT 1.5 UNION SELECT 1e30 UNION SELECT 9223372036854775808 UNION SELECT -3 \
                   UNION SELECT -0.5 UNION SELECT NULL UNION SELECT -1e300";
    let sorted = "\"\"\n-1e300\n-3\n-0.5\n1.5\n9223372036854775808\n18446744073709551615\n1e30";
    for (statement, expected) in [
        (format!("SELECT x FROM ({numbers}) AS q ORDER BY x"), sorted),
        (format!("{numbers} ORDER BY x"), sorted),
        (format!("{numbers} ORDER BY 1 DESC LIMIT 2"), "1e30\n18446744073709551615"),
        (format!("SELECT MIN(x), MAX(x), MAX(x + 0) FROM ({numbers}) AS q"), "-1e300,1e30,1e30"),
        (
            format!("SELECT MIN(x), MAX(x) FROM ({numbers}) AS q WHERE x BETWEEN 0 AND 18446744073709551615"),
            "1.5,18446744073709551615",
        ),
        (
            format!("SELECT MAX(x) OVER (ORDER BY x ROWS 1 PRECEDING) FROM ({numbers}) AS q WHERE x > 1"),
            "1.5\n9223372036854775808\n18446744073709551615\n1e30",
        ),
        (
            "SELECT GREATEST(18446744073709551615, 1e30), LEAST(18446744073709551615, 1e30)".to_owned(),
            "1e30,18446744073709551615",
        ),
        (
            "SELECT GROUP_CONCAT(d ORDER BY d->'$') FROM (SELECT '10' AS d UNION SELECT '9' UNION SELECT '1e1') AS q".to_owned(),
            "\"9,10,1e1\"",
        ),
    ] {
        check(&mut session, &statement, expected);
    }
}

/// SQLite numbers rows, and has names for that.
#[test]
fn rows_have_no_numbers() {
    let mut session = session();
    let unknown = |name: &str, clause: &str| format!("ERROR 1054 (42S22): Unknown column '{name}' in '{clause}'");
    for name in ["rowid", "_rowid_", "oid", "RowID", "`rowid`", "threads.rowid"] {
        let plain = name.replace('`', "");
        check(&mut session, &format!("SELECT {name} FROM threads"), &unknown(&plain, "field list"));
        check(&mut session, &format!("SELECT 1 FROM threads WHERE {name} = 1"), &unknown(&plain, "where clause"));
        check(&mut session, &format!("SELECT 1 FROM threads ORDER BY {name}"), &unknown(&plain, "order clause"));
    }
    run(&mut session, "CREATE TABLE test.numbers AS SELECT 1 AS a UNION SELECT 2");
    for statement in [
        "SELECT rowid FROM test.numbers",
        "UPDATE test.numbers SET a = rowid",
        "UPDATE test.numbers SET rowid = 7",
        "INSERT INTO test.numbers (rowid) VALUES (7)",
        "DELETE FROM test.numbers WHERE rowid = 1",
    ] {
        let found = run(&mut session, statement);
        assert!(found.starts_with("ERROR 1054 (42S22): Unknown column 'rowid'"), "{statement}: {found}");
    }
    check(&mut session, "DELETE FROM test.numbers ORDER BY a LIMIT 1", "1 changed");
    check(&mut session, "SELECT a FROM test.numbers", "2");
    // What else has that name does not change it.
    for (statement, name, clause) in [
        ("SELECT 1 AS rowid, rowid FROM threads", "rowid", "field list"),
        ("SELECT 1 AS rowid, rowid FROM test.numbers", "rowid", "field list"),
        ("SELECT t.oid FROM threads t JOIN (SELECT 1 AS oid) d", "t.oid", "field list"),
        ("SELECT t.oid FROM (SELECT name FROM setup_timers) t JOIN (SELECT 1 AS oid) d", "t.oid", "field list"),
        ("SELECT 1 FROM threads UNION SELECT 1 AS rowid FROM threads WHERE rowid = 2", "rowid", "where clause"),
        ("SELECT 1 AS rowid FROM threads WHERE threads.rowid = 2", "threads.rowid", "where clause"),
        ("SELECT name AS _rowid_ FROM threads ORDER BY threads._rowid_", "threads._rowid_", "order clause"),
        ("SELECT (SELECT n.rowid FROM test.numbers n LIMIT 1) FROM (SELECT 1 AS rowid) d", "n.rowid", "field list"),
    ] {
        check(&mut session, statement, &unknown(name, clause));
    }
    check(&mut session, "SELECT d.oid, n.a FROM test.numbers n JOIN (SELECT 1 AS oid) d WHERE oid = 1 ORDER BY oid", "1,2");
    check(&mut session, "SELECT name AS rowid FROM setup_timers HAVING rowid = 'wait' ORDER BY rowid", "wait");
    check(&mut session, "SELECT (SELECT rowid) FROM (SELECT 5 AS rowid) AS d", "5");
    let joined =
        "test.numbers n JOIN test.numbers m LEFT JOIN test.numbers l ON l.a = m.a RIGHT JOIN setup_timers s ON s.name > ''";
    check(&mut session, &format!("SELECT COUNT(d.oid) FROM {joined} JOIN (SELECT 1 AS oid) d"), "5");
    check(&mut session, &format!("SELECT COUNT(d.oid) FROM (SELECT 1 AS oid) d, {joined}"), "5");
    // Whoever gives a column that name has one.
    check(&mut session, "SELECT rowid FROM (SELECT 5 AS rowid) AS t ORDER BY rowid", "5");
    run(&mut session, "CREATE TABLE test.own AS SELECT 1 AS rowid");
    check(&mut session, "UPDATE test.own SET rowid = rowid + 1 LIMIT 1", "Rows matched: 1  Changed: 1  Warnings: 0");
    check(&mut session, "SELECT rowid FROM test.own", "2");
    run(&mut session, "CREATE TABLE test.capital AS SELECT 1 AS ROWID");
    check(&mut session, "UPDATE test.capital SET rowid = ROWID + 1", "Rows matched: 1  Changed: 1  Warnings: 0");
    check(&mut session, "SELECT Rowid FROM test.capital WHERE rowid = 2", "2");
}

#[test]
fn limits_are_whole_numbers() {
    let mut session = session();
    check(&mut session, "SET @i = 1", "0 changed");
    for limit in [
        "-1",
        "5, -1",
        "-1, 5",
        "1.5",
        "1e0",
        "'1'",
        "1 + 1",
        "NULL",
        "1 OFFSET -1",
        "18446744073709551616",
        "@i",
        "1, @i",
        "0x1",
    ] {
        let found = run(&mut session, &format!("SELECT name FROM setup_timers LIMIT {limit}"));
        assert!(found.starts_with("ERROR 1064 (42000)"), "{limit}: {found}");
    }
    assert!(session.execute_with("SELECT name FROM setup_timers LIMIT ?", &[(-1_i64).into()]).is_err());
    for limit in ["-1", "@i"] {
        let found = run(&mut session, &format!("UPDATE setup_instruments SET enabled = 'NO' LIMIT {limit}"));
        assert!(found.starts_with("ERROR 1064 (42000)"), "{found}");
    }
}

/// Drivers send numbers as texts or as fractions, too.
#[test]
fn limits_are_parameters_of_any_type() {
    let mut session = session();
    let statement = "SELECT name FROM setup_timers LIMIT ?, ?";
    let rows = |limits: [OwnedValue; 2]| match session.execute_with(statement, &limits) {
        Ok(Outcome::Rows(grid)) => Ok(grid.rows.len()),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.errno),
    };
    let found = [
        ["1".into(), "2".into()],
        [0.0.into(), 2.0.into()],
        [OwnedValue::Decimal("1.0".to_owned()), 2_u64.into()],
        ["0".into(), "18446744073709551616".into()],
        ["0".into(), "2 ".into()],
        ["0".into(), "+2".into()],
        ["-1".into(), "2".into()],
        ["".into(), "2".into()],
        ["0".into(), 1.5.into()],
        ["0".into(), (-1.0).into()],
        [OwnedValue::Decimal("0.5".to_owned()), "2".into()],
    ]
    .map(rows);
    assert_eq!(found[..3], [Ok(2); 3]);
    assert_eq!(found[3..], [Err(1064); 8]);
    check(&mut session, "PREPARE p FROM 'SELECT name FROM setup_timers WHERE ? = ''1'' LIMIT ?'", "Statement prepared");
    check(&mut session, "SET @a = '1'", "0 changed");
    check(&mut session, "EXECUTE p USING @a, @a", "idle");
}

/// HAVING has the columns of the result, what is grouped by, and aggregates of anything.
#[test]
fn having_knows_no_other_columns() {
    let world = World::new();
    let _threads = [world.user("a", "h"), world.user("b", "h")];
    let mut session = world.session();
    let unknown = |name: &str| format!("ERROR 1054 (42S22): Unknown column '{name}' in 'having clause'");
    for (statement, expected) in [
        ("SELECT NAME FROM threads HAVING TYPE = 'BACKGROUND'", unknown("TYPE")),
        ("SELECT (TYPE) FROM threads HAVING TYPE = 'FOREGROUND' LIMIT 1", "FOREGROUND".to_owned()),
        (
            "SELECT MIN(t) AS m FROM (SELECT 1 AS day, NOW() AS t) d HAVING TIMESTAMPDIFF(DAY, m, NOW()) < 1 AND m > 0 LIMIT 0",
            String::new(),
        ),
        ("SELECT NAME FROM threads t HAVING t.TYPE = 'BACKGROUND'", unknown("t.TYPE")),
        ("SELECT COUNT(*) FROM threads GROUP BY TYPE HAVING THREAD_ID = 1", unknown("THREAD_ID")),
        ("SELECT COUNT(*) FROM threads GROUP BY TYPE HAVING TYPE = 'FOREGROUND' AND MAX(THREAD_ID) > 0", "2".to_owned()),
        ("SELECT TYPE T FROM threads HAVING TYPE = 'FOREGROUND' AND T = 'FOREGROUND' LIMIT 1", "FOREGROUND".to_owned()),
        ("SELECT (SELECT 1 FROM setup_timers HAVING t.TYPE = 'FOREGROUND' LIMIT 1) FROM threads t LIMIT 1", "1".to_owned()),
    ] {
        check(&mut session, statement, &expected);
    }
}

#[test]
fn what_stands_in_parentheses_or_has_a_schema() {
    let mut session = session();
    for (statement, expected) in [
        ("SELECT 1 UNION (SELECT 3 UNION SELECT 2 ORDER BY 1 LIMIT 1)", "1\n2"),
        ("SELECT NULL IS UNKNOWN, 1 IS NOT UNKNOWN, NULL IS NOT UNKNOWN", "1,1,0"),
        ("SELECT SYS.processlist.thd_id FROM sys.processlist WHERE 0", ""),
        ("SELECT @@session.sql_safe_updates, @@local.sql_safe_updates", "0,0"),
        ("SELECT @@foo.sql_safe_updates", "ERROR 1193 (HY000): Unknown system variable 'foo'"),
        (
            "SELECT STDDEV(a) OVER (ORDER BY a ROWS 1 PRECEDING) FROM (SELECT 1 AS a UNION SELECT 3 UNION SELECT 7) AS q",
            "0\n1\n2",
        ),
        (
            "SELECT VARIANCE(a) OVER (ORDER BY a ROWS BETWEEN CURRENT ROW AND CURRENT ROW) FROM (SELECT 1 AS a UNION SELECT 3) AS q",
            "0\n0",
        ),
        (
            "INSERT INTO setup_actors (HOST, USER) VALUES ('x')",
            "ERROR 1136 (21S01): Column count doesn't match value count at row 1",
        ),
    ] {
        check(&mut session, statement, expected);
    }
}

/// SQLite calls the third `x:1`.
#[test]
fn columns_of_joins_within_joins_keep_their_names() {
    let mut session = World::new().session();
    let within = "((SELECT 1 x) b JOIN (SELECT 5 x) c ON 1)";
    for from in [format!("(SELECT 1 x) a JOIN {within} ON a.x = b.x"), format!("{within} JOIN (SELECT 5 x) a ON a.x = c.x")] {
        let found = run(&mut session, &format!("SELECT * FROM {from}"));
        assert_eq!(found.lines().next(), Some("x,x,x"), "{from}: {found}");
    }
}
