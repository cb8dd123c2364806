//! What a program does: its steps, what they choose among, and how both are drawn.

use perfschema_core::name::EventClass;
use perfschema_core::{Config, Operation, Setting, Size, SocketAddress, TransactionState, tables};
use proptest::prelude::*;
use std::net::SocketAddr;

pub(crate) const CLASS_NAMES: [&str; 23] = [
    "wait/synch/mutex/m/A",
    "wait/synch/mutex/m/B",
    "wait/synch/mutex/m/C",
    "wait/synch/rwlock/m/R",
    "wait/synch/rwlock/m/S",
    "wait/synch/cond/m/C",
    "wait/synch/semaphore/m/S",
    "wait/lock/table/m/L",
    "wait/m/pool",
    "wait/io/file/m/F",
    "wait/io/file/m/G",
    "wait/io/socket/m/S",
    "wait/io/socket/m/T",
    "idle",
    "memory/m/H",
    "memory/m/I",
    "stage/m/A",
    "stage/m/B",
    "stage/m/C",
    "statement/m/A",
    "statement/m/B",
    "statement/m/C",
    "transaction",
];
pub(crate) const PREFIXES: [&str; 13] = [
    "",
    "wait/synch/mutex/",
    "wait/synch/rwlock/m/S",
    "wait/io/",
    "wait/m/",
    "memory/",
    "idle",
    "stage/",
    "stage/m/A",
    "statement/",
    "statement/m/B",
    "transaction",
    "none",
];
pub(crate) const THREAD_NAMES: [&str; 2] = ["thread/m/main", "thread/m/other"];
pub(crate) const USERS: [&str; 3] = ["%", "ada", "bob"];
pub(crate) const HOSTS: [&str; 3] = ["%", "db1", "db2"];
pub(crate) const AMOUNTS: [u64; 4] = [0, 1, u32::MAX as u64, (1 << 32) + 5];
/// Texts of statements: none, short ones, and some that are cut, one of them in the middle of a character.
pub(crate) const SQL_TEXTS: [&str; 7] = [
    "",
    "x",
    "select 1",
    "select 22",
    "fifteen bytes aé",
    "twenty-three bytes long",
    "a text that is longer than any place for one",
];
/// One of 64 bytes, and one of which 64 bytes are the half of a character too many.
pub(crate) const SCHEMAS: [&str; 4] = [
    "",
    "shop",
    "0123456789012345678901234567890123456789012345678901234567890123",
    "012345678901234567890123456789012345678901234567890123456789012é",
];
/// How statements fail: number, class and message.
pub(crate) const ERRORS: [(u32, &str, &str); 5] = [
    (0, "", ""),
    (1064, "42000", "it is no statement"),
    (u32::MAX, "HY000", ""),
    (1, "", "nobody says of what class this is"),
    (
        1205,
        "4000",
        "a message of more than one hundred and twenty-eight bytes, of which the last one that is kept would be half of a character: here ä",
    ),
];
/// What a figure of a statement grows by.
pub(crate) const FIGURES: [u64; 4] = [0, 1, 1 << 32, u64::MAX];
/// Isolation levels and GTIDs: none, one, one of 64 bytes, and one that is cut in the middle of a character.
pub(crate) const LEVELS: [&str; 4] = ["", "REPEATABLE READ", SCHEMAS[2], SCHEMAS[3]];
pub(crate) const GTIDS: [&str; 4] = ["", "3e11fa47-71ca-11e1-9e33-c80aa9429562:23", SCHEMAS[2], SCHEMAS[3]];
/// How a transaction ends; one that is active still is rolled back.
pub(crate) const STATES: [TransactionState; 3] =
    [TransactionState::Committed, TransactionState::RolledBack, TransactionState::Active];
/// Units of work of a stage; of the largest number one is missing.
pub(crate) const UNITS: [u64; 5] = [0, 1, 7, u32::MAX as u64, u64::MAX];
/// Those with a row in `setup_timers`, as the model numbers them.
pub(crate) const TIMED: [EventClass; 5] =
    [EventClass::Wait, EventClass::Idle, EventClass::Stage, EventClass::Statement, EventClass::Transaction];
pub(crate) const SETTINGS: [Setting; 6] = [
    Setting::OFF,
    Setting::ON,
    Setting::COUNTED,
    Setting { enabled: false, ..Setting::ON },
    Setting { timed_one_in: 2, ..Setting::ON },
    Setting { timed_one_in: 3, ..Setting::ON },
];
pub(crate) const OPERATIONS: [(Operation, &str); 3] =
    [(Operation::Lock, "lock"), (Operation::ReadLock, "read_lock"), (Operation::Wait, "wait")];

