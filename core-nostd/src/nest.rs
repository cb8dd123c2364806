//! Events of one class that lie within one another in one actor, and may end in any order: statements, transactions.

use crate::actor::Recorder;
use crate::record::{self, Enclosing, EventType, RecordWords, Sequence};
use crate::region::header;
use crate::setup::Switches;
use crate::sync::Ordering;
use crate::wait::Wait;
use crate::{Actor, ActorId, Lost};
use core::cell::Cell;
use core::num::NonZeroU64;
use core::panic::Location;
use perfschema_timer::Clock;

/// Which of an actor's events of one class run.
#[derive(Debug, Default)]
pub(crate) struct Nest {
    /// Those that run, a bit each; and of these the ones that what begins now lies within.
    running: Cell<u64>,
    enclosing: Cell<u64>,
    /// The innermost visible one of the latter.
    innermost: Cell<Enclosing>,
}

/// Where one of them is among the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// Its own among those that run; none if so many run that there is no other.
    bit: u64,
    /// Those that it lies within, and the innermost visible one of them.
    within: u64,
    outer: Enclosing,
}

impl Nest {
    /// One begins.
    fn begin(&self) -> Level {
        let running = self.running.get();
        let level = Level { bit: !running & running.wrapping_add(1), within: self.enclosing.get(), outer: self.innermost.get() };
        self.running.set(running | level.bit);
        self.enclosing.set(level.within | level.bit);
        level
    }

    /// It is visible: what begins now lies within it. Returns whether it does: one without a bit is not known when it ends.
    fn enclose(&self, level: Level, event: Enclosing) -> bool {
        let is_known = level.bit != 0;
        if is_known {
            self.innermost.set(event);
        }
        is_known
    }

    /// It ends. Returns whether it enclosed what begins now: then this lies within what enclosed it, and those within it that run on
    /// enclose nothing.
    fn end(&self, level: Level) -> bool {
        self.running.set(self.running.get() & !level.bit);
        let enclosed = self.enclosing.get() & level.bit != 0;
        if enclosed {
            self.enclosing.set(level.within);
            self.innermost.set(level.outer);
        }
        enclosed
    }

    /// The innermost visible one that encloses what begins now.
    pub(crate) fn innermost(&self) -> Enclosing {
        self.innermost.get()
    }

    /// How many of them what begins now lies within.
    pub(crate) fn depth(&self) -> u32 {
        self.enclosing().count_ones()
    }

    /// Those that what begins now lies within, a bit each.
    pub(crate) fn enclosing(&self) -> u64 {
        self.enclosing.get()
    }
}

impl Level {
    /// Of one that is not known among the others.
    const NONE: Level = Level { bit: 0, within: 0, outer: Enclosing::NONE };

    /// Whether it is one of these.
    pub(crate) fn is_among(self, bits: u64) -> bool {
        self.bit & bits != 0
    }
}

/// In the number of an actor that has no slot, and so no THREAD_ID.
const WITHOUT_SLOT: u64 = 1 << 63;

/// An event that others may lie within, between its begin and its end: what all such have in common.
#[derive(Debug)]
pub(crate) struct NestedEvent<'r> {
    /// None if it is not recorded.
    wait: Option<Wait<'r>>,
    level: Level,
    /// The [number](Actor::number) of its actor, and where its slot is, if it has one.
    actor: u64,
    slot: usize,
    /// What enclosed the actor's waits when it began.
    outer: Enclosing,
}

impl NestedEvent<'_> {
    /// One of which nothing is recorded.
    pub(crate) const NONE: NestedEvent<'static> =
        NestedEvent { wait: None, level: Level::NONE, actor: 0, slot: 0, outer: Enclosing::NONE };

    /// Whether anything is recorded for it.
    pub(crate) fn is_recorded(&self) -> bool {
        self.wait.is_some()
    }

    /// Its actor; None of one without a slot, and if nothing is recorded.
    pub(crate) fn actor_id(&self) -> Option<ActorId> {
        actor_id(self.actor, self.slot)
    }

    pub(crate) fn level(&self) -> Level {
        self.level
    }
}

/// The actor of this [number](Actor::number); None of one without a slot.
pub(crate) fn actor_id(number: u64, slot: usize) -> Option<ActorId> {
    let thread_id = NonZeroU64::new(number).filter(|_| number & WITHOUT_SLOT == 0)?;
    Some(ActorId { thread_id, slot })
}

