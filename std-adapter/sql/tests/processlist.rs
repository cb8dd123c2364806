//! What the program's threads execute: `processlist`, `sys.processlist` and `sys.session`; SHOW PROCESSLIST is of the server's clients.

mod common;

use common::{CONFIG, Mortal, World, check, run};
use perfschema::core::{Actor, Class, Config, InstrumentName, MemoryChange, Setting, Size, StatementStart};
use perfschema_sql::{Account, Database};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const SIZES: Config = CONFIG
    .with(Size::MaxStageClasses, 1)
    .with(Size::MaxStatementClasses, 1)
    .with(Size::EventsStatementsHistorySize, 10)
    .with(Size::MaxSqlTextLength, 512);
const S: u64 = 1_000_000_000;

/// A region with an instrument of statements, of stages and of memory.
struct Threads {
    world: World,
    statement: Class,
    stage: Class,
    memory: Class,
}

impl Threads {
    fn new() -> Threads {
        let world = World::of(&SIZES);
        let class = |name, setting| world.region.register(InstrumentName::literal(name), setting).expect("there is room");
        let statement = class("statement/sql/select", Setting::ON);
        let stage = class("stage/sql/Sorting result", Setting::ON);
        let memory = class("memory/sql/heap", Setting::COUNTED);
        Threads { world, statement, stage, memory }
    }

    fn begin<'r>(&self, actor: &Actor<'r>, text: &str, schema: &str) -> perfschema::core::Statement<'r> {
        let start = StatementStart { text, schema, source: None };
        actor.begin_statement(&self.world.clock, self.world.region.switches(self.statement), &start)
    }
}

#[test]
fn what_a_thread_executes_and_for_how_long() {
    let threads = Threads::new();
    let (joe, cleaner) = (threads.world.user("joe", "there"), threads.world.actor("thread/sql/cleaner"));
    let _outer = threads.begin(&joe, "CALL report()", "shop");
    threads.world.pass(2 * S);
    let _inner = threads.begin(&joe, "SELECT 1", "stock");
    let _cleaning = threads.begin(&cleaner, "PURGE", "");
    joe.begin_stage(&threads.world.clock, threads.world.region.switches(threads.stage), None);
    threads.world.pass(S);
    let mut session = threads.world.session_now();
    check(&mut session, "SELECT * FROM processlist", "1,joe,there,shop,Query,3,Sorting result,CALL report(),PRIMARY");
    let doing = "SELECT thread_id, processlist_db, processlist_command, processlist_time, processlist_state, processlist_info \
                 FROM threads ORDER BY thread_id";
    check(&mut session, doing, "1,shop,Query,3,Sorting result,CALL report()\n2,,,1,,PURGE");
    check(
        &mut session,
        "SELECT p.id, COUNT(*) FROM processlist p JOIN events_statements_current s ON s.thread_id = p.id WHERE p.time >= 3 GROUP BY p.id",
        "1,2",
    );
    check(
        &mut session,
        "SELECT table_type, engine FROM information_schema.tables WHERE table_name = 'processlist' AND table_schema = DATABASE()",
        "BASE TABLE,PERFORMANCE_SCHEMA",
    );
    assert!(run(&mut session, "TRUNCATE processlist").starts_with("ERROR "));
}

#[test]
fn a_program_that_has_ended_has_no_time() {
    let threads = Threads::new();
    let joe = threads.world.user("joe", "there");
    let _statement = threads.begin(&joe, "SELECT 1", "shop");
    let has_ended = Arc::new(AtomicBool::new(false));
    let program = Mortal(threads.world.region, Arc::clone(&has_ended));
    let mut session = Database::new(program).session(Account::default()).expect("there is memory");
    let list = "SELECT command, info, time IS NULL FROM performance_schema.processlist";
    check(&mut session, list, "Query,SELECT 1,0");
    has_ended.store(true, Ordering::Relaxed);
    check(&mut session, list, "Query,SELECT 1,1");
    check(&mut session, "SELECT command, time, statement_latency FROM sys.session", "Query,,");
}

/// MySQL's columns and their order.
const COLUMNS: &str = "thd_id,conn_id,user,db,command,state,time,current_statement,execution_engine,statement_latency,progress,lock_latency,\
                       cpu_latency,rows_examined,rows_sent,rows_affected,tmp_tables,tmp_disk_tables,full_scan,last_statement,\
                       last_statement_latency,current_memory,last_wait,last_wait_latency,source,trx_latency,trx_state,trx_autocommit,\
                       pid,program_name";

