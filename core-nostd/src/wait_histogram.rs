//! Where the wait histograms are kept: a block of buckets for each actor and class that ever met.
//!
//! Which bucket takes a wait depends on the wait, and a store whose *place* depends on the second timer value makes what follows wait for
//! it. So the bucket is computed when the wait ends and kept in the pair's summary, and counted when the next wait of the pair ends;
//! readers add the one that is kept. Word HISTOGRAM of a summary:
//! ```text
//!  63                                            32 31                                             0
//! ┌────────────────────────────────────────────────┬───────────────────────────────────────────────┐
//! │ place of the histogram's first bucket, plus 1  │ the bucket of the last wait, from 0           │
//! │ 0: never asked for one; REFUSED: no room       │ NONE: no wait yet                             │
//! └────────────────────────────────────────────────┴───────────────────────────────────────────────┘
//! ```

use crate::class::Class;
use crate::histogram::BUCKET_COUNT;
use crate::lost::Lost;
use crate::region::{CARRY, Region, STAT, Section, header};
use crate::slot;
use crate::stat;
use crate::sync::{Ordering, Word};
use core::hint::cold_path;

/// No room was left when the pair asked: a place beyond every region's buckets, with room above it for a bucket's index.
const REFUSED: u64 = 1 << 31;

/// Of a bucket that has none: with every place it is beyond, too.
const NONE: u64 = 1 << 31;

/// Owner: counts the wait before, and keeps this one. `word` is HISTOGRAM of the summary; `reserve` gives the place of a new histogram's first
/// bucket, plus 1.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn note(histograms: &[Word], word: &Word, bucket: usize, reserve: impl FnOnce() -> u64) {
    let mut state = word.get();
    let (first, last) = (state >> 32, state & u64::from(u32::MAX));
    match histograms.get((first + last).wrapping_sub(1) as usize) {
        // One writer, so plain: the block belongs to this actor and class.
        Some(count) => count.set(count.get().wrapping_add(1)),
        None => {
            cold_path();
            if state == 0 {
                state = reserve() << 32;
            }
        }
    }
    // The new one in place of the last: an instruction less than to take the upper half.
    word.set(state.wrapping_add((bucket as u64).wrapping_sub(last)));
}

/// What a forked child keeps of the word: where the histogram is, and no wait.
pub(crate) fn without_wait(word: u64) -> u64 {
    if word == 0 { 0 } else { (word >> 32 << 32) | NONE }
}

/// The place of a new histogram's first bucket, plus 1.
pub(crate) fn reserve(region: &Region<'_>, histograms: &[Word]) -> u64 {
    let room = (histograms.len() / BUCKET_COUNT) as u64;
    let next = region.header(header::NEXT_HISTOGRAM);
    // Relaxed: only that two owners get different numbers matters. The load first, so that the counter stays small when it is full.
    let number = if next.get() < room { next.fetch_add(1, Ordering::Relaxed) } else { room };
    if number < room {
        return number * BUCKET_COUNT as u64 + 1;
    }
    region.count_lost(Lost::WaitHistograms);
    REFUSED
}

/// Which histogram the word of a summary stands for, from 0; None if for none.
pub(crate) fn number(word: &Word) -> Option<u64> {
    let first = word.get() >> 32;
    (first != 0 && first != REFUSED).then(|| (first - 1) / BUCKET_COUNT as u64)
}

/// What `look` makes of the counts of all buckets of a class, over all actors since its table was truncated, and of their sum. None where
/// there are no histograms at all: small machines, whose stacks then need no room for the counts.
pub(crate) fn with_counts<R>(region: &Region<'_>, class: Class, look: impl FnOnce(&[u64; BUCKET_COUNT], u64) -> R) -> Option<R> {
    (!region.section(Section::Histograms).is_empty()).then(|| with_all_counts(region, class, look))
}

#[inline(never)]
fn with_all_counts<R>(region: &Region<'_>, class: Class, look: impl FnOnce(&[u64; BUCKET_COUNT], u64) -> R) -> R {
    let mut counts = [0; BUCKET_COUNT];
    // Of most instruments there is none, and of six hundred zeros nothing need be made.
    if !total(region, class, Pending::Shown, &mut counts) {
        return look(&counts, 0);
    }
    let bases = region.arrays::<BUCKET_COUNT>(Section::HistogramBases);
    if let Some(base) = bases.get(class.index()) {
        for (count, base) in counts.iter_mut().zip(base) {
            *count = count.saturating_sub(base.get());
        }
    }
    let sum = counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
    look(&counts, sum)
}

