//! `events_stages_summary_…`: stages counted and summed, by event name, and by thread and event name (WL#4813).

use super::by_event_name;
use super::event_summary::{summary_row, sweep_by_thread, truncate_by_thread, truncate_global};
use crate::event::STAGES;
use crate::region::{Region, Text};
use crate::table::{Declaration, Rights, Sweep, TableSource, example};

summary_row! {
    /// A row of [`events_stages_summary_by_thread_by_event_name`](EventsStagesSummaryByThreadByEventName).
    pub struct EventsStagesSummaryByThreadByEventNameRow {
        /// The thread.
        THREAD_ID as thread_id: u64,
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
        ..summary,
    }
}

summary_row! {
    /// A row of [`events_stages_summary_global_by_event_name`](EventsStagesSummaryGlobalByEventName).
    pub struct EventsStagesSummaryGlobalByEventNameRow {
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
        ..summary,
    }
}

/// `events_stages_summary_by_thread_by_event_name`
#[doc = example!(
    "The thread has been in a stage, and is in it again:",
    EventsStagesSummaryByThreadByEventName,
    "thread {}: {} {}",
    [row.thread_id, row.count_star, row.event_name],
    ["thread 1: 1 stage/app/sorting"]
)]
#[derive(Clone, Copy, Debug)]
pub struct EventsStagesSummaryByThreadByEventName;

impl TableSource for EventsStagesSummaryByThreadByEventName {
    type Row = EventsStagesSummaryByThreadByEventNameRow;
    const DECLARATION: Declaration = Declaration {
        name: "events_stages_summary_by_thread_by_event_name",
        doc: "Stages of each instrument in each thread.",
        columns: EventsStagesSummaryByThreadByEventNameRow::COLUMNS,
        primary_key: &["THREAD_ID", "EVENT_NAME"],
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&Self::Row)) -> Sweep {
        sweep_by_thread(
            region,
            &STAGES,
            |_| (),
            |thread_id, name, sums, ()| {
                each(&EventsStagesSummaryByThreadByEventNameRow::new(thread_id, name, sums));
            },
        )
    }

    fn truncate(&self, region: &Region<'_>) {
        truncate_by_thread(region, &STAGES);
    }
}

/// `events_stages_summary_global_by_event_name`
#[doc = example!(
    "A stage has ended after 5.04 µs, and goes on again:",
    EventsStagesSummaryGlobalByEventName,
    "{} {} {}",
    [row.event_name, row.count_star, row.sum_timer_wait],
    ["stage/app/sorting 1 5040000"]
)]
#[derive(Clone, Copy, Debug)]
pub struct EventsStagesSummaryGlobalByEventName;

impl TableSource for EventsStagesSummaryGlobalByEventName {
    type Row = EventsStagesSummaryGlobalByEventNameRow;
    const DECLARATION: Declaration = Declaration {
        name: "events_stages_summary_global_by_event_name",
        doc: "Stages of each instrument, summed over all threads.",
        columns: EventsStagesSummaryGlobalByEventNameRow::COLUMNS,
        primary_key: &["EVENT_NAME"],
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&Self::Row)) -> Sweep {
        by_event_name::sweep(region, region.event_classes(&STAGES), 1, |class, name| {
            each(&EventsStagesSummaryGlobalByEventNameRow::new(name, &region.summary_by_event_name(class)));
        })
    }

    fn truncate(&self, region: &Region<'_>) {
        truncate_global(region, &STAGES);
    }
}
