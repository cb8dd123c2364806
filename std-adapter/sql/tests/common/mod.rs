//! A region with a few instruments, and statements against it.

use perfschema::core::{Config, Identity, InstrumentName, Region, Setting, Word, timer::Timers};
use perfschema_sql::{Account, Database, Outcome, Session};

/// The instruments of WL#2360's example, as far as this project has their kinds.
pub const INSTRUMENTS: [&str; 9] = [
    "wait/synch/mutex/sql/LOCK_des_key_file",
    "wait/synch/mutex/mysys/KEY_CACHE::cache_lock",
    "wait/synch/mutex/myisam/MI_SORT_INFO::mutex",
    "wait/synch/mutex/tina/tina_mutex",
    "wait/synch/rwlock/sql/LOCK_grant",
    "wait/synch/rwlock/mysys/SAFE_HASH_mutex",
    "wait/synch/cond/sql/PAGE::cond",
    "wait/synch/cond/mysys/WT_RESOURCE::cond",
    "wait/synch/cond/myisam/MI_SORT_INFO::cond",
];

/// A new region, never given back.
pub fn region() -> &'static Region<'static> {
    let words: &'static [Word] = Box::leak((0..Config::SMALL.words()).map(|_| Word::new(0)).collect());
    let identity = Identity { pid: 42, program: "test", ..Identity::default() };
    let region = Region::create(words, &Config::SMALL, &identity, &Timers::calibrate()).expect("it fits");
    for name in INSTRUMENTS {
        let name = InstrumentName::new(name).expect("a name");
        region.register(name, Setting { enabled: true, timed: true }).expect("there is room");
    }
    Box::leak(Box::new(region))
}

pub fn session() -> Session {
    Database::new(region()).session(Account::default()).expect("there is memory")
}

/// What a client would print.
pub fn print(session: &mut Session, statement: &str) -> String {
    match session.execute(statement) {
        Ok(Outcome::Rows(grid)) => grid.boxed().to_string(),
        Ok(Outcome::Done { changed, info, .. }) => format!("Query OK, {changed} rows affected\n{info}").trim_end().to_owned() + "\n",
        Err(error) => format!("{error}\n"),
    }
}
