//! The paths that are measured, each a loop of its own so that the compiler sees what it would see in a program.

use perfschema::sync::Mutex;
use perfschema::{Consumer, Region, Setting};
use perfschema_core::{Actor, ActorIdentity, Class, Held, InstrumentName, Operation, WaitStart, Word};
use perfschema_timer::{Clock, SystemClock, TimerName};
use std::hint::black_box;
use std::panic::Location;
use std::time::Instant;

/// What all paths work on.
pub(crate) struct Bench {
    region: &'static Region<'static>,
    actor: Actor<'static>,
    event: Class,
    /// The word that switches `event`, as an instrumentation point keeps it.
    switch: &'static Word,
    mutex: Mutex<u64>,
    plain: std::sync::Mutex<u64>,
}

/// One path.
pub(crate) struct Path {
    pub(crate) name: &'static str,
    pub(crate) variant: &'static str,
    /// Sets the switches.
    pub(crate) prepare: fn(&Bench),
    /// Runs so many events.
    pub(crate) run: fn(&Bench, u32),
    /// What is promised: the ratio to a bare timer pair.
    pub(crate) limit: Option<f64>,
    /// The path whose cost is subtracted before.
    pub(crate) over: Option<&'static str>,
}

const EVENT: InstrumentName<'static> = InstrumentName::literal("wait/synch/mutex/bench/event");
const MUTEX: &str = "wait/synch/mutex/bench/mutex";

impl Bench {
    pub(crate) fn start() -> Bench {
        let process =
            perfschema::builder().environment(false).start().expect("nothing started it before, and the sizes are the defaults");
        let region = process.region();
        let event = region.register(EVENT, Setting::OFF).expect("the first instrument finds room");
        let identity = ActorIdentity { name: "thread/bench/actor", ..Default::default() };
        let bench = Bench {
            region,
            actor: Actor::attach(region, &identity),
            event,
            switch: region.switch_word(event).expect("a registered class has one"),
            mutex: perfschema::mutex!("wait/synch/mutex/bench/mutex", 0),
            plain: std::sync::Mutex::new(0),
        };
        // Registers the mutex's instrument.
        drop(bench.mutex.lock());
        bench
    }

    fn set(&self, setting: Setting, consumers: &[Consumer]) {
        for &consumer in Consumer::ALL {
            self.region.set_consumer(consumer, consumers.contains(&consumer));
        }
        for class in self.region.classes() {
            self.region.set_setting(class, setting);
        }
        debug_assert!(self.region.find_class(MUTEX).is_some());
    }
}

const SUMMARY: &[Consumer] = &[Consumer::GlobalInstrumentation, Consumer::ThreadInstrumentation];
const VISIBLE: &[Consumer] = &[
    Consumer::GlobalInstrumentation,
    Consumer::ThreadInstrumentation,
    Consumer::EventsWaitsCurrent,
    Consumer::EventsWaitsHistory,
];

const HISTOGRAM: &[Consumer] =
    &[Consumer::GlobalInstrumentation, Consumer::ThreadInstrumentation, Consumer::EventsWaitsHistogram];
const LONG: &[Consumer] = &[
    Consumer::GlobalInstrumentation,
    Consumer::ThreadInstrumentation,
    Consumer::EventsWaitsCurrent,
    Consumer::EventsWaitsHistory,
    Consumer::EventsWaitsHistoryLong,
];

#[inline(always)]
fn event(bench: &Bench) {
    let switches = bench.switch.switches();
    if switches.is_on() {
        let start = WaitStart { operation: Operation::Lock, object: 1, source: Some(Location::caller()), amount: 0 };
        let wait = bench.actor.begin(&SystemClock, switches, bench.event, &start);
        bench.actor.end(&SystemClock, wait, Held::None);
    }
}

fn events(bench: &Bench, count: u32) {
    for _ in 0..count {
        event(black_box(bench));
    }
}

fn chained(bench: &Bench, count: u32) {
    let switches = bench.switch.switches();
    let start = WaitStart { operation: Operation::Lock, object: 1, source: Some(Location::caller()), amount: 0 };
    let mut wait = bench.actor.begin(&SystemClock, switches, bench.event, &start);
    for _ in 1..count {
        let bench = black_box(bench);
        let switches = bench.switch.switches();
        wait = bench.actor.chain(&SystemClock, wait, Held::None, switches, bench.event, &start);
    }
    bench.actor.end(&SystemClock, wait, Held::None);
}

/// About 250 cycles of multiplications, each waiting for the one before.
#[inline(always)]
fn busy() {
    let mut x = black_box(3_u64);
    for _ in 0..90 {
        x = x.wrapping_mul(6_364_136_223_846_793_005).rotate_left(5);
    }
    black_box(x);
}

fn busy_events(bench: &Bench, count: u32) {
    for _ in 0..count {
        let bench = black_box(bench);
        let switches = bench.switch.switches();
        let start = WaitStart { operation: Operation::Lock, object: 1, source: Some(Location::caller()), amount: 0 };
        let wait = bench.actor.begin(&SystemClock, switches, bench.event, &start);
        busy();
        bench.actor.end(&SystemClock, wait, Held::None);
    }
}

