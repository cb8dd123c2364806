//! The end of a thread against aggregation: what it summed counts exactly once, also while its slot gets a new owner, whose own sums
//! start at zero. [P1] to [P6] around [A1] to [A4].
#![cfg(perfschema_loom)]

use perfschema_core::model::{Memory, Ticks, Watch, class, settled};
use perfschema_core::tables::EventsWaitsSummaryByThreadByEventName;
use perfschema_core::{
    Actor, ActorIdentity, Config, Held, InstrumentName, Lost, Operation, Region, Setting, Size, Summary, WaitStart,
};
use perfschema_loom_tests::{Model, either};
use std::sync::Arc;

const CONFIG: Config =
    Config::EMPTY.with(Size::MaxThreadInstances, 1).with(Size::MaxMutexClasses, 1).with(Size::EventsWaitsHistorySize, 1);
const TICK_PS: u64 = 400;

fn memory(watch: &[Watch]) -> Arc<Memory> {
    let memory = Memory::with_region(&CONFIG, watch);
    let region = memory.region();
    region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK"), Setting::ON).expect("there is room");
    region.enable_everything();
    Arc::new(memory)
}

/// A thread that waits once, for so long, and ends. Its THREAD_ID, 0 if it found no slot.
fn live(region: &Region<'_>, ticks: u64) -> u64 {
    let clock = Ticks::default();
    let actor = Actor::attach(region, &ActorIdentity::default());
    let wait = actor.begin(&clock, region.switches(class(0)), class(0), &WaitStart::new(Operation::Lock));
    clock.set(ticks);
    actor.end(&clock, wait, Held::None);
    actor.detach();
    actor.thread_id()
}

fn ticks(sum: &Summary) -> u64 {
    sum.sum_ps / TICK_PS
}

#[test]
fn an_ended_thread_counts_exactly_once() {
    Model { name: "end: global sum", preemptions: Some(3), least: 500, outcomes: &["first", "both", "changed"] }.explore(
        |swap, seen| {
            let memory = memory(&[Watch::SlotThreads, Watch::SlotEpochs, Watch::Stats, Watch::Carries]);
            live(&memory.region(), 10);
            let (owner, reader, seen) = (memory.clone(), memory, seen.clone());
            either(
                swap,
                // The slot's next owner moves what the one before summed into the carry.
                move || {
                    live(&owner.region(), 100);
                },
                move || {
                    let region = reader.region();
                    let (sum, settled) = settled(|| region.summary_by_event_name(class(0)));
                    seen.note(match ticks(&sum) {
                        _ if !settled => "changed",
                        10 => "first",
                        110 => "both",
                        other => panic!("counted twice, or lost: {other:?}"),
                    });
                },
            );
        },
    );
}

#[test]
fn the_next_owner_starts_at_zero() {
    Model {
        name: "end: by thread",
        preemptions: Some(2),
        least: 500,
        outcomes: &["no row", "1 at zero", "1 with its wait", "2 at zero", "2 with its wait"],
    }
    .explore(|swap, seen| {
        let memory = memory(&[Watch::SlotThreads, Watch::SlotEpochs, Watch::Stats]);
        let (owner, reader, seen) = (memory.clone(), memory, seen.clone());
        either(
            swap,
            move || {
                let region = owner.region();
                live(&region, 10);
                live(&region, 100);
            },
            move || {
                let region = reader.region();
                let mut found = None;
                let (_, settled) = settled(|| {
                    region.scan(&EventsWaitsSummaryByThreadByEventName, |row| {
                        found = Some((row.thread_id, row.sum_timer_wait / TICK_PS));
                    })
                });
                seen.note(match found {
                    None => "no row",
                    _ if !settled => "changed",
                    Some((1, 0)) => "1 at zero",
                    Some((1, 10)) => "1 with its wait",
                    Some((2, 0)) => "2 at zero",
                    Some((2, 100)) => "2 with its wait",
                    Some(other) => panic!("one thread shown with the waits of another: {other:?}"),
                });
            },
        );
    });
}

#[test]
fn threads_that_compete_for_a_slot_are_all_counted() {
    Model {
        name: "end: two threads, one slot",
        preemptions: Some(2),
        least: 50,
        outcomes: &["A has none", "B has none", "in turn"],
    }
    .explore(|swap, seen| {
        let memory = memory(&[Watch::SlotBases, Watch::SlotEpochs, Watch::Stats, Watch::SharedStats]);
        let ids = [(); 2].map(|()| Arc::new(std::sync::Mutex::new(0)));
        let run = |which: usize, ticks| {
            let (memory, id) = (memory.clone(), ids[which].clone());
            move || *id.lock().unwrap() = live(&memory.region(), ticks)
        };
        either(swap, run(0, 10), run(1, 100));
        let ids = ids.map(|id| *id.lock().unwrap());
        let region = memory.region();
        let lost = region.lost(Lost::ThreadInstances);
        seen.note(match ids {
            [0, _] => "A has none",
            [_, 0] => "B has none",
            _ => "in turn",
        });
        assert_eq!(lost, u64::from(ids.contains(&0)));
        let sum = region.summary_by_event_name(class(0));
        assert_eq!((sum.count, ticks(&sum)), (2, 110));
    });
}
