//! `tokio::sync`, instrumented: the same names, so that a `use` line is the whole change.
//!
//! [`tokio`](super) says what a wait is here.
//!
//! | type | instrument by default | operations recorded |
//! |---|---|---|
//! | [`Mutex`] | `wait/synch/mutex/tokio/Mutex` | `lock`, `try_lock` |
//! | [`RwLock`] | `wait/synch/rwlock/tokio/RwLock` | `read_lock`, `write_lock`, `try_read_lock`, `try_write_lock` |
//! | [`Semaphore`] | `wait/synch/semaphore/tokio/Semaphore` | `acquire`, `try_acquire`, however many permits |
//! | [`Notify`] | `wait/synch/cond/tokio/Notify` | `wait` |
//! | [`Barrier`] | `wait/synch/barrier/tokio/Barrier` | `barrier_wait` |
//! | [`OnceCell`], [`SetOnce`] | `wait/synch/once/tokio/OnceCell`, `…/SetOnce` | `call_once`, until there is a value |
//! | [`mpsc`] | `wait/synch/mpsc/tokio/channel` | `send` where it can wait, `recv` |
//! | [`watch`] | `wait/synch/watch/tokio/channel` | `wait` |
//! | [`oneshot`] | `wait/synch/oneshot/tokio/channel` | `recv` |
//! | [`broadcast`] | `wait/synch/broadcast/tokio/channel` | `recv` |
//!
//! `with_instrument` gives an object an instrument of its own, also in a `static`; the macros of [`perfschema::sync`](crate::sync) make std's.
//!
//! ```
//! use perfschema::{Instrument, tables, task::attach, tokio::sync::Mutex};
//! static LOCK_ORDERS: Mutex<u32> = Mutex::with_instrument(&ORDERS, 0);
//! static ORDERS: Instrument = Instrument::new("wait/synch/mutex/app/LOCK_orders");
//! # tokio::runtime::Builder::new_multi_thread().build()?.block_on(async {
//! let process = perfschema::start()?;
//! tokio::spawn(attach("task/app/order", async {
//!     let mut orders = LOCK_ORDERS.lock().await;
//!     tokio::task::yield_now().await; // It may go on on another thread; the task holds the lock all the same.
//!     let task = perfschema::thread::thread_id();
//!     process.region().scan(&tables::MutexInstances, |lock| assert_eq!(lock.locked_by_thread_id, task));
//!     *orders += 1;
//! }))
//! .await?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Who holds it.** LOCKED_BY_THREAD_ID is that of the task that has locked it, on whatever threads it is polled meanwhile, also when the guard
//! was given to another one. Of a task that is not attached it is that of the thread that polled it then.
//!
//! **What is given up** before its turn has come is a wait in vain, and counts as any other. Who is next is tokio's affair, as ever.
//!
//! **What it costs.** While its instrument is off, or nothing records yet, two loads and a branch as std's locks, and what [`tokio`](super) says
//! for a future, which is some 150 bytes larger. A lock is 24 bytes larger than tokio's, its guard up to as many; a channel is one allocation more
//! when it is made.
//!
//! What tokio has and this cannot: owned guards of what borrows, `T` being `'static` there. [`SemaphorePermit`] is tokio's, and so is what its
//! `semaphore` returns.

mod barrier;
pub mod broadcast;
mod ends;
mod guard;
pub mod mpsc;
mod mutex;
mod notify;
mod once;
pub mod oneshot;
mod owned;
mod rwlock;
mod semaphore;
mod wait;
pub mod watch;

/// The futures that have names.
pub mod futures {
    pub use super::notify::{Notified, OwnedNotified};
}

pub use self::{
    barrier::Barrier,
    mutex::{MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard},
    notify::Notify,
    once::{OnceCell, SetOnce},
    rwlock::{
        OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockMappedWriteGuard,
        RwLockReadGuard, RwLockWriteGuard,
    },
    semaphore::{OwnedSemaphorePermit, Semaphore},
};

pub use ::tokio::sync::{
    AcquireError, BarrierWaitResult, SemaphorePermit, SetError, SetOnceError, TryAcquireError, TryLockError,
};
