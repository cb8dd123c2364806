//! The views of `sys` that say all of a user, of a host or of the program in one row each: MySQL's columns, and values by hand.

mod common;

use common::{CONFIG, World, check, run};
use perfschema::core::metric::{MetricInfo, MetricType};
use perfschema::core::{
    Actor, Class, FileEvent, FileIo, Held, InstrumentName, IoEvent, MemoryChange, Operation, Setting, Size, StatementStart,
    WaitStart,
};
use perfschema::metric::now;

const COLUMNS: [(&str, &str); 4] = [
    (
        "user_summary",
        "user,statements,statement_latency,statement_avg_latency,table_scans,file_ios,file_io_latency,current_connections,\
         total_connections,unique_hosts,current_memory,total_memory_allocated",
    ),
    (
        "host_summary",
        "host,statements,statement_latency,statement_avg_latency,table_scans,file_ios,file_io_latency,current_connections,\
         total_connections,unique_users,current_memory,total_memory_allocated",
    ),
    (
        "memory_by_user_by_current_bytes",
        "user,current_count_used,current_allocated,current_avg_alloc,current_max_alloc,total_allocated",
    ),
    (
        "memory_by_host_by_current_bytes",
        "host,current_count_used,current_allocated,current_avg_alloc,current_max_alloc,total_allocated",
    ),
];

struct Told {
    world: World,
    statement: Class,
    file: Class,
    heap: Class,
    cache: Class,
}

impl Told {
    fn new() -> Told {
        let world = World::of(&CONFIG.with(Size::MaxStatementClasses, 1).with(Size::MaxMetrics, 4));
        let info = MetricInfo::new("rows_read", "dml", "Rows read", MetricType::Counter).expect("a name");
        world.region.register_metric(&info, true, now()).expect("there is room");
        let class = |name, setting| world.region.register(InstrumentName::literal(name), setting).expect("there is room");
        let statement = class("statement/sql/select", Setting::ON);
        let file = class("wait/io/file/app/log", Setting::ON);
        let [heap, cache] = ["memory/app/heap", "memory/app/cache"].map(|name| class(name, Setting::COUNTED));
        Told { world, statement, file, heap, cache }
    }

    /// A statement of so many nanoseconds, which looks through a table and writes to a file for one of them.
    fn statement(&self, actor: &Actor<'_>, ns: u64) {
        let (clock, region) = (&self.world.clock, self.world.region);
        let mut statement = actor.begin_statement(clock, region.switches(self.statement), &StatementStart::default());
        actor.change_statement(&mut statement, |figures| figures.no_index_used = 1);
        let id = region.refer_to_file(self.file, b"/srv/wal.log").expect("there is room");
        region.file_opened(id);
        let file = region.file(id);
        let start = WaitStart { io: IoEvent::File(FileEvent::new(file.as_ref(), 0)), ..WaitStart::new(Operation::Write) };
        let wait = actor.begin(clock, region.switches(self.file), self.file, &start);
        self.world.pass(1);
        actor.end(clock, wait, Held::File(FileIo { file, group: Operation::Write.group() }));
        self.world.pass(ns - 1);
        actor.end_statement(clock, statement);
    }

    fn allocate(&self, actor: &Actor<'_>, class: Class, bytes: u64) {
        actor.count_memory(self.world.region.switches(class), class, MemoryChange::allocated(bytes));
    }
}

#[test]
fn names_and_columns_are_mysqls() {
    let mut session = World::new().session();
    for (view, columns) in COLUMNS {
        for name in [view.to_owned(), format!("x${view}")] {
            assert_eq!(run(&mut session, &format!("SELECT * FROM sys.`{name}`")).trim_end(), columns, "{name}");
        }
    }
}

