//! `File` and `OpenOptions`

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use super::record::{self, Caller, Io, Named, Opening};
use crate::instrument::Instrument;
use crate::io::{FilePlace, Io as _, Waiting, as_it_is, sum_of_lengths};
use perfschema_core::{Operation, Switches};
use std::fmt;
use std::fs::{FileTimes, Metadata, Permissions, TryLockError};
use std::io::{self, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::path::Path;
use std::time::SystemTime;

/// [`std::fs::File`], with its waits recorded.
///
/// ```
/// use perfschema::fs::File;
/// use std::io::Read;
/// let mut text = String::new();
/// File::open("Cargo.toml")?.read_to_string(&mut text)?;
/// assert!(text.contains("[package]"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct File {
    // Dropped by `File::drop`, or taken by who forgets the file: so that the close is recorded.
    inner: ManuallyDrop<std::fs::File>,
    instrument: &'static Instrument,
    place: FilePlace,
}

/// [`std::fs::OpenOptions`], whose files record their waits.
///
/// ```
/// use perfschema::fs::OpenOptions;
/// // An instrument of its own:
/// let log = perfschema::fs!("wait/io/file/app/log");
/// let file = log.options().create(true).append(true).open(std::env::temp_dir().join("perfschema-doc.log"))?;
/// # drop(file);
/// # std::fs::remove_file(std::env::temp_dir().join("perfschema-doc.log"))?;
/// # let _ = OpenOptions::new();
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct OpenOptions {
    inner: std::fs::OpenOptions,
    instrument: &'static Instrument,
    opening: Opening,
}

impl fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// A method that sets an option as std's does.
macro_rules! options {
    ($($name:ident)*) => {
        $(
            #[doc = concat!("See [`std::fs::OpenOptions::", stringify!($name), "`].")]
            pub fn $name(&mut self, $name: bool) -> &mut OpenOptions {
                self.inner.$name($name);
                self
            }
        )*
    };
}

impl OpenOptions {
    /// See [`std::fs::OpenOptions::new`].
    #[expect(clippy::new_without_default, reason = "std's has no Default either")]
    #[must_use]
    pub fn new() -> OpenOptions {
        super::STD.options()
    }

    pub(super) fn of(instrument: &'static Instrument) -> OpenOptions {
        OpenOptions { inner: std::fs::OpenOptions::new(), instrument, opening: Opening::default() }
    }

    /// std's options, and what the hooks know of them.
    #[cfg(feature = "tokio")]
    pub(crate) fn into_parts(self) -> (std::fs::OpenOptions, &'static Instrument, Opening) {
        (self.inner, self.instrument, self.opening)
    }

    options! { read write append truncate }

    /// See [`std::fs::OpenOptions::create`].
    pub fn create(&mut self, create: bool) -> &mut OpenOptions {
        self.inner.create(create);
        self.opening.create = create;
        self
    }

    /// See [`std::fs::OpenOptions::create_new`].
    pub fn create_new(&mut self, create_new: bool) -> &mut OpenOptions {
        self.inner.create_new(create_new);
        self.opening.create_new = create_new;
        self
    }

    /// See [`std::fs::OpenOptions::open`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn open<P: AsRef<Path>>(&self, path: P) -> io::Result<File> {
        self.open_at(path.as_ref(), Some(Location::caller()))
    }

    pub(super) fn open_at(&self, path: &Path, caller: Caller) -> io::Result<File> {
        let named = Named::new(self.instrument, path);
        let io = || self.opening.io(self.instrument, named.file(), caller);
        let inner = record::run(self.instrument, io, || self.inner.open(path))?;
        Ok(File { inner: ManuallyDrop::new(inner), instrument: self.instrument, place: named.opened(self.instrument, path) })
    }
}

