//! Recording allocates nothing, from a thread's first touch to its exit: counted below the allocator, where also the C library's own
//! allocations show, by a preloaded library.

use crate::{command, scratch, succeeds};
use perfschema::net::{Idle, TcpListener, TcpStream};
use perfschema::sync::{Condvar, Mutex, Once, RwLock};
use perfschema::tables;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;
use std::time::Duration;

static LOCK: Mutex<u64> = perfschema::mutex!("wait/synch/mutex/test/lock", 0);
static DICTIONARY: RwLock<u64> = perfschema::rwlock!("wait/synch/rwlock/test/dictionary", 0);
static CHANGED: Condvar = perfschema::condvar!("wait/synch/cond/test/changed");
static HANDLER: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/handler", ());

/// A function of the preloaded library.
fn preloaded(name: &std::ffi::CStr) -> *mut libc::c_void {
    // SAFETY: the name ends with a zero.
    let function = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    assert!(!function.is_null(), "the counter is not preloaded");
    function
}

fn watch(on: bool) {
    // SAFETY: the function's type, as malloc_counter.c has it.
    let watch: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(preloaded(c"perfschema_watch")) };
    watch(on.into());
}

fn counted() -> u64 {
    // SAFETY: as above.
    let counted: extern "C" fn() -> libc::c_ulong = unsafe { std::mem::transmute(preloaded(c"perfschema_counted")) };
    counted()
}

/// Runs it in a thread of the C library's: std's allocate and free things of their own at their end.
fn thread(body: extern "C" fn(*mut libc::c_void) -> *mut libc::c_void) {
    let mut thread = 0;
    // SAFETY: a function of the right type, joined before this returns.
    unsafe {
        assert_eq!(libc::pthread_create(&raw mut thread, std::ptr::null(), body, std::ptr::null_mut()), 0);
        assert_eq!(libc::pthread_join(thread, std::ptr::null_mut()), 0);
    }
}

extern "C" fn on_signal(_: libc::c_int) {
    drop(HANDLER.lock().unwrap());
}

extern "C" fn records(_: *mut libc::c_void) -> *mut libc::c_void {
    watch(true);
    for _ in 0..20_000 {
        *LOCK.lock().unwrap() += *DICTIONARY.read().unwrap();
    }
    *DICTIONARY.write().unwrap() += 1;
    let guard = LOCK.lock().unwrap();
    drop(CHANGED.wait_timeout(guard, Duration::from_millis(1)).unwrap());
    Once::new().call_once(|| ());
    drop(Mutex::new(0).lock());
    for _ in 0..10 {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        client.write_all(b"request").unwrap();
        server.idle(|mut server| server.read_exact(&mut [0; 7])).unwrap();
        (&server).write_all(b"answer").unwrap();
        client.read_exact(&mut [0; 6]).unwrap();
        drop(client.try_clone().unwrap());
    }
    for _ in 0..100 {
        // SAFETY: the signal has a handler.
        unsafe { libc::raise(libc::SIGUSR1) };
    }
    // Watched to its end: the slots are given back after this returns.
    std::ptr::null_mut()
}

extern "C" fn allocates(_: *mut libc::c_void) -> *mut libc::c_void {
    watch(true);
    drop(std::hint::black_box(Box::new(1)));
    std::ptr::null_mut()
}

pub(crate) fn program() {
    let region = perfschema::builder().everything(true).environment(false).start().unwrap().region();
    // SAFETY: the handler takes a lock that no other code takes.
    unsafe { libc::signal(libc::SIGUSR1, on_signal as *const () as usize) };
    for _ in 0..3 {
        thread(records);
    }
    assert_eq!(counted(), 0, "calls of malloc, calloc, realloc, free and the like");
    let mut events = 0;
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| events += row.count_star);
    assert!(events > 3 * 40_000);
    thread(allocates);
    assert_eq!(counted(), 2, "the counter counts");
}

#[test]
fn none_from_first_touch_to_exit_below_the_allocator() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/malloc_counter.c");
    let library = scratch("malloc_counter.so");
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]).arg(&library).arg(source).status();
    assert!(compiled.expect("a C compiler, which Rust's linking needs too").success());
    succeeds(command("allocations", "").env("LD_PRELOAD", &library));
    let _ = std::fs::remove_file(library);
}
