//! Statements: what they show while they last and afterwards, what lies within them, and their figures.

mod common;

use common::{CONFIG, MUTEX, World};
use perfschema_core::digest::Digest;
use perfschema_core::timer::{Clock, MockClock, TimerName};
use perfschema_core::{
    Actor, Child, Class, Consumer, Held, Identity, InstrumentName, Lost, Operation, Region, RegisterError, Setting, Size,
    Statement, StatementError, StatementStart, StatementStatistics, WaitStart, name::EventClass, tables,
};
use std::panic::Location;

const CURRENT: &str = "events_statements_current";
const HISTORY: &str = "events_statements_history";
const LONG: &str = "events_statements_history_long";
const GLOBAL: &str = "events_statements_summary_global_by_event_name";
const BY_THREAD: &str = "events_statements_summary_by_thread_by_event_name";
const STAGES: &str = "events_stages_history_long";
const WAITS: &str = "events_waits_history_long";

const A: &str = "statement/test/search";
const B: &str = "statement/test/insert";
const STAGE: &str = "stage/test/sorting";
const SUMS: &str = "COUNT_STAR,SUM_TIMER_WAIT,MIN_TIMER_WAIT,AVG_TIMER_WAIT,MAX_TIMER_WAIT";
const NESTING: &str = "EVENT_ID,END_EVENT_ID,NESTING_EVENT_ID,NESTING_EVENT_TYPE";

fn begin<'r>(world: World, actor: &Actor<'r>, class: Class, text: &str) -> Statement<'r> {
    actor.begin_statement(world.clock, world.region.switches(class), &StatementStart { text, ..Default::default() })
}

fn end(world: World, actor: &Actor<'_>, statement: Statement<'_>) {
    actor.end_statement(world.clock, statement);
}

/// A region with everything on, two instruments of statements, and a thread.
fn world() -> (World, Class, Class, Actor<'static>) {
    let world = World::on(&CONFIG);
    (world, world.class(A), world.class(B), world.actor("a"))
}

/// Each figure another number.
fn figures() -> StatementStatistics {
    StatementStatistics {
        lock_time_ps: 1,
        errors: 2,
        warnings: 3,
        rows_affected: 4,
        rows_sent: 5,
        rows_examined: 6,
        created_tmp_disk_tables: 7,
        created_tmp_tables: 8,
        select_full_join: 9,
        select_full_range_join: 10,
        select_range: 11,
        select_range_check: 12,
        select_scan: 13,
        sort_merge_passes: 14,
        sort_range: 15,
        sort_rows: 16,
        sort_scan: 17,
        no_index_used: 18,
        no_good_index_used: 19,
    }
}
const FIGURES: &str = "2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19";
const NO_FIGURES: &str = "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0";

#[test]
fn a_statement_is_visible_while_it_lasts_and_kept_when_it_has_ended() {
    let (world, a, _, actor) = world();
    world.pass(5);
    let source = Location::caller();
    let start = StatementStart { text: "find words", schema: "index", source: Some(source) };
    let mut statement = actor.begin_statement(world.clock, world.region.switches(a), &start);
    let line = format!("statements.rs:{}", source.line());
    let none = "NULL NULL NULL NULL";
    let digest = Digest::of("find words").text();
    let row = |times: &str, lock: u64, error: &str, figures: &str| {
        format!("1 1 {times} {lock} find words {digest} find words index {none} {error} {figures} NULL NULL 0")
            .replacen("1 1 ", "1 1 ", 1)
    };
    let running = format!("NULL {A} {line} 5000 NULL NULL");
    world.expect(CURRENT, "*", &[&row(&running, 0, "NULL NULL NULL", NO_FIGURES)]);
    world.expect(HISTORY, "*", &[]);
    world.expect(LONG, "*", &[]);
    // What is said of it is seen at once; an error when it has ended.
    actor.change_statement(&mut statement, |statistics| *statistics = figures());
    assert_eq!(*statement.statistics(), figures());
    actor.set_statement_error(
        &mut statement,
        &StatementError { number: 1146, sqlstate: "42S02".into(), message: "no such table".into() },
    );
    world.expect(CURRENT, "*", &[&row(&running, 1, "NULL NULL NULL", FIGURES)]);
    world.expect(GLOBAL, SUMS, &["0 0 0 0 0", "0 0 0 0 0"]);
    world.pass(7);
    assert_eq!(actor.end_statement(world.clock, statement), Some(12));
    let ended = row(&format!("1 {A} {line} 5000 12000 7000"), 1, "1146 42S02 no such table", FIGURES);
    for table in [CURRENT, HISTORY, LONG] {
        world.expect(table, "*", &[&ended]);
    }
    world.expect(GLOBAL, "*", &[&format!("{B} 0 0 0 0 0 0 {NO_FIGURES}"), &format!("{A} 1 7000 7000 7000 7000 1 {FIGURES}")]);
    world.expect(
        BY_THREAD,
        "*",
        &[&format!("1 {B} 0 0 0 0 0 0 {NO_FIGURES}"), &format!("1 {A} 1 7000 7000 7000 7000 1 {FIGURES}")],
    );
}

