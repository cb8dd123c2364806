//! What a socket is to Windows: a handle of its own kind.

use std::os::windows::io::AsRawSocket;

/// SOCKET_ID.
pub(crate) fn descriptor(socket: &impl AsRawSocket) -> i32 {
    // Handles have 32 bits that matter, also where there is room for more.
    socket.as_raw_socket() as i32
}

/// The handle, as std has it, and tokio.
macro_rules! handles {
    ($type:ident, |$this:ident| $inner:expr) => {
        impl std::os::windows::io::AsSocket for $type {
            fn as_socket(&self) -> std::os::windows::io::BorrowedSocket<'_> {
                let $this = self;
                $inner.as_socket()
            }
        }

        impl std::os::windows::io::AsRawSocket for $type {
            fn as_raw_socket(&self) -> std::os::windows::io::RawSocket {
                let $this = self;
                $inner.as_raw_socket()
            }
        }
    };
}

/// Conversions from and to handles that nobody owns, as std has them, and tokio.
macro_rules! raw_handles {
    ($type:ident, $inner:ty) => {
        const _: () = {
            use std::os::windows::io::{FromRawSocket, IntoRawSocket, RawSocket};

            impl IntoRawSocket for $type {
                fn into_raw_socket(self) -> RawSocket {
                    <$inner>::from(self).into_raw_socket()
                }
            }

            impl FromRawSocket for $type {
                unsafe fn from_raw_socket(handle: RawSocket) -> $type {
                    // SAFETY: the caller promises what the other asks for.
                    unsafe { <$inner>::from_raw_socket(handle) }.into()
                }
            }
        };
    };
}

/// Conversions from and to handles, as std has them.
macro_rules! owned_handles {
    ($type:ident, $std:ty) => {
        $crate::net::system::raw_handles!($type, $std);

        const _: () = {
            use std::os::windows::io::OwnedSocket;

            impl From<OwnedSocket> for $type {
                fn from(handle: OwnedSocket) -> $type {
                    <$std>::from(handle).into()
                }
            }

            impl From<$type> for OwnedSocket {
                fn from(socket: $type) -> OwnedSocket {
                    <$std>::from(socket).into()
                }
            }
        };
    };
}

pub(crate) use {handles, owned_handles, raw_handles};
