//! What attached tasks begin and others end, of more tasks and more often than there are places for.
#![cfg(feature = "instrument")]

mod common;

use perfschema::core::table::{Row, Value};
use perfschema::core::{Lost, Size};
use perfschema::statement::Statement;
use perfschema::sync::Mutex;
use perfschema::wait::{Operation, Wait};
use perfschema::{Region, tables, task, thread};
use std::pin::Pin;
use std::sync::{MutexGuard, mpsc};
use std::task::{Context, Poll, Waker};

static POOL: Wait = perfschema::wait!("wait/test/pool");
static SEARCH: Statement = perfschema::statement!("statement/test/search");
static LOCK: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/LOCK", ());

/// The region, and that no other test uses it meanwhile.
fn region() -> (&'static Region<'static>, MutexGuard<'static, ()>) {
    common::alone(|| {
        let builder = perfschema::builder().everything(true).environment(false);
        builder.size(Size::MaxThreadInstances, TASKS + 100).start().unwrap().region()
    })
}

/// More than there would be places for if all were in one list of a thousand, or had a mark of 64.
const TASKS: u32 = if cfg!(miri) { 20 } else { 1500 };

fn poll<F: Future + ?Sized>(task: &mut Pin<Box<F>>) -> Poll<F::Output> {
    task.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

async fn once_pending() {
    let mut is_ready = false;
    std::future::poll_fn(|_| if std::mem::replace(&mut is_ready, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

/// How many waits and statements run.
fn running(region: &Region<'_>) -> [usize; 2] {
    let mut running = [0; 2];
    region.scan(&tables::EventsWaitsCurrent, |row| running[0] += usize::from(row.end_event_id.is_none()));
    region.scan(&tables::EventsStatementsCurrent, |row| running[1] += usize::from(row.end_event_id.is_none()));
    running
}

/// How many have ended.
fn ended(region: &Region<'_>) -> [u64; 2] {
    let statements = region.find_class("statement/test/search").map_or(0, |class| region.statements_by_event_name(class).0.count);
    [region.find_class("wait/test/pool").map_or(0, |class| region.summary_by_event_name(class).count), statements]
}

/// One task does so again and again: as a connection that hands each request to another thread.
#[test]
fn what_ends_elsewhere_leaves_its_place_to_what_follows() {
    const TIMES: u64 = 40;
    let (region, _alone) = region();
    let (give, take) = mpsc::channel();
    let mut task = Box::pin(task::attach("task/test/gives", async move {
        for _ in 0..TIMES {
            give.send(Some((POOL.begin_async(Operation::Acquire), POOL.begin_async(Operation::Acquire)))).unwrap();
            once_pending().await;
            drop(LOCK.lock());
        }
        // Begun and ended without a poll between.
        for _ in 0..TIMES {
            let waiting = POOL.begin_async(Operation::Acquire);
            std::thread::spawn(|| drop(waiting)).join().unwrap();
        }
        drop(LOCK.lock());
        let own = thread::thread_id().unwrap();
        let mut locks = 0;
        region.scan(&tables::EventsWaitsHistory, |row| {
            locks += usize::from(row.thread_id == own && row.event_name == "wait/synch/mutex/test/LOCK");
            assert!(row.thread_id != own || row.nesting_event_id.is_none());
        });
        let mut rows = 0;
        region.scan(&tables::EventsWaitsHistory, |row| rows += usize::from(row.thread_id == own));
        (locks, rows)
    }));
    let before = (ended(region), region.lost(Lost::NestedEvents));
    for _ in 0..TIMES {
        assert!(poll(&mut task).is_pending());
        let given = take.recv().unwrap();
        assert_eq!(running(region), [2, 0]);
        std::thread::spawn(|| drop(given)).join().unwrap();
    }
    let Poll::Ready((locks, rows)) = poll(&mut task) else { panic!("it has been polled often enough") };
    assert_eq!((locks, rows), (10, 10), "its history is of what it has ended itself");
    assert_eq!(running(region), [0; 2]);
    assert_eq!(ended(region), [before.0[0] + 3 * TIMES, before.0[1]]);
    assert_eq!(region.lost(Lost::NestedEvents), before.1);
}

#[test]
fn as_many_as_there_are_tasks_may_leave_something() {
    let (region, _alone) = region();
    let (before, all) = (ended(region), u64::from(TASKS));
    let (give, take) = mpsc::channel();
    let mut tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let give = give.clone();
            Box::pin(task::attach("task/test/gives", async move {
                give.send((SEARCH.begin_async("a"), POOL.begin_async(Operation::Acquire))).unwrap();
                once_pending().await;
                once_pending().await;
            }))
        })
        .collect();
    assert!(tasks.iter_mut().all(|task| poll(task).is_pending()));
    assert_eq!(running(region), [tasks.len(); 2]);
    assert_eq!(std::thread::spawn(move || take.try_iter().count()).join().unwrap() as u64, all);
    // A wait is counted at once, a statement by its task.
    assert_eq!(ended(region), [before[0] + all, before[1]]);
    let rest = tasks.split_off(tasks.len() / 2);
    assert!(tasks.iter_mut().all(|task| poll(task).is_pending()));
    assert_eq!((running(region), ended(region)), ([rest.len(); 2], [before[0] + all, before[1] + all - rest.len() as u64]));
    // Whoever is not polled any more ends it with its row.
    drop(rest);
    assert_eq!((running(region), ended(region)), ([0; 2], before.map(|count| count + all)));
}

/// It was to be recorded when it began, and who ends it is not instrumented: all threads' sums have it.
#[test]
fn a_wait_counts_whoever_ends_it() {
    let (region, _alone) = region();
    let threads = tables::find("threads").unwrap();
    let (give, take) = mpsc::channel();
    let mut task = Box::pin(task::attach("task/test/gives", async move {
        give.send([POOL.begin_async(Operation::Acquire), POOL.begin_async(Operation::Acquire)]).unwrap();
        once_pending().await;
    }));
    assert!(poll(&mut task).is_pending());
    let before = ended(region);
    std::thread::spawn(move || {
        let own = thread::thread_id().unwrap();
        let mut is_own = |row: &dyn Row| row.cell(0) == Value::Unsigned(own);
        assert_eq!(threads.update(region, &mut is_own, &[("INSTRUMENTED", Value::Text("NO"))]).unwrap().changed, 1);
        drop(take.recv());
        let mut rows = 0;
        region.scan(&tables::EventsWaitsHistory, |row| rows += usize::from(row.thread_id == own));
        assert_eq!(rows, 0);
    })
    .join()
    .unwrap();
    assert_eq!((ended(region)[0], poll(&mut task).is_ready(), running(region)), (before[0] + 2, true, [0; 2]));
}
