//! Moments, days and times: what columns of them are declared as, what they look like, and how they are compared.

mod common;

use common::{CONFIG, World, check, run, session};
use perfschema::core::timer::TimerName;
use perfschema::core::{Identity, InstrumentName, Region, Setting, Size, StatementStart};
use perfschema_sql::{Account, Database, Outcome, Session};

/// The types of a statement's columns, and then what stands in its first row.
fn types(session: &mut Session, statement: &str) -> (String, String) {
    let (columns, row) = match session.execute(statement) {
        Ok(Outcome::Rows(grid)) => (grid.columns, grid.rows.first().cloned().unwrap_or_default()),
        other => panic!("{statement}: {other:?}"),
    };
    let types: Vec<String> = columns.iter().map(|column| column.sql_type.to_string()).collect();
    let values: Vec<String> = row.iter().map(|value| value.as_value().to_string()).collect();
    (types.join(","), values.join(","))
}

#[track_caller]
fn check_types(session: &mut Session, expressions: &str, expected: &str, values: &str) {
    let (found, row) = types(session, &format!("SELECT {expressions}"));
    assert_eq!((found.as_str(), row.as_str()), (expected, values), "{expressions}");
}

/// Two digests, seen on 2024-10-04: "first" at 00:00:01.5 and again a second later, "second" at 00:00:04.
fn seen() -> Session {
    let config = CONFIG.with(Size::MaxStatementClasses, 1).with(Size::DigestsSize, 4);
    let world = World::of(&config);
    let identity = Identity { start_unix_ns: 20_000 * 86_400_000_000_000, ..Identity::default() };
    let region = Region::create(common::words(config.words()), &config, &identity, &world.clock.timers()).expect("it fits");
    let region: &'static Region<'static> = Box::leak(Box::new(region));
    let class = region.register(InstrumentName::literal("statement/sql/select"), Setting::ON).expect("there is room");
    region.enable_everything();
    let actor = perfschema::core::Actor::attach(region, &Default::default());
    for (text, ms) in [("first", 1_500), ("first", 1_000), ("second", 1_500)] {
        let statement =
            actor.begin_statement(&world.clock, region.switches(class), &StatementStart { text, ..Default::default() });
        world.clock.advance(TimerName::Nanosecond, ms * 1_000_000);
        actor.end_statement(&world.clock, statement);
    }
    actor.detach();
    let mut session = Database::new(region).session(Account::default()).expect("there is memory");
    session.use_schema("performance_schema").expect("it is there");
    session
}

/// Moments are the session's: columns of type TIMESTAMP, and what says what time it is.
#[test]
fn a_session_has_a_time_zone() {
    let mut session = seen();
    let seen = format!("SELECT FIRST_SEEN, LAST_SEEN, UNIX_TIMESTAMP(FIRST_SEEN) FROM {BY_DIGEST} WHERE DIGEST_TEXT = 'first'");
    for (zone, expected, hours, epoch) in [
        ("+00:00", "2024-10-04 00:00:01.500000,2024-10-04 00:00:02.500000,1728000001.500000", 0, "1970-01-01 00:00:00"),
        ("+05:30", "2024-10-04 05:30:01.500000,2024-10-04 05:30:02.500000,1728000001.500000", 5, "1970-01-01 05:30:00"),
        ("-03:00", "2024-10-03 21:00:01.500000,2024-10-03 21:00:02.500000,1728000001.500000", -3, "1969-12-31 21:00:00"),
        ("Asia/Kolkata", "2024-10-04 05:30:01.500000,2024-10-04 05:30:02.500000,1728000001.500000", 5, "1970-01-01 05:30:00"),
        ("SYSTEM", "2024-10-04 00:00:01.500000,2024-10-04 00:00:02.500000,1728000001.500000", 0, "1970-01-01 00:00:00"),
    ] {
        check(&mut session, &format!("SET time_zone = '{zone}'"), "0 changed");
        check(&mut session, &seen, expected);
        let now = "SELECT TIMESTAMPDIFF(HOUR, UTC_TIMESTAMP(), NOW()), TIMEDIFF(SYSDATE(), NOW()), UNIX_TIMESTAMP(NOW()) = UNIX_TIMESTAMP(), \
                   CURDATE() = DATE(NOW()), CURTIME() = TIME(NOW()), DATE(UTC_TIMESTAMP()) = UTC_DATE(), FROM_UNIXTIME(0), \
                   FROM_UNIXTIME(0, '%H:%i') = DATE_FORMAT(FROM_UNIXTIME(0), '%H:%i')";
        check(&mut session, now, &format!("{hours},00:00:00,1,1,1,1,{epoch},1"));
        // What is looked for is in it, too.
        let moment = expected.split(',').next().expect("it has columns");
        check(&mut session, &format!("SELECT DIGEST_TEXT FROM {BY_DIGEST} WHERE FIRST_SEEN = '{moment}'"), "first");
    }
    // Of one whose clocks change, each moment as they showed it.
    check(&mut session, "SET time_zone = 'America/New_York'", "0 changed");
    check(&mut session, &seen, "2024-10-03 20:00:01.500000,2024-10-03 20:00:02.500000,1728000001.500000");
    check(
        &mut session,
        "SELECT @@time_zone, FROM_UNIXTIME(0), UNIX_TIMESTAMP('2024-01-01'), UNIX_TIMESTAMP('2024-07-01')",
        "America/New_York,1969-12-31 19:00:00,1704085200,1719806400",
    );
}

