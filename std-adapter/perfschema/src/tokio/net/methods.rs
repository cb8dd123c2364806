//! What the twins of tokio's sockets have in common, written once.

/// Methods of tokio's that wait, each one operation.
macro_rules! waits {
    ($type:ident is $tokio:literal: $($operation:ident {
        $( fn $name:ident($($argument:ident: $argument_type:ty),*) -> $result:ty; )*
    })*) => {
        impl $type {
            $( $(
                #[doc = concat!("See [`", $tokio, "::", stringify!($name), "`].")]
                ///
                /// # Errors
                /// Those of tokio's.
                #[track_caller]
                pub fn $name(&self $(, $argument: $argument_type)*) -> impl Future<Output = std::io::Result<$result>> {
                    let caller = Some(std::panic::Location::caller());
                    let wait = self.socket.std().$name($($argument),*);
                    self.socket.handle.wait(perfschema_core::Operation::$operation, caller, wait)
                }
            )* )*
        }
    };
}

/// Methods of tokio's that wait, and then send or receive what is in `buf`.
macro_rules! transfers_that_wait {
    ($type:ident is $tokio:literal: $($operation:ident {
        $( fn $name:ident(buf: $buf:ty) -> $result:ty; )*
    })*) => {
        impl $type {
            $( $(
                #[doc = concat!("See [`", $tokio, "::", stringify!($name), "`].")]
                ///
                /// # Errors
                /// Those of tokio's.
                #[track_caller]
                pub fn $name(&self, buf: $buf) -> impl Future<Output = std::io::Result<$result>> {
                    let (bytes, caller) = (buf.len(), Some(std::panic::Location::caller()));
                    let operation = perfschema_core::Operation::$operation;
                    self.socket.handle.wait_transfer(operation, bytes, caller, self.socket.std().$name(buf))
                }
            )* )*
        }
    };
}

/// Methods of tokio's that receive into what a buffer has room for: at once, or once something is there.
macro_rules! transfers_into {
    ($type:ident is $tokio:literal: at once { $( $operation:ident $name:ident -> $result:ty; )* }) => {
        impl $type {
            $(
                #[doc = concat!("See [`", $tokio, "::", stringify!($name), "`].")]
                ///
                /// # Errors
                /// Those of tokio's.
                #[track_caller]
                pub fn $name<B: bytes::BufMut>(&self, buf: &mut B) -> std::io::Result<$result> {
                    let (bytes, caller) = (buf.chunk_mut().len(), Some(std::panic::Location::caller()));
                    let operation = perfschema_core::Operation::$operation;
                    self.socket.transfer(operation, bytes, caller, |socket| socket.$name(buf))
                }
            )*
        }
    };
    ($type:ident is $tokio:literal: waiting { $( $operation:ident $name:ident -> $result:ty; )* }) => {
        impl $type {
            $(
                #[doc = concat!("See [`", $tokio, "::", stringify!($name), "`].")]
                ///
                /// # Errors
                /// Those of tokio's.
                #[track_caller]
                pub fn $name<B: bytes::BufMut>(&self, buf: &mut B) -> impl Future<Output = std::io::Result<$result>> {
                    let (bytes, caller) = (buf.chunk_mut().len(), Some(std::panic::Location::caller()));
                    let operation = perfschema_core::Operation::$operation;
                    self.socket.handle.wait_transfer(operation, bytes, caller, self.socket.std().$name(buf))
                }
            )*
        }
    };
}

/// A poll of a socket by reference, which others may poll at the same moment. How many bytes are asked for, and how many it did.
macro_rules! poll_socket {
    ($this:ident.$side:ident, $operation:ident, $asked:expr, $name:ident($($argument:expr),*), $bytes:expr) => {{
        let handle = &$this.socket.handle;
        $crate::tokio::pending::poll!(
            $this.polled.$side,
            poll,
            handle.instrument,
            handle.io(perfschema_core::Operation::$operation, $asked, None),
            $this.socket.std().$name($($argument),*),
            $bytes
        )
    }};
}

