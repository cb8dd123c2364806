//! Source locations: the text of column SOURCE, kept once for each `&'static Location`.
//!
//! A hash table keyed by the location's address. The common case is one load and one compare; the first use of a line
//! writes its text.

use crate::lost::Lost;
use crate::region::{Region, SOURCE, Section, Text, read_text, write_text};
use crate::sync::{Ordering, Word};
use core::panic::Location;

pub(crate) mod word {
    pub(crate) const KEY: usize = 0;
    pub(crate) const LEN: usize = 1;
    pub(crate) const TEXT: core::ops::Range<usize> = 2..10;
}

/// Places looked at before a location is given up: the table may be full, and the search is bounded.
const PROBES: usize = 16;

/// A source location as a record holds it: 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Source(pub(crate) u16);

/// Finds the location, or puts it into the table.
#[inline(always)]
pub(crate) fn intern(region: &Region<'_>, table: &[[Word; SOURCE]], location: &'static Location<'static>) -> Source {
    let key = core::ptr::from_ref(location) as usize as u64;
    let at = first_place(key, table.len());
    match table.get(at) {
        Some(entry) if entry[word::KEY].get() == key => Source(at as u16 + 1),
        _ => intern_slow(region, table, location, key),
    }
}

#[inline(always)]
fn first_place(key: u64, len: usize) -> usize {
    // A Location is 8-aligned; its address is as good as a hash of it. `len` is a power of two.
    (key >> 3) as usize & len.wrapping_sub(1)
}

#[cold]
#[inline(never)]
fn intern_slow(region: &Region<'_>, table: &[[Word; SOURCE]], location: &'static Location<'static>, key: u64) -> Source {
    for probe in 0..PROBES.min(table.len()) {
        let at = (first_place(key, table.len()) + probe) & (table.len() - 1);
        let entry = &table[at];
        match entry[word::KEY].compare_exchange(0, key, Ordering::Relaxed) {
            Ok(_) => {
                let mut text = Text::<64>::EMPTY;
                let file = location.file().rsplit(['/', '\\']).next().unwrap_or("");
                // A number of 10 digits and a colon fit after 53 bytes of file name.
                let _ = core::fmt::Write::write_fmt(&mut text, format_args!("{file:.53}:{}", location.line()));
                let len = write_text(&entry[word::TEXT], text.as_str());
                // [S1] Release: pairs with the Acquire in source_text(). Until then the column is NULL.
                entry[word::LEN].store(len as u64, Ordering::Release);
                return Source(at as u16 + 1);
            }
            Err(found) if found == key => return Source(at as u16 + 1),
            Err(_) => {}
        }
    }
    region.count_lost(Lost::SourceLocations);
    Source(0)
}

/// `file.rs:line`, or nothing if the location found no place.
pub(crate) fn source_text(region: &Region<'_>, source: Source) -> Option<Text<64>> {
    let entry = region.arrays::<SOURCE>(Section::Sources).get(usize::from(source.0).checked_sub(1)?)?;
    // [S2] Acquire: pairs with [S1].
    match entry[word::LEN].load(Ordering::Acquire) {
        0 => None,
        len => Some(read_text(&entry[word::TEXT], len)),
    }
}
