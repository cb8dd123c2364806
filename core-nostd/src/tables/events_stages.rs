//! `events_stages_current`, `events_stages_history`, `events_stages_history_long`: single stages (WL#4813).

use super::single_events::{SingleEvents, event_row, single_event_tables};
use crate::event::STAGES;
use crate::region::{Region, Text};
use crate::table::example;

event_row! {
    /// A row of the tables of single stages, such as [`events_stages_history`](EventsStagesHistory). They lie within
    /// statements, within transactions, or within nothing.
    pub struct EventsStagesRow {
        ..event,
        ..timer,
        /// Units of work that are done; NULL if the program says nothing of its work.
        WORK_COMPLETED as work_completed: Option<u64>,
        /// Units of work that are to be done, these included; NULL if the program says nothing of its work.
        WORK_ESTIMATED as work_estimated: Option<u64>,
        ..nesting,
    }
    row(region, event, columns) {
        // One more than the number, so that none is not 0.
        Row { work_completed: event.record.object.checked_sub(1), work_estimated: event.record.amount.checked_sub(1), }
    }
}

/// How these tables are read.
const TABLES: SingleEvents<EventsStagesRow> = SingleEvents { store: &STAGES, row };

single_event_tables! {
    TABLES: EventsStagesRow;
    #[doc = example!(
        "A stage runs, of which 50 of 200 units are done:",
        EventsStagesCurrent,
        "{} {:?} of {:?}",
        [row.event_name, row.work_completed, row.work_estimated],
        ["stage/app/sorting Some(50) of Some(200)"]
    )]
    EventsStagesCurrent = "events_stages_current", "The stage that each thread is in now, or was in last.", current, truncate_current;
    #[doc = example!(
        "A stage has ended that took 5.04 µs:",
        EventsStagesHistory,
        "{} {:?}",
        [row.event_name, row.timer_wait],
        ["stage/app/sorting Some(5040000)"]
    )]
    EventsStagesHistory =
        "events_stages_history", "The stages that each thread was in last, and that have ended.", history, truncate_history;
    #[doc = example!(
        "A stage has ended that lay within a statement:",
        EventsStagesHistoryLong,
        "{} in {:?}",
        [row.event_name, row.nesting_event_type.map(|event| event.name())],
        ["stage/app/sorting in Some(\"STATEMENT\")"]
    )]
    EventsStagesHistoryLong =
        "events_stages_history_long", "The last stages that have ended, over all threads, also those that are gone.",
        history_long, truncate_history_long;
}
