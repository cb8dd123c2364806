//! Each kind of statement, each function, and how each is refused.

mod common;

use common::{Mortal, World, check, run, session};
use perfschema::core::table::SqlType;
use perfschema::render::OwnedValue;
use perfschema_sql::{Account, Database, Outcome, Right, Session};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is between the columns must not matter: names in any case, quoted or not, with schema or without.
#[test]
fn names() {
    let mut session = session();
    for statement in [
        "SELECT NAME FROM SETUP_TIMERS",
        "select `name` from `setup_timers`",
        "SELECT setup_timers.name FROM performance_schema.setup_timers",
        "SELECT performance_schema.setup_timers.name FROM performance_schema.setup_timers",
        "SELECT t.NAME FROM PERFORMANCE_SCHEMA.SETUP_TIMERS AS t",
        "SELECT t.name FROM setup_timers t /* comment */ -- and another\n WHERE 1 # and a third",
        "WITH q AS (SELECT name FROM setup_timers) SELECT * FROM q",
        "SELECT name FROM (SELECT * FROM setup_timers) AS `from`",
        "(SELECT name FROM setup_timers)",
        "SELECT name FROM setup_timers FOR UPDATE",
        "SELECT SQL_NO_CACHE name FROM setup_timers USE INDEX (PRIMARY) LIMIT 0, 5;",
    ] {
        check(&mut session, statement, "idle\nwait\nstage\nstatement\ntransaction");
    }
    let statement = "SELECT Name, count( * ),'x',1+1 FROM setup_timers WHERE name = 'wait'";
    assert_eq!(run(&mut session, statement), "Name,count( * ),x,1+1\nwait,1,x,2\n");
}

/// Also where SQLite would not know what a text is a column of.
#[test]
fn texts_compare_without_case() {
    let mut session = session();
    for (statement, expected) in [
        (
            "SELECT CONCAT('a') = CONCAT('A'), IF(1, 'a', 'b') >= CONCAT('B'), LOWER('B') BETWEEN UPPER('a') AND UPPER('c')",
            "1,0,1",
        ),
        ("SELECT LOWER('A') IN (UPPER('a')), LOWER('A') IN (SELECT UPPER('a')), LOWER('A') = ANY (SELECT UPPER('a'))", "1,1,1"),
        (
            "SELECT CASE LOWER('A') WHEN UPPER('a') THEN 1 END, NULLIF(LOWER('A'), 'A') IS NULL, GREATEST(LOWER('A'), 'B')",
            "1,1,B",
        ),
        (
            "SELECT COUNT(DISTINCT CONCAT(x)), MAX(CONCAT(x)) FROM (SELECT 'b' AS x UNION ALL SELECT 'C' UNION ALL SELECT 'B') AS t",
            "2,C",
        ),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT CONCAT(x) FROM (SELECT 'a' AS x UNION ALL SELECT 'A') AS t) AS d", "1"),
        ("SELECT COUNT(*) FROM (SELECT 1 FROM (SELECT 'a' AS x UNION ALL SELECT 'A') AS t GROUP BY CONCAT(x)) AS d", "1"),
        ("SELECT COUNT(*) FROM (SELECT CONCAT('a') UNION SELECT CONCAT('A')) AS d", "1"),
        (
            "SELECT (SELECT 1, 2) = (SELECT 1, 2), (SELECT 1, 2) IN (SELECT 1, 2), ((1, 2)) IN (SELECT 1, 2), ((1, 2)) = ((1, 2))",
            "1,1,1,1",
        ),
        ("SELECT (CONCAT('a'), 1) = ('A', 1), ('x', CONCAT('a')) IN (SELECT 'X', CONCAT('A')), (SELECT 1, 2) = (1, 3)", "1,1,0"),
        ("SELECT GROUP_CONCAT(x ORDER BY CONCAT(x)) FROM (SELECT 'b' AS x UNION ALL SELECT 'A') AS t", "\"A,b\""),
        (
            "SELECT MAX(r) FROM (SELECT RANK() OVER w AS r FROM (SELECT 'a' AS x UNION ALL SELECT 'A') AS t WINDOW w AS (ORDER BY CONCAT(x))) AS d",
            "1",
        ),
        (
            "SELECT GROUP_CONCAT(r) FROM (SELECT RANK() OVER (ORDER BY CONCAT(x)) AS r FROM (SELECT 'a' AS x UNION ALL SELECT 'A') AS t) AS d",
            "\"1,1\"",
        ),
        (
            "SELECT MAX(n) FROM (SELECT COUNT(*) OVER (PARTITION BY CONCAT(x)) AS n FROM (SELECT 'a' AS x UNION ALL SELECT 'A') AS t) AS d",
            "2",
        ),
        ("SELECT x FROM (SELECT 'b' AS x UNION ALL SELECT 'A') AS t ORDER BY CONCAT(x) LIMIT 1", "A"),
        ("SELECT COUNT(*) FROM (SELECT 'a' AS x) AS t JOIN (SELECT 'A' AS y) AS u ON x = y WHERE CONCAT(x) <=> CONCAT(y)", "1"),
    ] {
        check(&mut session, statement, expected);
    }
}

