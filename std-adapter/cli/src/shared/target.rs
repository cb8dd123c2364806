//! TARGET: the program whose region a command reads.

use crate::output;
use perfschema::render::text::escape;
use perfschema::{AttachError, Attached, SharedFile, attach, shared_files};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why there is nothing to read.
#[derive(Debug)]
pub(crate) enum TargetError {
    /// The directory of shared regions cannot be read.
    Directory(std::io::Error),
    /// No program of this number or name shares its region.
    None(String),
    /// There is a process of this number, whose tables are its own.
    NotShared(u32),
    /// There is one, of this other user, whose files are in another directory.
    OtherUser(u32, u32),
    /// Several programs have this name.
    Several(String, Vec<u32>),
    /// Several have one number, or this name and one number: those of containers that share their memory.
    SameNumber(String, Vec<PathBuf>),
    /// The file is there, and no region can be read from it.
    Attach(PathBuf, AttachError),
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetError::Directory(error) => write!(f, "cannot look for programs: {error}"),
            TargetError::None(target) => {
                // Of a space one would see no more than of nothing.
                let target = if target.trim().is_empty() { format!("'{target}'") } else { target.clone() };
                let target = escape(&target);
                write!(
                    f,
                    "no program {target} shares its tables; expected a pid or a name that `perfschema list` shows, or the path of a \
                     file, with a slash in it"
                )
            }
            TargetError::NotShared(pid) => write!(
                f,
                "program {pid} does not share its tables: a program does if it is started with PERFSCHEMA_SHARE=1, or says so itself"
            ),
            TargetError::OtherUser(pid, user) => write!(
                f,
                "program {pid} is another user's: that user may read its tables, if it shares them, and root, by the path of their file: \
                 /dev/shm/perfschema-{user}/{pid}-…"
            ),
            TargetError::Several(target, pids) => {
                let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
                write!(f, "several programs are called {}: give the pid, one of {}", escape(target), pids.join(", "))
            }
            TargetError::SameNumber(target, files) => {
                let files: Vec<String> = files.iter().map(|file| output::path(file)).collect();
                let have = if target.parse::<u32>().is_ok() { "have the number" } else { "are called" };
                write!(f, "several programs {have} {}: give the file, one of {}", escape(target), files.join(", "))
            }
            TargetError::Attach(path, error) => write!(f, "{}: {error}", output::path(path)),
        }
    }
}

impl std::error::Error for TargetError {}

/// Attaches to the program of this pid, of this name, or to a file.
///
/// Of a pid or name, a program that runs comes before those that have ended; of several that have ended, the last.
pub(crate) fn find(target: &OsStr) -> Result<Attached, TargetError> {
    Ok(open(&path(target)?)?.0)
}

/// As [`find`], with something that says what the program does, now and later.
pub(crate) fn find_and_watch(target: &OsStr) -> Result<(Arc<Attached>, Watch), TargetError> {
    let (attached, inode) = open(&path(target)?)?;
    let attached = Arc::new(attached);
    Ok((Arc::clone(&attached), Watch { attached, inode }))
}

/// Whether a program is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Runs,
    /// By SIGSTOP, by Ctrl-Z, by a debugger.
    Stopped,
    /// Or it is a file of another machine's.
    Ended,
}

impl State {
    /// `the program …`
    pub(crate) fn name(self) -> &'static str {
        match self {
            State::Runs => "runs",
            State::Stopped => "is stopped",
            State::Ended => "has ended",
        }
    }
}

/// A program that is looked at for a while. Its file says whether it runs, wherever that is: also of another user, or in a container.
#[derive(Debug)]
pub(crate) struct Watch {
    attached: Arc<Attached>,
    /// The file's number.
    inode: Option<u64>,
}

impl Watch {
    pub(crate) fn state(&self) -> State {
        if !self.attached.is_in_use() {
            return State::Ended;
        }
        let pid = self.attached.region().pid();
        // 17694 (a name, cut wherever it was too long) T …
        let stat = std::fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.windows(3).rfind(|window| window.starts_with(b") ")).map(|window| window[2]);
        if matches!(state, Some(b'T' | b't')) && self.may_be_of(pid) { State::Stopped } else { State::Runs }
    }

    /// Whether the process of this number here has the file in its memory, as far as one may know: that of a container has its number there.
    fn may_be_of(&self, pid: u32) -> bool {
        let Ok(maps) = std::fs::read(format!("/proc/{pid}/maps")) else { return true };
        let Some(inode) = self.inode.map(|inode| inode.to_string()) else { return true };
        // 7f0c14000000-7f0c16800000 rw-s 00000000 00:1a 75 /dev/shm/…
        maps.split(|byte| *byte == b'\n').any(|line| line.split(|byte| *byte == b' ').nth(4) == Some(inode.as_bytes()))
    }
}

