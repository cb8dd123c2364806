//! # perfschema
//!
//! **What.** std's locks, threads, files and sockets with the same names, traits and errors, which record every wait: who waits, for which
//! lock, held by whom, for which file or connection, since when, from which source line; [waits](mod@wait) of a program's own; an allocator
//! that counts; [statements](mod@statement) and [stages](mod@stage), which say what a thread is asked for and what it is doing,
//! [transactions](mod@transaction), and [metrics](mod@metric), counters with names. The records are read live as MySQL's
//! `performance_schema` tables.
//!
//! **How.** Change the `use` line, name the lock, start the performance schema, read a table:
//!
#![cfg_attr(feature = "instrument", doc = "```")]
#![cfg_attr(not(feature = "instrument"), doc = "```ignore")]
//! use perfschema::{render, sync::Mutex, tables};
//!
//! static COUNTER: Mutex<u64> = perfschema::mutex!("wait/synch/mutex/quickstart/COUNTER", 0);
//!
//! let process = perfschema::start()?;
//! std::thread::scope(|scope| {
//!     for _ in 0..4 {
//!         scope.spawn(|| (0..1000).for_each(|_| *COUNTER.lock().unwrap() += 1));
//!     }
//! });
//! let region = process.region();
//! let grid = render::Grid::of(region, &tables::EventsWaitsSummaryGlobalByEventName);
//! print!("{}", grid.boxed());
//! # let mut count = 0;
//! # region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| count += row.count_star);
//! # assert_eq!(count, 4000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **How it fits.** [`start`] takes a fixed block of memory and never any more; the total is [`Region::size_bytes`]. A lock registers at its
//! first use after that; before it, and while its instrument is off, a lock costs two loads and a branch more than std's. [`builder`]
//! sets sizes and switches, [`tables`] lists what there is to read, [`render`] prints it.
//!
//! **Async.** A future that is [attached](task) has an actor of its own, on whatever thread it is polled; with the feature `tokio`,
//! `perfschema::tokio` has the twins of its files, sockets, locks and channels, whose waits last until the operation completes.
//!
//! **Signal handlers** may record, by `try_lock` and whatever else does not wait; records allocate nothing. One exception: a thread's first
//! record asks the C library to be called at the thread's end, which allocates in glibc where 32 keys of threads were made before [`start`].
//! In such a program a thread records once, or calls [`thread::thread_id`], before a handler may interrupt it in malloc.
//!
//! **What it does not do.** Nothing runs before `main`, no thread runs in the background, nothing is written to disk. A program that
//! dies takes its tables with it, unless it shares them ([`Builder::share`]). Without the feature `instrument` the types of [`sync`] are std's own,
//! and [`start`] and what belongs to it are not there: a program calls them where the feature is on. A library that takes its locks from here leaves
//! the feature to whoever links it, who decides for all: it takes `default-features = false`, and is compiled and tested both ways, because what std's
//! types have and ours have not, as [`sync`], [`fs`](mod@fs) and [`net`](mod@net) say, is there without it. `use perfschema::*` would hide the
//! crate `core` behind [`core`](perfschema_core), which is ours.

// What the docs name then is not there.
#![cfg_attr(not(feature = "instrument"), allow(rustdoc::broken_intra_doc_links))]

pub mod alloc;
pub mod fs;
pub mod metric;
pub mod net;
pub mod os;
pub mod render;
pub mod stage;
pub mod statement;
pub mod sync;
pub mod task;
pub mod transaction;
pub mod wait;

#[cfg(all(feature = "instrument", not(target_has_atomic = "64")))]
compile_error!("perfschema needs 64-bit atomics; perfschema-core records without them");

#[cfg(feature = "instrument")]
mod begun;
#[cfg(all(feature = "instrument", target_os = "linux"))]
mod dump;
#[cfg(all(feature = "instrument", target_os = "linux"))]
mod fork;
#[cfg(feature = "instrument")]
mod hook;
#[cfg(feature = "instrument")]
mod instrument;
#[cfg(feature = "instrument")]
mod io;
#[cfg(feature = "instrument")]
mod left;
#[cfg(feature = "lock_api")]
pub mod lock_api;
#[cfg(feature = "lock_api_0_4")]
pub mod lock_api_0_4;
#[cfg(feature = "instrument")]
mod pin;
#[cfg(feature = "instrument")]
mod process;
#[cfg(any(feature = "lock_api", feature = "lock_api_0_4"))]
mod raw_lock;
#[cfg(feature = "instrument")]
mod recorded;
#[cfg(all(feature = "instrument", target_os = "linux"))]
mod share;
#[cfg(feature = "instrument")]
pub mod thread;
#[cfg(not(feature = "instrument"))]
#[path = "thread/off.rs"]
pub mod thread;
#[cfg(all(feature = "tokio", feature = "instrument"))]
pub mod tokio;
#[cfg(all(feature = "tokio", not(feature = "instrument")))]
#[path = "tokio/off.rs"]
pub mod tokio;

