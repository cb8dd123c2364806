//! `TcpListener` and `TcpStream`

use super::methods::{async_read, async_write, conversions, idles, interests, poll_socket, polls, transfers_into, waits};
use super::split::tcp::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
use super::{Caller, NOWHERE, ToSocketAddrs, each_address};
use crate::instrument::Instrument;
use crate::net::methods::{operations, transfers};
use crate::net::record::{Io, Peer, Socket, Std, connected_to};
use crate::net::{CLIENT_CONNECTION, Net, SERVER_TCPIP_SOCKET};
use crate::process::process;
use crate::tokio::pending::{Polled, without_bytes};
use perfschema_core::{Operation, SocketAddress};
use std::io::{self, IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::panic::Location;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{Interest, ReadBuf, Ready};

/// [`tokio::net::TcpListener`], with its waits recorded.
pub struct TcpListener {
    polled: Polled<Io>,
    socket: Socket<tokio::net::TcpListener>,
    /// Of those that it accepts.
    connections: &'static Instrument,
}

/// [`tokio::net::TcpStream`], with its waits recorded.
pub struct TcpStream {
    // First, so that what is pending ends before the socket is closed.
    pub(super) polled: Polled<Io>,
    pub(super) socket: Socket<tokio::net::TcpStream>,
}

impl TcpListener {
    /// See [`tokio::net::TcpListener::bind`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<TcpListener>> {
        TcpListener::of(Net::of_servers(&SERVER_TCPIP_SOCKET), addr, Some(Location::caller()))
    }

    pub(super) fn of<A: ToSocketAddrs>(net: Net, addr: A, caller: Caller) -> impl Future<Output = io::Result<TcpListener>> {
        let bind = move |address: SocketAddr| {
            let bind = tokio::net::TcpListener::bind(address);
            // Port 0 is any that is free.
            let listens =
                move |socket: &tokio::net::TcpListener| if address.port() == 0 { socket.leads_to() } else { address.into() };
            let made = move |socket| TcpListener { polled: Polled::new(), socket, connections: net.connections };
            Socket::opening(net.instrument, Operation::Bind, address.into(), caller, bind, listens, made)
        };
        each_address(addr, bind, || tokio::net::TcpListener::bind(NOWHERE))
    }

    /// A socket begins to listen, where it is bound.
    pub(super) fn listening(net: Net, caller: Caller, socket: tokio::net::TcpSocket, backlog: u32) -> io::Result<TcpListener> {
        // Nobody asks the system while nobody records.
        let at = process().and_then(|_| socket.local_addr().ok()).map(SocketAddress::from).unwrap_or_default();
        let listen = || socket.listen(backlog);
        let socket = Socket::open(net.instrument, Operation::Bind, at, caller, listen, Std::leads_to)?;
        Ok(TcpListener { polled: Polled::new(), socket, connections: net.connections })
    }

    /// See [`tokio::net::TcpListener::accept`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn accept(&self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> {
        let caller = Some(Location::caller());
        self.socket
            .handle
            .wait_then(Operation::Accept, caller, self.socket.std().accept(), |accepted| Ok(self.accepted(accepted?)))
    }

    /// See [`tokio::net::TcpListener::poll_accept`].
    ///
    /// # Errors
    /// Those of tokio's.
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        poll_socket!(self.reading, Accept, None, poll_accept(cx), without_bytes).map_ok(|accepted| self.accepted(accepted))
    }

    fn accepted(&self, (inner, peer): (tokio::net::TcpStream, SocketAddr)) -> (TcpStream, SocketAddr) {
        (TcpStream { polled: Polled::new(), socket: Socket::new(inner, self.connections, peer.leads_to(), false) }, peer)
    }
}

impl TcpStream {
    /// See [`tokio::net::TcpStream::connect`]. Of several addresses each that is tried is a wait.
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<TcpStream>> {
        TcpStream::of(Net::of_connections(), addr, Some(Location::caller()))
    }

    pub(super) fn of<A: ToSocketAddrs>(net: Net, addr: A, caller: Caller) -> impl Future<Output = io::Result<TcpStream>> {
        let connect =
            move |address: SocketAddr| TcpStream::connecting(net, address, caller, tokio::net::TcpStream::connect(address));
        each_address(addr, connect, || tokio::net::TcpStream::connect(NOWHERE))
    }

    /// A socket is connected to this address.
    pub(super) fn connecting(
        net: Net,
        address: SocketAddr,
        caller: Caller,
        connect: impl Future<Output = io::Result<tokio::net::TcpStream>>,
    ) -> impl Future<Output = io::Result<TcpStream>> {
        let opened = move |socket: &tokio::net::TcpStream| connected_to(socket, address);
        let made = |socket| TcpStream { polled: Polled::new(), socket };
        Socket::opening(net.instrument, Operation::Connect, address.into(), caller, connect, opened, made)
    }

