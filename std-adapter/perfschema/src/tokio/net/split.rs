//! Halves of connections, for TCP and for Unix sockets.

use crate::io::sum_of_lengths;
use crate::net::record::{Handle, Io};
use crate::tokio::pending::{Side, poll, without_bytes};
use perfschema_core::Operation;
use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::sync::Arc;
use tokio::io::{Interest, Ready};

/// A half of a connection that owns it together with the other one.
struct Half<T> {
    // Dropped by `Half::drop`, or taken by who puts the halves together: so that the close is recorded.
    inner: ManuallyDrop<T>,
    /// None once it was taken.
    handle: Option<Arc<Handle>>,
    /// What happens to the connection when this half goes, and the other one stays.
    parting: Option<Operation>,
}

impl<T> Half<T> {
    fn new(inner: T, handle: Arc<Handle>, parting: Option<Operation>) -> Half<T> {
        Half { inner: ManuallyDrop::new(inner), handle: Some(handle), parting }
    }

    fn into_parts(mut self) -> (T, Option<Arc<Handle>>) {
        let handle = self.handle.take();
        // SAFETY: without a handle it is not dropped, and nobody uses it after this.
        (unsafe { ManuallyDrop::take(&mut self.inner) }, handle)
    }

    /// Whether it is the last one, which takes the connection along. Where both go at one moment one of them is, and not surely the one
    /// that closes the descriptor.
    fn part(handle: Arc<Handle>, parting: Option<Operation>, go: impl FnOnce()) {
        let each = *handle;
        let last = Arc::into_inner(handle);
        match last.map(|_| Operation::Close).or(parting) {
            Some(operation) => each.run(operation, None, go),
            None => go(),
        }
        last.into_iter().for_each(Handle::closed);
    }
}

impl<T> Drop for Half<T> {
    fn drop(&mut self) {
        let Some(handle) = self.handle.take() else { return };
        let inner = &mut self.inner;
        // SAFETY: the handle, which was there, says that nobody has taken it; nobody uses it after this.
        Half::<T>::part(handle, self.parting, || unsafe { ManuallyDrop::drop(inner) });
    }
}

/// In a debugger a half is tokio's.
macro_rules! shown_as {
    ($($type:ty, |$this:ident| $inner:expr;)*) => {
        $(
            impl fmt::Debug for $type {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    let $this = self;
                    fmt::Debug::fmt(&$inner, f)
                }
            }
        )*
    };
}

