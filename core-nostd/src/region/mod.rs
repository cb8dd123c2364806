//! The region: one block of 64-bit words, no pointers, the same bytes for the program itself and for any reader.
//!
//! ```text
//! word  0  magic "PERFSCHM"        word 24  last THREAD_ID
//!       1  layout version               25  next histogram
//!       2  total words                  26  slots up to the last ever used
//!       3  ready (published last)       27  actors without a slot
//!       4  pid                          28  whether histograms are shared
//!       5  start, ns since 1970         32  next chunk of the long history of waits; 40 of stages, 48 statements, 56 transactions
//!       6  start, monotonic ns          64  directory: kind, offset, stride, count for each section
//!       7  length of the program's name  …  the sections, each on a cache line of its own
//!       8  its name                A text is its bytes, eight to a word, the first in the lowest byte.
//! ```
//!
//! A zeroed block is "no region yet", so a `static` one lives in `.bss`; [`Region::create`] writes the header, and the word
//! `ready` last. [`Region::open`] checks everything that later code relies on, so a block of hostile bytes is an error or a
//! region of nonsense, never a panic. Words that hold indices are checked where they are used.

mod layout;
mod now;
mod text;

use crate::config::{Config, Size};
use crate::histogram;
use crate::setup;
use crate::stat::Patience;
use crate::sync::{Ordering, Word};
pub(crate) use layout::{
    CARRY, CHUNK, CLASS, DIGEST, FILE, INSTANCE, IO_SUMS, Layout, MEMORY, METRIC, METRIC_SHARED, METRIC_SUMS, METRIC_TEXTS,
    RECORD, RUNNING, SETUP, SETUP_ACTOR, SHARED_MEMORY, SHARED_STATEMENT_STAT, SLOT, SOCKET, SOURCE, STAT, STATEMENT,
    STATEMENT_STAT, Section, TIMER, TRANSACTION,
};
use layout::{DIRECTORY_ENTRY, HEADER, Place};
pub use now::Now;
pub(crate) use now::Present;
use perfschema_timer::{Calibration, Conversion, TimerName, Timers};
pub use text::Text;
pub(crate) use text::{little_endian, read_text, text_is, what_fits, write_text};

/// "PERFSCHM" with its first letter in the lowest byte; read on a machine of the other byte order it is another number.
const MAGIC: u64 = u64::from_le_bytes(*b"PERFSCHM");
/// Changes whenever a section changes its meaning.
const LAYOUT_VERSION: u64 = 24;
pub(crate) const READY: u64 = 1;

/// Words of the header. Those up to [`PROGRAM`](header::PROGRAM) are the same in all layout versions: whose region it is is known of each.
pub(crate) mod header {
    pub(crate) const MAGIC: usize = 0;
    pub(crate) const VERSION: usize = 1;
    pub(crate) const TOTAL_WORDS: usize = 2;
    pub(crate) const READY: usize = 3;
    pub(crate) const PID: usize = 4;
    pub(crate) const START_UNIX_NS: usize = 5;
    pub(crate) const START_MONOTONIC_NS: usize = 6;
    pub(crate) const PROGRAM_LEN: usize = 7;
    pub(crate) const PROGRAM: core::ops::Range<usize> = 8..24;
    /// The last one that was given away.
    pub(crate) const LAST_THREAD_ID: usize = 24;
    pub(crate) const NEXT_HISTOGRAM: usize = 25;
    /// Slots up to the last one that anybody ever recorded in.
    pub(crate) const USED_SLOTS: usize = 26;
    /// How many actors without a slot have drawn a number.
    pub(crate) const NEXT_ACTOR_NUMBER: usize = 27;
    /// 1 if anything was ever counted in a shared histogram.
    pub(crate) const HAS_SHARED_HISTOGRAMS: usize = 28;
    /// Where a search for a free slot begins, see `pool`: no slot before it is free.
    pub(crate) const SLOT_HINT: usize = 29;
    /// On a line of its own: every recording thread comes by now and then.
    pub(crate) const NEXT_LONG_CHUNK: usize = 32;
    /// The same for stages, on the next line.
    pub(crate) const NEXT_STAGE_LONG_CHUNK: usize = 40;
    /// And for statements.
    pub(crate) const NEXT_STATEMENT_LONG_CHUNK: usize = 48;
    /// And for transactions.
    pub(crate) const NEXT_TRANSACTION_LONG_CHUNK: usize = 56;
}

