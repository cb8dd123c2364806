//! An actor records: one thread, task or interrupt level, and everything that only it writes.
//!
//! Who pays what, for one wait that is on, timed, visible and kept:
//! ```text
//! begin  [1] switches (1 load), mask (1 load), event id, first timer read, record: 7 stores
//! end    [1] second timer read, record: 5 stores, summary: 6 loads and stores, histogram: 2 loads and stores
//! read   [A] names, source lines, picoseconds of each row, sums over the actors
//! ```
//! Nothing in `begin` or `end` can fail, block, allocate or panic (`ci/targets` links a program that proves it), and nothing that follows
//! waits for the second timer value: it decides what is stored, not where, and no branch of the source.

use crate::class::Class;
use crate::file::{FileId, FileInstance};
use crate::instance::Held;
use crate::io;
use crate::long_history;
use crate::memory::{self, MemoryChange};
use crate::record::{self, Enclosing, Ended, EventType, IoEvent, RecordWords, Start, What};
use crate::region::{CARRY, FILE, RECORD, Region, SOURCE, STAT, Section};
use crate::setup::{self, Switches};
use crate::slot::{self, ActorIdentity, Claimed, SlotWords};
use crate::socket::SocketIo;
use crate::source;
use crate::stat::{self, CarryWords, Epochs, Shared, StatWords};
use crate::sync::Word;
use crate::{Lost, Operation, wait_histogram};
use core::cell::Cell;
use core::panic::Location;
use perfschema_timer::{Clock, Conversion, TimerName, difference};

/// Something that records, used by one thread at a time.
///
/// ```
/// use perfschema_core::{Actor, ActorIdentity, Config, Held, Identity, InstrumentName, Operation, Region, Setting, StaticRegion, WaitStart};
/// use perfschema_timer::{SystemClock, Timers};
///
/// static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
/// let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &Timers::calibrate())?;
/// let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
/// region.enable_everything();
///
/// let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
/// let wait = actor.begin(&SystemClock, region.switches(class), class, &WaitStart::new(Operation::Lock));
/// // … the lock is taken here …
/// actor.end(&SystemClock, wait, Held::None);
/// assert_eq!(region.summary_by_event_name(class).count, 1);
/// actor.detach();
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Actor<'r> {
    region: &'r Region<'r>,
    slot: Option<Claimed<'r>>,
    thread_id: u64,
    /// The sequence number before the first event: what the event ids in the tables count from.
    base: u64,
    epochs: &'r Word,
    mask: Cell<&'r Word>,
    /// What is left of an event's switches at its end: everything, until the slot is given back.
    keep: Cell<u64>,
    instance_epoch: &'r Word,
    /// The last event's sequence number: the event id, counted on over all owners of the slot. Plain, because only the owner needs it.
    sequence: Cell<u64>,
    enclosing: Cell<Enclosing>,
    ring: &'r [RecordWords],
    /// The records in the order in which they will be taken, round and round: from `first` on those that no running event uses, the
    /// one that ended longest ago first; before it the places of those that `running` events took.
    queue: &'r [Word],
    first: Cell<usize>,
    running: Cell<usize>,
    stats: &'r [StatWords],
    carries: &'r [CarryWords],
    shared: &'r [StatWords],
    sources: &'r [[Word; SOURCE]],
    histograms: &'r [Word],
    long: long_history::Writer<'r>,
    files: io::Recorder<'r>,
    file_places: &'r [[Word; FILE]],
    sockets: io::Recorder<'r>,
    memory: memory::Recorder<'r>,
    conversions: [Conversion; 8],
}

/// What is known of a wait when it begins.
#[derive(Clone, Copy, Debug)]
pub struct WaitStart {
    /// OPERATION.
    pub operation: Operation,
    /// OBJECT_INSTANCE_BEGIN: the address of the lock, the number of the socket, the offset in the file.
    pub object: u64,
    /// SOURCE.
    pub source: Option<&'static Location<'static>>,
    /// SPINS for a lock, NUMBER_OF_BYTES plus 1 for io; 0 is none.
    pub amount: u64,
    /// OBJECT_NAME and FLAGS of a wait for a file or a socket.
    pub io: IoEvent,
}

impl WaitStart {
    /// A wait of which nothing but the operation is known.
    pub const fn new(operation: Operation) -> WaitStart {
        WaitStart { operation, object: 0, source: None, amount: 0, io: IoEvent::None }
    }
}

