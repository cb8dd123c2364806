//! Metrics: counters and resources of a program that are switched on when somebody wants to know, as rows of `innodb_metrics` (WL#5316).
//!
//! ```
//! use perfschema::metric::{Counter, Level};
//! use perfschema::tables;
//!
//! static OPENED: Counter = perfschema::counter!("metadata_table_opened", "metadata", "Number of table handlers opened");
//! static CLIENTS: Level = perfschema::level!("server_clients", "server", "Clients that are connected");
//!
//! # #[cfg(feature = "instrument")] {
//! let process = perfschema::builder().monitor_enable("module_metadata; server%").start()?;
//! CLIENTS.add(1);
//! OPENED.inc();
//! OPENED.add(2);
//! process.region().scan(&tables::InnodbMetrics::NOW, |row| match row.name.as_str() {
//!     "metadata_table_opened" => assert_eq!((row.count, row.status, row.metric_type), (3, "enabled", "counter")),
//!     "server_clients" => assert_eq!((row.count, row.max_count), (1, Some(1))),
//!     _ => {}
//! });
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | | TYPE | while it is off | while it is on |
//! |---|---|---|---|
//! | [`Counter`] | `counter` | two loads and a branch | words of the thread's own, plain loads and stores |
//! | [`CounterSet`] | `set_owner`, `set_member` | the same, twice | the same, twice |
//! | [`Gauge`] | `value` | two loads and a branch | one word that all threads share, and its extremes |
//! | [`StatusCounter`] | `status_counter` | as a counter that is on | the same |
//! | [`Level`] | `value` | one word that all threads share | the same, and its extremes |
//!
//! **Off by default.** `SET GLOBAL innodb_monitor_enable = 'metadata_table_opened'`, or `module_metadata`, `'metadata%'`, `all`;
//! [`Builder::monitor_enable`](crate::Builder::monitor_enable) and the option `innodb_monitor_enable` do so at start. What is declared
//! `enabled`, as the last word in its macro, is on from the start. Counting begins when it is enabled: so what a [`Gauge`] is then is not
//! known, and one that goes up and down is better a [`Level`], which the program keeps in any case.
//!
//! A metric registers at its first use after [`start`](crate::start); it has a row from then on. Two places may count the same name,
//! if both are of the same type. Nothing here allocates, locks or fails: of what finds no room, `Performance_schema_metrics_lost` tells.

#[cfg(feature = "instrument")]
use crate::process::process;
#[cfg(feature = "instrument")]
use crate::thread::{unfinished, with_actor};
pub use perfschema_core::metric::{MetricInfo, MetricType, Moment, MonitorCommand, MonitorRefusal};
#[cfg(feature = "instrument")]
use perfschema_core::{Word, metric::Metric};
use perfschema_timer::{Clock, SystemClock, TimerName};
#[cfg(feature = "instrument")]
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// This moment, as commands are given it and `innodb_metrics` counts from it.
pub fn now() -> Moment {
    let unix_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Moment::new(unix_s, SystemClock.ticks(TimerName::Nanosecond) / 1_000_000_000)
}

/// The word of all metrics that are not registered yet: off until the process records, then on, so that they register.
#[cfg(feature = "instrument")]
static UNREGISTERED: Word = Word::new(0);
/// The word of metrics that found no room.
#[cfg(feature = "instrument")]
static OFF: Word = Word::new(0);

#[cfg(feature = "instrument")]
pub(crate) fn started() {
    UNREGISTERED.set_metric_unregistered();
}

/// A metric of the program, in a `static` of its own: the macros make them.
#[doc(hidden)]
#[derive(Debug)]
pub struct Point {
    #[cfg(feature = "instrument")]
    info: MetricInfo<'static>,
    /// On when it is registered, unless an option says otherwise.
    #[cfg(feature = "instrument")]
    enabled: bool,
    /// Points to [`UNREGISTERED`], to [`OFF`], or to a word of the process's region: all of them are never freed.
    #[cfg(feature = "instrument")]
    control: AtomicPtr<Word>,
    /// [`UNKNOWN`], [`NO_ROOM`], or the metric.
    #[cfg(feature = "instrument")]
    metric: AtomicU32,
}

