//! Futures with actors of their own: polled by hand, so that it is known on which thread, and how often.
#![cfg(feature = "instrument")]

mod common;

use perfschema::core::ThreadType;
use perfschema::sync::Mutex;
use perfschema::task::{Attached, attach, attach_as};
use perfschema::{Lost, Region, Size, tables, thread};
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

static LOCK: Mutex<u64> = perfschema::mutex!("wait/synch/mutex/test/LOCK", 0);

/// How often the short tasks have locked it.
static LOCKED: AtomicU64 = AtomicU64::new(0);

/// As many actors as there are places for.
const SLOTS: usize = 24;
const ROUNDS: usize = if cfg!(any(miri, perfschema_sanitizer)) { 45 } else { 400 };

/// The region, and that no other test uses it meanwhile. Before it is there, tasks run, too.
fn region() -> (&'static Region<'static>, MutexGuard<'static, ()>) {
    common::alone(|| {
        let mut early = Box::pin(attach("task/test/early", locks(3)));
        for _ in 0..2 {
            assert!(poll(early.as_mut()).is_pending());
            assert_eq!(thread::thread_id(), None);
        }
        let builder = perfschema::builder().everything(true).environment(false);
        let builder = builder.size(Size::MaxThreadInstances, SLOTS as u32).size(Size::EventsWaitsHistoryLongSize, 1000);
        let region = builder.start().unwrap().region();
        assert_eq!(id(region, "task/test/early"), None);
        // Its next poll is the first that is recorded.
        let Poll::Ready(early) = poll(early.as_mut()) else { panic!("it waits for nothing more") };
        assert_eq!((history(region, early).len(), count(region)), (1, 1));
        region
    })
}

/// Whether it panics; without a word, which costs more than all else where a sanitizer looks on.
fn panics<T>(run: impl FnOnce() -> T) -> bool {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let result = catch_unwind(AssertUnwindSafe(run));
    std::panic::set_hook(hook);
    result.is_err()
}

fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Locks once a poll, and is ready at the last one; returns who it is.
async fn locks(polls: u32) -> u64 {
    let mut polled = 0;
    poll_fn(|_| {
        *LOCK.lock().unwrap() += 1;
        LOCKED.fetch_add(1, Ordering::Relaxed);
        polled += 1;
        if polled < polls { Poll::Pending } else { Poll::Ready(thread::thread_id().unwrap_or(0)) }
    })
    .await
}

fn row(region: &Region<'_>, name: &str) -> Option<tables::ThreadsRow> {
    let mut found = None;
    region.scan(&tables::Threads, |row| {
        if row.name == name {
            assert!(found.is_none(), "one row a task");
            found = Some(row.clone());
        }
    });
    found
}

fn id(region: &Region<'_>, name: &str) -> Option<u64> {
    row(region, name).map(|row| row.thread_id)
}

/// COUNT_STAR of the lock, over all that ever was.
fn count(region: &Region<'_>) -> u64 {
    let mut count = 0;
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| {
        count += if row.event_name == "wait/synch/mutex/test/LOCK" { row.count_star } else { 0 };
    });
    count
}

/// The waits that are or were this actor's: EVENT_ID each.
fn history(region: &Region<'_>, thread_id: u64) -> Vec<u64> {
    let mut events = Vec::new();
    region.scan(&tables::EventsWaitsHistoryLong, |row| {
        if row.thread_id == thread_id {
            events.push(row.event_id);
        }
    });
    events.sort_unstable();
    events
}

fn places_in_use(region: &Region<'_>) -> usize {
    let mut rows = 0;
    region.scan(&tables::Threads, |_| rows += 1);
    rows
}

#[test]
fn what_is_recorded_in_a_poll_is_the_tasks_on_whatever_thread() {
    let (region, _alone) = region();
    let before = count(region);
    let own = thread::thread_id().unwrap();
    let host = String::from("192.0.2.7");
    let mut task = Box::pin(attach_as("task/test/moves", ThreadType::Foreground, "joe", host, locks(3)));
    assert_eq!(id(region, "task/test/moves"), None, "not before its first poll");
    assert!(poll(task.as_mut()).is_pending());
    let shown = row(region, "task/test/moves").unwrap();
    let text = |text: &str| Some(text.into());
    assert_eq!((shown.thread_type, shown.thread_os_id, shown.parent_thread_id), ("FOREGROUND", None, Some(own)));
    assert_eq!((shown.processlist_user, shown.processlist_host), (text("joe"), text("192.0.2.7")));
    assert_eq!(thread::thread_id(), Some(own), "the thread's own again");
    *LOCK.lock().unwrap() += 1;
    let other = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            // The first that this thread records.
            assert!(poll(task.as_mut()).is_pending());
            *LOCK.lock().unwrap() += 1;
            thread::thread_id().unwrap()
        });
        other.join().unwrap()
    });
    assert_eq!(row(region, "task/test/moves").unwrap().parent_thread_id, Some(own), "who polled it first");
    assert_eq!(poll(task.as_mut()), Poll::Ready(shown.thread_id));
    assert_eq!(id(region, "task/test/moves"), None, "not after it has completed");
    assert_eq!(history(region, shown.thread_id), [1, 2, 3]);
    assert_eq!(history(region, other), [1]);
    assert_eq!(count(region) - before, 5);
    // A name cannot be given in a poll to the thread.
    let named = attach("task/test/named", async { thread::attach_as("thread/test/x", ThreadType::Background, "", "") });
    assert_eq!(poll(pin!(named)), Poll::Ready(false));
    assert!(panics(|| poll(task.as_mut())), "polled after it has completed");
}

