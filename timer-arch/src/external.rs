//! The clock that an application supplies where there is no operating system.

use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// The reading function as a pointer; null while there is none. Plain loads and stores only: thumbv6m
/// has no compare-and-swap, and no 64-bit atomics, hence the frequency in two halves.
static READ: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());
/// Relaxed: published by the store to [`READ`].
static FREQUENCY_HZ: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];

/// A counter that the application reads for us.
#[derive(Copy, Clone, Debug)]
pub(crate) struct External {
    pub(crate) read: fn() -> u64,
    pub(crate) frequency_hz: u64,
}

/// Supplies a clock where the target has none: a hardware timer, an RTOS tick, a device's time base.
///
/// `read` must count up in 64 bits at `frequency_hz`, 1 Hz to 30 GHz, and answer at once from any context
/// that records, interrupts included; widening a narrower counter is its business (on a Cortex-M3 or above
/// `use_cycle_counter` does it). A frequency of 0 takes the clock away again.
///
/// Without an operating system NANOSECOND to TICK come from this clock, and so does CYCLE unless the
/// processor has a counter of its own that can be trusted, see the [table](crate#targets): it is then measured against this clock. On a Unix
/// and on Windows it is not used: their own is there. This is the wall clock that WL#2360 asks for "at least as fallback".
///
/// Call it before [`Timers::calibrate`](crate::Timers::calibrate), from one place. A later call is not
/// unsafe, but readings on its two sides do not compare.
///
/// ```
/// fn ticks_since_reset() -> u64 {
///     // A real one reads a timer peripheral.
///     0
/// }
/// perfschema_timer::set_external_clock(ticks_since_reset, 32_768);
/// ```
pub fn set_external_clock(read: fn() -> u64, frequency_hz: u64) {
    FREQUENCY_HZ[0].store(frequency_hz as u32, Ordering::Relaxed);
    FREQUENCY_HZ[1].store((frequency_hz >> 32) as u32, Ordering::Relaxed);
    let read = if frequency_hz == 0 { ptr::null_mut() } else { read as *mut () };
    // Release: pairs with the Acquire in get(); who sees the function sees its frequency.
    READ.store(read, Ordering::Release);
}

/// The clock of the last [`set_external_clock`].
pub(crate) fn get() -> Option<External> {
    // Acquire: pairs with the Release in set_external_clock().
    let read = READ.load(Ordering::Acquire);
    if read.is_null() {
        return None;
    }
    // SAFETY: READ holds null, excluded above, or what set_external_clock() made from a `fn() -> u64`.
    let read = unsafe { core::mem::transmute::<*mut (), fn() -> u64>(read) };
    let low = u64::from(FREQUENCY_HZ[0].load(Ordering::Relaxed));
    let high = u64::from(FREQUENCY_HZ[1].load(Ordering::Relaxed));
    // Two calls at once can mix their halves: a wrong frequency, but never 0, which scale() divides by.
    Some(External { read, frequency_hz: (high << 32 | low).max(1) })
}

/// `ticks` of a counter of `from_hz` (not 0), in units of `to_hz`. Exact but for the last fraction, which
/// is cut; wraps after 2⁶⁴ units.
pub(crate) fn scale(ticks: u64, from_hz: u64, to_hz: u64) -> u64 {
    if from_hz == to_hz {
        return ticks;
    }
    let (seconds, rest) = (ticks / from_hz, ticks % from_hz);
    // 128 bits only where a product needs them (above 18 GHz for nanoseconds): on a microcontroller that
    // division is a long call.
    let part = match rest.checked_mul(to_hz) {
        Some(product) => product / from_hz,
        None => (u128::from(rest) * u128::from(to_hz) / u128::from(from_hz)) as u64,
    };
    seconds.wrapping_mul(to_hz).wrapping_add(part)
}

#[cfg(test)]
mod tests {
    use super::{get, scale, set_external_clock};

    fn forty_two() -> u64 {
        42
    }

    #[test]
    fn what_was_set_is_read() {
        set_external_clock(forty_two, 5_000_000_000);
        let clock = get().expect("just set");
        assert_eq!(((clock.read)(), clock.frequency_hz), (42, 5_000_000_000));
        set_external_clock(forty_two, 0);
        assert!(get().is_none());
    }

    #[test]
    fn scaling_is_exact() {
        for (ticks, from_hz, to_hz) in [
            (0, 1, 1_000_000_000),
            (1, 3, 1_000_000_000),
            (u64::MAX, u64::MAX, 1_000),
            (u64::MAX - 1, u64::MAX, 1_000_000_000),
            (32_768 * 77 + 5, 32_768, 1_000_000_000),
            (48_000_000 * 86_400 * 365 + 1, 48_000_000, 1_000_000),
            (30_000_000_000 - 1, 30_000_000_000, 1_000_000_000),
            (12_345, 1_000, 1_000),
        ] {
            let exact = u128::from(ticks) * u128::from(to_hz) / u128::from(from_hz);
            assert_eq!(u128::from(scale(ticks, from_hz, to_hz)), exact, "{ticks} at {from_hz} to {to_hz}");
        }
        assert_eq!(scale(u64::MAX, 1, 1_000), u64::MAX.wrapping_mul(1_000));
    }
}
