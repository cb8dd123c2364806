//! WL#4813's statements, as they are written there, and its requirements by number.

mod common;

use common::{CONFIG, World, boxed, check, run};
use perfschema::core::timer::TimerName;
use perfschema::core::{Actor, ActorIdentity, Class, InstrumentName, Lost, Setting, Size, ThreadType};
use perfschema_sql::Session;

const TABLES: [&str; 5] = [
    "events_stages_current",
    "events_stages_history",
    "events_stages_history_long",
    "events_stages_summary_by_thread_by_event_name",
    "events_stages_summary_global_by_event_name",
];

/// The worklog's ten thread states of a statement.
const STATES: [&str; 10] = [
    "starting",
    "Opening tables",
    "System lock",
    "Table lock",
    "init",
    "end",
    "query end",
    "freeing items",
    "logging slow query",
    "cleaning up",
];

fn world(names: &[&str]) -> (World, Vec<Class>) {
    let world = World::of(&CONFIG.with(Size::MaxStageClasses, 12).with(Size::EventsStagesHistorySize, 10));
    let class = |name: &&str| {
        let name = format!("stage/sql/{name}");
        world.region.register(InstrumentName::new(&name).expect("a name"), Setting::ON).expect("there is room")
    };
    let classes = names.iter().map(class).collect();
    (world, classes)
}

fn begin(world: &World, actor: &Actor<'_>, class: Class) {
    actor.begin_stage(&world.clock, world.region.switches(class), None);
}

/// "SETUP_INSTRUMENTS Table". Behind the worklog's columns there is one of ours, TIMED_ONE_IN. Func-Req (7.1).
#[test]
fn setup_instruments() {
    let (world, _) = world(&[
        "closing tables",
        "Connecting to master",
        "checking permissions",
        "Checking master version",
        "After create",
        "cleaning up",
        "checking query cache for query",
        "Changing master",
        "checking privileges on cached query",
        "allocating local table",
        "creating table",
    ]);
    let select = r#"select name, enabled, timed from setup_instruments where name like "stage/%" order by name limit 10;"#;
    let expected = "\
+-----------------------------------------------+---------+-------+
| name                                          | enabled | timed |
+-----------------------------------------------+---------+-------+
| stage/sql/After create                        | YES     | YES   |
| stage/sql/allocating local table              | YES     | YES   |
| stage/sql/Changing master                     | YES     | YES   |
| stage/sql/Checking master version             | YES     | YES   |
| stage/sql/checking permissions                | YES     | YES   |
| stage/sql/checking privileges on cached query | YES     | YES   |
| stage/sql/checking query cache for query      | YES     | YES   |
| stage/sql/cleaning up                         | YES     | YES   |
| stage/sql/closing tables                      | YES     | YES   |
| stage/sql/Connecting to master                | YES     | YES   |
+-----------------------------------------------+---------+-------+
";
    let printed = boxed(&mut world.session(), select);
    assert!(printed.starts_with(expected), "{printed}");
}

/// "For example, suppose a statement has 10 thread states."
#[test]
fn the_states_of_a_statement() {
    let (world, classes) = world(&STATES);
    let actor = world.actor("thread/sql/one_connection");
    for class in &classes {
        begin(&world, &actor, *class);
        world.clock.advance(TimerName::Nanosecond, 10);
        world.wait(&actor, 0, 1, 5);
    }
    let mut session = world.session();
    // "So EVENTS_STAGES_CURRENT will have a 'cleaning up' row."
    check(&mut session, "SELECT event_name, timer_end IS NULL FROM events_stages_current", "stage/sql/cleaning up,1");
    let seen = run(&mut session, "SELECT event_name FROM events_stages_history_long ORDER BY event_id");
    let states: Vec<&str> = seen.lines().skip(1).filter_map(|name| name.strip_prefix("stage/sql/")).collect();
    assert_eq!(states, STATES[..9]);
    // "The end of one stage is always equal to the start of the next stage."
    let gaps = "SELECT COUNT(*) FROM events_stages_history a JOIN events_stages_history b ON a.event_id + 2 = b.event_id \
                WHERE a.timer_end <> b.timer_start";
    check(&mut session, gaps, "0");
    check(&mut session, "SELECT COUNT(*), SUM(timer_wait) FROM events_stages_history", "9,135000");
    // "Change to EVENTS_WAITS Tables": the EVENT_ID of the wait's STAGES row. Func-Req (11), (12), (13).
    for waits in ["events_waits_history", "events_waits_history_long"] {
        let nested = format!(
            "SELECT COUNT(*) FROM {waits} w JOIN events_stages_history s ON w.thread_id = s.thread_id \
             AND w.nesting_event_id = s.event_id AND w.nesting_event_type = 'STAGE' WHERE w.timer_start >= s.timer_start \
             AND w.timer_end <= s.timer_end"
        );
        let rows = run(&mut session, &format!("SELECT COUNT(*) FROM {waits} WHERE nesting_event_id < 19"));
        assert_eq!(run(&mut session, &nested).lines().last(), rows.lines().last(), "{waits}");
        assert_ne!(rows.lines().last(), Some("0"), "{waits}");
    }
    check(&mut session, "SELECT nesting_event_id, nesting_event_type FROM events_waits_current", "19,STAGE");
}

