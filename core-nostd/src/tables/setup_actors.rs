//! `setup_actors`: which foreground threads are recorded when they start. Running threads are left alone.
//!
//! One word says which row was inserted last, and a row is inserted by a compare-and-swap of that word: so of two who insert one key at
//! the same moment one finds the other's row there. That row may not be published yet, and who inserted it may be dead:
//! ```text
//! INSERT                                     another one
//!   place: claimed, words      Relaxed         last               [U2] Acquire
//!   last := this row           [U1] Release    that row: LIVE     as [P3]
//!   state := LIVE              [P3]            is the key there?  no: last := its own row, if it is still the same
//! ```

use super::setup_instruments::yes_no;
use crate::pool::{self, Claim, Look, Version};
use crate::region::{Region, SETUP_ACTOR, Section, Text, read_text, write_text};
use crate::setup;
use crate::slot::{ActorIdentity, ThreadSetting, ThreadType};
use crate::sync::{Ordering, Word};
use crate::table::{Assignments, Declaration, Rights, SqlType, Sweep, TableError, TableSource, Value, YesNo, example, row};

row! {
    /// A row of [`setup_actors`](SetupActors).
    pub struct SetupActorsRow {
        /// Host name, or % for any; at most 128 bytes.
        HOST as host: Text<128> = SqlType::Char(255); default "%",
        /// User name, or % for any; at most 128 bytes.
        USER as user: Text<128> = SqlType::Char(128); default "%"; collate binary,
        /// Unused: rows with another one than % match no thread, as in MySQL.
        ROLE as role: Text<128> = SqlType::Char(128); default "%"; collate binary,
        /// INSTRUMENTED of the threads that match.
        ENABLED as enabled: YesNo; default "YES",
        /// HISTORY of the threads that match.
        HISTORY as history: YesNo; default "YES",
    }
}

pub(crate) mod word {
    pub(crate) const STATE: usize = 0;
    pub(super) const LENGTHS: usize = 1;
    /// ENABLED and HISTORY, and above them the version of the claim, so that an UPDATE changes no later row.
    pub(super) const SETTING: usize = 2;
    pub(crate) const HOST: core::ops::Range<usize> = 16..32;
    pub(super) const USER: core::ops::Range<usize> = 32..48;
    pub(super) const ROLE: core::ops::Range<usize> = 48..64;
}

type RowWords = [Word; SETUP_ACTOR];

/// The bits of SETTING that are not its version.
const SETTING_BITS: u64 = 3;
/// LAST_ACTOR: the place, and above it the version of the claim without its two bits of state, which are zero.
const PLACE_BITS: u32 = 16;

/// `setup_actors`
#[doc = example!(
    "A new thread is instrumented, whoever it serves:",
    SetupActors,
    "{} {} {:?}",
    [row.user, row.host, row.enabled],
    ["% % Yes"]
)]
#[derive(Clone, Copy, Debug)]
pub struct SetupActors;

impl TableSource for SetupActors {
    type Row = SetupActorsRow;
    const DECLARATION: Declaration = Declaration {
        name: "setup_actors",
        doc: "Which foreground threads are recorded when they start.",
        columns: SetupActorsRow::COLUMNS,
        primary_key: &["HOST", "USER", "ROLE"],
        rights: Rights { truncate: true, update: &["ENABLED", "HISTORY"], insert_delete: true },
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&SetupActorsRow)) -> Sweep {
        Sweep::over(region.arrays::<SETUP_ACTOR>(Section::SetupActors), read, |(row, _)| each(&row))
    }

    fn truncate(&self, region: &Region<'_>) {
        for words in region.arrays::<SETUP_ACTOR>(Section::SetupActors) {
            let state = &words[word::STATE];
            if let Some(version) = pool::live(state) {
                pool::release(state, version);
            }
        }
    }

    fn update(&self, region: &Region<'_>, row: &SetupActorsRow, new: Assignments<'_>) -> Result<bool, TableError> {
        let Some((words, version)) = find(region, row) else { return Ok(false) };
        words[word::SETTING].try_update(|mut bits| {
            if bits & !SETTING_BITS != version.number() {
                return Ok(bits);
            }
            for (column, value) in new {
                let (column, bit) = if column.eq_ignore_ascii_case("ENABLED") { ("ENABLED", 1) } else { ("HISTORY", 2) };
                bits = if yes_no(value, column)? { bits | bit } else { bits & !bit };
            }
            Ok(bits)
        })
    }

    fn insert(&self, region: &Region<'_>, values: Assignments<'_>) -> Result<(), TableError> {
        let (mut texts, mut bits) = ([Text::<128>::EMPTY; 3], 0);
        let defaults = SetupActorsRow::COLUMNS.iter().filter_map(|column| Some((column.name, Value::Text(column.default?))));
        for (column, value) in defaults.chain(values.iter().copied()) {
            let column = Self::DECLARATION.column(column)?;
            let name = SetupActorsRow::COLUMNS[column].name;
            match (texts.get_mut(column), value) {
                (Some(text), Value::Text(new)) if new.len() <= 128 => *text = new.into(),
                (Some(_), Value::Text(_)) => return Err(TableError::DataTooLong { column: name }),
                (Some(_), _) => return Err(TableError::Truncated { column: name }),
                (None, value) => {
                    let bit = 1 << (column - 3);
                    bits = if yes_no(&value, name)? { bits | bit } else { bits & !bit };
                }
            }
        }
        insert(region, &texts, bits)
    }

    fn delete(&self, region: &Region<'_>, row: &SetupActorsRow) -> bool {
        find(region, row).is_some_and(|(words, version)| pool::release(&words[word::STATE], version))
    }
}

