//! `tokio::fs`, instrumented: the same names, so that a `use` line is the whole change.
//!
//! Operations, instruments, rows and sums are those of [`perfschema::fs`](mod@crate::fs): the same tables show files of std's and of
//! tokio's. [`tokio`](super) says what a wait is here: for all of this tokio asks a thread of its own, and the wait lasts until that is
//! done, also the time until such a thread is free.
//!
//! | what | operations recorded |
//! |---|---|
//! | [`File`], [`OpenOptions`] | `open`, `create`, `close`, `read`, `write`, `flush`, `seek`, `sync`, `stat`, `chsize`, `chmod`, `utime` |
//! | [`read()`], [`read_to_string()`], [`write()`] | `read` or `write`, of all bytes: tokio opens and closes the file by the way |
//! | [`copy`] | `read` of the one file, and beside it `write` of the other, each of all bytes |
//! | [`rename`], [`remove_file`], [`hard_link`], [`read_link`] | `rename`, `delete`, `link`, `readlink` |
//! | [`create_dir`], [`create_dir_all`], [`remove_dir`], [`remove_dir_all`] | `mkdir`, `rmdir`: one, however many folders |
//! | [`metadata`], [`symlink_metadata`], [`try_exists`], [`canonicalize`], [`set_permissions`] | `stat`, `realpath`, `chmod` |
//!
//! tokio's [`File`] has a buffer between the program and the system. NUMBER_OF_BYTES is what the operation gave to the program or took from
//! it. A `write` is over when the bytes are in the buffer; that they are handed on is waited for by the next operation, and by `flush`. Where a
//! seek has to wait for that, it is a `flush`, and the seek begins after it.
//!
//! An operation that is given up ends its wait, and what tokio's thread does goes on: a file that is deleted or renamed then is so in the
//! tables, too.

mod file;

#[cfg(unix)]
pub use ::tokio::fs::symlink;
pub use ::tokio::fs::{DirBuilder, DirEntry, FileTimes, ReadDir, read_dir};
#[cfg(windows)]
pub use ::tokio::fs::{symlink_dir, symlink_file};
pub use file::{File, OpenOptions};

use crate::fs::record::{self, Caller, Io, Named};
use crate::instrument::Instrument;
use crate::tokio::pending;
use perfschema_core::Operation;
use std::fs::{Metadata, Permissions};
use std::io;
use std::panic::Location;
use std::path::{Path, PathBuf};

static STD: Fs = Fs::new(crate::fs::Fs::with_instrument(&crate::fs::DEFAULT));

/// The functions of this module with an instrument of their own.
///
/// ```
/// use perfschema::tokio::fs::Fs;
/// static CONFIGURATION: Fs = Fs::new(perfschema::fs!("wait/io/file/app/configuration"));
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let text = CONFIGURATION.read_to_string("Cargo.toml").await?;
/// assert!(text.contains("[package]"));
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Fs(crate::fs::Fs);

impl Fs {
    /// Files with this instrument, made by [`fs!`](crate::fs!).
    pub const fn new(fs: crate::fs::Fs) -> Fs {
        Fs(fs)
    }

    /// See [`tokio::fs::OpenOptions::new`].
    pub fn options(&self) -> OpenOptions {
        OpenOptions::of(self.instrument())
    }

    /// See [`tokio::fs::File::open`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn open<P: AsRef<Path>>(&self, path: P) -> impl Future<Output = io::Result<File>> + use<P> {
        let mut options = self.options();
        options.read(true);
        options.opened(path, Some(Location::caller()))
    }

    /// See [`tokio::fs::File::create`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn create<P: AsRef<Path>>(&self, path: P) -> impl Future<Output = io::Result<File>> + use<P> {
        let mut options = self.options();
        options.write(true).create(true).truncate(true);
        options.opened(path, Some(Location::caller()))
    }

    /// See [`tokio::fs::File::create_new`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn create_new<P: AsRef<Path>>(&self, path: P) -> impl Future<Output = io::Result<File>> + use<P> {
        let mut options = self.options();
        options.read(true).write(true).create_new(true);
        options.opened(path, Some(Location::caller()))
    }

    fn instrument(&self) -> &'static Instrument {
        self.0.instrument
    }
}

/// A path, and what is done with it.
struct PathCall {
    instrument: &'static Instrument,
    path: PathBuf,
    caller: Caller,
}

impl PathCall {
    fn named(&self) -> Named {
        Named::new(self.instrument, &self.path)
    }

    fn io(&self, named: &Named, operation: Operation) -> Io {
        Io::new(self.instrument, named.file(), operation, self.caller)
    }

    /// The same of another path.
    fn other(&self, path: &Path) -> PathCall {
        PathCall { path: path.to_path_buf(), ..*self }
    }

    /// An operation on the path.
    async fn run<T>(&self, operation: Operation, run: impl Future<Output = T>) -> T {
        let named = self.named();
        pending::run(self.io(&named, operation), run).await
    }

    /// An operation after which there are other names, and which tells the region so. All of it is done by a thread of tokio's: what is
    /// told is looked up in the file system, and holds also where the operation is given up.
    async fn run_blocking(
        &self,
        operation: Operation,
        work: impl FnOnce(&Path) -> io::Result<()> + Send + 'static,
    ) -> io::Result<()> {
        let path = self.path.clone();
        let run = async {
            let done = ::tokio::task::spawn_blocking(move || work(&path)).await;
            // As tokio words it where its runtime ends meanwhile.
            done.unwrap_or_else(|_| Err(io::Error::other("background task failed")))
        };
        self.run(operation, run).await
    }

