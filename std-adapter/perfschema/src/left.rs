//! What has ended while another actor was at hand than the one that began it, because a task gave it away. What an actor began, nobody else
//! writes: so it is left behind for that one, which ends it as of that moment when its task is polled next, begins another one, or ends.
//!
//! A wait is recorded at once by who ends it, as of any task that is not attached; what is left is its place.
//!
//! There is no more of it than was going on at once when its actor last began one or was polled: so there is no limit.

use crate::process;
use crate::recorded::{OfActor, When};
use crate::thread::{forks, has_list, with_actor};
use perfschema_core::{Actor, ActorId, Wait};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

/// Something that has ended.
pub(crate) struct Left {
    actor: ActorId,
    what: What,
}

enum What {
    /// It is recorded: its place is to be given back.
    Wait(Wait<'static>),
    /// It ends as of that moment. Called once, and then holds what is left of it, which is dropped outside of all records.
    Event(When, Box<End>),
}

type End = dyn FnMut(&Actor<'static>, &When) + Send;

/// What was left behind for actors whose THREAD_IDs have the same remainder, so that tasks that have left nothing rarely meet others.
struct Shelf {
    /// How many of these have not ended. Relaxed, written by who has the list: who wakes a task orders what was done before, and where that
    /// is not enough are fences, in `leave` and `forget`.
    count: AtomicUsize,
    /// In which process the list can be taken, as how many forks lead there. Relaxed: it changes where a child has one thread.
    usable_in: AtomicU32,
    all: Mutex<Vec<OfOne>>,
}

/// What was left behind for one actor.
struct OfOne {
    actor: ActorId,
    all: Vec<What>,
    /// Also for the actor. It stays in the list until somebody adds to it, or an actor ends, because it has memory: who comes back for what is
    /// its own may be a handler that has interrupted malloc.
    has_ended: bool,
}

static SHELVES: [Shelf; 256] = [const { Shelf::new() }; 256];

/// The sum of their counts. Relaxed, as those.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A shelf's list, while the calling thread has it.
struct List {
    shelf: &'static Shelf,
    // Given back before the thread says so.
    all: MutexGuard<'static, Vec<OfOne>>,
    _has: HasList,
}

/// A mark that the calling thread has a list, or waits for one.
struct HasList;

impl Drop for HasList {
    fn drop(&mut self) {
        has_list(false);
    }
}

/// For how long a list is waited for that somebody else has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// Without sleeping: what is not taken out now is when the task is polled next.
    Short,
    /// Also while others run, for a second: what is not taken out in time is not counted.
    Long,
}

impl Shelf {
    const fn new() -> Shelf {
        Shelf { count: AtomicUsize::new(0), usable_in: AtomicU32::new(0), all: Mutex::new(Vec::new()) }
    }

    fn of(thread_id: u64) -> &'static Shelf {
        &SHELVES[thread_id as usize % SHELVES.len()]
    }

    /// None in a handler that interrupts its thread while that has one, and in a child whose parent's thread had this.
    fn list(&'static self, patience: Patience) -> Option<List> {
        let has = has_list(true).then(|| HasList)?;
        for tries in 0..1100 {
            if let Some(all) = self.try_lock() {
                return Some(List { shelf: self, all, _has: has });
            }
            match tries {
                _ if self.usable_in.load(Ordering::Relaxed) != forks() => return None,
                0..100 => std::thread::yield_now(),
                _ if patience == Patience::Short => return None,
                _ => std::thread::sleep(Duration::from_millis(1)),
            }
        }
        None
    }

