//! `tokio::sync::broadcast`, instrumented: what can wait, receiving, is recorded.
//!
//! A receive waits for a message; that it has missed some ends it, too. What sends never waits. What is not recorded: `closed` and `try_recv`.
//! Who wants a type of tokio's, as streams do, gets it by `From`: what it waits for is not recorded.

use super::ends::{as_it_shows, as_tokios, clones, into_tokios};
use super::wait::pass;
use crate::hook::{self, Hook};
use crate::instrument::Instrument;
use perfschema_core::{InstrumentKind, Operation};
use std::panic::Location;
use std::sync::Arc;

pub use tokio::sync::broadcast::error;

use error::{RecvError, SendError, TryRecvError};

static DEFAULT: Instrument = Instrument::new("wait/synch/broadcast/tokio/channel");

/// See [`tokio::sync::broadcast::channel`].
///
/// ```
/// use perfschema::tokio::sync::broadcast;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let (sender, mut first) = broadcast::channel(4);
/// let mut second = sender.subscribe();
/// let received = tokio::spawn(async move { second.recv().await });
/// sender.send(45).unwrap();
/// assert_eq!((first.recv().await, received.await.unwrap()), (Ok(45), Ok(45)));
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Panics
/// If `capacity` is 0, or more than half of the largest `usize`.
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    channel_with_instrument(&DEFAULT, capacity)
}

/// A channel that is recorded by `instrument`, a `wait/synch/…`.
///
/// # Panics
/// As [`channel`], and if the instrument is of another kind.
#[track_caller]
pub fn channel_with_instrument<T: Clone>(instrument: &'static Instrument, capacity: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, inner) = tokio::sync::broadcast::channel(capacity);
    let hook = Arc::new(Hook::checked(instrument, InstrumentKind::Synch));
    (Sender { hook: Arc::clone(&hook), inner: sender }, Receiver { hook, inner })
}

/// [`tokio::sync::broadcast::Sender`], whose receivers have their waits recorded.
pub struct Sender<T> {
    hook: Arc<Hook>,
    inner: tokio::sync::broadcast::Sender<T>,
}

/// [`tokio::sync::broadcast::WeakSender`] of a [`Sender`].
pub struct WeakSender<T> {
    hook: Arc<Hook>,
    inner: tokio::sync::broadcast::WeakSender<T>,
}

/// [`tokio::sync::broadcast::Receiver`], with its waits recorded.
pub struct Receiver<T> {
    hook: Arc<Hook>,
    inner: tokio::sync::broadcast::Receiver<T>,
}

into_tokios! { broadcast: Sender WeakSender Receiver }

as_tokios! { broadcast::Sender:
    fn len(&self) -> usize;
    fn is_empty(&self) -> bool;
    fn receiver_count(&self) -> usize;
    fn strong_count(&self) -> usize;
    fn weak_count(&self) -> usize;
}

as_tokios! { broadcast::WeakSender:
    fn strong_count(&self) -> usize;
    fn weak_count(&self) -> usize;
}

as_tokios! { broadcast::Receiver:
    fn len(&self) -> usize;
    fn is_empty(&self) -> bool;
    fn is_closed(&self) -> bool;
    fn sender_strong_count(&self) -> usize;
    fn sender_weak_count(&self) -> usize;
}

impl<T> Sender<T> {
    /// See [`tokio::sync::broadcast::Sender::new`].
    ///
    /// # Panics
    /// As [`channel`].
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        Sender::with_instrument(&DEFAULT, capacity)
    }

    /// That of a channel that is recorded by `instrument`, a `wait/synch/…`, and has no receiver yet.
    ///
    /// # Panics
    /// As [`channel_with_instrument`].
    #[track_caller]
    pub fn with_instrument(instrument: &'static Instrument, capacity: usize) -> Self {
        let inner = tokio::sync::broadcast::Sender::new(capacity);
        Sender { hook: Arc::new(Hook::checked(instrument, InstrumentKind::Synch)), inner }
    }

    /// See [`tokio::sync::broadcast::Sender::send`].
    ///
    /// # Errors
    /// If there is no receiver.
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        self.inner.send(value)
    }

    /// See [`tokio::sync::broadcast::Sender::subscribe`].
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver { hook: Arc::clone(&self.hook), inner: self.inner.subscribe() }
    }

    /// See [`tokio::sync::broadcast::Sender::downgrade`].
    #[must_use = "as tokio's: the sender itself stays as it is"]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender { hook: Arc::clone(&self.hook), inner: self.inner.downgrade() }
    }

    /// See [`tokio::sync::broadcast::Sender::same_channel`].
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }

    /// See [`tokio::sync::broadcast::Sender::closed`].
    pub fn closed(&self) -> impl Future<Output = ()> {
        self.inner.closed()
    }
}

impl<T> WeakSender<T> {
    /// See [`tokio::sync::broadcast::WeakSender::upgrade`].
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.inner.upgrade().map(|inner| Sender { hook: Arc::clone(&self.hook), inner })
    }
}

impl<T> Receiver<T> {
    /// See [`tokio::sync::broadcast::Receiver::same_channel`].
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }
}

impl<T: Clone> Receiver<T> {
    /// See [`tokio::sync::broadcast::Receiver::resubscribe`].
    pub fn resubscribe(&self) -> Self {
        Receiver { hook: Arc::clone(&self.hook), inner: self.inner.resubscribe() }
    }

    /// See [`tokio::sync::broadcast::Receiver::recv`].
    ///
    /// # Errors
    /// If all senders are gone and there is nothing left, or some messages were missed.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Result<T, RecvError>> {
        pass(&self.hook, Operation::Receive, Location::caller(), self.inner.recv())
    }

    /// See [`tokio::sync::broadcast::Receiver::blocking_recv`].
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    ///
    /// # Panics
    /// Within an asynchronous task.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        let waiting = self.hook.begin(Operation::Receive, Location::caller());
        let result = self.inner.blocking_recv();
        hook::passed(waiting);
        result
    }

    /// See [`tokio::sync::broadcast::Receiver::try_recv`].
    ///
    /// # Errors
    /// If there is nothing now, or as [`recv`](Self::recv).
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.inner.try_recv()
    }
}

as_it_shows!(Sender);
as_it_shows!(WeakSender);
as_it_shows!(Receiver);
clones!(Sender);
clones!(WeakSender);