const BY_DIGEST: &str = "events_statements_summary_by_digest";

#[test]
fn columns_are_declared_as_mysql_has_them() {
    let mut session = seen();
    check(
        &mut session,
        "SELECT COLUMN_NAME, DATA_TYPE, DATETIME_PRECISION, COLUMN_TYPE, CHARACTER_SET_NAME IS NULL FROM information_schema.COLUMNS \
         WHERE TABLE_NAME = 'events_statements_summary_by_digest' AND COLUMN_NAME LIKE '%SEEN'",
        "FIRST_SEEN,timestamp,6,timestamp(6),1\nLAST_SEEN,timestamp,6,timestamp(6),1",
    );
    check(
        &mut session,
        "SELECT DATA_TYPE, DATETIME_PRECISION, COLUMN_TYPE, COUNT(*) FROM information_schema.COLUMNS \
         WHERE TABLE_NAME = 'INNODB_METRICS' AND COLUMN_NAME LIKE 'TIME%' GROUP BY 1, 2, 3",
        "bigint,,bigint,1\ndatetime,0,datetime,3",
    );
    assert!(run(&mut session, &format!("DESCRIBE {BY_DIGEST}")).contains("\nFIRST_SEEN,timestamp(6),NO"));
    // Through views, derived tables, and by the names alone.
    for query in [
        format!("SELECT FIRST_SEEN, LAST_SEEN FROM {BY_DIGEST}"),
        "SELECT first_seen, last_seen FROM sys.statement_analysis".to_owned(),
        format!("SELECT * FROM (SELECT MIN(FIRST_SEEN) AS a, MAX(LAST_SEEN) AS b FROM {BY_DIGEST} GROUP BY DIGEST) t"),
        format!("SELECT IFNULL(FIRST_SEEN, LAST_SEEN), CASE WHEN 1 THEN LAST_SEEN ELSE NULL END FROM {BY_DIGEST}"),
        format!("SELECT (SELECT MAX(FIRST_SEEN) FROM {BY_DIGEST}), (SELECT LAST_SEEN FROM {BY_DIGEST} LIMIT 1)"),
        format!("WITH q AS (SELECT FIRST_SEEN, MAX(LAST_SEEN) OVER () AS b FROM {BY_DIGEST}) SELECT * FROM q"),
    ] {
        assert_eq!(types(&mut session, &query).0, "timestamp(6),timestamp(6)", "{query}");
    }
    run(&mut session, &format!("CREATE TABLE test.t AS SELECT LAST_SEEN, NOW(3) AS n FROM {BY_DIGEST}"));
    assert_eq!(types(&mut session, "SELECT * FROM test.t").0, "timestamp(6),datetime(3)");
}

