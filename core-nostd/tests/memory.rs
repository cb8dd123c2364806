//! Memory: `memory_summary_global_by_event_name` and `memory_summary_by_thread_by_event_name`.

mod common;

use common::{CONFIG, World};
use perfschema_core::table::{TableError, Value};
use perfschema_core::{Actor, Class, Consumer, InstrumentName, Lost, MemoryChange, RegisterError, Setting, Size, tables};

const GLOBAL: &str = "memory_summary_global_by_event_name";
const BY_THREAD: &str = "memory_summary_by_thread_by_event_name";
const HEAP: &str = "memory/test/heap";
const CACHE: &str = "memory/test/cache";
/// Blocks: allocated, freed, low, current, high; bytes the same.
const ALL: &str = "COUNT_ALLOC,COUNT_FREE,LOW_COUNT_USED,CURRENT_COUNT_USED,HIGH_COUNT_USED,SUM_NUMBER_OF_BYTES_ALLOC,\
                   SUM_NUMBER_OF_BYTES_FREE,LOW_NUMBER_OF_BYTES_USED,CURRENT_NUMBER_OF_BYTES_USED,HIGH_NUMBER_OF_BYTES_USED";

fn count(world: &World, actor: &Actor<'_>, class: Class, changes: &[MemoryChange]) {
    changes.iter().for_each(|change| actor.count_memory(world.region.switches(class), class, *change));
}

/// The rows of a memory table, without THREAD_ID.
#[track_caller]
fn check(world: &World, table: &str, expected: &[&str]) {
    world.expect(table, &format!("EVENT_NAME,{ALL}"), expected);
}

fn with(bytes: u64) -> MemoryChange {
    MemoryChange::allocated(bytes)
}

fn without(bytes: u64) -> MemoryChange {
    MemoryChange::freed(bytes)
}

#[test]
fn what_comes_and_goes_is_counted_with_its_marks() {
    let world = World::on(&CONFIG);
    let [heap, cache] = [HEAP, CACHE].map(|name| world.class(name));
    let actor = world.actor("a");
    count(&world, &actor, heap, &[with(100), with(20), without(100), MemoryChange::resized(20, 50), with(7)]);
    for table in [GLOBAL, BY_THREAD] {
        check(&world, table, &["memory/test/cache 0 0 0 0 0 0 0 0 0 0", "memory/test/heap 4 2 0 2 2 177 120 0 57 120"]);
    }
    count(&world, &actor, cache, &[without(5), with(5)]);
    for table in [GLOBAL, BY_THREAD] {
        check(&world, table, &["memory/test/cache 1 1 -1 0 0 5 5 -5 0 0", "memory/test/heap 4 2 0 2 2 177 120 0 57 120"]);
    }
    assert_eq!(world.region.memory_summary_by_event_name(heap).bytes.current(), 57);
    // It is no wait.
    for table in ["events_waits_summary_global_by_event_name", "events_waits_summary_by_thread_by_event_name"] {
        world.expect(table, "EVENT_NAME", &[]);
    }
    world.expect("events_waits_current", "EVENT_ID", &[]);
    assert_eq!(world.region.create_instance(heap, 1), None, "memory has no instances");
    assert_eq!(world.region.refer_to_file(heap, b"/a"), None, "nor files");
    assert_eq!(world.region.memory_summary_by_event_name(world.class(common::MUTEX)), Default::default());
}

/// Each thread has what it did itself; together it is right.
#[test]
fn threads_free_what_others_allocated() {
    let world = World::on(&CONFIG);
    let heap = world.class(HEAP);
    let [maker, breaker] = ["maker", "breaker"].map(|name| world.actor(name));
    count(&world, &maker, heap, &[with(10), with(10), with(10)]);
    count(&world, &breaker, heap, &[without(10), without(10)]);
    check(&world, BY_THREAD, &["memory/test/heap 0 2 -2 -2 0 0 20 -20 -20 0", "memory/test/heap 3 0 0 3 3 30 0 0 30 30"]);
    // Low and high are sums: at most, and at least, what they really were.
    check(&world, GLOBAL, &["memory/test/heap 3 2 -2 1 3 30 20 -20 10 30"]);
}

