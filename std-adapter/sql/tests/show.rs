//! SHOW and DESCRIBE: what they list, in which order, and how they are refused.

mod common;

use common::{Mortal, World, check, run, session};
use perfschema::core::timer::{Clock, TimerName};
use perfschema::core::{Held, Operation, WaitStart};
use perfschema::render::OwnedValue;
use perfschema_sql::{Account, Database, Outcome, Right};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const KEY_OF_ACTORS: &str =
    "setup_actors,0,PRIMARY,1,HOST,,,,,\"\",HASH,\"\",\"\",YES,\nsetup_actors,0,PRIMARY,2,USER,,,,,\"\",HASH,\"\",\"\",YES,";

#[test]
fn show_and_describe() {
    let mut session = session();
    // Columns of subqueries among them.
    check(&mut session, "SELECT table_name, column_name FROM information_schema.columns WHERE column_type = 'varchar(0)'", "");
    let types = "SELECT column_name, column_type, is_nullable FROM information_schema.columns WHERE table_name = 'session' AND column_name IN \
                 ('thd_id', 'progress', 'rows_examined', 'trx_latency', 'trx_autocommit') ORDER BY column_name";
    let expected = "progress,\"decimal(26,2)\",YES\nrows_examined,bigint unsigned,YES\nthd_id,bigint unsigned,YES\ntrx_autocommit,\"enum('YES','NO')\",YES\n\
                    trx_latency,longtext,YES";
    check(&mut session, types, expected);
    for (statement, expected) in [
        ("SHOW DATABASES", "information_schema\nmysql\nperformance_schema\nsys\ntest"),
        ("SHOW SCHEMAS LIKE 'PERF%'", "performance_schema"),
        ("SHOW TABLES LIKE 'setup\\_t%'", "setup_timers"),
        ("SHOW FULL TABLES FROM sys LIKE 'lock_waits'", "lock_waits,VIEW"),
        ("SHOW TABLES WHERE Tables_in_performance_schema = 'threads'", "threads"),
        ("SHOW COLUMNS FROM setup_timers LIKE 'NAME'", "NAME,varchar(64),NO,PRI,,\"\""),
        ("SHOW FIELDS IN setup_timers FROM performance_schema WHERE Field = 'name'", "NAME,varchar(64),NO,PRI,,\"\""),
        (
            "SHOW COLUMNS FROM setup_actors WHERE Field LIKE 'H%'",
            "HOST,char(255),NO,PRI,%,\"\"\nHISTORY,\"enum('YES','NO')\",NO,\"\",YES,\"\"",
        ),
        ("SELECT DISTINCT column_default FROM information_schema.columns WHERE column_default IS NOT NULL", "%\nYES"),
        // In the order of the table, not of the names.
        (
            "SHOW COLUMNS FROM threads WHERE Field LIKE 'PROCESSLIST\\_%T' OR Field = 'TYPE'",
            "TYPE,varchar(10),NO,\"\",,\"\"\nPROCESSLIST_HOST,varchar(255),YES,\"\",,\"\"",
        ),
        ("SHOW KEYS FROM setup_actors WHERE Non_unique = 0 AND Seq_in_index < 3", KEY_OF_ACTORS),
        ("DESCRIBE setup_timers name", "NAME,varchar(64),NO,PRI,,\"\""),
        ("DESC performance_schema.setup_timers 'nam%'", "NAME,varchar(64),NO,PRI,,\"\""),
        ("SHOW VARIABLES LIKE 'version_compile_os'", "version_compile_os,linux"),
        ("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('autocommit', 'license')", "autocommit,ON\nlicense,MIT OR Apache-2.0"),
        ("SHOW GLOBAL STATUS LIKE 'Performance_schema_mutex_classes_lost'", "Performance_schema_mutex_classes_lost,0"),
        ("SHOW WARNINGS", "Level,Code,Message"),
        (
            "SHOW ENGINES",
            "InnoDB,DISABLED,\"Supports transactions, row-level locking, and foreign keys\",,,\n\
             MEMORY,YES,\"Hash based, stored in memory, useful for temporary tables\",NO,NO,NO\n\
             PERFORMANCE_SCHEMA,DEFAULT,Performance Schema,NO,NO,NO",
        ),
        ("SHOW ENGINE INNODB STATUS", "InnoDB,\"\",DISABLED"),
        ("SHOW ENGINE innodb MUTEX", "InnoDB,\"\",DISABLED"),
        ("SHOW TABLES FROM mysql", "Tables_in_mysql"),
        ("SHOW CHARACTER SET", "utf8mb4,UTF-8 Unicode,utf8mb4_0900_ai_ci,4"),
        (
            "SHOW GRANTS",
            "\"GRANT RELOAD, PROCESS, CONNECTION_ADMIN ON *.* TO `root`@`localhost`\"\n\
             \"GRANT SELECT, INSERT, UPDATE, DELETE, DROP ON `performance_schema`.* TO `root`@`localhost`\"",
        ),
    ] {
        let found = run(&mut session, statement);
        let rows = found.split_once('\n').map_or("", |(_, rows)| rows).trim_end();
        let shown = if rows.is_empty() { found.trim_end() } else { rows };
        assert_eq!(shown, expected, "{statement}");
    }
    // The order in which they are listed, whatever is asked for.
    for what in [
        "DATABASES",
        "TABLES",
        "TABLE STATUS",
        "COLUMNS FROM threads",
        "KEYS FROM setup_actors",
        "VARIABLES",
        "STATUS",
        "PLUGINS",
        "COLLATION",
        "PROCEDURE STATUS",
    ] {
        let mut names = |show: &str| -> Vec<String> {
            // Without what STATUS counts.
            run(&mut session, show)
                .lines()
                .map(|line| line.trim_end_matches(|last: char| last.is_ascii_digit()).to_owned())
                .collect()
        };
        assert_eq!(names(&format!("SHOW {what}")), names(&format!("SHOW {what} WHERE 1")), "{what}");
    }
    let statement = "SHOW CREATE TABLE setup_timers";
    let Ok(Outcome::Rows(grid)) = session.execute(statement) else { panic!("{statement}") };
    let expected = "CREATE TABLE `setup_timers` (\n  \
                    `NAME` varchar(64) NOT NULL COMMENT 'The class of events: the first part of instrument names.',\n  \
                    `TIMER_NAME` enum('CYCLE','NANOSECOND','MICROSECOND','MILLISECOND','TICK') NOT NULL COMMENT 'The timer, a row of \
                    `performance_timers`.',\n  \
                    PRIMARY KEY (`NAME`)\n\
                    ) ENGINE=PERFORMANCE_SCHEMA DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci COMMENT='The timer that each class of \
                    events is timed with.'";
    assert_eq!(grid.rows, [["setup_timers".into(), OwnedValue::from(expected)]]);
    assert!(run(&mut session, "SHOW CREATE VIEW sys.lock_waits").contains("CREATE VIEW `sys`.`lock_waits` AS SELECT"));
    let status = run(&mut session, "SHOW ENGINE PERFORMANCE_SCHEMA STATUS");
    assert!(
        status.contains(&format!("performance_schema,performance_schema.memory,{}\n", common::CONFIG.size_bytes())),
        "{status}"
    );
}

