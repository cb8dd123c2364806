//! Instances: the locks that are alive now, who holds them, and the sums of the waits for each. They come and go by the protocol of
//! [`pool`].
//!
//! The words of an instance are written by whoever holds the lock, who is alone, with plain stores; the lock's own hand-over orders
//! them. What several threads hold at once, the read side of a read-write lock, is written with read-modify-write.

use crate::class::{Class, POOLS, Pool, SOCKET_POOL, pool_of};
use crate::file::FileIo;
use crate::name::kind_of;
use crate::pool::{self, Hint, Look};
use crate::region::{INSTANCE, Region, Section, Text};
use crate::setup;
use crate::socket::SocketIo;
use crate::stat::{Patience, Shared, Summary, Versioned};
use crate::sync::{Ordering, Word};
use crate::table::Sweep;

pub(crate) mod word {
    // First line: written when the lock comes and goes, and by all who share it.
    pub(crate) const STATE: usize = 0;
    /// The class, and above it how many threads share the lock: see `ONE_READER`.
    pub(crate) const CLASS: usize = 1;
    pub(crate) const ADDRESS: usize = 2;
    pub(crate) const SHARED: core::ops::Range<usize> = 3..8;
    // Second line: written by the holder.
    pub(crate) const HOLDER: usize = 8;
    pub(crate) const VERSION: usize = 9;
    pub(crate) const EPOCH: usize = 10;
    pub(crate) const OWNED: core::ops::Range<usize> = 11..16;
}

/// What a thread that shares a lock adds to word CLASS.
const ONE_READER: u64 = 1 << u16::BITS;

/// A lock as the region knows it.
///
/// Made by [`Region::create_instance`] and given back by [`Region::destroy_instance`]. Copy it freely; after it was given back it
/// may not be used, and if it is, only some other lock's figures suffer.
#[derive(Clone, Copy, Debug)]
pub struct Instance<'r> {
    words: &'r [Word; INSTANCE],
}

/// How a wait came to hold the lock, which decides how its sums are written.
///
/// ```
/// # use perfschema_core::*;
/// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
/// # let clock = timer::MockClock::new();
/// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
/// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
/// # region.enable_everything();
/// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
/// let id = region.create_instance(class, 0x1000).expect("there is room");
/// let lock = region.instance(id).expect("it was made");
/// for held in [Held::Exclusive(&lock), Held::None] {
///     // Of the second wait nobody knows for which lock it was, or the lock was not taken.
///     let wait = actor.begin(&clock, region.switches(class), class, &WaitStart::new(Operation::TryLock));
///     actor.end(&clock, wait, held);
/// }
/// assert_eq!(region.summary_by_event_name(class).count, 2);
/// region.scan(&tables::EventsWaitsSummaryByInstance, |row| assert_eq!(row.count_star, 1));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Held<'a, 'r> {
    /// The waiter is now alone: a mutex, the write side of a read-write lock.
    Exclusive(&'a Instance<'r>),
    /// Others may be doing the same at this moment.
    Shared(&'a Instance<'r>),
    /// A wait for a file.
    File(FileIo<'r>),
    /// A wait for a socket.
    Socket(SocketIo<'r>),
    /// There is no instance, or the lock was not taken.
    None,
}

/// Which place was claimed, and the number of the claim.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claimed {
    pub(crate) place: usize,
    pub(crate) version: u64,
}

/// A reference to an instance that fits into a lock: its place, counted in cache lines from the region's start, and one more; 0 is none.
///
/// ```
/// # use perfschema_core::*;
/// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
/// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
/// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
/// use core::sync::atomic::{AtomicU32, Ordering};
/// struct Lock { id: AtomicU32 }
/// let lock = Lock { id: AtomicU32::new(InstanceId::NONE.to_bits()) };
/// assert!(region.instance(InstanceId::from_bits(lock.id.load(Ordering::Relaxed))).is_none());
/// if let Some(id) = region.create_instance(class, &raw const lock as usize as u64) {
///     lock.id.store(id.to_bits(), Ordering::Relaxed);
/// }
/// assert!(region.instance(InstanceId::from_bits(lock.id.load(Ordering::Relaxed))).is_some());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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

    /// Where it is in the region; of none beyond every one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn first_word(self) -> usize {
        // Within 32 bits: so a compiler sees that what follows behind it does not begin again at 0.
        (self.0.wrapping_sub(1) as usize).wrapping_mul(LINE)
    }
}

