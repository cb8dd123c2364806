//! Queries within expressions and FROM: rows that are compared with them, ANY and ALL, columns that are named by an alias, VALUES.

mod common;

use common::{World, check, run};

#[test]
fn rows_are_compared_with_queries() {
    let world = World::new();
    let _actors = [world.actor("thread/test/a"), world.actor("thread/test/b")];
    let mut session = world.session();
    for (statement, expected) in [
        ("SELECT (1, 'thread/test/A') = (SELECT thread_id, name FROM threads LIMIT 1)", "1"),
        ("SELECT (SELECT thread_id, name FROM threads LIMIT 1) <> (1, 'x')", "1"),
        (
            "SELECT ('1', 2) = (SELECT 1, '2.0'), (1, NULL) = (SELECT 1, 2) IS NULL, (1, 2) = (SELECT 1, 2 FROM threads WHERE 0) IS NULL",
            "1,1,1",
        ),
        ("SELECT name FROM threads t WHERE (thread_id, name) = (SELECT MAX(thread_id), t.name FROM threads)", "thread/test/b"),
        ("SELECT (SELECT 1, 2) < (1, 3), (1, 1) < (1, 2)", "1,1"),
    ] {
        check(&mut session, statement, expected);
    }
    for (statement, error) in [
        ("SELECT (1, 'x') = (SELECT thread_id, name FROM threads)", "ERROR 1242 (21000): Subquery returns more than 1 row"),
        ("SELECT (1, 2) = (SELECT 1)", "ERROR 1241 (21000): Operand should contain 2 column(s)"),
        ("SELECT (1, 2) = (SELECT * FROM threads LIMIT 1)", "ERROR 1241 (21000): Operand should contain 2 column(s)"),
    ] {
        assert_eq!(run(&mut session, statement), error, "{statement}");
    }
}

#[test]
fn any_and_all() {
    let world = World::new();
    let _actors = [world.actor("thread/test/a"), world.actor("thread/test/b")];
    let mut session = world.session();
    for (statement, expected) in [
        (
            "SELECT 3 > ALL (SELECT thread_id FROM threads), 2 > ALL (SELECT thread_id FROM threads), 2 >= ALL (SELECT thread_id FROM threads)",
            "1,0,1",
        ),
        ("SELECT 1 > ANY (SELECT thread_id FROM threads), '2' > SOME (SELECT thread_id FROM threads)", "0,1"),
        ("SELECT 1 > ALL (SELECT 1 FROM threads WHERE 0), 1 > ANY (SELECT 1 FROM threads WHERE 0)", "1,0"),
        (
            "SELECT 1 > ANY (SELECT NULL) IS NULL, 1 < ALL (SELECT NULL UNION SELECT 0), 1 = ALL (SELECT 1 UNION ALL SELECT '1')",
            "1,0,1",
        ),
        (
            "SELECT name FROM threads t WHERE thread_id <= ALL (SELECT u.thread_id FROM threads u WHERE u.name >= t.name)",
            "thread/test/a\nthread/test/b",
        ),
        ("SELECT MAX(thread_id) c FROM threads GROUP BY name HAVING MAX(thread_id) >= ALL (SELECT thread_id FROM threads)", "2"),
    ] {
        check(&mut session, statement, expected);
    }
    let error = "ERROR 1241 (21000): Operand should contain 1 column(s)";
    assert_eq!(run(&mut session, "SELECT 1 > ALL (SELECT 1, 2)"), error);
}

