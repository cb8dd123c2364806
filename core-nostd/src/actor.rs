//! An actor records: one thread, task or interrupt level, and everything that only it writes.
//!
//! Who pays what, for one wait that is on, timed, visible and kept:
//! ```text
//! begin  [1] switches (1 load), mask (1 load), event id, record: 8 stores; first timer read
//! end    [1] record: 4 stores, summary: 5 loads, 4 stores, histogram: 2 loads, 2 stores; second timer read among them
//! read   [A] names, source lines, picoseconds of each row, sums over the actors
//! ```
//! Nothing in `begin` or `end` can fail, block, allocate or panic (`ci/targets` links a program that proves it), and nothing that follows
//! waits for the second timer value: it decides what is stored, not where, and no branch but those for a new extreme, which is rare. The
//! timer is read late in both: what is written before the second reading is written in the shadow of what the event itself still does.
//!
//! Nearly all events are alike ([`Switches::PLAIN`]), lie within no other, and have none within: their way is short, and inlined. What is
//! rare ends out of line, with all that is left out here.

use crate::class::Class;
use crate::file::FileIo;
use crate::instance::Held;
use crate::io;
use crate::long_history;
use crate::memory::{self, MemoryChange};
use crate::record::{self, Enclosing, Ended, EventType, IoEvent, RecordWords, Sequence, Start, What};
use crate::region::{CARRY, RECORD, Region, STAT, Section};
use crate::setup::{self, Switches};
use crate::slot::{self, ActorIdentity, Claimed, SlotWords};
use crate::socket::SocketIo;
use crate::source::{Recent, SourceBits};
use crate::stat::{self, Epochs, Shared, StatWords};
use crate::sync::Word;
use crate::{Instance, Lost, Operation, wait_histogram};
use core::cell::Cell;
use core::hint::cold_path;
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
    /// That before the first event: what the event ids in the tables count from.
    base: Sequence,
    epochs: &'r Word,
    mask: Cell<&'r Word>,
    /// What is left of an event's switches at its end: everything, until the slot is given back.
    keep: Cell<u64>,
    instance_epoch: &'r Word,
    /// That of the last event. Plain, because only the owner needs it.
    sequence: Cell<Sequence>,
    enclosing: Cell<Enclosing>,
    ring: Ring<'r>,
    /// None once the slot is given back.
    stats: Cell<&'r [StatWords]>,
    recent_sources: Recent,
    histograms: &'r [Word],
    long: long_history::Writer<'r>,
    files: io::Recorder<'r>,
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

/// A wait between its begin and its end, which are one actor's: one that another actor ends takes records out of the order of both, and
/// what they record later may not be visible. Switches are those of its start.
#[must_use = "a wait that is not ended stays visible as running"]
#[derive(Clone, Copy, Debug)]
pub struct Wait<'r> {
    sequence: Sequence,
    start: u64,
    /// The record in which it is visible.
    shown: Option<&'r RecordWords>,
    /// Where its sums are, if its switches are [`PLAIN`](Switches::PLAIN); nowhere else.
    plain_class: usize,
    switches: Switches,
    amount: u64,
    /// The amount was not known at the start.
    amount_is_new: bool,
}

