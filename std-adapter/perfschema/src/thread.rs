//! The actor of each thread: found through a thread-local without a destructor, given back by a key of the C library.
//!
//! A `thread_local!` with a destructor would allocate at its first use, and would be gone when the destructors of other thread-locals
//! record. The key's destructor runs after all of those.

use crate::process::{Process, process};
use perfschema_core::{Actor, ActorIdentity, Text};
use std::cell::OnceCell;
use std::fmt::Write;
use std::sync::OnceLock;

pub use perfschema_core::ThreadType;

thread_local! {
    static ACTOR: OnceCell<Actor<'static>> = const { OnceCell::new() };
}

/// Runs `record` with the thread's actor, which takes its slot at the first call. None while the process has not started recording.
#[inline(always)]
pub(crate) fn with_actor<R>(record: impl FnOnce(&Actor<'static>) -> R) -> Option<R> {
    ACTOR.with(|actor| {
        let actor = match actor.get() {
            Some(actor) => actor,
            None => attach(actor, "", ThreadType::Background, "", "")?,
        };
        Some(record(actor))
    })
}

/// Says who the calling thread is, before it records its first wait: a name, and for a thread that serves a user, who and from where.
/// Returns false if it is known already, or the process has not started recording.
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
    ACTOR.with(|actor| actor.get().is_none() && attach(actor, name, thread_type, user, host).is_some())
}

/// THREAD_ID of the calling thread, None if it has no row in `threads`.
pub fn current_id() -> Option<u64> {
    with_actor(Actor::thread_id).filter(|&id| id != 0)
}

#[cold]
#[inline(never)]
fn attach<'a>(
    cell: &'a OnceCell<Actor<'static>>,
    name: &str,
    thread_type: ThreadType,
    user: &str,
    host: &str,
) -> Option<&'a Actor<'static>> {
    let process = process()?;
    let name = if name.is_empty() { default_name(process) } else { name.into() };
    let identity = ActorIdentity { name: name.as_str(), thread_type, user, host, os_id: os_id(), ..Default::default() };
    let actor = cell.get_or_init(|| Actor::attach(process.region(), &identity));
    call_at_exit();
    Some(actor)
}

fn default_name(process: &Process) -> Text<128> {
    let mut buffer = [0u8; 16];
    // SAFETY: the buffer has the 16 bytes that the call may write, the closing zero among them; the thread is the calling one.
    let result = unsafe { libc::pthread_getname_np(libc::pthread_self(), buffer.as_mut_ptr().cast(), buffer.len()) };
    let os_name = std::ffi::CStr::from_bytes_until_nul(&buffer).ok().filter(|_| result == 0);
    let mut name = Text::EMPTY;
    let program = process.region().program();
    let thread = os_name.and_then(|name| name.to_str().ok()).unwrap_or("");
    let thread = match thread {
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

/// Has the C library call [`exit`] when the calling thread ends.
fn call_at_exit() {
    static KEY: OnceLock<Option<libc::pthread_key_t>> = OnceLock::new();
    let key = KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: `key` is a place to write to, `exit` a function of the type that is asked for.
        (unsafe { libc::pthread_key_create(&raw mut key, Some(exit)) } == 0).then_some(key)
    });
    if let Some(key) = key {
        // SAFETY: the key was created and is never deleted. Any value but null makes the destructor run; it is never dereferenced.
        unsafe { libc::pthread_setspecific(*key, std::ptr::dangling::<u8>().cast()) };
    }
    // Without a key the slot is not given back: one thread more in the tables, nothing worse.
}

extern "C" fn exit(_: *mut libc::c_void) {
    ACTOR.with(|actor| {
        if let Some(actor) = actor.get() {
            actor.detach();
        }
    });
}
