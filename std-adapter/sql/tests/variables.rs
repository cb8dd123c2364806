//! Variables of a session and of its user: set, shown, refused, and assigned within a statement.

mod common;

use common::{World, check, run, session};
use perfschema::render::OwnedValue;
use perfschema_sql::{Account, Database, Outcome, Session};
use std::time::{Duration, Instant};

/// What is the region's or the server's has no value of a session's.
#[test]
fn variables_have_a_scope() {
    let mut session = World::new().session();
    for name in ["performance_schema", "performance_schema_max_socket_classes", "innodb_monitor_enable", "version", "port"] {
        for scope in ["session", "LOCAL"] {
            let error = format!("ERROR 1238 (HY000): Variable '{name}' is a GLOBAL variable");
            check(&mut session, &format!("SELECT @@{scope}.{name}"), &error);
        }
        let both = format!("SELECT @@global.{name} = @@{name}");
        check(&mut session, &both, "1");
    }
    check(&mut session, "SELECT @@session.warning_count, @@local.autocommit", "0,1");
    check(&mut session, "SELECT @@session.nothing", "ERROR 1193 (HY000): Unknown system variable 'nothing'");
}

#[test]
fn use_and_set() {
    let mut session = Database::new(World::new().region).session(Account::default()).expect("there is memory");
    check(&mut session, "SELECT DATABASE() IS NULL", "1");
    check(&mut session, "SELECT * FROM threads", "ERROR 1046 (3D000): No database selected");
    check(&mut session, "USE nothing", "ERROR 1049 (42000): Unknown database 'nothing'");
    check(&mut session, "USE `Performance_Schema`", "0 changed");
    check(&mut session, "SELECT COUNT(*) FROM setup_timers", "5");
    for statement in [
        "SET NAMES utf8mb4",
        "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_general_ci'",
        "SET autocommit=0, sql_mode = CONCAT(@@sql_mode, ',ANSI')",
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        "SET @@session.lock_wait_timeout = 2",
        "SET character_set_results = NULL",
        "SET @x := 5",
        "START TRANSACTION",
        "COMMIT",
        "/*!40101 SET NAMES utf8 */",
    ] {
        check(&mut session, statement, "0 changed");
    }
    check(
        &mut session,
        "SELECT @@autocommit, @@sql_mode, @@lock_wait_timeout, @x, @y IS NULL",
        "0,\"REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,ANSI,STRICT_TRANS_TABLES,\
         NO_ENGINE_SUBSTITUTION\",2,5,1",
    );
    check(&mut session, "SET nothing = 1", "ERROR 1193 (HY000): Unknown system variable 'nothing'");
    check(&mut session, "SET version = 1", "ERROR 1238 (HY000): Variable 'version' is a read only variable");
    check(&mut session, "SET GLOBAL autocommit = 1", "ERROR 1238 (HY000): Variable 'autocommit' is a read only variable");
    let error = "ERROR 1621 (HY000): SESSION variable 'max_allowed_packet' is read-only. Use SET GLOBAL to assign the value";
    check(&mut session, "SET SESSION max_allowed_packet = 67108864", error);
    check(&mut session, "SELECT @@nothing", "ERROR 1193 (HY000): Unknown system variable 'nothing'");
    check(&mut session, "SELECT @@global.nothing", "ERROR 1193 (HY000): Unknown system variable 'nothing'");
    check(&mut session, "SELECT @@lock_wait_timeout, @@global.lock_wait_timeout", "2,31536000");
    check(&mut session, "SHOW VARIABLES LIKE 'lock_wait%'", "lock_wait_timeout,2");
    check(&mut session, "SHOW GLOBAL VARIABLES LIKE 'lock_wait%'", "lock_wait_timeout,31536000");
}

