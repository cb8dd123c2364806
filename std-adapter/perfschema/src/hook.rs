//! What every instrumented object carries: its instrument, its switch, its instance.
//!
//! The switch is a pointer to the one word that decides whether anything is recorded:
//! ```text
//!   new ──→ UNREGISTERED, 0 until the process starts recording ──first use after that──→ the class's word in the region
//!                                                              └─no room for the class──→ OFF
//! ```
//! So an object can be made in a `static`, before anything else exists, and costs two loads and a branch while it is off.

use crate::instrument::Instrument;
use crate::process::process;
use crate::thread::{Entered, with_actor};
use perfschema_core::{
    Actor, Class, Held, Instance, InstanceId, InstrumentKind, IoEvent, Operation, Region, Switches, Wait, WaitStart, Word,
};
use perfschema_timer::{Clock, SystemClock, TimerName};
use std::panic::Location;
use std::sync::atomic::{AtomicPtr, AtomicU16, AtomicU32, Ordering};

/// A clock that was read before, of what is recorded where it ends.
pub(crate) struct At(pub(crate) u64);

impl Clock for At {
    fn ticks(&self, _: TimerName) -> u64 {
        self.0
    }
}

/// The word of all objects that are not registered yet.
pub(crate) static UNREGISTERED: Word = Word::new(0);
/// The word of objects that found no room.
pub(crate) static OFF: Word = Word::new(0);
/// That of stages that found no room: they end others all the same.
pub(crate) static STAGE_OFF: Word = Word::new(0);

/// The process records from now on: every object registers at its next use.
pub(crate) fn started() {
    STAGE_OFF.set_switches(Switches::STAGE_OFF);
    UNREGISTERED.set_switches(Switches::UNREGISTERED);
}

/// In place of an [`InstanceId`], and beyond every one: there was no room.
const LOST: u32 = u32::MAX;

/// The hook of an object.
#[derive(Debug)]
pub(crate) struct Hook {
    /// Points to [`UNREGISTERED`], to [`OFF`], or to a word of the process's region: all of them are never freed.
    switch: AtomicPtr<Word>,
    instrument: &'static Instrument,
    /// An [`InstanceId`], or [`LOST`].
    instance: AtomicU32,
    /// Relaxed: who reads it has loaded the switch.
    class: AtomicU16,
}

/// A wait that is being recorded. Ends when it is dropped, also by a panic.
#[derive(Debug)]
pub(crate) struct Waiting<'h> {
    hook: &'h Hook,
    wait: Wait<'static>,
}

/// A mark in the tables that the calling thread holds the object exclusively. Taken away when it is dropped, which must be before the
/// object itself is let go.
#[derive(Debug, Default)]
pub(crate) struct Holder(Option<Instance<'static>>);

impl Drop for Holder {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if let Some(instance) = &self.0 {
            instance.clear_holder();
        }
    }
}

impl Holder {
    /// Nobody is marked.
    pub(crate) const NONE: Holder = Holder(None);

    /// Where it is marked.
    #[cfg(feature = "tokio")]
    pub(crate) fn instance(&self) -> Option<Instance<'static>> {
        self.0
    }
}

/// A mark in the tables that the calling thread is one of those that read the object.
#[derive(Debug, Default)]
pub(crate) struct Reader(Option<Instance<'static>>);

impl Drop for Reader {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if let Some(instance) = &self.0 {
            instance.remove_reader();
        }
    }
}

impl Reader {
    /// Nobody is marked.
    pub(crate) const NONE: Reader = Reader(None);

    /// Whether anybody is marked.
    #[cfg(feature = "lock_api_0_4")]
    pub(crate) fn is_marked(&self) -> bool {
        self.0.is_some()
    }

    /// Where it is marked.
    #[cfg(feature = "tokio")]
    pub(crate) fn instance(&self) -> Option<Instance<'static>> {
        self.0
    }
}

/// A mark of who has an object; by default nobody is marked.
pub(crate) trait Mark: Default {
    /// The wait is over, and the thread of the actor has the object.
    fn by(hook: &Hook, actor: &Actor<'static>, wait: Wait<'static>) -> Self;
}

impl Mark for Holder {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn by(hook: &Hook, actor: &Actor<'static>, mut wait: Wait<'static>) -> Holder {
        let instance = hook.instance(actor);
        let place = instance.unwrap_or_else(|| wait.without_instance());
        if let Some(instance) = &instance {
            instance.set_holder(actor.thread_id());
        }
        actor.end(&SystemClock, wait, Held::Exclusive(&place));
        Holder(instance)
    }
}

