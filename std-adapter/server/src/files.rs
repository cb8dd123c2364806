//! Files: such as only their owner may read, and such as get their name once they are whole.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// How many names are tried, if what has them was left by a program that has ended, or put there by somebody else.
const NAMES: u32 = 64;

/// Bytes of a file that somebody has written by hand, or a tool for them.
const MAX_BYTES: u64 = 16 << 20;

/// Why a file that should be its owner's was not read.
#[derive(Debug)]
pub(crate) enum PrivateError {
    Io(io::Error),
    /// Others than its owner may read it.
    Readable,
}

/// What to do about a file that others than its owner may read.
pub(crate) const READABLE: &str = "others than its owner may read it: chmod 600";

/// Reads a file that only its owner may read.
pub(crate) fn read_private(path: &Path) -> Result<Vec<u8>, PrivateError> {
    let file = File::open(path).map_err(PrivateError::Io)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // Of the file that is read, whatever has its name by then.
        let metadata = file.metadata().map_err(PrivateError::Io)?;
        if metadata.is_dir() {
            // Whose mode is as it should be.
            return Err(PrivateError::Io(io::ErrorKind::IsADirectory.into()));
        }
        if metadata.mode() & 0o077 != 0 {
            return Err(PrivateError::Readable);
        }
    }
    read_at_most(file, MAX_BYTES).map_err(PrivateError::Io)
}

/// Reads a file that anybody may read.
pub(crate) fn read_public(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(File::open(path)?, MAX_BYTES)
}

/// Reads all of something that has an end: of a device, or a pipe that somebody forgot to close, no more is kept than that.
///
/// ```
/// assert_eq!(perfschema_server::read_at_most(&b"a key"[..], 1 << 20)?, b"a key");
/// let error = perfschema_server::read_at_most(std::io::repeat(0), 1 << 20).unwrap_err();
/// assert_eq!(error.to_string(), "longer than 1 MiB");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// It cannot be read, or is longer than so many bytes (`FileTooLarge`).
pub fn read_at_most(input: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("longer than {} MiB", most >> 20)));
    }
    Ok(bytes)
}

/// Writes a file beside its place, and gives it its name once it is whole: a reader sees the old content or the new one, never a part, and
/// where the disk is full the old one stays. Who may read the old one may read the new one. A link is replaced, and not what it leads to. To what is
/// no file, as a pipe or a device, it is written; and behind what is there to what a program has open, as `/dev/stdout` is.
///
/// ```
/// let path = std::env::temp_dir().join(format!("perfschema-{}.html", std::process::id()));
/// perfschema_server::write_whole(&path, b"<!doctype html>")?;
/// assert_eq!(std::fs::read(&path)?, b"<!doctype html>");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The file beside it cannot be made or written, or not take its place: then it is removed again.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file"))?;
    if let Some(open) = open_file(path) {
        return File::options().append(true).open(open)?.write_all(content);
    }
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        let mut file = File::options().append(true).open(path)?;
        // Who may write in the folder may have put a link there since, to what only this program may write.
        if file.metadata()?.is_file() {
            return Err(io::Error::other("it has become a file just now"));
        }
        return file.write_all(content);
    }
    let (unfinished, mut file) = make_beside(path, name, |path| File::create_new(path))?;
    if let Ok(old) = fs::metadata(path) {
        // Not every file system has that, and who may read it is what it was there anyway.
        let _ = file.set_permissions(old.permissions());
    }
    let result = file.write_all(content).and_then(|()| fs::rename(&unfinished, path));
    if result.is_err() {
        // What is more wrong than that, the error says.
        let _ = fs::remove_file(&unfinished);
    }
    result
}

/// What a program has open, in `/proc`, if the path leads there: that has no name of its own, be it a file or not.
///
/// Links are followed that are root's or this user's, and to what this program has open. Another user's would lead to what that one may only read: to
/// open it anew in `/proc` takes this program's rights.
fn open_file(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    // As many links as Linux follows.
    for followed in 0..40 {
        let target = fs::read_link(&path).ok()?;
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let folder = folder.canonicalize().ok()?;
        if folder.starts_with("/proc") {
            // What was named as it is, is meant.
            let is_own = || fs::canonicalize("/proc/self").is_ok_and(|own| folder.starts_with(own));
            return if followed == 0 || is_own() { Some(folder.join(path.file_name()?)) } else { None };
        }
        if !is_trusted_link(&path) {
            return None;
        }
        path = folder.join(target);
    }
    None
}

/// Whether a link is root's or this user's, whose `/proc/self` is.
fn is_trusted_link(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let owner = fs::symlink_metadata(path).map(|link| link.uid());
        owner.is_ok_and(|owner| owner == 0 || fs::metadata("/proc/self").is_ok_and(|own| own.uid() == owner))
    }
    #[cfg(not(unix))]
    false
}

