//! Instrument classes: the registered rows of `setup_instruments`, and the one word that switches each of them.

use crate::event::{EventStore, STAGES, STATEMENTS, STORES, TRANSACTIONS, WAITS};
use crate::lost::Lost;
use crate::name::{EventClass, InstrumentKind, InstrumentName};
use crate::region::{CLASS, Region, Section, Text, read_text, text_is, write_text};
use crate::setup;
use crate::sync::{Ordering, Word};
use crate::{Config, Size};

/// Words of a class.
pub(crate) mod word {
    pub(crate) const STATE: usize = 0;
    pub(crate) const NAME_LEN: usize = 1;
    pub(crate) const NAME: core::ops::Range<usize> = 2..18;
    pub(crate) const SETTING: usize = 18;
}

/// States of a class, and of a metric, in the lowest two bits of the word; it only goes forward. Above them is a hash of the name, from the
/// claim on: so two registrations of one name find the same place even if the first is stopped before it has written the name, and the
/// second writes it, too. Nobody waits for anybody.
pub(crate) const FREE: u64 = 0;
pub(crate) const CLAIMED: u64 = 1;
pub(crate) const PUBLISHED: u64 = 2;
/// Free again in a forked child, with published ones behind it: for a name that is in none of those, where nothing else is free.
pub(crate) const FORGOTTEN: u64 = 3;
pub(crate) const STATE_BITS: u64 = 3;

/// Whether this is the state of a class, or a metric, that is registered.
pub(crate) const fn is_published(state: u64) -> bool {
    state & STATE_BITS == PUBLISHED
}

/// Takes a place for a name of this hash, if its state is `free`; otherwise what it is.
pub(crate) fn claim(state: &Word, free: u64, hash: u64) -> Result<u64, u64> {
    // Most are others', and only looked at: a place that is taken stays so.
    let seen = state.whole();
    if seen != free {
        return Err(seen);
    }
    // [C1] Relaxed: nothing was written before; what is there already is loaded again, see [C3].
    state.compare_exchange(free, hash | CLAIMED, Ordering::Relaxed)
}

/// A registered instrument: an index into the region's classes.
///
/// ```
/// # use perfschema_core::*;
/// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
/// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
/// use core::sync::atomic::{AtomicU16, Ordering};
/// static LOCK_OPEN: AtomicU16 = AtomicU16::new(u16::MAX);
/// let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
/// LOCK_OPEN.store(class.to_bits(), Ordering::Relaxed);
/// assert_eq!(region.class_name(Class::from_bits(LOCK_OPEN.load(Ordering::Relaxed))), "wait/synch/mutex/app/LOCK_open");
/// // What was never stored is the name of no instrument here.
/// assert_eq!(region.class_name(Class::from_bits(u16::MAX)), "");
/// assert!(class.index() < region.class_count());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class(pub(crate) u16);

impl Class {
    /// That of no instrument.
    pub(crate) const NONE: Class = Class(u16::MAX);

    /// The index; of an instrument that is registered below [`Region::class_count`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn index(self) -> usize {
        self.0.into()
    }

    /// As a number to keep in an atomic.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub const fn to_bits(self) -> u16 {
        self.0
    }

    /// From a number that came from [`to_bits`](Self::to_bits). Any other is some class or none, never a panic.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub const fn from_bits(bits: u16) -> Class {
        Class(bits)
    }
}

/// The updatable columns of `setup_instruments`, for one instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// ENABLED: events are counted.
    pub enabled: bool,
    /// TIMED: and timed.
    pub timed: bool,
    /// TIMED_ONE_IN: one event in so many is timed, the others are counted only. 0 is the same as 1: all of them.
    pub timed_one_in: u16,
}

impl Default for Setting {
    fn default() -> Setting {
        Setting::OFF
    }
}

