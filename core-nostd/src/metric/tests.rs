//! Registering metrics, and counting in them, as one thread does while others are in the middle of it.

use super::*;
use crate::class::CLAIMED;
use crate::{ActorIdentity, Config, Identity};
use perfschema_timer::MockClock;
use std::format;
use std::vec::Vec;

/// Another thread has claimed the place and said what the metric is, and has not published it yet: its word counts.
#[test]
fn who_is_first_says_what_a_metric_is() {
    const CONFIG: Config = Config::EMPTY.with(Size::MaxMetrics, 9);
    let words: Vec<Word> = (0..CONFIG.words()).map(|_| Word::new(0)).collect();
    let region = Region::create(&words, &CONFIG, &Identity::default(), &MockClock::new().timers()).unwrap();
    let counter = MetricInfo::literal("rows", "dml", "of the first", MetricType::Counter);
    let value = MetricInfo::literal("rows", "dml", "of the second", MetricType::Value);
    let metric = region.register_metric(&counter, false, Moment::of_seconds(1)).unwrap();
    let state = &region.arrays::<METRIC>(Section::Metrics)[metric.index()][word::STATE];
    state.set(state.get() & !STATE_BITS | CLAIMED);
    let refused = region.register_metric(&value, true, Moment::of_seconds(2));
    assert_eq!((refused, region.lost(Lost::Metrics)), (Err(RegisterError::OtherType), 1));
    assert_eq!((state.get() & STATE_BITS, region.metric_is_on(metric)), (CLAIMED, false));
}

/// What a value was is never nothing, also where it is the least or the greatest that there is: it is as near as a word can say.
#[test]
fn extremes_of_extreme_values() {
    const CONFIG: Config = Config::EMPTY.with(Size::MaxMetrics, 1);
    for (value, max, min) in [
        (i64::MIN, i64::MIN + 1, i64::MIN),
        (i64::MIN + 1, i64::MIN + 1, i64::MIN + 1),
        (-1, -1, -1),
        (0, 0, 0),
        (i64::MAX - 1, i64::MAX - 1, i64::MAX - 1),
        (i64::MAX, i64::MAX, i64::MAX - 1),
    ] {
        let words: Vec<Word> = (0..CONFIG.words()).map(|_| Word::new(0)).collect();
        let region = Region::create(&words, &CONFIG, &Identity::default(), &MockClock::new().timers()).expect("there is room");
        let info = MetricInfo::literal("queue", "test", "", MetricType::Value);
        let metric = region.register_metric(&info, false, Moment::of_seconds(1)).expect("there is room");
        region.set_metric_value(metric, value);
        for command in [MonitorCommand::Enable, MonitorCommand::Disable] {
            region.monitor(command, "queue", Moment::of_seconds(1), |_| ()).expect("it is there");
        }
        let figures = region.metric_figures(metric).expect("it is registered");
        assert_eq!((figures.max, figures.min), (Some(max), Some(min)), "{value}");
        assert_eq!((figures.max_reset, figures.min_reset, figures.count_reset), (Some(max), Some(min), figures.count), "{value}");
    }
}

/// An actor counts in words of its own, of whatever metric; once its slot is given back, in those that are shared.
#[test]
fn an_actor_counts_in_its_own_words_while_it_has_them() {
    const CONFIG: Config = Config::EMPTY.with(Size::MaxMetrics, 9).with(Size::MaxThreadInstances, 2);
    let words: Vec<Word> = (0..CONFIG.words()).map(|_| Word::new(0)).collect();
    let region = Region::create(&words, &CONFIG, &Identity::default(), &MockClock::new().timers()).expect("there is room");
    let metrics: Vec<Metric> = (0..9)
        .map(|n| {
            let name = format!("metric_{n}");
            let info = MetricInfo::new(&name, "test", "", MetricType::Counter).expect("a name");
            region.register_metric(&info, true, Moment::of_seconds(1)).expect("there is room")
        })
        .collect();
    let shared = |metric| region.shared_metric(metric).expect("it is registered")[shared::SUM].get();
    let actors = [(); 2].map(|()| Actor::attach(&region, &ActorIdentity::default()));
    for (actor, count) in actors.iter().zip(1..) {
        metrics.iter().for_each(|metric| actor.count_metric(*metric, count));
    }
    for metric in &metrics {
        assert_eq!((shared(*metric), region.metric_count(*metric)), (0, 3), "{metric:?}");
    }
    // Each actor's begin on a line of their own.
    let lines = actors.each_ref().map(|actor| core::ptr::from_ref(&actor.metrics().0[0]).addr() / 64);
    assert!(actors.iter().all(|actor| actor.metrics().0.len() == 16) && lines[1] - lines[0] == 2, "{lines:?}");
    actors[0].detach();
    actors[0].count_metric(metrics[0], 10);
    assert_eq!((shared(metrics[0]), region.metric_count(metrics[0])), (10, 13));
}
