//! The long history: one ring for all threads, which never write one line at the same time.
//!
//! A thread takes a chunk of consecutive records and fills it alone. Chunks are taken by number, round and round; the numbers come from
//! a counter that all threads share, so a thread that records much draws several at once: fewer read-modify-writes, and fewer crossings
//! into lines that another thread has written, which cost as much as ten rows. What all have drawn and not yet used is a part of the ring
//! that holds old rows, so together they draw no more than an eighth of it.
//!
//! The chunk's state says who took it last. It is that thread's until its last row has ended, which that row's version says, or until it is
//! given back unfinished, which the state says. A thread that is slow to fill its chunk keeps it, and the others go round it; when every chunk
//! tried is being filled, the row is lost and counted. A thread that is slow to use the numbers that it drew keeps nothing: their chunks are
//! there for whoever comes round.
//!
//! Whose the rows are stands in the chunk, not in each row: for the thread that took it last, and for the one before, whose rows are there
//! until they are written over.

use crate::event::EventStore;
use crate::record::{self, Ended, RecordWords, Sequence, Snapshot};
use crate::region::{CHUNK, RECORD, Region};
use crate::sync::{Counter, Ordering, Word, fence};
use core::cell::Cell;
use core::num::NonZero;
use perfschema_timer::{prefetch_ahead, prefetch_for_write};

/// Chunks tried before a row is given up.
const PROBES: usize = if cfg!(perfschema_loom) { 2 } else { 8 };

/// What part of the chunks is drawn ahead, by all threads together.
const AHEAD: u64 = 8;

/// Rows that are asked for before they are written: an event does not last until memory comes from where the processor does not keep it near.
const PREFETCHED: usize = 4;

/// Bytes to the row that is asked for while one is written.
const ROWS_AHEAD: usize = PREFETCHED * size_of::<RecordWords>();

/// Bytes of a cache line; a record is two.
const LINE: usize = 64;

/// Words of a chunk.
pub(crate) mod word {
    /// The number of whoever took it last, and whether the chunk was given back unfinished.
    pub(crate) const STATE: usize = 0;
    /// The two that took it last, in no order, [`OWNER`] words each. Rows that are older than both are none any more.
    pub(crate) const OWNERS: usize = 1;
    pub(crate) const OWNER: usize = 3;
}

/// Words of one of those.
mod owner {
    /// The chunk's state since it took it; 0 if nobody did.
    pub(crate) const STATE: usize = 0;
    pub(crate) const THREAD_ID: usize = 1;
    pub(crate) const BASE: usize = 2;
}

pub(crate) type ChunkWords = [Word; CHUNK];

/// Whose the rows of a chunk are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Owner {
    pub(crate) thread_id: u64,
    /// The sequence before its first event. It may be gone when the event ids are read.
    pub(crate) base: Sequence,
}

/// Chunks that are behind one another.
#[derive(Clone, Copy, Debug, Default)]
struct Chunks<'r> {
    words: &'r [ChunkWords],
    records: &'r [RecordWords],
}

impl<'r> Chunks<'r> {
    /// All of them.
    fn of(region: &Region<'r>, store: &EventStore) -> Chunks<'r> {
        Chunks { words: region.arrays::<CHUNK>(store.long_chunks), records: region.arrays::<RECORD>(store.long_records) }
    }

    /// Records of each; 0 if there are none.
    fn chunk_len(self) -> usize {
        self.records.len().checked_div(self.words.len()).unwrap_or(0)
    }

    /// Those from this one on.
    fn get_from(self, index: usize, chunk_len: usize) -> Option<Chunks<'r>> {
        Some(Chunks { words: self.words.get(index..)?, records: self.records.get(index * chunk_len..)? })
    }

    /// The first, and those behind it.
    fn split_first(self, chunk_len: usize) -> Option<(Chunk<'r>, Chunks<'r>)> {
        let (first, words) = self.words.split_first()?;
        let (rows, records) = self.records.split_at_checked(chunk_len)?;
        Some((Chunk { words: first, rows, first: rows.first()?, last: rows.last()? }, Chunks { words, records }))
    }
}

