//! The four commands, and the word that says where a metric stands.

use super::{MODULE_PREFIX, Metric, MetricType, NAME_LENGTH, Names, Region, note, shared, word};
use crate::metric::Moment;
use crate::pattern::LikePattern;
use crate::region::{Section, Text};
use crate::sync::Ordering;
use core::fmt;

/// On or off, and what is taken off the total, or shown instead of it: one word, so that both change at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Control(pub(super) u64);

impl Control {
    pub(super) const ON: u64 = 1 << 63;
    /// Somebody wrote it: zero is a metric that is being registered.
    const KNOWN: u64 = 1 << 62;
    const NUMBER: u64 = Self::KNOWN - 1;
    /// The largest COUNT of what only grows. Above it is what is less than nothing, which it is only while somebody sets a total back.
    const MOST: u64 = Self::NUMBER - (1 << 48);

    /// Off, and nothing counted.
    pub(super) const fn new() -> Control {
        Control(Self::KNOWN)
    }

    /// Off, with this COUNT: as much of it as a word has room for beside the rest.
    fn off(metric_type: MetricType, count: i64) -> Control {
        const MOST_OF_A_VALUE: i64 = (1 << 61) - 1;
        let kept = match metric_type {
            MetricType::Value => count.clamp(-MOST_OF_A_VALUE - 1, MOST_OF_A_VALUE),
            _ => count.clamp(0, Self::MOST as i64),
        };
        Control(Self::KNOWN | (kept as u64 & Self::NUMBER))
    }

    /// On, and everything counted but so much; of 0, everything from the first.
    pub(super) const fn on(base: u64) -> Control {
        Control(Self::KNOWN | Self::ON | (base & Self::NUMBER))
    }

    pub(super) const fn is_on(self) -> bool {
        self.0 & Self::ON != 0
    }

    /// The number with its sign, of 62 bits.
    const fn number(self) -> i64 {
        (self.0 << 2) as i64 >> 2
    }

    /// COUNT, the total being this.
    pub(super) fn count(self, metric_type: MetricType, total: u64) -> i64 {
        match (metric_type, self.is_on()) {
            (MetricType::Value, true) => total as i64,
            (MetricType::Value, false) => self.number(),
            (_, true) => Self::grown(total.wrapping_sub(self.0)),
            (_, false) => Self::grown(self.0),
        }
    }

    const fn grown(number: u64) -> i64 {
        let number = number & Self::NUMBER;
        if number > Self::MOST { 0 } else { number as i64 }
    }

    /// On, and COUNT as it was.
    pub(super) fn started(self, metric_type: MetricType, total: u64) -> Control {
        match metric_type {
            MetricType::Value => Control::on(0),
            _ => Control::on(total.wrapping_sub(self.0)),
        }
    }
}

/// One of the variables that switch metrics and set them back.
///
/// ```
/// use perfschema_core::metric::MonitorCommand;
/// assert_eq!(MonitorCommand::from_variable("INNODB_MONITOR_ENABLE"), Some(MonitorCommand::Enable));
/// assert_eq!(MonitorCommand::ResetAll.variable(), "innodb_monitor_reset_all");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum MonitorCommand {
    /// Start counting. COUNT goes on from where it was.
    Enable,
    /// Stop counting. COUNT stays as it is.
    Disable,
    /// COUNT_RESET and its companions begin anew.
    Reset,
    /// Everything begins anew; only of what is off.
    ResetAll,
}

impl MonitorCommand {
    /// All four.
    pub const ALL: [MonitorCommand; 4] =
        [MonitorCommand::Enable, MonitorCommand::Disable, MonitorCommand::Reset, MonitorCommand::ResetAll];

    /// The variable that is set to give the command.
    pub const fn variable(self) -> &'static str {
        match self {
            MonitorCommand::Enable => "innodb_monitor_enable",
            MonitorCommand::Disable => "innodb_monitor_disable",
            MonitorCommand::Reset => "innodb_monitor_reset",
            MonitorCommand::ResetAll => "innodb_monitor_reset_all",
        }
    }

    /// The command of this variable, in any letter case.
    pub fn from_variable(name: &str) -> Option<MonitorCommand> {
        MonitorCommand::ALL.into_iter().find(|command| command.variable().eq_ignore_ascii_case(name))
    }
}