#[test]
fn functions_give_moments() {
    let mut session = seen();
    for (expressions, expected, values) in [
        (
            "FROM_UNIXTIME(86400), FROM_UNIXTIME(1.5), FROM_UNIXTIME(FLOOR(1.5))",
            "datetime,datetime(1),datetime",
            "1970-01-02 00:00:00,1970-01-01 00:00:01.5,1970-01-01 00:00:01",
        ),
        ("FROM_UNIXTIME(1e0), FROM_UNIXTIME(86400, '%Y')", "datetime(6),varchar(4)", "1970-01-01 00:00:01.000000,1970"),
        (
            "DATE('2026-11-24 10:00:00'), TIME('2026-11-24 10:00:00.25'), TIME('10:00'), TIMESTAMP('2026-11-24')",
            "date,time(2),time,datetime",
            "2026-11-24,10:00:00.25,10:00:00,2026-11-24 00:00:00",
        ),
        (
            "CAST('2026-11-24 10:00:00.5' AS DATETIME), CAST('2026-11-24' AS DATETIME(3)), CAST(20261124 AS DATE)",
            "datetime,datetime(3),date",
            "2026-11-24 10:00:01,2026-11-24 00:00:00.000,2026-11-24",
        ),
        (
            "CAST('10:00:00.123456' AS TIME(3)), CONVERT('101112', TIME), CAST('x' AS DATETIME)",
            "time(3),time,datetime",
            "10:00:00.123,10:11:12,NULL",
        ),
        (
            "TIMESTAMP'2026-11-24 10:00:00.5', DATE '2026-11-24', TIME'-10:00'",
            "datetime(1),date,time",
            "2026-11-24 10:00:00.5,2026-11-24,-10:00:00",
        ),
        // A text stays one; a day with a unit of days stays a day.
        (
            "DATE_ADD('2026-11-24', INTERVAL 1 DAY), DATE_ADD(DATE'2026-11-24', INTERVAL 1 DAY)",
            "varchar(10),date",
            "2026-11-25,2026-11-25",
        ),
        (
            "DATE'2026-11-24' + INTERVAL 24 HOUR, TIMESTAMP'2026-11-24 00:00:00' - INTERVAL 1 MICROSECOND",
            "datetime,datetime(6)",
            "2026-11-25 00:00:00,2026-11-23 23:59:59.999999",
        ),
        (
            "DATE_SUB(TIMESTAMP'2026-11-24 00:00:00', INTERVAL 1.5 SECOND), ADDDATE(DATE'2026-11-24', 7)",
            "datetime(1),date",
            "2026-11-23 23:59:58.5,2026-12-01",
        ),
        (
            "TIMESTAMPADD(SQL_TSI_HOUR, 1, DATE'2026-11-24'), TIME'10:00:00' + INTERVAL 90 MINUTE",
            "datetime,time",
            "2026-11-24 01:00:00,11:30:00",
        ),
        (
            "STR_TO_DATE('24.11.2026', '%d.%m.%Y'), STR_TO_DATE('24.11.2026 1', '%d.%m.%Y %k'), STR_TO_DATE('1:2', '%k:%i')",
            "date,datetime,time",
            "2026-11-24,2026-11-24 01:00:00,01:02:00",
        ),
        (
            "UNIX_TIMESTAMP(TIMESTAMP'2026-11-24 10:00:00.5'), UNIX_TIMESTAMP('2026-11-24 10:00:00.25'), UNIX_TIMESTAMP('1960-01-01'), \
             UNIX_TIMESTAMP('3001-01-19 00:00:00.5'), UNIX_TIMESTAMP(NULL) IS NULL",
            "decimal(12,1),decimal(13,2),bigint,decimal(12,1),bigint",
            "1795514400.5,1795514400.25,0,0.0,1",
        ),
        (
            "CONVERT_TZ(TIMESTAMP'2026-11-24 10:00:00.5', '+00:00', '+01:00'), TIME_FORMAT(TIME'10:00:00', '%H')",
            "datetime(1),varchar(2)",
            "2026-11-24 11:00:00.5,10",
        ),
        (
            "MAKEDATE(2026, 328), MAKETIME(10, 0, 1.25), SEC_TO_TIME(3661), LAST_DAY('2026-11-24')",
            "date,time(2),time,date",
            "2026-11-24,10:00:01.25,01:01:01,2026-11-30",
        ),
        (
            "TIMEDIFF('10:00:00', '08:30:00'), TIMEDIFF(TIMESTAMP'2026-11-24 10:00:00.5', TIMESTAMP'2026-11-24 10:00:00')",
            "time,time(1)",
            "01:30:00,00:00:00.5",
        ),
        (
            "IF(1, DATE'2026-11-24', TIMESTAMP'2026-11-24 10:00:00'), COALESCE(NULL, DATE'2026-11-24')",
            "datetime,date",
            "2026-11-24 00:00:00,2026-11-24",
        ),
        (
            "IFNULL(DATE'2026-11-24', 'x'), COALESCE(TIMESTAMP'2026-11-24 10:00:00', 1)",
            "varchar(10),varchar(19)",
            "2026-11-24,2026-11-24 10:00:00",
        ),
        (
            "GREATEST(DATE'2026-11-24', TIMESTAMP'2026-11-24 00:00:00.5'), ANY_VALUE(DATE'2026-11-24')",
            "datetime(1),date",
            "2026-11-24 00:00:00.5,2026-11-24",
        ),
        (
            "TIMESTAMP'2026-11-24 10:00:00' + INTERVAL '1' SECOND, SEC_TO_TIME('1.5'), FROM_UNIXTIME(UNIX_TIMESTAMP('2026-11-24'))",
            "datetime(6),time(6),datetime",
            "2026-11-24 10:00:01.000000,00:00:01.500000,2026-11-24 00:00:00",
        ),
        (
            "DATE_FORMAT(DATE'2026-11-24', '%d'), CONCAT(DATE'2026-11-24'), YEAR(DATE'2026-11-24'), HOUR(TIME'10:00')",
            "varchar(2),varchar(10),bigint,bigint",
            "24,2026-11-24,2026,10",
        ),
        ("DATE'2026-11-24' UNION ALL SELECT TIMESTAMP'2026-11-24 10:00:00.5' ORDER BY 1", "datetime(1)", "2026-11-24 00:00:00.0"),
        (
            "TIMESTAMP(20261124123000.5), CAST('9999-12-31 23:59:59.5' AS DATETIME), CAST('9999-12-31 23:59:59.4' AS DATETIME)",
            "datetime(1),datetime,datetime",
            "2026-11-24 12:30:00.5,NULL,9999-12-31 23:59:59",
        ),
        (
            "t, LAG(t) OVER (ORDER BY t DESC) FROM (SELECT DATE'2026-11-24' AS t UNION SELECT TIMESTAMP'2026-11-23 10:00:00.5') x ORDER BY t",
            "datetime(1),datetime(1)",
            "2026-11-23 10:00:00.5,2026-11-24 00:00:00.0",
        ),
        (
            "NULLIF(DATE'2026-11-24', '2026-11-24 00:00'), NULLIF(DATE'2026-11-24', TIMESTAMP'2026-11-24 00:00:00.1')",
            "date,date",
            "NULL,2026-11-24",
        ),
        // What is no moment of its type goes as a text.
        ("MAX(LAST_SEEN) FROM events_statements_summary_by_digest UNION SELECT 'x' ORDER BY 1 DESC", "varchar(26)", "x"),
    ] {
        check_types(&mut session, expressions, expected, values);
    }
    // Known before there is a row.
    let described =
        session.describe("SELECT NOW(), NOW(6), CURDATE(), CURTIME(2), SYSDATE(), UTC_TIMESTAMP(3), NOW() + INTERVAL 1 DAY");
    let types: Vec<String> = described.expect("valid").columns.iter().map(|column| column.sql_type.to_string()).collect();
    assert_eq!(types, ["datetime", "datetime(6)", "date", "time(2)", "datetime", "datetime(3)", "datetime"]);
}