/// What ended threads did stays counted, once; who comes into their slot starts at nothing.
#[test]
fn threads_come_and_go() {
    let world = World::on(&CONFIG.with(Size::MaxThreadInstances, 1));
    let heap = world.class(HEAP);
    for n in 1..=3 {
        let actor = world.actor("a");
        check(&world, BY_THREAD, &["memory/test/heap 0 0 0 0 0 0 0 0 0 0"]);
        count(&world, &actor, heap, &[with(10), with(5), without(5)]);
        check(&world, BY_THREAD, &["memory/test/heap 2 1 0 1 2 15 5 0 10 15"]);
        // A second thread finds no slot.
        let without_slot = world.actor("b");
        count(&world, &without_slot, heap, &[with(1)]);
        actor.detach();
        // What it does in its last destructors.
        count(&world, &actor, heap, &[without(1)]);
        check(&world, BY_THREAD, &[]);
        let summary = world.region.memory_summary_by_event_name(heap);
        assert_eq!((summary.blocks.allocated, summary.blocks.freed, summary.blocks.current()), (3 * n, 2 * n, n as i64));
        assert_eq!((summary.bytes.low, summary.bytes.current(), summary.bytes.high), (0, 10 * n as i64, 10 * n as i64 + 5 + 1));
    }
    assert_eq!(world.region.lost(Lost::ThreadInstances), 3);
}

/// TRUNCATE takes away what came and went, in one table; what is in use stays, and the marks begin there.
#[test]
fn truncation_starts_from_what_is_in_use() {
    let world = World::on(&CONFIG);
    let heap = world.class(HEAP);
    let actor = world.actor("a");
    let slotless = Actor::without_slot(world.region);
    count(&world, &actor, heap, &[with(100), without(100), with(10)]);
    let before = "memory/test/heap 2 1 0 1 1 110 100 0 10 100";
    let truncated = "memory/test/heap 1 0 1 1 1 10 0 10 10 10";
    let mutex = world.class(common::MUTEX);
    world.wait(&actor, mutex, 1);
    let waits = world.select("events_waits_summary_by_thread_by_event_name", "*");
    world.truncate(GLOBAL);
    check(&world, GLOBAL, &[truncated]);
    check(&world, BY_THREAD, &[before]);
    // It goes on from there, in each table from where it was truncated.
    count(&world, &actor, heap, &[with(50), without(10)]);
    check(&world, GLOBAL, &["memory/test/heap 2 1 1 1 2 60 10 10 50 60"]);
    check(&world, BY_THREAD, &["memory/test/heap 3 2 0 1 2 160 110 0 50 100"]);
    world.truncate(BY_THREAD);
    check(&world, BY_THREAD, &["memory/test/heap 1 0 1 1 1 50 0 50 50 50"]);
    check(&world, GLOBAL, &["memory/test/heap 2 1 1 1 2 60 10 10 50 60"]);
    count(&world, &actor, heap, &[without(50)]);
    check(&world, BY_THREAD, &["memory/test/heap 1 1 0 0 1 50 50 0 0 50"]);
    check(&world, GLOBAL, &["memory/test/heap 2 2 0 0 2 60 60 0 0 60"]);
    // Also what threads without a slot did, and what was freed more than allocated.
    count(&world, &slotless, heap, &[with(3), without(3), without(4)]);
    check(&world, GLOBAL, &["memory/test/heap 3 4 -1 -1 3 63 67 -4 -4 63"]);
    world.truncate(GLOBAL);
    check(&world, GLOBAL, &["memory/test/heap 0 1 -1 -1 -1 0 4 -4 -4 -4"]);
    assert_eq!(world.select("events_waits_summary_by_thread_by_event_name", "*"), waits, "waits are truncated alone");
    world.truncate("events_waits_summary_by_thread_by_event_name");
    check(&world, BY_THREAD, &["memory/test/heap 1 1 0 0 1 50 50 0 0 50"]);
}

