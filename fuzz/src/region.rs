//! Region bytes: whatever the words are, reading ends, panics nowhere, and shows no row that its table's schema forbids.

use perfschema_core::metric::MonitorCommand::{Disable, Enable, Reset, ResetAll};
use perfschema_core::metric::{MetricInfo, MetricType, Moment};
use perfschema_core::table::{Row, Table, Value};
use perfschema_core::timer::{MockClock, TimerName};
use perfschema_core::{
    AccessMode, Actor, ActorIdentity, Class, Config, Consumer, FileEvent, FileIo, Group, Held, Identity, InstanceId,
    InstrumentName, IoEvent, Now, Operation, Region, Setting, Size, SocketAddress, SocketEvent, SocketIo, Statement,
    StatementError, StatementStart, ThreadType, Transaction, TransactionStart, TransactionState, Wait, WaitStart, Word,
    copy_from_bytes, tables,
};
use std::cell::RefCell;
use std::sync::LazyLock;

/// Room for everything, and small: most words mean something.
const CONFIG: Config = Config::EMPTY
    .with(Size::MaxMutexClasses, 2)
    .with(Size::MaxRwlockClasses, 1)
    .with(Size::MaxFileClasses, 1)
    .with(Size::MaxSocketClasses, 1)
    .with(Size::MaxTransactionClasses, 1)
    .with(Size::MaxMutexInstances, 2)
    .with(Size::MaxRwlockInstances, 1)
    .with(Size::MaxFileInstances, 2)
    .with(Size::MaxSocketInstances, 2)
    .with(Size::MaxThreadInstances, 2)
    .with(Size::EventsWaitsHistorySize, 2)
    .with(Size::EventsWaitsHistoryLongSize, 8)
    .with(Size::EventsTransactionsHistorySize, 2)
    .with(Size::EventsTransactionsHistoryLongSize, 4)
    .with(Size::MaxWaitHistograms, 2)
    .with(Size::MaxSourceLocations, 2)
    .with(Size::SetupActorsSize, 2)
    .with(Size::MaxMetrics, 3)
    .with(Size::MaxCondClasses, 1)
    .with(Size::MaxCondInstances, 2)
    .with(Size::MaxSynchClasses, 1)
    .with(Size::MaxSynchInstances, 2)
    .with(Size::MaxStageClasses, 2)
    .with(Size::EventsStagesHistorySize, 2)
    .with(Size::EventsStagesHistoryLongSize, 4)
    .with(Size::MaxStatementClasses, 2)
    .with(Size::EventsStatementsHistorySize, 2)
    .with(Size::EventsStatementsHistoryLongSize, 4)
    .with(Size::MaxSqlTextLength, 32)
    .with(Size::DigestsSize, 2)
    .with(Size::MaxMemoryClasses, 1);

/// The first byte of an input.
#[derive(Clone, Copy)]
struct Flags(u8);

impl Flags {
    /// Somebody goes on recording in the damaged region.
    fn record(self) -> bool {
        self.0 & 1 != 0
    }

    /// Somebody changes what an administrator may change.
    fn administer(self) -> bool {
        self.0 & 2 != 0
    }

    /// Each byte of the input is a word, not each eight: indices, states and lengths are small.
    fn small(self) -> bool {
        self.0 & 4 != 0
    }

    /// The histogram is read, too: rarely, because its 600 rows an instrument take longer than all the rest.
    fn histogram(self) -> bool {
        self.0 & 0x70 == 0x70
    }
}

