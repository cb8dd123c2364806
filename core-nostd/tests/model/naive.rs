//! The model itself: vectors, maps and loops. It knows what the tables promise, and nothing of how the core keeps the promise.

use perfschema_core::digest::{Digest, digest_text};
use perfschema_core::metric::MonitorCommand;
use perfschema_core::table::TableError;
use perfschema_core::timer::{Clock, TimerName};
use perfschema_core::{Config, Consumer, Lost, Setting, Size};
use std::collections::{HashMap, HashSet, VecDeque};
use std::iter;

mod events;
mod io;
mod memory;
mod tables;
mod threads;

/// The pools of classes and instances, by the third part of an instrument's name.
const KINDS: [&str; 6] = ["mutex", "rwlock", "cond", "semaphore", "file", "socket"];
/// The pools of what synchronizes otherwise, where ordinary waits are, too, of files and of sockets, that of the one instrument `idle`, and those of stages, of statements, of transactions and of memory.
const SYNCH: usize = 3;
const FILES: usize = 4;
const SOCKETS: usize = 5;
const IDLE: usize = 6;
const STAGE: usize = 7;
const STATEMENT: usize = 8;
const TRANSACTION: usize = 9;
const MEMORY: usize = 10;
/// How many classes each pool has room for, and what is counted when there is none; of `idle` there is one, always.
const CLASSES: [Option<(Size, Lost)>; 11] = [
    Some((Size::MaxMutexClasses, Lost::MutexClasses)),
    Some((Size::MaxRwlockClasses, Lost::RwlockClasses)),
    Some((Size::MaxCondClasses, Lost::CondClasses)),
    Some((Size::MaxSynchClasses, Lost::SynchClasses)),
    Some((Size::MaxFileClasses, Lost::FileClasses)),
    Some((Size::MaxSocketClasses, Lost::SocketClasses)),
    None,
    Some((Size::MaxStageClasses, Lost::StageClasses)),
    Some((Size::MaxStatementClasses, Lost::StatementClasses)),
    Some((Size::MaxTransactionClasses, Lost::TransactionClasses)),
    Some((Size::MaxMemoryClasses, Lost::MemoryClasses)),
];
const INSTANCE_SIZES: [Size; 4] =
    [Size::MaxMutexInstances, Size::MaxRwlockInstances, Size::MaxCondInstances, Size::MaxSynchInstances];
const INSTANCES_LOST: [Lost; 4] = [Lost::MutexInstances, Lost::RwlockInstances, Lost::CondInstances, Lost::SynchInstances];

/// Events of which single ones are shown, in tables of their own.
struct EventTables {
    history_size: Size,
    /// Records that an actor has besides its history: for events that run.
    spare_records: usize,
    history_long_size: Size,
    history_long_lost: Lost,
    /// What the current ones, the history and the long history depend on.
    consumers: [Consumer; 3],
}

const WAITS: usize = 0;
const STAGES: usize = 1;
const STATEMENTS: usize = 2;
const TRANSACTIONS: usize = 3;
const EVENTS: [EventTables; 4] = [
    EventTables {
        history_size: Size::EventsWaitsHistorySize,
        spare_records: 6,
        history_long_size: Size::EventsWaitsHistoryLongSize,
        history_long_lost: Lost::HistoryLongRows,
        consumers: [Consumer::EventsWaitsCurrent, Consumer::EventsWaitsHistory, Consumer::EventsWaitsHistoryLong],
    },
    EventTables {
        history_size: Size::EventsStagesHistorySize,
        spare_records: 1,
        history_long_size: Size::EventsStagesHistoryLongSize,
        history_long_lost: Lost::StageHistoryLongRows,
        consumers: [Consumer::EventsStagesCurrent, Consumer::EventsStagesHistory, Consumer::EventsStagesHistoryLong],
    },
    EventTables {
        history_size: Size::EventsStatementsHistorySize,
        spare_records: 6,
        history_long_size: Size::EventsStatementsHistoryLongSize,
        history_long_lost: Lost::StatementHistoryLongRows,
        consumers: [Consumer::EventsStatementsCurrent, Consumer::EventsStatementsHistory, Consumer::EventsStatementsHistoryLong],
    },
    EventTables {
        history_size: Size::EventsTransactionsHistorySize,
        spare_records: 6,
        history_long_size: Size::EventsTransactionsHistoryLongSize,
        history_long_lost: Lost::TransactionHistoryLongRows,
        consumers: [
            Consumer::EventsTransactionsCurrent,
            Consumer::EventsTransactionsHistory,
            Consumer::EventsTransactionsHistoryLong,
        ],
    },
];

