//! How an operation on a file becomes a wait, and how the region comes to know the file.

use crate::instrument::Instrument;
pub(crate) use crate::io::Caller;
use crate::io::{FilePlace, Io as _, amount, transferred};
use crate::process::process;
use perfschema_core::{FileEvent, FileInstance, IoEvent, Operation, Switches, WaitStart};
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

/// A reference to the file of a path, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Named(FilePlace);

impl Named {
    /// The file of the path, also while the instrument is off: what is opened then is known when it is switched on.
    pub(crate) fn new(instrument: &'static Instrument, path: &Path) -> Named {
        Named(process().and_then(|process| {
            let class = instrument.class(process)?;
            process.region().refer_to(class, path.as_os_str().as_encoded_bytes())
        }))
    }

    pub(crate) fn file(&self) -> FilePlace {
        self.0
    }

    /// The file is open; the reference is the handle's now. Path and instrument are those that it was named by.
    pub(crate) fn opened(self, instrument: &'static Instrument, path: &Path) -> FilePlace {
        let file = self.keep();
        match (file, process()) {
            (Some(known), Some(_)) if !known.opened() => opened_anew(known, instrument, path),
            _ => file,
        }
    }

    /// The reference is somebody else's from now on.
    fn keep(self) -> FilePlace {
        std::mem::ManuallyDrop::new(self).0
    }
}

/// Another thread has deleted the file since it was named: before it was opened, if there is one of the path, which is another one then.
#[cold]
fn opened_anew(gone: FileInstance<'static>, instrument: &'static Instrument, path: &Path) -> FilePlace {
    if std::fs::symlink_metadata(path).is_err() {
        return Some(gone);
    }
    let Some(file) = Named::new(instrument, path).keep() else { return Some(gone) };
    file.opened();
    closed(Some(gone));
    Some(file)
}

impl Drop for Named {
    fn drop(&mut self) {
        if let Some((file, process)) = self.0.zip(process()) {
            process.region().release(file);
        }
    }
}

/// A handle more.
pub(crate) fn opened_again(file: FilePlace) {
    if let (Some(file), Some(_)) = (file, process()) {
        file.refer_again();
        file.opened();
    }
}

/// A handle less.
pub(crate) fn closed(file: FilePlace) {
    if let Some((file, process)) = file.zip(process()) {
        file.closed();
        process.region().release(file);
    }
}

/// A file, or an empty folder. If there is one of the name again, another thread has made it meanwhile, and may have it open: then the row
/// is that one's.
pub(crate) fn deleted(path: &Path) {
    if let Some(process) = process().filter(|_| std::fs::symlink_metadata(path).is_err()) {
        process.region().file_deleted(path.as_os_str().as_encoded_bytes());
    }
}

/// Files that the region knows in a folder that is about to be deleted, if its path is so long that the region could not tell them by it.
pub(crate) fn known_below(folder: &Path) -> Vec<PathBuf> {
    let mut known = Vec::new();
    each_known_below(folder, folder, |_, path| known.push(path));
    known
}

/// With all that was in it; `known`: as [`known_below`] had it before.
pub(crate) fn folder_deleted(path: &Path, known: &[PathBuf]) {
    if let Some(process) = process() {
        process.region().folder_deleted(path.as_os_str().as_encoded_bytes());
        known.iter().for_each(|path| deleted(path));
    }
}

/// Lists what is in the folder `now`, and shows what of it the region knows below `then`, if only by its whole path: under both names.
fn each_known_below(now: &Path, then: &Path, mut each: impl FnMut(&Path, PathBuf)) {
    let then_bytes = then.as_os_str().as_encoded_bytes();
    let Some(process) = process().filter(|process| process.region().may_hide_below(then_bytes)) else { return };
    // What joins itself with a slash must not end with one.
    let [now, then] = [now, then].map(|path| path.components().as_path());
    let mut folders = vec![now.to_owned()];
    while let Some(folder) = folders.pop() {
        // What cannot be listed cannot be deleted either.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(rest) = path.strip_prefix(now) else { continue };
            let known = then.join(rest);
            if process.region().has_file(known.as_os_str().as_encoded_bytes()) {
                each(&path, known);
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            }
        }
    }
}

