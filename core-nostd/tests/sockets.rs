//! Sockets: their rows, their names in the events, their sums; and threads that are idle.

mod common;

use common::{CONFIG, World};
use perfschema_core::name::EventClass;
use perfschema_core::timer::TimerName;
use perfschema_core::{
    Actor, Class, Config, Group, Held, InstanceId, InstrumentName, IoEvent, Lost, Operation, Setting, Size, SocketAddress,
    SocketEvent, SocketIo, Wait, WaitStart,
};
use std::net::SocketAddr;

const SERVER: &str = "wait/io/socket/test/server_tcpip_socket";
const CLIENT: &str = "wait/io/socket/test/client_connection";
const CURRENT: &str = "events_waits_current";
const HISTORY: &str = "events_waits_history";
const LONG: &str = "events_waits_history_long";
const INSTANCES: &str = "socket_instances";
const BY_INSTANCE: &str = "socket_summary_by_instance";
const BY_EVENT_NAME: &str = "socket_summary_by_event_name";
/// Of an event, what is special about sockets.
const EVENT: &str = "EVENT_NAME,OBJECT_NAME,OBJECT_TYPE,OPERATION,NUMBER_OF_BYTES,FLAGS,SPINS";
/// Of a row of `socket_instances`, all but the number.
const SOCKET: &str = "EVENT_NAME,THREAD_ID,SOCKET_ID,IP,PORT,STATE";

fn peer(address: &str) -> SocketAddress {
    address.parse::<SocketAddr>().unwrap().into()
}

/// A thread that uses sockets of one instrument.
struct User<'w> {
    world: &'w World,
    actor: Actor<'static>,
    class: Class,
}

impl User<'_> {
    fn new<'w>(world: &'w World, name: &str) -> User<'w> {
        User { world, actor: world.actor("thread/test/user"), class: world.class(name) }
    }

    /// Opens a socket; None if there is no room.
    fn open(&self, descriptor: i32, to: &str) -> Option<InstanceId> {
        self.world.region.create_socket(self.class, descriptor, peer(to), 0)
    }

    fn begin(&self, id: impl Into<Option<InstanceId>>, operation: Operation, bytes: Option<u64>) -> Wait<'static> {
        let socket = id.into().and_then(|id| self.world.region.socket(id));
        let start = WaitStart {
            object: socket.map_or(0, |socket| socket.address()),
            amount: bytes.map_or(0, |bytes| bytes + 1),
            io: IoEvent::Socket(SocketEvent { address: socket.map_or(SocketAddress::UNKNOWN, |socket| socket.peer()) }),
            ..WaitStart::new(operation)
        };
        self.actor.begin(self.world.clock, self.world.region.switches(self.class), self.class, &start)
    }

    fn end(&self, id: impl Into<Option<InstanceId>>, group: Group, bytes: Option<u64>, mut wait: Wait<'static>) {
        wait.set_amount(bytes.map_or(0, |bytes| bytes + 1));
        let socket = id.into().and_then(|id| self.world.region.socket(id));
        self.actor.end(self.world.clock, wait, Held::Socket(SocketIo { socket, group }));
    }

    /// An operation of so many nanoseconds.
    fn io(&self, id: impl Into<Option<InstanceId>>, operation: Operation, ns: u64, bytes: Option<u64>) {
        let id = id.into();
        let wait = self.begin(id, operation, bytes);
        self.world.pass(ns);
        self.end(id, operation.group(), bytes, wait);
    }
}

