//! Stages, sentence by sentence of WL#4813.

mod common;

use common::{CONFIG, MUTEX, OTHER, World};
use perfschema_core::name::EventClass;
use perfschema_core::table::{Rights, Value};
use perfschema_core::timer::{MockClock, TimerName};
use perfschema_core::{
    Actor, Child, Class, Consumer, Held, InstrumentName, Lost, Operation, RegisterError, Setting, Size, StageId, WaitStart,
    tables,
};
use std::panic::Location;

const CURRENT: &str = "events_stages_current";
const HISTORY: &str = "events_stages_history";
const LONG: &str = "events_stages_history_long";
const GLOBAL: &str = "events_stages_summary_global_by_event_name";
const BY_THREAD: &str = "events_stages_summary_by_thread_by_event_name";
const WAITS: &str = "events_waits_history";

const A: &str = "stage/test/Opening tables";
const B: &str = "stage/test/System lock";
const SUMS: &str = "COUNT_STAR,SUM_TIMER_WAIT,MIN_TIMER_WAIT,AVG_TIMER_WAIT,MAX_TIMER_WAIT";

fn begin(world: World, actor: &Actor<'_>, class: Class) -> Option<StageId> {
    actor.begin_stage(world.clock, world.region.switches(class), None)
}

/// A region with everything on, two instruments of stages, and a thread.
fn world() -> (World, Class, Class, Actor<'static>) {
    let world = World::on(&CONFIG);
    (world, world.class(A), world.class(B), world.actor("a"))
}

#[test]
fn a_stage_ends_where_the_next_begins() {
    let (world, a, b, actor) = world();
    world.pass(5);
    let source = Location::caller();
    actor.begin_stage(world.clock, world.region.switches(a), Some(source));
    let line = format!("stages.rs:{}", source.line());
    world.expect(CURRENT, "*", &[&format!("1 1 NULL {A} {line} 5000 NULL NULL NULL NULL NULL NULL")]);
    world.expect(HISTORY, "*", &[]);
    world.expect(LONG, "*", &[]);
    world.expect(GLOBAL, SUMS, &["0 0 0 0 0", "0 0 0 0 0"]);
    world.pass(7);
    begin(world, &actor, b);
    world.expect(CURRENT, "*", &[&format!("1 2 NULL {B} NULL 12000 NULL NULL NULL NULL NULL NULL")]);
    let ended = format!("1 1 1 {A} {line} 5000 12000 7000 NULL NULL NULL NULL");
    world.expect(HISTORY, "*", &[&ended]);
    world.expect(LONG, "*", &[&ended]);
    world.pass(1);
    assert!(actor.end_any_stage(world.clock));
    assert!(!actor.end_any_stage(world.clock));
    // As a wait that has ended, it stays until the next one begins.
    world.expect(CURRENT, "*", &[&format!("1 2 2 {B} NULL 12000 13000 1000 NULL NULL NULL NULL")]);
    world.expect(GLOBAL, SUMS, &["1 1000 1000 1000 1000", "1 7000 7000 7000 7000"]);
    world.expect(
        BY_THREAD,
        &format!("THREAD_ID,EVENT_NAME,{SUMS}"),
        &[&format!("1 {A} 1 7000 7000 7000 7000"), &format!("1 {B} 1 1000 1000 1000 1000")],
    );
}

/// Whoever registers or switches one instrument computes its switch alone; but the first stage that is on, all others end.
#[test]
fn the_first_stage_that_is_on_concerns_all_others() {
    for switched_later in [false, true] {
        let region = World::off(&CONFIG.with(Size::MaxStageClasses, 3)).region;
        let ends_others = |class| region.switches(class).is_on();
        let register = |name, setting| region.register(InstrumentName::literal(name), setting).expect("there is room");
        let before = register("stage/test/before", Setting::OFF);
        assert!(!ends_others(before));
        let on = register("stage/test/on", if switched_later { Setting::OFF } else { Setting::COUNTED });
        if switched_later {
            assert!(!ends_others(on));
            region.set_setting(on, Setting::COUNTED);
        }
        assert!(ends_others(before) && ends_others(on));
        assert!(ends_others(register("stage/test/behind", Setting::OFF)));
    }
}

