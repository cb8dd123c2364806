//! Statements that are alike: the table by digest, MySQL's functions and views of `sys`, and what mysqld_exporter asks for.

mod common;

use common::{CONFIG, World, check, run};
use perfschema::core::timer::TimerName;
use perfschema::core::{Actor, Class, InstrumentName, Setting, Size, StatementStart, StatementStatistics};

fn world() -> (World, Class) {
    let config = CONFIG
        .with(Size::MaxStatementClasses, 2)
        .with(Size::EventsStatementsHistorySize, 4)
        .with(Size::EventsStatementsHistoryLongSize, 16)
        .with(Size::MaxSqlTextLength, 256)
        .with(Size::DigestsSize, 8);
    let world = World::of(&config);
    let class = world.region.register(InstrumentName::literal("statement/sql/select"), Setting::ON).expect("there is room");
    world.region.enable_everything();
    (world, class)
}

fn run_statement(world: &World, actor: &Actor<'_>, class: Class, text: &str, ms: u64, statistics: StatementStatistics) {
    let start = StatementStart { text, schema: "shop", source: None };
    let mut statement = actor.begin_statement(&world.clock, world.region.switches(class), &start);
    actor.change_statement(&mut statement, |all| *all = statistics);
    world.clock.advance(TimerName::Nanosecond, ms * 1_000_000);
    actor.end_statement(&world.clock, statement);
}

/// Three that are alike, one that is slow and looks through a table, one that fails.
fn shop(world: &World, class: Class) {
    let actor = world.actor("thread/sql/one_connection");
    let none = StatementStatistics::default();
    for (id, ms) in [(1, 1), (22, 2), (333, 3)] {
        let text = format!("SELECT name FROM parts WHERE id = {id}");
        run_statement(world, &actor, class, &text, ms, StatementStatistics { rows_sent: 1, rows_examined: 2, ..none });
    }
    run_statement(
        world,
        &actor,
        class,
        "SELECT a_very_long_column_name, another_very_long_name FROM parts ORDER BY name",
        2_000,
        StatementStatistics {
            rows_sent: 10,
            rows_examined: 1_000,
            no_index_used: 1,
            sort_rows: 10,
            sort_scan: 1,
            created_tmp_tables: 2,
            created_tmp_disk_tables: 1,
            ..none
        },
    );
    run_statement(
        world,
        &actor,
        class,
        "INSERT INTO parts VALUES (1, 'a'), (2, 'b')",
        1,
        StatementStatistics { errors: 1, warnings: 3, ..none },
    );
}

#[test]
fn statements_by_digest() {
    let (world, class) = world();
    let mut session = world.session();
    shop(&world, class);
    check(
        &mut session,
        "SELECT SCHEMA_NAME, DIGEST_TEXT, COUNT_STAR, SUM_TIMER_WAIT, SUM_ROWS_EXAMINED FROM \
         performance_schema.events_statements_summary_by_digest ORDER BY SUM_TIMER_WAIT DESC",
        "shop,\"SELECT a_very_long_column_name, another_very_long_name FROM parts ORDER BY name\",1,2000000000000,1000\n\
         shop,SELECT name FROM parts WHERE id = ?,3,6000000000,6\n\
         shop,\"INSERT INTO parts VALUES (...) /* , ... */\",1,1000000000,0",
    );
    // One that runs is among its like by the same digest.
    check(
        &mut session,
        "SELECT COUNT(*) FROM performance_schema.events_statements_history_long h JOIN \
         performance_schema.events_statements_summary_by_digest d USING (DIGEST)",
        "5",
    );
    check(&mut session, "TRUNCATE performance_schema.events_statements_summary_by_digest", "0 changed");
    check(&mut session, "SELECT COUNT(*) FROM performance_schema.events_statements_summary_by_digest", "0");
}

#[test]
fn functions_of_digests() {
    let (world, _) = world();
    let mut session = world.session();
    check(
        &mut session,
        "SELECT STATEMENT_DIGEST_TEXT('SELECT  1 /* one */ FROM t WHERE a IN (1, 2)')",
        "SELECT ? FROM t WHERE a IN (...)",
    );
    check(
        &mut session,
        "SELECT STATEMENT_DIGEST('SELECT 1') = STATEMENT_DIGEST('SELECT 2'), LENGTH(STATEMENT_DIGEST('a'))",
        "1,32",
    );
    check(&mut session, "SELECT STATEMENT_DIGEST(NULL), STATEMENT_DIGEST_TEXT(NULL), sys.format_statement(NULL)", ",,");
    check(&mut session, "SELECT sys.format_statement(REPEAT('ä', 64)) = REPEAT('ä', 64)", "1");
    check(&mut session, "SELECT sys.format_statement('SELECT 1\\n  FROM t\\nWHERE a')", "SELECT 1   FROM t WHERE a");
    check(
        &mut session,
        "SELECT sys.format_statement(CONCAT(REPEAT('ä', 40), '\\n', REPEAT('b', 29)))",
        &format!("{} ... {}", "ä".repeat(30), " ".to_owned() + &"b".repeat(29)),
    );
}

