//! Transactions: what they show while they last and afterwards, what lies within them, and their sums.

mod common;

use common::{CONFIG, MUTEX, World};
use perfschema_core::timer::TimerName;
use perfschema_core::{
    AccessMode, Actor, Class, Config, Consumer, Held, InstrumentName, Lost, Operation, RegisterError, Setting, Size, Statement,
    StatementStart, Transaction, TransactionDetails, TransactionStart, TransactionState, Wait, WaitStart, name::EventClass,
};
use std::panic::Location;

const CURRENT: &str = "events_transactions_current";
const HISTORY: &str = "events_transactions_history";
const LONG: &str = "events_transactions_history_long";
const GLOBAL: &str = "events_transactions_summary_global_by_event_name";
const BY_THREAD: &str = "events_transactions_summary_by_thread_by_event_name";

const SUMS: &str = "COUNT_STAR,SUM_TIMER_WAIT,MIN_TIMER_WAIT,AVG_TIMER_WAIT,MAX_TIMER_WAIT";
const BY_MODE: &str = "COUNT_STAR,COUNT_READ_WRITE,SUM_TIMER_READ_WRITE,MIN_TIMER_READ_WRITE,AVG_TIMER_READ_WRITE,\
                       MAX_TIMER_READ_WRITE,COUNT_READ_ONLY,SUM_TIMER_READ_ONLY,MIN_TIMER_READ_ONLY,AVG_TIMER_READ_ONLY,\
                       MAX_TIMER_READ_ONLY";
const SAID: &str = "STATE,TRX_ID,GTID,ACCESS_MODE,ISOLATION_LEVEL,AUTOCOMMIT,NUMBER_OF_SAVEPOINTS,\
                    NUMBER_OF_ROLLBACK_TO_SAVEPOINT,NUMBER_OF_RELEASE_SAVEPOINT";
const NESTING: &str = "EVENT_ID,END_EVENT_ID,NESTING_EVENT_ID,NESTING_EVENT_TYPE";

const READ_WRITE: TransactionStart<'static> =
    TransactionStart { access_mode: AccessMode::ReadWrite, isolation_level: "", autocommit: false, source: None };
const READ_ONLY: TransactionStart<'static> = TransactionStart { access_mode: AccessMode::ReadOnly, ..READ_WRITE };

/// A region with everything on, and a thread.
fn world() -> (World, Class, Actor<'static>) {
    let world = World::on(&CONFIG);
    (world, world.class("transaction"), world.actor("a"))
}

fn begin<'r>(world: World, actor: &Actor<'r>, class: Class) -> Transaction<'r> {
    actor.begin_transaction(world.clock, world.region.switches(class), &READ_WRITE)
}

fn commit(world: World, actor: &Actor<'_>, transaction: Transaction<'_>) {
    actor.end_transaction(world.clock, transaction, TransactionState::Committed);
}

/// One that takes so long.
fn transaction(world: World, actor: &Actor<'_>, class: Class, start: &TransactionStart<'_>, ns: u64) {
    let transaction = actor.begin_transaction(world.clock, world.region.switches(class), start);
    world.pass(ns);
    commit(world, actor, transaction);
}

fn statement<'r>(world: World, actor: &Actor<'r>) -> Statement<'r> {
    actor.begin_statement(world.clock, world.region.switches(world.class("statement/test/query")), &StatementStart::default())
}

fn stage(world: World, actor: &Actor<'_>) {
    actor.begin_stage(world.clock, world.region.switches(world.class("stage/test/sorting")), None);
}

