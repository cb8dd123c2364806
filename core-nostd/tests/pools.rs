//! Full pools: what does not fit is counted in one place, and the program runs on.

// One thread and no `unsafe`: Miri finds nothing here that it does not find in events.rs, and takes minutes.
#![cfg(not(miri))]

mod common;

use common::{CONFIG, MUTEX, OTHER, RWLOCK, World};
use perfschema_core::metric::MonitorCommand;
use perfschema_core::{
    Actor, Class, Config, Held, InstanceId, InstrumentName, Lost, Operation, RegisterError, Setting, Size, StatementStart,
    WaitStart, tables,
};
use std::collections::BTreeSet;

fn register(world: World, name: &str) -> Result<Class, RegisterError> {
    world.region.register(InstrumentName::new(name).unwrap(), Setting::ON)
}

/// The `…_lost` counters that are not zero, as `global_status` shows them.
fn lost(world: World) -> Vec<String> {
    let rows = world.select("global_status", "*");
    assert_eq!(rows.len(), Lost::ALL.len());
    rows.into_iter().filter(|row| !row.ends_with(" 0")).collect()
}

const KINDS: [(&str, &str, Size, Size); 4] = [
    ("mutex", "wait/synch/mutex/t/", Size::MaxMutexClasses, Size::MaxMutexInstances),
    ("rwlock", "wait/synch/rwlock/t/", Size::MaxRwlockClasses, Size::MaxRwlockInstances),
    ("cond", "wait/synch/cond/t/", Size::MaxCondClasses, Size::MaxCondInstances),
    ("synch", "wait/synch/semaphore/t/", Size::MaxSynchClasses, Size::MaxSynchInstances),
];

#[test]
fn classes_of_each_kind() {
    for (kind, prefix, size, _) in KINDS {
        for room in [0, 1, 3] {
            let world = World::on(&CONFIG.with(size, room));
            let classes: Vec<Class> = (0..room).map(|n| register(world, &format!("{prefix}{n}")).unwrap()).collect();
            assert_eq!(lost(world), [""; 0]);
            for _ in 0..2 {
                assert_eq!(register(world, &format!("{prefix}more")), Err(RegisterError::Full { size }));
            }
            assert_eq!(lost(world), [format!("Performance_schema_{kind}_classes_lost 2")]);
            // A name that is there is found even so, and nothing is counted.
            for (n, class) in classes.iter().enumerate() {
                assert_eq!(register(world, &format!("{prefix}{n}")), Ok(*class));
                assert_eq!(world.region.find_class(&format!("{prefix}{n}")), Some(*class));
            }
            assert_eq!(world.select("setup_instruments", "*").len(), room as usize);
            world.region.flush_status();
            assert_eq!(lost(world), [""; 0]);
        }
    }
}

/// They have no size of their own, and no instances.
#[test]
fn ordinary_waits_are_among_those_of_synch() {
    let size = Size::MaxSynchClasses;
    let world = World::on(&CONFIG.with(size, 3));
    let names = ["wait/lock/metadata/t/mdl", "wait/synch/semaphore/t/S", "wait/t/pool"];
    let classes = names.map(|name| register(world, name).unwrap());
    for name in ["wait/t/more", "wait/synch/once/t/more"] {
        assert_eq!(register(world, name), Err(RegisterError::Full { size }));
    }
    assert_eq!(lost(world), ["Performance_schema_synch_classes_lost 2"]);
    world.expect("setup_instruments", "NAME", &names);
    for (class, name) in classes.into_iter().zip(names) {
        assert_eq!(register(world, name), Ok(class));
        assert_eq!(world.region.find_class(name), Some(class));
    }
    world.region.flush_status();
    let instances = classes.map(|class| world.region.create_instance(class, 1).is_some());
    assert_eq!((instances, lost(world)), ([false, true, false], vec![]));
    // Nor do they take what another kind has.
    assert!(register(world, MUTEX).is_ok());
}

#[test]
fn one_kind_takes_no_place_of_another() {
    let world = World::on(&CONFIG);
    let mut names = BTreeSet::new();
    for (_, prefix, size, _) in KINDS {
        for n in 0..10 {
            let name = format!("{prefix}{n}");
            if register(world, &name).is_ok() {
                names.insert(name);
            }
        }
        assert_eq!(names.iter().filter(|name| name.starts_with(prefix)).count(), CONFIG.get(size) as usize);
    }
    let rows: BTreeSet<String> = world.select("setup_instruments", "NAME").into_iter().collect();
    assert_eq!(rows, names);
}

