//! Reading while somebody writes: how fast tables are read, whether a row is ever torn, and what writers lose by it.

use crate::cores::{on_core, there_and_back};
use crate::report::{Aim, Cost, Row, Target, median};
use perfschema_core::{
    Actor, ActorIdentity, Class, Config, Held, Identity, InstrumentName, IoEvent, Operation, Region, Setting, Size,
};
use perfschema_core::{WaitCopy, WaitStart, Word, tables};
use perfschema_timer::{Clock, SystemClock, TimerName, Timers};
use std::hint::{black_box, spin_loop};
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

const ACTORS: u32 = 1000;
const RECORDS: u32 = 10;
/// Bytes of a record.
const RECORD_BYTES: f64 = 128.0;
/// Events of a writer's batch.
const BATCH: u32 = 2_000;

/// Names of its rows.
const READING: &str = "reading 1000 x 10 rows";
const SLOWED: &str = "writer slowed";
const MEMORY: &str = "memory of a region";
/// How far apart the cores of a writer and of who polls are.
const LINE: &str = "cache line";

/// Everything about reading that is wanted by its name: `rounds` decides how long it is measured.
pub(crate) fn measure(rounds: usize, wants: impl Fn(&str, &str) -> bool) -> Vec<Row> {
    let mut rows = Vec::new();
    if wants(READING, "") || wants(SLOWED, "") {
        let many: &'static Region<'static> = region(ACTORS);
        let class = register(many);
        let actors: Vec<Actor<'static>> = (0..ACTORS).map(|_| attach(many)).collect();
        for actor in &actors {
            (0..RECORDS).for_each(|number| record(many, actor, class, number.into()));
        }
        let single: &'static Region<'static> = region(1);
        let single_class = register(single);
        let only = attach(single);
        rows.extend(decode(many, &actors[0], class, rounds));
        rows.push(slowed("by a reader that scans", 1.01, many, &actors[0], class, rounds, || ()));
        let mut line = Vec::new();
        let look = || line.push(there_and_back());
        rows.push(slowed("by one that polls a single row", 1.10, single, &only, single_class, rounds, look));
        let (variant, cost) = ("to another core and back".to_owned(), Some(Cost::of(&mut line)));
        rows.push(Row { name: LINE, variant, threads: 2, cost, ..Row::default() });
    }
    if wants(MEMORY, "") {
        rows.extend(memory());
    }
    rows
}

/// A region of so many actors, everything on. Its memory is never given back.
fn region(actors: u32) -> &'static Region<'static> {
    let config = Config::DEFAULT.with(Size::MaxThreadInstances, actors).with(Size::EventsWaitsHistorySize, RECORDS);
    let words: &'static [Word] = (0..config.words()).map(|_| Word::new(0)).collect::<Vec<_>>().leak();
    let region = Region::create(words, &config, &Identity::default(), &Timers::calibrate());
    let region: &'static Region<'static> = Box::leak(Box::new(region.expect("the words are zero and enough")));
    region.enable_everything();
    region
}

fn register(region: &Region<'_>) -> Class {
    let name = InstrumentName::literal("wait/synch/mutex/bench/read");
    let class = region.register(name, Setting::ON).expect("there is room for one instrument");
    region.set_setting(class, Setting::ON);
    class
}

fn attach(region: &'static Region<'static>) -> Actor<'static> {
    Actor::attach(region, &ActorIdentity { name: "thread/bench/writer", ..ActorIdentity::default() })
}

/// Records an event in which one column follows from another.
fn record(region: &Region<'_>, actor: &Actor<'_>, class: Class, number: u64) {
    let start = WaitStart {
        operation: Operation::Lock,
        object: number,
        source: Some(Location::caller()),
        amount: amount_of(number),
        io: IoEvent::None,
    };
    let wait = actor.begin(&SystemClock, region.switches(class), class, &start);
    actor.end(&SystemClock, wait, Held::None);
}

/// Never 0, which would be none.
fn amount_of(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33 | 1
}

