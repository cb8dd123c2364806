//! Metrics: named counters and resources of a program, each switched and set back by itself, as `innodb_metrics` shows them (WL#5316).
//!
//! **Counters** only grow. What is counted is a *total*: the sum of a word for each actor, which that actor alone writes with plain loads and
//! stores, and a shared one for those without a slot. Slots keep their sums over all owners, so an ended thread counts exactly once. No
//! command touches a total: one word, the *control*, says what to take off, or what is shown while the metric is off.
//! ```text
//!   on      control = base            COUNT = total - base
//!     stop:    one compare-and-swap     ↓      ↑     start
//!   off     control = COUNT           COUNT = control
//! ```
//! So whatever is added while it is off, or by a thread that found it on a moment ago, is not in COUNT, and a stop and a start lose nothing.
//! COUNT_RESET is COUNT less what it was at the last reset.
//!
//! **Values** go up and down. They are shared words, changed by read-modify-write: their greatest and least value would not be known
//! otherwise. At most one cache line is written, and the extremes only where there is a new one.
//!
//! All words are relaxed, and each is whole. Commands are rare; who reads while one is given may see the numbers of before it beside those
//! of after it. Of two commands for the same metric at the same moment, each is carried out, and the times may be those of either.

mod control;
mod moment;

use crate::class::{self, FORGOTTEN, FREE, PUBLISHED, RegisterError, STATE_BITS};
use crate::lost::Lost;
use crate::region::{
    METRIC, METRIC_SHARED, METRIC_SUMS, METRIC_TEXTS, Region, Section, Text, read_text, text_is, what_fits, write_text,
};
use crate::slot;
use crate::sync::{Ordering, Word};
use crate::{Actor, Size};
use control::Control;
pub use control::{MonitorCommand, MonitorRefusal, UnknownMonitor, monitor_matches};
pub use moment::Moment;
pub(crate) use moment::moment_text;

/// Words of a metric.
pub(crate) mod word {
    use core::ops::Range;

    pub(crate) const STATE: usize = 0;
    /// Lengths of name, subsystem and comment, and the [`MetricType`](super::MetricType), 16 bits each.
    pub(crate) const LENGTHS: usize = 1;
    /// What everybody who counts loads: see [`Control`](super::Control).
    pub(crate) const CONTROL: usize = 2;
    /// COUNT at the last reset, times two; the lowest bit says that it was off then, and ever since.
    pub(crate) const RESET_BASE: usize = 3;
    /// [`Moment`](super::Moment)s.
    pub(crate) const TIME_ENABLED: usize = 4;
    pub(crate) const TIME_DISABLED: usize = 5;
    pub(crate) const TIME_RESET: usize = 6;
    /// All of what is forgotten when everything is reset: the base, and the moments.
    pub(crate) const SINCE: Range<usize> = RESET_BASE..TIME_RESET + 1;
    /// Of the owner of a set: its member's index, and one.
    pub(crate) const MEMBER: usize = 7;
    /// In a section of their own, of what is registered.
    pub(crate) const NAME: Range<usize> = 0..8;
    pub(crate) const SUBSYSTEM: Range<usize> = 8..12;
    pub(crate) const COMMENT: Range<usize> = 12..32;
}

/// Words of a metric that several threads write.
pub(crate) mod shared {
    /// What was counted by threads without a slot; of a value, the value.
    pub(crate) const SUM: usize = 0;
    /// Greatest and least value since it was enabled, and since it was reset: see [`greater`](super::greater), [`less`](super::less).
    pub(crate) const MAX: usize = 1;
    pub(crate) const MIN: usize = 2;
    pub(crate) const MAX_RESET: usize = 3;
    pub(crate) const MIN_RESET: usize = 4;
}

/// Beside a metric's type: it is kept in any case.
const KEPT: usize = 1 << 8;
/// Where the type is in the word LENGTHS, with [`KEPT`].
const KIND_SHIFT: u32 = 48;

/// The longest name, in bytes.
pub const NAME_LENGTH: usize = 64;
/// The longest subsystem, in bytes.
pub const SUBSYSTEM_LENGTH: usize = 32;
/// How much is kept of a comment, in bytes.
pub const COMMENT_LENGTH: usize = 160;

/// What modules are called: this, and their subsystem.
pub const MODULE_PREFIX: &str = "module_";

/// The subsystem of the counters that a region has by itself: what was lost.
const OWN_SUBSYSTEM: &str = "perfschema";

