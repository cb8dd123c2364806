//! # perfschema-core
//!
//! **What.** MySQL's Performance Schema for any program: waits, stages, statements and transactions are recorded, and metrics counted, in fixed memory, without locks
//! or allocation, and read live as tables. `no_std`, no `alloc`, no `unsafe`.
//!
//! **Why.** So that one can ask a running program what it waits for, while it waits: which thread, on which lock, held by whom,
//! since when, from which source line.
//!
//! **How.** All state is one [`Region`]: a block of 64-bit words with a header and sections, sized once by a [`Config`].
//! ```text
//!  instrumentation point ─ switches ─→ Actor ─ plain stores ─→ Region ─ versioned reads ─→ tables::* ─→ typed rows ─→ Rust, SQL, text
//! ```
//! - [`Region::register`] makes an instrument known, [`Region::create_instance`] a lock.
//! - An [`Actor`] records for one thread: [`begin`](Actor::begin), [`end`](Actor::end) of waits, [`begin_stage`](Actor::begin_stage),
//!   [`begin_statement`](Actor::begin_statement), [`begin_transaction`](Actor::begin_transaction), [`count_metric`](Actor::count_metric).
//! - [`tables`] has one module a table; [`tables::ALL`] lists them.
//!
//! ```
//! use perfschema_core::timer::{SystemClock, Timers};
//! # use perfschema_core::{Actor, ActorIdentity, Config, Held, Identity, InstrumentName, Operation, Region, Setting, StaticRegion};
//! # use perfschema_core::{WaitStart, tables};
//! static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
//! let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &Timers::calibrate())?;
//! let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
//! region.enable_everything();
//! let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
//! let wait = actor.begin(&SystemClock, region.switches(class), class, &WaitStart::new(Operation::Lock));
//! // Another part of the program looks while the thread waits.
//! region.scan(&tables::EventsWaitsCurrent, |row| assert_eq!((row.operation, row.timer_end), ("lock", None)));
//! actor.end(&SystemClock, wait, Held::None);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! **What it does not do.** It hooks nothing by itself; the crate `perfschema` does that for programs with `std`. Recording reads no clock
//! but the one it is given; readers ask the system's how long what runs has lasted. It does not aggregate in the background: readers pay for sums.
//!
//! **Without an operating system** the program gives what a system would:
//! - a clock, before [`Timers::calibrate`](timer::Timers::calibrate): [`set_external_clock`](timer::set_external_clock), with embassy
//!   `set_external_clock(embassy_time_driver::now, embassy_time_driver::TICK_HZ)`, or on a Cortex-M3 or above `use_cycle_counter`. Without one, where the processor has no counter, events are counted and all times are 0.
//! - where there are no 64-bit atomics (thumbv6m, thumbv7em, riscv32), an implementation of the crate `critical-section`, which the chip's or
//!   the executor's crate usually has: else it does not link.
//! - an [`Actor`] for each level that records: an interrupt handler shares none with what it interrupts. It is `Send`, not `Sync`: a `#[local]`
//!   resource of RTIC, or an argument of a task; async tasks of one executor may share one with [`begin_concurrent`](Actor::begin_concurrent).
//!   A handler that the critical section does not mask (NMI, HardFault, a radio's own) must not record.
//! - a `&'static Region` where interrupts and tasks are to have it: of RTIC `#[init(local = [region: Option<Region<'static>> = None])]` and
//!   `.insert(…)`, otherwise a `StaticCell`.
//! - stack where tables are read: 7 kB for those of waits and threads, 16 for those of statements (thumbv7em, `opt-level = "s"`), twice to five
//!   times that without optimization, and 10 more where there are histograms. Recording takes some 1 kB, [`Actor::attach`] 3, [`Region::create`] 4.
//! - flash: some 40 kB where waits are recorded and no table is read, of which 9 are of histograms, also where there are none (the same target).
//!
//! A table may be read in an interrupt handler. What that has interrupted in the middle of an event is then left out of the tables by thread,
//! which [`table::Sweep`] counts; the global sums have it. The same is true of a region whose device was reset in the middle.
//!
//! Rows and errors are `Debug`, errors `Display`, too: defmt prints them by its `Debug2Format` and `Display2Format`.
//!
//! `core-nostd/examples/embedded.rs` is such a program in one file, `ci/firmware` one with interrupts for a Cortex-M, which QEMU runs.
//!
//! **How to check it, and your code over it.** `docs/memory-model.md` states every lock-free protocol and the commands that try it.
//! - *Loom models* of code that embeds the core: build with `RUSTFLAGS="--cfg perfschema_loom"`, and a [`Word`] is loom's. Some sizes are
//!   smaller then, so that wrapping and full are common. `loom-tests/src/lib.rs` says what to know, `loom-tests/tests/example.rs` is one.
//! - *Fuzz targets* for code that reads regions: any bytes become words with [`copy_from_bytes`], and [`Region::open`] takes or refuses them.
//!   `fuzz/src/lib.rs` has an example, and valid regions to damage.
//!
//! The specification is MySQL's worklogs 2360, 4678, 4813, 4896 and 5316; `ARCHITECTURE.md` at the root of the repository says how the parts hang together.
#![warn(clippy::std_instead_of_core, clippy::alloc_instead_of_core)]
#![cfg_attr(not(any(test, perfschema_loom)), no_std)]
#![forbid(unsafe_code)]

