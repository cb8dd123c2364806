//! What is made once: by one of those that want it, or by somebody else.

use super::*;
use perfschema::tokio::sync::{OnceCell, SetOnce};

/// SOURCE of the waits that run now, in the order of their tasks.
fn lines(instrument: &Instrument) -> Vec<String> {
    let mut running = rows(instrument, tables::EventsWaitsCurrent);
    running.retain(|row| row.end_event_id.is_none());
    running.sort_by_key(|row| row.thread_id);
    running.iter().map(|row| row.source.unwrap().as_str().to_owned()).collect()
}

#[test]
fn a_value_is_waited_for_while_it_is_made() {
    let instrument = instrument("wait/synch/once/test/pool");
    let cell = OnceCell::with_instrument(instrument);
    let (go, gone) = tokio::sync::oneshot::channel();
    let line = line!() + 2;
    let mut makes =
        Box::pin(attach("task/test/makes", async { (*cell.get_or_init(|| async { gone.await.unwrap() }).await, own_id()) }));
    let mut waits = Box::pin(attach("task/test/waits", async { (*cell.get_or_init(async || unreachable!()).await, own_id()) }));
    assert!(poll(makes.as_mut()).is_pending());
    let [(makes_id, "call_once")] = running(instrument)[..] else { panic!("{:?}", running(instrument)) };
    assert!(poll(waits.as_mut()).is_pending());
    let both = running(instrument);
    let [(_, "call_once"), (waits_id, "call_once")] = both[..] else { panic!("{both:?}") };
    assert_eq!(lines(instrument), [line, line + 1].map(|line| format!("once.rs:{line}")));
    // Who only looks does not wait.
    assert!(cell.get().is_none() && cell.set(2).is_err_and(|error| error.is_initializing_err()));
    go.send(1).unwrap();
    assert!(poll_elsewhere(waits.as_mut()).0.is_pending());
    assert_eq!(poll_elsewhere(makes.as_mut()).0, Poll::Ready((1, makes_id)));
    assert_eq!(running(instrument), [(waits_id, "call_once")]);
    assert_eq!(poll(waits.as_mut()), Poll::Ready((1, waits_id)));
    assert_eq!((running(instrument), counts(instrument)), (vec![], (2, 2)));
    assert_eq!(ended(instrument), [(makes_id, "call_once"), (waits_id, "call_once")]);
    // There is a value: nobody waits any more.
    assert_eq!(poll(pin!(cell.get_or_init(async || 3))), Poll::Ready(&1));
    assert_eq!(poll(pin!(cell.get_or_try_init(async || Err("never")))), Poll::Ready(Ok(&1)));
    assert_eq!(counts(instrument), (2, 2));
}

#[test]
fn the_next_one_makes_it() {
    let instrument = instrument("wait/synch/once/test/next");
    let cell = OnceCell::with_instrument(instrument);
    let wants = |name, result| {
        let cell = &cell;
        Box::pin(attach(name, async move {
            let result = cell.get_or_try_init(async || {
                tokio::task::yield_now().await;
                result
            });
            (result.await, own_id())
        }))
    };
    let (mut given_up, mut fails) = (wants("task/test/given up", Ok(1)), wants("task/test/fails", Err("no")));
    let mut makes = wants("task/test/makes", Ok(2));
    let runtime = one_thread();
    let _entered = runtime.enter();
    assert!(poll(given_up.as_mut()).is_pending());
    assert!(poll(fails.as_mut()).is_pending());
    assert!(poll(makes.as_mut()).is_pending());
    let three = running(instrument);
    let [(given_up_id, "call_once"), (fails_id, "call_once"), (makes_id, "call_once")] = three[..] else { panic!("{three:?}") };
    drop(given_up);
    assert_eq!(ended(instrument), [(given_up_id, "call_once")]);
    assert!(poll(makes.as_mut()).is_pending());
    assert_eq!(runtime.block_on(fails), (Err("no"), fails_id));
    assert_eq!(runtime.block_on(makes), (Ok(&2), makes_id));
    let expected = [given_up_id, fails_id, makes_id].map(|id| (id, "call_once"));
    assert_eq!((running(instrument), ended(instrument), counts(instrument)), (vec![], expected.to_vec(), (3, 3)));
}

#[test]
fn a_value_that_is_set_is_waited_for() {
    let instrument = instrument("wait/synch/once/test/config");
    let set: SetOnce<u8> = SetOnce::with_instrument(instrument);
    let line = line!() + 1;
    let mut waits = Box::pin(attach("task/test/waits", async { (*set.wait().await, own_id()) }));
    assert!(poll(waits.as_mut()).is_pending());
    let [(id, "call_once")] = running(instrument)[..] else { panic!("{:?}", running(instrument)) };
    assert_eq!(lines(instrument), [format!("once.rs:{line}")]);
    let gives_up = async { tokio::time::timeout(Duration::from_millis(1), set.wait()).await.is_err() };
    assert!(one_thread().block_on(attach("task/test/gives up", gives_up)));
    assert_eq!((running(instrument), counts(instrument)), (vec![(id, "call_once")], (1, 1)));
    // Whoever is not attached is recorded at its end, by who ends it.
    let mut too = Box::pin(set.wait());
    assert!(poll(too.as_mut()).is_pending());
    set.set(5).unwrap();
    assert_eq!(poll_elsewhere(waits.as_mut()).0, Poll::Ready((5, id)));
    let (value, elsewhere) = poll_elsewhere(too.as_mut());
    assert_eq!((value, set.set(6).is_err()), (Poll::Ready(&5), true));
    assert_eq!(ended(instrument)[1..], [(id, "call_once"), (elsewhere, "call_once")]);
    assert_eq!(poll(pin!(set.wait())), Poll::Ready(&5));
    assert_eq!((running(instrument), counts(instrument)), (vec![], (3, 3)));
}

/// And is another object.
#[test]
fn a_clone_has_the_instrument_too() {
    let instrument = instrument("wait/synch/once/test/clone");
    let (mut cell, set) = (OnceCell::with_instrument(instrument), SetOnce::<u8>::with_instrument(instrument));
    let (other, other_set) = (cell.clone(), set.clone());
    for cell in [&cell, &other] {
        assert_eq!(poll(pin!(cell.get_or_init(async || 1))), Poll::Ready(&1));
    }
    for set in [&set, &other_set] {
        let mut waits = pin!(set.wait());
        assert!(poll(waits.as_mut()).is_pending());
        set.set(1).unwrap();
        assert!(poll(waits).is_ready());
    }
    let objects = rows(instrument, tables::EventsWaitsHistoryLong).into_iter().map(|row| row.object_instance_begin);
    assert_eq!(objects.collect::<std::collections::BTreeSet<_>>().len(), 4);
    assert_eq!(counts(instrument), (4, 4));
    drop((other, other_set));
    assert_eq!(counts(instrument), (4, 2));
    // What was taken out is made anew.
    assert_eq!(cell.take(), Some(1));
    assert_eq!(poll(pin!(cell.get_or_init(async || 2))), Poll::Ready(&2));
    assert_eq!(counts(instrument), (5, 3));
}
