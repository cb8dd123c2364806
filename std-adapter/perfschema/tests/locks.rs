//! What each kind of lock leaves in the tables, with everything on. One process, so one region: every test has locks of its own.
#![cfg(feature = "instrument")]

use perfschema::sync::{Barrier, Condvar, Mutex, Once, RwLock, TryLockError, mpsc};
use perfschema::tables::{
    CondInstances, EventsWaitsCurrent, EventsWaitsHistory, EventsWaitsHistoryLong, EventsWaitsRow, EventsWaitsSummaryByInstance,
    EventsWaitsSummaryGlobalByEventName, MutexInstances, RwlockInstances,
};
use perfschema::{Instrument, Process, thread};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::OnceLock;
use std::time::Duration;

fn start() -> &'static Process {
    static STARTED: OnceLock<&'static Process> = OnceLock::new();
    STARTED.get_or_init(|| perfschema::builder().everything(true).environment(false).start().unwrap())
}

/// The calling thread's last ended wait, which must be at `name`.
fn last(name: &str) -> EventsWaitsRow {
    let me = thread::current_id().unwrap();
    let mut rows = Vec::new();
    start().region().scan(&EventsWaitsHistory, |row| {
        if row.thread_id == me && row.event_name == name {
            rows.push(row.clone());
        }
    });
    rows.into_iter().max_by_key(|row| row.event_id).unwrap()
}

fn count(name: &str) -> u64 {
    let mut count = 0;
    start().region().scan(&EventsWaitsSummaryGlobalByEventName, |row| {
        if row.event_name == name {
            count = row.count_star;
        }
    });
    count
}

fn source(location: &Location<'_>) -> String {
    format!("locks.rs:{}", location.line())
}

#[track_caller]
fn here() -> &'static Location<'static> {
    Location::caller()
}

fn holder_of(name: &str) -> Option<u64> {
    let mut holder = None;
    start().region().scan(&MutexInstances, |row| {
        if row.name == name {
            holder = row.locked_by_thread_id;
        }
    });
    holder
}

#[test]
fn a_mutex_shows_its_wait_and_its_holder() {
    start();
    const NAME: &str = "wait/synch/mutex/test/plain";
    static LOCK: Mutex<u32> = perfschema::mutex!("wait/synch/mutex/test/plain", 0);
    #[rustfmt::skip]
    let (line, guard) = (here(), LOCK.lock().unwrap());
    assert_eq!(holder_of(NAME), thread::current_id());
    drop(guard);
    assert_eq!(holder_of(NAME), None);
    let row = last(NAME);
    assert_eq!(row.operation, "lock");
    assert_eq!(row.source.unwrap(), source(line).as_str());
    assert!(row.timer_wait.is_some() && row.timer_end.is_some() && row.spins.is_none());
    let mut instances = Vec::new();
    start().region().scan(&MutexInstances, |instance| {
        if instance.name == NAME {
            instances.push(instance.object_instance_begin);
        }
    });
    assert_eq!(instances, [row.object_instance_begin]);
}

#[test]
fn try_lock_records_also_when_it_fails() {
    start();
    const NAME: &str = "wait/synch/mutex/test/try";
    let lock: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/try", ());
    let guard = lock.try_lock().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert!(matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
            assert_eq!(last(NAME).operation, "try_lock");
        });
    });
    drop(guard);
    assert_eq!(count(NAME), 2);
    assert_eq!(holder_of(NAME), None, "the failed attempt must not have taken the mark away too late");
}

#[test]
fn a_blocked_thread_is_visible_with_who_holds_the_lock() {
    start();
    const NAME: &str = "wait/synch/mutex/test/blocked";
    static LOCK: Mutex<u32> = perfschema::mutex!("wait/synch/mutex/test/blocked", 0);
    let guard = LOCK.lock().unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let id = thread::current_id().unwrap();
            drop(LOCK.lock().unwrap());
            id
        });
        let mut seen = None;
        // It gets there: the wait cannot end before the guard goes.
        while seen.is_none() {
            start().region().scan(&EventsWaitsCurrent, |row| {
                if row.event_name == NAME && row.end_event_id.is_none() {
                    seen = Some(row.clone());
                }
            });
            std::thread::yield_now();
        }
        let seen = seen.unwrap();
        assert_eq!((seen.timer_end, seen.timer_wait), (None, None));
        assert!(seen.timer_start.is_some());
        assert_eq!(holder_of(NAME), thread::current_id());
        drop(guard);
        assert_eq!(waiter.join().unwrap(), seen.thread_id);
    });
}

