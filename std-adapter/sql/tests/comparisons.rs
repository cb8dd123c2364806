//! Values of different kinds beside one another: which are equal, which is greater, what becomes of them together.

mod common;

use common::{World, check, run, session};
use perfschema::render::OwnedValue;
use perfschema_sql::Outcome;

/// Text against number, as numbers; also where nothing but the values says which is which.
#[test]
fn a_text_and_a_number_compare_as_numbers() {
    let world = World::new();
    let actor = world.actor("thread/test/a");
    (0..4).for_each(|event| world.wait(&actor, event % 2, 100, 10));
    let mut session = world.session();
    for (statement, expected) in [
        ("SELECT 5 = '5', '5abc' = 5, 5 <> '5.0', '10' > 9, '10' > '9', 0 = 'x', 5 <=> '5', NULL <=> '5'", "1,1,0,1,0,1,1,0"),
        ("SELECT SUM(COUNT_STAR) > '0', SUM(COUNT_STAR) = '4' FROM events_waits_summary_global_by_event_name", "1,1"),
        (
            "SELECT COUNT(*) FROM global_variables WHERE COALESCE(VARIABLE_VALUE, 0) = 4 AND VARIABLE_NAME LIKE '%max_mutex_cl%'",
            "1",
        ),
        ("SELECT IF(MAX(VARIABLE_VALUE) > 3, 'y', 'n') FROM global_variables WHERE VARIABLE_NAME LIKE '%max_mutex_cl%'", "y"),
        ("SELECT 5 IN ('5'), '5' IN (4, 5), 5 IN ('4', NULL) IS NULL, 5 NOT IN ('5', 'x'), 'x' IN (0, 'y')", "1,1,1,0,1"),
        ("SELECT 5 BETWEEN '4' AND '6', '5' BETWEEN 4 AND 6, '10' NOT BETWEEN 9 AND 11, 5 BETWEEN '6' AND NULL", "1,1,0,0"),
        ("SELECT CASE 5 WHEN '4' THEN 'a' WHEN '5' THEN 'b' END, CASE '5' WHEN 5.0 THEN 'c' ELSE 'd' END", "b,c"),
        ("SELECT NULLIF(5, '5') IS NULL, NULLIF('5', 5.0) IS NULL, NULLIF('a', 'A') IS NULL, NULLIF(5, 6)", "1,1,1,5"),
        (
            "SELECT GREATEST('10', '9'), GREATEST(10, 9), LEAST('b', 'A'), GREATEST(2, 1.5), GREATEST(1, NULL) IS NULL",
            "9,10,A,2.0,1",
        ),
        ("SELECT 18446744073709551615 > 1e30, 18446744073709551615 < 1e30, 1e30 > 18446744073709551615", "0,1,1"),
        ("SELECT 18446744073709551615 = 18446744073709551614, 18446744073709551615 = '18446744073709551615'", "0,1"),
        ("SELECT GREATEST(18446744073709551615, 1e30) = 1e30, GREATEST(18446744073709551615, 5)", "1,18446744073709551615"),
        ("SELECT COUNT(*) FROM threads WHERE thread_id = '1'", "1"),
        ("SELECT COUNT(*) FROM threads WHERE thread_id = '1abc' AND thread_id IN ('1', 'x') AND '0' < thread_id", "1"),
        ("SELECT COUNT(*) FROM threads WHERE thread_id = 1.0 AND thread_id < 1e9 AND NOT thread_id > '1e9'", "1"),
        ("SELECT (1, 'a') = ('1', 'A'), (1, 2) <> (1, '2'), (1, 2) IN ((3, 4), ('1', '2')), (1, NULL) <=> (1, NULL)", "1,0,1,1"),
        (
            "SELECT 5 IN (SELECT '5'), '5' IN (SELECT 5), '5x' IN (SELECT 5), 5 NOT IN (SELECT '6'), 5 = ANY (SELECT '5')",
            "1,1,1,1,1",
        ),
        ("SELECT COUNT(*) FROM threads WHERE thread_id IN (SELECT '1' UNION SELECT 'x')", "1"),
        ("SELECT x = 5, x > 4, x IN (5), x + 0 = '5' FROM (SELECT '5' AS x) AS t", "1,1,1,1"),
        ("SELECT thread_id = 5 FROM (SELECT '5' AS thread_id) AS t", "1"),
        ("SELECT n = 'x', n FROM (SELECT 0 AS n UNION SELECT 'y') AS t ORDER BY n", "0,0\n0,y"),
        ("SELECT SUM(count_star) AS n FROM events_waits_summary_global_by_event_name HAVING n = '4'", "4"),
        ("WITH q (a) AS (SELECT '5') SELECT a = 5, a IN (5, 6), a BETWEEN 4 AND 6 FROM q", "1,1,1"),
    ] {
        check(&mut session, statement, expected);
    }
    let error = "ERROR 1241 (21000): Operand should contain 2 column(s)";
    assert_eq!(run(&mut session, "SELECT (1, 2) = (1, 2, 3)"), error);
}

