//! What a statement takes of a large table: no more than the columns that it asks for.

mod common;

use common::{AN_HOUR, CONFIG, World, check};
use perfschema::core::{Actor, Size};
use perfschema_sql::{Account, Database, Limits, Session};

const THREADS: u32 = 400;

const TABLE: &str = "events_waits_summary_by_thread_by_event_name";

const TOO_MUCH: &str = "ERROR 1041 (HY000): Out of memory; the statement needs more than a session may take";

/// 400 threads with 11 instruments each, and a session that may have 128 KiB, of which all columns of all rows take six times as much.
fn large() -> (World, Vec<Actor<'static>>, Session) {
    let world = World::of(&CONFIG.with(Size::MaxThreadInstances, THREADS));
    let actors: Vec<Actor<'static>> = (0..THREADS).map(|index| world.actor(&format!("thread/sql/{index}"))).collect();
    for (object, actor) in (1..).zip(&actors) {
        world.wait(actor, 0, object, 5);
    }
    let limits = Limits { time: AN_HOUR, memory_bytes: 128 << 10, ..Limits::default() };
    let mut session = Database::new(world.region).limits(limits).session(Account::default()).expect("there is memory");
    session.use_schema("performance_schema").expect("it is there");
    (world, actors, session)
}

#[test]
fn what_is_not_asked_for_takes_no_memory() {
    let (_world, _actors, mut session) = large();
    check(&mut session, &format!("SELECT COUNT(*) FROM {TABLE}"), "4400");
    check(&mut session, &format!("SELECT SUM(COUNT_STAR) FROM {TABLE}"), "400");
    // A column that is shown only where it is named.
    check(&mut session, &format!("SELECT SUM(COUNT_TIMER_WAIT) FROM {TABLE}"), "400");
    check(&mut session, &format!("SELECT COUNT(*) FROM {TABLE} WHERE COUNT_STAR > 0"), "400");
    check(&mut session, &format!("SELECT * FROM {TABLE}"), TOO_MUCH);
    // Each place where it is named asks for others.
    check(
        &mut session,
        &format!("SELECT (SELECT COUNT(*) FROM {TABLE}), (SELECT MAX(MAX_TIMER_WAIT) FROM {TABLE})"),
        "4400,5000",
    );
}
