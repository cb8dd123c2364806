//! Sockets with time limits, and where they come from.

#[cfg(unix)]
use crate::files;
use crate::mysql::packet::Stream;
use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};
#[cfg(unix)]
use std::{
    fs,
    os::fd::OwnedFd,
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
};

/// A connection, of whichever kind.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl Socket {
    /// Where the client is.
    pub(crate) fn host(&self) -> String {
        match self {
            // On [::], one by IPv4 is ::ffff:192.0.2.1.
            Socket::Tcp(stream) => match stream.peer_addr().map(|address| address.ip().to_canonical()) {
                Ok(address) if address.is_loopback() => "localhost".to_owned(),
                Ok(address) => address.to_string(),
                Err(_) => String::new(),
            },
            #[cfg(unix)]
            Socket::Unix(_) => "localhost".to_owned(),
        }
    }

    /// The port that the client comes from, by TCP.
    pub(crate) fn port(&self) -> Option<u16> {
        match self {
            Socket::Tcp(stream) => stream.peer_addr().ok().map(|address| address.port()),
            #[cfg(unix)]
            Socket::Unix(_) => None,
        }
    }

    /// Whether only this machine's kernel sees what it carries.
    pub(crate) fn is_private(&self) -> bool {
        match self {
            Socket::Tcp(_) => false,
            #[cfg(unix)]
            Socket::Unix(_) => true,
        }
    }

    pub(crate) fn prepare(&self) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => {
                // Answers are sent as a whole, and should not wait for more.
                stream.set_nodelay(true)?;
                // Of a client whose machine is gone nothing more would ever be heard.
                socket2::SockRef::from(stream).set_keepalive(true)
            }
            #[cfg(unix)]
            Socket::Unix(_) => Ok(()),
        }
    }

    fn set_read_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => stream.set_read_timeout(time),
            #[cfg(unix)]
            Socket::Unix(stream) => stream.set_read_timeout(time),
        }
    }

    fn set_write_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => stream.set_write_timeout(time),
            #[cfg(unix)]
            Socket::Unix(stream) => stream.set_write_timeout(time),
        }
    }

    pub(crate) fn shut(&self, how: Shutdown) {
        // It may be shut already.
        let _ = match self {
            Socket::Tcp(stream) => stream.shutdown(how),
            #[cfg(unix)]
            Socket::Unix(stream) => stream.shutdown(how),
        };
    }
}

