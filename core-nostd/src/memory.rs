//! Memory: blocks and bytes that were allocated and freed, counted by actor and instrument. They are never timed, and never an event.
//!
//! What is counted only grows, over all owners of a slot. Two tables show it, each from a *base* of its own: what there was when the slot
//! got its present owner (by thread), and what was taken off both sides when the table was truncated. So nothing that was counted is ever
//! moved, and what is in use stays right:
//! ```text
//!                     counted     base of a table     the table shows
//!   COUNT_ALLOC            10         -     4                6
//!   COUNT_FREE              7         -     4                3
//!   CURRENT_COUNT_USED      3         - (4 - 4)              3
//! ```
//! The lowest and highest of what was in use begin anew with each truncation. They are kept as [`stat`] keeps sums: those since the younger
//! truncation with the sums, those between the two in the *carry*, which belongs to the table truncated longer ago. The low and high of all
//! threads together are sums of theirs: never above, and never below, what they really were.
//!
//! **Owned**: one thread writes with plain stores behind a version. **Shared**: for threads without a slot, and while
//! `thread_instrumentation` is off: read-modify-write, each number whole.

use crate::class::Class;
use crate::region::{MEMORY, Region, SHARED_MEMORY, SLOT, Section};
use crate::slot::{self, SlotWords};
use crate::stat::{self, Epochs, Patience, View};
use crate::sync::{Ordering, Word};

/// Words of the sums of one actor and one instrument.
pub(crate) mod word {
    use core::ops::Range;

    pub(crate) const VERSION: usize = 0;
    /// The slot's epochs as of the last write.
    pub(crate) const EPOCHS: usize = 1;
    /// Of blocks, then of bytes: allocated, freed, least in use, most in use.
    pub(crate) const OWN: Range<usize> = 2..10;
    /// By thread, then global: allocated and freed before the table begins, of blocks, then of bytes.
    pub(crate) const BASES: Range<usize> = 10..18;
    /// Of blocks, then of bytes: least and most in use between the two truncations.
    pub(crate) const CARRY: Range<usize> = 18..22;
    /// Whose carry it is; 0 is nobody's.
    pub(crate) const CARRY_OF: usize = 22;
}

pub(crate) type MemoryWords = [Word; MEMORY];

/// What happens to memory: blocks and bytes that come, blocks and bytes that go.
///
/// ```
/// use perfschema_core::MemoryChange;
/// // A block that is made larger is another one, as in MySQL.
/// let grown = MemoryChange::resized(100, 150);
/// assert_eq!((grown.blocks_allocated, grown.bytes_allocated), (1, 150));
/// assert_eq!((grown.blocks_freed, grown.bytes_freed), (1, 100));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryChange {
    /// Counts in COUNT_ALLOC.
    pub blocks_allocated: u64,
    /// Counts in SUM_NUMBER_OF_BYTES_ALLOC.
    pub bytes_allocated: u64,
    /// Counts in COUNT_FREE.
    pub blocks_freed: u64,
    /// Counts in SUM_NUMBER_OF_BYTES_FREE.
    pub bytes_freed: u64,
}

impl MemoryChange {
    /// A block of so many bytes comes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub const fn allocated(bytes: u64) -> MemoryChange {
        MemoryChange { blocks_allocated: 1, bytes_allocated: bytes, blocks_freed: 0, bytes_freed: 0 }
    }

    /// A block of so many bytes goes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub const fn freed(bytes: u64) -> MemoryChange {
        MemoryChange { blocks_allocated: 0, bytes_allocated: 0, blocks_freed: 1, bytes_freed: bytes }
    }

    /// A block gets another size: one goes and one comes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub const fn resized(from_bytes: u64, to_bytes: u64) -> MemoryChange {
        MemoryChange { blocks_allocated: 1, bytes_allocated: to_bytes, blocks_freed: 1, bytes_freed: from_bytes }
    }

    /// Allocated and freed, of blocks and of bytes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    const fn pairs(&self) -> [(u64, u64); 2] {
        [(self.blocks_allocated, self.blocks_freed), (self.bytes_allocated, self.bytes_freed)]
    }
}