/// Why a block of words is not a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegionError {
    /// Fewer words than a region of these sizes, or than its header says.
    TooSmall {
        /// Words that are there.
        words: usize,
        /// Words that are needed.
        needed: usize,
    },
    /// A region that exists already was to be created again; or the memory's first word is another than zero: see [`zero`].
    InUse,
    /// The first word is not the magic: not a region, or one that was never initialised.
    NotARegion {
        /// The word found there.
        found: u64,
    },
    /// Written by a machine of the other byte order; [`copy_from_bytes`] and [`Region::find`] convert it.
    OtherByteOrder,
    /// A layout that this version cannot read.
    LayoutVersion {
        /// The version found.
        found: u64,
        /// The version that is expected.
        expected: u64,
    },
    /// The program that makes the region has not finished.
    NotReady,
    /// A section is not where it can be.
    Section {
        /// Its index in the directory.
        index: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl core::fmt::Display for RegionError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            RegionError::TooSmall { words, needed } => {
                write!(f, "{words} words are too few for a region, expected at least {needed}")
            }
            RegionError::InUse => write!(f, "this memory holds a region already, or was never zeroed"),
            RegionError::NotARegion { found } => {
                write!(f, "not a region: the first word is {found:#018x}, expected {MAGIC:#018x} (\"PERFSCHM\")")
            }
            RegionError::OtherByteOrder => write!(f, "a region of a machine of the other byte order"),
            RegionError::LayoutVersion { found, expected } => {
                write!(f, "region of layout version {found}, expected {expected}; use the program's own version of perfschema")
            }
            RegionError::NotReady => write!(f, "the region is still being made, or its program died while making it"),
            RegionError::Section { index, problem } => write!(f, "damaged region: section {index} {problem}"),
        }
    }
}

impl core::error::Error for RegionError {}

/// Who a new region belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Identity<'a> {
    /// Process id, 0 where there are no processes.
    pub pid: u32,
    /// When the program started, in nanoseconds since 1970; 0 if unknown.
    pub start_unix_ns: u64,
    /// The same moment on the monotonic clock, in nanoseconds.
    pub start_monotonic_ns: u64,
    /// The program's name; 128 bytes are kept.
    pub program: &'a str,
}

/// A region: the words, and where its sections are.
///
/// The same type serves the program that records and every reader. It is cheap to share by reference and holds no lock. `{:?}` says whose it
/// is, and not all that is in it.
///
/// ```
/// use perfschema_core::{Config, Identity, Region, StaticRegion};
/// use perfschema_timer::Timers;
///
/// const CONFIG: Config = Config::SMALL;
/// static MEMORY: StaticRegion<{ CONFIG.words() }> = StaticRegion::new();
///
/// let region = Region::create(MEMORY.words(), &CONFIG, &Identity::default(), &Timers::calibrate())?;
/// assert_eq!(region.size_bytes(), CONFIG.size_bytes());
/// // A reader needs only the words.
/// assert_eq!(Region::open(MEMORY.words())?.config(), CONFIG);
/// # Ok::<(), perfschema_core::RegionError>(())
/// ```
pub struct Region<'r> {
    words: &'r [Word],
    header: &'r [Word; HEADER],
    setup: &'r [Word; SETUP],
    no_slot: &'r [Word; SLOT],
    layout: Layout,
    is_here: bool,
    /// The reader's alone.
    now: Now,
    patience: Patience,
}

impl core::fmt::Debug for Region<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut region = f.debug_struct("Region");
        region.field("program", &self.program()).field("pid", &self.pid()).field("size_bytes", &self.size_bytes());
        region.field("now", &self.now).finish_non_exhaustive()
    }
}

/// Memory for a region in a `static`: zeroed, so it takes no place in the program's file.
///
/// ```
/// use perfschema_core::{Config, Identity, Region, RegionError, StaticRegion};
/// const CONFIG: Config = Config::SMALL;
/// static MEMORY: StaticRegion<{ CONFIG.words() }> = StaticRegion::new();
/// assert_eq!((MEMORY.words().len() * 8, align_of_val(&MEMORY)), (CONFIG.size_bytes(), 64));
/// # let timers = perfschema_timer::Timers::calibrate();
/// Region::create(MEMORY.words(), &CONFIG, &Identity::default(), &timers)?;
/// assert_eq!(Region::create(MEMORY.words(), &CONFIG, &Identity::default(), &timers).err(), Some(RegionError::InUse));
/// # Ok::<(), RegionError>(())
/// ```
#[cfg(not(perfschema_loom))]
#[repr(C, align(64))]
pub struct StaticRegion<const WORDS: usize>([Word; WORDS]);

