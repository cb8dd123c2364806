//! The numbers of `performance_timers`, found anew at each reading of the table.

use crate::calibrate::counter_rate;
use crate::system::{self, CycleBacking, Wall};
use crate::{Clock, SystemClock, TimerName, Timers, difference};
use core::hint::black_box;

/// How long the frequency of CYCLE is measured: to about 0.6 parts in 10⁶ at 1 GHz or more.
const INTERVAL_NS: u64 = 2_000_000;

/// Calls of which the cheapest counts, as WL#2360 has it.
const OVERHEAD_CALL_COUNT: usize = 20;

/// Steps that are looked at for the resolution.
const STEP_COUNT: u32 = 64;

/// For how long steps are waited for at a time: two of a millisecond timer.
const RESOLUTION_NS_MAX: u64 = 2_500_000;

/// How often that is done while there is one step, of several ticks: as where the thread was interrupted for that long.
const RESOLUTION_ROUNDS: u32 = 4;

/// The most readings of a round, if the clock that should end it stands still.
const RESOLUTION_READ_COUNT_MAX: u32 = if cfg!(miri) { 1 << 8 } else { 1 << 17 };

/// Readings between two looks at the clock.
const RESOLUTION_READ_COUNT: u32 = 64;

/// One row of `performance_timers` (WL#2360), but for its name.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Measurement {
    /// TIMER_FREQUENCY: ticks a second. 0 if nothing backs the timer.
    pub frequency_hz: u64,
    /// TIMER_RESOLUTION: by how many of its ticks the timer advances at a time. 0 if nothing backs it.
    pub resolution: u64,
    /// TIMER_OVERHEAD: what one reading costs, in ticks of CYCLE. An event takes two readings.
    pub overhead_cycles: u64,
}

/// Measures `timer` of [`SystemClock`]: the row of `performance_timers`. At most 5 ms, mostly; 12 where the thread is interrupted. Where nobody
/// has called [`Timers::calibrate`], that is done first.
///
/// * The frequency of CYCLE is measured again, for 2 ms, because WL#2360 wants this table to show what
///   the counter does now. The calibrated frequency, with which times are converted, stays as it is. Not
///   measured from the epoch on, although that would be finer: across a suspend the two clocks
///   part. The other frequencies are definitions.
/// * The resolution is the smallest advance seen. Where every reading advances, the timer is finer than a
///   reading takes, and the greatest common divisor of the advances is the better answer: it is 1 for a TSC,
///   and 1000 for a nanosecond clock that really counts microseconds. A timer that did not advance
///   within 2.5 ms, as TICK may not, shows 1.
/// * The overhead is the smallest of 20 calls, each between two readings of CYCLE, less what those two
///   cost without a call in between. It is 0 where CYCLE is coarser than the call is long.
///
/// ```
/// use perfschema_timer::{TimerName, measure};
///
/// # perfschema_timer::Timers::calibrate();
/// let nanosecond = measure(TimerName::Nanosecond);
/// assert_eq!(nanosecond.frequency_hz, 1_000_000_000);
/// ```
#[must_use]
pub fn measure(timer: TimerName) -> Measurement {
    // Who measures may be another program than the one that records: what CYCLE reads is to be decided there, too.
    if system::cycle_backing().is_none() {
        let _ = Timers::calibrate();
    }
    let frequency_hz = frequency_hz(timer);
    let (resolution, overhead_cycles) = match frequency_hz {
        0 => (0, 0),
        _ => (resolution(&SystemClock, timer), overhead_cycles(&SystemClock, timer)),
    };
    Measurement { frequency_hz, resolution, overhead_cycles }
}

fn frequency_hz(timer: TimerName) -> u64 {
    let wall_hz = Wall::now().hz;
    match timer {
        TimerName::Cycle if system::cycle_backing() == Some(CycleBacking::Wall) => wall_hz,
        TimerName::Cycle => counter_rate(INTERVAL_NS).map_or(wall_hz, |rate| rate.frequency_hz),
        _ if wall_hz == 0 => 0,
        TimerName::Tick => system::tick_ns().map_or(1_000, |ns| (1_000_000_000 + u64::from(ns) / 2) / u64::from(ns)),
        timer => timer.unit_hz().unwrap_or(0),
    }
}

/// See [`measure`].
pub(crate) fn resolution(clock: &impl Clock, timer: TimerName) -> u64 {
    let mut steps = Steps { before: clock.ticks(timer), stood_still: false, smallest: u64::MAX, divisor: 0, count: 0 };
    for _ in 0..RESOLUTION_ROUNDS {
        steps.look(clock, timer);
        if steps.count != 1 || steps.smallest == 1 {
            break;
        }
    }
    match (steps.count, steps.stood_still) {
        (0, _) => 1,
        (_, true) => steps.smallest,
        (_, false) => steps.divisor,
    }
}

/// How a timer has advanced from reading to reading.
struct Steps {
    /// The last reading.
    before: u64,
    /// Some did not advance.
    stood_still: bool,
    smallest: u64,
    divisor: u64,
    count: u32,
}