impl<'r> Region<'r> {
    /// Makes a lock known. `address` is what OBJECT_INSTANCE_BEGIN shows. None if the pool is full, which is counted, and if the
    /// class is no lock's.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// let ids: Vec<_> = (1..=5).map(|address| region.create_instance(class, address)).collect();
    /// // There was room for four.
    /// assert_eq!((ids[3].is_some(), ids[4]), (true, None));
    /// assert_eq!(region.lost(Lost::MutexInstances), 1);
    /// ids.into_iter().flatten().for_each(|id| region.destroy_instance(id));
    /// assert_eq!(region.scan(&tables::MutexInstances, |_| ()).rows, 0);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn create_instance(&self, class: Class, address: u64) -> Option<InstanceId> {
        let pool = self.lock_pool(class)?;
        self.create_in(pool, class, &|words: &[Word; INSTANCE], _| {
            words[word::ADDRESS].set(address);
            words[word::EPOCH].set(self.setup()[setup::word::INSTANCE_EPOCH].get());
            for number in &words[word::SHARED] {
                number.set(0);
            }
            Versioned::among(words, word::VERSION, word::OWNED).into_iter().for_each(Versioned::forget);
            words[word::HOLDER].set(0);
        })
    }

    /// A lock that [`create_instance`](Self::create_instance) counted as lost is not: another thread has made the same one known, or has
    /// counted it.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # const SIZES: Config = Config::SMALL.with(Size::MaxMutexInstances, 1);
    /// # static MEMORY: StaticRegion<{ SIZES.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &SIZES, &Identity::default(), &timer::Timers::calibrate())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// // Two threads use a new lock, and there is room for one place.
    /// assert!(region.create_instance(class, 0x1000).is_some());
    /// assert!(region.create_instance(class, 0x1000).is_none());
    /// region.take_back_lost_instance(class);
    /// assert_eq!(region.lost(Lost::MutexInstances), 0);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn take_back_lost_instance(&self, class: Class) {
        self.lock_pool(class).into_iter().for_each(|pool| self.take_back_lost(pool.instances_lost));
    }

    fn lock_pool(&self, class: Class) -> Option<&'static Pool> {
        let kind = kind_of(self.class_name(class).as_bytes())?;
        pool_of(kind).filter(|pool| POOLS.contains(pool))
    }

    /// Takes a free place of a pool whose places have `N` words; `write` writes what is there besides the class. None if the pool is
    /// full, which is counted.
    pub(crate) fn create_in<const N: usize>(
        &self,
        pool: &Pool,
        class: Class,
        write: &impl Fn(&[Word; N], Claimed),
    ) -> Option<InstanceId> {
        let hint = self.instance_hint(pool)?;
        match hint.search(|start| Some((self.claim_instance(pool, class, write, start)?, ()))) {
            Some((index, ())) => {
                let at = self.place(pool.instances).offset + index * N;
                Some(InstanceId((at / LINE + 1) as u32))
            }
            None => {
                self.count_lost(pool.instances_lost);
                None
            }
        }
    }

    /// Takes a free instance of the pool, searching from `start` on and round.
    fn claim_instance<const N: usize>(
        &self,
        pool: &Pool,
        class: Class,
        write: &impl Fn(&[Word; N], Claimed),
        start: usize,
    ) -> Option<usize> {
        let instances = self.arrays::<N>(pool.instances);
        let (before, after) = instances.split_at(start.min(instances.len()));
        for (words, index) in after.iter().zip(before.len()..).chain(before.iter().zip(0..)) {
            let Some(claim) = pool::claim(&words[word::STATE]) else { continue };
            let claimed = Claimed { place: index, version: claim.version() };
            words[word::CLASS].set(class.0.into());
            write(words, claimed);
            claim.publish();
            return Some(index);
        }
        None
    }

    /// Where to look for a free instance of the pool.
    fn instance_hint(&self, pool: &Pool) -> Option<Hint<'r>> {
        let setup = self.setup();
        if *pool == SOCKET_POOL {
            return Some(Hint(&setup[setup::word::SOCKET_HINT]));
        }
        setup[setup::word::INSTANCE_HINTS].get(POOLS.iter().position(|other| other == pool)?).map(Hint)
    }

    /// The lock, or the socket, is gone: its rows disappear, the sums by event name stay.
    pub fn destroy_instance(&self, id: InstanceId) {
        let Some(Instance { words }) = self.instance(id) else { return };
        let state = &words[word::STATE];
        if !pool::live(state).is_some_and(|version| pool::release(state, version)) {
            return;
        }
        for pool in POOLS.iter().chain([&SOCKET_POOL]) {
            let place = self.place(pool.instances);
            let words = id.first_word().checked_sub(place.offset);
            let index = words.and_then(|words| words.checked_div(pool.instances.stride()));
            if let (Some(index), Some(hint)) = (index.filter(|index| *index < place.count), self.instance_hint(pool)) {
                hint.give_back(index);
            }
        }
    }

    /// The instance of an id; None for [`InstanceId::NONE`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn instance(&self, id: InstanceId) -> Option<Instance<'r>> {
        self.words_of(id).map(|words| Instance { words })
    }

    /// The first words of what an id stands for.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn words_of<const N: usize>(&self, id: InstanceId) -> Option<&'r [Word; N]> {
        let first = id.first_word();
        self.words().get(first..first.wrapping_add(N))?.first_chunk()
    }

    /// Delivers the instances of one pool that are alive now, with their instrument's name.
    pub(crate) fn sweep_instances(&self, section: Section, each: &mut dyn FnMut(Text<128>, &Found)) -> Sweep {
        self.sweep(section, |_| Some(()), |name, found, ()| each(name, found))
    }

    /// The same, each with its sums. An instance whose holder never finishes counting counts as changed.
    pub(crate) fn sweep_instance_sums(&self, section: Section, each: &mut dyn FnMut(Text<128>, &Found, &Summary)) -> Sweep {
        let epoch = self.setup()[setup::word::INSTANCE_EPOCH].get();
        self.sweep(section, |words| sums(self.patience(), words, epoch), |name, found, sums| each(name, found, &sums))
    }

    fn sweep<T>(
        &self,
        section: Section,
        also: impl Fn(&[Word; INSTANCE]) -> Option<T>,
        mut each: impl FnMut(Text<128>, &Found, T),
    ) -> Sweep {
        let look = |words: &[Word; INSTANCE]| {
            let found = pool::read(&words[word::STATE], |_| (Found::load(words), also(words)));
            found.and_then(|(found, also)| match self.class_name(found.class) {
                // Taken in a forked child, by whom nobody knows.
                name if name.as_str().is_empty() => Look::Free,
                name => Look::whole(also.map(|also| (name, found, also))),
            })
        };
        Sweep::over(self.arrays::<INSTANCE>(section), look, |(name, found, also)| each(name, &found, also))
    }

    /// TRUNCATE of `events_waits_summary_by_instance`.
    pub(crate) fn truncate_instances(&self) {
        setup::next_epoch(&self.setup()[setup::word::INSTANCE_EPOCH]);
        for pool in &POOLS {
            for words in self.arrays::<INSTANCE>(pool.instances) {
                Shared::of(&words[word::SHARED]).into_iter().for_each(Shared::reset);
            }
        }
        self.truncate_file_waits();
        self.truncate_socket_waits();
    }
}

