//! `std::sync::mpsc`, instrumented: what can wait, receiving and sending into a bounded channel, is recorded.

use crate::hook::Hook;
use crate::instrument::Instrument;
use perfschema_core::{InstrumentKind, Operation};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, Sender, TryIter, TryRecvError, TrySendError};

static DEFAULT: Instrument = Instrument::new("wait/synch/mpsc/std/channel");

/// See [`std::sync::mpsc::channel`]. Sending never waits, so the sender is std's.
///
/// ```
/// use perfschema::sync::mpsc;
/// let (sender, receiver) = mpsc::channel();
/// sender.send(1).unwrap();
/// drop(sender);
/// assert_eq!(receiver.iter().sum::<u32>(), 1);
/// ```
#[must_use]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    channel_with_instrument(&DEFAULT)
}

/// A channel that is recorded by `instrument`, a `wait/synch/…`.
///
/// # Panics
/// If the instrument is of another kind.
#[track_caller]
pub fn channel_with_instrument<T>(instrument: &'static Instrument) -> (Sender<T>, Receiver<T>) {
    let (sender, inner) = std::sync::mpsc::channel();
    (sender, Receiver { hook: Arc::new(Hook::checked(instrument, InstrumentKind::Synch)), inner })
}

/// See [`std::sync::mpsc::sync_channel`].
///
/// ```
/// use perfschema::sync::mpsc;
/// let (sender, receiver) = mpsc::sync_channel(1);
/// std::thread::scope(|scope| {
///     scope.spawn(move || (0..10).for_each(|i| sender.send(i).unwrap()));
///     assert_eq!(receiver.iter().sum::<u32>(), 45);
/// });
/// ```
#[must_use]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    sync_channel_with_instrument(&DEFAULT, bound)
}

/// A bounded channel that is recorded by `instrument`, a `wait/synch/…`.
///
/// # Panics
/// If the instrument is of another kind.
#[track_caller]
pub fn sync_channel_with_instrument<T>(instrument: &'static Instrument, bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let (sender, inner) = std::sync::mpsc::sync_channel(bound);
    let hook = Arc::new(Hook::checked(instrument, InstrumentKind::Synch));
    (SyncSender { hook: Arc::clone(&hook), inner: sender }, Receiver { hook, inner })
}

/// [`std::sync::mpsc::SyncSender`], with its waits recorded.
pub struct SyncSender<T> {
    hook: Arc<Hook>,
    inner: std::sync::mpsc::SyncSender<T>,
}

/// [`std::sync::mpsc::Receiver`], with its waits recorded.
pub struct Receiver<T> {
    hook: Arc<Hook>,
    inner: std::sync::mpsc::Receiver<T>,
}

impl<T> SyncSender<T> {
    /// See [`std::sync::mpsc::SyncSender::send`].
    ///
    /// # Errors
    /// If the receiver is gone.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.hook.pass(Operation::Send, Location::caller(), || self.inner.send(value))
    }

    /// See [`std::sync::mpsc::SyncSender::try_send`].
    ///
    /// # Errors
    /// If the channel is full or the receiver is gone.
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        self.inner.try_send(value)
    }
}

impl<T> Receiver<T> {
    /// See [`std::sync::mpsc::Receiver::recv`].
    ///
    /// # Errors
    /// If the channel is empty and all senders are gone.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.hook.pass(Operation::Receive, Location::caller(), || self.inner.recv())
    }

    /// See [`std::sync::mpsc::Receiver::recv_timeout`].
    ///
    /// # Errors
    /// If nothing came in time, or all senders are gone.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.hook.pass(Operation::Receive, Location::caller(), || self.inner.recv_timeout(timeout))
    }

    /// See [`std::sync::mpsc::Receiver::try_recv`].
    ///
    /// # Errors
    /// If there is nothing now, or all senders are gone.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.inner.try_recv()
    }

    /// See [`std::sync::mpsc::Receiver::iter`].
    #[track_caller]
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self, location: Location::caller() }
    }

    /// See [`std::sync::mpsc::Receiver::try_iter`].
    pub fn try_iter(&self) -> TryIter<'_, T> {
        self.inner.try_iter()
    }
}

/// [`std::sync::mpsc::Iter`]; its source line is where it was made.
pub struct Iter<'a, T> {
    receiver: &'a Receiver<T>,
    location: &'static Location<'static>,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        self.receiver.hook.pass(Operation::Receive, self.location, || self.receiver.inner.recv()).ok()
    }
}

/// [`std::sync::mpsc::IntoIter`]; its source line is where it was made.
pub struct IntoIter<T> {
    receiver: Receiver<T>,
    location: &'static Location<'static>,
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        self.receiver.hook.pass(Operation::Receive, self.location, || self.receiver.inner.recv()).ok()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;
    #[track_caller]
    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self, location: Location::caller() }
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;
    #[track_caller]
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

// As std's print themselves.
impl<T> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter").field("rx", self.receiver).finish()
    }
}

impl<T> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter").field("rx", &self.receiver).finish()
    }
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> Self {
        SyncSender { hook: Arc::clone(&self.hook), inner: self.inner.clone() }
    }
}

impl<T> fmt::Debug for SyncSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
