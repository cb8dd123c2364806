//! What a fork means for a region: the child's is its own, with the setup, the instruments and the locks of the parent, and with nothing
//! that the parent recorded.
//!
//! (A handler may fork in the middle of a record. What its thread goes on to write then may have been made of what stood there before: a
//! count or a sum of the parent's shows in the child.)
//!
//! A fork copies one thread. What the others had begun in the region will never be finished in the child, so it is taken back: their
//! slots, their chunks of the long history, what they were about to register. The thread itself goes on: its actors keep their slots and
//! the events that run.

use crate::event::{EventStore, Place, STATEMENTS, STORES};
use crate::metric::Moment;
use crate::pool::Hint;
use crate::record::RecordWords;
use crate::region::{
    CARRY, CHUNK, INSTANCE, IO_SUMS, MEMORY, RECORD, Region, SLOT, SOURCE, STAT, STATEMENT_STAT, Section, header,
};
use crate::slot::SlotWords;
use crate::stat::Versioned;
use crate::statement::{self, EntryText, Sizes};
use crate::sync::{Ordering, Word};
use crate::tables::setup_actors;
use crate::wait_histogram::SHORT;
use crate::{Actor, class, instance, pool, record, setup, slot, source, stat, statement_digest, wait_histogram};

mod copied;

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

const NS_PER_S: u64 = 1_000_000_000;

/// Sections of which a child keeps nothing, or only what its own thread wrote there.
const RECORDED: [Section; 29] = [
    Section::LostCounters,
    Section::SharedStats,
    Section::Rings,
    Section::Stats,
    Section::Carries,
    Section::FileStats,
    Section::SharedFileStats,
    Section::SocketStats,
    Section::SharedSocketStats,
    Section::LongRecords,
    Section::Histograms,
    Section::SharedHistograms,
    Section::MemoryStats,
    Section::SharedMemoryStats,
    Section::StageRings,
    Section::StageLongRecords,
    Section::StatementRings,
    Section::StatementDetails,
    Section::StatementTexts,
    Section::StatementLongRecords,
    Section::StatementLongDetails,
    Section::StatementLongTexts,
    Section::StatementStats,
    Section::SharedStatementStats,
    Section::MetricSums,
    Section::TransactionRings,
    Section::TransactionDetails,
    Section::TransactionLongRecords,
    Section::TransactionLongDetails,
];

