//! What the types of std are by their parts alone, the types that mirror them are, too: a program that needs it compiles with both.

use perfschema::{fs, net, sync, thread};
use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};

fn safe<T: UnwindSafe + RefUnwindSafe + Unpin + Debug>() {}
fn shared<T: Send + Sync + UnwindSafe + RefUnwindSafe + Unpin + Debug>() {}

/// A line of this is one for a type of std's, and for its mirror.
macro_rules! alike {
    ($($check:ident $std:ty, $mirror:ty;)*) => {
        $( $check::<$std>(); $check::<$mirror>(); )*
    };
}

#[test]
fn mirrors_are_what_they_mirror() {
    alike! {
        shared std::sync::Mutex<u32>, sync::Mutex<u32>;
        shared std::sync::RwLock<u32>, sync::RwLock<u32>;
        shared std::sync::Condvar, sync::Condvar;
        shared std::sync::Once, sync::Once;
        shared std::sync::Barrier, sync::Barrier;
        shared std::thread::Builder, thread::Builder;
        shared std::fs::File, fs::File;
        shared std::fs::OpenOptions, fs::OpenOptions;
        shared std::net::TcpStream, net::TcpStream;
        shared std::net::TcpListener, net::TcpListener;
        shared std::net::UdpSocket, net::UdpSocket;
        shared std::net::Incoming<'static>, net::Incoming<'static>;
        safe std::sync::MutexGuard<'static, u32>, sync::MutexGuard<'static, u32>;
        safe std::sync::RwLockReadGuard<'static, u32>, sync::RwLockReadGuard<'static, u32>;
        safe std::sync::RwLockWriteGuard<'static, u32>, sync::RwLockWriteGuard<'static, u32>;
        safe std::sync::mpsc::Receiver<u32>, sync::mpsc::Receiver<u32>;
        safe std::sync::mpsc::SyncSender<u32>, sync::mpsc::SyncSender<u32>;
        safe std::sync::mpsc::IntoIter<u32>, sync::mpsc::IntoIter<u32>;
        safe std::sync::mpsc::Iter<'static, u32>, sync::mpsc::Iter<'static, u32>;
    }
    #[cfg(unix)]
    {
        use perfschema::os::unix::net;
        use std::os::unix::net as std_net;
        alike! {
            shared std_net::UnixStream, net::UnixStream;
            shared std_net::UnixListener, net::UnixListener;
            shared std_net::UnixDatagram, net::UnixDatagram;
            shared std_net::Incoming<'static>, net::Incoming<'static>;
        }
    }
    #[cfg(feature = "tokio")]
    {
        use perfschema::tokio::net;
        use tokio::net as tokio_net;
        alike! {
            shared tokio_net::TcpStream, net::TcpStream;
            shared tokio_net::TcpListener, net::TcpListener;
            shared tokio_net::TcpSocket, net::TcpSocket;
            shared tokio_net::UdpSocket, net::UdpSocket;
            safe tokio_net::tcp::ReadHalf<'static>, net::tcp::ReadHalf<'static>;
            safe tokio_net::tcp::WriteHalf<'static>, net::tcp::WriteHalf<'static>;
            shared tokio_net::tcp::OwnedReadHalf, net::tcp::OwnedReadHalf;
            shared tokio_net::tcp::OwnedWriteHalf, net::tcp::OwnedWriteHalf;
        }
        #[cfg(unix)]
        alike! {
            shared tokio_net::UnixStream, net::UnixStream;
            shared tokio_net::UnixListener, net::UnixListener;
            shared tokio_net::UnixSocket, net::UnixSocket;
            shared tokio_net::UnixDatagram, net::UnixDatagram;
            safe tokio_net::unix::ReadHalf<'static>, net::unix::ReadHalf<'static>;
            safe tokio_net::unix::WriteHalf<'static>, net::unix::WriteHalf<'static>;
        }
    }
    fn sync<T: Sync>() {}
    fn send<T: Send>() {}
    alike! {
        sync std::thread::Scope<'static, 'static>, thread::Scope<'static, 'static>;
        send std::thread::Scope<'static, 'static>, thread::Scope<'static, 'static>;
        sync std::thread::JoinHandle<u32>, thread::JoinHandle<u32>;
        send std::thread::JoinHandle<u32>, thread::JoinHandle<u32>;
        sync std::thread::ScopedJoinHandle<'static, u32>, thread::ScopedJoinHandle<'static, u32>;
        send std::thread::ScopedJoinHandle<'static, u32>, thread::ScopedJoinHandle<'static, u32>;
        sync std::sync::MutexGuard<'static, u32>, sync::MutexGuard<'static, u32>;
        sync std::sync::RwLockReadGuard<'static, u32>, sync::RwLockReadGuard<'static, u32>;
        sync std::sync::RwLockWriteGuard<'static, u32>, sync::RwLockWriteGuard<'static, u32>;
        send std::sync::mpsc::Receiver<u32>, sync::mpsc::Receiver<u32>;
        send std::sync::mpsc::SyncSender<u32>, sync::mpsc::SyncSender<u32>;
        sync std::sync::mpsc::SyncSender<u32>, sync::mpsc::SyncSender<u32>;
        send std::sync::mpsc::IntoIter<u32>, sync::mpsc::IntoIter<u32>;
    }
}

/// Options show in a debugger as those that they mirror, with what was set.
#[test]
fn options_show_as_they_do() {
    assert_eq!(format!("{:?}", fs::OpenOptions::new().append(true)), format!("{:?}", std::fs::OpenOptions::new().append(true)));
    #[cfg(feature = "tokio")]
    assert_eq!(
        format!("{:?}", perfschema::tokio::fs::OpenOptions::new().append(true)),
        format!("{:?}", tokio::fs::OpenOptions::new().append(true))
    );
}
