//! Locks and metrics that threads use for the first time while others do so with theirs, or with the same one: each use counts, but for what
//! is off.
#![cfg(feature = "instrument")]

use perfschema::metric::{Counter, Gauge, MonitorCommand, now};
use perfschema::sync::Mutex;
use perfschema::{Instrument, Size, tables};
use std::sync::{Barrier, OnceLock};

const THREADS: u32 = 4;
const ROUNDS: u32 = if cfg!(miri) { 2 } else { 200 };

/// An instrument for all threads, or for one of them, in each round.
fn instruments(of: &'static OnceLock<Vec<Instrument>>, who: &str) -> &'static [Instrument] {
    let name = |round| format!("wait/synch/mutex/{who}/{round}").leak();
    of.get_or_init(|| (0..ROUNDS).map(|round| Instrument::new(name(round))).collect())
}

static COUNTED: Counter = perfschema::counter!("counted", "test", "", enabled);
static GAUGED: Gauge = perfschema::gauge!("gauged", "test", "", enabled);
static OFF: [Gauge; 4] = [
    perfschema::gauge!("off_0", "test", ""),
    perfschema::gauge!("off_1", "test", ""),
    perfschema::gauge!("off_2", "test", ""),
    perfschema::gauge!("off_3", "test", ""),
];

#[test]
fn a_first_use_counts_whatever_is_used_first_at_that_moment() {
    static ALL: OnceLock<Vec<Instrument>> = OnceLock::new();
    static OWN: [OnceLock<Vec<Instrument>>; THREADS as usize] = [const { OnceLock::new() }; THREADS as usize];
    // What is not used here has no room, which Miri would look through.
    let builder =
        Size::ALL.iter().fold(perfschema::builder().everything(true).environment(false), |builder, &size| builder.size(size, 0));
    let instruments_used = (THREADS + 1) * ROUNDS;
    let used = [
        (Size::MaxMutexClasses, instruments_used),
        (Size::MaxMutexInstances, instruments_used),
        (Size::MaxThreadInstances, THREADS + 1),
        (Size::MaxMetrics, 8),
    ];
    let process = used.into_iter().fold(builder, |builder, (size, value)| builder.size(size, value)).start().unwrap();

    let of_all: Vec<_> = instruments(&ALL, "all").iter().map(|instrument| Mutex::with_instrument(instrument, ())).collect();
    let barrier = Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        for (thread, own) in OWN.iter().enumerate() {
            let (barrier, of_all) = (&barrier, &of_all);
            scope.spawn(move || {
                barrier.wait();
                COUNTED.inc();
                GAUGED.add(2);
                // From another one on in each thread: so that one has just made known what another one finds.
                (0..OFF.len()).for_each(|index| OFF[(index + thread) % OFF.len()].add(1));
                for (instrument, of_all) in instruments(own, &format!("own{thread}")).iter().zip(of_all) {
                    let own = Mutex::with_instrument(instrument, ());
                    barrier.wait();
                    drop(own.lock());
                    drop(of_all.lock());
                }
            });
        }
    });

    let mut counts = Vec::new();
    process.region().scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| {
        counts.push((row.event_name.to_string(), row.count_star));
    });
    for (who, instruments, expected) in [("all", ROUNDS, u64::from(THREADS)), ("own", THREADS * ROUNDS, 1)] {
        let of_these: Vec<_> = counts.iter().filter(|(name, _)| name.starts_with(&format!("wait/synch/mutex/{who}"))).collect();
        assert_eq!(of_these.len(), instruments as usize, "{counts:?}");
        let others: Vec<_> = of_these.into_iter().filter(|(_, count)| *count != expected).collect();
        assert!(others.is_empty(), "{expected} are expected: {others:?}");
    }

    process.region().monitor(MonitorCommand::Enable, "off%", now(), |_| ()).unwrap();
    let mut metrics = Vec::new();
    process.region().scan(&tables::InnodbMetrics::NOW, |row| {
        if row.subsystem == "test" {
            metrics.push((row.name.to_string(), row.count));
        }
    });
    metrics.sort();
    let all = i64::from(THREADS);
    let expected = [("counted", all), ("gauged", 2 * all), ("off_0", 0), ("off_1", 0), ("off_2", 0), ("off_3", 0)];
    assert_eq!(metrics, expected.map(|(name, count)| (name.to_owned(), count)));
}
