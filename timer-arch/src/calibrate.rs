//! How fast the counters run, and where they stood at one common moment.
//!
//! ```text
//!     probe()          may the processor's counter be used, and what does it say of itself?
//!        │
//!     measure_rate()   64 samples, a pause, 64 samples: counter against clock
//!        │  calibrate_from_samples(): pure arithmetic on what was sampled
//!     settle()         measured, stated, assumed, or fall back to the other clock: pure as well
//!        │
//!     Epoch::now()     one bracketed reading of everything
//! ```
//!
//! Samples come in through a closure, so that the tests can feed clocks that stop, jump and run backward.

use crate::arch::{self, Probe};
use crate::os;
use crate::system::{self, CycleBacking, Wall};
use crate::{Conversion, TimerName};
use core::fmt;

/// How long calibration lets the two clocks run: with the sampling, less than 5 ms.
const INTERVAL_NS: u64 = 4_500_000;

/// Samples at each end. One in two is undisturbed; 64 take 3 µs.
const SAMPLE_COUNT: usize = 64;

/// The most samples that the pause takes: 6 ms of them, if the clock stands still and cannot end it.
/// Miri, which executes a thousand times slower, has no counter to measure.
const PAUSE_SAMPLE_COUNT_MAX: u32 = if cfg!(miri) { 1 << 8 } else { 1 << 17 };

/// The most samples until a clock of long steps makes one: 25 ms of them, and so two steps of one that counts 100 a second.
const STEP_SAMPLE_COUNT_MAX: u32 = if cfg!(miri) { 1 << 8 } else { 1 << 19 };

/// What a measurement should reach, 1 part in 10⁶. Then nothing stated is preferred to it.
const ERROR_PPB_WANTED: u32 = 1_000;

/// The frequency of a counter of which nothing at all is known.
const ASSUMED_HZ: u64 = 1_000_000_000;

/// No counter is faster, and [`Conversion`] is exact up to here.
const HZ_MAX: u128 = 30_000_000_000;

/// The value of [`Calibration::error_ppb`] that says "nobody has checked this frequency".
pub const ERROR_UNKNOWN: u32 = u32::MAX;

/// Which counter backs a timer.
///
/// The numbers are stable: they may be stored in a region.
#[non_exhaustive]
#[repr(u8)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// Nothing: every reading is 0.
    None = 0,
    /// The time-stamp counter of x86-64.
    Tsc = 1,
    /// The virtual count of the generic timer of aarch64.
    Cntvct = 2,
    /// The real-time counter of RISC-V.
    Rdtime = 3,
    /// `CLOCK_MONOTONIC`.
    MonotonicClock = 4,
    /// `CLOCK_MONOTONIC_COARSE`: the time of the last timer interrupt.
    CoarseClock = 5,
    /// A clock supplied by the application, see [`set_external_clock`](crate::set_external_clock), or a
    /// [`MockClock`](crate::MockClock).
    External = 6,
    /// `QueryPerformanceCounter` of Windows.
    PerformanceCounter = 7,
}

impl Source {
    /// Whether it is what [`Clock::counter`](crate::Clock::counter) reads: the processor's counter, or all that a clock of the
    /// application has.
    ///
    /// ```
    /// use perfschema_timer::{MockClock, Source, TimerName};
    /// assert!(Source::Tsc.is_counter() && !Source::CoarseClock.is_counter());
    /// // A clock of the program's own has nothing but its counter.
    /// assert!(MockClock::new().timers().get(TimerName::Cycle).source.is_counter());
    /// ```
    #[must_use]
    pub const fn is_counter(self) -> bool {
        matches!(self, Self::Tsc | Self::Cntvct | Self::Rdtime | Self::External)
    }