/// What a place held is gone when the next one takes it, be its texts shorter or none.
#[test]
fn nothing_of_an_earlier_statement_shows_in_a_later_one() {
    let (world, a, _, actor) = world();
    for _ in 0..20 {
        let start = StatementStart { text: "a text that fills all its words…", schema: "a schema", source: None };
        let mut statement = actor.begin_statement(world.clock, world.region.switches(a), &start);
        actor.change_statement(&mut statement, |statistics| *statistics = figures());
        actor.set_statement_error(
            &mut statement,
            &StatementError { number: 9, sqlstate: "HY000".into(), message: "a message".into() },
        );
        end(world, &actor, statement);
    }
    let columns = "SQL_TEXT,CURRENT_SCHEMA,MYSQL_ERRNO,RETURNED_SQLSTATE,MESSAGE_TEXT,ERRORS,NO_GOOD_INDEX_USED";
    for _ in 0..20 {
        let statement = begin(world, &actor, a, "");
        world.expect(CURRENT, columns, &["NULL NULL NULL NULL NULL 0 0"]);
        end(world, &actor, statement);
        world.expect(CURRENT, columns, &["NULL NULL 0 NULL NULL 0 0"]);
    }
    world.expect(HISTORY, columns, &["NULL NULL 0 NULL NULL 0 0"; 2]);
    world.expect(LONG, columns, &["NULL NULL 0 NULL NULL 0 0"; 6]);
}

#[test]
fn a_text_is_cut_where_a_character_begins() {
    let (world, a, _, actor) = world();
    for (text, kept) in [
        ("eight by", "eight by"),
        ("32 bytes are what there is for i", "32 bytes are what there is for i"),
        ("32 bytes are what there is for it", "32 bytes are what there is for i"),
        ("32 bytes are what there is for \u{e4}", "32 bytes are what there is for "),
    ] {
        let statement = begin(world, &actor, a, text);
        world.expect(CURRENT, "SQL_TEXT", &[kept]);
        end(world, &actor, statement);
        assert!(world.select(LONG, "SQL_TEXT").contains(&kept.to_string()));
    }
}

/// "Session -> Transaction -> Statement -> Stage -> Wait" (WL#4813).
#[test]
fn waits_lie_within_stages_and_stages_within_statements() {
    let (world, a, b, actor) = world();
    let (mutex, stage) = (world.class(MUTEX), world.class(STAGE));
    let begin_stage = || actor.begin_stage(world.clock, world.region.switches(stage), None);
    let outer = begin(world, &actor, a, "outer"); // 1
    world.wait(&actor, mutex, 1); // 2, in the statement
    begin_stage(); // 3, in the statement
    world.wait(&actor, mutex, 1); // 4, in the stage
    let inner = begin(world, &actor, b, "inner"); // 5, in the statement
    world.wait(&actor, mutex, 1); // 6, in the inner statement
    end(world, &actor, inner);
    world.wait(&actor, mutex, 1); // 7, in the stage, which goes on
    let inner = begin(world, &actor, b, "inner"); // 8
    begin_stage(); // 9, in the inner statement; ends 3
    world.wait(&actor, mutex, 1); // 10, in 9
    end(world, &actor, inner); // ends 9
    world.wait(&actor, mutex, 1); // 11, in the outer statement: its stage has ended
    begin_stage(); // 12
    end(world, &actor, outer);
    world.wait(&actor, mutex, 1); // 13, in nothing
    let levels = format!("{NESTING},NESTING_EVENT_LEVEL");
    world.expect(LONG, &levels, &["1 12 NULL NULL 0", "5 6 1 STATEMENT 1", "8 10 1 STATEMENT 1"]);
    world.expect(STAGES, NESTING, &["3 8 1 STATEMENT", "9 10 8 STATEMENT", "12 12 1 STATEMENT"]);
    world.expect(
        WAITS,
        NESTING,
        &[
            "2 2 1 STATEMENT",
            "4 4 3 STAGE",
            "6 6 5 STATEMENT",
            "7 7 3 STAGE",
            "10 10 9 STAGE",
            "11 11 1 STATEMENT",
            "13 13 NULL NULL",
        ],
    );
}

