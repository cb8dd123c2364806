//! Files: their rows, their names in the events, their sums, and how they come and go.

mod common;

use common::{CONFIG, World};
use perfschema_core::{
    Actor, Class, FileEvent, FileId, FileIo, Group, Held, IoEvent, Lost, Operation, Setting, Size, Wait, WaitStart, tables,
};

const DATA: &str = "wait/io/file/test/data";
const LOG: &str = "wait/io/file/test/log";
const CURRENT: &str = "events_waits_current";
const HISTORY: &str = "events_waits_history";
const LONG: &str = "events_waits_history_long";
const INSTANCES: &str = "file_instances";
const BY_INSTANCE: &str = "file_summary_by_instance";
const BY_EVENT_NAME: &str = "file_summary_by_event_name";
/// Of an event, what is special about files.
const EVENT: &str = "EVENT_NAME,OBJECT_NAME,OBJECT_TYPE,OBJECT_INSTANCE_BEGIN,OPERATION,NUMBER_OF_BYTES,FLAGS,SPINS";
/// Of a summary, all but what names the row.
const SUMS: &str = "COUNT_STAR,SUM_TIMER_WAIT,MIN_TIMER_WAIT,AVG_TIMER_WAIT,MAX_TIMER_WAIT,\
    COUNT_READ,SUM_TIMER_READ,MIN_TIMER_READ,AVG_TIMER_READ,MAX_TIMER_READ,SUM_NUMBER_OF_BYTES_READ,\
    COUNT_WRITE,SUM_TIMER_WRITE,MIN_TIMER_WRITE,AVG_TIMER_WRITE,MAX_TIMER_WRITE,SUM_NUMBER_OF_BYTES_WRITE,\
    COUNT_MISC,SUM_TIMER_MISC,MIN_TIMER_MISC,AVG_TIMER_MISC,MAX_TIMER_MISC";
const NOTHING: &str = "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0";

/// A thread that uses files of one instrument.
struct User<'w> {
    world: &'w World,
    actor: Actor<'static>,
    class: Class,
}

impl User<'_> {
    fn new<'w>(world: &'w World, name: &str) -> User<'w> {
        User { world, actor: world.actor("thread/test/user"), class: world.class(name) }
    }

    /// Opens the file; None if there is no room.
    fn open(&self, path: impl AsRef<[u8]>) -> Option<FileId> {
        let id = self.world.region.refer_to_file(self.class, path.as_ref())?;
        self.world.region.file_opened(id);
        Some(id)
    }

    fn close(&self, id: FileId) {
        self.world.region.file_closed(id);
        self.world.region.release_file(id);
    }

    fn begin(&self, id: Option<FileId>, operation: Operation, object: u64, bytes: Option<u64>, flags: u32) -> Wait<'static> {
        let file = id.and_then(|id| self.world.region.file(id));
        let start = WaitStart {
            object,
            amount: bytes.map_or(0, |bytes| bytes + 1),
            io: IoEvent::File(FileEvent::new(file.as_ref(), flags)),
            ..WaitStart::new(operation)
        };
        self.actor.begin(self.world.clock, self.world.region.switches(self.class), self.class, &start)
    }

    fn end(&self, id: Option<FileId>, group: Group, bytes: Option<u64>, mut wait: Wait<'static>) {
        wait.set_amount(bytes.map_or(0, |bytes| bytes + 1));
        // As it is kept in an atomic.
        let file = id.and_then(|id| self.world.region.file(FileId::from_bits(id.to_bits())));
        self.actor.end(self.world.clock, wait, Held::File(FileIo { file, group }));
    }

    /// An operation of so many nanoseconds.
    fn io(&self, id: impl Into<Option<FileId>>, operation: Operation, ns: u64, bytes: Option<u64>) {
        let id = id.into();
        let wait = self.begin(id, operation, 0, bytes, 0);
        self.world.pass(ns);
        self.end(id, operation.group(), bytes, wait);
    }
}

