//! `UnixListener`, `UnixStream` and `UnixDatagram`

use super::Caller;
use super::methods::{
    async_read, async_write, conversions, idles, interests, poll_socket, polls, polls_that_fill, transfers_into,
    transfers_that_wait, waits,
};
use super::split::unix::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
use super::tcp_socket::vectored;
use crate::instrument::Instrument;
use crate::net::methods::{operations, transfers};
use crate::net::record::{Io, Opening, Peer, Socket, Std};
use crate::net::{CLIENT_CONNECTION, DATAGRAM_SOCKET, Net, SERVER_UNIX_SOCKET};
use crate::tokio::pending::{Polled, polled, without_bytes};
use perfschema_core::{Operation, SocketAddress};
use std::io::{self, IoSlice, IoSliceMut};
use std::net::Shutdown;
use std::panic::Location;
use std::path::Path;
use std::task::{Context, Poll};
use tokio::io::{Interest, Ready};
use tokio::net::unix::{SocketAddr, UCred};

/// [`tokio::net::UnixListener`], with its waits recorded.
pub struct UnixListener {
    polled: Polled<Io>,
    socket: Socket<tokio::net::UnixListener>,
    /// Of those that it accepts.
    connections: &'static Instrument,
}

/// [`tokio::net::UnixStream`], with its waits recorded.
pub struct UnixStream {
    // First, so that what is pending ends before the socket is closed.
    pub(super) polled: Polled<Io>,
    pub(super) socket: Socket<tokio::net::UnixStream>,
}

/// [`tokio::net::UnixDatagram`], with its waits recorded.
pub struct UnixDatagram {
    polled: Polled<Io>,
    socket: Socket<tokio::net::UnixDatagram>,
}

impl Peer for SocketAddr {
    fn leads_to(&self) -> SocketAddress {
        SocketAddress::UNIX
    }
}

impl UnixListener {
    /// See [`tokio::net::UnixListener::bind`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixListener> {
        let net = Net::of_servers(&SERVER_UNIX_SOCKET);
        let opening = UnixListener::opening(net, Some(Location::caller()));
        // In no closure, of which tokio would say that it panics there.
        UnixListener::bound(net, opening, tokio::net::UnixListener::bind(path))
    }

    /// See [`tokio::net::UnixListener::bind_addr`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn bind_addr(socket_addr: &SocketAddr) -> io::Result<UnixListener> {
        let net = Net::of_servers(&SERVER_UNIX_SOCKET);
        let opening = UnixListener::opening(net, Some(Location::caller()));
        UnixListener::bound(net, opening, tokio::net::UnixListener::bind_addr(socket_addr))
    }

    pub(super) fn of(
        net: Net,
        caller: Caller,
        bind: impl FnOnce() -> io::Result<tokio::net::UnixListener>,
    ) -> io::Result<UnixListener> {
        let opening = UnixListener::opening(net, caller);
        UnixListener::bound(net, opening, bind())
    }

    fn opening(net: Net, caller: Caller) -> Opening {
        Opening::begin(net.instrument, Operation::Bind, SocketAddress::UNIX, caller)
    }

    fn bound(net: Net, opening: Opening, inner: io::Result<tokio::net::UnixListener>) -> io::Result<UnixListener> {
        let socket = opening.end(inner, Std::leads_to)?;
        Ok(UnixListener { polled: Polled::new(), socket, connections: net.connections })
    }

    /// See [`tokio::net::UnixListener::accept`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn accept(&self) -> impl Future<Output = io::Result<(UnixStream, SocketAddr)>> {
        let caller = Some(Location::caller());
        self.socket
            .handle
            .wait_then(Operation::Accept, caller, self.socket.std().accept(), |accepted| Ok(self.accepted(accepted?)))
    }

    /// See [`tokio::net::UnixListener::poll_accept`].
    ///
    /// # Errors
    /// Those of tokio's.
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(UnixStream, SocketAddr)>> {
        poll_socket!(self.reading, Accept, None, poll_accept(cx), without_bytes).map_ok(|accepted| self.accepted(accepted))
    }

    fn accepted(&self, (inner, peer): (tokio::net::UnixStream, SocketAddr)) -> (UnixStream, SocketAddr) {
        (UnixStream { polled: Polled::new(), socket: Socket::new(inner, self.connections, peer.leads_to(), false) }, peer)
    }
}

