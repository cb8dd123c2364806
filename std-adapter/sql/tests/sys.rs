//! The views of `sys`, and who waits for whom.

mod common;

use common::{World, check, run};
use perfschema::core::timer::{Calibration, Clock, Conversion, SystemClock, TimerName, Timers};
use perfschema::core::{
    Actor, ActorIdentity, Config, Held, Identity, InstrumentName, MemoryChange, Now, Operation, Region, Setting, ThreadType,
    WaitStart, Word,
};
use perfschema_sql::{Account, Database, Outcome};
use std::sync::mpsc;

#[test]
fn every_view_answers_and_is_described() {
    let world = World::new();
    let mut session = world.session();
    let views = run(&mut session, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'sys'");
    let views: Vec<&str> = views.lines().skip(1).collect();
    assert!(views.len() >= 20, "{views:?}");
    for view in views {
        let Ok(Outcome::Rows(grid)) = session.execute(&format!("SELECT * FROM sys.`{view}`")) else { panic!("{view}") };
        let described = run(
            &mut session,
            &format!(
                "SELECT column_name FROM information_schema.columns WHERE table_schema = 'sys' AND table_name = '{view}' \
                 ORDER BY ordinal_position"
            ),
        );
        let names: Vec<&str> = grid.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(described.lines().skip(1).collect::<Vec<_>>(), names, "{view}");
    }
    let columns = |session: &mut _, view: &str| run(session, &format!("SELECT * FROM sys.{view} LIMIT 0")).trim_end().to_owned();
    assert_eq!(columns(&mut session, "waits_global_by_latency"), "events,total,total_latency,avg_latency,max_latency");
    assert_eq!(columns(&mut session, "waits_by_user_by_latency"), "user,event,total,total_latency,avg_latency,max_latency");
    assert_eq!(columns(&mut session, "waits_by_host_by_latency"), "host,event,total,total_latency,avg_latency,max_latency");
    let classes = "event_class,total,total_latency,min_latency,avg_latency,max_latency";
    assert_eq!(columns(&mut session, "wait_classes_global_by_latency"), classes);
    assert_eq!(columns(&mut session, "`x$wait_classes_global_by_avg_latency`"), classes);
    for (view, expected) in [
        (
            "memory_global_by_current_bytes",
            "event_name,current_count,current_alloc,current_avg_alloc,high_count,high_alloc,high_avg_alloc",
        ),
        (
            "memory_by_thread_by_current_bytes",
            "thread_id,user,current_count_used,current_allocated,current_avg_alloc,current_max_alloc,total_allocated",
        ),
        ("memory_global_total", "total_allocated"),
    ] {
        assert_eq!(columns(&mut session, view), expected);
        assert_eq!(columns(&mut session, &format!("`x${view}`")), expected);
    }
}

#[test]
fn memory_in_use() {
    let world = World::new();
    let class = |name| world.region.register(InstrumentName::literal(name), Setting::COUNTED).expect("there is room");
    let [heap, cache, unused] = ["memory/test/heap", "memory/test/cache", "memory/test/unused"].map(class);
    let foreground = ActorIdentity {
        name: "thread/test/c",
        thread_type: ThreadType::Foreground,
        user: "ada",
        host: "db1",
        ..Default::default()
    };
    let (main, connection) = (world.actor("thread/test/main"), Actor::attach(world.region, &foreground));
    let count = |actor: &Actor<'_>, class, change| actor.count_memory(world.region.switches(class), class, change);
    for bytes in [1000, 24] {
        count(&main, heap, MemoryChange::allocated(bytes));
        count(&connection, cache, MemoryChange::allocated(bytes * 1000));
    }
    count(&connection, heap, MemoryChange::freed(1000));
    count(&main, unused, MemoryChange::allocated(7));
    count(&main, unused, MemoryChange::freed(7));
    let mut session = world.session();
    check(
        &mut session,
        "SELECT * FROM sys.memory_global_by_current_bytes",
        "memory/test/cache,2,1000.00 KiB,500.00 KiB,2,1000.00 KiB,500.00 KiB\nmemory/test/heap,1,  24 bytes,  24 bytes,2,1.00 KiB, 512 bytes",
    );
    check(
        &mut session,
        "SELECT * FROM sys.`x$memory_global_by_current_bytes`",
        "memory/test/cache,2,1024000,512000.0000,2,1024000,512000.0000\nmemory/test/heap,1,24,24.0000,2,1024,512.0000",
    );
    check(
        &mut session,
        "SELECT * FROM sys.memory_by_thread_by_current_bytes",
        "2,ada@db1,1,999.02 KiB,999.02 KiB,1000.00 KiB,1000.00 KiB\n1,test/main,2,1.00 KiB, 512 bytes,1.00 KiB,1.01 KiB",
    );
    check(
        &mut session,
        "SELECT thread_id, current_allocated, current_max_alloc, total_allocated FROM sys.`x$memory_by_thread_by_current_bytes`",
        "2,1023000,1024000,1024000\n1,1024,1024,1031",
    );
    check(&mut session, "SELECT * FROM sys.memory_global_total", "1000.02 KiB");
    check(&mut session, "SELECT * FROM sys.`x$memory_global_total`", "1024024");
    // What prometheus-mysqld-exporter sends: no more than it has room for, as unsigned numbers.
    check(
        &mut session,
        "SELECT EVENT_NAME, SUM_NUMBER_OF_BYTES_ALLOC, SUM_NUMBER_OF_BYTES_FREE, CURRENT_NUMBER_OF_BYTES_USED \
         FROM memory_summary_global_by_event_name where COUNT_ALLOC > 0",
        "memory/test/heap,1024,1000,24\nmemory/test/cache,1024000,0,1024000\nmemory/test/unused,7,7,0",
    );
    // TRUNCATE keeps what is in use.
    assert_eq!(run(&mut session, "TRUNCATE TABLE memory_summary_global_by_event_name"), "0 changed");
    check(&mut session, "SELECT * FROM sys.`x$memory_global_total`", "1024024");
    assert_eq!(
        run(&mut session, "UPDATE setup_instruments SET ENABLED = 'NO', TIMED = 'YES' WHERE NAME LIKE 'memory/%'"),
        "Rows matched: 3  Changed: 3  Warnings: 0"
    );
    check(
        &mut session,
        "SELECT NAME, ENABLED, TIMED FROM setup_instruments WHERE NAME LIKE 'memory/%/heap'",
        "memory/test/heap,NO,",
    );
}

#[test]
fn waits_by_latency() {
    let world = World::new();
    let main = world.actor("thread/test/main");
    world.wait(&main, 0, 1, 100);
    world.wait(&main, 0, 1, 300);
    world.wait(&main, 4, 1, 5);
    let mut session = world.session();
    check(
        &mut session,
        "SELECT * FROM sys.waits_global_by_latency",
        "wait/synch/mutex/sql/LOCK_des_key_file,2,400.00 ns,200.00 ns,300.00 ns\nwait/synch/rwlock/sql/LOCK_grant,1,5.00 ns,5.00 ns,5.00 ns",
    );
    check(
        &mut session,
        "SELECT events, total_latency FROM sys.`x$waits_global_by_latency` LIMIT 1",
        "wait/synch/mutex/sql/LOCK_des_key_file,400000",
    );
    check(
        &mut session,
        "SELECT * FROM sys.wait_classes_global_by_latency",
        "wait/synch/mutex,2,400.00 ns,100.00 ns,200.00 ns,300.00 ns\nwait/synch/rwlock,1,5.00 ns,5.00 ns,5.00 ns,5.00 ns",
    );
    check(&mut session, "SELECT user, total FROM sys.waits_by_user_by_latency", "background,2\nbackground,1");
}

/// A holds a mutex, B waits for it; the clock is the region's own and has stopped with the program here.
#[test]
fn who_waits_for_whom() {
    let world = World::new();
    let (holder, waiter) = (world.actor("thread/test/holder"), world.actor("thread/test/waiter"));
    let class = world.classes[3];
    let id = world.region.create_instance(class, 0xabc).expect("there is room");
    let instance = world.region.instance(id).expect("it is there");
    let start = |line| WaitStart { object: 0xabc, source: Some(line), ..WaitStart::new(Operation::Lock) };
    let (taken, waited) = (
        std::panic::Location::caller(), // on two lines, to be told apart
        std::panic::Location::caller(),
    );
    let wait = holder.begin(&world.clock, world.region.switches(class), class, &start(taken));
    holder.end(&world.clock, wait, Held::Exclusive(&instance));
    instance.set_holder(holder.thread_id());
    world.clock.advance(TimerName::Nanosecond, 50);
    let waiting = waiter.begin(&world.clock, world.region.switches(class), class, &start(waited));
    let mut session = world.session();
    let here = |place: &std::panic::Location<'_>| format!("sys.rs:{}", place.line());
    let waits = run(
        &mut session,
        "SELECT waiting_thread_name, waiting_source, blocking_thread_name, blocking_source, operation, object_instance_begin FROM sys.lock_waits",
    );
    let lines: Vec<&str> = waits.lines().collect();
    assert_eq!(
        lines.get(1..),
        Some(&[format!("thread/test/waiter,{},thread/test/holder,{},lock,2748", here(waited), here(taken)).as_str()][..]),
        "{waits}"
    );
    check(
        &mut session,
        "SELECT thread_name, holder_thread_name, wait_so_far IS NOT NULL FROM sys.current_waits",
        "thread/test/waiter,thread/test/holder,1",
    );
    // The time so far is unknown once nobody can tell when the program ended.
    let mut ended = Database::new(world.region).read_only().session(Account::default()).expect("there is memory");
    check(&mut ended, "SELECT waiting_thread_name, wait_so_far IS NULL FROM sys.`x$lock_waits`", "thread/test/waiter,1");
    waiter.end(&world.clock, waiting, Held::Exclusive(&instance));
    assert_eq!(run(&mut session, "SELECT * FROM sys.`x$lock_waits`").lines().count(), 1, "nobody waits now");
}

/// Which hangs, and is the first thing to look for then. That a wait is just over looks the same, but not for long.
#[test]
fn a_thread_that_locks_twice_waits_for_itself() {
    let world = World::new();
    let thread = world.actor("thread/test/careless");
    let class = world.classes[3];
    let id = world.region.create_instance(class, 0xabc).expect("there is room");
    let instance = world.region.instance(id).expect("it is there");
    let begin = || {
        let start = WaitStart { object: 0xabc, source: Some(std::panic::Location::caller()), ..WaitStart::new(Operation::Lock) };
        thread.begin(&world.clock, world.region.switches(class), class, &start)
    };
    let wait = begin();
    thread.end(&world.clock, wait, Held::Exclusive(&instance));
    instance.set_holder(thread.thread_id());
    let _again = begin();
    let select = "SELECT waiting_thread_name, blocking_thread_name, blocking_source LIKE 'sys.rs:%' FROM sys.lock_waits";
    world.pass(999_999_999);
    assert_eq!(run(&mut world.session_now(), select).lines().count(), 1);
    world.pass(1);
    check(&mut world.session_now(), select, "thread/test/careless,thread/test/careless,1");
    check(&mut world.session_now(), "SELECT holder_thread_name FROM sys.current_waits", "thread/test/careless");
    // So does a program that was ended for it, or its core dump.
    let mut ended = Database::new(world.region).read_only().session(Account::default()).expect("there is memory");
    check(&mut ended, select, "thread/test/careless,thread/test/careless,1");
}

/// The same with threads and locks of this process, and its real clock.
#[test]
fn a_thread_waits_while_it_waits() {
    static LOCK: perfschema::sync::Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/LOCK_held", ());
    let process = perfschema::builder().everything(true).start().expect("it starts");
    let mut session = Database::new(process).session(Account::default()).expect("there is memory");
    let guard = LOCK.lock().expect("nobody panics");
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            tell.send(()).expect("somebody listens");
            drop(LOCK.lock());
        });
        told.recv().expect("the thread runs");
        let select = "SELECT wait_so_far, blocking_thread_id, waiting_source FROM sys.`x$lock_waits`";
        let mut last = 0;
        for _ in 0..2 {
            let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
            let time = loop {
                let found = run(&mut session, select);
                if let Some(row) = found.lines().nth(1) {
                    assert!(row.contains("sys.rs:"), "{row}");
                    break row.split(',').next().and_then(|time| time.parse::<u64>().ok()).expect("a time");
                }
                assert!(std::time::Instant::now() < deadline, "{found}");
            };
            assert!(time > last, "{time} after {last}");
            last = time;
        }
        drop(guard);
    });
    assert_eq!(run(&mut session, "SELECT * FROM sys.lock_waits").lines().count(), 1);
}

