//! What outlives the call that began it, statements and transactions: where it is until it ends.

use crate::thread::{task_id, with_actor};
use perfschema_core::Actor;

/// Where an event is until it ends: `Event` with the actor that began it, `Whole` here.
#[derive(Debug)]
pub(crate) enum Recorded<Event, Whole> {
    Nowhere,
    /// With the actor that began it.
    At(Event),
    /// Here: which actor will be at hand at its end is not known.
    AtItsEnd(Box<Whole>),
}

impl<Event, Whole> Recorded<Event, Whole> {
    /// Of the calling thread, or of the attached task that is polled.
    pub(crate) fn by_thread(begin: impl FnOnce(&Actor<'static>) -> Event) -> Recorded<Event, Whole> {
        with_actor(begin).map_or(Recorded::Nowhere, Recorded::At)
    }

    /// Of a task: of an attached one with its actor; of any other `whole`, which is recorded by the thread that ends it.
    pub(crate) fn by_task(begin: impl FnOnce(&Actor<'static>) -> Event, whole: impl FnOnce() -> Whole) -> Recorded<Event, Whole> {
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
    pub(crate) fn end(&mut self, at: impl FnOnce(&Actor<'static>, Event), whole: impl FnOnce(&Actor<'static>, &Whole)) {
        with_actor(|actor| match self {
            Recorded::Nowhere => {}
            Recorded::At(_) => {
                if let Recorded::At(event) = std::mem::replace(self, Recorded::Nowhere) {
                    at(actor, event);
                }
            }
            // It is dropped outside: that memory is given back may be recorded, too.
            Recorded::AtItsEnd(recorded) => whole(actor, recorded),
        });
    }
}
