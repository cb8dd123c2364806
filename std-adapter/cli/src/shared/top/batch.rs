//! The same lists as plain text, for what is no terminal.

use super::layout::{self, GAP};
use super::program::{Program, threads_text};
use super::view::{Listing, VIEWS};
use super::{Args, View};
use crate::output;
use crate::shared::Error;
use crate::shared::target::State;
use std::io::{self, IsTerminal, Write};
use std::slice;
use std::time::Instant;

pub(super) fn run(args: &Args, mut program: Program) -> Result<(), Error> {
    let views = args.view.map_or(VIEWS, slice::from_ref);
    // Nothing is shortened that goes into a file or a pipe.
    let width = if io::stdout().is_terminal() { output::width() } else { usize::MAX };
    let iterations = args.iterations.unwrap_or(1);
    // Rates are those of the time between two looks; of a program that has ended there are none.
    for view in views {
        program.read(view).map_err(Error::Sql)?;
    }
    for iteration in 0..iterations {
        let begin = Instant::now();
        if program.state != State::Ended {
            std::thread::sleep(args.delay);
        }
        program.look().map_err(Error::Sql)?;
        let mut out = output::stdout();
        if iteration > 0 {
            writeln!(out)?;
        }
        writeln!(
            out,
            "{} {}, {}, {:.2} s",
            program.name(),
            program.state.name(),
            threads_text(program.threads()),
            begin.elapsed().as_secs_f64()
        )?;
        if let lost @ [_, ..] = program.lost().as_slice() {
            writeln!(out, "lost: {}", lost.join(", "))?;
        }
        for view in views {
            let listing = program.read(view).map_err(Error::Sql)?;
            write_view(&mut out, view, &listing, &args.filter, width)?;
        }
        out.flush()?;
        if program.state == State::Ended {
            break;
        }
    }
    Ok(())
}

fn write_view(out: &mut dyn Write, view: &View, listing: &Listing, filter: &str, width: usize) -> io::Result<()> {
    let rows = layout::arranged(listing, filter, listing.sort);
    writeln!(out, "\n{}", view.title)?;
    if rows.is_empty() {
        return writeln!(out, "nothing at the moment");
    }
    let texts = layout::texts(&listing.columns, &rows);
    let fitting = layout::fit(&listing.columns, &texts, width);
    let mut line = |cell: &dyn Fn(usize) -> String| {
        let cells = fitting.iter().map(|&(index, width)| layout::pad(&cell(index), width, listing.columns[index].shown));
        writeln!(out, "{}", cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end())
    };
    line(&|index| listing.columns[index].title.to_uppercase())?;
    texts.iter().try_for_each(|row| line(&|index| row[index].clone()))
}
