//! What the page has: rows of tables, the first of each, and what to draw of them.

use super::chart;
use crate::shared::result;
use crate::shared::show::{leave_out, leave_out_empty_columns};
use perfschema::render::{Grid, OwnedValue};
use perfschema_sql::{Error, Session};

/// Rows of a list; the page says how many there are.
const ROWS: usize = 50;
/// Of the setup, which is read by nobody from the start to the end.
const SETUP_ROWS: usize = 200;
/// Bars of a chart.
const BARS: usize = 12;
/// Histograms.
const HISTOGRAMS: usize = 6;

/// A part of the page.
pub(super) struct Section {
    pub(super) title: String,
    /// What it says, in words.
    pub(super) note: String,
    /// SVG.
    pub(super) charts: Vec<String>,
    pub(super) grid: Grid,
    /// How many rows there are; the grid has the first of them.
    pub(super) rows: usize,
    /// Where there are no rows.
    pub(super) empty: &'static str,
    /// Whether it is folded at first.
    pub(super) folded: bool,
}

impl Section {
    fn new(title: &str, note: &str, mut grid: Grid, limit: usize, empty: &'static str) -> Section {
        let rows = grid.rows.len();
        grid.rows.truncate(limit);
        leave_out_empty_columns(&mut grid);
        Section { title: title.into(), note: note.into(), charts: Vec::new(), grid, rows, empty, folded: false }
    }
}

/// All sections, in their order.
pub(super) fn all(session: &mut Session) -> Result<Vec<Section>, Error> {
    let mut sections = vec![
        waits_now(session)?,
        events(
            session,
            "Waits by instrument",
            "events_waits_summary_global_by_event_name",
            "Time waited in all threads together",
        )?,
        histograms(session)?,
        stages_now(session)?,
        events(session, "Stages by instrument", "events_stages_summary_global_by_event_name", "Time in all threads together")?,
        statements_now(session)?,
        events(
            session,
            "Statements by instrument",
            "events_statements_summary_global_by_event_name",
            "Time in all threads together",
        )?,
        transactions_now(session)?,
        transactions(session)?,
        io(session, "Files", "file_summary_by_instance", "FILE_NAME")?,
        io(session, "Sockets", "socket_summary_by_instance", "EVENT_NAME")?,
        metrics(session)?,
        lost(session)?,
    ];
    for table in ["setup_consumers", "setup_instruments", "setup_timers", "setup_actors", "global_variables"] {
        let grid = rows(session, &format!("SELECT * FROM performance_schema.{table} ORDER BY 1"))?;
        sections
            .push(Section { folded: true, ..Section::new(&format!("Setup: {table}"), "", grid, SETUP_ROWS, "There are none.") });
    }
    Ok(sections)
}

fn rows(session: &mut Session, select: &str) -> Result<Grid, Error> {
    session.execute(select).map(result::rows)
}

fn waits_now(session: &mut Session) -> Result<Section, Error> {
    let select = "SELECT thread_name, wait_so_far, operation, event_name, object_name, source, holder_thread_name, holder_source, \
                  thread_id, holder_thread_id, object_instance_begin \
                  FROM sys.`x$current_waits` w ORDER BY w.wait_so_far DESC";
    let grid = rows(session, select)?;
    Ok(Section::new("What waits now", "The longest first, each with who holds what it waits for.", grid, ROWS, "Nothing waited."))
}

fn stages_now(session: &mut Session) -> Result<Section, Error> {
    let select = "SELECT thread_name, stage_so_far, event_name, source, work_completed, work_estimated, progress, thread_id \
                  FROM sys.`x$current_stages` s ORDER BY s.stage_so_far DESC";
    let grid = rows(session, select)?;
    Ok(Section::new(
        "What is done now",
        "The stage of each thread that is in one, the longest first.",
        grid,
        ROWS,
        "No stage ran.",
    ))
}

fn statements_now(session: &mut Session) -> Result<Section, Error> {
    let select = "SELECT thread_name, statement_so_far, sql_text, event_name, current_schema, rows_examined, rows_sent, rows_affected, \
                  lock_latency, nesting_event_level, source, thread_id \
                  FROM sys.`x$current_statements` s ORDER BY s.statement_so_far DESC";
    let grid = rows(session, select)?;
    let note = "The statements of each thread that executes some, the longest first.";
    Ok(Section::new("What is executed now", note, grid, ROWS, "No statement ran."))
}

fn transactions_now(session: &mut Session) -> Result<Section, Error> {
    let select = "SELECT thread_name, transaction_so_far, current_statement, access_mode, isolation_level, autocommit, trx_id, savepoints, \
                  source, thread_id \
                  FROM sys.`x$current_transactions`";
    let grid = rows(session, select)?;
    let note = "The oldest first, each with what is executed in it, if anything is.";
    Ok(Section::new("Transactions that go on", note, grid, ROWS, "No transaction was open."))
}

