//! Summaries: count, sum, minimum and maximum of the waits of one actor at one instrument.
//!
//! **Owned** (almost always): one thread writes with plain stores behind a version (a count alone has none), readers add up over all slots. A slot keeps its
//! sums over all its owners, so nothing is ever handed over: what an ended thread summed stays where it is and counts exactly once.
//!
//! Two tables show these sums, and each is truncated alone: by thread (which also starts anew with each owner of the slot) and global.
//! A truncation only bumps an *epoch* in the slot; the owner honours it at its next write, the reader before that. Since then there
//! are up to two sums to keep: what was counted since the younger truncation (the summary itself), and what was counted between the
//! two (the *carry*, which belongs to the table truncated longer ago). A third is never needed:
//! ```text
//!            global truncated     by thread truncated            now
//!  ─ vanished ─────┼────── carry, for global ───┼──── summary, for both ───┤
//! ```
//! **In ticks** of CYCLE are the times of a summary of waits: so nothing is multiplied where an event ends, and readers make picoseconds of them.
//! Once something is counted there that another timer has timed, all are picoseconds, until both tables are truncated. Which of the two is a bit
//! beside the epochs: who records in ticks asks for both by one compare.
//!
//! **Shared**, in picoseconds: for threads without a slot, while `thread_instrumentation` is off, and for locks that several threads hold at once:
//! read-modify-write, slower, never wrong. Each number is whole; together they are so when nobody is writing.

use crate::region::{CARRY, STAT};
use crate::sync::{AtomicU32, Ordering, Word, fence};
use core::ops::Range;
use perfschema_timer::Conversion;

pub(crate) mod word {
    pub(crate) const VERSION: usize = 0;
    /// The slot's epochs as of the last write, and the unit of the times.
    pub(crate) const EPOCHS: usize = 1;
    // The words of `Owned` are from 2 on.
    #[cfg(perfschema_loom)]
    pub(crate) const OWNED: core::ops::Range<usize> = 2..7;
    /// Lower half: where the histogram is, and which of its buckets takes the last wait. See `wait_histogram`. Upper half: see `carry`.
    pub(crate) const HISTOGRAM: usize = 7;
}

/// Words of [`Owned`].
pub(crate) mod own {
    /// In [`Owned`](super::Owned) alone: timed events. In [`Versioned`](super::Versioned), half of whose version counts them: how much of that half is
    /// none of these sums', what was before they began, and untimed ones.
    pub(crate) const TIMED: usize = 0;
    /// Number of untimed events.
    pub(crate) const UNTIMED: usize = 1;
    pub(crate) const SUM: usize = 2;
    /// The minimum, with the sign changed: an instruction less than the minimum itself, where a wait is compared.
    pub(crate) const MINUS_MIN: usize = 3;
    /// The maximum less the minimum: one compare tells that a wait is neither shorter nor longer than all before. Both are 0 where there is
    /// none yet, as where all took no time.
    pub(crate) const SPAN: usize = 4;
}

/// Words of [`Shared`].
pub(crate) mod sum {
    pub(crate) const COUNT_TIMED: usize = 0;
    /// Number of untimed events.
    pub(crate) const UNTIMED: usize = 1;
    pub(crate) const SUM: usize = 2;
    pub(crate) const MAX: usize = 3;
    /// The minimum's complement: zero is "none yet", and a smaller minimum is a larger number.
    pub(crate) const NOT_MIN: usize = 4;
}

/// Words of a carry. There is one for each thread and instrument, so a word more is megabytes: what is left of COUNTS is in the upper half of
/// HISTOGRAM of the summary.
/// ```text
///  upper half of HISTOGRAM, 32     COUNTS, 16            COUNTS, 47                      COUNTS, 1
/// ┌───────────────────────────────┬─────────────────────┬───────────────────────────────┬────────────────────────┐
/// │ number of untimed events                            │ number of timed events        │ whose carry it is      │
/// └───────────────────────────────┴─────────────────────┴───────────────────────────────┴────────────────────────┘
/// ```
/// After 2⁴⁷ timed events at one instrument, which take a thread a month of nothing else, it is that many; after 2⁴⁸ untimed ones, too.
pub(crate) mod carry {
    pub(crate) const COUNTS: usize = 0;
    pub(crate) const SUM: usize = 1;
    pub(crate) const MIN: usize = 2;
    pub(crate) const MAX: usize = 3;