/// "It's the same counter that we use for waits, therefore stage 101 does not follow stage 100, it follows wait 100."
#[test]
fn waits_lie_within_stages_and_share_their_numbers() {
    let (world, a, b, actor) = world();
    let mutex = world.class(MUTEX);
    world.wait(&actor, mutex, 1);
    begin(world, &actor, a);
    world.wait(&actor, mutex, 1);
    let outer = world.begin(&actor, mutex);
    world.wait(&actor, mutex, 1);
    world.end(&actor, outer);
    begin(world, &actor, b);
    world.wait(&actor, mutex, 1);
    actor.end_any_stage(world.clock);
    world.wait(&actor, mutex, 1);
    world.expect(
        "events_waits_history_long",
        "EVENT_ID,END_EVENT_ID,NESTING_EVENT_ID,NESTING_EVENT_TYPE",
        &["1 1 NULL NULL", "3 3 2 STAGE", "4 5 2 STAGE", "5 5 4 WAIT", "7 7 6 STAGE", "8 8 NULL NULL"],
    );
    world.expect(LONG, "EVENT_ID,END_EVENT_ID,NESTING_EVENT_ID,NESTING_EVENT_TYPE", &["2 5 NULL NULL", "6 7 NULL NULL"]);
}

/// What nests the other way round: "everything will appear to be linear".
#[test]
fn a_wait_lies_within_the_stage_that_runs_when_it_ends() {
    let (world, a, b, actor) = world();
    let mutex = world.class(MUTEX);
    let nesting = || world.select("events_waits_current", "EVENT_ID,NESTING_EVENT_ID,NESTING_EVENT_TYPE");
    let outer = world.begin(&actor, mutex);
    let inner = world.begin(&actor, mutex);
    assert_eq!(nesting(), ["1 NULL NULL", "2 1 WAIT"]);
    begin(world, &actor, a);
    assert_eq!(nesting(), ["1 3 STAGE", "2 1 WAIT"]);
    begin(world, &actor, b);
    assert_eq!(nesting(), ["1 4 STAGE", "2 1 WAIT"]);
    world.end(&actor, inner);
    world.end(&actor, outer);
    // The stage goes on.
    world.wait(&actor, mutex, 1);
    assert_eq!(nesting(), ["5 4 STAGE"]);
    let third = world.begin(&actor, mutex);
    actor.end_any_stage(world.clock);
    assert_eq!(nesting(), ["6 NULL NULL"]);
    world.end(&actor, third);
    world.wait(&actor, mutex, 1);
    assert_eq!(nesting(), ["7 NULL NULL"]);
}

/// One that runs beside others, as a task's: also it.
#[test]
fn waits_beside_others_lie_within_the_stage_that_runs_when_they_end() {
    let (world, a, b, actor) = world();
    let mutex = world.class(MUTEX);
    begin(world, &actor, a);
    let what = WaitStart::new(Operation::Lock);
    let beside = actor.begin_concurrent(world.clock, world.region.switches(mutex), mutex, &what);
    begin(world, &actor, b);
    world.wait(&actor, mutex, 1);
    actor.end_concurrent(world.clock, beside, Held::None);
    world.wait(&actor, mutex, 1);
    world.expect(WAITS, "EVENT_ID,NESTING_EVENT_ID,NESTING_EVENT_TYPE", &["2 3 STAGE", "4 3 STAGE", "5 3 STAGE"]);
}

#[test]
fn a_stage_is_ended_by_who_began_it_only() {
    let (world, a, b, actor) = world();
    let first = begin(world, &actor, a).unwrap();
    assert_eq!(actor.running_stage(), Some(first));
    let second = begin(world, &actor, b).unwrap();
    assert!(!actor.end_stage(world.clock, first), "it has ended");
    let other = world.actor("b");
    let elsewhere = begin(world, &other, a).unwrap();
    assert!(!actor.end_stage(world.clock, elsewhere) && !other.end_stage(world.clock, second));
    assert!(actor.end_stage(world.clock, second) && !actor.end_stage(world.clock, second));
    assert_eq!(actor.running_stage(), None);
    world.expect(CURRENT, "THREAD_ID,EVENT_ID,END_EVENT_ID", &["1 2 2", "2 1 NULL"]);
}