#[test]
fn a_transaction_is_visible_while_it_lasts_and_kept_when_it_has_ended() {
    let (world, class, actor) = world();
    world.pass(5);
    let source = Location::caller();
    let start = TransactionStart {
        access_mode: AccessMode::ReadWrite,
        isolation_level: "REPEATABLE READ",
        autocommit: true,
        source: Some(source),
    };
    let mut transaction = actor.begin_transaction(world.clock, world.region.switches(class), &start);
    assert!(transaction.is_recorded());
    actor.change_transaction(&mut transaction, |details| {
        *details = TransactionDetails { trx_id: 7, savepoints: 3, rollbacks_to_savepoint: 2, released_savepoints: 1 };
    });
    actor.set_transaction_gtid(&mut transaction, "0-1-77");
    let times = "EVENT_NAME,TIMER_START,TIMER_END,TIMER_WAIT";
    world.expect(CURRENT, times, &["transaction 5000 NULL NULL"]);
    world.expect(CURRENT, SAID, &["ACTIVE 7 NULL READ WRITE REPEATABLE READ YES 3 2 1"]);
    for table in [HISTORY, LONG] {
        world.expect(table, "*", &[]);
    }
    world.pass(20);
    commit(world, &actor, transaction);
    let line = format!("transactions.rs:{}", source.line());
    for table in [CURRENT, HISTORY, LONG] {
        world.expect(table, times, &["transaction 5000 25000 20000"]);
        world.expect(table, SAID, &["COMMITTED 7 0-1-77 READ WRITE REPEATABLE READ YES 3 2 1"]);
        world.expect(table, "SOURCE", &[&line]);
        world.expect(table, "XID_FORMAT_ID,XID_GTRID,XID_BQUAL,XA_STATE,OBJECT_INSTANCE_BEGIN", &["NULL NULL NULL NULL NULL"]);
    }
}

#[test]
fn nothing_is_left_of_the_one_before() {
    let (world, class, actor) = world();
    // As many as there are records, so that the next takes one of theirs.
    for number in 1..=20 {
        let start = TransactionStart { isolation_level: "SERIALIZABLE", autocommit: true, ..READ_ONLY };
        let mut transaction = actor.begin_transaction(world.clock, world.region.switches(class), &start);
        actor.change_transaction(&mut transaction, |details| {
            (details.trx_id, details.savepoints, details.rollbacks_to_savepoint, details.released_savepoints) = (number, 1, 1, 1);
        });
        actor.set_transaction_gtid(&mut transaction, "0-1-77");
        commit(world, &actor, transaction);
    }
    let transaction = begin(world, &actor, class);
    world.expect(CURRENT, SAID, &["ACTIVE NULL NULL READ WRITE NULL NO 0 0 0"]);
    actor.end_transaction(world.clock, transaction, TransactionState::RolledBack);
    world.expect(CURRENT, SAID, &["ROLLED BACK NULL NULL READ WRITE NULL NO 0 0 0"]);
}

#[test]
fn one_that_is_said_to_be_active_at_its_end_is_rolled_back() {
    let (world, class, actor) = world();
    let transaction = begin(world, &actor, class);
    actor.end_transaction(world.clock, transaction, TransactionState::Active);
    for table in [CURRENT, HISTORY, LONG] {
        world.expect(table, "STATE", &["ROLLED BACK"]);
    }
}

#[test]
fn long_texts_are_cut_at_whole_characters() {
    let (world, class, actor) = world();
    let text = "ä".repeat(40);
    let start = TransactionStart { isolation_level: &text, ..READ_WRITE };
    let mut transaction = actor.begin_transaction(world.clock, world.region.switches(class), &start);
    actor.set_transaction_gtid(&mut transaction, &format!("x{text}"));
    commit(world, &actor, transaction);
    world.expect(LONG, "ISOLATION_LEVEL,GTID", &[&format!("{} x{}", "ä".repeat(32), "ä".repeat(31))]);
}

