//! TRUNCATE of the tables of single waits: what it hides, and from which of them.

mod common;

use common::{CONFIG, MUTEX, World};
use perfschema_core::timer::TimerName;
use perfschema_core::{Actor, Class, Consumer, Held, Operation, Setting, WaitStart};

const CURRENT: &str = "events_waits_current";
const HISTORY: &str = "events_waits_history";
const LONG: &str = "events_waits_history_long";
const GLOBAL: &str = "events_waits_summary_global_by_event_name";
const BY_THREAD: &str = "events_waits_summary_by_thread_by_event_name";

#[test]
fn truncate_of_current() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    // An ended row vanishes from current and stays in the histories.
    world.wait(&actor, class, 1);
    world.truncate(CURRENT);
    assert_eq!((world.ids(CURRENT), world.ids(HISTORY), world.ids(LONG)), (vec![], vec![1], vec![1]));
    // A running one vanishes, counts when it ends, and never enters a history.
    let outer = world.begin(&actor, class);
    let inner = world.begin(&actor, class);
    world.truncate(CURRENT);
    assert_eq!(world.ids(CURRENT), []);
    world.end(&actor, inner);
    assert_eq!(world.ids(CURRENT), []);
    let later = world.begin(&actor, class);
    assert_eq!(world.ids(CURRENT), [4]);
    world.end(&actor, later);
    world.end(&actor, outer);
    assert_eq!((world.ids(HISTORY), world.ids(LONG)), (vec![1, 4], vec![1, 4]));
    assert_eq!(world.ids(CURRENT), []);
    world.expect(GLOBAL, "COUNT_STAR", &["4"]);
    world.expect(BY_THREAD, "COUNT_STAR", &["4"]);
    for _ in 0..5 {
        world.wait(&actor, class, 1);
    }
    assert_eq!(world.ids(HISTORY), [7, 8, 9]);
    assert_eq!(world.ids(CURRENT), [9]);
}

#[test]
fn a_wait_hidden_while_it_ran_stays_out_of_the_history_after_a_second_truncation() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    let wait = world.begin(&actor, class);
    world.truncate(CURRENT);
    world.end(&actor, wait);
    world.truncate(CURRENT);
    assert_eq!((world.ids(CURRENT), world.ids(HISTORY), world.ids(LONG)), (vec![], vec![], vec![]));
}

/// As in MySQL, they have their places there, of which a ring has six more than a history shows.
#[test]
fn hidden_waits_are_in_no_history_and_have_places_there() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    for _ in 0..3 {
        world.wait(&actor, class, 1);
    }
    for hidden in 1..9 {
        let wait = world.begin(&actor, class);
        world.truncate(CURRENT);
        world.end(&actor, wait);
        let oldest = if hidden <= 6 { 1 } else { hidden - 5 };
        assert_eq!(world.ids(HISTORY), (oldest..4).collect::<Vec<_>>());
        assert_eq!(world.ids(LONG), [1, 2, 3]);
    }
    world.wait(&actor, class, 1);
    assert_eq!((world.ids(HISTORY), world.ids(LONG)), (vec![12], vec![1, 2, 3, 12]));
}

/// By whatever way it ends: alone, among others, chained, or after a wait of its instrument that nobody sees, which has looked before.
#[test]
fn what_ran_when_current_was_truncated_is_in_no_history() {
    for timer in [TimerName::Cycle, TimerName::Nanosecond] {
        let hidden = |end: &dyn Fn(World, Class, &Actor<'static>) -> u64| {
            let world = World::on(&CONFIG);
            world.region.set_wait_timer(timer);
            let (class, actor) = (world.class(MUTEX), world.actor("a"));
            world.wait(&actor, class, 1);
            let last = end(world, class, &actor);
            world.wait(&actor, class, 1);
            let expected = vec![1, last + 1];
            assert_eq!((world.ids(HISTORY), world.ids(LONG)), (expected.clone(), expected), "{timer:?}");
        };
        hidden(&|world, class, actor| {
            let wait = world.begin(actor, class);
            world.truncate(CURRENT);
            world.end(actor, wait);
            2
        });
        for outer_first in [false, true] {
            hidden(&|world, class, actor| {
                let (outer, inner) = (world.begin(actor, class), world.begin(actor, class));
                world.truncate(CURRENT);
                let (first, second) = if outer_first { (outer, inner) } else { (inner, outer) };
                world.end(actor, first);
                world.end(actor, second);
                3
            });
        }
        for timed in [false, true] {
            hidden(&|world, class, actor| {
                let wait = world.begin(actor, class);
                world.truncate(CURRENT);
                world.region.set_consumer(Consumer::EventsWaitsCurrent, false);
                world.region.set_setting(class, if timed { Setting::ON } else { Setting::COUNTED });
                world.wait(actor, class, 1);
                world.region.set_consumer(Consumer::EventsWaitsCurrent, true);
                world.region.set_setting(class, Setting::ON);
                world.end(actor, wait);
                2
            });
        }
        hidden(&|world, class, actor| {
            let wait = world.begin(actor, class);
            world.truncate(CURRENT);
            let start = WaitStart::new(Operation::Lock);
            let chained = actor.chain(world.clock, wait, Held::None, world.region.switches(class), class, &start);
            world.truncate(CURRENT);
            world.end(actor, chained);
            3
        });
    }
}

#[test]
fn truncate_of_the_histories_each_alone() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    for _ in 0..2 {
        world.wait(&actor, class, 1);
    }
    let running = world.begin(&actor, class);
    world.truncate(HISTORY);
    assert_eq!((world.ids(CURRENT), world.ids(HISTORY), world.ids(LONG)), (vec![3], vec![], vec![1, 2]));
    world.truncate(LONG);
    assert_eq!((world.ids(CURRENT), world.ids(HISTORY), world.ids(LONG)), (vec![3], vec![], vec![]));
    world.end(&actor, running);
    assert_eq!((world.ids(CURRENT), world.ids(HISTORY), world.ids(LONG)), (vec![3], vec![3], vec![3]));
    // The ended row of current and the row of the history are one record, and still two rows.
    world.truncate(HISTORY);
    assert_eq!((world.ids(CURRENT), world.ids(HISTORY), world.ids(LONG)), (vec![3], vec![], vec![3]));
    world.truncate(CURRENT);
    assert_eq!((world.ids(CURRENT), world.ids(HISTORY), world.ids(LONG)), (vec![], vec![], vec![3]));
    world.wait(&actor, class, 1);
    assert_eq!((world.ids(CURRENT), world.ids(HISTORY), world.ids(LONG)), (vec![4], vec![4], vec![3, 4]));
}
