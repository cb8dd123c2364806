//! The paths of statements: with and without their texts, digests and the clock that times them.

use crate::paths::{Bench, Path};
use perfschema::core::name::EventClass;
use perfschema::statement::Statement;
use perfschema::{Consumer, Region, Setting};
use perfschema_timer::TimerName;

const NAME: &str = "statement/bench/search";
static SEARCH: Statement = perfschema::statement!("statement/bench/search");

/// As long as most are.
const TEXT: &str = "SELECT name, price, stock FROM parts WHERE id = 4711 AND colour = 'red' ORDER BY name LIMIT 10";

/// The instrument is set so, its statements timed by this timer, and digested or not.
fn set(region: &Region<'_>, setting: Setting, timer: TimerName, digest: bool) {
    // Registered.
    drop(SEARCH.begin(""));
    Consumer::ALL.iter().for_each(|&consumer| region.set_consumer(consumer, true));
    region.set_consumer(Consumer::StatementsDigest, digest);
    region.set_event_timer(EventClass::Statement, timer);
    region.set_setting(region.find_class(NAME).expect("it is registered"), setting);
}

fn off(bench: &Bench) {
    set(bench.region, Setting::OFF, TimerName::Nanosecond, true);
}

fn untimed(bench: &Bench) {
    set(bench.region, Setting::COUNTED, TimerName::Nanosecond, false);
}

fn by_clock(bench: &Bench) {
    set(bench.region, Setting::ON, TimerName::Nanosecond, false);
}

fn digested(bench: &Bench) {
    set(bench.region, Setting::ON, TimerName::Nanosecond, true);
}

fn without_text(_: &Bench, count: u32) {
    for _ in 0..count {
        drop(SEARCH.begin(""));
    }
}

fn statements(_: &Bench, count: u32) {
    for _ in 0..count {
        SEARCH.begin(TEXT).add_rows_sent(10);
    }
}

pub(crate) const STATEMENTS: &[Path] = &[
    Path::new("Statement::begin", "off", off, statements).over("empty loop"),
    Path::new("Statement::begin", "untimed, no text", untimed, without_text).over("empty loop"),
    Path::new("Statement::begin", "untimed", untimed, statements).over("empty loop"),
    Path::new("Statement::begin", "NANOSECOND", by_clock, statements).over("empty loop"),
    Path::new("Statement::begin", "NANOSECOND, digest", digested, statements).over("empty loop"),
];
