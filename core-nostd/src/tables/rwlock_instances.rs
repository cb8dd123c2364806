//! `rwlock_instances`: the read-write locks that are alive now, and who holds them.

use crate::region::{Region, Section, Text};
use crate::table::{Declaration, Rights, Sweep, TableSource, example, row};

row! {
    /// A row of [`rwlock_instances`](RwlockInstances).
    pub struct RwlockInstancesRow {
        /// Instrument name.
        NAME as name: Text<128>,
        /// Address of the lock in memory.
        OBJECT_INSTANCE_BEGIN as object_instance_begin: u64,
        /// The thread that writes now, NULL if none does.
        WRITE_LOCKED_BY_THREAD_ID as write_locked_by_thread_id: Option<u64>,
        /// How many read now.
        READ_LOCKED_BY_COUNT as read_locked_by_count: u32,
    }
}

/// `rwlock_instances`
#[doc = example!(
    "One thread reads what the lock protects:",
    RwlockInstances,
    "{} {}",
    [row.name, row.read_locked_by_count],
    ["wait/synch/rwlock/app/LOCK_config 1"]
)]
#[derive(Clone, Copy, Debug)]
pub struct RwlockInstances;

impl TableSource for RwlockInstances {
    type Row = RwlockInstancesRow;
    const DECLARATION: Declaration = Declaration {
        name: "rwlock_instances",
        doc: "The read-write locks that exist now.",
        columns: RwlockInstancesRow::COLUMNS,
        primary_key: &["OBJECT_INSTANCE_BEGIN"],
        rights: Rights::SELECT,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&RwlockInstancesRow)) -> Sweep {
        region.sweep_instances(Section::RwlockInstances, &mut |name, found| {
            each(&RwlockInstancesRow {
                name,
                object_instance_begin: found.address,
                write_locked_by_thread_id: (found.holder != 0).then_some(found.holder),
                read_locked_by_count: found.readers,
            });
        })
    }
}
