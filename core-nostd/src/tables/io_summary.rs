//! What `file_summary_…` and `socket_summary_…` have in common: io counted and summed, by object and by event name.
//!
//! By object: what the thread that first counted there wrote, copied under its version, and what all others added. By event name: added up
//! over all slots, used now or earlier, and the sums that belong to no thread.

use super::by_event_name;
use crate::Class;
use crate::io::{IoSummary, Kind};
use crate::region::{Region, Text};
use crate::table::Sweep;

/// A row of such a table: the columns that all have, after those of its own. `bytes` is the type of the sums of bytes.
macro_rules! io_summary_row {
    (
        $(#[$meta:meta])*
        pub struct $row:ident, bytes $bytes:ty, misc $misc:literal {
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
                SUM_NUMBER_OF_BYTES_READ as sum_number_of_bytes_read: $bytes,
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
                SUM_NUMBER_OF_BYTES_WRITE as sum_number_of_bytes_write: $bytes,
                #[doc = $misc]
                COUNT_MISC as count_misc: u64,
                /// Sum of the timed ones among them, in picoseconds.
                SUM_TIMER_MISC as sum_timer_misc: u64,
                /// The shortest timed one among them, in picoseconds; 0 if there was none.
                MIN_TIMER_MISC as min_timer_misc: u64,
                /// Average of the timed ones among them, in picoseconds.
                AVG_TIMER_MISC as avg_timer_misc: u64,
                /// The longest timed one among them, in picoseconds.
                MAX_TIMER_MISC as max_timer_misc: u64,
                invisible,
                /// Number of timed operations, which AVG_TIMER_WAIT divides by.
                COUNT_TIMER_WAIT as count_timer_wait: u64,
                /// Number of timed reads.
                COUNT_TIMER_READ as count_timer_read: u64,
                /// Number of timed writes.
                COUNT_TIMER_WRITE as count_timer_write: u64,
                /// Number of timed ones among the others.
                COUNT_TIMER_MISC as count_timer_misc: u64,
            }
        }

        impl $row {
            pub(super) fn new($($field: $type,)* sums: &IoSummary) -> $row {
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
                    sum_number_of_bytes_read: <$bytes>::try_from(read.bytes).unwrap_or(<$bytes>::MAX),
                    count_write: write.waits.count,
                    sum_timer_write: write.waits.sum_ps,
                    min_timer_write: write.waits.min_ps,
                    avg_timer_write: write.waits.avg_ps(),
                    max_timer_write: write.waits.max_ps,
                    sum_number_of_bytes_write: <$bytes>::try_from(write.bytes).unwrap_or(<$bytes>::MAX),
                    count_misc: misc.waits.count,
                    sum_timer_misc: misc.waits.sum_ps,
                    min_timer_misc: misc.waits.min_ps,
                    avg_timer_misc: misc.waits.avg_ps(),
                    max_timer_misc: misc.waits.max_ps,
                    count_timer_wait: total.count_timed,
                    count_timer_read: read.waits.count_timed,
                    count_timer_write: write.waits.count_timed,
                    count_timer_misc: misc.waits.count_timed,
                }
            }
        }
    };
}
pub(super) use io_summary_row;

/// Delivers the instruments of a kind, each with its sums over all threads.
pub(super) fn sweep_event_names(region: &Region<'_>, kind: &Kind, mut each: impl FnMut(Text<128>, &IoSummary)) -> Sweep {
    by_event_name::sweep(region, kind.classes(region).map(|index| Class(index as u16)), 1, |class, name| {
        each(name, &kind.summary_by_event_name(region, class));
    })
}
