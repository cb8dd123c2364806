//! What is written once and then found by others: classes [C1] to [C3], source lines [S1], [S2], what of them a child gets [K1], [K2], the region itself [R1], [R2].
#![cfg(perfschema_loom)]

use perfschema_core::model::{Memory, Watch, intern, source_text};
use perfschema_core::{Config, InstrumentName, Region, RegionError, Setting, Size};
use perfschema_loom_tests::{Model, either};
use std::sync::{Arc, Mutex};

const ONE_CLASS: Config = Config::EMPTY.with(Size::MaxMutexClasses, 1);
const TWO_CLASSES: Config = Config::EMPTY.with(Size::MaxMutexClasses, 2);
const ONE_SOURCE: Config = Config::EMPTY.with(Size::MaxSourceLocations, 1);
const A: InstrumentName<'static> = InstrumentName::literal("wait/synch/mutex/app/A");
const B: InstrumentName<'static> = InstrumentName::literal("wait/synch/mutex/app/B");

/// What a reader finds: no class, or all of A.
fn look_for_a(region: &Region<'_>) -> &'static str {
    let Some(class) = region.classes().next() else { return "none" };
    assert_eq!(region.class_name(class), A.as_str());
    assert_eq!(region.setting(class), Setting::ON);
    "found"
}

#[test]
fn a_class_is_found_with_its_name() {
    Model { name: "publish: class", preemptions: None, least: 10, outcomes: &["none", "found"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_CLASS, &[Watch::Classes, Watch::ClassSettings]));
        let (writer, reader, seen) = (memory.clone(), memory, seen.clone());
        either(
            swap,
            move || assert!(writer.region().register(A, Setting::ON).is_ok()),
            move || {
                seen.note(look_for_a(&reader.region()));
            },
        );
    });
}

#[test]
fn two_look_for_a_class() {
    Model { name: "publish: class, two readers", preemptions: Some(3), least: 100, outcomes: &["none", "found"] }.explore(
        |_, seen| {
            let memory = Arc::new(Memory::with_region(&ONE_CLASS, &[Watch::Classes, Watch::ClassSettings]));
            let readers = [(); 2].map(|()| {
                let (memory, seen) = (memory.clone(), seen.clone());
                loom::thread::spawn(move || seen.note(look_for_a(&memory.region())))
            });
            assert!(memory.region().register(A, Setting::ON).is_ok());
            for reader in readers {
                reader.join().expect("a model's thread does not panic");
            }
        },
    );
}

#[test]
fn two_names_never_share_a_class() {
    Model { name: "publish: two names", preemptions: None, least: 4, outcomes: &["A", "B"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_CLASS, &[Watch::Classes]));
        let results = [(); 2].map(|()| Arc::new(Mutex::new(None)));
        let run = |which: usize, name| {
            let (memory, result) = (memory.clone(), results[which].clone());
            move || *result.lock().unwrap() = memory.region().register(name, Setting::ON).ok()
        };
        either(swap, run(0, A), run(1, B));
        let region = memory.region();
        match results.map(|result| *result.lock().unwrap()) {
            [Some(class), None] if region.class_name(class) == A.as_str() => seen.note("A"),
            [None, Some(class)] if region.class_name(class) == B.as_str() => seen.note("B"),
            other => panic!("two names, one place: {other:?}"),
        }
    });
}

/// Also when the first is stopped before it has written the name: the second writes it, too.
#[test]
fn one_name_is_one_class() {
    Model { name: "publish: one name twice", preemptions: Some(3), least: 4, outcomes: &["both"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_CLASS, &[Watch::Classes, Watch::ClassSettings]));
        let results = [(); 2].map(|()| Arc::new(Mutex::new(None)));
        let run = |which: usize| {
            let (memory, result) = (memory.clone(), results[which].clone());
            move || {
                let region = memory.region();
                *result.lock().unwrap() = region.register(A, Setting::ON).ok();
                // Whoever registers it has it, however far the other is.
                assert_eq!(look_for_a(&region), "found");
            }
        };
        either(swap, run(0), run(1));
        match results.map(|result| *result.lock().unwrap()) {
            [Some(a), Some(b)] => {
                assert_eq!(a, b);
                seen.note("both");
            }
            other => panic!("one name, one class: {other:?}"),
        }
        assert_eq!(memory.region().classes().count(), 1);
    });
}

