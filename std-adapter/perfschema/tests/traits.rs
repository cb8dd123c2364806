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

/// Whether a type has a trait.
#[cfg(feature = "tokio")]
macro_rules! has {
    ($type:ty: $name:path) => {{
        #[allow(dead_code, reason = "if it has one")]
        trait No {
            const HAS: bool = false;
        }
        impl<T: ?Sized> No for T {}
        struct Asked<T: ?Sized>(std::marker::PhantomData<T>);
        #[allow(dead_code, reason = "if it has none")]
        impl<T: ?Sized + $name> Asked<T> {
            const HAS: bool = true;
        }
        <Asked<$type>>::HAS
    }};
}

/// Which of the traits that threads ask for a type has.
#[cfg(feature = "tokio")]
macro_rules! of_threads {
    ($type:ty) => {
        [has!($type: Send), has!($type: Sync), has!($type: Unpin), has!($type: UnwindSafe), has!($type: RefUnwindSafe)]
    };
}

/// tokio's locks and channels, by what is in them: neither more nor less may go to another thread.
#[cfg(feature = "tokio")]
#[test]
fn what_goes_to_other_threads_does() {
    use std::cell::Cell;
    use std::rc::Rc;
    use std::sync::Arc;
    macro_rules! of_each {
        ($($type:ty,)*) => { vec![$((stringify!($type), of_threads!($type)),)*] };
    }
    macro_rules! of_values {
        ($($value:ty),*) => {
            [$(of_each![
                sync::Mutex<$value>,
                sync::MutexGuard<'static, $value>,
                sync::MappedMutexGuard<'static, $value>,
                sync::OwnedMutexGuard<$value>,
                sync::OwnedMappedMutexGuard<$value>,
                sync::RwLock<$value>,
                sync::RwLockReadGuard<'static, $value>,
                sync::RwLockWriteGuard<'static, $value>,
                sync::RwLockMappedWriteGuard<'static, $value>,
                sync::OwnedRwLockReadGuard<$value>,
                sync::OwnedRwLockWriteGuard<$value>,
                sync::OwnedRwLockMappedWriteGuard<$value>,
                sync::Semaphore,
                sync::OwnedSemaphorePermit,
                sync::Notify,
                sync::futures::Notified<'static>,
                sync::futures::OwnedNotified,
                sync::Barrier,
                sync::mpsc::Sender<$value>,
                sync::mpsc::WeakSender<$value>,
                sync::mpsc::OwnedPermit<$value>,
                sync::mpsc::Receiver<$value>,
                sync::mpsc::UnboundedReceiver<$value>,
            ]),*].concat()
        };
    }
    macro_rules! of_all {
        () => {
            of_values![u8, Cell<u8>, Rc<u8>, std::sync::MutexGuard<'static, u8>]
        };
    }
    let tokios = {
        use tokio::sync;
        of_all!()
    };
    let ours = {
        use perfschema::tokio::sync;
        of_all!()
    };
    for (ours, tokios) in ours.iter().zip(&tokios) {
        assert_eq!(ours, tokios);
    }
    for number in 0..5 {
        assert!(
            [false, true].into_iter().all(|has| ours.iter().any(|(_, of_threads)| of_threads[number] == has)),
            "{number} is seen"
        );
    }
    use perfschema::tokio::sync as ours;
    fn sent<F: Future + Send>(_: F) {}
    let lock = Arc::new(ours::Mutex::new(Cell::new(1)));
    sent(lock.lock());
    sent(Arc::clone(&lock).lock_owned());
    let book = Arc::new(ours::RwLock::new(1));
    sent(book.read());
    sent(book.write());
    sent(Arc::clone(&book).read_owned());
    sent(book.write_owned());
    let (sender, mut receiver) = ours::mpsc::channel(1);
    sent(sender.send(Cell::new(1)));
    sent(receiver.recv());
    sent(sender.reserve_owned());
    let permits = Arc::new(ours::Semaphore::new(1));
    sent(permits.acquire());
    sent(permits.acquire_owned());
    sent(ours::Barrier::new(1).wait());
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
