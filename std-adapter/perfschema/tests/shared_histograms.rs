//! More threads than have a slot, and more instruments than have histograms: every wait is in one.
#![cfg(feature = "instrument")]

use perfschema::sync::Mutex;
use perfschema::{Size, tables};
use std::collections::BTreeMap;
use std::sync::Barrier;

static LOCKS: [Mutex<u64>; 3] = [
    perfschema::mutex!("wait/synch/mutex/test/A", 0),
    perfschema::mutex!("wait/synch/mutex/test/B", 0),
    perfschema::mutex!("wait/synch/mutex/test/C", 0),
];

#[test]
fn all_waits_are_in_the_histogram() {
    const THREADS: u64 = 12;
    let times: u64 = if cfg!(miri) { 3 } else { 2000 };
    let builder = perfschema::builder().everything(true).environment(false);
    let process = builder.size(Size::MaxThreadInstances, 6).size(Size::MaxWaitHistograms, 4).start().unwrap();
    let all_are_there = Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..times {
                    LOCKS.iter().for_each(|lock| *lock.lock().unwrap() += 1);
                }
                // So no slot goes to a second thread.
                all_are_there.wait();
            });
        }
    });
    let mut counts = BTreeMap::new();
    process.region().scan(&tables::EventsWaitsHistogramByEventName, |row| {
        *counts.entry(row.event_name.as_str().to_owned()).or_insert(0) += row.count_bucket;
    });
    let expected = ["A", "B", "C"].map(|name| (format!("wait/synch/mutex/test/{name}"), THREADS * times));
    assert_eq!(counts.into_iter().filter(|(_, count)| *count > 0).collect::<Vec<_>>(), expected);
    process.region().scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| {
        assert!(row.count_star == 0 || row.quantile_95 > 0, "{row:?}");
    });
}
