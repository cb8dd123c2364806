//! Stages: what a thread is doing, one after the other (WL#4813).
//!
//! A stage lasts until the next one begins, at the same reading of the timer, so that there is nothing between them; or until it is ended.
//! One stage runs in an actor at a time, within the innermost [statement](crate::statement) that runs
//! when it begins, and ends with it:
//! ```text
//!   begin A        begin B        end
//!     ├───── A ──────┼───── B ──────┤          no stage
//!         waits          waits            waits
//! ```
//! Waits lie within the stage that runs when they end (NESTING_EVENT_ID), which is nearly always the one that they began in; but for those
//! of another statement than the stage, which lie within their statement. A stage that begins where another one is to go on later ends that one: WL#4813 has "everything appear to be linear".
//!
//! A stage is recorded by the same code as a wait, into records and sums of its own (`event::STAGES`).

use crate::class::Class;
use crate::nest;
use crate::record::{self, Enclosing, EventType, RecordWords, Sequence};
use crate::setup::Switches;
use crate::wait::Wait;
use crate::{Actor, ActorId};
use core::panic::Location;
use perfschema_timer::Clock;

/// A stage that was begun: what [`Actor::end_stage`] ends, if it is still the one that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StageId {
    /// The [number](Actor::number) of its actor.
    actor: u64,
    sequence: u64,
    // There are no more slots than a `u32` says.
    slot: u32,
    class: Class,
}

impl StageId {
    /// Its instrument.
    pub fn class(&self) -> Class {
        self.class
    }

    /// The actor that is in it; None of one without a slot.
    pub fn actor_id(&self) -> Option<ActorId> {
        nest::actor_id(self.actor, self.slot as usize)
    }
}

/// The stage that runs in an actor, which looks at it in many places: so it can be copied, other than a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunningStage<'r> {
    sequence: Sequence,
    switches: Switches,
    start: u64,
    /// The record in which it is visible.
    shown: Option<&'r RecordWords>,
}

impl<'r> RunningStage<'r> {
    /// As what encloses others, if it is visible.
    fn as_enclosing(self) -> Option<Enclosing> {
        self.shown.map(|_| Enclosing::event(self.sequence, EventType::Stage))
    }

    /// What it is recorded as, how far it is included.
    pub(crate) fn as_wait(self) -> Wait<'r> {
        let RunningStage { sequence, switches, start, shown } = self;
        Wait { start, shown, amount: shown.map_or(0, record::amount), ..Wait::of_other_class(sequence, switches) }
    }

    /// Once its record is somebody else's.
    pub(crate) fn without_record(self) -> RunningStage<'r> {
        RunningStage { shown: None, ..self }
    }
}

/// How far a stage is: WORK_COMPLETED and WORK_ESTIMATED, in units of the program's choice.
///
/// Where a word of a region is two halves, on processors of 32 bits, both stop at 2³² - 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageProgress {
    /// Units that are done.
    pub completed: u64,
    /// Units that are to be done, these included, as far as is known.
    pub estimated: u64,
}

