//! Sums and histograms: who counts what, and TRUNCATE of each table alone, in every order; but the global sums take the histogram along.

// One thread and no `unsafe`: Miri finds nothing here that it does not find in events.rs, and takes minutes.
#![cfg(not(miri))]

mod common;

use common::{CONFIG, MUTEX, OTHER, World};
use perfschema_core::histogram::bucket;
use perfschema_core::tables::EventsWaitsHistogramByEventName;
use perfschema_core::{Actor, Class, Consumer, Held, Lost, Operation, Setting, Size, WaitStart};
use std::collections::BTreeMap;

const GLOBAL: &str = "events_waits_summary_global_by_event_name";
const BY_THREAD: &str = "events_waits_summary_by_thread_by_event_name";
const BY_INSTANCE: &str = "events_waits_summary_by_instance";
const HISTOGRAM: &str = "events_waits_histogram_by_event_name";
const SUMS: &str = "COUNT_STAR,SUM_TIMER_WAIT,MIN_TIMER_WAIT,AVG_TIMER_WAIT,MAX_TIMER_WAIT";

#[test]
fn a_summary_has_zeroes_before_the_first_event() {
    let world = World::on(&CONFIG);
    let class = world.class(MUTEX);
    world.region.create_instance(class, 1);
    let _actor = world.actor("a");
    for table in [GLOBAL, BY_THREAD, BY_INSTANCE] {
        world.expect(table, SUMS, &["0 0 0 0 0"]);
    }
    world.expect(GLOBAL, "QUANTILE_95,QUANTILE_99,QUANTILE_999", &["0 0 0"]);
    assert_eq!(world.select(HISTOGRAM, "COUNT_BUCKET,BUCKET_QUANTILE").iter().filter(|row| *row == "0 0").count(), 600);
}

#[test]
fn a_wait_of_no_time_is_a_minimum() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    world.wait(&actor, class, 5);
    world.wait(&actor, class, 0);
    world.expect(GLOBAL, SUMS, &["2 5000 0 2500 5000"]);
}

#[test]
fn each_thread_each_class_and_each_instance_has_its_own_sums() {
    let world = World::on(&CONFIG);
    let (a, b) = (world.actor("a"), world.actor("b"));
    let (one, two) = (world.class(MUTEX), world.class(OTHER));
    let (x, y) = (world.region.create_instance(one, 10), world.region.create_instance(one, 20));
    for (actor, class, ns, id) in [(&a, one, 1, x), (&a, one, 2, y), (&b, one, 4, x), (&b, two, 8, None), (&a, two, 16, None)] {
        world.wait_for(actor, class, ns, id);
    }
    world.expect(
        GLOBAL,
        &format!("EVENT_NAME,{SUMS}"),
        &[&format!("{MUTEX} 3 7000 1000 2333 4000"), &format!("{OTHER} 2 24000 8000 12000 16000")],
    );
    world.expect(
        BY_THREAD,
        "THREAD_ID,EVENT_NAME,COUNT_STAR,SUM_TIMER_WAIT,MIN_TIMER_WAIT,MAX_TIMER_WAIT",
        &[
            &format!("1 {MUTEX} 2 3000 1000 2000"),
            &format!("1 {OTHER} 1 16000 16000 16000"),
            &format!("2 {MUTEX} 1 4000 4000 4000"),
            &format!("2 {OTHER} 1 8000 8000 8000"),
        ],
    );
    world.expect(BY_INSTANCE, "OBJECT_INSTANCE_BEGIN,COUNT_STAR,SUM_TIMER_WAIT", &["10 2 5000", "20 1 2000"]);
}

#[test]
fn the_sums_of_an_ended_thread_count_exactly_once() {
    let world = World::on(&CONFIG.with(Size::MaxThreadInstances, 1));
    let class = world.class(MUTEX);
    for round in 1..=10_u64 {
        let actor = world.actor("a");
        world.expect(BY_THREAD, "THREAD_ID,COUNT_STAR", &[&format!("{round} 0")]);
        world.wait(&actor, class, round);
        world.expect(BY_THREAD, "THREAD_ID,COUNT_STAR,SUM_TIMER_WAIT", &[&format!("{round} 1 {}", round * 1000)]);
        actor.detach();
        world.expect(BY_THREAD, "*", &[]);
        world.expect(GLOBAL, "COUNT_STAR,SUM_TIMER_WAIT", &[&format!("{round} {}", round * (round + 1) / 2 * 1000)]);
    }
}

