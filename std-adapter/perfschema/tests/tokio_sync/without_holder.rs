//! What nobody holds alone: permits, notifications, channels, barriers.

use super::*;

#[test]
fn permits_are_waited_for() {
    let instrument = instrument("wait/synch/semaphore/test/permits");
    let semaphore = Arc::new(Semaphore::with_instrument(instrument, 2));
    let permits = semaphore.try_acquire_many(2).unwrap();
    let mut one = Box::pin(attach("task/test/one", async { (semaphore.acquire().await.map(drop), own_id()) }));
    let mut three = Box::pin(attach("task/test/three", async {
        (Arc::clone(&semaphore).acquire_many_owned(3).await.map(|permit| permit.num_permits()), own_id())
    }));
    assert!(poll(one.as_mut()).is_pending());
    assert!(poll(three.as_mut()).is_pending());
    let waiting = running(instrument);
    let [(one_id, "acquire"), (three_id, "acquire")] = waiting[..] else { panic!("{waiting:?}") };
    drop(permits);
    assert!(matches!(poll(one.as_mut()), Poll::Ready((Ok(()), id)) if id == one_id));
    assert!(poll(three.as_mut()).is_pending());
    assert_eq!(running(instrument), [(three_id, "acquire")]);
    semaphore.add_permits(1);
    assert!(matches!(poll(three.as_mut()), Poll::Ready((Ok(3), id)) if id == three_id));
    assert_eq!((semaphore.available_permits(), running(instrument)), (3, vec![]));
    // Closed while it waits.
    let mut four = Box::pin(attach("task/test/four", async { (semaphore.acquire_many(4).await.map(drop), own_id()) }));
    assert!(poll(four.as_mut()).is_pending());
    semaphore.close();
    let Poll::Ready((Err(_), four_id)) = poll(four.as_mut()) else { panic!("it is closed") };
    let expected = [(own_id(), "try_acquire"), (one_id, "acquire"), (three_id, "acquire"), (four_id, "acquire")];
    assert_eq!((ended(instrument), counts(instrument)), (expected.to_vec(), (4, 4)));
}

#[test]
fn a_notification_is_waited_for() {
    let instrument = instrument("wait/synch/cond/test/work");
    let notify = Arc::new(Notify::with_instrument(instrument));
    let mut task = Box::pin(attach("task/test/notified", async {
        let notified = pin!(notify.notified());
        notified.await;
        let mut enabled = Box::pin(Arc::clone(&notify).notified_owned());
        // Nobody waits yet.
        assert!(!enabled.as_mut().enable());
        assert_eq!(running(instrument), []);
        enabled.await;
        drop(tokio::time::timeout(Duration::from_millis(1), notify.notified()).await);
        own_id()
    }));
    let runtime = one_thread();
    let _entered = runtime.enter();
    assert!(poll(task.as_mut()).is_pending());
    let [(id, "wait")] = running(instrument)[..] else { panic!("{:?}", running(instrument)) };
    assert!(poll_elsewhere(task.as_mut()).0.is_pending());
    notify.notify_one();
    assert!(poll(task.as_mut()).is_pending());
    assert_eq!((running(instrument), ended(instrument)), (vec![(id, "wait")], vec![(id, "wait")]));
    notify.notify_waiters();
    assert_eq!(runtime.block_on(task), id);
    // The last one was given up.
    assert_eq!((ended(instrument), counts(instrument)), (vec![(id, "wait"); 3], (3, 3)));
    let mut instances = 0;
    region().scan(&tables::CondInstances, |row| instances += u32::from(row.name == instrument.name()));
    assert_eq!(instances, 1);
}

