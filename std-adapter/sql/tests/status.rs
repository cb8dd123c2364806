//! Who is connected, and what was asked for: SHOW PROCESSLIST, SHOW STATUS, and what is a session's alone.

mod common;

use common::{CONFIG, World, check, run, words};
use perfschema::Now;
use perfschema::core::timer::{MockClock, TimerName};
use perfschema::core::{Identity, Region};
use perfschema::render::OwnedValue;
use perfschema_sql::{Account, Clients, Database, Encryption};
use std::sync::Arc;

#[test]
fn who_is_connected() {
    let world = World::new();
    let database = Database::new(world.region);
    let mut alone = database.session(Account::default()).expect("there is memory");
    check(
        &mut alone,
        "SELECT id, user, host, db, command FROM information_schema.processlist",
        "1073741825,root,localhost,,Query",
    );
    let database = database.clients(Arc::new(Two));
    let mut session = database.session(Account::default()).expect("there is memory");
    check(&mut session, "SHOW FULL PROCESSLIST", &format!("7,root,,,,,,{}", "x".repeat(101)));
    check(&mut session, "SHOW PROCESSLIST", &format!("7,root,,,,,,{}", "x".repeat(100)));
    check(&mut session, "SELECT @@have_ssl", "DISABLED");
    let (cipher, version) = ("c".to_owned(), "TLSv1.3".to_owned());
    session.set_encryption(Encryption { is_offered: true, cipher, version });
    check(&mut session, "SELECT @@have_ssl", "YES");
    check(&mut session, "SHOW STATUS LIKE 'Ssl%'", "Ssl_cipher,c\nSsl_version,TLSv1.3");
    check(&mut session, "SHOW GLOBAL STATUS LIKE 'Ssl%'", "Ssl_cipher,\"\"\nSsl_version,\"\"");
    for show in ["SHOW STATUS", "SHOW GLOBAL STATUS"] {
        check(&mut session, &format!("{show} LIKE 'Threads\\_%ed'"), "Threads_connected,2\nThreads_created,0");
    }
    check(&mut session, "SELECT @@port, @@global.socket", "3307,/tmp/socket");
    check(&mut session, "SHOW VARIABLES LIKE 'socket'", "socket,/tmp/socket");
}

/// A server that has two clients.
struct Two;

impl Clients for Two {
    fn processlist(&self, to: &Account) -> Vec<Vec<OwnedValue>> {
        let mut row = vec![7_u64.into(), to.user.as_str().into()];
        row.resize(7, OwnedValue::Null);
        row.push("x".repeat(101).into());
        vec![row]
    }

    fn status(&self) -> Vec<(&'static str, u64)> {
        vec![("Threads_connected", 2)]
    }

    fn places(&self) -> (u16, String) {
        (3307, "/tmp/socket".to_owned())
    }

    fn flush_status(&self) {}
}

