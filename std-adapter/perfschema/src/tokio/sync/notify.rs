//! `Notify`

use super::owned::{Owned, forever};
use super::wait::{HookWait, Outcome, passed};
use crate::hook::Hook;
use crate::instrument::Instrument;
use crate::tokio::pending::{Pending, RecordedFuture, then};
use perfschema_core::{InstrumentKind, Operation};
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

static DEFAULT: Instrument = Instrument::new("wait/synch/cond/tokio/Notify");

/// [`tokio::sync::Notify`], with its waits recorded.
///
/// ```
/// use perfschema::tokio::sync::Notify;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let work = Notify::new();
/// work.notify_one();
/// work.notified().await;
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Notify {
    hook: Hook,
    inner: tokio::sync::Notify,
}

impl Notify {
    /// See [`tokio::sync::Notify::new`].
    pub const fn new() -> Notify {
        Notify { hook: Hook::new(&DEFAULT), inner: tokio::sync::Notify::const_new() }
    }

    /// See [`tokio::sync::Notify::const_new`].
    pub const fn const_new() -> Notify {
        Notify::new()
    }

    /// One that is recorded by `instrument`, a `wait/synch/cond/…`. Also in a `static`.
    ///
    /// ```
    /// use perfschema::{Instrument, tokio::sync::Notify};
    /// static WORK: Notify = Notify::with_instrument(&COND_WORK);
    /// static COND_WORK: Instrument = Instrument::new("wait/synch/cond/app/work");
    /// WORK.notify_waiters();
    /// ```
    ///
    /// # Panics
    /// If the instrument is of another kind; in a `static`, that is a compile error. A `const` cannot look at a `static`.
    pub const fn with_instrument(instrument: &'static Instrument) -> Notify {
        Notify { hook: Hook::checked(instrument, InstrumentKind::Cond), inner: tokio::sync::Notify::const_new() }
    }

    /// See [`tokio::sync::Notify::notified`].
    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        let wait = HookWait::new(&self.hook, Operation::Wait, Location::caller());
        Notified { wait: then(wait, self.inner.notified(), passed) }
    }

    /// See [`tokio::sync::Notify::notified_owned`].
    #[track_caller]
    pub fn notified_owned(self: Arc<Self>) -> OwnedNotified {
        // SAFETY: it is kept with `self`.
        let notified = unsafe { forever(&self) }.notified();
        OwnedNotified { inner: Owned::new(notified, self) }
    }

    /// See [`tokio::sync::Notify::notify_one`].
    pub fn notify_one(&self) {
        self.inner.notify_one();
    }

    /// See [`tokio::sync::Notify::notify_last`].
    pub fn notify_last(&self) {
        self.inner.notify_last();
    }

    /// See [`tokio::sync::Notify::notify_waiters`].
    pub fn notify_waiters(&self) {
        self.inner.notify_waiters();
    }
}

impl Default for Notify {
    fn default() -> Notify {
        Notify::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

type End = fn(&mut Pending<HookWait<'_>>, ());

pin_project_lite::pin_project! {
    /// [`tokio::sync::futures::Notified`] of a [`Notify`].
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct Notified<'a> {
        #[pin]
        // Its last parameter is said, so that this is covariant, as tokio's.
        wait: RecordedFuture<HookWait<'a>, tokio::sync::futures::Notified<'a>, End, Outcome>,
    }
}

impl Notified<'_> {
    /// See [`tokio::sync::futures::Notified::enable`]. The wait begins when it is polled.
    pub fn enable(self: Pin<&mut Self>) -> bool {
        self.project().wait.operation().is_none_or(tokio::sync::futures::Notified::enable)
    }
}

impl Future for Notified<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        match this.wait.as_mut().operation() {
            Some(_) => this.wait.poll(cx),
            // As tokio's, which may be polled again.
            None => Poll::Ready(()),
        }
    }
}

impl fmt::Debug for Notified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notified").finish_non_exhaustive()
    }
}

/// [`tokio::sync::futures::OwnedNotified`] of a [`Notify`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct OwnedNotified {
    inner: Owned<Notified<'static>, Notify>,
}

impl OwnedNotified {
    fn notified(self: Pin<&mut Self>) -> Pin<&mut Notified<'static>> {
        // SAFETY: nothing is moved out of it, and it is dropped where it is.
        unsafe { self.map_unchecked_mut(|this| &mut *this.inner) }
    }

    /// See [`tokio::sync::futures::OwnedNotified::enable`].
    pub fn enable(self: Pin<&mut Self>) -> bool {
        self.notified().enable()
    }
}

impl Future for OwnedNotified {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.notified().poll(cx)
    }
}

impl fmt::Debug for OwnedNotified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedNotified").finish_non_exhaustive()
    }
}