/// Numbers that SQLite has no integer for are true, wherever truth is asked for.
#[test]
fn a_large_number_is_true() {
    let mut session = session();
    for (statement, expected) in [
        ("SELECT IF(18446744073709551615, 1, 0), NOT 18446744073709551615, NOT ~0", "1,0,0"),
        ("SELECT 18446744073709551615 AND 1, 0 OR 18446744073709551615, 18446744073709551615 XOR 1", "1,1,0"),
        (
            "SELECT 18446744073709551615 IS TRUE, 18446744073709551615 IS NOT TRUE, ~0 IS FALSE, ~0 IS NOT FALSE, ~0 IS UNKNOWN",
            "1,0,0,1,0",
        ),
        ("SELECT CASE WHEN 18446744073709551615 THEN 1 END, CASE WHEN COALESCE(NULL, ~0) THEN 1 ELSE 0 END", "1,1"),
        ("SELECT a FROM (SELECT 1 AS a UNION SELECT 2) AS t WHERE ~a", "1\n2"),
        ("SELECT a FROM (SELECT ~0 AS a UNION SELECT 0 UNION SELECT NULL) AS t WHERE a", "18446744073709551615"),
        ("SELECT COUNT(*) FROM (SELECT ~0 AS a) AS t JOIN (SELECT 1 AS b) AS u ON a HAVING MAX(a)", "1"),
        ("SELECT (SELECT ~0) AND 1, IF((SELECT '0x'), 1, 0), IF('1x', 1, 0), NULL AND ~0", "1,0,1,"),
    ] {
        check(&mut session, statement, expected);
    }
}

/// Hexadecimal and binary literals are texts, and numbers where one is asked for.
#[test]
fn a_literal_of_bytes_is_a_number_beside_numbers() {
    let mut session = session();
    for (statement, expected) in [
        (
            "SELECT 5 & 0x04, 0x10 + 1, b'11' + 1, -0x10, ~0xFF & 0xFFF, 0x10 DIV 3, 0x1 << 0x4, 7.5 - x'05'",
            "4,17,4,-16,3840,5,16,2.5",
        ),
        ("SELECT 16 = 0x10, 0x10 = 16, 0x10 <> 16.0, 0x10 < 17e0, 16 <=> 0x10, 16 = '\u{10}'", "1,1,0,1,1,0"),
        ("SELECT 16 IN (1, 0x10), 0x10 IN (1, 16), 5 BETWEEN 0x01 AND 0x10, 0x05 BETWEEN 1 AND 10", "1,1,1,1"),
        (
            "SELECT CASE 16 WHEN 0x10 THEN 'a' END, CASE 0x10 WHEN 16 THEN 'b' END, IF(0x00, 1, 2), IF(0x01, 1, 2), NOT b'1'",
            "a,b,2,1,0",
        ),
        ("SELECT CAST(0x10 AS UNSIGNED), CAST(b'11' AS SIGNED), CAST(0x10 AS DECIMAL), CAST(0x10 AS DOUBLE)", "16,3,16,16"),
        ("SELECT 0xFFFFFFFFFFFFFFFF + 0, 0x01FFFFFFFFFFFFFFFF + 0 = ~0, x'' + 0, 0x1FF + 0", "18446744073709551615,1,0,511"),
        ("SELECT BIT_COUNT(b'101010'), ABS(0x10), SUM(0x10), MOD(0x10, 5), CEILING(0x02)", "3,16,16,1,2"),
        ("SELECT 0x41, x'414243' = 'abc', CONCAT(0x41, b'1000010'), 0x41 LIKE 'a', HEX(0x10), '1' = 0x31", "A,1,AB,1,10,1"),
        ("SELECT '\u{10}' + 1, 0x10 + 1, 'A' = 0x41, LENGTH(0x414)", "1,17,1,2"),
        ("SELECT COUNT(*) FROM threads WHERE thread_id + 0 = 0x00 OR thread_id = 0x00", "0"),
    ] {
        check(&mut session, statement, expected);
    }
}