    /// The routine behind the timer, for people.
    ///
    /// ```
    /// # use perfschema_timer::Source;
    /// assert_eq!(Source::Tsc.name(), "rdtsc");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Tsc => "rdtsc",
            Self::Cntvct => "cntvct_el0",
            Self::Rdtime => "rdtime",
            Self::MonotonicClock => "clock_gettime(CLOCK_MONOTONIC)",
            Self::CoarseClock => "clock_gettime(CLOCK_MONOTONIC_COARSE)",
            Self::External => "external clock",
            Self::PerformanceCounter => "QueryPerformanceCounter",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What is known of one timer. Everything that turns its ticks into time.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Calibration {
    /// The counter that is read.
    pub source: Source,
    /// Ticks a second, rounded: `performance_timers.TIMER_FREQUENCY`. 0 only with [`Source::None`].
    pub frequency_hz: u64,
    /// From ticks to picoseconds. Where the frequency is no whole number, this one is still exact.
    pub conversion: Conversion,
    /// The raw reading at the epoch, the moment that all five timers share.
    pub epoch_ticks: u64,
    /// Bound of the error of the frequency against the clock behind NANOSECOND, in parts in 10⁹.
    /// 0 where it is a definition; [`ERROR_UNKNOWN`] where there was nothing to compare with.
    pub error_ppb: u32,
}

impl Calibration {
    /// A timer that does not exist.
    const NONE: Calibration = Calibration::exact(Source::None, 0, 0);

    /// A timer whose frequency is a definition.
    pub(crate) const fn exact(source: Source, frequency_hz: u64, epoch_ticks: u64) -> Calibration {
        let conversion = Conversion::from_frequency(frequency_hz);
        Calibration { source, frequency_hz, conversion, epoch_ticks, error_ppb: 0 }
    }

    /// A raw reading as picoseconds since the epoch. (TIMER_START and TIMER_END of WL#2360 begin again at 0 where this stays.)
    ///
    /// 0 for readings from before the epoch, `u64::MAX` from 213 days after it. Of two timers, it differs
    /// by the resolution of the coarser one, and by the error bound times the time since the epoch.
    ///
    /// ```
    /// use perfschema_timer::{Clock, SystemClock, TimerName, Timers};
    ///
    /// let timers = Timers::calibrate();
    /// let ticks = SystemClock.ticks(TimerName::Nanosecond);
    /// let at_ps = timers.get(TimerName::Nanosecond).picoseconds_since_epoch(ticks);
    /// assert_eq!(at_ps % 1_000, 0);
    /// ```
    #[inline]
    #[must_use]
    pub const fn picoseconds_since_epoch(&self, ticks: u64) -> u64 {
        self.conversion.picoseconds(crate::difference(self.epoch_ticks, ticks))
    }
}

/// The five timers, calibrated.
///
/// Plain numbers: copy them to where they are needed, such as the header of a region.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Timers {
    calibrations: [Calibration; 5],
}

impl Timers {
    /// Finds out what backs each timer of [`SystemClock`](crate::SystemClock), how fast it runs, and where
    /// it stands now. Takes 5 ms where a frequency must be measured, and microseconds elsewhere; by an external clock that counts more slowly than
    /// 1000 a second, up to five of its steps, but some 50 ms at most.
    ///
    /// The first call decides what CYCLE reads, for the whole program; later calls measure again and set a
    /// new epoch in what they return. No call can fail or panic: a counter that stands still, runs
    /// backward or is missing gives its place to the next best clock, as WL#2360 has it.
    ///
    /// The bound of a measured frequency is stated in [`Calibration::error_ppb`]: for a counter of 1 GHz or more
    /// 0.3 parts in 10⁶ where reading the clock is quick, some 5 in virtual machines; the error itself is a tenth
    /// of that. It adds up: after a day TIMER_START by CYCLE and by another timer are some 10 ms apart. CYCLE is measured even where CPUID states its frequency: that one is
    /// nominal, the operating system steers its clock away from it, and so would the timers drift apart.
    ///
    /// ```
    /// use perfschema_timer::{TimerName, Timers};
    ///
    /// let timers = Timers::calibrate();
    /// for timer in TimerName::ALL {
    ///     let known = timers.get(timer);
    ///     println!("{timer:12} {:>12} Hz by {}", known.frequency_hz, known.source);
    /// }
    /// ```
    #[must_use]
    pub fn calibrate() -> Timers {
        let rate = counter_rate(INTERVAL_NS);
        system::set_cycle_backing(match rate {
            Some(_) => CycleBacking::Counter,
            None => CycleBacking::Wall,
        });
        if let Some(rate) = rate {
            system::set_counter_hz(rate.frequency_hz);
        }
        Self::at_epoch(rate, Epoch::now(rate.is_some()))
    }

