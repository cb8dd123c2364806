//! What a forked child does before its first own instruction: it gets a region of its own, at the addresses of the parent's.
//!
//! ```text
//! prepare   the thread that forks lets no signal in, and, if the memory is shared, makes a copy of what a child keeps
//! parent    lets signals in
//! child     takes memory of its own if the parent's is shared, with what other threads have made known since the copy; makes the region the
//!           child's; lets signals in
//! ```
//! Private memory is the child's already. Shared memory is not: until other memory is in its place, child and parent are two writers of
//! one ring. Hence no signals: a handler may record. Hence the copy before the fork, too: the parent goes on at once. The new file gets its
//! name at the child's first record, so that a child that only goes on to another program leaves none behind.
//!
//! A child may do little before it runs another program: system calls, no allocation, no lock. This keeps to that.

use crate::left;
use crate::process::{Process, process, unix_ns};
use crate::share::{self, ShareError, Unnamed};
use crate::thread;
use perfschema_core::{Actor, Child, Word};
use perfschema_timer::{Clock, SystemClock, TimerName};
use std::cell::Cell;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};

// Relaxed, all of them: written by a child while it has one thread.
/// There was no memory for the child. It records nothing.
static LOST: AtomicBool = AtomicBool::new(false);
/// The memory is in a file, with a name or without: a child must take other memory.
static IN_FILE: AtomicBool = AtomicBool::new(false);
/// Why the child's memory is not shared as the parent's is: an errno. 0: it is.
static NOT_SHARED: AtomicI32 = AtomicI32::new(0);
/// The child's file that has no name yet, or -1; and which file that is. The program may close what it does not know, as daemons do, and
/// open another file by the same number.
static UNNAMED: AtomicI32 = AtomicI32::new(-1);
static UNNAMED_FILE: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// How many forks lead from the process that started recording to this one.
static FORKS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// While the thread forks: the signals that it lets in, and what its child's memory is to hold.
    static SIGNALS: Cell<Option<libc::sigset_t>> = const { Cell::new(None) };
    static SAVED: Cell<Option<&'static [Word]>> = const { Cell::new(None) };
}

/// Has the C library call the three functions below at every fork.
pub(crate) fn started() -> Result<(), ShareError> {
    static DONE: AtomicBool = AtomicBool::new(false);
    // Miri knows no fork.
    if cfg!(miri) || DONE.load(Ordering::Relaxed) {
        return Ok(());
    }
    // SAFETY: three functions of the type that is asked for.
    let errno = unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
    if errno != 0 {
        return Err(ShareError::System { call: "pthread_atfork", errno });
    }
    DONE.store(true, Ordering::Relaxed);
    Ok(())
}

/// Whether a fork left the process without memory to record in.
pub(crate) fn is_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

pub(crate) fn count() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// The region's memory is in a file.
pub(crate) fn is_in_file() {
    IN_FILE.store(true, Ordering::Relaxed);
}

/// Whether a child's memory is shared, if its parent's was.
pub(crate) fn still_shared() -> Result<(), ShareError> {
    match NOT_SHARED.load(Ordering::Relaxed) {
        0 => Ok(()),
        errno => Err(ShareError::System { call: "fork", errno }),
    }
}

/// Gives a child's file its name, if it has none: at its first record, of which the program sees nothing.
#[cold]
pub(crate) fn publish(process: &Process) {
    if UNNAMED.load(Ordering::Relaxed) < 0 {
        return;
    }
    // SAFETY: the calling thread's own errno.
    let program_errno = unsafe { *libc::__errno_location() };
    match take_unnamed() {
        Some(Ok(file)) => {
            let published = share::publish(&file, process.region().pid(), process.region().start_unix_ns());
            // Zero also where the parent's was not.
            NOT_SHARED.store(published.map_or_else(errno, |()| 0), Ordering::Relaxed);
        }
        Some(Err(errno)) => NOT_SHARED.store(errno, Ordering::Relaxed),
        None => {}
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = program_errno };
}