/// WL#4896: OBJECT_NAME is IP:PORT, OBJECT_INSTANCE_BEGIN the socket's number; so many bytes are asked for while it lasts, so many were
/// received when it has ended.
#[test]
fn a_wait_for_a_socket_says_which_and_how_much() {
    let world = World::on(&CONFIG);
    let user = User::new(&world, CLIENT);
    let id = user.open(5, "192.0.2.7:40001");
    let wait = user.begin(id, Operation::Receive, Some(4096));
    world.expect(CURRENT, EVENT, &[&format!("{CLIENT} 192.0.2.7:40001 SOCKET recv 4096 NULL NULL")]);
    assert_eq!(world.select(CURRENT, "OBJECT_INSTANCE_BEGIN"), world.select(INSTANCES, "OBJECT_INSTANCE_BEGIN"));
    user.end(id, Group::Read, Some(100), wait);
    let received = format!("{CLIENT} 192.0.2.7:40001 SOCKET recv 100 NULL NULL");
    world.expect(CURRENT, EVENT, &[&received]);
    // A socket that is closed, and whose place another one has, is named in the histories all the same.
    world.region.destroy_instance(id.unwrap());
    let other = user.open(5, "[2001:db8::1]:80").unwrap();
    user.io(other, Operation::Shutdown, 1, None);
    let shut_down = format!("{CLIENT} 2001:db8::1:80 SOCKET shutdown NULL NULL NULL");
    for table in [HISTORY, LONG] {
        assert_eq!(world.select(table, EVENT), [received.clone(), shut_down.clone()], "{table}");
    }
    let numbers = world.select(HISTORY, "OBJECT_INSTANCE_BEGIN");
    assert_ne!(numbers[0], numbers[1], "no later socket has the number");
    // A Unix socket has no IP, and of one that nobody knows there is no name.
    let unix = world.region.create_socket(user.class, 6, SocketAddress::UNIX, 0).unwrap();
    user.io(unix, Operation::Send, 1, Some(3));
    world.expect(CURRENT, EVENT, &[&format!("{CLIENT} :0 SOCKET send 3 NULL NULL")]);
    user.io(None, Operation::Connect, 1, None);
    world.expect(CURRENT, EVENT, &[&format!("{CLIENT} NULL SOCKET connect NULL NULL NULL")]);
    // The longest address fits.
    let longest = "[2001:db88:1234:5678:9abc:def0:1234:5678]:65535";
    world.region.socket(other).unwrap().set_peer(peer(longest));
    user.io(other, Operation::Option, 1, None);
    world.expect(CURRENT, "OBJECT_NAME", &[&longest.replace(['[', ']'], "")]);
}

/// WL#4896, Func-Req 1.6, 1.7: a row for each connection, with its IP and PORT, deleted when it ends.
#[test]
fn a_socket_has_a_row_while_it_is_open() {
    let world = World::on(&CONFIG);
    let (server, client) = (User::new(&world, SERVER), User::new(&world, CLIENT));
    let me = client.actor.thread_id();
    let listener = world.region.create_socket(server.class, 3, peer("0.0.0.0:3306"), server.actor.thread_id()).unwrap();
    let accepted = client.open(4, "[::1]:50000").unwrap();
    let listens = format!("{SERVER} {} 3 0.0.0.0 3306 ACTIVE", server.actor.thread_id());
    // An accepted one is of the thread that uses it first.
    world.expect(INSTANCES, SOCKET, &[&format!("{CLIENT} NULL 4 ::1 50000 ACTIVE"), &listens]);
    client.io(accepted, Operation::Receive, 1, Some(1));
    world.expect(INSTANCES, SOCKET, &[&format!("{CLIENT} {me} 4 ::1 50000 ACTIVE"), &listens]);
    world.region.destroy_instance(listener);
    let unix = world.region.create_socket(client.class, -1, SocketAddress::UNIX, 0).unwrap();
    world.expect(INSTANCES, SOCKET, &[&format!("{CLIENT} NULL -1  0 ACTIVE"), &format!("{CLIENT} {me} 4 ::1 50000 ACTIVE")]);
    [accepted, unix].into_iter().for_each(|id| world.region.destroy_instance(id));
    for table in [INSTANCES, BY_INSTANCE, "events_waits_summary_by_instance"] {
        world.expect(table, "*", &[]);
    }
    world.expect(BY_EVENT_NAME, "EVENT_NAME,COUNT_STAR", &[&format!("{CLIENT} 1"), &format!("{SERVER} 0")]);
    // A lock's instrument is none of sockets, and a socket is no lock.
    assert_eq!(world.region.create_socket(world.class(common::MUTEX), 1, SocketAddress::UNIX, 0), None);
    assert_eq!(world.region.create_instance(client.class, 1), None);
}

