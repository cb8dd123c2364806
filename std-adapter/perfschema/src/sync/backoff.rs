//! How a thread waits for a lock that it finds held.
//!
//! Std's locks are looked at until they are free, and each look takes the line away from the thread that has the lock. Where two do
//! nothing but lock and unlock, it is luck that the other is not looking just then; and what is recorded between an unlock and the next lock
//! uses that luck up: two bare readings of the clock there cost a third of all locks. So a thread looks away before it tries again, the
//! longer, the more often it found locks still held then, and up to three times: the others do many locks meanwhile, each at the price of
//! a free one. Then it waits as std does. Where a lock is free most of the time, it looks away once, for as long as std does between two
//! looks. `benches/record/README.md` has what it gains.

use super::{LockResult, TryLockError, TryLockResult};
use crate::process::process;
use crate::thread::with_backoff;
use perfschema_timer::{Clock, SystemClock, TimerName};

/// For how long a thread looks away at least: 1/2²⁴ of a second, 60 ns.
const AWAY: u32 = 24;
/// How often that is doubled at most: to 3.8 µs.
const DOUBLED: u32 = 6;
/// Once more in the same wait for each so many: up to three times, for 11 µs in all.
const AGAIN: u32 = 3;
/// Looks at the clock, the first time: more than it takes until that is over, should the clock stand still.
const LOOKS: u32 = 16;

/// Locks what may be held. Returns also how often it looked away, which is SPINS.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn lock<G>(try_lock: impl Fn() -> TryLockResult<G>, lock: impl FnOnce() -> LockResult<G>) -> (LockResult<G>, u32) {
    had(try_lock()).map_or_else(|| wait(try_lock, lock), |result| (result, 0))
}

/// Locks what was found held; returns as [`lock`].
#[cold]
#[inline(never)]
pub(super) fn wait<G>(try_lock: impl Fn() -> TryLockResult<G>, lock: impl FnOnce() -> LockResult<G>) -> (LockResult<G>, u32) {
    let Some(process) = process() else { return (lock(), 0) };
    let frequency_hz = process.region().timer(TimerName::Cycle).frequency_hz;
    let first = with_backoff(|doubled| doubled);
    let times = first / AGAIN + 1;
    for before in 0..times {
        let doubled = (first + before).min(DOUBLED);
        look_away(frequency_hz << doubled >> AWAY, LOOKS << doubled);
        if let Some(result) = had(try_lock()) {
            // At the first look it may have been free for long; that late, it was a look of that length that helped.
            with_backoff(|_| if before == 0 { doubled.saturating_sub(1) } else { doubled });
            return (result, before + 1);
        }
    }
    with_backoff(|_| (first + times).min(DOUBLED));
    (lock(), times)
}

/// For so many ticks of CYCLE, and looks at it at most.
fn look_away(ticks: u64, looks: u32) {
    let now = || SystemClock.ticks(TimerName::Cycle);
    let begin = now();
    // Of a clock that goes back, on another core, the difference is large.
    (0..looks).take_while(|_| now().wrapping_sub(begin) < ticks).for_each(|_| std::hint::spin_loop());
}

/// What was tried, if that was a lock.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn had<G>(tried: TryLockResult<G>) -> Option<LockResult<G>> {
    match tried {
        Ok(guard) => Some(Ok(guard)),
        Err(TryLockError::Poisoned(poisoned)) => Some(Err(poisoned)),
        Err(TryLockError::WouldBlock) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::started_for_tests;
    use std::cell::Cell;
    use std::sync::PoisonError;

    /// Waits for a lock that is free at that look; 0: at none. How often the next look is doubled, and whether it was waited for as std does.
    /// It is said how often it was looked at.
    fn free_at(look: u32) -> (u32, bool) {
        let (looks, waited) = (Cell::new(0), Cell::new(false));
        let tried = || {
            looks.set(looks.get() + 1);
            if looks.get() == look { Ok(()) } else { Err(TryLockError::WouldBlock) }
        };
        let lock = || {
            waited.set(true);
            Ok(())
        };
        let (result, spins) = wait(tried, lock);
        assert_eq!((result.is_ok(), spins), (true, looks.get()));
        (with_backoff(|doubled| doubled), waited.get())
    }

    #[test]
    fn a_lock_still_held_is_looked_away_from_for_longer_and_one_that_is_free_for_less_long() {
        started_for_tests();
        assert_eq!([1, 2, 1, 0].map(free_at), [(0, false), (1, true), (0, false), (1, true)]);
        assert_eq!([0, 0, 0].map(free_at), [(2, true), (3, true), (5, true)]);
        assert_eq!([1, 2, 2, 3, 3].map(free_at), [(4, false), (5, false), (6, false), (6, false), (6, false)]);
        assert_eq!([0, 1, 1, 1].map(free_at), [(6, true), (5, false), (4, false), (3, false)]);
    }

    #[test]
    fn a_thread_looks_away_as_long_as_is_said() {
        let process = started_for_tests();
        let frequency_hz = process.region().timer(TimerName::Cycle).frequency_hz;
        with_backoff(|_| DOUBLED);
        let begin = SystemClock.ticks(TimerName::Cycle);
        let (result, spins) = wait(|| Ok(()), || unreachable!("it is free"));
        assert_eq!((result.is_ok(), spins), (true, 1));
        let waited = SystemClock.ticks(TimerName::Cycle).wrapping_sub(begin);
        assert!(waited >= frequency_hz << DOUBLED >> AWAY, "{waited} ticks of {frequency_hz} a second");
    }

    #[test]
    fn what_is_poisoned_was_had() {
        started_for_tests();
        let poisoned = || Err(TryLockError::Poisoned(PoisonError::new(1)));
        let (result, spins) = lock(poisoned, || unreachable!("it is free"));
        assert_eq!((result.unwrap_err().into_inner(), spins), (1, 0));
    }
}
