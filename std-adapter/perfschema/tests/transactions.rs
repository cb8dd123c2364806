//! Transactions of threads and tasks.
#![cfg(feature = "instrument")]

mod common;

use perfschema::core::table::Cell;
use perfschema::core::{Lost, Size};
use perfschema::statement::Statement;
use perfschema::transaction::{OfTask, Transaction};
use perfschema::{Region, Setting, tables, task, transaction};
use std::pin::pin;
use std::sync::MutexGuard;
use std::task::{Context, Poll, Waker};

static QUERY: Statement = perfschema::statement!("statement/test/query");

/// The region, and that no other test uses it meanwhile.
fn region() -> (&'static Region<'static>, MutexGuard<'static, ()>) {
    let (region, alone) = common::alone(|| {
        // Before there is a region a program runs just the same.
        let mut before = transaction::begin();
        before.set_gtid("nobody hears it");
        let region = perfschema::builder().everything(true).environment(false).start().unwrap().region();
        before.commit();
        transaction::begin().rollback();
        region
    });
    region.enable_everything();
    for table in tables::ALL.iter().filter(|table| table.declaration().name.starts_with("events_")) {
        table.truncate(region).unwrap();
    }
    (region, alone)
}

/// What a row says.
fn said(row: &tables::EventsTransactionsRow) -> String {
    let cells = [
        row.state.value(),
        row.trx_id.value(),
        row.gtid.value(),
        row.access_mode.value(),
        row.isolation_level.value(),
        row.autocommit.value(),
        row.number_of_savepoints.value(),
        row.number_of_rollback_to_savepoint.value(),
        row.number_of_release_savepoint.value(),
    ];
    cells.map(|cell| cell.to_string()).join(" ")
}

/// Those that run.
fn current(region: &Region<'_>) -> Vec<String> {
    let mut rows = Vec::new();
    region.scan(&tables::EventsTransactionsCurrent, |row| rows.extend(row.timer_end.is_none().then(|| said(row))));
    rows
}

/// Those that have ended, in the order in which they began.
fn history(region: &Region<'_>) -> Vec<String> {
    let mut rows = Vec::new();
    region.scan(&tables::EventsTransactionsHistoryLong, |row| rows.push((row.thread_id, row.event_id, said(row))));
    rows.sort();
    rows.into_iter().map(|(.., row)| row).collect()
}

#[test]
fn a_transaction_is_committed_or_rolled_back() {
    let (region, _alone) = region();
    let line = line!() + 1;
    let mut first = transaction::options().isolation_level("SERIALIZABLE").autocommit().begin();
    first.set_id(7);
    first.set_gtid("0-1-77");
    (0..3).for_each(|_| first.savepoint());
    (0..2).for_each(|_| first.rollback_to_savepoint());
    first.release_savepoint();
    assert_eq!(current(region), ["ACTIVE 7 NULL READ WRITE SERIALIZABLE YES 3 2 1"]);
    let mut source = String::new();
    region.scan(&tables::EventsTransactionsCurrent, |row| source = row.source.as_ref().unwrap().as_str().to_owned());
    assert_eq!(source, format!("transactions.rs:{line}"));
    first.commit();
    assert_eq!(current(region), [""; 0]);
    drop(transaction::options().read_only().begin());
    transaction::begin().rollback();
    assert_eq!(
        history(region),
        [
            "COMMITTED 7 0-1-77 READ WRITE SERIALIZABLE YES 3 2 1",
            "ROLLED BACK NULL NULL READ ONLY NULL NO 0 0 0",
            "ROLLED BACK NULL NULL READ WRITE NULL NO 0 0 0",
        ]
    );
}

/// Also where it is left by a panic, and where statements begin and end it.
#[test]
fn what_a_thread_does_meanwhile_lies_within() {
    let (region, _alone) = region();
    let begins = QUERY.begin("BEGIN");
    let transaction = transaction::begin();
    drop(begins);
    drop(QUERY.begin("UPDATE"));
    let ends = QUERY.begin("COMMIT");
    transaction.commit();
    drop(ends);
    let panicked = std::panic::catch_unwind(|| {
        let _transaction = transaction::begin();
        let _statement = QUERY.begin("DELETE");
        panic!("it fails");
    });
    assert!(panicked.is_err());
    let mut nesting = Vec::new();
    region.scan(&tables::EventsStatementsHistoryLong, |row| {
        let text = row.sql_text.as_ref().unwrap().as_str().to_owned();
        nesting.push((row.event_id, text, row.nesting_event_type.map(|of| of.name())));
    });
    nesting.sort();
    let nesting: Vec<_> = nesting.iter().map(|(_, text, of)| (text.as_str(), *of)).collect();
    let within = Some("TRANSACTION");
    assert_eq!(nesting, [("BEGIN", None), ("UPDATE", within), ("COMMIT", within), ("DELETE", within)]);
    let states = history(region).concat();
    assert!(states.starts_with("COMMITTED") && states.contains("ROLLED BACK"), "{states}");
}

