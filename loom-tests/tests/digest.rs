//! Statements that are alike: their digests are published as classes are, [C1] to [C3], and counted by all threads.
#![cfg(perfschema_loom)]

use perfschema_core::model::{Memory, Watch, count_digest};
use perfschema_core::{Config, Region, Size, tables};
use perfschema_loom_tests::{Model, either};
use std::sync::Arc;

/// Room for one digest, and for those that find none.
const ONE_DIGEST: Config = Config::EMPTY.with(Size::DigestsSize, 2).with(Size::MaxSqlTextLength, 8);

/// Schema, digest's text, COUNT_STAR of each row.
fn rows(region: &Region<'_>) -> Vec<(String, String, u64)> {
    let mut rows = Vec::new();
    region.scan(&tables::EventsStatementsSummaryByDigest, |row| {
        let text = row.digest_text.as_ref().map_or(String::new(), |text| text.as_str().to_owned());
        let schema = row.schema_name.as_ref().map_or(String::new(), |schema| schema.as_str().to_owned());
        rows.push((schema, text, row.count_star));
    });
    rows
}

#[test]
fn a_digest_is_found_with_its_name() {
    Model { name: "digest: name", preemptions: None, least: 4, outcomes: &["none", "found"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_DIGEST, &[Watch::Digests, Watch::DigestTexts]));
        let (writer, reader, seen) = (memory.clone(), memory, seen.clone());
        either(
            swap,
            move || count_digest(&writer.region(), "find"),
            move || match &rows(&reader.region())[..] {
                [] => seen.note("none"),
                [row] => {
                    assert_eq!(*row, ("loom".into(), "find".into(), 1));
                    seen.note("found");
                }
                rows => panic!("one place: {rows:?}"),
            },
        );
    });
}

#[test]
fn two_that_are_alike_are_counted_in_one_place() {
    Model { name: "digest: one twice", preemptions: Some(3), least: 4, outcomes: &["both"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_DIGEST, &[Watch::Digests]));
        let run = || {
            let memory = memory.clone();
            move || count_digest(&memory.region(), "find")
        };
        either(swap, run(), run());
        assert_eq!(rows(&memory.region()), [("loom".into(), "find".into(), 2)]);
        seen.note("both");
    });
}

#[test]
fn two_digests_never_share_a_place() {
    Model { name: "digest: two", preemptions: Some(3), least: 4, outcomes: &["find", "lose"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_DIGEST, &[Watch::Digests]));
        let run = |text: &'static str| {
            let memory = memory.clone();
            move || count_digest(&memory.region(), text)
        };
        either(swap, run("find"), run("lose"));
        let region = memory.region();
        match &rows(&region)[..] {
            [(_, none, 1), (_, text, 1)] if none.is_empty() => seen.note(if text == "find" { "find" } else { "lose" }),
            rows => panic!("two digests, one place: {rows:?}"),
        }
        assert_eq!(region.lost(perfschema_core::Lost::StatementDigests), 1);
    });
}
