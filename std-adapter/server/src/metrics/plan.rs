//! Which columns of which tables become which metrics.

use super::{Family, Kind, Labels, Point, Unit, Value};
use perfschema::Region;
use perfschema::core::table::{self, Column, SqlType, Table};
use std::collections::BTreeMap;

/// What is read to make all metrics.
#[derive(Debug)]
pub(super) struct Plan {
    sources: Vec<Source>,
}

/// A table, and what becomes of its columns.
#[derive(Debug)]
struct Source {
    table: &'static dyn Table,
    shape: Shape,
}

#[derive(Debug)]
enum Shape {
    /// Rows with numbers to add up.
    Summary {
        labels: Vec<Label>,
        metrics: Vec<Metric>,
        /// Texts that are too long for a label of each metric: each is the label of an info.
        texts: Vec<Label>,
        /// A row for each file or the like, of which there can be many.
        of_instances: bool,
    },
    /// A row for each bucket.
    Histogram { name: String, labels: Vec<Label>, number: usize, high: usize, count: usize },
    /// A row for each counter.
    Lost,
    /// A row for each metric of the program, which says itself what it is.
    Named { labels: Vec<Label>, count: usize, status: usize, metric_type: usize },
}

#[derive(Clone, Debug)]
struct Label {
    name: &'static str,
    column: usize,
}

/// A metric, before it has values.
#[derive(Debug, PartialEq, Eq)]
struct Metric {
    name: String,
    help: String,
    kind: Kind,
    unit: Unit,
    /// Its columns, and of each the label that says which part of the whole it is, if it is one.
    columns: Vec<(usize, Option<Part>)>,
}

/// A part of a whole: the label's name and its value.
type Part = (&'static str, &'static str);