#[test]
fn expressions() {
    let mut session = session();
    for (expression, expected) in [
        ("1 + 1, 7 / 2, 7 DIV 2, 7 % 3, 7 MOD 3, -7 DIV 2, 5 - 8", "2,3.5000,3,1,1,-3,-3"),
        ("1 / 0, 1 DIV 0, 1 % 0, NULL + 1", "\\N"),
        ("'12abc' + 1, '1.5' * 2, '' + 0", "13,3,0"),
        ("LEFT('12', 1) = 1, CONCAT('10') > 9, 9 < CONCAT('10'), CONCAT('1', '0') <=> 10, REPEAT('9', 2) < -1", "1,1,1,1,0"),
        (
            "18446744073709551615, 18446744073709551615 - 18446744073709551614, 9223372036854775807 * 2",
            "18446744073709551615,1,18446744073709551614",
        ),
        ("'a' = 'A', 'a' <=> NULL, NULL <=> NULL, 'a' < 'B', 'b' BETWEEN 'A' AND 'C', 'x' IN ('X', 'y')", "1,0,1,1,1,1"),
        (
            "'a' = 'A' COLLATE utf8mb4_bin, 'a' COLLATE utf8mb4_bin = 'A', 'A' COLLATE utf8mb4_bin IN ('a', 'b'), \
             'b' COLLATE utf8mb4_bin BETWEEN 'A' AND 'C', CASE 'a' COLLATE utf8mb4_bin WHEN 'A' THEN 1 ELSE 0 END, \
             'a' = ('A' COLLATE utf8mb4_0900_ai_ci)",
            "0,0,0,0,0,1",
        ),
        (
            "ABS('-170141183460469231731687303715884105728') > 0, LOCATE('a', 'ba', -170141183460469231731687303715884105728), \
             ROUND(18446744073709551615, -30)",
            "1,0,0",
        ),
        (
            "'a' LIKE 'A', 'ab' LIKE 'a_', 'a_b' LIKE 'a\\_b', 'axb' LIKE 'a\\_b', 'a%' LIKE 'a!%' ESCAPE '!', 'Ünï' LIKE 'üNÏ'",
            "1,1,1,0,1,1",
        ),
        ("'abc' NOT LIKE 'b%', 'abc' REGEXP 'B.$', 'abc' NOT RLIKE '^b'", "1,1,1"),
        (
            "1 || 0, 1 && 0, NOT 1, NOT 0, 1 XOR 1, 6 & 3, 6 | 3, 6 ^ 3, ~0, 1 << 3, 8 >> 2",
            "1,0,0,1,0,2,7,5,18446744073709551615,8,2",
        ),
        ("TRUE, FALSE, NULL IS NULL, 1 IS NOT NULL, 1 IS TRUE, 'é' = 'É'", "1,0,1,1,1,1"),
        (
            "CASE 'A' WHEN 'a' THEN 1 ELSE 2 END, CASE WHEN 0 THEN 1 END IS NULL, IF(0, 1, 2), IFNULL(NULL, 3), NULLIF(1, 1) IS NULL, COALESCE(NULL, 4), ISNULL(5)",
            "1,1,2,3,1,4,0",
        ),
        (
            "LEFT('abc', 2), RIGHT('abc', 2), SUBSTRING('abcd', 2, 2), SUBSTR('abcd', -2), MID('abcd', 2), SUBSTRING('abcd' FROM 2 FOR 1)",
            "ab,bc,bc,cd,bcd,b",
        ),
        (
            "SUBSTRING_INDEX('a/b/c', '/', 2), SUBSTRING_INDEX('a/b/c', '/', -1), CONCAT('a', 1, 'b'), CONCAT('a', NULL) IS NULL, CONCAT_WS('-', 'a', NULL, 'b')",
            "a/b,c,a1b,1,a-b",
        ),
        (
            "UPPER('aé'), LCASE('AÉ'), LENGTH('é'), CHAR_LENGTH('é'), REVERSE('abc'), REPEAT('ab', 2), LPAD('a', 3, '-'), RPAD('abc', 2, '-'), CONCAT(SPACE(2), '|')",
            "AÉ,aé,2,1,cba,abab,--a,ab,  |",
        ),
        (
            "TRIM('  a '), LTRIM(' a'), RTRIM('a '), TRIM(BOTH 'x' FROM 'xax'), TRIM(LEADING 'x' FROM 'xax'), REPLACE('abc', 'b', 'x'), HEX('AB'), HEX(255)",
            "a,a,a,a,ax,axc,4142,FF",
        ),
        (
            "LOCATE('B', 'abc'), INSTR('abc', 'c'), POSITION('b' IN 'abc'), LOCATE('a', 'aba', 2), STRCMP('a', 'B'), FIELD('b', 'a', 'B'), ELT(2, 'a', 'b'), FIND_IN_SET('b', 'a,B')",
            "2,3,2,3,-1,2,b,2",
        ),
        (
            "ABS(-3), SIGN(-2), CEIL(1.2), FLOOR(-1.2), ROUND(2.567, 2), ROUND(15, -1), TRUNCATE(2.567, 1), POW(2, 3), SQRT(9), MOD(7, 3), GREATEST(1, 3, 2), LEAST(1, 3)",
            "3,-1,2,-2,2.57,20,2.5,8,3,1,3,1",
        ),
        (
            "SQRT(-1) IS NULL, LN(0) IS NULL, LOG10(100), FORMAT(1234567.891, 2), FORMAT(1234, 0), FORMAT(-123, 0)",
            "1,1,2,\"1,234,567.89\",\"1,234\",-123",
        ),
        (
            "CAST(12 AS CHAR CHARACTER SET utf8mb4), CAST(12 AS CHAR(1) CHARSET utf8), CONVERT(12, CHAR CHARACTER SET utf8mb3)",
            "12,1,12",
        ),
        (
            "CAST('12' AS UNSIGNED) + 1, CAST(-1 AS UNSIGNED), CAST('a' AS SIGNED), CAST(1.567 AS DECIMAL(5,2)), CONVERT(12, CHAR), CAST(12 AS CHAR(1)), CONVERT('x' USING utf8mb4)",
            "13,18446744073709551615,0,1.57,12,1,x",
        ),
        (
            "DATE_ADD('2026-01-31', INTERVAL 1 MONTH), DATE_SUB('2026-03-01 00:00:00', INTERVAL 1 SECOND), '2026-01-01' + INTERVAL 1 DAY, DATEDIFF('2026-03-01', '2026-02-01')",
            "2026-02-28,2026-02-28 23:59:59,2026-01-02,28",
        ),
        (
            "YEAR('2026-11-21'), EXTRACT(HOUR FROM '2026-11-21 17:31:54'), DATE_FORMAT('2026-11-21', '%d.%m.%y'), DATE('2026-11-21 17:31:54'), UNIX_TIMESTAMP('1970-01-02'), FROM_UNIXTIME(86400)",
            "2026,17,21.11.26,2026-11-21,86400,1970-01-02 00:00:00",
        ),
        (
            "NOW() = NOW(), NOW() > DATE_SUB(NOW(), INTERVAL 86400 SECOND), CURDATE() = DATE(NOW()), UNIX_TIMESTAMP() > 1700000000",
            "1,1,1,1",
        ),
        (
            "DATABASE(), SCHEMA(), USER(), CURRENT_USER(), CURRENT_USER = USER(), CONNECTION_ID(), VERSION() LIKE '8.0.%'",
            "performance_schema,performance_schema,root@localhost,root@localhost,1,1073741825,1",
        ),
        (
            "@@version = VERSION(), @@autocommit, @@session.autocommit, @@global.performance_schema, @@PERFORMANCE_SCHEMA_MAX_MUTEX_CLASSES",
            "1,1,1,ON,4",
        ),
        ("X'4142', _utf8mb4'x', N'x', 'a' 'b', \"it's\", 'it''s', 'a\\'b', 'a\\\\b'", "AB,x,x,ab,it's,it's,a'b,a\\b"),
        (
            "(SELECT COUNT(*) FROM setup_timers), EXISTS (SELECT 1 FROM setup_timers WHERE 0), 1 IN (SELECT 1), 1 = ANY (SELECT 1)",
            "5,0,1,1",
        ),
        ("- -7, 1 - -7, -(-7), - - -7", "7,8,7,-7"),
        ("1e3, 1.5, .5, 0.1 + 0.2 < 0.4", "1000,1.5,0.5,1"),
    ] {
        // A line of NULLs has its own form.
        if expected == "\\N" {
            match session.execute(&format!("SELECT {expression}")) {
                Ok(Outcome::Rows(grid)) => assert!(grid.rows[0].iter().all(|value| *value == OwnedValue::Null), "{expression}"),
                other => panic!("{expression}: {other:?}"),
            }
        } else {
            check(&mut session, &format!("SELECT {expression}"), expected);
        }
    }
}

