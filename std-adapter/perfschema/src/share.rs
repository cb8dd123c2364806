//! The region in shared memory, where another process can read it: also while this one is stopped, and after it has died.
//!
//! ```text
//! /dev/shm/perfschema-<uid>/          mode 0700, the user's own
//!     <pid>-<start in ns since 1970>  mode 0600, one for each process; stays when the process ends, see remove_oldest_files()
//! ```
//! A file has no name while its region is being made, so a reader finds either no region or a whole one, and a child that only forks to
//! run another program leaves none behind. All its memory is reserved at once: a file system that is full is an error here, and not the
//! death of the program at its first touch of a page.
//!
//! Whether its process still runs is asked of the file: a lock (`flock`) is held on it by the mapping, until nobody has that any more. That
//! holds whatever becomes of descriptors, and for readers who may not look at the process, or count processes by other numbers.

use perfschema_core::{Now, Region, RegionError, Text, Word};
use std::fmt::{self, Write};
use std::fs::{File, OpenOptions};
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// In whose directory the process's file has its name. Whoever the process is later, it stays there. Relaxed: it is written before the
/// process is known to others, and by a child as it names its own; a thread that asks meanwhile hears of its parent's.
static NAMED_BY: AtomicU32 = AtomicU32::new(0);

/// Why a region could not be put into shared memory. The program records in memory of its own instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShareError {
    /// The directory is a link or a file, belongs to somebody else, or is open to others.
    Directory,
    /// The system refused something.
    System {
        /// The call that failed.
        call: &'static str,
        /// What it said.
        errno: i32,
    },
}

impl fmt::Display for ShareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShareError::Directory => {
                write!(
                    f,
                    "{} is not a directory of this user alone; set its mode to 0700, or have its owner or root remove it",
                    directory()
                )
            }
            // By way of it a file gets its name.
            ShareError::System { call: "linkat", errno: libc::ENOENT } if !Path::new("/proc/self/fd").exists() => {
                write!(f, "linkat in {}: /proc is not mounted", directory())
            }
            ShareError::System { call: "open", errno: libc::EACCES } => {
                write!(f, "{} is not for this user to open; set its mode to 0700", directory())
            }
            // Asked whether the program may be dumped.
            ShareError::System { call: "prctl", errno: libc::EPERM } => {
                write!(f, "the program has rights that user {} has not, who could read its tables then", user())
            }
            // Asked whether the mapping holds the lock.
            ShareError::System { call: "flock", errno: libc::EOPNOTSUPP } => {
                write!(f, "{} is on a file system that lies over another one; mount a tmpfs at /dev/shm", directory())
            }
            ShareError::System { call, errno } => {
                write!(f, "{call} in {}: {}", directory(), std::io::Error::from_raw_os_error(*errno))
            }
        }
    }
}

impl std::error::Error for ShareError {}

fn failed(call: &'static str) -> ShareError {
    // SAFETY: the calling thread's own errno.
    ShareError::System { call, errno: unsafe { *libc::__errno_location() } }
}

/// Where the files of this user are.
fn directory() -> Text<64> {
    directory_of(user())
}

fn directory_of(user: libc::uid_t) -> Text<64> {
    let mut path = Text::EMPTY;
    let _ = write!(path, "/dev/shm/perfschema-{user}");
    path
}

