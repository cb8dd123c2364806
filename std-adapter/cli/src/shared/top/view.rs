//! What `perfschema top` shows. A view is one line in [`VIEWS`]: its columns follow from the declaration of its table.

use super::layout::OF_TOTALS;
use perfschema::core::table::SqlType;
use perfschema::render::{ColumnHead, Grid, OwnedValue};
use std::collections::HashMap;

/// One of the lists that can be chosen.
#[derive(Debug)]
pub(super) struct View {
    pub(super) title: &'static str,
    kind: Kind,
    table: &'static str,
    /// A table of the same instances, whose columns tell what an instance is.
    names: Option<&'static str>,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// Who waits now.
    Waits,
    /// Counters, of which is shown by how much they grow.
    Summary,
    /// Rows as they are.
    Plain,
}

/// All of them, in the order of their keys.
pub(super) const VIEWS: &[View] = &[
    View { title: "Waits", kind: Kind::Waits, table: "events_waits_current", names: None },
    View::summary("Events", "events_waits_summary_global_by_event_name"),
    View::summary("Files", "file_summary_by_instance"),
    View { names: Some("socket_instances"), ..View::summary("Sockets", "socket_summary_by_instance") },
    View::summary("Stages", "events_stages_summary_global_by_event_name"),
    View::summary("Statements", "events_statements_summary_global_by_event_name"),
    View::summary("Transactions", "events_transactions_summary_global_by_event_name"),
    View { title: "Instruments", kind: Kind::Plain, table: INSTRUMENTS, names: None },
];

const INSTRUMENTS: &str = "setup_instruments";
const INSTANCE: &str = "OBJECT_INSTANCE_BEGIN";
/// How many events were timed, which their sum is divided by; `*` leaves it out.
const TIMED: &str = "COUNT_TIMER_WAIT";

/// How a column's values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// A name or a path, which may be shortened.
    Name,
    /// A word.
    Word,
    /// A whole number.
    Count,
    /// A number, rounded.
    Rate,
    /// Picoseconds.
    Time,
    /// Bytes.
    Bytes,
}

impl Shown {
    pub(super) fn is_text(self) -> bool {
        matches!(self, Shown::Name | Shown::Word)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) title: String,
    pub(super) shown: Shown,
    /// What gives way last when the terminal is narrow has the smallest.
    pub(super) keep: u8,
}

impl Column {
    fn new(title: impl Into<String>, shown: Shown, keep: u8) -> Column {
        Column { title: title.into(), shown, keep }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The same row has the same at the next refresh.
    pub(super) key: String,
    pub(super) cells: Vec<OwnedValue>,
    /// What can be switched on and off.
    pub(super) instrument: Option<String>,
    /// All that the table says.
    pub(super) details: Vec<OwnedValue>,
}

/// A view as it is at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Listing {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
    /// Of the details.
    pub(super) heads: Vec<ColumnHead>,
    /// The column that is sorted by at first, and whether its largest values come first.
    pub(super) sort: (usize, bool),
}

/// The counters of a view as they were at the last refresh, by the keys of their rows, and how many seconds ago that was.
pub(super) type Last<'a> = Option<(&'a HashMap<String, Vec<OwnedValue>>, f64)>;

/// Enabled and timed, by name.
pub(super) type Switches = HashMap<String, (bool, bool)>;

impl View {
    const fn summary(title: &'static str, table: &'static str) -> View {
        View { title, kind: Kind::Summary, table, names: None }
    }

    /// What to ask for its rows.
    pub(super) fn select(&self) -> String {
        match self.kind {
            Kind::Waits => "SELECT * FROM sys.`x$current_waits`".into(),
            Kind::Summary => format!("SELECT *, {TIMED} FROM performance_schema.`{}`", self.table),
            Kind::Plain => format!("SELECT * FROM performance_schema.`{}`", self.table),
        }
    }

    /// What to ask for names of its instances.
    pub(super) fn select_names(&self) -> Option<String> {
        let table = self.names?;
        Some(format!("SELECT * FROM performance_schema.`{table}`"))
    }

