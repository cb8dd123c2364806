//! The core beside a model of it: a single-threaded thing of vectors and maps that anybody can see is right. Both are driven by the same
//! random programs, and every table is compared row by row. When they differ, proptest looks for a small program that shows it.
//!
//! `PROPTEST_CASES` asks for more programs than the usual number.

// One thread and no `unsafe`: Miri has nothing to find, and it takes minutes.
#![cfg(not(miri))]

mod common;

use common::{advance, select, sort};
use perfschema_core::histogram::{BUCKET_COUNT, bucket, bucket_timer_high};
use perfschema_core::table::{TableError, Value};
use perfschema_core::timer::{Clock, MockClock, TimerName};
use perfschema_core::{
    Actor, ActorIdentity, Class, Config, Consumer, Held, Identity, InstanceId, InstrumentName, Lost, Operation, Region, Setting,
    Size, ThreadType, Wait, WaitStart, tables,
};
use proptest::prelude::*;
use std::collections::{HashMap, VecDeque};

const CLASS_NAMES: [&str; 7] = [
    "wait/synch/mutex/m/A",
    "wait/synch/mutex/m/B",
    "wait/synch/mutex/m/C",
    "wait/synch/rwlock/m/R",
    "wait/synch/rwlock/m/S",
    "wait/synch/cond/m/C",
    "wait/synch/semaphore/m/S",
];
const KINDS: [&str; 4] = ["mutex", "rwlock", "cond", "semaphore"];
const USERS: [&str; 3] = ["%", "ada", "bob"];
const HOSTS: [&str; 3] = ["%", "db1", "db2"];
const SETTINGS: [Setting; 4] = [Setting::OFF, Setting::ON, Setting::COUNTED, Setting { enabled: false, timed: true }];
const OPERATIONS: [(Operation, &str); 3] =
    [(Operation::Lock, "lock"), (Operation::ReadLock, "read_lock"), (Operation::Wait, "wait")];

/// A step of a program. Numbers choose among what there is, modulo how many there are.
#[derive(Clone, Debug)]
enum Step {
    Register { name: usize, setting: usize },
    Set { class: usize, setting: usize },
    CreateInstance { class: usize, address: u64 },
    DestroyInstance { instance: usize },
    Hold { instance: usize, by: u64 },
    Read { instance: usize, more: bool },
    Attach { user: usize, host: usize, background: bool },
    Detach { actor: usize },
    Begin { actor: usize, class: usize, what: What },
    End { actor: usize, held: usize, amount: u64 },
    Chain { actor: usize, class: usize, what: What },
    Pass { ns: u64 },
    Switch { consumer: usize, on: bool },
    Timer { timer: usize },
    Truncate { table: usize },
    Thread { thread: usize, column: usize, yes: bool },
    InsertActor { user: usize, host: usize, enabled: bool, history: bool },
    UpdateActors { user: usize, enabled: bool },
    DeleteActors { user: usize },
    FlushStatus,
    EnableEverything,
    Compare,
}

#[derive(Clone, Debug)]
struct What {
    operation: usize,
    object: u64,
    with_source: bool,
}

fn what() -> impl Strategy<Value = What> {
    (0..3_usize, 0..3_u64, any::<bool>()).prop_map(|(operation, object, with_source)| What { operation, object, with_source })
}

fn step() -> impl Strategy<Value = Step> {
    let few = || 0..8_usize;
    prop_oneof![
        3 => (few(), 0..4_usize).prop_map(|(name, setting)| Step::Register { name, setting }),
        2 => (few(), 0..4_usize).prop_map(|(class, setting)| Step::Set { class, setting }),
        3 => (few(), 1..4_u64).prop_map(|(class, address)| Step::CreateInstance { class, address }),
        1 => few().prop_map(|instance| Step::DestroyInstance { instance }),
        1 => (few(), 0..3_u64).prop_map(|(instance, by)| Step::Hold { instance, by }),
        1 => (few(), any::<bool>()).prop_map(|(instance, more)| Step::Read { instance, more }),
        4 => (0..3_usize, 0..3_usize, any::<bool>()).prop_map(|(user, host, background)| Step::Attach { user, host, background }),
        1 => few().prop_map(|actor| Step::Detach { actor }),
        24 => (few(), few(), what()).prop_map(|(actor, class, what)| Step::Begin { actor, class, what }),
        24 => (few(), 0..12_usize, 0..3_u64).prop_map(|(actor, held, amount)| Step::End { actor, held, amount }),
        3 => (few(), few(), what()).prop_map(|(actor, class, what)| Step::Chain { actor, class, what }),
        8 => prop_oneof![0..100_u64, 0..1_000_000_u64, 0..30_000_000_000_u64].prop_map(|ns| Step::Pass { ns }),
        4 => (few(), prop::bool::weighted(0.7)).prop_map(|(consumer, on)| Step::Switch { consumer, on }),
        1 => (0..5_usize).prop_map(|timer| Step::Timer { timer }),
        3 => (0..tables::ALL.len()).prop_map(|table| Step::Truncate { table }),
        1 => (few(), 0..2_usize, any::<bool>()).prop_map(|(thread, column, yes)| Step::Thread { thread, column, yes }),
        1 => (0..3_usize, 0..3_usize, any::<bool>(), any::<bool>())
            .prop_map(|(user, host, enabled, history)| Step::InsertActor { user, host, enabled, history }),
        1 => (0..3_usize, any::<bool>()).prop_map(|(user, enabled)| Step::UpdateActors { user, enabled }),
        1 => (0..3_usize).prop_map(|user| Step::DeleteActors { user }),
        1 => Just(Step::FlushStatus),
        2 => Just(Step::EnableEverything),
        1 => Just(Step::Compare),
    ]
}