/// The same by the one that has the socket, or its half, for itself.
macro_rules! poll_alone {
    (($handle:expr, $side:expr, $inner:expr), $operation:ident, $asked:expr, $name:ident($($argument:expr),*), $bytes:expr) => {
        $crate::tokio::pending::poll!(
            $side,
            poll_alone,
            $handle.instrument,
            $handle.io(perfschema_core::Operation::$operation, $asked, None),
            std::pin::Pin::new($inner).$name($($argument),*),
            $bytes
        )
    };
}

/// Methods of tokio's that are polled: `reading` and `writing` say which of a socket's two operations that is.
macro_rules! polls {
    ($type:ident is $tokio:literal: $($side:ident $operation:ident {
        $( fn $name:ident($($argument:ident: $argument_type:ty),*) -> $result:ty; )*
    })*) => {
        impl $type {
            $( $(
                #[doc = concat!("See [`", $tokio, "::", stringify!($name), "`].")]
                ///
                /// # Errors
                /// Those of tokio's.
                pub fn $name(
                    &self,
                    cx: &mut std::task::Context<'_>
                    $(, $argument: $argument_type)*
                ) -> std::task::Poll<std::io::Result<$result>> {
                    use $crate::tokio::{net::methods::poll_socket, pending::without_bytes};
                    poll_socket!(self.$side, $operation, None, $name(cx $(, $argument)*), without_bytes)
                }
            )* )*
        }
    };
}

