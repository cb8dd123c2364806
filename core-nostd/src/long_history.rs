//! The long history: one ring for all threads, which never write one line at the same time.
//!
//! A thread reserves a chunk of consecutive records and fills it alone; only the reservation touches a counter that others touch.
//! The chunk's word says who fills it. A thread that is slow to fill its chunk keeps it, and the others go round it; when every chunk
//! tried is being filled, the row is lost and counted.

use crate::lost::Lost;
use crate::record::{self, Ended, RecordWords};
use crate::region::{RECORD, Region, Section, header};
use crate::sync::{Ordering, Word};
use core::cell::Cell;
use core::num::NonZero;

/// Chunks tried before a row is given up.
const PROBES: usize = if cfg!(perfschema_loom) { 2 } else { 8 };

const UNOWNED: u64 = 0;
const OWNED: u64 = 1;

/// One thread's place in the long history.
#[derive(Debug)]
pub(crate) struct Writer<'r> {
    chunks: &'r [Word],
    records: &'r [RecordWords],
    /// Records of a chunk.
    chunk_len: usize,
    /// Index of the next record, and where the chunk ends; the same while there is none.
    next: Cell<usize>,
    end: Cell<usize>,
    chunk: Cell<usize>,
    /// Number of the reservation, never used before.
    number: Cell<u64>,
}

impl<'r> Writer<'r> {
    pub(crate) fn new(region: &Region<'r>) -> Writer<'r> {
        let chunks = region.section(Section::LongChunks);
        let records = region.arrays::<RECORD>(Section::LongRecords);
        Writer {
            chunks,
            records,
            chunk_len: records.len().checked_div(chunks.len()).unwrap_or(0),
            next: Cell::new(0),
            end: Cell::new(0),
            chunk: Cell::new(0),
            number: Cell::new(0),
        }
    }

    /// Keeps an ended event.
    #[inline(always)]
    pub(crate) fn write(&self, region: &Region<'_>, ended: &Ended<'_>) {
        if self.next.get() == self.end.get() && !self.reserve(region) {
            region.count_lost(Lost::HistoryLongRows);
            return;
        }
        let at = self.next.get();
        if let Some(record) = self.records.get(at) {
            record::write_ended(record, self.number.get(), ended);
        }
        self.next.set(at + 1);
        if at + 1 == self.end.get() {
            self.give_back();
        }
    }

    /// Gives back an unfinished chunk: the thread ends.
    pub(crate) fn finish(&self) {
        if self.next.get() != self.end.get() {
            self.next.set(self.end.get());
            self.give_back();
        }
    }

    /// The chunk that is reserved and not full.
    #[cfg(perfschema_loom)]
    pub(crate) fn open_chunk(&self) -> Option<usize> {
        (self.next.get() != self.end.get()).then(|| self.chunk.get())
    }

    fn give_back(&self) {
        if let Some(chunk) = self.chunks.get(self.chunk.get()) {
            // [H2] Release: pairs with [H1]; the next owner's odd versions come after our even ones.
            chunk.store(UNOWNED, Ordering::Release);
        }
    }

    #[cold]
    fn reserve(&self, region: &Region<'_>) -> bool {
        let Some(count) = NonZero::new(self.chunks.len() as u64) else { return false };
        for _ in 0..PROBES {
            // Relaxed: the number need only be different from all others.
            let number = region.header(header::NEXT_LONG_CHUNK).fetch_add(1, Ordering::Relaxed);
            let index = (number % count) as usize;
            let Some(chunk) = self.chunks.get(index) else { break };
            // [H1] Acquire: pairs with [H2] of the owner before.
            if chunk.compare_exchange(UNOWNED, OWNED, Ordering::Acquire).is_ok() {
                self.chunk.set(index);
                self.next.set(index * self.chunk_len);
                self.end.set((index + 1) * self.chunk_len);
                self.number.set(number);
                return self.chunk_len != 0;
            }
        }
        false
    }
}
