//! The actors of each thread: found through a thread-local without a destructor (`local`), given back when the system says that the thread
//! ends (`os`).
//!
//! A `thread_local!` with a destructor would allocate at its first use, and would be gone when the destructors of other thread-locals
//! record. What `os` uses runs after all of those.
//!
//! A thread has more than one actor because of signals. A handler that records may interrupt its own thread in the middle of a record,
//! and what an actor writes has one writer, always. So a thread says when it is busy, and whoever comes meanwhile uses the next actor:
//! ```text
//!   level 0   the thread               busy + 1 … record … busy - 1
//!   level 1     a handler within it            busy + 1 … record … busy - 1
//!   level 2       a handler within that                busy + 1 … busy - 1
//! ```
//! A handler that interrupts its thread elsewhere, also while it waits, is on level 0 as the thread is: its events lie within the wait.
//!
//! A task has an actor of its own, which it takes along from thread to thread (`Task`). While it is polled, in a `Turn`, that one is used on
//! level 0, so that whatever finds its actor by its thread finds the task's:
//! ```text
//!   begin   the turn is linked      level 0 uses the task's
//!   end     the turn is unlinked    level 0 uses that of the task around it, or the thread's own
//! ```
//! All along level 0 is busy. No actor is moved, and one that may be half written is marked so: a handler may fork at any time, and the child
//! knows which actors go on.

use crate::left;
use crate::process::{Process, process};
use perfschema_core::{Actor, ActorIdentity, Lost, Text, ThreadType};
use perfschema_timer::SystemClock;
use std::cell::Cell;
use std::fmt::Write as _;
use std::io::Write as _;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, compiler_fence};

/// Records within records, the outermost among them; deeper ones are counted as lost.
const LEVELS: usize = 3;

/// Tasks that are polled within one another, each with an actor of its own; what is deeper records for the one around it.
const TURNS: usize = 13;

/// The thread has no actor on level 0 yet, or is the first of a forked child.
const NEW: u32 = 1 << 31;
/// The thread forks, and until the child has memory of its own nobody writes what has one writer.
const FORKING: u32 = 1 << 30;
/// The actor on level 0 may be half written; of each further level, a bit above.
const WRITING: u32 = 1 << 20;
/// What counts levels.
const BUSY: u32 = WRITING - 1;
const _: () = assert!(WRITING << LEVELS <= FORKING);

struct Thread {
    /// How many levels are in the middle of a record, or of something else that is [`unfinished`]; and [`NEW`], [`WRITING`], [`FORKING`]. One thread and its handlers use it, so relaxed is enough.
    busy: AtomicU32,
    /// It has said who it is. Relaxed, as above.
    named: AtomicBool,
    /// It has what is left behind, or waits for it. Relaxed, as above.
    has_list: AtomicBool,
    /// THREAD_ID of who has started it; 0 if that is not known. Relaxed, as above.
    parent: AtomicU64,
    /// The name that it was started with, while that is there; null if it is not known. Relaxed, as above.
    given_name: AtomicPtr<String>,
    /// Its own. Each is written while its level is busy, and then by that level, where it has none yet.
    actors: [Cell<Option<Actor<'static>>>; LEVELS],
    /// The one to use on level 0: that of the innermost task that is polled, else its own. Null while there is none. Relaxed, as above.
    current: AtomicPtr<Actor<'static>>,
    /// Of the thread's own actor on each level: the forks before it took its slot, or went on in a child. Relaxed, as above.
    forks: [AtomicU32; LEVELS],
    /// For how long it looks away from locks that it finds held ([`with_backoff`]). Relaxed, as above.
    backoff: AtomicU32,
    /// The innermost of the tasks that are polled. Relaxed, as above.
    turn: AtomicPtr<Turn<'static>>,
}

// What the system says of a thread, and of its end.
#[cfg_attr(not(windows), path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod os;

// Where the `Thread` of each thread is. Windows has thread-locals of its linker's, but GNU's compilers do not use them, so that std's are
// allocated, and freed while the destructors of others still record.
#[cfg_attr(not(all(windows, target_env = "gnu")), path = "native.rs")]
#[cfg_attr(all(windows, target_env = "gnu"), path = "keyed.rs")]
mod local;

/// Once, before any thread records.
pub(crate) fn started() {
    local::started();
    os::started();
}

/// Runs `record` with an actor of the thread that nobody uses at the moment; it takes its slot at its first call. None while the process
/// has not started recording, and for a handler nested too deep, which is counted.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn with_actor<R>(record: impl FnOnce(&Actor<'static>) -> R) -> Option<R> {
    let entered = Entered::new()?;
    let result = record(entered.actor);
    entered.leave();
    Some(result)
}

