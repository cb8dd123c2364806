//! An event record: versioned, written in place by one thread, read by any number.
//!
//! ```text
//! writer (owner of the ring)                  reader, one attempt
//!   version := 4n+1        Relaxed              v1 := version      [E5] Acquire    running (4n+2) or ended (4n+4), else busy
//!   fence                  [E1] Release         o[i] := word[i]    Relaxed
//!   word[i] := start       Relaxed              fence              [E6] Acquire
//!   version := 4n+2        [E2] Release         version again      Relaxed         differs from v1: changed
//!      … the event runs …
//!   version := 4n+3        Relaxed              ┐ where a word changes at the end
//!   fence                  [E3] Release         │ that readers look at before it
//!   word[k] := change      Relaxed              ┘
//!   word[j] := end         Relaxed
//!   version := 4n+4        [E4] Release
//! ```
//! `4n+1` is the [`Sequence`] of the event in its slot, and is never reused there, also not by the slot's next owner: so a version names
//! one event in one state, and a reader that sees the same version twice has words of that state only. Without `[E1]` a
//! reader may see a word of event n+1 under the version of event n; without `[E6]` its second look may come before the words.
//! On a target of 32 bits the low half of the version decides; it comes round after 2³⁰ events of one thread, all within one read.
//!
//! Whoever truncates a table does not touch the version: a word of its own says which version is hidden.

use crate::file::FileEvent;
use crate::region::RECORD;
use crate::setup::Switches;
use crate::socket::{SocketAddress, SocketEvent};
use crate::source::Site;
use crate::stage::StageProgress;
use crate::sync::{Ordering, Word, fence};

/// Words of a record; the first line holds all that a wait for a lock needs.
pub(crate) mod word {
    pub(crate) const VERSION: usize = 0;
    pub(crate) const WHAT: usize = 1;
    /// Ticks, of an event that is timed. Of one that is not, whatever: most that run then leave it as it was.
    pub(crate) const START: usize = 2;
    pub(crate) const OBJECT: usize = 3;
    pub(crate) const NESTING: usize = 4;
    pub(crate) const AMOUNT: usize = 5;
    pub(crate) const END: usize = 6;
    /// What began last before the end. There if WHAT says so: else it was the event itself.
    pub(crate) const END_EVENT: usize = 7;
    /// Long history only: the version of the event's record when it ended. In a ring that is there.
    pub(crate) const EVENT: usize = 8;
    /// Rings only: the records that are taken after it, and before it. The owner's alone, and no part of the event.
    pub(crate) const NEXT: usize = 8;
    pub(crate) const PREVIOUS: usize = 9;
    /// What TRUNCATE of `events_waits_current` hid; whoever truncates writes it. In the long history the owner does, where the event's record says so.
    pub(crate) const HIDDEN_CURRENT: usize = 10;
    /// What TRUNCATE of a history table hid.
    pub(crate) const HIDDEN_HISTORY: usize = 11;
    /// Files: which one, and FLAGS. There if WHAT says so.
    pub(crate) const FILE: usize = 13;
    pub(crate) const FLAGS: usize = 14;
    /// Sockets: the address. There if WHAT says so.
    pub(crate) const PEER: core::ops::Range<usize> = 13..16;
}

pub(crate) type RecordWords = [Word; RECORD];

/// Where one of these is among them.
pub(crate) fn index_in<T>(all: &[T], one: &T) -> usize {
    (core::ptr::from_ref(one) as usize).wrapping_sub(all.as_ptr() as usize) / size_of::<T>()
}

/// Four times the number of an event, counted on over all owners of its slot, and 1: the version with which its record begins, so that
/// nothing need be added there. To divide is left to readers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sequence(pub(crate) u64);

impl Sequence {
    const SHIFT: u32 = 2;
    /// From one event to the next.
    pub(crate) const STEP: u64 = 1 << Self::SHIFT;

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn from_number(number: u64) -> Sequence {
        Sequence(number << Self::SHIFT | WRITING_START)
    }

    /// That of a word that holds one, or 0 as nobody has written it.
    pub(crate) const fn from_word(word: u64) -> Sequence {
        Sequence(word | WRITING_START)
    }

    /// The event's number in the slot.
    pub(crate) const fn number(self) -> u64 {
        self.0 >> Self::SHIFT
    }

    /// EVENT_ID: its number among those of one owner, `base` being the last before the owner's first. 0 is none of them.
    pub(crate) const fn event_id(self, base: Sequence) -> u64 {
        self.number().saturating_sub(base.number())
    }

