//! Several sessions at once, each with its own state; and stopping one from outside.

mod common;

use common::{World, check, run};
use perfschema_sql::{Account, Database, Outcome, Program};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whatever it is: who serves several kinds need not have a database for each.
#[test]
fn a_program_behind_a_pointer() {
    let program: Arc<dyn Program> = Arc::new(World::new().region);
    let mut session = Database::new(program).session(Account::default()).expect("there is memory");
    check(&mut session, "SELECT COUNT(*) > 0 FROM performance_schema.setup_consumers", "1");
}

#[test]
fn each_has_its_own_state() {
    let database = Database::new(World::new().region);
    let mut one = database.session(Account::default()).expect("there is memory");
    let mut two = database.session(Account::default()).expect("there is memory");
    assert_eq!((one.connection_id(), two.connection_id()), ((1 << 30) + 1, (1 << 30) + 2));
    check(&mut one, "USE performance_schema", "0 changed");
    check(&mut two, "USE sys", "0 changed");
    check(&mut one, "SET sql_mode = 'ANSI', @x = 1", "0 changed");
    check(&mut one, "CREATE TABLE test.t AS SELECT 1 AS a", "Records: 1  Duplicates: 0  Warnings: 0");
    check(&mut two, "CREATE TABLE test.t AS SELECT 2 AS b", "Records: 1  Duplicates: 0  Warnings: 0");
    check(&mut two, "SELECT * FROM nothing", "ERROR 1146 (42S02): Table 'sys.nothing' doesn't exist");
    check(
        &mut one,
        "SELECT DATABASE(), @@sql_mode, @x, a FROM test.t",
        "performance_schema,\"REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,ANSI\",1,1",
    );
    check(&mut two, "SHOW WARNINGS", "Error,1146,Table 'sys.nothing' doesn't exist");
    check(
        &mut two,
        "SELECT DATABASE(), @@sql_mode, @x IS NULL, b FROM test.t",
        "sys,\"STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION\",1,2",
    );
    assert!(one.warnings().is_empty());
    // What they read is one and the same.
    check(&mut one, "UPDATE setup_instruments SET enabled = 'NO'", "Rows matched: 11  Changed: 11  Warnings: 0");
    check(&mut two, "SELECT COUNT(*) FROM performance_schema.setup_instruments WHERE enabled = 'YES'", "0");
}

#[test]
fn many_at_once() {
    let world = World::new();
    let database = Database::new(world.region);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let actor = world.actor("thread/test/writer");
            while !stop.load(Ordering::Relaxed) {
                world.wait(&actor, 0, 7, 5);
            }
        });
        let readers: Vec<_> = (0..4)
            .map(|reader| {
                let database = database.clone();
                scope.spawn(move || {
                    let mut session = database.session(Account::default()).expect("there is memory");
                    session.use_schema("performance_schema").expect("it is there");
                    for round in 0..50 {
                        // A row is whole: what began and what it took make when it ended.
                        check(
                            &mut session,
                            "SELECT COUNT(*) FROM events_waits_history_long WHERE timer_start + timer_wait <> timer_end OR object_instance_begin <> 7",
                            "0",
                        );
                        // Both sides of a join see the same rows.
                        check(
                            &mut session,
                            "SELECT COUNT(*) FROM events_waits_history_long a LEFT JOIN events_waits_history_long b USING (thread_id, event_id) \
                             WHERE b.event_id IS NULL",
                            "0",
                        );
                        let on = if (reader + round) % 2 == 0 { "YES" } else { "NO" };
                        let update = format!("UPDATE setup_instruments SET timed = '{on}' WHERE name LIKE '%/cond/%'");
                        assert!(matches!(session.execute(&update), Ok(Outcome::Done { matched: 3, .. })));
                    }
                })
            })
            .collect();
        // The writer is stopped whatever they say.
        let results: Vec<_> = readers.into_iter().map(|reader| reader.join()).collect();
        stop.store(true, Ordering::Relaxed);
        writer.join().expect("the writer goes on");
        results.into_iter().for_each(|result| result.expect("no reader fails"));
    });
}

#[test]
fn cancelled_from_another_thread() {
    let world = World::new();
    let mut session = world.session();
    let canceller = session.canceller();
    let endless = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";
    check(&mut session, "SET cte_max_recursion_depth = 4294967295", "0 changed");
    // Before a statement it does nothing, unless that was announced.
    canceller.cancel();
    check(&mut session, "SELECT 1", "1");
    canceller.announce();
    canceller.cancel();
    check(&mut session, endless, "ERROR 1317 (70100): Query execution was interrupted");
    // Also what takes no time, and so looks nowhere whether it is to stop.
    let truncate = "TRUNCATE performance_schema.events_waits_history";
    for statement in [truncate, "SHOW WARNINGS", "USE sys", "BEGIN", "PREPARE one FROM 'SELECT 1'", "KILL QUERY 4711"] {
        canceller.announce();
        canceller.cancel();
        check(&mut session, statement, "ERROR 1317 (70100): Query execution was interrupted");
    }
    canceller.announce();
    canceller.cancel();
    canceller.revoke();
    check(&mut session, "SELECT 1", "1");
    std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&mut session, endless));
        // It may not have begun yet.
        while !running.is_finished() {
            canceller.cancel();
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(running.join().expect("no panic"), "ERROR 1317 (70100): Query execution was interrupted");
    });
    check(&mut session, "SELECT 1", "1");
}
