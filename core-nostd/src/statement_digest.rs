//! Sums of statements that are alike: a hash table of [digests](crate::digest) that all threads share.
//!
//! A place is one of a [`pool`], and has a key beside its state: what it is found by, and how many statements run that are to be counted
//! there, which hold it. Whoever compares-and-swaps the key has it:
//! ```text
//!              the first such statement begins        the last one ends
//!   0, FREED ──────────────────────────────→ key, held ───────────────→ key, held by none
//!         ↑                                          ↑                       │   │ TRUNCATE
//!         │                                          └─ the next one begins ─┘   ↓
//!         └────────────────────── nothing is left ───────────────── FREED, held by who truncates
//! ```
//! Who takes a place writes what it is called, and publishes it; others that find the key count there meanwhile. Nobody waits for anybody.
//! When none of those that are looked at is free, the statement counts in the first place, which has no digest, as in MySQL.
//!
//! Every change of a key acquires and releases: what is counted by those who hold the place comes before it is cleared, and what comes behind
//! is the next ones'.
//!
//! TRUNCATE gives the places back, and clears what they were called: a text may have literals in it. Those that are held stay, with sums
//! of zero. A key never goes back to 0, where a search ends, so what is behind it is found; of two threads that bring in one digest while
//! another truncates, each may take a place, and there are two rows of it until the next time.

use crate::Lost;
use crate::digest::{Digest, spread};
use crate::pool::{self, Look};
use crate::region::{DIGEST, Region, Section, Text, read_text, what_fits, write_text};
use crate::stat::{Shared, Summary};
use crate::statement::{self, EntryText, StatementStatistics};
use crate::sync::{Ordering, Word};

/// Words of a place.
pub(crate) mod word {
    pub(crate) const KEY: usize = 0;
    pub(crate) const STATE: usize = 1;
    pub(crate) const DIGEST: core::ops::Range<usize> = 2..4;
    /// Ticks of NANOSECOND, and one more, so that none is not 0.
    pub(crate) const FIRST_SEEN: usize = 4;
    pub(crate) const LAST_SEEN: usize = 5;
    pub(crate) const SUMS: core::ops::Range<usize> = 6..11;
    pub(crate) const STATISTICS: core::ops::Range<usize> = 11..30;
    /// Of the text, and above it of the schema.
    pub(crate) const LENGTHS: usize = 30;
    pub(crate) const SCHEMA: core::ops::Range<usize> = 32..40;
}

/// In a key: how many hold the place.
const HOLDERS: u64 = (1 << 16) - 1;
/// A key without a digest, of a place that had one.
const FREED: u64 = HOLDERS + 1;
/// A key with a digest.
const TAKEN: u64 = 1 << 63;

/// Places that are looked at for a digest: one of so many is free, unless the table is almost full. Where it is not, a few are looked at.
const PROBES: usize = if cfg!(perfschema_loom) { 2 } else { 256 };
/// How often they are looked at, because somebody else was faster.
const ATTEMPTS: u32 = if cfg!(perfschema_loom) { 2 } else { 8 };

pub(crate) type DigestWords = [Word; DIGEST];

/// Where a statement is to be counted. Nobody else gets the place until it ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldPlace<'r> {
    words: &'r DigestWords,
    /// 0 in the place of those that find none, which nobody gets.
    key: u64,
}

/// The place of statements like this one: what of the text is kept, decides. [`HeldPlace::end`] follows. None if it has no text, or there is
/// no place at all.
pub(crate) fn hold<'r>(region: &Region<'r>, schema: &str, text: &str) -> Option<HeldPlace<'r>> {
    let places = region.arrays::<DIGEST>(Section::StatementDigests);
    let (schema, text) = (what_fits(schema, word::SCHEMA.len() * 8), what_fits(text, texts(region, 0).len() * 8));
    // As it is where there are no places.
    if text.is_empty() {
        return None;
    }
    find(region, places, schema, Digest::of(text), text).or_else(|| without_digest(region, places))
}

/// The place of those that find none, which is counted.
fn without_digest<'r>(region: &Region<'_>, places: &'r [DigestWords]) -> Option<HeldPlace<'r>> {
    region.count_lost(Lost::StatementDigests);
    Some(HeldPlace { words: places.first()?, key: 0 })
}

