//! CALL of the procedures of MySQL's schema `sys`.

mod common;

use common::{World, check, run};
use perfschema::core::{InstrumentName, Setting};
use perfschema_sql::{Account, Database, Right};

#[test]
fn instruments_and_consumers_are_switched() {
    let world = World::new();
    let heap = InstrumentName::literal("memory/app/heap");
    world.region.register(heap, Setting::COUNTED).expect("there is room");
    let mut session = world.session();
    let switched = "SELECT SUM(ENABLED = 'YES'), SUM(TIMED = 'YES') FROM setup_instruments WHERE NAME LIKE '%rwlock%' OR NAME LIKE 'memory%'";
    check(&mut session, switched, "5,4");
    assert_eq!(run(&mut session, "CALL sys.ps_setup_disable_instrument('rwlock')"), "summary\nDisabled 4 instruments\n");
    check(&mut session, switched, "1,0");
    check(&mut session, "CALL sys.ps_setup_disable_instrument('memory/app')", "Disabled 1 instrument");
    check(&mut session, switched, "0,0");
    run(&mut session, "SET @kind = 'rwlock/sql'");
    check(&mut session, "CALL SYS.PS_SETUP_ENABLE_INSTRUMENT(@kind)", "Enabled 1 instrument");
    check(&mut session, "CALL sys.ps_setup_enable_instrument('')", "Enabled 4 instruments");
    check(&mut session, switched, "5,4");
    check(&mut session, "CALL sys.ps_setup_enable_instrument(NULL)", "Enabled 0 instruments");

    let consumers = "SELECT GROUP_CONCAT(NAME) FROM setup_consumers WHERE ENABLED = 'NO'";
    check(&mut session, "CALL sys.ps_setup_disable_consumer('waits_history')", "Disabled 2 consumers");
    check(&mut session, consumers, "\"events_waits_history,events_waits_history_long\"");
    run(&mut session, "USE sys");
    check(&mut session, "CALL ps_setup_enable_consumer('waits_history_long')", "Enabled 1 consumer");
    check(
        &mut session,
        "SELECT GROUP_CONCAT(NAME) FROM performance_schema.setup_consumers WHERE ENABLED = 'NO'",
        "events_waits_history",
    );
}

#[test]
fn all_tables_are_truncated_but_the_current_ones_and_the_setup() {
    let world = World::new();
    let main = world.actor("thread/app/main");
    world.wait(&main, 0, 1, 100);
    let mut session = world.session();
    let count = "SELECT (SELECT COUNT(*) FROM events_waits_current), (SELECT COUNT(*) FROM events_waits_history), \
                 (SELECT SUM(COUNT_STAR) FROM events_waits_summary_by_thread_by_event_name), \
                 (SELECT SUM(COUNT_STAR + QUANTILE_95) > 0 FROM events_waits_summary_global_by_event_name)";
    check(&mut session, count, "1,1,1,1");
    let truncated = run(&mut session, "CALL sys.ps_truncate_all_tables(FALSE)");
    let truncated = truncated.strip_prefix("summary\nTruncated ").and_then(|rest| rest.strip_suffix(" tables\n"));
    assert!(truncated.and_then(|count| count.parse().ok()).is_some_and(|count: u32| count > 20), "{truncated:?}");
    check(&mut session, count, "1,0,0,0");
    check(&mut session, "SELECT * FROM setup_actors", "%,%,%,YES,YES");
}

#[test]
fn what_is_refused() {
    let world = World::new();
    let mut session = world.session();
    let unknown = "ERROR 1305 (42000): PROCEDURE performance_schema.ps_setup_enable_consumer does not exist";
    check(&mut session, "CALL ps_setup_enable_consumer('x')", unknown);
    let count = "ERROR 1318 (42000): Incorrect number of arguments for PROCEDURE sys.ps_setup_enable_consumer; expected 1, got";
    check(&mut session, "CALL sys.ps_setup_enable_consumer()", &format!("{count} 0"));
    check(&mut session, "CALL sys.ps_setup_enable_consumer", &format!("{count} 0"));
    check(&mut session, "CALL sys.ps_setup_enable_consumer('a', 'b')", &format!("{count} 2"));
    let account = Account { right: Right::Read, ..Account::default() };
    let mut reader = Database::new(world.region).session(account).expect("there is memory");
    for (call, denied) in [
        ("ps_setup_disable_consumer('')", "UPDATE command denied to user 'root'@'localhost' for table 'setup_consumers'"),
        ("ps_truncate_all_tables(0)", "DROP command denied to user 'root'@'localhost' for table 'events_stages_history'"),
    ] {
        check(&mut reader, &format!("CALL sys.{call}"), &format!("ERROR 1142 (42000): {denied}"));
    }
}

