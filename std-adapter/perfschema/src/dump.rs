//! A region in a dump of memory: in a core file, in what a debugger has read of a board.
//!
//! The file is read in pieces, its holes not at all, and the region that is found is copied. In a mapping of it every hole that is looked at
//! would take memory where the file is in memory itself (tmpfs), and end the reader (SIGBUS) where there is none left.

use crate::share::{AttachError, anonymous, extent, read_words, unmap};
use perfschema_core::{Region, RegionError, Word, copy_from_bytes, zero};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

const WORD: usize = size_of::<Word>();
/// How much is read at once, in bytes.
const PIECE: usize = 1 << 20;
/// So many bytes of a region say whether it is one: they have the header, the directory and the sizes in them.
const HEAD: usize = 1 << 14;

/// What files begin with that say nothing before they are unpacked.
const COMPRESSED: [(&[u8], &str); 5] = [
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"\xfd7zXZ\0", "xz"),
    (b"BZh", "bzip2"),
];

/// A region of the reader's own.
type Found = (&'static [Word], Region<'static>);

/// The first region in a file of so many bytes; one of the other byte order is turned round.
pub(crate) fn find(file: &File, len: u64) -> Result<Found, AttachError> {
    let mut first_error = None;
    let mut piece = vec![0; PIECE];
    let mut head = Head { bytes: vec![0; HEAD], words: (0..HEAD / WORD).map(|_| Word::new(0)).collect() };
    let mut at = 0;
    while let Some(data) = extent(file, at, len) {
        // What ends within a word ends with it, and what goes on behind a piece is the next one.
        let begin = whole_words(data.start);
        let wanted = (data.end - begin).next_multiple_of(WORD as u64).min(PIECE as u64) as usize;
        let read = read(file, &mut piece[..wanted], begin)?;
        let mut next = 0;
        while let Some(skipped) = Region::may_begin_at(&piece[next..read]) {
            match copy_of_region(file, begin + (next + skipped) as u64, len, &mut head) {
                Ok(found) => return Ok(found),
                // What all begin with is not all that there is to one.
                Err(AttachError::Region(RegionError::NotReady)) => {}
                Err(AttachError::Region(error)) => first_error = first_error.or(Some(error)),
                Err(error) => return Err(error),
            }
            next += skipped + WORD;
        }
        at = begin + wanted as u64;
    }
    if let Some(error) = first_error {
        return Err(AttachError::Region(error));
    }
    let read = read(file, &mut piece, 0)?;
    let format = COMPRESSED.iter().find(|(begin, _)| piece[..read].starts_with(begin));
    Err(format.map_or(AttachError::NoRegion, |(_, format)| AttachError::Compressed(format)))
}

/// Room for what says whether something is a region, for all that may be one.
struct Head {
    bytes: Vec<u8>,
    words: Vec<Word>,
}

/// Copies the region that may begin here.
fn copy_of_region(file: &File, at: u64, len: u64, head: &mut Head) -> Result<Found, AttachError> {
    let there = usize::try_from((len - at) / WORD as u64).unwrap_or(usize::MAX);
    let count = read(file, &mut head.bytes, at)?;
    let bytes = &head.bytes[..count];
    turned_to_be_read(bytes, &head.words)?;
    // Nothing of the one before.
    zero(&head.words[count / WORD..]);
    let needed = match Region::open(&head.words) {
        Ok(region) => region.size_bytes() / WORD,
        Err(RegionError::TooSmall { needed, .. }) => needed,
        Err(error) => return Err(AttachError::Region(error)),
    };
    if needed > there {
        return Err(AttachError::Region(RegionError::TooSmall { words: there, needed }));
    }
    let words = anonymous(needed).ok_or_else(|| AttachError::File(io::Error::last_os_error()))?;
    copy(file, at, &bytes[..count.min(needed * WORD)], words).inspect_err(|_| unmap(words)).map(|region| (words, region))
}

/// Copies what begins with these bytes, if that is a region.
fn copy(file: &File, at: u64, head: &[u8], words: &'static [Word]) -> Result<Region<'static>, AttachError> {
    turned_to_be_read(head, words)?;
    Region::open(words).map_err(AttachError::Region)?;
    let (mut next, end) = (at, at + size_of_val(words) as u64);
    while let Some(data) = extent(file, next, end) {
        let begin = whole_words(data.start);
        let wanted = ((data.end - begin) as usize).div_ceil(WORD);
        let first = (begin - at) as usize / WORD;
        read_words(file, begin, &words[first..first + wanted]).map_err(AttachError::File)?;
        next = begin + (wanted * WORD) as u64;
    }
    // As it was in the file: what is of the other byte order is turned round as a whole.
    Region::find(words).map_err(AttachError::Region)
}

fn turned_to_be_read(bytes: &[u8], words: &[Word]) -> Result<(), AttachError> {
    copy_from_bytes(bytes, words).map_err(AttachError::Region)
}

/// The place of the word that has this byte in it.
fn whole_words(at: u64) -> u64 {
    at - at % WORD as u64
}

/// Reads until the piece is full or the file ends, and says how much.
fn read(file: &File, piece: &mut [u8], at: u64) -> Result<usize, AttachError> {
    let mut count = 0;
    while count < piece.len() {
        match file.read_at(&mut piece[count..], at + count as u64) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(AttachError::File(error)),
        }
    }
    Ok(count)
}
