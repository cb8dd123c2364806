//! The paths of files, sockets, memory and tasks: each as std, or tokio, does it, and hooked.

use crate::paths::Goal::{TimerPairs, Times};
use crate::paths::{Bench, Path, off, visible};
use perfschema::alloc::Allocator;
use perfschema_timer::{Clock, SystemClock, TimerName};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::RefCell;
use std::hint::black_box;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// What they work on. `hooked` is ours, `plain` what it wraps.
pub(crate) struct Io {
    files: Files,
    hooked_pair: [perfschema::net::TcpStream; 2],
    plain_pair: [std::net::TcpStream; 2],
    hooked_unix: [perfschema::os::unix::net::UnixStream; 2],
    plain_unix: [std::os::unix::net::UnixStream; 2],
    /// The other end sends back what it receives, in a thread of its own, until this end is closed.
    hooked_echo: perfschema::net::TcpStream,
    plain_echo: std::net::TcpStream,
    runtime: tokio::runtime::Runtime,
    hooked_tokio: RefCell<[perfschema::tokio::net::UnixStream; 2]>,
    plain_tokio: RefCell<[tokio::net::UnixStream; 2]>,
    hooked_task: RefCell<Pin<Box<dyn Future<Output = ()>>>>,
    plain_task: RefCell<Pin<Box<dyn Future<Output = ()>>>>,
}

/// Both ends of a connection over loopback.
macro_rules! pair {
    ($listener:ident, $stream:ident) => {{
        let listener = $listener::bind("127.0.0.1:0").expect("there is loopback");
        let client = $stream::connect(listener.local_addr().expect("it is bound")).expect("there is loopback");
        let (server, _) = listener.accept().expect("it was connected");
        for stream in [&client, &server] {
            stream.set_nodelay(true).expect("it is open");
        }
        [client, server]
    }};
}

/// One end of such a connection; at the other one a thread sends back what it receives.
macro_rules! echo {
    ($listener:ident, $stream:ident) => {{
        let [client, mut server] = pair!($listener, $stream);
        std::thread::spawn(move || {
            let mut byte = [0];
            while server.read(&mut byte).is_ok_and(|received| received == 1) && server.write_all(&byte).is_ok() {}
        });
        client
    }};
}

impl Io {
    pub(crate) fn new() -> Io {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_io().build().expect("the system lets it wait for events");
        let _within = runtime.enter();
        // The others' instruments are registered when they are opened.
        come_and_go(&HEAP);
        let (hooked, plain) = (perfschema::tokio::net::UnixStream::pair(), tokio::net::UnixStream::pair());
        Io {
            files: Files::new(),
            hooked_pair: {
                use perfschema::net::{TcpListener, TcpStream};
                pair!(TcpListener, TcpStream)
            },
            plain_pair: {
                use std::net::{TcpListener, TcpStream};
                pair!(TcpListener, TcpStream)
            },
            hooked_unix: perfschema::os::unix::net::UnixStream::pair().expect("there are descriptors").into(),
            plain_unix: std::os::unix::net::UnixStream::pair().expect("there are descriptors").into(),
            hooked_echo: {
                use perfschema::net::{TcpListener, TcpStream};
                echo!(TcpListener, TcpStream)
            },
            plain_echo: {
                use std::net::{TcpListener, TcpStream};
                echo!(TcpListener, TcpStream)
            },
            hooked_tokio: RefCell::new(hooked.expect("there are descriptors").into()),
            plain_tokio: RefCell::new(plain.expect("there are descriptors").into()),
            hooked_task: RefCell::new(Box::pin(perfschema::task::attach(
                "task/bench/task",
                std::future::poll_fn(|_| Poll::Pending),
            ))),
            plain_task: RefCell::new(Box::pin(std::future::poll_fn(|_| Poll::Pending))),
            runtime,
        }
    }
}

/// A file of some pages that the kernel has in memory.
struct Files {
    path: PathBuf,
    hooked: perfschema::fs::File,
    plain: std::fs::File,
}

static FILES: perfschema::fs::Fs = perfschema::fs!("wait/io/file/bench/file");
const PAGE: usize = 4096;

