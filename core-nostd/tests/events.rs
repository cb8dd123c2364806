//! Single waits: `events_waits_current`, `_history`, `_history_long`, sentence by sentence of the specification.

mod common;

use common::{CONFIG, MUTEX, OTHER, World};
use perfschema_core::timer::{Clock, MockClock, TimerName};
use perfschema_core::{
    Actor, ActorIdentity, Consumer, Held, InstrumentName, Lost, Operation, Setting, Size, WaitStart, table::Value, tables,
};
use std::cell::Cell;

const CURRENT: &str = "events_waits_current";
const HISTORY: &str = "events_waits_history";
const LONG: &str = "events_waits_history_long";
const GLOBAL: &str = "events_waits_summary_global_by_event_name";
const BY_INSTANCE: &str = "events_waits_summary_by_instance";
const HISTOGRAM: &str = "events_waits_histogram_by_event_name";
const BY_THREAD: &str = "events_waits_summary_by_thread_by_event_name";

#[test]
fn a_running_wait_has_neither_end_nor_duration() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    world.pass(5);
    let what = WaitStart {
        object: 0x1000,
        amount: 0,
        source: Some(std::panic::Location::caller()),
        ..WaitStart::new(Operation::TryLock)
    };
    let mut wait = actor.begin(world.clock, world.region.switches(class), class, &what);
    let source = format!("events.rs:{}", what.source.unwrap().line());
    let row = format!("1 1 NULL {MUTEX} {source} 5000 NULL NULL NULL NULL NULL NULL NULL 4096 NULL NULL try_lock NULL NULL");
    world.expect(CURRENT, "*", &[&row]);
    world.expect(HISTORY, "*", &[]);
    world.expect(LONG, "*", &[]);
    world.expect(GLOBAL, "COUNT_STAR,SUM_TIMER_WAIT,MIN_TIMER_WAIT,AVG_TIMER_WAIT,MAX_TIMER_WAIT", &["0 0 0 0 0"]);
    world.pass(7);
    wait.set_amount(3);
    world.end(&actor, wait);
    let row = format!("1 1 1 {MUTEX} {source} 5000 12000 7000 3 NULL NULL NULL NULL 4096 NULL NULL try_lock NULL NULL");
    for table in [CURRENT, HISTORY, LONG] {
        world.expect(table, "*", &[&row]);
    }
    world.expect(GLOBAL, "COUNT_STAR,SUM_TIMER_WAIT,MIN_TIMER_WAIT,AVG_TIMER_WAIT,MAX_TIMER_WAIT", &["1 7000 7000 7000 7000"]);
}

#[test]
fn event_ids_count_from_one_without_gaps_in_each_thread() {
    let world = World::on(&CONFIG);
    let (class, a, b) = (world.class(MUTEX), world.actor("a"), world.actor("b"));
    for _ in 0..2 {
        world.wait(&a, class, 1);
        world.wait(&b, class, 1);
    }
    // An event that is not recorded takes no number.
    world.region.set_setting(class, Setting::OFF);
    world.wait(&a, class, 1);
    world.region.set_setting(class, Setting::ON);
    world.wait(&a, class, 1);
    world.expect(HISTORY, "THREAD_ID,EVENT_ID,END_EVENT_ID", &["1 1 1", "1 2 2", "1 3 3", "2 1 1", "2 2 2"]);
}

#[test]
fn nothing_lies_within_what_runs_beside_others() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    let concurrent =
        || actor.begin_concurrent(world.clock, world.region.switches(class), class, &WaitStart::new(Operation::Lock));
    let (first, second) = (concurrent(), concurrent());
    world.wait(&actor, class, 1);
    let outer = world.begin(&actor, class);
    actor.end_concurrent(world.clock, first, Held::None);
    world.wait(&actor, class, 1);
    world.expect(CURRENT, "EVENT_ID,END_EVENT_ID,NESTING_EVENT_ID", &["2 NULL NULL", "4 NULL NULL"]);
    world.end(&actor, outer);
    actor.end_concurrent(world.clock, second, Held::None);
    world.wait(&actor, class, 1);
    let all = ["1 4 NULL", "2 5 NULL", "3 3 NULL", "4 5 NULL", "5 5 4", "6 6 NULL"];
    world.expect(LONG, "EVENT_ID,END_EVENT_ID,NESTING_EVENT_ID", &all);
}

