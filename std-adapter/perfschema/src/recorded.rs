//! What outlives the call that began it, stages, statements and transactions: where it is until it ends.

use crate::left::{Left, take_back};
use crate::thread::{task_id, with_actor};
use perfschema_core::{Actor, ActorId};
use perfschema_timer::{Clock, SystemClock, TimerName};

/// Where an event is until it ends: `Event` with the actor that began it, `Whole` here.
#[derive(Debug)]
pub(crate) enum Recorded<Event, Whole> {
    Nowhere,
    /// With the actor that began it.
    At(Event),
    /// Here: which actor will be at hand at its end is not known.
    AtItsEnd(Box<Whole>),
}

/// An event that an actor began.
pub(crate) trait OfActor: Send + 'static {
    /// What is left of it when it has ended: memory.
    type Rest: Send + 'static;

    /// That actor, if it has a slot and records this.
    fn actor_id(&self) -> Option<ActorId>;
}

impl<Event: OfActor, Whole> Recorded<Event, Whole> {
    /// Of the calling thread, or of the attached task that is polled.
    pub(crate) fn by_thread(begin: impl FnOnce(&Actor<'static>) -> Event) -> Recorded<Event, Whole> {
        take_back();
        with_actor(begin).map_or(Recorded::Nowhere, Recorded::At)
    }

    /// Of a task: of an attached one with its actor; of any other `whole`, which is recorded by the thread that ends it.
    pub(crate) fn by_task(begin: impl FnOnce(&Actor<'static>) -> Event, whole: impl FnOnce() -> Whole) -> Recorded<Event, Whole> {
        take_back();
        let task = task_id();
        // A handler in the middle of a record has another actor.
        match with_actor(|actor| (task != 0 && actor.thread_id() == task).then(|| begin(actor))) {
            Some(Some(event)) => Recorded::At(event),
            Some(None) => Recorded::AtItsEnd(Box::new(whole())),
            None => Recorded::Nowhere,
        }
    }

    pub(crate) const fn is_anywhere(&self) -> bool {
        !matches!(self, Recorded::Nowhere)
    }

    /// It ends, or is recorded whole, where an actor is at hand.
    pub(crate) fn end(
        &mut self,
        at: impl Fn(&Actor<'static>, Event, &When) -> Event::Rest + Send + 'static,
        whole: impl FnOnce(&Actor<'static>, &Whole),
    ) {
        match std::mem::replace(self, Recorded::Nowhere) {
            Recorded::Nowhere => {}
            Recorded::At(event) => {
                // One without a slot has no number by which its event could be left behind for it: whoever is at hand ends it.
                let ended = with_actor(|actor| match event.actor_id() {
                    Some(id) if Some(id) != actor.id() => Err((id, event)),
                    _ => Ok(at(actor, event, &When::Now)),
                });
                if let Some(Err((id, event))) = ended {
                    Left::event(id, event, at).leave();
                }
            }
            // This is dropped outside, as what is left above: that memory is given back may be recorded, too.
            Recorded::AtItsEnd(recorded) => {
                with_actor(|actor| whole(actor, &recorded));
            }
        }
    }
}

/// The moment at which an event ends.
#[derive(Debug)]
pub(crate) enum When {
    Now,
    /// What the timers said, by [`TimerName::index`].
    Then([u64; TimerName::ALL.len()]),
}

impl When {
    /// This moment, for later.
    pub(crate) fn here() -> When {
        When::Then(TimerName::ALL.map(|timer| SystemClock.ticks(timer)))
    }
}

impl Clock for When {
    fn ticks(&self, timer: TimerName) -> u64 {
        match self {
            When::Now => SystemClock.ticks(timer),
            When::Then(ticks) => ticks[timer.index()],
        }
    }
}