/// Any bytes at all as the words of a region; and, as most of them are refused at the first word, the same bytes again and again behind
/// a header that is right, for sizes that the first bytes choose.
///
/// # Panics
/// When a reader does, or shows what it may not.
pub fn region_bytes(data: &[u8]) {
    let words = zeroed(data.len() / 8);
    copy_from_bytes(data, &words).expect("there is room");
    read_if_it_opens(&words, Flags(0));

    let mut bytes = data.iter().copied();
    let mut next = || bytes.next().unwrap_or(0);
    let flags = Flags(next());
    let mut config = Config::EMPTY;
    for &size in Size::ALL {
        // Of transactions there is at most one instrument.
        let number = (next() % 3).min(if size == Size::MaxTransactionClasses { 1 } else { 2 });
        config.try_set(size, number.into()).expect("no limit is that low");
    }
    let words = zeroed(config.words());
    Region::create(&words, &config, &Identity::default(), &MockClock::new().timers()).expect("zeroed and large enough");
    let rest: Vec<u8> = bytes.collect();
    let values: Vec<u64> = match flags.small() {
        true => rest.into_iter().map(u64::from).collect(),
        false => rest.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect(),
    };
    words[Map::of(&words).compared..].iter().zip(values.iter().cycle()).for_each(|(word, value)| overwrite(word, *value));
    read_if_it_opens(&words, flags);
}

/// A valid region with events in it, some of whose words are then overwritten: each six bytes of the input are a `Mutation`.
///
/// # Panics
/// When a reader or recorder does, or a reader shows what it may not.
pub fn region_mutated(data: &[u8]) {
    let (flags, words) = (Mutation::parse(data).0, mutated(data));
    read_if_it_opens(&words, flags);
    if flags.record()
        && let Ok(region) = Region::open(&words)
    {
        record(&region, &MockClock::new(), 4);
        read_if_it_opens(&words, flags);
    }
}

/// The words of a region in use, damaged as [`region_mutated`] damages it.
pub fn mutated(data: &[u8]) -> Vec<Word> {
    let words = RECORDED.copy();
    Mutation::parse(data).1.for_each(|mutation| mutation.apply(&RECORDED.map, &words));
    words
}

/// A valid region that changes while it is read: whenever a reader has delivered a row, one more word is overwritten, or somebody records.
///
/// # Panics
/// When a reader or recorder does, or a reader shows what it may not.
pub fn region_live(data: &[u8]) {
    let (flags, mutations) = Mutation::parse(data);
    let words = RECORDED.copy();
    let region = Region::open(&words).expect("not damaged yet");
    let recorder = Recorder::new(&region);
    let mutations = RefCell::new(mutations);
    let next = || match mutations.borrow_mut().next() {
        Some(mutation) if mutation.comes_and_goes() => record(&region, &recorder.clock, 1),
        Some(mutation) if mutation.records() => recorder.step(mutation.number),
        Some(mutation) => mutation.apply(&RECORDED.map, &words),
        None => {}
    };
    read(&region, flags, &next);
    if flags.administer() {
        administer(&region, &next);
    }
    // What is left of the changes, and of the region.
    while mutations.borrow().len() > 0 {
        next();
    }
    read(&region, flags, &|| ());
}

/// Somebody who was there before the region was damaged, and records step by step.
struct Recorder<'r> {
    clock: MockClock,
    actor: Actor<'r>,
    waits: RefCell<Vec<Wait<'r>>>,
    statements: RefCell<Vec<Statement<'r>>>,
    transactions: RefCell<Vec<Transaction<'r>>>,
}

