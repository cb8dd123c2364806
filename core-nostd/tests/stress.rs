//! Does a reader ever get a mixture: of two events, two threads, two locks, two states of a sum?
//!
//! Every row here carries its own checksum. Who knows a thread's number and an event's number in it can say what all other columns of
//! that event must be, likewise the sums of n waits from n, and a thread's name, user and host from its serial number. Actors come and
//! go past full pools all the while. A row that contradicts itself is torn; a place that gave no row must be in the sweep's account;
//! and in the end what was recorded and what was lost are together what was done.
//!
//! `PERFSCHEMA_STRESS_READS` says how many rows are read and checked. `ci/stress` reads 10¹⁰.

use perfschema_core::table::{Cell, Sweep, TableSource, Value};
use perfschema_core::tables::{
    EventsWaitsCurrent, EventsWaitsHistory, EventsWaitsHistoryLong, EventsWaitsRow, EventsWaitsSummaryByInstance,
    EventsWaitsSummaryByInstanceRow, EventsWaitsSummaryByThreadByEventName, EventsWaitsSummaryByThreadByEventNameRow,
    MutexInstances, MutexInstancesRow, Threads, ThreadsRow,
};
use perfschema_core::timer::{MockClock, TimerName};
use perfschema_core::{
    Actor, ActorIdentity, Class, Config, Held, Identity, InstanceId, InstrumentName, IoEvent, Lost, Operation, Region, Setting,
    Size, Summary, ThreadType, Wait, WaitCopy, WaitStart, Word,
};
use std::fmt::Debug;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Rows that a plain `cargo test` reads.
const FEW_READS: u64 = 200_000;

/// Actors that one writing thread has at one time: more than the pools have room for, so that some are always turned away.
const ACTORS_AT_ONCE: usize = 12;

/// Odd events are of the first, even ones lie within them and are of the second.
const CLASSES: [&str; 2] = ["wait/synch/mutex/s/A", "wait/synch/mutex/s/B"];

const OPERATIONS: [Operation; 3] = [Operation::Lock, Operation::TryLock, Operation::Wait];

fn config(writers: usize) -> Config {
    let room = |wanted: usize| (wanted * 3 / 4) as u32;
    Config::EMPTY
        .with(Size::MaxMutexClasses, CLASSES.len() as u32)
        .with(Size::MaxMutexInstances, room(writers * ACTORS_AT_ONCE * CLASSES.len()))
        .with(Size::MaxThreadInstances, room(writers * ACTORS_AT_ONCE))
        .with(Size::EventsWaitsHistorySize, 10)
        .with(Size::EventsWaitsHistoryLongSize, 128)
        .with(Size::SetupActorsSize, 1)
}

#[test]
#[cfg_attr(miri, ignore = "too slow; `threads` is for Miri, too")]
fn no_row_is_a_mixture() {
    let wanted = std::env::var("PERFSCHEMA_STRESS_READS").map(|text| text.parse().expect("PERFSCHEMA_STRESS_READS is a number"));
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    // More than there are cores for, so that some are always stopped by the scheduler, also in the middle of a write.
    let (writers, readers) = (cores / 2 + 1, cores * 3 / 2 + cores % 2);
    let world = &World::new(writers);
    let run = &Run {
        wanted: *wanted.as_ref().unwrap_or(&FEW_READS),
        read: AtomicU64::new(0),
        failed: AtomicBool::new(false),
        start: Barrier::new(writers + readers),
    };
    let started = Instant::now();
    let (done, tallies) = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..readers).map(|_| scope.spawn(|| Reader::new(world).read_until_done(run))).collect();
        let writers: Vec<_> = (0..writers).map(|n| scope.spawn(move || Writer::new(world, n).write_until_done(run))).collect();
        if wanted.is_ok() {
            scope.spawn(|| report_progress(run, started));
        }
        let tallies: Vec<_> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
        let done = writers.into_iter().map(|writer| writer.join().unwrap()).reduce(Done::add).unwrap();
        (done, tallies)
    });
    let seconds = started.elapsed().as_secs_f64();

    let (mut all, mut torn, mut never_read) = (Sweep::default(), 0, vec![]);
    println!("{:<45} {:>14} {:>14} {:>12} {:>12} {:>6}", "table", "rows", "free", "skipped", "changed", "torn");
    for index in 0..tallies[0].len() {
        let mut of_table = Tally::new(tallies[0][index].table);
        tallies.iter().for_each(|reader| of_table.add(&reader[index]));
        let Tally { table, sweep, torn: torn_here, .. } = &of_table;
        println!("{table:<45} {:>14} {:>14} {:>12} {:>12} {torn_here:>6}", sweep.rows, sweep.free, sweep.skipped, sweep.changed);
        never_read.extend((sweep.rows == 0).then_some(*table));
        add(&mut all, *sweep);
        torn += torn_here;
    }
    // ci/stress reads this line.
    println!("stress: reads {} torn {torn} missed {} seconds {seconds:.0}", all.rows, all.skipped + all.changed);
    println!("        {:.2} million reads a second, {readers} readers, {writers} writers", all.rows as f64 / seconds / 1e6);
    println!("        {done:?}");

    let first_torn: Vec<_> = tallies.iter().flatten().filter_map(|tally| tally.first_torn.as_deref()).collect();
    assert!(torn == 0, "{torn} torn rows, the first of each reader and table:\n{}", first_torn.join("\n"));
    assert!(all.rows >= run.wanted && never_read.is_empty(), "{} rows, none of {never_read:?}", all.rows);
    done.is_accounted_for(world);
}