fn user() -> libc::uid_t {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// The file of this process, once it is [published](publish).
pub(crate) fn file_path(pid: u32, start_unix_ns: u64) -> PathBuf {
    PathBuf::from(directory_of(NAMED_BY.load(Ordering::Relaxed)).as_str()).join(format!("{pid}-{start_unix_ns}"))
}

/// A text as C wants it. It is one of the short ones made here, so the zero finds room.
fn c_string(text: impl fmt::Display) -> Text<128> {
    let mut c = Text::EMPTY;
    let _ = write!(c, "{text}\0");
    c
}

// What follows is called by a forked child, too, and keeps to what is allowed there: system calls, no allocation.

/// Memory in a file that has no name yet.
#[derive(Debug)]
pub(crate) struct Unnamed {
    pub(crate) words: &'static [Word],
    pub(crate) file: OwnedFd,
}

impl Unnamed {
    /// Zeroed memory that is never given back.
    pub(crate) fn new(words: usize) -> Result<Unnamed, ShareError> {
        if owner_has_fewer_rights() {
            return Err(ShareError::System { call: "prctl", errno: libc::EPERM });
        }
        let directory = open_directory()?;
        let flags = libc::O_TMPFILE | libc::O_RDWR | libc::O_CLOEXEC;
        // SAFETY: the path ends with a zero, the descriptor is open.
        let file = unsafe { libc::openat(directory.as_raw_fd(), c".".as_ptr(), flags, 0o600) };
        let file = owned(file).ok_or_else(|| failed("open"))?;
        // Whatever mask the program has for what it makes.
        // SAFETY: the descriptor is open.
        if unsafe { libc::fchmod(file.as_raw_fd(), 0o600) } != 0 {
            return Err(failed("fchmod"));
        }
        if lock(&file, libc::LOCK_EX) != 0 {
            return Err(failed("flock"));
        }
        let bytes = words.saturating_mul(size_of::<Word>());
        if bytes as u64 > file_size_limit() {
            // The system would say so with a signal that ends the program.
            return Err(ShareError::System { call: "fallocate", errno: libc::EFBIG });
        }
        reserve(&file, bytes)?;
        let words = map(words, libc::MAP_SHARED, Some(file.as_raw_fd())).ok_or_else(|| failed("mmap"))?;
        match locked_by_mapping(file) {
            Ok(file) => Ok(Unnamed { words, file }),
            Err(error) => {
                unmap(words);
                Err(error)
            }
        }
    }
}

/// Whether the file would be somebody's who may not look into the program's memory otherwise, nor stop it by making a file shorter: who runs a program that
/// is setgid, has capabilities of its file, or is setuid and has gone back to that user; and whom a program has become that can become another user again.
fn owner_has_fewer_rights() -> bool {
    let (mut real, mut effective, mut saved) = (0, 0, 0);
    // SAFETY: three places to write to.
    if unsafe { libc::getresuid(&raw mut real, &raw mut effective, &raw mut saved) } != 0 {
        return false;
    }
    let can_become_another = effective != 0 && (saved != effective || real == 0);
    // SAFETY: the call reads what the kernel has told the program at its start.
    let runs_it = unsafe { libc::getauxval(libc::AT_UID) } == libc::c_ulong::from(effective);
    // SAFETY: the call takes numbers. 1: whoever has started the program may look into it.
    let is_closed = || unsafe { libc::prctl(libc::PR_GET_DUMPABLE) } != 1;
    !cfg!(miri) && effective != 0 && (can_become_another || runs_it && is_closed())
}

/// How many bytes are reserved at once: so few that hardly a signal comes meanwhile.
const RESERVED_AT_ONCE: usize = 1 << 18;

/// Reserves so many bytes of memory for the file. In pieces: until Linux 6.10 a signal ends the call of a tmpfs, and takes back what that has reserved so
/// far. A program whose timer goes off every few milliseconds would not get all of it at once, however often it tries.
fn reserve(file: &OwnedFd, bytes: usize) -> Result<(), ShareError> {
    let mut at = 0;
    while at < bytes {
        let piece = RESERVED_AT_ONCE.min(bytes - at);
        // SAFETY: the descriptor is open.
        if unsafe { libc::fallocate64(file.as_raw_fd(), 0, at as libc::off64_t, piece as libc::off64_t) } == 0 {
            at += piece;
            continue;
        }
        match failed("fallocate") {
            ShareError::System { errno: libc::EINTR, .. } => {}
            error => return Err(error),
        }
    }
    Ok(())
}

/// Another descriptor of a file that is locked and mapped, in place of the first: so it is the mapping that holds the lock. On a file system that lies
/// over another one (overlayfs) a mapping is of the file below, and holds nothing: everybody would take the program for one that has ended.
fn locked_by_mapping(file: OwnedFd) -> Result<OwnedFd, ShareError> {
    let path = c_string(format_args!("/proc/self/fd/{}", file.as_raw_fd()));
    // SAFETY: the path ends with a zero.
    let again = owned(unsafe { libc::open(path.as_str().as_ptr().cast(), libc::O_RDWR | libc::O_CLOEXEC) });
    let Some(again) = again else {
        return match failed("open") {
            error @ ShareError::System { errno: libc::EMFILE | libc::ENFILE, .. } => Err(error),
            // Without /proc the file gets no name either, which is said then.
            _ => Ok(file),
        };
    };
    drop(file);
    if is_locked(&again) { Ok(again) } else { Err(ShareError::System { call: "flock", errno: libc::EOPNOTSUPP }) }
}

/// Takes a lock on the file, or gives it up; does not wait for one.
fn lock(file: &impl AsRawFd, operation: libc::c_int) -> libc::c_int {
    // SAFETY: the descriptor is open.
    unsafe { libc::flock(file.as_raw_fd(), operation | libc::LOCK_NB) }
}

/// The largest file that the process may write, in bytes: `ulimit -f`.
fn file_size_limit() -> u64 {
    let mut limit = libc::rlimit64 { rlim_cur: u64::MAX, rlim_max: u64::MAX };
    // SAFETY: `limit` is a place to write to. If the call fails, there is no limit.
    unsafe { libc::getrlimit64(libc::RLIMIT_FSIZE, &raw mut limit) };
    limit.rlim_cur
}

/// Which file a descriptor is open on.
pub(crate) fn identity(descriptor: RawFd) -> Option<(u64, u64)> {
    // SAFETY: zeros are a value of this plain structure, and the call fills it.
    let mut found: libc::stat64 = unsafe { std::mem::zeroed() };
    // SAFETY: `found` is a place to write to; a descriptor that is not open is an error.
    (unsafe { libc::fstat64(descriptor, &raw mut found) } == 0).then_some((found.st_dev, found.st_ino))
}

/// Gives the file the name under which readers look for it: the region in it is whole. An existing file is never replaced.
pub(crate) fn publish(file: &OwnedFd, pid: u32, start_unix_ns: u64) -> Result<(), ShareError> {
    let directory = open_directory()?;
    let file = c_string(format_args!("/proc/self/fd/{}", file.as_raw_fd()));
    let name = c_string(format_args!("{pid}-{start_unix_ns}"));
    let (file, name) = (file.as_str().as_ptr().cast(), name.as_str().as_ptr().cast());
    // SAFETY: both texts end with a zero, the descriptor is open.
    let result = unsafe { libc::linkat(libc::AT_FDCWD, file, directory.as_raw_fd(), name, libc::AT_SYMLINK_FOLLOW) };
    if result != 0 {
        return Err(failed("linkat"));
    }
    NAMED_BY.store(user(), Ordering::Relaxed);
    Ok(())
}

/// Opens the directory, made if it is missing.
fn open_directory() -> Result<OwnedFd, ShareError> {
    let path = c_string(directory());
    // SAFETY: the path ends with a zero.
    let made = if unsafe { libc::mkdir(path.as_str().as_ptr().cast(), 0o700) } == 0 { Ok(()) } else { Err(failed("mkdir")) };
    if made.is_ok() {
        // Whatever mask the program has. Nobody else can put another one in its place: see own_directory().
        // SAFETY: the path ends with a zero.
        unsafe { libc::chmod(path.as_str().as_ptr().cast(), 0o700) };
    }
    own_directory().map_err(|error| match error {
        // It is not there: why not is the first question.
        ShareError::System { errno: libc::ENOENT, .. } if let Err(error) = made => error,
        other => other,
    })
}

/// Opens the directory, and makes sure that nobody else can put anything into it: anybody can make one of that name, before the user does.
/// From then on it stays what it is, because nobody else can rename or remove it in `/dev/shm`.
fn own_directory() -> Result<OwnedFd, ShareError> {
    let path = c_string(directory());
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: the path ends with a zero.
    let directory = owned(unsafe { libc::open(path.as_str().as_ptr().cast(), flags) }).ok_or_else(|| match failed("open") {
        ShareError::System { errno: libc::ENOTDIR | libc::ELOOP, .. } => ShareError::Directory,
        other => other,
    })?;
    // SAFETY: zeros are a value of this plain structure, and the call fills it.
    let mut found: libc::stat64 = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open, `found` a place to write to.
    if unsafe { libc::fstat64(directory.as_raw_fd(), &raw mut found) } != 0 {
        return Err(failed("fstat"));
    }
    let own = found.st_uid == user() && found.st_mode & 0o077 == 0;
    if own { Ok(directory) } else { Err(ShareError::Directory) }
}

/// What was just opened, or why not is in errno. Never under one of the first three numbers: a program that has closed those writes there what it
/// prints.
fn owned(descriptor: RawFd) -> Option<OwnedFd> {
    // SAFETY: the descriptor was just opened by the caller, who has no other use for it.
    let own = |descriptor: RawFd| (descriptor >= 0).then(|| unsafe { OwnedFd::from_raw_fd(descriptor) });
    let first = own(descriptor)?;
    if descriptor > libc::STDERR_FILENO {
        return Some(first);
    }
    // SAFETY: the descriptor is open.
    own(unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, libc::STDERR_FILENO + 1) })
}

