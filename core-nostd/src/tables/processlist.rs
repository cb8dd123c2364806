//! `processlist`: what `threads` says of those who serve a user, as SHOW PROCESSLIST has it.

use super::threads::Threads;
use crate::region::{Region, Text};
use crate::table::{Declaration, Rights, SqlType, Sweep, TableSource, example, row};

row! {
    /// A row of [`processlist`](Processlist).
    pub struct ProcesslistRow {
        /// The connection's number, PROCESSLIST_ID of `threads`.
        ID as id: u64,
        /// The user.
        USER as user: Option<Text<32>>,
        /// The user's host.
        HOST as host: Option<Text<128>> = SqlType::Varchar(261),
        /// The schema of the statement that runs; NULL without one.
        DB as db: Option<Text<64>>,
        /// Query while a statement runs, Sleep otherwise.
        COMMAND as command: Option<&'static str> = SqlType::Varchar(16),
        /// Whole seconds in the present state, as PROCESSLIST_TIME of `threads`; NULL if that is not known.
        TIME as time: Option<i64>,
        /// The stage that runs, without `stage/<component>/`; empty without one.
        STATE as state: Option<Text<64>>,
        /// The text of the statement that runs; NULL without one.
        INFO as info: Option<Text<1024>> = SqlType::Longtext,
        /// PRIMARY: there is no other engine.
        EXECUTION_ENGINE as execution_engine: Option<&'static str> = SqlType::Enum(&["PRIMARY", "SECONDARY"]),
    }
}

/// `processlist`
#[doc = example!(
    "A client's thread executes a statement, in a stage of it:",
    Processlist,
    "{} {} {}",
    [row.user.unwrap_or_default(), row.state.unwrap_or_default(), row.info.unwrap_or_default()],
    ["ada sorting find 'bolts'"]
)]
#[derive(Clone, Copy, Debug)]
pub struct Processlist;

impl TableSource for Processlist {
    type Row = ProcesslistRow;
    const DECLARATION: Declaration = Declaration {
        name: "processlist",
        doc: "The foreground threads, and what each executes now.",
        columns: ProcesslistRow::COLUMNS,
        primary_key: &["ID"],
        rights: Rights::SELECT,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&ProcesslistRow)) -> Sweep {
        let mut background = 0;
        let mut sweep = Threads.scan(region, &mut |thread| {
            let Some(id) = thread.processlist_id else {
                background += 1;
                return;
            };
            each(&ProcesslistRow {
                id,
                user: thread.processlist_user.map(|user| user.as_str().into()),
                host: thread.processlist_host,
                db: thread.processlist_db,
                command: thread.processlist_command,
                time: thread.processlist_time,
                state: Some(thread.processlist_state.unwrap_or_default()),
                info: thread.processlist_info,
                execution_engine: Some("PRIMARY"),
            });
        });
        sweep.leave_out(background);
        sweep
    }
}