#[test]
fn moments_are_compared_as_such() {
    let mut session = seen();
    for (condition, expected) in [
        ("FIRST_SEEN > '2024-10-04'", "2"),
        ("FIRST_SEEN = '2024-10-04 00:00:01.5'", "1"),
        ("'2024-10-04 00:00:04' = LAST_SEEN", "1"),
        ("LAST_SEEN IN ('2024-10-04 00:00:02.50', '2024-10-04')", "1"),
        ("LAST_SEEN NOT IN ('2024-10-04 00:00:02.50', '2024-10-04 00:00:04')", "0"),
        ("LAST_SEEN BETWEEN '2024-10-04 00:00:02.5' AND '2024-10-04T00:00:03'", "1"),
        ("LAST_SEEN BETWEEN FROM_UNIXTIME(1728000002) AND FROM_UNIXTIME(1728000004)", "2"),
        ("LAST_SEEN >= FROM_UNIXTIME(1728000004)", "1"),
        ("CAST(LAST_SEEN AS DATETIME(1)) = '2024-10-04 00:00:02.500000'", "1"),
        (
            "CAST(LAST_SEEN AS DATETIME) < '2024-10-04 00:00:04.000001' AND CAST(LAST_SEEN AS DATETIME) > '2024-10-04 00:00:03.999999'",
            "1",
        ),
        ("LAST_SEEN >= TIMESTAMP'2024-10-04 00:00:04'", "1"),
        ("DATE(LAST_SEEN) = '2024-10-04 00:00:00'", "2"),
        ("DATE(LAST_SEEN) = '20241004' AND DATE(LAST_SEEN) < LAST_SEEN", "2"),
        ("LAST_SEEN > 20241004 AND LAST_SEEN < 20241004000003 AND LAST_SEEN > 0", "1"),
        ("FIRST_SEEN > '0000-00-00'", "2"),
        ("LAST_SEEN > NOW() - INTERVAL 5 MINUTE", "0"),
        ("LAST_SEEN < NOW() AND LAST_SEEN < CURDATE()", "2"),
        ("LAST_SEEN <=> NULL OR LAST_SEEN = FIRST_SEEN", "1"),
        ("LAST_SEEN IN (SELECT TIMESTAMP'2024-10-04 00:00:04')", "1"),
        ("EXISTS (SELECT 1 FROM (SELECT DATE'2026-11-24' AS t) a JOIN (SELECT NOW() AS t) b ON a.t < b.t OR a.t > b.t)", "2"),
        (
            "EXISTS (SELECT 1 FROM (SELECT DATE'2026-11-24' AS t) a JOIN (SELECT TIMESTAMP'2026-11-24 00:00:00' AS t) b ON a.t = b.t)",
            "2",
        ),
        ("LAST_SEEN = (SELECT MAX(LAST_SEEN) FROM events_statements_summary_by_digest)", "1"),
        ("CASE LAST_SEEN WHEN '2024-10-04 00:00:04' THEN 1 ELSE 0 END", "1"),
        ("UNIX_TIMESTAMP(FIRST_SEEN) = 1728000001.5", "1"),
        ("UNIX_TIMESTAMP(LAST_SEEN) DIV 300 * 300 = 1728000000", "2"),
        ("LAST_SEEN > 'x' + 0 AND TIMESTAMPDIFF(MICROSECOND, FIRST_SEEN, LAST_SEEN) = 1000000", "1"),
    ] {
        check(&mut session, &format!("SELECT COUNT(*) FROM {BY_DIGEST} WHERE {condition}"), expected);
    }
    for (text, name) in [
        ("LAST_SEEN > 'x'", "TIMESTAMP"),
        ("CURDATE() = '2026-02-30'", "DATE"),
        ("NOW() IN ('')", "DATETIME"),
        ("CURTIME() < 'x'", "TIME"),
    ] {
        let error = run(&mut session, &format!("SELECT COUNT(*) FROM {BY_DIGEST} WHERE {text}"));
        assert!(error.starts_with(&format!("ERROR 1525 (HY000): Incorrect {name} value: '")), "{error}");
    }
    check(
        &mut session,
        &format!("SELECT DIGEST_TEXT, FIRST_SEEN FROM {BY_DIGEST} ORDER BY LAST_SEEN DESC"),
        "second,2024-10-04 00:00:04.000000\nfirst,2024-10-04 00:00:01.500000",
    );
    // Times by their length, also where they are negative or longer than their texts.
    check(
        &mut session,
        "SELECT t FROM (SELECT SEC_TO_TIME(360000) AS t UNION ALL SELECT SEC_TO_TIME(-5) UNION ALL SELECT SEC_TO_TIME(324000)) a ORDER BY t",
        "-00:00:05\n90:00:00\n100:00:00",
    );
    check(
        &mut session,
        "SELECT MIN(t), MAX(t) FROM (SELECT SEC_TO_TIME(360000) AS t UNION ALL SELECT SEC_TO_TIME(324000)) a",
        "90:00:00,100:00:00",
    );
    check(&mut session, "SELECT TIME'100:00:00' > TIME'99:00:00', SEC_TO_TIME(360000) > '99:00:00'", "1,1");
}

