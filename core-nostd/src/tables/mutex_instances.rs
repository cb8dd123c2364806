//! `mutex_instances`: the mutexes that are alive now, and who holds them.

use crate::region::{Region, Section, Text};
use crate::table::{Declaration, Rights, Sweep, TableSource, example, row};

row! {
    /// A row of [`mutex_instances`](MutexInstances).
    pub struct MutexInstancesRow {
        /// Instrument name.
        NAME as name: Text<128>,
        /// Address of the mutex in memory.
        OBJECT_INSTANCE_BEGIN as object_instance_begin: u64,
        /// The thread that holds it now, NULL if none does.
        LOCKED_BY_THREAD_ID as locked_by_thread_id: Option<u64>,
    }
}

/// `mutex_instances`
#[doc = example!(
    "Thread 1 holds the lock:",
    MutexInstances,
    "{} {:?}",
    [row.name, row.locked_by_thread_id],
    ["wait/synch/mutex/app/LOCK_open Some(1)"]
)]
#[derive(Clone, Copy, Debug)]
pub struct MutexInstances;

impl TableSource for MutexInstances {
    type Row = MutexInstancesRow;
    const DECLARATION: Declaration = Declaration {
        name: "mutex_instances",
        doc: "The mutexes that exist now.",
        columns: MutexInstancesRow::COLUMNS,
        primary_key: &["OBJECT_INSTANCE_BEGIN"],
        rights: Rights::SELECT,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&MutexInstancesRow)) -> Sweep {
        region.sweep_instances(Section::MutexInstances, &mut |name, found| {
            each(&MutexInstancesRow {
                name,
                object_instance_begin: found.address,
                locked_by_thread_id: (found.holder != 0).then_some(found.holder),
            });
        })
    }
}