/// How far all threads are.
struct Run {
    wanted: u64,
    read: AtomicU64,
    failed: AtomicBool,
    /// All wait here until every pool is full and every table has a row, however the scheduler likes them.
    start: Barrier,
}

impl Run {
    /// Relaxed, as everything here is but what is tested: it says when to stop.
    fn is_over(&self) -> bool {
        self.read.load(Ordering::Relaxed) >= self.wanted || self.failed.load(Ordering::Relaxed)
    }
}

/// A thread that panics must not leave the others running.
struct StopsOthers<'a>(&'a Run);

impl Drop for StopsOthers<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.failed.store(true, Ordering::Relaxed);
        }
    }
}

fn report_progress(run: &Run, started: Instant) {
    let mut next = 10;
    while !run.is_over() {
        std::thread::sleep(Duration::from_millis(100));
        let passed = started.elapsed();
        if passed.as_secs() >= next {
            next += 10;
            let read = run.read.load(Ordering::Relaxed);
            let rate = read as f64 / passed.as_secs_f64();
            let left_s = run.wanted.saturating_sub(read) as f64 / rate;
            eprintln!("{read} of {} read, {:.2} million a second, {left_s:.0} s left", run.wanted, rate / 1e6);
        }
    }
}

struct World {
    region: &'static Region<'static>,
    classes: [Class; 2],
}

impl World {
    fn new(writers: usize) -> World {
        let config = config(writers);
        let words: &'static [Word] = (0..config.words()).map(|_| Word::new(0)).collect::<Vec<_>>().leak();
        let region = Region::create(words, &config, &Identity::default(), &MockClock::new().timers()).unwrap();
        let region: &'static Region<'static> = Box::leak(Box::new(region));
        region.set_wait_timer(TimerName::Nanosecond);
        region.enable_everything();
        let classes = CLASSES.map(|name| region.register(InstrumentName::new(name).unwrap(), Setting::ON).unwrap());
        World { region, classes }
    }
}

// ---- What every column must be. ----