#[test]
fn columns_are_named_by_an_alias() {
    let mut session = World::new().session();
    for (statement, expected) in [
        ("SELECT t.b, a FROM (SELECT 1, 2) AS t (a, b)", "2,1"),
        ("SELECT b FROM (VALUES ROW(1, 2), ROW(3, 4)) AS t (a, b) WHERE a > 1", "4"),
        ("SELECT column_1 FROM (VALUES ROW(1, 'x')) AS t", "x"),
        ("VALUES ROW(1, 'x'), ROW(2, 'y') ORDER BY column_0 DESC LIMIT 1", "2,y"),
    ] {
        check(&mut session, statement, expected);
    }
    let error = "ERROR 1353 (HY000): In definition of view, derived table or common table expression, SELECT list and column names list have \
                 different column counts";
    for statement in ["SELECT * FROM (SELECT 1) AS t (a, b)", "WITH t (a, b) AS (SELECT 1) SELECT * FROM t"] {
        assert_eq!(run(&mut session, statement), error, "{statement}");
    }
}

#[test]
fn rows_are_looked_for_in_queries() {
    let world = World::new();
    let _actors = [world.actor("thread/test/a"), world.actor("thread/test/b")];
    let mut session = world.session();
    for (expressions, expected) in [
        (
            "(1, 'THREAD/test/a') IN (SELECT thread_id, name FROM threads), ('1', 'x') IN (SELECT thread_id, name FROM threads)",
            "1,0",
        ),
        (
            "('1', 2) IN (SELECT 1, '2.0'), (1, NULL) IN (SELECT 1, 2) IS NULL, (2, NULL) IN (SELECT 1, 2), 1 NOT IN (SELECT NULL) IS NULL",
            "1,1,0,1",
        ),
        ("(2, 'thread/test/b') NOT IN (SELECT * FROM (SELECT thread_id, name FROM threads) AS q)", "0"),
        // Of what kind they are is not known before.
        (
            "'1' IN (SELECT x FROM (SELECT 1 AS x UNION SELECT 'a') AS q), 2 IN (SELECT x FROM (SELECT 1 AS x UNION SELECT '2.0') AS q)",
            "1,1",
        ),
        ("thread_id IN (SELECT * FROM (SELECT '1.0') AS q) FROM threads LIMIT 1", "1"),
        ("JSON_EXTRACT('[1, \"a\"]', '$[0]') IN (SELECT 1), JSON_EXTRACT('[1, \"a\"]', '$[1]') IN (SELECT 'A')", "1,1"),
    ] {
        check(&mut session, &format!("SELECT {expressions}"), expected);
    }
    for (statement, columns) in [("SELECT (1, 2) IN (SELECT 1)", 2), ("SELECT 1 IN (SELECT 1, 2)", 1)] {
        let error = format!("ERROR 1241 (21000): Operand should contain {columns} column(s)");
        assert_eq!(run(&mut session, statement), error, "{statement}");
    }
}

/// A query is one of several values, or it is all of the list.
#[test]
fn lists_of_queries() {
    let world = World::new();
    let _actors = [world.actor("thread/test/a"), world.actor("thread/test/b")];
    let mut session = world.session();
    for (expressions, expected) in [
        ("1 IN ((SELECT 1.0), 99), 99 IN ((SELECT 1.0), 99), 2 NOT IN ((SELECT 1), (SELECT 3), 4)", "1,1,1"),
        (
            "'a' IN ((SELECT 'A'), 'b'), '1.0' IN ((SELECT 1), 2), 5 IN (((SELECT 1)), 2), NULL IN ((SELECT 1), 2) IS NULL",
            "1,1,0,1",
        ),
        ("2 IN ((SELECT 1) + 1, 5), 3 IN ((1) + 2), 2 IN ((1), (2)), (1, 2) IN ((1, 2), (3, 4))", "1,1,1,1"),
        ("1 IN ((SELECT 1)), 1 IN ((SELECT 2) UNION SELECT 1), 1 IN (((SELECT 2) UNION SELECT 1))", "1,1,1"),
    ] {
        check(&mut session, &format!("SELECT {expressions}"), expected);
    }
    let error = "ERROR 1242 (21000): Subquery returns more than 1 row";
    assert_eq!(run(&mut session, "SELECT 1 IN ((SELECT thread_id FROM threads), 99)"), error);
    // However deep it is, each is read once.
    let deep = (0..18).fold("1".to_owned(), |inner, _| format!("1 IN ((SELECT {inner}), 2)"));
    check(&mut session, &format!("SELECT {deep}"), "1");
}

