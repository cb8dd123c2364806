//! Folding: two threads change settings at once, and the switches end up as the settings say, [F1] to [F3]; who has changed one finds it
//! so, [F4] and [F5]; and a recorder meanwhile.
#![cfg(perfschema_loom)]

use perfschema_core::model::{Memory, Ticks, Watch, class};
use perfschema_core::{Actor, Config, Consumer, Held, InstrumentName, Operation, Setting, Size, WaitStart};
use perfschema_loom_tests::{Model, either};
use std::sync::Arc;

const CONFIG: Config = Config::EMPTY.with(Size::MaxMutexClasses, 1);

fn memory(setting: Setting) -> Arc<Memory> {
    let memory = Memory::with_region(&CONFIG, &[Watch::Setup, Watch::Switches, Watch::ClassSettings]);
    memory.region().register(InstrumentName::literal("wait/synch/mutex/app/LOCK"), setting).expect("there is room");
    Arc::new(memory)
}

#[test]
fn an_instrument_and_a_consumer_at_once() {
    Model { name: "fold: instrument, consumer", preemptions: Some(4), least: 100, outcomes: &["on"] }.explore(|swap, seen| {
        let memory = memory(Setting::OFF);
        let (a, b) = (memory.clone(), memory.clone());
        either(
            swap,
            move || a.region().set_setting(class(0), Setting::ON),
            move || b.region().set_consumer(Consumer::GlobalInstrumentation, true),
        );
        assert!(memory.region().switches(class(0)).is_on(), "both are enabled, and the switch is off");
        seen.note("on");
    });
}

#[test]
fn on_and_off_at_once() {
    Model { name: "fold: on and off", preemptions: Some(4), least: 100, outcomes: &["on", "off"] }.explore(|swap, seen| {
        let memory = memory(Setting::ON);
        let (a, b) = (memory.clone(), memory.clone());
        either(
            swap,
            move || a.region().set_consumer(Consumer::GlobalInstrumentation, true),
            move || b.region().set_consumer(Consumer::GlobalInstrumentation, false),
        );
        let region = memory.region();
        let on = region.switches(class(0)).is_on();
        assert_eq!(on, region.consumer_enabled(Consumer::GlobalInstrumentation), "the switch is not what the setting says");
        seen.note(if on { "on" } else { "off" });
    });
}

/// As where two threads register the classes of two locks, and each finds its own as it is to be.
#[test]
fn who_has_switched_off_finds_it_off() {
    Model { name: "fold: kept", preemptions: Some(4), least: 100, outcomes: &["off"] }.explore(|swap, seen| {
        let memory = memory(Setting::ON);
        memory.region().set_consumer(Consumer::GlobalInstrumentation, true);
        let (a, b, seen) = (memory.clone(), memory.clone(), seen.clone());
        either(
            swap,
            move || {
                a.region().set_setting(class(0), Setting::OFF);
                assert!(!a.region().switches(class(0)).is_on(), "it was switched off");
                seen.note("off");
            },
            move || b.region().set_consumer(Consumer::ThreadInstrumentation, true),
        );
    });
}

/// Somebody finds that another one has folded already what was changed, and a third one does not turn it back.
#[test]
fn what_one_has_folded_another_does_not_turn_back() {
    Model { name: "fold: passed on", preemptions: Some(3), least: 100, outcomes: &["off"] }.explore(|swap, seen| {
        let memory = memory(Setting::ON);
        memory.region().set_consumer(Consumer::GlobalInstrumentation, true);
        let (a, b, c, seen) = (memory.clone(), memory.clone(), memory.clone(), seen.clone());
        let folds = loom::thread::spawn(move || b.region().set_consumer(Consumer::ThreadInstrumentation, true));
        either(
            swap,
            move || {
                let region = a.region();
                region.set_setting(class(0), Setting::OFF);
                let is_on = [(); 2].map(|()| region.switches(class(0)).is_on());
                assert_eq!(is_on, [false; 2], "it was switched off");
                seen.note("off");
            },
            move || c.region().set_consumer(Consumer::EventsWaitsCurrent, true),
        );
        folds.join().unwrap();
    });
}