/// As the code that runs when a lazy value is asked for the first time.
#[test]
fn a_statement_within_a_wait_gives_the_wait_back() {
    let (world, a, _, actor) = world();
    let mutex = world.class(MUTEX);
    let wait = world.begin(&actor, mutex);
    let statement = begin(world, &actor, a, "");
    world.wait(&actor, mutex, 1);
    end(world, &actor, statement);
    world.wait(&actor, mutex, 1);
    world.end(&actor, wait);
    world.wait(&actor, mutex, 1);
    world.expect(WAITS, NESTING, &["1 4 NULL NULL", "3 3 2 STATEMENT", "4 4 1 WAIT", "5 5 NULL NULL"]);
}

/// Goes on at each reading.
struct Ticking<'a>(&'a MockClock);

impl Clock for Ticking<'_> {
    fn ticks(&self, timer: TimerName) -> u64 {
        self.0.advance(timer, 1);
        self.0.ticks(timer)
    }
}

/// One wait within the other, and the statement within both; the inner one ends before it.
#[test]
fn the_wait_around_all_goes_on_enclosing() {
    let (world, class, _, actor) = world();
    let pool = world.class("wait/test/pool");
    let wait = |operation| actor.begin(world.clock, world.region.switches(pool), pool, &WaitStart::new(operation));
    let [outer, inner] = [Operation::Acquire, Operation::Acquire].map(wait);
    let statement = begin(world, &actor, class, "");
    actor.end_in_any_order(world.clock, inner, Held::None);
    end(world, &actor, statement);
    world.wait(&actor, world.class(MUTEX), 1);
    actor.end_in_any_order(world.clock, outer, Held::None);
    world.expect(WAITS, NESTING, &["1 4 NULL NULL", "2 3 1 WAIT", "4 4 1 WAIT"]);
}

#[test]
fn the_stage_ends_with_its_statement_at_the_same_moment() {
    let (world, a, _, actor) = world();
    let stage = world.class(STAGE);
    world.region.set_event_timer(EventClass::Stage, TimerName::Nanosecond);
    world.region.set_event_timer(EventClass::Statement, TimerName::Nanosecond);
    let clock = Ticking(world.clock);
    let statement = actor.begin_statement(&clock, world.region.switches(a), &StatementStart::default());
    actor.begin_stage(&clock, world.region.switches(stage), None);
    actor.end_statement(&clock, statement);
    assert_eq!(world.select(STAGES, "TIMER_END"), world.select(LONG, "TIMER_END"));
    assert!(actor.running_stage().is_none());
}

/// A stage that began outside lies within nothing, and goes on.
#[test]
fn a_stage_outlasts_a_statement_that_begins_within_it() {
    let (world, a, _, actor) = world();
    actor.begin_stage(world.clock, world.region.switches(world.class(STAGE)), None);
    let statement = begin(world, &actor, a, "");
    end(world, &actor, statement);
    assert!(actor.running_stage().is_some());
    world.expect(LONG, NESTING, &["2 2 NULL NULL"]);
}

/// Whoever had the slot before may have left waits that run, in records that nobody has taken since.
#[test]
fn nothing_lies_within_what_another_thread_has_left() {
    let (world, a, _, gone) = world();
    let mutex = world.class(MUTEX);
    let _left = [(); 3].map(|()| world.begin(&gone, mutex));
    gone.detach();
    let actor = world.actor("b");
    let outer = world.begin(&actor, mutex);
    let statement = begin(world, &actor, a, "");
    let switches = world.region.switches(mutex);
    let beside = actor.begin_concurrent(world.clock, switches, mutex, &WaitStart::new(Operation::Lock));
    actor.end_in_any_order(world.clock, outer, Held::None);
    end(world, &actor, statement);
    let last = world.begin(&actor, mutex);
    world.expect("events_waits_current", "EVENT_ID,NESTING_EVENT_ID", &["3 2", "4 NULL"]);
    actor.end_concurrent(world.clock, beside, Held::None);
    world.end(&actor, last);
}

#[test]
fn statements_may_end_in_any_order() {
    let (world, a, b, actor) = world();
    let mutex = world.class(MUTEX);
    let outer = begin(world, &actor, a, "outer");
    let inner = begin(world, &actor, b, "inner");
    end(world, &actor, outer);
    world.expect(CURRENT, "SQL_TEXT", &["inner"]);
    end(world, &actor, inner);
    world.wait(&actor, mutex, 1);
    world.expect(WAITS, NESTING, &["3 3 NULL NULL"]);
    let next = begin(world, &actor, a, "next");
    world.expect(CURRENT, "SQL_TEXT,NESTING_EVENT_ID,NESTING_EVENT_LEVEL", &["next NULL 0"]);
    end(world, &actor, next);
}

