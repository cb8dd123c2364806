//! `perfschema prune`

use super::Error;
use super::target::TargetError;
use crate::arguments::positive;
use crate::output;
use perfschema::{SharedFile, shared_files};
use std::fs;
use std::io::{self, Write};

/// Remove the tables of programs that have ended.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only those of programs of these pids.
    #[arg(value_parser = positive::<u32>, allow_negative_numbers = true)]
    pids: Vec<u32>,
    /// Say what would be removed, and remove nothing.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let mut out = output::stdout();
    let chosen = |file: &&SharedFile| args.pids.is_empty() || args.pids.contains(&file.pid());
    let files = shared_files().map_err(|error| Error::Target(TargetError::Directory(error)))?;
    // Who reads no more of the list wants the rest removed all the same.
    let mut written = Ok(());
    let (in_use, ended): (Vec<_>, Vec<_>) = files.iter().filter(chosen).partition(|file| file.is_in_use());
    for pid in &args.pids {
        if in_use.iter().any(|file| file.pid() == *pid) {
            note!("perfschema: program {pid} runs and keeps its tables");
        } else if ended.iter().all(|file| file.pid() != *pid) {
            note!("perfschema: no program {pid} has left tables; `perfschema list` shows which have");
        }
    }
    let mut left = 0;
    for file in ended {
        if !args.dry_run {
            match fs::remove_file(file.path()) {
                // Somebody else was faster.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    note!("perfschema: cannot remove {}: {error}", output::path(file.path()));
                    left += 1;
                    continue;
                }
                Ok(()) => {}
            }
        }
        written = written.and_then(|()| writeln!(out, "{}", file.path().display()));
    }
    written.and_then(|()| out.flush())?;
    if left == 0 { Ok(()) } else { Err(Error::Left(left)) }
}
