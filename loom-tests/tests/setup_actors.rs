//! Rows of `setup_actors`: of two that are inserted with one key at the same moment one is refused.
#![cfg(perfschema_loom)]

use perfschema_core::model::{Memory, Watch};
use perfschema_core::table::{Table, TableError, Value};
use perfschema_core::{Config, Region, Size, tables};
use perfschema_loom_tests::{Model, either};
use std::sync::{Arc, Mutex};

const CONFIG: Config = Config::EMPTY.with(Size::SetupActorsSize, 2);

/// The row of a new region is taken away, so that there is room for two.
fn memory(watch: &[Watch]) -> Arc<Memory> {
    let memory = Memory::with_region(&CONFIG, watch);
    tables::SetupActors.truncate(&memory.region()).expect("it has the right");
    Arc::new(memory)
}

fn insert(region: &Region<'_>, host: &str) -> Result<(), TableError> {
    tables::SetupActors.insert(region, &[("HOST", Value::Text(host))])
}

fn rows(region: &Region<'_>) -> usize {
    let mut rows = 0;
    let sweep = region.scan(&tables::SetupActors, |_| rows += 1);
    assert_eq!(sweep.changed, 0, "every place is free or has a row");
    rows
}

#[test]
fn of_two_rows_of_one_key_one_is_inserted() {
    Model { name: "setup_actors: one key", preemptions: Some(3), least: 10, outcomes: &["first", "second"] }.explore(
        |swap, seen| {
            let memory = memory(&[Watch::SetupActors, Watch::LastActor]);
            let results = Arc::new(Mutex::new([None, None]));
            let run = |index: usize| {
                let (memory, results) = (memory.clone(), results.clone());
                move || {
                    let result = insert(&memory.region(), "me");
                    results.lock().unwrap()[index] = Some(result);
                }
            };
            either(swap, run(0), run(1));
            let refused = || Some(Err(TableError::DuplicateKey { table: "setup_actors" }));
            let results = results.lock().unwrap().clone();
            match results {
                [Some(Ok(())), other] if other == refused() => seen.note("first"),
                [other, Some(Ok(()))] if other == refused() => seen.note("second"),
                other => panic!("not one of two: {other:?}"),
            }
            assert_eq!(rows(&memory.region()), 1);
        },
    );
}

/// Who comes second begins again, and keeps the place that it has.
#[test]
fn two_keys_are_two_rows() {
    Model { name: "setup_actors: two keys", preemptions: Some(3), least: 10, outcomes: &["both"] }.explore(|swap, seen| {
        let memory = memory(&[Watch::SetupActors, Watch::LastActor]);
        let run = |host: &'static str| {
            let memory = memory.clone();
            move || assert_eq!(insert(&memory.region(), host), Ok(()))
        };
        either(swap, run("me"), run("you"));
        assert_eq!(rows(&memory.region()), 2);
        seen.note("both");
    });
}