/// A variable has what it can have, or the statement says why not.
#[test]
fn variables_have_kinds() {
    let mut session =
        Database::new(World::new().region).variable("wait_timeout", 60).session(Account::default()).expect("there is memory");
    let wrong_type = |name: &str| format!("ERROR 1232 (42000): Incorrect argument type to variable '{name}'");
    let wrong_value =
        |name: &str, value: &str| format!("ERROR 1231 (42000): Variable '{name}' can't be set to the value of '{value}'");
    for (set, expected) in [
        ("wait_timeout = 'soon'", wrong_type("wait_timeout")),
        ("wait_timeout = 1.5", wrong_type("wait_timeout")),
        ("wait_timeout = NULL", wrong_type("wait_timeout")),
        ("long_query_time = 'long'", wrong_type("long_query_time")),
        ("autocommit = 2", wrong_value("autocommit", "2")),
        ("autocommit = NULL", wrong_value("autocommit", "NULL")),
        ("transaction_isolation = 'SNAPSHOT'", wrong_value("transaction_isolation", "SNAPSHOT")),
        ("completion_type = 3", wrong_value("completion_type", "3")),
        ("sql_mode = 'ANSI,NONE'", wrong_value("sql_mode", "NONE")),
        ("time_zone = 'Europe/Nowhere'", "ERROR 1298 (HY000): Unknown or incorrect time zone: 'Europe/Nowhere'".to_owned()),
        ("time_zone = '+14:01'", "ERROR 1298 (HY000): Unknown or incorrect time zone: '+14:01'".to_owned()),
        ("time_zone = '+1:000'", "ERROR 1298 (HY000): Unknown or incorrect time zone: '+1:000'".to_owned()),
    ] {
        check(&mut session, &format!("SET {set}"), &expected);
    }
    // Nothing of that was set.
    check(
        &mut session,
        "SELECT @@wait_timeout, @@long_query_time, @@autocommit, @@completion_type, @@time_zone",
        "60,10.000000,1,NO_CHAIN,+00:00",
    );
    for (set, variable, kept) in [
        ("SET wait_timeout = 5", "wait_timeout", "5"),
        ("SET wait_timeout = DEFAULT", "wait_timeout", "60"),
        ("SET long_query_time = 0.25", "long_query_time", "0.25"),
        ("SET completion_type = 1", "completion_type", "CHAIN"),
        ("SET transaction_isolation = 'read-committed'", "tx_isolation", "READ-COMMITTED"),
        ("SET time_zone = '-9:30'", "time_zone", "-9:30"),
        ("SET sql_select_limit = 18446744073709551615", "sql_select_limit", "18446744073709551615"),
    ] {
        check(&mut session, set, "0 changed");
        check(&mut session, &format!("SELECT @@{variable}"), kept);
    }
    check(&mut session, "SELECT WEEK('2026-01-01'), WEEK('2026-01-01', 3), YEARWEEK('2026-01-01')", "0,1,202552");
    check(&mut session, "SET default_week_format = 3", "0 changed");
    check(&mut session, "SELECT WEEK('2026-01-01'), WEEK('2026-01-01', 0), YEARWEEK('2026-01-01')", "1,0,202552");
    check(&mut session, "SELECT 9e999", "ERROR 1367 (22007): Illegal double '9e999' value found during parsing");
    // There is one that is heeded.
    check(&mut session, "SET div_precision_increment = 8", "0 changed");
    check(&mut session, "SHOW WARNINGS", "Warning,1292,Truncated incorrect div_precision_increment value: '8'");
    // As near to what was asked for as it can be.
    for (asked, kept) in [("0", "1"), ("-5", "1"), ("100000000", "31536000")] {
        check(&mut session, &format!("SET wait_timeout = {asked}"), "0 changed");
        let warning = format!("Warning,1292,Truncated incorrect wait_timeout value: '{asked}'");
        check(&mut session, "SHOW WARNINGS", &warning);
        check(&mut session, "SHOW VARIABLES LIKE 'wait_timeout'", &format!("wait_timeout,{kept}"));
    }
    check(&mut session, "SHOW GLOBAL VARIABLES LIKE 'wait_timeout'", "wait_timeout,60");
}

