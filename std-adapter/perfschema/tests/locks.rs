//! What each kind of lock leaves in the tables, with everything on. One process, so one region: every test has locks of its own.
#![cfg(feature = "instrument")]

use perfschema::sync::{Barrier, Condvar, Mutex, Once, RwLock, RwLockWriteGuard, TryLockError, mpsc};
use perfschema::tables::{
    CondInstances, EventsWaitsCurrent, EventsWaitsHistory, EventsWaitsRow, EventsWaitsSummaryByInstance,
    EventsWaitsSummaryGlobalByEventName, MutexInstances, RwlockInstances, Threads,
};
use perfschema::{Instrument, Process, thread};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn start() -> &'static Process {
    static STARTED: OnceLock<&'static Process> = OnceLock::new();
    STARTED.get_or_init(|| perfschema::builder().everything(true).environment(false).start().unwrap())
}

/// The calling thread's last ended wait, which must be at `name`.
fn last(name: &str) -> EventsWaitsRow {
    let me = thread::thread_id().unwrap();
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
    assert_eq!(holder_of(NAME), thread::thread_id());
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
            let id = thread::thread_id().unwrap();
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
        assert_eq!(holder_of(NAME), thread::thread_id());
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
    let lock: RwLock<u32> = perfschema::rwlock!("wait/synch/rwlock/test/poison", 1);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        *lock.write().unwrap() = 2;
        let _guard = lock.write().unwrap();
        panic!("while it is locked");
    }));
    assert!(panicked.is_err() && lock.is_poisoned());
    assert_eq!(*lock.read().unwrap_err().into_inner(), 2);
    assert_eq!(*lock.write().unwrap_err().into_inner(), 2);
    lock.clear_poison();
    assert!(!lock.is_poisoned());
    assert_eq!(*lock.read().unwrap(), 2);
    assert_eq!(*lock.write().unwrap(), 2);
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
    assert_eq!(look(), (thread::thread_id(), 0));
    assert!(lock.try_read().is_err());
    drop(guard);
    assert_eq!(look(), (None, 0));
    assert_eq!(count(NAME), 5);
    let mut operations = Vec::new();
    let me = thread::thread_id().unwrap();
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
    // Also those that did not get it.
    assert_eq!(by_instance, 5);
}

/// How often a thread looked for a lock that it found held, before it went to sleep or without that; of one that was free nothing.
#[test]
fn a_lock_that_is_held_is_spun_for() {
    start();
    const MUTEX: &str = "wait/synch/mutex/test/spun_for";
    const RWLOCK: &str = "wait/synch/rwlock/test/spun_for";
    static LOCK: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/spun_for", ());
    static TABLE: RwLock<()> = perfschema::rwlock!("wait/synch/rwlock/test/spun_for", ());
    let waits = || {
        let mut waits = 0;
        start().region().scan(&EventsWaitsCurrent, |row| {
            waits += u32::from([MUTEX, RWLOCK].contains(&row.event_name.as_str()) && row.timer_end.is_none());
        });
        waits
    };
    let ways: [(&str, fn()); 3] = [
        (MUTEX, || drop(LOCK.lock().unwrap())),
        (RWLOCK, || drop(TABLE.read().unwrap())),
        (RWLOCK, || drop(TABLE.write().unwrap())),
    ];
    for (name, lock) in ways {
        let wait = || {
            let held = (LOCK.lock().unwrap(), TABLE.write().unwrap());
            std::thread::scope(|scope| {
                let waiter = scope.spawn(move || {
                    lock();
                    let waited = last(name);
                    lock();
                    (waited, last(name))
                });
                while waits() == 0 {
                    std::thread::yield_now();
                }
                // Longer than anybody spins.
                std::thread::sleep(Duration::from_millis(5));
                drop(held);
                waiter.join().unwrap()
            })
        };
        // Again where the other thread was shown as waiting, and had no processor until the lock was free.
        let (waited, free) = (0..100).map(|_| wait()).find(|(waited, _)| waited.spins.is_some()).unwrap();
        assert!(waited.spins.is_some_and(|spins| (1..=3).contains(&spins)), "{waited:?}");
        assert_eq!((free.spins, waited.number_of_bytes), (None, None));
    }
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
            assert_eq!(holder_of(MUTEX), thread::thread_id());
            drop(guard);
            assert_eq!(last(COND).operation, "wait");
        });
        let mut waits = false;
        while !waits {
            start().region().scan(&EventsWaitsCurrent, |row| waits |= row.event_name == COND && row.timer_end.is_none());
            std::thread::yield_now();
        }
        let mut guard = LOCK.lock().unwrap();
        assert_eq!(holder_of(MUTEX), thread::thread_id());
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

