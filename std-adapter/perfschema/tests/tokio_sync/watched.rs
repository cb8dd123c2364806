//! What is watched: changes of a value.

use super::*;
use perfschema::tokio::sync::watch;

#[test]
fn a_change_is_waited_for() {
    let instrument = instrument("wait/synch/watch/test/config");
    let (sender, mut receiver) = watch::channel_with_instrument(instrument, 1);
    let line = line!() + 2;
    let mut task = Box::pin(attach("task/test/watches", async {
        receiver.changed().await.unwrap();
        let number = *receiver.wait_for(|&number| number > 3).await.unwrap();
        (number, receiver.changed().await.is_err(), own_id())
    }));
    assert!(poll(task.as_mut()).is_pending());
    let running_row = || rows(instrument, tables::EventsWaitsCurrent).into_iter().find(|row| row.end_event_id.is_none()).unwrap();
    let row = running_row();
    let id = row.thread_id;
    assert_eq!((row.operation, row.timer_end), ("wait", None));
    assert_eq!(row.source.unwrap().as_str(), format!("watched.rs:{line}"));
    assert!(poll_elsewhere(task.as_mut()).0.is_pending());
    assert_eq!((running(instrument), ended(instrument)), (vec![(id, "wait")], vec![]));
    sender.send(2).unwrap();
    assert!(poll_elsewhere(task.as_mut()).0.is_pending());
    let row = running_row();
    assert_eq!((row.thread_id, row.source.unwrap().as_str()), (id, &format!("watched.rs:{}", line + 1)[..]));
    assert_eq!(ended(instrument), [(id, "wait")]);
    // Not what it waits for: the wait goes on.
    sender.send(3).unwrap();
    assert!(poll(task.as_mut()).is_pending());
    let same = running_row();
    assert_eq!((same.event_id, ended(instrument).len()), (row.event_id, 1));
    sender.send_modify(|number| *number += 1);
    assert!(poll(task.as_mut()).is_pending());
    let row = running_row();
    assert_eq!((row.source.unwrap().as_str(), ended(instrument).len()), (&format!("watched.rs:{}", line + 2)[..], 2));
    drop(sender);
    assert_eq!(poll(task.as_mut()), Poll::Ready((4, true, id)));
    assert_eq!((running(instrument), ended(instrument)), (vec![], vec![(id, "wait"); 3]));
    assert_eq!(counts(instrument), (3, 3));
}

#[test]
fn what_is_given_up_loses_no_change() {
    let instrument = instrument("wait/synch/watch/test/given up");
    let (sender, mut receiver) = watch::channel_with_instrument(instrument, 1);
    let id = one_thread().block_on(attach("task/test/gives up", async {
        let short = Duration::from_millis(1);
        assert!(tokio::time::timeout(short, receiver.changed()).await.is_err());
        assert!(tokio::time::timeout(short, receiver.wait_for(|_| false)).await.is_err());
        assert_eq!(running(instrument), []);
        tokio::select! {
            biased;
            _ = receiver.changed() => panic!("nothing has changed"),
            () = async { assert_eq!(running(instrument), [(own_id(), "wait")]) } => (),
        }
        assert_eq!(running(instrument), []);
        // What is never polled is no wait.
        drop(receiver.changed());
        own_id()
    }));
    assert_eq!((ended(instrument), counts(instrument)), (vec![(id, "wait"); 3], (3, 3)));
    // It changes, and who waits is dropped before it knows.
    let mut waits = Box::pin(attach("task/test/dropped", receiver.changed()));
    assert!(poll(waits.as_mut()).is_pending());
    assert_eq!(running(instrument).len(), 1);
    sender.send(2).unwrap();
    drop(waits);
    assert_eq!((running(instrument), counts(instrument)), (vec![], (4, 4)));
    assert!(receiver.has_changed().unwrap());
    assert!(matches!(poll(pin!(receiver.changed())), Poll::Ready(Ok(()))));
    assert_eq!(counts(instrument), (5, 5));
}

