//! Statements that a handler looks at, or has itself.

use super::*;
use crate::statement::{Entry, Sizes};
use crate::table::{Row, TableSource, Value};
use crate::{StatementError, StatementStart, StatementStatistics, Text};
use core::iter;
use core::ops::RangeInclusive;
use std::format;
use std::string::String;
use std::sync::LazyLock;

const OUTER: InstrumentName<'static> = InstrumentName::literal("statement/test/outer");
const INNER: InstrumentName<'static> = InstrumentName::literal("statement/test/inner");
const STAGE: InstrumentName<'static> = InstrumentName::literal("stage/test/S");
const WAIT: InstrumentName<'static> = InstrumentName::literal("wait/synch/mutex/test/interrupted");
const HISTORY: u32 = 2;
const CONFIG: Config = Config::EMPTY
    .with(Size::MaxMutexClasses, 1)
    .with(Size::MaxStageClasses, 1)
    .with(Size::MaxStatementClasses, 2)
    .with(Size::MaxThreadInstances, 2)
    .with(Size::EventsWaitsHistorySize, 3)
    .with(Size::EventsStagesHistorySize, 2)
    .with(Size::EventsStatementsHistorySize, HISTORY)
    .with(Size::EventsStatementsHistoryLongSize, 32)
    .with(Size::MaxSqlTextLength, 24);
/// Outer ones, each with one within it.
const STATEMENTS: u64 = 3;
/// How long they last.
const OUTER_NS: u64 = 900;
const INNER_NS: u64 = 100;
/// Events of an outer one: itself, its stage, a wait, the inner one.
const EVENTS: u64 = 4;
const FIGURES: [&str; StatementStatistics::COUNT] = [
    "LOCK_TIME",
    "ERRORS",
    "WARNINGS",
    "ROWS_AFFECTED",
    "ROWS_SENT",
    "ROWS_EXAMINED",
    "CREATED_TMP_DISK_TABLES",
    "CREATED_TMP_TABLES",
    "SELECT_FULL_JOIN",
    "SELECT_FULL_RANGE_JOIN",
    "SELECT_RANGE",
    "SELECT_RANGE_CHECK",
    "SELECT_SCAN",
    "SORT_MERGE_PASSES",
    "SORT_RANGE",
    "SORT_ROWS",
    "SORT_SCAN",
    "NO_INDEX_USED",
    "NO_GOOD_INDEX_USED",
];

/// Where the figures are, and their sums by thread. Looked up once: there are very many rows.
static COLUMNS: LazyLock<[usize; FIGURES.len()]> =
    LazyLock::new(|| FIGURES.map(|name| tables::EventsStatementsCurrent::DECLARATION.column(name).unwrap()));
static SUMS: LazyLock<[usize; FIGURES.len()]> = LazyLock::new(|| {
    FIGURES.map(|name| tables::EventsStatementsSummaryByThreadByEventName::DECLARATION.column(&format!("SUM_{name}")).unwrap())
});

/// Inner ones count on from here.
const INNER_FROM: u64 = 10;

/// Of one, two or three words, by turns.
fn text(number: u64) -> String {
    format!("{number:>0$}", 8 * (number as usize % 3) + 5)
}

/// Begins a statement of which everything tells the number.
fn begin(region: &Region<'static>, actor: &Actor<'static>, number: u64, ns: u64) -> crate::Statement<'static> {
    let name = if number > INNER_FROM { INNER } else { OUTER };
    let switches = region.switches(region.register(name, Setting::ON).unwrap());
    let (text, schema) = (text(number), format!("schema {number}"));
    let mut statement = actor.begin_statement(&At(ns), switches, &StatementStart { text: &text, schema: &schema, source: None });
    actor.change_statement(&mut statement, |statistics| {
        *statistics = StatementStatistics::from_values([number; StatementStatistics::COUNT]);
    });
    let message = format!("message {number}");
    let sqlstate = format!("{number:05}");
    actor.set_statement_error(
        &mut statement,
        &StatementError { number: number as u32, sqlstate: sqlstate.as_str().into(), message: message.as_str().into() },
    );
    statement
}

/// Statement n begins at n µs; in it are a stage, which ends with it, a wait, and another statement, which has ended.
fn outer(region: &Region<'static>, actor: &Actor<'static>, number: u64) -> crate::Statement<'static> {
    let class = |name: InstrumentName<'static>| region.register(name, Setting::ON).unwrap();
    let start = number * 1_000;
    let outer = begin(region, actor, number, start);
    actor.begin_stage(&At(start), region.switches(class(STAGE)), None);
    let (wait, what) = (class(WAIT), WaitStart::new(Operation::Lock));
    let wait = actor.begin(&At(start), region.switches(wait), wait, &what);
    actor.end(&At(start + 1), wait, Held::None);
    let inner = begin(region, actor, INNER_FROM + number, start + 500);
    actor.end_statement(&At(start + 500 + INNER_NS), inner);
    outer
}

