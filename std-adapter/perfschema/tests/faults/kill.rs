//! `kill -9` in the middle of writing, again and again; programs that are stopped; readers that are stopped.

use crate::{Running, argument, numbers, scratch, start_shared};
use perfschema::sync::Mutex;
use perfschema::thread::{ThreadType, attach_as};
use perfschema::{Lost, Region, attach, tables};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const THREADS: usize = 3;
const HISTORY: u64 = 10;
const CLASS: &str = "wait/synch/mutex/test/own";
static INSTRUMENT: perfschema::Instrument = perfschema::Instrument::new(CLASS);

/// Each thread locks a mutex of its own for ever, and says how many waits have ended.
pub(crate) fn writer() {
    start_shared();
    let ended = numbers(Path::new(&argument()));
    std::thread::scope(|scope| {
        for (number, ended) in ended.iter().enumerate().take(THREADS) {
            scope.spawn(move || {
                assert!(attach_as(&format!("thread/test/writer-{number}"), ThreadType::Background, "", ""));
                let own = Mutex::with_instrument(&INSTRUMENT, ());
                for count in 1.. {
                    drop(own.lock().unwrap());
                    ended.store(count, Ordering::Release);
                }
            });
        }
    });
}

/// Reads somebody's tables for ever.
pub(crate) fn reader() {
    let attached = attach(argument()).unwrap();
    println!("\nfile none");
    loop {
        scan_all(attached.region());
    }
}

/// Every row of every table is one that its schema allows, and every account closes. Returns how many places were changing.
fn scan_all(region: &Region<'_>) -> u64 {
    let mut changed = 0;
    for table in tables::ALL {
        let declaration = table.declaration();
        let sweep = table.scan(region, &mut |row| {
            for (column, declared) in declaration.columns.iter().enumerate() {
                assert!(declared.holds(&row.cell(column)), "{}", declaration.name);
            }
        });
        assert_eq!(sweep.rows + sweep.free + sweep.skipped + sweep.changed, sweep.places, "{}", declaration.name);
        changed += sweep.changed + sweep.skipped;
    }
    changed
}

/// What a program wrote that writes no more: every event that had ended is there, whole, and at most one more of each thread.
fn check(region: &Region<'_>, ended: &[AtomicU64]) {
    let mut threads = Vec::new();
    region.scan(&tables::Threads, |row| {
        if let Some(number) = row.name.as_str().strip_prefix("thread/test/writer-") {
            threads.push((row.thread_id, number.parse::<usize>().unwrap()));
        }
    });
    let mut counted = 0;
    for (thread_id, number) in threads {
        let ended = ended[number].load(Ordering::Acquire);
        let mut addresses = Vec::new();
        let (mut history, mut times) = (Vec::new(), Vec::new());
        let mut whole = |row: &tables::EventsWaitsRow| {
            let (start, end) = (row.timer_start.unwrap(), row.timer_end);
            assert_eq!((row.event_name.as_str(), row.operation, row.spins), (CLASS, "lock", None), "{row:?}");
            assert!(row.source.is_some_and(|source| source.as_str().starts_with("kill.rs:")), "{row:?}");
            assert_eq!((row.nesting_event_id, row.thread_id), (None, thread_id), "{row:?}");
            assert_eq!(row.end_event_id, end.map(|_| row.event_id), "{row:?}");
            // Zero is what an end that is not the event's own shows as.
            assert!(end.is_none_or(|end| end > start), "{row:?}");
            addresses.push(row.object_instance_begin);
        };
        let sweep = region.scan(&tables::EventsWaitsHistory, |row| {
            if row.thread_id == thread_id {
                whole(row);
                history.push(row.event_id);
                times.push((row.timer_start, row.timer_end));
            }
        });
        assert!(sweep.changed <= THREADS as u64, "one odd record of each thread: {sweep:?}");
        region.scan(&tables::EventsWaitsCurrent, |row| {
            if row.thread_id == thread_id {
                whole(row);
                assert!((ended..=ended + 2).contains(&row.event_id), "{row:?} after {ended}");
            }
        });
        history.sort_unstable();
        times.sort_unstable();
        assert!(times.windows(2).all(|pair| pair[0].1 <= pair[1].0), "one after the other: {times:?}");
        let last = history.last().copied().unwrap_or(0);
        // One may have ended that was not announced yet.
        assert!((ended..=ended + 1).contains(&last), "{history:?} after {ended}");
        assert_eq!(history, (last.saturating_sub(HISTORY) + 1..=last).collect::<Vec<_>>(), "after {ended}");
        addresses.dedup();
        assert!(addresses.len() <= 1, "a mutex of its own: {addresses:?}");
        let mut by_thread = None;
        region.scan(&tables::EventsWaitsSummaryByThreadByEventName, |row| {
            if row.thread_id == thread_id && row.event_name == CLASS {
                by_thread = Some(row.count_star);
            }
        });
        // None: stopped in the middle of counting, which shows.
        assert!(by_thread.is_none_or(|count| (ended..=ended + 1).contains(&count)), "{by_thread:?} after {ended}");
        counted += ended;
    }
    let mut global = 0;
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| {
        global += if row.event_name == CLASS { row.count_star } else { 0 };
    });
    assert!((counted..=counted + THREADS as u64).contains(&global), "{global} after {counted}");
    scan_all(region);
}

