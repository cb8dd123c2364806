//! What a child has of its parent's region, and what it has not.

use super::*;
use crate::metric::{MetricInfo, MetricType, MonitorCommand};
use crate::region::{CLASS, FILE, METRIC, SOCKET};
use crate::{
    AccessMode, ActorIdentity, Class, Config, Consumer, FileId, FileIo, Group, Held, Identity, InstanceId, InstrumentName,
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
            |name: &str| region.register(InstrumentName::new(name).expect("a name"), Setting::ON).expect("there is room");
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

/// The child gets memory of its own, which takes the place of the parent's here, where the actor goes on.
pub(crate) fn into_own_memory(region: &Region<'_>, own: &Actor<'_>) {
    become_own_memory(region, &own_memory(region, own, || {}));
}

/// What the child copies to memory of its own; and what its parent does meanwhile.
pub(crate) fn own_memory(region: &Region<'_>, own: &Actor<'_>, meanwhile: impl FnOnce()) -> Vec<Word> {
    let words = region.words();
    let [saved, child]: [Vec<Word>; 2] = [(); 2].map(|()| words.iter().map(|_| Word::new(0)).collect());
    region.copy_for_child(&[Some(own)], words, &saved);
    meanwhile();
    region.copy_for_child(&[Some(own)], &saved, &child);
    region.add_to_copy(&child);
    assert!(Region::open(&child).is_err(), "it is not whole");
    child
}

/// The region is the child's from now on.
pub(crate) fn become_own_memory(region: &Region<'_>, child: &[Word]) {
    region.words().iter().zip(child).for_each(|(word, copy)| word.set(copy.get()));
}

/// Whether the text stands anywhere in the region.
pub(crate) fn has_text(words: &[Word], text: &str) -> bool {
    // No word of a text is zero, and nearly all others are: Miri takes its time for each byte.
    words.split(|word| word.get() == 0).filter(|words| !words.is_empty()).any(|words| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.get().to_le_bytes()).collect();
        bytes.windows(text.len()).any(|at| at == text.as_bytes())
    })
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
        into_own_memory(&region, &own);
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
    const STATEMENTS: Config =
        CONFIG.with(Size::MaxStatementClasses, 1).with(Size::EventsStatementsHistoryLongSize, 16).with(Size::SetupActorsSize, 1);
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
    let found = || SECRETS.map(|secret| has_text(&words, secret));
    assert_eq!(found(), [true; 4]);

    if own_memory {
        into_own_memory(&region, &own);
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
    own.set_statement_error(&mut running, &StatementError { number: 6, sqlstate: "6".into(), message: "it was stopped".into() });
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
    let found = || SECRETS.map(|secret| has_text(&words, secret));
    let counted = || {
        let sums = region.transactions_by_event_name(class);
        (sums.read_write.count, sums.read_only.count)
    };
    assert_eq!((found(), counted()), ([true; 4], (61, 61)));

    if own_memory {
        into_own_memory(&region, &own);
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
    let runs = |state: &str, gtid: &str, trx_id: u64| format!("1 41 Some({state}) (Some(\"it runs\"), {gtid}, Some({trx_id}))");
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
        let region = Region::create(&words, &CONFIG, &Identity::default(), &MockClock::new().timers()).expect("there is room");
        let kinds = [("on", MetricType::Counter), ("off", MetricType::Counter), ("level", MetricType::Value)];
        let [on, off, level] = kinds.map(|(name, kind)| {
            let info = MetricInfo::literal(name, "fork", "", kind);
            region.register_metric(&info, true, Moment::of_seconds(1)).expect("there is room")
        });
        let (own, other) = (Actor::attach(&region, &ActorIdentity::default()), Actor::attach(&region, &ActorIdentity::default()));
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
            into_own_memory(&region, &own);
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
    let classes = region.arrays::<CLASS>(Section::Classes);
    let free = classes.iter().find(|words| words[0].get() == 0).expect("there is room");
    free[0].set(1);
    // Copied before it was taken, and after it was written.
    let source = &region.arrays::<SOURCE>(Section::Sources)[0];
    source[source::word::LEN].set(1);
    for (idle, left) in [(false, 1), (true, 0)] {
        region.forked(&CHILD, &[], idle);
        assert_eq!((free[0].get(), source[source::word::LEN].get()), (left, left), "{idle}");
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

/// Another thread was about to register something in the first place, or had not when that was copied: what is behind it is found there, and
/// what is new takes the first place when no other is free.
#[test]
fn a_name_is_one_instrument_and_one_metric_in_a_child() {
    let config = CONFIG.with(Size::MaxMutexClasses, 3).with(Size::MaxMetrics, 3);
    let class_of = |name| class::hash(name) | class::CLAIMED;
    for [class, metric] in [[class_of("wait/synch/mutex/t/UNFINISHED"), class_of("unfinished")], [0, 0]] {
        let words: Vec<Word> = (0..config.words()).map(|_| Word::new(0)).collect();
        let region = Region::create(&words, &config, &Identity::default(), &MockClock::new().timers()).expect("there is room");
        let register = |name: &str| region.register(InstrumentName::new(name).expect("a name"), Setting::ON).map(Class::index);
        let count = |name: &str| {
            let info = MetricInfo::literal(name, "fork", "", MetricType::Counter);
            let metric = region.register_metric(&info, true, Moment::of_seconds(1));
            metric.map(|metric| usize::from(metric.to_bits()) - metric::places(0))
        };
        let classes = region.arrays::<CLASS>(Section::Classes);
        let metrics = &region.arrays::<METRIC>(Section::Metrics)[metric::places(0)..];
        let [first_class, first_metric] = [&classes[0][class::word::STATE], &metrics[0][metric::word::STATE]];
        first_class.set(class_of("other"));
        first_metric.set(class_of("other"));
        assert_eq!((register("wait/synch/mutex/t/A"), count("a")), (Ok(1), Ok(1)));
        first_class.set(class);
        first_metric.set(metric);
        region.forked(&CHILD, &[], true);
        for (name, place) in [("A", 1), ("B", 2), ("C", 0), ("A", 1), ("C", 0)] {
            assert_eq!(register(&format!("wait/synch/mutex/t/{name}")), Ok(place), "{name}");
        }
        for (name, place) in [("a", 1), ("b", 2), ("c", 0), ("a", 1), ("c", 0)] {
            assert_eq!(count(name), Ok(place), "{name}");
        }
        assert!(register("wait/synch/mutex/t/D").is_err() && count("d").is_err());
        assert_eq!(register("wait/synch/rwlock/t/A"), Ok(3), "in places of its own");
    }
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
    let places = region.setup();
    places[setup::word::FILES_USED].set(1);
    // It is gone, and nobody refers to it any more.
    let deleted = region.refer_to_file(file, b"/deleted").expect("there is room");
    region.file_opened(deleted);
    files[1][file::word::REFERENCES].set(file::GONE | file::OPENED);
    region.file_closed(deleted);
    // Nothing was free; and who found that, as the handler forked, does not say so of the child.
    let hints = || places[setup::word::INSTANCE_HINTS].iter().chain([&places[setup::word::SOCKET_HINT]]);
    for seen in [0, u64::MAX] {
        hints().for_each(|hint| hint.set(seen));
        region.forked(&CHILD, &[], seen != 0);
        assert!(hints().all(|hint| hint.compare_exchange(seen, u64::MAX, Ordering::Relaxed).is_err()));
    }
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

    assert!(!has_text(&words, "a secret"));
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

/// Of what a child ends, which statements those are is known as far as they are visible. All others, as those of tasks that are not polled at the
/// fork, are counted, too: where their digest has no place any more, without it.
#[test]
fn a_child_counts_what_it_ends_by_digest() {
    const DIGESTS: Config = CONFIG.with(Size::MaxStatementClasses, 1).with(Size::DigestsSize, 4);
    for visible in [true, false] {
        let words: Vec<Word> = (0..DIGESTS.words()).map(|_| Word::new(0)).collect();
        let region = Region::create(&words, &DIGESTS, &Identity::default(), &MockClock::new().timers()).expect("there is room");
        let class = region.register(InstrumentName::literal("statement/t/S"), Setting::ON).expect("there is room");
        region.enable_everything();
        region.set_consumer(Consumer::EventsStatementsCurrent, visible);
        let clock = MockClock::new();
        let [own, task] = [(); 2].map(|()| Actor::attach(&region, &ActorIdentity::default()));
        let statements = [(&own, "SEEK 1"), (&task, "FIND 1")].map(|(actor, text)| {
            actor.begin_statement(&clock, region.switches(class), &StatementStart { text, schema: "app", source: None })
        });
        region.forked(&CHILD, &[Some(&own)], true);
        statements.into_iter().for_each(|statement| _ = own.end_statement(&clock, statement));
        let mut by_digest = 0;
        region.scan(&tables::EventsStatementsSummaryByDigest, |row| by_digest += row.count_star);
        assert_eq!((region.summary_by_event_name(class).count, by_digest), (2, 2), "visible: {visible}");
        assert_eq!(region.lost(crate::Lost::StatementDigests), if visible { 1 } else { 2 });
    }
}

/// Another thread was saying whom a socket leads to now: nobody will, but its descriptor is open.
#[test]
fn a_child_keeps_a_socket_that_another_was_connecting() {
    let words: Vec<Word> = (0..CONFIG.words()).map(|_| Word::new(0)).collect();
    let region = Region::create(&words, &CONFIG, &Identity::default(), &MockClock::new().timers()).expect("there is room");
    let class = region.register(InstrumentName::literal("wait/io/socket/t/s"), Setting::ON).expect("there is room");
    let create = |descriptor| region.create_socket(class, descriptor, SocketAddress::UNIX, 0).expect("there is room");
    let first = create(5);
    let _change = pool::claim_again(&region.arrays::<SOCKET>(Section::SocketInstances)[0][io::word::STATE]).expect("it is live");
    region.forked(&CHILD, &[], true);
    let sockets = || {
        let mut rows = Vec::new();
        assert_eq!(region.scan(&tables::SocketInstances, |row| rows.push((row.socket_id, row.ip.as_str().len()))).changed, 0);
        rows
    };
    assert_eq!(sockets(), [(5, 0)]);
    let second = create(6);
    assert_ne!(first, second);
    region.destroy_instance(first);
    assert_eq!(sockets().first().map(|row| row.0), Some(6));
}

/// Another thread was renaming a file: under which name it is found now nobody knows, so it has no row; its handle is closed like any other.
#[test]
fn a_child_forgets_a_file_that_another_was_renaming() {
    let words: Vec<Word> = (0..CONFIG.words()).map(|_| Word::new(0)).collect();
    let region = Region::create(&words, &CONFIG, &Identity::default(), &MockClock::new().timers()).expect("there is room");
    let class = region.register(InstrumentName::literal("wait/io/file/t/f"), Setting::ON).expect("there is room");
    let open = |path: &str| {
        let file = region.refer_to_file(class, path.as_bytes()).expect("there is room");
        region.file_opened(file);
        file
    };
    let close = |file| {
        region.file_closed(file);
        region.release_file(file);
    };
    let [file, closed] = ["/open", "/closed"].map(open);
    close(closed);
    for words in &region.arrays::<FILE>(Section::FileInstances)[..2] {
        words[file::word::REFERENCES].set(words[file::word::REFERENCES].get() + 1);
        let _change = pool::claim_again(&words[file::word::STATE]).expect("it is live");
    }
    region.forked(&CHILD, &[], true);
    let files = || {
        let mut rows = Vec::new();
        let sweep = region.scan(&tables::FileInstances, |row| rows.push((String::from(row.file_name.as_str()), row.open_count)));
        assert_eq!(sweep.changed, 0);
        rows
    };
    assert_eq!(files(), []);
    // By the old name as by any other.
    let again = open("/open");
    assert_ne!(again, file);
    assert_eq!(files(), [(String::from("/open"), 1)]);
    close(file);
    let room = (0..).take_while(|number| region.refer_to_file(class, format!("/{number}").as_bytes()).is_some()).count();
    assert_eq!(room, region.place(Section::FileInstances).count - 1);
}

/// Another thread had counted the place that it was about to take, or had not yet counted what it gave back.
#[test]
fn a_child_has_room_for_as_many_files_as_its_parent() {
    let words: Vec<Word> = (0..CONFIG.words()).map(|_| Word::new(0)).collect();
    let region = Region::create(&words, &CONFIG, &Identity::default(), &MockClock::new().timers()).expect("there is room");
    let class = region.register(InstrumentName::literal("wait/io/file/t/f"), Setting::ON).expect("there is room");
    region.setup()[setup::word::FILES_USED].set(1);
    region.forked(&CHILD, &[], true);
    let room = (0..).take_while(|number| region.refer_to_file(class, format!("/{number}").as_bytes()).is_some()).count();
    assert_eq!(room, region.place(Section::FileInstances).count);
}

/// What another thread had written of an instrument and a metric when memory was copied, from before it got to their states.
#[test]
fn a_child_registers_over_what_was_copied_too_early() {
    let words: Vec<Word> = (0..CONFIG.words()).map(|_| Word::new(0)).collect();
    let region = Region::create(&words, &CONFIG, &Identity::default(), &MockClock::new().timers()).expect("there is room");
    let name = InstrumentName::literal("wait/synch/mutex/t/LOCK");
    let info = MetricInfo::literal("copied", "fork", "", MetricType::Counter);
    let class = region.register(name, Setting::OFF).expect("there is room");
    let metric = region.register_metric(&info, false, Moment::of_seconds(1)).expect("there is room");
    let metric = &region.arrays::<METRIC>(Section::Metrics)[usize::from(metric.to_bits())];
    metric[metric::word::CONTROL].set(2);
    for state in [&region.arrays::<CLASS>(Section::Classes)[class.index()][class::word::STATE], &metric[metric::word::STATE]] {
        state.set(class::FREE);
    }
    region.forked(&CHILD, &[], true);
    let class = region.register(name, Setting::ON).expect("there is room");
    assert_eq!(region.setting(class), Setting::ON);
    let metric = region.register_metric(&info, true, Moment::of_seconds(1)).expect("there is room");
    assert!(region.metric_is_on(metric));
}

/// Whoever forks, also in the middle of an event, leaves the child no chunk of a thread that it has not: all of them are filled again.
#[test]
fn a_child_fills_the_chunks_of_threads_that_are_not_there() {
    const SIZES: Config = Config::SMALL.with(Size::EventsWaitsHistoryLongSize, 100).with(Size::MaxThreadInstances, 16);
    let ways = [(true, false), (true, true), (false, false), (false, true)];
    for ((idle, own_memory), is_full) in ways.into_iter().flat_map(|way| [(way, false), (way, true)]) {
        let words: Vec<Word> = (0..SIZES.words()).map(|_| Word::new(0)).collect();
        let region = Region::create(&words, &SIZES, &Identity::default(), &MockClock::new().timers()).expect("there is room");
        let class = region.register(InstrumentName::literal("wait/synch/mutex/t/LOCK"), Setting::ON).expect("there is room");
        region.enable_everything();
        let clock = MockClock::new();
        let actors: Vec<Actor<'_>> = (0..16).map(|_| Actor::attach(&region, &ActorIdentity::default())).collect();
        let record = |actor: &Actor<'_>| {
            let wait = actor.begin(&clock, region.switches(class), class, &WaitStart::new(Operation::Lock));
            actor.end(&clock, wait, Held::None);
        };
        actors.iter().for_each(record);
        let records = region.place(Section::LongRecords).count;
        let chunks = region.arrays::<CHUNK>(Section::LongChunks);
        if is_full {
            (1..records / chunks.len()).for_each(|_| record(&actors[0]));
        }
        if own_memory {
            into_own_memory(&region, &actors[0]);
        }
        region.forked(&CHILD, &[Some(&actors[0])], idle);
        // Who is in the middle of an event keeps its own, which nobody else may take meanwhile; but not one that is full, whose rows are gone.
        let kept = chunks.iter().filter(|chunk| chunk[0].get() & 1 != 0).count();
        assert_eq!(kept, usize::from(!idle && !is_full));
        (0..2 * records).for_each(|_| record(&actors[0]));
        let sweep = region.scan(&tables::EventsWaitsHistoryLong, |_| ());
        assert_eq!((sweep.rows, region.lost(crate::Lost::HistoryLongRows)), (records as u64, 0), "{idle} {is_full}");
    }
}

/// The first chunk is another thread's, also where the thread that forks has none.
#[test]
fn a_child_keeps_no_chunk_for_a_thread_that_has_recorded_nothing() {
    const SIZES: Config = Config::SMALL.with(Size::EventsWaitsHistoryLongSize, 1000).with(Size::MaxThreadInstances, 16);
    let words: Vec<Word> = (0..SIZES.words()).map(|_| Word::new(0)).collect();
    let clock = MockClock::new();
    let region = Region::create(&words, &SIZES, &Identity::default(), &clock.timers()).expect("there is room");
    let class = region.register(InstrumentName::literal("wait/synch/mutex/t/LOCK"), Setting::ON).expect("there is room");
    region.enable_everything();
    let [other, own] = [(); 2].map(|()| Actor::attach(&region, &ActorIdentity::default()));
    let wait = other.begin(&clock, region.switches(class), class, &WaitStart::new(Operation::Lock));
    other.end(&clock, wait, Held::None);
    region.forked(&CHILD, &[Some(&own)], false);
    assert!(region.section(Section::LongChunks).iter().all(|word| word.get() == 0));
}
