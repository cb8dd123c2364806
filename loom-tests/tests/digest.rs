//! Statements that are alike: the places of their digests are a pool's, [P1] to [P6], found by keys, and counted in by all threads.
#![cfg(perfschema_loom)]

use perfschema_core::model::{Memory, Watch, count_digest};
use perfschema_core::{Config, Region, Size, Text, digest::Digest, table::Table, tables};
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

/// Which of two texts each row is of, and COUNT_STAR: by the first word of the digest, the only one that all models watch.
fn counts(region: &Region<'_>) -> Vec<(&'static str, u64)> {
    let mut counts = Vec::new();
    region.scan(&tables::EventsStatementsSummaryByDigest, |row| {
        let half = |digest: &Text<32>| digest.as_str()[..16].to_owned();
        let known = |text| (half(&Digest::of(text).text()), text);
        let text = row.digest.as_ref().map(|digest| {
            let found = [known("find"), known("lose")].into_iter().find(|(known, _)| *known == half(digest));
            found.unwrap_or_else(|| panic!("neither of the two: {digest:?}")).1
        });
        counts.push((text.unwrap_or(""), row.count_star));
    });
    counts
}

#[test]
fn a_digest_is_found_with_its_name() {
    Model { name: "digest: name", preemptions: None, least: 4, outcomes: &["none", "found"] }.explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_DIGEST, &[Watch::Digests, Watch::DigestNames, Watch::DigestTexts]));
        let (writer, reader, seen) = (memory.clone(), memory, seen.clone());
        either(
            swap,
            move || count_digest(&writer.region(), "find", true),
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
            move || count_digest(&memory.region(), "find", true)
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
            move || count_digest(&memory.region(), text, true)
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

/// Ends every statement that is known, and counts one of another text.
fn give_to_another(region: &Region<'_>) {
    Table::truncate(&tables::EventsStatementsSummaryByDigest, region).expect("it may be truncated");
    count_digest(region, "lose", false);
}

/// What may be seen while the place of two of the first goes to the second: of which so many may have been counted.
fn check_either(counts: &[(&str, u64)], most: u64) -> &'static str {
    let mut seen = "none";
    for (text, count) in counts {
        seen = match *text {
            "find" if *count == 2 => "first",
            "lose" if (1..=most).contains(count) => "second",
            // It found no place.
            "" if *count == 1 => seen,
            _ => panic!("neither of the two: {counts:?}"),
        };
    }
    seen
}

#[test]
fn a_place_that_is_given_to_another_is_one_of_both() {
    Model { name: "digest: given to another", preemptions: Some(2), least: 100, outcomes: &["none", "first", "second"] }.explore(
        |swap, seen| {
            let memory = Arc::new(Memory::with_region(&ONE_DIGEST, &[Watch::Digests, Watch::DigestNames, Watch::DigestTexts]));
            let region = memory.region();
            count_digest(&region, "find", true);
            count_digest(&region, "find", true);
            let (writer, reader, seen) = (memory.clone(), memory.clone(), seen.clone());
            either(
                swap,
                move || give_to_another(&writer.region()),
                move || {
                    let rows = rows(&reader.region());
                    assert!(rows.iter().all(|(schema, ..)| schema == "loom"), "{rows:?}");
                    let counts: Vec<_> = rows.iter().map(|(_, text, count)| (&**text, *count)).collect();
                    seen.note(check_either(&counts, 1));
                },
            );
            assert_eq!(rows(&region), [("loom".into(), "lose".into(), 1)]);
        },
    );
}

/// The second thread has not claimed the place that it counts in.
#[test]
fn who_counts_beside_the_one_who_took_the_place_is_seen_with_it() {
    Model { name: "digest: counted beside", preemptions: Some(2), least: 100, outcomes: &["none", "first", "second"] }.explore(
        |swap, seen| {
            let memory = Arc::new(Memory::with_region(&ONE_DIGEST, &[Watch::Digests]));
            let region = memory.region();
            count_digest(&region, "find", true);
            count_digest(&region, "find", true);
            let (writer, beside, reader, seen) = (memory.clone(), memory.clone(), memory.clone(), seen.clone());
            let beside = loom::thread::spawn(move || count_digest(&beside.region(), "lose", false));
            either(
                swap,
                move || give_to_another(&writer.region()),
                move || seen.note(check_either(&counts(&reader.region()), 2)),
            );
            beside.join().expect("a model's thread does not panic");
        },
    );
}

#[test]
fn a_place_is_given_to_nobody_while_a_statement_holds_it() {
    Model {
        name: "digest: held",
        preemptions: Some(3),
        least: 100,
        outcomes: &["before", "held, and cleared", "held or after", "found none"],
    }
    .explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_DIGEST, &[Watch::Digests]));
        let region = memory.region();
        count_digest(&region, "find", true);
        let (one, other) = (memory.clone(), memory.clone());
        either(swap, move || count_digest(&one.region(), "find", true), move || give_to_another(&other.region()));
        seen.note(match &counts(&region)[..] {
            [("lose", 1)] => "before",
            [("", 1)] => "held, and cleared",
            [("", 1), ("find", 1)] => "held or after",
            [("", 1), ("lose", 1)] => "found none",
            counts => panic!("{counts:?}"),
        });
    });
}