/// Two connections of one user from two hosts, a third one of another, and a thread of the program's own. One statement in two is timed.
#[test]
fn users_and_hosts() {
    let told = Told::new();
    let [ann, ann_elsewhere, bob] =
        [("ann", "db1"), ("ann", "db2"), ("bob", "db1")].map(|(user, host)| told.world.user(user, host));
    let background = told.world.actor("thread/app/cleaner");
    told.statement(&ann, 1000);
    told.statement(&ann_elsewhere, 3000);
    told.statement(&bob, 500);
    told.world.region.set_setting(told.statement, Setting::COUNTED);
    told.statement(&ann, 9000);
    for (actor, class, bytes) in
        [(&ann, told.heap, 100), (&ann_elsewhere, told.heap, 50), (&ann, told.cache, 120), (&bob, told.heap, 7)]
    {
        told.allocate(actor, class, bytes);
    }
    background.count_memory(told.world.region.switches(told.heap), told.heap, MemoryChange::freed(1));
    let mut session = told.world.session();
    check(
        &mut session,
        "SELECT * FROM sys.`x$user_summary`",
        "ann,3,4000000,2000000,3,3,3000,2,,2,270,270\nbob,1,500000,500000,1,1,1000,1,,1,7,7\nbackground,0,0,0,0,0,0,0,,0,-1,0",
    );
    check(
        &mut session,
        "SELECT * FROM sys.`x$host_summary`",
        "db2,1,3000000,3000000,1,1,1000,1,,1,50,50\ndb1,3,1500000,750000,3,3,3000,2,,2,227,227\nbackground,0,0,0,0,0,0,0,,0,-1,0",
    );
    check(
        &mut session,
        "SELECT * FROM sys.user_summary WHERE user = 'ann'",
        "ann,3,4.00 us,2.00 us,3,3,3.00 ns,2,,2, 270 bytes, 270 bytes",
    );
    let memory = "ann,3,270,90.0000,150,270\nbob,1,7,7.0000,7,7\nbackground,-1,-1,1.0000,0,0";
    check(&mut session, "SELECT * FROM sys.`x$memory_by_user_by_current_bytes`", memory);
    let memory = "db1,3,227,75.6667,120,227\ndb2,1,50,50.0000,50,50\nbackground,-1,-1,1.0000,0,0";
    check(&mut session, "SELECT * FROM sys.`x$memory_by_host_by_current_bytes`", memory);
    let memory = "SELECT host, current_allocated, current_max_alloc FROM sys.memory_by_host_by_current_bytes LIMIT 1";
    check(&mut session, memory, "db1, 227 bytes, 120 bytes");
}

#[test]
fn all_numbers_in_one_list() {
    let told = Told::new();
    let main = told.world.actor("thread/app/main");
    told.allocate(&main, told.heap, 100);
    let mut session = told.world.session();
    assert!(run(&mut session, "SELECT * FROM sys.metrics").starts_with("Variable_name,Variable_value,Type,Enabled\n"));
    let count = "SELECT (SELECT COUNT(*) FROM sys.metrics) - (SELECT COUNT(*) FROM global_status) - \
                 (SELECT COUNT(*) FROM information_schema.innodb_metrics WHERE SUBSYSTEM <> 'perfschema')";
    check(&mut session, count, "4");
    check(&mut session, "SELECT * FROM sys.metrics WHERE Variable_name = 'rows_read'", "rows_read,0,InnoDB Metrics - dml,YES");
    check(&mut session, "SELECT COUNT(*) - COUNT(DISTINCT Variable_name) FROM sys.metrics", "0");
    check(
        &mut session,
        "SELECT * FROM sys.metrics WHERE Type = 'Performance Schema' OR Variable_name = 'performance_schema_mutex_classes_lost'",
        "performance_schema_mutex_classes_lost,0,Global Status,YES\nmemory_current_allocated,100,Performance Schema,YES\n\
         memory_total_allocated,100,Performance Schema,YES",
    );
    let enabled = "SELECT Enabled FROM sys.metrics WHERE Variable_name = 'memory_total_allocated'";
    run(&mut session, "UPDATE setup_instruments SET ENABLED = 'NO' WHERE NAME = 'memory/app/heap'");
    check(&mut session, enabled, "PARTIAL");
    run(&mut session, "UPDATE setup_instruments SET ENABLED = 'NO' WHERE NAME LIKE 'memory/%'");
    check(&mut session, enabled, "NO");
    check(&mut session, "SELECT Variable_value = NOW(3) FROM sys.metrics WHERE Variable_name = 'NOW()'", "1");
    check(&mut World::of(&CONFIG.with(Size::MaxMemoryClasses, 0)).session(), enabled, "NO");
}

#[test]
fn version() {
    check(&mut World::new().session(), "SELECT sys_version, mysql_version = VERSION() FROM sys.version", "2.1.2,1");
}