#[test]
fn sums_are_truncated_each_alone_and_start_anew_with_each_thread() {
    let (world, a, _, actor) = world();
    let run = |actor: &Actor<'_>, rows| {
        let mut statement = begin(world, actor, a, "");
        actor.change_statement(&mut statement, |statistics| statistics.rows_sent = rows);
        world.pass(1);
        end(world, actor, statement);
    };
    let global = || world.select(GLOBAL, "COUNT_STAR,SUM_ROWS_SENT").pop().unwrap();
    let by_thread = || world.select(BY_THREAD, "THREAD_ID,COUNT_STAR,SUM_ROWS_SENT").pop().unwrap();
    run(&actor, 1);
    run(&actor, 10);
    assert_eq!((global(), by_thread()), ("2 11".into(), "1 2 11".into()));
    world.truncate(GLOBAL);
    assert_eq!((global(), by_thread()), ("0 0".into(), "1 2 11".into()));
    run(&actor, 100);
    assert_eq!((global(), by_thread()), ("1 100".into(), "1 3 111".into()));
    world.truncate(BY_THREAD);
    run(&actor, 1000);
    assert_eq!((global(), by_thread()), ("2 1100".into(), "1 1 1000".into()));
    actor.detach();
    assert_eq!(global(), "2 1100");
    run(&world.actor("b"), 5);
    assert_eq!((global(), by_thread()), ("3 1105".into(), "2 1 5".into()));
    // Nobody's own.
    run(&actor, 20_000);
    assert_eq!((global(), by_thread()), ("4 21105".into(), "2 1 5".into()));
    world.truncate(GLOBAL);
    assert_eq!(global(), "0 0");
}

#[test]
fn a_statement_of_a_thread_that_ends_is_counted_and_shown_nowhere() {
    let (world, a, _, actor) = world();
    let mut statement = begin(world, &actor, a, "of the first");
    actor.detach();
    let other = world.actor("b");
    let others = begin(world, &other, a, "of the other");
    // The place is the other's now.
    actor.change_statement(&mut statement, |statistics| statistics.rows_sent = 7);
    actor.set_statement_error(&mut statement, &StatementError { number: 1, sqlstate: "HY000".into(), message: "m".into() });
    world.expect(CURRENT, "SQL_TEXT,ROWS_SENT", &["of the other 0"]);
    end(world, &actor, statement);
    world.expect(CURRENT, "SQL_TEXT,ROWS_SENT,TIMER_END", &["of the other 0 NULL"]);
    assert_eq!(world.region.statements_by_event_name(a).1.rows_sent, 7);
    // Another thread counts it, and leaves it where it is.
    actor.end_statement(world.clock, others);
    world.expect(CURRENT, "SQL_TEXT,TIMER_END", &["of the other NULL"]);
    assert_eq!(world.region.statements_by_event_name(a).0.count, 2);
}

/// Who ends another's statement counts it as its own, and writes nothing that is the other's.
#[test]
fn a_statement_that_another_thread_ends_is_counted_by_that_one() {
    let (world, a, b, first) = world();
    let second = world.actor("b");
    let own = begin(world, &second, b, "its own");
    let mut statement = begin(world, &first, a, "of the first");
    world.pass(1);
    second.change_statement(&mut statement, |statistics| statistics.rows_sent = 7);
    end(world, &second, statement);
    world.expect(CURRENT, "THREAD_ID,SQL_TEXT,ROWS_SENT,TIMER_END", &["1 of the first 0 NULL", "2 its own 0 NULL"]);
    world.expect(LONG, "SQL_TEXT", &[]);
    let counted = world.select(BY_THREAD, "THREAD_ID,EVENT_NAME,COUNT_STAR,SUM_ROWS_SENT");
    let counted: Vec<_> = counted.iter().filter(|row| !row.ends_with(" 0 0")).collect();
    assert_eq!(counted, [&format!("2 {A} 1 7")]);
    assert!(world.select(GLOBAL, SUMS).iter().any(|row| row == "1 1000 1000 1000 1000"), "{:?}", world.select(GLOBAL, SUMS));
    // Both go on as before: what lies within, and where a record is free.
    let inner = begin(world, &second, b, "within its own");
    world.expect(CURRENT, "SQL_TEXT,NESTING_EVENT_LEVEL", &["its own 0", "of the first 0", "within its own 1"]);
    end(world, &second, inner);
    end(world, &second, own);
    world.expect(LONG, "SQL_TEXT", &["its own", "within its own"]);
    first.detach();
    let rest: Vec<_> = (0..3).map(|_| begin(world, &second, b, "")).collect();
    rest.into_iter().rev().for_each(|statement| end(world, &second, statement));
    assert_eq!((world.region.lost(Lost::NestedEvents), world.region.statements_by_event_name(b).0.count), (0, 5));
}

