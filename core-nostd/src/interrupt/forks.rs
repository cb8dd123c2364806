//! Forks at every step: of another thread, which is not there in the child; and by a handler of the thread that forks, which goes on there.

use super::{At, PLAN, ground, interrupted, region_of};
use crate::fork::tests::{become_own_memory, into_own_memory, own_memory};
use crate::metric::{MetricInfo, MetricType, Moment};
use crate::region::{SLOT, Section};
use crate::slot;
use crate::table::{Table as _, TableError, Value};
use crate::{
    Actor, ActorIdentity, Child, Class, Config, FileId, FileIo, Group, Held, InstanceId, InstrumentName, Lost, Operation, Region,
    Setting, Size, SocketAddress, SocketIo, WaitStart, tables,
};
use core::cell::OnceCell;
use core::panic::AssertUnwindSafe;
use perfschema_timer::TimerName;
use std::panic::{catch_unwind, resume_unwind};
use std::rc::Rc;

const CONFIG: Config = Config::EMPTY
    .with(Size::MaxMutexClasses, 2)
    .with(Size::MaxFileClasses, 1)
    .with(Size::MaxSocketClasses, 1)
    .with(Size::MaxFileInstances, 1)
    .with(Size::MaxSocketInstances, 1)
    .with(Size::MaxThreadInstances, 2)
    .with(Size::EventsWaitsHistorySize, 3)
    .with(Size::EventsWaitsHistoryLongSize, 24)
    .with(Size::MaxWaitHistograms, 8)
    .with(Size::SetupActorsSize, 1);
const CHILD: Child = Child { pid: 2, os_id: 2, start_unix_ns: 0, start_monotonic_ns: 0 };
const A: InstrumentName<'static> = InstrumentName::literal("wait/synch/mutex/test/A");
const B: InstrumentName<'static> = InstrumentName::literal("wait/synch/mutex/test/B");
const FILE: InstrumentName<'static> = InstrumentName::literal("wait/io/file/test/f");
const SOCKET: InstrumentName<'static> = InstrumentName::literal("wait/io/socket/test/s");

fn region() -> &'static Region<'static> {
    region_of(&CONFIG)
}

fn classes<const N: usize>(region: &Region<'_>, names: [InstrumentName<'static>; N]) -> [Class; N] {
    let classes = names.map(|name| region.register(name, Setting::ON).unwrap());
    region.enable_everything();
    classes
}

fn wait(actor: &Actor<'static>, class: Class, operation: Operation, ns: u64, held: Held<'_, 'static>) {
    let what = WaitStart { object: 77, ..WaitStart::new(operation) };
    let wait = actor.begin(&At(1), actor.region().switches(class), class, &what);
    actor.end(&At(1 + ns), wait, held);
}

/// `op` of another thread up to a step, at which the thread of `own` forks, `idle` or not. Whether it came so far.
fn abandoned(at: u64, own: &Rc<Actor<'static>>, idle: bool, op: impl FnOnce()) -> bool {
    let own = Rc::clone(own);
    let fork = Rc::new(move || {
        own.region().forked(&CHILD, &[Some(&own)], idle);
        resume_unwind(Box::new(()));
    });
    let steps = interrupted(|| _ = catch_unwind(AssertUnwindSafe(op)), &[(at, fork)]);
    PLAN.with(|plan| plan.level.set(0));
    steps[0] > at
}

/// `op`, and at a step of it a handler that forks, and does `first` in the child. Whether it came so far.
fn forked_within(at: u64, own: &Rc<Actor<'static>>, first: impl Fn(&Actor<'static>) + 'static, op: impl FnOnce()) -> bool {
    let forks = Rc::clone(own);
    let fork = move || {
        first(&forks);
        forks.region().forked(&CHILD, &[Some(&forks)], false);
    };
    interrupted(op, &[(at, Rc::new(fork))])[0] > at
}