/// As in a forked child, where another name takes one of the places that were forgotten.
#[test]
fn one_name_is_one_class_in_places_that_were_forgotten() {
    Model { name: "publish: forgotten", preemptions: Some(3), least: 4, outcomes: &["first", "second"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&TWO_CLASSES, &[Watch::Classes]));
        memory.forget_classes();
        let results = [(); 2].map(|()| Arc::new(Mutex::new(None)));
        let run = |which: usize, names: &'static [InstrumentName<'static>]| {
            let (memory, result) = (memory.clone(), results[which].clone());
            move || {
                for name in names {
                    *result.lock().unwrap() = memory.region().register(*name, Setting::ON).ok();
                }
            }
        };
        either(swap, run(0, &[A]), run(1, &[B, A]));
        match results.map(|result| *result.lock().unwrap()) {
            [Some(a), Some(b)] if a == b => seen.note(["first", "second"][a.index()]),
            other => panic!("one name, one class: {other:?}"),
        }
        assert_eq!(memory.region().classes().count(), 2);
    });
}

#[test]
fn a_class_that_is_registered_again_keeps_its_setting() {
    Model { name: "publish: setting", preemptions: Some(3), least: 4, outcomes: &["kept"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_CLASS, &[Watch::Classes, Watch::ClassSettings]));
        let (one, other) = (memory.clone(), memory.clone());
        either(
            swap,
            move || assert!(one.region().register(A, Setting::ON).is_ok()),
            move || {
                let region = other.region();
                let class = region.register(A, Setting::ON).expect("there is room for one");
                region.set_setting(class, Setting::COUNTED);
            },
        );
        let region = memory.region();
        let class = region.classes().next().expect("it is registered");
        assert_eq!(region.setting(class), Setting::COUNTED);
        seen.note("kept");
    });
}

#[test]
fn a_source_line_is_whole_or_not_there() {
    Model { name: "publish: source line", preemptions: None, least: 5, outcomes: &["none", "whole"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_SOURCE, &[Watch::Sources]));
        let (writer, reader, seen) = (memory.clone(), memory, seen.clone());
        either(
            swap,
            move || assert_eq!(intern(&writer.region()), 1),
            move || match source_text(&reader.region(), 1) {
                None => seen.note("none"),
                Some(text) => {
                    assert!(text.as_str().starts_with("publish.rs:"), "{text:?}");
                    seen.note("whole");
                }
            },
        );
    });
}

/// As for a child that looks at its parent's memory once more: a class is added with its name, or not.
#[test]
fn a_class_is_added_to_a_copy_with_its_name() {
    Model { name: "publish: class, added", preemptions: None, least: 5, outcomes: &["none", "found"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_CLASS, &[Watch::Classes, Watch::ClassSettings]));
        let (writer, parent, seen) = (memory.clone(), memory, seen.clone());
        either(
            swap,
            move || assert!(writer.region().register(A, Setting::ON).is_ok()),
            move || {
                let child = Memory::with_region(&ONE_CLASS, &[]);
                let (parent, child) = (parent.region(), child.region());
                parent.add_to_copy(child.words());
                seen.note(look_for_a(&child));
            },
        );
    });
}

/// A child does not write again what it has of a line already.
#[test]
fn a_source_line_is_whole_in_a_child_or_to_be_written_there() {
    Model { name: "publish: source line, copied", preemptions: None, least: 5, outcomes: &["none", "whole"] }.explore(
        |swap, seen| {
            let memory = Arc::new(Memory::with_region(&ONE_SOURCE, &[Watch::Sources]));
            let (writer, parent, seen) = (memory.clone(), memory, seen.clone());
            either(
                swap,
                move || assert_eq!(intern(&writer.region()), 1),
                move || {
                    let child = Memory::with_region(&ONE_SOURCE, &[]);
                    let (parent, child) = (parent.region(), child.region());
                    parent.copy_for_child(&[], parent.words(), child.words());
                    let text = source_text(&child, 1);
                    assert!(text.is_none_or(|text| text.as_str().starts_with("publish.rs:")), "{text:?}");
                    seen.note(if text.is_some() { "whole" } else { "none" });
                },
            );
        },
    );
}