/// As std: the mutex is held all along, nobody waits, and a poisoned one is no error.
#[test]
fn a_condition_whose_time_is_up_is_not_waited_for() {
    start();
    const COND: &str = "wait/synch/cond/test/time_is_up";
    static CHANGED: Condvar = perfschema::condvar!("wait/synch/cond/test/time_is_up");
    let lock = Mutex::new(false);
    std::thread::scope(|scope| {
        let guard = lock.lock().unwrap();
        scope.spawn(|| *lock.lock().unwrap() = true);
        let slow = |set: &mut bool| {
            std::thread::sleep(Duration::from_millis(20));
            !*set
        };
        let (guard, result) = CHANGED.wait_timeout_while(guard, Duration::ZERO, slow).unwrap();
        assert!(result.timed_out() && !*guard, "nobody else had the mutex");
    });
    assert_eq!(count(COND), 0);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                CHANGED.notify_all();
            }
        });
        for _ in 0..10_000 {
            let (_guard, result) = CHANGED.wait_timeout_while(lock.lock().unwrap(), Duration::from_nanos(1), |_| true).unwrap();
            assert!(result.timed_out(), "the condition is never met");
        }
        done.store(true, Ordering::Relaxed);
    });
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let _guard = lock.lock();
        panic!("it is poisoned");
    }));
    let guard = lock.lock().unwrap_err().into_inner();
    let slow = |_: &mut bool| {
        std::thread::sleep(Duration::from_millis(1));
        true
    };
    assert!(CHANGED.wait_timeout_while(guard, Duration::ZERO, slow).is_ok_and(|(_, result)| result.timed_out()));
}

/// std allows it on most systems.
#[test]
fn a_condition_with_two_mutexes_counts_all_waits() {
    start();
    const COND: &str = "wait/synch/cond/test/two_mutexes";
    static CHANGED: Condvar = perfschema::condvar!("wait/synch/cond/test/two_mutexes");
    const WAITS: u64 = if cfg!(miri) { 50 } else { 20_000 };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let lock = Mutex::new(());
                (0..WAITS).for_each(|_| drop(CHANGED.wait_timeout(lock.lock().unwrap(), Duration::ZERO).unwrap()));
            });
        }
    });
    let mut by_instance = 0;
    start().region().scan(&EventsWaitsSummaryByInstance, |row| {
        by_instance += if row.event_name == COND { row.count_star } else { 0 };
    });
    assert_eq!((count(COND), by_instance), (2 * WAITS, 2 * WAITS));
}

#[test]
fn a_writer_becomes_a_reader() {
    start();
    const NAME: &str = "wait/synch/rwlock/test/downgraded";
    let lock = perfschema::rwlock!("wait/synch/rwlock/test/downgraded", 1);
    let marks = || {
        let mut marks = None;
        start().region().scan(&RwlockInstances, |row| {
            if row.name == NAME {
                marks = Some((row.write_locked_by_thread_id, row.read_locked_by_count));
            }
        });
        marks
    };
    let writer = lock.write().unwrap();
    assert_eq!(marks(), Some((thread::thread_id(), 0)));
    let reader = RwLockWriteGuard::downgrade(writer);
    assert_eq!(marks(), Some((None, 1)));
    assert_eq!((*reader, *lock.read().unwrap(), lock.try_write().is_err()), (1, 1, true));
    drop(reader);
    assert_eq!(marks(), Some((None, 0)));
}

/// What is rarely used; what is not there does not compile.
#[test]
#[expect(deprecated, reason = "std has it, and so must these")]
fn what_std_has_is_here() {
    use perfschema::sync::ONCE_INIT;
    static ONCE: Once = ONCE_INIT;
    let _ = catch_unwind(AssertUnwindSafe(|| ONCE.call_once(|| panic!("it is poisoned"))));
    std::thread::scope(|scope| {
        scope.spawn(|| ONCE.wait_force());
        ONCE.call_once_force(|state| assert!(state.is_poisoned()));
    });
    let lock = Mutex::new(());
    let (guard, was_woken) = Condvar::new().wait_timeout_ms(lock.lock().unwrap(), 1).unwrap();
    assert!(!was_woken);
    drop(guard);
    let ((sender, receiver), (_keep, std_receiver)) = (mpsc::channel::<u8>(), std::sync::mpsc::channel::<u8>());
    assert_eq!(format!("{:?}", receiver.iter()), format!("{:?}", std_receiver.iter()));
    sender.send(1).unwrap();
    let mut received: mpsc::TryIter<'_, u8> = receiver.try_iter();
    assert_eq!((received.next(), received.next()), (Some(1), None));
    assert_eq!(format!("{:?}", receiver.into_iter()), format!("{:?}", std_receiver.into_iter()));
}

