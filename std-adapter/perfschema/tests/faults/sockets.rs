//! Sockets of a program that has a process of its own: what strace and the peer say of them, beside what the tables say; and bad days.

use crate::{argument, command, succeeds};
use perfschema::net::{Idle, Net, Shutdown, TcpListener, TcpStream, UdpSocket};
use perfschema::os::unix::net::{UnixDatagram, UnixStream};
use perfschema::tables::{EventsWaitsHistoryLong, SocketInstances, SocketSummaryByEventName, SocketSummaryByInstance};
use perfschema::{Lost, Region, Size, builder};
use std::collections::BTreeMap;
use std::io::{ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::path::{Path, PathBuf};

static OWN: Net = perfschema::net!("wait/io/socket/test/own");

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("faults-sockets").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

pub(crate) fn program() {
    let (what, dir) = argument().split_once(' ').map(|(what, dir)| (what.to_owned(), PathBuf::from(dir))).unwrap();
    match &*what {
        "traced" => traced(&dir),
        "descriptors" => descriptors(),
        "full" => full(),
        "interrupted" => interrupted(),
        "forks" => forks(),
        _ => panic!("no program {what}"),
    }
}

/// Bytes received and sent, and how often, over all instruments.
fn sums(region: &Region<'_>) -> [u64; 4] {
    let mut sums = [0; 4];
    region.scan(&SocketSummaryByEventName, |row| {
        let of_row = [row.sum_number_of_bytes_read, row.sum_number_of_bytes_write, row.count_read, row.count_write];
        sums.iter_mut().zip(of_row).for_each(|(sum, value)| *sum += value);
    });
    sums
}

/// Bytes received and sent, of each socket that is open.
fn by_instance(region: &Region<'_>) -> Vec<[u64; 2]> {
    let mut rows = Vec::new();
    region.scan(&SocketSummaryByInstance, |row| rows.push([row.sum_number_of_bytes_read, row.sum_number_of_bytes_write]));
    rows.sort_unstable();
    rows
}

fn sockets(region: &Region<'_>) -> usize {
    let mut count = 0;
    region.scan(&SocketInstances, |_| count += 1);
    count
}

fn connected(address: &str) -> [TcpStream; 2] {
    let listener = TcpListener::bind(address).unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    [client, listener.accept().unwrap().0]
}

/// Sends all that `one` has to send to `two`, in pieces of other sizes; short reads and failures among them.
fn talk(mut one: impl Read + Write, mut two: impl Read + Write) {
    one.write_all(&[1; 3000]).unwrap();
    let mut left = 3000;
    while left > 0 {
        left -= two.read(&mut [0; 777]).unwrap();
    }
    assert_eq!(one.write_vectored(&[IoSlice::new(b"ab"), IoSlice::new(b"cde")]).unwrap(), 5);
    assert_eq!(two.read_vectored(&mut [IoSliceMut::new(&mut [0; 3]), IoSliceMut::new(&mut [0; 4])]).unwrap(), 5);
    two.write_all(b"answer").unwrap();
    one.read_exact(&mut [0; 6]).unwrap();
}

/// In one thread, so that strace writes each call in one line.
fn traced(dir: &Path) {
    let region = builder().everything(true).start().unwrap().region();
    for address in ["127.0.0.1:0", "[::1]:0"] {
        // A kernel without IPv6 is told of by the tests beside std's.
        if std::net::UdpSocket::bind(address).is_err() {
            continue;
        }
        let [one, two] = connected(address);
        talk(&one, &two);
        one.set_nonblocking(true).unwrap();
        assert_eq!((&one).read(&mut [0; 9]).unwrap_err().kind(), ErrorKind::WouldBlock);
        one.shutdown(Shutdown::Write).unwrap();
        assert_eq!((&two).read(&mut [0; 9]).unwrap(), 0);
        assert_eq!((&one).write(b"lost").unwrap_err().kind(), ErrorKind::BrokenPipe);
        (&two).write_all(b"half closed").unwrap();
        one.set_nonblocking(false).unwrap();
        assert_eq!(one.peek(&mut [0; 4]).unwrap(), 4);
        assert_eq!(one.idle(|mut one| one.read(&mut [0; 4])).unwrap(), 4);
        (&one).read_exact(&mut [0; 7]).unwrap();
        // What each end has sent is what the other has received.
        assert_eq!(by_instance(region), [[17, 3005], [3005, 17]]);
    }
    let [one, two] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    one.send_to(&[0; 100], two.local_addr().unwrap()).unwrap();
    assert_eq!(two.recv_from(&mut [0; 60]).unwrap().0, 60);
    assert_eq!(by_instance(region), [[0, 100], [60, 0]]);
    let (three, four) = UnixDatagram::pair().unwrap();
    three.send(b"pair").unwrap();
    four.recv(&mut [0; 9]).unwrap();
    let (five, six) = UnixStream::pair().unwrap();
    talk(&five, &six);
    let [read, written, reads, writes] = sums(region);
    let mut lines = format!("read {read} {reads}\nwritten {written} {writes}\n");
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    region.scan(&EventsWaitsHistoryLong, |row| {
        if row.event_name.as_str().starts_with("wait/io/socket/") {
            *counts.entry(row.operation).or_default() += 1;
        }
    });
    counts.iter().for_each(|(operation, count)| lines.push_str(&format!("{operation} {count}\n")));
    std::fs::write(dir.join("sums"), lines).unwrap();
    // From here on strace sees closes that nobody counts.
    std::process::exit(0);
}

/// Bytes and calls of all sockets, as strace writes them: `sendto(3<socket:[123]>, …) = 100`.
#[test]
fn bytes_and_calls_are_those_that_strace_sees() {
    if std::process::Command::new("strace").arg("-V").output().is_err() {
        // ci/unit installs it.
        assert!(std::env::var_os("PERFSCHEMA_STRACE").is_none(), "strace is not there");
        return;
    }
    let dir = folder("strace");
    let program = command("sockets", &format!("traced {}", dir.display()));
    let mut strace = std::process::Command::new("strace");
    strace.args(["-f", "-y", "-s", "0", "-e", "trace=network,read,readv,write,writev", "-o"]).arg(dir.join("trace"));
    strace.arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => strace.env(name, value),
            None => strace.env_remove(name),
        };
    }
    succeeds(&mut strace);
    let trace = std::fs::read_to_string(dir.join("trace")).unwrap();
    let sums = std::fs::read_to_string(dir.join("sums")).unwrap();
    let recorded = |name: &str| {
        let line = sums.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).unwrap_or("0");
        line.split(' ').map(|number| number.parse().unwrap()).collect::<Vec<u64>>()
    };
    // Bytes and calls.
    let seen = |calls: &[&str]| {
        let mut seen = [0, 0];
        for line in trace.lines().filter(|line| line.contains("<socket:[") && !line.contains("MSG_PEEK")) {
            let call = line.split_once(' ').unwrap().1.trim_start();
            if calls.iter().any(|name| call.starts_with(&format!("{name}("))) {
                assert!(!call.contains("unfinished"), "{line}");
                let result = call.rsplit_once(") = ").unwrap().1.split(' ').next().unwrap();
                seen[0] += result.parse::<u64>().unwrap_or(0);
                seen[1] += 1;
            }
        }
        seen
    };
    let calls = |calls: &[&str]| vec![seen(calls)[1]];
    assert_eq!(recorded("read"), seen(&["recvfrom", "recvmsg", "read", "readv"]), "{sums}");
    assert_eq!(recorded("written"), seen(&["sendto", "sendmsg", "write", "writev"]), "{sums}");
    assert_eq!(recorded("connect"), calls(&["connect"]), "{sums}");
    assert_eq!(recorded("accept"), calls(&["accept4", "accept"]), "{sums}");
    assert_eq!(recorded("shutdown"), calls(&["shutdown"]), "{sums}");
    // The program looks with std's whether there is IPv6.
    let probes = trace.lines().filter(|line| line.contains(" bind(") && line.contains("SOCK_DGRAM")).count() as u64;
    assert!(recorded("bind")[0] + 2 + probes >= seen(&["bind"])[1], "{sums}");
}

