//! What a program does with sockets, told once with tokio's types and once with ours.

use crate::common::{Story, has_ipv6};

/// Every mirrored item, as a program uses it: the module is all that differs.
macro_rules! story {
    ($name:ident, $net:path) => {
        pub(crate) mod $name {
            use super::Story;
            use net::{TcpListener, TcpSocket, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixSocket, UnixStream};
            use std::future::poll_fn;
            use std::io::{IoSlice, IoSliceMut};
            use std::net::SocketAddr;
            use std::os::fd::{AsFd, AsRawFd};
            use std::path::Path;
            use std::time::Duration;
            use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest, ReadBuf};
            use $net as net;

            pub(crate) async fn tell(dir: &Path) -> Story {
                let mut story = Story::default();
                connections(&mut story, "127.0.0.1:0").await;
                if super::has_ipv6() {
                    connections(&mut story, "[::1]:0").await;
                }
                all_are_send().await;
                at_once(&mut story).await;
                halves(&mut story).await;
                options(&mut story).await;
                errors(&mut story, dir).await;
                descriptors(&mut story).await;
                given_up(&mut story).await;
                datagrams(&mut story).await;
                unix_connections(&mut story, dir).await;
                unix_datagrams(&mut story, dir).await;
                not_connected_yet(&mut story, dir).await;
                into_buffers(&mut story).await;
                story
            }

            async fn pair() -> (TcpStream, TcpStream) {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
                (client, listener.accept().await.unwrap().0)
            }

            async fn connections(story: &mut Story, address: &str) {
                let listener = TcpListener::bind(address).await.unwrap();
                let at = listener.local_addr().unwrap();
                story.tell((at.ip(), at.port() != 0));
                let mut client = TcpStream::connect(at).await.unwrap();
                let (mut server, peer) = poll_fn(|cx| listener.poll_accept(cx)).await.unwrap();
                story.tell(peer == client.local_addr().unwrap() && server.peer_addr().unwrap() == peer);
                story.tell(client.peer_addr().unwrap() == at && server.local_addr().unwrap() == at);
                story.result(client.write(b"hello ").await);
                story.result(client.write_all(b"world\n").await);
                story.result(client.write_vectored(&[IoSlice::new(b"two"), IoSlice::new(b" lines\n")]).await);
                story.tell(tokio::io::AsyncWrite::is_write_vectored(&client));
                story.result(client.flush().await);
                let mut text = [0; 22];
                story.result(server.read_exact(&mut text).await);
                story.tell(text);
                story.result(server.write_all(b"0123456789").await);
                let mut buf = [0; 4];
                story.result(client.readable().await);
                story.result(client.peek(&mut buf).await);
                let mut peeked = ReadBuf::new(&mut buf);
                story.result(poll_fn(|cx| client.poll_peek(cx, &mut peeked)).await);
                story.result(client.read(&mut []).await);
                story.result(client.read(&mut buf).await);
                story.tell(buf);
                story.result(client.shutdown().await);
                let mut rest = Vec::new();
                story.result(server.read_to_end(&mut rest).await);
                story.result(server.write_all(b"the end").await);
                drop(server);
                story.result(client.read_to_end(&mut rest).await);
                story.tell(rest);
                // Several addresses: the first that works.
                let nobody = TcpListener::bind(address).await.unwrap().local_addr().unwrap();
                let second = TcpStream::connect(&[nobody, at][..]).await;
                story.result(second.map(|stream| stream.peer_addr().unwrap() == at));
                story.result(TcpStream::connect(nobody).await.map(|_| ()));
                story.result(TcpStream::connect(("localhost", nobody.port())).await.map(|_| ()));
            }

            /// What is received into buffers that grow.
            async fn into_buffers(story: &mut Story) {
                let (mut client, server) = pair().await;
                let mut buf = b"> ".to_vec();
                story.result(server.try_read_buf(&mut buf));
                story.result(client.write_all(b"hello").await);
                story.result(server.readable().await);
                story.result(server.try_read_buf(&mut buf));
                let (read, write) = server.into_split();
                for shown in [format!("{read:?}"), format!("{write:?}")] {
                    story.tell(shown.split_inclusive('{').take(2).collect::<String>());
                }
                story.result(client.write_all(b" world").await);
                story.result(read.readable().await);
                story.result(read.try_read_buf(&mut buf));
                story.tell(&buf);
                let (mut one, mut two) = UnixStream::pair().unwrap();
                story.result(one.write_all(b"unix").await);
                story.result(two.readable().await);
                story.result(two.try_read_buf(&mut buf));
                story.result(one.write_all(b" halves").await);
                let (read, write) = two.split();
                for shown in [format!("{read:?}"), format!("{write:?}")] {
                    story.tell(shown.split_inclusive('{').take(1).collect::<String>());
                }
                story.result(read.readable().await);
                story.result(read.try_read_buf(&mut buf));

                let [one, two] = [UdpSocket::bind("127.0.0.1:0").await.unwrap(), UdpSocket::bind("127.0.0.1:0").await.unwrap()];
                two.connect(one.local_addr().unwrap()).await.unwrap();
                one.connect(two.local_addr().unwrap()).await.unwrap();
                story.result(one.try_recv_buf(&mut buf));
                story.result(one.try_recv_buf_from(&mut buf).map(|(bytes, _)| bytes));
                for text in ["a", "bc", "def", "ghij"] {
                    story.result(two.send(text.as_bytes()).await);
                }
                story.result(one.recv_buf(&mut buf).await);
                story.result(one.recv_buf_from(&mut buf).await.map(|(bytes, from)| (bytes, from == two.local_addr().unwrap())));
                story.result(one.try_recv_buf(&mut buf));
                story.result(one.try_recv_buf_from(&mut buf).map(|(bytes, _)| bytes));
                let (one, two) = UnixDatagram::pair().unwrap();
                for text in ["k", "lm", "nop", "qrst"] {
                    story.result(two.send(text.as_bytes()).await);
                }
                story.result(one.recv_buf(&mut buf).await);
                story.result(one.recv_buf_from(&mut buf).await);
                story.result(one.try_recv_buf(&mut buf));
                story.result(one.try_recv_buf_from(&mut buf));
                story.tell(&buf);
            }

            /// What is set before a socket is connected or listens, and what it is then.
            async fn not_connected_yet(story: &mut Story, dir: &Path) {
                let socket = TcpSocket::new_v4().unwrap();
                story.tell(format!("{socket:?}").starts_with("Socket"));
                story.result(socket.set_reuseaddr(true));
                story.result(socket.reuseaddr());
                story.result(socket.set_keepalive(true));
                story.result(socket.keepalive());
                story.result(socket.set_nodelay(true));
                story.result(socket.nodelay());
                story.result(socket.set_zero_linger());
                story.result(socket.linger());
                story.result(socket.take_error());
                story.result(socket.bind("127.0.0.1:0".parse().unwrap()));
                let at = socket.local_addr().unwrap();
                story.result(TcpSocket::new_v4().unwrap().bind(at));
                let listener: TcpListener = socket.listen(16).unwrap();
                story.tell(listener.local_addr().unwrap() == at);
                let (client, server) = tokio::join!(TcpSocket::new_v4().unwrap().connect(at), listener.accept());
                let (mut client, mut server): (TcpStream, TcpStream) = (client.unwrap(), server.unwrap().0);
                story.result(client.write_all(b"hello").await);
                story.result(server.read_exact(&mut [0; 5]).await);
                drop(listener);
                let refused = TcpSocket::new_v4().unwrap().connect(at).await;
                story.result(refused.map(|_| ()));

                let path = dir.join(concat!("soon-", stringify!($name)));
                let socket = UnixSocket::new_stream().unwrap();
                story.result(socket.bind(&path));
                let listener: UnixListener = socket.listen(16).unwrap();
                let client: UnixStream = UnixSocket::new_stream().unwrap().connect(&path).await.unwrap();
                story.result(listener.accept().await.map(|_| ()));
                story.result(client.try_write(b"gone"));
                let later = dir.join(concat!("later-", stringify!($name)));
                let socket = UnixSocket::new_datagram().unwrap();
                story.result(socket.bind(&later));
                let datagrams: UnixDatagram = socket.datagram().unwrap();
                story.result(datagrams.send_to(b"hello", &later).await);
                story.result(UnixSocket::new_stream().unwrap().connect(dir.join("nobody")).await.map(|_| ()));
                story.result(UnixSocket::new_datagram().unwrap().listen(16).map(|_| ()));
            }

            /// A task can be spawned that does each of these.
            async fn all_are_send() {
                fn send<T: Send>(_: T) {}
                let at = SocketAddr::from(([127, 0, 0, 1], 0));
                let udp = UdpSocket::bind(at).await.unwrap();
                let listener = TcpListener::bind(at).await.unwrap();
                send((TcpStream::connect(at), TcpStream::connect("127.0.0.1:1"), TcpStream::connect(("localhost", 1))));
                send((TcpListener::bind(at), TcpListener::bind(&String::from("127.0.0.1:1")), TcpListener::bind(&[at][..])));
                send((UdpSocket::bind(at), udp.connect(at), udp.send_to(b"", at), udp.send_to(b"", "127.0.0.1:1")));
                send((udp.recv_from(&mut [0]), udp.peek_from(&mut [0]), udp.readable(), udp.send(b""), udp.recv(&mut [0])));
                send((listener.accept(), udp.ready(Interest::READABLE), udp.async_io(Interest::READABLE, || Ok(()))));
                send((UnixStream::connect("/"), UnixDatagram::unbound()));
            }

            async fn at_once(story: &mut Story) {
                let (client, server) = pair().await;
                let mut buf = [0; 8];
                story.result(client.try_read(&mut buf));
                story.result(server.try_write(b"one"));
                story.result(server.try_write_vectored(&[IoSlice::new(b"tw"), IoSlice::new(b"o")]));
                story.result(client.ready(Interest::READABLE).await.map(|ready| ready.is_readable()));
                story.result(client.try_read(&mut buf[..3]));
                let (mut one, mut two) = ([0; 1], [0; 2]);
                story.result(client.readable().await);
                story.result(client.try_read_vectored(&mut [IoSliceMut::new(&mut one), IoSliceMut::new(&mut two)]));
                story.tell((buf, one, two));
                story.result(client.try_io(Interest::READABLE, || client.as_fd().try_clone_to_owned().map(|_| ())));
                story.result(client.async_io(Interest::WRITABLE, || Ok(7)).await);
                story.result(poll_fn(|cx| client.poll_write_ready(cx)).await);
                // As much as fits, and then no more.
                let mut sent = 0_u64;
                let end = loop {
                    match client.try_write(&[1; 65536]) {
                        Ok(bytes) => sent += bytes as u64,
                        Err(error) => break error,
                    }
                };
                story.tell((end.kind(), end.raw_os_error(), sent > 0));
                drop(client);
                let mut received = 0_u64;
                loop {
                    poll_fn(|cx| server.poll_read_ready(cx)).await.unwrap();
                    match server.try_read(&mut [0; 65536]) {
                        Ok(0) => break,
                        Ok(bytes) => received += bytes as u64,
                        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
                    }
                }
                story.tell(received == sent);
            }

            async fn halves(story: &mut Story) {
                let (mut client, mut server) = pair().await;
                let at = client.local_addr().unwrap();
                {
                    let (mut read, mut write) = client.split();
                    story.result(write.write_all(b"half").await);
                    story.result(write.writable().await);
                    story.result(server.read_exact(&mut [0; 4]).await);
                    story.result(server.write_all(b"whole").await);
                    let mut buf = [0; 5];
                    story.result(read.readable().await);
                    story.result(read.peek(&mut buf[..2]).await);
                    story.result(read.try_read(&mut buf[..2]));
                    story.result(read.read_exact(&mut buf[2..]).await);
                    story.tell((buf, read.local_addr().unwrap() == at, write.peer_addr().is_ok()));
                }
                let (mut read, write) = client.into_split();
                let (other, _) = server.into_split();
                let error = other.reunite(write).unwrap_err();
                story.tell(error.to_string());
                let net::tcp::ReuniteError(mut other, mut write) = error;
                story.result(write.try_write(b"x"));
                story.result(other.read_u8().await);
                story.result(write.write_all(b"last").await);
                // Dropped, it closes its direction.
                drop(write);
                let mut text = String::new();
                story.result(other.read_to_string(&mut text).await);
                story.tell(text);
                drop(other);
                story.result(read.read(&mut [0; 1]).await);
                // Together again they do not.
                let (client, mut server) = pair().await;
                let (read, write) = client.into_split();
                let client = write.reunite(read).unwrap();
                story.result(server.write_all(b"again").await);
                let (mut read, write) = client.into_split();
                write.forget();
                story.result(read.read_exact(&mut [0; 5]).await);
                story.result(server.try_read(&mut [0; 1]));
                drop(read);
                story.result(server.read(&mut [0; 1]).await);
            }

            async fn options(story: &mut Story) {
                let (client, _server) = pair().await;
                story.result(client.set_nodelay(true));
                story.result(client.nodelay());
                story.result(client.set_ttl(77));
                story.result(client.ttl());
                story.result(client.linger());
                story.result(client.set_zero_linger());
                story.result(client.set_quickack(true));
                story.result(client.take_error().map(|error| error.is_none()));
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                story.result(listener.set_ttl(9));
                story.result(listener.ttl());
                let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
                story.result(socket.set_broadcast(true));
                story.result(socket.broadcast());
                story.result(socket.set_multicast_loop_v4(false));
                story.result(socket.multicast_loop_v4());
                story.result(socket.set_multicast_ttl_v4(5));
                story.result(socket.multicast_ttl_v4());
                story.result(socket.set_tos_v4(16));
                story.result(socket.tos_v4());
                #[expect(deprecated, reason = "programs that are older than the new name")]
                story.result(socket.set_tos(8).and_then(|()| socket.tos()));
                story.result(socket.join_multicast_v4("192.0.2.1".parse().unwrap(), "127.0.0.1".parse().unwrap()));
                story.result(socket.device());
                story.result(socket.take_error().map(|error| error.is_none()));
            }

            async fn errors(story: &mut Story, dir: &Path) {
                let none: &[SocketAddr] = &[];
                story.result(TcpStream::connect(none).await.map(|_| ()));
                story.result(TcpListener::bind(none).await.map(|_| ()));
                story.result(UdpSocket::bind(none).await.map(|_| ()));
                story.result(TcpStream::connect("no port").await.map(|_| ()));
                let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
                story.result(TcpListener::bind(taken.local_addr().unwrap()).await.map(|_| ()));
                story.result(TcpListener::bind("192.0.2.1:0").await.map(|_| ()));
                let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
                story.result(socket.send(b"nobody").await);
                story.result(socket.send_to(b"nobody", none).await);
                story.result(socket.connect(none).await);
                story.result(socket.peer_addr().map(|_| ()));
                story.result(UnixStream::connect(dir.join("missing")).await.map(|_| ()));
                story.result(UnixListener::bind(dir.join("x".repeat(200))).map(|_| ()));
                let one = UnixDatagram::unbound().unwrap();
                story.result(one.send_to(b"x", dir.join("missing")).await);
                story.result(one.send(b"x").await);
            }

            async fn descriptors(story: &mut Story) {
                let (client, mut server) = pair().await;
                story.tell(client.as_fd().as_raw_fd() == client.as_raw_fd());
                story.tell(format!("{client:?}").starts_with("PollEvented {"));
                let raw = client.as_raw_fd();
                let client = client.into_std().unwrap();
                story.tell(client.as_raw_fd() == raw);
                let mut client = TcpStream::try_from(client).unwrap();
                story.result(client.write_all(b"as before").await);
                drop(client);
                // SAFETY: a look at a number that is no descriptor any more.
                story.tell(unsafe { libc::fcntl(raw, libc::F_GETFD) });
                let mut text = String::new();
                story.result(server.read_to_string(&mut text).await);
                story.tell(text);
                let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
                listener.set_nonblocking(true).unwrap();
                let listener = TcpListener::from_std(listener).unwrap();
                let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
                story.tell(listener.accept().await.is_ok());
                story.tell(listener.into_std().is_ok());
            }

            async fn given_up(story: &mut Story) {
                let (mut client, mut server) = pair().await;
                let mut buf = [0; 4];
                let late = tokio::time::timeout(Duration::from_millis(5), client.read(&mut buf)).await;
                story.tell(late.is_err());
                let late = tokio::time::timeout(Duration::from_millis(5), client.peek(&mut buf)).await;
                story.tell(late.is_err());
                story.result(server.write_all(b"late").await);
                story.result(client.read_exact(&mut buf).await);
                story.tell(buf);
            }

            async fn datagrams(story: &mut Story) {
                let one = UdpSocket::bind("127.0.0.1:0").await.unwrap();
                let two = UdpSocket::bind("127.0.0.1:0").await.unwrap();
                let (first, second) = (one.local_addr().unwrap(), two.local_addr().unwrap());
                let mut buf = [0; 8];
                story.result(two.try_recv(&mut buf));
                story.result(one.send_to(b"hello", second).await);
                story.result(two.peek_from(&mut buf).await.map(|(bytes, from)| (bytes, from == first)));
                story.result(two.peek_sender().await.map(|from| from == first));
                // What does not fit is lost.
                story.result(two.recv_from(&mut buf[..3]).await.map(|(bytes, from)| (bytes, from == first)));
                story.tell(buf);
                story.result(one.send_to(&[0; 70_000], second).await);
                story.result(one.try_send_to(b"", second));
                story.result(two.recv_from(&mut buf).await.map(|(bytes, _)| bytes));
                story.result(one.connect(second).await);
                story.tell(one.peer_addr().unwrap() == second);
                story.result(one.send(b"connected").await);
                story.result(two.peek(&mut buf).await);
                story.result(two.recv(&mut buf).await);
                story.result(poll_fn(|cx| one.poll_send(cx, b"polled")).await);
                let mut read = ReadBuf::new(&mut buf);
                story.result(poll_fn(|cx| two.poll_recv_from(cx, &mut read)).await.map(|from| from == first));
                story.tell(read.filled());
                story.result(poll_fn(|cx| two.poll_send_to(cx, b"back", first)).await);
                let mut read = ReadBuf::new(&mut buf);
                story.result(poll_fn(|cx| one.poll_recv(cx, &mut read)).await);
                story.tell(read.filled());
                story.result(one.try_send(b"x"));
                story.result(two.readable().await);
                story.result(two.try_recv_from(&mut buf).map(|(bytes, _)| bytes));
            }

            async fn unix_connections(story: &mut Story, dir: &Path) {
                let path = dir.join(concat!("stream-", stringify!($name)));
                let listener = UnixListener::bind(&path).unwrap();
                let mut client = UnixStream::connect(&path).await.unwrap();
                let (mut server, peer) = listener.accept().await.unwrap();
                story.tell((peer.is_unnamed(), client.peer_addr().unwrap().as_pathname() == Some(&path)));
                story.result(client.write_all(b"hello").await);
                story.result(server.read_exact(&mut [0; 5]).await);
                story.result(server.peer_cred().map(|who| who.pid() == i32::try_from(std::process::id()).ok()));
                story.result(UnixListener::bind(&path).map(|_| ()));
                let (mut read, mut write) = client.split();
                story.result(write.write_all(b"half").await);
                story.result(server.write_all(b"whole").await);
                story.result(read.read(&mut [0; 8]).await);
                let (read, write) = client.into_split();
                drop(write);
                let mut rest = Vec::new();
                story.result(server.read_to_end(&mut rest).await);
                story.tell(rest);
                drop(read);
                story.result(server.write_all(b"nobody").await);
                let (mut one, two) = UnixStream::pair().unwrap();
                story.result(two.try_write(b"pair"));
                story.result(two.take_error().map(|error| error.is_none()));
                drop(two);
                let mut text = String::new();
                story.result(one.read_to_string(&mut text).await);
                story.tell(text);
            }

            async fn unix_datagrams(story: &mut Story, dir: &Path) {
                let path = dir.join(concat!("datagram-", stringify!($name)));
                let one = UnixDatagram::bind(&path).unwrap();
                let two = UnixDatagram::unbound().unwrap();
                story.result(two.send_to(b"to", &path).await);
                let mut buf = [0; 8];
                story.result(one.recv_from(&mut buf).await.map(|(bytes, from)| (bytes, from.is_unnamed())));
                story.result(two.connect(&path));
                story.result(two.send(b"connected").await);
                story.result(one.recv(&mut buf).await);
                story.tell(buf);
                story.result(one.try_recv(&mut buf));
                story.result(two.shutdown(std::net::Shutdown::Both));
                story.result(two.send(b"x").await);
                let (one, two) = UnixDatagram::pair().unwrap();
                story.result(poll_fn(|cx| one.poll_send(cx, b"pair")).await);
                let mut read = ReadBuf::new(&mut buf);
                story.result(poll_fn(|cx| two.poll_recv(cx, &mut read)).await);
                story.tell(read.filled());
            }
        }
    };
}

story!(tokios, tokio::net);
story!(ours, perfschema::tokio::net);
