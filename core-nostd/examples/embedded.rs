//! The core in a program without `std`: a region in a `static`, two levels that record, a table read back.
//!
//! Everything but the printing is what a microcontroller would run: no allocation, no operating system. The region's size is a constant,
//! so that a linker script or a compile error says when it does not fit.
#![no_std]

use perfschema_core::timer::{SystemClock, Timers};
use perfschema_core::{
    Actor, ActorIdentity, Class, Config, Held, Identity, InstanceId, InstrumentName, Operation, Region, Setting, Size, StaticRegion,
    WaitStart, tables,
};

const CONFIG: Config = Config::SMALL.with(Size::MaxThreadInstances, 2).with(Size::EventsWaitsHistorySize, 3);
const _: () = assert!(CONFIG.size_bytes() < 64 * 1024);
static MEMORY: StaticRegion<{ CONFIG.words() }> = StaticRegion::new();

const BUS: InstrumentName<'static> = InstrumentName::literal("wait/synch/mutex/firmware/spi_bus");

/// One use of the bus: the wait is visible while it lasts, and the bus shows who has it.
fn use_bus(actor: &Actor<'_>, class: Class, bus: InstanceId) {
    let region = actor.region();
    let switches = region.switches(class);
    if !switches.is_on() {
        return;
    }
    let start = WaitStart { source: Some(core::panic::Location::caller()), object: 0x4000_1000, ..WaitStart::new(Operation::Lock) };
    let wait = actor.begin(&SystemClock, switches, class, &start);
    // … here the code would spin until the bus is free …
    let instance = region.instance(bus);
    if let Some(instance) = &instance {
        instance.set_holder(actor.thread_id());
    }
    actor.end(&SystemClock, wait, instance.as_ref().map_or(Held::None, Held::Exclusive));
    if let Some(instance) = instance {
        instance.clear_holder();
    }
}

fn run(print: &mut dyn FnMut(core::fmt::Arguments<'_>)) -> Result<(), perfschema_core::RegionError> {
    let identity = Identity { program: "firmware", ..Identity::default() };
    let region = Region::create(MEMORY.words(), &CONFIG, &identity, &Timers::calibrate())?;
    let Ok(class) = region.register(BUS, Setting::OFF) else { return Ok(()) };
    region.enable_everything();
    let bus = region.create_instance(class, 0x4000_1000).unwrap_or_default();

    // One actor for each level that records: the main loop, and an interrupt that may come at any moment within it.
    let main = Actor::attach(&region, &ActorIdentity { name: "thread/firmware/main", ..Default::default() });
    let interrupt = Actor::attach(&region, &ActorIdentity { name: "thread/firmware/timer_interrupt", ..Default::default() });
    for _ in 0..5 {
        use_bus(&main, class, bus);
        use_bus(&interrupt, class, bus);
    }

    print(format_args!("region: {} bytes\n", region.size_bytes()));
    region.scan(&tables::EventsWaitsSummaryByThreadByEventName, |row| {
        print(format_args!("thread {}: {} waits at {}, {} ps\n", row.thread_id, row.count_star, row.event_name, row.sum_timer_wait));
    });
    region.scan(&tables::EventsWaitsHistory, |row| {
        let source = row.source.unwrap_or_default();
        print(format_args!("thread {}: event {} at {source}\n", row.thread_id, row.event_id));
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
