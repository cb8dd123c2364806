//! `perfschema tables`

use crate::output::{self, Format};
use perfschema::core::table::SqlType;
use perfschema::render::{ColumnHead, Grid};
use perfschema::tables;
use std::io::{self, Write};

/// List the tables.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How to print them.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Before what is said of a table, where each has lines of its own.
const INDENT: &str = "    ";

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let column = |name| ColumnHead::new(name, SqlType::Varchar(256)).not_null();
    let rows = tables::ALL.iter().map(|table| {
        let declaration = table.declaration();
        vec![declaration.name.into(), declaration.doc.into()]
    });
    let grid = Grid { columns: vec![column("TABLE"), column("WHAT ITS ROWS ARE")], rows: rows.collect() };
    let mut out = output::stdout();
    let width = output::width();
    if args.format == Format::Table && grid.boxed().to_string().lines().any(|line| line.len() > width) {
        // Cut, the sentences would say nothing.
        for table in tables::ALL {
            let declaration = table.declaration();
            writeln!(out, "{}", console::style(declaration.name).bold())?;
            lines(declaration.doc, width - INDENT.len()).iter().try_for_each(|line| writeln!(out, "{INDENT}{line}"))?;
        }
    } else {
        args.format.write(&mut out, &grid, width)?;
    }
    out.flush()
}

/// A sentence in lines that fit the width, but for words that are longer.
fn lines(sentence: &str, width: usize) -> Vec<String> {
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
}
