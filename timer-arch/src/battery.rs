//! What every clock must pass. Stamp it on a new one with a line like those at the end.

/// The tests of the [contract](crate#the-contract), for one implementation of [`Clock`](crate::Clock).
///
/// `$step` lets time pass for a clock that does not run by itself.
macro_rules! battery {
    ($name:ident, $clock:expr, $timers:expr, $step:expr) => {
        mod $name {
            #[allow(unused_imports, reason = "a clock of this crate needs some, another one others")]
            use super::*;
            use crate::{Clock, TimerName, Timers, difference};

            #[test]
            fn answers_for_all_five_and_counts_up() {
                let (timers, clock): (Timers, _) = ($timers, $clock);
                for timer in TimerName::ALL {
                    let known = timers.get(timer);
                    assert!(known.frequency_hz > 0, "{timer}");
                    assert!(known.conversion.multiplier() > 0, "{timer}");
                    let mut before = clock.ticks(timer);
                    for _ in 0..if cfg!(miri) { 50 } else { 1_000 } {
                        $step(&clock);
                        let now = clock.ticks(timer);
                        // Two cores may be a few ticks apart; a thousandth of a second is a broken clock.
                        let back = difference(now, before);
                        assert!(back <= known.frequency_hz / 1_000, "{timer} went back by {back}");
                        before = now;
                    }
                }
            }

            #[test]
            fn epoch_is_not_ahead() {
                let (timers, clock): (Timers, _) = ($timers, $clock);
                for timer in TimerName::ALL {
                    $step(&clock);
                    let (epoch, now) = (timers.get(timer).epoch_ticks, clock.ticks(timer));
                    assert!(now >= epoch, "{timer}: {now}, epoch {epoch}");
                }
            }

            #[test]
            fn is_read_through_a_reference_and_from_threads() {
                fn is_clock(clock: impl Clock + Sync) {
                    std::thread::scope(|scope| {
                        for timer in TimerName::ALL {
                            let clock = &clock;
                            scope.spawn(move || clock.ticks(timer));
                        }
                    });
                }
                is_clock(&$clock);
            }

            #[test]
            fn resolution_and_overhead_are_found() {
                let clock = $clock;
                for timer in TimerName::ALL {
                    let resolution = crate::measure::resolution(&clock, timer);
                    assert!(resolution > 0, "{timer}");
                    let _ = crate::measure::overhead_cycles(&clock, timer);
                }
            }
        }
    };
}

use crate::{MockClock, SystemClock};

battery!(system_clock, SystemClock, Timers::calibrate(), |_: &_| {});
battery!(mock_clock, MockClock::new(), MockClock::new().timers(), |clock: &MockClock| {
    TimerName::ALL.into_iter().for_each(|timer| clock.advance(timer, 1));
});