#[test]
fn threads_without_a_slot_count_in_the_global_sums_and_by_instance() {
    let world = World::on(&CONFIG.with(Size::MaxThreadInstances, 1));
    let (class, a, b) = (world.class(MUTEX), world.actor("a"), world.actor("b"));
    assert_eq!((a.thread_id(), b.thread_id(), world.region.lost(Lost::ThreadInstances)), (1, 0, 1));
    let id = world.region.create_instance(class, 1);
    world.wait_for(&a, class, 1, id);
    world.wait_for(&b, class, 2, id);
    world.expect(GLOBAL, SUMS, &["2 3000 1000 1500 2000"]);
    world.expect(BY_INSTANCE, SUMS, &["2 3000 1000 1500 2000"]);
    world.expect(BY_THREAD, SUMS, &["1 1000 1000 1000 1000"]);
    world.truncate(GLOBAL);
    world.wait_for(&b, class, 7, id);
    world.expect(GLOBAL, SUMS, &["1 7000 7000 7000 7000"]);
}

#[test]
fn what_several_hold_at_once_adds_to_what_one_held_alone() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(common::RWLOCK), world.actor("a"));
    let id = world.region.create_instance(class, 1).unwrap();
    let instance = world.instance(id);
    for (ns, shared) in [(5, false), (3, true), (9, true), (1, false)] {
        let wait = world.begin(&actor, class);
        world.pass(ns);
        actor.end(world.clock, wait, if shared { Held::Shared(&instance) } else { Held::Exclusive(&instance) });
    }
    world.expect(BY_INSTANCE, SUMS, &["4 18000 1000 4500 9000"]);
    world.truncate(BY_INSTANCE);
    world.expect(BY_INSTANCE, SUMS, &["0 0 0 0 0"]);
    let wait = world.begin(&actor, class);
    world.pass(2);
    actor.end(world.clock, wait, Held::Shared(&instance));
    world.expect(BY_INSTANCE, SUMS, &["1 2000 2000 2000 2000"]);
    // Its successor in the pool starts anew.
    world.region.destroy_instance(id);
    assert_eq!(world.region.create_instance(class, 2), Some(id));
    world.expect(BY_INSTANCE, SUMS, &["0 0 0 0 0"]);
}

#[test]
fn histogram_and_quantiles() {
    let world = World::on(&CONFIG);
    let (class, a, b) = (world.class(MUTEX), world.actor("a"), world.actor("b"));
    for n in 0..100 {
        world.wait(if n % 2 == 0 { &a } else { &b }, class, if n < 95 { 1_000 } else { 1_000_000 });
    }
    let counted: Vec<String> = world
        .select(HISTOGRAM, "BUCKET_NUMBER,COUNT_BUCKET,COUNT_BUCKET_AND_LOWER,BUCKET_QUANTILE")
        .into_iter()
        .filter(|row| !row.contains(" 0 "))
        .collect();
    let (low, high) = (bucket(1_000_000), bucket(1_000_000_000));
    assert_eq!(counted, [format!("{low} 95 95 0.95"), format!("{high} 5 100 1")]);
    let ends = [low, low, high].map(perfschema_core::histogram::bucket_timer_high);
    assert_eq!(world.select(GLOBAL, "QUANTILE_95"), [ends[0].to_string()]);
    assert_eq!(world.select(GLOBAL, "QUANTILE_999"), [ends[2].to_string()]);
    // It outlives the threads.
    let before = world.select(HISTOGRAM, "*");
    a.detach();
    b.detach();
    assert_eq!(world.select(HISTOGRAM, "*"), before);
}

/// As MySQL's histograms of statements go with their summaries.
#[test]
fn quantiles_are_of_the_waits_that_their_row_counts() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    let columns = "COUNT_STAR,QUANTILE_95,QUANTILE_99,QUANTILE_999";
    (0..100).for_each(|_| world.wait(&actor, class, 1_000_000));
    world.truncate(GLOBAL);
    world.expect(GLOBAL, columns, &["0 0 0 0"]);
    world.wait(&actor, class, 1_000);
    let high = perfschema_core::histogram::bucket_timer_high(bucket(1_000_000));
    world.expect(GLOBAL, columns, &[&format!("1 {high} {high} {high}")]);
    // Not the other way round.
    world.truncate(HISTOGRAM);
    world.expect(GLOBAL, columns, &["1 0 0 0"]);
}

#[test]
fn quantiles_are_of_so_many_of_a_thousand_waits() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    let lengths = [1_000, 10_000, 100_000, 1_000_000];
    for (ns, count) in lengths.into_iter().zip([950, 40, 9, 1]) {
        (0..count).for_each(|_| world.wait(&actor, class, ns));
    }
    let [first, second, third, fourth] = lengths.map(|ns| perfschema_core::histogram::bucket_timer_high(bucket(ns * 1_000)));
    world.expect(GLOBAL, "QUANTILE_95,QUANTILE_99,QUANTILE_999", &[&format!("{first} {second} {third}")]);
    world.wait(&actor, class, lengths[3]);
    world.expect(GLOBAL, "QUANTILE_95,QUANTILE_99,QUANTILE_999", &[&format!("{second} {third} {fourth}")]);
}