/// A stage is on for a moment, seen by who folds for another reason and switches it off, before its own fold comes: whatever began meanwhile
/// is ended by others.
#[test]
fn a_stage_that_was_on_is_ended_by_others() {
    const STAGE: Config = Config::EMPTY.with(Size::MaxStageClasses, 1);
    Model { name: "fold: stage", preemptions: Some(3), least: 100, outcomes: &["ends others", "was off"] }.explore(
        |swap, seen| {
            let memory = Memory::with_region(&STAGE, &[Watch::Setup, Watch::Switches, Watch::ClassSettings]);
            let stage = memory.region().register(InstrumentName::literal("stage/app/S"), Setting::OFF).expect("there is room");
            memory.region().set_consumer(Consumer::GlobalInstrumentation, true);
            let memory = Arc::new(memory);
            let (a, b) = (memory.clone(), memory.clone());
            let was_on = Arc::new(std::sync::Mutex::new(false));
            let noted = was_on.clone();
            either(
                swap,
                move || a.region().set_setting(stage, Setting::ON),
                move || {
                    let region = b.region();
                    region.set_consumer(Consumer::ThreadInstrumentation, true);
                    *noted.lock().unwrap() = region.switches(stage).is_on();
                    region.set_setting(stage, Setting::OFF);
                },
            );
            if *was_on.lock().unwrap() {
                assert!(memory.region().switches(stage).is_on(), "a stage was on, and no other one ends it");
                seen.note("ends others");
            } else {
                seen.note("was off");
            }
        },
    );
}

/// The first stage that is on is switched so by two: all others end it from then on, whichever of the two folds them.
#[test]
fn all_stages_end_others_once_one_is_on() {
    const STAGES: Config = Config::EMPTY.with(Size::MaxStageClasses, 2);
    Model { name: "fold: two stages", preemptions: Some(3), least: 100, outcomes: &["ends others"] }.explore(|swap, seen| {
        let memory = Memory::with_region(&STAGES, &[Watch::Setup, Watch::Switches, Watch::ClassSettings]);
        let [stage, other] = ["stage/app/S", "stage/app/T"]
            .map(|name| memory.region().register(InstrumentName::literal(name), Setting::OFF).expect("there is room"));
        let memory = Arc::new(memory);
        let (a, b) = (memory.clone(), memory.clone());
        either(swap, move || a.region().set_setting(stage, Setting::ON), move || b.region().set_setting(stage, Setting::COUNTED));
        assert!(memory.region().switches(other).is_on(), "a stage is on, and another one does not end it");
        seen.note("ends others");
    });
}

/// A switch that was the same before as after somebody looked, and something else between.
#[test]
fn off_and_on_while_another_folds() {
    Model { name: "fold: between", preemptions: Some(3), least: 100, outcomes: &["on", "off"] }.explore(|swap, seen| {
        let memory = memory(Setting::ON);
        memory.region().set_consumer(Consumer::GlobalInstrumentation, true);
        let (a, b, c) = (memory.clone(), memory.clone(), memory.clone());
        let off = loom::thread::spawn(move || a.region().set_setting(class(0), Setting::OFF));
        either(
            swap,
            move || b.region().set_setting(class(0), Setting::ON),
            move || c.region().set_consumer(Consumer::ThreadInstrumentation, true),
        );
        off.join().unwrap();
        let region = memory.region();
        let on = region.switches(class(0)).is_on();
        assert_eq!(on, region.setting(class(0)).enabled, "the switch is not what the setting says");
        seen.note(if on { "on" } else { "off" });
    });
}

/// A recorder while somebody switches off and on: an event that began as recorded ends so, and what is not recorded is not counted.
#[test]
fn an_event_keeps_the_switches_of_its_start() {
    Model { name: "fold: recorder", preemptions: Some(3), least: 50, outcomes: &["none", "first", "second", "both"] }.explore(
        |swap, seen| {
            let memory = memory(Setting::ON);
            memory.region().set_consumer(Consumer::GlobalInstrumentation, true);
            let (setter, recorder, noted) = (memory.clone(), memory.clone(), seen.clone());
            either(
                swap,
                move || {
                    let region = setter.region();
                    region.set_consumer(Consumer::GlobalInstrumentation, false);
                    region.set_consumer(Consumer::GlobalInstrumentation, true);
                    region.set_consumer(Consumer::GlobalInstrumentation, false);
                },
                move || {
                    let region = recorder.region();
                    let actor = Actor::without_slot(&region);
                    let recorded = [(); 2].map(|()| {
                        let wait =
                            actor.begin(&Ticks::default(), region.switches(class(0)), class(0), &WaitStart::new(Operation::Lock));
                        loom::thread::yield_now();
                        let recorded = wait.is_recorded();
                        actor.end(&Ticks::default(), wait, Held::None);
                        recorded
                    });
                    let count = recorded.iter().filter(|recorded| **recorded).count();
                    assert_eq!(region.summary_by_event_name(class(0)).count, count as u64, "{recorded:?}");
                    noted.note(match recorded {
                        [false, false] => "none",
                        [true, false] => "first",
                        [false, true] => "second",
                        [true, true] => "both",
                    });
                },
            );
            assert!(!memory.region().switches(class(0)).is_on(), "it was switched off last");
        },
    );
}
