//! Which whole numbers a client is told are BIGINT UNSIGNED: typed clients read nothing else into a `u64`.

mod common;

use common::{World, check};
use perfschema_sql::{Outcome, Session};

/// The types of the columns as they are described before the statement runs, and as the result has them.
fn types(session: &mut Session, statement: &str) -> [String; 2] {
    let described = session.describe(statement).expect("it is valid").columns;
    let Ok(Outcome::Rows(grid)) = session.execute(statement) else { panic!("{statement} has no rows") };
    [described, grid.columns].map(|heads| {
        let types: Vec<String> = heads.iter().map(|head| head.sql_type.to_string()).collect();
        types.join(", ")
    })
}

#[test]
fn whole_numbers_have_the_signs_that_mysql_gives_them_with_rows_and_without() {
    let world = World::new();
    let _threads = [world.actor("one"), world.actor("two")];
    let mut session = world.session();
    check(&mut session, "SELECT COUNT(*) FROM threads", "2");
    for (expressions, is_unsigned) in [
        ("MAX(thread_id), MIN(thread_id), ANY_VALUE(thread_id), MAX(thread_id + 1)", true),
        ("thread_id + 1, 1 + thread_id, thread_id - 0, thread_id * 2, thread_id DIV 2, thread_id % 2, 0 + thread_id DIV 1", true),
        ("thread_id & 1, 1 | 2, 3 ^ 1, 1 << 2, 8 >> 1, ~0, BIT_OR(thread_id), CAST(-1 AS UNSIGNED)", true),
        ("ABS(thread_id), ROUND(thread_id), TRUNCATE(thread_id, 0), CEILING(thread_id), FLOOR(thread_id)", true),
        ("IFNULL(thread_id, thread_id), COALESCE(thread_id), IF(1, thread_id, NULL), NULLIF(thread_id, 0)", true),
        ("GREATEST(thread_id, thread_id), CASE 1 WHEN 1 THEN thread_id ELSE thread_id END, +thread_id", true),
        ("(SELECT MAX(thread_id) FROM threads), MAX(x.thread_id) OVER ()", true),
        ("CONNECTION_ID(), CRC32(name), INET_ATON('1.2.3.4'), MAX(CRC32(name)), CONNECTION_ID() + 1", true),
        ("COUNT(*), 5, -5, thread_id = 1, LENGTH(name), -thread_id, MOD(5, thread_id), CAST(thread_id AS SIGNED)", false),
        ("IFNULL(thread_id, 0), COALESCE(thread_id, -1), IF(1, thread_id, 0), CASE 1 WHEN 1 THEN thread_id ELSE 0 END", false),
        ("IF(1, thread_id, NULL) + 0 - 1000 < 0, LEAST(thread_id, 3), SIGN(thread_id), INTERVAL(thread_id, 1)", false),
    ] {
        let expected = if is_unsigned { "bigint unsigned" } else { "bigint" };
        for rest in ["", " WHERE 1 = 0"] {
            let statement = format!("SELECT {expressions} FROM threads AS x{rest}");
            let [described, found] = types(&mut session, &statement);
            for types in [described, found] {
                assert!(types.split(", ").all(|one| one == expected), "{statement}: {types}");
            }
        }
    }
    // By the names of what is derived: all that a name means has to be so.
    for (statement, expected) in [
        ("SELECT m, c FROM (SELECT MAX(thread_id) AS m, COUNT(*) AS c FROM threads) AS t", "bigint unsigned, bigint"),
        ("SELECT MAX(m), MAX(c) FROM (SELECT thread_id AS m, 1 AS c FROM threads WHERE 1 = 0) AS t", "bigint unsigned, bigint"),
        ("WITH t(m) AS (SELECT MAX(thread_id) FROM threads) SELECT m, m + 1 FROM t", "bigint unsigned, bigint unsigned"),
        ("SELECT a, b FROM (SELECT CONNECTION_ID() AS a, CRC32('x') AS b) AS t", "bigint unsigned, bigint unsigned"),
        ("SELECT MAX(thread_id) AS m FROM threads UNION SELECT 1", "bigint"),
        ("SELECT MAX(thread_id) AS m FROM threads UNION SELECT MIN(thread_id) FROM threads", "bigint unsigned"),
        ("SELECT MAX(thread_id) AS m FROM threads UNION SELECT NULL", "bigint unsigned"),
        ("SELECT MAX(m) FROM (SELECT thread_id AS m FROM threads UNION SELECT -1) AS t", "bigint"),
    ] {
        assert_eq!(types(&mut session, statement), [expected, expected], "{statement}");
    }
    // MySQL refuses what is below zero then; here it is shown.
    let [described, found] = types(&mut session, "SELECT MIN(thread_id) - 1 - MAX(thread_id) FROM threads");
    assert_eq!([described.as_str(), found.as_str()], ["bigint unsigned", "bigint"]);
    check(&mut session, "SELECT MIN(thread_id) - 1 - MAX(thread_id) < 0 FROM threads", "1");
}

