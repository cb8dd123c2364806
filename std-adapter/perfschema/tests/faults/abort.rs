//! A panic within an instrumented region: unwound, the wait ends; aborted, the wait is what the dead program did last.

use crate::{Running, start_shared};
use perfschema::sync::Once;
use perfschema::{attach, tables};
use std::panic::{AssertUnwindSafe, catch_unwind};

const UNWOUND: &str = "wait/synch/once/test/unwound";
const ABORTED: &str = "wait/synch/once/test/aborted";

pub(crate) fn program() {
    static UNWOUND: Once = perfschema::once!("wait/synch/once/test/unwound");
    static ABORTED: Once = perfschema::once!("wait/synch/once/test/aborted");
    let region = start_shared().region();
    assert!(catch_unwind(AssertUnwindSafe(|| UNWOUND.call_once(|| panic!("inside")))).is_err());
    region.scan(&tables::EventsWaitsCurrent, |row| assert!(row.timer_end.is_some(), "unwound, the wait has ended"));
    // A panic that cannot be unwound aborts.
    extern "C" fn cannot_unwind() {
        panic!("inside");
    }
    ABORTED.call_once(|| cannot_unwind());
}

#[test]
fn a_panic_that_aborts_leaves_the_wait_running() {
    let mut running = Running::start("abort", "");
    let status = running.process.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(libc::SIGABRT), "{status}");
    let attached = attach(&running.file).unwrap();
    let mut current = Vec::new();
    attached.region().scan(&tables::EventsWaitsCurrent, |row| current.push(row.clone()));
    let [row] = current.as_slice() else { panic!("{current:?}") };
    assert_eq!((row.event_name.as_str(), row.timer_end, row.timer_wait, row.end_event_id), (ABORTED, None, None, None));
    assert!(row.timer_start.is_some() && row.source.is_some_and(|source| source.as_str().starts_with("abort.rs:")));
    let mut ended = Vec::new();
    attached.region().scan(&tables::EventsWaitsHistory, |row| ended.push((row.event_name, row.timer_wait.is_some())));
    assert_eq!(ended, [(UNWOUND.into(), true)]);
    let mut counts = Vec::new();
    attached.region().scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| counts.push((row.event_name, row.count_star)));
    assert_eq!(counts, [(UNWOUND.into(), 1), (ABORTED.into(), 0), ("idle".into(), 0)]);
}