/// There is one instrument of them, so they are listed by thread.
fn transactions(session: &mut Session) -> Result<Section, Error> {
    let figures = "COUNT_STAR, SUM_TIMER_WAIT, AVG_TIMER_WAIT, MAX_TIMER_WAIT, COUNT_READ_WRITE, SUM_TIMER_READ_WRITE, \
                   MAX_TIMER_READ_WRITE, COUNT_READ_ONLY, SUM_TIMER_READ_ONLY, MAX_TIMER_READ_ONLY";
    let of_all = format!(
        "SELECT 'all threads' AS NAME, {figures}, NULL AS THREAD_ID \
         FROM performance_schema.events_transactions_summary_global_by_event_name s WHERE COUNT_STAR > 0"
    );
    let by_thread = format!(
        "SELECT t.NAME, {figures}, s.THREAD_ID FROM performance_schema.events_transactions_summary_by_thread_by_event_name s \
         JOIN performance_schema.threads t ON t.THREAD_ID = s.THREAD_ID WHERE COUNT_STAR > 0 ORDER BY s.SUM_TIMER_WAIT DESC, s.COUNT_STAR DESC"
    );
    let mut grid = rows(session, &by_thread)?;
    let charts = chart::times("Time in transactions", &bars(&grid, "NAME", "SUM_TIMER_WAIT"));
    grid.rows.splice(0..0, rows(session, &of_all)?.rows);
    let note = "The sums of all threads, also of those that are gone, and of each that is there, the most time first.";
    let section = Section::new("Transactions by thread", note, grid, ROWS, "Nothing was recorded.");
    Ok(Section { charts: Vec::from_iter(charts), ..section })
}

/// Events of one class, summed by instrument.
fn events(session: &mut Session, title: &str, table: &str, chart: &str) -> Result<Section, Error> {
    let select = format!(
        "SELECT * FROM performance_schema.{table} s WHERE COUNT_STAR > 0 ORDER BY s.SUM_TIMER_WAIT DESC, s.COUNT_STAR DESC"
    );
    let mut grid = rows(session, &select)?;
    leave_out_zeros(&mut grid);
    let charts = chart::times(chart, &bars(&grid, "EVENT_NAME", "SUM_TIMER_WAIT"));
    let note = "Since the program started, or since the table was truncated: the most time first.";
    Ok(Section { charts: Vec::from_iter(charts), ..Section::new(title, note, grid, ROWS, "Nothing was recorded.") })
}

/// Sums that are 0 in each row are of what the program does not say; statements have many.
fn leave_out_zeros(grid: &mut Grid) {
    leave_out(grid, |grid, column| {
        let name = &grid.columns[column].name;
        let is_figure = name.starts_with("SUM_") && name != "SUM_TIMER_WAIT";
        is_figure && grid.rows.iter().all(|row| row.get(column) == Some(&OwnedValue::Unsigned(0)))
    });
}

fn metrics(session: &mut Session) -> Result<Section, Error> {
    let select = "SELECT NAME, COUNT, MAX_COUNT, MIN_COUNT, AVG_COUNT, TIME_ENABLED, TIME_ELAPSED, SUBSYSTEM, TYPE, COMMENT \
                  FROM information_schema.innodb_metrics m WHERE STATUS = 'enabled' ORDER BY SUBSYSTEM, NAME";
    let grid = rows(session, select)?;
    let note = "Those that are enabled. AVG_COUNT is COUNT a second; of a set_owner, COUNT each time. Times are UTC.";
    Ok(Section::new("Metrics", note, grid, ROWS, "None is enabled."))
}

fn histograms(session: &mut Session) -> Result<Section, Error> {
    // Chosen at once: each look at a histogram copies those of all instruments, of which there may be hundreds without one.
    let names = format!(
        "SELECT s.EVENT_NAME FROM performance_schema.events_waits_summary_global_by_event_name s \
         JOIN (SELECT DISTINCT EVENT_NAME FROM performance_schema.events_waits_histogram_by_event_name WHERE COUNT_BUCKET > 0) h \
         ON h.EVENT_NAME = s.EVENT_NAME WHERE s.COUNT_STAR > 0 ORDER BY s.SUM_TIMER_WAIT DESC LIMIT {HISTOGRAMS}"
    );
    let mut charts = Vec::new();
    for row in rows(session, &names)?.rows {
        let Some(OwnedValue::Text(name)) = row.into_iter().next() else { continue };
        let select = "SELECT BUCKET_TIMER_LOW, COUNT_BUCKET FROM performance_schema.events_waits_histogram_by_event_name h \
                      WHERE h.EVENT_NAME = ? ORDER BY h.BUCKET_NUMBER";
        let grid = result::rows(session.execute_with(select, &[name.as_str().into()])?);
        let buckets: Vec<(f64, f64)> =
            grid.rows.iter().map(|row| (number(&grid, row, "BUCKET_TIMER_LOW"), number(&grid, row, "COUNT_BUCKET"))).collect();
        charts.extend(chart::histogram(&name, &buckets));
    }
    let empty = if charts.is_empty() { "None were recorded; a consumer switches them on." } else { "" };
    let note = "How many waits took how long, of the instruments with the most time.";
    Ok(Section { charts, ..Section::new("Histograms", note, Grid::default(), 0, empty) })
}