/// A number that looks random, and another one for each `what` (SplitMix64's finish).
fn hash(of: u64, what: u64) -> u64 {
    let mut x = of.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(what.wrapping_mul(0xd1b5_4a32_d192_ed03));
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// An event of an actor: all of it follows from the two numbers.
///
/// `actor` is the thread's number. An actor without a slot has none, and uses one from [`SLOTLESS`] on.
#[derive(Clone, Copy)]
struct Event {
    actor: u64,
    id: u64,
    seed: u64,
}

const SLOTLESS: u64 = 1 << 40;

impl Event {
    fn new(actor: u64, id: u64) -> Event {
        Event { actor, id, seed: hash(hash(actor, 1), id) }
    }

    fn class(self) -> usize {
        (self.id - 1) as usize % 2
    }

    /// It is the n-th of its actor at its instrument, from 1.
    fn ordinal(self) -> u64 {
        self.id.div_ceil(2)
    }

    fn nesting(self) -> Option<u64> {
        (self.class() == 1).then(|| self.id - 1)
    }

    /// An outer event ends after the inner one has begun.
    fn end_event(self) -> u64 {
        self.id + u64::from(self.class() == 0)
    }

    fn number(self, what: u64) -> u64 {
        hash(self.seed, what)
    }

    fn start_ns(self) -> u64 {
        self.number(2) >> 24
    }

    fn wait_ns(self) -> u64 {
        wait_ns(self.actor, self.ordinal())
    }

    fn object(self) -> u64 {
        self.number(3)
    }

    /// While it lasts, and when it has ended.
    fn spins(self, ended: bool) -> u32 {
        self.number(4 + u64::from(ended)) as u32 | 1
    }

    fn operation(self) -> Operation {
        OPERATIONS[self.number(6) as usize % OPERATIONS.len()]
    }

    fn is_shown_by(self, row: &EventsWaitsRow, may_run: bool) -> bool {
        let ended = row.end_event_id.is_some();
        let (start_ps, wait_ps) = (self.start_ns() * 1_000, self.wait_ns() * 1_000);
        (ended || may_run)
            && row.event_name == CLASSES[self.class()]
            && row.end_event_id == ended.then(|| self.end_event())
            && row.timer_start == Some(start_ps)
            && row.timer_wait == ended.then_some(wait_ps)
            && row.timer_end == ended.then_some(start_ps + wait_ps)
            && row.spins == Some(self.spins(ended))
            && row.object_instance_begin == self.object()
            && row.nesting_event_id == self.nesting()
            && row.nesting_event_type.value() == self.nesting().map_or(Value::Null, |_| Value::Text("WAIT"))
            && row.operation == self.operation().name()
            && row.source.is_none()
    }
}

/// The n-th wait of an actor at either instrument. Odd ones grow and even ones shrink, so that each changes the maximum or the minimum.
fn wait_ns(actor: u64, ordinal: u64) -> u64 {
    let base = 1_000 + hash(actor, 7) % 1_000_000;
    if ordinal % 2 == 1 { base + ordinal } else { base - ordinal }
}

/// What `count` waits come to, in picoseconds: sum, minimum, average, maximum.
fn sums_ps(actor: u64, count: u64) -> [u64; 4] {
    let base = 1_000 + hash(actor, 7) % 1_000_000;
    let [odd, even] = [count.div_ceil(2), count / 2];
    if count > base {
        return [u64::MAX; 4]; // No actor waits that often, and no sums are these.
    }
    // 1 + 3 + 5 + … over the odd ones, 2 + 4 + 6 + … over the even ones.
    let sum = count * base + odd * odd - even * (even + 1);
    let (min, max) = match count {
        0 => (0, 0),
        1 => (base + 1, base + 1),
        _ => (base - 2 * even, base + 2 * odd - 1),
    };
    [sum * 1_000, min * 1_000, (sum * 1_000).checked_div(count).unwrap_or(0), max * 1_000]
}

/// The lock of an actor at an instrument: its address says whose it is.
fn lock_address(actor: u64, class: usize) -> u64 {
    actor << 1 | class as u64
}

fn lock_of(address: u64) -> (u64, usize) {
    (address >> 1, address as usize & 1)
}

/// Who an actor says that it is: all of it follows from its serial number.
struct Who {
    serial: u64,
    name: [u8; NAME_PREFIX.len() + 16],
    user: [u8; 16],
    host: [u8; 16],
}

const NAME_PREFIX: &str = "thread/stress/";

impl Who {
    fn new(serial: u64) -> Who {
        let mut name = [0; NAME_PREFIX.len() + 16];
        name[..NAME_PREFIX.len()].copy_from_slice(NAME_PREFIX.as_bytes());
        name[NAME_PREFIX.len()..].copy_from_slice(&hex(serial));
        Who { serial, name, user: hex(hash(serial, 8)), host: hex(hash(serial, 9)) }
    }

    /// The one who has this name.
    fn named(name: &str) -> Option<Who> {
        let digits = name.strip_prefix(NAME_PREFIX)?;
        Some(Who::new(digits.bytes().try_fold(0, |number, digit| Some(number << 4 | u64::from((digit as char).to_digit(16)?)))?))
    }

    fn identity(&self) -> ActorIdentity<'_> {
        let text = |digits| str::from_utf8(digits).expect("ASCII");
        ActorIdentity {
            name: text(&self.name),
            thread_type: if self.is_foreground() { ThreadType::Foreground } else { ThreadType::Background },
            user: text(self.user()),
            host: text(&self.host),
            os_id: hash(self.serial, 10) | 1,
            parent_thread_id: hash(self.serial, 11) | 1,
            start_monotonic_ns: self.serial,
        }
    }

    fn is_foreground(&self) -> bool {
        self.serial % 2 == 1
    }

    /// Of several lengths.
    fn user(&self) -> &[u8] {
        &self.user[..1 + self.serial as usize % 16]
    }

    fn is_shown_by(&self, row: &ThreadsRow) -> bool {
        row.name.as_str().as_bytes() == self.name
            && row.processlist_user.is_some_and(|user| user.as_str().as_bytes() == self.user())
            && row.processlist_host.is_some_and(|host| host.as_str().as_bytes() == self.host)
            && row.thread_type == if self.is_foreground() { "FOREGROUND" } else { "BACKGROUND" }
            && row.processlist_id == self.is_foreground().then_some(row.thread_id)
            && row.thread_os_id == Some(hash(self.serial, 10) | 1)
            && row.parent_thread_id == Some(hash(self.serial, 11) | 1)
    }
}

