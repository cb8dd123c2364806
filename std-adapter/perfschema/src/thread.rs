//! The actors of each thread: found through a thread-local without a destructor, given back by a key of the C library.
//!
//! A `thread_local!` with a destructor would allocate at its first use, and would be gone when the destructors of other thread-locals
//! record. The key's destructor runs after all of those.
//!
//! A thread has more than one actor because of signals. A handler that records may interrupt its own thread in the middle of a record,
//! and what an actor writes has one writer, always. So a thread says when it is busy, and whoever comes meanwhile uses the next actor:
//! ```text
//!   level 0   the thread               busy + 1 … record … busy - 1
//!   level 1     a handler within it            busy + 1 … record … busy - 1
//!   level 2       a handler within that                busy + 1 … busy - 1
//! ```
//! A handler that interrupts its thread elsewhere, also while it waits, is on level 0 as the thread is: its events lie within the wait.

use crate::process::{Process, process};
use perfschema_core::{Actor, ActorIdentity, Lost, Text};
use std::cell::OnceCell;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering, compiler_fence};

pub use perfschema_core::ThreadType;

/// Records within records, the outermost among them; deeper ones are counted as lost.
const LEVELS: usize = 3;

/// The thread has no actor on level 0 yet.
const NEW: u32 = 1 << 31;

