//! What a statement has done, as MySQL's client prints it.

use crate::output;
use perfschema::render::Grid;
use perfschema::render::text::{Fit, Footer};
use perfschema_sql::Outcome;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

/// Rows in a frame or, `vertical`, one line a value; and below them how many, with how many warnings, and how long it took.
pub(super) fn print(out: &mut dyn Write, outcome: &Outcome, vertical: bool, warnings: usize, time: Duration) -> io::Result<()> {
    let count = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let warned = if warnings == 0 { String::new() } else { format!(", {}", count(warnings as u64, "warning")) };
    let (minutes, seconds) = (time.as_secs() / 60, time.as_secs_f64() % 60.0);
    let seconds = if minutes == 0 { format!("{seconds:.2} sec") } else { format!("{minutes} min {seconds:.2} sec") };
    match outcome {
        Outcome::Rows(grid) => {
            write_rows(out, grid, vertical)?;
            let rows = if grid.rows.is_empty() { "Empty set".into() } else { count(grid.rows.len() as u64, "row") + " in set" };
            writeln!(out, "{rows}{warned} ({seconds})")
        }
        Outcome::Done { changed, info, .. } => {
            writeln!(out, "Query OK, {} affected{warned} ({seconds})", count(*changed, "row"))?;
            if info.is_empty() { Ok(()) } else { writeln!(out, "{info}") }
        }
    }
}

fn write_rows(out: &mut dyn Write, grid: &Grid, vertical: bool) -> io::Result<()> {
    if grid.rows.is_empty() {
        return Ok(());
    }
    // Nothing is shortened that goes into a file or a pipe.
    let fit = if io::stdout().is_terminal() { Fit::Columns(output::width()) } else { Fit::Never };
    let text = if vertical { grid.vertical() } else { grid.boxed() };
    write!(out, "{}", text.fit(fit).footer(Footer::None))
}