/// The column TYPE, and with it how a metric counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum MetricType {
    /// A resource: as much as there is now.
    Value = 0,
    /// A counter that the program keeps in any case; the metric shows how it grew while it was enabled.
    StatusCounter = 1,
    /// How much in all; its member counts how often, so that AVG_COUNT is how much each time.
    SetOwner = 2,
    /// How often.
    SetMember = 3,
    /// A counter.
    Counter = 4,
}

impl MetricType {
    const ALL: [MetricType; 5] =
        [MetricType::Value, MetricType::StatusCounter, MetricType::SetOwner, MetricType::SetMember, MetricType::Counter];

    /// As the column TYPE shows it.
    pub const fn name(self) -> &'static str {
        match self {
            MetricType::Value => "value",
            MetricType::StatusCounter => "status_counter",
            MetricType::SetOwner => "set_owner",
            MetricType::SetMember => "set_member",
            MetricType::Counter => "counter",
        }
    }
}

/// What a metric is called and what it says.
///
/// ```
/// use perfschema_core::metric::{MetricInfo, MetricType};
/// const OPENED: MetricInfo =
///     MetricInfo::literal("metadata_table_opened", "metadata", "Number of table handlers opened", MetricType::Counter);
/// assert_eq!((OPENED.name(), OPENED.subsystem()), ("metadata_table_opened", "metadata"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricInfo<'a> {
    name: &'a str,
    subsystem: &'a str,
    comment: &'a str,
    metric_type: MetricType,
    is_kept: bool,
}

/// Why a metric cannot be called so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetricNameError {
    /// Of a name or subsystem: it is empty, too long, or has other characters than ASCII letters, digits and `_`.
    Characters,
    /// A name that a command would take for something else: `all`, or `module_…`.
    Reserved,
}

impl MetricNameError {
    const fn message(self) -> &'static str {
        match self {
            MetricNameError::Characters => {
                "a metric's name is up to 64 letters, digits and _ of ASCII, its subsystem up to 32, such as lock_deadlocks, lock"
            }
            MetricNameError::Reserved => "a metric is neither named all nor module_…: commands mean others by that",
        }
    }
}

impl core::fmt::Display for MetricNameError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.message())
    }
}

impl core::error::Error for MetricNameError {}

impl<'a> MetricInfo<'a> {
    /// A metric of this NAME, SUBSYSTEM, COMMENT and TYPE. Of the comment 160 bytes are kept.
    ///
    /// # Errors
    /// [`MetricNameError`].
    pub const fn new(
        name: &'a str,
        subsystem: &'a str,
        comment: &'a str,
        metric_type: MetricType,
    ) -> Result<MetricInfo<'a>, MetricNameError> {
        if !is_word(name, NAME_LENGTH) || !is_word(subsystem, SUBSYSTEM_LENGTH) {
            return Err(MetricNameError::Characters);
        }
        if begins_with(name, MODULE_PREFIX) || (name.len() == 3 && begins_with(name, "all")) {
            return Err(MetricNameError::Reserved);
        }
        let is_kept = matches!(metric_type, MetricType::StatusCounter);
        Ok(MetricInfo { name, subsystem, comment, metric_type, is_kept })
    }

    /// The same for names that stand in the program.
    ///
    /// # Panics
    /// If a name breaks the rules; in a constant or a `static`, that is a compile error.
    ///
    /// ```compile_fail
    /// use perfschema_core::metric::{MetricInfo, MetricType};
    /// const ALL: MetricInfo = MetricInfo::literal("module_app", "app", "", MetricType::Counter);
    /// ```
    #[track_caller]
    pub const fn literal(name: &'a str, subsystem: &'a str, comment: &'a str, metric_type: MetricType) -> MetricInfo<'a> {
        match MetricInfo::new(name, subsystem, comment, metric_type) {
            Ok(info) => info,
            Err(error) => panic!("{}", error.message()),
        }
    }

    /// The same, of something that the program keeps whether the metric is on or not, as it keeps a status counter.
    #[must_use]
    pub const fn kept(self) -> MetricInfo<'a> {
        MetricInfo { is_kept: true, ..self }
    }

    /// NAME.
    pub const fn name(&self) -> &'a str {
        self.name
    }

    /// SUBSYSTEM: `module_` before it names all of its metrics.
    pub const fn subsystem(&self) -> &'a str {
        self.subsystem
    }

    /// Whether the program keeps it in any case.
    pub const fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// TYPE.
    pub const fn metric_type(&self) -> MetricType {
        self.metric_type
    }
}