#[cfg(feature = "instrument")]
const UNKNOWN: u32 = u32::MAX;
#[cfg(feature = "instrument")]
const NO_ROOM: u32 = u32::MAX - 1;

#[cfg(not(feature = "instrument"))]
impl Point {
    #[doc(hidden)]
    pub const fn new(_: MetricInfo<'static>, _: bool) -> Point {
        Point {}
    }

    const fn is_on(&self) -> bool {
        false
    }
    const fn is_surely_on(&self) -> bool {
        false
    }
    fn count(&self, _: u64) {}
    fn set_total(&self, _: u64) {}
    fn change(&self, _: i64) {}
    fn set(&self, _: i64) {}
    fn join(&self, _: &Point) {}
}

#[cfg(feature = "instrument")]
impl Point {
    #[doc(hidden)]
    pub const fn new(info: MetricInfo<'static>, enabled: bool) -> Point {
        Point { info, enabled, control: AtomicPtr::new((&raw const UNREGISTERED).cast_mut()), metric: AtomicU32::new(UNKNOWN) }
    }

    /// Whether it is on, or not registered yet: all that it costs while it is off.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_on(&self) -> bool {
        // SAFETY: `control` only ever holds pointers to statics and to words of the region, which is never freed.
        // Acquire: pairs with the Release in register(); the region is seen as it was when it was made.
        unsafe { &*self.control.load(Ordering::Acquire) }.metric_is_on()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn metric(&self) -> Option<Metric> {
        // Acquire: pairs with the Release in register(); what says whether it is on is what it was then, or newer.
        match self.metric.load(Ordering::Acquire) {
            UNKNOWN => self.register(),
            // Also NO_ROOM, which is none.
            metric => u16::try_from(metric).ok().map(Metric::from_bits),
        }
    }

    /// Two threads may do so at once: both find the same metric.
    #[cold]
    #[inline(never)]
    fn register(&self) -> Option<Metric> {
        let process = process()?;
        let region = process.region();
        let is_on = process.monitored(self.info.name(), self.info.subsystem()).unwrap_or(self.enabled);
        let metric = unfinished(|| region.register_metric(&self.info, is_on, now())).ok();
        let word = metric.and_then(|metric| region.metric_word(metric)).unwrap_or(&OFF);
        // Release: pairs with the Acquire in is_on(). First: who finds the metric asks then whether it is on.
        self.control.store(std::ptr::from_ref(word).cast_mut(), Ordering::Release);
        // Release: pairs with the Acquire in metric().
        self.metric.store(metric.map_or(NO_ROOM, |metric| metric.to_bits().into()), Ordering::Release);
        metric
    }

    /// Whether it was on, and if it was not registered yet, is.
    #[cold]
    fn is_on_after_all(&self) -> bool {
        self.metric().is_some() && self.is_on()
    }

    /// Whether it is on; what is not registered yet registers, since nobody knows otherwise.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_surely_on(&self) -> bool {
        self.is_on() && (self.metric.load(Ordering::Relaxed) != UNKNOWN || self.is_on_after_all())
    }

    // Out of line: what is off stays small.
    #[inline(never)]
    fn count(&self, count: u64) {
        let metric = match self.metric.load(Ordering::Relaxed) {
            UNKNOWN if !self.is_kept() && !self.is_on_after_all() => return,
            _ => self.metric(),
        };
        let Some(metric) = metric else { return };
        if with_actor(|actor| actor.count_metric(metric, count)).is_none()
            && let Some(process) = process()
        {
            // A handler nested too deep.
            process.region().count_metric_shared(metric, count);
        }
    }

    const fn is_kept(&self) -> bool {
        self.info.is_kept()
    }

    fn set_total(&self, total: u64) {
        if let Some((metric, process)) = self.metric().zip(process()) {
            process.region().set_metric_total(metric, total);
        }
    }

    #[inline(never)]
    fn change(&self, change: i64) {
        if let Some((metric, process)) = self.metric().zip(process())
            && (self.is_kept() || self.is_on())
        {
            process.region().change_metric_value(metric, change);
        }
    }

    #[inline(never)]
    fn set(&self, value: i64) {
        if let Some((metric, process)) = self.metric().zip(process())
            && (self.is_kept() || self.is_on())
        {
            process.region().set_metric_value(metric, value);
        }
    }

    /// Says that this counts how much, and `member` how often.
    fn join(&self, member: &Point) {
        if self.metric.load(Ordering::Relaxed) == UNKNOWN
            && let Some(((owner, member), process)) = self.metric().zip(member.metric()).zip(process())
        {
            process.region().join_metrics(owner, member);
        }
    }
}