    // What COUNTS holds.
    /// Whether the carry is the global table's; else it is that of the table by thread, or there is none.
    pub(super) const IS_GLOBAL: u64 = 1;
    pub(super) const TIMED_SHIFT: u32 = 1;
    pub(super) const UNTIMED_SHIFT: u32 = 48;
    pub(super) const TIMED_MAX: u64 = (1 << (UNTIMED_SHIFT - TIMED_SHIFT)) - 1;
    /// Bits of the number of untimed events that are in COUNTS.
    pub(super) const UNTIMED_LOW: u32 = u64::BITS - UNTIMED_SHIFT;
    pub(super) const UNTIMED_MAX: u64 = (1 << (UNTIMED_LOW + 32)) - 1;
}

pub(crate) type StatWords = [Word; STAT];
pub(crate) type CarryWords = [Word; CARRY];

/// Looks that a reader takes at words that are written all the time, each after a longer pause.
// A model looks once: what one look may return is what each may.
const LOOKS: u32 = if cfg!(perfschema_loom) {
    1
} else if cfg!(miri) {
    4
} else {
    64
};
/// Looks at the middle of one and the same write, after which its writer counts as stopped or dead: some microseconds.
const LOOKS_AT_ONE_WRITE: u32 = 8;

/// How long a reader still waits for writers that are in the middle of a write.
///
/// In vain for as many as were stopped or killed there, which are few threads; in a damaged region it may be every summary, and to wait for
/// each would take seconds. So a scan waits for some in vain, and looks once at each that comes then, until it has met many that are whole.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// How many were met in vain, each so often as it takes whole ones to forget it.
    spent: AtomicU32,
}

impl Patience {
    /// So many are waited for in vain.
    const WAITS: u32 = 64;
    /// So many whole ones make up for one of them.
    const WHOLE: u32 = 16;

    /// A scan begins. What others read by the same handle at the same time is looked at more often for that, or less: no more depends on it.
    pub(crate) fn renew(&self) {
        self.set(self.spent.load(Ordering::Relaxed), 0);
    }

    /// Whether to wait for one more.
    fn is_left(&self) -> bool {
        self.spent.load(Ordering::Relaxed) <= (Self::WAITS - 1) * Self::WHOLE
    }

    fn met_one_in_vain(&self) {
        let spent = self.spent.load(Ordering::Relaxed);
        self.set(spent, spent.saturating_add(Self::WHOLE).min(Self::WAITS * Self::WHOLE));
    }

    fn met_a_whole_one(&self) {
        let spent = self.spent.load(Ordering::Relaxed);
        self.set(spent, spent.saturating_sub(1));
    }

    /// Almost always it is so already: what is beside it in the cache is everybody's.
    fn set(&self, from: u32, to: u32) {
        if from != to {
            self.spent.store(to, Ordering::Relaxed);
        }
    }
}

/// The table that shows a sum. As numbers in a region, 0 is neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Thread = 1,
    Global = 2,
}

/// What the times of a summary are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Ticks of CYCLE, by which nearly all waits are timed: readers make picoseconds of them.
    Ticks,
    /// Picoseconds, which can be made of ticks of any timer.
    Picoseconds,
}

/// Three counters in one word: truncations and owners of the by-thread view, truncations of the table of what runs, and of the global view; and in
/// a summary the unit of its times.
/// ```text
///  63                      62            32 31          24 23            0
/// ┌───────────────────────┬────────────────┬──────────────┬───────────────┐
/// │ unit: 1 picoseconds   │ by thread      │ current      │ global        │
/// └───────────────────────┴────────────────┴──────────────┴───────────────┘
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Epochs(pub(crate) u64);

