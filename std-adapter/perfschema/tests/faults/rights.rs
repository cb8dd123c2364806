//! Who may say what to whom: a program that has more rights than whoever runs it, a reader and a directory that is somebody else's.

use crate::{argument, command, in_namespace, scratch, succeeds};
use perfschema::{Size, builder, shared_files};
use std::io::ErrorKind::PermissionDenied;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Nobody has this number, nor files in shared memory.
const USER: u32 = 64321;

/// What a user would like to be heard.
fn environment(command: &mut Command) -> &mut Command {
    command.env("PERFSCHEMA_OPTIONS", "performance-schema-events-waits-history-size=7").env("PERFSCHEMA_SHARE", "ON")
}

pub(crate) fn program() {
    let builder = builder().size(Size::EventsWaitsHistorySize, 5);
    match &*argument() {
        "heard" => {
            let process = builder.start().unwrap();
            std::fs::remove_file(process.shared_file().unwrap().unwrap()).unwrap();
            assert_eq!(process.region().config().get(Size::EventsWaitsHistorySize), 7);
        }
        "not heard" => {
            let process = builder.start().unwrap();
            assert!(process.shared_file().is_none());
            assert_eq!(process.region().config().get(Size::EventsWaitsHistorySize), 5);
        }
        "quoted" => assert!(builder.start().unwrap_err().to_string().contains("a secret")),
        // SAFETY: the call takes nothing and cannot fail.
        "somebody else" => assert_eq!(unsafe { libc::geteuid() }, USER),
        "nothing there" => assert_eq!(shared_files().unwrap(), []),
        "without /proc" => {
            let error = builder.share(true).start().unwrap().shared_file().unwrap().unwrap_err();
            assert!(error.to_string().ends_with(": /proc is not mounted"), "{error}");
        }
        "over another file system" => {
            let error = builder.share(true).start().unwrap().shared_file().unwrap().unwrap_err();
            assert!(error.to_string().ends_with("mount a tmpfs at /dev/shm"), "{error}");
            assert_eq!(shared_files().unwrap(), []);
        }
        "with a mask" => {
            // SAFETY: the call takes a number and cannot fail.
            unsafe { libc::umask(0o777) };
            let process = builder.share(true).start().unwrap();
            let file = process.shared_file().unwrap().unwrap();
            let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(file.parent().unwrap()), mode(&file)), (0o700, 0o600));
        }
        "becomes somebody else" => {
            let process = builder.share(true).start().unwrap();
            let file = process.shared_file().unwrap().unwrap();
            // SAFETY: the call takes a number.
            let becomes = |user| assert_eq!(unsafe { libc::seteuid(user) }, 0);
            becomes(USER);
            assert_eq!(process.shared_file().unwrap().unwrap(), file);
            becomes(0);
            std::fs::remove_file(file).unwrap();
        }
        "keeps it to itself" => {
            let shared = builder.share(true).start().unwrap().shared_file().unwrap();
            let _ = shared.as_ref().map(std::fs::remove_file);
            assert!(shared.unwrap_err().to_string().ends_with("who could read its tables then"));
        }
        "opens itself" => {
            // SAFETY: the call takes numbers.
            assert_eq!(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1) }, 0);
            std::fs::remove_file(builder.share(true).start().unwrap().shared_file().unwrap().unwrap()).unwrap();
        }
        "is somebody else for a while" => {
            let process = builder.share(true).start().unwrap();
            std::fs::remove_file(process.shared_file().unwrap().unwrap()).unwrap();
            // SAFETY: the calls take numbers.
            let child = unsafe {
                assert_eq!(libc::seteuid(USER), 0);
                libc::fork()
            };
            if child == 0 {
                let shared = perfschema::process().unwrap().shared_file().unwrap();
                // SAFETY: the calls take numbers.
                let is_root = unsafe { libc::seteuid(0) } == 0;
                let _ = shared.as_ref().map(std::fs::remove_file);
                std::process::exit(i32::from(!is_root || shared.is_ok()));
            }
            let mut status = -1;
            // SAFETY: `status` is a place to write to.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            assert_eq!(status, 0, "root's child has its tables in a file of another user's");
        }
        "not trusted" => assert_eq!(shared_files().unwrap_err().kind(), PermissionDenied),
        what => panic!("no program {what}"),
    }
}

/// A file of the test program that runs with the rights of [`USER`]. To the system that is as one of root's that a user runs; and it need not
/// be reached by a user. None where there is no right to make one, or it is not heeded: where files are mounted without, or in a sandbox.
fn setuid(name: &str) -> Option<PathBuf> {
    // SAFETY: the call takes nothing and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("{name} IS NOT TESTED: that takes root");
        return None;
    }
    let copy = scratch(name);
    // By another process: what this one writes, those have open that other tests fork meanwhile, and no file that is written can be run.
    succeeds(Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&copy));
    chown(&copy, Some(USER), Some(USER)).unwrap();
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o4755)).unwrap();
    if !command_of(&copy, "somebody else").output().unwrap().status.success() {
        eprintln!("{name} IS NOT TESTED: the system heeds no setuid here");
        std::fs::remove_file(copy).unwrap();
        return None;
    }
    Some(copy)
}

