//! Slots: the places of actors, claimed when one starts and freed when it ends, by the protocol of [`pool`].
//!
//! Sequence numbers go on from owner to owner ([`word::BASE`] says where the present one began), so that a record's version never returns.

use crate::event::{EventStore, STORES};
use crate::lost::Lost;
use crate::pool::{self, Hint, Version};
use crate::record::Sequence;
use crate::region::{Region, SLOT, Section, Text, header, read_text, write_text};
use crate::setup::Switches;
use crate::stat::{Epochs, View};
use crate::sync::{Ordering, Word};
use core::cell::Cell;
use core::num::NonZeroU64;

/// Words of a slot.
pub(crate) mod word {
    pub(crate) const STATE: usize = 0;
    pub(crate) const THREAD_ID: usize = 1;
    pub(crate) const OS_ID: usize = 2;
    pub(crate) const PARENT: usize = 3;
    /// [`Sequence`](crate::record::Sequence) of the last event before this owner's first.
    pub(crate) const BASE: usize = 4;
    pub(crate) const START_NS: usize = 6;
    /// Lengths of name, user and host, and the type, 16 bits each.
    pub(crate) const LENGTHS: usize = 7;
    /// What the owner loads at every event: a [`ThreadSetting`](super::ThreadSetting), written by those who change it.
    pub(crate) const MASK: usize = 8;
    pub(crate) const EPOCHS: usize = 9;
    /// The same for memory, which is truncated alone; and what they were when the present owner came.
    pub(crate) const MEMORY_EPOCHS: usize = 10;
    pub(crate) const MEMORY_FIRST_EPOCHS: usize = 11;
    /// As [`EPOCHS`], for stages.
    pub(crate) const STAGE_EPOCHS: usize = 12;
    /// And for statements.
    pub(crate) const STATEMENT_EPOCHS: usize = 13;
    /// And for transactions.
    pub(crate) const TRANSACTION_EPOCHS: usize = 14;
    pub(crate) const NAME: core::ops::Range<usize> = 16..32;
    pub(crate) const USER: core::ops::Range<usize> = 32..48;
    pub(crate) const HOST: core::ops::Range<usize> = 48..64;
}

/// How a thread came to be: column TYPE of `threads`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ThreadType {
    /// It works for a user: a connection.
    Foreground = 1,
    /// Any other thread.
    #[default]
    Background = 0,
}

/// Who an actor is, as its row in `threads` will say.
#[derive(Clone, Copy, Debug, Default)]
pub struct ActorIdentity<'a> {
    /// NAME, by convention `thread/<program>/<what it does>`; 128 bytes are kept.
    pub name: &'a str,
    /// TYPE.
    pub thread_type: ThreadType,
    /// PROCESSLIST_USER; 128 bytes are kept. Empty is NULL.
    pub user: &'a str,
    /// PROCESSLIST_HOST; 128 bytes are kept. Empty is NULL.
    pub host: &'a str,
    /// THREAD_OS_ID, 0 if there is none.
    pub os_id: u64,
    /// THREAD_ID of the thread that started this one, 0 if unknown.
    pub parent_thread_id: u64,
    /// When it started, on the recorder's monotonic clock in nanoseconds; 0 if unknown.
    pub start_monotonic_ns: u64,
}

/// An actor, as others know it while it has its slot: [`Region::has_actor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ActorId {
    pub(crate) thread_id: NonZeroU64,
    /// Where its slot is.
    pub(crate) slot: usize,
}

impl ActorId {
    /// THREAD_ID.
    pub fn thread_id(self) -> u64 {
        self.thread_id.get()
    }
}

impl Region<'_> {
    /// Whether the actor still has its slot. One place is looked at, however many there are.
    pub fn has_actor(&self, actor: ActorId) -> bool {
        let words = self.arrays::<SLOT>(Section::Slots).get(actor.slot);
        words.is_some_and(|words| matches!(look(words), Look::Live(owner) if owner.thread_id == actor.thread_id()))
    }
}

/// INSTRUMENTED and HISTORY of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadSetting {
    /// INSTRUMENTED: its events are recorded.
    pub instrumented: bool,
    /// HISTORY: and kept when they have ended.
    pub history: bool,
}

impl ThreadSetting {
    const INSTRUMENTED: u64 = 1;
    const HISTORY: u64 = 2;

    /// Bits that no class's switches have, for a part of the owner's THREAD_ID: see [`change`].
    // Where a word is two halves, [`PLAIN_SHOWN`](Switches::PLAIN_SHOWN) is one of them.
    const OWNER: u64 = 0xfc00_03fc & !(Switches::PLAIN_SHOWN | Switches::PLAIN_TIMED | Switches::PLAIN_UNKEPT);

