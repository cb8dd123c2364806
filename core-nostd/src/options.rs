//! Start-up options, written as MySQL's are.
//!
//! | option | meaning |
//! |---|---|
//! | `performance-schema=ON` | everything on: all instruments but those of memory, all consumers |
//! | `performance-schema-instrument='wait/synch/%=COUNTED'` | the instruments that match the pattern |
//! | `performance-schema-consumer-events-waits-history=ON` | one row of `setup_consumers` |
//! | `performance-schema-max-mutex-classes=200` | one size; `-1` leaves it to the program |
//! | `innodb-monitor-enable='dml_inserts;lock%'` | metrics, modules, `all` or patterns with `%`, between `;`, `,` or blanks; `loose-` may stand before it |
//! | `innodb-monitor-disable='module_lock'` | the same, off |
//!
//! * Letter case does not matter in names of options, `-` and `_` are the same in them, and a leading `--` is allowed.
//! * Switches take `ON`, `YES`, `TRUE`, `1` and `OFF`, `NO`, `FALSE`, `0` in any letter case; an instrument also
//!   takes `COUNTED` (enabled, not timed). A switch without a value is on.
//! * A value may stand in `'…'` or `"…"`; there are no escapes inside.
//! * Sizes may end in `K`, `M`, `G`, `T`, `P` or `E`: times 1024 to the power of 1 to 6.
//! * Instrument patterns use `%` and `?` ([`LikePattern::start_up`]); `_` is an ordinary letter, as in shipped MySQL.
//!   If several match an instrument, the longest wins, and of equally long ones the last: [`instrument_setting`].
//!
//! Whether a consumer or size of that name exists is not known here: resolve it with [`same_name`].
//!
//! [`options`] reads many of them out of one string, such as an environment variable or an option file.

use crate::Setting;
use crate::metric::MonitorCommand;
use crate::pattern::LikePattern;
use core::fmt;

/// One start-up option. Names and patterns are as given, without quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartOption<'a> {
    /// `performance-schema`: everything on, or everything off.
    Everything(bool),
    /// `performance-schema-instrument`
    Instrument {
        /// The instruments that it is about.
        pattern: LikePattern<'a>,
        /// How they start.
        setting: Setting,
    },
    /// `performance-schema-consumer-…`
    Consumer {
        /// What follows that prefix, `events-waits-history` for example.
        name: &'a str,
        /// Whether it starts enabled.
        enabled: bool,
    },
    /// `innodb-monitor-enable`, `innodb-monitor-disable`
    Monitor {
        /// Which of both.
        command: MonitorCommand,
        /// The metrics that it is about.
        targets: &'a str,
    },
    /// Any other `performance-schema-…`
    Size {
        /// The whole name, `performance-schema-max-mutex-classes` for example, without a leading `--`.
        variable: &'a str,
        /// The size; `None` for `-1`, which leaves it to the program.
        value: Option<u64>,
    },
}

/// Reads one option.
///
/// ```
/// use perfschema_core::Setting;
/// use perfschema_core::options::{OptionError, StartOption, parse_option};
/// use perfschema_core::pattern::LikePattern;
///
/// assert_eq!(
///     parse_option("--performance-schema-instrument='wait/synch/%=COUNTED'"),
///     Ok(StartOption::Instrument {
///         pattern: LikePattern::start_up("wait/synch/%"),
///         setting: Setting::COUNTED,
///     }),
/// );
/// assert_eq!(
///     parse_option("performance_schema_max_mutex_classes = many"),
///     Err(OptionError::BadSize { position: 39, found: "many" }),
/// );
/// ```
///
/// # Errors
///
/// What is wrong with the option and at which byte of `text`.
pub fn parse_option(text: &str) -> Result<StartOption<'_>, OptionError<'_>> {
    parse(Span { text, position: 0 })
}

