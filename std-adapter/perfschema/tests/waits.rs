//! Waits of a program's own, of threads and of tasks.
#![cfg(feature = "instrument")]

mod common;

use perfschema::core::{Lost, Size};
use perfschema::net::{Idle, TcpListener, TcpStream};
use perfschema::sync::{Mutex, Once};
use perfschema::wait::{OfThread, Operation, Wait, Waiting};
use perfschema::{Instrument, Region, Setting, tables, task, thread};
use std::pin::pin;
use std::sync::{MutexGuard, mpsc};
use std::task::{Context, Poll, Waker};

static POOL: Wait = perfschema::wait!("wait/test/pool");
static PERMITS: Wait = perfschema::wait!("wait/synch/semaphore/test/permits");
static LOCK: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/LOCK", ());

fn once() -> Once {
    perfschema::once!("wait/synch/once/test/once")
}

/// The region, and that no other test uses it meanwhile.
fn region() -> (&'static Region<'static>, MutexGuard<'static, ()>) {
    let (region, alone) = common::alone(|| {
        // Before there is a region a program runs just the same, and what has begun then is no wait.
        let mut before = POOL.begin(Operation::Acquire);
        before.set_bytes(1);
        let builder = perfschema::builder().everything(true).environment(false);
        let region = builder.size(Size::MaxSynchClasses, 3).start().unwrap().region();
        drop(before);
        drop((POOL.begin(Operation::Acquire), PERMITS.begin(Operation::Acquire), LOCK.lock()));
        once().call_once(|| ());
        region
    });
    region.enable_everything();
    for table in tables::ALL.iter().filter(|table| table.declaration().name.starts_with("events_waits_")) {
        table.truncate(region).unwrap();
    }
    (region, alone)
}

/// How many of an instrument have ended.
fn count(region: &Region<'_>, name: &str) -> u64 {
    region.summary_by_event_name(region.find_class(name).unwrap()).count
}

/// Instrument, operation, object and bytes of the rows of a table, in the order in which the waits began; of those in the long history also
/// who, and all have ended.
fn rows(region: &Region<'_>) -> Vec<(u64, String, &'static str, u64, Option<i64>)> {
    let mut rows = Vec::new();
    region.scan(&tables::EventsWaitsHistoryLong, |row| {
        assert!(row.timer_wait.is_some() && row.end_event_id.is_some());
        let what = (row.thread_id, row.event_name.to_string(), row.operation, row.object_instance_begin, row.number_of_bytes);
        rows.push((row.thread_id, row.event_id, what));
    });
    rows.sort();
    rows.into_iter().map(|(.., row)| row).collect()
}

/// The waits that go on: who, SOURCE, EVENT_ID and what it lies within.
fn running(region: &Region<'_>) -> Vec<(u64, String, u64, Option<u64>)> {
    let mut rows = Vec::new();
    region.scan(&tables::EventsWaitsCurrent, |row| {
        if row.timer_end.is_none() && row.end_event_id.is_none() {
            rows.push((row.thread_id, row.source.unwrap().to_string(), row.event_id, row.nesting_event_id));
        }
    });
    rows.sort();
    rows
}

#[test]
fn a_wait_is_seen_from_elsewhere_while_it_lasts() {
    let (region, _alone) = region();
    let ((begun, begins), (end, ends)) = (mpsc::channel(), mpsc::channel());
    let line = line!() + 2;
    let waits = std::thread::spawn(move || {
        let mut waiting = POOL.begin_for(Operation::Acquire, 7);
        begun.send(thread::thread_id().unwrap()).unwrap();
        ends.recv().unwrap();
        waiting.set_bytes(4096);
    });
    let id = begins.recv().unwrap();
    assert_eq!(running(region), [(id, format!("waits.rs:{line}"), 1, None)]);
    assert_eq!(count(region, "wait/test/pool"), 0);
    end.send(()).unwrap();
    waits.join().unwrap();
    assert_eq!(running(region), []);
    assert_eq!(rows(region), [(id, "wait/test/pool".into(), "acquire", 7, Some(4096))]);
    assert_eq!(count(region, "wait/test/pool"), 1);
}

#[test]
fn each_is_counted_once() {
    const THREADS: u64 = 4;
    const WAITS: u64 = if cfg!(miri) { 10 } else { 10_000 };
    let (region, _alone) = region();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for shard in 0..WAITS {
                    let waiting = POOL.begin_for(Operation::TryAcquire, shard);
                    drop(PERMITS.begin(Operation::Acquire));
                    drop(waiting);
                }
            });
        }
    });
    let counts = ["wait/test/pool", "wait/synch/semaphore/test/permits"].map(|name| count(region, name));
    assert_eq!(counts, [THREADS * WAITS; 2]);
    let mut instances = 0;
    region.scan(&tables::EventsWaitsSummaryByInstance, |row| {
        instances += u64::from(row.event_name != "wait/synch/mutex/test/LOCK");
    });
    assert_eq!(instances, 0);
}

