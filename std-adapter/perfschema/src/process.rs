//! The process's region: made once by [`start`], of memory that is taken at once and never grows.

#[cfg(target_os = "linux")]
use crate::share::{self, ShareError, Unnamed};
use crate::{hook, thread};
use perfschema_core::metric::{MonitorCommand, monitor_matches};
use perfschema_core::options::{self, OptionError, StartOption, same_name};
use perfschema_core::pattern::LikePattern;
use perfschema_core::{Config, ConfigError, Consumer, Identity, InstrumentKind, Region, RegionError, Setting, Size, Word};
use perfschema_timer::{Clock, SystemClock, TimerName, Timers};
use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// The variable with options for every program that starts a performance schema, as `Builder::options` takes them.
const OPTIONS_VARIABLE: &str = "PERFSCHEMA_OPTIONS";

/// The variable that names a file with more of them.
const FILE_VARIABLE: &str = "PERFSCHEMA_OPTIONS_FILE";

/// The variable that puts the region into shared memory if it is ON, and keeps it out if it is OFF, whatever the program says.
#[cfg(target_os = "linux")]
const SHARE_VARIABLE: &str = "PERFSCHEMA_SHARE";

static PROCESS: OnceLock<Process> = OnceLock::new();

/// The running process's performance schema.
///
/// ```
/// assert!(perfschema::process().is_none(), "nobody has started it");
/// let process = perfschema::start()?;
/// assert_eq!(process.region().pid(), std::process::id());
/// assert!(std::ptr::eq(process, perfschema::process().unwrap()));
/// assert_eq!(perfschema::start().unwrap_err(), perfschema::StartError::AlreadyStarted);
/// # Ok::<(), perfschema::StartError>(())
/// ```
#[derive(Debug)]
pub struct Process {
    region: Region<'static>,
    /// What instruments that register later start with; the last that applies wins among equally long patterns.
    instruments: Vec<InitialSetting>,
    /// Which metrics start on or off, those that register later, too; the last that applies wins.
    monitors: Vec<(MonitorCommand, String)>,
    /// Whether the memory is shared; None if nobody wants it to be.
    #[cfg(target_os = "linux")]
    shared: Option<Result<(), ShareError>>,
}

/// How the instruments of a pattern start.
#[derive(Clone, Debug)]
struct InitialSetting {
    pattern: String,
    setting: Setting,
    /// Not those of memory, which are switched on by name alone.
    but_memory: bool,
    /// Whoever runs the program says so, and not the program.
    outranks: bool,
}

impl InitialSetting {
    fn new(pattern: &str, setting: Setting) -> InitialSetting {
        InitialSetting { pattern: pattern.into(), setting, but_memory: false, outranks: false }
    }

    fn applies_to(&self, name: &str) -> bool {
        let memory = name.starts_with(InstrumentKind::Memory.prefix());
        !(memory && self.but_memory) && LikePattern::start_up(&self.pattern).matches(name)
    }
}

/// The process's performance schema, if it was started.
pub fn process() -> Option<&'static Process> {
    #[cfg(target_os = "linux")]
    if crate::fork::is_lost() {
        return None;
    }
    PROCESS.get()
}

/// Starts the performance schema with everything on but memory ([`Builder::everything`]), except what the variables `PERFSCHEMA_OPTIONS` and
/// `PERFSCHEMA_OPTIONS_FILE` say otherwise. It is [shared](Builder::share) if `PERFSCHEMA_SHARE` says so.
///
/// # Errors
/// [`StartError`]: it was started before, or an option is wrong.
pub fn start() -> Result<&'static Process, StartError> {
    builder().everything(true).start()
}

/// How the performance schema is to start: all off, default sizes.
///
/// Settings are applied in the order in which they are given; those of the file that the variable `PERFSCHEMA_OPTIONS_FILE` names come next,
/// those of the variable `PERFSCHEMA_OPTIONS` last.
///
/// ```
/// use perfschema::{Size, builder};
/// let process = builder()
///     .size(Size::EventsWaitsHistorySize, 20)
///     .options("performance-schema-instrument='wait/synch/%=ON'; performance-schema-consumer-global_instrumentation=ON")
///     .start()?;
/// println!("{} bytes", process.region().size_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn builder() -> Builder {
    Builder {
        config: Ok(Config::DEFAULT),
        consumers: Vec::new(),
        instruments: Vec::new(),
        monitors: Vec::new(),
        environment: true,
        share: false,
    }
}

