//! Statements of a program in SQL: which event lies within which, their texts, their setup, and the views of `sys`.

mod common;

use common::{CONFIG, World, check, run};
use perfschema::core::table::SqlType;
use perfschema::core::timer::TimerName;
use perfschema::core::{
    Actor, ActorIdentity, Class, Config, InstrumentName, Lost, Setting, Size, Statement, StatementError, StatementStart,
    ThreadType,
};
use perfschema_sql::{Outcome, Session};

const TABLES: [&str; 5] = [
    "events_statements_current",
    "events_statements_history",
    "events_statements_history_long",
    "events_statements_summary_by_thread_by_event_name",
    "events_statements_summary_global_by_event_name",
];

const SIZES: Config = CONFIG
    .with(Size::MaxStageClasses, 2)
    .with(Size::MaxStatementClasses, 3)
    .with(Size::EventsStatementsHistorySize, 10)
    .with(Size::EventsStatementsHistoryLongSize, 32)
    .with(Size::MaxSqlTextLength, 512);

/// A region with instruments `statement/sql/select`, `statement/sql/insert` and `statement/sp/stmt`.
struct Statements {
    world: World,
    classes: [Class; 3],
    stages: [Class; 2],
}

impl Statements {
    fn new() -> Statements {
        let world = World::of(&SIZES);
        let class = |name| world.region.register(InstrumentName::literal(name), Setting::ON).expect("there is room");
        let classes = ["statement/sql/select", "statement/sql/insert", "statement/sp/stmt"].map(class);
        let stages = ["stage/sql/executing", "stage/sql/sorting"].map(class);
        Statements { world, classes, stages }
    }

    fn begin<'r>(&self, actor: &Actor<'r>, class: usize, text: &str) -> Statement<'r> {
        let start = StatementStart { text, schema: "shop", source: None };
        actor.begin_statement(&self.world.clock, self.world.region.switches(self.classes[class]), &start)
    }

    fn end(&self, actor: &Actor<'_>, statement: Statement<'_>) {
        actor.end_statement(&self.world.clock, statement);
    }

    fn stage(&self, actor: &Actor<'_>, class: usize) {
        actor.begin_stage(&self.world.clock, self.world.region.switches(self.stages[class]), None);
    }

    fn pass(&self, ns: u64) {
        self.world.clock.advance(TimerName::Nanosecond, ns);
    }

    /// One that sends so many rows, and looks at twice as many.
    fn execute(&self, actor: &Actor<'_>, class: usize, text: &str, ns: u64, rows: u64) {
        let mut statement = self.begin(actor, class, text);
        actor.change_statement(&mut statement, |figures| {
            figures.rows_sent = rows;
            figures.rows_examined = 2 * rows;
            figures.rows_affected = rows + 1;
            figures.lock_time_ps = 1000 * ns / 4;
            figures.no_index_used = 1;
        });
        self.pass(ns);
        self.end(actor, statement);
    }
}

/// "Session -> Transaction -> Statement -> Stage -> Wait": each event's NESTING_EVENT_ID is the EVENT_ID of what it lies within.
#[test]
fn what_lies_within_what() {
    let statements = Statements::new();
    let (world, actor) = (&statements.world, statements.world.actor("thread/sql/one_connection"));
    let call = statements.begin(&actor, 0, "CALL report()");
    world.wait(&actor, 0, 1, 5);
    statements.stage(&actor, 0);
    world.wait(&actor, 1, 2, 7);
    let inner = statements.begin(&actor, 2, "SELECT * FROM t");
    statements.stage(&actor, 1);
    world.wait(&actor, 2, 3, 11);
    statements.end(&actor, inner);
    statements.end(&actor, call);
    world.wait(&actor, 3, 4, 13);
    let mut session = world.session();
    let joined = "SELECT w.timer_wait, s.event_name, q.sql_text, q.nesting_event_level, p.sql_text \
                  FROM events_waits_history_long w \
                  LEFT JOIN events_stages_history_long s ON s.thread_id = w.thread_id AND s.event_id = w.nesting_event_id \
                  AND w.nesting_event_type = 'STAGE' \
                  LEFT JOIN events_statements_history_long q ON q.thread_id = w.thread_id \
                  AND q.event_id = CASE w.nesting_event_type WHEN 'STATEMENT' THEN w.nesting_event_id \
                  WHEN 'STAGE' THEN s.nesting_event_id END \
                  LEFT JOIN events_statements_history_long p ON p.thread_id = q.thread_id AND p.event_id = q.nesting_event_id \
                  AND q.nesting_event_type = 'STATEMENT' \
                  ORDER BY w.event_id";
    check(
        &mut session,
        joined,
        "5000,,CALL report(),0,\n7000,stage/sql/executing,CALL report(),0,\n\
         11000,stage/sql/sorting,SELECT * FROM t,1,CALL report()\n13000,,,,",
    );
    // What lies within a statement by its number lies within it by time, and begins and ends between its EVENT_ID and END_EVENT_ID.
    for (inner, expected) in
        [("events_stages_history", "2,2"), ("events_statements_history", "1,1"), ("events_waits_history", "1,1")]
    {
        let within = format!(
            "SELECT COUNT(*), SUM(i.timer_start >= q.timer_start AND i.timer_end <= q.timer_end AND i.event_id > q.event_id \
             AND i.end_event_id <= q.end_event_id) FROM {inner} i JOIN events_statements_history q \
             ON i.thread_id = q.thread_id AND i.nesting_event_id = q.event_id AND i.nesting_event_type = 'STATEMENT'"
        );
        check(&mut session, &within, expected);
    }
}