impl Region<'_> {
    /// Before a fork, where child and parent will share the memory: copies what a child keeps from there to other memory, which is zero; all
    /// but the mark that the region is whole. So the child has it as it was before its thread forked, however the parent goes on. In the
    /// child: the same from that memory to the child's own, and [what has come since](Self::add_to_copy). `own` are the actors of the thread that
    /// forks, whose words must agree with what they themselves remember.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// let [kept, own] = [(); 2].map(|()| (0..region.words().len()).map(|_| Word::new(0)).collect::<Vec<_>>());
    /// region.copy_for_child(&[None], region.words(), &kept);
    /// // … fork, and in the child, once it has memory of its own:
    /// region.copy_for_child(&[None], &kept, &own);
    /// region.add_to_copy(&own);
    /// assert_eq!(Region::open(&own).err(), Some(RegionError::NotReady), "until the child has made it its own");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn copy_for_child(&self, own: &[Option<&Actor<'_>>], from: &[Word], to: &[Word]) {
        let copy = |first: usize, count: usize| {
            let [from, to] = [from, to].map(|words| words.get(first..first.saturating_add(count)).unwrap_or_default());
            for (word, copy) in from.iter().zip(to) {
                // [K1] Acquire: pairs with [C2], [S1], [P3]. What says that others are there stands before them. And with [H4], [E3]: a chunk of which
                // a row is another thread's already is copied with that one's state, which stands behind the rows.
                let value = word.load(Ordering::Acquire);
                // Zeros are left alone: a page that was never written takes no memory.
                if value != 0 {
                    copy.set(value);
                }
            }
        };
        for section in Section::ALL.iter().filter(|section| !RECORDED.contains(section)) {
            copy(self.place(*section).offset, self.section(*section).len());
        }
        self.drop_replaced_actors(from, to);
        to.get(header::READY).into_iter().for_each(|mark| mark.set(0));
        for word in own.iter().flatten().flat_map(|actor| actor.own_words()) {
            copy(record::index_in(self.words(), word), 1);
        }
    }

    /// In the child, on memory that the parent does not share: makes the region the child's. `own` are the actors of the thread that
    /// forked; `idle` says that none of them is in the middle of a record, nor the thread in that of registering something, as only a fork by a
    /// signal handler finds them.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// # let info = metric::MetricInfo::literal("inserts", "app", "", metric::MetricType::Counter);
    /// # let metric = region.register_metric(&info, true, metric::Moment::of_seconds(0))?;
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// actor.count_metric(metric, 3);
    /// let other = Actor::attach(&region, &ActorIdentity { name: "thread/app/other", ..Default::default() });
    /// let child = Child { pid: 8, os_id: 8, start_unix_ns: 0, start_monotonic_ns: 0 };
    /// region.forked(&child, &[Some(&actor)], true);
    /// // Its only thread goes on, and nothing was counted yet.
    /// assert_eq!((region.pid(), region.metric_count(metric)), (8, 0));
    /// region.scan(&tables::Threads, |row| assert_eq!((row.thread_id, row.thread_os_id), (actor.thread_id(), Some(8))));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn forked(&self, child: &Child, own: &[Option<&Actor<'_>>], idle: bool) {
        self.header(header::PID).set(child.pid.into());
        self.header(header::START_UNIX_NS).set(child.start_unix_ns);
        self.header(header::START_MONOTONIC_NS).set(child.start_monotonic_ns);
        zero(self.section(Section::LostCounters));
        zero(self.section(Section::SharedStats));
        zero(self.section(Section::SharedFileStats));
        zero(self.section(Section::SharedSocketStats));
        zero(self.section(Section::SharedMemoryStats));
        zero(self.section(Section::SharedStatementStats));
        let is_own = |words: &SlotWords| own.iter().flatten().any(|actor| actor.owns(words));
        if idle {
            statement_digest::keep_for(self, self.running_statements(is_own));
        }
        statement_digest::forget(self, idle);
        // Only what was ever used: most of a region never is, and a fork should not take longer for it.
        let next_histogram = self.header(header::NEXT_HISTOGRAM);
        let histograms = next_histogram.get();
        // In the middle of a record the thread may be taking one, whose number nobody else knows.
        if idle {
            next_histogram.set(0);
        }
        if histograms != 0 {
            zero(first(self.arrays::<SHORT>(Section::Histograms), histograms).as_flattened());
        }
        if histograms | self.header(header::HAS_SHARED_HISTOGRAMS).swap(0, Ordering::Relaxed) != 0 {
            zero(self.section(Section::SharedHistograms));
        }
        if idle {
            own.iter().flatten().for_each(|actor| actor.finish_chunks());
        }
        for store in STORES {
            let chunks = self.arrays::<CHUNK>(store.long_chunks);
            // While there are the rows that say which of them are full.
            for (index, chunk) in chunks.iter().enumerate() {
                let is_kept = !idle && own.iter().flatten().any(|actor| actor.is_filling(store, index));
                if !is_kept {
                    zero(chunk);
                }
            }
            let records = self.arrays::<RECORD>(store.long_records);
            let filled = self.header(store.next_long_chunk).get().min(chunks.len() as u64);
            let records = first(records, filled * records.len().checked_div(chunks.len()).unwrap_or(0) as u64).iter().enumerate();
            // In the middle of a record the thread may be writing one, which it shows when it goes on.
            for (index, record) in records.filter(|(_, record)| idle || record::has_ended(record)) {
                zero(record);
                store.beside(self, Place::Long(index)).for_each(zero_word);
            }
        }
        let slots = self.arrays::<SLOT>(Section::Slots).iter().enumerate();
        for (index, words) in slots.filter(|(_, words)| slot::was_used(words)) {
            // Its thread may be in the middle of an event, and goes on.
            let may_go_on = !idle && is_own(words);
            let begin_anew = if may_go_on { Versioned::restart } else { Versioned::forget };
            for stat in self.arrays_of::<STAT>(Section::Stats, index) {
                begin_anew(Versioned::of(stat));
                zero_word(&stat[stat::word::EPOCHS]);
                let histogram = &stat[stat::word::HISTOGRAM];
                let kept = if may_go_on { wait_histogram::without_wait(histogram.get() as u32) } else { 0 };
                if histogram.get() != kept.into() {
                    histogram.set(kept.into());
                }
            }
            zero(self.arrays_of::<CARRY>(Section::Carries, index).as_flattened());
            zero(self.arrays_of::<IO_SUMS>(Section::FileStats, index).as_flattened());
            zero(self.arrays_of::<IO_SUMS>(Section::SocketStats, index).as_flattened());
            zero(self.arrays_of::<MEMORY>(Section::MemoryStats, index).as_flattened());
            zero(self.arrays_of::<STATEMENT_STAT>(Section::StatementStats, index).as_flattened());
            self.forget_metric_sums(index);
            let rings = STORES.map(|store| self.arrays_of::<RECORD>(store.rings, index));
            if is_own(words) {
                words[slot::word::OS_ID].set(child.os_id);
                self.forget_beside(index, record::has_ended);
                for index in self.ring_indices(&STATEMENTS, index, record::is_running) {
                    statement::Entry::of(self, Sizes::of(self), Place::Ring(index)).leftovers().for_each(zero_word);
                }
                rings.into_iter().flatten().filter(|record| record::has_ended(record)).for_each(forget);
            } else {
                // Its own thread may be taking it, which goes on, finds that there was a fork, and gives it back.
                if idle || !slot::is_claimed(words) {
                    slot::forget(words);
                }
                self.forget_beside(index, |_| true);
                rings.into_iter().for_each(|ring| zero(ring.as_flattened()));
            }
        }
        for pool in &class::POOLS {
            for words in self.arrays::<INSTANCE>(pool.instances) {
                if pool::was_used(&words[instance::word::STATE]) {
                    if idle {
                        pool::release_claimed(&words[instance::word::STATE]);
                    }
                    let sums = Versioned::among(words, instance::word::VERSION, instance::word::OWNED);
                    sums.into_iter().for_each(Versioned::forget);
                    zero(&words[instance::word::SHARED]);
                }
            }
        }
        // Who has given a place back may not have said so, where nothing else was free; and what was the parent's is free.
        let places = self.setup();
        let hints = places[setup::word::INSTANCE_HINTS].iter().chain([&places[setup::word::SOCKET_HINT]]).map(Hint);
        hints.chain([slot::hint(self)]).for_each(|hint| hint.give_back(0));
        self.forget_file_io(idle);
        self.forget_socket_io(idle);
        if idle {
            self.forget_unfinished_classes();
            setup_actors::forget_unfinished(self);
            // A place that a line has stays that line's, and is written by whoever comes by it. Of one that was copied before it was taken
            // nothing is left.
            let sources = self.arrays::<SOURCE>(Section::Sources).iter();
            sources.filter(|entry| entry[source::word::KEY].get() == 0).for_each(|entry| zero(entry));
        }
        self.forget_metrics(Moment::new(child.start_unix_ns / NS_PER_S, child.start_monotonic_ns / NS_PER_S), idle);
        // Another thread may have been changing a setting.
        setup::fold(self);
        // [R1] as in create().
        self.header(header::READY).store(crate::region::READY, Ordering::Release);
    }
}

