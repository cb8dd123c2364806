//! `std::thread`, as it is: nothing is recorded. And the functions of programs that say who their threads are.

pub use perfschema_core::ThreadType;
pub use std::thread::*;

/// Says who the calling thread is: nothing asks. Returns false.
///
/// ```
/// use perfschema::thread::{ThreadType, attach_as};
/// assert!(!attach_as("thread/app/connection", ThreadType::Foreground, "joe", "192.0.2.7"));
/// ```
pub fn attach_as(_name: &str, _thread_type: ThreadType, _user: &str, _host: &str) -> bool {
    false
}

/// THREAD_ID of the calling thread, which has none.
///
/// ```
/// assert_eq!(perfschema::thread::thread_id(), None);
/// ```
pub fn thread_id() -> Option<u64> {
    None
}