/// Also one that the program's begins with, which is `locks-` and more.
#[test]
fn a_thread_has_the_name_that_it_was_given() {
    start();
    let name = || {
        let (me, mut name) = (thread::thread_id(), String::new());
        start().region().scan(&Threads, |row| {
            if Some(row.thread_id) == me {
                name = row.name.as_str().rsplit('/').next().unwrap_or_default().to_owned();
            }
        });
        name
    };
    let named = |given: &str| std::thread::Builder::new().name(given.into()).spawn(name).unwrap().join().unwrap();
    assert_eq!(named("l"), "l");
    for (given, kept) in [
        ("fifteen bytes ok, not more", "fifteen bytes o"),
        // A Unix keeps bytes, whole characters or not.
        ("thirteen bytéé", "thirteen byté"),
        ("fourteen bytesé", "fourteen bytes"),
        ("twelve bytes日本", "twelve bytes日"),
        ("日本語日本語", "日本語日本"),
    ] {
        assert_eq!(named(given), if cfg!(windows) { given } else { kept });
    }
}

/// A name of ours in what a macro makes would be meant by it.
#[test]
fn the_values_of_macros_are_the_callers() {
    const INSTRUMENT: u32 = 7;
    let lock = perfschema::mutex!("wait/synch/mutex/test/hygiene", INSTRUMENT);
    assert_eq!(*lock.lock().unwrap(), 7);
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

/// It is sent to once it is seen to wait; and nothing is sent.
#[test]
fn a_receive_with_a_time_limit_is_a_wait() {
    start();
    const NAME: &str = "wait/synch/mpsc/test/limited";
    static CHANNEL: Instrument = Instrument::new(NAME);
    let (sender, receiver) = mpsc::channel_with_instrument(&CHANNEL);
    let waiting = || {
        let mut waiting = Vec::new();
        start().region().scan(&EventsWaitsCurrent, |row| {
            if row.event_name == NAME && row.end_event_id.is_none() {
                waiting.push(row.operation);
            }
        });
        waiting
    };
    let receives = std::thread::spawn(move || (receiver.recv_timeout(Duration::from_secs(3600)), last(NAME), receiver));
    while waiting().is_empty() {
        std::thread::yield_now();
    }
    assert_eq!((waiting(), count(NAME)), (vec!["recv"], 0));
    sender.send(7).unwrap();
    let (received, wait, receiver) = receives.join().unwrap();
    assert_eq!((received, wait.operation, waiting()), (Ok(7), "recv", vec![]));
    assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(mpsc::RecvTimeoutError::Timeout));
    drop(sender);
    assert_eq!(receiver.recv_timeout(Duration::from_secs(3600)), Err(mpsc::RecvTimeoutError::Disconnected));
    assert_eq!(count(NAME), 3);
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
    // What is said of that names the caller, as std's does.
    static AT: std::sync::Mutex<String> = std::sync::Mutex::new(String::new());
    let (me, hook) = (std::thread::current().id(), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == me {
            *AT.lock().unwrap() = panic.location().map(|at| at.file().to_owned()).unwrap_or_default();
        } else {
            hook(panic);
        }
    }));
    assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| ()))).is_err());
    drop(std::panic::take_hook());
    assert!(AT.lock().unwrap().ends_with("tests/locks.rs"), "{}", AT.lock().unwrap());
    assert_eq!(count(NAME), 3);
    let me = thread::thread_id();
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
    let threads = std::sync::Mutex::new(std::collections::HashSet::new());
    for _ in 0..100 {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    *LOCK.lock().unwrap() += 1;
                    // While it lives its row is there; rows of the long history other tests may push out.
                    start().region().scan(&EventsWaitsHistory, |row| {
                        if row.event_name == NAME {
                            threads.lock().unwrap().insert(row.thread_id);
                        }
                    });
                });
            }
        });
    }
    assert_eq!(count(NAME), 400);
    assert_eq!(threads.into_inner().unwrap().len(), 400, "a THREAD_ID is given once");
}