/// Chunks of the long history that are tried before a row is given up.
const PROBES: usize = 8;

/// Picoseconds a tick, of each timer of the mock clock.
const TICK_PS: [u64; 5] = [400, 1_000, 1_000_000, 1_000_000_000, 10_000_000_000];

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
    digest: bool,
    thread: bool,
    timer: usize,
}

impl On {
    fn without_slot(self) -> On {
        On { current: false, history: false, history_long: false, thread: false, ..self }
    }
}

/// An event that others lie within: its number, and its type.
type Within = (u64, &'static str);

/// How many figures a statement has.
const FIGURES: usize = 19;

/// How a statement failed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Failed {
    pub(crate) number: u32,
    pub(crate) sqlstate: &'static str,
    pub(crate) message: &'static str,
}

/// What a program says of an event that begins; of a stage only where.
#[derive(Clone, Debug, Default)]
pub(crate) struct Begun {
    pub(crate) operation: &'static str,
    pub(crate) object: u64,
    pub(crate) amount: u64,
    /// For a file: which one, if it is known, and FLAGS.
    pub(crate) file: Option<(Option<FileKey>, u32)>,
    /// For a socket: its IP:PORT, if that is known.
    pub(crate) peer: Option<String>,
    /// The line of the source location, which stands for it.
    pub(crate) source: Option<u32>,
    /// Nothing lies within it.
    pub(crate) concurrent: bool,
    /// Of a statement.
    pub(crate) text: &'static str,
    pub(crate) schema: &'static str,
    /// Of a transaction.
    pub(crate) read_only: bool,
    pub(crate) autocommit: bool,
    pub(crate) isolation_level: &'static str,
}

/// What is said of a transaction while it runs: TRX_ID, and savepoints that were set, gone back to, and given up.
pub(crate) type Details = [u64; 4];

#[derive(Clone, Debug)]
struct Event {
    on: On,
    begun: Begun,
    id: u64,
    end_id: Option<u64>,
    class: ClassKey,
    /// In picoseconds since the epoch.
    start: u64,
    end: Option<u64>,
    /// NESTING_EVENT_ID and _TYPE: while a wait runs, the wait, the statement or the transaction that it lies within, not the stage.
    nesting: Option<Within>,
    /// The statements that enclosed it when it began, the outermost first; of a statement, NESTING_EVENT_LEVEL is how many.
    statements: Vec<u64>,
    /// Of a statement or a transaction, one of its kind that it lay within has ended before it: nothing lies within it any more.
    outlives: bool,
    figures: [u64; FIGURES],
    /// Of a statement, where those like it are counted.
    digest: Option<usize>,
    error: Failed,
    /// Of a transaction: its number among all, what was said of it, what of that its thread has written, GTID and STATE.
    transaction: usize,
    said: Details,
    written: Details,
    gtid: &'static str,
    state: &'static str,
    /// WORK_COMPLETED and WORK_ESTIMATED of a stage, once they are said.
    progress: Option<[u64; 2]>,
    /// It found a record.
    shown: bool,
    hidden_current: bool,
    hidden_history: bool,
}

impl Event {
    fn kind(&self) -> usize {
        kind(self.class)
    }

    /// What is said of the order in which events of a thread ended. Where none began between two ends, the one that began first is taken
    /// for the outer one, which ends last; of those that run beside each other that need not be so.
    fn end_order(&self) -> (u64, std::cmp::Reverse<u64>) {
        (self.end_id.unwrap_or(u64::MAX), std::cmp::Reverse(self.id))
    }

    /// Never negative, whatever the clock did.
    fn wait_ps(&self) -> Option<u64> {
        self.end.map(|end| end.saturating_sub(self.start))
    }
}

/// Who attaches.
#[derive(Clone, Debug)]
pub(crate) struct Who {
    pub(crate) name: &'static str,
    pub(crate) user: &'static str,
    pub(crate) host: &'static str,
    pub(crate) background: bool,
    pub(crate) os_id: u64,
    pub(crate) parent: u64,
}

