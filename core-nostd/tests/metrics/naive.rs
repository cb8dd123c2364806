//! Metrics beside a model of them: random commands and counts, every row compared.

use super::*;
use proptest::prelude::*;

/// A metric as the manual describes it, one number after the other.
#[derive(Clone, Debug, Default)]
struct Naive {
    is_on: bool,
    count: i64,
    at_reset: i64,
    value: i64,
    seen: Vec<i64>,
    seen_since_reset: Vec<i64>,
    enabled: Option<u64>,
    disabled: Option<u64>,
    reset: Option<u64>,
    /// Since it was reset, or ever.
    was_on: bool,
}

const KINDS: [(&str, MetricType, bool); 5] = [
    ("counter", MetricType::Counter, false),
    ("status", MetricType::StatusCounter, true),
    ("value", MetricType::Value, false),
    ("level", MetricType::Value, true),
    ("other", MetricType::Counter, false),
];

#[derive(Clone, Debug)]
enum Step {
    Attach(usize),
    Detach(usize),
    Count { actor: usize, metric: usize, count: i64 },
    Set { metric: usize, value: i64 },
    Command(MonitorCommand, usize),
    Pass(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let commands = [Enable, Disable, Reset, ResetAll];
    let step = prop_oneof![
        2 => (0..4_usize).prop_map(Step::Attach),
        1 => (0..4_usize).prop_map(Step::Detach),
        6 => (0..4_usize, 0..KINDS.len(), -3..9_i64).prop_map(|(actor, metric, count)| Step::Count { actor, metric, count }),
        1 => (0..KINDS.len(), -9..9_i64).prop_map(|(metric, value)| Step::Set { metric, value }),
        6 => (0..commands.len(), 0..=KINDS.len()).prop_map(move |(command, metric)| Step::Command(commands[command], metric)),
        2 => (0..3_u64).prop_map(Step::Pass),
    ];
    proptest::collection::vec(step, 0..60)
}

impl Naive {
    fn changed(&mut self, is_value: bool) {
        if self.is_on && is_value {
            self.count = self.value;
            self.seen.push(self.value);
            self.seen_since_reset.push(self.value);
        }
    }

    fn add(&mut self, (_, metric_type, is_kept): (&str, MetricType, bool), count: i64) {
        if metric_type == MetricType::Value {
            if self.is_on || is_kept {
                self.value += count;
            }
            self.changed(true);
        } else if self.is_on {
            self.count += count.max(0);
        }
    }

    fn command(&mut self, command: MonitorCommand, kind: (&str, MetricType, bool), now: u64) -> usize {
        let is_value = kind.1 == MetricType::Value;
        match command {
            Enable | ResetAll if self.is_on => return 1,
            Enable => {
                (self.is_on, self.was_on, self.enabled, self.disabled) = (true, true, Some(now), None);
                self.changed(is_value);
            }
            Disable if self.is_on => (self.is_on, self.disabled) = (false, Some(now)),
            Disable => {}
            Reset => {
                (self.at_reset, self.reset, self.was_on) = (self.count, Some(now), self.is_on);
                self.seen_since_reset.clear();
                self.changed(is_value);
            }
            ResetAll => *self = Naive { value: if kind.2 { self.value } else { 0 }, ..Naive::default() },
        }
        0
    }