#[cfg(not(perfschema_loom))]
impl<const WORDS: usize> core::fmt::Debug for StaticRegion<WORDS> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("StaticRegion").field("words", &WORDS).finish_non_exhaustive()
    }
}

#[cfg(not(perfschema_loom))]
impl<const WORDS: usize> StaticRegion<WORDS> {
    /// Empty memory; [`Config::words`] says how much is needed.
    #[expect(clippy::new_without_default, reason = "made in a static, where Default cannot be called")]
    pub const fn new() -> Self {
        StaticRegion([const { Word::new(0) }; WORDS])
    }

    /// The words, for [`Region::create`] and [`Region::open`].
    pub const fn words(&self) -> &[Word] {
        &self.0
    }
}

/// Copies the bytes of a region, a file or a memory dump, into `words`, and turns the byte order round if it was written
/// by a machine of the other one. A last incomplete word is left out.
///
/// # Errors
/// [`RegionError::TooSmall`] if `words` is shorter than the bytes.
///
/// ```
/// use perfschema_core::{Region, RegionError, Word, copy_from_bytes};
/// let words: Vec<Word> = (0..4).map(|_| Word::new(0)).collect();
/// copy_from_bytes(b"these are not the bytes", &words)?;
/// assert!(matches!(Region::open(&words), Err(RegionError::NotARegion { .. })));
/// # Ok::<(), RegionError>(())
/// ```
pub fn copy_from_bytes(bytes: &[u8], words: &[Word]) -> Result<(), RegionError> {
    let (chunks, _) = bytes.as_chunks::<8>();
    if chunks.len() > words.len() {
        return Err(RegionError::TooSmall { words: words.len(), needed: chunks.len() });
    }
    let swap = chunks.first().is_some_and(|first| u64::from_ne_bytes(*first) == MAGIC.swap_bytes());
    for (chunk, word) in chunks.iter().zip(words) {
        let value = u64::from_ne_bytes(*chunk);
        word.set(if swap { value.swap_bytes() } else { value });
    }
    Ok(())
}

/// Makes words zero, as [`Region::create`] needs them, where they may be anything: memory that survives a reset, or that the program reuses.
/// Nobody may be recording into them, or reading them as a region.
///
/// ```
/// use perfschema_core::{Region, Word, zero};
/// # use perfschema_core::{Config, Identity, RegionError};
/// # let timers = perfschema_timer::Timers::calibrate();
/// # let (config, identity) = (Config::EMPTY, Identity::default());
/// let words: Vec<Word> = (0..config.words() as u64).map(|word| Word::new(0x5555 ^ word)).collect();
/// assert_eq!(Region::create(&words, &config, &identity, &timers).err(), Some(RegionError::InUse));
/// zero(&words);
/// Region::create(&words, &config, &identity, &timers)?;
/// # Ok::<(), RegionError>(())
/// ```
pub fn zero(words: &[Word]) {
    words.iter().for_each(|word| word.set(0));
}

/// The words that say whether others are a region's: those of its header, its directory and its sizes, which come first.
const HEAD: usize = Layout::of(&Config::EMPTY).place(Section::Sizes).offset + Size::COUNT;

fn turn_round(words: &[Word]) {
    words.iter().for_each(|word| word.set(word.get().swap_bytes()));
}

/// Whether the region is there whole that begins with these words.
fn is_ready(words: &[Word]) -> bool {
    // [R2] Acquire: pairs with the Release in create().
    words.get(header::READY).is_some_and(|ready| ready.load(Ordering::Acquire) == READY)
}

impl<'r> Region<'r> {
    /// Words at the beginning of a region that say whose it is, see [`program_of`](Self::program_of).
    pub const IDENTITY_WORDS: usize = header::PROGRAM.end;