impl Setting {
    /// Neither enabled nor timed: how every instrument starts.
    pub const OFF: Setting = Setting { enabled: false, timed: false, timed_one_in: 1 };
    /// Enabled and timed.
    pub const ON: Setting = Setting { enabled: true, timed: true, timed_one_in: 1 };
    /// Enabled, not timed.
    pub const COUNTED: Setting = Setting { enabled: true, timed: false, timed_one_in: 1 };

    pub(crate) fn from_bits(bits: u64) -> Setting {
        Setting { enabled: bits & 1 != 0, timed: bits & 2 != 0, timed_one_in: ((bits >> 16) as u16).saturating_add(1) }
    }

    /// Never zero: that is a setting that nobody has written yet.
    fn bits(self) -> u64 {
        4 | u64::from(self.enabled) | u64::from(self.timed) << 1 | u64::from(self.timed_one_in.saturating_sub(1)) << 16
    }
}

/// Why an instrument could not be registered. The program runs on; the instrument stays off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// All places of this kind are taken; a `…_classes_lost` counter went up.
    Full {
        /// The size that was too small.
        size: Size,
    },
    /// There is a metric of this name that counts otherwise: what one of them counts means nothing to the other. The loss is counted.
    OtherType,
    /// A kind of instrument that this version does not record.
    Unsupported(InstrumentKind),
}

impl core::fmt::Display for RegisterError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            RegisterError::Full { size } => write!(f, "no room for another instrument, {} is too small", size.variable()),
            RegisterError::OtherType => write!(f, "there is a metric of this name that has another type"),
            RegisterError::Unsupported(kind) => write!(f, "instruments of kind {kind:?} are not recorded yet"),
        }
    }
}

impl core::error::Error for RegisterError {}

/// Which pool of a region a kind of object belongs to: of classes, of instances, and what is counted when they are full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pool {
    pub(crate) classes: Size,
    pub(crate) classes_lost: Lost,
    pub(crate) instances: Section,
    pub(crate) instances_lost: Lost,
}

/// The pools of locks in the order of their classes; those of files and of sockets come behind them, `idle` is the last wait; stages,
/// statements, transactions and memory come behind the waits.
pub(crate) const POOLS: [Pool; 4] = [
    Pool {
        classes: Size::MaxMutexClasses,
        classes_lost: Lost::MutexClasses,
        instances: Section::MutexInstances,
        instances_lost: Lost::MutexInstances,
    },
    Pool {
        classes: Size::MaxRwlockClasses,
        classes_lost: Lost::RwlockClasses,
        instances: Section::RwlockInstances,
        instances_lost: Lost::RwlockInstances,
    },
    Pool {
        classes: Size::MaxCondClasses,
        classes_lost: Lost::CondClasses,
        instances: Section::CondInstances,
        instances_lost: Lost::CondInstances,
    },
    Pool {
        classes: Size::MaxSynchClasses,
        classes_lost: Lost::SynchClasses,
        instances: Section::SynchInstances,
        instances_lost: Lost::SynchInstances,
    },
];

/// Files: their places are not those of locks, see `file`.
pub(crate) const FILE_POOL: Pool = Pool {
    classes: Size::MaxFileClasses,
    classes_lost: Lost::FileClasses,
    instances: Section::FileInstances,
    instances_lost: Lost::FileInstances,
};

/// Sockets: a place of theirs begins as a lock's, and there is more behind it, see `socket`.
pub(crate) const SOCKET_POOL: Pool = Pool {
    classes: Size::MaxSocketClasses,
    classes_lost: Lost::SocketClasses,
    instances: Section::SocketInstances,
    instances_lost: Lost::SocketInstances,
};

/// The pool of a kind, if this version records it and its objects are instances: ordinary waits and memory have none, and `idle` borrows
/// those of sockets.
pub(crate) fn pool_of(kind: InstrumentKind) -> Option<&'static Pool> {
    match kind {
        InstrumentKind::Mutex => Some(&POOLS[0]),
        InstrumentKind::RwLock => Some(&POOLS[1]),
        InstrumentKind::Cond => Some(&POOLS[2]),
        InstrumentKind::Synch => Some(&POOLS[3]),
        InstrumentKind::File => Some(&FILE_POOL),
        InstrumentKind::Socket => Some(&SOCKET_POOL),
        _ => None,
    }
}