    /// What is left of a class's switches, and where those have no bits the setting itself, and whose it is. The upper half is always the
    /// same, because both are not always read at one moment.
    fn mask(self, thread_id: u64) -> u64 {
        let kept = match (self.instrumented, self.history) {
            (false, _) => Switches::NOT_INSTRUMENTED,
            (true, false) => Switches::NO_HISTORY,
            (true, true) => u64::MAX,
        };
        let instrumented = if self.instrumented { Self::INSTRUMENTED } else { 0 };
        let history = if self.history { Self::HISTORY } else { 0 };
        (kept & !(Self::INSTRUMENTED | Self::HISTORY | Self::OWNER)) | Self::owner(thread_id) | instrumented | history
    }

    /// The last 14 bits of a thread's number, where a mask has room for them; but for those in whose place a switch is.
    fn owner(thread_id: u64) -> u64 {
        (thread_id << 2 | thread_id << 18) & Self::OWNER
    }

    fn from_mask(mask: u64) -> ThreadSetting {
        ThreadSetting { instrumented: mask & Self::INSTRUMENTED != 0, history: mask & Self::HISTORY != 0 }
    }
}

pub(crate) type SlotWords = [Word; SLOT];

/// A slot that was claimed; only its owner may release it.
#[derive(Clone, Debug)]
pub(crate) struct Claimed<'r> {
    pub(crate) index: usize,
    pub(crate) words: &'r SlotWords,
    hint: Hint<'r>,
    pub(crate) thread_id: u64,
    pub(crate) base: Sequence,
    version: Cell<Version>,
}

/// A number for a thread, never used before.
fn next_thread_id(region: &Region<'_>) -> u64 {
    // Relaxed: only that the numbers differ matters.
    region.header(header::LAST_THREAD_ID).fetch_add(1, Ordering::Relaxed).wrapping_add(1)
}

/// Where the first free slot may be.
pub(crate) fn hint<'r>(region: &Region<'r>) -> Hint<'r> {
    Hint(region.header(header::SLOT_HINT))
}

/// Takes the first free slot, where that is known to be. The pool being full is counted.
pub(crate) fn claim<'r>(region: &Region<'r>, identity: &ActorIdentity<'_>, setting: ThreadSetting) -> Option<Claimed<'r>> {
    let slots = region.arrays::<SLOT>(Section::Slots);
    let hint = hint(region);
    let claim = |start| {
        let mut slots = slots.iter().enumerate().skip(start);
        slots.find_map(|(index, words)| Some((index, (words, pool::claim(&words[word::STATE])?))))
    };
    let Some((index, (words, claim))) = hint.search(claim) else {
        region.count_lost(Lost::ThreadInstances);
        return None;
    };
    // Before anything is recorded there: a reader who knows of an event finds its slot.
    region.header(header::USED_SLOTS).update(|used| used.max(index as u64 + 1));
    let thread_id = next_thread_id(region);
    words[word::THREAD_ID].set(thread_id);
    write_identity(words, identity, setting);
    // The rows by thread start at zero, the global ones go on.
    for epochs in STORES.map(|store| epochs_word(words, store)).into_iter().chain([&words[word::MEMORY_EPOCHS]]) {
        epochs.update(|epochs| Epochs(epochs).next(View::Thread).0);
    }
    words[word::MEMORY_FIRST_EPOCHS].set(words[word::MEMORY_EPOCHS].get());
    let base = Sequence::from_word(words[word::BASE].get());
    Some(Claimed { index, words, hint, thread_id, base, version: Cell::new(claim.publish()) })
}

fn write_identity(words: &SlotWords, identity: &ActorIdentity<'_>, setting: ThreadSetting) {
    let lengths = [
        write_text(&words[word::NAME], identity.name),
        write_text(&words[word::USER], identity.user),
        write_text(&words[word::HOST], identity.host),
        identity.thread_type as usize,
    ];
    words[word::LENGTHS].set(lengths.iter().rev().fold(0, |packed, &length| packed << 16 | length as u64));
    words[word::OS_ID].set(identity.os_id);
    words[word::PARENT].set(identity.parent_thread_id);
    words[word::START_NS].set(identity.start_monotonic_ns);
    words[word::MASK].set(setting.mask(words[word::THREAD_ID].get()));
}

impl Claimed<'_> {
    /// Gives the slot back. `sequence` is that of the last event.
    pub(crate) fn release(&self, sequence: Sequence) {
        // Where a handler has forked before it was known whose the slot is, the child may have given it to somebody else.
        if pool::live(&self.words[word::STATE]) != Some(self.version.get()) {
            return;
        }
        // A reader may pair the new BASE with the old records and find none of them: the owner is gone anyway.
        self.words[word::BASE].set(sequence.0);
        if pool::release(&self.words[word::STATE], self.version.get()) {
            self.hint.give_back_in_order(self.index);
        }
    }

    /// The owner says anew who it is; its THREAD_ID and its sums stay.
    pub(crate) fn identify(&self, identity: &ActorIdentity<'_>, setting: ThreadSetting) {
        if let Some(claim) = pool::claim_again(&self.words[word::STATE]) {
            write_identity(self.words, identity, setting);
            self.version.set(claim.publish());
        }
    }
}

