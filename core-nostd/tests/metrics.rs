//! Metrics: `innodb_metrics` as WL#5316 has it, on a clock that the test drives.

mod common;
#[path = "metrics/naive.rs"]
mod naive;

use common::{CONFIG, World};
use perfschema_core::metric::{Metric, MetricInfo, MetricNameError, MetricType, Moment, MonitorCommand, MonitorRefusal};
use perfschema_core::options::{StartOption, parse_option};
use perfschema_core::tables::{InnodbMetrics, InnodbMetricsRow};
use perfschema_core::timer::{Calibration, Source, TimerName, Timers};
use perfschema_core::{Actor, Config, Identity, Lost, Region, RegisterError, Size, Word};
use std::collections::BTreeMap;

const METRICS: Config = CONFIG.with(Size::MaxMetrics, 10);
/// 2011-02-14 19:20:15, when the worklog's transcript begins.
const START: u64 = 1_297_711_215;

fn info(name: &'static str, subsystem: &'static str, metric_type: MetricType) -> MetricInfo<'static> {
    MetricInfo::new(name, subsystem, "A metric", metric_type).unwrap()
}

fn register(world: &World, info: &MetricInfo<'_>) -> Metric {
    world.region.register_metric(info, false, at(0)).unwrap()
}

/// So many seconds after the beginning.
fn at(second: u64) -> Moment {
    Moment::new(START + second, second)
}

/// What a counter that is switched does at each place where it counts.
fn count(actor: &Actor<'_>, metric: Metric, count: u64) {
    if actor.region().metric_is_on(metric) {
        actor.count_metric(metric, count);
    }
}

#[track_caller]
fn monitor(world: &World, command: MonitorCommand, target: &str, second: u64) -> Vec<String> {
    let mut warnings = Vec::new();
    world.region.monitor(command, target, at(second), |refusal| warnings.push(refusal.to_string())).unwrap();
    warnings
}

fn rows(world: &World, second: u64) -> Vec<InnodbMetricsRow> {
    let mut rows = Vec::new();
    world.region.scan(&InnodbMetrics::at(at(second)), |row| rows.push(row.clone()));
    rows.retain(|row| row.subsystem != "perfschema");
    rows
}

/// Names and values of some columns of a row, as the mysql client prints them with `\G`.
#[track_caller]
fn expect(world: &World, second: u64, name: &str, expected: &str) {
    let all = rows(world, second);
    let row = all.iter().find(|row| row.name == name).expect("it is registered");
    let cells: BTreeMap<&str, String> = InnodbMetricsRow::COLUMNS
        .iter()
        .enumerate()
        .map(|(index, column)| (column.name, perfschema_core::table::Row::cell(row, index).to_string()))
        .collect();
    for line in expected.lines().filter(|line| !line.trim().is_empty()) {
        let (column, value) = line.split_once(": ").unwrap();
        assert_eq!(cells[column.trim()], value.trim(), "{} after {second} s", column.trim());
    }
}

use MonitorCommand::{Disable, Enable, Reset, ResetAll};

/// The worklog's columns, in its order, with the server's types and NULLs.
#[test]
fn wl5316_columns() {
    let name = |column| (column, "varchar(193)", false);
    let (bigint, datetime) = ("bigint", "datetime");
    let columns: Vec<(&str, String, bool)> =
        InnodbMetricsRow::COLUMNS.iter().map(|column| (column.name, column.sql_type.to_string(), column.nullable)).collect();
    let expected = [
        name("NAME"),
        name("SUBSYSTEM"),
        ("COUNT", bigint, false),
        ("MAX_COUNT", bigint, true),
        ("MIN_COUNT", bigint, true),
        ("AVG_COUNT", "double", true),
        ("COUNT_RESET", bigint, false),
        ("MAX_COUNT_RESET", bigint, true),
        ("MIN_COUNT_RESET", bigint, true),
        ("AVG_COUNT_RESET", "double", true),
        ("TIME_ENABLED", datetime, true),
        ("TIME_DISABLED", datetime, true),
        ("TIME_ELAPSED", bigint, true),
        ("TIME_RESET", datetime, true),
        name("STATUS"),
        name("TYPE"),
        name("COMMENT"),
    ];
    assert_eq!(columns, expected.map(|(name, sql_type, nullable)| (name, sql_type.to_owned(), nullable)));
    let table = perfschema_core::tables::find("INNODB_METRICS").unwrap();
    assert_eq!((table.schema(), table.declaration().name), ("information_schema", "innodb_metrics"));
}