impl<'r> Recorder<'r> {
    fn new(region: &'r Region<'r>) -> Recorder<'r> {
        let actor = Actor::attach(region, &ActorIdentity { name: "recorder", ..Default::default() });
        Recorder {
            clock: MockClock::new(),
            actor,
            waits: RefCell::default(),
            statements: RefCell::default(),
            transactions: RefCell::default(),
        }
    }

    /// The innermost wait ends, or one more begins; by the highest bit it is a stage, by the one below it a statement, by the next a
    /// transaction.
    fn step(&self, number: u16) {
        let region = self.actor.region();
        if number & 1 << 15 != 0 {
            let class = Class::from_bits(number >> 1 & 0xff);
            match number & 1 {
                1 => self.actor.end_any_stage(&self.clock),
                _ => self.actor.begin_stage(&self.clock, region.switches(class), None).is_some(),
            };
            return self.actor.change_stage_progress(|progress| progress.completed += 1);
        }
        if number & 1 << 14 != 0 {
            let mut statements = self.statements.borrow_mut();
            if number & 1 == 1 {
                if let Some(mut statement) = statements.pop() {
                    self.actor.set_statement_error(
                        &mut statement,
                        &StatementError { number: 1, sqlstate: "HY000".into(), message: "it failed".into() },
                    );
                    self.actor.end_statement(&self.clock, statement);
                }
            } else if statements.len() < 20 {
                let class = Class::from_bits(number >> 1 & 0xff);
                let start = StatementStart { text: "find 17 in ('a', 'b')", schema: "fuzz", source: None };
                statements.push(self.actor.begin_statement(&self.clock, region.switches(class), &start));
            }
            return statements.iter_mut().for_each(|statement| {
                self.actor.change_statement(statement, |statistics| statistics.rows_sent += 1);
            });
        }
        if number & 1 << 13 != 0 {
            let mut transactions = self.transactions.borrow_mut();
            if number & 1 == 1 {
                if let Some(mut transaction) = transactions.pop() {
                    self.actor.set_transaction_gtid(&mut transaction, "3E11FA47-71CA-11E1-9E33-C80AA9429562:23");
                    let state = if number & 2 == 0 { TransactionState::Committed } else { TransactionState::RolledBack };
                    self.actor.end_transaction(&self.clock, transaction, state);
                }
            } else if transactions.len() < 20 {
                let class = Class::from_bits(number >> 1 & 0xff);
                let access_mode = if number & 1 << 9 == 0 { AccessMode::ReadWrite } else { AccessMode::ReadOnly };
                let start = TransactionStart { access_mode, isolation_level: "REPEATABLE READ", ..Default::default() };
                transactions.push(self.actor.begin_transaction(&self.clock, region.switches(class), &start));
            }
            return transactions.iter_mut().for_each(|transaction| {
                self.actor.change_transaction(transaction, |details| details.savepoints += 1);
            });
        }
        let mut waits = self.waits.borrow_mut();
        if number & 1 == 1 {
            waits.pop().map(|wait| self.actor.end(&self.clock, wait, Held::None));
        } else if waits.len() < 20 {
            let class = Class::from_bits(number >> 1);
            let what = WaitStart { source: Some(core::panic::Location::caller()), ..WaitStart::new(Operation::Wait) };
            waits.push(self.actor.begin(&self.clock, region.switches(class), class, &what));
        }
    }
}

/// One word changes: which section, which of its entries, which word of that; how; and a number.
///
/// ```text
/// byte    0        1      2     3    4 … 5
///         section  entry  word  how  number
/// ```
#[derive(Clone, Copy)]
struct Mutation {
    place: [u8; 3],
    how: u8,
    number: u16,
}

impl Mutation {
    fn parse(data: &[u8]) -> (Flags, impl ExactSizeIterator<Item = Mutation>) {
        let (flags, data) = data.split_first().unwrap_or((&0, &[]));
        let mutations = data.as_chunks().0.iter().map(|&[section, entry, word, how, low, high]| Mutation {
            place: [section, entry, word],
            how,
            number: u16::from_le_bytes([low, high]),
        });
        (Flags(*flags), mutations)
    }

    fn records(&self) -> bool {
        self.how >= 0xf0
    }

    fn comes_and_goes(&self) -> bool {
        self.how >= 0xf8
    }

    fn apply(&self, map: &Map, words: &[Word]) {
        let [section, entry, word] = self.place.map(usize::from);
        let Place { offset, stride, count } = map.sections[section % map.sections.len()];
        if count == 0 {
            return;
        }
        let at = offset + entry % count * stride + word % stride;
        let number = u64::from(self.number);
        let value = value_of(&words[at]);
        let value = match self.how % 8 {
            0 => number,
            1 => !number,
            2 => value.wrapping_add(number as i16 as u64),
            3 => value ^ 1 << (number % 64),
            4 => value & !0xffff | number,
            5 => number << 48 | value << 16 >> 16,
            // Another entry's word of the same kind: an old version, a neighbour's state.
            6 => value_of(&words[offset + usize::from(self.number) % count * stride + word % stride]),
            _ => value_of(&words[usize::from(self.number) % words.len()]),
        };
        overwrite(&words[at], value);
    }
}