/// An actor of the thread that nobody else uses until it is left. As [`with_actor`], where a closure would not be compiled into the place
/// where it is called, and what it takes and gives would go through memory.
pub(crate) struct Entered {
    thread: &'static Thread,
    pub(crate) actor: &'static Actor<'static>,
}

impl Entered {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new() -> Option<Entered> {
        let thread = local::own()?;
        let actor = match thread.busy.load(Ordering::Relaxed) {
            0 => {
                thread.busy.store(1, Ordering::Relaxed);
                // SAFETY: without NEW there is an actor on level 0, whole: the thread's own, which is never taken away, or that of a task, which is
                // there until another is pointed to. Nobody writes there while it is busy.
                unsafe { &*thread.current.load(Ordering::Relaxed) }
            }
            busy => thread.enter(busy, &ThreadIdentity::UNKNOWN)?,
        };
        // The fences keep what the compiler makes of a record between the marks, where a handler expects it.
        compiler_fence(Ordering::SeqCst);
        Some(Entered { thread, actor })
    }

    /// Nothing panics before this is called; if it were not called, the thread would be busy for ever.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn leave(self) {
        compiler_fence(Ordering::SeqCst);
        self.thread.leave();
    }
}

/// Runs what nobody but the calling thread finishes: a handler that forks meanwhile leaves to the child what it has taken so far, as in the middle of a
/// record. It does not panic, and may record.
pub(crate) fn unfinished<R>(run: impl FnOnce() -> R) -> R {
    let mark = |thread: &Thread| {
        let is_idle = thread.busy.load(Ordering::Relaxed) & BUSY == 0;
        if is_idle {
            thread.mark(1);
        }
        is_idle
    };
    let is_marked = local::with(mark).unwrap_or(false);
    let result = run();
    if is_marked {
        local::with(|thread| thread.unmark(1));
    }
    result
}

/// What a thread says of itself.
struct ThreadIdentity<'a> {
    name: &'a str,
    thread_type: ThreadType,
    user: &'a str,
    host: &'a str,
}

impl ThreadIdentity<'_> {
    const UNKNOWN: ThreadIdentity<'static> = ThreadIdentity { name: "", thread_type: ThreadType::Background, user: "", host: "" };
}

