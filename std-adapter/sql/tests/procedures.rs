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
fn all_tables_are_truncated_but_the_current_ones() {
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