#[test]
fn tables_of_test_are_shown() {
    let mut session = session();
    run(&mut session, "CREATE TABLE test.x AS SELECT 1 AS a, 'q' AS b");
    let tables = "SELECT TABLE_NAME, TABLE_TYPE, ENGINE, VERSION FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'test'";
    check(&mut session, tables, "x,BASE TABLE,MEMORY,10");
    let created = "x,\"CREATE TABLE `x` (\n  `a` bigint NOT NULL,\n  `b` varchar(1) NOT NULL\n) \
                   ENGINE=MEMORY DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci\"";
    check(&mut session, "SHOW CREATE TABLE test.x", created);
}

#[test]
fn what_one_may_and_how_texts_compare() {
    let world = World::new();
    for (right, expected) in [(Right::Read, "SELECT"), (Right::Control, "SELECT\nINSERT\nUPDATE\nDELETE\nDROP")] {
        let account = Account { right, ..Account::default() };
        let mut session = Database::new(world.region).session(account).expect("there is memory");
        check(&mut session, "SELECT PRIVILEGE_TYPE FROM information_schema.SCHEMA_PRIVILEGES", expected);
    }
    let collations = "SELECT * FROM information_schema.COLLATION_CHARACTER_SET_APPLICABILITY";
    check(&mut world.session(), collations, "utf8mb4_0900_ai_ci,utf8mb4\nutf8mb4_bin,utf8mb4");
}