/// What a child does first: nothing in memory that is copied at the first write, or it takes memory of its own.
const MEMORIES: [fn(&Actor<'static>); 2] = [|_| {}, |own| into_own_memory(own.region(), own)];

#[test]
fn what_others_counted_of_a_file_and_a_socket_at_that_moment_hides_no_row() {
    for (reads_file, idle) in [(true, true), (false, true), (true, false), (false, false)] {
        for at in 0.. {
            let region = region();
            let [file_class, socket_class] = classes(region, [FILE, SOCKET]);
            let [own, other] = [(); 2].map(|()| Rc::new(Actor::attach(region, &ActorIdentity::default())));
            let file: FileId = region.refer_to_file(file_class, b"/log").unwrap();
            region.file_opened(file);
            let socket: InstanceId = region.create_socket(socket_class, 5, SocketAddress::UNIX, 0).unwrap();
            let read = |actor: &Actor<'static>, reads_file: bool| {
                let (file, socket) = (region.file(file), region.socket(socket));
                let (class, operation, held) = match reads_file {
                    true => (file_class, Operation::Read, Held::File(FileIo { file, group: Group::Read })),
                    false => (socket_class, Operation::Receive, Held::Socket(SocketIo { socket, group: Group::Read })),
                };
                wait(actor, class, operation, 1, held);
            };
            let goes_on = abandoned(at, &own, idle, || read(&other, reads_file));
            if !goes_on {
                break;
            }
            [true, false].into_iter().for_each(|reads_file| read(&own, reads_file));
            let mut rows = [0; 3];
            region.scan(&tables::FileSummaryByInstance, |row| rows[0] += row.count_star);
            region.scan(&tables::SocketSummaryByInstance, |row| rows[1] += row.count_star);
            region.scan(&tables::EventsWaitsSummaryByInstance, |row| rows[2] += row.count_star);
            assert_eq!(rows, [1, 1, 2], "a fork at {at}, {idle}");
        }
    }
}

#[test]
fn a_row_of_setup_actors_that_another_thread_was_inserting_takes_no_place() {
    let insert = |region| tables::SetupActors.insert(region, &[("USER", Value::Text("me"))]);
    for at in 0.. {
        let region = region();
        tables::SetupActors.truncate(region).unwrap();
        let own = Rc::new(Actor::attach(region, &ActorIdentity::default()));
        let goes_on = abandoned(at, &own, true, || insert(region).unwrap());
        if !goes_on {
            break;
        }
        let refused = TableError::DuplicateKey { table: "setup_actors" };
        assert!([Ok(()), Err(refused)].contains(&insert(region)), "there is room, after a fork at {at}");
        let mut rows = 0;
        region.scan(&tables::SetupActors, |_| rows += 1);
        assert_eq!(rows, 1, "a fork at {at}");
    }
}

/// An instrument has its own, or takes it, or finds none, when a handler forks.
#[test]
fn what_an_instrument_counts_in_a_histogram_is_in_no_others() {
    let ways = [(2, 8), (0, 8), (2, 1), (0, 1)];
    for ((before, room), timer) in
        ways.into_iter().flat_map(|way| [TimerName::Cycle, TimerName::Nanosecond].map(|timer| (way, timer)))
    {
        for at in 0.. {
            let (region, _) = ground(&CONFIG.with(Size::MaxWaitHistograms, room));
            region.set_wait_timer(timer);
            let [a, b] = classes(region, [A, B]);
            let [own, other] = [(); 2].map(|()| Rc::new(Actor::attach(region, &ActorIdentity::default())));
            let waits = |class: Class, count: u64| (0..count).for_each(|_| wait(&own, class, Operation::Lock, 1, Held::None));
            wait(&other, a, Operation::Lock, 1, Held::None);
            waits(a, before);
            if !forked_within(at, &own, |_| {}, || waits(a, 1)) {
                break;
            }
            waits(b, 10);
            waits(a, 10);
            let mut counts = [0; 2];
            region.scan(&tables::EventsWaitsHistogramByEventName, |row| {
                counts[usize::from(row.event_name == B.as_str())] += row.count_bucket;
            });
            assert_eq!(counts[1], 10, "{before} {room} {timer:?}, a fork at {at}");
            // Its thread may have been about to write a count that it had made of the parent's.
            assert!((10..=11 + before).contains(&counts[0]), "{counts:?} of {before} {room} {timer:?} by a fork at {at}");
        }
    }
}

/// In each row of a chunk of the long history.
#[test]
fn the_record_that_is_being_written_stays_whole() {
    for (before, memory) in [1, 2, 3].into_iter().flat_map(|before| [0, 1].map(|memory| (before, memory))) {
        for at in 0.. {
            let region = region();
            let [_, b] = classes(region, [A, B]);
            let own = Rc::new(Actor::attach(region, &ActorIdentity::default()));
            let waits = |count| (0..count).for_each(|_| wait(&own, b, Operation::Lock, 1, Held::None));
            waits(before);
            let goes_on = forked_within(at, &own, MEMORIES[memory], || waits(1));
            let check = |row: &tables::EventsWaitsRow| {
                let found = (row.event_name.as_str(), row.object_instance_begin, row.thread_id, row.operation);
                assert_eq!(found, (B.as_str(), 77, own.thread_id(), "lock"), "{before} {memory}, a fork at {at}");
            };
            let sweep = region.scan(&tables::EventsWaitsHistoryLong, check);
            assert_eq!(sweep.changed, 0, "{before} {memory}, a fork at {at}");
            region.scan(&tables::EventsWaitsHistory, check);
            region.scan(&tables::EventsWaitsCurrent, check);
            if !goes_on {
                break;
            }
        }
    }
}

/// Another thread takes the chunk that the forking thread has filled, at each step of the copies that become the child's own memory: the
/// first before the fork, the second in the child, when the parent has gone on. The child has the whole of its long history.
#[test]
fn a_full_chunk_that_another_takes_meanwhile_is_not_lost() {
    const SIZES: Config = CONFIG.with(Size::MaxThreadInstances, 16).with(Size::EventsWaitsHistoryLongSize, 64);
    // Not at all of them, for want of time.
    for at in (0..).step_by(7) {
        let (region, _) = ground(&SIZES);
        let [a, _] = classes(region, [A, B]);
        let [own, other] = [(); 2].map(|()| Rc::new(Actor::attach(region, &ActorIdentity::default())));
        let waits = |actor: &Actor<'static>, count| (0..count).for_each(|_| wait(actor, a, Operation::Lock, 1, Held::None));
        waits(&own, 2);
        let round = move || (0..80).for_each(|_| wait(&other, a, Operation::Lock, 1, Held::None));
        let mut child = Vec::new();
        let steps = interrupted(|| child = own_memory(region, &own, || {}), &[(at, Rc::new(round))])[0];
        become_own_memory(region, &child);
        region.forked(&CHILD, &[Some(&own)], false);
        waits(&Actor::attach(region, &ActorIdentity::default()), 256);
        waits(&own, 256);
        assert_eq!(region.scan(&tables::EventsWaitsHistoryLong, |_| ()).rows, 64, "at {at}");
        if steps <= at {
            break;
        }
    }
}

/// The parent has gone on when the child copies what was saved for it, and another thread has taken the chunk of which this one writes the
/// last row.
#[test]
fn a_chunk_whose_last_row_is_being_written_is_not_lost() {
    for at in 0.. {
        let region = region();
        let [_, b] = classes(region, [A, B]);
        let own = Rc::new(Actor::attach(region, &ActorIdentity::default()));
        let waits = |count| (0..count).for_each(|_| wait(&own, b, Operation::Lock, 1, Held::None));
        waits(3);
        // By the number 6, the first of the next round.
        let take = || region.section(Section::LongChunks)[0].set(2 * 6 + 1);
        let first = move |own: &Actor<'static>| become_own_memory(region, &own_memory(region, own, take));
        if !forked_within(at, &own, first, || waits(1)) {
            break;
        }
        waits(100);
        assert_ne!(region.section(Section::LongChunks)[0].get(), 1, "a fork at {at}");
    }
}

/// A handler that forks while its thread takes a chunk of the long history: it goes on filling it in the child, and nobody else does.
#[test]
fn a_chunk_that_is_being_taken_is_nobody_elses() {
    // Thirty-two chunks of two rows, so that a thread draws several numbers at once when it has taken some.
    const SIZES: Config = CONFIG.with(Size::MaxThreadInstances, 16).with(Size::EventsWaitsHistoryLongSize, 64);
    for (chunks, memory) in [0, 1, 12, 13, 14, 40].into_iter().flat_map(|chunks| [0, 1].map(|memory| (chunks, memory))) {
        for at in 0.. {
            let (region, _) = ground(&SIZES);
            let [a, _] = classes(region, [A, B]);
            let own = Rc::new(Actor::attach(region, &ActorIdentity::default()));
            let waits = |actor: &Actor<'static>, count| (0..count).for_each(|_| wait(actor, a, Operation::Lock, 1, Held::None));
            waits(&own, 2 * chunks);
            if !forked_within(at, &own, MEMORIES[memory], || waits(&own, 1)) {
                break;
            }
            let rows = || {
                let mut rows = 0;
                region.scan(&tables::EventsWaitsHistoryLong, |row| rows += u32::from(row.thread_id == own.thread_id()));
                rows
            };
            let before = rows();
            waits(&Actor::attach(region, &ActorIdentity::default()), 256);
            assert_eq!(rows(), before, "{chunks} chunks, {memory}, a fork at {at}");
            waits(&own, 1);
            assert_eq!(rows(), before + 1, "{chunks} chunks, {memory}, a fork at {at}");
        }
    }
}

/// A handler that forks while its thread takes a slot, and records itself in the child: the thread finds that there was a fork, gives
/// back what it has taken, and takes another.
#[test]
fn a_slot_that_is_being_taken_is_nobody_elses_and_is_not_lost() {
    // A slot that was used before, or never; memory as it was at the fork, or with what the parent went on to do with the slot.
    for (used, parent_is_done) in [(false, false), (true, false), (false, true), (true, true)] {
        for at in 0.. {
            let region = region();
            let [a, b] = classes(region, [A, B]);
            let attach = || Actor::attach(region, &ActorIdentity::default());
            if used {
                let before = attach();
                (0..5).for_each(|_| wait(&before, a, Operation::Lock, 1, Held::None));
                before.detach();
            }
            let handlers = Rc::new(OnceCell::new());
            let handler = Rc::clone(&handlers);
            let fork = Rc::new(move || {
                let slots = region.arrays::<SLOT>(Section::Slots);
                slots.iter().filter(|slot| parent_is_done && slot::is_claimed(slot)).for_each(slot::publish_claimed);
                region.forked(&CHILD, &[], false);
                let own = Actor::attach(region, &ActorIdentity::default());
                wait(&own, a, Operation::Lock, 1, Held::None);
                assert!(handler.set(own).is_ok());
            });
            let taken = OnceCell::new();
            let goes_on = interrupted(|| _ = taken.set(attach()), &[(at, fork)])[0] > at;
            if !goes_on {
                break;
            }
            taken.get().unwrap().detach();
            let (own, handlers) = (attach(), handlers.get().unwrap());
            for actor in [&own, handlers] {
                assert_ne!(actor.thread_id(), 0, "there is a place, after a fork at {at}");
                wait(actor, b, Operation::Lock, 1, Held::None);
            }
            let mut rows = Vec::new();
            region.scan(&tables::EventsWaitsHistory, |row| rows.push((row.event_id, row.event_name == B.as_str())));
            rows.sort_unstable();
            assert_eq!(rows, [(1, false), (1, true), (2, true)], "{used} {parent_is_done}, a fork at {at}");
            own.detach();
            handlers.detach();
            let mut threads = 0;
            let sweep = region.scan(&tables::Threads, |_| threads += 1);
            assert_eq!((threads, sweep.free), (0, 2), "{used} {parent_is_done}, a fork at {at}");
        }
    }
}

/// A handler that forks while its thread registers something: the child's thread goes on, and finds it by its name.
#[test]
fn what_is_being_registered_is_registered_once() {
    const METRIC: MetricInfo<'_> = MetricInfo::literal("opened", "fork", "", MetricType::Value);
    let with_metrics = |metrics| {
        let (region, _) = ground(&CONFIG.with(Size::MaxMetrics, metrics));
        let own = Rc::new(Actor::attach(region, &ActorIdentity::default()));
        (region, move || region.forked(&CHILD, &[Some(&own)], false))
    };
    for at in 0.. {
        let (region, fork) = with_metrics(0);
        let [_] = classes(region, [A]);
        let registered = OnceCell::new();
        let goes_on = interrupted(|| _ = registered.set(region.register(B, Setting::ON)), &[(at, Rc::new(fork))])[0] > at;
        let class = registered.get().unwrap().unwrap();
        assert_eq!((region.class_name(class).as_str(), region.setting(class)), (B.as_str(), Setting::ON), "a fork at {at}");
        assert_eq!((region.find_class(B.as_str()), region.register(B, Setting::OFF)), (Some(class), Ok(class)), "a fork at {at}");
        if !goes_on {
            break;
        }
    }
    for at in 0.. {
        let (region, fork) = with_metrics(3);
        let register = || region.register_metric(&METRIC, true, Moment::of_seconds(1));
        let registered = OnceCell::new();
        let goes_on = interrupted(|| _ = registered.set(register()), &[(at, Rc::new(fork))])[0] > at;
        let metric = registered.get().unwrap().unwrap();
        assert_eq!((register(), region.find_metric("opened")), (Ok(metric), Some(metric)), "a fork at {at}");
        assert!(region.metric_is_on(metric), "a fork at {at}");
        if !goes_on {
            break;
        }
    }
}

/// A loss is found to be none when all that was counted is forgotten: by a fork of a handler, or by FLUSH STATUS. The next one counts.
#[test]
fn a_loss_that_is_taken_back_when_it_is_forgotten() {
    for flush in [false, true] {
        let region = region();
        let own = Actor::attach(region, &ActorIdentity::default());
        let [class] = classes(region, [A]);
        assert_eq!(region.create_instance(class, 1), None);
        if flush {
            region.flush_status();
        } else {
            region.forked(&CHILD, &[Some(&own)], false);
        }
        region.take_back_lost_instance(class);
        assert_eq!(region.lost(Lost::MutexInstances), 0, "{flush}");
        assert_eq!(region.create_instance(class, 1), None);
        assert_eq!(region.lost(Lost::MutexInstances), 1, "{flush}");
    }
}
