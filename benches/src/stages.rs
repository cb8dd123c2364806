//! The paths of stages: from one to the next, with and without the clock that times them, and how far one is.

use crate::paths::{Bench, Path};
use perfschema::core::name::EventClass;
use perfschema::stage::Stage;
use perfschema::{Consumer, Region, Setting};
use perfschema_timer::TimerName;

static ONE: Stage = perfschema::stage!("stage/bench/one");
static OTHER: Stage = perfschema::stage!("stage/bench/other");

/// Both instruments are set so, and their stages timed by this timer.
fn set(region: &Region<'_>, setting: Setting, timer: TimerName) {
    for stage in [&ONE, &OTHER] {
        // Registered.
        stage.begin();
        stage.end();
    }
    Consumer::ALL.iter().for_each(|&consumer| region.set_consumer(consumer, true));
    region.set_event_timer(EventClass::Stage, timer);
    for name in ["stage/bench/one", "stage/bench/other"] {
        region.set_setting(region.find_class(name).expect("it is registered"), setting);
    }
}

fn off(bench: &Bench) {
    set(bench.region, Setting::OFF, TimerName::Nanosecond);
}

fn off_again(bench: &Bench) {
    set(bench.region, Setting::ON, TimerName::Nanosecond);
    off(bench);
}

fn untimed(bench: &Bench) {
    set(bench.region, Setting::COUNTED, TimerName::Nanosecond);
}

fn by_counter(bench: &Bench) {
    set(bench.region, Setting::ON, TimerName::Cycle);
}

fn by_clock(bench: &Bench) {
    set(bench.region, Setting::ON, TimerName::Nanosecond);
}

/// Each is the end of the one before.
fn stages(_: &Bench, count: u32) {
    for _ in 0..count / 2 {
        ONE.begin();
        OTHER.begin();
    }
}

fn progress(_: &Bench, count: u32) {
    ONE.begin();
    for _ in 0..count {
        ONE.add_work_completed(1);
    }
}

pub(crate) const STAGES: &[Path] = &[
    Path::new("Stage::begin", "off", off, stages).over("empty loop"),
    Path::new("Stage::begin", "untimed", untimed, stages).over("empty loop"),
    Path::new("Stage::begin", "CYCLE", by_counter, stages).over("empty loop"),
    Path::new("Stage::begin", "NANOSECOND", by_clock, stages).over("empty loop"),
    Path::new("Stage::begin", "off, once on", off_again, stages).over("empty loop"),
    Path::new("Stage::add_work_completed", "", by_clock, progress).over("empty loop"),
];
