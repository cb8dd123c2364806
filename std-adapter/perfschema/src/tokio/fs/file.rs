//! `File` and `OpenOptions`

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use super::STD;
use crate::fs::record::{self, Caller, Io, Named, Opening};
use crate::instrument::Instrument;
use crate::io::{FilePlace, sum_of_lengths};
use crate::tokio::pending::{self, Pending, Polled, filled, poll, polled, without_bytes};
use perfschema_core::Operation;
use std::fmt;
use std::fs::{Metadata, Permissions};
use std::io::{self, IoSlice, SeekFrom};
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::SystemTime;
use tokio::fs::FileTimes;
use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

/// [`tokio::fs::File`], with its waits recorded.
///
/// ```
/// use perfschema::tokio::fs::File;
/// use tokio::io::AsyncReadExt;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let mut text = String::new();
/// File::open("Cargo.toml").await?.read_to_string(&mut text).await?;
/// assert!(text.contains("[package]"));
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct File {
    polled: Polled<Io>,
    seeking: Pending<Io>,
    /// A seek is under way, recorded or not.
    is_seeking: bool,
    // Dropped by `Handle::drop`, or taken by who forgets the file: so that the close is recorded.
    file: Handle,
}

/// tokio's file, its instrument, and its place in the region. Behind what is pending, which ends first.
struct Handle {
    inner: ManuallyDrop<tokio::fs::File>,
    instrument: &'static Instrument,
    place: FilePlace,
}

impl Handle {
    /// tokio's file, and the reference to its place.
    fn into_parts(self) -> (tokio::fs::File, FilePlace) {
        let mut handle = ManuallyDrop::new(self);
        // SAFETY: the handle is not dropped, so nobody uses `inner` after this.
        (unsafe { ManuallyDrop::take(&mut handle.inner) }, handle.place)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let (instrument, place, inner) = (self.instrument, self.place, &mut self.inner);
        // SAFETY: this is the only place that drops it, and nobody uses it after this.
        record::run(instrument, || Io::new(instrument, place, Operation::Close, None), || unsafe { ManuallyDrop::drop(inner) });
        record::closed(place);
    }
}

/// [`tokio::fs::OpenOptions`], whose files record their waits.
#[derive(Clone)]
pub struct OpenOptions {
    inner: tokio::fs::OpenOptions,
    instrument: &'static Instrument,
    opening: Opening,
}

impl fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// A method that sets an option as tokio's does.
macro_rules! options {
    ($($name:ident)*) => {
        $(
            #[doc = concat!("See [`tokio::fs::OpenOptions::", stringify!($name), "`].")]
            pub fn $name(&mut self, $name: bool) -> &mut OpenOptions {
                self.inner.$name($name);
                self
            }
        )*
    };
}

impl OpenOptions {
    /// See [`tokio::fs::OpenOptions::new`].
    pub fn new() -> OpenOptions {
        STD.options()
    }

    pub(super) fn of(instrument: &'static Instrument) -> OpenOptions {
        OpenOptions { inner: tokio::fs::OpenOptions::new(), instrument, opening: Opening::default() }
    }

    options! { read write append truncate }

    /// See [`tokio::fs::OpenOptions::create`].
    pub fn create(&mut self, create: bool) -> &mut OpenOptions {
        self.inner.create(create);
        self.opening.create = create;
        self
    }

    /// See [`tokio::fs::OpenOptions::create_new`].
    pub fn create_new(&mut self, create_new: bool) -> &mut OpenOptions {
        self.inner.create_new(create_new);
        self.opening.create_new = create_new;
        self
    }

    /// See [`tokio::fs::OpenOptions::open`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn open<P: AsRef<Path>>(&self, path: P) -> impl Future<Output = io::Result<File>> {
        self.clone().opened(path, Some(Location::caller()))
    }

    pub(super) async fn opened<P: AsRef<Path>>(self, path: P, caller: Caller) -> io::Result<File> {
        let path = path.as_ref().to_path_buf();
        let named = Named::new(self.instrument, &path);
        let io = self.opening.io(self.instrument, named.file(), caller);
        let inner = pending::run(io, self.inner.open(&path)).await?;
        Ok(File::of(inner, self.instrument, named.opened(self.instrument, &path)))
    }
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions::new()
    }
}