impl UnixStream {
    /// See [`tokio::net::UnixStream::connect`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn connect<P: AsRef<Path>>(path: P) -> impl Future<Output = io::Result<UnixStream>> {
        UnixStream::of(Net::of_connections(), Some(Location::caller()), tokio::net::UnixStream::connect(path))
    }

    /// See [`tokio::net::UnixStream::connect_addr`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn connect_addr(socket_addr: &SocketAddr) -> impl Future<Output = io::Result<UnixStream>> {
        UnixStream::of(Net::of_connections(), Some(Location::caller()), tokio::net::UnixStream::connect_addr(socket_addr))
    }

    pub(super) fn of(
        net: Net,
        caller: Caller,
        connect: impl Future<Output = io::Result<tokio::net::UnixStream>>,
    ) -> impl Future<Output = io::Result<UnixStream>> {
        let unix = SocketAddress::UNIX;
        let made = |socket| UnixStream { polled: Polled::new(), socket };
        Socket::opening(net.instrument, Operation::Connect, unix, caller, connect, Std::leads_to, made)
    }

    /// See [`tokio::net::UnixStream::pair`].
    ///
    /// # Errors
    /// Those of tokio's.
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        let (one, two) = tokio::net::UnixStream::pair()?;
        Ok((one.into(), two.into()))
    }

    /// See [`tokio::net::UnixStream::split`].
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        let handle = self.socket.handle;
        let (read, write) = self.socket.std_mut().split();
        (ReadHalf::of(read, handle, &mut self.polled.reading), WriteHalf::of(write, handle, &mut self.polled.writing))
    }

    /// See [`tokio::net::UnixStream::into_split`]. The socket's row goes with the last of the two.
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        let UnixStream { polled, socket } = self;
        let (inner, handle) = socket.into_parts();
        OwnedReadHalf::pair(inner, handle, polled)
    }
}

impl UnixDatagram {
    /// See [`tokio::net::UnixDatagram::bind`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixDatagram> {
        let bind = || tokio::net::UnixDatagram::bind(path);
        UnixDatagram::of(Net::of_servers(&DATAGRAM_SOCKET), Some(Location::caller()), bind)
    }

    /// See [`tokio::net::UnixDatagram::unbound`].
    ///
    /// # Errors
    /// Those of tokio's.
    pub fn unbound() -> io::Result<UnixDatagram> {
        tokio::net::UnixDatagram::unbound().map(UnixDatagram::from)
    }

    /// See [`tokio::net::UnixDatagram::pair`].
    ///
    /// # Errors
    /// Those of tokio's.
    pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
        let (one, two) = tokio::net::UnixDatagram::pair()?;
        Ok((one.into(), two.into()))
    }

    pub(super) fn of(
        net: Net,
        caller: Caller,
        bind: impl FnOnce() -> io::Result<tokio::net::UnixDatagram>,
    ) -> io::Result<UnixDatagram> {
        let socket = Socket::open(net.instrument, Operation::Bind, SocketAddress::UNIX, caller, bind, Std::leads_to)?;
        Ok(UnixDatagram { polled: Polled::new(), socket })
    }

    /// See [`tokio::net::UnixDatagram::connect`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.socket.run(Operation::Connect, Some(Location::caller()), || self.socket.std().connect(path))
    }

    /// See [`tokio::net::UnixDatagram::send_to`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> impl Future<Output = io::Result<usize>> {
        let caller = Some(Location::caller());
        self.socket.handle.wait_transfer(Operation::SendTo, buf.len(), caller, self.socket.std().send_to(buf, target))
    }

    /// See [`tokio::net::UnixDatagram::try_send_to`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn try_send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> io::Result<usize> {
        let caller = Some(Location::caller());
        self.socket.transfer(Operation::SendTo, buf.len(), caller, |socket| socket.try_send_to(buf, target))
    }

    /// See [`tokio::net::UnixDatagram::poll_send_to`].
    ///
    /// # Errors
    /// Those of tokio's.
    pub fn poll_send_to<P: AsRef<Path>>(&self, cx: &mut Context<'_>, buf: &[u8], target: P) -> Poll<io::Result<usize>> {
        poll_socket!(self.writing, SendTo, Some(buf.len()), poll_send_to(cx, buf, target), polled)
    }

    /// See [`tokio::net::UnixDatagram::poll_send`].
    ///
    /// # Errors
    /// Those of tokio's.
    pub fn poll_send(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        poll_socket!(self.writing, Send, Some(buf.len()), poll_send(cx, buf), polled)
    }
}