/// One of the program's own says which object it is for, and how much it waited for.
#[test]
fn an_ordinary_wait_has_bytes_and_no_instance() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class("wait/test/pool"), world.actor("a"));
    let what = WaitStart { object: 7, ..WaitStart::new(Operation::Acquire) };
    for (bytes, shown) in [(None, "NULL"), (Some(0), "0"), (Some(4096), "4096")] {
        let mut wait = actor.begin(world.clock, world.region.switches(class), class, &what);
        let row = "wait/test/pool NULL NULL NULL NULL NULL 7 acquire NULL NULL";
        let columns = "EVENT_NAME,SPINS,OBJECT_SCHEMA,OBJECT_NAME,INDEX_NAME,OBJECT_TYPE,OBJECT_INSTANCE_BEGIN,OPERATION,NUMBER_OF_BYTES,FLAGS";
        world.expect(CURRENT, columns, &[row]);
        world.pass(1);
        bytes.into_iter().for_each(|bytes: u64| wait.set_amount(bytes + 1));
        world.end(&actor, wait);
        world.expect(CURRENT, "SPINS,NUMBER_OF_BYTES", &[&format!("NULL {shown}")]);
    }
    for table in [GLOBAL, BY_THREAD] {
        world.expect(table, "EVENT_NAME,COUNT_STAR,SUM_TIMER_WAIT", &["wait/test/pool 3 3000"]);
    }
    world.expect(BY_INSTANCE, "*", &[]);
    // There is none under Miri, which takes long to see that.
    if cfg!(not(miri)) {
        assert_eq!(world.select(HISTOGRAM, "COUNT_BUCKET").iter().filter(|count| *count == "3").count(), 1);
    }
}

/// What a program holds several of need not end as it began.
#[test]
fn waits_that_end_before_those_within_them() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    let begin = || world.begin(&actor, class);
    let end = |wait| actor.end_in_any_order(world.clock, wait, Held::None);
    let within = || world.select(CURRENT, "EVENT_ID,NESTING_EVENT_ID");
    let (first, second, third) = (begin(), begin(), begin());
    assert_eq!(within(), ["1 NULL", "2 1", "3 2"]);
    end(second);
    assert_eq!(within(), ["1 NULL", "3 1"], "they go on in what it was in");
    world.wait(&actor, class, 1);
    end(first);
    world.wait(&actor, class, 1);
    assert_eq!(within(), ["3 NULL"]);
    end(third);
    world.wait(&actor, class, 1);
    let rows = world.select(LONG, "EVENT_ID,NESTING_EVENT_ID");
    assert_eq!(rows, ["1 NULL", "2 1", "3 NULL", "4 3", "5 3", "6 NULL"]);
    // In the order of their begins, and alone.
    let (outer, inner) = (begin(), begin());
    end(inner);
    end(outer);
    end(begin());
    let rows = world.select(HISTORY, "EVENT_ID,NESTING_EVENT_ID");
    assert_eq!(rows, ["7 NULL", "8 7", "9 NULL"]);
}

#[test]
fn who_has_given_back_its_slot_leaves_the_records_alone() {
    let config = CONFIG.with(Size::MaxThreadInstances, 1);
    let world = World::on(&config);
    let (class, before) = (world.class(MUTEX), world.actor("before"));
    let _runs = world.begin(&before, class);
    before.detach();
    let after = world.actor("after");
    // Asks what it lies within.
    let _beside = before.begin_concurrent(world.clock, world.region.switches(class), class, &WaitStart::new(Operation::Lock));
    // All of the records, once round, then at once, and one more.
    let records = config.get(Size::EventsWaitsHistorySize) + 6;
    (0..=records).for_each(|_| world.wait(&after, class, 1));
    for lost in std::iter::repeat_n(0, records as usize).chain([1]) {
        let _within = world.begin(&after, class);
        assert_eq!(world.region.lost(Lost::NestedEvents), lost);
    }
}

#[test]
fn the_shortest_wait_may_take_no_time() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    let extremes = "COUNT_STAR,SUM_TIMER_WAIT,MIN_TIMER_WAIT,MAX_TIMER_WAIT";
    for (wait, expected) in [(0, "1 0 0 0"), (7, "2 7000 0 7000"), (3, "3 10000 0 7000"), (9, "4 19000 0 9000")] {
        world.wait(&actor, class, wait);
        world.expect(GLOBAL, extremes, &[expected]);
    }
    world.truncate(GLOBAL);
    for (wait, expected) in
        [(7, "1 7000 7000 7000"), (9, "2 16000 7000 9000"), (8, "3 24000 7000 9000"), (2, "4 26000 2000 9000")]
    {
        world.wait(&actor, class, wait);
        world.expect(GLOBAL, extremes, &[expected]);
    }
}

