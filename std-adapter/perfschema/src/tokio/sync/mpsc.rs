//! `tokio::sync::mpsc`, instrumented: what can wait, receiving and sending into a bounded channel, is recorded.
//!
//! A send waits for room, a receive for a message. Senders of an unbounded channel, which never wait, are tokio's. What is not recorded:
//! `closed`, `poll_recv` and `poll_recv_many`, and whatever begins with `try_`. Who wants a type of tokio's, as
//! streams do, gets it by `From`: what it waits for is not recorded.

use super::ends::{as_it_shows, as_tokios, clones, into_tokios};
use super::wait::pass;
use crate::hook::{self, Hook};
use crate::instrument::Instrument;
use perfschema_core::{InstrumentKind, Operation};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

pub use tokio::sync::mpsc::{Permit, PermitIterator, UnboundedSender, WeakUnboundedSender, error};

use error::{SendError, SendTimeoutError, TryRecvError, TrySendError};

static DEFAULT: Instrument = Instrument::new("wait/synch/mpsc/tokio/channel");

/// See [`tokio::sync::mpsc::channel`].
///
/// ```
/// use perfschema::tokio::sync::mpsc;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let (sender, mut receiver) = mpsc::channel(1);
/// tokio::spawn(async move {
///     for i in 0..10 {
///         sender.send(i).await.unwrap();
///     }
/// });
/// let mut sum = 0;
/// while let Some(i) = receiver.recv().await {
///     sum += i;
/// }
/// assert_eq!(sum, 45);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Panics
/// If `buffer` is 0, or more than a semaphore has permits.
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    channel_with_instrument(&DEFAULT, buffer)
}

/// A channel that is recorded by `instrument`, a `wait/synch/…`.
///
/// # Panics
/// As [`channel`], and if the instrument is of another kind.
#[track_caller]
pub fn channel_with_instrument<T>(instrument: &'static Instrument, buffer: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, inner) = tokio::sync::mpsc::channel(buffer);
    let hook = Arc::new(Hook::checked(instrument, InstrumentKind::Synch));
    (Sender { hook: Arc::clone(&hook), inner: sender }, Receiver { hook, inner })
}

/// See [`tokio::sync::mpsc::unbounded_channel`]. Sending never waits, so the sender is tokio's.
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    unbounded_channel_with_instrument(&DEFAULT)
}

/// An unbounded channel that is recorded by `instrument`, a `wait/synch/…`.
///
/// # Panics
/// If the instrument is of another kind.
#[track_caller]
pub fn unbounded_channel_with_instrument<T>(instrument: &'static Instrument) -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let (sender, inner) = tokio::sync::mpsc::unbounded_channel();
    (sender, UnboundedReceiver { hook: Arc::new(Hook::checked(instrument, InstrumentKind::Synch)), inner })
}

/// [`tokio::sync::mpsc::Sender`], with its waits recorded.
pub struct Sender<T> {
    hook: Arc<Hook>,
    inner: tokio::sync::mpsc::Sender<T>,
}

/// [`tokio::sync::mpsc::WeakSender`] of a [`Sender`].
pub struct WeakSender<T> {
    hook: Arc<Hook>,
    inner: tokio::sync::mpsc::WeakSender<T>,
}

/// [`tokio::sync::mpsc::OwnedPermit`] of a [`Sender`].
pub struct OwnedPermit<T> {
    hook: Arc<Hook>,
    inner: tokio::sync::mpsc::OwnedPermit<T>,
}

/// [`tokio::sync::mpsc::Receiver`], with its waits recorded.
pub struct Receiver<T> {
    hook: Arc<Hook>,
    inner: tokio::sync::mpsc::Receiver<T>,
}

/// [`tokio::sync::mpsc::UnboundedReceiver`], with its waits recorded.
pub struct UnboundedReceiver<T> {
    hook: Arc<Hook>,
    inner: tokio::sync::mpsc::UnboundedReceiver<T>,
}

into_tokios! { mpsc: Sender WeakSender OwnedPermit Receiver UnboundedReceiver }

as_tokios! { mpsc::Sender:
    fn is_closed(&self) -> bool;
    fn capacity(&self) -> usize;
    fn max_capacity(&self) -> usize;
    fn strong_count(&self) -> usize;
    fn weak_count(&self) -> usize;
}

