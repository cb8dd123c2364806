//! Waits of a program's own: what a thread waits for that is no lock, file or socket that this crate knows (WL#2360's `start_wait` and
//! `end_wait`).
//!
//! ```
//! use perfschema::wait::{Operation, Wait};
//! use perfschema::tables;
//!
//! static POOL: Wait = perfschema::wait!("wait/app/db_pool");
//!
//! struct Connection;
//! fn free_connection() -> Connection {
//!     let _waiting = POOL.begin(Operation::Acquire); // Ends when it is dropped, also by a panic.
//!     Connection
//! }
//!
//! # #[cfg(feature = "instrument")] {
//! let process = perfschema::start()?;
//! free_connection();
//! process.region().scan(&tables::EventsWaitsHistory, |row| {
//!     assert_eq!((row.event_name.as_str(), row.operation), ("wait/app/db_pool", "acquire"));
//! });
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A wait is a row of `events_waits_current` while it lasts, then one of the histories, and is counted in the summaries by thread and by
//! event name and in the histogram. It has no instance: [`begin_for`](Wait::begin_for) says for which object it is, but that object has no
//! row of its own.
//!
//! **Names.** `wait/<module>/<name>`, `wait/lock/<family>/…`, or as of what synchronizes threads, `wait/synch/<family>/…`, but for the families of
//! mutexes, read-write locks and condition variables. Together with those of `synch` there is room for
//! `performance_schema_max_synch_classes` of them.
//!
//! **Within one another.** What a thread waits for while such a wait lasts lies within it. They may end in any order; those that go on lie
//! within what the one that ended lay within.
//!
//! **Over an await.** A wait of a thread's cannot go to another thread, so that a future that holds one is not `Send`. What a task waits for
//! begins with [`begin_async`](Wait::begin_async), and may be held while the task waits, and goes from thread to thread: in an
//! [attached](crate::task) task it is shown in the task's rows while it lasts, in any other it is recorded when it ends.
//!
//! **What it costs.** Off, two loads and a branch. On, about what a lock's wait costs. Nothing is allocated, but where one of an
//! attached task ends elsewhere than in the task. Without the feature `instrument`, nothing.

#[cfg(feature = "instrument")]
use crate::{begun::Begun, instrument::Instrument, io::Io};
#[cfg(feature = "instrument")]
use perfschema_core::{InstrumentKind, Switches, WaitStart};
use std::marker::PhantomData;
#[cfg(feature = "instrument")]
use std::panic::Location;

pub use crate::statement::{OfTask, OfThread};
pub use perfschema_core::Operation;

/// Something that a program's threads wait for; made by [`wait!`](crate::wait!), also in a `static`.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    #[cfg(feature = "instrument")]
    instrument: &'static Instrument,
}

/// A wait that goes on, and ends where this is dropped. It belongs to whom it was begun for: [`OfThread`], or [`OfTask`]. One that is never
/// dropped goes on as long as its thread or task.
#[must_use = "the wait ends at once; `let waiting = …` keeps it"]
#[derive(Debug)]
pub struct Waiting<Of = OfThread> {
    #[cfg(feature = "instrument")]
    begun: Option<Begun<Own>>,
    #[cfg(feature = "instrument")]
    bytes: Option<u64>,
    of: PhantomData<Of>,
}

/// Such a wait, as it is before it begins.
#[cfg(feature = "instrument")]
#[derive(Clone, Copy, Debug)]
struct Own {
    instrument: &'static Instrument,
    operation: Operation,
    object: u64,
    source: &'static Location<'static>,
    is_of_thread: bool,
}

#[cfg(feature = "instrument")]
impl Io for Own {
    type Object = ();

    fn instrument(&self) -> &'static Instrument {
        self.instrument
    }

    fn object(&self) {}

    fn operation(&self) -> Operation {
        self.operation
    }

    fn start(&self) -> WaitStart {
        WaitStart { object: self.object, source: Some(self.source), ..WaitStart::new(self.operation) }
    }

    fn is_of_thread(&self) -> bool {
        self.is_of_thread
    }

    #[cfg(feature = "tokio")]
    fn transfers(&self) -> bool {
        false
    }
}

#[cfg(feature = "instrument")]
impl Wait {
    /// The waits of `instrument`, a `wait/…` that is none of mutexes, read-write locks, condition variables, files or sockets. In a `static`
    /// or at run time: a `const` cannot look at a `static`, and has [`wait!`](crate::wait!).
    ///
    /// # Panics
    /// If the instrument is of another kind; in a `static`, that is a compile error.
    pub const fn with_instrument(instrument: &'static Instrument) -> Wait {
        crate::__check_kind(instrument.kind(), InstrumentKind::Wait);
        Wait { instrument }
    }

    // For wait!, which has looked at the name.
    #[doc(hidden)]
    pub const fn __of(instrument: &'static Instrument) -> Wait {
        Wait { instrument }
    }

