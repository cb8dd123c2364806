//! Settings that change while a wait is recorded. A word of switches, or of a thread's mask, is two halves where there are no 64-bit atomics.

use super::{At, PLAN, interrupted, region_of};
use crate::table::{Table as _, TableError, Value, YesNo};
use crate::{Actor, ActorIdentity, Config, Consumer, Held, InstrumentName, Operation, Region, Setting, Size, WaitStart, tables};
use core::cell::{Cell, RefCell};
use core::panic::{AssertUnwindSafe, Location};
use perfschema_timer::TimerName;
use std::panic::{catch_unwind, resume_unwind};
use std::rc::Rc;

const CONFIG: Config = Config::EMPTY
    .with(Size::MaxMutexClasses, 2)
    .with(Size::MaxThreadInstances, 2)
    .with(Size::EventsWaitsHistorySize, 2)
    .with(Size::MaxSourceLocations, 4)
    .with(Size::SetupActorsSize, 1);

fn region() -> &'static Region<'static> {
    region_of(&CONFIG)
}

/// What a handler may change, back and forth.
const CHANGES: [fn(&Region<'static>, bool); 4] = [
    |region, on| set(region, if on { Setting::ON } else { Setting::OFF }),
    |region, on| set(region, Setting { timed_one_in: if on { 1 } else { 2 }, ..Setting::ON }),
    |region, on| region.set_consumer(Consumer::GlobalInstrumentation, on),
    |region, on| {
        let instrumented = Value::Text(if on { "YES" } else { "NO" });
        tables::Threads.update(region, &mut |_| true, &[("INSTRUMENTED", instrumented)]).map(drop).expect("it can be set");
    },
];

fn set(region: &Region<'_>, setting: Setting) {
    region.set_setting(region.find_class("wait/synch/mutex/test/second").expect("it is registered"), setting);
}

/// Whoever is interrupted, he who changes a setting or he who records: a wait that is recorded is one of its instrument, and of its line.
#[test]
fn a_wait_is_of_its_instrument_whatever_is_changed_at_whichever_step() {
    let region = region();
    region.set_wait_timer(TimerName::Cycle);
    let register = |name| region.register(InstrumentName::literal(name), Setting::ON).unwrap();
    let [other, class] = ["wait/synch/mutex/test/first", "wait/synch/mutex/test/second"].map(register);
    region.enable_everything();
    let actors = [(); 2].map(|()| Rc::new(Actor::attach(region, &ActorIdentity::default())));
    let location = Location::caller();
    let expected = format!("{}:{}", location.file().rsplit('/').next().unwrap(), location.line());
    let wait = move |actor: &Actor<'static>| {
        let switches = region.switches(class);
        if switches.is_on() {
            let what = WaitStart { source: Some(location), ..WaitStart::new(Operation::Lock) };
            actor.end(&At(2), actor.begin(&At(1), switches, class, &what), Held::None);
        }
    };
    let mut cases = 0;
    for change in CHANGES {
        for (on, is_recording) in [(true, true), (true, false), (false, true), (false, false)] {
            for at in 0.. {
                change(region, !on);
                let other_actor = Rc::clone(&actors[1]);
                let steps = if is_recording {
                    interrupted(|| wait(&actors[0]), &[(at, Rc::new(move || change(region, on)))])
                } else {
                    interrupted(|| change(region, on), &[(at, Rc::new(move || wait(&other_actor)))])
                };
                assert_eq!(region.summary_by_event_name(other).count, 0, "at {at}");
                for table in [&tables::EventsWaitsHistory as &dyn crate::table::Table, &tables::EventsWaitsCurrent] {
                    let columns = ["EVENT_NAME", "SOURCE"].map(|name| table.declaration().column(name).expect("it is declared"));
                    table.scan(region, &mut |row| {
                        let cells = columns.map(|column| row.cell(column).to_string());
                        assert_eq!(cells, ["wait/synch/mutex/test/second", expected.as_str()], "at {at}");
                    });
                }
                cases += 1;
                if steps[0] <= at {
                    break;
                }
            }
        }
        change(region, true);
    }
    assert!(region.summary_by_event_name(class).count > 100 && cases > 100, "{cases}");
}

