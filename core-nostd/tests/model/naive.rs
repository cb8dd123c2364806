//! The model itself: vectors, maps and loops. It knows what the tables promise, and nothing of how the core keeps the promise.

use perfschema_core::digest::{Digest, digest_text};
use perfschema_core::metric::MonitorCommand;
use perfschema_core::table::TableError;
use perfschema_core::timer::{Clock, TimerName};
use perfschema_core::{Config, Consumer, Lost, Setting, Size};
use std::collections::{HashMap, HashSet, VecDeque};
use std::iter;

mod tables;

/// The pools of classes and instances, by the third part of an instrument's name.
const KINDS: [&str; 6] = ["mutex", "rwlock", "cond", "semaphore", "file", "socket"];
/// The pools of files and of sockets, that of the one instrument `idle`, and those of stages, of statements and of memory.
const FILES: usize = 4;
const SOCKETS: usize = 5;
const IDLE: usize = 6;
const STAGE: usize = 7;
const STATEMENT: usize = 8;
const MEMORY: usize = 9;
/// How many classes each pool has room for, and what is counted when there is none; of `idle` there is one, always.
const CLASSES: [Option<(Size, Lost)>; 10] = [
    Some((Size::MaxMutexClasses, Lost::MutexClasses)),
    Some((Size::MaxRwlockClasses, Lost::RwlockClasses)),
    Some((Size::MaxCondClasses, Lost::CondClasses)),
    Some((Size::MaxSynchClasses, Lost::SynchClasses)),
    Some((Size::MaxFileClasses, Lost::FileClasses)),
    Some((Size::MaxSocketClasses, Lost::SocketClasses)),
    None,
    Some((Size::MaxStageClasses, Lost::StageClasses)),
    Some((Size::MaxStatementClasses, Lost::StatementClasses)),
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
const EVENTS: [EventTables; 3] = [
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
        On { current: false, history: false, history_long: false, histogram: false, thread: false, ..self }
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
}

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
    /// NESTING_EVENT_ID and _TYPE: while a wait runs, the wait or the statement that it lies within, not the stage.
    nesting: Option<Within>,
    /// The statements that enclosed it when it began, the outermost first; of a statement, NESTING_EVENT_LEVEL is how many.
    statements: Vec<u64>,
    /// Of a statement, one that it lay within has ended before it: nothing lies within it any more.
    outlives: bool,
    figures: [u64; FIGURES],
    /// Of a statement, where those like it are counted.
    digest: Option<usize>,
    error: Failed,
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
    /// Events of its slot before it came.
    earlier_events: u64,
    /// Its waits, its stages, and its statements.
    events: [Own; 3],
}

impl Thread {
    /// The stage that runs, if it is visible and lies within this statement, or within none.
    fn stage_within(&self, statement: Option<Within>) -> Option<Within> {
        let stages = &self.events[STAGES].open;
        stages.iter().find(|stage| stage.shown && stage.nesting == statement).map(|stage| (stage.id, "STAGE"))
    }

    /// The statements that what begins now lies within, each within the one before: visible or not.
    fn statements(&self) -> impl DoubleEndedIterator<Item = &Event> {
        self.events[STATEMENTS].open.iter().filter(|event| event.on.enabled && !event.outlives)
    }

    /// The innermost visible one.
    fn statement(&self) -> Option<Within> {
        self.statements().rfind(|event| event.shown).map(|event| (event.id, "STATEMENT"))
    }

    /// The innermost visible wait.
    fn wait(&self) -> Option<Within> {
        let within = |event: &&Event| event.shown && !event.begun.concurrent;
        self.events[WAITS].open.iter().rfind(within).map(|wait| (wait.id, "WAIT"))
    }