/// No descriptor is left.
fn descriptors() {
    let region = builder().everything(true).start().unwrap().region();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let limit = libc::rlimit { rlim_cur: 20, rlim_max: 20 };
    // SAFETY: the limit is a struct of the type that is asked for.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
    let mut streams = Vec::new();
    let error = loop {
        match OWN.connect_tcp(at) {
            Ok(stream) => streams.push(stream),
            Err(error) => break error,
        }
    };
    assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
    assert_eq!(listener.accept().unwrap_err().raw_os_error(), Some(libc::EMFILE));
    assert_eq!(streams[0].try_clone().unwrap_err().raw_os_error(), Some(libc::EMFILE));
    assert_eq!(UnixStream::pair().unwrap_err().raw_os_error(), Some(libc::EMFILE));
    assert_eq!(sockets(region), 1 + streams.len());
    streams.truncate(3);
    // What was refused can be accepted now.
    let accepted = listener.accept().unwrap();
    assert_eq!(sockets(region), 1 + 3 + 1);
    // The failed ones were waits, too.
    let mut operations = BTreeMap::new();
    region.scan(&EventsWaitsHistoryLong, |row| *operations.entry(row.operation).or_insert(0) += 1);
    assert_eq!(operations["accept"], 2);
    drop(accepted);
}

#[test]
fn no_descriptor_is_left() {
    succeeds(&mut command("sockets", "descriptors -"));
}