#[test]
fn queries() {
    let world = World::new();
    let actors = [world.actor("thread/test/a"), world.actor("thread/test/b")];
    for event in 0..10 {
        world.wait(&actors[usize::from(event % 3 == 0)], event % 4, 100, 10 * (event as u64 + 1));
    }
    let mut session = world.session();
    for (statement, expected) in [
        (
            "SELECT COUNT(*), SUM(timer_wait), MIN(timer_wait), MAX(timer_wait), AVG(timer_wait) FROM events_waits_history_long",
            "10,550000,10000,100000,55000.0000",
        ),
        (
            "SELECT t.name, COUNT(*) c FROM events_waits_history_long e JOIN threads t USING (thread_id) GROUP BY t.name HAVING c > 4 ORDER BY c DESC",
            "thread/test/a,6",
        ),
        (
            "SELECT t.name, COUNT(e.event_id) FROM threads t LEFT JOIN events_waits_history_long e ON e.thread_id = t.thread_id AND e.timer_wait > 90000 GROUP BY t.name ORDER BY 1",
            "thread/test/a,0\nthread/test/b,1",
        ),
        (
            "SELECT event_id, timer_wait, RANK() OVER (PARTITION BY thread_id ORDER BY timer_wait DESC) r FROM events_waits_history_long ORDER BY r, event_id LIMIT 2, 1",
            "3,70000,2",
        ),
        ("SELECT DISTINCT thread_id FROM events_waits_history_long ORDER BY thread_id DESC", "2\n1"),
        (
            "SELECT name FROM threads UNION SELECT 'x' UNION ALL (SELECT 'y' LIMIT 1) ORDER BY 1",
            "thread/test/a\nthread/test/b\nx\ny",
        ),
        (
            "SELECT GROUP_CONCAT(name ORDER BY name DESC SEPARATOR '; '), GROUP_CONCAT(DISTINCT type) FROM threads",
            "thread/test/b; thread/test/a,BACKGROUND",
        ),
        ("SELECT COUNT(*) FROM threads a, threads b, threads c", "8"),
        ("SELECT name FROM threads WHERE thread_id = '2' AND 'BACKGROUND' = type", "thread/test/b"),
        (
            "SELECT COUNT(*) FROM global_variables WHERE 1000 > variable_value AND variable_value > 3 AND variable_name LIKE 'performance\\_schema\\_max\\_mutex%'",
            "2",
        ),
        ("WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 4) SELECT SUM(i) FROM n", "10"),
        (
            "SELECT name FROM threads t WHERE EXISTS (SELECT 1 FROM events_waits_history_long e WHERE e.thread_id = t.thread_id AND e.timer_wait = 100000)",
            "thread/test/b",
        ),
        (
            "SELECT s.event_name FROM events_waits_summary_global_by_event_name s STRAIGHT_JOIN setup_instruments i ON i.name = s.event_name WHERE s.count_star = 3 ORDER BY 1 LIMIT 1",
            "wait/synch/mutex/mysys/KEY_CACHE::cache_lock",
        ),
        // What prometheus-mysqld-exporter sends.
        (
            "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.events_waits_summary_global_by_event_name WHERE COUNT_STAR > 2 ORDER BY 3 LIMIT 1",
            "wait/synch/mutex/sql/LOCK_des_key_file,3,150000",
        ),
        (
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'THREADS' AND column_name IN ('role','type')",
            "TYPE\nROLE",
        ),
        ("SELECT a.event_name FROM events_waits_summary_by_instance a LIMIT 0", ""),
    ] {
        if expected.is_empty() {
            assert_eq!(run(&mut session, statement).lines().count(), 1, "{statement}");
        } else {
            check(&mut session, statement, expected);
        }
    }
}