/// "SETUP_TIMERS Table", Func-Req (6.1).
#[test]
fn setup_timers() {
    let (world, classes) = world(&STATES);
    let mut session = world.session();
    check(
        &mut session,
        "UPDATE SETUP_TIMERS SET timer_name = 'CYCLE' WHERE name = 'wait'",
        "Rows matched: 1  Changed: 1  Warnings: 0",
    );
    check(
        &mut session,
        "select * from SETUP_TIMERS WHERE name <> 'idle';",
        "wait,CYCLE\nstage,NANOSECOND\nstatement,NANOSECOND\ntransaction,NANOSECOND",
    );
    for (timer, wait) in [("MICROSECOND", "2000000"), ("NANOSECOND", "2500000"), ("TICK", "0")] {
        run(&mut session, &format!("UPDATE setup_timers SET timer_name = '{timer}' WHERE name = 'stage'"));
        let actor = world.actor("thread/sql/one_connection");
        begin(&world, &actor, classes[0]);
        world.clock.advance(TimerName::Nanosecond, 2_500);
        world.clock.advance(TimerName::Microsecond, 2);
        actor.end_any_stage(&world.clock);
        check(&mut session, "SELECT timer_wait FROM events_stages_current", wait);
        actor.detach();
    }
}

/// "SETUP_CONSUMERS Table", Func-Req (8).
#[test]
fn setup_consumers() {
    let (world, classes) = world(&STATES);
    let mut session = world.session();
    let rows = "events_stages_current,YES\nevents_stages_history,YES\nevents_stages_history_long,YES";
    check(&mut session, "select * from SETUP_CONSUMERS WHERE name LIKE 'events_stages%';", rows);
    let actor = world.actor("thread/sql/one_connection");
    for table in ["events_stages_history_long", "events_stages_history", "events_stages_current"] {
        run(&mut session, &format!("UPDATE setup_consumers SET enabled = 'NO' WHERE name = '{table}'"));
        let count = |session: &mut Session| run(session, &format!("SELECT COUNT(*), MAX(event_id) FROM {table}"));
        let before = count(&mut session);
        begin(&world, &actor, classes[0]);
        actor.end_any_stage(&world.clock);
        assert_eq!(count(&mut session), before, "{table}");
    }
    check(&mut session, "SELECT SUM(count_star) FROM events_stages_summary_global_by_event_name", "3");
}

/// "Server Variables", Func-Req (9), (10).
#[test]
fn server_variables() {
    let (world, _) = world(&STATES);
    let mut session = world.session();
    check(
        &mut session,
        "show variables like 'performance%stages%';",
        "performance_schema_events_stages_history_long_size,16\nperformance_schema_events_stages_history_size,10",
    );
    check(&mut session, "SELECT @@performance_schema_max_stage_classes", "12");
    check(&mut session, "SHOW STATUS LIKE 'Performance_schema_stage_classes_lost'", "Performance_schema_stage_classes_lost,0");
    for number in 0..4 {
        let _ = world.region.register(InstrumentName::new(&format!("stage/sql/more {number}")).expect("a name"), Setting::ON);
    }
    assert_eq!(world.region.lost(Lost::StageClasses), 2);
    check(&mut session, "SHOW STATUS LIKE 'Performance_schema_stage_classes_lost'", "Performance_schema_stage_classes_lost,2");
    // The worklog's defaults.
    let config = perfschema::core::Config::DEFAULT;
    assert_eq!((config.get(Size::EventsStagesHistorySize), config.get(Size::EventsStagesHistoryLongSize)), (10, 10_000));
}