    /// The calling thread waits until what is returned is dropped. `operation` is OPERATION.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn begin(&self, operation: Operation) -> Waiting {
        self.begin_for(operation, 0)
    }

    /// The same for one of several objects: `object`, its address or its number, is OBJECT_INSTANCE_BEGIN.
    ///
    /// ```
    /// # use perfschema::wait::{Operation, Wait};
    /// static SHARD: Wait = perfschema::wait!("wait/app/shard");
    /// for shard in 0..4 {
    ///     let _waiting = SHARD.begin_for(Operation::Acquire, shard);
    /// }
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn begin_for(&self, operation: Operation, object: u64) -> Waiting {
        self.begin_at(operation, object, Location::caller())
    }

    /// The same, with its SOURCE.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn begin_at(&self, operation: Operation, object: u64, source: &'static Location<'static>) -> Waiting {
        match self.instrument.on() {
            Some(switches) => begin(self.instrument, switches, operation, object, source),
            None => Waiting::of(None),
        }
    }

    /// The task that is polled waits until what is returned is dropped, also on another thread. In an [attached](crate::task) task it is
    /// shown while it lasts. In any other, or in none, it is recorded whole when it ends, by the thread that ends it; until then it is nowhere
    /// to be seen. Nothing lies within it: a task may wait for several things at once.
    ///
    /// ```
    /// use perfschema::task;
    /// use perfschema::wait::{Operation, Wait};
    /// static PERMITS: Wait = perfschema::wait!("wait/synch/semaphore/app/permits");
    ///
    /// async fn permit() {}
    /// let request = async {
    ///     let waiting = PERMITS.begin_async(Operation::Acquire);
    ///     permit().await;
    ///     drop(waiting);
    /// };
    /// # fn spawn(_: impl Future + Send + 'static) {}
    /// spawn(task::attach("task/app/request", request)); // A runtime's, such as tokio::spawn
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn begin_async(&self, operation: Operation) -> Waiting<OfTask> {
        self.begin_async_for(operation, 0)
    }

    /// The same for one of several objects, as [`begin_for`](Self::begin_for).
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn begin_async_for(&self, operation: Operation, object: u64) -> Waiting<OfTask> {
        match self.instrument.on() {
            Some(switches) => begin_async(self.instrument, switches, operation, object, Location::caller()),
            None => Waiting::of(None),
        }
    }
}

// Both by value: what is in memory for a call would be written there before it is known whether there is one.
#[cfg(feature = "instrument")]
#[inline(never)]
fn begin(
    instrument: &'static Instrument,
    switches: Switches,
    operation: Operation,
    object: u64,
    source: &'static Location<'static>,
) -> Waiting {
    Waiting::of(Begun::by_thread(Own { instrument, operation, object, source, is_of_thread: true }, switches))
}

#[cfg(feature = "instrument")]
#[inline(never)]
fn begin_async(
    instrument: &'static Instrument,
    switches: Switches,
    operation: Operation,
    object: u64,
    source: &'static Location<'static>,
) -> Waiting<OfTask> {
    Waiting::of(Some(Begun::by_task(Own { instrument, operation, object, source, is_of_thread: false }, switches)))
}

#[cfg(feature = "instrument")]
#[inline(never)]
fn end(begun: &Begun<Own>, bytes: Option<u64>) {
    begun.end(bytes);
}

#[cfg(feature = "instrument")]
impl<Of> Waiting<Of> {
    const fn of(begun: Option<Begun<Own>>) -> Waiting<Of> {
        Waiting { begun, bytes: None, of: PhantomData }
    }

    /// NUMBER_OF_BYTES, seen once the wait has ended: how many bytes it was for, or whatever else the program counts. A `wait/synch/…` has none.
    ///
    /// ```
    /// # use perfschema::wait::{Operation, Wait};
    /// static DEVICE: Wait = perfschema::wait!("wait/app/device");
    /// let mut waiting = DEVICE.begin(Operation::Read);
    /// waiting.set_bytes(4096);
    /// ```
    pub fn set_bytes(&mut self, bytes: u64) {
        if let Some(begun) = &self.begun {
            // SPINS are another number.
            self.bytes = Some(bytes).filter(|_| begun.io.instrument.kind() == InstrumentKind::Wait);
        }
    }
}

#[cfg(feature = "instrument")]
impl<Of> Drop for Waiting<Of> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if let Some(begun) = &self.begun {
            end(begun, self.bytes);
        }
    }
}

#[cfg(not(feature = "instrument"))]
impl Wait {
    #[doc(hidden)]
    pub const fn new() -> Wait {
        Wait {}
    }

    /// The calling thread waits until what is returned is dropped. `operation` is OPERATION.
    #[inline]
    pub fn begin(&self, _operation: Operation) -> Waiting {
        Waiting { of: PhantomData }
    }

    /// The same for one of several objects: `object`, its address or its number, is OBJECT_INSTANCE_BEGIN.
    #[inline]
    pub fn begin_for(&self, _operation: Operation, _object: u64) -> Waiting {
        Waiting { of: PhantomData }
    }

    /// The task that is polled waits until what is returned is dropped, also on another thread.
    #[inline]
    pub fn begin_async(&self, _operation: Operation) -> Waiting<OfTask> {
        Waiting { of: PhantomData }
    }

    /// The same for one of several objects, as [`begin_for`](Self::begin_for).
    #[inline]
    pub fn begin_async_for(&self, _operation: Operation, _object: u64) -> Waiting<OfTask> {
        Waiting { of: PhantomData }
    }
}

#[cfg(not(feature = "instrument"))]
impl<Of> Waiting<Of> {
    /// NUMBER_OF_BYTES, seen once the wait has ended: how many bytes it was for, or whatever else the program counts.
    #[inline]
    pub fn set_bytes(&mut self, _bytes: u64) {}
}