/// Takes the file that has no name yet out of where [`keep_unnamed`] left it; an errno if it was closed.
fn take_unnamed() -> Option<Result<OwnedFd, i32>> {
    let file = UNNAMED.swap(-1, Ordering::Relaxed);
    let [device, inode] = UNNAMED_FILE.each_ref().map(|word| word.load(Ordering::Relaxed));
    (file >= 0).then(|| match share::identity(file) {
        // SAFETY: it is the descriptor that was left here for whoever takes it out, which happens once.
        Some(found) if found == (device, inode) => Ok(unsafe { OwnedFd::from_raw_fd(file) }),
        _ => Err(libc::EBADF),
    })
}

fn keep_unnamed(file: Option<OwnedFd>) {
    // The parent's, if that never recorded.
    drop(take_unnamed());
    if let Some(file) = file
        && let Some((device, inode)) = share::identity(file.as_raw_fd())
    {
        UNNAMED_FILE[0].store(device, Ordering::Relaxed);
        UNNAMED_FILE[1].store(inode, Ordering::Relaxed);
        UNNAMED.store(file.into_raw_fd(), Ordering::Relaxed);
    }
}

fn errno(error: ShareError) -> i32 {
    match error {
        ShareError::Directory => libc::ENOTDIR,
        ShareError::System { errno, .. } => errno,
    }
}

extern "C" fn prepare() {
    // SAFETY: zeros are a value of this plain structure; the calls fill it, and change the calling thread's mask only.
    let old = unsafe {
        let (mut all, mut old) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        (libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old) == 0).then_some(old)
    };
    SIGNALS.set(old);
    if let Some(process) = process()
        && IN_FILE.load(Ordering::Relaxed)
    {
        thread::own_actors(|own, _| SAVED.set(save(process, own)));
        thread::forking(true);
    }
}

fn save(process: &Process, own: &[Option<&Actor<'_>>]) -> Option<&'static [Word]> {
    let words = process.region().words();
    let saved = share::anonymous(words.len())?;
    process.region().copy_for_child(own, words, saved);
    Some(saved)
}

extern "C" fn parent() {
    done();
}

extern "C" fn child() {
    if let Some(process) = process() {
        thread::own_actors(|own, idle| {
            if IN_FILE.load(Ordering::Relaxed) && take_memory(process, own).is_none() {
                // What is not asked whether there is memory, as a guard that is dropped, leaves the parent's alone.
                share::put_zeros_in_place(process.region().words());
                return LOST.store(true, Ordering::Relaxed);
            }
            // SAFETY: the call takes nothing and cannot fail.
            let os_id = unsafe { libc::gettid() } as u64;
            let (start_unix_ns, start_monotonic_ns) = (unix_ns(), SystemClock.ticks(TimerName::Nanosecond));
            let child = Child { pid: std::process::id(), os_id, start_unix_ns, start_monotonic_ns };
            process.region().forked(&child, own, idle);
        });
        FORKS.store(count() + 1, Ordering::Relaxed);
        thread::forked();
        left::forked();
    }
    done();
}

/// Puts memory of the child's own in the place of the parent's.
fn take_memory(process: &Process, own: &[Option<&Actor<'_>>]) -> Option<()> {
    let saved = SAVED.take()?;
    let (words, file) = match Unnamed::new(saved.len()) {
        Ok(Unnamed { words, file }) => {
            process.region().copy_for_child(own, saved, words);
            share::unmap(saved);
            (words, Some(file))
        }
        Err(error) => {
            NOT_SHARED.store(errno(error).max(1), Ordering::Relaxed);
            (saved, None)
        }
    };
    process.region().add_to_copy(words);
    share::put_in_place(words, process.region().words()).then_some(())?;
    IN_FILE.store(file.is_some(), Ordering::Relaxed);
    keep_unnamed(file);
    Some(())
}

fn done() {
    thread::forking(false);
    if let Some(saved) = SAVED.take() {
        share::unmap(saved);
    }
    if let Some(signals) = SIGNALS.take() {
        // SAFETY: the mask that prepare() found.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const signals, std::ptr::null_mut()) };
    }
}