/// What a column of numbers is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// COUNT_…, COUNT_TIMER_…, SUM_TIMER_…, SUM_NUMBER_OF_BYTES_…: how often, how often timed, how long, how much, and of which
    /// operation.
    Measure(Measure, &'static str),
    /// SUM_… of anything else.
    Sum(&'static str),
    /// CURRENT_…, LOW_…, HIGH_…: the whole name.
    Level(&'static str),
    /// It names, bounds or averages.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Count,
    Timed,
    Time,
    Bytes,
}

/// Prefixes of columns that are no metrics: see the module.
const NO_METRICS: [&str; 10] =
    ["MIN_", "AVG_", "MAX_", "QUANTILE_", "BUCKET_", "FIRST_", "LAST_", "OBJECT_INSTANCE_", "THREAD_", "PROCESSLIST_"];

/// Transactions are summed up by what they may do, which makes other transactions of them, not operations.
const ACCESS_MODES: [&str; 2] = ["READ_WRITE", "READ_ONLY"];

/// Those of the declaration, and those that are invisible.
fn columns(table: &dyn Table) -> Vec<Column> {
    [table.declaration().columns, table.invisible()].concat()
}

/// None for a column that nobody has thought of yet.
fn role(column: &Column) -> Option<Role> {
    let name = column.name;
    if is_text(column) || column.sql_type.is_moment() {
        return Some(Role::None);
    }
    if let Some(of) = name.strip_prefix("COUNT_TIMER_") {
        Some(Role::Measure(Measure::Timed, of))
    } else if let Some(of) = name.strip_prefix("COUNT_") {
        Some(Role::Measure(Measure::Count, of))
    } else if let Some(of) = name.strip_prefix("SUM_TIMER_") {
        Some(Role::Measure(Measure::Time, of))
    } else if let Some(of) = name.strip_prefix("SUM_NUMBER_OF_BYTES_") {
        Some(Role::Measure(Measure::Bytes, of))
    } else if let Some(of) = name.strip_prefix("SUM_") {
        Some(Role::Sum(of))
    } else if ["CURRENT_", "LOW_", "HIGH_"].iter().any(|prefix| name.starts_with(prefix)) {
        Some(Role::Level(name))
    } else {
        NO_METRICS.iter().any(|prefix| name.starts_with(prefix)).then_some(Role::None)
    }
}

fn is_text(column: &Column) -> bool {
    matches!(column.sql_type, SqlType::Varchar(_) | SqlType::Char(_) | SqlType::Enum(_) | SqlType::Longtext)
}

/// Whether it is short enough. A moment is none either: each time that it changed there would be another series.
fn is_label(column: &Column) -> bool {
    is_text(column) && column.sql_type != SqlType::Longtext
}

fn labels(columns: &[Column]) -> Vec<Label> {
    labels_of(columns, is_label)
}

fn labels_of(columns: &[Column], is_one: impl Fn(&Column) -> bool) -> Vec<Label> {
    let labels = columns.iter().enumerate().filter(|(_, column)| is_one(column));
    labels.map(|(index, column)| Label { name: lower(column.name), column: index }).collect()
}

/// In lower case, for ever: names of columns are few, and this is done once a process.
fn lower(name: &str) -> &'static str {
    name.to_ascii_lowercase().leak()
}

impl Plan {
    pub(super) fn of(tables: &[&'static dyn Table]) -> Plan {
        Plan { sources: tables.iter().filter_map(|table| Source::of(*table)).collect() }
    }

    /// All metrics of the tables. `instances`: the most rows of a table of instances.
    pub(super) fn collect(&self, region: &Region<'_>, instances: usize) -> Vec<Family> {
        let mut families = Vec::new();
        let mut left_out = Vec::new();
        for source in &self.sources {
            let table = source.table.declaration();
            match &source.shape {
                Shape::Summary { labels, metrics, texts, of_instances } => {
                    let limit = if *of_instances { instances } else { usize::MAX };
                    let (sums, rest) = sums(source.table, region, (labels, metrics, texts), limit);
                    if *of_instances {
                        left_out.push((vec![("table", table.name.to_owned())], rest));
                    }
                    families.extend(in_families(labels, metrics, &sums));
                    families.extend(infos(table, labels, texts, &sums));
                }
                Shape::Histogram { name, labels, number, high, count } => {
                    let help = format!("{} COUNT_BUCKET of {}.", table.doc, table.name);
                    let points = histograms(source.table, region, labels, [*number, *high, *count]);
                    families.push(Family { name: name.clone(), help, kind: Kind::Histogram, unit: Unit::Seconds, points });
                }
                Shape::Lost => families.push(lost(source.table, region)),
                Shape::Named { labels, count, status, metric_type } => {
                    families.extend(named(source.table, region, labels, [*count, *status, *metric_type]));
                }
            }
        }
        let point = |(labels, count): (Labels, u64)| Point { labels, value: Value::Number(count.into()) };
        families.push(Family {
            name: "perfschema_instances_left_out".to_owned(),
            help: "Rows of a table that have no metrics, because there are too many.".to_owned(),
            kind: Kind::Gauge,
            unit: Unit::None,
            points: left_out.into_iter().map(point).collect(),
        });
        families
    }
}

impl Source {
    fn of(table: &'static dyn Table) -> Option<Source> {
        let declaration = table.declaration();
        let columns = &columns(table);
        if declaration.name == "global_status" {
            return Some(Source { table, shape: Shape::Lost });
        }
        if let ("innodb_metrics", Ok(count), Ok(status), Ok(metric_type)) =
            (declaration.name, declaration.column("COUNT"), declaration.column("STATUS"), declaration.column("TYPE"))
        {
            let mut labels = labels(columns);
            labels.retain(|label| ["name", "subsystem"].contains(&label.name));
            return Some(Source { table, shape: Shape::Named { labels, count, status, metric_type } });
        }
        let (kind, subject, of_instances) = subject(declaration)?;
        let labels = labels(columns);
        let shape = if kind == "histogram" {
            let column = |name| declaration.column(name).ok();
            Shape::Histogram {
                name: format!("perfschema_{subject}_duration_seconds"),
                labels,
                number: column("BUCKET_NUMBER")?,
                high: column("BUCKET_TIMER_HIGH")?,
                count: column("COUNT_BUCKET")?,
            }
        } else {
            let mut metrics = metrics(&subject, columns);
            metrics.iter_mut().for_each(|metric| metric.help = help(declaration, columns, metric));
            let texts = labels_of(columns, |column| is_text(column) && !is_label(column));
            Shape::Summary { labels, metrics, texts, of_instances }
        };
        Some(Source { table, shape })
    }
}

/// What a summary or histogram is of, as metrics are called after it, and whether its rows are instances; None for other tables.
fn subject(table: &table::Declaration) -> Option<(&'static str, String, bool)> {
    let (kind, (subject, by)) =
        ["summary", "histogram"].into_iter().find_map(|kind| Some((kind, table.name.split_once(&format!("_{kind}_"))?)))?;
    match by.strip_prefix("global_").unwrap_or(by).strip_prefix("by_")? {
        "event_name" => Some((kind, subject.to_owned(), false)),
        // Parts of what is there by event name, whose names do not outlive the program.
        by if ["thread", "account", "user", "host"].iter().any(|part| by.starts_with(part)) => None,
        by => {
            let names_its_rows = table.columns.iter().any(|column| is_label(column) && column.name != "EVENT_NAME");
            (names_its_rows && kind == "summary").then(|| (kind, format!("{subject}_{by}"), true))
        }
    }
}

fn metrics(subject: &str, columns: &[Column]) -> Vec<Metric> {
    let is_operation = |of: &str| {
        let has =
            |measure| columns.iter().any(|column| matches!(role(column), Some(Role::Measure(m, o)) if m == measure && o == of));
        !matches!(of, "STAR" | "WAIT") && has(Measure::Count) && (has(Measure::Time) || has(Measure::Bytes))
    };
    // Where each is timed, they add up to the whole.
    let adds_up = columns.iter().any(|column| matches!(role(column), Some(Role::Measure(Measure::Time, of)) if is_operation(of)));
    let mut metrics: Vec<Metric> = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        let Some((what, kind, unit, part)) = metric(column, is_operation, adds_up) else { continue };
        let name = format!("perfschema_{subject}{what}");
        match metrics.iter_mut().find(|metric| metric.name == name) {
            Some(metric) => metric.columns.push((index, part)),
            None => metrics.push(Metric { name, help: String::new(), kind, unit, columns: vec![(index, part)] }),
        }
    }
    metrics
}

/// What a column's metric is called, behind what the table is of.
fn metric(column: &Column, is_operation: impl Fn(&str) -> bool, adds_up: bool) -> Option<(String, Kind, Unit, Option<Part>)> {
    let counter = |what: String, unit, part| Some((what, Kind::Counter, unit, part));
    match role(column)? {
        Role::None => None,
        Role::Measure(_, "STAR" | "WAIT") if adds_up => None,
        Role::Measure(Measure::Count, "STAR") => counter(String::new(), Unit::None, None),
        Role::Measure(Measure::Timed, "WAIT") => counter("_timed".to_owned(), Unit::None, None),
        Role::Measure(Measure::Time, "WAIT") => counter("_seconds".to_owned(), Unit::Seconds, None),
        Role::Measure(measure, of) if is_operation(of) => {
            let is_mode = ACCESS_MODES.contains(&of);
            let (what, unit) = match measure {
                Measure::Count if is_mode => ("", Unit::None),
                Measure::Count => ("_operations", Unit::None),
                Measure::Timed => ("_timed", Unit::None),
                Measure::Time => ("_seconds", Unit::Seconds),
                Measure::Bytes => ("_bytes", Unit::Bytes),
            };
            let label = if is_mode { "access_mode" } else { "operation" };
            counter(what.to_owned(), unit, Some((label, lower(of))))
        }
        Role::Measure(Measure::Count, of) => counter(format!("_{}", of.to_ascii_lowercase()), Unit::None, None),
        Role::Measure(Measure::Timed, of) => counter(format!("_{}_timed", of.to_ascii_lowercase()), Unit::None, None),
        Role::Measure(Measure::Time, of) => counter(format!("_{}_seconds", of.to_ascii_lowercase()), Unit::Seconds, None),
        Role::Measure(Measure::Bytes, of) => counter(format!("_{}_bytes", of.to_ascii_lowercase()), Unit::Bytes, None),
        Role::Sum(of) if perfschema::render::Unit::of(column.name) == perfschema::render::Unit::Picoseconds => {
            counter(format!("_{}_seconds", of.to_ascii_lowercase()), Unit::Seconds, None)
        }
        Role::Sum(of) => counter(format!("_{}", of.to_ascii_lowercase()), Unit::None, None),
        Role::Level(name) => match name.split_once("NUMBER_OF_BYTES_") {
            Some((which, of)) => Some((format!("_{which}{of}_bytes").to_ascii_lowercase(), Kind::Gauge, Unit::Bytes, None)),
            None => Some((format!("_{name}").to_ascii_lowercase(), Kind::Gauge, Unit::None, None)),
        },
    }
}

fn texts(row: &dyn table::Row, labels: &[Label]) -> Vec<String> {
    let text = |label: &Label| match row.cell(label.column) {
        table::Value::Text(text) => text.to_owned(),
        // A label without a text is as good as none, which is what NULL says.
        _ => String::new(),
    };
    labels.iter().map(text).collect()
}

fn number(row: &dyn table::Row, column: usize) -> i128 {
    match row.cell(column) {
        table::Value::Unsigned(number) => number.into(),
        table::Value::Signed(number) => number.into(),
        table::Value::Double(number) => number as i128,
        table::Value::Text(text) => text.parse().unwrap_or(0),
        table::Value::Null => 0,
    }
}

/// What has the same labels, added up.
type Sums<T> = BTreeMap<Vec<String>, T>;

/// What rows with the same labels say together.
#[derive(Debug)]
struct Row {
    /// The columns of all metrics, one after the other.
    numbers: Vec<i128>,
    /// The long texts of the first.
    texts: Vec<String>,
}

impl Row {
    /// How many events there were, which the first metric says.
    fn weight(&self, metrics: &[Metric]) -> i128 {
        self.numbers.iter().take(metrics.first().map_or(0, |metric| metric.columns.len())).sum()
    }
}

/// What a table says for each combination of labels, of so many at most: those with most events, and of those that have as many the first by
/// label. And how many were left out.
fn sums(
    table: &dyn Table,
    region: &Region<'_>,
    (labels, metrics, long): (&[Label], &[Metric], &[Label]),
    limit: usize,
) -> (Sums<Row>, u64) {
    let columns: Vec<usize> = metrics.iter().flat_map(|metric| &metric.columns).map(|(column, _)| *column).collect();
    let (mut sums, mut left_out) = (Sums::new(), 0);
    let mut keep = |sums: &mut Sums<Row>| {
        if sums.len() <= limit {
            return;
        }
        let mut all: Vec<_> = std::mem::take(sums).into_iter().collect();
        all.sort_by_key(|(_, row)| std::cmp::Reverse(row.weight(metrics)));
        left_out += (all.len() - limit) as u64;
        all.truncate(limit);
        sums.extend(all);
    };
    table.scan(region, &mut |row| {
        let new = || Row { numbers: vec![0; columns.len()], texts: texts(row, long) };
        let sum = sums.entry(texts(row, labels)).or_insert_with(new);
        // Sums of 64-bit numbers: a region has no room for so many rows that 128 bits were too few.
        sum.numbers.iter_mut().zip(&columns).for_each(|(sum, column)| *sum += number(row, *column));
        // Of a table with a million rows there are no more in memory. Where there is a limit each row has labels of its own.
        if sums.len() / 2 > limit {
            keep(&mut sums);
        }
    });
    keep(&mut sums);
    (sums, left_out)
}

/// What a number of events says where only some of them may be timed.
fn of_timed(columns: &[Column], column: &Column) -> &'static str {
    let is_timed = |of| columns.iter().any(|column| role(column) == Some(Role::Measure(Measure::Timed, of)));
    match role(column) {
        Some(Role::Measure(Measure::Count, of)) if is_timed(if of == "STAR" { "WAIT" } else { of }) => ", timed or not",
        Some(Role::Measure(Measure::Timed, _)) => ": the events whose seconds are summed",
        _ => "",
    }
}