#[test]
fn moments_are_numbers_in_arithmetic() {
    let mut session = session();
    for (expressions, expected) in [
        ("TIMESTAMP'2026-11-24 12:30:00' + 0, DATE'2026-11-24' + 0, TIME'-12:30:00' * 1", "20261124123000,20261124,-123000"),
        ("-DATE'2026-11-24', CAST(DATE'2026-11-24' AS SIGNED), SUM(DATE'2026-11-24')", "-20261124,20261124,20261124"),
        ("TIMESTAMP'2026-11-24 12:30:00' > 20261124122959, NOW() > 5", "1,1"),
        ("(NOW() + 0) DIV 1000000 = CURDATE() + 0, MINUTE(101112)", "1,11"),
        ("UNIX_TIMESTAMP(TIMESTAMP'1970-01-02 00:00:00'), UNIX_TIMESTAMP('1970-01-01 00:00:00.25')", "86400,0.25"),
    ] {
        check(&mut session, &format!("SELECT {expressions}"), expected);
    }
}

/// What a deep tree is made of is looked at a few times, not twice as often at each level.
#[test]
fn deep_trees() {
    let mut session = session();
    for (open, close) in [
        ("FROM_UNIXTIME(", ")"),
        ("UNIX_TIMESTAMP(TIMESTAMP(", "))"),
        ("SEC_TO_TIME(TIME_TO_SEC(", "))"),
        ("DATE_ADD(NOW(), INTERVAL HOUR(", ") SECOND)"),
        ("IF(NOW() > ", ", NOW(), CURDATE())"),
        ("TIMEDIFF(NOW(), ", ")"),
    ] {
        let statement = format!("SELECT {}NOW(){}", open.repeat(24), close.repeat(24));
        let found = run(&mut session, &statement);
        // Some are too deep for SQLite.
        assert!(!found.starts_with("ERROR") || found.starts_with("ERROR 1436 "), "{open}: {found}");
    }
}

