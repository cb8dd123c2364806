//! What the tables say of threads that are started, joined, parked and that sleep.
#![cfg(feature = "instrument")]

mod common;

use perfschema::alloc::Allocator;
use perfschema::sync::Mutex;
use perfschema::thread::{self, Builder, thread_id};
use perfschema::{Region, tables, task};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::{Barrier, MutexGuard, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

// What a thread allocates before anything else is counted, too.
#[global_allocator]
static ALLOCATOR: Allocator = perfschema::allocator!("memory/test/heap");
static LOCK: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/LOCK", ());

/// The region, and that no other test uses it meanwhile.
fn region() -> (&'static Region<'static>, MutexGuard<'static, ()>) {
    let (region, alone) = common::alone(|| {
        let builder = perfschema::builder().everything(true).environment(false);
        builder.options("performance-schema-instrument='memory/%=ON'").start().unwrap().region()
    });
    // They are there.
    thread::spawn(|| thread::park_timeout(Duration::ZERO)).join().unwrap();
    thread::sleep(Duration::ZERO);
    region.enable_everything();
    for table in tables::ALL.iter().filter(|table| table.declaration().name.starts_with("events_waits_")) {
        table.truncate(region).unwrap();
    }
    (region, alone)
}

/// How many of join, park and sleep have ended.
fn counts(region: &Region<'_>) -> [u64; 3] {
    ["join", "park", "sleep"].map(|name| {
        let class = region.find_class(&format!("wait/synch/thread/std/{name}")).unwrap();
        region.summary_by_event_name(class).count
    })
}

/// Operation and SOURCE of what threads of this name wait for.
fn running(region: &Region<'_>, name: &str) -> Vec<(&'static str, String)> {
    let mut ids = Vec::new();
    region.scan(&tables::Threads, |row| ids.extend(row.name.as_str().ends_with(name).then_some(row.thread_id)));
    let mut rows = Vec::new();
    region.scan(&tables::EventsWaitsCurrent, |row| {
        if row.end_event_id.is_none() && ids.contains(&row.thread_id) {
            rows.push((row.operation, row.source.unwrap().to_string()));
        }
    });
    rows
}

/// Who has started the thread, and what it is called.
fn row_of(region: &Region<'_>, id: Option<u64>) -> (Option<u64>, String) {
    let mut found = None;
    region.scan(&tables::Threads, |row| {
        if Some(row.thread_id) == id {
            found = Some((row.parent_thread_id, row.name.as_str().rsplit('/').next().unwrap().to_owned()));
        }
    });
    found.unwrap()
}

/// What a thread says of itself while it runs, having waited for something.
fn own_row(region: &Region<'_>) -> (Option<u64>, String) {
    drop(LOCK.lock());
    row_of(region, thread_id())
}

/// Of which Linux keeps a part.
const LONG: &str = "a name of more than fifteen bytes";

#[test]
fn threads_say_who_has_started_them() {
    let (region, _alone) = region();
    let own = thread_id();
    let named = |name: &str| Builder::new().name(name.into());
    let rows = [
        thread::spawn(|| own_row(region)).join().unwrap(),
        named("named").spawn(|| own_row(region)).unwrap().join().unwrap(),
        thread::scope(|scope| scope.spawn(|| own_row(region)).join().unwrap()),
        thread::scope(|scope| named("scoped").spawn_scoped(scope, || own_row(region)).unwrap().join().unwrap()),
        named(LONG).spawn(|| own_row(region)).unwrap().join().unwrap(),
        thread::scope(|scope| named(LONG).spawn_scoped(scope, || own_row(region)).unwrap().join().unwrap()),
        // SAFETY: it is joined.
        unsafe { named(LONG).spawn_unchecked(|| own_row(region)) }.unwrap().join().unwrap(),
    ];
    let names = [None, Some("named"), None, Some("scoped"), Some(LONG), Some(LONG), Some(LONG)];
    for ((parent, name), expected) in rows.into_iter().zip(names) {
        assert_eq!(parent, own);
        assert!(expected.is_none_or(|expected| name == expected), "{name}");
    }
    let (child, grandchild) =
        thread::spawn(|| (thread_id(), thread::spawn(|| own_row(region).0).join().unwrap())).join().unwrap();
    assert!(child.is_some() && child != own);
    assert_eq!(grandchild, child);
    // What it calls itself changes nothing of that.
    let attached = thread::spawn(|| {
        let is_named = thread::attach_as("thread/test/attached", thread::ThreadType::Background, "", "");
        (is_named, own_row(region))
    });
    assert_eq!(attached.join().unwrap(), (true, (own, "attached".into())));
    let attached =
        named(LONG).spawn(|| (thread::attach_as("thread/test/own", thread::ThreadType::Background, "", ""), own_row(region)));
    assert_eq!(attached.unwrap().join().unwrap(), (true, (own, "own".into())));
    // std's do not say it.
    assert_eq!(std::thread::spawn(|| own_row(region).0).join().unwrap(), None);
    // Of what an attached task starts that is the task.
    let mut task =
        pin!(task::attach("task/test/spawner", async { (thread_id(), thread::spawn(|| own_row(region).0).join().unwrap()) }));
    let Poll::Ready((task, child)) = task.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { panic!("it is ready") };
    assert!(task.is_some() && task != own);
    assert_eq!(child, task);
}

/// Looks until a thread of this name waits so.
#[track_caller]
fn wait_for(region: &Region<'_>, name: &str, operation: &'static str, line: u32) {
    let expected = [(operation, format!("thread_waits.rs:{line}"))];
    let start = Instant::now();
    while running(region, name) != expected {
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", running(region, name));
        std::thread::yield_now();
    }
}

#[test]
fn waits_are_seen_while_they_last() {
    let (region, _alone) = region();
    let waiter = |wait: fn()| Builder::new().name("waiter".into()).spawn(wait).unwrap();
    let before = counts(region);
    let sleeps = waiter(|| thread::sleep(Duration::from_secs(2)));
    wait_for(region, "waiter", "sleep", line!() - 1);
    assert_eq!(counts(region), before);
    sleeps.join().unwrap();
    let after_sleep = counts(region);
    assert_eq!(after_sleep, [before[0] + 1, before[1], before[2] + 1]);

    let parks = waiter(thread::park);
    // A function that is passed on has no line but its own.
    while running(region, "waiter").first().is_none_or(|(operation, _)| *operation != "park") {
        std::thread::yield_now();
    }
    parks.thread().unpark();
    parks.join().unwrap();
    let parks = waiter(|| thread::park_timeout(Duration::from_secs(3600)));
    wait_for(region, "waiter", "park", line!() - 1);
    parks.thread().unpark();
    parks.join().unwrap();
    assert_eq!(counts(region), [before[0] + 3, before[1] + 2, before[2] + 1]);

    let (end, ends) = mpsc::channel::<()>();
    let joined = std::thread::spawn(move || ends.recv().is_err());
    let joins = Builder::new().name("waiter".into());
    let joins = joins.spawn(move || thread::scope(|_| thread::spawn(move || joined.join().unwrap()).join().unwrap())).unwrap();
    wait_for(region, "waiter", "join", line!() - 1);
    drop(end);
    assert!(joins.join().unwrap());
    assert_eq!(running(region, "waiter"), []);
    // That of the thread, of its own, and the end of the scope.
    assert_eq!(counts(region), [before[0] + 6, before[1] + 2, before[2] + 1]);
}

#[test]
fn the_end_of_a_scope_is_a_join_also_after_a_panic() {
    let (region, _alone) = region();
    for panics in [false, true] {
        let before = counts(region);
        let (end, ends) = mpsc::channel::<()>();
        let line = line!() + 3;
        let scope = Builder::new().name("scope".into()).spawn(move || {
            catch_unwind(AssertUnwindSafe(|| {
                thread::scope(|scope| {
                    scope.spawn(move || ends.recv().is_err());
                    if panics {
                        resume_unwind(Box::new(()));
                    }
                });
            }))
            .is_err()
        });
        wait_for(region, "scope", "join", line);
        drop(end);
        assert_eq!(scope.unwrap().join().unwrap(), panics);
        assert_eq!(counts(region), [before[0] + 2, before[1], before[2]]);
    }
    assert_eq!(running(region, ""), []);
}

#[test]
fn a_join_that_brings_a_panic_is_one() {
    let (region, _alone) = region();
    let before = counts(region);
    let panics: thread::JoinHandle<()> = thread::spawn(|| resume_unwind(Box::new(())));
    assert!(panics.join().is_err());
    assert_eq!(counts(region), [before[0] + 1, before[1], before[2]]);
    assert_eq!(running(region, ""), []);
}

#[test]
fn each_is_counted_once() {
    const THREADS: u64 = 8;
    const WAITS: u64 = if cfg!(miri) { 5 } else { 500 };
    let (region, _alone) = region();
    let before = counts(region);
    let barrier = Barrier::new(THREADS as usize);
    let work = || {
        barrier.wait();
        for _ in 0..WAITS {
            thread::sleep(Duration::ZERO);
            thread::park_timeout(Duration::ZERO);
            thread::current().unpark();
            thread::park();
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    let counted = [THREADS + 1, 2 * THREADS * WAITS, THREADS * WAITS];
    assert_eq!(counts(region), std::array::from_fn(|at| before[at] + counted[at]));
}

#[test]
fn off_they_are_stds() {
    let (region, _alone) = region();
    for name in ["join", "park", "sleep"] {
        let class = region.find_class(&format!("wait/synch/thread/std/{name}")).unwrap();
        region.set_setting(class, perfschema::Setting::OFF);
    }
    let before = counts(region);
    thread::scope(|scope| scope.spawn(|| thread::sleep(Duration::from_millis(1))).join().unwrap());
    thread::park_timeout(Duration::ZERO);
    assert_eq!((counts(region), running(region, "")), (before, vec![]));
    for name in ["join", "park", "sleep"] {
        let class = region.find_class(&format!("wait/synch/thread/std/{name}")).unwrap();
        region.set_setting(class, perfschema::Setting::ON);
    }
}
