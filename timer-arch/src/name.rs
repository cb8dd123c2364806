//! The five names of WL#2360, in the order of `performance_timers`.

use core::fmt;

/// Which timer: the ENUM of `setup_timers.TIMER_NAME` and `performance_timers.TIMER_NAME` (WL#2360).
///
/// Ordered from the highest frequency to the lowest. The numbers are stable: they are stored in records
/// and regions.
#[repr(u8)]
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TimerName {
    /// The processor's counter: the cheapest to read, and the default.
    Cycle = 0,
    /// 10⁹ a second.
    Nanosecond = 1,
    /// 10⁶ a second.
    Microsecond = 2,
    /// 10³ a second.
    Millisecond = 3,
    /// The operating system's timer interrupt, commonly 100 to 1000 a second.
    Tick = 4,
}

impl TimerName {
    /// All five, in the order of the rows of `performance_timers`.
    pub const ALL: [TimerName; 5] = [Self::Cycle, Self::Nanosecond, Self::Microsecond, Self::Millisecond, Self::Tick];

    /// The name as the tables show it.
    ///
    /// ```
    /// # use perfschema_timer::TimerName;
    /// assert_eq!(TimerName::Cycle.name(), "CYCLE");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cycle => "CYCLE",
            Self::Nanosecond => "NANOSECOND",
            Self::Microsecond => "MICROSECOND",
            Self::Millisecond => "MILLISECOND",
            Self::Tick => "TICK",
        }
    }

    /// The timer of that name in any letter case, as an SQL ENUM compares; `None` if there is none.
    ///
    /// ```
    /// # use perfschema_timer::TimerName;
    /// assert_eq!(TimerName::from_name("Tick"), Some(TimerName::Tick));
    /// assert_eq!(TimerName::from_name("NONE"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|timer| timer.name().eq_ignore_ascii_case(name))
    }

    /// The timer of that number; `None` from 5 on. For numbers that come out of a record.
    ///
    /// ```
    /// # use perfschema_timer::TimerName;
    /// assert_eq!(TimerName::from_index(4), Some(TimerName::Tick));
    /// assert_eq!(TimerName::from_index(5), None);
    /// ```
    #[must_use]
    pub const fn from_index(index: u8) -> Option<Self> {
        match index {
            0 => Some(Self::Cycle),
            1 => Some(Self::Nanosecond),
            2 => Some(Self::Microsecond),
            3 => Some(Self::Millisecond),
            4 => Some(Self::Tick),
            _ => None,
        }
    }

    /// Its place in [`ALL`](Self::ALL), and its number in a record.
    ///
    /// ```
    /// # use perfschema_timer::TimerName;
    /// assert_eq!(TimerName::ALL[TimerName::Tick.index()], TimerName::Tick);
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Ticks a second where a unit of time gives the timer its name; `None` for CYCLE and TICK.
    pub(crate) const fn unit_hz(self) -> Option<u64> {
        match self {
            Self::Cycle | Self::Tick => None,
            Self::Nanosecond => Some(1_000_000_000),
            Self::Microsecond => Some(1_000_000),
            Self::Millisecond => Some(1_000),
        }
    }
}

impl fmt::Display for TimerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::TimerName;
    use std::format;

    #[test]
    fn numbers_and_names_lead_back() {
        for (place, timer) in TimerName::ALL.into_iter().enumerate() {
            assert_eq!(timer.index(), place);
            assert_eq!(TimerName::from_index(place as u8), Some(timer));
            assert_eq!(TimerName::from_name(timer.name()), Some(timer));
            assert_eq!(TimerName::from_name(&timer.name().to_lowercase()), Some(timer));
            assert_eq!(format!("{timer}"), timer.name());
        }
        assert!(TimerName::ALL.is_sorted());
    }

    #[test]
    fn strangers_are_refused() {
        for name in ["", "NONE", "CYCLES", "CYCL", " CYCLE", "TICK\0", "МS"] {
            assert_eq!(TimerName::from_name(name), None, "{name:?}");
        }
        for index in 5..=u8::MAX {
            assert_eq!(TimerName::from_index(index), None);
        }
    }
}