const fn is_word(text: &str, longest: usize) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_alphanumeric() && bytes[at] != b'_' {
            return false;
        }
        at += 1;
    }
    !bytes.is_empty() && bytes.len() <= longest
}

const fn begins_with(text: &str, prefix: &str) -> bool {
    let (text, prefix) = (text.as_bytes(), prefix.as_bytes());
    let mut at = 0;
    while at < prefix.len() {
        if at >= text.len() || !text[at].eq_ignore_ascii_case(&prefix[at]) {
            return false;
        }
        at += 1;
    }
    true
}

/// A registered metric: an index into the region's metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Metric(u16);

impl Metric {
    /// As a number to keep in an atomic.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub const fn to_bits(self) -> u16 {
        self.0
    }

    /// From a number that came from [`to_bits`](Self::to_bits). Any other is some metric or none, never a panic.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub const fn from_bits(bits: u16) -> Metric {
        Metric(bits)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn index(self) -> usize {
        self.0.into()
    }
}

pub(crate) type MetricWords = [Word; METRIC];
type SharedWords = [Word; METRIC_SHARED];

/// The numbers of a metric as they are now, as its row shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) is_on: bool,
    pub(crate) count: i64,
    pub(crate) max: Option<i64>,
    pub(crate) min: Option<i64>,
    pub(crate) count_reset: i64,
    pub(crate) max_reset: Option<i64>,
    pub(crate) min_reset: Option<i64>,
    pub(crate) enabled: Option<Moment>,
    pub(crate) disabled: Option<Moment>,
    pub(crate) reset: Option<Moment>,
}

/// By what a metric is found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    pub(crate) name: Text<NAME_LENGTH>,
    pub(crate) subsystem: Text<SUBSYSTEM_LENGTH>,
}

/// The sign bit the other way round, so that what is a greater value is a greater number.
const SIGN: u64 = 1 << 63;

/// A value where a greater one is a greater number, and 0 is none yet: so the least of all is as the one above it.
fn greater(value: i64) -> u64 {
    (value as u64 ^ SIGN).max(1)
}

/// A value where a smaller one is a greater number, and 0 is none yet: so the greatest of all is as the one below it.
fn less(value: i64) -> u64 {
    (!(value as u64 ^ SIGN)).max(1)
}

fn from_greater(bits: u64) -> Option<i64> {
    (bits != 0).then_some((bits ^ SIGN) as i64)
}

fn from_less(bits: u64) -> Option<i64> {
    (bits != 0).then_some((!bits ^ SIGN) as i64)
}

/// Notes a value that a metric has now.
fn note(words: &SharedWords, value: i64) {
    for (index, bits) in [
        (shared::MAX, greater(value)),
        (shared::MIN, less(value)),
        (shared::MAX_RESET, greater(value)),
        (shared::MIN_RESET, less(value)),
    ] {
        // Rarely more than a load: a new extreme is rare.
        if let Some(word) = words.get(index)
            && bits > word.whole()
        {
            word.update(|before| before.max(bits));
        }
    }
}

/// What a region has by itself is before what is registered.
pub(crate) fn own_count() -> usize {
    Lost::ALL.len()
}

/// The places of a region's metrics: its own, then those that are registered.
pub(crate) const fn places(max_metrics: usize) -> usize {
    Lost::ALL.len() + max_metrics
}

/// What an actor needs to count: a word for each metric, its own line for each eight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorder<'r>(&'r [Word]);

impl<'r> Recorder<'r> {
    /// Of an actor without a slot.
    pub(crate) const NONE: Recorder<'static> = Recorder(&[]);

    pub(crate) fn new(region: &Region<'r>, slot: usize) -> Recorder<'r> {
        Recorder(region.arrays_of::<METRIC_SUMS>(Section::MetricSums, slot).as_flattened())
    }
}

/// The word that a metric is counted in, within an actor's.
#[cfg_attr(not(debug_assertions), inline(always))]
fn own_word(words: &[Word], metric: Metric) -> Option<&Word> {
    words.get(metric.index().wrapping_sub(Lost::ALL.len()))
}

impl Actor<'_> {
    /// Counts `count` more of a counter, in words of this actor's own: for counters that were found on, and for such as are kept in any
    /// case.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn count_metric(&self, metric: Metric, count: u64) {
        match own_word(self.metrics().0, metric) {
            Some(word) => word.grow(count),
            None => self.region().count_metric_shared(metric, count),
        }
    }
}

