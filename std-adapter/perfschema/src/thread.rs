//! `std::thread`, instrumented: the same names, so that a `use` line is the whole change. And who a thread is.
//!
//! A thread that is started by one of these has the one that started it as PARENT_THREAD_ID in `threads`, if the process was recording then;
//! where a [task](crate::task) starts it that is attached, that task. What can wait records its waits:
//!
//! | function | instrument | operation |
//! |---|---|---|
//! | [`JoinHandle::join`], [`ScopedJoinHandle::join`], and [`scope`] where it ends | `wait/synch/thread/std/join` | `join` |
//! | [`park`], [`park_timeout`] | `wait/synch/thread/std/park` | `park` |
//! | [`sleep`] | `wait/synch/thread/std/sleep` | `sleep` |
//!
//! Everything else is std's, also what is deprecated. Without the feature `instrument` all of it is.
//!
//! ```
//! use perfschema::{tables, thread};
//!
//! # #[cfg(feature = "instrument")] {
//! let process = perfschema::start()?;
//! let worker = thread::spawn(|| {
//!     thread::sleep(std::time::Duration::from_millis(1)); // Seen in events_waits_current meanwhile.
//!     thread::thread_id()
//! });
//! let parent = thread::thread_id();
//! process.region().scan(&tables::Threads, |row| {
//!     assert!(Some(row.thread_id) == parent || row.parent_thread_id == parent);
//! });
//! assert_ne!(worker.join().unwrap(), parent);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **What it costs.** A thread that starts another one has a row from then on, and the other one its own from its first event on, as any. Off, a wait
//! costs two loads and a branch.

mod actors;

use crate::wait::{Operation, Wait, Waiting};
use std::fmt;
use std::io;
use std::panic::Location;
use std::time::Duration;

pub(crate) use actors::{Entered, Task, forks, has_list, started, task_id, unfinished, with_actor, with_backoff};
pub use actors::{attach_as, thread_id};
#[cfg(target_os = "linux")]
pub(crate) use actors::{forked, forking, own_actors};
pub use perfschema_core::ThreadType;
pub use std::thread::*;

static JOIN: Wait = crate::wait!("wait/synch/thread/std/join");
static PARK: Wait = crate::wait!("wait/synch/thread/std/park");
static SLEEP: Wait = crate::wait!("wait/synch/thread/std/sleep");

/// See [`std::thread::sleep`].
#[track_caller]
pub fn sleep(duration: Duration) {
    let _waiting = SLEEP.begin(Operation::Sleep);
    std::thread::sleep(duration);
}

/// See [`std::thread::park`].
#[track_caller]
pub fn park() {
    let _waiting = PARK.begin(Operation::Park);
    std::thread::park();
}

/// See [`std::thread::park_timeout`].
#[track_caller]
pub fn park_timeout(duration: Duration) {
    let _waiting = PARK.begin(Operation::Park);
    std::thread::park_timeout(duration);
}

/// What a thread does that the calling one starts: first it says by whom it was started, and with what name, if that is told.
fn child<T>(name: Option<String>, run: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let parent = thread_id().unwrap_or(0);
    move || {
        let _started = actors::started_by(parent, name.as_ref());
        run()
    }
}

/// See [`std::thread::spawn`].
///
/// # Panics
/// If the system cannot start a thread; [`Builder::spawn`] does not.
///
/// ```
/// use perfschema::thread;
/// let sum = thread::spawn(|| (1..=4).sum::<u32>());
/// assert_eq!(sum.join().unwrap(), 10);
/// ```
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    JoinHandle(std::thread::spawn(child(None, f)))
}

/// [`std::thread::Builder`], whose threads say who has started them.
///
/// ```
/// use perfschema::thread;
/// let named = thread::Builder::new().name("worker".into()).spawn(|| thread::current().name().map(String::from))?;
/// assert_eq!(named.join().unwrap().as_deref(), Some("worker"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use = "must eventually spawn the thread"]
pub struct Builder {
    inner: std::thread::Builder,
    /// If the system may not keep all of it.
    long_name: Option<String>,
}

/// Bytes of a thread's name that every system keeps.
const SHORT_NAME: usize = 15;

#[expect(clippy::new_without_default, reason = "std's has none")]
impl Builder {
    /// See [`std::thread::Builder::new`].
    pub fn new() -> Builder {
        Builder { inner: std::thread::Builder::new(), long_name: None }
    }

    /// See [`std::thread::Builder::name`].
    pub fn name(self, name: String) -> Builder {
        let long_name = (name.len() > SHORT_NAME).then(|| name.clone());
        Builder { inner: self.inner.name(name), long_name }
    }

    /// See [`std::thread::Builder::stack_size`].
    pub fn stack_size(self, size: usize) -> Builder {
        Builder { inner: self.inner.stack_size(size), ..self }
    }

