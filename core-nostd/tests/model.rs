//! The core beside a model of it: a single-threaded thing of vectors and maps that anybody can see is right, `model/naive.rs`. Both are
//! driven by the same random programs, `model/program.rs`, every table is compared row by row, and so is how often a timer is read. When they differ,
//! proptest looks for a small program that shows it.
//!
//! `PROPTEST_CASES` asks for more programs than the usual 5000 of each test; `ci/model` runs as many as one likes.

// One thread and no `unsafe`: Miri has nothing to find, and it takes minutes.
#![cfg(not(miri))]

mod common;
#[path = "model/compare.rs"]
mod compare;
#[path = "model/drive.rs"]
mod drive;
#[path = "model/naive.rs"]
mod naive;
#[path = "model/program.rs"]
mod program;

use common::advance;
use naive::{Begun, ClassKey, Failed, FileKey, InstanceKey, Io, Naive, SocketKey, StageKey, TransactionKey, Who};
use perfschema_core::table::{Column, Declaration, Row, Table, Value};
use perfschema_core::tables::EventsWaitsRow;
use perfschema_core::timer::{Clock, MockClock, TimerName};
use perfschema_core::{
    AccessMode, Actor, ActorIdentity, Class, Config, Consumer, FileEvent, FileId, FileIo, Held, Identity, InstanceId,
    InstrumentName, IoEvent, MemoryChange, Now, Operation, Region, SocketEvent, SocketIo, StageId, StageProgress, Statement,
    StatementError, StatementStart, StatementStatistics, ThreadType, Transaction, TransactionDetails, TransactionStart,
    TransactionState, Wait, WaitCopy, WaitStart, tables,
};
use program::*;
use proptest::prelude::*;
use std::cell::Cell;
use std::collections::HashSet;
use std::panic::Location;

/// A row as text, its cells as `show` has them; none contradicts its column.
fn cells(row: &dyn Row, columns: &[Column], mut show: impl FnMut(&Column, &Value<'_>) -> String) -> String {
    let cells = std::iter::zip(0.., columns).map(|(index, column)| {
        let value = row.cell(index);
        assert!(column.holds(&value), "{} shows {value:?}", column.name);
        show(column, &value)
    });
    cells.collect::<Vec<_>>().join(" ")
}

/// A clock that knows how often it was read.
#[derive(Default)]
struct CountingClock {
    clock: MockClock,
    reads: Cell<u64>,
}

impl Clock for CountingClock {
    fn ticks(&self, timer: TimerName) -> u64 {
        self.reads.set(self.reads.get() + 1);
        self.clock.ticks(timer)
    }
}

/// The core and the model, side by side.
struct Both<'r> {
    region: &'r Region<'r>,
    reader: &'r Region<'r>,
    clock: &'r CountingClock,
    model: Naive,
    /// The classes that there are: the core's, and the model's.
    classes: Vec<(Class, ClassKey)>,
    instances: Vec<(InstanceId, InstanceKey)>,
    handles: Vec<Handle>,
    handles_made: usize,
    sockets: Vec<(InstanceId, SocketKey)>,
    actors: Vec<Driven<'r>>,
    /// All that anybody ever began.
    stages: Vec<(StageId, StageKey)>,
}

/// Somebody who refers to a file.
struct Handle {
    number: usize,
    id: FileId,
    key: FileKey,
    open: bool,
}

/// An actor, its thread in the model, and the waits, statements and transactions that it is in, innermost last.
struct Driven<'r> {
    actor: Actor<'r>,
    thread: usize,
    waits: Vec<Waiting<'r>>,
    statements: Vec<Statement<'r>>,
    transactions: Vec<(Transaction<'r>, TransactionKey)>,
}

/// A wait, and for one at an instrument of files or of sockets, what it is for and the operation.
struct Waiting<'r> {
    wait: Wait<'r>,
    concurrent: bool,
    io: Option<(For, Operation)>,
}

/// A handle by its number; a socket.
#[derive(Clone, Copy)]
enum For {
    File(Option<usize>),
    Socket(Option<SocketKey>),
}