impl Wait<'_> {
    /// One of which nothing is recorded.
    const NONE: Wait<'static> = Wait {
        sequence: Sequence(0),
        start: 0,
        shown: None,
        plain_class: usize::MAX,
        switches: Switches::OFF,
        amount: 0,
        amount_is_new: false,
    };

    /// Sets SPINS, or NUMBER_OF_BYTES plus 1, known when the wait ends.
    pub fn set_amount(&mut self, amount: u64) {
        self.amount = amount;
        self.amount_is_new = true;
    }

    /// Whether anything is recorded for it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn is_recorded(&self) -> bool {
        self.switches.is_on()
    }

    /// Whether its instance's figures are kept, too.
    #[cfg_attr(not(debug_assertions), inline(always))]
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
        Actor {
            thread_id: claimed.thread_id,
            base: claimed.base,
            epochs: slot::epochs_word(claimed.words),
            mask: Cell::new(slot::mask_word(claimed.words)),
            sequence: Cell::new(claimed.base),
            ring: Ring::new(region.arrays_of::<RECORD>(Section::Rings, claimed.index)),
            stats: Cell::new(region.arrays_of::<STAT>(Section::Stats, claimed.index)),
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
            base: Sequence(0),
            // Never looked at: there are no sums of its own.
            epochs: &setup::setup(region)[setup::word::NO_SLOT_MASK],
            mask: Cell::new(&setup::setup(region)[setup::word::NO_SLOT_MASK]),
            keep: Cell::new(u64::MAX),
            instance_epoch: &setup::setup(region)[setup::word::INSTANCE_EPOCH],
            sequence: Cell::new(Sequence(0)),
            enclosing: Cell::new(Enclosing::default()),
            ring: Ring::new(&[]),
            stats: Cell::new(&[]),
            recent_sources: Recent::default(),
            histograms: region.section(Section::Histograms),
            long: long_history::Writer::new(region),
            files: io::Recorder::new(region, &io::FILES, None),
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
        self.stats.set(&[]);
        self.long.close();
        if let Some(slot) = &self.slot {
            slot.release(self.sequence.get());
        }
    }

    /// A wait begins. `switches` are those of its class, loaded by the caller, who found them on.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn begin(&self, clock: &impl Clock, switches: Switches, class: Class, what: &WaitStart) -> Wait<'r> {
        self.begin_at(self.masked(switches), |switches| switches.read(clock), class, what)
    }

    /// A wait begins where another one ends: WL#2360's suggestion for pieces of code with nothing between them.
    /// One timer read serves both. The first one must not be held as an instance.
    #[cfg_attr(not(debug_assertions), inline(always))]
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
        let end = self.end(clock, ended, held).filter(|_| same_timer);
        self.begin_at(self.masked(switches), |switches| end.unwrap_or_else(|| switches.read(clock)), class, what)
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
        let wait = self.begin_at(self.masked(switches), |_| start, class, what);
        self.end(clock, wait, held)
    }

    /// Counts memory that comes or goes. `switches` are those of its class, loaded by the caller, who found them on. It is no event: it
    /// has no number and no time.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn count_memory(&self, switches: Switches, class: Class, change: MemoryChange) {
        let switches = self.masked(switches);
        if switches.has(Switches::THREAD) {
            self.memory.count(self.region, class, change);
        } else if switches.has(Switches::ENABLED) {
            memory::count_shared(self.region, class, change);
        }
    }

    /// What this thread does of what the class's switches say.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn masked(&self, switches: Switches) -> Switches {
        // Relaxed: a setting of its own, as the switches are.
        Switches(switches.0 & self.mask.get().get())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn epochs(&self) -> Epochs {
        Epochs(self.epochs.get())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn begin_at(&self, mut switches: Switches, read: impl Fn(Switches) -> u64, class: Class, what: &WaitStart) -> Wait<'r> {
        let sequence = self.sequence.get().next();
        let mut wait = Wait { sequence, amount: what.amount, ..Wait::NONE };
        if switches.has(Switches::PLAIN) {
            wait.plain_class = class.index();
        } else if switches.has(Switches::PLAIN_SAMPLED) {
            wait.plain_class = class.index();
            switches = switches.sampled(sequence);
        } else {
            cold_path();
            if !switches.has(Switches::ENABLED) {
                return Wait::NONE;
            }
            if switches.has(Switches::SAMPLED) {
                switches = switches.sampled(sequence);
            }
            if switches.has(Switches::TIMED) && !switches.has(Switches::TIMED_BY_COUNTER) {
                wait.start = read(switches);
            }
        }
        wait.switches = switches;
        self.sequence.set(sequence);
        // What is only counted needs nothing more at its begin, and one test.
        if switches.is_only_counted() {
            return wait;
        }
        // Which timer is known where it is read, so that it is one test.
        let by_counter = Switches(Switches::TIMED_BY_COUNTER);
        if switches.has(Switches::CURRENT)
            && let Some(record) = self.show(&wait, what)
        {
            wait.shown = Some(record);
            if switches.has(Switches::TIMED_BY_COUNTER) {
                wait.start = read(by_counter);
            }
            record::finish_start(record, sequence, wait.start);
        } else if switches.has(Switches::TIMED_BY_COUNTER) {
            wait.start = read(by_counter);
        }
        wait
    }

    /// Takes the record that ended longest ago, and writes there what is known before the timer is read. What begins from now on lies within
    /// this event, until it ends.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn show(&self, wait: &Wait<'_>, what: &WaitStart) -> Option<&'r RecordWords> {
        let Some(record) = self.ring.take() else {
            self.region.count_lost(Lost::NestedEvents);
            return None;
        };
        let source = match what.source {
            Some(location) => self.recent_sources.intern(self.region, location),
            None => SourceBits::default(),
        };
        let start = Start {
            what: What::new(wait.switches, source, what.operation),
            object: what.object,
            nesting: self.enclosing.replace(Enclosing::event(wait.sequence, EventType::Wait)),
            amount: what.amount,
            io: what.io,
        };
        record::begin_start(record, wait.sequence, &start);
        Some(record)
    }

    /// A wait ends. Returns the timer's ticks, if it was timed.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn end(&self, clock: &impl Clock, wait: Wait<'_>, held: Held<'_, '_>) -> Option<u64> {
        let switches = wait.switches;
        match self.stats.get().get(wait.plain_class) {
            // Not for io, whose sums would be there twice.
            Some(stat) if switches.is_only_counted() && !matches!(held, Held::File(_) | Held::Socket(_)) => {
                let sums = stat::begin(stat, self.epochs(), wait.sequence, || self.honour(stat, switches.class().index()));
                sums.count_untimed();
                sums.publish(wait.sequence);
                self.count_object(&wait, switches, &Object::of(&held), None);
                None
            }
            Some(stat) => {
                // Known here, as where it began.
                let timer = switches.has(Switches::TIMED_BY_COUNTER).then_some(TimerName::Cycle.index());
                self.end_as(&wait, switches, &Object::of(&held), Some(stat), timer, || clock.counter())
            }
            None => self.end_otherwise(clock, wait, Object::of(&held)),
        }
    }

    /// A wait ends that is rare, or whose slot was given back meanwhile.
    #[cold]
    #[inline(never)]
    fn end_otherwise(&self, clock: &impl Clock, mut wait: Wait<'_>, object: Object<'_>) -> Option<u64> {
        let switches = Switches(wait.switches.0 & self.keep.get());
        if !switches.has(Switches::ENABLED) {
            return None;
        }
        if !switches.has(Switches::CURRENT) {
            wait.shown = None;
        }
        let stat = self.stats.get().get(switches.class().index()).filter(|_| switches.has(Switches::THREAD));
        let timer = switches.has(Switches::TIMED).then_some(usize::from(switches.timer_index()));
        self.end_as(&wait, switches, &object, stat, timer, || switches.read(clock))
    }

    /// A wait ends; `timer` is that of its conversion, if it is timed.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn end_as(
        &self,
        wait: &Wait<'_>,
        switches: Switches,
        object: &Object<'_>,
        stat: Option<&StatWords>,
        timer: Option<usize>,
        read: impl Fn() -> u64,
    ) -> Option<u64> {
        let class = switches.class().index();
        let sums = stat.map(|stat| stat::begin(stat, self.epochs(), wait.sequence, || self.honour(stat, class)));
        let Some(timer) = timer else {
            match sums {
                Some(sums) => {
                    sums.count_untimed();
                    sums.publish(wait.sequence);
                }
                None => self.count_shared(class, None),
            }
            self.begin_end(wait, switches).finish(self, wait, None);
            self.count_object(wait, switches, object, None);
            return None;
        };
        let ending = self.begin_end(wait, switches);
        let ticks = read();
        ending.finish(self, wait, Some(ticks));
        let wait_ps = self.conversions[timer % 8].picoseconds(difference(wait.start, ticks));
        match sums {
            Some(sums) => {
                sums.count_timed(wait_ps);
                if switches.has(Switches::HISTOGRAM) {
                    wait_histogram::note(self.region, self.histograms, sums.histogram(), wait_ps);
                }
                sums.publish(wait.sequence);
            }
            None => self.count_shared(class, Some(wait_ps)),
        }
        self.count_object(wait, switches, object, Some(wait_ps));
        Some(ticks)
    }

    /// Whatever of the end comes before the timer is read, where the wait is visible and in the histories.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn begin_end<'a>(&'a self, wait: &'a Wait<'_>, switches: Switches) -> Ending<'a> {
        let Some(record) = wait.shown else { return Ending { record: None, row: None } };
        let nesting = record::nesting(record);
        self.enclosing.set(nesting);
        let amount = wait.amount_is_new.then_some(wait.amount);
        if record::was_hidden(record, wait.sequence) {
            self.begin_end_hidden(record, wait.sequence, amount);
            return Ending { record: Some(record), row: None };
        }
        self.ring.give_back(record, switches.has(Switches::HISTORY));
        record::begin_end(record, wait.sequence, self.sequence.get(), amount);
        let mut row = None;
        if switches.has(Switches::HISTORY_LONG) {
            row = self.long.next(self.region);
            if let Some(row) = row {
                let ended = Ended {
                    record,
                    start: wait.start,
                    // Read again: no register is kept for it where there is no long history.
                    end_event: self.sequence.get(),
                    nesting,
                    amount: wait.amount,
                    sequence: wait.sequence,
                    base: self.base,
                    thread_id: self.thread_id,
                };
                self.long.begin(row, &ended);
            }
        }
        Ending { record: Some(record), row }
    }

    /// The same for what TRUNCATE has hidden while it ran: no history keeps it.
    #[cold]
    #[inline(never)]
    fn begin_end_hidden(&self, record: &RecordWords, sequence: Sequence, amount: Option<u64>) {
        self.ring.give_back(record, false);
        record::begin_end(record, sequence, self.sequence.get(), amount);
    }

    /// Counts the wait for the lock, the file or the socket.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn count_object(&self, wait: &Wait<'_>, switches: Switches, object: &Object<'_>, wait_ps: Option<u64>) {
        let bytes = wait.amount.saturating_sub(1);
        let io = match object {
            Object::File(io) => Some((&self.files, io.counted())),
            Object::Socket(io) => Some((&self.sockets, io.counted())),
            Object::Exclusive(_) | Object::Shared(_) | Object::None => None,
        };
        if let Some((recorder, io)) = &io {
            recorder.count(self.region, io, switches, self.thread_id, wait_ps, bytes);
        }
        if switches.has(Switches::INSTANCE) {
            match object {
                Object::Exclusive(instance) => instance.record_alone(self.instance_epoch.get(), wait_ps),
                Object::Shared(instance) => instance.record_shared(wait_ps),
                Object::File(_) | Object::Socket(_) => {
                    if let Some(place) = io.and_then(|(_, io)| io.place) {
                        place.count_wait(self.thread_id, self.instance_epoch.get(), wait_ps);
                    }
                }
                Object::None => {}
            }
        }
    }

    /// Counts an operation on a socket that is no wait: what a thread that was idle has received. It is not timed, enters no events table
    /// and no sum of waits, only the sums of the socket's operations and bytes. `switches` are those of its class.
    pub fn count_socket(&self, switches: Switches, io: &SocketIo<'_>, bytes: u64) {
        let switches = self.masked(switches);
        if switches.has(Switches::ENABLED) {
            self.sockets.count(self.region, &io.counted(), switches, self.thread_id, None, bytes);
        }
    }

    /// A table was truncated, or the slot has a new owner, since the last wait of this class.
    #[cold]
    #[inline(never)]
    fn honour(&self, stat: &StatWords, class: usize) {
        let carries = |slot: &Claimed<'r>| self.region.arrays_of::<CARRY>(Section::Carries, slot.index).get(class);
        if let Some(carry) = self.slot.as_ref().and_then(carries) {
            stat::honour(stat, carry, self.epochs());
        }
    }

    #[cold]
    fn count_shared(&self, class: usize, wait_ps: Option<u64>) {
        let shared = self.region.arrays::<STAT>(Section::SharedStats);
        if let Some(words) = shared.get(class).and_then(|words| words.first_chunk()) {
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
        slot.chain(self.ring.records.as_flattened())
    }

    /// Gives back the chunk of the long history that it has not filled.
    pub(crate) fn finish_chunk(&self) {
        self.long.close();
    }
}

