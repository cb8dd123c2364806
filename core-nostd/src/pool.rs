//! Places that are claimed, used and given back: the slots of actors, the instances of locks, sockets and files, the rows of `setup_actors`.
//!
//! A place is a state word, and other words that say what is there. The protocol is the same for all, and stands only here:
//! ```text
//!            claim: [P1], [P2]                 publish: [P3]
//!   FREE v ────────────────────→ CLAIMED v+1 ────────────────→ LIVE v+1
//!     ↑                                                           │
//!     └──────────────────── release: FREE v+1, [P4] ──────────────┘
//!
//! owner                                          reader, one attempt
//!   state := CLAIMED  [P1] Acquire, if FREE        s := state       [P5] Acquire    LIVE, else free or changed
//!   fence             [P2] Release                 o[i] := word[i]  Relaxed
//!   word[i] := …           Relaxed                 fence            [P6] Acquire
//!   state := LIVE     [P3] Release                 state again      Relaxed         differs from s: changed
//!      … in use …
//!   state := FREE     [P4] Release, if still LIVE
//! ```
//! An owner who writes words that readers look at takes the place from itself: CHANGING in place of CLAIMED, so that a forked child, where
//! nobody goes on writing, knows that somebody lives there.
//!
//! The state word is the place's version: a reader that sees the same LIVE state before and after has words of one owner only. Without
//! `[P2]` it may see a word of the next owner under the state of the one before; without `[P6]` its second look may come before the words.

use crate::sync::{Ordering, Word, fence};

const FREE: u64 = 0;
const CLAIMED: u64 = 1;
const LIVE: u64 = 2;
/// Claimed by its owner.
const CHANGING: u64 = CLAIMED | LIVE;
const STATE_BITS: u64 = 3;

/// Which owner of a place this is, counted from its first: what is above the state bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version(u64);

impl Version {
    const fn of(state: u64) -> Version {
        Version(state & !STATE_BITS)
    }

    /// As a number, whose two last bits are zero.
    pub(crate) const fn number(self) -> u64 {
        self.0
    }

    const fn next(self) -> Version {
        Version(self.0.wrapping_add(STATE_BITS + 1))
    }

    const fn state(self, state: u64) -> u64 {
        self.0 | state
    }
}

/// A place that was claimed: its words are the claimer's alone to write, and nobody reads them until it is published.
#[derive(Debug)]
#[must_use = "a place that is never published is lost"]
pub(crate) struct Claim<'r> {
    state: &'r Word,
    version: Version,
    /// CLAIMED or CHANGING.
    held: u64,
}

/// Takes the place, if it is free.
pub(crate) fn claim(state: &Word) -> Option<Claim<'_>> {
    claim_from(state, FREE, CLAIMED)
}

/// Takes the place, if nobody was ever there. Its first access is a write: of memory that was only read, a system maps the page of zeros
/// that all share, and to exchange that at the first write it interrupts every processor that runs the program.
pub(crate) fn claim_unused(state: &Word) -> Option<Claim<'_>> {
    take(state, FREE, CLAIMED)
}

/// Takes the place from its owner, who lives on there as the next one: to write words that readers look at. None if somebody else does so
/// at this moment, or the place is not live.
pub(crate) fn claim_again(state: &Word) -> Option<Claim<'_>> {
    claim_from(state, LIVE, CHANGING)
}

fn claim_from(state: &Word, from: u64, held: u64) -> Option<Claim<'_>> {
    let seen = state.get();
    if seen & STATE_BITS == from { take(state, seen, held) } else { None }
}

fn take(state: &Word, seen: u64, held: u64) -> Option<Claim<'_>> {
    let version = Version::of(seen).next();
    // [P1] Acquire: pairs with [P4] of the owner before, whose words this owner continues or writes over.
    state.compare_exchange(seen, version.state(held), Ordering::Acquire).ok()?;
    // [P2] Release fence: pairs with the fence [P6]; whoever sees a word of the new owner sees the state above, too.
    fence(Ordering::Release);
    Some(Claim { state, version, held })
}

