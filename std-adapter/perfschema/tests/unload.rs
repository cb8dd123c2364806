//! A library that is unloaded while a thread that has recorded in it still runs.
#![cfg(all(feature = "instrument", target_os = "linux", not(target_env = "musl"), not(miri), not(perfschema_sanitizer)))]

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::sync::Barrier;

/// What the end of such a thread calls would be gone, and the program with it.
#[test]
fn a_plugin_stays_where_its_threads_end() {
    let tests = std::env::current_exe().unwrap();
    let path = tests.ancestors().nth(2).unwrap().join("examples/libplugin.so");
    assert!(path.exists(), "{path:?} is built where tests are not chosen by name, or by `cargo build --example plugin`");
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: a library whose constructors are those of std.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    assert!(!library.is_null());
    // SAFETY: the library is open, the name ends with a zero.
    let locks = unsafe { libc::dlsym(library, c"plugin_locks".as_ptr()) };
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
        // SAFETY: it was opened above, and this closes it once.
        assert_eq!(unsafe { libc::dlclose(library) }, 0);
        unloaded.wait();
        assert_eq!(thread.join().unwrap(), 1);
    });
    // SAFETY: as above; it is not loaded by this.
    let again = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
    assert!(!again.is_null());
    assert_eq!(locks(), 2, "it is the same one");
}