impl Thread {
    const fn new() -> Thread {
        Thread {
            busy: AtomicU32::new(NEW),
            named: AtomicBool::new(false),
            has_list: AtomicBool::new(false),
            parent: AtomicU64::new(0),
            given_name: AtomicPtr::new(ptr::null_mut()),
            actors: [const { Cell::new(None) }; LEVELS],
            current: AtomicPtr::new(ptr::null_mut()),
            forks: [const { AtomicU32::new(0) }; LEVELS],
            backoff: AtomicU32::new(0),
            turn: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Enters the level after those that are busy, and gives it an actor if it has none.
    #[cold]
    #[inline(never)]
    fn enter(&self, busy: u32, identity: &ThreadIdentity<'_>) -> Option<&Actor<'static>> {
        let process = process()?;
        let level = (busy & BUSY) as usize;
        let Some(place) = self.actors.get(level).filter(|_| busy & FORKING == 0) else {
            process.region().count_lost(Lost::NestedLevels);
            return None;
        };
        self.busy.store(busy + 1, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        loop {
            let forks = forks();
            // SAFETY: this level is written here alone.
            let old = unsafe { self.at(level) };
            if old.is_none() || self.forks[level].load(Ordering::Relaxed) != forks {
                // Taken while a handler forked, whose child has given it to others, or would never.
                old.into_iter().for_each(Actor::detach);
                let interrupted = self.current().map_or(0, Actor::thread_id);
                let actor = self.attach(process, identity, (level > 0).then_some(interrupted));
                self.mark(WRITING << level);
                place.set(Some(actor));
                self.forks[level].store(forks, Ordering::Relaxed);
                self.unmark(WRITING << level);
            }
            if level == 0 {
                self.point_to_current();
                os::call_at_exit();
                self.unmark(NEW);
            }
            // Last, and also where the child began in the middle of this: its file has no name yet.
            #[cfg(target_os = "linux")]
            crate::fork::publish(process);
            // From the mark on a child knows the actor. One that a handler has forked before does not.
            if self.forks[level].load(Ordering::Relaxed) == self::forks() {
                break;
            }
        }
        if level == 0 {
            return self.current();
        }
        // SAFETY: it is written, and stays so while the level is busy.
        unsafe { self.at(level) }
    }

    /// The thread's own actor of a level, if it has one.
    ///
    /// # Safety
    /// It is not half written, and not used beyond the next time that this level may be written.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn at(&self, level: usize) -> Option<&Actor<'static>> {
        // SAFETY: the thread and its handlers alone use it; the rest is the caller's duty.
        unsafe { (*self.actors[level].as_ptr()).as_ref() }
    }

    /// The thread's own actor of a level; none while that may be half written.
    fn actor(&self, level: usize) -> Option<&Actor<'static>> {
        let whole = self.busy.load(Ordering::Relaxed) & WRITING << level == 0;
        // SAFETY: as is said. Callers look, and do not keep it.
        whole.then(|| unsafe { self.at(level) }).flatten()
    }

    /// The actor that is used on level 0; none while that may be half written.
    fn current(&self) -> Option<&Actor<'static>> {
        let whole = self.busy.load(Ordering::Relaxed) & WRITING == 0;
        // SAFETY: it is the thread's own, or that of a task, which is there until another is pointed to. Callers do not keep it beyond the
        // record that they are in.
        whole.then(|| unsafe { self.current.load(Ordering::Relaxed).as_ref() }).flatten()
    }

    /// Points to the actor to use on level 0, which is busy: that of the innermost task, else the thread's own.
    fn point_to_current(&self) {
        let place = self.turns().next().map_or(&self.actors[0], |turn| &turn.task.actor);
        // SAFETY: it is whole, and not written again but by this level, which points to it anew.
        let actor = unsafe { (*place.as_ptr()).as_ref() };
        self.current.store(actor.map_or(ptr::null_mut(), |actor| ptr::from_ref(actor).cast_mut()), Ordering::Relaxed);
    }

    fn mark(&self, bits: u32) {
        self.busy.store(self.busy.load(Ordering::Relaxed) | bits, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    }

    fn unmark(&self, bits: u32) {
        compiler_fence(Ordering::SeqCst);
        self.busy.store(self.busy.load(Ordering::Relaxed) & !bits, Ordering::Relaxed);
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn leave(&self) {
        self.busy.store(self.busy.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }
}

/// Shows the actors that go on in the calling thread, and whether it is in the middle of nothing: of no record, and nothing [`unfinished`].
#[cfg(target_os = "linux")]
pub(crate) fn own_actors(look: impl FnOnce(&[Option<&Actor<'static>>], bool)) {
    local::with(|thread| {
        let mut own = [None; LEVELS + TURNS];
        let (levels, tasks) = own.split_at_mut(LEVELS);
        levels.iter_mut().enumerate().for_each(|(level, place)| *place = thread.actor(level));
        tasks.iter_mut().zip(thread.turns()).for_each(|(place, turn)| *place = turn.actor());
        look(&own, thread.busy.load(Ordering::Relaxed) & BUSY == 0);
    });
}

/// Whether other handlers of this fork, of which some run before ours in the child, record with the thread's actors.
#[cfg(target_os = "linux")]
pub(crate) fn forking(is_forking: bool) {
    local::with(|thread| if is_forking { thread.mark(FORKING) } else { thread.unmark(FORKING) });
}

/// In a forked child: the next record is one for [`Thread::enter`], and the tasks whose turn it is go on.
#[cfg(target_os = "linux")]
pub(crate) fn forked() {
    local::with(|thread| {
        let levels = thread.forks.iter().enumerate().filter(|&(level, _)| thread.actor(level).is_some()).map(|(_, forks)| forks);
        let tasks = thread.turns().filter(|turn| turn.actor().is_some()).map(|turn| &turn.task.forks);
        levels.chain(tasks).for_each(|forks| forks.store(crate::fork::count(), Ordering::Relaxed));
        thread.mark(NEW);
    });
}

/// The calling thread has the list of what is left behind from now on, or has given it back. False if that is so already: of a handler's.
pub(crate) fn has_list(has: bool) -> bool {
    compiler_fence(Ordering::SeqCst);
    let is_new = local::with(|thread| thread.has_list.swap(has, Ordering::Relaxed) != has);
    compiler_fence(Ordering::SeqCst);
    is_new.unwrap_or(true)
}

/// How many forks lead to this process: an actor that did not come along has lost its slot to others.
pub(crate) fn forks() -> u32 {
    #[cfg(target_os = "linux")]
    return crate::fork::count();
    #[cfg(not(target_os = "linux"))]
    return 0;
}

/// For how long the calling thread looks away from locks that it finds held, which is what `next` makes of it from here on.
pub(crate) fn with_backoff(next: impl FnOnce(u32) -> u32) -> u32 {
    let keep = |thread: &Thread| {
        let backoff = next(thread.backoff.load(Ordering::Relaxed));
        thread.backoff.store(backoff, Ordering::Relaxed);
        backoff
    };
    local::with(keep).unwrap_or(0)
}

/// The actor of a task, from its first poll on.
pub(crate) struct Task {
    /// Written where a poll begins and it has none. Pointed to while the task is polled.
    actor: Cell<Option<Actor<'static>>>,
    /// Those before the actor took its slot, or went on in a child. Relaxed: one thread at a time uses it.
    forks: AtomicU32,
}

/// A task that is polled. Turns are linked from the inside outwards, in the order in which they began.
struct Turn<'t> {
    task: &'t Task,
    /// The task's actor is whole, and this process's. Relaxed, as below: the thread and its handlers use it.
    has_actor: AtomicBool,
    /// The turn around it; null if there is none.
    outer: Cell<*const Turn<'static>>,
    /// The thread in which it is linked, and the THREAD_ID of that one's own actor; 0 if it has no row.
    thread: Cell<*const Thread>,
    thread_id: Cell<u64>,
}

impl<'t> Turn<'t> {
    const fn new(task: &'t Task) -> Turn<'t> {
        let (outer, thread, thread_id) = (Cell::new(ptr::null()), Cell::new(ptr::null()), Cell::new(0));
        Turn { task, has_actor: AtomicBool::new(false), outer, thread, thread_id }
    }

    /// The task's actor; none while it may be half written, or another process's.
    fn actor(&self) -> Option<&Actor<'static>> {
        // SAFETY: this thread and its handlers alone use it; callers look, and do not keep it.
        self.has_actor.load(Ordering::Relaxed).then(|| unsafe { (*self.task.actor.as_ptr()).as_ref() }).flatten()
    }

    /// It ends in this thread, where it is not linked.
    #[cold]
    #[inline(never)]
    fn is_not_linked(&self, this: &Thread) {
        if self.is_linked_elsewhere(this) {
            let _ = std::io::stderr().write_all(ENDS_ELSEWHERE);
            std::process::abort();
        }
    }

    /// Whether it is linked in a thread that is not this one and goes on: not if that has ended, or was not forked along.
    fn is_linked_elsewhere(&self, this: &Thread) -> bool {
        let own = self.thread_id.get();
        let goes_on = || {
            let mut is_there = false;
            process().is_some_and(|process| {
                process.region().scan(&crate::tables::Threads, |row| is_there |= row.thread_id == own);
                is_there
            })
        };
        !ptr::eq(self.thread.get(), this) && self.task.forks.load(Ordering::Relaxed) == forks() && (own == 0 || goes_on())
    }
}

/// What is said where a program ends because of that.
const ENDS_ELSEWHERE: &[u8] = b"perfschema: the poll of a task ends in another thread than the one in which it began\n";

impl Task {
    pub(crate) const fn new() -> Task {
        Task { actor: Cell::new(None), forks: AtomicU32::new(0) }
    }

    /// Runs a poll of the task, with its actor in the place of the thread's. It takes its slot at the first one.
    pub(crate) fn run<R>(&mut self, name: &str, thread_type: ThreadType, user: &str, host: &str, poll: impl FnOnce() -> R) -> R {
        let identity = ActorIdentity { name, thread_type, user, host, ..Default::default() };
        // The thread gets its own actor first.
        let Some(process) = process().filter(|_| with_actor(|_| ()).is_some()) else { return poll() };
        let turn = Turn::new(self);
        let _end = local::with(|thread| thread.begin(&turn, process, &identity)).unwrap_or(false).then(|| End(&turn));
        left::take_back();
        poll()
    }

    /// Whether it was ever polled while the process recorded.
    pub(crate) fn is_attached(&mut self) -> bool {
        self.actor.get_mut().is_some()
    }

    /// The task has ended.
    pub(crate) fn detach(&mut self) {
        if let Some(actor) = self.actor.take().filter(|_| *self.forks.get_mut() == forks() && process().is_some()) {
            end(&actor);
            left::drop_ended(actor.thread_id());
        }
    }
}

/// Who recorded with the actor ends, and with it the stage that it was in, and what was left behind for it. No memory is given back.
fn end(actor: &Actor<'static>) {
    left::take_back_all(actor);
    actor.end_any_stage(&SystemClock);
    actor.detach();
    left::forget(actor.thread_id());
}

/// Ends a turn, also by a panic.
struct End<'t>(&'t Turn<'t>);

impl Drop for End<'_> {
    fn drop(&mut self) {
        local::with(|thread| thread.end(self.0));
        left::take_back();
    }
}

impl Thread {
    /// The turns on this thread, the innermost first.
    fn turns(&self) -> impl Iterator<Item = &Turn<'static>> {
        // SAFETY: a turn is linked while it is borrowed by the call that polls, and unlinked before that returns, also by a panic, and where it
        // does not return in the order of the calls (`end`). Where it returns on another thread there is no program any more.
        let turn = |turn: *const Turn<'static>| unsafe { turn.as_ref() };
        std::iter::successors(turn(self.turn.load(Ordering::Relaxed)), move |within| turn(within.outer.get()))
    }

    /// Has the task's actor used on level 0. False for a handler in the middle of a record, and where tasks are nested too deep: what they
    /// record counts for whom they interrupt, or lie within.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn begin(&self, turn: &Turn<'_>, process: &'static Process, identity: &ActorIdentity<'_>) -> bool {
        if self.busy.load(Ordering::Relaxed) & BUSY != 0 || self.turns().count() == TURNS {
            return false;
        }
        self.mark(1);
        turn.outer.set(self.turn.load(Ordering::Relaxed));
        turn.thread.set(self);
        turn.thread_id.set(self.actor(0).map_or(0, Actor::thread_id));
        compiler_fence(Ordering::SeqCst);
        self.turn.store(ptr::from_ref(turn).cast_mut().cast(), Ordering::Relaxed);
        let task = turn.task;
        loop {
            let forks = forks();
            // SAFETY: this alone writes there, and nobody points to it yet.
            let old = unsafe { (*task.actor.as_ptr()).as_ref() };
            if old.is_none() || task.forks.load(Ordering::Relaxed) != forks {
                self.take_slot(turn, process, identity, forks);
            }
            compiler_fence(Ordering::SeqCst);
            turn.has_actor.store(true, Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
            // From here on a child knows it. One that a handler has forked meanwhile does not.
            if task.forks.load(Ordering::Relaxed) == self::forks() {
                break;
            }
        }
        self.point_to_current();
        self.unmark(1);
        true
    }

    /// An actor for the task, which nobody points to.
    #[cold]
    fn take_slot(&self, turn: &Turn<'_>, process: &'static Process, identity: &ActorIdentity<'_>, forks: u32) {
        // As in enter(), the second time; what the task has had since an earlier fork is the parent's.
        turn.actor().into_iter().for_each(Actor::detach);
        turn.has_actor.store(false, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        let parent_thread_id = self.current().map_or(0, Actor::thread_id);
        let identity = ActorIdentity { parent_thread_id, ..*identity };
        turn.task.actor.set(Some(actor_of(process, &identity)));
        turn.task.forks.store(forks, Ordering::Relaxed);
    }

    /// Nearly always the innermost turn ends. A coroutine with a stack of its own may go on within a younger one's, and end before that. One that
    /// goes on in another thread ends the program: the thread where it began may look at the turn at any moment, and it is about to be gone.
    fn end(&self, turn: &Turn<'_>) {
        self.mark(1);
        let (own, outer) = (ptr::from_ref(turn).cast(), turn.outer.get());
        if ptr::eq(self.turn.load(Ordering::Relaxed), own) {
            self.turn.store(outer.cast_mut(), Ordering::Relaxed);
        } else if let Some(within) = self.turns().find(|within| ptr::eq(within.outer.get(), own)) {
            within.outer.set(outer);
        } else {
            turn.is_not_linked(self);
        }
        self.point_to_current();
        self.unmark(1);
    }
}

/// THREAD_ID of the task that is polled; 0 if there is none, or it has no row.
pub(crate) fn task_id() -> u64 {
    local::with(|thread| thread.turns().next().and_then(Turn::actor).map_or(0, Actor::thread_id)).unwrap_or(0)
}

/// Says who the calling thread is, before it records its first wait: a name, and for a thread that serves a user, who and from where.
/// Returns false if it has recorded one that was visible, or said so already, if it polls a task that has a name of its own, or the process has
/// not started recording. Memory that it has allocated does not count as a wait.
///
/// A thread that never says so is named `thread/<program>/<name of the thread>`: the whole name if [`thread`](super) has started it, else what the
/// system knows of it, on Unix the first 15 bytes, whole characters only; and one that was given no name as the one that started it, or `unnamed` where
/// that has the program's name.
///
/// ```
/// use perfschema::thread::{ThreadType, attach_as};
/// perfschema::start()?;
/// std::thread::spawn(|| {
///     assert!(attach_as("thread/app/connection", ThreadType::Foreground, "joe", "192.0.2.7"));
/// }).join().unwrap();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn attach_as(name: &str, thread_type: ThreadType, user: &str, host: &str) -> bool {
    local::with(|thread| {
        let named = !thread.named.load(Ordering::Relaxed) && thread.identify(&ThreadIdentity { name, thread_type, user, host });
        if named {
            thread.named.store(true, Ordering::Relaxed);
        }
        named
    })
    .unwrap_or(false)
}

/// The calling thread has been started by the one of this THREAD_ID, 0 if that is not known, with this name, if it is one that the system may
/// not keep whole. Before it does anything else; the name is known until what is returned is dropped.
pub(super) fn started_by(parent: u64, name: Option<&String>) -> Started<'_> {
    local::with(|thread| {
        thread.parent.store(parent, Ordering::Relaxed);
        thread.given_name.store(name.map_or(ptr::null(), ptr::from_ref).cast_mut(), Ordering::Relaxed);
        // Memory that it has allocated may have been counted before.
        if (parent != 0 || name.is_some()) && thread.actor(0).is_some() {
            thread.identify(&ThreadIdentity::UNKNOWN);
        }
    });
    Started(PhantomData)
}

/// A thread that does what it was started for.
pub(super) struct Started<'n>(PhantomData<&'n String>);

impl Drop for Started<'_> {
    fn drop(&mut self) {
        local::with(|thread| thread.given_name.store(ptr::null_mut(), Ordering::Relaxed));
    }
}

