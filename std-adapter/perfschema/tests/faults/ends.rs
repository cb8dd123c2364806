//! Threads that end in every order: destructors of thread-locals and of keys that record, before and after the thread gives its slot back.

use crate::{AtLast, command, succeeds};
use perfschema::sync::Mutex;
use perfschema::tables;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static LOCK: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/ends", ());
static LOCKED: AtomicU64 = AtomicU64::new(0);

fn lock() {
    drop(LOCK.lock().unwrap());
    LOCKED.fetch_add(1, Ordering::Relaxed);
}

/// Records when its thread ends.
struct AtEnd;

impl Drop for AtEnd {
    fn drop(&mut self) {
        lock();
    }
}

thread_local! {
    static FIRST: AtEnd = const { AtEnd };
    static SECOND: AtEnd = const { AtEnd };
}

extern "C" fn key_at_end(_: *mut libc::c_void) {
    lock();
}

fn key() -> libc::pthread_key_t {
    let mut key = 0;
    // SAFETY: a place to write to, and a function of the type that is asked for.
    assert_eq!(unsafe { libc::pthread_key_create(&raw mut key, Some(key_at_end)) }, 0);
    key
}

fn set(key: libc::pthread_key_t) {
    // SAFETY: the key was created and is never deleted; the value is never dereferenced.
    assert_eq!(unsafe { libc::pthread_setspecific(key, std::ptr::dangling::<u8>().cast()) }, 0);
}

pub(crate) fn program() {
    // Keys made before ours and after it: the C library runs the destructors in that order.
    let before = key();
    let region = perfschema::builder().everything(true).environment(false).start().unwrap().region();
    let after = key();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let finished = AtLast(&done);
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let sweep = region.scan(&tables::Threads, |row| assert!(row.name.as_str().starts_with("thread/")));
                assert_eq!(sweep.rows + sweep.free + sweep.skipped + sweep.changed, sweep.places);
                let sweep = region.scan(&tables::EventsWaitsHistory, |row| assert_eq!(row.operation, "lock"));
                assert_eq!(sweep.rows + sweep.free + sweep.skipped + sweep.changed, sweep.places);
            }
        });
        // Every order in which the first record and four destructors can come to be.
        for order in 0..120_u32 {
            // Joined: a scope waits for what its threads do, not for their end.
            let thread = std::thread::spawn(move || {
                let steps: [&dyn Fn(); 5] =
                    [&|| set(before), &|| FIRST.with(|_| ()), &lock, &|| SECOND.with(|_| ()), &|| set(after)];
                let (mut left, mut order) = (Vec::from(steps), order);
                while !left.is_empty() {
                    let count = left.len() as u32;
                    left.remove((order % count) as usize)();
                    order /= count;
                }
            });
            thread.join().unwrap();
        }
        drop(finished);
    });
    // A thread whose first record is made by a destructor, and one by a destructor after that of our key.
    std::thread::spawn(|| FIRST.with(|_| ())).join().unwrap();
    std::thread::spawn(move || set(after)).join().unwrap();
    let mut count = 0;
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| count += row.count_star);
    assert_eq!(count, LOCKED.load(Ordering::Relaxed), "every lock counts, whenever it came");
    assert_eq!(count, 120 * 5 + 2);
    let mut threads = Vec::new();
    region.scan(&tables::Threads, |row| threads.push(row.name));
    assert_eq!(threads, [""; 0], "every slot is given back");
}

#[test]
fn threads_end_in_every_order() {
    succeeds(&mut command("ends", ""));
}
