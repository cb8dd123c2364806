//! Transactions of a program in SQL: how they go and how they end, what lies within them, their sums, their setup, and what `sys` says of them.

mod common;

use common::{CONFIG, Mortal, World, check, run};
use perfschema::core::timer::TimerName;
use perfschema::core::{
    AccessMode, Actor, Class, Config, InstrumentName, Lost, Setting, Size, Statement, StatementStart, Transaction,
    TransactionStart, TransactionState,
};
use perfschema_sql::{Account, Database, Session};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const TABLES: [&str; 5] = [
    "events_transactions_current",
    "events_transactions_history",
    "events_transactions_history_long",
    "events_transactions_summary_by_thread_by_event_name",
    "events_transactions_summary_global_by_event_name",
];

const SIZES: Config = CONFIG
    .with(Size::MaxStatementClasses, 1)
    .with(Size::MaxTransactionClasses, 1)
    .with(Size::EventsStatementsHistorySize, 10)
    .with(Size::EventsStatementsHistoryLongSize, 32)
    .with(Size::MaxSqlTextLength, 512)
    .with(Size::EventsTransactionsHistorySize, 10)
    .with(Size::EventsTransactionsHistoryLongSize, 32);

/// One that may write, and one that only reads.
const WRITES: TransactionStart<'_> =
    TransactionStart { access_mode: AccessMode::ReadWrite, isolation_level: "REPEATABLE READ", autocommit: false, source: None };
const READS: TransactionStart<'_> =
    TransactionStart { access_mode: AccessMode::ReadOnly, isolation_level: "SERIALIZABLE", autocommit: true, source: None };

/// A region with the instrument `transaction`, and one of statements.
struct Transactions {
    world: World,
    transaction: Class,
    statement: Class,
}

impl Transactions {
    fn new() -> Transactions {
        let world = World::of(&SIZES);
        let class = |name| world.region.register(InstrumentName::literal(name), Setting::ON).expect("there is room");
        let (transaction, statement) = (class("transaction"), class("statement/sql/query"));
        Transactions { world, transaction, statement }
    }

    fn begin<'r>(&self, actor: &Actor<'r>, start: &TransactionStart<'_>) -> Transaction<'r> {
        actor.begin_transaction(&self.world.clock, self.world.region.switches(self.transaction), start)
    }

    fn end(&self, actor: &Actor<'_>, transaction: Transaction<'_>, state: TransactionState) {
        actor.end_transaction(&self.world.clock, transaction, state);
    }

    fn ask<'r>(&self, actor: &Actor<'r>, text: &str) -> Statement<'r> {
        let start = StatementStart { text, ..StatementStart::default() };
        actor.begin_statement(&self.world.clock, self.world.region.switches(self.statement), &start)
    }

    fn answer(&self, actor: &Actor<'_>, statement: Statement<'_>) {
        actor.end_statement(&self.world.clock, statement);
    }

    /// One that is committed after so many nanoseconds.
    fn commit(&self, actor: &Actor<'_>, start: &TransactionStart<'_>, ns: u64) {
        let transaction = self.begin(actor, start);
        self.world.pass(ns);
        self.end(actor, transaction, TransactionState::Committed);
    }
}

/// MySQL's columns and types, and their order.
#[test]
fn columns() {
    let mut session = Transactions::new().world.session();
    let of = |table: &str| {
        format!(
            "SELECT GROUP_CONCAT(column_name ORDER BY ordinal_position SEPARATOR ' ') FROM information_schema.columns \
             WHERE table_name = '{table}'"
        )
    };
    for table in &TABLES[..3] {
        check(
            &mut session,
            &of(table),
            "THREAD_ID EVENT_ID END_EVENT_ID EVENT_NAME STATE TRX_ID GTID XID_FORMAT_ID XID_GTRID XID_BQUAL XA_STATE SOURCE TIMER_START \
             TIMER_END TIMER_WAIT ACCESS_MODE ISOLATION_LEVEL AUTOCOMMIT NUMBER_OF_SAVEPOINTS NUMBER_OF_ROLLBACK_TO_SAVEPOINT \
             NUMBER_OF_RELEASE_SAVEPOINT OBJECT_INSTANCE_BEGIN NESTING_EVENT_ID NESTING_EVENT_TYPE",
        );
    }
    let sums = "EVENT_NAME COUNT_STAR SUM_TIMER_WAIT MIN_TIMER_WAIT AVG_TIMER_WAIT MAX_TIMER_WAIT COUNT_READ_WRITE \
                SUM_TIMER_READ_WRITE MIN_TIMER_READ_WRITE AVG_TIMER_READ_WRITE MAX_TIMER_READ_WRITE COUNT_READ_ONLY \
                SUM_TIMER_READ_ONLY MIN_TIMER_READ_ONLY AVG_TIMER_READ_ONLY MAX_TIMER_READ_ONLY";
    check(&mut session, &of(TABLES[3]), &format!("THREAD_ID {sums}"));
    check(&mut session, &of(TABLES[4]), sums);
    check(
        &mut session,
        "SELECT column_name, column_type, is_nullable FROM information_schema.columns WHERE table_name = 'events_transactions_current' \
         AND column_name IN ('STATE', 'ACCESS_MODE', 'AUTOCOMMIT', 'GTID', 'ISOLATION_LEVEL', 'TRX_ID') ORDER BY column_name",
        "ACCESS_MODE,\"enum('READ ONLY','READ WRITE')\",YES\nAUTOCOMMIT,\"enum('YES','NO')\",NO\nGTID,varchar(64),YES\n\
         ISOLATION_LEVEL,varchar(64),YES\nSTATE,\"enum('ACTIVE','COMMITTED','ROLLED BACK')\",YES\nTRX_ID,bigint unsigned,YES",
    );
}