/// TRUNCATE twice before the owner's next change, and across a change of owner.
#[test]
fn truncations_that_nobody_saw_are_one() {
    let world = World::on(&CONFIG.with(Size::MaxThreadInstances, 1));
    let heap = world.class(HEAP);
    let actor = world.actor("a");
    count(&world, &actor, heap, &[with(8), without(8), with(2)]);
    for table in [GLOBAL, BY_THREAD, GLOBAL, BY_THREAD] {
        world.truncate(table);
    }
    for table in [GLOBAL, BY_THREAD] {
        check(&world, table, &["memory/test/heap 1 0 1 1 1 2 0 2 2 2"]);
    }
    actor.detach();
    let next = world.actor("b");
    world.truncate(BY_THREAD);
    check(&world, BY_THREAD, &["memory/test/heap 0 0 0 0 0 0 0 0 0 0"]);
    count(&world, &next, heap, &[without(2)]);
    check(&world, BY_THREAD, &["memory/test/heap 0 1 -1 -1 0 0 2 -2 -2 0"]);
    check(&world, GLOBAL, &["memory/test/heap 1 1 0 0 1 2 2 0 0 2"]);
}

/// Off is off, for the instrument, for everything and for one thread; without `thread_instrumentation` nobody's sums grow.
#[test]
fn switches() {
    let world = World::on(&CONFIG);
    let heap = world.region.register(InstrumentName::literal(HEAP), Setting::OFF).unwrap();
    let actor = world.actor("a");
    assert!(!world.region.switches(heap).is_on());
    count(&world, &actor, heap, &[with(1)]);
    check(&world, GLOBAL, &["memory/test/heap 0 0 0 0 0 0 0 0 0 0"]);
    world.region.set_setting(heap, Setting::ON);
    count(&world, &actor, heap, &[with(1)]);
    world.region.set_consumer(Consumer::ThreadInstrumentation, false);
    count(&world, &actor, heap, &[with(1)]);
    check(&world, GLOBAL, &["memory/test/heap 2 0 0 2 2 2 0 0 2 2"]);
    check(&world, BY_THREAD, &["memory/test/heap 1 0 0 1 1 1 0 0 1 1"]);
    world.region.enable_everything();
    let no = [("INSTRUMENTED", Value::Text("NO"))];
    tables::find("threads").unwrap().update(world.region, &mut |_| true, &no).unwrap();
    count(&world, &actor, heap, &[with(1)]);
    world.region.set_consumer(Consumer::GlobalInstrumentation, false);
    assert!(!world.region.switches(heap).is_on());
    check(&world, GLOBAL, &["memory/test/heap 2 0 0 2 2 2 0 0 2 2"]);
}

/// As in MySQL: TIMED is NULL and stays so, whoever asks.
#[test]
fn memory_is_never_timed() {
    let world = World::on(&CONFIG);
    world.class(HEAP);
    world.class(common::MUTEX);
    let instruments = tables::find("setup_instruments").unwrap();
    let expect =
        |memory: &str, mutex: &str| world.expect("setup_instruments", "NAME,ENABLED,TIMED,TIMED_ONE_IN", &[memory, mutex]);
    expect("memory/test/heap YES NULL 1", "wait/synch/mutex/test/A YES YES 1");
    for new in [("TIMED", Value::Text("YES")), ("TIMED_ONE_IN", Value::Unsigned(16))] {
        let updated = instruments.update(world.region, &mut |_| true, &[new]).unwrap();
        assert_eq!((updated.matched, updated.changed), (2, u64::from(new.0 == "TIMED_ONE_IN")));
    }
    expect("memory/test/heap YES NULL 1", "wait/synch/mutex/test/A YES YES 16");
    instruments.update(world.region, &mut |_| true, &[("TIMED", Value::Text("NO")), ("ENABLED", Value::Text("NO"))]).unwrap();
    expect("memory/test/heap NO NULL 1", "wait/synch/mutex/test/A NO NO 16");
    // What it shows can be given back to it, and to no other.
    let memory = |row: &dyn perfschema_core::table::Row| row.cell(0) == Value::Text(HEAP);
    let null = [("TIMED", Value::Null)];
    assert_eq!(instruments.update(world.region, &mut |row| memory(row), &null).map(|updated| updated.changed), Ok(0));
    let others = instruments.update(world.region, &mut |row| !memory(row), &null);
    assert_eq!(others, Err(TableError::NotNull { column: "TIMED" }));
}

