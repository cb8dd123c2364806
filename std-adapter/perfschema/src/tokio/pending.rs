//! Waits that last over several polls.

use crate::begun::Begun;
use crate::instrument::Instrument;
use crate::io::{Io, Transferred, transferred};
use perfschema_core::Switches;
use std::io;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::io::ReadBuf;

/// An operation that may not have completed. Its wait ends at the latest when this is dropped.
#[derive(Debug)]
pub(crate) enum Pending<I: Io<Object = O>, O = <I as Io>::Object> {
    /// There is none, or none that is recorded.
    None,
    /// It is received while the task is idle, which is counted and no wait.
    Counted(I, Switches),
    /// It is recorded.
    On(Begun<I, O>),
}

impl<I: Io> Pending<I> {
    /// The first poll of an operation.
    pub(crate) fn begin(io: I) -> Pending<I> {
        let Some(switches) = io.on() else { return Pending::None };
        if io.counts_only() {
            return Pending::Counted(io, switches);
        }
        Pending::On(Begun::by_task(io, switches))
    }

    /// What it is, if it is a wait that is recorded.
    pub(crate) fn recorded(&self) -> Option<I> {
        match self {
            Pending::On(begun) => Some(begun.io),
            Pending::None | Pending::Counted(..) => None,
        }
    }

    /// What it is done to is known now.
    pub(crate) fn set_object(&mut self, object: I::Object) {
        if let Pending::On(begun) = self {
            begun.object = object;
        }
    }

    /// The operation has completed, or never will: how many bytes it did, if that is a question.
    pub(crate) fn end(&mut self, bytes: Option<u64>) {
        // It ends here, and not once more when it is dropped.
        match &*ManuallyDrop::new(std::mem::replace(self, Pending::None)) {
            Pending::On(begun) => begun.end(bytes),
            Pending::Counted(io, switches) => bytes.into_iter().for_each(|bytes| io.count(*switches, bytes)),
            Pending::None => {}
        }
    }

    /// A poll: of the operation that was polled before, if that was one like this. It returns how many bytes it did, too, 0 for what has none.
    fn poll<T>(&mut self, io: I, poll: impl FnOnce() -> (Poll<T>, u64)) -> Poll<T> {
        if !self.is_of(&io) {
            // That one ends before this one begins.
            drop(std::mem::replace(self, Pending::None));
            *self = Pending::begin(io);
        }
        let (result, bytes) = poll();
        if result.is_ready() {
            self.end(io.transfers().then_some(bytes));
        }
        result
    }

    /// In vain. Of an idle one there is nothing to count.
    fn give_up(&mut self) {
        if let Pending::On(begun) = self {
            begun.object = begun.io.given_up(begun.object);
            let bytes = begun.io.transfers().then_some(0);
            self.end(bytes);
        }
    }

    pub(crate) const fn is_some(&self) -> bool {
        !matches!(self, Pending::None)
    }

    /// Whether it goes on with this poll. What is received while the task is idle is never what is received while it is not.
    fn is_of(&self, io: &I) -> bool {
        match self {
            Pending::None => false,
            Pending::Counted(begun, _) => begun.operation() == io.operation() && io.counts_only(),
            Pending::On(begun) => begun.io.operation() == io.operation() && !io.counts_only(),
        }
    }
}

impl<I: Io<Object = O>, O> Drop for Pending<I, O> {
    fn drop(&mut self) {
        self.give_up();
    }
}

pin_project_lite::pin_project! {
    /// An operation, recorded from its first poll until it has completed, or is given up; `end` ends it, and says what it returns.
    // No async fn: that would have operation and wait twice, as what it is called with and as what it waits for.
    pub(crate) struct RecordedFuture<I: Io<Object = O>, F, E, O = <I as Io>::Object> {
        // Given up before its wait ends, as in an async fn. None once it has completed.
        #[pin]
        operation: Option<F>,
        wait: Progress<I, O>,
        end: Option<E>,
    }
}

enum Progress<I: Io<Object = O>, O = <I as Io>::Object> {
    Unpolled(I),
    Polled(Pending<I, O>),
}

impl<I: Io, F: Future, E: FnOnce(&mut Pending<I>, F::Output) -> T, T> Future for RecordedFuture<I, F, E> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let mut this = self.project();
        if let Progress::Unpolled(io) = *this.wait {
            *this.wait = Progress::Polled(Pending::begin(io));
        }
        let (Some(operation), Progress::Polled(pending)) = (this.operation.as_mut().as_pin_mut(), this.wait) else {
            panic!("`async fn` resumed after completion");
        };
        let result = std::task::ready!(operation.poll(cx));
        this.operation.set(None);
        // It ends here also if `end` does not say so.
        let mut pending = std::mem::replace(pending, Pending::None);
        match this.end.take() {
            Some(end) => Poll::Ready(end(&mut pending, result)),
            None => unreachable!("taken only once the operation has completed"),
        }
    }
}

impl<I: Io, F, E> RecordedFuture<I, F, E> {
    /// The operation, until it has completed.
    pub(crate) fn operation(self: Pin<&mut Self>) -> Option<Pin<&mut F>> {
        self.project().operation.as_pin_mut()
    }
}