/// A chunk, and its records.
#[derive(Clone, Copy, Debug)]
struct Chunk<'r> {
    words: &'r ChunkWords,
    rows: &'r [RecordWords],
    /// Of the rows, of which there is one at least.
    first: &'r RecordWords,
    last: &'r RecordWords,
}

impl<'r> Chunk<'r> {
    fn state(self) -> &'r Word {
        &self.words[word::STATE]
    }

    /// Whether nobody fills it any more, if its state is this one.
    fn is_free(self, state: u64) -> bool {
        let is_full = || record::has_ended_as(self.last, number_version(number_of(state)));
        state & TAKEN == 0 || is_full()
    }

    /// Says whose the rows are that are about to be written since the chunk's state is `taken`. Those of who had it before, when the state was
    /// `before`, stay that one's.
    fn sign(self, owner: &Owner, before: u64, taken: u64) {
        let is_older = |words: &&[Word; word::OWNER]| words[owner::STATE].get() != before | TAKEN;
        let Some(words) = owners(self.words).iter().find(is_older) else { return };
        words[owner::STATE].set(taken);
        // [H4] Release fence: pairs with the fence [H5] of a reader that saw one of the words below. Who sees a row of this number sees them by [E4].
        fence(Ordering::Release);
        words[owner::THREAD_ID].set(owner.thread_id);
        words[owner::BASE].set(owner.base.0);
    }
}

/// In a chunk's state, beside the number of whoever took it last: it was not given back unfinished.
const TAKEN: u64 = 1;

/// One thread's place in the long history.
#[derive(Debug)]
pub(crate) struct Writer<'r> {
    region: &'r Region<'r>,
    store: &'static EventStore,
    owner: Owner,
    chunks: Chunks<'r>,
    chunk_len: usize,
    /// The records of the chunk, none while there is no chunk; and how many of them were given out. Two words, so that only one changes.
    rows: Cell<&'r [RecordWords]>,
    given: Counter,
    /// What is behind the chunk: the next number's chunk is the first of these, unless that number is to be drawn.
    behind: Cell<Chunks<'r>>,
    /// The versions of the chunk's rows while they are written: of the number with which the chunk was taken, never used before.
    version: Cell<u64>,
    /// The numbers drawn: the next one, and where they end.
    next_number: Counter,
    numbers_end: Cell<u64>,
    /// How many it draws the next time.
    batch: Cell<u64>,
    /// Chunks taken so far.
    taken: Cell<u64>,
}

impl<'r> Writer<'r> {
    pub(crate) fn new(region: &'r Region<'r>, store: &'static EventStore, owner: Owner) -> Writer<'r> {
        let chunks = Chunks::of(region, store);
        Writer {
            region,
            store,
            owner,
            chunks,
            chunk_len: chunks.chunk_len(),
            rows: Cell::new(&[]),
            given: Counter::new(0),
            behind: Cell::default(),
            version: Cell::new(0),
            next_number: Counter::new(0),
            numbers_end: Cell::new(0),
            batch: Cell::new(1),
            taken: Cell::new(0),
        }
    }

    /// Where the events are that it keeps.
    pub(crate) fn store(&self) -> &'static EventStore {
        self.store
    }