/// The place of a digest, taken now if it has none; None if none is free.
fn find<'r>(region: &Region<'r>, places: &'r [DigestWords], schema: &str, digest: Digest, text: &str) -> Option<HeldPlace<'r>> {
    // The first is for those that find none.
    let count = places.len().checked_sub(1)?;
    let hash = hash_of(schema, digest);
    let key = key_of(hash);
    let start = (hash >> 1).checked_rem(count as u64)? as usize;
    'again: for _ in 0..ATTEMPTS {
        let mut free = None;
        for probe in 0..PROBES.min(count) {
            let index = 1 + (start + probe) % count;
            let words = places.get(index)?;
            let seen = words[word::KEY].whole();
            if seen & !HOLDERS == key {
                let held = HeldPlace { words, key };
                if held.change_holders(|holders| Some(holders + 1).filter(|more| *more <= HOLDERS)) {
                    return Some(held);
                }
                // It was freed at this moment; or too many hold it.
                continue 'again;
            }
            if seen == 0 || seen == FREED {
                free = free.or(Some((index, words, seen)));
            }
            if seen == 0 {
                break;
            }
        }
        let (index, words, seen) = free?;
        if words[word::KEY].try_update(|now| if now == seen { Ok(key | 1) } else { Err(()) }).is_ok() {
            name(region, words, index, (schema, digest, text));
            return Some(HeldPlace { words, key });
        }
    }
    None
}

fn hash_of(schema: &str, digest: Digest) -> u64 {
    let schema_hash = schema.bytes().fold(0, |hash, byte| spread(hash ^ u64::from(byte)));
    spread(digest.0[0] ^ digest.0[1].rotate_left(32) ^ schema_hash)
}

/// What the place of a digest of this hash is known by.
const fn key_of(hash: u64) -> u64 {
    hash & !HOLDERS | TAKEN
}

/// Whoever took the place: what it is called.
fn name(region: &Region<'_>, words: &DigestWords, index: usize, (schema, digest, text): (&str, Digest, &str)) {
    // It is free, because the key was.
    if let Some(claim) = pool::claim(&words[word::STATE]) {
        words[word::DIGEST].iter().zip(digest.0).for_each(|(word, bits)| word.set(bits));
        let schema = write_text(&words[word::SCHEMA], schema);
        let text = write_text(texts(region, index), text);
        words[word::LENGTHS].set((schema as u64) << 32 | text as u64);
        claim.publish();
    }
}

impl HeldPlace<'_> {
    /// The statement has ended, when NANOSECOND read `ticks`.
    pub(crate) fn end(self, region: &Region<'_>, ticks: u64, wait_ps: Option<u64>, statistics: &StatementStatistics) {
        let is_held = self.words[word::KEY].whole() & !HOLDERS == self.key;
        // In a child that did not know of the statement, the place is free or another's.
        let place = if is_held { Some(self) } else { without_digest(region, region.arrays(Section::StatementDigests)) };
        if let Some(place) = place {
            place.count(ticks, wait_ps, statistics);
        }
        self.change_holders(|holders| holders.checked_sub(1));
    }

    fn count(self, ticks: u64, wait_ps: Option<u64>, statistics: &StatementStatistics) {
        let HeldPlace { words, .. } = self;
        Shared::of(&words[word::SUMS]).into_iter().for_each(|sums| sums.record(wait_ps));
        statement::add_shared(&words[word::STATISTICS], statistics);
        // Relaxed: numbers that stand alone.
        let seen = ticks.saturating_add(1);
        if words[word::FIRST_SEEN].whole() == 0 {
            let _ = words[word::FIRST_SEEN].compare_exchange(0, seen, Ordering::Relaxed);
        }
        if words[word::LAST_SEEN].whole() < seen {
            words[word::LAST_SEEN].update(|before| before.max(seen));
        }
    }

    /// Changes how many hold the place, if it is still the digest's and `change` gives a number. Returns whether it did.
    fn change_holders(self, change: impl Fn(u64) -> Option<u64>) -> bool {
        let changed = self.words[word::KEY].try_update(|seen| match change(seen & HOLDERS) {
            Some(holders) if seen & !HOLDERS == self.key => Ok(self.key | holders),
            _ => Err(()),
        });
        changed.is_ok()
    }
}

fn texts<'r>(region: &Region<'r>, index: usize) -> &'r [Word] {
    let texts = region.section(Section::StatementDigestTexts);
    let each = texts.len().checked_div(region.place(Section::StatementDigests).count).unwrap_or(0);
    let start = index.saturating_mul(each);
    texts.get(start..start.saturating_add(each)).unwrap_or(&[])
}

