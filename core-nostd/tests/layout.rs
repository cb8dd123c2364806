//! Whether the layout's version says that words mean something else than they did: a reader of another version is to refuse a region, and not
//! to show what is not there.
// Where a word is two halves, switches have a bit elsewhere; and the first word is read as a number.
#![cfg(all(target_has_atomic = "64", target_endian = "little"))]

use perfschema_core::{Consumer, Region, Word};

/// The version, and what [`fingerprint`] is of what the program of the examples writes.
const KNOWN: (u64, u64) = (24, 0xe40a_3969_3a20_2f13);

/// With all words that are not zero, and where they are: FNV-1a, a word at a time.
fn hashed(hash: u64, words: &[Word]) -> u64 {
    let words = (0..).zip(words.iter().map(value)).filter(|(_, word)| *word != 0);
    words.flat_map(|(at, word)| [at, word]).fold(hash, |hash, word| (hash ^ word).wrapping_mul(0x100_0000_01b3))
}

/// A word has no other way out.
fn value(word: &Word) -> u64 {
    let text = format!("{word:?}");
    text.trim_matches(|c: char| !c.is_ascii_digit()).parse().expect("its number")
}

/// One of each event, of all that they are about, and of the switches with each consumer off.
fn fingerprint() -> Result<(u64, u64), Box<dyn std::error::Error>> {
    #[allow(unused_must_use, reason = "what runs goes on")]
    let region: Region<'_> = include!("../src/table/example.rs");
    let mut hash = hashed(0xcbf2_9ce4_8422_2325, region.words());
    for &consumer in Consumer::ALL {
        region.set_consumer(consumer, false);
        hash = hashed(hash, region.words());
        region.set_consumer(consumer, true);
    }
    Ok((value(&region.words()[1]), hash))
}

#[test]
#[cfg_attr(miri, ignore = "words are the same there")]
fn words_mean_what_their_version_says() {
    let found = fingerprint().expect("the examples work");
    assert!(
        found == KNOWN,
        "what is written has changed: if a word means something else than before, or is elsewhere, LAYOUT_VERSION goes up; then KNOWN is {found:#x?}"
    );
}
