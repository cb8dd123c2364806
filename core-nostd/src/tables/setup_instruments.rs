//! `setup_instruments`: what can be recorded, and what is. Rows are the registered classes.

use super::by_event_name;
use crate::region::{Region, Text};
use crate::table::{Assignments, Declaration, Rights, Sweep, TableError, TableSource, Value, YesNo, example, row, unsigned};
use crate::{Setting, setup};

row! {
    /// A row of [`setup_instruments`](SetupInstruments).
    pub struct SetupInstrumentsRow {
        /// Instrument name: class/order/family/….
        NAME as name: Text<128>,
        /// Whether events are recorded.
        ENABLED as enabled: YesNo,
        /// Whether they are timed; if not, TIMER_START, TIMER_END and TIMER_WAIT are NULL. NULL for what is never timed: memory.
        TIMED as timed: Option<YesNo>,
        /// One event in so many is timed, the others are only counted; 1 to 65535, large ones rounded to 65536/n. Beyond MySQL.
        TIMED_ONE_IN as timed_one_in: u32,
    }
}

/// `setup_instruments`
#[doc = example!(
    "Everything was enabled:",
    SetupInstruments,
    if row.name.as_str().starts_with("wait/io"),
    "{} {:?} {:?}",
    [row.name, row.enabled, row.timed],
    ["wait/io/file/app/index Yes Some(Yes)", "wait/io/socket/app/client_connection Yes Some(Yes)"]
)]
#[derive(Clone, Copy, Debug)]
pub struct SetupInstruments;

impl TableSource for SetupInstruments {
    type Row = SetupInstrumentsRow;
    const DECLARATION: Declaration = Declaration {
        name: "setup_instruments",
        doc: "The instruments, and whether they are enabled and timed.",
        columns: SetupInstrumentsRow::COLUMNS,
        primary_key: &["NAME"],
        rights: Rights::update_of(&["ENABLED", "TIMED", "TIMED_ONE_IN"]),
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&SetupInstrumentsRow)) -> Sweep {
        by_event_name::sweep(region, region.all_classes(), 1, |class, name| {
            let Setting { enabled, timed, timed_one_in } = region.setting(class);
            let timed = (!region.is_memory(class)).then(|| timed.into());
            each(&SetupInstrumentsRow { name, enabled: enabled.into(), timed, timed_one_in: timed_one_in.into() });
        })
    }

    fn update(&self, region: &Region<'_>, row: &SetupInstrumentsRow, new: Assignments<'_>) -> Result<bool, TableError> {
        let Some(class) = region.find_class(row.name.as_str()) else { return Ok(false) };
        region.change_setting(class, |mut setting| {
            for (column, value) in new {
                match SetupInstrumentsRow::COLUMNS[Self::DECLARATION.column(column)?].name {
                    column @ "ENABLED" => setting.enabled = yes_no(value, column)?,
                    // Left as it is: what was saved can be restored, NULL too.
                    "TIMED" if region.is_memory(class) => {}
                    column @ "TIMED" if *value == Value::Null => return Err(TableError::NotNull { column }),
                    column @ "TIMED" => setting.timed = yes_no(value, column)?,
                    column => {
                        let out_of_range = TableError::OutOfRange { column };
                        let one_in = u16::try_from(unsigned(value, column)?).ok().filter(|one_in| *one_in != 0);
                        setting.timed_one_in = one_in.ok_or(out_of_range)?;
                    }
                }
            }
            Ok(setting)
        })
    }

    fn updated(&self, region: &Region<'_>) {
        setup::fold(region);
    }
}

/// A value that was checked against the column's type already.
pub(super) fn yes_no(value: &Value<'_>, column: &'static str) -> Result<bool, TableError> {
    YesNo::from_value(value).ok_or(TableError::Truncated { column })
}
