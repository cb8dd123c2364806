//! `setup_timers`: which timer times which class of events.

use crate::region::Region;
use crate::setup::TIMED_CLASSES;
use crate::table::Cell;
use crate::table::{Assignments, Declaration, Rights, SqlType, Sweep, TableError, TableSource, Value, example, row};
use perfschema_timer::TimerName;

row! {
    /// A row of [`setup_timers`](SetupTimers).
    pub struct SetupTimersRow {
        /// The class of events: the first part of instrument names.
        NAME as name: &'static str,
        /// The timer, a row of `performance_timers`.
        TIMER_NAME as timer_name: TimerName,
    }
}

/// `setup_timers`
#[doc = example!(
    "All but waits and idle threads are timed in nanoseconds:",
    SetupTimers,
    if row.timer_name.name() != "NANOSECOND",
    "{} {}",
    [row.name, row.timer_name],
    ["idle MICROSECOND", "wait CYCLE"]
)]
#[derive(Clone, Copy, Debug)]
pub struct SetupTimers;

impl TableSource for SetupTimers {
    type Row = SetupTimersRow;
    const DECLARATION: Declaration = Declaration {
        name: "setup_timers",
        doc: "The timer that each class of events is timed with.",
        columns: SetupTimersRow::COLUMNS,
        primary_key: &["NAME"],
        rights: Rights::update_of(&["TIMER_NAME"]),
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&SetupTimersRow)) -> Sweep {
        let mut sweep = Sweep::of(TIMED_CLASSES.len());
        for (class, _) in TIMED_CLASSES {
            each(&SetupTimersRow { name: class.as_str(), timer_name: region.event_timer(class) });
            sweep.row();
        }
        sweep
    }

    fn update(&self, region: &Region<'_>, row: &SetupTimersRow, new: Assignments<'_>) -> Result<bool, TableError> {
        let mut timer = row.timer_name;
        for (_, value) in new {
            timer = timer_name(value).ok_or(TableError::Truncated { column: "TIMER_NAME" })?;
        }
        if let Some((class, _)) = TIMED_CLASSES.into_iter().find(|(class, _)| class.as_str() == row.name) {
            region.set_event_timer(class, timer);
        }
        Ok(timer != row.timer_name)
    }
}

fn timer_name(value: &Value<'_>) -> Option<TimerName> {
    let SqlType::Enum(names) = TimerName::SQL_TYPE else { return None };
    crate::table::enum_index(value, names).and_then(|index| TimerName::from_index(index as u8))
}