#[test]
fn sums_are_of_what_is_received_of_what_is_sent_and_of_all_else() {
    let world = World::on(&CONFIG);
    let user = User::new(&world, CLIENT);
    let id = user.open(5, "192.0.2.7:1").unwrap();
    for (operation, ns, bytes) in [
        (Operation::Receive, 10, Some(100)),
        (Operation::ReceiveFrom, 20, Some(0)),
        (Operation::Send, 5, Some(40)),
        (Operation::SendTo, 7, Some(2)),
        (Operation::Accept, 100, None),
        (Operation::Select, 1, None),
        (Operation::Close, 7, None),
    ] {
        user.io(id, operation, ns, bytes);
    }
    let sums = "COUNT_STAR,SUM_TIMER_WAIT,MIN_TIMER_WAIT,AVG_TIMER_WAIT,MAX_TIMER_WAIT,\
        COUNT_READ,SUM_TIMER_READ,MIN_TIMER_READ,AVG_TIMER_READ,MAX_TIMER_READ,SUM_NUMBER_OF_BYTES_READ,\
        COUNT_WRITE,SUM_TIMER_WRITE,MIN_TIMER_WRITE,AVG_TIMER_WRITE,MAX_TIMER_WRITE,SUM_NUMBER_OF_BYTES_WRITE,\
        COUNT_MISC,SUM_TIMER_MISC,MIN_TIMER_MISC,AVG_TIMER_MISC,MAX_TIMER_MISC";
    let all = "7 150000 1000 21428 100000";
    let groups = "2 30000 10000 15000 20000 100 2 12000 5000 6000 7000 42 3 108000 1000 36000 100000";
    for table in [BY_INSTANCE, BY_EVENT_NAME] {
        world.expect(table, &format!("EVENT_NAME,{sums}"), &[&format!("{CLIENT} {all} {groups}")]);
    }
    let wait_sums = "COUNT_STAR,SUM_TIMER_WAIT,MIN_TIMER_WAIT,AVG_TIMER_WAIT,MAX_TIMER_WAIT";
    for table in ["events_waits_summary_global_by_event_name", "events_waits_summary_by_instance"] {
        world.expect(table, wait_sums, &[all]);
    }
    assert_eq!(
        world.select(BY_INSTANCE, "OBJECT_INSTANCE_BEGIN"),
        world.select("events_waits_summary_by_instance", "OBJECT_INSTANCE_BEGIN")
    );
    // Each is truncated alone.
    world.truncate(BY_INSTANCE);
    let counts = [BY_INSTANCE, BY_EVENT_NAME].map(|table| world.select(table, "COUNT_STAR,COUNT_READ").concat());
    assert_eq!(counts, ["0 0", "7 2"]);
    world.truncate(BY_EVENT_NAME);
    user.io(id, Operation::Receive, 3, Some(8));
    for table in [BY_INSTANCE, BY_EVENT_NAME] {
        world.expect(table, "COUNT_STAR,SUM_TIMER_READ,SUM_NUMBER_OF_BYTES_READ", &["1 3000 8"]);
    }
    world.expect("events_waits_summary_by_instance", "COUNT_STAR", &["8"]);
}

/// WL#4896: no events are recorded in the socket while the server is idle, and the idle time is that of the instrument `idle`.
#[test]
fn an_idle_connection_is_no_wait_for_a_socket() {
    let world = World::on(&CONFIG);
    let (user, other) = (User::new(&world, CLIENT), User::new(&world, CLIENT));
    let idle = world.class("idle");
    let id = user.open(5, "192.0.2.7:1").unwrap();
    other.io(id, Operation::Send, 1, Some(1));
    let socket = world.region.socket(id).unwrap();
    let me = user.actor.thread_id();
    socket.begin_idle(me);
    let switches = world.region.switches(idle);
    let wait = user.actor.begin(world.clock, switches, idle, &WaitStart::new(Operation::Idle));
    // The connection is the thread's that waits there, whoever used it before.
    world.expect(INSTANCES, "THREAD_ID,STATE", &[&format!("{me} IDLE")]);
    let columns = "EVENT_NAME,OBJECT_NAME,OBJECT_TYPE,OBJECT_INSTANCE_BEGIN,OPERATION,NUMBER_OF_BYTES,TIMER_WAIT";
    world.expect(
        CURRENT,
        columns,
        &["idle NULL NULL 0 idle NULL NULL", &format!("{CLIENT} 192.0.2.7:1 SOCKET {} send 1 1000", socket.address())],
    );
    world.pass(2_000_000);
    let io = SocketIo { socket: Some(socket), group: Group::Read };
    user.actor.count_socket(world.region.switches(user.class), &io, 20);
    user.actor.end(world.clock, wait, Held::None);
    socket.end_idle();
    world.expect(INSTANCES, "THREAD_ID,STATE", &[&format!("{me} ACTIVE")]);
    // What came is counted, that it was waited for is not.
    let counts = "COUNT_READ,SUM_TIMER_READ,SUM_NUMBER_OF_BYTES_READ,COUNT_WRITE";
    world.expect(BY_INSTANCE, counts, &["1 0 20 1"]);
    world.expect(BY_EVENT_NAME, counts, &["1 0 20 1"]);
    let sums = "EVENT_NAME,COUNT_STAR,SUM_TIMER_WAIT";
    let waits = ["idle 1 2000000000", &format!("{CLIENT} 1 1000")];
    world.expect("events_waits_summary_global_by_event_name", sums, &waits);
    world.expect("events_waits_summary_by_instance", "COUNT_STAR", &["1"]);
    // Nothing is counted while the instrument is off.
    world.region.set_setting(user.class, Setting::OFF);
    user.actor.count_socket(world.region.switches(user.class), &io, 20);
    world.expect(BY_INSTANCE, counts, &["1 0 20 1"]);
    // Nobody is less than idle.
    socket.end_idle();
    world.expect(INSTANCES, "STATE", &["ACTIVE"]);
}