    /// Timers with these properties, in the order of [`TimerName::ALL`]: for a clock of one's own, and for
    /// a reader that finds them in the header of a region.
    ///
    /// ```
    /// use perfschema_timer::{Calibration, Conversion, Source, TimerName, Timers};
    /// /// A clock that counts microseconds, for all five.
    /// const TIMERS: Timers = Timers::new([Calibration {
    ///     source: Source::External,
    ///     frequency_hz: 1_000_000,
    ///     conversion: Conversion::from_frequency(1_000_000),
    ///     epoch_ticks: 7,
    ///     error_ppb: 0,
    /// }; 5]);
    /// assert_eq!(TIMERS.get(TimerName::Tick).picoseconds_since_epoch(10), 3_000_000);
    /// ```
    #[must_use]
    pub const fn new(calibrations: [Calibration; 5]) -> Timers {
        Timers { calibrations }
    }

    /// What is known of `timer`.
    #[inline]
    #[must_use]
    pub const fn get(&self, timer: TimerName) -> &Calibration {
        &self.calibrations[timer.index()]
    }

    fn at_epoch(rate: Option<Estimate>, epoch: Epoch) -> Timers {
        // Derived from the counter, the other timers are as wrong as it is; a clock of their own is right
        // by definition, the counter's error is against it.
        let wall_error_ppb = match rate {
            Some(rate) if !Wall::is_independent() => rate.error_ppb,
            _ => 0,
        };
        Timers::new(TimerName::ALL.map(|timer| match (timer, rate, epoch.tick) {
            (TimerName::Cycle, Some(rate), _) => Calibration {
                error_ppb: rate.error_ppb,
                ..Calibration::exact(arch::SOURCE, rate.frequency_hz, epoch.counter_ticks)
            },
            (TimerName::Tick, _, Some(tick)) => tick,
            _ if epoch.wall.hz == 0 => Calibration::NONE,
            _ => {
                let unit_hz = match timer {
                    TimerName::Cycle => epoch.wall.hz,
                    timer => timer.unit_hz().unwrap_or(1_000),
                };
                let epoch_ticks = system::wall_from(timer, epoch.wall);
                let exact = Calibration::exact(Wall::source(), unit_hz, epoch_ticks);
                Calibration { error_ppb: wall_error_ppb, ..exact }
            }
        }))
    }
}

/// Where everything stands at one moment.
#[derive(Copy, Clone, Debug)]
struct Epoch {
    /// 0 where CYCLE does not use the counter.
    counter_ticks: u64,
    wall: Wall,
    /// TICK, where a coarse clock backs it.
    tick: Option<Calibration>,
}

impl Epoch {
    fn now(uses_counter: bool) -> Epoch {
        // A counter that is not used may be one that traps, as in machine mode of riscv64.
        let counter = || if uses_counter { arch::read() } else { 0 };
        // The tightest of several brackets: an interrupt in the middle of one would set the two apart.
        let read = || (counter(), Wall::now(), counter());
        let (before, wall, after) = (1..SAMPLE_COUNT).fold(read(), |best, _| {
            let next = read();
            if next.2.wrapping_sub(next.0) < best.2.wrapping_sub(best.0) { next } else { best }
        });
        let tick = system::tick_ns().map(|tick_ns| {
            // If it was interrupted since, the coarse clock has passed the moment: hold it there.
            let ticks = os::coarse_ns().min(wall.ns()) / u64::from(tick_ns);
            let frequency_hz = (1_000_000_000 + u64::from(tick_ns) / 2) / u64::from(tick_ns);
            // The period is a whole number of nanoseconds, the frequency need not be one (300 Hz is not).
            let conversion = Conversion::from_multiplier((u64::from(tick_ns) * 1_000) << Conversion::SHIFT);
            Calibration { conversion, ..Calibration::exact(Source::CoarseClock, frequency_hz, ticks) }
        });
        Epoch { counter_ticks: before.wrapping_add(after.wrapping_sub(before) / 2), wall, tick }
    }
}