/// Sizes; every pool overflows now and then. The long history is filled in chunks of 1, of 2, or not at all.
fn config() -> impl Strategy<Value = (Config, usize)> {
    let base = Config::EMPTY
        .with(Size::MaxMutexClasses, 2)
        .with(Size::MaxRwlockClasses, 1)
        .with(Size::MaxCondClasses, 1)
        .with(Size::MaxSynchClasses, 1)
        .with(Size::MaxMutexInstances, 2)
        .with(Size::MaxRwlockInstances, 1)
        .with(Size::MaxCondInstances, 1)
        .with(Size::MaxThreadInstances, 2)
        .with(Size::MaxSourceLocations, 64)
        .with(Size::SetupActorsSize, 2);
    (0..3_u32, prop_oneof![Just((3, 1)), Just((8, 2)), Just((0, 1))], 0..4_u32).prop_map(
        move |(history, (long, chunk), histograms)| {
            let config = base
                .with(Size::EventsWaitsHistorySize, history)
                .with(Size::EventsWaitsHistoryLongSize, long)
                .with(Size::MaxWaitHistograms, histograms);
            (config, chunk)
        },
    )
}

/// Records that an actor has besides its history: for events that run.
const SPARE_RECORDS: usize = 6;

/// What was on when an event began.
#[derive(Clone, Copy, Debug, Default)]
struct On {
    enabled: bool,
    timed: bool,
    current: bool,
    history: bool,
    history_long: bool,
    histogram: bool,
    instance: bool,
    thread: bool,
    timer: usize,
}

impl On {
    fn without_slot(self) -> On {
        On { current: false, history: false, history_long: false, histogram: false, thread: false, ..self }
    }
}

#[derive(Clone, Debug)]
struct Event {
    on: On,
    id: u64,
    end_id: Option<u64>,
    class: usize,
    source: Option<u32>,
    start: u64,
    end: Option<u64>,
    object: u64,
    nesting: Option<u64>,
    operation: usize,
    amount: u64,
    /// It found a record.
    shown: bool,
    hidden_current: bool,
    hidden_history: bool,
}

#[derive(Clone, Debug)]
struct Thread {
    slot: Option<usize>,
    id: u64,
    user: String,
    host: String,
    background: bool,
    instrumented: bool,
    history: bool,
    last_event: u64,
    open: Vec<Event>,
    /// The last that was visible and ended.
    last_ended: Option<Event>,
    /// Ended events in records of their own, those that ended first in front.
    kept: VecDeque<Event>,
    /// Its chunk of the long history: which, the next place in it, places left.
    chunk: (usize, usize, usize),
}

#[derive(Clone, Debug)]
struct ModelClass {
    name: &'static str,
    setting: Setting,
}

#[derive(Clone, Debug)]
struct ModelInstance {
    unique: u64,
    class: usize,
    address: u64,
    holder: u64,
    readers: u64,
}

/// An ended event as the sums see it.
#[derive(Clone, Debug)]
struct Counted {
    class: usize,
    thread: Option<u64>,
    instance: Option<u64>,
    wait_ps: Option<u64>,
    in_histogram: bool,
}

struct Model {
    config: Config,
    chunk_len: usize,
    /// By kind, as many as there is room for.
    classes: [Vec<ModelClass>; 4],
    consumers: Vec<bool>,
    timer: usize,
    setup_actors: Vec<(String, String, bool, bool)>,
    threads: Vec<Thread>,
    slots: Vec<bool>,
    next_thread: u64,
    instances: [Vec<Option<ModelInstance>>; 4],
    next_instance: u64,
    counted: Vec<Counted>,
    since: HashMap<&'static str, usize>,
    /// Pairs of a slot and a class, and whether they found a histogram.
    histograms: HashMap<(usize, usize), bool>,
    long: Vec<Option<(u64, Event)>>,
    chunks: Vec<bool>,
    next_chunk: usize,
    lost: HashMap<Lost, u64>,
}

/// Picoseconds a tick.
const TICK_PS: [u64; 5] = [400, 1_000, 1_000_000, 1_000_000_000, 10_000_000_000];