/// As Connector/J asks for the columns of a table.
#[test]
fn show_columns_without_a_current_schema() {
    let mut session = Database::new(World::new().region).session(Account::default()).expect("there is memory");
    for statement in [
        "SHOW FULL COLUMNS FROM `setup_timers` FROM `performance_schema` LIKE '%'",
        "SHOW FIELDS IN setup_timers IN performance_schema",
        "SHOW COLUMNS FROM performance_schema.setup_timers",
        "SHOW COLUMNS FROM sys.setup_timers FROM performance_schema",
    ] {
        assert!(run(&mut session, statement).contains("\nTIMER_NAME,"), "{statement}");
    }
    for what in ["INDEX", "INDEXES", "KEYS"] {
        assert!(
            run(&mut session, &format!("SHOW {what} FROM setup_timers FROM performance_schema")).contains(",PRIMARY,1,NAME,")
        );
    }
    for (statement, error) in [
        ("SHOW COLUMNS FROM setup_timers", "1046 (3D000): No database selected"),
        ("SHOW KEYS IN setup_timers", "1046 (3D000): No database selected"),
        ("SHOW COLUMNS FROM setup_timers FROM nothing", "1049 (42000): Unknown database 'nothing'"),
        ("SHOW KEYS FROM setup_timers FROM sys", "1146 (42S02): Table 'sys.setup_timers' doesn't exist"),
    ] {
        assert_eq!(run(&mut session, statement), format!("ERROR {error}"), "{statement}");
    }
    assert!(run(&mut session, "SHOW COLUMNS setup_timers").starts_with("ERROR 1064 "));
}

