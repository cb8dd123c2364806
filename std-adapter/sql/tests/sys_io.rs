//! The views of `sys` for io: MySQL's names and columns, and values added up here from a list of what was done.

mod common;

use common::{CONFIG, World, run};
use perfschema::core::timer::TimerName;
use perfschema::core::{
    Actor, ActorIdentity, Class, FileEvent, FileId, FileIo, Group, Held, InstrumentName, IoEvent, Operation, Setting, Size,
    ThreadType, WaitStart,
};
use perfschema_sql::Session;
use std::collections::BTreeMap;

/// Names and columns as MySQL's reference manual lists them.
const COLUMNS: [(&str, &str); 10] = [
    ("io_global_by_file_by_bytes", "file,count_read,total_read,avg_read,count_write,total_written,avg_write,total,write_pct"),
    (
        "io_global_by_file_by_latency",
        "file,total,total_latency,count_read,read_latency,count_write,write_latency,count_misc,misc_latency",
    ),
    (
        "io_global_by_wait_by_bytes",
        "event_name,total,total_latency,min_latency,avg_latency,max_latency,count_read,total_read,avg_read,count_write,\
         total_written,avg_written,total_requested",
    ),
    (
        "io_global_by_wait_by_latency",
        "event_name,total,total_latency,avg_latency,max_latency,read_latency,write_latency,misc_latency,count_read,total_read,\
         avg_read,count_write,total_written,avg_written",
    ),
    ("latest_file_io", "thread,file,latency,operation,requested"),
    ("io_by_thread_by_latency", "user,total,total_latency,min_latency,avg_latency,max_latency,thread_id,processlist_id"),
    ("host_summary_by_file_io", "host,ios,io_latency"),
    ("host_summary_by_file_io_type", "host,event_name,total,total_latency,max_latency"),
    ("user_summary_by_file_io", "user,ios,io_latency"),
    ("user_summary_by_file_io_type", "user,event_name,total,latency,max_latency"),
];

