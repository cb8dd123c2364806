//! `UdpSocket`

use super::methods::{
    conversions, idles, interests, poll_socket, polls, polls_that_fill, transfers_into, transfers_that_wait, waits,
};
use super::{Caller, NOWHERE, ToSocketAddrs, each_address, lookup_host};
use crate::net::methods::{operations, transfers};
use crate::net::record::{Io, Socket};
use crate::net::{DATAGRAM_SOCKET, Net};
use crate::tokio::pending::{Polled, polled};
use perfschema_core::{Operation, SocketAddress};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::panic::Location;
use std::task::{Context, Poll};
use tokio::io::{Interest, ReadBuf, Ready};

/// [`tokio::net::UdpSocket`], with its waits recorded. Its IP and PORT are those that it is bound to, and once it is connected the other
/// end's.
pub struct UdpSocket {
    polled: Polled<Io>,
    socket: Socket<tokio::net::UdpSocket>,
}

impl UdpSocket {
    /// See [`tokio::net::UdpSocket::bind`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<UdpSocket>> {
        UdpSocket::of(Net::of_servers(&DATAGRAM_SOCKET), addr, Some(Location::caller()))
    }

    pub(super) fn of<A: ToSocketAddrs>(net: Net, addr: A, caller: Caller) -> impl Future<Output = io::Result<UdpSocket>> {
        let bind = move |address: SocketAddr| {
            let bind = tokio::net::UdpSocket::bind(address);
            let bound = move |socket: &tokio::net::UdpSocket| match address.port() {
                0 => socket.local_addr().map(SocketAddress::from).unwrap_or_default(),
                _ => address.into(),
            };
            let made = |socket| UdpSocket { polled: Polled::new(), socket };
            Socket::opening(net.instrument, Operation::Bind, address.into(), caller, bind, bound, made)
        };
        each_address(addr, bind, || tokio::net::UdpSocket::bind(NOWHERE))
    }

    /// See [`tokio::net::UdpSocket::connect`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(&self, addr: A) -> impl Future<Output = io::Result<()>> {
        let caller = Some(Location::caller());
        let connect = move |address: SocketAddr| {
            self.socket.handle.wait_then(Operation::Connect, caller, self.socket.std().connect(address), move |connected| {
                connected?;
                self.socket.connected(address);
                Ok(())
            })
        };
        each_address(addr, connect, || self.socket.std().connect(NOWHERE))
    }

    /// See [`tokio::net::UdpSocket::send_to`]. The wait is that of sending; a name is looked up before it.
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn send_to<A: ToSocketAddrs>(&self, buf: &[u8], addr: A) -> impl Future<Output = io::Result<usize>> {
        let caller = Some(Location::caller());
        async move {
            let Some(address) = lookup_host(addr).await?.next() else {
                // tokio has its own words for that.
                return self.socket.std().send_to(buf, NOWHERE).await;
            };
            let send = self.socket.std().send_to(buf, address);
            self.socket.handle.wait_transfer(Operation::SendTo, buf.len(), caller, send).await
        }
    }

    /// [`tos_v4`](Self::tos_v4), as it was called before.
    ///
    /// # Errors
    /// Those of tokio's.
    #[deprecated = "as tokio's: it is tos_v4 now"]
    #[track_caller]
    pub fn tos(&self) -> io::Result<u32> {
        self.tos_v4()
    }

    /// [`set_tos_v4`](Self::set_tos_v4), as it was called before.
    ///
    /// # Errors
    /// Those of tokio's.
    #[deprecated = "as tokio's: it is set_tos_v4 now"]
    #[track_caller]
    pub fn set_tos(&self, tos: u32) -> io::Result<()> {
        self.set_tos_v4(tos)
    }

    /// See [`tokio::net::UdpSocket::try_send_to`].
    ///
    /// # Errors
    /// Those of tokio's.
    #[track_caller]
    pub fn try_send_to(&self, buf: &[u8], target: SocketAddr) -> io::Result<usize> {
        let caller = Some(Location::caller());
        self.socket.transfer(Operation::SendTo, buf.len(), caller, |socket| socket.try_send_to(buf, target))
    }

    /// See [`tokio::net::UdpSocket::poll_send_to`].
    ///
    /// # Errors
    /// Those of tokio's.
    pub fn poll_send_to(&self, cx: &mut Context<'_>, buf: &[u8], target: SocketAddr) -> Poll<io::Result<usize>> {
        poll_socket!(self.writing, SendTo, Some(buf.len()), poll_send_to(cx, buf, target), polled)
    }

    /// See [`tokio::net::UdpSocket::poll_send`].
    ///
    /// # Errors
    /// Those of tokio's.
    pub fn poll_send(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        poll_socket!(self.writing, Send, Some(buf.len()), poll_send(cx, buf), polled)
    }
}

