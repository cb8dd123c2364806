//! Instructions of each path, counted by callgrind: the one figure that repeats exactly on a noisy machine.

use crate::paths::{Bench, Path};
use std::process::Command;

/// Events of the two runs whose difference counts.
const RUNS: [u32; 2] = [10_000, 30_000];

/// Instructions an event of each of the paths that are selected.
///
/// # Errors
/// What went wrong, with the command that did.
pub(crate) fn count(paths: &[Path], selected: impl Fn(&Path) -> bool) -> Result<Vec<f64>, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let selected = paths.iter().enumerate().filter(|(_, path)| selected(path));
    selected
        .map(|(index, _)| {
            let [few, many] = RUNS;
            Ok((run(&program, index, many)? - run(&program, index, few)?) / f64::from(many - few))
        })
        .collect()
}

fn run(program: &std::path::Path, index: usize, events: u32) -> Result<f64, String> {
    let mut command = Command::new("valgrind");
    // Collecting only within one function leaves out the start, whose calibration takes a time, not a number of instructions.
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*measured_path*"]).arg(program);
    command.args(["--one", &index.to_string(), &events.to_string()]);
    let output = command.output().map_err(|error| format!("valgrind: {error} (apt-get install valgrind)"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    // ==123== Collected : 1234567
    let collected =
        text.lines().find_map(|line| line.split_once("Collected : ")).and_then(|(_, count)| count.trim().parse().ok());
    collected.ok_or_else(|| format!("{command:?} printed no count:\n{text}"))
}

/// Runs one path under callgrind: what `--one` does.
pub(crate) fn run_one(paths: &[Path], index: &str, events: &str) -> Option<()> {
    let path = paths.get(index.parse::<usize>().ok()?)?;
    let events = events.parse().ok()?;
    let bench = Bench::start();
    (path.prepare)(&bench);
    // What happens only once, such as registering a source line, is not an event's.
    (path.run)(&bench, 10);
    measured_path(&bench, path.run, events);
    Some(())
}

#[inline(never)]
fn measured_path(bench: &Bench, run: fn(&Bench, u32), events: u32) {
    run(bench, events);
}