    /// Makes a region in `words`, which must be zero, and publishes it.
    ///
    /// In memory that survives a reset (a section that is not initialized) the region of before is still there: [`open`](Self::open) it, read
    /// its tables or send its words, then [`zero`] them and create a new one. Do not record into an opened one: the actors of before the reset
    /// keep their slots for ever. When power comes on such memory is random: what `open` does not take is to be zeroed, too.
    ///
    /// # Errors
    /// [`RegionError::TooSmall`] or [`RegionError::InUse`]; nothing is written then.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # let words: Vec<Word> = (0..Config::SMALL.words()).map(|_| Word::new(0)).collect();
    /// # let timers = timer::Timers::calibrate();
    /// let identity = Identity { pid: 7, start_unix_ns: 1_297_711_215_000_000_000, start_monotonic_ns: 500, program: "app" };
    /// let region = Region::create(&words, &Config::SMALL, &identity, &timers)?;
    /// assert_eq!((region.pid(), region.program().as_str()), (7, "app"));
    /// assert_eq!((region.start_unix_ns(), region.start_monotonic_ns()), (1_297_711_215_000_000_000, 500));
    /// assert_eq!(region.words().len(), Config::SMALL.words());
    /// let short = Region::create(&words[..10], &Config::SMALL, &identity, &timers).err();
    /// assert_eq!(short, Some(RegionError::TooSmall { words: 10, needed: Config::SMALL.words() }));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn create(
        words: &'r [Word],
        config: &Config,
        identity: &Identity<'_>,
        timers: &Timers,
    ) -> Result<Region<'r>, RegionError> {
        let layout = Layout::of(config);
        let (header, setup, no_slot) = always_there(words, &layout)?;
        if words[header::MAGIC].compare_exchange(0, MAGIC, Ordering::Relaxed).is_err() {
            return Err(RegionError::InUse);
        }
        let region =
            Region { words, header, setup, no_slot, layout, is_here: true, now: Now::Clock, patience: Patience::default() };
        words[header::VERSION].set(LAYOUT_VERSION);
        words[header::TOTAL_WORDS].set(layout.total_words() as u64);
        words[header::PID].set(identity.pid.into());
        words[header::START_UNIX_NS].set(identity.start_unix_ns);
        words[header::START_MONOTONIC_NS].set(identity.start_monotonic_ns);
        let len = write_text(&words[header::PROGRAM], identity.program);
        words[header::PROGRAM_LEN].set(len as u64);
        for (entry, &section) in region.arrays::<DIRECTORY_ENTRY>(Section::Directory).iter().zip(Section::ALL) {
            let place = layout.place(section);
            let values = [section as usize, place.offset, section.stride(), place.count];
            entry.iter().zip(values).for_each(|(word, value)| word.set(value as u64));
        }
        for (word, &size) in region.section(Section::Sizes).iter().zip(Size::ALL) {
            word.set(config.get(size).into());
        }
        for (entry, name) in region.arrays::<TIMER>(Section::Timers).iter().zip(TimerName::ALL) {
            let timer = timers.get(name);
            let source_and_error = u64::from(timer.source.is_counter()) << 32 | u64::from(timer.error_ppb);
            let values = [timer.frequency_hz, timer.conversion.multiplier(), timer.epoch_ticks, source_and_error];
            entry.iter().zip(values).for_each(|(word, value)| word.set(value));
        }
        histogram::fill_tick_buckets(region.section(Section::TickBuckets), timers.get(TimerName::Cycle).conversion);
        setup::create(&region);
        // [R1] Release: pairs with the Acquire in open(); whoever sees READY sees the header, the directory and the settings.
        words[header::READY].store(READY, Ordering::Release);
        Ok(region)
    }

    /// Looks at a region that somebody else made: another part of the program, another process, or a dead one.
    ///
    /// # Errors
    /// What is wrong with the words, if they are not a region that this version reads.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// // A reader elsewhere has nothing but the words, and sees what the other one records from now on, too.
    /// let reader = Region::open(MEMORY.words())?;
    /// let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// assert_eq!(reader.class_name(class), "wait/synch/mutex/app/LOCK_open");
    /// assert_eq!((reader.now(), region.now()), (Now::Unknown, Now::Clock));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn open(words: &'r [Word]) -> Result<Region<'r>, RegionError> {
        match words.first().map_or(0, Word::get) {
            MAGIC => {}
            other if other == MAGIC.swap_bytes() => return Err(RegionError::OtherByteOrder),
            found => return Err(RegionError::NotARegion { found }),
        }
        if words.len() < HEADER {
            return Err(RegionError::TooSmall { words: words.len(), needed: HEADER });
        }
        if !is_ready(words) {
            return Err(RegionError::NotReady);
        }
        let found = words[header::VERSION].get();
        if found != LAYOUT_VERSION {
            return Err(RegionError::LayoutVersion { found, expected: LAYOUT_VERSION });
        }
        let layout = read_directory(words)?;
        let (header, setup, no_slot) = always_there(words, &layout)?;
        Ok(Region { words, header, setup, no_slot, layout, is_here: false, now: Now::Unknown, patience: Patience::default() })
    }

    /// The name of the program whose region begins with these words: also where [`open`](Self::open) does not take its layout. None if it is no
    /// region. As many words as [`IDENTITY_WORDS`](Self::IDENTITY_WORDS) says are enough; they are the same in all layout versions.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// let identity = Identity { program: "app", ..Identity::default() };
    /// assert_eq!(Region::program_of(MEMORY.words()), None);
    /// Region::create(MEMORY.words(), &Config::SMALL, &identity, &timer::Timers::calibrate())?;
    /// assert_eq!(Region::program_of(&MEMORY.words()[..Region::IDENTITY_WORDS]).unwrap(), "app");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn program_of(words: &[Word]) -> Option<Text<128>> {
        let (name, first) = (words.get(header::PROGRAM)?, words.first_chunk::<{ header::PROGRAM.start }>()?);
        let is_region = first[header::MAGIC].get() == MAGIC && is_ready(first);
        is_region.then(|| read_text(name, first[header::PROGRAM_LEN].get()))
    }

    /// Looks for a region in a dump of memory, where it may begin at any word: a core file, what a debugger has read of a board. Of several the
    /// first is opened. One that was written by a machine of the other byte order is turned round in its place.
    ///
    /// # Errors
    /// What is wrong with the first one that is not whole; [`RegionError::NotARegion`] if nothing looks like one.
    ///
    /// ```
    /// use perfschema_core::{Config, Identity, Region, RegionError, Word};
    /// use perfschema_timer::Timers;
    ///
    /// let dump: Vec<Word> = (0..9 + Config::SMALL.words()).map(|_| Word::new(0)).collect();
    /// assert!(matches!(Region::find(&dump), Err(RegionError::NotARegion { .. })));
    /// Region::create(&dump[5..], &Config::SMALL, &Identity { pid: 7, ..Identity::default() }, &Timers::calibrate())?;
    /// assert_eq!(Region::find(&dump)?.pid(), 7);
    /// # Ok::<(), RegionError>(())
    /// ```
    pub fn find(words: &'r [Word]) -> Result<Region<'r>, RegionError> {
        let mut first_error = None;
        for (at, word) in words.iter().enumerate() {
            let found = match word.get() {
                MAGIC => Region::open(&words[at..]),
                other if other == MAGIC.swap_bytes() => Region::open_turned_round(&words[at..]),
                _ => continue,
            };
            match found {
                Ok(region) => return Ok(region),
                // The magic alone is in every program that has this code.
                Err(RegionError::NotReady | RegionError::TooSmall { needed: HEADER, .. }) => {}
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.unwrap_or(RegionError::NotARegion { found: words.first().map_or(0, Word::get) }))
    }

    /// Where in these bytes, whole words from the first one on, a region may begin: the first place with what all begin with, in either byte
    /// order, as far as it is there to be seen. For whoever looks for one in a dump that is not in memory as a whole; [`open`](Self::open) says
    /// whether it is one.
    ///
    /// ```
    /// use perfschema_core::Region;
    /// assert_eq!(Region::may_begin_at(b"between PERFSCHM words"), Some(8));
    /// assert_eq!(Region::may_begin_at(b"turned: MHCSFREP"), Some(8));
    /// assert_eq!(Region::may_begin_at(b"in two PERFSCHM"), None);
    /// assert_eq!(Region::may_begin_at(b"PERFSCHM has no other words behind it"), None);
    /// ```
    pub fn may_begin_at(bytes: &[u8]) -> Option<usize> {
        let words = bytes.as_chunks::<8>().0;
        // The magic alone is in every program that has this code, and whole pages may be full of it.
        let is_ready = |at: usize, ready: u64| {
            let word = words.get(at.saturating_add(header::READY));
            word.is_none_or(|word| u64::from_ne_bytes(*word) == ready)
        };
        let at = words.iter().enumerate().position(|(at, word)| match u64::from_ne_bytes(*word) {
            MAGIC => is_ready(at, READY),
            other => other == MAGIC.swap_bytes() && is_ready(at, READY.swap_bytes()),
        })?;
        Some(at * 8)
    }

    /// One of the other byte order is turned round; if it is none, nothing is changed: what follows may be one.
    fn open_turned_round(words: &'r [Word]) -> Result<Region<'r>, RegionError> {
        let head = words.get(..HEAD).unwrap_or(words);
        turn_round(head);
        let found = Region::open(words);
        turn_round(match &found {
            Ok(region) => &words[head.len()..region.layout.total_words()],
            Err(_) => head,
        });
        found
    }

    /// Whether this machine's timers are its timers: it was made by this handle's [`create`](Self::create), or its reader has said that it is
    /// [as of](Self::as_of) this machine's clock.
    pub(crate) fn is_here(&self) -> bool {
        self.is_here
    }

    /// The words themselves.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn words(&self) -> &'r [Word] {
        self.words
    }

    /// The sizes that the region was made with.
    pub fn config(&self) -> Config {
        let sizes = self.section(Section::Sizes);
        let mut config = Config::EMPTY;
        for &size in Size::ALL {
            let _ = config.try_set(size, Config::kept(sizes, size).into());
        }
        config
    }

    /// Bytes of the whole region.
    pub fn size_bytes(&self) -> usize {
        self.layout.total_words() * 8
    }

    /// Process id of the program that records, 0 if it has none.
    pub fn pid(&self) -> u32 {
        self.header(header::PID).get() as u32
    }

    /// The recording program's name.
    pub fn program(&self) -> Text<128> {
        read_text(&self.header[header::PROGRAM], self.header(header::PROGRAM_LEN).get())
    }

    /// When the recording program started, in nanoseconds since 1970; 0 if it does not know.
    pub fn start_unix_ns(&self) -> u64 {
        self.header(header::START_UNIX_NS).get()
    }

    /// When the recording program started, in nanoseconds of its monotonic clock.
    pub fn start_monotonic_ns(&self) -> u64 {
        self.header(header::START_MONOTONIC_NS).get()
    }

    /// Frequency, conversion and epoch of a timer, as calibrated by the recording program.
    pub fn timer(&self, timer: TimerName) -> Timer {
        match self.arrays::<TIMER>(Section::Timers).get(timer.index()) {
            Some([frequency, multiplier, epoch, _]) => Timer {
                frequency_hz: frequency.get(),
                conversion: Conversion::from_multiplier(multiplier.get()),
                epoch_ticks: epoch.get(),
            },
            None => Timer { frequency_hz: 0, conversion: Conversion::from_multiplier(0), epoch_ticks: 0 },
        }
    }

    /// Whether the recording program's CYCLE is a counter that can be read without asking.
    pub(crate) fn cycle_is_counter(&self) -> bool {
        let entry = self.arrays::<TIMER>(Section::Timers).get(TimerName::Cycle.index());
        entry.is_some_and(|[.., source_and_error]| source_and_error.get() >> 32 & 1 != 0)
    }

    /// A word of the header.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn header(&self, word: usize) -> &'r Word {
        // The remainder, so that nothing can panic where the word is not known when this is compiled.
        &self.header[word % HEADER]
    }

    /// How long its reader waits for writers that stand still.
    pub(crate) fn patience(&self) -> &Patience {
        &self.patience
    }

    /// The settings that are not of one instrument.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn setup(&self) -> &'r [Word; SETUP] {
        self.setup
    }

    /// The words of [`Section::NoSlot`].
    #[inline]
    pub(crate) fn no_slot(&self) -> &'r [Word; SLOT] {
        self.no_slot
    }

    /// Where a section is.
    pub(crate) fn place(&self, section: Section) -> Place {
        self.layout.place(section)
    }

    /// All words of a section.
    #[inline]
    pub(crate) fn section(&self, section: Section) -> &'r [Word] {
        let Place { offset, count } = self.layout.place(section);
        // `create` and `open` made sure that it is there.
        self.words.get(offset..offset + count * section.stride()).unwrap_or_default()
    }

    /// The entries of a section; `N` is its stride.
    #[inline]
    pub(crate) fn arrays<const N: usize>(&self, section: Section) -> &'r [[Word; N]] {
        debug_assert_eq!(N, section.stride());
        self.section(section).as_chunks().0
    }

    /// The part of a section that belongs to one slot, `N` being the section's stride.
    pub(crate) fn arrays_of<const N: usize>(&self, section: Section, slot: usize) -> &'r [[Word; N]] {
        let all = self.arrays::<N>(section);
        let each = all.len().checked_div(self.place(Section::Slots).count).unwrap_or(0);
        all.get(slot * each..(slot + 1) * each).unwrap_or(&[])
    }
}