/// Of a program that has ended, or ran on another machine, nobody knows how long it has counted: this machine's clock says nothing of it.
#[test]
fn the_time_of_what_is_enabled_is_null_where_nobody_knows_the_present() {
    let world = World::off(&METRICS);
    for name in ["on", "off"] {
        let info = MetricInfo::new(name, "app", "", MetricType::Counter).unwrap();
        let metric = world.region.register_metric(&info, true, Moment::of_seconds(10)).unwrap();
        world.actor("a").count_metric(metric, 60);
    }
    world.region.monitor(Disable, "off", Moment::of_seconds(40), |_| ()).unwrap();
    let figures = |region: &perfschema_core::Region<'_>| {
        let mut figures = Vec::new();
        region.scan(&InnodbMetrics::NOW, |row| {
            if row.subsystem.as_str() == "app" {
                figures.push((row.count, row.time_elapsed, row.avg_count));
            }
        });
        figures
    };
    let opened = perfschema_core::Region::open(world.region.words()).unwrap();
    assert_eq!(figures(&opened), [(60, None, None), (60, Some(30), Some(2.0))]);
    let later = opened.as_of(perfschema_core::Now::At(30_999_999_999));
    assert_eq!(figures(&later), [(60, Some(20), Some(3.0)), (60, Some(30), Some(2.0))]);
}

/// Nor without a clock, whose reading is always 0.
#[test]
fn the_time_of_what_is_enabled_is_null_where_there_is_no_clock() {
    let known = Timers::calibrate();
    let without = |timer| Calibration { source: Source::None, frequency_hz: 0, ..*known.get(timer) };
    let words: Vec<Word> = (0..METRICS.words()).map(|_| Word::new(0)).collect();
    let region = Region::create(&words, &METRICS, &Identity::default(), &Timers::new(TimerName::ALL.map(without))).unwrap();
    let info = info("on", "app", MetricType::Counter);
    region.register_metric(&info, true, Moment::of_seconds(0)).unwrap();
    let mut rows = 0;
    region.scan(&InnodbMetrics::NOW, |row| {
        if row.subsystem == "app" {
            rows += 1;
            assert_eq!((row.time_elapsed, row.avg_count), (None, None));
        }
    });
    assert_eq!((rows, region.now()), (1, perfschema_core::Now::Clock));
}

