//! The board: time from SysTick, two timers that interrupt, the debugger's files.

use core::cell::Cell;
use core::ffi::CStr;
use core::task::Waker;
use cortex_m::Peripherals;
use cortex_m::interrupt::InterruptNumber;
use cortex_m::peripheral::scb::SystemHandler;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::peripheral::{NVIC, SCB, SYST};
use cortex_m_rt::exception;
use cortex_m_semihosting::{nr, syscall};
use critical_section::Mutex;
use perfschema_core::Word;

/// Of the processor and both timers.
const CLOCK_HZ: u32 = 25_000_000;
const TICKS_PER_MICROSECOND: u64 = (CLOCK_HZ / 1_000_000) as u64;
/// Of SysTick: a millisecond.
const RELOAD: u32 = CLOCK_HZ / 1000 - 1;

/// Microseconds since the start, for embassy: milliseconds are counted by an interrupt, the rest is in the counter.
struct SysTickDriver {
    milliseconds: Mutex<Cell<u64>>,
}

embassy_time_driver::time_driver_impl!(static DRIVER: SysTickDriver = SysTickDriver { milliseconds: Mutex::new(Cell::new(0)) });

impl embassy_time_driver::Driver for SysTickDriver {
    fn now(&self) -> u64 {
        critical_section::with(|cs| {
            let (before, came_round) = (SYST::get_current(), SCB::is_pendst_pending());
            // A millisecond is over that is not yet counted; `before` may be of either side.
            let (counter, uncounted) = if came_round { (SYST::get_current(), 1) } else { (before, 0) };
            let milliseconds = self.milliseconds.borrow(cs).get() + uncounted;
            milliseconds * 1000 + u64::from(RELOAD - counter) / TICKS_PER_MICROSECOND
        })
    }

    fn schedule_wake(&self, _at: u64, waker: &Waker) {
        // Nobody sleeps here; who would is woken to look again.
        waker.wake_by_ref();
    }
}

#[exception]
fn SysTick() {
    critical_section::with(|cs| {
        let milliseconds = DRIVER.milliseconds.borrow(cs);
        milliseconds.set(milliseconds.get() + 1);
    });
}

/// One of the board's timers, by its interrupt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timer {
    First = 8,
    Second = 9,
}

// SAFETY: the numbers are those of the timers' interrupts.
unsafe impl InterruptNumber for Timer {
    fn number(self) -> u16 {
        self as u16
    }
}

impl Timer {
    const CONTROL: usize = 0;
    const RELOAD: usize = 2;
    const INTERRUPT_CLEAR: usize = 3;
    /// CONTROL: it runs, and interrupts.
    const ON: u32 = 1 | 1 << 3;

    /// Writes one of its registers.
    fn write(self, register: usize, value: u32) {
        let base: *mut u32 = core::ptr::without_provenance_mut(match self {
            Timer::First => 0x4000_0000,
            Timer::Second => 0x4000_1000,
        });
        // SAFETY: the board has these four registers there, and no memory.
        unsafe { base.add(register).write_volatile(value) };
    }

    /// Interrupts after so many ticks, and once more after as many each.
    pub(crate) fn start(self, ticks: u32) {
        self.write(Self::INTERRUPT_CLEAR, 1);
        self.write(Self::RELOAD, ticks);
        self.write(Self::CONTROL, Self::ON);
    }

    pub(crate) fn stop(self) {
        self.write(Self::CONTROL, 0);
        self.write(Self::INTERRUPT_CLEAR, 1);
    }
}

#[exception]
unsafe fn DefaultHandler(interrupt: i16) {
    for timer in [Timer::First, Timer::Second] {
        if interrupt == timer as i16 {
            crate::levels::interrupted_by(timer);
        }
    }
}

/// Starts SysTick, which interrupts everything, and lets the timers interrupt: the second one the first one's handler, too.
pub(crate) fn start() {
    let Some(mut peripherals) = Peripherals::take() else { return };
    peripherals.SYST.set_clock_source(SystClkSource::Core);
    peripherals.SYST.set_reload(RELOAD);
    peripherals.SYST.clear_current();
    peripherals.SYST.enable_counter();
    peripherals.SYST.enable_interrupt();
    // SAFETY: critical sections mask all interrupts, whatever their priorities.
    unsafe {
        peripherals.SCB.set_priority(SystemHandler::SysTick, 0);
        peripherals.NVIC.set_priority(Timer::First, 0xc0);
        peripherals.NVIC.set_priority(Timer::Second, 0x40);
        NVIC::unmask(Timer::First);
        NVIC::unmask(Timer::Second);
    }
}

/// Writes a file of the debugger's machine. None if that cannot be.
pub(crate) fn write_file(name: &CStr, words: &[Word]) -> Option<()> {
    let length = name.count_bytes();
    // SAFETY: a name of that length, ended by zero.
    let file = unsafe { syscall!(OPEN, name.as_ptr(), nr::open::W_TRUNC | 1, length) };
    // SAFETY: nothing records any more, and the words are that many bytes.
    let unwritten = unsafe { syscall!(WRITE, file, words.as_ptr(), size_of_val(words)) };
    // SAFETY: closed once.
    let closed = unsafe { syscall!(CLOSE, file) };
    (unwritten == 0 && closed == 0).then_some(())
}