/// START TRANSACTION, some work, COMMIT: one transaction over several statements, which lie within it.
#[test]
fn a_transcript() {
    let transactions = Transactions::new();
    let (world, actor) = (&transactions.world, transactions.world.user("joe", "there"));
    let mut session = world.session();
    let now = "SELECT event_name, state, trx_id, gtid, access_mode, isolation_level, autocommit, number_of_savepoints, \
               number_of_rollback_to_savepoint, number_of_release_savepoint, timer_wait, nesting_event_type FROM events_transactions_current";
    check(&mut session, now, "");

    let start = transactions.ask(&actor, "START TRANSACTION");
    let mut transaction = transactions.begin(&actor, &WRITES);
    transactions.world.pass(10);
    transactions.answer(&actor, start);
    check(&mut session, now, "transaction,ACTIVE,,,READ WRITE,REPEATABLE READ,NO,0,0,0,,STATEMENT");

    let insert = transactions.ask(&actor, "INSERT INTO t VALUES (1)");
    world.wait(&actor, 0, 1, 100);
    actor.change_transaction(&mut transaction, |details| details.trx_id = 421);
    transactions.answer(&actor, insert);
    let savepoint = transactions.ask(&actor, "SAVEPOINT s");
    actor.change_transaction(&mut transaction, |details| details.savepoints += 2);
    transactions.answer(&actor, savepoint);
    check(&mut session, now, "transaction,ACTIVE,421,,READ WRITE,REPEATABLE READ,NO,2,0,0,,STATEMENT");
    // Nobody asks for anything, and the transaction goes on.
    world.wait(&actor, 1, 2, 1_000);
    actor.change_transaction(&mut transaction, |details| (details.rollbacks_to_savepoint, details.released_savepoints) = (3, 1));
    // It has its name when it has ended.
    actor.set_transaction_gtid(&mut transaction, "3e11fa47-71ca-11e1-9e33-c80aa9429562:23");
    check(&mut session, now, "transaction,ACTIVE,421,,READ WRITE,REPEATABLE READ,NO,2,3,1,,STATEMENT");
    check(&mut session, "SELECT COUNT(*) FROM events_transactions_history", "0");
    check(&mut session, "SELECT SUM(count_star) FROM events_transactions_summary_global_by_event_name", "0");

    let commit = transactions.ask(&actor, "COMMIT");
    transactions.world.pass(10_000);
    transactions.end(&actor, transaction, TransactionState::Committed);
    transactions.answer(&actor, commit);
    let after = transactions.ask(&actor, "SELECT 1");
    transactions.answer(&actor, after);

    let ended = "transaction,COMMITTED,421,3e11fa47-71ca-11e1-9e33-c80aa9429562:23,READ WRITE,REPEATABLE READ,NO,2,3,1,11110000,STATEMENT";
    for table in &TABLES[..3] {
        check(&mut session, &now.replace(TABLES[0], table), ended);
    }
    check(
        &mut session,
        "SELECT q.sql_text, q.nesting_event_type, x.trx_id, q.event_id > x.event_id, q.event_id <= x.end_event_id, \
         q.end_event_id <= x.end_event_id \
         FROM events_statements_history q LEFT JOIN events_transactions_history x ON x.thread_id = q.thread_id \
         AND x.event_id = q.nesting_event_id AND q.nesting_event_type = 'TRANSACTION' ORDER BY q.event_id",
        "START TRANSACTION,,,,,\nINSERT INTO t VALUES (1),TRANSACTION,421,1,1,1\nSAVEPOINT s,TRANSACTION,421,1,1,1\n\
         COMMIT,TRANSACTION,421,1,1,1\nSELECT 1,,,,,",
    );
    // And the transaction lies within the statement that began it, although it outlives that.
    check(
        &mut session,
        "SELECT q.sql_text, x.timer_start - q.timer_start, x.timer_end > q.timer_end FROM events_transactions_history_long x \
         JOIN events_statements_history_long q ON q.thread_id = x.thread_id AND q.event_id = x.nesting_event_id",
        "START TRANSACTION,0,1",
    );
    // Waits lie within the statement around them, or else within the transaction.
    check(
        &mut session,
        "SELECT w.timer_wait, w.nesting_event_type, q.sql_text, x.trx_id FROM events_waits_history w \
         LEFT JOIN events_statements_history q ON q.thread_id = w.thread_id AND q.event_id = w.nesting_event_id \
         AND w.nesting_event_type = 'STATEMENT' \
         LEFT JOIN events_transactions_history x ON x.thread_id = w.thread_id AND x.event_id = w.nesting_event_id \
         AND w.nesting_event_type = 'TRANSACTION' ORDER BY w.event_id",
        "100000,STATEMENT,INSERT INTO t VALUES (1),\n1000000,TRANSACTION,,421",
    );
    // What belongs to no transaction over several resource managers is NULL.
    check(
        &mut session,
        "SELECT xid_format_id, xid_gtrid, xid_bqual, xa_state, object_instance_begin FROM events_transactions_history",
        ",,,,",
    );
}