/// Whether it creates a file is not known of these: each open is an `open`.
impl From<std::fs::OpenOptions> for OpenOptions {
    fn from(options: std::fs::OpenOptions) -> OpenOptions {
        OpenOptions { inner: options.into(), ..OpenOptions::new() }
    }
}

/// They keep their instrument, and what they say of creating.
impl From<crate::fs::OpenOptions> for OpenOptions {
    fn from(options: crate::fs::OpenOptions) -> OpenOptions {
        let (inner, instrument, opening) = options.into_parts();
        OpenOptions { inner: inner.into(), instrument, opening }
    }
}

/// Methods of tokio's, each one operation.
macro_rules! operations {
    ($($name:ident($($argument:ident: $type:ty)?) -> $result:ty = $operation:ident;)*) => {
        impl File {
            $(
                #[doc = concat!("See [`tokio::fs::File::", stringify!($name), "`].")]
                ///
                /// # Errors
                /// Those of tokio's.
                #[track_caller]
                pub fn $name(&self $(, $argument: $type)?) -> impl Future<Output = io::Result<$result>> {
                    pending::run(self.io(Operation::$operation, Some(Location::caller())), self.file.inner.$name($($argument)?))
                }
            )*
        }
    };
}

operations! {
    sync_all() -> () = Sync;
    sync_data() -> () = Sync;
    set_len(size: u64) -> () = Truncate;
    metadata() -> Metadata = Stat;
    set_permissions(perm: Permissions) -> () = ChangeMode;
    set_times(times: FileTimes) -> () = ChangeTimes;
    set_modified(time: SystemTime) -> () = ChangeTimes;
}

impl File {
    fn of(inner: tokio::fs::File, instrument: &'static Instrument, place: FilePlace) -> File {
        File {
            polled: Polled::new(),
            seeking: Pending::None,
            is_seeking: false,
            file: Handle { inner: ManuallyDrop::new(inner), instrument, place },
        }
    }

    /// See [`tokio::fs::File::open`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn open<P: AsRef<Path>>(path: P) -> impl Future<Output = io::Result<File>> {
        STD.open(path)
    }

    /// See [`tokio::fs::File::create`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn create<P: AsRef<Path>>(path: P) -> impl Future<Output = io::Result<File>> {
        STD.create(path)
    }

    /// See [`tokio::fs::File::create_new`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn create_new<P: AsRef<Path>>(path: P) -> impl Future<Output = io::Result<File>> {
        STD.create_new(path)
    }

    /// See [`tokio::fs::File::options`].
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// See [`tokio::fs::File::from_std`]. Its waits count by the name of the default instrument, its path is not known.
    pub fn from_std(std: std::fs::File) -> File {
        tokio::fs::File::from_std(std).into()
    }

    fn io(&self, operation: Operation, caller: Caller) -> Io {
        Io::new(self.file.instrument, self.file.place, operation, caller)
    }

    /// The wait of a read or a write of so many bytes.
    fn io_of(&self, operation: Operation, bytes: usize) -> Io {
        Io { bytes: Some(bytes as u64), ..self.io(operation, None) }
    }

    /// See [`tokio::fs::File::try_clone`]. The clone is one more of OPEN_COUNT.
    ///
    /// # Errors
    /// Those of tokio's.
    pub async fn try_clone(&self) -> io::Result<File> {
        let inner = self.file.inner.try_clone().await?;
        record::opened_again(self.file.place);
        Ok(File::of(inner, self.file.instrument, self.file.place))
    }

    /// See [`tokio::fs::File::into_std`].
    pub async fn into_std(self) -> std::fs::File {
        tokio::fs::File::from(self).into_std().await
    }

    /// See [`tokio::fs::File::try_into_std`].
    ///
    /// # Errors
    /// As tokio's: the file, if an operation is in flight.
    #[expect(clippy::result_large_err, reason = "as tokio's: the file comes back")]
    pub fn try_into_std(self) -> Result<std::fs::File, File> {
        let File { polled, seeking, is_seeking, file } = self;
        let instrument = file.instrument;
        let (inner, place) = file.into_parts();
        match inner.try_into_std() {
            Ok(std) => {
                // What is pending ends while the place is the file's.
                drop((polled, seeking));
                record::closed(place);
                Ok(std)
            }
            Err(inner) => Err(File { polled, seeking, is_seeking, ..File::of(inner, instrument, place) }),
        }
    }

    /// See [`tokio::fs::File::set_max_buf_size`].
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn set_max_buf_size(&mut self, max_buf_size: usize) {
        self.file.inner.set_max_buf_size(max_buf_size);
    }

    /// See [`tokio::fs::File::max_buf_size`].
    pub fn max_buf_size(&self) -> usize {
        self.file.inner.max_buf_size()
    }
}

