//! `tokio::sync::watch`, instrumented: what waits for a change, and for a value that fulfils a condition, is recorded.
//!
//! What is not recorded: `closed`, and what a sender waits while somebody borrows the value. Who wants a type of tokio's, as streams do, gets it by
//! `From`: what it waits for is not recorded.

use super::ends::{as_it_shows, as_tokios, clones, into_tokios};
use super::wait::pass;
use crate::hook::Hook;
use crate::instrument::Instrument;
use perfschema_core::{InstrumentKind, Operation};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

pub use tokio::sync::watch::{Ref, error};

use error::{RecvError, SendError};

static DEFAULT: Instrument = Instrument::new("wait/synch/watch/tokio/channel");

/// See [`tokio::sync::watch::channel`].
///
/// ```
/// use perfschema::tokio::sync::watch;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let (sender, mut receiver) = watch::channel("starting");
/// tokio::spawn(async move { sender.send("running").unwrap() });
/// receiver.changed().await.unwrap();
/// assert_eq!(*receiver.borrow_and_update(), "running");
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn channel<T>(init: T) -> (Sender<T>, Receiver<T>) {
    channel_with_instrument(&DEFAULT, init)
}

/// A channel that is recorded by `instrument`, a `wait/synch/…`.
///
/// # Panics
/// If the instrument is of another kind.
#[track_caller]
pub fn channel_with_instrument<T>(instrument: &'static Instrument, init: T) -> (Sender<T>, Receiver<T>) {
    let hook = Arc::new(Hook::checked(instrument, InstrumentKind::Synch));
    let (sender, inner) = tokio::sync::watch::channel(init);
    (Sender { hook: Arc::clone(&hook), inner: sender }, Receiver { hook, inner })
}

/// [`tokio::sync::watch::Sender`], with the waits of its receivers recorded.
pub struct Sender<T> {
    hook: Arc<Hook>,
    inner: tokio::sync::watch::Sender<T>,
}

/// [`tokio::sync::watch::Receiver`], with its waits recorded.
pub struct Receiver<T> {
    hook: Arc<Hook>,
    inner: tokio::sync::watch::Receiver<T>,
}

into_tokios! { watch: Sender Receiver }

as_tokios! { watch::Sender:
    fn is_closed(&self) -> bool;
    fn receiver_count(&self) -> usize;
    fn sender_count(&self) -> usize;
}

as_tokios! { watch::Receiver:
    fn is_closed(&self) -> bool;
}

impl<T> Sender<T> {
    /// See [`tokio::sync::watch::Sender::new`].
    pub fn new(init: T) -> Sender<T> {
        Sender::with_instrument(&DEFAULT, init)
    }

    /// A sender without a receiver yet, as [`new`](Self::new), of a channel that is recorded by `instrument`, a `wait/synch/…`.
    ///
    /// # Panics
    /// If the instrument is of another kind.
    #[track_caller]
    pub fn with_instrument(instrument: &'static Instrument, init: T) -> Sender<T> {
        channel_with_instrument(instrument, init).0
    }

    /// See [`tokio::sync::watch::Sender::send`].
    ///
    /// # Errors
    /// If there is no receiver.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.inner.send(value)
    }

    /// See [`tokio::sync::watch::Sender::send_modify`].
    ///
    /// # Panics
    /// If `modify` does.
    pub fn send_modify<F>(&self, modify: F)
    where
        F: FnOnce(&mut T),
    {
        self.inner.send_modify(modify);
    }

    /// See [`tokio::sync::watch::Sender::send_if_modified`].
    ///
    /// # Panics
    /// If `modify` does.
    pub fn send_if_modified<F>(&self, modify: F) -> bool
    where
        F: FnOnce(&mut T) -> bool,
    {
        self.inner.send_if_modified(modify)
    }

    /// See [`tokio::sync::watch::Sender::send_replace`].
    pub fn send_replace(&self, value: T) -> T {
        self.inner.send_replace(value)
    }

    /// See [`tokio::sync::watch::Sender::borrow`].
    pub fn borrow(&self) -> Ref<'_, T> {
        self.inner.borrow()
    }

    /// See [`tokio::sync::watch::Sender::closed`].
    pub fn closed(&self) -> impl Future<Output = ()> {
        self.inner.closed()
    }

    /// See [`tokio::sync::watch::Sender::subscribe`].
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver { hook: Arc::clone(&self.hook), inner: self.inner.subscribe() }
    }

    /// See [`tokio::sync::watch::Sender::same_channel`].
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }
}

impl<T: Default> Default for Sender<T> {
    fn default() -> Sender<T> {
        Sender::new(T::default())
    }
}

impl<T> Receiver<T> {
    /// See [`tokio::sync::watch::Receiver::borrow`].
    pub fn borrow(&self) -> Ref<'_, T> {
        self.inner.borrow()
    }

    /// See [`tokio::sync::watch::Receiver::borrow_and_update`].
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        self.inner.borrow_and_update()
    }

    /// See [`tokio::sync::watch::Receiver::has_changed`].
    ///
    /// # Errors
    /// If all senders are gone.
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        self.inner.has_changed()
    }

    /// See [`tokio::sync::watch::Receiver::mark_changed`].
    pub fn mark_changed(&mut self) {
        self.inner.mark_changed();
    }

    /// See [`tokio::sync::watch::Receiver::mark_unchanged`].
    pub fn mark_unchanged(&mut self) {
        self.inner.mark_unchanged();
    }

    /// See [`tokio::sync::watch::Receiver::changed`].
    ///
    /// # Errors
    /// If all senders are gone, and the last value has been seen.
    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), RecvError>> {
        pass(&self.hook, Operation::Wait, Location::caller(), self.inner.changed())
    }

    /// See [`tokio::sync::watch::Receiver::wait_for`]. It is one wait, however many values `f` is asked about.
    ///
    /// # Errors
    /// If all senders are gone, and `f` does not want the last value.
    ///
    /// # Panics
    /// If `f` does.
    #[track_caller]
    pub fn wait_for(&mut self, f: impl FnMut(&T) -> bool) -> impl Future<Output = Result<Ref<'_, T>, RecvError>> {
        pass(&self.hook, Operation::Wait, Location::caller(), self.inner.wait_for(f))
    }

    /// See [`tokio::sync::watch::Receiver::same_channel`].
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }
}

as_it_shows!(Sender, fmt::Debug);
as_it_shows!(Receiver, fmt::Debug);
clones!(Sender);
clones!(Receiver);
