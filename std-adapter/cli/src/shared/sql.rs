//! `perfschema sql`

use super::target::{self, State};
use super::{Error, result};
use crate::arguments::positive;
use crate::input;
use crate::output::{self, Format};
use perfschema::Attached;
use perfschema::render::text::escape;
use perfschema_sql::{Account, Database, Limits, Outcome, Piece, Session, split};
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Ask another program's tables with SQL, in MySQL's dialect; change its setup.
///
/// The program may run, be stopped, or have ended; one that has ended can only be read. The current schema is performance_schema.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program: its pid, its name, or the path of a file: its region, or a core dump of it.
    target: OsString,
    /// Statements, with `;` or `\G` between them: `\G` prints one line a value. Without any, they are read from the standard
    /// input.
    statements: Option<String>,
    /// How to print rows.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Print comma-separated values: --format csv.
    #[arg(long, conflicts_with_all = ["json", "format"])]
    csv: bool,
    /// Print one JSON object a row: --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// How long one statement may take, in seconds.
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = positive::<u64>, allow_negative_numbers = true)]
    timeout: u64,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let (attached, watch) = target::find_and_watch(&args.target).map_err(Error::Target)?;
    let ended = watch.state() == State::Ended;
    let mut session = session(attached, ended, args.timeout)?;
    let text = match &args.statements {
        Some(text) => text.clone(),
        None => from_standard_input().map_err(Error::Input)?,
    };
    let mut out = output::stdout();
    for (index, piece) in split(&text).iter().enumerate() {
        let started = Instant::now();
        let result = session.execute(&piece.text);
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(error) => {
                // What the statements before have printed comes first.
                out.flush()?;
                if ended && error.errno == 1290 {
                    note!("perfschema: the program has ended, its tables can only be read");
                }
                return Err(Error::Sql(error));
            }
        };
        print(&mut out, args, index, piece, &outcome, started.elapsed())?;
        for warning in result::own_warnings(&session) {
            out.flush()?;
            note!("{} {}: {}", warning.level, warning.error.errno, escape(&warning.error.message));
        }
    }
    out.flush()?;
    Ok(())
}

/// Only reads what has ended.
pub(super) fn session(attached: Arc<Attached>, ended: bool, timeout: u64) -> Result<Session, Error> {
    let mut database = Database::new(attached).limits(Limits { time: Duration::from_secs(timeout), ..Limits::default() });
    if ended {
        database = database.read_only();
    }
    let mut session = database.session(Account::default()).map_err(Error::Sql)?;
    session.use_schema(perfschema::core::table::SCHEMA).map_err(Error::Sql)?;
    Ok(session)
}

fn from_standard_input() -> io::Result<String> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        note!("perfschema: reading statements from the terminal, until Ctrl-D");
    }
    let text = input::text(stdin.lock(), input::MAX_TEXT)?;
    // Some editors mark UTF-8, and the mark is no part of a statement.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// What the `mysql` client prints; for programs, rows and nothing else.
fn print(out: &mut dyn Write, args: &Args, index: usize, piece: &Piece, outcome: &Outcome, time: Duration) -> io::Result<()> {
    let format = match args {
        Args { csv: true, .. } => Format::Csv,
        Args { json: true, .. } => Format::Json,
        Args { format, .. } => *format,
    };
    match (outcome, format) {
        (Outcome::Rows(grid), Format::Csv | Format::Json) => format.write(out, grid, 0),
        (Outcome::Done { .. }, Format::Csv | Format::Json) => Ok(()),
        (outcome, _) => {
            if index > 0 {
                writeln!(out)?;
            }
            result::print(out, outcome, piece.vertical || format == Format::Vertical, 0, time)
        }
    }
}