#[cfg(feature = "instrument")]
pub use instrument::Instrument;
pub use perfschema_core as core;
pub use perfschema_core::{Consumer, Lost, Now, Region, Setting, Size, Summary, tables};
#[cfg(feature = "instrument")]
pub use process::{Builder, Process, StartError, builder, process, start};
#[cfg(all(feature = "instrument", target_os = "linux"))]
pub use share::{AttachError, Attached, ShareError, SharedFile, attach, shared_files};

/// A mutex with an instrument of its own, placed at the call site; also in a `static`. The name is checked when the program is compiled.
///
/// ```
/// use perfschema::sync::Mutex;
/// static LOCK_OPEN: Mutex<Vec<u32>> = perfschema::mutex!("wait/synch/mutex/app/LOCK_open", Vec::new());
/// LOCK_OPEN.lock().unwrap().push(1);
/// ```
/// ```compile_fail
/// # use perfschema::sync::Mutex;
/// static LOCK_OPEN: Mutex<()> = perfschema::mutex!("LOCK_open", ());
/// ```
/// ```compile_fail
/// # use perfschema::sync::Mutex;
/// static WRONG: Mutex<()> = perfschema::mutex!("wait/synch/rwlock/app/LOCK_open", ());
/// ```
#[macro_export]
macro_rules! mutex {
    ($name:literal, $value:expr $(,)?) => {
        $crate::__instrumented!(sync::Mutex, Mutex, $name, $value)
    };
}

/// A read-write lock with an instrument of its own; see [`mutex!`].
///
/// ```
/// use perfschema::sync::RwLock;
/// let dictionary: RwLock<Vec<String>> = perfschema::rwlock!("wait/synch/rwlock/app/dictionary", Vec::new());
/// assert!(dictionary.read().unwrap().is_empty());
/// ```
/// ```compile_fail
/// # use perfschema::sync::RwLock;
/// static WRONG: RwLock<()> = perfschema::rwlock!("wait/synch/mutex/app/dictionary", ());
/// ```
#[macro_export]
macro_rules! rwlock {
    ($name:literal, $value:expr $(,)?) => {
        $crate::__instrumented!(sync::RwLock, RwLock, $name, $value)
    };
}

/// A condition variable with an instrument of its own; see [`mutex!`].
///
/// ```
/// use perfschema::sync::Condvar;
/// let work: Condvar = perfschema::condvar!("wait/synch/cond/app/work");
/// work.notify_all();
/// ```
/// ```compile_fail
/// # use perfschema::sync::Condvar;
/// static WRONG: Condvar = perfschema::condvar!("wait/synch/mutex/app/work");
/// ```
#[macro_export]
macro_rules! condvar {
    ($name:literal $(,)?) => {
        $crate::__instrumented!(sync::Condvar, Cond, $name)
    };
}

/// A [`sync::Once`] with an instrument of its own; see [`mutex!`].
///
/// ```
/// use perfschema::sync::Once;
/// static START: Once = perfschema::once!("wait/synch/once/app/start");
/// START.call_once(|| ());
/// ```
/// ```compile_fail
/// # use perfschema::sync::Once;
/// static WRONG: Once = perfschema::once!("wait/synch/cond/app/start");
/// ```
#[macro_export]
macro_rules! once {
    ($name:literal $(,)?) => {
        $crate::__instrumented!(sync::Once, Synch, $name)
    };
}

/// The functions of [`fs`](mod@fs) with an instrument of their own; see [`Fs`](fs::Fs). Also in a `static`.
///
/// ```
/// use perfschema::fs::Fs;
/// static INDEX: Fs = perfschema::fs!("wait/io/file/app/index");
/// let path = std::env::temp_dir().join("perfschema-doc-index");
/// INDEX.write(&path, "one two")?;
/// assert_eq!(INDEX.read(&path)?, b"one two");
/// INDEX.remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
/// ```compile_fail
/// # use perfschema::fs::Fs;
/// static INDEX: Fs = perfschema::fs!("wait/io/socket/app/index");
/// ```
#[macro_export]
macro_rules! fs {
    ($name:literal $(,)?) => {
        $crate::__instrumented!(fs::Fs, File, $name)
    };
}

