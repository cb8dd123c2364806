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