/// Does again what a signal has interrupted.
pub(crate) fn uninterrupted<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// The time until then; an error if it is over.
fn left(deadline: Option<Instant>) -> io::Result<Option<Duration>> {
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    if left == Some(Duration::ZERO) { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// What a client has to take in its time, in bytes.
const PIECE: usize = 64 * 1024;

/// A socket whose reads end at a deadline, however slowly bytes come in, and each of its writes after a time, however often a signal
/// interrupts it.
#[derive(Debug)]
pub(crate) struct Timed {
    socket: Arc<Socket>,
    deadline: Option<Instant>,
    write_time: Duration,
    /// The client has taken nothing for too long: it is not waited for a second time. TLS tries again whatever was the matter.
    is_given_up: bool,
}

impl Timed {
    pub(crate) fn new(socket: Arc<Socket>, write_time: Duration) -> Timed {
        Timed { socket, deadline: None, write_time, is_given_up: false }
    }
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = uninterrupted(|| {
            self.socket.set_read_timeout(left(self.deadline)?)?;
            match &*self.socket {
                Socket::Tcp(stream) => (&mut &*stream).read(buffer),
                #[cfg(unix)]
                Socket::Unix(stream) => (&mut &*stream).read(buffer),
            }
        });
        result.map_err(|error| if error.kind() == io::ErrorKind::WouldBlock { io::ErrorKind::TimedOut.into() } else { error })
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_given_up {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let deadline = Instant::now().checked_add(self.write_time);
        // So much is to be taken in time, and not as much as the system has room for in the end.
        let (piece, _) = bytes.split_at(bytes.len().min(PIECE));
        let result = uninterrupted(|| {
            self.socket.set_write_timeout(left(deadline)?)?;
            match &*self.socket {
                Socket::Tcp(stream) => (&mut &*stream).write(piece),
                #[cfg(unix)]
                Socket::Unix(stream) => (&mut &*stream).write(piece),
            }
        });
        self.is_given_up |= result.as_ref().is_ok_and(|written| *written < piece.len()) && left(deadline).is_err();
        result.map_err(|error| {
            if !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) {
                return error;
            }
            self.is_given_up = true;
            io::ErrorKind::TimedOut.into()
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Timed {
    fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }
}

/// How much of what a client sends behind its request is thrown away, and how long that may take.
const LEAVE_BYTES: u64 = 16 << 20;
const LEAVE_TIME: Duration = Duration::from_secs(2);

/// Ends a connection so that the client can hear what it was told: closed with bytes unread it would be reset, and what is on its way
/// to the client might be lost.
pub(crate) fn leave(socket: Arc<Socket>) {
    socket.shut(Shutdown::Write);
    let mut rest = Timed::new(socket, LEAVE_TIME);
    rest.set_deadline(Instant::now().checked_add(LEAVE_TIME));
    // Who goes on longer than that does not listen.
    let _ = io::copy(&mut rest.take(LEAVE_BYTES), &mut io::sink());
}

/// A stream that is read in large pieces, though small ones are asked for. TLS goes above it: so a client that sends ahead what should
/// be encrypted only breaks its own handshake, and no password is left in the buffer.
#[derive(Debug)]
pub(crate) struct Buffered<S>(BufReader<S>);

impl<S: Stream> Buffered<S> {
    pub(crate) fn new(stream: S) -> Buffered<S> {
        Buffered(BufReader::new(stream))
    }
}

impl<S: Stream> Read for Buffered<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<S: Stream> Write for Buffered<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.get_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.get_mut().flush()
    }
}

impl<S: Stream> Stream for Buffered<S> {
    fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.0.get_mut().set_deadline(deadline);
    }
}

/// Makes a socket that only the user of this process can connect to, from its first moment on.
///
/// It gets its rights in a folder that nobody else can enter, and then its place.
#[cfg(unix)]
pub(crate) fn bind_private(path: &Path) -> io::Result<(UnixListener, UnixPlace)> {
    use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};

    if std::os::unix::net::SocketAddr::from_pathname(path).is_err() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "too long for the address of a socket: no client could connect to it",
        ));
    }
    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it exists, and is no socket"));
        }
        Ok(_) => match UnixStream::connect(path) {
            Ok(_) => return Err(io::Error::new(io::ErrorKind::AddrInUse, "another server listens there")),
            // What a server left that has ended; gone meanwhile.
            Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => {}
            // It may be alive: it takes datagrams, or not us.
            Err(error) => {
                return Err(io::Error::new(error.kind(), format!("a socket is there that may be in use: {error}")));
            }
        },
        // Nothing, or what cannot be looked at.
        Err(_) => {}
    }
    // Its name is short: the address of a socket has room for a hundred bytes.
    let make = |path: &Path| fs::DirBuilder::new().mode(0o700).create(path);
    let (folder, ()) = files::make_beside(path, "perfschema".as_ref(), make)?;
    let name = "s";
    let inner = folder.join(name);
    let made = bind_within(&folder, name).and_then(|listener| {
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o600))?;
        let listening = UnixStream::from(OwnedFd::from(listener.try_clone()?));
        let place = UnixPlace { path: path.to_owned(), file: identity(&inner)?, listening };
        fs::rename(&inner, path)?;
        Ok((listener, place))
    });
    if made.is_err() {
        let _ = fs::remove_file(&inner);
    }
    fs::remove_dir(&folder)?;
    made
}

