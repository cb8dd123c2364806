//! The report at the end: tables, each cut to what is worth reading.
//!
//! People get few columns under short headings, as many as the terminal has room for; programs get the tables' own columns, with
//! the name of the table in front.

use super::overhead::{self, Price};
use super::{object_name, short_name, thread_names};
use crate::demo::Effort;
use crate::output::Format;
use indicatif::{DecimalBytes, HumanCount};
use perfschema::core::table::{SqlType, Table};
use perfschema::render::{ColumnHead, Grid, Order, OwnedValue};
use perfschema::{Consumer, Region, tables};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Rows of a list of the longest or most.
const TOP: usize = 10;

/// A part of the report.
struct Section {
    title: String,
    /// The table that programs are told.
    table: &'static dyn Table,
    grid: Grid,
    /// What people see: column, heading, and the width of terminal from which on there is room for it.
    columns: &'static [(&'static str, &'static str, usize)],
}

pub(super) fn write(out: &mut dyn Write, region: &Region<'_>, format: Format, width: usize, effort: &Effort) -> io::Result<()> {
    // Everything is read before the price of a wait is measured, which makes waits itself.
    let waits = overhead::wait_count(region);
    let sections = [
        by_event_name(region),
        by_thread(region, format),
        stages(region),
        statements(region),
        longest(region),
        by_instance(region, format),
        files_by_event_name(region),
        files_by_instance(region, width),
        sockets_by_event_name(region),
        sockets_by_instance(region),
        memory(region),
        lost(region),
    ];
    for section in &sections {
        if format.is_for_programs() {
            write_for_programs(out, section, format)?;
        } else if !section.grid.rows.is_empty() {
            writeln!(out, "\n{}", console::style(&section.title).bold())?;
            format.write(out, &section.for_people(width), width)?;
        }
    }
    if format.is_for_programs() { Ok(()) } else { write_costs(out, region, waits, effort) }
}

fn by_event_name(region: &Region<'_>) -> Section {
    let table = &tables::EventsWaitsSummaryGlobalByEventName;
    Section {
        title: "Waits by instrument".into(),
        table,
        grid: largest(waited(Grid::of(region, table))),
        columns: &[
            ("EVENT_NAME", "instrument", 0),
            ("COUNT_STAR", "waits", 0),
            ("SUM_TIMER_WAIT", "total", 0),
            ("AVG_TIMER_WAIT", "average", 90),
            ("QUANTILE_95", "95 %", 100),
            ("QUANTILE_99", "99 %", 0),
            ("QUANTILE_999", "99.9 %", 110),
            ("MAX_TIMER_WAIT", "longest", 0),
        ],
    }
}

fn stages(region: &Region<'_>) -> Section {
    let table = &tables::EventsStagesSummaryGlobalByEventName;
    Section {
        title: "Stages".into(),
        table,
        grid: largest(waited(Grid::of(region, table))),
        columns: &[
            ("EVENT_NAME", "stage", 0),
            ("COUNT_STAR", "times", 0),
            ("SUM_TIMER_WAIT", "total", 0),
            ("AVG_TIMER_WAIT", "average", 0),
            ("MAX_TIMER_WAIT", "longest", 0),
        ],
    }
}

/// What was asked for; nothing where nobody could ask.
fn statements(region: &Region<'_>) -> Section {
    let table = &tables::EventsStatementsSummaryGlobalByEventName;
    Section {
        title: "Statements".into(),
        table,
        grid: largest(waited(Grid::of(region, table))),
        columns: &[
            ("EVENT_NAME", "statement", 0),
            ("COUNT_STAR", "times", 0),
            ("SUM_TIMER_WAIT", "total", 0),
            ("AVG_TIMER_WAIT", "average", 0),
            ("MAX_TIMER_WAIT", "longest", 0),
            ("SUM_ERRORS", "failed", 0),
            ("SUM_ROWS_EXAMINED", "examined", 90),
            ("SUM_ROWS_SENT", "sent", 90),
        ],
    }
}

/// People get a row a thread: how long it waited, and for what most of the time.
fn by_thread(region: &Region<'_>, format: Format) -> Section {
    let table = &tables::EventsWaitsSummaryByThreadByEventName;
    let grid = waited(Grid::of(region, table));
    Section {
        title: "Waits by thread".into(),
        table,
        grid: if format.is_for_programs() { grid } else { sums_by_thread(region) },
        columns: &[
            ("THREAD", "thread", 0),
            ("COUNT_STAR", "waits", 0),
            ("SUM_TIMER_WAIT", "total", 0),
            ("MAX_TIMER_WAIT", "longest", 90),
            ("EVENT_NAME", "most of it for", 0),
            ("MAX_SUM_TIMER_WAIT", "which took", 0),
        ],
    }
}

