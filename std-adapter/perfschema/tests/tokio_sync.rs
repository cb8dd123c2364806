//! `perfschema::tokio::sync` beside tokio's own: the same story told with each must go the same way. And what it leaves in the tables, of
//! waits over several polls, on several threads, that are given up, handed over, or beside one another; and who holds what.
#![cfg(all(feature = "tokio", feature = "instrument", not(miri)))]

mod common;
#[path = "tokio_sync/once.rs"]
mod once;
#[path = "tokio_sync/story.rs"]
mod story;
#[path = "tokio_sync/watched.rs"]
mod watched;
#[path = "tokio_sync/without_holder.rs"]
mod without_holder;

use perfschema::tables::{self, EventsWaitsRow};
use perfschema::task::attach;
use perfschema::tokio::sync::{
    Barrier, MappedMutexGuard, Mutex, MutexGuard, Notify, OwnedMutexGuard, OwnedRwLockWriteGuard, RwLock, RwLockMappedWriteGuard,
    RwLockReadGuard, RwLockWriteGuard, Semaphore, broadcast, mpsc, mpsc::Sender, oneshot,
};
use perfschema::{Instrument, Region, Setting, Size, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use story::{ours, tokios};
use tokio::runtime::{Builder, Runtime};

/// The story is told before anything is recorded, too. Every test has instruments of its own, so they may run at once.
fn region() -> &'static Region<'static> {
    static REGION: OnceLock<&Region<'static>> = OnceLock::new();
    REGION.get_or_init(|| {
        same_story("before");
        let builder = perfschema::builder().everything(true).environment(false).size(Size::MaxSynchClasses, 128);
        let builder = builder.size(Size::MaxThreadInstances, 256).size(Size::EventsWaitsHistoryLongSize, 100_000);
        builder.start().unwrap().region()
    })
}

fn instrument(name: &'static str) -> &'static Instrument {
    region();
    Box::leak(Box::new(Instrument::new(name)))
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn threads() -> Runtime {
    Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap()
}

fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// The same on a thread of its own, and THREAD_ID of that.
fn poll_elsewhere<F: Future + Send + ?Sized>(future: Pin<&mut F>) -> (Poll<F::Output>, u64)
where
    F::Output: Send,
{
    std::thread::scope(|scope| scope.spawn(move || (poll(future), thread::thread_id().unwrap())).join().unwrap())
}

/// THREAD_ID of the task that is polled, or of the thread.
fn own_id() -> u64 {
    thread::thread_id().unwrap()
}

fn rows(instrument: &Instrument, table: impl perfschema::core::table::TableSource<Row = EventsWaitsRow>) -> Vec<EventsWaitsRow> {
    let mut rows = Vec::new();
    region().scan(&table, |row| {
        assert_eq!(row.timer_end.is_some(), row.end_event_id.is_some(), "{row:?}");
        if row.event_name == instrument.name() {
            rows.push(row.clone());
        }
    });
    rows
}

/// THREAD_ID and OPERATION of the waits that run now.
fn running(instrument: &Instrument) -> Vec<(u64, &'static str)> {
    let mut running = rows(instrument, tables::EventsWaitsCurrent);
    running.retain(|row| row.end_event_id.is_none());
    running.sort_by_key(|row| (row.thread_id, row.event_id));
    running.iter().map(|row| (row.thread_id, row.operation)).collect()
}

/// The same of those that have ended, in the order of their ends.
fn ended(instrument: &Instrument) -> Vec<(u64, &'static str)> {
    let mut ended = rows(instrument, tables::EventsWaitsHistoryLong);
    ended.sort_by_key(|row| row.timer_end);
    ended.iter().map(|row| (row.thread_id, row.operation)).collect()
}

/// COUNT_STAR of the instrument, and summed over its instances that are alive.
fn counts(instrument: &Instrument) -> (u64, u64) {
    let (mut all, mut of_instances) = (0, 0);
    region().scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| {
        all += if row.event_name == instrument.name() { row.count_star } else { 0 };
    });
    region().scan(&tables::EventsWaitsSummaryByInstance, |row| {
        of_instances += if row.event_name == instrument.name() { row.count_star } else { 0 };
    });
    (all, of_instances)
}

/// LOCKED_BY_THREAD_ID of the only mutex.
#[track_caller]
fn holder(instrument: &Instrument) -> Option<u64> {
    let mut holders = Vec::new();
    region().scan(&tables::MutexInstances, |row| {
        if row.name == instrument.name() {
            holders.push(row.locked_by_thread_id);
        }
    });
    assert_eq!(holders.len(), 1);
    holders[0]
}

/// WRITE_LOCKED_BY_THREAD_ID and READ_LOCKED_BY_COUNT of the only lock.
#[track_caller]
fn users(instrument: &Instrument) -> (Option<u64>, u32) {
    let mut users = Vec::new();
    region().scan(&tables::RwlockInstances, |row| {
        if row.name == instrument.name() {
            users.push((row.write_locked_by_thread_id, row.read_locked_by_count));
        }
    });
    assert_eq!(users.len(), 1);
    users[0]
}

/// Until a task waits.
fn until_running(instrument: &Instrument, count: usize) {
    while running(instrument).len() != count {
        std::thread::yield_now();
    }
}

#[track_caller]
fn same_story(when: &str) {
    std::panic::set_hook(Box::new(|_| ()));
    let expected = one_thread().block_on(tokios::tell());
    let told = one_thread().block_on(attach("task/test/story", ours::tell()));
    let alone = threads().block_on(ours::tell());
    drop(std::panic::take_hook());
    told.is_that_of(&expected, 80, when);
    alone.is_that_of(&expected, 80, when);
}

#[test]
fn the_same_story_as_tokios() {
    let region = region();
    let names = [
        "wait/synch/mutex/tokio/Mutex",
        "wait/synch/rwlock/tokio/RwLock",
        "wait/synch/semaphore/tokio/Semaphore",
        "wait/synch/cond/tokio/Notify",
        "wait/synch/mpsc/tokio/channel",
        "wait/synch/watch/tokio/channel",
        "wait/synch/once/tokio/OnceCell",
        "wait/synch/once/tokio/SetOnce",
        "wait/synch/oneshot/tokio/channel",
        "wait/synch/broadcast/tokio/channel",
    ];
    same_story("on");
    let classes = names.map(|name| region.find_class(name).unwrap());
    for setting in [Setting::OFF, Setting::ON] {
        classes.iter().for_each(|&class| region.set_setting(class, setting));
        same_story("again");
    }
    // All that stays are those in statics, which nobody holds.
    let mut left = Vec::new();
    region.scan(&tables::MutexInstances, |row| left.push((row.name.as_str().to_owned(), row.locked_by_thread_id, 0)));
    region.scan(&tables::RwlockInstances, |row| {
        left.push((row.name.as_str().to_owned(), row.write_locked_by_thread_id, row.read_locked_by_count));
    });
    region.scan(&tables::CondInstances, |row| left.push((row.name.as_str().to_owned(), None, 0)));
    left.retain(|(name, ..)| names.contains(&name.as_str()));
    let [mutex, rwlock, _, notify, ..] = names.map(|name| (name.to_owned(), None, 0));
    assert_eq!(left, [mutex, rwlock.clone(), rwlock, notify]);
    let mut operations = std::collections::BTreeSet::new();
    region.scan(&tables::EventsWaitsHistoryLong, |row| {
        if names.iter().any(|&name| row.event_name == name) {
            operations.insert(row.operation);
        }
    });
    let of_locks = ["lock", "try_lock", "read_lock", "try_read_lock", "write_lock", "try_write_lock"];
    let of_others = ["acquire", "try_acquire", "wait", "send", "recv", "call_once"];
    assert_eq!(operations, of_locks.into_iter().chain(of_others).collect());
}

#[test]
fn a_task_is_seen_waiting_for_the_one_that_holds_the_mutex() {
    for runtime in [one_thread(), threads()] {
        let lock_a = instrument("wait/synch/mutex/test/seen");
        let lock = Arc::new(Mutex::with_instrument(lock_a, 0));
        let (go, gone) = tokio::sync::oneshot::channel();
        let (held, holds) = tokio::sync::oneshot::channel();
        let before = counts(lock_a).0;
        runtime.block_on(async {
            let first = tokio::spawn(attach("task/test/holds", {
                let lock = Arc::clone(&lock);
                async move {
                    let mut guard = lock.lock().await;
                    held.send(own_id()).unwrap();
                    gone.await.unwrap();
                    *guard += 1;
                }
            }));
            let first_id = holds.await.unwrap();
            let line = line!() + 4;
            let second = tokio::spawn(attach("task/test/waits", {
                let lock = Arc::clone(&lock);
                async move {
                    *lock.lock().await += 1;
                    own_id()
                }
            }));
            while running(lock_a).is_empty() {
                tokio::task::yield_now().await;
            }
            let row = &rows(lock_a, tables::EventsWaitsCurrent).into_iter().find(|row| row.end_event_id.is_none()).unwrap();
            assert_eq!((row.operation, row.timer_end, row.spins), ("lock", None, None));
            assert!(row.source.as_ref().unwrap().as_str().ends_with(&format!("tokio_sync.rs:{line}")), "{row:?}");
            assert_eq!(holder(lock_a), Some(first_id));
            let mut addresses = Vec::new();
            region().scan(&tables::MutexInstances, |instance| {
                if instance.name == lock_a.name() {
                    addresses.push(instance.object_instance_begin);
                }
            });
            assert_eq!(addresses, [row.object_instance_begin]);
            let waiter = row.thread_id;
            go.send(()).unwrap();
            first.await.unwrap();
            assert_eq!(second.await.unwrap(), waiter);
        });
        assert_eq!((running(lock_a), holder(lock_a)), (vec![], None));
        assert_eq!(counts(lock_a), (before + 2, 2));
        assert_eq!(*lock.try_lock().unwrap(), 2);
    }
}

#[test]
fn the_task_holds_it_wherever_it_is_polled() {
    let instrument = instrument("wait/synch/mutex/test/wanders");
    let lock = Mutex::with_instrument(instrument, ());
    let mut task = pin!(attach("task/test/wanders", async {
        let _guard = lock.lock().await;
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        own_id()
    }));
    assert!(poll(task.as_mut()).is_pending());
    let id = holder(instrument);
    assert!(id.is_some() && id != thread::thread_id());
    assert!(poll_elsewhere(task.as_mut()).0.is_pending());
    assert!(poll_elsewhere(task.as_mut()).0.is_pending());
    assert_eq!(holder(instrument), id);
    // Let go on a thread that never locked it.
    let (ended, elsewhere) = poll_elsewhere(task.as_mut());
    let Poll::Ready(own) = ended else { panic!("it has no more to do") };
    assert_eq!((Some(own), holder(instrument)), (id, None));
    assert_ne!(own, elsewhere);
    assert_eq!(self::ended(instrument), [(own, "lock")]);
}

#[test]
fn guards_go_from_thread_to_thread() {
    let instrument = instrument("wait/synch/mutex/test/sent");
    let lock = Arc::new(Mutex::with_instrument(instrument, vec![1]));
    let mut task = Box::pin(attach("task/test/sends", async { (Arc::clone(&lock).lock_owned().await, own_id()) }));
    let Poll::Ready((mut owned, id)) = poll(task.as_mut()) else { panic!("it is free") };
    drop(task);
    // The task has ended; what it has locked is locked.
    assert_eq!(holder(instrument), Some(id));
    std::thread::scope(|scope| {
        let guard = scope.spawn(|| {
            owned.push(2);
            drop(owned);
            assert_eq!(holder(instrument), None);
            let guard = lock.try_lock().unwrap();
            (guard, own_id())
        });
        let (mut guard, id) = guard.join().unwrap();
        assert_eq!(holder(instrument), Some(id));
        guard.push(3);
    });
    assert_eq!(holder(instrument), None);
    let again = Arc::clone(&lock).try_lock_owned().unwrap();
    assert_eq!((&again[..], holder(instrument)), (&[1, 2, 3][..], thread::thread_id()));
    // The guard is all that keeps it now.
    drop(lock);
    assert_eq!(holder(instrument), thread::thread_id());
    std::thread::scope(|scope| scope.spawn(|| drop(again)).join().unwrap());
    region().scan(&tables::MutexInstances, |row| assert_ne!(row.name, instrument.name()));
}

#[test]
fn what_is_given_up_ends_and_leaves_the_lock_to_others() {
    let instrument = instrument("wait/synch/mutex/test/given up");
    let lock = Mutex::with_instrument(instrument, 0);
    let runtime = one_thread();
    let guard = lock.try_lock().unwrap();
    let own = own_id();
    let id = runtime.block_on(attach("task/test/gives up", async {
        let short = Duration::from_millis(1);
        assert!(tokio::time::timeout(short, lock.lock()).await.is_err());
        assert_eq!(running(instrument), []);
        tokio::select! {
            biased;
            _ = lock.lock() => panic!("it is held"),
            () = async { assert_eq!(running(instrument), [(own_id(), "lock")]) } => (),
        }
        assert_eq!((running(instrument), holder(instrument)), (vec![], Some(own)));
        own_id()
    }));
    assert_eq!(ended(instrument), [(own, "try_lock"), (id, "lock"), (id, "lock")]);
    // Its turn comes, and it is dropped before it knows.
    let mut first = Box::pin(attach("task/test/first", lock.lock()));
    let mut second = Box::pin(attach("task/test/second", async { (lock.lock().await, own_id()) }));
    assert!(poll(first.as_mut()).is_pending());
    assert!(poll(second.as_mut()).is_pending());
    assert_eq!(running(instrument).len(), 2);
    drop(guard);
    assert_eq!(holder(instrument), None);
    assert!(poll(second.as_mut()).is_pending(), "the first one was first");
    drop(first);
    let Poll::Ready((_guard, second)) = poll(second.as_mut()) else { panic!("it is its turn") };
    assert_eq!((running(instrument), holder(instrument)), (vec![], Some(second)));
    // Those in vain, too.
    assert_eq!(counts(instrument), (5, 5));
}

#[test]
fn what_is_not_attached_is_recorded_at_its_end_by_who_ends_it() {
    let instrument = instrument("wait/synch/mutex/test/not attached");
    let lock = Mutex::with_instrument(instrument, 0);
    let guard = lock.try_lock().unwrap();
    let mut waits = Box::pin(lock.lock());
    assert!(poll(waits.as_mut()).is_pending());
    assert!(poll_elsewhere(waits.as_mut()).0.is_pending());
    assert_eq!(running(instrument), []);
    std::thread::sleep(Duration::from_millis(5));
    drop(guard);
    let (polled, elsewhere) = poll_elsewhere(waits.as_mut());
    let Poll::Ready(guard) = polled else { panic!("it is free") };
    assert_eq!(holder(instrument), Some(elsewhere));
    drop(guard);
    assert_eq!(ended(instrument), [(own_id(), "try_lock"), (elsewhere, "lock")]);
    let row = rows(instrument, tables::EventsWaitsHistoryLong).into_iter().find(|row| row.operation == "lock").unwrap();
    assert!(row.timer_wait.unwrap() >= 5_000_000_000, "{row:?}");
}

#[test]
fn what_is_handed_over_is_recorded_whole_by_who_ends_it() {
    let instrument = instrument("wait/synch/mutex/test/handed over");
    let lock = Mutex::with_instrument(instrument, 0);
    let guard = lock.try_lock().unwrap();
    let waits = std::sync::Mutex::new(Box::pin(lock.lock()));
    let both = || {
        attach("task/test/both", std::future::poll_fn(|_| poll(waits.lock().unwrap().as_mut()).map(|guard| (guard, own_id()))))
    };
    let (mut begins, mut ends) = (Box::pin(both()), Box::pin(both()));
    assert!(poll(begins.as_mut()).is_pending());
    let [(first, "lock")] = running(instrument)[..] else { panic!("{:?}", running(instrument)) };
    drop(guard);
    let Poll::Ready((guard, second)) = poll(ends.as_mut()) else { panic!("it is free") };
    assert_ne!(first, second);
    assert_eq!(holder(instrument), Some(second));
    drop(guard);
    // With the first it stays, whose records nobody else writes, until that task ends.
    assert_eq!((ended(instrument)[1..].to_vec(), running(instrument)), (vec![(second, "lock")], vec![(first, "lock")]));
    drop(begins);
    assert_eq!(running(instrument), []);
    assert_eq!(counts(instrument), (2, 2));
}

#[test]
fn a_lock_for_readers_and_writers() {
    let instrument = instrument("wait/synch/rwlock/test/book");
    let lock = Arc::new(RwLock::with_instrument(instrument, 1));
    let runtime = one_thread();
    let id = runtime.block_on(attach("task/test/reads and writes", async {
        let id = own_id();
        let reader = lock.read().await;
        let owned = Arc::clone(&lock).read_owned().await;
        assert_eq!(users(instrument), (None, 2));
        let mut writer = Box::pin(lock.write());
        assert!(poll(writer.as_mut()).is_pending());
        assert!(lock.try_read().is_err(), "the writer comes first");
        assert_eq!(running(instrument), [(id, "write_lock")]);
        drop((reader, owned));
        assert_eq!(users(instrument), (None, 0));
        let mut guard = writer.await;
        *guard += 1;
        assert_eq!((users(instrument), running(instrument)), ((Some(id), 0), vec![]));
        let reader = guard.downgrade();
        assert_eq!(users(instrument), (None, 1));
        drop(reader);
        let number = RwLockWriteGuard::downgrade_map(lock.write().await, |number| number);
        assert_eq!((*number, users(instrument)), (2, (None, 1)));
        drop(number);
        let owned = Arc::clone(&lock).write_owned().await;
        let owned = OwnedRwLockWriteGuard::try_downgrade_map(owned, |_| None::<&u8>).unwrap_err();
        assert_eq!(users(instrument), (Some(id), 0));
        let mapped = OwnedRwLockWriteGuard::map(owned, |number| number);
        assert_eq!(users(instrument), (Some(id), 0));
        std::thread::scope(|scope| scope.spawn(|| drop(mapped)).join().unwrap());
        assert_eq!(users(instrument), (None, 0));
        drop(lock.try_write().unwrap());
        id
    }));
    let operations: Vec<_> = ended(instrument).iter().map(|&(thread, operation)| (thread == id, operation)).collect();
    let expected = ["read_lock", "read_lock", "try_read_lock", "write_lock", "write_lock", "write_lock", "try_write_lock"];
    assert_eq!(operations, expected.map(|operation| (true, operation)));
    assert_eq!((users(instrument), counts(instrument)), ((None, 0), (7, 7)));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            drop(lock.blocking_write());
            drop(lock.blocking_read());
        });
    });
    assert_eq!((users(instrument), counts(instrument)), ((None, 0), (9, 9)));
}