/// What a metric says: what its table does, and of which columns.
fn help(table: &table::Declaration, columns: &[Column], metric: &Metric) -> String {
    let of: Vec<&Column> = metric.columns.iter().filter_map(|(index, _)| columns.get(*index)).collect();
    let names: Vec<&str> = of.iter().map(|column| column.name).collect();
    let timed = of.first().map_or("", |column| of_timed(columns, column));
    format!("{} {} of {}{timed}.", table.doc, names.join(", "), table.name)
}

fn in_families(labels: &[Label], metrics: &[Metric], sums: &Sums<Row>) -> Vec<Family> {
    let mut first = 0;
    let mut families = Vec::new();
    for metric in metrics {
        let range = first..first + metric.columns.len();
        first = range.end;
        let mut points = Vec::new();
        for (values, sums) in sums {
            let sums = sums.numbers.get(range.clone()).unwrap_or_default();
            for ((_, part), sum) in metric.columns.iter().zip(sums) {
                let mut labels = labelled(labels, values);
                labels.extend(part.map(|(name, value)| (name, value.to_owned())));
                points.push(Point { labels, value: Value::Number(*sum) });
            }
        }
        let Metric { name, help, kind, unit, .. } = metric;
        families.push(Family { name: name.clone(), help: help.clone(), kind: *kind, unit: *unit, points });
    }
    families
}

