//! `perfschema account`

use super::{Error, ServeError};
use crate::output;
use clap::ValueEnum;
use perfschema_server::account_line;
use perfschema_sql as sql;
use std::io::{self, BufRead, IsTerminal, Write};

/// Print a line for the file of accounts that `perfschema serve` takes. The password is read from the standard input.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Who it is for.
    name: String,
    /// What the account may do.
    #[arg(value_enum)]
    right: Right,
    /// Also for clients that only know mysql_native_password, whose hash is the weaker one.
    #[arg(long)]
    native: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Right {
    /// SELECT and SHOW.
    Reader,
    /// Also UPDATE, INSERT, DELETE, TRUNCATE and KILL.
    Controller,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let right = match args.right {
        Right::Reader => sql::Right::Read,
        Right::Controller => sql::Right::Control,
    };
    let password = password().map_err(|error| Error::Serve(ServeError::Password(error)))?;
    let line = account_line(&args.name, right, &password, args.native).map_err(|what| Error::Serve(ServeError::Account(what)))?;
    let mut out = output::stdout();
    writeln!(out, "{line}")?;
    out.flush()?;
    Ok(())
}

/// A line: from a terminal without showing it.
fn password() -> io::Result<String> {
    if io::stdin().is_terminal() {
        let _ = io::stderr().write_all(b"Password: ");
        return console::Term::stderr().read_secure_line();
    }
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}