impl Region<'_> {
    /// All that a slot's records have besides, of those that `are_forgotten`.
    fn forget_beside(&self, slot: usize, are_forgotten: impl Fn(&RecordWords) -> bool + Copy) {
        for store in STORES {
            let indices = self.ring_indices(store, slot, are_forgotten);
            indices.flat_map(|index| store.beside(self, Place::Ring(index))).for_each(zero_word);
        }
    }

    /// What is visible of the statements of these slots that run.
    fn running_statements(&self, are_meant: impl Fn(&SlotWords) -> bool) -> impl Iterator<Item = EntryText> {
        let slots = self.arrays::<SLOT>(Section::Slots).iter().enumerate().filter(move |(_, words)| are_meant(words));
        let indices = slots.flat_map(|(slot, _)| self.ring_indices(&STATEMENTS, slot, record::is_running));
        indices.map(|index| statement::Entry::of(self, Sizes::of(self), Place::Ring(index)).read(false))
    }

    /// Where a slot's records are in their section that `are_meant`.
    fn ring_indices(
        &self,
        store: &EventStore,
        slot: usize,
        are_meant: impl Fn(&RecordWords) -> bool,
    ) -> impl Iterator<Item = usize> {
        let records = self.arrays_of::<RECORD>(store.rings, slot);
        (slot.saturating_mul(records.len())..).zip(records).filter(move |(_, record)| are_meant(record)).map(|(index, _)| index)
    }
}

/// What the parent recorded there; its place among the records stays.
fn forget(record: &RecordWords) {
    zero(&record[..record::word::NEXT]);
    zero(&record[record::word::PREVIOUS + 1..]);
}

fn first<T>(entries: &[T], count: u64) -> &[T] {
    entries.get(..count as usize).unwrap_or(entries)
}

/// Writes only what is not zero, so that pages shared with the parent stay shared.
fn zero(words: &[Word]) {
    words.iter().for_each(zero_word);
}

fn zero_word(word: &Word) {
    if word.get() != 0 {
        word.set(0);
    }
}

#[cfg(all(test, not(perfschema_loom)))]
pub(crate) mod tests;