#[test]
fn whoever_watches_a_channel_waits_for_one_object() {
    let instrument = instrument("wait/synch/watch/test/ends");
    let sender: watch::Sender<u8> = watch::Sender::with_instrument(instrument, 1);
    let mut receivers = [sender.subscribe(), sender.clone().subscribe(), sender.subscribe().clone()];
    let [one, two, three] = &mut receivers;
    let mut waits = [one.changed(), two.changed(), three.changed()].map(|changed| Box::pin(attach("task/test/ends", changed)));
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
    assert_eq!(running(instrument).iter().map(|&(_, operation)| operation).collect::<Vec<_>>(), ["wait"; 3]);
    assert_eq!(sender.send_replace(2), 1);
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
    drop(waits);
    let mut objects: Vec<_> =
        rows(instrument, tables::EventsWaitsHistoryLong).iter().map(|row| row.object_instance_begin).collect();
    objects.dedup();
    assert_eq!((objects.len(), counts(instrument)), (1, (3, 3)));
    // That nobody is left is no wait.
    let mut closed = Box::pin(attach("task/test/closed", sender.closed()));
    assert!(poll(closed.as_mut()).is_pending());
    assert_eq!(running(instrument), []);
    drop(receivers);
    assert!(poll(closed.as_mut()).is_ready());
    drop(closed);
    assert_eq!(counts(instrument), (3, 3));
    // The instance goes with the last end.
    drop(sender);
    assert_eq!(counts(instrument), (3, 0));
}

#[test]
fn who_is_not_attached_watches_too() {
    let instrument = instrument("wait/synch/watch/test/not attached");
    let (sender, mut receiver) = watch::channel_with_instrument(instrument, 1);
    let mut waits = Box::pin(receiver.changed());
    assert!(poll(waits.as_mut()).is_pending());
    assert_eq!(running(instrument), []);
    std::thread::sleep(Duration::from_millis(5));
    sender.send(2).unwrap();
    let (polled, elsewhere) = poll_elsewhere(waits.as_mut());
    assert!(polled.is_ready());
    drop(waits);
    assert_eq!(ended(instrument), [(elsewhere, "wait")]);
    assert!(rows(instrument, tables::EventsWaitsHistoryLong)[0].timer_wait.unwrap() >= 5_000_000_000);
    // Off, nobody does.
    let class = region().find_class(instrument.name()).unwrap();
    region().set_setting(class, Setting::OFF);
    sender.send(3).unwrap();
    assert!(poll(pin!(receiver.changed())).is_ready());
    assert_eq!(counts(instrument), (1, 1));
}

#[test]
fn a_condition_that_panics_ends_the_wait() {
    let instrument = instrument("wait/synch/watch/test/panics");
    let (sender, mut receiver) = watch::channel_with_instrument(instrument, 1);
    let task = attach("task/test/panics", async {
        let condition = |&number: &u8| match number {
            1 => false,
            _ => panic!("on purpose"),
        };
        drop(receiver.wait_for(condition).await);
    });
    let mut task = Box::pin(task);
    assert!(poll(task.as_mut()).is_pending());
    assert_eq!(running(instrument).len(), 1);
    sender.send_replace(2);
    assert!(catch_unwind(AssertUnwindSafe(|| poll(task.as_mut()))).is_err());
    assert_eq!((running(instrument), counts(instrument)), (vec![], (1, 1)));
    assert_eq!(*sender.borrow(), 2);
}

#[test]
fn sums_of_what_is_watched_are_exact() {
    const TASKS: u64 = 8;
    const CHANGES: u64 = 200;
    let instrument = instrument("wait/synch/watch/test/sums");
    let (sender, receiver) = watch::channel_with_instrument(instrument, 0);
    let waited = threads().block_on(async {
        let tasks: Vec<_> = (0..TASKS)
            .map(|number| {
                let mut receiver = receiver.clone();
                let work = async move {
                    let mut waited = 1;
                    while receiver.changed().await.is_ok() {
                        waited += 1;
                    }
                    assert_eq!(*receiver.wait_for(|&number| number == CHANGES).await.unwrap(), CHANGES);
                    waited + 1
                };
                if number % 2 == 0 { tokio::spawn(attach("task/test/sums", work)) } else { tokio::spawn(work) }
            })
            .collect();
        for _ in 0..CHANGES {
            sender.send_modify(|number| *number += 1);
            tokio::task::yield_now().await;
        }
        drop(sender);
        let mut waited = 0;
        for task in tasks {
            waited += task.await.unwrap();
        }
        waited
    });
    assert!(waited >= 3 * TASKS);
    assert_eq!((counts(instrument), running(instrument)), ((waited, waited), vec![]));
}
