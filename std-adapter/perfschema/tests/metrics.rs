//! Metrics of a program: when they register, what they count from, in threads that come and go.
#![cfg(feature = "instrument")]

use perfschema::metric::{Counter, CounterSet, Gauge, Level, MonitorCommand, StatusCounter, now};
use perfschema::tables::{InnodbMetrics, InnodbMetricsRow};
use perfschema::{Lost, Process, Size};
use std::sync::{Barrier, OnceLock};
use std::time::Duration;

static EARLY: Counter = perfschema::counter!("early_reads", "early", "Counted before the process records, too");
static OFF: Counter = perfschema::counter!("never_switched", "test", "Off");
static ON: Counter = perfschema::counter!("declared_on", "test", "On from the start", enabled);
static STOPPED: Counter = perfschema::counter!("opt_off", "test", "Declared on, and switched off by an option", enabled);
static BY_OPTION: Counter = perfschema::counter!("opt_on", "test", "Switched on by an option");
static KEPT: StatusCounter = perfschema::status_counter!("rows_inserted", "test", "Kept by the program");
static COPIED: StatusCounter = perfschema::status_counter!("rows_updated", "test", "Kept elsewhere");
static OPEN: Level = perfschema::level!("late_open_files", "test", "Files that are open");
static DELAY: Gauge = perfschema::gauge!("delay", "test", "Microseconds");
static FLUSHED: CounterSet =
    perfschema::counter_set!(("set_pages", "set", "Pages flushed"), ("set_batches", "set", "Number of flush batches"));
static TIME: Counter = perfschema::counter!("late_usec", "test", "Microseconds");

fn process() -> &'static Process {
    static PROCESS: OnceLock<&Process> = OnceLock::new();
    PROCESS.get_or_init(|| {
        // Nothing is there to count in, and nothing is registered.
        EARLY.inc();
        KEPT.inc();
        OPEN.add(1);
        let builder = perfschema::builder()
            .environment(false)
            .size(Size::MaxThreadInstances, 3)
            .size(Size::MaxMetrics, 14)
            .monitor_enable(" module_early;late%,, set_%\n")
            .options("loose-innodb_monitor_enable=\"opt%;nobody\"; innodb-monitor-disable=opt_off");
        builder.start().expect("it starts")
    })
}

fn row(name: &str) -> Option<InnodbMetricsRow> {
    let mut found = None;
    process().region().scan(&InnodbMetrics::NOW, |row| {
        if row.name == name {
            found = Some(row.clone());
        }
    });
    found
}

#[track_caller]
fn check(name: &str, count: i64, status: &str) {
    let row = row(name).expect("it was used");
    assert_eq!((row.count, row.status), (count, status), "{name}");
}

fn monitor(command: MonitorCommand, target: &str) {
    process().region().monitor(command, target, now(), |_| ()).expect("it is there");
}

#[test]
fn a_metric_registers_at_its_first_use() {
    process();
    assert!(row("early_reads").is_none());
    EARLY.inc();
    EARLY.add(2);
    check("early_reads", 3, "enabled");
    let early = row("early_reads").expect("it was used");
    assert_eq!((early.subsystem.as_str(), early.metric_type), ("early", "counter"));
    assert!(early.comment.as_str().starts_with("Counted before"));
    // Off, and there after its first use, so that it can be switched on.
    assert!(!OFF.is_on() && row("never_switched").is_some());
    OFF.inc();
    OFF.add(5);
    check("never_switched", 0, "disabled");
    ON.inc();
    check("declared_on", 1, "enabled");
    STOPPED.inc();
    check("opt_off", 0, "disabled");
    BY_OPTION.inc();
    check("opt_on", 1, "enabled");
}

#[test]
fn what_is_kept_is_right_when_it_is_switched_on() {
    process();
    OPEN.add(4);
    OPEN.sub(1);
    check("late_open_files", 3, "enabled");
    let open = row("late_open_files").expect("it was used");
    assert_eq!((open.max_count, open.min_count, open.metric_type), (Some(4), Some(0), "value"));
    KEPT.add(10);
    COPIED.set(1000);
    for name in ["rows_inserted", "rows_updated"] {
        check(name, 0, "disabled");
        monitor(MonitorCommand::Enable, name);
    }
    KEPT.inc();
    COPIED.set(1007);
    check("rows_inserted", 1, "enabled");
    check("rows_updated", 7, "enabled");
    // One that is counted while it is on begins at nothing.
    DELAY.add(3);
    check("delay", 0, "disabled");
    monitor(MonitorCommand::Enable, "delay");
    DELAY.set(500);
    DELAY.sub(200);
    check("delay", 300, "enabled");
    assert!(DELAY.is_on());
}

#[test]
fn a_set_counts_how_much_and_how_often() {
    process();
    FLUSHED.add(7);
    FLUSHED.add(1);
    check("set_pages", 8, "enabled");
    check("set_batches", 2, "enabled");
    let pages = row("set_pages").expect("it was used");
    assert_eq!((pages.avg_count, pages.metric_type), (Some(4.0), "set_owner"));
    monitor(MonitorCommand::Disable, "set_pages");
    FLUSHED.add(100);
    check("set_pages", 8, "disabled");
    check("set_batches", 3, "enabled");
    monitor(MonitorCommand::Disable, "set_batches");
    FLUSHED.add(100);
    check("set_batches", 3, "disabled");
}

#[test]
fn time_is_counted_in_microseconds() {
    process();
    let timing = TIME.time_in_micro_secs();
    std::thread::sleep(Duration::from_millis(20));
    drop(timing);
    let usec = row("late_usec").expect("it was used").count;
    assert!((20_000..20_000_000).contains(&usec), "{usec}");
}

/// Past a full pool, to the last destructors of threads, and under one name from two places.
#[test]
fn ended_threads_count_once() {
    static OTHER_PLACE: Counter = perfschema::counter!("late_threads", "test", "");
    static COUNTED: Counter = perfschema::counter!("late_threads", "test", "Counts of threads");
    struct InDestructor;
    impl Drop for InDestructor {
        fn drop(&mut self) {
            OTHER_PLACE.inc();
        }
    }
    thread_local! {
        static LAST: InDestructor = const { InDestructor };
    }
    process();
    let (rounds, threads) = if cfg!(miri) { (2, 5) } else { (20, 8) };
    for _ in 0..rounds {
        let all = Barrier::new(threads);
        std::thread::scope(|scope| {
            let work = || {
                LAST.with(|_| ());
                (0..100).for_each(|_| COUNTED.inc());
                all.wait();
                (0..100).for_each(|_| OTHER_PLACE.inc());
            };
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            // Not only the end of the scope, which does not wait for destructors.
            threads.into_iter().for_each(|thread| thread.join().expect("it does not panic"));
        });
    }
    let lost = process().region().lost(Lost::ThreadInstances);
    assert!(lost >= rounds * (threads as u64 - 3), "{lost}");
    check("late_threads", rounds as i64 * threads as i64 * 201, "enabled");
}
