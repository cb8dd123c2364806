//! `information_schema.innodb_metrics` and the variables that switch it: the statements of WL#5316.

mod common;

use common::{CONFIG, World, check, run};
use perfschema::core::metric::{Metric, MetricInfo, MetricType, Moment, MonitorCommand};
use perfschema::core::timer::{Clock, SystemClock, TimerName};
use perfschema::core::{Actor, Size};
use perfschema::metric::now;
use perfschema_sql::{Account, Database, Outcome, Right, Session};

const NAMES: [(&str, &str); 6] = [
    ("dml_num_reads", "dml"),
    ("dml_num_inserts", "dml"),
    ("dml_num_deletes", "dml"),
    ("dml_updates", "dml"),
    ("metadata_table_opened", "metadata"),
    ("lock_timeouts", "lock"),
];

struct Metrics {
    world: World,
    metrics: Vec<Metric>,
    actor: Actor<'static>,
}

impl Metrics {
    fn new() -> Metrics {
        let world = World::of(&CONFIG.with(Size::MaxMetrics, 8));
        let register = |(name, subsystem)| {
            let kind = if subsystem == "dml" { MetricType::StatusCounter } else { MetricType::Counter };
            let info = MetricInfo::new(name, subsystem, "Number of rows", kind).expect("a name");
            world.region.register_metric(&info, false, now()).expect("there is room")
        };
        let metrics = NAMES.map(register).to_vec();
        let actor = world.actor("thread/test/main");
        Metrics { world, metrics, actor }
    }

    fn session(&self) -> Session {
        self.world.session()
    }

    /// As the program counts it.
    fn count(&self, metric: usize, count: u64) {
        self.actor.count_metric(self.metrics[metric], count);
    }
}

/// Seconds of the clock by which what has passed is counted.
fn monotonic_s() -> u64 {
    SystemClock.ticks(TimerName::Nanosecond) / 1_000_000_000
}

const ENABLED: &str =
    "SELECT name FROM information_schema.innodb_metrics WHERE status = 'enabled' AND subsystem <> 'perfschema' ORDER BY name";

#[track_caller]
fn warnings(session: &mut Session, statement: &str, expected: &[&str]) {
    check(session, statement, "0 changed");
    assert_eq!(session.warning_count(), expected.len(), "{statement}");
    let messages: Vec<String> = session.warnings().iter().map(|warning| format!("{} {}", warning.level, warning.error)).collect();
    assert_eq!(messages, expected, "{statement}");
    let shown = run(session, "SHOW WARNINGS");
    assert_eq!(shown.lines().count(), 1 + expected.len(), "{shown}");
}

/// The transcript of the worklog, line by line; times aside.
#[test]
fn wl5316_dml_inserts() {
    let metrics = Metrics::new();
    let mut session = metrics.session();
    let all = "select COUNT, MAX_COUNT, MIN_COUNT, COUNT_RESET, MAX_COUNT_RESET, MIN_COUNT_RESET, AVG_COUNT_RESET, TIME_DISABLED, \
               TIME_RESET, STATUS, TYPE, COMMENT from information_schema.innodb_metrics where name=\"dml_num_inserts\"";
    let times = "SELECT TIME_ENABLED IS NULL, TIME_ELAPSED IS NULL, AVG_COUNT IS NULL FROM information_schema.innodb_metrics \
                 WHERE name = 'dml_num_inserts'";
    warnings(&mut session, "set global innodb_monitor_enable = dml_num_inserts;", &[]);
    check(&mut session, all, "0,0,,0,0,,,,,enabled,status_counter,Number of rows");
    (0..3).for_each(|_| metrics.count(1, 1));
    check(&mut session, all, "3,3,,3,3,,,,,enabled,status_counter,Number of rows");
    warnings(&mut session, "set global innodb_monitor_reset = module_dml;", &[]);
    check(
        &mut session,
        "select NAME, COUNT, MAX_COUNT, COUNT_RESET, MAX_COUNT_RESET, TIME_DISABLED, STATUS from \
         information_schema.innodb_metrics where name='dml_num_inserts'",
        "dml_num_inserts,3,3,0,0,,enabled",
    );
    warnings(
        &mut session,
        "set global innodb_monitor_reset_all = module_dml;",
        &[
            "Warning ERROR 1105 (HY000): Cannot reset all values for monitor counter dml_num_inserts while it is on. Please turn it \
           off and retry.",
        ],
    );
    warnings(&mut session, "set global innodb_monitor_disable  = module_dml;", &[]);
    warnings(&mut session, "set global innodb_monitor_reset_all = module_dml;", &[]);
    let never = "0,,,0,,,,,,disabled,status_counter,Number of rows";
    check(&mut session, all, never);
    check(&mut session, times, "1,1,1");
    metrics.count(1, 2);
    check(&mut session, all, never);
    warnings(&mut session, "set global innodb_monitor_enable =dml_num_inserts;", &[]);
    metrics.count(1, 2);
    check(&mut session, all, "2,2,,2,2,,,,,enabled,status_counter,Number of rows");
    let shown = run(&mut session, times);
    assert!(shown.ends_with("0,0,1\n") || shown.ends_with("0,0,0\n"), "{shown}");
}

