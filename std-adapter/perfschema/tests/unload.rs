//! A library that is unloaded while a thread that has recorded in it still runs.
#![cfg(all(
    feature = "instrument",
    any(windows, all(target_os = "linux", not(target_env = "musl"))),
    not(miri),
    not(perfschema_sanitizer)
))]

use std::sync::Barrier;

/// What a program asks the system's loader for.
#[cfg(unix)]
mod loader {
    use std::ffi::{CString, c_void};
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    pub(super) const PLUGIN: &str = "libplugin.so";

    fn with(path: &Path, flags: i32) -> *mut c_void {
        let path = CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: a library whose constructors are those of std.
        unsafe { libc::dlopen(path.as_ptr(), flags) }
    }

    pub(super) fn load(path: &Path) -> *mut c_void {
        with(path, libc::RTLD_NOW)
    }

    pub(super) fn is_loaded(path: &Path) -> bool {
        !with(path, libc::RTLD_NOW | libc::RTLD_NOLOAD).is_null()
    }

    pub(super) fn plugin_locks(library: *mut c_void) -> *const c_void {
        // SAFETY: the library is open, the name ends with a zero.
        unsafe { libc::dlsym(library, c"plugin_locks".as_ptr()) }
    }

    pub(super) fn unload(library: *mut c_void) -> bool {
        // SAFETY: the caller has opened it, and closes it once.
        unsafe { libc::dlclose(library) == 0 }
    }
}

/// The same.
#[cfg(windows)]
mod loader {
    use std::ffi::c_void;
    use std::os::windows::ffi::OsStrExt;
    use std::path::Path;
    use windows_sys::Win32::Foundation::FreeLibrary;
    use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress, LoadLibraryW};

    pub(super) const PLUGIN: &str = "plugin.dll";

    fn wide(path: &Path) -> Vec<u16> {
        path.as_os_str().encode_wide().chain([0]).collect()
    }

    pub(super) fn load(path: &Path) -> *mut c_void {
        // SAFETY: a path that ends with a zero, of a library whose constructors are those of std.
        unsafe { LoadLibraryW(wide(path).as_ptr()) }
    }

    pub(super) fn is_loaded(path: &Path) -> bool {
        // SAFETY: a path that ends with a zero.
        !unsafe { GetModuleHandleW(wide(path).as_ptr()) }.is_null()
    }

    pub(super) fn plugin_locks(library: *mut c_void) -> *const c_void {
        // SAFETY: the library is open, the name ends with a zero.
        unsafe { GetProcAddress(library, c"plugin_locks".as_ptr().cast()) }
            .map_or(std::ptr::null(), |locks| locks as *const c_void)
    }

    pub(super) fn unload(library: *mut c_void) -> bool {
        // SAFETY: the caller has opened it, and closes it once.
        unsafe { FreeLibrary(library) != 0 }
    }
}

/// What the end of such a thread calls would be gone, and the program with it.
#[test]
fn a_plugin_stays_where_its_threads_end() {
    let tests = std::env::current_exe().unwrap();
    let path = tests.ancestors().nth(2).map(|built| built.join("examples").join(loader::PLUGIN)).unwrap();
    assert!(path.exists(), "{path:?} is built where tests are not chosen by name, or by `cargo build --example plugin`");
    let library = loader::load(&path);
    assert!(!library.is_null());
    let locks = loader::plugin_locks(library);
    assert!(!locks.is_null());
    // SAFETY: that is its type in the example.
    let locks: extern "C" fn() -> u64 = unsafe { std::mem::transmute(locks) };
    let unloaded = Barrier::new(2);
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let waits = locks();
            unloaded.wait();
            unloaded.wait();
            waits
        });
        unloaded.wait();
        assert!(loader::unload(library));
        unloaded.wait();
        assert_eq!(thread.join().unwrap(), 1);
    });
    assert!(loader::is_loaded(&path));
    assert_eq!(locks(), 2, "it is the same one");
}