    /// See [`tokio::net::TcpStream::split`].
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        let handle = self.socket.handle;
        let (read, write) = self.socket.std_mut().split();
        (ReadHalf::of(read, handle, &mut self.polled.reading), WriteHalf::of(write, handle, &mut self.polled.writing))
    }

    /// See [`tokio::net::TcpStream::into_split`]. The socket's row goes with the last of the two.
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        let TcpStream { polled, socket } = self;
        let (inner, handle) = socket.into_parts();
        OwnedReadHalf::pair(inner, handle, polled)
    }

    /// See [`tokio::net::TcpStream::set_linger`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[deprecated = "as tokio's: dropping the socket then blocks the thread; set_zero_linger does not"]
    #[track_caller]
    pub fn set_linger(&self, dur: Option<Duration>) -> io::Result<()> {
        #[expect(deprecated, reason = "it is what was asked for")]
        self.socket.run(Operation::Option, Some(Location::caller()), || self.socket.std().set_linger(dur))
    }
}

operations! { TcpListener is "tokio::net::TcpListener":
    Stat {
        fn local_addr() -> SocketAddr;
    }
    Option {
        fn set_ttl(ttl: u32) -> ();
        fn ttl() -> u32;
    }
}

operations! { TcpStream is "tokio::net::TcpStream":
    Stat {
        fn peer_addr() -> SocketAddr;
        fn local_addr() -> SocketAddr;
    }
    Option {
        fn nodelay() -> bool;
        fn set_nodelay(nodelay: bool) -> ();
        fn linger() -> Option<Duration>;
        fn set_zero_linger() -> ();
        fn set_ttl(ttl: u32) -> ();
        fn ttl() -> u32;
        fn take_error() -> Option<io::Error>;
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
operations! { TcpStream is "tokio::net::TcpStream":
    Option {
        fn quickack() -> bool;
        fn set_quickack(quickack: bool) -> ();
    }
}

transfers! { TcpStream is "tokio::net::TcpStream":
    Receive {
        fn try_read(buf: &mut [u8]) -> usize;
    }
    Send {
        fn try_write(buf: &[u8]) -> usize;
    }
}

transfers_into! { TcpStream is "tokio::net::TcpStream": at once {
    Receive try_read_buf -> usize;
} }

waits! { TcpStream is "tokio::net::TcpStream":
    Select {
        fn ready(interest: Interest) -> Ready;
        fn readable() -> ();
        fn writable() -> ();
        fn peek(buf: &mut [u8]) -> usize;
    }
}

polls! { TcpStream is "tokio::net::TcpStream":
    reading Select {
        fn poll_read_ready() -> ();
        fn poll_peek(buf: &mut ReadBuf<'_>) -> usize;
    }
    writing Select {
        fn poll_write_ready() -> ();
    }
}

/// What sends or receives at once, by several buffers.
macro_rules! vectored {
    ($type:ident is $tokio:literal) => {
        impl $type {
            #[doc = concat!("See [`", $tokio, "::try_read_vectored`].")]
            ///
            /// # Errors
            /// Those of tokio's.
            #[track_caller]
            pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
                let (bytes, caller) = ($crate::io::sum_of_lengths(bufs), Some(Location::caller()));
                self.socket.transfer(Operation::Receive, bytes, caller, |socket| socket.try_read_vectored(bufs))
            }

            #[doc = concat!("See [`", $tokio, "::try_write_vectored`].")]
            ///
            /// # Errors
            /// Those of tokio's.
            #[track_caller]
            pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
                let (bytes, caller) = ($crate::io::sum_of_lengths(bufs), Some(Location::caller()));
                self.socket.transfer(Operation::Send, bytes, caller, |socket| socket.try_write_vectored(bufs))
            }
        }
    };
}

#[cfg(unix)]
pub(super) use vectored;

vectored!(TcpStream is "tokio::net::TcpStream");
interests!(TcpStream is "tokio::net::TcpStream");
async_read!(TcpStream, |this| (this.socket.handle, this.polled.reading, this.socket.std_mut()));
async_write!(TcpStream, |this| (this.socket.handle, this.polled.writing, this.socket.std_mut()));
idles!(TcpStream, |this| this.socket.handle);
conversions!(
    TcpListener,
    tokio::net::TcpListener,
    std::net::TcpListener,
    "tokio::net::TcpListener",
    polled = Polled::new(),
    connections = &CLIENT_CONNECTION
);
conversions!(TcpStream, tokio::net::TcpStream, std::net::TcpStream, "tokio::net::TcpStream", polled = Polled::new());

impl AsRef<TcpStream> for TcpStream {
    fn as_ref(&self) -> &TcpStream {
        self
    }
}