    fn try_lock(&'static self) -> Option<MutexGuard<'static, Vec<OfOne>>> {
        match self.all.try_lock() {
            Ok(all) => Some(all),
            Err(TryLockError::Poisoned(all)) => Some(all.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The list, if there is something in it that has not ended.
    fn list_of_some(&'static self, patience: Patience) -> Option<List> {
        let is_some = COUNT.load(Ordering::Relaxed) != 0 && self.count.load(Ordering::Relaxed) != 0;
        is_some.then(|| self.list(patience)).flatten()
    }
}

impl List {
    /// What was left behind for the actors that `are_meant` has ended, each as `end` does it.
    fn end_of(&mut self, are_meant: impl Fn(ActorId) -> bool, end: impl Fn(&mut What)) {
        let mut ended = 0;
        for of_one in self.all.iter_mut().filter(|of_one| !of_one.has_ended && are_meant(of_one.actor)) {
            of_one.all.iter_mut().for_each(&end);
            of_one.has_ended = true;
            ended += of_one.all.len();
        }
        self.shelf.count.store(self.shelf.count.load(Ordering::Relaxed) - ended, Ordering::Relaxed);
        COUNT.fetch_sub(ended, Ordering::Relaxed);
    }

    fn add(&mut self, Left { actor, what }: Left) {
        match self.all.iter_mut().find(|of_one| of_one.actor == actor && !of_one.has_ended) {
            Some(of_one) => of_one.all.push(what),
            None => self.all.push(OfOne { actor, all: vec![what], has_ended: false }),
        }
        self.shelf.count.store(self.shelf.count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        COUNT.fetch_add(1, Ordering::Relaxed);
    }

    /// What is to be dropped outside of the list, because that memory is given back may be recorded.
    fn take_ended(&mut self) -> Vec<OfOne> {
        self.all.extract_if(.., |of_one| of_one.has_ended).collect()
    }
}

impl What {
    /// For the actor that began it.
    fn end(&mut self, actor: &Actor<'static>) {
        match self {
            What::Wait(wait) => actor.withdraw(wait.clone()),
            What::Event(when, end) => end(actor, when),
        }
    }

    /// For any other. Where nobody records it is none either.
    fn end_here(&mut self) {
        match self {
            What::Wait(_) => {}
            What::Event(when, end) => {
                with_actor(|actor| end(actor, when));
            }
        }
    }
}

impl Left {
    pub(crate) fn event<Event: OfActor>(
        actor: ActorId,
        event: Event,
        at: impl Fn(&Actor<'static>, Event, &When) -> Event::Rest + Send + 'static,
    ) -> Left {
        let (mut event, mut rest) = (Some(event), None);
        let end = move |actor: &Actor<'static>, when: &When| {
            if let Some(event) = event.take() {
                let _ = rest.insert(at(actor, event, when));
            }
        };
        Left { actor, what: What::Event(When::here(), Box::new(end)) }
    }

    pub(crate) fn wait(actor: ActorId, wait: Wait<'static>) -> Left {
        Left { actor, what: What::Wait(wait) }
    }

    /// For the actor that began it, if that goes on; otherwise it is counted here. May wait for who has the list, as for any lock.
    pub(crate) fn leave(mut self) {
        let actor = self.actor;
        match is_there(actor).then(|| Shelf::of(actor.thread_id()).list(Patience::Long)).flatten() {
            Some(mut list) => {
                let ended = list.take_ended();
                list.add(self);
                drop(list);
                drop(ended);
            }
            None => return self.what.end_here(),
        }
        // After it was counted it is looked whether that actor is there: see `forget`.
        fence(Ordering::SeqCst);
        if !is_there(actor) {
            end_here(actor.thread_id());
        }
    }
}

fn is_there(actor: ActorId) -> bool {
    process().is_some_and(|process| process.region().has_actor(actor))
}

/// What was left behind for this actor ends, recorded by the one that is at hand.
fn end_here(thread_id: u64) {
    if let Some(mut list) = Shelf::of(thread_id).list_of_some(Patience::Long) {
        list.end_of(|of| of.thread_id() == thread_id, What::end_here);
    }
}

/// The thread's actor may be another one now: what was left behind for that ends.
#[inline]
pub(crate) fn take_back() {
    if COUNT.load(Ordering::Relaxed) != 0 {
        take_back_some();
    }
}

#[inline(never)]
fn take_back_some() {
    let Some(thread_id) = with_actor(Actor::thread_id) else { return };
    if let Some(mut list) = Shelf::of(thread_id).list_of_some(Patience::Short) {
        with_actor(|actor| list.end_of(|of| of.thread_id() == actor.thread_id(), |what| what.end(actor)));
    }
}

/// The same for an actor that is about to end.
pub(crate) fn take_back_all(actor: &Actor<'static>) {
    if let Some(mut list) = Shelf::of(actor.thread_id()).list_of_some(Patience::Long) {
        list.end_of(|of| of.thread_id() == actor.thread_id(), |what| what.end(actor));
    }
}

/// An actor has ended: its row is gone. Gives no memory back.
pub(crate) fn forget(thread_id: u64) {
    // Whoever did not see that the row is gone has counted before; see `leave`.
    fence(Ordering::SeqCst);
    end_here(thread_id);
}

/// What has ended of actors whose THREAD_IDs have the same remainder gives its memory back.
pub(crate) fn drop_ended(thread_id: u64) {
    let ended = Shelf::of(thread_id).list(Patience::Long).map(|mut list| list.take_ended());
    drop(ended);
}

/// In a forked child, before it records: what was left behind for the parent's other actors has ended there. A list that another of the parent's
/// threads had stays that one's.
#[cfg(target_os = "linux")]
pub(crate) fn forked() {
    for shelf in &SHELVES {
        // Where the thread itself has one, it goes on with it, and which that is nobody knows.
        let Some(has) = has_list(true).then(|| HasList) else { return };
        if let Some(all) = shelf.try_lock() {
            shelf.usable_in.store(forks(), Ordering::Relaxed);
            List { shelf, all, _has: has }.end_of(|actor| !is_there(actor), |_| {});
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As where the system runs others for a while in the middle of it.
    #[test]
    fn the_list_is_waited_for_but_by_a_handler_of_who_has_it() {
        static SHELF: Shelf = Shelf::new();
        // Where a thread's own is found by a key there is none before.
        crate::process::started_for_tests();
        let has = SHELF.list(Patience::Long);
        assert!(has.is_some() && SHELF.list(Patience::Long).is_none());
        let other = std::thread::spawn(|| SHELF.list(Patience::Long).is_some());
        std::thread::sleep(Duration::from_millis(20));
        drop(has);
        assert!(other.join().unwrap() && SHELF.list(Patience::Long).is_some());
        // Nor is it given up for ever where it took too long. A poll does not sleep for it.
        let has = SHELF.list(Patience::Long);
        assert!(!std::thread::spawn(|| SHELF.list(Patience::Short).is_some()).join().unwrap());
        assert!(!std::thread::spawn(|| SHELF.list(Patience::Long).is_some()).join().unwrap());
        drop(has);
        assert!(SHELF.list(Patience::Long).is_some());
    }

    /// Of a statement that a task has ended which the thread polls, while another thread has the list: the thread itself ends before it is polled again.
    #[test]
    fn a_thread_that_ends_takes_what_was_left_for_it() {
        static STATEMENT: crate::statement::Statement = crate::statement!("statement/test/left_by_a_thread");
        let region = crate::process::started_for_tests().region();
        drop(STATEMENT.begin("registers it"));
        region.enable_everything();
        let (had, go_on) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
        let thread = || {
            let own = crate::thread::thread_id().expect("there is room");
            let mut statement = Some(STATEMENT.begin("left behind"));
            std::thread::scope(|scope| {
                let poll = std::future::poll_fn(|_| {
                    drop(statement.take());
                    scope.spawn(|| {
                        let list = Shelf::of(own).list(Patience::Long);
                        had.wait();
                        go_on.wait();
                        drop(list);
                    });
                    had.wait();
                    std::task::Poll::Ready(())
                });
                let mut task = std::pin::pin!(crate::task::attach("task/test/ends_it", poll));
                assert!(task.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_ready());
                go_on.wait();
            });
            Shelf::of(own).count.load(Ordering::Relaxed)
        };
        let left = std::thread::scope(|scope| scope.spawn(thread).join().unwrap());
        let class = region.find_class("statement/test/left_by_a_thread").expect("it is registered");
        assert_eq!((left, region.statements_by_event_name(class).0.count), (1, 1));
    }

    /// As where the thread that had the list is not there, because the process was forked while it had it.
    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn a_child_whose_parents_thread_had_the_list_has_none() {
        static SHELF: Shelf = Shelf::new();
        crate::process::started_for_tests();
        let (has, go_on) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let list = SHELF.list(Patience::Long);
                has.wait();
                go_on.wait();
                drop(list);
            });
            has.wait();
            in_a_child(|| assert!(SHELF.list(Patience::Long).is_none()));
            go_on.wait();
        });
    }

    /// What a task has left behind for another one, which is not there in the child: nobody there comes back for it.
    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn a_child_has_nothing_that_was_left_for_its_parents_tasks() {
        static STATEMENT: crate::statement::Statement = crate::statement!("statement/test/left_in_the_parent");
        let region = crate::process::started_for_tests().region();
        drop(STATEMENT.begin("registers it"));
        region.enable_everything();
        let begun = std::cell::Cell::new(None);
        let poll = std::future::poll_fn(|_| {
            begun.set(Some(STATEMENT.begin_async("left behind")).zip(crate::thread::thread_id()));
            std::task::Poll::<()>::Pending
        });
        let mut task = Box::pin(crate::task::attach("task/test/goes_on", poll));
        assert!(task.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_pending());
        let (statement, thread_id) = begun.take().expect("there is room");
        drop(statement);
        let count = || Shelf::of(thread_id).count.load(Ordering::Relaxed);
        assert_eq!(count(), 1);
        in_a_child(|| assert_eq!((count(), COUNT.load(Ordering::Relaxed)), (0, 0)));
        drop(task);
        assert_eq!(count(), 0);
    }

    /// Runs this in a child, and waits for it.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn in_a_child(run: impl FnOnce() + std::panic::UnwindSafe) {
        // SAFETY: the child has one thread, and ends before it returns.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let failed = std::panic::catch_unwind(run).is_err();
            // SAFETY: it only ends the process.
            unsafe { libc::_exit(i32::from(failed)) };
        }
        let mut status = -1;
        // SAFETY: a child of this process, and a place to write to.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
    }
}
