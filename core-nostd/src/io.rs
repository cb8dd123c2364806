//! Io: what a wait for a file or a socket counts besides what every wait does. Reads, writes and everything else apart, and the bytes.
//!
//! By event name each actor has its own sums, as for all other summaries. By instance, several threads may use one file or socket at one
//! moment; that must not make it slower for the one thread that nearly always is alone. So the first thread that counts there, usually
//! the one that opens it, owns it and writes with plain stores behind a version; all others add to words that they share, by
//! read-modify-write. Readers add up both.

use crate::class::{self, Class, FILE_POOL, Pool, SOCKET_POOL};
use crate::instance;
use crate::operation::Group;
use crate::region::{IO_SUMS, Region, Section};
use crate::setup::{self, Switches};
use crate::slot;
use crate::stat::{self, Owned, Patience, Shared, Summary, Versioned};
use crate::sync::{Ordering, Word};

/// Words of a file's or a socket's place that are the same for both. The second line, which its owner writes, is that of a lock.
pub(crate) const PLACE: usize = 72;

pub(crate) mod word {
    pub(crate) use crate::instance::word::{ADDRESS, CLASS, EPOCH, STATE, VERSION};
    /// The sums that `events_waits_summary_by_instance` shows.
    pub(crate) const WAITS: core::ops::Range<usize> = crate::instance::word::OWNED;
    /// The thread that writes the sums with plain stores.
    pub(crate) const OWNER: usize = crate::instance::word::HOLDER;
    /// The same sums of all others. What is behind them in the line is a socket's.
    pub(crate) const SHARED: core::ops::Range<usize> = 16..21;
    pub(crate) const OWN_SUMS: core::ops::Range<usize> = 24..48;
    pub(crate) const OWN_VERSION: usize = OWN_SUMS.start + super::VERSION;
    pub(crate) const SHARED_SUMS: core::ops::Range<usize> = 48..72;
}

/// What files have, and sockets have, of their own.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) pool: &'static Pool,
    /// Sums by actor and instrument.
    stats: Section,
    /// Sums that no actor owns.
    shared: Section,
    /// The words of [`setup`] that the truncations of the two summaries bump.
    event_epoch: usize,
    instance_epoch: usize,
}

/// `file_summary_…`
pub(crate) const FILES: Kind = Kind {
    pool: &FILE_POOL,
    stats: Section::FileStats,
    shared: Section::SharedFileStats,
    event_epoch: setup::word::FILE_EVENT_EPOCH,
    instance_epoch: setup::word::FILE_INSTANCE_EPOCH,
};

/// `socket_summary_…`
pub(crate) const SOCKETS: Kind = Kind {
    pool: &SOCKET_POOL,
    stats: Section::SocketStats,
    shared: Section::SharedSocketStats,
    event_epoch: setup::word::SOCKET_EVENT_EPOCH,
    instance_epoch: setup::word::SOCKET_INSTANCE_EPOCH,
};

/// Sums of reads or of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoSums {
    /// The waits.
    pub waits: Summary,
    /// SUM_NUMBER_OF_BYTES; of what is neither read nor written what its waits said, which no table shows.
    pub bytes: u64,
}

/// The sums of a file or a socket, or of all of an instrument; in the order of [`Group`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoSummary(pub [IoSums; 3]);

impl IoSummary {
    /// One group.
    pub fn group(&self, group: Group) -> &IoSums {
        &self.0[group as usize]
    }

    /// All groups together: COUNT_STAR and what follows it.
    pub fn total(&self) -> Summary {
        let mut total = Summary::default();
        self.0.iter().for_each(|sums| total.add(&sums.waits));
        total
    }

    /// Adds another sum to this one.
    ///
    /// ```
    /// use perfschema_core::{Group, IoSums, IoSummary, Summary};
    /// let read = IoSums { waits: Summary { count: 2, count_timed: 1, sum_ps: 40, min_ps: 40, max_ps: 40 }, bytes: 100 };
    /// let mut io = IoSummary([read, IoSums::default(), IoSums::default()]);
    /// io.add(&io.clone());
    /// assert_eq!((io.group(Group::Read).bytes, io.total().count, io.total().max_ps), (200, 4, 40));
    /// assert_eq!(io.total().avg_ps(), 40, "over those that were timed");
    /// ```
    pub fn add(&mut self, other: &IoSummary) {
        for (sums, other) in self.0.iter_mut().zip(&other.0) {
            sums.waits.add(&other.waits);
            sums.bytes = sums.bytes.wrapping_add(other.bytes);
        }
    }
}