/// Waits of the instrument in the histogram, all of which took so many nanoseconds.
fn histogram_of(world: World, name: &str, ns: u64) -> u64 {
    let (mut total, mut there) = (0, 0);
    world.region.scan(&EventsWaitsHistogramByEventName, |row| {
        if row.event_name.as_str() == name {
            total += row.count_bucket;
            if row.bucket_number as usize == bucket(ns * 1_000) {
                there = row.count_bucket;
            }
        }
    });
    assert_eq!(total, there, "{name}: all are as long");
    total
}

/// Threads of which only the first finds a histogram, or none where there is none at all.
#[test]
fn pairs_that_find_no_histogram_share_one() {
    /// Ten minutes are in a bucket beyond those that a summary's word has room for.
    const LONG: u64 = 600_000_000_000;
    for room in [0, 1] {
        let world = World::on(&CONFIG.with(Size::MaxWaitHistograms, room).with(Size::MaxThreadInstances, 3));
        let (class, other) = (world.class(MUTEX), world.class(OTHER));
        let actors = ["first", "shares", "shares, too", "has no slot"].map(|name| world.actor(name));
        for truncations in 0..2 {
            for n in 1..=5 {
                for actor in &actors {
                    world.wait(actor, class, 1);
                }
                world.wait(&actors[1], other, LONG);
                world.wait(&actors[3], other, LONG);
                let found = [histogram_of(world, MUTEX, 1), histogram_of(world, OTHER, LONG)];
                let each = n * u64::from(room);
                assert_eq!(found, [each * 4, each * 2], "room {room}, after {n}, truncated {truncations} times");
            }
            world.truncate(HISTOGRAM);
        }
    }
}

/// An event as the tables below see it.
#[derive(Clone, Copy)]
struct Event {
    thread: u64,
    instance: u64,
    timed: bool,
    ps: u64,
}

/// What the tables should show: all events, and for each table where its last truncation was.
#[derive(Clone, Default)]
struct Book {
    events: Vec<Event>,
    since: BTreeMap<&'static str, usize>,
}

impl Book {
    fn sums(&self, table: &str, of: impl Fn(&Event) -> bool) -> String {
        let since = self.since.get(table).copied().unwrap_or(0);
        let chosen: Vec<&Event> = self.events[since..].iter().filter(|event| of(event)).collect();
        let timed: Vec<u64> = chosen.iter().filter(|event| event.timed).map(|event| event.ps).collect();
        let sum: u64 = timed.iter().sum();
        format!(
            "{} {sum} {} {} {}",
            chosen.len(),
            timed.iter().min().unwrap_or(&0),
            sum.checked_div(timed.len() as u64).unwrap_or(0),
            timed.iter().max().unwrap_or(&0)
        )
    }
}

/// Two threads, one of whose slots can be handed to another thread, one instrument, two instances.
struct Stage {
    world: World,
    class: Class,
    actors: [Actor<'static>; 2],
    instances: [perfschema_core::InstanceId; 2],
    book: Book,
    next_ps: u64,
}

const STEPS: [&str; 8] = [
    "a waits",
    "b waits",
    "a waits untimed",
    "truncate global",
    "truncate by thread",
    "truncate by instance",
    "truncate histogram",
    "a ends",
];

impl Stage {
    fn new() -> Stage {
        let world = World::on(&CONFIG.with(Size::MaxThreadInstances, 2).with(Size::MaxMutexClasses, 1));
        let class = world.class(MUTEX);
        let instances = [1, 2].map(|address| world.region.create_instance(class, address).unwrap());
        Stage { world, class, actors: [world.actor("a"), world.actor("b")], instances, book: Book::default(), next_ps: 3000 }
    }

    fn step(&mut self, step: usize) {
        let world = self.world;
        let mut wait = |who: usize, timed: bool| {
            // Neither rising nor falling, so that extremes come from anywhere.
            self.next_ps = self.next_ps * 7 % 31_000;
            let setting = if timed { perfschema_core::Setting::ON } else { perfschema_core::Setting::COUNTED };
            world.region.set_setting(self.class, setting);
            world.wait_for(&self.actors[who], self.class, self.next_ps / 1000, Some(self.instances[who]));
            let ps = self.next_ps / 1000 * 1000;
            self.book.events.push(Event { thread: self.actors[who].thread_id(), instance: who as u64 + 1, timed, ps });
        };
        match step {
            0 => wait(0, true),
            1 => wait(1, true),
            2 => wait(0, false),
            3..=6 => {
                let table = [GLOBAL, BY_THREAD, BY_INSTANCE, HISTOGRAM][step - 3];
                world.truncate(table);
                self.book.since.insert(table, self.book.events.len());
                if table == GLOBAL {
                    self.book.since.insert(HISTOGRAM, self.book.events.len());
                }
            }
            _ => {
                self.actors[0].detach();
                self.actors[0] = world.actor("next");
            }
        }
    }