fn sums_by_thread(region: &Region<'_>) -> Grid {
    #[derive(Default)]
    struct Sums {
        count: u64,
        sum_ps: u64,
        max_ps: u64,
        most: (u64, String),
    }
    let mut threads: BTreeMap<u64, Sums> = BTreeMap::new();
    region.scan(&tables::EventsWaitsSummaryByThreadByEventName, |row| {
        let sums = threads.entry(row.thread_id).or_default();
        sums.count = sums.count.saturating_add(row.count_star);
        sums.sum_ps = sums.sum_ps.saturating_add(row.sum_timer_wait);
        sums.max_ps = sums.max_ps.max(row.max_timer_wait);
        if row.sum_timer_wait > sums.most.0 {
            sums.most = (row.sum_timer_wait, row.event_name.to_string());
        }
    });
    let names = thread_names(region);
    let text = |name| ColumnHead::new(name, SqlType::Varchar(128)).not_null();
    let number = |name| ColumnHead::new(name, SqlType::BigintUnsigned).not_null();
    let columns = vec![
        text("THREAD"),
        number("COUNT_STAR"),
        number("SUM_TIMER_WAIT"),
        number("MAX_TIMER_WAIT"),
        text("EVENT_NAME"),
        ColumnHead { unit: perfschema::render::Unit::Picoseconds, ..number("MAX_SUM_TIMER_WAIT") },
    ];
    let rows = threads.into_iter().filter(|(_, sums)| sums.count > 0).map(|(thread, sums)| {
        let name = names.get(&thread).cloned().unwrap_or_else(|| thread.to_string());
        let (most_ps, most) = sums.most;
        vec![name.into(), sums.count.into(), sums.sum_ps.into(), sums.max_ps.into(), most.into(), most_ps.into()]
    });
    largest(Grid { columns, rows: rows.collect() })
}

fn longest(region: &Region<'_>) -> Section {
    let table = &tables::EventsWaitsHistoryLong;
    let grid = Grid::of(region, table);
    let title = format!("The longest of the last {} waits", HumanCount(grid.rows.len() as u64));
    let names = thread_names(region);
    let mut grid = ordered(grid, "TIMER_WAIT").limit(TOP);
    add_text(&mut grid, "THREAD", "THREAD_ID", |id| {
        let name = if let OwnedValue::Unsigned(id) = id { names.get(id) } else { None };
        name.cloned().unwrap_or_else(|| id.as_value().to_string())
    });
    add_text(&mut grid, "OBJECT", "EVENT_NAME", |name| object_name(&name.as_value().to_string()).to_owned());
    Section {
        title,
        table,
        grid,
        columns: &[
            ("TIMER_WAIT", "time", 0),
            ("THREAD", "thread", 0),
            ("OPERATION", "operation", 0),
            ("OBJECT", "object", 0),
            ("SOURCE", "source", 0),
        ],
    }
}

/// The locks that were waited for most, with their addresses as debuggers show them.
fn by_instance(region: &Region<'_>, format: Format) -> Section {
    let table = &tables::EventsWaitsSummaryByInstance;
    // For people files have a list of their own.
    let is_lock = |name: &str| format.is_for_programs() || !name.starts_with("wait/io/");
    let grid = waited(Grid::of(region, table)).retain(|row| row.text("EVENT_NAME").is_some_and(is_lock));
    let mut grid = largest(grid).limit(TOP);
    add_text(&mut grid, "ADDRESS", "OBJECT_INSTANCE_BEGIN", |address| match address {
        OwnedValue::Unsigned(address) => format!("{address:#x}"),
        other => other.as_value().to_string(),
    });
    Section {
        title: "The locks that were waited for most".into(),
        table,
        grid,
        columns: &[
            ("EVENT_NAME", "instrument", 0),
            ("ADDRESS", "address", 0),
            ("COUNT_STAR", "waits", 0),
            ("SUM_TIMER_WAIT", "total", 0),
            ("AVG_TIMER_WAIT", "average", 90),
            ("MAX_TIMER_WAIT", "longest", 0),
        ],
    }
}

fn files_by_event_name(region: &Region<'_>) -> Section {
    let table = &tables::FileSummaryByEventName;
    let mut grid = largest(waited(Grid::of(region, table)));
    add_bytes(&mut grid, &READ_AND_WRITTEN);
    Section { title: "Files by instrument".into(), table, grid, columns: &FILE_COLUMNS }
}

