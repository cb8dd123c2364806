//! `TcpSocket` and `UnixSocket`: sockets that are not connected and do not listen yet.

#[cfg(unix)]
use super::unix_socket::{UnixDatagram, UnixListener, UnixStream};
use super::{TcpListener, TcpStream};
#[cfg(unix)]
use crate::net::SERVER_UNIX_SOCKET;
use crate::net::{Net, SERVER_TCPIP_SOCKET};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::panic::Location;
#[cfg(unix)]
use std::path::Path;
use std::time::Duration;

/// [`tokio::net::TcpSocket`], which becomes a [`TcpStream`] or a [`TcpListener`] whose waits are recorded. Until then it has no row: what is
/// done to it, options and `bind`, waits for nobody, and what its instrument will be is not known.
///
/// ```
/// use perfschema::tokio::net::{TcpListener, TcpSocket};
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let socket = TcpSocket::new_v4()?;
/// socket.set_reuseaddr(true)?;
/// socket.bind("127.0.0.1:0".parse().unwrap())?;
/// let listener: TcpListener = socket.listen(1024)?;
/// # let _ = listener;
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct TcpSocket {
    inner: tokio::net::TcpSocket,
}

/// [`tokio::net::UnixSocket`], which becomes a [`UnixStream`], a [`UnixListener`] or a [`UnixDatagram`] whose waits are recorded. Until then
/// it has no row, as a [`TcpSocket`].
#[cfg(unix)]
pub struct UnixSocket {
    inner: tokio::net::UnixSocket,
}

/// Methods that are tokio's.
macro_rules! as_tokios {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty)?) -> $result:ty;)*) => {
        impl TcpSocket {
            $(
                #[doc = concat!("See [`tokio::net::TcpSocket::", stringify!($name), "`].")]
                ///
                /// # Errors
                /// Those of tokio's.
                $(#[$meta])*
                pub fn $name(&self $(, $argument: $type)?) -> io::Result<$result> {
                    self.inner.$name($($argument)?)
                }
            )*
        }
    };
}

as_tokios! {
    fn set_keepalive(keepalive: bool) -> ();
    fn keepalive() -> bool;
    fn set_reuseaddr(reuseaddr: bool) -> ();
    fn reuseaddr() -> bool;
    fn set_send_buffer_size(size: u32) -> ();
    fn send_buffer_size() -> u32;
    fn set_recv_buffer_size(size: u32) -> ();
    fn recv_buffer_size() -> u32;
    fn set_zero_linger() -> ();
    fn linger() -> Option<Duration>;
    fn set_nodelay(nodelay: bool) -> ();
    fn nodelay() -> bool;
    fn tos_v4() -> u32;
    fn set_tos_v4(tos: u32) -> ();
    fn local_addr() -> SocketAddr;
    fn take_error() -> Option<io::Error>;
    fn bind(addr: SocketAddr) -> ();
    #[cfg(unix)]
    fn set_reuseport(reuseport: bool) -> ();
    #[cfg(unix)]
    fn reuseport() -> bool;
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "macos", target_os = "freebsd"))]
    fn set_tclass_v6(tclass: u32) -> ();
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "macos", target_os = "freebsd"))]
    fn tclass_v6() -> u32;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn bind_device(interface: Option<&[u8]>) -> ();
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn device() -> Option<Vec<u8>>;
}

impl TcpSocket {
    /// See [`tokio::net::TcpSocket::new_v4`].
    ///
    /// # Errors
    /// Those of tokio's.
    pub fn new_v4() -> io::Result<TcpSocket> {
        tokio::net::TcpSocket::new_v4().map(TcpSocket::from)
    }

    /// See [`tokio::net::TcpSocket::new_v6`].
    ///
    /// # Errors
    /// Those of tokio's.
    pub fn new_v6() -> io::Result<TcpSocket> {
        tokio::net::TcpSocket::new_v6().map(TcpSocket::from)
    }

    /// See [`tokio::net::TcpSocket::from_std_stream`].
    pub fn from_std_stream(std_stream: std::net::TcpStream) -> TcpSocket {
        tokio::net::TcpSocket::from_std_stream(std_stream).into()
    }

    /// See [`tokio::net::TcpSocket::set_linger`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[deprecated = "as tokio's: dropping the socket then blocks the thread; set_zero_linger does not"]
    pub fn set_linger(&self, dur: Option<Duration>) -> io::Result<()> {
        #[expect(deprecated, reason = "it is what was asked for")]
        self.inner.set_linger(dur)
    }

    /// See [`tokio::net::TcpSocket::connect`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn connect(self, addr: SocketAddr) -> impl Future<Output = io::Result<TcpStream>> {
        TcpStream::connecting(Net::of_connections(), addr, Some(Location::caller()), self.inner.connect(addr))
    }

    /// See [`tokio::net::TcpSocket::listen`]. It is recorded as `bind`.
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        TcpListener::listening(Net::of_servers(&SERVER_TCPIP_SOCKET), Some(Location::caller()), self.inner, backlog)
    }
}

#[cfg(unix)]
impl UnixSocket {
    /// See [`tokio::net::UnixSocket::new_datagram`].
    ///
    /// # Errors
    /// Those of tokio's.
    pub fn new_datagram() -> io::Result<UnixSocket> {
        tokio::net::UnixSocket::new_datagram().map(UnixSocket::from)
    }

    /// See [`tokio::net::UnixSocket::new_stream`].
    ///
    /// # Errors
    /// Those of tokio's.
    pub fn new_stream() -> io::Result<UnixSocket> {
        tokio::net::UnixSocket::new_stream().map(UnixSocket::from)
    }

    /// See [`tokio::net::UnixSocket::bind`].
    ///
    /// # Errors
    /// Those of tokio's.
    pub fn bind(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.inner.bind(path)
    }

    /// See [`tokio::net::UnixSocket::listen`]. It is recorded as `bind`.
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<UnixListener> {
        let net = Net::of_servers(&SERVER_UNIX_SOCKET);
        UnixListener::of(net, Some(Location::caller()), || self.inner.listen(backlog))
    }

    /// See [`tokio::net::UnixSocket::connect`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn connect(self, path: impl AsRef<Path>) -> impl Future<Output = io::Result<UnixStream>> {
        UnixStream::of(Net::of_connections(), Some(Location::caller()), self.inner.connect(path))
    }

    /// See [`tokio::net::UnixSocket::datagram`].
    ///
    /// # Errors
    /// Those of tokio's.
    pub fn datagram(self) -> io::Result<UnixDatagram> {
        self.inner.datagram().map(UnixDatagram::from)
    }
}

/// Conversions from and to tokio's, and to descriptors; how it shows in a debugger.
macro_rules! conversions {
    ($type:ident, $tokio:ty) => {
        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.inner.fmt(f)
            }
        }

        impl From<$tokio> for $type {
            fn from(inner: $tokio) -> $type {
                $type { inner }
            }
        }

        impl From<$type> for $tokio {
            fn from(socket: $type) -> $tokio {
                socket.inner
            }
        }

        $crate::net::system::handles!($type, |this| this.inner);
        $crate::net::system::raw_handles!($type, $tokio);
    };
}

conversions!(TcpSocket, tokio::net::TcpSocket);
#[cfg(unix)]
conversions!(UnixSocket, tokio::net::UnixSocket);