fn hex(number: u64) -> [u8; 16] {
    std::array::from_fn(|i| b"0123456789abcdef"[(number >> (60 - 4 * i)) as usize & 15])
}

// ---- Those who write. ----

/// One actor, from its start to its end.
struct Life {
    actor: Actor<'static>,
    /// The thread's number, or one from [`SLOTLESS`] on.
    key: u64,
    last_event: u64,
    locks: [Option<InstanceId>; 2],
    pairs_left: u64,
}

struct Writer<'w> {
    world: &'w World,
    clock: MockClock,
    /// Of the actor that came last; the upper bits are the writer's own.
    serial: u64,
    state: u64,
    done: Done,
}

/// What was done, to be found again in the end.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    sums: [Summary; 2],
    actors: u64,
    actors_without_slot: u64,
    locks: u64,
    locks_without_place: u64,
}

impl<'w> Writer<'w> {
    fn new(world: &'w World, n: usize) -> Writer<'w> {
        let state = hash(n as u64, 12);
        Writer { world, clock: MockClock::new(), serial: (n as u64) << 48, state, done: Done::default() }
    }

    fn random_below(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_add(1);
        hash(self.state, 13) % bound
    }

    fn write_until_done(mut self, run: &Run) -> Done {
        let _stops = StopsOthers(run);
        let mut lives: Vec<Life> = (0..ACTORS_AT_ONCE).map(|_| self.begin_life()).collect();
        lives.iter_mut().for_each(|life| self.record_pair(life, false));
        run.start.wait();
        while !run.is_over() {
            let chosen = self.random_below(lives.len() as u64) as usize;
            for _ in 0..1 + self.random_below(8) {
                match lives[chosen].pairs_left.checked_sub(1) {
                    Some(left) => {
                        lives[chosen].pairs_left = left;
                        self.record_pair(&mut lives[chosen], false);
                    }
                    None => {
                        let ended = std::mem::replace(&mut lives[chosen], self.begin_life());
                        self.end_life(ended);
                    }
                }
            }
        }
        lives.into_iter().for_each(|life| self.end_life(life));
        self.done
    }

    fn begin_life(&mut self) -> Life {
        let region = self.world.region;
        self.serial += 1;
        let actor = Actor::attach(region, &Who::new(self.serial).identity());
        let key = if actor.thread_id() == 0 { SLOTLESS + self.serial } else { actor.thread_id() };
        let locks = [0, 1].map(|class| region.create_instance(self.world.classes[class], lock_address(key, class)));
        if let Some(lock) = locks[0].and_then(|id| region.instance(id)) {
            lock.set_holder(key);
        }
        self.done.actors += 1;
        self.done.actors_without_slot += u64::from(actor.thread_id() == 0);
        self.done.locks += 2;
        self.done.locks_without_place += locks.iter().filter(|lock| lock.is_none()).count() as u64;
        Life { actor, key, last_event: 0, locks, pairs_left: self.random_below(200) }
    }

    fn end_life(&mut self, mut life: Life) {
        // Every eighth ends in the middle of a wait, as a thread does that records in its destructors.
        if self.random_below(8) == 0 {
            self.record_pair(&mut life, true);
        }
        life.actor.detach();
        for id in life.locks.into_iter().flatten() {
            self.world.region.destroy_instance(id);
        }
    }

    /// An event within another one.
    fn record_pair(&mut self, life: &mut Life, detach_within: bool) {
        let [outer, inner] = [1, 2].map(|next| Event::new(life.key, life.last_event + next));
        life.last_event += 2;
        let outer_wait = self.begin(life, outer);
        let inner_wait = self.begin(life, inner);
        self.end(life, inner, inner_wait);
        if detach_within {
            life.actor.detach();
        }
        self.end(life, outer, outer_wait);
    }

    fn begin(&self, life: &Life, event: Event) -> Wait<'static> {
        let class = self.world.classes[event.class()];
        self.clock.set(TimerName::Nanosecond, event.start_ns());
        let amount = event.spins(false).into();
        let what = WaitStart { operation: event.operation(), object: event.object(), source: None, amount, io: IoEvent::None };
        life.actor.begin(&self.clock, self.world.region.switches(class), class, &what)
    }