pub(crate) const FILE_OPERATIONS: [(Operation, &str); 3] =
    [(Operation::Read, "read"), (Operation::Write, "write"), (Operation::Stat, "stat")];

pub(crate) const SOCKET_OPERATIONS: [(Operation, &str); 3] =
    [(Operation::Receive, "recv"), (Operation::SendTo, "sendto"), (Operation::Accept, "accept")];

/// Addresses, and what is shown of them: IP, PORT, OBJECT_NAME.
pub(crate) fn peers() -> [(SocketAddress, &'static str, u16, Option<&'static str>); 4] {
    let v6 = SocketAddr::new("2001:db8::7".parse().unwrap(), 65535);
    [
        (SocketAddr::from(([192, 0, 2, 7], 80)).into(), "192.0.2.7", 80, Some("192.0.2.7:80")),
        (v6.into(), "2001:db8::7", 65535, Some("2001:db8::7:65535")),
        (SocketAddress::UNIX, "", 0, Some(":0")),
        (SocketAddress::UNKNOWN, "", 0, None),
    ]
}

/// Short ones, one that is no UTF-8 and what that is shown as, three that are cut: two of them show the same; and some that are below
/// others, one of them too long for that to be all that is known of it.
pub(crate) fn paths() -> [Vec<u8>; 11] {
    let long = |end: &[u8]| [&[b'l'; 511], "é".as_bytes(), end].concat();
    let bad = [&[b'b'; 600][..], b"\xff"].concat();
    let below = |end: &[u8]| [b"a/", end].concat();
    let deep = below(&[b'd'; 600]);
    let [one, two] = [below(b"1"), below(b"1/2")];
    [
        b"a".to_vec(),
        b"/b".to_vec(),
        b"c\xffc\xe2\x82".to_vec(),
        "c\u{fffd}c\u{fffd}".into(),
        long(b"1"),
        long(b"2"),
        bad,
        one,
        two,
        deep,
        b"/b/1".to_vec(),
    ]
}

/// Actors at one time, and waits that one of them is in: more than there are slots and records.
pub(crate) const ACTORS: usize = 6;
pub(crate) const DEPTH: usize = 12;