impl Epochs {
    const PICOSECONDS: u64 = 1 << 63;
    const THREAD: Range<u32> = 32..63;
    const CURRENT: Range<u32> = 24..32;
    const GLOBAL: Range<u32> = 0..24;

    pub(crate) fn next(self, view: View) -> Epochs {
        self.counted(match view {
            View::Thread => Self::THREAD,
            View::Global => Self::GLOBAL,
        })
    }

    /// The table of what runs was truncated. No sum changes, but those who record are to look.
    pub(crate) fn next_current(self) -> Epochs {
        self.counted(Self::CURRENT)
    }

    /// One more in these bits.
    fn counted(self, bits: Range<u32>) -> Epochs {
        let mask = (1 << bits.end) - (1 << bits.start);
        Epochs(self.0 & !mask | self.0.wrapping_add(1 << bits.start) & mask)
    }

    /// The by-thread counter, in the upper bits, so that differences come round as it does.
    fn thread(self) -> u32 {
        (self.0 >> Self::THREAD.start << 1) as u32
    }

    fn global(self) -> u64 {
        self.0 % (1 << Self::GLOBAL.end)
    }

    pub(crate) fn same(self, other: Epochs, view: View) -> bool {
        match view {
            View::Thread => self.thread() == other.thread(),
            View::Global => self.global() == other.global(),
        }
    }

    /// Whether these are of the time from `first` to `now`, as the by-thread view counts it.
    pub(crate) fn is_within(self, first: Epochs, now: Epochs) -> bool {
        now.thread().wrapping_sub(self.thread()) <= now.thread().wrapping_sub(first.thread())
    }

    /// The same of a summary with times in this unit.
    fn with(self, unit: Unit) -> Epochs {
        match unit {
            Unit::Ticks => Epochs(self.0 & !Self::PICOSECONDS),
            Unit::Picoseconds => Epochs(self.0 | Self::PICOSECONDS),
        }
    }

    fn unit(self) -> Unit {
        if self.0 & Self::PICOSECONDS == 0 { Unit::Ticks } else { Unit::Picoseconds }
    }
}

/// A sum of waits; times are picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Events, timed or not: COUNT_STAR.
    pub count: u64,
    /// Timed events: what AVG_TIMER_WAIT divides by.
    pub count_timed: u64,
    /// SUM_TIMER_WAIT. After 2⁶⁴ ps it starts again at 0, as MySQL's does: after 213 days of waits of all threads together, which a thousand that
    /// always wait have in five hours. Who looks more often takes differences, modulo 2⁶⁴.
    pub sum_ps: u64,
    /// MIN_TIMER_WAIT, 0 if nothing was timed.
    pub min_ps: u64,
    /// MAX_TIMER_WAIT.
    pub max_ps: u64,
}

impl Summary {
    /// AVG_TIMER_WAIT: over the timed events, 0 if there are none. Once the [sum](Self::sum_ps) has started again, it may be less than the least.
    pub fn avg_ps(&self) -> u64 {
        self.sum_ps.checked_div(self.count_timed).unwrap_or(0)
    }

    /// Adds another sum to this one.
    pub fn add(&mut self, other: &Summary) {
        self.min_ps = match (self.count_timed, other.count_timed) {
            (_, 0) => self.min_ps,
            (0, _) => other.min_ps,
            _ => self.min_ps.min(other.min_ps),
        };
        self.max_ps = self.max_ps.max(other.max_ps);
        self.count = self.count.wrapping_add(other.count);
        self.count_timed = self.count_timed.wrapping_add(other.count_timed);
        self.sum_ps = self.sum_ps.wrapping_add(other.sum_ps);
    }

    /// The same, if its times are ticks.
    fn in_picoseconds(self, conversion: &Conversion) -> Summary {
        Summary {
            sum_ps: conversion.picoseconds_modulo(self.sum_ps),
            min_ps: conversion.picoseconds(self.min_ps),
            max_ps: conversion.picoseconds(self.max_ps),
            ..self
        }
    }