/// Where the sections of a region are, as its directory says.
struct Map {
    sections: Vec<Place>,
    /// The words that `open` compares with what it expects: header, directory, sizes.
    compared: usize,
}

#[derive(Clone, Copy)]
struct Place {
    offset: usize,
    stride: usize,
    count: usize,
}

/// Words before the directory.
const HEADER: usize = 64;

impl Map {
    /// The directory has an entry of four words for each section: number, offset, stride, count. The header is the first of them, the
    /// directory the second, the sizes the third.
    fn of(words: &[Word]) -> Map {
        let entry = |at: usize| std::array::from_fn(|i| value_of(&words[HEADER + 4 * at + i]) as usize);
        let [_, _, _, sections] = entry(1);
        let sections: Vec<Place> = (0..sections)
            .map(entry)
            .enumerate()
            .map(|(index, [number, offset, stride, count])| {
                assert_eq!(index, number, "this is not the directory");
                Place { offset, stride, count }
            })
            .collect();
        Map { compared: sections[3].offset, sections }
    }
}

/// A region in use, made once and copied for each input.
static RECORDED: LazyLock<Recorded> = LazyLock::new(|| {
    let words = recorded();
    Recorded { values: words.iter().map(value_of).collect(), map: Map::of(&words) }
});

struct Recorded {
    values: Vec<u64>,
    map: Map,
}

impl Recorded {
    fn copy(&self) -> Vec<Word> {
        self.values.iter().map(|value| Word::new(*value)).collect()
    }
}

fn zeroed(count: usize) -> Vec<Word> {
    (0..count).map(|_| Word::new(0)).collect()
}

fn overwrite(word: &Word, value: u64) {
    copy_from_bytes(&value.to_ne_bytes(), core::slice::from_ref(word)).expect("there is room");
}

/// What a word holds; the core lets nobody load one.
fn value_of(word: &Word) -> u64 {
    // SAFETY: a word is eight bytes without padding, aligned as u64 is at most, and only this thread knows it.
    unsafe { core::ptr::from_ref(word).cast::<u64>().read_unaligned() }
}

/// A region in use: classes, instances, threads, one of them gone, events that run and that have ended.
fn recorded() -> Vec<Word> {
    let words = zeroed(CONFIG.words());
    let clock = MockClock::new();
    let identity = Identity { pid: 1, program: "fuzz", ..Default::default() };
    let region = Region::create(&words, &CONFIG, &identity, &clock.timers()).expect("zeroed and large enough");
    for name in [
        "wait/synch/mutex/fuzz/a",
        "wait/synch/mutex/fuzz/b",
        "wait/synch/rwlock/fuzz/c",
        "wait/io/file/fuzz/d",
        "wait/io/socket/fuzz/e",
        "idle",
        "transaction",
        "wait/synch/cond/fuzz/f",
        "stage/fuzz/g",
        "stage/fuzz/h",
        "statement/fuzz/i",
        "statement/fuzz/j",
        "memory/fuzz/k",
    ] {
        region.register(InstrumentName::new(name).expect("a good name"), Setting::ON).expect("there is room");
    }
    let kinds = [("a", MetricType::Counter), ("b", MetricType::Value), ("c", MetricType::SetOwner)];
    let metrics = kinds.map(|(name, kind)| {
        let info = MetricInfo::new(name, "fuzz", "A metric", kind).expect("a good name");
        region.register_metric(&info, true, Moment::of_seconds(1)).expect("there is room")
    });
    region.join_metrics(metrics[2], metrics[0]);
    region.enable_everything();
    record(&region, &clock, 6);
    record(&region, &clock, 3);
    words
}

