//! The form of what is printed: for eyes, fitted to the terminal, or for programs.

use clap::ValueEnum;
use perfschema::render::Grid;
use perfschema::render::text::{Fit, Footer, Times};
use std::io::{self, Write};

/// How to print tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// In frames, for people.
    Table,
    /// One line a value, for people.
    Vertical,
    /// Comma-separated values; all columns, times in picoseconds.
    Csv,
    /// JSON lines; all columns, times in picoseconds.
    Json,
}

impl Format {
    /// Whether programs read it: then nothing else goes to the standard output.
    pub(crate) fn is_for_programs(self) -> bool {
        matches!(self, Format::Csv | Format::Json)
    }

    /// Prints one table.
    pub(crate) fn write(self, out: &mut dyn Write, grid: &Grid, width: usize) -> io::Result<()> {
        match self {
            Format::Table => {
                let text = grid.boxed().fit(Fit::Columns(width)).times(Times::Human).footer(Footer::None);
                write!(out, "{text}")
            }
            Format::Vertical => write!(out, "{}", grid.vertical().times(Times::Human).footer(Footer::None)),
            Format::Csv => write!(out, "{}", grid.csv()),
            Format::Json => write!(out, "{}", grid.json_lines()),
        }
    }
}

/// The columns of the terminal that the standard output is; without one, those of `COLUMNS`, or 80.
pub(crate) fn width() -> usize {
    let terminal = console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    let variable = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    terminal.or_else(variable).filter(|&columns| columns >= 20).unwrap_or(80)
}

/// The standard output, in large pieces.
pub(crate) fn stdout() -> io::BufWriter<io::StdoutLock<'static>> {
    io::BufWriter::new(io::stdout().lock())
}