#[test]
fn poisoning_is_stds() {
    start();
    let lock: Mutex<u32> = perfschema::mutex!("wait/synch/mutex/test/poison", 1);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut guard = lock.lock().unwrap();
        *guard = 2;
        panic!("while it is locked");
    }));
    assert!(panicked.is_err() && lock.is_poisoned());
    assert_eq!(holder_of("wait/synch/mutex/test/poison"), None);
    assert_eq!(*lock.lock().unwrap_err().into_inner(), 2);
    lock.clear_poison();
    assert_eq!(*lock.lock().unwrap(), 2);
    assert_eq!(lock.into_inner().unwrap(), 2);
}

#[test]
fn a_rwlock_shows_readers_and_writer_apart() {
    start();
    const NAME: &str = "wait/synch/rwlock/test/plain";
    let lock: RwLock<u32> = perfschema::rwlock!("wait/synch/rwlock/test/plain", 0);
    let look = || {
        let mut seen = None;
        start().region().scan(&RwlockInstances, |row| {
            if row.name == NAME {
                seen = Some((row.write_locked_by_thread_id, row.read_locked_by_count));
            }
        });
        seen.unwrap()
    };
    let (one, two) = (lock.read().unwrap(), lock.try_read().unwrap());
    assert_eq!(look(), (None, 2));
    drop(one);
    assert_eq!(look(), (None, 1));
    assert!(lock.try_write().is_err());
    drop(two);
    let guard = lock.write().unwrap();
    assert_eq!(look(), (thread::current_id(), 0));
    assert!(lock.try_read().is_err());
    drop(guard);
    assert_eq!(look(), (None, 0));
    assert_eq!(count(NAME), 5);
    let mut operations = Vec::new();
    let me = thread::current_id().unwrap();
    start().region().scan(&EventsWaitsHistory, |row| {
        if row.thread_id == me && row.event_name == NAME {
            operations.push((row.event_id, row.operation));
        }
    });
    operations.sort_unstable();
    let operations: Vec<_> = operations.into_iter().map(|(_, operation)| operation).collect();
    assert_eq!(operations, ["read_lock", "try_read_lock", "try_write_lock", "write_lock", "try_read_lock"]);
    let mut by_instance = 0;
    start().region().scan(&EventsWaitsSummaryByInstance, |row| {
        if row.event_name == NAME {
            by_instance += row.count_star;
        }
    });
    // Those that got it.
    assert_eq!(by_instance, 3);
}

#[test]
fn a_condition_is_waited_for_without_the_mutex() {
    start();
    const MUTEX: &str = "wait/synch/mutex/test/with_condition";
    const COND: &str = "wait/synch/cond/test/condition";
    static LOCK: Mutex<bool> = perfschema::mutex!("wait/synch/mutex/test/with_condition", false);
    static CHANGED: Condvar = perfschema::condvar!("wait/synch/cond/test/condition");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let guard = CHANGED.wait_while(LOCK.lock().unwrap(), |set| !*set).unwrap();
            assert_eq!(holder_of(MUTEX), thread::current_id());
            drop(guard);
            assert_eq!(last(COND).operation, "wait");
        });
        let mut waits = false;
        while !waits {
            start().region().scan(&EventsWaitsCurrent, |row| waits |= row.event_name == COND && row.timer_end.is_none());
            std::thread::yield_now();
        }
        let mut guard = LOCK.lock().unwrap();
        assert_eq!(holder_of(MUTEX), thread::current_id());
        *guard = true;
        drop(guard);
        CHANGED.notify_all();
    });
    let (guard, result) = CHANGED.wait_timeout(LOCK.lock().unwrap(), Duration::from_millis(1)).unwrap();
    assert!(result.timed_out());
    drop(guard);
    assert_eq!(last(COND).operation, "timed_wait");
    let (guard, result) = CHANGED.wait_timeout_while(LOCK.lock().unwrap(), Duration::from_millis(1), |_| true).unwrap();
    assert!(result.timed_out());
    let (_guard, result) = CHANGED.wait_timeout_while(guard, Duration::from_secs(1000), |_| false).unwrap();
    assert!(!result.timed_out());
    let mut known = 0;
    start().region().scan(&CondInstances, |row| known += u32::from(row.name == COND));
    assert_eq!(known, 1);
}