/// Maps memory: of the file, or of nothing.
fn map(words: usize, flags: libc::c_int, file: Option<RawFd>) -> Option<&'static [Word]> {
    let bytes = words.checked_mul(size_of::<Word>()).filter(|bytes| *bytes > 0)?;
    let descriptor = file.unwrap_or(-1);
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping where the system has room for one; no memory of the program is touched.
    let memory = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, descriptor, 0) };
    // SAFETY: the mapping is as long as that, page-aligned, and stays until whoever asked for it unmaps it. Any bits are a Word, an atomic.
    (memory != libc::MAP_FAILED).then(|| unsafe { std::slice::from_raw_parts(memory.cast(), words) })
}

/// Memory of the process's own that has no file.
pub(crate) fn anonymous(words: usize) -> Option<&'static [Word]> {
    map(words, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE, None)
}

pub(crate) fn unmap(words: &'static [Word]) {
    // SAFETY: the whole of a mapping made by `map`, whose caller uses it no more.
    unsafe { libc::munmap(words.as_ptr().cast_mut().cast(), size_of_val(words)) };
}

/// Puts zeros in the place of memory that was mapped by `map`, where there is no memory for anything else: they need none until they are
/// written. In a forked child, whose only thread calls this.
pub(crate) fn put_zeros_in_place(place: &'static [Word]) {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
    let (at, bytes) = (place.as_ptr().cast_mut().cast(), size_of_val(place));
    // SAFETY: a whole mapping of this length. References to it stay valid: they are of atomics, which may change at any time. If the call
    // fails, all is as it was.
    unsafe { libc::mmap(at, bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
}

/// Puts memory in the place of other memory of the same length, both mapped by `map`. In a forked child, whose only thread calls this.
pub(crate) fn put_in_place(words: &'static [Word], place: &'static [Word]) -> bool {
    let (from, to) = (words.as_ptr().cast_mut().cast(), place.as_ptr().cast_mut().cast::<libc::c_void>());
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // SAFETY: both are whole mappings of this length. References to `place` stay valid: they are of atomics, which may change at any time.
    unsafe { libc::mremap(from, size_of_val(words), size_of_val(place), flags, to) != libc::MAP_FAILED }
}

/// Reads what the file has here, until the words are full or it ends.
pub(crate) fn read_words(file: &File, at: u64, words: &[Word]) -> std::io::Result<()> {
    let (memory, bytes) = (words.as_ptr().cast_mut().cast::<libc::c_void>(), size_of_val(words));
    let mut count = 0;
    while count < bytes {
        let from = libc::off64_t::try_from(at + count as u64).unwrap_or(libc::off64_t::MAX);
        // SAFETY: the rest of the words, which are atomics: they may change while there are references to them, and any bits are one.
        match unsafe { libc::pread64(file.as_raw_fd(), memory.byte_add(count), bytes - count, from) } {
            0 => break,
            read @ 1.. => count += read.cast_unsigned(),
            _ => match std::io::Error::last_os_error() {
                error if error.kind() == std::io::ErrorKind::Interrupted => {}
                error => return Err(error),
            },
        }
    }
    Ok(())
}

/// The file of a program that shares its region, or did; see [`shared_files`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedFile {
    path: PathBuf,
    pid: u32,
    start_unix_ns: u64,
}

impl SharedFile {
    /// What is at this path, be it there or not, if that is how programs call their files: `PID-START`.
    ///
    /// ```
    /// let file = perfschema::SharedFile::at("/dev/shm/perfschema-1000/17694-1764520000000000000").unwrap();
    /// assert_eq!((file.pid(), file.start_unix_ns()), (17694, 1764520000000000000));
    /// assert_eq!(perfschema::SharedFile::at("./core"), None);
    /// ```
    pub fn at(path: impl Into<PathBuf>) -> Option<SharedFile> {
        let path = path.into();
        let (pid, start) = path.file_name()?.to_str()?.split_once('-')?;
        let (pid, start_unix_ns) = (pid.parse().ok()?, start.parse().ok()?);
        Some(SharedFile { path, pid, start_unix_ns })
    }

    /// Where it is: for [`attach`].
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// When its region was made, in nanoseconds since 1970.
    pub fn start_unix_ns(&self) -> u64 {
        self.start_unix_ns
    }

    /// Whether the process still has the file in its memory. A process that came later by the same number has not. What cannot be found out
    /// is taken for true.
    pub fn is_in_use(&self) -> bool {
        match open_file(&self.path, OpenOptions::new().read(true), Links::Refuse) {
            Ok(file) => is_locked(&file),
            // Nobody has a link or a socket in memory, nor what is not there.
            Err(error) => !matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ELOOP | libc::ENXIO)),
        }
    }

    /// The program's name, also where its region has a layout that [`attach`](Self::attach) refuses, that of another version. None if there is no region
    /// in the file, or no file any more.
    pub fn program(&self) -> Option<Text<128>> {
        let file = open_file(&self.path, OpenOptions::new().read(true), Links::Refuse).ok()?;
        let words = [const { Word::new(0) }; Region::IDENTITY_WORDS];
        read_words(&file, 0, &words).ok()?;
        Region::program_of(&words)
    }

    /// As [`attach()`], but to nothing else than a program's shared file, or a copy of one: a link is not followed, and what does not begin with a
    /// region is not searched for one.
    ///
    /// # Errors
    /// [`AttachError`]: there is no such file any more, or what is in it is no region.
    ///
    /// ```
    /// for file in perfschema::shared_files()? {
    ///     if let Ok(attached) = file.attach() {
    ///         println!("{} {}", file.pid(), attached.region().program());
    ///     }
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn attach(&self) -> Result<Attached, AttachError> {
        attach_to(&self.path, Links::Refuse)
    }
}