#[test]
fn a_panic_ends_it() {
    let (region, _alone) = region();
    let panics = std::panic::catch_unwind(|| {
        let _waiting = POOL.begin(Operation::Acquire);
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(panics.is_err());
    assert_eq!((count(region, "wait/test/pool"), running(region)), (1, vec![]));
    drop(LOCK.lock());
    let mut nesting = Vec::new();
    region.scan(&tables::EventsWaitsHistory, |row| nesting.push(row.nesting_event_id));
    assert_eq!(nesting, [None, None]);
}

/// What is dropped in the order in which it was declared, as the fields of a struct are.
#[test]
fn they_end_in_any_order() {
    let (region, _alone) = region();
    let (outer, inner) = (POOL.begin(Operation::Acquire), PERMITS.begin(Operation::Acquire));
    drop(LOCK.lock());
    drop(outer);
    drop(LOCK.lock());
    drop(inner);
    drop(LOCK.lock());
    let mut rows = Vec::new();
    region.scan(&tables::EventsWaitsHistory, |row| rows.push((row.event_id, row.nesting_event_id)));
    rows.sort();
    let first = rows[0].0;
    let rows: Vec<_> = rows.into_iter().map(|(id, within)| (id - first, within.map(|within| within - first))).collect();
    assert_eq!(rows, [(0, None), (1, None), (2, Some(1)), (3, Some(1)), (4, None)]);
}

/// Nor need they end before what they began in.
#[test]
fn one_may_outlive_the_once_that_it_began_in() {
    let (region, _alone) = region();
    let mut waiting = None;
    once().call_once(|| waiting = Some(POOL.begin(Operation::Acquire)));
    drop(LOCK.lock());
    drop(waiting);
    let mut rows = Vec::new();
    region.scan(&tables::EventsWaitsHistory, |row| rows.push((row.event_name.to_string(), row.event_id, row.nesting_event_id)));
    rows.sort();
    let [(_, lock, around_lock), (_, once, around_once), (_, pool, around_pool)] = rows[..] else { panic!("{rows:?}") };
    assert_eq!((pool, around_pool, around_once), (once + 1, None, None));
    assert_eq!((lock, around_lock), (once + 2, Some(pool)));
}

/// As of a `Once`: it lies within what the idleness lay within, and what begins meanwhile lies within it.
#[test]
fn one_may_outlive_the_idleness_that_it_began_in() {
    let (region, _alone) = region();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let waiting = client.idle(|_| POOL.begin(Operation::Acquire));
    drop(LOCK.lock());
    drop(waiting);
    drop(LOCK.lock());
    let mut rows = Vec::new();
    region.scan(&tables::EventsWaitsHistory, |row| rows.push((row.event_id, row.event_name.to_string(), row.nesting_event_id)));
    rows.retain(|(_, name, _)| !name.contains("/socket/"));
    rows.sort();
    let [(idle, _, around_idle), (pool, _, around_pool), (_, _, around_lock), (_, _, around_next)] = rows[..] else {
        panic!("{rows:?}")
    };
    assert_eq!((pool, around_idle, around_pool), (idle + 1, None, None));
    assert_eq!((around_lock, around_next), (Some(pool), None));
}

#[test]
fn a_synch_has_no_bytes() {
    let (region, _alone) = region();
    PERMITS.begin(Operation::Acquire).set_bytes(1);
    region.scan(&tables::EventsWaitsHistory, |row| assert_eq!((row.number_of_bytes, row.spins), (None, None)));
    assert_eq!(count(region, "wait/synch/semaphore/test/permits"), 1);
}

#[test]
fn off_it_is_not_seen_and_what_has_no_room_is_counted() {
    static OVERFLOW: Instrument = Instrument::new("wait/test/there is no room for this");
    let (region, _alone) = region();
    let class = region.find_class("wait/test/pool").unwrap();
    region.set_setting(class, Setting::OFF);
    let off = POOL.begin(Operation::Acquire);
    assert_eq!(running(region), []);
    // What was true at its start holds until its end.
    region.set_setting(class, Setting::ON);
    drop(off);
    assert_eq!(count(region, "wait/test/pool"), 0);
    region.flush_status();
    for _ in 0..2 {
        drop(Wait::with_instrument(&OVERFLOW).begin(Operation::Acquire));
    }
    assert_eq!((region.lost(Lost::SynchClasses), running(region)), (1, vec![]));
    for name in ["wait/synch/mutex/test/LOCK", "wait/io/file/test/F", "wait/io/socket/test/S", "stage/test/S", "idle"] {
        let instrument: &'static Instrument = Box::leak(Box::new(Instrument::new(name)));
        let panic = std::panic::catch_unwind(|| Wait::with_instrument(instrument)).expect_err("another kind");
        assert!(panic.downcast_ref::<&str>().is_some_and(|why| why.starts_with("an instrument of a program's own")), "{name}");
    }
}

/// An attached task's is shown as the task's, wherever it is polled; several go on beside each other.
#[test]
fn a_task_takes_its_waits_along() {
    let (region, _alone) = region();
    let mut polled = 0_u32;
    let work = async {
        let id = thread::thread_id().unwrap();
        let first = POOL.begin_async_for(Operation::Acquire, 1);
        let mut second = POOL.begin_async(Operation::Acquire);
        let mut wait = || {
            polled += 1;
            if polled.is_multiple_of(2) { Poll::Ready(()) } else { Poll::Pending }
        };
        std::future::poll_fn(|_| wait()).await;
        drop(first);
        second.set_bytes(8);
        drop(LOCK.lock());
        std::future::poll_fn(|_| wait()).await;
        id
    };
    let mut future = pin!(task::attach("task/test/work", work));
    let mut poll = |elsewhere: bool| {
        let mut poll = || future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if elsewhere { std::thread::scope(|scope| scope.spawn(poll).join().unwrap()) } else { poll() }
    };
    assert!(poll(false).is_pending());
    let [first, second] = running(region).try_into().unwrap();
    assert_eq!((first.0, first.3, second.3), (second.0, None, None));
    assert_ne!(Some(first.0), thread::thread_id());
    assert!(poll(true).is_pending());
    assert_eq!((running(region), count(region, "wait/test/pool")), (vec![second.clone()], 1));
    let Poll::Ready(id) = poll(true) else { panic!("it is ready") };
    assert_eq!(id, first.0);
    let of_task: Vec<_> = rows(region).into_iter().filter(|row| row.0 == id && row.1 == "wait/test/pool").collect();
    let row = |object, bytes| (id, "wait/test/pool".to_owned(), "acquire", object, bytes);
    assert_eq!(of_task, [row(1, None), row(0, Some(8))]);
}

/// Of any other task it is recorded whole, by who ends it.
#[test]
fn what_nobody_attached_waits_for_is_recorded_at_its_end() {
    let (region, _alone) = region();
    let line = line!() + 1;
    let mut waiting = POOL.begin_async_for(Operation::Acquire, 3);
    assert_eq!((running(region), count(region, "wait/test/pool")), (vec![], 0));
    let id = std::thread::spawn(move || {
        waiting.set_bytes(5);
        drop(waiting);
        thread::thread_id().unwrap()
    })
    .join()
    .unwrap();
    assert_eq!(rows(region), [(id, "wait/test/pool".into(), "acquire", 3, Some(5))]);
    region.scan(&tables::EventsWaitsHistoryLong, |row| assert_eq!(row.source.unwrap(), *format!("waits.rs:{line}")));
}

/// A task hands out what it has begun, and its caller ends it: it was waited for all the same, and each keeps to its own records.
#[test]
fn what_ends_elsewhere_is_counted() {
    let (region, _alone) = region();
    let mut context = Context::from_waker(Waker::noop());
    let mut of_task = pin!(task::attach("task/test/work", async { POOL.begin_async(Operation::Acquire) }));
    let mut of_thread = pin!(task::attach("task/test/work", async { POOL.begin(Operation::Acquire) }));
    let Poll::Ready(first) = of_task.as_mut().poll(&mut context) else { panic!("it is ready") };
    let Poll::Ready(second) = of_thread.as_mut().poll(&mut context) else { panic!("it is ready") };
    let _: &Waiting<OfThread> = &second;
    drop((first, second));
    assert_eq!(count(region, "wait/test/pool"), 2);
    let id = thread::thread_id().unwrap();
    assert!(rows(region).iter().all(|row| row.0 == id && row.1 == "wait/test/pool"), "{:?}", rows(region));
    (0..50).for_each(|_| drop(LOCK.lock()));
    let locks = rows(region).iter().filter(|row| row.1 == "wait/synch/mutex/test/LOCK").count();
    assert_eq!(locks, 50);
}
