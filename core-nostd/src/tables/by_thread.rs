//! Summaries by thread and event name: of each thread that is there, the sums of one instrument after the other.

use crate::Class;
use crate::region::{Region, SLOT, Section, Text};
use crate::slot::{self, Look, Owner, SlotWords};
use crate::table::Sweep;

/// Delivers THREAD_ID, EVENT_NAME and what `sums` reads of each class in the slot of each thread. It says whether that is whole; None if
/// there is nothing to read.
pub(super) fn sweep<T>(
    region: &Region<'_>,
    classes: impl ExactSizeIterator<Item = Class> + Clone,
    sums: impl Fn(usize, &SlotWords, &Owner, Class) -> Option<(T, bool)>,
    mut each: impl FnMut(u64, Text<128>, &T),
) -> Sweep {
    let slots = region.arrays::<SLOT>(Section::Slots);
    let count = classes.len();
    let mut sweep = Sweep::of(slots.len() * count);
    for (index, words) in slots.iter().enumerate() {
        let owner = match slot::look(words) {
            Look::Live(owner) => owner,
            Look::Free => {
                sweep.free(count);
                continue;
            }
            Look::Changed => {
                sweep.skipped(count);
                continue;
            }
        };
        for (done, class) in classes.clone().enumerate() {
            let name = region.class_name(class);
            // The sums of an instrument that is none are not looked at: their pages were never touched.
            let Some((sums, settled)) = (name != "").then(|| sums(index, words, &owner, class)).flatten() else {
                sweep.free(1);
                continue;
            };
            if !slot::still(words, &owner) {
                sweep.skipped(count - done);
                break;
            }
            if !settled {
                sweep.changed();
                continue;
            }
            each(owner.thread_id, name, &sums);
            sweep.row();
        }
    }
    sweep
}