/// Characters of a long text that are sent, as many as mysqld_exporter sends.
const TEXT_LENGTH: usize = 120;

/// What long texts there are, of each combination of labels.
fn infos(table: &table::Declaration, labels: &[Label], texts: &[Label], sums: &Sums<Row>) -> impl Iterator<Item = Family> {
    let of = table.name.split_once("_summary_").map_or(table.name, |(of, _)| of);
    texts.iter().enumerate().map(move |(index, text)| {
        let point = |(values, row): (&Vec<String>, &Row)| {
            let mut labels = labelled(labels, values);
            labels.push((text.name, row.texts[index].chars().take(TEXT_LENGTH).collect()));
            Point { labels, value: Value::Number(1) }
        };
        Family {
            name: format!("perfschema_{of}_{}", text.name),
            help: format!("{} {} of {}.", table.doc, text.name.to_ascii_uppercase(), table.name),
            kind: Kind::Info,
            unit: Unit::None,
            points: sums.iter().map(point).collect(),
        }
    })
}

fn labelled(labels: &[Label], values: &[String]) -> Labels {
    labels.iter().zip(values).map(|(label, value)| (label.name, value.clone())).collect()
}

/// The table's buckets are 50 a decade, from 10 ns on: every 25th ends one here, 22 in all.
const KEEP: i128 = 25;

