//! Statements of threads and tasks.
#![cfg(feature = "instrument")]

use perfschema::core::table::Cell;
use perfschema::core::{Lost, Size, ThreadType};
use perfschema::stage::Stage;
use perfschema::statement::{Executing, Statement};
use perfschema::sync::Mutex;
use perfschema::{Instrument, Region, Setting, tables, task, thread};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{MutexGuard, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

static SEARCH: Statement = perfschema::statement!("statement/test/search");
static INSERT: Statement = perfschema::statement!("statement/test/insert");
static SORTING: Stage = perfschema::stage!("stage/test/sorting");
static LOCK: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/LOCK", ());

/// The region, and that no other test uses it meanwhile.
fn region() -> (&'static Region<'static>, MutexGuard<'static, ()>) {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    static REGION: OnceLock<&Region<'static>> = OnceLock::new();
    let alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let region = REGION.get_or_init(|| {
        // Before there is a region a program runs just the same.
        let mut before = SEARCH.begin("before");
        before.fail(1, "HY000", "nobody hears it");
        let builder = perfschema::builder().everything(true).environment(false);
        let region = builder.size(Size::MaxStatementClasses, 2).start().unwrap().region();
        drop(before);
        drop((SEARCH.begin(""), INSERT.begin("")));
        region
    });
    region.enable_everything();
    for table in tables::ALL.iter().filter(|table| table.declaration().name.starts_with("events_")) {
        table.truncate(region).unwrap();
    }
    (region, alone)
}

/// Text, errors and rows sent of those in the long history, in the order in which they began.
fn history(region: &Region<'_>) -> Vec<(String, u64, u64)> {
    let mut rows = Vec::new();
    region.scan(&tables::EventsStatementsHistoryLong, |row| {
        let text = row.sql_text.as_ref().map_or(String::new(), |text| text.as_str().to_owned());
        rows.push((row.thread_id, row.event_id, (text, row.errors, row.rows_sent)));
    });
    rows.sort();
    rows.into_iter().map(|(.., row)| row).collect()
}

#[test]
fn a_statement_lasts_as_long_as_its_scope() {
    let (region, _alone) = region();
    let line = line!() + 1;
    let mut statement = SEARCH.begin_in("parts", "bolts with ä");
    statement.add_rows_sent(1);
    statement.add_rows_sent(2);
    statement.add_rows_examined(30);
    statement.add_rows_affected(4);
    statement.add_warnings(5);
    statement.add_lock_time(Duration::from_nanos(6));
    statement.change(|statistics| statistics.sort_rows = 7);
    let mut seen = 0;
    region.scan(&tables::EventsStatementsCurrent, |row| {
        seen += 1;
        let texts = [&row.sql_text.unwrap() as &dyn std::fmt::Display, &row.current_schema.unwrap(), &row.source.unwrap()];
        assert_eq!(texts.map(|text| text.to_string()), ["bolts with ä".into(), "parts".into(), format!("statements.rs:{line}")]);
        assert_eq!((row.rows_sent, row.rows_examined, row.rows_affected), (3, 30, 4));
        assert_eq!((row.warnings, row.lock_time, row.sort_rows, row.timer_end), (5, 6_000, 7, None));
    });
    assert_eq!(seen, 1);
    drop(statement);
    assert_eq!(history(region), [("bolts with ä".into(), 0, 3)]);
}

#[test]
fn what_fails_says_how() {
    let (region, _alone) = region();
    let mut statement = INSERT.begin("insert");
    statement.fail(1, "42000", "the first");
    statement.fail(1062, "23000", "it is there already");
    drop(statement);
    region.scan(&tables::EventsStatementsHistory, |row| {
        let texts = [row.returned_sqlstate.unwrap().to_string(), row.message_text.unwrap().to_string()];
        assert_eq!((row.mysql_errno, row.errors, texts), (Some(1062), 2, ["23000".into(), "it is there already".into()]));
    });
    // Also by a panic.
    let panics = std::panic::catch_unwind(|| {
        let _statement = SEARCH.begin("panics");
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(panics.is_err());
    assert_eq!(history(region), [("insert".into(), 2, 0), ("panics".into(), 0, 0)]);
}

#[test]
fn what_a_thread_does_meanwhile_lies_within() {
    let (region, _alone) = region();
    {
        let _search = SEARCH.begin("search");
        SORTING.begin();
        drop(LOCK.lock());
        let _insert = INSERT.begin("insert");
    }
    let mut waits = Vec::new();
    region.scan(&tables::EventsWaitsHistory, |row| waits.push(row.nesting_event_type.value().to_string()));
    let mut stages = Vec::new();
    region.scan(&tables::EventsStagesHistory, |row| stages.push(row.nesting_event_type.value().to_string()));
    let mut levels = Vec::new();
    region.scan(&tables::EventsStatementsHistory, |row| levels.push(row.nesting_event_level));
    levels.sort();
    assert_eq!((waits, stages, levels), (vec!["STAGE".to_string()], vec!["STATEMENT".to_string()], vec![Some(0), Some(1)]));
}

/// An attached task has statements of its own, wherever it is polled.
#[test]
fn a_task_takes_its_statements_along() {
    let (region, _alone) = region();
    let mut polled = false;
    let work = async {
        let mut statement = SEARCH.begin("of the task");
        std::future::poll_fn(|_| if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }).await;
        statement.add_rows_sent(1);
    };
    let mut future = pin!(task::attach("thread/test/task", work));
    let mut context = Context::from_waker(Waker::noop());
    assert!(future.as_mut().poll(&mut context).is_pending());
    drop(SEARCH.begin("of the thread"));
    assert_eq!(history(region), [("of the thread".into(), 0, 0)]);
    assert!(future.as_mut().poll(&mut context).is_ready());
    let texts: Vec<String> = history(region).into_iter().map(|(text, ..)| text).collect();
    assert_eq!(texts.len(), 2);
    assert!(texts.contains(&"of the task".into()));
}

/// `processlist` has a row for a task that serves a user, whoever polls it, and says what it executes between its polls, too.
#[test]
fn the_processlist_shows_tasks() {
    let (region, _alone) = region();
    let list = || {
        let mut rows = Vec::new();
        region.scan(&tables::Processlist, |row| {
            let text = |text: Option<&str>| text.unwrap_or("NULL").to_owned();
            let user = text(row.user.as_ref().map(|user| user.as_str()));
            let state = text(row.state.as_ref().map(|state| state.as_str()));
            rows.push([user, text(row.command), state, text(row.info.as_ref().map(|info| info.as_str()))].join(" "));
        });
        rows
    };
    let mut polls = 0;
    let work = std::future::poll_fn(|_| {
        polls += 1;
        Poll::<()>::Pending
    });
    let work = async {
        let _statement = SEARCH.begin_in("parts", "of the task");
        SORTING.begin();
        work.await;
    };
    let host = "192.0.2.7";
    let mut task = Box::pin(task::attach_as("thread/test/task", ThreadType::Foreground, "joe", host, work));
    assert_eq!(list(), [""; 0], "nobody serves a user");
    assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let _own = INSERT.begin("of the thread");
    assert_eq!(list(), ["joe Query sorting of the task"]);
    drop(task);
    assert_eq!(list(), [""; 0]);
}

/// One that is dropped with its future, where another records, is none of that one's.
#[test]
fn a_statement_that_is_dropped_with_its_task_is_gone() {
    let (region, _alone) = region();
    let mut context = Context::from_waker(Waker::noop());
    let outer = INSERT.begin("outer");
    {
        let work = async {
            let _statement = SEARCH.begin("dropped");
            std::future::pending::<()>().await;
        };
        let mut future = Box::pin(task::attach("thread/test/task", work));
        assert!(future.as_mut().poll(&mut context).is_pending());
    }
    drop(LOCK.lock());
    drop(outer);
    assert!(history(region).contains(&("outer".into(), 0, 0)));
    let mut nesting = Vec::new();
    region.scan(&tables::EventsWaitsHistory, |row| nesting.push(row.nesting_event_type.value().to_string()));
    assert_eq!(nesting, ["STATEMENT"]);
}

#[test]
fn what_finds_no_room_or_is_off_is_none() {
    let (region, _alone) = region();
    static THIRD: Instrument = Instrument::new("statement/test/third");
    let third: Executing = Statement::with_instrument(&THIRD).begin("third");
    drop(third);
    assert_eq!(region.lost(Lost::StatementClasses), 1);
    region.set_setting(region.find_class("statement/test/search").unwrap(), Setting::OFF);
    let mut statement = SEARCH.begin("off");
    statement.change(|_| panic!("it is off"));
    drop(statement);
    assert_eq!(history(region), []);
}

/// As `statement.change(|figures| figures.rows_sent -= 1)` does in a build with debug assertions.
#[test]
fn a_change_that_panics_leaves_the_thread_recording() {
    let (region, _alone) = region();
    let thread = std::thread::spawn(move || {
        drop(SEARCH.begin("before"));
        let (id, levels) = (thread::current_id(), region.lost(Lost::NestedLevels));
        for _ in 0..4 {
            let mut statement = SEARCH.begin("panics");
            let change = || statement.change(|figures| assert_ne!(figures.rows_sent, 0, "on purpose"));
            std::panic::catch_unwind(AssertUnwindSafe(change)).unwrap_err();
        }
        drop(SEARCH.begin("after"));
        assert_eq!((thread::current_id(), region.lost(Lost::NestedLevels)), (id, levels));
    });
    thread.join().unwrap();
    assert_eq!(history(region).len(), 6);
}

/// What a program does to find its figures is the thread's, and lies within the statement.
#[test]
fn what_a_change_does_is_the_threads() {
    let (region, _alone) = region();
    let mut statement = SEARCH.begin("changes");
    statement.change(|figures| {
        drop(LOCK.lock());
        figures.rows_sent = 1;
    });
    drop(statement);
    let mut waits = Vec::new();
    region.scan(&tables::EventsWaitsHistoryLong, |row| {
        waits.push((Some(row.thread_id), row.nesting_event_type.value().to_string()));
    });
    assert_eq!(waits, [(thread::current_id(), "STATEMENT".to_owned())]);
    assert_eq!(history(region), [("changes".to_owned(), 0, 1)]);
}
