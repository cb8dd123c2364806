//! `global_status`: what was lost because a pool was full.

use super::global_variables::decimal;
use crate::lost::Lost;
use crate::region::{Region, Text};
use crate::table::{Declaration, Rights, SqlType, Sweep, TableSource, example, row};

row! {
    /// A row of [`global_status`](GlobalStatus).
    pub struct GlobalStatusRow {
        /// The counter.
        VARIABLE_NAME as variable_name: &'static str,
        /// Its value.
        VARIABLE_VALUE as variable_value: Option<Text<24>> = SqlType::Varchar(4096),
    }
}

/// `global_status`
#[doc = example!(
    "No mutex was lost, because there was room for all:",
    GlobalStatus,
    if row.variable_name.contains("mutex_instances"),
    "{} {}",
    [row.variable_name, row.variable_value.unwrap_or_default()],
    ["Performance_schema_mutex_instances_lost 0"]
)]
#[derive(Clone, Copy, Debug)]
pub struct GlobalStatus;

impl TableSource for GlobalStatus {
    type Row = GlobalStatusRow;
    const DECLARATION: Declaration = Declaration {
        name: "global_status",
        doc: "What was lost because something was full.",
        columns: GlobalStatusRow::COLUMNS,
        primary_key: &["VARIABLE_NAME"],
        rights: Rights::SELECT,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&GlobalStatusRow)) -> Sweep {
        let mut sweep = Sweep::of(Lost::ALL.len());
        for &lost in Lost::ALL {
            each(&GlobalStatusRow { variable_name: lost.variable(), variable_value: Some(decimal(region.lost(lost))) });
            sweep.row();
        }
        sweep
    }
}
