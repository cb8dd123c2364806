//! What std's files have on Unix.

use super::*;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};

impl OpenOptionsExt for OpenOptions {
    fn mode(&mut self, mode: u32) -> &mut OpenOptions {
        self.inner.mode(mode);
        self
    }

    fn custom_flags(&mut self, flags: i32) -> &mut OpenOptions {
        self.inner.custom_flags(flags);
        self.opening.set_flags(flags);
        self
    }
}

impl FileExt for At<'_> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.transfer(Operation::Read, offset, Some(buf.len()), self.1, move |file, offset| file.read_at(buf, offset))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        self.0.transfer(Operation::Write, offset, Some(buf.len()), self.1, move |file, offset| file.write_at(buf, offset))
    }
}

impl FileExt for File {
    #[inline]
    #[track_caller]
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let (bytes, caller) = (buf.len(), Some(Location::caller()));
        self.transfer(Operation::Read, offset, Some(bytes), caller, move |file, offset| file.read_at(buf, offset))
    }

    #[inline]
    #[track_caller]
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        At::caller(self).read_exact_at(buf, offset)
    }

    #[inline]
    #[track_caller]
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        let (bytes, caller) = (buf.len(), Some(Location::caller()));
        self.transfer(Operation::Write, offset, Some(bytes), caller, move |file, offset| file.write_at(buf, offset))
    }

    #[inline]
    #[track_caller]
    fn write_all_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        At::caller(self).write_all_at(buf, offset)
    }
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}

impl AsRawFd for File {
    fn as_raw_fd(&self) -> RawFd {
        self.inner.as_raw_fd()
    }
}

impl IntoRawFd for File {
    fn into_raw_fd(self) -> RawFd {
        self.into_std().into_raw_fd()
    }
}

impl FromRawFd for File {
    unsafe fn from_raw_fd(fd: RawFd) -> File {
        // SAFETY: the caller promises what std's asks for.
        unsafe { std::fs::File::from_raw_fd(fd) }.into()
    }
}

impl From<OwnedFd> for File {
    fn from(fd: OwnedFd) -> File {
        std::fs::File::from(fd).into()
    }
}

impl From<File> for OwnedFd {
    fn from(file: File) -> OwnedFd {
        file.into_std().into()
    }
}
