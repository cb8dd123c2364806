//! Stages of threads and tasks.
#![cfg(feature = "instrument")]

mod common;

use perfschema::core::{InstrumentName, Lost, Size};
use perfschema::stage::{Entered, OfTask, Stage};
use perfschema::sync::Mutex;
use perfschema::{Consumer, Instrument, Region, Setting, tables, task, thread};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{MutexGuard, mpsc};
use std::task::{Context, Poll, Waker};

static READING: Stage = perfschema::stage!("stage/test/reading");
static SORTING: Stage = perfschema::stage!("stage/test/sorting");
static WRITING: Stage = perfschema::stage!("stage/test/writing");
static LOCK: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/LOCK", ());

/// The region, and that no other test uses it meanwhile.
fn region() -> (&'static Region<'static>, MutexGuard<'static, ()>) {
    let (region, alone) = common::alone(|| {
        // Before there is a region a program runs just the same.
        let entered = READING.enter();
        SORTING.begin();
        SORTING.add_work_completed(1);
        drop(entered);
        let builder = perfschema::builder().everything(true).environment(false);
        let region = builder.size(Size::MaxStageClasses, 3).start().unwrap().region();
        for stage in [&READING, &SORTING, &WRITING] {
            stage.begin();
            stage.end();
        }
        region
    });
    region.enable_everything();
    tables::find("events_stages_summary_global_by_event_name").unwrap().truncate(region).unwrap();
    (region, alone)
}

/// COUNT_STAR of reading, sorting and writing.
fn counts(region: &Region<'_>) -> [u64; 3] {
    ["reading", "sorting", "writing"].map(|name| {
        let class = region.find_class(&format!("stage/test/{name}")).unwrap();
        region.summary_by_event_name(class).count
    })
}

/// The stage that a thread is in, and how far that is.
fn current(region: &Region<'_>, thread_id: u64) -> Option<(String, Option<u64>, Option<u64>)> {
    let mut found = None;
    region.scan(&tables::EventsStagesCurrent, |row| {
        if row.thread_id == thread_id && row.end_event_id.is_none() {
            let name = row.event_name.as_str().rsplit('/').next().unwrap().to_owned();
            assert!(found.replace((name, row.work_completed, row.work_estimated)).is_none(), "one stage at a time");
        }
    });
    found
}

fn name(region: &Region<'_>) -> Option<String> {
    current(region, thread::thread_id().unwrap()).map(|(name, ..)| name)
}

#[test]
fn a_thread_is_in_one_stage_at_a_time() {
    let (region, _alone) = region();
    READING.begin();
    assert_eq!(name(region).as_deref(), Some("reading"));
    SORTING.begin();
    assert_eq!((name(region).as_deref(), counts(region)), (Some("sorting"), [1, 0, 0]));
    READING.end();
    assert_eq!(name(region).as_deref(), Some("sorting"), "it is not in that one");
    SORTING.end();
    assert_eq!((name(region), counts(region)), (None, [1, 1, 0]));
    SORTING.end();
    assert_eq!(counts(region), [1, 1, 0]);
}

