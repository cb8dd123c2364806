//! Waits that another actor records than the one that began them.

mod common;

use common::{CONFIG, MUTEX, World};
use perfschema_core::timer::{Clock, TimerName};
use perfschema_core::{Consumer, Held, Lost, Operation, Setting, WaitStart, table::Value, tables};

const CURRENT: &str = "events_waits_current";
const HISTORY: &str = "events_waits_history";
const BY_THREAD: &str = "events_waits_summary_by_thread_by_event_name";
const GLOBAL: &str = "events_waits_summary_global_by_event_name";

/// What another actor has recorded leaves its place to what follows, whatever it lay within, and whatever lies within it.
#[test]
fn a_withdrawn_wait_leaves_nothing_behind() {
    let world = World::on(&CONFIG);
    let (class, actor, other) = (world.class(MUTEX), world.actor("a"), world.actor("b"));
    let what = WaitStart::new(Operation::Lock);
    let concurrent = || actor.begin_concurrent(world.clock, world.region.switches(class), class, &what);
    let elsewhere = |wait| {
        let _ = other.record_since(
            world.clock,
            world.clock.ticks(TimerName::Cycle),
            world.region.switches(class),
            class,
            &what,
            Held::None,
        );
        actor.withdraw(wait);
    };
    // Each alone, more than there are records.
    for _ in 0..100 {
        elsewhere(concurrent());
        elsewhere(world.begin(&actor, class));
    }
    world.expect(CURRENT, "THREAD_ID,END_EVENT_ID", &["2 200"]);
    // Beside others and around them.
    let (outer, beside) = (world.begin(&actor, class), concurrent());
    let middle = world.begin(&actor, class);
    let inner = world.begin(&actor, class);
    [beside, middle].into_iter().for_each(elsewhere);
    world.wait(&actor, class, 1);
    world.end(&actor, inner);
    world.wait(&actor, class, 1);
    elsewhere(outer);
    world.wait(&actor, class, 1);
    let rows = ["1 204 201", "1 206 201", "1 207 NULL"];
    let of_actor =
        || world.select(HISTORY, "THREAD_ID,EVENT_ID,NESTING_EVENT_ID").into_iter().filter(|row| row.starts_with("1 "));
    assert_eq!(of_actor().collect::<Vec<_>>(), rows);
    assert_eq!(world.region.lost(Lost::NestedEvents), 0);
    world.expect(BY_THREAD, "THREAD_ID,COUNT_STAR", &["1 4", "2 203"]);
    // Once the slot is given back its place is somebody else's.
    let late = concurrent();
    let id = actor.id().unwrap();
    assert_eq!(world.region.actor_of(&late, id.thread_id()), Some(id));
    assert!(world.region.has_actor(id));
    actor.detach();
    assert!(!world.region.has_actor(id) && world.region.has_actor(other.id().unwrap()));
    let next = world.actor("c");
    let running = world.begin(&next, class);
    assert_eq!(world.region.actor_of(&running, next.thread_id()), next.id());
    let of_other = world.begin(&other, class);
    assert_eq!(world.region.actor_of(&of_other, other.thread_id()), other.id());
    world.end(&other, of_other);
    actor.withdraw(late);
    assert_eq!((next.id() == actor.id(), world.region.has_actor(id)), (false, false));
    world.end(&next, running);
}

/// Nor does it take the place of one that is in the history.
#[test]
fn a_withdrawn_wait_leaves_the_history_as_it_is() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    (0..3).for_each(|_| world.wait(&actor, class, 1));
    (0..100).for_each(|_| actor.withdraw(world.begin(&actor, class)));
    world.expect(HISTORY, "THREAD_ID,EVENT_ID", &["1 1", "1 2", "1 3"]);
}

