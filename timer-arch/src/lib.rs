//! The five timers of a performance schema: CYCLE, NANOSECOND, MICROSECOND, MILLISECOND and TICK.
//!
//! WL#2360 ("Timer and Time Units") wants a timer that costs less than 100 cycles a reading, a choice
//! of five that is always complete, and one canonical unit, the picosecond, in which the readings of all
//! of them compare. This crate reads the raw counters, finds out how fast they run, and converts.
//! It knows nothing about events or tables; `perfschema-core` takes a [`Clock`] and a [`Conversion`].
//!
//! ```
//! use perfschema_timer::{Clock, SystemClock, TimerName, Timers, difference};
//!
//! let timers = Timers::calibrate(); // once, at start: 5 ms, or longer by a slow external clock
//! let clock = SystemClock;
//!
//! let start = clock.ticks(TimerName::Cycle);
//! let end = clock.ticks(TimerName::Cycle);
//!
//! let cycle = timers.get(TimerName::Cycle);
//! let wait_ps = cycle.conversion.picoseconds(difference(start, end));
//! let start_ps = cycle.picoseconds_since_epoch(start);
//! assert!(wait_ps < 1_000_000_000_000, "two readings in a row, {wait_ps} ps apart at {start_ps}");
//! ```
//!
//! # The contract
//!
//! A program that uses [`SystemClock`]:
//!
//! * MUST call [`Timers::calibrate`] before the first reading it keeps. Calibration decides what backs
//!   CYCLE; a reading from before may be in another unit. Nothing runs before `main`, and no reading
//!   calibrates by itself: the check would sit in the hot path.
//! * MUST subtract with [`Conversion::wait`] or [`difference`], not `-`: a counter may differ between cores by a few
//!   ticks, and unordered readings may swap. (The former takes a counter for one that has come round at 2⁶⁴, too.)
//! * MUST keep the [`TimerName`] with every reading. Ticks of two timers do not compare; picoseconds
//!   since the epoch do, to the resolution of the coarser timer.
//! * MUST, without an operating system, call [`set_external_clock`] before [`Timers::calibrate`] if it
//!   wants a clock that the processor does not have.
//!
//! A [`Clock`]:
//!
//! * MUST return at once, from any thread, interrupt or signal handler: no lock, no allocation, no panic.
//! * MUST count up, in 64 bits: a narrower counter is widened by whoever reads it.
//! * MUST NOT stop while the processor sleeps, if waits are to include that sleep.
//!
//! In return, [`SystemClock`] always answers for all five names. A timer that is missing is backed by
//! the nearest one that exists, and says so in [`Calibration::source`]; with no counter at all, every
//! reading is 0 and the source is [`Source::None`].
//!
//! # Targets
//!
//! | target | CYCLE | its frequency | NANOSECOND, MICROSECOND, MILLISECOND | TICK |
//! |---|---|---|---|---|
//! | x86-64 Unix, invariant TSC | `rdtsc` | measured | `CLOCK_MONOTONIC` | coarse clock (Linux), else MILLISECOND |
//! | x86-64 Unix, TSC may vary | `CLOCK_MONOTONIC` | 10⁹ | `CLOCK_MONOTONIC` | as above |
//! | aarch64 Unix | `cntvct_el0` | measured to 1 ppm if it can be, else `cntfrq_el0` if that is within the measurement's bound | `CLOCK_MONOTONIC` | as above |
//! | riscv64 Linux | `rdtime` | as above, with the device tree's `timebase-frequency` | `CLOCK_MONOTONIC` | as above |
//! | other Unix, and Miri | `CLOCK_MONOTONIC` | 10⁹ | `CLOCK_MONOTONIC` | as above |
//! | Windows | as on Unix, with `QueryPerformanceCounter` for `CLOCK_MONOTONIC` | as there | `QueryPerformanceCounter` | MILLISECOND |
//! | x86-64 without either, invariant TSC | `rdtsc` | measured by the external clock, else CPUID; neither: as below | external clock, else from CYCLE | MILLISECOND |
//! | x86-64 without either, TSC may vary | external clock, else `rdtsc` | as told, else CPUID, else assumed | external clock, else from CYCLE | MILLISECOND |
//! | aarch64 without either | `cntvct_el0` | measured by the external clock, else `cntfrq_el0`, else assumed | external clock, else from CYCLE | MILLISECOND |
//! | riscv64 without either | external clock, else `rdtime` | as told, else assumed | external clock, else from CYCLE | MILLISECOND |
//! | everything else | external clock | as told | external clock | MILLISECOND |
//!
//! # What it does not do
//!
//! No time of day, no time zones, no CPU time of a thread. No `std`, no allocation, no 64-bit atomics, no
//! compare-and-swap. Readings are not ordered with the instructions around them, unless
//! [`cycle_ticks_ordered`] makes them; that costs two to three times as much.
#![warn(clippy::std_instead_of_core, clippy::alloc_instead_of_core)]
#![no_std]