#[test]
fn sums_are_exact() {
    const TASKS: u64 = 8;
    const TIMES: u64 = 200;
    for (runtime, attached) in [(threads(), true), (threads(), false), (one_thread(), true), (one_thread(), false)] {
        let names = ["mutex/test/sums", "rwlock/test/sums", "semaphore/test/sums", "mpsc/test/sums"];
        let [mutex, rwlock, semaphore, channel] = names.map(|name| instrument(format!("wait/synch/{name}").leak()));
        let before = [mutex, rwlock, semaphore, channel].map(|instrument| counts(instrument).0);
        let lock = Arc::new(Mutex::with_instrument(mutex, 0));
        let book = Arc::new(RwLock::with_instrument(rwlock, 0));
        let permits = Arc::new(Semaphore::with_instrument(semaphore, 2));
        let (sender, mut receiver) = mpsc::channel_with_instrument(channel, 3);
        let received = runtime.block_on(async {
            let tasks: Vec<_> = (0..TASKS)
                .map(|_| {
                    let (lock, book, permits, sender) =
                        (Arc::clone(&lock), Arc::clone(&book), Arc::clone(&permits), sender.clone());
                    let work = async move {
                        for number in 0..TIMES {
                            let _permit = Arc::clone(&permits).acquire_owned().await.unwrap();
                            let mut guard = lock.lock().await;
                            tokio::task::yield_now().await;
                            *guard += 1;
                            drop(guard);
                            *book.write().await += *Arc::clone(&lock).lock_owned().await;
                            drop(book.read().await);
                            sender.send(number).await.unwrap();
                        }
                    };
                    if attached { tokio::spawn(attach("task/test/sums", work)) } else { tokio::spawn(work) }
                })
                .collect();
            drop(sender);
            let mut received = 0;
            while receiver.recv().await.is_some() {
                received += 1;
            }
            for task in tasks {
                task.await.unwrap();
            }
            received
        });
        let all = TASKS * TIMES;
        assert_eq!((received, *lock.try_lock().unwrap()), (all, all));
        let now = [mutex, rwlock, semaphore, channel].map(counts);
        let expected = [2 * all + 1, 2 * all, all, 2 * all + 1];
        let new: Vec<_> = now.iter().zip(before).map(|(now, before)| now.0 - before).collect();
        assert_eq!(new, expected);
        // Each is an instance of its own.
        assert_eq!(now.map(|(_, of_instances)| of_instances), expected);
        assert_eq!((holder(mutex), users(rwlock)), (None, (None, 0)));
        [mutex, rwlock, semaphore, channel].into_iter().for_each(|instrument| assert_eq!(running(instrument), []));
    }
}