/// A step of a program. Numbers choose among what there is, modulo how many there are.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Register {
        name: usize,
        setting: usize,
    },
    Set {
        class: usize,
        setting: usize,
    },
    UpdateInstruments {
        prefix: usize,
        enabled: Option<bool>,
        timed: Option<bool>,
    },
    CreateInstance {
        class: usize,
        address: u64,
    },
    DestroyInstance {
        instance: usize,
    },
    MoveInstance {
        instance: usize,
        address: u64,
    },
    Hold {
        instance: usize,
        by: u64,
    },
    Read {
        instance: usize,
        more: bool,
    },
    /// Somebody wants the file of a path, and opens it or not.
    Refer {
        class: usize,
        path: usize,
        open: bool,
    },
    /// A handle is duplicated.
    ReferAgain {
        handle: usize,
    },
    /// What was wanted is opened.
    Open {
        handle: usize,
    },
    Release {
        handle: usize,
    },
    Delete {
        path: usize,
        folder: bool,
    },
    Rename {
        from: usize,
        to: usize,
    },
    OpenSocket {
        class: usize,
        peer: usize,
        by: u64,
    },
    CloseSocket {
        socket: usize,
    },
    SetPeer {
        socket: usize,
        peer: usize,
    },
    Idle {
        socket: usize,
        begin: bool,
        by: u64,
    },
    /// Something is received that nobody waited for.
    CountSocket {
        actor: usize,
        class: usize,
        socket: usize,
        bytes: u64,
    },
    Attach {
        user: usize,
        host: usize,
        background: bool,
        slotless: bool,
    },
    Detach {
        actor: usize,
    },
    /// Detaches, and what was open never ends.
    Vanish {
        actor: usize,
    },
    Begin {
        actor: usize,
        class: usize,
        what: What,
        /// Beside others, as a task's.
        concurrent: bool,
    },
    /// Also one that others lie within, which go on.
    End {
        actor: usize,
        which: usize,
        held: usize,
        amount: Option<usize>,
    },
    Chain {
        actor: usize,
        class: usize,
        what: What,
    },
    /// So many waits, one after the other.
    Burst {
        actor: usize,
        class: usize,
        what: What,
        count: usize,
    },
    BeginStage {
        actor: usize,
        class: usize,
        source: Option<usize>,
    },
    EndStage {
        actor: usize,
        which: Ending,
    },
    /// So much more is done, of so much.
    Progress {
        actor: usize,
        more: usize,
        estimated: usize,
    },
    BeginStatement {
        actor: usize,
        class: usize,
        text: usize,
        schema: usize,
        source: Option<usize>,
    },
    /// One of its figures grows.
    ChangeStatement {
        actor: usize,
        which: usize,
        figure: usize,
        by: usize,
    },
    /// The one that began last, or another.
    EndStatement {
        actor: usize,
        which: Option<usize>,
        error: usize,
    },
    BeginTransaction {
        actor: usize,
        read_only: bool,
        level: usize,
        autocommit: bool,
        source: Option<usize>,
    },
    /// One of its numbers grows, as its actor says or another.
    ChangeTransaction {
        actor: usize,
        which: usize,
        by: Option<usize>,
        detail: usize,
        more: usize,
    },
    SetGtid {
        actor: usize,
        which: usize,
        by: Option<usize>,
        gtid: usize,
    },
    /// The one that began last, or another; by its actor, or another.
    EndTransaction {
        actor: usize,
        which: Option<usize>,
        by: Option<usize>,
        state: usize,
    },
    /// Memory comes, goes, or gets another size.
    Memory {
        actor: usize,
        class: usize,
        freed: Option<u64>,
        allocated: Option<u64>,
    },
    Pass {
        ns: u64,
    },
    /// The clock jumps backwards.
    Back {
        ns: u64,
    },
    Switch {
        consumer: usize,
        on: bool,
    },
    Timer {
        class: usize,
        timer: usize,
        by_update: bool,
    },
    Truncate {
        table: usize,
    },
    UpdateThread {
        thread: usize,
        column: usize,
        yes: bool,
    },
    InsertActor {
        user: usize,
        host: usize,
        enabled: bool,
        history: bool,
    },
    UpdateActors {
        user: usize,
        column: usize,
        yes: bool,
    },
    DeleteActors {
        user: usize,
    },
    FlushStatus,
    EnableEverything,
    Compare,
}

/// The stage that runs, or one of all that anybody ever began, the newest first.
#[derive(Clone, Debug)]
pub(crate) enum Ending {
    Any,
    Running,
    Began(usize),
}

#[derive(Clone, Debug)]
pub(crate) struct What {
    pub(crate) operation: usize,
    pub(crate) object: u64,
    pub(crate) amount: usize,
    pub(crate) source: Option<usize>,
}

