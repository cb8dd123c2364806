//! Waits that are copied, to be decoded later.

mod common;

use common::{CONFIG, MUTEX, World};
use perfschema_core::{Consumer, WaitCopy};

const CURRENT: &str = "events_waits_current";
const HISTORY: &str = "events_waits_history";

#[test]
fn a_copy_of_a_wait_says_whose_it_is_and_whether_it_has_ended() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    let wait = world.begin(&actor, class);
    let copy = || {
        let mut copies = [WaitCopy::default(); 2];
        assert_eq!(world.region.copy_waits(&mut copies).rows, 1);
        (copies[0].thread_id(), copies[0].has_ended())
    };
    assert_eq!(copy(), (1, false));
    world.end(&actor, wait);
    assert_eq!(copy(), (1, true));
}

/// Also where there is no history that shows it still.
#[test]
fn a_copy_of_a_wait_that_was_truncated_has_no_row() {
    for history in [true, false] {
        let world = World::on(&CONFIG);
        let (class, actor) = (world.class(MUTEX), world.actor("a"));
        world.region.set_consumer(Consumer::EventsWaitsHistory, history);
        world.wait(&actor, class, 1);
        let is_empty = |table| world.select(table, "EVENT_ID").is_empty();
        let mut copies = [WaitCopy::default(); 2];
        let mut is_shown = || {
            assert_eq!(world.region.copy_waits(&mut copies).rows, 1);
            copies[0].row(world.region).is_some()
        };
        assert!(is_shown());
        world.truncate(CURRENT);
        assert_eq!((is_empty(CURRENT), is_empty(HISTORY)), (true, !history));
        assert_eq!(is_shown(), history, "as long as a table shows it");
        world.truncate(HISTORY);
        assert!(!is_shown());
    }
}
