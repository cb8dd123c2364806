//! Async tasks as actors: a row in `threads` for a future, and all that is recorded while it is polled.
//!
//! A task goes from thread to thread, and a thread polls many. What a future does is recorded for the thread that happens to poll it,
//! unless the future is attached: then it has an actor of its own from its first poll until it completes or is dropped, with its own
//! THREAD_ID, histories and sums. Waits for locks, files and sockets within a poll are the task's, also those of std's hooks; what
//! `perfschema::tokio` waits for, over however many polls, is shown as the task's while it lasts.
//!
//! ```
//! use perfschema::{sync::Mutex, task, tables};
//! use std::{pin::pin, task::{Context, Poll, Waker}};
//! static LOCK_ORDERS: Mutex<u32> = perfschema::mutex!("wait/synch/mutex/app/LOCK_orders", 0);
#![cfg_attr(feature = "instrument", doc = " let process = perfschema::start()?;")]
//!
//! let mut order = pin!(task::attach("task/app/order", async {
//!     *LOCK_ORDERS.lock().unwrap() += 1;
//!     std::future::pending::<()>().await;
//! }));
//! // A runtime does this, on any of its threads:
//! let poll = order.as_mut().poll(&mut Context::from_waker(Waker::noop()));
//! assert_eq!(poll, Poll::Pending);
#![cfg_attr(
    feature = "instrument",
    doc = " process.region().scan(&tables::EventsWaitsCurrent, |wait| {
     process.region().scan(&tables::Threads, |thread| {
         assert!(thread.thread_id != wait.thread_id || (thread.name == \"task/app/order\" && thread.thread_os_id.is_none()));
     });
 });"
)]
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **What it costs.** A poll is 120 instructions more, on or off, about as much as recording a wait. An [`Attached`] is some 1.5 KB larger
//! than its future, because its actor is in it. Each that has begun and not ended holds a place of `performance_schema_max_thread_instances`; where there is
//! none, which `Performance_schema_thread_instances_lost` counts, the task runs just the same, and counts in the global sums only. So
//! attach what is worth a row: a connection, a job, not each of a million futures.
//!
//! **What it does not do.** Nothing is told of a task that is not polled: it has no row of the time that it waits to be. A task that polls
//! others within itself, as `join!` does, is one actor, unless those are attached, too; up to 13 of them within one another. A forked child
//! keeps the tasks that were being polled, with THREAD_OS_ID that of its thread; others begin anew with their next poll. While a coroutine with a
//! stack of its own is suspended in the middle of a poll, what its thread does is that task's. A poll ends in the thread in which it began: a
//! coroutine that goes on in another one, in the middle of a poll, ends the program when the poll returns.

pub use perfschema_core::ThreadType;
use std::borrow::Cow;
use std::fmt;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A future with an actor of its own, made by [`attach`] or [`attach_as`].
#[must_use = "a future does nothing unless it is awaited or polled"]
pub struct Attached<F: Future> {
    /// None once it has completed. Dropped by `Attached::drop`: so that what its destructors record is the task's, too.
    future: ManuallyDrop<Option<F>>,
    identity: Identity,
    #[cfg(feature = "instrument")]
    task: Exclusive<crate::thread::Task>,
}

/// What only who may change it gets at, so that any number may share it, as std's unstable type of this name: an attached future is shared where
/// the future within is, with the instrumentation and without.
#[cfg(feature = "instrument")]
struct Exclusive<T>(T);

// SAFETY: nothing of the value can be reached by a shared reference to this.
#[cfg(feature = "instrument")]
unsafe impl<T> Sync for Exclusive<T> {}

#[cfg(feature = "instrument")]
impl<T> std::panic::RefUnwindSafe for Exclusive<T> {}

