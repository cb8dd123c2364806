//! What the types that this crate mirrors are, its own are, too, and nothing more: a program that needs it compiles with both, and one that must
//! not does with neither.

use perfschema::fs;
use std::any::Any;
use std::cell::Cell;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

/// Whether a type has a trait.
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

/// Types, each with the traits that it has.
macro_rules! of_each {
    ($($type:ty,)*) => { vec![$((stringify!($type), traits!($type)),)*] };
}

macro_rules! list_of_traits {
    ($($name:path,)*) => {
        macro_rules! traits {
            ($type:ty) => { Vec::from([$((stringify!($name), has!($type: $name)),)*]) };
        }
    };
}

list_of_traits! {
    Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, std::fmt::Debug, std::fmt::Display, Clone, Copy, Default, PartialEq, std::hash::Hash,
    std::error::Error, Iterator, std::iter::FusedIterator,
}

/// Of types that can have anything in them.
macro_rules! of_values {
    ($types:ident) => {
        [
            $types!(u8),
            $types!(Cell<u8>),
            $types!(Rc<u8>),
            $types!(Box<dyn Any + Send>),
            $types!(std::sync::MutexGuard<'static, u8>),
        ]
        .concat()
    };
}

type Traits = (&'static str, Vec<(&'static str, bool)>);

fn are_alike(ours: &[Traits], theirs: &[Traits]) {
    assert!(ours.len() == theirs.len() && !ours.is_empty());
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert_eq!(ours, theirs, "ours and theirs");
    }
}

#[test]
fn mirrors_are_what_they_mirror() {
    macro_rules! with_value {
        ($value:ty) => {
            of_each![
                sync::Mutex<$value>,
                sync::MutexGuard<'static, $value>,
                sync::RwLock<$value>,
                sync::RwLockReadGuard<'static, $value>,
                sync::RwLockWriteGuard<'static, $value>,
                sync::OnceLock<$value>,
                sync::LazyLock<$value>,
                sync::mpsc::Sender<$value>,
                sync::mpsc::SyncSender<$value>,
                sync::mpsc::Receiver<$value>,
                sync::mpsc::Iter<'static, $value>,
                sync::mpsc::TryIter<'static, $value>,
                sync::mpsc::IntoIter<$value>,
                thread::JoinHandle<$value>,
                thread::ScopedJoinHandle<'static, $value>,
            ]
        };
    }
    macro_rules! without {
        () => {
            of_each![
                sync::Condvar,
                sync::Once,
                sync::Barrier,
                thread::Builder,
                thread::Scope<'static, 'static>,
                fs::File,
                fs::OpenOptions,
                net::TcpStream,
                net::TcpListener,
                net::UdpSocket,
                net::Incoming<'static>,
            ]
        };
    }
    let ours = {
        use perfschema::{fs, net, sync, thread};
        [of_values!(with_value), without!()].concat()
    };
    let theirs = {
        use std::{fs, net, sync, thread};
        [of_values!(with_value), without!()].concat()
    };
    are_alike(&ours, &theirs);
}

/// With the instrumentation as without: who links a library decides, and it must not break.
#[test]
fn an_attached_future_goes_where_the_future_goes() {
    use perfschema::task::Attached;
    use std::future::Ready;
    type Traits = [bool; 5];
    macro_rules! all {
        ($type:ty) => {
            [has!($type: Send), has!($type: Sync), has!($type: Unpin), has!($type: UnwindSafe), has!($type: RefUnwindSafe)]
        };
    }
    let all: [(Traits, Traits); 4] = [
        (all!(Attached<Ready<u8>>), all!(Ready<u8>)),
        (all!(Attached<Ready<Cell<u8>>>), all!(Ready<Cell<u8>>)),
        (all!(Attached<Ready<Rc<u8>>>), all!(Ready<Rc<u8>>)),
        (all!(Attached<Ready<&mut u8>>), all!(Ready<&mut u8>)),
    ];
    assert!(all.iter().all(|(attached, future)| attached == future), "{all:?}");
}