/// So many bytes are asked for while it lasts, so many were read when it has ended; also none, at the end of the file.
#[test]
fn a_wait_for_a_file_says_which_and_how_much() {
    let world = World::on(&CONFIG);
    let user = User::new(&world, DATA);
    let id = user.open("/data/t1.ibd");
    for (asked, got) in [(4096, 100), (4096, 0), (0, 0)] {
        let wait = user.begin(id, Operation::Read, 8192, Some(asked), 0);
        world.expect(CURRENT, EVENT, &[&format!("{DATA} /data/t1.ibd FILE 8192 read {asked} 0 NULL")]);
        user.end(id, Group::Read, Some(got), wait);
        world.expect(CURRENT, EVENT, &[&format!("{DATA} /data/t1.ibd FILE 8192 read {got} 0 NULL")]);
    }
    // There are no bytes where there can be none.
    let wait = user.begin(id, Operation::Open, 0, None, 0x4000);
    user.end(id, Group::Misc, None, wait);
    let opened = format!("{DATA} /data/t1.ibd FILE 0 open NULL 16384 NULL");
    world.expect(CURRENT, EVENT, &[&opened]);
    for table in [HISTORY, LONG] {
        assert!(world.select(table, EVENT).contains(&opened), "{table}");
    }
    // A wait for a lock in the same records shows nothing of that.
    let mutex = world.class(common::MUTEX);
    for _ in 0..9 {
        world.wait(&user.actor, mutex, 1);
    }
    let lock = format!("{} NULL NULL 0 lock NULL NULL NULL", common::MUTEX);
    world.expect(HISTORY, EVENT, &[&lock, &lock, &lock]);
    // And one for a file that nobody knows shows no name.
    let wait = user.begin(None, Operation::Stat, 0, None, 0);
    world.expect(CURRENT, EVENT, &[&format!("{DATA} NULL FILE 0 stat NULL 0 NULL")]);
    user.end(None, Group::Misc, None, wait);
}

#[test]
fn sums_are_of_reads_of_writes_and_of_all_else() {
    let world = World::on(&CONFIG);
    let user = User::new(&world, DATA);
    let id = user.open("/a").unwrap();
    for (operation, ns, bytes) in [
        (Operation::Open, 7, None),
        (Operation::Read, 10, Some(100)),
        (Operation::Read, 20, Some(0)),
        (Operation::Write, 5, Some(40)),
        (Operation::Sync, 100, None),
        (Operation::Seek, 1, None),
    ] {
        user.io(id, operation, ns, bytes);
    }
    let all = "6 143000 1000 23833 100000";
    let groups = "2 30000 10000 15000 20000 100 1 5000 5000 5000 5000 40 3 108000 1000 36000 100000";
    world.expect(BY_INSTANCE, &format!("FILE_NAME,EVENT_NAME,{SUMS}"), &[&format!("/a {DATA} {all} {groups}")]);
    world.expect(BY_EVENT_NAME, &format!("EVENT_NAME,{SUMS}"), &[&format!("{DATA} {all} {groups}")]);
    // The tables that all waits have count them, too.
    let wait_sums = "COUNT_STAR,SUM_TIMER_WAIT,MIN_TIMER_WAIT,AVG_TIMER_WAIT,MAX_TIMER_WAIT";
    for table in ["events_waits_summary_global_by_event_name", "events_waits_summary_by_instance"] {
        world.expect(table, wait_sums, &[all]);
    }
    // Counted and not timed.
    world.region.set_setting(user.class, Setting::COUNTED);
    user.io(id, Operation::Read, 30, Some(1));
    world.expect(BY_INSTANCE, "COUNT_READ,SUM_TIMER_READ,AVG_TIMER_READ,SUM_NUMBER_OF_BYTES_READ", &["3 30000 15000 101"]);
    // The same number tells the row in both tables.
    assert_eq!(
        world.select(BY_INSTANCE, "OBJECT_INSTANCE_BEGIN"),
        world.select("events_waits_summary_by_instance", "OBJECT_INSTANCE_BEGIN")
    );
}

