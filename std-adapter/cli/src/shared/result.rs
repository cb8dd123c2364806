//! What a statement has done, as MySQL's client prints it.

use crate::output;
use perfschema::render::Grid;
use perfschema::render::text::{Elapsed, Fit, Footer};
use perfschema_sql::{Outcome, Session, Warning};
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

/// Rows in a frame or, `vertical`, one line a value; and below them how many, with how many warnings, and how long it took.
pub(super) fn print(out: &mut dyn Write, outcome: &Outcome, vertical: bool, warnings: usize, time: Duration) -> io::Result<()> {
    let count = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let warned = if warnings == 0 { String::new() } else { format!(", {}", count(warnings as u64, "warning")) };
    let time = Elapsed(time);
    match outcome {
        Outcome::Rows(grid) => {
            write_rows(out, grid, vertical)?;
            let rows = if grid.rows.is_empty() { "Empty set".into() } else { count(grid.rows.len() as u64, "row") + " in set" };
            writeln!(out, "{rows}{warned} ({time})")
        }
        Outcome::Done { changed, info, .. } => {
            writeln!(out, "Query OK, {} affected{warned} ({time})", count(*changed, "row"))?;
            if info.is_empty() { Ok(()) } else { writeln!(out, "{info}") }
        }
    }
}

/// What a query has found.
pub(super) fn rows(outcome: Outcome) -> Grid {
    match outcome {
        Outcome::Rows(grid) => grid,
        Outcome::Done { .. } => Grid::default(),
    }
}

/// The one value of a query, as text; nothing where it is refused.
pub(super) fn value(session: &mut Session, select: &str) -> Option<String> {
    let grid = rows(session.execute(select).ok()?);
    Some(grid.rows.first()?.first()?.as_value().to_string())
}

/// What the last statement warned of: one that lists those of the statement before has none of its own.
pub(super) fn own_warnings(session: &Session) -> Vec<Warning> {
    if session.warning_count() == 0 { Vec::new() } else { session.warnings() }
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

#[cfg(test)]
mod tests {
    use super::*;
    use perfschema::core::table::SqlType;
    use perfschema::render::ColumnHead;

    #[test]
    fn what_stands_below() {
        let check = |outcome: &Outcome, warnings: usize, seconds: f64, expected: &str| {
            let mut out = Vec::new();
            print(&mut out, outcome, true, warnings, Duration::from_secs_f64(seconds)).expect("memory takes it");
            let out = String::from_utf8(out).expect("UTF-8");
            assert!(out.ends_with(expected), "{out}");
        };
        let rows = |count: usize| {
            let columns = vec![ColumnHead::new("a", SqlType::BigintUnsigned)];
            Outcome::Rows(Grid { columns, rows: vec![vec![1_u64.into()]; count] })
        };
        check(&rows(0), 0, 0.0, "Empty set (0.00 sec)\n");
        check(&rows(1), 1, 0.456, "1\n1 row in set, 1 warning (0.46 sec)\n");
        check(&rows(2), 3, 61.5, "1\n2 rows in set, 3 warnings (1 min 1.50 sec)\n");
        let done = |changed, info: &str| Outcome::Done { matched: 0, changed, info: info.into() };
        check(&done(1, ""), 0, 0.0, "Query OK, 1 row affected (0.00 sec)\n");
        check(&done(0, "Rows matched: 0"), 2, 0.0, "Query OK, 0 rows affected, 2 warnings (0.00 sec)\nRows matched: 0\n");
    }
}
