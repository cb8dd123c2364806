//! Locks that threads use for the first time while others do so with theirs, or with the same one: each use counts.
#![cfg(feature = "instrument")]

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
    ];
    let process = used.into_iter().fold(builder, |builder, (size, value)| builder.size(size, value)).start().unwrap();

    let of_all: Vec<_> = instruments(&ALL, "all").iter().map(|instrument| Mutex::with_instrument(instrument, ())).collect();
    let barrier = Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        for (thread, own) in OWN.iter().enumerate() {
            let (barrier, of_all) = (&barrier, &of_all);
            scope.spawn(move || {
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
}