/// The word that the owner ands to every switch.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn mask_word(words: &SlotWords) -> &Word {
    &words[word::MASK]
}

/// The slot's epochs for memory.
pub(crate) fn memory_epochs(words: &SlotWords) -> Epochs {
    Epochs(words[word::MEMORY_EPOCHS].get())
}

/// What they were when the present owner came.
pub(crate) fn memory_first_epochs(words: &SlotWords) -> Epochs {
    Epochs(words[word::MEMORY_FIRST_EPOCHS].get())
}

/// The word of the slot's epochs for the sums of one class of events.
#[cfg_attr(not(debug_assertions), inline(always))]
fn epochs_word<'r>(words: &'r SlotWords, store: &EventStore) -> &'r Word {
    // The remainder, so that nothing can panic: the compiler does not know what a store names.
    &words[store.epochs % SLOT]
}

/// Those epochs.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn epochs(words: &SlotWords, store: &EventStore) -> Epochs {
    Epochs(epochs_word(words, store).get())
}

/// TRUNCATE of one of the two tables of those sums, for one slot.
pub(crate) fn bump_epoch(words: &SlotWords, store: &EventStore, view: View) {
    epochs_word(words, store).update(|epochs| Epochs(epochs).next(view).0);
}

/// TRUNCATE of the table of the events of one class that run, for one slot.
pub(crate) fn bump_current(words: &SlotWords, store: &EventStore) {
    epochs_word(words, store).update(|epochs| Epochs(epochs).next_current().0);
}

/// TRUNCATE of one of the memory tables, for one slot.
pub(crate) fn bump_memory_epoch(words: &SlotWords, view: View) {
    words[word::MEMORY_EPOCHS].update(|epochs| Epochs(epochs).next(view).0);
}

/// Whether somebody is taking the slot at this moment.
pub(crate) fn is_claimed(words: &SlotWords) -> bool {
    pool::is_claimed(&words[word::STATE])
}

/// Shows the slot of whoever takes it at this moment.
#[cfg(all(test, not(miri)))]
pub(crate) fn publish_claimed(words: &SlotWords) {
    pool::publish_claimed(&words[word::STATE], words[word::STATE].get());
}

/// In a forked child: the owner is not there. Its number stays taken, so that nobody takes the next owner for it.
pub(crate) fn forget(words: &SlotWords) {
    let (state, rest) = words.split_at(word::STATE + 1);
    state.iter().for_each(pool::release_last);
    rest.iter().filter(|word| word.get() != 0).for_each(|word| word.set(0));
}

/// Whether anybody ever owned the slot.
pub(crate) fn was_used(words: &SlotWords) -> bool {
    pool::was_used(&words[word::STATE])
}

/// The slots that anybody ever recorded in, each with its index. In a large region most slots are never used, and sums are made for each
/// instrument.
pub(crate) fn used<'r>(region: &Region<'r>) -> impl Iterator<Item = (usize, &'r SlotWords)> {
    let slots = region.arrays::<SLOT>(Section::Slots).iter().enumerate();
    let used = usize::try_from(region.header(header::USED_SLOTS).get()).unwrap_or(usize::MAX);
    slots.take(used).filter(|(_, words)| was_used(words))
}

/// Who owns a slot, as a reader sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    version: Version,
    pub(crate) thread_id: u64,
    pub(crate) os_id: u64,
    pub(crate) parent_thread_id: u64,
    pub(crate) base: Sequence,
    pub(crate) setting: ThreadSetting,
    pub(crate) foreground: bool,
    pub(crate) memory_first_epochs: Epochs,
    lengths: u64,
}

/// Reader: when the owner started, on its monotonic clock in nanoseconds, if it says; valid if the slot is [`still`] the owner's afterwards.
pub(crate) fn start_ns(words: &SlotWords) -> Option<u64> {
    Some(words[word::START_NS].get()).filter(|&ns| ns != 0)
}

/// What a reader finds in a slot.
pub(crate) type Look = pool::Look<Owner>;

/// Reader: the owner's numbers, whole.
pub(crate) fn look(words: &SlotWords) -> Look {
    pool::read(&words[word::STATE], |version| {
        let lengths = words[word::LENGTHS].get();
        Owner {
            version,
            thread_id: words[word::THREAD_ID].get(),
            os_id: words[word::OS_ID].get(),
            parent_thread_id: words[word::PARENT].get(),
            base: Sequence::from_word(words[word::BASE].get()),
            setting: ThreadSetting::from_mask(words[word::MASK].get()),
            foreground: lengths >> 48 == ThreadType::Foreground as u64,
            memory_first_epochs: memory_first_epochs(words),
            lengths,
        }
    })
}