impl Mark for Reader {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn by(hook: &Hook, actor: &Actor<'static>, mut wait: Wait<'static>) -> Reader {
        let instance = hook.instance(actor);
        let place = instance.unwrap_or_else(|| wait.without_instance());
        if let Some(instance) = &instance {
            instance.add_reader();
        }
        actor.end(&SystemClock, wait, Held::Shared(&place));
        Reader(instance)
    }
}

impl Hook {
    pub(crate) const fn new(instrument: &'static Instrument) -> Hook {
        Hook {
            switch: AtomicPtr::new((&raw const UNREGISTERED).cast_mut()),
            instrument,
            instance: AtomicU32::new(InstanceId::NONE.to_bits()),
            class: AtomicU16::new(0),
        }
    }

    /// The same, by an instrument that the program chose.
    ///
    /// # Panics
    /// If it is not one of such locks.
    #[track_caller]
    pub(crate) const fn checked(instrument: &'static Instrument, kind: InstrumentKind) -> Hook {
        crate::__check_kind(instrument.kind(), kind);
        Hook::new(instrument)
    }

    /// The switches, if anything is to be recorded: all that an object costs while it is off.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn on(&self) -> Option<Switches> {
        // SAFETY: `switch` only ever holds pointers to statics and to words of the region, which is never freed.
        // Acquire: pairs with the Release in register(); the region is seen as it was when it was made.
        let switches = unsafe { &*self.switch.load(Ordering::Acquire) }.switches();
        switches.is_on().then_some(switches)
    }

    /// A wait begins, if it is to be recorded.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn begin(&self, operation: Operation, location: &'static Location<'static>) -> Option<Waiting<'_>> {
        self.begin_on(self.on()?, operation, location)
    }

    /// A wait begins, `switches` having been found [`on`](Self::on).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn begin_on(
        &self,
        switches: Switches,
        operation: Operation,
        location: &'static Location<'static>,
    ) -> Option<Waiting<'_>> {
        let switches = self.registered(switches);
        let entered = Entered::new()?;
        let wait = self.begin_by(entered.actor, switches, operation, location);
        entered.leave();
        Some(self.waiting(wait))
    }

    /// The same, once an actor is at hand and the switches are [`registered`](Self::registered): [`Mark::by`] ends it, or it
    /// goes on as [`waiting`](Self::waiting) says.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn begin_by(
        &self,
        actor: &Actor<'static>,
        switches: Switches,
        operation: Operation,
        location: &'static Location<'static>,
    ) -> Wait<'static> {
        let class = Class::from_bits(self.class.load(Ordering::Relaxed));
        let start = WaitStart { operation, object: self.address(), source: Some(location), amount: 0, io: IoEvent::None };
        actor.begin(&SystemClock, switches, class, &start)
    }

    /// What a wait is that outlives the use of its actor.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn waiting(&self, wait: Wait<'static>) -> Waiting<'_> {
        Waiting { hook: self, wait }
    }

    /// Runs something that may wait, and that others may be doing at the same time.
    pub(crate) fn pass<R>(&self, operation: Operation, location: &'static Location<'static>, wait: impl FnOnce() -> R) -> R {
        let waiting = self.begin(operation, location);
        let result = wait();
        passed(waiting);
        result
    }

    /// Marks the calling thread, or the task that it polls, as the one that holds the object alone.
    pub(crate) fn hold(&self) -> Holder {
        let hold = |actor: &Actor<'static>| self.instance(actor).inspect(|instance| instance.set_holder(actor.thread_id()));
        Holder(with_actor(hold).flatten())
    }

    /// Marks it as one of those that read the object.
    #[cfg(feature = "tokio")]
    pub(crate) fn join_readers(&self) -> Reader {
        Reader(with_actor(|actor| self.instance(actor).inspect(Instance::add_reader)).flatten())
    }

    /// The mark of who holds the object alone, whose own was forgotten: it is kept beside the object.
    #[cfg(feature = "lock_api_0_4")]
    pub(crate) fn marked_holder(&self) -> Holder {
        Holder(process().and_then(|process| self.place(process.region())))
    }

    /// The mark of one of those that read it, likewise.
    #[cfg(feature = "lock_api_0_4")]
    pub(crate) fn marked_reader(&self) -> Reader {
        Reader(process().and_then(|process| self.place(process.region())))
    }

    /// The instrument, whose class is known once the hook is [`registered`](Self::registered).
    #[cfg(feature = "tokio")]
    pub(crate) fn instrument(&self) -> &'static Instrument {
        self.instrument
    }

    /// The switches, after the object's first use.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn registered(&self, switches: Switches) -> Switches {
        if switches == Switches::UNREGISTERED { self.register() } else { switches }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn address(&self) -> u64 {
        std::ptr::from_ref(self) as usize as u64
    }

    /// Registers class and instance, and returns the switches of the class.
    #[cold]
    #[inline(never)]
    fn register(&self) -> Switches {
        let Some(process) = process() else { return Switches::OFF };
        let region = process.region();
        // An instrument of something else has other tables.
        let class = self.instrument.class(process).filter(|_| self.instrument.kind().is_synch());
        let word = match class {
            Some(class) => {
                self.class.store(class.to_bits(), Ordering::Relaxed);
                let id = region.create_instance(class, self.address());
                let bits = id.map_or(LOST, InstanceId::to_bits);
                // Release: pairs with the Acquire in place().
                let take_place_of =
                    |before| self.instance.compare_exchange(before, bits, Ordering::Release, Ordering::Relaxed).is_ok();
                // Several threads may come here at the same moment: the lock has one place, or is counted once.
                if !take_place_of(InstanceId::NONE.to_bits()) {
                    match id {
                        Some(_) if take_place_of(LOST) => region.take_back_lost_instance(class),
                        Some(id) => region.destroy_instance(id),
                        None => region.take_back_lost_instance(class),
                    }
                }
                region.switch_word(class).unwrap_or(&OFF)
            }
            None => &OFF,
        };
        // Release: pairs with the Acquire in on().
        self.switch.store(std::ptr::from_ref(word).cast_mut(), Ordering::Release);
        word.switches()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn instance(&self, actor: &Actor<'static>) -> Option<Instance<'static>> {
        let instance = self.place(actor.region())?;
        instance.set_address(self.address());
        Some(instance)
    }

    /// The same for who does not take the object, which so stays where it was.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn place(&self, region: &Region<'static>) -> Option<Instance<'static>> {
        // Acquire: pairs with the Release in register(); the words of the place are as they were made, or newer. The switch may be of a thread
        // that found no room, before another one did.
        region.instance(InstanceId::from_bits(self.instance.load(Ordering::Acquire)))
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        let id = InstanceId::from_bits(*self.instance.get_mut());
        if id != InstanceId::NONE
            && let Some(process) = process()
        {
            process.region().destroy_instance(id);
        }
    }
}