    /// The version of its record in one of its phases: [`WRITING_START`], [`RUNNING`], [`WRITING_END`], [`ENDED`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn version(self, phase: u64) -> u64 {
        self.0.wrapping_add(phase.wrapping_sub(WRITING_START))
    }

    /// That of the event whose record has this version while it runs, or while its end is written.
    const fn of_running(version: u64) -> Sequence {
        Sequence::from_word(version & !(ENDED - 1))
    }

    /// That of the event that a record with this version, an even one, holds.
    const fn of(version: u64) -> Sequence {
        Sequence::from_word(version.wrapping_sub(if is_ended(version) { ENDED } else { RUNNING }))
    }
}

/// What kind of event another one lies within: column NESTING_EVENT_TYPE. 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum EventType {
    Transaction = 1,
    Statement = 2,
    Stage = 3,
    Wait = 4,
}

impl EventType {
    pub(crate) const ALL: [EventType; 4] = [EventType::Transaction, EventType::Statement, EventType::Stage, EventType::Wait];
    /// MySQL's enum, in that order.
    pub(crate) const NAMES: &'static [&'static str] = &["TRANSACTION", "STATEMENT", "STAGE", "WAIT"];
}

/// The event that encloses what a thread does now: its number in the slot and its type in one word, 0 for none; the younger, the greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Enclosing(u64);

impl Enclosing {
    /// Nothing does.
    pub(crate) const NONE: Enclosing = Enclosing(0);

    /// Bits of the type, below the number.
    const SHIFT: u32 = 3;

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn event(sequence: Sequence, kind: EventType) -> Enclosing {
        // A sum, not an or: one instruction, because nobody tells the compiler what the lowest bits of a sequence are.
        const PHASE: u64 = WRITING_START << (Enclosing::SHIFT - Sequence::SHIFT);
        Enclosing((sequence.0 << (Self::SHIFT - Sequence::SHIFT)).wrapping_add((kind as u64).wrapping_sub(PHASE)))
    }

    /// The number of its type.
    const fn kind(self) -> u64 {
        self.0 & ((1 << Self::SHIFT) - 1)
    }

    /// Whether it is a wait.
    pub(crate) const fn is_wait(self) -> bool {
        self.kind() == EventType::Wait as u64
    }

    /// The same, but for transactions.
    pub(crate) fn unless_transaction(self) -> Enclosing {
        if self.kind() == EventType::Transaction as u64 { Enclosing::NONE } else { self }
    }

    /// EVENT_ID, as [`Sequence::event_id`], and the type.
    pub(crate) fn parts(self, base: Sequence) -> Option<(u64, EventType)> {
        let kind = EventType::ALL.into_iter().find(|kind| *kind as u64 == self.kind())?;
        Some((Sequence::from_number(self.0 >> Self::SHIFT).event_id(base), kind))
    }
}

/// What a record says from its start on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) what: What,
    pub(crate) object: u64,
    pub(crate) nesting: Enclosing,
    /// None if there is none, nor is to be one while the event runs.
    pub(crate) amount: Option<u64>,
    pub(crate) io: IoEvent,
}

/// What the record of a wait for io keeps besides what every wait has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoEvent {
    /// The wait is for none.
    #[default]
    None,
    /// A wait for a file.
    File(FileEvent),
    /// A wait for a socket.
    Socket(SocketEvent),
}

/// A record as it was at one moment, whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) sequence: Sequence,
    pub(crate) ended: bool,
    pub(crate) class: u16,
    pub(crate) source: u16,
    pub(crate) operation: u8,
    pub(crate) timed: bool,
    pub(crate) timer_index: u8,
    /// Of a statement: whether it has a digest.
    pub(crate) digest: bool,
    /// Whether it is to enter the history when it has ended.
    pub(crate) history: bool,
    pub(crate) start: u64,
    pub(crate) object: u64,
    pub(crate) nesting: Enclosing,
    pub(crate) amount: u64,
    pub(crate) io: IoEvent,
    pub(crate) end: u64,
    end_event: Sequence,
    /// In the long history: which event it is. There [`sequence`](Self::sequence) is that of the chunk.
    pub(crate) event: Sequence,
    pub(crate) hidden_history: bool,
    /// The version in [`word::HIDDEN_CURRENT`].
    hidden: u64,
}

impl Snapshot {
    /// The version under which it was read.
    fn version(&self) -> u64 {
        self.sequence.version(if self.ended { ENDED } else { RUNNING })
    }