/// THREAD_ID of the calling thread, or of the task that it polls ([`task`](crate::task)); None if it has no row in `threads`.
pub fn thread_id() -> Option<u64> {
    with_actor(Actor::thread_id).filter(|&id| id != 0)
}

impl Thread {
    /// Says who it is, if it has recorded no event yet. Returns whether it did.
    fn identify(&self, identity: &ThreadIdentity<'_>) -> bool {
        let (busy, attached) = (self.busy.load(Ordering::Relaxed), self.actor(0).is_some());
        if busy & BUSY != 0 || self.turns().next().is_some() {
            return false;
        }
        let Some((process, actor)) = process().zip(self.enter(busy, identity)) else { return false };
        let identified = !attached || self.with_identity(process, identity, None, |identity| actor.identify(identity));
        compiler_fence(Ordering::SeqCst);
        self.leave();
        identified
    }

    /// An actor for the thread; for a handler, if it interrupts this THREAD_ID.
    // May be called by a signal handler: nothing here allocates, locks, or is not to be called there.
    fn attach(&self, process: &'static Process, identity: &ThreadIdentity<'_>, interrupts: Option<u64>) -> Actor<'static> {
        self.with_identity(process, identity, interrupts, |identity| actor_of(process, identity))
    }

    fn with_identity<R>(
        &self,
        process: &Process,
        identity: &ThreadIdentity<'_>,
        interrupts: Option<u64>,
        run: impl FnOnce(&ActorIdentity<'_>) -> R,
    ) -> R {
        let ThreadIdentity { name, thread_type, user, host } = *identity;
        let name = if name.is_empty() { self.default_name(process, interrupts.is_some()) } else { name.into() };
        let (name, parent_thread_id) = (name.as_str(), interrupts.unwrap_or_else(|| self.parent.load(Ordering::Relaxed)));
        run(&ActorIdentity { name, thread_type, user, host, os_id: os::id(), parent_thread_id, ..Default::default() })
    }

    fn default_name(&self, process: &Process, in_handler: bool) -> Text<128> {
        let mut name = Text::EMPTY;
        let program = process.region().program();
        // SAFETY: `Started` keeps it from being changed or dropped, and forgets it before it goes, in this thread.
        let given = unsafe { self.given_name.load(Ordering::Relaxed).as_ref() };
        let own = os::name(program.as_str());
        let thread = match (given.map(String::as_str), own.as_str()) {
            _ if in_handler => "signal",
            (Some(given), _) => given,
            (None, "") => "unnamed",
            (None, own) => own,
        };
        let _ = write!(name, "thread/{program}/{thread}");
        name
    }
}

