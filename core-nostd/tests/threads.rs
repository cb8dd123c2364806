//! Real threads: they come and go past a small pool while others read, and everything adds up in the end.

mod common;

use common::{CONFIG, MUTEX, World, check_account};
use perfschema_core::timer::TimerName;
use perfschema_core::{Actor, ActorIdentity, Held, Lost, Operation, Setting, Size, WaitStart, table::Sweep, tables};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const THREADS: u64 = if cfg!(miri) { 6 } else { 10_000 };
const AT_ONCE: u64 = if cfg!(miri) { 3 } else { 80 };
const POOL: u32 = if cfg!(miri) { 2 } else { 64 };
const EVENTS: u64 = if cfg!(miri) { 2 } else { 20 };

/// 10 000 threads, 80 at a time, past a pool of 64, and two readers of all tables.
#[test]
fn threads_come_and_go_past_a_full_pool_while_others_read() {
    let world = World::on(&CONFIG.with(Size::MaxThreadInstances, POOL).with(Size::EventsWaitsHistoryLongSize, POOL * 4));
    let class = world.class(MUTEX);
    let (next, done) = (AtomicU32::new(0), AtomicBool::new(false));
    let (with_slot, without_slot) = (Mutex::new(BTreeSet::new()), AtomicU32::new(0));
    let sweeps = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut total = Sweep::default();
                let mut before = 0;
                while !done.load(Ordering::Relaxed) {
                    read(world, &mut total, &mut before);
                    sweeps.fetch_add(1, Ordering::Relaxed);
                }
                assert_eq!(total.rows + total.free + total.skipped + total.changed, total.places, "{total:?}");
            });
        }
        let workers: Vec<_> = (0..AT_ONCE)
            .map(|_| {
                scope.spawn(|| {
                    while u64::from(next.fetch_add(1, Ordering::Relaxed)) < THREADS {
                        // Each on a thread of its own, as slots are.
                        let id = std::thread::scope(|scope| scope.spawn(|| live(world, class)).join().unwrap());
                        match id {
                            0 => drop(without_slot.fetch_add(1, Ordering::Relaxed)),
                            id => assert!(with_slot.lock().unwrap().insert(id), "thread id {id} came back"),
                        }
                    }
                })
            })
            .collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        done.store(true, Ordering::Relaxed);
    });
    assert!(sweeps.load(Ordering::Relaxed) > 0);
    let (with_slot, without_slot) = (with_slot.into_inner().unwrap(), u64::from(without_slot.into_inner()));
    assert_eq!(with_slot.len() as u64 + without_slot, THREADS);
    assert_eq!(with_slot, (1..=with_slot.len() as u64).collect());
    // Exact: what each thread recorded, in a slot or not, counts once.
    let (count, sum) = (THREADS * EVENTS, THREADS * EVENTS * (EVENTS + 1) / 2 * 1_000);
    world.expect(
        "events_waits_summary_global_by_event_name",
        "COUNT_STAR,SUM_TIMER_WAIT,MIN_TIMER_WAIT,MAX_TIMER_WAIT",
        &[&format!("{count} {sum} 1000 {}", EVENTS * 1_000)],
    );
    assert_eq!(world.region.lost(Lost::ThreadInstances), without_slot);
    assert_eq!(world.region.lost(Lost::NestedEvents), 0);
    world.expect("threads", "*", &[]);
    world.expect("events_waits_current", "*", &[]);
    // Those that found no histogram share one.
    let in_buckets = world.select("events_waits_histogram_by_event_name", "COUNT_BUCKET");
    let in_buckets: u64 = in_buckets.iter().map(|count| count.parse::<u64>().unwrap()).sum();
    assert_eq!(in_buckets, if cfg!(miri) { 0 } else { count });
    let rows = world.select("events_waits_history_long", "*").len() as u64;
    assert!(rows <= u64::from(POOL) * 4);
}