fn histograms(table: &dyn Table, region: &Region<'_>, labels: &[Label], columns: [usize; 3]) -> Vec<Point> {
    let [number_column, high, count] = columns;
    let mut sums: Sums<(Vec<u64>, Vec<u64>)> = Sums::new();
    // The bounds are the same for all: those of the first, if another had others.
    table.scan(region, &mut |row| {
        let (bounds_ps, counts) = sums.entry(texts(row, labels)).or_insert_with(|| (Vec::new(), vec![0]));
        let add = u64::try_from(number(row, count)).unwrap_or(0);
        if let Some(last) = counts.last_mut() {
            *last = last.saturating_add(add);
        }
        let high = u64::try_from(number(row, high)).unwrap_or(u64::MAX);
        let is_next = bounds_ps.last().is_none_or(|bound| *bound < high);
        if number(row, number_column) % KEEP == 0 && high < LONGEST_PS && is_next {
            bounds_ps.push(high);
            counts.push(0);
        }
    });
    let point = |(values, (bounds_ps, counts)): (Vec<String>, (Vec<u64>, Vec<u64>))| Point {
        labels: labels.iter().map(|label| label.name).zip(values).collect(),
        value: Value::Buckets { bounds_ps, counts },
    };
    sums.into_iter().map(point).collect()
}

/// Waits of ten minutes and more are in the last bucket.
const LONGEST_PS: u64 = 600_000_000_000_000;

