//! `performance_timers`: what the five timers can do. Measured anew at each read, by the program itself and by whoever reads it on the same
//! machine; of a program that has ended, or of another machine, it is what that calibrated. What is measured is the machine's own clock: where a
//! region was made with timers of another one, [`Region::timer`] says how fast they are.

use crate::region::Region;
use crate::table::{Declaration, Rights, Sweep, TableSource, example, row};
use perfschema_timer::TimerName;

row! {
    /// A row of [`performance_timers`](PerformanceTimers).
    pub struct PerformanceTimersRow {
        /// The timer.
        TIMER_NAME as timer_name: TimerName,
        /// Ticks a second.
        TIMER_FREQUENCY as timer_frequency: Option<i64>,
        /// By how many ticks the timer advances when it does; NULL if the program does not run on this machine.
        TIMER_RESOLUTION as timer_resolution: Option<i64>,
        /// Cycles that one read takes: the smallest of 20; NULL as that is.
        TIMER_OVERHEAD as timer_overhead: Option<i64>,
    }
}

/// `performance_timers`
#[doc = example!(
    "Two of the five timers:",
    PerformanceTimers,
    if row.timer_name.name().starts_with('M'),
    "{} {:?}",
    [row.timer_name, row.timer_frequency],
    ["MICROSECOND Some(1000000)", "MILLISECOND Some(1000)"]
)]
#[derive(Clone, Copy, Debug)]
pub struct PerformanceTimers;

impl TableSource for PerformanceTimers {
    type Row = PerformanceTimersRow;
    const DECLARATION: Declaration = Declaration {
        name: "performance_timers",
        doc: "The timers, their frequency, resolution and overhead.",
        columns: PerformanceTimersRow::COLUMNS,
        primary_key: &[],
        rights: Rights::SELECT,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&PerformanceTimersRow)) -> Sweep {
        let mut sweep = Sweep::of(TimerName::ALL.len());
        let number = |value: u64| i64::try_from(value).ok();
        for timer_name in TimerName::ALL {
            let row = if region.is_here() {
                let measured = perfschema_timer::measure(timer_name);
                PerformanceTimersRow {
                    timer_name,
                    timer_frequency: number(measured.frequency_hz),
                    timer_resolution: number(measured.resolution),
                    timer_overhead: number(measured.overhead_cycles),
                }
            } else {
                PerformanceTimersRow {
                    timer_name,
                    timer_frequency: number(region.timer(timer_name).frequency_hz),
                    timer_resolution: None,
                    timer_overhead: None,
                }
            };
            each(&row);
            sweep.row();
        }
        sweep
    }
}