/// As in MySQL: what a statement cannot assign, it assigns nothing of.
#[test]
fn a_set_that_fails_sets_nothing() {
    let mut session = session();
    let all = "SELECT @@autocommit, @@max_error_count, @a, @b, @@innodb_monitor_enable, @@character_set_client, @@transaction_isolation";
    let enabled = "SELECT COUNT(*) FROM information_schema.innodb_metrics WHERE status = 'enabled'";
    let before = [run(&mut session, all), run(&mut session, enabled)];
    for statement in [
        "SET @a = 1, autocommit = 0, sql_mode = 'nonsense'",
        "SET autocommit = 0, max_error_count = 3, nosuch = 2",
        "SET @a = 1, @b = 2, GLOBAL innodb_monitor_enable = 'module_perfschema', GLOBAL innodb_monitor_disable = 'nope'",
        "SET GLOBAL innodb_monitor_enable = 'module_perfschema', SESSION sql_mode = 'nonsense'",
        "SET GLOBAL innodb_monitor_enable = 'module_perfschema', GLOBAL port = 1",
        "SET autocommit = 0, NAMES utf8mb4 COLLATE latin1_bin",
        "SET @a = 1, NAMES latin1, max_error_count = 'many'",
        "SET NAMES latin1, sql_mode = 'nonsense'",
        "SET transaction_isolation = 'READ-COMMITTED', version = 1",
        // More than a session keeps.
        &format!("SET @a = 1, autocommit = 0{}", (0..9).map(|i| format!(", @b{i} = REPEAT('x', 1000000)")).collect::<String>()),
    ] {
        let answer = run(&mut session, statement);
        assert!(answer.starts_with("ERROR"), "{statement}: {answer}");
        assert_eq!([run(&mut session, all), run(&mut session, enabled)], before, "{statement}");
    }
    // Values are what was there before.
    run(&mut session, "SET @a = 1, @b = 2, autocommit = 0, max_error_count = 3");
    run(&mut session, "SET @a = @b, @b = @a, autocommit = 1, max_error_count = @@autocommit + 6");
    check(&mut session, "SELECT @a, @b, @@autocommit, @@max_error_count", "2,1,1,6");
}

/// As ODBC's drivers ask for columns, and as people number rows.
#[test]
fn variables_are_assigned_within_a_statement() {
    let mut session = session();
    let row = |session: &mut Session, query: &str| run(session, query).trim_end().replace('\n', "|");
    assert_eq!(row(&mut session, "SELECT @x := 1, @X + 1, @x"), "@x := 1,@X + 1,@x|1,2,1");
    assert_eq!(row(&mut session, "SELECT @x"), "@x|1");
    let numbered = "SELECT @i := @i + 1 AS n, NAME FROM setup_timers, (SELECT @i := 0) r";
    assert_eq!(row(&mut session, numbered), "n,NAME|1,idle|2,wait|3,stage|4,statement|5,transaction");
    assert_eq!(row(&mut session, numbered), "n,NAME|1,idle|2,wait|3,stage|4,statement|5,transaction");
    // Sorted by what was assigned, it is not assigned again.
    let last = "SELECT @i := @i + 1 AS n, NAME FROM setup_timers, (SELECT @i := 0) r ORDER BY n DESC LIMIT 2";
    assert_eq!(row(&mut session, last), "n,NAME|5,transaction|4,statement");
    assert_eq!(row(&mut session, &last.replace("BY n", "BY 1")), "n,NAME|5,transaction|4,statement");
    assert_eq!(
        row(&mut session, "SELECT @i, (SELECT MAX(n) FROM (SELECT @j := @j + 1 AS n FROM setup_timers, (SELECT @j := 0) s) t) m"),
        "@i,m|5,5"
    );
    // An ENUM by its numbers, beside one that is assigned.
    let of_enum = "SELECT DISTINCT TIMER_NAME, @k := 1 AS k FROM performance_timers ORDER BY TIMER_NAME";
    assert_eq!(row(&mut session, of_enum), row(&mut session, &of_enum.replace("@k := 1", "1")));
    // Datadog's: a number of each row, of which some are chosen.
    let chosen = "SELECT v, ro FROM (SELECT v, @r := @r + 1 AS ro FROM (SELECT 5 AS v UNION ALL SELECT 7 UNION ALL SELECT 9) p, \
                  (SELECT @r := 0) r) q WHERE ro > 1";
    assert_eq!(row(&mut session, chosen), "v,ro|7,2|9,3");
    let by_type = "SELECT COLUMN_NAME, CASE DATA_TYPE WHEN 'varchar' THEN @dt:=12 ELSE @dt:=(-4) END AS t, \
                   @size:=CAST(CASE @dt WHEN 12 THEN CHARACTER_MAXIMUM_LENGTH ELSE 20 END AS SIGNED) AS s, IF(@size > 30, @size, 0) AS l \
                   FROM information_schema.COLUMNS WHERE TABLE_NAME = 'setup_timers'";
    assert_eq!(row(&mut session, by_type), "COLUMN_NAME,t,s,l|NAME,12,64,64|TIMER_NAME,-4,20,0");
    assert_eq!(
        row(&mut session, "SELECT @b := 'x', CONCAT(@b, 'y') AS c, @n := NULL, @d := 1.50"),
        "@b := 'x',c,@n := NULL,@d := 1.50|x,xy,,1.50"
    );
    assert_eq!(row(&mut session, "SELECT @b, @n, @d"), "@b,@n,@d|x,,1.50");
    let parameter = session.execute_with("SELECT @p := ?, @p", &[7_i64.into()]);
    assert!(matches!(parameter, Ok(Outcome::Rows(grid)) if grid.rows == [[OwnedValue::from(7_i64), 7_i64.into()]]));
    let heap = format!(
        "SELECT @large := REPEAT('x', 1000000), {}",
        (0..40).map(|n| format!("@l{n} := @large")).collect::<Vec<_>>().join(", ")
    );
    assert!(row(&mut session, &heap).starts_with("ERROR 1041 "), "what is kept is bounded");
    for wrong in ["SELECT 1 := 2", "SELECT @@version := 1", "SELECT name := 1 FROM threads"] {
        assert!(run(&mut session, wrong).starts_with("ERROR 1235 "), "{wrong}");
    }
}

