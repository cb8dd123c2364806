//! Records: publish and read, [E1] to [E6]. A row that is read is one event in one state, or nothing is read.
#![cfg(perfschema_loom)]

use perfschema_core::model::{
    Found, FoundStatement, FoundTransaction, Memory, Record, Row, StatementRecord, TRANSACTION_RECORDS, Ticks, Watch,
    read_long_transaction, read_transaction,
};
use perfschema_core::{
    AccessMode, Actor, ActorIdentity, Config, InstrumentName, Setting, Size, Switches, Transaction, TransactionStart,
    TransactionState,
};
use perfschema_loom_tests::{Model, Seen, either};
use std::sync::Arc;

/// What event `n` says: each of its words tells its number and its state.
fn start_of(n: u64) -> u64 {
    10 * n
}
/// Written twice, when the event starts and when it ends.
fn amount_of(n: u64, ended: bool) -> u64 {
    100 * n + u64::from(ended)
}

fn write(record: &Record, n: u64) {
    record.start(n, start_of(n), amount_of(n, false));
    record.end(0, amount_of(n, true));
}

fn check(found: Found, seen: &Seen) -> Option<(u64, bool)> {
    match found {
        Found::Free => seen.note("free"),
        Found::Changed => seen.note("changed"),
        Found::Row(row) => {
            let Row { sequence, ended, start, amount, .. } = row;
            assert_eq!(start, start_of(sequence), "torn: {row:?}");
            assert_eq!(amount, amount_of(sequence, ended), "torn: {row:?}");
            seen.note(match (sequence, ended) {
                (1, false) => "1 running",
                (1, true) => "1 ended",
                (_, false) => "2 running",
                (_, true) => "2 ended",
            });
            return Some((sequence, ended));
        }
    }
    None
}

#[test]
fn a_row_is_one_event_in_one_state() {
    Model {
        name: "record: publish and read",
        preemptions: None,
        least: 1_000,
        outcomes: &["free", "changed", "1 running", "1 ended", "2 running", "2 ended"],
    }
    .explore(|swap, seen| {
        let record = Arc::new(Record::new());
        let (writer, reader, seen) = (record.clone(), record, seen.clone());
        either(
            swap,
            move || {
                write(&writer, 1);
                write(&writer, 2);
            },
            move || {
                check(reader.read(), &seen);
            },
        );
    });
}

/// Where the end changes nothing that was shown before, the record stays what it is until it says that the event has ended.
#[test]
fn an_end_is_there_when_the_event_has_ended() {
    Model {
        name: "record: end alone",
        preemptions: None,
        least: 1_000,
        outcomes: &["free", "changed", "1 running", "1 ended", "2 running", "2 ended"],
    }
    .explore(|swap, seen| {
        let record = Arc::new(Record::to_end());
        let (writer, reader, seen) = (record.clone(), record, seen.clone());
        either(
            swap,
            move || {
                for n in [1, 2] {
                    writer.start(n, start_of(n), 0);
                    writer.end_alone(start_of(n) + 1);
                }
            },
            move || match reader.read() {
                Found::Free => seen.note("free"),
                Found::Changed => seen.note("changed"),
                Found::Row(row) => {
                    assert_eq!(row.start, start_of(row.sequence), "torn: {row:?}");
                    assert!(!row.ended || row.end == row.start + 1, "torn: {row:?}");
                    seen.note(match (row.sequence, row.ended) {
                        (1, false) => "1 running",
                        (1, true) => "1 ended",
                        (_, false) => "2 running",
                        (_, true) => "2 ended",
                    });
                }
            },
        );
    });
}

/// A word that changes while the event runs, its version staying: it is of that event, and at the end the last that was said.
#[test]
fn progress_is_that_of_the_stage() {
    Model {
        name: "record: progress",
        preemptions: None,
        least: 1_000,
        outcomes: &["free", "changed", "1 begins", "1 goes on", "1 ended", "2 begins", "2 goes on"],
    }
    .explore(|swap, seen| {
        let record = Arc::new(Record::new());
        let (writer, reader, seen) = (record.clone(), record, seen.clone());
        either(
            swap,
            move || {
                writer.start(1, start_of(1), amount_of(1, false));
                writer.progress(amount_of(1, true));
                writer.end_alone(0);
                writer.start(2, start_of(2), amount_of(2, false));
                writer.progress(amount_of(2, true));
            },
            move || match reader.read() {
                Found::Free => seen.note("free"),
                Found::Changed => seen.note("changed"),
                Found::Row(Row { sequence, ended, start, amount, .. }) => {
                    assert_eq!(start, start_of(sequence));
                    let said = amount == amount_of(sequence, true);
                    assert!(said || (amount == amount_of(sequence, false) && !ended), "{amount} in {sequence}, {ended}");
                    seen.note(match (sequence, ended, said) {
                        (1, true, _) => "1 ended",
                        (1, false, false) => "1 begins",
                        (1, false, true) => "1 goes on",
                        (_, _, false) => "2 begins",
                        (_, _, true) => "2 goes on",
                    });
                }
            },
        );
    });
}