#[test]
fn once_barrier_and_channels_record_their_waits() {
    start();
    let once: Once = perfschema::once!("wait/synch/once/test/once");
    once.call_once(|| ());
    assert_eq!(last("wait/synch/once/test/once").operation, "call_once");
    once.call_once(|| unreachable!("it is done"));
    assert_eq!(count("wait/synch/once/test/once"), 1);

    static BARRIER: Instrument = Instrument::new("wait/synch/barrier/test/barrier");
    let barrier = Barrier::with_instrument(&BARRIER, 2);
    std::thread::scope(|scope| {
        scope.spawn(|| barrier.wait());
        barrier.wait();
    });
    assert_eq!(count("wait/synch/barrier/test/barrier"), 2);

    static CHANNEL: Instrument = Instrument::new("wait/synch/mpsc/test/channel");
    let (sender, receiver) = mpsc::sync_channel_with_instrument(&CHANNEL, 1);
    std::thread::scope(|scope| {
        scope.spawn(move || (0..100).for_each(|i| sender.send(i).unwrap()));
        assert_eq!(receiver.iter().sum::<u32>(), 4950);
    });
    // 100 sent, 100 received, and the end of it.
    assert_eq!(count("wait/synch/mpsc/test/channel"), 201);
    assert!(matches!(receiver.recv(), Err(mpsc::RecvError)));
}

#[test]
fn a_panic_while_something_is_awaited_ends_the_wait() {
    start();
    const NAME: &str = "wait/synch/once/test/panic";
    let once: Once = perfschema::once!("wait/synch/once/test/panic");
    assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| panic!("in the closure")))).is_err());
    let row = last(NAME);
    assert!(row.end_event_id.is_some() && row.timer_wait.is_some());
    assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| ()))).is_err(), "it is poisoned, as std's is");
    assert_eq!(count(NAME), 2);
    let me = thread::current_id();
    let mut running = 0;
    start()
        .region()
        .scan(&EventsWaitsCurrent, |row| running += u32::from(row.end_event_id.is_none() && Some(row.thread_id) == me));
    assert_eq!(running, 0);
}

#[test]
fn waits_within_a_wait_are_nested() {
    start();
    static INNER: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/inner", ());
    let once: Once = perfschema::once!("wait/synch/once/test/outer");
    once.call_once(|| drop(INNER.lock().unwrap()));
    let (outer, inner) = (last("wait/synch/once/test/outer"), last("wait/synch/mutex/test/inner"));
    assert_eq!(inner.nesting_event_id, Some(outer.event_id));
    assert_eq!(inner.nesting_event_type.map(|kind| kind.name()), Some("WAIT"));
    assert_eq!(outer.nesting_event_id, None);
    assert_eq!(outer.end_event_id, Some(inner.event_id));
}

#[test]
fn a_lock_that_is_dropped_or_moved() {
    start();
    const NAME: &str = "wait/synch/mutex/test/moved";
    static CLASS: Instrument = Instrument::new("wait/synch/mutex/test/moved");
    let known = || {
        let mut known = Vec::new();
        start().region().scan(&MutexInstances, |row| {
            if row.name == NAME {
                known.push(row.object_instance_begin);
            }
        });
        known
    };
    let lock = Mutex::with_instrument(&CLASS, 0);
    drop(lock.lock().unwrap());
    let before = known();
    let boxed = Box::new(lock);
    drop(boxed.lock().unwrap());
    let after = known();
    assert_eq!((before.len(), after.len()), (1, 1));
    assert_ne!(before, after);
    drop(boxed);
    assert!(known().is_empty());
    assert_eq!(count(NAME), 2, "the sums by event name stay");
}

#[test]
fn threads_come_and_go() {
    start();
    const NAME: &str = "wait/synch/mutex/test/short_threads";
    static LOCK: Mutex<u64> = perfschema::mutex!("wait/synch/mutex/test/short_threads", 0);
    for _ in 0..100 {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| *LOCK.lock().unwrap() += 1);
            }
        });
    }
    assert_eq!(count(NAME), 400);
    let mut threads = std::collections::HashSet::new();
    start().region().scan(&EventsWaitsHistoryLong, |row| {
        if row.event_name == NAME {
            threads.insert(row.thread_id);
        }
    });
    // Other tests write to the long history, too, and may push some out.
    assert!(threads.len() > 100, "{}", threads.len());
}