    /// Makes a list of the rows of the answers.
    pub(super) fn listing(&self, rows: Grid, names: Option<Grid>, switches: &Switches, last: Last<'_>) -> Listing {
        match (&self.kind, names) {
            (Kind::Waits, _) => waits(rows),
            (Kind::Plain, _) => plain(rows),
            (Kind::Summary, None) => summary(rows, switches, last),
            (Kind::Summary, Some(names)) => summary(named(rows, &names), switches, last),
        }
    }
}

fn text(grid: &Grid, row: &[OwnedValue], column: &str) -> Option<String> {
    let value = row.get(grid.column(column).ok()?)?;
    match value {
        OwnedValue::Text(text) => Some(text.clone()),
        OwnedValue::Null => None,
        other => whole(other).map(|number| number.to_string()),
    }
}

fn value(grid: &Grid, row: &[OwnedValue], column: &str) -> OwnedValue {
    grid.column(column).ok().and_then(|index| row.get(index).cloned()).unwrap_or_default()
}

/// The last part of a thread's name.
fn short(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// What threads are called: the last parts of their names, and THREAD_ID where several that are shown have the same one.
struct Threads {
    /// The thread that has this last part, None if there are several.
    of: HashMap<String, Option<String>>,
}

impl Threads {
    fn of(grid: &Grid, columns: &[(&str, &str)]) -> Threads {
        let mut of: HashMap<String, Option<String>> = HashMap::new();
        for (row, (id, name)) in grid.rows.iter().flat_map(|row| columns.iter().map(move |column| (row, column))) {
            let (Some(id), Some(name)) = (text(grid, row, id), text(grid, row, name)) else { continue };
            let one = of.entry(short(&name).to_owned()).or_insert_with(|| Some(id.clone()));
            if one.as_ref() != Some(&id) {
                *one = None;
            }
        }
        Threads { of }
    }

    fn name(&self, grid: &Grid, row: &[OwnedValue], (id, name): (&str, &str)) -> OwnedValue {
        let name = text(grid, row, name).map(|name| short(&name).to_owned());
        let name = name.map(|name| match (self.of.get(&name), text(grid, row, id)) {
            (Some(None), Some(id)) => format!("{name} {id}"),
            _ => name,
        });
        name.into()
    }
}

fn waits(grid: Grid) -> Listing {
    let columns = vec![
        Column::new("thread", Shown::Name, 0),
        Column::new("waits", Shown::Time, 0),
        Column::new("to", Shown::Word, 3),
        Column::new("what", Shown::Name, 1),
        Column::new("held by", Shown::Name, 2),
        Column::new("from", Shown::Name, 4),
        Column::new("held since", Shown::Name, 5),
    ];
    let (thread, holder) = (("thread_id", "thread_name"), ("holder_thread_id", "holder_thread_name"));
    let threads = Threads::of(&grid, &[thread, holder]);
    let row = |row: &Vec<OwnedValue>| {
        let event = text(&grid, row, "event_name").unwrap_or_default();
        // The operation says what kind of object it is.
        let short = event.match_indices('/').nth(2).map_or(event.as_str(), |(at, _)| &event[at + 1..]).to_owned();
        let what = text(&grid, row, "object_name").unwrap_or(short);
        Row {
            key: text(&grid, row, "thread_id").unwrap_or_default(),
            cells: vec![
                threads.name(&grid, row, thread),
                value(&grid, row, "wait_so_far"),
                value(&grid, row, "operation"),
                what.into(),
                threads.name(&grid, row, holder),
                value(&grid, row, "source"),
                value(&grid, row, "holder_source"),
            ],
            instrument: Some(event),
            details: row.clone(),
        }
    };
    Listing { columns, rows: grid.rows.iter().map(row).collect(), heads: grid.columns.clone(), sort: (1, true) }
}

fn plain(grid: Grid) -> Listing {
    let column = |(index, head): (usize, &ColumnHead)| {
        let shown = match head.is_numeric() {
            true => Shown::Count,
            false if is_name(head) => Shown::Name,
            false => Shown::Word,
        };
        Column::new(title(&head.name), shown, u8::try_from(index).unwrap_or(u8::MAX))
    };
    let columns = grid.columns.iter().enumerate().map(column).collect();
    let row = |row: &Vec<OwnedValue>| {
        let name = text(&grid, row, "NAME");
        Row { key: name.clone().unwrap_or_default(), cells: row.clone(), instrument: name, details: row.clone() }
    };
    Listing { columns, rows: grid.rows.iter().map(row).collect(), heads: grid.columns.clone(), sort: (0, false) }
}

fn is_name(head: &ColumnHead) -> bool {
    matches!(head.sql_type, SqlType::Varchar(_) | SqlType::Char(_) | SqlType::Longtext)
}

/// `OPEN_COUNT` as a heading.
fn title(column: &str) -> String {
    column.to_lowercase().replace('_', " ")
}

/// The rows with the columns of another table of the same instances in front, those that they do not have themselves.
fn named(grid: Grid, names: &Grid) -> Grid {
    let (Ok(own), Ok(other)) = (grid.column(INSTANCE), names.column(INSTANCE)) else { return grid };
    let added: Vec<usize> = (0..names.columns.len()).filter(|&index| grid.column(&names.columns[index].name).is_err()).collect();
    let by_instance: HashMap<Option<u64>, &Vec<OwnedValue>> =
        names.rows.iter().filter_map(|row| Some((whole(row.get(other)?).and_then(|n| u64::try_from(n).ok()), row))).collect();
    let columns = added.iter().map(|&index| names.columns[index].clone()).chain(grid.columns.iter().cloned()).collect();
    let rows = grid.rows.into_iter().map(|row| {
        let instance = row.get(own).and_then(whole).and_then(|n| u64::try_from(n).ok());
        let found = by_instance.get(&instance);
        let name = |index: &usize| found.and_then(|row| row.get(*index)).cloned().unwrap_or_default();
        added.iter().map(name).chain(row).collect()
    });
    Grid { rows: rows.collect(), columns }
}

/// How a cell comes from the columns of a summary.
#[derive(Clone, Copy, Debug)]
enum Cell {
    Value(usize),
    /// By how much it grows in a second.
    Growth(usize),
    /// Of what came since the last refresh.
    Average {
        sum: usize,
        timed: usize,
    },
    /// What the instrument of the row is set to.
    Switch(usize),
}

/// The columns of a summary, from what MySQL calls them.
fn summary_columns(heads: &[ColumnHead]) -> Vec<(Column, Cell)> {
    let find = |name: &str| heads.iter().position(|head| head.name.eq_ignore_ascii_case(name));
    let mut columns = Vec::new();
    for (index, head) in heads.iter().enumerate() {
        let name = head.name.to_uppercase();
        let rest = |prefix: &str| name.strip_prefix(prefix).map(str::to_lowercase);
        let (column, cell) = if name == INSTANCE || name == TIMED {
            continue;
        } else if name == "PORT" {
            // It tells connections apart.
            (Column::new("port", Shown::Word, 3), Cell::Value(index))
        } else if !head.is_numeric() {
            let is_named = columns.iter().any(|(column, _): &(Column, Cell)| column.shown == Shown::Name);
            (Column::new(title(&name).replace(" name", ""), Shown::Name, u8::from(is_named) * 4), Cell::Value(index))
        } else if name == "COUNT_STAR" {
            (Column::new("/s", Shown::Rate, 1), Cell::Growth(index))
        } else if name == "SUM_TIMER_WAIT" {
            (Column::new("time/s", Shown::Time, 0), Cell::Growth(index))
        } else if let Some(what) = rest("SUM_NUMBER_OF_BYTES_") {
            (Column::new(format!("bytes {what}/s"), Shown::Bytes, 2), Cell::Growth(index))
        } else if let Some(what) = rest("SUM_TIMER_") {
            (Column::new(format!("{} time/s", title(&what)), Shown::Time, 8), Cell::Growth(index))
        } else if let Some(what) = rest("SUM_").filter(|what| what.starts_with("rows_") || what == "errors") {
            (Column::new(format!("{}/s", title(&what)), Shown::Rate, 8), Cell::Growth(index))
        } else if let Some(what) = rest("COUNT_") {
            // Reads; but transactions that are read-write.
            let many = if what.contains('_') { "" } else { "s" };
            (Column::new(format!("{}{many}/s", title(&what)), Shown::Rate, 7), Cell::Growth(index))
        } else if let Some(what) = rest("QUANTILE_") {
            let percent = if what.len() > 2 { format!("{}.{}", &what[..2], &what[2..]) } else { what };
            (Column::new(format!("{percent} %"), Shown::Time, 9), Cell::Value(index))
        } else if name == "MAX_TIMER_WAIT" {
            (Column::new("longest", Shown::Time, 5), Cell::Value(index))
        } else if ["MIN_", "AVG_", "MAX_", "SUM_"].iter().any(|prefix| name.starts_with(prefix)) {
            // In the details.
            continue;
        } else {
            (Column::new(title(&name), Shown::Count, 9), Cell::Value(index))
        };
        columns.push((column, cell));
    }
    let (count, timed, sum) = (find("COUNT_STAR"), find(TIMED), find("SUM_TIMER_WAIT"));
    if let (Some(count), Some(timed), Some(sum)) = (count, timed, sum) {
        columns.push((Column::new("average", Shown::Time, 3), Cell::Average { sum, timed }));
        columns.push((Column::new("total", Shown::Count, 5), Cell::Value(count)));
        columns.push((Column::new("total time", Shown::Time, OF_TOTALS), Cell::Value(sum)));
    }
    if let Some(event) = find("EVENT_NAME") {
        columns.push((Column::new("is", Shown::Word, 6), Cell::Switch(event)));
    }
    // Names, then what happens now, then the totals; of the same rank in the order of the table.
    columns.sort_by_key(|(column, cell)| match (cell, column.shown) {
        (Cell::Value(_), Shown::Name | Shown::Word) => 0,
        (Cell::Growth(_), _) if column.keep < 2 => 1 + column.keep,
        (Cell::Average { .. }, _) => 3,
        (Cell::Growth(_), _) => 4,
        (Cell::Value(_), _) => 5,
        (Cell::Switch(_), _) => 6,
    });
    columns
}

fn summary(grid: Grid, switches: &Switches, last: Last<'_>) -> Listing {
    let columns = summary_columns(&grid.columns);
    // What has an address of its own is known by that, whatever becomes of its name and state; at that of a connection another one may be.
    let is_any = |head: &ColumnHead, names: &[&str]| names.iter().any(|name| head.name.eq_ignore_ascii_case(name));
    let has_instance = grid.columns.iter().any(|head| is_any(head, &[INSTANCE]));
    let key = |row: &Vec<OwnedValue>| {
        let is_key = |head: &ColumnHead| match has_instance {
            true => is_any(head, &[INSTANCE, "EVENT_NAME", "IP", "PORT"]),
            false => !head.is_numeric(),
        };
        let parts = grid.columns.iter().zip(row).filter(|(head, _)| is_key(head)).map(|(_, value)| match value {
            OwnedValue::Text(text) => text.clone(),
            other => whole(other).unwrap_or_default().to_string(),
        });
        parts.collect::<Vec<_>>().join("\0")
    };
    let rows = grid.rows.iter().map(|row| {
        let key = key(row);
        let before = last.map(|(last, seconds)| (last.get(&key), seconds));
        // What was not there before grew from nothing, and what was set to zero, too.
        let growth = |index: usize| {
            let (before, seconds) = before?;
            let now = row.get(index).and_then(whole)?;
            let then = before.and_then(|row| row.get(index)).and_then(whole).filter(|then| *then <= now).unwrap_or(0);
            Some(((now - then) as f64, seconds))
        };
        let cell = |(_, cell): &(Column, Cell)| match *cell {
            Cell::Value(index) => row.get(index).cloned().unwrap_or_default(),
            Cell::Growth(index) => growth(index).map(|(growth, seconds)| growth / seconds).into(),
            Cell::Average { sum, timed } => growth(sum)
                .zip(growth(timed))
                .filter(|(_, (timed, _))| *timed > 0.0)
                .map(|((sum, _), (timed, _))| sum / timed)
                .into(),
            Cell::Switch(event) => match row.get(event) {
                Some(OwnedValue::Text(event)) => switches.get(event).map(|switch| switch_name(*switch)).into(),
                _ => OwnedValue::Null,
            },
        };
        let instrument = text(&grid, row, "EVENT_NAME");
        Row { cells: columns.iter().map(cell).collect(), instrument, details: row.clone(), key }
    });
    let sort = columns.iter().position(|(column, _)| column.title == "time/s").unwrap_or(0);
    let rows = rows.collect();
    Listing { rows, columns: columns.into_iter().map(|(column, _)| column).collect(), heads: grid.columns, sort: (sort, true) }
}

/// As the options at start call it.
fn switch_name((enabled, timed): (bool, bool)) -> &'static str {
    match (enabled, timed) {
        (true, true) => "timed",
        (true, false) => "counted",
        (false, _) => "off",
    }
}

