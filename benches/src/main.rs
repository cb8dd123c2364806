//! What recording costs: every path of ours beside a bare timer pair, the uninstrumented lock, and what one would use instead, in one
//! process and one run.
//!
//! `cargo run --release -p perfschema-benches [-- --quick --tsv --check --instructions --chart FILE --only PART]`
//!
//! `--help` says what each of these does.
//!
//! Noisy machines are the rule, so paths run in short batches that take turns, and what counts is the smallest batch and its ratio to the
//! bare timer pair of the same run. Beside each figure is what is aimed at; `--check` fails only if one is beyond what is promised.

mod allocations;
mod chart;
mod cores;
mod instructions;
mod io;
mod metrics;
mod paths;
mod peers;
mod reading;
mod report;
mod stages;
mod statements;
mod threads;
mod transactions;

use paths::{Bench, Goal, Path};
use perfschema_timer::{Clock, SystemClock, TimerName, Timers};
use report::{Aim, Cost, Row, Scale, Target};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

/// Events of one batch: long enough that reading the clock around it does not count, short enough that most are not interrupted.
const BATCH: u32 = 2_000;

const HELP: &str = "\
What recording costs, beside what it is made of and what one would use instead; two to five minutes on a quiet machine.

usage: perfschema-benches [--quick] [--tsv] [--check] [--instructions] [--chart FILE] [--only PART]

  --quick         the same in 30 s, less exact
  --tsv           tab-separated values instead of a table
  --check         fails if a figure is beyond what is promised
  --instructions  counts each path's, by callgrind
  --chart FILE    draws the table as SVG
  --only PART     leaves out whatever has not this part in its name and variant, but for what all others are compared with
";

/// What was asked for.
#[derive(Default)]
struct Options {
    quick: bool,
    tsv: bool,
    check: bool,
    instructions: bool,
    chart: Option<String>,
    only: Option<String>,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options::default();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--quick" => options.quick = true,
                "--tsv" => options.tsv = true,
                "--check" => options.check = true,
                "--instructions" => options.instructions = true,
                "--chart" => options.chart = Some(arguments.next().ok_or("--chart: expected the name of an SVG file")?),
                "--only" => options.only = Some(arguments.next().ok_or("--only: expected a part of a name")?),
                unknown => {
                    let expected = "--quick, --tsv, --check, --instructions, --chart FILE, --only PART, --help";
                    return Err(format!("unknown argument {unknown}; expected {expected}"));
                }
            }
        }
        Ok(options)
    }

    /// Whether this row is asked for.
    fn wants(&self, name: &str, variant: &str) -> bool {
        self.only.as_ref().is_none_or(|part| format!("{name} {variant}").contains(part))
    }
}