/// What stands for the instance of a lock that has none. Nobody writes it.
#[cfg(not(perfschema_loom))]
static NO_INSTANCE: [Word; INSTANCE] = [const { Word::new(0) }; INSTANCE];

#[cfg(not(perfschema_loom))]
impl crate::Wait<'_> {
    /// The wait is for a lock that there was no room for: no figures of an instance are kept. What is returned stands for one, so that the wait
    /// ends as all others do, by the same code.
    ///
    /// ```
    /// # use perfschema_core::{Actor, Held, Instance, Wait};
    /// # use perfschema_timer::SystemClock;
    /// fn end(actor: &Actor<'_>, mut wait: Wait<'_>, instance: Option<Instance<'_>>) {
    ///     let place = instance.unwrap_or_else(|| wait.without_instance());
    ///     actor.end(&SystemClock, wait, Held::Exclusive(&place));
    /// }
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn without_instance(&mut self) -> Instance<'static> {
        core::hint::cold_path();
        self.switches.0 &= !setup::Switches::INSTANCE;
        Instance { words: &NO_INSTANCE }
    }
}

impl Instance<'_> {
    /// The holder is `thread_id`; call it while holding the lock.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// let lock = region.create_instance(class, 0x1000).and_then(|id| region.instance(id)).expect("there is room");
    /// lock.set_holder(7);
    /// region.scan(&tables::MutexInstances, |row| assert_eq!(row.locked_by_thread_id, Some(7)));
    /// lock.clear_holder();
    /// region.scan(&tables::MutexInstances, |row| assert_eq!(row.locked_by_thread_id, None));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
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
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// let class = region.register(InstrumentName::literal("wait/synch/rwlock/app/LOCK_config"), Setting::ON)?;
    /// let lock = region.create_instance(class, 0x1000).and_then(|id| region.instance(id)).expect("there is room");
    /// lock.add_reader();
    /// lock.add_reader();
    /// lock.remove_reader();
    /// region.scan(&tables::RwlockInstances, |row| assert_eq!((row.read_locked_by_count, row.write_locked_by_thread_id), (1, None)));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn add_reader(&self) {
        self.words[word::CLASS].fetch_add(ONE_READER, Ordering::Relaxed);
    }

    /// One reader less.
    #[inline]
    pub fn remove_reader(&self) {
        self.words[word::CLASS].fetch_add(ONE_READER.wrapping_neg(), Ordering::Relaxed);
    }

    /// The lock was moved since it was made known.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// let lock = region.create_instance(class, 0x1000).and_then(|id| region.instance(id)).expect("there is room");
    /// lock.set_address(0x2000);
    /// region.scan(&tables::MutexInstances, |row| assert_eq!(row.object_instance_begin, 0x2000));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn set_address(&self, address: u64) {
        if self.words[word::ADDRESS].get() != address {
            self.words[word::ADDRESS].set(address);
        }
    }

    /// Counts a wait, the caller being alone.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn record_alone(&self, epoch: u64, wait_ps: Option<u64>) {
        record_alone(self.words, epoch, wait_ps);
    }

    /// Counts a wait that others may be counting at the same moment.
    pub(crate) fn record_shared(&self, wait_ps: Option<u64>) {
        Shared::of(&self.words[word::SHARED]).into_iter().for_each(|sums| sums.record(wait_ps));
    }
}

