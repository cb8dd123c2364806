//! What the mirrored sockets have in common, written once.

/// Methods of std's, each one operation.
macro_rules! operations {
    ($type:ident is $std:literal: $($operation:ident {
        $( fn $name:ident($($argument:ident: $argument_type:ty),*) -> $result:ty; )*
    })*) => {
        impl $type {
            $( $(
                #[doc = concat!("See [`", $std, "::", stringify!($name), "`].")]
                ///
                /// # Errors
                /// Those of std's.
                #[track_caller]
                pub fn $name(&self $(, $argument: $argument_type)*) -> std::io::Result<$result> {
                    let caller = Some(std::panic::Location::caller());
                    self.socket.run(perfschema_core::Operation::$operation, caller, || self.socket.std().$name($($argument),*))
                }
            )* )*
        }
    };
}

/// Methods of std's that send or receive what is in `buf`.
macro_rules! transfers {
    ($type:ident is $std:literal: $($operation:ident {
        $( fn $name:ident(buf: $buf:ty) -> $result:ty; )*
    })*) => {
        impl $type {
            $( $(
                #[doc = concat!("See [`", $std, "::", stringify!($name), "`].")]
                ///
                /// # Errors
                /// Those of std's.
                #[track_caller]
                pub fn $name(&self, buf: $buf) -> std::io::Result<$result> {
                    let (bytes, caller) = (buf.len(), Some(std::panic::Location::caller()));
                    let operation = perfschema_core::Operation::$operation;
                    self.socket.transfer(operation, bytes, caller, move |socket| socket.$name(buf))
                }
            )* )*
        }
    };
}

/// `Read` and `Write`, for the type and for a reference. What std makes of several operations is here for its source.
macro_rules! streams {
    ($type:ident) => {
        impl std::io::Read for &$type {
            #[inline]
            #[track_caller]
            fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
                let (bytes, caller) = (buf.len(), Some(std::panic::Location::caller()));
                self.socket.transfer(perfschema_core::Operation::Receive, bytes, caller, move |mut socket| {
                    std::io::Read::read(&mut socket, buf)
                })
            }

            #[track_caller]
            fn read_vectored(&mut self, bufs: &mut [std::io::IoSliceMut<'_>]) -> std::io::Result<usize> {
                let (bytes, caller) = ($crate::io::sum_of_lengths(bufs), Some(std::panic::Location::caller()));
                self.socket.transfer(perfschema_core::Operation::Receive, bytes, caller, move |mut socket| {
                    std::io::Read::read_vectored(&mut socket, bufs)
                })
            }

            #[inline]
            #[track_caller]
            fn read_exact(&mut self, buf: &mut [u8]) -> std::io::Result<()> {
                std::io::Read::read_exact(&mut self.socket.at(), buf)
            }

            #[track_caller]
            fn read_to_end(&mut self, buf: &mut Vec<u8>) -> std::io::Result<usize> {
                std::io::Read::read_to_end(&mut self.socket.at(), buf)
            }

            #[track_caller]
            fn read_to_string(&mut self, buf: &mut String) -> std::io::Result<usize> {
                std::io::Read::read_to_string(&mut self.socket.at(), buf)
            }
        }

        impl std::io::Write for &$type {
            #[inline]
            #[track_caller]
            fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
                let (bytes, caller) = (buf.len(), Some(std::panic::Location::caller()));
                self.socket.transfer(perfschema_core::Operation::Send, bytes, caller, move |mut socket| {
                    std::io::Write::write(&mut socket, buf)
                })
            }

            #[track_caller]
            fn write_vectored(&mut self, bufs: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
                let (bytes, caller) = ($crate::io::sum_of_lengths(bufs), Some(std::panic::Location::caller()));
                self.socket.transfer(perfschema_core::Operation::Send, bytes, caller, move |mut socket| {
                    std::io::Write::write_vectored(&mut socket, bufs)
                })
            }

            #[inline]
            #[track_caller]
            fn write_all(&mut self, buf: &[u8]) -> std::io::Result<()> {
                std::io::Write::write_all(&mut self.socket.at(), buf)
            }

            #[track_caller]
            fn write_fmt(&mut self, args: std::fmt::Arguments<'_>) -> std::io::Result<()> {
                std::io::Write::write_fmt(&mut self.socket.at(), args)
            }

            fn flush(&mut self) -> std::io::Result<()> {
                std::io::Write::flush(&mut self.socket.at())
            }
        }

        impl std::io::Read for $type {
            #[inline]
            #[track_caller]
            fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
                (&*self).read(buf)
            }

            #[track_caller]
            fn read_vectored(&mut self, bufs: &mut [std::io::IoSliceMut<'_>]) -> std::io::Result<usize> {
                (&*self).read_vectored(bufs)
            }

            #[inline]
            #[track_caller]
            fn read_exact(&mut self, buf: &mut [u8]) -> std::io::Result<()> {
                (&*self).read_exact(buf)
            }

            #[track_caller]
            fn read_to_end(&mut self, buf: &mut Vec<u8>) -> std::io::Result<usize> {
                (&*self).read_to_end(buf)
            }

            #[track_caller]
            fn read_to_string(&mut self, buf: &mut String) -> std::io::Result<usize> {
                (&*self).read_to_string(buf)
            }
        }

        impl std::io::Write for $type {
            #[inline]
            #[track_caller]
            fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
                (&*self).write(buf)
            }

            #[track_caller]
            fn write_vectored(&mut self, bufs: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
                (&*self).write_vectored(bufs)
            }

            #[inline]
            #[track_caller]
            fn write_all(&mut self, buf: &[u8]) -> std::io::Result<()> {
                (&*self).write_all(buf)
            }

            #[track_caller]
            fn write_fmt(&mut self, args: std::fmt::Arguments<'_>) -> std::io::Result<()> {
                (&*self).write_fmt(args)
            }

            fn flush(&mut self) -> std::io::Result<()> {
                (&*self).flush()
            }
        }
    };
}