#[test]
fn they_are_summed_by_what_they_may_do() {
    let (world, class, a) = world();
    let b = world.actor("b");
    transaction(world, &a, class, &READ_WRITE, 10);
    transaction(world, &a, class, &READ_WRITE, 20);
    transaction(world, &a, class, &READ_ONLY, 3);
    transaction(world, &b, class, &READ_ONLY, 5);
    let threads = [a.thread_id(), b.thread_id()];
    world.expect(GLOBAL, SUMS, &["4 38000 3000 9500 20000"]);
    world.expect(GLOBAL, BY_MODE, &["4 2 30000 10000 15000 20000 2 8000 3000 4000 5000"]);
    world.expect(
        BY_THREAD,
        &format!("THREAD_ID,EVENT_NAME,{BY_MODE}"),
        &[
            &format!("{} transaction 3 2 30000 10000 15000 20000 1 3000 3000 3000 3000", threads[0]),
            &format!("{} transaction 1 0 0 0 0 0 1 5000 5000 5000 5000", threads[1]),
        ],
    );
    let sums = world.region.transactions_by_event_name(class);
    assert_eq!((sums.read_write.count, sums.read_only.count, sums.all().count), (2, 2, 4));
    assert_eq!(world.region.summary_by_event_name(class), sums.all());
}

/// Each of the two tables alone; and what ended threads did stays in the global one.
#[test]
fn truncate_and_threads_that_end() {
    let (world, class, actor) = world();
    transaction(world, &actor, class, &READ_WRITE, 10);
    transaction(world, &actor, class, &READ_ONLY, 3);
    world.truncate(BY_THREAD);
    world.expect(BY_THREAD, BY_MODE, &["0 0 0 0 0 0 0 0 0 0 0"]);
    world.expect(GLOBAL, BY_MODE, &["2 1 10000 10000 10000 10000 1 3000 3000 3000 3000"]);
    transaction(world, &actor, class, &READ_ONLY, 7);
    world.expect(BY_THREAD, BY_MODE, &["1 0 0 0 0 0 1 7000 7000 7000 7000"]);
    world.expect(GLOBAL, BY_MODE, &["3 1 10000 10000 10000 10000 2 10000 3000 5000 7000"]);
    actor.detach();
    // Without a slot they count, too.
    transaction(world, &actor, class, &READ_ONLY, 9);
    transaction(world, &actor, class, &READ_WRITE, 1);
    world.expect(GLOBAL, BY_MODE, &["5 2 11000 1000 5500 10000 3 19000 3000 6333 9000"]);
    world.truncate(GLOBAL);
    world.expect(GLOBAL, BY_MODE, &["0 0 0 0 0 0 0 0 0 0 0"]);
    let other = world.actor("b");
    transaction(world, &other, class, &READ_ONLY, 2);
    world.expect(GLOBAL, SUMS, &["1 2000 2000 2000 2000"]);
}

#[test]
fn statements_lie_within_it_and_it_within_the_statement_that_begins_it() {
    let (world, class, actor) = world();
    let begins = statement(world, &actor); // 1
    let transaction = begin(world, &actor, class); // 2
    // What the statement still does is its own.
    world.wait(&actor, world.class(MUTEX), 1); // 3
    actor.end_statement(world.clock, begins);
    world.wait(&actor, world.class(MUTEX), 1); // 4
    let works = statement(world, &actor); // 5
    world.wait(&actor, world.class(MUTEX), 1); // 6
    stage(world, &actor); // 7
    world.wait(&actor, world.class(MUTEX), 1); // 8
    actor.end_statement(world.clock, works);
    let commits = statement(world, &actor); // 9
    commit(world, &actor, transaction);
    world.wait(&actor, world.class(MUTEX), 1); // 10
    let within = statement(world, &actor); // 11
    actor.end_statement(world.clock, within);
    actor.end_statement(world.clock, commits);
    world.wait(&actor, world.class(MUTEX), 1); // 12
    let after = statement(world, &actor); // 13
    actor.end_statement(world.clock, after);
    world.expect("events_transactions_history_long", NESTING, &["2 9 1 STATEMENT"]);
    world.expect(
        "events_statements_history_long",
        NESTING,
        &["1 3 NULL NULL", "5 8 2 TRANSACTION", "9 11 2 TRANSACTION", "11 11 9 STATEMENT", "13 13 NULL NULL"],
    );
    world.expect("events_stages_history_long", NESTING, &["7 8 5 STATEMENT"]);
    world.expect(
        "events_waits_history_long",
        NESTING,
        &["3 3 1 STATEMENT", "4 4 2 TRANSACTION", "6 6 5 STATEMENT", "8 8 7 STAGE", "10 10 9 STATEMENT", "12 12 NULL NULL"],
    );
}

