//! Folding: two threads change settings at once, and the switches end up as the settings say, [F1], [F2].
#![cfg(perfschema_loom)]

use perfschema_core::model::{Memory, Watch, class};
use perfschema_core::{Config, Consumer, InstrumentName, Setting, Size};
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