/// The rate of the processor's counter, measured for `interval_ns`; `None` if CYCLE must not use it.
pub(crate) fn counter_rate(interval_ns: u64) -> Option<Estimate> {
    let decided = system::cycle_backing();
    let has_wall = Wall::is_independent();
    let stated_hz = match arch::probe() {
        _ if decided == Some(CycleBacking::Wall) => return None,
        Probe::Steady { stated_hz } => stated_hz,
        // Decided earlier: readers use it, and its unit must not change under them.
        Probe::LastResort { stated_hz } if !has_wall || decided.is_some() => stated_hz,
        Probe::LastResort { .. } | Probe::Absent => return None,
    };
    let measured = if has_wall {
        measure_rate(|| Sample { ticks_before: arch::read(), clock_ns: Wall::now().ns(), ticks_after: arch::read() }, interval_ns)
    } else {
        None
    };
    // Where the hot path does not ask, it reads the counter whatever is decided.
    let may_fall_back = has_wall && decided.is_none() && !arch::ALWAYS;
    settle(measured, stated_hz, may_fall_back)
}

/// One reading of a clock between two readings of the counter that is measured by it.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Sample {
    /// The counter before.
    pub ticks_before: u64,
    /// The clock, in nanoseconds.
    pub clock_ns: u64,
    /// The counter after.
    pub ticks_after: u64,
}

impl Sample {
    /// The counter's advance around the reading of the clock; `None` if it ran backward.
    fn width(&self) -> Option<u64> {
        self.ticks_after.checked_sub(self.ticks_before)
    }

    /// Twice the counter in the middle: no half is lost.
    fn twice_middle(&self) -> u128 {
        u128::from(self.ticks_before) + u128::from(self.ticks_after)
    }
}

/// A measured rate.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Estimate {
    /// Ticks a second.
    pub frequency_hz: u64,
    /// Bound of its error in parts in 10⁹, see [`calibrate_from_samples`].
    pub error_ppb: u32,
}

/// The rate of a counter, from samples taken at the start and at the end of an interval.
///
/// `None` if they tell nothing: an empty end, no time or no tick between them, a clock or counter that ran
/// backward, a rate outside 1 Hz to 30 GHz. Any numbers are fine; nothing overflows.
///
/// Of each end it takes the sample with the tightest bracket, the one that nothing interrupted. The clock
/// was read somewhere inside that bracket: at the same place in both, because it is the same code, so
/// the place cancels out of the difference. What does not cancel is the bound:
///
/// * by how much either bracket is wider than the narrower of the two;
/// * one tick of the counter, and one step of the clock, since both cut fractions off;
/// * the rounding of the frequency to whole hertz.
///
/// Of a step, only samples can tell: `clock_getres` says 1 ns of an HPET that counts in 70 ns. A clock that stands still
/// between two samples shows its step by its smallest advance. One that always advances, because reading it takes longer than
/// a step, shows it against the counter: its readings lie around a straight line, as far apart as the step is long.
///
/// ```
/// use perfschema_timer::{Sample, calibrate_from_samples};
///
/// let start = [Sample { ticks_before: 1_000, clock_ns: 70, ticks_after: 1_080 }];
/// let end = [Sample { ticks_before: 13_001_000, clock_ns: 5_000_070, ticks_after: 13_001_080 }];
/// let rate = calibrate_from_samples(&start, &end).expect("both ran");
/// assert_eq!(rate.frequency_hz, 2_600_000_000);
/// assert!(rate.error_ppb < 1_000);
/// ```
#[must_use]
pub fn calibrate_from_samples(start: &[Sample], end: &[Sample]) -> Option<Estimate> {
    let (first, first_width) = tightest(start)?;
    let (last, last_width) = tightest(end)?;
    let between = Between::new(first, last)?;
    let unsure_ticks = u128::from(first_width.abs_diff(last_width)) + 1;
    let seen_ns = [start, end].map(|samples| spread_beyond_units_ns(samples, between.hz)).iter().sum::<u128>();
    let unsure_ns = u128::from(clock_step_ns(start.iter().chain(end))).max(1 + seen_ns);
    Some(between.estimate(2 * unsure_ticks, unsure_ns))
}

