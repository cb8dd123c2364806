//! `perfschema report`
//!
//! ```text
//!  program ─ SQL ─→ sections: grids, and what to draw of them ─→ chart: SVG ─→ page: HTML
//! ```

mod chart;
mod page;
mod section;

use super::target::{self, State};
use super::{Error, result};
use crate::output;
use perfschema::render::text::escape;
use perfschema_server::write_whole;
use perfschema_sql::{Account, Database, Right};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Write one HTML page about a program, to attach to a ticket: what waits now, what took the time, files, losses, setup, with
/// charts.
///
/// The page needs nothing but itself, and no script. The program may run, be stopped, or have ended.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program: its pid, its name, or the path of a file: its region, or a core dump of it.
    target: OsString,
    /// Where to write it; - is the standard output [default: the standard output, and at a terminal perfschema-PID.html].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let (attached, watch) = target::find_and_watch(&args.target).map_err(Error::Target)?;
    let region = attached.region();
    let (program, pid) = (escape(region.program().as_str()), region.pid());
    let (start_unix_ns, size_bytes) = (region.start_unix_ns(), region.size_bytes());
    let state = watch.state();
    let database = Database::new(attached);
    // Of a program that has ended the clock has stopped, too.
    let database = if state == State::Ended { database.read_only() } else { database };
    let account = Account { right: Right::Read, ..Account::default() };
    let mut session = database.session(account).map_err(Error::Sql)?;
    let sections = section::all(&mut session).map_err(Error::Sql)?;
    let start = format!("SELECT FROM_UNIXTIME({})", start_unix_ns / 1_000_000_000);
    let mut text = |select: &str| result::value(&mut session, select).unwrap_or_default();
    let facts = [
        ("Program", format!("{program}, pid {pid}, {}", state.name())),
        ("Written", format!("{} UTC", text("SELECT NOW()"))),
        ("Recorded since", format!("{} UTC", text(&start))),
        ("Threads", text("SELECT COUNT(*) FROM performance_schema.threads")),
        ("Memory of the tables", indicatif::BinaryBytes(size_bytes as u64).to_string()),
    ];
    let page = page::render(&format!("{program}, pid {pid}"), &facts, &sections);
    write_page(args, pid, &page).map_err(Error::Output)
}

fn write_page(args: &Args, pid: u32, page: &str) -> io::Result<()> {
    let is_dash = args.output.as_ref().is_some_and(|path| path.as_os_str() == "-");
    if is_dash || (args.output.is_none() && !io::stdout().is_terminal()) {
        let mut out = output::stdout();
        out.write_all(page.as_bytes())?;
        return out.flush();
    }
    let (path, written) = match &args.output {
        Some(path) => (path.clone(), replace(path, page.as_bytes())),
        None => {
            let path = PathBuf::from(format!("perfschema-{pid}.html"));
            // What the user has named is replaced, nothing else is.
            let written = File::create_new(&path).and_then(|mut file| {
                // A part of a page is none.
                file.write_all(page.as_bytes()).inspect_err(|_| drop(fs::remove_file(&path)))
            });
            (path, written)
        }
    };
    written.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", output::path(&path))))?;
    note!("perfschema: {} written", output::path(&path));
    Ok(())
}

/// Puts the page in the place of a file, as a whole. To what is none, as a pipe or /dev/stdout, it is written; also to a file in a folder
/// where there may be no other.
fn replace(path: &Path, page: &[u8]) -> io::Result<()> {
    let in_place = || OpenOptions::new().write(true).create(true).truncate(true).open(path)?.write_all(page);
    // A link leads to the new page, too.
    let place = match fs::canonicalize(path) {
        Ok(place) if place.is_file() => place,
        Err(_) if fs::symlink_metadata(path).is_err() => path.to_owned(),
        _ => return in_place(),
    };
    match write_whole(&place, page) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => in_place(),
        written => written,
    }
}
