//! `perfschema account`

use super::{Error, ServeError};
use crate::output;
use clap::ValueEnum;
use perfschema_server::account_line;
use perfschema_sql as sql;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
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
    let input = io::stdin();
    let hidden = if input.is_terminal() { Some(Hidden::new()?) } else { None };
    let mut line = String::new();
    let read = input.lock().read_line(&mut line);
    drop(hidden);
    read.map(|_| line.trim_end_matches(['\n', '\r']).to_owned())
}

/// A terminal that does not show what is typed, until this is dropped, or a signal ends the program.
struct Hidden(Termios);

impl Hidden {
    fn new() -> io::Result<Hidden> {
        let before = tcgetattr(io::stdin())?;
        let mut hidden = before.clone();
        hidden.local_modes -= LocalModes::ECHO;
        let kept = Hidden(before.clone());
        // Whoever ends it by Ctrl-C must see again what they type.
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
        std::thread::spawn(move || {
            for signal in signals.forever() {
                drop(Hidden(before.clone()));
                // It ends the program.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        });
        let _ = io::stderr().write_all(b"Password: ");
        tcsetattr(io::stdin(), OptionalActions::Flush, &hidden)?;
        Ok(kept)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // A terminal that is gone needs it no more. The end of the line was not shown either.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
        let _ = io::stderr().write_all(b"\n");
    }
}