impl Claim<'_> {
    /// The number of this owner.
    pub(crate) fn version(&self) -> u64 {
        self.version.0
    }

    /// Shows the place to readers: all its words are written.
    pub(crate) fn publish(self) -> Version {
        let (claimed, live) = (self.version.state(self.held), self.version.state(LIVE));
        // Not a store: where a handler has forked meanwhile, the place may be somebody else's in the child.
        // [P3] Release: pairs with [P5].
        let _ = self.state.compare_exchange(claimed, live, Ordering::Release);
        self.version
    }

    /// Gives the place back: nobody has seen what was to be there.
    pub(crate) fn give_up(self) {
        let (claimed, free) = (self.version.state(self.held), self.version.state(FREE));
        // Not a store, as in publish().
        // [P4] Release: as in release().
        let _ = self.state.compare_exchange(claimed, free, Ordering::Release);
    }
}

/// Shows the place of the claim that had this number, if that has not happened yet. Whoever knows that its words are written may do so.
pub(crate) fn publish_claimed(state: &Word, version: u64) {
    let version = Version::of(version);
    // [P3] Release: as in publish().
    let _ = state.compare_exchange(version.state(CLAIMED), version.state(LIVE), Ordering::Release);
}

/// Gives the place back, published or not: the caller knows that nobody else claims, publishes or gives it back.
pub(crate) fn release_last(state: &Word) {
    let version = Version::of(state.get());
    // [P4] Release: as in release().
    state.store(version.state(FREE), Ordering::Release);
}

/// Gives the place back that somebody was about to take who is gone.
pub(crate) fn release_claimed(state: &Word) {
    if is_claimed(state) {
        release_last(state);
    }
}

/// The place is live again whose words somebody was changing who is gone; `mend` makes words of them that can be read. Returns whether
/// there was such a change.
pub(crate) fn finish_change(state: &Word, mend: impl FnOnce()) -> bool {
    let seen = state.get();
    let is_changing = seen & STATE_BITS == CHANGING;
    if is_changing {
        mend();
        // [P3] Release: as in publish().
        state.store(Version::of(seen).state(LIVE), Ordering::Release);
    }
    is_changing
}

/// Gives the place back, if it is still this owner's. Of two who give it back, one does.
pub(crate) fn release(state: &Word, version: Version) -> bool {
    // [P4] Release: pairs with [P1].
    state.compare_exchange(version.state(LIVE), version.state(FREE), Ordering::Release).is_ok()
}

/// Where to look first for a free place of a pool, so that one that is full is searched once. The lower half is the place's index, or [`FULL`]; the
/// upper one counts the places that were given back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hint<'r>(pub(crate) &'r Word);

/// There is no free place.
const FULL: u64 = u32::MAX as u64;

/// Searches until one is given up: each after the first one because others have taken or given back places meanwhile.
const SEARCHES: usize = if cfg!(perfschema_loom) { 3 } else { 16 };

