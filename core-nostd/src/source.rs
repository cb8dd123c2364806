//! Source locations: the text of column SOURCE, kept once for each `&'static Location`.
//!
//! A hash table keyed by the location's address. The first use of a line writes its text; an actor remembers those that it met last, so
//! that the common case is one load and one compare.

use crate::Operation;
use crate::lost::Lost;
use crate::region::{Region, SOURCE, Section, Text, read_text, write_text};
use crate::setup::Switches;
use crate::sync::Ordering;
use core::cell::Cell;
use core::panic::Location;

pub(crate) mod word {
    pub(crate) const KEY: usize = 0;
    pub(crate) const LEN: usize = 1;
    pub(crate) const TEXT: core::ops::Range<usize> = 2..10;
}

/// Places looked at before a location is given up: one of so many is free, unless the table is almost full. Where it is not, a few are looked at.
const PROBES: usize = 128;

/// A source location as a record holds it: 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Source(pub(crate) u16);

/// What is done, and where: as a record has both, the [`Operation`]'s code in the lowest 8 bits, and the source location in 16 behind the class.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Site(pub(crate) u64);

impl Site {
    pub(crate) const SOURCE_SHIFT: u32 = Switches::CLASS_SHIFT + Switches::CLASS_BITS;

    /// Of an event that is none of those with an operation, the code is 0.
    #[cfg_attr(not(debug_assertions), inline(always))]
    const fn new(source: Source, operation: u8) -> Site {
        Site((source.0 as u64) << Self::SOURCE_SHIFT | operation as u64)
    }

    fn operation(self) -> u8 {
        self.0 as u8
    }

    fn with_operation(self, operation: u8) -> Site {
        Site(self.0 & !u64::from(u8::MAX) | u64::from(operation))
    }

    /// Where nothing says where.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn nowhere(operation: u8) -> Site {
        Site::new(Source(0), operation)
    }
}

/// The sites that an actor met last. The address of the location chooses its place.
#[derive(Debug, Default)]
pub(crate) struct Recent([(Cell<usize>, Cell<Site>); 8]);

impl Recent {
    /// Finds the site, or puts its location into the table.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn intern(&self, region: &Region<'_>, location: &'static Location<'static>, operation: u8) -> Site {
        let (key, site) = self.place(location);
        // One comparison for both.
        if key.get() != key_of(location, operation) {
            self.intern_other(region, location, operation);
        }
        site.get()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn place(&self, location: &'static Location<'static>) -> &(Cell<usize>, Cell<Site>) {
        // Locations are aligned: their lowest bits are alike.
        &self.0[(address_of(location) >> 3) % 8]
    }

    #[cold]
    #[inline(never)]
    fn intern_other(&self, region: &Region<'_>, location: &'static Location<'static>, operation: u8) {
        let (key, site) = self.place(location);
        let last = site.get();
        let same_place = key.get() == key_of(location, last.operation());
        site.set(if same_place { last.with_operation(operation) } else { Site::new(intern(region, location), operation) });
        // Also one that found no place: none ever becomes free.
        key.set(key_of(location, operation));
    }
}

// Locations that have the same place are farther apart than the codes of operations, so no two sites there have the same key.
const _: () = {
    let mut code = 57;
    while code <= u8::MAX as u16 {
        assert!(Operation::from_code(code as u8).is_none());
        code += 1;
    }
};

#[cfg_attr(not(debug_assertions), inline(always))]
fn address_of(location: &'static Location<'static>) -> usize {
    core::ptr::from_ref(location) as usize
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn key_of(location: &'static Location<'static>, operation: u8) -> usize {
    address_of(location).wrapping_add(operation.into())
}

/// Finds the location, or puts it into the table.
pub(crate) fn intern(region: &Region<'_>, location: &'static Location<'static>) -> Source {
    let table = region.arrays::<SOURCE>(Section::Sources);
    let key = core::ptr::from_ref(location) as usize as u64;
    // Locations are aligned; above their lowest bits an address is as good as a hash of it. The table's length is a power of two.
    let first = (key >> 3) as usize;
    for probe in 0..PROBES.min(table.len()) {
        let at = first.wrapping_add(probe) & (table.len() - 1);
        let Some(entry) = table.get(at) else { break };
        let found = match entry[word::KEY].get() {
            0 => entry[word::KEY].compare_exchange(0, key, Ordering::Relaxed).map_or_else(|found| found, |_| key),
            found => found,
        };
        if found != key {
            continue;
        }
        // Also where another thread took the place, which may be stopped, or dead, before it has written what both write alike.
        if entry[word::LEN].get() == 0 {
            let len = write_text(&entry[word::TEXT], text(location).as_str());
            // [S1] Release: pairs with the Acquire in source_text(). Until then the column is NULL.
            entry[word::LEN].store(len as u64, Ordering::Release);
        }
        return Source(at as u16 + 1);
    }
    // Of what was not asked for, nothing is lost.
    if !table.is_empty() {
        region.count_lost(Lost::SourceLocations);
    }
    Source(0)
}

/// `file.rs:line`. Not by `core::fmt`, which is large, and can panic.
fn text(location: &Location<'_>) -> Text<64> {
    let mut digits = [0; 10];
    let mut rest = location.line();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let first = digits.iter().position(|digit| *digit != b'0').unwrap_or(digits.len() - 1);
    let line = core::str::from_utf8(digits.get(first..).unwrap_or_default()).unwrap_or_default();
    // A colon and a number of 10 digits fit after 53 bytes of file name.
    let path = location.file();
    let name = path.bytes().rposition(|byte| matches!(byte, b'/' | b'\\')).map_or(0, |at| at + 1);
    let file = Text::<53>::from(path.get(name..).unwrap_or_default());
    let mut text = Text::EMPTY;
    for part in [file.as_str(), ":", line] {
        text.push_str(part);
    }
    text
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