/// A thread's life, and that of its lock if there is room for it. A clock of its own makes its waits 1, 2, 3 … ns long.
fn live(world: World, class: perfschema_core::Class) -> u64 {
    let clock = perfschema_core::timer::MockClock::new();
    let actor = world.actor("thread/test/worker");
    let id = world.region.create_instance(class, 100);
    let lock = id.map(|id| world.instance(id));
    for ns in 1..=EVENTS {
        let wait = actor.begin(&clock, world.region.switches(class), class, &WaitStart::new(Operation::Lock));
        clock.advance(TimerName::Nanosecond, ns);
        actor.end(&clock, wait, lock.as_ref().map_or(Held::None, Held::Exclusive));
    }
    if let Some(id) = id {
        world.region.destroy_instance(id);
    }
    actor.detach();
    actor.thread_id()
}

/// Reads every table once, and looks at what is true at any moment.
fn read(world: World, total: &mut Sweep, count_before: &mut u64) {
    for table in tables::ALL {
        let declaration = table.declaration();
        if cfg!(miri) && (!declaration.name.starts_with("events_waits") || declaration.name.contains("histogram")) {
            // Miri has time for the tables that are read while they are written.
            continue;
        }
        let at = |name| declaration.column(name).unwrap();
        let mut threads = BTreeSet::new();
        let sweep = table.scan(world.region, &mut |row| {
            for (index, column) in declaration.columns.iter().enumerate() {
                let value = row.cell(index);
                assert!(column.holds(&value), "{}.{} shows {value:?}", declaration.name, column.name);
            }
            let number = |name| row.cell(at(name)).to_string().parse::<u64>().ok();
            match declaration.name {
                "events_waits_current" | "events_waits_history" | "events_waits_history_long" => {
                    // The n-th wait of a thread is n ns long and begins when the one before ended.
                    let id = number("EVENT_ID").unwrap();
                    assert!((1..=EVENTS).contains(&id), "event {id}");
                    assert_eq!(number("TIMER_START"), Some(id * (id - 1) / 2 * 1_000), "event {id}");
                    let ended = number("END_EVENT_ID");
                    assert!(ended == Some(id) || (ended.is_none() && declaration.name == "events_waits_current"));
                    assert_eq!(number("TIMER_WAIT"), ended.map(|id| id * 1_000));
                    assert_ne!(number("THREAD_ID"), Some(0));
                }
                "events_waits_summary_by_thread_by_event_name" | "events_waits_summary_by_instance" => {
                    // The first n waits are n · (n + 1) / 2 ns long together.
                    let count = number("COUNT_STAR").unwrap();
                    assert!(count <= EVENTS, "{count} events of one thread");
                    assert_eq!(number("SUM_TIMER_WAIT"), Some(count * (count + 1) / 2 * 1_000), "{count} events");
                    assert_eq!(number("MAX_TIMER_WAIT"), Some(count * 1_000));
                    assert_eq!(number("MIN_TIMER_WAIT"), Some(count.min(1) * 1_000));
                }
                "events_waits_summary_global_by_event_name" => {
                    let count = number("COUNT_STAR").unwrap();
                    assert!(*count_before <= count && count <= THREADS * EVENTS, "{count_before}, then {count}");
                    *count_before = count;
                }
                "threads" => {
                    assert!(threads.insert(number("THREAD_ID")), "two rows of one thread");
                    assert_eq!(row.cell(at("NAME")).to_string(), "thread/test/worker");
                }
                _ => {}
            }
        });
        check_account(world.region, declaration.name, &sweep);
        total.places += sweep.places;
        total.rows += sweep.rows;
        total.free += sweep.free;
        total.skipped += sweep.skipped;
        total.changed += sweep.changed;
    }
}

