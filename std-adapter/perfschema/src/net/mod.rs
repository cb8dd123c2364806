//! `std::net`, instrumented: the same names, so that a `use` line is the whole change. Unix sockets are in
//! [`os::unix::net`](crate::os::unix::net).
//!
//! Every call below records a wait: for which socket, how many bytes, how long, from which source line. Everything else is std's, also what
//! makes sockets out of nothing or out of each other: `pair`, `unbound`, `try_clone`. Without the feature `instrument` all of it is std's.
//!
//! | what | operations recorded |
//! |---|---|
//! | opening and closing | `bind`, `connect`, `accept`, `shutdown`, `close` |
//! | receiving | `recv`, `recvfrom`; `peek` and `peek_from` receive nothing and are `select` |
//! | sending | `send`, `sendto` |
//! | options, also time limits and `set_nonblocking` | `opt` |
//! | addresses | `stat` |
//!
//! A socket has a row in `socket_instances` while it is open, a clone one of its own: it has a descriptor of its own. Its instrument is
//! `wait/io/socket/std/server_tcpip_socket`, `…/server_unix_socket`, `…/client_connection` for both ends of a connection, or
//! `…/datagram_socket`; [`net!`](crate::net!) makes a [`Net`] with instruments of its own. A socket that was opened before the performance
//! schema was started has no row: its waits count by instrument.
//!
//! A server says when it waits for its client's next request, by [`Idle::idle`]. SOURCE is as in [`fs`](mod@crate::fs).
//!
//! What std has and this cannot: `TcpStreamExt` of `std::os::linux::net`, which is sealed, and
//! `is_write_vectored`: a `BufWriter` around a stream of ours takes the buffers of a `write_vectored` one by one. What a
//! clone of a UDP socket is connected to later does not show in the row of the other.

#[cfg(feature = "instrument")]
pub(crate) mod methods;
#[cfg(feature = "instrument")]
pub(crate) mod record;
#[cfg(feature = "instrument")]
#[cfg_attr(not(windows), path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
pub(crate) mod system;
#[cfg(feature = "instrument")]
mod tcp;
#[cfg(feature = "instrument")]
mod udp;

pub use std::net::*;
#[cfg(feature = "instrument")]
use system::descriptor;
#[cfg(feature = "instrument")]
pub use tcp::{Incoming, TcpListener, TcpStream};
#[cfg(feature = "instrument")]
pub use udp::UdpSocket;

#[cfg(feature = "instrument")]
use crate::instrument::Instrument;
#[cfg(unix)]
use crate::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
#[cfg(feature = "instrument")]
use perfschema_core::InstrumentKind;
use std::io;
#[cfg(feature = "instrument")]
use std::panic::Location;
#[cfg(unix)]
use std::path::Path;
use std::time::Duration;

#[cfg(feature = "instrument")]
pub(crate) static SERVER_TCPIP_SOCKET: Instrument = Instrument::new("wait/io/socket/std/server_tcpip_socket");
#[cfg(all(feature = "instrument", unix))]
pub(crate) static SERVER_UNIX_SOCKET: Instrument = Instrument::new("wait/io/socket/std/server_unix_socket");
#[cfg(feature = "instrument")]
pub(crate) static CLIENT_CONNECTION: Instrument = Instrument::new("wait/io/socket/std/client_connection");
#[cfg(feature = "instrument")]
pub(crate) static DATAGRAM_SOCKET: Instrument = Instrument::new("wait/io/socket/std/datagram_socket");

