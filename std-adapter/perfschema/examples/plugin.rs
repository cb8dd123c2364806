//! A library that a program loads while it runs, and lets go of: a plugin that has a performance schema of its own.
//!
//! `tests/unload.rs` does that with it.

use perfschema::sync::Mutex;
use perfschema::tables;

static LOCK: Mutex<()> = perfschema::mutex!("wait/synch/mutex/plugin/LOCK", ());

/// Locks, and returns how many waits there have been; 0 if nothing is recorded.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_locks() -> u64 {
    let Some(process) = perfschema::process().or_else(|| perfschema::start().ok()) else { return 0 };
    drop(LOCK.lock());
    let mut waits = 0;
    process.region().scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| waits += row.count_star);
    waits
}
