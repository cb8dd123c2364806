//! The program `perfschema`.
//!
//! One file, or folder, per subcommand; each has its arguments and a function `run`. `output` knows the terminal, `input` how much
//! is read at most.
#![deny(unsafe_code)]
// They panic where nobody can read them any more, as on a terminal that was closed.
#![warn(clippy::print_stderr, clippy::print_stdout)]

#[macro_use]
mod output;

mod arguments;
mod demo;
mod doc;
#[cfg(all(feature = "instrument", target_os = "linux"))]
mod input;
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
#[cfg_attr(all(feature = "instrument", target_os = "linux"), command(after_help = FIRST_STEPS))]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[cfg(all(feature = "instrument", target_os = "linux"))]
const FIRST_STEPS: &str = "\
First steps:
  PERFSCHEMA_SHARE=1 perfschema demo --seconds 60 &   a program that shares its tables
  perfschema list                                     which programs do so
  perfschema top perfschema                           watch it, by its name or pid";

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Args),
    #[cfg(all(feature = "instrument", target_os = "linux"))]
    #[command(flatten)]
    Shared(shared::Command),
    Tables(tables::Args),
    Doc(doc::Args),
}

/// What is longer than files may be (`ulimit -f`) is an error of whoever writes it, who removes what is there so far, instead of the end of the program.
#[cfg(all(feature = "instrument", target_os = "linux"))]
fn outlive_file_size_limit() {
    // Whether it came is asked of nobody.
    let came = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, came);
}

fn main() -> ExitCode {
    #[cfg(all(feature = "instrument", target_os = "linux"))]
    outlive_file_size_limit();
    let result = match Cli::parse().command {
        Command::Demo(args) => demo::run(&args),
        #[cfg(all(feature = "instrument", target_os = "linux"))]
        Command::Shared(command) => shared::run(&command).map_err(Error::from),
        Command::Tables(args) => tables::run(&args).map_err(Error::Output),
        Command::Doc(args) => doc::run(&args).map_err(Error::Output),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // `perfschema tables | head` is no failure.
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        #[cfg(all(feature = "instrument", target_os = "linux"))]
        Err(Error::Shared(error)) if error.is_of_a_statement() => {
            note!("{error}");
            ExitCode::FAILURE
        }
        Err(error) => {
            note!("perfschema: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Why a command failed.
#[derive(Debug)]
enum Error {
    /// The demo has nothing to work on, or no performance schema to show.
    Demo(demo::DemoError),
    /// A command that reads other programs did not succeed.
    #[cfg(all(feature = "instrument", target_os = "linux"))]
    Shared(shared::Error),
    /// What was found out could not be written.
    Output(io::Error),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Demo(error) => error.fmt(f),
            #[cfg(all(feature = "instrument", target_os = "linux"))]
            Error::Shared(error) => error.fmt(f),
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

#[cfg(all(feature = "instrument", target_os = "linux"))]
impl From<shared::Error> for Error {
    fn from(error: shared::Error) -> Error {
        match error {
            shared::Error::Output(error) => Error::Output(error),
            error => Error::Shared(error),
        }
    }
}