/// Counts a wait for a lock, or for a file or a socket, whose second line is the same; the caller is alone.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn record_alone(words: &[Word], epoch: u64, wait_ps: Option<u64>) {
    let Some(sums) = Versioned::among(words, word::VERSION, word::OWNED) else { return };
    sums.begin();
    if words[word::EPOCH].get() != epoch {
        sums.restart();
        words[word::EPOCH].set(epoch);
    }
    sums.count(wait_ps);
    sums.publish_forgotten();
}

/// Reader: what was counted so since the table was truncated, whole.
pub(crate) fn sums_alone(patience: &Patience, words: &[Word], epoch: u64) -> Option<Summary> {
    let sums = Versioned::among(words, word::VERSION, word::OWNED)?;
    let (sums, settled) = sums.settle(patience, |sums| if words[word::EPOCH].get() == epoch { sums } else { Summary::default() });
    settled.then_some(sums)
}

/// An instance as a reader sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) class: Class,
    pub(crate) address: u64,
    pub(crate) holder: u64,
    pub(crate) readers: u32,
}

impl Found {
    fn load(words: &[Word; INSTANCE]) -> Found {
        // Whole: who comes or goes changes no version.
        let class = words[word::CLASS].whole();
        Found {
            class: Class(class as u16),
            address: words[word::ADDRESS].get(),
            holder: words[word::HOLDER].get(),
            // Less than none are none: those of whom the lock did not know that they came.
            readers: u32::try_from(class.cast_signed() / ONE_READER.cast_signed()).unwrap_or(0),
        }
    }
}

/// Reader: the sums of the waits for a lock since the table was truncated, whole.
fn sums(patience: &Patience, words: &[Word; INSTANCE], epoch: u64) -> Option<Summary> {
    let mut sums = sums_alone(patience, words, epoch)?;
    Shared::of(&words[word::SHARED]).into_iter().for_each(|shared| sums.add(&shared.read()));
    Some(sums)
}