#[test]
fn what_began_where_no_actor_was_is_recorded_at_its_end() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    world.pass(5);
    let switches = world.region.switches(class);
    let start = switches.read(world.clock);
    world.pass(7);
    let what = WaitStart::new(Operation::Lock);
    actor.record_since(world.clock, start, switches, class, &what, Held::None);
    for table in [CURRENT, HISTORY, LONG] {
        world.expect(table, "EVENT_ID,END_EVENT_ID,TIMER_START,TIMER_END,TIMER_WAIT", &["1 1 5000 12000 7000"]);
    }
    world.expect(GLOBAL, "COUNT_STAR,SUM_TIMER_WAIT", &["1 7000"]);
    world.region.set_setting(class, Setting::COUNTED);
    actor.record_since(world.clock, 0, world.region.switches(class), class, &what, Held::None);
    world.expect(GLOBAL, "COUNT_STAR,SUM_TIMER_WAIT", &["2 7000"]);
}

#[test]
fn an_actor_says_anew_who_it_is_until_its_first_event() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("thread/test/a"));
    let other = ActorIdentity { name: "thread/test/b", user: "joe", os_id: 9, ..Default::default() };
    assert!(actor.identify(&other));
    let threads = || world.select("threads", "THREAD_ID,NAME,PROCESSLIST_USER,THREAD_OS_ID");
    assert_eq!(threads(), ["1 thread/test/b joe 9"]);
    world.wait(&actor, class, 1);
    let third = ActorIdentity { name: "thread/test/c", ..Default::default() };
    assert!(!actor.identify(&third) && !Actor::without_slot(world.region).identify(&third));
    assert_eq!(threads(), ["1 thread/test/b joe 9"]);
    actor.detach();
    assert!(!actor.identify(&third) && threads().is_empty());
}

#[test]
fn a_setting_is_off_unless_it_is_said() {
    let world = World::on(&CONFIG);
    world.region.register(InstrumentName::literal(MUTEX), Setting::default()).unwrap();
    world.expect("setup_instruments", "NAME,ENABLED,TIMED,TIMED_ONE_IN", &[&format!("{MUTEX} NO NO 1")]);
}

#[test]
fn nothing_lies_within_a_wait_that_no_table_shows() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    for setting in [Setting::ON, Setting::COUNTED] {
        world.region.set_setting(class, setting);
        let outer = world.begin(&actor, class);
        world.region.set_consumer(Consumer::EventsWaitsCurrent, false);
        let hidden = world.begin(&actor, class);
        world.region.set_consumer(Consumer::EventsWaitsCurrent, true);
        let inner = world.begin(&actor, class);
        let first = world.ids(CURRENT)[0];
        let rows = [format!("{first} NULL"), format!("{} {first}", first + 1), format!("{} {first}", first + 2)];
        world.expect(CURRENT, "EVENT_ID,NESTING_EVENT_ID", &[&rows[0], &rows[1]]);
        for wait in [inner, hidden] {
            world.end(&actor, wait);
        }
        let next = world.begin(&actor, class);
        world.expect(CURRENT, "EVENT_ID,NESTING_EVENT_ID", &[&rows[0], &rows[2]]);
        for wait in [next, outer] {
            world.end(&actor, wait);
        }
    }
}