/// Two who change one row at the same moment, each another column: both are heard.
#[test]
fn an_update_at_whichever_step_of_another_one_undoes_nothing() {
    let region = region();
    region.register(InstrumentName::literal("wait/synch/mutex/test/first"), Setting::ON).unwrap();
    let _actor = Actor::attach(region, &ActorIdentity::default());
    for (table, columns) in [
        (&tables::SetupInstruments as &'static (dyn crate::table::Table + Sync), ["ENABLED", "TIMED"]),
        (&tables::Threads, ["INSTRUMENTED", "HISTORY"]),
        (&tables::SetupActors, ["ENABLED", "HISTORY"]),
    ] {
        let set = move |column, value| {
            let changed = table.update(region, &mut |_| true, &[(column, Value::Text(value))]).expect("it can be set");
            assert_eq!((changed.matched, changed.changed), (1, 1), "{column}");
        };
        for at in 0.. {
            let mut over = false;
            for value in ["NO", "YES"] {
                let handler = Rc::new(move || set(columns[1], value));
                let [steps, ..] = interrupted(|| set(columns[0], value), &[(at, handler.clone())]);
                over = steps <= at;
                if over {
                    handler();
                }
                table.scan(region, &mut |row| {
                    let column = |name| table.declaration().column(name).expect("it is declared");
                    assert_eq!(columns.map(|name| row.cell(column(name)).to_string()), [value, value], "{columns:?} at {at}");
                });
            }
            if over {
                break;
            }
        }
    }
}

/// The row that an UPDATE chose is gone, and its place is another's: who came is as new ones are, whenever it came.
#[test]
fn an_update_changes_the_row_that_it_chose_and_no_later_one_in_its_place() {
    let no = |column| [(column, Value::Text("NO"))];
    let chosen = |row: &dyn crate::table::Row, value| row.cell(0) == value;
    for column in ["INSTRUMENTED", "HISTORY"] {
        for at in 0.. {
            let region = region();
            let first = Rc::new(Actor::attach(region, &ActorIdentity::default()));
            let thread_id = Value::Unsigned(first.thread_id());
            let handler = Rc::new(move || {
                first.detach();
                Actor::attach(region, &ActorIdentity::default());
            });
            let update = || tables::Threads.update(region, &mut |row| chosen(row, thread_id), &no(column)).map(drop);
            let [steps, ..] = interrupted(|| update().expect("it can be set"), &[(at, handler)]);
            let mut settings = Vec::new();
            region.scan(&tables::Threads, |row| settings.push((row.thread_id, row.instrumented, row.history)));
            if steps <= at {
                break;
            }
            assert_eq!(settings, [(2, YesNo::Yes, YesNo::Yes)], "{column} at {at}");
        }
    }
    for column in ["ENABLED", "HISTORY"] {
        for at in 0.. {
            let region = region();
            let handler = Rc::new(move || {
                tables::SetupActors.truncate(region).expect("it has the right");
                tables::SetupActors.insert(region, &[("HOST", Value::Text("other"))]).expect("there is room");
            });
            let update = || tables::SetupActors.update(region, &mut |row| chosen(row, Value::Text("%")), &no(column)).map(drop);
            let [steps, ..] = interrupted(|| update().expect("it can be set"), &[(at, handler)]);
            let mut settings = Vec::new();
            region.scan(&tables::SetupActors, |row| settings.push((row.host.to_string(), row.enabled, row.history)));
            if steps <= at {
                break;
            }
            assert_eq!(settings, [("other".to_string(), YesNo::Yes, YesNo::Yes)], "{column} at {at}");
        }
    }
}

/// Another INSERT of the same key, and of another one, at whichever step of one: one of two is refused, and what is inserted is there.
#[test]
fn of_two_rows_of_one_key_one_is_inserted() {
    const ROOM: Config = CONFIG.with(Size::SetupActorsSize, 4);
    let insert = |region, user| tables::SetupActors.insert(region, &[("USER", Value::Text(user))]);
    let users = |region: &Region<'_>| {
        let mut users = Vec::new();
        let sweep = region.scan(&tables::SetupActors, |row| users.push(row.user.to_string()));
        assert_eq!(sweep.changed, 0, "every place is free or has a row");
        users.sort();
        users
    };
    let refused = Err(TableError::DuplicateKey { table: "setup_actors" });
    for at in 0.. {
        let region = region_of(&ROOM);
        let inner = Rc::new(RefCell::new(Vec::new()));
        let results = Rc::clone(&inner);
        let handler = Rc::new(move || {
            results.borrow_mut().push(insert(region, "me"));
            assert_eq!(insert(region, "you"), Ok(()));
        });
        let mut outer = Ok(());
        let [steps, ..] = interrupted(|| outer = insert(region, "me"), &[(at, handler)]);
        if steps <= at {
            break;
        }
        let both = [outer, inner.take().remove(0)];
        assert!(both.contains(&Ok(())) && both.contains(&refused), "{both:?} at {at}");
        assert_eq!(users(region), ["%", "me", "you"], "at {at}");
    }
    // One that never gets any further is either inserted, which the next one shows, or is not.
    for at in 0.. {
        let region = region_of(&ROOM);
        let never = Rc::new(move || resume_unwind(Box::new(())));
        let [steps, ..] = interrupted(|| _ = catch_unwind(AssertUnwindSafe(|| insert(region, "me"))), &[(at, never)]);
        PLAN.with(|plan| plan.level.set(0));
        if steps <= at {
            break;
        }
        let next = insert(region, "me");
        assert!(next == Ok(()) || next == refused, "{next:?} at {at}");
        assert_eq!(insert(region, "me"), refused, "at {at}");
        let mut rows = 0;
        region.scan(&tables::SetupActors, |row| rows += usize::from(row.user.as_str() == "me"));
        assert_eq!(rows, 1, "at {at}");
    }
}

/// Another DELETE at whichever step of one: a row is deleted once.
#[test]
fn of_two_who_delete_a_row_one_does() {
    for at in 0.. {
        let region = region();
        let delete = move || tables::SetupActors.delete(region, &mut |_| true).expect("it has the right");
        let other = Rc::new(Cell::new(0));
        let noted = Rc::clone(&other);
        let mut deleted = 0;
        let [steps, ..] = interrupted(|| deleted = delete(), &[(at, Rc::new(move || noted.set(delete())))]);
        assert_eq!(deleted + other.get(), 1, "at {at}");
        if steps <= at {
            break;
        }
    }
}