fn end(actor: &Actor<'static>, outer: crate::Statement<'static>, number: u64) {
    actor.end_statement(&At(number * 1_000 + OUTER_NS), outer);
}

fn program(region: &Region<'static>, actor: &Actor<'static>, numbers: RangeInclusive<u64>) {
    numbers.for_each(|number| end(actor, outer(region, actor, number), number));
}

/// Every column of a row belongs to the statement that began when it says.
fn whole(row: &tables::EventsStatementsRow, at: u64) {
    let start_ns = row.timer_start.expect("all are timed") / 1_000;
    let (outer, is_inner) = (start_ns / 1_000, start_ns % 1_000 == 500);
    let number = if is_inner { INNER_FROM + outer } else { outer };
    let first = EVENTS * (outer - 1) + 1;
    assert_eq!(row.event_id, if is_inner { first + EVENTS - 1 } else { first }, "{row:?} at {at}");
    assert_eq!(row.event_name, if is_inner { INNER } else { OUTER }.as_str(), "{row:?} at {at}");
    assert_eq!(row.sql_text.as_ref().map(|text| text.as_str()), Some(text(number).as_str()), "{row:?} at {at}");
    assert_eq!(row.current_schema.expect("it is said"), *format!("schema {number}"), "{row:?} at {at}");
    let lies_within = (row.nesting_event_id, row.nesting_event_level);
    assert_eq!(lies_within, if is_inner { (Some(first), Some(1)) } else { (None, Some(0)) }, "{row:?} at {at}");
    let ended = row.end_event_id.is_some();
    for (name, column) in iter::zip(FIGURES, *COLUMNS) {
        let figure = row.cell(column);
        assert!(figure == Value::Unsigned(number) || !ended && figure == Value::Unsigned(0), "{name}: {row:?} at {at}");
    }
    let error = (row.mysql_errno, row.returned_sqlstate, row.message_text);
    if ended {
        assert_eq!(row.end_event_id, Some(first + EVENTS - 1), "{row:?} at {at}");
        assert_eq!(row.timer_wait, Some(if is_inner { INNER_NS } else { OUTER_NS } * 1_000), "{row:?} at {at}");
        let (sqlstate, message) = (format!("{number:05}"), format!("message {number}"));
        let said = (Some(number as i32), Some(sqlstate.as_str().into()), Some(message.as_str().into()));
        assert_eq!(error, said, "{row:?} at {at}");
    } else {
        assert_eq!(error, (None, None, None), "{row:?} at {at}");
    }
}

/// Text, schema and stage are of one statement: the outer one, whose stage ends with it.
fn at_one_moment(row: &tables::ThreadsRow, at: u64) {
    let number = row.processlist_info.map(|info| info.as_str().trim_start().parse().expect("it is a number"));
    assert_eq!(number.map(text).as_deref(), row.processlist_info.as_ref().map(|info| info.as_str()), "{row:?} at {at}");
    assert!(number.is_none_or(|number| number < INNER_FROM), "{row:?} at {at}");
    let schema = number.map(|number| Text::from(format!("schema {number}").as_str()));
    assert_eq!(row.processlist_db, schema, "{row:?} at {at}");
    assert!(row.processlist_state.is_none_or(|state| state == "S" && number.is_some()), "{row:?} at {at}");
}

/// Reads all five tables at whatever moment this is. In the sums by thread, those of the first so many that have ended.
fn read(region: &Region<'static>, at: u64) {
    closes(region.scan(&tables::EventsStatementsCurrent, |row| whole(row, at)), at);
    closes(region.scan(&tables::EventsStatementsHistory, |row| whole(row, at)), at);
    closes(region.scan(&tables::EventsStatementsHistoryLong, |row| whole(row, at)), at);
    closes(region.scan(&tables::EventsStatementsSummaryGlobalByEventName, |_| ()), at);
    closes(region.scan(&tables::Threads, |row| at_one_moment(row, at)), at);
    // The tables show few of a thread's records, and hide the one that is written next; here is each of them.
    for (index, words) in region.arrays::<RECORD>(Section::StatementRings).iter().enumerate() {
        let Read::Whole(found) = record::read(words) else { continue };
        let beside = Entry::of(region, Sizes::of(region), crate::event::Place::Ring(index)).read(found.ended);
        if record::still(words, &found) {
            let number = found.start / 1_000 + if found.start % 1_000 == 500 { INNER_FROM } else { 0 };
            assert_eq!(beside.text, *text(number), "{beside:?} at {at}");
            assert_eq!(beside.schema, *format!("schema {number}"), "{beside:?} at {at}");
            assert!([0, number].contains(&beside.statistics.lock_time_ps), "{beside:?} at {at}");
            assert_eq!(u64::from(beside.error.number), if found.ended { number } else { 0 }, "{beside:?} at {at}");
        }
    }
    let sweep = region.scan(&tables::EventsStatementsSummaryByThreadByEventName, |row| {
        let (from, ns) = if row.event_name == INNER.as_str() { (INNER_FROM, INNER_NS) } else { (0, OUTER_NS) };
        let sum: u64 = (1..=row.count_star).map(|number| from + number).sum();
        assert_eq!(row.sum_timer_wait, row.count_star * ns * 1_000, "{row:?} at {at}");
        for (name, column) in iter::zip(FIGURES, *SUMS) {
            assert_eq!(row.cell(column), Value::Unsigned(sum), "{name}: {row:?} at {at}");
        }
    });
    closes(sweep, at);
}

