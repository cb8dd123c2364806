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
            output::lines(declaration.doc, width - INDENT.len()).iter().try_for_each(|line| writeln!(out, "{INDENT}{line}"))?;
        }
    } else {
        args.format.write(&mut out, &grid, width)?;
    }
    out.flush()
}