/// An operation whose wait is ended by `end`.
pub(crate) fn then<I: Io, F: Future, T, E: FnOnce(&mut Pending<I>, F::Output) -> T>(
    io: I,
    operation: F,
    end: E,
) -> RecordedFuture<I, F, E> {
    RecordedFuture { operation: Some(operation), wait: Progress::Unpolled(io), end: Some(end) }
}

/// An operation, recorded from its first poll until it has completed, or is given up.
pub(crate) fn run<I: Io, T>(io: I, operation: impl Future<Output = T>) -> impl Future<Output = T> {
    then(io, operation, |pending, result| {
        pending.end(None);
        result
    })
}

/// The same for what sends or receives, reads or writes; an error counts as no bytes.
pub(crate) fn transfer<I: Io, T: Transferred>(
    io: I,
    operation: impl Future<Output = io::Result<T>>,
) -> impl Future<Output = io::Result<T>> {
    then(io, operation, |pending, result| {
        pending.end(Some(transferred(&result)));
        result
    })
}

/// The operations of a file or a socket that are polled without a future: one that reads, and one that writes.
#[derive(Debug)]
pub(crate) struct Polled<I: Io> {
    pub(crate) reading: Side<I>,
    pub(crate) writing: Side<I>,
}

/// One of them. Several tasks may poll it; tokio wakes the last one only.
#[derive(Debug)]
pub(crate) struct Side<I: Io> {
    /// Whether `pending` is one. Relaxed: who does not see it yet polls beside it, and records nothing.
    is_pending: AtomicBool,
    pending: Mutex<Pending<I>>,
}

impl<I: Io> Polled<I> {
    pub(crate) const fn new() -> Polled<I> {
        Polled { reading: Side::new(), writing: Side::new() }
    }
}

impl<I: Io> Side<I> {
    const fn new() -> Side<I> {
        Side { is_pending: AtomicBool::new(false), pending: Mutex::new(Pending::None) }
    }

    /// Whether nothing is to be recorded of a poll: all that it costs while the instrument is off.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_off(&self, instrument: &Instrument) -> bool {
        !instrument.switches().is_on() && !self.is_pending.load(Ordering::Relaxed)
    }

    /// The same, where nobody else may poll it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_off_alone(&mut self, instrument: &Instrument) -> bool {
        !instrument.switches().is_on() && !*self.is_pending.get_mut()
    }

    /// As [`Pending::poll`], where nobody else may poll it.
    // Out of the way of what is off, as the next one.
    #[cold]
    pub(crate) fn poll_alone<T>(&mut self, io: I, poll: impl FnOnce() -> (Poll<T>, u64)) -> Poll<T> {
        let pending = self.pending.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Also if the poll panics: then the next one sees what it began.
        *self.is_pending.get_mut() = true;
        let result = pending.poll(io, poll);
        *self.is_pending.get_mut() = pending.is_some();
        result
    }

    /// As [`Pending::poll`].
    #[cold]
    pub(crate) fn poll<T>(&self, io: I, poll: impl FnOnce() -> (Poll<T>, u64)) -> Poll<T> {
        // Not locked while it is polled. If another task has polled meanwhile, what it began ends here.
        let mut pending = self.replace(Pending::None);
        let result = pending.poll(io, poll);
        drop(self.replace(pending));
        result
    }

    fn replace(&self, pending: Pending<I>) -> Pending<I> {
        let mut place = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_pending.store(pending.is_some(), Ordering::Relaxed);
        std::mem::replace(&mut *place, pending)
    }
}

/// What was polled: recorded by `$side.$how()`, with how many bytes it did, as `$bytes`, asked for afterwards, says of it. While that is off
/// there is nothing but the poll, so that the compiler jumps there.
macro_rules! poll {
    ($side:expr, poll, $($what:tt)*) => { $crate::tokio::pending::poll!(@ $side, is_off, poll, $($what)*) };
    ($side:expr, poll_alone, $($what:tt)*) => { $crate::tokio::pending::poll!(@ $side, is_off_alone, poll_alone, $($what)*) };
    (@ $side:expr, $is_off:ident, $how:ident, $instrument:expr, $io:expr, $poll:expr, $bytes:expr) => {
        match $side.$is_off($instrument) {
            true => $poll,
            false => {
                let io = $io;
                $side.$how(io, || {
                    let result = $poll;
                    let bytes = $bytes(&result, &io);
                    (result, bytes)
                })
            }
        }
    };
}

pub(crate) use poll;

/// A poll that says how many bytes it did.
pub(crate) fn polled(poll: &Poll<io::Result<usize>>, _: &impl Io) -> u64 {
    match poll {
        Poll::Ready(result) => transferred(result),
        Poll::Pending => 0,
    }
}

/// A poll that has filled a buffer, in which there was room for as many bytes as were asked for.
pub(crate) fn filled<T, I: Io>(buf: &ReadBuf<'_>) -> impl Fn(&Poll<T>, &I) -> u64 {
    let left = buf.remaining() as u64;
    move |_, io| io.asked().saturating_sub(left)
}

/// A poll of what has no bytes.
pub(crate) fn without_bytes<T>(_: &Poll<T>, _: &impl Io) -> u64 {
    0
}
