//! A library that records stays loaded.
//!
//! What is called when a thread ends, and the memory that it finds its actors by, are those of the library that this is compiled into. If
//! that is no program but a plugin, whoever loaded it may unload it while threads that have recorded still run: their ends would then end
//! the program.

// Where a library can be unloaded, and the system says how to prevent that.
#[cfg(all(any(target_os = "linux", target_os = "macos", target_os = "freebsd"), not(target_feature = "crt-static")))]
#[path = "pin/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "pin/windows.rs"]
mod system;
// Elsewhere there is nothing to do.
#[cfg(not(any(
    windows,
    all(any(target_os = "linux", target_os = "macos", target_os = "freebsd"), not(target_feature = "crt-static"))
)))]
mod system {
    pub(super) fn stay_loaded() {}
}

/// Has the library that this is in stay where it is, for good. In a program that is nothing; whatever fails changes nothing.
///
/// Takes the loader's lock, so not to be called under a lock that a constructor or destructor of a library may wait for.
pub(crate) fn stay_loaded() {
    system::stay_loaded();
}