/// Also where several threads have the same THREAD_ID, 0, and number their events from 1.
#[test]
fn a_stage_is_ended_by_who_began_it_only_without_a_row_too() {
    let (world, a, b, _first) = world();
    let [one, other] = [(); 2].map(|()| Actor::without_slot(world.region));
    let [of_one, of_other] = [&one, &other].map(|actor| begin(world, actor, a).unwrap());
    assert_ne!(of_one, of_other);
    assert!(!one.end_stage(world.clock, of_other) && !other.end_stage(world.clock, of_one));
    assert_eq!((one.running_stage(), other.running_stage()), (Some(of_one), Some(of_other)));
    begin(world, &one, b);
    // Its own number goes with it.
    let one = Box::new(one);
    let last = one.running_stage().unwrap();
    assert!(!one.end_stage(world.clock, of_one) && one.end_stage(world.clock, last));
    assert!(other.end_stage(world.clock, of_other));
}

/// "ENABLED and TIMED affect only the instrumentation of the stage itself … there is no 'cascading'."
#[test]
fn a_stage_that_is_off_ends_the_one_before() {
    let (world, a, b, actor) = world();
    let mutex = world.class(MUTEX);
    world.region.set_setting(b, Setting::OFF);
    begin(world, &actor, a);
    world.pass(3);
    assert!(world.region.switches(b).is_on(), "or nobody would come here");
    assert_eq!(begin(world, &actor, b), None);
    world.wait(&actor, mutex, 1);
    world.expect(CURRENT, "EVENT_ID,END_EVENT_ID,TIMER_WAIT", &["1 1 3000"]);
    world.expect(WAITS, "EVENT_ID,NESTING_EVENT_ID", &["2 NULL"]);
    world.expect(GLOBAL, "EVENT_NAME,COUNT_STAR", &[&format!("{A} 1"), &format!("{B} 0")]);
}

/// An instrumentation point costs a load and a branch until the first stage is switched on; from then on, one that is off ends others.
#[test]
fn nothing_looks_for_stages_where_none_was_ever_on() {
    let world = World::off(&CONFIG);
    let class = world.region.register(InstrumentName::new(A).unwrap(), Setting::OFF).unwrap();
    world.region.set_consumer(Consumer::GlobalInstrumentation, true);
    assert!(!world.region.switches(class).is_on());
    world.region.set_setting(class, Setting::ON);
    assert!(world.region.switches(class).is_on());
    world.region.set_setting(class, Setting::OFF);
    world.region.set_consumer(Consumer::GlobalInstrumentation, false);
    assert!(world.region.switches(class).is_on());
    let mutex = world.region.register(InstrumentName::new(MUTEX).unwrap(), Setting::OFF).unwrap();
    assert!(!world.region.switches(mutex).is_on());
}

#[test]
fn consumers_freeze_their_tables() {
    let (world, a, b, actor) = world();
    let step = || {
        begin(world, &actor, a);
        world.pass(1);
        actor.end_any_stage(world.clock);
    };
    let rows = || [CURRENT, HISTORY, LONG].map(|table| world.select(table, "EVENT_ID").join(" "));
    step();
    assert_eq!(rows(), ["1", "1", "1"]);
    world.region.set_consumer(Consumer::EventsStagesHistoryLong, false);
    step();
    assert_eq!(rows(), ["2", "1 2", "1"]);
    world.region.set_consumer(Consumer::EventsStagesHistory, false);
    step();
    assert_eq!(rows(), ["3", "1 2", "1"]);
    // As for waits, what ends without history has its place in the ring until the next event needs it.
    world.region.set_consumer(Consumer::EventsStagesCurrent, false);
    step();
    assert_eq!(rows(), ["3", "1 2", "1"]);
    world.region.set_consumer(Consumer::ThreadInstrumentation, false);
    step();
    world.expect(GLOBAL, "EVENT_NAME,COUNT_STAR", &[&format!("{A} 5"), &format!("{B} 0")]);
    world.expect(BY_THREAD, "EVENT_NAME,COUNT_STAR", &[&format!("{A} 4"), &format!("{B} 0")]);
    world.region.set_consumer(Consumer::GlobalInstrumentation, false);
    step();
    world.expect(GLOBAL, "EVENT_NAME,COUNT_STAR", &[&format!("{A} 5"), &format!("{B} 0")]);
    // Those of waits are others.
    world.region.enable_everything();
    world.region.set_consumer(Consumer::EventsWaitsCurrent, false);
    begin(world, &actor, b);
    world.wait(&actor, world.class(MUTEX), 1);
    world.expect(CURRENT, "EVENT_NAME,END_EVENT_ID", &[&format!("{B} NULL")]);
    world.expect("events_waits_current", "EVENT_ID", &[]);
}