/// What a reader finds in a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StatementDigest {
    /// Schema, digest, and the first text that had it; None in the place of those that found none.
    pub(crate) name: Option<(Text<64>, Digest, Text<1024>)>,
    pub(crate) summary: Summary,
    pub(crate) statistics: StatementStatistics,
    /// Microseconds since 1970.
    pub(crate) first_seen_us: u64,
    pub(crate) last_seen_us: u64,
}

/// Reader: what is in a place; None if nothing was counted there, or it has no name yet, or had none at some moment of the look.
pub(crate) fn read(region: &Region<'_>, index: usize) -> Option<StatementDigest> {
    let words = region.arrays::<DIGEST>(Section::StatementDigests).get(index)?;
    if index == 0 {
        return counted(region, words, None);
    }
    let look = pool::read(&words[word::STATE], |_| {
        let lengths = words[word::LENGTHS].get();
        let schema = read_text(&words[word::SCHEMA], lengths >> 32);
        let digest = Digest([words[word::DIGEST.start].get(), words[word::DIGEST.start + 1].get()]);
        counted(region, words, Some((schema, digest, read_text(texts(region, index), lengths & 0xffff_ffff))))
    });
    match look {
        Look::Live(found) => found,
        Look::Free | Look::Changed => None,
    }
}

/// What is in a place of this name, if anything was counted there.
fn counted(region: &Region<'_>, words: &DigestWords, name: Option<(Text<64>, Digest, Text<1024>)>) -> Option<StatementDigest> {
    let summary = Shared::of(&words[word::SUMS])?.read();
    (summary.count != 0).then(|| StatementDigest {
        name,
        summary,
        statistics: statement::statistics(&words[word::STATISTICS], Word::whole),
        first_seen_us: unix_us(region, words[word::FIRST_SEEN].whole().saturating_sub(1)),
        last_seen_us: unix_us(region, words[word::LAST_SEEN].whole().saturating_sub(1)),
    })
}

/// TRUNCATE. A statement that ends at this very moment may leave some of its numbers behind.
pub(crate) fn reset(region: &Region<'_>) {
    for (index, words) in region.arrays::<DIGEST>(Section::StatementDigests).iter().enumerate() {
        let unheld = |key: u64| if key & TAKEN != 0 && key & HOLDERS == 0 { Ok(FREED | 1) } else { Err(()) };
        if words[word::KEY].try_update(unheld).is_ok() {
            clear(region, words, index);
        } else {
            for word in words[word::FIRST_SEEN..word::STATISTICS.end].iter().filter(|word| word.whole() != 0) {
                word.swap(0, Ordering::Relaxed);
            }
        }
    }
}

/// Whoever has made a taken place his: nothing is left there, and it is free.
fn clear(region: &Region<'_>, words: &DigestWords, index: usize) {
    let state = &words[word::STATE];
    pool::release_last(state);
    if let Some(claim) = pool::claim(state) {
        let used = words[word::DIGEST].iter().chain(&words[word::LENGTHS..]).chain(texts(region, index));
        used.filter(|word| word.get() != 0).for_each(|word| word.set(0));
        // Numbers also where they are zero: whoever reads what was added to these zeros, by read-modify-write, sees the claim above, too,
        // and takes it for no number of the digest before.
        words[word::FIRST_SEEN..word::STATISTICS.end].iter().for_each(|word| word.set(0));
        claim.give_up();
    }
    words[word::KEY].update(|_| FREED);
}

/// In a forked child that is idle, as [`Region::forked`] says: of all statements only these hold their places. Others that end there, such as those
/// of tasks, are counted without a digest, if no such statement has begun since.
pub(crate) fn keep_for(region: &Region<'_>, statements: impl Iterator<Item = EntryText>) {
    let keys = || {
        let places = region.arrays::<DIGEST>(Section::StatementDigests).iter();
        places.map(|words| &words[word::KEY]).filter(|key| key.get() & TAKEN != 0)
    };
    keys().for_each(|key| key.set(key.get() & !HOLDERS));
    for statement in statements {
        let key = key_of(hash_of(statement.schema.as_str(), Digest::of(statement.text.as_str())));
        if let Some(held) = keys().find(|held| held.get() & !HOLDERS == key) {
            held.set(held.get() + 1);
        }
    }
}

