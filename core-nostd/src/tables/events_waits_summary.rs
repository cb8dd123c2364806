//! `events_waits_summary_…`: waits counted and summed, by event name, by thread and event name, by instance.
//!
//! By thread: copied from the owner's summary under its version. Global: added up over all slots, used now or earlier, and the sums
//! that belong to no thread. By instance: copied from the instance.

use super::{by_event_name, by_thread};
use crate::class::POOLS;
use crate::histogram;
use crate::region::{CARRY, Region, SLOT, STAT, Section, Text};
use crate::slot::{self, Owner, SlotWords};
use crate::stat::{self, Shared, Summary, View};
use crate::table::{Declaration, Rights, Sweep, TableSource, row};
use crate::{Class, wait_histogram};

/// The columns that every summary has, after those of its own.
macro_rules! summary_row {
    (
        $(#[$meta:meta])*
        pub struct $row:ident {
            $( #[doc = $doc:literal] $sql:ident as $field:ident: $type:ty, )*
            ..summary,
            $( #[doc = $doc_after:literal] $sql_after:ident as $field_after:ident: $type_after:ty, )*
        }
    ) => {
        row! {
            $(#[$meta])*
            pub struct $row {
                $( #[doc = $doc] $sql as $field: $type, )*
                /// Number of waits.
                COUNT_STAR as count_star: u64,
                /// Sum of the timed waits, in picoseconds; after 2⁶⁴, 213 days of waits of all threads together, it starts again at 0.
                SUM_TIMER_WAIT as sum_timer_wait: u64,
                /// The shortest timed wait, in picoseconds; 0 if there was none.
                MIN_TIMER_WAIT as min_timer_wait: u64,
                /// Average of the timed waits, in picoseconds.
                AVG_TIMER_WAIT as avg_timer_wait: u64,
                /// The longest timed wait, in picoseconds.
                MAX_TIMER_WAIT as max_timer_wait: u64,
                $( #[doc = $doc_after] $sql_after as $field_after: $type_after, )*
            }
        }

        impl $row {
            #[allow(clippy::too_many_arguments, reason = "one argument a column")]
            fn new($($field: $type,)* summary: &Summary, $($field_after: $type_after,)*) -> $row {
                $row {
                    $($field,)*
                    count_star: summary.count,
                    sum_timer_wait: summary.sum_ps,
                    min_timer_wait: summary.min_ps,
                    avg_timer_wait: summary.avg_ps(),
                    max_timer_wait: summary.max_ps,
                    $($field_after,)*
                }
            }
        }
    };
}

summary_row! {
    /// A row of `events_waits_summary_global_by_event_name`.
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
    /// A row of `events_waits_summary_by_thread_by_event_name`.
    pub struct EventsWaitsSummaryByThreadByEventNameRow {
        /// The thread.
        THREAD_ID as thread_id: u64,
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
        ..summary,
    }
}

summary_row! {
    /// A row of `events_waits_summary_by_instance`.
    pub struct EventsWaitsSummaryByInstanceRow {
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
        /// Address of the object in memory.
        OBJECT_INSTANCE_BEGIN as object_instance_begin: u64,
        ..summary,
    }
}

/// `events_waits_summary_global_by_event_name`
#[derive(Clone, Copy, Debug)]
pub struct EventsWaitsSummaryGlobalByEventName;

impl TableSource for EventsWaitsSummaryGlobalByEventName {
    type Row = EventsWaitsSummaryGlobalByEventNameRow;
    const DECLARATION: Declaration = Declaration {
        name: "events_waits_summary_global_by_event_name",
        doc: "Waits of each instrument, summed over all threads.",
        columns: EventsWaitsSummaryGlobalByEventNameRow::COLUMNS,
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&Self::Row)) -> Sweep {
        by_event_name::sweep(region, region.wait_classes(), 1, |class, name| {
            let summary = region.summary_by_event_name(class);
            let (counts, total) = wait_histogram::counts(region, class);
            let quantile = |share| if total == 0 { 0 } else { histogram::quantile(counts.iter().copied(), total, share) };
            let [q95, q99, q999] = [950, 990, 999].map(quantile);
            each(&EventsWaitsSummaryGlobalByEventNameRow::new(name, &summary, q95, q99, q999));
        })
    }

    fn truncate(&self, region: &Region<'_>) {
        bump_all(region, View::Global);
        for words in region.arrays::<STAT>(Section::SharedStats) {
            if let Some(words) = words.first_chunk() {
                Shared(words).reset();
            }
        }
    }
}

/// `events_waits_summary_by_thread_by_event_name`
#[derive(Clone, Copy, Debug)]
pub struct EventsWaitsSummaryByThreadByEventName;

impl TableSource for EventsWaitsSummaryByThreadByEventName {
    type Row = EventsWaitsSummaryByThreadByEventNameRow;
    const DECLARATION: Declaration = Declaration {
        name: "events_waits_summary_by_thread_by_event_name",
        doc: "Waits of each instrument in each thread.",
        columns: EventsWaitsSummaryByThreadByEventNameRow::COLUMNS,
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&Self::Row)) -> Sweep {
        let sums = |slot: usize, words: &SlotWords, _: &Owner, class: Class| {
            let stat = region.arrays_of::<STAT>(Section::Stats, slot).get(class.index())?;
            let carry = region.arrays_of::<CARRY>(Section::Carries, slot).get(class.index())?;
            let (snapshot, epochs) = stat::read(stat, carry, |_| slot::epochs(words));
            Some((snapshot.view(View::Thread, epochs), snapshot.settled))
        };
        by_thread::sweep(region, region.wait_classes(), sums, |thread_id, name, sums| {
            each(&EventsWaitsSummaryByThreadByEventNameRow::new(thread_id, name, sums));
        })
    }

    fn truncate(&self, region: &Region<'_>) {
        bump_all(region, View::Thread);
    }
}

/// `events_waits_summary_by_instance`
#[derive(Clone, Copy, Debug)]
pub struct EventsWaitsSummaryByInstance;

impl TableSource for EventsWaitsSummaryByInstance {
    type Row = EventsWaitsSummaryByInstanceRow;
    const DECLARATION: Declaration = Declaration {
        name: "events_waits_summary_by_instance",
        doc: "Waits for each lock that exists now, for each file that is known, and for each socket that is open.",
        columns: EventsWaitsSummaryByInstanceRow::COLUMNS,
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

fn bump_all(region: &Region<'_>, view: View) {
    for words in region.arrays::<SLOT>(Section::Slots) {
        slot::bump_epoch(words, view);
    }
}

impl Region<'_> {
    /// The waits of an instrument, summed over all threads that ever were, since the table was truncated.
    ///
    /// A thread that was stopped in the middle of counting an event, for longer than a reader waits, is taken in as it is: leaving out all
    /// that it ever counted would be worse than one event of which the count is there and the time is not.
    pub fn summary_by_event_name(&self, class: Class) -> Summary {
        let mut sum = Summary::default();
        if let Some(words) = self.arrays::<STAT>(Section::SharedStats).get(class.index()).and_then(|words| words.first_chunk()) {
            sum.add(&Shared(words).read());
        }
        for (index, words) in slot::used(self) {
            let stats = self.arrays_of::<STAT>(Section::Stats, index);
            let carries = self.arrays_of::<CARRY>(Section::Carries, index);
            if let (Some(stat), Some(carry)) = (stats.get(class.index()), carries.get(class.index())) {
                let (snapshot, epochs) = stat::read(stat, carry, |_| slot::epochs(words));
                sum.add(&snapshot.view(View::Global, epochs));
            }
        }
        sum
    }
}
