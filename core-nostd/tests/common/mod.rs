//! What every test here needs: a region on a clock that the test drives, and tables as text.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(missing_docs, reason = "a test's own helpers")]
#![allow(unreachable_pub, reason = "shared by several test crates")]

use perfschema_core::timer::{Clock, MockClock, TimerName};
use perfschema_core::{
    Actor, ActorIdentity, Class, Config, Held, Identity, Instance, InstanceId, InstrumentName, Lost, Now, Operation, Region,
    Setting, Size, ThreadType, Wait, WaitStart, Word, histogram, table::Sweep, tables,
};
use std::sync::Mutex;

/// Small enough that every pool can be filled, large enough that most tests do not.
pub const CONFIG: Config = Config::EMPTY
    .with(Size::MaxMutexClasses, 4)
    .with(Size::MaxRwlockClasses, 2)
    .with(Size::MaxCondClasses, 1)
    .with(Size::MaxSynchClasses, 1)
    .with(Size::MaxFileClasses, 2)
    .with(Size::MaxSocketClasses, 2)
    .with(Size::MaxStageClasses, 3)
    .with(Size::MaxStatementClasses, 2)
    .with(Size::MaxTransactionClasses, 1)
    .with(Size::MaxMemoryClasses, 2)
    .with(Size::MaxMutexInstances, 3)
    .with(Size::MaxRwlockInstances, 2)
    .with(Size::MaxCondInstances, 1)
    .with(Size::MaxSynchInstances, 1)
    .with(Size::MaxFileInstances, 3)
    .with(Size::MaxSocketInstances, 3)
    .with(Size::MaxThreadInstances, 3)
    .with(Size::EventsWaitsHistorySize, 3)
    .with(Size::EventsWaitsHistoryLongSize, 12)
    .with(Size::EventsStagesHistorySize, 2)
    .with(Size::EventsStagesHistoryLongSize, 6)
    .with(Size::EventsStatementsHistorySize, 2)
    .with(Size::EventsStatementsHistoryLongSize, 6)
    .with(Size::EventsTransactionsHistorySize, 2)
    .with(Size::EventsTransactionsHistoryLongSize, 6)
    .with(Size::MaxSqlTextLength, 32)
    .with(Size::DigestsSize, 3)
    .with(Size::MaxWaitHistograms, if cfg!(miri) { 0 } else { 6 })
    .with(Size::MaxSourceLocations, 16)
    .with(Size::SetupActorsSize, 4);

pub const MUTEX: &str = "wait/synch/mutex/test/A";
pub const OTHER: &str = "wait/synch/mutex/test/B";
pub const RWLOCK: &str = "wait/synch/rwlock/test/R";

/// A region, and the clock that its times come from.
#[derive(Clone, Copy)]
pub struct World {
    pub region: &'static Region<'static>,
    pub clock: &'static MockClock,
}

/// Keeps what tests leak reachable.
static WORLDS: Mutex<Vec<World>> = Mutex::new(Vec::new());

pub fn words(count: usize) -> Vec<Word> {
    (0..count).map(|_| Word::new(0)).collect()
}

/// The memory of a region as a file would hold it.
pub fn bytes_of(words: &[Word]) -> Vec<u8> {
    // SAFETY: a word is eight bytes without padding, and nobody writes them meanwhile: only one thread calls this.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), size_of_val(words)) }.to_vec()
}

impl World {
    /// A new region, everything off, waits timed in nanoseconds.
    pub fn off(config: &Config) -> World {
        let clock: &'static MockClock = Box::leak(Box::new(MockClock::new()));
        let words: &'static [Word] = words(config.words()).leak();
        let identity = Identity { pid: 7, program: "test", ..Default::default() };
        let region = Region::create(words, config, &identity, &clock.timers()).unwrap();
        let world = World { region: Box::leak(Box::new(region)), clock };
        WORLDS.lock().unwrap().push(world);
        world.region.set_wait_timer(TimerName::Nanosecond);
        world
    }

    /// A new region, every consumer on.
    pub fn on(config: &Config) -> World {
        let world = World::off(config);
        world.region.enable_everything();
        world
    }

    /// An instrument, enabled and timed.
    pub fn class(&self, name: &str) -> Class {
        self.region.register(InstrumentName::new(name).unwrap(), Setting::ON).unwrap()
    }