#[test]
fn idle_has_a_timer_of_its_own() {
    let world = World::off(&CONFIG);
    world.expect(
        "setup_timers",
        "*",
        &["idle MICROSECOND", "stage NANOSECOND", "statement NANOSECOND", "transaction NANOSECOND", "wait NANOSECOND"],
    );
    world.region.enable_everything();
    let idle = world.class("idle");
    assert_eq!(world.region.register(InstrumentName::literal("idle"), Setting::ON), Ok(idle));
    let actor = world.actor("thread/test/idle");
    let sums = || world.select("events_waits_summary_global_by_event_name", "EVENT_NAME,SUM_TIMER_WAIT").concat();
    world.wait(&actor, idle, 1_999);
    assert_eq!(sums(), "idle 1000000", "whole microseconds");
    world.region.set_event_timer(EventClass::Idle, TimerName::Nanosecond);
    world.wait(&actor, idle, 1_999);
    assert_eq!(sums(), "idle 2999000");
    assert_eq!(
        (world.region.wait_timer(), world.region.event_timer(EventClass::Idle)),
        (TimerName::Nanosecond, TimerName::Nanosecond)
    );
    // It has its place also where no other instrument has one.
    let none = World::off(&Config::EMPTY);
    none.class("idle");
    none.expect("setup_instruments", "*", &["idle YES YES 1"]);
    none.expect("setup_timers", "NAME", &["idle", "stage", "statement", "transaction", "wait"]);
}

/// WL#4896, Func-Req 1.8, 5, 6: so many instruments and sockets; what is more is counted, and its io by event name.
#[test]
fn a_full_pool_is_counted() {
    let world = World::on(&CONFIG);
    let user = User::new(&world, CLIENT);
    let ids: Vec<_> = (0..5).map(|n| user.open(n, "192.0.2.7:1")).collect();
    assert_eq!(ids.iter().flatten().count(), 3);
    assert_eq!(world.region.lost(Lost::SocketInstances), 2);
    for id in &ids {
        user.io(*id, Operation::Send, 1, Some(1));
    }
    world.expect(BY_INSTANCE, "COUNT_WRITE", &["1", "1", "1"]);
    world.expect(BY_EVENT_NAME, "COUNT_WRITE,SUM_NUMBER_OF_BYTES_WRITE", &["5 5"]);
    // A place that is given back is found, and starts from zero.
    world.region.destroy_instance(ids[1].unwrap());
    user.open(9, "192.0.2.7:1").expect("one was closed");
    assert_eq!(user.open(9, "192.0.2.7:1"), None);
    world.expect(BY_INSTANCE, "COUNT_WRITE", &["0", "1", "1"]);
    world.class(SERVER);
    let third = InstrumentName::literal("wait/io/socket/test/third");
    assert!(world.region.register(third, Setting::ON).is_err());
    assert_eq!((world.region.lost(Lost::SocketClasses), world.region.lost(Lost::SocketInstances)), (1, 3));
    let none = World::on(&CONFIG.with(Size::MaxSocketInstances, 0));
    assert_eq!(User::new(&none, CLIENT).open(1, "192.0.2.7:1"), None);
    assert_eq!(none.region.lost(Lost::SocketInstances), 1);
}