mod actor;
mod class;
mod config;
pub mod digest;
mod event;
mod file;
mod fork;
pub mod histogram;
mod instance;
#[cfg(all(test, not(any(perfschema_loom, miri))))]
mod interrupt;
mod io;
mod long_history;
mod lost;
mod memory;
pub mod metric;
#[cfg(perfschema_loom)]
#[doc(hidden)]
pub mod model;
pub mod name;
mod nest;
mod operation;
pub mod options;
mod path;
pub mod pattern;
pub mod picotime;
mod pool;
mod record;
mod region;
mod ring;
mod setup;
mod slot;
mod socket;
mod source;
mod stage;
mod stat;
mod statement;
mod statement_digest;
mod sync;
pub mod table;
pub mod tables;
mod transaction;
mod wait;
mod wait_copy;
mod wait_histogram;

pub use actor::Actor;
pub use class::{Class, RegisterError, Setting};
pub use config::{Config, ConfigError, Size};
pub use file::{FileEvent, FileId, FileInstance, FileIo};
pub use fork::Child;
pub use instance::{Held, Instance, InstanceId};
pub use io::{IoSummary, IoSums};
pub use lost::Lost;
pub use memory::{MemoryChange, MemorySummary, MemoryUse};
pub use name::{InstrumentKind, InstrumentName, NameError};
pub use operation::{Group, Operation};
pub use perfschema_timer as timer;
pub use record::IoEvent;
#[cfg(not(perfschema_loom))]
pub use region::StaticRegion;
pub use region::{Identity, Now, Region, RegionError, Text, Timer, copy_from_bytes, zero};
pub use setup::{Consumer, Switches};
pub use slot::{ActorId, ActorIdentity, ThreadSetting, ThreadType};
pub use socket::{SocketAddress, SocketEvent, SocketInstance, SocketIo};
pub use stage::{StageId, StageProgress};
pub use stat::Summary;
pub use statement::{Statement, StatementError, StatementStart, StatementStatistics};
pub use sync::Word;
pub use transaction::{AccessMode, Transaction, TransactionDetails, TransactionStart, TransactionState, TransactionSummary};
pub use wait::{Wait, WaitStart};
pub use wait_copy::WaitCopy;

#[inline]
fn spin_loop() {
    #[cfg(not(perfschema_loom))]
    core::hint::spin_loop();
    #[cfg(perfschema_loom)]
    loom::thread::yield_now();
}
