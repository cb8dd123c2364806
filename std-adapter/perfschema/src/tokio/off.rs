//! tokio's files, sockets, locks and channels: tokio's own, because the feature `instrument` is off.
//! What only ours have, `with_instrument` and `Net`, is not here, as nothing of it is for std's: a library names what it names under its own feature.

pub use ::tokio::{fs, sync};

/// `tokio::net`, and what says that a client is waited for.
pub mod net {
    pub use ::tokio::net::*;

    /// What can keep waiting for a client: as with the feature `instrument`, but nothing is recorded.
    pub trait Idle {
        /// Waits for what `wait` makes.
        fn idle<F: Future>(&self, wait: F) -> impl Future<Output = F::Output>;
    }

    macro_rules! idles {
        ($($type:ty)*) => {
            $(
                impl Idle for $type {
                    fn idle<F: Future>(&self, wait: F) -> impl Future<Output = F::Output> {
                        wait
                    }
                }
            )*
        };
    }

    idles! { TcpStream UdpSocket }
    idles! { tcp::ReadHalf<'_> tcp::OwnedReadHalf }
    #[cfg(unix)]
    idles! { UnixStream UnixDatagram unix::ReadHalf<'_> unix::OwnedReadHalf }
}
