//! `TcpListener` and `TcpStream`

use super::methods::{conversions, idles, incoming, operations, streams};
use super::record::{Caller, Socket, Std, connected_to};
use super::{Net, each_address};
use crate::instrument::Instrument;
use perfschema_core::Operation;
use std::io;
use std::net::{Shutdown, SocketAddr, ToSocketAddrs};
#[cfg(target_os = "linux")]
use std::os::linux::net::TcpStreamExt;
use std::panic::Location;
use std::time::Duration;

/// [`std::net::TcpListener`], with its waits recorded.
///
/// ```
/// use perfschema::net::{TcpListener, TcpStream};
/// use std::io::{Read, Write};
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let mut client = TcpStream::connect(listener.local_addr()?)?;
/// client.write_all(b"hello")?;
/// let (mut connection, _) = listener.accept()?;
/// connection.read_exact(&mut [0; 5])?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct TcpListener {
    socket: Socket<std::net::TcpListener>,
    /// Of those that it accepts.
    connections: &'static Instrument,
}

/// [`std::net::TcpStream`], with its waits recorded.
pub struct TcpStream {
    socket: Socket<std::net::TcpStream>,
}

impl TcpListener {
    /// See [`std::net::TcpListener::bind`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<TcpListener> {
        TcpListener::of(&Net::of_servers(&super::SERVER_TCPIP_SOCKET), addr, Some(Location::caller()))
    }

    pub(super) fn of<A: ToSocketAddrs>(net: &Net, addr: A, caller: Caller) -> io::Result<TcpListener> {
        let socket = each_address(addr, |address| {
            let bind = || std::net::TcpListener::bind(address);
            // Port 0 is any that is free.
            let listens = |socket: &std::net::TcpListener| if address.port() == 0 { socket.leads_to() } else { address.into() };
            Socket::open(net.instrument, Operation::Bind, address.into(), caller, bind, listens)
        })?;
        Ok(TcpListener { socket, connections: net.connections })
    }

    /// See [`std::net::TcpListener::accept`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let accept = std::net::TcpListener::accept;
        let (socket, peer) = self.socket.accept(Some(Location::caller()), self.connections, accept)?;
        Ok((TcpStream { socket }, peer))
    }

    /// See [`std::net::TcpListener::incoming`].
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming { listener: self }
    }
}

impl TcpStream {
    /// See [`std::net::TcpStream::connect`]. Of several addresses each that is tried is a wait.
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(addr: A) -> io::Result<TcpStream> {
        TcpStream::of(&Net::of_connections(), addr, Some(Location::caller()))
    }

    /// See [`std::net::TcpStream::connect_timeout`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn connect_timeout(addr: &SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
        TcpStream::within(&Net::of_connections(), addr, timeout, Some(Location::caller()))
    }

    pub(super) fn of<A: ToSocketAddrs>(net: &Net, addr: A, caller: Caller) -> io::Result<TcpStream> {
        each_address(addr, |address| TcpStream::open(net, address, caller, || std::net::TcpStream::connect(address)))
    }

    pub(super) fn within(net: &Net, addr: &SocketAddr, timeout: Duration, caller: Caller) -> io::Result<TcpStream> {
        TcpStream::open(net, *addr, caller, || std::net::TcpStream::connect_timeout(addr, timeout))
    }

    fn open(
        net: &Net,
        peer: SocketAddr,
        caller: Caller,
        connect: impl FnOnce() -> io::Result<std::net::TcpStream>,
    ) -> io::Result<TcpStream> {
        let opened = |socket: &std::net::TcpStream| connected_to(socket, peer);
        let socket = Socket::open(net.instrument, Operation::Connect, peer.into(), caller, connect, opened)?;
        Ok(TcpStream { socket })
    }
}

operations! { TcpListener is "std::net::TcpListener":
    Stat {
        fn local_addr() -> SocketAddr;
    }
    Option {
        fn set_ttl(ttl: u32) -> ();
        fn ttl() -> u32;
        fn take_error() -> Option<io::Error>;
        fn set_nonblocking(nonblocking: bool) -> ();
    }
}

/// What std has given up, and has still.
impl TcpListener {
    /// See [`std::net::TcpListener::set_only_v6`].
    ///
    /// # Errors
    /// Those of std's.
    #[deprecated = "as std's: it is of use before the socket is bound only"]
    #[track_caller]
    pub fn set_only_v6(&self, only_v6: bool) -> io::Result<()> {
        #[expect(deprecated, reason = "it is what was asked for")]
        self.socket.run(Operation::Option, Some(Location::caller()), || self.socket.std().set_only_v6(only_v6))
    }

    /// See [`std::net::TcpListener::only_v6`].
    ///
    /// # Errors
    /// Those of std's.
    #[deprecated = "as std's: it is of use before the socket is bound only"]
    #[track_caller]
    pub fn only_v6(&self) -> io::Result<bool> {
        #[expect(deprecated, reason = "it is what was asked for")]
        self.socket.run(Operation::Option, Some(Location::caller()), || self.socket.std().only_v6())
    }
}

operations! { TcpStream is "std::net::TcpStream":
    Stat {
        fn peer_addr() -> SocketAddr;
        fn local_addr() -> SocketAddr;
    }
    Shutdown {
        fn shutdown(how: Shutdown) -> ();
    }
    Select {
        fn peek(buf: &mut [u8]) -> usize;
    }
    Option {
        fn set_read_timeout(dur: Option<Duration>) -> ();
        fn set_write_timeout(dur: Option<Duration>) -> ();
        fn read_timeout() -> Option<Duration>;
        fn write_timeout() -> Option<Duration>;
        fn set_nodelay(nodelay: bool) -> ();
        fn nodelay() -> bool;
        fn set_ttl(ttl: u32) -> ();
        fn ttl() -> u32;
        fn take_error() -> Option<io::Error>;
        fn set_nonblocking(nonblocking: bool) -> ();
    }
}

// Those of a trait of std's that nobody else may implement.
#[cfg(target_os = "linux")]
operations! { TcpStream is "std::os::linux::net::TcpStreamExt":
    Option {
        fn set_quickack(quickack: bool) -> ();
        fn quickack() -> bool;
    }
}

streams!(TcpStream);
idles!(TcpStream);
conversions!(TcpListener, std::net::TcpListener, "std::net::TcpListener", connections = &super::CLIENT_CONNECTION);
conversions!(TcpStream, std::net::TcpStream, "std::net::TcpStream");
impl std::iter::FusedIterator for Incoming<'_> {}
incoming!(Incoming of TcpListener gives TcpStream, at least 0, "std::net::Incoming");