/// See [`builder`].
#[derive(Clone, Debug)]
#[must_use = "nothing is started until start() is called"]
pub struct Builder {
    /// Or the first thing that was wrong.
    config: Result<Config, StartError>,
    consumers: Vec<(Consumer, bool)>,
    instruments: Vec<InitialSetting>,
    monitors: Vec<(MonitorCommand, String)>,
    environment: bool,
    share: bool,
}

/// Why the performance schema could not start. The program can run on without it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartError {
    /// It was started before.
    AlreadyStarted,
    /// A size is beyond its limit.
    Size(ConfigError),
    /// An option is wrong.
    Option {
        /// The whole text of the options.
        options: String,
        /// What is wrong with it, and where.
        problem: String,
    },
    /// The memory could not be had.
    OutOfMemory {
        /// How much was asked for.
        size_bytes: usize,
    },
    /// The region could not be made.
    Region(RegionError),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::AlreadyStarted => f.write_str("the performance schema was started before; process() gives it"),
            StartError::Size(error) => error.fmt(f),
            StartError::Option { problem, .. } => f.write_str(problem),
            StartError::OutOfMemory { size_bytes } => {
                write!(f, "no memory for a performance schema of {size_bytes} bytes; make its sizes smaller")
            }
            StartError::Region(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StartError {}

impl Builder {
    /// Sets a size.
    pub fn size(mut self, size: Size, value: u32) -> Builder {
        self.config = self.config.and_then(|mut config| {
            config.try_set(size, value.into()).map_err(StartError::Size)?;
            Ok(config)
        });
        self
    }

    /// Turns everything on, or off: all consumers, and all instruments, timed. But not those of memory, which are off as in MySQL, because
    /// a program allocates more often than it waits: `instrument("memory/%", Setting::COUNTED)` switches them on.
    pub fn everything(mut self, on: bool) -> Builder {
        self.consumers.extend(Consumer::ALL.iter().map(|&consumer| (consumer, on)));
        let setting = if on { Setting::ON } else { Setting::OFF };
        self.instruments.push(InitialSetting { but_memory: true, ..InitialSetting::new("%", setting) });
        self
    }

    /// Switches a consumer.
    ///
    /// ```
    /// use perfschema::{Consumer, Setting, builder};
    ///
    /// let process = builder()
    ///     .everything(true)
    ///     .consumer(Consumer::EventsWaitsHistoryLong, false)
    ///     .instrument("wait/synch/%", Setting::COUNTED)
    ///     .instrument("wait/synch/mutex/app/?", Setting::ON)
    ///     .start()?;
    /// assert!(!process.region().consumer_enabled(Consumer::EventsWaitsHistoryLong));
    /// # Ok::<(), perfschema::StartError>(())
    /// ```
    pub fn consumer(mut self, consumer: Consumer, enabled: bool) -> Builder {
        self.consumers.push((consumer, enabled));
        self
    }

    /// Switches the instruments whose names match: `%` is any run of characters, `?` one character. Of several patterns that match,
    /// the longest wins; but those of the environment go before all others.
    pub fn instrument(mut self, pattern: &str, setting: Setting) -> Builder {
        self.instruments.push(InitialSetting::new(pattern, setting));
        self
    }

    /// Has metrics on from the start: names, `module_` and a subsystem, `all`, or patterns with at least one `%`, separated by `;`, `,` or
    /// blanks. Those that register later, too. Of this and [`monitor_disable`](Self::monitor_disable) the last that applies wins.
    ///
    /// ```
    /// let builder = perfschema::builder().monitor_enable("metadata_table_opened;lock%");
    /// # let _ = builder;
    /// ```
    pub fn monitor_enable(self, targets: &str) -> Builder {
        self.monitor(MonitorCommand::Enable, targets)
    }

    /// Has metrics off from the start, of those that [`monitor_enable`](Self::monitor_enable) or their declaration has on.
    pub fn monitor_disable(self, targets: &str) -> Builder {
        self.monitor(MonitorCommand::Disable, targets)
    }

    fn monitor(mut self, command: MonitorCommand, targets: &str) -> Builder {
        let targets = targets.split(|c: char| matches!(c, ';' | ',') || c.is_whitespace()).filter(|target| !target.is_empty());
        self.monitors.extend(targets.map(|target| (command, target.to_owned())));
        self
    }

    /// Options as strings, as MySQL's start-up has them, separated by `;` or newlines.
    ///
    /// ```
    /// use perfschema::builder;
    /// let right = builder().options("performance_schema_max_thread_instances=64; performance-schema-instrument='wait/io/%=COUNTED'");
    /// assert!(right.size_bytes().is_ok());
    /// let error = builder().options("performance_schema_max_thread_instances=many").start().unwrap_err();
    /// assert!(error.to_string().contains("many"), "{error}");
    /// ```
    pub fn options(mut self, text: &str) -> Builder {
        if let Ok(config) = self.config.clone() {
            self.config = self.apply(config, text);
        }
        self
    }

    /// The same from a file, as `my.cnf` is written: an option a line; `#` begins a comment, and at the beginning of a line `;`, too. Lines
    /// like `[mysqld]` say nothing here. It may have 1 MiB.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("perfschema-options-{}", std::process::id()));
    /// std::fs::write(&path, "[app]\nperformance-schema=ON\nperformance-schema-max-thread-instances=64  # one a client\n")?;
    /// let builder = perfschema::builder().options_file(&path);
    /// # std::fs::remove_file(&path)?;
    /// println!("{} bytes", builder.size_bytes()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn options_file(mut self, path: impl AsRef<Path>) -> Builder {
        if let Ok(config) = self.config.clone() {
            self.config = self.apply_file(config, path.as_ref());
        }
        self
    }

    /// How much memory [`start`](Self::start) asks for, in bytes. Pages of it that nothing is written to cost nothing, unless it is
    /// [shared](Self::share).
    ///
    /// # Errors
    /// What [`start`](Self::start) would say of the settings.
    ///
    /// ```
    /// use perfschema::{Size, builder};
    /// let bytes = |threads| builder().size(Size::MaxThreadInstances, threads).size_bytes();
    /// assert!(bytes(1000)? > 3 * bytes(100)?);
    /// # Ok::<(), perfschema::StartError>(())
    /// ```
    pub fn size_bytes(&self) -> Result<usize, StartError> {
        Ok(self.clone().config()?.size_bytes())
    }

    /// The sizes, after what the environment says, if it is looked at.
    fn config(&mut self) -> Result<Config, StartError> {
        let config = self.config.clone()?;
        if !self.heeds_environment() {
            return Ok(config);
        }
        let [file, options] = [FILE_VARIABLE, OPTIONS_VARIABLE].map(std::env::var_os);
        self.heed(config, file.as_deref(), options.as_deref())
    }

    /// What the variables say, those that there are.
    fn heed(&mut self, mut config: Config, file: Option<&OsStr>, options: Option<&OsStr>) -> Result<Config, StartError> {
        let own = self.instruments.len();
        if let Some(path) = file.filter(|path| !path.is_empty()) {
            config = self.apply_file(config, path.as_ref())?;
        }
        if let Some(text) = options {
            let text = utf8(OPTIONS_VARIABLE, text)?;
            // Whoever runs the program may not know that it is set.
            let named = |error| StartError::Option { options: text.into(), problem: format!("{OPTIONS_VARIABLE}: {error}") };
            config = self.apply(config, text).map_err(named)?;
        }
        // Everything, or nothing, is what is not said otherwise.
        self.instruments.iter_mut().skip(own).filter(|initial| !initial.but_memory).for_each(|initial| initial.outranks = true);
        Ok(config)
    }

    fn heeds_environment(&self) -> bool {
        self.environment && !has_more_rights()
    }

    fn apply_file(&mut self, config: Config, path: &Path) -> Result<Config, StartError> {
        let in_file = |problem: &dyn fmt::Display| format!("{}: {problem}", path.display());
        let text = read_options(path)
            .map_err(|error| StartError::Option { options: path.display().to_string(), problem: in_file(&error) })?;
        // As long as it was, because what is wrong is told by its byte.
        let without_comment = |line: &str| match line.trim_start().starts_with(';') {
            true => " ".repeat(line.len() - 1) + "\n",
            false => line.to_owned(),
        };
        let text: String = text.split_inclusive('\n').map(without_comment).collect();
        self.apply(config, &text).map_err(|error| match error {
            StartError::Option { options, problem } => StartError::Option { options, problem: in_file(&problem) },
            other => other,
        })
    }

    /// Whether the variables `PERFSCHEMA_OPTIONS`, `PERFSCHEMA_OPTIONS_FILE` and `PERFSCHEMA_SHARE` are looked at; they are, unless this says
    /// no. One that is empty says nothing, nor does any where the program has rights that whoever runs it has not (setuid, setgid, capabilities
    /// of its file): a file that is named could be one that they may not read, and what is wrong with a line is told with the line.
    ///
    /// ```
    /// use perfschema::builder;
    /// // SAFETY: this program has no other thread yet.
    /// unsafe { std::env::set_var("PERFSCHEMA_OPTIONS", "performance_schema_max_thread_instances=7") };
    /// assert!(builder().size_bytes()? < builder().environment(false).size_bytes()?);
    /// # Ok::<(), perfschema::StartError>(())
    /// ```
    pub fn environment(mut self, look: bool) -> Builder {
        self.environment = look;
        self
    }

    /// Whether the region is put where another process can read it, also when this one is stopped or has died: into a file in shared
    /// memory that only this user can open, which stays until somebody removes it, or until a program of this name starts: of the files
    /// that its earlier runs have left, a forked child's among them, the oldest go while they are more than four and take more than a quarter of all
    /// shared memory, or leave no room; the last stays. The variable `PERFSCHEMA_SHARE` (ON or OFF) overrules this. Where that cannot be done the program starts as if it had not been asked for; `Process::shared_file` says why.
    ///
    /// A `fork` takes longer then, at the default sizes by half a millisecond in the parent, for a copy of what the child keeps, and by 10 to
    /// 15 ms in the child, whose memory is reserved at once. Without, it is 1 to 2 ms in the child, for what the parent had recorded.
    /// (`std::process::Command` forks for another user or group, for `pre_exec`, and where a program without a slash in its name is looked for by another
    /// PATH than this process's, as after `env_clear`; otherwise it does not.)
    ///
    /// A child is given memory of its own by the C library's `fork`. One that is made without it, as by `syscall(SYS_clone)` or `_Fork`, has the
    /// parent's, and must not record: there would be two writers of one row.
    ///
    /// Where the program has rights that the user has not to whom the file would belong, it is not shared: that user could read what only the program may.
    /// That is so of a program that is setgid, has capabilities of its file, or is setuid and has gone back to whoever runs it, unless it says
    /// `prctl(PR_SET_DUMPABLE, 1)`; and of one that has become a user for a while.
    ///
    /// The memory is taken at the start, all of it. A memory limit of the process (a cgroup's) that is less than that ends the program, as it ends
    /// whoever takes too much.
    ///
    /// The program must be left its file: where that is made shorter, as by `truncate`, the program ends at its next touch of what is gone
    /// (SIGBUS). Only its user and root can do that. Removed, the file is only no longer found.
    ///
    /// A program that becomes a daemon starts after that: if it closes all descriptors when it has forked, it closes that of the child's file,
    /// which gets its name with the child's first record, and nobody finds it.
    ///
    /// On Linux only; elsewhere nothing is shared.
    ///
    /// ```
    /// let process = perfschema::builder().everything(true).share(true).start()?;
    /// # #[cfg(target_os = "linux")]
    /// match process.shared_file() {
    ///     Some(Ok(path)) => println!("perfschema top {}", path.display()),
    ///     Some(Err(error)) => eprintln!("nobody else sees what this program waits for: {error}"),
    ///     None => eprintln!("PERFSCHEMA_SHARE=OFF"),
    /// }
    /// # #[cfg(target_os = "linux")]
    /// # if let Some(Ok(path)) = process.shared_file() {
    /// #     std::fs::remove_file(path)?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn share(mut self, share: bool) -> Builder {
        self.share = share;
        self
    }

    fn apply(&mut self, mut config: Config, text: &str) -> Result<Config, StartError> {
        let wrong = |problem: String| StartError::Option { options: text.into(), problem };
        for option in options::options(text) {
            match option.map_err(|error: OptionError<'_>| wrong(error.to_string()))? {
                StartOption::Everything(on) => *self = self.clone().everything(on),
                StartOption::Monitor { command, targets } => *self = self.clone().monitor(command, targets),
                StartOption::Instrument { pattern, setting } => {
                    self.instruments.push(InitialSetting::new(pattern.as_str(), setting));
                }
                StartOption::Consumer { name, enabled } => {
                    let consumer = Consumer::ALL.iter().find(|consumer| same_name(name, consumer.name()));
                    let consumer = consumer.ok_or_else(|| wrong(format!("no consumer '{name}'; setup_consumers lists them")))?;
                    self.consumers.push((*consumer, enabled));
                }
                StartOption::Size { variable, value } => {
                    let size = Size::from_variable(variable)
                        .ok_or_else(|| wrong(format!("no size '{variable}'; global_variables lists them")))?;
                    // -1 leaves it to the program.
                    if let Some(value) = value {
                        config.try_set(size, value).map_err(StartError::Size)?;
                    }
                }
                _ => return Err(wrong("an option that this version does not have".into())),
            }
        }
        Ok(config)
    }

    /// Starts the performance schema. A library that does so stays loaded from then on, also when it is unloaded: what it recorded is its
    /// own, and the ends of its threads are.
    ///
    /// # Errors
    /// [`StartError`]; the program runs on without it.
    pub fn start(mut self) -> Result<&'static Process, StartError> {
        let config = self.config()?;
        // Before any thread records, and before a lock is taken: a library may start this while it is loaded.
        crate::pin::stay_loaded();
        // One start at a time, so that a failed one leaves the place free for the next.
        static STARTING: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _starting = STARTING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if PROCESS.get().is_some() {
            return Err(StartError::AlreadyStarted);
        }
        let created = self.create(&config)?;
        thread::started();
        // A child whose memory is its own anyway is only less tidy without.
        #[cfg(target_os = "linux")]
        let _ = crate::fork::started();
        let process = PROCESS.get_or_init(|| created);
        hook::started();
        crate::metric::started();
        crate::net::record::started(process);
        Ok(process)
    }

    fn create(&self, config: &Config) -> Result<Process, StartError> {
        let program = std::env::current_exe().ok().and_then(|path| name_of(&path)).unwrap_or_else(|| "program".into());
        let identity = Identity {
            pid: std::process::id(),
            start_unix_ns: unix_ns(),
            start_monotonic_ns: SystemClock.ticks(TimerName::Nanosecond),
            program: &program,
        };
        #[cfg(target_os = "linux")]
        let unnamed = self.wants_share()?.then(|| {
            share::remove_oldest_files(&program, size_of::<Word>().saturating_mul(config.words()));
            crate::fork::started().and_then(|()| Unnamed::new(config.words()))
        });
        #[cfg(target_os = "linux")]
        let shared_words = unnamed.as_ref().and_then(|unnamed| unnamed.as_ref().ok()).map(|unnamed| unnamed.words);
        #[cfg(not(target_os = "linux"))]
        let shared_words = None;
        let words = shared_words.map_or_else(|| zeroed(config.words()), Ok)?;
        #[cfg(target_os = "linux")]
        if shared_words.is_some() {
            crate::fork::is_in_file();
        }
        let region = Region::create(words, config, &identity, &Timers::calibrate()).map_err(StartError::Region)?;
        for &(consumer, enabled) in &self.consumers {
            region.set_consumer(consumer, enabled);
        }
        for (command, target) in &self.monitors {
            // Of the region's own metrics; the others are not known yet.
            let _ = region.monitor(*command, target, crate::metric::now(), |_| ());
        }
        Ok(Process {
            region,
            instruments: self.instruments.clone(),
            monitors: self.monitors.clone(),
            #[cfg(target_os = "linux")]
            shared: unnamed.map(|unnamed| share::publish(&unnamed?.file, identity.pid, identity.start_unix_ns)),
        })
    }

    #[cfg(target_os = "linux")]
    fn wants_share(&self) -> Result<bool, StartError> {
        match std::env::var_os(SHARE_VARIABLE) {
            Some(text) if self.heeds_environment() && !text.is_empty() => {
                let text = utf8(SHARE_VARIABLE, &text)?;
                options::switch(text).ok_or_else(|| {
                    let problem = format!("{SHARE_VARIABLE} is '{text}', expected ON or OFF");
                    StartError::Option { options: text.into(), problem }
                })
            }
            _ => Ok(self.share),
        }
    }
}

