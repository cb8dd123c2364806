//! # perfschema-server
//!
//! **What.** The performance_schema tables of a program for MySQL's clients: the `mysql` program, drivers, exporters, dashboards.
//!
//! ```
//! use perfschema_server::{Accounts, Server, account_line};
//! use perfschema_sql::{Database, Right};
//!
//! let process = perfschema::start()?;
//! let accounts: Accounts = account_line("grafana", Right::Read, "correct horse", true)?.parse()?;
//! let server = Server::new(Database::new(process), accounts)?;
//! let listener = server.listen("127.0.0.1:0".parse()?)?;
//! println!("mysql --host 127.0.0.1 --port {} --user grafana --password", listener.address().expect("TCP").port());
//! # drop(listener);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **How it fits.** A [`Server`] is made of a [`Database`] of `perfschema-sql`, which runs the statements, and of [`Accounts`].
//! It runs within the program that is looked at, or in another one, as `perfschema serve` does. Each client has a thread and a
//! session.
//!
//! **Who gets in.** Accounts come from a file. A reader may SELECT and SHOW, a controller may also UPDATE, INSERT, DELETE,
//! TRUNCATE and KILL. Neither the file nor the server knows passwords: they are proven by `caching_sha2_password`, as a rule with
//! what that plugin calls fast authentication, or by `mysql_native_password`. A password itself travels only through TLS, and
//! only if the client's proof was none; but HTTP has no other proof, so those who collect metrics send theirs with each request,
//! on the loopback interface also without TLS. Without [`Tls`], whoever is on the way can read what follows the login. Of a proof by
//! `caching_sha2_password` two forms are known: MySQL's, and that of Rust's `sqlx`.
//!
//! **Metrics.** [`Metrics`] has the summaries for Prometheus and its like, by HTTP or as a file: see [`metrics`].
//!
//! **Bounds.** [`Limits`] bounds connections, packets, time for login, for sending a command and for doing nothing, and what
//! prepared statements may keep. Where there is no room for one more, the oldest connection that has not logged in is closed. Time and
//! memory of statements are bounded by the database's own limits. Of those who ask for metrics, 16 are answered at once; a request has
//! 8 KiB and ten seconds, and a client may take nothing for as long. With its answer it has two seconds to go. 64 may be about to ask; if
//! one more comes, the first of them goes.
//!
//! # Protocol
//!
//! Version 4.1, with text and binary results. All text is UTF-8, whatever character set a client asks for. Commands: query,
//! prepared statements (with long data and read-only cursors), field list (without a pattern), init db, ping, refresh,
//! statistics, process list, kill, reset connection, change user, set option, quit. KILL is the server's own statement. TLS 1.2
//! and 1.3. Compression by zlib. No LOAD DATA, no query attributes.
#![forbid(unsafe_code)]

mod accounts;
mod clients;
mod files;
mod http;
mod listener;
pub mod metrics;
mod mysql;
mod socket;
mod tls;

pub use accounts::{AccountError, Accounts, AccountsError, account_line};
pub use files::{read_at_most, write_whole};
pub use listener::{ListenError, Listener};
pub use metrics::Metrics;
pub use tls::{Tls, TlsError};

use clients::{Clients, Place};
use mysql::connection;
use mysql::packet::Stream;
use perfschema::render::OwnedValue;
use perfschema_sql::{Account, Counter, Database, Error, STATEMENT_STACK};
use socket::{Buffered, Socket, Timed, uninterrupted};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// What clients may take.
///
/// ```
/// use perfschema_server::{Limits, Server};
/// # use perfschema_sql::Database;
/// # use std::{io::Read, net::TcpStream, time::Duration};
///
/// let limits = Limits { connections: 20, login_time: Duration::from_millis(50), ..Limits::default() };
/// let server = Server::with_limits(Database::new(perfschema::start()?), "ada reader no-password".parse()?, limits)?;
/// let listener = server.listen("127.0.0.1:0".parse()?)?;
/// let mut silent = TcpStream::connect(listener.address().expect("TCP"))?;
/// let mut heard = Vec::new();
/// silent.read_to_end(&mut heard)?; // It does not log in, and so it has to go.
/// assert_eq!(heard[4], 10, "a greeting came first: the version of the protocol");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Clients at once, and one more whose account may control: who sees all of them, and may stop one. More are told so (error 1040), unless
    /// there are some who have not logged in yet: the first of them goes.
    pub connections: usize,
    /// Bytes of one packet, and with it of a statement.
    pub packet_bytes: usize,
    /// Time for the whole login.
    pub login_time: Duration,
    /// Time from the first byte of a command to its last. A client may ask for less by `net_read_timeout`.
    pub read_time: Duration,
    /// Time in which a client takes 64 KiB of what it is sent, or all that is left.
    pub write_time: Duration,
    /// Time between two commands. A client may ask for less by `wait_timeout`.
    pub idle_time: Duration,
    /// Statements that one client may have prepared.
    pub prepared_statements: usize,
    /// Bytes that these may keep together, with their parameters.
    pub prepared_bytes: usize,
}