fn path(target: &OsStr) -> Result<PathBuf, TargetError> {
    if target.as_encoded_bytes().contains(&b'/') {
        // Opened as it is: what a link in /proc leads to is not what it says.
        return Ok(target.into());
    }
    // A region has its program's name like this, too.
    let target = &*target.to_string_lossy();
    let files = shared_files().map_err(TargetError::Directory)?;
    let pid: Option<u32> = target.parse().ok();
    // Also one of another version: why it cannot be read is said then.
    let named = |file: &SharedFile| file.program().is_some_and(|program| program.as_str() == target);
    let mut found: Vec<&SharedFile> = files.iter().filter(|file| pid == Some(file.pid())).collect();
    if found.is_empty() {
        // A name may be a number, too.
        found = files.iter().filter(|file| named(file)).collect();
    }
    let running: Vec<&SharedFile> = found.iter().copied().filter(|file| file.is_in_use()).collect();
    match (running.as_slice(), found.last()) {
        ([one], _) => Ok(one.path().to_owned()),
        ([], Some(last)) => {
            if pid == Some(last.pid()) && runs(last.pid()) {
                note!(
                    "perfschema: program {target} does not share its tables: these are of one that had this number before, and has ended"
                );
            }
            Ok(last.path().to_owned())
        }
        ([], None) => Err(match pid {
            Some(pid) if Path::new("/proc").join(pid.to_string()).exists() => match user(pid) {
                Some(user) if user != geteuid().as_raw() => TargetError::OtherUser(pid, user),
                _ => TargetError::NotShared(pid),
            },
            _ => TargetError::None(target.to_owned()),
        }),
        (several, _) => Err(several_of(target, several)),
    }
}

/// Whether a process of this number runs here: a zombie has no program any more.
fn runs(pid: u32) -> bool {
    match std::fs::read_link(format!("/proc/{pid}/exe")) {
        Ok(_) => true,
        // Another user's.
        Err(error) => error.kind() == std::io::ErrorKind::PermissionDenied,
    }
}

/// Whose process this is, by what it may do now: so its directory is called.
fn user(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_whitespace().nth(1)?.parse().ok()
}

/// Told apart by their numbers, if these do.
fn several_of(target: &str, files: &[&SharedFile]) -> TargetError {
    let pids: Vec<u32> = files.iter().map(|file| file.pid()).collect();
    let differ = pids.iter().enumerate().all(|(i, pid)| !pids[..i].contains(pid));
    if differ {
        TargetError::Several(target.to_owned(), pids)
    } else {
        TargetError::SameNumber(target.to_owned(), files.iter().map(|file| file.path().to_owned()).collect())
    }
}

/// Attaches to what a path leads to; with the number of that file.
fn open(path: &Path) -> Result<(Attached, Option<u64>), TargetError> {
    let opened = Place::of(path).map_err(AttachError::File).and_then(|place| {
        let attached = attach(&place.path)?;
        Ok((attached, std::fs::metadata(&place.path).ok().map(|metadata| metadata.ino())))
    });
    opened.map_err(|error| TargetError::Attach(path.to_owned(), error))
}

/// What a path leads to.
struct Place<'p> {
    path: Cow<'p, Path>,
    /// Where the path is that of an open file, in `/proc`: open for as long as that is used.
    _open: Option<OwnedFd>,
}

impl<'p> Place<'p> {
    /// Others have written what is on the way there: in a container, in another user's directory. No link of theirs leads to what is none of theirs.
    fn of(path: &'p Path) -> io::Result<Place<'p>> {
        let as_it_is = Place { path: Cow::Borrowed(path), _open: None };
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        if let Some((root, within)) = root_of_process(path) {
            let root = rustix::fs::open(root, flags | OFlags::DIRECTORY, Mode::empty())?;
            // A link there that begins with a slash leads from that root on, as that process sees it, and not from this one's.
            let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
            return match rustix::fs::openat2(&root, within, flags, Mode::empty(), resolve) {
                Ok(open) => Ok(Place::open(open)),
                // Before Linux 5.6, and where a sandbox knows no such call.
                Err(Errno::NOSYS | Errno::PERM) => Ok(as_it_is),
                Err(error) => Err(error.into()),
            };
        }
        if SharedFile::at(path).is_none() || path.starts_with("/proc") {
            return Ok(as_it_is);
        }
        let open = rustix::fs::open(path, flags | OFlags::NOFOLLOW, Mode::empty())?;
        if FileType::from_raw_mode(rustix::fs::fstat(&open)?.st_mode).is_symlink() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a link, and no program's file"));
        }
        Ok(Place::open(open))
    }

    fn open(open: OwnedFd) -> Place<'p> {
        let path = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
        Place { path: Cow::Owned(path), _open: Some(open) }
    }
}

/// `/proc/PID/root`, and the path behind it.
fn root_of_process(path: &Path) -> Option<(PathBuf, &Path)> {
    let mut components = path.components();
    let root: PathBuf = components.by_ref().take(4).collect();
    let is_root = matches!(
        Vec::from_iter(root.iter())[..],
        [slash, proc, pid, root] if slash == "/" && proc == "proc" && root == "root" && pid.to_str()?.parse::<u32>().is_ok()
    );
    let within = components.as_path();
    (is_root && within != Path::new("")).then_some((root, within))
}
