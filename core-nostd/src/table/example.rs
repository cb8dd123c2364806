// The region of the examples of all tables: one thread, and one of each thing that it uses. `table::example` puts it where nobody sees it.
{
    use perfschema_core::metric::{MetricInfo, MetricType, Moment};
    use perfschema_core::timer::{Clock, MockClock, TimerName};
    use perfschema_core::{
        AccessMode, Actor, ActorIdentity, Config, FileEvent, FileIo, Group, Held, Identity, InstrumentName, IoEvent,
        MemoryChange, Now, Operation, Region, Setting, Size, SocketIo, StatementStart, StaticRegion, ThreadType,
        TransactionStart, TransactionState, WaitStart,
    };

    const CONFIG: Config = Config::SMALL
        .with(Size::MaxStatementClasses, 1)
        .with(Size::EventsStatementsHistoryLongSize, 16)
        .with(Size::DigestsSize, 2)
        .with(Size::MaxTransactionClasses, 1)
        .with(Size::EventsTransactionsHistoryLongSize, 16)
        .with(Size::MaxWaitHistograms, 4);
    static MEMORY: StaticRegion<{ CONFIG.words() }> = StaticRegion::new();
    static CLOCK: MockClock = MockClock::new();

    fn pass(ns: u64) {
        CLOCK.advance(TimerName::Nanosecond, ns);
        CLOCK.advance(TimerName::Cycle, ns * 5 / 2);
    }

    let identity = Identity { pid: 7, program: "app", ..Identity::default() };
    let region = Region::create(MEMORY.words(), &CONFIG, &identity, &CLOCK.timers())?;
    let register = |name| region.register(InstrumentName::new(name).unwrap(), Setting::ON).unwrap();
    let lock = register("wait/synch/mutex/app/LOCK_open");
    let rwlock = register("wait/synch/rwlock/app/LOCK_config");
    let cond = register("wait/synch/cond/app/COND_queue");
    let files = register("wait/io/file/app/index");
    let sockets = register("wait/io/socket/app/client_connection");
    let sorting = register("stage/app/sorting");
    let search = register("statement/app/search");
    let transactions = register("transaction");
    let cache = register("memory/app/cache");
    region.enable_everything();

    let identity = ActorIdentity {
        name: "thread/app/client",
        thread_type: ThreadType::Foreground,
        user: "ada",
        host: "db1",
        os_id: 1234,
        start_monotonic_ns: 1,
        ..Default::default()
    };
    let actor = Actor::attach(&region, &identity);
    let lock_id = region.create_instance(lock, 0x1000).unwrap();
    let instance = region.instance(lock_id).unwrap();
    let other = region.instance(region.create_instance(rwlock, 0x2000).unwrap()).unwrap();
    other.add_reader();
    region.create_instance(cond, 0x3000);
    let file = region.refer_to(files, b"/var/lib/app/index").unwrap();
    file.opened();
    let peer = std::net::SocketAddr::from(([192, 0, 2, 7], 40001));
    let socket = region.socket(region.create_socket(sockets, 5, peer.into(), actor.thread_id()).unwrap()).unwrap();

    // What has ended: a transaction, a statement within it, a stage within that, and waits of 40 ns for a lock, 3 µs for a file and 2 µs
    // for a client.
    let mut transaction = actor.begin_transaction(&CLOCK, region.switches(transactions), &TransactionStart::default());
    actor.change_transaction(&mut transaction, |details| details.trx_id = 7);
    let start = StatementStart { text: "find 17", ..Default::default() };
    let mut statement = actor.begin_statement(&CLOCK, region.switches(search), &start);
    actor.begin_stage(&CLOCK, region.switches(sorting), None);
    actor.count_memory(region.switches(cache), cache, MemoryChange::allocated(100));
    actor.count_memory(region.switches(cache), cache, MemoryChange::resized(100, 40));
    let wait = actor.begin(&CLOCK, region.switches(lock), lock, &WaitStart { object: 0x1000, ..WaitStart::new(Operation::Lock) });
    pass(40);
    actor.end(&CLOCK, wait, Held::Exclusive(&instance));
    let io = IoEvent::File(FileEvent::new(Some(&file), 0));
    let wait =
        actor.begin(&CLOCK, region.switches(files), files, &WaitStart { io, amount: 513, ..WaitStart::new(Operation::Write) });
    pass(3_000);
    actor.end(&CLOCK, wait, Held::File(FileIo { file: Some(file), group: Group::Write }));
    let wait =
        actor.begin(&CLOCK, region.switches(sockets), sockets, &WaitStart { amount: 101, ..WaitStart::new(Operation::Receive) });
    pass(2_000);
    actor.end(&CLOCK, wait, Held::Socket(SocketIo { socket: Some(socket), group: Group::Read }));
    actor.end_any_stage(&CLOCK);
    actor.change_statement(&mut statement, |statistics| statistics.rows_sent = 3);
    actor.end_statement(&CLOCK, statement);
    actor.end_transaction(&CLOCK, transaction, TransactionState::Committed);

    // What goes on: the same once more, and a wait for the lock that the thread holds itself.
    instance.set_holder(actor.thread_id());
    let start = TransactionStart { access_mode: AccessMode::ReadOnly, ..Default::default() };
    actor.begin_transaction(&CLOCK, region.switches(transactions), &start);
    let start = StatementStart { text: "find 'bolts'", ..Default::default() };
    actor.begin_statement(&CLOCK, region.switches(search), &start);
    actor.begin_stage(&CLOCK, region.switches(sorting), None);
    actor.change_stage_progress(|progress| (progress.completed, progress.estimated) = (50, 200));
    actor.begin(&CLOCK, region.switches(lock), lock, &WaitStart { object: 0x1000, ..WaitStart::new(Operation::Lock) });
    pass(1_000);

    let inserts = MetricInfo::new("inserts", "app", "Number of rows inserted", MetricType::Counter)?;
    let inserts = region.register_metric(&inserts, true, Moment::of_seconds(0))?;
    actor.count_metric(inserts, 3);
    region.as_of(Now::At(CLOCK.ticks(TimerName::Nanosecond)))
}
