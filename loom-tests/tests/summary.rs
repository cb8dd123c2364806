//! Summaries: written by their owner and read by anybody, [A1] to [A4]; and those that several threads write.
#![cfg(perfschema_loom)]

use perfschema_core::model::{MemorySums, Shared, Stat};
use perfschema_loom_tests::{Model, either};
use std::sync::Arc;

#[test]
fn count_and_sum_belong_together() {
    Model { name: "summary: owned", preemptions: None, least: 100, outcomes: &["none", "one", "two", "changed"] }.explore(
        |swap, seen| {
            let stat = Arc::new(Stat::new());
            let (owner, reader, seen) = (stat.clone(), stat, seen.clone());
            either(
                swap,
                move || {
                    owner.record(10);
                    owner.record(100);
                },
                move || match reader.read().map(|sum| (sum.count, sum.sum_ps)) {
                    Some((0, 0)) => seen.note("none"),
                    Some((1, 10)) => seen.note("one"),
                    Some((2, 110)) => seen.note("two"),
                    Some(torn) => panic!("torn: {torn:?}"),
                    None => seen.note("changed"),
                },
            );
        },
    );
}

/// Events that are not timed are counted without a version, and never shown before what was counted before them.
#[test]
fn a_count_alone_comes_after_what_was_summed_before() {
    Model { name: "summary: counted alone", preemptions: None, least: 100, outcomes: &["none", "one", "two", "all", "changed"] }
        .explore(|swap, seen| {
            let stat = Arc::new(Stat::to_count());
            let (owner, reader, seen) = (stat.clone(), stat, seen.clone());
            either(
                swap,
                move || {
                    owner.record(10);
                    owner.count();
                    owner.record(100);
                },
                move || match reader.read().map(|sum| (sum.count - sum.count_timed, sum.sum_ps)) {
                    Some((0, 0)) => seen.note("none"),
                    Some((0, 10)) => seen.note("one"),
                    Some((1, 10)) => seen.note("two"),
                    Some((1, 110)) => seen.note("all"),
                    Some(torn) => panic!("torn: {torn:?}"),
                    None => seen.note("changed"),
                },
            );
        });
}

#[test]
fn blocks_and_bytes_belong_together() {
    Model { name: "summary: memory", preemptions: None, least: 100, outcomes: &["none", "one", "two", "changed"] }.explore(
        |swap, seen| {
            let memory = Arc::new(MemorySums::new());
            let (owner, reader, seen) = (memory.clone(), memory, seen.clone());
            either(
                swap,
                move || {
                    owner.allocated(10);
                    owner.allocated(100);
                },
                move || match reader.read() {
                    Some((0, 0)) => seen.note("none"),
                    Some((1, 10)) => seen.note("one"),
                    Some((2, 110)) => seen.note("two"),
                    Some(torn) => panic!("torn: {torn:?}"),
                    None => seen.note("changed"),
                },
            );
        },
    );
}

#[test]
fn two_readers() {
    Model { name: "summary: two readers", preemptions: Some(2), least: 500, outcomes: &["one", "two", "changed"] }.explore(
        |_, seen| {
            let stat = Arc::new(Stat::new());
            stat.record(10);
            let readers = [(); 2].map(|()| {
                let (stat, seen) = (stat.clone(), seen.clone());
                loom::thread::spawn(move || match stat.read().map(|sum| (sum.count, sum.sum_ps)) {
                    Some((1, 10)) => seen.note("one"),
                    Some((2, 110)) => seen.note("two"),
                    Some(torn) => panic!("torn: {torn:?}"),
                    None => seen.note("changed"),
                })
            });
            stat.record(100);
            for reader in readers {
                reader.join().expect("a model's thread does not panic");
            }
        },
    );
}

#[test]
fn sums_that_several_threads_write_lose_nothing() {
    Model { name: "summary: shared", preemptions: Some(2), least: 100, outcomes: &["one", "both"] }.explore(|swap, seen| {
        let shared = Arc::new(Shared::new());
        let (a, b, noted) = (shared.clone(), shared.clone(), seen.clone());
        either(
            swap,
            move || a.record(10),
            move || {
                b.record(100);
                noted.note(if b.read().count == 1 { "one" } else { "both" });
            },
        );
        let sum = shared.read();
        assert_eq!((sum.count, sum.sum_ps, sum.min_ps, sum.max_ps), (2, 110, 10, 100));
    });
}