impl Model {
    fn new(config: Config, chunk_len: usize) -> Model {
        let size = |size| config.get(size) as usize;
        let instances = [Size::MaxMutexInstances, Size::MaxRwlockInstances, Size::MaxCondInstances, Size::MaxSynchInstances];
        let long = size(Size::EventsWaitsHistoryLongSize);
        Model {
            config,
            chunk_len,
            classes: Default::default(),
            consumers: vec![false; Consumer::ALL.len()],
            timer: 0,
            setup_actors: vec![("%".into(), "%".into(), true, true)],
            threads: Vec::new(),
            slots: vec![false; size(Size::MaxThreadInstances)],
            next_thread: 1,
            instances: instances.map(|pool| vec![None; size(pool)]),
            next_instance: 0,
            counted: Vec::new(),
            since: HashMap::new(),
            histograms: HashMap::new(),
            long: vec![None; long],
            chunks: vec![false; long / chunk_len],
            next_chunk: 0,
            lost: HashMap::new(),
        }
    }

    fn lose(&mut self, lost: Lost) {
        *self.lost.entry(lost).or_default() += 1;
    }

    fn class_list(&self) -> Vec<(usize, ModelClass)> {
        let at = |kind, index| kind * 100 + index;
        self.classes
            .iter()
            .enumerate()
            .flat_map(|(kind, classes)| classes.iter().cloned().enumerate().map(move |(index, class)| (at(kind, index), class)))
            .collect()
    }

    fn class(&self, key: usize) -> &ModelClass {
        &self.classes[key / 100][key % 100]
    }

    fn register(&mut self, name: &'static str, setting: Setting) -> bool {
        let kind = KINDS.iter().position(|kind| name.split('/').nth(2) == Some(kind)).unwrap();
        if self.classes[kind].iter().any(|class| class.name == name) {
            return true;
        }
        let room = [Size::MaxMutexClasses, Size::MaxRwlockClasses, Size::MaxCondClasses, Size::MaxSynchClasses][kind];
        if self.classes[kind].len() == self.config.get(room) as usize {
            self.lose([Lost::MutexClasses, Lost::RwlockClasses, Lost::CondClasses, Lost::SynchClasses][kind]);
            return false;
        }
        self.classes[kind].push(ModelClass { name, setting });
        true
    }

    fn consumer(&self, consumer: Consumer) -> bool {
        self.consumers[Consumer::ALL.iter().position(|other| *other == consumer).unwrap()]
    }

    fn on(&self, class: usize, thread: &Thread) -> On {
        let setting = self.class(class).setting;
        let global = self.consumer(Consumer::GlobalInstrumentation);
        let by_thread = global && self.consumer(Consumer::ThreadInstrumentation);
        let current = by_thread && self.consumer(Consumer::EventsWaitsCurrent);
        if !setting.enabled || !global || !thread.instrumented {
            return On::default();
        }
        let on = On {
            enabled: true,
            timed: setting.timed,
            current,
            history: thread.history && current && self.consumer(Consumer::EventsWaitsHistory),
            history_long: thread.history && current && self.consumer(Consumer::EventsWaitsHistoryLong),
            histogram: by_thread && self.consumer(Consumer::EventsWaitsHistogram),
            instance: self.consumer(Consumer::EventsWaitsSummaryByInstance),
            thread: by_thread,
            timer: self.timer,
        };
        if thread.slot.is_some() { on } else { on.without_slot() }
    }

    fn attach(&mut self, user: &str, host: &str, background: bool) -> u64 {
        let rank = |row: &(String, String, bool, bool)| match (row.0 == user, row.1 == host) {
            (true, true) => 4,
            (true, false) if row.1 == "%" => 3,
            (false, true) if row.0 == "%" => 2,
            (false, false) if row.0 == "%" && row.1 == "%" => 1,
            _ => 0,
        };
        let row = self.setup_actors.iter().filter(|row| rank(row) > 0).max_by_key(|row| rank(row));
        let (instrumented, history) = if background { (true, true) } else { row.map_or((false, false), |row| (row.2, row.3)) };
        let mut thread = Thread {
            slot: None,
            id: 0,
            user: user.into(),
            host: host.into(),
            background,
            instrumented: true,
            history: true,
            last_event: 0,
            open: Vec::new(),
            last_ended: None,
            kept: VecDeque::new(),
            chunk: (0, 0, 0),
        };
        match self.slots.iter().position(|taken| !taken) {
            Some(slot) => {
                self.slots[slot] = true;
                thread = Thread { slot: Some(slot), id: self.next_thread, instrumented, history, ..thread };
                self.next_thread += 1;
            }
            None => self.lose(Lost::ThreadInstances),
        }
        let id = thread.id;
        self.threads.push(thread);
        id
    }

    fn detach(&mut self, thread: usize) {
        let thread = &mut self.threads[thread];
        let Some(slot) = thread.slot.take() else { return };
        self.slots[slot] = false;
        // What it records from now on is that of a thread without a slot.
        (thread.instrumented, thread.history) = (true, true);
        for event in &mut thread.open {
            event.on = event.on.without_slot();
            event.shown = false;
        }
        if thread.chunk.2 > 0 {
            self.chunks[thread.chunk.0] = false;
            thread.chunk.2 = 0;
        }
    }