#[derive(Clone, Debug)]
struct Thread {
    who: Who,
    slot: Option<usize>,
    id: u64,
    instrumented: bool,
    history: bool,
    last_event: u64,
    /// Events of which was decided whether they are timed.
    drawn: u64,
    /// Lines of the source locations that it knows to have none.
    lines_without_place: HashSet<u32>,
    /// Its waits, its stages, its statements, and its transactions.
    events: [Own; 4],
}

impl Thread {
    /// The stage that runs, if it is visible and lies within the same statement as what lies there, or both within none.
    fn stage_beside(&self, within: Option<Within>) -> Option<Within> {
        let statement = |within: Option<Within>| within.filter(|(_, kind)| *kind == "STATEMENT");
        let is_beside = |stage: &&Event| stage.shown && statement(stage.nesting) == statement(within);
        self.events[STAGES].open.iter().find(is_beside).map(|stage| (stage.id, "STAGE"))
    }

    /// The statements, or the transactions, that what begins now lies within, each within the one before: visible or not.
    fn enclosing(&self, kind: usize) -> impl DoubleEndedIterator<Item = &Event> {
        self.events[kind].open.iter().filter(|event| event.on.enabled && !event.outlives)
    }

    /// The innermost visible statement.
    fn statement(&self) -> Option<Within> {
        self.enclosing(STATEMENTS).rfind(|event| event.shown).map(|event| (event.id, "STATEMENT"))
    }

    /// The innermost visible transaction.
    fn transaction(&self) -> Option<Within> {
        self.enclosing(TRANSACTIONS).rfind(|event| event.shown).map(|event| (event.id, "TRANSACTION"))
    }

    /// The innermost visible wait.
    fn wait(&self) -> Option<Within> {
        let within = |event: &&Event| event.shown && !event.begun.concurrent;
        self.events[WAITS].open.iter().rfind(within).map(|wait| (wait.id, "WAIT"))
    }

    /// What an event of this kind that begins now lies within, but for stages: of the innermost of several the one that began later.
    /// Waits and stages lie within a transaction only where nothing else is around them.
    fn within(&self, kind: usize) -> Option<Within> {
        let younger = |one: Option<Within>, other: Option<Within>| one.into_iter().chain(other).max_by_key(|(id, _)| *id);
        match kind {
            WAITS => younger(self.wait(), self.statement()).or(self.transaction()),
            STAGES => self.statement().or(self.transaction()),
            _ => younger(self.statement(), self.transaction()),
        }
    }
}

/// A thread's events of a kind; of stages one runs at a time.
#[derive(Clone, Debug)]
struct Own {
    open: Vec<Event>,
    /// The last that was visible and ended.
    last_ended: Option<Event>,
    /// Ended events in records of their own, those that ended first in front.
    kept: VecDeque<Event>,
    /// Its chunk of the long history: which, the next place in it, places left.
    chunk: (usize, usize, usize),
    /// The numbers of chunks that it has drawn, and how many chunks it has taken.
    numbers: VecDeque<usize>,
    batch: usize,
    drew_up_to: usize,
    chunks_taken: usize,
}

/// The long history of a kind of events.
struct Long {
    /// Each with the number with which its chunk was taken for it, and the thread.
    rows: Vec<Option<(usize, u64, Event)>>,
    /// Its chunks, each of so many rows: the number that took it last, and whether it is being filled.
    chunks: Vec<(Option<usize>, bool)>,
    chunk_len: usize,
    next_number: usize,
}

/// Pool and place of a class.
pub(crate) type ClassKey = (usize, usize);

#[derive(Clone, Debug)]
struct Class {
    name: &'static str,
    setting: Setting,
}

#[derive(Clone, Debug)]
pub(crate) struct Instance {
    unique: u64,
    class: ClassKey,
    pub(crate) address: u64,
    pub(crate) holder: u64,
    pub(crate) readers: u64,
}

/// An instance of the model: its pool, and a number that no other has.
pub(crate) type InstanceKey = (usize, u64);

/// A stage of the model: its thread, and its number there.
pub(crate) type StageKey = (usize, u64);

/// A transaction of the model: its thread, and a number that no other has.
pub(crate) type TransactionKey = (usize, usize);

/// A file of the model: a number that no other has.
pub(crate) type FileKey = usize;

/// A file, also one that is gone.
#[derive(Clone, Debug)]
struct File {
    path: Vec<u8>,
    class: ClassKey,
    place: usize,
    opened: bool,
    open_count: u32,
    references: usize,
    gone: bool,
}

