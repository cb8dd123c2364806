//! Where the wait histograms are kept: a block of buckets for each actor and class that ever met, and one for each class, shared by the actors
//! that found none of their own or have no slot, and for what is rare.
//!
//! Which bucket takes a wait depends on the wait, and a store whose *place* depends on the second timer value makes what follows wait for
//! it. So the bucket is computed when the wait ends and kept in the pair's summary, and counted when the next wait of the pair ends;
//! readers add the one that is kept. The lower half of word HISTOGRAM of a summary, where all 0 is one that never asked for a histogram:
//! ```text
//!  31         30         29                                          9 8                             0
//! ┌──────────┬──────────┬─────────────────────────────────────────────┬──────────────────────────────┐
//! │ its own  │ no wait  │ number of the histogram, from 1             │ the bucket of the last wait  │
//! └──────────┴──────────┴─────────────────────────────────────────────┴──────────────────────────────┘
//! ```
//! So it is the place of a bucket, of histograms of 512: those that are left over, of waits longer than two minutes, are only in the shared
//! ones. With 600 in one place the two parts had to be taken apart and put together, four instructions at each wait.
//!
//! What is shared is counted at once, by read-modify-writes: slower, and nothing is missing. TRUNCATE takes off there what the actors'
//! own hold, so a word of it may be less than nothing, and with theirs is what shows.

use crate::class::Class;
use crate::histogram::BUCKET_COUNT;
use crate::region::{CARRY, Region, STAT, Section, header};
use crate::slot;
use crate::stat;
use crate::sync::{Ordering, Word};
use core::hint::cold_path;

/// Buckets of an actor's own histogram: those of waits of less than 166 s.
pub(crate) const SHORT: usize = 512;

/// Bits of the last wait's bucket.
const LAST: u32 = SHORT as u32 - 1;
/// There is no last wait, or it is counted already.
const NO_WAIT: u32 = 1 << 30;
/// The pair has a histogram of its own.
const OWN: u32 = 1 << 31;
/// No room was left when the pair asked: its waits are in its class's shared histogram.
const SHARED: u32 = NO_WAIT;

/// Owner: counts the wait before, and keeps this one, in `word`, which is HISTOGRAM of the summary. `short` are the [`SHORT`] buckets of all
/// histograms, and `bucket` is one of them; `otherwise` does what [`note_any`] does.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn note(short: &[Word], word: &Word, bucket: usize, otherwise: impl FnOnce()) {
    let state = word.get();
    match short.get(place_of_last(state as u32)) {
        Some(last) => {
            increment(last);
            word.set(state & !u64::from(LAST) | bucket as u64);
        }
        None => {
            cold_path();
            otherwise();
        }
    }
}

/// The same of a wait of any length, whatever the word says.
pub(crate) fn note_any(region: &Region<'_>, class: usize, short: &[Word], word: &Word, bucket: usize) {
    let mut state = word.get() as u32;
    if let Some(last) = short.get(place_of_last(state)) {
        increment(last);
    }
    if state == 0 {
        state = reserve(region);
    }
    if bucket < SHORT && number(state).is_some() {
        return set(word, state & !(NO_WAIT | LAST) | bucket as u32);
    }
    set(word, without_wait(state));
    count_shared(region, class, bucket);
}

/// Which of the short buckets of all histograms takes the last wait. It is beyond them all if there is no histogram, or no wait.
#[cfg_attr(not(debug_assertions), inline(always))]
fn place_of_last(state: u32) -> usize {
    // To add so much, and not to take OWN off, is one instruction: what is added is less than 2³¹, which it has room for.
    state.wrapping_add((OWN + SHORT as u32).wrapping_neg()) as usize
}

/// Writes the lower half.
fn set(word: &Word, state: u32) {
    word.set(word.get() >> 32 << 32 | u64::from(state));
}