/// What a client can keep waiting: a connection of which nobody knows when the next request comes.
pub trait Idle {
    /// Runs what waits for the client's next request.
    ///
    /// While it runs the connection is idle: STATE is `IDLE` in `socket_instances`, and there is one event of the instrument `idle`. What
    /// the thread receives meanwhile, from whatever socket, is no wait of that socket; bytes and calls are counted in its summaries all
    /// the same, without a time. So the time that a client takes to think is not taken for the time that the network takes.
    ///
    /// ```
    /// use perfschema::net::{Idle, TcpListener, TcpStream};
    /// use std::io::{BufRead, BufReader, Write};
    /// # let listener = TcpListener::bind("127.0.0.1:0")?;
    /// # let mut client = TcpStream::connect(listener.local_addr()?)?;
    /// # client.write_all(b"one\ntwo\n")?;
    /// # drop(client);
    /// # let (stream, _) = listener.accept()?;
    /// # let mut requests = 0;
    /// let mut reader = BufReader::new(&stream);
    /// let mut request = String::new();
    /// // Idle until something comes, or nothing will; from then on it is a request, and its rest is waited for.
    /// while !stream.idle(|_| reader.fill_buf().map(<[u8]>::is_empty))? {
    ///     reader.read_line(&mut request)?;
    ///     # requests += 1;
    ///     // … (&stream).write_all(answer) …
    ///     request.clear();
    /// }
    /// # assert_eq!(requests, 2);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    fn idle<T>(&self, wait: impl FnOnce(&Self) -> T) -> T;
}

#[cfg(not(feature = "instrument"))]
mod without {
    macro_rules! idles {
        ($($type:ty)*) => {
            $(
                impl super::Idle for $type {
                    fn idle<T>(&self, wait: impl FnOnce(&Self) -> T) -> T {
                        wait(self)
                    }
                }
            )*
        };
    }

    idles! { std::net::TcpStream std::net::UdpSocket }
    #[cfg(unix)]
    idles! { std::os::unix::net::UnixStream std::os::unix::net::UnixDatagram }
}

/// Ways to make sockets that have instruments of their own; made by [`net!`](crate::net!), also in a `static`.
///
/// ```
/// use perfschema::net::Net;
/// static QUERIES: Net = perfschema::net!("wait/io/socket/app/query_socket", "wait/io/socket/app/query_connection");
/// let listener = QUERIES.bind_tcp("127.0.0.1:0")?;
/// let client = perfschema::net::TcpStream::connect(listener.local_addr()?)?;
/// let (connection, _) = listener.accept()?; // Its instrument is the second one.
/// assert_eq!(connection.peer_addr()?, client.local_addr()?);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Net {
    #[cfg(feature = "instrument")]
    pub(crate) instrument: &'static Instrument,
    /// Of the connections that its listeners accept.
    #[cfg(feature = "instrument")]
    pub(crate) connections: &'static Instrument,
}

#[cfg(feature = "instrument")]
impl Net {
    /// Sockets that record by `instrument`, and connections accepted by them that record by `connections`; both are a `wait/io/socket/…`. In
    /// a `static` or at run time: a `const` cannot look at a `static`, and has [`net!`](crate::net!).
    ///
    /// # Panics
    /// If an instrument is of another kind; in a `static`, that is a compile error.
    ///
    /// ```compile_fail
    /// use perfschema::{Instrument, net::Net};
    /// static METRICS: Instrument = Instrument::new("wait/io/socket/app/metrics");
    /// static CONNECTIONS: Instrument = Instrument::new("wait/synch/mutex/app/connections");
    /// static NET: Net = Net::with_instruments(&METRICS, &CONNECTIONS);
    /// ```
    pub const fn with_instruments(instrument: &'static Instrument, connections: &'static Instrument) -> Net {
        crate::__check_kind(instrument.kind(), InstrumentKind::Socket);
        crate::__check_kind(connections.kind(), InstrumentKind::Socket);
        Net { instrument, connections }
    }

    /// The same, with the default instrument for accepted connections.
    ///
    /// # Panics
    /// As [`with_instruments`](Self::with_instruments).
    pub const fn with_instrument(instrument: &'static Instrument) -> Net {
        Net::with_instruments(instrument, &CLIENT_CONNECTION)
    }

    // For net!, which has looked at the names.
    #[doc(hidden)]
    pub const fn __of(instrument: &'static Instrument, connections: Option<&'static Instrument>) -> Net {
        match connections {
            Some(connections) => Net { instrument, connections },
            None => Net::of_servers(instrument),
        }
    }

