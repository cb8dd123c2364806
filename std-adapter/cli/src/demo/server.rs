//! The server: a line of words in, the answer out; one thread a connection.
//!
//! ```text
//!  listeners ─ accept ─→ connection-1 … connection-N:  idle ─ line ─→ search ─ answer ─→ idle …
//! ```

use super::DemoError;
use super::indexer::Indexer;
use super::metrics;
use super::search;
use super::stream::Stream;
use crate::output;
use perfschema::net::{Idle, Net, TcpListener};
use perfschema::os::unix::net::UnixListener;
use perfschema::stage::Stage;
use perfschema::statement::Statement;
use perfschema::thread::{self, Scope, ThreadType, attach_as};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Its text is the line that was sent; the stages lie within it.
static SEARCH: Statement = perfschema::statement!("statement/demo/search");
static SEARCHING: Stage = perfschema::stage!("stage/demo/searching");
static ANSWERING: Stage = perfschema::stage!("stage/demo/answering");
static QUERIES: Net = perfschema::net!("wait/io/socket/demo/server_tcpip_socket", "wait/io/socket/demo/client_connection");
static LOCAL_QUERIES: Net = perfschema::net!("wait/io/socket/demo/server_unix_socket", "wait/io/socket/demo/client_connection");

/// A longer line is refused.
const LINE_BYTES_MAX: u64 = 4096;
/// MySQL's number of the same error, ER_NET_PACKET_TOO_LARGE.
const TOO_LONG: u32 = 1153;
/// How long a listener rests that can accept nothing, because there are no descriptors.
const REST: Duration = Duration::from_millis(20);

/// Where a Unix socket is that listens.
#[derive(Debug)]
struct UnixPlace {
    path: PathBuf,
    /// Device and number of the socket's own file: by the path there may be another's by now.
    file: (u64, u64),
    /// The same socket, as std's type that can be shut.
    listening: std::os::unix::net::UnixStream,
}

/// Where it listens, and whom it serves.
#[derive(Debug)]
pub(crate) struct Server<'i> {
    indexer: &'i Indexer,
    tcp: Option<(TcpListener, SocketAddr)>,
    unix: Option<(UnixListener, UnixPlace)>,
    // Relaxed, as all here: each is a value of its own.
    stopping: AtomicBool,
    connections: AtomicU64,
    queries: AtomicU64,
    /// Those that are open, by their numbers. Not an instrumented lock: it is no part of what is shown.
    open: Mutex<HashMap<u64, Arc<Stream>>>,
}