/// Who counts first writes sums of its own, all others share words; a thread without a slot is one of those.
#[test]
fn all_threads_count_in_one_row() {
    let world = World::on(&CONFIG);
    let users = [DATA, DATA, DATA, LOG].map(|name| User::new(&world, name));
    assert_eq!(users[3].actor.thread_id(), 0, "CONFIG has three slots");
    let ids = users.each_ref().map(|user| user.open("/shared").unwrap());
    assert_eq!(ids, [ids[0]; 4], "one path is one file");
    for (ns, user) in (1..).zip(&users) {
        user.io(ids[0], Operation::Read, ns, Some(10));
    }
    // The instrument that opened it first owns it; by event name each counts where it belongs.
    world.expect(INSTANCES, "*", &[&format!("/shared {DATA} 4")]);
    let columns = "EVENT_NAME,COUNT_READ,SUM_TIMER_READ,MIN_TIMER_READ,AVG_TIMER_READ,MAX_TIMER_READ,SUM_NUMBER_OF_BYTES_READ";
    world.expect(BY_INSTANCE, columns, &[&format!("{DATA} 4 10000 1000 2500 4000 40")]);
    world.expect(
        BY_EVENT_NAME,
        columns,
        &[&format!("{DATA} 3 6000 1000 2000 3000 30"), &format!("{LOG} 1 4000 4000 4000 4000 10")],
    );
    // An ended thread counts on, exactly once.
    for user in &users {
        user.actor.detach();
    }
    users[0].io(ids[0], Operation::Read, 1, Some(10));
    world.expect(BY_INSTANCE, columns, &[&format!("{DATA} 5 11000 1000 2200 4000 50")]);
    assert_eq!(world.select(BY_EVENT_NAME, "COUNT_READ,SUM_NUMBER_OF_BYTES_READ"), ["1 10", "4 40"]);
}

#[test]
fn each_summary_is_truncated_alone() {
    let world = World::on(&CONFIG);
    let (user, other) = (User::new(&world, DATA), User::new(&world, DATA));
    let id = user.open("/a").unwrap();
    let count = |table| world.select(table, "COUNT_STAR,SUM_TIMER_WAIT").concat();
    let waits = ["events_waits_summary_global_by_event_name", "events_waits_summary_by_instance"];
    for (truncated, left) in [
        (BY_INSTANCE, ["0 0", "2 4000", "2 4000", "2 4000"]),
        (BY_EVENT_NAME, ["2 4000", "0 0", "4 8000", "4 8000"]),
        (waits[1], ["4 8000", "2 4000", "6 12000", "0 0"]),
    ] {
        user.io(id, Operation::Read, 1, Some(1));
        other.io(id, Operation::Write, 3, Some(1));
        world.truncate(truncated);
        assert_eq!([BY_INSTANCE, BY_EVENT_NAME, waits[0], waits[1]].map(count), left, "after {truncated}");
    }
    world.truncate(BY_INSTANCE);
    world.expect(BY_INSTANCE, SUMS, &[NOTHING]);
    user.io(id, Operation::Read, 9, Some(1));
    world.expect(BY_INSTANCE, "COUNT_STAR,MIN_TIMER_READ", &["1 9000"]);
}

#[test]
fn only_what_is_enabled_counts_whatever_the_consumers() {
    let world = World::on(&CONFIG);
    let user = User::new(&world, DATA);
    let id = user.open("/a").unwrap();
    let counts = || {
        [BY_INSTANCE, BY_EVENT_NAME, "events_waits_summary_by_instance"].map(|table| world.select(table, "COUNT_STAR").concat())
    };
    world.region.set_setting(user.class, Setting::OFF);
    user.io(id, Operation::Read, 1, Some(1));
    assert_eq!(counts(), ["0", "0", "0"]);
    world.region.set_setting(user.class, Setting::ON);
    for &consumer in perfschema_core::Consumer::ALL {
        world.region.set_consumer(consumer, consumer == perfschema_core::Consumer::GlobalInstrumentation);
    }
    user.io(id, Operation::Read, 1, Some(1));
    assert_eq!(counts(), ["1", "1", "0"]);
}