    /// Takes a record for an event that ends; [`begin`](Self::begin) and [`finish`](Self::finish) follow.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn next(&self) -> Option<&'r RecordWords> {
        // First: what is loaded behind it is loaded where it is asked for.
        let given = self.given.get();
        let record = match self.rows.get().get(given as usize) {
            Some(record) => {
                self.given.add(1);
                record
            }
            None => self.reserve()?,
        };
        // The ring is longer than what the processor keeps near, and it is a round ago that somebody wrote there. Behind a chunk is what
        // this thread takes next, mostly; and to ask whether the chunk ends would cost more than to ask in vain.
        prefetch_for_write::<ROWS_AHEAD, _>(record);
        Some(record)
    }

    /// Keeps there what is known before the timer is read.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn begin(&self, record: &RecordWords, ended: &Ended<'_>) {
        record::begin_ended(record, self.version.get(), ended);
    }

    /// The event has ended, at `ticks` if it is timed.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn finish(&self, record: &RecordWords, ticks: Option<u64>) {
        record::finish_ended(record, ticks);
    }

    /// Where a record is in the section.
    pub(crate) fn index_of(&self, record: &RecordWords) -> usize {
        record::index_in(self.chunks.records, record)
    }

    /// Whether it is this thread that is filling the chunk at this index: the one it has, or one that it is about to have.
    pub(crate) fn is_filling(&self, index: usize) -> bool {
        let Some((chunk, _)) = self.chunk(index) else { return false };
        let state = chunk.state().get();
        let last_drawn = self.next_number.get().checked_sub(1);
        !chunk.is_free(state) && [self.number(), last_drawn].contains(&Some(number_of(state)))
    }

    /// The thread's chunk, or the one that it had last: the index of its first row, the rows, and its state. What is copied of the rows
    /// before the state is the thread's own, or the state says that it is not.
    // By the number alone, which is one word, also where a handler asks while a chunk is being taken.
    pub(crate) fn last_chunk(&self) -> Option<(usize, &'r [RecordWords], &'r Word)> {
        let index = self.number()?.checked_rem(self.chunks.words.len() as u64)? as usize;
        let (chunk, _) = self.chunk(index)?;
        Some((index * self.chunk_len, chunk.rows, chunk.state()))
    }

    /// The chunk at this index, and those behind it.
    fn chunk(&self, index: usize) -> Option<(Chunk<'r>, Chunks<'r>)> {
        self.chunks.get_from(index, self.chunk_len)?.split_first(self.chunk_len)
    }

    /// Gives back an unfinished chunk: the thread ends.
    pub(crate) fn close(&self) {
        if self.rows.replace(&[]).len() > self.given.get() as usize
            && let (Some((_, _, state)), Some(number)) = (self.last_chunk(), self.number())
        {
            // [H2] Release: pairs with [H1]; the next owner's odd versions come after our even ones.
            state.store(unfinished(number), Ordering::Release);
        }
    }

    /// The chunk that is reserved and not full.
    #[cfg(perfschema_loom)]
    pub(crate) fn open_chunk(&self) -> Option<usize> {
        let (first, ..) = self.last_chunk().filter(|_| self.rows.get().len() > self.given.get() as usize)?;
        Some(first / self.chunk_len)
    }

    /// The number with which the chunk was taken, if one ever was.
    fn number(&self) -> Option<u64> {
        Some(self.version.get()).filter(|&version| version != 0).map(|version| Sequence(version).number())
    }

    /// The first record of a chunk that nobody else fills; None if none was found, which is counted.
    #[cold]
    #[inline(never)]
    fn reserve(&self) -> Option<&'r RecordWords> {
        match self.take_next() {
            Some(chunk) => Some(self.give_first(chunk)),
            None => self.take_any(),
        }
    }

    /// The first record of the chunk that it has taken.
    fn give_first(&self, chunk: Chunk<'r>) -> &'r RecordWords {
        self.rows.set(chunk.rows);
        self.given.set(1);
        chunk.first
    }

    /// Takes the chunk behind the last, if that is the next number's and somebody has filled it a round ago, as nearly always. Its first
    /// records were asked for row by row.
    fn take_next(&self) -> Option<Chunk<'r>> {
        let number = self.next_number.get();
        let (chunk, behind) = self.behind.get().split_first(self.chunk_len).filter(|_| number != self.numbers_end.get())?;
        // Of who took it last, nearly always.
        let state = number.checked_sub(self.chunks.words.len() as u64).map_or(unfinished(0), taken);
        // Before it is taken, so that a child of a handler's fork knows whose the chunk is.
        self.next_number.add(1);
        if self.take(chunk, behind, state, number).is_err() {
            self.next_number.set(number);
            return None;
        }
        Some(chunk)
    }

    /// Looks for a chunk that is free, from that of the next number on.
    #[cold]
    #[inline(never)]
    fn take_any(&self) -> Option<&'r RecordWords> {
        self.behind.take();
        self.rows.set(&[]);
        let Some(chunk) = self.search() else {
            self.region.count_lost(self.store.long_lost);
            return None;
        };
        for record in chunk.rows.iter().take(PREFETCHED) {
            prefetch_for_write::<0, _>(record);
            prefetch_for_write::<LINE, _>(record);
        }
        Some(self.give_first(chunk))
    }

    fn search(&self) -> Option<Chunk<'r>> {
        let count = NonZero::new(self.chunks.words.len() as u64)?;
        for _ in 0..PROBES {
            let number = self.draw();
            let (chunk, behind) = self.chunk((number % count) as usize)?;
            let mut seen = chunk.state().whole();
            // It ends: each time that somebody else was faster there is a larger number, or a chunk being filled.
            while seen <= taken(number) {
                match self.take(chunk, behind, seen, number) {
                    Ok(()) => return Some(chunk),
                    Err(now) if now == seen => break,
                    Err(now) => seen = now,
                }
            }
            if seen > taken(number) {
                // Others have come round since the numbers were drawn: their rows are newer than most.
                self.numbers_end.set(self.next_number.get());
            }
        }
        None
    }

    /// Takes a chunk by this number, if its state is `seen` and nobody fills it. Otherwise its state, which is `seen` while somebody does.
    fn take(&self, chunk: Chunk<'r>, behind: Chunks<'r>, seen: u64, number: u64) -> Result<(), u64> {
        if !chunk.is_free(seen) {
            return Err(seen);
        }
        // [H1] Acquire: pairs with [H2] of the owner before.
        chunk.state().compare_exchange(seen, taken(number), Ordering::Acquire)?;
        chunk.sign(&self.owner, seen, taken(number));
        self.behind.set(behind);
        self.version.set(number_version(number));
        self.taken.set(self.taken.get() + 1);
        // The last record of the next one, which is looked at when this one is full; counted from the first of this, which is at hand.
        prefetch_ahead(chunk.first, (2 * self.chunk_len).wrapping_sub(1));
        Ok(())
    }

    /// A number that nobody has drawn.
    fn draw(&self) -> u64 {
        let mut number = self.next_number.get();
        let end = self.numbers_end.get();
        if number == end {
            let batch = self.batch.get();
            // Relaxed: the numbers need only be different from all others.
            number = self.region.header(self.store.next_long_chunk).fetch_add(batch, Ordering::Relaxed);
            self.numbers_end.set(number.wrapping_add(batch));
            // Its share of what all have drawn meanwhile, and of what may be drawn ahead. A thread that ends leaves numbers unused: no
            // more than a quarter of those that it used.
            let drawn_by_all = number.wrapping_sub(end).saturating_add(batch);
            let ahead = self.chunks.words.len() as u64 / AHEAD;
            let share = (ahead * batch).checked_div(drawn_by_all).unwrap_or(0);
            self.batch.set(share.min(1 + self.taken.get() / 4).max(1));
        }
        self.next_number.set(number.wrapping_add(1));
        number
    }
}

