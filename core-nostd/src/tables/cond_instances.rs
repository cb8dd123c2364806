//! `cond_instances`: the condition variables that are alive now.

use crate::region::{Region, Section, Text};
use crate::table::{Declaration, Rights, Sweep, TableSource, example, row};

row! {
    /// A row of [`cond_instances`](CondInstances).
    pub struct CondInstancesRow {
        /// Instrument name.
        NAME as name: Text<128>,
        /// Address of the condition variable in memory.
        OBJECT_INSTANCE_BEGIN as object_instance_begin: u64,
    }
}

/// `cond_instances`
#[doc = example!(
    "There is one condition variable:",
    CondInstances,
    "{} {:#x}",
    [row.name, row.object_instance_begin],
    ["wait/synch/cond/app/COND_queue 0x3000"]
)]
#[derive(Clone, Copy, Debug)]
pub struct CondInstances;

impl TableSource for CondInstances {
    type Row = CondInstancesRow;
    const DECLARATION: Declaration = Declaration {
        name: "cond_instances",
        doc: "The condition variables that exist now.",
        columns: CondInstancesRow::COLUMNS,
        primary_key: &["OBJECT_INSTANCE_BEGIN"],
        rights: Rights::SELECT,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&CondInstancesRow)) -> Sweep {
        region.sweep_instances(Section::CondInstances, &mut |name, found| {
            each(&CondInstancesRow { name, object_instance_begin: found.address });
        })
    }
}