/// What an application does, in a region that may be damaged: nothing of it may panic.
fn record(region: &Region<'_>, clock: &MockClock, events: u64) {
    let actors = ["one", "two", "three"].map(|name| {
        Actor::attach(
            region,
            &ActorIdentity { name, user: "ada", host: "db", thread_type: ThreadType::Foreground, ..Default::default() },
        )
    });
    let ids: Vec<InstanceId> = region.classes().filter_map(|class| region.create_instance(class, 64)).collect();
    for (n, actor) in (0..events).flat_map(|n| actors.iter().map(move |actor| (n, actor))) {
        for class in region.classes() {
            let what = WaitStart {
                object: n,
                amount: n,
                source: Some(core::panic::Location::caller()),
                ..WaitStart::new(Operation::Lock)
            };
            let outer = actor.begin(clock, region.switches(class), class, &what);
            clock.advance(TimerName::Cycle, n * 1000);
            let inner = actor.begin(clock, region.switches(class), class, &what);
            let instance = ids.first().and_then(|id| region.instance(*id));
            actor.end(clock, inner, instance.as_ref().map_or(Held::None, Held::Exclusive));
            // Some stay open.
            if n % 3 != 2 {
                actor.end(clock, outer, instance.as_ref().map_or(Held::None, Held::Shared));
            }
        }
    }
    actors.iter().for_each(|actor| use_transactions(region, clock, actor));
    actors.iter().for_each(|actor| use_stages_and_statements(region, clock, actor));
    actors.iter().for_each(|actor| use_files(region, clock, actor));
    actors.iter().for_each(|actor| use_sockets(region, clock, actor));
    for metric in region.metrics().collect::<Vec<_>>() {
        for actor in &actors {
            actor.count_metric(metric, events);
        }
        region.change_metric_value(metric, -1);
        region.set_metric_value(metric, 7);
    }
    actors[0].detach();
    if let Some(id) = ids.last() {
        region.destroy_instance(*id);
    }
}

fn use_stages_and_statements(region: &Region<'_>, clock: &MockClock, actor: &Actor<'_>) {
    for (n, name) in ["statement/fuzz/i", "statement/fuzz/j"].into_iter().enumerate() {
        let Some(class) = region.find_class(name) else { continue };
        let start = StatementStart { text: ["find 17 in ('a', 'b')", "x"][n], schema: "fuzz", source: None };
        let mut statement = actor.begin_statement(clock, region.switches(class), &start);
        if let Some(stage) = region.find_class("stage/fuzz/g") {
            actor.begin_stage(clock, region.switches(stage), Some(core::panic::Location::caller()));
            actor.change_stage_progress(|progress| progress.completed += 1);
        }
        clock.advance(TimerName::Cycle, 1000);
        actor.set_statement_error(
            &mut statement,
            &StatementError { number: 1, sqlstate: "HY000".into(), message: "it failed".into() },
        );
        if n == 0 {
            actor.end_statement(clock, statement);
        }
    }
    if let Some(memory) = region.find_class("memory/fuzz/k") {
        actor.count_memory(region.switches(memory), memory, perfschema_core::MemoryChange::allocated(7));
    }
}

/// One is committed, one only reads and is rolled back, and one is still running.
fn use_transactions(region: &Region<'_>, clock: &MockClock, actor: &Actor<'_>) {
    let Some(class) = region.find_class("transaction") else { return };
    for (access_mode, state) in [
        (AccessMode::ReadWrite, Some(TransactionState::Committed)),
        (AccessMode::ReadOnly, Some(TransactionState::RolledBack)),
        (AccessMode::ReadWrite, None),
    ] {
        let start = TransactionStart { access_mode, isolation_level: "SERIALIZABLE", ..Default::default() };
        let mut transaction = actor.begin_transaction(clock, region.switches(class), &start);
        actor.change_transaction(&mut transaction, |details| details.trx_id = 7);
        actor.set_transaction_gtid(&mut transaction, "3E11FA47-71CA-11E1-9E33-C80AA9429562:23");
        clock.advance(TimerName::Cycle, 1000);
        if let Some(state) = state {
            actor.end_transaction(clock, transaction, state);
        }
    }
}