/// A socket of the model: a number that no other has.
pub(crate) type SocketKey = usize;

/// A socket, also one that is closed.
#[derive(Clone, Debug)]
struct Socket {
    class: ClassKey,
    descriptor: i32,
    /// IP and PORT.
    peer: (String, u16),
    open: bool,
    /// Whose it is said to be, and who counted first; 0 is nobody.
    thread: u64,
    first: u64,
    idle: u32,
}

/// How a wait for a file or a socket ends: with which one, and in which group of columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Io {
    pub(crate) file: Option<FileKey>,
    pub(crate) socket: Option<SocketKey>,
    pub(crate) group: usize,
}

/// A row of `setup_actors`.
#[derive(Clone, Debug)]
struct SetupActor {
    user: &'static str,
    host: &'static str,
    enabled: bool,
    history: bool,
}

/// An ended event as the sums see it.
#[derive(Clone, Debug)]
struct Counted {
    class: ClassKey,
    thread: Option<u64>,
    instance: Option<InstanceKey>,
    wait_ps: Option<u64>,
    bucket: Option<usize>,
    io: Option<Io>,
    /// Whether `events_waits_summary_by_instance` counts its file or socket.
    io_waits: bool,
    /// False of an operation that is no event.
    is_wait: bool,
    bytes: u64,
    /// Of a statement.
    figures: [u64; FIGURES],
    /// Of a transaction.
    read_only: bool,
    /// Of those like it the place, and when it ended, in seconds.
    digest: Option<(usize, u64)>,
}

/// What happened to memory, and to its tables.
#[derive(Clone, Debug)]
enum Memory {
    /// Blocks and bytes that came and went, in the slot that its thread had, or in none.
    Change {
        class: ClassKey,
        slot: Option<usize>,
        thread: u64,
        blocks: [i64; 2],
        bytes: [i64; 2],
    },
    Truncated(&'static str),
}

/// Blocks, or bytes, in one place where they are counted: came, went, fewest and most in use.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    came: i64,
    went: i64,
    low: i64,
    high: i64,
}