#[cfg(all(test, not(perfschema_loom)))]
mod tests {
    use super::*;
    use crate::{Config, Identity, InstrumentName, Setting};
    use std::vec::Vec;

    fn region(words: &[Word]) -> Region<'_> {
        let timers = perfschema_timer::MockClock::new().timers();
        Region::create(words, &Config::SMALL, &Identity::default(), &timers).expect("there is room")
    }

    /// Its holder was killed in the middle of counting: who holds it still shows, the sums count as changed.
    #[test]
    fn an_instance_whose_holder_never_finishes() {
        let words: Vec<Word> = (0..Config::SMALL.words()).map(|_| Word::new(0)).collect();
        let region = region(&words);
        let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK"), Setting::ON).expect("there is room");
        let id = region.create_instance(class, 100).expect("there is room");
        let lock = region.instance(id).expect("it lives");
        lock.set_holder(7);
        lock.record_alone(0, Some(10));
        let read = || {
            let (mut holder, mut count) = (None, None);
            let instances = region.sweep_instances(Section::MutexInstances, &mut |_, found| holder = Some(found.holder));
            let sums = region.sweep_instance_sums(Section::MutexInstances, &mut |_, _, sums| count = Some(sums.count));
            assert_eq!(instances.places, sums.places);
            assert_eq!((instances.rows, instances.free, instances.changed), (1, instances.places - 1, 0));
            (holder, count, sums.changed)
        };
        assert_eq!(read(), (Some(7), Some(1), 0));
        lock.words[word::VERSION].set(lock.words[word::VERSION].get() + 1);
        assert_eq!(read(), (Some(7), None, 1));
        // The next holder finishes what it begins.
        lock.record_alone(0, Some(10));
        assert_eq!(read(), (Some(7), Some(2), 0));
    }

    /// Where a search begins: behind what was taken last, where a place was given back, and nowhere while nothing is free.
    #[test]
    fn a_hint_says_where_a_place_is_free() {
        let words: Vec<Word> = (0..Config::SMALL.words()).map(|_| Word::new(0)).collect();
        let region = region(&words);
        let [lock, other] = ["wait/synch/mutex/app/LOCK", "wait/synch/rwlock/app/LOCK"]
            .map(|name| region.register(InstrumentName::literal(name), Setting::ON).expect("there is room"));
        let hint = region.instance_hint(&POOLS[0]).expect("it has one");
        let check = |given_back: u64, start: Option<u64>| assert_eq!(hint.parts(), (given_back, start));
        let places = region.arrays::<INSTANCE>(Section::MutexInstances).len() as u64;
        let mut locks = Vec::new();
        for start in 0..places {
            check(0, Some(start));
            locks.push(region.create_instance(lock, start).expect("there is room"));
        }
        check(0, Some(places));
        assert_eq!(region.create_instance(lock, 0), None);
        check(0, None);
        // What another pool gets back is nothing to it, though it is the next place in memory.
        let next = region.create_instance(other, 0).expect("there is room");
        assert_eq!(next.first_word(), locks[0].first_word() + places as usize * INSTANCE);
        region.destroy_instance(next);
        check(0, None);
        for (given_back, index) in (1..).zip([2, 0, 1]) {
            region.destroy_instance(locks[index]);
            check(given_back, Some(index as u64));
            assert_eq!(region.create_instance(lock, 0), Some(locks[index]));
            check(given_back, Some(index as u64 + 1));
        }
    }

    /// Somebody was killed between taking the place and writing what is there: the place is not free.
    #[test]
    fn a_place_that_is_never_published() {
        let words: Vec<Word> = (0..Config::SMALL.words()).map(|_| Word::new(0)).collect();
        let region = region(&words);
        let _claim = pool::claim(&region.arrays::<INSTANCE>(Section::MutexInstances)[0][word::STATE]).expect("it is free");
        for sweep in [
            region.sweep_instances(Section::MutexInstances, &mut |_, _| panic!("no lock")),
            region.sweep_instance_sums(Section::MutexInstances, &mut |_, _, _| panic!("no lock")),
        ] {
            assert_eq!((sweep.rows, sweep.free, sweep.changed), (0, sweep.places - 1, 1));
        }
    }
}