#[test]
fn a_derived_table_has_each_column_once() {
    let mut session = World::new().session();
    for (statement, twice) in [
        ("SELECT * FROM (SELECT 1 AS a, 2 AS a) AS t", "a"),
        ("SELECT 1 FROM (SELECT 1, 1) AS t", "1"),
        ("WITH t AS (SELECT 1 AS a, 2 AS A) SELECT 1 FROM t", "A"),
        ("SELECT 1 FROM (SELECT * FROM setup_timers a JOIN setup_timers b) AS t", "NAME"),
        ("SELECT y FROM (SELECT 1 AS a, 2 AS b) AS t (x, x)", "x"),
        ("SELECT 1 FROM (SELECT 1 AS a, 2 AS a UNION SELECT 3, 4) AS t", "a"),
    ] {
        assert_eq!(run(&mut session, statement), format!("ERROR 1060 (42S21): Duplicate column name '{twice}'"), "{statement}");
    }
    for (statement, expected) in [
        ("SELECT * FROM (SELECT 1 AS a, 2 AS a) AS t (x, y)", "1,2"),
        ("WITH t (x, y) AS (SELECT 1 AS a, 2 AS a) SELECT y FROM t", "2"),
        ("(SELECT 1 AS a, 2 AS a LIMIT 1) UNION SELECT 3, 4", "1,2\n3,4"),
        ("SELECT (1, 2) IN (SELECT 1 AS a, 2 AS a), (1, 2) = (SELECT 1 AS a, 2 AS a)", "1,1"),
        ("SELECT COUNT(*) FROM (SELECT * FROM setup_timers a JOIN setup_timers b USING (name, timer_name)) AS t", "5"),
        ("SELECT 1 AS a, 2 AS a", "1,2"),
    ] {
        check(&mut session, statement, expected);
    }
}

#[test]
fn sets_of_rows() {
    let mut session = World::new().session();
    for (statement, expected) in [
        // INTERSECT comes before the others.
        ("SELECT 1 UNION SELECT 2 INTERSECT SELECT 3", "1"),
        ("(SELECT 1 UNION SELECT 2) INTERSECT SELECT 2", "2"),
        ("SELECT 1 EXCEPT (SELECT 2 UNION SELECT 1)", ""),
        ("SELECT 1 UNION ALL SELECT 2 EXCEPT SELECT 2", "1"),
        // `c` of `x` is never a text, though another one is: beside it 1 is a number.
        (
            "SELECT JSON_ARRAY(d) FROM (SELECT 'a' AS c, 1 AS d UNION ALL SELECT 'b', x.c FROM (SELECT NULL AS c) AS x) AS y WHERE d = 1",
            "[1]",
        ),
        (
            "SELECT JSON_ARRAY(d) FROM (SELECT 1 AS d UNION ALL SELECT x.c FROM (SELECT NULL AS c UNION SELECT 'a') AS x) AS y WHERE d = 1",
            "\"[\"\"1\"\"]\"",
        ),
        // So it is where `c` is derived of what is derived, and where its table is not named.
        (
            "SELECT JSON_ARRAY(d) FROM (SELECT 'a' AS c, 1 AS d UNION ALL SELECT 'b', z.c \
             FROM (SELECT y.c FROM (SELECT x.c AS c FROM (SELECT NULL AS c) AS x) AS y) AS z) AS u WHERE d = 1",
            "[1]",
        ),
        (
            "WITH x AS (SELECT NULL AS c), y AS (SELECT x.c FROM x), z AS (SELECT e.c AS c FROM y AS e) \
             SELECT JSON_ARRAY(d) FROM (SELECT 'a' AS c, 1 AS d UNION ALL SELECT 'b', z.c FROM z) AS u WHERE d = 1",
            "[1]",
        ),
        (
            "SELECT JSON_ARRAY(d) FROM (SELECT 'a' AS c, 1 AS d UNION ALL SELECT 'b', c FROM (SELECT NULL AS c) AS x) AS y WHERE d = 1",
            "[1]",
        ),
        (
            "SELECT JSON_ARRAY(d) FROM (SELECT NULL AS c, 1 AS d UNION ALL SELECT 'b', y.c \
             FROM (SELECT x.c AS c FROM (SELECT NULL AS c UNION SELECT 'a') AS x) AS y) AS z WHERE d = 1",
            "\"[\"\"1\"\"]\"",
        ),
    ] {
        check(&mut session, statement, expected);
    }
    let error = "ERROR 1235 (42000): This version of MySQL doesn't yet support 'INTERSECT ALL'";
    assert_eq!(run(&mut session, "SELECT 1 INTERSECT ALL SELECT 1"), error);
}