/// Of seconds the microseconds count, of other units only whole ones: a text by the digits that it begins with, an exact number and a fraction
/// as they are rounded elsewhere.
#[test]
fn intervals_are_exact() {
    let mut session = session();
    for micros in [1, 249, 7_001, 123_457, 999_999] {
        let sum = format!("SELECT DATE_ADD('2026-01-01 00:00:00', INTERVAL {micros} MICROSECOND)");
        check(&mut session, &sum, &format!("2026-01-01 00:00:00.{micros:06}"));
        let sum = format!(
            "SELECT TIMESTAMP'2026-01-01 00:00:00' + INTERVAL 0.{micros:06} SECOND, TIME'10:00:00' + INTERVAL {micros} MICROSECOND"
        );
        check(&mut session, &sum, &format!("2026-01-01 00:00:00.{micros:06},10:00:00.{micros:06}"));
    }
    for (interval, expected, time) in [
        ("1.001 SECOND", "2026-01-01 00:00:01.001000", "10:00:01.001"),
        ("1.001e0 SECOND", "2026-01-01 00:00:01.001000", "10:00:01.001000"),
        ("'1.0010009x' SECOND", "2026-01-01 00:00:01.001000", "10:00:01.001000"),
        ("-0.25 SECOND", "2025-12-31 23:59:59.750000", "09:59:59.75"),
        ("1.5 HOUR", "2026-01-01 02:00:00", "12:00:00"),
        ("-1.5 HOUR", "2025-12-31 22:00:00", "08:00:00"),
        ("'1.5' MINUTE", "2026-01-01 00:01:00", "10:01:00"),
        ("2.5e0 MINUTE", "2026-01-01 00:02:00", "10:02:00"),
        ("'1.9' MICROSECOND", "2026-01-01 00:00:00.000001", "10:00:00.000001"),
        ("99999999999999999999 HOUR", "", ""),
        ("-1e300 SECOND", "", ""),
    ] {
        check(
            &mut session,
            &format!("SELECT '2026-01-01 00:00:00' + INTERVAL {interval}, TIME'10:00:00' + INTERVAL {interval}"),
            &format!("{expected},{time}"),
        );
    }
    for (interval, expected) in [
        ("'1.9' DAY", "2026-01-02"),
        ("1.5 DAY", "2026-01-03"),
        ("2.5e0 DAY", "2026-01-03"),
        ("3.5e0 DAY", "2026-01-05"),
        ("'1.9' MONTH", "2026-02-01"),
        ("1.5 QUARTER", "2026-07-01"),
        ("'-1.9' YEAR", "2025-01-01"),
        ("24 HOUR", "2026-01-02 00:00:00"),
        ("9223372036854775807 YEAR", "\"\""),
    ] {
        check(&mut session, &format!("SELECT DATE_ADD('2026-01-01', INTERVAL {interval})"), expected);
    }
    for large in ["-1e300", "1e300", "-99999999999999999999999999999999999999999999999999999999999", "9223372036854775808"] {
        for unit in ["MICROSECOND", "SECOND", "HOUR", "DAY", "MONTH"] {
            let sum =
                format!("DATE_SUB('2026-01-01', INTERVAL {large} {unit}) IS NULL, TIME'1:0:0' - INTERVAL {large} {unit} IS NULL");
            check(&mut session, &format!("SELECT {sum}"), "1,1");
        }
    }
    // What is taken away is rounded before.
    check(
        &mut session,
        "SELECT DATE_SUB('2026-01-01', INTERVAL '1.9' DAY), DATE_SUB('2026-01-01', INTERVAL 2.5e0 DAY), \
         DATE_SUB(TIMESTAMP'2026-01-01 00:00:00', INTERVAL 249 MICROSECOND), TIME'10:00:00' - INTERVAL '1.5' MINUTE, \
         SUBDATE('2026-01-01', '1.9'), DATE_SUB(DATE'2026-01-01', INTERVAL '1:1' MINUTE_SECOND)",
        "2025-12-31,2025-12-30,2025-12-31 23:59:59.999751,09:59:00,2025-12-31,2025-12-31 23:58:59",
    );
    check(&mut session, "SELECT CAST(2.5e0 AS SIGNED), CAST(2.5 AS SIGNED), SUBSTRING('abcd', 2.5e0)", "2,3,bcd");
}