/// The worklog's transcript, with a status counter as there.
#[test]
fn wl5316_a_status_counter_is_started_reset_and_stopped() {
    let world = World::off(&METRICS);
    let inserts = MetricInfo::new("dml_inserts", "dml", "Number of rows inserted", MetricType::StatusCounter).unwrap();
    let inserts = register(&world, &inserts);
    let actor = world.actor("a");
    // The program keeps it in any case.
    actor.count_metric(inserts, 1000);
    let never = "COUNT: 0
        MAX_COUNT: NULL
        MIN_COUNT: NULL
        AVG_COUNT: NULL
        COUNT_RESET: 0
        MAX_COUNT_RESET: NULL
        MIN_COUNT_RESET: NULL
        AVG_COUNT_RESET: NULL
        TIME_ENABLED: NULL
        TIME_DISABLED: NULL
        TIME_ELAPSED: NULL
        TIME_RESET: NULL
        STATUS: disabled
        TYPE: status_counter
        COMMENT: Number of rows inserted";
    expect(&world, 0, "dml_inserts", never);
    assert!(monitor(&world, Enable, "dml_inserts", 0).is_empty());
    expect(
        &world,
        27,
        "dml_inserts",
        "NAME: dml_inserts
        SUBSYSTEM: dml
        COUNT: 0
        MAX_COUNT: 0
        MIN_COUNT: NULL
        AVG_COUNT: 0
        COUNT_RESET: 0
        MAX_COUNT_RESET: 0
        MIN_COUNT_RESET: NULL
        AVG_COUNT_RESET: NULL
        TIME_ENABLED: 2011-02-14 19:20:15
        TIME_DISABLED: NULL
        TIME_ELAPSED: 27
        TIME_RESET: NULL
        STATUS: enabled
        TYPE: status_counter
        COMMENT: Number of rows inserted",
    );
    (0..3).for_each(|_| actor.count_metric(inserts, 1));
    expect(
        &world,
        99,
        "dml_inserts",
        "COUNT: 3
        MAX_COUNT: 3
        MIN_COUNT: NULL
        AVG_COUNT: 0.030303030303030304
        COUNT_RESET: 3
        MAX_COUNT_RESET: 3
        MIN_COUNT_RESET: NULL
        AVG_COUNT_RESET: NULL
        TIME_ENABLED: 2011-02-14 19:20:15
        TIME_DISABLED: NULL
        TIME_ELAPSED: 99
        TIME_RESET: NULL
        STATUS: enabled",
    );
    assert!(monitor(&world, Reset, "module_dml", 100).is_empty());
    let reset = "COUNT: 3
        MAX_COUNT: 3
        COUNT_RESET: 0
        MAX_COUNT_RESET: 0
        TIME_ENABLED: 2011-02-14 19:20:15
        TIME_DISABLED: NULL
        TIME_RESET: 2011-02-14 19:21:55
        STATUS: enabled";
    expect(&world, 100, "dml_inserts", reset);
    assert_eq!(
        monitor(&world, ResetAll, "module_dml", 101),
        ["Cannot reset all values for monitor counter dml_inserts while it is on. Please turn it off and retry."]
    );
    expect(&world, 101, "dml_inserts", reset);
    assert!(monitor(&world, Disable, "module_dml", 102).is_empty());
    expect(
        &world,
        200,
        "dml_inserts",
        "COUNT: 3
        TIME_DISABLED: 2011-02-14 19:21:57
        TIME_ELAPSED: 102
        TIME_RESET: NULL
        STATUS: disabled",
    );
    assert!(monitor(&world, ResetAll, "module_dml", 103).is_empty());
    expect(&world, 104, "dml_inserts", never);
    // "While the monitor is in the "disabled" state, its counting activity would completely stop."
    (0..2).for_each(|_| actor.count_metric(inserts, 1));
    expect(&world, 105, "dml_inserts", never);
    monitor(&world, Enable, "dml_inserts", 296);
    (0..2).for_each(|_| actor.count_metric(inserts, 1));
    expect(
        &world,
        315,
        "dml_inserts",
        "COUNT: 2
        MAX_COUNT: 2
        AVG_COUNT: 0.10526315789473684
        COUNT_RESET: 2
        MAX_COUNT_RESET: 2
        AVG_COUNT_RESET: NULL
        TIME_ENABLED: 2011-02-14 19:25:11
        TIME_ELAPSED: 19
        TIME_RESET: NULL
        STATUS: enabled",
    );
}

