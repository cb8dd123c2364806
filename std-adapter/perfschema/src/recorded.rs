//! What outlives the call that began it, statements and transactions: where it is until it ends.
//!
//! What an actor began, nobody else writes. So what ends while another one is at hand, because a task gave it away, is left behind for the
//! one that began it, which ends it as of that moment when its task is polled next, or begins another one.

use crate::process;
use crate::thread::{forks, has_list, task_id, with_actor};
use perfschema_core::{Actor, tables};
use perfschema_timer::{Clock, SystemClock, TimerName};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

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

    /// THREAD_ID of the actor.
    fn thread_id(&self) -> u64;
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
                let ended = with_actor(|actor| {
                    let is_mine = [actor.thread_id(), NO_SLOT].contains(&event.thread_id());
                    if is_mine { Ok(at(actor, event, &When::Now)) } else { Err(event) }
                });
                if let Some(Err(event)) = ended {
                    Left::new(event, at).leave();
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

impl Clock for When {
    fn ticks(&self, timer: TimerName) -> u64 {
        match self {
            When::Now => SystemClock.ticks(timer),
            When::Then(ticks) => ticks[timer.index()],
        }
    }
}

/// What has ended elsewhere than with the actor that began it.
struct Left {
    /// Of the actor that began it; [`ENDED`] once it has ended.
    thread_id: u64,
    when: When,
    /// Called once, and then holds what is left of the event. It is dropped outside of all records, because that is memory.
    end: Box<End>,
}

type End = dyn FnMut(&Actor<'static>, &When) + Send;

/// No actor's that has a slot.
const ENDED: u64 = 0;
/// THREAD_ID of all others.
const NO_SLOT: u64 = 0;

/// All that is left behind, and how many of these have not ended. What has stays in the list until somebody adds to it, or an actor ends:
/// it is memory, and who comes back for what is its own may be a handler that has interrupted malloc.
static LEFT: Mutex<Vec<Left>> = Mutex::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// More than these are not kept: of actors that do not go on, such as handlers'.
const MOST: usize = 1024;

/// The list, while the calling thread has it.
struct List {
    // Given back before the thread says so.
    all: MutexGuard<'static, Vec<Left>>,
    _has: HasList,
}

/// A mark that the calling thread has the list, or waits for it.
struct HasList;

impl Drop for HasList {
    fn drop(&mut self) {
        has_list(false);
    }
}

impl List {
    fn count(&self) {
        COUNT.store(self.all.iter().filter(|left| left.thread_id != ENDED).count(), Ordering::Relaxed);
    }

    /// What was left behind for this actor has ended, each as `end` does it.
    fn end_of(&mut self, thread_id: u64, end: impl Fn(&mut Left)) {
        for left in self.all.iter_mut().filter(|left| left.thread_id == thread_id) {
            end(left);
            left.thread_id = ENDED;
        }
        self.count();
    }
}

/// None in a handler that interrupts its thread while that has it, and in a child whose parent's thread had it. Otherwise whoever has it is
/// waited for, even if others run meanwhile, for a second: what is not taken out in time is not counted.
fn list() -> Option<List> {
    /// In which process the list was taken last, as how many forks lead there. Relaxed: at worst it is that of somebody before.
    static TAKEN_IN: AtomicU32 = AtomicU32::new(0);
    let has = has_list(true).then(|| HasList)?;
    for tries in 0..1100 {
        let all = match LEFT.try_lock() {
            Ok(all) => all,
            Err(TryLockError::Poisoned(all)) => all.into_inner(),
            Err(TryLockError::WouldBlock) if TAKEN_IN.load(Ordering::Relaxed) != forks() => return None,
            Err(TryLockError::WouldBlock) => {
                match tries {
                    0..100 => std::thread::yield_now(),
                    _ => std::thread::sleep(Duration::from_millis(1)),
                }
                continue;
            }
        };
        TAKEN_IN.store(forks(), Ordering::Relaxed);
        return Some(List { all, _has: has });
    }
    None
}

impl Left {
    fn new<Event: OfActor>(event: Event, at: impl Fn(&Actor<'static>, Event, &When) -> Event::Rest + Send + 'static) -> Left {
        let (thread_id, mut event, mut rest) = (event.thread_id(), Some(event), None);
        let end = move |actor: &Actor<'static>, when: &When| {
            if let Some(event) = event.take() {
                let _ = rest.insert(at(actor, event, when));
            }
        };
        Left { thread_id, when: When::Then(TimerName::ALL.map(|timer| SystemClock.ticks(timer))), end: Box::new(end) }
    }

    /// For the actor that began it, if that goes on; otherwise it is counted here.
    fn leave(self) {
        let thread_id = self.thread_id;
        if let Err(mut left) = self.put_in_list() {
            with_actor(|actor| left.end(actor));
            return;
        }
        // After it was counted it is looked whether that actor is there: see `forget`.
        fence(Ordering::SeqCst);
        if !is_there(thread_id) {
            end_here(thread_id);
        }
    }

    fn put_in_list(self) -> Result<(), Left> {
        drop_ended();
        let Some(mut list) = list().filter(|list| list.all.len() < MOST) else { return Err(self) };
        list.all.push(self);
        list.count();
        Ok(())
    }

    fn end(&mut self, actor: &Actor<'static>) {
        (self.end)(actor, &self.when);
    }
}

fn is_there(thread_id: u64) -> bool {
    let mut is_there = false;
    if let Some(process) = process() {
        process.region().scan(&tables::Threads, |row| is_there |= row.thread_id == thread_id);
    }
    is_there
}

/// The list, if there is something in it that has not ended.
fn list_of_some() -> Option<List> {
    // Relaxed: who wakes a task orders what was done before.
    (COUNT.load(Ordering::Relaxed) != 0).then(list).flatten()
}

/// What was left behind for this actor ends, recorded by the one that is at hand.
fn end_here(thread_id: u64) {
    if let Some(mut list) = list_of_some() {
        with_actor(|actor| list.end_of(thread_id, |left| left.end(actor)));
        // Where nobody records it is none either.
        list.end_of(thread_id, |_| ());
    }
}

/// Gives back the memory of what has ended, outside of the list, because that may be recorded.
fn drop_ended() {
    let ended: Vec<Left> =
        list().map(|mut list| list.all.extract_if(.., |left| left.thread_id == ENDED).collect()).unwrap_or_default();
    drop(ended);
}

/// The thread's actor may be another one now: what was left behind for that ends.
#[inline]
pub(crate) fn take_back() {
    if COUNT.load(Ordering::Relaxed) != 0 {
        with_actor(Actor::thread_id).into_iter().for_each(end_here);
    }
}

/// The same for an actor that is about to end.
pub(crate) fn take_back_all(actor: &Actor<'static>) {
    if let Some(mut list) = list_of_some() {
        list.end_of(actor.thread_id(), |left| left.end(actor));
    }
}

/// An actor has ended: its row is gone.
pub(crate) fn forget(thread_id: u64) {
    // Whoever did not see that the row is gone has counted before; see `leave`.
    fence(Ordering::SeqCst);
    end_here(thread_id);
    drop_ended();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As where the system runs others for a while in the middle of it.
    #[test]
    fn the_list_is_waited_for_but_by_a_handler_of_who_has_it() {
        // Where a thread's own is found by a key there is none before.
        crate::process::started_for_tests();
        let has = list();
        assert!(has.is_some() && list().is_none());
        let other = std::thread::spawn(|| list().is_some());
        std::thread::sleep(Duration::from_millis(20));
        drop(has);
        assert!(other.join().unwrap() && list().is_some());
        // Nor is it given up for ever where it took too long.
        let has = list();
        assert!(!std::thread::spawn(|| list().is_some()).join().unwrap());
        drop(has);
        assert!(list().is_some());
    }

    /// As where the thread that had the list is not there, because the process was forked while it had it.
    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn a_child_whose_parents_thread_had_the_list_has_none() {
        crate::process::started_for_tests();
        let (has, go_on) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let list = list();
                has.wait();
                go_on.wait();
                drop(list);
            });
            has.wait();
            // SAFETY: the child only looks and ends.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let has_list = list().is_some();
                // SAFETY: it only ends the process.
                unsafe { libc::_exit(i32::from(has_list)) };
            }
            let mut status = -1;
            // SAFETY: a child of this process, and a place to write to.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            go_on.wait();
            assert_eq!(status, 0);
        });
    }
}