/// In a forked child, where nobody else records: the sums are its own. If it is `idle`, as [`Region::forked`] says, places without a name were
/// others' to name, and are free again.
pub(crate) fn forget(region: &Region<'_>, idle: bool) {
    reset(region);
    for (index, words) in region.arrays::<DIGEST>(Section::StatementDigests).iter().enumerate() {
        let (key, state) = (words[word::KEY].get(), &words[word::STATE]);
        // Where memory was copied, a place may be as it was before another thread took it, and what that wrote there as it was behind that.
        let has_text = || texts(region, index).first().is_some_and(|word| word.get() != 0);
        let is_left_over = || match key {
            0 | FREED => !pool::is_free(state) || has_text(),
            // Another was about to name it, or to clear it.
            key => key & TAKEN == 0 || pool::live(state).is_none(),
        };
        if idle && is_left_over() {
            clear(region, words, index);
        }
    }
}

/// Microseconds since 1970 at a reading of NANOSECOND; never so many that there is no year of four digits for them.
fn unix_us(region: &Region<'_>, ticks: u64) -> u64 {
    const LAST: u64 = 253_402_300_799_999_999;
    let timer = region.timer(perfschema_timer::TimerName::Nanosecond);
    let ns = |ticks: u64| (u128::from(ticks) * 1_000_000_000).checked_div(timer.frequency_hz.into()).unwrap_or(0);
    // A forked child has started later than the timer's epoch, which is its parent's.
    let started_ns = match region.start_monotonic_ns() {
        0 => ns(timer.epoch_ticks),
        started_ns => started_ns.into(),
    };
    let since_us = u64::try_from(ns(ticks).saturating_sub(started_ns) / 1_000).unwrap_or(u64::MAX);
    (region.start_unix_ns() / 1_000).saturating_add(since_us).min(LAST)
}

#[cfg(all(test, not(perfschema_loom)))]
mod tests {
    use super::*;
    use crate::{Config, Identity, Size};
    use std::vec::Vec;

    const CONFIG: Config = Config::EMPTY.with(Size::DigestsSize, 3).with(Size::MaxSqlTextLength, 32);

    fn region(words: &[Word]) -> Region<'_> {
        let timers = perfschema_timer::MockClock::new().timers();
        Region::create(words, &CONFIG, &Identity::default(), &timers).expect("there is room")
    }

    fn words() -> Vec<Word> {
        (0..CONFIG.words()).map(|_| Word::new(0)).collect()
    }

    fn hold<'r>(region: &Region<'r>, text: &str) -> HeldPlace<'r> {
        super::hold(region, "app", text).expect("there are places")
    }

    fn end(region: &Region<'_>, held: HeldPlace<'_>) {
        held.end(region, 1, Some(1), &StatementStatistics { rows_sent: 1, ..Default::default() });
    }

    /// Nothing that a statement said outlives TRUNCATE.
    #[test]
    fn truncate_clears_the_text() {
        let words = words();
        let region = region(&words);
        let used = || {
            let places = region.section(Section::StatementDigests).iter().chain(region.section(Section::StatementDigestTexts));
            places.filter(|word| word.get() != 0).count()
        };
        end(&region, hold(&region, "find 'a secret'"));
        assert!(used() > 10);
        reset(&region);
        // Its key, and the version of its state.
        assert_eq!(used(), 2);
    }

    /// What a child makes of a place that it did not know to be held is its own affair.
    #[test]
    fn a_place_that_is_anothers_by_now_is_not_counted_in() {
        let words = words();
        let region = region(&words);
        let held = hold(&region, "find 1");
        held.words[word::KEY].set(0);
        pool::release_last(&held.words[word::STATE]);
        let another = hold(&region, "found 1");
        let third = hold(&region, "lost 1");
        end(&region, held);
        end(&region, another);
        end(&region, third);
        let counts = |index| read(&region, index).map(|digest| (digest.summary.count, digest.statistics.rows_sent));
        assert_eq!([0, 1, 2].map(counts), [Some((1, 1)); 3], "the first is for those that find none");
    }

    /// In a child: what others were about to name is free again, unless it may be the child's own.
    #[test]
    fn what_was_about_to_be_named_is_free_in_a_child() {
        let words = words();
        let region = region(&words);
        end(&region, hold(&region, "one"));
        let unnamed = hold(&region, "two");
        pool::release_last(&unnamed.words[word::STATE]);
        let _claimed = pool::claim(&unnamed.words[word::STATE]);
        forget(&region, false);
        assert_eq!(unnamed.words[word::KEY].get() & !HOLDERS, unnamed.key);
        forget(&region, true);
        assert_eq!(unnamed.words[word::KEY].get(), FREED);
        end(&region, hold(&region, "three"));
        end(&region, hold(&region, "four"));
        let named = |index| read(&region, index).and_then(|digest| digest.name).is_some();
        assert_eq!([0, 1, 2].map(named), [false, true, true]);
    }
}