#[test]
fn a_scope_ends_its_own_stage_only() {
    let (region, _alone) = region();
    {
        let _reading = READING.enter();
        {
            let _sorting = SORTING.enter();
            assert_eq!((name(region).as_deref(), counts(region)), (Some("sorting"), [1, 0, 0]));
        }
        // "Everything will appear to be linear."
        assert_eq!((name(region), counts(region)), (None, [1, 1, 0]));
        WRITING.begin();
    }
    assert_eq!((name(region).as_deref(), counts(region)), (Some("writing"), [1, 1, 0]));
    // A scope of the same instrument, not the same stage.
    let outer = READING.enter();
    READING.begin();
    drop(outer);
    assert_eq!(name(region).as_deref(), Some("reading"));
    READING.end();
    let panics = std::panic::catch_unwind(|| {
        let _sorting = SORTING.enter();
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(panics.is_err());
    assert_eq!((name(region), counts(region)), (None, [3, 2, 1]));
}

#[test]
fn progress_is_that_of_the_stage_that_it_is_said_of() {
    let (region, _alone) = region();
    let here = thread::thread_id();
    let progress =
        || current(region, here.or_else(thread::thread_id).unwrap()).map(|(_, completed, estimated)| (completed, estimated));
    READING.set_work_estimated(7);
    READING.begin();
    assert_eq!(progress(), Some((None, None)));
    READING.set_work_estimated(100);
    READING.add_work_completed(3);
    READING.add_work_completed(4);
    SORTING.set_work_completed(50);
    assert_eq!(progress(), Some((Some(7), Some(100))));
    READING.set_work_completed(u64::MAX);
    READING.add_work_completed(1);
    assert_eq!(progress(), Some((Some(u64::MAX - 1), Some(100))));
    READING.end();
    READING.add_work_completed(1);
    assert_eq!(progress(), None);
}

#[test]
fn waits_show_their_stage() {
    let (region, _alone) = region();
    std::thread::spawn(move || {
        let _reading = READING.enter();
        drop(LOCK.lock().unwrap());
        let thread_id = thread::thread_id().unwrap();
        let mut nesting = Vec::new();
        region.scan(&tables::EventsWaitsHistory, |row| {
            if row.thread_id == thread_id {
                nesting.push((row.event_id, row.nesting_event_id, row.nesting_event_type.map(|kind| kind.name())));
            }
        });
        assert_eq!(nesting, [(2, Some(1), Some("STAGE"))]);
    })
    .join()
    .unwrap();
}

#[test]
fn the_end_of_a_thread_ends_its_stage() {
    let (region, _alone) = region();
    let (send, receive) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        READING.begin();
        send.send(thread::thread_id().unwrap()).unwrap();
    });
    let id = receive.recv().unwrap();
    thread.join().unwrap();
    assert_eq!((current(region, id), counts(region)), (None, [1, 0, 0]));
    let mut history = Vec::new();
    region.scan(&tables::EventsStagesHistoryLong, |row| {
        if row.thread_id == id {
            history.push((row.event_name.to_string(), row.timer_wait.is_some()));
        }
    });
    assert_eq!(history, [("stage/test/reading".to_owned(), true)]);
}

#[test]
fn a_task_is_in_a_stage_of_its_own() {
    let (region, _alone) = region();
    WRITING.begin();
    let mut polls = 0;
    let mut task = pin!(task::attach(
        "task/test/sorter",
        poll_fn(|_| {
            polls += 1;
            match polls {
                1 => {
                    READING.begin();
                    Poll::Pending
                }
                2 => {
                    assert_eq!(name(region).as_deref(), Some("reading"));
                    SORTING.begin();
                    Poll::Pending
                }
                _ => Poll::Ready(()),
            }
        })
    ));
    let mut poll = || task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
    assert!(!poll());
    assert_eq!(name(region).as_deref(), Some("writing"));
    assert!(!std::thread::scope(|scope| scope.spawn(|| { false }).join().unwrap()) && !poll());
    assert_eq!((name(region).as_deref(), counts(region)), (Some("writing"), [1, 0, 0]));
    assert!(poll());
    assert_eq!((name(region).as_deref(), counts(region)), (Some("writing"), [1, 1, 0]));
    WRITING.end();
}

#[test]
fn each_stage_knows_where_it_began() {
    let (region, _alone) = region();
    let source = || {
        let mut found = None;
        region.scan(&tables::EventsStagesCurrent, |row| {
            if Some(row.thread_id) == perfschema::thread::thread_id() {
                found = row.source.map(|source| source.to_string());
            }
        });
        found
    };
    let line = |line: u32| Some(format!("stages.rs:{line}"));
    READING.begin();
    assert_eq!(source(), line(line!() - 1));
    let entered = SORTING.enter();
    assert_eq!(source(), line(line!() - 1));
    drop(entered);
    let task = task::attach("task/test/source", async {
        let _entered = SORTING.enter_async();
        assert_eq!(source(), line(line!() - 1));
    });
    assert!(std::pin::pin!(task).poll(&mut Context::from_waker(Waker::noop())).is_ready());
    READING.end();
}