/// What there is nothing of is an empty result, and no error.
#[test]
fn what_is_not_here_is_empty() {
    let mut session = session();
    for (statement, heads) in [
        ("SHOW TRIGGERS", "Trigger,Event,Table,"),
        ("SHOW EVENTS FROM sys", "Db,Name,"),
        ("SHOW PROCEDURE STATUS LIKE 'x'", "Db,Name,Type,"),
        ("SHOW FUNCTION STATUS WHERE Db = 'test'", "Db,Name,Type,"),
        ("SHOW PROFILE", "Status,Duration"),
        ("SHOW PROFILE CPU FOR QUERY 2 LIMIT 1", "Status,Duration"),
        ("SELECT seq,state,duration FROM INFORMATION_SCHEMA.PROFILING WHERE QUERY_ID=1 ORDER BY seq", "seq,"),
        // What agents ask for: mysqld_exporter by default, innotop, telegraf, OpenTelemetry's receiver, pt-stalk.
        ("SELECT page_size, compress_ops, uncompress_time FROM information_schema.innodb_cmp", "page_size,"),
        ("SELECT pages_used, relocation_ops FROM information_schema.innodb_cmpmem", "pages_used,"),
        ("SELECT trx_id FROM INFORMATION_SCHEMA.INNODB_TRX WHERE trx_started < NOW()", "trx_id"),
        ("SELECT CHANNEL_NAME FROM replication_applier_status WHERE CHANNEL_NAME REGEXP '^[a-zA-Z].*'", "CHANNEL_NAME"),
        ("SELECT OBJECT_SCHEMA, COUNT_FETCH, SUM_TIMER_DELETE FROM table_io_waits_summary_by_table", "OBJECT_SCHEMA,"),
        ("SELECT INDEX_NAME, COUNT_UPDATE FROM table_io_waits_summary_by_index_usage", "INDEX_NAME,"),
        ("SELECT SUM_TIMER_WRITE_EXTERNAL FROM table_lock_waits_summary_by_table", "SUM_TIMER_WRITE_EXTERNAL"),
        ("SELECT t.NAME FROM threads t JOIN user_variables_by_thread u USING (THREAD_ID)", "NAME"),
        ("SELECT * FROM variables_by_thread ORDER BY thread_id, variable_name", "THREAD_ID,VARIABLE_NAME,"),
        ("SELECT * FROM metadata_locks", "OBJECT_TYPE,OBJECT_SCHEMA,OBJECT_NAME,COLUMN_NAME,"),
        ("SELECT MEMBER_STATE FROM replication_group_members", "MEMBER_STATE"),
    ] {
        let found = run(&mut session, statement);
        assert!(found.starts_with(heads) && found.lines().count() == 1, "{statement}: {found}");
    }
    assert!(run(&mut session, "SHOW PROCEDURE").starts_with("ERROR 1064 (42000): "));
    let doc = run(&mut session, "SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_NAME = 'data_locks'");
    assert!(doc.contains("Always empty"), "{doc}");
    let view = "SELECT VERSION, ROW_FORMAT, TABLE_COLLATION, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_NAME = 'processlist'";
    assert_eq!(run(&mut session, &format!("{view} AND TABLE_SCHEMA = 'sys'")).lines().nth(1), Some(",,,VIEW"));
}

/// What reads it goes no further, as if it had been killed there.
struct LastMoment;

impl Clock for LastMoment {
    fn ticks(&self, _timer: TimerName) -> u64 {
        panic!("killed")
    }
}

#[test]
fn rows_that_a_program_did_not_finish_are_warned_of() {
    let world = World::new();
    let (whole, killed) = (world.actor("thread/test/whole"), world.actor("thread/test/killed"));
    for actor in [&whole, &killed] {
        world.wait(actor, 0, 1, 5);
    }
    let class = world.classes[0];
    let wait = killed.begin(&world.clock, world.region.switches(class), class, &WaitStart::new(Operation::Lock));
    assert!(catch_unwind(AssertUnwindSafe(|| killed.end(&LastMoment, wait, Held::None))).is_err());

    let has_ended = Arc::new(AtomicBool::new(false));
    let program = Mortal(world.region, Arc::clone(&has_ended));
    let mut session = Database::new(program).session(Account::default()).expect("there is memory");
    let waits =
        "SELECT thread_id, count_star FROM performance_schema.events_waits_summary_by_thread_by_event_name WHERE count_star > 0";
    check(&mut session, waits, "1,1");
    check(&mut session, "SHOW WARNINGS", ""); // It runs: the row shows the next time.
    has_ended.store(true, Ordering::Relaxed);
    check(&mut session, waits, "1,1");
    assert_eq!(session.warning_count(), 1);
    let expected = "Warning,1105,\"events_waits_summary_by_thread_by_event_name: 1 row was being written, and is not shown\"";
    check(&mut session, "SHOW WARNINGS", expected);
    check(
        &mut session,
        "SELECT count_star FROM performance_schema.events_waits_summary_global_by_event_name WHERE count_star > 0",
        "2",
    );
    check(&mut session, "SHOW WARNINGS", ""); // A sum over all threads takes in what there is of each.
}