    fn end(&mut self, life: &Life, event: Event, mut wait: Wait<'_>) {
        let lock = life.locks[event.class()].and_then(|id| self.world.region.instance(id));
        wait.set_amount(event.spins(true).into());
        self.clock.set(TimerName::Nanosecond, event.start_ns() + event.wait_ns());
        life.actor.end(&self.clock, wait, lock.as_ref().map_or(Held::None, Held::Exclusive));
        let wait_ps = event.wait_ns() * 1_000;
        let one = Summary { count: 1, count_timed: 1, sum_ps: wait_ps, min_ps: wait_ps, max_ps: wait_ps };
        self.done.sums[event.class()].add(&one);
    }
}

impl Done {
    fn add(mut self, other: Done) -> Done {
        for (sum, other) in self.sums.iter_mut().zip(&other.sums) {
            sum.add(other);
        }
        self.actors += other.actors;
        self.actors_without_slot += other.actors_without_slot;
        self.locks += other.locks;
        self.locks_without_place += other.locks_without_place;
        self
    }

    /// Nobody writes any more: what was done is what was recorded and what was lost.
    fn is_accounted_for(&self, world: &World) {
        let region = world.region;
        assert_eq!(world.classes.map(|class| region.summary_by_event_name(class)), self.sums);
        assert_eq!(region.lost(Lost::ThreadInstances), self.actors_without_slot);
        assert_eq!(region.lost(Lost::MutexInstances), self.locks_without_place);
        assert_eq!(region.lost(Lost::NestedEvents), 0);
        // Numbers of threads are given to those with a slot only, and none is left out.
        let next = Actor::attach(region, &ActorIdentity::default());
        assert_eq!(next.thread_id(), self.actors - self.actors_without_slot + 1);
        next.detach();
        // Every slot and every place of a lock is free again.
        let mut left = 0;
        let sweeps = [region.scan(&Threads, |_| left += 1), region.scan(&MutexInstances, |_| left += 1)];
        assert!(left == 0 && sweeps.iter().all(|sweep| sweep.free == sweep.places), "{sweeps:?}");
        assert!(self.actors_without_slot > 0 && self.locks_without_place > 0, "the pools were never full: {self:?}");
    }
}

// ---- Those who read. ----

/// What one reader found in one table.
struct Tally {
    table: &'static str,
    sweep: Sweep,
    torn: u64,
    first_torn: Option<String>,
}

impl Tally {
    fn new(table: &'static str) -> Tally {
        Tally { table, sweep: Sweep::default(), torn: 0, first_torn: None }
    }

    /// Reads the table once, and checks each row.
    fn read<T: TableSource>(&mut self, table: &T, world: &World, mut is_whole: impl FnMut(&T::Row) -> bool)
    where
        T::Row: Debug,
    {
        // Not Region::scan: that pauses, for the writers' sake.
        let sweep = TableSource::scan(table, world.region, &mut |row| {
            if !is_whole(row) {
                self.torn += 1;
                self.first_torn.get_or_insert_with(|| format!("{row:?}"));
            }
        });
        assert_eq!(sweep.rows + sweep.free + sweep.skipped + sweep.changed, sweep.places, "{}: {sweep:?}", self.table);
        add(&mut self.sweep, sweep);
    }

    /// Copies all waits, and checks what each of them decodes to.
    fn copy(&mut self, copies: &mut [WaitCopy], world: &World) {
        let sweep = world.region.copy_waits(copies);
        for row in copies[..sweep.rows as usize].iter().filter_map(|copy| copy.row(world.region)) {
            if !is_whole_event(&row, true) {
                self.torn += 1;
                self.first_torn.get_or_insert_with(|| format!("{row:?}"));
            }
        }
        assert_eq!(sweep.rows + sweep.free + sweep.skipped + sweep.changed, sweep.places, "copies: {sweep:?}");
        add(&mut self.sweep, sweep);
    }

