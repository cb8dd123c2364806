//! The clock of the machine the program runs on.

use crate::external::{self, scale};
use crate::os;
use crate::{Clock, Source, TimerName, arch};
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// The timers of this machine: see the [table of targets](crate#targets).
///
/// A unit struct: it holds nothing, and passing it costs nothing.
///
/// ```
/// use perfschema_timer::{Clock, SystemClock, TimerName};
///
/// for timer in TimerName::ALL {
///     assert!(SystemClock.ticks(timer) <= SystemClock.ticks(timer));
/// }
/// ```
#[derive(Copy, Clone, Default, Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    /// Where `timer` is CYCLE and the target guarantees its counter, one instruction; on x86-64, `rdtsc`
    /// behind one load and one predicted branch, both in its shadow.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn ticks(&self, timer: TimerName) -> u64 {
        match timer {
            TimerName::Cycle => cycle(arch::read),
            timer => wall(timer),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn counter(&self) -> u64 {
        // With an operating system, CYCLE's source is never an external clock; without one it may be, beside a counter that may vary.
        if arch::PRESENT && os::PRESENT { arch::read() } else { cycle(arch::read) }
    }
}

/// CYCLE, read after every earlier instruction has finished.
///
/// [`SystemClock`] lets the processor move the reading among its neighbours, by some ten nanoseconds,
/// which is the practice. This one is for measuring a few instructions: `lfence; rdtsc` on x86-64, `isb`
/// on aarch64, `fence` on riscv64, where earlier memory accesses only. It costs two to three times as much.
///
/// ```
/// # use perfschema_timer::{cycle_ticks_ordered, difference};
/// let start = cycle_ticks_ordered();
/// let work = (0..100_u32).sum::<u32>();
/// let ticks = difference(start, cycle_ticks_ordered());
/// # let _ = (work, ticks);
/// ```
#[cfg_attr(not(debug_assertions), inline(always))]
#[must_use]
pub fn cycle_ticks_ordered() -> u64 {
    cycle(arch::read_ordered)
}

/// What calibration has decided, for the readers to look at. Apart from all other data, so that no
/// neighbour's writes take the line away from the hot path.
#[repr(align(64))]
struct Decided {
    /// One of the `CYCLE_IS_…`. Zero reads the counter, so that the static lies in `.bss`.
    cycle: AtomicU8,
    /// The time between two timer interrupts, plus one; 0 while nobody has asked.
    tick_ns_plus_1: AtomicU32,
    /// The frequency of the counter where the other timers are derived from it, in two halves.
    counter_hz: [AtomicU32; 2],
}

/// All Relaxed: each word stands alone, and a thread that records after calibrate() got there by some
/// synchronisation of its own (it was spawned, or it saw the instrument switched on).
static DECIDED: Decided = Decided {
    cycle: AtomicU8::new(CYCLE_IS_UNDECIDED),
    tick_ns_plus_1: AtomicU32::new(0),
    counter_hz: [AtomicU32::new(0), AtomicU32::new(0)],
};

const CYCLE_IS_UNDECIDED: u8 = 0;
const CYCLE_IS_COUNTER: u8 = 1;
const CYCLE_IS_WALL: u8 = 2;

/// What CYCLE reads.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum CycleBacking {
    /// The processor's counter.
    Counter,
    /// The clock behind the other four timers.
    Wall,
}

/// What calibration has decided so far.
pub(crate) fn cycle_backing() -> Option<CycleBacking> {
    match DECIDED.cycle.load(Ordering::Relaxed) {
        CYCLE_IS_COUNTER => Some(CycleBacking::Counter),
        CYCLE_IS_WALL => Some(CycleBacking::Wall),
        _ => None,
    }
}

/// Decides for all readers. Calibration calls it with the same answer every time.
pub(crate) fn set_cycle_backing(backing: CycleBacking) {
    let value = match backing {
        CycleBacking::Counter => CYCLE_IS_COUNTER,
        CycleBacking::Wall => CYCLE_IS_WALL,
    };
    DECIDED.cycle.store(value, Ordering::Relaxed);
}

/// The frequency at which the counter stands in for the other timers, where there is no other clock.
pub(crate) fn set_counter_hz(hz: u64) {
    DECIDED.counter_hz[0].store(hz as u32, Ordering::Relaxed);
    DECIDED.counter_hz[1].store((hz >> 32) as u32, Ordering::Relaxed);
}

fn counter_hz() -> u64 {
    let [low, high] = &DECIDED.counter_hz;
    u64::from(high.load(Ordering::Relaxed)) << 32 | u64::from(low.load(Ordering::Relaxed))
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn cycle(read: impl FnOnce() -> u64) -> u64 {
    // The order makes the first two constant: no load where the architecture has decided.
    if arch::PRESENT && (arch::ALWAYS || DECIDED.cycle.load(Ordering::Relaxed) != CYCLE_IS_WALL) {
        read()
    } else {
        wall(TimerName::Cycle)
    }
}

/// The timers that are not the processor's counter. Never inlined: it costs more than a call anyway, and
/// instrumentation points stay small.
#[inline(never)]
pub(crate) fn wall(timer: TimerName) -> u64 {
    if os::PRESENT {
        return match timer {
            TimerName::Cycle | TimerName::Nanosecond => os::monotonic().in_units_of(1_000_000_000),
            TimerName::Microsecond => os::monotonic().in_units_of(1_000_000),
            // Not the coarse clock: that steps by 4 ms on most systems, and a millisecond should be one.
            TimerName::Millisecond => os::monotonic().in_units_of(1_000),
            TimerName::Tick => match tick_ns() {
                Some(tick_ns) => os::coarse_ns() / u64::from(tick_ns),
                None => os::monotonic().in_units_of(1_000),
            },
        };
    }
    wall_from(timer, Wall::now())
}

/// One reading of the clock behind NANOSECOND to TICK.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Wall {
    pub(crate) ticks: u64,
    /// 0 while there is no clock at all.
    pub(crate) hz: u64,
}

