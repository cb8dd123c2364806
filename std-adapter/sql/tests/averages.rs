//! Averages where only some of the events are timed: of those that are.

mod common;

use common::{CONFIG, World, check, run};
use perfschema::core::{
    Actor, Class, FileEvent, FileIo, Held, InstrumentName, IoEvent, Operation, Setting, Size, StatementStart, WaitStart,
};
use perfschema_sql::Session;

/// Every event takes as long as every other, in nanoseconds.
const LONG: u64 = 1_000;
const EVENTS: usize = 64;

struct Told {
    world: World,
    actor: Actor<'static>,
    stage: Class,
    statement: Class,
    file: Class,
}

impl Told {
    fn new() -> Told {
        let sizes = CONFIG.with(Size::MaxStageClasses, 1).with(Size::MaxStatementClasses, 1).with(Size::DigestsSize, 2);
        let world = World::of(&sizes);
        let class = |name| world.region.register(InstrumentName::literal(name), Setting::ON).expect("there is room");
        let [stage, statement, file] = ["stage/sql/executing", "statement/sql/select", "wait/io/file/app/log"].map(class);
        let actor = world.user("ann", "db1");
        Told { stage, statement, file, actor, world }
    }

    /// So many waits for a mutex and for a file, stages and statements.
    fn tell(&self) {
        let (world, actor) = (&self.world, &self.actor);
        let id = world.region.refer_to_file(self.file, b"/srv/wal.log").expect("there is room");
        world.region.file_opened(id);
        let file = world.region.file(id);
        for _ in 0..EVENTS {
            world.wait(actor, 0, 1, LONG);
            let start = WaitStart { io: IoEvent::File(FileEvent::new(file.as_ref(), 0)), ..WaitStart::new(Operation::Write) };
            let wait = actor.begin(&world.clock, world.region.switches(self.file), self.file, &start);
            world.pass(LONG);
            actor.end(&world.clock, wait, Held::File(FileIo { file, group: Operation::Write.group() }));
            actor.begin_stage(&world.clock, world.region.switches(self.stage), None);
            world.pass(LONG);
            actor.end_any_stage(&world.clock);
            let start = StatementStart { text: "SELECT 1", schema: "shop", source: None };
            let statement = actor.begin_statement(&world.clock, world.region.switches(self.statement), &start);
            world.pass(LONG);
            actor.end_statement(&world.clock, statement);
        }
    }
}

/// One in 16 is timed, then none, as in a program that somebody looks at from time to time.
fn told() -> Told {
    let told = Told::new();
    let mut session = told.world.session();
    run(&mut session, "UPDATE setup_instruments SET TIMED_ONE_IN = 16");
    told.tell();
    run(&mut session, "UPDATE setup_instruments SET TIMED = 'NO'");
    told.tell();
    told
}

fn lines(session: &mut Session, statement: &str) -> Vec<String> {
    run(session, statement).lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn views_have_the_average_of_the_timed_events() {
    let told = told();
    let mut session = told.world.session();
    let columns = lines(
        &mut session,
        "SELECT CONCAT(TABLE_NAME, ' ', COLUMN_NAME) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'sys' \
         AND TABLE_NAME LIKE 'x$%' AND COLUMN_NAME LIKE '%avg_latency'",
    );
    assert!(columns.len() >= 10, "{columns:?}");
    for column in columns {
        let (view, column) = column.split_once(' ').expect("two names");
        let averages = lines(&mut session, &format!("SELECT DISTINCT {column} FROM sys.`{view}` WHERE {column} IS NOT NULL"));
        assert_eq!(averages, [(LONG * 1000).to_string()], "{view}.{column}");
    }
}

#[test]
fn tables_have_the_number_of_the_timed_events() {
    let told = told();
    let mut session = told.world.session();
    for table in [
        "events_waits_summary_global_by_event_name",
        "events_waits_summary_by_thread_by_event_name",
        "events_waits_summary_by_instance",
        "events_stages_summary_global_by_event_name",
        "events_statements_summary_by_digest",
        "file_summary_by_instance",
    ] {
        let rows = lines(
            &mut session,
            &format!(
                "SELECT COUNT_STAR, COUNT_TIMER_WAIT BETWEEN 2 AND 6, SUM_TIMER_WAIT DIV COUNT_TIMER_WAIT = AVG_TIMER_WAIT \
                 FROM {table} WHERE COUNT_TIMER_WAIT > 0"
            ),
        );
        assert!(!rows.is_empty() && rows.iter().all(|row| *row == format!("{},1,1", 2 * EVENTS)), "{table}: {rows:?}");
    }
    let file = "SELECT COUNT_TIMER_WRITE = COUNT_TIMER_WAIT, COUNT_TIMER_READ, COUNT_TIMER_MISC FROM file_summary_by_event_name";
    check(&mut session, file, "1,0,0");
}

/// Tools see MySQL's columns.
#[test]
fn that_number_is_shown_only_where_it_is_named() {
    let told = told();
    let mut session = told.world.session();
    let table = "events_waits_summary_by_thread_by_event_name";
    let columns = "THREAD_ID,EVENT_NAME,COUNT_STAR,SUM_TIMER_WAIT,MIN_TIMER_WAIT,AVG_TIMER_WAIT,MAX_TIMER_WAIT";
    for all in ["*", "w.*"] {
        let found = run(&mut session, &format!("SELECT {all} FROM {table} w LIMIT 1"));
        assert_eq!(found.lines().next(), Some(columns), "{all}");
    }
    let names: Vec<&str> = columns.split(',').collect();
    assert_eq!(
        lines(&mut session, &format!("SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_NAME = '{table}'")),
        names
    );
    assert_eq!(lines(&mut session, &format!("SHOW COLUMNS FROM {table}")).len(), names.len());
    assert!(!run(&mut session, &format!("SHOW CREATE TABLE {table}")).contains("COUNT_TIMER"));
    assert_eq!(
        run(&mut session, &format!("CREATE TABLE test.saved SELECT *, COUNT_TIMER_WAIT FROM {table}")).split_whitespace().next(),
        Some("Records:")
    );
    check(
        &mut session,
        "SELECT COUNT(*) FROM test.saved s JOIN events_waits_summary_by_thread_by_event_name w USING (COUNT_TIMER_WAIT, EVENT_NAME)",
        "12",
    );
    let head = session.describe(&format!("SELECT COUNT_TIMER_WAIT FROM {table}")).expect("it is there").columns.remove(0);
    assert_eq!(
        (head.name.as_str(), head.sql_type.to_string().as_str(), head.nullable),
        ("COUNT_TIMER_WAIT", "bigint unsigned", false)
    );
}