impl<'r> Actor<'r> {
    /// A stage begins, and the one that runs ends. `switches` are those of its class, which must be one of stages: loaded by the caller,
    /// who found that they say something. None if the stage is off; the one before has ended all the same.
    ///
    /// ```
    /// # use perfschema_core::{Actor, ActorIdentity, Config, Identity, InstrumentName, Region, Setting, StaticRegion, tables};
    /// # use perfschema_timer::{SystemClock, Timers};
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &Timers::calibrate())?;
    /// let parsing = region.register(InstrumentName::literal("stage/app/parsing"), Setting::ON)?;
    /// let sorting = region.register(InstrumentName::literal("stage/app/sorting"), Setting::ON)?;
    /// region.enable_everything();
    /// let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    ///
    /// actor.begin_stage(&SystemClock, region.switches(parsing), None);
    /// actor.begin_stage(&SystemClock, region.switches(sorting), None);
    /// assert_eq!(region.summary_by_event_name(parsing).count, 1);
    /// region.scan(&tables::EventsStagesCurrent, |row| assert_eq!((row.event_name.as_str(), row.timer_end), ("stage/app/sorting", None)));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn begin_stage(
        &self,
        clock: &impl Clock,
        switches: Switches,
        source: Option<&'static Location<'static>>,
    ) -> Option<StageId> {
        let mut switches = self.masked(switches);
        if !switches.has(Switches::ENABLED) {
            self.end_any_stage(clock);
            return None;
        }
        switches = self.sampled(switches);
        let start = switches.read(clock);
        let before = self.stage.take();
        if let Some(before) = before {
            let same_timer = switches.has(Switches::TIMED) && before.switches.timer_index() == switches.timer_index();
            self.finish_stage(before, |switches| if same_timer { start } else { switches.read(clock) });
        }
        // Only now: END_EVENT_ID of the one before is the last that there was.
        let mut stage = RunningStage { sequence: self.next_sequence(), switches, start, shown: None };
        if switches.has(Switches::CURRENT) {
            stage.shown = self.show_stage(stage, source);
        }
        self.hand_over_waits(before, Some(stage));
        self.stage.set(Some(stage));
        self.stage_statements.set(self.statement_nest.enclosing());
        self.running_stage()
    }

    /// The stage ends, if it is the one that runs. Returns whether it was.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let sorting = region.register(InstrumentName::literal("stage/app/sorting"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// let first = actor.begin_stage(&clock, region.switches(sorting), None).expect("it is on");
    /// let second = actor.begin_stage(&clock, region.switches(sorting), None).expect("it is on");
    /// assert!(!actor.end_stage(&clock, first), "it has ended where the second one began");
    /// assert_eq!(actor.running_stage().map(|stage| (stage.class(), stage.actor_id())), Some((sorting, actor.id())));
    /// assert!(actor.end_stage(&clock, second));
    /// assert!(!actor.end_any_stage(&clock), "none runs");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn end_stage(&self, clock: &impl Clock, stage: StageId) -> bool {
        self.running_stage() == Some(stage) && self.end_any_stage(clock)
    }

    /// The stage that runs ends, whichever it is. Returns whether there was one.
    pub fn end_any_stage(&self, clock: &impl Clock) -> bool {
        self.end_any_stage_at(|switches| switches.read(clock))
    }

    /// The same, at `read` of its switches.
    pub(crate) fn end_any_stage_at(&self, read: impl Fn(Switches) -> u64) -> bool {
        let Some(stage) = self.stage.take() else { return false };
        self.stage_statements.set(0);
        self.finish_stage(stage, read);
        self.hand_over_waits(Some(stage), None);
        true
    }

    /// The stage that runs.
    pub fn running_stage(&self) -> Option<StageId> {
        let stage = self.stage.get()?;
        let (sequence, class) = (stage.sequence.number(), stage.switches.class());
        Some(StageId { actor: self.number(), sequence, slot: self.slot_index() as u32, class })
    }

    /// Says how far the stage that runs is: `change` gets what was said before. Does nothing while no stage runs, or none that is visible.
    ///
    /// ```
    /// # use perfschema_core::{Actor, ActorIdentity, Config, Identity, InstrumentName, Region, Setting, StaticRegion, tables};
    /// # use perfschema_timer::{SystemClock, Timers};
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &Timers::calibrate())?;
    /// # let copying = region.register(InstrumentName::literal("stage/app/copying"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// actor.begin_stage(&SystemClock, region.switches(copying), None);
    /// actor.change_stage_progress(|progress| progress.estimated = 200);
    /// actor.change_stage_progress(|progress| progress.completed += 50);
    /// region.scan(&tables::EventsStagesCurrent, |row| {
    ///     assert_eq!((row.work_completed, row.work_estimated), (Some(50), Some(200)));
    /// });
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn change_stage_progress(&self, change: impl FnOnce(&mut StageProgress)) {
        let Some(record) = self.stage.get().and_then(|stage| stage.shown) else { return };
        let mut progress = record::progress(record);
        change(&mut progress);
        record::set_progress(record, progress);
    }

    fn show_stage(&self, stage: RunningStage<'_>, source: Option<&'static Location<'static>>) -> Option<&'r RecordWords> {
        let record = self.show_other(&self.stages, &stage.as_wait(), source, self.around(), Some(0))?;
        record::finish_start(record, Some(stage.start));
        Some(record)
    }

    /// The stage `after` follows `before`. What runs and lies within no other wait, and what begins later, lies within it, if it lies within
    /// the same statement; what lay within `before` otherwise lies within what was around that one.
    fn hand_over_waits(&self, before: Option<RunningStage<'_>>, after: Option<RunningStage<'_>>) {
        let [before, after] = [before, after].map(|stage| stage.and_then(RunningStage::as_enclosing));
        let enclosing = self.enclosing();
        let statement = self.statement_nest.innermost();
        let statement_before = self.stage_statement.replace(statement);
        for record in self.running_waits() {
            let nesting = record::nesting(record);
            let lay_within_before = Some(nesting) == before;
            let its_statement = if lay_within_before { statement_before } else { nesting.unless_transaction() };
            match after.filter(|_| its_statement == statement) {
                Some(stage) => record::enclose(record, stage),
                None if lay_within_before => {
                    // The transaction, if it was there before the wait.
                    let transaction = Some(self.transaction_nest.innermost()).filter(|it| *it < record::running(record));
                    let without = if its_statement == Enclosing::NONE { transaction.unwrap_or_default() } else { its_statement };
                    record::enclose(record, without);
                }
                None => {}
            }
        }
        if !enclosing.is_wait() {
            self.outer.set(after.unwrap_or_else(|| self.around()));
        }
    }

    /// What encloses what lies within the innermost visible statement, and in no wait there: the stage that runs, if it is visible and lies
    /// there, or what is [`around`](Actor::around).
    pub(crate) fn enclosing_stage(&self) -> Enclosing {
        let stage = self.stage.get().and_then(RunningStage::as_enclosing);
        let lies_there = self.stage_statement.get() == self.statement_nest.innermost();
        stage.filter(|_| lies_there).unwrap_or_else(|| self.around())
    }
}