/// A handler reads every table, and has statements of its own, while its thread goes from statement to statement.
#[test]
fn statements_that_an_interrupt_sees_and_has_too_at_every_step() {
    let (region, untouched) = ground(&CONFIG);
    let mut cases = 0;
    for (records, before, places) in interrupts_by_kind(4) {
        for at in places {
            forget(region, &untouched);
            let actors = [(); 2].map(|()| Rc::new(Actor::attach(region, &ActorIdentity::default())));
            let other = Rc::clone(&actors[1]);
            program(region, &actors[0], 1..=before);
            let interrupt = Rc::new(move || {
                if records {
                    program(region, &other, 1..=STATEMENTS);
                }
                read(region, at);
            });
            let steps = interrupted(|| program(region, &actors[0], before + 1..=before + STATEMENTS), &[(at, interrupt)]);
            let programs = if records && steps[0] > at { 2 } else { 1 };
            read(region, at);
            for (name, from) in [(OUTER, 0), (INNER, INNER_FROM)] {
                let (sums, figures) = region.statements_by_event_name(region.find_class(name.as_str()).unwrap());
                let numbers = (1..=before + STATEMENTS).chain(1..=if programs == 2 { STATEMENTS } else { 0 });
                let (count, all) = (numbers.clone().count() as u64, numbers.map(|number| from + number).sum());
                assert_eq!((sums.count, figures.sort_rows), (count, all), "{name:?} at {at}");
            }
            let (mut kept, mut all, mut stages, mut waits) = (0, 0, 0, 0);
            region.scan(&tables::EventsStatementsHistory, |_| kept += 1);
            region.scan(&tables::EventsStatementsHistoryLong, |_| all += 1);
            region.scan(&tables::EventsStagesHistory, |row| {
                stages += 1;
                assert_eq!(row.nesting_event_id, Some(row.event_id - 1), "at {at}");
                assert_eq!(row.timer_wait, Some(OUTER_NS * 1_000), "at {at}");
            });
            region.scan(&tables::EventsWaitsHistory, |row| {
                waits += 1;
                assert_eq!(row.nesting_event_id, Some(row.event_id - 1), "at {at}");
            });
            assert_eq!((kept, all), (programs * u64::from(HISTORY), 2 * (before + programs * STATEMENTS)), "at {at}");
            assert_eq!((stages, waits), (programs * 2, programs * 3), "at {at}");
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
fn statements_at_every_step_of_a_reader() {
    // Each record is written twice.
    at_every_step_of_a_reader(ground(&CONFIG), INNER_FROM - 1, outer, end, |region, at| {
        let mut rows = 0;
        region.scan(&tables::EventsStatementsCurrent, |row| {
            whole(row, at);
            rows += 1;
        });
        assert_eq!(rows, 1, "at {at}");
        let sweep = region.scan(&tables::Threads, |row| at_one_moment(row, at));
        assert_eq!(sweep.rows, 1, "at {at}");
        read(region, at);
    });
}

/// A handler forks while its thread goes from statement to statement: what the child shows, then and when its thread has gone on, is whole.
#[test]
fn a_fork_at_every_step_of_statements() {
    let child = Child { pid: 2, os_id: 2, start_unix_ns: 0, start_monotonic_ns: 0 };
    let (region, untouched) = ground(&CONFIG);
    let check = move |at| {
        let mut rows = [0; 3];
        let mut count = |table: usize, row: &tables::EventsStatementsRow| {
            whole(row, at);
            rows[table] += 1;
        };
        region.scan(&tables::EventsStatementsCurrent, |row| count(0, row));
        region.scan(&tables::EventsStatementsHistory, |row| count(1, row));
        region.scan(&tables::EventsStatementsHistoryLong, |row| count(2, row));
        rows
    };
    for at in 0.. {
        forget(region, &untouched);
        let actor = Rc::new(Actor::attach(region, &ActorIdentity::default()));
        program(region, &actor, 1..=2);
        let own = Rc::clone(&actor);
        let fork = Rc::new(move || {
            region.forked(&child, &[Some(&own)], false);
            check(at);
        });
        let steps = interrupted(|| program(region, &actor, 3..=3), &[(at, fork)]);
        check(at);
        program(region, &actor, 4..=9);
        let [current, kept, all] = check(at);
        assert_eq!((current, kept), (1, u64::from(HISTORY)), "at {at}");
        // Those of 4 to 9, and of 3 what had not ended; or all.
        assert!(if steps[0] > at { (12..=14).contains(&all) } else { all == 18 }, "{all} at {at}");
        if steps[0] <= at {
            break;
        }
    }
}