/// Makes something in the folder of a path, hidden and under a name that nothing has: `.NAME.PID.NUMBER`.
///
/// `make`: fails with [`io::ErrorKind::AlreadyExists`] if the name is taken, and does not follow a link that has it.
pub(crate) fn make_beside<T>(path: &Path, name: &OsStr, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    // Relaxed: that each number is given once is all that it is for.
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for _ in 0..NAMES {
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
        let beside = path.with_file_name(hidden);
        match make(&beside) {
            Ok(made) => return Ok((beside, made)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::FileTypeExt;

    /// As where a shell has sent the standard output to a file.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_open_is_written_behind_what_is_there() {
        use std::os::fd::AsRawFd;
        let path = std::env::temp_dir().join(format!("perfschema-open-{}", std::process::id()));
        let link = path.with_extension("link");
        let file = File::create(&path).expect("it can be made");
        std::os::unix::fs::symlink(format!("/dev/fd/{}", file.as_raw_fd()), &link).expect("so can a link");
        for (place, content) in
            [(link.as_path(), "by a link"), (Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())), ", and so")]
        {
            write_whole(place, content.as_bytes()).expect("it is open");
        }
        let (is_link, content) = (link.is_symlink(), fs::read_to_string(&path));
        let _ = (fs::remove_file(&path), fs::remove_file(&link));
        assert!(is_link);
        assert_eq!(content.expect("it is there"), "by a link, and so");
        // What is no such link is replaced.
        assert!(open_file(&path).is_none() && open_file(Path::new("/dev/null")).is_none());
    }

    /// A file that is open to be read only: by way of `/proc` whoever may write it would write it.
    #[cfg(target_os = "linux")]
    #[test]
    fn another_users_link_to_what_is_open_is_replaced() {
        use std::os::fd::AsRawFd;
        let path = std::env::temp_dir().join(format!("perfschema-read-{}", std::process::id()));
        let link = path.with_extension("link");
        fs::write(&path, "as it was").expect("it can be written");
        let file = File::open(&path).expect("it can be read");
        std::os::unix::fs::symlink(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()), &link)
            .expect("so can a link");
        let is_anothers = std::os::unix::fs::lchown(&link, Some(65534), None).is_ok();
        let written = write_whole(&link, b"new");
        let (is_link, content) = (link.is_symlink(), fs::read_to_string(&path));
        let _ = (fs::remove_file(&path), fs::remove_file(&link));
        if !is_anothers {
            return eprintln!("ANOTHER USER'S LINK IS NOT TESTED: that takes root");
        }
        written.expect("the link gives way");
        assert!(!is_link);
        assert_eq!(content.expect("it is there"), "as it was");
    }

    #[test]
    fn what_is_no_file_stays_what_it_is() {
        let path = std::env::temp_dir().join(format!("perfschema-pipe-{}", std::process::id()));
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("every Unix has it");
        assert!(made.success());
        let reader = std::thread::spawn({
            let path = path.clone();
            move || fs::read(path)
        });
        let written = write_whole(&path, b"all of it");
        let is_pipe = fs::metadata(&path).is_ok_and(|there| there.file_type().is_fifo());
        let _ = fs::remove_file(&path);
        assert!(written.is_ok() && is_pipe, "{written:?}");
        assert_eq!(reader.join().expect("it reads").expect("a pipe"), b"all of it");
    }

    /// With the old one's rights and none of its content; of a link, that itself.
    #[test]
    fn what_is_there_is_replaced() {
        use std::os::unix::fs::PermissionsExt;
        let path = std::env::temp_dir().join(format!("perfschema-old-{}", std::process::id()));
        let link = path.with_extension("link");
        fs::write(&path, "old, and longer than what is new").expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("its owner");
        std::os::unix::fs::symlink(&path, &link).expect("so can a link");
        let written = [(&path, "new"), (&link, "newer")].map(|(place, content)| write_whole(place, content.as_bytes()));
        let mode = fs::metadata(&path).map(|there| there.permissions().mode() & 0o777);
        let (is_link, contents) = (link.is_symlink(), [&path, &link].map(fs::read_to_string));
        let _ = (fs::remove_file(&path), fs::remove_file(&link));
        assert!(written.iter().all(Result::is_ok) && !is_link, "{written:?}");
        assert_eq!(
            (mode.expect("it is there"), contents.map(|content| content.expect("it is there"))),
            (0o640, ["new", "newer"].map(str::to_owned))
        );
    }

    #[test]
    fn so_much_and_no_more() {
        assert_eq!(read_at_most(&b"12345678"[..], 8).expect("it fits"), b"12345678");
        assert_eq!(read_at_most(&b"123456789"[..], 8).expect_err("it is longer").kind(), io::ErrorKind::FileTooLarge);
    }
}