#[test]
fn recursion_ends() {
    let world = World::new();
    let _actors = [world.actor("thread/test/a"), world.actor("thread/test/b")];
    let mut session = world.session();
    let aborted = |after| {
        format!(
            "ERROR 3636 (HY000): Recursive query aborted after {after} iterations. Try increasing @@cte_max_recursion_depth to a larger value."
        )
    };
    for (recursion, rest, expected) in [
        ("n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000)", "COUNT(*), MAX(i) FROM n", "1000,1000"),
        (
            "n (i, t) AS (SELECT 1, CAST('a' AS CHAR(9)) UNION ALL SELECT i + 1, CONCAT(t, 'b') FROM n WHERE i < 3)",
            "* FROM n",
            "1,a\n2,ab\n3,abb",
        ),
        // A cycle is no recursion without an end.
        ("n AS (SELECT 1 AS i UNION SELECT i % 5 + 1 FROM n)", "COUNT(*) FROM n", "5"),
        (
            "n AS (SELECT thread_id FROM threads UNION SELECT t.thread_id FROM threads t JOIN n ON t.thread_id <> n.thread_id)",
            "thread_id FROM n ORDER BY 1",
            "1\n2",
        ),
        (
            "n AS (SELECT 1 AS i UNION ALL SELECT 2 UNION ALL SELECT x.i + 2 FROM n AS x WHERE x.i < 5)",
            "GROUP_CONCAT(i ORDER BY i) FROM n",
            "\"1,2,3,4,5,6\"",
        ),
        (
            "a AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM a WHERE i < 3), b AS (SELECT i FROM a UNION ALL SELECT i * 10 FROM b WHERE i < 100)",
            "COUNT(*), MAX(b.i) FROM b JOIN a USING (i)",
            "3,3",
        ),
        ("n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n LIMIT 4)", "MAX(i) FROM n", "4"),
        ("n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1001)", "COUNT(*) FROM n", &aborted(1001)),
        ("n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n)", "COUNT(*) FROM n", &aborted(1001)),
        ("n AS (SELECT 1 AS i UNION SELECT i + 1 FROM n)", "COUNT(*) FROM n", &aborted(1001)),
        ("n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)", "COUNT(*) FROM n", &aborted(1001)),
        // One that has a WITH of its own.
        ("n AS (WITH o AS (SELECT 1 AS i) SELECT i FROM o UNION ALL SELECT i + 1 FROM n)", "COUNT(*) FROM n", &aborted(1001)),
        (
            "n AS (WITH o AS (SELECT 1 AS i) SELECT i FROM o UNION ALL SELECT n.i + o.i FROM n JOIN o WHERE n.i < 5)",
            "COUNT(*), MAX(i) FROM n",
            "5,5",
        ),
        ("n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM (SELECT 1 AS one) t JOIN n)", "COUNT(*) FROM n", &aborted(1001)),
    ] {
        let statement = format!("WITH RECURSIVE {recursion} SELECT {rest}");
        check(&mut session, &statement, expected);
    }
    check(&mut session, "SET cte_max_recursion_depth = 3", "0 changed");
    let statement = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 4) SELECT i FROM n";
    assert_eq!(run(&mut session, statement), aborted(4));
    check(&mut session, "SET cte_max_recursion_depth = DEFAULT", "0 changed");
    check(&mut session, statement, "1\n2\n3\n4");
}