/// One socket stays open and idle, one is connected to somebody else and closed.
fn use_sockets(region: &Region<'_>, clock: &MockClock, actor: &Actor<'_>) {
    let Some(class) = region.find_class("wait/io/socket/fuzz/e") else { return };
    let peers = [std::net::SocketAddr::from(([192, 0, 2, 7], 80)), std::net::SocketAddr::from(([7; 16], 81))];
    let ids = peers.map(|peer| region.create_socket(class, 5, peer.into(), 0));
    for id in ids.into_iter().flatten() {
        for operation in [Operation::Receive, Operation::SendTo, Operation::Option] {
            let socket = region.socket(id);
            let address = socket.map(|socket| socket.peer()).unwrap_or_default();
            let what = WaitStart { amount: 5, io: IoEvent::Socket(SocketEvent { address }), ..WaitStart::new(operation) };
            let wait = actor.begin(clock, region.switches(class), class, &what);
            clock.advance(TimerName::Cycle, 1000);
            actor.end(clock, wait, Held::Socket(SocketIo { socket, group: operation.group() }));
        }
        if let Some(socket) = region.socket(id) {
            socket.begin_idle(actor.thread_id());
            actor.count_socket(region.switches(class), &SocketIo { socket: Some(socket), group: Group::Read }, 3);
        }
    }
    if let Some(id) = ids[1] {
        if let Some(socket) = region.socket(id) {
            socket.end_idle();
            socket.set_peer(SocketAddress::UNIX);
        }
        region.destroy_instance(id);
    }
}

/// One file stays open, one is renamed, and one is deleted.
fn use_files(region: &Region<'_>, clock: &MockClock, actor: &Actor<'_>) {
    let Some(class) = region.find_class("wait/io/file/fuzz/d") else { return };
    for path in [&b"/kept"[..], b"/renamed \xff", b"/deleted"] {
        let id = region.refer_to_file(class, path);
        for operation in [Operation::Open, Operation::Read, Operation::Write] {
            let file = id.and_then(|id| region.file(id));
            let what = WaitStart { amount: 5, io: IoEvent::File(FileEvent::new(file.as_ref(), 1)), ..WaitStart::new(operation) };
            let wait = actor.begin(clock, region.switches(class), class, &what);
            clock.advance(TimerName::Cycle, 1000);
            actor.end(clock, wait, Held::File(FileIo { file, group: operation.group() }));
        }
        let Some(id) = id else { continue };
        region.file_opened(id);
        if path != b"/kept" {
            region.file_closed(id);
            region.release_file(id);
        }
    }
    region.file_renamed(b"/renamed \xff", b"/new name");
    region.file_deleted(b"/deleted");
}

fn read_if_it_opens(words: &[Word], flags: Flags) {
    let Ok(region) = Region::open(words) else { return };
    read(&region, flags, &|| ());
    if flags.administer() {
        administer(&region, &|| ());
        read(&region, flags, &|| ());
    }
}

/// What an administrator may do; `meanwhile` happens after each row that is looked at.
fn administer(region: &Region<'_>, meanwhile: &dyn Fn()) {
    for table in tables::ALL {
        let rights = table.declaration().rights;
        let mut all = |_: &dyn Row| {
            meanwhile();
            true
        };
        for column in rights.update {
            for text in ["YES", "no", "TICK", "x"] {
                if let Ok(updated) = table.update(region, &mut all, &[(column, Value::Text(text))]) {
                    assert!(updated.changed <= updated.matched);
                }
            }
        }
        if rights.insert_delete {
            let _ = table.insert(region, &[]);
            let mut odd = false;
            let _ = table.delete(region, &mut |row| {
                odd = !odd;
                all(row) && odd
            });
            let _ = table.insert(region, &[(table.declaration().columns[0].name, Value::Text("db"))]);
        }
        let _ = table.truncate(region);
    }
    for (second, command) in (2..).zip([Enable, Reset, ResetAll, Disable, ResetAll, Enable]) {
        for target in ["a", "module_fuzz", "%", "all"] {
            let _ = region.monitor(command, target, Moment::of_seconds(second), |_| meanwhile());
            let _ = (region.last_monitor(command), region.find_metric(target));
        }
    }
    region.set_consumer(Consumer::EventsWaitsHistory, false);
    region.flush_status();
}