    /// The wait or the statement that a wait which begins now lies within: of the innermost of either the one that began later.
    fn within(&self) -> Option<Within> {
        self.wait().into_iter().chain(self.statement()).max_by_key(|(id, _)| *id)
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
    rows: Vec<Option<(u64, Event)>>,
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

impl Used {
    fn change(&mut self, [came, went]: [i64; 2]) {
        self.came += came;
        self.went += went;
        self.low = self.low.min(self.came - self.went);
        self.high = self.high.max(self.came - self.went);
    }

    /// What came and went is forgotten, what is there stays.
    fn truncate(&mut self) {
        let both = self.came.min(self.went);
        let left = self.came - self.went;
        *self = Used { came: self.came - both, went: self.went - both, low: left, high: left };
    }
}

/// BUCKET_NUMBER, BUCKET_TIMER_LOW, BUCKET_TIMER_HIGH, COUNT_BUCKET, COUNT_BUCKET_AND_LOWER, BUCKET_QUANTILE of an instrument.
pub(crate) type HistogramRow = (&'static str, u32, u64, u64, u64, u64, f64);

pub(crate) struct Naive {
    config: Config,
    /// By pool, as many as there is room for.
    classes: [Vec<Class>; 10],
    /// Whether a stage was ever switched on.
    stages_used: bool,
    consumers: Vec<bool>,
    /// Of waits, of threads that are idle, of stages, and of statements.
    timers: [usize; 4],
    setup_actors: Vec<SetupActor>,
    threads: Vec<Thread>,
    slots: Vec<bool>,
    /// Events of each slot, over all threads that had it and have ended.
    slot_events: Vec<u64>,
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
    /// Pairs of a slot and a class, and whether they found a histogram.
    histograms: HashMap<(usize, ClassKey), bool>,
    /// Where each bucket of the histogram begins, in picoseconds.
    bucket_lows: Vec<u64>,
    /// Lines of the source locations that found a place.
    sources: Vec<u32>,
    long: [Long; 3],
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
            timers: [0, 2, 1, 1],
            setup_actors: Vec::new(),
            threads: Vec::new(),
            slots: vec![false; size(Size::MaxThreadInstances)],
            slot_events: vec![0; size(Size::MaxThreadInstances)],
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
            histograms: HashMap::new(),
            bucket_lows: bucket_lows(),
            sources: Vec::new(),
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
            _ if name.starts_with("stage/") => STAGE,
            _ if name.starts_with("statement/") => STATEMENT,
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

    /// Of waits, of threads that are idle, of stages or of statements; says whether anything changed.
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
                _ => self.timers[0],
            },
        };
        if thread.slot.is_some() { on } else { on.without_slot() }
    }

    // Instances.

