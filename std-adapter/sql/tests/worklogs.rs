//! The statements of the worklogs, as they are written there.

mod common;

use common::{INSTRUMENTS, World, boxed, check, run};
use perfschema_sql::Outcome;

/// WL#2360, "EXAMPLES OF STATEMENTS". Behind the worklog's columns there is one of ours, TIMED_ONE_IN.
#[test]
fn wl2360_select_setup_instruments() {
    let world = World::new();
    let printed = boxed(&mut world.session(), "SELECT * FROM SETUP_INSTRUMENTS;");
    assert!(
        printed.contains("| NAME                                                 | ENABLED | TIMED | TIMED_ONE_IN |\n"),
        "{printed}"
    );
    for name in INSTRUMENTS {
        assert!(printed.contains(&format!("| {name:<52} | YES     | YES   |            1 |\n")), "{name} in {printed}");
    }
}

#[test]
fn wl2360_turn_off_and_on() {
    let mut session = World::new().session();
    let off = "SELECT name FROM setup_instruments WHERE enabled = 'NO' ORDER BY name";
    check(
        &mut session,
        "UPDATE SETUP_INSTRUMENTS SET ENABLED='no' WHERE NAME LIKE '%/RWLOCK/%';",
        "Rows matched: 4  Changed: 4  Warnings: 0",
    );
    check(
        &mut session,
        off,
        "wait/synch/rwlock/myisam/MYISAM_SHARE::key_root_lock\nwait/synch/rwlock/mysys/SAFE_HASH_mutex\n\
         wait/synch/rwlock/mysys/WT_RESOURCE::lock\nwait/synch/rwlock/sql/LOCK_grant",
    );
    let count = run(&mut session, "SELECT COUNT(*) FROM setup_consumers").lines().last().map(str::to_owned).expect("a number");
    let all = format!("Rows matched: {count}  Changed: {count}  Warnings: 0");
    check(&mut session, "UPDATE SETUP_CONSUMERS SET ENABLED='No' WHERE NAME<>'EVENTS_WAITS';", &all);
    check(&mut session, "SELECT COUNT(*) FROM setup_consumers WHERE enabled = 'YES'", "0");
    check(&mut session, "UPDATE SETUP_INSTRUMENTS SET ENABLED='YES';", "Rows matched: 11  Changed: 4  Warnings: 0");
    check(&mut session, "UPDATE SETUP_CONSUMERS SET ENABLED='YES';", &all);
    check(&mut session, "SELECT COUNT(*) FROM setup_consumers WHERE enabled = 'YES'", &count);
    check(&mut session, "UPDATE SETUP_INSTRUMENTS SET Timed='no';", "Rows matched: 11  Changed: 11  Warnings: 0");
    // The worklog has a column of this name here, and NAME everywhere else.
    check(
        &mut session,
        "UPDATE SETUP_INSTRUMENTS SET ENABLED='NO' WHERE WAIT_NAME LIKE '/Mutex/%';",
        "ERROR 1054 (42S22): Unknown column 'WAIT_NAME' in 'where clause'",
    );
}

/// The alias `x` is not defined anywhere in the worklog's statement.
#[test]
fn wl2360_save_and_restore() {
    let mut session = World::new().session();
    let restore = "UPDATE SETUP_INSTRUMENTS SET ENABLED=(SELECT ENABLED FROM test.SAVED_SETTINGS y WHERE x.NAME=y.NAME);";
    check(
        &mut session,
        "UPDATE setup_instruments SET enabled = 'NO' WHERE name LIKE '%/cond/%'",
        "Rows matched: 3  Changed: 3  Warnings: 0",
    );
    check(
        &mut session,
        "CREATE TABLE test.SAVED_SETTINGS AS SELECT * FROM SETUP_INSTRUMENTS;",
        "Records: 11  Duplicates: 0  Warnings: 0",
    );
    check(&mut session, "UPDATE setup_instruments SET enabled = 'YES'", "Rows matched: 11  Changed: 3  Warnings: 0");
    check(&mut session, restore, "Rows matched: 11  Changed: 3  Warnings: 0");
    check(&mut session, "SELECT COUNT(*) FROM setup_instruments WHERE enabled = 'NO' AND name LIKE '%/cond/%'", "3");
    check(&mut session, "SHOW COLUMNS FROM test.saved_settings LIKE 'name'", "NAME,varchar(128),NO,\"\",,\"\"");
    // With a row missing there is no value for it, and nothing at all is changed.
    check(&mut session, "UPDATE setup_instruments SET enabled = 'YES'", "Rows matched: 11  Changed: 3  Warnings: 0");
    check(&mut session, "DELETE FROM test.saved_settings WHERE name LIKE '%PAGE::cond'", "1 changed");
    check(&mut session, restore, "ERROR 1048 (23000): Column 'ENABLED' cannot be null");
    check(&mut session, "SELECT COUNT(*) FROM setup_instruments WHERE enabled = 'YES'", "11");
    check(&mut session, "DROP TABLE test.saved_settings", "0 changed");
    check(&mut session, restore, "ERROR 1146 (42S02): Table 'test.SAVED_SETTINGS' doesn't exist");
}

