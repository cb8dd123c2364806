//! `innodb_metrics`: the metrics of the program, and those of the region itself. Of schema `information_schema`, as in MySQL.

use crate::metric::{COMMENT_LENGTH, Figures, Metric, MetricType, Moment, NAME_LENGTH, SUBSYSTEM_LENGTH};
use crate::region::{Region, Text};
use crate::table::{Declaration, Rights, SqlType, Sweep, TableSource, row};

const NAME: SqlType = SqlType::Varchar(193);
const MOMENT: SqlType = SqlType::Datetime(0);

row! {
    /// A row of [`innodb_metrics`](InnodbMetrics).
    pub struct InnodbMetricsRow {
        /// The metric.
        NAME as name: Text<NAME_LENGTH> = NAME,
        /// What it belongs to: `module_` before it names all metrics of it.
        SUBSYSTEM as subsystem: Text<SUBSYSTEM_LENGTH> = NAME,
        /// What was counted while it was enabled; of a value, what it is, or was when it was disabled.
        COUNT as count: i64,
        /// The greatest it was while it was enabled.
        MAX_COUNT as max_count: Option<i64>,
        /// The least it was while it was enabled; NULL for what only grows.
        MIN_COUNT as min_count: Option<i64>,
        /// COUNT a second since it was enabled last; of the owner of a set, COUNT for each time; NULL for a value.
        AVG_COUNT as avg_count: Option<f64>,
        /// As COUNT, since it was reset.
        COUNT_RESET as count_reset: i64,
        /// As MAX_COUNT, since it was reset.
        MAX_COUNT_RESET as max_count_reset: Option<i64>,
        /// As MIN_COUNT, since it was reset.
        MIN_COUNT_RESET as min_count_reset: Option<i64>,
        /// COUNT_RESET a second since it was reset; NULL until it is.
        AVG_COUNT_RESET as avg_count_reset: Option<f64>,
        /// When it was enabled last, in UTC.
        TIME_ENABLED as time_enabled: Option<Text<19>> = MOMENT,
        /// When it was disabled, in UTC; NULL while it is enabled.
        TIME_DISABLED as time_disabled: Option<Text<19>> = MOMENT,
        /// Seconds since it was enabled last, until it was disabled; NULL if it still is in a program that has ended.
        TIME_ELAPSED as time_elapsed: Option<i64>,
        /// When it was reset last, in UTC; NULL while it is disabled.
        TIME_RESET as time_reset: Option<Text<19>> = MOMENT,
        /// Whether it counts: enabled or disabled.
        STATUS as status: &'static str = NAME,
        /// What it is: value, status_counter, set_owner, set_member or counter.
        TYPE as metric_type: &'static str = NAME,
        /// What it counts.
        COMMENT as comment: Text<COMMENT_LENGTH> = NAME,
    }
}

/// `innodb_metrics`
///
/// ```
/// # use perfschema_core::{Config, Identity, Region, StaticRegion, tables};
/// use perfschema_core::metric::{MonitorCommand, Moment};
/// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
/// # let timers = perfschema_timer::Timers::calibrate();
/// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timers)?;
/// region.monitor(MonitorCommand::Enable, "module_perfschema", Moment::of_seconds(100), |_| ())?;
/// region.scan(&tables::InnodbMetrics::at(Moment::of_seconds(127)), |row| {
///     assert_eq!((row.status, row.time_elapsed), ("enabled", Some(27)));
/// });
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct InnodbMetrics {
    at: Option<Moment>,
}

impl InnodbMetrics {
    /// As of what the region's reader knows of the time ([`Region::now`]): TIME_ELAPSED and averages a second are NULL of what is enabled
    /// where nobody knows it. Where there is no clock, see [`at`](Self::at).
    pub const NOW: InnodbMetrics = InnodbMetrics { at: None };

    /// As of a moment on the clock by which metrics were enabled.
    pub const fn at(now: Moment) -> InnodbMetrics {
        InnodbMetrics { at: Some(now) }
    }
}

impl TableSource for InnodbMetrics {
    type Row = InnodbMetricsRow;
    const SCHEMA: &'static str = "information_schema";
    const DECLARATION: Declaration = Declaration {
        name: "innodb_metrics",
        doc: "Counters and resources of the program, each switched by itself: SET GLOBAL innodb_monitor_enable = name.",
        columns: InnodbMetricsRow::COLUMNS,
        primary_key: &[],
        rights: Rights::SELECT,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&InnodbMetricsRow)) -> Sweep {
        let places = region.metric_places();
        let mut sweep = Sweep::of(places.len());
        let now = self.at.or_else(|| region.present_ns().map(|ns| Moment::of_seconds(ns / 1_000_000_000)));
        for metric in places {
            match row_of(region, metric, now) {
                Some(row) => {
                    each(&row);
                    sweep.row();
                }
                None => sweep.free(1),
            }
        }
        sweep
    }
}

fn row_of(region: &Region<'_>, metric: Metric, now: Option<Moment>) -> Option<InnodbMetricsRow> {
    let (names, metric_type) = (region.metric_names(metric)?, region.metric_type(metric));
    let figures = region.metric_figures(metric)?;
    let Figures { is_on, count, count_reset, enabled, disabled, reset, .. } = figures;
    // Until when it was counted, if anybody knows.
    let end = if is_on { now } else { disabled };
    let since = |start: Option<Moment>| end?.since(start?);
    let (avg_count, avg_count_reset) = match metric_type {
        MetricType::Value => (None, None),
        MetricType::SetOwner => {
            let (calls, calls_reset) = region.member_counts(metric).unzip();
            (average(count, calls.map(i64::unsigned_abs)), average(count_reset, calls_reset.map(i64::unsigned_abs)))
        }
        _ => (average(count, since(enabled)), average(count_reset, since(reset))),
    };
    Some(InnodbMetricsRow {
        name: names.name,
        subsystem: names.subsystem,
        count,
        max_count: figures.max,
        min_count: figures.min,
        avg_count,
        count_reset,
        max_count_reset: figures.max_reset,
        min_count_reset: figures.min_reset,
        avg_count_reset,
        time_enabled: enabled.map(Moment::text),
        time_disabled: disabled.map(Moment::text),
        time_elapsed: since(enabled).map(|seconds| seconds as i64),
        time_reset: reset.filter(|_| is_on).map(Moment::text),
        status: if is_on { "enabled" } else { "disabled" },
        metric_type: metric_type.name(),
        comment: region.metric_comment(metric)?,
    })
}

fn average(count: i64, by: Option<u64>) -> Option<f64> {
    by.filter(|by| *by != 0).map(|by| count as f64 / by as f64)
}
