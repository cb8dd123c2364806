//! Forks and signal handlers in the middle of a poll, of tasks that have actors of their own.

use crate::fork::{forked, wait};
use crate::{AtLast, command, small, succeeds};
use perfschema::sync::Mutex;
use perfschema::task::attach;
use perfschema::{Lost, Region, tables, thread};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

static LOCK: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/task", ());
static HANDLER: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/handler", ());
static HANDLED: AtomicU64 = AtomicU64::new(0);
/// What its thread forks for, in a handler.
static FORKS: AtomicBool = AtomicBool::new(false);

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

fn poll(task: &mut Task) {
    let _ = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
}

/// A task that never ends, and runs this at each poll.
fn each_poll(name: &'static str, mut run: impl FnMut() + Send + 'static) -> Task {
    Box::pin(attach(
        name,
        poll_fn(move |_| {
            run();
            Poll::Pending
        }),
    ))
}

fn lock() {
    drop(LOCK.lock().unwrap());
}

/// Who there is: THREAD_ID by NAME.
fn rows(region: &Region<'_>) -> BTreeMap<String, u64> {
    let mut rows = BTreeMap::new();
    region.scan(&tables::Threads, |row| {
        let name = row.name.as_str().rsplit('/').next().unwrap_or("");
        assert_eq!(rows.insert(name.to_string(), row.thread_id), None, "{row:?}");
    });
    rows
}

/// COUNT_STAR of an instrument's waits by THREAD_ID.
fn counts(region: &Region<'_>, name: &str) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    region.scan(&tables::EventsWaitsSummaryByThreadByEventName, |row| {
        if row.event_name.as_str().ends_with(name) && row.count_star > 0 {
            counts.insert(row.thread_id, row.count_star);
        }
    });
    counts
}

/// Forks within two polls, one in the other, of a thread that has polled a third before.
fn forks(region: &'static Region<'static>) {
    let mut other = each_poll("task/test/other", lock);
    poll(&mut other);
    let mut inner = each_poll("task/test/inner", move || {
        lock();
        let pid = forked(move || in_the_child(region));
        lock();
        wait(pid);
    });
    let mut outer = each_poll("task/test/outer", move || {
        lock();
        poll(&mut inner);
        lock();
    });
    lock();
    poll(&mut outer);
    poll(&mut other);
    let id = rows(region);
    let expected = [("main", 1), ("outer", 2), ("inner", 2), ("other", 2)].map(|(name, count)| (id[name], count));
    assert_eq!(counts(region, "test/task"), BTreeMap::from(expected));
    // What was polled in a child goes on there, what was not begins anew, and neither writes where the other does.
    let (mut in_child, mut stays) = (each_poll("task/test/stays", lock), true);
    let mut forks = {
        let mut other = each_poll("task/test/other", lock);
        poll(&mut other);
        each_poll("task/test/forks", move || {
            if std::mem::take(&mut stays) {
                let mut mine = std::mem::replace(&mut in_child, each_poll("task/test/unused", lock));
                poll(&mut mine);
                let mut other = std::mem::replace(&mut other, each_poll("task/test/unused", lock));
                wait(forked(std::panic::AssertUnwindSafe(move || {
                    let own = thread::current_id().unwrap();
                    assert_eq!(rows(region).len(), 2, "{:?}", rows(region));
                    // Takes the place that one of the forgotten had.
                    let mut new = each_poll("task/test/new", lock);
                    poll(&mut new);
                    poll(&mut mine);
                    poll(&mut other);
                    poll(&mut new);
                    lock();
                    let id = rows(region);
                    let expected = [(id["new"], 2), (id["stays"], 1), (id["other"], 1), (own, 1)];
                    assert_eq!((counts(region, "test/task"), id["forks"]), (BTreeMap::from(expected), own));
                    drop((new, mine, other));
                    assert_eq!(rows(region).len(), 2);
                    remove_file();
                })));
            }
        })
    };
    poll(&mut forks);
}

/// Both tasks and the thread go on, none of the other is left.
fn in_the_child(region: &'static Region<'static>) {
    let id = rows(region);
    assert_eq!(id.keys().collect::<Vec<_>>(), ["inner", "main", "outer"], "{id:?}");
    assert_eq!(thread::current_id(), Some(id["inner"]));
    lock();
    lock();
    assert_eq!(counts(region, "test/task"), BTreeMap::from([(id["inner"], 2)]));
    // Whoever comes takes other places.
    std::thread::spawn(lock).join().unwrap();
    assert_eq!(rows(region), id);
    lock();
    assert_eq!(counts(region, "test/task"), BTreeMap::from([(id["inner"], 3)]));
    remove_file();
}