#[test]
fn a_stage_outside_of_statements() {
    let (world, class, actor) = world();
    stage(world, &actor); // 1
    let transaction = begin(world, &actor, class); // 2
    world.wait(&actor, world.class(MUTEX), 1); // 3
    stage(world, &actor); // 4
    world.wait(&actor, world.class(MUTEX), 1); // 5
    actor.end_any_stage(world.clock);
    world.wait(&actor, world.class(MUTEX), 1); // 6
    stage(world, &actor); // 7
    commit(world, &actor, transaction);
    world.wait(&actor, world.class(MUTEX), 1); // 8
    actor.end_any_stage(world.clock);
    world.wait(&actor, world.class(MUTEX), 1); // 9
    world.expect("events_stages_history_long", NESTING, &["1 3 NULL NULL", "4 5 2 TRANSACTION", "7 8 2 TRANSACTION"]);
    world.expect("events_transactions_history_long", NESTING, &["2 7 NULL NULL"]);
    world.expect(
        "events_waits_history_long",
        NESTING,
        &["3 3 1 STAGE", "5 5 4 STAGE", "6 6 2 TRANSACTION", "8 8 7 STAGE", "9 9 NULL NULL"],
    );
}

/// They need not end in the order in which they began.
#[test]
fn transactions_that_overlap() {
    let (world, class, actor) = world();
    let outer = begin(world, &actor, class); // 1
    let inner = begin(world, &actor, class); // 2
    world.expect(CURRENT, NESTING, &["1 NULL NULL NULL", "2 NULL 1 TRANSACTION"]);
    commit(world, &actor, outer);
    // The inner one runs on, and encloses nothing.
    world.wait(&actor, world.class(MUTEX), 1); // 3
    let another = begin(world, &actor, class); // 4
    commit(world, &actor, inner);
    world.wait(&actor, world.class(MUTEX), 1); // 5
    commit(world, &actor, another);
    world.wait(&actor, world.class(MUTEX), 1); // 6
    world.expect(LONG, NESTING, &["1 2 NULL NULL", "2 4 1 TRANSACTION", "4 5 NULL NULL"]);
    world.expect("events_waits_history_long", NESTING, &["3 3 NULL NULL", "5 5 4 TRANSACTION", "6 6 NULL NULL"]);
}

/// What another thread says of it is not shown; it is summed when it ends.
#[test]
fn a_transaction_that_another_thread_ends() {
    let (world, class, a) = world();
    let b = world.actor("b");
    let mut transaction = begin(world, &a, class);
    b.change_transaction(&mut transaction, |details| details.savepoints = 5);
    b.set_transaction_gtid(&mut transaction, "0-1-77");
    assert_eq!(transaction.details().savepoints, 5);
    world.expect(CURRENT, "NUMBER_OF_SAVEPOINTS", &["0"]);
    world.pass(4);
    commit(world, &b, transaction);
    world.expect(CURRENT, "THREAD_ID,STATE", &[&format!("{} ACTIVE", a.thread_id())]);
    world.expect(LONG, "*", &[]);
    world.expect(GLOBAL, BY_MODE, &["1 1 4000 4000 4000 4000 0 0 0 0 0"]);
    world.expect(BY_THREAD, "THREAD_ID,COUNT_STAR", &[&format!("{} 0", a.thread_id()), &format!("{} 1", b.thread_id())]);
}

