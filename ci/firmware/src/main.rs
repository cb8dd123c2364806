//! Firmware whose main loop and two interrupt handlers record into one region: what the main loop does is interrupted at each instruction,
//! by QEMU's timers. Is every wait counted once, every row whole, every lock and every setting what it was made?
//!
//! ```sh
//! cargo rustc --release --target thumbv7em-none-eabihf -p perfschema-firmware -- -C link-arg=-Tlink.x -C link-arg=-L$PWD/ci/firmware
//! qemu-system-arm -M mps2-an386 -icount shift=6 -nographic -monitor none -serial none -semihosting-config enable=on,target=native \
//!     -kernel target/thumbv7em-none-eabihf/release/perfschema-firmware
//! perfschema show ./region events_waits_history
//! ```
//! The tables are printed on the debugger's console; the region itself is written to the file `region`, as a debugger would save the memory
//! of a device that hangs: `dump binary memory region START END`.
#![cfg_attr(all(target_arch = "arm", target_os = "none"), no_std, no_main)]

#[cfg(all(target_arch = "arm", target_os = "none"))]
mod board;
#[cfg(all(target_arch = "arm", target_os = "none"))]
mod levels;

#[cfg(all(target_arch = "arm", target_os = "none"))]
mod program {
    use crate::{board, levels};
    use cortex_m_rt::entry;
    use cortex_m_semihosting::{debug, hprintln};
    use perfschema_core::timer::{Timers, set_external_clock};
    use perfschema_core::{Identity, Region, tables};

    #[entry]
    fn main() -> ! {
        let problem = run().err();
        if let Some(problem) = problem {
            hprintln!("{}", problem);
        }
        debug::exit(if problem.is_none() { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
        panic!("there is no debugger")
    }

    fn run() -> Result<(), &'static str> {
        board::start();
        set_external_clock(embassy_time_driver::now, embassy_time_driver::TICK_HZ);
        let identity = Identity { program: "firmware", ..Identity::default() };
        let region = Region::create(levels::MEMORY.words(), &levels::CONFIG, &identity, &Timers::calibrate());
        let region = region.map_err(|_| "the region cannot be made")?;
        let region: &'static Region<'static> =
            cortex_m::singleton!(: Option<Region<'static>> = None).ok_or("started twice")?.insert(region);
        levels::run(region, |step, places| hprintln!("{}: interrupted at {} places", step, places))?;

        hprintln!("{} bytes", region.size_bytes());
        region.scan(&tables::EventsWaitsSummaryByThreadByEventName, |row| {
            hprintln!("thread {}: {} waits at {}, {} ps", row.thread_id, row.count_star, row.event_name, row.sum_timer_wait);
        });
        region.scan(&tables::EventsWaitsHistory, |row| {
            let (source, wait) = (row.source.unwrap_or_default(), row.timer_wait.unwrap_or(0));
            hprintln!("thread {}: event {} at {}, {} ps", row.thread_id, row.event_id, source, wait);
        });
        board::write_file(c"region", levels::MEMORY.words()).ok_or("the region cannot be written")
    }

    #[panic_handler]
    fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
        hprintln!("{}", info);
        loop {
            debug::exit(debug::EXIT_FAILURE);
        }
    }
}

#[cfg(not(all(target_arch = "arm", target_os = "none")))]
fn main() {}