#[test]
fn rows_beyond_the_limit_are_counted() {
    let mut session = World::new().session();
    for (statement, rows, found) in [
        ("SELECT SQL_CALC_FOUND_ROWS name FROM setup_consumers ORDER BY name LIMIT 1, 2", 2, 17),
        ("SELECT SQL_CALC_FOUND_ROWS name FROM setup_consumers LIMIT 2 OFFSET 16", 1, 17),
        ("SELECT SQL_CALC_FOUND_ROWS name FROM setup_consumers LIMIT 0", 0, 17),
        ("SELECT SQL_CALC_FOUND_ROWS 1 UNION SELECT 2 UNION SELECT 3 LIMIT 1", 1, 3),
        ("SELECT SQL_CALC_FOUND_ROWS name FROM setup_consumers", 17, 17),
        ("SELECT name FROM setup_consumers LIMIT 3", 3, 3),
    ] {
        // One line is the heading.
        assert_eq!(run(&mut session, statement).lines().count() - 1, rows, "{statement}");
        check(&mut session, "SELECT FOUND_ROWS()", &found.to_string());
        check(&mut session, "SELECT FOUND_ROWS()", "1");
    }
    check(&mut session, "PREPARE s FROM 'SELECT SQL_CALC_FOUND_ROWS name FROM setup_consumers LIMIT ?'", "Statement prepared");
    for most in ["'1'", "1e0", "1"] {
        check(&mut session, &format!("SET @most = {most}"), "0 changed");
        check(&mut session, "EXECUTE s USING @most", "events_stages_current");
        check(&mut session, "SELECT FOUND_ROWS()", "17");
    }
    check(&mut session, "EXECUTE s USING @most", "events_stages_current");
    let warning = "Warning,1287,SQL_CALC_FOUND_ROWS is deprecated and will be removed in a future release. Consider using two separate \
                   queries instead.";
    check(&mut session, "SHOW WARNINGS", warning);
}

#[test]
fn windows() {
    let world = World::new();
    let _actors = [world.actor("thread/test/a"), world.actor("thread/test/b")];
    let mut session = world.session();
    for (statement, expected) in [
        (
            "SELECT name, SUM(thread_id) OVER (PARTITION BY LEFT(name, 6) ORDER BY name) AS s, COUNT(*) OVER w AS c FROM threads \
             WINDOW w AS (PARTITION BY name)",
            "thread/test/a,1,1\nthread/test/b,3,1",
        ),
        (
            "SELECT name FROM (SELECT name, ROW_NUMBER() OVER (PARTITION BY enabled ORDER BY name DESC) AS n FROM setup_instruments) AS q WHERE n <= 2",
            "wait/synch/rwlock/sql/LOCK_grant\nwait/synch/rwlock/mysys/WT_RESOURCE::lock",
        ),
        ("SELECT SUM(SUM(thread_id)) OVER () FROM threads GROUP BY name", "3\n3"),
        ("SELECT LEAD(thread_id) OVER (ORDER BY name), LAG(name, 1, 'x') OVER (ORDER BY name) FROM threads LIMIT 1", "2,x"),
    ] {
        check(&mut session, statement, expected);
    }
    for (over, error) in [
        ("SUM(1) OVER nothing", "ERROR 3579 (HY000): Window name 'nothing' is not defined."),
        (
            "COUNT(DISTINCT 1) OVER ()",
            "ERROR 1235 (42000): This version of MySQL doesn't yet support '<window function>(DISTINCT ..)'",
        ),
        ("NTILE(0) OVER ()", "ERROR 1210 (HY000): Incorrect arguments to ntile"),
        ("NTH_VALUE(1, 0) OVER ()", "ERROR 1210 (HY000): Incorrect arguments to nth_value"),
        (
            "SUM(1) OVER (ROWS BETWEEN -1 PRECEDING AND CURRENT ROW)",
            "ERROR 3586 (HY000): Window '<unnamed window>': frame start or end is negative, NULL or of non-integral type",
        ),
        (
            "SUM(1) OVER (RANGE 1 PRECEDING)",
            "ERROR 3587 (HY000): Window '<unnamed window>' with RANGE N PRECEDING/FOLLOWING frame requires exactly one ORDER BY expression, of \
             numeric or temporal type",
        ),
    ] {
        assert_eq!(run(&mut session, &format!("SELECT {over} FROM threads")), error, "{over}");
    }
}