fn insert(region: &Region<'_>, texts: &[Text<128>; 3], bits: u64) -> Result<(), TableError> {
    let last = &region.setup()[setup::word::LAST_ACTOR];
    let mut claimed: Option<(u64, Claim<'_>)> = None;
    loop {
        // [U2] Acquire: pairs with [U1]; what is below sees every row that was inserted before. It changes nothing, and is no load only
        // because a word may be two halves.
        let seen = last.fetch_add(0, Ordering::Acquire);
        publish_inserted(region, seen);
        let mut exists = false;
        region.scan(&SetupActors, |row| exists |= has_key(row, texts));
        if exists {
            if let Some((_, claim)) = claimed {
                claim.give_up();
            }
            return Err(TableError::DuplicateKey { table: "setup_actors" });
        }
        let own = claimed.or_else(|| claim(region, texts, bits));
        let Some((place, claim)) = own else { return Err(TableError::TableFull { table: "setup_actors" }) };
        // [U1] Release: pairs with [U2]. It fails if another row was inserted since: its key may be the same.
        if last.compare_exchange(seen, claim.version() << (PLACE_BITS - 2) | place, Ordering::Release).is_ok() {
            claim.publish();
            return Ok(());
        }
        claimed = Some((place, claim));
    }
}

/// Shows the row that was inserted last: who inserted it may have come no further.
fn publish_inserted(region: &Region<'_>, last: u64) {
    let place = last & ((1 << PLACE_BITS) - 1);
    if let Some(words) = region.arrays::<SETUP_ACTOR>(Section::SetupActors).get(place as usize) {
        pool::publish_claimed(&words[word::STATE], last >> PLACE_BITS << 2);
    }
}

/// After a fork: what another thread was about to insert is free again.
pub(crate) fn forget_unfinished(region: &Region<'_>) {
    publish_inserted(region, region.setup()[setup::word::LAST_ACTOR].get());
    let states = region.arrays::<SETUP_ACTOR>(Section::SetupActors).iter().map(|words| &words[word::STATE]);
    states.for_each(pool::release_claimed);
}

/// A place with these words, for a row that is not inserted yet.
fn claim<'r>(region: &Region<'r>, [host, user, role]: &[Text<128>; 3], bits: u64) -> Option<(u64, Claim<'r>)> {
    let mut places = region.arrays::<SETUP_ACTOR>(Section::SetupActors).iter().zip(0..);
    let (words, place, claim) = places.find_map(|(words, place)| Some((words, place, pool::claim(&words[word::STATE])?)))?;
    let lengths = [
        write_text(&words[word::HOST], host.as_str()),
        write_text(&words[word::USER], user.as_str()),
        write_text(&words[word::ROLE], role.as_str()),
    ];
    words[word::LENGTHS].set(lengths.iter().rev().fold(0, |packed, &length| packed << 16 | length as u64));
    words[word::SETTING].set(claim.version() | bits);
    Some((place, claim))
}

fn read(words: &RowWords) -> Look<(SetupActorsRow, Version)> {
    pool::read(&words[word::STATE], |version| {
        let lengths = words[word::LENGTHS].get();
        let length = |i: u32| lengths >> (16 * i) & 0xffff;
        let setting = words[word::SETTING].get();
        let row = SetupActorsRow {
            host: read_text(&words[word::HOST], length(0)),
            user: read_text(&words[word::USER], length(1)),
            role: read_text(&words[word::ROLE], length(2)),
            enabled: (setting & 1 != 0).into(),
            history: (setting & 2 != 0).into(),
        };
        (row, version)
    })
}

/// Whether a row has this host, user and role. As MySQL's column has it, the case of a host's letters does not count.
fn has_key(row: &SetupActorsRow, [host, user, role]: &[Text<128>; 3]) -> bool {
    is_host(row.host, host.as_str()) && row.user == *user && row.role == *role
}

fn is_host(host: Text<128>, name: &str) -> bool {
    host.as_str().eq_ignore_ascii_case(name)
}

/// The place of a row, and which of the rows that were ever there it is.
fn find<'r>(region: &Region<'r>, row: &SetupActorsRow) -> Option<(&'r RowWords, Version)> {
    region.arrays::<SETUP_ACTOR>(Section::SetupActors).iter().find_map(|words| match read(words) {
        Look::Live((found, version)) if has_key(&found, &[row.host, row.user, row.role]) => Some((words, version)),
        _ => None,
    })
}

/// The row of a new region: everybody.
pub(crate) fn create(region: &Region<'_>) {
    // Without room for a row no foreground thread is recorded; that is what a size of 0 says.
    let _ = insert(region, &[Text::from("%"); 3], 3);
}

/// How a thread starts: background threads are always recorded, foreground ones if a row matches; the most exact one decides.
pub(crate) fn setting_for(region: &Region<'_>, identity: &ActorIdentity<'_>) -> ThreadSetting {
    if identity.thread_type == ThreadType::Background {
        return ThreadSetting { instrumented: true, history: true };
    }
    let mut best = 0;
    let mut setting = ThreadSetting { instrumented: false, history: false };
    region.scan(&SetupActors, |row| {
        let fits = |pattern: Text<128>, is_exact: bool| match pattern.as_str() {
            "%" => 1,
            _ if is_exact => 2,
            _ => 0,
        };
        let user = fits(row.user, row.user.as_str() == identity.user);
        let host = fits(row.host, is_host(row.host, identity.host));
        let rank = user * host * 4 + user;
        if row.role.as_str() == "%" && user * host != 0 && rank > best {
            best = rank;
            setting = ThreadSetting { instrumented: row.enabled == YesNo::Yes, history: row.history == YesNo::Yes };
        }
    });
    setting
}