#[test]
fn no_history_misses_one() {
    let instrument = instrument("wait/synch/mutex/test/history");
    let lock = Mutex::with_instrument(instrument, ());
    let id = threads().block_on(attach("task/test/history", async {
        for _ in 0..5 {
            drop(lock.lock().await);
            drop(lock.try_lock().unwrap());
        }
        let mut own = rows(instrument, tables::EventsWaitsHistory);
        own.sort_by_key(|row| row.event_id);
        let own: Vec<_> = own.iter().map(|row| (row.thread_id, row.event_id, row.operation)).collect();
        let operations = ["lock", "try_lock"].into_iter().cycle();
        assert_eq!(own, (1..=10).zip(operations).map(|(event, operation)| (own_id(), event, operation)).collect::<Vec<_>>());
        own_id()
    }));
    assert_eq!(ended(instrument), [(id, "lock"), (id, "try_lock")].repeat(5));
}

#[test]
fn a_panic_lets_everything_go() {
    let (mutex, rwlock) = (instrument("wait/synch/mutex/test/panics"), instrument("wait/synch/rwlock/test/panics"));
    let lock = Arc::new(Mutex::with_instrument(mutex, 1));
    let book = Arc::new(RwLock::with_instrument(rwlock, 1));
    threads().block_on(async {
        let (lock, book) = (Arc::clone(&lock), Arc::clone(&book));
        let task = tokio::spawn(attach("task/test/panics", async move {
            let _guards = (lock.lock().await, book.write().await);
            assert_eq!((holder(mutex), users(rwlock).0), (thread::thread_id(), thread::thread_id()));
            panic!("on purpose");
        }));
        assert!(task.await.unwrap_err().is_panic());
    });
    assert_eq!((holder(mutex), users(rwlock)), (None, (None, 0)));
    // Within what maps a guard; who is let in by that has the mark.
    let mut next = Box::pin(lock.lock());
    let guard = lock.try_lock().unwrap();
    assert!(poll(next.as_mut()).is_pending());
    let mapped = catch_unwind(AssertUnwindSafe(|| MutexGuard::map(guard, |_| -> &mut u8 { panic!("on purpose") })));
    assert!(mapped.is_err() && holder(mutex).is_none());
    assert!(poll(next.as_mut()).is_ready());
    let owned = Arc::clone(&book).try_write_owned().unwrap();
    let mapped =
        catch_unwind(AssertUnwindSafe(|| OwnedRwLockWriteGuard::downgrade_map(owned, |_| -> &u8 { panic!("on purpose") })));
    assert!(mapped.is_err());
    assert_eq!(users(rwlock), (None, 0));
    assert_eq!((Arc::strong_count(&book), *book.try_read().unwrap()), (1, 1));
    assert_eq!((running(mutex), running(rwlock)), (vec![], vec![]));
}

