//! A thread for which there is no slot: what it begins counts, wherever it ends.
#![cfg(feature = "instrument")]

use perfschema::statement::Statement;
use perfschema::sync::Mutex;
use perfschema::task::attach;
use perfschema::{Size, tables, thread};
use std::pin::pin;
use std::sync::Barrier;
use std::task::{Context, Waker};

static QUERY: Statement = perfschema::statement!("statement/test/query");
static LOCK: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/LOCK", ());

#[test]
fn a_statement_that_ends_while_a_task_is_polled_that_has_a_slot() {
    let builder = perfschema::builder().everything(true).environment(false);
    let process = builder.size(Size::MaxThreadInstances, 1).start().unwrap();
    let count = || {
        let mut count = 0;
        process.region().scan(&tables::EventsStatementsSummaryGlobalByEventName, |row| {
            count += if row.event_name == "statement/test/query" { row.count_star } else { 0 };
        });
        count
    };
    // The only slot is another thread's when this one records first.
    let (has_it, go_on) = (Barrier::new(2), Barrier::new(2));
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            drop(LOCK.lock());
            has_it.wait();
            go_on.wait();
        });
        has_it.wait();
        drop(LOCK.lock());
        go_on.wait();
        other.join().unwrap();
    });
    assert_eq!(thread::thread_id(), None);
    let statement = QUERY.begin("begun by the thread");
    let mut task = pin!(attach("task/test/with_slot", async {
        assert!(thread::thread_id().is_some());
        drop(statement);
    }));
    assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    assert_eq!(count(), 1);
    drop(QUERY.begin("begun and ended by the thread"));
    assert_eq!(count(), 2);
}
