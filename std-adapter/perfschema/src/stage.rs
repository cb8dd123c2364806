//! Stages: what a thread is doing, one after the other, and how far it is (WL#4813).
//!
//! ```
//! use perfschema::{stage::Stage, tables};
//!
//! static READING: Stage = perfschema::stage!("stage/app/reading");
//! static SORTING: Stage = perfschema::stage!("stage/app/sorting");
//!
//! # #[cfg(feature = "instrument")] {
//! let process = perfschema::start()?;
//! READING.begin();
//! let mut lines = vec!["two", "one"];
//! SORTING.begin(); // Ends READING, at the same moment.
//! SORTING.set_work_estimated(2);
//! lines.sort();
//! SORTING.add_work_completed(2);
//! process.region().scan(&tables::EventsStagesCurrent, |row| {
//!     assert_eq!((row.event_name.as_str(), row.work_completed), ("stage/app/sorting", Some(2)));
//! });
//! SORTING.end();
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A thread, or an attached [task](crate::task), is in one stage at a time, or in none. Its waits show that stage as NESTING_EVENT_ID. A
//! stage that begins within another one ends it, and does not come back to it: a function that is a stage of its own is followed by a new
//! `begin` of the caller's. [`Stage::enter`] ends a stage where its scope ends, if nobody ended it before; the end of a thread or task
//! ends the last one.
//!
//! **Over an await.** [`Stage::begin`] is about the thread, or the attached task that is polled at that moment. In a task that is not attached
//! it is about the thread that happens to poll it, and stays with that when the task has gone elsewhere. [`Stage::enter_async`] may be held
//! while a task waits, and does nothing in one that is not attached.
//!
//! **What it costs.** Off, two loads and a branch, as a lock does. Once any instrument of stages has been on, also one that is off asks
//! whether there is a stage to end. On, about two waits, timed by NANOSECOND unless `setup_timers` says otherwise. Without the feature
//! `instrument`, nothing.

pub use crate::statement::{OfTask, OfThread};
#[cfg(feature = "instrument")]
use crate::{
    instrument::Instrument,
    left::take_back,
    recorded::{OfActor, Recorded, When},
    thread::{task_id, with_actor},
};
#[cfg(feature = "instrument")]
use perfschema_core::{Actor, ActorId, InstrumentKind, StageId, StageProgress, Switches};
#[cfg(feature = "instrument")]
use perfschema_timer::SystemClock;
#[cfg(feature = "instrument")]
use std::convert::Infallible;
use std::marker::PhantomData;
#[cfg(feature = "instrument")]
use std::panic::Location;

/// A stage that threads can be in; made by [`stage!`](crate::stage!), also in a `static`.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    #[cfg(feature = "instrument")]
    instrument: &'static Instrument,
}

/// A stage that ends where this is dropped, if it is still the one that runs. It belongs to whom it was entered for: [`OfThread`], or
/// [`OfTask`]. Dropped where another task or thread is at hand, it ends as of that moment once the one that is in it goes on.
#[must_use = "the stage ends at once; `let _stage = …` keeps it"]
#[derive(Debug)]
pub struct Entered<Of = OfThread> {
    #[cfg(feature = "instrument")]
    recorded: Recorded<StageId, Infallible>,
    of: PhantomData<Of>,
}

#[cfg(feature = "instrument")]
impl OfActor for StageId {
    type Rest = ();

    fn actor_id(&self) -> Option<ActorId> {
        self.actor_id()
    }
}

#[cfg(feature = "instrument")]
impl Stage {
    /// The stage of `instrument`, a `stage/…`. In a `static` or at run time: a `const` cannot look at a `static`, and has
    /// [`stage!`](crate::stage!).
    ///
    /// # Panics
    /// If the instrument is of another kind; in a `static`, that is a compile error.
    pub const fn with_instrument(instrument: &'static Instrument) -> Stage {
        crate::__check_kind(instrument.kind(), InstrumentKind::Stage);
        Stage { instrument }
    }

    // For stage!, which has looked at the name.
    #[doc(hidden)]
    pub const fn __of(instrument: &'static Instrument) -> Stage {
        Stage { instrument }
    }