impl Hint<'_> {
    /// Takes a free place, unless it is known that there is none: `claim` searches from an index on, and returns what it has taken with its index.
    pub(crate) fn search<T>(self, claim: impl Fn(usize) -> Option<(usize, T)>) -> Option<(usize, T)> {
        let Hint(hint) = self;
        for _ in 0..SEARCHES {
            let seen = hint.get();
            // [I1] Acquire fence: pairs with [I2]; what was given back before is found free.
            fence(Ordering::Acquire);
            let start = seen & FULL;
            // It stays so until a place of the pool is given back.
            if start == FULL {
                break;
            }
            if let Some(found) = claim(usize::try_from(start).unwrap_or(usize::MAX)) {
                // Compared, so that no number of those given back returns.
                let _ = hint.compare_exchange(seen, seen & !FULL | (found.0 as u64 + 1), Ordering::Relaxed);
                return Some(found);
            }
            // Not if one was given back meanwhile, which may have been too late for the search.
            if hint.compare_exchange(seen, seen | FULL, Ordering::Relaxed).is_ok() {
                break;
            }
        }
        None
    }

    /// The place of this index is free: the pool is not full any more, nor will it be taken for full by who began to search before.
    pub(crate) fn give_back(self, index: usize) {
        self.give_back_as(|_| index as u64);
    }

    /// The same where each search begins at the first place that may be free: none before the one that the hint says is.
    pub(crate) fn give_back_in_order(self, index: usize) {
        self.give_back_as(|start| start.min(index as u64));
    }

    fn give_back_as(self, start: impl Fn(u64) -> u64) {
        let Hint(hint) = self;
        let mut seen = hint.get();
        loop {
            let free = (seen >> 32).wrapping_add(1) << 32 | start(seen & FULL);
            // [I2] Release: pairs with [I1].
            match hint.compare_exchange(seen, free, Ordering::Release) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// How many places were given back, and where a search begins; nowhere if there is none.
    #[cfg(all(test, not(perfschema_loom)))]
    pub(crate) fn parts(self) -> (u64, Option<u64>) {
        let Hint(hint) = self;
        (hint.get() >> 32, Some(hint.get() & FULL).filter(|start| *start != FULL))
    }
}

/// Who lives there at this moment. No reader's look: nothing is known of the other words.
pub(crate) fn live(state: &Word) -> Option<Version> {
    let seen = state.get();
    is_live(seen).then_some(Version::of(seen))
}

/// Whether this is the state of a place in which somebody lives.
pub(crate) const fn is_live(state: u64) -> bool {
    state & STATE_BITS == LIVE
}

/// Whether somebody is about to be there.
pub(crate) fn is_claimed(state: &Word) -> bool {
    state.get() & STATE_BITS == CLAIMED
}

/// Whether nobody is there, or about to be.
pub(crate) fn is_free(state: &Word) -> bool {
    state.get() & STATE_BITS == FREE
}

/// Whether anybody was ever there.
pub(crate) fn was_used(state: &Word) -> bool {
    state.get() != 0
}

/// What a reader finds in a place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Look<T> {
    Free,
    Live(T),
    /// Claimed or released while it was read.
    Changed,
}

impl<T> Look<T> {
    /// What was found, if it was whole; otherwise it was being written.
    pub(crate) fn whole(found: Option<T>) -> Look<T> {
        found.map_or(Look::Changed, Look::Live)
    }

    /// What `look` makes of what was found.
    pub(crate) fn and_then<U>(self, look: impl FnOnce(T) -> Look<U>) -> Look<U> {
        match self {
            Look::Free => Look::Free,
            Look::Live(found) => look(found),
            Look::Changed => Look::Changed,
        }
    }
}

/// Reader: what `words` makes of one owner's words.
pub(crate) fn read<T>(state: &Word, words: impl FnOnce(Version) -> T) -> Look<T> {
    // [P5] Acquire: pairs with [P3]; the words are at least as new as the state.
    let seen = state.load(Ordering::Acquire);
    match seen & STATE_BITS {
        FREE => return Look::Free,
        LIVE => {}
        _ => return Look::Changed,
    }
    let version = Version::of(seen);
    let found = words(version);
    if still(state, version) { Look::Live(found) } else { Look::Changed }
}

/// Reader: what `words` makes of one owner's words where the caller knows that an owner has written them, though the place may not be
/// published yet, or be free again. `born` says which claim that was; of a later one the words are whole unless it is claimed.
pub(crate) fn read_whole<T>(state: &Word, born: impl FnOnce() -> u64, words: impl FnOnce() -> T) -> Option<T> {
    // [P5] Acquire: as in read().
    let before = state.load(Ordering::Acquire);
    let version = Version::of(before);
    if before & CLAIMED != 0 && Version::of(born()) != version {
        return None;
    }
    let found = words();
    fence(Ordering::Acquire); // [P6]
    (Version::of(state.get()) == version).then_some(found)
}

/// Reader: whether everything read since the place was seen live belongs to that owner.
pub(crate) fn still(state: &Word, version: Version) -> bool {
    // [P6] Acquire fence: pairs with [P2]; if a word read above is the next owner's, the state below has changed, too.
    fence(Ordering::Acquire);
    state.get() == version.state(LIVE)
}