    pub fn actor(&self, name: &str) -> Actor<'static> {
        Actor::attach(self.region, &ActorIdentity { name, ..Default::default() })
    }

    /// A foreground thread.
    pub fn user(&self, user: &str, host: &str) -> Actor<'static> {
        let identity =
            ActorIdentity { name: "thread/test/user", thread_type: ThreadType::Foreground, user, host, ..Default::default() };
        Actor::attach(self.region, &identity)
    }

    pub fn begin<'r>(&self, actor: &Actor<'r>, class: Class) -> Wait<'r> {
        actor.begin(self.clock, self.region.switches(class), class, &WaitStart::new(Operation::Lock))
    }

    pub fn end(&self, actor: &Actor<'_>, wait: Wait<'_>) {
        actor.end(self.clock, wait, Held::None);
    }

    /// A wait of so many nanoseconds.
    pub fn wait(&self, actor: &Actor<'_>, class: Class, ns: u64) {
        let wait = self.begin(actor, class);
        self.pass(ns);
        self.end(actor, wait);
    }

    /// A wait of so many nanoseconds for an instance.
    pub fn wait_for(&self, actor: &Actor<'_>, class: Class, ns: u64, id: Option<InstanceId>) {
        let wait = self.begin(actor, class);
        self.pass(ns);
        let instance = id.and_then(|id| self.region.instance(id));
        actor.end(self.clock, wait, instance.as_ref().map_or(Held::None, Held::Exclusive));
    }

    pub fn instance(&self, id: InstanceId) -> Instance<'static> {
        self.region.instance(id).unwrap()
    }

    /// Time passes on all timers.
    pub fn pass(&self, ns: u64) {
        advance(self.clock, ns);
    }

    /// EVENT_IDs of a table.
    pub fn ids(&self, table: &str) -> Vec<u64> {
        self.select(table, "EVENT_ID").iter().map(|id| id.parse().expect("a number")).collect()
    }

    pub fn select(&self, table: &str, columns: &str) -> Vec<String> {
        select(&self.region.as_of(Now::At(self.clock.ticks(TimerName::Nanosecond))), table, columns)
    }

    #[track_caller]
    pub fn expect(&self, table: &str, columns: &str, rows: &[&str]) {
        assert_eq!(self.select(table, columns), rows, "{columns} of {table}");
    }

    pub fn truncate(&self, table: &str) {
        tables::find(table).unwrap().truncate(self.region).unwrap();
    }
}

/// Moves every timer by the same time. MICROSECOND and coarser move in whole units only.
pub fn advance(clock: &MockClock, ns: u64) {
    let now = clock.ticks(TimerName::Nanosecond) + ns;
    clock.set(TimerName::Nanosecond, now);
    clock.set(TimerName::Cycle, now * 5 / 2);
    clock.set(TimerName::Microsecond, now / 1_000);
    clock.set(TimerName::Millisecond, now / 1_000_000);
    clock.set(TimerName::Tick, now / 10_000_000);
}

/// `SELECT columns FROM table ORDER BY` whole rows, each row as text with a blank between two cells; `*` is all columns.
/// Checks what holds for every read of every table: the account closes, and no cell contradicts its column.
pub fn select(region: &Region<'_>, table: &str, columns: &str) -> Vec<String> {
    let table = tables::find(table).unwrap();
    let declaration = table.declaration();
    let wanted: Vec<usize> = match columns {
        "*" => (0..declaration.columns.len()).collect(),
        _ => columns.split(',').map(|name| declaration.column(name.trim()).unwrap()).collect(),
    };
    let mut rows = Vec::new();
    let sweep = table.scan(region, &mut |row| {
        for (index, column) in declaration.columns.iter().enumerate() {
            let value = row.cell(index);
            assert!(column.holds(&value), "{}.{} shows {value:?}", declaration.name, column.name);
        }
        let cells: Vec<String> = wanted.iter().map(|&index| row.cell(index).to_string()).collect();
        rows.push(cells.join(" "));
    });
    check_account(region, declaration.name, &sweep);
    assert_eq!(sweep.rows, rows.len() as u64);
    sort(&mut rows);
    rows
}

/// What a read of a table says of itself: each place that the table has became exactly one of four things.
#[track_caller]
pub fn check_account(region: &Region<'_>, table: &str, sweep: &Sweep) {
    assert_eq!(sweep.rows + sweep.free + sweep.skipped + sweep.changed, sweep.places, "{table}: {sweep:?}");
    assert_eq!(sweep.places, places(&region.config(), table).unwrap_or(sweep.rows), "{table}: {sweep:?}");
}