/// An allocator for `#[global_allocator]` with an instrument of its own, over std's or the one given; see [`alloc`](mod@alloc).
///
/// ```
/// use perfschema::alloc::Allocator;
/// #[global_allocator]
/// static ALLOCATOR: Allocator = perfschema::allocator!("memory/app/heap");
/// ```
/// ```compile_fail
/// # use perfschema::alloc::Allocator;
/// static ALLOCATOR: Allocator = perfschema::allocator!("wait/synch/mutex/app/heap");
/// ```
#[macro_export]
macro_rules! allocator {
    ($name:literal $(,)?) => {
        $crate::allocator!($name, ::std::alloc::System)
    };
    ($name:literal, $inner:expr $(,)?) => {
        $crate::alloc::Allocator::new($crate::memory!($name), $inner)
    };
}

/// Memory with an instrument of its own, counted where the program says so; see [`Memory`](alloc::Memory). Also in a `static`.
///
/// ```
/// use perfschema::alloc::Memory;
/// static CACHE: Memory = perfschema::memory!("memory/app/cache");
/// CACHE.allocated(4096);
/// ```
/// ```compile_fail
/// # use perfschema::alloc::Memory;
/// static CACHE: Memory = perfschema::memory!("wait/io/file/app/cache");
/// ```
#[macro_export]
macro_rules! memory {
    ($name:literal $(,)?) => {
        $crate::__instrumented!(alloc::Memory, Memory, $name)
    };
}

/// A stage with an instrument of its own, which threads can be in; see [`Stage`](stage::Stage). Also in a `static`.
///
/// ```
/// use perfschema::stage::Stage;
/// static SORTING: Stage = perfschema::stage!("stage/app/sorting result");
/// let _stage = SORTING.enter();
/// ```
/// ```compile_fail
/// # use perfschema::stage::Stage;
/// static SORTING: Stage = perfschema::stage!("memory/app/sorting");
/// ```
#[macro_export]
macro_rules! stage {
    ($name:literal $(,)?) => {
        $crate::__instrumented!(stage::Stage, Stage, $name)
    };
}

/// Statements with an instrument of their own, which threads can execute; see [`Statement`](statement::Statement). Also in a `static`.
///
/// ```
/// use perfschema::statement::Statement;
/// static SEARCH: Statement = perfschema::statement!("statement/app/search");
/// let _statement = SEARCH.begin("words with ä");
/// ```
/// ```compile_fail
/// # use perfschema::statement::Statement;
/// static SEARCH: Statement = perfschema::statement!("stage/app/search");
/// ```
#[macro_export]
macro_rules! statement {
    ($name:literal $(,)?) => {
        $crate::__instrumented!(statement::Statement, Statement, $name)
    };
}

/// Waits of the program's own with an instrument of their own; see [`Wait`](wait::Wait). Also in a `static`.
///
/// ```
/// use perfschema::wait::{Operation, Wait};
/// static POOL: Wait = perfschema::wait!("wait/app/db_pool");
/// let waiting = POOL.begin(Operation::Acquire);
/// // … until there is a connection …
/// drop(waiting);
/// ```
/// ```compile_fail
/// # use perfschema::wait::Wait;
/// static POOL: Wait = perfschema::wait!("wait/synch/mutex/app/db_pool");
/// ```
#[macro_export]
macro_rules! wait {
    ($name:literal $(,)?) => {
        $crate::__instrumented!(wait::Wait, Wait, $name)
    };
}

/// Ways to make sockets with an instrument of their own, and a second one for the connections that its listeners accept; see
/// [`Net`](net::Net). Also in a `static`.
///
/// ```
/// use perfschema::net::Net;
/// static METRICS: Net = perfschema::net!("wait/io/socket/app/metrics");
/// let socket = METRICS.bind_udp("127.0.0.1:0")?;
/// assert_eq!(socket.send_to(b"requests:1", socket.local_addr()?)?, 10);
/// # Ok::<(), std::io::Error>(())
/// ```
/// ```compile_fail
/// # use perfschema::net::Net;
/// static METRICS: Net = perfschema::net!("wait/io/socket/app/metrics", "wait/io/file/app/connections");
/// ```
#[macro_export]
macro_rules! net {
    ($name:literal $(, $connections:literal)? $(,)?) => {
        $crate::__instrumented_sockets!($name $(, $connections)?)
    };
}

/// Whether a name is one of its kind, when the program is compiled, with the instrumentation or without: so that switching it on breaks
/// nothing.
#[doc(hidden)]
#[macro_export]
macro_rules! __of_kind {
    ($kind:ident, $name:literal) => {
        const _: () =
            $crate::__check_kind($crate::core::InstrumentName::literal($name).kind(), $crate::core::InstrumentKind::$kind);
    };
}