#[test]
fn current_keeps_the_ended_row_until_the_next_begins() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    world.wait(&actor, class, 1);
    assert_eq!(world.ids(CURRENT), [1]);
    let next = world.begin(&actor, class);
    assert_eq!(world.ids(CURRENT), [2]);
    world.end(&actor, next);
    assert_eq!(world.ids(CURRENT), [2]);
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes there")]
fn an_outer_wait_survives_however_many_pass_inside_it() {
    let world = World::on(&CONFIG);
    let (class, inner, actor) = (world.class(MUTEX), world.class(OTHER), world.actor("a"));
    let outer = world.begin(&actor, class);
    for _ in 0..100 {
        world.wait(&actor, inner, 2);
        world.expect(CURRENT, "EVENT_ID,END_EVENT_ID,TIMER_WAIT", &["1 NULL NULL"]);
    }
    let deep = world.begin(&actor, inner);
    world.expect(CURRENT, "EVENT_ID,END_EVENT_ID,NESTING_EVENT_ID,NESTING_EVENT_TYPE", &["1 NULL NULL NULL", "102 NULL 1 WAIT"]);
    world.end(&actor, deep);
    assert_eq!(world.ids(HISTORY), [100, 101, 102]);
    world.end(&actor, outer);
    // END_EVENT_ID is the last id that was given when the event ended; the outer one is the youngest of the history.
    world.expect(CURRENT, "EVENT_ID,END_EVENT_ID,TIMER_WAIT", &["1 102 200000"]);
    world.expect(HISTORY, "EVENT_ID,END_EVENT_ID,NESTING_EVENT_ID", &["1 102 NULL", "101 101 1", "102 102 1"]);
    world.wait(&actor, class, 1);
    world.expect(HISTORY, "EVENT_ID,NESTING_EVENT_ID", &["1 NULL", "102 1", "103 NULL"]);
    world.wait(&actor, class, 1);
    world.wait(&actor, class, 1);
    assert_eq!(world.ids(HISTORY), [103, 104, 105]);
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes there")]
fn history_keeps_exactly_its_size_of_each_thread() {
    for size in [0, 1, 2, 10] {
        let world = World::on(&CONFIG.with(Size::EventsWaitsHistorySize, size));
        let (class, a, b) = (world.class(MUTEX), world.actor("a"), world.actor("b"));
        for n in 1..=40_u64 {
            world.wait(&a, class, n);
            let expected: Vec<String> =
                (n.saturating_sub(u64::from(size)) + 1..=n).map(|id| format!("1 {id} {}", id * 1000)).collect();
            let rows = world.select(HISTORY, "THREAD_ID,EVENT_ID,TIMER_WAIT");
            assert_eq!(rows, expected, "size {size}, after {n}");
        }
        world.wait(&b, class, 1);
        assert_eq!(world.select(HISTORY, "THREAD_ID").iter().filter(|id| *id == "2").count(), size.min(1) as usize);
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes there")]
fn the_long_history_keeps_the_last_events_of_all_threads() {
    let world = World::on(&CONFIG);
    let (class, a, b) = (world.class(MUTEX), world.actor("a"), world.actor("b"));
    for _ in 0..20 {
        world.wait(&a, class, 1);
    }
    // 12 rows in chunks of 2: all of them are filled in turn.
    assert_eq!(world.ids(LONG), (9..=20).collect::<Vec<_>>());
    world.wait(&b, class, 1);
    assert_eq!(world.select(LONG, "THREAD_ID,EVENT_ID").iter().filter(|row| *row == "2 1").count(), 1);
    // They outlive their thread.
    b.detach();
    a.detach();
    assert_eq!(world.ids(LONG).len(), 12);
    assert_eq!(world.ids(CURRENT), []);
    assert_eq!(world.ids(HISTORY), []);
    // What the next owner of the slot does is of another thread.
    let c = world.actor("c");
    world.expect(HISTORY, "*", &[]);
    world.wait(&c, class, 1);
    for table in [CURRENT, HISTORY] {
        world.expect(table, "THREAD_ID,EVENT_ID,END_EVENT_ID", &["3 1 1"]);
    }
    assert!(world.select(LONG, "THREAD_ID,EVENT_ID,END_EVENT_ID").contains(&"3 1 1".into()));
}

#[test]
fn a_nested_event_names_the_one_around_it_in_the_long_history_too() {
    let world = World::on(&CONFIG);
    let class = world.class(MUTEX);
    let first = world.actor("first");
    world.wait(&first, class, 1);
    first.detach();
    let actor = world.actor("a");
    let outer = world.begin(&actor, class);
    world.wait(&actor, class, 1);
    world.end(&actor, outer);
    let columns = "THREAD_ID,EVENT_ID,END_EVENT_ID,NESTING_EVENT_ID,NESTING_EVENT_TYPE";
    world.expect(LONG, columns, &["1 1 1 NULL NULL", "2 1 2 NULL NULL", "2 2 2 1 WAIT"]);
    world.expect(HISTORY, columns, &["2 1 2 NULL NULL", "2 2 2 1 WAIT"]);
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes there")]
fn a_disabled_table_is_frozen_not_emptied() {
    for (consumer, frozen) in [
        (Consumer::EventsWaitsCurrent, &[CURRENT, HISTORY, LONG][..]),
        (Consumer::EventsWaitsHistory, &[HISTORY]),
        (Consumer::EventsWaitsHistoryLong, &[LONG]),
        (Consumer::ThreadInstrumentation, &[CURRENT, HISTORY, LONG, BY_THREAD, HISTOGRAM]),
        (Consumer::GlobalInstrumentation, &[CURRENT, HISTORY, LONG, BY_THREAD, HISTOGRAM, GLOBAL, BY_INSTANCE]),
        (Consumer::EventsWaitsHistogram, &[HISTOGRAM]),
        (Consumer::EventsWaitsSummaryByInstance, &[BY_INSTANCE]),
    ] {
        for (timer, timed_one_in) in [(TimerName::Nanosecond, 1), (TimerName::Cycle, 1), (TimerName::Cycle, 2)] {
            let world = World::on(&CONFIG);
            world.region.set_wait_timer(timer);
            let (class, actor) = (world.class(MUTEX), world.actor("a"));
            world.region.set_setting(class, Setting { timed_one_in, ..Setting::ON });
            let id = world.region.create_instance(class, 1);
            for _ in 0..5 {
                world.wait_for(&actor, class, 1, id);
            }
            let all = [CURRENT, HISTORY, LONG, BY_THREAD, GLOBAL, HISTOGRAM, BY_INSTANCE];
            // The quantiles of the global table come from the histogram.
            let columns = |table| if table == GLOBAL { "COUNT_STAR,SUM_TIMER_WAIT" } else { "*" };
            let read = || all.map(|table| world.select(table, columns(table)));
            let before = read();
            world.region.set_consumer(consumer, false);
            // Within another and alone, and more than an actor has records.
            for _ in 0..20 {
                let outer = world.begin(&actor, class);
                for _ in 0..3 {
                    world.wait_for(&actor, class, 3, id);
                }
                world.end(&actor, outer);
                world.wait_for(&actor, class, 3, id);
            }
            for ((table, before), after) in all.iter().zip(before).zip(read()) {
                assert_eq!(
                    before == after,
                    frozen.contains(table),
                    "{table} without {consumer:?}, one in {timed_one_in} by {timer:?}"
                );
            }
        }
    }
}

/// Every set of the consumers that waits have to do with beside the tree: one works while it and all above it are on. Those of other events
/// are nothing to them.
#[test]
#[cfg_attr(miri, ignore = "takes minutes there")]
fn consumers_are_a_tree() {
    let parents = |consumer: Consumer| match consumer {
        Consumer::GlobalInstrumentation => vec![],
        Consumer::ThreadInstrumentation | Consumer::EventsWaitsSummaryByInstance => vec![Consumer::GlobalInstrumentation],
        Consumer::EventsWaitsCurrent | Consumer::EventsWaitsHistogram => {
            vec![Consumer::ThreadInstrumentation, Consumer::GlobalInstrumentation]
        }
        Consumer::EventsWaitsHistory | Consumer::EventsWaitsHistoryLong => {
            vec![Consumer::EventsWaitsCurrent, Consumer::ThreadInstrumentation, Consumer::GlobalInstrumentation]
        }
        other => panic!("{other:?} is none of waits"),
    };
    let of_waits = [
        Consumer::GlobalInstrumentation,
        Consumer::ThreadInstrumentation,
        Consumer::EventsWaitsSummaryByInstance,
        Consumer::EventsWaitsCurrent,
        Consumer::EventsWaitsHistogram,
        Consumer::EventsWaitsHistory,
        Consumer::EventsWaitsHistoryLong,
    ];
    // The last bit is for all others.
    for set in 0..2_u32 << of_waits.len() {
        let world = World::off(&CONFIG);
        let class = world.class(MUTEX);
        let bit = |consumer: Consumer| of_waits.iter().position(|other| *other == consumer).unwrap_or(of_waits.len());
        let on = |consumer: Consumer| set >> bit(consumer) & 1 == 1;
        for &consumer in Consumer::ALL {
            world.region.set_consumer(consumer, on(consumer));
            assert_eq!(world.region.consumer_enabled(consumer), on(consumer));
        }
        let actor = world.actor("a");
        let id = world.region.create_instance(class, 1);
        world.wait_for(&actor, class, 1, id);
        let works = |consumer| on(consumer) && parents(consumer).into_iter().all(on);
        for (table, consumer) in [
            (CURRENT, Consumer::EventsWaitsCurrent),
            (HISTORY, Consumer::EventsWaitsHistory),
            (LONG, Consumer::EventsWaitsHistoryLong),
        ] {
            assert_eq!(world.select(table, "*").len(), usize::from(works(consumer)), "{table}, set {set:#b}");
        }
        let sum = |table, column| -> u64 { world.select(table, column).iter().map(|count| count.parse::<u64>().unwrap()).sum() };
        for (table, column, consumer) in [
            (HISTOGRAM, "COUNT_BUCKET", Consumer::EventsWaitsHistogram),
            (BY_INSTANCE, "COUNT_STAR", Consumer::EventsWaitsSummaryByInstance),
            (GLOBAL, "COUNT_STAR", Consumer::GlobalInstrumentation),
            (BY_THREAD, "COUNT_STAR", Consumer::ThreadInstrumentation),
        ] {
            assert_eq!(sum(table, column), u64::from(works(consumer)), "{table}, set {set:#b}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes there")]
fn switches_as_of_the_start_apply_to_the_end() {
    let kept = |world: World| [HISTORY, LONG].map(|table| world.select(table, "*").len());
    for switch in 0..=Consumer::ALL.len() {
        let flip = |world: World, class, on: bool| match Consumer::ALL.get(switch) {
            Some(&consumer) => world.region.set_consumer(consumer, on),
            None => world.region.set_setting(class, if on { Setting::ON } else { Setting::OFF }),
        };
        // Off in the middle: the event counts as if nothing had happened.
        let world = World::on(&CONFIG);
        let (class, actor) = (world.class(MUTEX), world.actor("a"));
        let id = world.region.create_instance(class, 1).unwrap();
        let wait = world.begin(&actor, class);
        flip(world, class, false);
        world.pass(3);
        actor.end(world.clock, wait, Held::Exclusive(&world.instance(id)));
        assert_eq!(kept(world), [1, 1], "switch {switch} off");
        for table in [GLOBAL, BY_THREAD, BY_INSTANCE] {
            world.expect(table, "COUNT_STAR,SUM_TIMER_WAIT", &["1 3000"]);
        }
        world.expect(CURRENT, "EVENT_ID,TIMER_WAIT", &["1 3000"]);
    }
    // On in the middle: nothing of it is seen.
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    world.region.set_setting(class, Setting::OFF);
    let wait = world.begin(&actor, class);
    world.region.set_setting(class, Setting::ON);
    world.end(&actor, wait);
    assert_eq!(kept(world), [0, 0]);
    world.expect(GLOBAL, "COUNT_STAR", &["0"]);
    // TIMED in the middle.
    world.region.set_setting(class, Setting::COUNTED);
    let wait = world.begin(&actor, class);
    world.region.set_setting(class, Setting::ON);
    world.pass(3);
    world.end(&actor, wait);
    world.expect(HISTORY, "TIMER_START,TIMER_END,TIMER_WAIT", &["NULL NULL NULL"]);
    world.expect(GLOBAL, "COUNT_STAR,SUM_TIMER_WAIT", &["1 0"]);
}

#[test]
fn an_untimed_wait_counts_and_has_no_times() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    let id = world.region.create_instance(class, 1);
    world.wait_for(&actor, class, 10, id);
    world.region.set_setting(class, Setting::COUNTED);
    world.wait_for(&actor, class, 100, id);
    for table in [CURRENT, HISTORY, LONG] {
        let rows = world.select(table, "EVENT_ID,END_EVENT_ID,TIMER_START,TIMER_END,TIMER_WAIT");
        assert_eq!(rows.last().map(String::as_str), Some("2 2 NULL NULL NULL"), "{table}");
    }
    // AVG divides by the timed ones.
    for table in [GLOBAL, BY_THREAD, BY_INSTANCE] {
        let columns = "COUNT_STAR,SUM_TIMER_WAIT,MIN_TIMER_WAIT,AVG_TIMER_WAIT,MAX_TIMER_WAIT";
        world.expect(table, columns, &["2 10000 10000 10000 10000"]);
    }
}

/// What is remembered of a line that was met before is of one operation.
#[test]
fn a_line_that_does_several_things_says_which() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    let here = std::panic::Location::caller();
    let operations = [Operation::Lock, Operation::TryLock, Operation::Lock, Operation::Lock, Operation::Join];
    for operation in operations {
        let start = WaitStart { source: Some(here), ..WaitStart::new(operation) };
        let wait = actor.begin(world.clock, world.region.switches(class), class, &start);
        world.end(&actor, wait);
        let row = format!("{} events.rs:{}", operation.name(), here.line());
        world.expect(CURRENT, "OPERATION,SOURCE", &[&row]);
    }
    let mut names = operations.map(Operation::name);
    names.sort_unstable();
    assert_eq!(world.select(LONG, "OPERATION"), names);
}

#[test]
fn a_change_of_the_timer_never_mixes_units() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    world.pass(1_000_000);
    let pairs = TimerName::ALL.into_iter().flat_map(|a| TimerName::ALL.map(|b| (a, b)));
    for (before, after) in pairs.step_by(if cfg!(miri) { 6 } else { 1 }) {
        world.region.set_wait_timer(before);
        let wait = world.begin(&actor, class);
        world.region.set_wait_timer(after);
        world.pass(20_000_000);
        world.end(&actor, wait);
        let rows = world.select(CURRENT, "TIMER_WAIT");
        assert_eq!(rows, ["20000000000"], "begun with {before:?}, ended under {after:?}");
    }
    world.expect(GLOBAL, "MIN_TIMER_WAIT,MAX_TIMER_WAIT", &["20000000000 20000000000"]);
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes there")]
fn starts_of_two_timers_agree() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    world.pass(7_000_000_000);
    for timer in TimerName::ALL {
        world.region.set_wait_timer(timer);
        world.wait(&actor, class, 0);
        world.expect(CURRENT, "TIMER_START", &["7000000000000"]);
    }
}

#[test]
fn a_clock_that_jumps_backwards_gives_no_negative_wait() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    world.pass(100);
    let wait = world.begin(&actor, class);
    world.clock.set(TimerName::Nanosecond, 50);
    world.end(&actor, wait);
    world.expect(CURRENT, "TIMER_START,TIMER_END,TIMER_WAIT", &["100000 100000 0"]);
    world.expect(GLOBAL, "COUNT_STAR,SUM_TIMER_WAIT", &["1 0"]);
}

/// Counts how often it is read.
struct Counting<'a>(&'a MockClock, Cell<u32>);

impl Clock for Counting<'_> {
    fn ticks(&self, timer: TimerName) -> u64 {
        self.1.set(self.1.get() + 1);
        self.0.ticks(timer)
    }
}

