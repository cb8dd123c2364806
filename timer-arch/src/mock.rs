//! A clock that a test drives.

use crate::{Calibration, Clock, Source, TimerName, Timers};
use core::sync::atomic::Ordering;

/// Five counters that stand where they were put.
///
/// Shared by reference between threads; all accesses are relaxed loads and stores. Any thread may read;
/// one thread at a time drives. On targets without 64-bit atomics a reader that meets a driver may see
/// one half of the old value and one of the new.
///
/// ```
/// use perfschema_timer::{Clock, MockClock, TimerName};
///
/// static CLOCK: MockClock = MockClock::new();
/// CLOCK.set(TimerName::Nanosecond, 5);
/// CLOCK.advance(TimerName::Nanosecond, 10);
/// assert_eq!(CLOCK.ticks(TimerName::Nanosecond), 15);
/// assert_eq!(CLOCK.ticks(TimerName::Cycle), 0);
/// ```
#[derive(Debug, Default)]
pub struct MockClock {
    ticks: [Word64; 5],
}

impl MockClock {
    /// Ticks a second that [`timers`](Self::timers) gives CYCLE. A cycle is 400 ps, so that no number of
    /// cycles passes for nanoseconds.
    pub const CYCLE_HZ: u64 = 2_500_000_000;

    /// Ticks a second that [`timers`](Self::timers) gives TICK.
    pub const TICK_HZ: u64 = 100;

    /// All five timers at 0.
    #[must_use]
    pub const fn new() -> MockClock {
        MockClock { ticks: [const { Word64::new() }; 5] }
    }

    /// Puts `timer` at `ticks`, backward too.
    pub fn set(&self, timer: TimerName, ticks: u64) {
        self.ticks[timer.index()].store(ticks);
    }

    /// Moves `timer` on by `ticks`, and no other; wraps at 2⁶⁴.
    pub fn advance(&self, timer: TimerName, ticks: u64) {
        self.set(timer, self.ticks(timer).wrapping_add(ticks));
    }

    /// The calibration of this clock: exact, its epoch where the timers are now.
    ///
    /// ```
    /// # use perfschema_timer::{MockClock, TimerName};
    /// let timers = MockClock::new().timers();
    /// assert_eq!(timers.get(TimerName::Cycle).picoseconds_since_epoch(5), 2_000);
    /// ```
    #[must_use]
    pub fn timers(&self) -> Timers {
        Timers::new(TimerName::ALL.map(|timer| {
            let hz = match timer {
                TimerName::Cycle => Self::CYCLE_HZ,
                TimerName::Tick => Self::TICK_HZ,
                timer => timer.unit_hz().unwrap_or(0),
            };
            Calibration::exact(Source::External, hz, self.ticks(timer))
        }))
    }
}

impl Clock for MockClock {
    #[inline]
    fn ticks(&self, timer: TimerName) -> u64 {
        self.ticks[timer.index()].load()
    }
}

#[cfg(target_has_atomic = "64")]
#[derive(Debug, Default)]
struct Word64(core::sync::atomic::AtomicU64);

#[cfg(target_has_atomic = "64")]
impl Word64 {
    const fn new() -> Self {
        Self(core::sync::atomic::AtomicU64::new(0))
    }

    fn load(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn store(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// Two halves, where the target has no 64-bit atomics: no fallback that takes a critical section.
#[cfg(not(target_has_atomic = "64"))]
#[derive(Debug, Default)]
struct Word64 {
    low: core::sync::atomic::AtomicU32,
    high: core::sync::atomic::AtomicU32,
}

#[cfg(not(target_has_atomic = "64"))]
impl Word64 {
    const fn new() -> Self {
        Self { low: core::sync::atomic::AtomicU32::new(0), high: core::sync::atomic::AtomicU32::new(0) }
    }

    fn load(&self) -> u64 {
        u64::from(self.high.load(Ordering::Relaxed)) << 32 | u64::from(self.low.load(Ordering::Relaxed))
    }

    fn store(&self, value: u64) {
        self.high.store((value >> 32) as u32, Ordering::Relaxed);
        self.low.store(value as u32, Ordering::Relaxed);
    }
}
