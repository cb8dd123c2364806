//! `perfschema serve`

use super::freed::Freed;
use super::signals::hang_up;
use super::{Error, target};
use crate::arguments::{address, positive};
use crate::output;
use perfschema::Attached;
use perfschema::render::text::escape;
use perfschema_server::{AccountError, Accounts, AccountsError, Limits, ListenError, Listener, Metrics, Server, Tls, TlsError};
use perfschema_sql::{self as sql, Database};
use signal_hook::consts::{SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Serve another program's tables: to MySQL's clients (the `mysql` program, drivers, exporters, dashboards), and to Prometheus.
///
/// Stop it with Ctrl-C.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  perfschema serve 17694 --mysql 127.0.0.1:3307 --accounts accounts")]
#[command(group = clap::ArgGroup::new("place").required(true).multiple(true).args(["mysql", "socket", "prometheus"]))]
#[command(group = clap::ArgGroup::new("clients").multiple(true).args(["mysql", "socket"]))]
#[command(group = clap::ArgGroup::new("address").multiple(true).args(["mysql", "prometheus"]))]
pub(crate) struct Args {
    /// The program: its pid, its name, or the path of a file: its region, or a core dump of it.
    target: OsString,
    /// Address and port for MySQL's clients, like 127.0.0.1:3307.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    mysql: Option<SocketAddr>,
    /// Unix socket for MySQL's clients; only your own processes can connect to it.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Address and port where Prometheus finds /metrics, like 127.0.0.1:9104; its `basic_auth` is one of the accounts.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    prometheus: Option<SocketAddr>,
    /// Who may come in: lines that `perfschema account` prints.
    #[arg(long, value_name = "FILE")]
    accounts: PathBuf,
    /// Let --mysql and --prometheus be addresses that other machines can reach. Every account needs a password; --prometheus also
    /// needs a certificate.
    #[arg(long, requires = "address")]
    beyond_loopback: bool,
    /// Offer encryption by --mysql, and encrypt --prometheus: the server's certificate, in PEM format, and those that vouch for
    /// it.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// The certificate's key, in PEM format, which nobody else may read: chmod 600.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// Let nobody in by --mysql who does not encrypt.
    #[arg(long, requires_all = ["tls_certificate", "mysql"])]
    tls_required: bool,
    /// Clients of MySQL's at once, and one more that may control.
    #[arg(long, requires = "clients", default_value_t = Limits::default().connections, value_name = "NUMBER",
          value_parser = positive::<usize>, allow_negative_numbers = true)]
    connections: usize,
    /// After how many seconds without a command such a client is sent away.
    #[arg(long, requires = "clients", default_value_t = Limits::default().idle_time.as_secs(), value_name = "SECONDS",
          value_parser = positive::<u64>, allow_negative_numbers = true)]
    idle: u64,
    /// How long one statement may take, in seconds.
    #[arg(long, requires = "clients", default_value_t = 10, value_name = "SECONDS", value_parser = positive::<u64>, allow_negative_numbers = true)]
    timeout: u64,
}

/// Why nothing is served.
#[derive(Debug)]
pub(crate) enum ServeError {
    /// The file of accounts cannot be used.
    Accounts(PathBuf, AccountsError),
    /// It cannot listen.
    Listen(ListenError),
    /// Nothing can be encrypted.
    Tls(TlsError),
    /// Whoever is on the way could read the passwords of those who collect metrics.
    MetricsInPlainText,
    /// The password cannot be read.
    Password(io::Error),
    /// An account cannot be like that.
    Account(AccountError),
    /// What was typed twice is not the same.
    PasswordsDiffer,
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Accounts(path, error) => {
                write!(f, "{}: {error}", output::path(path))?;
                let is_missing = matches!(error, AccountsError::Io(error) if error.kind() == io::ErrorKind::NotFound);
                f.write_str(if is_missing { "; `perfschema account` prints its lines" } else { "" })
            }
            ServeError::Listen(error @ ListenError::BeyondLoopback(_)) => write!(f, "{error}; --beyond-loopback allows it"),
            // They begin with a path.
            ServeError::Listen(error) => f.write_str(&escape(&error.to_string())),
            ServeError::Tls(error) => f.write_str(&escape(&error.to_string())),
            ServeError::MetricsInPlainText => f.write_str("--prometheus beyond loopback needs --tls-certificate and --tls-key"),
            ServeError::Password(error) => write!(f, "cannot read the password: {error}"),
            ServeError::Account(error) => error.fmt(f),
            ServeError::PasswordsDiffer => f.write_str("the two passwords differ"),
        }
    }
}

