//! Instances: the locks that are alive now, who holds them, and the sums of the waits for each.
//!
//! The words of an instance are written by whoever holds the lock, who is alone, with plain stores; the lock's own hand-over orders
//! them. What several threads hold at once, the read side of a read-write lock, is written with read-modify-write.

use crate::class::{Class, POOLS, Pool, pool_of};
use crate::region::{INSTANCE, Region, Section, Text};
use crate::setup;
use crate::stat::{Shared, Summary};
use crate::sync::{Ordering, Word, fence};
use crate::table::Sweep;

pub(crate) mod word {
    // First line: written when the lock comes and goes.
    pub(crate) const STATE: usize = 0;
    pub(crate) const CLASS: usize = 1;
    pub(crate) const ADDRESS: usize = 2;
    // Second line: written by the holder.
    pub(crate) const HOLDER: usize = 8;
    pub(crate) const VERSION: usize = 9;
    pub(crate) const EPOCH: usize = 10;
    pub(crate) const COUNT_TIMED: usize = 11;
    pub(crate) const UNTIMED: usize = 12;
    pub(crate) const SUM: usize = 13;
    pub(crate) const MAX: usize = 14;
    pub(crate) const NOT_MIN: usize = 15;
    // Third line: written by all who share it.
    pub(crate) const READERS: usize = 16;
    pub(crate) const SHARED: core::ops::Range<usize> = 17..22;
}

/// The hint of a pool in which nothing was free when it was last searched.
const FULL: u64 = u64::MAX;

const FREE: u64 = 0;
const CLAIMED: u64 = 1;
const LIVE: u64 = 2;

const fn state(version: u64, state: u64) -> u64 {
    version << 2 | state
}

/// Attempts to read an instance's sums while its holder writes them.
const ATTEMPTS: u32 = if cfg!(perfschema_loom) { 1 } else { 64 };

/// A lock as the region knows it.
///
/// Made by [`Region::create_instance`] and given back by [`Region::destroy_instance`]. Copy it freely; after it was given back it
/// may not be used, and if it is, only some other lock's figures suffer.
#[derive(Clone, Copy, Debug)]
pub struct Instance<'r> {
    words: &'r [Word; INSTANCE],
}

/// How a wait came to hold the lock, which decides how its sums are written.
#[derive(Clone, Copy, Debug)]
pub enum Held<'a, 'r> {
    /// The waiter is now alone: a mutex, the write side of a read-write lock, a condition whose mutex is held again.
    Exclusive(&'a Instance<'r>),
    /// Others may be doing the same at this moment.
    Shared(&'a Instance<'r>),
    /// There is no instance, or the lock was not taken.
    None,
}

/// A reference to an instance that fits into a lock: its place, counted in cache lines from the region's start; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstanceId(u32);

const LINE: usize = 8;

impl InstanceId {
    /// No instance.
    pub const NONE: InstanceId = InstanceId(0);

    /// As a number to keep in an atomic.
    pub const fn to_bits(self) -> u32 {
        self.0
    }

    /// From a number that came from [`to_bits`](Self::to_bits). With any other the figures of the region suffer, nothing else.
    pub const fn from_bits(bits: u32) -> InstanceId {
        InstanceId(bits)
    }
}

impl<'r> Region<'r> {
    /// Makes a lock known. `address` is what OBJECT_INSTANCE_BEGIN shows. None if the pool is full, which is counted.
    pub fn create_instance(&self, class: Class, address: u64) -> Option<InstanceId> {
        let kind = crate::InstrumentName::new(self.class_name(class).as_str()).ok()?.kind();
        let pool = pool_of(kind)?;
        let hint = self.instance_hint(pool)?;
        let start = hint.get();
        // FULL stays until an instance of the pool is given back.
        let some_free = (start != FULL).then_some(start);
        let found = some_free.and_then(|start| self.claim_instance(pool, class, address, start));
        let found = found.or_else(|| {
            some_free?;
            hint.set(FULL);
            // [I1] SeqCst fence between FULL and a second search, with [I2]: whoever gives an instance back meanwhile has freed it
            // before that search, or says where it is after we said FULL.
            fence(Ordering::SeqCst);
            self.claim_instance(pool, class, address, 0)
        });
        let Some(index) = found else {
            self.count_lost(pool.instances_lost);
            return None;
        };
        hint.set(index as u64 + 1);
        let at = self.place(pool.instances).offset + index * INSTANCE;
        Some(InstanceId((at / LINE) as u32))
    }

