//! Clocks that jump backwards, stand still, differ between cores, or run to the end of their numbers: no duration is negative or
//! wraps, and no sum is poisoned.

mod common;

use common::{CONFIG, MUTEX, World};
use perfschema_core::timer::{MockClock, TimerName};
use perfschema_core::{Actor, Class, Held, Operation, WaitStart, tables};

fn world() -> (World, Class, Actor<'static>) {
    let world = World::on(&CONFIG);
    (world, world.class(MUTEX), world.actor("a"))
}

/// A clock at so many nanoseconds.
fn at(ns: u64) -> MockClock {
    let clock = MockClock::new();
    clock.set(TimerName::Nanosecond, ns);
    clock
}

/// A wait that begins by one clock and ends by another, as one does that was moved to another core.
fn wait(world: World, actor: &Actor<'_>, class: Class, begin_ns: u64, end_ns: u64) {
    let wait = actor.begin(&at(begin_ns), world.region.switches(class), class, &WaitStart::new(Operation::Lock));
    actor.end(&at(end_ns), wait, Held::None);
}

const SUMS: &str = "COUNT_STAR,SUM_TIMER_WAIT,MIN_TIMER_WAIT,AVG_TIMER_WAIT,MAX_TIMER_WAIT";

#[test]
fn a_clock_that_jumps_backwards() {
    let (world, class, actor) = world();
    for (begin, end) in [(1_000, 1_007), (1_007, 3), (3, 3), (3, 0), (0, 1_000)] {
        wait(world, &actor, class, begin, end);
        world.expect("events_waits_current", "TIMER_WAIT", &[&(1_000 * u64::saturating_sub(end, begin)).to_string()]);
    }
    let sums = ["5 1007000 0 201400 1000000"];
    world.expect("events_waits_summary_global_by_event_name", SUMS, &sums);
    world.expect("events_waits_summary_by_thread_by_event_name", SUMS, &sums);
    let buckets = world.select("events_waits_histogram_by_event_name", "BUCKET_NUMBER,COUNT_BUCKET");
    let filled: Vec<_> = buckets.iter().filter(|row| !row.ends_with(" 0")).collect();
    // Up to 10 ns, and 1 µs.
    assert_eq!(filled, ["0 4", "101 1"]);
}

#[test]
fn a_clock_that_stands_still() {
    let (world, class, actor) = world();
    for _ in 0..20 {
        wait(world, &actor, class, 5, 5);
    }
    world.expect("events_waits_summary_global_by_event_name", SUMS, &["20 0 0 0 0"]);
    // What orders the rows is not the time.
    world.expect(
        "events_waits_history",
        "EVENT_ID,TIMER_START,TIMER_END,TIMER_WAIT",
        &["18 5000 5000 0", "19 5000 5000 0", "20 5000 5000 0"],
    );
}

#[test]
fn a_running_wait_that_began_in_the_future() {
    let (world, class, actor) = world();
    let outer = actor.begin(&at(900), world.region.switches(class), class, &WaitStart::new(Operation::Lock));
    wait(world, &actor, class, 800, 850);
    world.expect("events_waits_current", "TIMER_START,TIMER_END,TIMER_WAIT", &["900000 NULL NULL"]);
    actor.end(&at(850), outer, Held::None);
    world.expect("events_waits_history", "EVENT_ID,END_EVENT_ID,TIMER_WAIT", &["1 2 0", "2 2 50000"]);
}

#[test]
fn cores_whose_clocks_differ() {
    let (world, class, actor) = world();
    let other = world.actor("b");
    // Core B is 40 ns behind: each thread goes to and fro.
    for round in 1..=10_u64 {
        let now = round * 1_000;
        wait(world, &actor, class, now, now + 100 - 40);
        wait(world, &other, class, now - 40, now + 100);
        wait(world, &actor, class, now, now + 20 - 40);
    }
    world.expect("events_waits_summary_global_by_event_name", SUMS, &[&format!("30 2000000 0 {} 140000", 2_000_000 / 30)]);
}

#[test]
fn before_the_epoch_and_at_the_end_of_time() {
    let world = World::off(&CONFIG);
    // The region was made when its clock stood at 0; a dump's epoch may be anything, and a clock may be reset.
    world.region.enable_everything();
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    wait(world, &actor, class, u64::MAX - 1, u64::MAX);
    world.expect("events_waits_history", "EVENT_ID,TIMER_WAIT", &["1 1000"]);
    // It comes round, which is not backward; to be reset is.
    wait(world, &actor, class, u64::MAX, 0);
    wait(world, &actor, class, u64::MAX / 2, 0);
    // The longest there is: 2⁶³ ns are more picoseconds than a column holds.
    wait(world, &actor, class, 0, u64::MAX / 2);
    let mut waits = world.select("events_waits_history", "EVENT_ID,TIMER_WAIT");
    waits.sort_unstable();
    assert_eq!(waits, ["2 1000", "3 0", &format!("4 {}", u64::MAX)]);
    let max = world.select("events_waits_summary_global_by_event_name", "MIN_TIMER_WAIT,MAX_TIMER_WAIT");
    assert_eq!(max, [format!("0 {}", u64::MAX)]);
}

/// A program that runs for longer than 2⁶⁴ ps: of its waits the one that began later began so much later, and each is as long as it was.
#[test]
fn times_go_on_after_213_days() {
    let world = World::on(&CONFIG);
    let class = world.class(MUTEX);
    let actor = world.actor("a");
    let day_ns = 86_400_000_000_000;
    world.clock.set(TimerName::Nanosecond, 214 * day_ns);
    [5, 7].into_iter().for_each(|ns| world.wait(&actor, class, ns));
    let started = (214 * u128::from(day_ns) * 1000) as u64;
    let expected = [(started, started + 5_000), (started + 5_000, started + 12_000)];
    let mut found = Vec::new();
    world.region.scan(&tables::EventsWaitsHistory, |row| found.push((row.timer_start.unwrap(), row.timer_end.unwrap())));
    assert_eq!(found, expected);
    let timer = world.region.timer(TimerName::Nanosecond);
    assert_eq!(timer.since_epoch_ps(214 * day_ns + 12), started + 12_000);
    assert_eq!(timer.since_epoch_ps(0), 0);
}