    /// The last event that began before the end of this one, which the record is of.
    pub(crate) fn end_event(&self, event: Sequence) -> Sequence {
        self.end_event.max(event)
    }

    /// Whether TRUNCATE of `events_waits_current` hid this event, which is one of a ring, from that table.
    pub(crate) fn is_hidden_from_current(&self) -> bool {
        self.was_hidden_running() || self.hidden == self.version()
    }

    /// Whether TRUNCATE of `events_waits_current` hid this event while it ran: no table shows it any more. It has its place in the histories
    /// nevertheless, as in MySQL, so that nobody asks where an event ends.
    pub(crate) fn was_hidden_running(&self) -> bool {
        self.hidden == self.sequence.version(RUNNING)
    }
}

/// What a reader found in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read<T = Snapshot> {
    /// Nothing was ever written there.
    Free,
    /// A whole record.
    Whole(T),
    /// Being written, or overwritten while it was read.
    Changed,
}

const WRITING_START: u64 = 1;
const RUNNING: u64 = 2;
pub(crate) const WRITING_END: u64 = 3;
const ENDED: u64 = 4;

/// The phase of a version, of one that has ended 0: it is as much as the sequence that comes next.
const fn phase(version: u64) -> u64 {
    version % ENDED
}

/// What an event is, in one word: operation in the low 8 bits, whether the words of a file or of a socket are there in the next two, then
/// the switches, where the switches have them, whether there is an amount or another END_EVENT, the class, and the source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct What(u64);

impl What {
    /// That of a record.
    pub(crate) fn of(record: &RecordWords) -> What {
        What(record[word::WHAT].get())
    }

    /// That of the record of a wait, which its switches say since it began, and that there is an amount which is said now.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of_wait(switches: Switches, amount: Option<u64>) -> What {
        What(if amount.is_some() { switches.0 | What::HAS_AMOUNT } else { switches.0 })
    }

    /// All of it as a wait keeps it among its switches until it ends, which so need not be looked up.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn as_switches(self) -> Switches {
        Switches(self.0)
    }

    /// Of those the switches alone.
    pub(crate) fn switches_alone(of_wait: Switches) -> Switches {
        Switches(of_wait.0 & !What::ELSE)
    }

    /// What is no switch.
    const ELSE: u64 = u8::MAX as u64
        | What::HAS_FILE
        | What::HAS_SOCKET
        | What::CONCURRENT
        | What::HAS_AMOUNT
        | What::HAS_END_EVENT
        | (u16::MAX as u64) << Site::SOURCE_SHIFT;
    const HAS_FILE: u64 = 1 << 8;
    const HAS_SOCKET: u64 = 1 << 9;
    /// The event goes on beside others: what begins meanwhile does not lie within it. The owner's alone.
    const CONCURRENT: u64 = 1 << 27;
    /// AMOUNT is said: of most waits for locks there is none, and without it no store.
    const HAS_AMOUNT: u64 = 1 << 26;
    /// END_EVENT is said: of nearly all waits it is not, and without it no store.
    const HAS_END_EVENT: u64 = 1 << 30;

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(switches: Switches, site: Site) -> What {
        What(switches.0 | site.0)
    }

    /// That of a stage, a statement or a transaction.
    pub(crate) fn without_operation(switches: Switches, site: Site) -> What {
        What(switches.0 | site.0 | What::HAS_END_EVENT)
    }
}

// In one word with the switches.
const _: () = assert!(
    (What::CONCURRENT | What::HAS_AMOUNT | What::HAS_END_EVENT)
        & (Switches::PLAIN_SHOWN | Switches::PLAIN_TIMED | Switches::PLAIN_UNKEPT)
        == 0
);

/// Owner: the event begins. [`finish_start`] follows; the timer is read between the two.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn begin_start(record: &RecordWords, sequence: Sequence, start: &Start) -> What {
    record[word::VERSION].store_version(sequence.version(WRITING_START), Ordering::Relaxed);
    // [E1] Release fence: pairs with the fence [E6] of a reader that saw one of the words below.
    fence(Ordering::Release);
    let mut what = start.what.0;
    if let Some(amount) = start.amount {
        what |= What::HAS_AMOUNT;
        record[word::AMOUNT].set(amount);
    }
    match &start.io {
        IoEvent::None => {}
        IoEvent::File(file) => {
            what |= What::HAS_FILE;
            record[word::FILE].set(file.name);
            record[word::FLAGS].set(file.flags.into());
        }
        IoEvent::Socket(socket) => {
            what |= What::HAS_SOCKET;
            socket.address.write(&record[word::PEER]);
        }
    }
    record[word::WHAT].set(what);
    record[word::OBJECT].set(start.object);
    record[word::NESTING].set(start.nesting.0);
    What(what)
}