/// What it is and where is what the one says that records it.
#[test]
fn a_wait_that_is_given_away_is_of_the_line_that_is_given() {
    let world = World::on(&CONFIG);
    let (class, actor, other) = (world.class(MUTEX), world.actor("a"), world.actor("b"));
    let at = |source, operation| WaitStart { source: Some(source), ..WaitStart::new(operation) };
    let begun = at(here(), Operation::TryLock);
    let given = at(here(), Operation::Lock);
    let wait = actor.begin(world.clock, world.region.switches(class), class, &begun);
    other.record_given(world.clock, &wait, class, &given, Held::None);
    actor.withdraw(wait);
    let line = given.source.expect("it is there").line();
    for table in [HISTORY, "events_waits_history_long"] {
        world.expect(table, "THREAD_ID,OPERATION,SOURCE,NUMBER_OF_BYTES", &[&format!("2 lock withdrawn.rs:{line} NULL")]);
    }
}

#[track_caller]
fn here() -> &'static std::panic::Location<'static> {
    std::panic::Location::caller()
}

/// It is recorded as it was to be when it began, whatever the one that ends it records, and whatever has been set meanwhile.
#[test]
fn a_wait_that_is_given_away_is_recorded_as_of_its_start() {
    let world = World::on(&CONFIG);
    let (class, actor, other) = (world.class(MUTEX), world.actor("a"), world.actor("b"));
    let what = WaitStart::new(Operation::Lock);
    let give = |passes| {
        let wait = actor.begin_concurrent(world.clock, world.region.switches(class), class, &what);
        world.pass(passes);
        wait
    };
    let end = |wait: perfschema_core::Wait<'_>| {
        other.record_given(world.clock, &wait, class, &what, Held::None);
        actor.withdraw(wait);
    };
    let set_instrumented = |value| {
        let mut of_other = |row: &dyn perfschema_core::table::Row| row.cell(0) == Value::Unsigned(2);
        let change = [("INSTRUMENTED", Value::Text(if value { "YES" } else { "NO" }))];
        assert_eq!(tables::find("threads").unwrap().update(world.region, &mut of_other, &change).unwrap().changed, 1);
    };
    let expect = |global: &str, by_thread: &[&str], history: &[&str]| {
        world.expect(GLOBAL, "COUNT_STAR,SUM_TIMER_WAIT,MAX_TIMER_WAIT", &[global]);
        world.expect(BY_THREAD, "THREAD_ID,COUNT_STAR", by_thread);
        world.expect(HISTORY, "THREAD_ID,TIMER_WAIT", history);
    };
    end(give(5));
    expect("1 5000 5000", &["1 0", "2 1"], &["2 5000"]);
    // Who ends it is not instrumented: no row of its own.
    let wait = give(7);
    set_instrumented(false);
    end(wait);
    expect("2 12000 7000", &["1 0", "2 1"], &["2 5000"]);
    // The instrument is off meanwhile.
    let wait = give(1);
    world.region.set_setting(class, Setting::OFF);
    end(wait);
    expect("3 13000 7000", &["1 0", "2 1"], &["2 5000"]);
    // Which are timed is drawn once: of all that begin, half.
    world.region.set_setting(class, Setting { timed_one_in: 2, ..Setting::ON });
    set_instrumented(true);
    for (timer, is_visible) in [(TimerName::Nanosecond, true), (TimerName::Cycle, true), (TimerName::Cycle, false)] {
        world.region.set_wait_timer(timer);
        world.region.set_consumer(Consumer::EventsWaitsCurrent, is_visible);
        world.truncate(GLOBAL);
        (0..100).for_each(|_| end(give(3)));
        let rows = world.select(GLOBAL, "COUNT_STAR,SUM_TIMER_WAIT");
        let [row] = rows.as_slice() else { panic!("{rows:?}") };
        let sum: u64 = row.strip_prefix("100 ").unwrap().parse().unwrap();
        assert!((140_000..=160_000).contains(&sum), "{timer}, {is_visible}: {row}");
    }
}