impl File {
    /// See [`std::fs::File::open`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn open<P: AsRef<Path>>(path: P) -> io::Result<File> {
        super::STD.open(path)
    }

    /// See [`std::fs::File::create`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn create<P: AsRef<Path>>(path: P) -> io::Result<File> {
        super::STD.create(path)
    }

    /// See [`std::fs::File::create_new`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn create_new<P: AsRef<Path>>(path: P) -> io::Result<File> {
        super::STD.create_new(path)
    }

    /// See [`std::fs::File::options`].
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn io(&self, operation: Operation, caller: Caller) -> Io {
        Io::new(self.instrument, self.place, operation, caller)
    }

    /// A wait begins, if it is to be recorded, of which it is known only at its end how many bytes it did, also if it failed.
    fn begin(&self, operation: Operation, caller: Caller) -> Option<Waiting<FilePlace>> {
        self.io(operation, caller).begin(self.instrument.on()?)
    }

    /// Reads or writes at the offset, if that is known, so many bytes, if they are: returns how many it did. What `run` captures is nothing
    /// but the buffer, so that it stays in registers.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn transfer(
        &self,
        operation: Operation,
        offset: u64,
        bytes: Option<usize>,
        caller: Caller,
        run: impl FnOnce(&std::fs::File, u64) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let switches = self.instrument.switches();
        match switches.is_on() {
            false => as_it_is(run(&self.inner, offset)),
            true => self.transfer_recorded(switches, operation, offset, bytes, caller, run),
        }
    }

    // Out of line, and out of the way of what is off: a call is nothing beside a call of the system.
    #[cold]
    #[inline(never)]
    fn transfer_recorded(
        &self,
        switches: Switches,
        operation: Operation,
        offset: u64,
        bytes: Option<usize>,
        caller: Caller,
        run: impl FnOnce(&std::fs::File, u64) -> io::Result<usize>,
    ) -> io::Result<usize> {
        match self.instrument.checked(switches) {
            None => run(&self.inner, offset),
            Some(switches) => {
                let io = Io { offset, bytes: bytes.map(|bytes| bytes as u64), ..self.io(operation, caller) };
                io.transfer(switches, || run(&self.inner, offset))
            }
        }
    }

    /// See [`std::fs::File::sync_all`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn sync_all(&self) -> io::Result<()> {
        let caller = Some(Location::caller());
        record::run(self.instrument, || self.io(Operation::Sync, caller), || self.inner.sync_all())
    }

    /// See [`std::fs::File::sync_data`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn sync_data(&self) -> io::Result<()> {
        let caller = Some(Location::caller());
        record::run(self.instrument, || self.io(Operation::Sync, caller), || self.inner.sync_data())
    }

    /// See [`std::fs::File::lock`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn lock(&self) -> io::Result<()> {
        let caller = Some(Location::caller());
        record::run(self.instrument, || self.io(Operation::Lock, caller), || self.inner.lock())
    }

    /// See [`std::fs::File::lock_shared`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn lock_shared(&self) -> io::Result<()> {
        let caller = Some(Location::caller());
        record::run(self.instrument, || self.io(Operation::ReadLock, caller), || self.inner.lock_shared())
    }

    /// See [`std::fs::File::try_lock`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn try_lock(&self) -> Result<(), TryLockError> {
        let caller = Some(Location::caller());
        record::run(self.instrument, || self.io(Operation::TryLock, caller), || self.inner.try_lock())
    }

    /// See [`std::fs::File::try_lock_shared`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn try_lock_shared(&self) -> Result<(), TryLockError> {
        let caller = Some(Location::caller());
        record::run(self.instrument, || self.io(Operation::TryReadLock, caller), || self.inner.try_lock_shared())
    }

    /// See [`std::fs::File::unlock`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn unlock(&self) -> io::Result<()> {
        let caller = Some(Location::caller());
        record::run(self.instrument, || self.io(Operation::Unlock, caller), || self.inner.unlock())
    }

    /// See [`std::fs::File::set_len`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn set_len(&self, size: u64) -> io::Result<()> {
        let caller = Some(Location::caller());
        record::run(self.instrument, || self.io(Operation::Truncate, caller), || self.inner.set_len(size))
    }

    /// See [`std::fs::File::metadata`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn metadata(&self) -> io::Result<Metadata> {
        let caller = Some(Location::caller());
        record::run(self.instrument, || self.io(Operation::Stat, caller), || self.inner.metadata())
    }

    /// See [`std::fs::File::try_clone`]. The clone is one more of OPEN_COUNT.
    ///
    /// # Errors
    /// Those of std's.
    pub fn try_clone(&self) -> io::Result<File> {
        let inner = ManuallyDrop::new(self.inner.try_clone()?);
        record::opened_again(self.place);
        Ok(File { inner, instrument: self.instrument, place: self.place })
    }

    /// See [`std::fs::File::set_permissions`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn set_permissions(&self, perm: Permissions) -> io::Result<()> {
        let caller = Some(Location::caller());
        record::run(self.instrument, || self.io(Operation::ChangeMode, caller), || self.inner.set_permissions(perm))
    }

    /// See [`std::fs::File::set_times`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn set_times(&self, times: FileTimes) -> io::Result<()> {
        let caller = Some(Location::caller());
        record::run(self.instrument, || self.io(Operation::ChangeTimes, caller), || self.inner.set_times(times))
    }

    /// See [`std::fs::File::set_modified`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        let caller = Some(Location::caller());
        record::run(self.instrument, || self.io(Operation::ChangeTimes, caller), || self.inner.set_modified(time))
    }

    /// std's file; the region counts a handle less from now on.
    fn into_std(self) -> std::fs::File {
        let (inner, _, place) = self.into_parts();
        record::closed(place);
        inner
    }

    /// std's file, and the handle that the region goes on counting.
    pub(crate) fn into_parts(self) -> (std::fs::File, &'static Instrument, FilePlace) {
        let mut file = ManuallyDrop::new(self);
        // SAFETY: the file is not dropped, so nobody uses `inner` after this.
        (unsafe { ManuallyDrop::take(&mut file.inner) }, file.instrument, file.place)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let (instrument, place, inner) = (self.instrument, self.place, &mut self.inner);
        // SAFETY: this is the only place that drops it, and nobody uses it after this.
        record::run(instrument, || Io::new(instrument, place, Operation::Close, None), || unsafe { ManuallyDrop::drop(inner) });
        record::closed(self.place);
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.inner, f)
    }
}