/// Locks when it is dropped, and says whose that was.
struct Last<'a>(&'a std::sync::Mutex<Option<u64>>);

impl Drop for Last<'_> {
    fn drop(&mut self) {
        *LOCK.lock().unwrap() += 1;
        *self.0.lock().unwrap() = thread::thread_id();
    }
}

#[test]
fn what_a_destructor_records_is_the_tasks() {
    let (region, _alone) = region();
    let own = thread::thread_id().unwrap();
    let last = std::sync::Mutex::new(None);
    let with_last = || {
        let last = Last(&last);
        async move {
            let _last = last;
            pending::<()>().await;
        }
    };
    let mut dropped = Box::pin(attach("task/test/dropped", with_last()));
    assert!(poll(dropped.as_mut()).is_pending());
    let id = id(region, "task/test/dropped").unwrap();
    std::thread::scope(|scope| scope.spawn(|| drop(dropped)).join().unwrap());
    assert_eq!((last.lock().unwrap().take(), self::id(region, "task/test/dropped")), (Some(id), None));
    // What was never polled is nobody yet.
    drop(attach("task/test/never", with_last()));
    assert_eq!(last.lock().unwrap().take(), Some(own));
    // What a future still has when it has completed goes before its row does.
    let mut held = Some(Last(&last));
    let completes =
        poll_fn(move |_| if held.is_some() { Poll::Ready(()) } else { held.take().map_or(Poll::Pending, |_| Poll::Pending) });
    assert!(poll(pin!(attach("task/test/completes", completes))).is_ready());
    assert!(last.lock().unwrap().take().is_some_and(|id| id != own));
}

#[test]
fn a_task_that_panics_gives_the_thread_its_own_back() {
    let (region, _alone) = region();
    let own = thread::thread_id();
    let mut task = Box::pin(attach("task/test/panics", async {
        let _guard = LOCK.lock();
        panic!("in a poll");
    }));
    assert!(panics(|| poll(task.as_mut())));
    LOCK.clear_poison();
    assert_eq!(thread::thread_id(), own);
    assert_eq!(history(region, id(region, "task/test/panics").unwrap()), [1]);
    drop(task);
    assert_eq!(id(region, "task/test/panics"), None);
    // Also where a destructor panics.
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("in a destructor");
        }
    }
    let mut task = Box::pin(attach("task/test/destructor", async {
        let _panics = Panics;
        pending::<()>().await;
    }));
    assert!(poll(task.as_mut()).is_pending());
    assert!(panics(|| drop(task)));
    assert_eq!((id(region, "task/test/destructor"), thread::thread_id()), (None, own));
}

/// An attached future in an attached future, so many of them; who each is, the innermost first.
fn nested(depth: usize) -> Pin<Box<dyn Future<Output = Vec<u64>> + Send>> {
    Box::pin(attach("task/test/nested", async move {
        let mut ids = if depth > 1 { nested(depth - 1).await } else { Vec::new() };
        *LOCK.lock().unwrap() += 1;
        ids.push(thread::thread_id().unwrap());
        ids
    }))
}

#[test]
fn tasks_lie_within_tasks() {
    let (region, _alone) = region();
    let own = thread::thread_id().unwrap();
    let before = count(region);
    let Poll::Ready(mut ids) = poll(nested(15).as_mut()) else { panic!("it waits for nothing") };
    // The thirteenth is the last with an actor of its own: the two within it record for it.
    assert_eq!(ids[..2], [ids[2]; 2]);
    ids.drain(..2);
    ids.push(own);
    assert!(ids.iter().all(|id| history(region, *id).len() == if *id == ids[0] { 3 } else { 1 } || *id == own), "{ids:?}");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), count(region) - before, thread::thread_id()), (14, 15, Some(own)));
}

#[test]
fn every_wait_of_short_tasks_counts_once_though_places_are_few() {
    let (region, _alone) = region();
    thread::thread_id().unwrap();
    // The threads of other tests end.
    while places_in_use(region) > 1 {
        std::thread::yield_now();
    }
    let lost = region.lost(Lost::ThreadInstances);
    let (before, locked) = (count(region), LOCKED.load(Ordering::Relaxed));
    let free = SLOTS - 1;
    let (mut tasks_polled, mut without) = (0, 0);
    for round in 0..ROUNDS {
        let at_once = round % 40;
        let mut tasks: Vec<_> = (0..at_once).map(|_| Box::pin(attach("task/test/short", locks(3)))).collect();
        for task in &mut tasks {
            assert!(poll(task.as_mut()).is_pending());
        }
        tasks_polled += at_once;
        without += at_once.saturating_sub(free);
        let other = tasks.split_off(at_once / 2);
        // Every second one is dropped before its end.
        let ends = |tasks: Vec<Pin<Box<Attached<_>>>>| {
            for (index, mut task) in tasks.into_iter().enumerate() {
                assert!(poll(task.as_mut()).is_pending());
                assert!(index % 2 == 0 || poll(task.as_mut()).is_ready());
            }
        };
        // Half of them elsewhere, where there is a place for one more thread.
        if at_once < free && round % 4 == 0 {
            std::thread::scope(|scope| {
                let elsewhere = scope.spawn(|| ends(other));
                ends(tasks);
                elsewhere.join().unwrap();
            });
        } else {
            ends(tasks);
            ends(other);
        }
    }
    assert!(tasks_polled > ROUNDS && without > 0);
    let locked = LOCKED.load(Ordering::Relaxed) - locked;
    assert_eq!((count(region) - before, locked > 2 * tasks_polled as u64), (locked, true));
    assert_eq!(region.lost(Lost::ThreadInstances) - lost, without as u64);
    assert_eq!(places_in_use(region), 1);
}
