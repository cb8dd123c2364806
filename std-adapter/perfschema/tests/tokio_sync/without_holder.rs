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

/// The only one that runs.
fn running_row(instrument: &Instrument) -> EventsWaitsRow {
    let mut rows = rows(instrument, tables::EventsWaitsCurrent);
    rows.retain(|row| row.end_event_id.is_none());
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0)
}

#[test]
fn a_single_message_is_waited_for() {
    let instrument = instrument("wait/synch/oneshot/test/answer");
    let (sender, mut receiver) = oneshot::channel_with_instrument(instrument);
    let mut task = Box::pin(attach("task/test/asks", async { ((&mut receiver).await, own_id()) }));
    assert!(poll(task.as_mut()).is_pending());
    let row = running_row(instrument);
    assert_eq!((row.operation, row.timer_end, row.source), ("recv", None, None));
    assert!(poll_elsewhere(task.as_mut()).0.is_pending());
    assert_eq!(running(instrument), [(row.thread_id, "recv")]);
    sender.send("it is").unwrap();
    assert_eq!(poll(task.as_mut()), Poll::Ready((Ok("it is"), row.thread_id)));
    drop(task);
    assert_eq!((running(instrument), ended(instrument)), (vec![], vec![(row.thread_id, "recv")]));
    // It has been received: that it is polled again is no wait.
    assert!(catch_unwind(AssertUnwindSafe(|| poll(pin!(&mut receiver)))).is_err());
    assert_eq!((receiver.try_recv().is_err(), counts(instrument)), (true, (1, 1)));
    drop(receiver);
    assert_eq!(counts(instrument), (1, 0));
    // Nobody will send one.
    let (sender, receiver) = oneshot::channel_with_instrument::<()>(instrument);
    let mut task = Box::pin(attach("task/test/in vain", receiver));
    assert!(poll(task.as_mut()).is_pending());
    drop(sender);
    assert!(matches!(poll(task.as_mut()), Poll::Ready(Err(_))));
    assert_eq!((running(instrument), counts(instrument).0), (vec![], 2));
    // It is there already.
    let (sender, receiver) = oneshot::channel_with_instrument(instrument);
    sender.send(3).unwrap();
    assert_eq!((one_thread().block_on(receiver), counts(instrument).0), (Ok(3), 3));
}

