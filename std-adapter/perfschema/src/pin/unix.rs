//! By the C library's loader.

use std::ffi::c_void;

pub(super) fn stay_loaded() {
    let own = library_of((stay_loaded as fn()) as *const c_void);
    // Miri knows no loader.
    if cfg!(miri) || own.dli_fname.is_null() || own.dli_fbase == program() {
        return;
    }
    let flags = libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
    // SAFETY: a path of the loader's that ends with a zero, of a library that this very code is in: no constructor runs. The handle is
    // never closed.
    unsafe { libc::dlopen(own.dli_fname, flags) };
}

/// Of which library an address is; zeros if of none.
fn library_of(address: *const c_void) -> libc::Dl_info {
    // SAFETY: zeros are a value of this plain structure.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    if !cfg!(miri) {
        // SAFETY: `found` is a place to write to, and any address may be asked for.
        unsafe { libc::dladdr(address, &raw mut found) };
    }
    found
}

/// Where the program itself is loaded, which nobody unloads; null if that is not known.
fn program() -> *mut c_void {
    #[cfg(target_os = "linux")]
    // SAFETY: the call reads what the kernel has told the program at its start: here, where it begins.
    return library_of(std::ptr::with_exposed_provenance(unsafe { libc::getauxval(libc::AT_ENTRY) } as usize)).dli_fbase;
    #[cfg(not(target_os = "linux"))]
    return std::ptr::null_mut();
}
