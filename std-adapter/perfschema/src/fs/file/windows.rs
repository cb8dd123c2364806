//! What std's files have on Windows.

use super::*;
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, IntoRawHandle, OwnedHandle, RawHandle};

/// Methods that set an option as std's do.
macro_rules! options {
    ($($name:ident)*) => {
        impl OpenOptionsExt for OpenOptions {
            $(
                fn $name(&mut self, value: u32) -> &mut OpenOptions {
                    self.inner.$name(value);
                    self
                }
            )*
        }
    };
}

options! { access_mode share_mode custom_flags attributes security_qos_flags }

impl FileExt for File {
    #[inline]
    #[track_caller]
    fn seek_read(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let (bytes, caller) = (buf.len(), Some(Location::caller()));
        self.transfer(Operation::Read, offset, Some(bytes), caller, move |file, offset| file.seek_read(buf, offset))
    }

    #[inline]
    #[track_caller]
    fn seek_write(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        let (bytes, caller) = (buf.len(), Some(Location::caller()));
        self.transfer(Operation::Write, offset, Some(bytes), caller, move |file, offset| file.seek_write(buf, offset))
    }
}

impl AsHandle for File {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.inner.as_handle()
    }
}

impl AsRawHandle for File {
    fn as_raw_handle(&self) -> RawHandle {
        self.inner.as_raw_handle()
    }
}

impl IntoRawHandle for File {
    fn into_raw_handle(self) -> RawHandle {
        self.into_std().into_raw_handle()
    }
}

impl FromRawHandle for File {
    unsafe fn from_raw_handle(handle: RawHandle) -> File {
        // SAFETY: the caller promises what std's asks for.
        unsafe { std::fs::File::from_raw_handle(handle) }.into()
    }
}

impl From<OwnedHandle> for File {
    fn from(handle: OwnedHandle) -> File {
        std::fs::File::from(handle).into()
    }
}

impl From<File> for OwnedHandle {
    fn from(file: File) -> OwnedHandle {
        file.into_std().into()
    }
}