/// The text of a variable.
fn utf8<'t>(variable: &str, text: &'t OsStr) -> Result<&'t str, StartError> {
    std::str::from_utf8(text.as_encoded_bytes()).map_err(|wrong| {
        let problem = format!("{variable} is not UTF-8, from its byte {} on", wrong.valid_up_to());
        StartError::Option { options: text.to_string_lossy().into(), problem }
    })
}

/// How an instrument starts: of the settings that apply to its name those by whoever runs the program go before those by the program; then the
/// longest pattern decides, of equally long ones the last.
fn initial_setting(settings: &[InitialSetting], name: &str) -> Setting {
    let matching = settings.iter().filter(|initial| initial.applies_to(name));
    let first = matching.max_by_key(|initial| (initial.outranks, initial.pattern.len()));
    first.map_or(Setting::OFF, |initial| initial.setting)
}

/// The name of a program's file. Of one that is no longer there, as after an update, Linux says so behind its name.
fn name_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy();
    let is_said = cfg!(target_os = "linux") && !path.exists();
    Some(name.strip_suffix(" (deleted)").filter(|_| is_said).unwrap_or(&name).to_owned())
}

/// Whether the program may do more than those who run it, whose the environment is.
fn has_more_rights() -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the call reads what the kernel has told the program at its start. Miri's kernel says nothing.
    return !cfg!(miri) && unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    #[cfg(any(target_os = "macos", target_os = "freebsd"))]
    // SAFETY: the call takes nothing and cannot fail.
    return !cfg!(miri) && unsafe { libc::issetugid() } != 0;
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos", target_os = "freebsd")))]
    return false;
}