#[cfg(unix)]
#[test]
fn mirrors_of_unix_sockets_are() {
    macro_rules! all {
        () => {
            of_each![net::UnixStream, net::UnixListener, net::UnixDatagram, net::Incoming<'static>,]
        };
    }
    let ours = {
        use perfschema::os::unix::net;
        all!()
    };
    let theirs = {
        use std::os::unix::net;
        all!()
    };
    are_alike(&ours, &theirs);
}

#[cfg(feature = "tokio")]
#[test]
fn mirrors_of_tokios_files_and_sockets_are() {
    macro_rules! all {
        () => {
            of_each![
                fs::File,
                fs::OpenOptions,
                net::TcpStream,
                net::TcpListener,
                net::TcpSocket,
                net::UdpSocket,
                net::tcp::ReadHalf<'static>,
                net::tcp::WriteHalf<'static>,
                net::tcp::OwnedReadHalf,
                net::tcp::OwnedWriteHalf,
                net::tcp::ReuniteError,
            ]
        };
    }
    #[cfg(unix)]
    macro_rules! of_unix {
        () => {
            of_each![
                net::UnixStream,
                net::UnixListener,
                net::UnixSocket,
                net::UnixDatagram,
                net::unix::ReadHalf<'static>,
                net::unix::WriteHalf<'static>,
                net::unix::OwnedReadHalf,
                net::unix::OwnedWriteHalf,
                net::unix::ReuniteError,
            ]
        };
    }
    #[cfg(not(unix))]
    macro_rules! of_unix {
        () => {
            Vec::new()
        };
    }
    let ours = {
        use perfschema::tokio::{fs, net};
        [all!(), of_unix!()].concat()
    };
    let theirs = {
        use tokio::{fs, net};
        [all!(), of_unix!()].concat()
    };
    are_alike(&ours, &theirs);
}

/// tokio's locks and channels, by what is in them: neither more nor less may go to another thread.
#[cfg(feature = "tokio")]
#[test]
fn what_goes_to_other_threads_does() {
    use std::sync::Arc;
    /// It cannot be printed, so what has it in it may not be, either.
    struct Plain;
    macro_rules! with_value {
        ($value:ty) => {
            of_each![
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
                sync::mpsc::Sender<$value>,
                sync::mpsc::WeakSender<$value>,
                sync::mpsc::OwnedPermit<$value>,
                sync::mpsc::Receiver<$value>,
                sync::mpsc::UnboundedSender<$value>,
                sync::mpsc::UnboundedReceiver<$value>,
                sync::OnceCell<$value>,
                sync::SetOnce<$value>,
                sync::SetError<$value>,
                sync::SetOnceError<$value>,
                sync::watch::Sender<$value>,
                sync::watch::Receiver<$value>,
                sync::watch::Ref<'static, $value>,
                sync::watch::error::SendError<$value>,
                sync::oneshot::Sender<$value>,
                sync::oneshot::Receiver<$value>,
                sync::oneshot::error::RecvError,
                sync::oneshot::error::TryRecvError,
                sync::broadcast::Sender<$value>,
                sync::broadcast::WeakSender<$value>,
                sync::broadcast::Receiver<$value>,
                sync::broadcast::error::SendError<$value>,
                sync::broadcast::error::RecvError,
                sync::broadcast::error::TryRecvError,
            ]
        };
    }
    macro_rules! without {
        () => {
            of_each![
                sync::Semaphore,
                sync::SemaphorePermit<'static>,
                sync::OwnedSemaphorePermit,
                sync::Notify,
                sync::futures::Notified<'static>,
                sync::futures::OwnedNotified,
                sync::Barrier,
                sync::watch::error::RecvError,
            ]
        };
    }
    let theirs = {
        use tokio::sync;
        [of_values!(with_value), with_value!(Plain), without!()].concat()
    };
    let ours = {
        use perfschema::tokio::sync;
        [of_values!(with_value), with_value!(Plain), without!()].concat()
    };
    are_alike(&ours, &theirs);
    for number in 0..5 {
        assert!([false, true].into_iter().all(|has| ours.iter().any(|(_, traits)| traits[number].1 == has)), "{number} is seen");
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
    let (sender, mut receiver) = ours::watch::channel(1);
    sent(receiver.changed());
    sent(receiver.wait_for(|_| true));
    sent(async move { sender.closed().await });
    let (cell, set) = (ours::OnceCell::new(), ours::SetOnce::from(1));
    sent(cell.get_or_init(async || 1));
    sent(cell.get_or_try_init(async || Err("never")));
    sent(set.wait());
    sent(ours::oneshot::channel::<Cell<u8>>().1);
    let (sender, mut receiver) = ours::broadcast::channel::<Cell<u8>>(1);
    sent(receiver.recv());
    sent(async move { sender.closed().await });
    let permits = Arc::new(ours::Semaphore::new(1));
    sent(permits.acquire());
    sent(permits.acquire_owned());
    sent(ours::Barrier::new(1).wait());
}

/// What borrows for long goes where something is wanted that borrows for less long.
#[test]
fn what_borrows_for_long_borrows_for_short() {
    macro_rules! shorter {
        ($($type:ident$(::$path:ident)* <$($value:ty)?>;)*) => {
            $({
                fn _shorter<'short, 'long: 'short>(it: $type$(::$path)*<'long $(, $value)?>) -> $type$(::$path)*<'short $(, $value)?> {
                    it
                }
            })*
        };
    }
    {
        use perfschema::{net, sync};
        shorter! {
            sync::MutexGuard<u8>;
            sync::RwLockReadGuard<u8>;
            sync::RwLockWriteGuard<u8>;
            sync::mpsc::Iter<u8>;
            net::Incoming<>;
        }
    }
    #[cfg(feature = "tokio")]
    {
        use perfschema::tokio::{net, sync};
        shorter! {
            sync::MutexGuard<u8>;
            sync::MappedMutexGuard<u8>;
            sync::RwLockReadGuard<u8>;
            sync::RwLockWriteGuard<u8>;
            sync::RwLockMappedWriteGuard<u8>;
            sync::futures::Notified<>;
            sync::watch::Ref<u8>;
            net::tcp::ReadHalf<>;
            net::tcp::WriteHalf<>;
        }
    }
}

