//! Are waits timed by the application's clock where it backs CYCLE, although the processor has a counter, too? So it is where that one
//! may vary: an x86-64 without invariant TSC. The program has no operating system and ends by Linux's `exit`, in user-mode QEMU.
#![cfg_attr(all(target_os = "none", target_arch = "x86_64"), no_std, no_main)]

#[cfg(all(target_os = "none", target_arch = "x86_64"))]
mod program {
    use core::arch::{asm, global_asm};
    use core::sync::atomic::{AtomicU64, Ordering};
    use perfschema_core::timer::{Clock, Source, SystemClock, TimerName, Timers, set_external_clock};
    use perfschema_core::{
        Actor, ActorIdentity, Config, Held, Identity, InstrumentName, Operation, Region, Setting, StaticRegion, WaitStart, tables,
    };

    const NAME: InstrumentName<'static> = InstrumentName::literal("wait/synch/mutex/test/lock");
    static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();

    /// A clock of 1 MHz that each reading moves on by one.
    fn read() -> u64 {
        static TICKS: AtomicU64 = AtomicU64::new(0);
        TICKS.fetch_add(1, Ordering::Relaxed)
    }

    /// TIMER_WAIT of a wait in which nobody else reads the clock.
    fn wait_ps() -> Option<u64> {
        set_external_clock(read, 1_000_000);
        let timers = Timers::calibrate();
        // Else the processor is another one than is asked for.
        (timers.get(TimerName::Cycle).source == Source::External).then_some(())?;
        let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timers).ok()?;
        let class = region.register(NAME, Setting::ON).ok()?;
        region.enable_everything();
        let actor = Actor::attach(&region, &ActorIdentity::default());
        let wait = actor.begin(&SystemClock, region.switches(class), class, &WaitStart::new(Operation::Lock));
        actor.end(&SystemClock, wait, Held::None);
        let mut shown = None;
        region.scan(&tables::EventsWaitsHistory, |row| shown = row.timer_wait);
        shown.filter(|_| SystemClock.counter() < 1_000_000)
    }

    // The stack as a function of C's expects it.
    global_asm!(".globl _start", "_start: and rsp, -16", "call run");

    // SAFETY: no other function has the name.
    #[unsafe(no_mangle)]
    extern "C" fn run() -> ! {
        exit(if wait_ps() == Some(1_000_000) { 0 } else { 1 })
    }

    #[panic_handler]
    fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
        exit(2)
    }

    fn exit(status: u64) -> ! {
        // SAFETY: the call ends the program and touches no memory.
        unsafe { asm!("syscall", in("rax") 60_u64, in("rdi") status, options(noreturn)) }
    }
}

#[cfg(not(all(target_os = "none", target_arch = "x86_64")))]
fn main() {}
