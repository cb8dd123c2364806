//! What a fork means for a region: the child's is its own, with the setup, the instruments and the locks of the parent, and with nothing
//! that the parent recorded.
//!
//! (A handler may fork in the middle of a record. What its thread goes on to write then may have been made of what stood there before: a
//! count or a sum of the parent's shows in the child. In memory of its own, the row of the long history that it was writing is none until it is
//! written again.)
//!
//! A fork copies one thread. What the others had begun in the region will never be finished in the child, so it is taken back: their
//! slots, their chunks of the long history, what they were about to register. The thread itself goes on: its actors keep their slots and
//! the events that run.

use crate::event::{EventStore, STATEMENTS, STORES};
use crate::histogram::BUCKET_COUNT;
use crate::metric::Moment;
use crate::record::RecordWords;
use crate::region::{CARRY, INSTANCE, IO_SUMS, MEMORY, RECORD, Region, SLOT, SOURCE, STAT, STATEMENT_STAT, Section, header};
use crate::slot::SlotWords;
use crate::stat::Versioned;
use crate::statement::{self, EntryText, Sizes};
use crate::sync::{Ordering, Word};
use crate::tables::setup_actors;
use crate::{Actor, class, instance, pool, record, setup, slot, source, stat, statement_digest, wait_histogram};

/// What the child is, besides what the parent was.
#[derive(Clone, Copy, Debug)]
pub struct Child {
    /// Its process id.
    pub pid: u32,
    /// THREAD_OS_ID of its only thread.
    pub os_id: u64,
    /// When it was forked, in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// The same moment on the monotonic clock, in nanoseconds.
    pub start_monotonic_ns: u64,
}

const NS_PER_S: u64 = 1_000_000_000;

/// Sections of which a child keeps nothing, or only what its own thread wrote there.
const RECORDED: [Section; 33] = [
    Section::LostCounters,
    Section::SharedStats,
    Section::Rings,
    Section::Stats,
    Section::Carries,
    Section::FileStats,
    Section::SharedFileStats,
    Section::SocketStats,
    Section::SharedSocketStats,
    Section::LongChunks,
    Section::LongRecords,
    Section::Histograms,
    Section::HistogramBases,
    Section::MemoryStats,
    Section::SharedMemoryStats,
    Section::StageRings,
    Section::StageLongChunks,
    Section::StageLongRecords,
    Section::StatementRings,
    Section::StatementDetails,
    Section::StatementTexts,
    Section::StatementLongChunks,
    Section::StatementLongRecords,
    Section::StatementLongDetails,
    Section::StatementLongTexts,
    Section::StatementStats,
    Section::SharedStatementStats,
    Section::MetricSums,
    Section::TransactionRings,
    Section::TransactionDetails,
    Section::TransactionLongChunks,
    Section::TransactionLongRecords,
    Section::TransactionLongDetails,
];