/// Nothing is known of a path but the waits for it, until it is opened.
#[test]
fn what_was_never_opened_has_no_row() {
    let world = World::on(&CONFIG);
    let user = User::new(&world, DATA);
    let id = world.region.refer_to_file(user.class, b"/missing").unwrap();
    let wait = user.begin(Some(id), Operation::Open, 0, None, 0);
    world.expect(CURRENT, "OBJECT_NAME", &["/missing"]);
    world.expect(INSTANCES, "*", &[]);
    user.end(Some(id), Group::Misc, None, wait);
    world.region.release_file(id);
    // Its name shows as long as no other file has the place: three at most.
    world.expect(HISTORY, "OBJECT_NAME", &["/missing"]);
    let others = ["/1", "/2", "/3"].map(|path| user.open(path).unwrap());
    world.expect(HISTORY, "OBJECT_NAME", &["NULL"]);
    others.into_iter().for_each(|id| user.close(id));
    world.expect(INSTANCES, "FILE_NAME,OPEN_COUNT", &["/1 0", "/2 0", "/3 0"]);
    assert_eq!(world.region.lost(Lost::FileInstances), 0);
}

#[test]
fn a_full_pool_is_counted_and_its_io_by_event_name() {
    let world = World::on(&CONFIG);
    let user = User::new(&world, DATA);
    let ids: Vec<Option<FileId>> = (0..5).map(|n| user.open(format!("/{n}"))).collect();
    assert_eq!(ids.iter().flatten().count(), 3);
    assert_eq!(world.region.lost(Lost::FileInstances), 2);
    for id in &ids {
        user.io(*id, Operation::Read, 1, Some(1));
    }
    world.expect(BY_INSTANCE, "FILE_NAME,COUNT_READ", &["/0 1", "/1 1", "/2 1"]);
    world.expect(BY_EVENT_NAME, "COUNT_READ,SUM_NUMBER_OF_BYTES_READ", &["5 5"]);
    // A closed file keeps its place; a deleted one gives it away.
    user.close(ids[1].unwrap());
    assert_eq!(user.open("/3"), None);
    world.region.file_deleted(b"/1");
    assert!(user.open("/3").is_some());
    world.expect(BY_INSTANCE, "FILE_NAME,COUNT_READ", &["/0 1", "/2 1", "/3 0"]);
    // Without any place nothing is known, and all is counted.
    let none = World::on(&CONFIG.with(Size::MaxFileInstances, 0));
    assert_eq!(User::new(&none, DATA).open("/a"), None);
    assert_eq!(none.region.lost(Lost::FileInstances), 1);
    // Nor is a lock's instrument one of files.
    assert_eq!(world.region.refer_to_file(world.class(common::MUTEX), b"/a"), None);
}

#[test]
fn instruments_of_files_have_a_pool_of_their_own() {
    let world = World::on(&CONFIG);
    let [data, log] = [DATA, LOG].map(|name| world.class(name));
    let third = perfschema_core::InstrumentName::literal("wait/io/file/test/third");
    assert!(world.region.register(third, Setting::ON).is_err());
    assert_eq!(world.region.lost(Lost::FileClasses), 1);
    assert_eq!(world.region.create_instance(data, 1), None, "a file is no lock");
    assert_eq!([data, log].map(|class| world.region.file_summary_by_event_name(class).total().count), [0, 0]);
    let mutex = world.class(common::MUTEX);
    assert_eq!(world.region.file_summary_by_event_name(mutex), Default::default());
    // What is no instrument of files finds no file, be it known or not, and loses none.
    let file = world.region.refer_to_file(data, b"/data").unwrap();
    world.region.file_opened(file);
    for path in [b"/data", b"/none"] {
        assert_eq!(world.region.refer_to_file(mutex, path), None);
    }
    assert_eq!(world.region.refer_to_file(log, b"/data"), Some(file));
    for _ in 0..2 {
        world.region.release_file(file);
    }
    world.region.file_deleted(b"/data");
    assert_eq!(world.region.lost(Lost::FileInstances), 0);
    // Nobody refers to it any more: somebody else gets its place.
    let places = (0..CONFIG.get(Size::MaxFileInstances)).map(|n| world.region.refer_to_file(data, format!("/{n}").as_bytes()));
    assert!(places.into_iter().any(|place| place == Some(file)));
}