    fn check(&self, steps: &[usize]) {
        let named = || steps.iter().map(|step| STEPS[*step]).collect::<Vec<_>>();
        let world = self.world;
        assert_eq!(world.select(GLOBAL, SUMS), [self.book.sums(GLOBAL, |_| true)], "{:?}", named());
        let mut by_thread: Vec<_> = self
            .actors
            .each_ref()
            .map(|actor| {
                let thread = actor.thread_id();
                (thread, format!("{thread} {}", self.book.sums(BY_THREAD, |event| event.thread == thread)))
            })
            .into();
        by_thread.sort();
        let by_thread: Vec<String> = by_thread.into_iter().map(|(_, row)| row).collect();
        assert_eq!(world.select(BY_THREAD, &format!("THREAD_ID,{SUMS}")), by_thread, "{:?}", named());
        let by_instance = [1, 2].map(|id| format!("{id} {}", self.book.sums(BY_INSTANCE, |event| event.instance == id)));
        assert_eq!(world.select(BY_INSTANCE, &format!("OBJECT_INSTANCE_BEGIN,{SUMS}")), by_instance, "{:?}", named());
        let mut buckets = vec![0_u64; 600];
        for event in self.book.events[self.book.since.get(HISTOGRAM).copied().unwrap_or(0)..].iter().filter(|event| event.timed) {
            buckets[bucket(event.ps)] += 1;
        }
        let mut shown = Vec::new();
        world.region.scan(&EventsWaitsHistogramByEventName, |row| shown.push(row.count_bucket));
        assert_eq!(shown, buckets, "{:?}", named());
    }
}

/// All programs of so many steps, the tables compared after the last one.
#[test]
fn every_order_of_waits_truncations_and_thread_ends() {
    let length = 4;
    for number in 0..STEPS.len().pow(length) {
        let steps: Vec<usize> = (0..length).map(|at| number / STEPS.len().pow(at) % STEPS.len()).collect();
        let mut stage = Stage::new();
        // Something to vanish or stay.
        for step in [0, 1, 2] {
            stage.step(step);
        }
        for &step in &steps {
            stage.step(step);
        }
        stage.check(&steps);
        stage.step(0);
        stage.check(&steps);
    }
}

/// Longer ones, chosen at random.
#[test]
fn long_programs_of_waits_truncations_and_thread_ends() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..100 {
        let mut stage = Stage::new();
        let mut steps = Vec::new();
        for _ in 0..100 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let step = if state >> 32 & 3 == 0 { (state >> 40) as usize % STEPS.len() } else { (state >> 40) as usize % 3 };
            stage.step(step);
            steps.push(step);
            if state >> 60 < 4 {
                stage.check(&steps);
            }
        }
        stage.check(&steps);
    }
}

#[test]
fn an_event_that_runs_during_a_truncation_counts_after_it() {
    for table in [GLOBAL, BY_THREAD, BY_INSTANCE] {
        let world = World::on(&CONFIG);
        let (class, actor) = (world.class(MUTEX), world.actor("a"));
        let id = world.region.create_instance(class, 1).unwrap();
        world.wait_for(&actor, class, 1, Some(id));
        let wait = actor.begin(world.clock, world.region.switches(class), class, &WaitStart::new(Operation::Lock));
        world.truncate(table);
        world.expect(table, SUMS, &["0 0 0 0 0"]);
        world.pass(9);
        actor.end(world.clock, wait, Held::Exclusive(&world.instance(id)));
        world.expect(table, SUMS, &["1 9000 9000 9000 9000"]);
    }
}

/// A wait that is only counted, whose thread has given its slot to another meanwhile.
#[test]
fn a_count_that_outlives_its_slot() {
    let world = World::on(&CONFIG.with(Size::MaxThreadInstances, 1));
    let (class, old) = (world.class(MUTEX), world.actor("old"));
    world.region.set_consumer(Consumer::EventsWaitsCurrent, false);
    world.region.set_setting(class, Setting { timed: false, ..Setting::ON });
    let late = world.begin(&old, class);
    old.detach();
    let new = world.actor("new");
    world.end(&old, late);
    world.expect(GLOBAL, "COUNT_STAR,SUM_TIMER_WAIT", &["1 0"]);
    world.end(&new, world.begin(&new, class));
    world.expect(BY_THREAD, "THREAD_ID,COUNT_STAR", &["2 1"]);
}
