//! Sockets with time limits, and where they come from.

use crate::mysql::packet::Stream;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

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
            Socket::Tcp(stream) => match stream.peer_addr() {
                Ok(address) if address.ip().is_loopback() => "localhost".to_owned(),
                Ok(address) => address.ip().to_string(),
                Err(_) => String::new(),
            },
            #[cfg(unix)]
            Socket::Unix(_) => "localhost".to_owned(),
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

    pub(crate) fn prepare(&self, write_time: Duration) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => {
                // Answers are sent as a whole, and should not wait for more.
                stream.set_nodelay(true)?;
                stream.set_write_timeout(Some(write_time))
            }
            #[cfg(unix)]
            Socket::Unix(stream) => stream.set_write_timeout(Some(write_time)),
        }
    }

    fn set_read_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => stream.set_read_timeout(time),
            #[cfg(unix)]
            Socket::Unix(stream) => stream.set_read_timeout(time),
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

/// A socket whose reads end at a deadline, however slowly bytes come in.
#[derive(Debug)]
pub(crate) struct Timed {
    socket: Arc<Socket>,
    deadline: Option<Instant>,
}

impl Timed {
    pub(crate) fn new(socket: Arc<Socket>) -> Timed {
        Timed { socket, deadline: None }
    }
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.socket.set_read_timeout(left)?;
        let result = match &*self.socket {
            Socket::Tcp(stream) => (&mut &*stream).read(buffer),
            #[cfg(unix)]
            Socket::Unix(stream) => (&mut &*stream).read(buffer),
        };
        result.map_err(|error| if error.kind() == io::ErrorKind::WouldBlock { io::ErrorKind::TimedOut.into() } else { error })
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &*self.socket {
            Socket::Tcp(stream) => (&mut &*stream).write(bytes),
            #[cfg(unix)]
            Socket::Unix(stream) => (&mut &*stream).write(bytes),
        }
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

/// Makes a socket that only the user of this process can connect to, from its first moment on.
///
/// It gets its rights in a folder that nobody else can enter, and then its place.
#[cfg(unix)]
pub(crate) fn bind_private(path: &std::path::Path) -> io::Result<std::os::unix::net::UnixListener> {
    use std::fs;
    use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};

    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it exists, and is no socket"));
        }
        Ok(_) if UnixStream::connect(path).is_ok() => {
            return Err(io::Error::new(io::ErrorKind::AddrInUse, "another server listens there"));
        }
        // Nothing, or what a server left that has ended.
        _ => {}
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
    let folder = parent.join(format!(".perfschema-{}", std::process::id()));
    fs::DirBuilder::new().mode(0o700).create(&folder)?;
    let inner = folder.join("s");
    let made = std::os::unix::net::UnixListener::bind(&inner).and_then(|listener| {
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o600))?;
        fs::rename(&inner, path)?;
        Ok(listener)
    });
    if made.is_err() {
        let _ = fs::remove_file(&inner);
    }
    fs::remove_dir(&folder)?;
    made
}