#[test]
fn a_thread_that_panics_in_the_middle_of_a_wait() {
    let world = World::on(&CONFIG);
    let class = world.class(MUTEX);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let actor = world.actor("thread/test/doomed");
                // The guard that an adapter has: it ends the wait, then the thread.
                struct Ends<'a>(&'a Actor<'static>);
                impl Drop for Ends<'_> {
                    fn drop(&mut self) {
                        self.0.detach();
                    }
                }
                let _ends = Ends(&actor);
                world.wait(&actor, class, 1);
                let _open = world.begin(&actor, class);
                world.expect("events_waits_current", "EVENT_ID,END_EVENT_ID", &["2 NULL"]);
                panic!("on purpose");
            });
            thread.join().unwrap();
        });
    }));
    assert!(panicked.is_err());
    // What had ended counts; what was open is gone; the slot is free and works.
    world.expect("events_waits_summary_global_by_event_name", "COUNT_STAR", &["1"]);
    world.expect("events_waits_current", "*", &[]);
    world.expect("threads", "*", &[]);
    let actors = ["a", "b", "c"].map(|name| world.actor(name));
    for actor in &actors {
        world.wait(actor, class, 1);
    }
    world.expect("events_waits_summary_by_thread_by_event_name", "THREAD_ID,COUNT_STAR", &["2 1", "3 1", "4 1"]);
    assert_eq!(world.region.lost(Lost::ThreadInstances), 0);
}

#[test]
fn an_actor_that_never_ends_keeps_its_slot_and_nothing_else() {
    let world = World::on(&CONFIG);
    let class = world.class(MUTEX);
    // Killed: nobody gives the slot back.
    world.wait(&world.actor("dead"), class, 1);
    for _ in 0..5 {
        let actor = world.actor("a");
        world.wait(&actor, class, 1);
        actor.detach();
    }
    world.expect("threads", "THREAD_ID,NAME", &["1 dead"]);
    world.expect("events_waits_summary_global_by_event_name", "COUNT_STAR", &["6"]);
}

/// The thread exits, and another one takes its slot, in the middle of a reader's sweep: between two rows of it.
#[test]
fn a_thread_exits_while_its_rows_are_read() {
    for table in ["events_waits_current", "events_waits_history", "events_waits_summary_by_thread_by_event_name", "threads"] {
        for replaced in [false, true] {
            if cfg!(miri) && !(replaced && table == "events_waits_history") {
                continue;
            }
            let world = World::on(&CONFIG);
            let (class, other) = (world.class(MUTEX), world.class(common::OTHER));
            let (first, second) = (world.actor("first"), world.actor("second"));
            for actor in [&first, &second] {
                for _ in 0..4 {
                    world.wait(actor, class, 1);
                    world.wait(actor, other, 1);
                }
                let _open = world.begin(actor, class);
                let _open = world.begin(actor, class);
            }
            let mut owners = Vec::new();
            let mut gone = false;
            let declaration = tables::find(table).unwrap().declaration();
            let sweep = tables::find(table).unwrap().scan(world.region, &mut |row| {
                owners.push(row.cell(declaration.column("THREAD_ID").unwrap()).to_string());
                if !gone {
                    gone = true;
                    first.detach();
                    if replaced {
                        let third = world.actor("third");
                        world.wait(&third, class, 1);
                        third.detach();
                    }
                }
            });
            // The row in hand is whole; no other one of that thread, nor of its successor, is shown as its own.
            assert_eq!(owners.iter().filter(|owner| *owner == "1").count(), 1, "{table}: {owners:?}");
            assert!(owners.iter().all(|owner| owner != "3"), "{table}: {owners:?}");
            assert!(owners.iter().any(|owner| owner == "2"), "{table}: {owners:?}");
            check_account(world.region, table, &sweep);
            assert_eq!(sweep.skipped > 0, table != "threads", "{table}: {sweep:?}");
        }
    }
}