    /// See [`std::thread::Builder::spawn`].
    ///
    /// # Errors
    /// If the system cannot start a thread.
    ///
    /// # Panics
    /// If the name has a zero in it.
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.inner.spawn(child(self.long_name, f)).map(JoinHandle)
    }

    /// See [`std::thread::Builder::spawn_unchecked`].
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn).
    ///
    /// # Panics
    /// As [`spawn`](Self::spawn).
    ///
    /// # Safety
    /// The thread does not outlive what the closure and its result borrow, or is joined before that is gone.
    pub unsafe fn spawn_unchecked<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        // SAFETY: what is added to the closure borrows nothing; the rest is the caller's duty.
        unsafe { self.inner.spawn_unchecked(child(self.long_name, f)) }.map(JoinHandle)
    }

    /// See [`std::thread::Builder::spawn_scoped`].
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn).
    ///
    /// # Panics
    /// As [`spawn`](Self::spawn).
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.inner.spawn_scoped(&scope.0, child(self.long_name, f)).map(ScopedJoinHandle)
    }
}

/// [`std::thread::JoinHandle`], with its waits recorded.
pub struct JoinHandle<T>(std::thread::JoinHandle<T>);

impl<T> JoinHandle<T> {
    /// See [`std::thread::JoinHandle::thread`].
    #[must_use]
    pub fn thread(&self) -> &Thread {
        self.0.thread()
    }

    /// See [`std::thread::JoinHandle::join`].
    ///
    /// # Errors
    /// What the thread has panicked with.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        let _waiting = JOIN.begin(Operation::Join);
        self.0.join()
    }

    /// See [`std::thread::JoinHandle::is_finished`].
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

/// [`std::thread::ScopedJoinHandle`], with its waits recorded.
pub struct ScopedJoinHandle<'scope, T>(std::thread::ScopedJoinHandle<'scope, T>);

impl<T> ScopedJoinHandle<'_, T> {
    /// See [`std::thread::ScopedJoinHandle::thread`].
    #[must_use]
    pub fn thread(&self) -> &Thread {
        self.0.thread()
    }

    /// See [`std::thread::ScopedJoinHandle::join`].
    ///
    /// # Errors
    /// What the thread has panicked with.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        let _waiting = JOIN.begin(Operation::Join);
        self.0.join()
    }

    /// See [`std::thread::ScopedJoinHandle::is_finished`].
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

/// [`std::thread::Scope`], whose threads say who has started them.
#[repr(transparent)]
pub struct Scope<'scope, 'env>(std::thread::Scope<'scope, 'env>);

impl<'scope, 'env> Scope<'scope, 'env> {
    fn of(scope: &'scope std::thread::Scope<'scope, 'env>) -> &'scope Scope<'scope, 'env> {
        // SAFETY: the one is the other, under a name of its own, and is borrowed as long.
        unsafe { &*std::ptr::from_ref(scope).cast() }
    }

    /// See [`std::thread::Scope::spawn`].
    ///
    /// # Panics
    /// If the system cannot start a thread; [`Builder::spawn_scoped`] does not.
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        ScopedJoinHandle(self.0.spawn(child(None, f)))
    }
}

/// See [`std::thread::scope`]. Its end is a join, whether or not threads run still.
///
/// # Panics
/// If a thread has panicked that was not joined, or `f` does.
///
/// ```
/// use perfschema::thread;
/// let numbers = [1, 2, 3, 4];
/// let (low, high) = thread::scope(|scope| {
///     let low = scope.spawn(|| numbers[..2].iter().sum::<u32>());
///     let high = scope.spawn(|| numbers[2..].iter().sum::<u32>());
///     (low.join().unwrap(), high.join().unwrap())
/// });
/// assert_eq!((low, high), (3, 7));
/// ```
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    // A closure is called from elsewhere.
    let source = Location::caller();
    let mut waiting = None;
    std::thread::scope(|scope| {
        let _joins = Joins { waiting: &mut waiting, source };
        f(Scope::of(scope))
    })
}

/// Begins the wait for the end of a scope where it is dropped, which is before std joins, also after a panic.
struct Joins<'w> {
    waiting: &'w mut Option<Waiting>,
    source: &'static Location<'static>,
}

impl Drop for Joins<'_> {
    fn drop(&mut self) {
        *self.waiting = Some(JOIN.begin_at(Operation::Join, 0, self.source));
    }
}

// As std's print themselves.
impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(unix)]
impl<T> std::os::unix::thread::JoinHandleExt for JoinHandle<T> {
    fn as_pthread_t(&self) -> std::os::unix::thread::RawPthread {
        self.0.as_pthread_t()
    }

    fn into_pthread_t(self) -> std::os::unix::thread::RawPthread {
        self.0.into_pthread_t()
    }
}

#[cfg(windows)]
const _: () = {
    use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, IntoRawHandle, OwnedHandle, RawHandle};

    impl<T> AsHandle for JoinHandle<T> {
        fn as_handle(&self) -> BorrowedHandle<'_> {
            self.0.as_handle()
        }
    }

    impl<T> AsRawHandle for JoinHandle<T> {
        fn as_raw_handle(&self) -> RawHandle {
            self.0.as_raw_handle()
        }
    }

    impl<T> IntoRawHandle for JoinHandle<T> {
        fn into_raw_handle(self) -> RawHandle {
            self.0.into_raw_handle()
        }
    }

    impl<T> From<JoinHandle<T>> for OwnedHandle {
        fn from(handle: JoinHandle<T>) -> OwnedHandle {
            handle.0.into()
        }
    }
};