fn main() -> ExitCode {
    // SAFETY: no other thread runs yet. hotpath would listen on a port otherwise.
    unsafe { std::env::set_var("HOTPATH_METRICS_SERVER_OFF", "1") };
    let paths = paths::all();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    if let [one, index, events] = arguments.as_slice()
        && one == "--one"
    {
        return instructions::run_one(&paths, index, events).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    match Options::parse(arguments.into_iter()).and_then(|options| run(&paths, &options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// Says whether what was to be checked holds.
fn run(paths: &[Path], options: &Options) -> Result<bool, String> {
    let selected = |path: &Path| path.is_scale() || options.wants(path.name, path.variant);
    let instructions = options.instructions.then(|| instructions::count(paths, selected)).transpose()?;
    let paths: Vec<Path> = paths.iter().copied().filter(selected).collect();
    let rounds = if options.quick { 400 } else { 2_000 };
    let bench = Bench::start();
    let results = measure(&bench, &paths, rounds);
    let scale =
        Scale { timer_pair: min_of(&results, "timer pair"), hz: Timers::calibrate().get(TimerName::Cycle).frequency_hz as f64 };
    let mut rows = rows(&results, instructions.as_deref(), scale);
    let wants = |name: &str, variant: &str| options.wants(name, variant);
    rows.extend(threads::measure(&bench, rounds / 20, wants));
    rows.extend(reading::measure(rounds / 20, wants));
    if options.tsv {
        report::tsv(&rows, scale);
    } else {
        report::text(&rows, scale);
    }
    if let Some(file) = &options.chart {
        chart::draw(&rows, file).map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(!options.check || check(&results, scale))
}

/// What was measured of a path.
struct Measured<'p> {
    path: &'p Path,
    cost: Cost,
    /// Compared with the path that it is measured over, if that is among those measured.
    more: Option<More>,
    /// An event.
    allocations: f64,
}

impl Measured<'_> {
    /// With the other path, or with nothing if there is to be none.
    fn compared(&self) -> Option<More> {
        match self.path.over {
            Some(_) => self.more,
            None => Some(More { cycles: self.cost.min, over: 0.0 }),
        }
    }
}

/// Cycles an event.
#[derive(Clone, Copy)]
struct More {
    cycles: f64,
    /// Of the other path.
    over: f64,
}

impl More {
    /// Of batches that took turns with others.
    fn of(path: &Path, batches: &[f64], over: &[f64]) -> More {
        if !path.calls_system {
            let over = cost(over.iter().copied()).min;
            return More { cycles: cost(batches.iter().copied()).min - over, over };
        }
        let mut rounds: Vec<(f64, f64)> = batches.iter().copied().zip(over.iter().copied()).collect();
        // By both together: by one of them, the other would seem to be larger.
        rounds.sort_by(|one, other| (one.0 + one.1).total_cmp(&(other.0 + other.1)));
        rounds.truncate(rounds.len().div_ceil(4));
        More {
            cycles: cost(rounds.iter().map(|(batch, over)| batch - over)).median,
            over: cost(rounds.iter().map(|(_, over)| *over)).median,
        }
    }
}

fn cost(batches: impl Iterator<Item = f64>) -> Cost {
    Cost::of(&mut batches.collect::<Vec<_>>())
}

fn measure<'p>(bench: &Bench, paths: &'p [Path], rounds: usize) -> Vec<Measured<'p>> {
    // With their places: else it is this that allocates.
    let mut batches: Vec<Vec<f64>> = paths.iter().map(|_| Vec::with_capacity(rounds)).collect();
    let mut allocated = vec![0; paths.len()];
    for round in 0..rounds {
        for (index, path) in paths.iter().enumerate() {
            (path.prepare)(bench);
            (path.run)(bench, path.batch / 10);
            let before = allocations::count();
            batches[index].push(batch(bench, path.run, path.batch));
            // The first round may still register something.
            if round > 0 {
                allocated[index] += allocations::count() - before;
            }
        }
    }
    let batches_counted = rounds.saturating_sub(1).max(1);
    let of_path = |((path, taken), allocated): ((&'p Path, &Vec<f64>), u64)| Measured {
        path,
        cost: cost(taken.iter().copied()),
        more: path.over.and_then(|over| {
            let over = paths.iter().position(|path| path.name == over)?;
            Some(More::of(path, taken, batches.get(over)?))
        }),
        allocations: allocated as f64 / (batches_counted * path.batch as usize) as f64,
    };
    paths.iter().zip(&batches).zip(allocated).map(of_path).collect()
}

/// Cycles an event of one batch.
fn batch(bench: &Bench, run: fn(&Bench, u32), events: u32) -> f64 {
    let start = SystemClock.ticks(TimerName::Cycle);
    run(bench, events);
    let end = SystemClock.ticks(TimerName::Cycle);
    end.saturating_sub(start) as f64 / f64::from(events)
}

fn min_of(results: &[Measured<'_>], name: &str) -> f64 {
    results.iter().find(|result| result.path.name == name).map_or(f64::NAN, |result| result.cost.min)
}

fn rows(results: &[Measured<'_>], instructions: Option<&[f64]>, scale: Scale) -> Vec<Row> {
    let count_of = |name: &str| Some(instructions?[results.iter().position(|result| result.path.name == name)?]);
    let row = |(index, result): (usize, &Measured<'_>)| {
        let path = result.path;
        let count = instructions.map(|counts| counts[index]);
        let compared = result.compared().filter(|_| path.goal.is_some() || path.over.is_some());
        let aim = compared.map(|More { cycles, over }| match path.goal {
            None => Aim { measured: cycles, unit: "cycles more", target: None },
            Some(Goal::TimerPairs(limit)) => at_most(limit, cycles / scale.timer_pair, "timer pairs"),
            Some(Goal::CyclesMore(limit)) => at_most(limit, cycles, "cycles more"),
            Some(Goal::Times(limit)) => at_most(limit, (over + cycles) / over, "x std"),
            Some(Goal::TimesTimed(limit)) => at_most(limit, (over + cycles) / (over + scale.timer_pair), "x std + timer pair"),
        });
        let more = count.zip(count_of(path.over.unwrap_or("empty loop"))).map(|(count, over)| count - over);
        Row {
            name: path.name,
            variant: path.variant.to_owned(),
            threads: path.threads,
            cost: Some(result.cost),
            instructions: count,
            allocations: Some(result.allocations),
            aim,
            instructions_aim: path.instructions_goal.zip(more).map(|(limit, more)| at_most(limit, more, "instructions more")),
            cannot_show: path.cannot_show,
        }
    };
    results.iter().enumerate().map(row).collect()
}

fn at_most(limit: f64, measured: f64, unit: &'static str) -> Aim {
    Aim { measured, unit, target: Some(Target::AtMost(limit)) }
}

/// Whether the promises hold, for those paths that make one.
fn check(results: &[Measured<'_>], scale: Scale) -> bool {
    let mut failed = 0;
    let mut passed = 0;
    for result @ Measured { path, allocations, .. } in results {
        let Some(limit) = path.limit else { continue };
        // What it is compared with may not be among those selected: then it is not within the limit.
        let ratio = result.compared().map_or(f64::NAN, |more| more.cycles) / scale.timer_pair;
        let within = ratio <= limit;
        if !within {
            println!("{} {}: {ratio:.3} of a timer pair, expected at most {limit}", path.name, path.variant);
        }
        if *allocations != 0.0 {
            println!("{} {}: {allocations} allocations an event, expected none", path.name, path.variant);
        }
        if within && *allocations == 0.0 { passed += 1 } else { failed += 1 }
    }
    println!("{passed} passed, {failed} failed");
    // Where nothing was selected, nothing was checked.
    failed == 0 && passed > 0
}