    pub(crate) fn create_instance(&mut self, class: ClassKey, address: u64) -> Option<InstanceKey> {
        if class.0 >= FILES {
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

    fn find_file(&self, path: &[u8]) -> Option<FileKey> {
        self.files.iter().position(|file| !file.gone && file.path == path)
    }

    fn taken_files(&self) -> usize {
        self.file_places.iter().flatten().filter(|(_, taken)| *taken).count()
    }

    /// Somebody wants the file of this path.
    pub(crate) fn refer_to_file(&mut self, class: ClassKey, path: &[u8]) -> Option<FileKey> {
        if class.0 != FILES {
            return None;
        }
        if let Some(key) = self.find_file(path) {
            self.files[key].references += 1;
            return Some(key);
        }
        let places = self.file_places.len();
        if self.taken_files() == places {
            self.lose(Lost::FileInstances);
            return None;
        }
        let free = |place: &usize| self.file_places[*place].is_none_or(|(_, taken)| !taken);
        let place = (self.file_hint..places).chain(0..self.file_hint).find(free).unwrap();
        self.file_hint = place + 1;
        let key = self.files.len();
        self.file_places[place] = Some((key, true));
        self.files.push(File { path: path.to_vec(), class, place, opened: false, open_count: 0, references: 1, gone: false });
        Some(key)
    }

    pub(crate) fn refer_again(&mut self, key: FileKey) {
        self.files[key].references += 1;
    }

    pub(crate) fn release_file(&mut self, key: FileKey) {
        let file = &mut self.files[key];
        file.references -= 1;
        file.gone |= file.references == 0 && !file.opened;
        if file.references == 0 && file.gone {
            self.free_file(key);
        }
    }

    /// While many places are taken, the next search starts where one was given back.
    fn free_file(&mut self, key: FileKey) {
        let place = self.files[key].place;
        if self.taken_files() > self.file_places.len() / 2 {
            self.file_hint = place;
        }
        self.file_places[place] = Some((key, false));
    }

    pub(crate) fn file_opened(&mut self, key: FileKey) {
        self.files[key].opened = true;
        self.files[key].open_count += 1;
    }

    pub(crate) fn file_closed(&mut self, key: FileKey) {
        self.files[key].open_count -= 1;
    }

    pub(crate) fn file_deleted(&mut self, path: &[u8]) {
        if let Some(key) = self.find_file(path) {
            self.files[key].gone = true;
            if self.files[key].references == 0 {
                self.free_file(key);
            }
        }
    }

    /// A folder, with all that is in it.
    pub(crate) fn folder_deleted(&mut self, path: &[u8]) {
        self.file_deleted(path);
        for key in self.files_below(path) {
            let path = self.files[key].path.clone();
            self.file_deleted(&path);
        }
    }

    /// By what is kept of their paths; in the order of their places.
    fn files_below(&self, folder: &[u8]) -> Vec<FileKey> {
        let folder = [folder, b"/"].concat();
        let in_places = self.file_places.iter().flatten().filter(|(_, taken)| *taken).map(|(key, _)| *key);
        let kept = |key: FileKey| &self.files[key].path[..self.files[key].path.len().min(512)];
        in_places.filter(|key| !self.files[*key].gone && kept(*key).starts_with(&folder)).collect()
    }

    pub(crate) fn file_renamed(&mut self, from: &[u8], to: &[u8]) {
        if from == to {
            return;
        }
        self.rename_one(from, to);
        for key in self.files_below(from) {
            let path = self.files[key].path.clone();
            if self.files[key].gone {
                // One before it got its name.
            } else if path.len() > 512 {
                self.file_deleted(&path);
            } else {
                self.rename_one(&path, &[to, &path[from.len()..]].concat());
            }
        }
    }

    fn rename_one(&mut self, from: &[u8], to: &[u8]) {
        self.file_deleted(to);
        match self.find_file(from) {
            Some(key) if self.files[key].opened => self.files[key].path = to.to_vec(),
            Some(_) => self.file_deleted(from),
            None => {}
        }
    }

    fn file_rows(&self) -> impl Iterator<Item = (FileKey, &File)> {
        self.files.iter().enumerate().filter(|(_, file)| file.opened && !file.gone)
    }

    /// The name that an event shows, if no other file has the place.
    fn event_file_name(&self, key: FileKey) -> Option<String> {
        let file = &self.files[key];
        self.file_places[file.place].filter(|(last, _)| *last == key).map(|_| shown_path(&file.path))
    }

    // Sockets.

    fn open_sockets(&self) -> impl Iterator<Item = (SocketKey, &Socket)> {
        self.sockets.iter().enumerate().filter(|(_, socket)| socket.open)
    }

    pub(crate) fn create_socket(
        &mut self,
        class: ClassKey,
        descriptor: i32,
        peer: (String, u16),
        thread: u64,
    ) -> Option<SocketKey> {
        if class.0 != SOCKETS {
            return None;
        }
        if self.open_sockets().count() == self.size(Size::MaxSocketInstances) {
            self.lose(Lost::SocketInstances);
            return None;
        }
        self.sockets.push(Socket { class, descriptor, peer, open: true, thread, first: 0, idle: 0 });
        Some(self.sockets.len() - 1)
    }

    pub(crate) fn close_socket(&mut self, key: SocketKey) {
        self.sockets[key].open = false;
    }

    pub(crate) fn set_peer(&mut self, key: SocketKey, peer: (String, u16)) {
        self.sockets[key].peer = peer;
    }

    pub(crate) fn begin_idle(&mut self, key: SocketKey, thread: u64) {
        let socket = &mut self.sockets[key];
        socket.idle += 1;
        socket.thread = if thread == 0 { socket.thread } else { thread };
    }

    pub(crate) fn end_idle(&mut self, key: SocketKey) {
        self.sockets[key].idle = self.sockets[key].idle.saturating_sub(1);
    }

    /// An operation that is no wait.
    pub(crate) fn count_socket(&mut self, thread: usize, class: ClassKey, io: Io, bytes: u64) {
        let on = self.on(class, &self.threads[thread]);
        if on.enabled {
            self.count_first(thread, io);
            self.counted.push(Counted {
                class,
                thread: None,
                instance: None,
                wait_ps: None,
                bucket: None,
                io: Some(io),
                io_waits: false,
                is_wait: false,
                bytes,
                figures: [0; FIGURES],
                digest: None,
            });
        }
    }

    /// A thread that counts in a socket in which nobody has counted is whose it is.
    fn count_first(&mut self, thread: usize, io: Io) {
        let id = self.threads[thread].id;
        if let Some(socket) = io.socket.map(|key| &mut self.sockets[key]).filter(|socket| socket.first == 0) {
            socket.first = id;
        }
    }

    // `setup_actors`.

    /// The error's number, if it is refused.
    pub(crate) fn insert_actor(
        &mut self,
        user: &'static str,
        host: &'static str,
        enabled: bool,
        history: bool,
    ) -> Result<(), u16> {
        if self.setup_actors.iter().any(|row| row.user == user && row.host == host) {
            return Err(1022);
        }
        if self.setup_actors.len() == self.size(Size::SetupActorsSize) {
            return Err(1114);
        }
        self.setup_actors.push(SetupActor { user, host, enabled, history });
        Ok(())
    }

    pub(crate) fn update_actors(&mut self, user: &str, column: &str, yes: bool) -> (u64, u64) {
        let mut counts = (0, 0);
        for row in self.setup_actors.iter_mut().filter(|row| row.user == user) {
            let setting = if column == "HISTORY" { &mut row.history } else { &mut row.enabled };
            counts = (counts.0 + 1, counts.1 + u64::from(*setting != yes));
            *setting = yes;
        }
        counts
    }

    pub(crate) fn delete_actors(&mut self, user: &str) -> u64 {
        let before = self.setup_actors.len();
        self.setup_actors.retain(|row| row.user != user);
        (before - self.setup_actors.len()) as u64
    }

    /// INSTRUMENTED and HISTORY of a thread that starts: background threads always; else the row that names most exactly who it is, a
    /// named user before a named host.
    fn start_setting(&self, who: &Who) -> (bool, bool) {
        if who.background {
            return (true, true);
        }
        let find = |user: &str, host: &str| self.setup_actors.iter().find(|row| row.user == user && row.host == host);
        let row = find(who.user, who.host).or_else(|| find(who.user, "%")).or_else(|| find("%", who.host));
        row.or_else(|| find("%", "%")).map_or((false, false), |row| (row.enabled, row.history))
    }

    // Threads.

    fn live(&self) -> impl Iterator<Item = &Thread> {
        self.threads.iter().filter(|thread| thread.slot.is_some())
    }

    pub(crate) fn live_ids(&self) -> Vec<u64> {
        self.live().map(|thread| thread.id).collect()
    }

    /// A thread starts, with a slot if there is one or, if `slotless`, without asking. Returns its index, and its THREAD_ID or 0.
    pub(crate) fn attach(&mut self, who: Who, slotless: bool) -> (usize, u64) {
        let setting = self.start_setting(&who);
        let own = || Own {
            open: Vec::new(),
            last_ended: None,
            kept: VecDeque::new(),
            chunk: (0, 0, 0),
            numbers: VecDeque::new(),
            batch: 1,
            drew_up_to: 0,
            chunks_taken: 0,
        };
        let mut thread = Thread {
            who,
            slot: None,
            id: 0,
            instrumented: true,
            history: true,
            last_event: 0,
            earlier_events: 0,
            events: [own(), own(), own()],
        };
        match self.slots.iter().position(|taken| !taken).filter(|_| !slotless) {
            Some(slot) => {
                self.slots[slot] = true;
                thread.earlier_events = self.slot_events[slot];
                (thread.instrumented, thread.history) = setting;
                (thread.slot, thread.id) = (Some(slot), self.next_thread);
                self.next_thread += 1;
            }
            None if slotless => {}
            None => self.lose(Lost::ThreadInstances),
        }
        let id = thread.id;
        self.threads.push(thread);
        (self.threads.len() - 1, id)
    }

    pub(crate) fn detach(&mut self, thread: usize) {
        let thread = &mut self.threads[thread];
        let Some(slot) = thread.slot.take() else { return };
        self.slots[slot] = false;
        self.slot_events[slot] = thread.earlier_events + thread.last_event;
        // What it records from now on is that of a thread without a slot.
        (thread.instrumented, thread.history) = (true, true);
        for (own, long) in iter::zip(&mut thread.events, &mut self.long) {
            for event in &mut own.open {
                event.on = event.on.without_slot();
                event.shown = false;
            }
            if own.chunk.2 > 0 {
                long.chunks[own.chunk.0].1 = false;
                own.chunk.2 = 0;
            }
        }
    }

    /// UPDATE of `threads` for one THREAD_ID; whether it changed anything.
    pub(crate) fn update_thread(&mut self, id: u64, column: &str, yes: bool) -> bool {
        let thread = self.threads.iter_mut().find(|thread| thread.slot.is_some() && thread.id == id).unwrap();
        let setting = if column == "HISTORY" { &mut thread.history } else { &mut thread.instrumented };
        std::mem::replace(setting, yes) != yes
    }

    // Events.

    /// A wait begins. `chained`: at the moment when one that was timed so ended. Returns how often the timer is read.
    pub(crate) fn begin(
        &mut self,
        thread: usize,
        class: ClassKey,
        begun: Begun,
        clock: &impl Clock,
        chained: Option<usize>,
    ) -> u64 {
        let event = self.start(thread, class, begun, clock);
        let On { enabled, timed, timer, .. } = event.on;
        self.threads[thread].events[WAITS].open.push(event);
        u64::from(enabled && timed && chained != Some(timer))
    }

    /// An event begins: it gets a number, and a record.
    fn start(&mut self, thread: usize, class: ClassKey, begun: Begun, clock: &impl Clock) -> Event {
        let on = self.on(class, &self.threads[thread]);
        let one_in = self.class(class).setting.timed_one_in;
        let records = self.records(kind(class));
        let state = &mut self.threads[thread];
        let mut event = Event {
            on,
            begun,
            id: 0,
            end_id: None,
            class,
            start: clock.ticks(TimerName::ALL[on.timer]) * TICK_PS[on.timer],
            end: None,
            nesting: if kind(class) == WAITS { state.within() } else { state.statement() },
            statements: state.statements().map(|statement| statement.id).collect(),
            outlives: false,
            figures: [0; FIGURES],
            digest: None,
            error: Failed::default(),
            progress: None,
            shown: false,
            hidden_current: false,
            hidden_history: false,
        };
        let mut lost = false;
        if on.enabled {
            state.last_event += 1;
            event.id = state.last_event;
            event.on.timed &= is_timed(one_in, state.earlier_events + state.last_event);
        }
        if on.current {
            let own = &mut state.events[event.kind()];
            let running = own.open.iter().filter(|event| event.shown).count();
            lost = running == records;
            event.shown = !lost;
            if event.shown && running + own.kept.len() == records {
                own.kept.pop_front();
            }
        }
        if lost {
            self.lose(Lost::NestedEvents);
        }
        // A line is noted when a record is to show it.
        event.begun.source = event.begun.source.filter(|line| event.shown && self.note_source(*line));
        event.digest = if on.digest { self.digest(&event.begun) } else { None };
        event
    }

    /// Where statements of this schema and digest are counted; none if there is no text.
    fn digest(&mut self, begun: &Begun) -> Option<usize> {
        let text = kept_text(begun.text, self.text_room());
        let (schema, digest) = (kept_text(begun.schema, 64), digest_text(text).as_str().to_owned());
        if text.is_empty() || self.size(Size::DigestsSize) == 0 {
            return None;
        }
        let known = self.digests.iter().position(|known| known.schema == schema && known.text == digest);
        if let Some(known) = known.filter(|known| self.digests[*known].has_place) {
            return Some(known + 1);
        }
        if self.digests.iter().filter(|known| known.has_place).count() + 1 == self.size(Size::DigestsSize) {
            self.lose(Lost::StatementDigests);
            return Some(0);
        }
        let known = known.unwrap_or_else(|| {
            self.digests.push(KnownDigest { schema, text: digest, has_place: false });
            self.digests.len() - 1
        });
        self.digests[known].has_place = true;
        Some(known + 1)
    }

    /// Bytes that are kept of the text of a statement.
    fn text_room(&self) -> usize {
        self.size(Size::MaxSqlTextLength).next_multiple_of(8)
    }

    /// Records of a thread for a kind of events.
    fn records(&self, kind: usize) -> usize {
        match kind {
            STAGES if self.size(Size::MaxStageClasses) == 0 => 0,
            STATEMENTS if self.size(Size::MaxStatementClasses) == 0 => 0,
            _ => self.size(EVENTS[kind].history_size) + EVENTS[kind].spare_records,
        }
    }

    /// Whether the location has a place, now or already.
    fn note_source(&mut self, line: u32) -> bool {
        let room = match self.size(Size::MaxSourceLocations) {
            0 => 0,
            size => size.next_power_of_two(),
        };
        if self.sources.contains(&line) {
            return true;
        }
        if self.sources.len() == room {
            self.lose(Lost::SourceLocations);
            return false;
        }
        self.sources.push(line);
        true
    }

    /// The wait that is at this place among those that run ends. Returns the timer that it was timed with.
    pub(crate) fn end(
        &mut self,
        thread: usize,
        which: usize,
        instance: Option<InstanceKey>,
        io: Option<Io>,
        amount: Option<u64>,
        clock: &impl Clock,
    ) -> Option<usize> {
        let mut event = self.threads[thread].events[WAITS].open.remove(which);
        if !event.on.enabled {
            return None;
        }
        event.begun.amount = amount.unwrap_or(event.begun.amount);
        self.finish(thread, event, instance, io, clock)
    }

    /// A stage begins, and the one that runs ends, also if the new one is off. Returns how often the timer is read: where one ends the
    /// other begins, so once, if both are timed with the same.
    pub(crate) fn begin_stage(&mut self, thread: usize, class: ClassKey, source: Option<u32>, clock: &impl Clock) -> u64 {
        let ended = self.end_any_stage(thread, clock).flatten();
        let stage = self.start(thread, class, Begun { source, ..Begun::default() }, clock);
        let On { enabled, timed, timer, .. } = stage.on;
        if enabled {
            self.threads[thread].events[STAGES].open.push(stage);
        }
        ended.into_iter().chain((enabled && timed).then_some(timer)).collect::<HashSet<usize>>().len() as u64
    }

    /// The stage that runs ends, if there is one. Returns whether, and the timer that it was timed with.
    pub(crate) fn end_any_stage(&mut self, thread: usize, clock: &impl Clock) -> Option<Option<usize>> {
        let stage = self.threads[thread].events[STAGES].open.pop()?;
        Some(self.finish(thread, stage, None, None, clock))
    }

    /// The stage that runs.
    pub(crate) fn running_stage(&self, thread: usize) -> Option<StageKey> {
        self.threads[thread].events[STAGES].open.first().map(|stage| (thread, stage.id))
    }

    /// Says how far the stage is that runs, if it is visible: so much more is done, of so much. Returns what was said before.
    pub(crate) fn change_progress(&mut self, thread: usize, more: u64, estimated: u64) -> Option<[u64; 2]> {
        let stage = self.threads[thread].events[STAGES].open.iter_mut().find(|stage| stage.shown)?;
        let before = stage.progress.unwrap_or_default();
        // One number is left to say that there is none.
        stage.progress = Some([before[0].saturating_add(more), estimated].map(|number| number.min(u64::MAX - 1)));
        Some(before)
    }

    /// A statement begins. Returns whether it is recorded, and how often the timer is read.
    pub(crate) fn begin_statement(&mut self, thread: usize, class: ClassKey, begun: Begun, clock: &impl Clock) -> (bool, u64) {
        let statement = self.start(thread, class, begun, clock);
        let On { enabled, timed, .. } = statement.on;
        self.threads[thread].events[STATEMENTS].open.push(statement);
        (enabled, u64::from(enabled && timed))
    }

    /// A figure of the statement that is at this place among those that run grows.
    pub(crate) fn change_statement(&mut self, thread: usize, which: usize, figure: usize, by: u64) {
        let figure = &mut self.threads[thread].events[STATEMENTS].open[which].figures[figure];
        *figure = figure.wrapping_add(by);
    }

    /// The statement that is at this place ends, and the stage that began within it. One that ended before what it enclosed takes that
    /// along: from then on the others enclose nothing. Returns how often the timer is read.
    pub(crate) fn end_statement(&mut self, thread: usize, which: usize, error: Failed, clock: &impl Clock) -> u64 {
        let mut statement = self.threads[thread].events[STATEMENTS].open.remove(which);
        if !statement.on.enabled {
            return 0;
        }
        statement.error = error;
        let mut timers = HashSet::new();
        if !statement.outlives {
            let stage = self.threads[thread].events[STAGES].open.first();
            if stage.is_some_and(|stage| stage.statements.contains(&statement.id)) {
                timers.extend(self.end_any_stage(thread, clock).flatten());
            }
            let inner = self.threads[thread].events[STATEMENTS].open.iter_mut().filter(|inner| inner.id > statement.id);
            inner.for_each(|inner| inner.outlives = true);
        }
        // When it is seen is told by NANOSECOND.
        let seen = statement.digest.is_some();
        let timer = self.finish(thread, statement, None, None, clock);
        timers.extend(timer);
        timers.len() as u64 + u64::from(seen && timer.is_none_or(|timer| TimerName::ALL[timer] != TimerName::Nanosecond))
    }

    /// What nests ends as it began, waits and statements alike; only of statements the outer one may end first. Whether the wait at this
    /// place may end.
    pub(crate) fn may_end(&self, thread: usize, which: usize) -> bool {
        let wait = &self.threads[thread].events[WAITS].open[which];
        let nests = wait.shown && !wait.begun.concurrent;
        !nests || self.threads[thread].statements().all(|statement| statement.id < wait.id)
    }

    /// Whether the statement at this place may.
    pub(crate) fn may_end_statement(&self, thread: usize, which: usize) -> bool {
        let thread = &self.threads[thread];
        let statement = &thread.events[STATEMENTS].open[which];
        !statement.on.enabled || statement.outlives || thread.wait().is_none_or(|(wait, _)| wait < statement.id)
    }

    /// An event that was on ends. Returns the timer that it was timed with.
    fn finish(
        &mut self,
        thread: usize,
        mut event: Event,
        instance: Option<InstanceKey>,
        io: Option<Io>,
        clock: &impl Clock,
    ) -> Option<usize> {
        let state = &mut self.threads[thread];
        event.nesting = nesting(state, &event);
        event.end = Some(clock.ticks(TimerName::ALL[event.on.timer]) * TICK_PS[event.on.timer]);
        event.end_id = Some(state.last_event);
        // Hidden while it ran: it counts, and enters no history.
        let forgotten = event.shown && event.hidden_current;
        if event.shown {
            let own = &mut state.events[event.kind()];
            if own.last_ended.as_ref().is_none_or(|last| last.end_order() < event.end_order()) {
                own.last_ended = Some(event.clone());
            }
            if event.on.history && !forgotten {
                own.kept.push_back(event.clone());
            }
        }
        let wait_ps = event.wait_ps().filter(|_| event.on.timed);
        let by_thread = state.slot.filter(|_| event.on.thread);
        let counted = Counted {
            class: event.class,
            thread: by_thread.map(|_| state.id),
            instance: instance.filter(|_| event.on.instance),
            wait_ps,
            bucket: wait_ps
                .zip(by_thread)
                .filter(|(_, slot)| event.on.histogram && self.has_histogram(*slot, event.class))
                .map(|(wait_ps, _)| self.bucket(wait_ps)),
            io,
            io_waits: event.on.instance,
            is_wait: true,
            bytes: event.begun.amount.saturating_sub(1),
            figures: event.figures,
            digest: event.digest.map(|place| (place, clock.ticks(TimerName::Nanosecond) / 1_000)),
        };
        self.counted.push(counted);
        io.into_iter().for_each(|io| self.count_first(thread, io));
        // The long history takes copies of the records.
        if event.on.history_long && event.shown && !forgotten {
            self.write_long(thread, event.clone());
        }
        event.on.timed.then_some(event.on.timer)
    }

    /// Blocks of so many bytes go, and come.
    pub(crate) fn count_memory(&mut self, thread: usize, class: ClassKey, freed: Option<u64>, allocated: Option<u64>) {
        let thread = &self.threads[thread];
        let on = self.on(class, thread);
        if on.enabled {
            let blocks = [allocated, freed].map(|bytes| i64::from(bytes.is_some()));
            let bytes = [allocated, freed].map(|bytes| bytes.unwrap_or(0) as i64);
            let slot = thread.slot.filter(|_| on.thread);
            self.memory.push(Memory::Change { class, slot, thread: thread.id, blocks, bytes });
        }
    }

    /// The columns of a memory table, for what was counted in places that are told apart by `place`; None is another row's.
    fn memory_row(&self, table: &str, class: ClassKey, place: impl Fn(Option<usize>, u64) -> Option<usize>) -> String {
        let mut places: HashMap<usize, [Used; 2]> = HashMap::new();
        for happened in &self.memory {
            match happened {
                Memory::Change { class: other, slot, thread, blocks, bytes } if *other == class => {
                    let Some(place) = place(*slot, *thread) else { continue };
                    let used = places.entry(place).or_default();
                    used[0].change(*blocks);
                    used[1].change(*bytes);
                }
                Memory::Truncated(other) if *other == table => places.values_mut().flatten().for_each(Used::truncate),
                _ => {}
            }
        }
        let sum = |what: usize, number: fn(&Used) -> i64| places.values().map(|used| number(&used[what])).sum::<i64>();
        let used = |what| [sum(what, |used| used.low), sum(what, |used| used.came - used.went), sum(what, |used| used.high)];
        let counts = [0, 1].map(|what| [sum(what, |used| used.came), sum(what, |used| used.went)]);
        let all = [&counts[0][..], &counts[1], &used(0), &used(1)].concat();
        all.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")
    }

    /// Whether the pair has a histogram: decided when it first needs one.
    fn has_histogram(&mut self, slot: usize, class: ClassKey) -> bool {
        let taken = self.histograms.values().filter(|found| **found).count();
        let room = taken < self.size(Size::MaxWaitHistograms);
        if !room && !self.histograms.contains_key(&(slot, class)) {
            self.lose(Lost::WaitHistograms);
        }
        *self.histograms.entry((slot, class)).or_insert(room)
    }

    fn write_long(&mut self, thread: usize, event: Event) {
        let id = self.threads[thread].id;
        let long = &mut self.long[event.kind()];
        let own = &mut self.threads[thread].events[event.kind()];
        if own.chunk.2 == 0 && !long.chunks.is_empty() {
            for _ in 0..PROBES {
                let count = long.chunks.len();
                if own.numbers.is_empty() {
                    // Of what all draw, together an eighth of the chunks, its share by what was drawn since the last time.
                    let (batch, first) = (own.batch, long.next_number);
                    long.next_number += batch;
                    own.numbers = (first..long.next_number).collect();
                    let share = (count / 8) * batch / (long.next_number - own.drew_up_to);
                    own.batch = share.clamp(1, 1 + own.chunks_taken / 4);
                    own.drew_up_to = long.next_number;
                }
                let Some(number) = own.numbers.pop_front() else { break };
                let (taken_by, being_filled) = &mut long.chunks[number % count];
                if *taken_by > Some(number) {
                    own.numbers.clear();
                    own.drew_up_to = number + 1;
                } else if !*being_filled {
                    (*taken_by, *being_filled) = (Some(number), true);
                    own.chunks_taken += 1;
                    own.chunk = (number % count, number % count * long.chunk_len, long.chunk_len);
                    break;
                }
            }
        }
        let (chunk, next, left) = &mut own.chunk;
        if *left == 0 {
            return self.lose(EVENTS[event.kind()].history_long_lost);
        }
        long.rows[*next] = Some((id, event));
        *next += 1;
        *left -= 1;
        if *left == 0 {
            long.chunks[*chunk].1 = false;
        }
    }

    // Tables.

    pub(crate) fn truncate(&mut self, table: &'static str) -> Result<(), TableError> {
        let kind = kind_of_table(table);
        if table == "events_statements_summary_by_digest" {
            let open: Vec<usize> =
                self.threads.iter().flat_map(|thread| &thread.events[STATEMENTS].open).filter_map(|event| event.digest).collect();
            for (place, known) in (1..).zip(&mut self.digests) {
                known.has_place &= open.contains(&place);
            }
        }
        let live = self.threads.iter_mut().filter(|thread| thread.slot.is_some()).map(|thread| &mut thread.events[kind]);
        match table {
            "events_waits_current" | "events_stages_current" | "events_statements_current" => {
                live.flat_map(|own| own.open.iter_mut().chain(&mut own.last_ended)).for_each(|event| event.hidden_current = true);
            }
            "events_waits_history" | "events_stages_history" | "events_statements_history" => {
                live.flat_map(|own| &mut own.kept).for_each(|event| event.hidden_history = true);
            }
            "events_waits_history_long" | "events_stages_history_long" | "events_statements_history_long" => {
                self.long[kind].rows.fill(None);
            }
            "setup_actors" => self.setup_actors.clear(),
            _ if table.starts_with("memory_summary") => self.memory.push(Memory::Truncated(table)),
            _ if table.contains("summary") || table.contains("histogram") => {
                self.since.insert(table, self.counted.len());
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
        _ => WAITS,
    }
}

fn kind_of_table(table: &str) -> usize {
    match table {
        _ if table.starts_with("events_stages_") => STAGES,
        _ if table.starts_with("events_statements_") => STATEMENTS,
        _ => WAITS,
    }
}

/// A wait that lies within no other lies within the stage that runs when it ends, or now, if that is one of the statement that the wait
/// lies within; else within that statement. Stages and statements lie within the statement that they began in.
fn nesting(thread: &Thread, event: &Event) -> Option<Within> {
    match (event.kind(), event.nesting) {
        (WAITS, within @ (None | Some((_, "STATEMENT")))) if event.end.is_none() => thread.stage_within(within).or(within),
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