/// The state of a chunk that `number` was the last to take, and has given back unfinished; that of one never taken is the first's.
const fn unfinished(number: u64) -> u64 {
    number << 1
}

/// The state of a chunk that `number` was the last to take, and fills or has filled.
const fn taken(number: u64) -> u64 {
    unfinished(number) | TAKEN
}

/// Reader: the records of the long history, each with its chunk.
pub(crate) fn rows<'r>(region: &Region<'r>, store: &EventStore) -> impl Iterator<Item = (&'r RecordWords, &'r ChunkWords)> {
    let chunks = Chunks::of(region, store);
    let rows = chunks.records.chunks_exact(chunks.chunk_len().max(1));
    chunks.words.iter().zip(rows).flat_map(|(chunk, rows)| rows.iter().map(move |row| (row, chunk)))
}

/// The words of the two that took a chunk last.
fn owners(chunk: &ChunkWords) -> &[[Word; word::OWNER]] {
    chunk[word::OWNERS..].as_chunks().0
}

/// Reader: whose a row is that was read whole in the chunk; None if two others took the chunk since.
pub(crate) fn owner_of(chunk: &ChunkWords, row: &Snapshot) -> Option<Owner> {
    let taken = taken(row.sequence.number());
    let words = owners(chunk).iter().find(|words| words[owner::STATE].get() == taken)?;
    let owner = Owner { thread_id: words[owner::THREAD_ID].get(), base: Sequence::from_word(words[owner::BASE].get()) };
    // [H5] Acquire fence: pairs with [H4]; if a word above is newer than the row, so is the state below.
    fence(Ordering::Acquire);
    (words[owner::STATE].get() == taken).then_some(owner)
}

