//! The only file that names atomics: the 64-bit [`Word`] that a region is made of, and fences.
//!
//! | target | a word is | read-modify-write |
//! |---|---|---|
//! | 64-bit atomics | one `AtomicU64` | native |
//! | no 64-bit atomics (thumbv6m, thumbv7em, riscv32) | two `AtomicU32`, same eight bytes in memory | inside a critical section |
//! | `--cfg perfschema_loom` | loom's `AtomicU64`, or unwatched | loom's |
//!
//! Without 64-bit atomics a word is two halves. It is therefore only read by others as payload behind a version (a tear is then
//! discarded), or it is a version itself, of which the low half decides (where that comes round, see `store_version`), or one of switches,
//! where an older high half does no harm, or a sum that several threads write, or what changes while an event runs, which are read by
//! [`whole`](Word::whole).
//! Plain loads and stores never need compare-and-swap; the few read-modify-write operations below are for rare
//! paths (claiming, registering, settings) and for objects that several threads hold at once.

#[cfg(not(perfschema_loom))]
pub(crate) use core::sync::atomic::fence;
#[cfg(perfschema_loom)]
pub(crate) use loom::sync::atomic::fence;

use core::convert::Infallible;
/// For what is a reader's own, and no word of a region.
pub(crate) use core::sync::atomic::AtomicU32;
pub(crate) use core::sync::atomic::Ordering;

pub use word::Word;

/// Before each access to a word: the unit tests let an interrupt happen here. Not under Miri, which takes a minute for the least of it.
#[cfg(all(test, not(any(perfschema_loom, miri))))]
use crate::interrupt::step;
#[cfg(any(miri, not(any(test, perfschema_loom))))]
#[cfg_attr(not(debug_assertions), inline(always))]
fn step() {}

#[cfg(perfschema_loom)]
mod word {
    use super::Ordering;
    use loom::sync::atomic::AtomicU64;

    /// One 64-bit word of a region, in a model.
    ///
    /// Loom explores what each load of a watched word may return; the time for that is exponential in their number. So a model
    /// watches the words that its protocol is about. The others are unwatched: loads return the latest store, in the order in
    /// which loom runs the threads, and carry no order between threads, as a relaxed word behind a fence would. So assert nothing
    /// about an unwatched word, unless the threads have met since it was written.
    #[derive(Debug)]
    pub enum Word {
        /// Loom's: every value that the memory model allows is tried.
        Watched(AtomicU64),
        /// Not loom's: the latest value.
        Unwatched(core::sync::atomic::AtomicU64),
    }

    impl Default for Word {
        fn default() -> Self {
            Word::new(0)
        }
    }

    macro_rules! each {
        ($self:ident, $word:ident => $call:expr) => {
            match $self {
                Word::Watched($word) => $call,
                Word::Unwatched($word) => $call,
            }
        };
    }

    impl Word {
        /// A watched word that holds `value`; only within a model.
        pub fn new(value: u64) -> Self {
            Word::Watched(AtomicU64::new(value))
        }
        /// An unwatched word that holds `value`.
        pub const fn unwatched(value: u64) -> Self {
            Word::Unwatched(core::sync::atomic::AtomicU64::new(value))
        }
        #[track_caller]
        pub(crate) fn load(&self, ordering: Ordering) -> u64 {
            each!(self, word => word.load(ordering))
        }
        #[track_caller]
        pub(crate) fn store(&self, value: u64, ordering: Ordering) {
            each!(self, word => word.store(value, ordering));
        }
        #[track_caller]
        pub(crate) fn compare_exchange(&self, current: u64, new: u64, success: Ordering) -> Result<u64, u64> {
            each!(self, word => word.compare_exchange(current, new, success, Ordering::Relaxed))
        }
        #[track_caller]
        pub(crate) fn fetch_add(&self, value: u64, ordering: Ordering) -> u64 {
            each!(self, word => word.fetch_add(value, ordering))
        }
        #[track_caller]
        pub(crate) fn swap(&self, value: u64, ordering: Ordering) -> u64 {
            each!(self, word => word.swap(value, ordering))
        }
    }
}

#[cfg(all(not(perfschema_loom), target_has_atomic = "64"))]
mod word {
    use super::{Ordering, step};
    use core::sync::atomic::AtomicU64;