#[test]
fn a_send_waits_for_room_and_a_receive_for_a_message() {
    let instrument = instrument("wait/synch/mpsc/test/jobs");
    let (sender, mut receiver) = mpsc::channel_with_instrument(instrument, 1);
    let mut receives = Box::pin(attach("task/test/receives", async { (receiver.recv().await, receiver.recv().await, own_id()) }));
    let other: Sender<u32> = sender.clone();
    let mut sends = Box::pin(attach("task/test/sends", async {
        other.send(1).await.unwrap();
        other.send(2).await.unwrap();
        own_id()
    }));
    assert!(poll(receives.as_mut()).is_pending());
    let [(receives_id, "recv")] = running(instrument)[..] else { panic!("{:?}", running(instrument)) };
    assert!(poll(sends.as_mut()).is_pending());
    let both = running(instrument);
    let [(_, "recv"), (sends_id, "send")] = both[..] else { panic!("{both:?}") };
    assert!(poll(receives.as_mut()).is_pending());
    assert_eq!(poll(sends.as_mut()), Poll::Ready(sends_id));
    assert_eq!(poll(receives.as_mut()), Poll::Ready((Some(1), Some(2), receives_id)));
    let (send, recv) = ((sends_id, "send"), (receives_id, "recv"));
    assert_eq!((ended(instrument), counts(instrument)), (vec![send, recv, send, recv], (4, 4)));
    drop((sends, receives));
    // One object, whatever is made of its ends.
    let sender = sender.downgrade().upgrade().unwrap();
    let runtime = one_thread();
    let mut permit = pin!(sender.clone().reserve_owned());
    let Poll::Ready(Ok(permit)) = poll(permit.as_mut()) else { panic!("there is room") };
    let given_up = async { tokio::time::timeout(Duration::from_millis(1), sender.reserve()).await.is_err() };
    assert!(runtime.block_on(given_up));
    drop(permit.send(3));
    std::thread::scope(|scope| {
        scope.spawn(|| sender.blocking_send(4).unwrap());
        scope.spawn(|| assert_eq!((receiver.blocking_recv(), receiver.blocking_recv()), (Some(3), Some(4))));
    });
    let operations: Vec<_> = ended(instrument)[4..].iter().map(|&(_, operation)| operation).collect();
    assert_eq!((operations.len(), operations.iter().filter(|&&operation| operation == "send").count()), (5, 3));
    // reserve was given up, and counts all the same.
    assert_eq!(counts(instrument), (9, 9));
    let mut objects: Vec<_> =
        rows(instrument, tables::EventsWaitsHistoryLong).iter().map(|row| row.object_instance_begin).collect();
    objects.dedup();
    assert_eq!(objects.len(), 1);
}

#[test]
fn what_has_no_bound_is_received_only() {
    let instrument = instrument("wait/synch/mpsc/test/unbounded");
    let (sender, mut receiver) = mpsc::unbounded_channel_with_instrument(instrument);
    let mut task = Box::pin(attach("task/test/unbounded", async {
        let mut some = Vec::new();
        while receiver.recv_many(&mut some, 2).await > 0 {}
        some
    }));
    assert!(poll(task.as_mut()).is_pending());
    assert_eq!(running(instrument).len(), 1);
    (1..=3).for_each(|number| sender.send(number).unwrap());
    assert!(poll(task.as_mut()).is_pending());
    drop(sender);
    assert_eq!(poll(task.as_mut()), Poll::Ready(vec![1, 2, 3]));
    assert_eq!(ended(instrument).iter().map(|&(_, operation)| operation).collect::<Vec<_>>(), ["recv"; 3]);
}

#[test]
fn a_barrier_is_waited_for() {
    let instrument = instrument("wait/synch/barrier/test/start");
    let barrier = Barrier::with_instrument(instrument, 2);
    let mut first = Box::pin(attach("task/test/early", async { (barrier.wait().await.is_leader(), own_id()) }));
    assert!(poll(first.as_mut()).is_pending());
    let [(id, "barrier_wait")] = running(instrument)[..] else { panic!("{:?}", running(instrument)) };
    assert!(one_thread().block_on(barrier.wait()).is_leader());
    assert_eq!(poll(first.as_mut()), Poll::Ready((false, id)));
    assert_eq!((ended(instrument), counts(instrument)), (vec![(own_id(), "barrier_wait"), (id, "barrier_wait")], (2, 2)));
}
