//! Cortex-M3 and above: the cycle counter of the debug unit, widened to 64 bits.
//!
//! Not a module of the common kind: the counter is optional, a debugger may own it, and only the
//! application knows its frequency. So it is handed in as the external clock.

/// The 64-bit count, from the low half in hardware and a count of half periods in memory.
///
/// `half_periods` counts how often bit 31 of `counter` has flipped. Its parity says which half it was
/// last updated in; a counter in the other half has just moved on by one:
///
/// ```text
///     half_periods  counter      time
///     even          0xxx…        half_periods × 2³¹ + xxx…
///     even          1xxx…        the same + 2³¹: bit 31 of the counter itself adds it
///     odd           1xxx…        half_periods × 2³¹ + xxx…: the flip takes bit 31 away
///     odd           0xxx…        the same + 2³¹: the flip adds it
/// ```
///
/// (The scheme is embassy's.) It is right as long as `half_periods` is less than one half period old.
fn widen(half_periods: u32, counter: u32) -> u64 {
    (u64::from(half_periods) << 31) + u64::from(counter ^ ((half_periods & 1) << 31))
}

/// Whether `counter` has moved on to the next half.
fn is_behind(half_periods: u32, counter: u32) -> bool {
    half_periods & 1 != counter >> 31
}

/// A count of half periods and the counter, of which the former is no more than one half period older.
///
/// An interrupt between the two only makes the counter newer, which [`widen`] allows. But a thread may be suspended there for several half
/// periods, seconds each, which others have counted: then both are read again.
fn read_both(half_periods: impl Fn() -> u32, counter: impl Fn() -> u32) -> (u32, u32) {
    loop {
        let both = (half_periods(), counter());
        if half_periods() == both.0 {
            return both;
        }
    }
}

#[cfg(all(target_arch = "arm", target_os = "none", target_has_atomic = "ptr"))]
mod dwt {
    use super::{is_behind, read_both, widen};
    use core::ptr;
    use core::sync::atomic::{AtomicU32, Ordering};

    const DEMCR: *mut u32 = ptr::without_provenance_mut(0xE000_EDFC);
    const DEMCR_TRCENA: u32 = 1 << 24;
    const DWT_CTRL: *mut u32 = ptr::without_provenance_mut(0xE000_1000);
    const DWT_CTRL_CYCCNTENA: u32 = 1;
    const DWT_CYCCNT: *const u32 = ptr::without_provenance(0xE000_1004);
    /// Opens the other registers to writes where a reset locks them, as on the STM32F7; elsewhere writes to it are ignored.
    const DWT_LAR: *mut u32 = ptr::without_provenance_mut(0xE000_1FB0);
    const DWT_LAR_KEY: u32 = 0xC5AC_CE55;

    /// All Relaxed: one word, and the counter beside it is no memory that an ordering would order.
    static HALF_PERIODS: AtomicU32 = AtomicU32::new(0);

    /// Starts the DWT cycle counter, running at `frequency_hz`, and makes it the
    /// [external clock](crate::set_external_clock). Returns false, changing nothing, if it does not advance:
    /// the counter is optional in the architecture, and QEMU has none.
    ///
    /// The counter has 32 bits: some reading must happen in every 2³¹ cycles (13 s at 168 MHz), or time
    /// is lost. A program that may be silent for longer reads the clock in a periodic interrupt.
    ///
    /// # Safety
    ///
    /// The processor must be a Cortex-M3, M4, M7, M33 or a later one with these registers (not an M0, nor
    /// an ARM of the A or R profile), and nothing else may write the counter from now on.
    pub unsafe fn use_cycle_counter(frequency_hz: u32) -> bool {
        // SAFETY: the caller vouches for the processor; on it, these are registers, aligned and always there.
        unsafe {
            DEMCR.write_volatile(DEMCR.read_volatile() | DEMCR_TRCENA);
            DWT_LAR.write_volatile(DWT_LAR_KEY);
            DWT_CTRL.write_volatile(DWT_CTRL.read_volatile() | DWT_CTRL_CYCCNTENA);
        }
        let start = counter();
        let advances = (0..64).any(|_| counter() != start);
        if advances {
            // A count that begins in its upper half begins in half period 1.
            HALF_PERIODS.store(start >> 31, Ordering::Relaxed);
            crate::set_external_clock(read, u64::from(frequency_hz));
        }
        advances
    }

    fn read() -> u64 {
        let (half_periods, counter) = read_both(|| HALF_PERIODS.load(Ordering::Relaxed), counter);
        if is_behind(half_periods, counter) {
            // Compare and swap: a thread that was suspended here for long must not turn the count back.
            // Losing means that another one has done it.
            let _ =
                HALF_PERIODS.compare_exchange(half_periods, half_periods.wrapping_add(1), Ordering::Relaxed, Ordering::Relaxed);
        }
        widen(half_periods, counter)
    }

    fn counter() -> u32 {
        // SAFETY: only reached through use_cycle_counter(), whose caller vouches for the register.
        unsafe { DWT_CYCCNT.read_volatile() }
    }
}

#[cfg(all(target_arch = "arm", target_os = "none", target_has_atomic = "ptr"))]
pub use dwt::use_cycle_counter;

#[cfg(test)]
mod tests {
    use super::{is_behind, read_both, widen};
    use core::cell::Cell;

    #[test]
    fn a_thread_may_be_suspended_between_its_two_readings() {
        for half_periods_meanwhile in 0..9 {
            // The exact time, of which others keep the half periods up to date.
            let now = Cell::new(0x7FFF_FFF0_u64);
            let half_periods = || (now.get() >> 31) as u32;
            let suspended = Cell::new(false);
            let counter = || {
                if !suspended.replace(true) {
                    now.set(now.get() + (half_periods_meanwhile << 31) + 0x20);
                }
                now.get() as u32
            };
            let (half_periods, counter) = read_both(half_periods, counter);
            assert_eq!(widen(half_periods, counter), now.get(), "suspended for {half_periods_meanwhile} half periods");
        }
    }

    #[test]
    fn widening_follows_a_counter_over_its_wraps() {
        let mut half_periods = 0;
        let mut exact = 0_u64;
        while exact < 20 << 32 {
            let counter = exact as u32;
            assert_eq!(widen(half_periods, counter), exact, "{half_periods} {counter:#x}");
            // A reader that is late to note the flip still gets it right.
            if is_behind(half_periods, counter) {
                half_periods += 1;
                assert_eq!(widen(half_periods, counter), exact, "{half_periods} {counter:#x}");
            }
            exact += 0x0765_4321;
        }
        assert!(half_periods >= 39);
    }
}
