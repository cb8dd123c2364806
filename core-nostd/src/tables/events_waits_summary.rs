//! `events_waits_summary_…`: waits counted and summed, by event name, by thread and event name, by instance.
//!
//! By instance: copied from the instance.

use super::by_event_name;
use super::event_summary::{summary_row, sweep_by_thread, truncate_by_thread, truncate_global};
use super::events_waits_histogram_by_event_name::EventsWaitsHistogramByEventName;
use crate::class::POOLS;
use crate::event::WAITS;
use crate::region::{Region, Text};
use crate::table::{Declaration, Rights, Sweep, TableSource, example};
use crate::{histogram, wait_histogram};

summary_row! {
    /// A row of [`events_waits_summary_global_by_event_name`](EventsWaitsSummaryGlobalByEventName).
    pub struct EventsWaitsSummaryGlobalByEventNameRow {
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
        ..summary,
        /// 95 % of the waits in the histogram took at most this long, in picoseconds.
        QUANTILE_95 as quantile_95: u64,
        /// 99 % of the waits in the histogram took at most this long, in picoseconds.
        QUANTILE_99 as quantile_99: u64,
        /// 99.9 % of the waits in the histogram took at most this long, in picoseconds.
        QUANTILE_999 as quantile_999: u64,
    }
}

summary_row! {
    /// A row of [`events_waits_summary_by_thread_by_event_name`](EventsWaitsSummaryByThreadByEventName).
    pub struct EventsWaitsSummaryByThreadByEventNameRow {
        /// The thread.
        THREAD_ID as thread_id: u64,
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
        ..summary,
    }
}

summary_row! {
    /// A row of [`events_waits_summary_by_instance`](EventsWaitsSummaryByInstance).
    pub struct EventsWaitsSummaryByInstanceRow {
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
        /// Address of the lock in memory, number of the socket, or where the file's row is in the region.
        OBJECT_INSTANCE_BEGIN as object_instance_begin: u64,
        ..summary,
    }
}

/// `events_waits_summary_global_by_event_name`
#[doc = example!(
    "Waits for a file and for a client took longer than 1 µs:",
    EventsWaitsSummaryGlobalByEventName,
    if row.sum_timer_wait > 1_000_000,
    "{} {}",
    [row.event_name, row.sum_timer_wait],
    ["wait/io/file/app/index 3000000", "wait/io/socket/app/client_connection 2000000"]
)]
#[derive(Clone, Copy, Debug)]
pub struct EventsWaitsSummaryGlobalByEventName;

impl TableSource for EventsWaitsSummaryGlobalByEventName {
    type Row = EventsWaitsSummaryGlobalByEventNameRow;
    const DECLARATION: Declaration = Declaration {
        name: "events_waits_summary_global_by_event_name",
        doc: "Waits of each instrument, summed over all threads.",
        columns: EventsWaitsSummaryGlobalByEventNameRow::COLUMNS,
        primary_key: &["EVENT_NAME"],
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&Self::Row)) -> Sweep {
        by_event_name::sweep(region, region.event_classes(&WAITS), 1, |class, name| {
            let summary = region.summary_by_event_name(class);
            let [q95, q99, q999] = wait_histogram::with_counts(region, class, |counts, total| {
                let quantile = |share| if total == 0 { 0 } else { histogram::quantile(counts.iter().copied(), total, share) };
                [950, 990, 999].map(quantile)
            })
            .unwrap_or_default();
            each(&EventsWaitsSummaryGlobalByEventNameRow::new(name, &summary, q95, q99, q999));
        })
    }

    fn truncate(&self, region: &Region<'_>) {
        truncate_global(region, &WAITS);
        // The quantiles are made of it, and would be of waits that the row's sums no longer have.
        EventsWaitsHistogramByEventName.truncate(region);
    }
}

/// `events_waits_summary_by_thread_by_event_name`
#[doc = example!(
    "Waits for a file and for a client took longer than 1 µs:",
    EventsWaitsSummaryByThreadByEventName,
    if row.sum_timer_wait > 1_000_000,
    "thread {}: {}",
    [row.thread_id, row.event_name],
    ["thread 1: wait/io/file/app/index", "thread 1: wait/io/socket/app/client_connection"]
)]
#[derive(Clone, Copy, Debug)]
pub struct EventsWaitsSummaryByThreadByEventName;

impl TableSource for EventsWaitsSummaryByThreadByEventName {
    type Row = EventsWaitsSummaryByThreadByEventNameRow;
    const DECLARATION: Declaration = Declaration {
        name: "events_waits_summary_by_thread_by_event_name",
        doc: "Waits of each instrument in each thread.",
        columns: EventsWaitsSummaryByThreadByEventNameRow::COLUMNS,
        primary_key: &["THREAD_ID", "EVENT_NAME"],
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&Self::Row)) -> Sweep {
        sweep_by_thread(
            region,
            &WAITS,
            |_| (),
            |thread_id, name, sums, ()| {
                each(&EventsWaitsSummaryByThreadByEventNameRow::new(thread_id, name, sums));
            },
        )
    }

    fn truncate(&self, region: &Region<'_>) {
        truncate_by_thread(region, &WAITS);
    }
}

/// `events_waits_summary_by_instance`
#[doc = example!(
    "A wait for a lock has ended:",
    EventsWaitsSummaryByInstance,
    if row.object_instance_begin == 0x1000,
    "{} {} {}",
    [row.event_name, row.count_star, row.max_timer_wait],
    ["wait/synch/mutex/app/LOCK_open 1 40000"]
)]
#[derive(Clone, Copy, Debug)]
pub struct EventsWaitsSummaryByInstance;

impl TableSource for EventsWaitsSummaryByInstance {
    type Row = EventsWaitsSummaryByInstanceRow;
    const DECLARATION: Declaration = Declaration {
        name: "events_waits_summary_by_instance",
        doc: "Waits for each lock that exists now, for each file that is known, and for each socket that is open.",
        columns: EventsWaitsSummaryByInstanceRow::COLUMNS,
        primary_key: &["OBJECT_INSTANCE_BEGIN"],
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&Self::Row)) -> Sweep {
        let mut sweep = Sweep::default();
        for pool in &POOLS {
            sweep.add(region.sweep_instance_sums(pool.instances, &mut |name, found, sums| {
                each(&EventsWaitsSummaryByInstanceRow::new(name, found.address, sums));
            }));
        }
        sweep.add(region.sweep_file_waits(|found, sums| {
            each(&EventsWaitsSummaryByInstanceRow::new(found.event_name, found.address, sums));
        }));
        sweep.add(region.sweep_socket_waits(|found, sums| {
            each(&EventsWaitsSummaryByInstanceRow::new(found.event_name, found.address, sums));
        }));
        sweep
    }

    fn truncate(&self, region: &Region<'_>) {
        region.truncate_instances();
    }
}