    fn add(&mut self, other: &Tally) {
        add(&mut self.sweep, other.sweep);
        self.torn += other.torn;
    }
}

fn add(total: &mut Sweep, sweep: Sweep) {
    total.places += sweep.places;
    total.rows += sweep.rows;
    total.free += sweep.free;
    total.skipped += sweep.skipped;
    total.changed += sweep.changed;
}

struct Reader<'w> {
    world: &'w World,
    /// Threads seen of late, by their number, with their serial numbers: a thread does not change its name.
    seen: Vec<(u64, u64)>,
}

impl<'w> Reader<'w> {
    fn new(world: &'w World) -> Reader<'w> {
        Reader { world, seen: vec![(0, 0); 1 << 10] }
    }

    fn read_until_done(mut self, run: &Run) -> Vec<Tally> {
        let _stops = StopsOthers(run);
        let world = self.world;
        let [mut current, mut history, mut long, mut threads, mut locks, mut by_thread, mut by_lock] = [
            EventsWaitsCurrent::DECLARATION,
            EventsWaitsHistory::DECLARATION,
            EventsWaitsHistoryLong::DECLARATION,
            Threads::DECLARATION,
            MutexInstances::DECLARATION,
            EventsWaitsSummaryByThreadByEventName::DECLARATION,
            EventsWaitsSummaryByInstance::DECLARATION,
        ]
        .map(|table| Tally::new(table.name));
        let (mut copied, mut copies) = (Tally::new("copies"), vec![WaitCopy::default(); world.region.wait_places()]);
        let mut read_before = 0;
        run.start.wait();
        while !run.is_over() {
            current.read(&EventsWaitsCurrent, world, |row| is_whole_event(row, true));
            history.read(&EventsWaitsHistory, world, |row| is_whole_event(row, false));
            long.read(&EventsWaitsHistoryLong, world, |row| is_whole_event(row, false));
            threads.read(&Threads, world, |row| self.knows(row));
            copied.copy(&mut copies, world);
            // These have fewer rows.
            for _ in 0..5 {
                locks.read(&MutexInstances, world, is_whole_lock);
                by_thread.read(&EventsWaitsSummaryByThreadByEventName, world, is_whole_sum_by_thread);
                by_lock.read(&EventsWaitsSummaryByInstance, world, is_whole_sum_by_lock);
            }
            let tallies = [&current, &history, &copied, &long, &threads, &locks, &by_thread, &by_lock];
            let read = tallies.iter().map(|tally| tally.sweep.rows).sum::<u64>();
            run.read.fetch_add(read - read_before, Ordering::Relaxed);
            read_before = read;
            if tallies.iter().any(|tally| tally.torn != 0) {
                run.failed.store(true, Ordering::Relaxed);
            }
        }
        vec![current, history, copied, long, threads, locks, by_thread, by_lock]
    }

    fn knows(&mut self, row: &ThreadsRow) -> bool {
        let Some(who) = Who::named(row.name.as_str()) else { return false };
        let place = row.thread_id as usize % self.seen.len();
        let (id, serial) = std::mem::replace(&mut self.seen[place], (row.thread_id, who.serial));
        who.is_shown_by(row) && (id != row.thread_id || serial == who.serial)
    }
}

fn is_whole_event(row: &EventsWaitsRow, may_run: bool) -> bool {
    row.event_id != 0 && Event::new(row.thread_id, row.event_id).is_shown_by(row, may_run)
}

fn is_whole_lock(row: &MutexInstancesRow) -> bool {
    let (actor, class) = lock_of(row.object_instance_begin);
    row.name == CLASSES[class] && row.locked_by_thread_id.is_none_or(|holder| class == 0 && holder == actor)
}

fn is_whole_sum_by_thread(row: &EventsWaitsSummaryByThreadByEventNameRow) -> bool {
    let sums = [row.sum_timer_wait, row.min_timer_wait, row.avg_timer_wait, row.max_timer_wait];
    CLASSES.iter().any(|name| row.event_name == *name) && sums == sums_ps(row.thread_id, row.count_star)
}

fn is_whole_sum_by_lock(row: &EventsWaitsSummaryByInstanceRow) -> bool {
    let (actor, class) = lock_of(row.object_instance_begin);
    let sums = [row.sum_timer_wait, row.min_timer_wait, row.avg_timer_wait, row.max_timer_wait];
    row.event_name == CLASSES[class] && sums == sums_ps(actor, row.count_star)
}