    /// What reads or writes it as a whole.
    async fn transfer<T: crate::io::Transferred>(
        &self,
        operation: Operation,
        run: impl Future<Output = io::Result<T>>,
    ) -> io::Result<T> {
        let named = self.named();
        let result = pending::transfer(self.io(&named, operation), run).await?;
        // tokio has opened and closed it.
        record::closed(named.opened(self.instrument, &self.path));
        Ok(result)
    }
}

/// Functions of tokio's, as methods of [`Fs`] and as functions. The first argument is the path.
macro_rules! functions {
    ($(
        fn $name:ident<$($param:ident: $as:ty),*>($at:ident, $path:ident: $path_type:ty $(, $argument:ident: $type:ty)*) -> $result:ty $body:block
    )*) => {
        impl Fs {
            $(
                #[doc = concat!("See [`tokio::fs::", stringify!($name), "`].")]
                ///
                /// # Errors
                /// Those of tokio's.
                #[track_caller]
                pub fn $name<$($param: AsRef<$as>),*>(
                    &self,
                    $path: $path_type
                    $(, $argument: $type)*
                ) -> impl Future<Output = io::Result<$result>> + use<$($param),*> {
                    let (instrument, caller) = (self.instrument(), Some(Location::caller()));
                    async move {
                        let $at = PathCall { instrument, path: $path.as_ref().to_path_buf(), caller };
                        $body
                    }
                }
            )*
        }

        $(
            #[doc = concat!("See [`tokio::fs::", stringify!($name), "`].")]
            ///
            /// # Errors
            /// Those of tokio's.
            #[track_caller]
            pub fn $name<$($param: AsRef<$as>),*>(
                $path: $path_type
                $(, $argument: $type)*
            ) -> impl Future<Output = io::Result<$result>> {
                STD.$name($path $(, $argument)*)
            }
        )*
    };
}

/// Those that are one operation on one path.
macro_rules! operations {
    ($($name:ident($($argument:ident: $type:ty)?) -> $result:ty = $operation:ident;)*) => {
        functions! {
            $(
                fn $name<P: Path>(at, path: P $(, $argument: $type)?) -> $result {
                    at.run(Operation::$operation, ::tokio::fs::$name(&at.path $(, $argument)?)).await
                }
            )*
        }
    };
}

operations! {
    create_dir() -> () = MakeDirectory;
    create_dir_all() -> () = MakeDirectory;
    metadata() -> Metadata = Stat;
    symlink_metadata() -> Metadata = Stat;
    try_exists() -> bool = Stat;
    read_link() -> PathBuf = ReadLink;
    canonicalize() -> PathBuf = RealPath;
    set_permissions(perm: Permissions) -> () = ChangeMode;
}

functions! {
    fn read<P: Path>(at, path: P) -> Vec<u8> {
        at.transfer(Operation::Read, ::tokio::fs::read(&at.path)).await
    }

    fn read_to_string<P: Path>(at, path: P) -> String {
        at.transfer(Operation::Read, ::tokio::fs::read_to_string(&at.path)).await
    }

    fn write<P: Path, C: [u8]>(at, path: P, contents: C) -> () {
        let bytes = contents.as_ref().len();
        let write = ::tokio::fs::write(&at.path, contents);
        at.transfer(Operation::Write, async { write.await.map(|()| bytes) }).await.map(|_| ())
    }

    fn copy<P: Path, Q: Path>(at, from: P, to: Q) -> u64 {
        let to = at.other(to.as_ref());
        let copy = to.transfer(Operation::Write, ::tokio::fs::copy(&at.path, &to.path));
        at.transfer(Operation::Read, copy).await
    }

    fn rename<P: Path, Q: Path>(at, from: P, to: Q) -> () {
        let to = to.as_ref().to_path_buf();
        let rename = move |from: &Path| {
            std::fs::rename(from, &to)?;
            record::renamed(from, &to);
            Ok(())
        };
        at.run_blocking(Operation::Rename, rename).await
    }

    fn remove_file<P: Path>(at, path: P) -> () {
        let remove = |path: &Path| {
            std::fs::remove_file(path)?;
            record::deleted(path);
            Ok(())
        };
        at.run_blocking(Operation::Delete, remove).await
    }

    fn remove_dir<P: Path>(at, path: P) -> () {
        let remove = |path: &Path| {
            std::fs::remove_dir(path)?;
            record::deleted(path);
            Ok(())
        };
        at.run_blocking(Operation::RemoveDirectory, remove).await
    }

    fn remove_dir_all<P: Path>(at, path: P) -> () {
        let remove = |path: &Path| {
            let known = record::known_below(path);
            std::fs::remove_dir_all(path)?;
            record::folder_deleted(path, &known);
            Ok(())
        };
        at.run_blocking(Operation::RemoveDirectory, remove).await
    }

    fn hard_link<P: Path, Q: Path>(at, original: P, link: Q) -> () {
        let link = link.as_ref().to_path_buf();
        at.run(Operation::Link, ::tokio::fs::hard_link(&at.path, &link)).await
    }
}