/// The files that took longest, by the ends of their names as far as there is room.
fn files_by_instance(region: &Region<'_>, width: usize) -> Section {
    let table = &tables::FileSummaryByInstance;
    let mut grid = largest(waited(Grid::of(region, table))).limit(TOP);
    add_bytes(&mut grid, &READ_AND_WRITTEN);
    // What is left beside the other columns.
    let room = width.saturating_sub(if width < 100 { 60 } else { 80 }).max(20);
    add_text(&mut grid, "FILE", "FILE_NAME", |name| {
        let name = name.as_value().to_string();
        let excess = console::measure_text_width(&name).saturating_sub(room);
        if excess == 0 { name } else { format!("…{}", name.chars().skip(excess + 1).collect::<String>()) }
    });
    Section { title: "The files that took longest".into(), table, grid, columns: &FILE_COLUMNS_OF_ONE }
}

fn sockets_by_event_name(region: &Region<'_>) -> Section {
    let table = &tables::SocketSummaryByEventName;
    let mut grid = largest(waited(Grid::of(region, table)));
    add_bytes(&mut grid, &READ_AND_WRITTEN);
    Section { title: "Sockets by instrument".into(), table, grid, columns: &FILE_COLUMNS }
}

/// The sockets that are still open and took longest, with whom they lead to.
fn sockets_by_instance(region: &Region<'_>) -> Section {
    let table = &tables::SocketSummaryByInstance;
    let mut names = BTreeMap::new();
    region.scan(&tables::SocketInstances, |row| {
        let state = if row.state == "IDLE" { " (idle)" } else { "" };
        let name = match row.ip.as_str() {
            "" => "a Unix socket".to_owned(),
            ip => format!("{ip}:{}", row.port),
        };
        names.insert(row.object_instance_begin, format!("{name}{state}"));
    });
    let mut grid = largest(waited(Grid::of(region, table))).limit(TOP);
    add_bytes(&mut grid, &READ_AND_WRITTEN);
    add_text(&mut grid, "SOCKET", "OBJECT_INSTANCE_BEGIN", |number| {
        let name = if let OwnedValue::Unsigned(number) = number { names.get(number) } else { None };
        name.cloned().unwrap_or_else(|| "closed meanwhile".into())
    });
    Section { title: "The open sockets that took longest".into(), table, grid, columns: &SOCKET_COLUMNS_OF_ONE }
}

/// The columns for people, behind that which names the row.
const FILE_COLUMNS: [(&str, &str, usize); 8] = io_columns("EVENT_NAME", "instrument");
const FILE_COLUMNS_OF_ONE: [(&str, &str, usize); 8] = io_columns("FILE", "file");
const SOCKET_COLUMNS_OF_ONE: [(&str, &str, usize); 8] = io_columns("SOCKET", "socket");

const fn io_columns(name: &'static str, heading: &'static str) -> [(&'static str, &'static str, usize); 8] {
    [
        (name, heading, 0),
        ("SUM_TIMER_WAIT", "total", 0),
        ("COUNT_READ", "reads", 0),
        ("READ", "read", 0),
        ("SUM_TIMER_READ", "took", 100),
        ("COUNT_WRITE", "writes", 0),
        ("WRITTEN", "written", 0),
        ("COUNT_MISC", "others", 100),
    ]
}

const READ_AND_WRITTEN: [(&str, &str); 2] = [("READ", "SUM_NUMBER_OF_BYTES_READ"), ("WRITTEN", "SUM_NUMBER_OF_BYTES_WRITE")];

/// Bytes as people read them.
fn add_bytes(grid: &mut Grid, columns: &[(&str, &str)]) {
    for (name, of) in columns {
        add_text(grid, name, of, |bytes| match bytes {
            OwnedValue::Unsigned(bytes) => format!("{:>9}", DecimalBytes(*bytes).to_string()),
            OwnedValue::Signed(bytes) if *bytes >= 0 => format!("{:>9}", DecimalBytes(bytes.unsigned_abs()).to_string()),
            // What was allocated before it was counted.
            other => format!("{:>9}", other.as_value().to_string()),
        });
    }
}

/// Empty unless it is asked for, by an option that switches on `memory/%`.
fn memory(region: &Region<'_>) -> Section {
    let table = &tables::MemorySummaryGlobalByEventName;
    let grid = Grid::of(region, table).retain(|row| row.number("COUNT_ALLOC") > Some(0));
    let mut grid = ordered(grid, "SUM_NUMBER_OF_BYTES_ALLOC");
    let bytes = [
        ("ALLOCATED", "SUM_NUMBER_OF_BYTES_ALLOC"),
        ("IN_USE", "CURRENT_NUMBER_OF_BYTES_USED"),
        ("MOST", "HIGH_NUMBER_OF_BYTES_USED"),
    ];
    add_bytes(&mut grid, &bytes);
    let columns = &[
        ("EVENT_NAME", "instrument", 0),
        ("COUNT_ALLOC", "allocations", 0),
        ("ALLOCATED", "of", 0),
        ("CURRENT_COUNT_USED", "in use", 0),
        ("IN_USE", "of", 0),
        ("MOST", "at most", 0),
    ];
    Section { title: "Memory by instrument".into(), table, grid, columns }
}