/// What drivers bind is text as often as not.
#[test]
fn what_is_bound_as_text_is_found() {
    let world = World::new();
    let _actor = world.actor("thread/test/a");
    let mut session = world.session();
    for statement in [
        "SELECT COUNT(*) FROM threads WHERE thread_id = ?",
        "SELECT COUNT(*) FROM threads WHERE thread_id + 0 = ?",
        "SELECT COUNT(*) FROM threads WHERE thread_id IN (?)",
        "SELECT MAX(thread_id) = ? FROM threads",
        "SELECT COUNT(*) FROM threads HAVING COUNT(*) = ?",
        "SELECT CASE COUNT(*) WHEN ? THEN 1 END FROM threads",
    ] {
        match session.execute_with(statement, &["1".into()]) {
            Ok(Outcome::Rows(grid)) => assert_eq!(grid.rows, [[OwnedValue::from(1_i64)]], "{statement}"),
            other => panic!("{statement}: {other:?}"),
        }
    }
}

/// Long lists, in which more is compared than a function takes arguments.
#[test]
fn long_lists() {
    let mut session = session();
    let texts: Vec<String> = (0..300).map(|number| format!("'{number}'")).collect();
    for (number, expected) in [("299", "1"), ("300", "0"), ("10.0 + 5", "1")] {
        check(&mut session, &format!("SELECT {number} + 0 IN ({})", texts.join(", ")), expected);
    }
    let whens: Vec<String> = (0..300).map(|number| format!("WHEN '{number}' THEN {}", number + 1000)).collect();
    for (number, expected) in [("0", "1000"), ("89", "1089"), ("90", "1090"), ("299", "1299"), ("300", "7")] {
        check(&mut session, &format!("SELECT CASE {number} + 0.0 {} ELSE 7 END", whens.join(" ")), expected);
    }
    let rows: Vec<String> = (0..2000).map(|number| format!("({number}, '{number}')")).collect();
    check(&mut session, &format!("SELECT (1999, 1999) IN ({})", rows.join(", ")), "1");
}

/// Values of which one is the result are of one kind, so that equal ones are equal.
#[test]
fn a_result_is_of_one_kind() {
    let mut session = session();
    for (statement, expected) in [
        ("SELECT '5' UNION SELECT 5", "5"),
        ("SELECT COUNT(DISTINCT IF(name = 'idle', 5, '5')) FROM setup_timers", "1"),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT CASE name WHEN 'idle' THEN 5 ELSE '5' END FROM setup_timers) AS t", "1"),
        ("SELECT CONCAT(COALESCE(NULL, 5), IFNULL(NULL, 'x')), COALESCE(NULL, 5, 'x') = '5'", "5x,1"),
    ] {
        check(&mut session, statement, expected);
    }
}

/// Where the kinds are known, SQLite compares, so that a table is asked for the rows and not read whole.
#[test]
fn what_is_looked_up_stays_looked_up() {
    let world = World::new();
    let mut session = world.session();
    for (condition, asked) in [
        ("t.thread_id = 1", true),
        ("t.thread_id = '1'", true),
        ("'1' = t.thread_id", true),
        ("t.name = 'x'", true),
        ("t.thread_id IN (1, '2')", true),
        ("t.thread_id = e.thread_id", true),
        ("t.thread_id <=> e.thread_id", true),
        ("t.name IN (SELECT name FROM setup_instruments)", true),
        ("t.name = 5", false),
        ("t.thread_id = 1.5", false),
    ] {
        let query = format!("SELECT t.name FROM events_waits_current e JOIN threads t WHERE {condition}");
        let plan = run(&mut session, &format!("EXPLAIN {query}"));
        assert_eq!(plan.contains(",t,,ref,"), asked, "{condition}: {plan}");
    }
    // Through the aliases and unions of a view.
    let query = "SELECT * FROM sys.`x$lock_holders` h JOIN threads t ON t.thread_id = h.thread_id";
    let plan = run(&mut session, &format!("EXPLAIN {query}"));
    assert!(plan.contains(",t,,ref,"), "{plan}");
}