    fn begin(&mut self, thread: usize, class: usize, what: &What, source: Option<u32>, clock: &MockClock) {
        let on = self.on(class, &self.threads[thread]);
        let records = self.config.get(Size::EventsWaitsHistorySize) as usize + SPARE_RECORDS;
        let now = clock.ticks(TimerName::ALL[on.timer]) * TICK_PS[on.timer];
        let state = &mut self.threads[thread];
        let mut event = Event {
            on,
            id: 0,
            end_id: None,
            class,
            source: None,
            start: now,
            end: None,
            object: what.object,
            nesting: state.open.iter().rev().find(|event| event.on.enabled).map(|event| event.id),
            operation: what.operation,
            amount: 0,
            shown: false,
            hidden_current: false,
            hidden_history: false,
        };
        let mut lost = false;
        if on.enabled {
            state.last_event += 1;
            event.id = state.last_event;
            if on.current {
                event.source = source;
                let running = state.open.iter().filter(|event| event.shown).count();
                lost = running == records;
                event.shown = !lost;
                if event.shown && running + state.kept.len() == records {
                    state.kept.pop_front();
                }
            }
        }
        state.open.push(event);
        if lost {
            self.lose(Lost::NestedEvents);
        }
    }

    fn end(&mut self, thread: usize, instance: Option<u64>, amount: u64, clock: &MockClock) {
        let mut event = self.threads[thread].open.pop().unwrap();
        if !event.on.enabled {
            return;
        }
        let state = &mut self.threads[thread];
        event.end = Some(clock.ticks(TimerName::ALL[event.on.timer]) * TICK_PS[event.on.timer]);
        event.end_id = Some(state.last_event);
        event.amount = amount;
        // Hidden while it ran: it counts, and enters no history.
        let forgotten = event.shown && event.hidden_current;
        // The long history takes copies of the records.
        let long = event.on.history_long && event.shown && !forgotten;
        if event.shown {
            state.last_ended = Some(event.clone());
            if event.on.history && !forgotten {
                state.kept.push_back(event.clone());
            }
        }
        let wait_ps = event.on.timed.then(|| event.end.unwrap() - event.start);
        let mut in_histogram = false;
        let (slot, id) = (state.slot, state.id);
        if let (Some(slot), true, Some(_)) = (slot, event.on.thread && event.on.histogram, wait_ps) {
            let taken = self.histograms.values().filter(|found| **found).count();
            let room = taken < self.config.get(Size::MaxWaitHistograms) as usize;
            let known = self.histograms.insert((slot, event.class), room);
            match known {
                Some(found) => drop(self.histograms.insert((slot, event.class), found)),
                None if !room => self.lose(Lost::WaitHistograms),
                None => {}
            }
            in_histogram = self.histograms[&(slot, event.class)];
        }
        let thread_id = slot.filter(|_| event.on.thread).map(|_| id);
        let instance = instance.filter(|_| event.on.instance);
        self.counted.push(Counted { class: event.class, thread: thread_id, instance, wait_ps, in_histogram });
        if long {
            self.write_long(thread, event);
        }
    }

    fn write_long(&mut self, thread: usize, event: Event) {
        let len = self.chunk_len;
        if self.threads[thread].chunk.2 == 0 {
            for _ in 0..8.min(self.chunks.len() * 8) {
                let chunk = self.next_chunk % self.chunks.len();
                self.next_chunk += 1;
                if !self.chunks[chunk] {
                    self.chunks[chunk] = true;
                    self.threads[thread].chunk = (chunk, chunk * len, len);
                    break;
                }
            }
        }
        let state = &mut self.threads[thread];
        let (chunk, next, left) = &mut state.chunk;
        if *left == 0 {
            return self.lose(Lost::HistoryLongRows);
        }
        self.long[*next] = Some((state.id, event));
        *next += 1;
        *left -= 1;
        if *left == 0 {
            self.chunks[*chunk] = false;
        }
    }

    fn truncate(&mut self, table: &'static str) -> Result<(), TableError> {
        let live = |thread: &&mut Thread| thread.slot.is_some();
        match table {
            "events_waits_current" => self.threads.iter_mut().filter(live).for_each(|thread| {
                thread.open.iter_mut().for_each(|event| event.hidden_current = true);
                thread.last_ended.iter_mut().for_each(|event| event.hidden_current = true);
            }),
            "events_waits_history" => {
                self.threads
                    .iter_mut()
                    .filter(live)
                    .for_each(|thread| thread.kept.iter_mut().for_each(|event| event.hidden_history = true));
            }
            "events_waits_history_long" => self.long.iter_mut().for_each(|row| *row = None),
            "setup_actors" => self.setup_actors.clear(),
            _ if table.contains("summary") || table.contains("histogram") => {
                self.since.insert(table, self.counted.len());
            }
            _ => return Err(TableError::WrongUsage),
        }
        Ok(())
    }

    /// COUNT, SUM, MIN, AVG, MAX of what the table counted since it was truncated.
    fn sums(&self, table: &str, of: impl Fn(&Counted) -> bool) -> String {
        let since = self.since.get(table).copied().unwrap_or(0);
        let chosen: Vec<&Counted> = self.counted[since..].iter().filter(|counted| of(counted)).collect();
        let timed: Vec<u64> = chosen.iter().filter_map(|counted| counted.wait_ps).collect();
        let sum: u64 = timed.iter().sum();
        let avg = sum.checked_div(timed.len() as u64).unwrap_or(0);
        format!("{} {sum} {} {avg} {}", chosen.len(), timed.iter().min().unwrap_or(&0), timed.iter().max().unwrap_or(&0))
    }

