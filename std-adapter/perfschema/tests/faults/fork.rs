//! Fork under load: child and parent both record on, each in a region of its own.

use crate::{AtLast, command, ends_in_time, small, succeeds};
use perfschema::sync::{Mutex, Once};
use perfschema::{Consumer, Process, attach, tables};
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static LOAD: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/load", ());
static OWN: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/own", ());
static CHILD: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/child", ());
static LATER: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/later", ());
static ONCE: Once = perfschema::once!("wait/synch/once/test/once");

fn count(region: &perfschema::Region<'_>, class: &str) -> u64 {
    let mut count = 0;
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| {
        count += if row.event_name.as_str().ends_with(class) { row.count_star } else { 0 };
    });
    count
}

fn count_in_histogram(region: &perfschema::Region<'_>, class: &str) -> u64 {
    let mut count = 0;
    region.scan(&tables::EventsWaitsHistogramByEventName, |row| {
        count += if row.event_name.as_str().ends_with(class) { row.count_bucket } else { 0 };
    });
    count
}

fn locks(lock: &Mutex<()>, count: u64) {
    for _ in 0..count {
        drop(lock.lock().unwrap());
    }
}

fn instruments(process: &Process) -> Vec<String> {
    let mut rows = Vec::new();
    process.region().scan(&tables::SetupInstruments, |row| rows.push(format!("{row:?}")));
    rows
}

/// Runs `child` in a child, whose success is checked.
pub(crate) fn forked(child: impl FnOnce() + std::panic::UnwindSafe) -> i32 {
    // SAFETY: glibc makes its own locks usable in the child, and the child leaves without running the parent's destructors.
    match unsafe { libc::fork() } {
        0 => {
            ends_in_time();
            let failed = catch_unwind(child).is_err();
            // SAFETY: it only ends the process.
            unsafe { libc::_exit(i32::from(failed)) }
        }
        pid => {
            assert!(pid > 0);
            pid
        }
    }
}

pub(crate) fn wait(pid: i32) {
    let mut status = 0;
    // SAFETY: a child of this process, and a place to write to.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    assert_eq!(status, 0, "the child failed");
}

/// The files of a process, whenever it started.
fn files(process: &Process, pid: u32) -> Vec<PathBuf> {
    let Some(Ok(file)) = process.shared_file() else { return Vec::new() };
    let files = std::fs::read_dir(file.parent().unwrap()).unwrap().map(|file| file.unwrap().path());
    files.filter(|file| file.file_name().unwrap().to_str().unwrap().starts_with(&format!("{pid}-"))).collect()
}

/// What the child of `parent` finds, and does.
fn child(process: &'static Process, parent: u32, setup: &[String], in_once: bool) {
    let region = process.region();
    assert_eq!((region.pid(), region.pid() == parent), (std::process::id(), false));
    let running = u64::from(in_once);
    // Nothing is left of what the parent recorded; what was set up is.
    let rows = |table: &'static dyn perfschema::core::table::Table| {
        let mut rows = 0;
        table.scan(region, &mut |_| rows += 1);
        rows
    };
    assert_eq!(rows(&tables::EventsWaitsCurrent), running, "what runs in this thread runs on");
    assert_eq!(rows(&tables::EventsWaitsHistory) + rows(&tables::EventsWaitsHistoryLong), 0);
    for class in ["load", "own", "child", "once"] {
        assert_eq!((count(region, class), count_in_histogram(region, class)), (0, 0), "{class}");
    }
    // The parent may have registered more before its region was copied.
    let kept = instruments(process);
    assert!(setup.iter().all(|row| kept.contains(row)), "{setup:?} {kept:?}");
    assert!(
        region.consumer_enabled(Consumer::EventsWaitsHistoryLong)
            && !region.consumer_enabled(Consumer::EventsWaitsSummaryByInstance)
    );
    // Four locks in use, the child's among them, and the once.
    assert!(rows(&tables::MutexInstances) >= 2);
    // The thread is the only one, and keeps its number; it records on.
    let mut threads = Vec::new();
    region.scan(&tables::Threads, |row| threads.push((row.thread_id, row.thread_os_id)));
    locks(&OWN, 25);
    locks(&LATER, 1);
    assert_eq!(threads, [(perfschema::thread::thread_id().unwrap(), Some(std::process::id().into()))]);
    assert_eq!((count(region, "own"), count(region, "later")), (25, 1));
    assert_eq!((count_in_histogram(region, "own"), count_in_histogram(region, "later")), (25, 1));
    let mut history = Vec::new();
    region.scan(&tables::EventsWaitsHistory, |row| history.push((row.event_id, row.event_name)));
    assert_eq!(history.len(), 10);
    assert!(history.iter().all(|(_, name)| name.as_str().ends_with("/own") || name.as_str().ends_with("/later")));
    // Threads come and go in it as in any program.
    for _ in 0..3 {
        std::thread::spawn(|| locks(&CHILD, 100)).join().unwrap();
    }
    assert_eq!((count(region, "child"), rows(&tables::Threads)), (300, 1));
    assert_eq!(count_in_histogram(region, "child"), 300);
    if let Some(file) = process.shared_file() {
        let attached = attach(file.unwrap()).unwrap();
        assert_eq!((attached.region().pid(), count(attached.region(), "child")), (std::process::id(), 300));
        // A child's child.
        wait(forked(|| {
            locks(&CHILD, 7);
            assert_eq!((count(process.region(), "child"), process.region().pid()), (7, std::process::id()));
            files(process, std::process::id()).iter().for_each(|file| std::fs::remove_file(file).unwrap());
        }));
        assert_eq!(count(attached.region(), "child"), 300);
    }
}

