//! `tokio::net`, instrumented: the same names, so that a `use` line is the whole change.
//!
//! Operations, instruments, rows and sums are those of [`perfschema::net`](mod@crate::net): the same tables show sockets of std's and of
//! tokio's. [`tokio`](super) says what a wait is here.
//!
//! | what | operations recorded |
//! |---|---|
//! | opening and closing | `bind`, `connect`, `accept`, `shutdown`, `close` |
//! | receiving, also `try_…` and `poll_…` | `recv`, `recvfrom` |
//! | sending, also `try_…` and `poll_…` | `send`, `sendto` |
//! | waiting until the socket is ready, and looking at what is there | `select` |
//! | options | `opt` |
//! | addresses | `stat` |
//!
//! A name is looked up before a wait begins, and of several addresses each that is tried is a wait. [`Net`] makes sockets with instruments
//! of their own. [`Idle::idle`] says that a client is waited for. Pipes, those of Unix and those of Windows, are tokio's: what waits for those
//! is not seen.
//!
//! What tokio has and this cannot: `as_ref` of a half, because there is no whole socket behind it. What is not here is reached through
//! `as_tokio`, `From` and `into_std`. `from_std` and `into_std` speak of std's own sockets: one of [`perfschema::net`](mod@crate::net) comes
//! and goes by `into()`.

mod methods;
mod socket;
mod split;
mod tcp_socket;
mod udp;
#[cfg(unix)]
mod unix_socket;

#[cfg(windows)]
pub use ::tokio::net::windows;
pub use ::tokio::net::{ToSocketAddrs, lookup_host};
pub use socket::TcpSocket;
#[cfg(unix)]
pub use socket::UnixSocket;
pub use tcp_socket::{TcpListener, TcpStream};
pub use udp::UdpSocket;
#[cfg(unix)]
pub use unix_socket::{UnixDatagram, UnixListener, UnixStream};

use crate::net::record::Caller;
use std::io;
use std::net::SocketAddr;
use std::panic::Location;
#[cfg(unix)]
use std::path::Path;

/// Halves of a [`TcpStream`].
pub mod tcp {
    pub use super::split::tcp::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
}

/// Halves of a [`UnixStream`], and what else tokio has for Unix sockets.
#[cfg(unix)]
pub mod unix {
    pub use super::split::unix::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
    pub use ::tokio::net::unix::{SocketAddr, UCred, gid_t, pid_t, pipe, uid_t};
}

/// What a client can keep waiting: a connection of which nobody knows when the next request comes.
pub trait Idle {
    /// Waits for what the client's next request begins with, mostly until something can be read.
    ///
    /// As of [`net::Idle`](crate::net::Idle): meanwhile STATE is `IDLE` in `socket_instances`, there is one event of the instrument `idle`,
    /// and what is received while `wait` is polled, from whatever socket, counts by bytes and calls, but is no wait. What other tasks
    /// receive, also on the same thread, is theirs.
    ///
    /// ```
    /// use perfschema::tokio::net::{Idle, TcpListener, TcpStream};
    /// use tokio::io::{AsyncReadExt, AsyncWriteExt};
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// # let mut client = TcpStream::connect(listener.local_addr()?).await?;
    /// # client.write_all(b"one").await?;
    /// # let (mut stream, _) = listener.accept().await?;
    /// let mut request = [0; 1000];
    /// // Idle until something comes, or nothing will; from then on it is a request, and its rest is waited for.
    /// stream.idle(stream.readable()).await?;
    /// let bytes = stream.read(&mut request).await?;
    /// # assert_eq!(bytes, 3);
    /// # Ok::<(), std::io::Error>(())
    /// # })?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    fn idle<F: Future>(&self, wait: F) -> impl Future<Output = F::Output>;
}

/// Ways to make sockets that have instruments of their own.
///
/// ```
/// use perfschema::tokio::net::Net;
/// static METRICS: Net = Net::new(perfschema::net!("wait/io/socket/app/metrics"));
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let socket = METRICS.bind_udp("127.0.0.1:0").await?;
/// assert_eq!(socket.send_to(b"requests:1", socket.local_addr()?).await?, 10);
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Net(crate::net::Net);

impl Net {
    /// Sockets with these instruments, made by [`net!`](crate::net!).
    pub const fn new(net: crate::net::Net) -> Net {
        Net(net)
    }
}

/// Ways to make a socket: tokio's function, and ours.
macro_rules! ways {
    ($(
        $(#[$meta:meta])*
        $tokio:literal fn $name:ident<$param:ident: $bound:path>($self:ident, $argument:ident) -> $result:ty = |$caller:ident| $made:expr;
    )*) => {
        impl Net {
            $(
                #[doc = concat!("See [`", $tokio, "`].")]
                ///
                /// # Errors
                /// Those of tokio's.
                $(#[$meta])*
                #[track_caller]
                pub fn $name<$param: $bound>(&$self, $argument: $param) -> $result {
                    let $caller = Some(Location::caller());
                    $made
                }
            )*
        }
    };
}

ways! {
    "tokio::net::TcpListener::bind" fn bind_tcp<A: ToSocketAddrs>(self, addr) -> impl Future<Output = io::Result<TcpListener>>
        = |caller| TcpListener::of(self.0, addr, caller);
    "tokio::net::TcpStream::connect" fn connect_tcp<A: ToSocketAddrs>(self, addr) -> impl Future<Output = io::Result<TcpStream>>
        = |caller| TcpStream::of(self.0, addr, caller);
    "tokio::net::UdpSocket::bind" fn bind_udp<A: ToSocketAddrs>(self, addr) -> impl Future<Output = io::Result<UdpSocket>>
        = |caller| UdpSocket::of(self.0, addr, caller);
    #[cfg(unix)]
    "tokio::net::UnixListener::bind" fn bind_unix<P: AsRef<Path>>(self, path) -> io::Result<UnixListener>
        = |caller| UnixListener::of(self.0, caller, || ::tokio::net::UnixListener::bind(path));
    #[cfg(unix)]
    "tokio::net::UnixStream::connect" fn connect_unix<P: AsRef<Path>>(self, path) -> impl Future<Output = io::Result<UnixStream>>
        = |caller| UnixStream::of(self.0, caller, ::tokio::net::UnixStream::connect(path));
    #[cfg(unix)]
    "tokio::net::UnixDatagram::bind" fn bind_unix_datagram<P: AsRef<Path>>(self, path) -> io::Result<UnixDatagram>
        = |caller| UnixDatagram::of(self.0, caller, || ::tokio::net::UnixDatagram::bind(path));
}

/// What tokio does with several addresses: the first that works, or the last one's error; `none` has tokio's words for no address at all.
async fn each_address<T, N, F: Future<Output = io::Result<T>>, E: Future<Output = io::Result<N>>>(
    addr: impl ToSocketAddrs,
    mut open: impl FnMut(SocketAddr) -> F,
    none: impl FnOnce() -> E,
) -> io::Result<T> {
    let mut last = None;
    for address in lookup_host(addr).await? {
        match open(address).await {
            Ok(opened) => return Ok(opened),
            Err(error) => last = Some(error),
        }
    }
    match last {
        Some(error) => Err(error),
        None => Err(none().await.err().unwrap_or_else(|| io::ErrorKind::InvalidInput.into())),
    }
}

/// No address at all.
const NOWHERE: &[SocketAddr] = &[];