#[test]
fn wl2360_actors_timers_history() {
    let world = World::new();
    let mut session = world.session();
    check(&mut session, "INSERT INTO SETUP_ACTORS VALUES ('ALL','ALL','ALL')", "1 changed");
    check(&mut session, "SELECT * FROM setup_actors WHERE host = 'all'", "ALL,ALL,ALL,YES,YES");
    check(
        &mut session,
        "SELECT * FROM SETUP_TIMERS;",
        "idle,MICROSECOND\nwait,NANOSECOND\nstage,NANOSECOND\nstatement,NANOSECOND\ntransaction,NANOSECOND",
    );
    check(
        &mut session,
        "UPDATE SETUP_TIMERS SET TIMER_NAME='MILLISECOND' WHERE NAME='Wait';",
        "Rows matched: 1  Changed: 1  Warnings: 0",
    );
    check(&mut session, "SELECT timer_name FROM setup_timers WHERE name = 'wait'", "MILLISECOND");
    check(
        &mut session,
        "UPDATE SETUP_TIMERS SET TIMER_NAME='NONE' WHERE NAME='Wait';",
        "ERROR 1265 (01000): Data truncated for column 'TIMER_NAME' at row 1",
    );
    check(&mut session, "select timer_name from PERFORMANCE_TIMERS", "CYCLE\nNANOSECOND\nMICROSECOND\nMILLISECOND\nTICK");

    let actor = world.actor("thread/test/main");
    world.wait(&actor, 0, 1, 10);
    check(&mut session, "SELECT COUNT(*) FROM EVENTS_WAITS_HISTORY", "1");
    check(&mut session, "TRUNCATE TABLE PERFORMANCE_SCHEMA.EVENTS_WAITS_HISTORY;", "0 changed");
    check(&mut session, "SELECT COUNT(*) FROM EVENTS_WAITS_HISTORY", "0");
    // "So the performance schema can be joined": the worklog's join with a process list, which is `threads` here.
    check(
        &mut session,
        "SELECT a.event_name, b.name FROM PERFORMANCE_SCHEMA.EVENTS_WAITS_CURRENT a, PERFORMANCE_SCHEMA.THREADS b WHERE a.thread_id = b.thread_id;",
        "wait/synch/mutex/sql/LOCK_des_key_file,thread/test/main",
    );
}

/// WL#4678, WL#4813: `\G`, LIKE with double quotes, LIMIT, SHOW VARIABLES.
#[test]
fn wl4678_and_wl4813() {
    let world = World::new();
    let actor = world.actor("thread/test/main");
    world.wait(&actor, 4, 1, 10);
    let mut session = world.session();
    let pieces = perfschema_sql::split(r"select * from events_waits_current where thread_id = 1\G");
    assert!(pieces[0].vertical);
    match session.execute(&pieces[0].text) {
        Ok(Outcome::Rows(grid)) => {
            let text = grid.vertical().to_string();
            assert!(text.starts_with("*************************** 1. row ***************************\n"), "{text}");
            assert!(text.contains("           EVENT_NAME: wait/synch/rwlock/sql/LOCK_grant\n"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    check(
        &mut session,
        "select * from setup_instruments where name like \"wait/synch/%/sql/%\" order by name\nlimit 2;",
        "wait/synch/cond/sql/PAGE::cond,YES,YES,1\nwait/synch/mutex/sql/LOCK_des_key_file,YES,YES,1",
    );
    let variables = run(&mut session, "show variables like 'performance%waits%';");
    assert_eq!(
        variables,
        "Variable_name,Value\nperformance_schema_events_waits_history_long_size,16\nperformance_schema_events_waits_history_size,4\n"
    );
}
