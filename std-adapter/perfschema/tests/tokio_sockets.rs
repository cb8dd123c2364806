//! `perfschema::tokio::net` beside tokio's own: the same story told with each must go the same way. And what it leaves in the tables, of
//! waits over several polls, on several threads, that are given up, handed over, or beside one another.
#![cfg(all(feature = "tokio", feature = "instrument", target_os = "linux", not(miri)))]

mod common;
#[path = "tokio_sockets/story.rs"]
mod story;

use perfschema::core::table::TableSource;
use perfschema::tables::EventsWaitsRow;
use perfschema::task::attach;
use perfschema::tokio::net::{Idle, Net, TcpListener, TcpSocket, TcpStream, UdpSocket, UnixDatagram, UnixStream};
use perfschema::{Region, Size, tables, thread};
use std::io::Write;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use story::{ours, tokios};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Runtime;

static NET: Net = Net::new(perfschema::net!("wait/io/socket/test/server", "wait/io/socket/test/connection"));

/// The region, and that no other test uses it meanwhile. The story is told before it is there, and after.
fn region() -> (&'static Region<'static>, MutexGuard<'static, ()>) {
    common::alone(|| {
        same_story("before");
        let builder = perfschema::builder().everything(true).environment(false);
        let builder = builder.size(Size::MaxThreadInstances, 64).size(Size::EventsWaitsHistoryLongSize, 20_000);
        builder.start().unwrap().region()
    })
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn same_story(when: &str) {
    let dir: PathBuf = std::env::temp_dir().join(format!("perfschema-tokio-{}-{when}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let runtime = runtime();
    let expected = runtime.block_on(tokios::tell(&dir)).0;
    let told = runtime.block_on(attach("task/test/story", ours::tell(&dir))).0;
    std::fs::remove_dir_all(&dir).unwrap();
    assert!(expected.len() > 150, "{}", expected.len());
    assert_eq!(told, expected);
}

#[test]
fn the_same_story_as_tokios() {
    let (region, _alone) = region();
    // What another test has left there.
    tables::EventsWaitsHistoryLong.truncate(region);
    same_story("on");
    let mut operations = std::collections::BTreeSet::new();
    region.scan(&tables::EventsWaitsHistoryLong, |row| {
        operations.insert(row.operation);
    });
    let all = ["accept", "bind", "close", "connect", "opt", "recv", "recvfrom", "select", "send", "sendto", "shutdown", "stat"];
    assert_eq!(operations, all.into());
    for setting in [perfschema::Setting::OFF, perfschema::Setting::ON] {
        let mut names = Vec::new();
        region.scan(&tables::SetupInstruments, |row| names.push(row.name));
        names.retain(|name| name.as_str().starts_with("wait/io/socket/"));
        assert!(names.len() >= 4);
        names.iter().for_each(|name| region.set_setting(region.find_class(name.as_str()).unwrap(), setting));
        same_story("again");
    }
    nothing_is_left(region);
}

/// No socket, no task, no wait that runs.
fn nothing_is_left(region: &Region<'_>) {
    region.scan(&tables::SocketInstances, |row| panic!("{row:?} is closed"));
    region.scan(&tables::Threads, |row| assert!(row.name.as_str().starts_with("thread/"), "{row:?}"));
    region.scan(&tables::EventsWaitsCurrent, |row| assert!(row.end_event_id.is_some(), "{row:?}"));
}

/// A wait: EVENT_ID, OPERATION, NUMBER_OF_BYTES, and whether it has ended.
type Event = (u64, &'static str, Option<i64>, bool);

/// Those of a thread or a task in a table of events.
fn events(region: &Region<'_>, table: impl TableSource<Row = EventsWaitsRow>, thread_id: u64) -> Vec<Event> {
    let mut events = Vec::new();
    region.scan(&table, |row| {
        assert_eq!(row.timer_end.is_some(), row.end_event_id.is_some(), "{row:?}");
        if row.thread_id == thread_id {
            events.push((row.event_id, row.operation, row.number_of_bytes, row.end_event_id.is_some()));
        }
    });
    events.sort_unstable();
    events
}

/// Those that run now.
fn running(region: &Region<'_>, thread_id: u64) -> Vec<Event> {
    let mut running = events(region, tables::EventsWaitsCurrent, thread_id);
    running.retain(|(.., ended)| !ended);
    running
}

fn ended(region: &Region<'_>, thread_id: u64) -> Vec<Event> {
    events(region, tables::EventsWaitsHistory, thread_id)
}

fn id(region: &Region<'_>, name: &str) -> u64 {
    let mut ids = Vec::new();
    region.scan(&tables::Threads, |row| {
        if row.name == name {
            ids.push(row.thread_id);
        }
    });
    assert_eq!(ids.len(), 1, "{name}");
    ids[0]
}

/// COUNT_READ and SUM_NUMBER_OF_BYTES_READ of all sockets; COUNT_STAR of their waits.
fn received(region: &Region<'_>) -> (u64, u64, u64) {
    let (mut reads, mut bytes, mut waits) = (0, 0, 0);
    region.scan(&tables::SocketSummaryByEventName, |row| {
        reads += row.count_read;
        bytes += row.sum_number_of_bytes_read;
    });
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| {
        waits += if row.event_name.as_str().starts_with("wait/io/socket/") { row.count_star } else { 0 };
    });
    (reads, bytes, waits)
}

/// Counts how often it was woken.
#[derive(Default)]
struct Woken(AtomicU64);

impl Wake for Woken {
    fn wake(self: Arc<Woken>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A runtime that does nothing of itself, and whose futures are polled by hand.
struct ByHand {
    runtime: Runtime,
    woken: Arc<Woken>,
}

impl ByHand {
    fn new() -> ByHand {
        ByHand { runtime: runtime(), woken: Arc::default() }
    }

    fn poll<F: Future + ?Sized>(&self, future: Pin<&mut F>) -> Poll<F::Output> {
        let _entered = self.runtime.enter();
        future.poll(&mut Context::from_waker(&Waker::from(Arc::clone(&self.woken))))
    }

    /// The same on a thread of its own; THREAD_ID of that.
    fn poll_elsewhere<F: Future + Send + ?Sized>(&self, future: Pin<&mut F>) -> (Poll<F::Output>, u64)
    where
        F::Output: Send,
    {
        let elsewhere = |future| (self.poll(future), thread::thread_id().unwrap());
        std::thread::scope(|scope| scope.spawn(move || elsewhere(future)).join().unwrap())
    }

    /// Until what was polled is woken once more.
    fn wait(&self) {
        let before = self.woken.0.load(Ordering::Relaxed);
        while self.woken.0.load(Ordering::Relaxed) == before {
            self.runtime.block_on(tokio::task::yield_now());
        }
    }

    fn pair(&self) -> (UnixStream, std::os::unix::net::UnixStream) {
        let _entered = self.runtime.enter();
        let (ours, other) = std::os::unix::net::UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        (ours.try_into().unwrap(), other)
    }
}

/// A task that reads once, and returns what it has read, and the socket.
fn reads(name: &'static str, mut stream: UnixStream) -> Pin<Box<dyn Future<Output = (usize, UnixStream)> + Send>> {
    Box::pin(attach(name, async move {
        let mut buf = [0; 8];
        (stream.read(&mut buf).await.unwrap(), stream)
    }))
}

#[test]
fn a_pending_read_is_shown_and_is_one_event_however_often_and_wherever_it_is_polled() {
    let (region, _alone) = region();
    let by_hand = ByHand::new();
    let (stream, mut other) = by_hand.pair();
    let before = received(region);
    let mut task = reads("task/test/reads", stream);
    assert!(by_hand.poll(task.as_mut()).is_pending());
    let task_id = id(region, "task/test/reads");
    let shown = [(1, "recv", Some(8), false)];
    assert_eq!(events(region, tables::EventsWaitsCurrent, task_id), shown);
    for _ in 0..3 {
        assert!(by_hand.poll_elsewhere(task.as_mut()).0.is_pending());
        assert!(by_hand.poll(task.as_mut()).is_pending());
    }
    assert_eq!(events(region, tables::EventsWaitsCurrent, task_id), shown);
    assert_eq!((ended(region, task_id), received(region)), (vec![], before));
    other.write_all(b"hello").unwrap();
    by_hand.wait();
    let (Poll::Ready((5, stream)), elsewhere) = by_hand.poll_elsewhere(task.as_mut()) else { panic!("it is there") };
    assert_eq!(events(region, tables::EventsWaitsHistoryLong, task_id), [(1, "recv", Some(5), true)]);
    assert_eq!(events(region, tables::EventsWaitsHistoryLong, elsewhere), []);
    assert_eq!(received(region), (before.0 + 1, before.1 + 5, before.2 + 1));
    let mut by_instance = Vec::new();
    region.scan(&tables::SocketSummaryByInstance, |row| by_instance.push((row.count_read, row.sum_number_of_bytes_read)));
    assert_eq!(by_instance, [(1, 5)]);
    drop((task, stream));
    nothing_is_left(region);
}

#[test]
fn what_is_not_attached_is_recorded_at_its_end_by_who_ends_it() {
    let (region, _alone) = region();
    let by_hand = ByHand::new();
    let own = thread::thread_id().unwrap();
    let (mut stream, mut other) = by_hand.pair();
    let mut buf = [0; 8];
    let mut read = Box::pin(stream.read(&mut buf));
    assert!(by_hand.poll(read.as_mut()).is_pending());
    assert_eq!(running(region, own), []);
    // Something that lies between its begin and its end.
    let between = by_hand.runtime.block_on(UdpSocket::bind("127.0.0.1:0")).unwrap();
    other.write_all(b"hello").unwrap();
    by_hand.wait();
    let (result, elsewhere) = by_hand.poll_elsewhere(read.as_mut());
    assert!(matches!(result, Poll::Ready(Ok(5))));
    drop(read);
    let mut times = Vec::new();
    region.scan(&tables::EventsWaitsHistoryLong, |row| {
        if (row.thread_id, row.operation) == (elsewhere, "recv") || (row.thread_id, row.operation) == (own, "bind") {
            times.push((row.timer_start, row.operation, row.timer_end, row.number_of_bytes));
        }
    });
    times.sort_unstable();
    let [read, bind] = times[..] else { panic!("{times:?}") };
    assert_eq!((read.1, read.3, bind.1), ("recv", Some(5), "bind"));
    assert!(read.0 < bind.0 && bind.2 < read.2, "{times:?}");
    drop((stream, between));
    nothing_is_left(region);
}

#[test]
fn what_is_given_up_ends_without_bytes() {
    let (region, _alone) = region();
    let by_hand = ByHand::new();
    let (mut stream, mut other) = by_hand.pair();
    let before = received(region);
    let line = line!() + 3;
    let mut task = Box::pin(attach("task/test/gives-up", async move {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let _ = once(pin!(socket.recv(&mut [0; 16]))).await;
        let _ = once(pin!(stream.read(&mut [0; 16]))).await;
        tokio::task::yield_now().await;
        // The second read of the stream goes on where the first one was left.
        let _ = once(pin!(stream.read(&mut [0; 16]))).await;
        tokio::task::yield_now().await;
        let _ = once(pin!(std::future::poll_fn(|cx| stream.poll_read_ready(cx)))).await;
        tokio::task::yield_now().await;
        let _ = once(pin!(stream.read(&mut [0; 4]))).await;
        drop((stream, socket));
        std::future::pending::<()>().await;
    }));
    assert!(by_hand.poll(task.as_mut()).is_pending());
    let task_id = id(region, "task/test/gives-up");
    let given_up = (2, "recv", Some(0), true);
    assert_eq!(ended(region, task_id), [(1, "bind", None, true), given_up]);
    for _ in 0..2 {
        assert_eq!(running(region, task_id), [(3, "recv", Some(16), false)]);
        assert!(by_hand.poll(task.as_mut()).is_pending());
    }
    assert_eq!(running(region, task_id), [(4, "select", None, false)]);
    assert_eq!(ended(region, task_id)[2], (3, "recv", Some(0), true));
    other.write_all(b"too late").unwrap();
    by_hand.wait();
    assert!(by_hand.poll(task.as_mut()).is_pending());
    // A read that was ready at once, and both are closed.
    let rest = [(4, "select", None, true), (5, "recv", Some(4), true), (6, "close", None, true), (7, "close", None, true)];
    assert_eq!(ended(region, task_id)[3..], rest);
    assert_eq!(received(region), (before.0 + 3, before.1 + 4, before.2 + 7));
    let mut source = Vec::new();
    region.scan(&tables::EventsWaitsHistory, |row| {
        if row.thread_id == task_id && row.event_id <= 3 {
            source.push(row.source);
        }
    });
    assert!(source.iter().flatten().any(|source| source.as_str().ends_with(&format!("tokio_sockets.rs:{line}"))), "{source:?}");
    drop(task);
    nothing_is_left(region);
}

/// One poll of a future.
fn once<'a, F: Future>(mut future: Pin<&'a mut F>) -> impl Future<Output = Poll<F::Output>> + use<'a, F> {
    std::future::poll_fn(move |cx| Poll::Ready(future.as_mut().poll(cx)))
}

#[test]
fn a_task_waits_for_several_at_once() {
    let (region, _alone) = region();
    let by_hand = ByHand::new();
    let [(mut one, mut first), (mut two, mut second)] = [by_hand.pair(), by_hand.pair()];
    let mut task = Box::pin(attach("task/test/joins", async move {
        let (mut a, mut b) = ([0; 1], [0; 2]);
        let bytes = tokio::join!(one.read(&mut a), two.read(&mut b));
        (bytes.0.unwrap(), bytes.1.unwrap())
    }));
    assert!(by_hand.poll(task.as_mut()).is_pending());
    let task_id = id(region, "task/test/joins");
    assert_eq!(running(region, task_id), [(1, "recv", Some(1), false), (2, "recv", Some(2), false)]);
    second.write_all(b"22").unwrap();
    by_hand.wait();
    assert!(by_hand.poll(task.as_mut()).is_pending());
    assert_eq!(running(region, task_id), [(1, "recv", Some(1), false)]);
    assert_eq!(ended(region, task_id), [(2, "recv", Some(2), true)]);
    first.write_all(b"1").unwrap();
    by_hand.wait();
    assert_eq!(by_hand.poll(task.as_mut()), Poll::Ready((1, 2)));
    let mut nesting = 0;
    region.scan(&tables::EventsWaitsHistoryLong, |row| {
        nesting += if row.thread_id == task_id { row.nesting_event_id.map_or(1, |_| 100) } else { 0 };
    });
    assert_eq!(nesting, 4, "two reads, and what closes both: none lies within another");
    drop(task);
    nothing_is_left(region);
}

#[test]
fn what_one_task_begins_and_another_ends_is_recorded_by_that_one() {
    let (region, _alone) = region();
    let by_hand = ByHand::new();
    let (stream, mut other) = by_hand.pair();
    let before = received(region);
    let place = Arc::new(std::sync::Mutex::new(None));
    let given = Arc::clone(&place);
    let mut gives = Box::pin(attach("task/test/gives", async move {
        let mut stream = stream;
        assert!(once(pin!(stream.read(&mut [0; 8]))).await.is_pending());
        *given.lock().unwrap() = Some(stream);
        std::future::pending::<()>().await;
    }));
    assert!(by_hand.poll(gives.as_mut()).is_pending());
    let giver = id(region, "task/test/gives");
    let begun = [(1, "recv", Some(8), false)];
    assert_eq!(running(region, giver), begun);
    let mut takes = reads("task/test/takes", place.lock().unwrap().take().unwrap());
    assert!(by_hand.poll_elsewhere(takes.as_mut()).0.is_pending());
    let taker = id(region, "task/test/takes");
    // It goes on, and whose it is tells nothing yet.
    assert_eq!((running(region, giver), running(region, taker)), (begun.to_vec(), vec![]));
    other.write_all(b"hello").unwrap();
    by_hand.wait();
    let Poll::Ready((5, stream)) = by_hand.poll(takes.as_mut()) else { panic!("it is there") };
    assert_eq!(events(region, tables::EventsWaitsHistoryLong, taker), [(1, "recv", Some(5), true)]);
    assert_eq!(running(region, giver), begun, "nobody writes where the first one would");
    // It does itself when it goes on.
    assert!(by_hand.poll(gives.as_mut()).is_pending());
    assert_eq!(events(region, tables::EventsWaitsCurrent, giver), []);
    assert_eq!(received(region), (before.0 + 1, before.1 + 5, before.2 + 1));
    drop((gives, takes, stream));
    nothing_is_left(region);
}

#[test]
fn what_is_switched_on_while_it_is_pending_is_recorded_from_its_next_poll() {
    let (region, _alone) = region();
    let by_hand = ByHand::new();
    let (stream, mut other) = by_hand.pair();
    let class = region.find_class("wait/io/socket/std/client_connection").unwrap();
    let before = received(region);
    let place = Arc::new(std::sync::Mutex::new(Some(stream)));
    let taken = Arc::clone(&place);
    let mut begins = Box::pin(attach("task/test/begins", async move {
        let mut stream = taken.lock().unwrap().take().unwrap();
        tokio::task::yield_now().await;
        for _ in 0..2 {
            assert!(once(pin!(stream.read(&mut [0; 8]))).await.is_pending());
            *taken.lock().unwrap() = Some(stream);
            tokio::task::yield_now().await;
            stream = taken.lock().unwrap().take().unwrap();
        }
    }));
    assert!(by_hand.poll(begins.as_mut()).is_pending());
    let begins_id = id(region, "task/test/begins");
    let instrumented = |value| {
        let table: &dyn perfschema::core::table::Table = &tables::Threads;
        let new = [("INSTRUMENTED", perfschema::core::table::Value::Text(value))];
        let is_it = |row: &dyn perfschema::core::table::Row| row.cell(0) == perfschema::core::table::Value::Unsigned(begins_id);
        assert_eq!(table.update(region, &mut |row| is_it(row), &new).unwrap().changed, 1);
    };
    // By the task, whose wait is none then; by the instrument, of which nothing is kept while it is off.
    for (by_task, more) in [(true, 0), (false, 1)] {
        let set = |on| match by_task {
            true => instrumented(if on { "YES" } else { "NO" }),
            false => region.set_setting(class, if on { perfschema::Setting::ON } else { perfschema::Setting::OFF }),
        };
        set(false);
        assert!(by_hand.poll(begins.as_mut()).is_pending());
        set(true);
        other.write_all(b"hello").unwrap();
        by_hand.wait();
        let mut ends = reads("task/test/ends", place.lock().unwrap().take().unwrap());
        let Poll::Ready((5, stream)) = by_hand.poll(ends.as_mut()) else { panic!("it is there") };
        *place.lock().unwrap() = Some(stream);
        let (count, bytes, _) = received(region);
        assert_eq!((count, bytes, running(region, begins_id)), (before.0 + more, before.1 + 5 * more, vec![]));
    }
    drop((begins, place));
    nothing_is_left(region);
}

#[test]
fn what_is_switched_off_while_it_is_pending_is_recorded_to_its_end() {
    let (region, _alone) = region();
    let by_hand = ByHand::new();
    let (mut stream, mut other) = by_hand.pair();
    let class = region.find_class("wait/io/socket/std/client_connection").unwrap();
    let (reads, bytes, _) = received(region);
    // The first read is pending when that happens; the second begins later.
    for _ in 0..2 {
        assert!(by_hand.poll(pin!(stream.read(&mut [0; 8]))).is_pending());
        region.set_setting(class, perfschema::Setting::OFF);
        other.write_all(b"hello").unwrap();
        by_hand.wait();
        let Poll::Ready(Ok(5)) = by_hand.poll(pin!(stream.read(&mut [0; 8]))) else { panic!("it is there") };
        let (now, now_bytes, _) = received(region);
        assert_eq!((now, now_bytes), (reads + 1, bytes + 5));
    }
    region.set_setting(class, perfschema::Setting::ON);
    drop(stream);
    nothing_is_left(region);
}

#[test]
fn being_idle_is_known_of_each_poll() {
    let (region, _alone) = region();
    let by_hand = ByHand::new();
    let [(one, mut first), (two, mut second)] = [by_hand.pair(), by_hand.pair()];
    let before = received(region);
    let mut idle = Box::pin(attach("task/test/idle", async move {
        let mut buf = [0; 8];
        one.idle(one.readable()).await.unwrap();
        let idle = one.idle(async { one.readable().await.and_then(|()| one.try_read(&mut buf)) });
        idle.await.unwrap()
    }));
    // Not idle, though it is polled on the same thread between those of one that is.
    let mut busy = reads("task/test/busy", two);
    assert!(by_hand.poll(idle.as_mut()).is_pending());
    assert!(by_hand.poll(busy.as_mut()).is_pending());
    let (idle_id, busy_id) = (id(region, "task/test/idle"), id(region, "task/test/busy"));
    assert_eq!(
        (running(region, idle_id), running(region, busy_id)),
        (vec![(1, "idle", None, false)], vec![(1, "recv", Some(8), false)])
    );
    let states = |region: &Region<'_>| {
        let mut states = Vec::new();
        region.scan(&tables::SocketInstances, |row| states.push((row.thread_id, row.state)));
        states.retain(|(thread_id, state)| *thread_id == Some(idle_id) || *state == "IDLE");
        states
    };
    assert_eq!(states(region), [(Some(idle_id), "IDLE")]);
    second.write_all(b"22").unwrap();
    by_hand.wait();
    assert!(matches!(by_hand.poll(busy.as_mut()), Poll::Ready((2, _))));
    first.write_all(b"1").unwrap();
    by_hand.wait();
    assert_eq!(by_hand.poll(idle.as_mut()), Poll::Ready(1));
    assert_eq!(states(region), []);
    let history = events(region, tables::EventsWaitsHistoryLong, idle_id);
    assert_eq!(history, [(1, "idle", None, true), (2, "idle", None, true), (3, "close", None, true)]);
    // What came while it was idle is counted, and no wait: those are the other task's, and of two sockets the close.
    assert_eq!(received(region), (before.0 + 2, before.1 + 3, before.2 + 3));
    drop((idle, busy));
    nothing_is_left(region);
}

#[test]
fn a_read_that_was_given_up_goes_on_only_if_both_are_idle_or_none_is() {
    let (region, _alone) = region();
    let before = received(region);
    let task = attach("task/test/idles-by-turns", async {
        let (one, two) = UnixDatagram::pair().unwrap();
        let mut buf = [0; 8];
        let mut receive =
            async || std::future::poll_fn(|cx| one.poll_recv(cx, &mut tokio::io::ReadBuf::new(&mut buf))).await.unwrap();
        let id = thread::thread_id().unwrap();
        assert!(once(pin!(one.idle(receive()))).await.is_pending());
        assert!(once(pin!(receive())).await.is_pending());
        assert_eq!(running(region, id), [(2, "recv", Some(8), false)]);
        // What the client needs for its next request is not the time of that read.
        assert!(once(pin!(one.idle(receive()))).await.is_pending());
        assert_eq!(running(region, id), []);
        assert_eq!(ended(region, id)[1], (2, "recv", Some(0), true));
        two.send(b"next").await.unwrap();
        one.idle(receive()).await;
        id
    });
    let id = runtime().block_on(task);
    let history: Vec<_> = events(region, tables::EventsWaitsHistoryLong, id).iter().map(|event| event.1).collect();
    assert_eq!(history, ["idle", "recv", "idle", "send", "idle", "close", "close"]);
    // The read in vain, and the one that is counted.
    assert_eq!(received(region), (before.0 + 2, before.1 + 4, before.2 + 4));
    nothing_is_left(region);
}

fn many_threads() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    // So that it is known which of them want a place.
    builder.worker_threads(2).enable_all().on_thread_start(|| _ = thread::thread_id()).build().unwrap()
}

#[test]
fn a_runtime_that_goes_takes_its_tasks_along() {
    let (region, _alone) = region();
    let runtime = many_threads();
    let others: Vec<_> = (0..20)
        .map(|index| {
            let _entered = runtime.enter();
            let (mut ours, other) = UnixStream::pair().unwrap();
            runtime.spawn(attach("task/test/pending", async move {
                // Some by halves.
                if index % 2 == 0 {
                    let (mut read, _write) = ours.into_split();
                    read.read_u8().await.unwrap();
                } else {
                    ours.read_u8().await.unwrap();
                }
            }));
            other
        })
        .collect();
    loop {
        let mut waiting = 0;
        region.scan(&tables::EventsWaitsCurrent, |row| {
            waiting += u32::from((row.operation, row.end_event_id) == ("recv", None));
        });
        if waiting == 20 {
            break;
        }
        std::thread::yield_now();
    }
    drop(runtime);
    drop(others);
    nothing_is_left(region);
}

#[test]
fn every_message_of_many_tasks_counts_once() {
    const PAIRS: u64 = 1000;
    const MESSAGES: u64 = 5;
    let (region, _alone) = region();
    // The threads of other tests end.
    thread::thread_id().unwrap();
    loop {
        let mut threads = 0;
        region.scan(&tables::Threads, |_| threads += 1);
        if threads == 1 {
            break;
        }
        std::thread::yield_now();
    }
    let newest = || std::thread::spawn(|| thread::thread_id().unwrap()).join().unwrap();
    let (before, first) = (received(region), newest());
    let lost = region.lost(perfschema::Lost::ThreadInstances);
    let runtime = many_threads();
    let bytes = runtime.block_on(async {
        let mut tasks = Vec::new();
        for index in 0..PAIRS {
            let (one, two) = UnixDatagram::pair().unwrap();
            tasks.push(tokio::spawn(attach("task/test/sends", async move {
                let mut sent = 0;
                for message in 0..MESSAGES {
                    sent += one.send(&vec![7; 1 + ((index + message) % 9) as usize]).await.unwrap();
                }
                sent
            })));
            tasks.push(tokio::spawn(attach("task/test/receives", async move {
                let mut received = 0;
                for _ in 0..MESSAGES {
                    received += two.recv(&mut [0; 16]).await.unwrap();
                }
                received
            })));
            // Not more descriptors than a process may have.
            if tasks.len() == 200 {
                for task in tasks.drain(..) {
                    task.await.unwrap();
                }
            }
        }
        assert!(tasks.is_empty());
        (0..PAIRS).flat_map(|index| (0..MESSAGES).map(move |message| 1 + (index + message) % 9)).sum::<u64>()
    });
    drop(runtime);
    // Each message is a send and a receive, each socket is closed.
    let waits = PAIRS * (2 * MESSAGES + 2);
    assert_eq!(received(region), (before.0 + PAIRS * MESSAGES, before.1 + bytes, before.2 + waits));
    // Each task, and each of the runtime's threads, had a place or is counted.
    let with_place = newest() - first - 1;
    let without = region.lost(perfschema::Lost::ThreadInstances) - lost;
    assert_eq!(with_place + without, 2 * PAIRS + 2, "{with_place} {without}");
    nothing_is_left(region);
}

/// Else it would be nobody's, or count for the socket that gets the place next.
#[test]
fn what_is_pending_ends_before_its_socket_is_given_away() {
    let (region, _alone) = region();
    let own = thread::thread_id().unwrap();
    // What another test has left there.
    tables::EventsWaitsHistory.truncate(region);
    let address = runtime().block_on(async {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let mut buf = [0; 8];
        let mut receive = |cx: &mut Context<'_>| Poll::Ready(socket.poll_recv(cx, &mut tokio::io::ReadBuf::new(&mut buf)));
        assert!(std::future::poll_fn(&mut receive).await.is_pending());
        drop(socket.into_std().unwrap());
        address
    });
    let mut given_up = Vec::new();
    region.scan(&tables::EventsWaitsHistory, |row| {
        if (row.thread_id, row.operation) == (own, "recv") {
            given_up.push((row.object_name.map(|name| name.as_str().to_string()), row.number_of_bytes));
        }
    });
    assert_eq!(given_up, [(Some(address.to_string()), Some(0))]);
    nothing_is_left(region);
}

#[test]
fn instruments_of_its_own_and_rows_while_they_are_open() {
    let (region, _alone) = region();
    let runtime = runtime();
    let rows = || {
        let mut rows = Vec::new();
        region.scan(&tables::SocketInstances, |row| rows.push((row.event_name.as_str().to_string(), row.port, row.socket_id)));
        rows.sort_unstable();
        rows
    };
    runtime.block_on(async {
        use std::os::fd::AsRawFd;
        let listener: TcpListener = NET.bind_tcp("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let client = TcpStream::connect(at).await.unwrap();
        let (server, peer) = listener.accept().await.unwrap();
        let row =
            |name: &str, port: u16, socket: &dyn AsRawFd| (format!("wait/io/socket/{name}"), i32::from(port), socket.as_raw_fd());
        let client_row = row("std/client_connection", at.port(), &client);
        let mut all =
            vec![client_row.clone(), row("test/connection", peer.port(), &server), row("test/server", at.port(), &listener)];
        assert_eq!(rows(), all);
        // Halves are one socket, and go together.
        let (read, write) = client.into_split();
        assert_eq!(rows(), all);
        let client = read.reunite(write).unwrap();
        assert_eq!(rows(), all);
        let (read, write) = client.into_split();
        drop(read);
        assert_eq!(rows(), all);
        drop(write);
        all.retain(|row| *row != client_row);
        assert_eq!(rows(), all);
        // A direction is closed once.
        let shutdowns = || {
            let mut shutdowns = 0;
            region.scan(&tables::EventsWaitsHistoryLong, |row| shutdowns += u32::from(row.operation == "shutdown"));
            shutdowns
        };
        for shut_down in [true, false] {
            let before = shutdowns();
            let (_read, mut write) = TcpStream::connect(at).await.unwrap().into_split();
            if shut_down {
                write.shutdown().await.unwrap();
            }
            drop(write);
            assert_eq!(shutdowns() - before, 1);
        }
        assert_eq!(rows(), all);
        // tokio's own, and std's, are not known.
        drop(listener.into_std().unwrap());
        drop(tokio::net::TcpStream::from(server));
        assert_eq!(rows(), []);
    });
    nothing_is_left(region);
}

/// tokio says where it was called, if it was called wrongly.
#[test]
fn a_listener_without_a_driver_panics_where_it_is_bound() {
    let (_region, _alone) = region();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _within = runtime.enter();
    let dir = std::env::temp_dir().join(format!("perfschema-tokio-{}-panics", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let (file, line) = common::place_of_panic(|| perfschema::tokio::net::UnixListener::bind(dir.join("a")));
    assert!(file.ends_with("tokio_sockets.rs") && line == line!() - 1, "{file}:{line}");
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_socket_is_known_once_it_listens_or_is_connected() {
    let (region, _alone) = region();
    let (socket, client) = (TcpSocket::new_v4().unwrap(), TcpSocket::new_v4().unwrap());
    runtime().block_on(async {
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let at = socket.local_addr().unwrap();
        region.scan(&tables::SocketInstances, |row| panic!("{row:?} is not known yet"));
        let line = line!() + 1;
        let listener = socket.listen(16).unwrap();
        let client = client.connect(at).await.unwrap();
        let mut rows = Vec::new();
        region.scan(&tables::SocketInstances, |row| rows.push((row.event_name.as_str().to_string(), row.port)));
        rows.sort_unstable();
        let port = i32::from(at.port());
        let row = |name: &str| (format!("wait/io/socket/std/{name}"), port);
        assert_eq!(rows, [row("client_connection"), row("server_tcpip_socket")]);
        let mut waits = Vec::new();
        region.scan(&tables::EventsWaitsHistoryLong, |row| {
            if row.object_name.as_ref().is_some_and(|name| name.as_str() == at.to_string()) {
                waits.push((row.operation, row.source.map(|source| source.to_string())));
            }
        });
        let source = |line: u32| Some(format!("tokio_sockets.rs:{line}"));
        assert_eq!(waits, [("bind", source(line)), ("connect", source(line + 1))]);
        drop((listener, client));
    });
    nothing_is_left(region);
}

/// A future has what it waits for once, not again as what it was called with: tokio's own test of its sizes holds here, too.
#[test]
fn futures_are_little_larger_than_tokios() {
    let (_region, _alone) = region();
    let connection = async {
        let stream = TcpStream::connect("127.0.0.1:8080").await.unwrap();
        loop {
            stream.readable().await.unwrap();
            let mut buf = [0; 4096];
            if stream.try_read(&mut buf[..]).unwrap() == 0 {
                break;
            }
        }
    };
    assert!(size_of_val(&connection) < 1000, "{}", size_of_val(&connection));
    runtime().block_on(async {
        let ours = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let tokios = ours.as_tokio();
        for (ours, tokios) in [
            (size_of_val(&ours.accept()), size_of_val(&tokios.accept())),
            (size_of_val(&TcpStream::connect("a:1")), 2 * size_of_val(&tokio::net::TcpStream::connect("a:1"))),
            (size_of_val(&UnixStream::connect("a")), size_of_val(&tokio::net::UnixStream::connect("a"))),
        ] {
            assert!(ours <= tokios + 200, "{ours} {tokios}");
        }
    });
}