    fn buckets(&self, class: usize) -> Vec<u64> {
        let since = self.since.get("events_waits_histogram_by_event_name").copied().unwrap_or(0);
        let mut buckets = vec![0; BUCKET_COUNT];
        for counted in self.counted[since..].iter().filter(|counted| counted.class == class && counted.in_histogram) {
            buckets[bucket(counted.wait_ps.unwrap())] += 1;
        }
        buckets
    }

    fn quantile(&self, class: usize, per_mille: u64) -> u64 {
        let buckets = self.buckets(class);
        let total: u64 = buckets.iter().sum();
        let waits = buckets.iter().enumerate().flat_map(|(bucket, count)| (0..*count).map(move |_| bucket));
        let rank = (total * per_mille).div_ceil(1000).max(1) as usize;
        waits.take(rank).last().map_or(0, bucket_timer_high)
    }

    fn event_row(&self, thread: u64, event: &Event) -> String {
        let null = |value: Option<String>| value.unwrap_or_else(|| "NULL".into());
        let number = |value: Option<u64>| null(value.map(|value| value.to_string()));
        let timed = |value: Option<u64>| number(value.filter(|_| event.on.timed));
        format!(
            "{thread} {} {} {} {} {} {} {} {} NULL NULL NULL NULL {} {} {} {} NULL NULL",
            event.id,
            number(event.end_id),
            self.class(event.class).name,
            null(event.source.map(|line| format!("model.rs:{line}"))),
            timed(Some(event.start)),
            timed(event.end),
            timed(event.end.map(|end| end - event.start)),
            number(Some(event.amount).filter(|amount| *amount != 0)),
            event.object,
            number(event.nesting),
            if event.nesting.is_some() { "WAIT" } else { "NULL" },
            OPERATIONS[event.operation].1,
        )
    }

    fn live(&self) -> impl Iterator<Item = &Thread> {
        self.threads.iter().filter(|thread| thread.slot.is_some())
    }

    fn instances(&self, kind: usize) -> impl Iterator<Item = &ModelInstance> {
        self.instances[kind].iter().flatten()
    }

    /// The rows that a table should show; None for what is compared otherwise.
    fn rows(&self, table: &str) -> Option<Vec<String>> {
        let yes = |yes: bool| if yes { "YES" } else { "NO" };
        let null = |number: u64| if number == 0 { "NULL".into() } else { number.to_string() };
        let mut rows: Vec<String> = match table {
            "setup_instruments" => self
                .class_list()
                .iter()
                .map(|(_, class)| format!("{} {} {}", class.name, yes(class.setting.enabled), yes(class.setting.timed)))
                .collect(),
            "setup_consumers" => Consumer::ALL
                .iter()
                .zip(&self.consumers)
                .map(|(consumer, on)| format!("{} {}", consumer.name(), yes(*on)))
                .collect(),
            "setup_timers" => vec![format!("wait {}", TimerName::ALL[self.timer].name())],
            "setup_actors" => self
                .setup_actors
                .iter()
                .map(|(user, host, enabled, history)| format!("{host} {user} % {} {}", yes(*enabled), yes(*history)))
                .collect(),
            "threads" => self
                .live()
                .map(|thread| {
                    let (kind, connection) =
                        if thread.background { ("BACKGROUND", "NULL".into()) } else { ("FOREGROUND", thread.id.to_string()) };
                    format!(
                        "{} thread/m {kind} {connection} {} {} NULL NULL NULL NULL NULL NULL NULL {} {} NULL NULL",
                        thread.id,
                        thread.user,
                        thread.host,
                        yes(thread.instrumented),
                        yes(thread.history)
                    )
                })
                .collect(),
            "mutex_instances" => {
                self.instances(0).map(|i| format!("{} {} {}", self.class(i.class).name, i.address, null(i.holder))).collect()
            }
            "rwlock_instances" => self
                .instances(1)
                .map(|i| format!("{} {} {} {}", self.class(i.class).name, i.address, null(i.holder), i.readers))
                .collect(),
            "cond_instances" => self.instances(2).map(|i| format!("{} {}", self.class(i.class).name, i.address)).collect(),
            "events_waits_current" => self
                .live()
                .flat_map(|thread| {
                    let running: Vec<&Event> = thread.open.iter().filter(|event| event.shown).collect();
                    let events = if running.is_empty() { thread.last_ended.iter().collect() } else { running };
                    events
                        .into_iter()
                        .filter(|event| !event.hidden_current)
                        .map(|event| self.event_row(thread.id, event))
                        .collect::<Vec<_>>()
                })
                .collect(),
            "events_waits_history" => {
                let size = self.config.get(Size::EventsWaitsHistorySize) as usize;
                self.live()
                    .flat_map(|thread| {
                        let last = thread.kept.iter().rev().filter(|event| !event.hidden_history).take(size);
                        last.map(|event| self.event_row(thread.id, event)).collect::<Vec<_>>()
                    })
                    .collect()
            }
            "events_waits_history_long" => {
                self.long.iter().flatten().map(|(thread, event)| self.event_row(*thread, event)).collect()
            }
            "events_waits_summary_global_by_event_name" => self
                .class_list()
                .iter()
                .map(|(key, class)| {
                    let quantiles = [950, 990, 999].map(|share| self.quantile(*key, share));
                    let sums = self.sums(table, |counted| counted.class == *key);
                    format!("{} {sums} {} {} {}", class.name, quantiles[0], quantiles[1], quantiles[2])
                })
                .collect(),
            "events_waits_summary_by_thread_by_event_name" => self
                .live()
                .flat_map(|thread| self.class_list().into_iter().map(move |(key, class)| (thread.id, key, class)))
                .map(|(thread, key, class)| {
                    let sums = self.sums(table, |counted| counted.class == key && counted.thread == Some(thread));
                    format!("{thread} {} {sums}", class.name)
                })
                .collect(),
            "events_waits_summary_by_instance" => (0..4)
                .flat_map(|kind| self.instances(kind))
                .map(|instance| {
                    let sums = self.sums(table, |counted| counted.instance == Some(instance.unique));
                    format!("{} {} {sums}", self.class(instance.class).name, instance.address)
                })
                .collect(),
            "global_status" => {
                Lost::ALL.iter().map(|lost| format!("{} {}", lost.variable(), self.lost.get(lost).unwrap_or(&0))).collect()
            }
            "global_variables" => Size::ALL
                .iter()
                .map(|size| format!("{} {}", size.variable(), self.config.get(*size)))
                .chain(["performance_schema ON".into()])
                .collect(),
            "performance_timers" => [2_500_000_000_u64, 1_000_000_000, 1_000_000, 1_000, 100]
                .iter()
                .zip(TimerName::ALL)
                .map(|(hz, timer)| format!("{} {hz} NULL NULL", timer.name()))
                .collect(),
            "events_waits_histogram_by_event_name" => return None,
            other => panic!("the model does not know {other}"),
        };
        sort(&mut rows);
        Some(rows)
    }
}

