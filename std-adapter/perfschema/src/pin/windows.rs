//! By the system's loader.

use std::ptr;
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GetModuleHandleExW,
};

pub(super) fn stay_loaded() {
    let flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN;
    let own = (stay_loaded as fn()) as *const u16;
    let mut library = ptr::null_mut();
    // SAFETY: by that flag it is an address that is asked for, and `library` is a place to write to.
    unsafe { GetModuleHandleExW(flags, own, &raw mut library) };
}