impl Region<'_> {
    /// In the child, while the memory is still the parent's: copies what a child keeps into memory of its own, which is zero; all but the
    /// mark that the region is whole.
    pub fn copy_for_child(&self, child: &[Word]) {
        for section in Section::ALL.iter().filter(|section| !RECORDED.contains(section)) {
            let parent = self.section(*section);
            let from = self.place(*section).offset;
            let child = child.get(from..).unwrap_or_default();
            for (index, (word, copy)) in parent.iter().zip(child).enumerate() {
                let value = word.get();
                // Zeros are left alone: a page that was never written takes no memory.
                if value != 0 && from + index != header::READY {
                    copy.set(value);
                }
            }
        }
    }

    /// In the child, on memory that the parent does not share: makes the region the child's. `own` are the actors of the thread that
    /// forked; `idle` says that none of them is in the middle of a record, as only a fork by a signal handler finds them.
    pub fn forked(&self, child: &Child, own: &[Option<&Actor<'_>>], idle: bool) {
        self.header(header::PID).set(child.pid.into());
        self.header(header::START_UNIX_NS).set(child.start_unix_ns);
        self.header(header::START_MONOTONIC_NS).set(child.start_monotonic_ns);
        zero(self.section(Section::LostCounters));
        zero(self.section(Section::SharedStats));
        zero(self.section(Section::SharedFileStats));
        zero(self.section(Section::SharedSocketStats));
        zero(self.section(Section::SharedMemoryStats));
        zero(self.section(Section::SharedStatementStats));
        let is_own = |words: &SlotWords| own.iter().flatten().any(|actor| actor.owns(words));
        if idle {
            statement_digest::keep_for(self, self.running_statements(is_own));
        }
        statement_digest::forget(self, idle);
        // Only what was ever used: most of a region never is, and a fork should not take longer for it.
        let histograms =
            self.header(header::NEXT_HISTOGRAM).swap(self.kept_histograms(|words| !idle && is_own(words)), Ordering::Relaxed);
        if histograms != 0 {
            zero(first(self.arrays::<BUCKET_COUNT>(Section::Histograms), histograms).as_flattened());
            zero(self.section(Section::HistogramBases));
        }
        for store in STORES {
            let chunks = self.section(store.long_chunks).len();
            let records = self.arrays::<RECORD>(store.long_records);
            let filled = self.header(store.next_long_chunk).get().min(chunks as u64);
            let records = first(records, filled * records.len().checked_div(chunks).unwrap_or(0) as u64).iter().enumerate();
            // In the middle of a record the thread may be writing one, which it shows when it goes on.
            for (index, record) in records.filter(|(_, record)| idle || record::has_ended(record)) {
                zero(record);
                store.beside_long(self, index).for_each(zero_word);
            }
        }
        let slots = self.arrays::<SLOT>(Section::Slots).iter().enumerate();
        for (index, words) in slots.filter(|(_, words)| slot::was_used(words)) {
            let keeps_histograms = !idle && is_own(words);
            for stat in self.arrays_of::<STAT>(Section::Stats, index) {
                Versioned::of(stat).forget();
                zero_word(&stat[stat::word::EPOCHS]);
                let histogram = &stat[stat::word::HISTOGRAM];
                let kept = if keeps_histograms { wait_histogram::without_wait(histogram.get()) } else { 0 };
                if histogram.get() != kept {
                    histogram.set(kept);
                }
            }
            zero(self.arrays_of::<CARRY>(Section::Carries, index).as_flattened());
            zero(self.arrays_of::<IO_SUMS>(Section::FileStats, index).as_flattened());
            zero(self.arrays_of::<IO_SUMS>(Section::SocketStats, index).as_flattened());
            zero(self.arrays_of::<MEMORY>(Section::MemoryStats, index).as_flattened());
            zero(self.arrays_of::<STATEMENT_STAT>(Section::StatementStats, index).as_flattened());
            self.forget_metric_sums(index);
            let rings = STORES.map(|store| self.arrays_of::<RECORD>(store.rings, index));
            if is_own(words) {
                words[slot::word::OS_ID].set(child.os_id);
                self.forget_beside(index, record::has_ended);
                for index in self.ring_indices(&STATEMENTS, index, record::is_running) {
                    statement::Entry::of_ring(self, Sizes::of(self), index).leftovers().for_each(zero_word);
                }
                rings.into_iter().flatten().filter(|record| record::has_ended(record)).for_each(forget);
            } else {
                // Its own thread may be taking it, which goes on, finds that there was a fork, and gives it back.
                if idle || !slot::is_claimed(words) {
                    slot::forget(words);
                }
                self.forget_beside(index, |_| true);
                rings.into_iter().for_each(|ring| zero(ring.as_flattened()));
            }
        }
        for pool in &class::POOLS {
            for words in self.arrays::<INSTANCE>(pool.instances) {
                if pool::was_used(&words[instance::word::STATE]) {
                    if idle && pool::is_claimed(&words[instance::word::STATE]) {
                        pool::release_last(&words[instance::word::STATE]);
                    }
                    let sums = Versioned::among(words, instance::word::VERSION, instance::word::OWNED);
                    sums.into_iter().for_each(Versioned::forget);
                    zero(&words[instance::word::SHARED]);
                }
            }
        }
        // Who has given a place back may not have said so, where nothing else was free.
        let places = setup::setup(self);
        zero(&places[setup::word::INSTANCE_HINTS]);
        zero_word(&places[setup::word::SOCKET_HINT]);
        self.forget_file_io(idle);
        self.forget_socket_io(idle);
        if idle {
            own.iter().flatten().for_each(|actor| actor.finish_chunks());
            STORES.iter().for_each(|store| zero(self.section(store.long_chunks)));
            self.forget_unfinished_classes();
            setup_actors::forget_unfinished(self);
            for entry in self.arrays::<SOURCE>(Section::Sources) {
                if entry[source::word::LEN].get() == 0 {
                    entry[source::word::KEY].set(0);
                }
            }
        }
        self.forget_metrics(Moment::new(child.start_unix_ns / NS_PER_S, child.start_monotonic_ns / NS_PER_S), idle);
        // Another thread may have been changing a setting.
        setup::fold(self);
        // [R1] as in create().
        self.header(header::READY).store(crate::region::READY, Ordering::Release);
    }
}

impl Region<'_> {
    /// How many histograms are not given away again, because the actors of some slots may be in the middle of counting in one of them.
    fn kept_histograms(&self, are_kept: impl Fn(&SlotWords) -> bool) -> u64 {
        let slots = self.arrays::<SLOT>(Section::Slots).iter().enumerate().filter(|(_, words)| are_kept(words));
        let stats = slots.flat_map(|(index, _)| self.arrays_of::<STAT>(Section::Stats, index));
        let ends = stats.filter_map(|stat| wait_histogram::number(&stat[stat::word::HISTOGRAM])).map(|number| number + 1);
        ends.max().unwrap_or(0)
    }
}

impl Region<'_> {
    /// All that a slot's records have besides, of those that `are_forgotten`.
    fn forget_beside(&self, slot: usize, are_forgotten: impl Fn(&RecordWords) -> bool + Copy) {
        for store in STORES {
            let indices = self.ring_indices(store, slot, are_forgotten);
            indices.flat_map(|index| store.beside_ring(self, index)).for_each(zero_word);
        }
    }

    /// What is visible of the statements of these slots that run.
    fn running_statements(&self, are_meant: impl Fn(&SlotWords) -> bool) -> impl Iterator<Item = EntryText> {
        let slots = self.arrays::<SLOT>(Section::Slots).iter().enumerate().filter(move |(_, words)| are_meant(words));
        let indices = slots.flat_map(|(slot, _)| self.ring_indices(&STATEMENTS, slot, record::is_running));
        indices.map(|index| statement::Entry::of_ring(self, Sizes::of(self), index).read(false))
    }

    /// Where a slot's records are in their section that `are_meant`.
    fn ring_indices(
        &self,
        store: &EventStore,
        slot: usize,
        are_meant: impl Fn(&RecordWords) -> bool,
    ) -> impl Iterator<Item = usize> {
        let records = self.arrays_of::<RECORD>(store.rings, slot);
        (slot.saturating_mul(records.len())..).zip(records).filter(move |(_, record)| are_meant(record)).map(|(index, _)| index)
    }
}