impl Default for Limits {
    /// 100 connections, 1 MiB a packet, 10 seconds for the login, 30 for a command, 60 for taking, 8 hours of nothing; 1024
    /// prepared statements of 8 MiB together.
    fn default() -> Limits {
        Limits {
            connections: 100,
            packet_bytes: 1 << 20,
            login_time: Duration::from_secs(10),
            read_time: Duration::from_secs(30),
            write_time: Duration::from_secs(60),
            idle_time: Duration::from_secs(8 * 60 * 60),
            prepared_statements: 1024,
            prepared_bytes: 8 << 20,
        }
    }
}

/// Serves the tables to MySQL's clients. Cloning it is cheap, and gives the same.
#[derive(Clone, Debug)]
pub struct Server {
    shared: Arc<Shared>,
}

/// What all connections have in common.
#[derive(Debug)]
struct Shared {
    database: Database,
    accounts: Accounts,
    limits: Limits,
    version: String,
    tls: Option<Tls>,
    clients: Arc<Clients>,
}

impl Server {
    /// A server of these tables for these accounts.
    ///
    /// # Errors
    /// A session cannot be opened.
    pub fn new(database: Database, accounts: Accounts) -> Result<Server, Error> {
        Server::with_limits(database, accounts, Limits::default())
    }