#[test]
fn instruments_of_memory_have_a_pool_of_their_own() {
    let world = World::on(&CONFIG);
    let [heap, _] = [HEAP, CACHE].map(|name| world.class(name));
    let third = InstrumentName::literal("memory/test/third");
    assert_eq!(world.region.register(third, Setting::ON), Err(RegisterError::Full { size: Size::MaxMemoryClasses }));
    assert_eq!(world.region.lost(Lost::MemoryClasses), 1);
    for (table, row) in [
        ("global_variables", "performance_schema_max_memory_classes 2"),
        ("global_status", "Performance_schema_memory_classes_lost 1"),
    ] {
        assert!(world.select(table, "*").contains(&row.into()), "{row}");
    }
    // An instrument of something else counts nothing, and does no harm.
    let mutex = world.class(common::MUTEX);
    let actor = world.actor("a");
    count(&world, &actor, mutex, &[with(1)]);
    world.wait(&actor, heap, 1);
    check(&world, GLOBAL, &["memory/test/cache 0 0 0 0 0 0 0 0 0 0", "memory/test/heap 0 0 0 0 0 0 0 0 0 0"]);
}

/// Threads of the system, each freeing what another one allocated, a table truncated now and then: in the end all is accounted for.
#[test]
fn threads_of_the_system_agree_in_the_end() {
    const ROUNDS: u64 = if cfg!(miri) { 40 } else { 20_000 };
    // One of the three has no slot.
    let world = World::on(&CONFIG.with(Size::MaxThreadInstances, 2));
    let heap = world.class(HEAP);
    let all_are_here = std::sync::Barrier::new(3);
    std::thread::scope(|scope| {
        for thread in 0..3_u64 {
            let all_are_here = &all_are_here;
            scope.spawn(move || {
                let actor = world.actor("a");
                all_are_here.wait();
                for n in 0..ROUNDS {
                    // In all, what comes in one thread goes in the next.
                    count(&world, &actor, heap, &[with(thread + n), without((thread + 1) % 3 + n)]);
                }
                actor.detach();
            });
        }
        scope.spawn(move || {
            for _ in 0..ROUNDS / 20 {
                world.region.scan(&tables::MemorySummaryByThreadByEventName, |row| {
                    // Between two changes of one thread there is at most one block, and one byte either way for each round.
                    assert!((0..=1).contains(&row.current_count_used), "{row:?}");
                    assert_eq!(row.count_alloc - row.count_free, row.current_count_used as u64);
                    assert!(
                        row.low_count_used <= row.current_count_used && row.current_count_used <= row.high_count_used,
                        "{row:?}"
                    );
                    assert_eq!((row.low_count_used, row.high_count_used), (0, row.high_count_used.min(1)));
                });
                std::thread::yield_now();
            }
        });
    });
    let sums = world.region.memory_summary_by_event_name(heap);
    assert_eq!((sums.blocks.allocated, sums.blocks.freed), (3 * ROUNDS, 3 * ROUNDS));
    let bytes = (0..3).map(|thread| (0..ROUNDS).map(|n| thread + n).sum::<u64>()).sum::<u64>();
    assert_eq!((sums.bytes.allocated, sums.bytes.freed), (bytes, bytes));
    assert_eq!((sums.blocks.low, sums.blocks.high), (0, 3));
    world.truncate(GLOBAL);
    let left = world.region.memory_summary_by_event_name(heap);
    assert_eq!(left.blocks, Default::default(), "each thread freed as many as it allocated");
    // Each thread's turnover is taken off, as in MySQL; what one allocated and another freed stays on both sides.
    assert_eq!((left.bytes.allocated, left.bytes.current(), left.bytes.low, left.bytes.high), (2 * ROUNDS, 0, 0, 0));
}
