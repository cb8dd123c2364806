//! A copy of a region is of no single moment: other threads go on while it is made, and after that until the process forks. The child's other
//! memory is of the moment of the fork. So the child adds to the copy what it lacks, and takes out of it what is only half there.

use crate::class::{self, Class};
use crate::file::{self, GONE, bucket};
use crate::region::{CLASS, FILE, INSTANCE, METRIC, METRIC_SHARED, METRIC_TEXTS, Region, SETUP_ACTOR, SOCKET, Section};
use crate::sync::{Ordering, Word};
use crate::{instance, io, metric, pool, socket};
use core::ops::Range;

/// Where the state of an entry is, and of a place the class: the same in all of them.
const STATE: usize = class::word::STATE;
const _: () = assert!(metric::word::STATE == STATE && instance::word::STATE == STATE && io::word::STATE == STATE);
const _: () = assert!(instance::word::CLASS == io::word::CLASS && file::word::STATE == STATE && socket::word::STATE == STATE);

impl Region<'_> {
    /// In the child, on memory that it still shares with its parent: adds to the copy what other threads have made known since it was made.
    ///
    /// Instruments and metrics are as the parent has them now. Locks, files and sockets may have come before the fork, and then the program's own memory,
    /// which is as it was at the fork, has their numbers, or behind it, and then they are nobody's: nobody knows. So their places are taken, and have no row.
    pub fn add_to_copy(&self, to: &[Word]) {
        let with_texts = |index: usize| {
            [(Section::MetricTexts, METRIC_TEXTS), (Section::SharedMetrics, METRIC_SHARED)].map(|(section, words)| {
                // Those of the region's own have none, and are always there.
                let first = self.place(section).offset + index.saturating_sub(metric::own_count()) * words;
                first..first + words
            })
        };
        self.add::<CLASS, 0>(to, Section::Classes, class::is_published, |_| [], |_, word| word);
        self.add::<METRIC, 2>(to, Section::Metrics, class::is_published, with_texts, |_, word| word);
        let without_class = |at, word| if at == io::word::CLASS { Class::NONE.0.into() } else { word };
        for pool in &class::POOLS {
            self.add::<INSTANCE, 0>(to, pool.instances, pool::is_live, |_| [], without_class);
        }
        self.add::<SOCKET, 0>(to, Section::SocketInstances, pool::is_live, |_| [], without_class);
        // As one that was deleted while it was open.
        let gone = |at, word| if at == file::word::REFERENCES { word | GONE } else { word };
        self.add::<FILE, 0>(to, Section::FileInstances, pool::is_live, |_| [], gone);
    }

    /// Adds the entries of one section that the copy has not, `as_copied`. `beside`: other words of an entry.
    fn add<const N: usize, const M: usize>(
        &self,
        to: &[Word],
        section: Section,
        is_there: impl Fn(u64) -> bool,
        beside: impl Fn(usize) -> [Range<usize>; M],
        as_copied: impl Fn(usize, u64) -> u64,
    ) {
        for (index, words) in self.arrays::<N>(section).iter().enumerate() {
            let first = self.place(section).offset + index * N;
            let Some(copied) = to.get(first + STATE) else { return };
            // [K2] Acquire: pairs with [C2], [P3]; the words are at least as new as the state.
            let state = words[STATE].load(Ordering::Acquire);
            // The copy last: a page of it that is not looked at takes no time.
            if !is_there(state) || is_there(copied.get()) {
                continue;
            }
            for at in beside(index).into_iter().flatten().chain(first + STATE + 1..first + N) {
                if let (Some(word), Some(copy)) = (self.words().get(at), to.get(at)) {
                    copy.set(as_copied(at.wrapping_sub(first), word.get()));
                }
            }
            copied.set(state);
        }
    }

    /// A row of `setup_actors` that others have replaced while it was copied is neither the one nor the other, and goes.
    // A second look as [P6] has it, without a fence: the words that were copied were each loaded with [K1].
    pub(super) fn drop_replaced_actors(&self, from: &[Word], to: &[Word]) {
        let place = self.place(Section::SetupActors);
        let states = (0..place.count).map(|row| place.offset + row * SETUP_ACTOR);
        for (before, copy) in states.filter_map(|state| from.get(state).zip(to.get(state))) {
            if pool::live(copy).is_some() && before.get() != copy.get() {
                pool::release_last(copy);
            }
        }
    }

    /// A place of a file may be as it was before another thread took it, or said what is there, and the bucket as it was after that.
    pub(crate) fn unlink_what_is_not_there(&self) {
        let files = self.arrays::<FILE>(Section::FileInstances);
        for bucket in self.section(Section::FileIndex) {
            for place in bucket::places(bucket.get()) {
                let is_there = files.get(place).is_some_and(|words| {
                    let own = self.bucket(words[file::word::HASH].get());
                    !pool::is_free(&words[file::word::STATE]) && own.is_some_and(|own| core::ptr::eq(own, bucket))
                });
                if !is_there && let Some(without) = bucket::without(bucket.get(), place) {
                    bucket.set(without);
                }
            }
        }
        // Nor is anything found there by whoever looks at all places.
        let free = files.iter().filter(|words| pool::is_free(&words[file::word::STATE]));
        free.filter(|words| words[file::word::REFERENCES].get() & !GONE != 0)
            .for_each(|words| words[file::word::REFERENCES].set(GONE));
    }
}