    /// One 64-bit word of a region.
    ///
    /// ```
    /// use perfschema_core::{Config, Identity, Region, Size, Word};
    /// // Where the size is known only when the program has started.
    /// let mut config = Config::SMALL;
    /// config.try_set(Size::MaxThreadInstances, 2 * std::thread::available_parallelism()?.get() as u64)?;
    /// let words: Vec<Word> = (0..config.words()).map(|_| Word::new(0)).collect();
    /// # let timers = perfschema_timer::Timers::calibrate();
    /// let region = Region::create(&words, &config, &Identity::default(), &timers)?;
    /// assert_eq!(region.size_bytes(), size_of_val(&words[..]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[derive(Debug, Default)]
    #[repr(transparent)]
    pub struct Word(AtomicU64);

    impl Word {
        /// A word that holds `value`.
        pub const fn new(value: u64) -> Self {
            Word(AtomicU64::new(value))
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn load(&self, ordering: Ordering) -> u64 {
            step();
            self.0.load(ordering)
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn store(&self, value: u64, ordering: Ordering) {
            step();
            self.0.store(value, ordering);
        }
        pub(crate) fn compare_exchange(&self, current: u64, new: u64, success: Ordering) -> Result<u64, u64> {
            step();
            self.0.compare_exchange(current, new, success, Ordering::Relaxed)
        }
        #[inline]
        pub(crate) fn fetch_add(&self, value: u64, ordering: Ordering) -> u64 {
            step();
            self.0.fetch_add(value, ordering)
        }
        pub(crate) fn swap(&self, value: u64, ordering: Ordering) -> u64 {
            step();
            self.0.swap(value, ordering)
        }
    }
}

#[cfg(all(not(perfschema_loom), not(target_has_atomic = "64")))]
mod word {
    use super::{Ordering, step};
    use core::sync::atomic::AtomicU32;

    /// One 64-bit word of a region, as two halves in the byte order of the target.
    #[derive(Debug, Default)]
    #[repr(C, align(8))]
    pub struct Word([AtomicU32; 2]);

    const LOW: usize = if cfg!(target_endian = "little") { 0 } else { 1 };
    const HIGH: usize = 1 - LOW;

    impl Word {
        /// A word that holds `value`.
        pub const fn new(value: u64) -> Self {
            let halves = [value as u32, (value >> 32) as u32];
            Word([AtomicU32::new(halves[LOW]), AtomicU32::new(halves[HIGH])])
        }
        /// The low half with `ordering`, then the high half: what a version needs, whose low half changes with every write.
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn load(&self, ordering: Ordering) -> u64 {
            step();
            let low = self.0[LOW].load(ordering);
            step();
            let high = self.0[HIGH].load(Ordering::Relaxed);
            (high as u64) << 32 | low as u64
        }
        /// The high half, then the low half with `ordering`.
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn store(&self, value: u64, ordering: Ordering) {
            step();
            self.0[HIGH].store((value >> 32) as u32, Ordering::Relaxed);
            step();
            self.0[LOW].store(value as u32, ordering);
        }
        /// A version, of which nobody sees an even one of a new half and an old one.
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn store_version(&self, value: u64, ordering: Ordering) {
            step();
            if self.0[HIGH].load(Ordering::Relaxed) == (value >> 32) as u32 {
                step();
                return self.0[LOW].store(value as u32, ordering);
            }
            self.carry(value);
        }
        /// Once in four thousand million versions; with the strongest ordering that a store has.
        #[cold]
        #[inline(never)]
        fn carry(&self, value: u64) {
            critical_section::with(|_| {
                // Odd for readers on other cores. Whoever sees the new high half sees that, too: the fence pairs with the one between a
                // reader's two looks.
                self.0[LOW].store(self.0[LOW].load(Ordering::Relaxed) | 1, Ordering::Relaxed);
                super::fence(Ordering::Release);
                self.0[HIGH].store((value >> 32) as u32, Ordering::Relaxed);
                self.0[LOW].store(value as u32, Ordering::Release);
            });
        }
        /// A version that means something also where it is odd.
        pub(crate) fn load_version(&self, ordering: Ordering) -> u64 {
            let seen = self.load(ordering);
            if seen.is_multiple_of(2) { seen } else { self.whole() }
        }
        // A critical section on one core orders everything, so the orderings asked for are met; and nothing interrupts it.
        pub(crate) fn compare_exchange(&self, current: u64, new: u64, _: Ordering) -> Result<u64, u64> {
            let seen = self.replace_if(|seen| (seen == current).then_some(new));
            if seen == current { Ok(seen) } else { Err(seen) }
        }
        pub(crate) fn fetch_add(&self, value: u64, _: Ordering) -> u64 {
            self.replace_if(|seen| Some(seen.wrapping_add(value)))
        }
        pub(crate) fn swap(&self, value: u64, _: Ordering) -> u64 {
            self.replace_if(|_| Some(value))
        }
        pub(crate) fn whole(&self) -> u64 {
            self.replace_if(|_| None)
        }

