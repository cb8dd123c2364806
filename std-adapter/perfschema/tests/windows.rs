//! What is Windows' own: how its threads are named and how they end, its paths, and files and sockets with the traits that std's have there,
//! beside std's.
#![cfg(windows)]

mod common;

use common::Story;
use std::path::{Path, PathBuf};

/// An empty folder of this name.
fn folder(name: &str) -> PathBuf {
    common::empty_folder(Path::new(env!("CARGO_TARGET_TMPDIR")).join("windows").join(name))
}

/// Every mirrored item that is another one than on Unix, and what surrounds it: the modules are all that differs.
macro_rules! story {
    ($name:ident, $fs:path, $net:path) => {
        mod $name {
            use super::Story;
            use fs::{File, OpenOptions};
            use net::{Shutdown, TcpListener, TcpStream, UdpSocket};
            use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
            use std::os::windows::fs::{FileExt, MetadataExt, OpenOptionsExt};
            use std::os::windows::io::{
                AsHandle, AsRawHandle, AsRawSocket, AsSocket, FromRawHandle, FromRawSocket, IntoRawHandle, IntoRawSocket,
                OwnedHandle, OwnedSocket,
            };
            use std::path::Path;
            use std::time::Duration;
            use $fs as fs;
            use $net as net;

            pub(crate) fn tell(dir: &Path) -> Story {
                let mut story = Story::default();
                files(&mut story, dir);
                options(&mut story, dir);
                handles(&mut story, dir);
                errors(&mut story, dir);
                connections(&mut story);
                sockets(&mut story);
                datagrams(&mut story);
                story
            }

            fn files(story: &mut Story, dir: &Path) {
                let (a, b) = (dir.join("a"), dir.join("b"));
                story.result(fs::create_dir_all(dir.join("x\\y/z")));
                story.result(fs::write(&a, "one two"));
                story.result(fs::copy(&a, &b));
                story.result(fs::rename(&b, dir.join("x\\b")));
                story.result(fs::read_to_string(dir.join("x/b")));
                story.result(fs::metadata(&a).map(|metadata| metadata.file_size()));
                let mut file = OpenOptions::new().read(true).write(true).open(&a).unwrap();
                let mut buf = [0; 4];
                story.result(file.seek_read(&mut buf, 5));
                story.tell(buf);
                // The position moves along there.
                story.result(file.stream_position());
                story.result(file.seek_write(b"TWO", 4));
                story.result(file.seek(SeekFrom::Start(1)));
                story.result(file.read(&mut buf));
                story.tell(buf);
                story.result(file.write_all(b"!"));
                story.result(file.set_len(6));
                story.result(file.sync_all());
                let [one, two] = [(); 2].map(|()| File::open(&a).unwrap());
                story.result(one.lock());
                story.tell(matches!(two.try_lock_shared(), Err(fs::TryLockError::WouldBlock)));
                story.result(one.unlock());
                story.tell(two.try_lock_shared());
                drop((file, one, two));
                story.result(fs::read(&a));
                story.result(fs::remove_file(&a));
                story.result(fs::remove_dir_all(dir.join("x")));
                story.result(fs::read_dir(dir).map(|entries| entries.count()));
            }

            fn options(story: &mut Story, dir: &Path) {
                const GENERIC_READ: u32 = 0x8000_0000;
                const FILE_ATTRIBUTE_HIDDEN: u32 = 2;
                let path = dir.join("hidden");
                let mut options = File::options();
                options.write(true).create_new(true).attributes(FILE_ATTRIBUTE_HIDDEN).custom_flags(0).security_qos_flags(0);
                story.tell(options.open(&path).is_ok());
                story.result(fs::metadata(&path).map(|metadata| metadata.file_attributes() & FILE_ATTRIBUTE_HIDDEN));
                let _alone = OpenOptions::new().access_mode(GENERIC_READ).share_mode(0).open(&path).unwrap();
                story.result(File::open(&path).map(|_| ()));
            }

            fn handles(story: &mut Story, dir: &Path) {
                let path = dir.join("handles");
                fs::write(&path, "0123456789").unwrap();
                let file = File::open(&path).unwrap();
                let clone = file.try_clone().unwrap();
                let mut buf = [0; 3];
                story.tell(
                    file.as_handle().as_raw_handle() == file.as_raw_handle() && file.as_raw_handle() != clone.as_raw_handle(),
                );
                let raw = file.into_raw_handle();
                // SAFETY: the handle was given up the line before.
                let mut file = unsafe { File::from_raw_handle(raw) };
                story.result(file.read(&mut buf));
                let mut file = File::from(OwnedHandle::from(file));
                story.result(file.read(&mut buf));
                story.tell(buf);
            }

            fn errors(story: &mut Story, dir: &Path) {
                let missing = dir.join("missing");
                story.result(File::open(&missing).map(|_| ()));
                story.result(fs::read(missing.join("deeper")));
                story.result(fs::remove_dir(&missing));
                story.result(fs::rename(&missing, dir.join("other")));
                story.result(fs::create_dir(dir));
                story.result(fs::write(dir.join("a?b"), ""));
                story.result(File::open(dir).map(|_| ()));
                story.result(TcpStream::connect("no port").map(|_| ()));
                story.result(UdpSocket::bind(&[][..]).map(|_| ()));
                story.result(TcpListener::bind("192.0.2.1:0").map(|_| ()));
            }

            fn pair() -> (TcpStream, TcpStream) {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
                (client, listener.accept().unwrap().0)
            }

            fn connections(story: &mut Story) {
                let (mut client, mut server) = pair();
                story.result(client.set_nodelay(true));
                story.result(client.nodelay());
                story.result(client.write(b"hello"));
                story.result(server.peek(&mut [0; 3]));
                let mut text = [0; 5];
                story.result(server.read_exact(&mut text));
                story.tell(text);
                story.result(client.set_read_timeout(Some(Duration::from_millis(20))));
                story.tell(client.read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::TimedOut));
                story.result(client.shutdown(Shutdown::Write));
                story.result(server.read(&mut text));
                story.result(server.write_all(b"last"));
                drop(server);
                let mut all = Vec::new();
                story.result(client.read_to_end(&mut all));
                story.tell(all);
                let (client, _server) = pair();
                story.result(client.set_nonblocking(true));
                story.result((&client).read(&mut [0]));
            }

            fn sockets(story: &mut Story) {
                let (client, mut server) = pair();
                let clone = client.try_clone().unwrap();
                story.tell(
                    client.as_socket().as_raw_socket() == client.as_raw_socket()
                        && client.as_raw_socket() != clone.as_raw_socket(),
                );
                drop(clone);
                let raw = client.into_raw_socket();
                // SAFETY: the handle was given up the line before.
                let client = unsafe { TcpStream::from_raw_socket(raw) };
                let client = TcpStream::from(OwnedSocket::from(client));
                story.result((&client).write(b"whole"));
                drop(client);
                let mut text = String::new();
                story.result(server.read_to_string(&mut text));
                story.tell(text);
            }

            fn datagrams(story: &mut Story) {
                let [one, two] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
                let mut buf = [0; 8];
                story.result(one.send_to(b"hello", two.local_addr().unwrap()));
                story.result(two.recv_from(&mut buf).map(|(bytes, from)| (bytes, from == one.local_addr().unwrap())));
                story.result(one.connect(two.local_addr().unwrap()));
                story.result(one.send(b"more than fits"));
                // An error there, where Unix cuts it.
                story.result(two.recv(&mut buf));
                story.result(two.set_nonblocking(true));
                story.result(two.recv(&mut buf));
            }
        }
    };
}