/// What lies between two samples.
struct Between {
    ns: u64,
    twice_ticks: u128,
    /// 1 to [`HZ_MAX`].
    hz: u128,
}

impl Between {
    fn new(first: &Sample, last: &Sample) -> Option<Between> {
        let ns = last.clock_ns.checked_sub(first.clock_ns).filter(|&ns| ns > 0)?;
        let twice_ticks = last.twice_middle().checked_sub(first.twice_middle()).filter(|&ticks| ticks > 0)?;
        let hz = div_round(twice_ticks * 1_000_000_000, 2 * u128::from(ns));
        (hz > 0 && hz <= HZ_MAX).then_some(Between { ns, twice_ticks, hz })
    }

    fn estimate(&self, twice_unsure_ticks: u128, unsure_ns: u128) -> Estimate {
        let error_ppb = parts_in_a_billion(twice_unsure_ticks, self.twice_ticks)
            + parts_in_a_billion(unsure_ns, u128::from(self.ns))
            + parts_in_a_billion(1, 2 * self.hz);
        Estimate {
            frequency_hz: self.hz as u64, // at most HZ_MAX
            error_ppb: u32::try_from(error_ppb).unwrap_or(ERROR_UNKNOWN),
        }
    }
}

fn tightest(samples: &[Sample]) -> Option<(&Sample, u64)> {
    samples.iter().filter_map(|sample| Some((sample, sample.width()?))).min_by_key(|&(_, width)| width)
}

/// The step of a clock that is slower than we are: two samples in a row show the same time, and the smallest advance is a
/// step, or less by a fraction of a nanosecond. 1 ns for a faster one.
fn clock_step_ns<'a>(samples: impl Iterator<Item = &'a Sample>) -> u64 {
    let mut before: Option<u64> = None;
    let mut stood_still = false;
    let mut step_ns = u64::MAX;
    for sample in samples {
        match before.map(|before| sample.clock_ns.saturating_sub(before)) {
            Some(0) => stood_still = true,
            Some(advance) => step_ns = step_ns.min(advance),
            None => {}
        }
        before = Some(sample.clock_ns);
    }
    if stood_still { step_ns.saturating_add(1) } else { 1 }
}

/// How far apart the clock's readings are around the straight line that the counter draws, in nanoseconds beyond the one
/// nanosecond and the one tick that both units allow: 0 if both are fine, however long they take to read. A clock that counts in
/// steps falls behind the line by up to a step, at random, because a reading takes no whole number of steps; so does a counter that
/// advances by many ticks at a time.
///
/// Counted at both ends and added up, so that it suffices if each end shows half of it. Brackets more than an eighth wider than the
/// tightest are left out: in them the clock was read elsewhere, or an interrupt came.
fn spread_beyond_units_ns(samples: &[Sample], hz: u128) -> u128 {
    let Some((origin, tightest_width)) = tightest(samples) else { return 0 };
    // In units of 1 ns ÷ (2 × hz), which leave no fraction.
    let behind_line = |sample: &Sample| {
        let line = sample.twice_middle() as i128 - origin.twice_middle() as i128;
        let clock = i128::from(sample.clock_ns) - i128::from(origin.clock_ns);
        line * 1_000_000_000 - clock * 2 * hz as i128
    };
    let undisturbed =
        samples.iter().filter(|sample| sample.width().is_some_and(|width| width - tightest_width <= tightest_width / 8));
    let (least, most) = undisturbed.map(behind_line).fold((0, 0), |(least, most), behind| (behind.min(least), behind.max(most)));
    let units = 2 * hz + 2 * 1_000_000_000;
    most.abs_diff(least).saturating_sub(units).div_ceil(2 * hz)
}

fn div_round(dividend: u128, divisor: u128) -> u128 {
    (dividend + divisor / 2) / divisor
}

/// `part ÷ whole` in parts in 10⁹, rounded up.
fn parts_in_a_billion(part: u128, whole: u128) -> u128 {
    (part * 1_000_000_000).div_ceil(whole)
}

