//! `file_summary_…`: io counted and summed, by file and by event name.
//!
//! By file: what the thread that first opened it wrote, copied under its version, and what all others added. By event name: added up over
//! all slots, used now or earlier, and the sums that belong to no thread.

use crate::file::IoSummary;
use crate::operation::Group;
use crate::region::{Region, Text};
use crate::table::{Declaration, Rights, Sweep, TableSource, row};

/// The columns that both have, after those of their own.
macro_rules! file_summary_row {
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
                /// Number of operations.
                COUNT_STAR as count_star: u64,
                /// Sum of the timed ones, in picoseconds.
                SUM_TIMER_WAIT as sum_timer_wait: u64,
                /// The shortest timed one, in picoseconds; 0 if there was none.
                MIN_TIMER_WAIT as min_timer_wait: u64,
                /// Average of the timed ones, in picoseconds.
                AVG_TIMER_WAIT as avg_timer_wait: u64,
                /// The longest timed one, in picoseconds.
                MAX_TIMER_WAIT as max_timer_wait: u64,
                /// Number of reads.
                COUNT_READ as count_read: u64,
                /// Sum of the timed reads, in picoseconds.
                SUM_TIMER_READ as sum_timer_read: u64,
                /// The shortest timed read, in picoseconds; 0 if there was none.
                MIN_TIMER_READ as min_timer_read: u64,
                /// Average of the timed reads, in picoseconds.
                AVG_TIMER_READ as avg_timer_read: u64,
                /// The longest timed read, in picoseconds.
                MAX_TIMER_READ as max_timer_read: u64,
                /// Bytes read.
                SUM_NUMBER_OF_BYTES_READ as sum_number_of_bytes_read: i64,
                /// Number of writes.
                COUNT_WRITE as count_write: u64,
                /// Sum of the timed writes, in picoseconds.
                SUM_TIMER_WRITE as sum_timer_write: u64,
                /// The shortest timed write, in picoseconds; 0 if there was none.
                MIN_TIMER_WRITE as min_timer_write: u64,
                /// Average of the timed writes, in picoseconds.
                AVG_TIMER_WRITE as avg_timer_write: u64,
                /// The longest timed write, in picoseconds.
                MAX_TIMER_WRITE as max_timer_write: u64,
                /// Bytes written.
                SUM_NUMBER_OF_BYTES_WRITE as sum_number_of_bytes_write: i64,
                /// Number of all other operations: open, close, seek, stat, sync, ….
                COUNT_MISC as count_misc: u64,
                /// Sum of the timed ones among them, in picoseconds.
                SUM_TIMER_MISC as sum_timer_misc: u64,
                /// The shortest timed one among them, in picoseconds; 0 if there was none.
                MIN_TIMER_MISC as min_timer_misc: u64,
                /// Average of the timed ones among them, in picoseconds.
                AVG_TIMER_MISC as avg_timer_misc: u64,
                /// The longest timed one among them, in picoseconds.
                MAX_TIMER_MISC as max_timer_misc: u64,
            }
        }

        impl $row {
            fn new($($field: $type,)* sums: &IoSummary) -> $row {
                let (total, [read, write, misc]) = (sums.total(), [Group::Read, Group::Write, Group::Misc].map(|group| sums.group(group)));
                $row {
                    $($field,)*
                    count_star: total.count,
                    sum_timer_wait: total.sum_ps,
                    min_timer_wait: total.min_ps,
                    avg_timer_wait: total.avg_ps(),
                    max_timer_wait: total.max_ps,
                    count_read: read.waits.count,
                    sum_timer_read: read.waits.sum_ps,
                    min_timer_read: read.waits.min_ps,
                    avg_timer_read: read.waits.avg_ps(),
                    max_timer_read: read.waits.max_ps,
                    sum_number_of_bytes_read: i64::try_from(read.bytes).unwrap_or(i64::MAX),
                    count_write: write.waits.count,
                    sum_timer_write: write.waits.sum_ps,
                    min_timer_write: write.waits.min_ps,
                    avg_timer_write: write.waits.avg_ps(),
                    max_timer_write: write.waits.max_ps,
                    sum_number_of_bytes_write: i64::try_from(write.bytes).unwrap_or(i64::MAX),
                    count_misc: misc.waits.count,
                    sum_timer_misc: misc.waits.sum_ps,
                    min_timer_misc: misc.waits.min_ps,
                    avg_timer_misc: misc.waits.avg_ps(),
                    max_timer_misc: misc.waits.max_ps,
                }
            }
        }
    };
}

file_summary_row! {
    /// A row of `file_summary_by_instance`.
    pub struct FileSummaryByInstanceRow {
        /// The path as the program gave it: the first 512 bytes. What is no UTF-8 shows as U+FFFD.
        FILE_NAME as file_name: Text<512>,
        /// Name of the instrument that opened it first.
        EVENT_NAME as event_name: Text<128>,
        /// Where the row is in the region: a number that no other file has.
        OBJECT_INSTANCE_BEGIN as object_instance_begin: u64,
    }
}

file_summary_row! {
    /// A row of `file_summary_by_event_name`.
    pub struct FileSummaryByEventNameRow {
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
    }
}

/// `file_summary_by_instance`
#[derive(Clone, Copy, Debug)]
pub struct FileSummaryByInstance;

impl TableSource for FileSummaryByInstance {
    type Row = FileSummaryByInstanceRow;
    const DECLARATION: Declaration = Declaration {
        name: "file_summary_by_instance",
        doc: "Io of each file that was opened since the start and is not deleted.",
        columns: FileSummaryByInstanceRow::COLUMNS,
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&FileSummaryByInstanceRow)) -> Sweep {
        region.sweep_file_sums(|found, sums| {
            each(&FileSummaryByInstanceRow::new(found.file_name, found.event_name, found.address, sums));
        })
    }

    fn truncate(&self, region: &Region<'_>) {
        region.truncate_files();
    }
}

/// `file_summary_by_event_name`
#[derive(Clone, Copy, Debug)]
pub struct FileSummaryByEventName;

impl TableSource for FileSummaryByEventName {
    type Row = FileSummaryByEventNameRow;
    const DECLARATION: Declaration = Declaration {
        name: "file_summary_by_event_name",
        doc: "Io of each instrument of files, summed over all threads and over all files, also those that are deleted.",
        columns: FileSummaryByEventNameRow::COLUMNS,
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&FileSummaryByEventNameRow)) -> Sweep {
        let classes = region.file_classes();
        let mut sweep = Sweep::of(classes.len());
        for class in classes {
            let name = region.class_name(class);
            if name == "" {
                sweep.free(1);
                continue;
            }
            each(&FileSummaryByEventNameRow::new(name, &region.file_summary_by_event_name(class)));
            sweep.row();
        }
        sweep
    }

    fn truncate(&self, region: &Region<'_>) {
        region.truncate_file_summary_by_event_name();
    }
}