impl Wall {
    pub(crate) fn now() -> Wall {
        if os::PRESENT {
            Wall { ticks: os::monotonic().in_units_of(1_000_000_000), hz: 1_000_000_000 }
        } else if let Some(clock) = external::get() {
            Wall { ticks: (clock.read)(), hz: clock.frequency_hz }
        } else if arch::PRESENT {
            Wall { ticks: arch::read(), hz: counter_hz() }
        } else {
            Wall { ticks: 0, hz: 0 }
        }
    }

    /// What [`now`](Self::now) reads.
    pub(crate) fn source() -> Source {
        if os::PRESENT {
            os::SOURCE
        } else if external::get().is_some() {
            Source::External
        } else {
            arch::SOURCE
        }
    }

    /// Whether it is a clock of its own, which the processor's counter can be compared with.
    pub(crate) fn is_independent() -> bool {
        os::PRESENT || external::get().is_some()
    }

    /// In nanoseconds.
    pub(crate) fn ns(self) -> u64 {
        wall_from(TimerName::Nanosecond, self)
    }
}

/// The reading of one timer out of the one clock that there is.
pub(crate) fn wall_from(timer: TimerName, now: Wall) -> u64 {
    match timer {
        _ if now.hz == 0 => 0,
        TimerName::Cycle => now.ticks,
        // Nobody interrupts periodically that we know of: the nearest is the millisecond.
        TimerName::Tick => scale(now.ticks, now.hz, 1_000),
        timer => scale(now.ticks, now.hz, timer.unit_hz().unwrap_or(1)),
    }
}

/// The unit of TICK in nanoseconds; `None` if it is the millisecond for want of a coarse clock. Asked once:
/// where it is not, TICK answers before calibration in the same unit as after it.
pub(crate) fn tick_ns() -> Option<u32> {
    let known = DECIDED.tick_ns_plus_1.load(Ordering::Relaxed);
    if known != 0 {
        return (known > 1).then(|| known - 1);
    }
    let tick_ns = os::coarse_resolution_ns();
    DECIDED.tick_ns_plus_1.store(tick_ns.unwrap_or(0) + 1, Ordering::Relaxed);
    tick_ns
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{CycleBacking, Wall, set_cycle_backing, wall_from};
    use crate::{Clock, SystemClock, TimerName, Timers, arch, cycle_ticks_ordered, difference, os};
    use std::{env, println, process};

    #[test]
    fn one_clock_serves_all_five() {
        // 32 768 Hz, one hour and half a second.
        let now = Wall { ticks: 32_768 * 3_600 + 16_384, hz: 32_768 };
        let got = TimerName::ALL.map(|timer| wall_from(timer, now));
        assert_eq!(got, [117_981_184, 3_600_500_000_000, 3_600_500_000, 3_600_500, 3_600_500]);
        assert_eq!(TimerName::ALL.map(|timer| wall_from(timer, Wall { ticks: 5, hz: 0 })), [0; 5]);
    }

    #[test]
    fn ordered_readings_are_of_the_same_counter() {
        let _ = Timers::calibrate();
        let before = SystemClock.ticks(TimerName::Cycle);
        let ordered = cycle_ticks_ordered();
        let after = SystemClock.ticks(TimerName::Cycle);
        let hz = Timers::calibrate().get(TimerName::Cycle).frequency_hz;
        // Within a second: the unit is the same, whatever came between.
        assert!(ordered.abs_diff(before) < hz && ordered.abs_diff(after) < hz);
    }

    /// Whether this is a process in which nothing but `test` runs. Otherwise one is started, in which the test passes.
    pub(crate) fn is_alone(test: &str) -> bool {
        const CHILD: &str = "PERFSCHEMA_TIMER_TEST_CHILD";
        if env::var_os(CHILD).is_some() {
            println!("child was here");
            return true;
        }
        let output = process::Command::new(env::current_exe().expect("the test binary"))
            .args(["--exact", test, "--nocapture"])
            .env(CHILD, "1")
            .output()
            .expect("the test binary starts");
        let shown = std::string::String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && shown.contains("child was here"), "{shown}");
        false
    }

    /// What CYCLE reads is decided once for a process, so the other decision takes a process of its own.
    #[test]
    #[cfg_attr(miri, ignore = "Miri starts no processes; its CYCLE is CLOCK_MONOTONIC anyway")]
    fn without_a_counter_cycle_is_the_wall_clock() {
        if arch::ALWAYS {
            return; // There is one decision only, see `counter_rate`.
        }
        if !is_alone("system::tests::without_a_counter_cycle_is_the_wall_clock") {
            return;
        }
        set_cycle_backing(CycleBacking::Wall);
        let timers = Timers::calibrate();
        let [cycle, nanosecond] = [TimerName::Cycle, TimerName::Nanosecond].map(|timer| *timers.get(timer));
        assert_eq!(cycle, nanosecond);
        assert_eq!(cycle.source, os::SOURCE);
        let start = SystemClock.ticks(TimerName::Nanosecond);
        let between = [SystemClock.ticks(TimerName::Cycle), cycle_ticks_ordered()];
        let end = SystemClock.ticks(TimerName::Nanosecond);
        assert!(start <= between[0] && between[0] <= between[1] && between[1] <= end);
        assert_eq!(crate::measure(TimerName::Cycle).frequency_hz, 1_000_000_000);
        assert!(difference(start, end) < 10_000_000_000);
    }
}