#[test]
fn what_is_refused_and_how() {
    let mut session = session();
    let syntax = "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right \
                  syntax to use near";
    for (statement, expected) in [
        ("", "1065 (42000): Query was empty"),
        (" ; ", "1065 (42000): Query was empty"),
        ("SELEC 1", &format!("1064 (42000): {syntax} 'SELEC 1' at line 1")),
        ("SELECT (1\nFROM x", &format!("1064 (42000): {syntax} 'FROM x' at line 2")),
        ("SELECT 1; SELECT 2", &format!("1064 (42000): {syntax} '; SELECT 2' at line 1")),
        ("SELECT * FROM nothing", "1146 (42S02): Table 'performance_schema.nothing' doesn't exist"),
        ("SELECT * FROM test.nothing", "1146 (42S02): Table 'test.nothing' doesn't exist"),
        ("SELECT * FROM nowhere.user", "1049 (42000): Unknown database 'nowhere'"),
        ("SELECT * FROM mysql.user", "1142 (42000): SELECT command denied to user 'root'@'localhost' for table 'user'"),
        ("DESCRIBE mysql.user", "1142 (42000): SELECT command denied to user 'root'@'localhost' for table 'user'"),
        ("DELETE FROM mysql.user", "1142 (42000): DELETE command denied to user 'root'@'localhost' for table 'user'"),
        ("SELECT * FROM information_schema.nothing", "1109 (42S02): Unknown table 'nothing' in information_schema"),
        ("WITH a AS (SELECT 1), A AS (SELECT 2) SELECT 1", "1066 (42000): Not unique table/alias: 'A'"),
        ("SELECT name, COUNT(*) FROM setup_timers GROUP BY 5", "1054 (42S22): Unknown column '5' in 'group statement'"),
        ("SELECT name, COUNT(*) FROM setup_timers GROUP BY 1, 0", "1054 (42S22): Unknown column '0' in 'group statement'"),
        ("SELECT * FROM setup_timers GROUP BY 5", "1054 (42S22): Unknown column in 'group statement'"),
        ("SELECT 1 FROM (SELECT name FROM setup_timers GROUP BY 2) a", "1054 (42S22): Unknown column '2' in 'group statement'"),
        ("SELECT name FROM setup_timers ORDER BY 2", "1054 (42S22): Unknown column '2' in 'order clause'"),
        ("SELECT 1 UNION SELECT 2 ORDER BY 2", "1054 (42S22): Unknown column in 'order clause'"),
        ("SELECT * FROM main.sqlite_master", "1049 (42000): Unknown database 'main'"),
        (
            "SELECT * FROM performance_schema.sqlite_master",
            "1146 (42S02): Table 'performance_schema.sqlite_master' doesn't exist",
        ),
        ("SELECT * FROM test.sqlite_master", "1146 (42S02): Table 'test.sqlite_master' doesn't exist"),
        ("SELECT * FROM pragma_database_list", "1146 (42S02): Table 'performance_schema.pragma_database_list' doesn't exist"),
        (
            "SELECT * FROM threads WHERE (SELECT 1 FROM sqlite_schema)",
            "1146 (42S02): Table 'performance_schema.sqlite_schema' doesn't exist",
        ),
        ("SELECT nothing FROM threads", "1054 (42S22): Unknown column 'nothing' in 'field list'"),
        ("SELECT t.nothing FROM threads t", "1054 (42S22): Unknown column 't.nothing' in 'field list'"),
        ("SELECT 1 FROM threads WHERE nothing = 1", "1054 (42S22): Unknown column 'nothing' in 'where clause'"),
        ("SELECT 1 FROM threads ORDER BY nothing", "1054 (42S22): Unknown column 'nothing' in 'order clause'"),
        ("SELECT 1 FROM threads GROUP BY nothing", "1054 (42S22): Unknown column 'nothing' in 'group statement'"),
        ("SELECT name FROM threads a JOIN threads b ON 1", "1052 (23000): Column 'name' in field list is ambiguous"),
        (
            "SELECT a.thread_id, b.name FROM threads a, threads b WHERE name = 'x'",
            "1052 (23000): Column 'name' in where clause is ambiguous",
        ),
        ("SELECT 1 FROM threads a, threads b ORDER BY name", "1052 (23000): Column 'name' in order clause is ambiguous"),
        ("SELECT 1 FROM threads a JOIN threads b USING (nothing)", "1054 (42S22): Unknown column 'nothing' in 'from clause'"),
        ("SELECT nothing(1)", "1305 (42000): FUNCTION performance_schema.nothing does not exist"),
        ("SELECT load_extension('x')", "1305 (42000): FUNCTION performance_schema.load_extension does not exist"),
        ("SELECT my_add(1, 2)", "1305 (42000): FUNCTION performance_schema.my_add does not exist"),
        ("SELECT randomblob(10)", "1305 (42000): FUNCTION performance_schema.randomblob does not exist"),
        ("SELECT LEFT('a')", "1582 (42000): Incorrect parameter count in the call to native function 'left'"),
        ("SELECT 1 FROM threads WHERE COUNT(*) > 1", "1111 (HY000): Invalid use of group function"),
        ("SELECT 1 UNION SELECT 1, 2", "1222 (21000): The used SELECT statements have a different number of columns"),
        ("SELECT (SELECT 1, 2)", "1241 (21000): Operand should contain 1 column(s)"),
        ("SELECT *", "1096 (HY000): No tables used"),
        ("SELECT * FROM (SELECT 1)", "1248 (42000): Every derived table must have its own alias"),
        ("SELECT 'a' REGEXP '('", "1139 (42000): Got error 'found open group without closing ')'' from regexp"),
        ("SELECT 1 INTO OUTFILE '/tmp/x'", &format!("1064 (42000): {syntax} ''/tmp/x'' at line 1")),
        ("UPDATE threads SET name = 'x'", "1683 (HY000): Invalid performance_schema usage."),
        ("UPDATE threads SET nothing = 'x'", "1054 (42S22): Unknown column 'nothing' in 'field list'"),
        (
            "UPDATE mutex_instances SET name = 'x'",
            "1142 (42000): UPDATE command denied to user 'root'@'localhost' for table 'mutex_instances'",
        ),
        ("UPDATE setup_instruments SET enabled = 'maybe'", "1265 (01000): Data truncated for column 'ENABLED' at row 1"),
        ("UPDATE setup_instruments SET enabled = 3", "1265 (01000): Data truncated for column 'ENABLED' at row 1"),
        ("UPDATE setup_instruments SET enabled = NULL", "1048 (23000): Column 'ENABLED' cannot be null"),
        ("UPDATE sys.lock_waits SET operation = 1", "1288 (HY000): The target table lock_waits of the UPDATE is not updatable"),
        (
            "UPDATE information_schema.tables SET engine = 1",
            "1044 (42000): Access denied for user 'root'@'localhost' to database 'information_schema'",
        ),
        ("INSERT INTO threads VALUES (1)", "1142 (42000): INSERT command denied to user 'root'@'localhost' for table 'threads'"),
        (
            "DELETE FROM setup_instruments",
            "1142 (42000): DELETE command denied to user 'root'@'localhost' for table 'setup_instruments'",
        ),
        (
            "INSERT INTO setup_actors VALUES ('a','b','c','YES','NO','x')",
            "1136 (21S01): Column count doesn't match value count at row 1",
        ),
        ("INSERT INTO setup_actors (host, nothing) VALUES ('a','b')", "1054 (42S22): Unknown column 'nothing' in 'field list'"),
        ("INSERT INTO setup_actors VALUES ('%','%','%')", "1022 (23000): Can't write; duplicate key in table 'setup_actors'"),
        ("TRUNCATE setup_instruments", "1683 (HY000): Invalid performance_schema usage."),
        ("TRUNCATE nothing", "1146 (42S02): Table 'performance_schema.nothing' doesn't exist"),
        (
            "CREATE TABLE x AS SELECT 1",
            "1044 (42000): Access denied for user 'root'@'localhost' to database 'performance_schema'",
        ),
        ("DROP TABLE threads", "1044 (42000): Access denied for user 'root'@'localhost' to database 'performance_schema'"),
        ("CREATE VIEW x AS SELECT 1", "1044 (42000): Access denied for user 'root'@'localhost' to database 'performance_schema'"),
        ("CREATE TABLE test.`sqlite_x` AS SELECT 1", "1103 (42000): Incorrect table name 'sqlite_x'"),
        ("CREATE TABLE test.x AS SELECT 1 AS a, 2 AS A", "1060 (42S21): Duplicate column name 'A'"),
        ("DROP TABLE test.nothing", "1051 (42S02): Unknown table 'test.nothing'"),
        ("ATTACH DATABASE 'x' AS y", "1235 (42000): This version of MySQL doesn't yet support 'ATTACH DATABASE'"),
        ("SHOW COLUMNS FROM nothing", "1146 (42S02): Table 'performance_schema.nothing' doesn't exist"),
        ("SHOW NOTHING", &format!("1064 (42000): {syntax} 'NOTHING' at line 1")),
        (
            "SELECT 18446744073709551615 * 18446744073709551615 * 18446744073709551615",
            "1690 (22003): BIGINT UNSIGNED value is out of range",
        ),
    ] {
        assert_eq!(run(&mut session, statement), format!("ERROR {expected}"), "{statement}");
    }
    check(&mut session, "SHOW WARNINGS", "Error,1690,BIGINT UNSIGNED value is out of range");
}

/// By MySQL's number for a schema in which nothing may be defined, and with the name of that schema.
#[test]
fn definitions_are_denied() {
    let mut session = session();
    for (statement, schema) in [
        ("RENAME TABLE performance_schema.threads TO test.x", "performance_schema"),
        ("RENAME TABLES threads TO x", "performance_schema"),
        ("CREATE TRIGGER performance_schema.x BEFORE INSERT ON threads FOR EACH ROW SET @a = 1", "performance_schema"),
        ("CREATE DEFINER = 'root'@'localhost' TRIGGER x AFTER UPDATE ON threads FOR EACH ROW BEGIN END", "performance_schema"),
        ("CREATE EVENT IF NOT EXISTS x ON SCHEDULE EVERY 15 MINUTE DO SELECT 1", "performance_schema"),
        ("CREATE PROCEDURE performance_schema.x() SELECT 1", "performance_schema"),
        ("CREATE FUNCTION sys.x() RETURNS INT RETURN 1", "sys"),
        ("DROP FUNCTION IF EXISTS sys.format_time", "sys"),
        ("ALTER ALGORITHM = MERGE VIEW sys.session AS SELECT 1", "sys"),
        ("CREATE OR REPLACE VIEW test.x AS SELECT 1", "test"),
        ("ALTER TABLE test.x ADD COLUMN a INT", "test"),
        ("ALTER TABLE threads DROP COLUMN name", "performance_schema"),
        ("CREATE UNIQUE INDEX i ON information_schema.innodb_metrics (name)", "information_schema"),
        ("DROP INDEX i ON test.x", "test"),
        ("CREATE DATABASE IF NOT EXISTS shop", "shop"),
        ("DROP SCHEMA performance_schema", "performance_schema"),
    ] {
        let denied = format!("ERROR 1044 (42000): Access denied for user 'root'@'localhost' to database '{schema}'");
        check(&mut session, statement, &denied);
    }
    check(&mut session, "DROP TRIGGER nothing.x", "ERROR 1049 (42000): Unknown database 'nothing'");
    check(&mut session, "DROP USER event", "ERROR 1235 (42000): This version of MySQL doesn't yet support 'DROP USER'");
    assert!(run(&mut session, "CREATE TRIGGER").starts_with("ERROR 1064 (42000)"));
    let described = session.describe("CREATE TRIGGER x BEFORE INSERT ON threads FOR EACH ROW SET @a = 1");
    assert!(described.is_ok_and(|described| described.columns.is_empty()));
}