/// What is beside the record of a statement is read after the record: text and figures are of the event that the version says, or the
/// reader is told that they may not be.
#[test]
fn what_is_beside_a_statement_is_its_own() {
    const TEXTS: [&str; 2] = ["select 1", "select 2"];
    Model {
        name: "record: beside a statement",
        preemptions: None,
        least: 1_000,
        outcomes: &["free", "changed", "changed beside", "1 begins", "1 goes on", "1 ended", "2 begins", "2 goes on"],
    }
    .explore(|swap, seen| {
        let record = Arc::new(StatementRecord::new());
        let (writer, reader, seen) = (record.clone(), record, seen.clone());
        either(
            swap,
            move || {
                writer.start(1, TEXTS[0]);
                writer.change(10);
                writer.end(11);
                writer.start(2, TEXTS[1]);
                writer.change(20);
            },
            move || match reader.read() {
                FoundStatement::Free => seen.note("free"),
                FoundStatement::Changed => seen.note("changed"),
                FoundStatement::ChangedBeside => seen.note("changed beside"),
                FoundStatement::Row(number, ended, figure, text) => {
                    assert_eq!(text, TEXTS[number as usize - 1], "{figure} of {number}, {ended}");
                    seen.note(match (number, ended, figure) {
                        (1, false, 0) => "1 begins",
                        (1, false, 10) => "1 goes on",
                        (1, true, 11) => "1 ended",
                        (2, false, 0) => "2 begins",
                        (2, false, 20) => "2 goes on",
                        other => panic!("torn: {other:?}"),
                    });
                }
            },
        );
    });
}

const TRANSACTIONS: Config = Config::EMPTY
    .with(Size::MaxThreadInstances, 1)
    .with(Size::MaxTransactionClasses, 1)
    .with(Size::EventsTransactionsHistoryLongSize, 1);

fn transactions(watch: &[Watch]) -> Arc<Memory> {
    let memory = Memory::with_region(&TRANSACTIONS, watch);
    let region = memory.region();
    region.register(InstrumentName::literal("transaction"), Setting::ON).expect("there is room");
    region.enable_everything();
    Arc::new(memory)
}

fn switches(actor: &Actor<'_>) -> Switches {
    let region = actor.region();
    region.switches(region.find_class("transaction").expect("it was registered"))
}

fn begin<'r>(actor: &Actor<'r>, access_mode: AccessMode) -> Transaction<'r> {
    let start = TransactionStart { access_mode, ..Default::default() };
    actor.begin_transaction(&Ticks::default(), switches(actor), &start)
}

/// What is beside the record of a transaction, and beside its row of the long history, is of the transaction that the version says, or the
/// reader is told that it may not be. Transaction 1 reads only, says 10, and, by another actor, so that its end must say it, 11; it is
/// committed. Transaction 2 says 20, and is rolled back.
fn beside_transactions(actor: &Actor<'_>) {
    let end = |transaction, state| actor.end_transaction(&Ticks::default(), transaction, state);
    let mut first = begin(actor, AccessMode::ReadOnly);
    actor.change_transaction(&mut first, |details| details.trx_id = 10);
    Actor::without_slot(actor.region()).change_transaction(&mut first, |details| details.trx_id = 11);
    end(first, TransactionState::Committed);
    let mut second = begin(actor, AccessMode::ReadWrite);
    actor.change_transaction(&mut second, |details| details.trx_id = 20);
    end(second, TransactionState::RolledBack);
}

fn note_transaction(found: FoundTransaction, seen: &Seen) {
    use AccessMode::{ReadOnly, ReadWrite};
    use TransactionState::{Active, Committed, RolledBack};
    seen.note(match found {
        FoundTransaction::Free => "free",
        FoundTransaction::Changed => "changed",
        FoundTransaction::ChangedBeside => "changed beside",
        FoundTransaction::Row { ended, state, access_mode, trx_id } => match (access_mode, ended, state, trx_id) {
            (ReadOnly, false, Active, 0) => "1 begins",
            (ReadOnly, false, Active, 10) => "1 goes on",
            (ReadOnly, true, Committed, 11) => "1 ended",
            (ReadWrite, false, Active, 0) => "2 begins",
            (ReadWrite, false, Active, 20) => "2 goes on",
            (ReadWrite, true, RolledBack, 20) => "2 ended",
            other => panic!("torn: {other:?}"),
        },
    });
}

#[test]
fn what_is_beside_a_transaction_is_its_own() {
    Model {
        name: "record: beside a transaction",
        preemptions: Some(3),
        least: 1_000,
        outcomes: &["free", "changed", "changed beside", "1 begins", "1 goes on", "1 ended", "2 begins", "2 goes on", "2 ended"],
    }
    .explore(|swap, seen| {
        let memory = transactions(&[Watch::TransactionRings, Watch::TransactionDetails]);
        let (owner, reader, seen) = (memory.clone(), memory, seen.clone());
        either(
            swap,
            move || {
                let region = owner.region();
                let actor = Actor::attach(&region, &ActorIdentity::default());
                // All records but one are used by those that run on, so that each transaction is in the place of the one before.
                let _run_on: Vec<_> = (1..TRANSACTION_RECORDS).map(|_| begin(&actor, AccessMode::ReadWrite)).collect();
                beside_transactions(&actor);
            },
            move || note_transaction(read_transaction(&reader.region(), TRANSACTION_RECORDS - 1), &seen),
        );
    });
}