    fn row(&self, (name, metric_type, _): (&str, MetricType, bool), now: u64) -> String {
        let end = if self.is_on { Some(now) } else { self.disabled };
        let since = |start: Option<u64>| end?.checked_sub(start?);
        let average = |count: i64, start| since(start).filter(|by| *by > 0).map(|by| count as f64 / by as f64);
        let text = |second: Option<u64>| second.map(|second| at(second).text());
        let times = (text(self.enabled), text(self.disabled), since(self.enabled), text(self.reset.filter(|_| self.is_on)));
        let count_reset = self.count - self.at_reset;
        let numbers = if metric_type == MetricType::Value {
            let count_reset = if self.seen_since_reset.is_empty() { 0 } else { self.count };
            let all = (self.seen.iter().max(), self.seen.iter().min());
            let reset = (self.seen_since_reset.iter().max(), self.seen_since_reset.iter().min());
            format!("{} {all:?} None {count_reset} {reset:?} None", self.count)
        } else {
            let some = |count: i64, known: bool| {
                Some(count).filter(|count| *count > 0 || (known && metric_type == MetricType::StatusCounter))
            };
            let max = (some(self.count, self.enabled.is_some()), None::<i64>);
            let max_reset = (some(count_reset, self.was_on), None::<i64>);
            let averages = (average(self.count, self.enabled), average(count_reset, self.reset));
            format!("{} {max:?} {:?} {count_reset} {max_reset:?} {:?}", self.count, averages.0, averages.1)
        };
        format!("{name} {numbers} {times:?} {}", self.is_on)
    }
}

fn shown(row: &InnodbMetricsRow) -> String {
    let times = (row.time_enabled, row.time_disabled, row.time_elapsed, row.time_reset);
    format!(
        "{} {} {:?} {:?} {} {:?} {:?} {times:?} {}",
        row.name,
        row.count,
        (row.max_count, row.min_count),
        row.avg_count,
        row.count_reset,
        (row.max_count_reset, row.min_count_reset),
        row.avg_count_reset,
        row.status == "enabled"
    )
}

fn run(steps: &[Step]) {
    // Two actors of four find a slot.
    let world = World::off(&METRICS.with(Size::MaxThreadInstances, 2));
    let metrics = KINDS.map(|(name, metric_type, is_kept)| {
        let info = info(name, "t", metric_type);
        register(&world, &if is_kept { info.kept() } else { info })
    });
    let mut naive = [const { None::<Naive> }; KINDS.len()].map(Option::unwrap_or_default);
    let mut actors = [const { None }; 4];
    let mut now = 1;
    for step in steps {
        match *step {
            Step::Attach(actor) => {
                actors[actor].get_or_insert_with(|| world.actor("a"));
            }
            Step::Detach(actor) => actors[actor].take().iter().for_each(Actor::detach),
            Step::Count { actor, metric, count } => {
                let (region, kind) = (world.region, KINDS[metric]);
                if region.metric_is_on(metrics[metric]) || kind.2 {
                    match &actors[actor] {
                        _ if kind.1 == MetricType::Value => region.change_metric_value(metrics[metric], count),
                        Some(actor) => actor.count_metric(metrics[metric], count.max(0).unsigned_abs()),
                        None => region.count_metric_shared(metrics[metric], count.max(0).unsigned_abs()),
                    }
                }
                naive[metric].add(kind, count);
            }
            Step::Set { metric, value } => {
                let kind = KINDS[metric];
                if kind.1 == MetricType::Value && (kind.2 || world.region.metric_is_on(metrics[metric])) {
                    world.region.set_metric_value(metrics[metric], value);
                    naive[metric].value = value;
                    naive[metric].changed(true);
                }
            }
            Step::Command(command, metric) => {
                let (target, chosen) = match KINDS.get(metric) {
                    Some((name, ..)) => (*name, metric..metric + 1),
                    None => ("module_t", 0..KINDS.len()),
                };
                let warnings = monitor(&world, command, target, now).len();
                let expected: usize = chosen.map(|metric| naive[metric].command(command, KINDS[metric], now)).sum();
                assert_eq!(warnings, expected, "{step:?}");
            }
            Step::Pass(seconds) => now += seconds,
        }
        let found: Vec<String> = rows(&world, now).iter().map(shown).collect();
        let expected: Vec<String> = naive.iter().zip(KINDS).map(|(naive, kind)| naive.row(kind, now)).collect();
        assert_eq!(found, expected, "after {step:?} of {steps:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 400 }, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn agrees_with_the_naive_model(steps in steps()) {
        run(&steps);
    }
}
