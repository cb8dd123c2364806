//! An instrument: a name in a `static`, and its class once it is registered.

use crate::hook;
use crate::process::{Process, process};
use crate::thread::unfinished;
use perfschema_core::{Class, InstrumentKind, InstrumentName, Switches, Word};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// A named point of measurement, to be placed in a `static`; the lock macros ([`mutex!`](crate::mutex) and the others) do that.
///
/// ```
/// use perfschema::{Instrument, sync::Mutex};
/// static LOCK_PART: Instrument = Instrument::new("wait/synch/mutex/app/LOCK_part");
/// // Many locks of one class:
/// let parts: Vec<Mutex<u32>> = (0..8).map(|i| Mutex::with_instrument(&LOCK_PART, i)).collect();
/// assert_eq!(*parts[3].lock().unwrap(), 3);
/// ```
#[derive(Debug)]
pub struct Instrument {
    name: InstrumentName<'static>,
    /// [`UNKNOWN`], [`NO_ROOM`], or the class.
    class: AtomicU32,
    /// For objects that have no hook of their own, such as files: the word of its switches, as in [`hook`].
    switch: AtomicPtr<Word>,
}

const UNKNOWN: u32 = u32::MAX;
const NO_ROOM: u32 = u32::MAX - 1;

impl Instrument {
    /// An instrument of this name, by the rules of [`InstrumentName`].
    ///
    /// # Panics
    /// If the name breaks the rules; in a `static`, that is a compile error.
    pub const fn new(name: &'static str) -> Instrument {
        Instrument {
            name: InstrumentName::literal(name),
            class: AtomicU32::new(UNKNOWN),
            switch: AtomicPtr::new((&raw const hook::UNREGISTERED).cast_mut()),
        }
    }

    /// The switches, if anything is to be recorded. It is registered at its first use after the process has started recording.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn on(&self) -> Option<Switches> {
        self.checked(self.switches())
    }

    /// The switches as they are, before anybody asks whether it is registered: all that an operation costs while it is off.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn switches(&self) -> Switches {
        // SAFETY: `switch` only ever holds pointers to statics and to words of the region, which is never freed.
        // Acquire: pairs with the Release in register(); the region is seen as it was when it was made.
        unsafe { &*self.switch.load(Ordering::Acquire) }.switches()
    }

    /// As [`on`](Self::on), of [`switches`](Self::switches) that were loaded before.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn checked(&self, switches: Switches) -> Option<Switches> {
        match switches.is_on() {
            false => None,
            true if switches == Switches::UNREGISTERED => self.register(),
            true => Some(switches),
        }
    }

    #[cold]
    #[inline(never)]
    fn register(&self) -> Option<Switches> {
        let process = process()?;
        let word = self.class(process).and_then(|class| process.region().switch_word(class));
        let word = word.unwrap_or(if self.kind() == InstrumentKind::Stage { &hook::STAGE_OFF } else { &hook::OFF });
        // Release: pairs with the Acquire in on().
        self.switch.store(std::ptr::from_ref(word).cast_mut(), Ordering::Release);
        Some(word.switches()).filter(|switches| switches.is_on())
    }

    /// The class of an instrument that was found [`on`](Self::on).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn registered(&self) -> Class {
        // Relaxed: the switch was loaded before.
        Class::from_bits(self.class.load(Ordering::Relaxed) as u16)
    }

    /// The name.
    pub const fn name(&self) -> &'static str {
        self.name.as_str()
    }

    pub(crate) const fn kind(&self) -> InstrumentKind {
        self.name.kind()
    }

    /// The class, registered now if it was not. None if there is no room for it, which is counted.
    // Not a OnceLock: a signal handler that registers what its thread is about to register would wait for ever. Both may do it, and
    // find the same class.
    pub(crate) fn class(&self, process: &Process) -> Option<Class> {
        // Acquire: pairs with the Release below; the class's switch is what it was when it was registered, or newer.
        let mut class = self.class.load(Ordering::Acquire);
        if class == UNKNOWN {
            let setting = process.initial_setting(self.name());
            let registered = unfinished(|| process.region().register(self.name, setting));
            class = registered.map_or(NO_ROOM, |class| class.to_bits().into());
            self.class.store(class, Ordering::Release);
        }
        u16::try_from(class).ok().map(Class::from_bits)
    }
}
