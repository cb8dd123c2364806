//! The form of what is printed: for eyes, fitted to the terminal, or for programs.

use clap::ValueEnum;
use perfschema::render::Grid;
use perfschema::render::text::{Fit, Footer, Times, escape};
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// A line for people, on the standard error; as `eprintln!`. Where nobody can read it any more, as on a terminal that was closed, the work
/// goes on.
macro_rules! note {
    ($($line:tt)*) => { $crate::output::write_line(std::io::stderr(), format_args!($($line)*)) };
}

/// The same on the standard output, for people only; as `println!`.
#[cfg(all(feature = "instrument", target_os = "linux"))]
macro_rules! say {
    ($($line:tt)*) => { $crate::output::write_line(std::io::stdout(), format_args!($($line)*)) };
}

pub(crate) fn write_line(mut to: impl Write, line: std::fmt::Arguments<'_>) {
    // As a whole, and not each part by itself.
    let _ = to.write_all(harmless(&format!("{line}\n")).as_bytes()).and_then(|()| to.flush());
}

/// The text with everything escaped that a terminal would act on, but the ends of its lines and tabs.
pub(crate) fn harmless(text: &str) -> String {
    let mut harmless = String::with_capacity(text.len());
    for part in text.split_inclusive(['\n', '\t']) {
        let shown = part.trim_end_matches(['\n', '\t']);
        harmless += &escape(shown);
        harmless += &part[shown.len()..];
    }
    harmless
}

/// A path in a sentence, which it shall not divide.
pub(crate) fn path(path: &Path) -> String {
    escape(&path.display().to_string())
}

/// Writes what programs read, as it is; but to a terminal, where somebody looks at it, so that no name in it commands that.
pub(crate) fn write_data(out: &mut dyn Write, data: impl Display) -> io::Result<()> {
    if io::stdout().is_terminal() { write!(out, "{}", harmless(&data.to_string())) } else { write!(out, "{data}") }
}

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
            Format::Csv => write_data(out, grid.csv()),
            Format::Json => write!(out, "{}", grid.json_lines()),
        }
    }
}

/// The columns of the terminal that the standard output is; without one, those of `COLUMNS`, or 80.
pub(crate) fn width() -> usize {
    let terminal = console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    terminal.or_else(columns).filter(|&columns| columns >= 20).unwrap_or(80)
}

/// What `COLUMNS` says. Empty, 0 or no number, as where a shell has exported it without a terminal, it says nothing.
fn columns() -> Option<usize> {
    std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|&columns| columns > 0)
}

/// The same for rows of a program's tables: of those, nothing is shortened that goes into a file or a pipe, unless `COLUMNS` says so.
#[cfg(all(feature = "instrument", target_os = "linux"))]
pub(crate) fn width_of_rows() -> usize {
    let is_fitted = io::stdout().is_terminal() || columns().is_some();
    if is_fitted { width() } else { usize::MAX }
}

/// The standard output, in large pieces.
pub(crate) fn stdout() -> io::BufWriter<io::StdoutLock<'static>> {
    io::BufWriter::new(io::stdout().lock())
}

/// A sentence in lines that fit the width, but for words that are longer.
pub(crate) fn lines(sentence: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in sentence.split(' ') {
        match lines.last_mut() {
            Some(line) if console::measure_text_width(line) + 1 + console::measure_text_width(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn sentences_are_wrapped_between_words() {
        assert_eq!(lines("As it is.", 9), ["As it is."]);
        assert_eq!(lines("As it is.", 8), ["As it", "is."]);
        assert_eq!(lines("A setup_instruments row", 6), ["A", "setup_instruments", "row"]);
    }

    #[test]
    fn lines_and_tabs_stay() {
        assert_eq!(super::harmless("a\tb\n\n\u{1b}[2J\r日\u{202e}\n"), "a\tb\n\n\\u{1b}[2J\\r日\\u{202e}\n");
    }
}