impl Files {
    fn new() -> Files {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("perfschema-bench-{}-{number}", std::process::id()));
        std::fs::write(&path, [1; 4 * PAGE]).expect("the system's folder for temporary files takes one");
        let hooked = FILES.open(&path).expect("it was just written");
        Files { hooked, plain: std::fs::File::open(&path).expect("it was just written"), path }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A page read from the page cache.
macro_rules! reads {
    ($name:ident, $file:ident) => {
        fn $name(bench: &Bench, count: u32) {
            let io = &*bench.io;
            let mut page = [0; PAGE];
            for _ in 0..count {
                let read = black_box(&io.files.$file).read_at(black_box(&mut page), PAGE as u64);
                assert!(read.is_ok_and(|read| read == PAGE));
            }
        }
    };
}
reads!(hooked_reads, hooked);
reads!(plain_reads, plain);

/// The clock read before and after: what of an event's cost is the clock's, where it is read around a call of the system.
#[inline(always)]
fn timed<R>(call: impl FnOnce() -> R) -> R {
    black_box(SystemClock.ticks(TimerName::Cycle));
    let result = call();
    black_box(SystemClock.ticks(TimerName::Cycle));
    result
}

fn timed_reads(bench: &Bench, count: u32) {
    let io = &*bench.io;
    let mut page = [0; PAGE];
    for _ in 0..count {
        let read = timed(|| black_box(&io.files.plain).read_at(black_box(&mut page), PAGE as u64));
        assert!(read.is_ok_and(|read| read == PAGE));
    }
}

fn timed_opens(bench: &Bench, count: u32) {
    let io = &*bench.io;
    for _ in 0..count {
        let file = timed(|| std::fs::File::open(black_box(&io.files.path)));
        timed(|| drop(file));
    }
}

fn timed_ping_pongs(bench: &Bench, count: u32) {
    let [client, server] = &bench.io.plain_pair;
    for _ in 0..count {
        for (mut from, mut to) in [(client, server), (server, client)] {
            let sent = timed(|| from.write(black_box(&[1]))).is_ok_and(|sent| sent == 1);
            let received = timed(|| to.read(black_box(&mut [0]))).is_ok_and(|received| received == 1);
            assert!(sent && received);
        }
    }
}

#[inline(always)]
fn pass_a_byte(mut from: impl Write, mut to: impl Read) {
    let sent = from.write(black_box(&[1])).is_ok_and(|sent| sent == 1);
    let received = to.read(black_box(&mut [0])).is_ok_and(|received| received == 1);
    assert!(sent && received);
}

/// A byte to the other end and one back: two that are sent and two that are received, all by one thread, so that no switch between
/// threads hides what recording costs.
macro_rules! ping_pongs {
    ($name:ident, $pair:ident) => {
        fn $name(bench: &Bench, count: u32) {
            let [client, server] = &bench.io.$pair;
            for _ in 0..count {
                pass_a_byte(client, server);
                pass_a_byte(server, client);
            }
        }
    };
}
ping_pongs!(hooked_ping_pongs, hooked_pair);
ping_pongs!(plain_ping_pongs, plain_pair);

/// A byte through a Unix pair, sent and received by one thread.
macro_rules! unix_pairs {
    ($name:ident, $pair:ident) => {
        fn $name(bench: &Bench, count: u32) {
            let [one, other] = &bench.io.$pair;
            (0..count).for_each(|_| pass_a_byte(one, other));
        }
    };
}
unix_pairs!(hooked_unix_pairs, hooked_unix);
unix_pairs!(plain_unix_pairs, plain_unix);

/// A byte to another thread and one back.
macro_rules! echoes {
    ($name:ident, $echo:ident) => {
        fn $name(bench: &Bench, count: u32) {
            let client = &bench.io.$echo;
            (0..count).for_each(|_| pass_a_byte(client, client));
        }
    };
}
echoes!(hooked_echoes, hooked_echo);
echoes!(plain_echoes, plain_echo);

/// A byte through a Unix pair of tokio's, sent and received by one task.
macro_rules! tokio_pairs {
    ($name:ident, $pair:ident) => {
        fn $name(bench: &Bench, count: u32) {
            let io = &*bench.io;
            let [one, other] = &mut *io.$pair.borrow_mut();
            io.runtime.block_on(async {
                let mut byte = [0];
                for _ in 0..count {
                    let sent = one.write(black_box(&[1])).await.is_ok_and(|sent| sent == 1);
                    let received = other.read(black_box(&mut byte)).await.is_ok_and(|received| received == 1);
                    assert!(sent && received);
                }
            });
        }
    };
}
tokio_pairs!(hooked_tokio_pairs, hooked_tokio);
tokio_pairs!(plain_tokio_pairs, plain_tokio);

/// A poll of a task that has nothing to do.
macro_rules! polls {
    ($name:ident, $task:ident) => {
        fn $name(bench: &Bench, count: u32) {
            let io = &*bench.io;
            let mut task = io.$task.borrow_mut();
            let mut context = Context::from_waker(Waker::noop());
            for _ in 0..count {
                assert!(black_box(&mut *task).as_mut().poll(&mut context).is_pending());
            }
        }
    };
}
polls!(hooked_polls, hooked_task);
polls!(plain_polls, plain_task);

static HEAP: Allocator = perfschema::allocator!("memory/bench/heap");

/// A block that comes and goes.
macro_rules! blocks {
    ($name:ident, $allocator:expr) => {
        fn $name(_: &Bench, count: u32) {
            for _ in 0..count {
                come_and_go(black_box(&$allocator));
            }
        }
    };
}
blocks!(hooked_blocks, HEAP);
blocks!(plain_blocks, System);

#[inline(always)]
fn come_and_go(allocator: &impl GlobalAlloc) {
    let layout = Layout::new::<[u64; 8]>();
    // SAFETY: the layout's size is not zero.
    let block = black_box(unsafe { allocator.alloc(black_box(layout)) });
    assert!(!block.is_null());
    // SAFETY: it was allocated by the same allocator, of the same layout, and is used by nobody else.
    unsafe { allocator.dealloc(block, layout) };
}

fn hooked_opens(bench: &Bench, count: u32) {
    let io = &*bench.io;
    for _ in 0..count {
        drop(FILES.open(black_box(&io.files.path)));
    }
}

fn plain_opens(bench: &Bench, count: u32) {
    let io = &*bench.io;
    for _ in 0..count {
        drop(std::fs::File::open(black_box(&io.files.path)));
    }
}

/// Events of a batch that calls the system: once, and more often or for longer.
const CALLS: u32 = 500;
const LONG_CALLS: u32 = 50;

/// Of files, sockets, memory and tasks, each behind that without hooks.
pub(crate) const IO: &[Path] = &[
    Path::new("std read_at, 4 KiB", "", |_| (), plain_reads).calls_system(CALLS),
    Path::new("std read_at, 4 KiB", "timer pair", |_| (), timed_reads)
        .calls_system(CALLS)
        .over("std read_at, 4 KiB")
        .goal(TimerPairs(1.3)),
    Path::new("read_at, 4 KiB", "off", off, hooked_reads).calls_system(CALLS).over("std read_at, 4 KiB").instructions(8.0),
    Path::new("read_at, 4 KiB", "timed, visible, history", visible, hooked_reads)
        .calls_system(CALLS)
        .over("std read_at, 4 KiB")
        .goal(TimerPairs(1.3)),
    Path::new("read_at, 4 KiB", "everything on", Bench::everything_on, hooked_reads)
        .calls_system(CALLS)
        .over("std read_at, 4 KiB")
        .goal(TimerPairs(1.3)),
    Path::new("std open, close", "", |_| (), plain_opens).calls_system(LONG_CALLS),
    Path::new("std open, close", "timer pairs", |_| (), timed_opens)
        .calls_system(LONG_CALLS)
        .over("std open, close")
        .goal(Times(1.05)),
    Path::new("open, close", "off", off, hooked_opens).calls_system(LONG_CALLS).over("std open, close").goal(Times(1.05)),
    Path::new("open, close", "timed, visible, history", visible, hooked_opens)
        .calls_system(LONG_CALLS)
        .over("std open, close")
        .goal(Times(1.05)),
    Path::new("open, close", "everything on", Bench::everything_on, hooked_opens)
        .calls_system(LONG_CALLS)
        .over("std open, close")
        .goal(Times(1.05)),
    // Four calls.
    Path::new("std TCP ping-pong", "", |_| (), plain_ping_pongs).calls_system(LONG_CALLS),
    Path::new("std TCP ping-pong", "timer pairs", |_| (), timed_ping_pongs)
        .calls_system(LONG_CALLS)
        .over("std TCP ping-pong")
        .goal(Times(1.02)),
    Path::new("TCP ping-pong", "off", off, hooked_ping_pongs)
        .calls_system(LONG_CALLS)
        .over("std TCP ping-pong")
        .instructions(32.0),
    Path::new("TCP ping-pong", "timed, visible, history", visible, hooked_ping_pongs)
        .calls_system(LONG_CALLS)
        .over("std TCP ping-pong")
        .goal(Times(1.02)),
    Path::new("TCP ping-pong", "everything on", Bench::everything_on, hooked_ping_pongs)
        .calls_system(LONG_CALLS)
        .over("std TCP ping-pong")
        .goal(Times(1.02)),
    // Two calls here, two there; instructions are those of one of the threads. Whether a thread is still awake when its byte comes decides
    // about twice the time, so of these the least batches are compared.
    Path::new("std TCP, two threads", "", |_| (), plain_echoes).batch(LONG_CALLS).threads(2),
    Path::new("TCP, two threads", "off", off, hooked_echoes)
        .batch(LONG_CALLS)
        .threads(2)
        .over("std TCP, two threads")
        .instructions(16.0),
    Path::new("TCP, two threads", "timed, visible, history", visible, hooked_echoes)
        .batch(LONG_CALLS)
        .threads(2)
        .over("std TCP, two threads")
        .goal(Times(1.02)),
    Path::new("TCP, two threads", "everything on", Bench::everything_on, hooked_echoes)
        .batch(LONG_CALLS)
        .threads(2)
        .over("std TCP, two threads")
        .goal(Times(1.02)),
    // Two calls.
    Path::new("std Unix pair", "", |_| (), plain_unix_pairs).calls_system(LONG_CALLS),
    Path::new("Unix pair", "off", off, hooked_unix_pairs).calls_system(LONG_CALLS).over("std Unix pair").instructions(16.0),
    Path::new("Unix pair", "timed, visible, history", visible, hooked_unix_pairs).calls_system(LONG_CALLS).over("std Unix pair"),
    Path::new("Unix pair", "everything on", Bench::everything_on, hooked_unix_pairs)
        .calls_system(LONG_CALLS)
        .over("std Unix pair"),
    Path::new("tokio's Unix pair", "", |_| (), plain_tokio_pairs).calls_system(LONG_CALLS),
    Path::new("twin of a Unix pair", "off", off, hooked_tokio_pairs)
        .calls_system(LONG_CALLS)
        .over("tokio's Unix pair")
        .instructions(16.0),
    Path::new("twin of a Unix pair", "timed, visible, history", visible, hooked_tokio_pairs)
        .calls_system(LONG_CALLS)
        .over("tokio's Unix pair"),
    Path::new("twin of a Unix pair", "everything on", Bench::everything_on, hooked_tokio_pairs)
        .calls_system(LONG_CALLS)
        .over("tokio's Unix pair"),
    Path::new("poll of a task", "", |_| (), plain_polls),
    Path::new("poll, attached", "off", off, hooked_polls).over("poll of a task"),
    Path::new("poll, attached", "everything on", Bench::everything_on, hooked_polls).over("poll of a task"),
    // One that comes, one that goes.
    Path::new("System, 64 bytes", "", |_| (), plain_blocks),
    Path::new("allocator!, 64 bytes", "off", off, hooked_blocks).over("System, 64 bytes").instructions(16.0),
    Path::new("allocator!, 64 bytes", "on", Bench::everything_on, hooked_blocks).over("System, 64 bytes"),
];
