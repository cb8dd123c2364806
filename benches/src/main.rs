//! What recording costs: every path of ours beside a bare timer pair, `Instant` and the uninstrumented lock, in one process and one run.
//!
//! `cargo run --release -p perfschema-benches [-- --quick --tsv --check --instructions]`
//!
//! Noisy machines are the rule, so paths run in short batches that take turns, and what counts is the smallest batch and its ratio to the
//! bare timer pair of the same run. `--check` fails if a ratio is beyond what is promised.

mod allocations;
mod instructions;
mod paths;

use paths::{PATHS, Path};
use perfschema_timer::{Clock, SystemClock, TimerName, Timers};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

/// Events of one batch: long enough that reading the clock around it does not count, short enough that most are not interrupted.
const BATCH: u32 = 2_000;

struct Result {
    path: &'static Path,
    /// Cycles of each batch, per event.
    cycles: Vec<f64>,
    allocations: u64,
}

impl Result {
    fn min(&self) -> f64 {
        self.cycles.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn median(&mut self) -> f64 {
        self.cycles.sort_by(f64::total_cmp);
        self.cycles[self.cycles.len() / 2]
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [one, index, events] = arguments.as_slice()
        && one == "--one"
    {
        return instructions::run_one(&paths::Bench::start(), index, events).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    const OPTIONS: [&str; 4] = ["--quick", "--tsv", "--check", "--instructions"];
    if let Some(unknown) = arguments.iter().find(|argument| !OPTIONS.contains(&argument.as_str())) {
        eprintln!("unknown argument {unknown}; expected {}", OPTIONS.join(", "));
        return ExitCode::FAILURE;
    }
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let instructions = match has("--instructions").then(instructions::count).transpose() {
        Ok(counts) => counts.unwrap_or_default(),
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::FAILURE;
        }
    };
    let rounds = if has("--quick") { 300 } else { 3_000 };
    let bench = paths::Bench::start();
    let mut results: Vec<Result> =
        PATHS.iter().map(|path| Result { path, cycles: Vec::with_capacity(rounds), allocations: 0 }).collect();
    for round in 0..rounds {
        for result in &mut results {
            (result.path.prepare)(&bench);
            (result.path.run)(&bench, BATCH / 10);
            let allocated = allocations::count();
            let start = SystemClock.ticks(TimerName::Cycle);
            (result.path.run)(&bench, BATCH);
            let end = SystemClock.ticks(TimerName::Cycle);
            // The first round may still register something.
            if round > 0 {
                result.allocations += allocations::count() - allocated;
            }
            result.cycles.push(end.saturating_sub(start) as f64 / f64::from(BATCH));
        }
    }
    report(&mut results, &instructions, has("--tsv"));
    if has("--check") { check(&results) } else { ExitCode::SUCCESS }
}

fn report(results: &mut [Result], instructions: &[f64], tsv: bool) {
    let timer_pair = base(results, "timer pair");
    let hz = Timers::calibrate().get(TimerName::Cycle).frequency_hz as f64;
    if tsv {
        println!("name\tvariant\tthreads\tns\ttsc_cycles\tmedian_cycles\tratio_to_timer_pair\tinstructions\tallocations");
    } else {
        println!(
            "{:<22} {:<24} {:>7} {:>7} {:>7} {:>6} {:>6} {:>6}",
            "name", "variant", "ns", "cycles", "median", "ratio", "instr", "alloc"
        );
    }
    for (index, result) in results.iter_mut().enumerate() {
        let (min, median) = (result.min(), result.median());
        let Path { name, variant, .. } = result.path;
        let (ns, ratio, allocations) = (min * 1e9 / hz, min / timer_pair, result.allocations);
        let instructions = instructions.get(index).map_or(String::new(), |count| format!("{count:.0}"));
        if tsv {
            println!("{name}\t{variant}\t1\t{ns:.2}\t{min:.2}\t{median:.2}\t{ratio:.3}\t{instructions}\t{allocations}");
        } else {
            println!(
                "{name:<22} {variant:<24} {ns:>7.2} {min:>7.2} {median:>7.2} {ratio:>6.2} {instructions:>6} {allocations:>6}"
            );
        }
    }
}

fn base(results: &[Result], name: &str) -> f64 {
    results.iter().find(|result| result.path.name == name).map_or(f64::NAN, Result::min)
}

/// Whether the promises hold, for those paths that make one.
fn check(results: &[Result]) -> ExitCode {
    let timer_pair = base(results, "timer pair");
    let mut failed = 0;
    let mut passed = 0;
    for result in results {
        if result.allocations != 0 && result.path.limit.is_some() {
            println!("{} {}: {} allocations, expected none", result.path.name, result.path.variant, result.allocations);
            failed += 1;
        }
        let Some(limit) = result.path.limit else { continue };
        let ratio = (result.min() - result.path.over.map_or(0.0, |over| base(results, over))) / timer_pair;
        if ratio <= limit {
            passed += 1;
        } else {
            println!("{} {}: {ratio:.3} of a timer pair, expected at most {limit}", result.path.name, result.path.variant);
            failed += 1;
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
