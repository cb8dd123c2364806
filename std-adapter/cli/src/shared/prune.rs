//! `perfschema prune`

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

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let mut out = output::stdout();
    let chosen = |file: &&SharedFile| args.pids.is_empty() || args.pids.contains(&file.pid());
    for file in shared_files()?.iter().filter(chosen).filter(|file| !file.is_in_use()) {
        if !args.dry_run {
            match fs::remove_file(file.path()) {
                // Somebody else was faster.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                result => result?,
            }
        }
        writeln!(out, "{}", file.path().display())?;
    }
    out.flush()
}