#[test]
fn character_sets_are_mysqls() {
    let mut session = session();
    let unknown = "ERROR 1115 (42000): Unknown character set: 'nosuch'";
    let collation = "ERROR 1273 (HY000): Unknown collation: 'nosuch_ci'";
    for (statement, expected) in [
        ("SET NAMES nosuch", unknown),
        ("SET CHARACTER SET nosuch", unknown),
        ("SET character_set_results = nosuch", unknown),
        ("SELECT CONVERT('a' USING nosuch)", unknown),
        ("SET NAMES utf8mb4 COLLATE nosuch_ci", collation),
        ("SET collation_connection = nosuch_ci", collation),
        ("SELECT 'a' COLLATE nosuch_ci", collation),
        ("SELECT _nosuch'x'", "ERROR 1054 (42S22): Unknown column '_nosuch' in 'field list'"),
        ("SET NAMES 'latin1'", "0 changed"),
        ("SET NAMES utf8 COLLATE utf8_general_ci", "0 changed"),
        ("SET NAMES DEFAULT", "0 changed"),
        ("SET character_set_results = NULL", "0 changed"),
        ("SELECT CONVERT('a' USING UTF8), _latin1'b', 'c' COLLATE utf8mb4_bin", "a,b,c"),
    ] {
        check(&mut session, statement, expected);
    }
}

#[test]
fn a_session_sets_its_clock() {
    let mut session = session();
    check(&mut session, "SET timestamp = 1000000000.25", "0 changed");
    check(
        &mut session,
        "SELECT NOW(2), UTC_DATE(), UNIX_TIMESTAMP(), SYSDATE() > NOW()",
        "2001-09-09 01:46:40.25,2001-09-09,1000000000,1",
    );
    for undone in ["0", "DEFAULT"] {
        check(&mut session, &format!("SET timestamp = {undone}"), "0 changed");
        check(&mut session, "SELECT NOW() > '2020-01-01'", "1");
        check(&mut session, "SET timestamp = 1000000000", "0 changed");
    }
}

/// As MAX_EXECUTION_TIME among the hints says, in milliseconds.
#[test]
fn a_hint_bounds_the_time() {
    let mut session = session();
    for hints in ["MAX_EXECUTION_TIME(100)", "NO_BKA(t) max_execution_time ( 100 )"] {
        let begun = Instant::now();
        let found = run(&mut session, &format!("SELECT /*+ {hints} */ SLEEP(100), 1"));
        assert!(begun.elapsed() < Duration::from_secs(60), "{hints}");
        assert!(found.starts_with("ERROR 3024 "), "{hints}: {found}");
    }
    check(&mut session, "SET max_execution_time = 500", "0 changed");
    check(&mut session, "SELECT /*+ MAX_EXECUTION_TIME(0) */ SLEEP(1), 1", "0,1");
}