/// BINARY and the collations in which letter case counts.
#[test]
fn letter_case_counts_where_it_is_said() {
    let mut session = session();
    for (statement, expected) in [
        ("SELECT BINARY 'a' = 'A', 'a' = BINARY 'A', BINARY 'a' = 'a', BINARY('a') <> 'A', NOT BINARY 'a' = 'A'", "0,0,1,1,1"),
        ("SELECT 'a' = 'A' COLLATE binary, 'a' = 'A' COLLATE utf8mb4_0900_as_cs, 'a' = 'A' COLLATE utf8mb4_general_ci", "0,0,1"),
        (
            "SELECT ('a' COLLATE utf8mb4_bin) = 'A', 'A' = ('a' COLLATE utf8mb4_bin), ('a' COLLATE utf8mb4_general_ci) = 'A', \
             'a' = 'A' COLLATE BINARY",
            "0,0,1,0",
        ),
        ("SELECT 'a' LIKE BINARY 'A', 'a' LIKE BINARY 'a', 'a' COLLATE utf8mb4_bin LIKE 'A%', 'A' LIKE 'a'", "0,1,0,1"),
        (
            "SELECT 'a' REGEXP BINARY 'A', 'a' NOT RLIKE 'A' COLLATE utf8mb4_bin, BINARY 'ab' REGEXP 'b', 'a' REGEXP 'A'",
            "0,1,1,1",
        ),
        ("SELECT CAST('a' AS BINARY) = 'A', CONVERT('a', BINARY) = 'A', CAST('abc' AS BINARY(2))", "0,0,ab"),
        (
            "SELECT 'a' IN ('A' COLLATE utf8mb4_bin), 'a' IN ('b', 'A' COLLATE utf8mb4_bin), 'a' IN ('A', 'b' COLLATE utf8mb4_general_ci), \
             'b' BETWEEN 'A' COLLATE utf8mb4_bin AND 'C', CASE 'a' WHEN 'A' COLLATE utf8mb4_bin THEN 1 ELSE 2 END, 'a' IN ('A')",
            "0,0,1,0,2,1",
        ),
        ("SELECT BINARY 'a' IN ('A', 5), BINARY 'b' BETWEEN 'A' AND 'C', CASE BINARY 'a' WHEN 'A' THEN 1 ELSE 2 END", "0,0,2"),
        ("SELECT COUNT(*) FROM setup_timers WHERE BINARY name = 'WAIT'", "0"),
        ("SELECT COUNT(*) FROM setup_timers t WHERE BINARY t.name = 'wait' AND BINARY LOWER(t.name) = 'wait'", "1"),
        ("SELECT x FROM (SELECT 'b' AS x UNION ALL SELECT 'C' UNION ALL SELECT 'a') AS t ORDER BY BINARY x", "C\na\nb"),
        ("SELECT COUNT(*) FROM (SELECT 1 FROM (SELECT 'a' AS x UNION ALL SELECT 'A') AS t GROUP BY BINARY x) AS g", "2"),
        ("SELECT COUNT(DISTINCT BINARY x) FROM (SELECT 'a' AS x UNION ALL SELECT 'A') AS t", "2"),
        (
            "SELECT 'a|b' LIKE 'a||b' ESCAPE '|', 'a%' LIKE 'a|%' ESCAPE '|', 'ab' LIKE 'a|%' ESCAPE '|', 'a\\\\b' LIKE 'a\\\\b' ESCAPE '|'",
            "1,1,0,1",
        ),
    ] {
        check(&mut session, statement, expected);
    }
    assert_eq!(run(&mut session, "SELECT BINARY name, BINARY  'x' FROM setup_timers LIMIT 0"), "BINARY name,BINARY  'x'\n");
    check(&mut session, "SET NAMES binary", "0 changed");
    for name in ["nothing", "utf8mb4_", "utf8mb4_foo"] {
        let error = format!("ERROR 1273 (HY000): Unknown collation: '{name}'");
        assert_eq!(run(&mut session, &format!("SELECT 'a' COLLATE {name}")), error);
    }
    assert!(run(&mut session, "SET NAMES utf8mb4 COLLATE utf8mb4_").starts_with("ERROR 1273 "));
}