/// What a running server showed: 5 commits, reset after 5 s, 2 more, stopped after 10 s, 3 while off, reset while off, started again.
#[test]
fn a_counter_shows_what_a_server_shows() {
    let world = World::off(&METRICS);
    let commits = register(&world, &info("trx_commits", "transaction", MetricType::Counter));
    let actor = world.actor("a");
    let numbers = |second, expected: [&str; 11]| {
        let columns = [
            "COUNT",
            "MAX_COUNT",
            "AVG_COUNT",
            "COUNT_RESET",
            "MAX_COUNT_RESET",
            "AVG_COUNT_RESET",
            "TIME_ELAPSED",
            "STATUS",
            "MIN_COUNT",
            "MIN_COUNT_RESET",
            "TYPE",
        ];
        let lines: Vec<String> = columns.iter().zip(expected).map(|(column, value)| format!("{column}: {value}")).collect();
        expect(&world, second, "trx_commits", &lines.join("\n"));
    };
    monitor(&world, Enable, "trx_commits", 0);
    numbers(0, ["0", "NULL", "NULL", "0", "NULL", "NULL", "0", "enabled", "NULL", "NULL", "counter"]);
    count(&actor, commits, 5);
    numbers(5, ["5", "5", "1", "5", "5", "NULL", "5", "enabled", "NULL", "NULL", "counter"]);
    monitor(&world, Reset, "trx_commits", 5);
    numbers(5, ["5", "5", "1", "0", "NULL", "NULL", "5", "enabled", "NULL", "NULL", "counter"]);
    count(&actor, commits, 2);
    numbers(10, ["7", "7", "0.7", "2", "2", "0.4", "10", "enabled", "NULL", "NULL", "counter"]);
    assert_eq!(monitor(&world, ResetAll, "trx_commits", 10).len(), 1);
    assert_eq!(monitor(&world, Enable, "trx_commits", 10), ["Monitor trx_commits already turned on."]);
    numbers(10, ["7", "7", "0.7", "2", "2", "0.4", "10", "enabled", "NULL", "NULL", "counter"]);
    monitor(&world, Disable, "trx_commits", 10);
    count(&actor, commits, 3);
    numbers(13, ["7", "7", "0.7", "2", "2", "0.4", "10", "disabled", "NULL", "NULL", "counter"]);
    monitor(&world, Reset, "trx_commits", 14);
    numbers(14, ["7", "7", "0.7", "0", "NULL", "NULL", "10", "disabled", "NULL", "NULL", "counter"]);
    monitor(&world, Enable, "trx_commits", 15);
    numbers(15, ["7", "7", "NULL", "0", "NULL", "0", "0", "enabled", "NULL", "NULL", "counter"]);
    count(&actor, commits, 4);
    numbers(18, ["11", "11", "3.6666666666666665", "4", "4", "1", "3", "enabled", "NULL", "NULL", "counter"]);
    monitor(&world, Disable, "trx_commits", 19);
    // Off already: nothing is different, and nobody is warned.
    assert!(monitor(&world, Disable, "trx_commits", 25).is_empty());
    numbers(30, ["11", "11", "2.75", "4", "4", "0.8", "4", "disabled", "NULL", "NULL", "counter"]);
    monitor(&world, ResetAll, "trx_commits", 31);
    numbers(31, ["0", "NULL", "NULL", "0", "NULL", "NULL", "NULL", "disabled", "NULL", "NULL", "counter"]);
}

/// The worklog's resource: what it is, and between what it was. AVG_COUNT is none.
#[test]
fn a_value_is_what_it_is_between_its_extremes() {
    let world = World::off(&METRICS);
    let pages = register(&world, &info("buffer_pool_pages", "buffer", MetricType::Value).kept());
    let region = world.region;
    let check = |second, expected: &str| {
        let found = &rows(&world, second)[0];
        let numbers = [
            Some(found.count),
            found.max_count,
            found.min_count,
            Some(found.count_reset),
            found.max_count_reset,
            found.min_count_reset,
        ];
        let numbers = numbers.map(|number| number.map_or("-".into(), |number| number.to_string()));
        assert_eq!(numbers.join(" "), expected);
        assert_eq!((found.avg_count, found.avg_count_reset, found.metric_type), (None, None, "value"));
    };
    check(0, "0 - - 0 - -");
    region.set_metric_value(pages, 512);
    check(0, "0 - - 0 - -");
    monitor(&world, Enable, "buffer_pool_pages", 1);
    check(1, "512 512 512 512 512 512");
    region.change_metric_value(pages, -500);
    region.change_metric_value(pages, 59);
    check(2, "71 512 12 71 512 12");
    monitor(&world, Reset, "module_buffer", 3);
    check(3, "71 512 12 71 71 71");
    region.change_metric_value(pages, -22);
    check(3, "49 512 12 49 71 49");
    monitor(&world, Disable, "all", 4);
    region.set_metric_value(pages, 9999);
    check(5, "49 512 12 49 71 49");
    monitor(&world, Reset, "all", 6);
    check(6, "49 512 12 0 - -");
    region.set_metric_value(pages, -7);
    monitor(&world, Enable, "all", 7);
    check(7, "-7 512 -7 -7 -7 -7");
    monitor(&world, Disable, "all", 8);
    check(8, "-7 512 -7 -7 -7 -7");
    monitor(&world, ResetAll, "all", 9);
    check(9, "0 - - 0 - -");
    monitor(&world, Enable, "all", 10);
    check(10, "-7 -7 -7 -7 -7 -7");
}

/// One that counts only while it is on begins at nothing when everything was reset.
#[test]
fn a_value_that_nobody_keeps_begins_anew() {
    let world = World::off(&METRICS);
    let locks = register(&world, &info("lock_table_locks", "lock", MetricType::Value));
    monitor(&world, Enable, "lock%", 1);
    world.region.change_metric_value(locks, 5);
    monitor(&world, Disable, "lock%", 2);
    monitor(&world, Enable, "lock%", 3);
    assert_eq!(world.region.metric_count(locks), 5);
    monitor(&world, Disable, "lock%", 4);
    monitor(&world, ResetAll, "lock%", 5);
    monitor(&world, Enable, "lock%", 6);
    assert_eq!(world.region.metric_count(locks), 0);
}