#[test]
fn the_mark_stays_with_what_is_made_of_a_guard() {
    let (mutex, rwlock) = (instrument("wait/synch/mutex/test/parts"), instrument("wait/synch/rwlock/test/parts"));
    let (lock, own) = (Mutex::with_instrument(mutex, 1), thread::thread_id());
    let guard = MutexGuard::try_map(lock.try_lock().unwrap(), |_| None::<&mut u8>).unwrap_err();
    assert_eq!(holder(mutex), own);
    let mapped = MutexGuard::map(guard, |number| number);
    assert_eq!(holder(mutex), own);
    let mapped = MappedMutexGuard::try_map(mapped, |_| None::<&mut u8>).unwrap_err();
    assert_eq!(holder(mutex), own);
    let mapped = MappedMutexGuard::try_map(mapped, |number| Some(number)).unwrap();
    assert_eq!(holder(mutex), own);
    drop(mapped);
    assert_eq!(holder(mutex), None);

    let book = RwLock::with_instrument(rwlock, 1);
    let guard = RwLockReadGuard::try_map(book.try_read().unwrap(), |_| None::<&u8>).unwrap_err();
    assert_eq!(users(rwlock), (None, 1));
    let mapped = RwLockReadGuard::map(guard, |number| number);
    assert_eq!(users(rwlock), (None, 1));
    drop(mapped);
    let guard = RwLockWriteGuard::try_map(book.try_write().unwrap(), |_| None::<&mut u8>).unwrap_err();
    let guard = RwLockWriteGuard::try_downgrade_map(guard, |_| None::<&u8>).unwrap_err();
    assert_eq!(users(rwlock), (own, 0));
    let mapped = RwLockWriteGuard::map(guard, |number| number);
    let mapped = RwLockMappedWriteGuard::try_map(mapped, |_| None::<&mut u8>).unwrap_err();
    assert_eq!(users(rwlock), (own, 0));
    drop(mapped);
    let reader = RwLockWriteGuard::try_downgrade_map(book.try_write().unwrap(), |number| Some(number)).unwrap();
    assert_eq!(users(rwlock), (None, 1));
    drop(reader);
    assert_eq!(users(rwlock), (None, 0));
}

