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
        (Size::MaxMutexClasses, 2),
        (Size::MaxRwlockClasses, 1),
        (Size::MaxCondClasses, 1),
        (Size::MaxSynchClasses, 1),
        (Size::MaxMutexInstances, 2),
        (Size::MaxRwlockInstances, 1),
        (Size::MaxCondInstances, 1),
        (Size::MaxSynchInstances, 1),
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

    assert_eq!(*MUTEX.lock().unwrap(), 1);
    assert_eq!(*RWLOCK.read().unwrap(), 1);
    let mut waits = Vec::new();
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| waits.push((row.event_name, row.count_star)));
    let of = |name: &str| waits.iter().filter(|(wait, _)| *wait == name).map(|(_, count)| *count).sum::<u64>();
    assert_eq!(of("wait/synch/rwlock/test/small"), 3, "{waits:?}");
    // The guards that were dropped and waited for again are waits, too.
    assert!(of("wait/synch/mutex/test/small") >= 7, "{waits:?}");
}