/// What a row says of a statement that failed, and of one that goes on; the sums are those of the rows.
#[test]
fn rows_and_their_sums() {
    let statements = Statements::new();
    let actor = statements.world.actor("thread/sql/one_connection");
    let mut failed = statements.begin(&actor, 0, "SELECT nothing FROM nowhere");
    actor.set_statement_error(
        &mut failed,
        &StatementError { number: 1146, sqlstate: "42S02".into(), message: "Table 'shop.nowhere' doesn't exist".into() },
    );
    actor.change_statement(&mut failed, |figures| figures.errors = 1);
    statements.pass(20);
    statements.end(&actor, failed);
    for rows in 1..=3 {
        statements.execute(&actor, (rows % 2) as usize, "SELECT some", rows * 100, rows);
    }
    let running = statements.begin(&actor, 1, "INSERT INTO t SELECT * FROM u");
    let mut session = statements.world.session();
    check(
        &mut session,
        "SELECT sql_text, current_schema, timer_wait, end_event_id IS NULL, mysql_errno, returned_sqlstate, message_text, errors \
         FROM events_statements_current",
        "INSERT INTO t SELECT * FROM u,shop,,1,,,,0",
    );
    check(
        &mut session,
        "SELECT event_name, timer_wait, mysql_errno, returned_sqlstate, message_text, errors FROM events_statements_history_long \
         WHERE errors > 0",
        "statement/sql/select,20000,1146,42S02,Table 'shop.nowhere' doesn't exist,1",
    );
    check(
        &mut session,
        "SELECT sql_text, COUNT(*), SUM(rows_sent), MAX(rows_examined) FROM events_statements_history GROUP BY sql_text ORDER BY 2",
        "SELECT nothing FROM nowhere,1,0,0\nSELECT some,3,6,6",
    );
    for (table, of) in [(TABLES[3], "s.thread_id = e.thread_id AND"), (TABLES[4], "")] {
        let same = format!(
            "SELECT s.event_name, s.count_star = COUNT(*), s.sum_timer_wait = SUM(e.timer_wait), s.min_timer_wait = MIN(e.timer_wait), \
             s.max_timer_wait = MAX(e.timer_wait), s.sum_lock_time = SUM(e.lock_time), s.sum_errors = SUM(e.errors), \
             s.sum_rows_affected = SUM(e.rows_affected), s.sum_rows_sent = SUM(e.rows_sent), \
             s.sum_rows_examined = SUM(e.rows_examined), s.sum_no_index_used = SUM(e.no_index_used) \
             FROM {table} s JOIN events_statements_history_long e ON {of} s.event_name = e.event_name \
             GROUP BY s.event_name, s.count_star, s.sum_timer_wait, s.min_timer_wait, s.max_timer_wait, s.sum_lock_time, s.sum_errors, \
             s.sum_rows_affected, s.sum_rows_sent, s.sum_rows_examined, s.sum_no_index_used ORDER BY s.event_name"
        );
        let ones = ",1".repeat(10);
        check(&mut session, &same, &format!("statement/sql/insert{ones}\nstatement/sql/select{ones}"));
    }
    statements.end(&actor, running);
}

