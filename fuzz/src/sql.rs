//! Statements of SQL against a region: any text ends in rows or in an error of MySQL's, in time.

use perfschema_core::table::{SqlType, Value};
use perfschema_core::timer::Timers;
use perfschema_core::{
    Actor, ActorIdentity, Config, Held, Identity, InstrumentName, Operation, Region, Setting, WaitStart, Word,
};
use perfschema_sql::{Account, Database, Limits, Outcome, split};
use std::sync::LazyLock;
use std::time::Duration;

/// Statements change its setup; none of them can add to what it holds.
pub(crate) static DATABASE: LazyLock<Database> = LazyLock::new(|| database(*REGION));

/// The tables of a region, with narrow limits.
pub(crate) fn database(region: &'static Region<'static>) -> Database {
    let limits = Limits { time: Duration::from_millis(100), memory_bytes: 4 << 20, engine_bytes: 64 << 20, ..Limits::default() };
    Database::new(region).limits(limits)
}

/// A region in use.
pub(crate) static REGION: LazyLock<&'static Region<'static>> = LazyLock::new(region_in_use);

/// A new region, in which one thread has recorded waits, some of them within others.
pub(crate) fn region_in_use() -> &'static Region<'static> {
    let clock = perfschema_core::timer::SystemClock;
    let words: &'static [Word] = (0..Config::SMALL.words()).map(|_| Word::new(0)).collect::<Vec<Word>>().leak();
    let identity = Identity { pid: 42, program: "fuzz", ..Identity::default() };
    let region: Region<'static> = Region::create(words, &Config::SMALL, &identity, &Timers::calibrate()).expect("it fits");
    let region: &'static Region<'static> = Box::leak(Box::new(region));
    region.enable_everything();
    let class = region.register(InstrumentName::literal("wait/synch/mutex/fuzz/LOCK"), Setting::ON).expect("there is room");
    let other = region.register(InstrumentName::literal("wait/synch/rwlock/fuzz/lock"), Setting::ON).expect("there is room");
    let actor = Actor::attach(region, &ActorIdentity { name: "thread/fuzz/main", ..ActorIdentity::default() });
    for object in [1, u64::MAX] {
        let start = WaitStart { object, ..WaitStart::new(Operation::Lock) };
        let outer = actor.begin(&clock, region.switches(class), class, &start);
        let inner = actor.begin(&clock, region.switches(other), other, &WaitStart::new(Operation::ReadLock));
        actor.end(&clock, inner, Held::None);
        actor.end(&clock, outer, Held::None);
    }
    region
}

/// An exact number has as many digits behind the point as its column says.
fn digits_behind_the_point(value: Value<'_>, text: &str) -> Option<usize> {
    match value {
        Value::Null => None,
        Value::Text(digits) => Some(digits.split_once('.').map_or(0, |(_, fraction)| fraction.len())),
        other => panic!("{other:?}: {text}"),
    }
}

/// Text as a client sends it: several statements, one after the other, in a session of their own.
///
/// # Panics
/// If a result is no table, an error is none of MySQL's (then something of SQLite's came through), or the session is of no use afterwards.
pub fn sql(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut session = DATABASE.session(Account::default()).expect("there is memory");
    session.use_schema("performance_schema").expect("it is there");
    for piece in split(&text).iter().take(10) {
        let described = session.describe(&piece.text);
        match session.execute(&piece.text) {
            Ok(Outcome::Rows(grid)) => {
                assert!(grid.rows.iter().all(|row| row.len() == grid.columns.len()), "{}", piece.text);
                if let Ok(described) = described
                    && !described.columns.is_empty()
                {
                    assert_eq!(described.columns.len(), grid.columns.len(), "{}", piece.text);
                    for (index, (before, head)) in described.columns.iter().zip(&grid.columns).enumerate() {
                        let SqlType::Decimal(_, scale) = head.sql_type else { continue };
                        let mut values = grid.rows.iter().map(|row| row[index].as_value());
                        assert!(values.all(|value| {
                            digits_behind_the_point(value, &piece.text).is_none_or(|digits| digits == usize::from(scale))
                        }));
                        // What was told before there were rows is so.
                        if let SqlType::Decimal(_, told) = before.sql_type {
                            assert_eq!(told, scale, "{}", piece.text);
                        }
                    }
                }
            }
            Ok(Outcome::Done { matched, changed, .. }) => assert!(changed <= matched, "{}", piece.text),
            Err(error) => {
                assert!(error.errno != 1105 && error.sqlstate.len() == 5, "{error}: {}", piece.text);
            }
        }
    }
    // A machine that is busy may leave it no time.
    let mut answers = (0..100).map(|_| session.execute("SELECT COUNT(*) FROM performance_schema.setup_timers"));
    let answer = answers.find(|answer| !matches!(answer, Err(error) if error.errno == 3024));
    assert!(matches!(&answer, Some(Ok(Outcome::Rows(grid))) if grid.rows.len() == 1), "{answer:?}");
}
