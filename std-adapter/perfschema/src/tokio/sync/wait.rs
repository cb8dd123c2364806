//! Waits for what has a hook, over several polls.

use crate::hook::{Holder, Hook, Reader};
use crate::instrument::Instrument;
use crate::io::{Caller, Io, Object};
use crate::thread::with_actor;
use crate::tokio::pending::{Pending, then};
use perfschema_core::{Group, Held, Instance, IoEvent, Operation, Switches, WaitStart};
use std::panic::Location;

/// A wait for an object that has a hook, before it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct HookWait<'h> {
    hook: &'h Hook,
    operation: Operation,
    caller: Caller,
}

/// What the wait has come to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outcome {
    /// Nothing yet, or the object has no place of its own.
    None,
    /// Whoever waited has the object alone.
    Alone(Instance<'static>),
    /// Others may have it, too; or it was waited for in vain.
    Shared(Instance<'static>),
}

impl<'h> HookWait<'h> {
    pub(super) const fn new(hook: &'h Hook, operation: Operation, location: &'static Location<'static>) -> HookWait<'h> {
        HookWait { hook, operation, caller: Some(location) }
    }

    /// Of what is polled without a future.
    pub(super) const fn polled(hook: &'h Hook, operation: Operation) -> HookWait<'h> {
        HookWait { hook, operation, caller: None }
    }

    fn shared(self) -> Outcome {
        with_actor(|actor| self.hook.instance(actor)).flatten().map_or(Outcome::None, Outcome::Shared)
    }
}

impl Object for Outcome {
    fn held(&self, _: Group) -> Held<'_, 'static> {
        match self {
            Outcome::None => Held::None,
            Outcome::Alone(instance) => Held::Exclusive(instance),
            Outcome::Shared(instance) => Held::Shared(instance),
        }
    }
}

impl Io for HookWait<'_> {
    type Object = Outcome;

    fn instrument(&self) -> &'static Instrument {
        self.hook.instrument()
    }

    fn on(&self) -> Option<Switches> {
        self.hook.on().map(|switches| self.hook.registered(switches)).filter(|switches| switches.is_on())
    }

    fn object(&self) -> Outcome {
        Outcome::None
    }

    fn operation(&self) -> Operation {
        self.operation
    }

    fn start(&self) -> WaitStart {
        let HookWait { hook, operation, caller } = *self;
        WaitStart { operation, object: hook.address(), source: caller, amount: 0, io: IoEvent::None }
    }

    fn transfers(&self) -> bool {
        false
    }

    fn given_up(&self, _: Outcome) -> Outcome {
        self.shared()
    }
}

/// Something of tokio's that waits, recorded from its first poll until it has completed, or is given up; `end` says what comes of it.
pub(super) fn wait<'h, F: Future, T>(
    hook: &'h Hook,
    operation: Operation,
    location: &'static Location<'static>,
    waits: F,
    end: impl FnOnce(&mut Pending<HookWait<'h>>, F::Output) -> T,
) -> impl Future<Output = T> {
    then(HookWait::new(hook, operation, location), waits, end)
}

/// The same of what others may be doing at the same time.
pub(super) fn pass<F: Future>(
    hook: &Hook,
    operation: Operation,
    location: &'static Location<'static>,
    waits: F,
) -> impl Future<Output = F::Output> {
    wait(hook, operation, location, waits, passed)
}

/// Such a wait is over.
pub(super) fn passed<T>(pending: &mut Pending<HookWait<'_>>, result: T) -> T {
    if let Some(wait) = pending.recorded() {
        pending.end_with(wait.shared());
    }
    result
}

impl Pending<HookWait<'_>> {
    /// The wait is over, and the task that is polled, or the thread, holds the object alone.
    pub(super) fn held(&mut self) -> Holder {
        let Some(HookWait { hook, .. }) = self.recorded() else { return Holder::NONE };
        let holder = hook.hold();
        self.end_with(holder.instance().map_or(Outcome::None, Outcome::Alone));
        holder
    }

    /// The wait is over, and the task reads the object, maybe with others.
    pub(super) fn read(&mut self) -> Reader {
        let Some(HookWait { hook, .. }) = self.recorded() else { return Reader::NONE };
        let reader = hook.join_readers();
        self.end_with(reader.instance().map_or(Outcome::None, Outcome::Shared));
        reader
    }

    fn end_with(&mut self, outcome: Outcome) {
        self.set_object(outcome);
        self.end(None);
    }
}