/// What was done: thread, file, operation, nanoseconds, bytes.
type Io = (&'static str, usize, Operation, u64, Option<u64>);

const FILES: [(&str, &str); 3] = [("data", "/srv/table.dat"), ("data", "/srv/index.dat"), ("log", "/srv/wal.log")];
const IOS: [Io; 9] = [
    ("writer", 0, Operation::Open, 900, None),
    ("writer", 0, Operation::Write, 5_000, Some(4096)),
    ("writer", 0, Operation::Write, 7_000, Some(100)),
    ("reader", 0, Operation::Read, 3_000, Some(4000)),
    ("reader", 1, Operation::Read, 11_000, Some(1_048_576)),
    ("reader", 1, Operation::Read, 13_000, Some(3)),
    ("writer", 2, Operation::Write, 40_000, Some(512)),
    ("writer", 2, Operation::Sync, 2_000_000, None),
    ("client", 2, Operation::Write, 60, Some(1)),
];

struct Told {
    world: World,
    actors: BTreeMap<&'static str, Actor<'static>>,
}

/// Does all that on a clock of the test's own.
fn tell() -> Told {
    let world = World::of(&CONFIG.with(Size::EventsWaitsHistoryLongSize, 1024));
    let class = |name: &str| {
        let name = format!("wait/io/file/app/{name}");
        world.region.register(InstrumentName::new(&name).expect("a name"), Setting::ON).expect("there is room")
    };
    let classes = BTreeMap::from([("data", class("data")), ("log", class("log"))]);
    let foreground = ActorIdentity {
        name: "thread/app/client",
        thread_type: ThreadType::Foreground,
        user: "ann",
        host: "db1",
        ..ActorIdentity::default()
    };
    let actors = BTreeMap::from([
        ("writer", world.actor("thread/app/writer")),
        ("reader", world.actor("thread/app/reader")),
        ("client", Actor::attach(world.region, &foreground)),
    ]);
    let files: Vec<(Class, FileId)> = FILES
        .iter()
        .map(|(class, path)| {
            let file = world.region.refer_to_file(classes[class], path.as_bytes()).expect("there is room");
            world.region.file_opened(file);
            (classes[class], file)
        })
        .collect();
    for (actor, file, operation, ns, bytes) in IOS {
        let (class, id) = files[file];
        let file = world.region.file(id);
        let start = WaitStart { io: IoEvent::File(FileEvent::new(file.as_ref(), 0)), ..WaitStart::new(operation) };
        let mut wait = actors[actor].begin(&world.clock, world.region.switches(class), class, &start);
        world.clock.advance(TimerName::Nanosecond, ns);
        wait.set_amount(bytes.map_or(0, |bytes| bytes + 1));
        actors[actor].end(&world.clock, wait, Held::File(FileIo { file, group: operation.group() }));
    }
    Told { world, actors }
}

/// The rows of a view, as CSV without the heading.
fn rows(session: &mut Session, view: &str) -> Vec<String> {
    run(session, &format!("SELECT * FROM sys.`{view}`")).lines().skip(1).map(str::to_owned).collect()
}

/// Sums over those of the list that are wanted.
#[derive(Default)]
struct Sums {
    count: u64,
    ps: u64,
    min: Option<u64>,
    max: u64,
    bytes: u64,
}

impl Sums {
    fn of(wanted: impl Fn(&Io) -> bool) -> Sums {
        IOS.iter().filter(|io| wanted(io)).fold(Sums::default(), |sums, (_, _, _, ns, bytes)| Sums {
            count: sums.count + 1,
            ps: sums.ps + ns * 1000,
            min: Some(sums.min.map_or(ns * 1000, |min| min.min(ns * 1000))),
            max: sums.max.max(ns * 1000),
            bytes: sums.bytes + bytes.unwrap_or(0),
        })
    }

    fn average_bytes(&self) -> String {
        format!("{:.4}", self.bytes as f64 / self.count.max(1) as f64)
    }
}

/// Largest first.
fn sorted(mut rows: Vec<(u64, String)>) -> Vec<String> {
    rows.sort_by_key(|row| std::cmp::Reverse(row.0));
    rows.into_iter().map(|row| row.1).collect()
}

#[test]
fn names_and_columns_are_mysqls() {
    let world = World::new();
    let mut session = world.session();
    for (view, columns) in COLUMNS {
        for view in [view.to_owned(), format!("x${view}")] {
            assert_eq!(run(&mut session, &format!("SELECT * FROM sys.`{view}`")).trim_end(), columns, "{view}");
        }
    }
    let columns = "variable_name,variable_value";
    assert_eq!(run(&mut session, "SELECT * FROM sys.ps_check_lost_instrumentation LIMIT 0").trim_end(), columns);
}

#[test]
fn by_file() {
    let told = tell();
    let mut session = told.world.session();
    let (mut by_bytes, mut by_latency) = (Vec::new(), Vec::new());
    for (index, (_, path)) in FILES.iter().enumerate() {
        let of = |group: Group| Sums::of(|io| io.1 == index && io.2.group() == group);
        let (all, read, write, misc) = (Sums::of(|io| io.1 == index), of(Group::Read), of(Group::Write), of(Group::Misc));
        let percent = (100.0 * write.bytes as f64 / (read.bytes + write.bytes) as f64 * 100.0).round() / 100.0;
        let bytes = format!(
            "{path},{},{},{},{},{},{},{},{percent:.2}",
            read.count,
            read.bytes,
            read.average_bytes(),
            write.count,
            write.bytes,
            write.average_bytes(),
            read.bytes + write.bytes,
        );
        by_bytes.push((read.bytes + write.bytes, bytes));
        let latency = [all.count, all.ps, read.count, read.ps, write.count, write.ps, misc.count, misc.ps].map(|n| n.to_string());
        by_latency.push((all.ps, format!("{path},{}", latency.join(","))));
    }
    assert_eq!(rows(&mut session, "x$io_global_by_file_by_bytes"), sorted(by_bytes));
    assert_eq!(rows(&mut session, "x$io_global_by_file_by_latency"), sorted(by_latency));
    let first = &rows(&mut session, "io_global_by_file_by_bytes")[0];
    assert_eq!(first, "/srv/index.dat,2,1.00 MiB,512.00 KiB,0,   0 bytes,   0 bytes,1.00 MiB,0.00");
    let first = &rows(&mut session, "io_global_by_file_by_latency")[0];
    assert_eq!(first, "/srv/wal.log,3,2.04 ms,0,  0 ps,2,40.06 us,1,2.00 ms");
}

#[test]
fn by_instrument() {
    let told = tell();
    let mut session = told.world.session();
    let (mut by_bytes, mut by_latency) = (Vec::new(), Vec::new());
    for class in ["data", "log"] {
        let of = |group: Option<Group>| Sums::of(|io| FILES[io.1].0 == class && group.is_none_or(|group| io.2.group() == group));
        let (all, read, write, misc) = (of(None), of(Some(Group::Read)), of(Some(Group::Write)), of(Some(Group::Misc)));
        let head = format!("app/{class},{},{}", all.count, all.ps);
        let average = all.ps / all.count;
        let amounts = |sums: &Sums| format!("{},{},{}", sums.count, sums.bytes, sums.average_bytes());
        let requested = read.bytes + write.bytes;
        by_bytes.push((
            requested,
            format!("{head},{},{average},{},{},{},{requested}", all.min.unwrap_or(0), all.max, amounts(&read), amounts(&write)),
        ));
        by_latency.push((
            all.ps,
            format!("{head},{average},{},{},{},{},{},{}", all.max, read.ps, write.ps, misc.ps, amounts(&read), amounts(&write)),
        ));
    }
    assert_eq!(rows(&mut session, "x$io_global_by_wait_by_bytes"), sorted(by_bytes));
    assert_eq!(rows(&mut session, "x$io_global_by_wait_by_latency"), sorted(by_latency));
    let first = &rows(&mut session, "io_global_by_wait_by_latency")[0];
    assert!(first.starts_with("app/log,3,2.04 ms,680.02 us,2.00 ms,  0 ps,40.06 us,2.00 ms,0,   0 bytes,"), "{first}");
}

#[test]
fn by_thread_user_and_host() {
    let told = tell();
    let mut session = told.world.session();
    let thread_id = |name: &str| told.actors[name].thread_id();
    let of_thread = |name: &str| Sums::of(|io| io.0 == name);
    // A foreground thread's connection has the number of the thread.
    let threads = ["writer", "reader", "client"].map(|name| {
        let (sums, id) = (of_thread(name), thread_id(name));
        let (user, connection) = if name == "client" { ("ann@db1", id.to_string()) } else { (name, String::new()) };
        let (min, average) = (sums.min.unwrap_or(0), sums.ps / sums.count);
        (sums.ps, format!("{user},{},{},{min},{average},{},{id},{connection}", sums.count, sums.ps, sums.max))
    });
    assert_eq!(rows(&mut session, "x$io_by_thread_by_latency"), sorted(threads.into()));

    let background = Sums::of(|io| io.0 != "client");
    let client = of_thread("client");
    for (view, who) in [("host", "db1"), ("user", "ann")] {
        let expected =
            [format!("background,{},{}", background.count, background.ps), format!("{who},{},{}", client.count, client.ps)];
        assert_eq!(rows(&mut session, &format!("x${view}_summary_by_file_io")), expected);
        let by_type = |class: &str| {
            let sums = Sums::of(|io| io.0 != "client" && FILES[io.1].0 == class);
            (sums.ps, format!("background,wait/io/file/app/{class},{},{},{}", sums.count, sums.ps, sums.max))
        };
        let mut expected = sorted(vec![by_type("data"), by_type("log")]);
        let own = format!("{who},wait/io/file/app/log,{},{},{}", client.count, client.ps, client.max);
        // By host or user first.
        if who < "background" {
            expected.insert(0, own);
        } else {
            expected.push(own);
        }
        assert_eq!(rows(&mut session, &format!("x${view}_summary_by_file_io_type")), expected);
    }
    let rows = rows(&mut session, "user_summary_by_file_io");
    assert_eq!(rows[1], "ann,1,60.00 ns");
}

/// In the order in which they were done.
#[test]
fn the_latest() {
    let told = tell();
    let mut session = told.world.session();
    let expected: Vec<String> = IOS
        .iter()
        .map(|(thread, file, operation, ns, bytes)| {
            let id = told.actors[thread].thread_id();
            let thread = if *thread == "client" { format!("ann@db1:{id}") } else { format!("{thread}:{id}") };
            let bytes = bytes.map_or_else(String::new, |bytes| bytes.to_string());
            format!("{thread},{},{},{},{bytes}", FILES[*file].1, ns * 1000, operation.name())
        })
        .collect();
    assert_eq!(rows(&mut session, "x$latest_file_io"), expected);
    assert_eq!(rows(&mut session, "latest_file_io").len(), IOS.len());
}

#[test]
fn what_was_lost() {
    let told = tell();
    let mut session = told.world.session();
    assert_eq!(rows(&mut session, "ps_check_lost_instrumentation"), [""; 0]);
    let class = told.world.region.register(InstrumentName::new("wait/io/file/app/data").expect("a name"), Setting::ON);
    let class = class.expect("it is registered");
    let lost = (0..10_u8).filter(|number| told.world.region.refer_to_file(class, &[*number]).is_none()).count();
    assert!(lost > 0);
    let expected = [format!("Performance_schema_file_instances_lost,{lost}")];
    assert_eq!(rows(&mut session, "ps_check_lost_instrumentation"), expected);
}
