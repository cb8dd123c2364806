//! Every declared table, whatever is in it: SQL shows what the Rust scan shows, cell by cell, and describes it as it was declared.

mod common;

use common::{CONFIG, World, check};
use perfschema::core::metric::{MetricInfo, MetricType, Moment};
use perfschema::core::table::{Row, SqlType, Table};
use perfschema::core::{
    InstrumentName, Region, Setting, Size, StatementError, StatementStart, TransactionStart, TransactionState, copy_from_bytes,
};
use perfschema::render::OwnedValue;
use perfschema::tables;
use perfschema_sql::{Account, Database, Outcome, Session};

fn scan(region: &Region<'_>, table: &dyn Table) -> Vec<Vec<OwnedValue>> {
    let width = table.declaration().columns.len();
    let mut rows = Vec::new();
    table.scan(region, &mut |row: &dyn Row| rows.push((0..width).map(|column| row.cell(column).into()).collect()));
    rows
}

fn select(session: &mut Session, statement: &str) -> perfschema::render::Grid {
    match session.execute(statement) {
        Ok(Outcome::Rows(grid)) => grid,
        other => panic!("{statement}: {other:?}"),
    }
}

/// Compares all tables. Returns those whose rows are never twice the same: they measure when they are read.
fn compare(region: &'static Region<'static>) -> (usize, Vec<&'static str>) {
    let mut session = Database::new(region).session(Account::default()).expect("there is memory");
    let (mut rows, mut unsteady) = (0, Vec::new());
    for table in tables::ALL {
        let declaration = table.declaration();
        let before = scan(region, *table);
        let grid = select(&mut session, &format!("SELECT * FROM {}.{}", table.schema(), declaration.name));
        let after = scan(region, *table);
        for (head, column) in grid.columns.iter().zip(declaration.columns) {
            assert_eq!((head.name.as_str(), head.sql_type), (column.name, column.sql_type), "{}", declaration.name);
            assert!(head.nullable || !column.nullable, "{}.{}", declaration.name, column.name);
        }
        assert_eq!(grid.columns.len(), declaration.columns.len(), "{}", declaration.name);
        rows += before.len();
        if ["global_status", "global_variables"].contains(&declaration.name) {
            // Over SQL there is more: what sessions and a server say of themselves. What was never set is empty there, as in MySQL.
            let shown = |value: OwnedValue| if value == OwnedValue::Null { "".into() } else { value };
            for row in before {
                let row: Vec<OwnedValue> = row.into_iter().map(shown).collect();
                assert!(grid.rows.contains(&row), "{}: {row:?}", declaration.name);
            }
        } else if before == after {
            assert_eq!(grid.rows, before, "{}", declaration.name);
        } else {
            unsteady.push(declaration.name);
        }
    }
    (rows, unsteady)
}

/// A region in use.
fn used() -> World {
    let sizes = [
        (Size::MaxStatementClasses, 2),
        (Size::EventsStatementsHistoryLongSize, 8),
        (Size::MaxStageClasses, 2),
        (Size::MaxTransactionClasses, 1),
        (Size::EventsTransactionsHistoryLongSize, 8),
    ];
    let world = World::of(&sizes.into_iter().fold(CONFIG, |config, (size, value)| config.with(size, value)));
    let actors = [world.actor("thread/test/main"), world.actor("thread/test/ünï\u{0}code")];
    for event in 0..20_u64 {
        let class = event as usize % world.classes.len();
        world.wait(&actors[event as usize % 2], class, u64::MAX - event, 1 << (event * 3));
    }
    let class = |name| world.region.register(InstrumentName::literal(name), Setting::ON).expect("there is room");
    let (statement, stage) = (class("statement/test/ask"), class("stage/test/answering"));
    for text in ["SELECT 'ünï\u{0}code'", "", "one that runs"] {
        let start = StatementStart { text, schema: "ünï", ..StatementStart::default() };
        let mut one = actors[0].begin_statement(&world.clock, world.region.switches(statement), &start);
        actors[0].begin_stage(&world.clock, world.region.switches(stage), None);
        actors[0].change_statement(&mut one, |figures| (figures.rows_sent, figures.errors) = (u64::MAX, 1));
        actors[0]
            .set_statement_error(&mut one, &StatementError { number: u32::MAX, sqlstate: "HY000".into(), message: "ünï".into() });
        if text != "one that runs" {
            actors[0].end_statement(&world.clock, one);
        }
    }
    let transaction = class("transaction");
    for (trx_id, state) in [(1, Some(TransactionState::Committed)), (u64::MAX, Some(TransactionState::RolledBack)), (3, None)] {
        let start = TransactionStart { isolation_level: "ünï", ..TransactionStart::default() };
        let mut one = actors[0].begin_transaction(&world.clock, world.region.switches(transaction), &start);
        actors[0].change_transaction(&mut one, |details| (details.trx_id, details.savepoints) = (trx_id, u64::MAX));
        actors[0].set_transaction_gtid(&mut one, "ünï\u{0}");
        if let Some(state) = state {
            actors[0].end_transaction(&world.clock, one, state);
        }
    }
    for (index, class) in world.classes.iter().enumerate() {
        if let Some(id) = world.region.create_instance(*class, u64::MAX / (index as u64 + 1)) {
            world.region.instance(id).expect("just made").set_holder(index as u64);
        }
    }
    for (name, kind) in [("counter", MetricType::Counter), ("value", MetricType::Value), ("off", MetricType::Counter)] {
        let info = MetricInfo::new(name, "test", "ünï", kind).expect("a name");
        let metric = world.region.register_metric(&info, name != "off", Moment::of_seconds(1)).expect("there is room");
        world.region.set_metric_value(metric, i64::MIN);
    }
    world
}