/// Whether the process that made the file still has it in its memory.
fn is_locked(file: &impl AsRawFd) -> bool {
    // Shared, so that those who ask at the same moment do not take each other for it.
    let is_locked = lock(file, libc::LOCK_SH) != 0;
    if !is_locked {
        lock(file, libc::LOCK_UN);
    }
    is_locked
}

/// Opens a file, not waiting for the other end of a pipe.
fn open_file(path: &Path, options: &OpenOptions, links: Links) -> std::io::Result<File> {
    let links = if links == Links::Refuse { libc::O_NOFOLLOW } else { 0 };
    options.clone().custom_flags(links | libc::O_NONBLOCK | libc::O_CLOEXEC).open(path)
}

/// What to do with a link that has the name of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    /// What it leads to is meant.
    Follow,
    /// It is none of the files that programs make.
    Refuse,
}

/// Where in the first `end` bytes of the file there is something from here on; None if nothing but a hole follows. What the file system does
/// not tell from holes is something.
pub(crate) fn extent(file: &File, from: u64, end: u64) -> Option<Range<u64>> {
    if from >= end {
        return None;
    }
    let seek = |from: u64, whence| {
        let from = libc::off64_t::try_from(from).unwrap_or(libc::off64_t::MAX);
        // SAFETY: the descriptor is open. Nobody uses its position.
        u64::try_from(unsafe { libc::lseek64(file.as_raw_fd(), from, whence) })
    };
    let begin = match seek(from, libc::SEEK_DATA) {
        Ok(begin) => begin,
        Err(_) if std::io::Error::last_os_error().raw_os_error() == Some(libc::ENXIO) => return None,
        Err(_) => return Some(from..end),
    };
    (begin < end).then(|| begin..seek(begin, libc::SEEK_HOLE).unwrap_or(end).clamp(begin + 1, end))
}