/// SQLite tells the first member's columns only.
#[test]
fn a_union_has_the_types_of_all_its_members() {
    let world = World::new();
    let _thread = world.actor("one");
    let mut session = world.session();
    check(&mut session, "SELECT COUNT(*) FROM threads", "1");
    for (members, described, found) in [
        ("thread_id FROM threads UNION ALL SELECT thread_id FROM threads", "bigint unsigned", "bigint unsigned"),
        ("thread_id FROM threads UNION ALL SELECT -5", "bigint", "bigint"),
        ("-5 UNION ALL SELECT thread_id FROM threads", "bigint", "bigint"),
        ("18446744073709551615 UNION ALL SELECT -1", "bigint", "decimal(20,0)"),
        ("IF(thread_id = 1, -1, ~thread_id) FROM threads UNION ALL SELECT ~0", "bigint", "decimal(20,0)"),
        ("thread_id FROM threads UNION ALL SELECT 2.5", "varchar(0)", "decimal(2,1)"),
        ("thread_id FROM threads UNION ALL SELECT 1e3", "varchar(0)", "double"),
        ("thread_id FROM threads UNION ALL SELECT 'abc'", "varchar(20)", "varchar(20)"),
        ("thread_id FROM threads UNION ALL SELECT event_name FROM events_waits_history", "varchar(128)", "varchar(128)"),
        ("thread_id FROM threads UNION ALL SELECT timer_name FROM setup_timers", "varchar(20)", "varchar(20)"),
        ("name FROM setup_timers UNION ALL SELECT thread_id FROM threads", "varchar(64)", "varchar(64)"),
        ("1 UNION ALL SELECT 'abc'", "varchar(20)", "varchar(20)"),
        ("'abc' UNION ALL SELECT NULL UNION ALL SELECT 'ab'", "varchar(3)", "varchar(3)"),
        ("'a' UNION ALL SELECT 2.25", "varchar(5)", "varchar(5)"),
        ("'a' UNION ALL SELECT CONCAT(name, '') FROM setup_timers", "varchar(0)", "varchar(11)"),
        ("name FROM threads UNION ALL SELECT REPEAT('z', 300)", "varchar(128)", "varchar(300)"),
        ("name FROM threads UNION SELECT name FROM setup_timers", "varchar(128)", "varchar(128)"),
    ] {
        let types = types(&mut session, &format!("SELECT {members}"));
        assert_eq!(types, [described, found], "{members}");
        assert!(session.origins().iter().all(Option::is_none), "{members}");
    }
    for (members, nullable) in [
        ("thread_id FROM threads UNION ALL SELECT processlist_id FROM threads", true),
        ("thread_id FROM threads UNION ALL SELECT 1", false),
    ] {
        let described = session.describe(&format!("SELECT {members}")).expect("it is valid").columns;
        assert_eq!(described[0].nullable, nullable, "{members}");
    }
}