#[test]
fn every_table_as_it_is() {
    let (rows, unsteady) = compare(used().region);
    assert!(rows > 100, "{rows} rows");
    assert!(unsteady.len() <= 1, "{unsteady:?}");
}

/// Random words in all places behind the header: numbers beyond 2⁶³, texts of any bytes, rows in any state.
#[test]
fn every_table_of_a_damaged_region() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let (mut opened, mut rows) = (0, 0);
    for _ in 0..60 {
        let words = used().region.words();
        for _ in 0..random() % 200 {
            // Behind the header and the directory.
            let at = 200 + random() as usize % (words.len() - 200);
            let value = random() >> (random() % 64);
            copy_from_bytes(&value.to_ne_bytes(), &words[at..=at]).expect("there is room");
        }
        if let Ok(region) = Region::open(words) {
            opened += 1;
            rows += compare(Box::leak(Box::new(region))).0;
        }
    }
    assert!(opened >= 20 && rows > 1000, "{opened} opened, {rows} rows");
}

#[test]
fn numbers_beyond_two_to_the_63() {
    let world = World::new();
    let actor = world.actor("thread/test/main");
    let objects = [5, 1 << 63, u64::MAX, (1 << 63) - 1, 1 << 62];
    for object in objects {
        world.wait(&actor, 0, object, 1);
    }
    let mut session = world.session();
    let from = "FROM events_waits_history_long";
    let column = "object_instance_begin";
    let mut sorted = objects;
    sorted.sort_unstable();
    let lines = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join("\n");
    check(&mut session, &format!("SELECT {column} {from} ORDER BY {column}"), &lines(&sorted));
    let sum: u128 = objects.iter().map(|number| u128::from(*number)).sum();
    check(&mut session, &format!("SELECT SUM({column}) {from}"), &sum.to_string());
    check(&mut session, &format!("SELECT MAX({column}), MIN({column}) {from}"), &format!("{},5", u64::MAX));
    check(&mut session, &format!("SELECT {column} {from} WHERE {column} = {}", u64::MAX), &lines(&[u64::MAX]));
    check(&mut session, &format!("SELECT {column} {from} WHERE {column} = '{}'", 1_u64 << 62), &lines(&[1 << 62]));
    let over = (1_u64 << 63) - 1;
    check(&mut session, &format!("SELECT {column} {from} WHERE {column} > {over} ORDER BY 1 DESC"), &lines(&[u64::MAX, 1 << 63]));
    check(
        &mut session,
        &format!("SELECT {column} {from} WHERE {column} BETWEEN 6 AND {over} ORDER BY 1"),
        &lines(&[1 << 62, over]),
    );
    check(&mut session, &format!("SELECT {column} - 1 {from} WHERE {column} = {}", 1_u64 << 63), &lines(&[over]));
    check(&mut session, &format!("SELECT {column} + 1 {from} WHERE {column} = {over}"), &lines(&[1 << 63]));
    check(&mut session, &format!("SELECT CONCAT({column}, '') {from} WHERE {column} = {}", u64::MAX), &lines(&[u64::MAX]));
    check(&mut session, &format!("SELECT COUNT(*) {from} a JOIN events_waits_history_long b USING ({column})"), "5");
    check(&mut session, &format!("SELECT COUNT(DISTINCT {column}) {from}"), "5");
    check(
        &mut session,
        &format!("SELECT {column} {from} WHERE {column} IN ({}, 5) ORDER BY 1", u64::MAX),
        &lines(&[5, u64::MAX]),
    );
    check(&mut session, &format!("CREATE TABLE test.t AS SELECT {column} {from}"), "Records: 5  Duplicates: 0  Warnings: 0");
    check(&mut session, &format!("SELECT {column} FROM test.t ORDER BY 1"), &lines(&sorted));
    let window =
        format!("SELECT SUM({column}) OVER (ORDER BY {column} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) {from} LIMIT 1 OFFSET 4");
    check(&mut session, &window, &(u128::from(u64::MAX) + (1 << 63)).to_string());
    let grid = select(&mut session, &format!("SELECT {column} {from}"));
    assert_eq!(grid.columns[0].sql_type, SqlType::BigintUnsigned);
    assert!(!grid.columns[0].nullable);
}