    pub(crate) fn from_words(count_timed: u64, untimed: u64, sum: u64, min: u64, max: u64) -> Summary {
        Summary {
            count: count_timed.wrapping_add(untimed),
            count_timed,
            sum_ps: sum,
            max_ps: max,
            // Of an event that was counted while shared sums were truncated only the count may be there.
            min_ps: if count_timed == 0 { 0 } else { max.min(min) },
        }
    }
}

/// Owner: whether the summary was last written in these epochs, its times ticks. Otherwise [`begin`] is to be called, and not [`begin_current`] nor
/// [`count_untimed`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn is_current(stat: &StatWords, epochs: Epochs) -> bool {
    stat[word::EPOCHS].get() == epochs.0
}

/// Owner: an event is being counted. What follows writes the sums, and whatever readers are to see change together with them.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn begin_current(stat: &StatWords) -> Sums<'_> {
    Versioned::of(stat).begin();
    Sums(stat)
}

/// The same, of a summary that need not be [current](is_current), nor its times ticks: while the version is odd, `honour` runs if it was last
/// written in other epochs, or its times are ticks and are to be picoseconds.
pub(crate) fn begin(stat: &StatWords, epochs: Epochs, unit: Unit, honour: impl FnOnce()) -> Sums<'_> {
    // Picoseconds stay, whatever comes.
    let sums = begin_current(stat);
    if ![unit, Unit::Picoseconds].map(|unit| epochs.with(unit).0).contains(&stat[word::EPOCHS].get()) {
        honour();
    }
    sums
}

/// Owner: an event that is not timed, and counted in no other word, in a summary that is [current](is_current).
///
/// One word changes, and nobody takes it for anything but the count that it is, so no version says that it does; unless the word is written
/// in two halves.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn count_untimed(stat: &StatWords) {
    if cfg!(target_has_atomic = "64") {
        return Versioned::of(stat).sums.count_untimed();
    }
    let sums = begin_current(stat);
    sums.count_none();
    sums.publish();
}

/// The numbers of a summary that one thread writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owned<'a>(pub(crate) &'a [Word; 5]);

impl Owned<'_> {
    /// An event, where a version of another's covers the sums.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn count(self, wait_ps: Option<u64>) {
        let Owned(words) = self;
        let Some(wait_ps) = wait_ps else { return self.count_untimed() };
        words[own::TIMED].set(words[own::TIMED].get().wrapping_add(1));
        self.add(wait_ps, || words[own::TIMED].get() == 1);
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn count_untimed(self) {
        self.0[own::UNTIMED].set(self.0[own::UNTIMED].get().wrapping_add(1));
    }

    /// The time of an event. `is_first` is asked only where it matters.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn add(self, wait_ps: u64, is_first: impl FnOnce() -> bool) {
        let Owned(words) = self;
        words[own::SUM].set(words[own::SUM].get().wrapping_add(wait_ps));
        // What is less than the least is very much more.
        if wait_ps.wrapping_add(words[own::MINUS_MIN].get()) > words[own::SPAN].get() {
            self.widen(wait_ps, is_first());
        }
    }

    /// The same in ticks. Returns them: none if the clock went backward, which is all that is 2⁶³ or more.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn add_ticks(self, mut ticks: u64, is_first: impl FnOnce() -> bool) -> u64 {
        let Owned(words) = self;
        // What went backward, too, is very much more than the most.
        if ticks.wrapping_add(words[own::MINUS_MIN].get()) > words[own::SPAN].get() {
            ticks = self.widen_ticks(ticks, is_first());
        }
        words[own::SUM].set(words[own::SUM].get().wrapping_add(ticks));
        ticks
    }

    #[cold]
    #[inline(never)]
    fn widen_ticks(self, ticks: u64, is_first: bool) -> u64 {
        let ticks = if ticks >> (u64::BITS - 1) == 0 { ticks } else { 0 };
        self.widen(ticks, is_first);
        ticks
    }

    /// The times become those of `sum`.
    fn set_times(self, sum: &Summary) {
        let Owned(words) = self;
        words[own::SUM].set(sum.sum_ps);
        words[own::MINUS_MIN].set(sum.min_ps.wrapping_neg());
        words[own::SPAN].set(sum.max_ps.saturating_sub(sum.min_ps));
    }

    /// A new extreme, which is rare.
    #[cold]
    #[inline(never)]
    fn widen(self, wait_ps: u64, is_first: bool) {
        let Owned(words) = self;
        let (min, max) = if is_first { (wait_ps, wait_ps) } else { (self.min(), self.max()) };
        let (min, max) = (min.min(wait_ps), max.max(wait_ps));
        words[own::MINUS_MIN].set(min.wrapping_neg());
        words[own::SPAN].set(max - min);
    }

    fn min(self) -> u64 {
        self.0[own::MINUS_MIN].get().wrapping_neg()
    }

    fn max(self) -> u64 {
        // Saturating: of words that somebody has overwritten.
        self.min().saturating_add(self.0[own::SPAN].get())
    }

    pub(crate) fn read(self) -> Summary {
        self.summary(self.0[own::TIMED].get())
    }

    fn summary(self, count_timed: u64) -> Summary {
        let Owned(words) = self;
        // Not by map(): built for size, that keeps an index that can be out of bounds, as far as a compiler sees.
        Summary::from_words(count_timed, words[own::UNTIMED].get(), words[own::SUM].get(), self.min(), self.max())
    }
}

