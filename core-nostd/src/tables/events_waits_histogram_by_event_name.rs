//! `events_waits_histogram_by_event_name`: how many waits of each instrument took how long. Beyond MySQL, with the columns and from
//! 10 µs on the buckets of its statement histograms.

use super::by_event_name;
use crate::event::WAITS;
use crate::histogram::{BUCKET_COUNT, bucket_timer_high, bucket_timer_low};
use crate::region::{Region, Text};
use crate::table::{Declaration, Rights, Sweep, TableSource, example, row};
use crate::wait_histogram;

row! {
    /// A row of [`events_waits_histogram_by_event_name`](EventsWaitsHistogramByEventName).
    pub struct EventsWaitsHistogramByEventNameRow {
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
        /// Number of the bucket, from 0.
        BUCKET_NUMBER as bucket_number: u32,
        /// The shortest wait that belongs into it, in picoseconds.
        BUCKET_TIMER_LOW as bucket_timer_low: u64,
        /// The wait from which on it belongs into the next one, in picoseconds.
        BUCKET_TIMER_HIGH as bucket_timer_high: u64,
        /// Waits in it.
        COUNT_BUCKET as count_bucket: u64,
        /// Waits in it and in all below.
        COUNT_BUCKET_AND_LOWER as count_bucket_and_lower: u64,
        /// Share of all waits that is in it or below, from 0 to 1.
        BUCKET_QUANTILE as bucket_quantile: f64,
    }
}

/// `events_waits_histogram_by_event_name`
#[doc = example!(
    "A wait took 40 ns, others took longer than 1 µs:",
    EventsWaitsHistogramByEventName,
    if row.count_bucket > 0 && row.bucket_timer_low < 1_000_000,
    "{} {} to {}",
    [row.event_name, row.bucket_timer_low, row.bucket_timer_high],
    ["wait/synch/mutex/app/LOCK_open 39810 to 41686"]
)]
#[derive(Clone, Copy, Debug)]
pub struct EventsWaitsHistogramByEventName;

impl TableSource for EventsWaitsHistogramByEventName {
    type Row = EventsWaitsHistogramByEventNameRow;
    const DECLARATION: Declaration = Declaration {
        name: "events_waits_histogram_by_event_name",
        doc: "Waits of each instrument by how long they took.",
        columns: EventsWaitsHistogramByEventNameRow::COLUMNS,
        primary_key: &["EVENT_NAME", "BUCKET_NUMBER"],
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&Self::Row)) -> Sweep {
        by_event_name::sweep(region, region.event_classes(&WAITS), BUCKET_COUNT, |class, event_name| {
            let mut lower = 0_u64;
            let mut bucket = |number: usize, count: u64, total: u64| {
                lower = lower.saturating_add(count);
                each(&EventsWaitsHistogramByEventNameRow {
                    event_name,
                    bucket_number: number as u32,
                    bucket_timer_low: bucket_timer_low(number),
                    bucket_timer_high: bucket_timer_high(number),
                    count_bucket: count,
                    count_bucket_and_lower: lower,
                    bucket_quantile: if total == 0 { 0.0 } else { lower as f64 / total as f64 },
                });
            };
            let counted = wait_histogram::with_counts(region, class, |counts, total| {
                counts.iter().enumerate().for_each(|(number, count)| bucket(number, *count, total));
            });
            if counted.is_none() {
                (0..BUCKET_COUNT).for_each(|number| bucket(number, 0, 0));
            }
        })
    }

    fn truncate(&self, region: &Region<'_>) {
        for class in region.event_classes(&WAITS) {
            wait_histogram::truncate(region, class);
        }
    }
}