/// What a program does not say is NULL; what ends without a word is rolled back; one may lie within another.
#[test]
fn how_they_end() {
    let transactions = Transactions::new();
    let actor = transactions.world.user("joe", "there");
    let mut session = transactions.world.session();
    let silent = TransactionStart::default();
    for (state, number) in
        [TransactionState::Committed, TransactionState::RolledBack, TransactionState::Active].into_iter().zip(1..)
    {
        let mut transaction = transactions.begin(&actor, if number == 2 { &READS } else { &silent });
        actor.change_transaction(&mut transaction, |details| details.trx_id = number);
        actor.set_transaction_gtid(&mut transaction, if number == 2 { "größe:2" } else { "" });
        transactions.world.pass(number);
        transactions.end(&actor, transaction, state);
    }
    check(
        &mut session,
        "SELECT trx_id, state, gtid, access_mode, isolation_level, autocommit, timer_wait FROM events_transactions_history ORDER BY event_id",
        "1,COMMITTED,,READ WRITE,,NO,1000\n2,ROLLED BACK,größe:2,READ ONLY,SERIALIZABLE,YES,2000\n3,ROLLED BACK,,READ WRITE,,NO,3000",
    );
    check(
        &mut session,
        "SELECT state, COUNT(*), SUM(state = 'rolled back'), MAX(isolation_level) FROM events_transactions_history_long \
         WHERE state <> 'ACTIVE' GROUP BY state ORDER BY state DESC",
        "ROLLED BACK,2,2,SERIALIZABLE\nCOMMITTED,1,0,",
    );
    // The outer one ends first: what lies within it goes on.
    let mut outer = transactions.begin(&actor, &WRITES);
    actor.change_transaction(&mut outer, |details| details.trx_id = 4);
    let mut inner = transactions.begin(&actor, &READS);
    actor.change_transaction(&mut inner, |details| details.trx_id = 5);
    let now = "SELECT trx_id, state, nesting_event_id = (SELECT event_id FROM events_transactions_current WHERE trx_id = 4), \
               nesting_event_type FROM events_transactions_current ORDER BY trx_id";
    check(&mut session, now, "4,ACTIVE,,\n5,ACTIVE,1,TRANSACTION");
    transactions.end(&actor, outer, TransactionState::Committed);
    check(&mut session, now, "5,ACTIVE,,TRANSACTION");
    transactions.world.wait(&actor, 0, 1, 1);
    transactions.end(&actor, inner, TransactionState::Committed);
    check(&mut session, now, "5,COMMITTED,,TRANSACTION");
}