/// Said by another thread meanwhile, and shown since its own ends it.
#[test]
fn what_another_thread_said_is_shown_at_the_end() {
    let (world, class, a) = world();
    let b = world.actor("b");
    let mut transaction = begin(world, &a, class);
    b.change_transaction(&mut transaction, |details| details.savepoints = 5);
    commit(world, &a, transaction);
    world.expect(LONG, "NUMBER_OF_SAVEPOINTS", &["5"]);
}

#[test]
fn more_than_there_are_records() {
    let (world, class, actor) = world();
    let places = 2 + 6;
    let running: Vec<_> = (0..places + 1).map(|_| begin(world, &actor, class)).collect();
    assert_eq!(world.region.lost(Lost::NestedEvents), 1);
    assert_eq!(world.select(CURRENT, "EVENT_ID").len(), places);
    running.into_iter().rev().for_each(|transaction| commit(world, &actor, transaction));
    world.expect(GLOBAL, "COUNT_STAR", &[&(places + 1).to_string()]);
    world.expect(HISTORY, "EVENT_ID", &["1", "2"]);
}

#[test]
fn consumers_and_settings_decide() {
    let (world, class, actor) = world();
    world.region.set_consumer(Consumer::EventsTransactionsHistoryLong, false);
    transaction(world, &actor, class, &READ_WRITE, 1);
    world.expect(HISTORY, "EVENT_ID", &["1"]);
    world.expect(LONG, "EVENT_ID", &[]);
    world.region.set_consumer(Consumer::EventsTransactionsCurrent, false);
    transaction(world, &actor, class, &READ_ONLY, 1);
    world.expect(HISTORY, "EVENT_ID", &["1"]);
    world.expect(GLOBAL, "COUNT_STAR", &["2"]);
    world.region.set_consumer(Consumer::ThreadInstrumentation, false);
    transaction(world, &actor, class, &READ_ONLY, 1);
    world.expect(BY_THREAD, "COUNT_STAR", &["2"]);
    world.expect(GLOBAL, "COUNT_STAR,COUNT_READ_ONLY", &["3 2"]);
    world.region.set_setting(class, Setting::OFF);
    let off = begin(world, &actor, class);
    assert!(!off.is_recorded());
    assert_eq!(actor.end_transaction(world.clock, off, TransactionState::Committed), None);
    world.expect(GLOBAL, "COUNT_STAR", &["3"]);
    world.region.set_setting(class, Setting::COUNTED);
    transaction(world, &actor, class, &READ_WRITE, 1);
    world.expect(GLOBAL, "COUNT_STAR,SUM_TIMER_WAIT", &["4 3000"]);
}

#[test]
fn they_have_a_timer_of_their_own() {
    let (world, class, actor) = world();
    assert_eq!(world.region.event_timer(EventClass::Transaction), TimerName::Nanosecond);
    world.region.set_event_timer(EventClass::Transaction, TimerName::Microsecond);
    transaction(world, &actor, class, &READ_WRITE, 2_500);
    world.expect(LONG, "TIMER_WAIT", &["2000000"]);
    world.expect(GLOBAL, "SUM_TIMER_WAIT", &["2000000"]);
}

#[test]
fn truncate_of_single_ones() {
    let (world, class, actor) = world();
    transaction(world, &actor, class, &READ_WRITE, 1);
    let running = begin(world, &actor, class);
    for table in [CURRENT, HISTORY, LONG] {
        world.truncate(table);
        world.expect(table, "*", &[]);
    }
    commit(world, &actor, running);
    // Hidden while it ran: it enters no history.
    for table in [CURRENT, HISTORY, LONG] {
        world.expect(table, "*", &[]);
    }
    world.expect(GLOBAL, "COUNT_STAR", &["2"]);
}