#[test]
fn sys_says_more_of_each_thread() {
    let threads = Threads::new();
    let (world, clock) = (&threads.world, &threads.world.clock);
    for view in ["processlist", "x$processlist", "session", "x$session"] {
        assert_eq!(run(&mut threads.world.session_now(), &format!("SELECT * FROM sys.`{view}`")).trim_end(), COLUMNS, "{view}");
    }
    let (joe, ann, cleaner) =
        (threads.world.user("joe", "there"), threads.world.user("ann", "here"), world.actor("thread/sql/cleaner"));
    // Ann has had an answer.
    let mut statement = threads.begin(&ann, "SELECT 2", "shop");
    ann.change_statement(&mut statement, |figures| (figures.rows_sent, figures.no_index_used) = (5, 1));
    threads.world.pass(3_000_000);
    ann.end_statement(clock, statement);
    // Joe's second statement runs within the first, waits within both, and is a quarter done.
    let long = format!("SELECT {} FROM t", "1, ".repeat(30));
    let mut outer = threads.begin(&joe, &long, "shop");
    joe.change_statement(&mut outer, |figures| {
        (figures.lock_time_ps, figures.rows_examined, figures.rows_affected) = (2_000_000, 7, 1);
        (figures.created_tmp_tables, figures.created_tmp_disk_tables) = (3, 2);
    });
    joe.count_memory(world.region.switches(threads.memory), threads.memory, MemoryChange::allocated(4096));
    threads.world.pass(S);
    let _inner = threads.begin(&joe, "inner", "stock");
    joe.begin_stage(clock, world.region.switches(threads.stage), None);
    joe.change_stage_progress(|progress| (progress.completed, progress.estimated) = (1, 4));
    world.wait(&joe, 0, 1, 5_000);
    world.wait(&cleaner, 1, 2, 7_000);
    threads.world.pass(S);
    let mut session = threads.world.session_now();
    let (texts, rest) = (format!("{} ... {}", &long[..30], &long[long.len() - 30..]), ",,,,,");
    let (mutex, other) = ("wait/synch/mutex/sql/LOCK_des_key_file", "wait/synch/mutex/mysys/KEY_CACHE::cache_lock");
    let joes = "1,1,joe@there,shop,Query,Sorting result,2,";
    let anns = "2,2,ann@here,,Sleep,,2,,PRIMARY,,,";
    check(
        &mut session,
        "SELECT * FROM sys.`x$processlist` ORDER BY thd_id",
        &format!(
            "{joes}\"{long}\",PRIMARY,2000012000000,25.00,2000000,,7,0,1,3,2,NO,,,4096,{mutex},5000000,{rest}\n\
             {anns}0,,0,5,0,0,0,YES,SELECT 2,3000000000,0,,,{rest}\n\
             3,,sql/cleaner,,,,,,,,,,,,,,,,NO,,,0,{other},7000000,{rest}"
        ),
    );
    check(
        &mut session,
        "SELECT * FROM sys.session ORDER BY thd_id",
        &format!(
            "{joes}\"{texts}\",PRIMARY,2.00 s,25.00,2.00 us,,7,0,1,3,2,NO,,,4.00 KiB,{mutex},5.00 us,{rest}\n\
             {anns}  0 ps,,0,5,0,0,0,YES,SELECT 2,3.00 ms,   0 bytes,,,{rest}"
        ),
    );
    // Who is longest in its state comes first; where nobody knows for how long, last.
    check(&mut session, "SELECT thd_id FROM sys.processlist LIMIT 1 OFFSET 2", "3");
}

/// SHOW PROCESSLIST and `information_schema.PROCESSLIST` list who reads, not whom the program serves.
#[test]
fn the_server_lists_its_own_clients() {
    let threads = Threads::new();
    let _joe = threads.world.user("joe", "there");
    let mut session = threads.world.session_now();
    check(&mut session, "SELECT user FROM information_schema.processlist", "root");
    check(&mut session, "SELECT user FROM performance_schema.processlist", "joe");
    assert!(run(&mut session, "SHOW PROCESSLIST").contains("root,localhost"));
}