/// What the parent recorded there; its place among the records stays.
fn forget(record: &RecordWords) {
    zero(&record[..record::word::NEXT]);
    zero(&record[record::word::PREVIOUS + 1..]);
}

fn first<T>(entries: &[T], count: u64) -> &[T] {
    entries.get(..count as usize).unwrap_or(entries)
}

/// Writes only what is not zero, so that pages shared with the parent stay shared.
fn zero(words: &[Word]) {
    words.iter().for_each(zero_word);
}

fn zero_word(word: &Word) {
    if word.get() != 0 {
        word.set(0);
    }
}

impl Actor<'_> {
    /// Takes a copy of all that must agree with the actor's own state, before the fork: in memory that both processes share, the parent
    /// goes on at once, and the child would find its records further on than it is itself. Returns how many words that is, or needs.
    pub fn save(&self, into: &[Word]) -> usize {
        self.own_words().zip(into).for_each(|(word, saved)| saved.set(word.get()));
        self.own_words().count()
    }

    /// Puts back what [`save`](Self::save) took, into the child's memory.
    pub fn restore(&self, from: &[Word]) {
        self.own_words().zip(from).for_each(|(word, saved)| word.set(saved.get()));
    }
}

#[cfg(all(test, not(perfschema_loom)))]
mod tests {
    use super::*;
    use crate::metric::{MetricInfo, MetricType, MonitorCommand};
    use crate::region::{FILE, METRIC, SOCKET};
    use crate::{
        AccessMode, ActorIdentity, Class, Config, FileId, FileIo, Group, Held, Identity, InstanceId, InstrumentName,
        MemoryChange, Operation, Setting, Size, SocketAddress, SocketIo, Statement, StatementError, StatementStart, Transaction,
        TransactionDetails, TransactionStart, TransactionState, WaitStart, file, io, metric, tables,
    };
    use core::panic::Location;
    use perfschema_timer::{MockClock, TimerName};
    use std::string::String;
    use std::vec::Vec;
    use std::{format, vec};

    const CONFIG: Config = Config::SMALL.with(Size::MaxWaitHistograms, if cfg!(miri) { 0 } else { 8 });
    const CHILD: Child = Child { pid: 8, os_id: 80, start_unix_ns: 800, start_monotonic_ns: 900 };