/// The place of a file or a socket, as far as waits are counted there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'r>(pub(crate) &'r [Word; PLACE]);

impl<'r> Place<'r> {
    /// What a file's or a socket's words begin with; None of fewer words.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of(words: &'r [Word]) -> Option<Place<'r>> {
        words.first_chunk().map(Place)
    }

    /// Counts a wait in the sums that the kind's summary by instance shows.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn count(self, thread_id: u64, epoch: u64, group: Group, wait_ps: Option<u64>, bytes: u64) {
        match Sums::of(self.0) {
            Some(sums) if self.is_owned_by(thread_id) => sums.record(epoch, group, wait_ps, bytes),
            _ => self.count_shared(group, wait_ps, bytes),
        }
    }

    #[inline(never)]
    fn count_shared(self, group: Group, wait_ps: Option<u64>, bytes: u64) {
        if let Some(sums) = SharedSums::of(self.0) {
            sums.record(group, wait_ps, bytes);
        }
    }

    /// Counts a wait in the sums that `events_waits_summary_by_instance` shows.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn count_wait(self, thread_id: u64, epoch: u64, wait_ps: Option<u64>) {
        if self.is_owned_by(thread_id) {
            instance::record_alone(self.0, epoch, wait_ps);
        } else if let Some(sums) = self.shared_waits() {
            sums.record(wait_ps);
        }
    }

    /// A thread without a slot, whose number is 0, owns nothing.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_owned_by(self, thread_id: u64) -> bool {
        let owner = self.0[word::OWNER].get();
        thread_id != 0 && (owner == thread_id || (owner == 0 && self.take(thread_id)))
    }

    /// Nobody has counted in it yet. Relaxed: there are no sums to go on from.
    #[cold]
    fn take(self, thread_id: u64) -> bool {
        self.0[word::OWNER].compare_exchange(0, thread_id, Ordering::Relaxed).is_ok()
    }

    /// Claimer: all sums start at zero, those by instance and those by group, of the owner and of all others.
    pub(crate) fn begin(self, region: &Region<'_>) {
        self.0[word::OWNER].set(0);
        // The versions go on, so that no number stands for two states.
        self.forget();
        self.0[word::EPOCH].set(region.setup()[setup::word::INSTANCE_EPOCH].get());
    }

    /// All sums start at zero.
    pub(crate) fn forget(self) {
        let words = self.0;
        Versioned::among(words, word::VERSION, word::WAITS).into_iter().for_each(Versioned::forget);
        // Odd where a thread counted here when another forked.
        stat::make_even(&words[word::OWN_VERSION]);
        let owner = words[word::WAITS.end..word::OWN_SUMS.start].iter().chain(&words[word::OWN_SUMS][GROUPS]);
        // What is 0 already is left alone, so that a forked child shares more pages with its parent.
        owner.chain(&words[word::SHARED_SUMS]).filter(|word| word.get() != 0).for_each(|word| word.set(0));
    }

    /// Reader: the sums that the kind's summary by instance shows; None if their owner never finishes counting.
    pub(crate) fn sums(self, patience: &Patience, epoch: u64) -> Option<IoSummary> {
        let (mut sums, settled) = Sums::of(self.0)?.read(patience, epoch);
        sums.add(&SharedSums::of(self.0)?.read());
        settled.then_some(sums)
    }

    /// Reader: the sums that `events_waits_summary_by_instance` shows.
    pub(crate) fn waits(self, patience: &Patience, epoch: u64) -> Option<Summary> {
        let mut sums = instance::sums_alone(patience, self.0, epoch)?;
        sums.add(&self.shared_waits()?.read());
        Some(sums)
    }

    fn shared_waits(self) -> Option<Shared<'r>> {
        Shared::of(&self.0[word::SHARED])
    }

    /// TRUNCATE of the kind's summary by instance, together with the epoch.
    pub(crate) fn reset(self) {
        SharedSums::of(self.0).into_iter().for_each(SharedSums::reset);
    }

    /// TRUNCATE of `events_waits_summary_by_instance`, together with the epoch.
    pub(crate) fn reset_waits(self) {
        self.shared_waits().into_iter().for_each(Shared::reset);
    }
}