story!(as_std, std::fs, std::net);
story!(as_ours, perfschema::fs, perfschema::net);

#[test]
fn the_story_is_the_same() {
    for &round in common::ROUNDS {
        #[cfg(feature = "instrument")]
        if round == "with" {
            tables::start();
        }
        let (ours, stds) = (folder(&format!("ours-{round}")), folder(&format!("std-{round}")));
        as_ours::tell(&ours).is_that_of(&as_std::tell(&stds), 60, round);
    }
}

#[cfg(feature = "instrument")]
mod tables {
    use super::folder;
    use perfschema::fs::Fs;
    use perfschema::net::Net;
    use perfschema::sync::Mutex;
    use perfschema::tables::{
        EventsWaitsHistory, EventsWaitsSummaryByThreadByEventName, EventsWaitsSummaryGlobalByEventName, FileInstances,
        SocketInstances, Threads, ThreadsRow,
    };
    use perfschema::{Lost, Process, thread};
    use std::io::{Read, Write};
    use std::os::windows::fs::FileExt;
    use std::os::windows::io::AsRawSocket;
    use std::path::Path;
    use std::sync::OnceLock;

    pub(crate) fn start() -> &'static Process {
        static STARTED: OnceLock<&'static Process> = OnceLock::new();
        STARTED.get_or_init(|| perfschema::builder().everything(true).environment(false).start().unwrap())
    }

    /// Operation, OBJECT_NAME and bytes of each of the calling thread's last events of the instrument, oldest first.
    fn told(name: &str) -> Vec<String> {
        let mut rows = Vec::new();
        start().region().scan(&EventsWaitsHistory, |row| {
            if Some(row.thread_id) == thread::thread_id() && row.event_name == name {
                rows.push(row.clone());
            }
        });
        rows.sort_by_key(|row| row.event_id);
        let told = rows.iter().map(|row| {
            let object = row.object_name.as_ref().map_or("NULL", |name| name.as_str());
            format!("{} {object} {}", row.operation, row.number_of_bytes.map_or("NULL".into(), |bytes| bytes.to_string()))
        });
        told.collect()
    }

    fn row_of(id: u64) -> Option<ThreadsRow> {
        let mut found = None;
        start().region().scan(&Threads, |row| {
            if row.thread_id == id {
                found = Some(row.clone());
            }
        });
        found
    }

    #[test]
    fn files_and_sockets_leave_events() {
        static FILES: Fs = perfschema::fs!("wait/io/file/test/events");
        static SOCKETS: Net = perfschema::net!("wait/io/socket/test/events", "wait/io/socket/test/accepted");
        start();
        let path = folder("events").join("file");
        let file = FILES.options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        file.seek_write(b"0123456789", 0).unwrap();
        file.seek_read(&mut [0; 100], 4).unwrap();
        drop(file);
        let shown = path.display();
        let expected = [("create", "NULL"), ("write", "10"), ("read", "6"), ("close", "NULL")];
        assert_eq!(told("wait/io/file/test/events"), expected.map(|(operation, bytes)| format!("{operation} {shown} {bytes}")));

        let listener = SOCKETS.bind_tcp("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let mut client = SOCKETS.connect_tcp(at).unwrap();
        let (mut server, peer) = listener.accept().unwrap();
        client.write_all(b"hello").unwrap();
        server.read_exact(&mut [0; 5]).unwrap();
        let mut rows = Vec::new();
        start().region().scan(&SocketInstances, |row| {
            if row.event_name.as_str().starts_with("wait/io/socket/test/") {
                rows.push((row.socket_id as u64, row.ip.to_string(), row.port as u16));
            }
        });
        let open = [(listener.as_raw_socket(), at), (client.as_raw_socket(), at), (server.as_raw_socket(), peer)];
        assert_eq!(rows, open.map(|(socket, leads_to)| (socket, leads_to.ip().to_string(), leads_to.port())));
        drop(server);
        let expected =
            ["recv", "close"].map(|operation| format!("{operation} {peer} {}", if operation == "recv" { "5" } else { "NULL" }));
        assert_eq!(told("wait/io/socket/test/accepted"), expected);
    }

    /// Whichever slash there is.
    #[test]
    fn folders_take_their_files_along() {
        static FILES: Fs = perfschema::fs!("wait/io/file/test/folders");
        start();
        let dir = folder("folders");
        let (dir, old, new) = (dir.to_str().unwrap(), dir.join("old"), dir.join("new"));
        FILES.create_dir_all(old.join("deep")).unwrap();
        for file in ["old\\a", "old/b", "old\\deep/c", "older"] {
            FILES.write(format!("{dir}\\{file}"), "1").unwrap();
        }
        let names = || {
            let mut names = Vec::new();
            start().region().scan(&FileInstances, |row| {
                names.extend(row.file_name.as_str().strip_prefix(dir).map(str::to_owned));
            });
            names.sort();
            names
        };
        FILES.rename(&old, &new).unwrap();
        assert_eq!(names(), ["\\new/b", "\\new\\a", "\\new\\deep/c", "\\older"]);
        FILES.remove_dir_all(&new).unwrap();
        assert_eq!(names(), ["\\older"]);
    }

    /// The whole of it, and none is inherited.
    #[test]
    fn threads_are_numbered_and_named_as_the_system_has_them() {
        start();
        let me = || row_of(thread::thread_id().unwrap()).unwrap();
        let own = |row: &ThreadsRow| row.name.as_str().rsplit('/').next().unwrap().to_owned();
        let name = "a name of more than fifteen bytes, größer";
        let builder = std::thread::Builder::new().name(name.into());
        let ((parent, child), program) = std::thread::scope(|scope| {
            let named = builder.spawn_scoped(scope, || (me(), std::thread::spawn(me).join().unwrap())).unwrap();
            (named.join().unwrap(), std::env::current_exe().unwrap())
        });
        assert_eq!((own(&parent), own(&child)), (name.into(), "unnamed".into()));
        let program = Path::new(&program).file_name().unwrap().to_str().unwrap();
        assert!(parent.name.as_str().starts_with(&format!("thread/{program}/")), "{parent:?}");
        assert!(parent.thread_os_id != child.thread_os_id && parent.thread_os_id.is_some_and(|id| id > 0), "{parent:?}");
        let long = std::thread::Builder::new().name("n".repeat(300)).spawn(me).unwrap().join().unwrap();
        assert_eq!(own(&long), "unnamed", "longer than what is asked for");
    }

    static LOCK: Mutex<u64> = perfschema::mutex!("wait/synch/mutex/test/ends", 0);

    /// Records when its thread ends, and what it makes does, too.
    struct AtEnd(u32);

    impl Drop for AtEnd {
        fn drop(&mut self) {
            *LOCK.lock().unwrap() += 1;
            if let Some(left) = self.0.checked_sub(1) {
                // The one that is being destroyed cannot be used any more; the other is made anew.
                let _ = [&FIRST, &SECOND].map(|other| other.try_with(|place| place.set(Some(AtEnd(left)))));
            }
        }
    }

    thread_local! {
        static FIRST: std::cell::Cell<Option<AtEnd>> = const { std::cell::Cell::new(None) };
        static SECOND: std::cell::Cell<Option<AtEnd>> = const { std::cell::Cell::new(None) };
    }

    /// Each thread has one row, also where its destructors record, and none when it has ended.
    #[test]
    fn what_destructors_record_is_the_threads() {
        start();
        let locked = *LOCK.lock().unwrap();
        let ends = |first: bool| {
            move || {
                if first {
                    // Before it has an actor, so that in a list of destructors its own are the first.
                    FIRST.set(Some(AtEnd(2)));
                }
                drop(LOCK.lock());
                SECOND.set(Some(AtEnd(2)));
                thread::thread_id().unwrap()
            }
        };
        let handles: Vec<_> = (0..50).map(|number| std::thread::spawn(ends(number % 2 == 0))).collect();
        let ids: Vec<u64> = handles.into_iter().map(|handle| handle.join().unwrap()).collect();
        let locks = *LOCK.lock().unwrap() - locked;
        assert!(locks >= 50, "{locks}");
        for id in &ids {
            assert!(row_of(*id).is_none());
        }
        // All that they recorded is theirs: of 50 threads nobody else has used the lock but this one.
        let region = start().region();
        let (mut all, mut mine) = (0, 0);
        region.scan(&EventsWaitsSummaryGlobalByEventName, |row| {
            if row.event_name == "wait/synch/mutex/test/ends" {
                all = row.count_star;
            }
        });
        region.scan(&EventsWaitsSummaryByThreadByEventName, |row| {
            if row.event_name == "wait/synch/mutex/test/ends" && Some(row.thread_id) == thread::thread_id() {
                mine = row.count_star;
            }
        });
        assert_eq!((all, mine), (50 + locks + 2, 2));
        assert_eq!(region.lost(Lost::ThreadInstances), 0);
        // No destructor has taken a second slot: the next thread has the next number, but for those of other tests.
        let most = ids.iter().max().unwrap();
        assert!(ids.len() as u64 <= *most && *most <= ids.iter().min().unwrap() + 50 + 10, "{ids:?}");
    }
}