/// Enabled at a moment of the test's: averages are per second since, and moments are shown in UTC.
#[test]
fn averages_are_by_the_second() {
    let metrics = Metrics::new();
    let mut session = metrics.session();
    let before = Moment::new(1_297_711_215, monotonic_s() - 99);
    metrics.world.region.monitor(MonitorCommand::Enable, "dml_num_inserts", before, |_| ()).expect("it is there");
    metrics.count(1, 3);
    check(
        &mut session,
        "SELECT time_enabled, time_elapsed BETWEEN 99 AND 105, ROUND(avg_count * time_elapsed, 9), avg_count < 0.0304 FROM \
         information_schema.innodb_metrics WHERE name = 'dml_num_inserts'",
        "2011-02-14 19:20:15,1,3,1",
    );
    // Now is now.
    run(&mut session, "SET GLOBAL innodb_monitor_enable = 'lock%'");
    check(
        &mut session,
        "SELECT ABS(TIMESTAMPDIFF(SECOND, time_enabled, UTC_TIMESTAMP())) < 60, time_elapsed < 60 FROM \
         information_schema.innodb_metrics WHERE name = 'lock_timeouts'",
        "1,1",
    );
}

#[test]
fn wl5316_a_module_that_is_partly_on() {
    let metrics = Metrics::new();
    let mut session = metrics.session();
    run(&mut session, "set global innodb_monitor_enable = dml_num_inserts");
    let already = "Warning ERROR 1105 (HY000): Monitor dml_num_inserts already turned on.";
    warnings(&mut session, "set global innodb_monitor_enable = module_dml;", &[already]);
    check(
        &mut session,
        "select name, status from information_schema.innodb_metrics where name like \"dml%\"",
        "dml_num_reads,enabled\ndml_num_inserts,enabled\ndml_num_deletes,enabled\ndml_updates,enabled",
    );
    warnings(&mut session, "set global innodb_monitor_enable = dml_num_inserts", &[already]);
    warnings(&mut session, "set global innodb_monitor_enable = 'dml%'", &[]);
    // A warning is that of its statement.
    warnings(&mut session, "set global innodb_monitor_disable = module_dml, global innodb_monitor_enable = module_lock", &[]);
    check(&mut session, ENABLED, "lock_timeouts");
    run(&mut session, "set global innodb_monitor_enable = module_dml");
    metrics.count(0, 5);
    metrics.count(3, 5);
    check(
        &mut session,
        "select name, count, max_count, count_reset, max_count_reset, time_disabled, status from information_schema.innodb_metrics \
         where name like 'dml%'",
        "dml_num_reads,5,5,5,5,,enabled\ndml_num_inserts,0,0,0,0,,enabled\ndml_num_deletes,0,0,0,0,,enabled\n\
         dml_updates,5,5,5,5,,enabled",
    );
}