/// What replaces or updates a row needs the right to delete or to update it, too.
#[test]
fn replace_and_on_duplicate_key() {
    let mut session = session();
    let replace = "REPLACE INTO setup_instruments VALUES ('x', 'YES', 'YES', 1)";
    let denied = |command: &str| format!("ERROR 1142 (42000): {command} command denied to user 'root'@'localhost' for table");
    check(&mut session, replace, &format!("{} 'setup_instruments'", denied("INSERT, DELETE")));
    let update = "INSERT INTO threads (NAME) VALUES ('x') ON DUPLICATE KEY UPDATE NAME = 'y'";
    check(&mut session, update, &format!("{} 'threads'", denied("INSERT, UPDATE")));
    let unsupported = "ERROR 1235 (42000): This version of MySQL doesn't yet support 'this kind of INSERT'";
    check(&mut session, "REPLACE INTO setup_actors VALUES ('a', 'b', '%', 'YES', 'YES')", unsupported);
    check(&mut session, "INSERT INTO setup_actors (USER) VALUES ('b') ON DUPLICATE KEY UPDATE HISTORY = 'NO'", unsupported);
    check(&mut session, "CREATE TABLE test.x AS SELECT 1 AS a", "Records: 1  Duplicates: 0  Warnings: 0");
    check(&mut session, "REPLACE INTO test.x VALUES (1), (2)", "2 changed");
    check(&mut session, "INSERT INTO test.x VALUES (2) ON DUPLICATE KEY UPDATE a = 3", "1 changed");
    check(&mut session, "SELECT a, COUNT(*) FROM test.x GROUP BY a", "1,2\n2,2");
}

/// The changes of the one table with INSERT and DELETE, and those of schema `test`.
#[test]
fn insert_delete_truncate() {
    let mut session = session();
    check(
        &mut session,
        "INSERT INTO setup_actors (user, host, enabled) VALUES ('mary', 'there', 'NO'), ('john', '%', 1)",
        "2 changed",
    );
    check(&mut session, "INSERT INTO setup_actors SET host = 'x', user = LOWER('Y')", "1 changed");
    check(
        &mut session,
        "INSERT INTO setup_actors VALUES ('one', 'too', 'many')",
        "ERROR 1114 (HY000): The table 'setup_actors' is full",
    );
    check(&mut session, "SELECT * FROM setup_actors WHERE host <> '%' ORDER BY user", "there,mary,%,NO,YES\nx,y,%,YES,YES");
    check(
        &mut session,
        "UPDATE setup_actors SET history = 'NO', enabled = 'YES' WHERE user = 'mary'",
        "Rows matched: 1  Changed: 1  Warnings: 0",
    );
    check(
        &mut session,
        "UPDATE setup_actors SET history = IF(user = 'y', 'NO', history) ORDER BY user LIMIT 9",
        "Rows matched: 4  Changed: 1  Warnings: 0",
    );
    check(
        &mut session,
        "SELECT user, enabled, history FROM setup_actors ORDER BY user",
        "%,YES,YES\njohn,YES,YES\nmary,YES,NO\ny,YES,NO",
    );
    check(&mut session, "DELETE FROM setup_actors WHERE user IN ('mary', 'john')", "2 changed");
    check(&mut session, "SELECT ROW_COUNT()", "2");
    check(&mut session, "TRUNCATE TABLE setup_actors", "0 changed");
    check(&mut session, "SELECT COUNT(*) FROM setup_actors", "0");

    check(&mut session, "CREATE TABLE test.t AS SELECT 1 AS a, 'x' AS b", "Records: 1  Duplicates: 0  Warnings: 0");
    check(&mut session, "INSERT INTO test.t VALUES (2, 'y'), (18446744073709551615, 'z')", "2 changed");
    check(&mut session, "INSERT INTO test.t (a) SELECT a + 1 FROM test.t WHERE b = 'Y'", "1 changed");
    check(&mut session, "UPDATE test.t SET b = CONCAT(b, '!') WHERE a >= 2", "Rows matched: 3  Changed: 2  Warnings: 0");
    check(&mut session, "SELECT a, IFNULL(b, '-') FROM test.t ORDER BY a", "1,x\n2,y!\n3,-\n18446744073709551615,z!");
    check(&mut session, "DELETE FROM test.t WHERE a = 1", "1 changed");
    for values in ["VALUES (1)", "VALUES (1, 'x', 2)", "(a) VALUES (1, 'x')", "SELECT 1", "VALUES (1, 'x'), (2)"] {
        let error = "ERROR 1136 (21S01): Column count doesn't match value count at row 1";
        assert_eq!(run(&mut session, &format!("INSERT INTO test.t {values}")), error, "{values}");
    }
    check(&mut session, "TRUNCATE test.t", "0 changed");
    // The rows that are first in an order, by a name of SQLite's that no column has.
    for (name, kept) in [("b", "3,y\n4,x"), ("rowid", "3,y\n4,x")] {
        let create = format!(
            "CREATE TABLE test.few AS SELECT 1 AS a, 'x' AS `{name}` UNION SELECT 2, 'x' UNION SELECT 3, 'x' UNION SELECT 4, 'x'"
        );
        check(&mut session, &create, "Records: 4  Duplicates: 0  Warnings: 0");
        let update = format!("UPDATE test.few SET `{name}` = 'y' WHERE a < 4 ORDER BY a DESC LIMIT 1");
        check(&mut session, &update, "Rows matched: 1  Changed: 1  Warnings: 0");
        check(&mut session, "DELETE FROM test.few ORDER BY a LIMIT 1", "1 changed");
        assert_eq!(
            session.execute_with("DELETE FROM test.few ORDER BY a LIMIT ?", &[1_i64.into()]),
            Ok(Outcome::Done { matched: 1, changed: 1, info: String::new() })
        );
        check(&mut session, "DELETE FROM test.few WHERE a = 4 LIMIT 0", "0 changed");
        check(&mut session, "SELECT * FROM test.few ORDER BY a", kept);
        assert!(run(&mut session, "DELETE FROM test.few ORDER BY nothing LIMIT 1").starts_with("ERROR 1054 "));
        check(&mut session, "UPDATE test.few AS f SET f.a = f.a + 10 ORDER BY f.a", "Rows matched: 2  Changed: 2  Warnings: 0");
        check(&mut session, "SELECT a FROM test.few ORDER BY a", "13\n14");
        check(&mut session, "DROP TABLE test.few", "0 changed");
    }
    check(&mut session, "SELECT COUNT(*) FROM test.t", "0");
    check(&mut session, "CREATE TABLE IF NOT EXISTS test.t AS SELECT 1", "0 changed");
    check(&mut session, "SHOW WARNINGS", "Note,1050,Table 't' already exists");
    check(&mut session, "CREATE TABLE test.T AS SELECT 1", "ERROR 1050 (42S01): Table 'T' already exists");
    check(&mut session, "DROP TABLE IF EXISTS test.t, test.u", "0 changed");
}

