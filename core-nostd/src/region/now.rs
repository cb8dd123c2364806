//! What a reader knows of the time: how long what runs has lasted so far.

use crate::region::{Region, Timer};
use crate::stat::Patience;
use perfschema_timer::{Clock, SystemClock, TimerName};

/// Up to when a reader counts what still lasts.
///
/// A region does not say whether its program goes on, nor on which machine it ran; whoever reads it does, see [`Region::as_of`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Now {
    /// Nobody knows: the program has ended, or ran on another machine.
    #[default]
    Unknown,
    /// What [`SystemClock`] says when a table is read: the program runs on this machine, and its clock is this one.
    Clock,
    /// This reading of the timer NANOSECOND.
    At(u64),
}

/// The moment that a table is read at, in picoseconds since the epoch, if it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Present(Option<i128>);

const PS_PER_S: i128 = 1_000_000_000_000;

/// Picoseconds from the epoch to `ticks`, also to those before it. None of a timer that does not count, in a damaged region.
fn since_epoch_ps(timer: Timer, ticks: u64) -> Option<i128> {
    ((i128::from(ticks) - i128::from(timer.epoch_ticks)) * PS_PER_S).checked_div(timer.frequency_hz.into())
}

impl<'r> Region<'r> {
    /// The same region, for a reader who knows that much of the time. One that was [created](Self::create) here is read by
    /// [`Now::Clock`], one that was [opened](Self::open) by [`Now::Unknown`].
    ///
    /// ```
    /// # use perfschema_core::{Config, Identity, Region, StaticRegion};
    /// use perfschema_core::{Actor, ActorIdentity, Now, tables};
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &perfschema_core::timer::Timers::calibrate())?;
    /// let start_monotonic_ns = 3_000_000_000;
    /// let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", start_monotonic_ns, ..Default::default() });
    /// let seconds = |now| {
    ///     let mut seconds = None;
    ///     region.as_of(now).scan(&tables::Threads, |row| seconds = row.processlist_time);
    ///     seconds
    /// };
    /// assert_eq!(seconds(Now::At(5_999_999_999)), Some(2));
    /// assert_eq!(seconds(Now::Unknown), None);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn as_of(&self, now: Now) -> Region<'r> {
        Region { now, is_here: self.is_here || now == Now::Clock, patience: Patience::default(), ..*self }
    }

    /// What `clock` says of a timer as the recording program reads it: for a reader on the same machine.
    ///
    /// Whether CYCLE is the processor's counter was decided by [`Timers::calibrate`](perfschema_timer::Timers::calibrate) there; whoever only
    /// reads need not have called it, and `clock.ticks` would read the counter whatever was decided.
    ///
    /// ```
    /// # use perfschema_core::{Config, Identity, Region, StaticRegion};
    /// use perfschema_core::timer::{MockClock, TimerName};
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// let clock = MockClock::new();
    /// let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// clock.set(TimerName::Cycle, 7);
    /// assert_eq!(region.ticks(&clock, TimerName::Cycle), 7);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn ticks(&self, clock: &impl Clock, timer: TimerName) -> u64 {
        match timer {
            TimerName::Cycle if self.cycle_is_counter() => clock.counter(),
            // Then it is the clock behind the other timers, in its own unit, which is this one's.
            TimerName::Cycle => clock.ticks(TimerName::Nanosecond),
            timer => clock.ticks(timer),
        }
    }

    /// What its reader knows of the time.
    pub fn now(&self) -> Now {
        self.now
    }

    /// The present moment: looked at once, so that all rows are as of the same one.
    pub(crate) fn present(&self) -> Present {
        Present(self.present_ns().and_then(|ticks| since_epoch_ps(self.timer(TimerName::Nanosecond), ticks)))
    }

    /// The same as a reading of the timer NANOSECOND.
    pub(crate) fn present_ns(&self) -> Option<u64> {
        match self.now {
            Now::Unknown => None,
            // Where there is no such timer, nobody knows.
            Now::Clock if self.timer(TimerName::Nanosecond).frequency_hz == 0 => None,
            Now::Clock => Some(SystemClock.ticks(TimerName::Nanosecond)),
            Now::At(ticks) => Some(ticks),
        }
    }
}

impl Present {
    /// Whole seconds from `ticks` of a timer; 0 where that is later, as another timer may be by what it was measured wrong.
    pub(crate) fn seconds_since(self, timer: Timer, ticks: u64) -> Option<i64> {
        let ps = self.0? - since_epoch_ps(timer, ticks)?;
        Some(i64::try_from(ps.max(0) / PS_PER_S).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Config, Identity, Region, StaticRegion};
    use perfschema_timer::{Calibration, MockClock, Source, TimerName, Timers};

    #[test]
    fn cycle_is_read_as_its_program_reads_it() {
        static MEMORY: [StaticRegion<{ Config::SMALL.words() }>; 2] = [const { StaticRegion::new() }; 2];
        let clock = MockClock::new();
        TimerName::ALL.into_iter().for_each(|timer| clock.set(timer, 10 + timer.index() as u64));
        let by = |cycle: Source, memory: usize| {
            let timers = TimerName::ALL.map(|timer| {
                let known = *clock.timers().get(timer);
                if timer == TimerName::Cycle { Calibration { source: cycle, ..known } } else { known }
            });
            let words = MEMORY[memory].words();
            let region = Region::create(words, &Config::SMALL, &Identity::default(), &Timers::new(timers)).unwrap();
            TimerName::ALL.map(|timer| region.ticks(&clock, timer))
        };
        assert_eq!(by(Source::Tsc, 0), [10, 11, 12, 13, 14]);
        // As where the processor's counter may vary, and CYCLE is the clock behind NANOSECOND.
        assert_eq!(by(Source::MonotonicClock, 1), [11, 11, 12, 13, 14]);
    }
}