/// The number that it then has is one of those that were drawn while a wait of the ending thread ran.
#[test]
fn a_wait_ends_after_a_statement_of_another_thread() {
    let (world, a, _, first) = world();
    let (second, mutex) = (world.actor("b"), world.class(MUTEX));
    let statement = begin(world, &first, a, "");
    let alone = world.begin(&second, mutex);
    world.end(&second, alone);
    let wait = world.begin(&second, mutex);
    end(world, &second, statement);
    world.end(&second, wait);
    world.expect("events_waits_history", "EVENT_ID,END_EVENT_ID", &["1 1", "2 3"]);
}

/// Said by another thread meanwhile, and shown since its own ends it.
#[test]
fn what_another_thread_said_is_shown_at_the_end() {
    let (world, class, _, first) = world();
    let second = world.actor("b");
    let mut statement = begin(world, &first, class, "");
    second.change_statement(&mut statement, |statistics| statistics.rows_sent = 7);
    world.expect(CURRENT, "ROWS_SENT", &["0"]);
    end(world, &first, statement);
    for table in [CURRENT, HISTORY, LONG] {
        world.expect(table, "ROWS_SENT", &["7"]);
    }
}

/// Of two without a THREAD_ID, who ends the other's statement goes on with its own, and with the stage that lies within it.
#[test]
fn who_has_no_slot_is_not_taken_for_another() {
    let (world, a, b, _) = world();
    let stage = world.class(STAGE);
    let [first, second] = [(); 2].map(|()| Actor::without_slot(world.region));
    let of_first = begin(world, &first, a, "");
    let own = begin(world, &second, b, "");
    assert_eq!((of_first.actor_id(), own.actor_id(), first.id()), (None, None, None));
    second.begin_stage(world.clock, world.region.switches(stage), None);
    world.pass(5);
    end(world, &second, of_first);
    assert!(second.running_stage().is_some());
    world.pass(5);
    end(world, &second, own);
    assert_eq!(world.region.summary_by_event_name(stage).sum_ps, 10_000);
}

#[test]
fn more_than_there_is_room_for_is_counted() {
    let (world, a, _, actor) = world();
    // Two of the history, and six that run at once.
    let running: Vec<_> = (0..9).map(|_| begin(world, &actor, a, "")).collect();
    assert_eq!((world.select(CURRENT, "EVENT_ID").len(), world.region.lost(Lost::NestedEvents)), (8, 1));
    running.into_iter().rev().for_each(|statement| end(world, &actor, statement));
    assert_eq!(world.region.statements_by_event_name(a).0.count, 9);
    world.class(B);
    let full = world.region.register(InstrumentName::literal("statement/test/third"), Setting::ON);
    assert_eq!(full, Err(RegisterError::Full { size: Size::MaxStatementClasses }));
    assert_eq!(world.region.lost(Lost::StatementClasses), 1);
}

#[test]
fn what_is_off_is_recorded_nowhere() {
    let (world, a, b, actor) = world();
    world.region.set_setting(b, Setting::OFF);
    let mut statement = begin(world, &actor, b, "off");
    assert!(!statement.is_recorded());
    actor.change_statement(&mut statement, |statistics| statistics.errors = 1);
    end(world, &actor, statement);
    for (consumer, table) in [
        (Consumer::EventsStatementsHistory, HISTORY),
        (Consumer::EventsStatementsHistoryLong, LONG),
        (Consumer::EventsStatementsCurrent, CURRENT),
    ] {
        world.region.set_consumer(consumer, false);
        let statement = begin(world, &actor, a, "on");
        end(world, &actor, statement);
        for table in [CURRENT, HISTORY, LONG] {
            world.truncate(table);
        }
        let statement = begin(world, &actor, a, "on");
        end(world, &actor, statement);
        world.expect(table, "EVENT_ID", &[]);
    }
    assert_eq!(world.region.summary_by_event_name(a).count, 6);
    assert_eq!(world.region.summary_by_event_name(b).count, 0);
    world.region.set_setting(a, Setting::COUNTED);
    let statement = begin(world, &actor, a, "not timed");
    world.pass(5);
    assert_eq!(actor.end_statement(world.clock, statement), None);
    assert_eq!(world.region.summary_by_event_name(a).count_timed, 6);
}