fn lost(region: &Region<'_>) -> Section {
    let table = &tables::GlobalStatus;
    let grid = Grid::of(region, table).retain(|row| row.text("VARIABLE_VALUE").is_some_and(|value| value != "0"));
    let columns = &[("VARIABLE_NAME", "lost, because something was full", 0), ("VARIABLE_VALUE", "count", 0)];
    Section { title: "Not recorded".into(), table, grid, columns }
}

fn waited(grid: Grid) -> Grid {
    grid.retain(|row| row.number("COUNT_STAR") > Some(0))
}

fn largest(grid: Grid) -> Grid {
    ordered(grid, "SUM_TIMER_WAIT")
}

/// One column more, made of another one, for people only: programs get the table's own.
fn add_text(grid: &mut Grid, name: &str, of: &str, text: impl Fn(&OwnedValue) -> String) {
    let index = grid.column(of).expect("the table has the column");
    grid.columns.push(ColumnHead::new(name, SqlType::Varchar(128)).not_null());
    for row in &mut grid.rows {
        let text = text(&row[index]);
        row.push(text.into());
    }
}

/// The largest first.
fn ordered(grid: Grid, column: &str) -> Grid {
    grid.order_by(column, Order::Descending).expect("the table has the column")
}

impl Section {
    /// The columns for people, as many as fit, with short headings and names.
    fn for_people(&self, width: usize) -> Grid {
        let columns: Vec<_> = self.columns.iter().filter(|&&(_, _, from)| width >= from).collect();
        let names: Vec<&str> = columns.iter().map(|&&(name, _, _)| name).collect();
        let mut grid = self.grid.clone().select(&names).expect("the sections name columns that there are");
        for (head, (_, heading, _)) in grid.columns.iter_mut().zip(&columns) {
            head.name = (*heading).to_owned();
        }
        for value in grid.rows.iter_mut().flatten() {
            if let OwnedValue::Text(text) = value {
                *text = short_name(text).to_owned();
            }
        }
        grid
    }
}

/// All columns of the table and one more, its name.
fn write_for_programs(out: &mut dyn Write, section: &Section, format: Format) -> io::Result<()> {
    let declaration = section.table.declaration();
    let names: Vec<&str> = declaration.columns.iter().map(|column| column.name).collect();
    let mut grid = section.grid.clone().select(&names).expect("a table has its columns");
    grid.columns.insert(0, ColumnHead::new("TABLE", SqlType::Varchar(64)).not_null());
    for row in &mut grid.rows {
        row.insert(0, declaration.name.into());
    }
    format.write(out, &grid, usize::MAX)?;
    // Tables of CSV, each with a header, stand apart.
    if format == Format::Csv { writeln!(out) } else { Ok(()) }
}

/// What the instrumentation took.
fn write_costs(out: &mut dyn Write, region: &Region<'_>, waits: u64, effort: &Effort) -> io::Result<()> {
    let price = Price::measure();
    let (cost, share) = overhead::estimate(waits, &price, effort.cpu.unwrap_or_default());
    let (cost_ms, share) = (cost.as_secs_f64() * 1e3, share * 100.0);
    let Price { recorded_ns, plain_ns } = price;
    let (waits, added_ns) = (HumanCount(waits), price.added_ns());
    writeln!(out, "\n{}", console::style("What it cost").bold())?;
    writeln!(out, "memory    {}, taken at the start and never more", DecimalBytes(region.size_bytes() as u64))?;
    match effort.cpu.map(|cpu| cpu.as_secs_f64()) {
        Some(cpu_s) => writeln!(out, "overhead  {share:.3} % of the CPU time, estimated: {cost_ms:.2} ms of {cpu_s:.2} s")?,
        None => writeln!(out, "overhead  {cost_ms:.2} ms of CPU time, estimated")?,
    }
    writeln!(out, "          {waits} waits × {added_ns:.1} ns; measured just now on a free mutex, whose")?;
    writeln!(out, "          lock and unlock take {recorded_ns:.1} ns recorded and {plain_ns:.1} ns not")?;
    if !region.consumer_enabled(Consumer::GlobalInstrumentation) {
        writeln!(out, "Everything is off, so nothing was recorded.")?;
    }
    Ok(())
}