#[test]
fn a_name_registered_twice_is_one_class_with_its_first_setting() {
    let world = World::off(&CONFIG);
    let name = InstrumentName::literal(MUTEX);
    let class = world.region.register(name, Setting::COUNTED).unwrap();
    assert_eq!(world.region.register(name, Setting::ON), Ok(class));
    world.expect("setup_instruments", "*", &[&format!("{MUTEX} YES NO 1")]);
    // A longer name that begins the same is another one.
    assert_ne!(register(world, &format!("{MUTEX}A")), Ok(class));
    assert_eq!(world.region.find_class("wait/synch/mutex/test"), None);
}

#[test]
fn instances_of_each_kind() {
    for (kind, prefix, _, size) in KINDS {
        let world = World::on(&CONFIG.with(size, 2));
        let class = register(world, &format!("{prefix}x")).unwrap();
        let ids: Vec<InstanceId> = (1..=2).map(|address| world.region.create_instance(class, address).unwrap()).collect();
        assert_eq!(world.region.create_instance(class, 3), None);
        assert_eq!(lost(world), [format!("Performance_schema_{kind}_instances_lost 1")]);
        let addresses = |world: World| world.select("events_waits_summary_by_instance", "OBJECT_INSTANCE_BEGIN");
        assert_eq!(addresses(world), ["1", "2"]);
        // The waits of one that found no place count by thread and by event name.
        let actor = world.actor("a");
        world.wait_for(&actor, class, 1, None);
        world.expect("events_waits_summary_global_by_event_name", "COUNT_STAR", &["1"]);
        world.expect("events_waits_summary_by_instance", "COUNT_STAR", &["0", "0"]);
        // A place given back is taken again.
        world.region.destroy_instance(ids[0]);
        assert_eq!(addresses(world), ["2"]);
        world.region.destroy_instance(ids[0]);
        world.region.create_instance(class, 4).unwrap();
        assert_eq!(addresses(world), ["2", "4"]);
        // Its instances table shows it whether or not the instrument is on.
        world.region.set_setting(class, Setting::OFF);
        if kind != "synch" {
            world.expect(&format!("{kind}_instances"), "OBJECT_INSTANCE_BEGIN", &["2", "4"]);
        }
    }
}

#[test]
fn holders_and_readers_are_live() {
    let world = World::off(&CONFIG);
    let (mutex, rwlock) = (world.class(MUTEX), world.class(RWLOCK));
    let (m, r) = (world.region.create_instance(mutex, 1).unwrap(), world.region.create_instance(rwlock, 2).unwrap());
    let (m, r) = (world.instance(m), world.instance(r));
    world.expect("mutex_instances", "*", &[&format!("{MUTEX} 1 NULL")]);
    m.set_holder(5);
    world.expect("mutex_instances", "*", &[&format!("{MUTEX} 1 5")]);
    m.clear_holder();
    m.set_address(9);
    world.expect("mutex_instances", "*", &[&format!("{MUTEX} 9 NULL")]);
    world.expect("rwlock_instances", "*", &[&format!("{RWLOCK} 2 NULL 0")]);
    r.add_reader();
    r.add_reader();
    world.expect("rwlock_instances", "*", &[&format!("{RWLOCK} 2 NULL 2")]);
    r.remove_reader();
    r.set_holder(3);
    world.expect("rwlock_instances", "*", &[&format!("{RWLOCK} 2 3 1")]);
    assert!(world.region.instance(InstanceId::NONE).is_none());
    assert!((0..u32::MAX).step_by(65_537).all(|bits| world.region.instance(InstanceId::from_bits(bits)).is_none()));
}

#[test]
fn threads_beyond_the_pool_and_numbers_that_never_return() {
    let world = World::on(&CONFIG.with(Size::MaxThreadInstances, 2));
    let mut seen = BTreeSet::new();
    for round in 1..=20 {
        let actors: Vec<Actor<'_>> = (0..3).map(|_| world.actor("a")).collect();
        assert_eq!(actors[2].thread_id(), 0);
        assert_eq!(world.region.lost(Lost::ThreadInstances), round);
        for actor in &actors[..2] {
            assert!(seen.insert(actor.thread_id()), "{} came back", actor.thread_id());
        }
        let ids: Vec<u64> = world.select("threads", "THREAD_ID").iter().map(|id| id.parse().unwrap()).collect();
        assert_eq!(ids, [actors[0].thread_id(), actors[1].thread_id()]);
        actors.iter().for_each(Actor::detach);
    }
    assert_eq!(seen, (1..=40).collect());
    assert_eq!(lost(world), ["Performance_schema_thread_instances_lost 20"]);
}

