//! The paths of transactions: what one costs around nothing.

use crate::paths::{Bench, Path};
use perfschema::core::name::EventClass;
use perfschema::{Consumer, Region, Setting, transaction};
use perfschema_timer::TimerName;

fn set(region: &Region<'_>, setting: Setting) {
    // Registered.
    transaction::begin().commit();
    Consumer::ALL.iter().for_each(|&consumer| region.set_consumer(consumer, true));
    region.set_event_timer(EventClass::Transaction, TimerName::Nanosecond);
    region.set_setting(region.find_class("transaction").expect("it is registered"), setting);
}

fn off(bench: &Bench) {
    set(bench.region, Setting::OFF);
}

fn untimed(bench: &Bench) {
    set(bench.region, Setting::COUNTED);
}

fn by_clock(bench: &Bench) {
    set(bench.region, Setting::ON);
}

fn transactions(_: &Bench, count: u32) {
    for _ in 0..count {
        transaction::begin().commit();
    }
}

pub(crate) const TRANSACTIONS: &[Path] = &[
    Path::new("transaction::begin", "off", off, transactions).over("empty loop"),
    Path::new("transaction::begin", "untimed", untimed, transactions).over("empty loop"),
    Path::new("transaction::begin", "NANOSECOND", by_clock, transactions).over("empty loop"),
];
