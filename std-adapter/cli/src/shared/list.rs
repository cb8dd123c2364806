//! `perfschema list`

use super::Error;
use super::target::TargetError;
use crate::output::{self, Format};
use perfschema::core::table::SqlType;
use perfschema::metric::Moment;
use perfschema::render::{ColumnHead, Grid, OwnedValue};
use perfschema::{AttachError, SharedFile, shared_files, tables};
use std::io::{self, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// List the programs of this user that share their tables, and those that did until they ended.
///
/// A program shares them if it is started with PERFSCHEMA_SHARE=1, or says so itself. Another user's are in /dev/shm/perfschema-UID, for that
/// user and root. In frames too wide for the terminal their files are left out.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How to print them.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let text = |name| ColumnHead::new(name, SqlType::Varchar(256)).not_null();
    let number = |name| ColumnHead::new(name, SqlType::BigintUnsigned);
    let program = ColumnHead::new("PROGRAM", SqlType::Varchar(256));
    let columns = vec![number("PID"), program, text("STATE"), text("STARTED"), number("THREADS"), text("FILE")];
    let files = shared_files().map_err(|error| Error::Target(TargetError::Directory(error)))?;
    let mut unreadable = Vec::new();
    let mut grid = Grid { columns, rows: files.iter().filter_map(|file| row(file, args.format, &mut unreadable)).collect() };
    let width = output::width_of_rows();
    if args.format == Format::Table && grid.boxed().to_string().lines().any(|line| line.chars().count() > width) {
        // Cut, paths say nothing; a pid is enough to name a program.
        grid.columns.pop();
        grid.rows.iter_mut().for_each(|row| drop(row.pop()));
    }
    let mut out = output::stdout();
    if grid.rows.is_empty() && !args.format.is_for_programs() {
        writeln!(out, "No program of this user shares its tables. Start one with PERFSCHEMA_SHARE=1.")?;
    } else {
        args.format.write(&mut out, &grid, width)?;
    }
    out.flush()?;
    for (pid, error) in unreadable {
        note!("perfschema: {pid}: {error}");
    }
    Ok(())
}

/// None if somebody has removed it meanwhile.
fn row(file: &SharedFile, format: Format, unreadable: &mut Vec<(u32, AttachError)>) -> Option<Vec<OwnedValue>> {
    let state = if file.is_in_use() { "runs" } else { "ended" };
    let (program, threads) = match file.attach() {
        Ok(attached) => {
            let mut threads = 0_u64;
            attached.region().scan(&tables::Threads, |_| threads += 1);
            (Some(attached.region().program()), Some(threads))
        }
        Err(AttachError::File(error)) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => {
            unreadable.push((file.pid(), error));
            (file.program(), None)
        }
    };
    let program = program.map(|program| program.as_str().to_owned());
    let path = file.path().display().to_string();
    Some(vec![
        u64::from(file.pid()).into(),
        program.into(),
        state.into(),
        started(file, format).into(),
        threads.into(),
        path.into(),
    ])
}

/// How long ago, for people; for programs when, in UTC.
fn started(file: &SharedFile, format: Format) -> String {
    let since = Duration::from_nanos(file.start_unix_ns());
    if format.is_for_programs() {
        return Moment::of_seconds(since.as_secs()).text().to_string();
    }
    SystemTime::now().duration_since(UNIX_EPOCH + since).map_or_else(|_| "now".to_owned(), ago)
}

fn ago(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..60 => format!("{seconds} s ago"),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::DirBuilderExt;
    use std::path::PathBuf;

    /// As by `perfschema prune` meanwhile.
    #[test]
    fn a_file_that_is_removed_is_no_row() {
        let folder = PathBuf::from(format!("/dev/shm/perfschema-{}", rustix::process::geteuid().as_raw()));
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).expect("there is shared memory");
        // No process has such a number.
        let path = folder.join(format!("{}-1", u32::MAX - std::process::id()));
        std::fs::write(&path, "nothing").expect("it is this user's");
        let files = shared_files().expect("it is there");
        let file = files.iter().find(|file| file.path() == path).expect("it is listed");
        let mut unreadable = Vec::new();
        let is_row = row(file, Format::Csv, &mut unreadable).is_some();
        std::fs::remove_file(path).expect("it is this user's");
        assert!(is_row && unreadable.len() == 1);
        assert!(row(file, Format::Csv, &mut unreadable).is_none() && unreadable.len() == 1);
    }
}