/// Every table, every cell; `meanwhile` happens after each row.
fn read(region: &Region<'_>, flags: Flags, meanwhile: &dyn Fn()) {
    // Also how long lasts what runs.
    let region = &region.as_of(Now::At(u64::MAX));
    for table in tables::ALL {
        if flags.histogram() || table.declaration().name != "events_waits_histogram_by_event_name" {
            read_table(*table, region, meanwhile);
        }
    }
    let _ = (region.program(), region.pid(), region.size_bytes(), region.wait_timer());
    for class in region.classes() {
        let _ = (region.class_name(class), region.summary_by_event_name(class).avg_ps());
    }
}

/// Each cell is what its column's type, length, enum and nullability allow, and the account of the read closes.
fn read_table(table: &dyn Table, region: &Region<'_>, meanwhile: &dyn Fn()) {
    let declaration = table.declaration();
    let mut rows = 0;
    let sweep = table.scan(region, &mut |row| {
        rows += 1;
        for (index, column) in declaration.columns.iter().chain(table.invisible()).enumerate() {
            let value = row.cell(index);
            assert!(column.holds(&value), "{}.{} shows {value:?}", declaration.name, column.name);
        }
        meanwhile();
    });
    assert_eq!(sweep.rows, rows, "{}", declaration.name);
    assert_eq!(sweep.rows + sweep.free + sweep.skipped + sweep.changed, sweep.places, "{}", declaration.name);
    // A class may have as many rows of the histogram as there are buckets; otherwise there is a word for each row.
    assert!(sweep.places <= region.words().len() as u64 * 600, "{}", declaration.name);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_is_the_directory_and_the_words_left_alone_are_those_that_open_compares() {
        let map = &RECORDED.map;
        assert_eq!(map.sections[0].offset + HEADER, map.sections[1].offset);
        assert_eq!(map.sections[2].count, Size::COUNT);
        let mut refused = Vec::new();
        for at in 0..RECORDED.values.len() {
            let damaged = RECORDED.copy();
            overwrite(&damaged[at], u64::MAX);
            if Region::open(&damaged).is_err() {
                refused.push(at);
            }
        }
        assert_eq!(refused.last().map(|last| (last + 1).next_multiple_of(8)), Some(map.compared));
        assert!(refused.len() > 4 * map.sections.len(), "{refused:?}");
    }

    #[test]
    fn seeds() {
        region_bytes(&[]);
        region_bytes(b"PERFSCHM");
        for byte in [0xff, 2] {
            region_bytes(&[byte; 70_000]);
        }
        for target in [region_mutated, region_live] {
            target(&[]);
            target(&[u8::MAX]);
        }
    }

    /// `PERFSCHEMA_FUZZ_RUNS` asks for more, `PERFSCHEMA_FUZZ_SEED` for others.
    #[test]
    fn many_small_ones() {
        let number = |name| std::env::var(name).ok().and_then(|number| number.parse::<u64>().ok());
        let runs = number("PERFSCHEMA_FUZZ_RUNS").unwrap_or(if cfg!(miri) { 1 } else { 1_000 });
        let mut state = number("PERFSCHEMA_FUZZ_SEED").unwrap_or(0x9e37_79b9_7f4a_7c15);
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for _ in 0..runs {
            let len = 1 + next() as usize % 240;
            let data: Vec<u8> = (0..len).map(|_| next() as u8).collect();
            for target in [region_bytes, region_mutated, region_live] {
                target(&data);
            }
        }
    }
}