#[test]
fn killed_in_the_middle_of_writing() {
    let kills = std::env::var("PERFSCHEMA_KILLS").map_or(20, |kills| kills.parse().unwrap());
    let counters = scratch("killed");
    let ended = numbers(&counters);
    let (mut events, mut random) = (0, 0x2545_f491_4f6c_dd1d_u64);
    for _ in 0..kills {
        ended.iter().for_each(|ended| ended.store(0, Ordering::Relaxed));
        let mut running = Running::start("writer", counters.to_str().unwrap());
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(Duration::from_micros(random >> 52));
        running.kill();
        let attached = attach(&running.file).unwrap();
        check(attached.region(), ended);
        events += ended.iter().map(|ended| ended.load(Ordering::Relaxed)).sum::<u64>();
    }
    let _ = std::fs::remove_file(counters);
    assert!(events > kills * 100, "{events} events of {kills} programs");
}

#[test]
fn stopped_programs_are_read_and_stopped_readers_disturb_nobody() {
    let counters = scratch("stopped");
    let ended = numbers(&counters);
    let mut writer = Running::start("writer", counters.to_str().unwrap());
    let attached = attach(&writer.file).unwrap();
    let mut reader = Running::start("reader", writer.file.to_str().unwrap());
    let total = || ended.iter().map(|ended| ended.load(Ordering::Relaxed)).sum::<u64>();
    let wait = |more: u64| {
        let from = total();
        let start = std::time::Instant::now();
        while total() < from + more {
            assert!(start.elapsed() < Duration::from_secs(20), "the writer does not go on");
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    for round in 0..5 {
        // Stopped wherever it is, most likely in the middle of a scan, with the file mapped.
        reader.signal(libc::SIGSTOP);
        wait(5_000);
        scan_all(attached.region());
        // A stopped program is read as a dead one is, and goes on.
        writer.signal(libc::SIGSTOP);
        while state(&writer) != 'T' {
            std::thread::yield_now();
        }
        check(attached.region(), ended);
        let before = total();
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(total(), before, "stopped");
        writer.signal(libc::SIGCONT);
        if round == 3 {
            reader.kill();
            reader = Running::start("reader", writer.file.to_str().unwrap());
        } else {
            reader.signal(libc::SIGCONT);
        }
        wait(5_000);
    }
    for &lost in Lost::ALL {
        assert_eq!(attached.region().lost(lost), 0, "{lost:?}");
    }
    writer.kill();
    check(attached.region(), ended);
    let _ = std::fs::remove_file(counters);
}

/// The letter of /proc that says what all of a process does.
fn state(running: &Running) -> char {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", running.process.id())).unwrap();
    let mut states = tasks.map(|task| {
        let stat = std::fs::read_to_string(task.unwrap().path().join("stat")).unwrap();
        stat.rsplit(')').next().unwrap().trim().chars().next().unwrap()
    });
    let first = states.next().unwrap();
    if states.all(|state| state == first) { first } else { '?' }
}