/// The texts of an ENUM have numbers, from 1.
#[test]
fn an_enum_is_a_number_where_one_is_asked_for() {
    let mut session = session();
    let row = "FROM setup_consumers c WHERE c.name = 'events_waits_current'";
    for (expressions, expected) in [
        ("c.enabled, enabled + 0, -enabled, CAST(enabled AS UNSIGNED), SUM(enabled), CONCAT(enabled)", "YES,1,-1,1,1,YES"),
        ("enabled = 1, enabled = 2, 1 < c.enabled, enabled IN (1, 2), enabled = 'yes', enabled IN ('NO')", "1,0,0,1,1,0"),
        (
            "(SELECT e + 0 FROM (SELECT 'YES' AS enabled, '5' AS e) AS t), (SELECT enabled + 0 FROM (SELECT '7' AS enabled) AS t)",
            "5,7",
        ),
    ] {
        check(&mut session, &format!("SELECT {expressions} {row}"), expected);
    }
    check(&mut session, "SELECT COUNT(*) FROM setup_instruments WHERE timed + 0 = 1 AND enabled = 1", "11");
}

/// TRUE is 1: nobody asks whether it is true.
#[test]
fn true_and_false_are_numbers() {
    let mut session = session();
    check(
        &mut session,
        "SELECT 5 <=> TRUE, 1 <=> TRUE, TRUE <=> 5, 0 <=> FALSE, NULL <=> FALSE, 5 <=> (TRUE), TRUE <=> TRUE, '1' <=> TRUE",
        "0,1,0,1,0,0,1,1",
    );
    check(&mut session, "SELECT (1, 5) <=> (1, TRUE), (1, 1) <=> (1, TRUE), (1, NULL) <=> (1, FALSE)", "0,1,0");
    check(&mut session, "SELECT 5 IS TRUE, 5 = TRUE, 0.5 <=> TRUE, 0.5 IS TRUE", "1,0,0,1");
}

/// What is true is a number: an ENUM is that of its text, a moment that of its digits.
#[test]
fn an_enum_and_a_moment_are_true() {
    let mut session = World::new().session();
    for (statement, expected) in [
        ("SELECT (SELECT COUNT(*) FROM setup_consumers WHERE ENABLED) = COUNT(*) FROM setup_consumers", "1"),
        ("SELECT COUNT(*) FROM setup_consumers WHERE NOT ENABLED", "0"),
        ("SELECT DISTINCT ENABLED AND 1, 0 OR ENABLED, ENABLED XOR 0, !ENABLED FROM setup_consumers", "1,1,1,0"),
        (
            "SELECT DISTINCT ENABLED IS TRUE, ENABLED IS NOT TRUE, ENABLED IS FALSE, ENABLED IS NOT FALSE FROM setup_consumers",
            "1,0,0,1",
        ),
        ("SELECT DISTINCT IF(ENABLED, 'a', 'b'), CASE WHEN ENABLED THEN 'a' ELSE 'b' END FROM setup_consumers", "a,a"),
        ("SELECT COUNT(*) > 0 FROM (SELECT 1 AS a) AS t JOIN setup_consumers ON ENABLED", "1"),
        (
            "SELECT NAME, ENABLED FROM setup_consumers WHERE NAME = 'global_instrumentation' HAVING ENABLED",
            "global_instrumentation,YES",
        ),
        ("SELECT 1 FROM (SELECT TIME '00:00:01' AS a) AS t WHERE a", "1"),
        ("SELECT COUNT(*) FROM (SELECT TIME '00:00:00' AS a) AS t WHERE a", "0"),
        ("SELECT IF(TIMESTAMP '2024-01-01 00:00:00', 1, 0), NOT DATE '2024-01-01', CAST(NULL AS TIME) AND 1", "1,0,"),
    ] {
        check(&mut session, statement, expected);
    }
    let update = "UPDATE setup_consumers SET ENABLED = 'NO' WHERE NOT ENABLED";
    check(&mut session, update, "Rows matched: 0  Changed: 0  Warnings: 0");
}

