//! `perfschema::tokio::net` beside tokio's own: the same story told with each must go the same way. And what it leaves in the tables, of
//! waits over several polls, on several threads, that are given up, handed over, or beside one another.
#![cfg(all(feature = "tokio", target_os = "linux", not(miri)))]

mod common;

use common::{Story, has_ipv6};
use perfschema::core::table::TableSource;
use perfschema::tables::EventsWaitsRow;
use perfschema::task::attach;
use perfschema::tokio::net::{Idle, Net, TcpListener, TcpSocket, TcpStream, UdpSocket, UnixDatagram, UnixStream};
use perfschema::{Region, Size, tables, thread};
use std::io::Write;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Runtime;

static NET: Net = Net::new(perfschema::net!("wait/io/socket/test/server", "wait/io/socket/test/connection"));

/// The region, and that no other test uses it meanwhile. The story is told before it is there, and after.
fn region() -> (&'static Region<'static>, MutexGuard<'static, ()>) {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    static REGION: OnceLock<&Region<'static>> = OnceLock::new();
    let alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let region = REGION.get_or_init(|| {
        same_story("before");
        let builder = perfschema::builder().everything(true).environment(false);
        let builder = builder.size(Size::MaxThreadInstances, 64).size(Size::EventsWaitsHistoryLongSize, 20_000);
        builder.start().unwrap().region()
    });
    (region, alone)
}

