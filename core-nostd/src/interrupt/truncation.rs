//! TRUNCATE in the middle of TRUNCATE, and of events.

use super::*;

/// TRUNCATE, of a handler, in the middle of TRUNCATE and of an event, where several levels write the same numbers: what is in use stays
/// right, what one has taken off the other does not take off again, and no minimum is left above the maximum.
#[test]
fn a_truncation_at_every_step_of_another_and_of_an_event() {
    const SHARED: Config = Config::EMPTY
        .with(Size::MaxMutexClasses, 1)
        .with(Size::MaxMemoryClasses, 1)
        .with(Size::MaxThreadInstances, 1)
        .with(Size::MaxWaitHistograms, 1);
    let region = region_of(&SHARED);
    region.set_wait_timer(TimerName::Nanosecond);
    let [lock, heap] = [CLASS.as_str(), "memory/test/interrupted"]
        .map(|name| region.register(InstrumentName::new(name).unwrap(), Setting::ON).unwrap());
    region.enable_everything();
    let shared = Actor::without_slot(region);
    let untouched: Vec<u64> = region.words().iter().map(Word::get).collect();
    let count = move |actor: &Actor<'static>, change| actor.count_memory(region.switches(heap), heap, change);
    let wait = move |actor: &Actor<'static>, ns| {
        let wait = actor.begin(&At(0), region.switches(lock), lock, &WaitStart::new(Operation::Lock));
        actor.end(&At(ns), wait, Held::None);
    };
    let buckets = || {
        let mut buckets = 0;
        region.scan(&tables::EventsWaitsHistogramByEventName, |row| buckets += row.count_bucket);
        buckets
    };
    let truncate = || {
        let tables: [&dyn crate::table::Table; 3] = [
            &tables::MemorySummaryGlobalByEventName,
            &tables::EventsWaitsSummaryGlobalByEventName,
            &tables::EventsWaitsHistogramByEventName,
        ];
        tables.iter().for_each(|table| table.truncate(region).expect("it can be"));
    };
    for records in [false, true] {
        for at in 0.. {
            region.words().iter().zip(&untouched).for_each(|(word, value)| word.set(*value));
            // One has a histogram; the others share their sums.
            let alone = Rc::new(Actor::attach(region, &ActorIdentity::default()));
            for change in [MemoryChange::allocated(10), MemoryChange::resized(10, 17), MemoryChange::allocated(5)] {
                count(&shared, change);
            }
            wait(&alone, 1_000);
            let owner = Rc::clone(&alone);
            let main = || {
                if records {
                    [&shared, &owner].into_iter().for_each(|actor| wait(actor, 9_000));
                    count(&shared, MemoryChange::allocated(100));
                } else {
                    truncate();
                }
            };
            let interrupt = move || {
                if !records {
                    wait(&alone, 1_000);
                }
                truncate();
            };
            let steps = interrupted(main, &[(at, Rc::new(interrupt))]);
            let bytes = region.memory_summary_by_event_name(heap).bytes;
            assert_eq!(bytes.current(), if records { 122 } else { 22 }, "{bytes:?} at {at}, {records}");
            let waits = region.summary_by_event_name(lock);
            assert!(waits.min_ps <= waits.max_ps, "{waits:?} at {at}, {records}");
            // What comes later counts in full.
            for change in [MemoryChange::allocated(1_000), MemoryChange::freed(1_000)] {
                count(&shared, change);
            }
            let later = region.memory_summary_by_event_name(heap).bytes;
            if !records {
                assert_eq!((bytes.allocated, bytes.freed), (22, 0), "{bytes:?} at {at}");
                assert_eq!((later.allocated, later.freed), (1_022, 1_000), "{later:?} at {at}");
                assert_eq!(buckets(), 0, "at {at}");
            }
            let before = buckets();
            [1_000, 9_000].into_iter().for_each(|ns| wait(&owner, ns));
            assert_eq!(buckets(), before + 2, "at {at}, {records}");
            assert_eq!(later.current(), bytes.current(), "{later:?} at {at}, {records}");
            if steps[0] <= at {
                break;
            }
        }
    }
}
