//! Instances: made, destroyed and made again while others look, by the protocol of the slots; their sums by that of the summaries,
//! with the instrumented lock handing the words from holder to holder.
#![cfg(perfschema_loom)]

use perfschema_core::model::{Memory, Mutex, Watch, class, mutex, record_alone};
use perfschema_core::{Config, InstrumentName, Setting, Size};
use perfschema_loom_tests::{Model, Seen, either};
use std::sync::Arc;

const CONFIG: Config = Config::EMPTY.with(Size::MaxMutexClasses, 2).with(Size::MaxMutexInstances, 1);

fn memory(watch: &[Watch]) -> Arc<Memory> {
    let memory = Memory::with_region(&CONFIG, watch);
    for name in ["wait/synch/mutex/app/A", "wait/synch/mutex/app/B"] {
        let name = InstrumentName::new(name).expect("a good name");
        memory.region().register(name, Setting::ON).expect("there is room");
    }
    Arc::new(memory)
}

/// The locks of class 0 are at 100, those of class 1 at 200.
fn check(found: Mutex, seen: &Seen) {
    seen.note(match found {
        Mutex::None => "none",
        Mutex::Changed => "changed",
        Mutex::Live(0, 100, _) => "first",
        Mutex::Live(1, 200, _) => "second",
        mixed => panic!("one lock mixed with another: {mixed:?}"),
    });
}

#[test]
fn an_instance_is_one_lock() {
    Model { name: "instance: reuse", preemptions: None, least: 100, outcomes: &["none", "changed", "first", "second"] }.explore(
        |swap, seen| {
            let memory = memory(&[Watch::Instances]);
            let (owner, reader, seen) = (memory.clone(), memory, seen.clone());
            either(
                swap,
                move || {
                    let region = owner.region();
                    let first = region.create_instance(class(0), 100).expect("there is room");
                    region.destroy_instance(first);
                    region.create_instance(class(1), 200).expect("there is room again");
                },
                move || check(mutex(&reader.region()), &seen),
            );
        },
    );
}

/// One thread gives the place back, and another takes it: the fence of the one does not serve the other.
#[test]
fn an_instance_is_one_lock_whoever_makes_it() {
    Model {
        name: "instance: reuse by another thread",
        preemptions: Some(2),
        least: 100,
        outcomes: &["none", "changed", "first", "second", "made", "not made"],
    }
    .explore(|swap, seen| {
        let memory = memory(&[Watch::Instances]);
        let first = memory.region().create_instance(class(0), 100).expect("there is room");
        let reader = {
            let (memory, seen) = (memory.clone(), seen.clone());
            loom::thread::spawn(move || check(mutex(&memory.region()), &seen))
        };
        let (destroyer, creator, noted) = (memory.clone(), memory.clone(), seen.clone());
        either(
            swap,
            move || destroyer.region().destroy_instance(first),
            move || {
                let made = creator.region().create_instance(class(1), 200).is_some();
                noted.note(if made { "made" } else { "not made" });
            },
        );
        reader.join().expect("a model's thread does not panic");
    });
}

#[test]
fn the_next_lock_starts_at_zero() {
    Model {
        name: "instance: sums at reuse",
        preemptions: Some(2),
        least: 100,
        outcomes: &["none", "changed", "first at zero", "first", "second at zero", "second"],
    }
    .explore(|swap, seen| {
        let memory = memory(&[Watch::Instances, Watch::InstanceSums]);
        let (owner, reader, seen) = (memory.clone(), memory, seen.clone());
        either(
            swap,
            move || {
                let region = owner.region();
                for (index, address, wait) in [(0, 100, 10), (1, 200, 20)] {
                    let id = region.create_instance(class(index), address).expect("there is room");
                    record_alone(&region.instance(id).expect("it was just made"), wait);
                    if index == 0 {
                        region.destroy_instance(id);
                    }
                }
            },
            move || {
                seen.note(match mutex(&reader.region()) {
                    Mutex::None => "none",
                    Mutex::Changed => "changed",
                    Mutex::Live(_, address, sum) => match (address, sum.count, sum.sum_ps) {
                        (100, 0, 0) => "first at zero",
                        (100, 1, 10) => "first",
                        (200, 0, 0) => "second at zero",
                        (200, 1, 20) => "second",
                        mixed => panic!("torn, or one lock with the sums of another: {mixed:?}"),
                    },
                });
            },
        );
    });
}