extern "C" fn handler(_: libc::c_int) {
    drop(HANDLER.lock().unwrap());
    let handled = HANDLED.fetch_add(1, Ordering::Relaxed);
    if FORKS.load(Ordering::Relaxed) && handled.is_multiple_of(32) {
        // SAFETY: the child does what a handler may, and leaves.
        match unsafe { libc::fork() } {
            // The thread's next records are the child's.
            0 => IN_CHILD.store(true, Ordering::Relaxed),
            pid => wait(pid),
        }
    }
}

/// Who it is goes on where the handler forked it.
static IN_CHILD: AtomicBool = AtomicBool::new(false);

/// Polls tasks of which each locks once a poll, while signals come, at whatever instruction.
fn signals(region: &'static Region<'static>) {
    // SAFETY: zeros are a value of this plain structure, and what is set is a handler that does only what is allowed in one.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()), 0);
    }
    FORKS.store(crate::argument() == "forking signals", Ordering::Relaxed);
    let done = AtomicBool::new(false);
    // SAFETY: the call takes nothing and cannot fail.
    let target = unsafe { libc::pthread_self() };
    std::thread::scope(|scope| {
        let sends = scope.spawn(|| {
            let _finished = AtLast(&done);
            for round in 1..=300 {
                // SAFETY: the thread runs until this one is done.
                assert_eq!(unsafe { libc::pthread_kill(target, libc::SIGUSR1) }, 0);
                while HANDLED.load(Ordering::Relaxed) < round {
                    std::thread::yield_now();
                }
            }
        });
        let mut polled = 0_u64;
        let mut tasks: Vec<Task> = (0..2).map(|_| each_poll("", lock)).collect();
        let mut around = {
            let mut within = each_poll("", lock);
            each_poll("", move || poll(&mut within))
        };
        while !done.load(Ordering::Relaxed) {
            tasks.iter_mut().for_each(poll);
            poll(&mut around);
            polled += 3;
            if IN_CHILD.load(Ordering::Relaxed) {
                goes_on_in_the_child(region, &mut tasks, &mut around);
            }
        }
        sends.join().unwrap();
        let sum = |name| counts(region, name).into_values().sum::<u64>();
        assert_eq!((sum("test/task"), sum("test/handler")), (polled, HANDLED.load(Ordering::Relaxed)));
        let by_task = counts(region, "test/task");
        assert_eq!((by_task.len(), by_task.into_values().min()), (3, Some(polled / 3)));
    });
    for &lost in Lost::ALL {
        assert_eq!(region.lost(lost), 0, "{lost:?}");
    }
}

/// In the child of a handler: whatever it interrupted, each task and the thread writes where nobody else does.
fn goes_on_in_the_child(region: &'static Region<'static>, tasks: &mut [Task], around: &mut Task) -> ! {
    let check = std::panic::AssertUnwindSafe(|| {
        let sum = || counts(region, "test/task").into_values().sum::<u64>();
        let mut new: Vec<Task> = (0..3).map(|_| each_poll("", lock)).collect();
        let before = sum();
        for _ in 0..20 {
            new.iter_mut().chain(&mut *tasks).for_each(poll);
            poll(around);
            lock();
        }
        let counted = counts(region, "test/task");
        assert_eq!((sum() - before, counted.len()), (20 * 7, 7), "{counted:?}");
        let mut history = BTreeMap::new();
        region.scan(&tables::EventsWaitsHistory, |row| {
            assert!(row.timer_wait.is_some(), "{row:?}");
            *history.entry(row.thread_id).or_insert(0) += 1;
        });
        assert!(counted.keys().all(|id| history[id] == 10), "{history:?}");
    });
    let failed = std::panic::catch_unwind(check).is_err();
    // SAFETY: it only ends the process.
    unsafe { libc::_exit(i32::from(failed)) }
}

pub(crate) fn program() {
    let region = small().share(crate::argument().starts_with("shared")).start().unwrap().region();
    thread::attach_as("thread/test/main", thread::ThreadType::Background, "", "");
    match crate::argument().as_str() {
        "shared fork" | "fork" => forks(region),
        _ => signals(region),
    }
    remove_file();
}

/// Of the process that it is.
fn remove_file() {
    if let Some(file) = perfschema::process().and_then(|process| process.shared_file()) {
        std::fs::remove_file(file.unwrap()).unwrap();
    }
}

#[test]
fn a_fork_in_a_poll() {
    succeeds(&mut command("tasks", "fork"));
    succeeds(&mut command("tasks", "shared fork"));
}

#[test]
fn handlers_in_a_poll() {
    succeeds(&mut command("tasks", "signals"));
}

#[test]
fn handlers_in_a_poll_that_fork() {
    succeeds(&mut command("tasks", "forking signals"));
}