/// How many places a table has in a region of these sizes; None if it shows the same rows always.
fn places(config: &Config, table: &str) -> Option<u64> {
    let sum = |sizes: &[Size]| sizes.iter().map(|&size| u64::from(config.get(size))).sum::<u64>();
    let threads = sum(&[Size::MaxThreadInstances]);
    let pools = [
        Size::MaxMutexClasses,
        Size::MaxRwlockClasses,
        Size::MaxCondClasses,
        Size::MaxSynchClasses,
        Size::MaxFileClasses,
        Size::MaxSocketClasses,
    ];
    // And `idle`.
    let classes = sum(&pools) + 1;
    Some(match table {
        // Room for 6 events that run at once.
        "events_waits_current" | "events_waits_history" => threads * (sum(&[Size::EventsWaitsHistorySize]) + 6),
        // The sizes of these tests are whole chunks.
        "events_waits_history_long" => sum(&[Size::EventsWaitsHistoryLongSize]),
        "events_waits_histogram_by_event_name" => classes * histogram::BUCKET_COUNT as u64,
        "events_waits_summary_by_thread_by_event_name" => threads * classes,
        "events_waits_summary_by_instance" => {
            sum(&[Size::MaxMutexInstances, Size::MaxRwlockInstances, Size::MaxCondInstances, Size::MaxSynchInstances])
                + sum(&[Size::MaxFileInstances, Size::MaxSocketInstances])
        }
        "events_waits_summary_global_by_event_name" => classes,
        // Of stages there is one that runs.
        "events_stages_current" | "events_stages_history" => threads * (sum(&[Size::EventsStagesHistorySize]) + 1),
        "events_stages_history_long" => sum(&[Size::EventsStagesHistoryLongSize]),
        "events_stages_summary_by_thread_by_event_name" => threads * sum(&[Size::MaxStageClasses]),
        "events_stages_summary_global_by_event_name" => sum(&[Size::MaxStageClasses]),
        "events_statements_current" | "events_statements_history" => threads * (sum(&[Size::EventsStatementsHistorySize]) + 6),
        "events_statements_history_long" => sum(&[Size::EventsStatementsHistoryLongSize]),
        "events_statements_summary_by_digest" => sum(&[Size::DigestsSize]),
        "events_statements_summary_by_thread_by_event_name" => threads * sum(&[Size::MaxStatementClasses]),
        "events_statements_summary_global_by_event_name" => sum(&[Size::MaxStatementClasses]),
        "events_transactions_current" | "events_transactions_history" => {
            sum(&[Size::MaxTransactionClasses]) * threads * (sum(&[Size::EventsTransactionsHistorySize]) + 6)
        }
        "events_transactions_history_long" => sum(&[Size::EventsTransactionsHistoryLongSize]),
        // Behind the instrument there is a place for the sums of those that only read.
        "events_transactions_summary_by_thread_by_event_name" => threads * 2 * sum(&[Size::MaxTransactionClasses]),
        "events_transactions_summary_global_by_event_name" => 2 * sum(&[Size::MaxTransactionClasses]),
        "setup_instruments" => {
            classes
                + sum(&[Size::MaxStageClasses, Size::MaxStatementClasses, Size::MaxMemoryClasses])
                + 2 * sum(&[Size::MaxTransactionClasses])
        }
        "memory_summary_by_thread_by_event_name" => threads * sum(&[Size::MaxMemoryClasses]),
        "memory_summary_global_by_event_name" => sum(&[Size::MaxMemoryClasses]),
        "innodb_metrics" => Lost::ALL.len() as u64 + sum(&[Size::MaxMetrics]),
        "mutex_instances" => sum(&[Size::MaxMutexInstances]),
        "rwlock_instances" => sum(&[Size::MaxRwlockInstances]),
        "cond_instances" => sum(&[Size::MaxCondInstances]),
        "file_instances" | "file_summary_by_instance" => sum(&[Size::MaxFileInstances]),
        "file_summary_by_event_name" => sum(&[Size::MaxFileClasses]),
        "socket_instances" | "socket_summary_by_instance" => sum(&[Size::MaxSocketInstances]),
        "socket_summary_by_event_name" => sum(&[Size::MaxSocketClasses]),
        "setup_actors" => sum(&[Size::SetupActorsSize]),
        "processlist" | "threads" => threads,
        _ => return None,
    })
}

/// By their cells, those that are numbers as numbers.
pub fn sort(rows: &mut [String]) {
    rows.sort_by_cached_key(|row| row.split(' ').map(|cell| (cell.parse::<u64>().ok(), cell.to_string())).collect::<Vec<_>>());
}