/// Owner: the event began, at `ticks` if it is timed, and is visible when this returns.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn finish_start(record: &RecordWords, ticks: Option<u64>) {
    if let Some(ticks) = ticks {
        record[word::START].set(ticks);
    }
    // [E2] Release: pairs with [E5].
    record[word::VERSION].store(record[word::VERSION].get().wrapping_add(1), Ordering::Release);
}

/// Owner: what encloses the event.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn nesting(record: &RecordWords) -> Enclosing {
    Enclosing(record[word::NESTING].get())
}

/// Owner: the wait that runs, as what encloses others; None if it does not.
pub(crate) fn as_enclosing(record: &RecordWords) -> Option<Enclosing> {
    let encloses = record[word::WHAT].get() & What::CONCURRENT == 0;
    encloses.then(|| running(record))
}

/// Owner: the wait that runs, as [`nesting`] of others names it.
pub(crate) fn running(record: &RecordWords) -> Enclosing {
    Enclosing::event(Sequence::of_running(record[word::VERSION].get()), EventType::Wait)
}

/// Owner: nothing lies within the event that runs.
pub(crate) fn set_concurrent(record: &RecordWords) {
    replace(&record[word::WHAT], record[word::WHAT].get() | What::CONCURRENT);
}

/// Owner: what `AMOUNT` says.
pub(crate) fn amount(record: &RecordWords) -> u64 {
    record[word::AMOUNT].get()
}

/// Owner: another event encloses the one that runs, as far as anybody knows who looks from now on. Readers see either: the words of a
/// running event are covered by `[E1]` of the next, as those of its start are.
pub(crate) fn enclose(record: &RecordWords, enclosing: Enclosing) {
    replace(&record[word::NESTING], enclosing.0);
}

/// Owner: how far the stage is that runs; as [`enclose`]. One more than the numbers, so that none is not 0; no more than one half of a word
/// says where those are two, so that only that changes: a wait has other things there, which readers need not look at whole.
pub(crate) fn set_progress(record: &RecordWords, progress: StageProgress) {
    let most = if cfg!(target_has_atomic = "64") { u64::MAX } else { u32::MAX.into() };
    replace(&record[word::OBJECT], progress.completed.saturating_add(1).min(most));
    replace(&record[word::AMOUNT], progress.estimated.saturating_add(1).min(most));
}

/// Owner: what [`set_progress`] has said.
pub(crate) fn progress(record: &RecordWords) -> StageProgress {
    let number = |word: usize| record[word].get().saturating_sub(1);
    StageProgress { completed: number(word::OBJECT), estimated: number(word::AMOUNT) }
}

/// Changes a word that readers look at while its version stays. Where it is two halves, and not the lower one alone changes, they look at it
/// [whole](Word::whole): after 2²⁹ events of a thread what encloses one is in both halves, and nothing is in none.
pub(crate) fn replace(word: &Word, value: u64) {
    if cfg!(target_has_atomic = "64") || (word.get() ^ value) >> 32 == 0 {
        word.set(value);
    } else {
        word.swap(value, Ordering::Relaxed);
    }
}

/// Owner: the event ends. [`finish_end`] follows; the timer is read between the two. `amount` is None if it is what it was at the start.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn begin_end(record: &RecordWords, amount: Option<u64>) {
    if let Some(amount) = amount {
        begin_change(record);
        record[word::WHAT].set(record[word::WHAT].get() | What::HAS_AMOUNT);
        record[word::AMOUNT].set(amount);
    }
}

/// Owner: the event ends, and this is what began last before that; not said of a wait where it is the event itself.
pub(crate) fn set_end_event(record: &RecordWords, end_event: Sequence) {
    // The words of the end alone nobody looks at while the event runs: no version is needed that says that they change. That this one is there
    // readers of what runs may see or not.
    record[word::END_EVENT].set(end_event.0);
    replace(&record[word::WHAT], record[word::WHAT].get() | What::HAS_END_EVENT);
}

/// Owner: what readers see of the event while it runs changes at its end. Nobody sees it until [`finish_end`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn begin_change(record: &RecordWords) {
    record[word::VERSION].set(record[word::VERSION].get() | WRITING_END);
    // [E3] Release fence: pairs with the fence [E6], as [E1] does.
    fence(Ordering::Release);
}