/// What the worklog allows as a target, as bare words, texts, expressions, in any case; and what it does not.
#[test]
fn targets() {
    let metrics = Metrics::new();
    let mut session = metrics.session();
    for (target, enabled) in [
        ("all", 6),
        ("'ALL'", 6),
        ("\"%\"", 6),
        ("'%%'", 6),
        ("Module_DML", 4),
        ("'module_lock'", 1),
        ("DML_updates", 1),
        ("'dml_num_i%'", 1),
        ("'d_l_n%'", 3),
        ("concat('dml', '_updates')", 1),
        ("`lock_timeouts`", 1),
    ] {
        check(&mut session, "SET GLOBAL innodb_monitor_disable = '%'", "0 changed");
        check(&mut session, &format!("SET GLOBAL innodb_monitor_enable = {target}"), "0 changed");
        let rows = run(&mut session, ENABLED);
        assert_eq!(rows.lines().count() - 1, enabled, "{target}: {rows}");
    }
    check(&mut session, "SET @@GLOBAL.innodb_monitor_disable = 'all'", "0 changed");
    for (value, shown) in [
        ("nobody", "nobody"),
        ("''", ""),
        ("dml", "dml"),
        ("NULL", "NULL"),
        ("'dml_updates;lock_timeouts'", "dml_updates;lock_timeouts"),
        ("'_ml_updates'", "_ml_updates"),
        ("'module_d%l'", "module_d%l"),
        ("'%zzz%'", "%zzz%"),
    ] {
        check(
            &mut session,
            &format!("SET GLOBAL innodb_monitor_enable = {value}"),
            &format!("ERROR 1231 (42000): Variable 'innodb_monitor_enable' can't be set to the value of '{shown}'"),
        );
        check(&mut session, ENABLED, "");
    }
    for (statement, error) in [
        ("SET GLOBAL innodb_monitor_reset = 1", "ERROR 1232 (42000): Incorrect argument type to variable 'innodb_monitor_reset'"),
        (
            "SET innodb_monitor_reset_all = all",
            "ERROR 1229 (HY000): Variable 'innodb_monitor_reset_all' is a GLOBAL variable and should be set with SET GLOBAL",
        ),
        (
            "SET @@session.innodb_monitor_disable = 'all'",
            "ERROR 1229 (HY000): Variable 'innodb_monitor_disable' is a GLOBAL variable and should be set with SET GLOBAL",
        ),
    ] {
        check(&mut session, statement, error);
    }
    warnings(
        &mut session,
        "SET GLOBAL innodb_monitor_enable = DEFAULT",
        &[
            "Warning ERROR 1230 (HY000): Default value is not defined for this set option. Please specify correct counter or module name.",
        ],
    );
}

/// Each variable shows what it was set to last, in every session.
#[test]
fn variables_show_what_was_set() {
    let metrics = Metrics::new();
    let mut session = metrics.session();
    check(&mut session, "SELECT @@innodb_monitor_enable, @@GLOBAL.innodb_monitor_reset_all", "\"\",\"\"");
    run(&mut session, "SET GLOBAL innodb_monitor_enable = MODULE_dml");
    run(&mut session, "SET GLOBAL innodb_monitor_disable = DML_UPDATES");
    run(&mut session, "SET GLOBAL innodb_monitor_reset = ALL");
    let mut other = metrics.session();
    check(&mut other, "SELECT @@innodb_monitor_enable, @@innodb_monitor_disable", "module_dml,dml_updates");
    check(
        &mut other,
        "SHOW GLOBAL VARIABLES LIKE 'innodb\\_monitor%'",
        "innodb_monitor_disable,dml_updates\ninnodb_monitor_enable,module_dml\ninnodb_monitor_reset,all\ninnodb_monitor_reset_all,\"\"",
    );
}