/// Also when the first is stopped before it has written the text: the second writes it, too.
#[test]
fn who_uses_a_source_line_finds_its_text() {
    Model { name: "publish: one source line twice", preemptions: None, least: 4, outcomes: &["both"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_SOURCE, &[Watch::Sources]));
        let run = || {
            let memory = memory.clone();
            move || {
                let region = memory.region();
                assert_eq!(intern(&region), 1);
                assert!(source_text(&region, 1).is_some_and(|text| text.as_str().starts_with("publish.rs:")));
            }
        };
        either(swap, run(), run());
        seen.note("both");
    });
}

#[test]
fn two_source_lines_never_share_a_place() {
    Model { name: "publish: two source lines", preemptions: None, least: 4, outcomes: &["A", "B"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_SOURCE, &[Watch::Sources]));
        let places = [(); 2].map(|()| Arc::new(Mutex::new(0)));
        let (a, b) = (memory.clone(), memory.clone());
        let [for_a, for_b] = places.clone();
        either(swap, move || *for_a.lock().unwrap() = intern(&a.region()), move || *for_b.lock().unwrap() = intern(&b.region()));
        match places.map(|place| *place.lock().unwrap()) {
            [1, 0] => seen.note("A"),
            [0, 1] => seen.note("B"),
            other => panic!("two lines, one place: {other:?}"),
        }
    });
}

#[test]
fn a_region_is_opened_whole_or_not_at_all() {
    Model { name: "publish: region", preemptions: None, least: 10, outcomes: &["nothing", "not ready", "open"] }.explore(
        |swap, seen| {
            let memory = Arc::new(Memory::new(&ONE_CLASS, &[Watch::Header]));
            let (writer, reader, seen) = (memory.clone(), memory, seen.clone());
            either(
                swap,
                move || assert!(writer.create(&ONE_CLASS, 77).is_ok()),
                move || match reader.open() {
                    Ok(region) => {
                        assert_eq!((region.pid(), region.config()), (77, ONE_CLASS));
                        seen.note("open");
                    }
                    Err(RegionError::NotARegion { found: 0 }) => seen.note("nothing"),
                    Err(RegionError::NotReady) => seen.note("not ready"),
                    Err(other) => panic!("{other}"),
                },
            );
        },
    );
}

/// As two processes do that map the same file.
#[test]
fn two_open_a_region() {
    Model { name: "publish: region, two readers", preemptions: Some(3), least: 100, outcomes: &["nothing", "not ready", "open"] }
        .explore(|_, seen| {
            let memory = Arc::new(Memory::new(&ONE_CLASS, &[Watch::Header]));
            let readers = [(); 2].map(|()| {
                let (memory, seen) = (memory.clone(), seen.clone());
                loom::thread::spawn(move || match memory.open() {
                    Ok(region) => {
                        assert_eq!((region.pid(), region.config()), (77, ONE_CLASS));
                        seen.note("open");
                    }
                    Err(RegionError::NotARegion { found: 0 }) => seen.note("nothing"),
                    Err(RegionError::NotReady) => seen.note("not ready"),
                    Err(other) => panic!("{other}"),
                })
            });
            assert!(memory.create(&ONE_CLASS, 77).is_ok());
            for reader in readers {
                reader.join().expect("a model's thread does not panic");
            }
        });
}

#[test]
fn one_memory_is_one_region() {
    Model { name: "publish: two regions", preemptions: None, least: 2, outcomes: &["A", "B"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::new(&ONE_CLASS, &[Watch::Header]));
        let made = [(); 2].map(|()| Arc::new(Mutex::new(false)));
        let run = |which: usize, pid| {
            let (memory, made) = (memory.clone(), made[which].clone());
            move || *made.lock().unwrap() = memory.create(&ONE_CLASS, pid).is_ok()
        };
        either(swap, run(0, 1), run(1, 2));
        match made.map(|made| *made.lock().unwrap()) {
            [true, false] => seen.note("A"),
            [false, true] => seen.note("B"),
            other => panic!("{other:?} made a region of the same memory"),
        }
        memory.region();
    });
}
