//! TRUNCATE of the summaries: an epoch that the owner honours at its next write. What is counted after a truncation stays, and the
//! other table does not notice.
#![cfg(perfschema_loom)]

use perfschema_core::model::{Memory, Ticks, Watch, class, settled};
use perfschema_core::table::Table;
use perfschema_core::tables::{EventsWaitsSummaryByThreadByEventName, EventsWaitsSummaryGlobalByEventName};
use perfschema_core::{
    Actor, ActorIdentity, Config, Consumer, Held, InstrumentName, Operation, Region, Setting, Size, WaitStart,
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

fn wait(actor: &Actor<'_>, ticks: u64) {
    let clock = Ticks::default();
    let wait = actor.begin(&clock, actor.region().switches(class(0)), class(0), &WaitStart::new(Operation::Lock));
    clock.set(ticks);
    actor.end(&clock, wait, Held::None);
}

fn global(region: &Region<'_>) -> Option<u64> {
    let (sum, settled) = settled(|| region.summary_by_event_name(class(0)));
    settled.then_some(sum.sum_ps / TICK_PS)
}

fn by_thread(region: &Region<'_>) -> Option<u64> {
    let mut found = None;
    let (_, settled) =
        settled(|| region.scan(&EventsWaitsSummaryByThreadByEventName, |row| found = Some(row.sum_timer_wait / TICK_PS)));
    found.filter(|_| settled)
}

/// One thread waits, truncates nothing, and looks at the end; another truncates the global table and looks at once.
#[test]
fn what_comes_after_a_truncation_is_counted() {
    Model {
        name: "truncate: owner, truncator",
        preemptions: Some(2),
        least: 500,
        outcomes: &["looked: empty", "looked: later wait", "changed", "end: vanished", "end: counted"],
    }
    .explore(|swap, seen| {
        let memory = memory(&[Watch::SlotEpochs, Watch::Stats, Watch::Carries]);
        let (owner, truncator) = (memory.clone(), memory.clone());
        let [at_end, at_once] = [seen.clone(), seen.clone()];
        let done = Arc::new(loom::sync::atomic::AtomicBool::new(false));
        let truncated = done.clone();
        either(
            swap,
            move || {
                let region = owner.region();
                let actor = Actor::attach(&region, &ActorIdentity::default());
                wait(&actor, 10);
                let after = done.load(loom::sync::atomic::Ordering::Acquire);
                wait(&actor, 1000);
                let sum = global(&region).expect("the owner stands still");
                // The last wait is after the truncation if that is known to be over.
                let expected: &[_] = if after { &[1000, 1010] } else { &[0, 1000, 1010] };
                assert!(expected.contains(&sum), "{sum:?}, after the truncation: {after}");
                at_end.note(if sum == 1010 { "end: counted" } else { "end: vanished" });
                assert_eq!(by_thread(&region), Some(1010), "the table that was not truncated");
            },
            move || {
                let region = truncator.region();
                Table::truncate(&EventsWaitsSummaryGlobalByEventName, &region).expect("it may be truncated");
                truncated.store(true, loom::sync::atomic::Ordering::Release);
                at_once.note(match global(&region) {
                    None => "changed",
                    Some(0) => "looked: empty",
                    Some(10 | 1000 | 1010) => "looked: later wait",
                    Some(torn) => panic!("torn: {torn:?}"),
                });
            },
        );
    });
}

/// The same of events that are only counted, which have no version while nothing is truncated.
#[test]
fn what_is_only_counted_after_a_truncation_is_counted() {
    Model {
        name: "truncate: counted alone",
        preemptions: Some(2),
        least: 500,
        outcomes: &["looked: empty", "looked: later", "changed", "end: vanished", "end: counted"],
    }
    .explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&CONFIG, &[Watch::SlotEpochs, Watch::Counts]));
        let region = memory.region();
        region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK"), Setting::COUNTED).expect("there is room");
        for consumer in [Consumer::GlobalInstrumentation, Consumer::ThreadInstrumentation] {
            region.set_consumer(consumer, true);
        }
        let (owner, truncator) = (memory.clone(), memory.clone());
        let [at_end, at_once] = [seen.clone(), seen.clone()];
        let done = Arc::new(loom::sync::atomic::AtomicBool::new(false));
        let truncated = done.clone();
        let twice = Arc::new(loom::sync::atomic::AtomicBool::new(false));
        let was_twice = twice.clone();
        let counted = |region: &Region<'_>| {
            let (sum, settled) = settled(|| region.summary_by_event_name(class(0)));
            settled.then_some(sum.count)
        };
        either(
            swap,
            move || {
                let region = owner.region();
                let actor = Actor::attach(&region, &ActorIdentity::default());
                wait(&actor, 1);
                wait(&actor, 1);
                twice.store(true, loom::sync::atomic::Ordering::Release);
                let after = done.load(loom::sync::atomic::Ordering::Acquire);
                wait(&actor, 1);
                let count = counted(&region).expect("the owner stands still");
                let expected: &[_] = if after { &[1, 2, 3] } else { &[0, 1, 2, 3] };
                assert!(expected.contains(&count), "{count:?}, after the truncation: {after}");
                at_end.note(if count == 3 { "end: counted" } else { "end: vanished" });
            },
            move || {
                let region = truncator.region();
                // Two of them are not to be seen again.
                let most = if was_twice.load(loom::sync::atomic::Ordering::Acquire) { 1 } else { 3 };
                Table::truncate(&EventsWaitsSummaryGlobalByEventName, &region).expect("it may be truncated");
                truncated.store(true, loom::sync::atomic::Ordering::Release);
                at_once.note(match counted(&region) {
                    None => "changed",
                    Some(0) => "looked: empty",
                    Some(count) if count <= most => "looked: later",
                    Some(torn) => panic!("torn: {torn:?}"),
                });
            },
        );
    });
}

/// Both tables are truncated at the same time: neither truncation undoes the other.
#[test]
fn two_truncations_are_two() {
    Model { name: "truncate: both tables", preemptions: None, least: 4, outcomes: &["done"] }.explore(|swap, seen| {
        let memory = memory(&[Watch::SlotEpochs]);
        let region = memory.region();
        let actor = Actor::attach(&region, &ActorIdentity::default());
        wait(&actor, 10);
        let [a, b] = [(); 2].map(|()| memory.clone());
        either(
            swap,
            move || Table::truncate(&EventsWaitsSummaryGlobalByEventName, &a.region()).expect("it may be truncated"),
            move || Table::truncate(&EventsWaitsSummaryByThreadByEventName, &b.region()).expect("it may be truncated"),
        );
        assert_eq!((global(&region), by_thread(&region)), (Some(0), Some(0)));
        wait(&actor, 100);
        assert_eq!((global(&region), by_thread(&region)), (Some(100), Some(100)));
        seen.note("done");
    });
}