#[test]
fn events_nested_deeper_than_there_are_records() {
    for history in [0, 3] {
        let world = World::on(&CONFIG.with(Size::EventsWaitsHistorySize, history));
        let (class, actor) = (world.class(MUTEX), world.actor("a"));
        let room = history as usize + 6;
        let open: Vec<_> = (0..room + 4).map(|_| world.begin(&actor, class)).collect();
        assert_eq!(world.select("events_waits_current", "*").len(), room);
        assert_eq!(lost(world), ["Performance_schema_nested_events_lost 4"]);
        for wait in open.into_iter().rev() {
            world.end(&actor, wait);
        }
        // They were not visible, and they count.
        world.expect("events_waits_summary_global_by_event_name", "COUNT_STAR", &[&(room + 4).to_string()]);
        world.wait(&actor, class, 1);
        assert_eq!(world.select("events_waits_history", "*").len(), history as usize);
        world.expect("events_waits_current", "EVENT_ID", &[&(room + 5).to_string()]);
    }
}

#[test]
fn source_lines_beyond_the_table() {
    let world = World::on(&CONFIG.with(Size::MaxSourceLocations, 2));
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    let wait = |location| {
        let what = WaitStart { source: Some(location), ..WaitStart::new(Operation::Lock) };
        let wait = actor.begin(world.clock, world.region.switches(class), class, &what);
        actor.end(world.clock, wait, Held::None);
        world.select("events_waits_current", "SOURCE").remove(0)
    };
    let locations = [std::panic::Location::caller, std::panic::Location::caller];
    let here = |line: u32| format!("pools.rs:{line}");
    let first = line(locations[0]());
    assert_eq!(wait(first), here(first.line()));
    let second = line(std::panic::Location::caller());
    assert_eq!(wait(second), here(second.line()));
    let third = line(std::panic::Location::caller());
    assert_eq!(wait(third), "NULL");
    assert_eq!(lost(world), ["Performance_schema_source_locations_lost 1"]);
    // A thread remembers it.
    assert_eq!(wait(third), "NULL");
    // The ones that are there are still found.
    assert_eq!(wait(first), here(first.line()));
    assert_eq!(lost(world), ["Performance_schema_source_locations_lost 1"]);
}

/// Where none were asked for, none are lost.
#[test]
fn no_source_lines_at_all() {
    let world = World::on(&CONFIG.with(Size::MaxSourceLocations, 0));
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    let what = WaitStart { source: Some(std::panic::Location::caller()), ..WaitStart::new(Operation::Lock) };
    let wait = actor.begin(world.clock, world.region.switches(class), class, &what);
    actor.end(world.clock, wait, Held::None);
    world.expect("events_waits_current", "SOURCE", &["NULL"]);
    assert_eq!(lost(world), [""; 0]);
}

/// A third of a program's lines is used, in the order in which they stand there.
#[test]
fn source_lines_fill_almost_all_of_their_table() {
    let lines: &'static [std::panic::Location<'static>] = Vec::leak(vec![*std::panic::Location::caller(); 3000]);
    for mut chance in 1..=10_u64 {
        let world = World::on(&CONFIG.with(Size::MaxSourceLocations, 256));
        let (class, actor) = (world.class(MUTEX), world.actor("a"));
        let used = lines.iter().filter(|_| {
            chance = chance.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (chance >> 33).is_multiple_of(3)
        });
        for line in used.take(240) {
            let what = WaitStart { source: Some(line), ..WaitStart::new(Operation::Lock) };
            let wait = actor.begin(world.clock, world.region.switches(class), class, &what);
            actor.end(world.clock, wait, Held::None);
        }
        assert_eq!(lost(world), [""; 0]);
    }
}

#[test]
fn digests_fill_almost_all_of_their_table() {
    let config = CONFIG.with(Size::DigestsSize, 500);
    for table in 0..10 {
        let world = World::on(&config);
        let (class, actor) = (world.class("statement/t/s"), world.actor("a"));
        for number in 0..460 {
            let start = StatementStart { text: &format!("find t{table}x{number}"), ..Default::default() };
            let statement = actor.begin_statement(world.clock, world.region.switches(class), &start);
            actor.end_statement(world.clock, statement);
        }
        assert_eq!(lost(world), [""; 0]);
    }
}

fn line(location: &'static std::panic::Location<'static>) -> &'static std::panic::Location<'static> {
    location
}