/// A wait that no histogram of the actor's own counts.
pub(crate) fn count_shared(region: &Region<'_>, class: usize, bucket: usize) {
    if let Some(count) = shared(region, class).get(bucket) {
        // Almost always it is so already, and everybody reads the line. Relaxed: who looks before that is seen sees the count a moment later.
        if region.header(header::HAS_SHARED_HISTOGRAMS).get() == 0 {
            region.header(header::HAS_SHARED_HISTOGRAMS).set(1);
        }
        // Relaxed: each wait is counted once, and nothing else stands with it.
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// One writer, so plain: the block belongs to this actor and class.
#[cfg_attr(not(debug_assertions), inline(always))]
fn increment(count: &Word) {
    count.set(count.get().wrapping_add(1));
}

/// What is left, as in a forked child: where the histogram is, and no wait.
pub(crate) fn without_wait(state: u32) -> u32 {
    if state == 0 { 0 } else { state & !LAST | NO_WAIT }
}

/// A new histogram's place, or what says that there is none.
fn reserve(region: &Region<'_>) -> u32 {
    let room = region.arrays::<SHORT>(Section::Histograms).len().min(NO_WAIT as usize / SHORT - 1) as u64;
    let next = region.header(header::NEXT_HISTOGRAM);
    // Relaxed: only that two owners get different numbers matters. The load first, so that the counter stays small when it is full.
    let number = if next.get() < room { next.fetch_add(1, Ordering::Relaxed) } else { room };
    if number < room { OWN | ((number as u32 + 1) * SHORT as u32) } else { SHARED }
}

/// Which histogram the summary has, from 0; None if none of its own.
fn number(state: u32) -> Option<usize> {
    if state & OWN == 0 { None } else { ((state & !(OWN | NO_WAIT)) as usize / SHORT).checked_sub(1) }
}

/// The bucket of the wait that it keeps.
fn last(state: u32) -> Option<usize> {
    (number(state).is_some() && state & NO_WAIT == 0).then_some((state & LAST) as usize)
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
    let is_any_own = total(region, class, Pending::Shown, &mut counts);
    if !is_any_own && region.header(header::HAS_SHARED_HISTOGRAMS).get() == 0 {
        return look(&counts, 0);
    }
    for (count, shared) in counts.iter_mut().zip(shared(region, class.index())) {
        *count = shown(*count, shared.whole());
    }
    let sum = counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
    look(&counts, sum)
}

/// The shared histogram of the class at this index. Nothing where there are no histograms.
fn shared<'r>(region: &Region<'r>, class: usize) -> &'r [Word] {
    region.arrays::<BUCKET_COUNT>(Section::SharedHistograms).get(class).map_or(&[], |buckets| buckets)
}

/// What shows of a bucket that the actors have counted so much in.
fn shown(own: u64, shared: u64) -> u64 {
    own.wrapping_add(shared).cast_signed().max(0).cast_unsigned()
}

/// TRUNCATE of the table, for one class. What is counted after this shows: of what the actors hold no more is taken off than is there.
pub(crate) fn truncate(region: &Region<'_>, class: Class) {
    let mut own = [0; BUCKET_COUNT];
    total(region, class, Pending::OnlyIfWhole, &mut own);
    // What was never touched stays so.
    let buckets = shared(region, class.index()).iter().zip(own).filter(|(shared, own)| shown(*own, shared.whole()) > 0);
    buckets.for_each(|(shared, own)| take_off(shared, own));
}

/// Nothing shows any more where the actors hold so much. Of two truncations at once the earlier one may come here last.
fn take_off(shared: &Word, own: u64) {
    shared.update(|before| if shown(own, before) > 0 { own.wrapping_neg() } else { before });
}

/// What becomes of the last wait of a summary that is being written: it may be among the buckets already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pending {
    /// It is added: who looks sees one too many for a moment.
    Shown,
    /// It is left out: what is taken off may be one too few, and is never one too many, which would be taken off later waits.
    OnlyIfWhole,
}