operations! { UnixListener is "tokio::net::UnixListener":
    Stat {
        fn local_addr() -> SocketAddr;
    }
    Option {
        fn take_error() -> Option<io::Error>;
    }
}

operations! { UnixStream is "tokio::net::UnixStream":
    Stat {
        fn local_addr() -> SocketAddr;
        fn peer_addr() -> SocketAddr;
    }
    Option {
        fn peer_cred() -> UCred;
        fn take_error() -> Option<io::Error>;
    }
}

operations! { UnixDatagram is "tokio::net::UnixDatagram":
    Stat {
        fn local_addr() -> SocketAddr;
        fn peer_addr() -> SocketAddr;
    }
    Shutdown {
        fn shutdown(how: Shutdown) -> ();
    }
    Option {
        fn take_error() -> Option<io::Error>;
    }
}

transfers! { UnixStream is "tokio::net::UnixStream":
    Receive {
        fn try_read(buf: &mut [u8]) -> usize;
    }
    Send {
        fn try_write(buf: &[u8]) -> usize;
    }
}

transfers! { UnixDatagram is "tokio::net::UnixDatagram":
    Receive {
        fn try_recv(buf: &mut [u8]) -> usize;
    }
    ReceiveFrom {
        fn try_recv_from(buf: &mut [u8]) -> (usize, SocketAddr);
    }
    Send {
        fn try_send(buf: &[u8]) -> usize;
    }
}

transfers_into! { UnixStream is "tokio::net::UnixStream": at once {
    Receive try_read_buf -> usize;
} }

transfers_into! { UnixDatagram is "tokio::net::UnixDatagram": at once {
    Receive try_recv_buf -> usize;
    ReceiveFrom try_recv_buf_from -> (usize, SocketAddr);
} }

transfers_into! { UnixDatagram is "tokio::net::UnixDatagram": waiting {
    Receive recv_buf -> usize;
    ReceiveFrom recv_buf_from -> (usize, SocketAddr);
} }

transfers_that_wait! { UnixDatagram is "tokio::net::UnixDatagram":
    Receive {
        fn recv(buf: &mut [u8]) -> usize;
    }
    ReceiveFrom {
        fn recv_from(buf: &mut [u8]) -> (usize, SocketAddr);
    }
    Send {
        fn send(buf: &[u8]) -> usize;
    }
}

polls_that_fill! { UnixDatagram is "tokio::net::UnixDatagram":
    Receive {
        fn poll_recv(buf: &mut ReadBuf<'_>) -> ();
    }
    ReceiveFrom {
        fn poll_recv_from(buf: &mut ReadBuf<'_>) -> SocketAddr;
    }
}

/// The time until a socket is ready.
macro_rules! readiness {
    ($($type:ident is $tokio:literal: $poll_read:ident, $poll_write:ident;)*) => {
        $(
            waits! { $type is $tokio:
                Select {
                    fn ready(interest: Interest) -> Ready;
                    fn readable() -> ();
                    fn writable() -> ();
                }
            }

            polls! { $type is $tokio:
                reading Select {
                    fn $poll_read() -> ();
                }
                writing Select {
                    fn $poll_write() -> ();
                }
            }

            interests!($type is $tokio);
            idles!($type, |this| this.socket.handle);
        )*
    };
}

readiness! {
    UnixStream is "tokio::net::UnixStream": poll_read_ready, poll_write_ready;
    UnixDatagram is "tokio::net::UnixDatagram": poll_recv_ready, poll_send_ready;
}

vectored!(UnixStream is "tokio::net::UnixStream");
async_read!(UnixStream, |this| (this.socket.handle, this.polled.reading, this.socket.std_mut()));
async_write!(UnixStream, |this| (this.socket.handle, this.polled.writing, this.socket.std_mut()));
conversions!(
    UnixListener,
    tokio::net::UnixListener,
    std::os::unix::net::UnixListener,
    "tokio::net::UnixListener",
    polled = Polled::new(),
    connections = &CLIENT_CONNECTION
);
conversions!(
    UnixStream,
    tokio::net::UnixStream,
    std::os::unix::net::UnixStream,
    "tokio::net::UnixStream",
    polled = Polled::new()
);
conversions!(
    UnixDatagram,
    tokio::net::UnixDatagram,
    std::os::unix::net::UnixDatagram,
    "tokio::net::UnixDatagram",
    polled = Polled::new()
);

impl AsRef<UnixStream> for UnixStream {
    fn as_ref(&self) -> &UnixStream {
        self
    }
}