/// Reads options out of one string, for example of the environment variable `PERFSCHEMA_OPTIONS`.
///
/// They stand on lines of their own or between `;`. A `;` within a quoted value belongs to the value; quotes end
/// with their line. Empty lines are skipped, comments from a `#` at the beginning of a word, but in quotes, to the end of the line,
/// and headers of option files such as `[mysqld]`.
///
/// After an error the iterator goes on with the next option. Positions count from the start of `text`.
///
/// ```
/// use perfschema_core::options::{OptionError, StartOption, options};
///
/// let mut options = options("[mysqld]\n# all of it\nperformance-schema=ON; performance-shema=OFF");
/// assert_eq!(options.next(), Some(Ok(StartOption::Everything(true))));
/// assert_eq!(
///     options.next(),
///     Some(Err(OptionError::UnknownOption { position: 44, found: "performance-shema" })),
/// );
/// assert_eq!(options.next(), None);
/// ```
pub fn options(text: &str) -> Options<'_> {
    Options { rest: Span { text, position: 0 } }
}

/// The options of a string; made by [`options`].
#[derive(Clone, Debug)]
#[must_use = "iterators do nothing until they are asked for items"]
pub struct Options<'a> {
    rest: Span<'a>,
}

impl<'a> Iterator for Options<'a> {
    type Item = Result<StartOption<'a>, OptionError<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let start = self.rest.text.find(|c: char| c != ';' && !c.is_whitespace())?;
            self.rest = self.rest.split(start).1;
            let option = if self.rest.text.starts_with('#') {
                self.rest = self.rest.split(self.rest.line_end()).1;
                continue;
            } else {
                let (option, rest) = self.rest.split(self.rest.option_end());
                self.rest = rest;
                option.trim()
            };
            if option.text.starts_with('[') && option.text.ends_with(']') {
                continue;
            }
            return Some(parse(option));
        }
    }
}

impl core::iter::FusedIterator for Options<'_> {}

/// Whether two names of options are the same: ASCII letters match in either case, and `-` matches `_`.
///
/// ```
/// use perfschema_core::options::same_name;
///
/// assert!(same_name("Performance-Schema-Max-Mutex-Classes", "performance_schema_max_mutex_classes"));
/// assert!(!same_name("events-waits", "events-waits-history"));
/// ```
#[must_use]
pub fn same_name(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).all(|(a, b)| fold(a) == fold(b))
}

const fn fold(byte: u8) -> u8 {
    if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() }
}

/// How the instrument `name` starts: as the longest of the patterns that match it says, the last one of several
/// equally long; `None` if none does. Options of other kinds are passed over.
///
/// ```
/// use perfschema_core::{Setting, options::{instrument_setting, options}};
///
/// let options = options(
///     "performance-schema-instrument='wait/synch/mutex/%=OFF'
///      performance-schema-instrument='wait/%=ON'",
/// );
/// let setting = |name| instrument_setting(options.clone().filter_map(Result::ok), name);
/// assert_eq!(setting("wait/io/file/sql/FRM"), Some(Setting::ON));
/// assert_eq!(setting("wait/synch/mutex/sql/LOCK_open"), Some(Setting::OFF));
/// assert_eq!(setting("stage/sql/Opening tables"), None);
/// ```
pub fn instrument_setting<'a>(options: impl IntoIterator<Item = StartOption<'a>>, name: &str) -> Option<Setting> {
    options
        .into_iter()
        .filter_map(|option| match option {
            StartOption::Instrument { pattern, setting } if pattern.matches(name) => Some((pattern.as_str().len(), setting)),
            _ => None,
        })
        // The last one of several equal maxima.
        .max_by_key(|(length, _)| *length)
        .map(|(_, setting)| setting)
}