impl std::error::Error for ServeError {}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let tls = tls(args).map_err(|error| Error::Serve(ServeError::Tls(error)))?;
    let failed = |error| Error::Serve(ServeError::Listen(error));
    let accounts = Accounts::read(&args.accounts);
    let accounts = accounts.map_err(|error| Error::Serve(ServeError::Accounts(args.accounts.clone(), error)))?;
    // Before there is anything that a signal should end in good order.
    let mut signals = Signals::new(hang_up().chain([SIGINT, SIGQUIT, SIGTERM])).map_err(Error::Signals)?;
    let program = Arc::new(target::find(&args.target).map_err(Error::Target)?);
    watch(&program).map_err(Error::Thread)?;
    let mut listeners = Vec::new();
    // First, because it may be refused for its options: nothing else listens yet.
    if let Some(address) = args.prometheus {
        let metrics = Metrics::new(Arc::clone(&program));
        let is_beyond = args.beyond_loopback && !address.ip().is_loopback();
        let (scheme, listener) = match (tls.clone(), is_beyond) {
            (Some(tls), true) => ("https", metrics.listen_beyond_loopback(address, accounts.clone(), tls)),
            (Some(tls), false) => ("https", metrics.listen_encrypted(address, accounts.clone(), tls)),
            (None, true) => return Err(Error::Serve(ServeError::MetricsInPlainText)),
            (None, false) => ("http", metrics.listen(address, accounts.clone())),
        };
        let listener = listener.map_err(failed)?;
        let said = format!("metrics at {scheme}://{}/metrics", listener.address().unwrap_or(address));
        listeners.push((said, listener));
    }
    let mut server = None;
    if args.mysql.is_some() || args.socket.is_some() {
        let statements = sql::Limits { time: Duration::from_secs(args.timeout), ..sql::Limits::default() };
        let database = Database::new(program).limits(statements);
        let limits = Limits { connections: args.connections, idle_time: Duration::from_secs(args.idle), ..Limits::default() };
        let made = match tls {
            Some(tls) => Server::with_tls(database, accounts.clone(), limits, tls),
            None => Server::with_limits(database, accounts.clone(), limits),
        };
        let server = server.insert(made.map_err(Error::Sql)?);
        listeners.extend(listen(server, &accounts, args).map_err(failed)?);
    }
    // Said of all or of none.
    listeners.iter().for_each(|(said, _)| note!("perfschema: {said}"));
    signals.forever().next();
    // The socket's file goes with its listener.
    drop(listeners);
    server.iter().for_each(stop);
    Ok(())
}

/// How long clients have to take what they are told at the end.
const GOODBYE: Duration = Duration::from_secs(1);

/// Ends every connection; where a statement runs, it is interrupted, and its client hears so.
fn stop(server: &Server) {
    let start = Instant::now();
    server.stop();
    while server.connections() > 0 && start.elapsed() < GOODBYE {
        thread::sleep(Duration::from_millis(5));
    }
}

fn tls(args: &Args) -> Result<Option<Tls>, TlsError> {
    let (Some(certificate), Some(key)) = (&args.tls_certificate, &args.tls_key) else { return Ok(None) };
    let tls = Tls::from_files(certificate, key)?;
    Ok(Some(if args.tls_required { tls.required() } else { tls }))
}

/// How often freed memory goes back to the system, in seconds.
const GIVEN_BACK: u32 = 5;

/// Says when the program ends, now or later, from a thread that ends with the process; and gives back what this one has freed.
fn watch(program: &Arc<Attached>) -> io::Result<()> {
    let (program, freed) = (Arc::clone(program), Freed::new());
    let watch = move || {
        let mut is_said = false;
        for second in (0..GIVEN_BACK).cycle() {
            if !is_said && !program.is_in_use() {
                note!("perfschema: the program has ended, its tables can only be read");
                is_said = true;
            }
            if second == 0 {
                freed.give_back();
            }
            thread::sleep(Duration::from_secs(1));
        }
    };
    thread::Builder::new().name("perfschema-watch".to_owned()).spawn(watch).map(drop)
}

/// Where it listens for clients, and what is said of it.
fn listen(server: &Server, accounts: &Accounts, args: &Args) -> Result<Vec<(String, Listener)>, ListenError> {
    let mut listeners = Vec::new();
    if let Some(path) = &args.socket {
        listeners.push((format!("listening on {}", output::path(path)), server.listen_unix(path)?));
    }
    if let Some(address) = args.mysql {
        if !accounts.all_have_passwords() {
            return Err(ListenError::NoPassword);
        }
        let listener = if args.beyond_loopback { server.listen_beyond_loopback(address)? } else { server.listen(address)? };
        // With port 0, the one that was given.
        listeners.push((format!("listening on {}", listener.address().unwrap_or(address)), listener));
    }
    Ok(listeners)
}
