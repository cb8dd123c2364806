//! The paths of metrics: counters and values, off and on, beside the atomic that one would use instead.

use crate::paths::{Bench, Path};
use perfschema::metric::{Counter, Level, MonitorCommand, now};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

static COUNTER: Counter = perfschema::counter!("bench_counter", "bench", "Counts of a batch");
static LEVEL: Level = perfschema::level!("bench_level", "bench", "Changes of a batch");
static ATOMIC: AtomicU64 = AtomicU64::new(0);

fn switch(bench: &Bench, command: MonitorCommand) {
    // Registered.
    COUNTER.inc();
    LEVEL.add(0);
    bench.region.monitor(command, "module_bench", now(), |_| ()).expect("they are registered");
}

fn off(bench: &Bench) {
    switch(bench, MonitorCommand::Disable);
}

fn on(bench: &Bench) {
    switch(bench, MonitorCommand::Enable);
}

fn counts(_: &Bench, count: u32) {
    for _ in 0..count {
        COUNTER.inc();
    }
}

fn changes(_: &Bench, count: u32) {
    // Up and down, as connections come and go: no new extreme.
    for change in 0..i64::from(count) {
        LEVEL.add(black_box(change & 1) * 2 - 1);
    }
}

fn adds(_: &Bench, count: u32) {
    for _ in 0..count {
        black_box(&ATOMIC).fetch_add(1, Ordering::Relaxed);
    }
}

pub(crate) const METRICS: &[Path] = &[
    Path::new("AtomicU64::fetch_add", "", |_| (), adds).over("empty loop"),
    Path::new("Counter::inc", "off", off, counts).over("empty loop").instructions(4.0),
    Path::new("Counter::inc", "on", on, counts).over("empty loop").instructions(48.0),
    Path::new("Level::add", "off", off, changes).over("empty loop"),
    Path::new("Level::add", "on", on, changes).over("empty loop"),
];