/// A file as what std makes of several operations sees it, such as `read_exact`: all of them have the source of that.
struct At<'f>(&'f File, Caller);

impl<'f> At<'f> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn caller(file: &'f File) -> At<'f> {
        At(file, Some(Location::caller()))
    }
}

impl Read for At<'_> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.transfer(Operation::Read, 0, Some(buf.len()), self.1, move |mut file, _| file.read(buf))
    }
}

impl Write for At<'_> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.0.transfer(Operation::Write, 0, Some(buf.len()), self.1, move |mut file, _| file.write(buf))
    }

    /// Nothing waits here: std's file has no buffer.
    fn flush(&mut self) -> io::Result<()> {
        (&*self.0.inner).flush()
    }
}

impl Seek for At<'_> {
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        let (file, offset) = (self.0, if let SeekFrom::Start(offset) = pos { offset } else { 0 });
        record::run(file.instrument, || Io { offset, ..file.io(Operation::Seek, self.1) }, || (&*file.inner).seek(pos))
    }
}

impl Read for &File {
    #[inline]
    #[track_caller]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let (bytes, caller) = (buf.len(), Some(Location::caller()));
        self.transfer(Operation::Read, 0, Some(bytes), caller, move |mut file, _| file.read(buf))
    }

    #[inline]
    #[track_caller]
    fn read_exact(&mut self, buf: &mut [u8]) -> io::Result<()> {
        At::caller(self).read_exact(buf)
    }

    #[track_caller]
    fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let (bytes, caller) = (sum_of_lengths(bufs), Some(Location::caller()));
        self.transfer(Operation::Read, 0, Some(bytes), caller, move |mut file, _| file.read_vectored(bufs))
    }

    /// One wait, however often std reads; nobody knows how many bytes are asked for. What was read before an error counts.
    #[track_caller]
    fn read_to_end(&mut self, buf: &mut Vec<u8>) -> io::Result<usize> {
        let before = buf.len();
        let waiting = self.begin(Operation::Read, Some(Location::caller()));
        let result = (&*self.inner).read_to_end(buf);
        if let Some(waiting) = waiting {
            waiting.end(Some((buf.len() - before) as u64));
        }
        result
    }

    /// As `read_to_end`, also if it is no text.
    #[track_caller]
    fn read_to_string(&mut self, buf: &mut String) -> io::Result<usize> {
        let Some(waiting) = self.begin(Operation::Read, Some(Location::caller())) else {
            return (&*self.inner).read_to_string(buf);
        };
        // What is there already is text, and not looked at again.
        let is_empty = buf.is_empty();
        let mut bytes = if is_empty { std::mem::take(buf).into_bytes() } else { Vec::new() };
        let result = (&*self.inner).read_to_end(&mut bytes);
        waiting.end(Some(bytes.len() as u64));
        match String::from_utf8(bytes) {
            Ok(text) if is_empty => *buf = text,
            Ok(text) => buf.push_str(&text),
            Err(error) => {
                if is_empty {
                    let mut bytes = error.into_bytes();
                    bytes.clear();
                    *buf = String::from_utf8(bytes).unwrap_or_default();
                }
                // std's own error.
                return result.and_then(|_| (&[0xff][..]).read_to_string(&mut String::new()));
            }
        }
        result
    }
}