fn lost(table: &dyn Table, region: &Region<'_>) -> Family {
    let mut points = Vec::new();
    table.scan(region, &mut |row| {
        if let table::Value::Text(name) = row.cell(0)
            && let Some(what) = name.strip_suffix("_lost")
        {
            let what = what.strip_prefix("Performance_schema_").unwrap_or(what).to_owned();
            points.push(Point { labels: vec![("what", what)], value: Value::Number(number(row, 1)) });
        }
    });
    let help = format!("{} {}.", table.declaration().doc, table.declaration().name);
    Family { name: "perfschema_lost".to_owned(), help, kind: Kind::Counter, unit: Unit::None, points }
}

/// Those that are enabled: what the program counts, and what it has at this moment.
fn named(table: &dyn Table, region: &Region<'_>, labels: &[Label], columns: [usize; 3]) -> impl Iterator<Item = Family> {
    let [count, status, metric_type] = columns;
    let mut sums = [Sums::new(), Sums::new()];
    table.scan(region, &mut |row| {
        if row.cell(status) == table::Value::Text("enabled") {
            let of = usize::from(row.cell(metric_type) == table::Value::Text("value"));
            *sums[of].entry(texts(row, labels)).or_insert(0) += number(row, count);
        }
    });
    let names: Vec<&str> = labels.iter().map(|label| label.name).collect();
    let declaration = table.declaration();
    [("perfschema_metrics", Kind::Counter), ("perfschema_metrics_value", Kind::Gauge)]
        .into_iter()
        .zip(sums)
        .map(move |((name, kind), sums)| Family {
            name: name.to_owned(),
            help: format!("{} COUNT of {}.", declaration.doc, declaration.name),
            kind,
            unit: Unit::None,
            points: sums
                .into_iter()
                .map(|(values, sum)| Point { labels: names.iter().copied().zip(values).collect(), value: Value::Number(sum) })
                .collect(),
        })
        .filter(|family| !family.points.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfschema::tables;

    fn named_columns(names: &[&'static str]) -> Vec<Column> {
        let text = |name: &str| name.ends_with("_NAME");
        let sql_type = |name| if text(name) { SqlType::Varchar(128) } else { SqlType::BigintUnsigned };
        names
            .iter()
            .map(|name| Column { name, sql_type: sql_type(name), nullable: false, default: None, is_binary: false, doc: "" })
            .collect()
    }

    /// A column that is neither a metric nor known to be none would be missing without a word.
    #[test]
    fn every_number_has_a_meaning() {
        for table in tables::ALL {
            let declaration = table.declaration();
            if subject(declaration).is_some_and(|(kind, _, _)| kind == "summary") {
                for column in &columns(*table) {
                    assert!(role(column).is_some(), "{}.{}: see NO_METRICS", declaration.name, column.name);
                }
            }
        }
    }

    #[test]
    fn names_are_unique_and_end_with_their_unit() {
        let process = perfschema::start().expect("it starts");
        let families = crate::metrics::collect(process.region(), 10);
        assert!(families.len() > 10);
        let mut names = std::collections::HashSet::new();
        for family in &families {
            let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(names.insert(&family.name) && family.name.chars().all(is_allowed), "{}", family.name);
            assert_eq!(family.name.ends_with("_seconds"), family.unit == Unit::Seconds, "{}", family.name);
            assert_eq!(family.name.ends_with("_bytes"), family.unit == Unit::Bytes, "{}", family.name);
            for suffix in ["_total", "_count", "_sum", "_bucket", "_info"] {
                assert!(!family.name.ends_with(suffix), "{}", family.name);
            }
        }
    }

    /// There would be another series each time that it changed. Nor is a text without a bound one.
    #[test]
    fn a_moment_is_no_label() {
        let table = perfschema::tables::find("events_statements_summary_by_digest").expect("declared").declaration();
        let labels: Vec<&str> = labels(table.columns).iter().map(|label| label.name).collect();
        assert_eq!(labels, ["schema_name", "digest"]);
    }

    /// Tables of MySQL's, also such as are not declared here.
    #[test]
    fn columns_become_metrics() {
        let check = |names: &[&'static str], expected: &[&str]| {
            let columns = named_columns(names);
            let found: Vec<String> = metrics("x", &columns)
                .iter()
                .map(|metric| {
                    let of = |(column, part): &(usize, Option<Part>)| match part {
                        Some(("operation", value)) => format!("{}={value}", columns[*column].name),
                        Some((name, value)) => format!("{}={name}:{value}", columns[*column].name),
                        None => columns[*column].name.to_owned(),
                    };
                    let of: Vec<String> = metric.columns.iter().map(of).collect();
                    format!("{} {:?} {:?} {}", metric.name, metric.kind, metric.unit, of.join(" "))
                })
                .collect();
            assert_eq!(found, expected, "{names:?}");
        };
        check(
            &[
                "EVENT_NAME",
                "COUNT_STAR",
                "SUM_TIMER_WAIT",
                "MIN_TIMER_WAIT",
                "AVG_TIMER_WAIT",
                "QUANTILE_95",
                "COUNT_TIMER_WAIT",
            ],
            &[
                "perfschema_x Counter None COUNT_STAR",
                "perfschema_x_seconds Counter Seconds SUM_TIMER_WAIT",
                "perfschema_x_timed Counter None COUNT_TIMER_WAIT",
            ],
        );
        check(
            &[
                "COUNT_STAR",
                "SUM_TIMER_WAIT",
                "COUNT_READ",
                "SUM_TIMER_READ",
                "MAX_TIMER_READ",
                "SUM_NUMBER_OF_BYTES_READ",
                "COUNT_MISC",
                "SUM_TIMER_MISC",
                "COUNT_TIMER_WAIT",
                "COUNT_TIMER_READ",
                "COUNT_TIMER_MISC",
            ],
            &[
                "perfschema_x_operations Counter None COUNT_READ=read COUNT_MISC=misc",
                "perfschema_x_seconds Counter Seconds SUM_TIMER_READ=read SUM_TIMER_MISC=misc",
                "perfschema_x_bytes Counter Bytes SUM_NUMBER_OF_BYTES_READ=read",
                "perfschema_x_timed Counter None COUNT_TIMER_READ=read COUNT_TIMER_MISC=misc",
            ],
        );
        check(
            &[
                "COUNT_ALLOC",
                "COUNT_FREE",
                "SUM_NUMBER_OF_BYTES_ALLOC",
                "SUM_NUMBER_OF_BYTES_FREE",
                "LOW_COUNT_USED",
                "CURRENT_NUMBER_OF_BYTES_USED",
            ],
            &[
                "perfschema_x_operations Counter None COUNT_ALLOC=alloc COUNT_FREE=free",
                "perfschema_x_bytes Counter Bytes SUM_NUMBER_OF_BYTES_ALLOC=alloc SUM_NUMBER_OF_BYTES_FREE=free",
                "perfschema_x_low_count_used Gauge None LOW_COUNT_USED",
                "perfschema_x_current_used_bytes Gauge Bytes CURRENT_NUMBER_OF_BYTES_USED",
            ],
        );
        check(
            &[
                "COUNT_STAR",
                "SUM_TIMER_WAIT",
                "COUNT_READ_WRITE",
                "SUM_TIMER_READ_WRITE",
                "MAX_TIMER_READ_WRITE",
                "COUNT_READ_ONLY",
                "SUM_TIMER_READ_ONLY",
            ],
            &[
                "perfschema_x Counter None COUNT_READ_WRITE=access_mode:read_write COUNT_READ_ONLY=access_mode:read_only",
                "perfschema_x_seconds Counter Seconds SUM_TIMER_READ_WRITE=access_mode:read_write \
                 SUM_TIMER_READ_ONLY=access_mode:read_only",
            ],
        );
        check(
            &["COUNT_STAR", "SUM_TIMER_WAIT", "SUM_LOCK_TIME", "SUM_ROWS_SENT", "COUNT_SECONDARY"],
            &[
                "perfschema_x Counter None COUNT_STAR",
                "perfschema_x_seconds Counter Seconds SUM_TIMER_WAIT",
                "perfschema_x_lock_time_seconds Counter Seconds SUM_LOCK_TIME",
                "perfschema_x_rows_sent Counter None SUM_ROWS_SENT",
                "perfschema_x_secondary Counter None COUNT_SECONDARY",
            ],
        );
    }
}
