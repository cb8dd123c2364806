//! How an operation on a file or a socket becomes a wait: what both have in common, and with the waits of a program's own.

use crate::instrument::Instrument;
use crate::thread::{Entered, with_actor};
use perfschema_core::{FileInstance, FileIo, Group, Held, Operation, SocketInstance, SocketIo, Switches, Wait, WaitStart};
use perfschema_timer::SystemClock;
use std::fmt::Debug;
use std::io;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::Location;

/// Where in the program an operation is called; None where it is not called, as when a file or a socket is dropped.
pub(crate) type Caller = Option<&'static Location<'static>>;

/// The file of a handle: found when that was opened, and never again. None if it has no path, or there was no room.
pub(crate) type FilePlace = Option<FileInstance<'static>>;

/// The same of a socket.
pub(crate) type SocketPlace = Option<SocketInstance<'static>>;

/// What an operation is done to, when its wait ends.
pub(crate) trait Object: Copy + Debug {
    fn held(&self, group: Group) -> Held<'_, 'static>;
}

impl Object for FilePlace {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn held(&self, group: Group) -> Held<'_, 'static> {
        Held::File(FileIo { file: *self, group })
    }
}

impl Object for SocketPlace {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn held(&self, group: Group) -> Held<'_, 'static> {
        Held::Socket(SocketIo { socket: *self, group })
    }
}

/// Nothing that has figures of its own.
impl Object for () {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn held(&self, _: Group) -> Held<'_, 'static> {
        Held::None
    }
}

/// An operation, as it is before it begins.
pub(crate) trait Io: Copy {
    type Object: Object;

    fn instrument(&self) -> &'static Instrument;

    /// The instrument's switches, if anything is to be recorded.
    #[cfg(feature = "tokio")]
    fn on(&self) -> Option<Switches> {
        self.instrument().on()
    }

    fn object(&self) -> Self::Object;

    fn operation(&self) -> Operation;

    fn start(&self) -> WaitStart;

    /// Of what outlives the call that began it: whether it was begun by a thread, and not by a task, which goes on beside it.
    fn is_of_thread(&self) -> bool {
        false
    }

    /// Whether it has a number of bytes.
    #[cfg(feature = "tokio")]
    fn transfers(&self) -> bool;

    /// What it is done to, where it is given up; `object` is what was known of that before.
    #[cfg(feature = "tokio")]
    fn given_up(&self, object: Self::Object) -> Self::Object {
        object
    }

    /// How many bytes are asked for.
    #[cfg(feature = "tokio")]
    fn asked(&self) -> u64 {
        0
    }

    /// Whether it is counted and no wait.
    #[cfg(feature = "tokio")]
    fn counts_only(&self) -> bool {
        false
    }

    /// Counts it without a wait.
    #[cfg(feature = "tokio")]
    fn count(&self, _: Switches, _: u64) {}

    /// A wait begins; the instrument is on.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn begin(&self, switches: Switches) -> Option<Waiting<Self::Object>> {
        // First, while the compiler still sees what they are.
        let (object, group) = (self.object(), self.operation().group());
        let entered = Entered::new()?;
        let wait = entered.actor.begin(&SystemClock, switches, self.instrument().registered(), &self.start());
        entered.leave();
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
    /// The operation has completed: how many bytes it did, if that is a question.
    // Where it is called: so that what is known of the wait stays in registers, and what is done to it needs no test.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn end(self, bytes: Option<u64>) {
        let mut waiting = ManuallyDrop::new(self);
        if bytes.is_some() {
            waiting.wait.set_amount(amount(bytes));
        }
        if let Some(entered) = Entered::new() {
            entered.actor.end(&SystemClock, waiting.wait.clone(), waiting.object.held(waiting.group));
            entered.leave();
        }
    }
}

impl<O: Object> Drop for Waiting<O> {
    /// A connection is idle no longer, or the code that did it panics.
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        // What the program has begun meanwhile may go on, as within `Idle::idle`.
        with_actor(|actor| actor.end_in_any_order(&SystemClock, self.wait.clone(), self.object.held(self.group)));
    }
}

/// NUMBER_OF_BYTES as a record has it.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn amount(bytes: Option<u64>) -> u64 {
    // Nothing has 2⁶⁴ - 1 bytes.
    bytes.map_or(0, |bytes| bytes.wrapping_add(1))
}

/// How many bytes are asked for by several buffers. They may lie over one another, and be more than there is memory.
pub(crate) fn sum_of_lengths<B: Deref<Target = [u8]>>(bufs: &[B]) -> usize {
    bufs.iter().fold(0, |sum, buf| sum.saturating_add(buf.len()))
}

/// How many bytes an operation has sent or received, read or written.
pub(crate) trait Transferred {
    fn bytes(&self) -> usize;
}

impl Transferred for usize {
    #[cfg_attr(not(debug_assertions), inline(always))]
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
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn bytes(&self) -> usize {
        self.0
    }
}

/// The result of an operation that is off, as it is. An error leaves by a way of its own: so the compiler sees what a result is, and who
/// called does not ask a second time what std has asked already.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn as_it_is<T>(result: io::Result<T>) -> io::Result<T> {
    result.map_err(failed)
}

#[cold]
#[inline(never)]
fn failed(error: io::Error) -> io::Error {
    // Else the compiler sees that this does nothing.
    std::hint::black_box(error)
}

/// An error counts as no bytes.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn transferred<T: Transferred>(result: &io::Result<T>) -> u64 {
    result.as_ref().map_or(0, |result| result.bytes() as u64)
}