fn whole(value: &OwnedValue) -> Option<i128> {
    match value {
        OwnedValue::Unsigned(number) => Some((*number).into()),
        OwnedValue::Signed(number) => Some((*number).into()),
        OwnedValue::Double(number) => Some(*number as i128),
        OwnedValue::Null | OwnedValue::Decimal(_) | OwnedValue::Text(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfschema::tables;

    fn grid(columns: &[&str], rows: &[&[OwnedValue]]) -> Grid {
        let head = |name: &&str| {
            let text = name.ends_with("NAME") || ["IP", "STATE"].contains(name);
            ColumnHead::new(*name, if text { SqlType::Varchar(64) } else { SqlType::BigintUnsigned })
        };
        Grid { columns: columns.iter().map(head).collect(), rows: rows.iter().map(|row| row.to_vec()).collect() }
    }

    fn cell(listing: &Listing, row: usize, title: &str) -> OwnedValue {
        let column = listing.columns.iter().position(|column| column.title == title);
        listing.rows[row].cells[column.unwrap_or_else(|| panic!("{title}: {:?}", listing.columns))].clone()
    }

    #[test]
    fn views_are_of_tables_that_are_declared() {
        let titles: Vec<&str> = VIEWS.iter().map(|view| view.title).collect();
        assert!(titles.starts_with(&["Waits", "Events", "Files"]) && titles.ends_with(&["Instruments"]), "{titles:?}");
        for view in VIEWS {
            let table = tables::find(view.table).expect("it is declared");
            assert!(view.names.is_none_or(|names| tables::find(names).is_ok()), "{}", view.title);
            let columns = table.declaration().columns.iter().chain(table.invisible());
            let heads: Vec<ColumnHead> = columns.map(ColumnHead::from).collect();
            let titles: Vec<String> = summary_columns(&heads).into_iter().map(|(column, _)| column.title).collect();
            for expected in ["time/s", "/s", "average", "total", "total time"] {
                let has_it = titles.iter().any(|title| title == expected);
                assert!(has_it || view.kind != Kind::Summary, "{}: {titles:?}", view.title);
            }
        }
    }

    /// Of the sums that statements have besides their times, those that most programs say, by second.
    #[test]
    fn rows_and_errors_of_statements() {
        let columns = ["EVENT_NAME", "COUNT_STAR", "SUM_TIMER_WAIT", "SUM_ERRORS", "SUM_ROWS_SENT", "SUM_SORT_ROWS"];
        let before = [("a".to_owned(), vec!["a".into(), 1_u64.into(), 9_u64.into(), 1_u64.into(), 10_u64.into(), 5_u64.into()])];
        let now: &[OwnedValue] = &["a".into(), 5_u64.into(), 99_u64.into(), 2_u64.into(), 40_u64.into(), 6_u64.into()];
        let listing = summary(grid(&columns, &[now]), &Switches::new(), Some((&HashMap::from(before), 2.0)));
        assert_eq!(cell(&listing, 0, "errors/s"), 0.5.into());
        assert_eq!(cell(&listing, 0, "rows sent/s"), 15.0.into());
        assert!(!listing.columns.iter().any(|column| column.title.contains("sort")), "{:?}", listing.columns);
    }

    /// A connection that was active and is idle now is the same one; at its place another one grows from nothing.
    #[test]
    fn a_connection_is_known_whatever_it_does() {
        let columns = ["THREAD_ID", "IP", "PORT", "STATE", "EVENT_NAME", INSTANCE, "COUNT_STAR", "SUM_TIMER_WAIT", TIMED];
        let row = |port: u64, state: &str, count: u64| -> Vec<OwnedValue> {
            let [thread, instance, count] = [1, 77, count].map(OwnedValue::from);
            let time = count.clone();
            vec![thread, "127.0.0.1".into(), port.into(), state.into(), "s".into(), instance, count.clone(), time, count]
        };
        let first = summary(grid(&columns, &[&row(4000, "ACTIVE", 1000)]), &Switches::new(), None);
        let name = first.columns.iter().find(|column| column.title == "ip").expect("it has a column");
        assert_eq!(name.keep, 0, "the narrowest terminal has room for it");
        let last = HashMap::from([(first.rows[0].key.clone(), first.rows[0].details.clone())]);
        for (port, expected) in [(4000, 5.0), (4001, 505.0)] {
            let next = summary(grid(&columns, &[&row(port, "IDLE", 1010)]), &Switches::new(), Some((&last, 2.0)));
            assert_eq!(cell(&next, 0, "/s"), expected.into(), "{port}");
        }
    }

    /// 30 events in 3 seconds, of which 4 were timed; the second instrument was truncated meanwhile, the third is new. Beyond 2⁵³ nothing
    /// is rounded away.
    #[test]
    fn rates_are_what_came_since_the_last_refresh() {
        let columns = ["EVENT_NAME", "COUNT_STAR", "SUM_TIMER_WAIT", "MAX_TIMER_WAIT", "COUNT_TIMER_WAIT"];
        let row = |name: &str, numbers: [u64; 4]| [vec![name.into()], numbers.map(OwnedValue::from).to_vec()].concat();
        let huge = 1 << 62;
        let before = [row("a", [100, huge + 1, 9, 20]), row("b", [50, 700, 9, 50])];
        let now = [row("a", [130, huge + 61, 9, 24]), row("b", [6, 60, 9, 6]), row("c", [3, 9, 9, 1])];
        let now: Vec<&[OwnedValue]> = now.iter().map(Vec::as_slice).collect();
        let last: HashMap<String, Vec<OwnedValue>> =
            before.into_iter().map(|row| (if row[0] == "a".into() { "a" } else { "b" }.to_owned(), row)).collect();
        let switches = Switches::from([("a".into(), (true, false)), ("b".into(), (false, true))]);
        let listing = summary(grid(&columns, &now), &switches, Some((&last, 3.0)));
        for (index, (rate, time, average)) in [(10.0, 20.0, 15.0), (2.0, 20.0, 10.0), (1.0, 3.0, 9.0)].into_iter().enumerate() {
            assert_eq!(cell(&listing, index, "/s"), rate.into());
            assert_eq!(cell(&listing, index, "time/s"), time.into());
            assert_eq!(cell(&listing, index, "average"), average.into());
        }
        assert_eq!(cell(&listing, 0, "total"), 130_u64.into());
        let is: Vec<OwnedValue> = (0..3).map(|row| cell(&listing, row, "is")).collect();
        assert_eq!(is, ["counted".into(), "off".into(), OwnedValue::Null]);
        assert_eq!(listing.columns[listing.sort.0].title, "time/s");

        let first = summary(grid(&columns, &now), &switches, None);
        assert_eq!(cell(&first, 0, "/s"), OwnedValue::Null);
    }

    #[test]
    fn instances_have_names_from_another_table() {
        let number = OwnedValue::from;
        let sums = grid(
            &["EVENT_NAME", INSTANCE, "COUNT_STAR"],
            &[&["e".into(), number(7_u64), number(1_u64)], &["e".into(), number(8), number(2)]],
        );
        let names = grid(&[INSTANCE, "IP", "EVENT_NAME"], &[&[number(8), "::1".into(), "e".into()]]);
        let both = named(sums, &names);
        let heads: Vec<&str> = both.columns.iter().map(|head| head.name.as_str()).collect();
        assert_eq!(heads, ["IP", "EVENT_NAME", INSTANCE, "COUNT_STAR"]);
        assert_eq!(both.rows[0][0], OwnedValue::Null);
        assert_eq!(both.rows[1][0], "::1".into());
        assert_eq!(both.rows[1][3], number(2));
    }
}
