//! Metrics: published as classes are, [C1] to [C3], and switched by one word each.
#![cfg(perfschema_loom)]

use perfschema_core::metric::{Metric, MetricInfo, MetricType, Moment, MonitorCommand};
use perfschema_core::model::{Memory, Watch};
use perfschema_core::{Actor, ActorIdentity, Config, Region, Size};
use perfschema_loom_tests::{Model, either};
use std::sync::{Arc, Mutex};

const ONE_METRIC: Config = Config::EMPTY.with(Size::MaxMetrics, 1).with(Size::MaxThreadInstances, 1);
const A: MetricInfo<'static> = MetricInfo::literal("a_metric", "loom", "", MetricType::Counter);
const B: MetricInfo<'static> = MetricInfo::literal("b_metric", "loom", "", MetricType::Counter);
const NOW: Moment = Moment::of_seconds(1);

/// The metric that is registered: behind those that the region has by itself.
fn registered(region: &Region<'_>) -> Option<Metric> {
    region.metrics().nth(perfschema_core::Lost::ALL.len())
}

fn monitor(region: &Region<'_>, command: MonitorCommand) {
    // One pattern: nobody writes down what was given last.
    let _ = region.monitor(command, "a_m%", NOW, |_| ());
}

#[test]
fn a_metric_is_found_with_its_name() {
    Model { name: "metric: name", preemptions: None, least: 4, outcomes: &["none", "found"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_METRIC, &[Watch::Metrics, Watch::MetricTexts]));
        let (writer, reader, seen) = (memory.clone(), memory, seen.clone());
        either(
            swap,
            move || assert!(writer.region().register_metric(&A, true, NOW).is_ok()),
            move || {
                let region = reader.region();
                let Some(metric) = registered(&region) else { return seen.note("none") };
                assert_eq!(region.find_metric("a_metric"), Some(metric));
                assert!(region.metric_is_on(metric));
                seen.note("found");
            },
        );
    });
}

#[test]
fn two_names_never_share_a_metric() {
    Model { name: "metric: two names", preemptions: None, least: 4, outcomes: &["a", "b"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_METRIC, &[Watch::Metrics]));
        let results = [(); 2].map(|()| Arc::new(Mutex::new(None)));
        let run = |which: usize, info: &'static MetricInfo<'static>| {
            let (memory, result) = (memory.clone(), results[which].clone());
            move || *result.lock().unwrap() = memory.region().register_metric(info, false, NOW).ok()
        };
        either(swap, run(0, &A), run(1, &B));
        let region = memory.region();
        match results.map(|result| *result.lock().unwrap()) {
            [Some(metric), None] if region.find_metric("a_metric") == Some(metric) => seen.note("a"),
            [None, Some(metric)] if region.find_metric("b_metric") == Some(metric) => seen.note("b"),
            other => panic!("two names, one place: {other:?}"),
        }
    });
}

/// Two places count under one name, and one of them was switched off before the other came, which is declared on.
#[test]
fn a_metric_that_is_registered_again_stays_as_it_was_switched() {
    Model { name: "metric: registered again", preemptions: Some(3), least: 4, outcomes: &["off"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_METRIC, &[Watch::Metrics]));
        let (one, other) = (memory.clone(), memory.clone());
        either(
            swap,
            move || assert!(one.region().register_metric(&A, true, NOW).is_ok()),
            move || {
                let region = other.region();
                assert!(region.register_metric(&A, true, NOW).is_ok());
                monitor(&region, MonitorCommand::Disable);
            },
        );
        let region = memory.region();
        let metric = registered(&region).expect("it is registered");
        assert!(!region.metric_is_on(metric));
        seen.note("off");
    });
}

/// Of two who stop it at once, one does: the other would bring back what the first has reset since.
#[test]
fn what_was_reset_stays_reset() {
    Model { name: "metric: two stops", preemptions: Some(3), least: 4, outcomes: &["reset"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_METRIC, &[Watch::Metrics]));
        let metric = memory.region().register_metric(&A, true, NOW).expect("there is room");
        memory.region().count_metric_shared(metric, 3);
        let (one, other) = (memory.clone(), memory.clone());
        either(
            swap,
            move || monitor(&one.region(), MonitorCommand::Disable),
            move || {
                let region = other.region();
                monitor(&region, MonitorCommand::Disable);
                monitor(&region, MonitorCommand::ResetAll);
            },
        );
        assert_eq!(memory.region().metric_count(metric), 0);
        seen.note("reset");
    });
}

/// Somebody counts while it is stopped: what was counted before is there, what comes after is not, and once it is off nothing moves.
#[test]
fn a_count_beside_a_stop_is_in_it_or_not() {
    Model { name: "metric: count and stop", preemptions: None, least: 4, outcomes: &["1", "2"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_METRIC, &[Watch::Metrics, Watch::MetricSums]));
        let metric = memory.region().register_metric(&A, true, NOW).expect("there is room");
        memory.region().count_metric_shared(metric, 1);
        let (one, other, seen) = (memory.clone(), memory.clone(), seen.clone());
        either(
            swap,
            move || {
                let region = one.region();
                let actor = Actor::attach(&region, &ActorIdentity::default());
                if region.metric_is_on(metric) {
                    actor.count_metric(metric, 1);
                }
            },
            move || {
                let region = other.region();
                monitor(&region, MonitorCommand::Disable);
                let stopped = region.metric_count(metric);
                assert_eq!(region.metric_count(metric), stopped);
                seen.note(if stopped == 1 { "1" } else { "2" });
            },
        );
    });
}