/// A file of options as a text. What has no end, as a device, is not read for ever.
fn read_options(path: &Path) -> io::Result<String> {
    const MAX_BYTES: u64 = 1 << 20;
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "longer than 1 MiB"));
    }
    // Asked for behind the length: where it is cut may be the middle of a character.
    String::from_utf8(bytes).map_err(|wrong| {
        let problem = format!("not UTF-8, from its byte {} on", wrong.utf8_error().valid_up_to());
        io::Error::new(io::ErrorKind::InvalidData, problem)
    })
}

pub(crate) fn unix_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

impl Process {
    /// What to read: every table scans it.
    pub fn region(&self) -> &Region<'static> {
        &self.region
    }

    /// The file in shared memory that the region is in, or why it is in none; None if it was not asked for.
    #[cfg(target_os = "linux")]
    pub fn shared_file(&self) -> Option<Result<std::path::PathBuf, ShareError>> {
        let shared = self.shared?;
        // A child's file may not have its name yet.
        crate::fork::publish(self);
        let shared = shared.and_then(|()| crate::fork::still_shared());
        Some(shared.map(|()| share::file_path(self.region.pid(), self.region.start_unix_ns())))
    }

    /// Whether a metric starts on, or off; None if no option says so.
    pub(crate) fn monitored(&self, name: &str, subsystem: &str) -> Option<bool> {
        let matching = self.monitors.iter().rev().find(|(_, target)| monitor_matches(target, name, subsystem));
        matching.map(|(command, _)| *command == MonitorCommand::Enable)
    }

    /// How an instrument starts.
    pub(crate) fn initial_setting(&self, name: &str) -> Setting {
        initial_setting(&self.instruments, name)
    }
}

