//! The commands that read other programs, which share their tables in memory.

mod account;
mod export;
mod list;
mod prometheus;
mod prune;
mod report;
mod result;
mod serve;
mod shell;
mod show;
mod sql;
mod target;
mod top;

use crate::Error;
pub(crate) use export::ExportError;
pub(crate) use serve::ServeError;
pub(crate) use shell::ShellError;
pub(crate) use target::TargetError;

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
        Command::List(args) => list::run(args).map_err(Error::Output),
        Command::Show(args) => show::run(args),
        Command::Sql(args) => sql::run(args),
        Command::Shell(args) => shell::run(args),
        Command::Top(args) => top::run(args),
        Command::Report(args) => report::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Account(args) => account::run(args),
        Command::Prometheus(args) => prometheus::run(args),
        Command::Export(args) => export::run(args),
        Command::Prune(args) => prune::run(args).map_err(Error::Output),
    }
}