#[cfg(test)]
extern crate std;

mod arch;
#[cfg(test)]
mod battery;
mod calibrate;
mod conversion;
mod external;
mod measure;
mod mock;
mod name;
mod os;
mod system;

pub use arch::{prefetch_ahead, prefetch_for_write};
pub use calibrate::{Calibration, ERROR_UNKNOWN, Estimate, Sample, Source, Timers, calibrate_from_samples};
pub use conversion::Conversion;
pub use external::set_external_clock;
pub use measure::{Measurement, measure};
pub use mock::MockClock;
pub use name::TimerName;
pub use system::{SystemClock, cycle_ticks_ordered};

#[cfg(all(target_arch = "arm", target_os = "none", target_has_atomic = "ptr"))]
pub use arch::cortex_m::use_cycle_counter;

/// Who can read the five timers: [`SystemClock`] in programs, [`MockClock`] in tests.
///
/// Time is a parameter of everything that records it, so that tests can drive it. What an
/// implementation promises is listed in the crate's [contract](crate#the-contract).
///
/// ```
/// use perfschema_timer::{Clock, MockClock, TimerName};
///
/// fn timed(clock: &impl Clock, work: impl FnOnce()) -> u64 {
///     let start = clock.ticks(TimerName::Cycle);
///     work();
///     perfschema_timer::difference(start, clock.ticks(TimerName::Cycle))
/// }
///
/// let clock = MockClock::new();
/// assert_eq!(timed(&clock, || clock.advance(TimerName::Cycle, 42)), 42);
/// ```
pub trait Clock {
    /// The raw counter that backs `timer`, in its own ticks.
    ///
    /// Ticks become picoseconds through the [`Calibration`] of the same timer. CYCLE is the first and
    /// predicted case: where `timer` is a constant it is the counter's instruction and nothing else.
    ///
    /// ```
    /// use perfschema_timer::{Clock, TimerName};
    /// /// One counter for all five: the timers that `Timers::new` is given say how fast it runs.
    /// struct Uptime(core::cell::Cell<u64>);
    /// impl Clock for Uptime {
    ///     fn ticks(&self, _timer: TimerName) -> u64 {
    ///         self.0.get()
    ///     }
    /// }
    /// assert_eq!(Uptime(7.into()).counter(), 7);
    /// ```
    fn ticks(&self, timer: TimerName) -> u64;

    /// CYCLE, for whoever knows from its [`Calibration`] that its source [`is a counter`](Source::is_counter): the instruction alone, where
    /// [`ticks`](Self::ticks) must look first whether there is one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn counter(&self) -> u64 {
        self.ticks(TimerName::Cycle)
    }
}

impl<C: Clock + ?Sized> Clock for &C {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn ticks(&self, timer: TimerName) -> u64 {
        (**self).ticks(timer)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn counter(&self) -> u64 {
        (**self).counter()
    }
}

/// The ticks from `start` to `end`; 0 if the clock went backward.
///
/// Counters of two cores may be a few ticks apart, and two unordered readings may swap; a duration is
/// never negative and never wraps to something huge. Whoever wants to count such cases compares `start`
/// and `end` itself.
///
/// ```
/// assert_eq!(perfschema_timer::difference(100, 130), 30);
/// assert_eq!(perfschema_timer::difference(130, 100), 0);
/// ```
#[cfg_attr(not(debug_assertions), inline(always))]
#[must_use]
pub const fn difference(start: u64, end: u64) -> u64 {
    end.saturating_sub(start)
}