/// What a client can keep waiting.
macro_rules! idles {
    ($type:ident) => {
        impl $crate::net::Idle for $type {
            #[track_caller]
            fn idle<T>(&self, wait: impl FnOnce(&Self) -> T) -> T {
                self.socket.idle(Some(std::panic::Location::caller()), || wait(self))
            }
        }
    };
}

/// Conversions from and to std's, and to descriptors; `try_clone`, and how it shows in a debugger. `$more` are fields besides the socket,
/// and what they are in a socket that came from elsewhere.
macro_rules! conversions {
    ($type:ident, $std:ty, $name:literal $(, $more:ident = $default:expr)?) => {
        impl $type {
            #[doc = concat!("See [`", $name, "::try_clone`]. The clone has a descriptor and a row of its own.")]
            ///
            /// # Errors
            /// Those of std's.
            pub fn try_clone(&self) -> std::io::Result<$type> {
                let inner = self.socket.std().try_clone()?;
                Ok($type { socket: self.socket.duplicate(inner) $(, $more: self.$more)? })
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(self.socket.std(), f)
            }
        }

        /// A socket that was opened elsewhere: it has the default instrument.
        impl From<$std> for $type {
            fn from(inner: $std) -> $type {
                $type { socket: $crate::net::record::Socket::adopt(inner) $(, $more: $default)? }
            }
        }

        impl From<$type> for $std {
            fn from(socket: $type) -> $std {
                socket.socket.into_std()
            }
        }

        $crate::net::system::handles!($type, |this| this.socket.std());
        $crate::net::system::owned_handles!($type, $std);
    };
}

/// Connections as they come: std's iterator of a listener, and what it says of their number.
macro_rules! incoming {
    ($incoming:ident of $listener:ident gives $stream:ident, at least $fewest:expr, $std:literal) => {
        #[doc = concat!("See [`", $std, "`].")]
        #[derive(Debug)]
        #[must_use = "iterators are lazy and do nothing unless consumed"]
        pub struct $incoming<'a> {
            listener: &'a $listener,
        }

        impl Iterator for $incoming<'_> {
            type Item = std::io::Result<$stream>;

            #[track_caller]
            fn next(&mut self) -> Option<std::io::Result<$stream>> {
                Some(self.listener.accept().map(|(stream, _)| stream))
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                ($fewest, None)
            }
        }
    };
}

pub(crate) use {conversions, idles, incoming, operations, streams, transfers};
