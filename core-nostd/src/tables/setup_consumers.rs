//! `setup_consumers`: where recorded events go. Rows are fixed.

use super::setup_instruments::yes_no;
use crate::region::Region;
use crate::setup::Consumer;
use crate::table::{Assignments, Declaration, Rights, Sweep, TableError, TableSource, YesNo, example, row};

row! {
    /// A row of [`setup_consumers`](SetupConsumers).
    pub struct SetupConsumersRow {
        /// Consumer name: a table, or a level that others depend on.
        NAME as name: &'static str,
        /// Whether it is enabled; a disabled table is frozen.
        ENABLED as enabled: YesNo,
    }
}

/// `setup_consumers`
#[doc = example!(
    "Everything was enabled:",
    SetupConsumers,
    if row.name.ends_with("instrumentation"),
    "{} {:?}",
    [row.name, row.enabled],
    ["global_instrumentation Yes", "thread_instrumentation Yes"]
)]
#[derive(Clone, Copy, Debug)]
pub struct SetupConsumers;

impl TableSource for SetupConsumers {
    type Row = SetupConsumersRow;
    const DECLARATION: Declaration = Declaration {
        name: "setup_consumers",
        doc: "The consumers of events, and whether they are enabled.",
        columns: SetupConsumersRow::COLUMNS,
        primary_key: &["NAME"],
        rights: Rights::update_of(&["ENABLED"]),
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&SetupConsumersRow)) -> Sweep {
        let mut sweep = Sweep::of(Consumer::ALL.len());
        for &consumer in Consumer::ALL {
            each(&SetupConsumersRow { name: consumer.name(), enabled: region.consumer_enabled(consumer).into() });
            sweep.row();
        }
        sweep
    }

    fn update(&self, region: &Region<'_>, row: &SetupConsumersRow, new: Assignments<'_>) -> Result<bool, TableError> {
        let Some(consumer) = Consumer::from_name(row.name) else { return Ok(false) };
        let before = region.consumer_enabled(consumer);
        let mut enabled = before;
        for (_, value) in new {
            enabled = yes_no(value, "ENABLED")?;
        }
        region.set_consumer(consumer, enabled);
        Ok(enabled != before)
    }
}
