//! Transactions that a handler looks at, or has itself.

use super::*;
use crate::table::YesNo;
use crate::transaction::{Entry, EntryText};
use crate::{AccessMode, StatementStart, Text, TransactionDetails, TransactionStart, TransactionState};
use core::ops::RangeInclusive;
use std::format;
use std::string::String;

const TRANSACTION: InstrumentName<'static> = InstrumentName::literal("transaction");
const STATEMENT: InstrumentName<'static> = InstrumentName::literal("statement/test/S");
const WAIT: InstrumentName<'static> = InstrumentName::literal("wait/synch/mutex/test/interrupted");
const HISTORY: u32 = 2;
const CONFIG: Config = Config::EMPTY
    .with(Size::MaxMutexClasses, 1)
    .with(Size::MaxStatementClasses, 1)
    .with(Size::MaxTransactionClasses, 1)
    .with(Size::MaxThreadInstances, 2)
    .with(Size::EventsWaitsHistorySize, 3)
    .with(Size::EventsStatementsHistorySize, 2)
    .with(Size::EventsTransactionsHistorySize, HISTORY)
    .with(Size::EventsTransactionsHistoryLongSize, 32);
/// Outer ones, each with one within it.
const TRANSACTIONS: u64 = 3;
/// How long they last.
const OUTER_NS: u64 = 900;
const INNER_NS: u64 = 100;
/// Events of an outer one: itself, a wait, a statement, the inner one.
const EVENTS: u64 = 4;
/// Inner ones count on from here; they only read, and are one statement's.
const INNER_FROM: u64 = 10;
/// As many as write all of a thread's records once.
const ALL_RECORDS: u64 = (HISTORY as u64 + 6) / 2;

fn is_inner(number: u64) -> bool {
    number > INNER_FROM
}

/// Of one to four words, by turns.
fn isolation_level(number: u64) -> String {
    format!("level {number:>0$}", 8 * (number as usize % 4))
}

fn gtid(number: u64) -> String {
    format!("gtid {number:>0$}", 8 * (number as usize % 3) + 7)
}

fn details(number: u64) -> TransactionDetails {
    TransactionDetails { trx_id: number, savepoints: number, rollbacks_to_savepoint: number, released_savepoints: number }
}

fn state(number: u64) -> TransactionState {
    if number.is_multiple_of(2) { TransactionState::RolledBack } else { TransactionState::Committed }
}

/// Which one began then.
fn number_of(start_ns: u64) -> u64 {
    start_ns / 1_000 + if start_ns % 1_000 == 500 { INNER_FROM } else { 0 }
}

/// Begins a transaction of which everything tells the number.
fn begin(region: &Region<'static>, actor: &Actor<'static>, number: u64, ns: u64) -> crate::Transaction<'static> {
    let switches = region.switches(region.register(TRANSACTION, Setting::ON).unwrap());
    let access_mode = if is_inner(number) { AccessMode::ReadOnly } else { AccessMode::ReadWrite };
    let isolation_level = isolation_level(number);
    let start = TransactionStart { access_mode, isolation_level: &isolation_level, autocommit: is_inner(number), source: None };
    let mut transaction = actor.begin_transaction(&At(ns), switches, &start);
    actor.change_transaction(&mut transaction, |said| *said = details(number));
    actor.set_transaction_gtid(&mut transaction, &gtid(number));
    transaction
}

/// Transaction n begins at n µs; in it are a wait, and a statement, which has another transaction; all of them have ended.
fn outer(region: &Region<'static>, actor: &Actor<'static>, number: u64) -> crate::Transaction<'static> {
    let class = |name: InstrumentName<'static>| region.register(name, Setting::ON).unwrap();
    let start = number * 1_000;
    let outer = begin(region, actor, number, start);
    let (wait, what) = (class(WAIT), WaitStart::new(Operation::Lock));
    let wait = actor.begin(&At(start), region.switches(wait), wait, &what);
    actor.end(&At(start + 1), wait, Held::None);
    let statement = actor.begin_statement(&At(start), region.switches(class(STATEMENT)), &StatementStart::default());
    let inner = begin(region, actor, INNER_FROM + number, start + 500);
    actor.end_transaction(&At(start + 500 + INNER_NS), inner, state(INNER_FROM + number));
    actor.end_statement(&At(start + 700), statement);
    outer
}

