//! `tokio::sync::oneshot`, instrumented: receiving is recorded. What sends never waits, so [`Sender`] is tokio's.
//!
//! A [`Receiver`] is the future that receives, and is often polled by `&mut`. So its wait is one of what is polled without a future, as
//! [`perfschema::tokio`](crate::tokio) says: it has no SOURCE, unless it is that of [`blocking_recv`](Receiver::blocking_recv), and one that was
//! given up by `select!` or `timeout` shows until the receiver is polled again and goes on with it, or until something else is done with it: it is
//! closed, tried, dropped, or becomes tokio's.
//!
//! What is not recorded: `try_recv`, and the sender's `closed` and `poll_closed`. Who wants tokio's receiver gets it by `From`: what it
//! waits for is not recorded. A receiver is some 130 bytes larger than tokio's.

use super::ends::{as_it_shows, as_tokios, into_tokios};
use super::owned::{Owned, forever};
use super::wait::{HookWait, passed};
use crate::hook::{self, Hook};
use crate::instrument::Instrument;
use crate::tokio::pending::Pending;
use perfschema_core::{InstrumentKind, Operation};
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

pub use tokio::sync::oneshot::{Sender, error};

use error::{RecvError, TryRecvError};

static DEFAULT: Instrument = Instrument::new("wait/synch/oneshot/tokio/channel");

/// See [`tokio::sync::oneshot::channel`].
///
/// ```
/// use perfschema::tokio::sync::oneshot;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let (sender, receiver) = oneshot::channel();
/// tokio::spawn(async move { sender.send(45) });
/// assert_eq!(receiver.await, Ok(45));
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    channel_with_instrument(&DEFAULT)
}

/// A channel that is recorded by `instrument`, a `wait/synch/…`.
///
/// # Panics
/// If the instrument is of another kind.
#[track_caller]
pub fn channel_with_instrument<T>(instrument: &'static Instrument) -> (Sender<T>, Receiver<T>) {
    let (sender, inner) = tokio::sync::oneshot::channel();
    let hook = Arc::new(Hook::checked(instrument, InstrumentKind::Synch));
    (sender, Receiver { wait: Owned::new(Pending::None, hook), inner })
}

/// [`tokio::sync::oneshot::Receiver`], with its waits recorded.
pub struct Receiver<T> {
    // With its hook, which stays where it is wherever the receiver goes. It ends before the channel is closed.
    wait: Owned<Pending<HookWait<'static>>, Hook>,
    inner: tokio::sync::oneshot::Receiver<T>,
}

into_tokios! { oneshot: Receiver }

as_tokios! { oneshot::Receiver:
    fn is_terminated(&self) -> bool;
    fn is_empty(&self) -> bool;
}

impl<T> Receiver<T> {
    /// See [`tokio::sync::oneshot::Receiver::close`].
    pub fn close(&mut self) {
        self.give_up();
        self.inner.close();
    }

    /// See [`tokio::sync::oneshot::Receiver::try_recv`].
    ///
    /// # Errors
    /// If there is nothing yet, or there never will be.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.give_up();
        self.inner.try_recv()
    }

    /// See [`tokio::sync::oneshot::Receiver::blocking_recv`].
    ///
    /// # Errors
    /// If the sender is gone and has sent nothing.
    ///
    /// # Panics
    /// Within an asynchronous task.
    #[track_caller]
    pub fn blocking_recv(mut self) -> Result<T, RecvError> {
        self.give_up();
        let waiting = self.wait.lock().begin(Operation::Receive, Location::caller());
        let result = self.inner.blocking_recv();
        hook::passed(waiting);
        result
    }

    /// What was polled before is not waited for any more.
    fn give_up(&mut self) {
        *self.wait = Pending::None;
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        // What has been received is no more waited for: tokio's panics.
        if !this.wait.is_some() && !this.inner.is_terminated() {
            // SAFETY: it is kept with the `Arc`.
            let hook = unsafe { forever(this.wait.lock()) };
            *this.wait = Pending::begin(HookWait::polled(hook, Operation::Receive));
        }
        let result = ready!(Pin::new(&mut this.inner).poll(cx));
        Poll::Ready(passed(&mut this.wait, result))
    }
}

as_it_shows!(Receiver, fmt::Debug);
