//! Forks and signal handlers in the middle of a poll, of tasks that have actors of their own.

use crate::fork::{forked, wait};
use crate::{command, ends_in_time, small, succeeds};
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
                    let own = thread::thread_id().unwrap();
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
    assert_eq!(thread::thread_id(), Some(id["inner"]));
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

/// After every instruction of a poll. In a child it is the last.
#[cfg(target_arch = "x86_64")]
extern "C" fn after_an_instruction(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel gives the handler what it interrupted.
    let flags = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_EFL as usize] };
    if STEPPING.load(Ordering::Relaxed) {
        drop(HANDLER.lock().unwrap());
        let handled = HANDLED.fetch_add(1, Ordering::Relaxed);
        if FORKS.load(Ordering::Relaxed) && handled % STRIDE == PHASE.load(Ordering::Relaxed) {
            // SAFETY: the child does what a handler may, and goes on.
            match unsafe { libc::fork() } {
                0 => {
                    ends_in_time();
                    IN_CHILD.store(true, Ordering::Relaxed);
                    STEPPING.store(false, Ordering::Relaxed);
                }
                pid => wait(pid),
            }
        }
    }
    if !STEPPING.load(Ordering::Relaxed) {
        *flags &= !TRAP;
    }
}

/// The processor's flag: a trap after the next instruction.
#[cfg(target_arch = "x86_64")]
const TRAP: i64 = 0x100;
/// It forks after every one of so many instructions, beginning with this one.
const STRIDE: u64 = 23;
static PHASE: AtomicU64 = AtomicU64::new(0);
/// A task has recorded there though its place is not its own any more.
static FORGOTTEN: AtomicBool = AtomicBool::new(false);
static STEPPING: AtomicBool = AtomicBool::new(false);
/// It goes on in a child that the handler has forked.
static IN_CHILD: AtomicBool = AtomicBool::new(false);

/// Polls a task within another while a handler records after every instruction; and forks after some.
#[cfg(target_arch = "x86_64")]
fn steps(region: &'static Region<'static>) {
    // SAFETY: zeros are a value of this plain structure, and what is set is a handler of its type. It takes a lock that no other code takes.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = after_an_instruction as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(libc::sigaction(libc::SIGTRAP, &raw const action, std::ptr::null_mut()), 0);
    }
    let phase = crate::argument().strip_prefix("forking steps ").map(|phase| phase.parse().unwrap());
    let forks = phase.is_some();
    PHASE.store(phase.unwrap_or(0), Ordering::Relaxed);
    let mut around = {
        let mut within = each_poll("", move || {
            lock();
            if IN_CHILD.load(Ordering::Relaxed) {
                let mut known = false;
                region.scan(&tables::Threads, |row| known |= Some(row.thread_id) == thread::thread_id());
                FORGOTTEN.store(!known, Ordering::Relaxed);
            }
        });
        each_poll("", move || poll(&mut within))
    };
    // What takes its slot in the middle of a fork is not known to the child.
    (0..if forks { 2 } else { 0 }).for_each(|_| poll(&mut around));
    FORKS.store(forks, Ordering::Relaxed);
    let stepped = if forks { 1 } else { 3 };
    for _ in 0..stepped {
        STEPPING.store(true, Ordering::Relaxed);
        // SAFETY: it sets the flag, by way of the stack, and nothing else.
        unsafe { std::arch::asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq") };
        poll(&mut around);
        STEPPING.store(false, Ordering::Relaxed);
        if IN_CHILD.load(Ordering::Relaxed) {
            goes_on_in_the_child(region, &mut around);
        }
    }
    FORKS.store(false, Ordering::Relaxed);
    (0..20).for_each(|_| poll(&mut around));
    let sum = |name| counts(region, name).into_values().sum::<u64>();
    assert_eq!((sum("test/task"), sum("test/handler")), (23, HANDLED.load(Ordering::Relaxed)));
    assert!(HANDLED.load(Ordering::Relaxed) > 500);
    each_event_has_a_number(region);
    for &lost in Lost::ALL {
        assert_eq!(region.lost(lost), 0, "{lost:?}");
    }
}

/// An actor of which an old copy was used would give a number twice.
fn each_event_has_a_number(region: &Region<'_>) {
    let mut last = BTreeMap::new();
    region.scan(&tables::EventsWaitsHistory, |row| {
        assert!(row.timer_wait.is_some(), "{row:?}");
        let last = last.entry(row.thread_id).or_insert(0);
        *last = row.event_id.max(*last);
    });
    let mut counts = BTreeMap::new();
    region.scan(&tables::EventsWaitsSummaryByThreadByEventName, |row| {
        *counts.entry(row.thread_id).or_insert(0) += row.count_star;
    });
    counts.retain(|_, count| *count > 0);
    assert_eq!(last, counts);
}

/// In the child of a handler: whatever that interrupted, each task and the thread writes where nobody else does.
#[cfg(target_arch = "x86_64")]
fn goes_on_in_the_child(region: &'static Region<'static>, around: &mut Task) -> ! {
    let check = std::panic::AssertUnwindSafe(|| {
        assert!(!FORGOTTEN.load(Ordering::Relaxed));
        let sum = || counts(region, "test/task").into_values().sum::<u64>();
        let mut new: Vec<Task> = (0..3).map(|_| each_poll("", lock)).collect();
        let before = sum();
        for _ in 0..12 {
            new.iter_mut().for_each(poll);
            poll(around);
            lock();
        }
        // The outer one of the two only polls.
        let counted = counts(region, "test/task");
        assert_eq!((sum() - before, counted.len()), (12 * 5, 5), "{counted:?}");
        let mut history = BTreeMap::new();
        region.scan(&tables::EventsWaitsHistory, |row| {
            assert!(row.timer_wait.is_some(), "{row:?}");
            *history.entry(row.thread_id).or_insert(0) += 1;
        });
        assert!(counted.keys().all(|id| history[id] == 10), "{history:?}");
        drop((new, std::mem::replace(around, each_poll("", lock))));
        region.scan(&tables::Threads, |row| assert_ne!(row.name.as_str(), "", "no task is left"));
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
        #[cfg(target_arch = "x86_64")]
        _ => steps(region),
        #[cfg(not(target_arch = "x86_64"))]
        argument => panic!("no program {argument}"),
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
#[cfg(target_arch = "x86_64")]
fn a_handler_after_every_instruction_of_a_poll() {
    succeeds(&mut command("tasks", "steps"));
}

#[test]
#[cfg(target_arch = "x86_64")]
fn forks_wherever_a_poll_is_interrupted() {
    let phases = std::env::var("PERFSCHEMA_PHASES").map_or(1, |phases| phases.parse().unwrap());
    (0..phases).for_each(|phase| succeeds(&mut command("tasks", &format!("forking steps {phase}"))));
}
