//! Functions of MySQL's schema `sys`.

mod common;

use common::{World, check, run};

#[test]
fn threads_and_their_accounts() {
    let world = World::new();
    let (_main, _ann) = (world.actor("thread/app/main"), world.user("ann", "db1"));
    let mut session = world.session();
    // Of a connection of the program's: the session's own number is none of those.
    check(
        &mut session,
        "SELECT CONNECTION_ID(), ps_thread_id(2), sys.ps_thread_id(1), ps_thread_id(NULL), ps_thread_id('2')",
        "1073741825,2,,,2",
    );
    check(&mut session, "SELECT ps_current_thread_id(), sys.ps_thread_id(-1), ps_thread_id(7)", ",,");
    check(&mut session, "SELECT THREAD_ID, sys.ps_thread_account(THREAD_ID) FROM threads", "1,UNKNOWN\n2,ann@db1");
    check(&mut session, "SELECT sys.ps_thread_account(7), sys.ps_thread_account(NULL)", ",");
}

/// A consumer is enabled if all above it are.
#[test]
fn consumers() {
    let mut session = World::new().session();
    let select = "SELECT GROUP_CONCAT(NAME ORDER BY NAME) FROM setup_consumers WHERE sys.ps_is_consumer_enabled(NAME) <> ENABLED";
    check(&mut session, select, "\"\"");
    for (off, others) in
        [("events_stages_current", "events_stages_history,events_stages_history_long"), ("global_instrumentation", "ALL")]
    {
        run(&mut session, &format!("UPDATE setup_consumers SET ENABLED = 'NO' WHERE NAME = '{off}'"));
        let found = run(&mut session, select);
        let found = found.lines().nth(1).unwrap_or_default().trim_matches('"');
        assert!(if others == "ALL" { found.split(',').count() > 10 } else { found == others }, "{off}: {found}");
    }
    check(&mut session, "SELECT sys.ps_is_consumer_enabled('Global_Instrumentation')", "NO");
    for unknown in ["'nothing'", "NULL", "''"] {
        let wrong = "ERROR 3047 (HY000): Invalid argument error: in_consumer in function sys.ps_is_consumer_enabled.";
        check(&mut session, &format!("SELECT sys.ps_is_consumer_enabled({unknown})"), wrong);
    }
}

#[test]
fn names_lists_and_versions() {
    let mut session = World::new().session();
    for (expression, expected) in [
        ("sys.quote_identifier('a`b')", "`a``b`"),
        ("sys.quote_identifier(NULL) IS NULL", "1"),
        ("sys.list_add('A,B', 'C')", "\"A,B,C\""),
        ("sys.list_add(' ,A,B, ', 'C')", "\"A,B,C\""),
        ("sys.list_add('', 'C')", "C"),
        ("sys.list_add(NULL, 'C')", "C"),
        ("sys.list_drop('A,B,C', 'B')", "\"A,C\""),
        ("sys.list_drop('A, B, C', 'A')", "\" B, C\""),
        ("sys.list_drop('AB,A', 'A')", "AB"),
        ("sys.list_drop('A', 'A') = ''", "1"),
        ("sys.list_drop(NULL, 'A') IS NULL", "1"),
        ("sys.list_drop(sys.list_add('A', 'B'), 'b')", "\"A,B\""),
        ("sys.list_add('A', NULL)", "ERROR 1138 (02200): Function sys.list_add: in_add_value input variable should not be NULL"),
        (
            "sys.list_drop('A', NULL)",
            "ERROR 1138 (02200): Function sys.list_drop: in_drop_value input variable should not be NULL",
        ),
        ("VERSION() LIKE CONCAT(sys.version_major(), '.', sys.version_minor(), '.', sys.version_patch(), '%')", "1"),
        ("sys.version_major()", "8"),
        ("sys.list_add('A')", "ERROR 1582 (42000): Incorrect parameter count in the call to native function 'list_add'"),
    ] {
        check(&mut session, &format!("SELECT {expression}"), expected);
    }
}