/// What sessions have asked for: each its own, and all together.
#[test]
fn what_was_asked_for() {
    let world = World::new();
    let database = Database::new(world.region);
    let [mut one, mut other] = [(); 2].map(|()| database.session(Account::default()).expect("there is memory"));
    let com = |name: &str| format!("SHOW STATUS WHERE Variable_name = 'Com_{name}'");
    for statement in ["SELECT 1", "(SELECT 2) UNION SELECT 3", "SET @a = 1", "SELECT x FROM nowhere", "SELECT FROM"] {
        let _ = other.execute(statement);
    }
    check(&mut one, &com("select"), "Com_select,0");
    check(&mut other, &com("select"), "Com_select,4");
    check(&mut one, "SHOW GLOBAL STATUS LIKE 'Com_select'", "Com_select,4");
    check(&mut one, "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Com_select'", "5");
    check(&mut one, "SELECT VARIABLE_VALUE FROM performance_schema.session_status WHERE VARIABLE_NAME = 'Com_select'", "2");
    check(&mut one, "SELECT Variable_value FROM sys.metrics WHERE Variable_name = 'Com_set_option'", "1");
    // This one and those before; what was wrong was a question, too.
    check(&mut one, "SHOW STATUS LIKE 'Que%'", "Queries,6\nQuestions,6");
    check(&mut other, "SHOW STATUS LIKE 'Que%'", "Queries,7\nQuestions,7");
    check(&mut one, "SHOW GLOBAL STATUS LIKE 'Questions'", "Questions,14");
    // Prepared by name, they count as what they are, too.
    for statement in ["PREPARE p FROM 'SELECT 1'", "EXECUTE p", "EXECUTE p", "DEALLOCATE PREPARE p"] {
        assert!(one.execute(statement).is_ok(), "{statement}");
    }
    let names = "'Com_select', 'Com_prepare_sql', 'Com_execute_sql', 'Com_dealloc_sql', 'Com_stmt_prepare', 'Com_stmt_execute'";
    check(
        &mut one,
        &format!("SHOW STATUS WHERE Variable_name IN ({names}, 'Com_stmt_close')"),
        "Com_dealloc_sql,1\nCom_execute_sql,2\nCom_prepare_sql,1\nCom_select,5\nCom_stmt_close,1\nCom_stmt_execute,2\n\
         Com_stmt_prepare,1",
    );
    // What takes longer than nothing.
    check(&mut one, "SHOW STATUS LIKE 'Slow%'", "Slow_queries,0");
    check(&mut one, "SET long_query_time = 0", "0 changed");
    check(&mut one, "SET max_execution_time = 1", "0 changed");
    let _ = one.execute("SELECT SLEEP(1)");
    check(&mut one, "SET max_execution_time = 0", "0 changed");
    check(&mut one, "SHOW STATUS LIKE 'Max_execution_time_exceeded'", "Max_execution_time_exceeded,1");
    check(&mut one, "SHOW STATUS LIKE 'Slow%'", "Slow_queries,5");
    check(&mut other, "SHOW STATUS LIKE 'Slow%'", "Slow_queries,0");
    check(&mut one, "FLUSH TABLES", "0 changed");
    check(&mut one, &com("execute_sql"), "Com_execute_sql,2");
    // A session begins again; what all have done stays.
    check(&mut one, "FLUSH STATUS", "0 changed");
    check(&mut one, &com("select"), "Com_select,0");
    check(&mut one, "SHOW GLOBAL STATUS LIKE 'Com_select'", "Com_select,10");
    // Of what is the session's alone there is nothing for all.
    check(&mut one, "SHOW GLOBAL VARIABLES LIKE 'pseudo_thread_id'", "");
    assert!(run(&mut one, "SHOW VARIABLES LIKE 'pseudo_thread_id'").contains("pseudo_thread_id,1073741825"));
    check(&mut one, "SELECT @@global.pseudo_thread_id", "ERROR 1238 (HY000): Variable 'pseudo_thread_id' is a SESSION variable");
    check(
        &mut one,
        "SET GLOBAL timestamp = 1",
        "ERROR 1228 (HY000): Variable 'timestamp' is a SESSION variable and can't be used with SET GLOBAL",
    );
    check(&mut one, "SELECT VARIABLE_VALUE FROM performance_schema.global_variables WHERE VARIABLE_NAME = 'sql_notes'", "ON");
}

/// A forked child's timers have its parent's epoch, which may be months ago; it runs since it was forked.
#[test]
fn a_child_is_up_since_it_was_forked() {
    const S: u64 = 1_000_000_000;
    let clock = MockClock::new();
    clock.set(TimerName::Nanosecond, 50 * S);
    let timers = clock.timers();
    for (start_monotonic_ns, expected) in [(0, 8_640_005), (50 * S + 7, 8_640_004), (8_640_050 * S, 5)] {
        let identity = Identity { start_monotonic_ns, ..Identity::default() };
        let region = Region::create(words(CONFIG.words()), &CONFIG, &identity, &timers).expect("it fits");
        let region: &'static Region<'static> = Box::leak(Box::new(region.as_of(Now::At(8_640_055 * S))));
        let mut session = Database::new(region).session(Account::default()).expect("there is memory");
        check(&mut session, "SHOW GLOBAL STATUS LIKE 'Uptime'", &format!("Uptime,{expected}"));
    }
}
