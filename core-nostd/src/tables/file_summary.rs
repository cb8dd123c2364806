//! `file_summary_…`: the io of files, see [`io_summary`](super::io_summary).

use super::io_summary::{io_summary_row, sweep_event_names};
use crate::io::{FILES, IoSummary};
use crate::operation::Group;
use crate::region::{Region, Text};
use crate::table::{Declaration, Rights, Sweep, TableSource, example, row};

io_summary_row! {
    /// A row of [`file_summary_by_instance`](FileSummaryByInstance).
    pub struct FileSummaryByInstanceRow, bytes i64, misc "Number of all other operations: open, close, seek, stat, sync, …." {
        /// The path as the program gave it: the first 512 bytes. What is no UTF-8 shows as U+FFFD.
        FILE_NAME as file_name: Text<512>,
        /// Name of the instrument that opened it first.
        EVENT_NAME as event_name: Text<128>,
        /// Where the row is in the region: a number that no other file has.
        OBJECT_INSTANCE_BEGIN as object_instance_begin: u64,
    }
}

io_summary_row! {
    /// A row of [`file_summary_by_event_name`](FileSummaryByEventName).
    pub struct FileSummaryByEventNameRow, bytes i64, misc "Number of all other operations: open, close, seek, stat, sync, …." {
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
    }
}

/// `file_summary_by_instance`
#[doc = example!(
    "512 bytes were written into a file:",
    FileSummaryByInstance,
    "{} {}",
    [row.file_name, row.sum_number_of_bytes_write],
    ["/var/lib/app/index 512"]
)]
#[derive(Clone, Copy, Debug)]
pub struct FileSummaryByInstance;

impl TableSource for FileSummaryByInstance {
    type Row = FileSummaryByInstanceRow;
    const DECLARATION: Declaration = Declaration {
        name: "file_summary_by_instance",
        doc: "Io of each file that was opened since the start and is not deleted.",
        columns: FileSummaryByInstanceRow::COLUMNS,
        primary_key: &["OBJECT_INSTANCE_BEGIN"],
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
#[doc = example!(
    "512 bytes were written into a file, in 3 µs:",
    FileSummaryByEventName,
    "{} {} {}",
    [row.event_name, row.sum_number_of_bytes_write, row.sum_timer_write],
    ["wait/io/file/app/index 512 3000000"]
)]
#[derive(Clone, Copy, Debug)]
pub struct FileSummaryByEventName;

impl TableSource for FileSummaryByEventName {
    type Row = FileSummaryByEventNameRow;
    const DECLARATION: Declaration = Declaration {
        name: "file_summary_by_event_name",
        doc: "Io of each instrument of files, summed over all threads and over all files, also those that are deleted.",
        columns: FileSummaryByEventNameRow::COLUMNS,
        primary_key: &["EVENT_NAME"],
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&FileSummaryByEventNameRow)) -> Sweep {
        sweep_event_names(region, &FILES, |name, sums| each(&FileSummaryByEventNameRow::new(name, sums)))
    }

    fn truncate(&self, region: &Region<'_>) {
        FILES.truncate_by_event_name(region);
    }
}