/// Where a wait is being written that ends, but for the time.
struct Ending<'r> {
    record: Option<&'r RecordWords>,
    /// In the long history.
    row: Option<&'r RecordWords>,
}

impl Ending<'_> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn finish(self, actor: &Actor<'_>, wait: &Wait<'_>, ticks: Option<u64>) {
        if let Some(record) = self.record {
            record::finish_end(record, wait.sequence, ticks);
            if let Some(row) = self.row {
                actor.long.finish(row, ticks);
            }
        }
    }
}

/// What a wait was for: [`Held`], by value.
#[derive(Clone, Copy)]
enum Object<'r> {
    Exclusive(Instance<'r>),
    Shared(Instance<'r>),
    File(FileIo<'r>),
    Socket(SocketIo<'r>),
    None,
}

impl<'r> Object<'r> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn of(held: &Held<'_, 'r>) -> Object<'r> {
        match held {
            Held::Exclusive(instance) => Object::Exclusive(**instance),
            Held::Shared(instance) => Object::Shared(**instance),
            Held::File(io) => Object::File(*io),
            Held::Socket(io) => Object::Socket(*io),
            Held::None => Object::None,
        }
    }
}

/// The records of an actor, and the order in which they are taken: the one whose event ended longest ago first.
///
/// They are linked in that order, round and round. Where events follow one another, what is taken is what comes next, and stays in its
/// place among the others until it has ended; then it is the last. Only where events lie within one another, or overlap, are the records
/// of those that run taken out, and put in where they belong when they end.
#[derive(Debug)]
struct Ring<'r> {
    records: &'r [RecordWords],
    /// Where no event runs, the record that is taken next; of one that runs alone, the complement of its record; otherwise [`OUT`].
    next: Cell<usize>,
    /// Where `next` is [`OUT`]: the record that is taken next, [`OUT`] if none is left, and how many events run.
    first: Cell<usize>,
    running: Cell<usize>,
}