impl Kind {
    /// The epoch of the summary by instance.
    // Inlined, as Recorder::new().
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn instance_epoch<'r>(&self, region: &Region<'r>) -> &'r Word {
        &region.setup()[self.instance_epoch]
    }

    /// The classes of the kind: they are behind one another.
    pub(crate) fn classes(&self, region: &Region<'_>) -> core::ops::Range<usize> {
        class::run(region, self.pool)
    }

    /// The io of an instrument, summed over all threads that ever were, since the summary by event name was truncated. Of a thread that was
    /// stopped in the middle of counting, for longer than a reader waits, half an event is taken in.
    pub(crate) fn summary_by_event_name(&self, region: &Region<'_>, class: Class) -> IoSummary {
        let mut sums = IoSummary::default();
        let run = self.classes(region);
        let Some(index) = class.index().checked_sub(run.start).filter(|_| run.contains(&class.index())) else { return sums };
        if let Some(words) = region.arrays::<IO_SUMS>(self.shared).get(index) {
            sums.add(&SharedSums(words).read());
        }
        let epoch = region.setup()[self.event_epoch].get();
        for (slot, _) in slot::used(region) {
            if let Some(words) = region.arrays_of::<IO_SUMS>(self.stats, slot).get(index) {
                sums.add(&Sums(words).read(region.patience(), epoch).0);
            }
        }
        sums
    }

    /// TRUNCATE of the summary by event name.
    pub(crate) fn truncate_by_event_name(&self, region: &Region<'_>) {
        setup::next_epoch(&region.setup()[self.event_epoch]);
        for words in region.arrays::<IO_SUMS>(self.shared) {
            SharedSums(words).reset();
        }
    }
}

// Version, epoch and the sums of reads are one cache line.
const VERSION: usize = 0;
const NOTED_EPOCH: usize = 1;
/// Words of a group: those of [`Owned`] or [`Shared`], and the bytes.
const GROUP: usize = 6;
const GROUPS: core::ops::Range<usize> = 2..2 + 3 * GROUP;

fn groups(words: &[Word; IO_SUMS]) -> &[[Word; GROUP]] {
    words[GROUPS].as_chunks().0
}

/// Sums that one thread writes, behind a version as all in [`stat`] are.
#[derive(Clone, Copy)]
struct Sums<'r>(&'r [Word; IO_SUMS]);

impl<'r> Sums<'r> {
    fn of(words: &'r [Word; PLACE]) -> Option<Sums<'r>> {
        words[word::OWN_SUMS].first_chunk().map(Sums)
    }

    /// Owner: counts an event.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn record(self, epoch: u64, group: Group, wait_ps: Option<u64>, bytes: u64) {
        let words = self.0;
        stat::write(&words[VERSION], || {
            if words[NOTED_EPOCH].get() != epoch {
                self.honour(epoch);
            }
            if let Some([waits @ .., total]) = groups(words).get(group as usize) {
                Owned(waits).count(wait_ps);
                total.set(total.get().wrapping_add(bytes));
            }
        });
    }

    /// Owner, while the version is odd: the table was truncated since the last event.
    // Out of line: else what is compiled into each operation is full of it.
    #[cold]
    #[inline(never)]
    fn honour(self, epoch: u64) {
        self.0[GROUPS].iter().for_each(|word| word.set(0));
        self.0[NOTED_EPOCH].set(epoch);
    }

    /// Reader: the sums since the table was truncated, and whether they are whole.
    fn read(self, patience: &Patience, epoch: u64) -> (IoSummary, bool) {
        stat::settle(patience, &self.0[VERSION], |_| {
            let sums = load_groups(self.0, |waits| Owned(waits).read(), Word::get);
            if self.0[NOTED_EPOCH].get() == epoch { sums } else { IoSummary::default() }
        })
    }
}