/// A wait between its begin and its end. Switches are those of its start.
#[must_use = "a wait that is not ended stays visible as running"]
#[derive(Clone, Copy, Debug)]
pub struct Wait<'r> {
    sequence: u64,
    start: u64,
    shown: Option<Shown<'r>>,
    class: Class,
    switches: Switches,
    amount: u64,
    enclosing: Enclosing,
}

/// The record in which a wait is visible.
#[derive(Clone, Copy, Debug)]
struct Shown<'r> {
    record: &'r RecordWords,
    /// Its place in the ring.
    index: u64,
}

impl Wait<'_> {
    /// Sets SPINS, or NUMBER_OF_BYTES plus 1, known when the wait ends.
    pub fn set_amount(&mut self, amount: u64) {
        self.amount = amount;
    }

    /// Whether anything is recorded for it.
    #[inline(always)]
    pub fn is_recorded(&self) -> bool {
        self.switches.is_on()
    }

    /// Whether its instance's figures are kept, too.
    #[inline(always)]
    pub fn records_instance(&self) -> bool {
        self.switches.has(Switches::INSTANCE)
    }
}

impl<'r> Actor<'r> {
    /// Starts recording for a thread. If there is no free slot, which is counted, its events count in the global sums only.
    pub fn attach(region: &'r Region<'r>, identity: &ActorIdentity<'_>) -> Actor<'r> {
        let setting = crate::tables::setup_actors::setting_for(region, identity);
        match slot::claim(region, identity, setting) {
            Some(claimed) => Actor::with_slot(region, claimed),
            None => Actor::without_slot(region),
        }
    }

    /// Says anew who it is, if it has recorded no event yet: memory may have been counted before the thread could say so. Returns whether
    /// it did.
    pub fn identify(&self, identity: &ActorIdentity<'_>) -> bool {
        let Some(slot) = self.slot.as_ref().filter(|slot| self.owns(slot.words)) else { return false };
        let unused = self.sequence.get() == self.base;
        if unused {
            slot.identify(identity, crate::tables::setup_actors::setting_for(self.region, identity));
        }
        unused
    }

    fn with_slot(region: &'r Region<'r>, claimed: Claimed<'r>) -> Actor<'r> {
        let owners = region.section(Section::Slots).len() / crate::region::SLOT;
        let queue = region.arrays_of::<1>(Section::Queues, claimed.index, owners).as_flattened();
        for (index, word) in queue.iter().enumerate() {
            word.set(index as u64);
        }
        Actor {
            thread_id: claimed.thread_id,
            base: claimed.base,
            epochs: slot::epochs_word(claimed.words),
            mask: Cell::new(slot::mask_word(claimed.words)),
            sequence: Cell::new(claimed.base),
            ring: region.arrays_of::<RECORD>(Section::Rings, claimed.index, owners),
            queue,
            running: Cell::new(0),
            stats: region.arrays_of::<STAT>(Section::Stats, claimed.index, owners),
            carries: region.arrays_of::<CARRY>(Section::Carries, claimed.index, owners),
            files: io::Recorder::new(region, &io::FILES, Some(claimed.index)),
            sockets: io::Recorder::new(region, &io::SOCKETS, Some(claimed.index)),
            memory: memory::Recorder::new(region, Some((claimed.index, claimed.words))),
            slot: Some(claimed),
            ..Actor::without_slot(region)
        }
    }

    /// An actor that has no row of its own: its events count in the global sums and those of the instances only.
    pub fn without_slot(region: &'r Region<'r>) -> Actor<'r> {
        let mut conversions = [Conversion::from_multiplier(0); 8];
        for (conversion, timer) in conversions.iter_mut().zip(TimerName::ALL) {
            *conversion = region.timer(timer).conversion;
        }
        Actor {
            region,
            slot: None,
            thread_id: 0,
            base: 0,
            // Never looked at: there are no sums of its own.
            epochs: &setup::setup(region)[setup::word::NO_SLOT_MASK],
            mask: Cell::new(&setup::setup(region)[setup::word::NO_SLOT_MASK]),
            keep: Cell::new(u64::MAX),
            instance_epoch: &setup::setup(region)[setup::word::INSTANCE_EPOCH],
            sequence: Cell::new(0),
            enclosing: Cell::new(Enclosing::default()),
            ring: &[],
            queue: &[],
            first: Cell::new(0),
            running: Cell::new(0),
            stats: &[],
            carries: &[],
            shared: region.arrays::<STAT>(Section::SharedStats),
            sources: region.arrays::<SOURCE>(Section::Sources),
            histograms: region.section(Section::Histograms),
            long: long_history::Writer::new(region),
            files: io::Recorder::new(region, &io::FILES, None),
            file_places: region.arrays::<FILE>(Section::FileInstances),
            sockets: io::Recorder::new(region, &io::SOCKETS, None),
            memory: memory::Recorder::new(region, None),
            conversions,
        }
    }

    /// THREAD_ID; 0 for an actor without a slot.
    #[inline]
    pub fn thread_id(&self) -> u64 {
        self.thread_id
    }

    /// The file of an id, as [`Region::file`] has it, faster.
    #[inline(always)]
    pub fn file(&self, id: FileId) -> Option<FileInstance<'r>> {
        FileInstance::of(self.file_places, id)
    }