/// What a command left as it was: a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MonitorRefusal {
    /// Somebody has turned it on before, and may be counting on it.
    AlreadyOn(Text<NAME_LENGTH>),
    /// It is on, and so not everything can be reset.
    ResetAllWhileOn(Text<NAME_LENGTH>),
}

impl fmt::Display for MonitorRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MonitorRefusal::AlreadyOn(name) => write!(f, "Monitor {name} already turned on."),
            MonitorRefusal::ResetAllWhileOn(name) => {
                write!(f, "Cannot reset all values for monitor counter {name} while it is on. Please turn it off and retry.")
            }
        }
    }
}

/// No metric, module or keyword is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownMonitor;

impl fmt::Display for UnknownMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such metric; innodb_metrics lists them, module_SUBSYSTEM and all are several, and so is what % is in")
    }
}

impl core::error::Error for UnknownMonitor {}

/// Which metrics a command is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target<'a> {
    All,
    Module(&'a str),
    /// Of names; never of modules.
    Pattern(LikePattern<'a>),
    Name(&'a str),
}

impl<'a> Target<'a> {
    /// A text with a `%` in it is a pattern; in one without, `_` is a letter.
    pub(crate) fn of(text: &'a str) -> Target<'a> {
        match text.get(..MODULE_PREFIX.len()) {
            _ if text.contains('%') => Target::Pattern(LikePattern::new(text)),
            _ if text.eq_ignore_ascii_case("all") => Target::All,
            Some(prefix) if prefix.eq_ignore_ascii_case(MODULE_PREFIX) => Target::Module(&text[MODULE_PREFIX.len()..]),
            _ => Target::Name(text),
        }
    }

    pub(crate) fn matches(&self, name: &str, subsystem: &str) -> bool {
        match self {
            Target::All => true,
            Target::Module(module) => subsystem.eq_ignore_ascii_case(module),
            Target::Pattern(pattern) => pattern.matches(name),
            Target::Name(wanted) => name.eq_ignore_ascii_case(wanted),
        }
    }
}

/// Whether what `SET GLOBAL innodb_monitor_enable = target` is about includes a metric of this name and subsystem: for settings that are
/// made before it is registered.
///
/// ```
/// use perfschema_core::metric::monitor_matches;
/// assert!(monitor_matches("lock%", "lock_deadlocks", "lock"));
/// assert!(monitor_matches("module_lock", "deadlocks", "lock"));
/// assert!(!monitor_matches("lock_dead_ocks", "lock_deadlocks", "lock"), "without a % nothing is a wildcard");
/// ```
pub fn monitor_matches(target: &str, name: &str, subsystem: &str) -> bool {
    Target::of(target).matches(name, subsystem)
}

/// What a command's variable shows: one word a variable.
mod last {
    pub(super) const ALL: u64 = 1;
    pub(super) const FIRST_METRIC: u64 = 2;
}

impl Region<'_> {
    /// Gives a command to a metric, to `module_` and a subsystem, to `all`, or to the metrics whose names match a pattern with at least one
    /// `%`; in any letter case, as `SET GLOBAL innodb_monitor_enable = target` does. `warn` is told what it left as it was.
    ///
    /// # Errors
    /// [`UnknownMonitor`], and nothing is changed.
    ///
    /// ```
    /// # use perfschema_core::{Config, Identity, Region, StaticRegion};
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let timers = perfschema_timer::Timers::calibrate();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timers)?;
    /// use perfschema_core::metric::{MonitorCommand, Moment};
    /// let now = Moment::of_seconds(1);
    /// region.monitor(MonitorCommand::Enable, "module_perfschema", now, |_| unreachable!("none is on"))?;
    /// assert!(region.monitor(MonitorCommand::Enable, "module_unicorns", now, |_| ()).is_err());
    /// assert_eq!(region.last_monitor(MonitorCommand::Enable).unwrap(), "module_perfschema");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn monitor(
        &self,
        command: MonitorCommand,
        target: &str,
        now: Moment,
        mut warn: impl FnMut(MonitorRefusal),
    ) -> Result<(), UnknownMonitor> {
        let target = Target::of(target);
        let mut first = None;
        for (metric, name) in self.metrics_of(&target) {
            first = first.or(Some(metric));
            let done = match command {
                MonitorCommand::Enable => self.enable_metric(metric, now),
                MonitorCommand::Disable => {
                    self.disable_metric(metric, now);
                    true
                }
                MonitorCommand::Reset => {
                    self.reset_metric(metric, now);
                    true
                }
                MonitorCommand::ResetAll => self.reset_all_of_metric(metric),
            };
            match command {
                // Whoever gives a pattern means all of them, whatever they are.
                MonitorCommand::Enable if !done && !matches!(target, Target::Pattern(_)) => {
                    warn(MonitorRefusal::AlreadyOn(name));
                }
                MonitorCommand::ResetAll if !done => warn(MonitorRefusal::ResetAllWhileOn(name)),
                _ => {}
            }
        }
        let first = first.ok_or(UnknownMonitor)?;
        let shown = match target {
            Target::All => last::ALL,
            Target::Module(_) => last::FIRST_METRIC + 2 * u64::from(first.0) + 1,
            Target::Name(_) => last::FIRST_METRIC + 2 * u64::from(first.0),
            // As shipped: a pattern is not kept.
            Target::Pattern(_) => return Ok(()),
        };
        if let Some(word) = self.section(Section::LastMonitors).get(command as usize) {
            word.swap(shown, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Whether [`monitor`](Self::monitor) finds a metric by this name, module or pattern.
    ///
    /// ```
    /// # use perfschema_core::{Config, Identity, Region, StaticRegion};
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let timers = perfschema_timer::Timers::calibrate();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timers)?;
    /// assert!(region.has_monitor("module_perfschema") && !region.has_monitor("module_unicorns"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn has_monitor(&self, target: &str) -> bool {
        self.metrics_of(&Target::of(target)).next().is_some()
    }

    /// The metrics that it names, and what they are called.
    fn metrics_of(&self, target: &Target<'_>) -> impl Iterator<Item = (Metric, Text<NAME_LENGTH>)> {
        self.metrics().filter_map(move |metric| {
            let Names { name, subsystem } = self.metric_names(metric)?;
            target.matches(name.as_str(), subsystem.as_str()).then_some((metric, name))
        })
    }

    /// What the command was last given to, as its variable shows it: a name, a module, or all. A pattern leaves it as it was.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// use perfschema_core::metric::{MonitorCommand, MonitorRefusal, Moment};
    /// let mut warnings = Vec::new();
    /// for (command, target) in [(MonitorCommand::Enable, "all"), (MonitorCommand::ResetAll, "performance_schema_metrics_lost")] {
    ///     region.monitor(command, target, Moment::of_seconds(1), |refusal| warnings.push(refusal))?;
    /// }
    /// assert_eq!(warnings, [MonitorRefusal::ResetAllWhileOn("performance_schema_metrics_lost".into())]);
    /// region.monitor(MonitorCommand::Disable, "performance_schema_m%", Moment::of_seconds(2), |_| ())?;
    /// let last = [MonitorCommand::Enable, MonitorCommand::Disable].map(|command| region.last_monitor(command));
    /// assert_eq!(last.map(|target| target.map(|target| target.to_string())), [Some("all".into()), None]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn last_monitor(&self, command: MonitorCommand) -> Option<Text<NAME_LENGTH>> {
        let shown = self.section(Section::LastMonitors).get(command as usize)?.whole();
        if shown == last::ALL {
            return Some("all".into());
        }
        let of = shown.checked_sub(last::FIRST_METRIC)?;
        let names = self.metric_names(Metric(u16::try_from(of / 2).ok()?))?;
        if of & 1 == 0 {
            return Some(names.name);
        }
        let mut module = Text::from(MODULE_PREFIX);
        module.push_str(names.subsystem.as_str());
        Some(module)
    }

    /// False: it was on.
    fn enable_metric(&self, metric: Metric, now: Moment) -> bool {
        let (Some(words), metric_type) = (self.published_metric(metric), self.metric_type(metric)) else { return true };
        // The total anew each time: one of before another command is none that this control goes with.
        let started = words[word::CONTROL].try_update(|bits| match Control(bits) {
            control if control.is_on() => Err(()),
            control => Ok(control.started(metric_type, self.metric_total(metric)).0),
        });
        if started.is_err() {
            return false;
        }
        words[word::TIME_ENABLED].swap(now.bits(), Ordering::Relaxed);
        words[word::TIME_DISABLED].swap(0, Ordering::Relaxed);
        words[word::RESET_BASE].update(|base| base & !1);
        self.note_value(metric, metric_type);
        true
    }

    fn disable_metric(&self, metric: Metric, now: Moment) {
        let (Some(words), metric_type) = (self.published_metric(metric), self.metric_type(metric)) else { return };
        let stopped = words[word::CONTROL].try_update(|bits| match Control(bits) {
            // The total anew each time, as in enable_metric().
            control if control.is_on() => Ok(Control::off(metric_type, control.count(metric_type, self.metric_total(metric))).0),
            _ => Err(()),
        });
        if stopped.is_ok() {
            words[word::TIME_DISABLED].swap(now.bits(), Ordering::Relaxed);
        }
    }

    fn reset_metric(&self, metric: Metric, now: Moment) {
        let (Some(words), metric_type) = (self.published_metric(metric), self.metric_type(metric)) else { return };
        let is_on = loop {
            let control = words[word::CONTROL].whole();
            let (is_on, count) = (Control(control).is_on(), Control(control).count(metric_type, self.metric_total(metric)));
            words[word::RESET_BASE].swap((count as u64) << 1 | u64::from(!is_on), Ordering::Relaxed);
            // Otherwise another command may have set back what this was made of: each time one more is carried out.
            if words[word::CONTROL].whole() == control {
                break is_on;
            }
        };
        words[word::TIME_RESET].swap(now.bits(), Ordering::Relaxed);
        if let Some(shared) = self.shared_metric(metric) {
            for index in [shared::MAX_RESET, shared::MIN_RESET] {
                shared[index].swap(0, Ordering::Relaxed);
            }
            if is_on {
                self.note_value(metric, metric_type);
            }
        }
    }

    /// False: it is on.
    fn reset_all_of_metric(&self, metric: Metric) -> bool {
        let Some(words) = self.published_metric(metric) else { return true };
        let reset = words[word::CONTROL].try_update(|bits| if Control(bits).is_on() { Err(()) } else { Ok(Control::new().0) });
        if reset.is_err() {
            return false;
        }
        for word in &words[word::SINCE] {
            word.swap(0, Ordering::Relaxed);
        }
        if let Some(shared) = self.shared_metric(metric) {
            let forgets = self.metric_type(metric) == MetricType::Value && !self.metric_is_kept(metric);
            for word in shared.iter().skip(if forgets { shared::SUM } else { shared::MAX }) {
                word.swap(0, Ordering::Relaxed);
            }
        }
        true
    }

    /// A value is noted as it is: its extremes begin there.
    fn note_value(&self, metric: Metric, metric_type: MetricType) {
        if let (MetricType::Value, Some(words)) = (metric_type, self.shared_metric(metric)) {
            note(words, words[shared::SUM].whole() as i64);
        }
    }
}

#[cfg(all(test, not(perfschema_loom)))]
mod tests {
    use super::*;

    /// A word has no room for all of it, so it is as near as it can be; never of the other sign, and never nothing.
    #[test]
    fn large_counts() {
        const MOST: i64 = (1 << 61) - 1;
        for (value, kept) in
            [(i64::MAX, MOST), (MOST + 1, MOST), (MOST, MOST), (-1, -1), (-MOST - 1, -MOST - 1), (i64::MIN, -MOST - 1)]
        {
            assert_eq!(Control::off(MetricType::Value, value).count(MetricType::Value, 0), kept, "{value}");
        }
        for total in [0, 1, 1 << 61, (1 << 61) + 7, Control::MOST] {
            let on = Control::on(0);
            assert_eq!(on.count(MetricType::Counter, total), total as i64);
            let off = Control::off(MetricType::Counter, total as i64);
            assert_eq!(off.count(MetricType::Counter, 99), total as i64, "what it was");
            let on = off.started(MetricType::Counter, 1000);
            assert_eq!(on.count(MetricType::Counter, 1000), total as i64, "and goes on from there");
        }
        // A total that was set back.
        assert_eq!(Control::on(1000).count(MetricType::StatusCounter, 400), 0);
    }
}