/// What the program is told to be, run from that file.
fn command_of(file: &Path, argument: &str) -> Command {
    let own = command("rights", argument);
    let mut command = Command::new(file);
    command.args(own.get_args()).envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

#[test]
fn who_runs_a_program_of_more_rights_is_not_heard() {
    succeeds(environment(&mut command("rights", "heard")));
    let secret = scratch("secret");
    std::fs::write(&secret, "a secret").unwrap();
    succeeds(command("rights", "quoted").env("PERFSCHEMA_OPTIONS_FILE", &secret));
    if let Some(setuid) = setuid("unheard") {
        succeeds(environment(&mut command_of(&setuid, "not heard")).env("PERFSCHEMA_OPTIONS_FILE", &secret));
        std::fs::remove_file(setuid).unwrap();
    }
    std::fs::remove_file(secret).unwrap();
}

/// As daemons do that root starts: the file stays where it is.
#[test]
fn where_the_file_is_of_a_program_that_gave_up_its_rights() {
    // SAFETY: the call takes nothing and cannot fail.
    if unsafe { libc::geteuid() } == 0 {
        succeeds(&mut command("rights", "becomes somebody else"));
    } else {
        eprintln!("A PROGRAM THAT GIVES UP ITS RIGHTS IS NOT TESTED: that takes root");
    }
}

/// Whoever runs it could read what only the program may, and end it by making the file shorter.
#[test]
fn who_has_fewer_rights_than_the_program_does_not_get_its_tables() {
    // SAFETY: the call takes nothing and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        return eprintln!("A PROGRAM OF MORE RIGHTS IS NOT TESTED: that takes root");
    }
    succeeds(&mut command("rights", "is somebody else for a while"));
    let copy = scratch("setgid");
    succeeds(Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&copy));
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o2755)).unwrap();
    // In the group of root, which USER is not.
    for what in ["keeps it to itself", "opens itself"] {
        use std::os::unix::process::CommandExt;
        // Run as what is open, which USER needs not reach.
        let file = std::fs::File::open(&copy).unwrap();
        let mut command = command_of(Path::new(&format!("/proc/self/fd/{}", inherited(&file))), what);
        succeeds(command.uid(USER).gid(USER));
    }
    let _ = std::fs::remove_dir(format!("/dev/shm/perfschema-{USER}"));
    std::fs::remove_file(copy).unwrap();
}

/// A descriptor that programs which are started have, too.
fn inherited(file: &std::fs::File) -> i32 {
    use std::os::fd::AsRawFd;
    // SAFETY: the descriptor is open.
    let descriptor = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD, 3) };
    assert!(descriptor > 0);
    descriptor
}

/// A file of shared memory gets its name by way of `/proc`: where that is missing, it is said, and not that something is.
#[test]
fn what_is_missing_is_proc() {
    in_namespace("mount -t tmpfs none /dev/shm && mount -t tmpfs none /proc", &command("rights", "without /proc"));
}

/// Nobody could tell whether its program runs.
#[test]
fn nothing_is_shared_where_a_mapping_holds_no_lock() {
    let overlay = "mount -t tmpfs none /dev/shm && cd /dev/shm && mkdir lower upper work && \
                   mount -t overlay none -o lowerdir=lower,upperdir=upper,workdir=work /dev/shm && cd / && chmod 1777 /dev/shm";
    in_namespace(overlay, &command("rights", "over another file system"));
}

#[test]
fn a_mask_for_new_files_is_none_for_these() {
    in_namespace("mount -t tmpfs none /dev/shm", &command("rights", "with a mask"));
}

/// Anybody can make a directory of this name, before the user does.
#[test]
fn what_others_put_in_the_place_of_the_directory_is_not_listed() {
    let Some(setuid) = setuid("directory") else { return };
    let directory = Path::new("/dev/shm").join(format!("perfschema-{USER}"));
    // Of a run that failed.
    let _ = std::fs::remove_dir_all(&directory).or_else(|_| std::fs::remove_file(&directory));
    succeeds(&mut command_of(&setuid, "nothing there"));
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("1-1"), "a region, they say").unwrap();
    succeeds(&mut command_of(&setuid, "not trusted"));
    // One's own, but open to others.
    chown(&directory, Some(USER), Some(USER)).unwrap();
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o770)).unwrap();
    succeeds(&mut command_of(&setuid, "not trusted"));
    // Or a link to what is one's own.
    let elsewhere = scratch("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    symlink(&elsewhere, &directory).unwrap();
    succeeds(&mut command_of(&setuid, "not trusted"));
    [directory, setuid].into_iter().for_each(|file| std::fs::remove_file(file).unwrap());
    std::fs::remove_dir(elsewhere).unwrap();
}