fn end(actor: &Actor<'static>, outer: crate::Transaction<'static>, number: u64) {
    actor.end_transaction(&At(number * 1_000 + OUTER_NS), outer, state(number));
}

fn program(region: &Region<'static>, actor: &Actor<'static>, numbers: RangeInclusive<u64>) {
    numbers.for_each(|number| end(actor, outer(region, actor, number), number));
}

/// Every column of a row belongs to the transaction that began when it says. Returns its number.
fn whole(row: &tables::EventsTransactionsRow, at: u64) -> u64 {
    let number = number_of(row.timer_start.expect("all are timed") / 1_000);
    let (outer, is_inner) = (if is_inner(number) { number - INNER_FROM } else { number }, is_inner(number));
    let first = EVENTS * (outer - 1) + 1;
    let last = first + EVENTS - 1;
    assert_eq!(row.event_id, if is_inner { last } else { first }, "{row:?} at {at}");
    assert_eq!(row.event_name, TRANSACTION.as_str(), "{row:?} at {at}");
    let nesting = row.nesting_event_id.zip(row.nesting_event_type.map(|kind| kind.0));
    // A statement, the second of these events.
    assert_eq!(nesting, is_inner.then_some((last - 1, crate::record::EventType::Statement)), "{row:?} at {at}");
    let said = |text: &str| Some(Text::<64>::from(text));
    assert_eq!(row.isolation_level, said(&isolation_level(number)), "{row:?} at {at}");
    let access_mode = if is_inner { AccessMode::ReadOnly } else { AccessMode::ReadWrite };
    assert_eq!((row.access_mode, row.autocommit == YesNo::from(is_inner)), (Some(access_mode), true), "{row:?} at {at}");
    let ended = row.end_event_id.is_some();
    let counts = [row.number_of_savepoints, row.number_of_rollback_to_savepoint, row.number_of_release_savepoint];
    for said in counts.map(Option::unwrap_or_default).into_iter().chain([row.trx_id.unwrap_or(0)]) {
        assert!(said == number || !ended && said == 0, "{row:?} at {at}");
    }
    if ended {
        assert_eq!(row.end_event_id, Some(last), "{row:?} at {at}");
        assert_eq!(row.timer_wait, Some(if is_inner { INNER_NS } else { OUTER_NS } * 1_000), "{row:?} at {at}");
        assert_eq!((row.state, row.gtid), (Some(state(number)), said(&gtid(number))), "{row:?} at {at}");
    } else {
        assert_eq!((row.state, row.gtid), (Some(TransactionState::Active), None), "{row:?} at {at}");
    }
    number
}

/// The same of what is beside a record.
fn whole_beside(beside: &EntryText, number: u64, ended: bool, at: u64) {
    assert_eq!(beside.isolation_level, *isolation_level(number), "{beside:?} at {at}");
    assert_eq!(beside.access_mode == AccessMode::ReadOnly, is_inner(number), "{beside:?} at {at}");
    assert_eq!(beside.autocommit, is_inner(number), "{beside:?} at {at}");
    assert!([0, number].contains(&beside.details.trx_id), "{beside:?} at {at}");
    let end = if ended { (state(number), gtid(number)) } else { (TransactionState::Active, String::new()) };
    assert_eq!((beside.state, beside.gtid.as_str()), (end.0, end.1.as_str()), "{beside:?} at {at}");
    assert!(!ended || beside.details == details(number), "{beside:?} at {at}");
}

/// Sums of so many, all of the same time.
fn sums(count: u64, ns: u64) -> [u64; 4] {
    let each = if count == 0 { 0 } else { ns * 1_000 };
    [count, count * each, each, each]
}

