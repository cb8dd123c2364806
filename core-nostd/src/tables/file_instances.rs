//! `file_instances`: the files that were opened and are not deleted. Copied from their places under the state.

use crate::region::{Region, Text};
use crate::table::{Declaration, Rights, Sweep, TableSource, example, row};

row! {
    /// A row of [`file_instances`](FileInstances).
    pub struct FileInstancesRow {
        /// The path as the program gave it: the first 512 bytes. What is no UTF-8 shows as U+FFFD.
        FILE_NAME as file_name: Text<512>,
        /// Name of the instrument that opened it first.
        EVENT_NAME as event_name: Text<128>,
        /// How many handles are open.
        OPEN_COUNT as open_count: u32,
    }
}

/// `file_instances`
#[doc = example!(
    "A file was opened once:",
    FileInstances,
    "{} {}",
    [row.file_name, row.open_count],
    ["/var/lib/app/index 1"]
)]
#[derive(Clone, Copy, Debug)]
pub struct FileInstances;

impl TableSource for FileInstances {
    type Row = FileInstancesRow;
    const DECLARATION: Declaration = Declaration {
        name: "file_instances",
        doc: "The files that were opened since the start and are not deleted.",
        columns: FileInstancesRow::COLUMNS,
        // MySQL's is FILE_NAME: but names that are cut, or are no UTF-8, may look alike.
        primary_key: &[],
        rights: Rights::SELECT,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&FileInstancesRow)) -> Sweep {
        region.sweep_files(
            |_| Some(()),
            |found, ()| {
                each(&FileInstancesRow {
                    file_name: found.file_name,
                    event_name: found.event_name,
                    open_count: u32::try_from(found.open_count).unwrap_or(0),
                });
            },
        )
    }
}