/// Panics where an instrument is of another kind than what it is to record. A lock may be of a family of its own, but not of that of others:
/// its row would be in their table.
#[doc(hidden)]
#[track_caller]
pub const fn __check_kind(found: core::InstrumentKind, wanted: core::InstrumentKind) {
    use core::InstrumentKind;
    match wanted {
        InstrumentKind::File => assert!(matches!(found, InstrumentKind::File), "an instrument of files is named wait/io/file/…"),
        InstrumentKind::Socket => {
            assert!(matches!(found, InstrumentKind::Socket), "an instrument of sockets is named wait/io/socket/…");
        }
        InstrumentKind::Memory => assert!(matches!(found, InstrumentKind::Memory), "an instrument of memory is named memory/…"),
        InstrumentKind::Stage => assert!(matches!(found, InstrumentKind::Stage), "an instrument of a stage is named stage/…"),
        InstrumentKind::Statement => {
            assert!(matches!(found, InstrumentKind::Statement), "an instrument of statements is named statement/…");
        }
        InstrumentKind::Wait => assert!(
            matches!(found, InstrumentKind::Wait | InstrumentKind::Synch),
            "an instrument of a program's own waits is named wait/…, and not as one of mutexes, rwlocks, conditions, files or sockets"
        ),
        InstrumentKind::Mutex => assert!(
            matches!(found, InstrumentKind::Mutex | InstrumentKind::Synch),
            "an instrument of a mutex is named wait/synch/mutex/…, or wait/synch/… of a family of its own"
        ),
        InstrumentKind::RwLock => assert!(
            matches!(found, InstrumentKind::RwLock | InstrumentKind::Synch),
            "an instrument of a read-write lock is named wait/synch/rwlock/…, or wait/synch/… of a family of its own"
        ),
        InstrumentKind::Cond => assert!(
            matches!(found, InstrumentKind::Cond | InstrumentKind::Synch),
            "an instrument of a condition variable is named wait/synch/cond/…, or wait/synch/… of a family of its own"
        ),
        _ => assert!(
            matches!(found, InstrumentKind::Synch),
            "an instrument of any other lock is named wait/synch/…, and not as one of mutexes, rwlocks or conditions"
        ),
    }
}

/// An instrument in a `static` of its own, which nothing that the caller writes can mean.
#[doc(hidden)]
#[cfg(feature = "instrument")]
#[macro_export]
macro_rules! __instrument {
    ($name:literal) => {{
        static INSTRUMENT: $crate::Instrument = $crate::Instrument::new($name);
        &INSTRUMENT
    }};
}

#[doc(hidden)]
#[cfg(feature = "instrument")]
#[macro_export]
macro_rules! __instrumented_sockets {
    ($name:literal) => {{
        $crate::__of_kind!(Socket, $name);
        $crate::net::Net::__of($crate::__instrument!($name), ::core::option::Option::None)
    }};
    ($name:literal, $connections:literal) => {{
        $crate::__of_kind!(Socket, $name);
        $crate::__of_kind!(Socket, $connections);
        $crate::net::Net::__of($crate::__instrument!($name), ::core::option::Option::Some($crate::__instrument!($connections)))
    }};
}

#[doc(hidden)]
#[cfg(not(feature = "instrument"))]
#[macro_export]
macro_rules! __instrumented_sockets {
    ($($name:literal),*) => {{
        $( $crate::__of_kind!(Socket, $name); )*
        $crate::net::Net::new()
    }};
}

/// What has an instrument of its own: its type, as a path in this crate, and of which kind that instrument is.
#[doc(hidden)]
#[cfg(feature = "instrument")]
#[macro_export]
macro_rules! __instrumented {
    ($($type:ident)::+, $kind:ident, $name:literal $(, $value:expr)?) => {{
        $crate::__of_kind!($kind, $name);
        $crate::$($type)::+::__of($crate::__instrument!($name) $(, $value)?)
    }};
}

#[doc(hidden)]
#[cfg(not(feature = "instrument"))]
#[macro_export]
macro_rules! __instrumented {
    ($($type:ident)::+, $kind:ident, $name:literal $(, $value:expr)?) => {{
        $crate::__of_kind!($kind, $name);
        $crate::$($type)::+::new($($value)?)
    }};
}

/// Its examples compile.
#[cfg(all(doctest, feature = "instrument"))]
#[doc = include_str!("../../../docs/guide.md")]
struct Guide;

/// Its examples, too.
#[cfg(all(doctest, feature = "instrument"))]
#[doc = include_str!("../../../README.md")]
struct Readme;
