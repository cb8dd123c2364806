//! Signal handlers that record while their thread is in the middle of a record, and handlers that interrupt those.

use crate::{AtLast, command, small, succeeds};
use perfschema::sync::Mutex;
use perfschema::{Lost, tables};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static OUTER: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/outer", ());
static HANDLER: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/handler", ());
static WITHIN: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/within", ());
static HANDLED: AtomicU64 = AtomicU64::new(0);
static HANDLED_WITHIN: AtomicU64 = AtomicU64::new(0);

static HANDLERS: AtomicU64 = AtomicU64::new(0);
const ROUNDS: u64 = 500;

/// More than a ring has records, now and then.
extern "C" fn handler(_: libc::c_int) {
    let burst = if HANDLED.load(Ordering::Relaxed).is_multiple_of(64) { 40 } else { 1 };
    for _ in 0..burst {
        drop(HANDLER.lock().unwrap());
        HANDLED.fetch_add(1, Ordering::Relaxed);
    }
    HANDLERS.fetch_add(1, Ordering::Relaxed);
}

extern "C" fn within(_: libc::c_int) {
    drop(WITHIN.lock().unwrap());
    HANDLED_WITHIN.fetch_add(1, Ordering::Relaxed);
    HANDLERS.fetch_add(1, Ordering::Relaxed);
}

fn handle(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) {
    // SAFETY: zeros are a value of this plain structure, and what is set is a handler of the right type that does only what is allowed in
    // one: locks that no other code takes, and atomics.
    let result = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut())
    };
    assert_eq!(result, 0);
}

pub(crate) fn program() {
    let region = small().start().unwrap().region();
    handle(libc::SIGUSR1, handler);
    handle(libc::SIGUSR2, within);
    let (done, mut locked) = (AtomicBool::new(false), 0_u64);
    // SAFETY: the call takes nothing and cannot fail.
    let target = unsafe { libc::pthread_self() };
    // SAFETY: the thread runs until the one that sends is done.
    let send = |signal| assert_eq!(unsafe { libc::pthread_kill(target, signal) }, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let finished = AtLast(&done);
            for round in 1..=ROUNDS {
                send(libc::SIGUSR1);
                for _ in 0..round % 61 * 4 {
                    std::hint::spin_loop();
                }
                // Within the handler of the first, or the next time that the thread is on.
                send(libc::SIGUSR2);
                while HANDLERS.load(Ordering::Relaxed) < 2 * round {
                    std::thread::yield_now();
                }
            }
            drop(finished);
        });
        // The signals come before the first record, too.
        while !done.load(Ordering::Relaxed) {
            drop(OUTER.lock().unwrap());
            locked += 1;
        }
    });
    let mut counts = Vec::new();
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| counts.push((row.event_name, row.count_star)));
    // Nobody is idle.
    counts.retain(|(name, _)| *name != "idle");
    counts.sort_unstable();
    let mut expected =
        [("outer", locked), ("handler", HANDLED.load(Ordering::Relaxed)), ("within", HANDLED_WITHIN.load(Ordering::Relaxed))]
            .map(|(name, count)| (format!("wait/synch/mutex/test/{name}").as_str().into(), count));
    expected.sort_unstable();
    assert_eq!(counts, expected, "every event counts exactly once");
    for &lost in Lost::ALL {
        assert_eq!(region.lost(lost), 0, "{lost:?}");
    }
    // A thread's history is its last ten events, without a gap.
    let mut threads = Vec::new();
    region.scan(&tables::Threads, |row| threads.push(row.clone()));
    for thread in &threads {
        let mut ids = Vec::new();
        region.scan(&tables::EventsWaitsHistory, |row| {
            if row.thread_id == thread.thread_id {
                assert!(row.timer_wait.is_some() && row.operation == "lock", "{row:?}");
                ids.push(row.end_event_id.unwrap().max(row.event_id));
            }
        });
        assert!(!ids.is_empty() && ids.len() <= 10);
    }
    let (handlers, own): (Vec<_>, Vec<_>) = threads.iter().partition(|thread| thread.name.as_str().ends_with("/signal"));
    let [own] = own.as_slice() else { panic!("a row of the thread's own: {threads:?}") };
    assert!(!handlers.is_empty(), "no signal came in the middle of a record: {threads:?}");
    for (place, handler) in handlers.into_iter().enumerate() {
        // The first may have come while the thread took its own place: there was nothing above it then.
        let is_below = handler.parent_thread_id.map_or(place == 0, |above| above < handler.thread_id);
        assert!(is_below && handler.thread_os_id == own.thread_os_id, "{threads:?}");
    }
    println!(
        "{locked} records, {} and {} in handlers, {} levels",
        HANDLED.load(Ordering::Relaxed),
        HANDLED_WITHIN.load(Ordering::Relaxed),
        threads.len()
    );
}

#[test]
fn handlers_that_record() {
    succeeds(&mut command("signals", ""));
}
