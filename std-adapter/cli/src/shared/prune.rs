//! `perfschema prune`

use super::Error;
use super::target::TargetError;
use crate::output;
use perfschema::{SharedFile, shared_files};
use std::fs;
use std::io::{self, Write};

/// Remove the tables of programs that have ended.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only those of programs of these pids.
    pids: Vec<u32>,
    /// Say what would be removed, and remove nothing.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let mut out = output::stdout();
    let chosen = |file: &&SharedFile| args.pids.is_empty() || args.pids.contains(&file.pid());
    let files = shared_files().map_err(|error| Error::Target(TargetError::Directory(error)))?;
    for file in files.iter().filter(chosen).filter(|file| !file.is_in_use()) {
        if !args.dry_run {
            match fs::remove_file(file.path()) {
                // Somebody else was faster.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", file.path().display())).into()),
                Ok(()) => {}
            }
        }
        writeln!(out, "{}", file.path().display())?;
    }
    Ok(out.flush()?)
}
