//! Forks while another thread is at work: of a region whose memory the child has as it was at that moment, and of one of which a copy is made
//! before, meanwhile.

use super::{At, PLAN, ground, interrupted, region_of};
use crate::fork::tests::{become_own_memory, has_text, own_memory};
use crate::metric::{MetricInfo, MetricType, Moment};
use crate::statement_digest;
use crate::table::{Table as _, Value, YesNo};
use crate::{
    Actor, ActorIdentity, Child, Class, Config, FileInstance, FileIo, Group, Held, InstrumentName, Lost, Operation, Region,
    Setting, Size, SocketAddress, StatementStatistics, WaitStart, tables,
};
use core::cell::Cell;
use core::panic::AssertUnwindSafe;
use std::panic::{catch_unwind, resume_unwind};
use std::rc::Rc;

const CONFIG: Config = Config::EMPTY
    .with(Size::MaxThreadInstances, 1)
    .with(Size::SetupActorsSize, 1)
    .with(Size::DigestsSize, 3)
    .with(Size::MaxSqlTextLength, 32)
    .with(Size::MaxMetrics, 2);
const OBJECTS: Config = CONFIG
    .with(Size::DigestsSize, 0)
    .with(Size::MaxMutexClasses, 3)
    .with(Size::MaxMutexInstances, 2)
    .with(Size::MaxFileClasses, 1)
    .with(Size::MaxFileInstances, 3)
    .with(Size::MaxSocketClasses, 1)
    .with(Size::MaxSocketInstances, 2);
const LOCK: InstrumentName<'static> = InstrumentName::literal("wait/synch/mutex/test/L");
const FILE: InstrumentName<'static> = InstrumentName::literal("wait/io/file/test/F");
const SOCKET: InstrumentName<'static> = InstrumentName::literal("wait/io/socket/test/S");
const CHILD: Child = Child { pid: 2, os_id: 2, start_unix_ns: 0, start_monotonic_ns: 0 };

fn region() -> &'static Region<'static> {
    region_of(&CONFIG)
}

fn end(region: &Region<'_>, text: &str) {
    statement_digest::hold(region, "app", text).unwrap().end(region, 1, Some(1), &StatementStatistics::default());
}

/// Another thread is in the middle of a TRUNCATE: in the child no place is lost, and nothing of the text is left.
#[test]
fn digests_that_another_thread_truncates() {
    for at in 0.. {
        let region = region();
        let own = Rc::new(Actor::attach(region, &ActorIdentity::default()));
        end(region, "login 'hunter2'");
        let forks = Rc::clone(&own);
        let fork = Rc::new(move || {
            forks.region().forked(&CHILD, &[Some(&forks)], true);
            resume_unwind(Box::new(()));
        });
        let steps = interrupted(|| _ = catch_unwind(AssertUnwindSafe(|| statement_digest::reset(region))), &[(at, fork)]);
        PLAN.with(|plan| plan.level.set(0));
        if steps[0] <= at {
            break;
        }
        (0..2).for_each(|_| statement_digest::reset(region));
        assert!(!has_text(region.words(), "hunter2"), "at step {at}");
        ["one", "two"].into_iter().for_each(|text| end(region, text));
        assert_eq!(region.lost(Lost::StatementDigests), 0, "at step {at}");
    }
}

/// The process forks, its region being in a file. At each step of what is copied for the child, another thread does `op`, and what it does `later` if
/// the fork is behind that; then `check` looks at the child, and knows whether that was before the fork, so that the program's own memory has what it made.
fn at_every_step_of_a_copy<T: Copy + 'static>(
    made: impl Fn() -> &'static Region<'static>,
    op: impl Fn(&'static Region<'static>) -> T + Copy + 'static,
    later: impl Fn(&'static Region<'static>, T),
    check: impl Fn(&'static Region<'static>, &Actor<'static>, Option<T>, u64),
) {
    for at in 0.. {
        let region = made();
        let own = Actor::attach(region, &ActorIdentity::default());
        let known = Rc::new(Cell::new(None));
        let forked = Rc::new(Cell::new(false));
        let (makes, is_over) = (Rc::clone(&known), Rc::clone(&forked));
        let other = Rc::new(move || {
            let made = op(region);
            makes.set(Some(made).filter(|_| !is_over.get()));
        });
        let mut child = Vec::new();
        let meanwhile = || {
            forked.set(true);
            known.get().into_iter().for_each(|made| later(region, made));
        };
        let steps = interrupted(|| child = own_memory(region, &own, meanwhile), &[(at, other)]);
        if steps[0] <= at {
            assert!(at > 1000, "{at} steps");
            break;
        }
        become_own_memory(region, &child);
        region.forked(&CHILD, &[Some(&own)], true);
        check(region, &own, known.get(), at);
    }
}

/// A statement of another thread is digested. In the child each row has the digest of its statements.
#[test]
fn a_digest_of_another_thread() {
    let check = |region: &Region<'_>, _: &Actor<'_>, _, at| {
        end(region, "two");
        end(region, "three");
        let mut rows = Vec::new();
        region.scan(&tables::EventsStatementsSummaryByDigest, |row| {
            rows.push((row.digest_text.map(|text| String::from(text.as_str())), row.count_star));
        });
        rows.sort();
        assert_eq!(rows, [(Some("three".into()), 1), (Some("two".into()), 1)], "at step {at}");
    };
    at_every_step_of_a_copy(region, |region| end(region, "login 'hunter2'"), |_, ()| (), check);
}

fn open<'r>(region: &Region<'r>, path: &str) -> Option<FileInstance<'r>> {
    let file = region.refer_to(region.find_class(FILE.as_str())?, path.as_bytes())?;
    assert!(file.opened());
    Some(file)
}