#[test]
fn extremes_reach_as_far_as_numbers_do() {
    let world = World::off(&METRICS);
    let value = register(&world, &info("value", "t", MetricType::Value));
    monitor(&world, Enable, "value", 1);
    for extreme in [i64::MAX - 1, i64::MIN + 1, 0] {
        world.region.set_metric_value(value, extreme);
    }
    expect(&world, 1, "value", &format!("MAX_COUNT: {}\nMIN_COUNT: {}\nCOUNT: 0", i64::MAX - 1, i64::MIN + 1));
}

/// MONITOR_INC_VALUE_CUMULATIVE: one call counts 1 in the member and more in the owner, whose average is by call.
#[test]
fn an_owner_is_counted_by_its_members_calls() {
    let world = World::off(&METRICS);
    let owner = register(&world, &info("buffer_flush_batch_total_pages", "buffer", MetricType::SetOwner));
    let member = register(&world, &info("buffer_flush_batches", "buffer", MetricType::SetMember));
    world.region.join_metrics(owner, member);
    let actor = world.actor("a");
    let flush = |pages| {
        count(&actor, owner, pages);
        count(&actor, member, 1);
    };
    let averages = |second| {
        let rows = rows(&world, second);
        rows.iter().map(|row| (row.count, row.avg_count, row.count_reset, row.avg_count_reset)).collect::<Vec<_>>()
    };
    monitor(&world, Enable, "module_buffer", 0);
    assert_eq!(averages(3), [(0, None, 0, None), (0, Some(0.0), 0, None)]);
    flush(7);
    flush(1);
    assert_eq!(averages(5), [(8, Some(4.0), 8, Some(4.0)), (2, Some(0.4), 2, None)]);
    monitor(&world, Reset, "module_buffer", 5);
    assert_eq!(averages(7), [(8, Some(4.0), 0, None), (2, Some(2.0 / 7.0), 0, Some(0.0))]);
    flush(10);
    assert_eq!(averages(10), [(18, Some(6.0), 10, Some(10.0)), (3, Some(0.3), 1, Some(0.2))]);
    let types: Vec<&str> = rows(&world, 10).iter().map(|row| row.metric_type).collect();
    assert_eq!(types, ["set_owner", "set_member"]);
}

/// "If a monitor is already turned on … the operation will fail, unless user uses a wildcard match."
#[test]
fn wl5316_what_is_on_is_left_alone() {
    let world = World::off(&METRICS);
    for name in ["dml_num_reads", "dml_num_inserts", "dml_num_deletes", "dml_updates", "lock_deadlocks"] {
        let subsystem = name.split('_').next().unwrap();
        register(&world, &info(name, subsystem, MetricType::StatusCounter));
    }
    // Of a module whose name is in none of theirs.
    register(&world, &info("scrubs", "pages", MetricType::StatusCounter));
    let on = || rows(&world, 50).iter().filter(|row| row.status == "enabled").map(|row| row.name).collect::<Vec<_>>();
    monitor(&world, Enable, "dml_num_inserts", 1);
    assert_eq!(monitor(&world, Enable, "MODULE_DML", 2), ["Monitor dml_num_inserts already turned on."]);
    assert_eq!(on(), ["dml_num_reads", "dml_num_inserts", "dml_num_deletes", "dml_updates"]);
    expect(&world, 5, "dml_num_inserts", "TIME_ENABLED: 2011-02-14 19:20:16");
    expect(&world, 5, "dml_updates", "TIME_ENABLED: 2011-02-14 19:20:17");
    assert!(monitor(&world, Enable, "dml%", 3).is_empty());
    expect(&world, 5, "dml_updates", "TIME_ENABLED: 2011-02-14 19:20:17");
    monitor(&world, Disable, "module_dml", 4);
    assert_eq!(on(), [""; 0]);
    assert!(monitor(&world, Enable, "module_dml", 5).is_empty());
    assert_eq!(on().len(), 4);
    monitor(&world, Disable, "%", 6);
    assert_eq!(on(), [""; 0]);
    // The same text as a name, a module, a pattern.
    let unknown = |target: &str| {
        let result = world.region.monitor(Enable, target, at(7), |_: MonitorRefusal| ());
        assert!(result.is_err(), "{target}");
        assert!(on().is_empty());
    };
    for target in [
        "",
        " ",
        "dml",
        "module_",
        "module_d",
        "module_dm%",
        "dml_num_inserts ",
        "dml_num_insert_",
        "_ock_deadlocks",
        "all;",
        "dml_updates;dml_num_reads",
        "%zzz%",
        "pages%",
        "module_dml,module_lock",
        "modul\u{e9}_dml",
    ] {
        unknown(target);
    }
    for (target, count) in
        [("dml_num_%", 3), ("D_L%", 4), ("%_d%", 4), ("%%", 6), (r"dml\_u%", 1), ("aLL", 6), ("lock_DEADLOCKS", 1)]
    {
        monitor(&world, Disable, "all", 8);
        monitor(&world, Enable, target, 9);
        assert_eq!(on().len(), count, "{target}");
    }
}

