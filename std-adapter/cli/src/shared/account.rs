//! `perfschema account`

use super::signals::hang_up;
use super::{Error, ServeError};
use crate::{input, output};
use clap::ValueEnum;
use perfschema_server::{AccountError, account_line};
use perfschema_sql as sql;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGCONT, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Print a line for the file of accounts that `perfschema serve` takes.
///
/// The password is asked for, twice; where the standard input is no terminal, it is the first line of that. The file has to be its
/// owner's alone.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  (umask 077; perfschema account grafana reader >> accounts)")]
pub(crate) struct Args {
    /// Who it is for: 1 to 32 characters, without spaces and #.
    #[arg(value_parser = name)]
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

/// Looked at before a password is asked for.
fn name(name: &str) -> Result<String, AccountError> {
    account_line(name, sql::Right::Read, "any", false).map(|_| name.to_owned())
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let right = match args.right {
        Right::Reader => sql::Right::Read,
        Right::Controller => sql::Right::Control,
    };
    let password = password().map_err(Error::Serve)?;
    let line =
        account_line(&args.name, right, &password, args.native).map_err(|error| Error::Serve(ServeError::Account(error)))?;
    let mut out = output::stdout();
    writeln!(out, "{line}")?;
    out.flush()?;
    Ok(())
}

/// A line; from a terminal without showing it, and a second time, since nobody has seen whether it is what was meant.
fn password() -> Result<String, ServeError> {
    if !io::stdin().is_terminal() {
        return line().map_err(ServeError::Password);
    }
    let hidden = Hidden::new("Password: ").map_err(ServeError::Password)?;
    let password = line().map_err(ServeError::Password)?;
    // One that is empty is refused anyway.
    if !password.is_empty() {
        hidden.ask("The same again: ");
        if line().map_err(ServeError::Password)? != password {
            return Err(ServeError::PasswordsDiffer);
        }
    }
    Ok(password)
}

fn line() -> io::Result<String> {
    let line = input::line(io::stdin().lock(), input::MAX_SETTINGS)?;
    Ok(io::read_to_string(line.as_slice())?.trim_end_matches(['\n', '\r']).to_owned())
}

/// A terminal that shows of what is typed only the ends of lines, until this is dropped; while the program is stopped, by Ctrl-Z say, and
/// once a signal ends it, it is as it was.
struct Hidden(Arc<Mutex<State>>);

struct State {
    before: Termios,
    /// What was asked last, to be asked again of who comes back; None once there is nothing to hide.
    question: Option<&'static str>,
}

impl Hidden {
    /// Asks the first question.
    fn new(question: &'static str) -> io::Result<Hidden> {
        let state = Arc::new(Mutex::new(State { before: tcgetattr(io::stdin())?, question: Some(question) }));
        let mut signals = Signals::new(hang_up().chain([SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT]))?;
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for signal in signals.forever() {
                let state = lock(&shared);
                if signal == SIGCONT {
                    // A terminal that is gone asks nobody.
                    let _ = state.hide();
                } else {
                    state.show();
                    // It ends or stops the program.
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
            }
        });
        let hidden = Hidden(state);
        lock(&hidden.0).hide()?;
        Ok(hidden)
    }

    /// What was typed ahead counts.
    fn ask(&self, question: &'static str) {
        lock(&self.0).question = Some(question);
        let _ = io::stderr().write_all(question.as_bytes());
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let mut state = lock(&self.0);
        state.show();
        state.question = None;
    }
}

impl State {
    fn hide(&self) -> io::Result<()> {
        let Some(question) = self.question else { return Ok(()) };
        let mut hidden = self.before.clone();
        hidden.local_modes -= LocalModes::ECHO;
        hidden.local_modes |= LocalModes::ECHONL;
        // First, so that nobody who has seen the question is shown what they answer. What was typed before is none.
        tcsetattr(io::stdin(), OptionalActions::Flush, &hidden)?;
        let _ = io::stderr().write_all(question.as_bytes());
        Ok(())
    }

    fn show(&self) {
        if self.question.is_some() {
            // A terminal that is gone needs it no more.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // Nothing in it is ever half done.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