#[test]
fn chained_waits_share_a_timer_read() {
    let world = World::on(&CONFIG);
    let (first, second, actor) = (world.class(MUTEX), world.class(OTHER), world.actor("a"));
    let clock = Counting(world.clock, Cell::new(0));
    let what = WaitStart::new(Operation::Lock);
    let switches = |class| world.region.switches(class);
    let wait = actor.begin(&clock, switches(first), first, &what);
    world.pass(5);
    let wait = actor.chain(&clock, wait, Held::None, switches(second), second, &what);
    assert_eq!(clock.1.get(), 2);
    world.pass(3);
    actor.end(&clock, wait, Held::None);
    assert_eq!(clock.1.get(), 3);
    let columns = "EVENT_ID,END_EVENT_ID,TIMER_START,TIMER_END,TIMER_WAIT,NESTING_EVENT_ID";
    world.expect(HISTORY, columns, &["1 1 0 5000 5000 NULL", "2 2 5000 8000 3000 NULL"]);

    // Another timer or another setting in between: read again, or not at all.
    let wait = actor.begin(&clock, switches(first), first, &what);
    world.region.set_wait_timer(TimerName::Cycle);
    world.pass(2);
    let wait = actor.chain(&clock, wait, Held::None, switches(second), second, &what);
    world.region.set_setting(second, Setting::COUNTED);
    world.pass(4);
    let wait = actor.chain(&clock, wait, Held::None, switches(second), second, &what);
    world.region.set_setting(second, Setting::ON);
    world.pass(4);
    let wait = actor.chain(&clock, wait, Held::None, switches(first), first, &what);
    world.pass(6);
    actor.end(&clock, wait, Held::None);
    world.expect(
        LONG,
        columns,
        &[
            "1 1 0 5000 5000 NULL",
            "2 2 5000 8000 3000 NULL",
            "3 3 8000 10000 2000 NULL",
            "4 4 10000 14000 4000 NULL",
            "5 5 NULL NULL NULL NULL",
            "6 6 18000 24000 6000 NULL",
        ],
    );
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes there")]
fn a_thread_that_is_not_instrumented_records_nothing() {
    let world = World::on(&CONFIG);
    let (class, actor, other) = (world.class(MUTEX), world.actor("a"), world.actor("b"));
    let set = |column, value: &str| {
        let mut first = |row: &dyn perfschema_core::table::Row| row.cell(0) == Value::Unsigned(1);
        tables::find("threads").unwrap().update(world.region, &mut first, &[(column, Value::Text(value))]).unwrap()
    };
    world.wait(&actor, class, 1);
    assert_eq!(set("INSTRUMENTED", "NO").changed, 1);
    let unseen = world.begin(&actor, class);
    assert_eq!(set("INSTRUMENTED", "yes").changed, 1);
    world.end(&actor, unseen);
    set("INSTRUMENTED", "NO");
    world.wait(&actor, class, 1);
    world.wait(&other, class, 1);
    for table in [CURRENT, HISTORY, LONG] {
        world.expect(table, "THREAD_ID,EVENT_ID", &["1 1", "2 1"]);
    }
    world.expect(BY_THREAD, "THREAD_ID,COUNT_STAR", &["1 1", "2 1"]);
    world.expect(GLOBAL, "COUNT_STAR", &["2"]);
    // HISTORY = 'NO' leaves current and the sums.
    set("INSTRUMENTED", "YES");
    set("HISTORY", "NO");
    world.wait(&actor, class, 1);
    world.expect(CURRENT, "THREAD_ID,EVENT_ID", &["1 2", "2 1"]);
    for table in [HISTORY, LONG] {
        world.expect(table, "THREAD_ID,EVENT_ID", &["1 1", "2 1"]);
    }
    world.expect(BY_THREAD, "THREAD_ID,COUNT_STAR", &["1 2", "2 1"]);
    set("HISTORY", "YES");
    world.wait(&actor, class, 1);
    world.expect(HISTORY, "THREAD_ID,EVENT_ID", &["1 1", "1 3", "2 1"]);
}

#[test]
fn without_thread_instrumentation_the_global_sums_go_on() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    let id = world.region.create_instance(class, 1);
    world.wait_for(&actor, class, 1, id);
    world.region.set_consumer(Consumer::ThreadInstrumentation, false);
    world.wait_for(&actor, class, 3, id);
    world.expect(GLOBAL, "COUNT_STAR,SUM_TIMER_WAIT,MIN_TIMER_WAIT,MAX_TIMER_WAIT", &["2 4000 1000 3000"]);
    world.expect(BY_INSTANCE, "COUNT_STAR,SUM_TIMER_WAIT", &["2 4000"]);
    world.expect(BY_THREAD, "COUNT_STAR,SUM_TIMER_WAIT", &["1 1000"]);
    world.region.set_consumer(Consumer::ThreadInstrumentation, true);
    world.wait_for(&actor, class, 5, id);
    world.expect(GLOBAL, "COUNT_STAR,SUM_TIMER_WAIT", &["3 9000"]);
    world.expect(BY_THREAD, "COUNT_STAR,SUM_TIMER_WAIT", &["2 6000"]);
}