#[test]
fn what_is_beside_a_transaction_in_the_long_history_is_its_own() {
    Model {
        name: "record: beside a long transaction",
        preemptions: None,
        least: 100,
        outcomes: &["free", "changed", "changed beside", "1 ended", "2 ended"],
    }
    .explore(|swap, seen| {
        let memory = transactions(&[Watch::TransactionLongRecords, Watch::TransactionLongDetails]);
        let (owner, reader, seen) = (memory.clone(), memory, seen.clone());
        either(
            swap,
            move || beside_transactions(&Actor::attach(&owner.region(), &ActorIdentity::default())),
            move || note_transaction(read_long_transaction(&reader.region()), &seen),
        );
    });
}

/// Two looks of one reader: time does not run backwards.
#[test]
fn the_second_look_is_not_older() {
    Model {
        name: "record: two looks",
        preemptions: Some(2),
        least: 1_000,
        outcomes: &["free", "changed", "1 running", "1 ended", "2 running"],
    }
    .explore(|swap, seen| {
        let record = Arc::new(Record::new());
        let (writer, reader, seen) = (record.clone(), record, seen.clone());
        either(
            swap,
            move || {
                write(&writer, 1);
                writer.start(2, start_of(2), amount_of(2, false));
            },
            move || {
                let before = check(reader.read(), &seen);
                let after = check(reader.read(), &seen);
                assert!(after.is_none() || before <= after, "{before:?}, then {after:?}");
            },
        );
    });
}

#[test]
fn two_readers() {
    Model { name: "record: two readers", preemptions: Some(2), least: 1_000, outcomes: &["changed", "1 ended", "2 running"] }
        .explore(|_, seen| {
            let record = Arc::new(Record::new());
            write(&record, 1);
            let readers = [(); 2].map(|()| {
                let (record, seen) = (record.clone(), seen.clone());
                loom::thread::spawn(move || check(record.read(), &seen))
            });
            record.start(2, start_of(2), amount_of(2, false));
            for reader in readers {
                reader.join().expect("a model's thread does not panic");
            }
        });
}

/// TRUNCATE while events come and go: it hides the event that it met, and no later one.
#[test]
fn truncation_hides_what_it_met() {
    Model { name: "record: truncation", preemptions: Some(2), least: 100, outcomes: &["1 hidden", "2 hidden", "2 shown"] }
        .explore(|swap, seen| {
            let record = Arc::new(Record::new());
            write(&record, 1);
            let (owner, truncator, noted) = (record.clone(), record.clone(), seen.clone());
            either(
                swap,
                move || owner.start(2, start_of(2), amount_of(2, false)),
                move || {
                    truncator.hide();
                    if let Found::Row(row) = truncator.read()
                        && row.sequence == 1
                    {
                        assert!(row.hidden, "shown after it was hidden: {row:?}");
                        noted.note("1 hidden");
                    }
                },
            );
            record.end(0, amount_of(2, true));
            if let Found::Row(row) = record.read() {
                seen.note(if row.hidden { "2 hidden" } else { "2 shown" });
            }
            write(&record, 3);
            assert!(
                matches!(record.read(), Found::Row(Row { sequence: 3, hidden: false, .. })),
                "an event that came later is hidden"
            );
        });
}

/// Two truncations at once, while the next event begins: what the one hid, the other does not show again.
#[test]
fn two_truncations_hide_what_either_met() {
    Model { name: "record: two truncations", preemptions: Some(2), least: 100, outcomes: &["2 hidden", "2 shown"] }.explore(
        |swap, seen| {
            let record = Arc::new(Record::to_truncate());
            write(&record, 1);
            let owner = {
                let record = record.clone();
                loom::thread::spawn(move || record.start(2, start_of(2), amount_of(2, false)))
            };
            let hidden = Arc::new(std::sync::atomic::AtomicBool::new(false));
            let truncate = || {
                let (record, hidden) = (record.clone(), hidden.clone());
                move || {
                    record.hide();
                    if let Found::Row(Row { sequence: 2, hidden: true, .. }) = record.read() {
                        hidden.store(true, std::sync::atomic::Ordering::Relaxed);
                    }
                }
            };
            either(swap, truncate(), truncate());
            owner.join().expect("a model's thread does not panic");
            let Found::Row(row) = record.read() else { panic!("nobody writes") };
            assert!(row.hidden || !hidden.load(std::sync::atomic::Ordering::Relaxed), "shown again after it was hidden: {row:?}");
            seen.note(if row.hidden { "2 hidden" } else { "2 shown" });
        },
    );
}