/// Blocks, or bytes, as a table shows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// COUNT_ALLOC, or SUM_NUMBER_OF_BYTES_ALLOC.
    pub allocated: u64,
    /// COUNT_FREE, or SUM_NUMBER_OF_BYTES_FREE.
    pub freed: u64,
    /// LOW_…_USED.
    pub low: i64,
    /// HIGH_…_USED.
    pub high: i64,
}

impl MemoryUse {
    /// CURRENT_…_USED. Negative for a thread that frees what others allocated, and where memory was allocated before it was counted.
    pub fn current(&self) -> i64 {
        self.allocated.wrapping_sub(self.freed) as i64
    }

    /// What of it came and went.
    fn turnover(&self) -> u64 {
        self.allocated.min(self.freed)
    }

    /// As TRUNCATE leaves it: what is in use stays.
    fn truncated(self) -> MemoryUse {
        let (both, current) = (self.turnover(), self.current());
        MemoryUse { allocated: self.allocated - both, freed: self.freed - both, low: current, high: current }
    }

    fn add(&mut self, other: &MemoryUse) {
        self.allocated = self.allocated.wrapping_add(other.allocated);
        self.freed = self.freed.wrapping_add(other.freed);
        self.low = self.low.wrapping_add(other.low);
        self.high = self.high.wrapping_add(other.high);
    }
}

/// What a row of the memory tables says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemorySummary {
    /// Blocks.
    pub blocks: MemoryUse,
    /// Bytes.
    pub bytes: MemoryUse,
}

impl MemorySummary {
    fn of([blocks, bytes]: [MemoryUse; 2]) -> MemorySummary {
        MemorySummary { blocks, bytes }
    }

    /// Adds those of somebody else. The low and high of both together are at most, and at least, the sums.
    ///
    /// ```
    /// use perfschema_core::{MemorySummary, MemoryUse};
    /// // One thread allocates, another frees.
    /// let bytes = |allocated, freed, low, high| MemorySummary { bytes: MemoryUse { allocated, freed, low, high }, ..Default::default() };
    /// let (mut both, frees) = (bytes(100, 0, 0, 100), bytes(0, 60, -60, 0));
    /// assert_eq!(frees.bytes.current(), -60);
    /// both.add(&frees);
    /// assert_eq!((both.bytes.current(), both.bytes.low, both.bytes.high), (40, -60, 100));
    /// ```
    pub fn add(&mut self, other: &MemorySummary) {
        self.blocks.add(&other.blocks);
        self.bytes.add(&other.bytes);
    }
}

/// Owner: counts a change. `honour` runs, while the version is odd, if the sums were last written in other epochs.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn record(words: &MemoryWords, epochs: Epochs, change: MemoryChange, honour: impl FnOnce()) {
    stat::write(&words[word::VERSION], || {
        if words[word::EPOCHS].get() != epochs.0 {
            honour();
        }
        for ([allocated, freed, low, high], (more, less)) in words[word::OWN].as_chunks().0.iter().zip(change.pairs()) {
            // Known where this is compiled, but for the bytes of a change of size.
            if more != 0 {
                allocated.set(allocated.get().wrapping_add(more));
            }
            if less != 0 {
                freed.set(freed.get().wrapping_add(less));
            }
            let current = allocated.get().wrapping_sub(freed.get());
            if more != 0 && current as i64 > high.get() as i64 {
                high.set(current);
            }
            if less != 0 && (current as i64) < low.get() as i64 {
                low.set(current);
            }
        }
    });
}

/// How old the sums are for a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Age {
    /// Written since it was truncated.
    Present,
    /// It was truncated since.
    Truncated,
    /// By thread: of an owner before the present one.
    Past,
}

/// The words of one actor and one instrument, as they are in memory.
#[derive(Clone, Copy, Debug)]
struct Parts {
    epochs: Epochs,
    /// Over all owners; low and high since the younger truncation.
    own: [MemoryUse; 2],
    /// By thread, then global: allocated and freed before the table begins.
    bases: [[(u64, u64); 2]; 2],
    /// Low and high between the truncations.
    carry: [(i64, i64); 2],
    carry_of: u64,
}

