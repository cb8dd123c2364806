//! Sums of statements that are alike: a hash table of [digests](crate::digest) that all threads share.
//!
//! ```text
//! who begins a statement                                      reader
//!   key of the place: 0 → ours    [C1] Relaxed                  state    [C3] Acquire   0: being made
//!     schema, digest, text                                      schema, digest, text, sums
//!     state    [C2] Release
//! who ends it
//!   sums: read-modify-write, each number whole
//! ```
//! A key stays where it is: whoever finds it adds to the sums, also while another still writes what they are called. Nobody waits for
//! anybody. When none of a few places is free, the statement counts in the first place, which has no digest, as in MySQL.
//!
//! TRUNCATE sets the sums to zero; a digest shows again when a statement has it again.

use crate::Lost;
use crate::digest::{Digest, spread};
use crate::region::{DIGEST, Region, Section, Text, read_text, what_fits, write_text};
use crate::stat::{Shared, Summary};
use crate::statement::{self, StatementStatistics};
use crate::sync::{Ordering, Word};

/// Words of a place.
pub(crate) mod word {
    pub(crate) const KEY: usize = 0;
    /// The length of the text, that of the schema above it, and a bit that says that both are there.
    pub(crate) const STATE: usize = 1;
    pub(crate) const DIGEST: core::ops::Range<usize> = 2..4;
    /// Ticks of NANOSECOND, and one more, so that none is not 0.
    pub(crate) const FIRST_SEEN: usize = 4;
    pub(crate) const LAST_SEEN: usize = 5;
    pub(crate) const SUMS: core::ops::Range<usize> = 6..11;
    pub(crate) const STATISTICS: core::ops::Range<usize> = 11..30;
    pub(crate) const SCHEMA: core::ops::Range<usize> = 32..40;
}

// In the half that decides where a word is two.
const READY: u64 = 1 << 31;

/// Places that are looked at for a digest.
const PROBES: usize = if cfg!(perfschema_loom) { 2 } else { 32 };

pub(crate) type DigestWords = [Word; DIGEST];

/// Where statements like this one are counted: what of the text is kept, decides. None if it has no text, or there is no place at all.
pub(crate) fn place_of<'r>(region: &Region<'r>, schema: &str, text: &str) -> Option<&'r DigestWords> {
    let places = region.arrays::<DIGEST>(Section::StatementDigests);
    let (schema, text) = (what_fits(schema, word::SCHEMA.len() * 8), what_fits(text, texts(region, 0).len() * 8));
    if text.is_empty() {
        return None;
    }
    find(region, places, schema, Digest::of(text), text).or_else(|| {
        region.count_lost(Lost::StatementDigests);
        places.first()
    })
}

/// A statement has ended, when NANOSECOND read `ticks`.
pub(crate) fn count(words: &DigestWords, ticks: u64, wait_ps: Option<u64>, statistics: &StatementStatistics) {
    if let Some(sums) = words.get(word::SUMS).and_then(|sums| sums.first_chunk()) {
        Shared(sums).record(wait_ps);
    }
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

/// The place of a digest, taken now if it has none; None if none is free.
fn find<'r>(region: &Region<'r>, places: &'r [DigestWords], schema: &str, digest: Digest, text: &str) -> Option<&'r DigestWords> {
    // The first is for those that find none.
    let count = places.len().checked_sub(1)?;
    let schema_hash = schema.bytes().fold(0, |hash, byte| spread(hash ^ u64::from(byte)));
    // Never zero: that is a free place.
    let key = spread(digest.0[0] ^ digest.0[1].rotate_left(32) ^ schema_hash) | 1;
    let start = (key >> 1).checked_rem(count as u64)? as usize;
    for probe in 0..PROBES.min(count) {
        let index = 1 + (start + probe) % count;
        let words = places.get(index)?;
        let found = match words[word::KEY].whole() {
            // [C1] Relaxed: nothing was written before; what the place is called is published by [C2].
            0 => match words[word::KEY].compare_exchange(0, key, Ordering::Relaxed) {
                Ok(_) => {
                    name(region, words, index, (schema, digest, text));
                    key
                }
                Err(found) => found,
            },
            found => found,
        };
        if found == key {
            return Some(words);
        }
    }
    None
}

/// Whoever took the place: what it is called.
fn name(region: &Region<'_>, words: &DigestWords, index: usize, (schema, digest, text): (&str, Digest, &str)) {
    words[word::DIGEST].iter().zip(digest.0).for_each(|(word, bits)| word.set(bits));
    let schema = write_text(&words[word::SCHEMA], schema);
    let text = write_text(texts(region, index), text);
    // [C2] Release: pairs with [C3]; who sees the state sees what the place is called.
    words[word::STATE].store(READY | (schema as u64) << 32 | text as u64, Ordering::Release);
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

/// Reader: what is in a place; None if nothing was counted there, or it has no name yet.
pub(crate) fn read(region: &Region<'_>, index: usize) -> Option<StatementDigest> {
    let words = region.arrays::<DIGEST>(Section::StatementDigests).get(index)?;
    let summary = Shared(words.get(word::SUMS)?.first_chunk()?).read();
    if summary.count == 0 {
        return None;
    }
    // [C3] Acquire: pairs with [C2].
    let state = words[word::STATE].load(Ordering::Acquire);
    let name = match (index, state & READY) {
        (0, _) => None,
        (_, 0) => return None,
        _ => Some((
            read_text(&words[word::SCHEMA], state >> 32),
            Digest([words[word::DIGEST.start].get(), words[word::DIGEST.start + 1].get()]),
            read_text(texts(region, index), state & (READY - 1)),
        )),
    };
    Some(StatementDigest {
        name,
        summary,
        statistics: statement::statistics(&words[word::STATISTICS], Word::whole),
        first_seen_us: unix_us(region, words[word::FIRST_SEEN].whole().saturating_sub(1)),
        last_seen_us: unix_us(region, words[word::LAST_SEEN].whole().saturating_sub(1)),
    })
}

/// TRUNCATE. A statement counted at this very moment may leave some of its numbers behind.
pub(crate) fn reset(region: &Region<'_>) {
    for words in region.arrays::<DIGEST>(Section::StatementDigests) {
        for word in words[word::FIRST_SEEN..word::STATISTICS.end].iter().filter(|word| word.whole() != 0) {
            word.swap(0, Ordering::Relaxed);
        }
    }
}

/// In a forked child, where nobody else records: what others were about to name is free again, the sums are its own.
pub(crate) fn forget(region: &Region<'_>) {
    reset(region);
    for words in region.arrays::<DIGEST>(Section::StatementDigests) {
        if words[word::STATE].get() == 0 && words[word::KEY].get() != 0 {
            words[word::KEY].set(0);
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
