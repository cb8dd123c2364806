//! Waits that outlive the call that began them.
//!
//! An actor writes its own records only, and that of a task is there only while the task is polled:
//! ```text
//!   begun by                ended by              recorded
//!   a thread                the same              where it was begun, and shown meanwhile
//!   an attached task        the same              where it was begun, and shown meanwhile
//!   either                  anybody else          whole, by who ends it, as of its start; the first withdraws its own when it goes on (`left`)
//!   any other task          anybody               whole, by who ends it
//! ```

use crate::hook::At;
use crate::io::{Io, Object, amount};
use crate::left::{Left, take_back};
use crate::thread::{task_id, with_actor};
use perfschema_core::{Actor, Switches, Wait, WaitStart};
use perfschema_timer::SystemClock;

/// A wait that goes on. Who has it ends it, once.
// The type of the object is a parameter, so that what has one of these can be covariant in `I`.
#[derive(Debug)]
pub(crate) struct Begun<I: Io<Object = O>, O = <I as Io>::Object> {
    pub(crate) io: I,
    /// Of what the operation has opened it is known only at its end.
    pub(crate) object: O,
    switches: Switches,
    /// Ticks of their timer.
    start: u64,
    /// Where it is visible, and whose that is: THREAD_ID.
    shown: Option<(Wait<'static>, u64)>,
}

impl<I: Io> Begun<I> {
    fn new(io: I, switches: Switches) -> Begun<I> {
        Begun { io, object: io.object(), switches, start: switches.read(&SystemClock), shown: None }
    }

    /// By the calling thread, or by the attached task that is polled: what it waits for meanwhile lies within, [`is_of_thread`](Io::is_of_thread).
    /// None for a handler nested too deep.
    pub(crate) fn by_thread(io: I, switches: Switches) -> Option<Begun<I>> {
        let begun = Begun::new(io, switches);
        let (class, start) = (io.instrument().registered(), io.start());
        let begin = |actor: &Actor<'static>| (actor.begin(&At(begun.start), switches, class, &start), actor.thread_id());
        Some(Begun { shown: Some(with_actor(begin)?), ..begun })
    }

    /// By the task that is polled, which goes on meanwhile.
    pub(crate) fn by_task(io: I, switches: Switches) -> Begun<I> {
        take_back();
        let begun = Begun::new(io, switches);
        let shown = match task_id() {
            0 => None,
            task => with_actor(|actor| {
                // A handler in the middle of a record has another one.
                (actor.thread_id() == task).then(|| {
                    let class = io.instrument().registered();
                    (actor.begin_concurrent(&At(begun.start), switches, class, &io.start()), task)
                })
            })
            .flatten(),
        };
        Begun { shown, ..begun }
    }

    /// It ends: how many bytes it did, if that is a question.
    pub(crate) fn end(&self, bytes: Option<u64>) {
        let &Begun { io, object, switches, start, ref shown } = self;
        let class = io.instrument().registered();
        let ended = || WaitStart { amount: amount(bytes), ..io.start() };
        let left = with_actor(|actor| {
            let held = object.held(io.operation().group());
            match shown {
                Some((wait, thread)) if *thread == actor.thread_id() => {
                    let mut wait = wait.clone();
                    wait.set_amount(amount(bytes));
                    if io.is_of_thread() {
                        actor.end_in_any_order(&SystemClock, wait, held);
                    } else {
                        actor.end_concurrent(&SystemClock, wait, held);
                    }
                    None
                }
                // Who began it was not to be recorded.
                Some((wait, _)) if !wait.is_recorded() => None,
                Some((wait, thread)) => {
                    actor.record_given(&SystemClock, wait, class, &ended(), held);
                    Some(Left::wait(actor.region().actor_of(wait, *thread)?, wait.clone()))
                }
                None => {
                    actor.record_since(&SystemClock, start, switches, class, &ended(), held);
                    None
                }
            }
        });
        // Outside of the record: the list is memory.
        left.flatten().into_iter().for_each(Left::leave);
    }
}
