//! The program that is watched: its rows by SQL, what it does, and its switches.

use super::super::target::{self, State, Watch};
use super::super::{Error, result};
use super::view::{Listing, Switches, View};
use perfschema::core::table::YesNo;
use perfschema::render::{Grid, OwnedValue};
use perfschema::{Attached, tables};
use perfschema_sql::{self as sql, Account, Database, Session};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::sync::Arc;
use std::time::Instant;

/// `1 thread`, `5 threads`
pub(super) fn threads_text(threads: u64) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}

pub(super) struct Program {
    attached: Arc<Attached>,
    watch: Watch,
    database: Database,
    session: Session,
    pub(super) state: State,
    /// The counters of each view at its last refresh.
    last: HashMap<&'static str, (Instant, HashMap<String, Vec<OwnedValue>>)>,
}

/// A column of `setup_instruments`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Switch {
    Enabled,
    Timed,
}

impl Program {
    pub(super) fn find(target: &OsStr) -> Result<Program, Error> {
        let (attached, watch) = target::find_and_watch(target).map_err(Error::Target)?;
        let database = Database::new(Arc::clone(&attached));
        let state = watch.state();
        let session = session(&database, state).map_err(Error::Sql)?;
        Ok(Program { attached, watch, database, session, state, last: HashMap::new() })
    }

    /// `indexer, pid 17694`
    pub(super) fn name(&self) -> String {
        let region = self.attached.region();
        format!("{}, pid {}", perfschema::render::text::escape(region.program().as_str()), region.pid())
    }

    pub(super) fn threads(&self) -> u64 {
        let mut threads = 0;
        self.attached.region().scan(&tables::Threads, |_| threads += 1);
        threads
    }

    /// The counters of what found no room that are not zero.
    pub(super) fn lost(&self) -> Vec<String> {
        let mut lost = Vec::new();
        self.attached.region().scan(&tables::GlobalStatus, |row| {
            if let Some(value) = &row.variable_value
                && let Some(name) = row.variable_name.strip_suffix("_lost")
                && *value != "0"
            {
                lost.push(format!("{} {value}", name.strip_prefix("Performance_schema_").unwrap_or(name)));
            }
        });
        lost
    }

    /// Looks whether it still runs. The clock of one that has ended stands still: nothing waits any longer.
    pub(super) fn look(&mut self) -> Result<(), sql::Error> {
        let state = self.watch.state();
        if state == State::Ended && self.state != State::Ended {
            self.session = session(&self.database, state)?;
        }
        self.state = state;
        Ok(())
    }

    /// The view as it is now.
    pub(super) fn read(&mut self, view: &'static View) -> Result<Listing, sql::Error> {
        let rows = self.rows(&view.select())?;
        let now = Instant::now();
        let names = view.select_names().map(|select| self.rows(&select)).transpose()?;
        let switches = self.switches();
        let last = self.last.get(view.title);
        // Nothing grows in no time.
        let last = last.map(|(then, rows)| (rows, (now - *then).as_secs_f64().max(1e-3)));
        let listing = view.listing(rows, names, &switches, last);
        let counters = listing.rows.iter().map(|row| (row.key.clone(), row.details.clone())).collect();
        self.last.insert(view.title, (now, counters));
        Ok(listing)
    }

    /// Whether the view has been read before, so that there are rates.
    pub(super) fn has_read(&self, view: &View) -> bool {
        self.last.contains_key(view.title)
    }

    fn rows(&mut self, select: &str) -> Result<Grid, sql::Error> {
        self.session.execute(select).map(result::rows)
    }

    fn switches(&self) -> Switches {
        let mut switches = Switches::new();
        self.attached.region().scan(&tables::SetupInstruments, |row| {
            switches.insert(row.name.as_str().to_owned(), (row.enabled == YesNo::Yes, row.timed == Some(YesNo::Yes)));
        });
        switches
    }

    /// Turns a switch of an instrument to what it is not, and says what has become of it.
    pub(super) fn switch(&mut self, instrument: &str, switch: Switch) -> Result<String, sql::Error> {
        let (enabled, timed) = self.switches().get(instrument).copied().unwrap_or((false, false));
        let (column, on) = match switch {
            Switch::Enabled => ("ENABLED", !enabled),
            Switch::Timed => ("TIMED", !timed),
        };
        let value = if on { "YES" } else { "NO" };
        let update = format!("UPDATE performance_schema.setup_instruments SET {column} = '{value}' WHERE NAME = ?");
        self.session.execute_with(&update, &[instrument.into()])?;
        Ok(format!("{}: {column} = {value}", perfschema::render::text::escape(instrument)))
    }
}

fn session(database: &Database, state: State) -> Result<Session, sql::Error> {
    let database = if state == State::Ended { database.clone().read_only() } else { database.clone() };
    database.session(Account::default())
}