    /// Takes a free instance of the pool, searching from `start` on and round.
    fn claim_instance(&self, pool: &Pool, class: Class, address: u64, start: u64) -> Option<usize> {
        let instances = self.arrays::<INSTANCE>(pool.instances);
        let (before, after) = instances.split_at(usize::try_from(start).map_or(0, |start| start.min(instances.len())));
        for (words, index) in after.iter().zip(before.len()..).chain(before.iter().zip(0..)) {
            let seen = words[word::STATE].get();
            if seen & 3 != FREE {
                continue;
            }
            let version = (seen >> 2) + 1;
            // The protocol of `slot`: [L1] to [L4].
            if words[word::STATE].compare_exchange(seen, state(version, CLAIMED), Ordering::Acquire).is_err() {
                continue;
            }
            fence(Ordering::Release);
            words[word::CLASS].set(class.0.into());
            words[word::ADDRESS].set(address);
            words[word::EPOCH].set(setup::setup(self)[setup::word::INSTANCE_EPOCH].get());
            for number in &words[word::HOLDER + 3..] {
                number.set(0);
            }
            words[word::HOLDER].set(0);
            words[word::STATE].store(state(version, LIVE), Ordering::Release);
            return Some(index);
        }
        None
    }

    /// Where to look for a free instance of the pool: an index, or [`FULL`].
    fn instance_hint(&self, pool: &Pool) -> Option<&'r Word> {
        let index = POOLS.iter().position(|other| other == pool)?;
        setup::setup(self)[setup::word::INSTANCE_HINTS].get(index)
    }

    /// The lock is gone: its rows disappear, the sums by event name stay.
    pub fn destroy_instance(&self, id: InstanceId) {
        if let Some(instance) = self.instance(id) {
            let seen = instance.words[word::STATE].get();
            if seen & 3 == LIVE {
                instance.words[word::STATE].store(state(seen >> 2, FREE), Ordering::Release);
                // [I2] SeqCst fence between the state and the hint, with [I1].
                fence(Ordering::SeqCst);
                for pool in &POOLS {
                    let place = self.place(pool.instances);
                    let index = (id.0 as usize).wrapping_mul(LINE).checked_sub(place.offset).map(|words| words / INSTANCE);
                    if let (Some(index), Some(hint)) = (index.filter(|index| *index < place.count), self.instance_hint(pool)) {
                        hint.set(index as u64);
                    }
                }
            }
        }
    }

    /// The instance of an id; None for [`InstanceId::NONE`].
    #[inline(always)]
    pub fn instance(&self, id: InstanceId) -> Option<Instance<'r>> {
        let words = self.words().get((id.0 as usize).wrapping_mul(LINE)..)?.first_chunk()?;
        (id != InstanceId::NONE).then_some(Instance { words })
    }

    /// Delivers the instances of one pool that are alive now, with their instrument's name.
    pub(crate) fn sweep_instances(&self, section: Section, each: &mut dyn FnMut(Text<128>, &Found)) -> Sweep {
        let epoch = setup::setup(self)[setup::word::INSTANCE_EPOCH].get();
        let mut sweep = Sweep::default();
        for words in self.arrays::<INSTANCE>(section) {
            match look(words, epoch) {
                Look::Free => sweep.free(),
                Look::Changed => sweep.changed(),
                Look::Live(found) => {
                    each(self.class_name(found.class), &found);
                    sweep.row();
                }
            }
        }
        sweep
    }

    /// TRUNCATE of `events_waits_summary_by_instance`.
    pub(crate) fn truncate_instances(&self) {
        setup::setup(self)[setup::word::INSTANCE_EPOCH].fetch_add(1, Ordering::AcqRel);
        for pool in &POOLS {
            for words in self.arrays::<INSTANCE>(pool.instances) {
                if let Some(words) = words[word::SHARED].first_chunk() {
                    Shared(words).reset();
                }
            }
        }
    }
}