fn busy_timer_pairs(_: &Bench, count: u32) {
    for _ in 0..count {
        black_box(SystemClock.ticks(TimerName::Cycle));
        busy();
        black_box(SystemClock.ticks(TimerName::Cycle));
    }
}

fn locks(bench: &Bench, count: u32) {
    for _ in 0..count {
        if let Ok(mut guard) = black_box(&bench.mutex).lock() {
            *guard = guard.wrapping_add(1);
        }
    }
}

fn plain_locks(bench: &Bench, count: u32) {
    for _ in 0..count {
        if let Ok(mut guard) = black_box(&bench.plain).lock() {
            *guard = guard.wrapping_add(1);
        }
    }
}

fn timer_pairs(_: &Bench, count: u32) {
    for _ in 0..count {
        black_box(SystemClock.ticks(TimerName::Cycle));
        black_box(SystemClock.ticks(TimerName::Cycle));
    }
}

fn instant_pairs(_: &Bench, count: u32) {
    for _ in 0..count {
        let start = Instant::now();
        black_box(start.elapsed());
    }
}

fn empty(bench: &Bench, count: u32) {
    for _ in 0..count {
        black_box(bench);
    }
}

/// All paths; those that others are compared with come first.
pub(crate) const PATHS: &[Path] = &[
    Path { name: "timer pair", variant: "", prepare: |_| (), run: timer_pairs, limit: None, over: None },
    Path { name: "empty loop", variant: "", prepare: |_| (), run: empty, limit: None, over: None },
    Path { name: "Instant pair", variant: "", prepare: |_| (), run: instant_pairs, limit: None, over: None },
    Path {
        name: "event",
        variant: "off",
        prepare: |bench| bench.set(Setting::OFF, &[]),
        run: events,
        limit: Some(0.05),
        over: Some("empty loop"),
    },
    Path {
        name: "event",
        variant: "untimed, summary",
        prepare: |bench| bench.set(Setting::COUNTED, SUMMARY),
        run: events,
        limit: None,
        over: None,
    },
    Path {
        name: "event",
        variant: "untimed, visible, history",
        prepare: |bench| bench.set(Setting::COUNTED, VISIBLE),
        run: events,
        limit: None,
        over: None,
    },
    Path {
        name: "event",
        variant: "timed, summary",
        prepare: |bench| bench.set(Setting::ON, SUMMARY),
        run: events,
        limit: Some(1.3),
        over: None,
    },
    Path {
        name: "event",
        variant: "timed, visible, history",
        prepare: |bench| bench.set(Setting::ON, VISIBLE),
        run: events,
        limit: Some(1.3),
        over: None,
    },
    Path {
        name: "event",
        variant: "timed, histogram",
        prepare: |bench| bench.set(Setting::ON, HISTOGRAM),
        run: events,
        limit: None,
        over: None,
    },
    Path {
        name: "event",
        variant: "timed, long history",
        prepare: |bench| bench.set(Setting::ON, LONG),
        run: events,
        limit: None,
        over: None,
    },
    Path {
        name: "event",
        variant: "everything on",
        prepare: |bench| bench.set(Setting::ON, Consumer::ALL),
        run: events,
        limit: None,
        over: None,
    },
    Path {
        name: "chained events",
        variant: "everything on",
        prepare: |bench| bench.set(Setting::ON, Consumer::ALL),
        run: chained,
        limit: None,
        over: None,
    },
    Path { name: "busy body, timer pair", variant: "", prepare: |_| (), run: busy_timer_pairs, limit: None, over: None },
    Path {
        name: "busy body, event",
        variant: "timed, visible, history",
        prepare: |bench| bench.set(Setting::ON, VISIBLE),
        run: busy_events,
        limit: None,
        over: None,
    },
    Path {
        name: "busy body, event",
        variant: "everything on",
        prepare: |bench| bench.set(Setting::ON, Consumer::ALL),
        run: busy_events,
        limit: None,
        over: None,
    },
    Path { name: "std Mutex", variant: "", prepare: |_| (), run: plain_locks, limit: None, over: None },
    Path {
        name: "perfschema Mutex",
        variant: "off",
        prepare: |bench| bench.set(Setting::OFF, &[]),
        run: locks,
        limit: Some(0.05),
        over: Some("std Mutex"),
    },
    Path {
        name: "perfschema Mutex",
        variant: "timed, visible, history",
        prepare: |bench| bench.set(Setting::ON, VISIBLE),
        run: locks,
        limit: Some(1.3),
        over: Some("std Mutex"),
    },
    Path {
        name: "perfschema Mutex",
        variant: "everything on",
        prepare: |bench| bench.set(Setting::ON, Consumer::ALL),
        run: locks,
        limit: None,
        over: None,
    },
];