/// The sums are those of the rows: of all, of those that may write, and of those that only read.
#[test]
fn sums_by_access_mode() {
    let transactions = Transactions::new();
    let (joe, ann) = (transactions.world.user("joe", "there"), transactions.world.user("ann", "there"));
    for (actor, start, ns) in
        [(&joe, &WRITES, 5), (&joe, &WRITES, 9), (&joe, &READS, 100), (&ann, &READS, 300), (&ann, &READS, 1), (&ann, &WRITES, 7)]
    {
        transactions.commit(actor, start, ns);
    }
    let mut session = transactions.world.session();
    check(
        &mut session,
        &format!("SELECT * FROM {}", TABLES[4]),
        "transaction,6,422000,1000,70333,300000,3,21000,5000,7000,9000,3,401000,1000,133666,300000",
    );
    check(
        &mut session,
        &format!("SELECT * FROM {} s ORDER BY s.thread_id", TABLES[3]),
        "1,transaction,3,114000,5000,38000,100000,2,14000,5000,7000,9000,1,100000,100000,100000,100000\n\
         2,transaction,3,308000,1000,102666,300000,1,7000,7000,7000,7000,2,301000,1000,150500,300000",
    );
    for (table, of) in [(TABLES[3], "s.thread_id = e.thread_id AND"), (TABLES[4], "")] {
        let mut same = String::new();
        for (mode, condition) in
            [("WAIT", "TRUE"), ("READ_WRITE", "e.access_mode = 'READ WRITE'"), ("READ_ONLY", "e.access_mode = 'READ ONLY'")]
        {
            let count = if mode == "WAIT" { "STAR" } else { mode };
            same += &format!(", MAX(s.count_{count}) = SUM({condition})");
            for (column, function) in [("sum", "SUM"), ("min", "MIN"), ("max", "MAX")] {
                same += &format!(", MAX(s.{column}_timer_{mode}) = {function}(IF({condition}, e.timer_wait, NULL))");
            }
        }
        let compared = format!(
            "SELECT s.event_name{same} FROM {table} s JOIN events_transactions_history_long e ON {of} s.event_name = e.event_name \
             GROUP BY s.event_name"
        );
        // By thread the greatest of both threads would be compared with the sum of them.
        let compared = if of.is_empty() { compared } else { format!("{compared}, s.thread_id") };
        let ones = format!("transaction{}", ",1".repeat(12));
        check(&mut session, &compared, &if of.is_empty() { ones } else { format!("{ones}\n{ones}") });
    }
    // Whoever is gone stays in the sums of all.
    joe.detach();
    check(&mut session, &format!("SELECT count_star, count_read_only FROM {}", TABLES[3]), "3,2");
    check(&mut session, &format!("SELECT count_star, count_read_only FROM {}", TABLES[4]), "6,3");
    // Of the instrument there is one row, although the sums have two places.
    check(&mut session, "SELECT * FROM setup_instruments WHERE name LIKE 'transaction%'", "transaction,YES,YES,1");
    check(&mut session, &format!("SELECT COUNT(*) FROM {}", TABLES[4]), "1");
}

/// Legal are SELECT and TRUNCATE; all five are in the information_schema, and in SHOW TABLES.
#[test]
fn rights() {
    let transactions = Transactions::new();
    let actor = transactions.world.user("joe", "there");
    let mut session = transactions.world.session();
    for table in TABLES {
        transactions.commit(&actor, &WRITES, 10);
        transactions.commit(&actor, &READS, 20);
        let running = transactions.begin(&actor, &WRITES);
        check(&mut session, &format!("SHOW TABLES LIKE '{table}'"), table);
        check(&mut session, &format!("SELECT COUNT(*) FROM information_schema.tables WHERE table_name = '{table}'"), "1");
        for (statement, command) in [
            (format!("DELETE FROM {table}"), "DELETE"),
            (format!("UPDATE {table} SET event_name = 'x'"), "UPDATE"),
            (format!("INSERT INTO {table} (event_name) VALUES ('x')"), "INSERT"),
        ] {
            let error = run(&mut session, &statement);
            assert!(error.starts_with(&format!("ERROR 1142 (42000): {command} command denied to user")), "{error}");
        }
        check(&mut session, &format!("SELECT COUNT(*) > 0 FROM {table}"), "1");
        check(&mut session, &format!("TRUNCATE TABLE {table}"), "0 changed");
        let left = if table.contains("summary") {
            "SELECT SUM(count_star), SUM(sum_timer_wait), SUM(count_read_write), SUM(max_timer_read_only) FROM"
        } else {
            "SELECT COUNT(*) FROM"
        };
        check(&mut session, &format!("{left} {table}"), if table.contains("summary") { "0,0,0,0" } else { "0" });
        transactions.end(&actor, running, TransactionState::Committed);
        // What ends after that counts again.
        if table.contains("summary") {
            check(&mut session, &format!("SELECT count_star, count_read_write, count_read_only FROM {table}"), "1,1,0");
        }
    }
}