/// BUCKET_NUMBER, BUCKET_TIMER_LOW, BUCKET_TIMER_HIGH, COUNT_BUCKET, COUNT_BUCKET_AND_LOWER, BUCKET_QUANTILE of an instrument.
pub(crate) type HistogramRow = (&'static str, u32, u64, u64, u64, u64, f64);

pub(crate) struct Naive {
    config: Config,
    /// By pool, as many as there is room for.
    classes: [Vec<Class>; 11],
    /// Whether a stage was ever switched on.
    stages_used: bool,
    consumers: Vec<bool>,
    /// Of waits, of threads that are idle, of stages, of statements, and of transactions.
    timers: [usize; 5],
    setup_actors: Vec<SetupActor>,
    threads: Vec<Thread>,
    slots: Vec<bool>,
    next_thread: u64,
    instances: [Vec<Option<Instance>>; 4],
    next_instance: u64,
    /// All files that ever were.
    files: Vec<File>,
    /// Of each place: the last file that had it, and whether it still has.
    file_places: Vec<Option<(FileKey, bool)>>,
    file_hint: usize,
    /// All sockets that ever were.
    sockets: Vec<Socket>,
    counted: Vec<Counted>,
    /// All digests that ever found a place; the first place is for the others.
    digests: Vec<KnownDigest>,
    memory: Vec<Memory>,
    /// Of each summary table: how much was counted when it was last truncated.
    since: HashMap<&'static str, usize>,
    /// Where each bucket of the histogram begins, in picoseconds.
    bucket_lows: Vec<u64>,
    /// Lines of the source locations that found a place.
    sources: Vec<u32>,
    transactions_begun: usize,
    long: [Long; 4],
    lost: HashMap<Lost, u64>,
}

/// Statements that are alike.
struct KnownDigest {
    schema: &'static str,
    text: String,
    /// It has a place: since a statement found one, until the table is truncated while none runs.
    has_place: bool,
}

impl Naive {
    pub(crate) fn new(config: Config) -> Naive {
        let size = |size| config.get(size) as usize;
        let long = EVENTS.map(|tables| {
            let chunk_len = chunk_len(&config, tables.history_long_size);
            let chunks = size(tables.history_long_size).div_ceil(chunk_len);
            Long { rows: vec![None; chunks * chunk_len], chunks: vec![(None, false); chunks], chunk_len, next_number: 0 }
        });
        let mut model = Naive {
            config,
            classes: Default::default(),
            stages_used: false,
            consumers: vec![false; Consumer::ALL.len()],
            timers: [0, 2, 1, 1, 1],
            setup_actors: Vec::new(),
            threads: Vec::new(),
            slots: vec![false; size(Size::MaxThreadInstances)],
            next_thread: 1,
            instances: INSTANCE_SIZES.map(|pool| vec![None; size(pool)]),
            next_instance: 0,
            files: Vec::new(),
            file_places: vec![None; size(Size::MaxFileInstances)],
            file_hint: 0,
            sockets: Vec::new(),
            counted: Vec::new(),
            digests: Vec::new(),
            memory: Vec::new(),
            since: HashMap::new(),
            bucket_lows: bucket_lows(),
            sources: Vec::new(),
            transactions_begun: 0,
            long,
            lost: HashMap::new(),
        };
        // A new region records everybody, if there is room to say so.
        let _ = model.insert_actor("%", "%", true, true);
        model
    }

    fn size(&self, size: Size) -> usize {
        self.config.get(size) as usize
    }

    fn lose(&mut self, lost: Lost) {
        *self.lost.entry(lost).or_default() += 1;
    }

    pub(crate) fn flush_status(&mut self) {
        self.lost.clear();
    }

    // Classes and settings.

    fn class_list(&self) -> impl Iterator<Item = (ClassKey, &Class)> {
        let pools = self.classes.iter().enumerate();
        pools.flat_map(|(pool, classes)| classes.iter().enumerate().map(move |(index, class)| ((pool, index), class)))
    }

    /// Those of waits.
    fn wait_classes(&self) -> impl Iterator<Item = (ClassKey, &Class)> {
        self.class_list().filter(|((pool, _), _)| *pool < STAGE)
    }

    /// Those of the events that a table is of.
    fn classes_of_table(&self, table: &str) -> impl Iterator<Item = (ClassKey, &Class)> {
        let kind_of_table = kind_of_table(table);
        self.class_list().filter(move |(key, _)| key.0 != MEMORY && kind(*key) == kind_of_table)
    }

    fn class(&self, (pool, index): ClassKey) -> &Class {
        &self.classes[pool][index]
    }

    pub(crate) fn register(&mut self, name: &'static str, setting: Setting) -> Option<ClassKey> {
        let pool = match name.split('/').nth(2) {
            _ if name == "idle" => IDLE,
            _ if name == "transaction" => TRANSACTION,
            _ if name.starts_with("stage/") => STAGE,
            _ if name.starts_with("statement/") => STATEMENT,
            _ if is_ordinary(name) => SYNCH,
            Some(kind) => KINDS.iter().position(|known| kind == *known).unwrap_or(MEMORY),
            None => MEMORY,
        };
        let setting = possible(pool, setting);
        if let Some(index) = self.classes[pool].iter().position(|class| class.name == name) {
            return Some((pool, index));
        }
        if let Some((size, lost)) = CLASSES[pool]
            && self.classes[pool].len() == self.size(size)
        {
            self.lose(lost);
            return None;
        }
        self.classes[pool].push(Class { name, setting });
        self.note_stages();
        Some((pool, self.classes[pool].len() - 1))
    }

    pub(crate) fn set(&mut self, (pool, index): ClassKey, setting: Setting) {
        self.classes[pool][index].setting = possible(pool, setting);
        self.note_stages();
    }

    fn note_stages(&mut self) {
        self.stages_used |= self.classes[STAGE].iter().any(|class| class.setting.enabled);
    }

    /// Whether the code of a stage does anything where the stage begins: from the first one on that is switched on, to end others.
    pub(crate) fn stages_used(&self) -> bool {
        self.stages_used
    }

    /// UPDATE of `setup_instruments` for the names that begin so: rows matched, rows changed.
    pub(crate) fn update_instruments(&mut self, prefix: &str, enabled: Option<bool>, timed: Option<bool>) -> (u64, u64) {
        let mut counts = (0, 0);
        let pools = self.classes.iter_mut().enumerate().flat_map(|(pool, list)| list.iter_mut().map(move |class| (pool, class)));
        for (pool, class) in pools.filter(|(_, class)| class.name.starts_with(prefix)) {
            let before = class.setting;
            let asked = Setting { enabled: enabled.unwrap_or(before.enabled), timed: timed.unwrap_or(before.timed), ..before };
            class.setting = possible(pool, asked);
            counts = (counts.0 + 1, counts.1 + u64::from(class.setting != before));
        }
        self.note_stages();
        counts
    }

    pub(crate) fn enable_everything(&mut self) {
        self.consumers.fill(true);
        for (pool, classes) in self.classes.iter_mut().enumerate() {
            classes.iter_mut().for_each(|class| class.setting = possible(pool, Setting::ON));
        }
        self.note_stages();
    }

    /// Says whether anything changed.
    pub(crate) fn switch(&mut self, consumer: usize, on: bool) -> bool {
        std::mem::replace(&mut self.consumers[consumer], on) != on
    }

    /// Of waits, of threads that are idle, of stages, of statements or of transactions; says whether anything changed.
    pub(crate) fn set_timer(&mut self, of: usize, timer: usize) -> bool {
        std::mem::replace(&mut self.timers[of], timer) != timer
    }

    fn consumer(&self, consumer: Consumer) -> bool {
        self.consumers[Consumer::ALL.iter().position(|other| *other == consumer).unwrap()]
    }

    fn on(&self, class: ClassKey, thread: &Thread) -> On {
        let setting = self.class(class).setting;
        let global = self.consumer(Consumer::GlobalInstrumentation);
        let by_thread = global && self.consumer(Consumer::ThreadInstrumentation);
        let is_wait = kind(class) == WAITS;
        let [current, history, history_long] = EVENTS[kind(class)].consumers.map(|consumer| self.consumer(consumer));
        let current = by_thread && current;
        if !setting.enabled || !global || !thread.instrumented {
            return On::default();
        }
        let on = On {
            enabled: true,
            timed: setting.timed,
            current,
            history: thread.history && current && history,
            history_long: thread.history && current && history_long,
            histogram: is_wait && by_thread && self.consumer(Consumer::EventsWaitsHistogram),
            instance: is_wait && self.consumer(Consumer::EventsWaitsSummaryByInstance),
            digest: class.0 == STATEMENT && self.consumer(Consumer::StatementsDigest),
            thread: by_thread,
            timer: match class.0 {
                IDLE => self.timers[1],
                STAGE => self.timers[2],
                STATEMENT => self.timers[3],
                TRANSACTION => self.timers[4],
                _ => self.timers[0],
            },
        };
        if thread.slot.is_some() { on } else { on.without_slot() }
    }

    // Instances.

    pub(crate) fn create_instance(&mut self, class: ClassKey, address: u64) -> Option<InstanceKey> {
        if class.0 >= FILES || is_ordinary(self.class(class).name) {
            return None;
        }
        let Some(place) = self.instances[class.0].iter().position(Option::is_none) else {
            self.lose(INSTANCES_LOST[class.0]);
            return None;
        };
        self.next_instance += 1;
        let unique = self.next_instance;
        self.instances[class.0][place] = Some(Instance { unique, class, address, holder: 0, readers: 0 });
        Some((class.0, unique))
    }

    pub(crate) fn destroy_instance(&mut self, (pool, unique): InstanceKey) {
        let place = self.instances[pool].iter_mut().find(|place| place.as_ref().is_some_and(|i| i.unique == unique));
        *place.unwrap() = None;
    }

    pub(crate) fn instance(&mut self, (pool, unique): InstanceKey) -> &mut Instance {
        self.instances[pool].iter_mut().flatten().find(|instance| instance.unique == unique).unwrap()
    }

    fn live_instances(&self, pool: usize) -> impl Iterator<Item = &Instance> {
        self.instances[pool].iter().flatten()
    }

    // Files.

    pub(crate) fn truncate(&mut self, table: &'static str) -> Result<(), TableError> {
        let kind = kind_of_table(table);
        let live = self.threads.iter_mut().filter(|thread| thread.slot.is_some()).map(|thread| &mut thread.events[kind]);
        match table {
            "events_waits_current" | "events_stages_current" | "events_statements_current" | "events_transactions_current" => {
                live.flat_map(|own| own.open.iter_mut().chain(&mut own.last_ended)).for_each(|event| event.hidden_current = true);
            }
            "events_waits_history" | "events_stages_history" | "events_statements_history" | "events_transactions_history" => {
                live.flat_map(|own| &mut own.kept).for_each(|event| event.hidden_history = true);
            }
            _ if table.ends_with("_history_long") => {
                self.long[kind].rows.fill(None);
            }
            "setup_actors" => self.setup_actors.clear(),
            "events_statements_summary_by_digest" => {
                self.free_digests();
                self.since.insert(table, self.counted.len());
            }
            _ if table.starts_with("memory_summary") => self.memory.push(Memory::Truncated(table)),
            _ if table.contains("summary") || table.contains("histogram") => {
                self.since.insert(table, self.counted.len());
                if table == "events_waits_summary_global_by_event_name" {
                    self.since.insert("events_waits_histogram_by_event_name", self.counted.len());
                }
            }
            _ => return Err(TableError::WrongUsage),
        }
        Ok(())
    }
}

/// What kind of events a class is of.
fn kind(class: ClassKey) -> usize {
    match class.0 {
        STAGE => STAGES,
        STATEMENT => STATEMENTS,
        TRANSACTION => TRANSACTIONS,
        _ => WAITS,
    }
}

/// A wait that is none of a lock, a file or a socket.
fn is_ordinary(name: &str) -> bool {
    name.starts_with("wait/") && !name.starts_with("wait/synch/") && !name.starts_with("wait/io/")
}

fn kind_of_table(table: &str) -> usize {
    match table {
        _ if table.starts_with("events_stages_") => STAGES,
        _ if table.starts_with("events_statements_") => STATEMENTS,
        _ if table.starts_with("events_transactions_") => TRANSACTIONS,
        _ => WAITS,
    }
}

/// A wait that lies within no other lies within the stage that runs when it ends, or now, if that is one of the statement that the wait
/// lies within, or neither lies within any; else within that statement, or the transaction. Others lie within what they began in.
fn nesting(thread: &Thread, event: &Event) -> Option<Within> {
    match (event.kind(), event.nesting) {
        (WAITS, within @ (None | Some((_, "STATEMENT" | "TRANSACTION")))) if event.end.is_none() => {
            thread.stage_beside(within).or(within)
        }
        _ => event.nesting,
    }
}

/// What fits of a text into so many bytes.
fn kept_text(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap();
    &text[..end]
}

/// Memory is never timed.
fn possible(pool: usize, setting: Setting) -> Setting {
    if pool == MEMORY { Setting { enabled: setting.enabled, ..Setting::OFF } } else { setting }
}

/// The first 512 bytes as text, without a character that is cut there.
fn shown_path(path: &[u8]) -> String {
    let kept = String::from_utf8_lossy(&path[..path.len().min(512)]);
    let cut = path.len() > 512 && str::from_utf8(&path[..512]).is_err_and(|error| error.error_len().is_none());
    if cut { kept.strip_suffix('\u{fffd}').unwrap().to_owned() } else { kept.into_owned() }
}

fn number(value: Option<u64>) -> String {
    value.map_or("NULL".into(), |value| value.to_string())
}

/// Whether an event is timed, of which one in so many is: when the fractional part of its multiple of the golden ratio is in the uppermost
/// part of so many.
fn is_timed(one_in: u16, number: u64) -> bool {
    let fraction = (u128::from(number) * 0x9e37_79b9_7f4a_7c15 % (1 << 64)) >> 48;
    fraction >= 65536 - (65536.0 / f64::from(one_in)).round() as u128
}

/// Records that a thread reserves at once in the long history: as many as leaves half of it to others whatever all threads hold, a
/// power of two and at most 64.
fn chunk_len(config: &Config, size: Size) -> usize {
    let [long, threads] = [size, Size::MaxThreadInstances].map(|size| config.get(size) as usize);
    let fits = |len: &usize| threads != 0 && len * threads * 2 <= long;
    (0..=6).map(|bits| 1 << bits).filter(fits).max().unwrap_or(1)
}

/// 0; three decades of 50 from 10 ns on; from 10 µs on MySQL's 449 others. Each bucket is 10^(1/50) times as long as the one before.
fn bucket_lows() -> Vec<u64> {
    let run = |first: f64, count| iter::successors(Some(first), |low| Some(low * 1.0471285480508996)).take(count);
    let runs = [(1e4, 50), (1e5, 50), (1e6, 50), (1e7, 449)];
    iter::once(0).chain(runs.into_iter().flat_map(|(first, count)| run(first, count).map(|low| low as u64))).collect()
}
