//! What a socket is to a Unix: a descriptor.

use std::os::fd::AsRawFd;

/// SOCKET_ID.
pub(crate) fn descriptor(socket: &impl AsRawFd) -> i32 {
    socket.as_raw_fd()
}

/// The descriptor, as std has it, and tokio.
macro_rules! handles {
    ($type:ident, |$this:ident| $inner:expr) => {
        impl std::os::fd::AsFd for $type {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                let $this = self;
                $inner.as_fd()
            }
        }

        impl std::os::fd::AsRawFd for $type {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                let $this = self;
                $inner.as_raw_fd()
            }
        }
    };
}

/// Conversions from and to descriptors that nobody owns, as std has them, and tokio.
macro_rules! raw_handles {
    ($type:ident, $inner:ty) => {
        const _: () = {
            use std::os::fd::{FromRawFd, IntoRawFd, RawFd};

            impl IntoRawFd for $type {
                fn into_raw_fd(self) -> RawFd {
                    <$inner>::from(self).into_raw_fd()
                }
            }

            impl FromRawFd for $type {
                unsafe fn from_raw_fd(fd: RawFd) -> $type {
                    // SAFETY: the caller promises what the other asks for.
                    unsafe { <$inner>::from_raw_fd(fd) }.into()
                }
            }
        };
    };
}

/// Conversions from and to descriptors, as std has them.
macro_rules! owned_handles {
    ($type:ident, $std:ty) => {
        $crate::net::system::raw_handles!($type, $std);

        const _: () = {
            use std::os::fd::OwnedFd;

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

pub(crate) use {handles, owned_handles, raw_handles};