#[test]
fn a_receiver_that_was_given_up_waits_until_it_goes_on_or_is_used_otherwise() {
    let instrument = instrument("wait/synch/oneshot/test/given up");
    let (sender, mut receiver) = oneshot::channel_with_instrument(instrument);
    let id = one_thread().block_on(attach("task/test/gives up", async {
        let short = Duration::from_millis(1);
        assert!(tokio::time::timeout(short, &mut receiver).await.is_err());
        let row = running_row(instrument);
        tokio::select! {
            biased;
            _ = &mut receiver => panic!("nothing was sent"),
            // It goes on.
            () = async { assert_eq!(running_row(instrument).event_id, row.event_id) } => (),
        }
        assert_eq!(receiver.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        assert_eq!((running(instrument), counts(instrument)), (vec![], (1, 1)));
        assert!(poll(pin!(&mut receiver)).is_pending());
        assert_eq!(running(instrument), [(own_id(), "recv")]);
        // It moves, and is the same all the same.
        let mut moved = Box::new(receiver);
        assert!(poll(pin!(&mut moved)).is_pending());
        assert_eq!((running_row(instrument).object_instance_begin, running(instrument).len()), (row.object_instance_begin, 1));
        sender.send(1).unwrap();
        moved.close();
        assert_eq!((running(instrument), counts(instrument)), (vec![], (2, 2)));
        assert_eq!((&mut moved).await, Ok(1));
        assert_eq!(counts(instrument), (3, 3));
        // What is dropped, or becomes tokio's, does not wait.
        let (_sender, mut receiver) = oneshot::channel_with_instrument::<u8>(instrument);
        assert!(poll(pin!(&mut receiver)).is_pending());
        let (_other, mut dropped) = oneshot::channel_with_instrument::<u8>(instrument);
        assert!(poll(pin!(&mut dropped)).is_pending());
        assert_eq!(running(instrument).len(), 2);
        drop(dropped);
        assert_eq!(running(instrument).len(), 1);
        let mut tokios = tokio::sync::oneshot::Receiver::from(receiver);
        assert!(poll(pin!(&mut tokios)).is_pending());
        assert_eq!(running(instrument), []);
        own_id()
    }));
    assert_eq!((ended(instrument), counts(instrument).0), (vec![(id, "recv"); 5], 5));
    // One that was never polled.
    drop(oneshot::channel_with_instrument::<u8>(instrument));
    assert_eq!(counts(instrument).0, 5);
}

#[test]
fn a_receiver_that_was_handed_over_is_recorded_by_who_ends_it() {
    let instrument = instrument("wait/synch/oneshot/test/handed over");
    let (sender, mut receiver) = oneshot::channel_with_instrument(instrument);
    // Of what is not attached.
    assert!(poll(pin!(&mut receiver)).is_pending());
    assert_eq!(running(instrument), []);
    std::thread::sleep(Duration::from_millis(5));
    sender.send(1).unwrap();
    let (polled, elsewhere) = poll_elsewhere(pin!(&mut receiver));
    assert_eq!((polled, ended(instrument)), (Poll::Ready(Ok(1)), vec![(elsewhere, "recv")]));
    let row = &rows(instrument, tables::EventsWaitsHistoryLong)[0];
    assert!(row.timer_wait.unwrap() >= 5_000_000_000, "{row:?}");
    // From one task to another.
    let (sender, receiver) = oneshot::channel_with_instrument(instrument);
    let receiver = std::sync::Mutex::new(receiver);
    let both = || {
        let polls = |_: &mut Context<'_>| poll(pin!(&mut *receiver.lock().unwrap())).map(|result| (result, own_id()));
        attach("task/test/both", std::future::poll_fn(polls))
    };
    let (mut begins, mut ends) = (Box::pin(both()), Box::pin(both()));
    assert!(poll(begins.as_mut()).is_pending());
    let first = running_row(instrument).thread_id;
    sender.send(2).unwrap();
    let Poll::Ready((Ok(2), second)) = poll(ends.as_mut()) else { panic!("it was sent") };
    assert_eq!((ended(instrument)[1..].to_vec(), running(instrument)), (vec![(second, "recv")], vec![(first, "recv")]));
    drop(begins);
    assert_eq!((running(instrument), counts(instrument).0), (vec![], 2));
}

#[test]
fn a_receiver_is_switched_on_and_off() {
    let instrument = instrument("wait/synch/oneshot/test/switched");
    let region = region();
    drop(oneshot::channel_with_instrument::<u8>(instrument).1.try_recv());
    let task = attach("task/test/switched", async {
        let (_sender, mut receiver) = oneshot::channel_with_instrument::<u8>(instrument);
        assert!(poll(pin!(&mut receiver)).is_pending());
        let class = region.find_class(instrument.name()).unwrap();
        drop(receiver);
        region.set_setting(class, Setting::OFF);
        let (sender, mut receiver) = oneshot::channel_with_instrument::<u8>(instrument);
        assert!(poll(pin!(&mut receiver)).is_pending());
        assert_eq!((running(instrument), counts(instrument).0), (vec![], 1));
        // A wait from its next poll on.
        region.set_setting(class, Setting::ON);
        assert!(poll(pin!(&mut receiver)).is_pending());
        assert_eq!(running(instrument), [(own_id(), "recv")]);
        // What was on when it began is recorded.
        region.set_setting(class, Setting::OFF);
        sender.send(1).unwrap();
        assert_eq!(receiver.await, Ok(1));
    });
    one_thread().block_on(task);
    assert_eq!((running(instrument), counts(instrument).0), (vec![], 2));
}

#[test]
fn a_thread_waits_for_a_single_message_and_for_those_to_all() {
    let instruments = ["wait/synch/oneshot/test/blocks", "wait/synch/broadcast/test/blocks"].map(instrument);
    let (answer, mut receiver) = oneshot::channel_with_instrument(instruments[0]);
    let (news, mut reader) = broadcast::channel_with_instrument(instruments[1], 1);
    // Polled before, which is a wait of its own.
    assert!(poll(pin!(&mut receiver)).is_pending());
    let line = line!() + 3;
    let (id, received) = std::thread::scope(|scope| {
        let waiter = scope.spawn(move || {
            let received = (receiver.blocking_recv(), reader.blocking_recv());
            (own_id(), received)
        });
        until_running(instruments[0], 1);
        let first = running_row(instruments[0]);
        answer.send(1).unwrap();
        until_running(instruments[1], 1);
        let second = running_row(instruments[1]);
        news.send(2).unwrap();
        for row in [&first, &second] {
            assert!(row.source.unwrap().as_str().ends_with(&format!("without_holder.rs:{line}")), "{row:?}");
        }
        let (id, received) = waiter.join().unwrap();
        assert_eq!([first, second].map(|row| (row.thread_id, row.operation)), [(id, "recv"); 2]);
        (id, received)
    });
    assert_eq!(received, (Ok(1), Ok(2)));
    let mut answers = rows(instruments[0], tables::EventsWaitsHistoryLong);
    answers.sort_by_key(|row| row.timer_end);
    assert_eq!((answers[0].source, answers[0].timer_end < answers[1].timer_start), (None, true), "{answers:?}");
    assert_eq!((ended(instruments[0]), ended(instruments[1])), (vec![(id, "recv"); 2], vec![(id, "recv")]));
}

#[test]
fn each_receiver_waits_for_what_is_sent_to_all() {
    let instrument = instrument("wait/synch/broadcast/test/news");
    let (sender, mut first) = broadcast::channel_with_instrument(instrument, 2);
    let (mut second, line) = (sender.subscribe(), line!() + 1);
    let mut one = Box::pin(attach("task/test/one", async { (first.recv().await, own_id()) }));
    let mut two = Box::pin(attach("task/test/two", async { (second.recv().await, own_id()) }));
    assert!(poll(one.as_mut()).is_pending());
    assert!(poll(two.as_mut()).is_pending());
    let mut waiting = rows(instrument, tables::EventsWaitsCurrent);
    waiting.sort_by_key(|row| row.thread_id);
    let lines: Vec<_> = waiting.iter().map(|row| row.source.unwrap().as_str().to_owned()).collect();
    assert_eq!(lines, [line, line + 1].map(|line| format!("without_holder.rs:{line}")));
    assert!(waiting.iter().all(|row| row.operation == "recv" && row.timer_end.is_none()));
    assert_eq!(waiting[0].object_instance_begin, waiting[1].object_instance_begin);
    assert!(poll_elsewhere(one.as_mut()).0.is_pending());
    // What sends never waits.
    assert_eq!(one_thread().block_on(attach("task/test/tells", async { sender.send('a') })).unwrap(), 2);
    let ids = [waiting[0].thread_id, waiting[1].thread_id];
    assert_eq!(poll(two.as_mut()), Poll::Ready((Ok('a'), ids[1])));
    assert_eq!(running(instrument), [(ids[0], "recv")]);
    assert_eq!(poll(one.as_mut()), Poll::Ready((Ok('a'), ids[0])));
    drop((one, two));
    assert_eq!((ended(instrument), counts(instrument)), (vec![(ids[1], "recv"), (ids[0], "recv")], (2, 2)));
    // Given up.
    let id = one_thread().block_on(attach("task/test/gives up", async {
        assert!(tokio::time::timeout(Duration::from_millis(1), first.recv()).await.is_err());
        assert_eq!(running(instrument), []);
        // It was too slow, and what is left is there; trying is no wait.
        ('b'..='d').for_each(|letter| _ = sender.send(letter).unwrap());
        assert_eq!(first.recv().await, Err(broadcast::error::RecvError::Lagged(1)));
        assert_eq!((first.recv().await, first.try_recv()), (Ok('c'), Ok('d')));
        own_id()
    }));
    assert_eq!((ended(instrument)[2..].to_vec(), counts(instrument)), (vec![(id, "recv"); 3], (5, 5)));
    // One object, whatever is made of its ends.
    let mut again = sender.downgrade().upgrade().unwrap().clone().subscribe().resubscribe();
    drop((sender, first, second));
    assert_eq!(one_thread().block_on(again.recv()), Err(broadcast::error::RecvError::Closed));
    assert_eq!(counts(instrument), (6, 6));
    let mut objects: Vec<_> =
        rows(instrument, tables::EventsWaitsHistoryLong).iter().map(|row| row.object_instance_begin).collect();
    objects.dedup();
    assert_eq!(objects, [waiting[0].object_instance_begin]);
    drop(again);
    assert_eq!(counts(instrument), (6, 0));
    // One that nobody receives from yet.
    let sender = broadcast::Sender::with_instrument(instrument, 1);
    let mut first = sender.subscribe();
    sender.send('e').unwrap();
    assert_eq!((one_thread().block_on(first.recv()), counts(instrument)), (Ok('e'), (7, 1)));
}

#[test]
fn sums_of_questions_and_answers_are_exact() {
    const TASKS: u64 = 8;
    const TIMES: u64 = 200;
    for (number, (runtime, attached)) in
        [(threads(), true), (threads(), false), (one_thread(), true), (one_thread(), false)].into_iter().enumerate()
    {
        let [answers, news] =
            ["oneshot", "broadcast"].map(|kind| instrument(format!("wait/synch/{kind}/test/sums {number}").leak()));
        let (to_all, _receiver) = broadcast::channel_with_instrument(news, (TASKS * TIMES) as usize);
        let (questions, mut asked) = mpsc::unbounded_channel::<tokio::sync::oneshot::Sender<u64>>();
        let sum: u64 = runtime.block_on(async {
            let tasks: Vec<_> = (0..TASKS)
                .map(|_| {
                    let (questions, mut all) = (questions.clone(), to_all.subscribe());
                    let work = async move {
                        let mut sum = 0;
                        for _ in 0..TIMES {
                            let (answer, receiver) = oneshot::channel_with_instrument(answers);
                            questions.send(answer).unwrap();
                            sum += receiver.await.unwrap();
                            all.recv().await.unwrap();
                        }
                        sum
                    };
                    if attached { tokio::spawn(attach("task/test/sums", work)) } else { tokio::spawn(work) }
                })
                .collect();
            drop(questions);
            while let Some(answer) = asked.recv().await {
                to_all.send(()).unwrap();
                answer.send(1).unwrap();
            }
            let mut sum = 0;
            for task in tasks {
                sum += task.await.unwrap();
            }
            sum
        });
        let all = TASKS * TIMES;
        assert_eq!((sum, counts(answers), counts(news)), (all, (all, 0), (all, all)));
        assert_eq!((running(answers), running(news)), (vec![], vec![]));
    }
}