transfers_into! { UdpSocket is "tokio::net::UdpSocket": at once {
    Receive try_recv_buf -> usize;
    ReceiveFrom try_recv_buf_from -> (usize, SocketAddr);
} }

transfers_into! { UdpSocket is "tokio::net::UdpSocket": waiting {
    Receive recv_buf -> usize;
    ReceiveFrom recv_buf_from -> (usize, SocketAddr);
} }

transfers_that_wait! { UdpSocket is "tokio::net::UdpSocket":
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

transfers! { UdpSocket is "tokio::net::UdpSocket":
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

polls_that_fill! { UdpSocket is "tokio::net::UdpSocket":
    Receive {
        fn poll_recv(buf: &mut ReadBuf<'_>) -> ();
    }
    ReceiveFrom {
        fn poll_recv_from(buf: &mut ReadBuf<'_>) -> SocketAddr;
    }
}

waits! { UdpSocket is "tokio::net::UdpSocket":
    Select {
        fn ready(interest: Interest) -> Ready;
        fn readable() -> ();
        fn writable() -> ();
        fn peek(buf: &mut [u8]) -> usize;
        fn peek_from(buf: &mut [u8]) -> (usize, SocketAddr);
        fn peek_sender() -> SocketAddr;
    }
}

polls! { UdpSocket is "tokio::net::UdpSocket":
    reading Select {
        fn poll_recv_ready() -> ();
        fn poll_peek(buf: &mut ReadBuf<'_>) -> ();
        fn poll_peek_from(buf: &mut ReadBuf<'_>) -> SocketAddr;
        fn poll_peek_sender() -> SocketAddr;
    }
    writing Select {
        fn poll_send_ready() -> ();
    }
}

operations! { UdpSocket is "tokio::net::UdpSocket":
    Stat {
        fn peer_addr() -> SocketAddr;
        fn local_addr() -> SocketAddr;
    }
    Select {
        fn try_peek(buf: &mut [u8]) -> usize;
        fn try_peek_from(buf: &mut [u8]) -> (usize, SocketAddr);
        fn try_peek_sender() -> SocketAddr;
    }
    Option {
        fn set_broadcast(on: bool) -> ();
        fn broadcast() -> bool;
        fn set_multicast_loop_v4(on: bool) -> ();
        fn multicast_loop_v4() -> bool;
        fn set_multicast_ttl_v4(ttl: u32) -> ();
        fn multicast_ttl_v4() -> u32;
        fn set_multicast_loop_v6(on: bool) -> ();
        fn multicast_loop_v6() -> bool;
        fn set_ttl(ttl: u32) -> ();
        fn ttl() -> u32;
        fn set_tos_v4(tos: u32) -> ();
        fn tos_v4() -> u32;
        fn join_multicast_v4(multiaddr: Ipv4Addr, interface: Ipv4Addr) -> ();
        fn join_multicast_v6(multiaddr: &Ipv6Addr, interface: u32) -> ();
        fn leave_multicast_v4(multiaddr: Ipv4Addr, interface: Ipv4Addr) -> ();
        fn leave_multicast_v6(multiaddr: &Ipv6Addr, interface: u32) -> ();
        fn take_error() -> Option<io::Error>;
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos", target_os = "freebsd"))]
operations! { UdpSocket is "tokio::net::UdpSocket":
    Option {
        fn set_tclass_v6(tclass: u32) -> ();
        fn tclass_v6() -> u32;
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
operations! { UdpSocket is "tokio::net::UdpSocket":
    Option {
        fn bind_device(interface: Option<&[u8]>) -> ();
        fn device() -> Option<Vec<u8>>;
    }
}

interests!(UdpSocket is "tokio::net::UdpSocket");
idles!(UdpSocket, |this| this.socket.handle);
conversions!(UdpSocket, tokio::net::UdpSocket, std::net::UdpSocket, "tokio::net::UdpSocket", polled = Polled::new());
