//! `std::os`, as far as there is something to record.

/// `std::os::unix`
#[cfg(unix)]
pub mod unix {
    pub mod net;
}
