//! The tables' columns beside those of a live server, and what holds for every table alike.

mod common;

use common::{CONFIG, World};
use perfschema_core::table::{Column, SCHEMA, SqlType, Value};
use perfschema_core::timer::{MockClock, TimerName};
use perfschema_core::{Identity, InstanceId, InstrumentName, Region, StaticRegion, Text, Timer, tables};
use std::collections::BTreeMap;

/// `table`, `ordinal`, `column`, `type`, `nullable`, `default` of each table here that MariaDB 10.11 has, too.
const LIVE: &str = include_str!("data/ps_tables.tsv");

/// Where we differ on purpose, as (table, what the server does not have).
const BEYOND: &[(&str, &[&str])] = &[
    ("events_waits_histogram_by_event_name", &["the whole table"]),
    // In MySQL, but not in MariaDB 10.11's performance_schema.
    ("global_variables", &["the whole table"]),
    // Of information_schema: `metrics.rs` looks at it.
    ("innodb_metrics", &["the whole table"]),
    ("events_waits_summary_global_by_event_name", &["QUANTILE_95", "QUANTILE_99", "QUANTILE_999"]),
    // Of MySQL 8.
    ("processlist", &["the whole table"]),
    ("setup_instruments", &["TIMED_ONE_IN"]),
];

/// What is NULL here as it is in MySQL 8, though MariaDB shows something: TIMED of memory.
const NULLABLE: &[(&str, &str)] = &[("setup_instruments", "TIMED")];

/// MySQL 8 has microseconds, which MariaDB has not.
const MOMENTS: &[(&str, &str)] = &[("timestamp", "timestamp(6)")];

/// The type as MySQL 8 writes it: without display widths.
fn without_width(sql_type: &str) -> String {
    if let Some((_, text)) = MOMENTS.iter().find(|(theirs, _)| *theirs == sql_type) {
        return (*text).into();
    }
    ["bigint(20)", "int(10)", "int(11)"]
        .iter()
        .fold(sql_type.into(), |text: String, width| text.replace(width, width.split('(').next().unwrap_or(width)))
}

#[test]
fn columns_are_those_of_a_live_server() {
    type Described<'a> = (&'a str, String, bool, Option<&'a str>);
    let mut live: BTreeMap<&str, Vec<Described<'_>>> = BTreeMap::new();
    for line in LIVE.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [table, ordinal, column, sql_type, nullable, default] = cells[..] else { panic!("{line}") };
        let columns = live.entry(table).or_default();
        let nullable = nullable == "YES" || NULLABLE.contains(&(table, column));
        // A moment has none in MySQL 8.
        let default = default.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).filter(|_| sql_type != "timestamp");
        columns.push((column, without_width(sql_type), nullable, default));
        assert_eq!(ordinal, columns.len().to_string());
    }
    for table in tables::ALL {
        let declaration = table.declaration();
        let beyond = BEYOND.iter().find(|(name, _)| *name == declaration.name).map_or(&[][..], |(_, beyond)| beyond);
        let own = declaration.columns.iter().filter(|column| !beyond.contains(&column.name));
        let described = own.map(|column| (column, describe(column)));
        let ours: Vec<Described<'_>> =
            described.map(|(column, (name, sql_type, nullable))| (name, sql_type, nullable, column.default)).collect();
        match live.remove(declaration.name) {
            Some(theirs) => {
                assert_eq!(ours, theirs, "{}", declaration.name);
                // What is beyond stands behind, where it disturbs nobody who counts columns.
                assert!(declaration.columns[theirs.len()..].iter().all(|column| beyond.contains(&column.name)));
                assert_eq!(declaration.columns.len(), theirs.len() + beyond.len());
            }
            None => assert_eq!(beyond, ["the whole table"], "{}", declaration.name),
        }
    }
    assert_eq!(live.into_keys().collect::<Vec<_>>(), [""; 0], "in the fixture, but not here");
}

fn describe(column: &Column) -> (&str, String, bool) {
    (column.name, column.sql_type.to_string(), column.nullable)
}

#[test]
fn the_histogram_has_mysqls_columns() {
    let columns: Vec<_> =
        tables::find("events_waits_histogram_by_event_name").unwrap().declaration().columns.iter().map(describe).collect();
    // events_statements_histogram_global of MySQL 8.4, behind EVENT_NAME.
    let bigint = |name| (name, "bigint unsigned".to_string(), false);
    assert_eq!(columns[0], ("EVENT_NAME", "varchar(128)".into(), false));
    assert_eq!(columns[1], ("BUCKET_NUMBER", "int unsigned".into(), false));
    for (column, name) in
        columns[2..6].iter().zip(["BUCKET_TIMER_LOW", "BUCKET_TIMER_HIGH", "COUNT_BUCKET", "COUNT_BUCKET_AND_LOWER"])
    {
        assert_eq!(*column, bigint(name));
    }
    assert_eq!(columns[6], ("BUCKET_QUANTILE", "double".into(), false));
    assert_eq!(columns.len(), 7);
}

