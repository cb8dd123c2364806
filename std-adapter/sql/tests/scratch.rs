//! What tables of schema `test` may take of SQLite's memory, which counts for the whole process: so this test is a process of its own.

mod common;

use common::{World, run};
use perfschema_sql::{Account, Database, Limits};

#[test]
fn tables_leave_room_for_sessions() {
    let limits = Limits { engine_bytes: 64 << 20, ..Limits::default() };
    let database = Database::new(World::new().region).limits(limits);
    let session = || database.session(Account::default()).expect("there is memory");
    // All together have half of it.
    let mut sessions = [session(), session(), session()];
    let mut taken = 0;
    for (index, session) in sessions.iter_mut().enumerate() {
        let create = format!("CREATE TABLE test.t{index} AS SELECT REPEAT('a', 1000000) AS a");
        let insert = format!("INSERT INTO test.t{index} SELECT * FROM test.t{index} LIMIT 1");
        let mut last = session.execute(&create);
        while last.is_ok() {
            taken += 1;
            last = session.execute(&insert);
        }
        assert_eq!(last.map_err(|error| error.errno).err(), Some(1114));
    }
    assert!((25..=33).contains(&taken), "{taken}");
    // Nobody is kept out, and who is in goes on.
    let mut others: Vec<_> = (0..8).map(|_| session()).collect();
    for session in sessions.iter_mut().chain(&mut others) {
        assert_eq!(run(session, "SELECT COUNT(*) FROM performance_schema.setup_consumers").lines().count(), 2);
    }
    // What is dropped, and what a session had that ends, is there for others.
    let [first, second, third] = &mut sessions;
    let made = "Records: 1  Duplicates: 0  Warnings: 0";
    assert_eq!(run(first, "DROP TABLE test.t0"), "0 changed");
    assert_eq!(run(third, "CREATE TABLE test.t3 AS SELECT REPEAT('a', 1000000) AS a"), made);
    assert!(
        second.execute("CREATE TABLE test.big AS SELECT REPEAT('a', 1000000) AS a UNION ALL SELECT REPEAT('b', 1000000)").is_ok()
    );
}
