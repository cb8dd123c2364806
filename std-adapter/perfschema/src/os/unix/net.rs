//! `std::os::unix::net`, instrumented; see [`net`](mod@crate::net). A Unix socket has no IP, and port 0.

pub use std::os::unix::net::*;

#[cfg(feature = "instrument")]
pub use instrumented::{Incoming, UnixDatagram, UnixListener, UnixStream};

#[cfg(feature = "instrument")]
mod instrumented {
    use crate::instrument::Instrument;
    use crate::net::methods::{conversions, idles, incoming, operations, streams, transfers};
    use crate::net::record::{Caller, Socket, Std};
    use crate::net::{CLIENT_CONNECTION, DATAGRAM_SOCKET, Net, SERVER_UNIX_SOCKET};
    use perfschema_core::{Operation, SocketAddress};
    use std::io;
    use std::net::Shutdown;
    use std::os::unix::net::SocketAddr;
    use std::panic::Location;
    use std::path::Path;
    use std::time::Duration;

    /// [`std::os::unix::net::UnixListener`], with its waits recorded.
    pub struct UnixListener {
        socket: Socket<std::os::unix::net::UnixListener>,
        /// Of those that it accepts.
        connections: &'static Instrument,
    }

    /// [`std::os::unix::net::UnixStream`], with its waits recorded.
    ///
    /// ```
    /// use perfschema::os::unix::net::UnixStream;
    /// use std::io::{Read, Write};
    /// let (mut one, mut two) = UnixStream::pair()?;
    /// one.write_all(b"hello")?;
    /// two.read_exact(&mut [0; 5])?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub struct UnixStream {
        socket: Socket<std::os::unix::net::UnixStream>,
    }

    /// [`std::os::unix::net::UnixDatagram`], with its waits recorded.
    pub struct UnixDatagram {
        socket: Socket<std::os::unix::net::UnixDatagram>,
    }

    /// Opens a socket by an operation.
    fn open<S: Std>(
        net: &Net,
        operation: Operation,
        caller: Caller,
        open: impl FnOnce() -> io::Result<S>,
    ) -> io::Result<Socket<S>> {
        Socket::open(net.instrument, operation, SocketAddress::UNIX, caller, open, Std::leads_to)
    }

    impl UnixListener {
        /// See [`std::os::unix::net::UnixListener::bind`].
        ///
        /// # Errors
        /// Those of std's.
        #[track_caller]
        pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixListener> {
            let bind = || std::os::unix::net::UnixListener::bind(path);
            UnixListener::of(&Net::of_servers(&SERVER_UNIX_SOCKET), Some(Location::caller()), bind)
        }

        /// See [`std::os::unix::net::UnixListener::bind_addr`].
        ///
        /// # Errors
        /// Those of std's.
        #[track_caller]
        pub fn bind_addr(socket_addr: &SocketAddr) -> io::Result<UnixListener> {
            let bind = || std::os::unix::net::UnixListener::bind_addr(socket_addr);
            UnixListener::of(&Net::of_servers(&SERVER_UNIX_SOCKET), Some(Location::caller()), bind)
        }

        pub(crate) fn of(
            net: &Net,
            caller: Caller,
            bind: impl FnOnce() -> io::Result<std::os::unix::net::UnixListener>,
        ) -> io::Result<UnixListener> {
            Ok(UnixListener { socket: open(net, Operation::Bind, caller, bind)?, connections: net.connections })
        }

        /// See [`std::os::unix::net::UnixListener::accept`].
        ///
        /// # Errors
        /// Those of std's.
        #[track_caller]
        pub fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
            let accept = std::os::unix::net::UnixListener::accept;
            let (socket, peer) = self.socket.accept(Some(Location::caller()), self.connections, accept)?;
            Ok((UnixStream { socket }, peer))
        }

        /// See [`std::os::unix::net::UnixListener::incoming`].
        pub fn incoming(&self) -> Incoming<'_> {
            Incoming { listener: self }
        }
    }

    impl<'a> IntoIterator for &'a UnixListener {
        type Item = io::Result<UnixStream>;
        type IntoIter = Incoming<'a>;

        fn into_iter(self) -> Incoming<'a> {
            self.incoming()
        }
    }

    impl UnixStream {
        /// See [`std::os::unix::net::UnixStream::connect`].
        ///
        /// # Errors
        /// Those of std's.
        #[track_caller]
        pub fn connect<P: AsRef<Path>>(path: P) -> io::Result<UnixStream> {
            let connect = || std::os::unix::net::UnixStream::connect(path);
            UnixStream::of(&Net::of_connections(), Some(Location::caller()), connect)
        }

        /// See [`std::os::unix::net::UnixStream::connect_addr`].
        ///
        /// # Errors
        /// Those of std's.
        #[track_caller]
        pub fn connect_addr(socket_addr: &SocketAddr) -> io::Result<UnixStream> {
            let connect = || std::os::unix::net::UnixStream::connect_addr(socket_addr);
            UnixStream::of(&Net::of_connections(), Some(Location::caller()), connect)
        }

        /// See [`std::os::unix::net::UnixStream::pair`].
        ///
        /// # Errors
        /// Those of std's.
        pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
            let (one, two) = std::os::unix::net::UnixStream::pair()?;
            Ok((one.into(), two.into()))
        }

        pub(crate) fn of(
            net: &Net,
            caller: Caller,
            connect: impl FnOnce() -> io::Result<std::os::unix::net::UnixStream>,
        ) -> io::Result<UnixStream> {
            Ok(UnixStream { socket: open(net, Operation::Connect, caller, connect)? })
        }
    }

    impl UnixDatagram {
        /// See [`std::os::unix::net::UnixDatagram::bind`].
        ///
        /// # Errors
        /// Those of std's.
        #[track_caller]
        pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixDatagram> {
            let bind = || std::os::unix::net::UnixDatagram::bind(path);
            UnixDatagram::of(&Net::of_servers(&DATAGRAM_SOCKET), Some(Location::caller()), bind)
        }

        /// See [`std::os::unix::net::UnixDatagram::bind_addr`].
        ///
        /// # Errors
        /// Those of std's.
        #[track_caller]
        pub fn bind_addr(socket_addr: &SocketAddr) -> io::Result<UnixDatagram> {
            let bind = || std::os::unix::net::UnixDatagram::bind_addr(socket_addr);
            UnixDatagram::of(&Net::of_servers(&DATAGRAM_SOCKET), Some(Location::caller()), bind)
        }

        /// See [`std::os::unix::net::UnixDatagram::unbound`].
        ///
        /// # Errors
        /// Those of std's.
        pub fn unbound() -> io::Result<UnixDatagram> {
            std::os::unix::net::UnixDatagram::unbound().map(UnixDatagram::from)
        }

        /// See [`std::os::unix::net::UnixDatagram::pair`].
        ///
        /// # Errors
        /// Those of std's.
        pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
            let (one, two) = std::os::unix::net::UnixDatagram::pair()?;
            Ok((one.into(), two.into()))
        }

        pub(crate) fn of(
            net: &Net,
            caller: Caller,
            bind: impl FnOnce() -> io::Result<std::os::unix::net::UnixDatagram>,
        ) -> io::Result<UnixDatagram> {
            Ok(UnixDatagram { socket: open(net, Operation::Bind, caller, bind)? })
        }

        /// See [`std::os::unix::net::UnixDatagram::connect`].
        ///
        /// # Errors
        /// Those of std's.
        #[track_caller]
        pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
            self.socket.run(Operation::Connect, Some(Location::caller()), || self.socket.std().connect(path))
        }

        /// See [`std::os::unix::net::UnixDatagram::send_to`].
        ///
        /// # Errors
        /// Those of std's.
        #[track_caller]
        pub fn send_to<P: AsRef<Path>>(&self, buf: &[u8], path: P) -> io::Result<usize> {
            let caller = Some(Location::caller());
            self.socket.transfer(Operation::SendTo, buf.len(), caller, |socket| socket.send_to(buf, path))
        }

        /// See [`std::os::unix::net::UnixDatagram::send_to_addr`].
        ///
        /// # Errors
        /// Those of std's.
        #[track_caller]
        pub fn send_to_addr(&self, buf: &[u8], socket_addr: &SocketAddr) -> io::Result<usize> {
            let caller = Some(Location::caller());
            self.socket.transfer(Operation::SendTo, buf.len(), caller, |socket| socket.send_to_addr(buf, socket_addr))
        }
    }

    operations! { UnixListener is "std::os::unix::net::UnixListener":
        Stat {
            fn local_addr() -> SocketAddr;
        }
        Option {
            fn set_nonblocking(nonblocking: bool) -> ();
            fn take_error() -> Option<io::Error>;
        }
    }

    operations! { UnixStream is "std::os::unix::net::UnixStream":
        Stat {
            fn local_addr() -> SocketAddr;
            fn peer_addr() -> SocketAddr;
        }
        Shutdown {
            fn shutdown(how: Shutdown) -> ();
        }
        Option {
            fn set_read_timeout(timeout: Option<Duration>) -> ();
            fn set_write_timeout(timeout: Option<Duration>) -> ();
            fn read_timeout() -> Option<Duration>;
            fn write_timeout() -> Option<Duration>;
            fn set_nonblocking(nonblocking: bool) -> ();
            fn take_error() -> Option<io::Error>;
        }
    }

    operations! { UnixDatagram is "std::os::unix::net::UnixDatagram":
        Connect {
            fn connect_addr(socket_addr: &SocketAddr) -> ();
        }
        Stat {
            fn local_addr() -> SocketAddr;
            fn peer_addr() -> SocketAddr;
        }
        Shutdown {
            fn shutdown(how: Shutdown) -> ();
        }
        Option {
            fn set_read_timeout(timeout: Option<Duration>) -> ();
            fn set_write_timeout(timeout: Option<Duration>) -> ();
            fn read_timeout() -> Option<Duration>;
            fn write_timeout() -> Option<Duration>;
            fn set_nonblocking(nonblocking: bool) -> ();
            fn take_error() -> Option<io::Error>;
        }
    }

    transfers! { UnixDatagram is "std::os::unix::net::UnixDatagram":
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

    streams!(UnixStream);
    idles!(UnixStream);
    idles!(UnixDatagram);
    conversions!(
        UnixListener,
        std::os::unix::net::UnixListener,
        "std::os::unix::net::UnixListener",
        connections = &CLIENT_CONNECTION
    );
    conversions!(UnixStream, std::os::unix::net::UnixStream, "std::os::unix::net::UnixStream");
    conversions!(UnixDatagram, std::os::unix::net::UnixDatagram, "std::os::unix::net::UnixDatagram");
    incoming!(Incoming of UnixListener gives UnixStream, at least usize::MAX, "std::os::unix::net::Incoming");
}
