//! What tables of schema `test` may take of SQLite's memory, which counts for the whole process: so this test is a process of its own.

mod common;

use common::{World, run};
use perfschema_sql::{Account, Database, Limits, Right};

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
    // What is dropped is there for others.
    let [first, second, third] = &mut sessions;
    let made = "Records: 1  Duplicates: 0  Warnings: 0";
    assert_eq!(run(first, "DROP TABLE test.t0"), "0 changed");
    assert_eq!(run(third, "CREATE TABLE test.t3 AS SELECT REPEAT('a', 1000000) AS a"), made);
    // So is what is emptied, and what a session had that ends.
    assert_eq!(run(second, "TRUNCATE TABLE test.t1"), "0 changed");
    assert_eq!(run(third, &fill("t4", 14)), "Records: 14  Duplicates: 0  Warnings: 0");
    assert_eq!(run(first, &fill("t0", 14)), "Records: 14  Duplicates: 0  Warnings: 0");
    assert_eq!(run(second, &fill("t5", 9)), "ERROR 1114 (HY000): The table is full");
    drop(sessions);
    let [mut one, mut other] = [(); 2].map(|()| session());
    // A session has half of what all have, be it by one statement.
    assert_eq!(run(&mut one, &fill("a", 7)), "Records: 7  Duplicates: 0  Warnings: 0");
    assert_eq!(run(&mut one, "INSERT INTO test.a SELECT * FROM test.a"), "7 changed");
    assert_eq!(run(&mut one, "INSERT INTO test.a SELECT * FROM test.a"), "ERROR 1114 (HY000): The table is full");
    assert_eq!(run(&mut one, "SELECT COUNT(*) FROM test.a"), "COUNT(*)\n14\n");
    assert_eq!(run(&mut other, &fill("b", 7)), "Records: 7  Duplicates: 0  Warnings: 0");
    assert_eq!(run(&mut other, "CREATE TABLE test.c AS SELECT 0 AS n, '' AS a"), made);
    run(&mut other, "SET @n = 0");
    assert_eq!(run(&mut other, "INSERT INTO test.c SELECT @n := @n + 1, a FROM test.b"), "7 changed");
    assert_eq!(run(&mut other, "SELECT @n, MAX(n) FROM test.c"), "@n,MAX(n)\n7,7\n");
    drop((one, other));
    // Who may only read leaves some of it to the others.
    let reader = Account { right: Right::Read, ..Account::default() };
    let mut readers = [(); 3].map(|()| database.session(reader.clone()).expect("there is memory"));
    for reader in &mut readers {
        let mut last = reader.execute(&fill("t", 1));
        while last.is_ok() {
            last = reader.execute("INSERT INTO test.t SELECT * FROM test.t LIMIT 1");
        }
        assert_eq!(last.map_err(|error| error.errno).err(), Some(1114));
    }
    assert_eq!(run(&mut session(), &fill("t", 3)), "Records: 3  Duplicates: 0  Warnings: 0");
}

/// So many rows of a megabyte each.
fn fill(table: &str, rows: usize) -> String {
    format!(
        "CREATE TABLE test.{table} AS WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n LIMIT {rows}) \
         SELECT REPEAT('a', 1000000) AS a FROM n"
    )
}