/// Why an option was refused. `position` counts bytes from the start of the string that was parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionError<'a> {
    /// There is no option of this name. Probably a spelling mistake.
    UnknownOption {
        /// Where the name starts.
        position: usize,
        /// The name.
        found: &'a str,
    },
    /// Nothing after the name, or nothing after its `=`.
    MissingValue {
        /// Where the value should be.
        position: usize,
        /// The option's name.
        option: &'a str,
    },
    /// A switch that is neither on nor off.
    BadSwitch {
        /// Where the value starts.
        position: usize,
        /// The value.
        found: &'a str,
    },
    /// Nothing before the `=` of an instrument's value.
    MissingPattern {
        /// Where the pattern should be.
        position: usize,
    },
    /// No `=` after an instrument's pattern, or nothing after it.
    MissingSetting {
        /// Where the setting should be.
        position: usize,
        /// The pattern.
        pattern: &'a str,
    },
    /// An instrument's setting that is none of the known ones.
    BadSetting {
        /// Where the setting starts.
        position: usize,
        /// The setting.
        found: &'a str,
    },
    /// A size that is not a whole number.
    BadSize {
        /// Where the value starts.
        position: usize,
        /// The value.
        found: &'a str,
    },
    /// A size of 2⁶⁴ or more.
    SizeTooLarge {
        /// Where the value starts.
        position: usize,
        /// The value.
        found: &'a str,
    },
    /// A quote that its line does not close.
    OpenQuote {
        /// Where the quote is.
        position: usize,
    },
    /// Something between a closing quote and the end of the option.
    TextAfterQuote {
        /// Where it starts.
        position: usize,
        /// What it is.
        found: &'a str,
    },
}

impl OptionError<'_> {
    /// Where the mistake is, in bytes from the start of the string that was parsed.
    #[must_use]
    pub const fn position(&self) -> usize {
        match *self {
            OptionError::UnknownOption { position, .. }
            | OptionError::MissingValue { position, .. }
            | OptionError::BadSwitch { position, .. }
            | OptionError::MissingPattern { position }
            | OptionError::MissingSetting { position, .. }
            | OptionError::BadSetting { position, .. }
            | OptionError::BadSize { position, .. }
            | OptionError::SizeTooLarge { position, .. }
            | OptionError::OpenQuote { position }
            | OptionError::TextAfterQuote { position, .. } => position,
        }
    }
}

impl fmt::Display for OptionError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "option at byte {}: ", self.position())?;
        match self {
            OptionError::UnknownOption { found, .. } => write!(
                f,
                "unknown option {found:?}; expected performance-schema, performance-schema-instrument, \
                 performance-schema-consumer-NAME, performance-schema-SIZE, innodb-monitor-enable or innodb-monitor-disable"
            ),
            OptionError::MissingValue { option, .. } => {
                write!(f, "{option:?} has no value; expected {option}=VALUE")
            }
            OptionError::BadSwitch { found, .. } => {
                write!(f, "bad value {found:?}; expected ON or OFF")
            }
            OptionError::MissingPattern { .. } => {
                write!(f, "no instrument pattern; expected PATTERN=ON")
            }
            OptionError::MissingSetting { pattern, .. } => {
                write!(f, "no setting for the instruments {pattern:?}; expected PATTERN=ON, =OFF or =COUNTED")
            }
            OptionError::BadSetting { found, .. } => {
                write!(f, "bad instrument setting {found:?}; expected ON, OFF or COUNTED")
            }
            OptionError::BadSize { found, .. } => {
                write!(f, "bad size {found:?}; expected a whole number such as 200 or 4K, or -1")
            }
            OptionError::SizeTooLarge { found, .. } => {
                write!(f, "size {found:?} is too large; expected below 2^64")
            }
            OptionError::OpenQuote { .. } => write!(f, "open quote; expected the same quote before the line ends"),
            OptionError::TextAfterQuote { found, .. } => {
                write!(f, "{found:?} after the closing quote; expected ';' or the end of the line")
            }
        }
    }
}

impl core::error::Error for OptionError<'_> {}

const PREFIX: &str = "performance-schema";