#[test]
fn a_column_stays_what_it_is_through_queries_around_it() {
    let mut session = used().session();
    let heads = |session: &mut Session, statement: &str| {
        let columns = select(session, statement).columns;
        columns.into_iter().map(|head| (head.name, head.sql_type, head.nullable)).collect::<Vec<_>>()
    };
    let expected = vec![("n".to_owned(), SqlType::Varchar(128), false), ("COUNT(*)".to_owned(), SqlType::Bigint, false)];
    let found = heads(&mut session, "SELECT q.n, COUNT(*) FROM (SELECT name AS n FROM setup_instruments) q GROUP BY q.n");
    assert_eq!(found, expected);
    let found = heads(&mut session, "SELECT source, timer_wait FROM events_waits_history_long WHERE 1 = 0");
    assert_eq!(
        found,
        [("source".to_owned(), SqlType::Varchar(64), true), ("timer_wait".to_owned(), SqlType::BigintUnsigned, true)]
    );
}

/// As MySQL describes columns, with rows and without: for clients that are typed.
#[test]
fn which_columns_may_be_null() {
    let mut session = used().session();
    let shown = |heads: Vec<perfschema::render::ColumnHead>| {
        heads.iter().map(|head| if head.nullable { "null" } else { "-" }).collect::<Vec<_>>().join(" ")
    };
    for (projection, from, expected) in [
        ("COUNT(*), COUNT(source), 1, 'a', -1.5, NULL, MAX(timer_wait)", "FROM events_waits_history", "- - - - - null null"),
        ("COUNT(*) + 1, 2 * COUNT(*), COUNT(*) / 2, 1 = 1, 1 / 2", "FROM threads", "- - null - null"),
        ("source IS NULL, source <=> 1, source = 'a', EXISTS (SELECT 1)", "FROM events_waits_history", "- - null -"),
        ("ROW_NUMBER() OVER (ORDER BY name), SUM(thread_id) OVER ()", "FROM threads", "- null"),
        ("RANK() OVER (ORDER BY name), DENSE_RANK() OVER (ORDER BY name)", "FROM threads", "- -"),
        ("t.thread_id, i.name, t.name", "FROM threads t LEFT JOIN setup_instruments i ON i.name = 'x'", "- null -"),
        ("t.thread_id, i.name, t.name", "FROM setup_instruments i RIGHT JOIN threads t ON i.name = 'x'", "- null -"),
        ("t.thread_id, i.name", "FROM threads t JOIN setup_instruments i ON 1 = 1", "- -"),
        ("q.name, t.name", "FROM threads t LEFT JOIN (SELECT name FROM setup_instruments) q ON q.name = 'x'", "null -"),
        (
            "c.name, a.user, t.name",
            "FROM threads t LEFT JOIN (setup_consumers c JOIN setup_actors a) ON c.name = 'x'",
            "null null -",
        ),
        ("(SELECT name FROM threads WHERE 1 = 0), name", "FROM threads", "null -"),
        ("name", "FROM threads UNION SELECT NULL", "null"),
        ("name", "FROM threads UNION SELECT name FROM setup_consumers", "-"),
        ("1", "UNION SELECT COUNT(*) FROM threads", "-"),
        ("name, COUNT(*)", "FROM threads GROUP BY name", "- -"),
        ("name, COUNT(*)", "FROM threads GROUP BY name WITH ROLLUP", "null -"),
        ("thread_id, holder_thread_id", "FROM sys.current_waits", "- null"),
        ("w.thread_id, t.thread_id", "FROM threads t LEFT JOIN sys.current_waits w ON w.thread_id = t.thread_id", "null null"),
        ("?, @a, @@port", "FROM threads", "null null null"),
    ] {
        let statement = format!("SELECT {projection} {from}");
        assert_eq!(shown(session.describe(&statement).expect(&statement).columns), expected, "{statement}");
        let values = if statement.contains('?') { &[OwnedValue::Null][..] } else { &[] };
        let Ok(Outcome::Rows(grid)) = session.execute_with(&statement, values) else { panic!("{statement}") };
        assert_eq!(shown(grid.columns), expected, "{statement}");
    }
    // What WITH defines goes by another name than the tables in it.
    for (defined, expected) in [
        ("c AS (SELECT name FROM setup_consumers) SELECT t.name, c.name FROM threads t LEFT JOIN c ON c.name = 'x'", "- null"),
        ("c AS (SELECT name FROM setup_consumers) SELECT c.name FROM c JOIN threads t", "-"),
        (
            "b AS (SELECT name FROM setup_consumers), c AS (SELECT * FROM b) SELECT * FROM c RIGHT JOIN (SELECT 1) t ON c.name = 'x'",
            "null null",
        ),
        (
            "c AS (SELECT name FROM setup_consumers) SELECT d.name FROM threads t LEFT JOIN (SELECT * FROM c) d ON d.name = 'x'",
            "null",
        ),
    ] {
        let found = session.describe(&format!("WITH {defined}")).expect(defined).columns;
        assert_eq!(shown(found), expected, "{defined}");
    }
}