/// `loose-innodb_monitor_enable="metadata_table_opened;lock%"`, as the worklog has it in the server's configuration.
#[test]
fn wl5316_options() {
    for (text, command, targets) in [
        ("loose-innodb_monitor_enable=\"metadata_table_opened;lock%\"", Enable, "metadata_table_opened;lock%"),
        ("--innodb-monitor-enable=all", Enable, "all"),
        ("INNODB_MONITOR_DISABLE = 'a b,c'", Disable, "a b,c"),
    ] {
        assert_eq!(parse_option(text), Ok(StartOption::Monitor { command, targets }), "{text}");
    }
    for text in ["innodb_monitor_enable", "innodb_monitor_enable=", "innodb_monitor_reset=all", "loose-performance-schema=ON"] {
        assert!(parse_option(text).is_err(), "{text}");
    }
}

#[test]
fn variables_show_what_was_given_last() {
    let world = World::off(&METRICS);
    register(&world, &info("dml_reads", "dml", MetricType::Counter));
    let last = |command| world.region.last_monitor(command).map(|text| text.to_string());
    assert_eq!(MonitorCommand::ALL.map(last), [None, None, None, None]);
    for (target, shown) in [("DML_reads", "dml_reads"), ("Module_DML", "module_dml"), ("ALL", "all"), ("dml%", "all")] {
        monitor(&world, Reset, target, 1);
        assert_eq!(last(Reset).as_deref(), Some(shown), "{target}");
    }
    world.region.monitor(Reset, "nobody", at(1), |_| ()).unwrap_err();
    assert_eq!(last(Reset).as_deref(), Some("all"));
    assert_eq!(last(Enable), None);
    let rows = world.select("global_variables", "*");
    assert!(rows.contains(&"innodb_monitor_reset all".into()) && rows.contains(&"innodb_monitor_enable NULL".into()), "{rows:?}");
}

/// The region's own: what was lost, though it is listed once.
#[test]
fn what_was_lost_is_a_module() {
    let world = World::off(&METRICS.with(Size::MaxMetrics, 0));
    let own = |second| {
        let mut rows = Vec::new();
        world.region.scan(&InnodbMetrics::at(at(second)), |row| rows.push(row.clone()));
        rows
    };
    assert_eq!(own(0).len(), Lost::ALL.len());
    let lose = || world.region.register_metric(&info("m", "t", MetricType::Counter), true, at(0));
    assert_eq!(lose(), Err(RegisterError::Full { size: Size::MaxMetrics }));
    monitor(&world, Enable, "module_perfschema", 1);
    let _ = (lose(), lose());
    let row = own(11).into_iter().find(|row| row.name == "performance_schema_metrics_lost").expect("it is one of them");
    assert_eq!((row.count, row.avg_count, row.metric_type), (2, Some(0.2), "status_counter"));
    assert_eq!((row.subsystem.as_str(), row.comment.as_str()), ("perfschema", "Metrics that could not be registered"));
    // Set back by somebody else: what was counted stays.
    world.region.flush_status();
    let count = || own(12).into_iter().map(|row| row.count).sum::<i64>();
    assert_eq!((world.region.lost(Lost::Metrics), count()), (0, 2));
    let _ = lose();
    assert_eq!(count(), 3);
    monitor(&world, Disable, "performance_schema%", 13);
    world.region.flush_status();
    let _ = lose();
    assert_eq!(count(), 3);
    for row in own(14) {
        assert!(row.name.as_str().ends_with("_lost") && !row.comment.as_str().is_empty(), "{row:?}");
        assert!(!row.comment.as_str().ends_with('.') && row.comment.as_str().len() < 160, "{row:?}");
    }
}

