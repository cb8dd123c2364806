//! The long history: chunks are handed over, [H1] to [H3], its rows are read, [E3] to [E6], and whose they are, [H4] and [H5].
#![cfg(perfschema_loom)]

use loom::cell::UnsafeCell;
use perfschema_core::model::{Found, LongWriter, Memory, Watch, lost_long, read_long, read_long_owner};
use perfschema_core::{Config, Size};
use perfschema_loom_tests::{Model, either};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One chunk of one row.
const ONE_ROW: Config = Config::EMPTY.with(Size::EventsWaitsHistoryLongSize, 1);
/// Two chunks of two rows.
const TWO_CHUNKS: Config = Config::EMPTY.with(Size::EventsWaitsHistoryLongSize, 4).with(Size::MaxThreadInstances, 1);

#[test]
fn a_row_is_one_event() {
    Model { name: "long history: lapping", preemptions: None, least: 100, outcomes: &["free", "changed", "first", "second"] }
        .explore(|swap, seen| {
            let memory = Arc::new(Memory::with_region(&ONE_ROW, &[Watch::LongChunks, Watch::LongRecords]));
            let (writer, reader, seen) = (memory.clone(), memory, seen.clone());
            either(
                swap,
                move || {
                    let region = writer.region();
                    let writer = LongWriter::new(&region);
                    writer.write(10, 11);
                    writer.write(20, 21);
                },
                move || {
                    seen.note(match read_long(&reader.region()) {
                        Found::Free => "free",
                        Found::Changed => "changed",
                        Found::Row(row) => match (row.start, row.amount) {
                            (10, 11) => "first",
                            (20, 21) => "second",
                            _ => panic!("torn: {row:?}"),
                        },
                    });
                },
            );
        });
}

#[test]
fn two_readers() {
    Model { name: "long history: two readers", preemptions: Some(2), least: 500, outcomes: &["changed", "first", "second"] }
        .explore(|_, seen| {
            let memory = Arc::new(Memory::with_region(&ONE_ROW, &[Watch::LongChunks, Watch::LongRecords]));
            let region = memory.region();
            let writer = LongWriter::new(&region);
            writer.write(10, 11);
            let readers = [(); 2].map(|()| {
                let (memory, seen) = (memory.clone(), seen.clone());
                loom::thread::spawn(move || {
                    seen.note(match read_long(&memory.region()) {
                        Found::Free => panic!("it was written before"),
                        Found::Changed => "changed",
                        Found::Row(row) => match (row.start, row.amount) {
                            (10, 11) => "first",
                            (20, 21) => "second",
                            _ => panic!("torn: {row:?}"),
                        },
                    });
                })
            });
            writer.write(20, 21);
            for reader in readers {
                reader.join().expect("a model's thread does not panic");
            }
        });
}

#[test]
fn two_writers_one_row() {
    Model {
        name: "long history: two writers, reader",
        preemptions: Some(2),
        least: 500,
        outcomes: &["free", "changed", "A", "B", "lost", "both written"],
    }
    .explore(|swap, seen| {
        let memory = Arc::new(Memory::with_region(&ONE_ROW, &[Watch::LongChunks, Watch::LongRecords]));
        let reader = {
            let (memory, seen) = (memory.clone(), seen.clone());
            loom::thread::spawn(move || {
                seen.note(match read_long(&memory.region()) {
                    Found::Free => "free",
                    Found::Changed => "changed",
                    Found::Row(row) => match (row.start, row.amount) {
                        (10, 11) => "A",
                        (20, 21) => "B",
                        _ => panic!("torn: {row:?}"),
                    },
                });
            })
        };
        let write = |start| {
            let memory = memory.clone();
            move || LongWriter::new(&memory.region()).write(start, start + 1)
        };
        either(swap, write(10), write(20));
        reader.join().expect("a model's thread does not panic");
        let region = memory.region();
        seen.note(if lost_long(&region) == 0 { "both written" } else { "lost" });
        assert!(matches!(read_long(&region), Found::Row(row) if row.amount == row.start + 1), "nobody writes any more");
    });
}

#[test]
fn a_row_is_its_owners() {
    Model { name: "long history: whose a row is", preemptions: Some(3), least: 100, outcomes: &["none", "1", "2", "3"] }.explore(
        |swap, seen| {
            let memory = Arc::new(Memory::with_region(&ONE_ROW, &[Watch::LongOwners, Watch::LongVersions]));
            LongWriter::of(&memory.region(), 1).write(1, 1);
            let (writer, reader, seen) = (memory.clone(), memory, seen.clone());
            either(
                swap,
                move || {
                    let region = writer.region();
                    LongWriter::of(&region, 2).write(2, 2);
                    LongWriter::of(&region, 3).write(3, 3);
                },
                move || {
                    seen.note(match read_long_owner(&reader.region()) {
                        None => "none",
                        Some((0, 1, 1)) => "1",
                        Some((1, 2, 2)) => "2",
                        Some((2, 3, 3)) => "3",
                        Some(row) => panic!("torn: {row:?}"),
                    });
                },
            );
        },
    );
}

/// What only the owner of a chunk may touch. Loom fails if two touch it without one coming after the other.
struct Owned(UnsafeCell<u64>);

// SAFETY: that no two threads touch it at once is what the model checks.
unsafe impl Sync for Owned {}
// SAFETY: a number.
unsafe impl Send for Owned {}

impl Owned {
    fn touch(&self, by: u64) {
        // SAFETY: loom reports an access that does not come after the one before; the pointer is to a live number.
        self.0.with_mut(|owner| unsafe { *owner = by });
    }
}

#[test]
fn a_chunk_has_one_owner() {
    Model { name: "long history: hand-over", preemptions: Some(2), least: 10, outcomes: &["nothing lost", "some lost"] }.explore(
        |swap, seen| {
            let memory = Arc::new(Memory::with_region(&TWO_CHUNKS, &[Watch::LongChunks, Watch::LongVersions]));
            let owned = Arc::new([(); 2].map(|()| Owned(UnsafeCell::new(0))));
            let written = Arc::new(AtomicUsize::new(0));
            let run = |by: u64, rows: u64| {
                let (memory, owned, written) = (memory.clone(), owned.clone(), written.clone());
                move || {
                    let region = memory.region();
                    let writer = LongWriter::new(&region);
                    for row in 0..rows {
                        writer.write(by + row, by + row);
                        if let Some(chunk) = writer.chunk() {
                            owned[chunk].touch(by);
                            written.fetch_add(2, Ordering::Relaxed);
                        }
                    }
                    writer.finish();
                }
            };
            either(swap, run(10, 1), run(20, 4));
            let lost = lost_long(&memory.region());
            seen.note(if lost == 0 { "nothing lost" } else { "some lost" });
            assert!(lost <= 1 || written.load(Ordering::Relaxed) > 0);
        },
    );
}
