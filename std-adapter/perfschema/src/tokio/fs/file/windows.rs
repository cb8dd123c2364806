//! What tokio's files have on Windows.

use super::{File, OpenOptions};
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle, RawHandle};

/// Methods that set an option as tokio's do.
macro_rules! options {
    ($($name:ident)*) => {
        impl OpenOptions {
            $(
                #[doc = concat!("See [`tokio::fs::OpenOptions::", stringify!($name), "`].")]
                pub fn $name(&mut self, value: u32) -> &mut OpenOptions {
                    self.inner.$name(value);
                    self
                }
            )*
        }
    };
}

options! { access_mode share_mode custom_flags attributes security_qos_flags }

impl AsHandle for File {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.file.inner.as_handle()
    }
}

impl AsRawHandle for File {
    fn as_raw_handle(&self) -> RawHandle {
        self.file.inner.as_raw_handle()
    }
}

impl FromRawHandle for File {
    unsafe fn from_raw_handle(handle: RawHandle) -> File {
        // SAFETY: the caller promises what tokio's asks for.
        unsafe { tokio::fs::File::from_raw_handle(handle) }.into()
    }
}

impl From<OwnedHandle> for File {
    fn from(handle: OwnedHandle) -> File {
        tokio::fs::File::from(handle).into()
    }
}