impl<'r> Region<'r> {
    /// Registers a metric, or finds the one of this name. `is_on` says whether it is enabled, at this moment, if it is new.
    ///
    /// # Errors
    /// [`RegisterError::Full`], and [`RegisterError::OtherType`] where that one is of another type; the loss is counted.
    ///
    /// ```
    /// # use perfschema_core::{Actor, ActorIdentity, Config, Identity, Region, StaticRegion};
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let timers = perfschema_timer::Timers::calibrate();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timers)?;
    /// use perfschema_core::metric::{MetricInfo, MetricType, Moment};
    /// const INSERTS: MetricInfo = MetricInfo::literal("dml_inserts", "dml", "Number of rows inserted", MetricType::Counter);
    /// let inserts = region.register_metric(&INSERTS, true, Moment::of_seconds(1))?;
    /// let actor = Actor::attach(&region, &ActorIdentity::default());
    /// if region.metric_is_on(inserts) {
    ///     actor.count_metric(inserts, 3);
    /// }
    /// assert_eq!(region.metric_count(inserts), 3);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn register_metric(&self, info: &MetricInfo<'_>, is_on: bool, now: Moment) -> Result<Metric, RegisterError> {
        let hash = class::hash(info.name);
        let kind = info.metric_type as usize | if info.is_kept { KEPT } else { 0 };
        let places = self.arrays::<METRIC>(Section::Metrics).iter().enumerate().skip(own_count());
        let places = places.zip(self.arrays::<METRIC_TEXTS>(Section::MetricTexts));
        for (((index, words), texts), free) in class::candidates(places) {
            if let Err(seen) = class::claim(&words[word::STATE], free, hash)
                && seen & !STATE_BITS != hash
            {
                continue;
            }
            let Ok(found) = u16::try_from(index).map(Metric) else { break };
            match self.published_metric(found) {
                Some(words) if !text_is(&texts[word::NAME], words[word::LENGTHS].get() & 0xffff, info.name) => continue,
                Some(_) => {}
                None => {
                    let parts = [(word::NAME, info.name), (word::SUBSYSTEM, info.subsystem), (word::COMMENT, info.comment)];
                    let lengths = parts.clone().map(|(at, text)| what_fits(text, at.len() * 8).len());
                    let packed = lengths.iter().rev().fold(kind as u64, |packed, &length| packed << 16 | length as u64);
                    // Also where another thread has claimed it, which may be stopped, if both write alike. Otherwise it is what the first
                    // one says, who publishes it.
                    let first = words[word::LENGTHS].compare_exchange(0, packed, Ordering::Relaxed);
                    if first.map_or_else(|first| first == packed, |_| true) {
                        parts.into_iter().for_each(|(at, text)| _ = write_text(&texts[at], text));
                        // Compared, so that who comes late undoes no command.
                        let control = if is_on { Control::on(0) } else { Control::new() };
                        let new = words[word::CONTROL].compare_exchange(0, control.0, Ordering::Relaxed).is_ok();
                        if is_on && new {
                            words[word::TIME_ENABLED].set(now.bits());
                            if info.metric_type == MetricType::Value {
                                self.shared_metric(found).into_iter().for_each(|words| note(words, 0));
                            }
                        }
                        // [C2] Release: pairs with [C3]; whoever sees the metric sees its name.
                        words[word::STATE].store(hash | PUBLISHED, Ordering::Release);
                    }
                }
            }
            if (words[word::LENGTHS].get() >> KIND_SHIFT) as usize == kind {
                return Ok(found);
            }
            self.count_lost(Lost::Metrics);
            return Err(RegisterError::OtherType);
        }
        self.count_lost(Lost::Metrics);
        Err(RegisterError::Full { size: Size::MaxMetrics })
    }

    /// Says which member counts how often a set's owner is counted.
    ///
    /// ```
    /// # use perfschema_core::{*, metric::*};
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// let [bytes, reads] = [("read_bytes", MetricType::SetOwner), ("reads", MetricType::SetMember)]
    ///     .map(|(name, counts)| region.register_metric(&MetricInfo::literal(name, "app", "", counts), true, Moment::of_seconds(1)));
    /// region.join_metrics(bytes?, reads?);
    /// [(bytes?, 300), (reads?, 2)].map(|(metric, count)| region.count_metric_shared(metric, count));
    /// let mut average = None;
    /// region.scan(&tables::InnodbMetrics::NOW, |row| average = average.or(row.avg_count.filter(|_| row.name == "read_bytes")));
    /// assert_eq!(average, Some(150.0));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn join_metrics(&self, owner: Metric, member: Metric) {
        if let Some(words) = self.published_metric(owner) {
            words[word::MEMBER].set(u64::from(member.0) + 1);
        }
    }

    /// The word that says whether a metric is on, to keep a reference to it: [`Word::metric_is_on`].
    #[inline]
    pub fn metric_word(&self, metric: Metric) -> Option<&'r Word> {
        self.arrays::<METRIC>(Section::Metrics).get(metric.index()).map(|words| &words[word::CONTROL])
    }

    /// Whether a metric is enabled.
    #[inline]
    pub fn metric_is_on(&self, metric: Metric) -> bool {
        self.metric_word(metric).is_some_and(Word::metric_is_on)
    }

    /// The metric of this name, in any letter case.
    ///
    /// ```
    /// # use perfschema_core::{*, metric::*};
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// const INSERTS: MetricInfo = MetricInfo::literal("inserts", "app", "", MetricType::StatusCounter).kept();
    /// let inserts = region.register_metric(&INSERTS, true, Moment::of_seconds(1))?;
    /// region.set_metric_total(inserts, 12);
    /// assert_eq!(region.find_metric("INSERTS").map(|metric| region.metric_count(metric)), Some(12));
    /// assert_eq!(region.metrics().last(), Some(inserts));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn find_metric(&self, name: &str) -> Option<Metric> {
        self.metrics()
            .find(|metric| self.metric_names(*metric).is_some_and(|names| names.name.as_str().eq_ignore_ascii_case(name)))
    }

    /// COUNT of a metric.
    pub fn metric_count(&self, metric: Metric) -> i64 {
        self.metric_figures(metric).map_or(0, |figures| figures.count)
    }

    /// Counts `count` more of a counter in a word that is shared: for threads without an actor.
    pub fn count_metric_shared(&self, metric: Metric, count: u64) {
        if let Some(words) = self.shared_metric(metric) {
            // Relaxed: a sum that stands alone.
            words[shared::SUM].fetch_add(count, Ordering::Relaxed);
        }
    }

    /// A counter that the program keeps itself is so much now, over all threads; not to be counted otherwise, too.
    pub fn set_metric_total(&self, metric: Metric, total: u64) {
        if let Some(words) = self.shared_metric(metric) {
            words[shared::SUM].swap(total, Ordering::Relaxed);
        }
    }

    /// A value goes up or down by `change`.
    ///
    /// ```
    /// # use perfschema_core::{*, metric::*};
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// const QUEUE: MetricInfo = MetricInfo::literal("queue", "app", "Jobs that wait", MetricType::Value);
    /// let queue = region.register_metric(&QUEUE, true, Moment::of_seconds(1))?;
    /// region.set_metric_value(queue, 10);
    /// region.change_metric_value(queue, -3);
    /// assert_eq!(region.metric_count(queue), 7);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn change_metric_value(&self, metric: Metric, change: i64) {
        if let Some(words) = self.shared_metric(metric) {
            let before = words[shared::SUM].fetch_add(change as u64, Ordering::Relaxed) as i64;
            self.note_if_on(metric, words, before.wrapping_add(change));
        }
    }

    /// A value is `value` now.
    pub fn set_metric_value(&self, metric: Metric, value: i64) {
        if let Some(words) = self.shared_metric(metric) {
            words[shared::SUM].swap(value as u64, Ordering::Relaxed);
            self.note_if_on(metric, words, value);
        }
    }

    fn note_if_on(&self, metric: Metric, words: &SharedWords, value: i64) {
        if self.metric_is_on(metric) {
            note(words, value);
        }
    }

    /// All places of metrics; of those that are none, nothing is shown.
    pub(crate) fn metric_places(&self) -> impl ExactSizeIterator<Item = Metric> + DoubleEndedIterator + Clone + use<> {
        (0..self.arrays::<METRIC>(Section::Metrics).len()).map(|index| Metric(index as u16))
    }

    /// The metrics: the region's own, then those that are registered, as they came.
    pub fn metrics(&self) -> impl Iterator<Item = Metric> + '_ {
        self.metric_places().filter(|metric| self.published_metric(*metric).is_some())
    }

    /// Whether a value is kept while it is off.
    fn metric_is_kept(&self, metric: Metric) -> bool {
        self.published_metric(metric).is_none_or(|words| (words[word::LENGTHS].get() >> KIND_SHIFT) as usize & KEPT != 0)
    }

    /// The words of a metric. Those of the region's own are always there.
    fn published_metric(&self, metric: Metric) -> Option<&'r MetricWords> {
        let words = self.arrays::<METRIC>(Section::Metrics).get(metric.index())?;
        // [C3] Acquire: pairs with [C2].
        (lost_of(metric).is_some() || class::is_published(words[word::STATE].load(Ordering::Acquire))).then_some(words)
    }

    fn shared_metric(&self, metric: Metric) -> Option<&'r SharedWords> {
        self.arrays::<METRIC_SHARED>(Section::SharedMetrics).get(metric.index().wrapping_sub(own_count()))
    }

    pub(crate) fn metric_type(&self, metric: Metric) -> MetricType {
        let words = self.published_metric(metric).filter(|_| lost_of(metric).is_none());
        let found = words.and_then(|words| MetricType::ALL.get((words[word::LENGTHS].get() >> KIND_SHIFT) as usize & !KEPT));
        found.copied().unwrap_or(MetricType::StatusCounter)
    }

    pub(crate) fn metric_names(&self, metric: Metric) -> Option<Names> {
        if let Some(lost) = lost_of(metric) {
            return Some(Names { name: Text::from(lost.variable()).lowercase(), subsystem: OWN_SUBSYSTEM.into() });
        }
        let (texts, lengths) = self.published_metric_texts(metric)?;
        Some(Names {
            name: read_text(&texts[word::NAME], lengths & 0xffff),
            subsystem: read_text(&texts[word::SUBSYSTEM], lengths >> 16 & 0xffff),
        })
    }

    pub(crate) fn metric_comment(&self, metric: Metric) -> Option<Text<COMMENT_LENGTH>> {
        if let Some(lost) = lost_of(metric) {
            return Some(lost.doc().split(". ").next().unwrap_or_default().trim_end_matches('.').into());
        }
        let (texts, lengths) = self.published_metric_texts(metric)?;
        Some(read_text(&texts[word::COMMENT], lengths >> 32 & 0xffff))
    }

    /// Of a metric that is not one of [`Lost`], with their lengths.
    fn published_metric_texts(&self, metric: Metric) -> Option<(&'r [Word; METRIC_TEXTS], u64)> {
        let lengths = self.published_metric(metric)?[word::LENGTHS].get();
        let texts = self.arrays::<METRIC_TEXTS>(Section::MetricTexts).get(metric.index().wrapping_sub(own_count()))?;
        Some((texts, lengths))
    }

    /// What was counted since the region was made, over all threads that ever were; of a value, the value.
    fn metric_total(&self, metric: Metric) -> u64 {
        if let Some(lost) = lost_of(metric) {
            return self.lost_in_all(lost);
        }
        let shared = self.shared_metric(metric).map_or(0, |words| words[shared::SUM].whole());
        if self.metric_type(metric) == MetricType::Value {
            return shared;
        }
        let own = slot::used(self).filter_map(|(slot, _)| own_word(Recorder::new(self, slot).0, metric));
        own.fold(shared, |sum, word| sum.wrapping_add(word.whole()))
    }

    pub(crate) fn metric_figures(&self, metric: Metric) -> Option<Figures> {
        let words = self.published_metric(metric)?;
        let moment = |index: usize| Moment::from_bits(words.get(index)?.whole());
        let (control, metric_type) = (Control(words[word::CONTROL].whole()), self.metric_type(metric));
        let (is_on, count) = (control.is_on(), control.count(metric_type, self.metric_total(metric)));
        let (enabled, reset_base) = (moment(word::TIME_ENABLED), words[word::RESET_BASE].whole());
        let mut figures = Figures {
            is_on,
            count,
            max: None,
            min: None,
            count_reset: 0,
            max_reset: None,
            min_reset: None,
            enabled,
            disabled: moment(word::TIME_DISABLED).filter(|_| !is_on),
            reset: moment(word::TIME_RESET),
        };
        match (metric_type, self.shared_metric(metric)) {
            (MetricType::Value, Some(words)) => {
                let now = is_on.then_some(count);
                figures.max = from_greater(words[shared::MAX].whole()).max(now);
                figures.min = from_less(words[shared::MIN].whole()).into_iter().chain(now).min();
                figures.max_reset = from_greater(words[shared::MAX_RESET].whole()).max(now);
                figures.min_reset = from_less(words[shared::MIN_RESET].whole()).into_iter().chain(now).min();
                // A resource is as much as it is; nothing, if it was off ever since.
                figures.count_reset = figures.max_reset.map_or(0, |_| count);
            }
            _ => {
                figures.count_reset = count.saturating_sub(reset_base as i64 >> 1).max(0);
                // What only grows is most now; nothing is the most of a status counter, too, if it was on since.
                let is_kept = metric_type == MetricType::StatusCounter;
                let most = |count: i64, is_known: bool| (count > 0 || (is_kept && is_known)).then_some(count);
                figures.max = most(count, enabled.is_some());
                figures.max_reset = most(figures.count_reset, enabled.is_some() && (is_on || reset_base & 1 == 0));
            }
        }
        Some(figures)
    }

    /// COUNT and COUNT_RESET of an owner's member: how often the owner was counted.
    pub(crate) fn member_counts(&self, owner: Metric) -> Option<(i64, i64)> {
        let member = self.published_metric(owner)?[word::MEMBER].get().checked_sub(1)?;
        let figures = self.metric_figures(Metric(u16::try_from(member).ok()?))?;
        Some((figures.count, figures.count_reset))
    }

    /// In a forked child, where the slots' sums are zero: COUNT begins anew, and the time since it was enabled. What a value is stays.
    pub(crate) fn forget_metrics(&self, now: Moment, idle: bool) {
        let mut free = FREE;
        for metric in self.metric_places().rev() {
            let Some(words) = self.arrays::<METRIC>(Section::Metrics).get(metric.index()) else { continue };
            if self.published_metric(metric).is_none() {
                if idle {
                    // All of it: whoever comes next writes only where nothing is. Also where memory was copied before the thread had got
                    // to the state.
                    let others = words[word::STATE + 1..].iter().chain(self.shared_metric(metric).into_iter().flatten());
                    class::forget(&words[word::STATE], free, others);
                }
                continue;
            }
            free = FORGOTTEN;
            let (is_on, metric_type) = (words[word::CONTROL].metric_is_on(), self.metric_type(metric));
            if let Some(shared) = self.shared_metric(metric) {
                shared[shared::MAX..].iter().filter(|word| word.get() != 0).for_each(|word| word.set(0));
                if is_on && metric_type == MetricType::Value {
                    note(shared, shared[shared::SUM].get() as i64);
                }
            }
            if words[word::CONTROL].get() != 0 {
                // From what there is: what the program keeps elsewhere, it goes on from.
                let on = || Control::new().started(metric_type, self.metric_total(metric));
                words[word::CONTROL].set(if is_on { on() } else { Control::new() }.0);
            }
            words[word::SINCE].iter().for_each(|word| word.set(0));
            if is_on {
                words[word::TIME_ENABLED].set(now.bits());
            }
        }
    }

    /// In a forked child: the sums of a slot are its parent's.
    pub(crate) fn forget_metric_sums(&self, slot: usize) {
        Recorder::new(self, slot).0.iter().filter(|word| word.get() != 0).for_each(|word| word.set(0));
    }
}

fn lost_of(metric: Metric) -> Option<Lost> {
    Lost::ALL.get(metric.index()).copied()
}

impl Word {
    /// Whether the metric of this word, which must be one of [`Region::metric_word`] or set by
    /// [`set_metric_unregistered`](Self::set_metric_unregistered), is on.
    // Relaxed: a switch is a value of its own. The bit is in one half of the word, where there are halves.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn metric_is_on(&self) -> bool {
        self.get() & Control::ON != 0
    }

    /// Makes this a word that a metric which is not registered yet can load: it is on, so that whoever loads it registers.
    ///
    /// ```
    /// static INSERTS: perfschema_core::Word = perfschema_core::Word::new(0);
    /// INSERTS.set_metric_unregistered();
    /// assert!(INSERTS.metric_is_on(), "so whoever counts goes and registers it");
    /// ```
    pub fn set_metric_unregistered(&self) {
        self.set(u64::MAX);
    }
}

#[cfg(all(test, not(perfschema_loom)))]
mod tests;