/// Zeroed memory that is never given back, from the start of a cache line on; pages that are never used cost nothing.
fn zeroed(words: usize) -> Result<&'static [Word], StartError> {
    const LINE: usize = 64;
    let out_of_memory = || StartError::OutOfMemory { size_bytes: words.saturating_mul(size_of::<Word>()) };
    // A line more, instead of the alignment of one: zeroed memory of more than the system's own alignment is written by std, page by page.
    let layout = words.checked_add(LINE / size_of::<Word>()).and_then(|words| std::alloc::Layout::array::<Word>(words).ok());
    let layout = layout.ok_or_else(out_of_memory)?;
    // SAFETY: the layout's size is not zero, but a line or more.
    let memory = unsafe { std::alloc::alloc_zeroed(layout) }.cast::<Word>();
    if memory.is_null() {
        return Err(out_of_memory());
    }
    // SAFETY: the memory is as long, aligned, zeroed (a Word is an atomic integer, for which zero is a value), and leaked.
    let all = unsafe { std::slice::from_raw_parts(memory, layout.size() / size_of::<Word>()) };
    let skipped = memory.addr().wrapping_neg() % LINE / size_of::<Word>();
    all.get(skipped..).and_then(|rest| rest.get(..words)).ok_or_else(out_of_memory)
}