#[cfg(feature = "instrument")]
impl<T> Exclusive<T> {
    fn get_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// What `threads` says of a task.
struct Identity {
    name: Cow<'static, str>,
    thread_type: ThreadType,
    user: Cow<'static, str>,
    host: Cow<'static, str>,
}

/// Gives a future an actor of its own, a BACKGROUND one of this NAME, by convention `task/<program>/<what it does>`.
///
/// ```
/// # async fn serve() {}
/// let served = perfschema::task::attach("task/app/connection", serve());
/// # fn spawn(_: impl Future<Output = ()> + Send + 'static) {}
/// spawn(served); // A runtime's.
/// ```
pub fn attach<F: Future>(name: impl Into<Cow<'static, str>>, future: F) -> Attached<F> {
    attach_as(name, ThreadType::Background, "", "", future)
}

/// Gives a future an actor of its own, which says who it is as [`thread::attach_as`](crate::thread::attach_as) does for a thread: a name, and
/// for a task that serves a user, who and from where. PARENT_THREAD_ID is who polls it first, THREAD_OS_ID is NULL.
///
/// ```
/// use perfschema::task::{ThreadType, attach_as};
/// # async fn serve() {}
/// # let (user, peer) = ("joe", "192.0.2.7");
/// let served = attach_as("task/app/connection", ThreadType::Foreground, user, peer.to_string(), serve());
/// ```
pub fn attach_as<F: Future>(
    name: impl Into<Cow<'static, str>>,
    thread_type: ThreadType,
    user: impl Into<Cow<'static, str>>,
    host: impl Into<Cow<'static, str>>,
    future: F,
) -> Attached<F> {
    Attached {
        future: ManuallyDrop::new(Some(future)),
        identity: Identity { name: name.into(), thread_type, user: user.into(), host: host.into() },
        #[cfg(feature = "instrument")]
        task: Exclusive(crate::thread::Task::new()),
    }
}

impl<F: Future> Attached<F> {
    /// Runs something with the task's actor in the place of the thread's.
    fn run<R>(&mut self, run: impl FnOnce(Pin<&mut Option<F>>) -> R) -> R {
        // SAFETY: the future is pinned with the whole, which nobody moves out of; it is dropped where it is.
        let future = unsafe { Pin::new_unchecked(&mut *self.future) };
        #[cfg(feature = "instrument")]
        {
            let Identity { name, thread_type, user, host } = &self.identity;
            self.task.get_mut().run(name, *thread_type, user, host, || run(future))
        }
        #[cfg(not(feature = "instrument"))]
        run(future)
    }

    /// The task has ended, and its row with it.
    fn detach(&mut self) {
        #[cfg(feature = "instrument")]
        self.task.get_mut().detach();
    }
}

impl<F: Future> Future for Attached<F> {
    type Output = F::Output;

    /// # Panics
    /// If it has completed before, and where the future does.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: nothing is moved out of it.
        let this = unsafe { self.get_unchecked_mut() };
        let poll = this.run(|mut future| {
            let poll = future.as_mut().as_pin_mut().expect("polled after it has completed").poll(context);
            if poll.is_ready() {
                // What it still has goes while it is the task's.
                future.set(None);
            }
            poll
        });
        if poll.is_ready() {
            this.detach();
        }
        poll
    }
}

impl<F: Future> Drop for Attached<F> {
    fn drop(&mut self) {
        #[cfg(feature = "instrument")]
        if !self.task.get_mut().is_attached() {
            // Never polled while anything was recorded, or completed: nobody is shown for it now.
            // SAFETY: dropped where it is, once, and not used after this.
            return unsafe { ManuallyDrop::drop(&mut self.future) };
        }
        struct Detach<'a, F: Future>(&'a mut Attached<F>);
        impl<F: Future> Drop for Detach<'_, F> {
            fn drop(&mut self) {
                self.0.detach();
            }
        }
        // Also if a destructor panics.
        let last = Detach(self);
        last.0.run(|mut future| future.set(None));
    }
}

impl<F: Future> fmt::Debug for Attached<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Identity { name, thread_type, user, host } = &self.identity;
        let mut attached = f.debug_struct("Attached");
        attached.field("name", name).field("thread_type", thread_type).field("user", user).field("host", host);
        attached.finish_non_exhaustive()
    }
}