/// Func-Req (1) to (5): "Legal operations are SELECT, TRUNCATE"; visible in the information_schema, and in SHOW TABLES.
#[test]
fn tables() {
    let (world, classes) = world(&STATES);
    let actor = world.actor("thread/sql/one_connection");
    begin(&world, &actor, classes[0]);
    begin(&world, &actor, classes[1]);
    let mut session = world.session();
    for table in TABLES {
        check(&mut session, &format!("SHOW TABLES LIKE '{table}'"), table);
        let visible = format!("SELECT COUNT(*) FROM information_schema.tables WHERE table_name = '{table}'");
        check(&mut session, &visible, "1");
        for (statement, command) in [("DELETE FROM", "DELETE"), ("UPDATE", "UPDATE"), ("INSERT INTO", "INSERT")] {
            let rest = match command {
                "UPDATE" => " SET event_name = 'x'",
                "INSERT" => " (event_name) VALUES ('x')",
                _ => "",
            };
            let error = run(&mut session, &format!("{statement} {table}{rest}"));
            assert!(error.starts_with(&format!("ERROR 1142 (42000): {command} command denied to user")), "{error}");
        }
        let some = format!("SELECT COUNT(*) > 0 FROM {table}");
        check(&mut session, &some, "1");
        check(&mut session, &format!("TRUNCATE TABLE {table}"), "0 changed");
        let left = if table.contains("summary") { "SELECT SUM(count_star) FROM" } else { "SELECT COUNT(*) FROM" };
        check(&mut session, &format!("{left} {table}"), "0");
    }
}

/// MySQL's views of sys, and one of ours: what every thread is doing now.
#[test]
fn sys_views() {
    let (world, classes) = world(&STATES);
    let mut session = world.session();
    let heads = [
        ("host_summary_by_stages", "host,event_name,total,total_latency,avg_latency"),
        ("user_summary_by_stages", "user,event_name,total,total_latency,avg_latency"),
        ("current_stages", "thread_id,thread_name,event_name,source,stage_so_far,work_completed,work_estimated,progress"),
    ];
    for (view, columns) in heads {
        for view in [view.to_owned(), format!("x${view}")] {
            assert_eq!(run(&mut session, &format!("SELECT * FROM sys.`{view}`")).trim_end(), columns, "{view}");
        }
    }
    let user = |name, user, host| {
        let identity = ActorIdentity { name, thread_type: ThreadType::Foreground, user, host, ..ActorIdentity::default() };
        Actor::attach(world.region, &identity)
    };
    let (joe, other, cleaner) = (
        user("thread/sql/one_connection", "joe", "there"),
        user("thread/sql/one_connection", "joe", "here"),
        world.actor("thread/sql/cleaner"),
    );
    for (actor, ns) in [(&joe, 3_000_000), (&other, 1_000_000), (&cleaner, 500)] {
        begin(&world, actor, classes[0]);
        world.clock.advance(TimerName::Nanosecond, ns);
        begin(&world, actor, classes[1]);
    }
    joe.change_stage_progress(|progress| (progress.completed, progress.estimated) = (1, 3));
    cleaner.end_any_stage(&world.clock);
    check(
        &mut session,
        "SELECT * FROM sys.host_summary_by_stages",
        "background,stage/sql/starting,1,500.00 ns,500.00 ns\nhere,stage/sql/starting,1,1.00 ms,1.00 ms\n\
         there,stage/sql/starting,1,3.00 ms,3.00 ms",
    );
    check(
        &mut session,
        "SELECT * FROM sys.user_summary_by_stages",
        "background,stage/sql/starting,1,500.00 ns,500.00 ns\njoe,stage/sql/starting,2,4.00 ms,2.00 ms",
    );
    check(
        &mut session,
        "SELECT thread_id, event_name, work_completed, work_estimated, progress FROM sys.current_stages ORDER BY thread_id",
        "1,stage/sql/Opening tables,1,3,33.33\n2,stage/sql/Opening tables,,,",
    );
}