/// The one of all unit tests.
#[cfg(test)]
pub(crate) fn started_for_tests() -> &'static Process {
    static STARTED: std::sync::LazyLock<&Process> =
        std::sync::LazyLock::new(|| crate::builder().environment(false).start().unwrap());
    *STARTED
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The environment's patterns before the program's, however short; what it does not name stays as the program has it.
    #[test]
    fn whoever_runs_the_program_has_the_last_word() {
        let start = |options: &str| {
            let mut builder = crate::builder().everything(true).instrument("wait/synch/mutex/%", Setting::ON);
            let config = builder.config.clone().unwrap();
            builder.heed(config, None, Some(options.as_ref())).unwrap();
            ["wait/synch/mutex/app/a", "wait/io/file/app/b", "stage/app/c", "memory/app/d"]
                .map(|name| initial_setting(&builder.instruments, name).enabled)
        };
        assert_eq!(start(""), [true, true, true, false]);
        assert_eq!(start("performance-schema-instrument='wait/%=OFF'"), [false, false, true, false]);
        assert_eq!(start("performance-schema=OFF"), [true, false, false, false]);
        assert_eq!(
            start("performance-schema-instrument='%=ON';performance-schema-instrument='wait/synch/mutex/%=OFF'"),
            [false, true, true, true]
        );
    }

    /// Of a size that is left to the program.
    #[test]
    fn a_size_of_minus_one_is_what_the_program_says() {
        let mut builder = crate::builder();
        let own = Config::SMALL.with(Size::MaxThreadInstances, 7);
        let options = "performance-schema-max-thread-instances=-1;performance-schema-max-mutex-classes=9";
        let config = builder.heed(own, None, Some(options.as_ref())).unwrap();
        assert_eq!([Size::MaxThreadInstances, Size::MaxMutexClasses].map(|size| config.get(size)), [7, 9]);
    }

    #[test]
    fn what_is_wrong_with_a_variable_begins_with_its_name() {
        for options in ["performance-schema-instrument", "performance-schema-max-thread-instances=99999999999", "x=1"] {
            let mut builder = crate::builder();
            let config = builder.config.clone().unwrap();
            let error = builder.heed(config, None, Some(options.as_ref())).unwrap_err();
            assert!(error.to_string().starts_with("PERFSCHEMA_OPTIONS: "), "{error}");
            // Of what the program itself says, nobody set a variable.
            let own = crate::builder().options(options).size_bytes().unwrap_err();
            assert_eq!(error.to_string(), format!("PERFSCHEMA_OPTIONS: {own}"));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_variable_that_is_no_text_is_wrong() {
        use std::os::unix::ffi::OsStrExt;
        let mut builder = crate::builder();
        let config = builder.config.clone().unwrap();
        let options = OsStr::from_bytes(b"performance-schema=OFF;\xff");
        let error = builder.heed(config, None, Some(options)).unwrap_err();
        assert!(error.to_string().contains("PERFSCHEMA_OPTIONS is not UTF-8, from its byte 23 on"), "{error}");
    }

    #[test]
    fn names_of_programs() {
        assert_eq!(name_of("/no/such/folder/indexer".as_ref()).as_deref(), Some("indexer"));
        let of_linux = if cfg!(target_os = "linux") { "indexer" } else { "indexer (deleted)" };
        assert_eq!(name_of("/no/such/folder/indexer (deleted)".as_ref()).as_deref(), Some(of_linux));
        let there = std::env::temp_dir().join(format!("perfschema-{} (deleted)", std::process::id()));
        std::fs::write(&there, "").unwrap();
        let name = name_of(&there);
        std::fs::remove_file(&there).unwrap();
        assert_eq!(name, Some(format!("perfschema-{} (deleted)", std::process::id())));
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt;
            assert_eq!(name_of(std::ffi::OsStr::from_bytes(b"/bin/caf\xe9").as_ref()).as_deref(), Some("caf\u{fffd}"));
        }
        assert_eq!(name_of("/".as_ref()), None);
    }
}
