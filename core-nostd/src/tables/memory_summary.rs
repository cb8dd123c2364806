//! `memory_summary_…`: memory counted, by event name, and by thread and event name.
//!
//! By thread: copied from the owner's sums under their version. Global: added up over all slots, used now or earlier, and the sums that
//! belong to no thread.

use super::{by_event_name, by_thread};
use crate::Class;
use crate::memory::MemorySummary;
use crate::region::{Region, SLOT, Section, Text};
use crate::slot::{self, Owner, SlotWords};
use crate::stat::View;
use crate::table::{Declaration, Rights, Sweep, TableSource, example, row};

/// The columns that both have, after those of their own.
macro_rules! memory_summary_row {
    (
        $(#[$meta:meta])*
        pub struct $row:ident {
            $( #[doc = $doc:literal] $sql:ident as $field:ident: $type:ty, )*
        }
    ) => {
        row! {
            $(#[$meta])*
            pub struct $row {
                $( #[doc = $doc] $sql as $field: $type, )*
                /// Number of blocks allocated. A block that is resized is one freed and one allocated.
                COUNT_ALLOC as count_alloc: u64,
                /// Number of blocks freed.
                COUNT_FREE as count_free: u64,
                /// Bytes allocated.
                SUM_NUMBER_OF_BYTES_ALLOC as sum_number_of_bytes_alloc: u64,
                /// Bytes freed.
                SUM_NUMBER_OF_BYTES_FREE as sum_number_of_bytes_free: u64,
                /// The fewest blocks in use; at most that, where several threads are summed up.
                LOW_COUNT_USED as low_count_used: i64,
                /// Blocks in use: allocated and not freed. Negative if some were allocated elsewhere, or before they were counted.
                CURRENT_COUNT_USED as current_count_used: i64,
                /// The most blocks in use; at least that, where several threads are summed up.
                HIGH_COUNT_USED as high_count_used: i64,
                /// The fewest bytes in use; at most that, where several threads are summed up.
                LOW_NUMBER_OF_BYTES_USED as low_number_of_bytes_used: i64,
                /// Bytes in use, as CURRENT_COUNT_USED.
                CURRENT_NUMBER_OF_BYTES_USED as current_number_of_bytes_used: i64,
                /// The most bytes in use; at least that, where several threads are summed up.
                HIGH_NUMBER_OF_BYTES_USED as high_number_of_bytes_used: i64,
            }
        }

        impl $row {
            fn new($($field: $type,)* memory: &MemorySummary) -> $row {
                let MemorySummary { blocks, bytes } = memory;
                $row {
                    $($field,)*
                    count_alloc: blocks.allocated,
                    count_free: blocks.freed,
                    sum_number_of_bytes_alloc: bytes.allocated,
                    sum_number_of_bytes_free: bytes.freed,
                    low_count_used: blocks.low,
                    current_count_used: blocks.current(),
                    high_count_used: blocks.high,
                    low_number_of_bytes_used: bytes.low,
                    current_number_of_bytes_used: bytes.current(),
                    high_number_of_bytes_used: bytes.high,
                }
            }
        }
    };
}

memory_summary_row! {
    /// A row of [`memory_summary_by_thread_by_event_name`](MemorySummaryByThreadByEventName).
    pub struct MemorySummaryByThreadByEventNameRow {
        /// The thread.
        THREAD_ID as thread_id: u64,
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
    }
}

memory_summary_row! {
    /// A row of [`memory_summary_global_by_event_name`](MemorySummaryGlobalByEventName).
    pub struct MemorySummaryGlobalByEventNameRow {
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
    }
}

/// `memory_summary_by_thread_by_event_name`
#[doc = example!(
    "A block of 100 bytes has become one of 40:",
    MemorySummaryByThreadByEventName,
    "thread {}: {} {}",
    [row.thread_id, row.current_number_of_bytes_used, row.high_number_of_bytes_used],
    ["thread 1: 40 100"]
)]
#[derive(Clone, Copy, Debug)]
pub struct MemorySummaryByThreadByEventName;

impl TableSource for MemorySummaryByThreadByEventName {
    type Row = MemorySummaryByThreadByEventNameRow;
    const DECLARATION: Declaration = Declaration {
        name: "memory_summary_by_thread_by_event_name",
        doc: "Memory of each instrument that each thread allocated and freed. TRUNCATE takes off what came and went, what is in use stays.",
        columns: MemorySummaryByThreadByEventNameRow::COLUMNS,
        primary_key: &["THREAD_ID", "EVENT_NAME"],
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&Self::Row)) -> Sweep {
        let sums = |slot: usize, _: &SlotWords, owner: &Owner, class: Class| {
            region.memory_summary_by_thread(slot, class, owner.memory_first_epochs)
        };
        by_thread::sweep(region, region.memory_classes(), sums, |thread_id, name, memory| {
            each(&MemorySummaryByThreadByEventNameRow::new(thread_id, name, memory));
        })
    }

    fn truncate(&self, region: &Region<'_>) {
        truncate(region, View::Thread);
    }
}

/// `memory_summary_global_by_event_name`
#[doc = example!(
    "A block of 100 bytes has become one of 40:",
    MemorySummaryGlobalByEventName,
    "{} {} {}",
    [row.event_name, row.current_number_of_bytes_used, row.high_number_of_bytes_used],
    ["memory/app/cache 40 100"]
)]
#[derive(Clone, Copy, Debug)]
pub struct MemorySummaryGlobalByEventName;

impl TableSource for MemorySummaryGlobalByEventName {
    type Row = MemorySummaryGlobalByEventNameRow;
    const DECLARATION: Declaration = Declaration {
        name: "memory_summary_global_by_event_name",
        doc: "Memory of each instrument, summed over all threads. TRUNCATE takes off what came and went, what is in use stays.",
        columns: MemorySummaryGlobalByEventNameRow::COLUMNS,
        primary_key: &["EVENT_NAME"],
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&Self::Row)) -> Sweep {
        by_event_name::sweep(region, region.memory_classes(), 1, |class, name| {
            each(&MemorySummaryGlobalByEventNameRow::new(name, &region.memory_summary_by_event_name(class)));
        })
    }

    fn truncate(&self, region: &Region<'_>) {
        truncate(region, View::Global);
        region.truncate_shared_memory();
    }
}

fn truncate(region: &Region<'_>, view: View) {
    for words in region.arrays::<SLOT>(Section::Slots) {
        slot::bump_memory_epoch(words, view);
    }
}