/// TRUNCATE of the table, for one class. What is counted after this shows, because the buckets themselves only grow.
pub(crate) fn truncate(region: &Region<'_>, class: Class) {
    let mut now = [0; BUCKET_COUNT];
    total(region, class, Pending::OnlyIfWhole, &mut now);
    if let Some(base) = region.arrays::<BUCKET_COUNT>(Section::HistogramBases).get(class.index()) {
        for (base, now) in base.iter().zip(now).filter(|(base, now)| base.get() < *now) {
            // Of two truncations at once the earlier one may come here last.
            base.update(|before| before.max(now));
        }
    }
}

/// What becomes of the last wait of a summary that is being written: it may be among the buckets already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pending {
    /// It is added: who looks sees one too many for a moment.
    Shown,
    /// It is left out: what is taken off may be one too few, and is never one too many, which would be taken off later waits.
    OnlyIfWhole,
}

/// Adds up the buckets of a class over all actors. Returns whether there are any.
#[inline(never)]
fn total(region: &Region<'_>, class: Class, pending: Pending, counts: &mut [u64; BUCKET_COUNT]) -> bool {
    let (mut part, mut found) = ([0; BUCKET_COUNT], false);
    let buckets = region.section(Section::Histograms);
    for (index, _) in slot::used(region) {
        let stats = region.arrays_of::<STAT>(Section::Stats, index);
        let carries = region.arrays_of::<CARRY>(Section::Carries, index);
        let (Some(stat), Some(carry)) = (stats.get(class.index()), carries.get(class.index())) else { continue };
        let (snapshot, is_there) = stat::read(region.patience(), stat, carry, |snapshot| {
            let first = (snapshot.histogram() >> 32) as usize;
            let block = first.checked_sub(1).and_then(|first| buckets.get(first..first.checked_add(BUCKET_COUNT)?));
            for (part, word) in part.iter_mut().zip(block.unwrap_or_default()) {
                *part = word.get();
            }
            block.is_some()
        });
        if !is_there {
            continue;
        }
        found = true;
        let last = snapshot.histogram() as u32;
        if let Some(part) = part.get_mut(last as usize)
            && (snapshot.settled || pending == Pending::Shown)
        {
            *part = part.wrapping_add(1);
        }
        for (count, part) in counts.iter_mut().zip(&part) {
            *count = count.wrapping_add(*part);
        }
    }
    found
}

#[cfg(all(test, not(any(perfschema_loom, miri))))]
mod tests {
    use super::*;
    use crate::event::WAITS;
    use crate::region::SLOT;
    use crate::{Actor, ActorIdentity, Config, Held, Identity, InstrumentName, Operation, Setting, Size, WaitStart, tables};
    use perfschema_timer::{MockClock, TimerName};
    use std::vec::Vec;

    /// A thread stands still between any two stores of [`note`] while the table is truncated: later waits count in full.
    #[test]
    fn truncate_beside_a_wait_that_is_half_counted() {
        const CONFIG: Config = Config::SMALL.with(Size::MaxWaitHistograms, 1);
        for stores in 0..3 {
            let words: Vec<Word> = (0..CONFIG.words()).map(|_| Word::new(0)).collect();
            let clock = MockClock::new();
            let region = Region::create(&words, &CONFIG, &Identity::default(), &clock.timers()).expect("there is room");
            let class = region.register(InstrumentName::literal("wait/synch/mutex/t/A"), Setting::ON).expect("there is room");
            region.enable_everything();
            region.set_wait_timer(TimerName::Nanosecond);
            let actor = Actor::attach(&region, &ActorIdentity::default());
            let wait = || {
                let wait = actor.begin(&clock, region.switches(class), class, &WaitStart::new(Operation::Lock));
                clock.advance(TimerName::Nanosecond, 100);
                actor.end(&clock, wait, Held::None);
            };
            let count = || {
                let mut count = 0;
                region.scan(&tables::EventsWaitsHistogramByEventName, |row| count += row.count_bucket);
                count
            };
            wait();
            wait();
            let epochs = slot::epochs(&region.arrays::<SLOT>(Section::Slots)[0], &WAITS);
            let sums = stat::begin(&region.arrays_of::<STAT>(Section::Stats, 0)[class.index()], epochs, || ());
            sums.count(Some(9_000_000));
            let state = sums.histogram().get();
            let (first, last) = (state >> 32, state & u64::from(u32::MAX));
            let bucket = &region.section(Section::Histograms)[(first + last - 1) as usize];
            let new = first << 32 | crate::histogram::bucket(9_000_000) as u64;
            let steps = [(bucket, bucket.get() + 1), (sums.histogram(), new)];
            steps[..stores].iter().for_each(|(word, value)| word.set(*value));
            truncate(&region, class);
            steps[stores..].iter().for_each(|(word, value)| word.set(*value));
            sums.publish();
            // The one before may show again, and this one shows if it was not there yet.
            let before = count();
            assert!(before <= 2, "{before} after {stores} stores");
            wait();
            wait();
            assert_eq!(count() - before, 2, "after {stores} stores");
        }
    }
}