/// A counter, of TYPE `counter`; made by [`counter!`](crate::counter!).
///
/// ```
/// use perfschema::metric::Counter;
/// static DEADLOCKS: Counter = perfschema::counter!("lock_deadlocks", "lock", "Number of deadlocks");
/// DEADLOCKS.inc();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Counter(&'static Point);

impl Counter {
    #[doc(hidden)]
    pub const fn __of(point: &'static Point) -> Counter {
        Counter(point)
    }

    /// One more, if it is on.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn inc(&self) {
        self.add(1);
    }

    /// So many more, if it is on. In words of the thread's own: no two threads write the same cache line.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn add(&self, count: u64) {
        if self.0.is_on() {
            self.0.count(count);
        }
    }

    /// Whether it is on: for a count that would cost something to find out.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn is_on(&self) -> bool {
        self.0.is_surely_on()
    }

    /// Counts the microseconds until what this returns is dropped, if it is on now: MONITOR_INC_TIME_IN_MICRO_SECS. The only count for
    /// which a clock is read.
    ///
    /// ```
    /// use perfschema::metric::Counter;
    /// static PURGE_USEC: Counter = perfschema::counter!("purge_dml_usec", "purge", "Microseconds that purging took");
    /// let timing = PURGE_USEC.time_in_micro_secs();
    /// // … what is measured …
    /// drop(timing);
    /// ```
    #[must_use = "it ends when it is dropped"]
    pub fn time_in_micro_secs(&self) -> Timing {
        Timing { counter: *self, start: self.0.is_on().then(|| SystemClock.ticks(TimerName::Nanosecond)) }
    }
}

/// Time that is counted until this is dropped; see [`Counter::time_in_micro_secs`].
#[derive(Debug)]
pub struct Timing {
    counter: Counter,
    start: Option<u64>,
}

impl Drop for Timing {
    fn drop(&mut self) {
        if let Some(start) = self.start {
            let ns = SystemClock.ticks(TimerName::Nanosecond).saturating_sub(start);
            self.counter.add(ns / 1000);
        }
    }
}

/// How much, and how often: an owner and a member, of TYPE `set_owner` and `set_member`, as MONITOR_INC_VALUE_CUMULATIVE counts them;
/// made by [`counter_set!`](crate::counter_set!). AVG_COUNT of the owner is how much each time.
///
/// ```
/// use perfschema::metric::CounterSet;
/// static FLUSHED: CounterSet = perfschema::counter_set!(
///     ("buffer_flush_batch_total_pages", "buffer", "Pages flushed"),
///     ("buffer_flush_batches", "buffer", "Number of flush batches"),
/// );
/// FLUSHED.add(17);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CounterSet {
    owner: &'static Point,
    member: &'static Point,
}

impl CounterSet {
    #[doc(hidden)]
    pub const fn __of(owner: &'static Point, member: &'static Point) -> CounterSet {
        CounterSet { owner, member }
    }

    /// Once more, and so much of it: each counts if it is on.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn add(&self, amount: u64) {
        if self.owner.is_on() || self.member.is_on() {
            self.count(amount);
        }
    }

    #[inline(never)]
    fn count(&self, amount: u64) {
        self.owner.join(self.member);
        if self.owner.is_on() {
            self.owner.count(amount);
        }
        if self.member.is_on() {
            self.member.count(1);
        }
    }
}

