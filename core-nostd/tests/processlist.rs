//! What `threads` and `processlist` say of what each thread is doing.

mod common;

use common::{CONFIG, World, select};
use perfschema_core::timer::{Clock, TimerName};
use perfschema_core::{
    Actor, ActorIdentity, Class, Consumer, Now, Region, Setting, Statement, StatementStart, ThreadType, name::EventClass,
};

const DOING: &str = "PROCESSLIST_DB,PROCESSLIST_COMMAND,PROCESSLIST_TIME,PROCESSLIST_STATE,PROCESSLIST_INFO";
const S: u64 = 1_000_000_000;

fn begin<'r>(world: World, actor: &Actor<'r>, class: Class, text: &str, schema: &str) -> Statement<'r> {
    actor.begin_statement(world.clock, world.region.switches(class), &StatementStart { text, schema, source: None })
}

/// The switches are those of now.
fn stage(world: World, actor: &Actor<'_>, class: Class) {
    actor.begin_stage(world.clock, world.region.switches(class), None);
}

/// A region with everything on, an instrument of statements, one of stages, and a thread that serves a user.
fn world() -> (World, Class, Class, Actor<'static>) {
    let world = World::on(&CONFIG);
    (world, world.class("statement/test/search"), world.class("stage/test/sorting"), world.user("ada", "db1"))
}

#[test]
fn a_thread_shows_the_statement_and_the_stage_that_run() {
    let (world, search, sorting, actor) = world();
    world.expect("threads", DOING, &["NULL Sleep NULL NULL NULL"]);
    world.pass(S);
    let statement = begin(world, &actor, search, "find words", "index");
    world.expect("threads", DOING, &["index Query 0 NULL find words"]);
    world.pass(2 * S - 1);
    stage(world, &actor, sorting);
    // Of the statement, not of the stage within it; and of a second only what is whole.
    world.expect("threads", DOING, &["index Query 1 sorting find words"]);
    world.pass(1);
    world.expect("threads", DOING, &["index Query 2 sorting find words"]);
    actor.end_statement(world.clock, statement);
    world.pass(7 * S);
    world.expect("threads", DOING, &["NULL Sleep 7 NULL NULL"]);
    // Nothing is said of a statement without a text but that it runs.
    let _silent = begin(world, &actor, search, "", "");
    world.expect("threads", DOING, &["NULL Query 0 NULL NULL"]);
}

#[test]
fn of_statements_within_one_another_the_outermost_is_shown() {
    let (world, search, _, actor) = world();
    let outer = begin(world, &actor, search, "outer", "first");
    world.pass(S);
    let inner = begin(world, &actor, search, "inner", "second");
    world.pass(S);
    world.expect("threads", DOING, &["first Query 2 NULL outer"]);
    actor.end_statement(world.clock, inner);
    world.expect("threads", DOING, &["first Query 2 NULL outer"]);
    let inner = begin(world, &actor, search, "another", "third");
    actor.end_statement(world.clock, outer);
    world.pass(5 * S);
    // Nothing that runs is around it any more.
    world.expect("threads", DOING, &["third Query 5 NULL another"]);
    actor.end_statement(world.clock, inner);
    world.expect("threads", "PROCESSLIST_COMMAND,PROCESSLIST_INFO", &["Sleep NULL"]);
}

#[test]
fn a_background_thread_has_no_command() {
    let world = World::on(&CONFIG);
    let (search, sorting) = (world.class("statement/test/search"), world.class("stage/test/a/b"));
    let start_monotonic_ns = world.clock.ticks(TimerName::Nanosecond);
    let actor =
        Actor::attach(world.region, &ActorIdentity { name: "thread/test/flush", start_monotonic_ns, ..Default::default() });
    world.pass(3 * S);
    // 0 is not known.
    world.expect("threads", DOING, &["NULL NULL NULL NULL NULL"]);
    actor.identify(&ActorIdentity { name: "thread/test/flush", start_monotonic_ns: S, ..Default::default() });
    world.expect("threads", DOING, &["NULL NULL 2 NULL NULL"]);
    stage(world, &actor, sorting);
    world.pass(S);
    world.expect("threads", DOING, &["NULL NULL 1 a/b NULL"]);
    let statement = begin(world, &actor, search, "flush", "");
    world.expect("threads", DOING, &["NULL NULL 0 a/b flush"]);
    actor.end_statement(world.clock, statement);
    world.expect("threads", DOING, &["NULL NULL 1 a/b NULL"]);
    actor.end_any_stage(world.clock);
    world.pass(4 * S);
    world.expect("threads", DOING, &["NULL NULL 4 NULL NULL"]);
    world.expect("processlist", "*", &[]);
}