/// Owner: the event has ended, at `ticks` if it is timed. What is there otherwise nobody looks at. `changed` is whether the end began with
/// [`begin_change`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn finish_end(record: &RecordWords, changed: bool, ticks: Option<u64>) {
    if let Some(ticks) = ticks {
        record[word::END].set(ticks);
    }
    // What is added, and not what comes out, because that is one instruction.
    let ended = record[word::VERSION].get().wrapping_add(if changed { ENDED - WRITING_END } else { ENDED - RUNNING });
    // [E4] Release: pairs with [E5].
    record[word::VERSION].store_version(ended, Ordering::Release);
}

/// Owner of a place in the long history: keeps an ended event there. `version` is one of [`WRITING_END`] that was never used for this
/// place before. [`finish_ended`] follows.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn begin_ended(record: &RecordWords, version: u64, ended: &Ended<'_>) {
    record[word::VERSION].store_version(version, Ordering::Relaxed);
    fence(Ordering::Release); // [E3]
    record[word::WHAT].set(ended.what.0);
    record[word::START].set(ended.start);
    record[word::OBJECT].set(ended.record[word::OBJECT].get());
    record[word::NESTING].set(ended.record[word::NESTING].get());
    record[word::EVENT].set(ended.record[word::VERSION].get());
    if let Some(amount) = ended.amount {
        record[word::AMOUNT].set(amount);
        record[word::PEER].iter().zip(&ended.record[word::PEER]).for_each(|(to, from)| to.set(from.get()));
    }
}

/// Owner of a place in the long history, behind [`begin_ended`]: the event is hidden there, too, if TRUNCATE of `events_waits_current` has hidden it
/// while it ran. What says so names what is in the row, and so nothing that is there later.
pub(crate) fn hide_ended(row: &RecordWords, record: &RecordWords) {
    let event = Sequence::of_running(record[word::VERSION].get());
    // Relaxed: an event that ends at the moment of the truncation may be on either side of it.
    if record[word::HIDDEN_CURRENT].get() == event.version(RUNNING) {
        row[word::HIDDEN_CURRENT].set(Sequence::of_running(row[word::VERSION].get()).version(RUNNING));
    }
}

/// Owner of a place in the long history: as [`finish_end`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn finish_ended(record: &RecordWords, ticks: Option<u64>) {
    if let Some(ticks) = ticks {
        record[word::END].set(ticks);
    }
    record[word::VERSION].store(record[word::VERSION].get().wrapping_add(1), Ordering::Release); // [E4]
}

/// Whoever wants the place in the long history: whether the event has ended that had this version while it was written there.
pub(crate) fn has_ended_as(record: &RecordWords, version: u64) -> bool {
    // [H3] Acquire: pairs with [E4]; what its owner has written there and in the rows before comes before what is written next.
    record[word::VERSION].load(Ordering::Acquire) == version.wrapping_add(1)
}

/// An event that ends: its record, and what its owner knows, or has looked up there already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended<'a> {
    pub(crate) record: &'a RecordWords,
    pub(crate) what: What,
    pub(crate) start: u64,
    /// None if its record has neither an amount nor the words of a file or a socket.
    pub(crate) amount: Option<u64>,
}

/// Reader: one attempt.
pub(crate) fn read(record: &RecordWords) -> Read {
    attempt(record, |seen| {
        let what = record[word::WHAT].get();
        let (sequence, ended) = (Sequence::of(seen), is_ended(seen));
        Snapshot {
            sequence,
            ended,
            class: Switches(what).class().0,
            source: (what >> Site::SOURCE_SHIFT) as u16,
            operation: what as u8,
            timed: Switches(what).has(Switches::TIMED),
            history: Switches(what).has(Switches::HISTORY),
            timer_index: Switches(what).timer_index(),
            digest: Switches(what).has(Switches::DIGEST),
            start: record[word::START].get(),
            object: record[word::OBJECT].get(),
            nesting: Enclosing(record[word::NESTING].whole()), // see replace()
            amount: if what & What::HAS_AMOUNT == 0 { 0 } else { record[word::AMOUNT].get() },
            io: match what & (What::HAS_FILE | What::HAS_SOCKET) {
                What::HAS_FILE => {
                    IoEvent::File(FileEvent { name: record[word::FILE].get(), flags: record[word::FLAGS].get() as u32 })
                }
                What::HAS_SOCKET => IoEvent::Socket(SocketEvent { address: SocketAddress::read(&record[word::PEER]) }),
                _ => IoEvent::None,
            },
            end: record[word::END].get(),
            end_event: Sequence(if what & What::HAS_END_EVENT == 0 { 0 } else { record[word::END_EVENT].get() }),
            event: Sequence::of_running(record[word::EVENT].get()),
            hidden_history: ended && record[word::HIDDEN_HISTORY].get() == seen,
            hidden: record[word::HIDDEN_CURRENT].get(),
        }
    })
}

