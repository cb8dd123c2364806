//! The table: one row for each path and each other figure, for people and for programs.

use std::fmt;

/// A row.
#[derive(Default)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) variant: String,
    pub(crate) threads: usize,
    pub(crate) cost: Option<Cost>,
    pub(crate) instructions: Option<f64>,
    /// An event.
    pub(crate) allocations: Option<f64>,
    pub(crate) aim: Option<Aim>,
    pub(crate) instructions_aim: Option<Aim>,
    pub(crate) cannot_show: &'static str,
}

/// Cycles an event.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
}

impl Cost {
    /// Of so many batches, which get sorted.
    pub(crate) fn of(batches: &mut [f64]) -> Cost {
        batches.sort_by(f64::total_cmp);
        let at = |index: usize| batches.get(index).copied().unwrap_or(f64::NAN);
        Cost { min: at(0), median: median(batches), max: at(batches.len().saturating_sub(1)) }
    }
}

/// The middle one of sorted numbers.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A figure, and what is aimed at if anything is.
#[derive(Clone, Copy)]
pub(crate) struct Aim {
    pub(crate) measured: f64,
    pub(crate) unit: &'static str,
    pub(crate) target: Option<Target>,
}

#[derive(Clone, Copy)]
pub(crate) enum Target {
    AtMost(f64),
    AtLeast(f64),
}

impl Aim {
    pub(crate) fn missed(&self) -> bool {
        match self.target {
            None => false,
            Some(Target::AtMost(limit)) => self.measured > limit,
            Some(Target::AtLeast(limit)) => self.measured < limit,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::AtMost(limit) => write!(f, "<= {limit}"),
            Target::AtLeast(limit) => write!(f, ">= {limit}"),
        }
    }
}

/// What all rows are compared with.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) timer_pair: f64,
    pub(crate) hz: f64,
}

/// A figure, or nothing.
fn shown(figure: Option<f64>, decimals: usize) -> String {
    figure.map_or(String::new(), |figure| format!("{figure:.decimals$}"))
}

pub(crate) fn tsv(rows: &[Row], scale: Scale) {
    println!(
        "name\tvariant\tthreads\tns\ttsc_cycles\tratio_to_timer_pair\tinstructions\tallocations\tmedian_cycles\
         \tmeasured\tunit\ttarget\tverdict\tinstructions_over\tinstructions_target\tinstructions_verdict\tcannot_show"
    );
    for row in rows {
        let min = row.cost.map(|cost| cost.min);
        let columns = [
            row.name.to_owned(),
            row.variant.clone(),
            row.threads.to_string(),
            shown(min.map(|min| min * 1e9 / scale.hz), 2),
            shown(min, 2),
            shown(min.map(|min| min / scale.timer_pair), 3),
            shown(row.instructions, 0),
            shown(row.allocations, 3),
            shown(row.cost.map(|cost| cost.median), 2),
            shown(row.aim.map(|aim| aim.measured), 3),
            row.aim.map_or("", |aim| aim.unit).to_owned(),
            target(row.aim),
            verdict(row.aim).to_owned(),
            shown(row.instructions_aim.map(|aim| aim.measured), 0),
            target(row.instructions_aim),
            verdict(row.instructions_aim).to_owned(),
            row.cannot_show.to_owned(),
        ];
        println!("{}", columns.join("\t"));
    }
}

fn target(aim: Option<Aim>) -> String {
    aim.and_then(|aim| aim.target).map_or(String::new(), |target| target.to_string())
}

fn verdict(aim: Option<Aim>) -> &'static str {
    match aim {
        Some(Aim { target: Some(_), .. }) if aim.is_some_and(|aim| aim.missed()) => "missed",
        Some(Aim { target: Some(_), .. }) => "reached",
        _ => "",
    }
}

pub(crate) fn text(rows: &[Row], scale: Scale) {
    println!(
        "{:<22} {:<26} {:>3} {:>7} {:>8} {:>8} {:>6} {:>6} {:>6}  target, or what it cannot show",
        "name", "variant", "thr", "ns", "cycles", "median", "ratio", "instr", "alloc"
    );
    for row in rows {
        let min = row.cost.map(|cost| cost.min);
        let mut notes: Vec<String> = [row.aim, row.instructions_aim].into_iter().flatten().map(|aim| aim_text(&aim)).collect();
        notes.extend((!row.cannot_show.is_empty()).then(|| row.cannot_show.to_owned()));
        let line = format!(
            "{:<22} {:<26} {:>3} {:>7} {:>8} {:>8} {:>6} {:>6} {:>6}  {}",
            row.name,
            row.variant,
            row.threads,
            shown(min.map(|min| min * 1e9 / scale.hz), 1),
            shown(min, 1),
            shown(row.cost.map(|cost| cost.median), 1),
            shown(min.map(|min| min / scale.timer_pair), 2),
            shown(row.instructions, 0),
            shown(row.allocations, 2),
            notes.join("; ")
        );
        println!("{}", line.trim_end());
    }
}

fn aim_text(aim: &Aim) -> String {
    let Aim { measured, unit, target, .. } = aim;
    let decimals = if *measured >= 100.0 { 0 } else { 2 };
    match target {
        None => format!("{measured:.decimals$} {unit}"),
        Some(target) if aim.missed() => format!("{measured:.decimals$} {unit}, MISSED {target}"),
        Some(target) => format!("{measured:.decimals$} {unit} {target}"),
    }
}
