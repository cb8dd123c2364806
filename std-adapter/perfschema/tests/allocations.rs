//! Recording allocates nothing: not at a thread's first wait, not at any other, not when the thread ends; nor at those of a task.
#![cfg(feature = "instrument")]

use perfschema::sync::{Condvar, Mutex, RwLock};
use perfschema::task::attach;
use perfschema::wait::{Operation, Wait};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
#[cfg(unix)]
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

struct Watching;

thread_local! {
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}
static ALLOCATED: AtomicBool = AtomicBool::new(false);
static GIVEN_BACK: AtomicBool = AtomicBool::new(false);
/// Bytes of the largest block that was allocated while watched.
static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if WATCHED.get() {
            ALLOCATED.store(true, Ordering::Relaxed);
            LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        }
        // SAFETY: the caller's promises are those that System asks for.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if WATCHED.get() {
            GIVEN_BACK.store(true, Ordering::Relaxed);
        }
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watching = Watching;

#[test]
fn from_first_wait_to_thread_exit() {
    static LOCK: Mutex<u64> = perfschema::mutex!("wait/synch/mutex/test/lock", 0);
    static DICTIONARY: RwLock<u64> = perfschema::rwlock!("wait/synch/rwlock/test/dictionary", 0);
    static CHANGED: Condvar = perfschema::condvar!("wait/synch/cond/test/changed");
    #[cfg(unix)]
    static FILES: perfschema::fs::Fs = perfschema::fs!("wait/io/file/test/files");
    static POOL: Wait = perfschema::wait!("wait/test/pool");
    static COUNTED: perfschema::metric::Counter = perfschema::counter!("counted", "test", "", enabled);
    static LEVEL: perfschema::metric::Level = perfschema::level!("level", "test", "", enabled);
    static UNUSED: perfschema::metric::Counter = perfschema::counter!("unused", "test", "");
    perfschema::builder().everything(true).environment(false).monitor_disable("nobody").start().unwrap();
    for _ in 0..3 {
        std::thread::spawn(|| {
            WATCHED.set(true);
            for _ in 0..20_000 {
                *LOCK.lock().unwrap() += *DICTIONARY.read().unwrap();
                COUNTED.inc();
                UNUSED.inc();
                LEVEL.add(1);
                POOL.begin(Operation::Acquire).set_bytes(1);
                drop(POOL.begin_async(Operation::Acquire));
            }
            *DICTIONARY.write().unwrap() += 1;
            // Where a path is another text to the system, std allocates.
            #[cfg(unix)]
            for _ in 0..1_000 {
                let mut zeros = FILES.options().read(true).write(true).open("/dev/zero").unwrap();
                zeros.read_exact(&mut [0; 100]).unwrap();
                zeros.write_all(&[1; 10]).unwrap();
                FILES.metadata("/dev/null").unwrap();
            }
            perfschema::thread::sleep(Duration::from_millis(1));
            perfschema::thread::park_timeout(Duration::from_millis(1));
            let guard = LOCK.lock().unwrap();
            drop(CHANGED.wait_timeout(guard, Duration::from_millis(1)).unwrap());
            let mut task = std::pin::pin!(attach("task/test/task", polls_for_ever(&LOCK)));
            for _ in 0..1_000 {
                assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            }
            // Watched to its end: the slot is given back after this returns.
        })
        .join()
        .unwrap();
    }
    statements_that_come_back();
    #[cfg(all(feature = "tokio", unix, not(miri)))]
    sockets_of_tasks();
    #[cfg(all(feature = "tokio", not(miri)))]
    locks_of_tasks();
    assert!(!ALLOCATED.load(Ordering::Relaxed));
    #[cfg(all(feature = "tokio", not(miri)))]
    a_file_is_written_from_where_its_contents_are();
}