struct Thread {
    /// How many levels are in the middle of a record; and [`NEW`]. One thread and its handlers use it, so relaxed is enough.
    busy: AtomicU32,
    /// It has said who it is. Relaxed, as above.
    named: AtomicBool,
    actors: [OnceCell<Actor<'static>>; LEVELS],
}

thread_local! {
    static THREAD: Thread = const {
        Thread { busy: AtomicU32::new(NEW), named: AtomicBool::new(false), actors: [const { OnceCell::new() }; LEVELS] }
    };
}

/// Runs `record` with an actor of the thread that nobody uses at the moment; it takes its slot at its first call. None while the process
/// has not started recording, and for a handler nested too deep, which is counted.
#[inline(always)]
pub(crate) fn with_actor<R>(record: impl FnOnce(&Actor<'static>) -> R) -> Option<R> {
    THREAD.with(|thread| {
        let actor = match thread.busy.load(Ordering::Relaxed) {
            0 => {
                thread.busy.store(1, Ordering::Relaxed);
                // SAFETY: without NEW there is an actor on level 0; it is never taken away.
                unsafe { thread.actors[0].get().unwrap_unchecked() }
            }
            busy => thread.enter(busy, &ThreadIdentity::UNKNOWN)?,
        };
        // The fences keep what the compiler makes of `record` between the marks, where a handler expects it.
        compiler_fence(Ordering::SeqCst);
        let result = record(actor);
        compiler_fence(Ordering::SeqCst);
        thread.leave();
        Some(result)
    })
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
    /// Enters the level after those that are busy, and gives it an actor if it has none.
    #[cold]
    #[inline(never)]
    fn enter(&self, busy: u32, identity: &ThreadIdentity<'_>) -> Option<&Actor<'static>> {
        let process = process()?;
        #[cfg(target_os = "linux")]
        crate::fork::publish(process);
        let level = (busy & !NEW) as usize;
        let Some(cell) = self.actors.get(level) else {
            process.region().count_lost(Lost::NestedLevels);
            return None;
        };
        self.busy.store(busy + 1, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        // While it is NEW, the actor of level 0 may be half written.
        let thread_id = self.actors[0].get().filter(|_| busy & NEW == 0).map_or(0, Actor::thread_id);
        let actor = cell.get_or_init(|| attach(process, identity, (level > 0).then_some(thread_id)));
        if level == 0 {
            call_at_exit();
            compiler_fence(Ordering::SeqCst);
            self.busy.store(1, Ordering::Relaxed);
        }
        Some(actor)
    }

    #[inline(always)]
    fn leave(&self) {
        self.busy.store(self.busy.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }
}

/// Shows the actors that the calling thread has, and whether none of them is in the middle of a record.
#[cfg(target_os = "linux")]
pub(crate) fn own_actors(look: impl FnOnce(&[Option<&Actor<'static>>], bool)) {
    THREAD.with(|thread| {
        let busy = thread.busy.load(Ordering::Relaxed);
        let mut own: [_; LEVELS] = std::array::from_fn(|level| thread.actors[level].get());
        if busy & NEW != 0 && busy != NEW {
            // A handler has interrupted its thread's first record: the actor may be half written.
            own[0] = None;
        }
        look(&own, busy & !NEW == 0);
    });
}

/// In a forked child: the next record is one for [`Thread::enter`].
#[cfg(target_os = "linux")]
pub(crate) fn forked() {
    THREAD.with(|thread| thread.busy.store(thread.busy.load(Ordering::Relaxed) | NEW, Ordering::Relaxed));
}

/// Says who the calling thread is, before it records its first wait: a name, and for a thread that serves a user, who and from where.
/// Returns false if it has recorded one or said so already, or the process has not started recording. Memory that it has allocated does
/// not count as a wait.
///
/// A thread that never says so is named `thread/<program>/<name of the thread>`.
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
    THREAD.with(|thread| {
        let identity = ThreadIdentity { name, thread_type, user, host };
        let (busy, attached) = (thread.busy.load(Ordering::Relaxed), thread.actors[0].get().is_some());
        if thread.named.load(Ordering::Relaxed) || busy & !NEW != 0 {
            return false;
        }
        let Some((process, actor)) = process().zip(thread.enter(busy, &identity)) else { return false };
        let named = !attached || with_identity(process, &identity, None, |identity| actor.identify(identity));
        compiler_fence(Ordering::SeqCst);
        thread.leave();
        thread.named.store(named, Ordering::Relaxed);
        named
    })
}

/// THREAD_ID of the calling thread, None if it has no row in `threads`.
pub fn current_id() -> Option<u64> {
    with_actor(Actor::thread_id).filter(|&id| id != 0)
}

/// An actor for the thread; for a handler, if it interrupts this THREAD_ID.
// May be called by a signal handler: nothing here allocates, locks, or is not to be called there.
fn attach(process: &'static Process, identity: &ThreadIdentity<'_>, interrupts: Option<u64>) -> Actor<'static> {
    with_identity(process, identity, interrupts, |identity| Actor::attach(process.region(), identity))
}

fn with_identity<R>(
    process: &Process,
    identity: &ThreadIdentity<'_>,
    interrupts: Option<u64>,
    run: impl FnOnce(&ActorIdentity<'_>) -> R,
) -> R {
    let ThreadIdentity { name, thread_type, user, host } = *identity;
    let name = if name.is_empty() { default_name(process, interrupts.is_some()) } else { name.into() };
    let (name, parent_thread_id) = (name.as_str(), interrupts.unwrap_or(0));
    run(&ActorIdentity { name, thread_type, user, host, os_id: os_id(), parent_thread_id, ..Default::default() })
}

fn default_name(process: &Process, in_handler: bool) -> Text<128> {
    let mut buffer = [0u8; 16];
    // SAFETY: the buffer has the 16 bytes that the call may write, the closing zero among them; the thread is the calling one.
    let result = unsafe { libc::pthread_getname_np(libc::pthread_self(), buffer.as_mut_ptr().cast(), buffer.len()) };
    let os_name = std::ffi::CStr::from_bytes_until_nul(&buffer).ok().filter(|_| result == 0);
    let mut name = Text::EMPTY;
    let program = process.region().program();
    let thread = os_name.and_then(|name| name.to_str().ok()).unwrap_or("");
    let thread = match thread {
        _ if in_handler => "signal",
        _ if os_id() == u64::from(std::process::id()) => "main",
        // A thread without a name inherits that of the one that started it, in the end the program's.
        inherited if program.as_str().starts_with(inherited) => "unnamed",
        own => own,
    };
    let _ = write!(name, "thread/{program}/{thread}");
    name
}

fn os_id() -> u64 {
    #[cfg(target_os = "linux")]
    // SAFETY: the call takes nothing and cannot fail.
    return unsafe { libc::gettid() } as u64;
    #[cfg(not(target_os = "linux"))]
    return 0;
}

/// The key with [`exit`] as its destructor; -1 is none.
static KEY: AtomicI32 = AtomicI32::new(-1);

/// Makes the key: once, before any thread records.
pub(crate) fn started() {
    let mut key = 0;
    // SAFETY: `key` is a place to write to, `exit` a function of the type that is asked for.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(exit)) } == 0 {
        KEY.store(key as i32, Ordering::Relaxed);
    }
}

/// Has the C library call [`exit`] when the calling thread ends.
fn call_at_exit() {
    // Relaxed: whoever found the process started sees it. Without a key the slot is not given back: one thread more in the tables.
    if let Ok(key) = u32::try_from(KEY.load(Ordering::Relaxed)) {
        // The first keys of a process have their place in the thread itself, so this allocates nothing; glibc has 32 of them.
        // SAFETY: the key was created and is never deleted. Any value but null makes the destructor run; it is never dereferenced.
        unsafe { libc::pthread_setspecific(key, std::ptr::dangling::<u8>().cast()) };
    }
}

/// The thread ends. What still comes, from handlers and from the destructors of other keys, counts in the global sums only.
extern "C" fn exit(_: *mut libc::c_void) {
    THREAD.with(|thread| {
        for level in 0..LEVELS {
            // Busy on all levels up to this one, so that a handler does not use an actor that is being given back.
            thread.busy.store(level as u32 + 1, Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
            if let Some(process) = process() {
                // Also where there is none: a handler that came now would take a slot that nobody gives back.
                thread.actors[level].get_or_init(|| Actor::without_slot(process.region())).detach();
            }
        }
        compiler_fence(Ordering::SeqCst);
        thread.busy.store(0, Ordering::Relaxed);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a handler within a handler finds, without the luck that it takes to meet the right instruction.
    #[test]
    fn each_level_has_an_actor_of_its_own_and_what_is_deeper_is_counted() {
        let region = crate::builder().environment(false).start().unwrap().region();
        let id = |actor: &Actor<'static>| actor.thread_id();
        for _ in 0..2 {
            let ids = with_actor(|first| {
                with_actor(|second| with_actor(|third| [id(first), id(second), id(third), with_actor(id).unwrap_or(0)]))
            });
            assert_eq!(ids, Some(Some(Some([1, 2, 3, 0]))));
        }
        assert_eq!(region.lost(Lost::NestedLevels), 2);
        let mut rows = Vec::new();
        region.scan(&crate::tables::Threads, |row| {
            rows.push((row.thread_id, row.parent_thread_id, row.name.as_str().ends_with("/signal")));
        });
        assert_eq!(rows, [(1, None, false), (2, Some(1), true), (3, Some(1), true)]);
        exit(std::ptr::null_mut());
        // Nobody takes a slot any more.
        with_actor(|_| with_actor(|_| with_actor(id)));
        let mut rows = 0;
        region.scan(&crate::tables::Threads, |_| rows += 1);
        assert_eq!(rows, 0);
    }
}