/// In `information_schema`, by any letter case, and nowhere else; known to all that lists tables and columns.
#[test]
fn the_table_is_where_mysql_has_it() {
    let metrics = Metrics::new();
    let mut session = metrics.session();
    check(&mut session, "SELECT COUNT(*) FROM INFORMATION_SCHEMA.Innodb_Metrics WHERE Subsystem = 'dml'", "4");
    check(
        &mut session,
        "SELECT COUNT(*) FROM performance_schema.innodb_metrics",
        "ERROR 1146 (42S02): Table 'performance_schema.innodb_metrics' doesn't exist",
    );
    check(
        &mut session,
        "SELECT table_schema, table_name, table_type, engine FROM information_schema.tables WHERE table_name = 'innodb_metrics'",
        "information_schema,INNODB_METRICS,SYSTEM VIEW,",
    );
    check(&mut session, "SHOW TABLES FROM information_schema LIKE 'innodb_m%'", "INNODB_METRICS");
    // What mysqld_exporter asks.
    check(
        &mut session,
        "SELECT column_name FROM information_schema.columns WHERE table_name = 'INNODB_METRICS' AND column_name IN ('status','enabled')",
        "STATUS",
    );
    run(&mut session, "SET GLOBAL innodb_monitor_enable = metadata_table_opened");
    metrics.count(4, 9);
    check(
        &mut session,
        "SELECT name, subsystem, type, comment, count FROM information_schema.innodb_metrics WHERE `status` = 'enabled'",
        "metadata_table_opened,metadata,counter,Number of rows,9",
    );
    check(&mut session, "USE information_schema", "0 changed");
    check(&mut session, "SELECT count FROM innodb_metrics WHERE name = 'METADATA_TABLE_OPENED'", "9");
    assert_eq!(run(&mut session, "SHOW COLUMNS FROM innodb_metrics").lines().count(), 18);
    for statement in ["UPDATE innodb_metrics SET count = 0", "DELETE FROM innodb_metrics", "TRUNCATE TABLE innodb_metrics"] {
        check(
            &mut session,
            statement,
            "ERROR 1044 (42000): Access denied for user 'root'@'localhost' to database 'information_schema'",
        );
    }
}

/// What was lost is there beside what the program counts.
#[test]
fn what_was_lost_can_be_counted() {
    let metrics = Metrics::new();
    let mut session = metrics.session();
    let select = "SELECT count FROM information_schema.innodb_metrics WHERE name = 'performance_schema_metrics_lost'";
    run(&mut session, "SET GLOBAL innodb_monitor_enable = module_perfschema");
    for name in ["a", "b", "c", "d"] {
        let info = MetricInfo::new(name, "more", "", MetricType::Counter).expect("a name");
        let _ = metrics.world.region.register_metric(&info, false, now());
    }
    check(&mut session, select, "2");
    run(&mut session, "FLUSH STATUS");
    check(&mut session, "SHOW STATUS LIKE 'performance_schema_metrics_lost'", "Performance_schema_metrics_lost,0");
    check(&mut session, select, "2");
}

#[test]
fn who_may_only_read_switches_nothing() {
    let metrics = Metrics::new();
    let database = Database::new(metrics.world.region);
    let account = Account { right: Right::Read, ..Account::default() };
    let mut session = database.session(account).expect("there is memory");
    check(
        &mut session,
        "SET GLOBAL innodb_monitor_enable = all",
        "ERROR 1227 (42000): Access denied; you need (at least one of) the SUPER or SYSTEM_VARIABLES_ADMIN privilege(s) for this operation",
    );
    let database = Database::new(metrics.world.region).read_only();
    let mut session = database.session(Account::default()).expect("there is memory");
    let refused = run(&mut session, "SET GLOBAL innodb_monitor_enable = all");
    assert!(refused.starts_with("ERROR 1290"), "{refused}");
    assert!(!matches!(session.execute("SELECT @@innodb_monitor_enable"), Ok(Outcome::Done { .. })));
    check(&mut session, ENABLED, "");
}
