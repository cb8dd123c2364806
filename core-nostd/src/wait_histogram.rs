//! Where the wait histograms are kept: a block of buckets for each actor and class that ever met.
//!
//! Finding the bucket of a wait depends on the wait, which would make the event wait for its second timer read. So the last wait of a
//! pair is only noted, and goes into its bucket when the next one of that pair ends; readers add the one that is noted.

use crate::class::Class;
use crate::histogram::{BUCKET_COUNT, bucket};
use crate::lost::Lost;
use crate::region::{CARRY, Region, SLOT, STAT, Section, header};
use crate::slot;
use crate::stat::{self, Pending};
use crate::sync::{Ordering, Word};

/// No room was left when the pair asked. Below it there is a number for each histogram of the largest region.
const REFUSED: u16 = u16::MAX;

/// Owner: notes a wait, and counts the one before it.
#[inline(always)]
pub(crate) fn note(region: &Region<'_>, histograms: &[Word], pending: Pending<'_>, wait_ps: u64) {
    let mut index = pending.histogram();
    if index == 0 {
        // Before the first wait is noted: readers add no wait of a pair that has no histogram.
        index = reserve(region, histograms);
        pending.set_histogram(index);
    }
    let Some(before) = pending.replace(wait_ps) else { return };
    let at = (usize::from(index) - 1) * BUCKET_COUNT + bucket(before);
    if let Some(count) = histograms.get(at) {
        // One writer, so plain: the block belongs to this actor and class.
        count.set(count.get().wrapping_add(1));
    }
}

#[cold]
#[inline(never)]
fn reserve(region: &Region<'_>, histograms: &[Word]) -> u16 {
    let room = (histograms.len() / BUCKET_COUNT) as u64;
    let next = region.header(header::NEXT_HISTOGRAM);
    // Relaxed: only that two owners get different numbers matters. The load first, so that the counter stays small when it is full.
    let number = if next.get() < room { next.fetch_add(1, Ordering::Relaxed) } else { room };
    if number < room {
        return number as u16 + 1;
    }
    region.count_lost(Lost::WaitHistograms);
    REFUSED
}

/// The counts of all buckets of a class, over all actors since its table was truncated.
pub(crate) fn counts(region: &Region<'_>, class: Class, counts: &mut [u64; BUCKET_COUNT]) {
    total(region, class, counts);
    let bases = region.arrays::<BUCKET_COUNT>(Section::HistogramBases);
    if let Some(base) = bases.get(class.index()) {
        for (count, base) in counts.iter_mut().zip(base) {
            *count = count.saturating_sub(base.get());
        }
    }
}

/// TRUNCATE of the table, for one class. What is counted after this shows, because the buckets themselves only grow.
pub(crate) fn truncate(region: &Region<'_>, class: Class) {
    let mut now = [0; BUCKET_COUNT];
    total(region, class, &mut now);
    if let Some(base) = region.arrays::<BUCKET_COUNT>(Section::HistogramBases).get(class.index()) {
        for (base, now) in base.iter().zip(now) {
            base.set(now);
        }
    }
}

fn total(region: &Region<'_>, class: Class, counts: &mut [u64; BUCKET_COUNT]) {
    *counts = [0; BUCKET_COUNT];
    let blocks = region.arrays::<BUCKET_COUNT>(Section::Histograms);
    let slots = region.arrays::<SLOT>(Section::Slots);
    for (index, _) in slots.iter().enumerate().filter(|(_, words)| slot::was_used(words)) {
        let stats = region.arrays_of::<STAT>(Section::Stats, index, slots.len());
        let carries = region.arrays_of::<CARRY>(Section::Carries, index, slots.len());
        let (Some(stat), Some(carry)) = (stats.get(class.index()), carries.get(class.index())) else { continue };
        let mut part = [0; BUCKET_COUNT];
        let (snapshot, ()) = stat::read(stat, carry, |snapshot| {
            if let Some(block) = usize::from(snapshot.histogram()).checked_sub(1).and_then(|index| blocks.get(index)) {
                for (part, word) in part.iter_mut().zip(block) {
                    *part = word.get();
                }
            }
        });
        if let Some(pending) = snapshot.pending_ps().filter(|_| snapshot.histogram() != REFUSED) {
            part[bucket(pending)] = part[bucket(pending)].wrapping_add(1);
        }
        for (count, part) in counts.iter_mut().zip(part) {
            *count = count.wrapping_add(part);
        }
    }
}