/// The region has room for two sockets and for one instrument: the program sees nothing of that.
fn full() {
    static LATE: Net = perfschema::net!("wait/io/socket/test/late");
    let small = builder().everything(true).size(Size::MaxSocketInstances, 2).size(Size::MaxSocketClasses, 1);
    let region = small.size(Size::MaxThreadInstances, 1).start().unwrap().region();
    let [one, two] = connected("127.0.0.1:0");
    let others: Vec<UdpSocket> = (0..6).map(|_| LATE.bind_udp("127.0.0.1:0").unwrap()).collect();
    for socket in &others {
        socket.send_to(b"12345", socket.local_addr().unwrap()).unwrap();
        // Nor has this thread a slot.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(socket.idle(|socket| socket.recv(&mut [0; 9])).unwrap(), 5);
                (&one).write_all(b"67").unwrap();
            });
        });
        (&two).read_exact(&mut [0; 2]).unwrap();
    }
    // The first instrument is that of the listener; of all others nothing is known.
    assert!(region.lost(Lost::SocketClasses) >= 2, "{}", region.lost(Lost::SocketClasses));
    assert_eq!(sums(region), [0; 4]);
    assert_eq!(sockets(region), 0);
    // With an instrument, but without a place.
    let listeners: Vec<TcpListener> = (0..5).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    assert_eq!((sockets(region), region.lost(Lost::SocketInstances)), (2, 3));
    for listener in &listeners {
        listener.set_nonblocking(true).unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    }
    let mut operations = 0;
    region.scan(&SocketSummaryByEventName, |row| operations += row.count_misc);
    // bind, stat, accept and close of the first; bind, opt and accept of the others. Not stat: nobody asked.
    assert_eq!(operations, 4 + 5 * 3);
    drop(listeners);
    let _again = TcpListener::bind("127.0.0.1:0").unwrap();
    assert_eq!((sockets(region), region.lost(Lost::SocketInstances)), (1, 3));
}

#[test]
fn a_full_region_is_not_the_programs_business() {
    succeeds(&mut command("sockets", "full -"));
}

extern "C" fn on_signal(_: libc::c_int) {}

/// A call that a signal interrupts says so, as std's does.
fn interrupted() {
    let region = builder().everything(true).start().unwrap().region();
    // SAFETY: a zeroed struct is one without flags: nothing is restarted.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = on_signal as *const () as usize;
    let (one, two) = UnixStream::pair().unwrap();
    let (plain, _plain_too) = std::os::unix::net::UnixStream::pair().unwrap();
    // SAFETY: the handler does nothing; the struct is of the type that is asked for.
    assert_eq!(unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()) }, 0);
    // The signal comes again and again, until each call was met.
    // SAFETY: the thread is the calling one.
    let me = unsafe { libc::pthread_self() };
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                // SAFETY: the thread lives until `done`, and the signal has a handler.
                unsafe { libc::pthread_kill(me, libc::SIGUSR1) };
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        });
        let _at_last = crate::AtLast(&done);
        let [ours, stds] = [(&one).read(&mut [0; 9]), (&plain).read(&mut [0; 9])].map(|result| result.unwrap_err());
        assert_eq!((ours.kind(), ours.raw_os_error()), (ErrorKind::Interrupted, stds.raw_os_error()));
        assert_eq!(one.idle(|mut one| one.read(&mut [0; 9])).unwrap_err().kind(), ErrorKind::Interrupted);
    });
    let _ = two;
    assert_eq!(sums(region), [0, 0, 2, 0], "two calls that brought nothing");
}

#[test]
fn a_call_that_is_interrupted_says_so() {
    succeeds(&mut command("sockets", "interrupted -"));
}

/// A child has the sockets, and nothing that the parent counted; who was idle in the parent is so there.
fn forks() {
    let region = builder().everything(true).start().unwrap().region();
    let (mut one, mut two) = UnixStream::pair().unwrap();
    one.write_all(b"parent").unwrap();
    let idle = || {
        let mut idle = 0;
        region.scan(&SocketInstances, |row| idle += u32::from(row.state == "IDLE"));
        idle
    };
    // SAFETY: the child does nothing that a child of one thread may not do, and ends at once.
    let pid = two.idle(|_| unsafe { libc::fork() });
    if pid == 0 {
        let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            // The call of idle has ended here, too.
            assert_eq!(idle(), 0);
            two.read_exact(&mut [0; 6]).unwrap();
            two.write_all(b"and child").unwrap();
            assert_eq!(sums(region), [6, 9, 1, 1]);
            assert_eq!((by_instance(region), sockets(region)), (vec![[0, 0], [6, 9]], 2));
            drop(one);
            assert_eq!(sockets(region), 1);
        }));
        // SAFETY: ends the child without what the parent does at its end.
        unsafe { libc::_exit(i32::from(told.is_err())) };
    }
    let mut status = 0;
    // SAFETY: `status` is a place to write to.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    assert_eq!(status, 0);
    one.read_exact(&mut [0; 9]).unwrap();
    assert_eq!((sums(region), sockets(region), idle()), ([9, 6, 1, 1], 2, 0));
}

#[test]
fn a_forked_child_has_the_sockets() {
    succeeds(&mut command("sockets", "forks -"));
}