/// Threads that open, use, rename and close sockets past a full pool, while somebody reads: no place is lost, no byte is counted twice.
#[test]
fn threads_whose_sockets_come_and_go() {
    const THREADS: u64 = 4;
    let rounds = if cfg!(miri) { 20 } else { 20_000 };
    let world = World::on(&CONFIG.with(Size::MaxThreadInstances, THREADS as u32));
    let class = world.class(CLIENT);
    let shared = world.region.create_socket(class, 0, peer("192.0.2.7:0"), 0).unwrap();
    std::thread::scope(|scope| {
        for thread in 1..=THREADS {
            let world = &world;
            scope.spawn(move || {
                let user = User { world, actor: world.actor("thread/test/user"), class };
                for round in 0..rounds {
                    let id = user.open(thread as i32, &format!("192.0.2.7:{thread}"));
                    user.io(id, Operation::Receive, 0, Some(7));
                    user.io(shared, Operation::Send, 0, Some(3));
                    let Some(id) = id else { continue };
                    let socket = world.region.socket(id).unwrap();
                    if round % 3 == 0 {
                        socket.set_peer(peer(&format!("[2001:db8:{thread}::{thread}]:{thread}")));
                    }
                    socket.begin_idle(user.actor.thread_id());
                    socket.end_idle();
                    world.region.destroy_instance(id);
                }
                user.actor.detach();
            });
        }
        let world = &world;
        scope.spawn(move || {
            for _ in 0..rounds / 10 {
                for row in world.select(INSTANCES, "SOCKET_ID,IP,PORT") {
                    let thread = row.split(' ').next().unwrap();
                    let whole =
                        [format!("{thread} 192.0.2.7 {thread}"), format!("{thread} 2001:db8:{thread}::{thread} {thread}")];
                    assert!(whole.contains(&row), "{row}");
                }
                world.select(BY_INSTANCE, "*");
            }
        });
    });
    let all = THREADS * rounds;
    world.expect(BY_INSTANCE, "COUNT_WRITE,SUM_NUMBER_OF_BYTES_WRITE", &[&format!("{all} {}", all * 3)]);
    let sums = world.region.socket_summary_by_event_name(class);
    assert_eq!((sums.group(Group::Read).waits.count, sums.group(Group::Read).bytes), (all, all * 7));
    world.region.destroy_instance(shared);
    world.expect(INSTANCES, "*", &[]);
    let before = world.region.lost(Lost::SocketInstances);
    let user = User { world: &world, actor: Actor::without_slot(world.region), class };
    let ids: Vec<_> = (0..3).filter_map(|_| user.open(1, "192.0.2.7:1")).collect();
    assert_eq!((ids.len(), world.region.lost(Lost::SocketInstances) - before), (3, 0), "every place is free again");
}

/// Also in a region that is so large that a file's row is where the numbers of sockets begin: OBJECT_INSTANCE_BEGIN is the key of
/// `events_waits_summary_by_instance`, which has both.
#[test]
#[cfg_attr(miri, ignore = "64 MiB are much there")]
fn no_file_has_the_number_of_a_socket() {
    const FIRST: u64 = 4 << 24;
    let config = Config::EMPTY
        .with(Size::MaxFileClasses, 1)
        .with(Size::MaxFileInstances, 1)
        .with(Size::MaxSocketClasses, 1)
        .with(Size::MaxSocketInstances, 256);
    let numbers = |config: &Config| {
        let world = World::off(config);
        let file = world.region.refer_to_file(world.class("wait/io/file/test/data"), b"/data").unwrap();
        world.region.file_opened(file);
        let class = world.class(CLIENT);
        (0..256).for_each(|descriptor| assert!(world.region.create_socket(class, descriptor, SocketAddress::UNIX, 0).is_some()));
        let numbers = world.select("events_waits_summary_by_instance", "OBJECT_INSTANCE_BEGIN");
        numbers.into_iter().map(|number| number.parse().unwrap()).collect::<Vec<u64>>()
    };
    let [file, ..] = numbers(&config)[..] else { panic!("there is a file") };
    // Each mutex is two cache lines.
    let config = config.with(Size::MaxMutexInstances, ((FIRST + 64 - file) / 128 + 1) as u32);
    let mut numbers = numbers(&config);
    assert!((FIRST..FIRST + 256).contains(&numbers[0]), "{:#x}", numbers[0]);
    numbers.sort_unstable();
    assert!(numbers.is_sorted_by(|number, next| number < next), "each is once there");
}