/// How a region's timer counts.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    /// Ticks a second.
    pub frequency_hz: u64,
    /// Ticks to picoseconds.
    pub conversion: Conversion,
    /// What the counter read at the epoch, the moment when the region was made.
    pub epoch_ticks: u64,
}

impl Timer {
    /// Picoseconds from the epoch to `ticks`, as TIMER_START has them; 0 for a moment before it. After 2⁶⁴ ps, 213 days, they start again at
    /// 0, as MySQL's do: so two moments are as far apart as they were.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// let cycle = region.timer(timer::TimerName::Cycle);
    /// assert_eq!((cycle.frequency_hz, cycle.epoch_ticks), (2_500_000_000, 0));
    /// assert_eq!(cycle.since_epoch_ps(100), 40_000);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn since_epoch_ps(&self, ticks: u64) -> u64 {
        self.conversion.picoseconds_modulo(ticks.saturating_sub(self.epoch_ticks))
    }
}

impl From<&Calibration> for Timer {
    fn from(timer: &Calibration) -> Timer {
        Timer { frequency_hz: timer.frequency_hz, conversion: timer.conversion, epoch_ticks: timer.epoch_ticks }
    }
}

/// The three sections that every region has one of.
type AlwaysThere<'r> = (&'r [Word; HEADER], &'r [Word; SETUP], &'r [Word; SLOT]);