/// The innermost of the waits that nest.
fn innermost(waits: &[Waiting<'_>]) -> Option<usize> {
    waits.iter().rposition(|wait| !wait.concurrent)
}

fn is_memory(name: &str) -> bool {
    name.starts_with("memory/")
}

fn is_stage(name: &str) -> bool {
    name.starts_with("stage/")
}

fn is_statement(name: &str) -> bool {
    name.starts_with("statement/")
}

fn is_transaction(name: &str) -> bool {
    name == "transaction"
}

fn is_wait(name: &str) -> bool {
    !is_memory(name) && !is_stage(name) && !is_statement(name) && !is_transaction(name)
}

/// What can be said of a transaction, of this number in the order of the columns.
fn detail(details: &mut TransactionDetails, number: usize) -> &mut u64 {
    let TransactionDetails { trx_id, savepoints, rollbacks_to_savepoint, released_savepoints } = details;
    [trx_id, savepoints, rollbacks_to_savepoint, released_savepoints].into_iter().nth(number).unwrap()
}

/// The figure of this number, in the order of the columns.
fn figure(statistics: &mut StatementStatistics, number: usize) -> &mut u64 {
    let StatementStatistics {
        lock_time_ps,
        errors,
        warnings,
        rows_affected,
        rows_sent,
        rows_examined,
        created_tmp_disk_tables,
        created_tmp_tables,
        select_full_join,
        select_full_range_join,
        select_range,
        select_range_check,
        select_scan,
        sort_merge_passes,
        sort_range,
        sort_rows,
        sort_scan,
        no_index_used,
        no_good_index_used,
    } = statistics;
    let figures = [
        lock_time_ps,
        errors,
        warnings,
        rows_affected,
        rows_sent,
        rows_examined,
        created_tmp_disk_tables,
        created_tmp_tables,
        select_full_join,
        select_full_range_join,
        select_range,
        select_range_check,
        select_scan,
        sort_merge_passes,
        sort_range,
        sort_rows,
        sort_scan,
        no_index_used,
        no_good_index_used,
    ];
    figures.into_iter().nth(number).unwrap()
}

fn choose<T>(list: &[T], number: usize) -> Option<usize> {
    (!list.is_empty()).then(|| number % list.len())
}

fn yes_no(yes: bool) -> Value<'static> {
    Value::Text(if yes { "YES" } else { "NO" })
}

