//! `threads`: who records now, and what each is doing. Rows are the live slots.

use super::doing::doing;
use super::setup_instruments::yes_no;
use crate::region::{Region, SLOT, Section, Text};
use crate::slot::{self, Look};
use crate::table::{Assignments, Declaration, Rights, SqlType, Sweep, TableError, TableSource, YesNo, example, row};

row! {
    /// A row of [`threads`](Threads).
    pub struct ThreadsRow {
        /// The thread, a number that is never used again.
        THREAD_ID as thread_id: u64,
        /// What the thread does, by convention `thread/<program>/<name>`.
        NAME as name: Text<128>,
        /// FOREGROUND for a thread that serves a user, BACKGROUND for any other.
        TYPE as thread_type: &'static str = SqlType::Varchar(10),
        /// The connection's number, NULL for a background thread.
        PROCESSLIST_ID as processlist_id: Option<u64>,
        /// The user, NULL for a background thread.
        PROCESSLIST_USER as processlist_user: Option<Text<128>>,
        /// The user's host, NULL for a background thread.
        PROCESSLIST_HOST as processlist_host: Option<Text<128>> = SqlType::Varchar(255),
        /// The schema of the statement that runs, of several the outermost; NULL without one.
        PROCESSLIST_DB as processlist_db: Option<Text<64>>,
        /// Query while a statement runs, Sleep otherwise; NULL for a background thread.
        PROCESSLIST_COMMAND as processlist_command: Option<&'static str> = SqlType::Varchar(16),
        /// Seconds since the statement began, or else the stage, or the last statement ended, or the thread started; NULL if not known.
        PROCESSLIST_TIME as processlist_time: Option<i64>,
        /// The stage that runs, without `stage/<component>/`; NULL without one.
        PROCESSLIST_STATE as processlist_state: Option<Text<64>>,
        /// The text of the statement that runs, of several the outermost; NULL without one.
        PROCESSLIST_INFO as processlist_info: Option<Text<1024>> = SqlType::Longtext,
        /// The thread that started this one.
        PARENT_THREAD_ID as parent_thread_id: Option<u64>,
        /// Unused.
        ROLE as role: Option<Text<64>>,
        /// Whether the thread is recorded.
        INSTRUMENTED as instrumented: YesNo,
        /// Whether its ended events are kept.
        HISTORY as history: YesNo,
        /// The protocol of the connection; NULL.
        CONNECTION_TYPE as connection_type: Option<Text<16>>,
        /// The operating system's number of the thread.
        THREAD_OS_ID as thread_os_id: Option<u64>,
    }
}

/// `threads`
#[doc = example!(
    "There is one thread, which serves a client:",
    Threads,
    "{} {} {:?}",
    [row.thread_id, row.name, row.processlist_command],
    ["1 thread/app/client Some(\"Query\")"]
)]
#[derive(Clone, Copy, Debug)]
pub struct Threads;

impl TableSource for Threads {
    type Row = ThreadsRow;
    const DECLARATION: Declaration = Declaration {
        name: "threads",
        doc: "The threads that are known now.",
        columns: ThreadsRow::COLUMNS,
        primary_key: &["THREAD_ID"],
        rights: Rights::update_of(&["INSTRUMENTED", "HISTORY"]),
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&ThreadsRow)) -> Sweep {
        let slots = region.arrays::<SLOT>(Section::Slots);
        let mut sweep = Sweep::of(slots.len());
        let now = region.present();
        for (index, words) in slots.iter().enumerate() {
            let owner = match slot::look(words) {
                Look::Free => {
                    sweep.free(1);
                    continue;
                }
                Look::Changed => {
                    sweep.changed();
                    continue;
                }
                Look::Live(owner) => owner,
            };
            let [name, user, host] = slot::texts(words, &owner);
            let doing = doing(region, now, (index, words), &owner);
            sweep.disturbed(doing.disturbed);
            if !slot::still(words, &owner) {
                sweep.changed();
                continue;
            }
            let text = |text: Text<128>| (text != "").then_some(text);
            let number = |number: u64| (number != 0).then_some(number);
            each(&ThreadsRow {
                thread_id: owner.thread_id,
                name,
                thread_type: if owner.foreground { "FOREGROUND" } else { "BACKGROUND" },
                processlist_id: owner.foreground.then_some(owner.thread_id),
                processlist_user: text(user),
                processlist_host: text(host),
                processlist_db: doing.db,
                processlist_command: owner.foreground.then_some(if doing.executes { "Query" } else { "Sleep" }),
                processlist_time: doing.seconds,
                processlist_state: doing.state,
                processlist_info: doing.info,
                parent_thread_id: number(owner.parent_thread_id),
                role: None,
                instrumented: owner.setting.instrumented.into(),
                history: owner.setting.history.into(),
                connection_type: None,
                thread_os_id: number(owner.os_id),
            });
            sweep.row();
        }
        sweep
    }

    fn update(&self, region: &Region<'_>, row: &ThreadsRow, new: Assignments<'_>) -> Result<bool, TableError> {
        for words in region.arrays::<SLOT>(Section::Slots) {
            let Look::Live(owner) = slot::look(words) else { continue };
            if owner.thread_id != row.thread_id {
                continue;
            }
            return slot::change(words, &owner, |mut setting| {
                for (column, value) in new {
                    let first = column.eq_ignore_ascii_case("INSTRUMENTED");
                    let target = if first { &mut setting.instrumented } else { &mut setting.history };
                    *target = yes_no(value, if first { "INSTRUMENTED" } else { "HISTORY" })?;
                }
                Ok(setting)
            });
        }
        Ok(false)
    }
}