#[test]
fn there_is_one_instrument_or_none() {
    let (world, class, _) = world();
    assert_eq!(world.region.register(InstrumentName::literal("transaction"), Setting::OFF), Ok(class));
    world.expect("setup_instruments", "NAME,ENABLED,TIMED", &["transaction YES YES"]);
    assert!(InstrumentName::new("transaction/app/other").is_err());
    let without: Config = CONFIG.with(Size::MaxTransactionClasses, 0);
    let world = World::on(&without);
    let refused = world.region.register(InstrumentName::literal("transaction"), Setting::ON);
    assert_eq!(refused, Err(RegisterError::Full { size: Size::MaxTransactionClasses }));
    assert_eq!(world.region.lost(Lost::TransactionClasses), 1);
    for table in [CURRENT, HISTORY, LONG, GLOBAL, BY_THREAD] {
        assert_eq!(world.select(table, "*"), [""; 0], "{table}");
    }
}

/// What the last wait lies within, by number and type.
fn last_wait(world: World) -> String {
    world.select("events_waits_history_long", "EVENT_ID,NESTING_EVENT_ID,NESTING_EVENT_TYPE").pop().expect("there is one")
}

fn wait<'r>(world: World, actor: &Actor<'r>) -> Wait<'r> {
    let class = world.class(MUTEX);
    actor.begin(world.clock, world.region.switches(class), class, &WaitStart::new(Operation::Lock))
}

/// Waits that go on over the beginnings and ends of what is around them. The number of the last one, and what it lies within.
#[test]
fn waits_that_outlive_what_is_around_them() {
    let programs: [(&str, &str); 12] = [
        ("W w", "1 NULL NULL"),
        // It is in the stage that runs at its end, else in the transaction, if that was there before it.
        ("G T W G w", "3 4 STAGE"),
        ("G T W g w", "3 2 TRANSACTION"),
        ("G W T g w", "2 NULL NULL"),
        ("T W G w", "2 3 STAGE"),
        // One that was there before what ends goes on enclosing.
        ("W S T s t X w", "4 1 WAIT"),
        ("W T t X w", "3 1 WAIT"),
        // One that has ended does not; nor does a transaction.
        ("W T w X t", "3 2 TRANSACTION"),
        ("T W t w X", "3 NULL NULL"),
        ("W T w t X", "3 NULL NULL"),
        ("S W s w X", "3 NULL NULL"),
        ("W S w s X", "3 NULL NULL"),
    ];
    for (program, expected) in programs {
        let (world, class, actor) = world();
        let (mut running, mut statements, mut transactions) = (Vec::new(), Vec::new(), Vec::new());
        let mut last = String::new();
        for step in program.split(' ') {
            match step {
                "W" => running.push(wait(world, &actor)),
                "w" => {
                    actor.end(world.clock, running.pop().expect("it runs"), Held::None);
                    last = if last.is_empty() { last_wait(world) } else { last };
                }
                "X" => {
                    actor.end(world.clock, wait(world, &actor), Held::None);
                    last = last_wait(world);
                }
                "S" => statements.push(statement(world, &actor)),
                "s" => drop(actor.end_statement(world.clock, statements.pop().expect("it runs"))),
                "T" => transactions.push(begin(world, &actor, class)),
                "t" => commit(world, &actor, transactions.pop().expect("it runs")),
                "G" => stage(world, &actor),
                "g" => assert!(actor.end_any_stage(world.clock)),
                other => panic!("no step {other}"),
            }
        }
        assert_eq!(last, expected, "{program}");
    }
}

/// Also where a word is two halves: who counts transactions comes to numbers that are in both.
#[test]
fn one_that_runs_shows_large_numbers() {
    let (world, class, actor) = world();
    let mut transaction = begin(world, &actor, class);
    for trx_id in [1, (1 << 32) - 1, 1 << 32, u64::MAX, 7 << 40] {
        actor.change_transaction(&mut transaction, |details| details.trx_id = trx_id);
        world.expect("events_transactions_current", "TRX_ID", &[&trx_id.to_string()]);
    }
    commit(world, &actor, transaction);
    world.expect("events_transactions_history", "TRX_ID", &[&(7_u64 << 40).to_string()]);
}