/// The core and the model, side by side.
struct Both<'r> {
    region: &'r Region<'r>,
    reader: &'r Region<'r>,
    clock: &'r MockClock,
    model: Model,
    /// The classes that there are: the core's, and the model's key.
    classes: Vec<(Class, usize)>,
    instances: Vec<(InstanceId, usize, u64)>,
    actors: Vec<(Actor<'r>, Vec<Wait<'r>>)>,
}

fn choose<T>(list: &[T], number: usize) -> Option<usize> {
    (!list.is_empty()).then(|| number % list.len())
}

impl<'r> Both<'r> {
    fn step(&mut self, step: &Step) {
        let region = self.region;
        let text = |yes: bool| Value::Text(if yes { "YES" } else { "NO" });
        match step {
            Step::Register { name, setting } => {
                let name = CLASS_NAMES[name % CLASS_NAMES.len()];
                let setting = SETTINGS[*setting];
                let class = region.register(InstrumentName::new(name).unwrap(), setting);
                assert_eq!(self.model.register(name, setting), class.is_ok());
                if let Ok(class) = class
                    && self.classes.iter().all(|(known, _)| *known != class)
                {
                    let (key, _) = self.model.class_list().into_iter().find(|(_, class)| class.name == name).unwrap();
                    self.classes.push((class, key));
                }
            }
            Step::Set { class, setting } => {
                let Some(class) = choose(&self.classes, *class) else { return };
                let (class, key) = self.classes[class];
                region.set_setting(class, SETTINGS[*setting]);
                self.model.classes[key / 100][key % 100].setting = SETTINGS[*setting];
            }
            Step::CreateInstance { class, address } => {
                let Some(class) = choose(&self.classes, *class) else { return };
                let (class, key) = self.classes[class];
                let id = region.create_instance(class, *address);
                let pool = &mut self.model.instances[key / 100];
                let place = pool.iter().position(Option::is_none);
                assert_eq!(id.is_some(), place.is_some());
                match (id, place) {
                    (Some(id), Some(place)) => {
                        self.model.next_instance += 1;
                        let unique = self.model.next_instance;
                        pool[place] = Some(ModelInstance { unique, class: key, address: *address, holder: 0, readers: 0 });
                        self.instances.push((id, key / 100, unique));
                    }
                    _ => self.model.lose(
                        [Lost::MutexInstances, Lost::RwlockInstances, Lost::CondInstances, Lost::SynchInstances][key / 100],
                    ),
                }
            }
            Step::DestroyInstance { instance } => {
                let Some(at) = choose(&self.instances, *instance) else { return };
                let (id, kind, unique) = self.instances.remove(at);
                region.destroy_instance(id);
                let place =
                    self.model.instances[kind].iter_mut().find(|place| place.as_ref().is_some_and(|i| i.unique == unique));
                *place.unwrap() = None;
            }
            Step::Hold { instance, by } => {
                let Some(at) = choose(&self.instances, *instance) else { return };
                let instance = region.instance(self.instances[at].0).unwrap();
                if *by == 0 {
                    instance.clear_holder();
                } else {
                    instance.set_holder(*by);
                }
                self.model_instance(at).holder = *by;
            }
            Step::Read { instance, more } => {
                let Some(at) = choose(&self.instances, *instance) else { return };
                let instance = region.instance(self.instances[at].0).unwrap();
                let readers = &mut self.model_instance(at).readers;
                if *more {
                    *readers += 1;
                    instance.add_reader();
                } else if *readers > 0 {
                    *readers -= 1;
                    instance.remove_reader();
                }
            }
            Step::Attach { user, host, background } => {
                if self.actors.len() == 6 {
                    return;
                }
                let (user, host) = (USERS[*user], HOSTS[*host]);
                let thread_type = if *background { ThreadType::Background } else { ThreadType::Foreground };
                let actor =
                    Actor::attach(region, &ActorIdentity { name: "thread/m", thread_type, user, host, ..Default::default() });
                assert_eq!(actor.thread_id(), self.model.attach(user, host, *background));
                self.actors.push((actor, Vec::new()));
            }
            Step::Detach { actor } => {
                let Some(at) = choose(&self.actors, *actor) else { return };
                self.actors[at].0.detach();
                self.model.detach(at);
            }
            Step::Begin { actor, class, what } => {
                let (Some(at), Some(class)) = (choose(&self.actors, *actor), choose(&self.classes, *class)) else { return };
                if self.actors[at].1.len() < 12 {
                    self.begin(at, class, what, None);
                }
            }
            Step::End { actor, held, amount } => {
                let Some(at) = choose(&self.actors, *actor) else { return };
                let Some(mut wait) = self.actors[at].1.pop() else { return };
                // A third of the waits is for no instance.
                let chosen = choose(&self.instances, held / 3).filter(|_| held % 3 != 0);
                let instance = chosen.and_then(|at| region.instance(self.instances[at].0));
                wait.set_amount(*amount);
                let held = match &instance {
                    None => Held::None,
                    Some(instance) if held % 3 == 1 => Held::Exclusive(instance),
                    Some(instance) => Held::Shared(instance),
                };
                self.actors[at].0.end(self.clock, wait, held);
                self.model.end(at, chosen.map(|at| self.instances[at].2), *amount, self.clock);
            }
            Step::Chain { actor, class, what } => {
                let (Some(at), Some(class)) = (choose(&self.actors, *actor), choose(&self.classes, *class)) else { return };
                if let Some(ended) = self.actors[at].1.pop() {
                    self.model.end(at, None, 0, self.clock);
                    self.begin(at, class, what, Some(ended));
                }
            }
            Step::Pass { ns } => advance(self.clock, *ns),
            Step::Switch { consumer, on } => {
                let consumer = consumer % Consumer::ALL.len();
                let name = Value::Text(Consumer::ALL[consumer].name());
                let updated = tables::find("setup_consumers").unwrap().update(
                    region,
                    &mut |row| row.cell(0) == name,
                    &[("enabled", text(*on))],
                );
                let changed = self.model.consumers[consumer] != *on;
                assert_eq!(updated.map(|updated| (updated.matched, updated.changed)), Ok((1, u64::from(changed))));
                self.model.consumers[consumer] = *on;
            }
            Step::Timer { timer } => {
                region.set_wait_timer(TimerName::ALL[*timer]);
                self.model.timer = *timer;
            }
            Step::Truncate { table } => {
                let table = tables::ALL[*table];
                assert_eq!(table.truncate(region), self.model.truncate(table.declaration().name));
            }
            Step::Thread { thread, column, yes } => {
                let live: Vec<u64> = self.model.live().map(|thread| thread.id).collect();
                let Some(at) = choose(&live, *thread) else { return };
                let column = ["INSTRUMENTED", "HISTORY"][*column];
                let mut choose = |row: &dyn perfschema_core::table::Row| row.cell(0) == Value::Unsigned(live[at]);
                tables::find("threads").unwrap().update(region, &mut choose, &[(column, text(*yes))]).unwrap();
                let thread = self.model.threads.iter_mut().find(|thread| thread.slot.is_some() && thread.id == live[at]).unwrap();
                *(if column == "HISTORY" { &mut thread.history } else { &mut thread.instrumented }) = *yes;
            }
            Step::InsertActor { user, host, enabled, history } => {
                let (user, host) = (USERS[*user], HOSTS[*host]);
                let values = [
                    ("USER", Value::Text(user)),
                    ("HOST", Value::Text(host)),
                    ("ENABLED", text(*enabled)),
                    ("HISTORY", text(*history)),
                ];
                let inserted = tables::find("setup_actors").unwrap().insert(region, &values).map_err(|error| error.errno());
                let rows = &mut self.model.setup_actors;
                let expected = if rows.iter().any(|row| row.0 == user && row.1 == host) {
                    Err(1022)
                } else if rows.len() == self.model.config.get(Size::SetupActorsSize) as usize {
                    Err(1114)
                } else {
                    rows.push((user.into(), host.into(), *enabled, *history));
                    Ok(())
                };
                assert_eq!(inserted, expected);
            }
            Step::UpdateActors { user, enabled } => {
                let user = USERS[*user];
                let mut choose = |row: &dyn perfschema_core::table::Row| row.cell(1) == Value::Text(user);
                tables::find("setup_actors").unwrap().update(region, &mut choose, &[("ENABLED", text(*enabled))]).unwrap();
                self.model.setup_actors.iter_mut().filter(|row| row.0 == user).for_each(|row| row.2 = *enabled);
            }
            Step::DeleteActors { user } => {
                let user = USERS[*user];
                let mut choose = |row: &dyn perfschema_core::table::Row| row.cell(1) == Value::Text(user);
                let before = self.model.setup_actors.len();
                self.model.setup_actors.retain(|row| row.0 != user);
                let deleted = tables::find("setup_actors").unwrap().delete(region, &mut choose);
                assert_eq!(deleted, Ok((before - self.model.setup_actors.len()) as u64));
            }
            Step::FlushStatus => {
                region.flush_status();
                self.model.lost.clear();
            }
            Step::EnableEverything => {
                region.enable_everything();
                self.model.consumers.fill(true);
                self.model.classes.iter_mut().flatten().for_each(|class| class.setting = Setting::ON);
            }
            Step::Compare => self.compare(),
        }
    }