#[test]
fn a_renamed_file_keeps_its_counters_and_replaces_another() {
    let world = World::on(&CONFIG);
    let user = User::new(&world, DATA);
    let [old, new] = ["/index.tmp", "/index"].map(|path| user.open(path).unwrap());
    user.io(old, Operation::Write, 1, Some(10));
    user.io(new, Operation::Read, 1, Some(20));
    user.close(new);
    world.region.file_renamed(b"/index.tmp", b"/index");
    let columns = "FILE_NAME,COUNT_STAR,SUM_NUMBER_OF_BYTES_WRITE";
    world.expect(BY_INSTANCE, columns, &["/index 1 10"]);
    // The handle goes on, and so does who opens it by its new name.
    user.io(old, Operation::Write, 1, Some(5));
    assert_eq!(user.open("/index"), Some(old));
    world.expect(BY_INSTANCE, columns, &["/index 2 15"]);
    world.expect(INSTANCES, "*", &[&format!("/index {DATA} 2")]);
    // Events show the name that the file has now; one of a file that is gone, what it had.
    world.expect(HISTORY, "OPERATION,OBJECT_NAME", &["read /index", "write /index", "write /index"]);
    assert_ne!(user.open("/index.tmp"), Some(old));
    world.expect(BY_EVENT_NAME, "COUNT_STAR,SUM_NUMBER_OF_BYTES_READ,SUM_NUMBER_OF_BYTES_WRITE", &["3 20 15"]);
    // What is not known is nobody's; and to its own name.
    world.region.file_renamed(b"/none", b"/other");
    world.region.file_renamed(b"/index", b"/index");
    world.expect(INSTANCES, "FILE_NAME,OPEN_COUNT", &["/index 2", "/index.tmp 1"]);
    // A folder, with a slash and without.
    user.open("/folder/file").unwrap();
    world.region.file_renamed(b"/folder", b"/folder/");
    world.region.file_renamed(b"/folder/", b"/folder");
    world.expect(INSTANCES, "FILE_NAME,OPEN_COUNT", &["/folder/file 1", "/index 2", "/index.tmp 1"]);
}

#[test]
fn a_deleted_file_is_gone_and_its_place_is_kept_while_it_is_open() {
    let world = World::on(&CONFIG);
    let user = User::new(&world, DATA);
    let id = user.open("/a").unwrap();
    user.io(id, Operation::Read, 1, Some(10));
    world.region.file_deleted(b"/a");
    world.expect(INSTANCES, "*", &[]);
    world.expect(BY_INSTANCE, "*", &[]);
    world.expect("events_waits_summary_by_instance", "*", &[]);
    // Another file of this name is another file, and the old handle counts by event name.
    let again = user.open("/a").unwrap();
    assert_ne!(again, id);
    user.io(id, Operation::Read, 1, Some(10));
    world.expect(BY_INSTANCE, "COUNT_STAR", &["0"]);
    world.expect(BY_EVENT_NAME, "COUNT_READ,SUM_NUMBER_OF_BYTES_READ", &["2 20"]);
    let others: Vec<_> = (0..3).map(|n| user.open(format!("/{n}"))).collect();
    assert_eq!(others.iter().flatten().count(), 1, "one of three places is of the deleted file");
    user.close(id);
    assert!(user.open("/late").is_some(), "and free once it is closed");
}

#[test]
fn whoever_opens_a_file_that_was_deleted_meanwhile_is_told() {
    let world = World::on(&CONFIG);
    let class = world.class(DATA);
    let refer = || world.region.refer_to(class, b"/a").unwrap();
    assert!(refer().opened() && refer().opened());
    let late = refer();
    world.region.file_deleted(b"/a");
    assert!(!late.opened());
    assert!(refer().opened(), "it is another file");
    world.expect(INSTANCES, "FILE_NAME,OPEN_COUNT", &["/a 1"]);
}