    /// The same with other limits.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_limits(database: Database, accounts: Accounts, limits: Limits) -> Result<Server, Error> {
        Server::make(database, accounts, limits, None)
    }

    /// The same with encryption for clients that want it, or for all.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_tls(database: Database, accounts: Accounts, limits: Limits, tls: Tls) -> Result<Server, Error> {
        Server::make(database, accounts, limits, Some(tls))
    }

    fn make(database: Database, accounts: Accounts, limits: Limits, tls: Option<Tls>) -> Result<Server, Error> {
        let clients = Arc::new(Clients::default());
        // Up: no client is to learn of less than it has.
        let seconds = |time: Duration| time.as_secs() + u64::from(time.subsec_nanos() > 0);
        let database = database
            .clients(Arc::clone(&clients) as Arc<dyn perfschema_sql::Clients>)
            .variable("connect_timeout", seconds(limits.login_time))
            .variable("interactive_timeout", seconds(limits.idle_time))
            .variable("max_allowed_packet", limits.packet_bytes as u64)
            .variable("max_connections", limits.connections as u64)
            .variable("max_prepared_stmt_count", limits.prepared_statements as u64)
            .variable("net_read_timeout", seconds(limits.read_time))
            .variable("net_write_timeout", seconds(limits.write_time))
            .variable("wait_timeout", seconds(limits.idle_time));
        let version = match database.session(Account::default())?.variable("version") {
            Some(OwnedValue::Text(version)) => version,
            _ => String::new(),
        };
        Ok(Server { shared: Arc::new(Shared { database, accounts, limits, version, tls, clients }) })
    }

    /// Listens on an address of the loopback interface. Whoever has a program on this machine comes in by an account without a password;
    /// [`Accounts::all_have_passwords`] says whether there is one.
    ///
    /// ```
    /// # use perfschema_server::{ListenError, Server};
    /// # use perfschema_sql::Database;
    /// let server = Server::new(Database::new(perfschema::start()?), "ada reader no-password".parse()?)?;
    /// let (anywhere, here) = ("0.0.0.0:0".parse()?, "127.0.0.1:0".parse()?);
    /// assert!(matches!(server.listen(anywhere), Err(ListenError::BeyondLoopback(_))));
    /// assert!(matches!(server.listen_beyond_loopback(anywhere), Err(ListenError::NoPassword)));
    /// let by_tcp = server.listen(here)?;
    /// assert_ne!(by_tcp.address().expect("TCP").port(), 0);
    /// # #[cfg(unix)] {
    /// # let path = std::env::temp_dir().join(format!("perfschema-listen-{}", std::process::id()));
    /// let by_socket = server.listen_unix(&path)?;
    /// assert!(server.listen_unix(&path).is_err(), "there is a server already");
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The address is another one; it cannot be had.
    pub fn listen(&self, address: SocketAddr) -> Result<Listener, ListenError> {
        self.listen_tcp(listener::loopback(address)?)
    }

    /// Listens on any address, if every account has a password. Without TLS, statements and results can be read on the way.
    ///
    /// # Errors
    /// An account has no password; the address cannot be had.
    pub fn listen_beyond_loopback(&self, address: SocketAddr) -> Result<Listener, ListenError> {
        if !self.shared.accounts.all_have_passwords() {
            return Err(ListenError::NoPassword);
        }
        self.listen_tcp(address)
    }

    fn listen_tcp(&self, address: SocketAddr) -> Result<Listener, ListenError> {
        let server = self.clone();
        let listener = listener::tcp(address, move |socket| server.take(socket))?;
        self.shared.clients.come_by_tcp(listener.address().map_or(0, |address| address.port()));
        Ok(listener)
    }

    /// Listens on a socket that only the user of this process can connect to. What a server left there that has ended is
    /// replaced.
    ///
    /// # Errors
    /// There is another server, or a file that is no socket; the place cannot be written to.
    #[cfg(unix)]
    pub fn listen_unix(&self, path: &Path) -> Result<Listener, ListenError> {
        let server = self.clone();
        let listener = listener::unix(path, move |socket| server.take(socket))?;
        self.shared.clients.come_by_socket(path.display().to_string());
        Ok(listener)
    }

    /// Ends every connection. What listens goes on.
    ///
    /// ```
    /// # use perfschema_server::Server;
    /// # use perfschema_sql::Database;
    /// # use std::{io::Read, net::TcpStream};
    /// # let server = Server::new(Database::new(perfschema::start()?), "ada reader no-password".parse()?)?;
    /// let listener = server.listen("127.0.0.1:0".parse()?)?;
    /// let mut client = TcpStream::connect(listener.address().expect("TCP"))?;
    /// client.read_exact(&mut [0; 5])?; // It is greeted.
    /// assert_eq!(server.connections(), 1);
    /// drop(listener); // Nobody else comes,
    /// server.stop(); // and who is there goes:
    /// client.read_to_end(&mut Vec::new())?; // there is an end.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stop(&self) {
        self.shared.clients.stop_all();
    }

    /// Clients that are connected.
    pub fn connections(&self) -> usize {
        self.shared.clients.len()
    }

    /// Gives a client its thread.
    fn take(&self, socket: io::Result<Socket>) {
        let Ok(socket) = socket else { return self.shared.database.count(Counter::ConnectionErrorsAccept, 1) };
        if socket.prepare().is_err() {
            return;
        }
        let (host, socket) = (socket.host(), Arc::new(socket));
        let is_private = socket.is_private();
        let stream = Timed::new(Arc::clone(&socket), self.shared.limits.write_time);
        // Here, and not on the client's own thread: who is accepted before a `stop` is among those that it ends.
        let Some(place) = self.enter(Some(socket), &host) else {
            // It fits the socket's buffer: nobody waits for it. A client that has gone needs not know.
            let _ = connection::turn_away(&self.shared, stream);
            return;
        };
        let server = self.clone();
        // That it ends is all there is to know: what was wrong, the client was told.
        let body = move || drop(connection::serve(&server.shared, Buffered::new(stream), &host, is_private, &place));
        // Room for statements, and half a MiB for the rest; what is not used costs nothing but addresses.
        let thread = thread::Builder::new().name("perfschema-mysql".to_owned()).stack_size(STATEMENT_STACK + (512 << 10));
        // Without a thread the socket is dropped, and the client sees that.
        let counter = thread.spawn(body).map_or(Counter::ConnectionErrorsInternal, |_| Counter::ThreadsCreated);
        self.shared.database.count(counter, 1);
    }

    /// Serves one client over any stream, in this thread, until it ends. Of the limits in time, the stream has to see to its own.
    ///
    /// `host`: where the client is, as errors name it.
    ///
    /// ```
    /// # use perfschema_server::Server;
    /// # use perfschema_sql::Database;
    /// # use std::io::{Read, Write};
    /// # use std::net::{Shutdown, TcpListener, TcpStream};
    /// # let server = Server::new(Database::new(perfschema::start()?), "ada reader no-password".parse()?)?;
    /// # // PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH.
    /// # let mut login = (1_u32 << 9 | 1 << 15 | 1 << 19).to_le_bytes().to_vec();
    /// # login.extend([&[0, 0, 0, 1, 255][..], &[0; 23], b"eve\0\0caching_sha2_password\0"].concat());
    /// # login.splice(..0, [login.len() as u8, 0, 0, 1]);
    /// let place = TcpListener::bind("127.0.0.1:0")?;
    /// let mut client = TcpStream::connect(place.local_addr()?)?;
    /// client.write_all(&login)?; // By a user `eve`, whom nobody knows.
    /// client.shutdown(Shutdown::Write)?;
    /// server.converse(place.accept()?.0, "db1");
    /// let mut heard = Vec::new();
    /// client.read_to_end(&mut heard)?;
    /// assert!(String::from_utf8_lossy(&heard).contains("Access denied for user 'eve'@'db1'"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn converse(&self, stream: impl Read + Write, host: &str) {
        let stream = Untimed(stream);
        let _ = match self.enter(None, host) {
            Some(place) => connection::serve(&self.shared, stream, host, false, &place),
            None => connection::turn_away(&self.shared, stream),
        };
    }

    /// A place for a client that has come, if there is room.
    fn enter(&self, socket: Option<Arc<Socket>>, host: &str) -> Option<Place> {
        let shared = &*self.shared;
        shared.database.count(Counter::Connections, 1);
        shared.clients.enter(shared.database.next_connection_id(), socket, host, shared.limits.connections)
    }
}

/// A stream whose owner sees to its time.
struct Untimed<S>(S);

impl<S: Read> Read for Untimed<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        uninterrupted(|| self.0.read(buffer))
    }
}

impl<S: Write> Write for Untimed<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        uninterrupted(|| self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        uninterrupted(|| self.0.flush())
    }
}

impl<S: Read + Write> Stream for Untimed<S> {
    fn set_deadline(&mut self, _: Option<Instant>) {}
}