#[test]
fn truncate_hides_what_is_there() {
    let (world, a, _, actor) = world();
    let statement = begin(world, &actor, a, "hidden");
    world.truncate(CURRENT);
    world.expect(CURRENT, "EVENT_ID", &[]);
    end(world, &actor, statement);
    world.expect(HISTORY, "EVENT_ID", &[]);
    world.expect(LONG, "EVENT_ID", &[]);
    let statement = begin(world, &actor, a, "kept");
    end(world, &actor, statement);
    for table in [CURRENT, HISTORY, LONG] {
        world.expect(table, "SQL_TEXT", &["kept"]);
    }
    for table in [HISTORY, LONG] {
        world.truncate(table);
        world.expect(table, "SQL_TEXT", &[]);
    }
}

/// Columns, order, types and NULL rules are shipped MySQL's.
#[test]
fn tables_are_timed_by_their_own_timer() {
    let (world, a, _, actor) = world();
    world.expect("setup_timers", "NAME", &["idle", "stage", "statement", "transaction", "wait"]);
    world.region.set_event_timer(EventClass::Statement, TimerName::Microsecond);
    let statement = begin(world, &actor, a, "");
    world.pass(2_500);
    end(world, &actor, statement);
    world.expect(LONG, "TIMER_WAIT", &["2000000"]);
    assert!(tables::find(LONG).is_ok());
}

const BY_DIGEST: &str = "events_statements_summary_by_digest";

#[test]
fn statements_that_are_alike_are_counted_together() {
    let (world, a, b, actor) = world();
    world.region.set_event_timer(EventClass::Statement, TimerName::Nanosecond);
    let run = |class, schema, text, ns, rows_sent| {
        let start = StatementStart { text, schema, source: None };
        let mut statement = actor.begin_statement(world.clock, world.region.switches(class), &start);
        actor.change_statement(&mut statement, |statistics| *statistics = StatementStatistics { rows_sent, ..figures() });
        world.pass(ns);
        end(world, &actor, statement);
    };
    run(a, "app", "find 17", 5, 1);
    run(b, "app", "find  'bolts'", 7, 10);
    run(a, "", "find 17", 1, 100);
    // Nothing to tell them by.
    run(a, "app", "", 1, 1000);
    let columns = format!("SCHEMA_NAME,DIGEST,DIGEST_TEXT,{SUMS},SUM_LOCK_TIME,SUM_ERRORS,SUM_ROWS_SENT,SUM_NO_GOOD_INDEX_USED");
    let digest = Digest::of("find ?").text();
    world.expect(
        BY_DIGEST,
        &columns,
        &[
            &format!("NULL {digest} find ? 1 1000 1000 1000 1000 1 2 100 19"),
            &format!("app {digest} find ? 2 12000 5000 6000 7000 2 4 11 38"),
        ],
    );
    world.expect(HISTORY, "SQL_TEXT,DIGEST,DIGEST_TEXT", &["NULL NULL NULL", &format!("find 17 {digest} find ?")]);
    world.truncate(BY_DIGEST);
    world.expect(BY_DIGEST, "*", &[]);
    run(a, "app", "find 1", 3, 1);
    let again = [format!("app {digest} find ? 1 3000 3000 3000 3000 1 2 1 19")];
    world.expect(BY_DIGEST, &columns, &again.each_ref().map(|row| &**row));
    // Not without the consumer, not even what is there already.
    world.region.set_consumer(Consumer::StatementsDigest, false);
    run(a, "app", "find 1", 3, 1);
    world.expect(BY_DIGEST, &columns, &again.each_ref().map(|row| &**row));
    assert!(world.select(CURRENT, "SQL_TEXT,DIGEST,DIGEST_TEXT").contains(&"find 1 NULL NULL".to_string()));
}

/// FIRST_SEEN and LAST_SEEN are when statements ended, on the wall's clock.
#[test]
fn what_is_alike_is_seen_for_the_first_and_the_last_time() {
    const DAY: u64 = 86_400_000_000_000;
    let clock: &'static MockClock = Box::leak(Box::new(MockClock::new()));
    clock.set(TimerName::Nanosecond, 500);
    let words: &'static [_] = common::words(CONFIG.words()).leak();
    let identity = Identity { start_unix_ns: 20_000 * DAY, ..Default::default() };
    let region = Region::create(words, &CONFIG, &identity, &clock.timers()).unwrap();
    let class = region.register(InstrumentName::literal(A), Setting::ON).unwrap();
    region.enable_everything();
    let actor = Actor::attach(&region, &Default::default());
    for (timer, text) in [(TimerName::Nanosecond, "first"), (TimerName::Cycle, "second")] {
        region.set_event_timer(EventClass::Statement, timer);
        for _ in 0..3 {
            let start = StatementStart { text, ..Default::default() };
            let statement = actor.begin_statement(clock, region.switches(class), &start);
            clock.advance(TimerName::Nanosecond, DAY + 1_001_234_567);
            actor.end_statement(clock, statement);
        }
    }
    assert_eq!(
        common::select(&region, BY_DIGEST, "DIGEST_TEXT,FIRST_SEEN,LAST_SEEN"),
        [
            "first 2024-10-05 00:00:01.001234 2024-10-07 00:00:03.003703",
            "second 2024-10-08 00:00:04.004938 2024-10-10 00:00:06.007407",
        ]
    );
}