/// Straight down: name, value, and then what the name asks for.
fn parse(option: Span<'_>) -> Result<StartOption<'_>, OptionError<'_>> {
    let mut option = option.trim();
    if option.text.starts_with("--") {
        option = option.split(2).1;
    }
    let (name, value) = match option.split_once(option.text.find('=')) {
        Some((name, value)) => (name.trim(), Some(unquote(value.trim())?)),
        None => (option, None),
    };
    let unknown = OptionError::UnknownOption { position: name.position, found: name.text };
    let required = || {
        value
            .filter(|value| !value.text.is_empty())
            .ok_or(OptionError::MissingValue { position: value.unwrap_or(option.end()).position, option: name.text })
    };

    let monitor = name.strip_name("loose-").unwrap_or(name);
    for command in [MonitorCommand::Enable, MonitorCommand::Disable] {
        if same_name(monitor.text, command.variable()) {
            return Ok(StartOption::Monitor { command, targets: required()?.text });
        }
    }
    let rest = name.strip_name(PREFIX).ok_or(unknown)?;
    if rest.text.is_empty() {
        return Ok(StartOption::Everything(value.map_or(Ok(true), |_| parse_switch(required()?))?));
    }
    // "performance-schema" is a word of its own, and so is all that follows it.
    let rest = rest.strip_name("-").filter(|rest| rest.is_name()).ok_or(unknown)?;
    if same_name(rest.text, "instrument") {
        return parse_instrument(required()?);
    }
    if let Some(consumer) = rest.strip_name("consumer-") {
        if consumer.text.is_empty() {
            return Err(unknown);
        }
        let enabled = value.map_or(Ok(true), |_| parse_switch(required()?))?;
        return Ok(StartOption::Consumer { name: consumer.text, enabled });
    }
    Ok(StartOption::Size { variable: name.text, value: parse_size(required()?)? })
}

/// `pattern=setting`. No instrument name has a `=`, but a pattern may, so the last one counts.
fn parse_instrument(value: Span<'_>) -> Result<StartOption<'_>, OptionError<'_>> {
    let (pattern, setting) = value.split_once(value.text.rfind('=')).unwrap_or((value, value.end()));
    let (pattern, setting) = (pattern.trim(), setting.trim());
    if pattern.text.is_empty() {
        return Err(OptionError::MissingPattern { position: pattern.position });
    }
    if setting.text.is_empty() {
        return Err(OptionError::MissingSetting { position: setting.position, pattern: pattern.text });
    }
    let setting = if setting.text.eq_ignore_ascii_case("counted") {
        Setting::COUNTED
    } else {
        match switch(setting.text) {
            Some(true) => Setting::ON,
            Some(false) => Setting::OFF,
            None => {
                return Err(OptionError::BadSetting { position: setting.position, found: setting.text });
            }
        }
    };
    Ok(StartOption::Instrument { pattern: LikePattern::start_up(pattern.text), setting })
}