/// Reads the history of all actors, rows with names and source lines, and counts them. Says how many of them are torn.
fn scan(region: &Region<'_>, read: &AtomicU64) -> u64 {
    let mut torn = 0;
    region.scan(&tables::EventsWaitsHistory, |row| {
        torn += u64::from(!is_whole(row));
        // Relaxed: a count.
        read.fetch_add(1, Ordering::Relaxed);
    });
    torn
}

fn is_whole(row: &tables::EventsWaitsRow) -> bool {
    let numbers = row.spins.map(u64::from) == Some(amount_of(row.object_instance_begin));
    let named =
        row.event_name.as_str().ends_with("read") && row.source.as_ref().is_some_and(|source| !source.as_str().is_empty());
    numbers && named
}

/// How long it takes to read all rows while one actor's owner writes, and how that compares with copying the bytes.
fn decode(region: &'static Region<'static>, actor: &Actor<'static>, class: Class, rounds: usize) -> Vec<Row> {
    let hz = Timers::calibrate().get(TimerName::Cycle).frequency_hz as f64;
    let (mut scans, mut snapshots, mut copies) = (Vec::new(), Vec::new(), Vec::new());
    let mut torn = 0;
    let mut waits = vec![WaitCopy::default(); region.wait_places()];
    let source = vec![1_u8; (f64::from(ACTORS * RECORDS) * RECORD_BYTES) as usize];
    let mut target = source.clone();
    while_written(region, actor, class, || {
        for _ in 0..rounds {
            scans.push(seconds(hz, || torn += scan(region, &AtomicU64::new(0))));
            snapshots.push(seconds(hz, || {
                let copied = region.copy_waits(black_box(&mut waits));
                // A row that the writer is at is one that changed.
                assert!(copied.rows + copied.changed >= u64::from(ACTORS * RECORDS), "{copied:?}");
            }));
            torn += waits
                .iter()
                .filter_map(|wait| wait.row(region))
                .filter(|row| row.end_event_id.is_some() && !is_whole(row))
                .count() as u64;
            copies.push(seconds(hz, || black_box(&mut target).copy_from_slice(black_box(&source))));
        }
    });
    scans.sort_by(f64::total_cmp);
    snapshots.sort_by(f64::total_cmp);
    copies.sort_by(f64::total_cmp);
    let bytes = f64::from(ACTORS * RECORDS) * RECORD_BYTES;
    let figure = |variant: &str, threads, measured, unit, target| Row {
        name: READING,
        variant: variant.to_owned(),
        threads,
        aim: Some(Aim { measured, unit, target }),
        ..Row::default()
    };
    let (scan_time, snapshot_time, copy_time) = (median(&scans), median(&snapshots), median(&copies));
    vec![
        figure("decoded while written", 2, scan_time * 1e3, "ms", Some(Target::AtMost(3.0))),
        figure("copied while written", 2, bytes / snapshot_time / 1e9, "GB/s of records", Some(Target::AtLeast(10.0))),
        figure("copied while written", 2, copy_time / snapshot_time, "x memcpy of as many", Some(Target::AtLeast(0.4))),
        figure("memcpy of as many bytes", 2, bytes / copy_time / 1e9, "GB/s", None),
        figure("torn rows", 2, torn as f64, "rows", Some(Target::AtMost(0.0))),
    ]
}

fn seconds(hz: f64, work: impl FnOnce()) -> f64 {
    let start = SystemClock.ticks(TimerName::Cycle);
    work();
    SystemClock.ticks(TimerName::Cycle).saturating_sub(start) as f64 / hz
}

/// Says so when it is dropped.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        // Relaxed: the scope's end hands everything over.
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does something while another thread records without a pause.
fn while_written(region: &'static Region<'static>, actor: &Actor<'static>, class: Class, read: impl FnOnce() + Send) {
    let done = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // Also when a reader's assertion fails.
            let _done = Done(done);
            on_core(1, read);
        });
        on_core(0, || {
            for number in 0.. {
                record(region, actor, class, number);
                if number % 1024 == 0 && done.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
    });
}