/// A poll of tokio's file, with what it is if it is recorded.
macro_rules! poll_file {
    ($this:ident.$side:ident, $io:expr, $name:ident($($argument:expr),*), $bytes:expr) => {
        poll!(
            $this.polled.$side,
            poll_alone,
            $this.file.instrument,
            $io,
            Pin::new(&mut *$this.file.inner).$name($($argument),*),
            $bytes
        )
    };
}

impl AsyncRead for File {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        poll_file!(this.reading, this.io_of(Operation::Read, buf.remaining()), poll_read(cx, buf), filled(buf))
    }
}

impl AsyncWrite for File {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        poll_file!(this.writing, this.io_of(Operation::Write, buf.len()), poll_write(cx, buf), polled)
    }

    fn poll_write_vectored(self: Pin<&mut Self>, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        poll_file!(this.writing, this.io_of(Operation::Write, sum_of_lengths(bufs)), poll_write_vectored(cx, bufs), polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.file.inner.is_write_vectored()
    }

    /// A wait: until what was written before is handed on.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        poll_file!(this.writing, this.io(Operation::Flush, None), poll_flush(cx), without_bytes)
    }

    /// As `poll_flush`.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        poll_file!(this.writing, this.io(Operation::Flush, None), poll_shutdown(cx), without_bytes)
    }
}

impl AsyncSeek for File {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        let this = self.get_mut();
        let offset = if let SeekFrom::Start(offset) = position { offset } else { 0 };
        let seeking = Pending::begin(Io { offset, ..this.io(Operation::Seek, None) });
        // One that is refused, because another is under way, leaves that one as it is.
        Pin::new(&mut *this.file.inner).start_seek(position)?;
        (this.seeking, this.is_seeking) = (seeking, true);
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let this = self.get_mut();
        let result = Pin::new(&mut *this.file.inner).poll_complete(cx);
        if result.is_ready() {
            this.is_seeking = false;
            this.seeking.end(None);
        } else if !this.seeking.is_some() {
            // A seek begins by asking for this: until what was written before is handed on.
            let operation = if this.is_seeking { Operation::Seek } else { Operation::Flush };
            this.seeking = Pending::begin(this.io(operation, None));
        }
        result
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.file.inner, f)
    }
}

/// A file that was opened elsewhere: its waits count by the name of the default instrument, its path is not known.
impl From<tokio::fs::File> for File {
    fn from(inner: tokio::fs::File) -> File {
        File::of(inner, &crate::fs::DEFAULT, None)
    }
}

/// The region counts a handle less from now on.
impl From<File> for tokio::fs::File {
    fn from(file: File) -> tokio::fs::File {
        let File { polled, seeking, file, .. } = file;
        // What is pending ends while the place is the file's.
        drop((polled, seeking));
        let (inner, place) = file.into_parts();
        record::closed(place);
        inner
    }
}

/// It keeps its name, its instrument and its row.
impl From<crate::fs::File> for File {
    fn from(file: crate::fs::File) -> File {
        let (inner, instrument, place) = file.into_parts();
        File::of(tokio::fs::File::from_std(inner), instrument, place)
    }
}

/// As of [`from_std`](File::from_std).
impl From<std::fs::File> for File {
    fn from(std: std::fs::File) -> File {
        File::from_std(std)
    }
}
