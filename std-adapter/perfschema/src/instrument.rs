//! An instrument: a name in a `static`, and its class once it is registered.

use crate::process::Process;
use perfschema_core::{Class, InstrumentName};
use std::sync::OnceLock;

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
    /// None: there was no room.
    class: OnceLock<Option<Class>>,
}

impl Instrument {
    /// An instrument of this name, by the rules of [`InstrumentName`].
    ///
    /// # Panics
    /// If the name breaks the rules; in a `static`, that is a compile error.
    pub const fn new(name: &'static str) -> Instrument {
        Instrument { name: InstrumentName::literal(name), class: OnceLock::new() }
    }

    /// The name.
    pub const fn name(&self) -> &'static str {
        self.name.as_str()
    }

    /// The class, registered now if it was not. None if there is no room for it, which is counted.
    pub(crate) fn class(&self, process: &Process) -> Option<Class> {
        *self.class.get_or_init(|| process.region().register(self.name, process.initial_setting(self.name())).ok())
    }
}
