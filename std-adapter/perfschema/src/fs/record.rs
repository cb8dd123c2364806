//! How an operation on a file becomes a wait, and how the region comes to know the file.

use crate::instrument::Instrument;
use crate::process::process;
use crate::thread::with_actor;
use perfschema_core::{FileEvent, FileId, FileIo, Group, Held, IoEvent, Operation, Switches, Wait, WaitStart};
use perfschema_timer::SystemClock;
use std::io;
use std::panic::Location;
use std::path::Path;

/// Where in the program an operation is called; None where it is not called, as when a file is dropped.
pub(super) type Caller = Option<&'static Location<'static>>;

/// A reference to the file of a path, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Named(FileId);

impl Named {
    /// The file of the path, also while the instrument is off: what is opened then is known when it is switched on.
    pub(super) fn new(instrument: &'static Instrument, path: &Path) -> Named {
        let id = process().and_then(|process| {
            let class = instrument.class(process)?;
            process.region().refer_to_file(class, path.as_os_str().as_encoded_bytes())
        });
        Named(id.unwrap_or(FileId::NONE))
    }

    pub(super) fn id(&self) -> FileId {
        self.0
    }

    /// The file is open; the reference is the handle's now.
    pub(super) fn opened(self) -> FileId {
        let id = std::mem::ManuallyDrop::new(self).0;
        if let Some(process) = process().filter(|_| id != FileId::NONE) {
            process.region().file_opened(id);
        }
        id
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        if let Some(process) = process().filter(|_| self.0 != FileId::NONE) {
            process.region().release_file(self.0);
        }
    }
}

/// A handle more.
pub(super) fn opened_again(id: FileId) {
    if let Some(process) = process().filter(|_| id != FileId::NONE) {
        process.region().refer_again(id);
        process.region().file_opened(id);
    }
}

/// A handle less.
pub(super) fn closed(id: FileId) {
    if let Some(process) = process().filter(|_| id != FileId::NONE) {
        process.region().file_closed(id);
        process.region().release_file(id);
    }
}

pub(super) fn deleted(path: &Path) {
    if let Some(process) = process() {
        process.region().file_deleted(path.as_os_str().as_encoded_bytes());
    }
}

/// With all that was in it.
pub(super) fn folder_deleted(path: &Path) {
    if let Some(process) = process() {
        process.region().folder_deleted(path.as_os_str().as_encoded_bytes());
    }
}

pub(super) fn renamed(from: &Path, to: &Path) {
    if let Some(process) = process() {
        process.region().file_renamed(from.as_os_str().as_encoded_bytes(), to.as_os_str().as_encoded_bytes());
    }
}

/// An operation on a file, as it is before it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Io {
    pub(super) instrument: &'static Instrument,
    pub(super) file: FileId,
    pub(super) operation: Operation,
    /// Where in the file, if that is known.
    pub(super) offset: u64,
    /// How many bytes are asked for; None where there are none.
    pub(super) bytes: Option<u64>,
    pub(super) flags: u32,
    pub(super) caller: Caller,
}

impl Io {
    pub(super) fn new(instrument: &'static Instrument, file: FileId, operation: Operation, caller: Caller) -> Io {
        Io { instrument, file, operation, offset: 0, bytes: None, flags: 0, caller }
    }

    /// Runs what the operation is, and records it, the instrument being on. No bytes are meant.
    fn run<T>(&self, switches: Switches, operation: impl FnOnce() -> T) -> T {
        let waiting = self.begin(switches);
        let result = operation();
        drop(waiting);
        result
    }

    /// The same for what reads or writes: it returns how many bytes it did. An error counts as none.
    fn transfer(&self, switches: Switches, operation: impl FnOnce() -> io::Result<usize>) -> io::Result<usize> {
        let mut waiting = self.begin(switches);
        let result = operation();
        if let Some(waiting) = &mut waiting {
            waiting.wait.set_amount(amount(Some(result.as_ref().map_or(0, |bytes| *bytes as u64))));
        }
        drop(waiting);
        result
    }

    #[inline(always)]
    fn begin(&self, switches: Switches) -> Option<Waiting> {
        let wait = with_actor(|actor| {
            let file = actor.file(self.file);
            let start = WaitStart {
                operation: self.operation,
                object: self.offset,
                source: self.caller,
                amount: amount(self.bytes),
                io: IoEvent::File(FileEvent::new(file.as_ref(), self.flags)),
            };
            actor.begin(&SystemClock, switches, self.instrument.registered(), &start)
        })?;
        Some(Waiting { wait, file: self.file, group: self.operation.group() })
    }
}

/// Runs an operation, and records it if it is to be recorded; `io` says what it is, once it is.
#[inline(always)]
pub(super) fn run<T>(instrument: &'static Instrument, io: impl FnOnce() -> Io, operation: impl FnOnce() -> T) -> T {
    match instrument.on() {
        None => operation(),
        Some(switches) => io().run(switches, operation),
    }
}

/// The same for what reads or writes, and returns how many bytes it did.
#[inline(always)]
pub(super) fn transfer(
    instrument: &'static Instrument,
    io: impl FnOnce() -> Io,
    operation: impl FnOnce() -> io::Result<usize>,
) -> io::Result<usize> {
    match instrument.on() {
        None => operation(),
        Some(switches) => io().transfer(switches, operation),
    }
}

fn amount(bytes: Option<u64>) -> u64 {
    bytes.map_or(0, |bytes| bytes.saturating_add(1))
}

/// A wait that is being recorded. Ends when it is dropped, also by a panic.
struct Waiting {
    wait: Wait<'static>,
    file: FileId,
    group: Group,
}

impl Drop for Waiting {
    #[inline(always)]
    fn drop(&mut self) {
        with_actor(|actor| {
            let file = actor.file(self.file);
            actor.end(&SystemClock, self.wait, Held::File(FileIo { file, group: self.group }))
        });
    }
}