/// The twins of tokio's files and sockets: what they leave in the tables.
#[cfg(feature = "tokio")]
#[test]
fn tasks_use_files_and_sockets() {
    use perfschema::tokio::fs::OpenOptions;
    use perfschema::tokio::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::windows::io::{AsHandle, AsRawHandle, AsRawSocket, AsSocket};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let region = tables::start().region();
    let path = folder("tokio").join("file");
    let story = async {
        let mut file = OpenOptions::new().write(true).create(true).share_mode(3).attributes(0).open(&path).await.unwrap();
        file.write_all(b"0123").await.unwrap();
        file.flush().await.unwrap();
        assert_eq!(file.as_handle().as_raw_handle(), file.as_raw_handle());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        assert_eq!(client.as_socket().as_raw_socket(), client.as_raw_socket());
        let (sent, received) = tokio::join!(client.write_all(b"to the server"), async {
            let mut buf = [0; 13];
            server.read_exact(&mut buf).await.map(|_| buf)
        });
        sent.unwrap();
        assert_eq!(&received.unwrap(), b"to the server");
        let [one, two] = [UdpSocket::bind("127.0.0.1:0").await.unwrap(), UdpSocket::bind("127.0.0.1:0").await.unwrap()];
        one.send_to(b"you", two.local_addr().unwrap()).await.unwrap();
        assert_eq!(two.recv_from(&mut [0; 9]).await.unwrap().0, 3);
        perfschema::thread::thread_id().unwrap()
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    runtime.block_on(perfschema::task::attach("task/test/story", async {
        let id = story.await;
        let mut events = Vec::new();
        region.scan(&perfschema::tables::EventsWaitsHistoryLong, |row| {
            if row.thread_id == id {
                events.push((row.event_id, format!("{} {:?}", row.operation, row.number_of_bytes)));
            }
        });
        events.sort();
        sender.send(events).unwrap();
    }));
    let events: Vec<String> = receiver.recv().unwrap().into_iter().map(|(_, event)| event).collect();
    for expected in ["send Some(13)", "recv Some(13)", "sendto Some(3)", "recvfrom Some(3)"] {
        assert!(events.iter().any(|event| event == expected), "{expected}: {events:?}");
    }
}

/// What there is no twin of is tokio's, under the same name.
#[cfg(feature = "tokio")]
#[test]
fn named_pipes_are_tokios() {
    let options: fn() -> tokio::net::windows::named_pipe::ClientOptions =
        perfschema::tokio::net::windows::named_pipe::ClientOptions::new;
    assert_eq!(options().open(r"\\.\pipe\perfschema-nobody").unwrap_err().kind(), std::io::ErrorKind::NotFound);
}
