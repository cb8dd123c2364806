//! `perfschema serve`

use super::target;
use crate::Error;
use perfschema_server::{Accounts, AccountsError, Limits, ListenError, Listener, Server};
use perfschema_sql::{self as sql, Database};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Serve another program's tables to MySQL's clients: the `mysql` program, drivers, exporters, dashboards.
///
/// Stop it with Ctrl-C. What it sends is not encrypted.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("place").required(true).multiple(true).args(["mysql", "socket"]))]
pub(crate) struct Args {
    /// The program: its pid, its name, or the file of its region.
    target: String,
    /// Address and port to listen on, like 127.0.0.1:3307.
    #[arg(long, value_name = "ADDRESS")]
    mysql: Option<SocketAddr>,
    /// Unix socket to listen on; only your own processes can connect to it.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Who may come in: lines that `perfschema account` prints.
    #[arg(long, value_name = "FILE")]
    accounts: PathBuf,
    /// Let --mysql be an address that other machines can reach. Every account needs a password.
    #[arg(long)]
    beyond_loopback: bool,
    /// Clients at once.
    #[arg(long, default_value_t = Limits::default().connections, value_name = "NUMBER")]
    connections: usize,
    /// After how many seconds without a command a client is sent away.
    #[arg(long, default_value_t = Limits::default().idle_time.as_secs(), value_name = "SECONDS")]
    idle: u64,
    /// How long one statement may take, in seconds.
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
}

/// Why nothing is served.
#[derive(Debug)]
pub(crate) enum ServeError {
    /// The file of accounts cannot be used.
    Accounts(PathBuf, AccountsError),
    /// It cannot listen.
    Listen(ListenError),
    /// The password cannot be read.
    Password(io::Error),
    /// An account cannot be like that.
    Account(&'static str),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Accounts(path, error) => write!(f, "{}: {error}", path.display()),
            ServeError::Listen(error @ ListenError::BeyondLoopback(_)) => write!(f, "{error}; --beyond-loopback allows it"),
            ServeError::Listen(error) => error.fmt(f),
            ServeError::Password(error) => write!(f, "cannot read the password: {error}"),
            ServeError::Account(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for ServeError {}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let accounts =
        Accounts::read(&args.accounts).map_err(|error| Error::Serve(ServeError::Accounts(args.accounts.clone(), error)))?;
    let (attached, runs) = target::find_and_ask(&args.target).map_err(Error::Target)?;
    let statements = sql::Limits { time: Duration::from_secs(args.timeout), ..sql::Limits::default() };
    let mut database = Database::new(attached).limits(statements);
    if !runs {
        eprintln!("perfschema: the program has ended, its tables can only be read");
        database = database.read_only();
    }
    let limits = Limits { connections: args.connections, idle_time: Duration::from_secs(args.idle), ..Limits::default() };
    let server = Server::with_limits(database, accounts, limits).map_err(Error::Sql)?;
    let listeners = listen(&server, args).map_err(|error| Error::Serve(ServeError::Listen(error)))?;
    listeners.into_iter().for_each(Listener::wait);
    Ok(())
}

fn listen(server: &Server, args: &Args) -> Result<Vec<Listener>, ListenError> {
    let mut listeners = Vec::new();
    if let Some(path) = &args.socket {
        listeners.push(server.listen_unix(path)?);
        eprintln!("perfschema: listening on {}", path.display());
    }
    if let Some(address) = args.mysql {
        let listener = if args.beyond_loopback { server.listen_beyond_loopback(address)? } else { server.listen(address)? };
        // With port 0, the one that was given.
        eprintln!("perfschema: listening on {}", listener.address().unwrap_or(address));
        listeners.push(listener);
    }
    Ok(listeners)
}