    fn model_instance(&mut self, at: usize) -> &mut ModelInstance {
        let (_, kind, unique) = self.instances[at];
        self.model.instances[kind].iter_mut().flatten().find(|instance| instance.unique == unique).unwrap()
    }

    fn begin(&mut self, at: usize, class: usize, what: &What, chained: Option<Wait<'r>>) {
        let (class, key) = self.classes[class];
        let location = what.with_source.then(|| std::panic::Location::caller());
        self.model.begin(at, key, what, location.map(std::panic::Location::line), self.clock);
        let start = WaitStart { object: what.object, source: location, ..WaitStart::new(OPERATIONS[what.operation].0) };
        let switches = self.region.switches(class);
        let actor = &self.actors[at].0;
        let wait = match chained {
            None => actor.begin(self.clock, switches, class, &start),
            Some(ended) => actor.chain(self.clock, ended, Held::None, switches, class, &start),
        };
        self.actors[at].1.push(wait);
    }

    /// Every table, row by row.
    fn compare(&self) {
        for table in tables::ALL.iter().map(|table| table.declaration().name) {
            if let Some(rows) = self.model.rows(table) {
                assert_eq!(select(self.reader, table, "*"), rows, "{table}: the core, then the model");
            }
        }
        let mut rows = Vec::new();
        self.region.scan(&tables::EventsWaitsHistogramByEventName, |row| {
            rows.push((row.event_name.to_string(), u64::from(row.bucket_number), row.count_bucket, row.count_bucket_and_lower));
        });
        let mut expected = Vec::new();
        for (key, class) in self.model.class_list() {
            let mut lower = 0;
            for (number, count) in self.model.buckets(key).into_iter().enumerate() {
                lower += count;
                expected.push((class.name.to_string(), number as u64, count, lower));
            }
        }
        assert!(rows == expected, "the histograms differ");
    }
}