/// The four halves of a kind of connection. `$addr` is what `peer_addr` gives.
macro_rules! halves {
    ($module:ident, $stream:ident, $tokio:ident, $name:literal, $addr:ty, $($peek:ident)?) => {
        pub(super) mod $module {
            use super::super::methods::{async_read, async_write, idles};
            use super::*;
            use crate::net::record::Socket;
            use crate::tokio::net::$stream;
            use crate::tokio::pending::Polled;
            use tokio::net::$tokio as inner;

            #[doc = concat!("[`tokio::net::", $name, "::ReadHalf`], with its waits recorded.")]
            pub struct ReadHalf<'a> {
                inner: inner::ReadHalf<'a>,
                handle: Handle,
                side: &'a mut Side<Io>,
            }

            #[doc = concat!("[`tokio::net::", $name, "::WriteHalf`], with its waits recorded.")]
            pub struct WriteHalf<'a> {
                inner: inner::WriteHalf<'a>,
                handle: Handle,
                side: &'a mut Side<Io>,
            }

            #[doc = concat!("[`tokio::net::", $name, "::OwnedReadHalf`], with its waits recorded.")]
            pub struct OwnedReadHalf {
                side: Side<Io>,
                half: Half<inner::OwnedReadHalf>,
                handle: Handle,
            }

            #[doc = concat!(
                "[`tokio::net::", $name, "::OwnedWriteHalf`], with its waits recorded. When it is dropped it closes its direction: a `shutdown`."
            )]
            pub struct OwnedWriteHalf {
                side: Side<Io>,
                half: Half<inner::OwnedWriteHalf>,
                handle: Handle,
            }

            #[doc = concat!("[`tokio::net::", $name, "::ReuniteError`]: the halves are not of one connection; here they are again.")]
            #[derive(Debug)]
            pub struct ReuniteError(
                /// The one that reads.
                pub OwnedReadHalf,
                /// The one that writes.
                pub OwnedWriteHalf,
            );

            // As tokio's.
            impl std::panic::UnwindSafe for ReadHalf<'_> {}
            impl std::panic::UnwindSafe for WriteHalf<'_> {}

            shown_as! {
                ReadHalf<'_>, |this| this.inner;
                WriteHalf<'_>, |this| this.inner;
                OwnedReadHalf, |this| *this.half.inner;
                OwnedWriteHalf, |this| *this.half.inner;
            }

            impl fmt::Display for ReuniteError {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("tried to reunite halves that are not from the same socket")
                }
            }

            impl std::error::Error for ReuniteError {}

            impl<'a> ReadHalf<'a> {
                pub(in super::super) fn of(inner: inner::ReadHalf<'a>, handle: Handle, side: &'a mut Side<Io>) -> ReadHalf<'a> {
                    ReadHalf { inner, handle, side }
                }
            }

            impl<'a> WriteHalf<'a> {
                pub(in super::super) fn of(inner: inner::WriteHalf<'a>, handle: Handle, side: &'a mut Side<Io>) -> WriteHalf<'a> {
                    WriteHalf { inner, handle, side }
                }
            }

            impl OwnedReadHalf {
                pub(in super::super) fn pair(
                    stream: tokio::net::$stream,
                    handle: Handle,
                    polled: Polled<Io>,
                ) -> (OwnedReadHalf, OwnedWriteHalf) {
                    let (read, write) = stream.into_split();
                    OwnedReadHalf::of(read, write, Arc::new(handle), polled)
                }

                fn of(
                    read: inner::OwnedReadHalf,
                    write: inner::OwnedWriteHalf,
                    shared: Arc<Handle>,
                    polled: Polled<Io>,
                ) -> (OwnedReadHalf, OwnedWriteHalf) {
                    let (handle, Polled { reading, writing }) = (*shared, polled);
                    let read = Half::new(read, Arc::clone(&shared), None);
                    let write = Half::new(write, shared, Some(Operation::Shutdown));
                    (OwnedReadHalf { side: reading, half: read, handle }, OwnedWriteHalf { side: writing, half: write, handle })
                }

                /// Puts the halves of a connection together again.
                ///
                /// # Errors
                /// They are not of one connection.
                #[expect(clippy::result_large_err, reason = "as tokio's: the halves come back")]
                pub fn reunite(self, other: OwnedWriteHalf) -> Result<$stream, ReuniteError> {
                    if !match (&self.half.handle, &other.half.handle) {
                        (Some(one), Some(two)) => Arc::ptr_eq(one, two),
                        _ => false,
                    } {
                        return Err(ReuniteError(self, other));
                    }
                    let OwnedReadHalf { side: reading, half: read, handle } = self;
                    let OwnedWriteHalf { side: writing, half: write, .. } = other;
                    let polled = Polled { reading, writing };
                    let ((read, shared), (write, _)) = (read.into_parts(), write.into_parts());
                    match read.reunite(write) {
                        Ok(inner) => Ok($stream { polled, socket: Socket::again(inner, handle) }),
                        Err(inner::ReuniteError(read, write)) => {
                            let (read, write) = OwnedReadHalf::of(read, write, shared.unwrap_or_else(|| Arc::new(handle)), polled);
                            Err(ReuniteError(read, write))
                        }
                    }
                }
            }

            impl OwnedWriteHalf {
                /// Puts the halves of a connection together again.
                ///
                /// # Errors
                /// They are not of one connection.
                #[expect(clippy::result_large_err, reason = "as tokio's: the halves come back")]
                pub fn reunite(self, other: OwnedReadHalf) -> Result<$stream, ReuniteError> {
                    other.reunite(self)
                }

                /// Drops this half without closing its direction.
                pub fn forget(self) {
                    let OwnedWriteHalf { side, half, .. } = self;
                    drop(side);
                    if let (inner, Some(handle)) = half.into_parts() {
                        Half::<()>::part(handle, None, || inner.forget());
                    }
                }
            }

            readers! { ReadHalf<'_>, |this| (this.handle, this.side, this.inner), $name, "ReadHalf", $addr, $($peek)? }
            readers! { OwnedReadHalf, |this| (this.handle, this.side, this.half.inner), $name, "OwnedReadHalf", $addr, $($peek)? }
            writers! { WriteHalf<'_>, |this| (this.handle, this.inner), $name, "WriteHalf", $addr }
            writers! { OwnedWriteHalf, |this| (this.handle, this.half.inner), $name, "OwnedWriteHalf", $addr }
            async_read!(ReadHalf<'_>, |this| (this.handle, this.side, &mut this.inner));
            async_read!(OwnedReadHalf, |this| (this.handle, this.side, &mut *this.half.inner));
            async_write!(WriteHalf<'_>, |this| (this.handle, this.side, &mut this.inner));
            // What was shut down is not shut down once more when the half goes.
            async_write!(
                OwnedWriteHalf,
                |this| (this.handle, this.side, &mut *this.half.inner),
                shut down: this.half.parting = None
            );
            idles!(ReadHalf<'_>, |this| this.handle);
            idles!(OwnedReadHalf, |this| this.handle);
        }
    };
}

/// What both halves that read have, and what both halves that write have.
macro_rules! both {
    ($type:ty, |$this:ident| ($handle:expr, $inner:expr), $module:literal, $half:literal, $addr:ty, $able:ident) => {
        impl $type {
            #[doc = concat!("See [`tokio::net::", $module, "::", $half, "::ready`].")]
            ///
            /// # Errors
            /// Those of tokio's.
            #[track_caller]
            pub fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> {
                let $this = self;
                $handle.wait(Operation::Select, Some(Location::caller()), $inner.ready(interest))
            }

            #[doc = concat!("See [`tokio::net::", $module, "::", $half, "::", stringify!($able), "`].")]
            ///
            /// # Errors
            /// Those of tokio's.
            #[track_caller]
            pub fn $able(&self) -> impl Future<Output = io::Result<()>> {
                let $this = self;
                $handle.wait(Operation::Select, Some(Location::caller()), $inner.$able())
            }

            #[doc = concat!("See [`tokio::net::", $module, "::", $half, "::peer_addr`].")]
            ///
            /// # Errors
            /// Those of tokio's.
            #[track_caller]
            pub fn peer_addr(&self) -> io::Result<$addr> {
                let $this = self;
                $handle.run(Operation::Stat, Some(Location::caller()), || $inner.peer_addr())
            }

            #[doc = concat!("See [`tokio::net::", $module, "::", $half, "::local_addr`].")]
            ///
            /// # Errors
            /// Those of tokio's.
            #[track_caller]
            pub fn local_addr(&self) -> io::Result<$addr> {
                let $this = self;
                $handle.run(Operation::Stat, Some(Location::caller()), || $inner.local_addr())
            }
        }
    };
}

macro_rules! readers {
    ($type:ty, |$this:ident| ($handle:expr, $side:expr, $inner:expr), $module:literal, $half:literal, $addr:ty, $($peek:ident)?) => {
        both! { $type, |$this| ($handle, $inner), $module, $half, $addr, readable }

        impl $type {
            #[doc = concat!("See [`tokio::net::", $module, "::", $half, "::try_read`].")]
            ///
            /// # Errors
            /// Those of tokio's.
            #[track_caller]
            pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
                let ($this, caller) = (self, Some(Location::caller()));
                $handle.transfer(Operation::Receive, buf.len(), caller, || $inner.try_read(buf))
            }

            #[doc = concat!("See [`tokio::net::", $module, "::", $half, "::try_read_buf`].")]
            ///
            /// # Errors
            /// Those of tokio's.
            #[track_caller]
            pub fn try_read_buf<B: bytes::BufMut>(&self, buf: &mut B) -> io::Result<usize> {
                let ($this, caller) = (self, Some(Location::caller()));
                $handle.transfer(Operation::Receive, buf.chunk_mut().len(), caller, || $inner.try_read_buf(buf))
            }

            #[doc = concat!("See [`tokio::net::", $module, "::", $half, "::try_read_vectored`].")]
            ///
            /// # Errors
            /// Those of tokio's.
            #[track_caller]
            pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
                let ($this, caller) = (self, Some(Location::caller()));
                let bytes = sum_of_lengths(bufs);
                $handle.transfer(Operation::Receive, bytes, caller, || $inner.try_read_vectored(bufs))
            }

            $(
                #[doc = concat!("See [`tokio::net::", $module, "::", $half, "::peek`].")]
                ///
                /// # Errors
                /// Those of tokio's.
                #[track_caller]
                pub fn $peek(&mut self, buf: &mut [u8]) -> impl Future<Output = io::Result<usize>> {
                    let ($this, caller) = (self, Some(Location::caller()));
                    $handle.wait(Operation::Select, caller, $inner.peek(buf))
                }

                #[doc = concat!("See [`tokio::net::", $module, "::", $half, "::poll_peek`].")]
                ///
                /// # Errors
                /// Those of tokio's.
                pub fn poll_peek(
                    &mut self,
                    cx: &mut std::task::Context<'_>,
                    buf: &mut tokio::io::ReadBuf<'_>,
                ) -> std::task::Poll<io::Result<usize>> {
                    let $this = self;
                    poll!(
                        $side,
                        poll_alone,
                        $handle.instrument,
                        $handle.io(Operation::Select, None, None),
                        $inner.poll_peek(cx, buf),
                        without_bytes
                    )
                }
            )?
        }
    };
}

macro_rules! writers {
    ($type:ty, |$this:ident| ($handle:expr, $inner:expr), $module:literal, $half:literal, $addr:ty) => {
        both! { $type, |$this| ($handle, $inner), $module, $half, $addr, writable }

        impl $type {
            #[doc = concat!("See [`tokio::net::", $module, "::", $half, "::try_write`].")]
            ///
            /// # Errors
            /// Those of tokio's.
            #[track_caller]
            pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
                let ($this, caller) = (self, Some(Location::caller()));
                $handle.transfer(Operation::Send, buf.len(), caller, || $inner.try_write(buf))
            }

            #[doc = concat!("See [`tokio::net::", $module, "::", $half, "::try_write_vectored`].")]
            ///
            /// # Errors
            /// Those of tokio's.
            #[track_caller]
            pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
                let ($this, caller) = (self, Some(Location::caller()));
                let bytes = sum_of_lengths(bufs);
                $handle.transfer(Operation::Send, bytes, caller, || $inner.try_write_vectored(bufs))
            }
        }
    };
}

halves!(tcp, TcpStream, tcp, "tcp", std::net::SocketAddr, peek);
#[cfg(unix)]
halves!(unix, UnixStream, unix, "unix", tokio::net::unix::SocketAddr,);