/// What was read and written: files, sockets.
fn io(session: &mut Session, title: &str, table: &str, name: &str) -> Result<Section, Error> {
    let select = format!("SELECT * FROM performance_schema.{table} s WHERE COUNT_STAR > 0 ORDER BY s.SUM_TIMER_WAIT DESC");
    let grid = rows(session, &select)?;
    let bars = |column: &str| bars(&grid, name, column);
    let mut charts = Vec::from_iter(chart::times("Time of all operations", &bars("SUM_TIMER_WAIT")));
    let (read, written) = (bars("SUM_NUMBER_OF_BYTES_READ"), bars("SUM_NUMBER_OF_BYTES_WRITE"));
    charts.extend(chart::bytes("Bytes read (green) and written (brown)", &read, &written));
    let note = "Those with the most time first.";
    Ok(Section { charts, ..Section::new(title, note, grid, ROWS, "Nothing was read or written.") })
}

fn lost(session: &mut Session) -> Result<Section, Error> {
    let grid =
        rows(session, "SELECT * FROM performance_schema.global_status WHERE VARIABLE_NAME LIKE '%lost' AND VARIABLE_VALUE > 0")?;
    let note = "What found no room and is missing above; a larger size at start makes room.";
    Ok(Section::new("Losses", note, grid, ROWS, "Nothing was lost."))
}

/// What a chart shows of the first rows: their names, and how much.
fn bars(grid: &Grid, name: &str, column: &str) -> Vec<(String, f64)> {
    grid.rows.iter().take(BARS).map(|row| (text(grid, row, name), number(grid, row, column))).collect()
}

fn text(grid: &Grid, row: &[OwnedValue], column: &str) -> String {
    let value = grid.column(column).ok().and_then(|index| row.get(index));
    value.map_or_else(String::new, |value| value.as_value().to_string())
}

fn number(grid: &Grid, row: &[OwnedValue], column: &str) -> f64 {
    match grid.column(column).ok().and_then(|index| row.get(index)) {
        Some(OwnedValue::Unsigned(number)) => *number as f64,
        Some(OwnedValue::Signed(number)) => *number as f64,
        Some(OwnedValue::Double(number)) => *number,
        Some(OwnedValue::Decimal(digits)) => digits.parse().unwrap_or(0.0),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfschema::core::timer::{SystemClock, Timers};
    use perfschema::core::{
        Actor, ActorIdentity, Config, Held, Identity, InstrumentName, Operation, Region, Setting, Size, WaitStart, Word,
    };
    use perfschema_sql::{Account, Counter, Database};

    const INSTRUMENTS: u32 = 20;

    /// How many charts there are, and how many statements that took, where so many histograms have room.
    fn charts_and_statements(histograms: u32) -> (usize, u64) {
        let config = Config::SMALL.with(Size::MaxMutexClasses, INSTRUMENTS).with(Size::MaxWaitHistograms, histograms);
        let words: &'static [Word] = (0..config.words()).map(|_| Word::new(0)).collect::<Vec<_>>().leak();
        let region = Region::create(words, &config, &Identity::default(), &Timers::calibrate()).expect("it fits");
        region.enable_everything();
        let actor = Actor::attach(&region, &ActorIdentity::default());
        for number in 0..INSTRUMENTS {
            let name = format!("wait/synch/mutex/test/{number}");
            let class = region.register(InstrumentName::new(&name).expect("a name"), Setting::ON).expect("there is room");
            let wait = actor.begin(&SystemClock, region.switches(class), class, &WaitStart::new(Operation::Lock));
            actor.end(&SystemClock, wait, Held::None);
        }
        let database = Database::new(Region::open(words).expect("it is one"));
        let section = super::histograms(&mut database.session(Account::default()).expect("there is memory")).expect("it is read");
        (section.charts.len(), database.counted(Counter::ComSelect))
    }

    /// Each statement copies all histograms, and where their consumer is off no instrument has one.
    #[test]
    fn only_what_is_drawn_is_read() {
        assert_eq!(charts_and_statements(0), (0, 1));
        assert_eq!(charts_and_statements(INSTRUMENTS), (HISTOGRAMS, 1 + HISTOGRAMS as u64));
    }
}