/// Held while a task waits, and by whichever thread polls it; in a task that nobody shows it is nothing, also to the thread.
#[test]
fn a_task_holds_its_stage_over_an_await() {
    async fn sort(region: &Region<'_>, expected: Option<&str>) {
        let _stage = SORTING.enter_async();
        assert_eq!(name(region).as_deref(), expected);
        let mut polled = false;
        poll_fn(|_| if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }).await;
        assert_eq!(name(region).as_deref(), expected);
    }
    let (region, _alone) = region();
    WRITING.begin();
    // Whatever is known of threads that end meanwhile.
    let before = counts(region);
    let by_two_threads = |mut task: std::pin::Pin<Box<dyn Future<Output = ()> + Send>>| {
        let mut context = Context::from_waker(Waker::noop());
        assert!(task.as_mut().poll(&mut context).is_pending());
        assert_eq!(name(region).as_deref(), Some("writing"));
        let mut ends = || assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
        std::thread::scope(|scope| scope.spawn(&mut ends).join().unwrap());
    };
    by_two_threads(Box::pin(task::attach("task/test/sorter", sort(region, Some("sorting")))));
    assert_eq!(counts(region), [before[0], before[1] + 1, before[2]]);
    let mut unattached = Box::pin(sort(region, Some("writing")));
    assert!(unattached.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(unattached);
    assert_eq!((name(region).as_deref(), counts(region)), (Some("writing"), [before[0], before[1] + 1, before[2]]));
    WRITING.end();
}

/// Who is in it is not at hand: its stage ends as of that moment, once that one goes on.
#[test]
fn a_stage_may_be_given_away() {
    let (region, _alone) = region();
    let end_elsewhere = |stage| {
        std::thread::spawn(move || drop::<Entered<OfTask>>(stage)).join().unwrap();
        // Later, by the same timer.
        READING.begin();
        READING.end();
    };
    let (give, take) = mpsc::channel();
    let mut task = Box::pin(task::attach("task/test/gives", async move {
        let own = thread::thread_id().unwrap();
        let give = |stage| give.send((own, stage)).unwrap();
        let pending = || {
            let mut polled = false;
            poll_fn(move |_| if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending })
        };
        give(SORTING.enter_async());
        pending().await;
        assert_eq!(current(region, own), None);
        // Without a poll between.
        let stage = SORTING.enter_async();
        std::thread::spawn(move || drop(stage)).join().unwrap();
        WRITING.begin();
        assert_eq!((name(region).as_deref(), counts(region)[1]), (Some("writing"), 2));
        give(SORTING.enter_async());
        pending().await;
    }));
    let mut poll = || assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    for ended in [0, 2] {
        poll();
        let (task, stage) = take.recv().unwrap();
        end_elsewhere(stage);
        let current = current(region, task).map(|(name, ..)| name);
        assert_eq!((current.as_deref(), counts(region)[1]), (Some("sorting"), ended), "until it goes on");
    }
    // It ends.
    drop(task);
    assert_eq!(counts(region), [2, 3, 1]);
    let (mut sorted, mut read) = (Vec::new(), Vec::new());
    region.scan(&tables::EventsStagesHistoryLong, |row| match row.event_name.as_str() {
        "stage/test/sorting" => sorted.push(row.timer_end.unwrap()),
        "stage/test/reading" => read.push(row.timer_start.unwrap()),
        _ => {}
    });
    let [.., first, _, last] = sorted[..] else { panic!("{sorted:?}") };
    let [.., after_first, after_last] = read[..] else { panic!("{read:?}") };
    assert!(first <= after_first && last <= after_last, "{sorted:?} {read:?}");

    // A thread's, by a task that it polls.
    let mut stage = Some(READING.enter());
    let ends_it = async { drop(stage.take()) };
    let mut task = pin!(task::attach("task/test/ends_it", ends_it));
    assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    assert_eq!(name(region), None);
}

#[test]
fn what_is_off_or_has_no_room_ends_the_stage_before() {
    static OVERFLOW: Instrument = Instrument::new("stage/test/there is no room for this");
    static LATE: Stage = Stage::with_instrument(&OVERFLOW);
    let (region, _alone) = region();
    let class = |name: &str| region.register(InstrumentName::new(name).unwrap(), Setting::OFF).unwrap();
    region.set_setting(class("stage/test/sorting"), Setting::OFF);
    READING.begin();
    SORTING.begin();
    assert_eq!((name(region), counts(region)), (None, [1, 0, 0]));
    READING.begin();
    region.flush_status();
    for _ in 0..2 {
        LATE.begin();
        assert_eq!((name(region), counts(region)), (None, [2, 0, 0]));
    }
    LATE.end();
    assert_eq!(region.lost(Lost::StageClasses), 1);
    region.set_consumer(Consumer::EventsStagesCurrent, false);
    WRITING.begin();
    WRITING.set_work_estimated(1);
    WRITING.end();
    assert_eq!((name(region), counts(region)), (None, [2, 0, 1]));
}