/// What another thread has ended for a task ends where the task begins the next one: that may be in a handler, which has interrupted malloc.
fn statements_that_come_back() {
    static STATEMENT: perfschema::statement::Statement = perfschema::statement!("statement/test/given");
    let mut ended = 0;
    let mut task = std::pin::pin!(attach("task/test/gives", async {
        for _ in 0..3 {
            let (statement, transaction) = (STATEMENT.begin_async("given away"), perfschema::transaction::begin_async());
            std::thread::spawn(move || drop((statement, transaction))).join().unwrap();
            GIVEN_BACK.store(false, Ordering::Relaxed);
            WATCHED.set(true);
            drop(STATEMENT.begin("by a handler"));
            WATCHED.set(false);
            assert!(!GIVEN_BACK.load(Ordering::Relaxed));
        }
    }));
    assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    let region = perfschema::process().unwrap().region();
    region.scan(&perfschema::tables::EventsStatementsHistory, |row| {
        ended += u64::from(row.sql_text.is_some_and(|text| text.as_str() == "given away"));
    });
    assert_eq!(ended, 0, "the task has ended, and its history with it");
    region.scan(&perfschema::tables::EventsStatementsHistoryLong, |row| {
        ended += u64::from(row.sql_text.is_some_and(|text| text.as_str() == "given away"));
    });
    assert_eq!(ended, 3);
}

fn polls_for_ever(lock: &Mutex<u64>) -> impl Future<Output = ()> {
    std::future::poll_fn(|_| {
        *lock.lock().unwrap() += 1;
        Poll::Pending
    })
}

/// What is sent, waited for and received, and a wait that is given up.
#[cfg(all(feature = "tokio", unix, not(miri)))]
fn sockets_of_tasks() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    runtime.block_on(attach("task/test/sockets", async {
        let (mut one, mut two) = perfschema::tokio::net::UnixStream::pair().unwrap();
        // The first time gives the sockets what tokio allocates for them.
        for watched in [false, true] {
            WATCHED.set(watched);
            for _ in 0..1_000 {
                assert!(std::pin::pin!(two.readable()).poll(&mut Context::from_waker(Waker::noop())).is_pending());
                one.write_all(&[1; 10]).await.unwrap();
                two.read_exact(&mut [0; 10]).await.unwrap();
                // Nothing more is there: the next one waits.
                assert!(two.try_read(&mut [0]).is_err());
            }
        }
        WATCHED.set(false);
    }));
}

/// What is locked, acquired, sent and received, waited for and given up. A channel of tokio's allocates a block for every 32 messages, some
/// of which it uses again.
#[cfg(all(feature = "tokio", not(miri)))]
fn locks_of_tasks() {
    use perfschema::tokio::sync::{Barrier, Mutex, Notify, RwLock, Semaphore, mpsc};
    use std::pin::pin;
    use std::sync::Arc;
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (lock, book) = (Arc::new(Mutex::new(1)), Arc::new(RwLock::new(1)));
    let (permits, work, barrier) = (Arc::new(Semaphore::new(2)), Notify::new(), Barrier::new(1));
    let (sender, mut receiver) = mpsc::channel(1);
    let work = async {
        let mut cx = Context::from_waker(Waker::noop());
        for watched in [false, true] {
            for _ in 0..1_000 {
                WATCHED.set(watched);
                let guard = lock.lock().await;
                assert!(pin!(Arc::clone(&lock).lock_owned()).poll(&mut cx).is_pending());
                drop(guard);
                let writer = Arc::clone(&book).write_owned().await;
                assert!(pin!(book.read()).poll(&mut cx).is_pending());
                drop(writer.downgrade());
                let _permits = (permits.acquire().await.unwrap(), Arc::clone(&permits).acquire_owned().await.unwrap());
                assert!(pin!(permits.acquire()).poll(&mut cx).is_pending());
                assert!(pin!(work.notified()).poll(&mut cx).is_pending());
                work.notify_one();
                work.notified().await;
                barrier.wait().await;
                assert!(pin!(receiver.recv()).poll(&mut cx).is_pending());
                let permit = sender.reserve().await.unwrap();
                assert!(pin!(sender.reserve()).poll(&mut cx).is_pending());
                WATCHED.set(false);
                permit.send(1);
                assert_eq!(receiver.recv().await, Some(1));
            }
        }
    };
    runtime.block_on(attach("task/test/locks", work));
}

/// tokio takes a `Vec` as it is.
#[cfg(all(feature = "tokio", not(miri)))]
fn a_file_is_written_from_where_its_contents_are() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("allocations-{}", std::process::id()));
    let contents = vec![7; 1 << 20];
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    WATCHED.set(true);
    runtime.block_on(perfschema::tokio::fs::write(&path, contents)).unwrap();
    WATCHED.set(false);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 1 << 20);
    std::fs::remove_file(path).unwrap();
    assert!((1..1 << 20).contains(&LARGEST.load(Ordering::Relaxed)), "{LARGEST:?}");
}