#[test]
fn views_of_sys() {
    let (world, class) = world();
    let mut session = world.session();
    let seen = "first_seen,last_seen";
    for (view, columns) in [
        (
            "statement_analysis",
            "query,db,full_scan,exec_count,err_count,warn_count,total_latency,max_latency,avg_latency,lock_latency,rows_sent,\
             rows_sent_avg,rows_examined,rows_examined_avg,rows_affected,rows_affected_avg,tmp_tables,tmp_disk_tables,rows_sorted,\
             sort_merge_passes,digest,SEEN",
        ),
        ("statements_with_errors_or_warnings", "query,db,exec_count,errors,error_pct,warnings,warning_pct,SEEN,digest"),
        (
            "statements_with_full_table_scans",
            "query,db,exec_count,total_latency,no_index_used_count,no_good_index_used_count,no_index_used_pct,rows_sent,\
             rows_examined,rows_sent_avg,rows_examined_avg,SEEN,digest",
        ),
        (
            "statements_with_runtimes_in_95th_percentile",
            "query,db,full_scan,exec_count,err_count,warn_count,total_latency,max_latency,avg_latency,rows_sent,rows_sent_avg,\
             rows_examined,rows_examined_avg,SEEN,digest",
        ),
        (
            "statements_with_sorting",
            "query,db,exec_count,total_latency,sort_merge_passes,avg_sort_merges,sorts_using_scans,sort_using_range,rows_sorted,\
             avg_rows_sorted,SEEN,digest",
        ),
        (
            "statements_with_temp_tables",
            "query,db,exec_count,total_latency,memory_tmp_tables,disk_tmp_tables,avg_tmp_tables_per_query,tmp_tables_to_disk_pct,\
             SEEN,digest",
        ),
    ] {
        for view in [view.to_owned(), format!("x${view}")] {
            let head = run(&mut session, &format!("SELECT * FROM sys.`{view}`"));
            assert_eq!(head.trim_end(), columns.replace("SEEN", seen), "{view}");
        }
    }
    shop(&world, class);
    let slow = "SELECT a_very_long_column_name ... _name FROM parts ORDER BY name";
    check(
        &mut session,
        "SELECT query, db, full_scan, exec_count, err_count, total_latency, avg_latency, rows_sent_avg, rows_examined_avg \
         FROM sys.statement_analysis",
        &format!(
            "{slow},shop,*,1,0,2.00 s,2.00 s,10,1000\n\
             SELECT name FROM parts WHERE id = ?,shop,\"\",3,0,6.00 ms,2.00 ms,1,2\n\
             \"INSERT INTO parts VALUES (...) /* , ... */\",shop,\"\",1,1,1.00 ms,1.00 ms,0,0"
        ),
    );
    check(
        &mut session,
        "SELECT query, exec_count, errors, error_pct, warnings, warning_pct FROM sys.statements_with_errors_or_warnings",
        "\"INSERT INTO parts VALUES (...) /* , ... */\",1,1,100.0000,3,300.0000",
    );
    check(
        &mut session,
        "SELECT query, no_index_used_count, no_index_used_pct, rows_examined_avg FROM sys.statements_with_full_table_scans",
        &format!("{slow},1,100,1000"),
    );
    check(&mut session, "SELECT query, avg_rows_sorted FROM sys.statements_with_sorting", &format!("{slow},10"));
    check(
        &mut session,
        "SELECT query, disk_tmp_tables, tmp_tables_to_disk_pct FROM sys.statements_with_temp_tables",
        &format!("{slow},1,50"),
    );
    check(
        &mut session,
        "SELECT query, total_latency FROM sys.`x$statements_with_runtimes_in_95th_percentile`",
        "\"SELECT a_very_long_column_name, another_very_long_name FROM parts ORDER BY name\",2000000000000",
    );
}

/// From 8.0.28 on the exporter asks for columns more, and none of what follows would be sent.
#[test]
fn the_version_promises_no_time_of_the_processor() {
    let (world, _) = world();
    let columns = "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE COLUMN_NAME = 'SUM_CPU_TIME'";
    check(&mut world.session(), &format!("SELECT SUBSTRING_INDEX(VERSION(), '-', 1), ({columns})"), "8.0.27,0");
}

/// `collect.perf_schema.eventsstatements` and `…eventsstatementssum`, as the exporter sends them.
#[test]
fn what_mysqld_exporter_asks_for() {
    let (world, class) = world();
    let mut session = world.session();
    shop(&world, class);
    check(
        &mut session,
        "SELECT ifnull(SCHEMA_NAME, 'NONE') as SCHEMA_NAME, DIGEST_TEXT, COUNT_STAR, SUM_ROWS_SENT FROM ( \
           SELECT * FROM performance_schema.events_statements_summary_by_digest \
           WHERE SCHEMA_NAME NOT IN ('mysql', 'performance_schema', 'information_schema') \
             AND LAST_SEEN > DATE_SUB(NOW(), INTERVAL 3153600000 SECOND) ORDER BY LAST_SEEN DESC )Q \
         GROUP BY Q.SCHEMA_NAME, Q.DIGEST, Q.DIGEST_TEXT, Q.COUNT_STAR, Q.SUM_ROWS_SENT ORDER BY SUM_TIMER_WAIT DESC LIMIT 1",
        "shop,\"SELECT a_very_long_column_name, another_very_long_name FROM parts ORDER BY name\",1,10",
    );
    check(
        &mut session,
        "SELECT SUM(COUNT_STAR) AS SUM_COUNT_STAR, SUM(SUM_ERRORS) AS SUM_SUM_ERRORS FROM \
         performance_schema.events_statements_summary_by_digest",
        "5,1",
    );
}