/// Adds up the buckets of a class over all actors' own. Returns whether there are any.
#[inline(never)]
fn total(region: &Region<'_>, class: Class, pending: Pending, counts: &mut [u64; BUCKET_COUNT]) -> bool {
    let (mut part, mut found) = ([0; SHORT], false);
    let histograms = region.arrays::<SHORT>(Section::Histograms);
    for (index, _) in slot::used(region) {
        let stats = region.arrays_of::<STAT>(Section::Stats, index);
        let carries = region.arrays_of::<CARRY>(Section::Carries, index);
        let (Some(stat), Some(carry)) = (stats.get(class.index()), carries.get(class.index())) else { continue };
        let (snapshot, is_there) = stat::read(region.patience(), stat, carry, |snapshot| {
            let Some(histogram) = number(snapshot.histogram()).and_then(|number| histograms.get(number)) else {
                return false;
            };
            for (part, word) in part.iter_mut().zip(histogram) {
                *part = word.get();
            }
            true
        });
        if !is_there {
            continue;
        }
        found = true;
        if let Some(last) = last(snapshot.histogram())
            && let Some(part) = part.get_mut(last)
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
    use crate::histogram;
    use crate::region::SLOT;
    use crate::{Actor, ActorIdentity, Config, Held, Identity, InstrumentName, Operation, Setting, Size, WaitStart, tables};
    use perfschema_timer::{Conversion, MockClock, TimerName};
    use std::boxed::Box;
    use std::vec::Vec;

    const CONFIG: Config = Config::SMALL.with(Size::MaxWaitHistograms, 1);

    /// One thread that waits for one lock, on a clock that stands still otherwise.
    fn with_waiting(timer: TimerName, test: impl FnOnce(&Region<'_>, Class, &dyn Fn(u64))) {
        let words: Vec<Word> = (0..CONFIG.words()).map(|_| Word::new(0)).collect();
        let clock = MockClock::new();
        let region = Region::create(&words, &CONFIG, &Identity::default(), &clock.timers()).expect("there is room");
        let class = region.register(InstrumentName::literal("wait/synch/mutex/t/A"), Setting::ON).expect("there is room");
        region.enable_everything();
        region.set_wait_timer(timer);
        let actor = Actor::attach(&region, &ActorIdentity::default());
        test(&region, class, &|ticks| {
            let wait = actor.begin(&clock, region.switches(class), class, &WaitStart::new(Operation::Lock));
            clock.advance(timer, ticks);
            actor.end(&clock, wait, Held::None);
        });
    }

    fn counts(region: &Region<'_>) -> Vec<u64> {
        let mut counts = Vec::new();
        region.scan(&tables::EventsWaitsHistogramByEventName, |row| counts.push(row.count_bucket));
        counts
    }

    #[test]
    fn what_a_word_says() {
        for state in [0, SHARED, SHARED | 17, without_wait(0), without_wait(SHARED), OWN | 17] {
            assert_eq!((number(state), last(state)), (None, None), "{state:#x}");
        }
        let beyond = (NO_WAIT as usize / SHORT - 1) * SHORT;
        assert!([0, SHARED, SHARED | 17, OWN].map(place_of_last).iter().all(|place| *place >= beyond));
        for (number_of, bucket) in [(0, 0), (2, 17), (65_533, 511)] {
            let state = OWN | ((number_of + 1) * SHORT as u32 + bucket);
            assert_eq!((number(state), last(state)), (Some(number_of as usize), Some(bucket as usize)));
            assert_eq!(place_of_last(state), (number_of * SHORT as u32 + bucket) as usize);
            let state = without_wait(state);
            assert_eq!((number(state), last(state)), (Some(number_of as usize), None));
            assert!(place_of_last(state) >= beyond);
        }
    }

    /// Long and short by turns, in the bucket of its length each, at once and after the next.
    #[test]
    fn waits_of_all_lengths_beside_a_naive_count() {
        for timer in [TimerName::Cycle, TimerName::Nanosecond] {
            with_waiting(timer, |region, class, wait| {
                let conversion = region.timer(timer).conversion;
                let mut naive = std::vec![0; BUCKET_COUNT];
                let all = (0..BUCKET_COUNT).flat_map(|i| [i, BUCKET_COUNT - 1 - i, i, SHORT - 1, SHORT]);
                for (step, bucket) in all.enumerate() {
                    let ticks = (u128::from(histogram::bucket_timer_low(bucket)) << Conversion::SHIFT)
                        .div_ceil(conversion.multiplier().into())
                        .try_into()
                        .expect("hours");
                    wait(ticks);
                    naive[histogram::bucket(conversion.picoseconds(ticks))] += 1;
                    if step % 7 == 0 {
                        assert_eq!(counts(region), naive, "{timer:?}: {ticks} ticks");
                    }
                    if step == 1000 {
                        truncate(region, class);
                        naive.fill(0);
                    }
                }
                assert_eq!(counts(region), naive);
                assert!(naive[100..].iter().all(|count| *count > 0), "of all lengths that are not below the timer's");
            });
        }
    }

    /// What is not the histogram's in its word stays, whichever way a wait takes: the first, those that are not long, and long ones.
    #[test]
    fn the_upper_half_of_the_word_stays() {
        const UPPER: u64 = 0xfedc_ba98;
        for timer in [TimerName::Cycle, TimerName::Nanosecond] {
            with_waiting(timer, |region, class, wait| {
                let word = &region.arrays_of::<STAT>(Section::Stats, 0)[class.index()][stat::word::HISTOGRAM];
                // Of the same epochs, so that nothing is written there but by the histogram.
                let epochs = slot::epochs(&region.arrays::<SLOT>(Section::Slots)[0], &WAITS);
                region.arrays_of::<STAT>(Section::Stats, 0)[class.index()][stat::word::EPOCHS].set(epochs.0);
                word.set(UPPER << 32);
                for (number, ticks) in [100, 100, 200, 1 << 44, 1 << 44, 100, 200].into_iter().enumerate() {
                    wait(ticks);
                    assert_eq!(word.get() >> 32, UPPER, "{timer:?}: wait {number} of {ticks} ticks");
                    assert_eq!(counts(region).iter().sum::<u64>(), number as u64 + 1);
                }
            });
        }
    }

    /// A thread stands still between any two stores of [`note`], or of [`note_any`], while the table is truncated: later waits count in full.
    #[test]
    fn truncate_beside_a_wait_that_is_half_counted() {
        for (wait_ps, stores) in
            [9_000_000, 300_000_000_000_000].into_iter().flat_map(|wait_ps| (0..4).map(move |stores| (wait_ps, stores)))
        {
            with_waiting(TimerName::Nanosecond, |region, class, wait| {
                let wait = || wait(100);
                let count = || counts(region).iter().sum::<u64>();
                wait();
                wait();
                let sums = stat::begin_current(&region.arrays_of::<STAT>(Section::Stats, 0)[class.index()]);
                sums.count(wait_ps, None);
                let state = sums.histogram().get();
                let kept = &region.section(Section::Histograms)[place_of_last(state as u32)];
                let mut steps: Vec<Box<dyn Fn() + '_>> = std::vec![Box::new(|| increment(kept))];
                match histogram::bucket(wait_ps) {
                    short @ ..SHORT => steps.push(Box::new(move || set(sums.histogram(), state as u32 & !LAST | short as u32))),
                    long => {
                        steps.push(Box::new(move || set(sums.histogram(), without_wait(state as u32))));
                        steps.push(Box::new(move || count_shared(region, class.index(), long)));
                    }
                }
                let (first, last) = steps.split_at(stores.min(steps.len()));
                first.iter().for_each(|step| step());
                truncate(region, class);
                last.iter().for_each(|step| step());
                sums.publish();
                // The one before may show again, and this one shows if it was not there yet.
                let before = count();
                assert!(before <= 2, "{before} after {stores} stores");
                wait();
                wait();
                assert_eq!(count() - before, 2, "after {stores} stores of {wait_ps} ps");
            });
        }
    }

    /// What threads count beside two truncations, in every order: what comes after both shows in full, and nothing of what was before either.
    #[test]
    fn truncations_at_once_beside_own_and_shared_counts() {
        #[derive(Clone, Default)]
        struct World {
            /// What the actors' own histograms hold, and the word that is shared.
            own: u64,
            shared: u64,
            counted: u64,
            /// What each truncation has read of the actors' own, and what was counted by then; and whether it is through.
            begun: [Option<(u64, u64)>; 2],
            ended: [bool; 2],
            /// What was counted when the last one was through.
            counted_at_end: u64,
        }
        fn explore(world: &World, steps: u32) -> u32 {
            let shows = shown(world.own, world.shared);
            let at_least = if world.begun.iter().zip(world.ended).all(|(begun, ended)| begun.is_none() || ended) {
                world.counted - world.counted_at_end
            } else {
                0
            };
            let before = world.begun.iter().zip(world.ended).filter(|(_, ended)| *ended).filter_map(|(begun, _)| *begun);
            let at_most = world.counted - before.map(|(_, counted)| counted).max().unwrap_or(0);
            assert!((at_least..=at_most).contains(&shows), "{shows} where {at_least} to {at_most} were counted");
            if steps == 0 {
                return 1;
            }
            let mut worlds = std::vec![
                World { own: world.own + 1, counted: world.counted + 1, ..world.clone() },
                World { shared: world.shared.wrapping_add(1), counted: world.counted + 1, ..world.clone() },
            ];
            for n in 0..2 {
                let mut next = world.clone();
                match world.begun[n] {
                    None => next.begun[n] = Some((world.own, world.counted)),
                    Some((own, _)) => {
                        let shared = Word::new(world.shared);
                        take_off(&shared, own);
                        next.shared = shared.get();
                        next.ended[n] = true;
                        next.counted_at_end = world.counted;
                    }
                }
                if !world.ended[n] {
                    worlds.push(next);
                }
            }
            worlds.iter().map(|next| explore(next, steps - 1)).sum()
        }
        assert!(explore(&World::default(), 9) > 10_000);
    }
}
