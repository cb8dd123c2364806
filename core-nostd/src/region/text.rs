//! Text in a region: inline bytes, eight to a word, truncated to what fits.

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
        self.bytes[..self.len].utf8_chunks().next().map_or("", |chunk| chunk.valid())
    }

    /// Appends what fits, whole characters only.
    pub fn push_str(&mut self, text: &str) {
        let room = text.floor_char_boundary((N - self.len).min(text.len()));
        self.bytes[self.len..self.len + room].copy_from_slice(&text.as_bytes()[..room]);
        self.len += room;
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

/// Writes what fits of `text`, whole characters only, and says how many bytes that was.
pub(crate) fn write_text(words: &[Word], text: &str) -> usize {
    let len = text.floor_char_boundary(text.len().min(words.len() * 8));
    for (i, word) in words.iter().enumerate() {
        let mut bytes = [0; 8];
        let part = &text.as_bytes()[len.min(i * 8)..len.min(i * 8 + 8)];
        bytes[..part.len()].copy_from_slice(part);
        word.set(u64::from_le_bytes(bytes));
    }
    len
}

/// Reads a text of `len` bytes, or of as many as there can be.
pub(crate) fn read_text<const N: usize>(words: &[Word], len: u64) -> Text<N> {
    let len = usize::try_from(len).unwrap_or(N).min(N).min(words.len() * 8);
    let mut text = Text { bytes: [0; N], len };
    for (chunk, word) in text.bytes[..len].chunks_mut(8).zip(words) {
        let bytes = word.get().to_le_bytes();
        chunk.copy_from_slice(&bytes[..chunk.len()]);
    }
    text
}

/// Whether the stored text is `text`.
pub(crate) fn text_is(words: &[Word], len: u64, text: &str) -> bool {
    len == text.len() as u64
        && text.as_bytes().chunks(8).zip(words).all(|(chunk, word)| word.get().to_le_bytes()[..chunk.len()] == *chunk)
        && text.len() <= words.len() * 8
}