/// The same behind a version of its own, which counts: it is odd while an event is being counted, and half of it is how many ever were behind
/// it. So it never returns, and there is no word for the count of timed events, but one for what is not to be taken for them: those before
/// the sums last began, and those that are not timed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Versioned<'a> {
    version: &'a Word,
    sums: Owned<'a>,
}

impl<'a> Versioned<'a> {
    /// That of a summary.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of(stat: &'a StatWords) -> Versioned<'a> {
        // In the order of `word`.
        let [version, _epochs, sums @ .., _histogram] = stat;
        Versioned { version, sums: Owned(sums) }
    }

    /// The same among other words. None if there are fewer.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn among(words: &'a [Word], version: usize, owned: core::ops::Range<usize>) -> Option<Versioned<'a>> {
        Some(Versioned { version: words.get(version)?, sums: Owned(words.get(owned)?.first_chunk()?) })
    }

    /// Owner: an event is being counted; [`count`](Self::count) and [`publish`](Self::publish), or what stands for it, follow.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn begin(self) {
        // Of a lock whose holder never finished it may be odd already.
        self.version.set(self.version.get() | 1);
        // [A1] Release fence: pairs with the fence [A4] of a reader that saw one of the words below.
        fence(Ordering::Release);
    }

    /// Nothing is counted any more, nor is anybody counting: whoever was is gone, or is the thread that has forked in the middle, goes on in the
    /// child, and [publishes all the same](Self::publish_forgotten).
    pub(crate) fn forget(self) {
        make_even(self.version);
        self.restart();
    }

    /// Nothing is counted before the event that is being counted, or is next. Who is in the middle of it goes on, also where it is a child's thread.
    pub(crate) fn restart(self) {
        let first = self.version.get() >> 1;
        for (word, value) in self.sums.0.iter().zip([first, 0, 0, 0, 0]) {
            // What is so already is left alone, so that a forked child shares more pages with its parent.
            if word.get() != value {
                word.set(value);
            }
        }
    }

    /// Owner, while the version is odd: how long the event took.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn count(self, wait_ps: Option<u64>) {
        let Some(wait_ps) = wait_ps else {
            self.sums.count_untimed();
            // The version is about to count it.
            return self.sums.0[own::TIMED].set(self.sums.0[own::TIMED].get().wrapping_add(1));
        };
        self.sums.add(wait_ps, || self.count_timed(self.version.get()) == 0);
    }

    /// The same in ticks, as [`Owned::add_ticks`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn count_ticks(self, ticks: u64) -> u64 {
        self.sums.add_ticks(ticks, || self.count_timed(self.version.get()) == 0)
    }

    /// Owner: the event is counted.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn publish(self) {
        // It is odd, because nobody but the owner makes it even.
        // [A2] Release: pairs with [A3].
        self.version.store_version(self.version.get().wrapping_add(1), Ordering::Release);
    }

    /// The same where nobody knows whose event it was that somebody [forgot](Self::forget): three instructions more.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn publish_forgotten(self) {
        // It is odd, but in a child that a handler has forked in the middle: there it may be an even one of before.
        let version = (self.version.get() | 1).wrapping_add(1);
        self.version.store_version(version, Ordering::Release); // [A2]
    }

    /// Reader: what `also` makes of the sums, and whether it is whole; it runs within each look.
    pub(crate) fn settle<T>(self, patience: &Patience, mut also: impl FnMut(Summary) -> T) -> (T, bool) {
        settle(patience, self.version, |version| also(self.read(version)))
    }

    fn read(self, version: u64) -> Summary {
        self.sums.summary(self.count_timed(version))
    }

    fn count_timed(self, version: u64) -> u64 {
        // Saturating: of an untimed event whose owner was stopped in the middle, or killed, TIMED is ahead.
        (version >> 1).saturating_sub(self.sums.0[own::TIMED].get())
    }
}