/// The same for what fills a buffer.
macro_rules! polls_that_fill {
    ($type:ident is $tokio:literal: $($operation:ident {
        $( fn $name:ident(buf: &mut ReadBuf<'_>) -> $result:ty; )*
    })*) => {
        impl $type {
            $( $(
                #[doc = concat!("See [`", $tokio, "::", stringify!($name), "`].")]
                ///
                /// # Errors
                /// Those of tokio's.
                pub fn $name(
                    &self,
                    cx: &mut std::task::Context<'_>,
                    buf: &mut tokio::io::ReadBuf<'_>,
                ) -> std::task::Poll<std::io::Result<$result>> {
                    use $crate::tokio::{net::methods::poll_socket, pending::filled};
                    poll_socket!(self.reading, $operation, Some(buf.remaining()), $name(cx, buf), filled(buf))
                }
            )* )*
        }
    };
}

/// Methods of tokio's that run something else than itself on the socket; and the time until it is ready for something.
macro_rules! interests {
    ($type:ident is $tokio:literal) => {
        impl $type {
            #[doc = concat!("See [`", $tokio, "::try_io`]. What `f` does is not recorded: nothing is known of it.")]
            ///
            /// # Errors
            /// Those of tokio's.
            pub fn try_io<R>(&self, interest: tokio::io::Interest, f: impl FnOnce() -> std::io::Result<R>) -> std::io::Result<R> {
                self.socket.std().try_io(interest, f)
            }

            #[doc = concat!("See [`", $tokio, "::async_io`]. The wait is a `select`, until `f` does not block.")]
            ///
            /// # Errors
            /// Those of tokio's.
            #[track_caller]
            pub fn async_io<R>(
                &self,
                interest: tokio::io::Interest,
                f: impl FnMut() -> std::io::Result<R>,
            ) -> impl Future<Output = std::io::Result<R>> {
                let caller = Some(std::panic::Location::caller());
                self.socket.handle.wait(perfschema_core::Operation::Select, caller, self.socket.std().async_io(interest, f))
            }
        }
    };
}

/// `AsyncRead` and `AsyncWrite`, for what has a handle and tokio's type.
macro_rules! async_read {
    ($type:ident $(<$lifetime:lifetime>)?, |$this:ident| ($handle:expr, $side:expr, $inner:expr)) => {
        impl tokio::io::AsyncRead for $type $(<$lifetime>)? {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &mut tokio::io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                use $crate::tokio::{net::methods::poll_alone, pending::filled};
                let $this = self.get_mut();
                poll_alone!(($handle, $side, $inner), Receive, Some(buf.remaining()), poll_read(cx, buf), filled(buf))
            }
        }
    };
}

macro_rules! async_write {
    ($type:ident $(<$lifetime:lifetime>)?, |$this:ident| ($handle:expr, $side:expr, $inner:expr) $(, shut down: $shut_down:expr)?) => {
        impl tokio::io::AsyncWrite for $type $(<$lifetime>)? {
            fn poll_write(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                use $crate::tokio::{net::methods::poll_alone, pending::polled};
                let $this = self.get_mut();
                poll_alone!(($handle, $side, $inner), Send, Some(buf.len()), poll_write(cx, buf), polled)
            }

            fn poll_write_vectored(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                bufs: &[std::io::IoSlice<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                use $crate::tokio::{net::methods::poll_alone, pending::polled};
                let $this = self.get_mut();
                let asked = || Some($crate::io::sum_of_lengths(bufs));
                poll_alone!(($handle, $side, $inner), Send, asked(), poll_write_vectored(cx, bufs), polled)
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            /// Nothing waits here: tokio's socket has no buffer.
            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                let $this = self.get_mut();
                std::pin::Pin::new($inner).poll_flush(cx)
            }

            fn poll_shutdown(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                use $crate::tokio::{net::methods::poll_alone, pending::without_bytes};
                let $this = self.get_mut();
                let result = poll_alone!(($handle, $side, $inner), Shutdown, None, poll_shutdown(cx), without_bytes);
                $(
                    if matches!(result, std::task::Poll::Ready(Ok(()))) {
                        $shut_down;
                    }
                )?
                result
            }
        }
    };
}

/// What a client can keep waiting.
macro_rules! idles {
    ($type:ident $(<$lifetime:lifetime>)?, |$this:ident| $handle:expr) => {
        impl $crate::tokio::net::Idle for $type $(<$lifetime>)? {
            #[track_caller]
            fn idle<F: Future>(&self, wait: F) -> impl Future<Output = F::Output> {
                let $this = self;
                $handle.idle(Some(std::panic::Location::caller()), wait)
            }
        }
    };
}

/// Conversions from and to tokio's and std's; descriptors, and how it shows in a debugger. `$more` are fields besides the socket, and what
/// they are in a socket that came from elsewhere.
macro_rules! conversions {
    ($type:ident, $tokio:ty, $std:ty, $name:literal $(, $more:ident = $default:expr)*) => {
        impl $type {
            #[doc = concat!("See [`", $name, "::from_std`]. It has the default instrument.")]
            ///
            /// # Errors
            /// Those of tokio's.
            ///
            /// # Panics
            /// Where tokio's does.
            #[track_caller]
            pub fn from_std(inner: $std) -> std::io::Result<$type> {
                Ok(<$tokio>::from_std(inner)?.into())
            }

            #[doc = concat!("See [`", $name, "::into_std`].")]
            ///
            /// # Errors
            /// Those of tokio's.
            pub fn into_std(self) -> std::io::Result<$std> {
                <$tokio>::from(self).into_std()
            }

            /// tokio's own: what is done to that is not recorded.
            pub fn as_tokio(&self) -> &$tokio {
                self.socket.std()
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(self.socket.std(), f)
            }
        }

        /// A socket that was opened elsewhere: it has the default instrument.
        impl From<$tokio> for $type {
            fn from(inner: $tokio) -> $type {
                $type { socket: $crate::net::record::Socket::adopt(inner) $(, $more: $default)* }
            }
        }

        impl From<$type> for $tokio {
            fn from(socket: $type) -> $tokio {
                // What is pending ends while the region still knows the socket.
                drop(socket.polled);
                socket.socket.into_std()
            }
        }

        impl TryFrom<$std> for $type {
            type Error = std::io::Error;

            #[track_caller]
            fn try_from(inner: $std) -> std::io::Result<$type> {
                $type::from_std(inner)
            }
        }

        $crate::net::system::handles!($type, |this| this.socket.std());
    };
}

pub(super) use {
    async_read, async_write, conversions, idles, interests, poll_alone, poll_socket, polls, polls_that_fill, transfers_into,
    transfers_that_wait, waits,
};