/// As MySQL 8.4 declares it.
#[test]
fn the_processlist_has_mysqls_columns() {
    let columns: Vec<_> = tables::find("processlist").unwrap().declaration().columns.iter().map(describe).collect();
    let mysqls = [
        ("ID", "bigint unsigned"),
        ("USER", "varchar(32)"),
        ("HOST", "varchar(261)"),
        ("DB", "varchar(64)"),
        ("COMMAND", "varchar(16)"),
        ("TIME", "bigint"),
        ("STATE", "varchar(64)"),
        ("INFO", "longtext"),
        ("EXECUTION_ENGINE", "enum('PRIMARY','SECONDARY')"),
    ];
    assert_eq!(columns, mysqls.map(|(name, sql_type)| (name, sql_type.into(), name != "ID")));
}

#[test]
fn every_table_is_listed_once_in_order_and_documented() {
    assert!(format!("{:?}", tables::ALL).starts_with("[cond_instances, events_stages_current, "));
    let names: Vec<&str> = tables::ALL.iter().map(|table| table.declaration().name).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    for table in tables::ALL {
        let declaration = table.declaration();
        assert!(
            !declaration.doc.is_empty() && declaration.columns.iter().all(|column| column.doc.ends_with('.')),
            "{}",
            declaration.name
        );
        for column in declaration.columns {
            assert_eq!(declaration.column(&column.name.to_lowercase()).map(|at| declaration.columns[at].name), Ok(column.name));
            if let SqlType::Enum(names) = column.sql_type {
                assert!(!names.is_empty());
            }
        }
        for column in declaration.rights.update {
            assert!(declaration.column(column).is_ok());
        }
        for column in declaration.primary_key {
            assert!(
                declaration.column(column).is_ok_and(|at| !declaration.columns[at].nullable),
                "{} {column}",
                declaration.name
            );
        }
        // Who changes a row finds it again.
        assert!(declaration.rights.update.is_empty() || !declaration.primary_key.is_empty() || table.schema() != SCHEMA);
    }
}

#[test]
fn a_cell_beyond_the_last_column_is_null() {
    let world = World::on(&CONFIG);
    world.class(common::MUTEX);
    let actor = world.actor("a");
    for table in tables::ALL {
        let columns = table.declaration().columns.len() + table.invisible().len();
        table.scan(world.region, &mut |row| {
            assert_eq!(row.cell(columns), Value::Null);
            assert_eq!(row.cell(usize::MAX), Value::Null);
        });
    }
    actor.detach();
}

/// So that a program keeps them, and finds what has changed.
#[test]
fn rows_compare_and_ids_are_keys() {
    let world = World::on(&CONFIG);
    let mut consumers = Vec::new();
    for _ in 0..2 {
        world.region.scan(&tables::SetupConsumers, |row| consumers.push(row.clone()));
    }
    let (first, second) = consumers.split_at(consumers.len() / 2);
    assert_eq!(first, second);
    assert_ne!(first[0], first[1]);
    assert_eq!(AsRef::<str>::as_ref(&Text::<8>::from("LOCK")), "LOCK");
    let ids = [InstanceId::NONE, InstanceId::NONE].into_iter().collect::<std::collections::HashSet<_>>();
    assert_eq!(ids.len(), 1);
}

#[test]
fn columns_know_what_they_hold() {
    let column = |sql_type, nullable| Column { name: "X", sql_type, nullable, default: None, is_binary: false, doc: "" };
    let yes_no = SqlType::Enum(&["YES", "NO"]);
    for (sql_type, good, bad) in [
        (SqlType::BigintUnsigned, Value::Unsigned(u64::MAX), Value::Signed(1)),
        (SqlType::Bigint, Value::Signed(-1), Value::Unsigned(1)),
        (SqlType::IntUnsigned, Value::Unsigned(u32::MAX.into()), Value::Unsigned(1 << 32)),
        (SqlType::Int, Value::Signed(i32::MIN.into()), Value::Signed(1 << 31)),
        (SqlType::Double, Value::Double(0.5), Value::Double(f64::NAN)),
        (SqlType::Varchar(2), Value::Text("éé"), Value::Text("abc")),
        (SqlType::Char(2), Value::Text("ab"), Value::Unsigned(1)),
        (SqlType::Longtext, Value::Text("anything"), Value::Double(1.0)),
        (SqlType::Json, Value::Text("[1]"), Value::Unsigned(1)),
        (yes_no, Value::Text("NO"), Value::Text("no")),
        (SqlType::Bigint, Value::Signed(1), Value::Text("1")),
        (SqlType::Date, Value::Text("2026-11-24"), Value::Text("2026-11-24 12:30:00")),
        (SqlType::Time(0), Value::Text("-838:59:59"), Value::Text("12:30")),
        (SqlType::Datetime(0), Value::Text("2026-11-24 12:30:00"), Value::Text("2026-11-24 12:30:00.000000")),
        (SqlType::Timestamp(6), Value::Text("2026-11-24 12:30:00.000000"), Value::Text("2026-11-24 12:30:00 000000")),
        (SqlType::Timestamp(3), Value::Text("0000-00-00 00:00:00.000"), Value::Text("2026-11-24 12:30:00.0x0")),
    ] {
        assert!(column(sql_type, false).holds(&good) && !column(sql_type, false).holds(&bad), "{sql_type}");
        assert!(column(sql_type, true).holds(&Value::Null) && !column(sql_type, false).holds(&Value::Null));
    }
}