#[test]
fn histograms_beyond_the_pool() {
    let world = World::on(&CONFIG.with(Size::MaxWaitHistograms, 1));
    let (class, other, actor) = (world.class(MUTEX), world.class(OTHER), world.actor("a"));
    for _ in 0..3 {
        world.wait(&actor, class, 1);
        world.wait(&actor, other, 1);
    }
    // The second shares that of its instrument with whoever else finds none.
    assert_eq!(lost(world), [""; 0]);
    world.expect("events_waits_summary_global_by_event_name", "COUNT_STAR", &["3", "3"]);
    assert_eq!(
        world.select("events_waits_histogram_by_event_name", "COUNT_BUCKET").iter().filter(|count| *count == "3").count(),
        2
    );
}

#[test]
fn the_long_history_while_all_of_it_is_being_filled() {
    // One chunk of one row for each of the threads but one: reserved and filled at once, so nothing is lost.
    let world = World::on(&CONFIG.with(Size::EventsWaitsHistoryLongSize, 1));
    let class = world.class(MUTEX);
    let actors: Vec<Actor<'_>> = (0..3).map(|_| world.actor("a")).collect();
    for actor in &actors {
        world.wait(actor, class, 1);
    }
    assert_eq!(world.select("events_waits_history_long", "THREAD_ID"), ["3"]);
    assert_eq!(lost(world), [""; 0]);
    // No place at all: it was not asked for, and nothing is lost.
    let world = World::on(&CONFIG.with(Size::EventsWaitsHistoryLongSize, 0));
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    for _ in 0..4 {
        world.wait(&actor, class, 1);
    }
    assert_eq!(lost(world), [""; 0]);
    world.expect("events_waits_history_long", "*", &[]);
}

/// A thread that records much draws chunks ahead. When it comes back to them after another one has gone round, they hold what is newest.
#[test]
fn chunks_drawn_long_ago_are_not_taken() {
    const ROWS: usize = 128;
    // All threads together draw an eighth ahead: that much of what `late` wrote may be older than what is overwritten.
    const AHEAD: usize = ROWS / 8;
    // Chunks of one row.
    let config = CONFIG.with(Size::EventsWaitsHistoryLongSize, ROWS as u32).with(Size::MaxThreadInstances, ROWS as u32 / 2);
    // Each time with another number of chunks drawn and left.
    for early_events in (60..=100).step_by(if cfg!(miri) { 40 } else { 1 }) {
        let world = World::on(&config);
        let class = world.class(MUTEX);
        let [early, late] = ["early", "late"].map(|name| world.actor(name));
        let rows_of = |actor: &Actor<'_>| {
            let rows = world.select("events_waits_history_long", "THREAD_ID,EVENT_ID");
            let mut events: Vec<usize> = rows
                .iter()
                .filter_map(|row| row.split_once(' '))
                .filter(|(thread, _)| *thread == actor.thread_id().to_string())
                .filter_map(|(_, event)| event.parse().ok())
                .collect();
            events.sort_unstable();
            events
        };
        let wait = |actor, times| (0..times).for_each(|_| world.wait(actor, class, 1));
        wait(&early, early_events);
        let late_events = 3 * ROWS;
        wait(&late, late_events);
        wait(&early, 1);
        let rows = rows_of(&late);
        let newest: Vec<usize> = (late_events - ROWS + 2 + AHEAD..=late_events).collect();
        assert_eq!(rows[rows.len() - newest.len()..], newest, "after {early_events} events");
        assert_eq!(rows_of(&early), [early_events + 1]);
        assert_eq!(lost(world), [""; 0]);
    }
}

/// A thread that ends gives its unfinished chunk of the long history back.
#[test]
fn threads_that_come_and_go_lose_no_row_of_the_long_history() {
    let world = World::on(&CONFIG);
    let class = world.class(MUTEX);
    for round in 1..=50_u64 {
        let actor = world.actor("a");
        world.wait(&actor, class, 1);
        actor.detach();
        assert_eq!(lost(world), [""; 0]);
        let last = world.select("events_waits_history_long", "THREAD_ID").pop();
        assert_eq!(last, Some(round.to_string()));
    }
}