pub(crate) fn what() -> impl Strategy<Value = What> {
    let amount = prop_oneof![3 => Just(0), 1 => 0..AMOUNTS.len()];
    (0..OPERATIONS.len(), 0..3_u64, amount, prop::option::of(0..3_usize)).prop_map(|(operation, object, amount, source)| What {
        operation,
        object,
        amount,
        source,
    })
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let few = || 0..CLASS_NAMES.len();
    let units = || 0..UNITS.len();
    let ending = || prop_oneof![2 => Just(Ending::Any), 2 => Just(Ending::Running), 2 => (0..6_usize).prop_map(Ending::Began)];
    let bytes = || prop::option::of(0..5_u64);
    let nanoseconds = || prop_oneof![0..100_u64, 0..1_000_000_u64, 0..30_000_000_000_u64];
    let yes = any::<bool>;
    let another = || prop::option::weighted(0.15, 0..ACTORS);
    prop_oneof![
        3 => (few(), 0..SETTINGS.len()).prop_map(|(name, setting)| Step::Register { name, setting }),
        2 => (few(), 0..SETTINGS.len()).prop_map(|(class, setting)| Step::Set { class, setting }),
        1 => (0..PREFIXES.len(), any::<Option<bool>>(), any::<Option<bool>>())
            .prop_map(|(prefix, enabled, timed)| Step::UpdateInstruments { prefix, enabled, timed }),
        3 => (few(), 1..4_u64).prop_map(|(class, address)| Step::CreateInstance { class, address }),
        1 => few().prop_map(|instance| Step::DestroyInstance { instance }),
        1 => (few(), 1..4_u64).prop_map(|(instance, address)| Step::MoveInstance { instance, address }),
        1 => (few(), 0..3_u64).prop_map(|(instance, by)| Step::Hold { instance, by }),
        1 => (few(), yes()).prop_map(|(instance, more)| Step::Read { instance, more }),
        4 => (few(), few(), prop::bool::weighted(0.8))
            .prop_map(|(class, path, open)| Step::Refer { class, path, open }),
        1 => few().prop_map(|handle| Step::ReferAgain { handle }),
        1 => few().prop_map(|handle| Step::Open { handle }),
        3 => few().prop_map(|handle| Step::Release { handle }),
        1 => (few(), yes()).prop_map(|(path, folder)| Step::Delete { path, folder }),
        2 => (few(), few()).prop_map(|(from, to)| Step::Rename { from, to }),
        4 => (few(), 0..4_usize, 0..3_u64).prop_map(|(class, peer, by)| Step::OpenSocket { class, peer, by }),
        1 => few().prop_map(|socket| Step::CloseSocket { socket }),
        1 => (few(), 0..4_usize).prop_map(|(socket, peer)| Step::SetPeer { socket, peer }),
        2 => (few(), yes(), 0..3_u64).prop_map(|(socket, begin, by)| Step::Idle { socket, begin, by }),
        2 => (few(), few(), few(), 0..3_u64)
            .prop_map(|(actor, class, socket, bytes)| Step::CountSocket { actor, class, socket, bytes }),
        4 => (0..3_usize, 0..3_usize, yes(), prop::bool::weighted(0.1))
            .prop_map(|(user, host, background, slotless)| Step::Attach { user, host, background, slotless }),
        1 => few().prop_map(|actor| Step::Detach { actor }),
        1 => few().prop_map(|actor| Step::Vanish { actor }),
        24 => (few(), few(), what(), prop::bool::weighted(0.3))
            .prop_map(|(actor, class, what, concurrent)| Step::Begin { actor, class, what, concurrent }),
        24 => (few(), few(), 0..12_usize, prop::option::of(0..AMOUNTS.len()))
            .prop_map(|(actor, which, held, amount)| Step::End { actor, which, held, amount }),
        3 => (few(), few(), what()).prop_map(|(actor, class, what)| Step::Chain { actor, class, what }),
        3 => (few(), few(), what(), 1..20_usize)
            .prop_map(|(actor, class, what, count)| Step::Burst { actor, class, what, count }),
        12 => (few(), few(), prop::option::of(0..3_usize))
            .prop_map(|(actor, class, source)| Step::BeginStage { actor, class, source }),
        6 => (few(), ending()).prop_map(|(actor, which)| Step::EndStage { actor, which }),
        4 => (few(), units(), units()).prop_map(|(actor, more, estimated)| Step::Progress { actor, more, estimated }),
        12 => (few(), few(), 0..SQL_TEXTS.len(), 0..SCHEMAS.len(), prop::option::of(0..3_usize))
            .prop_map(|(actor, class, text, schema, source)| Step::BeginStatement { actor, class, text, schema, source }),
        8 => (few(), few(), 0..19_usize, 0..FIGURES.len())
            .prop_map(|(actor, which, figure, by)| Step::ChangeStatement { actor, which, figure, by }),
        9 => (few(), prop::option::weighted(0.4, few()), prop_oneof![2 => Just(0), 1 => 0..ERRORS.len()])
            .prop_map(|(actor, which, error)| Step::EndStatement { actor, which, error }),
        9 => (few(), yes(), 0..LEVELS.len(), yes(), prop::option::of(0..3_usize)).prop_map(
            |(actor, read_only, level, autocommit, source)| Step::BeginTransaction { actor, read_only, level, autocommit, source }
        ),
        4 => (few(), few(), another(), 0..4_usize, 0..FIGURES.len())
            .prop_map(|(actor, which, by, detail, more)| Step::ChangeTransaction { actor, which, by, detail, more }),
        2 => (few(), few(), another(), 0..GTIDS.len())
            .prop_map(|(actor, which, by, gtid)| Step::SetGtid { actor, which, by, gtid }),
        7 => (few(), prop::option::weighted(0.4, few()), another(), 0..STATES.len())
            .prop_map(|(actor, which, by, state)| Step::EndTransaction { actor, which, by, state }),
        16 => (few(), few(), bytes(), bytes())
            .prop_map(|(actor, class, freed, allocated)| Step::Memory { actor, class, freed, allocated }),
        8 => nanoseconds().prop_map(|ns| Step::Pass { ns }),
        1 => nanoseconds().prop_map(|ns| Step::Back { ns }),
        4 => (few(), prop::bool::weighted(0.7)).prop_map(|(consumer, on)| Step::Switch { consumer, on }),
        1 => (0..TIMED.len(), 0..5_usize, yes()).prop_map(|(class, timer, by_update)| Step::Timer { class, timer, by_update }),
        3 => (0..tables::ALL.len()).prop_map(|table| Step::Truncate { table }),
        1 => (few(), 0..2_usize, yes()).prop_map(|(thread, column, yes)| Step::UpdateThread { thread, column, yes }),
        2 => (0..3_usize, 0..3_usize, yes(), yes())
            .prop_map(|(user, host, enabled, history)| Step::InsertActor { user, host, enabled, history }),
        1 => (0..3_usize, 0..2_usize, yes()).prop_map(|(user, column, yes)| Step::UpdateActors { user, column, yes }),
        1 => (0..3_usize).prop_map(|user| Step::DeleteActors { user }),
        1 => Just(Step::FlushStatus),
        2 => Just(Step::EnableEverything),
        1 => Just(Step::Compare),
    ]
}

