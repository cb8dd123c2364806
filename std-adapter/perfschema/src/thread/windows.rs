//! What Windows says of a thread.
//!
//! It has a destructor for a value of a thread only as one of a fiber, which runs before std's thread-locals are destroyed, or when
//! another thread deletes the fiber. But a library or program can list functions that the loader calls when a thread ends, in the order of
//! their sections' names: std's is in `.CRT$XLB`, and ours after it.

use super::{Thread, local};
use crate::process::process;
use perfschema_core::Text;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use windows_sys::Wdk::System::Threading::{NtQueryInformationThread, ThreadNameInformation};
use windows_sys::Win32::Foundation::UNICODE_STRING;
use windows_sys::Win32::System::SystemServices::DLL_THREAD_DETACH;
use windows_sys::Win32::System::Threading::{GetCurrentThread, GetCurrentThreadId};

/// UTF-16 units of a thread's name that are asked for; what is longer is no name.
const NAME_UNITS: usize = 256;

/// What the system answers: where the text is, and the text.
#[repr(C)]
struct Name {
    text: UNICODE_STRING,
    units: [u16; NAME_UNITS],
}

/// The name that the calling thread was given, also `main` by std; none for one that was given none. Nothing is inherited.
// Not by GetThreadDescription, which allocates, and which the oldest systems do not have where programs look for it.
pub(super) fn name(_program: &str) -> Text<64> {
    let mut name = MaybeUninit::<Name>::zeroed();
    let place = name.as_mut_ptr();
    // SAFETY: the place is as large as is said, and the thread is the calling one.
    let status = unsafe {
        let (thread, size) = (GetCurrentThread(), size_of::<Name>() as u32);
        NtQueryInformationThread(thread, ThreadNameInformation, place.cast(), size, std::ptr::null_mut())
    };
    let mut text = Text::EMPTY;
    if status == 0 {
        // SAFETY: zeros are a value of it, a null pointer and numbers, and so is what the system has written.
        let name = unsafe { name.assume_init_ref() };
        let units = name.units.get(..usize::from(name.text.Length) / 2).unwrap_or_default();
        for character in char::decode_utf16(units.iter().copied()) {
            text.push_str(character.unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut [0; 4]));
        }
    }
    text
}

/// The calling thread's number.
pub(super) fn id() -> u64 {
    // SAFETY: the call takes nothing and cannot fail.
    u64::from(unsafe { GetCurrentThreadId() })
}

unsafe extern "C" {
    /// By this the linker knows that there is a list of functions to call.
    #[link_name = "_tls_used"]
    static TLS_USED: u8;
}

/// In the list of what is called when a thread ends, last but for the mark of its end.
#[used]
#[unsafe(link_section = ".CRT$XLY")]
static AT_EXIT: unsafe extern "system" fn(*mut c_void, u32, *mut c_void) = exit;

/// Has the linker leave both in.
pub(super) fn started() {
    // SAFETY: they are statics that nobody writes.
    unsafe {
        (&raw const TLS_USED).read_volatile();
        (&raw const AT_EXIT).read_volatile();
    }
}

/// Nothing: the loader calls [`exit`] in every thread.
pub(super) fn call_at_exit() {}

unsafe extern "system" fn exit(_: *mut c_void, reason: u32, _: *mut c_void) {
    // Not when the process ends: there are no other threads then. And the loader calls this from the start of the program on.
    if reason == DLL_THREAD_DETACH && process().is_some() {
        local::end(Thread::exit);
    }
}