    /// What the threads use, one of each kind.
    struct Used<'r> {
        region: &'r Region<'r>,
        clock: MockClock,
        /// Of a lock, files, sockets and memory.
        classes: [Class; 4],
        /// One and the same: Miri gives a line another address each time that it is asked for.
        source: &'static Location<'static>,
        lock: InstanceId,
        file: FileId,
        socket: InstanceId,
    }

    impl<'r> Used<'r> {
        fn new(region: &'r Region<'r>) -> Used<'r> {
            let names = ["wait/synch/mutex/t/LOCK", "wait/io/file/t/f", "wait/io/socket/t/s", "memory/t/m"];
            let register =
                |name| region.register(InstrumentName::new(name).expect("a name"), Setting::ON).expect("there is room");
            let classes = names.map(register);
            region.enable_everything();
            region.set_wait_timer(TimerName::Nanosecond);
            let lock = region.create_instance(classes[0], 100).expect("there is room");
            let file = region.refer_to_file(classes[1], b"/opened").expect("there is room");
            region.file_opened(file);
            let socket = region.create_socket(classes[2], 5, SocketAddress::UNIX, 0).expect("there is room");
            Used { region, clock: MockClock::new(), classes, source: Location::caller(), lock, file, socket }
        }

        fn begin(&self, actor: &Actor<'r>, class: usize) -> crate::Wait<'r> {
            let what = WaitStart { source: Some(self.source), ..WaitStart::new(Operation::Lock) };
            let class = self.classes[class];
            actor.begin(&self.clock, self.region.switches(class), class, &what)
        }

        /// SOURCE of a wait of the actor's.
        fn source(&self, actor: &Actor<'r>) -> Option<String> {
            actor.end(&self.clock, self.begin(actor, 0), Held::None);
            let mut last = None;
            self.region.scan(&tables::EventsWaitsHistory, |row| {
                last = if row.thread_id == actor.thread_id() { row.source } else { last };
            });
            last.map(|source| source.as_str().into())
        }

        /// A wait for each of them, of a nanosecond, and a block of memory.
        fn each(&self, actor: &Actor<'r>) {
            let lock = self.region.instance(self.lock).expect("it is there");
            let io = [
                Held::Exclusive(&lock),
                Held::File(FileIo { file: self.region.file(self.file), group: Group::Read }),
                Held::Socket(SocketIo { socket: self.region.socket(self.socket), group: Group::Write }),
            ];
            for (class, held) in io.into_iter().enumerate() {
                let mut wait = self.begin(actor, class);
                wait.set_amount(11);
                self.clock.advance(TimerName::Nanosecond, 1);
                actor.end(&self.clock, wait, held);
            }
            let memory = self.classes[3];
            actor.count_memory(self.region.switches(memory), memory, MemoryChange::allocated(9));
        }

        /// What was counted: in all, by lock, file and socket, of memory, in histograms.
        fn counts(&self) -> [u64; 6] {
            let mut counts = [0; 6];
            let region = self.region;
            region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| counts[0] += row.count_star);
            region.scan(&tables::EventsWaitsSummaryByInstance, |row| counts[1] += row.count_star);
            region.scan(&tables::FileSummaryByInstance, |row| counts[2] += row.sum_number_of_bytes_read.unsigned_abs());
            region.scan(&tables::SocketSummaryByInstance, |row| counts[3] += row.sum_number_of_bytes_write);
            region.scan(&tables::MemorySummaryGlobalByEventName, |row| counts[4] += row.count_alloc);
            region.scan(&tables::EventsWaitsHistogramByEventName, |row| counts[5] += row.count_bucket);
            counts
        }

        fn lost(&self) -> u64 {
            let mut lost = 0;
            self.region.scan(&tables::GlobalStatus, |row| {
                lost += row.variable_value.map_or(0, |value| value.as_str().parse().unwrap_or(0));
            });
            lost
        }

        fn events(&self) -> [Vec<String>; 3] {
            let mut events = [const { Vec::new() }; 3];
            let row = |row: &tables::EventsWaitsRow| format!("{} {} {:?}", row.thread_id, row.event_id, row.timer_wait);
            self.region.scan(&tables::EventsWaitsCurrent, |event| events[0].push(row(event)));
            self.region.scan(&tables::EventsWaitsHistory, |event| events[1].push(row(event)));
            self.region.scan(&tables::EventsWaitsHistoryLong, |event| events[2].push(row(event)));
            events
        }

        fn threads(&self) -> Vec<String> {
            let mut threads = Vec::new();
            self.region.scan(&tables::Threads, |row| threads.push(format!("{} {:?}", row.name.as_str(), row.thread_os_id)));
            threads
        }

        fn files(&self) -> Vec<String> {
            let mut files = Vec::new();
            self.region.scan(&tables::FileInstances, |row| files.push(row.file_name.as_str().into()));
            files
        }
    }

    /// In the memory of the parent, as where that is copied by the system; or in memory of its own, which takes the parent's place.
    fn in_a_child(own_memory: bool, idle: bool) {
        let words: Vec<Word> = (0..CONFIG.words()).map(|_| Word::new(0)).collect();
        let timers = MockClock::new().timers();
        let parent = Identity { pid: 7, ..Identity::default() };
        let region = Region::create(&words, &CONFIG, &parent, &timers).expect("there is room");
        let used = Used::new(&region);
        let attach = |name| Actor::attach(&region, &ActorIdentity { name, os_id: 70, ..Default::default() });
        let (own, other) = (attach("own"), attach("other"));
        // Twice: a histogram is behind by one.
        [&own, &own, &other, &other].into_iter().for_each(|actor| used.each(actor));
        let running = used.begin(&own, 0);
        let _never_ends = used.begin(&other, 0);
        // Another thread is about to open it.
        let _ = region.refer_to_file(used.classes[1], b"/named").expect("there is room");
        while region.create_socket(used.classes[2], 6, SocketAddress::UNKNOWN, 0).is_some() {}
        assert_eq!(used.counts(), [12, 12, 40, 40, 4, 12]);
        assert!(used.lost() > 0);
        assert_eq!(used.threads(), ["own Some(70)", "other Some(70)"]);

        let actors = [None, Some(&own)];
        if own_memory {
            let saved: Vec<Word> = (0..own.save(&[])).map(|_| Word::new(0)).collect();
            own.save(&saved);
            let child: Vec<Word> = words.iter().map(|_| Word::new(0)).collect();
            region.copy_for_child(&child);
            assert!(Region::open(&child).is_err(), "it is not whole");
            words.iter().zip(&child).for_each(|(word, copy)| word.set(copy.get()));
            own.restore(&saved);
        }
        region.forked(&CHILD, &actors, idle);

        let child = Region::open(&words).expect("it is whole");
        assert_eq!((child.pid(), child.start_unix_ns()), (8, 800));
        assert_eq!(used.threads(), ["own Some(80)"]);
        assert_eq!((used.counts(), used.lost()), ([0; 6], 0));
        // What runs goes on.
        assert_eq!(used.events(), [vec!["1 7 None"], vec![], vec![]]);
        used.clock.advance(TimerName::Nanosecond, 5);
        own.end(&used.clock, running, Held::None);
        assert_eq!(used.events(), [vec!["1 7 Some(5000)"], vec!["1 7 Some(5000)"], vec!["1 7 Some(5000)"]]);
        used.each(&own);
        assert_eq!(used.counts(), [4, 3, 10, 10, 1, 4]);
        assert_eq!(used.files(), ["/opened"]);
        let mut room = 0;
        while region.refer_to_file(used.classes[1], format!("/{room}").as_bytes()).is_some() {
            room += 1;
        }
        // In the middle of a record nobody knows whether it was this thread that was about to open the other.
        assert_eq!(room + 1 + u32::from(!idle), CONFIG.get(Size::MaxFileInstances));
        // The others' places are free, and the setup is the parent's.
        let next = attach("next");
        used.each(&next);
        assert_eq!(used.threads(), ["own Some(80)", "next Some(70)"]);
        assert_eq!(used.counts(), [7, 6, 20, 20, 2, 7]);
        // All records are taken in turn: the history has the last events, as they came.
        (0..8).for_each(|_| used.each(&own));
        let [_, history, _] = used.events();
        let last: Vec<&String> = history.iter().filter(|row| row.starts_with("1 ")).collect();
        let size = u64::from(CONFIG.get(Size::EventsWaitsHistorySize));
        let newest = 7 + 9 * 3;
        let expected: Vec<String> = (newest + 1 - size..=newest).map(|id| format!("1 {id} Some(1000)")).collect();
        assert_eq!(last, expected.iter().collect::<Vec<_>>());
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes there")]
    fn a_child_begins_with_the_setup_and_with_what_its_thread_does() {
        for own_memory in [false, true] {
            for idle in [true, false] {
                in_a_child(own_memory, idle);
            }
        }
    }

    fn begin_statement<'r>(clock: &MockClock, class: Class, actor: &Actor<'r>, text: &str) -> Statement<'r> {
        let start = StatementStart { text, schema: text, source: None };
        let mut statement = actor.begin_statement(clock, actor.region().switches(class), &start);
        actor.change_statement(&mut statement, |statistics| statistics.rows_sent += 7);
        statement
    }

    /// The statement that runs, with what was said of it; of those that have ended, of other threads, and of threads that are gone, no byte.
    fn statements_in_a_child(own_memory: bool, idle: bool) {
        const STATEMENTS: Config = CONFIG
            .with(Size::MaxStatementClasses, 1)
            .with(Size::EventsStatementsHistoryLongSize, 16)
            .with(Size::SetupActorsSize, 1);
        const SECRETS: [&str; 4] = ["ended", "another", "gone", "failed"];
        let words: Vec<Word> = (0..STATEMENTS.words()).map(|_| Word::new(0)).collect();
        let clock = MockClock::new();
        let region = Region::create(&words, &STATEMENTS, &Identity::default(), &clock.timers()).expect("there is room");
        let class = region.register(InstrumentName::literal("statement/t/S"), Setting::ON).expect("there is room");
        region.enable_everything();
        let [own, other, gone] = [(); 3].map(|()| Actor::attach(&region, &ActorIdentity::default()));
        for (actor, text) in [(&own, "it has ended"), (&other, "of another"), (&gone, "it is gone")] {
            // Each record has had one, with more text than that which runs.
            for _ in 0..20 {
                let mut statement = begin_statement(&clock, class, actor, &[text; 4].join(", "));
                let (sqlstate, message) = ("ended".into(), "why it has failed".into());
                actor.set_statement_error(&mut statement, &StatementError { number: 5, sqlstate, message });
                actor.end_statement(&clock, statement);
            }
        }
        gone.detach();
        // One that no actor owns the sums of.
        let without_slot = Actor::without_slot(&region);
        without_slot.end_statement(&clock, begin_statement(&clock, class, &without_slot, "of another"));
        let mut running = begin_statement(&clock, class, &own, "it runs");
        let _never_ends = begin_statement(&clock, class, &other, "runs in another");
        let found = || {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.get().to_le_bytes()).collect();
            SECRETS.map(|secret| bytes.windows(secret.len()).any(|at| at == secret.as_bytes()))
        };
        assert_eq!(found(), [true; 4]);

        if own_memory {
            let saved: Vec<Word> = (0..own.save(&[])).map(|_| Word::new(0)).collect();
            own.save(&saved);
            let child: Vec<Word> = words.iter().map(|_| Word::new(0)).collect();
            region.copy_for_child(&child);
            words.iter().zip(&child).for_each(|(word, copy)| word.set(copy.get()));
            own.restore(&saved);
        }
        region.forked(&CHILD, &[Some(&own)], idle);

        assert_eq!(found(), [false; 4], "{own_memory} {idle}");
        let rows = || {
            let mut rows = [const { Vec::new() }; 3];
            let row = |row: &tables::EventsStatementsRow| {
                let texts = (row.sql_text.as_ref().map(|text| String::from(text.as_str())), row.current_schema);
                format!("{} {} {texts:?} {} {:?}", row.thread_id, row.event_id, row.rows_sent, row.message_text)
            };
            region.scan(&tables::EventsStatementsCurrent, |event| rows[0].push(row(event)));
            region.scan(&tables::EventsStatementsHistory, |event| rows[1].push(row(event)));
            region.scan(&tables::EventsStatementsHistoryLong, |event| rows[2].push(row(event)));
            rows
        };
        let counted = || {
            let (sums, figures) = region.statements_by_event_name(class);
            (sums.count, figures.rows_sent)
        };
        // What runs goes on.
        let runs = |rows_sent, message: &str| format!("1 21 (Some(\"it runs\"), Some(\"it runs\")) {rows_sent} {message}");
        assert_eq!((rows(), counted()), ([vec![runs(7, "None")], vec![], vec![]], (0, 0)));
        own.change_statement(&mut running, |statistics| statistics.rows_sent += 2);
        own.set_statement_error(
            &mut running,
            &StatementError { number: 6, sqlstate: "6".into(), message: "it was stopped".into() },
        );
        own.end_statement(&clock, running);
        let ended = vec![runs(9, "Some(\"it was stopped\")")];
        assert_eq!((rows(), counted()), ([ended.clone(), ended.clone(), ended], (1, 9)));
        // The others' places are free, and whoever comes has nothing of theirs.
        let next = Actor::attach(&region, &ActorIdentity::default());
        let first = begin_statement(&clock, class, &next, "");
        assert_eq!(rows()[0][1], format!("{} 1 (None, None) 7 None", next.thread_id()));
        next.end_statement(&clock, first);
        assert_eq!((counted(), found()), ((2, 16), [false; 4]));
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes there")]
    fn a_child_keeps_the_statement_that_its_thread_runs_and_no_text_of_another() {
        for own_memory in [false, true] {
            for idle in [true, false] {
                statements_in_a_child(own_memory, idle);
            }
        }
    }

    fn begin_transaction<'r>(clock: &MockClock, class: Class, actor: &Actor<'r>, text: &str) -> Transaction<'r> {
        let access_mode = if text.is_empty() { AccessMode::ReadOnly } else { AccessMode::ReadWrite };
        let start = TransactionStart { access_mode, isolation_level: text, ..Default::default() };
        let mut transaction = actor.begin_transaction(clock, actor.region().switches(class), &start);
        actor.change_transaction(&mut transaction, |details| details.trx_id += 7);
        transaction
    }

    /// The transaction that runs, with what was said of it; of those that have ended, of other threads, and of threads that are gone, no byte.
    fn transactions_in_a_child(own_memory: bool, idle: bool) {
        const TRANSACTIONS: Config = CONFIG
            .with(Size::MaxTransactionClasses, 1)
            .with(Size::EventsTransactionsHistoryLongSize, 16)
            .with(Size::SetupActorsSize, 1);
        const SECRETS: [&str; 4] = ["ended", "another", "gone", "known"];
        let words: Vec<Word> = (0..TRANSACTIONS.words()).map(|_| Word::new(0)).collect();
        let clock = MockClock::new();
        let region = Region::create(&words, &TRANSACTIONS, &Identity::default(), &clock.timers()).expect("there is room");
        let class = region.register(InstrumentName::literal("transaction"), Setting::ON).expect("there is room");
        region.enable_everything();
        let [own, other, gone] = [(); 3].map(|()| Actor::attach(&region, &ActorIdentity::default()));
        for (actor, text) in [(&own, "it has ended"), (&other, "of another"), (&gone, "it is gone")] {
            for _ in 0..20 {
                let mut transaction = begin_transaction(&clock, class, actor, text);
                actor.set_transaction_gtid(&mut transaction, "what it is known by");
                actor.end_transaction(&clock, transaction, TransactionState::RolledBack);
                actor.end_transaction(&clock, begin_transaction(&clock, class, actor, ""), TransactionState::Committed);
            }
        }
        gone.detach();
        // One that no actor owns the sums of.
        let without_slot = Actor::without_slot(&region);
        for text in ["of another", ""] {
            let transaction = begin_transaction(&clock, class, &without_slot, text);
            without_slot.end_transaction(&clock, transaction, TransactionState::Committed);
        }
        let mut running = begin_transaction(&clock, class, &own, "it runs");
        own.set_transaction_gtid(&mut running, "its own");
        let _never_ends = begin_transaction(&clock, class, &other, "runs in another");
        let found = || {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.get().to_le_bytes()).collect();
            SECRETS.map(|secret| bytes.windows(secret.len()).any(|at| at == secret.as_bytes()))
        };
        let counted = || {
            let sums = region.transactions_by_event_name(class);
            (sums.read_write.count, sums.read_only.count)
        };
        assert_eq!((found(), counted()), ([true; 4], (61, 61)));

        if own_memory {
            let saved: Vec<Word> = (0..own.save(&[])).map(|_| Word::new(0)).collect();
            own.save(&saved);
            let child: Vec<Word> = words.iter().map(|_| Word::new(0)).collect();
            region.copy_for_child(&child);
            words.iter().zip(&child).for_each(|(word, copy)| word.set(copy.get()));
            own.restore(&saved);
        }
        region.forked(&CHILD, &[Some(&own)], idle);

        assert_eq!(found(), [false; 4], "{own_memory} {idle}");
        let rows = || {
            let mut rows = [const { Vec::new() }; 3];
            let row = |row: &tables::EventsTransactionsRow| {
                let said = (row.isolation_level, row.gtid, row.trx_id);
                format!("{} {} {:?} {said:?}", row.thread_id, row.event_id, row.state)
            };
            region.scan(&tables::EventsTransactionsCurrent, |event| rows[0].push(row(event)));
            region.scan(&tables::EventsTransactionsHistory, |event| rows[1].push(row(event)));
            region.scan(&tables::EventsTransactionsHistoryLong, |event| rows[2].push(row(event)));
            rows
        };
        // What runs goes on; of itself it has all that was said.
        let runs =
            |state: &str, gtid: &str, trx_id: u64| format!("1 41 Some({state}) (Some(\"it runs\"), {gtid}, Some({trx_id}))");
        assert_eq!((rows(), counted()), ([vec![runs("Active", "None", 7)], vec![], vec![]], (0, 0)));
        own.change_transaction(&mut running, |details| details.trx_id += 2);
        let said = TransactionDetails { trx_id: 9, ..Default::default() };
        assert_eq!(running.details(), &said);
        own.end_transaction(&clock, running, TransactionState::Committed);
        let ended = vec![runs("Committed", "Some(\"its own\")", 9)];
        assert_eq!((rows(), counted()), ([ended.clone(), ended.clone(), ended], (1, 0)));
        // The others' places are free, and whoever comes has nothing of theirs.
        let next = Actor::attach(&region, &ActorIdentity::default());
        let first = begin_transaction(&clock, class, &next, "");
        assert_eq!(rows()[0][1], format!("{} 1 Some(Active) (None, None, Some(7))", next.thread_id()));
        next.end_transaction(&clock, first, TransactionState::RolledBack);
        assert_eq!((counted(), found()), ((1, 1), [false; 4]));
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes there")]
    fn a_child_keeps_the_transaction_that_its_thread_runs_and_nothing_of_another() {
        for own_memory in [false, true] {
            for idle in [true, false] {
                transactions_in_a_child(own_memory, idle);
            }
        }
    }

    /// Counters are what the child counts; what is there is there; who switched what stays.
    #[test]
    fn a_child_counts_its_metrics_from_nothing() {
        // Under Miri only in the parent's memory: copying words takes long there.
        for own_memory in [false, true].into_iter().take(if cfg!(miri) { 1 } else { 2 }) {
            let words: Vec<Word> = (0..CONFIG.words()).map(|_| Word::new(0)).collect();
            let region =
                Region::create(&words, &CONFIG, &Identity::default(), &MockClock::new().timers()).expect("there is room");
            let kinds = [("on", MetricType::Counter), ("off", MetricType::Counter), ("level", MetricType::Value)];
            let [on, off, level] = kinds.map(|(name, kind)| {
                let info = MetricInfo::literal(name, "fork", "", kind);
                region.register_metric(&info, true, Moment::of_seconds(1)).expect("there is room")
            });
            let (own, other) =
                (Actor::attach(&region, &ActorIdentity::default()), Actor::attach(&region, &ActorIdentity::default()));
            for actor in [&own, &other] {
                [on, off].into_iter().for_each(|metric| actor.count_metric(metric, 5));
            }
            region.count_metric_shared(on, 7);
            [100, -60].into_iter().for_each(|change| region.change_metric_value(level, change));
            for command in [MonitorCommand::Disable, MonitorCommand::Reset] {
                region.monitor(command, "off", Moment::of_seconds(2), |_| ()).expect("it is there");
            }
            let count = |metric| region.metric_count(metric);
            assert_eq!([on, off, level].map(count), [17, 10, 40]);
            if own_memory {
                let child: Vec<Word> = words.iter().map(|_| Word::new(0)).collect();
                region.copy_for_child(&child);
                words.iter().zip(&child).for_each(|(word, copy)| word.set(copy.get()));
            }
            region.forked(&Child { start_unix_ns: 800 * NS_PER_S, ..CHILD }, &[Some(&own)], true);
            let rows = || {
                let mut rows = Vec::new();
                region.scan(&tables::InnodbMetrics::at(Moment::new(810, 10)), |row| {
                    if row.subsystem == "fork" {
                        let texts = (row.time_enabled, row.time_reset, row.status);
                        rows.push(format!("{} {} {:?} {} {texts:?}", row.name, row.count, row.max_count, row.count_reset));
                    }
                });
                rows
            };
            let enabled = "Some(\"1970-01-01 00:13:20\"), None, \"enabled\"";
            assert_eq!(
                rows(),
                [
                    format!("on 0 None 0 ({enabled})"),
                    "off 0 None 0 (None, None, \"disabled\")".into(),
                    format!("level 40 Some(40) 40 ({enabled})")
                ]
            );
            own.count_metric(on, 2);
            region.change_metric_value(level, -1);
            region.monitor(MonitorCommand::Enable, "off", Moment::new(805, 5), |_| ()).expect("it is there");
            own.count_metric(off, 3);
            assert_eq!([on, off, level].map(count), [2, 3, 39]);
        }
    }

    /// What another thread had not finished when it was copied.
    #[test]
    fn a_child_takes_back_what_nobody_will_finish() {
        let words: Vec<Word> = (0..CONFIG.words()).map(|_| Word::new(0)).collect();
        let region = Region::create(&words, &CONFIG, &Identity::default(), &MockClock::new().timers()).expect("there is room");
        let used = Used::new(&region);
        let classes = region.arrays::<{ crate::region::CLASS }>(Section::Classes);
        let free = classes.iter().find(|words| words[0].get() == 0).expect("there is room");
        free[0].set(1);
        let source = &region.arrays::<SOURCE>(Section::Sources)[0];
        source[source::word::KEY].set(1);
        for (idle, left) in [(false, 1), (true, 0)] {
            region.forked(&CHILD, &[], idle);
            assert_eq!((free[0].get(), source[source::word::KEY].get()), (left, left), "{idle}");
        }
        assert_eq!(region.find_class("wait/io/file/t/f"), Some(used.classes[1]));
    }

    /// Another thread was about to write a source line that the thread that forks comes to as well, before or after.
    #[test]
    fn a_child_writes_the_source_lines_that_nobody_will_finish() {
        let words: Vec<Word> = (0..CONFIG.words()).map(|_| Word::new(0)).collect();
        let region = Region::create(&words, &CONFIG, &Identity::default(), &MockClock::new().timers()).expect("there is room");
        let used = Used::new(&region);
        let [own, other, late] = [(); 3].map(|()| Actor::attach(&region, &ActorIdentity::default()));
        let written = used.source(&other);
        assert!(written.is_some());
        let stop = || region.arrays::<SOURCE>(Section::Sources).iter().for_each(|entry| entry[source::word::LEN].set(0));
        stop();
        assert_eq!(used.source(&other), None, "it does not look again");
        assert_eq!((used.source(&own), used.source(&other)), (written.clone(), written.clone()), "whoever comes next writes it");
        stop();
        region.forked(&CHILD, &[Some(&late)], true);
        assert_eq!(used.source(&late), written);
    }

    /// Counters that the program keeps elsewhere: it goes on from there, and the child shows what it has added.
    #[test]
    fn a_child_shows_nothing_of_a_total_that_goes_on() {
        let words: Vec<Word> = (0..CONFIG.words()).map(|_| Word::new(0)).collect();
        let region = Region::create(&words, &CONFIG, &Identity::default(), &MockClock::new().timers()).expect("there is room");
        let info = MetricInfo::literal("elsewhere", "fork", "", MetricType::StatusCounter);
        let metric = region.register_metric(&info, true, Moment::of_seconds(1)).expect("there is room");
        region.set_metric_total(metric, 1000);
        region.forked(&CHILD, &[], true);
        assert_eq!(region.metric_count(metric), 0);
        region.set_metric_total(metric, 1001);
        assert_eq!(region.metric_count(metric), 1);
    }

    /// Another thread was about to register a metric: its place is for any other.
    #[test]
    fn a_child_gives_the_place_of_an_unfinished_metric_to_another() {
        let words: Vec<Word> = (0..CONFIG.words()).map(|_| Word::new(0)).collect();
        let region = Region::create(&words, &CONFIG, &Identity::default(), &MockClock::new().timers()).expect("there is room");
        let register = |info: &MetricInfo<'_>| region.register_metric(info, true, Moment::of_seconds(1)).expect("there is room");
        let unfinished = register(&MetricInfo::literal("unfinished", "fork", "a comment", MetricType::Counter));
        // As it was before it was published.
        let state = &region.arrays::<METRIC>(Section::Metrics)[usize::from(unfinished.to_bits())][metric::word::STATE];
        state.set(state.get() & !class::STATE_BITS | class::CLAIMED);
        region.forked(&CHILD, &[], true);
        let other = register(&MetricInfo::literal("other", "fork", "", MetricType::Counter));
        assert_eq!((other, region.find_metric("other")), (unfinished, Some(unfinished)));
        assert!(region.metric_is_on(other));
    }

    /// Others were about to make a lock, a file and a socket known, or to give a place back.
    #[test]
    fn a_child_has_all_places_that_others_were_taking_or_giving_back() {
        let words: Vec<Word> = (0..CONFIG.words()).map(|_| Word::new(0)).collect();
        let region = Region::create(&words, &CONFIG, &Identity::default(), &MockClock::new().timers()).expect("there is room");
        let [lock, file, socket] = ["wait/synch/mutex/t/LOCK", "wait/io/file/t/f", "wait/io/socket/t/s"]
            .map(|name| region.register(InstrumentName::literal(name), Setting::ON).expect("there is room"));
        let files = region.arrays::<FILE>(Section::FileInstances);
        let states = [
            &region.arrays::<INSTANCE>(Section::MutexInstances)[0][instance::word::STATE],
            &region.arrays::<SOCKET>(Section::SocketInstances)[0][io::word::STATE],
            &files[0][file::word::STATE],
        ];
        let _taken = states.map(|state| pool::claim(state).expect("it is free"));
        let places = setup::setup(&region);
        places[setup::word::FILES_USED].set(1);
        // It is gone, and nobody refers to it any more.
        let deleted = region.refer_to_file(file, b"/deleted").expect("there is room");
        region.file_opened(deleted);
        files[1][file::word::REFERENCES].set(file::GONE | file::OPENED);
        region.file_closed(deleted);
        // Nothing was free.
        places[setup::word::INSTANCE_HINTS].iter().chain([&places[setup::word::SOCKET_HINT]]).for_each(|hint| hint.set(u64::MAX));
        region.forked(&CHILD, &[], true);
        let made = [
            (0..).take_while(|&address| region.create_instance(lock, address).is_some()).count(),
            (0..).take_while(|_| region.create_socket(socket, 1, SocketAddress::UNIX, 0).is_some()).count(),
            (0..).take_while(|number| region.refer_to_file(file, format!("/{number}").as_bytes()).is_some()).count(),
        ];
        let sections = [Section::MutexInstances, Section::SocketInstances, Section::FileInstances];
        assert_eq!(made, sections.map(|section| region.place(section).count));
    }

    /// Statements of others will not end, so they hold no digest, and their texts are nowhere. One's own goes on and is counted.
    #[test]
    fn a_child_has_the_digests_of_its_own_statements() {
        // One is for those that find no place.
        const DIGESTS: Config = CONFIG.with(Size::MaxStatementClasses, 1).with(Size::DigestsSize, 4);
        let words: Vec<Word> = (0..DIGESTS.words()).map(|_| Word::new(0)).collect();
        let region = Region::create(&words, &DIGESTS, &Identity::default(), &MockClock::new().timers()).expect("there is room");
        let class = region.register(InstrumentName::literal("statement/t/S"), Setting::ON).expect("there is room");
        region.enable_everything();
        let clock = MockClock::new();
        let [own, other] = [(); 2].map(|()| Actor::attach(&region, &ActorIdentity::default()));
        let begin = |text| StatementStart { text, schema: "app", source: None };
        let switches = region.switches(class);
        let goes_on = own.begin_statement(&clock, switches, &begin("SEEK 1"));
        let _never_end =
            ["SEEK 2", "FIND 'a secret'", "LOSE 'a secret'"].map(|text| other.begin_statement(&clock, switches, &begin(text)));
        region.forked(&CHILD, &[Some(&own)], true);

        let bytes: Vec<u8> = words.iter().flat_map(|word| word.get().to_le_bytes()).collect();
        assert!(!bytes.windows(8).any(|bytes| bytes == b"a secret"));
        let digests = || {
            let mut digests = Vec::new();
            region.scan(&tables::EventsStatementsSummaryByDigest, |row| {
                let text = row.digest_text.map(|text| String::from(text.as_str()));
                digests.push((text.unwrap_or_default(), row.count_star));
            });
            digests.sort();
            digests
        };
        own.end_statement(&clock, goes_on);
        let execute = |text| {
            own.end_statement(&clock, own.begin_statement(&clock, switches, &begin(text)));
        };
        // No place is lost, and none is held for ever.
        ["A", "B", "C", "D"].into_iter().for_each(execute);
        assert_eq!(digests(), [("", 2), ("A", 1), ("B", 1), ("SEEK ?", 1)].map(|(text, count)| (String::from(text), count)));
        statement_digest::reset(&region);
        ["C", "D", "E"].into_iter().for_each(execute);
        assert_eq!(digests(), ["C", "D", "E"].map(|text| (String::from(text), 1)));
    }
}