#[test]
fn a_time_that_nobody_knows_is_null() {
    let (world, search, _, actor) = world();
    let text = |region: &Region<'_>| select(region, "threads", DOING);
    let statement = begin(world, &actor, search, "q", "");
    world.pass(2 * S);
    let region = world.region;
    assert_eq!(text(&region.as_of(Now::Unknown)), ["NULL Query NULL NULL q"]);
    // A reader of the same words knows nothing of the clock, unless it says so.
    let opened = Region::open(region.words()).unwrap();
    assert_eq!((opened.now(), region.now()), (Now::Unknown, Now::Clock));
    assert_eq!(text(&opened), ["NULL Query NULL NULL q"]);
    assert_eq!(text(&opened.as_of(Now::At(2 * S))), ["NULL Query 2 NULL q"]);
    // Before it began: another timer may run a little ahead.
    assert_eq!(text(&opened.as_of(Now::At(0))), ["NULL Query 0 NULL q"]);
    actor.end_statement(world.clock, statement);
    // Untimed, and untimed when it has ended.
    region.set_setting(search, Setting { timed: false, ..Setting::ON });
    let statement = begin(world, &actor, search, "q", "");
    world.pass(2 * S);
    world.expect("threads", DOING, &["NULL Query NULL NULL q"]);
    actor.end_statement(world.clock, statement);
    world.expect("threads", DOING, &["NULL Sleep NULL NULL NULL"]);
}

#[test]
fn each_timer_is_compared_with_the_clock() {
    for timer in TimerName::ALL {
        let (world, search, _, actor) = world();
        world.region.set_event_timer(EventClass::Statement, timer);
        world.pass(S / 2);
        let _statement = begin(world, &actor, search, "q", "");
        world.pass(3 * S - 1);
        world.expect("threads", "PROCESSLIST_TIME", &["2"]);
        world.pass(1);
        world.expect("threads", "PROCESSLIST_TIME", &["3"]);
    }
}

#[test]
fn only_what_is_recorded_is_shown_and_truncating_hides_nothing() {
    let (world, search, sorting, actor) = world();
    let statement = begin(world, &actor, search, "q", "");
    stage(world, &actor, sorting);
    world.truncate("events_statements_current");
    world.truncate("events_stages_current");
    world.expect("events_statements_current", "SQL_TEXT", &[]);
    world.expect("threads", DOING, &["NULL Query 0 sorting q"]);
    actor.end_statement(world.clock, statement);
    world.region.set_consumer(Consumer::EventsStatementsCurrent, false);
    let _statement = begin(world, &actor, search, "q", "");
    world.expect("threads", DOING, &["NULL Sleep 0 NULL NULL"]);
}

#[test]
fn whoever_comes_next_into_a_slot_does_nothing_yet() {
    let (world, search, sorting, actor) = world();
    let _statement = begin(world, &actor, search, "left open", "index");
    stage(world, &actor, sorting);
    actor.detach();
    let _next = world.user("eve", "db2");
    world.expect("threads", DOING, &["NULL Sleep NULL NULL NULL"]);
}

#[test]
fn names_are_cut_to_what_the_columns_hold() {
    let (world, search, _, _) = world();
    let long = format!("stage/test/{}ä", "x".repeat(63));
    let user = "ü".repeat(40);
    let actor = world.user(&user, "db1");
    stage(world, &actor, world.class(&long));
    let _statement = begin(world, &actor, search, "q", "");
    let state = "x".repeat(63);
    world.expect(
        "processlist",
        "*",
        &["1 ada db1 NULL Sleep NULL  NULL PRIMARY", &format!("2 {} db1 NULL Query 0 {state} q PRIMARY", "ü".repeat(16))],
    );
}

#[test]
fn the_processlist_is_of_those_who_serve_a_user() {
    let (world, search, sorting, actor) = world();
    let _background = world.actor("thread/test/flush");
    let _idle = Actor::attach(
        world.region,
        &ActorIdentity { name: "thread/test/new", thread_type: ThreadType::Foreground, ..Default::default() },
    );
    let _statement = begin(world, &actor, search, "find words", "index");
    stage(world, &actor, sorting);
    world.pass(S);
    world.expect(
        "processlist",
        "*",
        &["1 ada db1 index Query 1 sorting find words PRIMARY", "3 NULL NULL NULL Sleep NULL  NULL PRIMARY"],
    );
}