/// Reads all five tables at whatever moment this is. In the sums by thread, those of the first so many that have ended.
fn read(region: &Region<'static>, at: u64) {
    closes(region.scan(&tables::EventsTransactionsCurrent, |row| _ = whole(row, at)), at);
    closes(region.scan(&tables::EventsTransactionsHistory, |row| _ = whole(row, at)), at);
    closes(region.scan(&tables::EventsTransactionsHistoryLong, |row| _ = whole(row, at)), at);
    closes(region.scan(&tables::EventsTransactionsSummaryGlobalByEventName, |_| ()), at);
    // The tables show few of a thread's records, and hide the one that is written next; here is each of them.
    for (index, words) in region.arrays::<RECORD>(Section::TransactionRings).iter().enumerate() {
        let Read::Whole(found) = record::read(words) else { continue };
        let beside = Entry::of(region, crate::event::Place::Ring(index)).read(found.ended);
        if record::still(words, &found) {
            whole_beside(&beside, number_of(found.start), found.ended, at);
        }
    }
    let sweep = region.scan(&tables::EventsTransactionsSummaryByThreadByEventName, |row| {
        let read_write = [row.count_read_write, row.sum_timer_read_write, row.min_timer_read_write, row.max_timer_read_write];
        assert_eq!(read_write, sums(row.count_read_write, OUTER_NS), "{row:?} at {at}");
        let read_only = [row.count_read_only, row.sum_timer_read_only, row.min_timer_read_only, row.max_timer_read_only];
        assert_eq!(read_only, sums(row.count_read_only, INNER_NS), "{row:?} at {at}");
        let all = (row.count_star, row.sum_timer_wait);
        assert_eq!(all, (read_write[0] + read_only[0], read_write[1] + read_only[1]), "{row:?} at {at}");
    });
    closes(sweep, at);
}

/// How many were counted of those that may write, and of those that only read.
fn counted(region: &Region<'static>) -> [u64; 2] {
    let sums = region.transactions_by_event_name(region.find_class(TRANSACTION.as_str()).unwrap());
    [sums.read_write.count, sums.read_only.count]
}

/// A handler reads every table, and has transactions of its own, while its thread goes from transaction to transaction.
#[test]
fn transactions_that_an_interrupt_sees_and_has_too_at_every_step() {
    let (region, untouched) = ground(&CONFIG);
    let mut cases = 0;
    for (records, before, places) in interrupts_by_kind(ALL_RECORDS) {
        for at in places {
            forget(region, &untouched);
            let actors = [(); 2].map(|()| Rc::new(Actor::attach(region, &ActorIdentity::default())));
            let other = Rc::clone(&actors[1]);
            program(region, &actors[0], 1..=before);
            let interrupt = Rc::new(move || {
                if records {
                    program(region, &other, 1..=TRANSACTIONS);
                }
                read(region, at);
            });
            let steps = interrupted(|| program(region, &actors[0], before + 1..=before + TRANSACTIONS), &[(at, interrupt)]);
            let programs = if records && steps[0] > at { 2 } else { 1 };
            read(region, at);
            assert_eq!(counted(region), [before + programs * TRANSACTIONS; 2], "at {at}");
            let (mut kept, mut all, mut statements, mut waits) = (0, 0, 0, 0);
            region.scan(&tables::EventsTransactionsHistory, |_| kept += 1);
            region.scan(&tables::EventsTransactionsHistoryLong, |_| all += 1);
            // Both lie within the outer one.
            region.scan(&tables::EventsStatementsHistory, |row| {
                statements += 1;
                assert_eq!(row.nesting_event_id, Some(row.event_id - 2), "at {at}");
            });
            region.scan(&tables::EventsWaitsHistory, |row| {
                waits += 1;
                assert_eq!(row.nesting_event_id, Some(row.event_id - 1), "at {at}");
            });
            assert_eq!((kept, all), (programs * u64::from(HISTORY), 2 * (before + programs * TRANSACTIONS)), "at {at}");
            assert_eq!((statements, waits), (programs * 2, programs * 3), "at {at}");
            cases += 1;
            if steps[0] <= at {
                break;
            }
        }
    }
    assert!(cases > 1_000, "{cases}");
}