/// A file is opened. In the child each that finds room has a row of its own, and its own reads.
#[test]
fn a_file_of_another_thread() {
    let check = |region: &'static Region<'static>, own: &Actor<'static>, _: Option<FileInstance<'static>>, at| {
        let class = region.find_class(FILE.as_str()).unwrap();
        // As many as there is room for.
        let paths = (1..).zip(["/parent", "/child", "/other", "/another"]);
        let files: Vec<_> = paths.map_while(|(reads, path)| Some((path, reads, open(region, path)?))).collect();
        assert!(files.len() >= 2, "at step {at}");
        for (_, reads, file) in &files {
            for _ in 0..*reads {
                let wait = own.begin(&At(1), region.switches(class), class, &WaitStart::new(Operation::Read));
                own.end(&At(2), wait, Held::File(FileIo { file: Some(*file), group: Group::Read }));
            }
        }
        let mut rows = Vec::new();
        region.scan(&tables::FileSummaryByInstance, |row| rows.push((row.count_read, String::from(row.file_name.as_str()))));
        rows.sort();
        let expected: Vec<_> = files.iter().map(|(path, reads, _)| (*reads, String::from(*path))).collect();
        assert_eq!(rows, expected, "at step {at}");
    };
    let op = |region: &'static Region<'static>| open(region, "/parent").unwrap();
    at_every_step_of_a_copy(objects, op, |_, _| (), check);
    let close = |region: &Region<'static>, file: FileInstance<'static>| {
        region.file_deleted(b"/parent");
        file.closed();
        region.release(file);
    };
    at_every_step_of_a_copy(objects, op, close, check);
}

fn objects() -> &'static Region<'static> {
    let (region, _) = ground(&OBJECTS);
    for name in [LOCK, FILE, SOCKET] {
        region.register(name, Setting::ON).unwrap();
    }
    region.enable_everything();
    region
}

/// What another thread makes known before the fork has a number, which the program's own memory has in the child, too. Nothing else gets it. What has
/// a name has the same number if it is made known there again; what has none has a row only if all of it was copied.
#[test]
fn what_another_thread_makes_known_keeps_its_number() {
    /// Of two by another name, or at another place; and the rows of its kind.
    type Kind = (fn(&Region<'_>, usize) -> u64, fn(&Region<'_>) -> Option<u64>);
    fn class_of(region: &Region<'_>, name: InstrumentName<'_>) -> Class {
        region.find_class(name.as_str()).unwrap()
    }
    const KINDS: [Kind; 5] = [
        (
            |region, which| {
                let name = ["wait/synch/mutex/test/A", "wait/synch/mutex/test/B"][which];
                region.register(InstrumentName::literal(name), Setting::ON).unwrap().to_bits().into()
            },
            |_| None,
        ),
        (
            |region, which| {
                let info = MetricInfo::literal(["one", "two"][which], "test", "why", MetricType::Value);
                region.register_metric(&info, true, Moment::of_seconds(1)).unwrap().to_bits().into()
            },
            |_| None,
        ),
        (
            |region, which| region.create_instance(class_of(region, LOCK), which as u64 + 1).unwrap().to_bits().into(),
            |region| Some(region.scan(&tables::MutexInstances, |_| ()).rows),
        ),
        (
            |region, which| {
                let file = region.refer_to_file(class_of(region, FILE), ["/one", "/two"][which].as_bytes()).unwrap();
                region.file_opened(file);
                file.to_bits().into()
            },
            |region| Some(region.scan(&tables::FileInstances, |_| ()).rows),
        ),
        (
            |region, which| {
                let socket = region.create_socket(class_of(region, SOCKET), which as i32, SocketAddress::UNIX, 1);
                socket.unwrap().to_bits().into()
            },
            |region| Some(region.scan(&tables::SocketInstances, |_| ()).rows),
        ),
    ];
    for (make, rows) in KINDS {
        let known = Cell::new(0);
        let check = |region: &'static Region<'static>, _: &Actor<'_>, made: Option<u64>, at| {
            let other = make(region, 1);
            known.set(known.get() + usize::from(made.is_some()));
            assert_ne!(Some(other), made, "at step {at}");
            match rows(region) {
                None => assert!(made.is_none_or(|made| make(region, 0) == made), "at step {at}"),
                Some(rows) => assert!(rows == 1 || rows == 2 && made.is_some(), "{rows} at step {at}"),
            }
        };
        at_every_step_of_a_copy(objects, move |region| make(region, 0), |_, _| (), check);
        assert!(known.get() > 1000, "{}", known.get());
    }
}

/// A row of `setup_actors` is replaced. The child has one of them, or neither.
#[test]
fn a_row_of_setup_actors_that_another_thread_replaces() {
    fn insert(region: &Region<'_>, user: &str, enabled: &str) {
        tables::SetupActors.insert(region, &[("USER", Value::Text(user)), ("ENABLED", Value::Text(enabled))]).unwrap();
    }
    let made = || {
        let region = region();
        tables::SetupActors.truncate(region).unwrap();
        insert(region, "alice", "YES");
        region
    };
    let op = |region: &'static Region<'static>| {
        tables::SetupActors.truncate(region).unwrap();
        insert(region, "bob", "NO");
    };
    let check = |region: &Region<'_>, _: &Actor<'_>, _, at| {
        let mut rows = Vec::new();
        region.scan(&tables::SetupActors, |row| rows.push((String::from(row.user.as_str()), row.enabled == YesNo::Yes)));
        assert!([vec![], vec![("alice".into(), true)], vec![("bob".into(), false)]].contains(&rows), "at step {at}: {rows:?}");
    };
    at_every_step_of_a_copy(made, op, |_, ()| (), check);
}