impl Write for &File {
    #[inline]
    #[track_caller]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let (bytes, caller) = (buf.len(), Some(Location::caller()));
        self.transfer(Operation::Write, 0, Some(bytes), caller, move |mut file, _| file.write(buf))
    }

    #[inline]
    #[track_caller]
    fn write_all(&mut self, buf: &[u8]) -> io::Result<()> {
        At::caller(self).write_all(buf)
    }

    #[track_caller]
    fn write_fmt(&mut self, args: fmt::Arguments<'_>) -> io::Result<()> {
        At::caller(self).write_fmt(args)
    }

    #[track_caller]
    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        let (bytes, caller) = (sum_of_lengths(bufs), Some(Location::caller()));
        self.transfer(Operation::Write, 0, Some(bytes), caller, move |mut file, _| file.write_vectored(bufs))
    }

    /// Nothing waits here: std's file has no buffer.
    fn flush(&mut self) -> io::Result<()> {
        (&*self.inner).flush()
    }
}

impl Seek for &File {
    #[track_caller]
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        At::caller(self).seek(pos)
    }

    #[track_caller]
    fn rewind(&mut self) -> io::Result<()> {
        At::caller(self).rewind()
    }

    #[track_caller]
    fn seek_relative(&mut self, offset: i64) -> io::Result<()> {
        At::caller(self).seek_relative(offset)
    }

    #[track_caller]
    fn stream_position(&mut self) -> io::Result<u64> {
        let caller = Some(Location::caller());
        record::run(self.instrument, || self.io(Operation::Tell, caller), || (&*self.inner).stream_position())
    }
}

impl Read for File {
    #[inline]
    #[track_caller]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buf)
    }

    #[inline]
    #[track_caller]
    fn read_exact(&mut self, buf: &mut [u8]) -> io::Result<()> {
        (&*self).read_exact(buf)
    }

    #[track_caller]
    fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        (&*self).read_vectored(bufs)
    }

    #[track_caller]
    fn read_to_end(&mut self, buf: &mut Vec<u8>) -> io::Result<usize> {
        (&*self).read_to_end(buf)
    }

    #[track_caller]
    fn read_to_string(&mut self, buf: &mut String) -> io::Result<usize> {
        (&*self).read_to_string(buf)
    }
}

impl Write for File {
    #[inline]
    #[track_caller]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        (&*self).write(buf)
    }

    #[inline]
    #[track_caller]
    fn write_all(&mut self, buf: &[u8]) -> io::Result<()> {
        (&*self).write_all(buf)
    }

    #[track_caller]
    fn write_fmt(&mut self, args: fmt::Arguments<'_>) -> io::Result<()> {
        (&*self).write_fmt(args)
    }

    #[track_caller]
    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        (&*self).write_vectored(bufs)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self).flush()
    }
}

impl Seek for File {
    #[track_caller]
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        (&*self).seek(pos)
    }

    #[track_caller]
    fn rewind(&mut self) -> io::Result<()> {
        (&*self).rewind()
    }

    #[track_caller]
    fn seek_relative(&mut self, offset: i64) -> io::Result<()> {
        (&*self).seek_relative(offset)
    }

    #[track_caller]
    fn stream_position(&mut self) -> io::Result<u64> {
        (&*self).stream_position()
    }
}

/// A file that was opened elsewhere: its waits count by the name of the default instrument, its path is not known.
impl From<std::fs::File> for File {
    fn from(inner: std::fs::File) -> File {
        File { inner: ManuallyDrop::new(inner), instrument: super::STD.instrument, place: None }
    }
}

impl From<File> for std::fs::File {
    fn from(file: File) -> std::fs::File {
        file.into_std()
    }
}

impl From<File> for std::process::Stdio {
    fn from(file: File) -> std::process::Stdio {
        file.into_std().into()
    }
}
