//! `events_stages_current`, `events_stages_history`, `events_stages_history_long`: single stages (WL#4813).

use super::single_events::{Event, EventColumns, SingleEvents, single_event_tables};
use crate::event::STAGES;
use crate::region::{Region, Text};
use crate::table::{NestingEventType, row};

row! {
    /// A row of the tables of single stages.
    pub struct EventsStagesRow {
        /// The thread.
        THREAD_ID as thread_id: u64,
        /// The event's number in its thread, from 1; together with THREAD_ID it identifies the row. Waits have numbers of the same run.
        EVENT_ID as event_id: u64,
        /// The number of the thread's last event when this one ended; NULL while it lasts.
        END_EVENT_ID as end_event_id: Option<u64>,
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
        /// File and line of the code that began the stage.
        SOURCE as source: Option<Text<64>>,
        /// When the stage began, in picoseconds since the start; after 2⁶⁴, 213 days, from 0 again; NULL if it is not timed.
        TIMER_START as timer_start: Option<u64>,
        /// When it ended, in picoseconds since the start: where the next one began; NULL while it lasts.
        TIMER_END as timer_end: Option<u64>,
        /// How long it took, in picoseconds; NULL while it lasts.
        TIMER_WAIT as timer_wait: Option<u64>,
        /// Units of work that are done; NULL if the program does not say.
        WORK_COMPLETED as work_completed: Option<u64>,
        /// Units of work that are to be done, these included; NULL if the program does not say.
        WORK_ESTIMATED as work_estimated: Option<u64>,
        /// The event that the stage lies within; NULL, there being no statements yet.
        NESTING_EVENT_ID as nesting_event_id: Option<u64>,
        /// What kind of event that is.
        NESTING_EVENT_TYPE as nesting_event_type: Option<NestingEventType>,
    }
}

/// How these tables are read.
const TABLES: SingleEvents<EventsStagesRow> = SingleEvents { store: &STAGES, row };

single_event_tables! {
    TABLES: EventsStagesRow;
    EventsStagesCurrent = "events_stages_current", "The stage that each thread is in now, or was in last.", current, truncate_current;
    EventsStagesHistory = "events_stages_history", "The stages that each thread was in last, and that have ended.", history, truncate_history;
    EventsStagesHistoryLong =
        "events_stages_history_long", "The last stages that have ended, over all threads, also those that are gone.",
        history_long, truncate_history_long;
}

fn row(region: &Region<'_>, event: &Event<'_>) -> EventsStagesRow {
    let EventColumns {
        event_id,
        end_event_id,
        event_name,
        source,
        timer_start,
        timer_end,
        timer_wait,
        nesting_event_id,
        nesting_event_type,
    } = event.columns(region);
    EventsStagesRow {
        thread_id: event.thread_id,
        event_id,
        end_event_id,
        event_name,
        source,
        timer_start,
        timer_end,
        timer_wait,
        // One more than the number, so that none is not 0.
        work_completed: event.record.object.checked_sub(1),
        work_estimated: event.record.amount.checked_sub(1),
        nesting_event_id,
        nesting_event_type,
    }
}