as_tokios! { mpsc::WeakSender:
    fn strong_count(&self) -> usize;
    fn weak_count(&self) -> usize;
}

as_tokios! { mpsc::Receiver:
    fn capacity(&self) -> usize;
    fn max_capacity(&self) -> usize;
}

impl<T> Sender<T> {
    /// See [`tokio::sync::mpsc::Sender::send`].
    ///
    /// # Errors
    /// If the receiver is gone, or has closed the channel.
    #[track_caller]
    pub fn send(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> {
        pass(&self.hook, Operation::Send, Location::caller(), self.inner.send(value))
    }

    /// See [`tokio::sync::mpsc::Sender::send_timeout`].
    ///
    /// # Errors
    /// If there was no room in time, or as [`send`](Self::send).
    ///
    /// # Panics
    /// Where the runtime has no timers.
    #[track_caller]
    pub fn send_timeout(&self, value: T, timeout: Duration) -> impl Future<Output = Result<(), SendTimeoutError<T>>> {
        pass(&self.hook, Operation::Send, Location::caller(), self.inner.send_timeout(value, timeout))
    }

    /// See [`tokio::sync::mpsc::Sender::blocking_send`].
    ///
    /// # Errors
    /// As [`send`](Self::send).
    ///
    /// # Panics
    /// Within an asynchronous task.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        let waiting = self.hook.begin(Operation::Send, Location::caller());
        let result = self.inner.blocking_send(value);
        hook::passed(waiting);
        result
    }

    /// See [`tokio::sync::mpsc::Sender::try_send`].
    ///
    /// # Errors
    /// If there is no room now, or as [`send`](Self::send).
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.inner.try_send(message)
    }

    /// See [`tokio::sync::mpsc::Sender::reserve`]. It is recorded as `send`.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> {
        pass(&self.hook, Operation::Send, Location::caller(), self.inner.reserve())
    }

    /// See [`tokio::sync::mpsc::Sender::reserve_many`]. It is recorded as `send`.
    ///
    /// # Errors
    /// As [`send`](Self::send), and if there will never be so much room.
    #[track_caller]
    pub fn reserve_many(&self, n: usize) -> impl Future<Output = Result<PermitIterator<'_, T>, SendError<()>>> {
        pass(&self.hook, Operation::Send, Location::caller(), self.inner.reserve_many(n))
    }

    /// See [`tokio::sync::mpsc::Sender::reserve_owned`]. It is recorded as `send`.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    #[track_caller]
    pub fn reserve_owned(self) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> {
        let (Sender { hook, inner }, caller) = (self, Location::caller());
        async move {
            let inner = pass(&hook, Operation::Send, caller, inner.reserve_owned()).await?;
            Ok(OwnedPermit { hook, inner })
        }
    }

    /// See [`tokio::sync::mpsc::Sender::try_reserve`].
    ///
    /// # Errors
    /// As [`try_send`](Self::try_send).
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.inner.try_reserve()
    }

    /// See [`tokio::sync::mpsc::Sender::try_reserve_many`].
    ///
    /// # Errors
    /// As [`try_send`](Self::try_send).
    pub fn try_reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        self.inner.try_reserve_many(n)
    }

    /// See [`tokio::sync::mpsc::Sender::try_reserve_owned`].
    ///
    /// # Errors
    /// As [`try_send`](Self::try_send); the sender is in the error.
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        let Sender { hook, inner } = self;
        match inner.try_reserve_owned() {
            Ok(inner) => Ok(OwnedPermit { hook, inner }),
            Err(TrySendError::Full(inner)) => Err(TrySendError::Full(Sender { hook, inner })),
            Err(TrySendError::Closed(inner)) => Err(TrySendError::Closed(Sender { hook, inner })),
        }
    }

    /// See [`tokio::sync::mpsc::Sender::closed`].
    pub fn closed(&self) -> impl Future<Output = ()> {
        self.inner.closed()
    }

    /// See [`tokio::sync::mpsc::Sender::same_channel`].
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }

    /// See [`tokio::sync::mpsc::Sender::downgrade`].
    #[must_use = "as tokio's: the sender itself stays as it is"]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender { hook: Arc::clone(&self.hook), inner: self.inner.downgrade() }
    }
}

