//! Text in a region: inline bytes, eight to a word, truncated to what fits. Without indexing: threads that start write their names.

use crate::sync::Word;
use core::fmt;

/// A text of at most `N` bytes, copied out of a region: a name, a source line, a path.
///
/// ```
/// use perfschema_core::Text;
/// let name: Text<8> = "LOCK_open_table".into();
/// assert_eq!(name.as_str(), "LOCK_ope");
/// assert_eq!(name, "LOCK_ope");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Text<N> {
    /// No text.
    pub const EMPTY: Text<N> = Text { bytes: [0; N], len: 0 };

    /// The text. Bytes that are not UTF-8 end it.
    pub fn as_str(&self) -> &str {
        let bytes = self.as_bytes();
        // Nearly always all of them are: that is looked at by words, where chunks are by bytes.
        str::from_utf8(bytes).unwrap_or_else(|_| bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid()))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// Appends what fits, whole characters only.
    ///
    /// ```
    /// use perfschema_core::Text;
    /// let mut text: Text<8> = "söt".into();
    /// text.push_str("ääää");
    /// assert_eq!(text, "sötää");
    /// ```
    pub fn push_str(&mut self, text: &str) {
        self.push_all(text);
    }

    /// The same, and whether that is all of it.
    pub(crate) fn push_all(&mut self, text: &str) -> bool {
        let room = self.bytes.get_mut(self.len..).unwrap_or_default();
        let fitting = what_fits(text, room.len());
        // Not `copy_from_slice`: built for size, it keeps its panic.
        for (byte, new) in room.iter_mut().zip(fitting.bytes()) {
            *byte = new;
        }
        self.len += fitting.len();
        fitting.len() == text.len()
    }

    /// The same in small letters, as far as they are ASCII's.
    pub(crate) fn lowercase(mut self) -> Text<N> {
        self.bytes.make_ascii_lowercase();
        self
    }
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Text::EMPTY
    }
}

impl<const N: usize> From<&str> for Text<N> {
    fn from(text: &str) -> Self {
        let mut new = Text::EMPTY;
        new.push_str(text);
        new
    }
}

impl<const N: usize> AsRef<str> for Text<N> {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl<const N: usize> fmt::Write for Text<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push_str(text);
        Ok(())
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl<const N: usize> PartialEq<str> for Text<N> {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl<const N: usize> PartialEq<&str> for Text<N> {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

/// The longest part of `text` that fits into so many bytes, whole characters only.
pub(crate) fn what_fits(text: &str, bytes: usize) -> &str {
    (0..=bytes.min(text.len())).rev().find_map(|len| text.get(..len)).unwrap_or_default()
}

/// Writes what fits of `text`, whole characters only, and says how many bytes that was.
pub(crate) fn write_text(words: &[Word], text: &str) -> usize {
    let text = what_fits(text, words.len() * 8);
    let (whole, rest) = text.as_bytes().as_chunks();
    words.iter().zip(whole).for_each(|(word, bytes)| word.set(u64::from_le_bytes(*bytes)));
    let mut behind = words.iter().skip(whole.len());
    if let Some(word) = behind.next() {
        word.set(little_endian(rest));
    }
    behind.for_each(|word| word.set(0));
    text.len()
}

/// Less than eight bytes as the number that they are in a word.
pub(crate) fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Reads a text of `len` bytes, or of as many as there can be.
pub(crate) fn read_text<const N: usize>(words: &[Word], len: u64) -> Text<N> {
    let len = usize::try_from(len).unwrap_or(N).min(N).min(words.len() * 8);
    let mut text = Text { bytes: [0; N], len };
    let (whole, rest) = text.bytes.get_mut(..len).unwrap_or_default().as_chunks_mut();
    let behind = words.get(whole.len());
    whole.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word.get().to_le_bytes());
    if let Some(word) = behind {
        rest.iter_mut().zip(word.get().to_le_bytes()).for_each(|(byte, stored)| *byte = stored);
    }
    text
}

/// Whether the stored text is `text`.
pub(crate) fn text_is(words: &[Word], len: u64, text: &str) -> bool {
    len == text.len() as u64
        && text.as_bytes().chunks(8).zip(words).all(|(chunk, word)| word.get().to_le_bytes()[..chunk.len()] == *chunk)
        && text.len() <= words.len() * 8
}

#[cfg(all(test, not(perfschema_loom)))]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, kept: &str) {
        // What was there before is gone.
        let words = [const { Word::new(u64::MAX) }; 2];
        let len = write_text(&words, text);
        assert_eq!(len, kept.len());
        assert_eq!(read_text::<16>(&words, len as u64), *kept);
        assert_eq!(read_text::<16>(&words, len as u64), Text::<16>::from(text));
        assert!(text_is(&words, len as u64, kept));
    }

    #[test]
    fn what_fits_is_kept_whole() {
        check("", "");
        check("eight by", "eight by");
        check("sixteen bytes ok", "sixteen bytes ok");
        check("sixteen bytes ok, not more", "sixteen bytes ok");
        check("fifteen bytes aé", "fifteen bytes a");
        check("fourteen bytesé", "fourteen bytesé");
        check("twelve bytes😀", "twelve bytes😀");
        check("fifteen bytes a😀", "fifteen bytes a");
    }

    #[test]
    fn lengths_that_cannot_be_are_cut() {
        let words = [const { Word::new(u64::from_le_bytes(*b"abcdefgh")) }; 2];
        assert_eq!(read_text::<64>(&words, u64::MAX), "abcdefghabcdefgh");
        assert_eq!(read_text::<4>(&words, 100), "abcd");
        let mut text = Text::<4>::from("abc");
        text.push_str("😀");
        text.push_str("de");
        assert_eq!(text, "abcd");
    }
}