/// A resource that is counted while it is on, of TYPE `value`; made by [`gauge!`](crate::gauge!). It goes up and down, and knows the
/// greatest and least that it was: that takes one word which all threads write.
///
/// ```
/// use perfschema::metric::Gauge;
/// static DELAY: Gauge = perfschema::gauge!("purge_dml_delay_usec", "purge", "Microseconds that a statement is delayed");
/// DELAY.set(500);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Gauge(&'static Point);

impl Gauge {
    #[doc(hidden)]
    pub const fn __of(point: &'static Point) -> Gauge {
        Gauge(point)
    }

    /// It is so much now.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn set(&self, value: i64) {
        if self.0.is_on() {
            self.0.set(value);
        }
    }

    /// It is more by so much.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn add(&self, change: i64) {
        if self.0.is_on() {
            self.0.change(change);
        }
    }

    /// It is less by so much.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn sub(&self, change: i64) {
        self.add(change.wrapping_neg());
    }

    /// Whether it is on: for a value that would cost something to find out.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn is_on(&self) -> bool {
        self.0.is_surely_on()
    }
}

/// A resource that the program keeps whether it is on or not, of TYPE `value`; made by [`level!`](crate::level!). So it is right from
/// the moment that it is enabled; but before [`start`](crate::start) there is nothing to keep it in. Each change is a read-modify-write of one word, also while it
/// is off. While it is off, COUNT is at most 2⁶¹ from 0.
///
/// ```
/// use perfschema::metric::Level;
/// static OPEN: Level = perfschema::level!("file_num_open_files", "file_system", "Number of files open");
/// OPEN.add(1);
/// OPEN.sub(1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Level(&'static Point);

impl Level {
    #[doc(hidden)]
    pub const fn __of(point: &'static Point) -> Level {
        Level(point)
    }

    /// It is so much now.
    pub fn set(&self, value: i64) {
        self.0.set(value);
    }

    /// It is more by so much.
    pub fn add(&self, change: i64) {
        self.0.change(change);
    }

    /// It is less by so much.
    pub fn sub(&self, change: i64) {
        self.0.change(change.wrapping_neg());
    }
}

/// A counter that the program keeps whether it is on or not, from [`start`](crate::start) on, of TYPE `status_counter`; made by
/// [`status_counter!`](crate::status_counter!). The metric shows how it grew while it was enabled, and since it was reset.
///
/// ```
/// use perfschema::metric::StatusCounter;
/// static INSERTED: StatusCounter = perfschema::status_counter!("dml_inserts", "dml", "Number of rows inserted");
/// INSERTED.add(3);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StatusCounter(&'static Point);

impl StatusCounter {
    #[doc(hidden)]
    pub const fn __of(point: &'static Point) -> StatusCounter {
        StatusCounter(point)
    }

    /// One more.
    pub fn inc(&self) {
        self.add(1);
    }

    /// So many more, in words of the thread's own.
    pub fn add(&self, count: u64) {
        self.0.count(count);
    }

    /// It is so many now, in all: of a counter that the program has elsewhere, and never adds to here.
    pub fn set(&self, total: u64) {
        self.0.set_total(total);
    }
}

/// A [`Counter`] of NAME, SUBSYSTEM and COMMENT, in a `static` of its own; `enabled` behind them has it on from the start.
/// Names are checked when the program is compiled.
///
/// ```
/// use perfschema::metric::Counter;
/// static READS: Counter = perfschema::counter!("cache_reads", "cache", "Pages that were in the cache", enabled);
/// READS.inc();
/// ```
/// ```compile_fail
/// # use perfschema::metric::Counter;
/// static READS: Counter = perfschema::counter!("module_reads", "cache", "");
/// ```
#[macro_export]
macro_rules! counter {
    ($name:literal, $subsystem:literal, $comment:literal $(, $enabled:ident)? $(,)?) => {
        $crate::metric::Counter::__of($crate::__metric!(Counter, $name, $subsystem, $comment $(, $enabled)?))
    };
}