#[test]
fn a_full_pool_is_counted_and_a_name_is_one_metric() {
    let world = World::off(&METRICS.with(Size::MaxMetrics, 2));
    let region = world.region;
    let [a, b] = ["a", "b"].map(|name| register(&world, &info(name, "t", MetricType::Counter)));
    assert_ne!(a, b);
    assert_eq!(register(&world, &info("a", "other", MetricType::Counter)), a);
    // What counts otherwise is another one, of which there is none of this name.
    let other = region.register_metric(&info("a", "other", MetricType::Value), true, at(0));
    assert_eq!((other, region.lost(Lost::Metrics)), (Err(RegisterError::OtherType), 1));
    assert_eq!((rows(&world, 0)[0].subsystem.as_str(), rows(&world, 0)[0].metric_type), ("t", "counter"));
    let full = region.register_metric(&info("c", "t", MetricType::Counter), true, at(0));
    assert_eq!(full, Err(RegisterError::Full { size: Size::MaxMetrics }));
    assert_eq!(region.lost(Lost::Metrics), 2);
    assert_eq!((region.find_metric("B"), region.find_metric("c")), (Some(b), None));
    // One that is on from the start; and again, after somebody has switched it off.
    let world = World::off(&METRICS);
    let on = world.region.register_metric(&info("on", "t", MetricType::Counter), true, at(3)).unwrap();
    expect(&world, 5, "on", "STATUS: enabled\nTIME_ENABLED: 2011-02-14 19:20:18\nTIME_ELAPSED: 2");
    monitor(&world, Disable, "on", 6);
    assert_eq!(world.region.register_metric(&info("on", "t", MetricType::Counter), true, at(7)), Ok(on));
    expect(&world, 8, "on", "STATUS: disabled");
}

#[test]
fn names_that_commands_would_mistake_are_refused() {
    let new = |name, subsystem| MetricInfo::new(name, subsystem, "", MetricType::Counter).map(|_| ());
    let long = "n".repeat(65);
    for (name, subsystem) in
        [("", "a"), ("a", ""), ("a%", "a"), ("a", "b c"), ("a;b", "a"), ("\u{e9}", "a"), (&long, "a"), ("a", &long)]
    {
        assert_eq!(new(name, subsystem), Err(MetricNameError::Characters), "{name} {subsystem}");
    }
    for name in ["all", "ALL", "module_x", "Module_"] {
        assert_eq!(new(name, "a"), Err(MetricNameError::Reserved), "{name}");
    }
    for name in ["al", "alls", "module", "a", &long[..64]] {
        assert_eq!(new(name, "module_x"), Ok(()), "{name}");
    }
    for error in [MetricNameError::Characters, MetricNameError::Reserved] {
        assert!(error.to_string().starts_with("a metric"));
    }
}

/// Numbers that are no metric: nothing, and no panic.
#[test]
fn a_number_that_is_no_metric_counts_nothing() {
    let world = World::off(&METRICS);
    let actor = world.actor("a");
    let known = register(&world, &info("a", "t", MetricType::Counter));
    monitor(&world, Enable, "all", 0);
    for bits in (0..=u16::MAX).filter(|bits| *bits != known.to_bits()) {
        let metric = Metric::from_bits(bits);
        count(&actor, metric, 1);
        actor.count_metric(metric, 1);
        world.region.count_metric_shared(metric, 1);
        world.region.set_metric_total(metric, 1);
        world.region.change_metric_value(metric, 1);
        world.region.join_metrics(metric, metric);
        let _ = world.region.metric_count(metric);
    }
    assert_eq!(rows(&world, 0).len(), 1);
    assert_eq!(world.region.metric_count(known), 0);
}

