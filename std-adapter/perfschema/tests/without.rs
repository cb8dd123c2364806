//! Without the feature `instrument` the types are std's own, and the macros make them.
#![cfg(not(feature = "instrument"))]

use std::any::TypeId;

#[test]
fn the_types_are_stds() {
    use perfschema::{sync, thread};
    assert_eq!(TypeId::of::<thread::JoinHandle<u32>>(), TypeId::of::<std::thread::JoinHandle<u32>>());
    assert_eq!(TypeId::of::<thread::Builder>(), TypeId::of::<std::thread::Builder>());
    thread::scope(|scope| scope.spawn(thread::park).thread().unpark());
    assert_eq!(TypeId::of::<sync::Mutex<u32>>(), TypeId::of::<std::sync::Mutex<u32>>());
    assert_eq!(TypeId::of::<sync::RwLock<u32>>(), TypeId::of::<std::sync::RwLock<u32>>());
    assert_eq!(TypeId::of::<sync::Condvar>(), TypeId::of::<std::sync::Condvar>());
    assert_eq!(TypeId::of::<sync::Once>(), TypeId::of::<std::sync::Once>());
    assert_eq!(TypeId::of::<sync::Barrier>(), TypeId::of::<std::sync::Barrier>());
    assert_eq!(TypeId::of::<sync::mpsc::Receiver<u32>>(), TypeId::of::<std::sync::mpsc::Receiver<u32>>());

    static LOCK: std::sync::Mutex<u32> = perfschema::mutex!("wait/synch/mutex/test/plain", 1);
    assert_eq!(*LOCK.lock().unwrap(), 1);
    let once: std::sync::Once = perfschema::once!("wait/synch/once/test/plain");
    assert!(!once.is_completed());
}

#[cfg(feature = "tokio")]
#[test]
fn tokios_types_are_tokios() {
    use perfschema::tokio::net::Idle;
    use perfschema::tokio::{fs, net, sync};
    assert_eq!(TypeId::of::<fs::File>(), TypeId::of::<tokio::fs::File>());
    assert_eq!(TypeId::of::<net::TcpStream>(), TypeId::of::<tokio::net::TcpStream>());
    assert_eq!(TypeId::of::<sync::Mutex<u32>>(), TypeId::of::<tokio::sync::Mutex<u32>>());
    assert_eq!(TypeId::of::<sync::mpsc::Receiver<u32>>(), TypeId::of::<tokio::sync::mpsc::Receiver<u32>>());
    // A client is waited for, and nobody is told.
    async fn request(client: &net::TcpStream) -> std::io::Result<()> {
        client.idle(client.readable()).await
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let served = async {
        let listener = net::TcpListener::bind("127.0.0.1:0").await?;
        let client = net::TcpStream::connect(listener.local_addr()?).await?;
        client.try_write(b"x")?;
        let (server, _) = listener.accept().await?;
        request(&server).await
    };
    runtime.block_on(served).unwrap();
}

/// Nor do waits last, or go anywhere.
#[test]
fn waits_are_nothing() {
    use perfschema::wait::{OfTask, Operation, Wait, Waiting};
    static POOL: Wait = perfschema::wait!("wait/test/pool");
    POOL.begin_for(Operation::Acquire, 1).set_bytes(1);
    let _: Waiting<OfTask> = POOL.begin_async(Operation::Acquire);
    assert_eq!(size_of::<(Wait, Waiting)>(), 0);
}

/// Metrics are nothing, and their names are checked all the same.
#[test]
fn metrics_count_nothing() {
    static COUNTER: perfschema::metric::Counter = perfschema::counter!("counter", "test", "", enabled);
    static LEVEL: perfschema::metric::Level = perfschema::level!("level", "test", "");
    COUNTER.inc();
    drop(COUNTER.time_in_micro_secs());
    LEVEL.add(1);
    assert!(!COUNTER.is_on());
}