fn parse_switch(value: Span<'_>) -> Result<bool, OptionError<'_>> {
    switch(value.text).ok_or(OptionError::BadSwitch { position: value.position, found: value.text })
}

/// What a switch says: ON, YES, TRUE or 1; OFF, NO, FALSE or 0, in any letter case. None is none of these.
///
/// ```
/// use perfschema_core::options::switch;
///
/// assert_eq!(["On", "no", "maybe"].map(switch), [Some(true), Some(false), None]);
/// ```
pub fn switch(text: &str) -> Option<bool> {
    let is = |word: &&str| text.eq_ignore_ascii_case(word);
    if ["on", "yes", "true", "1"].iter().any(is) {
        Some(true)
    } else if ["off", "no", "false", "0"].iter().any(is) {
        Some(false)
    } else {
        None
    }
}

fn parse_size(value: Span<'_>) -> Result<Option<u64>, OptionError<'_>> {
    let (position, found) = (value.position, value.text);
    if found == "-1" {
        return Ok(None);
    }
    let suffix = found.bytes().last().and_then(|last| b"kmgtpe".iter().position(|s| last.eq_ignore_ascii_case(s)));
    let (digits, factor) = match suffix {
        Some(power) => (&found[..found.len() - 1], 1024_u64.pow(power as u32 + 1)),
        None => (found, 1),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(OptionError::BadSize { position, found });
    }
    // Only digits are left, so the one thing that can go wrong is their number.
    let size = digits.parse().ok().and_then(|size: u64| size.checked_mul(factor));
    size.map(Some).ok_or(OptionError::SizeTooLarge { position, found })
}

/// Takes the quotes off a trimmed value.
fn unquote(value: Span<'_>) -> Result<Span<'_>, OptionError<'_>> {
    let Some(quote) = value.text.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
        return Ok(value);
    };
    let inside = value.split(1).1;
    let Some((inside, after)) = inside.split_once(inside.text.find(quote)) else {
        return Err(OptionError::OpenQuote { position: value.position });
    };
    let after = after.trim();
    if !after.text.is_empty() {
        return Err(OptionError::TextAfterQuote { position: after.position, found: after.text });
    }
    Ok(inside.trim())
}

/// A part of the text and where it starts in the whole of it.
#[derive(Clone, Copy, Debug)]
struct Span<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Span<'a> {
    /// Both sides of byte `at`, which is at the border of a character.
    fn split(self, at: usize) -> (Self, Self) {
        let (before, after) = self.text.split_at(at);
        (Span { text: before, ..self }, Span { text: after, position: self.position + at })
    }

    /// Both sides of the ASCII character at byte `at`, without it.
    fn split_once(self, at: Option<usize>) -> Option<(Self, Self)> {
        let (before, after) = self.split(at?);
        Some((before, after.split(1).1))
    }

    fn end(self) -> Self {
        self.split(self.text.len()).1
    }

    fn trim(self) -> Self {
        let trimmed = self.text.trim_start();
        let position = self.position + (self.text.len() - trimmed.len());
        Span { text: trimmed.trim_end(), position }
    }

    /// What follows `prefix`, if the text begins with that in the sense of [`same_name`].
    fn strip_name(self, prefix: &str) -> Option<Self> {
        let start = self.text.get(..prefix.len())?;
        same_name(start, prefix).then(|| self.split(prefix.len()).1)
    }

    /// Whether this can be the name of an option, or the end of one.
    fn is_name(&self) -> bool {
        !self.text.is_empty() && self.text.bytes().all(|byte| byte.is_ascii_alphanumeric() || fold(byte) == b'_')
    }

    fn line_end(&self) -> usize {
        self.text.find('\n').unwrap_or(self.text.len())
    }

    /// Where the option at the start of this text ends: at the line's end, or at a `;` or a comment that is not in quotes.
    fn option_end(&self) -> usize {
        let line = &self.text[..self.line_end()];
        let end_from = |from: usize| {
            // A '#' within a word is none of a comment's: names of stages have them.
            let mut is_after_blank = false;
            let ends = |c: char| {
                c == ';' || (c == '#' && is_after_blank) || {
                    is_after_blank = c.is_whitespace();
                    false
                }
            };
            line[from..].find(ends).map_or(line.len(), |length| from + length)
        };
        let first_end = end_from(0);
        // A quote counts only as the first character of a value: names of stages have apostrophes.
        let Some(equals) = line[..first_end].find('=') else {
            return first_end;
        };
        let value = line[equals + 1..].trim_start();
        let Some(quote) = value.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
            return first_end;
        };
        let inside = line.len() - value.len() + 1;
        match line[inside..].find(quote) {
            Some(length) => end_from(inside + length + 1),
            None => line.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<'a>(text: &'a str, expected: Result<StartOption<'a>, OptionError<'a>>) {
        assert_eq!(parse_option(text), expected, "{text:?}");
    }

    fn instrument(pattern: &str, setting: Setting) -> Result<StartOption<'_>, OptionError<'_>> {
        Ok(StartOption::Instrument { pattern: LikePattern::start_up(pattern), setting })
    }

    fn consumer(name: &str, enabled: bool) -> Result<StartOption<'_>, OptionError<'_>> {
        Ok(StartOption::Consumer { name, enabled })
    }

    fn size(variable: &str, value: Option<u64>) -> Result<StartOption<'_>, OptionError<'_>> {
        Ok(StartOption::Size { variable, value })
    }

    #[test]
    fn everything() {
        check("performance-schema=ON", Ok(StartOption::Everything(true)));
        check("--performance_schema", Ok(StartOption::Everything(true)));
        check(" --performance-schema", Ok(StartOption::Everything(true)));
        check(" PERFORMANCE_SCHEMA = 'off' ", Ok(StartOption::Everything(false)));
        for (text, on) in [("on", true), ("Yes", true), ("TRUE", true), ("1", true)] {
            assert_eq!(switch(text), Some(on));
        }
        for (text, on) in [("OFF", false), ("no", false), ("False", false), ("0", false)] {
            assert_eq!(switch(text), Some(on));
        }
        check("performance-schema=2", Err(OptionError::BadSwitch { position: 19, found: "2" }));
        check("performance-schema=", Err(OptionError::MissingValue { position: 19, option: "performance-schema" }));
        check("performance-schema=''", Err(OptionError::MissingValue { position: 20, option: "performance-schema" }));
    }

    #[test]
    fn instruments() {
        check("performance-schema-instrument='wait/synch/%=COUNTED'", instrument("wait/synch/%", Setting::COUNTED));
        check("--performance_schema_instrument=wait/%=on", instrument("wait/%", Setting::ON));
        check("performance-schema-instrument=\"%=no\"", instrument("%", Setting::OFF));
        check("performance-schema-instrument = ' stage/sql/a b = 1 '", instrument("stage/sql/a b", Setting::ON));
        check("performance-schema-instrument='a=b=off'", instrument("a=b", Setting::OFF));
        let option = "performance-schema-instrument";
        check("performance-schema-instrument", Err(OptionError::MissingValue { position: 29, option }));
        check("performance-schema-instrument='=ON'", Err(OptionError::MissingPattern { position: 31 }));
        let pattern = "wait/%";
        check("performance-schema-instrument='wait/%'", Err(OptionError::MissingSetting { position: 37, pattern }));
        check("performance-schema-instrument='wait/%='", Err(OptionError::MissingSetting { position: 38, pattern }));
        check("performance-schema-instrument='wait/%=MAYBE'", Err(OptionError::BadSetting { position: 38, found: "MAYBE" }));
    }

    #[test]
    fn consumers() {
        check("performance-schema-consumer-events-waits-history=ON", consumer("events-waits-history", true));
        check("performance_schema_consumer_events_waits_current=0", consumer("events_waits_current", false));
        check("performance-schema-consumer-x", consumer("x", true));
        check("performance-schema-consumer-x=COUNTED", Err(OptionError::BadSwitch { position: 30, found: "COUNTED" }));
        let found = "performance-schema-consumer-";
        check("performance-schema-consumer-=ON", Err(OptionError::UnknownOption { position: 0, found }));
    }

    #[test]
    fn sizes() {
        let variable = "performance-schema-max-mutex-classes";
        check("performance-schema-max-mutex-classes=200", size(variable, Some(200)));
        check("--performance-schema-max-mutex-classes='-1'", size(variable, None));
        check("performance-schema-max-mutex-classes=4K", size(variable, Some(4096)));
        check("performance-schema-max-mutex-classes=1e", size(variable, Some(1 << 60)));
        check("performance-schema-max-mutex-classes=18446744073709551615", size(variable, Some(u64::MAX)));
        for found in ["-2", "+1", "1.5", "K", "many", "0x10", "2 0", "1KK", "\u{661}"] {
            let mut text = [0; 64];
            let len = variable.len() + 1 + found.len();
            text[..variable.len()].copy_from_slice(variable.as_bytes());
            text[variable.len()] = b'=';
            text[variable.len() + 1..len].copy_from_slice(found.as_bytes());
            check(str::from_utf8(&text[..len]).unwrap(), Err(OptionError::BadSize { position: 37, found }));
        }
        let found = "18446744073709551616";
        check(
            "performance-schema-max-mutex-classes=18446744073709551616",
            Err(OptionError::SizeTooLarge { position: 37, found }),
        );
        check("performance-schema-max-mutex-classes=16E", Err(OptionError::SizeTooLarge { position: 37, found: "16E" }));
        let option = variable;
        check("performance-schema-max-mutex-classes", Err(OptionError::MissingValue { position: 36, option }));
    }

    #[test]
    fn unknown_names() {
        for found in [
            "performance-schema-",
            "performance-schemas",
            "port",
            "-performance-schema",
            "performance-schema x",
            "performance-schema-x y",
        ] {
            check(found, Err(OptionError::UnknownOption { position: 0, found }));
        }
        check("", Err(OptionError::UnknownOption { position: 0, found: "" }));
        check("  =ON", Err(OptionError::UnknownOption { position: 2, found: "" }));
        check("--pört=1", Err(OptionError::UnknownOption { position: 2, found: "pört" }));
    }

    #[test]
    fn quotes() {
        check("performance-schema='ON", Err(OptionError::OpenQuote { position: 19 }));
        check("performance-schema='ON\"", Err(OptionError::OpenQuote { position: 19 }));
        check("performance-schema= 'ON' off", Err(OptionError::TextAfterQuote { position: 25, found: "off" }));
        // Not at the start of the value: an ordinary character.
        check("performance-schema-instrument=stage/sql/it's=ON", instrument("stage/sql/it's", Setting::ON));
    }

    #[track_caller]
    fn check_all<const N: usize>(text: &str, expected: [Result<StartOption<'_>, OptionError<'_>>; N]) {
        assert!(options(text).eq(expected), "{text:?}: {:?}", options(text).next());
    }

    #[test]
    fn many_in_one_string() {
        let on = || Ok(StartOption::Everything(true));
        check_all("", []);
        check_all(" ;;\n\r\n ; ", []);
        check_all("performance-schema", [on()]);
        check_all("performance-schema;performance-schema\nperformance-schema\r\n", [on(), on(), on()]);
        check_all("# performance-schema; more\nperformance-schema ; # rest; of it", [on()]);
        check_all("[mysqld]\r\nperformance-schema\n[client] ; performance-schema", [on(), on()]);
        for found in ["[mysqld", "mysqld]"] {
            check_all(found, [Err(OptionError::UnknownOption { position: 0, found })]);
        }
        // A ';' in quotes belongs to the value; an apostrophe elsewhere opens none.
        check_all(
            "performance-schema-instrument='stage/sql/read; wait=ON';performance-schema",
            [instrument("stage/sql/read; wait", Setting::ON), on()],
        );
        check_all(
            "performance-schema-instrument=stage/sql/it's=ON; performance-schema # it's; performance-schema",
            [instrument("stage/sql/it's", Setting::ON), on()],
        );
        check_all(
            "performance-schema-instrument='a=ON'; performance-schema-instrument='b=OFF'",
            [instrument("a", Setting::ON), instrument("b", Setting::OFF)],
        );
        // Nor begins a '#' there a comment, or within a word.
        check_all(
            "performance-schema-instrument='stage/sql/ #1=ON' # performance-schema\nperformance-schema-instrument=stage/c#=ON",
            [instrument("stage/sql/ #1", Setting::ON), instrument("stage/c#", Setting::ON)],
        );
        check_all("performance-schema='ON'#x", [Err(OptionError::TextAfterQuote { position: 23, found: "#x" })]);
        // Errors count from the start of the whole string, and the next option is read.
        check_all(
            "\u{e4}\nperformance-schema='ON; x\n  performance-schema=maybe;performance-schema",
            [
                Err(OptionError::UnknownOption { position: 0, found: "\u{e4}" }),
                Err(OptionError::OpenQuote { position: 22 }),
                Err(OptionError::BadSwitch { position: 50, found: "maybe" }),
                on(),
            ],
        );
    }

    #[test]
    fn the_longest_pattern_wins() {
        #[track_caller]
        fn check(text: &str, name: &str, expected: Option<Setting>) {
            assert_eq!(instrument_setting(options(text).filter_map(Result::ok), name), expected, "{name}");
        }
        let text = "performance-schema-instrument=%=OFF
                    performance-schema-instrument=wait/synch/%=COUNTED
                    performance-schema-instrument=wait/%=ON
                    performance-schema=ON
                    performance-schema-instrument=wait/io/f%=OFF
                    performance-schema-instrument=wait/io/%e=ON";
        check(text, "idle", Some(Setting::OFF));
        check(text, "wait/io/socket/a/b", Some(Setting::ON));
        check(text, "wait/synch/mutex/a/b", Some(Setting::COUNTED));
        check(text, "wait/io/file/a/b", Some(Setting::OFF));
        check(text, "wait/io/file/a/e", Some(Setting::ON));
        check("", "idle", None);
        // The underscore is a letter in these patterns.
        check("performance-schema-instrument=id_e=ON", "idle", None);
        check("performance-schema-instrument=id?e=ON", "idle", Some(Setting::ON));
    }
}