pub(crate) fn program() {
    let shared = crate::argument() == "shared";
    let process = small().share(shared).start().unwrap();
    process.region().set_consumer(Consumer::EventsWaitsSummaryByInstance, false);
    let file = process.shared_file().map(|file| file.unwrap());
    let (done, load, parent) = (AtomicBool::new(false), AtomicU64::new(0), std::process::id());
    locks(&CHILD, 1);
    ONCE.call_once(|| ());
    let mut own = 0;
    std::thread::scope(|scope| {
        let finished = AtLast(&done);
        let loaders = [(); 2].map(|()| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    drop(LOAD.lock().unwrap());
                    load.fetch_add(1, Ordering::Relaxed);
                }
            })
        });
        while load.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        for round in 0..6_u64 {
            locks(&OWN, round);
            own += round;
            if round == 3 {
                // What was counted before is kept apart, for the tables that were not truncated.
                for table in ["events_waits_summary_by_thread_by_event_name", "events_waits_histogram_by_event_name"] {
                    tables::find(table).unwrap().truncate(process.region()).unwrap();
                }
            }
            let in_once = round % 3 == 0;
            let mut pid = 0;
            let mut fork = || {
                let setup = instruments(process);
                pid = forked(|| child(process, parent, &setup, in_once));
            };
            if in_once {
                // The wait began in the parent, and ends in both.
                Once::new().call_once(fork);
            } else {
                fork();
            }
            // The same thread of the parent records on at once, while the child begins.
            locks(&OWN, 200);
            own += 200;
            wait(pid);
            assert_eq!(files(process, pid as u32).len(), usize::from(shared), "the child's region stays");
            files(process, pid as u32).iter().for_each(|file| std::fs::remove_file(file).unwrap());
            // A child that records nothing leaves nothing behind.
            let pid = forked(|| ());
            wait(pid);
            assert!(files(process, pid as u32).is_empty());
        }
        drop(finished);
        // A scope waits for what its threads do, not for their end.
        loaders.into_iter().for_each(|loader| loader.join().unwrap());
    });
    // The parent's totals are exact.
    let check = |region: &perfschema::Region<'_>| {
        assert_eq!(count(region, "load"), load.load(Ordering::Relaxed));
        assert_eq!((count(region, "own"), count(region, "child"), count(region, "later")), (own, 1, 0));
        assert_eq!((region.pid(), count(region, "std/Once")), (parent, 2));
        let mut threads = 0;
        region.scan(&tables::Threads, |_| threads += 1);
        assert_eq!(threads, 1);
    };
    check(process.region());
    if let Some(file) = file {
        check(attach(&file).unwrap().region());
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn a_child_of_a_shared_region_has_its_own() {
    succeeds(&mut command("fork", "shared"));
}

#[test]
fn a_child_of_a_private_region_has_its_own() {
    succeeds(&mut command("fork", "private"));
}