#[test]
fn sets_of_rows_that_differ() {
    let mut session = World::new().session();
    for (statement, expected) in [
        ("SELECT 1 AS a UNION DISTINCT SELECT 1 UNION DISTINCT SELECT 2", "1\n2"),
        ("SELECT 1 AS a INTERSECT DISTINCT SELECT 1", "1"),
        ("(SELECT 1 AS a UNION ALL SELECT 2) EXCEPT DISTINCT SELECT 1", "2"),
        ("SELECT a FROM (SELECT 1 AS a UNION DISTINCT (SELECT 1 UNION DISTINCT SELECT 3)) AS t", "1\n3"),
    ] {
        check(&mut session, statement, expected);
    }
}

/// Whichever column is looked up, and of those that are nowhere equal to anything, too.
#[test]
fn rows_are_looked_up_by_all_that_is_equal() {
    let world = World::new();
    let actors = ["thread/test/a", "thread/test/b", "thread/test/c"].map(|name| world.actor(name));
    for (object, actor) in (1..).zip(&actors) {
        world.wait(actor, 0, object, 5);
        world.wait(actor, 0, object, 5);
    }
    let mut session = world.session();
    let join = "FROM events_waits_history a JOIN events_waits_history b ON";
    for (on, expected) in [
        ("b.EVENT_ID = a.EVENT_ID AND b.THREAD_ID = a.THREAD_ID", "6"),
        ("b.THREAD_ID = a.THREAD_ID AND b.EVENT_ID = a.EVENT_ID", "6"),
        ("b.EVENT_ID = a.EVENT_ID", "18"),
        ("b.THREAD_ID = a.THREAD_ID AND b.NESTING_EVENT_ID = a.NESTING_EVENT_ID", "0"),
        ("b.NESTING_EVENT_ID = a.NESTING_EVENT_ID", "0"),
        ("b.THREAD_ID = a.THREAD_ID AND b.NESTING_EVENT_ID <=> a.NESTING_EVENT_ID", "12"),
        ("b.NESTING_EVENT_ID <=> a.NESTING_EVENT_ID AND b.OBJECT_NAME <=> a.OBJECT_NAME AND b.THREAD_ID = a.THREAD_ID", "12"),
        ("b.EVENT_ID = a.EVENT_ID AND b.THREAD_ID IN (2, 3, NULL) AND b.THREAD_ID = a.THREAD_ID", "4"),
        ("b.OPERATION = a.OPERATION AND b.THREAD_ID = '2' AND b.EVENT_ID = 1.0", "6"),
    ] {
        check(&mut session, &format!("SELECT COUNT(*) {join} {on}"), expected);
    }
    check(&mut session, "SELECT COUNT(*) FROM threads WHERE PARENT_THREAD_ID <=> NULL", "3");
    check(&mut session, "SELECT COUNT(*) FROM threads WHERE PARENT_THREAD_ID = NULL", "0");
    check(&mut session, "SELECT COUNT(*) FROM threads t LEFT JOIN threads p ON p.THREAD_ID = t.PARENT_THREAD_ID", "3");
}
