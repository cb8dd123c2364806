//! What a socket is to a Unix: a descriptor.

use std::os::fd::AsRawFd;

/// SOCKET_ID.
pub(crate) fn descriptor(socket: &impl AsRawFd) -> i32 {
    socket.as_raw_fd()
}

/// The descriptor, as std has it, and tokio.
macro_rules! handles {
    ($type:ident) => {
        impl std::os::fd::AsFd for $type {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                self.socket.std().as_fd()
            }
        }

        impl std::os::fd::AsRawFd for $type {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                self.socket.std().as_raw_fd()
            }
        }
    };
}

/// Conversions from and to descriptors, as std has them.
macro_rules! owned_handles {
    ($type:ident, $std:ty) => {
        const _: () = {
            use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd, RawFd};

            impl IntoRawFd for $type {
                fn into_raw_fd(self) -> RawFd {
                    <$std>::from(self).into_raw_fd()
                }
            }

            impl FromRawFd for $type {
                unsafe fn from_raw_fd(fd: RawFd) -> $type {
                    // SAFETY: the caller promises what std's asks for.
                    unsafe { <$std>::from_raw_fd(fd) }.into()
                }
            }

            impl From<OwnedFd> for $type {
                fn from(fd: OwnedFd) -> $type {
                    <$std>::from(fd).into()
                }
            }

            impl From<$type> for OwnedFd {
                fn from(socket: $type) -> OwnedFd {
                    <$std>::from(socket).into()
                }
            }
        };
    };
}

pub(crate) use {handles, owned_handles};