/// Sums that several threads write: read-modify-write, each number whole.
#[derive(Clone, Copy)]
struct SharedSums<'r>(&'r [Word; IO_SUMS]);

impl<'r> SharedSums<'r> {
    fn of(words: &'r [Word; PLACE]) -> Option<SharedSums<'r>> {
        words[word::SHARED_SUMS].first_chunk().map(SharedSums)
    }

    fn record(self, group: Group, wait_ps: Option<u64>, bytes: u64) {
        if let Some([waits @ .., total]) = groups(self.0).get(group as usize) {
            Shared(waits).record(wait_ps);
            if bytes != 0 {
                // Relaxed: as in `Shared`.
                total.fetch_add(bytes, Ordering::Relaxed);
            }
        }
    }

    fn read(self) -> IoSummary {
        load_groups(self.0, |waits| Shared(waits).read(), Word::whole)
    }

    fn reset(self) {
        for word in &self.0[GROUPS] {
            word.swap(0, Ordering::Relaxed);
        }
    }
}

fn load_groups(words: &[Word; IO_SUMS], waits_of: impl Fn(&[Word; 5]) -> Summary, load: impl Fn(&Word) -> u64) -> IoSummary {
    let mut summary = IoSummary::default();
    for (sums, [waits @ .., bytes]) in summary.0.iter_mut().zip(groups(words)) {
        *sums = IoSums { waits: waits_of(waits), bytes: load(bytes) };
    }
    summary
}

/// For models: counts a read as the owner of a place, and returns the version of its sums then.
#[cfg(perfschema_loom)]
pub(crate) fn count_as_owner(place: Place<'_>) -> u64 {
    let sums = Sums::of(place.0).expect("a place");
    sums.record(0, Group::Read, Some(1), 1);
    sums.0[VERSION].get()
}

/// What an actor needs to count io of one kind.
#[derive(Debug)]
pub(crate) struct Recorder<'r> {
    /// The actor's own sums by instrument; none without a slot.
    own: &'r [[Word; IO_SUMS]],
    kind: &'static Kind,
    first_class: usize,
    event_epoch: &'r Word,
    instance_epoch: &'r Word,
}

impl<'r> Recorder<'r> {
    // Inlined, so that the kind is known and no index can be out of bounds.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(region: &Region<'r>, kind: &'static Kind, slot: Option<usize>) -> Recorder<'r> {
        Recorder {
            own: slot.map_or(&[], |slot| region.arrays_of::<IO_SUMS>(kind.stats, slot)),
            kind,
            first_class: kind.classes(region).start,
            event_epoch: &region.setup()[kind.event_epoch],
            instance_epoch: kind.instance_epoch(region),
        }
    }

    /// Counts an event by event name and by instance, whatever the consumers: shipped MySQL has none for these tables.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn count(
        &self,
        region: &Region<'_>,
        event: &Counted<'_>,
        switches: Switches,
        thread_id: u64,
        wait_ps: Option<u64>,
        bytes: u64,
    ) {
        let class = switches.class().index().wrapping_sub(self.first_class);
        match self.own.get(class) {
            Some(words) if switches.has(Switches::THREAD) => {
                Sums(words).record(self.event_epoch.get(), event.group, wait_ps, bytes);
            }
            _ => self.count_shared(region, class, event.group, wait_ps, bytes),
        }
        if let Some(place) = event.place {
            place.count(thread_id, self.instance_epoch.get(), event.group, wait_ps, bytes);
        }
    }

    #[cold]
    fn count_shared(&self, region: &Region<'_>, class: usize, group: Group, wait_ps: Option<u64>, bytes: u64) {
        if let Some(words) = region.arrays::<IO_SUMS>(self.kind.shared).get(class) {
            SharedSums(words).record(group, wait_ps, bytes);
        }
    }
}

/// Where an event counts: the columns, and the file or the socket, if it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted<'r> {
    pub(crate) place: Option<Place<'r>>,
    pub(crate) group: Group,
}