/// Looks at a wait that began by a clock which `clock` makes of the region's timers; those began `uptime_s` ago, and CYCLE is otherwise.
fn check_what_waits(
    uptime_s: u64,
    cycle: impl Fn(&mut Calibration),
    clock: impl FnOnce(&Region<'_>) -> Box<dyn Fn(TimerName) -> u64>,
    expected: &str,
) {
    struct By(Box<dyn Fn(TimerName) -> u64>);
    impl Clock for By {
        fn ticks(&self, timer: TimerName) -> u64 {
            self.0(timer)
        }
    }
    let timers = Timers::calibrate();
    let timers = TimerName::ALL.map(|name| {
        let mut timer = *timers.get(name);
        timer.epoch_ticks = SystemClock.ticks(name).wrapping_sub(timer.frequency_hz * uptime_s);
        if name == TimerName::Cycle {
            cycle(&mut timer);
        }
        timer
    });
    let words: &'static [Word] = Vec::leak((0..Config::SMALL.words()).map(|_| Word::new(0)).collect());
    let region = Region::create(words, &Config::SMALL, &Identity::default(), &Timers::new(timers)).expect("there is room");
    let class = region.register(InstrumentName::literal("wait/synch/mutex/test/LOCK"), Setting::ON).expect("there is room");
    region.enable_everything();
    let actor = Actor::attach(&region, &ActorIdentity::default());
    let clock = By(clock(&region));
    let _wait = actor.begin(&clock, region.switches(class), class, &WaitStart::new(Operation::Lock));
    let now: &'static Region<'static> = Box::leak(Box::new(region.as_of(Now::Clock)));
    let mut session = Database::new(now).session(Account::default()).expect("there is memory");
    check(
        &mut session,
        &format!("SELECT wait_so_far {expected} AND wait_so_far < 30000000000000 FROM sys.`x$current_waits`"),
        "1",
    );
}

/// The frequency of CYCLE is measured, so it is a little wrong, and its moments part from those of the clock for as long as the program runs:
/// how long something lasts is told by the timer that times it.
#[test]
fn what_lasts_is_timed_by_its_own_timer() {
    // A tenth wrong, for a quarter of an hour; a few parts in 10⁷ for years.
    let wrong = |cycle: &mut Calibration| {
        cycle.frequency_hz += cycle.frequency_hz / 10;
        cycle.conversion = Conversion::from_frequency(cycle.frequency_hz);
    };
    check_what_waits(1000, wrong, |_| Box::new(|timer| SystemClock.ticks(timer)), "> 0");
}

/// As that of a program which an emulator runs as one of another processor, or where a machine that slept begins anew.
#[test]
fn what_lasts_is_timed_by_the_clock_where_the_counter_is_another_one() {
    // What it reads there is more than what is read here for years.
    let other = |cycle: &mut Calibration| cycle.epoch_ticks = cycle.epoch_ticks.wrapping_add(1 << 60);
    // Since the epoch, a second ago.
    let since_epoch = |region: &Region<'_>| -> Box<dyn Fn(TimerName) -> u64> {
        let epochs = TimerName::ALL.map(|timer| region.timer(timer).epoch_ticks);
        Box::new(move |timer| epochs[timer.index()])
    };
    check_what_waits(1, other, since_epoch, ">= 1000000000000");
}