/// Dates without separators, with years of two digits or four. Where a time may be, six digits are one.
#[test]
fn digits_alone_are_dates_and_times() {
    let mut session = session();
    for (expressions, expected) in [
        (
            "DATE(260101), DATE('260101'), YEAR(260101), DATE('700101'), DATE('691231')",
            "2026-01-01,2026-01-01,2026,1970-01-01,2069-12-31",
        ),
        ("TIMESTAMP('260102101112'), DATE(260102101112), HOUR(260102101112)", "2026-01-02 10:11:12,2026-01-02,10"),
        ("DATE('261301') IS NULL, DATE('260101x') IS NULL, DATEDIFF(260103, '260101')", "1,1,2"),
        ("TIMESTAMP('260102', '101112'), DATE_ADD('260101', INTERVAL 1 DAY)", "2026-01-02 10:11:12,2026-01-02"),
        // A number has no zeros in front.
        (
            "DATE(50101), YEAR(50101), DATE(1231), DATE(101), DATE(100) IS NULL, DATE('050101')",
            "2005-01-01,2005,2000-12-31,2000-01-01,1,2005-01-01",
        ),
        (
            "TIMESTAMP(50101101112), DATE(101000000), DAY(1231101112), HOUR(50101101112), HOUR(50101), DATE(50101.0)",
            "2005-01-01 10:11:12,2000-01-01,31,10,5,2005-01-01",
        ),
        (
            "DATEDIFF(50102, 50101), LAST_DAY(50201), DATE_ADD(50101, INTERVAL 1 DAY), DATE'2005-01-01' = 50101, DATE'2005-01-01' IN (50102, 50101), \
             TIMESTAMP(50101, '10:00'), CAST(50101 AS DATE), TIMESTAMPDIFF(DAY, 50101, 50103), DATE(x)",
            "1,2005-02-28,2005-01-02,1,1,2005-01-01 10:00:00,2005-01-01,2,2005-01-01",
        ),
        ("HOUR('101112'), MINUTE(101112), TIME('101112'), TIME_TO_SEC('101112')", "10,11,10:11:12,36672"),
        (
            "ADDTIME('101112', '000001'), TIMEDIFF('101112', '10:11:11'), TIMEDIFF('260102101112', '260102101111')",
            "10:11:13,00:00:01,00:00:01",
        ),
    ] {
        check(&mut session, &format!("SELECT {expressions} FROM (SELECT 50101 AS x) AS t"), expected);
    }
}

/// MySQL's manual, and its order of weeks.
#[test]
fn a_week_and_a_day_of_it_are_a_date() {
    let mut session = session();
    for (expressions, expected) in [
        ("STR_TO_DATE('200442 Monday', '%X%V %W'), STR_TO_DATE('200442 mon', '%x%v %a')", "2004-10-18,2004-10-11"),
        ("STR_TO_DATE('2004 42 1', '%Y %u %w'), STR_TO_DATE('2004 42 1', '%Y %U %w')", "2004-10-11,2004-10-18"),
        ("STR_TO_DATE('2004 42 0', '%X %V %w'), STR_TO_DATE('2004 42 0', '%x %v %w')", "2004-10-17,2004-10-17"),
        ("STR_TO_DATE('2004 42 1 10:30', '%X %V %w %H:%i')", "2004-10-18 10:30:00"),
        // A week alone is none, nor is one whose year is counted otherwise.
        ("STR_TO_DATE('200442', '%X%V') IS NULL, STR_TO_DATE('2004 42 1', '%X %v %w') IS NULL", "1,1"),
        ("STR_TO_DATE('2004 42 1', '%Y %V %w') IS NULL, STR_TO_DATE('2004 42 1', '%X %U %w') IS NULL", "1,1"),
        ("STR_TO_DATE('2004 0 1', '%X %V %w') IS NULL, STR_TO_DATE('2004 54 1', '%X %V %w') IS NULL", "1,1"),
        ("STR_TO_DATE('2004 42 7', '%X %V %w') IS NULL, STR_TO_DATE('9999 53 6', '%X %V %w') IS NULL", "1,1"),
        ("STR_TO_DATE('1st May 2024', '%D %M %Y'), STR_TO_DATE('22nd 5 24', '%D %c %y')", "2024-05-01,2024-05-22"),
    ] {
        check(&mut session, &format!("SELECT {expressions}"), expected);
    }
    for (day, week) in [("2024-12-30", "2024 52 2025 01"), ("2027-01-03", "2027 01 2026 53"), ("2024-09-15", "2024 37 2024 37")] {
        check(&mut session, &format!("SELECT DATE_FORMAT('{day}', '%X %V %x %v')"), week);
        // Those that are made of a date are that date.
        let found = format!(
            "SELECT STR_TO_DATE(DATE_FORMAT('{day}', '%X %V %w'), '%X %V %w'), STR_TO_DATE(DATE_FORMAT('{day}', '%x %v %w'), '%x %v %w'), \
             STR_TO_DATE(DATE_FORMAT('{day}', '%Y %U %w'), '%Y %U %w'), STR_TO_DATE(DATE_FORMAT('{day}', '%Y %u %w'), '%Y %u %w')"
        );
        check(&mut session, &found, &[day; 4].join(","));
    }
}

