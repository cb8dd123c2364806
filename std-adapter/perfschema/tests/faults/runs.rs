//! What runs of a program leave in shared memory when they have ended.

use crate::{argument, command, in_namespace, small, succeeds};
use perfschema::shared_files;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

fn start() -> PathBuf {
    small().share(true).start().unwrap().shared_file().unwrap().unwrap()
}

fn left() -> Vec<PathBuf> {
    shared_files().unwrap().iter().map(|file| file.path().to_owned()).collect()
}

pub(crate) fn program() {
    match &*argument() {
        "one of many" => drop(start()),
        "interrupted" => std::fs::remove_file(start()).unwrap(),
        mebibytes => runs_again_and_again(mebibytes.parse::<u64>().unwrap() << 20),
    }
}

fn run() -> PathBuf {
    succeeds(&mut command("runs", "one of many"));
    left().pop().expect("the last one's is there")
}

/// With so many bytes of shared memory in all.
fn runs_again_and_again(all: u64) {
    let another_program = Path::new("/dev/shm").join("another");
    std::fs::copy(std::env::current_exe().unwrap(), &another_program).unwrap();
    let mut command = command("runs", "one of many");
    let mut other = std::process::Command::new(&another_program);
    other.args(command.get_args()).envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    succeeds(&mut other);
    let of_another_program = left();
    std::fs::remove_file(another_program).unwrap();
    succeeds(&mut command);
    let garbage = left().pop().unwrap().with_file_name("1-1");
    std::fs::write(&garbage, "no region").unwrap();
    // As before the program was built anew, with another version of this crate: they are its own, and go like those.
    let of_other_versions: Vec<PathBuf> = (0..2).map(|_| run()).collect();
    for path in &of_other_versions {
        let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        file.write_all_at(&u64::MAX.to_ne_bytes(), 8).unwrap();
    }

    let runs: Vec<PathBuf> = (0..30).map(|_| run()).collect();
    let bytes = |path: &PathBuf| std::fs::metadata(path).unwrap().len();
    // As many as there is room for beside the last one, which had not ended when it started, and what is not this program's.
    let room = all / bytes(&runs[29]) - 2;
    let kept = (all / 4 / bytes(&runs[29])).max(4).min(room) as usize;
    assert!((2..25).contains(&kept), "{kept}");
    let left = left();
    assert_eq!(left[0], garbage);
    assert_eq!(left[1..2], of_another_program);
    assert_eq!(left[2..], runs[29 - kept..]);

    // What runs stays, however many there are.
    let running = start();
    (0..30).for_each(|_| drop(run()));
    assert!(running.exists() && !runs[29].exists());
}

#[test]
fn a_program_that_runs_again_and_again_does_not_fill_the_memory() {
    for mebibytes in ["256", "120", "50"] {
        in_namespace(&format!("mount -t tmpfs -o size={mebibytes}m none /dev/shm"), &command("runs", mebibytes));
    }
}

/// As by a signal in the middle of it, which until Linux 6.10 ends what reserves the memory: here every other time.
#[test]
fn a_program_that_is_interrupted_while_it_starts_is_shared() {
    let program = command("runs", "interrupted");
    if std::process::Command::new("strace").arg("-V").output().is_err() {
        // ci/unit installs it.
        assert!(std::env::var_os("PERFSCHEMA_STRACE").is_none(), "strace is not there");
        return;
    }
    let mut strace = std::process::Command::new("strace");
    strace.args(["-f", "-o", "/dev/null", "-e", "trace=fallocate", "-e", "inject=fallocate:error=EINTR:when=1+2"]);
    strace.arg(program.get_program()).args(program.get_args());
    strace.env_remove("PERFSCHEMA_OPTIONS").env_remove("PERFSCHEMA_SHARE");
    succeeds(strace.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?)))));
}
