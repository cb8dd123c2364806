//! What SQLite itself may take. It counts for the whole process, so this test is a process of its own.

mod common;

use common::{World, run};
use perfschema_sql::{Account, Database, Limits};

#[test]
fn sorting_takes_bounded_memory() {
    let limits = Limits { engine_bytes: 24 << 20, ..Limits::default() };
    let mut session = Database::new(World::new().region).limits(limits).session(Account::default()).expect("there is memory");
    assert_eq!(run(&mut session, "SET cte_max_recursion_depth = 300000"), "0 changed");
    let many = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n LIMIT 300000)";
    for rest in [
        "SELECT COUNT(*), MAX(x) FROM (SELECT CONCAT(i, REPEAT('a', 500)) AS x FROM n ORDER BY x LIMIT 299999) q",
        "SELECT COUNT(DISTINCT CONCAT(i, REPEAT('a', 500))) FROM n",
        "SELECT GROUP_CONCAT(x) FROM (SELECT CONCAT(i, REPEAT('a', 500)) AS x, COUNT(*) FROM n GROUP BY x) q",
    ] {
        let error = session.execute(&format!("{many} {rest}")).map(|_| ()).expect_err(rest);
        assert!([1041, 1153].contains(&error.errno), "{rest}: {error}");
        assert_eq!(run(&mut session, "SELECT 1"), "1\n1\n");
    }
    // What fits goes on.
    assert_eq!(run(&mut session, &format!("{many} SELECT COUNT(*) FROM n")).lines().last(), Some("300000"));
    let tables: Vec<String> = (0..60).map(|index| format!("performance_schema.threads t{index}")).collect();
    assert_eq!(run(&mut session, &format!("SELECT COUNT(*) FROM {}", tables.join(", "))).lines().last(), Some("0"));
    let tables: Vec<String> = (0..90).map(|index| format!("performance_schema.threads t{index}")).collect();
    let error = run(&mut session, &format!("SELECT COUNT(*) FROM {}", tables.join(", ")));
    assert_eq!(error, "ERROR 1116 (HY000): Too many tables; MySQL can only use 61 tables in a join");
}