impl Parts {
    fn load(words: &MemoryWords) -> Parts {
        let mut bases = [[(0, 0); 2]; 2];
        let pairs = words[word::BASES].as_chunks().0;
        for (base, [allocated, freed]) in bases.as_flattened_mut().iter_mut().zip(pairs) {
            *base = (allocated.get(), freed.get());
        }
        let mut carry = [(0, 0); 2];
        for (carry, [low, high]) in carry.iter_mut().zip(words[word::CARRY].as_chunks().0) {
            *carry = (low.get() as i64, high.get() as i64);
        }
        let mut own = [MemoryUse::default(); 2];
        for (own, [allocated, freed, low, high]) in own.iter_mut().zip(words[word::OWN].as_chunks().0) {
            *own = MemoryUse { allocated: allocated.get(), freed: freed.get(), low: low.get() as i64, high: high.get() as i64 };
        }
        Parts { epochs: Epochs(words[word::EPOCHS].get()), own, bases, carry, carry_of: words[word::CARRY_OF].get() }
    }

    /// `first` are the slot's epochs when it got its present owner.
    fn age(&self, view: View, now: Epochs, first: Epochs) -> Age {
        if self.epochs.same(now, view) {
            Age::Present
        } else if view == View::Global || self.epochs.is_within(first, now) {
            Age::Truncated
        } else {
            Age::Past
        }
    }

    /// The marks of a table as they were counted, before its base is taken off.
    fn marks(&self, view: View) -> [(i64, i64); 2] {
        let mut marks = self.own.map(|own| (own.low, own.high));
        if self.carry_of == view as u64 {
            for (mark, carry) in marks.iter_mut().zip(self.carry) {
                *mark = (mark.0.min(carry.0), mark.1.max(carry.1));
            }
        }
        marks
    }

    /// What one table shows, if it was not truncated since the last write.
    fn view(&self, view: View) -> [MemoryUse; 2] {
        let mut shown = self.own;
        let [thread, global] = self.bases;
        let base = if view == View::Thread { thread } else { global };
        for ((shown, (allocated, freed)), (low, high)) in shown.iter_mut().zip(base).zip(self.marks(view)) {
            let current = allocated.wrapping_sub(freed) as i64;
            *shown = MemoryUse {
                allocated: shown.allocated.wrapping_sub(allocated),
                freed: shown.freed.wrapping_sub(freed),
                low: low.wrapping_sub(current),
                high: high.wrapping_sub(current),
            };
        }
        shown
    }

    /// What one table shows, given the slot's epochs as of now.
    fn view_now(&self, view: View, now: Epochs, first: Epochs) -> MemorySummary {
        match self.age(view, now, first) {
            Age::Present => MemorySummary::of(self.view(view)),
            Age::Truncated => MemorySummary::of(self.view(view).map(MemoryUse::truncated)),
            Age::Past => MemorySummary::default(),
        }
    }
}

/// Owner, while the version is odd: a table was truncated, or the slot has a new owner, since the last write.
#[cold]
#[inline(never)]
fn honour(words: &MemoryWords, now: Epochs, first: Epochs) {
    let parts = Parts::load(words);
    let ages = [View::Thread, View::Global].map(|view| (view, parts.age(view, now, first)));
    for ((view, age), base) in ages.into_iter().zip(words[word::BASES].as_chunks::<4>().0) {
        for (([allocated, freed], own), shown) in base.as_chunks().0.iter().zip(parts.own).zip(parts.view(view)) {
            match age {
                Age::Present => {}
                Age::Truncated => {
                    let both = shown.turnover();
                    allocated.set(allocated.get().wrapping_add(both));
                    freed.set(freed.get().wrapping_add(both));
                }
                Age::Past => {
                    allocated.set(own.allocated);
                    freed.set(own.freed);
                }
            }
        }
    }
    // What one table goes on from; with both anew there is nothing to carry.
    let kept = ages.into_iter().find(|(_, age)| *age == Age::Present).map(|(view, _)| view);
    let marks = kept.map_or([(0, 0); 2], |view| parts.marks(view));
    for ([low, high], mark) in words[word::CARRY].as_chunks().0.iter().zip(marks) {
        low.set(mark.0 as u64);
        high.set(mark.1 as u64);
    }
    words[word::CARRY_OF].set(kept.map_or(0, |view| view as u64));
    for ([_, _, low, high], own) in words[word::OWN].as_chunks().0.iter().zip(parts.own) {
        low.set(own.current() as u64);
        high.set(own.current() as u64);
    }
    words[word::EPOCHS].set(now.0);
}