/// What is seen at the moment in which `let_go` makes that ready which waits.
fn seen<S: Send + 'static>(look: impl Fn() -> S + Send + Sync + 'static, waits: impl Future, let_go: impl FnOnce()) -> Option<S> {
    struct Looks<S, L>(std::sync::Mutex<Option<S>>, L);
    impl<S: Send + 'static, L: Fn() -> S + Send + Sync + 'static> Wake for Looks<S, L> {
        fn wake(self: Arc<Self>) {
            *self.0.lock().unwrap() = Some(self.1());
        }
    }
    let looks = Arc::new(Looks(std::sync::Mutex::new(None), look));
    let mut waits = pin!(waits);
    assert!(waits.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(&looks)))).is_pending());
    let_go();
    looks.0.lock().unwrap().take()
}

/// Or it would take away that of the next one.
#[test]
fn the_mark_goes_before_the_lock_does() {
    let (mutex, rwlock) = (instrument("wait/synch/mutex/test/order"), instrument("wait/synch/rwlock/test/order"));
    let lock = Arc::new(Mutex::with_instrument(mutex, 1));
    let of_mutex = || holder(mutex);
    let guard = lock.try_lock().unwrap();
    assert_eq!(seen(of_mutex, lock.lock(), || drop(guard)), Some(None));
    let mapped = MutexGuard::map(lock.try_lock().unwrap(), |number| number);
    assert_eq!(seen(of_mutex, lock.lock(), || drop(mapped)), Some(None));
    let owned = Arc::clone(&lock).try_lock_owned().unwrap();
    assert_eq!(seen(of_mutex, lock.lock(), || drop(owned)), Some(None));
    let mapped = OwnedMutexGuard::map(Arc::clone(&lock).try_lock_owned().unwrap(), |number| number);
    assert_eq!(seen(of_mutex, lock.lock(), || drop(mapped)), Some(None));
    let guard = lock.try_lock().unwrap();
    let panics = || MutexGuard::try_map(guard, |_| -> Option<&mut u8> { panic!("on purpose") });
    assert_eq!(seen(of_mutex, lock.lock(), || drop(catch_unwind(AssertUnwindSafe(panics)))), Some(None));

    let book = Arc::new(RwLock::with_instrument(rwlock, 1));
    let of_rwlock = || users(rwlock);
    let free = Some((None, 0));
    let guard = book.try_write().unwrap();
    assert_eq!(seen(of_rwlock, book.read(), || drop(guard)), free);
    let guard = book.try_read().unwrap();
    assert_eq!(seen(of_rwlock, book.write(), || drop(guard)), free);
    let mapped = RwLockWriteGuard::into_mapped(book.try_write().unwrap());
    assert_eq!(seen(of_rwlock, book.read(), || drop(mapped)), free);
    let owned = Arc::clone(&book).try_write_owned().unwrap();
    assert_eq!(seen(of_rwlock, book.read(), || drop(owned)), free);
    let guard = book.try_write().unwrap();
    let reader = seen(of_rwlock, book.read(), || drop(guard.downgrade()));
    assert_eq!(reader, Some((None, 1)));
}