    /// The region that it records into.
    #[inline]
    pub fn region(&self) -> &'r Region<'r> {
        self.region
    }

    /// Gives the slot back: the thread ends. Its sums stay counted; events that still run are gone. What it records after
    /// this, in destructors that run later still, counts in the global sums only. A second call does nothing.
    pub fn detach(&self) {
        let no_slot = &setup::setup(self.region)[setup::word::NO_SLOT_MASK];
        if core::ptr::eq(self.mask.replace(no_slot), no_slot) {
            return;
        }
        self.keep.set(no_slot.get());
        self.long.finish();
        if let Some(slot) = &self.slot {
            slot.release(self.sequence.get());
        }
    }

    /// A wait begins. `switches` are those of its class, loaded by the caller, who found them on.
    #[inline(always)]
    pub fn begin(&self, clock: &impl Clock, switches: Switches, class: Class, what: &WaitStart) -> Wait<'r> {
        let switches = self.effective(switches);
        let ticks = switches.read(clock);
        self.begin_at(switches, ticks, class, what)
    }

    /// A wait begins where another one ends: WL#2360's suggestion for pieces of code with nothing between them.
    /// One timer read serves both. The first one must not be held as an instance.
    #[inline(always)]
    pub fn chain(
        &self,
        clock: &impl Clock,
        ended: Wait<'_>,
        held: Held<'_, '_>,
        switches: Switches,
        class: Class,
        what: &WaitStart,
    ) -> Wait<'r> {
        let same_timer = ended.switches.timer_index() == switches.timer_index();
        let end = self.end(clock, ended, held);
        let switches = self.effective(switches);
        let ticks = match end {
            Some(ticks) if same_timer => ticks,
            _ => switches.read(clock),
        };
        self.begin_at(switches, ticks, class, what)
    }

    /// A wait begins beside others: as those of a task that goes on meanwhile, and may end them in any order. What begins before its end
    /// does not lie within it. [`end_concurrent`](Self::end_concurrent) ends it.
    pub fn begin_concurrent(&self, clock: &impl Clock, switches: Switches, class: Class, what: &WaitStart) -> Wait<'r> {
        let enclosing = self.enclosing.get();
        let wait = self.begin(clock, switches, class, what);
        self.enclosing.set(enclosing);
        wait
    }

    /// Ends what [`begin_concurrent`](Self::begin_concurrent) began.
    pub fn end_concurrent(&self, clock: &impl Clock, wait: Wait<'_>, held: Held<'_, '_>) -> Option<u64> {
        let enclosing = self.enclosing.get();
        let ticks = self.end(clock, wait, held);
        self.enclosing.set(enclosing);
        ticks
    }

    /// A wait ends that began at `start`, ticks that [`Switches::read`] gave there, where no actor was at hand that would be there at its
    /// end. It was not visible while it lasted.
    pub fn record_since(
        &self,
        clock: &impl Clock,
        start: u64,
        switches: Switches,
        class: Class,
        what: &WaitStart,
        held: Held<'_, '_>,
    ) -> Option<u64> {
        let wait = self.begin_at(self.effective(switches), start, class, what);
        self.end(clock, wait, held)
    }

    /// Counts memory that comes or goes. `switches` are those of its class, loaded by the caller, who found them on. It is no event: it
    /// has no number and no time.
    #[inline(always)]
    pub fn count_memory(&self, switches: Switches, class: Class, change: MemoryChange) {
        // Relaxed: a setting of its own, as the switches are.
        let switches = Switches(switches.0 & self.mask.get().get());
        if switches.has(Switches::THREAD) {
            self.memory.count(class, change);
        } else if switches.has(Switches::ENABLED) {
            self.memory.count_shared(class, change);
        }
    }

    #[inline(always)]
    fn effective(&self, switches: Switches) -> Switches {
        // Relaxed: a setting of its own, as the switches are.
        Switches(switches.0 & self.mask.get().get()).sampled(self.sequence.get().wrapping_add(1))
    }

    #[inline(always)]
    fn begin_at(&self, switches: Switches, ticks: u64, class: Class, what: &WaitStart) -> Wait<'r> {
        let sequence = self.sequence.get().wrapping_add(1);
        let mut wait =
            Wait { sequence, start: ticks, shown: None, class, switches, amount: what.amount, enclosing: self.enclosing.get() };
        if switches.has(Switches::ENABLED) {
            self.sequence.set(sequence);
            self.enclosing.set(Enclosing::event(sequence, EventType::Wait));
            if switches.has(Switches::CURRENT) {
                wait.shown = self.show(&wait, what);
            }
        }
        wait
    }

    /// Takes the record that ended longest ago, and makes the wait visible in it.
    #[inline(always)]
    fn show(&self, wait: &Wait<'_>, what: &WaitStart) -> Option<Shown<'r>> {
        let (first, running) = (self.first.get(), self.running.get());
        let Some(word) = self.queue.get(first).filter(|_| running < self.queue.len()) else {
            self.region.count_lost(Lost::NestedEvents);
            return None;
        };
        let index = word.get();
        let record = self.ring.get(index as usize)?;
        self.first.set(if first + 1 == self.queue.len() { 0 } else { first + 1 });
        self.running.set(running + 1);
        let source = what.source.map_or(0, |location| source::intern(self.region, self.sources, location).0);
        let start = Start {
            what: What::new(wait.class.0, source, what.operation, wait.switches),
            ticks: wait.start,
            object: what.object,
            nesting: wait.enclosing,
            amount: what.amount,
            io: what.io,
        };
        record::write_start(record, wait.sequence, &start);
        Some(Shown { record, index })
    }

    /// A wait ends. Returns the timer's ticks, if it was timed.
    #[inline(always)]
    pub fn end(&self, clock: &impl Clock, wait: Wait<'_>, held: Held<'_, '_>) -> Option<u64> {
        let mut switches = Switches(wait.switches.0 & self.keep.get());
        if !switches.has(Switches::ENABLED) {
            return None;
        }
        let ticks = switches.read(clock);
        self.enclosing.set(wait.enclosing);
        if let Some(shown) = wait.shown.filter(|_| switches.has(Switches::CURRENT)) {
            let last = self.sequence.get();
            record::write_end(shown.record, wait.sequence, ticks, last, wait.amount);
            if record::was_hidden(shown.record, wait.sequence) {
                switches = Switches(switches.0 & Switches::NO_HISTORY);
            }
            if switches.has(Switches::HISTORY_LONG) {
                let ended = Ended {
                    record: shown.record,
                    start: wait.start,
                    end: ticks,
                    end_event: last,
                    nesting: wait.enclosing,
                    amount: wait.amount,
                    sequence: wait.sequence,
                    base: self.base,
                    thread_id: self.thread_id,
                    // Known where this is compiled, so that a lock that was had does not ask.
                    may_be_io: !matches!(held, Held::Exclusive(_) | Held::Shared(_)),
                };
                self.long.write(self.region, &ended);
            }
            // An event with none around it and none within took the place before `first`, which is the last one once it is free.
            if self.running.get() == 1 && last == wait.sequence && switches.has(Switches::HISTORY) {
                self.running.set(0);
            } else {
                self.give_back(shown.index, switches);
            }
        }
        let wait_ps = if switches.has(Switches::TIMED_BY_COUNTER) {
            Some(self.conversions[TimerName::Cycle.index()].picoseconds(difference(wait.start, ticks)))
        } else if switches.has(Switches::TIMED) {
            let conversion = self.conversions[usize::from(switches.timer_index())];
            Some(conversion.picoseconds(difference(wait.start, ticks)))
        } else {
            None
        };
        self.count(&wait, switches, wait_ps);
        let bytes = wait.amount.saturating_sub(1);
        let io = match &held {
            Held::File(io) => Some((&self.files, io.counted())),
            Held::Socket(io) => Some((&self.sockets, io.counted())),
            Held::Exclusive(_) | Held::Shared(_) | Held::None => None,
        };
        if let Some((recorder, io)) = &io {
            recorder.count(io, wait.class, switches, self.thread_id, wait_ps, bytes);
        }
        if switches.has(Switches::INSTANCE) {
            match held {
                Held::Exclusive(instance) => instance.record_alone(self.instance_epoch.get(), wait_ps),
                Held::Shared(instance) => instance.record_shared(wait_ps),
                Held::File(_) | Held::Socket(_) => {
                    if let Some(place) = io.and_then(|(_, io)| io.place) {
                        place.count_wait(self.thread_id, self.instance_epoch.get(), wait_ps);
                    }
                }
                Held::None => {}
            }
        }
        wait_ps.map(|_| ticks)
    }

    /// Counts an operation on a socket that is no wait: what a thread that was idle has received. It is not timed, enters no events table
    /// and no sum of waits, only the sums of the socket's operations and bytes. `switches` are those of its class.
    pub fn count_socket(&self, switches: Switches, class: Class, io: &SocketIo<'_>, bytes: u64) {
        let switches = Switches(switches.0 & self.mask.get().get());
        if switches.has(Switches::ENABLED) {
            self.sockets.count(&io.counted(), class, switches, self.thread_id, None, bytes);
        }
    }

    /// The record of an ended event becomes the last that is written again; without history, the next.
    #[inline(never)]
    fn give_back(&self, index: u64, switches: Switches) {
        let running = self.running.get().saturating_sub(1);
        self.running.set(running);
        let len = self.queue.len();
        let first = self.first.get();
        // Back by so many places, round.
        let before = |places: usize| if first >= places { first - places } else { (first + len).saturating_sub(places) };
        let at = if switches.has(Switches::HISTORY) {
            before(running + 1)
        } else {
            // The place of the event that began last, which may be another one that still runs, has to keep its record.
            if running > 0
                && let (Some(from), Some(to)) = (self.queue.get(before(1)), self.queue.get(before(2)))
            {
                to.set(from.get());
            }
            self.first.set(before(1));
            before(1)
        };
        if let Some(word) = self.queue.get(at) {
            word.set(index);
        }
    }

    #[inline(always)]
    fn count(&self, wait: &Wait<'_>, switches: Switches, wait_ps: Option<u64>) {
        let class = wait.class.index();
        match self.stats.get(class) {
            Some(stat) if switches.has(Switches::THREAD) => stat::record(
                stat,
                Epochs(self.epochs.get()),
                wait.sequence,
                wait_ps,
                || self.honour(class),
                |word, wait_ps| self.note(switches, word, wait_ps),
            ),
            _ => self.count_shared(class, wait_ps),
        }
    }

    /// A table was truncated, or the slot has a new owner, since the last wait of this class.
    #[cold]
    #[inline(never)]
    fn honour(&self, class: usize) {
        if let (Some(stat), Some(carry)) = (self.stats.get(class), self.carries.get(class)) {
            stat::honour(stat, carry, Epochs(self.epochs.get()));
        }
    }

    // Methods, because a closure that names a field which is a reference loads it where the closure is made.
    #[inline(always)]
    fn note(&self, switches: Switches, histogram: &Word, wait_ps: u64) {
        if switches.has(Switches::HISTOGRAM) {
            wait_histogram::note(self.region, self.histograms, histogram, wait_ps);
        }
    }

    #[cold]
    fn count_shared(&self, class: usize, wait_ps: Option<u64>) {
        if let Some(words) = self.shared.get(class).and_then(|words| words.first_chunk()) {
            Shared(words).record(wait_ps);
        }
    }

    /// Whether the slot is this actor's.
    pub(crate) fn owns(&self, words: &SlotWords) -> bool {
        self.slot.as_ref().is_some_and(|slot| core::ptr::eq(slot.words, words)) && self.keep.get() == u64::MAX
    }

    /// The words that must agree with what the actor itself remembers.
    pub(crate) fn own_words(&self) -> impl Iterator<Item = &'r Word> {
        let slot = self.slot.iter().flat_map(|slot| slot.words);
        slot.chain(self.ring.as_flattened()).chain(self.queue)
    }

    /// Gives back the chunk of the long history that it has not filled.
    pub(crate) fn finish_chunk(&self) {
        self.long.finish();
    }
}
