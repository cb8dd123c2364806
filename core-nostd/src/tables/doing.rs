//! What a thread is doing at one moment: the columns PROCESSLIST_… of `threads`, from the records of its statements and stages.
//!
//! They are read as `events_statements_current` and `events_stages_current` are, from the same records; TRUNCATE of those tables hides
//! nothing here, because MySQL's `threads` does not depend on them.

use super::single_events::{LOOKS, Snapshots, end_order};
use crate::Class;
use crate::event::{Place, STAGES, STATEMENTS};
use crate::record::{EventType, Snapshot};
use crate::region::{Present, Region, Text};
use crate::slot::{self, Owner, SlotWords};
use crate::statement::{Entry, Sizes};
use perfschema_timer::TimerName;

/// What a thread is doing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doing {
    /// Whether a statement runs.
    pub(super) executes: bool,
    /// Of the outermost one the text and the schema.
    pub(super) info: Option<Text<1024>>,
    pub(super) db: Option<Text<64>>,
    /// The stage that runs.
    pub(super) state: Option<Text<64>>,
    /// Whole seconds since the statement began; without one since the stage began, or the last statement ended, or the thread started.
    pub(super) seconds: Option<i64>,
    /// Records that were read more than once, because the thread was at work on them.
    pub(super) disturbed: usize,
}

/// What one look at the records of a thread's statements finds.
#[derive(Clone, Copy, Default)]
struct Statements {
    /// The one that began first of those that run: no other one that runs is around it.
    outermost: Option<(usize, Snapshot)>,
    /// The one that ended last.
    last: Option<Snapshot>,
}

impl Statements {
    fn look(records: &Snapshots<'_, '_>) -> Statements {
        let mut found = Statements::default();
        records.each(&mut |index, snapshot| match (snapshot.ended, &found.outermost, &found.last) {
            (false, Some((_, outer)), _) if outer.sequence < snapshot.sequence => {}
            (false, ..) => found.outermost = Some((index, *snapshot)),
            (true, _, Some(last)) if end_order(snapshot) < end_order(last) => {}
            (true, ..) => found.last = Some(*snapshot),
        });
        found
    }
}

/// What the owner of a slot is doing; valid if the slot is still its own afterwards.
pub(super) fn doing(region: &Region<'_>, now: Present, slot: (usize, &SlotWords), owner: &Owner) -> Doing {
    let statements = Snapshots::of(region, &STATEMENTS, slot, owner);
    let stages = Snapshots::of(region, &STAGES, slot, owner);
    let mut doing = Doing::default();
    for look in 0..LOOKS {
        let found = Statements::look(&statements);
        let mut stage = None;
        stages.each(&mut |_, snapshot| stage = if snapshot.ended { stage } else { Some(*snapshot) });
        let text = found
            .outermost
            .map(|(index, _)| Entry::of(region, Sizes::of(region), Place::Ring(statements.place(index))).read(false));
        // The text and the stage belong to the statement if that runs before and after. Where none runs, one has ended or is yet to begin.
        let agree = match (&found.outermost, &stage) {
            (Some((index, outermost)), _) => statements.still(*index, outermost),
            (None, stage) => !stage.is_some_and(|stage| is_within_statement(&stage, owner)),
        };
        let event = found.outermost.map(|(_, outermost)| outermost).or(stage);
        doing = Doing {
            executes: found.outermost.is_some(),
            // What cannot be read for all looks is NULL, as in MySQL: the thread is at work on one short statement after the other.
            info: text.filter(|_| agree).map(|text| text.text).filter(|text| !text.as_str().is_empty()),
            db: text.filter(|_| agree).map(|text| text.schema).filter(|schema| !schema.as_str().is_empty()),
            state: stage.filter(|_| agree).map(|stage| state(&region.class_name(Class(stage.class)))),
            seconds: match (event, found.last) {
                (Some(event), _) => seconds(region, now, &event, event.start),
                (None, Some(last)) => seconds(region, now, &last, last.end),
                (None, None) => slot::start_ns(slot.1).and_then(|ns| now.seconds_since(region.timer(TimerName::Nanosecond), ns)),
            },
            disturbed: look * statements.len(),
        };
        if agree {
            break;
        }
    }
    doing
}

/// Seconds since `ticks` of an event's timer, if it is timed.
fn seconds(region: &Region<'_>, now: Present, event: &Snapshot, ticks: u64) -> Option<i64> {
    let timer = TimerName::from_index(event.timer_index).filter(|_| event.timed)?;
    now.seconds_since(region.timer(timer), ticks)
}

fn is_within_statement(stage: &Snapshot, owner: &Owner) -> bool {
    stage.nesting.parts(owner.base).is_some_and(|(_, kind)| kind == EventType::Statement)
}

/// What MySQL shows of a stage's name: what is behind `stage/<component>/`.
fn state(name: &Text<128>) -> Text<64> {
    name.as_str().splitn(3, '/').nth(2).unwrap_or(name.as_str()).into()
}