/// What a writer's event costs while somebody reads, over what it costs while nobody does. The reader is there all through a round, and waits
/// first. `before` is called before each round, while both cores are free.
fn slowed(
    variant: &str,
    limit: f64,
    region: &'static Region<'static>,
    actor: &Actor<'static>,
    class: Class,
    rounds: usize,
    mut before: impl FnMut(),
) -> Row {
    const REST: usize = 0;
    const READ: usize = 1;
    const END: usize = 2;
    let (wanted, read) = (&AtomicUsize::new(REST), &AtomicU64::new(0));
    // Batches during which so many rows were read: without them, the reader had no core.
    let batches = |least: u64| -> Vec<f64> {
        let batch = |_| {
            let (rows, start) = (read.load(Ordering::Relaxed), SystemClock.ticks(TimerName::Cycle));
            (0..BATCH).for_each(|number| record(region, actor, class, number.into()));
            let cycles = SystemClock.ticks(TimerName::Cycle).saturating_sub(start) as f64 / f64::from(BATCH);
            (read.load(Ordering::Relaxed) - rows >= least).then_some(cycles)
        };
        (0..100).filter_map(batch).collect()
    };
    let (mut undisturbed, mut disturbed) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        before();
        std::thread::scope(|scope| {
            let reader = || {
                loop {
                    match wanted.load(Ordering::Relaxed) {
                        READ => _ = black_box(scan(region, read)),
                        END => break,
                        _ => spin_loop(),
                    }
                }
            };
            wanted.store(REST, Ordering::Relaxed);
            scope.spawn(move || on_core(1, reader));
            on_core(0, || {
                for (state, least, cycles) in [(REST, 0, &mut undisturbed), (READ, 1, &mut disturbed)] {
                    wanted.store(state, Ordering::Relaxed);
                    cycles.append(&mut batches(least));
                }
            });
            wanted.store(END, Ordering::Relaxed);
        });
    }
    let (undisturbed, disturbed) = (Cost::of(&mut undisturbed), Cost::of(&mut disturbed));
    let aim = Aim { measured: disturbed.median / undisturbed.median, unit: "x undisturbed", target: Some(Target::AtMost(limit)) };
    Row { name: SLOWED, variant: variant.to_owned(), threads: 2, cost: Some(disturbed), aim: Some(aim), ..Row::default() }
}

/// Regions of a server with 1000 threads and 10 000 rows of long history.
fn memory() -> [Row; 4] {
    let all = Config::DEFAULT.with(Size::MaxThreadInstances, 1000);
    let without = |config: Config, sizes: &[Size]| sizes.iter().fold(config, |config, &size| config.with(size, 0));
    let io = [Size::MaxFileClasses, Size::MaxFileInstances, Size::MaxSocketClasses, Size::MaxSocketInstances];
    let others = [
        Size::MaxMemoryClasses,
        Size::MaxStageClasses,
        Size::EventsStagesHistoryLongSize,
        Size::MaxStatementClasses,
        Size::EventsStatementsHistoryLongSize,
        Size::MaxTransactionClasses,
        Size::EventsTransactionsHistoryLongSize,
        Size::DigestsSize,
        Size::MaxMetrics,
    ];
    let locks = without(without(all, &io), &others);
    let pools = [
        Size::MaxWaitHistograms,
        Size::MaxMutexInstances,
        Size::MaxRwlockInstances,
        Size::MaxCondInstances,
        Size::MaxSynchInstances,
    ];
    let fewer = pools.into_iter().fold(locks, |config, size| config.with(size, config.get(size) / 4));
    let row = |variant: &str, config: Config, target| {
        let measured = config.size_bytes() as f64 / f64::from(1 << 20);
        let aim = Aim { measured, unit: "MiB", target };
        Row { name: MEMORY, variant: variant.to_owned(), aim: Some(aim), ..Row::default() }
    };
    [
        row("256 classes of locks, 1000 threads", locks, Some(Target::AtMost(32.0))),
        row("the same with a quarter of the locks and of the histograms", fewer, Some(Target::AtMost(32.0))),
        row("the same without histograms", without(locks, &[Size::MaxWaitHistograms]), None),
        row("and all others: files, sockets, stages, statements, transactions, memory, metrics", all, None),
    ]
}