/// A socket of this name in a folder, also where an address has room for the folder's path alone: Linux knows what is open by shorter ones.
#[cfg(unix)]
fn bind_within(folder: &Path, name: &str) -> io::Result<UnixListener> {
    use std::os::fd::AsRawFd;

    let path = folder.join(name);
    if cfg!(not(target_os = "linux")) || std::os::unix::net::SocketAddr::from_pathname(&path).is_ok() {
        return UnixListener::bind(path);
    }
    let open = fs::File::open(folder)?;
    UnixListener::bind(format!("/proc/self/fd/{}/{name}", open.as_raw_fd()))
}

/// Where a socket is that listens. Dropping it removes the socket's file, if it is still there.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct UnixPlace {
    path: PathBuf,
    /// Of the socket's own file: by the path there may be another's by now.
    file: (u64, u64),
    /// The same socket, as std's type that can be shut.
    listening: UnixStream,
}

#[cfg(unix)]
impl UnixPlace {
    /// Ends the listening, which wakes who accepts: whether it does.
    pub(crate) fn shut(&self) -> bool {
        // Not by a connection to the path, which another server may have. But macOS does not shut what listens.
        self.listening.shutdown(Shutdown::Both).is_ok() || self.is_there() && UnixStream::connect(&self.path).is_ok()
    }

    fn is_there(&self) -> bool {
        identity(&self.path).is_ok_and(|file| file == self.file)
    }
}

#[cfg(unix)]
impl Drop for UnixPlace {
    fn drop(&mut self) {
        if self.is_there() {
            // Somebody may have been faster.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// What tells a file from all others for as long as it is open: its device and its number.
#[cfg(unix)]
fn identity(path: &Path) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// In two hours, as the system does it, and not only when it is idle for too long.
    #[test]
    fn a_client_that_is_gone_is_noticed() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let accepted = listener.accept().unwrap().0;
        let is_kept_alive = |socket: &TcpStream| socket2::SockRef::from(socket).keepalive().unwrap();
        assert!(!is_kept_alive(&accepted));
        Socket::Tcp(accepted.try_clone().unwrap()).prepare().unwrap();
        assert!(is_kept_alive(&accepted));
    }

    /// Where no client could connect to it, a server would listen in vain.
    #[test]
    fn a_path_that_no_address_has_room_for() {
        let folder = std::env::temp_dir().join(format!("perfschema-far-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let error = bind_private(&folder.join("s".repeat(120))).map(drop).unwrap_err();
        assert_eq!((error.kind(), fs::read_dir(&folder).unwrap().count()), (io::ErrorKind::InvalidInput, 0), "{error}");
        assert!(error.to_string().starts_with("too long for the address of a socket"), "{error}");
        fs::remove_dir_all(folder).unwrap();
    }

    /// The folder in which it is made has a longer path.
    #[test]
    #[cfg(target_os = "linux")]
    fn paths_that_an_address_just_has_room_for() {
        let folder = std::env::temp_dir().join(format!("perfschema-near-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for length in 80..=107 {
            let path = folder.join("s".repeat(length - 1 - folder.as_os_str().len()));
            let (listener, place) = bind_private(&path).unwrap();
            UnixStream::connect(&path).unwrap();
            listener.accept().unwrap();
            drop(place);
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{length} bytes");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    /// What programs of the same number have left is in nobody's way, nor is who binds at the same time.
    #[test]
    fn folders_that_are_there_already() {
        let folder = std::env::temp_dir().join(format!("perfschema-socket-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let left = 0..3;
        left.clone().for_each(|n| fs::create_dir(folder.join(format!(".perfschema.{}.{n}", std::process::id()))).unwrap());
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let folder = &folder;
                scope.spawn(move || (0..50).for_each(|n| drop(bind_private(&folder.join(format!("{thread}-{n}"))).unwrap())));
            }
        });
        assert_eq!(fs::read_dir(&folder).unwrap().count(), left.len());
        fs::remove_dir_all(folder).unwrap();
    }
}
