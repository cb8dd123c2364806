//! What a Unix says of a thread.

use super::{Thread, local};
use perfschema_core::Text;
use std::ffi::CStr;
use std::sync::atomic::{AtomicI64, Ordering};

/// Bytes of a thread's name that the system keeps.
const NAME_BYTES: usize = 15;

fn start_of(text: &str, bytes: usize) -> &[u8] {
    text.as_bytes().get(..bytes).unwrap_or(text.as_bytes())
}

/// The text, without a character that was cut at its end; nothing if it is none.
fn whole_characters(bytes: &[u8]) -> &str {
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            bytes.get(..error.valid_up_to()).and_then(|whole| str::from_utf8(whole).ok()).unwrap_or_default()
        }
        Err(_) => "",
    }
}

/// The name that the calling thread was given; none for one that was given none.
pub(super) fn name(program: &str) -> Text<NAME_BYTES> {
    if is_main() {
        return "main".into();
    }
    let mut buffer = [0u8; NAME_BYTES + 1];
    // SAFETY: the buffer has the 16 bytes that the call may write, the closing zero among them; the thread is the calling one.
    let result = unsafe { libc::pthread_getname_np(libc::pthread_self(), buffer.as_mut_ptr().cast(), buffer.len()) };
    let name = CStr::from_bytes_until_nul(&buffer).ok().filter(|_| result == 0).map_or(&[][..], CStr::to_bytes);
    // A thread without a name inherits that of the one that started it, in the end the program's, as far as that is kept.
    if name == start_of(program, NAME_BYTES) { Text::EMPTY } else { whole_characters(name).into() }
}

/// The calling thread's number; 0 where it is not known.
pub(super) fn id() -> u64 {
    #[cfg(target_os = "linux")]
    // SAFETY: the call takes nothing and cannot fail.
    return unsafe { libc::gettid() } as u64;
    #[cfg(target_os = "macos")]
    {
        let mut id = 0;
        // SAFETY: 0 is the calling thread, and `id` a place to write to.
        unsafe { libc::pthread_threadid_np(0, &raw mut id) };
        return id;
    }
    #[cfg(target_os = "freebsd")]
    // SAFETY: the call takes nothing and cannot fail.
    return unsafe { libc::pthread_getthreadid_np() } as u64;
    #[cfg(not(any(target_os = "linux", target_os = "macos", target_os = "freebsd")))]
    return 0;
}

/// Whether the calling thread is the one that the program began with.
fn is_main() -> bool {
    #[cfg(any(target_os = "macos", target_os = "freebsd"))]
    // SAFETY: the call takes nothing and cannot fail.
    return unsafe { libc::pthread_main_np() } == 1;
    #[cfg(not(any(target_os = "macos", target_os = "freebsd")))]
    return id() == u64::from(std::process::id());
}

/// The key with [`exit`] as its destructor; -1 is none.
static KEY: AtomicI64 = AtomicI64::new(-1);

/// Makes the key.
pub(super) fn started() {
    let mut key = 0;
    // SAFETY: `key` is a place to write to, `exit` a function of the type that is asked for.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(exit)) } == 0 {
        KEY.store(key as i64, Ordering::Relaxed);
    }
}

/// Has the C library call [`exit`] when the calling thread ends.
pub(super) fn call_at_exit() {
    // Relaxed: whoever found the process started sees it. Without a key the slot is not given back: one thread more in the tables.
    if let Ok(key) = libc::pthread_key_t::try_from(KEY.load(Ordering::Relaxed)) {
        // The first keys of a process have their place in the thread itself, so this allocates nothing; glibc has 32 of them. With a later
        // one it allocates once in each thread, which the crate's documentation says to whoever records in signal handlers.
        // SAFETY: the key was created and is never deleted. Any value but null makes the destructor run; it is never dereferenced.
        unsafe { libc::pthread_setspecific(key, std::ptr::dangling::<u8>().cast()) };
    }
}

extern "C" fn exit(_: *mut libc::c_void) {
    local::end(Thread::exit);
}