/// The pool that the classes of a kind of waits are in: ordinary ones have no instances, and their classes are among those of `synch`.
fn class_pool_of(kind: InstrumentKind) -> Option<&'static Pool> {
    pool_of(if kind == InstrumentKind::Wait { InstrumentKind::Synch } else { kind })
}

/// The classes of a pool of waits: each has a run of its own, so that one kind cannot take another's places.
// Looks at the sizes before it only: an open asks for it.
pub(crate) fn run(region: &Region<'_>, pool: &Pool) -> core::ops::Range<usize> {
    let sizes = region.section(Section::Sizes);
    let mut start = 0;
    for other in POOLS.iter().chain([&FILE_POOL, &SOCKET_POOL]) {
        let end = start + Config::kept(sizes, other.classes) as usize;
        if other.classes == pool.classes {
            return start..end;
        }
        start = end;
    }
    0..0
}

/// The places of the classes of a class of events: waits, with `idle` the last of them, then stages, then statements, then transactions, which
/// have a second place that is no instrument's.
pub(crate) fn of_events(region: &Region<'_>, store: &EventStore) -> core::ops::Range<usize> {
    let kept = |size| Config::kept(region.section(Section::Sizes), size) as usize;
    let end = region.first_memory_class();
    let first_transaction = end.saturating_sub(2 * kept(Size::MaxTransactionClasses));
    let first_statement = first_transaction.saturating_sub(kept(Size::MaxStatementClasses));
    let first_stage = first_statement.saturating_sub(kept(Size::MaxStageClasses));
    match store.class {
        EventClass::Transaction => first_transaction..end,
        EventClass::Statement => first_statement..first_transaction,
        EventClass::Stage => first_stage..first_statement,
        _ => 0..first_stage,
    }
}

