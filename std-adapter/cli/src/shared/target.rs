//! TARGET: the program whose region a command reads.

use perfschema::{AttachError, Attached, SharedFile, attach, shared_files};
use std::fmt;
use std::path::{Path, PathBuf};

/// Why there is nothing to read.
#[derive(Debug)]
pub(crate) enum TargetError {
    /// The directory of shared regions cannot be read.
    Directory(std::io::Error),
    /// No program of this number or name shares its region.
    None(String),
    /// Several programs have this name.
    Several(String, Vec<u32>),
    /// The file is there, and no region can be read from it.
    Attach(PathBuf, AttachError),
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetError::Directory(error) => write!(f, "cannot look for programs: {error}"),
            TargetError::None(target) => {
                write!(
                    f,
                    "no program {target} shares its tables; expected a pid or a name that `perfschema list` shows, or the path of a \
                     file, with a slash in it"
                )
            }
            TargetError::Several(target, pids) => {
                let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
                write!(f, "several programs are called {target}: give the pid, one of {}", pids.join(", "))
            }
            TargetError::Attach(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for TargetError {}

/// Attaches to the program of this pid, of this name, or to a file.
///
/// Of a pid or name, a program that runs comes before those that have ended; of several that have ended, the last.
pub(crate) fn find(target: &str) -> Result<Attached, TargetError> {
    open(&path(target)?)
}

/// As [`find`], and whether the program still runs.
pub(crate) fn find_and_ask(target: &str) -> Result<(Attached, bool), TargetError> {
    let (attached, watch) = find_and_watch(target)?;
    Ok((attached, watch.state() != State::Ended))
}

/// As [`find`], with something that says what the program does, now and later.
pub(crate) fn find_and_watch(target: &str) -> Result<(Attached, Watch), TargetError> {
    let path = path(target)?;
    let files = shared_files().map_err(TargetError::Directory)?;
    let file = files.into_iter().find(|file| file.path() == path);
    Ok((open(&path)?, Watch(file)))
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

/// A program that is looked at for a while: its file, unless that is anybody's.
#[derive(Debug)]
pub(crate) struct Watch(Option<SharedFile>);

impl Watch {
    pub(crate) fn state(&self) -> State {
        let Some(file) = self.0.as_ref().filter(|file| file.is_in_use()) else { return State::Ended };
        // 17694 (a name, cut wherever it was too long) T …
        let stat = std::fs::read(format!("/proc/{}/stat", file.pid())).unwrap_or_default();
        let state = stat.windows(3).rfind(|window| window.starts_with(b") ")).map(|window| window[2]);
        if matches!(state, Some(b'T' | b't')) { State::Stopped } else { State::Runs }
    }
}

fn path(target: &str) -> Result<PathBuf, TargetError> {
    if target.contains('/') {
        // Of a link, what it leads to: a link itself is nothing to attach to.
        return Ok(std::fs::canonicalize(target).unwrap_or_else(|_| target.into()));
    }
    let files = shared_files().map_err(TargetError::Directory)?;
    let pid: Option<u32> = target.parse().ok();
    let named = |file: &SharedFile| attach(file.path()).is_ok_and(|attached| attached.region().program().as_str() == target);
    let found: Vec<&SharedFile> = files.iter().filter(|file| pid.map_or_else(|| named(file), |pid| file.pid() == pid)).collect();
    let running: Vec<&SharedFile> = found.iter().copied().filter(|file| file.is_in_use()).collect();
    match (running.as_slice(), found.last()) {
        ([one], _) => Ok(one.path().to_owned()),
        ([], Some(last)) => Ok(last.path().to_owned()),
        ([], None) => Err(TargetError::None(target.to_owned())),
        (several, _) => Err(TargetError::Several(target.to_owned(), several.iter().map(|file| file.pid()).collect())),
    }
}

fn open(path: &Path) -> Result<Attached, TargetError> {
    attach(path).map_err(|error| TargetError::Attach(path.to_owned(), error))
}