/// The number in a chunk's state.
const fn number_of(chunk: u64) -> u64 {
    chunk >> 1
}

/// The version of the rows of a chunk taken by this number, while they are written.
const fn number_version(number: u64) -> u64 {
    Sequence::from_number(number).version(record::WRITING_END)
}

#[cfg(all(test, not(any(perfschema_loom, miri))))]
mod tests {
    use super::*;
    use crate::event::WAITS;
    use crate::{Config, Identity, Size};
    use perfschema_timer::MockClock;
    use std::vec::Vec;

    const CHUNKS: u64 = 800;
    /// With so many threads each chunk is one row.
    const CONFIG: Config =
        Config::EMPTY.with(Size::MaxThreadInstances, 400).with(Size::EventsWaitsHistoryLongSize, CHUNKS as u32);

    fn with_region(test: impl for<'r> FnOnce(&'r Region<'r>)) {
        let words: Vec<Word> = (0..CONFIG.words()).map(|_| Word::new(0)).collect();
        test(&Region::create(&words, &CONFIG, &Identity::default(), &MockClock::new().timers()).expect("there is room"));
    }

    /// An event ends. The number with which its chunk was taken.
    fn record(region: &Region<'_>, writer: &Writer<'_>) -> u64 {
        let row = writer.next().expect("no row is lost");
        let record = &region.arrays::<RECORD>(WAITS.rings)[0];
        writer.begin(row, &Ended { record, what: record::What::of(record), start: 0, amount: None });
        writer.finish(row, None);
        writer.number().expect("it has taken one")
    }

    fn drawn_ahead(writer: &Writer<'_>) -> u64 {
        writer.numbers_end.get() - writer.next_number.get()
    }

    /// The more it has used, the more a thread draws at once, up to an eighth of them all.
    #[test]
    fn a_thread_alone_draws_a_quarter_of_what_it_used() {
        with_region(|region| {
            let writer = Writer::new(region, &WAITS, Owner::default());
            let (mut next_draw, mut batch) = (0, 1);
            for used in 0..2 * CHUNKS {
                assert_eq!(record(region, &writer), used);
                if used == next_draw {
                    next_draw += batch;
                    batch = (1 + used / 4).min(CHUNKS / 8);
                }
                assert_eq!(drawn_ahead(&writer), next_draw - used - 1, "after {used}");
            }
            assert_eq!(batch, CHUNKS / 8);
        });
    }

    /// Who records half as much as another one draws half as much at once, and both together an eighth.
    #[test]
    fn threads_share_what_is_drawn_ahead() {
        with_region(|region| {
            let [one, other] = [(); 2].map(|()| Writer::new(region, &WAITS, Owner::default()));
            for _ in 0..4 * CHUNKS {
                for writer in [&one, &one, &other] {
                    record(region, writer);
                }
            }
            let [one, other] = [one.batch.get(), other.batch.get()];
            assert!((CHUNKS / 16..=CHUNKS / 8).contains(&(one + other)) && one > other + other / 2, "{one} and {other}");
        });
    }

    /// It forgets them, because what others have written there is newer than most.
    #[test]
    fn a_thread_whose_numbers_are_of_a_round_before_draws_others() {
        with_region(|region| {
            let [slow, fast] = [(); 2].map(|()| Writer::new(region, &WAITS, Owner::default()));
            while drawn_ahead(&slow) < 2 * PROBES as u64 {
                record(region, &slow);
            }
            let last = (0..2 * CHUNKS).fold(0, |_, _| record(region, &fast));
            assert!(record(region, &slow) > last);
        });
    }
}