/// An event that ends after its thread gave the slot back must not touch the slot's next owner.
#[test]
fn an_event_that_outlives_its_slot_counts_in_the_global_sums() {
    let world = World::on(&CONFIG.with(Size::MaxThreadInstances, 1));
    let (class, old) = (world.class(MUTEX), world.actor("old"));
    let late = world.begin(&old, class);
    let later = world.begin(&old, class);
    old.detach();
    old.detach();
    let new = world.actor("new");
    let running: Vec<_> = (0..4).map(|_| world.begin(&new, class)).collect();
    let before = [CURRENT, HISTORY, LONG, BY_THREAD].map(|table| world.select(table, "*"));
    world.pass(5);
    world.end(&old, later);
    world.end(&old, late);
    world.wait(&old, class, 5);
    assert_eq!([CURRENT, HISTORY, LONG, BY_THREAD].map(|table| world.select(table, "*")), before);
    world.expect(GLOBAL, "COUNT_STAR,SUM_TIMER_WAIT", &["3 15000"]);
    for wait in running.into_iter().rev() {
        world.end(&new, wait);
    }
    world.expect(BY_THREAD, "THREAD_ID,COUNT_STAR", &["2 4"]);
    world.expect(GLOBAL, "COUNT_STAR", &["7"]);
    assert_eq!(world.region.lost(perfschema_core::Lost::HistoryLongRows), 0);
}

#[test]
fn an_event_left_open_by_one_owner_is_not_seen_under_the_next() {
    let world = World::on(&CONFIG.with(Size::MaxThreadInstances, 1));
    let (class, old) = (world.class(MUTEX), world.actor("old"));
    let _open = world.begin(&old, class);
    world.wait(&old, class, 1);
    world.expect(CURRENT, "EVENT_ID", &["1"]);
    old.detach();
    for table in [CURRENT, HISTORY] {
        world.expect(table, "*", &[]);
    }
    let new = world.actor("new");
    for table in [CURRENT, HISTORY] {
        world.expect(table, "*", &[]);
    }
    for _ in 0..20 {
        world.wait(&new, class, 1);
    }
    world.expect(CURRENT, "THREAD_ID,EVENT_ID,NESTING_EVENT_ID", &["2 20 NULL"]);
    world.expect(HISTORY, "THREAD_ID,EVENT_ID", &["2 18", "2 19", "2 20"]);
}
