//! Stages that a handler looks at, or has itself.

use super::*;
use crate::StageProgress;
use crate::table::Table;

const A: InstrumentName<'static> = InstrumentName::literal("stage/test/A");
const B: InstrumentName<'static> = InstrumentName::literal("stage/test/B");
const WAIT: InstrumentName<'static> = InstrumentName::literal("wait/synch/mutex/test/interrupted");
const CONFIG: Config = Config::EMPTY
    .with(Size::MaxMutexClasses, 1)
    .with(Size::MaxStageClasses, 2)
    .with(Size::MaxThreadInstances, 2)
    .with(Size::EventsWaitsHistorySize, 3)
    .with(Size::EventsStagesHistorySize, 2)
    .with(Size::EventsStagesHistoryLongSize, 16);
const STAGES: u64 = 3;

/// Stage n begins at n µs, ends when the next begins, and says n of n; a wait lies within it, the event after it.
fn program(region: &Region<'static>, actor: &Actor<'static>) {
    let class = |name: InstrumentName<'static>| region.register(name, Setting::ON).unwrap();
    for stage in 1..=STAGES {
        let switches = region.switches(class(if stage % 2 == 1 { A } else { B }));
        actor.begin_stage(&At(stage * 1_000), switches, None);
        actor.change_stage_progress(|progress| *progress = StageProgress { completed: stage, estimated: stage });
        let (wait, what) = (class(WAIT), WaitStart { object: stage, ..WaitStart::new(Operation::Lock) });
        let wait = actor.begin(&At(stage), region.switches(wait), wait, &what);
        actor.end(&At(stage + 1), wait, Held::None);
    }
    actor.end_any_stage(&At((STAGES + 1) * 1_000));
}

/// Every column of a row belongs to the stage that began when it says.
fn whole(row: &tables::EventsStagesRow, at: u64) {
    let stage = row.timer_start.expect("all are timed") / 1_000_000;
    assert_eq!(row.event_id, 2 * stage - 1, "{row:?} at {at}");
    assert_eq!(row.event_name, if stage % 2 == 1 { A.as_str() } else { B.as_str() }, "{row:?} at {at}");
    let said = [row.work_completed, row.work_estimated];
    assert!(said.into_iter().flatten().all(|units| units == stage), "{row:?} at {at}");
    if row.end_event_id.is_some() {
        assert_eq!((row.end_event_id, row.timer_wait), (Some(2 * stage), Some(1_000_000)), "at {at}");
        assert_eq!(said, [Some(stage); 2], "at {at}");
    }
}

/// A handler reads every table, and has stages of its own, while its thread goes from stage to stage.
#[test]
fn stages_that_an_interrupt_sees_and_has_too_at_every_step() {
    let (region, untouched) = ground(&CONFIG);
    let read = move |at| {
        closes(region.scan(&tables::EventsStagesCurrent, |row| whole(row, at)), at);
        closes(region.scan(&tables::EventsStagesHistory, |row| whole(row, at)), at);
        closes(region.scan(&tables::EventsStagesHistoryLong, |row| whole(row, at)), at);
        for waits in [&tables::EventsWaitsCurrent as &dyn Table, &tables::EventsWaitsHistory] {
            waits.scan(region, &mut |row| {
                let cell = |name: &str| row.cell(waits.declaration().column(name).unwrap()).to_string().parse::<u64>().unwrap();
                let stage = cell("OBJECT_INSTANCE_BEGIN");
                assert_eq!((cell("EVENT_ID"), cell("NESTING_EVENT_ID")), (2 * stage, 2 * stage - 1), "at {at}");
            });
        }
    };
    let mut cases = 0;
    for records in [false, true] {
        for at in 0.. {
            forget(region, &untouched);
            let actors = [(); 2].map(|()| Rc::new(Actor::attach(region, &ActorIdentity::default())));
            let other = Rc::clone(&actors[1]);
            let interrupt = Rc::new(move || {
                if records {
                    program(region, &other);
                }
                read(at);
            });
            let steps = interrupted(|| program(region, &actors[0]), &[(at, interrupt)]);
            let programs = if records && steps[0] > at { 2 } else { 1 };
            read(at);
            let counted: u64 =
                [A, B].map(|name| region.summary_by_event_name(region.find_class(name.as_str()).unwrap()).count).iter().sum();
            assert_eq!(counted, programs * STAGES, "at {at}");
            let (mut kept, mut all) = (0, 0);
            region.scan(&tables::EventsStagesHistory, |_| kept += 1);
            region.scan(&tables::EventsStagesHistoryLong, |_| all += 1);
            assert_eq!((kept, all), (programs * 2, programs * STAGES), "at {at}");
            cases += 1;
            if steps[0] <= at {
                break;
            }
        }
    }
    assert!(cases > 300, "{cases}");
}