#[test]
fn the_timer_is_a_setting_of_its_own() {
    let (world, a, b, actor) = world();
    assert_eq!(world.region.event_timer(EventClass::Stage), TimerName::Nanosecond);
    world.region.set_wait_timer(TimerName::Cycle);
    world.expect(
        "setup_timers",
        "NAME,TIMER_NAME",
        &["idle MICROSECOND", "stage NANOSECOND", "statement NANOSECOND", "transaction NANOSECOND", "wait CYCLE"],
    );
    // What was true at the start holds until the end: each is timed by one timer.
    begin(world, &actor, a);
    world.pass(1_500);
    world.region.set_event_timer(EventClass::Stage, TimerName::Microsecond);
    begin(world, &actor, b);
    world.pass(2_000);
    world.region.set_event_timer(EventClass::Stage, TimerName::Cycle);
    begin(world, &actor, a);
    world.pass(300);
    actor.end_any_stage(world.clock);
    world.expect(LONG, "EVENT_ID,TIMER_START,TIMER_WAIT", &["1 0 1500000", "2 1000000 2000000", "3 3500000 300000"]);
}

#[test]
fn stages_are_counted_without_being_timed_and_sampled() {
    let (world, a, b, actor) = world();
    world.region.set_setting(a, Setting::COUNTED);
    begin(world, &actor, a);
    world.pass(5);
    begin(world, &actor, b);
    world.pass(5);
    begin(world, &actor, a);
    actor.end_any_stage(world.clock);
    world.expect(
        LONG,
        "EVENT_ID,TIMER_START,TIMER_END,TIMER_WAIT",
        &["1 NULL NULL NULL", "2 5000 10000 5000", "3 NULL NULL NULL"],
    );
    world.expect(GLOBAL, SUMS, &["1 5000 5000 5000 5000", "2 0 0 0 0"]);
    world.region.set_setting(a, Setting { timed_one_in: 4, ..Setting::ON });
    for _ in 0..400 {
        begin(world, &actor, a);
        world.pass(1);
    }
    actor.end_any_stage(world.clock);
    let sum = world.region.summary_by_event_name(a);
    assert_eq!(sum.count, 402);
    assert!((95..=105).contains(&sum.count_timed) && sum.sum_ps == sum.count_timed * 1_000, "{sum:?}");
}

#[test]
fn progress_is_null_until_it_is_said() {
    let (world, a, b, actor) = world();
    let progress = |table| world.select(table, "EVENT_ID,WORK_COMPLETED,WORK_ESTIMATED");
    actor.change_stage_progress(|progress| progress.completed = 1);
    begin(world, &actor, a);
    assert_eq!(progress(CURRENT), ["1 NULL NULL"]);
    actor.change_stage_progress(|progress| progress.estimated = 10);
    assert_eq!(progress(CURRENT), ["1 0 10"]);
    for _ in 0..3 {
        actor.change_stage_progress(|progress| progress.completed += 2);
    }
    assert_eq!(progress(CURRENT), ["1 6 10"]);
    begin(world, &actor, b);
    assert_eq!(progress(CURRENT), ["2 NULL NULL"]);
    assert_eq!((progress(HISTORY), progress(LONG)), (vec!["1 6 10".into()], vec!["1 6 10".into()]));
    actor.change_stage_progress(|progress| (progress.completed, progress.estimated) = (u64::MAX, u64::MAX));
    let most = if cfg!(target_has_atomic = "64") { u64::MAX - 1 } else { u64::from(u32::MAX) - 1 };
    assert_eq!(progress(CURRENT), [format!("2 {most} {most}")]);
}