/// A program that names the type parameters of a function names them in tokio's order.
#[cfg(feature = "tokio")]
#[test]
fn type_parameters_are_where_they_are() {
    use std::future::{Ready, ready};
    use std::sync::Arc;
    macro_rules! named {
        () => {{
            let lock = Arc::new(Mutex::new((1_u8, 'a')));
            let mut guard = MutexGuard::map::<u8, _>(lock.try_lock().unwrap(), |pair| &mut pair.0);
            *MappedMutexGuard::map::<u8, _>(guard, |byte| byte) += 1;
            guard = MutexGuard::try_map::<u8, _>(lock.try_lock().unwrap(), |pair| Some(&mut pair.0)).unwrap();
            *MappedMutexGuard::try_map::<u8, _>(guard, |byte| Some(&mut *byte)).unwrap() += 1;
            let owned = || Arc::clone(&lock).try_lock_owned().unwrap();
            let mut guard = OwnedMutexGuard::map::<u8, _>(owned(), |pair| &mut pair.0);
            *OwnedMappedMutexGuard::map::<u8, _>(guard, |byte| byte) += 1;
            guard = OwnedMutexGuard::try_map::<u8, _>(owned(), |pair| Some(&mut pair.0)).unwrap();
            *OwnedMappedMutexGuard::try_map::<u8, _>(guard, |byte| Some(&mut *byte)).unwrap() += 1;
            let lock = Arc::new(RwLock::new(*lock.try_lock().unwrap()));
            let guard = RwLockWriteGuard::map::<_, u8>(lock.try_write().unwrap(), |pair| &mut pair.0);
            *RwLockMappedWriteGuard::try_map::<_, u8>(guard, |byte| Some(&mut *byte)).unwrap() += 1;
            let guard = OwnedRwLockWriteGuard::map::<_, u8>(Arc::clone(&lock).try_write_owned().unwrap(), |pair| &mut pair.0);
            *OwnedRwLockMappedWriteGuard::try_map::<_, u8>(guard, |byte| Some(&mut *byte)).unwrap() += 1;
            let cell = OnceCell::<u8>::new();
            drop(cell.get_or_init::<fn() -> Ready<u8>, Ready<u8>>(|| ready(1)));
            drop(cell.get_or_try_init::<char, fn() -> Ready<Result<u8, char>>, Ready<Result<u8, char>>>(|| ready(Ok(1))));
            let (sender, _receiver) = watch::channel::<u8>(0);
            sender.send_modify::<fn(&mut u8)>(|byte| *byte += 1);
            assert!(sender.send_if_modified::<fn(&mut u8) -> bool>(|byte| *byte == 1));
            *RwLockReadGuard::map::<_, u8>(lock.try_read().unwrap(), |pair| &pair.0)
        }};
    }
    let theirs = {
        use tokio::sync::*;
        named!()
    };
    let ours = {
        use perfschema::tokio::sync::*;
        named!()
    };
    assert_eq!((ours, theirs), (7, 7));
}

