//! Where clients come in: a thread for each place that accepts them.

use crate::socket::Socket;
#[cfg(unix)]
use crate::socket::{self, UnixPlace};
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
#[cfg(unix)]
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A place where a server listens. Dropping it ends the listening; clients that are connected stay, until
/// [`Server::stop`](crate::Server::stop).
///
/// ```
/// # use perfschema_server::Server;
/// # use perfschema_sql::Database;
/// # use std::{io::Read, net::TcpStream};
/// # let server = Server::new(Database::new(perfschema::start()?), "ada reader no-password".parse()?)?;
/// let listener = server.listen("127.0.0.1:0".parse()?)?;
/// let address = listener.address().expect("TCP");
/// let mut client = TcpStream::connect(address)?;
/// client.read_exact(&mut [0; 5])?; // It is greeted.
/// drop(listener);
/// assert!(TcpStream::connect(address).is_err(), "nobody listens");
/// assert_eq!(server.connections(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Listener {
    place: Address,
    is_over: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
enum Address {
    Tcp(SocketAddr),
    #[cfg(unix)]
    Unix(UnixPlace),
}

/// An address of the loopback interface, or an error.
pub(crate) fn loopback(address: SocketAddr) -> Result<SocketAddr, ListenError> {
    if address.ip().is_loopback() { Ok(address) } else { Err(ListenError::BeyondLoopback(address)) }
}

/// Listens on an address. `take` is given the clients, and what kept others out; it must not wait for them.
pub(crate) fn tcp(address: SocketAddr, take: impl Fn(io::Result<Socket>) + Send + 'static) -> Result<Listener, ListenError> {
    let failed = |error| ListenError::Io(address.to_string(), error);
    let listener = TcpListener::bind(address).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let accept = move || listener.accept().map(|(stream, _)| Socket::Tcp(stream));
    start(accept, take, Address::Tcp(address)).map_err(failed)
}

/// Listens on a socket that only the user of this process can connect to.
#[cfg(unix)]
pub(crate) fn unix(path: &Path, take: impl Fn(io::Result<Socket>) + Send + 'static) -> Result<Listener, ListenError> {
    let failed = |error| ListenError::Io(path.display().to_string(), error);
    let (listener, place) = socket::bind_private(path).map_err(failed)?;
    let accept = move || listener.accept().map(|(stream, _)| Socket::Unix(stream));
    start(accept, take, Address::Unix(place)).map_err(failed)
}

fn start(
    accept: impl Fn() -> io::Result<Socket> + Send + 'static,
    take: impl Fn(io::Result<Socket>) + Send + 'static,
    place: Address,
) -> io::Result<Listener> {
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let accept_all = move || {
        loop {
            let accepted = accept();
            // Acquire: pairs with the Release in Listener::drop.
            if over.load(Ordering::Acquire) {
                return;
            }
            let has_failed = accepted.is_err();
            take(accepted);
            if has_failed {
                // No file descriptors left, say: some may be given back.
                thread::sleep(Duration::from_millis(50));
            }
        }
    };
    let accepting = thread::Builder::new().name("perfschema-accept".to_owned()).spawn(accept_all);
    let accepting = accepting.map_err(|error| io::Error::new(error.kind(), format!("cannot start a thread: {error}")))?;
    Ok(Listener { place, is_over, accepting: Some(accepting) })
}

impl Listener {
    /// The address; with port 0, the one that was given. None for a Unix socket.
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.place {
            Address::Tcp(address) => Some(*address),
            #[cfg(unix)]
            Address::Unix(_) => None,
        }
    }

    /// Waits for as long as it listens: for ever.
    pub fn wait(mut self) {
        if let Some(accepting) = self.accepting.take() {
            // It does not panic.
            let _ = accepting.join();
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let Some(accepting) = self.accepting.take() else { return };
        // Release: pairs with the Acquire in `start`, which sees it when it is woken below.
        self.is_over.store(true, Ordering::Release);
        let has_woken = match &self.place {
            Address::Tcp(address) => TcpStream::connect(reachable(*address)).is_ok(),
            #[cfg(unix)]
            Address::Unix(place) => place.shut(),
        };
        if has_woken {
            // It does not panic.
            let _ = accepting.join();
        }
    }
}

/// An address that connects to a listener on all addresses.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}

/// Why a server does not listen.
#[derive(Debug)]
#[non_exhaustive]
pub enum ListenError {
    /// The address is not one of the loopback interface.
    BeyondLoopback(SocketAddr),
    /// An account has no password.
    NoPassword,
    /// No account has a password for caching_sha2_password, the only one that HTTP can prove.
    NoPasswordForHttp,
    /// The place cannot be had.
    Io(String, io::Error),
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListenError::BeyondLoopback(address) => write!(f, "{address} can be reached from other machines"),
            ListenError::NoPassword => f.write_str(
                "an account has no password: whoever reaches the address could come in; a Unix socket is its owner's alone",
            ),
            ListenError::NoPasswordForHttp => {
                f.write_str("no account has a password for caching_sha2_password: nobody could come in by HTTP")
            }
            ListenError::Io(place, error) => write!(f, "{place}: {error}"),
        }
    }
}

impl std::error::Error for ListenError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_address_is_reached_by_loopback() {
        let check = |address: &str, expected: &str| assert_eq!(reachable(address.parse().unwrap()).to_string(), expected);
        check("0.0.0.0:80", "127.0.0.1:80");
        check("[::]:80", "[::1]:80");
        check("192.0.2.1:80", "192.0.2.1:80");
        check("[2001:db8::1]:80", "[2001:db8::1]:80");
    }
}