/// Sums that several threads write: allocated, in use, least and most in use; of blocks, then of bytes.
///
/// Relaxed throughout: each number stands alone, and nothing else is published by it.
#[derive(Clone, Copy)]
struct Shared<'r>(&'r [Word; SHARED_MEMORY]);

impl Shared<'_> {
    fn record(self, change: MemoryChange) {
        for ([allocated, current, low, high], (more, less)) in self.0.as_chunks().0.iter().zip(change.pairs()) {
            if more != 0 {
                allocated.fetch_add(more, Ordering::Relaxed);
            }
            let change = more.wrapping_sub(less);
            let current = current.fetch_add(change, Ordering::Relaxed).wrapping_add(change) as i64;
            // Rarely more than two loads: a new extreme is rare.
            if current > high.whole() as i64 {
                high.update(|before| current.max(before as i64) as u64);
            }
            if current < low.whole() as i64 {
                low.update(|before| current.min(before as i64) as u64);
            }
        }
    }

    fn read(self) -> MemorySummary {
        let mut shown = [MemoryUse::default(); 2];
        for (shown, [allocated, current, low, high]) in shown.iter_mut().zip(self.0.as_chunks().0) {
            let current = current.whole() as i64;
            // Somebody may be between the two numbers, or was when they were truncated: what is in use is right.
            let allocated = (allocated.whole() as i64).max(current).max(0);
            let (allocated, freed) = (allocated as u64, allocated.wrapping_sub(current) as u64);
            let (low, high) = ((low.whole() as i64).min(current), (high.whole() as i64).max(current));
            *shown = MemoryUse { allocated, freed, low, high };
        }
        MemorySummary::of(shown)
    }

    /// TRUNCATE. A change at this very moment may leave its mark as low or high behind, or be taken off in part; what is in use is right.
    fn truncate(self) {
        for [allocated, current, low, high] in self.0.as_chunks().0 {
            // What is in use, not less by what came and went: of two truncations at once the second takes off nothing.
            allocated.update(|_| (current.whole() as i64).max(0) as u64);
            low.swap(current.whole(), Ordering::Relaxed);
            high.swap(current.whole(), Ordering::Relaxed);
        }
    }
}

/// What an actor needs to count memory.
#[derive(Debug)]
pub(crate) struct Recorder<'r> {
    /// The actor's own sums by instrument of memory; none without a slot.
    own: &'r [MemoryWords],
    first_class: usize,
    slot: Option<&'r SlotWords>,
}

impl<'r> Recorder<'r> {
    /// For the actor of this slot, if it has one.
    pub(crate) fn new(region: &Region<'r>, slot: Option<(usize, &'r SlotWords)>) -> Recorder<'r> {
        Recorder {
            own: slot.map_or(&[], |(slot, _)| region.arrays_of::<MEMORY>(Section::MemoryStats, slot)),
            first_class: region.first_memory_class(),
            slot: slot.map(|(_, words)| words),
        }
    }

    /// Counts a change in the sums of the actor.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn count(&self, region: &Region<'_>, class: Class, change: MemoryChange) {
        match (self.own.get(class.index().wrapping_sub(self.first_class)), self.slot) {
            (Some(words), Some(slot)) => {
                let epochs = slot::memory_epochs(slot);
                record(words, epochs, change, || honour(words, epochs, slot::memory_first_epochs(slot)));
            }
            _ => count_shared(region, class, change),
        }
    }
}

/// Counts a change in the sums that all threads share.
#[cold]
pub(crate) fn count_shared(region: &Region<'_>, class: Class, change: MemoryChange) {
    let shared = region.arrays::<SHARED_MEMORY>(Section::SharedMemoryStats);
    if let Some(words) = shared.get(class.index().wrapping_sub(region.first_memory_class())) {
        Shared(words).record(change);
    }
}