#[test]
fn off_is_off() {
    let instrument = instrument("wait/synch/mutex/test/off");
    let lock = Arc::new(Mutex::with_instrument(instrument, 0));
    let runtime = one_thread();
    let region = region();
    drop(lock.try_lock().unwrap());
    let class = region.find_class(instrument.name()).unwrap();
    // Held while it is switched off: the mark goes with the guard.
    let guard = lock.try_lock().unwrap();
    region.set_setting(class, Setting::OFF);
    assert_eq!(holder(instrument), thread::thread_id());
    drop(guard);
    assert_eq!(holder(instrument), None);
    runtime.block_on(attach("task/test/off", async {
        let guard = lock.lock().await;
        assert_eq!(holder(instrument), None);
        let mut waits = Box::pin(Arc::clone(&lock).lock_owned());
        assert!(poll(waits.as_mut()).is_pending());
        assert_eq!(running(instrument), []);
        // What is pending when it is switched on is no wait.
        region.set_setting(class, Setting::ON);
        assert!(poll(waits.as_mut()).is_pending());
        drop(guard);
        drop(waits.await);
        assert_eq!((running(instrument), holder(instrument), counts(instrument)), (vec![], None, (2, 2)));
        // What was on when it began is recorded.
        let guard = lock.lock().await;
        let mut waits = Box::pin(lock.lock());
        assert!(poll(waits.as_mut()).is_pending());
        region.set_setting(class, Setting::OFF);
        drop(guard);
        drop(waits.await);
    }));
    assert_eq!((running(instrument), holder(instrument), counts(instrument)), (vec![], None, (4, 4)));
}