/// The files of all programs of this user that share their region, or did until they ended, oldest first.
///
/// # Errors
/// If the directory is there and cannot be read, or others can put something into it: what they put there is nothing to attach to.
///
/// ```
/// for file in perfschema::shared_files()? {
///     println!("{} {}", file.pid(), if file.is_in_use() { "runs" } else { "has ended" });
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn shared_files() -> std::io::Result<Vec<SharedFile>> {
    match own_directory() {
        Ok(_) => {}
        Err(ShareError::System { errno: libc::ENOENT, .. }) => return Ok(Vec::new()),
        Err(error @ ShareError::System { errno, .. }) => {
            return Err(std::io::Error::new(std::io::Error::from_raw_os_error(errno).kind(), error));
        }
        Err(error @ ShareError::Directory) => return Err(std::io::Error::new(std::io::ErrorKind::PermissionDenied, error)),
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory().as_str())? {
        // What has another name is not ours.
        files.extend(SharedFile::at(entry?.path()));
    }
    files.sort_by_key(|file| (file.start_unix_ns, file.pid));
    Ok(files)
}

/// What part of all shared memory the files may keep that a program has left in earlier runs; and how many of them may in any case.
const KEPT_PART: u64 = 4;
const KEPT_FILES: usize = 4;

/// Removes the oldest files that runs of this program have left: what starts again and again, as where it crashes each time, is not to fill the
/// machine's memory. There is room for so many bytes then, if the last file leaves it. What cannot be read, or removed, stays.
pub(crate) fn remove_oldest_files(program: &str, bytes: usize) {
    let Some(Room { all, mut free }) = room() else { return };
    let program = Text::<128>::from(program);
    let ended = shared_files().unwrap_or_default().into_iter().filter(|file| !file.is_in_use());
    // Those of another version of this crate, too: the program may have been built anew.
    let of_program = |file: &SharedFile| {
        let is_its = file.program()? == program;
        std::fs::symlink_metadata(file.path()).ok().filter(|_| is_its).map(|metadata| metadata.len())
    };
    let files: Vec<_> = ended.filter_map(|file| Some((of_program(&file)?, file))).collect();
    let mut kept: u64 = files.iter().map(|(bytes, _)| bytes).sum();
    for (index, (of_file, file)) in files.iter().enumerate() {
        let left = files.len() - index;
        if left == 1 || !(left > KEPT_FILES && kept > all / KEPT_PART || free < bytes as u64) {
            break;
        }
        if std::fs::remove_file(file.path()).is_ok() {
            kept -= of_file;
            free += of_file;
        }
    }
}