/// Owner: words behind a version change, which is odd meanwhile; for sums that have a word for their count.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn write(version: &Word, write: impl FnOnce()) {
    // Odd already only where a fork copied what another thread was writing.
    let before = version.get() & !1;
    version.set(before.wrapping_add(1));
    fence(Ordering::Release); // [A1]
    write();
    version.store(before.wrapping_add(2), Ordering::Release); // [A2]
}

/// Whoever was writing behind this version does not end it.
pub(crate) fn make_even(version: &Word) {
    let before = version.get();
    if !before.is_multiple_of(2) {
        version.set(before.wrapping_add(1));
    }
}

/// A summary that is being written, its version odd.
#[must_use = "readers wait for publish()"]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums<'a>(&'a StatWords);

impl<'a> Sums<'a> {
    /// An event that is not timed.
    pub(crate) fn count_none(self) {
        Versioned::of(self.0).count(None);
    }

    /// An event that took so many ticks of CYCLE, of a summary in ticks. Returns them, or 0 if the clock went backward.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn count_ticks(self, ticks: u64) -> u64 {
        Versioned::of(self.0).count_ticks(ticks)
    }

    /// An event that took so long, in picoseconds and in ticks of CYCLE, if it was timed by that: then either may be the summary's unit.
    pub(crate) fn count(self, wait_ps: u64, ticks: Option<u64>) {
        match (Epochs(self.0[word::EPOCHS].get()).unit(), ticks) {
            (Unit::Ticks, Some(ticks)) => _ = self.count_ticks(ticks),
            _ => Versioned::of(self.0).count(Some(wait_ps)),
        }
    }

    /// The word HISTOGRAM.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn histogram(self) -> &'a Word {
        &self.0[word::HISTOGRAM]
    }

    /// The event is counted.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn publish(self) {
        Versioned::of(self.0).publish();
    }
}

/// A number that a summary has besides: what was counted since the younger truncation, and the carry.
pub(crate) type Figure = [Word; 2];