impl<T> WeakSender<T> {
    /// See [`tokio::sync::mpsc::WeakSender::upgrade`].
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.inner.upgrade().map(|inner| Sender { hook: Arc::clone(&self.hook), inner })
    }
}

impl<T> OwnedPermit<T> {
    /// See [`tokio::sync::mpsc::OwnedPermit::send`].
    pub fn send(self, value: T) -> Sender<T> {
        Sender { hook: self.hook, inner: self.inner.send(value) }
    }

    /// See [`tokio::sync::mpsc::OwnedPermit::release`].
    pub fn release(self) -> Sender<T> {
        Sender { hook: self.hook, inner: self.inner.release() }
    }

    /// See [`tokio::sync::mpsc::OwnedPermit::same_channel`].
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }

    /// See [`tokio::sync::mpsc::OwnedPermit::same_channel_as_sender`].
    pub fn same_channel_as_sender(&self, sender: &Sender<T>) -> bool {
        self.inner.same_channel_as_sender(&sender.inner)
    }
}

/// What receivers of both kinds do.
macro_rules! receives {
    ($receiver:ident) => {
        as_tokios! { mpsc::$receiver:
            fn is_closed(&self) -> bool;
            fn is_empty(&self) -> bool;
            fn len(&self) -> usize;
            fn sender_strong_count(&self) -> usize;
            fn sender_weak_count(&self) -> usize;
        }

        impl<T> $receiver<T> {
            #[doc = concat!("See [`tokio::sync::mpsc::", stringify!($receiver), "::recv`].")]
            #[track_caller]
            pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
                pass(&self.hook, Operation::Receive, Location::caller(), self.inner.recv())
            }

            #[doc = concat!("See [`tokio::sync::mpsc::", stringify!($receiver), "::recv_many`].")]
            #[track_caller]
            pub fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> impl Future<Output = usize> {
                pass(&self.hook, Operation::Receive, Location::caller(), self.inner.recv_many(buffer, limit))
            }

            #[doc = concat!("See [`tokio::sync::mpsc::", stringify!($receiver), "::blocking_recv`].")]
            ///
            /// # Panics
            /// Within an asynchronous task.
            #[track_caller]
            pub fn blocking_recv(&mut self) -> Option<T> {
                let waiting = self.hook.begin(Operation::Receive, Location::caller());
                let result = self.inner.blocking_recv();
                hook::passed(waiting);
                result
            }

            #[doc = concat!("See [`tokio::sync::mpsc::", stringify!($receiver), "::blocking_recv_many`].")]
            ///
            /// # Panics
            /// Within an asynchronous task.
            #[track_caller]
            pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                let waiting = self.hook.begin(Operation::Receive, Location::caller());
                let result = self.inner.blocking_recv_many(buffer, limit);
                hook::passed(waiting);
                result
            }

            #[doc = concat!("See [`tokio::sync::mpsc::", stringify!($receiver), "::try_recv`].")]
            ///
            /// # Errors
            /// If there is nothing now, or all senders are gone.
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                self.inner.try_recv()
            }

            #[doc = concat!("See [`tokio::sync::mpsc::", stringify!($receiver), "::poll_recv`].")]
            pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
                self.inner.poll_recv(cx)
            }

            #[doc = concat!("See [`tokio::sync::mpsc::", stringify!($receiver), "::poll_recv_many`].")]
            pub fn poll_recv_many(&mut self, cx: &mut Context<'_>, buffer: &mut Vec<T>, limit: usize) -> Poll<usize> {
                self.inner.poll_recv_many(cx, buffer, limit)
            }

            #[doc = concat!("See [`tokio::sync::mpsc::", stringify!($receiver), "::close`].")]
            pub fn close(&mut self) {
                self.inner.close();
            }
        }

        as_it_shows!($receiver);
    };
}

receives!(Receiver);
receives!(UnboundedReceiver);
as_it_shows!(Sender);
as_it_shows!(WeakSender);
as_it_shows!(OwnedPermit);

clones!(Sender);
clones!(WeakSender);