impl<'i> Server<'i> {
    /// Listens where it shall.
    pub(crate) fn bind(indexer: &'i Indexer, tcp: Option<SocketAddr>, unix: Option<&Path>) -> Result<Server<'i>, DemoError> {
        let cannot = |place: String| move |error| DemoError::Listen { place, error };
        let tcp = match tcp {
            None => None,
            Some(address) => {
                let listener = QUERIES.bind_tcp(address).map_err(cannot(address.to_string()))?;
                let at = listener.local_addr().map_err(cannot(address.to_string()))?;
                note!("perfschema: listening on {at}");
                Some((listener, at))
            }
        };
        let unix = match unix {
            None => None,
            Some(path) => {
                remove_left_over(path);
                let listener = LOCAL_QUERIES.bind_unix(path).map_err(cannot(output::path(path)))?;
                let place = UnixPlace::of(&listener, path).map_err(cannot(output::path(path)))?;
                note!("perfschema: listening on {}", output::path(path));
                Some((listener, place))
            }
        };
        let (stopping, connections, queries) = Default::default();
        Ok(Server { indexer, tcp, unix, stopping, connections, queries, open: Mutex::default() })
    }

    /// Accepts and serves, on threads of the scope, until [`stop`](Self::stop).
    pub(crate) fn start<'s>(&'s self, scope: &'s Scope<'s, '_>) -> Result<(), DemoError> {
        let spawn = |name: &str, accept: Box<dyn Fn() -> io::Result<Stream> + Send + 's>| {
            let listener = thread::Builder::new().name(name.into());
            let spawned = listener.spawn_scoped(scope, move || self.accept_all(scope, &*accept));
            spawned.map(drop).map_err(|error| DemoError::Thread { error })
        };
        if let Some((listener, _)) = &self.tcp {
            spawn("listener-tcp", Box::new(|| listener.accept().map(|(stream, _)| Stream::Tcp(stream))))?;
        }
        if let Some((listener, _)) = &self.unix {
            spawn("listener-unix", Box::new(|| listener.accept().map(|(stream, _)| Stream::Unix(stream))))?;
        }
        Ok(())
    }

    fn accept_all<'s>(&'s self, scope: &'s Scope<'s, '_>, accept: &dyn Fn() -> io::Result<Stream>) {
        loop {
            let accepted = accept();
            if self.stopping.load(Ordering::Relaxed) {
                return;
            }
            let Ok(stream) = accepted else {
                thread::sleep(REST);
                continue;
            };
            let number = self.connections.fetch_add(1, Ordering::Relaxed) + 1;
            let stream = Arc::new(stream);
            self.open().insert(number, Arc::clone(&stream));
            if self.stopping.load(Ordering::Relaxed) {
                // Whoever stops has looked before this one was there.
                stream.shutdown();
            }
            let name = format!("connection-{number}");
            // Before the thread is there: asking is a wait, and who it is a thread says before its first.
            let host = stream.peer_host();
            let connection = thread::Builder::new().name(name.clone());
            let serve = move || {
                // Nobody says here who asks.
                attach_as(&format!("thread/demo/{name}"), ThreadType::Foreground, "", &host);
                metrics::CONNECTIONS.add(1);
                // How a client ends is its own affair.
                let _ = self.serve(&stream);
                metrics::CONNECTIONS.sub(1);
                self.open().remove(&number);
            };
            if connection.spawn_scoped(scope, serve).is_err() {
                // No thread, no connection.
                self.open().remove(&number);
            }
        }
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Arc<Stream>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers line by line, until the client goes.
    fn serve(&self, stream: &Stream) -> io::Result<()> {
        if let Stream::Tcp(stream) = stream {
            stream.set_nodelay(true)?;
        }
        let mut reader = BufReader::new(stream);
        let mut writer = stream;
        let mut line = Vec::new();
        loop {
            // Until the next query begins the connection is idle.
            if reader.buffer().is_empty() && stream.idle(|_| reader.fill_buf().map(<[u8]>::is_empty))? {
                return Ok(());
            }
            line.clear();
            (&mut reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
            if line.len() as u64 == LINE_BYTES_MAX && !line.ends_with(b"\n") {
                SEARCH.begin_in("demo", &text(&line)).fail(TOO_LONG, "08S01", "the line is too long");
                return writer.write_all(b"the line is too long\n\n");
            }
            self.queries.fetch_add(1, Ordering::Relaxed);
            metrics::QUERIES.inc();
            let mut statement = SEARCH.begin_in("demo", &text(&line));
            SEARCHING.begin();
            let answer = search::answer(self.indexer, &line);
            statement.add_rows_examined(answer.rows_examined);
            ANSWERING.begin();
            writer.write_all(answer.text.as_bytes())?;
            statement.add_rows_sent(answer.rows_sent);
            // The client thinks; also where statements are off, which end their stages.
            ANSWERING.end();
        }
    }

    /// How many connections are open, and how many queries were answered.
    pub(crate) fn figures(&self) -> (usize, u64) {
        (self.open().len(), self.queries.load(Ordering::Relaxed))
    }

    /// How many connections there were.
    pub(crate) fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// Ends all connections, and accepts no more.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        // Wakes who accepts; by std's sockets, which leave no trace.
        if let Some((_, address)) = &self.tcp {
            let _ = std::net::TcpStream::connect(reachable(*address));
        }
        if let Some((_, place)) = &self.unix {
            place.leave();
        }
        self.open().values().for_each(|stream| stream.shutdown());
    }
}

/// A line as it is shown: without its end.
fn text(line: &[u8]) -> Cow<'_, str> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line))
}

impl UnixPlace {
    fn of(listener: &UnixListener, path: &Path) -> io::Result<UnixPlace> {
        let listening = listener.as_fd().try_clone_to_owned()?.into();
        Ok(UnixPlace { path: path.to_owned(), file: identity(path)?, listening })
    }

    /// Ends the listening, and removes the file of the socket.
    fn leave(&self) {
        let is_there = identity(&self.path).is_ok_and(|file| file == self.file);
        // Not by a connection to the path, which another server may have. But macOS does not shut what listens.
        if self.listening.shutdown(Shutdown::Both).is_err() && is_there {
            let _ = std::os::unix::net::UnixStream::connect(&self.path);
        }
        if is_there {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Removes the socket of a server that was killed, where nobody listens.
fn remove_left_over(path: &Path) {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let refuses = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    if is_socket && std::os::unix::net::UnixStream::connect(path).is_err_and(refuses) {
        let _ = std::fs::remove_file(path);
    }
}

/// What tells a file from all others for as long as it is open.
fn identity(path: &Path) -> io::Result<(u64, u64)> {
    std::fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

/// An address that connects to a listener on all addresses.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        let loopback = if address.is_ipv4() { "127.0.0.1" } else { "::1" };
        address.set_ip(loopback.parse().expect("it is an address"));
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_address_is_reached_by_loopback() {
        let check = |address: &str, expected: &str| assert_eq!(reachable(address.parse().unwrap()).to_string(), expected);
        check("0.0.0.0:80", "127.0.0.1:80");
        check("[::]:80", "[::1]:80");
        check("192.0.2.1:80", "192.0.2.1:80");
    }
}
