//! How an operation on a file or a socket becomes a wait: what both have in common.

use crate::instrument::Instrument;
use crate::thread::with_actor;
use perfschema_core::{Actor, FileId, FileIo, Group, Held, InstanceId, Operation, SocketIo, Switches, Wait, WaitStart};
use perfschema_timer::SystemClock;
use std::fmt::Debug;
use std::io;
use std::panic::Location;

/// Where in the program an operation is called; None where it is not called, as when a file or a socket is dropped.
pub(crate) type Caller = Option<&'static Location<'static>>;

/// What an operation is done to, when its wait ends.
pub(crate) trait Object: Copy + Debug {
    fn held(self, actor: &Actor<'static>, group: Group) -> Held<'static, 'static>;
}

impl Object for FileId {
    #[inline(always)]
    fn held(self, actor: &Actor<'static>, group: Group) -> Held<'static, 'static> {
        Held::File(FileIo { file: actor.file(self), group })
    }
}

impl Object for InstanceId {
    #[inline(always)]
    fn held(self, actor: &Actor<'static>, group: Group) -> Held<'static, 'static> {
        Held::Socket(SocketIo { socket: actor.region().socket(self), group })
    }
}

/// Nothing that has figures of its own.
impl Object for () {
    #[inline(always)]
    fn held(self, _: &Actor<'static>, _: Group) -> Held<'static, 'static> {
        Held::None
    }
}

/// An operation, as it is before it begins.
pub(crate) trait Io: Copy {
    type Object: Object;

    fn instrument(&self) -> &'static Instrument;

    fn object(&self) -> Self::Object;

    fn operation(&self) -> Operation;

    fn start(&self, actor: &Actor<'static>) -> WaitStart;

    /// Whether it has a number of bytes.
    #[cfg(feature = "tokio")]
    fn transfers(&self) -> bool;

    /// Whether it is counted and no wait.
    #[cfg(feature = "tokio")]
    fn counts_only(&self) -> bool {
        false
    }

    /// Counts it without a wait.
    #[cfg(feature = "tokio")]
    fn count(&self, _: Switches, _: u64) {}

    /// A wait begins; the instrument is on.
    #[inline(always)]
    fn begin(&self, switches: Switches) -> Option<Waiting<Self::Object>> {
        // First, while the compiler still sees what they are.
        let (object, group) = (self.object(), self.operation().group());
        let wait = with_actor(|actor| {
            let start = self.start(actor);
            actor.begin(&SystemClock, switches, self.instrument().registered(), &start)
        })?;
        Some(Waiting { wait, object, group })
    }
}

/// A wait that is being recorded. Ends when it is dropped, also by a panic.
pub(crate) struct Waiting<O: Object> {
    wait: Wait<'static>,
    /// Of what the operation has opened it is known only at its end.
    pub(crate) object: O,
    group: Group,
}

impl<O: Object> Waiting<O> {
    #[inline(always)]
    pub(crate) fn set_bytes(&mut self, bytes: u64) {
        self.wait.set_amount(amount(Some(bytes)));
    }
}

impl<O: Object> Drop for Waiting<O> {
    #[inline(always)]
    fn drop(&mut self) {
        with_actor(|actor| actor.end(&SystemClock, self.wait, self.object.held(actor, self.group)));
    }
}

/// NUMBER_OF_BYTES as a record has it.
#[inline(always)]
pub(crate) fn amount(bytes: Option<u64>) -> u64 {
    bytes.map_or(0, |bytes| bytes.saturating_add(1))
}

/// How many bytes an operation has sent or received, read or written.
pub(crate) trait Transferred {
    fn bytes(&self) -> usize;
}

impl Transferred for usize {
    #[inline(always)]
    fn bytes(&self) -> usize {
        *self
    }
}

/// How many bytes of a file were copied.
#[cfg(feature = "tokio")]
impl Transferred for u64 {
    // More than an address space only where there are 32 bits, and then in the figures alone.
    fn bytes(&self) -> usize {
        usize::try_from(*self).unwrap_or(usize::MAX)
    }
}

/// A file as a whole.
#[cfg(feature = "tokio")]
impl Transferred for Vec<u8> {
    fn bytes(&self) -> usize {
        self.len()
    }
}

#[cfg(feature = "tokio")]
impl Transferred for String {
    fn bytes(&self) -> usize {
        self.len()
    }
}

impl<A> Transferred for (usize, A) {
    #[inline(always)]
    fn bytes(&self) -> usize {
        self.0
    }
}

/// An error counts as no bytes.
#[inline(always)]
pub(crate) fn transferred<T: Transferred>(result: &io::Result<T>) -> u64 {
    result.as_ref().map_or(0, |result| result.bytes() as u64)
}