/// Owner, while the version is odd: a table was truncated, or the slot has a new owner, since the last write, or what comes now is in another unit.
/// `figures` are what the summary has besides.
///
/// Picoseconds can be made of ticks, as `conversion` says, and not the other way round: so where there are any they stay, until all are truncated.
pub(crate) fn honour(stat: &StatWords, carry: &CarryWords, figures: &[Figure], now: Epochs, unit: Unit, conversion: &Conversion) {
    let parts = Parts::load(stat, carry, stat[word::VERSION].get());
    let in_ticks = parts.epochs.unit() == Unit::Ticks;
    let kept = match (parts.epochs.same(now, View::Thread), parts.epochs.same(now, View::Global)) {
        (true, true) => {
            let mut becomes = parts.epochs.unit();
            if in_ticks && unit == Unit::Picoseconds {
                becomes = unit;
                Versioned::of(stat).sums.set_times(&parts.summary.in_picoseconds(conversion));
                set_carry_times(carry, &parts.carry.in_picoseconds(conversion));
            }
            stat[word::EPOCHS].set(now.with(becomes).0);
            return;
        }
        (false, false) => None,
        (true, false) => Some(View::Thread),
        (false, true) => Some(View::Global),
    };
    let mut sum = kept.map(|view| parts.view(view)).unwrap_or_default();
    let mut becomes = unit;
    if sum.count_timed > 0 && in_ticks != (unit == Unit::Ticks) {
        becomes = Unit::Picoseconds;
        if in_ticks {
            sum = sum.in_picoseconds(conversion);
        }
    }
    for figure in figures {
        let [sum, carry] = figure;
        carry.set(kept.map_or(0, |view| parts.figure(figure, view)));
        sum.set(0);
    }
    let timed = sum.count_timed.min(carry::TIMED_MAX);
    let untimed = sum.count.wrapping_sub(sum.count_timed).min(carry::UNTIMED_MAX);
    let is_global = if kept == Some(View::Global) { carry::IS_GLOBAL } else { 0 };
    carry[carry::COUNTS].set(untimed << carry::UNTIMED_SHIFT | timed << carry::TIMED_SHIFT | is_global);
    set_carry_times(carry, &sum);
    let histogram = &stat[word::HISTOGRAM];
    histogram.set(untimed >> carry::UNTIMED_LOW << 32 | histogram.get() & u64::from(u32::MAX));
    Versioned::of(stat).restart();
    stat[word::EPOCHS].set(now.with(becomes).0);
}

fn set_carry_times(carry: &CarryWords, sum: &Summary) {
    carry[carry::SUM].set(sum.sum_ps);
    carry[carry::MAX].set(sum.max_ps);
    carry[carry::MIN].set(sum.min_ps);
}

/// A summary and its carry, as they are in memory: in its unit, whatever the fields are called.
#[derive(Clone, Copy, Debug)]
struct Parts {
    epochs: Epochs,
    summary: Summary,
    carry: Summary,
    carry_of: View,
    histogram: u32,
}

impl Parts {
    fn load(stat: &StatWords, carry: &CarryWords, version: u64) -> Parts {
        let (counts, histogram) = (carry[carry::COUNTS].get(), stat[word::HISTOGRAM].get());
        Parts {
            epochs: Epochs(stat[word::EPOCHS].get()),
            summary: Versioned::of(stat).read(version),
            carry: Summary::from_words(
                counts >> carry::TIMED_SHIFT & carry::TIMED_MAX,
                histogram >> 32 << carry::UNTIMED_LOW | counts >> carry::UNTIMED_SHIFT,
                carry[carry::SUM].get(),
                carry[carry::MIN].get(),
                carry[carry::MAX].get(),
            ),
            carry_of: if counts & carry::IS_GLOBAL == 0 { View::Thread } else { View::Global },
            histogram: histogram as u32,
        }
    }

    /// What one table shows, if it was not truncated since the last write.
    fn view(&self, view: View) -> Summary {
        let mut sum = self.summary;
        if self.carry_of == view {
            sum.add(&self.carry);
        }
        sum
    }

    /// The same of one of its figures.
    fn figure(&self, [sum, carry]: &Figure, view: View) -> u64 {
        sum.get().wrapping_add(if self.carry_of == view { carry.get() } else { 0 })
    }
}

/// What a reader gets from one summary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot {
    parts: Parts,
    /// The words were read while the owner stood still in the middle of a write, or never stopped writing: the last event may be half
    /// counted.
    pub(crate) settled: bool,
}

impl Snapshot {
    /// The sums that a table shows, given the slot's epochs as of now; `conversion`, which is asked for where there are ticks, is that of CYCLE.
    pub(crate) fn view(&self, view: View, now: Epochs, conversion: impl FnOnce() -> Conversion) -> Summary {
        if !self.parts.epochs.same(now, view) {
            return Summary::default();
        }
        let sum = self.parts.view(view);
        let has_ticks = self.parts.epochs.unit() == Unit::Ticks && sum.sum_ps | sum.max_ps != 0;
        if has_ticks { sum.in_picoseconds(&conversion()) } else { sum }
    }

