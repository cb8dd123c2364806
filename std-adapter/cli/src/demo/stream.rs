//! A connection, whatever its kind.

use perfschema::net::{Idle, Shutdown, TcpStream};
use perfschema::os::unix::net::UnixStream;
use std::io::{self, Read, Write};

/// A connection over TCP or a Unix socket.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// Where the client is, as MySQL names hosts.
    pub(crate) fn peer_host(&self) -> String {
        match self {
            // Of one that has gone again it is not known.
            Stream::Tcp(stream) => stream.peer_addr().map_or(String::new(), |address| address.ip().to_string()),
            Stream::Unix(_) => "localhost".into(),
        }
    }

    /// Ends it, also for who is reading it now.
    pub(crate) fn shutdown(&self) {
        // It may have ended by itself.
        let _ = match self {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Stream::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Read for &Stream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&mut &*stream).read(buf),
            Stream::Unix(stream) => (&mut &*stream).read(buf),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&mut &*stream).write(buf),
            Stream::Unix(stream) => (&mut &*stream).write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Idle for Stream {
    #[track_caller]
    fn idle<T>(&self, wait: impl FnOnce(&Self) -> T) -> T {
        match self {
            Stream::Tcp(stream) => stream.idle(|_| wait(self)),
            Stream::Unix(stream) => stream.idle(|_| wait(self)),
        }
    }
}