/// FIRST_SEEN and LAST_SEEN in a forked child: its own time, however old the parent was.
#[test]
fn a_child_sees_digests_at_the_time_of_the_wall() {
    const DAY: u64 = 86_400_000_000_000;
    let clock: &'static MockClock = Box::leak(Box::new(MockClock::new()));
    clock.set(TimerName::Nanosecond, 500);
    let words: &'static [_] = common::words(CONFIG.words()).leak();
    let identity = Identity { start_unix_ns: 20_000 * DAY, start_monotonic_ns: 500, ..Default::default() };
    let region = Region::create(words, &CONFIG, &identity, &clock.timers()).unwrap();
    let class = region.register(InstrumentName::literal(A), Setting::ON).unwrap();
    region.enable_everything();
    let actor = Actor::attach(&region, &Default::default());
    // It is forked when the parent is ten days old: 1970-01-01 + 20010 days.
    common::advance(clock, 10 * DAY);
    let child = Child { pid: 8, os_id: 80, start_unix_ns: 20_010 * DAY, start_monotonic_ns: 500 + 10 * DAY };
    region.forked(&child, &[Some(&actor)], true);
    let start = StatementStart { text: "in the child", ..Default::default() };
    let statement = actor.begin_statement(clock, region.switches(class), &start);
    actor.end_statement(clock, statement);
    assert_eq!(
        common::select(&region, BY_DIGEST, "DIGEST_TEXT,FIRST_SEEN,LAST_SEEN"),
        ["in the child 2024-10-14 00:00:00.000000 2024-10-14 00:00:00.000000"]
    );
}

#[test]
fn those_that_find_no_place_are_counted_without_a_digest() {
    let (world, a, _, actor) = world();
    for text in ["one", "two", "three", "one", "four"] {
        let statement = begin(world, &actor, a, text);
        end(world, &actor, statement);
    }
    // Three places, of which one is for those.
    let rows = world.select(BY_DIGEST, "DIGEST_TEXT,COUNT_STAR");
    assert_eq!(rows, ["NULL 2", "one 2", "two 1"]);
    assert_eq!(world.region.lost(Lost::StatementDigests), 2);
    let none = World::on(&CONFIG.with(Size::DigestsSize, 0));
    let (class, actor) = (none.class(A), none.actor("a"));
    let statement = begin(none, &actor, class, "one");
    end(none, &actor, statement);
    none.expect(BY_DIGEST, "*", &[]);
    // It was not asked for, and nothing is lost.
    assert_eq!(none.region.lost(Lost::StatementDigests), 0);
    assert_eq!(none.region.summary_by_event_name(class).count, 1);
}

/// Of a long one the first bytes are kept, and what is alike is told by those.
#[test]
fn lists_of_any_length_are_counted_together() {
    let world = World::on(&CONFIG.with(Size::MaxSqlTextLength, 256).with(Size::DigestsSize, 4));
    let (class, actor) = (world.class(A), world.actor("a"));
    let run = |text: &str| {
        let statement = begin(world, &actor, class, text);
        end(world, &actor, statement);
    };
    let list = |count: usize, each: &dyn Fn(usize) -> String| (0..count).map(each).collect::<Vec<_>>().join(", ");
    for (run_number, count) in [2, 20, 40, 41, 42, 43, 44, 45, 400].into_iter().enumerate() {
        run(&format!("INSERT INTO parts VALUES {}", list(count, &|id| format!("({id}, '{}', NULL)", "x".repeat(run_number)))));
        run(&format!("SELECT name FROM parts WHERE id IN ({})", list(count, &|id| (id * run_number).to_string())));
        run(&format!("SELECT 1{} -- {run_number}", ";".repeat(run_number)));
    }
    let rows = ["INSERT INTO parts VALUES (...) /* , ... */ 9", "SELECT ? 9", "SELECT name FROM parts WHERE id IN (...) 9"];
    let mut found = world.select(BY_DIGEST, "DIGEST_TEXT,COUNT_STAR");
    found.retain(|row| !row.starts_with("NULL"));
    found.sort();
    assert_eq!(found, rows);
}