impl<'r> Actor<'r> {
    /// What tells it from all others, in what it begins and another one may end: its THREAD_ID, or [`WITHOUT_SLOT`] and a number that it draws
    /// when it is first asked.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        if self.number.get() == 0 {
            self.draw_number();
        }
        self.number.get()
    }

    #[cold]
    fn draw_number(&self) {
        // Relaxed: only that the numbers differ matters.
        let number = self.region().header(header::NEXT_ACTOR_NUMBER).fetch_add(1, Ordering::Relaxed);
        self.number.set(WITHOUT_SLOT | number);
    }

    /// An event begins that others may lie within. `switches` are [masked](Actor::masked), and say that something is recorded; `beside`
    /// writes what its record, which has this index in its section, has besides.
    pub(crate) fn begin_nested<E>(
        &self,
        clock: &impl Clock,
        switches: Switches,
        (on, nest, kind): (&Recorder<'r>, &Nest, EventType),
        source: Option<&'static Location<'static>>,
        amount: Option<u64>,
        beside: impl FnOnce(usize) -> E,
    ) -> (NestedEvent<'r>, Option<E>) {
        let outer = self.enclosing();
        let sequence = self.next_sequence();
        let switches = self.sampled(switches);
        let level = nest.begin();
        let mut wait: Wait<'r> = Wait::of_other_class(sequence, switches);
        wait.amount = amount.unwrap_or(0);
        let mut entry = None;
        if switches.has(Switches::CURRENT) {
            // The younger of both.
            let nesting = self.statement_nest.innermost().max(self.transaction_nest.innermost());
            wait.shown = self.show_other(on, &wait, source, nesting, amount);
            match wait.shown {
                Some(record) => entry = Some(beside(self.first_record(on) + on.ring.index_of(record))),
                None => self.region().count_lost(Lost::NestedEvents),
            }
        }
        wait.start = switches.read(clock);
        if let Some(record) = wait.shown {
            record::finish_start(record, Some(wait.start));
            let event = Enclosing::event(sequence, kind);
            if nest.enclose(level, event) {
                let is_statement = kind == EventType::Statement;
                self.outer.set(if is_statement || !outer.is_wait() { self.enclosing_stage() } else { outer });
            }
        }
        (NestedEvent { wait: Some(wait), level, actor: self.number(), slot: self.slot_index(), outer }, entry)
    }

    /// Its end begins: what is to be recorded of it, and how; None if nothing is. One that another actor began is recorded as far as it is
    /// counted, under a number of this one's, whose sums have their versions of it.
    pub(crate) fn end_nested<'e>(&self, event: &mut NestedEvent<'e>) -> Option<(Wait<'e>, Switches)> {
        let mut wait = event.wait.take()?;
        if event.actor != self.number() {
            // As where an event begins: the wait that runs has another one beside it.
            self.enclosing();
            wait.sequence = self.next_sequence();
            (wait.shown, event.level) = (None, Level::NONE);
        }
        let switches = self.kept(&mut wait)?;
        Some((wait, switches))
    }

    /// It has ended, of this number: what begins now lies within what enclosed it.
    pub(crate) fn leave(&self, nest: &Nest, event: &NestedEvent<'_>, sequence: Sequence) {
        let before = self.around();
        if nest.end(event.level) && self.around() != before {
            // Of the waits that run, those go on enclosing that were there before it.
            let enclosing = self.enclosing();
            let is_older = enclosing.is_wait() && enclosing < Enclosing::event(sequence, EventType::Transaction);
            self.outer.set(match event.outer {
                _ if is_older => enclosing,
                // The one that it began in, or if that has ended, the one around that.
                outer if outer.is_wait() => {
                    let running = self.running_waits().filter_map(record::as_enclosing);
                    let enclosing = running.filter(|wait| *wait <= outer && *wait > self.statement_nest.innermost()).max();
                    enclosing.unwrap_or_else(|| self.enclosing_stage())
                }
                _ => self.enclosing_stage(),
            });
        }
    }

    /// The records of its waits that run.
    pub(crate) fn running_waits(&self) -> impl Iterator<Item = &'r RecordWords> {
        let ring = &self.waits.ring;
        // Once the slot is given back, its records are somebody else's.
        let records = if self.is_detached() || ring.is_idle() { &[][..] } else { ring.records() };
        records.iter().filter(|record| record::is_running_of(record, self.base))
    }

    /// Whether the event's place is this actor's: that of one whose actor gave its slot back is somebody else's.
    pub(crate) fn shows(&self, event: &NestedEvent<'_>) -> bool {
        event.actor == self.number() && !self.is_detached()
    }

    /// What lies around what begins outside of all stages and waits: the innermost statement, or where none runs, the transaction.
    pub(crate) fn around(&self) -> Enclosing {
        match self.statement_nest.innermost() {
            Enclosing::NONE => self.transaction_nest.innermost(),
            statement => statement,
        }
    }
}
