//! Each kind of lock once, in the smallest region, from threads that end, and tasks: what Miri, whose aliasing models are slow in a large
//! region, can execute whole.
#![cfg(feature = "instrument")]

use perfschema::sync::{Condvar, Mutex, Once, RwLock};
use perfschema::task::attach;
use perfschema::{Size, tables};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll, Waker};

#[test]
fn each_kind_once_and_threads_that_end() {
    static MUTEX: Mutex<u32> = perfschema::mutex!("wait/synch/mutex/test/small", 0);
    static RWLOCK: RwLock<u32> = perfschema::rwlock!("wait/synch/rwlock/test/small", 0);
    let small = perfschema::builder().everything(true).environment(false);
    // An aliasing model looks at every word of a section that is borrowed: what is not used here has none.
    let small = Size::ALL.iter().fold(small, |small, &size| small.size(size, 0));
    let used = [
        (Size::MaxMutexClasses, 3),
        (Size::MaxRwlockClasses, 2),
        (Size::MaxCondClasses, 2),
        (Size::MaxSynchClasses, 2),
        (Size::MaxMutexInstances, 3),
        (Size::MaxRwlockInstances, 2),
        (Size::MaxCondInstances, 2),
        (Size::MaxSynchInstances, 3),
        (Size::MaxThreadInstances, 4),
        (Size::EventsWaitsHistorySize, 2),
        (Size::EventsWaitsHistoryLongSize, 4),
        (Size::MaxSourceLocations, 4),
    ];
    let small = used.into_iter().fold(small, |small, (size, value)| small.size(size, value));
    let region = small.start().unwrap().region();

    let (condition, once) = (Condvar::new(), Once::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = MUTEX.lock().unwrap();
            while *number == 0 {
                number = condition.wait(number).unwrap();
            }
            once.call_once(|| *RWLOCK.write().unwrap() += 1);
        });
        scope.spawn(|| {
            once.call_once(|| *RWLOCK.write().unwrap() += 1);
            assert!(catch_unwind(AssertUnwindSafe(|| RWLOCK.read().map(|_| panic!("inside")))).is_err());
            *MUTEX.lock().unwrap() += 1;
            condition.notify_all();
        });
    });
    // A guard that outlives its thread's last wait, and a lock that goes.
    let boxed = Box::new(Mutex::new(()));
    std::thread::spawn(move || drop(boxed.lock().map(|_| ()))).join().unwrap();

    // A task within a task, polled here and there; and one that panics.
    let turns = |turns| async move {
        let mut left = turns;
        std::future::poll_fn(|_| {
            drop(MUTEX.lock().unwrap());
            left -= 1;
            if turns == 1 {
                // As a panic, without a word, which costs Miri more than all else.
                std::panic::resume_unwind(Box::new("the last turn"));
            }
            if left == 0 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    };
    let mut task = Box::pin(attach("task/test/outer", async move { attach("task/test/inner", turns(3)).await }));
    let mut panics = Box::pin(attach("task/test/panics", turns(1)));
    assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    std::thread::scope(|scope| {
        let polls = scope.spawn(|| {
            assert!(catch_unwind(AssertUnwindSafe(|| panics.as_mut().poll(&mut Context::from_waker(Waker::noop())))).is_err());
            assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        });
        polls.join().unwrap();
    });
    assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());

    #[cfg(feature = "tokio")]
    guards_that_own_what_they_guard();

    assert_eq!(*MUTEX.lock().unwrap(), 1);
    assert_eq!(*RWLOCK.read().unwrap(), 1);
    let mut waits = Vec::new();
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| waits.push((row.event_name, row.count_star)));
    let of = |name: &str| waits.iter().filter(|(wait, _)| *wait == name).map(|(_, count)| *count).sum::<u64>();
    assert_eq!(of("wait/synch/rwlock/test/small"), 3, "{waits:?}");
    #[cfg(feature = "tokio")]
    assert_eq!(
        ["mutex/tokio/Mutex", "rwlock/tokio/RwLock", "cond/tokio/Notify", "oneshot/tokio/channel"]
            .map(|name| of(&format!("wait/synch/{name}"))),
        [4, 2, 2, 3]
    );
    // Two threads, three polls and another, and here. That a condition gives the mutex back to who waited is its wait, not the mutex's.
    assert_eq!(of("wait/synch/mutex/test/small"), 7, "{waits:?}");
}

/// They may be the last that keep it, when they are given to somebody who drops them, and while they are waited for.
#[cfg(feature = "tokio")]
fn guards_that_own_what_they_guard() {
    use perfschema::tokio::sync::{
        Mutex, Notify, OwnedMappedMutexGuard, OwnedMutexGuard, OwnedRwLockWriteGuard, RwLock, oneshot,
    };
    use std::pin::pin;
    use std::sync::Arc;
    let mut cx = Context::from_waker(Waker::noop());
    let lock = Arc::new(Mutex::new(vec![String::from("one"), String::from("two")]));
    let Poll::Ready(mut guard) = pin!(Arc::clone(&lock).lock_owned()).poll(&mut cx) else { panic!("it is free") };
    let mut waits = Box::pin(lock.lock_owned());
    assert!(waits.as_mut().poll(&mut cx).is_pending());
    guard.pop();
    drop(guard);
    drop(waits);
    let guard = Arc::new(Mutex::new(vec![1, 2])).try_lock_owned().unwrap();
    let mapped = OwnedMutexGuard::map(guard, |numbers| &mut numbers[..]);
    let mut mapped = OwnedMappedMutexGuard::try_map(mapped, |_| None::<&mut u8>).unwrap_err();
    mapped[1] += 1;
    std::thread::scope(|scope| scope.spawn(|| drop(mapped)).join().unwrap());
    let guard = Arc::new(Mutex::new(1)).try_lock_owned().unwrap();
    fn panics(_: &mut u32) -> &mut u32 {
        std::panic::resume_unwind(Box::new("within"))
    }
    assert!(catch_unwind(AssertUnwindSafe(|| OwnedMutexGuard::map(guard, panics))).is_err());

    let book = Arc::new(RwLock::new(String::from("three")));
    let mut writer = Arc::clone(&book).try_write_owned().unwrap();
    writer.push('!');
    let reader = writer.downgrade();
    drop(book);
    assert_eq!(*reader, "three!");
    drop(reader);
    let writer = Arc::new(RwLock::new((4, 5))).try_write_owned().unwrap();
    *OwnedRwLockWriteGuard::map(writer, |pair| &mut pair.1) += 1;

    let notify = Arc::new(Notify::new());
    let mut notified = [Box::pin(Arc::clone(&notify).notified_owned()), Box::pin(notify.notified_owned())];
    assert!(notified.iter_mut().all(|notified| notified.as_mut().poll(&mut cx).is_pending()));
    drop(notified);

    // The receiver of a single message has its wait with it, wherever it goes.
    let (sender, mut receiver) = oneshot::channel();
    assert!(pin!(&mut receiver).poll(&mut cx).is_pending());
    let mut moved = Box::new(receiver);
    assert!(moved.try_recv().is_err() && pin!(&mut moved).poll(&mut cx).is_pending());
    sender.send(String::from("four")).unwrap();
    assert_eq!(pin!(&mut moved).poll(&mut cx), Poll::Ready(Ok(String::from("four"))));
    let (_sender, mut receiver) = oneshot::channel::<String>();
    assert!(pin!(&mut receiver).poll(&mut cx).is_pending());
    std::thread::scope(|scope| scope.spawn(|| drop(receiver)).join().unwrap());
}