#[test]
fn types_are_declared_with_their_digits() {
    for (sql_type, expected, digits) in [
        (SqlType::Date, "date", Some(0)),
        (SqlType::Time(0), "time", Some(0)),
        (SqlType::Time(3), "time(3)", Some(3)),
        (SqlType::Datetime(0), "datetime", Some(0)),
        (SqlType::Timestamp(6), "timestamp(6)", Some(6)),
        (SqlType::Varchar(6), "varchar(6)", None),
        (SqlType::Json, "json", None),
    ] {
        let found = (sql_type.to_string(), sql_type.fraction_digits(), sql_type.is_moment());
        assert_eq!(found, (expected.to_owned(), digits, digits.is_some()));
    }
}

/// A reader that has nothing but the words sees what the program itself sees.
#[test]
fn an_opened_region_shows_the_same_rows() {
    let world = World::on(&CONFIG);
    let (class, actor) = (world.class(common::MUTEX), world.actor("a"));
    let id = world.region.create_instance(class, 1);
    for ns in 0..9 {
        world.wait_for(&actor, class, ns, id);
    }
    let _running = world.begin(&actor, class);
    let bytes = common::bytes_of(world.region.words());
    for swapped in [false, true] {
        let bytes: Vec<u8> =
            if swapped { bytes.chunks(8).flat_map(|word| word.iter().rev()).copied().collect() } else { bytes.clone() };
        let words = common::words(bytes.len() / 8);
        perfschema_core::copy_from_bytes(&bytes, &words).unwrap();
        let copy = perfschema_core::Region::open(&words).unwrap();
        assert_eq!((copy.pid(), copy.program().as_str(), copy.config()), (7, "test", CONFIG));
        for table in tables::ALL.iter().map(|table| table.declaration().name).filter(|name| *name != "performance_timers") {
            assert_eq!(common::select(&copy, table, "*"), world.select(table, "*"), "{table}, other byte order: {swapped}");
        }
        let timers = common::select(&copy, "performance_timers", "*");
        assert!(timers.contains(&"CYCLE 2500000000 NULL NULL".into()), "{timers:?}");
    }
    world.expect("performance_timers", "TIMER_NAME", &["CYCLE", "MICROSECOND", "MILLISECOND", "NANOSECOND", "TICK"]);
    let measured = world.select("performance_timers", "TIMER_RESOLUTION,TIMER_OVERHEAD");
    assert!(measured.iter().all(|row| !row.contains("NULL")), "{measured:?}");
}

/// What whoever records says of itself and its timers, a reader finds in the words.
#[test]
fn a_region_tells_who_made_it() {
    static MEMORY: StaticRegion<{ CONFIG.words() }> = StaticRegion::new();
    let timers = MockClock::new().timers();
    let identity = Identity { pid: 7, program: "test", start_unix_ns: 5, start_monotonic_ns: 6 };
    Region::create(MEMORY.words(), &CONFIG, &identity, &timers).unwrap();
    let region = Region::open(MEMORY.words()).unwrap();
    assert_eq!((region.pid(), region.program().as_str()), (7, "test"));
    assert_eq!((region.start_unix_ns(), region.start_monotonic_ns()), (5, 6));
    assert_eq!((region.config(), region.size_bytes()), (CONFIG, CONFIG.size_bytes()));
    for timer in TimerName::ALL {
        let (there, here) = (region.timer(timer), Timer::from(timers.get(timer)));
        assert_eq!((there.frequency_hz, there.epoch_ticks), (here.frequency_hz, here.epoch_ticks));
        assert_eq!(there.conversion.multiplier(), here.conversion.multiplier());
    }
}

/// Padded, quoted and compared as the `str` would be.
#[test]
fn names_and_texts_are_shown_as_they_are() {
    let name = InstrumentName::try_from("wait/synch/mutex/t/A").unwrap();
    assert_eq!(format!("{name:>22}|{name:?}"), "  wait/synch/mutex/t/A|\"wait/synch/mutex/t/A\"");
    assert_eq!(name.as_ref(), "wait/synch/mutex/t/A");
    assert!(InstrumentName::try_from("A").is_err());
    let text: Text<8> = "LOCK_open_table".into();
    assert_eq!(format!("{text:>10}|{text:?}"), "  LOCK_ope|\"LOCK_ope\"");
    assert!(text == *"LOCK_ope" && Text::<8>::default() == *"");
}

/// Megabytes of zeros tell nobody anything.
#[test]
fn debug_says_whose_it_is() {
    let world = World::on(&CONFIG);
    let actor = world.actor("a");
    let text = format!("{:?}", world.region);
    assert!(text.starts_with("Region { program: \"test\", pid: 7, size_bytes: ") && text.len() < 100, "{text}");
    assert_eq!(format!("{actor:?}"), "Actor { thread_id: 1, .. }");
}