/// What tokio has on some systems only is there on those that we build for.
#[cfg(all(feature = "tokio", any(target_os = "linux", target_os = "macos", target_os = "freebsd")))]
#[test]
fn methods_of_some_systems_are_there() {
    use perfschema::tokio::net::{TcpSocket, UdpSocket};
    fn are<T>(_: fn(&T) -> std::io::Result<u32>, _: fn(&T, u32) -> std::io::Result<()>) {}
    are(TcpSocket::tclass_v6, TcpSocket::set_tclass_v6);
    are(UdpSocket::tclass_v6, UdpSocket::set_tclass_v6);
}

/// The compiler warns where a program makes something and ignores it, as it does of std's and tokio's.
#[deny(unfulfilled_lint_expectations)]
#[test]
fn what_is_of_no_use_alone_is_warned_of() {
    macro_rules! ignored {
        ($($made:expr;)*) => {
            $(
                #[expect(unused_must_use, reason = "it is what is asked for")]
                {
                    $made;
                }
            )*
        };
    }
    use perfschema::{sync, thread};
    ignored! {
        sync::Barrier::new(1);
        sync::Condvar::new();
        sync::Once::new();
        sync::mpsc::channel::<u8>();
        sync::mpsc::sync_channel::<u8>(1);
        thread::spawn(|| ()).thread();
        fs::File::options();
        fs::OpenOptions::new();
    }
    thread::scope(|scope| {
        ignored! { scope.spawn(|| ()).thread(); }
    });
    #[cfg(feature = "tokio")]
    {
        let (sender, _receiver) = perfschema::tokio::sync::mpsc::channel::<u8>(1);
        let to_all = perfschema::tokio::sync::broadcast::Sender::<u8>::new(1);
        ignored! {
            perfschema::tokio::fs::File::options();
            sender.downgrade();
            to_all.downgrade();
            to_all.clone().downgrade().upgrade();
        }
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

/// So does what tasks share.
#[cfg(feature = "tokio")]
#[test]
fn what_tasks_share_shows_as_it_does() {
    macro_rules! shown {
        () => {
            format!("{:?} {:?}", Notify::new(), std::sync::Arc::new(Semaphore::new(2)).try_acquire_owned())
        };
    }
    let theirs = {
        use tokio::sync::{Notify, Semaphore};
        shown!()
    };
    let ours = {
        use perfschema::tokio::sync::{Notify, Semaphore};
        shown!()
    };
    assert_eq!(ours, theirs);
}
