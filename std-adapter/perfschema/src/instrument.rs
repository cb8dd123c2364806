//! An instrument: a name in a `static`, and its class once it is registered.

use crate::process::Process;
use perfschema_core::{Class, InstrumentName};
use std::sync::atomic::{AtomicU32, Ordering};

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
    /// [`UNKNOWN`], [`NO_ROOM`], or the class. Relaxed: a number of its own.
    class: AtomicU32,
}

const UNKNOWN: u32 = u32::MAX;
const NO_ROOM: u32 = u32::MAX - 1;

impl Instrument {
    /// An instrument of this name, by the rules of [`InstrumentName`].
    ///
    /// # Panics
    /// If the name breaks the rules; in a `static`, that is a compile error.
    pub const fn new(name: &'static str) -> Instrument {
        Instrument { name: InstrumentName::literal(name), class: AtomicU32::new(UNKNOWN) }
    }

    /// The name.
    pub const fn name(&self) -> &'static str {
        self.name.as_str()
    }

    /// The class, registered now if it was not. None if there is no room for it, which is counted.
    // Not a OnceLock: a signal handler that registers what its thread is about to register would wait for ever. Both may do it, and
    // find the same class.
    pub(crate) fn class(&self, process: &Process) -> Option<Class> {
        let mut class = self.class.load(Ordering::Relaxed);
        if class == UNKNOWN {
            let registered = process.region().register(self.name, process.initial_setting(self.name()));
            class = registered.map_or(NO_ROOM, |class| class.to_bits().into());
            self.class.store(class, Ordering::Relaxed);
        }
        u16::try_from(class).ok().map(Class::from_bits)
    }
}
