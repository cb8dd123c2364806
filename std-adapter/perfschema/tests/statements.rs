//! Statements of threads and tasks.
#![cfg(feature = "instrument")]

mod common;

use perfschema::core::table::Cell;
use perfschema::core::{Lost, Size, ThreadType};
use perfschema::stage::Stage;
use perfschema::statement::{Executing, OfTask, Statement};
use perfschema::sync::Mutex;
use perfschema::{Instrument, Region, Setting, tables, task, thread};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::MutexGuard;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

static SEARCH: Statement = perfschema::statement!("statement/test/search");
static INSERT: Statement = perfschema::statement!("statement/test/insert");
static SORTING: Stage = perfschema::stage!("stage/test/sorting");
static LOCK: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/LOCK", ());

/// The region, and that no other test uses it meanwhile.
fn region() -> (&'static Region<'static>, MutexGuard<'static, ()>) {
    let (region, alone) = common::alone(|| {
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
    // There is no panic of its own, however often it has failed.
    let mut statement = SEARCH.begin("fails");
    statement.change(|statistics| statistics.errors = u64::MAX);
    statement.fail(1, "42000", "once more");
    drop(statement);
    assert_eq!(history(region), [("insert".into(), 2, 0), ("panics".into(), 0, 0), ("fails".into(), u64::MAX, 0)]);
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
        let (id, levels) = (thread::thread_id(), region.lost(Lost::NestedLevels));
        for _ in 0..4 {
            let mut statement = SEARCH.begin("panics");
            let change = || statement.change(|figures| assert_ne!(figures.rows_sent, 0, "on purpose"));
            std::panic::catch_unwind(AssertUnwindSafe(change)).unwrap_err();
        }
        drop(SEARCH.begin("after"));
        assert_eq!((thread::thread_id(), region.lost(Lost::NestedLevels)), (id, levels));
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
    assert_eq!(waits, [(thread::thread_id(), "STATEMENT".to_owned())]);
    assert_eq!(history(region), [("changes".to_owned(), 0, 1)]);
}

fn poll<F: Future + Send>(future: std::pin::Pin<&mut F>) -> Poll<F::Output>
where
    F::Output: Send,
{
    std::thread::scope(|scope| scope.spawn(|| future.poll(&mut Context::from_waker(Waker::noop()))).join().unwrap())
}

/// What runs, by text.
fn current(region: &Region<'_>) -> Vec<String> {
    let mut texts = Vec::new();
    region.scan(&tables::EventsStatementsCurrent, |row| {
        if row.timer_end.is_none() {
            texts.extend(row.sql_text.as_ref().map(|text| text.as_str().to_owned()));
        }
    });
    texts
}

async fn once_pending() {
    let mut polled = false;
    std::future::poll_fn(|_| if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

/// Polled by another thread each time: shown while it lasts, and what the task waits for lies within it.
#[test]
fn an_attached_task_takes_what_it_executes_from_thread_to_thread() {
    let (region, _alone) = region();
    let mut future = pin!(task::attach("task/test/request", async {
        let mut statement = SEARCH.begin_async_in("parts", "GET /parts");
        once_pending().await;
        drop(LOCK.lock());
        statement.add_rows_sent(2);
        statement.fail(1040, "08004", "too many");
    }));
    assert!(poll(future.as_mut()).is_pending());
    assert_eq!(current(region), ["GET /parts"]);
    assert!(poll(future.as_mut()).is_ready());
    assert_eq!(current(region), [""; 0]);
    assert_eq!(history(region), [("GET /parts".into(), 1, 2)]);
    let mut statement = (0, 0);
    region.scan(&tables::EventsStatementsHistoryLong, |row| statement = (row.thread_id, row.event_id));
    let mut within = Vec::new();
    region.scan(&tables::EventsWaitsHistoryLong, |row| within.push((row.thread_id, row.nesting_event_id.unwrap())));
    assert_eq!(within, [statement]);
}

/// No actor is known that will be there at its end: it is recorded whole by the one that is.
#[test]
fn what_a_task_without_a_row_executes_is_recorded_when_it_ends() {
    let (region, _alone) = region();
    let count = || region.statements_by_event_name(region.find_class("statement/test/search").unwrap()).0.count;
    let before = count();
    let line = line!() + 2;
    let mut future = pin!(async {
        let mut statement = SEARCH.begin_async_in("parts", "GET /parts");
        once_pending().await;
        statement.add_rows_sent(2);
        statement.fail(1040, "08004", "too many");
    });
    // A thread that goes on meanwhile.
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert_eq!((current(region), count() - before), (vec![], 0));
    drop(LOCK.lock());
    assert!(poll(future.as_mut()).is_ready());
    assert_eq!(count() - before, 1);
    let mut rows = Vec::new();
    region.scan(&tables::EventsStatementsHistoryLong, |row| {
        let waited = row.timer_wait.unwrap() > 0;
        let schema = row.current_schema.as_ref().unwrap().as_str().to_owned();
        let state = row.returned_sqlstate.as_ref().unwrap().as_str().to_owned();
        rows.push((schema, row.errors, state, row.source.as_ref().unwrap().as_str().to_owned(), waited));
    });
    assert_eq!(rows, [("parts".into(), 1, "08004".into(), format!("statements.rs:{line}"), true)]);
    let mut nesting = Vec::new();
    region.scan(&tables::EventsWaitsHistory, |row| nesting.push(row.nesting_event_id));
    assert_eq!(nesting, [None]);
}

/// A task hands out what it has begun, and its caller lets it go: it was executed all the same.
#[test]
fn what_ends_elsewhere_is_counted() {
    let (region, _alone) = region();
    let figures = || region.statements_by_event_name(region.find_class("statement/test/search").unwrap());
    let before = figures();
    let mut context = Context::from_waker(Waker::noop());
    let mut of_task = pin!(task::attach("task/test/request", async { SEARCH.begin_async("of the task") }));
    let mut of_thread = pin!(task::attach("task/test/request", async { SEARCH.begin("of its thread") }));
    let Poll::Ready(mut first) = of_task.as_mut().poll(&mut context) else { panic!("it is ready") };
    let Poll::Ready(second) = of_thread.as_mut().poll(&mut context) else { panic!("it is ready") };
    first.add_rows_sent(3);
    drop((first, second));
    let after = figures();
    assert_eq!((after.0.count - before.0.count, after.1.rows_sent - before.1.rows_sent), (2, 3));
}

/// Another thread ends what a task executes, before the task goes on, or while nobody polls it any more.
#[test]
fn what_ends_elsewhere_is_the_tasks() {
    let (region, _alone) = region();
    let (give, take) = std::sync::mpsc::channel();
    let mut task = Box::pin(task::attach("task/test/request", async move {
        for number in 0..3 {
            give.send(SEARCH.begin_async(&format!("GET {number}"))).unwrap();
            once_pending().await;
        }
    }));
    let end_elsewhere = |mut statement: Executing<OfTask>| {
        let ends = std::thread::spawn(move || {
            statement.add_rows_sent(7);
            statement.fail(1040, "08004", "too many");
        });
        ends.join().unwrap();
    };
    assert!(poll(task.as_mut()).is_pending());
    end_elsewhere(take.recv().unwrap());
    // Nobody else writes there.
    assert_eq!(current(region), ["GET 0"]);
    assert!(poll(task.as_mut()).is_pending());
    assert_eq!((history(region), current(region)), (vec![("GET 0".into(), 1, 7)], vec!["GET 1".into()]));
    let late = take.recv().unwrap();
    assert!(poll(task.as_mut()).is_pending());
    let mut message = None;
    region.scan(&tables::EventsStatementsHistoryLong, |row| message = row.message_text.map(|text| text.to_string()));
    assert_eq!(message.as_deref(), Some("too many"));
    end_elsewhere(take.recv().unwrap());
    drop(task);
    assert_eq!(history(region), [("GET 0".into(), 1, 7), ("GET 2".into(), 1, 7)]);
    // Its task's row is gone: it is counted, and in no history.
    let count = || region.statements_by_event_name(region.find_class("statement/test/search").unwrap()).0.count;
    let before = count();
    end_elsewhere(late);
    assert_eq!(count() - before, 1);
    assert_eq!(history(region), [("GET 0".into(), 1, 7), ("GET 2".into(), 1, 7)]);
}

/// Each is ended by another thread at about the moment at which its task ends.
#[test]
fn what_many_tasks_give_away_is_counted() {
    const THREADS: usize = 6;
    const TASKS: usize = 4000;
    let (region, _alone) = region();
    let count = || region.statements_by_event_name(region.find_class("statement/test/search").unwrap()).0.count;
    let before = count();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            let (give, take) = std::sync::mpsc::channel();
            scope.spawn(move || take.into_iter().for_each(drop));
            scope.spawn(move || {
                for number in 0..TASKS {
                    let give = &give;
                    let mut task = Box::pin(task::attach("task/test/request", async move {
                        give.send(SEARCH.begin_async("GET")).unwrap();
                        once_pending().await;
                    }));
                    assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
                    (0..number % 1000).for_each(|_| std::hint::spin_loop());
                }
            });
        }
    });
    assert_eq!(count() - before, (THREADS * TASKS) as u64);
}

/// Tasks of a runtime with several threads, each in the middle of a statement while others are polled.
#[test]
fn tasks_of_a_runtime_are_told_apart() {
    const TASKS: usize = 50;
    let (region, _alone) = region();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    runtime.block_on(async {
        let tasks = (0..TASKS).map(|number| async move {
            let mut statement = SEARCH.begin_async(&format!("{}", number % 2));
            for _ in 0..10 {
                tokio::task::yield_now().await;
                drop(LOCK.lock());
                statement.add_rows_sent(1);
            }
        });
        let tasks: Vec<_> = tasks
            .enumerate()
            .map(|(number, task)| match number % 2 {
                0 => tokio::spawn(task::attach("task/test/request", task)),
                _ => tokio::spawn(task),
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    let rows = history(region);
    let of = |text: &str| rows.iter().filter(|row| **row == (text.into(), 0, 10)).count();
    assert_eq!((of("0"), of("1"), rows.len()), (TASKS / 2, TASKS / 2, TASKS));
    let mut statements = std::collections::HashMap::new();
    region.scan(&tables::EventsStatementsHistoryLong, |row| {
        if row.sql_text.as_ref().unwrap().as_str() == "0" {
            assert!(statements.insert((row.thread_id, row.event_id), 0).is_none());
        }
    });
    let mut others = 0;
    region.scan(&tables::EventsWaitsHistoryLong, |row| match row.nesting_event_id {
        Some(id) => *statements.get_mut(&(row.thread_id, id)).expect("it lies within a statement of its own task") += 1,
        None => others += 1,
    });
    assert!(statements.len() == TASKS / 2 && statements.values().all(|&waits| waits == 10), "{statements:?}");
    assert_eq!(others, TASKS / 2 * 10);
}