#[test]
fn an_enum_is_a_number_among_numbers_and_where_a_function_counts() {
    let mut session = World::new().session();
    for (expressions, expected) in [
        ("ENABLED IN (1, 'NO'), ENABLED IN ('NO', 2), ENABLED NOT IN (1, 'NO'), ENABLED IN (2, 'YES')", "1,0,0,1"),
        ("ENABLED IN (SELECT 1), ENABLED NOT IN (SELECT 2), (ENABLED, 1) IN (SELECT 1, 1), ENABLED IN (SELECT 'yes')", "1,1,1,1"),
        ("ELT(ENABLED, 'a', 'b'), LEFT('abc', ENABLED), RIGHT('abc', ENABLED), CONCAT('[', SPACE(ENABLED), ']')", "a,a,c,[ ]"),
        ("REPEAT('x', ENABLED), SUBSTRING('abc', ENABLED, ENABLED), SUBSTRING('abc' FROM ENABLED FOR ENABLED)", "x,a,a"),
        ("DATE '2024-01-01' + INTERVAL ENABLED DAY, DATE_SUB('2024-01-02', INTERVAL ENABLED DAY)", "2024-01-02,2024-01-01"),
        ("LPAD('a', ENABLED, 'b'), SUBSTRING_INDEX('a,b', ',', ENABLED), INSERT('abc', ENABLED, ENABLED, 'x')", "a,a,xbc"),
    ] {
        check(
            &mut session,
            &format!("SELECT {expressions} FROM setup_consumers WHERE NAME = 'global_instrumentation'"),
            expected,
        );
    }
}

#[test]
fn using_compares_as_on_does() {
    let world = World::new();
    let _threads = [world.user("a", "h"), world.user("b", "h")];
    let mut session = world.session();
    for (statement, expected) in [
        ("SELECT COUNT(*) FROM threads JOIN (SELECT THREAD_ID * 1.0 THREAD_ID FROM threads) u USING (THREAD_ID)", "2"),
        ("SELECT a FROM (SELECT '01' a) t JOIN (SELECT 1 a) u USING (a)", "01"),
        ("SELECT a FROM (SELECT DATE '2020-01-01' a) t JOIN (SELECT '2020-1-1' a) u USING (a)", "2020-01-01"),
        ("SELECT * FROM (SELECT 3 c, 1.00 a) t NATURAL JOIN (SELECT 4 d, 1e0 a) u ORDER BY a", "1.00,3,4"),
        (
            "SELECT a, COUNT(a) FROM (SELECT 1.00 a) t NATURAL LEFT JOIN (SELECT '2' a) u WHERE a > 0 GROUP BY a HAVING a > 0",
            "1.00,1",
        ),
        ("SELECT a, t.a, u.a FROM (SELECT 1.00 a) t RIGHT JOIN (SELECT '2' a) u USING (a)", "2,,2"),
        ("SELECT a FROM (SELECT 1.00 a) t JOIN (SELECT '1' a) u USING (a) JOIN (SELECT 1e0 a) v USING (a)", "1.00"),
        ("SELECT * FROM (SELECT 1.0 a) t JOIN ((SELECT 2 b, '1' a) u JOIN (SELECT 2e0 b) v USING (b)) USING (a)", "1.0,2"),
        ("SELECT a AS b, -a AS a FROM (SELECT 1.0 a) t JOIN (SELECT 1 a) u USING (a) ORDER BY a", "1.0,-1.0"),
        // A query within it that does not name what is one.
        ("SELECT a, (SELECT MAX(z) FROM (SELECT 3 z) w) FROM (SELECT 1.0 a) t JOIN (SELECT 1 a) u USING (a)", "1.0,3"),
        // What is joined later by ON means what there is then.
        ("SELECT x FROM (SELECT 1.0 x) a JOIN (SELECT 1 y) b ON x = y RIGHT JOIN (SELECT 1 x) c USING (x)", "1"),
        (
            "SELECT a FROM (SELECT 1.0 a) t JOIN (SELECT 1.0 a) u USING (a) \
             JOIN (SELECT 1 k) v ON k = (SELECT MAX(z) FROM (SELECT 1 z) w WHERE w.z = a)",
            "1.0",
        ),
        (
            "SELECT TIMESTAMPDIFF(DAY, '2020-01-01', '2020-01-03'), day FROM (SELECT 1.0 day) t JOIN (SELECT 1 day) u USING (day)",
            "2,1.0",
        ),
        (
            "SELECT 1 FROM (SELECT 1.0 a) t JOIN (SELECT 1 a) u USING (a) UNION ALL SELECT a FROM (SELECT '1' a) t JOIN (SELECT 1 a) u USING (a)",
            "1\n1",
        ),
    ] {
        check(&mut session, statement, expected);
    }
    // Names of what two tables have that are not joined by it are refused, and head the result as they are written.
    for query in [
        "SELECT a FROM (SELECT 1.0 a) t JOIN (SELECT 1 a) u USING (a), (SELECT 5 a) v",
        "SELECT a FROM (SELECT 1.0 a) t JOIN (SELECT 1 a) u USING (a), (SELECT 1.0 a) v JOIN (SELECT 1 a) w USING (a)",
    ] {
        assert!(
            run(&mut session, query).starts_with("ERROR 1052 (23000): Column 'a' in "),
            "{query}: {}",
            run(&mut session, query)
        );
    }
    assert_eq!(run(&mut session, "SELECT A FROM (SELECT 1.0 a) t JOIN (SELECT 1 a) u USING (a)"), "A\n1.0\n");
    // Of a query within that names it nobody knows which it means: better no rows than wrong ones.
    for within in ["EXISTS (SELECT 1 FROM setup_timers WHERE a = 1)", "1 IN (SELECT a FROM (SELECT 1 a) w)"] {
        let found = run(&mut session, &format!("SELECT a FROM (SELECT 1.0 a) t JOIN (SELECT 1 a) u USING (a) WHERE {within}"));
        assert!(found.starts_with("ERROR 1235 (42000): ") && found.contains("USING of different types"), "{within}: {found}");
    }
}