impl<'r> Both<'r> {
    fn step(&mut self, step: &Step) {
        let region = self.region;
        match step {
            Step::Register { name, setting } => {
                let name = CLASS_NAMES[name % CLASS_NAMES.len()];
                let class = region.register(InstrumentName::new(name).unwrap(), SETTINGS[*setting]).ok();
                let key = self.model.register(name, SETTINGS[*setting]);
                assert_eq!(class.is_some(), key.is_some());
                assert_eq!(region.find_class(name), class);
                self.classes.extend(class.zip(key).filter(|new| !self.classes.contains(new)));
            }
            Step::Set { class, setting } => {
                let Some(at) = choose(&self.classes, *class) else { return };
                let (class, key) = self.classes[at];
                region.set_setting(class, SETTINGS[*setting]);
                self.model.set(key, SETTINGS[*setting]);
            }
            Step::UpdateInstruments { prefix, enabled, timed } => {
                let prefix = PREFIXES[*prefix];
                let columns = [("enabled", enabled), ("TIMED", timed)];
                let new: Vec<_> = columns.iter().filter_map(|(name, yes)| yes.map(|yes| (*name, yes_no(yes)))).collect();
                let updated = self.update(
                    "setup_instruments",
                    &new,
                    |row| matches!(row.cell(0), Value::Text(name) if name.starts_with(prefix)),
                );
                assert_eq!(updated, self.model.update_instruments(prefix, *enabled, *timed));
            }
            Step::CreateInstance { class, address } => {
                let Some(at) = choose(&self.classes, *class) else { return };
                let (class, key) = self.classes[at];
                let id = region.create_instance(class, *address);
                let key = self.model.create_instance(key, *address);
                assert_eq!(id.is_some(), key.is_some());
                self.instances.extend(id.zip(key));
            }
            Step::DestroyInstance { instance } => {
                let Some(at) = choose(&self.instances, *instance) else { return };
                let (id, key) = self.instances.remove(at);
                region.destroy_instance(id);
                self.model.destroy_instance(key);
            }
            Step::MoveInstance { instance, address } => {
                let Some(at) = choose(&self.instances, *instance) else { return };
                let (id, key) = self.instances[at];
                region.instance(id).unwrap().set_address(*address);
                self.model.instance(key).address = *address;
            }
            Step::Hold { instance, by } => {
                let Some(at) = choose(&self.instances, *instance) else { return };
                let (id, key) = self.instances[at];
                match *by {
                    0 => region.instance(id).unwrap().clear_holder(),
                    by => region.instance(id).unwrap().set_holder(by),
                }
                self.model.instance(key).holder = *by;
            }
            Step::Read { instance, more } => {
                let Some(at) = choose(&self.instances, *instance) else { return };
                let (id, key) = self.instances[at];
                let (instance, readers) = (region.instance(id).unwrap(), &mut self.model.instance(key).readers);
                if *more {
                    instance.add_reader();
                    *readers += 1;
                } else if *readers > 0 {
                    instance.remove_reader();
                    *readers -= 1;
                }
            }
            Step::Refer { class, path, open } => {
                let Some(class) = choose(&self.classes, *class) else { return };
                let (class, key) = self.classes[class];
                let path = &paths()[path % paths().len()];
                let id = region.refer_to_file(class, path);
                let key = self.model.refer_to_file(key, path);
                assert_eq!(id.is_some(), key.is_some());
                let Some((id, key)) = id.zip(key) else { return };
                self.add_handle(id, key);
                if *open {
                    self.open(self.handles.len() - 1);
                }
            }
            Step::ReferAgain { handle } => {
                let Some(at) = choose(&self.handles, *handle) else { return };
                let Handle { id, key, .. } = self.handles[at];
                region.refer_again(id);
                self.model.refer_again(key);
                self.add_handle(id, key);
            }
            Step::Open { handle } => {
                let Some(at) = choose(&self.handles, *handle) else { return };
                self.open(at);
            }
            Step::Release { handle } => {
                let Some(at) = choose(&self.handles, *handle) else { return };
                let Handle { id, key, open, .. } = self.handles.remove(at);
                if open {
                    region.file_closed(id);
                    self.model.file_closed(key);
                }
                region.release_file(id);
                self.model.release_file(key);
            }
            Step::Delete { path, folder } => {
                let path = &paths()[path % paths().len()];
                if *folder {
                    region.folder_deleted(path);
                    self.model.folder_deleted(path);
                } else {
                    region.file_deleted(path);
                    self.model.file_deleted(path);
                }
            }
            Step::Rename { from, to } => {
                let (from, to) = (&paths()[from % paths().len()], &paths()[to % paths().len()]);
                region.file_renamed(from, to);
                self.model.file_renamed(from, to);
            }
            Step::OpenSocket { class, peer, by } => {
                let Some(class) = choose(&self.classes, *class) else { return };
                let (class, key) = self.classes[class];
                let (address, ip, port, _) = peers()[*peer];
                let descriptor = *peer as i32 - 1;
                let id = region.create_socket(class, descriptor, address, *by);
                let key = self.model.create_socket(key, descriptor, (ip.into(), port), *by);
                assert_eq!(id.is_some(), key.is_some());
                self.sockets.extend(id.zip(key));
            }
            Step::CloseSocket { socket } => {
                let Some(at) = choose(&self.sockets, *socket) else { return };
                let (id, key) = self.sockets.remove(at);
                region.destroy_instance(id);
                self.model.close_socket(key);
            }
            Step::SetPeer { socket, peer } => {
                let Some(at) = choose(&self.sockets, *socket) else { return };
                let (id, key) = self.sockets[at];
                let (address, ip, port, _) = peers()[*peer];
                let socket = region.socket(id).unwrap();
                socket.set_peer(address);
                assert_eq!(socket.peer(), address);
                self.model.set_peer(key, (ip.into(), port));
            }
            Step::Idle { socket, begin, by } => {
                let Some(at) = choose(&self.sockets, *socket) else { return };
                let (id, key) = self.sockets[at];
                let socket = region.socket(id).unwrap();
                if *begin {
                    socket.begin_idle(*by);
                    self.model.begin_idle(key, *by);
                } else {
                    socket.end_idle();
                    self.model.end_idle(key);
                }
            }
            Step::CountSocket { actor, class, socket, bytes } => {
                let (Some(actor), Some(class)) = (choose(&self.actors, *actor), choose(&self.classes, *class)) else { return };
                let (class, key) = self.classes[class];
                if !class_is(region, class, "wait/io/socket/") {
                    return;
                }
                let socket = choose(&self.sockets, *socket).map(|at| self.sockets[at]);
                let group = Operation::Receive.group();
                let io = SocketIo { socket: socket.and_then(|(id, _)| region.socket(id)), group };
                let Driven { actor, thread, .. } = &self.actors[actor];
                actor.count_socket(region.switches(class), &io, *bytes);
                let io = Io { file: None, socket: socket.map(|(_, key)| key), group: group as usize };
                self.model.count_socket(*thread, key, io, *bytes);
            }
            Step::Attach { user, host, background, slotless } => self.attach(*user, *host, *background, *slotless),
            Step::Detach { actor } => {
                let Some(at) = choose(&self.actors, *actor) else { return };
                self.actors[at].actor.detach();
                self.model.detach(self.actors[at].thread);
            }
            Step::Vanish { actor } => {
                let Some(at) = choose(&self.actors, *actor) else { return };
                let gone = self.actors.remove(at);
                gone.actor.detach();
                self.model.detach(gone.thread);
            }
            Step::Begin { actor, class, what, concurrent } => {
                let (Some(at), Some(class)) = (choose(&self.actors, *actor), self.choose_class(*class, is_wait)) else { return };
                if self.actors[at].waits.len() < DEPTH {
                    self.begin(at, class, what, *concurrent, None);
                }
            }
            Step::End { actor, which, held, amount } => {
                let Some(at) = choose(&self.actors, *actor) else { return };
                if let Some(which) = choose(&self.actors[at].waits, *which) {
                    self.end(at, which, *held, amount.map(|amount| AMOUNTS[amount]));
                }
            }
            Step::Chain { actor, class, what } => {
                let (Some(at), Some(class)) = (choose(&self.actors, *actor), self.choose_class(*class, is_wait)) else { return };
                let ended = innermost(&self.actors[at].waits);
                if let Some(ended) = ended.filter(|ended| self.model.ends_as_it_began(self.actors[at].thread, *ended)) {
                    self.begin(at, class, what, false, Some(ended));
                }
            }
            Step::Burst { actor, class, what, count } => {
                let (Some(at), Some(class)) = (choose(&self.actors, *actor), self.choose_class(*class, is_wait)) else { return };
                for _ in 0..*count {
                    self.begin(at, class, what, false, None);
                    self.end(at, self.actors[at].waits.len() - 1, 0, None);
                }
            }
            Step::BeginStage { actor, class, source } => {
                let (Some(at), Some(class)) = (choose(&self.actors, *actor), self.choose_class(*class, is_stage)) else { return };
                self.begin_stage(at, class, *source);
            }
            Step::EndStage { actor, which } => {
                let Some(at) = choose(&self.actors, *actor) else { return };
                self.end_stage(at, which);
            }
            Step::Progress { actor, more, estimated } => {
                let Some(at) = choose(&self.actors, *actor) else { return };
                let (more, estimated) = (UNITS[*more], UNITS[*estimated]);
                let Driven { actor, thread, .. } = &self.actors[at];
                let mut before = None;
                actor.change_stage_progress(|progress| {
                    before = Some([progress.completed, progress.estimated]);
                    *progress = StageProgress { completed: progress.completed.saturating_add(more), estimated };
                });
                assert_eq!(before, self.model.change_progress(*thread, more, estimated), "progress before");
            }
            Step::BeginStatement { actor, class, text, schema, source } => {
                let (Some(at), Some(class)) = (choose(&self.actors, *actor), self.choose_class(*class, is_statement)) else {
                    return;
                };
                if self.actors[at].statements.len() < DEPTH {
                    self.begin_statement(at, class, SQL_TEXTS[*text], SCHEMAS[*schema], *source);
                }
            }
            Step::ChangeStatement { actor, which, figure: number, by } => {
                let Some(at) = choose(&self.actors, *actor) else { return };
                let Driven { actor, thread, statements, .. } = &mut self.actors[at];
                let Some(which) = choose(statements, *which) else { return };
                let statement = &mut statements[which];
                actor.change_statement(statement, |statistics| {
                    let figure = figure(statistics, *number);
                    *figure = figure.wrapping_add(FIGURES[*by]);
                });
                self.model.change_statement(*thread, which, *number, FIGURES[*by]);
            }
            Step::EndStatement { actor, which, error } => {
                let Some(at) = choose(&self.actors, *actor) else { return };
                let Driven { thread, statements, .. } = &self.actors[at];
                let which = match which {
                    Some(which) => choose(statements, *which),
                    None => statements.len().checked_sub(1),
                };
                if let Some(which) = which.filter(|which| self.model.may_end_statement(*thread, *which)) {
                    self.end_statement(at, which, *error);
                }
            }
            Step::BeginTransaction { actor, read_only, level, autocommit, source } => {
                let (Some(at), Some(class)) = (choose(&self.actors, *actor), self.choose_class(0, is_transaction)) else {
                    return;
                };
                if self.actors[at].transactions.len() < DEPTH {
                    let begun = Begun {
                        read_only: *read_only,
                        isolation_level: LEVELS[*level],
                        autocommit: *autocommit,
                        ..Begun::default()
                    };
                    self.begin_transaction(at, class, begun, *source);
                }
            }
            Step::ChangeTransaction { actor, which, by, detail: number, more } => {
                let Some((at, which, by)) = self.choose_transaction(*actor, Some(*which), *by) else { return };
                let (mut transaction, key) = self.actors[at].transactions.remove(which);
                let Driven { actor, thread, .. } = &self.actors[by];
                actor.change_transaction(&mut transaction, |details| {
                    let detail = detail(details, *number);
                    *detail = detail.wrapping_add(FIGURES[*more]);
                });
                self.model.change_transaction(*thread, key, *number, FIGURES[*more]);
                self.actors[at].transactions.insert(which, (transaction, key));
            }
            Step::SetGtid { actor, which, by, gtid } => {
                let Some((at, which, by)) = self.choose_transaction(*actor, Some(*which), *by) else { return };
                let (mut transaction, key) = self.actors[at].transactions.remove(which);
                let Driven { actor, thread, .. } = &self.actors[by];
                actor.set_transaction_gtid(&mut transaction, GTIDS[*gtid]);
                self.model.set_gtid(*thread, key, GTIDS[*gtid]);
                self.actors[at].transactions.insert(which, (transaction, key));
            }
            Step::EndTransaction { actor, which, by, state } => {
                let Some((at, which, by)) = self.choose_transaction(*actor, *which, *by) else { return };
                if self.model.may_end_transaction(self.actors[by].thread, self.actors[at].transactions[which].1) {
                    self.end_transaction(at, which, by, STATES[*state]);
                }
            }
            Step::Memory { actor, class, freed, allocated } => {
                let (Some(at), Some(class)) = (choose(&self.actors, *actor), self.choose_class(*class, is_memory)) else {
                    return;
                };
                let (class, key) = self.classes[class];
                let change = match (*freed, *allocated) {
                    (None, None) => MemoryChange::default(),
                    (None, Some(bytes)) => MemoryChange::allocated(bytes),
                    (Some(bytes), None) => MemoryChange::freed(bytes),
                    (Some(from), Some(to)) => MemoryChange::resized(from, to),
                };
                let Driven { actor, thread, .. } = &self.actors[at];
                actor.count_memory(region.switches(class), class, change);
                self.model.count_memory(*thread, key, *freed, *allocated);
            }
            Step::Pass { ns } => advance(&self.clock.clock, *ns),
            Step::Back { ns } => {
                let now = self.clock.clock.ticks(TimerName::Nanosecond);
                self.clock.clock.set(TimerName::Nanosecond, now.saturating_sub(*ns));
                // The others follow.
                advance(&self.clock.clock, 0);
            }
            Step::Switch { consumer, on } => {
                let consumer = consumer % Consumer::ALL.len();
                let name = Value::Text(Consumer::ALL[consumer].name());
                let updated = self.update("setup_consumers", &[("ENABLED", yes_no(*on))], |row| row.cell(0) == name);
                assert_eq!(updated, (1, u64::from(self.model.switch(consumer, *on))));
            }
            Step::Timer { class, timer, by_update } => {
                let changed = self.model.set_timer(*class, *timer);
                let class = TIMED[*class];
                if *by_update {
                    let new = [("TIMER_NAME", Value::Text(TimerName::ALL[*timer].name()))];
                    let updated = self.update("setup_timers", &new, |row| row.cell(0) == Value::Text(class.as_str()));
                    assert_eq!(updated, (1, u64::from(changed)));
                } else {
                    region.set_event_timer(class, TimerName::ALL[*timer]);
                }
            }
            Step::Truncate { table } => {
                let table = tables::ALL[*table];
                assert_eq!(table.truncate(region), self.model.truncate(table.declaration().name));
            }
            Step::UpdateThread { thread, column, yes } => {
                let live = self.model.live_ids();
                let Some(at) = choose(&live, *thread) else { return };
                let column = ["INSTRUMENTED", "HISTORY"][*column];
                let updated = self.update("threads", &[(column, yes_no(*yes))], |row| row.cell(0) == Value::Unsigned(live[at]));
                assert_eq!(updated, (1, u64::from(self.model.update_thread(live[at], column, *yes))));
            }
            Step::InsertActor { user, host, enabled, history } => {
                let (user, host) = (USERS[*user], HOSTS[*host]);
                let values = [
                    ("USER", Value::Text(user)),
                    ("HOST", Value::Text(host)),
                    ("ENABLED", yes_no(*enabled)),
                    ("HISTORY", yes_no(*history)),
                ];
                let inserted = tables::find("setup_actors").unwrap().insert(region, &values).map_err(|error| error.errno());
                assert_eq!(inserted, self.model.insert_actor(user, host, *enabled, *history));
            }
            Step::UpdateActors { user, column, yes } => {
                let (user, column) = (USERS[*user], ["ENABLED", "HISTORY"][*column]);
                let updated = self.update("setup_actors", &[(column, yes_no(*yes))], |row| row.cell(1) == Value::Text(user));
                assert_eq!(updated, self.model.update_actors(user, column, *yes));
            }
            Step::DeleteActors { user } => {
                let user = USERS[*user];
                let deleted =
                    tables::find("setup_actors").unwrap().delete(region, &mut |row: &dyn Row| row.cell(1) == Value::Text(user));
                assert_eq!(deleted, Ok(self.model.delete_actors(user)));
            }
            Step::FlushStatus => {
                region.flush_status();
                self.model.flush_status();
            }
            Step::EnableEverything => {
                region.enable_everything();
                self.model.enable_everything();
            }
            Step::Compare => self.compare(),
        }
    }

