//! The ring of an actor: its records are used again and again while somebody reads the table over them. [E1] to [E6], lapped.
#![cfg(perfschema_loom)]

use perfschema_core::model::{Memory, Ticks, Watch, class};
use perfschema_core::tables::EventsWaitsHistory;
use perfschema_core::{Actor, ActorIdentity, Config, Held, InstrumentName, Operation, Region, Setting, Size, WaitStart};
use perfschema_loom_tests::{Model, Seen, either};
use std::sync::Arc;

/// In a model the ring has one record more than the history: two, for three events.
const CONFIG: Config =
    Config::EMPTY.with(Size::MaxThreadInstances, 1).with(Size::MaxMutexClasses, 1).with(Size::EventsWaitsHistorySize, 1);
const TICK_PS: u64 = 400;

fn memory() -> Arc<Memory> {
    let memory = Memory::with_region(&CONFIG, &[Watch::Rings]);
    let region = memory.region();
    region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK"), Setting::ON).expect("there is room");
    region.enable_everything();
    Arc::new(memory)
}

/// Event `n` starts at 10 n and says 100 n; one more at its end.
fn wait(actor: &Actor<'_>, n: u64) {
    let clock = Ticks::default();
    clock.set(10 * n);
    let what = WaitStart { amount: 100 * n, ..WaitStart::new(Operation::Lock) };
    let mut wait = actor.begin(&clock, actor.region().switches(class(0)), class(0), &what);
    wait.set_amount(100 * n + 1);
    actor.end(&clock, wait, Held::None);
}

/// The history as it is now, row by row right and the account closed.
fn look(region: &Region<'_>, seen: &Seen) {
    let mut found = None;
    let sweep = region.scan(&EventsWaitsHistory, |row| {
        assert_eq!(row.timer_start, Some(10 * row.event_id * TICK_PS), "torn: {row:?}");
        assert_eq!(row.spins.map(u64::from), Some(100 * row.event_id + 1), "torn: {row:?}");
        assert_eq!(found, None, "the history has one row");
        found = Some(row.event_id);
    });
    assert_eq!(sweep.rows + sweep.free + sweep.skipped + sweep.changed, sweep.places);
    seen.note(match found {
        None if sweep.changed > 0 => "changed",
        None => "no row",
        Some(1) => "first",
        Some(2) => "second",
        Some(_) => "third",
    });
}

#[test]
fn a_lapped_reader_sees_whole_rows_or_none() {
    Model {
        name: "ring: lapping",
        preemptions: Some(1),
        least: 1_000,
        outcomes: &["no row", "changed", "first", "second", "third"],
    }
    .explore(|swap, seen| {
        let memory = memory();
        let (owner, reader, seen) = (memory.clone(), memory, seen.clone());
        either(
            swap,
            move || {
                let region = owner.region();
                let actor = Actor::attach(&region, &ActorIdentity::default());
                (1..=3).for_each(|n| wait(&actor, n));
            },
            move || look(&reader.region(), &seen),
        );
    });
}