impl Instance<'_> {
    /// The holder is `thread_id`; call it while holding the lock.
    #[inline]
    pub fn set_holder(&self, thread_id: u64) {
        // Relaxed: a value of its own.
        self.words[word::HOLDER].set(thread_id);
    }

    /// Nobody holds it; call it before letting go of the lock.
    #[inline]
    pub fn clear_holder(&self) {
        self.words[word::HOLDER].set(0);
    }

    /// One more reader.
    #[inline]
    pub fn add_reader(&self) {
        self.words[word::READERS].fetch_add(1, Ordering::Relaxed);
    }

    /// One reader less.
    #[inline]
    pub fn remove_reader(&self) {
        self.words[word::READERS].fetch_add(u64::MAX, Ordering::Relaxed);
    }

    /// The lock was moved since it was made known.
    #[inline]
    pub fn set_address(&self, address: u64) {
        if self.words[word::ADDRESS].get() != address {
            self.words[word::ADDRESS].set(address);
        }
    }

    /// Counts a wait, the caller being alone.
    #[inline(always)]
    pub(crate) fn record_alone(&self, epoch: u64, wait_ps: Option<u64>) {
        let words = self.words;
        let version = words[word::VERSION].get() & !1;
        words[word::VERSION].set(version.wrapping_add(1));
        fence(Ordering::Release); // [A1]
        if words[word::EPOCH].get() != epoch {
            for number in [word::COUNT_TIMED, word::UNTIMED, word::SUM, word::MAX, word::NOT_MIN] {
                words[number].set(0);
            }
            words[word::EPOCH].set(epoch);
        }
        match wait_ps {
            Some(wait) => {
                words[word::COUNT_TIMED].set(words[word::COUNT_TIMED].get().wrapping_add(1));
                words[word::SUM].set(words[word::SUM].get().wrapping_add(wait));
                words[word::MAX].set(words[word::MAX].get().max(wait));
                words[word::NOT_MIN].set(words[word::NOT_MIN].get().max(!wait));
            }
            None => words[word::UNTIMED].set(words[word::UNTIMED].get().wrapping_add(1)),
        }
        words[word::VERSION].store(version.wrapping_add(2), Ordering::Release); // [A2]
    }

    /// Counts a wait that others may be counting at the same moment.
    pub(crate) fn record_shared(&self, wait_ps: Option<u64>) {
        if let Some(words) = self.words[word::SHARED].first_chunk() {
            Shared(words).record(wait_ps);
        }
    }
}

/// An instance as a reader sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) class: Class,
    pub(crate) address: u64,
    pub(crate) holder: u64,
    pub(crate) readers: u64,
    pub(crate) summary: Summary,
    /// The summary is whole. It is not where the holder stood still in the middle of a count, or never stopped counting.
    pub(crate) settled: bool,
}

/// What a reader finds in a place.
#[derive(Clone, Copy, Debug)]
enum Look {
    Free,
    Live(Found),
    /// Made or given back while it was read.
    Changed,
}

