//! The core in a program without `std`: a region in a `static`, two cores that record, a table read back.
//!
//! Everything but the printing is what a microcontroller would run: no allocation, no operating system. The region's size is a constant,
//! so that a linker script or a compile error says when it does not fit. What a microcontroller needs besides: a clock, given to
//! `timer::set_external_clock` before `Timers::calibrate`, else all times are 0; and without 64-bit atomics an implementation of the crate
//! `critical-section`.
#![no_std]

use core::panic::Location;
use core::sync::atomic::{AtomicBool, Ordering};
use perfschema_core::timer::{SystemClock, Timers};
use perfschema_core::{
    Actor, ActorIdentity, Class, Config, Held, Identity, InstanceId, InstrumentName, Operation, Region, Setting, Size,
    StaticRegion, WaitStart, tables,
};

const CONFIG: Config = Config::SMALL
    .with(Size::MaxThreadInstances, 2)
    .with(Size::EventsWaitsHistorySize, 3)
    // There are no files, no sockets, and no allocator.
    .with(Size::MaxFileClasses, 0)
    .with(Size::MaxFileInstances, 0)
    .with(Size::MaxSocketClasses, 0)
    .with(Size::MaxSocketInstances, 0)
    .with(Size::MaxMemoryClasses, 0);
const _: () = assert!(CONFIG.size_bytes() <= 30 * 1024);
static MEMORY: StaticRegion<{ CONFIG.words() }> = StaticRegion::new();

const BUS: InstrumentName<'static> = InstrumentName::literal("wait/synch/spin/firmware/spi_bus");

/// A bus that one core uses at a time: the smallest lock there is, instrumented. An interrupt handler must not wait for it.
struct Bus {
    taken: AtomicBool,
    class: Class,
    instance: InstanceId,
}

impl Bus {
    /// Waits for the bus, uses it, and lets it go. The wait is visible while it lasts, and afterwards says how often it spun.
    #[track_caller]
    fn with(&self, actor: &Actor<'_>, work: impl FnOnce()) {
        let address = core::ptr::from_ref(self) as usize as u64;
        let start = WaitStart { source: Some(Location::caller()), object: address, ..WaitStart::new(Operation::Lock) };
        let mut wait = actor.begin(&SystemClock, actor.region().switches(self.class), self.class, &start);
        let mut spins = 0;
        while self.taken.swap(true, Ordering::Acquire) {
            spins += 1;
            core::hint::spin_loop();
        }
        wait.set_amount(spins);
        let instance = actor.region().instance(self.instance);
        actor.end(&SystemClock, wait, instance.as_ref().map_or(Held::None, Held::Exclusive));
        work();
        self.taken.store(false, Ordering::Release);
    }
}

fn run(print: &mut dyn FnMut(core::fmt::Arguments<'_>)) -> Result<(), perfschema_core::RegionError> {
    let identity = Identity { program: "firmware", ..Identity::default() };
    let region = Region::create(MEMORY.words(), &CONFIG, &identity, &Timers::calibrate())?;
    let Ok(class) = region.register(BUS, Setting::OFF) else { return Ok(()) };
    region.enable_everything();
    let instance = region.create_instance(class, 0).unwrap_or_default();
    let bus = Bus { taken: AtomicBool::new(false), class, instance };

    // One actor for each core, and for each interrupt handler that records, which may come at any moment. Here one thread plays both cores.
    let first = Actor::attach(&region, &ActorIdentity { name: "thread/firmware/core_0", ..Default::default() });
    let second = Actor::attach(&region, &ActorIdentity { name: "thread/firmware/core_1", ..Default::default() });
    for _ in 0..5 {
        bus.with(&first, || core::hint::black_box(()));
        bus.with(&second, || core::hint::black_box(()));
    }

    print(format_args!("region: {} bytes\n", region.size_bytes()));
    region.scan(&tables::EventsWaitsSummaryByThreadByEventName, |row| {
        print(format_args!(
            "thread {}: {} waits at {}, {} ps\n",
            row.thread_id, row.count_star, row.event_name, row.sum_timer_wait
        ));
    });
    region.scan(&tables::EventsWaitsHistory, |row| {
        let (source, spins) = (row.source.unwrap_or_default(), row.spins.unwrap_or(0));
        print(format_args!("thread {}: event {} at {source}, {spins} spins\n", row.thread_id, row.event_id));
    });
    Ok(())
}

// A host's program needs std to start and to print.
extern crate std;

fn main() {
    if let Err(error) = run(&mut |text| std::print!("{text}")) {
        std::eprintln!("{error}");
    }
}