/// A [`CounterSet`]: NAME, SUBSYSTEM and COMMENT of its owner, and of its member.
///
/// ```
/// use perfschema::metric::CounterSet;
/// static M: CounterSet = perfschema::counter_set!(("read_bytes", "io", "Bytes read"), ("reads", "io", "Reads"));
/// M.add(4096);
/// ```
#[macro_export]
macro_rules! counter_set {
    (
        ($owner:literal, $subsystem:literal, $comment:literal $(, $enabled:ident)? $(,)?),
        ($member:literal, $member_subsystem:literal, $member_comment:literal $(, $member_enabled:ident)? $(,)?) $(,)?
    ) => {
        $crate::metric::CounterSet::__of(
            $crate::__metric!(SetOwner, $owner, $subsystem, $comment $(, $enabled)?),
            $crate::__metric!(SetMember, $member, $member_subsystem, $member_comment $(, $member_enabled)?),
        )
    };
}

/// A [`Gauge`] of NAME, SUBSYSTEM and COMMENT; see [`counter!`].
///
/// ```
/// use perfschema::metric::Gauge;
/// static M: Gauge = perfschema::gauge!("queue_length", "queue", "Jobs that wait");
/// M.set(3);
/// ```
#[macro_export]
macro_rules! gauge {
    ($name:literal, $subsystem:literal, $comment:literal $(, $enabled:ident)? $(,)?) => {
        $crate::metric::Gauge::__of($crate::__metric!(Value, $name, $subsystem, $comment $(, $enabled)?))
    };
}

/// A [`Level`] of NAME, SUBSYSTEM and COMMENT; see [`counter!`].
///
/// ```
/// use perfschema::metric::Level;
/// static M: Level = perfschema::level!("queue_length", "queue", "Jobs that wait");
/// M.add(1);
/// ```
#[macro_export]
macro_rules! level {
    ($name:literal, $subsystem:literal, $comment:literal $(, $enabled:ident)? $(,)?) => {
        $crate::metric::Level::__of($crate::__metric!(kept Value, $name, $subsystem, $comment $(, $enabled)?))
    };
}

/// A [`StatusCounter`] of NAME, SUBSYSTEM and COMMENT; see [`counter!`].
///
/// ```
/// use perfschema::metric::StatusCounter;
/// static M: StatusCounter = perfschema::status_counter!("queue_length", "queue", "Jobs that wait");
/// M.inc();
/// ```
#[macro_export]
macro_rules! status_counter {
    ($name:literal, $subsystem:literal, $comment:literal $(, $enabled:ident)? $(,)?) => {
        $crate::metric::StatusCounter::__of($crate::__metric!(StatusCounter, $name, $subsystem, $comment $(, $enabled)?))
    };
}

/// A metric in a `static` of its own, which nothing that the caller writes can mean.
#[doc(hidden)]
#[macro_export]
macro_rules! __metric {
    (kept $type:ident, $($text:literal),* $(, $enabled:ident)?) => {
        $crate::__metric!(@point ($crate::__metric!(@info $type $($text),*)).kept(), $($enabled)?)
    };
    ($type:ident, $($text:literal),* $(, $enabled:ident)?) => {
        $crate::__metric!(@point $crate::__metric!(@info $type $($text),*), $($enabled)?)
    };
    (@info $type:ident $($text:literal),*) => {
        $crate::metric::MetricInfo::literal($($text,)* $crate::metric::MetricType::$type)
    };
    (@point $info:expr, enabled) => { $crate::__metric!(@static $info, true) };
    (@point $info:expr,) => { $crate::__metric!(@static $info, false) };
    (@static $info:expr, $enabled:literal) => {{
        static POINT: $crate::metric::Point = $crate::metric::Point::new($info, $enabled);
        &POINT
    }};
}
