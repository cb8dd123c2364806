//! The program `perfschema`.
//!
//! One file, or folder, per subcommand; each has its arguments and a function `run`. `output` knows the terminal.
#![forbid(unsafe_code)]

mod demo;
mod doc;
mod output;
#[cfg(all(feature = "instrument", target_os = "linux"))]
mod shared;
mod tables;

use clap::{Parser, Subcommand};
use std::io;
use std::process::ExitCode;

/// Off until `memory/%` is switched on, as by `perfschema demo --option 'performance-schema-instrument=memory/%=ON'`.
#[global_allocator]
static ALLOCATOR: perfschema::alloc::Allocator = perfschema::allocator!("memory/perfschema/heap");

/// See what a program waits for, while it waits.
#[derive(Debug, Parser)]
#[command(name = "perfschema", version, arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Args),
    #[cfg(all(feature = "instrument", target_os = "linux"))]
    #[command(flatten)]
    Shared(shared::Command),
    Tables(tables::Args),
    Doc(doc::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Demo(args) => demo::run(&args),
        #[cfg(all(feature = "instrument", target_os = "linux"))]
        Command::Shared(command) => shared::run(&command),
        Command::Tables(args) => tables::run(&args).map_err(Error::Output),
        Command::Doc(args) => doc::run(&args).map_err(Error::Output),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // `perfschema tables | head` is no failure.
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        // As the `mysql` client prints it.
        #[cfg(all(feature = "instrument", target_os = "linux"))]
        Err(Error::Sql(error)) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        #[cfg(all(feature = "instrument", target_os = "linux"))]
        Err(Error::Shell(error)) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("perfschema: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Why a command failed.
#[derive(Debug)]
enum Error {
    /// The demo has nothing to work on, or no performance schema to show.
    Demo(demo::DemoError),
    /// There is no such program to read from.
    #[cfg(all(feature = "instrument", target_os = "linux"))]
    Target(shared::TargetError),
    /// A statement was refused.
    #[cfg(all(feature = "instrument", target_os = "linux"))]
    Sql(perfschema_sql::Error),
    /// A script was refused, or the terminal does not work.
    #[cfg(all(feature = "instrument", target_os = "linux"))]
    Shell(shared::ShellError),
    /// Nothing can be served, or no account made.
    #[cfg(all(feature = "instrument", target_os = "linux"))]
    Serve(shared::ServeError),
    /// Metrics were not taken.
    #[cfg(all(feature = "instrument", target_os = "linux"))]
    Export(shared::ExportError),
    /// What was found out could not be written.
    Output(io::Error),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Demo(error) => error.fmt(f),
            #[cfg(all(feature = "instrument", target_os = "linux"))]
            Error::Target(error) => error.fmt(f),
            #[cfg(all(feature = "instrument", target_os = "linux"))]
            Error::Sql(error) => error.fmt(f),
            #[cfg(all(feature = "instrument", target_os = "linux"))]
            Error::Shell(error) => error.fmt(f),
            #[cfg(all(feature = "instrument", target_os = "linux"))]
            Error::Serve(error) => error.fmt(f),
            #[cfg(all(feature = "instrument", target_os = "linux"))]
            Error::Export(error) => error.fmt(f),
            Error::Output(error) => write!(f, "cannot write: {error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<demo::DemoError> for Error {
    fn from(error: demo::DemoError) -> Error {
        Error::Demo(error)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Output(error)
    }
}