/// Bytes of shared memory.
struct Room {
    /// Used or not.
    all: u64,
    free: u64,
}

/// None if the system does not say, or sets no limit.
fn room() -> Option<Room> {
    let path = c_string(directory());
    // SAFETY: zeros are a value of this plain structure, and the call fills it.
    let mut found: libc::statvfs64 = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with a zero, `found` is a place to write to.
    let is_known = unsafe { libc::statvfs64(path.as_str().as_ptr().cast(), &raw mut found) } == 0;
    // Of 32 bits, on processors that are.
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize as u64);
    is_known.then(|| Room { all: bytes(found.f_blocks), free: bytes(found.f_bavail) }).filter(|room| room.all > 0)
}

/// Another process's region, or that of a process that has died: its shared memory, opened.
///
/// Tables read it as they read one's own, live. Changes of the setup are the other process's at once.
///
/// A file that its owner makes shorter while it is open here ends the reading process (SIGBUS), and the program whose it is: whoever may do
/// that may end the reader anyway, unless that is another user's.
pub struct Attached {
    words: &'static [Word],
    // Of the words, so it is only given out for as long as `self` lives.
    region: Region<'static>,
    // A description of its own, so that it finds the lock of whoever made the file.
    file: File,
    is_read_only: bool,
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attached").field("region", &self.region).field("is_read_only", &self.is_read_only).finish_non_exhaustive()
    }
}