#[test]
fn a_lock_blocks_threads_as_it_does_tasks() {
    let instrument = instrument("wait/synch/mutex/test/blocks");
    let lock = Arc::new(Mutex::with_instrument(instrument, 0));
    let guard = lock.try_lock().unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| (*lock.blocking_lock(), own_id()));
        until_running(instrument, 1);
        let waiting = running(instrument);
        drop(guard);
        assert_eq!(waiting, [(waiter.join().unwrap().1, "lock")]);
        let owned = scope.spawn(|| Arc::clone(&lock).blocking_lock_owned()).join().unwrap();
        assert!(holder(instrument).is_some());
        drop(owned);
    });
    assert_eq!((holder(instrument), counts(instrument)), (None, (3, 3)));
}

#[test]
fn the_line_is_that_of_the_call() {
    let instrument = instrument("wait/synch/mutex/test/line");
    let lock = Arc::new(Mutex::with_instrument(instrument, 0));
    let first = line!() + 2;
    one_thread().block_on(async {
        drop(lock.lock().await);
        drop(Arc::clone(&lock).lock_owned().await);
        drop(lock.try_lock());
        drop(Arc::clone(&lock).try_lock_owned());
    });
    let mut lines: Vec<_> = rows(instrument, tables::EventsWaitsHistoryLong);
    lines.sort_by_key(|row| row.timer_end);
    let lines: Vec<_> = lines.iter().map(|row| row.source.unwrap().as_str().to_owned()).collect();
    assert_eq!(lines, (first..first + 4).map(|line| format!("tokio_sync.rs:{line}")).collect::<Vec<_>>());
}
