//! Two commands for one metric at one moment: whichever comes first, what is counted while the metric is on is counted once.

use super::{interrupted, region_of};
use crate::metric::{Metric, MetricInfo, MetricType, Moment, MonitorCommand};
use crate::{Config, Lost, Region, Size};
use core::fmt::Debug;
use std::rc::Rc;

const CONFIG: Config = Config::EMPTY.with(Size::MaxMetrics, 1);
/// A metric of the region's own, by its counter.
const LOST: &str = "performance_schema_mutex_classes_lost";

#[derive(Clone, Copy)]
struct Of {
    region: &'static Region<'static>,
    metric: Metric,
    name: &'static str,
}

impl Of {
    fn new(name: &'static str, metric: impl FnOnce(&Region<'_>) -> Metric) -> Of {
        let region = region_of(&CONFIG);
        Of { region, metric: metric(region), name }
    }

    fn registered(on: bool) -> Of {
        let rows = MetricInfo::literal("rows", "dml", "", MetricType::StatusCounter);
        Of::new("rows", |region| region.register_metric(&rows, on, Moment::of_seconds(1)).unwrap())
    }

    fn lost() -> Of {
        Of::new(LOST, |region| region.find_metric(LOST).unwrap())
    }

    fn command(self, command: MonitorCommand) {
        self.region.monitor(command, self.name, Moment::of_seconds(2), |_| ()).unwrap();
    }

    fn count(self, count: u64) {
        self.region.count_metric_shared(self.metric, count);
    }

    fn shown(self) -> i64 {
        self.region.metric_count(self.metric)
    }
}

/// At each step of the one that it can be interrupted at, the other.
#[track_caller]
fn check<T: PartialEq + Debug>(made: impl Fn() -> Of, one: fn(Of), other: fn(Of), shown: fn(Of) -> T, expected: T) {
    for at in 0.. {
        let of = made();
        let steps = interrupted(|| one(of), &[(at, Rc::new(move || other(of)))]);
        if steps[0] <= at {
            assert!(at > 5, "{at} steps");
            break;
        }
        assert_eq!(shown(of), expected, "at step {at}");
    }
}

/// The 100 come while it is off.
#[test]
fn a_stop_beside_a_stop_and_a_start_keeps_count() {
    let made = || {
        let of = Of::registered(true);
        of.count(50);
        of
    };
    let other = |of: Of| {
        of.command(MonitorCommand::Disable);
        of.count(100);
        of.command(MonitorCommand::Enable);
    };
    check(made, |of| of.command(MonitorCommand::Disable), other, Of::shown, 50);
}

/// The 100 come while it is on.
#[test]
fn a_start_beside_a_start_and_a_stop_counts_once() {
    let other = |of: Of| {
        of.command(MonitorCommand::Enable);
        of.count(100);
        of.command(MonitorCommand::Disable);
    };
    check(|| Of::registered(false), |of| of.command(MonitorCommand::Enable), other, Of::shown, 100);
}

/// FLUSH STATUS changes no COUNT.
#[test]
fn flush_status_beside_a_command_keeps_count() {
    let lose = |of: Of| (0..5).for_each(|_| of.region.count_lost(Lost::MutexClasses));
    let made = || {
        let of = Of::lost();
        of.command(MonitorCommand::Enable);
        lose(of);
        of
    };
    check(made, |of| of.region.flush_status(), |of| of.command(MonitorCommand::Disable), Of::shown, 5);
    let made = || {
        let of = Of::lost();
        lose(of);
        of
    };
    check(made, |of| of.region.flush_status(), |of| of.command(MonitorCommand::Enable), Of::shown, 0);
}

/// Both commands leave nothing of what was before.
#[test]
fn a_reset_beside_a_reset_of_all_forgets() {
    let made = || {
        let of = Of::registered(true);
        of.count(50);
        of.command(MonitorCommand::Disable);
        of
    };
    let shown = |of: Of| {
        of.command(MonitorCommand::Enable);
        of.count(10);
        let figures = of.region.metric_figures(of.metric).unwrap();
        (figures.count, figures.count_reset)
    };
    check(made, |of| of.command(MonitorCommand::Reset), |of| of.command(MonitorCommand::ResetAll), shown, (10, 10));
}
