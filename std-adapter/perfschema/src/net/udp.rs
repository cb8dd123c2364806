//! `UdpSocket`

use super::methods::{conversions, idles, operations, transfers};
use super::record::{Caller, Socket};
use super::{Net, each_address};
use perfschema_core::{Operation, SocketAddress};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::panic::Location;
use std::time::Duration;

/// [`std::net::UdpSocket`], with its waits recorded. Its IP and PORT are those that it is bound to, and once it is connected the other
/// end's.
///
/// ```
/// use perfschema::net::UdpSocket;
/// let [one, two] = [UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?];
/// one.send_to(b"hello", two.local_addr()?)?;
/// let mut buf = [0; 16];
/// assert_eq!(two.recv_from(&mut buf)?, (5, one.local_addr()?));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct UdpSocket {
    socket: Socket<std::net::UdpSocket>,
}

impl UdpSocket {
    /// See [`std::net::UdpSocket::bind`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<UdpSocket> {
        UdpSocket::of(&Net::of_servers(&super::DATAGRAM_SOCKET), addr, Some(Location::caller()))
    }

    pub(super) fn of<A: ToSocketAddrs>(net: &Net, addr: A, caller: Caller) -> io::Result<UdpSocket> {
        let socket = each_address(addr, |address| {
            let bind = || std::net::UdpSocket::bind(address);
            let bound = |socket: &std::net::UdpSocket| match address.port() {
                0 => socket.local_addr().map(SocketAddress::from).unwrap_or_default(),
                _ => address.into(),
            };
            Socket::open(net.instrument, Operation::Bind, address.into(), caller, bind, bound)
        })?;
        Ok(UdpSocket { socket })
    }

    /// See [`std::net::UdpSocket::connect`].
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(&self, addr: A) -> io::Result<()> {
        let caller = Some(Location::caller());
        each_address(addr, |address| {
            self.socket.run(Operation::Connect, caller, || self.socket.std().connect(address))?;
            self.socket.connected(address);
            Ok(())
        })
    }

    /// See [`std::net::UdpSocket::send_to`]. The wait is that of sending; a name is looked up before it.
    ///
    /// # Errors
    /// Those of std's.
    #[track_caller]
    pub fn send_to<A: ToSocketAddrs>(&self, buf: &[u8], addr: A) -> io::Result<usize> {
        let caller = Some(Location::caller());
        let Some(address) = addr.to_socket_addrs()?.next() else {
            // std has its own words for that.
            let none: &[SocketAddr] = &[];
            return self.socket.std().send_to(buf, none);
        };
        self.socket.transfer(Operation::SendTo, buf.len(), caller, |socket| socket.send_to(buf, address))
    }
}

transfers! { UdpSocket is "std::net::UdpSocket":
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

operations! { UdpSocket is "std::net::UdpSocket":
    Stat {
        fn peer_addr() -> SocketAddr;
        fn local_addr() -> SocketAddr;
    }
    Select {
        fn peek(buf: &mut [u8]) -> usize;
        fn peek_from(buf: &mut [u8]) -> (usize, SocketAddr);
    }
    Option {
        fn set_read_timeout(dur: Option<Duration>) -> ();
        fn set_write_timeout(dur: Option<Duration>) -> ();
        fn read_timeout() -> Option<Duration>;
        fn write_timeout() -> Option<Duration>;
        fn set_broadcast(broadcast: bool) -> ();
        fn broadcast() -> bool;
        fn set_multicast_loop_v4(multicast_loop_v4: bool) -> ();
        fn multicast_loop_v4() -> bool;
        fn set_multicast_ttl_v4(multicast_ttl_v4: u32) -> ();
        fn multicast_ttl_v4() -> u32;
        fn set_multicast_loop_v6(multicast_loop_v6: bool) -> ();
        fn multicast_loop_v6() -> bool;
        fn set_ttl(ttl: u32) -> ();
        fn ttl() -> u32;
        fn join_multicast_v4(multiaddr: &Ipv4Addr, interface: &Ipv4Addr) -> ();
        fn join_multicast_v6(multiaddr: &Ipv6Addr, interface: u32) -> ();
        fn leave_multicast_v4(multiaddr: &Ipv4Addr, interface: &Ipv4Addr) -> ();
        fn leave_multicast_v6(multiaddr: &Ipv6Addr, interface: u32) -> ();
        fn take_error() -> Option<io::Error>;
        fn set_nonblocking(nonblocking: bool) -> ();
    }
}

idles!(UdpSocket);
conversions!(UdpSocket, std::net::UdpSocket, "std::net::UdpSocket");