/// Reader: the instance, if it is alive and nobody takes its place meanwhile.
fn look(words: &[Word; INSTANCE], epoch: u64) -> Look {
    let seen = words[word::STATE].load(Ordering::Acquire); // [L5]
    match seen & 3 {
        FREE => return Look::Free,
        LIVE => {}
        _ => return Look::Changed,
    }
    let (mut summary, mut settled) = (Summary::default(), false);
    for attempt in 0..ATTEMPTS {
        let version = words[word::VERSION].load(Ordering::Acquire); // [A3]
        let [count_timed, untimed, sum, max, not_min] =
            [word::COUNT_TIMED, word::UNTIMED, word::SUM, word::MAX, word::NOT_MIN].map(|number| words[number].get());
        summary = Summary {
            count: count_timed.wrapping_add(untimed),
            count_timed,
            sum_ps: sum,
            max_ps: max,
            min_ps: if count_timed == 0 { 0 } else { !not_min },
        };
        if words[word::EPOCH].get() != epoch {
            summary = Summary::default();
        }
        fence(Ordering::Acquire); // [A4]
        settled = version.is_multiple_of(2) && words[word::VERSION].get() == version;
        if settled {
            break;
        }
        #[cfg(perfschema_loom)]
        crate::model::note_unsettled();
        for _ in 0..1 << attempt.min(8) {
            crate::spin_loop();
        }
    }
    if let Some(shared) = words[word::SHARED].first_chunk() {
        summary.add(&Shared(shared).read());
    }
    let found = Found {
        class: Class(words[word::CLASS].get() as u16),
        address: words[word::ADDRESS].get(),
        holder: words[word::HOLDER].get(),
        readers: words[word::READERS].get(),
        summary,
        settled,
    };
    fence(Ordering::Acquire); // [L6]
    (words[word::STATE].get() == seen).then_some(found).map_or(Look::Changed, Look::Live)
}

#[cfg(all(test, not(perfschema_loom)))]
mod tests {
    use super::word;
    use crate::region::{INSTANCE, Section};
    use crate::tables::{EventsWaitsSummaryByInstance, MutexInstances};
    use crate::{Config, Identity, InstrumentName, Region, Setting, Size, StaticRegion};
    use perfschema_timer::MockClock;

    /// A holder that was stopped or killed in the middle of counting leaves the version odd: no row of half a sum, but the lock is there.
    #[test]
    fn sums_in_the_middle_of_a_count_are_no_row() {
        const CONFIG: Config = Config::EMPTY.with(Size::MaxMutexClasses, 1).with(Size::MaxMutexInstances, 2);
        static MEMORY: StaticRegion<{ CONFIG.words() }> = StaticRegion::new();
        let region = Region::create(MEMORY.words(), &CONFIG, &Identity::default(), &MockClock::new().timers()).unwrap();
        let class = region.register(InstrumentName::literal("wait/synch/mutex/app/A"), Setting::ON).unwrap();
        let ids = [0x10, 0x20].map(|address| region.create_instance(class, address).unwrap());
        for id in ids {
            region.instance(id).unwrap().record_alone(0, Some(5));
        }
        let words = &region.arrays::<INSTANCE>(Section::MutexInstances)[0];
        words[word::VERSION].set(words[word::VERSION].get() + 1);
        words[word::COUNT_TIMED].set(2);

        let mut sums = Vec::new();
        let sweep = region.scan(&EventsWaitsSummaryByInstance, |row| sums.push((row.object_instance_begin, row.sum_timer_wait)));
        assert_eq!(sums, [(0x20, 5)]);
        assert_eq!((sweep.places, sweep.rows, sweep.changed), (2, 1, 1));
        let mut locks = Vec::new();
        region.scan(&MutexInstances, |row| locks.push(row.object_instance_begin));
        assert_eq!(locks, [0x10, 0x20]);
        // Being made: no lock yet, and no free place either.
        words[word::STATE].set(words[word::STATE].get() & !3 | super::CLAIMED);
        let sweep = region.scan(&MutexInstances, |_| {});
        assert_eq!((sweep.rows, sweep.free, sweep.changed), (1, 0, 1));
    }
}