/// Reader: whether everything read since [`look`] belongs to that owner.
pub(crate) fn still(words: &SlotWords, owner: &Owner) -> bool {
    pool::still(&words[word::STATE], owner.version)
}

/// Reader: the owner's name, user and host; valid if the slot is [`still`] the owner's afterwards.
pub(crate) fn texts(words: &SlotWords, owner: &Owner) -> [Text<128>; 3] {
    let length = |i: u32| owner.lengths >> (16 * i) & 0xffff;
    [read_text(&words[word::NAME], length(0)), read_text(&words[word::USER], length(1)), read_text(&words[word::HOST], length(2))]
}

/// Changes INSTRUMENTED and HISTORY of the owner that was looked at, and returns whether they are others now: of nobody, if another owner
/// came meanwhile. (It is told by the last bits of its THREAD_ID, unless 2¹⁴ threads came at that moment, or 2¹⁰ where a word is two halves.)
pub(crate) fn change<E>(
    words: &SlotWords,
    owner: &Owner,
    change: impl Fn(ThreadSetting) -> Result<ThreadSetting, E>,
) -> Result<bool, E> {
    words[word::MASK].try_update(|mask| {
        let is_owners = mask & ThreadSetting::OWNER == ThreadSetting::owner(owner.thread_id);
        if is_owners { Ok(change(ThreadSetting::from_mask(mask))?.mask(owner.thread_id)) } else { Ok(mask) }
    })
}

#[cfg(all(test, not(perfschema_loom)))]
mod tests {
    use super::*;

    /// What a mask has besides takes no place of any switch, of whichever thread it is.
    #[test]
    fn a_mask_leaves_what_its_setting_says() {
        let may_be_set = 0x03ff_fc00 | Switches::PLAIN_SHOWN | Switches::PLAIN_TIMED | Switches::PLAIN_UNKEPT;
        let kept = |instrumented, history| match (instrumented, history) {
            (false, _) => 0,
            (true, false) => may_be_set & Switches::NO_HISTORY,
            (true, true) => may_be_set,
        };
        for thread_id in 0..if cfg!(miri) { 2048 } else { 1 << 15 } {
            for (instrumented, history) in [(false, false), (false, true), (true, false), (true, true)] {
                let setting = ThreadSetting { instrumented, history };
                let mask = setting.mask(thread_id);
                assert_eq!(mask & may_be_set, kept(instrumented, history), "{setting:?} of {thread_id}");
                assert_eq!(ThreadSetting::from_mask(mask), setting);
                if cfg!(not(target_has_atomic = "64")) {
                    assert_eq!(mask >> 32, u64::from(u32::MAX), "the half that may be older is always the same");
                }
            }
        }
    }

    /// The first free one is found without a look at those before it, and nobody looks where none is free.
    #[test]
    fn a_hint_says_from_where_on_a_slot_is_free() {
        use crate::{Config, Identity, timer::MockClock};
        let words: Vec<Word> = (0..Config::SMALL.words()).map(|_| Word::new(0)).collect();
        let region = Region::create(&words, &Config::SMALL, &Identity::default(), &MockClock::new().timers()).expect("it fits");
        let setting = ThreadSetting { instrumented: true, history: true };
        let claim = || claim(&region, &ActorIdentity::default(), setting);
        let slots = region.arrays::<SLOT>(Section::Slots).len();
        let hint = || hint(&region).parts().1;
        let mut claimed: Vec<_> = (0..slots)
            .map(|index| {
                assert_eq!(hint(), Some(index as u64));
                claim().expect("there is room")
            })
            .collect();
        assert_eq!(claimed.iter().map(|claimed| claimed.index).collect::<Vec<_>>(), (0..slots).collect::<Vec<_>>());
        assert!(claim().is_none() && claim().is_none());
        assert_eq!((hint(), region.lost(Lost::ThreadInstances)), (None, 2));
        // The first that is free is taken first, in whatever order they were given back: what was never used stays so.
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            order.iter().for_each(|&index: &usize| claimed[index].release(claimed[index].base));
            assert_eq!(hint(), Some(0));
            for (index, place) in claimed.iter_mut().enumerate().take(3) {
                *place = claim().expect("there is room");
                assert_eq!((place.index, hint()), (index, Some(index as u64 + 1)));
            }
            assert!(claim().is_none());
        }
        // Given back once: the next owner's is not.
        let old = claimed[1].clone();
        claimed[1].release(claimed[1].base);
        let _next = claim().expect("there is room");
        old.release(old.base);
        assert!(claim().is_none());
    }
}