#[test]
fn parameters_and_descriptions() {
    let mut session = session();
    let statement = "SELECT name, ? AS given FROM setup_instruments WHERE name REGEXP ? AND enabled = ? LIMIT ?";
    let description = session.describe(statement).expect("it is right");
    assert_eq!(description.parameters, 4);
    let heads: Vec<_> = description.columns.iter().map(|head| (head.name.as_str(), head.sql_type, head.nullable)).collect();
    assert_eq!(heads, [("name", SqlType::Varchar(128), false), ("given", SqlType::Varchar(0), true)]);
    let parameters = [u64::MAX.into(), "tina'".trim_end_matches('\'').into(), "yes".into(), 5_i64.into()];
    match session.execute_with(statement, &parameters) {
        Ok(Outcome::Rows(grid)) => {
            assert_eq!(grid.rows, [[OwnedValue::from("wait/synch/mutex/tina/tina_mutex"), u64::MAX.into()]]);
        }
        other => panic!("{other:?}"),
    }
    // A text is a text, whatever is in it.
    for text in ["'", "\\", "\\'", "''", "`", "\"", "?", "\0", "x'; DROP TABLE threads; --"] {
        match session.execute_with("SELECT ?", &[text.into()]) {
            Ok(Outcome::Rows(grid)) => assert_eq!(grid.rows, [[OwnedValue::from(text)]]),
            other => panic!("{text}: {other:?}"),
        }
        let literal = format!("SELECT '{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
        match session.execute(&literal) {
            Ok(Outcome::Rows(grid)) => assert_eq!(grid.rows, [[OwnedValue::from(text)]], "{literal}"),
            other => panic!("{literal}: {other:?}"),
        }
    }
    let update = "UPDATE setup_instruments SET enabled = ? WHERE name LIKE ?";
    assert_eq!(session.describe(update).map(|description| (description.parameters, description.columns.len())), Ok((2, 0)));
    match session.execute_with(update, &["NO".into(), "%tina%".into()]) {
        Ok(Outcome::Done { matched: 1, changed: 1, .. }) => {}
        other => panic!("{other:?}"),
    }
    match session.execute_with("SHOW TABLES WHERE Tables_in_performance_schema = ?", &["threads".into()]) {
        Ok(Outcome::Rows(grid)) => assert_eq!(grid.rows, [[OwnedValue::from("threads")]]),
        other => panic!("{other:?}"),
    }
    let error = session.execute_with(statement, &[]).expect_err("values are missing");
    assert_eq!(error.errno, 1210);
    assert_eq!(
        session.describe("SHOW TABLES").map(|description| description.columns[0].name.clone()),
        Ok("Tables_in_performance_schema".to_owned())
    );
    assert_eq!(session.describe("SELECT nothing FROM threads").map_err(|error| error.errno), Err(1054));
}

/// A reader selects and shows; what changes nothing but its own session is its own business.
#[test]
fn rights() {
    let world = World::new();
    let account = Account { user: "mary".to_owned(), host: "there".to_owned(), right: Right::Read };
    let mut session = Database::new(world.region).session(account).expect("there is memory");
    check(&mut session, "USE performance_schema", "0 changed");
    check(&mut session, "SELECT USER(), COUNT(*) FROM setup_timers", "mary@there,5");
    check(&mut session, "SET NAMES utf8mb4", "0 changed");
    check(&mut session, "CREATE TABLE test.saved AS SELECT * FROM setup_instruments", "Records: 11  Duplicates: 0  Warnings: 0");
    let denied = |command: &str, table: &str| {
        format!("ERROR 1142 (42000): {command} command denied to user 'mary'@'there' for table '{table}'")
    };
    for (statement, command, table) in [
        ("UPDATE setup_instruments SET enabled = 'NO'", "UPDATE", "setup_instruments"),
        ("INSERT INTO setup_actors VALUES ('a', 'b', 'c')", "INSERT", "setup_actors"),
        ("DELETE FROM setup_actors", "DELETE", "setup_actors"),
        ("TRUNCATE events_waits_history", "DROP", "events_waits_history"),
    ] {
        check(&mut session, statement, &denied(command, table));
    }
    check(
        &mut session,
        "FLUSH STATUS",
        "ERROR 1227 (42000): Access denied; you need (at least one of) the RELOAD privilege(s) for this operation",
    );
    check(&mut session, "SELECT COUNT(*) FROM setup_instruments WHERE enabled = 'YES'", "11");

    let mut session = Database::new(world.region).read_only().session(Account::default()).expect("there is memory");
    let read_only =
        "ERROR 1290 (HY000): The MySQL server is running with the --read-only option so it cannot execute this statement";
    check(&mut session, "TRUNCATE performance_schema.events_waits_history", read_only);
    check(&mut session, "UPDATE performance_schema.setup_instruments SET enabled = 'NO'", read_only);
    check(
        &mut session,
        "SHOW VARIABLES LIKE '%read_only'",
        "read_only,ON\nsuper_read_only,ON\ntransaction_read_only,OFF\ntx_read_only,OFF",
    );
    check(&mut session, "SELECT sys.`@time_since`('wait', 0) IS NULL", "1");
}

/// MySQL's headings; the tables in the order in which they are read.
#[test]
fn explain() {
    let mut session = session();
    let heads = "id,select_type,table,partitions,type,possible_keys,key,key_len,ref,rows,filtered,Extra\n";
    let mut plan = |query: &str| {
        let found = run(&mut session, query);
        found.strip_prefix(heads).unwrap_or_else(|| panic!("{query}: {found}")).trim_end().to_owned()
    };
    assert_eq!(plan("EXPLAIN SELECT * FROM threads"), "1,SIMPLE,threads,,ALL,,,,,,,");
    assert_eq!(plan("DESC FORMAT = TRADITIONAL SELECT 1"), "1,SIMPLE,,,,,,,,,,No tables used");
    let sorted = plan("EXPLAIN SELECT type, COUNT(*) FROM threads t GROUP BY type ORDER BY 2");
    assert_eq!(sorted, "1,SIMPLE,t,,ALL,,,,,,,Using temporary; Using filesort");
    let derived = plan("EXPLAIN SELECT * FROM (SELECT name FROM setup_timers LIMIT 1) a JOIN threads b ON a.name = b.name");
    assert!(derived.contains(",DERIVED,setup_timers,") && derived.starts_with("1,PRIMARY,"), "{derived}");
    assert!(!plan("EXPLAIN SELECT * FROM sys.lock_waits").is_empty());
    // Of a table it says the columns.
    assert!(run(&mut session, "EXPLAIN threads").starts_with("Field,Type,Null,Key,Default,Extra\nTHREAD_ID,"));
    let description = session.describe("EXPLAIN SELECT * FROM threads WHERE type = ?").expect("it can be explained");
    assert_eq!((description.parameters, description.columns.len()), (1, 12));
    let parameters = session.execute_with("EXPLAIN SELECT * FROM threads WHERE type = ?", &["x".into()]);
    assert!(matches!(parameters, Ok(Outcome::Rows(grid)) if grid.rows.len() == 1));
    for (statement, what) in [
        ("EXPLAIN UPDATE setup_timers SET timer_name = 'TICK'", "EXPLAIN of anything but a query"),
        ("EXPLAIN ANALYZE SELECT 1", "EXPLAIN ANALYZE"),
    ] {
        let refused = format!("ERROR 1235 (42000): This version of MySQL doesn't yet support '{what}'");
        assert_eq!(run(&mut session, statement), refused);
    }
    assert!(run(&mut session, "EXPLAIN SELECT nothing FROM threads").starts_with("ERROR 1054 (42S22): "));
    let joined = "SELECT COUNT(*) FROM threads t JOIN events_waits_history h USING (THREAD_ID) GROUP BY t.NAME ORDER BY 1";
    let text =
        |session: &mut Session, format: &str, query: &str| match session.execute(&format!("EXPLAIN FORMAT={format} {query}")) {
            Ok(Outcome::Rows(grid)) => {
                assert_eq!((grid.columns.len(), grid.columns[0].name.as_str(), grid.rows.len()), (1, "EXPLAIN", 1));
                grid.rows[0][0].as_value().to_string()
            }
            other => panic!("{query}: {other:?}"),
        };
    let tree = text(&mut session, "TREE", joined);
    assert!(tree.lines().all(|line| line.trim_start().starts_with("-> ")), "{tree}");
    assert!(["on t", "on h using <auto_key0>", "-> Aggregate", "-> Sort"].iter().all(|part| tree.contains(part)), "{tree}");
    let union = text(&mut session, "tree", "SELECT name FROM setup_timers WHERE name IN (SELECT 'x') UNION SELECT 'x'");
    assert!(union.starts_with("-> Merge (union)\n    -> Left\n        -> ") && union.contains("            -> "), "{union}");
    let json: serde_json::Value = serde_json::from_str(&text(&mut session, "JSON", joined)).expect("a document");
    let block = &json["query_block"];
    assert_eq!((&block["select_id"], &block["using_filesort"]), (&1.into(), &true.into()));
    assert_eq!(block["nested_loop"].as_array().map(Vec::len), Some(2), "{json}");
    let derived =
        text(&mut session, "json", "SELECT * FROM (SELECT name FROM setup_timers LIMIT 1) a JOIN threads b ON a.name = b.name");
    assert!(derived.contains("\"select_type\": \"DERIVED\"") && derived.contains("\"query_specifications\""), "{derived}");
    assert_eq!(run(&mut session, "EXPLAIN FORMAT=x SELECT 1"), "ERROR 1791 (HY000): Unknown EXPLAIN format name: 'x'");
    assert_eq!(session.describe("EXPLAIN FORMAT=TREE SELECT 1").expect("it can be explained").columns.len(), 1);
}

/// Several selects, and what they are put together in.
#[test]
fn explain_of_sets() {
    let mut session = session();
    let both = |op: &str| format!("SELECT name FROM setup_timers {op} SELECT name FROM setup_consumers");
    for (query, expected) in [
        (both("UNION ALL"), "1 PRIMARY setup_timers\n2 UNION setup_consumers"),
        (both("UNION"), "1 PRIMARY setup_timers\n2 UNION setup_consumers\n UNION RESULT <union1,2>"),
        (both("INTERSECT"), "1 PRIMARY setup_timers\n2 INTERSECT setup_consumers\n INTERSECT RESULT <intersect1,2>"),
        (both("EXCEPT"), "1 PRIMARY setup_timers\n2 EXCEPT setup_consumers\n EXCEPT RESULT <except1,2>"),
        (both("UNION ALL") + " ORDER BY 1", "1 PRIMARY setup_timers\n2 UNION setup_consumers\n UNION RESULT <union1,2>"),
        (
            both("UNION") + " UNION SELECT name FROM threads UNION SELECT 'x'",
            "1 PRIMARY setup_timers\n2 UNION setup_consumers\n3 UNION threads\n4 UNION \n UNION RESULT <union1,2,3,4>",
        ),
        (
            format!("SELECT * FROM ({}) AS t JOIN threads USING (name)", both("UNION")),
            "1 PRIMARY t\n1 PRIMARY threads\n2 DERIVED setup_timers\n3 UNION setup_consumers\n UNION RESULT <union2,3>",
        ),
        // Each set has its own, behind the subqueries that it has.
        (
            "SELECT 'x' UNION SELECT (SELECT MAX(name) FROM setup_timers) FROM threads".to_owned(),
            "1 PRIMARY \n2 UNION threads\n3 SUBQUERY setup_timers\n UNION RESULT <union1,2>",
        ),
        (
            format!("SELECT name FROM threads UNION SELECT * FROM ({}) AS t", both("INTERSECT")),
            "1 PRIMARY threads\n2 UNION t\n3 DERIVED setup_timers\n4 INTERSECT setup_consumers\n INTERSECT RESULT <intersect3,4>\n \
             UNION RESULT <union1,2>",
        ),
    ] {
        let Ok(Outcome::Rows(grid)) = session.execute(&format!("EXPLAIN {query}")) else { panic!("{query} can be explained") };
        let text =
            |row: &[OwnedValue]| row.iter().take(3).map(|value| value.as_value().to_string()).collect::<Vec<_>>().join(" ");
        let found: Vec<String> = grid.rows.iter().map(|row| text(row).replace("NULL", "")).collect();
        assert_eq!(found.join("\n"), expected, "{query}");
    }
}

#[test]
fn a_program_that_ends_can_be_read_from_then_on() {
    let world = World::new();
    let has_ended = Arc::new(AtomicBool::new(false));
    let database = Database::new(Mortal(world.region, Arc::clone(&has_ended)));
    let mut session = database.session(Account::default()).expect("there is memory");
    let update = "UPDATE performance_schema.setup_timers SET timer_name = 'CYCLE' WHERE name = 'wait'";
    check(&mut session, update, "Rows matched: 1  Changed: 1  Warnings: 0");
    check(&mut session, "SELECT sys.`@time_since`('wait', 0) IS NULL, sys.`@time_since`('wait', NULL) IS NULL", "0,1");
    // One moment for all rows: what waits longer does so in each of a statement's rows.
    check(&mut session, "SELECT COUNT(DISTINCT sys.`@time_since`('wait', 0)) FROM performance_schema.setup_consumers", "1");
    // What is later by more than a statement takes was before moments began at 0 again; what is a little later was not yet: sys.rs has that.
    let moments =
        "SELECT sys.`@time_since`('stage', 9000000000000000000) > 0, sys.`@time_since`('stage', 18446744073709551615) > 0";
    check(&mut session, moments, "1,1");
    check(&mut session, "SELECT sys.`@time_since`('nothing', 0) IS NULL", "1");
    let is_read_only = "SELECT @@read_only, @@global.super_read_only";
    check(&mut session, is_read_only, "0,0");
    has_ended.store(true, Ordering::Relaxed);
    let read_only =
        "ERROR 1290 (HY000): The MySQL server is running with the --read-only option so it cannot execute this statement";
    check(&mut session, update, read_only);
    check(&mut session, "FLUSH STATUS", read_only);
    check(&mut session, is_read_only, "1,1");
    check(&mut session, "SELECT sys.`@time_since`('wait', 0) IS NULL", "1");
}

/// From left to right: what reads a column that was assigned before it reads the new value.
#[test]
fn update_assigns_in_order() {
    let mut session = World::new().session();
    let mut update = |statement: &str, expected: &str, after: &str| {
        run(&mut session, "UPDATE setup_instruments SET enabled = 'YES', timed = 'YES'");
        check(&mut session, statement, expected);
        check(&mut session, "SELECT enabled, timed FROM setup_instruments ORDER BY enabled DESC, timed DESC LIMIT 1", after);
    };
    let one = "Rows matched: 1  Changed: 1  Warnings: 0";
    update("UPDATE setup_instruments SET enabled = 'NO', timed = enabled LIMIT 1", one, "NO,NO");
    update("UPDATE setup_instruments SET enabled = 'NO', timed = setup_instruments.enabled LIMIT 1", one, "NO,NO");
    update(
        "UPDATE setup_instruments SET enabled = 'NO', timed = performance_schema.setup_instruments.enabled LIMIT 1",
        one,
        "NO,NO",
    );
    update("UPDATE setup_instruments AS i SET i.enabled = 'NO', timed = IF(i.enabled = 'NO', 'NO', 'YES') LIMIT 1", one, "NO,NO");
    update("UPDATE setup_instruments SET timed = enabled, enabled = 'NO' LIMIT 1", one, "NO,YES");
    run(&mut session, "CREATE TABLE test.t AS SELECT 1 AS a, 5 AS b, 0 AS c");
    for (assignments, expected) in [
        ("a = a + 1, b = a", "2,2,0"),
        ("b = a * 10, a = b + 1, c = a + b", "21,20,41"),
        ("test.t.a = 7, b = t.a, c = test.t.b", "7,7,7"),
        ("a = 1, a = a + 1, a = a * 5, b = 2, c = a - b", "10,2,8"),
        ("a = b, b = a, c = b", "2,2,2"),
    ] {
        check(&mut session, &format!("UPDATE test.t SET {assignments}"), one);
        check(&mut session, "SELECT a, b, c FROM test.t", expected);
    }
    check(&mut session, "UPDATE test.t SET a = a, b = 0 + b", "Rows matched: 1  Changed: 0  Warnings: 0");
    // What is read of a column has the column's type by then.
    run(
        &mut session,
        "CREATE TABLE test.typed AS SELECT CAST(1 AS UNSIGNED) AS u, 1 AS i, 1e0 AS d, CAST('' AS CHAR(9)) AS c, \
         CAST(1 AS DECIMAL(8,1)) AS x, CAST(1 AS DECIMAL(8,3)) AS y",
    );
    for (assignments, columns, expected) in [
        ("u = 1.6, y = u", "u, y", "2,2.000"),
        ("i = -1.6, y = i", "i, y", "-2,-2.000"),
        ("d = '1.50', c = d", "d, c", "1.5,1.5"),
        ("x = 1.26, y = x", "x, y", "1.3,1.300"),
        ("c = 12, y = c + 1", "c, y", "12,13.000"),
    ] {
        check(&mut session, &format!("UPDATE test.typed SET {assignments}"), one);
        check(&mut session, &format!("SELECT {columns} FROM test.typed"), expected);
    }
    // What doubles each time is computed once each time.
    run(&mut session, "UPDATE test.t SET a = 1");
    check(&mut session, &format!("UPDATE test.t SET {}b = 1", "a = a + a, ".repeat(30)), one);
    check(&mut session, "SELECT a, b FROM test.t", "1073741824,1");
    let too_deep = "a = a + 1, ".repeat(1000) + "b = 1";
    let found = run(&mut session, &format!("UPDATE test.t SET {too_deep}"));
    assert!(found.starts_with("ERROR"), "{found:.100}");
}

/// All are counted; what is kept is `max_error_count`.
#[test]
fn warnings_are_bounded() {
    let mut session = World::new().session();
    run(&mut session, "DELETE FROM setup_actors");
    run(&mut session, "INSERT INTO setup_actors (HOST, USER) VALUES ('a', 'b')");
    let twice = "INSERT IGNORE INTO setup_actors (HOST, USER) \
                 WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5000) SELECT 'a', 'b' FROM r";
    run(&mut session, "SET cte_max_recursion_depth = 10000");
    for (most, kept) in [("DEFAULT", 1024), ("2", 2), ("0", 0), ("3000", 3000), ("65536", 5000)] {
        run(&mut session, &format!("SET max_error_count = {most}"));
        check(&mut session, twice, "0 changed");
        assert_eq!((session.warnings().len(), session.warning_count()), (kept, 5000), "{most}");
        check(&mut session, "SELECT @@warning_count, @@error_count", "5000,0");
        check(&mut session, "SHOW COUNT(*) WARNINGS", "5000");
        check(&mut session, twice, "0 changed");
        let listed = run(&mut session, "SHOW WARNINGS");
        assert_eq!(listed.lines().count(), kept + 1);
    }
    // Of each kind.
    run(&mut session, "SET max_error_count = 1");
    for (statement, first) in [
        ("DROP TABLE IF EXISTS test.x, test.y", "Note,1051,Unknown table 'test.x'"),
        ("SELECT SQL_CALC_FOUND_ROWS FOUND_ROWS()", "Warning,1287,"),
        ("SELECT CAST(1000 AS DECIMAL(2)), CAST(2000 AS DECIMAL(2))", "Warning,1264,Out of range"),
        ("SELECT nothing", "Error,1054,Unknown column"),
    ] {
        run(&mut session, statement);
        let warnings = session.warnings();
        assert_eq!(warnings.len(), 1, "{statement}");
        let warning = format!("{},{},{}", warnings[0].level, warnings[0].error.errno, warnings[0].error.message);
        assert!(warning.starts_with(first), "{warning}");
    }
    // A message is no longer than MySQL's.
    run(&mut session, &format!("SELECT CAST('{}' AS DECIMAL(2))", "9".repeat(1 << 18)));
    assert!(session.warnings()[0].error.message.len() < 512);
}