    /// One of the classes whose names are so.
    fn choose_class(&self, number: usize, is: fn(&str) -> bool) -> Option<usize> {
        let is = |at: &usize| is(self.region.class_name(self.classes[*at].0).as_str());
        let chosen: Vec<usize> = (0..self.classes.len()).filter(is).collect();
        choose(&chosen, number).map(|at| chosen[at])
    }

    /// UPDATE: rows matched, rows changed.
    fn update(&self, table: &str, new: &[(&str, Value<'_>)], of: impl Fn(&dyn Row) -> bool) -> (u64, u64) {
        let updated = tables::find(table).unwrap().update(self.region, &mut |row| of(row), new).unwrap();
        (updated.matched, updated.changed)
    }
}

fn class_is(region: &Region<'_>, class: Class, prefix: &str) -> bool {
    region.class_name(class).as_str().starts_with(prefix)
}

/// Three lines of this file, each where a thread remembers it beside the others.
fn sources() -> [&'static Location<'static>; 3] {
    static SOURCES: [Location<'static>; 3] = {
        let first = *Location::caller();
        let second = *Location::caller();
        let third = *Location::caller();
        [first, second, third]
    };
    SOURCES.each_ref()
}

fn run(config: Config, program: &[Step]) {
    let words = common::words(config.words());
    let clock = CountingClock::default();
    let identity = Identity { pid: 1, program: "model", ..Default::default() };
    let region = Region::create(&words, &config, &identity, &clock.clock.timers()).unwrap();
    let reader = Region::open(&words).unwrap();
    let mut both = Both {
        region: &region,
        reader: &reader,
        clock: &clock,
        model: Naive::new(config),
        classes: Vec::new(),
        instances: Vec::new(),
        handles: Vec::new(),
        handles_made: 0,
        sockets: Vec::new(),
        actors: Vec::new(),
        stages: Vec::new(),
    };
    for step in program {
        both.step(step);
    }
    both.compare();
    both.keys_are_unique();
    // What was open ends, and everybody goes.
    for at in 0..both.actors.len() {
        loop {
            let Driven { thread, waits, statements, transactions, .. } = &both.actors[at];
            let wait = waits.len().checked_sub(1).filter(|last| both.model.ends_as_it_began(*thread, *last));
            let statement = statements.len().checked_sub(1).filter(|last| both.model.may_end_statement(*thread, *last));
            let transaction = transactions.len().checked_sub(1);
            let transaction = transaction.filter(|last| both.model.may_end_transaction(*thread, transactions[*last].1));
            match (wait, statement, transaction) {
                (Some(last), ..) => both.end(at, last, 0, Some(1)),
                (None, Some(last), _) => both.end_statement(at, last, 1),
                (None, None, Some(last)) => both.end_transaction(at, last, at, TransactionState::Committed),
                (None, None, None) => break,
            }
        }
        let Driven { waits, statements, transactions, .. } = &both.actors[at];
        assert!(waits.is_empty() && statements.is_empty() && transactions.is_empty(), "something never ends");
        both.end_stage(at, &Ending::Any);
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
        cases: asked.unwrap_or(5_000),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..ProptestConfig::default()
    }
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
