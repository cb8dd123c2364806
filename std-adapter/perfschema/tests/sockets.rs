//! `perfschema::net` and `perfschema::os::unix::net` beside std's: the same story told with each must go the same way, byte by byte and
//! error by error. And what it leaves in the tables. On Unix; `tests/windows.rs` does so there.
#![cfg(unix)]

mod common;

use common::{Story, has_ipv6};
use std::path::PathBuf;

/// An empty folder of this name, short enough for the address of a Unix socket.
fn folder(name: &str) -> PathBuf {
    common::empty_folder(std::env::temp_dir().join(format!("perfschema-sockets-{}-{name}", std::process::id())))
}

/// Every mirrored item, as a program uses it: the modules are all that differs.
macro_rules! story {
    ($name:ident, $net:path, $unix:path) => {
        mod $name {
            use super::Story;
            use net::{Incoming, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
            use std::io::{BufRead, BufReader, ErrorKind, IoSlice, IoSliceMut, Read, Write};
            use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
            use std::path::Path;
            use std::time::Duration;
            use unix::{UnixDatagram, UnixListener, UnixStream};
            use $net as net;
            use $unix as unix;

            pub(crate) fn tell(dir: &Path) -> Story {
                let mut story = Story::default();
                connections(&mut story, "127.0.0.1:0");
                if super::has_ipv6() {
                    connections(&mut story, "[::1]:0");
                }
                options(&mut story);
                not_blocking(&mut story);
                half_closed(&mut story);
                errors(&mut story, dir);
                descriptors(&mut story);
                datagrams(&mut story);
                multicast(&mut story);
                unix_connections(&mut story, dir);
                unix_datagrams(&mut story, dir);
                story
            }

            fn pair() -> (TcpStream, TcpStream) {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
                let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
                (client, listener.accept().unwrap().0)
            }

            fn connections(story: &mut Story, address: &str) {
                let listener = TcpListener::bind(address).unwrap();
                let at = listener.local_addr().unwrap();
                story.tell((at.ip(), at.port() != 0));
                let mut client = TcpStream::connect(at).unwrap();
                let (mut server, peer) = listener.accept().unwrap();
                story.tell(peer == client.local_addr().unwrap() && server.peer_addr().unwrap() == peer);
                story.tell(client.peer_addr().unwrap() == at && server.local_addr().unwrap() == at);
                story.result(client.write(b"hello "));
                story.result(client.write_all(b"world\n"));
                story.result(client.write_vectored(&[IoSlice::new(b"two"), IoSlice::new(b" lines\n")]));
                story.result(write!(client, "{}", 3));
                story.result(client.flush());
                let mut text = String::new();
                story.result(BufReader::new(&server).read_line(&mut text).map(|_| ()));
                story.tell(&text);
                // The reader may have taken more than the line.
                story.result((&server).write(b"0123456789"));
                let mut buf = [0; 4];
                story.result(client.peek(&mut buf));
                story.result(client.read(&mut []));
                story.result(client.read(&mut buf));
                story.tell(buf);
                let (mut one, mut two) = ([0; 1], [0; 2]);
                story.result(client.read_vectored(&mut [IoSliceMut::new(&mut one), IoSliceMut::new(&mut two)]));
                story.tell((one, two));
                story.result((&client).read_exact(&mut buf[..3]));
                story.result(server.write_all(&[7; 1000]));
                drop(server);
                let mut rest = vec![1];
                let mut all = 0;
                // Whatever was not read before the end resets the connection.
                while let Ok(bytes @ 1..) = client.read(&mut buf) {
                    all += bytes;
                    rest.extend_from_slice(&buf[..bytes]);
                }
                story.tell(all <= 1000 && rest.len() == 1 + all);
                // Several addresses: the first that works.
                let nobody = TcpListener::bind(address).unwrap().local_addr().unwrap();
                let second = TcpStream::connect(&[nobody, at][..]);
                story.result(second.map(|stream| stream.peer_addr().unwrap() == at));
                story.result(TcpStream::connect(nobody).map(|_| ()));
                story.result(TcpStream::connect_timeout(&at, Duration::from_secs(5)).map(|_| ()));
                story.result(TcpStream::connect_timeout(&at, Duration::ZERO).map(|_| ()));
                let mut incoming: Incoming<'_> = listener.incoming();
                story.tell(incoming.size_hint());
                for _ in 0..2 {
                    story.tell(incoming.next().unwrap().is_ok());
                }
            }

            fn options(story: &mut Story) {
                let (client, _server) = pair();
                story.result(client.set_nodelay(true));
                story.result(client.nodelay());
                story.result(client.set_ttl(77));
                story.result(client.ttl());
                story.result(client.take_error().map(|error| error.is_none()));
                story.result(client.set_read_timeout(Some(Duration::from_millis(20))));
                story.result(client.read_timeout());
                story.result(client.set_write_timeout(Some(Duration::from_secs(2))));
                story.result(client.write_timeout());
                story.result(client.set_read_timeout(Some(Duration::ZERO)));
                // Nothing comes in time.
                story.result((&client).read(&mut [0; 4]));
                let listener = TcpListener::bind("localhost:0").unwrap();
                story.result(listener.set_ttl(9));
                story.result(listener.ttl());
                story.result(listener.take_error().map(|error| error.is_none()));
                #[expect(deprecated, reason = "std has them")]
                if super::has_ipv6() {
                    let listener = TcpListener::bind("[::1]:0").unwrap();
                    story.result(listener.only_v6());
                    // Once it is bound.
                    story.result(listener.set_only_v6(true));
                }
            }

            fn not_blocking(story: &mut Story) {
                let (client, server) = pair();
                story.result(client.set_nonblocking(true));
                story.result((&client).read(&mut [0; 4]));
                story.result(client.peek(&mut [0; 4]));
                // As much as fits, and then no more.
                let mut sent = 0_u64;
                let end = loop {
                    match (&client).write(&[1; 65536]) {
                        Ok(bytes) => sent += bytes as u64,
                        Err(error) => break error,
                    }
                };
                story.tell((end.kind(), end.raw_os_error(), sent > 0));
                drop(client);
                let mut received = 0_u64;
                while let bytes @ 1.. = (&server).read(&mut [0; 65536]).unwrap() {
                    received += bytes as u64;
                }
                story.tell(received == sent);
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                story.result(listener.set_nonblocking(true));
                story.tell(listener.accept().map(|_| ()).map_err(|error| error.kind() == ErrorKind::WouldBlock));
            }

            fn half_closed(story: &mut Story) {
                let (mut client, mut server) = pair();
                story.result(client.write_all(b"last words"));
                story.result(client.shutdown(Shutdown::Write));
                let mut text = String::new();
                story.result(server.read_to_string(&mut text));
                story.tell(text);
                story.result(client.write(b"x"));
                story.result(server.write_all(b"answer"));
                drop(server);
                let mut answer = Vec::new();
                story.result(client.read_to_end(&mut answer));
                story.tell(answer);
                // The kernel may close the connection before this.
                story.tell(client.shutdown(Shutdown::Both).is_ok() || client.peer_addr().is_err());
                // Shut down by another thread, in the middle of a read.
                let (client, _server) = pair();
                std::thread::scope(|scope| {
                    let reader = scope.spawn(|| (&client).read(&mut [0; 4]));
                    client.shutdown(Shutdown::Both).unwrap();
                    story.result(reader.join().unwrap());
                });
            }

            fn errors(story: &mut Story, dir: &Path) {
                let none: &[SocketAddr] = &[];
                story.result(TcpStream::connect(none).map(|_| ()));
                story.result(TcpListener::bind(none).map(|_| ()));
                story.result(UdpSocket::bind(none).map(|_| ()));
                story.result(TcpStream::connect("no port").map(|_| ()));
                story.result("also no port".to_socket_addrs().map(|_| ()));
                let taken = TcpListener::bind("127.0.0.1:0").unwrap();
                story.result(TcpListener::bind(taken.local_addr().unwrap()).map(|_| ()));
                story.result(TcpListener::bind("192.0.2.1:0").map(|_| ()));
                let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
                story.result(socket.send(b"nobody"));
                story.result(socket.send_to(b"nobody", none));
                story.result(socket.connect(none));
                story.result(socket.peer_addr().map(|_| ()));
                story.result(UnixStream::connect(dir.join("missing")).map(|_| ()));
                story.result(UnixListener::bind(dir.join("x".repeat(200))).map(|_| ()));
                story.result(UnixListener::bind(dir.join("missing/socket")).map(|_| ()));
                let one = UnixDatagram::unbound().unwrap();
                story.result(one.send_to(b"x", dir.join("missing")));
                story.result(one.send(b"x"));
            }

            fn descriptors(story: &mut Story) {
                let (client, mut server) = pair();
                let clone = client.try_clone().unwrap();
                story.tell(client.as_fd().as_raw_fd() == client.as_raw_fd() && client.as_raw_fd() != clone.as_raw_fd());
                story.tell(format!("{client:?}").starts_with("TcpStream { addr: 127.0.0.1:"));
                story.result((&clone).write(b"clone"));
                drop(clone);
                let raw = client.into_raw_fd();
                // SAFETY: the descriptor was given up the line before.
                let client = unsafe { TcpStream::from_raw_fd(raw) };
                let client = TcpStream::from(OwnedFd::from(client));
                let client = TcpStream::from(std::net::TcpStream::from(client));
                story.result((&client).write(b" and the rest"));
                drop(client);
                // SAFETY: a look at a number that is no descriptor any more.
                story.tell(unsafe { libc::fcntl(raw, libc::F_GETFD) });
                let mut text = String::new();
                story.result(server.read_to_string(&mut text));
                story.tell(text);
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                let at = listener.local_addr().unwrap();
                let clone = listener.try_clone().unwrap();
                drop(listener);
                let _client = TcpStream::connect(at).unwrap();
                let listener = TcpListener::from(OwnedFd::from(clone));
                story.tell(listener.accept().is_ok());
            }

            fn datagrams(story: &mut Story) {
                let [one, two] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
                let (first, second) = (one.local_addr().unwrap(), two.local_addr().unwrap());
                let mut buf = [0; 8];
                story.result(one.send_to(b"hello", second));
                story.result(two.peek_from(&mut buf).map(|(bytes, from)| (bytes, from == first)));
                // What does not fit is lost.
                story.result(two.recv_from(&mut buf[..3]).map(|(bytes, from)| (bytes, from == first)));
                story.tell(buf);
                story.result(one.send_to(&[0; 70_000], second));
                story.result(one.send_to(b"", second));
                story.result(two.recv_from(&mut buf).map(|(bytes, _)| bytes));
                story.result(one.connect(second));
                story.tell(one.peer_addr().unwrap() == second);
                story.result(one.send(b"connected"));
                story.result(two.peek(&mut buf));
                story.result(two.recv(&mut buf));
                story.result(two.set_nonblocking(true));
                story.result(two.recv(&mut buf));
                story.result(two.recv_from(&mut buf).map(|_| ()));
                story.result(one.set_read_timeout(Some(Duration::from_millis(10))));
                story.result(one.read_timeout());
                story.result(one.set_write_timeout(None));
                story.result(one.write_timeout());
                story.result(one.recv(&mut buf));
                let clone = one.try_clone().unwrap();
                drop(one);
                story.result(clone.send(b"clone"));
                story.tell(format!("{clone:?}").starts_with("UdpSocket { addr: 127.0.0.1:"));
            }

            fn multicast(story: &mut Story) {
                let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
                story.result(socket.set_broadcast(true));
                story.result(socket.broadcast());
                story.result(socket.set_multicast_loop_v4(false));
                story.result(socket.multicast_loop_v4());
                story.result(socket.set_multicast_ttl_v4(5));
                story.result(socket.multicast_ttl_v4());
                story.result(socket.set_ttl(6));
                story.result(socket.ttl());
                story.result(socket.take_error().map(|error| error.is_none()));
                let group = Ipv4Addr::new(224, 0, 0, 251);
                story.result(socket.join_multicast_v4(&group, &Ipv4Addr::LOCALHOST));
                story.result(socket.leave_multicast_v4(&group, &Ipv4Addr::LOCALHOST));
                story.result(socket.leave_multicast_v4(&group, &Ipv4Addr::LOCALHOST));
                story.result(socket.join_multicast_v6(&Ipv6Addr::LOCALHOST, 0));
                story.result(socket.leave_multicast_v6(&Ipv6Addr::LOCALHOST, 0));
                story.result(socket.set_multicast_loop_v6(true));
                story.result(socket.multicast_loop_v6());
            }

            fn unix_connections(story: &mut Story, dir: &Path) {
                let path = dir.join("socket");
                let listener = UnixListener::bind(&path).unwrap();
                story.result(UnixListener::bind(&path).map(|_| ()));
                let address = listener.local_addr().unwrap();
                story.tell(address.as_pathname() == Some(&path));
                let mut client = UnixStream::connect(&path).unwrap();
                let (mut server, peer) = listener.accept().unwrap();
                story.tell((peer.is_unnamed(), client.peer_addr().unwrap().as_pathname() == Some(&path)));
                story.result(client.local_addr().map(|address| address.is_unnamed()));
                story.result(client.write(b"hello"));
                story.result(client.write_vectored(&[IoSlice::new(b", "), IoSlice::new(b"you")]));
                story.result(client.shutdown(Shutdown::Write));
                let mut text = String::new();
                story.result(server.read_to_string(&mut text));
                story.tell(text);
                drop(server);
                story.result(client.read(&mut [0; 4]));
                story.result(client.write(b"x"));
                let _second = UnixStream::connect_addr(&address).unwrap();
                story.tell(listener.incoming().size_hint());
                story.tell((&listener).into_iter().next().unwrap().is_ok());
                story.result(listener.set_nonblocking(true));
                story.result(listener.accept().map(|_| ()));
                story.result(listener.take_error().map(|error| error.is_none()));
                story.tell(format!("{:?}", listener.try_clone().unwrap()).starts_with("UnixListener { fd: "));
                let (one, mut two) = UnixStream::pair().unwrap();
                story.result(one.set_read_timeout(Some(Duration::from_millis(10))));
                story.result(one.read_timeout());
                story.result(one.set_write_timeout(None));
                story.result(one.write_timeout());
                story.result((&one).read(&mut [0; 1]));
                story.result(one.set_nonblocking(true));
                story.result((&one).read(&mut [0; 1]));
                story.result(one.take_error().map(|error| error.is_none()));
                story.result(two.write(b"pair"));
                let clone = one.try_clone().unwrap();
                drop(one);
                story.result((&clone).read(&mut [0; 9]));
                story.result(UnixListener::bind_addr(&address).map(|_| ()));
            }

            fn unix_datagrams(story: &mut Story, dir: &Path) {
                let [first, second] = ["one", "two"].map(|name| dir.join(name));
                let [one, two] = [&first, &second].map(|path| UnixDatagram::bind(path).unwrap());
                let mut buf = [0; 8];
                story.result(one.send_to(b"hello", &second));
                story.result(two.recv_from(&mut buf).map(|(bytes, from)| (bytes, from.as_pathname() == Some(&first))));
                story.result(one.send_to_addr(b"you", &two.local_addr().unwrap()));
                story.result(two.recv(&mut buf));
                story.result(one.connect(&second));
                story.result(one.peer_addr().map(|address| address.as_pathname() == Some(&second)));
                story.result(one.send(b"connected"));
                story.result(two.set_nonblocking(true));
                story.result(two.recv(&mut buf));
                story.result(two.recv(&mut buf));
                story.result(two.connect_addr(&one.local_addr().unwrap()));
                story.result(two.set_read_timeout(Some(Duration::from_secs(1))));
                story.result(two.read_timeout());
                story.result(two.set_write_timeout(Some(Duration::from_secs(1))));
                story.result(two.write_timeout());
                story.result(two.take_error().map(|error| error.is_none()));
                story.result(two.shutdown(Shutdown::Both));
                let (one, two) = UnixDatagram::pair().unwrap();
                story.result(one.try_clone().unwrap().send(b"pair"));
                story.result(two.recv(&mut buf));
                story.result(UnixDatagram::bind_addr(&UnixDatagram::unbound().unwrap().local_addr().unwrap()).map(|_| ()));
                story.tell(format!("{two:?}").starts_with("UnixDatagram { fd: "));
            }
        }
    };
}

story!(as_std, std::net, std::os::unix::net);
story!(as_ours, perfschema::net, perfschema::os::unix::net);

#[cfg(target_os = "linux")]
#[test]
fn the_story_is_the_same() {
    for &round in common::ROUNDS {
        #[cfg(feature = "instrument")]
        if round == "with" {
            tables::start();
        }
        let (ours, stds) = (folder(&format!("ours-{round}")), folder(&format!("std-{round}")));
        as_ours::tell(&ours).is_that_of(&as_std::tell(&stds), 150, round);
        [ours, stds].iter().for_each(|dir| std::fs::remove_dir_all(dir).unwrap());
    }
}

/// Without the feature these are std's own, and `idle` does nothing but what it is given.
#[test]
fn idle_is_there_with_and_without_the_feature() {
    use perfschema::net::Idle;
    use std::io::{Read, Write};
    let (one, two) = perfschema::os::unix::net::UnixStream::pair().unwrap();
    (&one).write_all(b"x").unwrap();
    assert_eq!(two.idle(|mut two| two.read(&mut [0; 4])).unwrap(), 1);
    static OWN: perfschema::net::Net = perfschema::net!("wait/io/socket/test/own", "wait/io/socket/test/own_connection");
    let dir = folder("own");
    let listener = OWN.bind_unix(dir.join("socket")).unwrap();
    let _client = OWN.connect_unix(dir.join("socket")).unwrap();
    assert!(listener.accept().is_ok());
    OWN.bind_unix_datagram(dir.join("datagram")).unwrap();
    let listener = OWN.bind_tcp("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    OWN.connect_tcp(at).unwrap();
    OWN.connect_tcp_timeout(&at, std::time::Duration::from_secs(5)).unwrap();
    OWN.bind_udp("127.0.0.1:0").unwrap();
    std::fs::remove_dir_all(dir).unwrap();
}

#[cfg(feature = "instrument")]
mod tables {
    use super::folder;
    use perfschema::net::{Idle, Net, TcpListener, TcpStream, UdpSocket};
    use perfschema::os::unix::net::UnixStream;
    use perfschema::tables::{
        EventsWaitsCurrent, EventsWaitsHistory, EventsWaitsRow, SocketInstances, SocketInstancesRow, SocketSummaryByInstance,
        SocketSummaryByInstanceRow,
    };
    use perfschema::{Process, Region, Size};
    use std::io::{BufRead, BufReader, Read, Write};
    use std::os::fd::AsRawFd;
    use std::panic::Location;
    use std::sync::OnceLock;

    pub(crate) fn start() -> &'static Process {
        static STARTED: OnceLock<&'static Process> = OnceLock::new();
        // All that are here and std's four are more than there is room for by default.
        let builder = || perfschema::builder().everything(true).environment(false).size(Size::MaxSocketClasses, 20);
        STARTED.get_or_init(|| builder().start().unwrap())
    }

    fn region() -> &'static Region<'static> {
        start().region()
    }

    fn me() -> u64 {
        perfschema::thread::thread_id().unwrap()
    }

    /// The calling thread's last events of the instrument, oldest first.
    fn events(name: &str) -> Vec<EventsWaitsRow> {
        let mut rows = Vec::new();
        region().scan(&EventsWaitsHistory, |row| {
            if row.thread_id == me() && row.event_name == name {
                rows.push(row.clone());
            }
        });
        rows.sort_by_key(|row| row.event_id);
        rows
    }

    /// Operation, OBJECT_NAME and bytes of each event.
    fn told(name: &str) -> Vec<String> {
        let told = |row: &EventsWaitsRow| {
            let object = row.object_name.as_ref().map_or("NULL", |name| name.as_str());
            let bytes = row.number_of_bytes.map_or("NULL".into(), |bytes| bytes.to_string());
            format!("{} {object} {bytes}", row.operation)
        };
        events(name).iter().map(told).collect()
    }

    /// A row goes when its socket is closed, and by then another test may have opened one by the same number: for a moment there are two.
    fn row_of(socket: &impl AsRawFd) -> Option<SocketInstancesRow> {
        for _ in 0..10_000 {
            let mut found = Vec::new();
            region().scan(&SocketInstances, |row| {
                if row.socket_id == socket.as_raw_fd() {
                    found.push(row.clone());
                }
            });
            if found.len() < 2 {
                return found.pop();
            }
            std::thread::yield_now();
        }
        panic!("one descriptor, two rows")
    }

    /// IP, PORT, STATE
    fn shown(socket: &impl AsRawFd) -> String {
        row_of(socket).map_or("no row".into(), |row| format!("{} {} {}", row.ip.as_str(), row.port, row.state))
    }

    fn summary(socket: &impl AsRawFd) -> SocketSummaryByInstanceRow {
        let number = row_of(socket).unwrap().object_instance_begin;
        let mut found = None;
        region().scan(&SocketSummaryByInstance, |row| {
            if row.object_instance_begin == number {
                found = Some(row.clone());
            }
        });
        found.unwrap()
    }

    /// Waits until it is so.
    fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
        loop {
            if let Some(found) = look() {
                return found;
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn each_call_is_one_event() {
        static SOCKETS: Net = perfschema::net!("wait/io/socket/test/events", "wait/io/socket/test/accepted");
        start();
        let listener = SOCKETS.bind_tcp("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let (line, client) = (Location::caller().line(), SOCKETS.connect_tcp(at));
        let client = client.unwrap();
        let (server, peer) = listener.accept().unwrap();
        assert_eq!(
            told("wait/io/socket/test/events"),
            ["bind 127.0.0.1:0 NULL", &format!("stat {at} NULL"), &format!("connect {at} NULL"), &format!("accept {at} NULL")]
        );
        assert_eq!(events("wait/io/socket/test/events")[2].source.unwrap(), *format!("sockets.rs:{line}"));
        (&client).write_all(b"0123456789").unwrap();
        server.peek(&mut [0; 3]).unwrap();
        assert_eq!((&server).read(&mut [0; 100]).unwrap(), 10);
        server.set_nodelay(true).unwrap();
        server.set_quickack(true).unwrap();
        assert!(server.quickack().unwrap());
        server.set_nonblocking(true).unwrap();
        (&server).read(&mut [0; 100]).unwrap_err();
        assert_eq!((&server).write(b"answer").unwrap(), 6);
        server.shutdown(perfschema::net::Shutdown::Both).unwrap();
        let row = row_of(&server).unwrap();
        drop(server);
        let expected = [
            "select NULL",
            "recv 10",
            "opt NULL",
            "opt NULL",
            "opt NULL",
            "opt NULL",
            "recv 0",
            "send 6",
            "shutdown NULL",
            "close NULL",
        ];
        let expected = expected.map(|event| event.replacen(' ', &format!(" {peer} "), 1));
        assert_eq!(told("wait/io/socket/test/accepted"), expected);
        for event in events("wait/io/socket/test/accepted") {
            assert_eq!((event.object_type.unwrap().as_str(), event.flags), ("SOCKET", None));
            assert_eq!(event.object_instance_begin, row.object_instance_begin);
        }
    }

    /// Not that of std's loop.
    #[test]
    fn what_std_makes_of_several_operations_has_the_source_of_its_call() {
        static SOCKETS: Net = perfschema::net!("wait/io/socket/test/sends", "wait/io/socket/test/receives");
        start();
        let listener = SOCKETS.bind_tcp("127.0.0.1:0").unwrap();
        let mut one = SOCKETS.connect_tcp(listener.local_addr().unwrap()).unwrap();
        let (mut two, _) = listener.accept().unwrap();
        let before = Location::caller().line();
        one.write_all(b"01234").unwrap();
        write!(one, "{}", 56).unwrap();
        two.read_exact(&mut [0; 5]).unwrap();
        drop(one);
        two.read_to_end(&mut Vec::new()).unwrap();
        two.read_to_string(&mut String::new()).unwrap();
        let sources = |name: &str, operation: &str| {
            let ours = events(name).into_iter().filter(|event| event.operation == operation);
            let mut sources: Vec<_> = ours.map(|event| event.source.unwrap().to_string()).collect();
            sources.dedup();
            sources
        };
        let line = |line: u32| format!("sockets.rs:{}", before + line);
        assert_eq!(sources("wait/io/socket/test/sends", "send"), [1, 2].map(line));
        assert_eq!(sources("wait/io/socket/test/receives", "recv"), [3, 5, 6].map(line));
    }

    #[test]
    fn rows_come_and_go_with_the_sockets() {
        start();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let client = TcpStream::connect(at).unwrap();
        let (server, peer) = listener.accept().unwrap();
        let port = at.port();
        assert_eq!(shown(&listener), format!("127.0.0.1 {port} ACTIVE"));
        assert_eq!(shown(&client), format!("127.0.0.1 {port} ACTIVE"));
        assert_eq!(shown(&server), format!("127.0.0.1 {} ACTIVE", peer.port()));
        let names = [row_of(&listener), row_of(&client), row_of(&server)].map(|row| row.unwrap().event_name.to_string());
        let expected = ["server_tcpip_socket", "client_connection", "client_connection"];
        assert_eq!(names, expected.map(|name| format!("wait/io/socket/std/{name}")));
        // An accepted one is of the thread that uses it.
        assert_eq!(row_of(&client).unwrap().thread_id, Some(me()));
        assert_eq!(row_of(&server).unwrap().thread_id, None);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                (&server).write_all(b"x").unwrap();
                me()
            });
            let other = other.join().unwrap();
            assert_eq!(row_of(&server).unwrap().thread_id, Some(other));
        });
        // A clone has a descriptor, a row and sums of its own.
        let clone = client.try_clone().unwrap();
        (&clone).write_all(b"12345").unwrap();
        assert_eq!(shown(&clone), shown(&client));
        assert_eq!([&client, &clone].map(|socket| summary(socket).sum_number_of_bytes_write), [0, 5]);
        let descriptor = clone.as_raw_fd();
        drop(clone);
        let mut left = 0;
        region().scan(&SocketInstances, |row| left += u32::from(row.socket_id == descriptor && row.port == i32::from(port)));
        assert_eq!(left, 0);
        // Given away as a descriptor it is no socket here any more.
        let fd = std::os::fd::OwnedFd::from(client);
        assert_eq!(shown(&fd), "no row");
        let again = TcpStream::from(fd);
        assert_eq!(shown(&again), format!("127.0.0.1 {port} ACTIVE"));
        // No address is that of this machine, as the system says.
        let anywhere = TcpStream::connect((std::net::Ipv4Addr::UNSPECIFIED, port)).unwrap();
        assert_eq!(shown(&anywhere), format!("{} {port} ACTIVE", anywhere.peer_addr().unwrap().ip()));
        // Unix sockets have no address.
        let (one, two) = UnixStream::pair().unwrap();
        assert_eq!([shown(&one), shown(&two)], [" 0 ACTIVE", " 0 ACTIVE"]);
        // What fails to open has no row.
        let rows = || {
            let mut rows = 0;
            region().scan(&SocketInstances, |row| rows += u32::from(row.event_name == "wait/io/socket/test/fails"));
            rows
        };
        static FAILS: Net = perfschema::net!("wait/io/socket/test/fails");
        assert!(FAILS.bind_tcp(at).is_err() && FAILS.connect_unix("/missing").is_err());
        assert_eq!((rows(), told("wait/io/socket/test/fails")), (0, vec![format!("bind {at} NULL"), "connect :0 NULL".into()]));
    }

    #[test]
    fn ipv6_and_datagrams() {
        static SOCKETS: Net = perfschema::net!("wait/io/socket/test/datagrams");
        start();
        let address = if super::has_ipv6() { "[::1]:0" } else { "127.0.0.1:0" };
        let [one, two] = [(); 2].map(|()| SOCKETS.bind_udp(address).unwrap());
        let [first, second] = [&one, &two].map(|socket: &UdpSocket| socket.local_addr().unwrap());
        let ip = first.ip();
        assert_eq!(shown(&one), format!("{ip} {} ACTIVE", first.port()));
        one.send_to(b"hello", second).unwrap();
        two.peek_from(&mut [0; 9]).unwrap();
        two.recv_from(&mut [0; 3]).unwrap();
        // Once it is connected, it leads to the other end.
        one.connect(second).unwrap();
        assert_eq!(shown(&one), format!("{ip} {} ACTIVE", second.port()));
        one.send(b"you").unwrap();
        two.recv(&mut [0; 9]).unwrap();
        let told = told("wait/io/socket/test/datagrams");
        let (a, b) = (first.port(), second.port());
        let expected = [
            format!("sendto {ip}:{a} 5"),
            format!("select {ip}:{b} NULL"),
            format!("recvfrom {ip}:{b} 3"),
            format!("connect {ip}:{a} NULL"),
            format!("send {ip}:{b} 3"),
            format!("recv {ip}:{b} 3"),
        ];
        assert_eq!(told[told.len() - 6..], expected);
        // No address is that of this machine, as the system says.
        let anywhere = UdpSocket::bind("127.0.0.1:0").unwrap();
        anywhere.connect((std::net::Ipv4Addr::UNSPECIFIED, b)).unwrap();
        assert_eq!(shown(&anywhere), format!("{} {b} ACTIVE", anywhere.peer_addr().unwrap().ip()));
    }

    /// The waits that take long: who is connected to, and how much is asked for.
    #[test]
    fn a_wait_is_seen_while_it_lasts() {
        start();
        let (one, two) = UnixStream::pair().unwrap();
        let number = row_of(&two).unwrap().object_instance_begin;
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| (&two).read(&mut [0; 100]).unwrap());
            let row = until(|| {
                let mut found = None;
                region().scan(&EventsWaitsCurrent, |row| {
                    if row.object_instance_begin == number && row.operation == "recv" && row.timer_end.is_none() {
                        found = Some(row.clone());
                    }
                });
                found
            });
            assert_eq!((row.number_of_bytes, row.object_name.unwrap().as_str()), (Some(100), ":0"));
            // A clone that is closed meanwhile disturbs nobody.
            drop(two.try_clone().unwrap());
            (&one).write_all(b"short").unwrap();
            assert_eq!(reader.join().unwrap(), 5);
        });
        assert_eq!(summary(&two).sum_number_of_bytes_read, 5);
    }

    /// A server as its documentation has it: between requests it is idle, within them it waits for the socket.
    #[test]
    fn between_requests_a_connection_is_idle() {
        start();
        let (mut client, server) = UnixStream::pair().unwrap();
        let state = |expected: &str| until(|| row_of(&server).filter(|row| row.state == expected));
        std::thread::scope(|scope| {
            let serving = scope.spawn(|| {
                let mut reader = BufReader::new(&server);
                let mut requests = Vec::new();
                while !server.idle(|_| reader.fill_buf().map(<[u8]>::is_empty)).unwrap() {
                    let mut request = String::new();
                    reader.read_line(&mut request).unwrap();
                    (&server).write_all(b"done\n").unwrap();
                    requests.push(request);
                }
                let idles: Vec<String> = told("idle");
                assert!(
                    events("idle").iter().all(|row| row.source.is_some_and(|source| source.as_str().starts_with("sockets.rs:")))
                );
                let waits: Vec<&str> = events("wait/io/socket/std/client_connection").iter().map(|row| row.operation).collect();
                (me(), requests, idles, waits)
            });
            // Who is idle is shown a moment later than that somebody is.
            let row = until(|| Some(state("IDLE")).filter(|row| row.thread_id.is_some()));
            client.write_all(b"one ").unwrap();
            // The request has begun: its rest is waited for.
            state("ACTIVE");
            client.write_all(b"half\n").unwrap();
            state("IDLE");
            client.read_exact(&mut [0; 5]).unwrap();
            client.write_all(b"two\n").unwrap();
            client.read_exact(&mut [0; 5]).unwrap();
            state("IDLE");
            drop(client);
            let (thread, requests, idles, waits) = serving.join().unwrap();
            assert_eq!(requests, ["one half\n", "two\n"]);
            assert_eq!(idles, ["idle NULL NULL"; 3]);
            assert_eq!(waits, ["recv", "send", "send"], "the waits of the socket");
            assert_eq!(row.thread_id, Some(thread));
        });
        // All that was read is counted: the four calls, and one byte more than a wait has seen.
        let sums = summary(&server);
        assert_eq!((sums.count_read, sums.sum_number_of_bytes_read), (4, 13));
        assert_eq!((sums.count_write, sums.sum_number_of_bytes_write), (2, 10));
        assert_eq!(sums.count_star, 6);
        assert_eq!(shown(&server), " 0 ACTIVE");
    }

    /// An idle thread that panics is idle no longer.
    #[test]
    fn idle_ends_however_it_ends() {
        start();
        let (one, _two) = UnixStream::pair().unwrap();
        let panics = || one.idle(|one| assert_eq!(one.as_raw_fd(), -1, "in the middle"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        assert_eq!(shown(&one), " 0 ACTIVE");
        one.set_nonblocking(true).unwrap();
        one.idle(|one| one.idle(|mut one| one.read(&mut [0; 4]).unwrap_err()));
        (&one).read(&mut [0; 4]).unwrap_err();
        assert_eq!(events("wait/io/socket/std/client_connection").last().unwrap().operation, "recv");
        assert_eq!(summary(&one).count_read, 2);
    }

    /// Sockets are used by several threads at once.
    #[test]
    fn what_threads_send_together_adds_up() {
        start();
        let dir = folder("together");
        let receiver = perfschema::os::unix::net::UnixDatagram::bind(dir.join("socket")).unwrap();
        let sender = perfschema::os::unix::net::UnixDatagram::unbound().unwrap();
        sender.connect(dir.join("socket")).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| assert_eq!(sender.send(&[0; 7]).unwrap(), 7)));
            }
            for _ in 0..2 {
                scope.spawn(|| (0..2000).for_each(|_| assert_eq!(receiver.recv(&mut [0; 9]).unwrap(), 7)));
            }
        });
        let (sent, received) = (summary(&sender), summary(&receiver));
        assert_eq!((sent.count_write, sent.sum_number_of_bytes_write), (4000, 28_000));
        assert_eq!((received.count_read, received.sum_number_of_bytes_read), (4000, 28_000));
        std::fs::remove_dir_all(dir).unwrap();
    }
}