    /// The calling thread is in this stage from now on; that in which it was ends at the same moment.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn begin(&self) {
        if let Some(switches) = self.instrument.on() {
            begin(switches, Location::caller());
        }
    }

    /// As [`begin`](Self::begin), until what is returned is dropped.
    ///
    /// ```
    /// # use perfschema::stage::Stage;
    /// static PARSING: Stage = perfschema::stage!("stage/app/parsing");
    /// fn parse(text: &str) -> Result<u32, std::num::ParseIntError> {
    ///     let _stage = PARSING.enter();
    ///     text.parse()
    /// }
    /// assert!(parse("none").is_err());
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn enter(&self) -> Entered {
        // Of a closure the caller is here.
        let source = Location::caller();
        let begun = self.instrument.on().and_then(|switches| begin(switches, source));
        Entered { recorded: begun.map_or(Recorded::Nowhere, Recorded::At), of: PhantomData }
    }

    /// As [`enter`](Self::enter), of the attached task that is polled, wherever it is polled next. In any other task, or in none, it does
    /// nothing.
    ///
    /// ```
    /// use perfschema::{stage::Stage, task};
    /// static SENDING: Stage = perfschema::stage!("stage/app/sending");
    ///
    /// # async fn sent() {}
    /// let request = async {
    ///     let _stage = SENDING.enter_async();
    ///     sent().await;
    /// };
    /// # fn spawn(_: impl Future + Send + 'static) {}
    /// spawn(task::attach("task/app/request", request)); // A runtime's, such as tokio::spawn
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn enter_async(&self) -> Entered<OfTask> {
        let source = Location::caller();
        let begun = self.instrument.on().filter(|_| task_id() != 0).and_then(|switches| begin(switches, source));
        Entered { recorded: begun.map_or(Recorded::Nowhere, Recorded::At), of: PhantomData }
    }

    /// The calling thread is in no stage from now on, if it was in this one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn end(&self) {
        if self.instrument.on().is_some() {
            take_back();
            self.if_running(|actor, stage| {
                actor.end_stage(&SystemClock, stage);
            });
        }
    }

    /// WORK_ESTIMATED: so many units of work are to be done in the stage, those included that are done; as [`begin`](Self::begin) it is
    /// about the calling thread, and does nothing if that is in another stage.
    ///
    /// ```
    /// # use perfschema::{stage::Stage, tables};
    /// static COPYING: Stage = perfschema::stage!("stage/app/copying");
    /// let process = perfschema::start()?;
    /// COPYING.begin();
    /// COPYING.set_work_estimated(100);
    /// COPYING.add_work_completed(30);
    /// process.region().scan(&tables::EventsStagesCurrent, |row| {
    ///     assert_eq!((row.work_completed, row.work_estimated), (Some(30), Some(100)));
    /// });
    /// COPYING.end();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn set_work_estimated(&self, units: u64) {
        self.progress(|progress| progress.estimated = units);
    }

    /// WORK_COMPLETED: so many units of work are done.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn set_work_completed(&self, units: u64) {
        self.progress(|progress| progress.completed = units);
    }

    /// Adds to WORK_COMPLETED.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn add_work_completed(&self, units: u64) {
        self.progress(|progress| progress.completed = progress.completed.saturating_add(units));
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn progress(&self, change: impl FnOnce(&mut StageProgress)) {
        if self.instrument.on().is_some() {
            self.if_running(|actor, _| actor.change_stage_progress(change));
        }
    }

    /// Runs something if the calling thread is in this stage, whose instrument is on.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn if_running(&self, run: impl FnOnce(&Actor<'static>, StageId)) {
        with_actor(|actor| {
            if let Some(stage) = actor.running_stage().filter(|stage| stage.class() == self.instrument.registered()) {
                run(actor, stage);
            }
        });
    }
}

#[cfg(feature = "instrument")]
#[inline(never)]
fn begin(switches: Switches, location: &'static Location<'static>) -> Option<StageId> {
    // One that has ended elsewhere ends as of that moment.
    take_back();
    with_actor(|actor| actor.begin_stage(&SystemClock, switches, Some(location))).flatten()
}

#[cfg(feature = "instrument")]
impl<Of> Drop for Entered<Of> {
    fn drop(&mut self) {
        let at = |actor: &Actor<'static>, stage, when: &When| {
            actor.end_stage(when, stage);
        };
        self.recorded.end(at, |_, never| match *never {});
    }
}

#[cfg(not(feature = "instrument"))]
impl Stage {
    #[doc(hidden)]
    pub const fn new() -> Stage {
        Stage {}
    }

    /// The calling thread is in this stage from now on; that in which it was ends at the same moment.
    #[inline]
    pub fn begin(&self) {}

    /// As [`begin`](Self::begin), until what is returned is dropped.
    #[inline]
    pub fn enter(&self) -> Entered {
        Entered { of: PhantomData }
    }

    /// As [`enter`](Self::enter), of the attached task that is polled.
    #[inline]
    pub fn enter_async(&self) -> Entered<OfTask> {
        Entered { of: PhantomData }
    }

    /// The calling thread is in no stage from now on, if it was in this one.
    #[inline]
    pub fn end(&self) {}

    /// WORK_ESTIMATED: so many units of work are to be done in the stage, those included that are done.
    #[inline]
    pub fn set_work_estimated(&self, _units: u64) {}

    /// WORK_COMPLETED: so many units of work are done.
    #[inline]
    pub fn set_work_completed(&self, _units: u64) {}

    /// Adds to WORK_COMPLETED.
    #[inline]
    pub fn add_work_completed(&self, _units: u64) {}
}
