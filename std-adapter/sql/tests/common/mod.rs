//! Regions with a few instruments, and statements against them.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(missing_docs, reason = "a test's own helpers")]
#![allow(unreachable_pub, reason = "shared by several test crates")]

use perfschema::Now;
use perfschema::core::timer::{Clock, MockClock, TimerName};
use perfschema::core::{
    Actor, ActorIdentity, Class, Config, Held, Identity, InstrumentName, Operation, Region, Setting, Size, ThreadType, WaitStart,
    Word,
};
use perfschema_sql::{Account, Database, Limits, Outcome, Program, Session};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub const CONFIG: Config = Config::SMALL.with(Size::SetupActorsSize, 4).with(Size::MaxWaitHistograms, 4);

/// Instruments of WL#2360's example, as many as the pools hold.
pub const INSTRUMENTS: [&str; 11] = [
    "wait/synch/mutex/sql/LOCK_des_key_file",
    "wait/synch/mutex/mysys/KEY_CACHE::cache_lock",
    "wait/synch/mutex/myisam/MI_SORT_INFO::mutex",
    "wait/synch/mutex/tina/tina_mutex",
    "wait/synch/rwlock/sql/LOCK_grant",
    "wait/synch/rwlock/mysys/WT_RESOURCE::lock",
    "wait/synch/rwlock/mysys/SAFE_HASH_mutex",
    "wait/synch/rwlock/myisam/MYISAM_SHARE::key_root_lock",
    "wait/synch/cond/sql/PAGE::cond",
    "wait/synch/cond/mysys/WT_RESOURCE::cond",
    "wait/synch/cond/myisam/MI_SORT_INFO::cond",
];

pub fn words(count: usize) -> &'static [Word] {
    (0..count).map(|_| Word::new(0)).collect::<Vec<Word>>().leak()
}

/// A region on a clock that the test drives, and its instruments.
pub struct World {
    pub region: &'static Region<'static>,
    pub clock: MockClock,
    pub classes: Vec<Class>,
}

impl World {
    pub fn new() -> World {
        World::of(&CONFIG)
    }

    pub fn of(config: &Config) -> World {
        let clock = MockClock::new();
        let identity = Identity { pid: 42, program: "test", ..Identity::default() };
        let region = Region::create(words(config.words()), config, &identity, &clock.timers()).expect("it fits");
        let region: &'static Region<'static> = Box::leak(Box::new(region));
        region.set_wait_timer(TimerName::Nanosecond);
        region.enable_everything();
        let class = |name| region.register(InstrumentName::new(name).expect("a name"), Setting::ON).expect("there is room");
        World { region, clock, classes: INSTRUMENTS.map(class).to_vec() }
    }

    pub fn actor(&self, name: &str) -> Actor<'static> {
        Actor::attach(self.region, &ActorIdentity { name, ..ActorIdentity::default() })
    }

    /// The thread of a connection.
    pub fn user(&self, user: &str, host: &str) -> Actor<'static> {
        let name = "thread/sql/one_connection";
        let identity = ActorIdentity { name, thread_type: ThreadType::Foreground, user, host, ..ActorIdentity::default() };
        Actor::attach(self.region, &identity)
    }

    pub fn pass(&self, ns: u64) {
        self.clock.advance(TimerName::Nanosecond, ns);
    }

    /// A wait of so many nanoseconds.
    pub fn wait(&self, actor: &Actor<'_>, class: usize, object: u64, ns: u64) {
        let class = self.classes[class];
        let start = WaitStart { object, ..WaitStart::new(Operation::Lock) };
        let wait = actor.begin(&self.clock, self.region.switches(class), class, &start);
        self.pass(ns);
        actor.end(&self.clock, wait, Held::None);
    }

    pub fn session(&self) -> Session {
        session_of(self.region)
    }

    /// One that reads as of this moment.
    pub fn session_now(&self) -> Session {
        let now = Now::At(self.clock.ticks(TimerName::Nanosecond));
        session_of(Box::leak(Box::new(self.region.as_of(now))))
    }
}

/// For statements that may take long on a busy machine: no clock ends them.
pub const AN_HOUR: Duration = Duration::from_secs(3600);

fn session_of(region: &'static Region<'static>) -> Session {
    let limits = Limits { time: AN_HOUR, ..Limits::default() };
    let mut session = Database::new(region).limits(limits).session(Account::default()).expect("there is memory");
    session.use_schema("performance_schema").expect("it is there");
    session
}

/// A program that ends while a session is open.
pub struct Mortal(pub &'static Region<'static>, pub Arc<AtomicBool>);

impl Program for Mortal {
    fn region(&self) -> &Region<'_> {
        self.0
    }

    fn has_ended(&self) -> bool {
        self.1.load(Ordering::Relaxed)
    }
}

pub fn session() -> Session {
    World::new().session()
}

/// What a statement gives, on one line if it has no rows.
pub fn run(session: &mut Session, statement: &str) -> String {
    match session.execute(statement) {
        Ok(Outcome::Rows(grid)) => grid.csv().to_string(),
        Ok(Outcome::Done { changed, info, .. }) if info.is_empty() => format!("{changed} changed"),
        Ok(Outcome::Done { info, .. }) => info,
        Err(error) => error.to_string(),
    }
}

/// Rows as people see them.
pub fn boxed(session: &mut Session, statement: &str) -> String {
    match session.execute(statement) {
        Ok(Outcome::Rows(grid)) => grid.boxed().to_string(),
        other => panic!("{statement}: {other:?}"),
    }
}

/// Rows as CSV without the heading, one after the other; or the error.
#[track_caller]
pub fn check(session: &mut Session, statement: &str, expected: &str) {
    let found = run(session, statement);
    let found = if found.contains('\n') { found.split_once('\n').map_or("", |(_, rows)| rows).trim_end() } else { &found };
    assert_eq!(found, expected, "{statement}");
}