/// Threads that come and go past a full pool: each count is there once, wherever it was counted.
#[test]
fn ended_threads_count_once() {
    let world = World::off(&METRICS.with(Size::MaxThreadInstances, 2));
    let metrics: Vec<Metric> = ["a", "b", "c", "d", "e", "f", "g", "h", "i"]
        .into_iter()
        .map(|name| register(&world, &info(name, "t", MetricType::Counter)))
        .collect();
    monitor(&world, Enable, "%", 0);
    let rounds = if cfg!(miri) { 3 } else { 50 };
    let attached = std::sync::Barrier::new(5);
    std::thread::scope(|scope| {
        for thread in 0..5 {
            let (world, metrics, attached) = (&world, &metrics, &attached);
            scope.spawn(move || {
                for _ in 0..rounds {
                    let actor = world.actor("a");
                    attached.wait();
                    for (index, metric) in metrics.iter().enumerate() {
                        for _ in 0..=thread {
                            count(&actor, *metric, index as u64 + 1);
                        }
                    }
                    actor.detach();
                    // In its last destructors.
                    count(&actor, metrics[0], 1);
                }
            });
        }
    });
    let counts: Vec<i64> = metrics.iter().map(|metric| world.region.metric_count(*metric)).collect();
    let expected: Vec<i64> =
        (1..=9).map(|each| rounds * (1 + 2 + 3 + 4 + 5) * each + if each == 1 { 5 * rounds } else { 0 }).collect();
    assert_eq!(counts, expected);
    assert!(world.region.lost(Lost::ThreadInstances) >= 3 * rounds as u64);
}

/// Stopped and started all the while: what is counted is never more than what was done, and all that was done while it was on throughout.
#[test]
fn commands_while_threads_count_lose_nothing_but_what_was_off() {
    let world = World::off(&METRICS);
    let kept = register(&world, &info("kept", "t", MetricType::StatusCounter));
    let [all, some] = ["all_of_it", "some"].map(|name| register(&world, &info(name, "t", MetricType::Counter)));
    monitor(&world, Enable, "all", 0);
    let each: i64 = if cfg!(miri) { 50 } else { 20_000 };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let actor = world.actor("a");
                for _ in 0..each {
                    actor.count_metric(kept, 1);
                    count(&actor, all, 1);
                    count(&actor, some, 1);
                }
                actor.detach();
            });
        }
        scope.spawn(|| {
            for second in 0..each as u64 / 10 {
                for target in ["some", "kept"] {
                    monitor(&world, if second % 2 == 0 { Disable } else { Enable }, target, second);
                    let count = world.region.metric_count(world.region.find_metric(target).unwrap());
                    assert!((0..=2 * each).contains(&count), "{target} {count}");
                }
            }
        });
    });
    assert_eq!(world.region.metric_count(all), 2 * each);
    for metric in [some, kept] {
        assert!((0..=2 * each).contains(&world.region.metric_count(metric)));
    }
}

/// Two places of a program that count under one name, each for the first time, and do not mean the same.
#[test]
fn who_is_first_says_what_a_metric_is() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    const NAMES: usize = if cfg!(miri) { 10 } else { 2000 };
    let world = World::off(&METRICS.with(Size::MaxMetrics, NAMES as u32));
    let come = AtomicUsize::new(0);
    let run = |subsystem, metric_type| {
        let register = |number| {
            let name = format!("metric_{number}");
            let info = MetricInfo::new(&name, subsystem, "A metric", metric_type).unwrap();
            come.fetch_add(1, Ordering::SeqCst);
            while come.load(Ordering::SeqCst) < 2 * (number + 1) {
                std::thread::yield_now();
            }
            world.region.register_metric(&info, false, at(0)).is_ok()
        };
        (0..NAMES).map(register).collect::<Vec<bool>>()
    };
    let (counters, values) = std::thread::scope(|scope| {
        let counters = scope.spawn(|| run("counted", MetricType::Counter));
        let values = run("set", MetricType::Value);
        (counters.join().unwrap(), values)
    });
    assert!(counters.iter().zip(&values).all(|(counter, value)| counter != value));
    let rows = rows(&world, 0);
    assert!(
        rows.iter().all(|row| [("counted", "counter"), ("set", "value")].contains(&(row.subsystem.as_str(), row.metric_type)))
    );
    assert_eq!(rows.len(), NAMES);
}

#[test]
fn a_metric_that_is_not_registered_is_on() {
    let word = Word::new(0);
    assert!(!word.metric_is_on());
    word.set_metric_unregistered();
    assert!(word.metric_is_on());
}