#[test]
fn setup_timers() {
    let transactions = Transactions::new();
    let mut session = transactions.world.session();
    check(&mut session, "SELECT * FROM setup_timers WHERE name = 'transaction'", "transaction,NANOSECOND");
    for (timer, wait) in [("MICROSECOND", "2000000"), ("NANOSECOND", "2500000"), ("TICK", "0")] {
        check(
            &mut session,
            &format!("UPDATE setup_timers SET timer_name = '{timer}' WHERE name = 'transaction'"),
            "Rows matched: 1  Changed: 1  Warnings: 0",
        );
        let actor = transactions.world.user("joe", "there");
        let transaction = transactions.begin(&actor, &WRITES);
        transactions.world.pass(2_500);
        transactions.world.clock.advance(TimerName::Microsecond, 2);
        transactions.end(&actor, transaction, TransactionState::Committed);
        check(&mut session, "SELECT timer_wait FROM events_transactions_current", wait);
        actor.detach();
    }
}

/// Each table of events has its consumer; the summaries count without any of them, and nothing is recorded where the instrument is off.
#[test]
fn setup_consumers_and_the_instrument() {
    let transactions = Transactions::new();
    let mut session = transactions.world.session();
    check(
        &mut session,
        "SELECT * FROM setup_consumers WHERE name LIKE 'events_transactions%'",
        "events_transactions_current,YES\nevents_transactions_history,YES\nevents_transactions_history_long,YES",
    );
    let actor = transactions.world.user("joe", "there");
    transactions.commit(&actor, &WRITES, 10);
    for table in [TABLES[2], TABLES[1], TABLES[0]] {
        run(&mut session, &format!("UPDATE setup_consumers SET enabled = 'NO' WHERE name = '{table}'"));
        let rows = |session: &mut Session| run(session, &format!("SELECT * FROM {table} t ORDER BY t.event_id"));
        let before = rows(&mut session);
        transactions.commit(&actor, &WRITES, 10);
        assert_eq!(rows(&mut session), before, "{table}");
    }
    let counted = "SELECT count_star, sum_timer_wait FROM events_transactions_summary_global_by_event_name";
    check(&mut session, counted, "4,40000");
    let instrument = "UPDATE setup_instruments SET";
    check(
        &mut session,
        &format!("{instrument} timed = 'NO' WHERE name = 'transaction'"),
        "Rows matched: 1  Changed: 1  Warnings: 0",
    );
    transactions.commit(&actor, &READS, 10);
    check(&mut session, counted, "5,40000");
    run(&mut session, &format!("{instrument} enabled = 'NO' WHERE name LIKE 'trans%'"));
    transactions.commit(&actor, &READS, 10);
    check(&mut session, counted, "5,40000");
    run(&mut session, &format!("{instrument} enabled = 'YES', timed = 'YES' WHERE name = 'transaction'"));
    transactions.commit(&actor, &READS, 10);
    check(&mut session, counted, "6,50000");
}

#[test]
fn variables() {
    let transactions = Transactions::new();
    let mut session = transactions.world.session();
    check(
        &mut session,
        "SHOW VARIABLES LIKE 'performance%transaction%'",
        "performance_schema_events_transactions_history_long_size,32\nperformance_schema_events_transactions_history_size,10\n\
         performance_schema_max_transaction_classes,1",
    );
    check(&mut session, "SELECT @@performance_schema_events_transactions_history_size", "10");
    let lost = "SHOW STATUS LIKE 'Performance_schema%transaction%'";
    let losses = |classes: u64| {
        format!(
            "Performance_schema_events_transactions_history_long_lost,0\nPerformance_schema_transaction_classes_lost,{classes}"
        )
    };
    check(&mut session, lost, &losses(0));
    let none = World::of(&SIZES.with(Size::MaxTransactionClasses, 0));
    let _ = none.region.register(InstrumentName::literal("transaction"), Setting::ON);
    assert_eq!(none.region.lost(Lost::TransactionClasses), 1);
    let mut session = none.session();
    check(&mut session, lost, &losses(1));
    check(&mut session, &format!("SELECT COUNT(*) FROM {}", TABLES[4]), "0");
}