/// Users are told apart by the case of their letters, hosts are not; as in MySQL, whose columns have these collations.
#[test]
fn users_compare_with_case() {
    let mut session = session();
    check(&mut session, "INSERT INTO setup_actors (host, user) VALUES ('x', 'ada'), ('X', 'Ada'), ('y', 'Bob')", "3 changed");
    for (condition, found) in [
        ("user = 'ada'", "ada"),
        ("'ADA' = user", ""),
        ("user <> 'Ada' AND user <> '%'", "Bob\nada"),
        ("user IN ('ADA', 'BOB')", ""),
        ("user IN (SELECT 'Ada')", "Ada"),
        ("user LIKE 'A%'", "Ada"),
        ("user REGEXP '^a'", "ada"),
        ("user BETWEEN 'A' AND 'Z'", "Ada\nBob"),
        ("CASE user WHEN 'ADA' THEN 1 WHEN 'ada' THEN 2 END = 2", "ada"),
        ("user = 'ADA' COLLATE utf8mb4_0900_ai_ci", "Ada\nada"),
        ("host = 'X'", "Ada\nada"),
    ] {
        check(&mut session, &format!("SELECT user FROM setup_actors WHERE {condition} ORDER BY BINARY user"), found);
    }
    check(&mut session, "SELECT COUNT(DISTINCT user), COUNT(*) FROM setup_actors WHERE host = 'x' GROUP BY host", "2,2");
    check(&mut session, "SELECT COUNT(*) FROM setup_actors WHERE host = 'x' GROUP BY user", "1\n1");
    for sorted in [
        "ORDER BY user",
        "ORDER BY who",
        "ORDER BY 1",
        "UNION SELECT 'Bob' ORDER BY who",
        "ORDER BY ROW_NUMBER() OVER (ORDER BY user)",
    ] {
        check(&mut session, &format!("SELECT user AS who FROM setup_actors WHERE user <> '%' {sorted}"), "Ada\nBob\nada");
    }
    let without_case = "SELECT user FROM setup_actors WHERE user <> '%' ORDER BY user COLLATE utf8mb4_0900_ai_ci DESC LIMIT 1";
    check(&mut session, without_case, "Bob");
    let parted = "SELECT user, COUNT(*) OVER (PARTITION BY user) FROM setup_actors WHERE user <> '%' ORDER BY 1";
    check(&mut session, parted, "Ada,1\nBob,1\nada,1");
    check(&mut session, "UPDATE setup_actors SET enabled = 'NO' WHERE user = 'ada'", "Rows matched: 1  Changed: 1  Warnings: 0");
    check(&mut session, "DELETE FROM setup_actors WHERE user = 'Ada'", "1 changed");
    check(&mut session, "SELECT user, enabled FROM setup_actors WHERE host = 'x'", "ada,NO");
    let collations =
        "SELECT COLUMN_NAME, COLLATION_NAME FROM information_schema.COLUMNS WHERE TABLE_NAME = 'setup_actors' LIMIT 2";
    check(&mut session, collations, "HOST,utf8mb4_0900_ai_ci\nUSER,utf8mb4_bin");
}
