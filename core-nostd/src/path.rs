//! Paths of files: what is kept of one in a file's place, and how one is compared with it.

use crate::file::word;
use crate::region::{FILE, Text, little_endian};
use crate::sync::Word;

/// Bytes of a path that are kept.
pub(crate) const PATH_BYTES: usize = 512;

/// A path to be looked for.
pub(crate) struct Name<'p> {
    /// What is kept of it, as [`words_of`] has it.
    whole: &'p [[u8; 8]],
    last: Option<u64>,
    len: u64,
    pub(crate) hash: u64,
}

impl Name<'_> {
    pub(crate) fn of(path: &[u8]) -> Name<'_> {
        // Eight bytes at a time: a path is hashed whenever a file is opened.
        const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
        let mix = |hash: u64, word: u64| {
            let product = (hash ^ word).wrapping_mul(MULTIPLIER);
            product ^ product >> 29
        };
        let (whole, last) = words_of(path);
        let hash = whole.iter().map(|bytes| u64::from_le_bytes(*bytes)).chain(last).fold(path.len() as u64, mix);
        let (whole, last) = match whole.get(..PATH_BYTES / 8) {
            Some(kept) => (kept, None),
            None => (whole, last),
        };
        Name { whole, last, len: path.len() as u64, hash: mix(hash, 0) }
    }

    pub(crate) fn write(&self, words: &[Word; FILE]) {
        words[word::HASH].set(self.hash);
        words[word::LEN].set(self.len);
        let values = self.whole.iter().map(|bytes| u64::from_le_bytes(*bytes)).chain(self.last);
        words[word::PATH].iter().zip(values).for_each(|(word, value)| word.set(value));
    }

    pub(crate) fn is_of(&self, words: &[Word; FILE]) -> bool {
        let path = &words[word::PATH];
        words[word::HASH].get() == self.hash
            && words[word::LEN].get() == self.len
            && path.iter().zip(self.whole).all(|(word, bytes)| word.get() == u64::from_le_bytes(*bytes))
            && self.last.is_none_or(|last| path.get(self.whole.len()).is_some_and(|word| word.get() == last))
    }
}

/// Whether the byte ends a folder's name, where the writer runs.
const fn is_slash(byte: u8) -> bool {
    byte == b'/' || (cfg!(windows) && byte == b'\\')
}

/// The path of a folder as those of its files begin.
pub(crate) fn without_slashes(mut path: &[u8]) -> &[u8] {
    while let [shorter @ .., last] = path
        && is_slash(*last)
    {
        path = shorter;
    }
    path
}

/// Eight bytes to a word, the first in the lowest; as `region::text` has them. The words that are whole, and the last if it is not.
// In two parts, because a path is looked at whenever a file is opened: a loop over the first is a few instructions a word.
fn words_of(bytes: &[u8]) -> (&[[u8; 8]], Option<u64>) {
    let (whole, rest) = bytes.as_chunks();
    // Not `last_chunk`, which keeps a panic where it is built for size.
    let last = bytes.len().checked_sub(8).and_then(|start| bytes.get(start..)?.first_chunk());
    let last = match last {
        Some(last) => u64::from_le_bytes(*last).wrapping_shr(64 - 8 * rest.len() as u32),
        None => little_endian(rest),
    };
    (whole, (!rest.is_empty()).then_some(last))
}

/// Whether what is kept of the path in a place is below the folder, of whose path there are no slashes at the end. Only looked at, not copied:
/// nearly no file is.
pub(crate) fn is_below(words: &[Word; FILE], folder: &[u8]) -> bool {
    let (whole, rest) = folder.as_chunks::<8>();
    let mut path = words[word::PATH].iter();
    let begins = whole.iter().all(|bytes| path.next().is_some_and(|word| word.get() == u64::from_le_bytes(*bytes)));
    // Seven bytes at most, and the slash.
    let ends = |word: &Word| {
        let bytes = word.get().to_le_bytes();
        bytes.starts_with(rest) && bytes.get(rest.len()).is_some_and(|byte| is_slash(*byte))
    };
    begins && words[word::LEN].get() > folder.len() as u64 && path.next().is_some_and(ends)
}

/// What is kept of the path in a place, and whether that is all of it.
pub(crate) struct Kept {
    bytes: [u8; PATH_BYTES],
    len: usize,
    pub(crate) whole: bool,
}

