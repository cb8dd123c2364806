//! Files: opened, deleted and renamed by several threads at one moment; what they agree on, and that no place is lost.
#![cfg(perfschema_loom)]

use perfschema_core::model::{Memory, Watch, count_as_owner, file_rows, files_used};
use perfschema_core::{Class, Config, FileId, InstrumentName, Region, Setting, Size};
use perfschema_loom_tests::{Model, either};
use std::sync::{Arc, Mutex};

const CLASS: Class = Class::from_bits(0);

fn memory(places: u32, watch: &[Watch]) -> Arc<Memory> {
    let config = Config::EMPTY.with(Size::MaxFileClasses, 1).with(Size::MaxFileInstances, places);
    let memory = Memory::with_region(&config, watch);
    memory.region().register(InstrumentName::literal("wait/io/file/app/data"), Setting::ON).expect("there is room");
    Arc::new(memory)
}

fn refer(region: &Region<'_>, path: &str) -> Option<FileId> {
    region.refer_to_file(CLASS, path.as_bytes())
}

fn open(region: &Region<'_>, path: &str) -> Option<FileId> {
    refer(region, path).inspect(|id| region.file_opened(*id))
}

fn close(region: &Region<'_>, id: FileId) {
    region.file_closed(id);
    region.release_file(id);
}

/// What a thread of the model found, for the end.
type Found<T> = Arc<Mutex<Option<T>>>;

fn put<T>(found: &Found<T>, value: T) {
    *found.lock().unwrap() = Some(value);
}

fn take<T>(found: &Found<T>) -> T {
    found.lock().unwrap().take().expect("both threads have ended")
}

/// Deletes what there is; then every place is free.
fn nothing_is_left(region: &Region<'_>) {
    for path in ["a", "b"] {
        region.file_deleted(path.as_bytes());
    }
    assert_eq!((file_rows(region), files_used(region)), (Vec::new(), (0, 0)), "a place is lost");
}

/// Which of two opens makes the file.
#[test]
fn two_opens_of_one_path_are_one_file() {
    Model { name: "file: two opens", preemptions: None, least: 100, outcomes: &["first place", "second place"] }.explore(
        |swap, seen| {
            let memory = memory(2, &[Watch::Files, Watch::FileIndex]);
            let found: [Found<Option<FileId>>; 2] = Default::default();
            let run = |index: usize| {
                let (memory, found) = (memory.clone(), found[index].clone());
                move || put(&found, open(&memory.region(), "a"))
            };
            either(swap, run(0), run(1));
            let region = memory.region();
            let ids = found.each_ref().map(|found| take(found).expect("there is room for both"));
            assert_eq!(ids[0], ids[1], "one path, two files");
            assert_eq!(file_rows(&region), [("a".into(), 2)]);
            seen.note(if ids[0].to_bits() == 1 { "first place" } else { "second place" });
            ids.into_iter().for_each(|id| close(&region, id));
            assert_eq!(file_rows(&region), [("a".into(), 0)], "a closed file stays");
            nothing_is_left(&region);
        },
    );
}

/// Two who only ask for a path that is never opened: the place is given back by the last of them.
#[test]
fn what_nobody_opens_is_given_back_once() {
    Model { name: "file: two who do not open", preemptions: None, least: 100, outcomes: &["one", "two"] }.explore(
        |swap, seen| {
            let memory = memory(2, &[Watch::Files, Watch::FileIndex]);
            let found: [Found<FileId>; 2] = Default::default();
            let run = |index: usize| {
                let (memory, found) = (memory.clone(), found[index].clone());
                move || {
                    let id = refer(&memory.region(), "a").expect("there is room for both");
                    put(&found, id);
                    memory.region().release_file(id);
                }
            };
            either(swap, run(0), run(1));
            let ids = found.each_ref().map(take);
            seen.note(if ids[0] == ids[1] { "one" } else { "two" });
            nothing_is_left(&memory.region());
        },
    );
}

#[test]
fn a_file_that_is_deleted_while_it_is_opened() {
    Model { name: "file: open, delete", preemptions: None, least: 100, outcomes: &["deleted", "made again"] }.explore(
        |swap, seen| {
            let memory = memory(2, &[Watch::Files, Watch::FileIndex]);
            close(&memory.region(), open(&memory.region(), "a").expect("there is room"));
            let found = Found::default();
            let (deleter, opener, put_it) = (memory.clone(), memory.clone(), found.clone());
            either(
                swap,
                move || deleter.region().file_deleted(b"a"),
                move || put(&put_it, open(&opener.region(), "a").expect("there is room for another")),
            );
            let (region, id) = (memory.region(), take(&found));
            let rows = file_rows(&region);
            seen.note(if rows.is_empty() { "deleted" } else { "made again" });
            assert!(rows.is_empty() || rows == [("a".into(), 1)], "{rows:?}");
            close(&region, id);
            nothing_is_left(&region);
        },
    );
}