/// Reader: one attempt to copy all words. Returns the version.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn copy(record: &RecordWords, into: &mut [u64; RECORD]) -> Read<u64> {
    attempt(record, |seen| {
        into.iter_mut().zip(record).for_each(|(into, word)| *into = word.get());
        if cfg!(not(target_has_atomic = "64")) {
            into[word::NESTING] = record[word::NESTING].whole(); // see replace()
        }
        seen
    })
}

/// Reader: whether what was read beside the record since, in entries that its version covers, is of the same event in the same state.
pub(crate) fn still(record: &RecordWords, snapshot: &Snapshot) -> bool {
    // [E6] Acquire fence: as in attempt().
    fence(Ordering::Acquire);
    record[word::VERSION].get() == snapshot.version()
}

/// What `take` makes of the words, given the version, if they are those of one event.
#[cfg_attr(not(debug_assertions), inline(always))]
fn attempt<T>(record: &RecordWords, take: impl FnOnce(u64) -> T) -> Read<T> {
    // [E5] Acquire: pairs with [E2] or [E4]; the words below are at least as new as the version.
    let seen = record[word::VERSION].load(Ordering::Acquire);
    if seen == 0 {
        return Read::Free;
    }
    if !seen.is_multiple_of(2) {
        return Read::Changed;
    }
    let taken = take(seen);
    // [E6] Acquire fence: pairs with [E1] and [E3]; if a word above is newer than `seen`, the version below is, too.
    fence(Ordering::Acquire);
    if record[word::VERSION].get() == seen { Read::Whole(taken) } else { Read::Changed }
}

/// Whether a version is of an event of an owner that began with `base`, not of an earlier one.
pub(crate) fn belongs_to(seen: u64, base: Sequence) -> bool {
    seen > base.version(ENDED)
}

/// Whether a version is that of an event that has ended.
pub(crate) const fn is_ended(seen: u64) -> bool {
    seen != 0 && phase(seen) == 0
}

/// TRUNCATE of `events_waits_current`: hides the event that is there now.
pub(crate) fn hide_current(record: &RecordWords) {
    let seen = record[word::VERSION].get();
    hide(
        &record[word::HIDDEN_CURRENT],
        match phase(seen) {
            // The event begins or ends at this very moment; it counts as running.
            WRITING_START => seen + 1,
            WRITING_END => seen - 1,
            _ => seen,
        },
    );
}

/// TRUNCATE of a history table: hides the event that is there now, if it has ended.
pub(crate) fn hide_history(record: &RecordWords) {
    let seen = record[word::VERSION].get();
    if is_ended(seen) {
        hide(&record[word::HIDDEN_HISTORY], seen);
    }
}

/// Of two that truncate at once, one may come late with an event that is gone already. What the other hid stays hidden.
fn hide(hidden: &Word, version: u64) {
    // The later event counts; of one event its run, because an event that was hidden while it ran is in no history either.
    let rank = |version: u64| (version.div_ceil(ENDED), phase(version) == RUNNING);
    hidden.update(|before| if rank(before) > rank(version) { before } else { version });
}

/// Owner: whether it holds an event that runs.
pub(crate) fn is_running(record: &RecordWords) -> bool {
    phase(record[word::VERSION].get()) == RUNNING
}

/// Owner: the same, of those that it has begun itself, `base` being the last before its first: who had the records before may have vanished.
pub(crate) fn is_running_of(record: &RecordWords, base: Sequence) -> bool {
    is_running(record) && belongs_to(record[word::VERSION].get(), base)
}

/// Owner: whether it holds an event of its own that has begun, or is about to, and has not ended. As above.
pub(crate) fn is_unfinished_of(record: &RecordWords, base: Sequence) -> bool {
    let version = record[word::VERSION].get();
    phase(version) != phase(ENDED) && belongs_to(version, base)
}

/// Whether it holds an event that has ended.
pub(crate) fn has_ended(record: &RecordWords) -> bool {
    is_ended(record[word::VERSION].get())
}
