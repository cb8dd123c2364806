//! How a thread waits for a lock that it finds held.
//!
//! Std's locks are looked at until they are free, and each look takes the line away from the thread that has the lock. Where two do
//! nothing but lock and unlock, it is luck that the other is not looking just then; and what is recorded between an unlock and the next lock
//! uses that luck up: two bare readings of the clock there cost a third of all locks. So a thread looks away before it tries again: the
//! longer, the more often it found the lock still held then, so that the others do many locks meanwhile, each at the price of a free one.
//! Where a lock is free most of the time, a thread looks away for as long as std does between two looks. `benches/record/README.md` has what it gains.

use super::{LockResult, TryLockError, TryLockResult};
use crate::process::process;
use crate::thread::with_backoff;
use perfschema_timer::{Clock, SystemClock, TimerName};

/// For how long a thread looks away at least: 1/2²⁴ of a second, 60 ns.
const AWAY: u32 = 24;
/// How often that is doubled: to 3.8 µs.
const DOUBLED: u32 = 6;
/// Looks at the clock at most, at least: some times as many as it takes until it is over, should the clock stand still.
const LOOKS: u32 = 16;

/// Locks what may be held.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn lock<G>(try_lock: impl Fn() -> TryLockResult<G>, lock: impl FnOnce() -> LockResult<G>) -> LockResult<G> {
    had(try_lock()).unwrap_or_else(|| wait(try_lock, lock))
}

/// Locks what was found held.
#[cold]
#[inline(never)]
pub(super) fn wait<G>(try_lock: impl FnOnce() -> TryLockResult<G>, lock: impl FnOnce() -> LockResult<G>) -> LockResult<G> {
    let Some(process) = process() else { return lock() };
    let doubled = with_backoff(|doubled| doubled);
    let away = process.region().timer(TimerName::Cycle).frequency_hz >> AWAY << doubled;
    let now = || SystemClock.ticks(TimerName::Cycle);
    let begin = now();
    // Of a clock that goes back, on another core, the difference is large.
    (0..LOOKS << doubled).take_while(|_| now().wrapping_sub(begin) < away).for_each(|_| std::hint::spin_loop());
    let result = had(try_lock());
    with_backoff(|doubled| if result.is_some() { doubled.saturating_sub(1) } else { (doubled + 1).min(DOUBLED) });
    result.unwrap_or_else(lock)
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
    use std::sync::PoisonError;

    #[test]
    fn a_lock_still_held_is_looked_away_from_twice_as_long_up_to_a_limit_and_one_that_is_free_half_as_long() {
        started_for_tests();
        let mut seen = Vec::new();
        for free in [[false; 9], [true; 9]].concat() {
            let mut waited = false;
            let tried = || if free { Ok(()) } else { Err(TryLockError::WouldBlock) };
            assert!(
                wait(tried, || {
                    waited = true;
                    Ok(())
                })
                .is_ok()
            );
            assert_ne!(free, waited, "what is still held is waited for as std does, and nothing else");
            seen.push(with_backoff(|doubled| doubled));
        }
        assert_eq!(seen, [1, 2, 3, 4, 5, 6, 6, 6, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn a_thread_looks_away_as_long_as_is_said() {
        let process = started_for_tests();
        let frequency_hz = process.region().timer(TimerName::Cycle).frequency_hz;
        with_backoff(|_| DOUBLED);
        let begin = SystemClock.ticks(TimerName::Cycle);
        assert!(wait(|| Ok(()), || unreachable!("it is free")).is_ok());
        let waited = SystemClock.ticks(TimerName::Cycle).wrapping_sub(begin);
        assert!(waited >= frequency_hz >> AWAY << DOUBLED, "{waited} ticks of {frequency_hz} a second");
    }

    #[test]
    fn what_is_poisoned_was_had() {
        started_for_tests();
        let poisoned = || Err(TryLockError::Poisoned(PoisonError::new(1)));
        assert_eq!(lock(poisoned, || unreachable!("it is free")).unwrap_err().into_inner(), 1);
    }
}