/// What a reader has read beside a record is of the record, or is read again; and the thread is always there.
#[test]
fn transactions_at_every_step_of_a_reader() {
    // Each record is written twice.
    at_every_step_of_a_reader(ground(&CONFIG), INNER_FROM - 1, outer, end, |region, at| {
        let mut rows = 0;
        region.scan(&tables::EventsTransactionsCurrent, |row| {
            whole(row, at);
            rows += 1;
        });
        assert_eq!(rows, 1, "at {at}");
        read(region, at);
    });
}

/// A handler forks while its thread goes from transaction to transaction: what the child shows, then and when its thread has gone on, is
/// whole. What ran goes on, and counts once; what had ended is gone.
#[test]
fn a_fork_at_every_step_of_transactions() {
    let child = Child { pid: 2, os_id: 2, start_unix_ns: 0, start_monotonic_ns: 0 };
    let (region, untouched) = ground(&CONFIG);
    let check = move |at| {
        let mut rows = [const { Vec::new() }; 3];
        region.scan(&tables::EventsTransactionsCurrent, |row| rows[0].push((whole(row, at), row.state)));
        region.scan(&tables::EventsTransactionsHistory, |row| rows[1].push((whole(row, at), row.state)));
        region.scan(&tables::EventsTransactionsHistoryLong, |row| rows[2].push((whole(row, at), row.state)));
        rows.map(|rows| rows.into_iter().collect::<std::collections::BTreeMap<_, _>>())
    };
    // A text begins where a word does.
    let bytes = || region.words().iter().flat_map(|word| word.get().to_le_bytes()).collect::<Vec<u8>>();
    let left_of = |bytes: &[u8], number: u64| {
        let texts = [isolation_level(number), gtid(number), isolation_level(INNER_FROM + number), gtid(INNER_FROM + number)];
        texts.iter().any(|text| (0..bytes.len()).step_by(8).any(|at| bytes[at..].starts_with(text.as_bytes())))
    };
    // The next one takes records that were written before.
    let (before, number) = (ALL_RECORDS, ALL_RECORDS + 1);
    for at in 0.. {
        forget(region, &untouched);
        let actor = Rc::new(Actor::attach(region, &ActorIdentity::default()));
        program(region, &actor, 1..=before);
        let kept = bytes();
        assert!((1..=before).all(|number| left_of(&kept, number)));
        let own = Rc::clone(&actor);
        let ran = Rc::new(RefCell::new(Vec::new()));
        let runs = Rc::clone(&ran);
        let fork = Rc::new(move || {
            region.forked(&child, &[Some(&own)], false);
            let [current, kept, all] = check(at);
            assert!(kept.is_empty() && all.is_empty(), "{kept:?} {all:?} at {at}");
            assert!(current.values().all(|state| *state == Some(TransactionState::Active)), "{current:?} at {at}");
            runs.borrow_mut().extend(current.into_keys());
        });
        let steps = interrupted(|| program(region, &actor, number..=number), &[(at, fork)]);
        let [_, _, all] = check(at);
        if steps[0] > at {
            assert!(ran.borrow().iter().all(|number| all.contains_key(number)), "{ran:?} {all:?} at {at}");
            assert!(all.len() <= 2, "{all:?} at {at}");
            let kept = bytes();
            assert!(!(1..=before).any(|number| left_of(&kept, number)), "at {at}");
            // The thread may have been about to write a count that it had made of the parent's.
            let counts = counted(region);
            assert!(counts.iter().all(|count| [0, 1, before + 1].contains(count)), "{counts:?} at {at}");
            for number in ran.borrow().iter() {
                assert_ne!(counts[usize::from(is_inner(*number))], 0, "{number} at {at}");
            }
        }
        let counts = counted(region);
        program(region, &actor, number + 1..=INNER_FROM - 1);
        let more = INNER_FROM - 1 - number;
        assert_eq!(counted(region), counts.map(|count| count + more), "at {at}");
        let [current, kept, all] = check(at);
        assert_eq!((current.len(), kept.len()), (1, HISTORY as usize), "at {at}");
        let others = 2 * if steps[0] > at { 0 } else { number };
        let of_these = all.len() as u64 - 2 * more - others;
        assert!(of_these <= if steps[0] > at { 2 } else { 0 }, "{all:?} at {at}");
        if steps[0] <= at {
            break;
        }
    }
}