/// Texts of any language and with any quotes, compared and cut as texts are.
#[test]
fn texts() {
    let statements = Statements::new();
    let actor = statements.world.actor("thread/sql/one_connection");
    let texts = [
        "SELECT 'it''s', \"quoted\", `named` FROM t",
        "SELECT 'Größe', '山', '🦀'",
        "DROP TABLE t; -- \\ %_",
        "two\nlines,\tand a comma",
    ];
    for text in texts {
        statements.execute(&actor, 0, text, 1, 1);
    }
    // 512 bytes are kept, of whole characters.
    statements.execute(&actor, 0, &"ä".repeat(300), 1, 1);
    statements.execute(&actor, 0, &format!("{}ä", "x".repeat(511)), 1, 1);
    statements.execute(&actor, 0, "", 1, 1);
    let mut session = statements.world.session();
    let Ok(Outcome::Rows(grid)) = session.execute("SELECT sql_text FROM events_statements_history_long ORDER BY event_id") else {
        panic!("there are rows")
    };
    assert_eq!(grid.columns[0].sql_type, SqlType::Longtext);
    let found: Vec<String> = grid.rows.iter().take(4).map(|row| row[0].as_value().to_string()).collect();
    assert_eq!(found, texts);
    for text in texts {
        let quoted = format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"));
        check(&mut session, &format!("SELECT COUNT(*) FROM events_statements_history WHERE sql_text = {quoted}"), "1");
        match session.execute_with("SELECT COUNT(*) FROM events_statements_history WHERE sql_text = ?", &[text.into()]) {
            Ok(Outcome::Rows(grid)) => assert_eq!(grid.rows, [[1_i64.into()]], "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    for (condition, expected) in [
        ("sql_text LIKE '%größe%🦀%'", "1"),
        ("sql_text LIKE '%\\\\\\\\ \\\\%\\\\_'", "1"),
        ("sql_text = 'select ''GRÖßE'', ''山'', ''🦀'''", "1"),
        ("sql_text IS NULL", "1"),
        ("LENGTH(sql_text) = 512 AND CHAR_LENGTH(sql_text) = 256", "1"),
        ("LENGTH(sql_text) = 511 AND RIGHT(sql_text, 1) = 'x'", "1"),
    ] {
        let counted = format!("SELECT COUNT(*) FROM events_statements_history WHERE {condition}");
        check(&mut session, &counted, expected);
    }
    check(
        &mut session,
        "SELECT column_name, data_type, column_type, is_nullable, character_maximum_length FROM information_schema.columns \
         WHERE table_name = 'events_statements_current' AND column_name IN ('SQL_TEXT', 'CURRENT_SCHEMA', 'MESSAGE_TEXT', \
         'RETURNED_SQLSTATE', 'MYSQL_ERRNO') ORDER BY column_name",
        "CURRENT_SCHEMA,varchar,varchar(64),YES,64\nMESSAGE_TEXT,varchar,varchar(128),YES,128\nMYSQL_ERRNO,int,int,YES,\n\
         RETURNED_SQLSTATE,varchar,varchar(5),YES,5\nSQL_TEXT,longtext,longtext,YES,4294967295",
    );
}

/// Legal are SELECT and TRUNCATE; all five are in the information_schema, and in SHOW TABLES.
#[test]
fn rights() {
    let statements = Statements::new();
    let actor = statements.world.actor("thread/sql/one_connection");
    let mut session = statements.world.session();
    for table in TABLES {
        statements.execute(&actor, 0, "SELECT 1", 10, 1);
        let running = statements.begin(&actor, 1, "INSERT");
        check(&mut session, &format!("SHOW TABLES LIKE '{table}'"), table);
        check(&mut session, &format!("SELECT COUNT(*) FROM information_schema.tables WHERE table_name = '{table}'"), "1");
        for (statement, command) in [
            (format!("DELETE FROM {table}"), "DELETE"),
            (format!("UPDATE {table} SET event_name = 'x'"), "UPDATE"),
            (format!("INSERT INTO {table} (event_name) VALUES ('x')"), "INSERT"),
        ] {
            let error = run(&mut session, &statement);
            assert!(error.starts_with(&format!("ERROR 1142 (42000): {command} command denied to user")), "{error}");
        }
        check(
            &mut session,
            &format!("SELECT no_such_column FROM {table}"),
            "ERROR 1054 (42S22): Unknown column 'no_such_column' in 'field list'",
        );
        check(&mut session, &format!("SELECT COUNT(*) > 0 FROM {table}"), "1");
        check(&mut session, &format!("TRUNCATE TABLE {table}"), "0 changed");
        let left =
            if table.contains("summary") { "SELECT SUM(count_star), SUM(sum_rows_sent) FROM" } else { "SELECT COUNT(*) FROM" };
        check(&mut session, &format!("{left} {table}"), if table.contains("summary") { "0,0" } else { "0" });
        statements.end(&actor, running);
    }
}

#[test]
fn setup_timers() {
    let statements = Statements::new();
    let mut session = statements.world.session();
    check(&mut session, "SELECT * FROM setup_timers WHERE name = 'statement'", "statement,NANOSECOND");
    for (timer, wait) in [("MICROSECOND", "2000000"), ("NANOSECOND", "2500000"), ("TICK", "0")] {
        check(
            &mut session,
            &format!("UPDATE setup_timers SET timer_name = '{timer}' WHERE name = 'statement'"),
            "Rows matched: 1  Changed: 1  Warnings: 0",
        );
        let actor = statements.world.actor("thread/sql/one_connection");
        let statement = statements.begin(&actor, 0, "SELECT 1");
        statements.pass(2_500);
        statements.world.clock.advance(TimerName::Microsecond, 2);
        statements.end(&actor, statement);
        check(&mut session, "SELECT timer_wait FROM events_statements_current", wait);
        actor.detach();
    }
    let error = run(&mut session, "UPDATE setup_timers SET name = 'statements' WHERE name = 'statement'");
    assert!(error.starts_with("ERROR 1683 (HY000)"), "{error}");
}

/// Each table of events has its consumer; the summaries count without any of them.
#[test]
fn setup_consumers() {
    let statements = Statements::new();
    let mut session = statements.world.session();
    check(
        &mut session,
        "SELECT * FROM setup_consumers WHERE name LIKE 'events_statements%'",
        "events_statements_current,YES\nevents_statements_history,YES\nevents_statements_history_long,YES",
    );
    let actor = statements.world.actor("thread/sql/one_connection");
    statements.execute(&actor, 0, "SELECT 0", 10, 1);
    for (number, table) in [TABLES[2], TABLES[1], TABLES[0]].into_iter().enumerate() {
        run(&mut session, &format!("UPDATE setup_consumers SET enabled = 'NO' WHERE name = '{table}'"));
        let rows = |session: &mut Session| run(session, &format!("SELECT event_id, sql_text FROM {table} ORDER BY event_id"));
        let before = rows(&mut session);
        statements.execute(&actor, 0, &format!("SELECT {}", number + 1), 10, 1);
        assert_eq!(rows(&mut session), before, "{table}");
    }
    check(&mut session, "SELECT SUM(count_star), SUM(sum_rows_sent) FROM events_statements_summary_global_by_event_name", "4,4");
    check(
        &mut session,
        "UPDATE setup_instruments SET enabled = 'NO' WHERE name LIKE 'statement/sql/%'",
        "Rows matched: 2  Changed: 2  Warnings: 0",
    );
    statements.execute(&actor, 0, "SELECT", 10, 1);
    check(&mut session, "SELECT SUM(count_star) FROM events_statements_summary_global_by_event_name", "4");
}

#[test]
fn variables() {
    let statements = Statements::new();
    let mut session = statements.world.session();
    check(
        &mut session,
        "SHOW VARIABLES LIKE 'performance%statements%'",
        "performance_schema_events_statements_history_long_size,32\nperformance_schema_events_statements_history_size,10",
    );
    check(&mut session, "SELECT @@performance_schema_max_statement_classes, @@performance_schema_max_sql_text_length", "3,512");
    let lost = "SHOW STATUS LIKE 'Performance_schema_statement_classes_lost'";
    check(&mut session, lost, "Performance_schema_statement_classes_lost,0");
    let _ = statements.world.region.register(InstrumentName::literal("statement/sql/one too many"), Setting::ON);
    assert_eq!(statements.world.region.lost(Lost::StatementClasses), 1);
    check(&mut session, lost, "Performance_schema_statement_classes_lost,1");
}

/// MySQL's views of sys, and one of ours: what every thread executes now.
#[test]
fn sys_views() {
    let statements = Statements::new();
    let world = &statements.world;
    let mut session = world.session();
    let figures = "total,total_latency,max_latency,lock_latency,rows_sent,rows_examined,rows_affected,full_scans";
    let heads = [
        ("host_summary_by_statement_type", format!("host,statement,{figures}")),
        ("user_summary_by_statement_type", format!("user,statement,{figures}")),
        ("host_summary_by_statement_latency", format!("host,{figures}")),
        ("user_summary_by_statement_latency", format!("user,{figures}")),
        (
            "current_statements",
            "thread_id,thread_name,event_name,sql_text,current_schema,source,nesting_event_level,statement_so_far,lock_latency,rows_sent,\
             rows_examined,rows_affected"
                .to_owned(),
        ),
    ];
    for (view, columns) in heads {
        for view in [view.to_owned(), format!("x${view}")] {
            assert_eq!(run(&mut session, &format!("SELECT * FROM sys.`{view}`")).trim_end(), columns, "{view}");
        }
    }
    let user = |user, host| {
        let identity = ActorIdentity {
            name: "thread/sql/one_connection",
            thread_type: ThreadType::Foreground,
            user,
            host,
            ..ActorIdentity::default()
        };
        Actor::attach(world.region, &identity)
    };
    let (joe, other, cleaner) = (user("joe", "there"), user("joe", "here"), world.actor("thread/sql/cleaner"));
    statements.execute(&joe, 0, "SELECT 1", 3_000_000, 3);
    statements.execute(&joe, 0, "SELECT 2", 1_000_000, 1);
    statements.execute(&joe, 1, "INSERT", 8_000_000, 0);
    statements.execute(&other, 0, "SELECT 3", 2_000_000, 2);
    statements.execute(&cleaner, 2, "", 400, 0);
    let hosts = [
        "background,stmt,1,400.00 ns,400.00 ns,100.00 ns,0,0,1,1",
        "here,select,1,2.00 ms,2.00 ms,500.00 us,2,4,3,1",
        "there,insert,1,8.00 ms,8.00 ms,2.00 ms,0,0,1,1",
        "there,select,2,4.00 ms,3.00 ms,1.00 ms,4,8,6,2",
    ];
    check(&mut session, "SELECT * FROM sys.host_summary_by_statement_type", &hosts.join("\n"));
    let users = [hosts[0], "joe,insert,1,8.00 ms,8.00 ms,2.00 ms,0,0,1,1", "joe,select,3,6.00 ms,3.00 ms,1.50 ms,6,12,9,3"];
    check(&mut session, "SELECT * FROM sys.user_summary_by_statement_type", &users.join("\n"));
    let background = "background,1,400.00 ns,400.00 ns,100.00 ns,0,0,1,1";
    check(
        &mut session,
        "SELECT * FROM sys.host_summary_by_statement_latency",
        &["there,3,12.00 ms,8.00 ms,3.00 ms,4,8,7,3", "here,1,2.00 ms,2.00 ms,500.00 us,2,4,3,1", background].join("\n"),
    );
    check(
        &mut session,
        "SELECT * FROM sys.user_summary_by_statement_latency",
        &["joe,4,14.00 ms,8.00 ms,3.50 ms,6,12,10,4", background].join("\n"),
    );
    check(
        &mut session,
        "SELECT * FROM sys.`x$user_summary_by_statement_latency` WHERE user = 'joe'",
        "joe,4,14000000000,8000000000,3500000000,6,12,10,4",
    );
    let mut outer = statements.begin(&joe, 0, "CALL 'größe'()");
    joe.change_statement(&mut outer, |figures| (figures.rows_examined, figures.lock_time_ps) = (7, 2_000_000));
    let inner = statements.begin(&joe, 2, "SELECT 4");
    let now = "SELECT thread_id, thread_name, event_name, sql_text, current_schema, nesting_event_level, lock_latency, rows_sent, \
               rows_examined FROM sys.current_statements c ORDER BY nesting_event_level";
    let running = "1,thread/sql/one_connection,statement/sql/select,CALL 'größe'(),shop,0,2.00 us,0,7";
    check(&mut session, now, &format!("{running}\n1,thread/sql/one_connection,statement/sp/stmt,SELECT 4,shop,1,  0 ps,0,0"));
    statements.end(&joe, inner);
    check(&mut session, now, running);
    let long = statements.begin(&joe, 2, &format!("SELECT {} FROM\nt", "1 + ".repeat(20)));
    let shown = "SELECT sql_text FROM sys.current_statements WHERE nesting_event_level = 1";
    check(&mut session, shown, "SELECT 1 + 1 + 1 + 1 + 1 + 1 + ...  + 1 + 1 + 1 + 1 + 1 +  FROM t");
    statements.end(&joe, long);
    statements.end(&joe, outer);
    check(&mut session, now, "");
}