/// Why a file could not be attached to.
#[derive(Debug)]
#[non_exhaustive]
pub enum AttachError {
    /// It could not be opened, or is not an ordinary file.
    File(std::io::Error),
    /// It does not hold a region.
    Region(RegionError),
    /// There is no region in it, at any multiple of 8 bytes.
    NoRegion,
    /// It is compressed, in this format.
    Compressed(&'static str),
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttachError::File(error) => error.fmt(f),
            AttachError::Region(error) => error.fmt(f),
            AttachError::NoRegion => f.write_str(
                "there is no region in it, at any multiple of 8 bytes; of a program that shares its tables they are in its shared file, \
                 of any other in a core dump of all its memory",
            ),
            AttachError::Compressed(format) => write!(f, "it is compressed by {format}: unpack it first"),
        }
    }
}

impl std::error::Error for AttachError {}

/// Attaches to the region in a file; [`Process::shared_file`](crate::Process::shared_file) says where a process has its own.
///
/// The file may also be a dump of the memory of a program that does not share its region: a core file, what `gcore` or a debugger has
/// written, of this machine or another one; the first region in it is copied. A core that is compressed has to be unpacked before (`coredumpctl dump`).
/// In a core of a program that shares its region there is none: it is in the shared file.
///
/// # Errors
/// [`AttachError`]: there is no such file, or what is in it is no region.
///
/// ```
/// let process = perfschema::builder().everything(true).share(true).start()?;
/// if let Some(Ok(file)) = process.shared_file() {
///     let attached = perfschema::attach(&file)?;
///     assert_eq!(attached.region().pid(), std::process::id());
/// #   std::fs::remove_file(file)?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn attach(file: impl AsRef<Path>) -> Result<Attached, AttachError> {
    attach_to(file.as_ref(), Links::Follow)
}