/// TIMER_START begins at 0 again after 213 days. What has lasted for more than half as long is not yet to begin.
#[test]
fn what_lasts_for_months() {
    const DAY_S: u64 = 86_400;
    const S: u64 = 1_000_000_000;
    let world = World::new();
    let actor = world.actor("thread/test/waits");
    let class = world.classes[0];
    for before_s in [0, 100 * DAY_S, 300 * DAY_S] {
        world.pass(before_s * S);
        let wait = actor.begin(&world.clock, world.region.switches(class), class, &WaitStart::new(Operation::Lock));
        let mut lasts_s = 0;
        for days in [1, 106, 107, 150, 212] {
            world.pass((days * DAY_S - lasts_s) * S);
            lasts_s = days * DAY_S;
            let select = "SELECT wait_so_far DIV 1000000000000 FROM sys.`x$current_waits`";
            check(&mut world.session_now(), select, &lasts_s.to_string());
        }
        actor.end(&world.clock, wait, Held::None);
        // What began when the statement had looked at the clock.
        let later_ps =
            world.region.timer(TimerName::Nanosecond).since_epoch_ps(world.clock.ticks(TimerName::Nanosecond) + 3600 * S);
        check(&mut world.session_now(), &format!("SELECT sys.`@time_since`('wait', {later_ps})"), "0");
    }
}