/// By a thread of its own.
fn poll<F: Future + Send>(future: std::pin::Pin<&mut F>) -> Poll<F::Output>
where
    F::Output: Send,
{
    std::thread::scope(|scope| scope.spawn(|| future.poll(&mut Context::from_waker(Waker::noop()))).join().unwrap())
}

async fn once_pending() {
    let mut polled = false;
    std::future::poll_fn(|_| if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

async fn transfer() {
    let mut transaction = transaction::options().read_only().isolation_level("SNAPSHOT").begin_async();
    transaction.savepoint();
    once_pending().await;
    drop(QUERY.begin("SELECT"));
    transaction.set_id(8);
    transaction.set_gtid("0-1-78");
    transaction.commit();
}

#[test]
fn an_attached_task_takes_its_transaction_from_thread_to_thread() {
    let (region, _alone) = region();
    let mut future = pin!(task::attach("task/test/transfer", transfer()));
    assert!(poll(future.as_mut()).is_pending());
    assert_eq!(current(region), ["ACTIVE NULL NULL READ ONLY SNAPSHOT NO 1 0 0"]);
    assert!(poll(future.as_mut()).is_ready());
    assert_eq!(history(region), ["COMMITTED 8 0-1-78 READ ONLY SNAPSHOT NO 1 0 0"]);
    let mut within = Vec::new();
    region.scan(&tables::EventsStatementsHistoryLong, |row| within.push(row.nesting_event_type.map(|of| of.name())));
    assert_eq!(within, [Some("TRANSACTION")]);
}

/// Another thread commits what a task began, and another task, which is polled within it: each time it is the task's that has ended, as of
/// that moment, however many there are.
#[test]
fn what_a_task_gives_away_ends_as_its_own() {
    let (region, _alone) = region();
    const TRANSACTIONS: u64 = 30;
    let nested_lost = region.lost(Lost::NestedEvents);
    let by_another_thread = |transaction: Transaction<OfTask>| async move {
        tokio::task::spawn_blocking(move || {
            let mut transaction = transaction;
            transaction.set_id(5);
            transaction.set_gtid("0-1-5");
            transaction.commit();
        })
        .await
        .unwrap();
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let task = task::attach("task/test/gives", async move {
        for number in 0..TRANSACTIONS {
            let transaction = transaction::begin_async();
            match number % 3 {
                0 => by_another_thread(transaction).await,
                1 => task::attach("task/test/takes", async move { drop(transaction) }).await,
                _ => drop(transaction),
            }
            drop(QUERY.begin("after it"));
        }
    });
    runtime.block_on(async { tokio::spawn(task).await.unwrap() });
    assert_eq!(current(region), [""; 0]);
    let mut rows = Vec::new();
    region.scan(&tables::EventsTransactionsHistoryLong, |row| {
        assert!(row.timer_wait > Some(0) && row.nesting_event_id.is_none(), "{row:?}");
        rows.push((row.thread_id, row.event_id, row.state.value().to_string(), row.gtid.map(|gtid| gtid.to_string())));
    });
    rows.sort();
    assert_eq!(rows.len() as u64, TRANSACTIONS);
    assert!(rows.iter().all(|row| row.0 == rows[0].0), "{rows:?}");
    let (committed, rolled_back) = (("COMMITTED".into(), Some("0-1-5".into())), ("ROLLED BACK".into(), None));
    for (number, (_, _, state, gtid)) in rows.into_iter().enumerate() {
        assert_eq!(&(state, gtid), if number % 3 == 0 { &committed } else { &rolled_back }, "{number}");
    }
    let mut around = 0;
    region.scan(&tables::EventsStatementsHistoryLong, |row| around += u32::from(row.nesting_event_id.is_some()));
    assert_eq!((around, region.lost(Lost::NestedEvents)), (0, nested_lost));
}

#[test]
fn that_of_a_task_without_a_row_is_recorded_when_it_ends() {
    let (region, _alone) = region();
    let mut future = pin!(transfer());
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert_eq!(current(region), [""; 0]);
    assert!(poll(future.as_mut()).is_ready());
    assert_eq!(history(region), ["COMMITTED 8 0-1-78 READ ONLY SNAPSHOT NO 1 0 0"]);
    // Dropped in the middle.
    let mut future = Box::pin(transfer());
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(future);
    assert_eq!(history(region).len(), 2);
    assert!(history(region).contains(&"ROLLED BACK NULL NULL READ ONLY SNAPSHOT NO 1 0 0".into()));
}

#[test]
fn off_there_is_none() {
    let (region, _alone) = region();
    let class = region.find_class("transaction").unwrap();
    let before = region.summary_by_event_name(class).count;
    region.set_setting(class, Setting::OFF);
    let mut off = transaction::begin();
    off.savepoint();
    off.commit();
    assert_eq!(region.summary_by_event_name(class).count, before);
    region.set_setting(class, Setting::ON);
    transaction::begin().commit();
    assert_eq!(region.summary_by_event_name(class).count, before + 1);
    assert_eq!((region.config().get(Size::MaxTransactionClasses), region.lost(Lost::TransactionClasses)), (1, 0));
}
