//! Waits that another actor records than the one that began them.

mod common;

use common::{CONFIG, MUTEX, World};
use perfschema_core::timer::{Clock, TimerName};
use perfschema_core::{Held, Lost, Operation, WaitStart};

const CURRENT: &str = "events_waits_current";
const HISTORY: &str = "events_waits_history";
const BY_THREAD: &str = "events_waits_summary_by_thread_by_event_name";

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
