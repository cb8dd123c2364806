//! Events counted and summed, by event name, and by thread and event name.
//!
//! By thread: copied from the owner's summary under its version. Global: added up over all slots, used now or earlier, and the sums that
//! belong to no thread.

use super::by_thread;
use crate::class::{self, Class};
use crate::event::EventStore;
use crate::region::{CARRY, Region, SLOT, STAT, Section, Text};
use crate::slot::{self, Owner, SlotWords};
use crate::stat::{self, Shared, Summary, View};
use crate::table::Sweep;

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
        $crate::table::row! {
            $(#[$meta])*
            pub struct $row {
                $( #[doc = $doc] $sql as $field: $type, )*
                /// Number of events.
                COUNT_STAR as count_star: u64,
                /// Sum of the timed events, in picoseconds; after 2⁶⁴, 213 days of all threads together, it starts again at 0.
                SUM_TIMER_WAIT as sum_timer_wait: u64,
                /// The shortest timed event, in picoseconds; 0 if there was none.
                MIN_TIMER_WAIT as min_timer_wait: u64,
                /// Average of the timed events, in picoseconds.
                AVG_TIMER_WAIT as avg_timer_wait: u64,
                /// The longest timed event, in picoseconds.
                MAX_TIMER_WAIT as max_timer_wait: u64,
                $( #[doc = $doc_after] $sql_after as $field_after: $type_after, )*
            }
        }

        impl $row {
            #[allow(clippy::too_many_arguments, reason = "one argument a column")]
            fn new($($field: $type,)* summary: &$crate::Summary, $($field_after: $type_after,)*) -> $row {
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
pub(super) use summary_row;

/// Delivers THREAD_ID, EVENT_NAME and the sums of each instrument in each thread.
pub(super) fn sweep_by_thread(region: &Region<'_>, store: &EventStore, each: impl FnMut(u64, Text<128>, &Summary)) -> Sweep {
    let sums = |slot: usize, words: &SlotWords, _: &Owner, class: Class| {
        let stat = region.arrays_of::<STAT>(Section::Stats, slot).get(class.index())?;
        let carry = region.arrays_of::<CARRY>(Section::Carries, slot).get(class.index())?;
        let (snapshot, epochs) = stat::read(stat, carry, |_| slot::epochs(words, store));
        Some((snapshot.view(View::Thread, epochs), snapshot.settled))
    };
    by_thread::sweep(region, region.event_classes(store), sums, each)
}

/// TRUNCATE of the table by thread.
pub(super) fn truncate_by_thread(region: &Region<'_>, store: &EventStore) {
    bump_all(region, store, View::Thread);
}

/// TRUNCATE of the global table.
pub(super) fn truncate_global(region: &Region<'_>, store: &EventStore) {
    bump_all(region, store, View::Global);
    let shared = region.arrays::<STAT>(Section::SharedStats);
    for words in shared.get(class::of_events(region, store)).unwrap_or_default() {
        if let Some(words) = words.first_chunk() {
            Shared(words).reset();
        }
    }
}

fn bump_all(region: &Region<'_>, store: &EventStore, view: View) {
    for words in region.arrays::<SLOT>(Section::Slots) {
        slot::bump_epoch(words, store, view);
    }
}

impl Region<'_> {
    /// The waits of an instrument, or its stages, summed over all threads that ever were, since the table was truncated.
    ///
    /// A thread that was stopped in the middle of counting an event, for longer than a reader waits, is taken in as it is: leaving out all
    /// that it ever counted would be worse than one event of which the count is there and the time is not.
    pub fn summary_by_event_name(&self, class: Class) -> Summary {
        let mut sum = Summary::default();
        if let Some(words) = self.arrays::<STAT>(Section::SharedStats).get(class.index()).and_then(|words| words.first_chunk()) {
            sum.add(&Shared(words).read());
        }
        let store = class::store_of(self, class);
        for (index, words) in slot::used(self) {
            let stats = self.arrays_of::<STAT>(Section::Stats, index);
            let carries = self.arrays_of::<CARRY>(Section::Carries, index);
            if let (Some(stat), Some(carry)) = (stats.get(class.index()), carries.get(class.index())) {
                let (snapshot, epochs) = stat::read(stat, carry, |_| slot::epochs(words, store));
                sum.add(&snapshot.view(View::Global, epochs));
            }
        }
        sum
    }
}
