//! `perfschema show`

use super::{Error, target};
use crate::output::{self, Format};
use perfschema::core::table::{SCHEMA, Table};
use perfschema::render::{self, Grid, OwnedValue};
use perfschema::tables;
use std::ffi::OsString;
use std::io::Write;

/// Print a table of another program, which runs, is stopped, or has ended.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program: its pid, its name, or the path of a file: its region, or a core dump of it.
    target: OsString,
    /// The table; `perfschema tables` lists them.
    #[arg(default_value = "events_waits_current", value_parser = table)]
    table: &'static dyn Table,
    /// How to print it.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

fn table(name: &str) -> Result<&'static dyn Table, String> {
    let (schema, table) = name.split_once('.').unwrap_or((SCHEMA, name));
    if !schema.eq_ignore_ascii_case(SCHEMA) {
        return Err(format!("expected a table of {SCHEMA}; `perfschema sql TARGET \"SELECT * FROM {name}\"` shows others"));
    }
    tables::find(table).map_err(|error| format!("{error}; `perfschema tables` lists them"))
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let attached = target::find(&args.target).map_err(Error::Target)?;
    let (mut grid, sweep) = Grid::collect(attached.region(), args.table, |_| true);
    if !args.format.is_for_programs() {
        leave_out_empty_columns(&mut grid);
    }
    let mut out = output::stdout();
    args.format.write(&mut out, &grid, output::width_of_rows())?;
    out.flush()?;
    if let Some(missing) = render::missing(&sweep) {
        note!("perfschema: {missing}");
    }
    Ok(())
}

/// Leaves out the columns that are NULL in every row: a wait for a lock has no object name, no index, no bytes.
pub(super) fn leave_out_empty_columns(grid: &mut Grid) {
    let is_null = |row: &Vec<OwnedValue>, column: usize| row.get(column).is_none_or(|value| *value == OwnedValue::Null);
    leave_out(grid, |grid, column| !grid.rows.is_empty() && grid.rows.iter().all(|row| is_null(row, column)));
}

/// Leaves out the columns of which this is true.
pub(super) fn leave_out(grid: &mut Grid, is_left_out: impl Fn(&Grid, usize) -> bool) {
    let keep: Vec<bool> = (0..grid.columns.len()).map(|column| !is_left_out(grid, column)).collect();
    let mut kept = keep.iter();
    grid.columns.retain(|_| *kept.next().unwrap_or(&true));
    for row in &mut grid.rows {
        let mut kept = keep.iter();
        row.retain(|_| *kept.next().unwrap_or(&true));
    }
}