/// What separates the numbers is of no consequence.
#[test]
fn moments_with_other_delimiters() {
    let mut session = session();
    for (expressions, expected) in [
        (
            "DATE '2012^12^31', CAST('2012@12@31' AS DATE), YEAR('2012/12/31'), DATE_ADD('2012.12.31', INTERVAL 1 DAY)",
            "2012-12-31,2012-12-31,2012,2013-01-01",
        ),
        ("TIMESTAMP '2012^12^31 11+30+45', TIMESTAMP '2012^12^31 11*30*45'", "2012-12-31 11:30:45,2012-12-31 11:30:45"),
        (
            "CAST('2012/12/31T11^30^45.5' AS DATETIME(1)), TIMESTAMP('2012-12-31 11-30')",
            "2012-12-31 11:30:45.5,2012-12-31 11:30:00",
        ),
        (
            "TIMESTAMP('2012-12-31 11-30-60') IS NULL, TIMESTAMP('2012-12-31 11x30') IS NULL, TIMESTAMP('2012-12-31 11::30') IS NULL",
            "1,1,1",
        ),
    ] {
        check(&mut session, &format!("SELECT {expressions}"), expected);
    }
}

/// What the format has more than the text is zero.
#[test]
fn a_text_that_ends_before_its_format() {
    let mut session = session();
    for (expressions, expected) in [
        ("STR_TO_DATE('2020-01-01', '%Y-%m-%d %H:%i:%s')", "2020-01-01 00:00:00"),
        ("STR_TO_DATE('2020-01-01 10:11:12', '%Y-%m-%d %H:%i:%s.%f')", "2020-01-01 10:11:12.000000"),
        (
            "STR_TO_DATE('2020-01-01 10', '%Y-%m-%d %T'), STR_TO_DATE('2020-01-01 ', '%Y-%m-%d %T')",
            "2020-01-01 10:00:00,2020-01-01 00:00:00",
        ),
        ("STR_TO_DATE('10:11', '%H:%i:%s'), STR_TO_DATE('10:', '%H:%i:%s')", "10:11:00,10:00:00"),
        (
            "STR_TO_DATE('10:11 PM', '%r') IS NULL, STR_TO_DATE('10:11:12 PM', '%r'), STR_TO_DATE('1%2', '%H%%%i')",
            "1,22:11:12,01:02:00",
        ),
        ("STR_TO_DATE('', '%Y-%m-%d %H') IS NULL, STR_TO_DATE('2020', '%Y-%m-%d') IS NULL", "1,1"),
        ("STR_TO_DATE('2020-01-01x', '%Y-%m-%d %H') IS NULL, STR_TO_DATE('2020-01-01', '%Y-%m/%d') IS NULL", "1,1"),
    ] {
        check(&mut session, &format!("SELECT {expressions}"), expected);
    }
}

/// A moment is kept as its column has it, however it was written, inserted or assigned.
#[test]
fn moments_in_their_columns() {
    let mut session = session();
    let columns = "CAST('2000-01-01' AS DATE) AS d, CAST('1:00' AS TIME(1)) AS t, CAST('2000-01-01' AS DATETIME) AS m";
    run(&mut session, &format!("CREATE TABLE test.x AS SELECT 0 AS i, {columns} LIMIT 0"));
    check(&mut session, "INSERT INTO test.x VALUES (1, '20261124', '1:2:3.45', '2026-11-24 12:30:00.6')", "1 changed");
    check(
        &mut session,
        "INSERT INTO test.x VALUES (2, '2026-11-24 12:30:00', '10203', '2026-1-2'), (3, NULL, NULL, NULL)",
        "2 changed",
    );
    let select = "SELECT d, t, m FROM test.x ORDER BY i";
    check(&mut session, select, "2026-11-24,01:02:03.5,2026-11-24 12:30:01\n2026-11-24,01:02:03.0,2026-01-02 00:00:00\n,,");
    let update = "UPDATE test.x SET m = '2026-11-24 12:30:00.6', i = 10 + SECOND(m), d = '26/11/25', t = 45 WHERE i = 3";
    run(&mut session, update);
    check(&mut session, "SELECT i, d, t, m FROM test.x WHERE i > 3", "11,2026-11-25,00:00:45.0,2026-11-24 12:30:01");
}
