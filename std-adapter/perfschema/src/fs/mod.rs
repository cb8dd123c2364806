//! `std::fs`, instrumented: the same names, so that a `use` line is the whole change.
//!
//! Every call below records a wait: which file, how many bytes, how long, from which source line. Everything else is std's, also what
//! lists folders: [`read_dir`], [`DirEntry`], [`DirBuilder`]; and `try_clone`. Without the feature `instrument` all of it is std's.
//!
//! | what | operations recorded |
//! |---|---|
//! | [`File`], [`OpenOptions`] | `open`, `create`, `close`, `read`, `write`, `seek`, `tell`, `sync`, `stat`, `chsize`, `chmod`, `utime`, `lock`, `try_lock`, `read_lock`, `try_read_lock`, `unlock` |
//! | [`read()`], [`read_to_string()`], [`write()`] | those of the file that they open |
//! | [`copy`] | `read` of the one file, and within it `write` of the other, each of all bytes |
//! | [`rename`], [`remove_file`], [`hard_link`], [`read_link`] | `rename`, `delete`, `link`, `readlink` |
//! | [`create_dir`], [`create_dir_all`], [`remove_dir`], [`remove_dir_all`] | `mkdir`, `rmdir`: one, however many folders |
//! | [`metadata`], [`symlink_metadata`], [`exists`], [`canonicalize`], [`set_permissions`] | `stat`, `realpath`, `chmod` |
//!
//! A file is known by its path as the program gave it. Its instrument is `wait/io/file/std/File`; [`fs!`](crate::fs!) makes an [`Fs`] with
//! an instrument of its own, which has all of the above as methods. A file that was opened before the performance schema was started, or
//! came from a descriptor, has no path: its waits count by instrument.
//!
//! A file that is deleted here has no row any more, one that is renamed keeps its counters under the new name, and so do all those below
//! a folder that is deleted or renamed here: those whose paths, as the program gave them, begin with the folder's. Where
//! `remove_dir_all` fails half way, the rows stay. What others do, and what is done to the same folder by another name, does not show. Where
//! a file of the name is there again by the time that it is looked for, because another thread has made it meanwhile, the row is that one's.
//! A file that is renamed to its own name in other letters, where letter case is none, keeps its row under the old one.
//!
//! What was read before an error counts; of a [`copy`] that fails std does not say how much it was.
//!
//! SOURCE is the line of the call, also where std makes several operations of it, as of `write_all`. What std's readers and writers call in
//! the program's place, such as `BufReader`, has a line of theirs.
//!
//! What std has and this cannot: `Read`, `Write` and `Seek` for `Arc<File>` (for `&File` they are here), and `IsTerminal`. `std::io::copy`
//! between two of std's files leaves the copying to the system; between these it reads and writes. `is_write_vectored` is std's own: a
//! `BufWriter` around a file of ours takes the buffers of a `write_vectored` one by one. And std's files are read into memory
//! that nobody has written yet, also through std's adapters: through these, such as `Read::take`, a `read_to_end` of a file of ours first
//! fills it with zeros (0.1 ms a MB), because a type outside of std cannot say that it need not. `File::read_to_end` itself does as std's.

#[cfg(feature = "instrument")]
mod file;
#[cfg(feature = "instrument")]
pub(crate) mod record;

#[cfg(feature = "instrument")]
pub use file::{File, OpenOptions};
#[expect(deprecated, reason = "who uses it finds it")]
pub use std::fs::soft_link;
pub use std::fs::{DirBuilder, DirEntry, FileTimes, FileType, Metadata, Permissions, ReadDir, TryLockError, read_dir};
#[cfg(not(feature = "instrument"))]
pub use std::fs::{File, OpenOptions};

#[cfg(feature = "instrument")]
use crate::instrument::Instrument;
#[cfg(feature = "instrument")]
use perfschema_core::InstrumentKind;
use perfschema_core::Operation;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

#[cfg(feature = "instrument")]
pub(crate) static DEFAULT: Instrument = Instrument::new("wait/io/file/std/File");
#[cfg(feature = "instrument")]
static STD: Fs = Fs::with_instrument(&DEFAULT);
#[cfg(not(feature = "instrument"))]
static STD: Fs = Fs::new();

