//! What a fork means for a region: the child's is its own, with the setup, the instruments and the locks of the parent, and with nothing
//! that the parent recorded.
//!
//! A fork copies one thread. What the others had begun in the region will never be finished in the child, so it is taken back: their
//! slots, their chunks of the long history, what they were about to register. The thread itself goes on: its actors keep their slots and
//! the events that run.

use crate::histogram::BUCKET_COUNT;
use crate::region::{CARRY, INSTANCE, IO_SUMS, MEMORY, RECORD, Region, SLOT, SOURCE, STAT, Section, header};
use crate::sync::{Ordering, Word};
use crate::{Actor, class, instance, pool, record, setup, slot, source};

/// What the child is, besides what the parent was.
#[derive(Clone, Copy, Debug)]
pub struct Child {
    /// Its process id.
    pub pid: u32,
    /// THREAD_OS_ID of its only thread.
    pub os_id: u64,
    /// When it was forked, in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// The same moment on the monotonic clock, in nanoseconds.
    pub start_monotonic_ns: u64,
}

/// Sections of which a child keeps nothing, or only what its own thread wrote there.
const RECORDED: [Section; 16] = [
    Section::LostCounters,
    Section::SharedStats,
    Section::Rings,
    Section::Queues,
    Section::Stats,
    Section::Carries,
    Section::FileStats,
    Section::SharedFileStats,
    Section::SocketStats,
    Section::SharedSocketStats,
    Section::LongChunks,
    Section::LongRecords,
    Section::Histograms,
    Section::HistogramBases,
    Section::MemoryStats,
    Section::SharedMemoryStats,
];

impl Region<'_> {
    /// In the child, while the memory is still the parent's: copies what a child keeps into memory of its own, which is zero; all but the
    /// mark that the region is whole.
    pub fn copy_for_child(&self, child: &[Word]) {
        for section in Section::ALL.iter().filter(|section| !RECORDED.contains(section)) {
            let parent = self.section(*section);
            let from = self.place(*section).offset;
            let child = child.get(from..).unwrap_or_default();
            for (index, (word, copy)) in parent.iter().zip(child).enumerate() {
                let value = word.get();
                // Zeros are left alone: a page that was never written takes no memory.
                if value != 0 && from + index != header::READY {
                    copy.set(value);
                }
            }
        }
    }

    /// In the child, on memory that the parent does not share: makes the region the child's. `own` are the actors of the thread that
    /// forked; `idle` says that none of them is in the middle of a record, as only a fork by a signal handler finds them.
    pub fn forked(&self, child: &Child, own: &[Option<&Actor<'_>>], idle: bool) {
        self.header(header::PID).set(child.pid.into());
        self.header(header::START_UNIX_NS).set(child.start_unix_ns);
        self.header(header::START_MONOTONIC_NS).set(child.start_monotonic_ns);
        zero(self.section(Section::LostCounters));
        zero(self.section(Section::SharedStats));
        zero(self.section(Section::SharedFileStats));
        zero(self.section(Section::SharedSocketStats));
        zero(self.section(Section::SharedMemoryStats));
        // Only what was ever used: most of a region never is, and a fork should not take longer for it.
        let histograms = self.header(header::NEXT_HISTOGRAM).swap(0, Ordering::Relaxed);
        if histograms != 0 {
            zero(first(self.arrays::<BUCKET_COUNT>(Section::Histograms), histograms).as_flattened());
            zero(self.section(Section::HistogramBases));
        }
        let chunks = self.section(Section::LongChunks).len();
        let records = self.arrays::<RECORD>(Section::LongRecords);
        let filled = self.header(header::NEXT_LONG_CHUNK).get().min(chunks as u64);
        zero(first(records, filled * records.len().checked_div(chunks).unwrap_or(0) as u64).as_flattened());
        let slots = self.arrays::<SLOT>(Section::Slots);
        for (index, words) in slots.iter().enumerate().filter(|(_, words)| slot::was_used(words)) {
            zero(self.arrays_of::<STAT>(Section::Stats, index, slots.len()).as_flattened());
            zero(self.arrays_of::<CARRY>(Section::Carries, index, slots.len()).as_flattened());
            zero(self.arrays_of::<IO_SUMS>(Section::FileStats, index, slots.len()).as_flattened());
            zero(self.arrays_of::<IO_SUMS>(Section::SocketStats, index, slots.len()).as_flattened());
            zero(self.arrays_of::<MEMORY>(Section::MemoryStats, index, slots.len()).as_flattened());
            let ring = self.arrays_of::<RECORD>(Section::Rings, index, slots.len());
            if own.iter().flatten().any(|actor| actor.owns(words)) {
                words[slot::word::OS_ID].set(child.os_id);
                ring.iter().filter(|record| record::has_ended(record)).for_each(|record| zero(record));
            } else {
                zero(words);
                zero(ring.as_flattened());
            }
        }
        for pool in &class::POOLS {
            for words in self.arrays::<INSTANCE>(pool.instances) {
                if pool::was_used(&words[instance::word::STATE]) {
                    zero(&words[instance::word::VERSION..instance::word::EPOCH]);
                    zero(&words[instance::word::EPOCH + 1..instance::word::READERS]);
                    zero(&words[instance::word::SHARED]);
                }
            }
        }
        self.forget_file_io(idle);
        self.forget_socket_io();
        if idle {
            own.iter().flatten().for_each(|actor| actor.finish_chunk());
            zero(self.section(Section::LongChunks));
            self.forget_unfinished_classes();
            for entry in self.arrays::<SOURCE>(Section::Sources) {
                if entry[source::word::LEN].get() == 0 {
                    entry[source::word::KEY].set(0);
                }
            }
        }
        // Another thread may have been changing a setting.
        setup::fold(self);
        // [R1] as in create().
        self.header(header::READY).store(crate::region::READY, Ordering::Release);
    }
}

fn first<T>(entries: &[T], count: u64) -> &[T] {
    entries.get(..count as usize).unwrap_or(entries)
}

/// Writes only what is not zero, so that pages shared with the parent stay shared.
fn zero(words: &[Word]) {
    words.iter().filter(|word| word.get() != 0).for_each(|word| word.set(0));
}

impl Actor<'_> {
    /// Takes a copy of all that must agree with the actor's own state, before the fork: in memory that both processes share, the parent
    /// goes on at once, and the child would find its records further on than it is itself. Returns how many words that is, or needs.
    pub fn save(&self, into: &[Word]) -> usize {
        self.own_words().zip(into).for_each(|(word, saved)| saved.set(word.get()));
        self.own_words().count()
    }

    /// Puts back what [`save`](Self::save) took, into the child's memory.
    pub fn restore(&self, from: &[Word]) {
        self.own_words().zip(from).for_each(|(word, saved)| word.set(saved.get()));
    }
}