#[test]
fn without_room_for_anything_nothing_fails() {
    let world = World::on(&Config::EMPTY);
    assert!(register(world, MUTEX).is_err());
    let actor = world.actor("a");
    assert_eq!(actor.thread_id(), 0);
    for table in tables::ALL {
        let _ = common::select(world.region, table.declaration().name, "*");
        let _ = table.truncate(world.region);
    }
    // Room for a class and nothing else.
    let world = World::on(&Config::EMPTY.with(Size::MaxMutexClasses, 1));
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    assert_eq!(world.region.create_instance(class, 1), None);
    world.wait(&actor, class, 1);
    world.expect("events_waits_summary_global_by_event_name", "COUNT_STAR,SUM_TIMER_WAIT", &["1 1000"]);
    // And a thread without any record to spare but those of running events.
    let world = World::on(&Config::EMPTY.with(Size::MaxMutexClasses, 1).with(Size::MaxThreadInstances, 1));
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    world.wait(&actor, class, 1);
    world.expect("events_waits_current", "EVENT_ID,TIMER_WAIT", &["1 1000"]);
    world.expect("events_waits_history", "*", &[]);
}

#[test]
fn sizes_are_shown_and_limited() {
    let world = World::on(&CONFIG);
    let rows = world.select("global_variables", "*");
    assert_eq!(rows.len(), Size::ALL.len() + 1 + MonitorCommand::ALL.len());
    assert!(rows.contains(&"performance_schema ON".into()));
    for &size in Size::ALL {
        assert!(rows.contains(&format!("{} {}", size.variable(), CONFIG.get(size))));
        // At the limit, one below, one above.
        let mut config = Config::EMPTY;
        let error = config.try_set(size, u64::MAX).unwrap_err();
        let perfschema_core::ConfigError::TooLarge { limit, .. } = error else { panic!("{error:?}") };
        assert_eq!(
            config.try_set(size, u64::from(limit) + 1),
            Err(perfschema_core::ConfigError::TooLarge { size, value: u64::from(limit) + 1, limit })
        );
        assert_eq!(config, Config::EMPTY, "nothing is changed");
        assert_eq!(config.try_set(size, u64::from(limit) - 1), Ok(()));
        assert_eq!(config.try_set(size, u64::from(limit)), Ok(()));
        assert_eq!(config.get(size), limit);
        // By its name in any spelling that the server takes.
        let name = size.variable();
        for spelling in [name, &name.replace('_', "-"), &name.to_uppercase(), &name["performance_schema_".len()..]] {
            assert_eq!(Size::from_variable(spelling), Some(size), "{spelling}");
        }
        assert_eq!(Size::from_variable(&name[1..]), None);
    }
    assert_eq!(Config::default(), Config::DEFAULT);
}

/// The last of as many histograms, sources and classes as there can be is as good as the first.
/// Where a pointer has 32 bits, words can be counted whose bytes cannot: no small number comes out of that.
#[test]
fn bytes_that_no_number_counts_are_the_most_there_are() {
    let mut config = Config::EMPTY.with(Size::MaxMutexClasses, 1024).with(Size::EventsWaitsHistorySize, 1024);
    let mut before = 0;
    for threads in (0..=16).map(|shift| 1 << shift) {
        config.try_set(Size::MaxThreadInstances, threads).unwrap();
        let bytes = config.size_bytes();
        assert_eq!(bytes as u128, (config.words() as u128 * 8).min(usize::MAX as u128), "{threads} threads");
        assert!(bytes > before || bytes == usize::MAX, "{threads} threads");
        before = bytes;
    }
}

#[test]
fn pools_at_their_limit() {
    let limit = |size: Size| {
        let mut config = Config::EMPTY;
        match config.try_set(size, u64::MAX) {
            Err(perfschema_core::ConfigError::TooLarge { limit, .. }) => limit,
            _ => unreachable!(),
        }
    };
    let threads = 64;
    let classes = limit(Size::MaxMutexClasses);
    let config = Config::EMPTY
        .with(Size::MaxMutexClasses, classes)
        .with(Size::MaxThreadInstances, threads)
        .with(Size::MaxWaitHistograms, limit(Size::MaxWaitHistograms));
    let world = World::on(&config);
    let classes: Vec<Class> = (0..classes).map(|n| register(world, &format!("wait/synch/mutex/t/{n}")).unwrap()).collect();
    let actors: Vec<Actor<'_>> = (0..threads).map(|_| world.actor("a")).collect();
    for actor in &actors {
        for &class in &classes {
            world.wait(actor, class, 1);
            world.wait(actor, class, 1);
        }
    }
    let pairs = u64::from(threads) * classes.len() as u64;
    assert!(pairs > u64::from(limit(Size::MaxWaitHistograms)), "some share");
    let mut total = 0;
    world.region.scan(&tables::EventsWaitsHistogramByEventName, |row| total += row.count_bucket);
    assert_eq!(total, pairs * 2);
}