/// TRUNCATE gives the places of digests back, so that there is room for others; but for those that are held by a statement that runs.
#[test]
fn truncate_makes_room_for_other_digests() {
    let (world, a, _, actor) = world();
    let run = |text| {
        let statement = begin(world, &actor, a, text);
        end(world, &actor, statement);
    };
    let counts = || world.select(BY_DIGEST, "DIGEST_TEXT,COUNT_STAR");
    ["one", "two", "three"].into_iter().for_each(run);
    assert_eq!(counts(), ["NULL 1", "one 1", "two 1"]);
    world.truncate(BY_DIGEST);
    ["three", "four", "five", "three"].into_iter().for_each(run);
    assert_eq!(counts(), ["NULL 1", "four 1", "three 2"]);

    let four = begin(world, &actor, a, "four");
    world.truncate(BY_DIGEST);
    assert!(counts().is_empty());
    ["one", "two"].into_iter().for_each(run);
    assert_eq!(counts(), ["NULL 1", "one 1"]);
    end(world, &actor, four);
    assert_eq!(counts(), ["NULL 1", "four 1", "one 1"]);
    // Nor do those hold it longer that end when their thread has.
    let (two, one) = (begin(world, &actor, a, "two"), begin(world, &actor, a, "one"));
    actor.detach();
    world.truncate(BY_DIGEST);
    end(world, &actor, two);
    end(world, &actor, one);
    world.truncate(BY_DIGEST);
    let actor = world.actor("b");
    for text in ["five", "six"] {
        let statement = begin(world, &actor, a, text);
        end(world, &actor, statement);
    }
    assert_eq!(counts(), ["five 1", "six 1"]);
}

/// A place knows how many hold it, up to a limit that tasks do not reach; beyond it, statements count as those without a place do.
#[test]
#[cfg_attr(miri, ignore = "so many take too long there")]
fn so_many_may_be_alike_at_once() {
    const HOLDERS: usize = 65_535;
    let (world, a, _, actor) = world();
    let statements: Vec<_> = (0..HOLDERS + 2).map(|_| begin(world, &actor, a, "one")).collect();
    assert_eq!(world.region.lost(Lost::StatementDigests), 2);
    statements.into_iter().rev().for_each(|statement| end(world, &actor, statement));
    assert_eq!(world.select(BY_DIGEST, "DIGEST_TEXT,COUNT_STAR"), ["NULL 2".to_string(), format!("one {HOLDERS}")]);
    world.truncate(BY_DIGEST);
    let statement = begin(world, &actor, a, "one");
    end(world, &actor, statement);
    assert_eq!(world.select(BY_DIGEST, "DIGEST_TEXT,COUNT_STAR"), ["one 1"]);
}

/// All threads share the sums of a digest; each number is whole.
#[test]
fn threads_count_what_is_alike_together() {
    let world = World::on(&CONFIG.with(Size::DigestsSize, 20));
    let class = world.class(A);
    let rounds: u64 = if cfg!(miri) { 20 } else { 5_000 };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let actor = world.actor("t");
                for round in 0..rounds {
                    let text = ["a 1", "b 2", "c 3", "d 4"][round as usize % 4];
                    let mut statement = begin(world, &actor, class, text);
                    actor.change_statement(&mut statement, |statistics| statistics.rows_sent = 2);
                    end(world, &actor, statement);
                }
                actor.detach();
            });
        }
    });
    let each = 3 * rounds / 4;
    let expected = ["a", "b", "c", "d"].map(|name| format!("{name} ? {each} {}", 2 * each));
    world.expect(BY_DIGEST, "DIGEST_TEXT,COUNT_STAR,SUM_ROWS_SENT", &expected.each_ref().map(|row| &**row));
}

/// Also where a word is two halves: of a lock that was waited for for 5 ms both say how long.
#[test]
fn a_statement_that_runs_shows_large_figures() {
    let (world, class, _, actor) = world();
    let mut statement = begin(world, &actor, class, "x");
    for lock_time_ps in [1, 5_000_000_000, 5_000_000_001, 9_000_000_000, u64::MAX, 7] {
        actor.change_statement(&mut statement, |figures| figures.lock_time_ps = lock_time_ps);
        world.expect(CURRENT, "LOCK_TIME", &[&lock_time_ps.to_string()]);
    }
    end(world, &actor, statement);
    world.expect(HISTORY, "LOCK_TIME", &["7"]);
}