/// The only place goes to another path, while somebody looks for the one before: who refers to a place refers to its path.
#[test]
fn a_place_is_not_taken_for_the_file_before() {
    Model { name: "file: place of another file", preemptions: None, least: 100, outcomes: &["found", "reused"] }.explore(
        |swap, seen| {
            let memory = memory(1, &[Watch::Files, Watch::FilePaths, Watch::FileIndex]);
            close(&memory.region(), open(&memory.region(), "a").expect("there is room"));
            let found: [Found<Option<FileId>>; 2] = Default::default();
            let (reuser, looker) = (memory.clone(), memory.clone());
            let [reused, looked] = found.clone();
            either(
                swap,
                move || {
                    reuser.region().file_deleted(b"a");
                    put(&reused, open(&reuser.region(), "b"));
                },
                move || put(&looked, refer(&looker.region(), "a")),
            );
            let region = memory.region();
            seen.note(match found.each_ref().map(take) {
                [None, Some(id)] => {
                    region.release_file(id);
                    "found"
                }
                [Some(id), None] => {
                    close(&region, id);
                    "reused"
                }
                both => panic!("one place, {both:?}"),
            });
            nothing_is_left(&region);
        },
    );
}

/// Who counts last in a place, and who counts there next for another file: no version stands for two states.
#[test]
fn the_next_file_goes_on_from_the_last_version() {
    Model { name: "file: versions at reuse", preemptions: None, least: 50, outcomes: &["reused", "still open"] }.explore(
        |swap, seen| {
            let memory = memory(1, &[Watch::Files, Watch::FileVersions]);
            let id = open(&memory.region(), "a").expect("there is room");
            let (owner, reuser) = (memory.clone(), memory.clone());
            let version = Found::default();
            let put_it = version.clone();
            either(
                swap,
                move || {
                    count_as_owner(&owner.region(), id);
                    close(&owner.region(), id);
                },
                move || {
                    let region = reuser.region();
                    region.file_deleted(b"a");
                    let next = open(&region, "b");
                    put(&put_it, next.map(|next| count_as_owner(&region, next)));
                    next.into_iter().for_each(|next| close(&region, next));
                },
            );
            seen.note(match take(&version) {
                Some(version) => {
                    assert_eq!(version, 4, "two waits have been counted in this place");
                    "reused"
                }
                None => "still open",
            });
            nothing_is_left(&memory.region());
        },
    );
}

/// A file is renamed while its new name is opened: there is one of that name, or none that anybody finds.
#[test]
fn a_file_that_is_renamed_while_its_new_name_is_opened() {
    Model {
        name: "file: rename, open",
        preemptions: None,
        least: 100,
        outcomes: &["renamed, then opened", "opened, then replaced", "opened meanwhile"],
    }
    .explore(|swap, seen| {
        let memory = memory(2, &[Watch::Files, Watch::FileIndex]);
        let old = open(&memory.region(), "a").expect("there is room");
        close(&memory.region(), old);
        let found = Found::default();
        let (renamer, opener, put_it) = (memory.clone(), memory.clone(), found.clone());
        either(
            swap,
            move || renamer.region().file_renamed(b"a", b"b"),
            move || put(&put_it, open(&opener.region(), "b").expect("there is room for another")),
        );
        let (region, id) = (memory.region(), take(&found));
        let rows = file_rows(&region);
        seen.note(match &*rows {
            [(name, 1)] if name == "b" && id == old => "renamed, then opened",
            [(name, 0)] if name == "b" && id != old => "opened, then replaced",
            [(name, 1)] if name == "b" && id != old => "opened meanwhile",
            other => panic!("{other:?}"),
        });
        close(&region, id);
        nothing_is_left(&region);
    });
}

/// Two renames of one file: it has one of the names, or it is gone; never both.
#[test]
fn a_file_that_is_renamed_twice() {
    Model { name: "file: two renames", preemptions: None, least: 100, outcomes: &["b", "c"] }.explore(|swap, seen| {
        let memory = memory(1, &[Watch::Files, Watch::FileIndex]);
        close(&memory.region(), open(&memory.region(), "a").expect("there is room"));
        let run = |to: &'static str| {
            let memory = memory.clone();
            move || memory.region().file_renamed(b"a", to.as_bytes())
        };
        either(swap, run("b"), run("c"));
        let region = memory.region();
        match &*file_rows(&region) {
            [(name, 0)] if name == "b" => seen.note("b"),
            [(name, 0)] if name == "c" => seen.note("c"),
            other => panic!("{other:?}"),
        }
        region.file_deleted(b"c");
        nothing_is_left(&region);
    });
}