impl Waiting<'_> {
    /// It looked so often for what it waits for, before it went to sleep or without that: SPINS.
    pub(crate) fn spun(mut self, spins: u32) -> Self {
        if spins != 0 {
            self.wait.set_amount(spins.into());
        }
        self
    }

    /// The wait is over, and the calling thread has the object.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn marked<M: Mark>(self) -> M {
        let waiting = std::mem::ManuallyDrop::new(self);
        let Some(entered) = Entered::new() else { return M::default() };
        let mark = M::by(waiting.hook, entered.actor, waiting.wait.clone());
        entered.leave();
        mark
    }

    /// The wait is over, as others may find theirs to be at this moment.
    pub(crate) fn passed(self) {
        let waiting = std::mem::ManuallyDrop::new(self);
        end_beside_others(waiting.hook, waiting.wait.clone());
    }
}

/// As [`Waiting::marked`], of a wait that may not be recorded: then nobody is marked.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn marked<M: Mark>(waiting: Option<Waiting<'_>>) -> M {
    waiting.map(Waiting::marked).unwrap_or_default()
}

/// As [`Waiting::passed`], of a wait that may not be recorded.
// For what is not called by `pass`, because it names the line that it is called from when it panics.
pub(crate) fn passed(waiting: Option<Waiting<'_>>) {
    if let Some(waiting) = waiting {
        waiting.passed();
    }
}

impl Drop for Waiting<'_> {
    /// The wait is over, in vain: it was not to be had, or the code that waited panics.
    // By value, out of line: so the wait stays in registers where it does not end in vain.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        end_in_vain(self.hook, self.wait.clone());
    }
}

/// As in MySQL it counts for the object, too.
#[cold]
#[inline(never)]
fn end_in_vain(hook: &Hook, wait: Wait<'static>) {
    end_beside_others(hook, wait);
}

/// A wait is over that leaves the object to others, or shares it with them.
fn end_beside_others(hook: &Hook, wait: Wait<'static>) {
    with_actor(|actor| {
        let instance = hook.instance(actor);
        // What the program has begun meanwhile, as within `Once::call_once`, may go on.
        actor.end_in_any_order(&SystemClock, wait, instance.as_ref().map_or(Held::None, Held::Shared));
    });
}

/// Marks the calling thread as the holder again, after a condition was waited for.
pub(crate) fn hold_again(hook: &Hook, was: bool) -> Holder {
    if was { hook.hold() } else { Holder::NONE }
}

impl Holder {
    /// A mark as a reader, if this is one as holder.
    /// Made before the other goes, so that no moment shows nobody.
    pub(crate) fn into_reader(self) -> Reader {
        Reader(self.0.inspect(Instance::add_reader))
    }

    /// Whether anybody is marked.
    pub(crate) fn is_marked(&self) -> bool {
        self.0.is_some()
    }
}