impl<'r> Region<'r> {
    /// The places of the classes of memory: they are behind all others.
    pub(crate) fn memory_classes(&self) -> impl ExactSizeIterator<Item = Class> + Clone + use<> {
        (self.first_memory_class()..self.class_count()).map(|index| Class(index as u16))
    }

    pub(crate) fn first_memory_class(&self) -> usize {
        self.class_count().saturating_sub(self.arrays::<SHARED_MEMORY>(Section::SharedMemoryStats).len())
    }

    /// Whether the class is one of memory.
    pub(crate) fn is_memory(&self, class: Class) -> bool {
        class.index() >= self.first_memory_class()
    }

    fn memory_of(&self, slot: usize, class: Class) -> Option<&'r MemoryWords> {
        let class = class.index().checked_sub(self.first_memory_class())?;
        self.arrays_of::<MEMORY>(Section::MemoryStats, slot).get(class)
    }

    /// The memory of an instrument, summed over all threads that ever were, since `memory_summary_global_by_event_name` was truncated. Of a
    /// thread that was stopped in the middle of counting, for longer than a reader waits, half a change is taken in.
    ///
    /// ```
    /// # use perfschema_core::{Actor, ActorIdentity, Config, Identity, InstrumentName, MemoryChange, Region, Setting, StaticRegion};
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &perfschema_timer::Timers::calibrate())?;
    /// # region.enable_everything();
    /// let class = region.register(InstrumentName::literal("memory/app/cache"), Setting::COUNTED)?;
    /// let actor = Actor::attach(&region, &ActorIdentity::default());
    /// actor.count_memory(region.switches(class), class, MemoryChange::allocated(100));
    /// actor.count_memory(region.switches(class), class, MemoryChange::resized(100, 40));
    /// let bytes = region.memory_summary_by_event_name(class).bytes;
    /// assert_eq!((bytes.allocated, bytes.freed, bytes.current(), bytes.high), (140, 100, 40, 100));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn memory_summary_by_event_name(&self, class: Class) -> MemorySummary {
        let mut sum = MemorySummary::default();
        let shared = self.arrays::<SHARED_MEMORY>(Section::SharedMemoryStats);
        let index = class.index().checked_sub(self.first_memory_class());
        if let Some(words) = index.and_then(|index| shared.get(index)) {
            sum.add(&Shared(words).read());
        }
        for (slot, words) in slot::used(self) {
            if let Some(memory) = self.memory_of(slot, class) {
                let ((parts, epochs), _) = read(self.patience(), memory, || slot::memory_epochs(words));
                sum.add(&parts.view_now(View::Global, epochs, epochs));
            }
        }
        sum
    }

    /// The memory of an instrument in a slot whose owner's first epochs were these, and whether it is whole; None for a class that is
    /// none of memory.
    pub(crate) fn memory_summary_by_thread(&self, slot: usize, class: Class, first: Epochs) -> Option<(MemorySummary, bool)> {
        let (words, memory) = (self.arrays::<SLOT>(Section::Slots).get(slot)?, self.memory_of(slot, class)?);
        let ((parts, epochs), settled) = read(self.patience(), memory, || slot::memory_epochs(words));
        Some((parts.view_now(View::Thread, epochs, first), settled))
    }

    /// TRUNCATE of `memory_summary_global_by_event_name` for the sums that no thread owns.
    pub(crate) fn truncate_shared_memory(&self) {
        for words in self.arrays::<SHARED_MEMORY>(Section::SharedMemoryStats) {
            Shared(words).truncate();
        }
    }
}

/// For models: what `memory_summary_global_by_event_name` shows of one owner; None if the attempt did not succeed.
#[cfg(perfschema_loom)]
pub(crate) fn read_global(words: &MemoryWords) -> Option<MemorySummary> {
    let ((parts, epochs), settled) = read(&Patience::default(), words, || Epochs(0));
    settled.then(|| parts.view_now(View::Global, epochs, epochs))
}

/// Reader: the words, and the slot's epochs no older than theirs; and whether they are whole.
fn read(patience: &Patience, words: &MemoryWords, epochs: impl Fn() -> Epochs) -> ((Parts, Epochs), bool) {
    stat::settle(patience, &words[word::VERSION], |_| {
        let parts = Parts::load(words);
        (parts, epochs())
    })
}