#[test]
fn paths_are_told_apart_by_all_their_bytes_and_shown_as_text() {
    let world = World::on(&CONFIG);
    let user = User::new(&world, DATA);
    let long = |end: &str| format!("{}é{end}", "l".repeat(511));
    let ids = [long("1"), long("2")].map(|path| user.open(path).unwrap());
    assert_ne!(ids[0], ids[1]);
    let cut = format!("{} {DATA} 1", "l".repeat(511));
    world.expect(INSTANCES, "*", &[&cut, &cut]);
    for path in [long("1"), long("2")] {
        world.region.file_renamed(path.as_bytes(), if path.ends_with('1') { b"/\xff1" } else { b"/\xfe1" });
    }
    // The same text, and still two files.
    world.expect(INSTANCES, "*", &[&format!("/\u{fffd}1 {DATA} 1"), &format!("/\u{fffd}1 {DATA} 1")]);
    assert_eq!([user.open(b"/\xff1"), user.open(b"/\xfe1")], ids.map(Some));
    assert_ne!(user.open("/\u{fffd}1"), Some(ids[0]));
    // Nothing but bytes that are no text: three times as long as text, and cut.
    world.region.file_renamed(b"/\xff1", &[0xff; 600]);
    assert!(world.select(INSTANCES, "FILE_NAME").contains(&"\u{fffd}".repeat(170)));
    world.region.file_renamed(&[0xff; 600], b"");
    assert!(world.select(INSTANCES, "*").contains(&format!(" {DATA} 2")));
}

/// Threads that open, read, rename and delete the same few files: no place is lost, no byte is counted twice.
#[test]
fn threads_that_come_by_the_same_paths() {
    const THREADS: u64 = 4;
    let rounds = if cfg!(miri) { 20 } else { 20_000 };
    let config = CONFIG.with(Size::MaxThreadInstances, THREADS as u32).with(Size::MaxFileInstances, 6);
    let world = World::on(&config);
    let class = world.class(DATA);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let world = &world;
            scope.spawn(move || {
                let region = world.region;
                let user = User { world, actor: world.actor("thread/test/user"), class };
                let mut random = 2360 + thread;
                let mut next = |below: u64| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (random >> 33) % below
                };
                for _ in 0..rounds {
                    let (path, to) = (format!("/{}", next(3)), format!("/{}", next(3)));
                    match next(8) {
                        0 => region.file_deleted(path.as_bytes()),
                        1 => region.file_renamed(path.as_bytes(), to.as_bytes()),
                        2 => {
                            let id = region.refer_to_file(class, path.as_bytes());
                            id.into_iter().for_each(|id| region.release_file(id));
                        }
                        _ => {
                            let id = user.open(&path);
                            user.io(id, Operation::Read, 0, Some(7));
                            id.into_iter().for_each(|id| user.close(id));
                        }
                    }
                }
                user.actor.detach();
            });
        }
        let world = &world;
        scope.spawn(move || {
            for _ in 0..rounds / 10 {
                for table in [INSTANCES, BY_INSTANCE, HISTORY, "events_waits_summary_by_instance"] {
                    for name in world.select(table, if table == HISTORY { "OBJECT_NAME" } else { "EVENT_NAME" }) {
                        assert!(["/0", "/1", "/2", "NULL", DATA].contains(&&*name), "{table} shows {name}");
                    }
                }
            }
        });
    });
    let mut names = Vec::new();
    world.region.scan(&tables::FileInstances, |row| {
        assert_eq!(row.open_count, 0);
        names.push(row.file_name.to_string());
    });
    let sums = world.region.file_summary_by_event_name(class);
    let read = sums.group(Group::Read);
    assert_eq!(read.bytes, read.waits.count * 7);
    assert!(read.waits.count > rounds, "{}", read.waits.count);
    for name in names {
        world.region.file_deleted(name.as_bytes());
    }
    world.expect(INSTANCES, "*", &[]);
    let before = world.region.lost(Lost::FileInstances);
    let user = User { world: &world, actor: Actor::without_slot(world.region), class };
    let ids: Vec<_> = (0..6).filter_map(|n| user.open(format!("/new/{n}"))).collect();
    assert_eq!((ids.len(), world.region.lost(Lost::FileInstances) - before), (6, 0), "every place is free again");
}