/// One record, overwritten all the time, and read all the time: each row is of one event, whole.
#[test]
fn rows_are_whole_while_their_record_is_overwritten() {
    let world = World::on(&CONFIG.with(Size::EventsWaitsHistorySize, 0).with(Size::MaxThreadInstances, 1));
    let class = world.class(MUTEX);
    let events = if cfg!(miri) { 30 } else { 1_000_000 };
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let actor = world.actor("a");
            for n in 1..=events {
                // Every number of the row says which event it is.
                world.clock.set(TimerName::Nanosecond, n);
                let what = WaitStart { object: n, ..WaitStart::new(Operation::Lock) };
                let mut wait = actor.begin(world.clock, world.region.switches(class), class, &what);
                world.clock.set(TimerName::Nanosecond, n * 2);
                wait.set_amount(n);
                actor.end(world.clock, wait, Held::None);
            }
            done.store(true, Ordering::Release);
            actor.detach();
        });
        let (mut running, mut ended) = (0_u64, 0_u64);
        while !done.load(Ordering::Acquire) {
            world.region.scan(&tables::EventsWaitsCurrent, |row| {
                let n = row.event_id;
                assert_eq!((row.object_instance_begin, row.timer_start), (n, Some(n * 1_000)), "{row:?}");
                match row.end_event_id {
                    None => {
                        running += 1;
                        assert_eq!((row.timer_end, row.timer_wait, row.spins), (None, None, None), "{row:?}");
                    }
                    Some(end) => {
                        ended += 1;
                        assert_eq!((end, row.timer_wait, row.spins), (n, Some(n * 1_000), Some(n as u32)), "{row:?}");
                    }
                }
            });
            world.region.scan(&tables::EventsWaitsSummaryByThreadByEventName, |row| {
                let count = row.count_star;
                assert_eq!((row.sum_timer_wait, row.max_timer_wait), (count * (count + 1) / 2 * 1_000, count * 1_000), "{row:?}");
            });
        }
        assert!(cfg!(miri) || running + ended > 0);
    });
}

/// Several threads register the same names at once: one class a name.
#[test]
fn threads_register_the_same_names_at_once() {
    let rounds = if cfg!(miri) { 1 } else { 200 };
    for _ in 0..rounds {
        let world = World::on(&CONFIG);
        let names: Vec<String> = (0..4).map(|n| format!("wait/synch/mutex/test/{n}")).collect();
        let all: Vec<BTreeSet<_>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|first| {
                    let names = &names;
                    scope.spawn(move || (0..4).map(|n| (world.class(&names[(first + n) % 4]), (first + n) % 4)).collect())
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(all.iter().all(|classes| *classes == all[0] && classes.len() == 4));
        assert_eq!(world.select("setup_instruments", "NAME").len(), 4);
        assert_eq!(world.region.lost(Lost::MutexClasses), 0);
    }
}

/// Settings changed from two threads at once: afterwards the switches are those of the settings.
#[test]
fn settings_changed_at_once_fold_to_what_they_are() {
    let rounds = if cfg!(miri) { 2 } else { 2_000 };
    let world = World::on(&CONFIG);
    let (a, b) = (world.class(MUTEX), world.class(common::OTHER));
    for round in 0..rounds {
        let on = round % 2 == 0;
        let setting = if on { Setting::ON } else { Setting::OFF };
        std::thread::scope(|scope| {
            scope.spawn(|| world.region.set_setting(a, setting));
            scope.spawn(|| world.region.set_setting(b, setting));
        });
        assert_eq!((world.region.switches(a).is_on(), world.region.switches(b).is_on()), (on, on), "round {round}");
    }
}

/// TRUNCATE of the global table against a thread that records: what is counted before plus what is counted after is all there was.
#[test]
fn a_truncation_loses_no_event_that_comes_after_it() {
    let world = World::on(&CONFIG);
    let class = world.class(MUTEX);
    let count = || world.select("events_waits_summary_global_by_event_name", "COUNT_STAR")[0].parse::<u64>().unwrap();
    let events = if cfg!(miri) { 5 } else { 20_000 };
    world.truncate("events_waits_summary_global_by_event_name");
    std::thread::scope(|scope| {
        let recorder = scope.spawn(|| {
            let actor = Actor::attach(world.region, &ActorIdentity::default());
            for _ in 0..events {
                world.wait(&actor, class, 0);
            }
            actor.detach();
        });
        while !recorder.is_finished() {
            let before = count();
            assert!(before <= events);
            world.truncate("events_waits_summary_global_by_event_name");
        }
        recorder.join().unwrap();
    });
    world.truncate("events_waits_summary_global_by_event_name");
    assert_eq!(count(), 0);
    world.wait(&world.actor("b"), class, 1);
    assert_eq!(count(), 1);
}