/// The system has said so. What there is under the old name then is the same file, where both names are of one and the system has done
/// nothing, or another one that was made meanwhile.
pub(crate) fn renamed(from: &Path, to: &Path) {
    let Some(process) = process() else { return };
    let region = process.region();
    let (from_bytes, to_bytes) = (from.as_os_str().as_encoded_bytes(), to.as_os_str().as_encoded_bytes());
    match (std::fs::symlink_metadata(from), std::fs::symlink_metadata(to)) {
        // As nearly always. To look for what lies below would be to look at all files that are known.
        (Err(_), Ok(file)) if file.is_file() => region.regular_file_renamed(from_bytes, to_bytes),
        (Err(_), _) => {
            region.file_renamed(from_bytes, to_bytes);
            each_known_below(to, from, |path, known| {
                region.file_renamed(known.as_os_str().as_encoded_bytes(), path.as_os_str().as_encoded_bytes());
            });
        }
        (Ok(found), Ok(file)) if is_same(&file, &found) => {}
        (Ok(_), _) => region.file_deleted(to_bytes),
    }
}

#[cfg(unix)]
fn is_same(file: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (file.dev(), file.ino()) == (other.dev(), other.ino())
}

/// Nothing says so: that nobody has made the old name anew is the likelier.
#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// What the options of an open say that its wait shows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Opening {
    pub(crate) create: bool,
    pub(crate) create_new: bool,
    /// FLAGS, as the worklog has it: O_DIRECT, nothing else.
    pub(crate) flags: u32,
}

impl Opening {
    /// The program says which other flags of the system's are set.
    #[cfg(unix)]
    pub(crate) fn set_flags(&mut self, flags: i32) {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let shown = libc::O_DIRECT;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let shown = 0;
        self.flags = (flags & shown) as u32;
    }

    pub(crate) fn io(self, instrument: &'static Instrument, file: FilePlace, caller: Caller) -> Io {
        let operation = if self.create || self.create_new { Operation::Create } else { Operation::Open };
        Io { flags: self.flags, ..Io::new(instrument, file, operation, caller) }
    }
}

/// An operation on a file, as it is before it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Io {
    pub(crate) instrument: &'static Instrument,
    pub(crate) file: FilePlace,
    pub(crate) operation: Operation,
    /// Where in the file, if that is known.
    pub(crate) offset: u64,
    /// How many bytes are asked for; None where there are none.
    pub(crate) bytes: Option<u64>,
    pub(crate) flags: u32,
    pub(crate) caller: Caller,
}

impl Io {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(instrument: &'static Instrument, file: FilePlace, operation: Operation, caller: Caller) -> Io {
        Io { instrument, file, operation, offset: 0, bytes: None, flags: 0, caller }
    }

    /// Runs what the operation is, and records it, the instrument being on. No bytes are meant.
    #[cold]
    fn run<T>(&self, switches: Switches, operation: impl FnOnce() -> T) -> T {
        let Some(waiting) = self.begin(switches) else { return operation() };
        let result = operation();
        waiting.end(None);
        result
    }

    /// The same for what reads or writes: it returns how many bytes it did. An error counts as none.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn transfer(&self, switches: Switches, operation: impl FnOnce() -> io::Result<usize>) -> io::Result<usize> {
        let Some(waiting) = self.begin(switches) else { return operation() };
        let result = operation();
        waiting.end(Some(transferred(&result)));
        result
    }
}

impl crate::io::Io for Io {
    type Object = FilePlace;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn instrument(&self) -> &'static Instrument {
        self.instrument
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn object(&self) -> FilePlace {
        self.file
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn operation(&self) -> Operation {
        self.operation
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn start(&self) -> WaitStart {
        WaitStart {
            operation: self.operation,
            object: self.offset,
            source: self.caller,
            amount: amount(self.bytes),
            io: IoEvent::File(FileEvent::new(self.file.as_ref(), self.flags)),
        }
    }

    #[cfg(feature = "tokio")]
    fn transfers(&self) -> bool {
        matches!(self.operation, Operation::Read | Operation::Write)
    }

    #[cfg(feature = "tokio")]
    fn asked(&self) -> u64 {
        self.bytes.unwrap_or(0)
    }
}

/// Runs an operation, and records it if it is to be recorded; `io` says what it is, once it is.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn run<T>(instrument: &'static Instrument, io: impl FnOnce() -> Io, operation: impl FnOnce() -> T) -> T {
    match instrument.on() {
        None => operation(),
        Some(switches) => io().run(switches, operation),
    }
}

/// The same for what reads or writes, and returns how many bytes it did.
pub(crate) fn transfer(
    instrument: &'static Instrument,
    io: impl FnOnce() -> Io,
    operation: impl FnOnce() -> io::Result<usize>,
) -> io::Result<usize> {
    match instrument.on() {
        None => operation(),
        Some(switches) => io().transfer(switches, operation),
    }
}
