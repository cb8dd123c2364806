//! Another program to look at.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(missing_docs, reason = "a test's own helpers")]
#![allow(unreachable_pub, reason = "shared by several test crates")]
#![allow(missing_debug_implementations, reason = "a test's own helpers")]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_perfschema");

/// What a command prints to both outputs, and whether it succeeds.
pub fn perfschema(args: &[&str]) -> (bool, String, String) {
    let output = Command::new(PROGRAM).args(args).env("COLUMNS", "200").output().expect("the program was built");
    let text = |bytes| String::from_utf8(bytes).expect("it prints UTF-8");
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[track_caller]
pub fn succeeds(args: &[&str]) -> String {
    let (success, out, err) = perfschema(args);
    assert!(success, "{args:?}: {err}");
    out
}

/// A demo that works for longer than any test takes, unless it is killed.
pub struct Demo(pub Child);

impl Demo {
    pub fn start() -> Demo {
        Demo::of(PROGRAM.as_ref())
    }

    pub fn of(program: &Path) -> Demo {
        let mut command = Command::new(program);
        command.args(["demo", "--seconds", "3600", env!("CARGO_MANIFEST_DIR")]);
        let child = command.env("PERFSCHEMA_SHARE", "1").stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        Demo(child.expect("the program was built"))
    }

    pub fn pid(&self) -> String {
        self.0.id().to_string()
    }

    pub fn signal(&self, name: &str) {
        signal(&self.pid(), name);
    }

    pub fn stop(&self) {
        stop(&self.pid());
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        perfschema(&["prune", &self.pid()]);
    }
}

#[track_caller]
pub fn signal(pid: &str, name: &str) {
    let status = Command::new("kill").args([name, pid]).status().expect("there is kill");
    assert!(status.success());
}

/// Stops a program. The thread that the signal reaches tells the others, once it runs itself.
#[track_caller]
pub fn stop(pid: &str) {
    signal(pid, "-STOP");
    let is_stopped = |thread: std::io::Result<std::fs::DirEntry>| {
        let stat = std::fs::read_to_string(thread.expect("it is there").path().join("stat")).unwrap_or_default();
        // One that has ended meanwhile is none.
        stat.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with('T'))
    };
    until("all its threads have stopped", || std::fs::read_dir(format!("/proc/{pid}/task")).expect("it runs").all(is_stopped));
}

#[track_caller]
pub fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A row of the list that begins with the number: it may be the end of another's.
#[track_caller]
pub fn until_it_shares(pid: &str) {
    let runs = |row: &str| row.strip_prefix(pid).is_some_and(|rest| rest.starts_with(',') && rest.contains(",runs,"));
    until("it shares its tables", || succeeds(&["list", "--format", "csv"]).lines().any(runs));
}