/// Every mirrored item, as a program uses it: the module is all that differs.
macro_rules! story {
    ($name:ident, $net:path) => {
        mod $name {
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

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn same_story(when: &str) {
    let dir: PathBuf = std::env::temp_dir().join(format!("perfschema-tokio-{}-{when}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let runtime = runtime();
    let expected = runtime.block_on(tokios::tell(&dir)).0;
    let told = runtime.block_on(attach("task/test/story", ours::tell(&dir))).0;
    std::fs::remove_dir_all(&dir).unwrap();
    assert!(expected.len() > 150, "{}", expected.len());
    assert_eq!(told, expected);
}

#[test]
fn the_same_story_as_tokios() {
    let (region, _alone) = region();
    // What another test has left there.
    tables::EventsWaitsHistoryLong.truncate(region);
    same_story("on");
    let mut operations = std::collections::BTreeSet::new();
    region.scan(&tables::EventsWaitsHistoryLong, |row| {
        operations.insert(row.operation);
    });
    let all = ["accept", "bind", "close", "connect", "opt", "recv", "recvfrom", "select", "send", "sendto", "shutdown", "stat"];
    assert_eq!(operations, all.into());
    for setting in [perfschema::Setting::OFF, perfschema::Setting::ON] {
        let mut names = Vec::new();
        region.scan(&tables::SetupInstruments, |row| names.push(row.name));
        names.retain(|name| name.as_str().starts_with("wait/io/socket/"));
        assert!(names.len() >= 4);
        names.iter().for_each(|name| region.set_setting(region.find_class(name.as_str()).unwrap(), setting));
        same_story("again");
    }
    nothing_is_left(region);
}

/// No socket, no task, no wait that runs.
fn nothing_is_left(region: &Region<'_>) {
    region.scan(&tables::SocketInstances, |row| panic!("{row:?} is closed"));
    region.scan(&tables::Threads, |row| assert!(row.name.as_str().starts_with("thread/"), "{row:?}"));
    region.scan(&tables::EventsWaitsCurrent, |row| assert!(row.end_event_id.is_some(), "{row:?}"));
}

/// A wait: EVENT_ID, OPERATION, NUMBER_OF_BYTES, and whether it has ended.
type Event = (u64, &'static str, Option<i64>, bool);

/// Those of a thread or a task in a table of events.
fn events(region: &Region<'_>, table: impl TableSource<Row = EventsWaitsRow>, thread_id: u64) -> Vec<Event> {
    let mut events = Vec::new();
    region.scan(&table, |row| {
        assert_eq!(row.timer_end.is_some(), row.end_event_id.is_some(), "{row:?}");
        if row.thread_id == thread_id {
            events.push((row.event_id, row.operation, row.number_of_bytes, row.end_event_id.is_some()));
        }
    });
    events.sort_unstable();
    events
}

/// Those that run now.
fn running(region: &Region<'_>, thread_id: u64) -> Vec<Event> {
    let mut running = events(region, tables::EventsWaitsCurrent, thread_id);
    running.retain(|(.., ended)| !ended);
    running
}

fn ended(region: &Region<'_>, thread_id: u64) -> Vec<Event> {
    events(region, tables::EventsWaitsHistory, thread_id)
}

fn id(region: &Region<'_>, name: &str) -> u64 {
    let mut ids = Vec::new();
    region.scan(&tables::Threads, |row| {
        if row.name == name {
            ids.push(row.thread_id);
        }
    });
    assert_eq!(ids.len(), 1, "{name}");
    ids[0]
}

/// COUNT_READ and SUM_NUMBER_OF_BYTES_READ of all sockets; COUNT_STAR of their waits.
fn received(region: &Region<'_>) -> (u64, u64, u64) {
    let (mut reads, mut bytes, mut waits) = (0, 0, 0);
    region.scan(&tables::SocketSummaryByEventName, |row| {
        reads += row.count_read;
        bytes += row.sum_number_of_bytes_read;
    });
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| {
        waits += if row.event_name.as_str().starts_with("wait/io/socket/") { row.count_star } else { 0 };
    });
    (reads, bytes, waits)
}

/// Counts how often it was woken.
#[derive(Default)]
struct Woken(AtomicU64);

impl Wake for Woken {
    fn wake(self: Arc<Woken>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A runtime that does nothing of itself, and whose futures are polled by hand.
struct ByHand {
    runtime: Runtime,
    woken: Arc<Woken>,
}

impl ByHand {
    fn new() -> ByHand {
        ByHand { runtime: runtime(), woken: Arc::default() }
    }

    fn poll<F: Future + ?Sized>(&self, future: Pin<&mut F>) -> Poll<F::Output> {
        let _entered = self.runtime.enter();
        future.poll(&mut Context::from_waker(&Waker::from(Arc::clone(&self.woken))))
    }

    /// The same on a thread of its own; THREAD_ID of that.
    fn poll_elsewhere<F: Future + Send + ?Sized>(&self, future: Pin<&mut F>) -> (Poll<F::Output>, u64)
    where
        F::Output: Send,
    {
        let elsewhere = |future| (self.poll(future), thread::current_id().unwrap());
        std::thread::scope(|scope| scope.spawn(move || elsewhere(future)).join().unwrap())
    }

    /// Until what was polled is woken once more.
    fn wait(&self) {
        let before = self.woken.0.load(Ordering::Relaxed);
        while self.woken.0.load(Ordering::Relaxed) == before {
            self.runtime.block_on(tokio::task::yield_now());
        }
    }

    fn pair(&self) -> (UnixStream, std::os::unix::net::UnixStream) {
        let _entered = self.runtime.enter();
        let (ours, other) = std::os::unix::net::UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        (ours.try_into().unwrap(), other)
    }
}

/// A task that reads once, and returns what it has read, and the socket.
fn reads(name: &'static str, mut stream: UnixStream) -> Pin<Box<dyn Future<Output = (usize, UnixStream)> + Send>> {
    Box::pin(attach(name, async move {
        let mut buf = [0; 8];
        (stream.read(&mut buf).await.unwrap(), stream)
    }))
}

#[test]
fn a_pending_read_is_shown_and_is_one_event_however_often_and_wherever_it_is_polled() {
    let (region, _alone) = region();
    let by_hand = ByHand::new();
    let (stream, mut other) = by_hand.pair();
    let before = received(region);
    let mut task = reads("task/test/reads", stream);
    assert!(by_hand.poll(task.as_mut()).is_pending());
    let task_id = id(region, "task/test/reads");
    let shown = [(1, "recv", Some(8), false)];
    assert_eq!(events(region, tables::EventsWaitsCurrent, task_id), shown);
    for _ in 0..3 {
        assert!(by_hand.poll_elsewhere(task.as_mut()).0.is_pending());
        assert!(by_hand.poll(task.as_mut()).is_pending());
    }
    assert_eq!(events(region, tables::EventsWaitsCurrent, task_id), shown);
    assert_eq!((ended(region, task_id), received(region)), (vec![], before));
    other.write_all(b"hello").unwrap();
    by_hand.wait();
    let (Poll::Ready((5, stream)), elsewhere) = by_hand.poll_elsewhere(task.as_mut()) else { panic!("it is there") };
    assert_eq!(events(region, tables::EventsWaitsHistoryLong, task_id), [(1, "recv", Some(5), true)]);
    assert_eq!(events(region, tables::EventsWaitsHistoryLong, elsewhere), []);
    assert_eq!(received(region), (before.0 + 1, before.1 + 5, before.2 + 1));
    let mut by_instance = Vec::new();
    region.scan(&tables::SocketSummaryByInstance, |row| by_instance.push((row.count_read, row.sum_number_of_bytes_read)));
    assert_eq!(by_instance, [(1, 5)]);
    drop((task, stream));
    nothing_is_left(region);
}

#[test]
fn what_is_not_attached_is_recorded_at_its_end_by_who_ends_it() {
    let (region, _alone) = region();
    let by_hand = ByHand::new();
    let own = thread::current_id().unwrap();
    let (mut stream, mut other) = by_hand.pair();
    let mut buf = [0; 8];
    let mut read = Box::pin(stream.read(&mut buf));
    assert!(by_hand.poll(read.as_mut()).is_pending());
    assert_eq!(running(region, own), []);
    // Something that lies between its begin and its end.
    let between = by_hand.runtime.block_on(UdpSocket::bind("127.0.0.1:0")).unwrap();
    other.write_all(b"hello").unwrap();
    by_hand.wait();
    let (result, elsewhere) = by_hand.poll_elsewhere(read.as_mut());
    assert!(matches!(result, Poll::Ready(Ok(5))));
    drop(read);
    let mut times = Vec::new();
    region.scan(&tables::EventsWaitsHistoryLong, |row| {
        if (row.thread_id, row.operation) == (elsewhere, "recv") || (row.thread_id, row.operation) == (own, "bind") {
            times.push((row.timer_start, row.operation, row.timer_end, row.number_of_bytes));
        }
    });
    times.sort_unstable();
    let [read, bind] = times[..] else { panic!("{times:?}") };
    assert_eq!((read.1, read.3, bind.1), ("recv", Some(5), "bind"));
    assert!(read.0 < bind.0 && bind.2 < read.2, "{times:?}");
    drop((stream, between));
    nothing_is_left(region);
}

#[test]
fn what_is_given_up_ends_without_bytes() {
    let (region, _alone) = region();
    let by_hand = ByHand::new();
    let (mut stream, mut other) = by_hand.pair();
    let before = received(region);
    let line = line!() + 3;
    let mut task = Box::pin(attach("task/test/gives-up", async move {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let _ = once(pin!(socket.recv(&mut [0; 16]))).await;
        let _ = once(pin!(stream.read(&mut [0; 16]))).await;
        tokio::task::yield_now().await;
        // The second read of the stream goes on where the first one was left.
        let _ = once(pin!(stream.read(&mut [0; 16]))).await;
        tokio::task::yield_now().await;
        let _ = once(pin!(std::future::poll_fn(|cx| stream.poll_read_ready(cx)))).await;
        tokio::task::yield_now().await;
        let _ = once(pin!(stream.read(&mut [0; 4]))).await;
        drop((stream, socket));
        std::future::pending::<()>().await;
    }));
    assert!(by_hand.poll(task.as_mut()).is_pending());
    let task_id = id(region, "task/test/gives-up");
    let given_up = (2, "recv", Some(0), true);
    assert_eq!(ended(region, task_id), [(1, "bind", None, true), given_up]);
    for _ in 0..2 {
        assert_eq!(running(region, task_id), [(3, "recv", Some(16), false)]);
        assert!(by_hand.poll(task.as_mut()).is_pending());
    }
    assert_eq!(running(region, task_id), [(4, "select", None, false)]);
    assert_eq!(ended(region, task_id)[2], (3, "recv", Some(0), true));
    other.write_all(b"too late").unwrap();
    by_hand.wait();
    assert!(by_hand.poll(task.as_mut()).is_pending());
    // A read that was ready at once, and both are closed.
    let rest = [(4, "select", None, true), (5, "recv", Some(4), true), (6, "close", None, true), (7, "close", None, true)];
    assert_eq!(ended(region, task_id)[3..], rest);
    assert_eq!(received(region), (before.0 + 3, before.1 + 4, before.2 + 7));
    let mut source = Vec::new();
    region.scan(&tables::EventsWaitsHistory, |row| {
        if row.thread_id == task_id && row.event_id <= 3 {
            source.push(row.source);
        }
    });
    assert!(source.iter().flatten().any(|source| source.as_str().ends_with(&format!("tokio_sockets.rs:{line}"))), "{source:?}");
    drop(task);
    nothing_is_left(region);
}

/// One poll of a future.
fn once<'a, F: Future>(mut future: Pin<&'a mut F>) -> impl Future<Output = Poll<F::Output>> + use<'a, F> {
    std::future::poll_fn(move |cx| Poll::Ready(future.as_mut().poll(cx)))
}

#[test]
fn a_task_waits_for_several_at_once() {
    let (region, _alone) = region();
    let by_hand = ByHand::new();
    let [(mut one, mut first), (mut two, mut second)] = [by_hand.pair(), by_hand.pair()];
    let mut task = Box::pin(attach("task/test/joins", async move {
        let (mut a, mut b) = ([0; 1], [0; 2]);
        let bytes = tokio::join!(one.read(&mut a), two.read(&mut b));
        (bytes.0.unwrap(), bytes.1.unwrap())
    }));
    assert!(by_hand.poll(task.as_mut()).is_pending());
    let task_id = id(region, "task/test/joins");
    assert_eq!(running(region, task_id), [(1, "recv", Some(1), false), (2, "recv", Some(2), false)]);
    second.write_all(b"22").unwrap();
    by_hand.wait();
    assert!(by_hand.poll(task.as_mut()).is_pending());
    assert_eq!(running(region, task_id), [(1, "recv", Some(1), false)]);
    assert_eq!(ended(region, task_id), [(2, "recv", Some(2), true)]);
    first.write_all(b"1").unwrap();
    by_hand.wait();
    assert_eq!(by_hand.poll(task.as_mut()), Poll::Ready((1, 2)));
    let mut nesting = 0;
    region.scan(&tables::EventsWaitsHistoryLong, |row| {
        nesting += if row.thread_id == task_id { row.nesting_event_id.map_or(1, |_| 100) } else { 0 };
    });
    assert_eq!(nesting, 4, "two reads, and what closes both: none lies within another");
    drop(task);
    nothing_is_left(region);
}

#[test]
fn what_one_task_begins_and_another_ends_is_recorded_by_that_one() {
    let (region, _alone) = region();
    let by_hand = ByHand::new();
    let (stream, mut other) = by_hand.pair();
    let before = received(region);
    let place = Arc::new(std::sync::Mutex::new(None));
    let given = Arc::clone(&place);
    let mut gives = Box::pin(attach("task/test/gives", async move {
        let mut stream = stream;
        assert!(once(pin!(stream.read(&mut [0; 8]))).await.is_pending());
        *given.lock().unwrap() = Some(stream);
        std::future::pending::<()>().await;
    }));
    assert!(by_hand.poll(gives.as_mut()).is_pending());
    let giver = id(region, "task/test/gives");
    let begun = [(1, "recv", Some(8), false)];
    assert_eq!(running(region, giver), begun);
    let mut takes = reads("task/test/takes", place.lock().unwrap().take().unwrap());
    assert!(by_hand.poll_elsewhere(takes.as_mut()).0.is_pending());
    let taker = id(region, "task/test/takes");
    // It goes on, and whose it is tells nothing yet.
    assert_eq!((running(region, giver), running(region, taker)), (begun.to_vec(), vec![]));
    other.write_all(b"hello").unwrap();
    by_hand.wait();
    let Poll::Ready((5, stream)) = by_hand.poll(takes.as_mut()) else { panic!("it is there") };
    assert_eq!(events(region, tables::EventsWaitsHistoryLong, taker), [(1, "recv", Some(5), true)]);
    assert_eq!(running(region, giver), begun, "nobody writes where the first one would");
    assert_eq!(received(region), (before.0 + 1, before.1 + 5, before.2 + 1));
    drop((gives, takes, stream));
    nothing_is_left(region);
}

#[test]
fn what_is_switched_on_while_it_is_pending_is_recorded_from_its_next_poll() {
    let (region, _alone) = region();
    let by_hand = ByHand::new();
    let (stream, mut other) = by_hand.pair();
    let class = region.find_class("wait/io/socket/std/client_connection").unwrap();
    let before = received(region);
    let place = Arc::new(std::sync::Mutex::new(Some(stream)));
    let taken = Arc::clone(&place);
    let mut begins = Box::pin(attach("task/test/begins", async move {
        let mut stream = taken.lock().unwrap().take().unwrap();
        tokio::task::yield_now().await;
        for _ in 0..2 {
            assert!(once(pin!(stream.read(&mut [0; 8]))).await.is_pending());
            *taken.lock().unwrap() = Some(stream);
            tokio::task::yield_now().await;
            stream = taken.lock().unwrap().take().unwrap();
        }
    }));
    assert!(by_hand.poll(begins.as_mut()).is_pending());
    let begins_id = id(region, "task/test/begins");
    let instrumented = |value| {
        let table: &dyn perfschema::core::table::Table = &tables::Threads;
        let new = [("INSTRUMENTED", perfschema::core::table::Value::Text(value))];
        let is_it = |row: &dyn perfschema::core::table::Row| row.cell(0) == perfschema::core::table::Value::Unsigned(begins_id);
        assert_eq!(table.update(region, &mut |row| is_it(row), &new).unwrap().changed, 1);
    };
    // By the task, whose wait is none then; by the instrument, of which nothing is kept while it is off.
    for (by_task, more) in [(true, 0), (false, 1)] {
        let set = |on| match by_task {
            true => instrumented(if on { "YES" } else { "NO" }),
            false => region.set_setting(class, if on { perfschema::Setting::ON } else { perfschema::Setting::OFF }),
        };
        set(false);
        assert!(by_hand.poll(begins.as_mut()).is_pending());
        set(true);
        other.write_all(b"hello").unwrap();
        by_hand.wait();
        let mut ends = reads("task/test/ends", place.lock().unwrap().take().unwrap());
        let Poll::Ready((5, stream)) = by_hand.poll(ends.as_mut()) else { panic!("it is there") };
        *place.lock().unwrap() = Some(stream);
        let (count, bytes, _) = received(region);
        assert_eq!((count, bytes, running(region, begins_id)), (before.0 + more, before.1 + 5 * more, vec![]));
    }
    drop((begins, place));
    nothing_is_left(region);
}

#[test]
fn what_is_switched_off_while_it_is_pending_is_recorded_to_its_end() {
    let (region, _alone) = region();
    let by_hand = ByHand::new();
    let (mut stream, mut other) = by_hand.pair();
    let class = region.find_class("wait/io/socket/std/client_connection").unwrap();
    let (reads, bytes, _) = received(region);
    // The first read is pending when that happens; the second begins later.
    for _ in 0..2 {
        assert!(by_hand.poll(pin!(stream.read(&mut [0; 8]))).is_pending());
        region.set_setting(class, perfschema::Setting::OFF);
        other.write_all(b"hello").unwrap();
        by_hand.wait();
        let Poll::Ready(Ok(5)) = by_hand.poll(pin!(stream.read(&mut [0; 8]))) else { panic!("it is there") };
        let (now, now_bytes, _) = received(region);
        assert_eq!((now, now_bytes), (reads + 1, bytes + 5));
    }
    region.set_setting(class, perfschema::Setting::ON);
    drop(stream);
    nothing_is_left(region);
}

#[test]
fn being_idle_is_known_of_each_poll() {
    let (region, _alone) = region();
    let by_hand = ByHand::new();
    let [(one, mut first), (two, mut second)] = [by_hand.pair(), by_hand.pair()];
    let before = received(region);
    let mut idle = Box::pin(attach("task/test/idle", async move {
        let mut buf = [0; 8];
        one.idle(one.readable()).await.unwrap();
        let idle = one.idle(async { one.readable().await.and_then(|()| one.try_read(&mut buf)) });
        idle.await.unwrap()
    }));
    // Not idle, though it is polled on the same thread between those of one that is.
    let mut busy = reads("task/test/busy", two);
    assert!(by_hand.poll(idle.as_mut()).is_pending());
    assert!(by_hand.poll(busy.as_mut()).is_pending());
    let (idle_id, busy_id) = (id(region, "task/test/idle"), id(region, "task/test/busy"));
    assert_eq!(
        (running(region, idle_id), running(region, busy_id)),
        (vec![(1, "idle", None, false)], vec![(1, "recv", Some(8), false)])
    );
    let states = |region: &Region<'_>| {
        let mut states = Vec::new();
        region.scan(&tables::SocketInstances, |row| states.push((row.thread_id, row.state)));
        states.retain(|(thread_id, state)| *thread_id == Some(idle_id) || *state == "IDLE");
        states
    };
    assert_eq!(states(region), [(Some(idle_id), "IDLE")]);
    second.write_all(b"22").unwrap();
    by_hand.wait();
    assert!(matches!(by_hand.poll(busy.as_mut()), Poll::Ready((2, _))));
    first.write_all(b"1").unwrap();
    by_hand.wait();
    assert_eq!(by_hand.poll(idle.as_mut()), Poll::Ready(1));
    assert_eq!(states(region), []);
    let history = events(region, tables::EventsWaitsHistoryLong, idle_id);
    assert_eq!(history, [(1, "idle", None, true), (2, "idle", None, true), (3, "close", None, true)]);
    // What came while it was idle is counted, and no wait: those are the other task's, and of two sockets the close.
    assert_eq!(received(region), (before.0 + 2, before.1 + 3, before.2 + 3));
    drop((idle, busy));
    nothing_is_left(region);
}

#[test]
fn a_read_that_was_given_up_goes_on_only_if_both_are_idle_or_none_is() {
    let (region, _alone) = region();
    let before = received(region);
    let task = attach("task/test/idles-by-turns", async {
        let (one, two) = UnixDatagram::pair().unwrap();
        let mut buf = [0; 8];
        let mut receive =
            async || std::future::poll_fn(|cx| one.poll_recv(cx, &mut tokio::io::ReadBuf::new(&mut buf))).await.unwrap();
        let id = thread::current_id().unwrap();
        assert!(once(pin!(one.idle(receive()))).await.is_pending());
        assert!(once(pin!(receive())).await.is_pending());
        assert_eq!(running(region, id), [(2, "recv", Some(8), false)]);
        // What the client needs for its next request is not the time of that read.
        assert!(once(pin!(one.idle(receive()))).await.is_pending());
        assert_eq!(running(region, id), []);
        assert_eq!(ended(region, id)[1], (2, "recv", Some(0), true));
        two.send(b"next").await.unwrap();
        one.idle(receive()).await;
        id
    });
    let id = runtime().block_on(task);
    let history: Vec<_> = events(region, tables::EventsWaitsHistoryLong, id).iter().map(|event| event.1).collect();
    assert_eq!(history, ["idle", "recv", "idle", "send", "idle", "close", "close"]);
    // The read in vain, and the one that is counted.
    assert_eq!(received(region), (before.0 + 2, before.1 + 4, before.2 + 4));
    nothing_is_left(region);
}

fn many_threads() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    // So that it is known which of them want a place.
    builder.worker_threads(2).enable_all().on_thread_start(|| _ = thread::current_id()).build().unwrap()
}

#[test]
fn a_runtime_that_goes_takes_its_tasks_along() {
    let (region, _alone) = region();
    let runtime = many_threads();
    let others: Vec<_> = (0..20)
        .map(|index| {
            let _entered = runtime.enter();
            let (mut ours, other) = UnixStream::pair().unwrap();
            runtime.spawn(attach("task/test/pending", async move {
                // Some by halves.
                if index % 2 == 0 {
                    let (mut read, _write) = ours.into_split();
                    read.read_u8().await.unwrap();
                } else {
                    ours.read_u8().await.unwrap();
                }
            }));
            other
        })
        .collect();
    loop {
        let mut waiting = 0;
        region.scan(&tables::EventsWaitsCurrent, |row| {
            waiting += u32::from((row.operation, row.end_event_id) == ("recv", None));
        });
        if waiting == 20 {
            break;
        }
        std::thread::yield_now();
    }
    drop(runtime);
    drop(others);
    nothing_is_left(region);
}

#[test]
fn every_message_of_many_tasks_counts_once() {
    const PAIRS: u64 = 1000;
    const MESSAGES: u64 = 5;
    let (region, _alone) = region();
    // The threads of other tests end.
    thread::current_id().unwrap();
    loop {
        let mut threads = 0;
        region.scan(&tables::Threads, |_| threads += 1);
        if threads == 1 {
            break;
        }
        std::thread::yield_now();
    }
    let newest = || std::thread::spawn(|| thread::current_id().unwrap()).join().unwrap();
    let (before, first) = (received(region), newest());
    let lost = region.lost(perfschema::Lost::ThreadInstances);
    let runtime = many_threads();
    let bytes = runtime.block_on(async {
        let mut tasks = Vec::new();
        for index in 0..PAIRS {
            let (one, two) = UnixDatagram::pair().unwrap();
            tasks.push(tokio::spawn(attach("task/test/sends", async move {
                let mut sent = 0;
                for message in 0..MESSAGES {
                    sent += one.send(&vec![7; 1 + ((index + message) % 9) as usize]).await.unwrap();
                }
                sent
            })));
            tasks.push(tokio::spawn(attach("task/test/receives", async move {
                let mut received = 0;
                for _ in 0..MESSAGES {
                    received += two.recv(&mut [0; 16]).await.unwrap();
                }
                received
            })));
            // Not more descriptors than a process may have.
            if tasks.len() == 200 {
                for task in tasks.drain(..) {
                    task.await.unwrap();
                }
            }
        }
        assert!(tasks.is_empty());
        (0..PAIRS).flat_map(|index| (0..MESSAGES).map(move |message| 1 + (index + message) % 9)).sum::<u64>()
    });
    drop(runtime);
    // Each message is a send and a receive, each socket is closed.
    let waits = PAIRS * (2 * MESSAGES + 2);
    assert_eq!(received(region), (before.0 + PAIRS * MESSAGES, before.1 + bytes, before.2 + waits));
    // Each task, and each of the runtime's threads, had a place or is counted.
    let with_place = newest() - first - 1;
    let without = region.lost(perfschema::Lost::ThreadInstances) - lost;
    assert_eq!(with_place + without, 2 * PAIRS + 2, "{with_place} {without}");
    nothing_is_left(region);
}

/// Else it would be nobody's, or count for the socket that gets the place next.
#[test]
fn what_is_pending_ends_before_its_socket_is_given_away() {
    let (region, _alone) = region();
    let own = thread::current_id().unwrap();
    // What another test has left there.
    tables::EventsWaitsHistory.truncate(region);
    let address = runtime().block_on(async {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let mut buf = [0; 8];
        let mut receive = |cx: &mut Context<'_>| Poll::Ready(socket.poll_recv(cx, &mut tokio::io::ReadBuf::new(&mut buf)));
        assert!(std::future::poll_fn(&mut receive).await.is_pending());
        drop(socket.into_std().unwrap());
        address
    });
    let mut given_up = Vec::new();
    region.scan(&tables::EventsWaitsHistory, |row| {
        if (row.thread_id, row.operation) == (own, "recv") {
            given_up.push((row.object_name.map(|name| name.as_str().to_string()), row.number_of_bytes));
        }
    });
    assert_eq!(given_up, [(Some(address.to_string()), Some(0))]);
    nothing_is_left(region);
}

#[test]
fn instruments_of_its_own_and_rows_while_they_are_open() {
    let (region, _alone) = region();
    let runtime = runtime();
    let rows = || {
        let mut rows = Vec::new();
        region.scan(&tables::SocketInstances, |row| rows.push((row.event_name.as_str().to_string(), row.port, row.socket_id)));
        rows.sort_unstable();
        rows
    };
    runtime.block_on(async {
        use std::os::fd::AsRawFd;
        let listener: TcpListener = NET.bind_tcp("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let client = TcpStream::connect(at).await.unwrap();
        let (server, peer) = listener.accept().await.unwrap();
        let row =
            |name: &str, port: u16, socket: &dyn AsRawFd| (format!("wait/io/socket/{name}"), i32::from(port), socket.as_raw_fd());
        let client_row = row("std/client_connection", at.port(), &client);
        let mut all =
            vec![client_row.clone(), row("test/connection", peer.port(), &server), row("test/server", at.port(), &listener)];
        assert_eq!(rows(), all);
        // Halves are one socket, and go together.
        let (read, write) = client.into_split();
        assert_eq!(rows(), all);
        let client = read.reunite(write).unwrap();
        assert_eq!(rows(), all);
        let (read, write) = client.into_split();
        drop(read);
        assert_eq!(rows(), all);
        drop(write);
        all.retain(|row| *row != client_row);
        assert_eq!(rows(), all);
        // A direction is closed once.
        let shutdowns = || {
            let mut shutdowns = 0;
            region.scan(&tables::EventsWaitsHistoryLong, |row| shutdowns += u32::from(row.operation == "shutdown"));
            shutdowns
        };
        for shut_down in [true, false] {
            let before = shutdowns();
            let (_read, mut write) = TcpStream::connect(at).await.unwrap().into_split();
            if shut_down {
                write.shutdown().await.unwrap();
            }
            drop(write);
            assert_eq!(shutdowns() - before, 1);
        }
        assert_eq!(rows(), all);
        // tokio's own, and std's, are not known.
        drop(listener.into_std().unwrap());
        drop(tokio::net::TcpStream::from(server));
        assert_eq!(rows(), []);
    });
    nothing_is_left(region);
}

#[test]
fn a_socket_is_known_once_it_listens_or_is_connected() {
    let (region, _alone) = region();
    let (socket, client) = (TcpSocket::new_v4().unwrap(), TcpSocket::new_v4().unwrap());
    runtime().block_on(async {
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let at = socket.local_addr().unwrap();
        region.scan(&tables::SocketInstances, |row| panic!("{row:?} is not known yet"));
        let line = line!() + 1;
        let listener = socket.listen(16).unwrap();
        let client = client.connect(at).await.unwrap();
        let mut rows = Vec::new();
        region.scan(&tables::SocketInstances, |row| rows.push((row.event_name.as_str().to_string(), row.port)));
        rows.sort_unstable();
        let port = i32::from(at.port());
        let row = |name: &str| (format!("wait/io/socket/std/{name}"), port);
        assert_eq!(rows, [row("client_connection"), row("server_tcpip_socket")]);
        let mut waits = Vec::new();
        region.scan(&tables::EventsWaitsHistoryLong, |row| {
            if row.object_name.as_ref().is_some_and(|name| name.as_str() == at.to_string()) {
                waits.push((row.operation, row.source.map(|source| source.to_string())));
            }
        });
        let source = |line: u32| Some(format!("tokio_sockets.rs:{line}"));
        assert_eq!(waits, [("bind", source(line)), ("connect", source(line + 1))]);
        drop((listener, client));
    });
    nothing_is_left(region);
}

/// A future has what it waits for once, not again as what it was called with: tokio's own test of its sizes holds here, too.
#[test]
fn futures_are_little_larger_than_tokios() {
    let (_region, _alone) = region();
    let connection = async {
        let stream = TcpStream::connect("127.0.0.1:8080").await.unwrap();
        loop {
            stream.readable().await.unwrap();
            let mut buf = [0; 4096];
            if stream.try_read(&mut buf[..]).unwrap() == 0 {
                break;
            }
        }
    };
    assert!(size_of_val(&connection) < 1000, "{}", size_of_val(&connection));
    runtime().block_on(async {
        let ours = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let tokios = ours.as_tokio();
        for (ours, tokios) in [
            (size_of_val(&ours.accept()), size_of_val(&tokios.accept())),
            (size_of_val(&TcpStream::connect("a:1")), 2 * size_of_val(&tokio::net::TcpStream::connect("a:1"))),
            (size_of_val(&UnixStream::connect("a")), size_of_val(&tokio::net::UnixStream::connect("a"))),
        ] {
            assert!(ours <= tokios + 200, "{ours} {tokios}");
        }
    });
}