        fn replace_if(&self, new: impl FnOnce(u64) -> Option<u64>) -> u64 {
            step();
            critical_section::with(|_| {
                // Not by map(): built for size, that keeps an index that can be out of bounds, as far as a compiler sees.
                let low = u64::from(self.0[LOW].load(Ordering::Acquire));
                let seen = u64::from(self.0[HIGH].load(Ordering::Acquire)) << 32 | low;
                if let Some(new) = new(seen) {
                    self.0[HIGH].store((new >> 32) as u32, Ordering::Release);
                    self.0[LOW].store(new as u32, Ordering::Release);
                }
                seen
            })
        }
    }
}

impl Word {
    /// A relaxed load: payload behind a version, or a word of the caller's own.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn get(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }

    /// A relaxed load of a number that others change at any moment, and that has no version: never half of one value and half of another.
    #[cfg(any(perfschema_loom, target_has_atomic = "64"))]
    pub(crate) fn whole(&self) -> u64 {
        self.get()
    }

    /// A store of a version, at once.
    #[cfg(any(perfschema_loom, target_has_atomic = "64"))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn store_version(&self, value: u64, ordering: Ordering) {
        self.store(value, ordering);
    }

    /// A load of a version, at once.
    #[cfg(any(perfschema_loom, target_has_atomic = "64"))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn load_version(&self, ordering: Ordering) -> u64 {
        self.load(ordering)
    }

    /// A relaxed store: payload behind a version, or a word that one thread writes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn set(&self, value: u64) {
        self.store(value, Ordering::Relaxed);
    }

    /// The owner of a sum that others read whole, at any moment, adds to it: without a read-modify-write, where a word is written at once.
    #[cfg(any(perfschema_loom, target_has_atomic = "64"))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn grow(&self, by: u64) {
        self.set(self.get().wrapping_add(by));
    }

    /// As above.
    #[cfg(all(not(perfschema_loom), not(target_has_atomic = "64")))]
    pub(crate) fn grow(&self, by: u64) {
        self.fetch_add(by, Ordering::Relaxed);
    }

    /// Changes the value by `change`, again and again until nobody interfered.
    pub(crate) fn update(&self, mut change: impl FnMut(u64) -> u64) {
        match self.try_update(|value| Ok::<u64, Infallible>(change(value))) {
            Ok(_) => {}
            Err(never) => match never {},
        }
    }

    /// The same where `change` may refuse. Returns whether the value is another one now.
    pub(crate) fn try_update<E>(&self, mut change: impl FnMut(u64) -> Result<u64, E>) -> Result<bool, E> {
        let mut seen = self.whole();
        loop {
            let new = change(seen)?;
            match self.compare_exchange(seen, new, Ordering::AcqRel) {
                Ok(_) => return Ok(new != seen),
                Err(now) => seen = now,
            }
        }
    }
}

/// A number that one owner counts up, and nobody else looks at. It is added to where it lies, and loaded from there: of a
/// [`Cell`](core::cell::Cell) compilers know what was put there, so they add in a register and store that, which is an instruction more.
#[derive(Debug)]
pub(crate) struct Counter(counter::Number);

#[cfg(target_has_atomic = "64")]
mod counter {
    use core::sync::atomic::{AtomicU64, Ordering};

    #[derive(Debug)]
    pub(super) struct Number(AtomicU64);

    // Relaxed: there is one owner.
    impl Number {
        pub(super) const fn new(value: u64) -> Number {
            Number(AtomicU64::new(value))
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(super) fn get(&self) -> u64 {
            self.0.load(Ordering::Relaxed)
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(super) fn set(&self, value: u64) {
            self.0.store(value, Ordering::Relaxed);
        }
    }
}

#[cfg(not(target_has_atomic = "64"))]
mod counter {
    pub(super) type Number = core::cell::Cell<u64>;
}

impl Counter {
    pub(crate) const fn new(value: u64) -> Counter {
        Counter(counter::Number::new(value))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn get(&self) -> u64 {
        self.0.get()
    }

    pub(crate) fn set(&self, value: u64) {
        self.0.set(value);
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn add(&self, by: u64) {
        self.0.set(self.0.get().wrapping_add(by));
    }
}