#[test]
fn truncate_is_of_one_table() {
    let (world, a, b, actor) = world();
    let mutex = world.class(MUTEX);
    let rows = |tables: &[&str]| tables.iter().map(|table| world.select(table, "EVENT_ID").join(" ")).collect::<Vec<_>>();
    begin(world, &actor, a);
    world.wait(&actor, mutex, 1);
    begin(world, &actor, b);
    assert_eq!(rows(&[CURRENT, HISTORY, LONG, WAITS]), ["3", "1", "1", "2"]);
    // It still counts in the sums, and enters no history.
    world.truncate(CURRENT);
    assert_eq!(rows(&[CURRENT, HISTORY, LONG, WAITS]), ["", "1", "1", "2"]);
    begin(world, &actor, a);
    assert_eq!(rows(&[CURRENT, HISTORY, LONG, WAITS]), ["4", "1", "1", "2"]);
    world.truncate(HISTORY);
    assert_eq!(rows(&[CURRENT, HISTORY, LONG, WAITS]), ["4", "", "1", "2"]);
    world.truncate(LONG);
    assert_eq!(rows(&[CURRENT, HISTORY, LONG, WAITS]), ["4", "", "", "2"]);
    let counts = || {
        [GLOBAL, BY_THREAD, "events_waits_summary_global_by_event_name", "events_waits_summary_by_thread_by_event_name"]
            .map(|table| world.select(table, "COUNT_STAR").iter().map(|count| count.parse::<u64>().unwrap()).sum::<u64>())
    };
    assert_eq!(counts(), [2, 2, 1, 1]);
    world.truncate(GLOBAL);
    assert_eq!(counts(), [0, 2, 1, 1]);
    world.truncate(BY_THREAD);
    assert_eq!(counts(), [0, 0, 1, 1]);
    world.truncate("events_waits_summary_global_by_event_name");
    actor.end_any_stage(world.clock);
    assert_eq!(counts(), [1, 1, 0, 1]);
    world.truncate("events_waits_summary_by_thread_by_event_name");
    assert_eq!(counts(), [1, 1, 0, 0]);
}

#[test]
fn only_select_and_truncate_are_legal() {
    for table in [CURRENT, HISTORY, LONG, GLOBAL, BY_THREAD] {
        let table = tables::find(table).unwrap();
        let rights = table.declaration().rights;
        assert_eq!(format!("{rights:?}"), format!("{:?}", Rights::TRUNCATE), "{}", table.declaration().name);
    }
}

#[test]
fn histories_keep_their_sizes() {
    let (world, a, b, actor) = world();
    let other = world.actor("b");
    for _ in 0..5 {
        for actor in [&actor, &other] {
            begin(world, actor, a);
            begin(world, actor, b);
            actor.end_any_stage(world.clock);
        }
    }
    world.expect(HISTORY, "THREAD_ID,EVENT_ID", &["1 9", "1 10", "2 9", "2 10"]);
    assert_eq!(world.select(LONG, "EVENT_ID").len(), 6);
    begin(world, &actor, a);
    world.expect(HISTORY, "THREAD_ID,EVENT_ID", &["1 9", "1 10", "2 9", "2 10"]);
    world.expect(CURRENT, "THREAD_ID,EVENT_ID,END_EVENT_ID", &["1 11 NULL", "2 10 10"]);
}

#[test]
fn a_thread_that_ends_leaves_its_sums_and_its_long_history() {
    let (world, a, b, actor) = world();
    begin(world, &actor, a);
    world.pass(2);
    begin(world, &actor, b);
    actor.change_stage_progress(|progress| progress.completed = 3);
    actor.detach();
    world.expect(CURRENT, "EVENT_ID", &[]);
    // Destructors that run later: they count, for nobody, and write in nobody's rows.
    let next = world.actor("b");
    let mutex = world.class(MUTEX);
    let running = world.begin(&next, mutex);
    actor.change_stage_progress(|progress| progress.completed = 4);
    begin(world, &actor, a);
    actor.end_any_stage(world.clock);
    world.end(&next, running);
    world.expect(WAITS, "THREAD_ID,EVENT_ID,NESTING_EVENT_ID", &["2 1 NULL"]);
    world.expect(GLOBAL, "EVENT_NAME,COUNT_STAR", &[&format!("{A} 2"), &format!("{B} 1")]);
    world.expect(BY_THREAD, "THREAD_ID,EVENT_NAME,COUNT_STAR", &[&format!("2 {A} 0"), &format!("2 {B} 0")]);
    world.expect(LONG, "THREAD_ID,EVENT_ID", &["1 1"]);
    // The slot's next owner begins anew.
    begin(world, &next, b);
    world.expect(CURRENT, "THREAD_ID,EVENT_ID,WORK_COMPLETED", &["2 2 NULL"]);
}