/// Where the events of a class are.
pub(crate) fn store_of(region: &Region<'_>, class: Class) -> &'static EventStore {
    STORES.into_iter().find(|store| of_events(region, store).contains(&class.index())).unwrap_or(&WAITS)
}

/// The place of the class `idle`, the only one of its kind: the last of those of waits, in every region.
pub(crate) fn idle(region: &Region<'_>) -> core::ops::Range<usize> {
    let count = of_events(region, &WAITS).end;
    count.saturating_sub(1)..count
}

/// Places of classes; the size that is their number, and what is counted where none is left: there is always one for `idle`.
type Places = (core::ops::Range<usize>, Option<(Size, Lost)>);

/// Those of a kind; None if this version does not record it.
fn places_of(region: &Region<'_>, kind: InstrumentKind) -> Option<Places> {
    Some(match kind {
        InstrumentKind::Idle => (idle(region), None),
        InstrumentKind::Memory => {
            (region.first_memory_class()..region.class_count(), Some((Size::MaxMemoryClasses, Lost::MemoryClasses)))
        }
        InstrumentKind::Stage => (of_events(region, &STAGES), Some((Size::MaxStageClasses, Lost::StageClasses))),
        InstrumentKind::Statement => (of_events(region, &STATEMENTS), Some((Size::MaxStatementClasses, Lost::StatementClasses))),
        InstrumentKind::Transaction => {
            (of_events(region, &TRANSACTIONS), Some((Size::MaxTransactionClasses, Lost::TransactionClasses)))
        }
        kind => {
            let pool = class_pool_of(kind)?;
            (run(region, pool), Some((pool.classes, pool.classes_lost)))
        }
    })
}

/// The places that a name is looked for at, each with the state in which it is taken: those that were forgotten behind all others.
pub(crate) fn candidates<T>(places: impl Iterator<Item = T> + Clone) -> impl Iterator<Item = (T, u64)> {
    [FREE, FORGOTTEN].into_iter().flat_map(move |free| places.clone().map(move |place| (place, free)))
}

impl Region<'_> {
    /// How many places there are for classes, over all kinds. There is one for `idle` in every region, and of the two for `transaction` the second is
    /// no instrument's.
    pub fn class_count(&self) -> usize {
        self.section(Section::Switches).len()
    }

    /// Registers an instrument, or finds the one of this name. `initial` is its setting if it is new.
    ///
    /// # Errors
    /// [`RegisterError`]; the loss is counted.
    ///
    /// ```
    /// # use perfschema_core::{Config, Identity, InstrumentName, Region, Setting, StaticRegion};
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let timers = perfschema_timer::Timers::calibrate();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timers)?;
    /// const LOCK_OPEN: InstrumentName = InstrumentName::literal("wait/synch/mutex/app/LOCK_open");
    /// let class = region.register(LOCK_OPEN, Setting::ON)?;
    /// assert_eq!(region.register(LOCK_OPEN, Setting::OFF)?, class);
    /// assert_eq!(region.class_name(class), "wait/synch/mutex/app/LOCK_open");
    /// assert_eq!(region.setting(class), Setting::ON);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn register(&self, name: InstrumentName<'_>, initial: Setting) -> Result<Class, RegisterError> {
        let (places, full) = places_of(self, name.kind()).ok_or(RegisterError::Unsupported(name.kind()))?;
        let hash = hash(name.as_str());
        let classes = self.arrays::<CLASS>(Section::Classes);
        for (index, free) in candidates(places) {
            let Some(class) = classes.get(index) else { break };
            if let Err(seen) = claim(&class[word::STATE], free, hash)
                && seen & !STATE_BITS != hash
            {
                continue;
            }
            let found = Class(index as u16);
            match self.published(found) {
                Some(words) if !text_is(&words[word::NAME], words[word::NAME_LEN].get(), name.as_str()) => continue,
                Some(_) => {}
                // Also where another thread has claimed it, which may be stopped, or dead, before it has written what both write alike.
                None => {
                    let len = write_text(&class[word::NAME], name.as_str());
                    class[word::NAME_LEN].set(len as u64);
                    // Relaxed: published below. Compared, so that who comes late undoes no change.
                    let _ = class[word::SETTING].compare_exchange(0, self.possible(found, initial).bits(), Ordering::Relaxed);
                    // [C2] Release: pairs with the Acquire in published(); whoever sees the class sees its name.
                    class[word::STATE].store(hash | PUBLISHED, Ordering::Release);
                }
            }
            // Also for who published it and may not have got so far: an event that follows is to find its switch.
            setup::fold_class(self, found);
            return Ok(found);
        }
        // There is one name of kind idle, and a place for it: none in a region of foreign bytes only.
        let (size, lost) = full.ok_or(RegisterError::Unsupported(name.kind()))?;
        self.count_lost(lost);
        Err(RegisterError::Full { size })
    }

    /// The registered classes, in the order of their index.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// region.register(InstrumentName::literal("stage/app/sorting"), Setting::OFF)?;
    /// let on: Vec<_> = region.classes().filter(|class| region.setting(*class).enabled).collect();
    /// assert_eq!(on, [region.find_class("wait/synch/mutex/app/LOCK_open").unwrap()]);
    /// assert_eq!(region.find_class("stage/app/searching"), None);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn classes(&self) -> impl Iterator<Item = Class> + '_ {
        self.all_classes().filter(|class| self.published(*class).is_some())
    }

    /// All classes, registered or not.
    pub(crate) fn all_classes(&self) -> impl ExactSizeIterator<Item = Class> + Clone + use<> {
        (0..self.class_count()).map(|index| Class(index as u16))
    }

    /// The classes of a class of events, registered or not.
    pub(crate) fn event_classes(&self, store: &EventStore) -> impl ExactSizeIterator<Item = Class> + Clone + use<> {
        of_events(self, store).map(|index| Class(index as u16))
    }

    /// The class of this name, if there is one.
    pub fn find_class(&self, name: &str) -> Option<Class> {
        self.classes().find(|class| {
            self.published(*class).is_some_and(|words| text_is(&words[word::NAME], words[word::NAME_LEN].get(), name))
        })
    }

    /// The instrument's name; empty for a class that is not registered.
    pub fn class_name(&self, class: Class) -> Text<128> {
        self.published(class).map_or(Text::EMPTY, |words| read_text(&words[word::NAME], words[word::NAME_LEN].get()))
    }

    /// What `setup_instruments` shows for the class.
    pub fn setting(&self, class: Class) -> Setting {
        self.published(class).map_or(Setting::OFF, |words| Setting::from_bits(words[word::SETTING].get()))
    }

    /// Switches an instrument. Takes effect at once, for events that begin later.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// region.set_setting(class, Setting { timed_one_in: 16, ..Setting::ON });
    /// for _ in 0..1_000 {
    ///     let wait = actor.begin(&clock, region.switches(class), class, &WaitStart::new(Operation::Lock));
    ///     actor.end(&clock, wait, Held::None);
    /// }
    /// let waits = region.summary_by_event_name(class);
    /// assert_eq!(waits.count, 1_000);
    /// assert!((1..500).contains(&waits.count_timed), "about one in 16: {}", waits.count_timed);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_setting(&self, class: Class, setting: Setting) {
        self.store_setting(class, setting);
        setup::fold_class(self, class);
    }

    /// The same, for callers that fold once after several.
    pub(crate) fn store_setting(&self, class: Class, setting: Setting) {
        if let Some(words) = self.published(class) {
            words[word::SETTING].set(self.possible(class, setting).bits());
        }
    }

    /// Changes the setting that is there, and returns whether it is another one now. The caller folds.
    pub(crate) fn change_setting<E>(&self, class: Class, change: impl Fn(Setting) -> Result<Setting, E>) -> Result<bool, E> {
        let Some(words) = self.published(class) else { return Ok(false) };
        words[word::SETTING].try_update(|bits| Ok(self.possible(class, change(Setting::from_bits(bits))?).bits()))
    }

    /// What the instrument can be of what is asked for: memory is never timed.
    fn possible(&self, class: Class, setting: Setting) -> Setting {
        if self.is_memory(class) { Setting { enabled: setting.enabled, ..Setting::OFF } } else { setting }
    }

    /// After a fork: what another thread was about to register is free again, also where memory was copied before the thread had got to the
    /// state.
    pub(crate) fn forget_unfinished_classes(&self) {
        for kind in InstrumentKind::all() {
            let Some((places, _)) = places_of(self, kind) else { continue };
            let mut free = FREE;
            for words in self.arrays::<CLASS>(Section::Classes).get(places).unwrap_or_default().iter().rev() {
                if is_published(words[word::STATE].get()) {
                    free = FORGOTTEN;
                } else {
                    forget(&words[word::STATE], free, &words[word::STATE + 1..]);
                }
            }
        }
    }

    fn published(&self, class: Class) -> Option<&[Word; CLASS]> {
        let words = self.arrays::<CLASS>(Section::Classes).get(class.index())?;
        // [C3] Acquire: pairs with [C2].
        is_published(words[word::STATE].load(Ordering::Acquire)).then_some(words)
    }
}

/// After a fork: a place is `free`, and nothing is in the others of its words. What is so already is left alone, so that a forked child
/// shares more pages with its parent.
pub(crate) fn forget<'a>(state: &'a Word, free: u64, others: impl IntoIterator<Item = &'a Word>) {
    let values = others.into_iter().map(|word| (word, 0)).chain([(state, free)]);
    values.filter(|(word, value)| word.get() != *value).for_each(|(word, value)| word.set(value));
}

/// FNV-1a of the name, in the bits above the state.
pub(crate) fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        & !STATE_BITS
}