/// An actor; where a fork has left no memory to record in, one that nobody uses.
fn actor_of(process: &'static Process, identity: &ActorIdentity<'_>) -> Actor<'static> {
    let region = process.region();
    if crate::process::process().is_none() { Actor::without_slot(region) } else { Actor::attach(region, identity) }
}

impl Thread {
    /// The thread ends. What still comes, from handlers and from the destructors of other keys, counts in the global sums only. Not
    /// to be called before the process records.
    fn exit(&self) {
        for level in 0..LEVELS {
            // Busy on all levels up to this one, so that a handler does not use an actor that is being given back.
            self.busy.store(level as u32 + 1, Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
            if level == 0 {
                // A thread that ends itself in the middle of a poll has left the turn's memory.
                self.turn.store(ptr::null_mut(), Ordering::Relaxed);
                self.point_to_current();
            }
            if let Some(process) = process() {
                // Also where there is none: a handler that came now would take a slot that nobody gives back.
                // SAFETY: nobody else writes it, the level being busy.
                if unsafe { self.at(level) }.is_none() {
                    self.mark(WRITING << level);
                    self.actors[level].set(Some(Actor::without_slot(process.region())));
                    self.unmark(WRITING << level);
                }
                // SAFETY: as above.
                unsafe { self.at(level) }.into_iter().for_each(end);
            }
        }
        self.point_to_current();
        compiler_fence(Ordering::SeqCst);
        self.busy.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// THREAD_IDs follow one another as long as a test has this.
    fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn id(actor: &Actor<'static>) -> u64 {
        actor.thread_id()
    }

    /// What a handler within a handler finds, without the luck that it takes to meet the right instruction.
    #[test]
    fn each_level_has_an_actor_of_its_own_and_what_is_deeper_is_counted() {
        let _alone = alone();
        let region = crate::process::started_for_tests().region();
        let own = with_actor(id).unwrap();
        for _ in 0..2 {
            let ids = with_actor(|first| {
                with_actor(|second| with_actor(|third| [id(first), id(second), id(third), with_actor(id).unwrap_or(0)]))
            });
            assert_eq!(ids, Some(Some(Some([own, own + 1, own + 2, 0]))));
        }
        assert_eq!(region.lost(Lost::NestedLevels), 2);
        let mut rows = Vec::new();
        region.scan(&crate::tables::Threads, |row| {
            rows.push((row.thread_id, row.parent_thread_id, row.name.as_str().ends_with("/signal")));
        });
        rows.retain(|row| row.0 >= own);
        assert_eq!(rows, [(own, None, false), (own + 1, Some(own), true), (own + 2, Some(own), true)]);
        local::end(Thread::exit);
        // Nobody takes a slot any more.
        with_actor(|_| with_actor(|_| with_actor(id)));
        let mut rows = 0;
        region.scan(&crate::tables::Threads, |row| rows += u64::from(row.thread_id >= own));
        assert_eq!(rows, 0);
    }

    /// As where a coroutine that polls one task is suspended, and resumed and dropped by what another task does.
    #[test]
    fn a_turn_may_end_within_a_younger_one() {
        let _alone = alone();
        let process = crate::process::started_for_tests();
        let own = with_actor(id);
        let tasks = [const { Task::new() }; 3];
        let turn = |task| Box::new(Turn::new(task));
        let current = || with_actor(id).zip(Some(task_id()));
        local::with(|thread| {
            for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                let mut turns = tasks.each_ref().map(|task| Some(turn(task)));
                let ids = turns.each_ref().map(|turn| {
                    assert!(thread.begin(turn.as_ref().unwrap(), process, &ActorIdentity::default()));
                    with_actor(id).unwrap()
                });
                for ended in order {
                    thread.end(turns[ended].as_ref().unwrap());
                    // Its memory goes.
                    turns[ended] = None;
                    let innermost = turns.iter().rposition(Option::is_some);
                    match innermost {
                        Some(innermost) => assert_eq!(current(), Some((ids[innermost], ids[innermost]))),
                        None => assert_eq!(current(), own.zip(Some(0))),
                    }
                    assert_eq!(thread.turns().count(), turns.iter().flatten().count());
                }
            }
        });
        tasks.into_iter().for_each(|mut task| task.detach());
    }

    /// As where a coroutine is sent to another thread in the middle of a poll: that would end the program, unless its first thread has ended.
    #[test]
    fn a_turn_is_linked_elsewhere_while_its_thread_goes_on() {
        struct Sent<'t>(&'t Turn<'t>);
        // SAFETY: one thread after the other looks at it.
        unsafe impl Send for Sent<'_> {}
        let _alone = alone();
        let process = crate::process::started_for_tests();
        assert!(with_actor(id).is_some());
        let mut task = Task::new();
        let turn = Turn::new(&task);
        let (begun, sent) = (std::sync::Barrier::new(2), Sent(&turn));
        let is_elsewhere = || local::with(|own| turn.is_linked_elsewhere(own));
        std::thread::scope(|scope| {
            let begun = &begun;
            let first = scope.spawn(move || {
                let Sent(turn) = { sent };
                assert!(with_actor(id).is_some());
                let begins = |own: &Thread| own.begin(turn, process, &ActorIdentity::default()) && !turn.is_linked_elsewhere(own);
                assert_eq!(local::with(begins), Some(true));
                begun.wait();
                begun.wait();
            });
            begun.wait();
            assert_eq!(is_elsewhere(), Some(true));
            begun.wait();
            first.join().unwrap();
        });
        assert_eq!(is_elsewhere(), Some(false));
        local::with(|own| own.end(&turn));
        task.detach();
    }
}