fn run((config, chunk_len): (Config, usize), program: &[Step]) {
    let words = common::words(config.words());
    let clock = MockClock::new();
    let identity = Identity { pid: 1, program: "model", ..Default::default() };
    let region = Region::create(&words, &config, &identity, &clock.timers()).unwrap();
    let reader = Region::open(&words).unwrap();
    let mut both = Both {
        region: &region,
        reader: &reader,
        clock: &clock,
        model: Model::new(config, chunk_len),
        classes: Vec::new(),
        instances: Vec::new(),
        actors: Vec::new(),
    };
    for step in program {
        both.step(step);
    }
    both.compare();
    // What was open ends, and everybody goes.
    for at in 0..both.actors.len() {
        while !both.actors[at].1.is_empty() {
            both.step(&Step::End { actor: at, held: 0, amount: 1 });
        }
    }
    both.compare();
    for at in 0..both.actors.len() {
        both.step(&Step::Detach { actor: at });
    }
    both.compare();
}

fn cases() -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig {
        cases: asked.unwrap_or(250),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..ProptestConfig::default()
    }
}

/// A program that starts with nothing, all off.
fn from_scratch() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 0..200)
}

/// A program that starts where most things happen: classes and threads are there, everything is on.
fn from_the_middle() -> impl Strategy<Value = Vec<Step>> {
    from_scratch().prop_map(|program| {
        let register = (0..CLASS_NAMES.len()).map(|name| Step::Register { name, setting: 1 });
        let attach = [true, false, true].map(|background| Step::Attach { user: 1, host: 1, background });
        let create = (0..4).map(|class| Step::CreateInstance { class, address: class as u64 });
        register.chain(attach).chain(create).chain([Step::EnableEverything]).chain(program).collect()
    })
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn programs_from_scratch(config in config(), program in from_scratch()) {
        run(config, &program);
    }

    #[test]
    fn programs_from_the_middle(config in config(), program in from_the_middle()) {
        run(config, &program);
    }
}