impl Steps {
    /// A round of readings, which ends early if there were enough steps.
    fn look(&mut self, clock: &impl Clock, timer: TimerName) {
        let started_ns = clock.ticks(TimerName::Nanosecond);
        for read_count in 1..=RESOLUTION_READ_COUNT_MAX {
            let now = clock.ticks(timer);
            match difference(self.before, now) {
                0 => self.stood_still = true,
                step => {
                    self.smallest = self.smallest.min(step);
                    self.divisor = greatest_common_divisor(self.divisor, step);
                    self.count += 1;
                }
            }
            self.before = now;
            let passed = || difference(started_ns, clock.ticks(TimerName::Nanosecond)) > RESOLUTION_NS_MAX;
            if self.count == STEP_COUNT || (read_count % RESOLUTION_READ_COUNT == 0 && passed()) {
                break;
            }
        }
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// See [`measure`].
pub(crate) fn overhead_cycles(clock: &impl Clock, timer: TimerName) -> u64 {
    let smallest = |between: &dyn Fn()| {
        (0..OVERHEAD_CALL_COUNT)
            .map(|_| {
                let start = clock.ticks(TimerName::Cycle);
                between();
                difference(start, clock.ticks(TimerName::Cycle))
            })
            .min()
            .unwrap_or(0)
    };
    let with = smallest(&|| {
        black_box(clock.ticks(timer));
    });
    difference(smallest(&|| {}), with)
}

#[cfg(test)]
mod tests {
    use super::{Measurement, measure, overhead_cycles, resolution};
    use crate::{Clock, TimerName, Timers, arch, system};
    use core::cell::Cell;

    /// Every reading of any timer moves the nanoseconds on by `cost_ns`; `show` tells what a timer makes of them.
    struct Fake {
        ns: Cell<u64>,
        cost_ns: u64,
        show: fn(TimerName, u64) -> u64,
    }

    impl Clock for Fake {
        fn ticks(&self, timer: TimerName) -> u64 {
            self.ns.set(self.ns.get() + self.cost_ns);
            (self.show)(timer, self.ns.get())
        }
    }

    fn fake(cost_ns: u64, show: fn(TimerName, u64) -> u64) -> Fake {
        Fake { ns: Cell::new(1), cost_ns, show }
    }

    #[test]
    fn resolution_is_how_far_a_timer_jumps() {
        // WL#2360's "melody": nanoseconds that count microseconds, read faster than they move.
        let melody = fake(30, |_, ns| ns / 1_000 * 1_000);
        assert_eq!(resolution(&melody, TimerName::Nanosecond), 1_000);
        // The same, read slower than it moves.
        let slow = fake(2_500, |_, ns| ns / 1_000 * 1_000);
        assert_eq!(resolution(&slow, TimerName::Nanosecond), 1_000);
        // A counter that is finer than a reading takes.
        let fine = fake(7, |timer, ns| if timer == TimerName::Cycle { ns * 5 / 2 } else { ns });
        assert_eq!(resolution(&fine, TimerName::Cycle), 1);
        // 24 MHz in nanoseconds: steps of 41 and 42.
        let steps = fake(20, |_, ns| ns * 24 / 1_000 * 1_000 / 24);
        assert_eq!(resolution(&steps, TimerName::Nanosecond), 41);
        // The thread was interrupted for 13 ms, at the first readings.
        let interrupted = fake(5_000, |timer, ns| {
            let ns = if ns < 100_000 { ns } else { ns + 13_000_000 };
            if timer == TimerName::Millisecond { ns / 1_000_000 } else { ns }
        });
        assert_eq!(resolution(&interrupted, TimerName::Millisecond), 1);
    }

    #[test]
    fn a_clock_that_stands_still_or_runs_backward_ends() {
        assert_eq!(resolution(&fake(25, |_, _| 5), TimerName::Nanosecond), 1);
        assert_eq!(resolution(&fake(25, |_, ns| u64::MAX - ns), TimerName::Nanosecond), 1);
        assert_eq!(overhead_cycles(&fake(25, |_, ns| u64::MAX - ns), TimerName::Nanosecond), 0);
        // A tick that is longer than the wait for it.
        let tick = fake(25, |timer, ns| if timer == TimerName::Tick { ns / 4_000_000 } else { ns });
        assert_eq!(resolution(&tick, TimerName::Tick), 1);
    }

    #[test]
    fn overhead_is_the_call_without_the_bracket() {
        assert_eq!(overhead_cycles(&fake(25, |_, ns| ns), TimerName::Microsecond), 25);
    }

    /// What CYCLE reads is decided once for a process, so this takes one in which nobody has.
    #[test]
    #[cfg_attr(miri, ignore = "Miri starts no processes")]
    fn who_measures_decides_what_cycle_reads() {
        if arch::ALWAYS {
            return; // There is one decision only, see `counter_rate`.
        }
        if system::tests::is_alone("measure::tests::who_measures_decides_what_cycle_reads") {
            let _ = measure(TimerName::Millisecond);
            assert!(system::cycle_backing().is_some());
        }
    }

    #[test]
    fn all_five_rows() {
        let timers = Timers::calibrate();
        for timer in TimerName::ALL {
            let Measurement { frequency_hz, resolution, .. } = measure(timer);
            let calibrated_hz = timers.get(timer).frequency_hz;
            // Loose: on a loaded machine neither of two measurements need be a good one.
            assert!(frequency_hz.abs_diff(calibrated_hz) <= calibrated_hz / 100, "{timer}: {frequency_hz}");
            assert!(resolution > 0, "{timer}");
        }
    }
}