/// What clients look for before they call: names, parameters, types, and what is in it.
#[test]
fn routines_are_listed() {
    let mut session = World::new().session();
    let parameters = "SELECT SPECIFIC_NAME, ORDINAL_POSITION, PARAMETER_MODE, PARAMETER_NAME, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, \
                      NUMERIC_PRECISION, DTD_IDENTIFIER, ROUTINE_TYPE FROM information_schema.PARAMETERS WHERE SPECIFIC_SCHEMA = 'sys' AND \
                      SPECIFIC_NAME";
    for (condition, expected) in [
        ("= 'ps_setup_enable_instrument'", "ps_setup_enable_instrument,1,IN,in_pattern,varchar,128,,varchar(128),PROCEDURE"),
        ("= 'ps_truncate_all_tables'", "ps_truncate_all_tables,1,IN,in_verbose,tinyint,,3,tinyint(1),PROCEDURE"),
        (
            "= 'ps_is_consumer_enabled'",
            "ps_is_consumer_enabled,0,,,enum,3,,\"enum('YES','NO')\",FUNCTION\n\
             ps_is_consumer_enabled,1,IN,in_consumer,varchar,64,,varchar(64),FUNCTION",
        ),
        (
            "= 'ps_thread_id'",
            "ps_thread_id,0,,,bigint,,20,bigint unsigned,FUNCTION\n\
             ps_thread_id,1,IN,in_connection_id,bigint,,20,bigint unsigned,FUNCTION",
        ),
        ("= 'version_major'", "version_major,0,,,tinyint,,3,tinyint unsigned,FUNCTION"),
    ] {
        check(&mut session, &format!("{parameters} {condition}"), expected);
    }
    let names = "SELECT GROUP_CONCAT(ROUTINE_NAME) FROM information_schema.ROUTINES WHERE ROUTINE_TYPE = 'PROCEDURE'";
    check(
        &mut session,
        names,
        "\"ps_setup_disable_consumer,ps_setup_disable_instrument,ps_setup_enable_consumer,ps_setup_enable_instrument,\
         ps_truncate_all_tables\"",
    );
    check(
        &mut session,
        "SELECT ROUTINE_SCHEMA, DATA_TYPE FROM information_schema.ROUTINES WHERE ROUTINE_NAME = 'list_add'",
        "sys,text",
    );
    for (show, expected) in [
        ("PROCEDURE STATUS LIKE 'ps\\_truncate%'", "sys,ps_truncate_all_tables,PROCEDURE"),
        ("FUNCTION STATUS WHERE Db = 'sys' AND Name LIKE 'format_t%'", "sys,format_time,FUNCTION"),
    ] {
        let found = run(&mut session, &format!("SHOW {show}"));
        assert_eq!(found.lines().count(), 2, "{found}");
        assert!(found.contains(expected), "{found}");
    }
    for (show, expected) in [
        (
            "PROCEDURE sys.ps_setup_enable_consumer",
            "CREATE PROCEDURE `ps_setup_enable_consumer`(IN consumer varchar(128))\nBEGIN UPDATE ",
        ),
        (
            "FUNCTION SYS.Format_Time",
            "CREATE FUNCTION `format_time`(picoseconds text) RETURNS text\nRETURN format_time(picoseconds)",
        ),
    ] {
        let found = run(&mut session, &format!("SHOW CREATE {show}"));
        assert!(found.contains(expected), "{found}");
    }
    // All that are listed can be called.
    let functions = run(&mut session, "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_TYPE = 'FUNCTION'");
    for name in functions.lines().skip(1) {
        let count = format!(
            "SELECT COUNT(*) FROM information_schema.PARAMETERS WHERE SPECIFIC_NAME = '{name}' AND PARAMETER_MODE = 'IN'"
        );
        let count = run(&mut session, &count).lines().nth(1).and_then(|count| count.parse().ok()).unwrap_or_default();
        let called = run(&mut session, &format!("SELECT sys.{name}({})", vec!["'global_instrumentation'"; count].join(", ")));
        assert!(!called.starts_with("ERROR"), "{name}: {called}");
    }
    for (show, error) in [
        ("PROCEDURE sys.nothing", "ERROR 1305 (42000): PROCEDURE nothing does not exist"),
        ("FUNCTION sys.ps_truncate_all_tables", "ERROR 1305 (42000): FUNCTION ps_truncate_all_tables does not exist"),
        ("PROCEDURE ps_truncate_all_tables", "ERROR 1305 (42000): PROCEDURE ps_truncate_all_tables does not exist"),
    ] {
        assert_eq!(run(&mut session, &format!("SHOW CREATE {show}")), error);
    }
}

#[test]
fn what_a_routine_is() {
    let mut session = World::new().session();
    let of_type = "DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, CHARACTER_OCTET_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, \
                   CHARACTER_SET_NAME, COLLATION_NAME, DTD_IDENTIFIER";
    let others = "ROUTINE_BODY, EXTERNAL_NAME, EXTERNAL_LANGUAGE, PARAMETER_STYLE, IS_DETERMINISTIC, SQL_DATA_ACCESS, SQL_PATH, SECURITY_TYPE, \
                  DEFINER";
    let longest = "4294967295,4294967295,,,,utf8mb4,utf8mb4_0900_ai_ci,longtext";
    for (name, expected) in [
        ("format_statement", format!("FUNCTION,longtext,{longest},SQL,,SQL,SQL,NO,READS SQL DATA,,INVOKER,mysql.sys@localhost")),
        (
            "ps_thread_id",
            "FUNCTION,bigint,,,20,0,,,,bigint unsigned,SQL,,SQL,SQL,NO,READS SQL DATA,,INVOKER,mysql.sys@localhost".to_owned(),
        ),
        (
            "ps_setup_enable_consumer",
            "PROCEDURE,\"\",,,,,,,,,SQL,,SQL,SQL,NO,MODIFIES SQL DATA,,INVOKER,mysql.sys@localhost".to_owned(),
        ),
    ] {
        let statement =
            format!("SELECT ROUTINE_TYPE, {of_type}, {others} FROM information_schema.ROUTINES WHERE ROUTINE_NAME = '{name}'");
        check(&mut session, &statement, &expected);
    }
    check(&mut session, "SELECT DISTINCT SQL_MODE = @@sql_mode FROM information_schema.ROUTINES", "1");
}