/// What the sizes usually are, and up to what they go: from no place at all to more than a program needs. Every pool overflows now and
/// then; the long history is filled in chunks of 1, 2 and 4.
pub(crate) const SIZES: [(Size, u32, u32); 30] = [
    (Size::MaxMutexClasses, 2, 4),
    (Size::MaxRwlockClasses, 1, 3),
    (Size::MaxCondClasses, 1, 2),
    (Size::MaxSynchClasses, 1, 2),
    (Size::MaxFileClasses, 2, 3),
    (Size::MaxStageClasses, 2, 3),
    (Size::MaxStatementClasses, 2, 3),
    (Size::MaxTransactionClasses, 1, 1),
    (Size::MaxMemoryClasses, 2, 3),
    (Size::MaxFileInstances, 3, 5),
    (Size::MaxSocketClasses, 2, 3),
    (Size::MaxSocketInstances, 2, 4),
    (Size::MaxMutexInstances, 2, 4),
    (Size::MaxRwlockInstances, 1, 3),
    (Size::MaxCondInstances, 1, 2),
    (Size::MaxSynchInstances, 1, 2),
    (Size::MaxThreadInstances, 3, 4),
    (Size::EventsWaitsHistorySize, 2, 4),
    (Size::EventsWaitsHistoryLongSize, 12, 16),
    (Size::EventsStagesHistorySize, 2, 4),
    (Size::EventsStagesHistoryLongSize, 12, 16),
    (Size::EventsStatementsHistorySize, 2, 4),
    (Size::EventsStatementsHistoryLongSize, 12, 16),
    (Size::EventsTransactionsHistorySize, 2, 4),
    (Size::EventsTransactionsHistoryLongSize, 12, 16),
    (Size::MaxSqlTextLength, 16, 24),
    (Size::DigestsSize, 2, 5),
    (Size::MaxWaitHistograms, 2, 5),
    (Size::MaxSourceLocations, 2, 4),
    (Size::SetupActorsSize, 2, 4),
];

pub(crate) fn config() -> impl Strategy<Value = Config> {
    SIZES.map(|(_, usual, most)| prop_oneof![2 => Just(usual), 1 => 0..=most]).prop_map(|values| {
        std::iter::zip(SIZES, values).fold(Config::EMPTY, |config, ((size, ..), value)| config.with(size, value))
    })
}

/// A program that starts with nothing, all off.
pub(crate) fn from_scratch() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 0..200)
}

/// A program that starts where most things happen: classes and threads are there, everything is on.
pub(crate) fn from_the_middle() -> impl Strategy<Value = Vec<Step>> {
    from_scratch().prop_map(|program| {
        let register = (0..CLASS_NAMES.len()).map(|name| Step::Register { name, setting: 1 });
        let attach = [true, false, true].map(|background| Step::Attach { user: 1, host: 1, background, slotless: false });
        let create = (0..4).map(|class| Step::CreateInstance { class, address: class as u64 });
        let open = (0..3).map(|path| Step::Refer { class: 7 + path % 2, path, open: true });
        let connect = (0..2).map(|peer| Step::OpenSocket { class: 9 + peer % 2, peer, by: 0 });
        register.chain(attach).chain(create).chain(open).chain(connect).chain([Step::EnableEverything]).chain(program).collect()
    })
}