    /// The same of one of its figures: for the look that this is of.
    pub(crate) fn figure(&self, figure: &Figure, view: View, now: Epochs) -> u64 {
        if self.parts.epochs.same(now, view) { self.parts.figure(figure, view) } else { 0 }
    }

    /// What `wait_histogram` keeps here.
    pub(crate) fn histogram(&self) -> u32 {
        self.parts.histogram
    }
}

/// Reader: the sums, whole. `also` runs within each look, for words that change together with these.
pub(crate) fn read<T>(
    patience: &Patience,
    stat: &StatWords,
    carry: &CarryWords,
    mut also: impl FnMut(&Snapshot) -> T,
) -> (Snapshot, T) {
    let ((snapshot, result), settled) = settle(patience, &stat[word::VERSION], |version| {
        let snapshot = Snapshot { parts: Parts::load(stat, carry, version), settled: true };
        let result = also(&snapshot);
        (snapshot, result)
    });
    (Snapshot { settled, ..snapshot }, result)
}

/// Reader: what `look`, which is given the version, makes of words that change behind it, and whether it is whole.
///
/// A writer is in the middle of a write for a few nanoseconds, so it is worth looking again; but it may have been stopped or killed
/// there, or never stop writing, so the looks are bounded, and those of a whole scan, too.
pub(crate) fn settle<T>(patience: &Patience, version: &Word, mut look: impl FnMut(u64) -> T) -> (T, bool) {
    let (mut before, mut at_one_write) = (0, 0);
    let mut looks = 0;
    loop {
        // [A3] Acquire: pairs with [A2].
        let seen = version.load_version(Ordering::Acquire);
        let found = look(seen);
        // [A4] Acquire fence: pairs with [A1].
        fence(Ordering::Acquire);
        if seen.is_multiple_of(2) && version.get() == seen {
            patience.met_a_whole_one();
            return (found, true);
        }
        looks += 1;
        at_one_write = if seen == before { at_one_write + 1 } else { 1 };
        before = seen;
        if looks == LOOKS || at_one_write == LOOKS_AT_ONE_WRITE || !patience.is_left() {
            #[cfg(perfschema_loom)]
            crate::model::note_unsettled();
            patience.met_one_in_vain();
            return (found, false);
        }
        // Back off: each look takes the line away from the writer.
        for _ in 0..1 << looks.min(8) {
            crate::spin_loop();
        }
    }
}

/// A summary that several threads write.
///
/// Relaxed throughout: each number stands alone, and nothing else is published by it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared<'r>(pub(crate) &'r [Word; 5]);

impl<'r> Shared<'r> {
    /// The one that these words begin with; None of fewer words.
    pub(crate) fn of(words: &'r [Word]) -> Option<Shared<'r>> {
        words.first_chunk().map(Shared)
    }

    /// Counts an event.
    pub(crate) fn record(self, wait_ps: Option<u64>) {
        let Some(wait) = wait_ps else {
            self.0[sum::UNTIMED].fetch_add(1, Ordering::Relaxed);
            return;
        };
        self.0[sum::SUM].fetch_add(wait, Ordering::Relaxed);
        for (extreme, value) in [(&self.0[sum::MAX], wait), (&self.0[sum::NOT_MIN], !wait)] {
            // Rarely more than a load: a new extreme is rare.
            if extreme.whole() < value {
                extreme.update(|before| before.max(value));
            }
        }
        self.0[sum::COUNT_TIMED].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(self) -> Summary {
        let [count_timed, untimed, sum, max, not_min] = self.0.each_ref().map(Word::whole);
        Summary::from_words(count_timed, untimed, sum, !not_min, max)
    }

    /// Back to zero. An event counted at this very moment may leave some of its numbers behind.
    pub(crate) fn reset(self) {
        for word in self.0 {
            word.swap(0, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, not(perfschema_loom)))]
mod tests;