#[test]
fn holders_lose_nothing() {
    Model {
        name: "instance: two holders, reader",
        preemptions: Some(2),
        least: 100,
        outcomes: &["none", "changed", "A", "B", "both"],
    }
    .explore(|swap, seen| {
        let memory = memory(&[Watch::InstanceSums]);
        let id = memory.region().create_instance(class(0), 100).expect("there is room");
        let lock = Arc::new(loom::sync::Mutex::new(()));
        let reader = {
            let (memory, seen) = (memory.clone(), seen.clone());
            loom::thread::spawn(move || {
                seen.note(match mutex(&memory.region()) {
                    Mutex::None => panic!("it lives"),
                    Mutex::Changed => "changed",
                    Mutex::Live(_, _, sum) => match (sum.count, sum.sum_ps) {
                        (0, 0) => "none",
                        (1, 10) => "A",
                        (1, 100) => "B",
                        (2, 110) => "both",
                        torn => panic!("torn: {torn:?}"),
                    },
                });
            })
        };
        let run = |wait| {
            let (memory, lock) = (memory.clone(), lock.clone());
            move || {
                let region = memory.region();
                let instance = region.instance(id).expect("the only one");
                let held = lock.lock().unwrap();
                record_alone(&instance, wait);
                drop(held);
            }
        };
        either(swap, run(10), run(100));
        reader.join().expect("a model's thread does not panic");
        let Mutex::Live(_, _, sum) = mutex(&memory.region()) else { panic!("it lives") };
        assert_eq!((sum.count, sum.sum_ps), (2, 110));
    });
}

/// A search that finds nothing marks the pool as full. A place that is given back at that moment is found by the next search.
#[test]
fn a_free_place_is_found_again() {
    const TWO: Config = Config::EMPTY.with(Size::MaxMutexClasses, 1).with(Size::MaxMutexInstances, 2);
    Model { name: "instance: full", preemptions: Some(3), least: 10, outcomes: &["at once", "later"] }.explore(|swap, seen| {
        let memory = Memory::with_region(&TWO, &[Watch::Instances, Watch::InstanceHints]);
        let region = memory.region();
        region.register(InstrumentName::literal("wait/synch/mutex/app/A"), Setting::ON).expect("there is room");
        let create = |region: &perfschema_core::Region<'_>| region.create_instance(class(0), 100);
        let (first, second) = (create(&region).expect("two places"), create(&region).expect("two places"));
        // The search now starts at the second place, which is also the one that is given back.
        region.destroy_instance(first);
        create(&region).expect("it was given back");
        let memory = Arc::new(memory);
        let (destroyer, creator) = (memory.clone(), memory.clone());
        let found = Arc::new(std::sync::Mutex::new(false));
        let noted = found.clone();
        either(
            swap,
            move || destroyer.region().destroy_instance(second),
            move || *noted.lock().unwrap() = creator.region().create_instance(class(0), 200).is_some(),
        );
        if *found.lock().unwrap() {
            seen.note("at once");
        } else {
            assert!(create(&memory.region()).is_some(), "one place is free, and nobody looks there any more");
            seen.note("later");
        }
    });
}

/// Who has given two places back finds one, whoever else looks for one meanwhile.
#[test]
fn who_gives_back_finds_again() {
    const TWO: Config = Config::EMPTY.with(Size::MaxMutexClasses, 1).with(Size::MaxMutexInstances, 2);
    Model { name: "instance: given back", preemptions: Some(3), least: 100, outcomes: &["both", "one"] }.explore(|swap, seen| {
        let memory = Memory::with_region(&TWO, &[Watch::Instances, Watch::InstanceHints]);
        let region = memory.region();
        region.register(InstrumentName::literal("wait/synch/mutex/app/A"), Setting::ON).expect("there is room");
        let create = |region: &perfschema_core::Region<'_>| region.create_instance(class(0), 100);
        let places = [(); 2].map(|()| create(&region).expect("two places"));
        let memory = Arc::new(memory);
        let (gives_back, other) = (memory.clone(), memory.clone());
        let found = Arc::new(std::sync::Mutex::new(false));
        let noted = found.clone();
        either(
            swap,
            move || {
                let region = gives_back.region();
                places.into_iter().for_each(|place| region.destroy_instance(place));
                assert!(create(&region).is_some(), "one place is free, and no more than one was taken");
            },
            move || *noted.lock().unwrap() = other.region().create_instance(class(0), 200).is_some(),
        );
        seen.note(if *found.lock().unwrap() { "both" } else { "one" });
    });
}