impl Kept {
    pub(crate) fn of(words: &[Word; FILE]) -> Kept {
        let len = words[word::LEN].get();
        let mut bytes = [0; PATH_BYTES];
        for (chunk, word) in bytes.as_chunks_mut().0.iter_mut().zip(&words[word::PATH]) {
            *chunk = word.get().to_le_bytes();
        }
        let kept = usize::try_from(len).unwrap_or(PATH_BYTES).min(PATH_BYTES);
        Kept { bytes, len: kept, whole: len <= PATH_BYTES as u64 }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// What comes behind the folder, from the slash on, if it is below it.
    pub(crate) fn below(&self, folder: &[u8]) -> Option<&[u8]> {
        // Not by strip_prefix(): built for size, that can panic as far as a compiler sees.
        match (self.bytes().get(..folder.len())?, self.bytes().get(folder.len()..)?) {
            (beginning, below @ [slash, ..]) if beginning == folder && is_slash(*slash) => Some(below),
            _ => None,
        }
    }
}

/// The path in a place as text. What is no UTF-8 shows as U+FFFD; a character that was cut does not show.
pub(crate) fn path_text(words: &[Word; FILE]) -> Text<PATH_BYTES> {
    let kept = Kept::of(words);
    let mut text = Text::EMPTY;
    let mut chunks = kept.bytes().utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        let cut = !kept.whole && chunks.peek().is_none();
        let invalid = if chunk.invalid().is_empty() || cut { "" } else { "\u{fffd}" };
        // What comes behind something that does not fit is left out, too, however short.
        if !(text.push_all(chunk.valid()) && text.push_all(invalid)) {
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;
    use std::vec::Vec;

    #[track_caller]
    fn check(path: &[u8], shown: &str) {
        let words = [const { Word::new(0) }; FILE];
        Name::of(path).write(&words);
        assert_eq!(path_text(&words).as_str(), shown);
    }

    /// As where the whole path is compared.
    #[test]
    fn a_file_below_a_folder_is_told_by_its_words() {
        for folder in 0..=24 {
            let folder = &b"/a/folder/of/24/letters/"[..folder];
            for file in ["", "/", "/x", "x", "x/", "/and/more/than/a/word"] {
                let path = [folder, file.as_bytes()].concat();
                let words = [const { Word::new(0) }; FILE];
                Name::of(&path).write(&words);
                assert_eq!(is_below(&words, folder), Kept::of(&words).below(folder).is_some(), "{path:?}");
                if let [shorter @ .., last] = folder {
                    let another = [shorter, &[last ^ 1]].concat();
                    assert!(!is_below(&words, &another));
                }
            }
        }
        let words = [const { Word::new(0) }; FILE];
        Name::of(&[b'/'; PATH_BYTES + 1]).write(&words);
        assert!(!is_below(&words, &[b'/'; PATH_BYTES]) && is_below(&words, &[b'/'; PATH_BYTES - 1]));
    }

    #[test]
    fn a_path_shows_without_the_character_that_was_cut() {
        let with = |bytes: usize, end: &str| "x".repeat(bytes) + end;
        check(with(510, "é").as_bytes(), &with(510, "é"));
        check(with(511, "é").as_bytes(), &with(511, ""));
        check(with(509, "😀").as_bytes(), &with(509, ""));
        check(with(510, "éé").as_bytes(), &with(510, "é"));
        let end = |bytes: usize, end: &[u8]| [with(bytes, "").as_bytes(), end].concat();
        check(&end(500, b"\xff\xc3\xa9 and more than fits"), &with(500, "\u{fffd}é and mo"));
        check(&end(508, b"\xffend"), &with(508, "\u{fffd}e"));
        check(&end(505, b"abcdef\xffcut"), &with(505, "abcdef"));
        check(&end(2, b"\xc3"), "xx\u{fffd}");
    }

    /// U+FFFD is longer than the byte that it stands for.
    #[test]
    fn nothing_shows_behind_what_does_not_fit() {
        let path: Vec<u8> = b"\xffab".iter().copied().cycle().take(309).collect();
        let shown: String = "\u{fffd}ab".chars().cycle().take(306).collect();
        assert_eq!(shown.len(), 510);
        check(&path, &shown);
    }

    #[test]
    fn the_words_of_a_path_are_its_bytes_whatever_its_length() {
        let path: Vec<u8> = (1..=40).collect();
        for length in 0..=path.len() {
            let path = &path[..length];
            let (whole, last) = words_of(path);
            let mut bytes = whole.as_flattened().to_vec();
            bytes.extend(last.map(u64::to_le_bytes).into_iter().flatten());
            assert_eq!(bytes.len(), length.next_multiple_of(8));
            assert!(bytes.starts_with(path) && bytes[length..].iter().all(|byte| *byte == 0), "{length}: {bytes:?}");
        }
    }
}