/// No index, nor the complement of one.
const OUT: usize = usize::MAX >> 1;

impl<'r> Ring<'r> {
    fn new(records: &'r [RecordWords]) -> Ring<'r> {
        let len = records.len();
        for (index, record) in records.iter().enumerate() {
            let next = if index + 1 == len { 0 } else { index + 1 };
            let previous = if index == 0 { len - 1 } else { index - 1 };
            record[record::word::NEXT].set(next as u64);
            record[record::word::PREVIOUS].set(previous as u64);
        }
        Ring { records, next: Cell::new(0), first: Cell::new(OUT), running: Cell::new(0) }
    }

    /// The record for an event that begins. None if each is used by an event that runs.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take(&self) -> Option<&'r RecordWords> {
        let next = self.next.get();
        match self.records.get(next) {
            Some(record) => {
                self.next.set(!next);
                Some(record)
            }
            None => self.take_beside(),
        }
    }

    /// The same, while other events run.
    #[cold]
    #[inline(never)]
    fn take_beside(&self) -> Option<&'r RecordWords> {
        let alone = !self.next.get();
        if alone < self.records.len() {
            self.first.set(self.take_out(alone));
            self.running.set(1);
            self.next.set(OUT);
        }
        let first = self.first.get();
        let record = self.records.get(first)?;
        self.first.set(self.take_out(first));
        self.running.set(self.running.get() + 1);
        Some(record)
    }

    /// Takes a record out of the order, and returns the one behind it, if there is another.
    fn take_out(&self, index: usize) -> usize {
        let Some(record) = self.records.get(index) else { return OUT };
        let (next, previous) = (record[record::word::NEXT].get() as usize, record[record::word::PREVIOUS].get() as usize);
        let (Some(behind), Some(before)) = (self.records.get(next), self.records.get(previous)) else { return OUT };
        behind[record::word::PREVIOUS].set(previous as u64);
        before[record::word::NEXT].set(next as u64);
        if next == index { OUT } else { next }
    }

    /// The record of an event that ends is the last that is written again; without history, the next.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn give_back(&self, record: &RecordWords, history: bool) {
        if history && self.next.get() > OUT {
            self.next.set(record[record::word::NEXT].get() as usize);
        } else {
            self.put_in(record, history);
        }
    }

    /// The same, where other events run, or without history.
    #[cold]
    #[inline(never)]
    fn put_in(&self, record: &RecordWords, history: bool) {
        let index =
            (core::ptr::from_ref(record) as usize).wrapping_sub(self.records.as_ptr() as usize) / size_of::<RecordWords>();
        if self.next.get() > OUT {
            self.next.set(index);
            return;
        }
        let first = self.first.get();
        let (next, previous) = match self.records.get(first) {
            Some(next) => (first, next[record::word::PREVIOUS].get() as usize),
            None => (index, index),
        };
        record[record::word::NEXT].set(next as u64);
        record[record::word::PREVIOUS].set(previous as u64);
        if let (Some(behind), Some(before)) = (self.records.get(next), self.records.get(previous)) {
            behind[record::word::PREVIOUS].set(index as u64);
            before[record::word::NEXT].set(index as u64);
        }
        if !history || next == index {
            self.first.set(index);
        }
        let running = self.running.get().saturating_sub(1);
        self.running.set(running);
        if running == 0 {
            self.next.set(self.first.get());
        }
    }
}