/// Several threads count in one file at the same moment: its owner, and others.
#[test]
fn no_byte_is_lost_where_threads_read_together() {
    const THREADS: u64 = 3;
    let rounds = if cfg!(miri) { 20 } else { 200_000 };
    let world = World::on(&CONFIG);
    let class = world.class(DATA);
    let id = world.region.refer_to_file(class, b"/shared").unwrap();
    world.region.file_opened(id);
    let start = std::sync::Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            let (world, start) = (&world, &start);
            scope.spawn(move || {
                let user = User { world, actor: world.actor("thread/test/user"), class };
                start.wait();
                (0..rounds).for_each(|_| user.io(id, Operation::Read, 0, Some(7)));
                user.actor.detach();
            });
        }
    });
    let all = THREADS * rounds;
    world.expect(BY_INSTANCE, "COUNT_READ,SUM_NUMBER_OF_BYTES_READ", &[&format!("{all} {}", all * 7)]);
    world.expect("events_waits_summary_by_instance", "COUNT_STAR", &[&all.to_string()]);
    world.expect(BY_EVENT_NAME, "COUNT_READ,SUM_NUMBER_OF_BYTES_READ", &[&format!("{all} {}", all * 7)]);
}

/// Of a folder whose path is as long as what is kept of paths, nothing is known to be below it but by its whole name.
#[test]
fn folders_with_long_paths() {
    let world = World::on(&CONFIG.with(Size::MaxFileInstances, 8));
    let user = User::new(&world, DATA);
    let folder = |length: usize| format!("/{}", "x".repeat(length - 1));
    for (length, hides) in [(511, false), (512, true), (600, true)] {
        let (folder, file) = (folder(length), folder(length) + "/file");
        let hides_now = || world.region.may_hide_below((folder.clone() + "//").as_bytes());
        assert!(!hides_now() && !world.region.has_file(file.as_bytes()));
        user.open(&file).unwrap();
        assert_eq!(hides_now(), hides);
        assert!(!world.region.may_hide_below(format!("/y{}", &folder[2..]).as_bytes()));
        world.region.folder_deleted(folder.as_bytes());
        assert_eq!(world.region.has_file(file.as_bytes()), hides);
        world.region.file_deleted(file.as_bytes());
        assert!(!world.region.has_file(file.as_bytes()));
    }
    world.expect(INSTANCES, "OPEN_COUNT", &[]);
}

/// What is below a folder goes and comes with it, and nothing else.
#[test]
fn folders_take_along_what_is_below_them() {
    let world = World::on(&CONFIG.with(Size::MaxFileInstances, 8));
    let user = User::new(&world, DATA);
    let deep = format!("/data/{}", "x".repeat(600));
    let paths = ["/data/a", "/data/b/c", "/data.old", &deep, "/other/a", "/d"];
    let ids = paths.map(|path| user.open(path).unwrap());
    for id in ids {
        user.io(id, Operation::Read, 1, Some(10));
    }
    world.region.file_renamed(b"/data/", b"/other/");
    // The one that had the new name is gone; of the deep one the new name is not known.
    world.expect(
        BY_INSTANCE,
        "FILE_NAME,COUNT_READ,SUM_NUMBER_OF_BYTES_READ",
        &["/d 1 10", "/data.old 1 10", "/other/a 1 10", "/other/b/c 1 10"],
    );
    // Handles go on, and whoever opens a file by its new name finds it.
    user.io(ids[1], Operation::Read, 1, Some(5));
    assert_eq!(user.open("/other/b/c"), Some(ids[1]));
    assert_eq!(user.open("/data/b/c").filter(|id| ids.contains(id)), None);
    world.region.folder_deleted(b"/other");
    world.region.folder_deleted(b"/nothing/is/there");
    world.expect(INSTANCES, "FILE_NAME,OPEN_COUNT", &["/d 1", "/data.old 1", "/data/b/c 1"]);
    // Into a folder with a name so long that no path below it is one.
    world.region.file_renamed(b"/data", "/y".repeat(2048).as_bytes());
    world.expect(INSTANCES, "FILE_NAME,OPEN_COUNT", &["/d 1", "/data.old 1"]);
    world.expect(BY_EVENT_NAME, "COUNT_STAR,SUM_NUMBER_OF_BYTES_READ", &["7 65"]);
}
