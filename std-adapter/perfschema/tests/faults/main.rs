//! Programs that are forked, killed, stopped, interrupted and aborted, each in a process of its own, and what others read of them then.
//!
//! Quick as it is; `PERFSCHEMA_KILLS=1000` kills as many, `PERFSCHEMA_PHASES=23` forks after every instruction of a poll.
#![cfg(all(feature = "instrument", target_os = "linux", not(miri), not(perfschema_sanitizer)))]

mod abort;
mod allocations;
mod children;
mod dump;
mod ends;
mod files;
mod fork;
mod kill;
mod pages;
mod rights;
mod runs;
mod signals;
mod sockets;
mod tasks;

use perfschema::{Builder, Size};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// Names the program that a process of these tests is to be.
const ROLE: &str = "PERFSCHEMA_TEST_ROLE";
/// Something that the program is told.
const ARGUMENT: &str = "PERFSCHEMA_TEST_ARGUMENT";

/// Not a test of its own: what the processes run that the others start.
#[test]
fn the_program_that_other_tests_start() {
    let Ok(role) = std::env::var(ROLE) else { return };
    ends_in_time();
    match role.as_str() {
        "abort" => abort::program(),
        "allocations" => allocations::program(),
        "children" => children::program(),
        "dump" => dump::program(),
        "ends" => ends::program(),
        "files" => files::program(),
        "fork" => fork::program(),
        "pages" => pages::program(),
        "reader" => kill::reader(),
        "rights" => rights::program(),
        "runs" => runs::program(),
        "signals" => signals::program(),
        "sockets" => sockets::program(),
        "tasks" => tasks::program(),
        "writer" => kill::writer(),
        _ => panic!("no program {role}"),
    }
}

/// Ends the process after a time that none of them needs: what hangs fails.
fn ends_in_time() {
    // SAFETY: nobody handles the signal.
    unsafe { libc::alarm(60) };
}

/// Says so when it goes, also because of a panic: threads that wait for it are not waited for in vain.
struct AtLast<'a>(&'a AtomicBool);

impl Drop for AtLast<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn command(role: &str, argument: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "the_program_that_other_tests_start", "--nocapture", "--test-threads=1"]);
    command.env(ROLE, role).env(ARGUMENT, argument).env_remove("PERFSCHEMA_OPTIONS").env_remove("PERFSCHEMA_SHARE");
    command
}

fn argument() -> String {
    std::env::var(ARGUMENT).unwrap()
}

/// Runs a program that checks itself.
fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    assert!(output.status.success(), "{}\n{out}{err}", output.status);
}

/// The same where these mounts were made before, which nobody else sees.
fn in_namespace(mounts: &str, program: &Command) {
    let namespace = ["--user", "--map-root-user", "--mount", "sh", "-c"];
    if !Command::new("unshare").args(namespace).arg(mounts).output().is_ok_and(|output| output.status.success()) {
        eprintln!("NOT TESTED: there may be no namespace with {mounts}");
        return;
    }
    let mut command = Command::new("unshare");
    command.args(namespace).arg(format!("{mounts} && exec \"$0\" \"$@\"")).arg(program.get_program()).args(program.get_args());
    succeeds(command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?)))));
}

/// A program that runs, and its shared region, which goes when this does.
struct Running {
    process: Child,
    out: BufReader<ChildStdout>,
    file: PathBuf,
}

impl Running {
    /// Starts a program, which says where its region is.
    fn start(role: &str, argument: &str) -> Running {
        Running::start_in(Path::new("."), role, argument)
    }

    /// The same in a directory.
    fn start_in(directory: &Path, role: &str, argument: &str) -> Running {
        let mut command = command(role, argument);
        let mut process = command.current_dir(directory).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let out = BufReader::new(process.stdout.take().unwrap());
        let mut running = Running { process, out, file: PathBuf::new() };
        running.file = running.says("file ").into();
        running
    }

    /// The rest of the next line that begins like this. The test harness prints, too, and not always a whole line.
    fn says(&mut self, what: &str) -> String {
        let mut line = String::new();
        while self.out.read_line(&mut line).unwrap() != 0 {
            if let Some((_, rest)) = line.split_once(what) {
                return rest.trim_end().into();
            }
            line.clear();
        }
        panic!("it ended without a word of {what:?}");
    }

    fn signal(&self, signal: i32) {
        // SAFETY: the process is a child that nobody has waited for yet.
        assert_eq!(unsafe { libc::kill(self.process.id() as i32, signal) }, 0);
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_file(&self.file);
    }
}

/// In a program: everything on, whatever the environment says, in a region that is quickly made.
fn small() -> Builder {
    let sizes = [
        (Size::MaxThreadInstances, 16),
        (Size::MaxWaitHistograms, 16),
        (Size::MaxMutexInstances, 64),
        (Size::MaxRwlockInstances, 16),
        (Size::MaxCondInstances, 16),
        (Size::MaxSynchInstances, 16),
        (Size::EventsWaitsHistoryLongSize, 1000),
    ];
    let builder = perfschema::builder().everything(true).environment(false);
    sizes.into_iter().fold(builder, |builder, (size, value)| builder.size(size, value))
}

/// In a program: starts the performance schema, shared, and says where.
fn start_shared() -> &'static perfschema::Process {
    let process = small().share(true).start().unwrap();
    println!("\nfile {}", process.shared_file().unwrap().unwrap().display());
    process
}

/// Memory in a file, for numbers that outlive whoever counts.
fn numbers(file: &Path) -> &'static [std::sync::atomic::AtomicU64; 8] {
    use std::os::fd::AsRawFd;
    let file = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(file).unwrap();
    file.set_len(64).unwrap();
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping of an open file of that length; never unmapped. Atomics have no value that is none.
    unsafe { &*libc::mmap(std::ptr::null_mut(), 64, protection, libc::MAP_SHARED, file.as_raw_fd(), 0).cast() }
}

/// A path that no other test uses.
fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()))
}