const S: u64 = 1_000_000_000;

/// `sys.processlist` and `sys.session` have MySQL's columns of a thread's transaction; of those within one another, the outermost.
#[test]
fn what_a_thread_is_in() {
    let transactions = Transactions::new();
    let (joe, ann, _idle) = (
        transactions.world.user("joe", "there"),
        transactions.world.user("ann", "there"),
        transactions.world.user("idle", "there"),
    );
    // Ann's is over.
    let transaction = transactions.begin(&ann, &READS);
    transactions.world.pass(3_000_000);
    transactions.end(&ann, transaction, TransactionState::RolledBack);
    let outer = transactions.begin(&joe, &WRITES);
    transactions.world.pass(2 * S);
    let inner = transactions.begin(&joe, &READS);
    transactions.world.pass(S / 2);
    let mut session = transactions.world.session_now();
    let of = |view: &str| format!("SELECT thd_id, trx_latency, trx_state, trx_autocommit FROM sys.`{view}` p ORDER BY thd_id");
    for (prefix, joes, anns) in [("x$", "2500000000000", "3000000000"), ("", "2.50 s", "3.00 ms")] {
        let rows = format!("1,{joes},ACTIVE,NO\n2,{anns},ROLLED BACK,YES\n3,,,");
        check(&mut session, &of(&format!("{prefix}processlist")), &rows);
        check(&mut session, &of(&format!("{prefix}session")), &rows);
    }
    // Whoever does nothing in a transaction has no statement beside it.
    let columns = "thread_id,thread_name,trx_id,access_mode,isolation_level,autocommit,source,transaction_so_far,current_statement,\
                   savepoints";
    let name = "thread/sql/one_connection";
    for (view, [outer, inner]) in
        [("current_transactions", ["2.50 s", "500.00 ms"]), ("x$current_transactions", ["2500000000000", "500000000000"])]
    {
        assert_eq!(
            run(&mut session, &format!("SELECT * FROM sys.`{view}`")).trim_end(),
            format!(
                "{columns}\n1,{name},,READ WRITE,REPEATABLE READ,NO,,{outer},,0\n1,{name},,READ ONLY,SERIALIZABLE,YES,,{inner},,0"
            ),
            "{view}"
        );
    }
    let text = format!("SELECT {}2", "1, ".repeat(30));
    let statement = transactions.ask(&joe, &text);
    // It lies within the inner one; in the outer one nothing is done besides.
    let shown = "SELECT current_statement FROM sys.";
    check(&mut session, &format!("{shown}`x$current_transactions`"), &format!("\"\"\n\"{text}\""));
    check(
        &mut session,
        &format!("{shown}current_transactions"),
        &format!("\"\"\n\"{} ... {}\"", &text[..30], &text[text.len() - 30..]),
    );
    // One that lies within a statement is that one's.
    let innermost = transactions.begin(&joe, &READS);
    check(&mut session, &format!("{shown}`x$current_transactions`"), &format!("\"\"\n\"{text}\"\n\"{text}\""));
    transactions.end(&joe, innermost, TransactionState::Committed);
    transactions.answer(&joe, statement);
    transactions.end(&joe, inner, TransactionState::Committed);
    transactions.end(&joe, outer, TransactionState::Committed);
    check(&mut session, "SELECT COUNT(*) FROM sys.current_transactions", "0");
    check(&mut session, "SELECT trx_state, trx_latency FROM sys.session WHERE thd_id = 1", "COMMITTED,2.50 s");
}

#[test]
fn a_program_that_has_ended_has_no_time() {
    let transactions = Transactions::new();
    let (joe, ann) = (transactions.world.user("joe", "there"), transactions.world.user("ann", "there"));
    let _older = transactions.begin(&ann, &READS);
    transactions.world.pass(S);
    let _transaction = transactions.begin(&joe, &WRITES);
    let has_ended = Arc::new(AtomicBool::new(false));
    let program = Mortal(transactions.world.region, Arc::clone(&has_ended));
    let mut session = Database::new(program).session(Account::default()).expect("there is memory");
    let list = "SELECT trx_state, trx_latency IS NULL, trx_autocommit FROM sys.session WHERE thd_id = 1";
    check(&mut session, list, "ACTIVE,0,NO");
    has_ended.store(true, Ordering::Relaxed);
    check(&mut session, list, "ACTIVE,1,NO");
    check(&mut session, "SELECT thread_id, transaction_so_far FROM sys.current_transactions", "2,\n1,");
}
