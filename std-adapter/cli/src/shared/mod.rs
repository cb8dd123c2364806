//! The commands that read other programs, which share their tables in memory.

mod account;
mod export;
mod freed;
mod list;
mod prometheus;
mod prune;
mod report;
mod result;
mod serve;
mod shell;
mod show;
mod signals;
mod sql;
mod target;
mod top;

use export::ExportError;
use serve::ServeError;
use shell::ShellError;
use std::{fmt, io};
use target::TargetError;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Show(show::Args),
    Sql(sql::Args),
    Shell(shell::Args),
    Top(top::Args),
    Report(report::Args),
    Serve(serve::Args),
    Account(account::Args),
    Prometheus(prometheus::Args),
    Export(export::Args),
    Prune(prune::Args),
}

pub(crate) fn run(command: &Command) -> Result<(), Error> {
    match command {
        Command::List(args) => list::run(args),
        Command::Show(args) => show::run(args),
        Command::Sql(args) => sql::run(args),
        Command::Shell(args) => shell::run(args),
        Command::Top(args) => top::run(args),
        Command::Report(args) => report::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Account(args) => account::run(args),
        Command::Prometheus(args) => prometheus::run(args),
        Command::Export(args) => export::run(args),
        Command::Prune(args) => prune::run(args),
    }
}

/// Why one of them failed.
#[derive(Debug)]
pub(crate) enum Error {
    /// There is no such program to read from.
    Target(TargetError),
    /// A statement was refused.
    Sql(perfschema_sql::Error),
    /// A script was refused, or the terminal does not work.
    Shell(ShellError),
    /// Nothing can be served, or no account made.
    Serve(ServeError),
    /// Metrics were not taken.
    Export(ExportError),
    /// So many files were not removed; why not has been said.
    Left(usize),
    /// It would not notice that it should end.
    Signals(io::Error),
    /// It cannot wait for two things at once.
    Thread(io::Error),
    /// The statements cannot be read.
    Input(io::Error),
    /// What was found out could not be written.
    Output(io::Error),
}

impl Error {
    /// Whether it is worded as MySQL's client words what it prints.
    pub(crate) fn is_of_a_statement(&self) -> bool {
        matches!(self, Error::Sql(_) | Error::Shell(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Target(error) => error.fmt(f),
            Error::Sql(error) => error.fmt(f),
            Error::Shell(error) => error.fmt(f),
            Error::Serve(error) => error.fmt(f),
            Error::Export(error) => error.fmt(f),
            Error::Left(1) => write!(f, "1 file is left"),
            Error::Left(files) => write!(f, "{files} files are left"),
            Error::Signals(error) => write!(f, "cannot wait for signals: {error}"),
            Error::Thread(error) => write!(f, "cannot start a thread: {error}"),
            Error::Input(error) => write!(f, "cannot read: {error}"),
            Error::Output(error) => error.fmt(f),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Output(error)
    }
}