#[test]
fn a_thread_without_a_row_counts_globally() {
    let (world, a, _, _first) = world();
    let _others = [world.actor("b"), world.actor("c")];
    let actor = world.actor("d");
    assert_eq!(actor.thread_id(), 0);
    begin(world, &actor, a);
    world.pass(4);
    begin(world, &actor, a);
    world.wait(&actor, world.class(MUTEX), 1);
    actor.end_any_stage(world.clock);
    world.expect(GLOBAL, SUMS, &["0 0 0 0 0", "2 5000 1000 2500 4000"]);
}

/// setup_actors and `threads` decide for stages as for waits.
#[test]
fn a_thread_that_is_not_instrumented_has_no_stages() {
    let (world, a, b, actor) = world();
    begin(world, &actor, a);
    let threads = tables::find("threads").unwrap();
    threads.update(world.region, &mut |_| true, &[("INSTRUMENTED", Value::Text("NO"))]).unwrap();
    begin(world, &actor, b);
    assert_eq!(actor.running_stage(), None, "the one before has ended");
    world.expect(GLOBAL, "EVENT_NAME,COUNT_STAR", &[&format!("{A} 1"), &format!("{B} 0")]);
}

#[test]
fn instruments_of_stages_have_places_of_their_own() {
    let (world, a, ..) = world();
    let register = |name: &str| world.region.register(InstrumentName::new(name).unwrap(), Setting::ON);
    assert_eq!(register(A), Ok(a));
    assert!(register("stage/test/init").is_ok());
    assert_eq!(register("stage/test/end"), Err(RegisterError::Full { size: Size::MaxStageClasses }));
    assert_eq!(world.region.lost(Lost::StageClasses), 1);
    let memory = register("memory/test/heap").unwrap();
    world.expect(
        "setup_instruments",
        "NAME,ENABLED,TIMED",
        &["memory/test/heap YES NULL", &format!("{A} YES YES"), &format!("{B} YES YES"), "stage/test/init YES YES"],
    );
    assert!(register(OTHER).is_ok_and(|class| class != memory));
}

/// A clock that moves while a stage's end is read must not come between two stages.
#[test]
fn there_is_nothing_between_two_stages() {
    struct Moving(MockClock);
    impl perfschema_core::timer::Clock for Moving {
        fn ticks(&self, timer: TimerName) -> u64 {
            self.0.set(timer, self.0.ticks(timer) + 1);
            self.0.ticks(timer)
        }
    }
    let (world, a, b, actor) = world();
    let clock = Moving(MockClock::new());
    for timer in [TimerName::Nanosecond, TimerName::Cycle] {
        world.region.set_event_timer(EventClass::Stage, timer);
        for class in [a, b, a] {
            actor.begin_stage(&clock, world.region.switches(class), None);
        }
        actor.end_any_stage(&clock);
        let times = world.select(HISTORY, "TIMER_END,TIMER_START");
        let [end, start] = [times[0].split(' ').next().unwrap(), times[1].split(' ').nth(1).unwrap()];
        assert_eq!(end, start, "{times:?}");
    }
}

/// The thread that forked goes on in its stage; what it and others recorded before is the parent's.
#[test]
fn a_forked_child_goes_on_in_its_stage() {
    let (world, a, b, actor) = world();
    let other = world.actor("b");
    begin(world, &other, a);
    begin(world, &other, b);
    begin(world, &actor, a);
    begin(world, &actor, b);
    let child = Child { pid: 8, os_id: 80, start_unix_ns: 800, start_monotonic_ns: 900 };
    world.region.forked(&child, &[Some(&actor)], true);
    world.expect(CURRENT, "THREAD_ID,EVENT_ID,END_EVENT_ID", &["1 2 NULL"]);
    for table in [HISTORY, LONG] {
        world.expect(table, "EVENT_ID", &[]);
    }
    world.expect(GLOBAL, "COUNT_STAR", &["0", "0"]);
    world.pass(3);
    begin(world, &actor, a);
    world.expect(GLOBAL, "EVENT_NAME,COUNT_STAR,SUM_TIMER_WAIT", &[&format!("{A} 0 0"), &format!("{B} 1 3000")]);
    for table in [HISTORY, LONG] {
        world.expect(table, "EVENT_ID", &["2"]);
    }
}