/// The functions of this module with an instrument of their own; made by [`fs!`](crate::fs!), also in a `static`.
///
/// ```
/// use perfschema::fs::Fs;
/// static CONFIGURATION: Fs = perfschema::fs!("wait/io/file/app/configuration");
/// let text = CONFIGURATION.read_to_string("Cargo.toml")?;
/// assert!(text.contains("[package]"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Fs {
    #[cfg(feature = "instrument")]
    pub(crate) instrument: &'static Instrument,
}

#[cfg(feature = "instrument")]
impl Fs {
    /// Operations that are recorded by `instrument`, a `wait/io/file/…`. In a `static` or at run time: a `const` cannot look at a `static`,
    /// and has [`fs!`](crate::fs!).
    ///
    /// # Panics
    /// If the instrument is of another kind; in a `static`, that is a compile error.
    ///
    /// ```compile_fail
    /// use perfschema::{Instrument, fs::Fs};
    /// static INSTRUMENT: Instrument = Instrument::new("wait/io/socket/app/index");
    /// static INDEX: Fs = Fs::with_instrument(&INSTRUMENT);
    /// ```
    pub const fn with_instrument(instrument: &'static Instrument) -> Fs {
        crate::__check_kind(instrument.kind(), InstrumentKind::File);
        Fs { instrument }
    }

    // For fs!, which has looked at the name.
    #[doc(hidden)]
    pub const fn __of(instrument: &'static Instrument) -> Fs {
        Fs { instrument }
    }

    /// See [`std::fs::OpenOptions::new`].
    pub fn options(&self) -> OpenOptions {
        OpenOptions::of(self.instrument)
    }

    /// Runs an operation on a path, and records it.
    #[track_caller]
    fn run<T>(&self, path: &Path, operation: Operation, run: impl FnOnce() -> T) -> T {
        let named = record::Named::new(self.instrument, path);
        let caller = Some(std::panic::Location::caller());
        record::run(self.instrument, || record::Io::new(self.instrument, named.file(), operation, caller), run)
    }

    #[track_caller]
    fn run_copy(&self, from: &Path, to: &Path) -> io::Result<u64> {
        let caller = Some(std::panic::Location::caller());
        let [read, written] = [from, to].map(|path| record::Named::new(self.instrument, path));
        let io = |named: &record::Named, operation| {
            let file = named.file();
            move || record::Io::new(self.instrument, file, operation, caller)
        };
        let mut bytes = 0;
        let copy = || {
            bytes = std::fs::copy(from, to)?;
            // More than an address space only where there are 32 bits, and then in the figures alone.
            Ok(usize::try_from(bytes).unwrap_or(usize::MAX))
        };
        let write = || record::transfer(self.instrument, io(&written, Operation::Write), copy);
        record::transfer(self.instrument, io(&read, Operation::Read), write)?;
        // std has opened and closed both.
        for (named, path) in [(read, from), (written, to)] {
            record::closed(named.opened(self.instrument, path));
        }
        Ok(bytes)
    }
}

#[cfg(not(feature = "instrument"))]
impl Fs {
    #[doc(hidden)]
    pub const fn new() -> Fs {
        Fs {}
    }

    /// See [`std::fs::OpenOptions::new`].
    pub fn options(&self) -> OpenOptions {
        OpenOptions::new()
    }

    fn run<T>(&self, _: &Path, _: Operation, run: impl FnOnce() -> T) -> T {
        run()
    }

    fn run_copy(&self, from: &Path, to: &Path) -> io::Result<u64> {
        std::fs::copy(from, to)
    }
}

/// Nothing to be told where nothing is recorded.
#[cfg(not(feature = "instrument"))]
mod record {
    use std::path::{Path, PathBuf};
    pub(super) fn deleted(_: &Path) {}
    pub(super) fn known_below(_: &Path) -> [PathBuf; 0] {
        []
    }
    pub(super) fn folder_deleted(_: &Path, _: &[PathBuf]) {}
    pub(super) fn renamed(_: &Path, _: &Path) {}
}