/// Samples at both ends of `interval_ns`. Ends, whatever the clock does.
pub(crate) fn measure_rate(mut sample: impl FnMut() -> Sample, interval_ns: u64) -> Option<Estimate> {
    let start: [Sample; SAMPLE_COUNT] = core::array::from_fn(|_| sample());
    // One that advances while nearly all of them stand still has steps too long for what follows: where in a step it was read, decides.
    if start.windows(2).filter(|pair| pair[0].clock_ns != pair[1].clock_ns).count() < SAMPLE_COUNT / 8 {
        return measure_by_steps(sample, interval_ns);
    }
    let started_ns = start[0].clock_ns;
    // Reads all the while, rather than sleeping: no_std, and a core that has slept wakes up slower.
    for _ in 0..PAUSE_SAMPLE_COUNT_MAX {
        match sample().clock_ns.checked_sub(started_ns) {
            Some(passed_ns) if passed_ns < interval_ns => {}
            _ => break, // over, or backward
        }
    }
    let end: [Sample; SAMPLE_COUNT] = core::array::from_fn(|_| sample());
    calibrate_from_samples(&start, &end)
}

/// The same by a clock of long steps, such as one that an interrupt moves on 1000 times a second: from one step to another. When a step came
/// is known between the sample before it and the one after it.
fn measure_by_steps(mut sample: impl FnMut() -> Sample, interval_ns: u64) -> Option<Estimate> {
    let mut before = sample();
    // The tightest of two, or more where they come soon: an interruption makes one wide.
    let mut step = |least_ns: u64| {
        let least_ns = before.clock_ns.saturating_add(least_ns);
        let (mut tightest, mut count, mut first_ns): (Option<Sample>, usize, Option<u64>) = (None, 0, None);
        for _ in 0..STEP_SAMPLE_COUNT_MAX {
            let after = sample();
            let bracket = Sample { ticks_before: before.ticks_before, ..after };
            let advanced = after.clock_ns.checked_sub(before.clock_ns)? > 0; // else backward
            before = after;
            if advanced && after.clock_ns >= least_ns {
                let width = bracket.width()?;
                tightest = tightest.filter(|best| best.width().is_some_and(|best| best <= width)).or(Some(bracket));
                count += 1;
                let first_ns = *first_ns.get_or_insert(after.clock_ns);
                if count == SAMPLE_COUNT || after.clock_ns - first_ns >= interval_ns / 8 {
                    break;
                }
            }
        }
        tightest
    };
    let first = step(0)?;
    // Half of it is enough: of a clock of 250 Hz it is one step then, and not two.
    let last = step(interval_ns / 2)?;
    let widths = u128::from(first.width()?) + u128::from(last.width()?);
    Some(Between::new(&first, &last)?.estimate(widths + 2, 1))
}

/// The rate to use: measured, if it is good or the only one; stated, if it lies within the measurement's bound;
/// otherwise measured. With neither, `None` if CYCLE `may_fall_back` to another clock, else a guess that
/// says so.
fn settle(measured: Option<Estimate>, stated_hz: u64, may_fall_back: bool) -> Option<Estimate> {
    let stated = |error_ppb| Some(Estimate { frequency_hz: stated_hz, error_ppb });
    match measured {
        Some(rate) if stated_hz == 0 || rate.error_ppb <= ERROR_PPB_WANTED => Some(rate),
        Some(rate) => {
            // A coarse counter, such as 10 or 24 MHz: in 5 ms it is measured to some 10 parts in 10⁶. What is stated is mostly
            // what the system's clock counts by, and then exact; but that is not proven, so the bound is made from what was measured.
            let apart = u128::from(rate.frequency_hz.abs_diff(stated_hz));
            let apart_ppb = parts_in_a_billion(apart, u128::from(stated_hz));
            if apart_ppb <= u128::from(rate.error_ppb) {
                let error_ppb = apart_ppb + u128::from(rate.error_ppb);
                stated(u32::try_from(error_ppb).unwrap_or(ERROR_UNKNOWN))
            } else {
                Some(rate) // The firmware is wrong, or the system steers its clock away from it by more than we measure.
            }
        }
        None if stated_hz != 0 => stated(ERROR_UNKNOWN),
        None if may_fall_back => None,
        None => Some(Estimate { frequency_hz: ASSUMED_HZ, error_ppb: ERROR_UNKNOWN }),
    }
}

#[cfg(test)]
mod tests;