/// Found once, so that no look at them can fail.
fn always_there<'r>(words: &'r [Word], layout: &Layout) -> Result<AlwaysThere<'r>, RegionError> {
    fn only<'r, const N: usize>(words: &'r [Word], layout: &Layout, section: Section) -> Option<&'r [Word; N]> {
        words.get(layout.place(section).offset..)?.first_chunk()
    }
    let found = words.get(..layout.total_words()).and_then(|words| {
        Some((only(words, layout, Section::Header)?, only(words, layout, Section::Setup)?, only(words, layout, Section::NoSlot)?))
    });
    found.ok_or(RegionError::TooSmall { words: words.len(), needed: layout.total_words() })
}

/// The layout that the directory describes, if it is one that this version reads and every section lies within `words`.
fn read_directory(words: &[Word]) -> Result<Layout, RegionError> {
    let total = words[header::TOTAL_WORDS].get();
    let needed = usize::try_from(total).unwrap_or(usize::MAX);
    if needed > words.len() || needed < HEADER + Section::COUNT * DIRECTORY_ENTRY {
        // Of what is there, so many words are the region's, as it says itself.
        let (words, needed) = (needed.min(words.len()), needed.max(HEADER + Section::COUNT * DIRECTORY_ENTRY));
        return Err(RegionError::TooSmall { words, needed });
    }
    let directory = words[HEADER..].as_chunks::<DIRECTORY_ENTRY>().0;
    let mut config = Config::EMPTY;
    // The sizes give the layout; the directory must say the same. It saves a reader of another language the computing of places; what the words
    // of a section are, the modules that write them say, of one layout version.
    let sizes = directory[Section::Sizes as usize][1].get();
    for (i, &size) in Size::ALL.iter().enumerate() {
        let word = usize::try_from(sizes).ok().and_then(|at| words.get(at.checked_add(i)?));
        let value = word.ok_or(RegionError::Section { index: Section::Sizes as usize, problem: "is outside the region" })?.get();
        config
            .try_set(size, value)
            .map_err(|_| RegionError::Section { index: Section::Sizes as usize, problem: "holds a size above its limit" })?;
    }
    let layout = Layout::of(&config);
    match layout.total_words() {
        total if total > needed => return Err(RegionError::TooSmall { words: needed, needed: total }),
        total if total < needed => {
            return Err(RegionError::Section { index: Section::Sizes as usize, problem: "holds sizes of a smaller region" });
        }
        _ => {}
    }
    for (index, &section) in Section::ALL.iter().enumerate() {
        let place = layout.place(section);
        let expected = [section as usize, place.offset, section.stride(), place.count];
        if directory[index].iter().zip(expected).any(|(word, value)| word.get() != value as u64) {
            return Err(RegionError::Section { index, problem: "is not where its sizes put it" });
        }
    }
    Ok(layout)
}