fn attach_to(path: &Path, links: Links) -> Result<Attached, AttachError> {
    use std::io::ErrorKind::{ExecutableFileBusy, InvalidInput, PermissionDenied, ReadOnlyFilesystem};
    let mut options = OpenOptions::new();
    let (opened, is_read_only) = match open_file(path, options.read(true).write(true), links) {
        Err(error) if matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | ExecutableFileBusy) => {
            (open_file(path, options.write(false), links), true)
        }
        opened => (opened, false),
    };
    let not_ordinary = || std::io::Error::new(InvalidInput, "not an ordinary file");
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) if links == Links::Refuse => AttachError::File(not_ordinary()),
        _ => AttachError::File(error),
    })?;
    let metadata = file.metadata().map_err(AttachError::File)?;
    if !metadata.is_file() {
        return Err(AttachError::File(not_ordinary()));
    }
    let is_in_use = is_locked(&file);
    let is_dump = match begin(&file)? {
        // A program's file begins with its region.
        Err(error) if links == Links::Refuse => return Err(AttachError::Region(error)),
        Err(_) => true,
        // What a program has made has no holes; a copy of it may have some. Nor does anybody learn of what is changed in a copy.
        Ok(()) => !is_in_use && metadata.blocks().saturating_mul(512) < metadata.len(),
    };
    let (words, region) =
        if is_dump { crate::dump::find(&file, metadata.len())? } else { mapped(&file, metadata.len(), is_read_only)? };
    let is_read_only = is_read_only || is_dump;
    // Of this machine, and what lasts there still lasts.
    let now = if is_in_use { Now::Clock } else { Now::Unknown };
    Ok(Attached { words, region: region.as_of(now), file, is_read_only })
}

/// Whether the file begins as a region does. It is read, because a page of it that is not there would have to be made to be looked at.
fn begin(file: &File) -> Result<Result<(), RegionError>, AttachError> {
    let mut bytes = [0; size_of::<Word>()];
    let is_there = file.read_at(&mut bytes, 0).map_err(AttachError::File)? == bytes.len();
    let first = Word::new(if is_there { u64::from_ne_bytes(bytes) } else { 0 });
    Ok(match Region::open(&[first]) {
        Err(error @ (RegionError::NotARegion { .. } | RegionError::OtherByteOrder)) => Err(error),
        _ => Ok(()),
    })
}

/// Maps a file of so many bytes, and opens the region that it is.
fn mapped(file: &File, len: u64, is_read_only: bool) -> Result<(&'static [Word], Region<'static>), AttachError> {
    let words = usize::try_from(len).unwrap_or(0) / size_of::<Word>();
    // Pages that are written are this process's own then; the others are the file's.
    let flags = if is_read_only { libc::MAP_PRIVATE | libc::MAP_NORESERVE } else { libc::MAP_SHARED };
    let words = map(words, flags, Some(file.as_raw_fd())).ok_or_else(|| AttachError::File(std::io::Error::last_os_error()))?;
    let region = Region::open(words).inspect_err(|_| unmap(words)).map_err(AttachError::Region)?;
    Ok((words, region))
}

impl Attached {
    /// Whether the program learns nothing of what is changed here, switched on or truncated: the file is not for this user to write, or a
    /// dump of memory.
    ///
    /// ```
    /// let process = perfschema::builder().share(true).start()?;
    /// if let Some(Ok(file)) = process.shared_file() {
    ///     assert!(!perfschema::attach(&file)?.is_read_only());
    /// #   std::fs::remove_file(file)?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// What to read. Of a program that had ended when it was attached to, what lasts has no time so far.
    pub fn region(&self) -> &Region<'_> {
        &self.region
    }

    /// Whether the process still has the region in its memory; a process that came later by the same number has not.
    ///
    /// ```
    /// let process = perfschema::builder().share(true).start()?;
    /// if let Some(Ok(file)) = process.shared_file() {
    ///     assert!(perfschema::attach(&file)?.is_in_use());
    /// #   std::fs::remove_file(file)?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_in_use(&self) -> bool {
        is_locked(&self.file)
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        unmap(self.words);
    }
}