    pub(crate) const fn of_servers(instrument: &'static Instrument) -> Net {
        Net { instrument, connections: &CLIENT_CONNECTION }
    }

    pub(crate) fn of_connections() -> Net {
        Net::of_servers(&CLIENT_CONNECTION)
    }
}

#[cfg(not(feature = "instrument"))]
impl Net {
    #[doc(hidden)]
    pub const fn new() -> Net {
        Net {}
    }
}

/// Ways to make a socket: std's function, and ours.
macro_rules! ways {
    ($(
        $(#[$meta:meta])*
        $std:literal fn $name:ident$(<$param:ident: $bound:path>)?($self:ident $(, $argument:ident: $type:ty)*) -> $result:ty
            = $plain:expr, |$caller:ident| $recorded:expr;
    )*) => {
        impl Net {
            $(
                #[doc = concat!("See [`", $std, "`].")]
                ///
                /// # Errors
                /// Those of std's.
                $(#[$meta])*
                #[cfg_attr(feature = "instrument", track_caller)]
                pub fn $name$(<$param: $bound>)?(&$self $(, $argument: $type)*) -> io::Result<$result> {
                    #[cfg(feature = "instrument")]
                    {
                        let $caller = Some(Location::caller());
                        $recorded
                    }
                    #[cfg(not(feature = "instrument"))]
                    {
                        $plain
                    }
                }
            )*
        }
    };
}

ways! {
    "std::net::TcpListener::bind" fn bind_tcp<A: ToSocketAddrs>(self, addr: A) -> TcpListener
        = TcpListener::bind(addr), |caller| TcpListener::of(self, addr, caller);
    "std::net::TcpStream::connect" fn connect_tcp<A: ToSocketAddrs>(self, addr: A) -> TcpStream
        = TcpStream::connect(addr), |caller| TcpStream::of(self, addr, caller);
    "std::net::TcpStream::connect_timeout" fn connect_tcp_timeout(self, addr: &SocketAddr, timeout: Duration) -> TcpStream
        = TcpStream::connect_timeout(addr, timeout), |caller| TcpStream::within(self, addr, timeout, caller);
    "std::net::UdpSocket::bind" fn bind_udp<A: ToSocketAddrs>(self, addr: A) -> UdpSocket
        = UdpSocket::bind(addr), |caller| UdpSocket::of(self, addr, caller);
    #[cfg(unix)]
    "std::os::unix::net::UnixListener::bind" fn bind_unix<P: AsRef<Path>>(self, path: P) -> UnixListener
        = UnixListener::bind(path), |caller| UnixListener::of(self, caller, || std::os::unix::net::UnixListener::bind(path));
    #[cfg(unix)]
    "std::os::unix::net::UnixStream::connect" fn connect_unix<P: AsRef<Path>>(self, path: P) -> UnixStream
        = UnixStream::connect(path), |caller| UnixStream::of(self, caller, || std::os::unix::net::UnixStream::connect(path));
    #[cfg(unix)]
    "std::os::unix::net::UnixDatagram::bind" fn bind_unix_datagram<P: AsRef<Path>>(self, path: P) -> UnixDatagram
        = UnixDatagram::bind(path), |caller| UnixDatagram::of(self, caller, || std::os::unix::net::UnixDatagram::bind(path));
}

/// What std does with several addresses: the first that works, or the last one's error.
#[cfg(feature = "instrument")]
pub(crate) fn each_address<A: ToSocketAddrs, T>(addr: A, mut open: impl FnMut(SocketAddr) -> io::Result<T>) -> io::Result<T> {
    let mut last = None;
    for address in addr.to_socket_addrs()? {
        match open(address) {
            Ok(opened) => return Ok(opened),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(no_addresses))
}

/// std's own words for no address at all.
#[cfg(feature = "instrument")]
fn no_addresses() -> io::Error {
    let error = std::net::UdpSocket::bind(&[][..] as &[SocketAddr]).err();
    error.unwrap_or_else(|| io::ErrorKind::InvalidInput.into())
}