impl Fs {
    /// See [`std::fs::File::open`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn open<P: AsRef<Path>>(&self, path: P) -> io::Result<File> {
        self.options().read(true).open(path)
    }

    /// See [`std::fs::File::create`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn create<P: AsRef<Path>>(&self, path: P) -> io::Result<File> {
        self.options().write(true).create(true).truncate(true).open(path)
    }

    /// See [`std::fs::File::create_new`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn create_new<P: AsRef<Path>>(&self, path: P) -> io::Result<File> {
        self.options().read(true).write(true).create_new(true).open(path)
    }
}

/// Functions of std, as methods of [`Fs`] and as functions.
macro_rules! functions {
    ($(
        fn $name:ident<$($param:ident: $as:ty),*>($self:ident, $($argument:ident: $type:ty),*) -> $result:ty $body:block
    )*) => {
        impl Fs {
            $(
                #[doc = concat!("See [`std::fs::", stringify!($name), "`].")]
                ///
                /// # Errors
                /// Those of std's.
                #[track_caller]
                pub fn $name<$($param: AsRef<$as>),*>(&$self, $($argument: $type),*) -> io::Result<$result> $body
            )*
        }

        $(
            #[doc = concat!("See [`std::fs::", stringify!($name), "`].")]
            ///
            /// # Errors
            /// Those of std's.
            #[track_caller]
            pub fn $name<$($param: AsRef<$as>),*>($($argument: $type),*) -> io::Result<$result> {
                STD.$name($($argument),*)
            }
        )*
    };
}

/// Those that are one operation on one path.
macro_rules! operations {
    ($($name:ident($($argument:ident: $type:ty)?) -> $result:ty = $operation:ident;)*) => {
        functions! {
            $(
                fn $name<P: Path>(self, path: P $(, $argument: $type)?) -> $result {
                    self.run(path.as_ref(), Operation::$operation, || std::fs::$name(path.as_ref() $(, $argument)?))
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
    exists() -> bool = Stat;
    read_link() -> PathBuf = ReadLink;
    canonicalize() -> PathBuf = RealPath;
    set_permissions(perm: Permissions) -> () = ChangeMode;
}

functions! {
    fn read<P: Path>(self, path: P) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.open(path)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn read_to_string<P: Path>(self, path: P) -> String {
        let mut text = String::new();
        self.open(path)?.read_to_string(&mut text)?;
        Ok(text)
    }

    fn write<P: Path, C: [u8]>(self, path: P, contents: C) -> () {
        self.create(path)?.write_all(contents.as_ref())
    }

    fn copy<P: Path, Q: Path>(self, from: P, to: Q) -> u64 {
        self.run_copy(from.as_ref(), to.as_ref())
    }

    fn rename<P: Path, Q: Path>(self, from: P, to: Q) -> () {
        self.run(from.as_ref(), Operation::Rename, || std::fs::rename(from.as_ref(), to.as_ref()))?;
        record::renamed(from.as_ref(), to.as_ref());
        Ok(())
    }

    fn remove_file<P: Path>(self, path: P) -> () {
        self.run(path.as_ref(), Operation::Delete, || std::fs::remove_file(path.as_ref()))?;
        record::deleted(path.as_ref());
        Ok(())
    }

    fn remove_dir<P: Path>(self, path: P) -> () {
        self.run(path.as_ref(), Operation::RemoveDirectory, || std::fs::remove_dir(path.as_ref()))?;
        record::deleted(path.as_ref());
        Ok(())
    }

    fn remove_dir_all<P: Path>(self, path: P) -> () {
        let known = record::known_below(path.as_ref());
        self.run(path.as_ref(), Operation::RemoveDirectory, || std::fs::remove_dir_all(path.as_ref()))?;
        record::folder_deleted(path.as_ref(), &known);
        Ok(())
    }

    fn hard_link<P: Path, Q: Path>(self, original: P, link: Q) -> () {
        self.run(original.as_ref(), Operation::Link, || std::fs::hard_link(original.as_ref(), link.as_ref()))
    }
}
