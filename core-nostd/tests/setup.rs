//! The setup tables: what may be changed, what is refused and how, and which threads start how.

// One thread and no `unsafe`: Miri finds nothing here that it does not find in events.rs, and takes minutes.
#![cfg(not(miri))]

mod common;

use common::{CONFIG, MUTEX, OTHER, World};
use perfschema_core::table::{Row, SqlType, TableError, Updated, Value};
use perfschema_core::timer::TimerName;
use perfschema_core::{Class, Consumer, Operation, Setting, Size, Switches, ThreadType, WaitStart, tables};

/// UPDATE of all rows.
fn update(world: World, table: &str, new: &[(&str, Value<'_>)]) -> Result<Updated, TableError> {
    tables::find(table).unwrap().update(world.region, &mut |_| true, new)
}

/// UPDATE of the rows whose first column is `key`.
fn update_one(world: World, table: &str, key: &str, new: &[(&str, Value<'_>)]) -> Result<Updated, TableError> {
    tables::find(table).unwrap().update(world.region, &mut |row| row.cell(0) == Value::Text(key), new)
}

fn insert(world: World, values: &[(&str, Value<'_>)]) -> Result<(), TableError> {
    tables::find("setup_actors").unwrap().insert(world.region, values)
}

/// DELETE of the rows of `setup_actors` with this user.
fn delete(world: World, user: &str) -> Result<u64, TableError> {
    tables::find("setup_actors").unwrap().delete(world.region, &mut |row: &dyn Row| row.cell(1) == Value::Text(user))
}

#[test]
fn everything_is_off_at_start() {
    let world = World::off(&CONFIG);
    let class = world.region.register(perfschema_core::InstrumentName::literal(MUTEX), Setting::OFF).unwrap();
    assert!(!world.region.switches(class).is_on());
    world.expect("setup_instruments", "*", &[&format!("{MUTEX} NO NO 1")]);
    assert!(world.select("setup_consumers", "ENABLED").iter().all(|enabled| enabled == "NO"));
    world.expect("setup_actors", "*", &["% % % YES YES"]);
    let actor = world.actor("a");
    let wait = world.begin(&actor, class);
    assert!(!wait.is_recorded());
    world.end(&actor, wait);
    for table in ["events_waits_current", "events_waits_history", "events_waits_history_long"] {
        world.expect(table, "*", &[]);
    }
    world.region.enable_everything();
    world.expect("setup_instruments", "*", &[&format!("{MUTEX} YES YES 1")]);
    assert!(world.select("setup_consumers", "ENABLED").iter().all(|enabled| enabled == "YES"));
}

#[test]
fn enums_take_letters_of_any_case_and_the_numbers_one_and_two() {
    let world = World::on(&CONFIG);
    let class = world.class(MUTEX);
    for (value, expected) in [
        (Value::Text("NO"), "NO"),
        (Value::Text("yes"), "YES"),
        (Value::Text("nO"), "NO"),
        (Value::Text("Yes"), "YES"),
        (Value::Unsigned(2), "NO"),
        (Value::Unsigned(1), "YES"),
        (Value::Signed(2), "NO"),
        (Value::Signed(1), "YES"),
        (Value::Text("2"), "NO"),
        (Value::Text("1"), "YES"),
        // As MySQL stores an enum, without blanks behind it.
        (Value::Text("NO  "), "NO"),
        (Value::Text("YES "), "YES"),
    ] {
        let updated = update(world, "setup_instruments", &[("enabled", value)]).unwrap();
        assert_eq!(updated.matched, 1);
        world.expect("setup_instruments", "ENABLED,TIMED", &[&format!("{expected} YES")]);
        assert_eq!(world.region.switches(class).is_on(), expected == "YES");
    }
    for value in [
        Value::Text("maybe"),
        Value::Text(""),
        Value::Text(" YES"),
        Value::Text("YES\t"),
        Value::Text("3"),
        Value::Text("0"),
        Value::Unsigned(0),
        Value::Unsigned(3),
        Value::Unsigned(u64::MAX),
        Value::Signed(-1),
        Value::Double(1.0),
    ] {
        for (table, column) in
            [("setup_instruments", "TIMED"), ("setup_consumers", "ENABLED"), ("threads", "HISTORY"), ("setup_actors", "ENABLED")]
        {
            let before = world.select(table, "*");
            let error = update(world, table, &[(column, value)]).unwrap_err();
            assert_eq!((error.errno(), error.sqlstate()), (1265, "01000"), "{value:?}");
            assert_eq!(error.to_string(), format!("Data truncated for column '{column}' at row 1"));
            assert_eq!(world.select(table, "*"), before, "strict: unchanged");
        }
    }
}

#[test]
fn one_event_in_so_many_is_timed() {
    // By the timer that is the processor's counter another way is taken.
    one_event_in_so_many(TimerName::Nanosecond);
    one_event_in_so_many(TimerName::Cycle);
}

fn one_event_in_so_many(timer: TimerName) {
    for (one_in, is_visible) in [1_u16, 2, 3, 16, 1000, u16::MAX].into_iter().zip([true, false].into_iter().cycle()) {
        let world = World::on(&CONFIG);
        world.region.set_wait_timer(timer);
        world.region.set_consumer(Consumer::EventsWaitsCurrent, is_visible);
        let (class, other, actor) = (world.class(MUTEX), world.class(OTHER), world.actor("a"));
        let set = [("TIMED_ONE_IN", Value::Unsigned(one_in.into()))];
        assert_eq!(update_one(world, "setup_instruments", MUTEX, &set).unwrap().matched, 1);
        world.expect("setup_instruments", "*", &[&format!("{MUTEX} YES YES {one_in}"), &format!("{OTHER} YES YES 1")]);
        // By turns with another one: of a loop, too, every event is timed as often as every other.
        const EVENTS: u64 = if cfg!(miri) { 100 } else { 8000 };
        for _ in 0..EVENTS {
            world.wait(&actor, class, 4);
            world.wait(&actor, other, 4);
        }
        let rows =
            world.select("events_waits_summary_global_by_event_name", "EVENT_NAME,COUNT_STAR,SUM_TIMER_WAIT,AVG_TIMER_WAIT");
        let sampled = world.region.summary_by_event_name(class);
        let fair = EVENTS / u64::from(one_in);
        assert!(sampled.count_timed.abs_diff(fair) <= 2 + fair / 100, "{} of {EVENTS}, one in {one_in}", sampled.count_timed);
        let average = if sampled.count_timed == 0 { 0 } else { 4000 };
        let expected = format!("{MUTEX} {EVENTS} {} {average}", sampled.count_timed * 4000);
        assert_eq!(rows, [expected, format!("{OTHER} {EVENTS} {} 4000", EVENTS * 4000)]);
        if !is_visible {
            continue;
        }
        // Those that are not timed are there all the same.
        let history = world.select("events_waits_history", "EVENT_NAME,TIMER_WAIT");
        assert!(history.iter().filter(|row| row.starts_with(MUTEX)).count() >= 1);
        assert!(
            history.iter().all(|row| row.ends_with(" 4000") || (one_in != 1 && *row == format!("{MUTEX} NULL"))),
            "{history:?}"
        );
    }
}

#[test]
fn one_in_so_many_is_a_number_from_1_to_65535() {
    let world = World::on(&CONFIG);
    world.class(MUTEX);
    let set = |value| update(world, "setup_instruments", &[("timed_one_in", value)]);
    for (value, expected) in [
        (Value::Unsigned(65_535), "65535"),
        (Value::Signed(1), "1"),
        (Value::Text(" 16 "), "16"),
        (Value::Double(15.5), "16"),
        (Value::Unsigned(2), "2"),
    ] {
        set(value).unwrap();
        world.expect("setup_instruments", "TIMED_ONE_IN", &[expected]);
    }
    let column = "for column 'TIMED_ONE_IN' at row 1";
    for value in [
        Value::Unsigned(0),
        Value::Unsigned(65_536),
        Value::Unsigned(u64::MAX),
        Value::Signed(-1),
        Value::Text("-1"),
        Value::Double(-0.6),
        Value::Double(1e300),
        Value::Double(f64::NAN),
    ] {
        let error = set(value).unwrap_err();
        assert_eq!((error.errno(), error.sqlstate()), (1264, "22003"), "{value:?}");
        assert_eq!(error.to_string(), format!("Out of range value {column}"));
    }
    for text in ["", "many", "1.5"] {
        let error = set(Value::Text(text)).unwrap_err();
        assert_eq!((error.errno(), error.sqlstate()), (1366, "HY000"), "{text:?}");
        assert_eq!(error.to_string(), format!("Incorrect integer value: '{text}' {column}"));
    }
    assert_eq!(set(Value::Null).unwrap_err().errno(), 1048);
    world.expect("setup_instruments", "TIMED_ONE_IN", &["2"]);
}

#[test]
fn an_update_reports_matched_and_changed() {
    let world = World::on(&CONFIG);
    world.class(MUTEX);
    world.class(OTHER);
    let yes = [("ENABLED", Value::Text("YES"))];
    let no = [("ENABLED", Value::Text("NO")), ("TIMED", Value::Text("NO"))];
    let counts = |matched, changed| Updated { matched, changed };
    assert_eq!(update(world, "setup_instruments", &yes), Ok(counts(2, 0)));
    assert_eq!(update_one(world, "setup_instruments", MUTEX, &no), Ok(counts(1, 1)));
    world.expect("setup_instruments", "*", &[&format!("{MUTEX} NO NO 1"), &format!("{OTHER} YES YES 1")]);
    assert_eq!(update(world, "setup_instruments", &no), Ok(counts(2, 1)));
    assert_eq!(update_one(world, "setup_instruments", "no such", &yes), Ok(counts(0, 0)));
    let consumers = Consumer::ALL.len() as u64;
    assert_eq!(update(world, "setup_consumers", &yes), Ok(counts(consumers, 0)));
    assert_eq!(
        update_one(world, "setup_consumers", "events_waits_history", &[("ENABLED", Value::Unsigned(2))]),
        Ok(counts(1, 1))
    );
    assert!(!world.region.consumer_enabled(Consumer::EventsWaitsHistory));
    assert_eq!(update(world, "setup_consumers", &[("ENABLED", Value::Unsigned(2))]), Ok(counts(consumers, consumers - 1)));
    let _actor = world.actor("a");
    assert_eq!(update(world, "threads", &[("HISTORY", Value::Text("no"))]), Ok(counts(1, 1)));
    assert_eq!(update(world, "threads", &[("HISTORY", Value::Text("no"))]), Ok(counts(1, 0)));
    world.expect("threads", "INSTRUMENTED,HISTORY", &["YES NO"]);
    assert_eq!(update(world, "setup_actors", &[("HISTORY", Value::Text("NO"))]), Ok(counts(1, 1)));
    assert_eq!(update(world, "setup_actors", &[("HISTORY", Value::Text("NO"))]), Ok(counts(1, 0)));
    world.expect("setup_actors", "ENABLED,HISTORY", &["YES NO"]);
}

#[test]
fn the_timer_is_chosen_by_name_or_number() {
    let world = World::on(&CONFIG);
    for (value, expected) in [
        (Value::Text("cycle"), TimerName::Cycle),
        (Value::Text("TICK"), TimerName::Tick),
        (Value::Unsigned(3), TimerName::Microsecond),
        (Value::Text("Millisecond"), TimerName::Millisecond),
        (Value::Unsigned(2), TimerName::Nanosecond),
    ] {
        assert_eq!(update(world, "setup_timers", &[("TIMER_NAME", value)]), Ok(Updated { matched: 5, changed: 5 }));
        world.expect(
            "setup_timers",
            "*",
            &["idle", "stage", "statement", "transaction", "wait"]
                .map(|class| format!("{class} {}", expected.name()))
                .each_ref()
                .map(|row| &**row),
        );
        assert_eq!(world.region.wait_timer(), expected);
    }
    for value in [Value::Text("HOUR"), Value::Unsigned(6), Value::Unsigned(0)] {
        assert_eq!(update(world, "setup_timers", &[("TIMER_NAME", value)]).unwrap_err().errno(), 1265);
    }
    assert_eq!(world.region.wait_timer(), TimerName::Nanosecond);
}

#[test]
fn refusals_are_mysqls() {
    let world = World::on(&CONFIG);
    world.class(MUTEX);
    let _actor = world.actor("a");
    #[track_caller]
    fn check<T: std::fmt::Debug>(result: Result<T, TableError>, errno: u16, sqlstate: &str, text: &str) {
        let error = result.unwrap_err();
        assert_eq!((error.errno(), error.sqlstate(), error.to_string().as_str()), (errno, sqlstate, text));
    }
    for table in tables::ALL {
        let declaration = table.declaration();
        let name = declaration.name;
        let before = common::select(world.region, name, "*");
        let rights = declaration.rights;
        let first = declaration.columns[0].name;
        let any = Value::Text("x");
        if !rights.truncate {
            check(table.truncate(world.region), 1683, "HY000", "Invalid performance_schema usage.");
        }
        if rights.update.is_empty() {
            let denied = format!("UPDATE command denied to user 'root'@'localhost' for table '{name}'");
            check(update(world, name, &[(first, any)]), 1142, "42000", &denied);
        } else {
            check(update(world, name, &[(first, any)]), 1683, "HY000", "Invalid performance_schema usage.");
            check(update(world, name, &[("NOPE", any)]), 1054, "42S22", "Unknown column 'NOPE' in 'field list'");
            for column in rights.update {
                let null = format!("Column '{column}' cannot be null");
                check(update(world, name, &[(column, Value::Null)]), 1048, "23000", &null);
                // Nothing is changed even if only the last assignment is wrong.
                let good = declaration.columns[declaration.column(column).unwrap()].sql_type;
                let good = match good {
                    SqlType::Enum(names) => Value::Text(names[1]),
                    SqlType::IntUnsigned => Value::Unsigned(7),
                    other => panic!("{column} is {other}"),
                };
                check(update(world, name, &[(column, good), (first, any)]), 1683, "HY000", "Invalid performance_schema usage.");
            }
        }
        if !rights.insert_delete {
            let denied = format!("INSERT command denied to user 'root'@'localhost' for table '{name}'");
            check(table.insert(world.region, &[(first, any)]), 1142, "42000", &denied);
            let denied = format!("DELETE command denied to user 'root'@'localhost' for table '{name}'");
            check(table.delete(world.region, &mut |_| true), 1142, "42000", &denied);
        }
        if name != "performance_timers" {
            assert_eq!(common::select(world.region, name, "*"), before, "{name}: unchanged");
        }
    }
    check(tables::find("no_such").map(|_| ()), 1146, "42S02", "Table 'performance_schema.no_such' doesn't exist");
    assert!(tables::find("THREADS").is_ok());
}

#[test]
fn rights_are_mysqls() {
    let truncate = [
        "events_waits_current",
        "events_waits_histogram_by_event_name",
        "events_waits_history",
        "events_waits_history_long",
        "events_stages_current",
        "events_stages_history",
        "events_stages_history_long",
        "events_stages_summary_by_thread_by_event_name",
        "events_stages_summary_global_by_event_name",
        "events_statements_current",
        "events_statements_history",
        "events_statements_history_long",
        "events_statements_summary_by_digest",
        "events_statements_summary_by_thread_by_event_name",
        "events_statements_summary_global_by_event_name",
        "events_transactions_current",
        "events_transactions_history",
        "events_transactions_history_long",
        "events_transactions_summary_by_thread_by_event_name",
        "events_transactions_summary_global_by_event_name",
        "events_waits_summary_by_instance",
        "events_waits_summary_by_thread_by_event_name",
        "events_waits_summary_global_by_event_name",
        "file_summary_by_event_name",
        "file_summary_by_instance",
        "memory_summary_by_thread_by_event_name",
        "memory_summary_global_by_event_name",
        "setup_actors",
        "socket_summary_by_event_name",
        "socket_summary_by_instance",
    ];
    let update: [(&str, &[&str]); 5] = [
        ("setup_actors", &["ENABLED", "HISTORY"]),
        ("setup_consumers", &["ENABLED"]),
        ("setup_instruments", &["ENABLED", "TIMED", "TIMED_ONE_IN"]),
        ("setup_timers", &["TIMER_NAME"]),
        ("threads", &["INSTRUMENTED", "HISTORY"]),
    ];
    for table in tables::ALL {
        let declaration = table.declaration();
        let name = declaration.name;
        assert_eq!(declaration.rights.truncate, truncate.contains(&name), "{name}");
        let columns = update.iter().find(|(table, _)| *table == name).map_or(&[][..], |(_, columns)| columns);
        assert_eq!(declaration.rights.update, columns, "{name}");
        assert_eq!(declaration.rights.insert_delete, name == "setup_actors", "{name}");
    }
}

/// The most exact row decides: user before host.
#[test]
fn setup_actors_decides_how_a_foreground_thread_starts() {
    let both = Value::Text;
    let rows: [(&str, &str, &str, &str); 4] =
        [("%", "%", "NO", "NO"), ("db1", "%", "NO", "YES"), ("%", "ada", "YES", "NO"), ("db1", "ada", "YES", "YES")];
    // In every order of the rows.
    let mut order = [0, 1, 2, 3];
    for _ in 0..24 {
        let world = World::on(&CONFIG.with(Size::SetupActorsSize, 5));
        world.truncate("setup_actors");
        world.expect("setup_actors", "*", &[]);
        // Without a row that matches, a foreground thread is not recorded; a background thread always is.
        let _unmatched = world.user("bob", "db2");
        let _background = world.actor("b");
        world.expect("threads", "INSTRUMENTED,HISTORY", &["NO NO", "YES YES"]);
        for row in order {
            let (host, user, enabled, history) = rows[row];
            insert(world, &[("HOST", both(host)), ("user", both(user)), ("ENABLED", both(enabled)), ("HISTORY", both(history))])
                .unwrap();
        }
        // Running threads are left alone.
        world.expect("threads", "INSTRUMENTED,HISTORY", &["NO NO", "YES YES"]);
        for (user, host, expected) in [
            ("bob", "db2", "NO NO"),
            ("bob", "db1", "NO YES"),
            ("ada", "db2", "YES NO"),
            ("ada", "db1", "YES YES"),
            ("Ada", "db2", "NO NO"),
            // Of a host the case of letters does not count.
            ("bob", "DB1", "NO YES"),
            ("", "", "NO NO"),
        ] {
            let actor = world.user(user, host);
            let null = |text: &'static str| if text.is_empty() { "NULL" } else { text };
            let row = format!("thread/test/user FOREGROUND {} {} {expected}", null(user), null(host));
            let rows = world.select("threads", "NAME,TYPE,PROCESSLIST_USER,PROCESSLIST_HOST,INSTRUMENTED,HISTORY");
            assert!(rows.contains(&row), "{user}@{host}, rows inserted in order {order:?}: {rows:?}");
            actor.detach();
        }
        // A role matches nobody, wherever its row is.
        insert(world, &[("HOST", both("db1")), ("USER", both("ada")), ("ROLE", both("admin")), ("ENABLED", both("NO"))]).unwrap();
        // Without the row that is exact in both, the user decides.
        let mut exact = |row: &dyn Row| row.cell(0) == both("db1") && row.cell(1) == both("ada") && row.cell(2) == both("%");
        assert_eq!(tables::find("setup_actors").unwrap().delete(world.region, &mut exact), Ok(1));
        let _ada = world.user("ada", "db1");
        let rows = world.select("threads", "PROCESSLIST_USER,INSTRUMENTED,HISTORY");
        assert!(rows.contains(&"ada YES NO".into()), "rows inserted in order {order:?}: {rows:?}");
        // The next permutation.
        let at = (0..3).rev().find(|&at| order[at] < order[at + 1]);
        let Some(at) = at else { continue };
        let other = (at..4).rev().find(|&other| order[other] > order[at]).unwrap();
        order.swap(at, other);
        order[at + 1..].reverse();
    }
}

#[test]
fn a_row_of_setup_actors_matches_by_user_and_host() {
    let world = World::on(&CONFIG);
    world.truncate("setup_actors");
    insert(world, &[("HOST", Value::Text("db1")), ("USER", Value::Text("ada"))]).unwrap();
    let _threads = [("ada", "db1"), ("ada", "db2"), ("bob", "db1")].map(|(user, host)| world.user(user, host));
    let columns = "PROCESSLIST_USER,PROCESSLIST_HOST,INSTRUMENTED,HISTORY";
    world.expect("threads", columns, &["ada db1 YES YES", "ada db2 NO NO", "bob db1 NO NO"]);
}

#[test]
fn setup_actors_insert_delete_truncate() {
    let world = World::on(&CONFIG.with(Size::SetupActorsSize, 3));
    // Defaults are MySQL's.
    assert_eq!(insert(world, &[("USER", Value::Text("ada"))]), Ok(()));
    world.expect("setup_actors", "*", &["% % % YES YES", "% ada % YES YES"]);
    let duplicate = insert(world, &[("USER", Value::Text("ada")), ("ENABLED", Value::Text("NO"))]).unwrap_err();
    assert_eq!((duplicate.errno(), duplicate.sqlstate()), (1022, "23000"));
    assert_eq!(duplicate.to_string(), "Can't write; duplicate key in table 'setup_actors'");
    let [on, off] = ["db1", "DB1"].map(|host| insert(world, &[("HOST", Value::Text(host))]).map_err(|error| error.errno()));
    assert_eq!((on, off), (Ok(()), Err(1022)), "the case of a host's letters does not count");
    assert_eq!(insert(world, &[("USER", Value::Text("Ada"))]).unwrap_err().errno(), 1114, "that of a user's does: it is full");
    let mut other_case = |row: &dyn Row| row.cell(0) == Value::Text("db1");
    assert_eq!(tables::find("setup_actors").unwrap().delete(world.region, &mut other_case), Ok(1));
    let long = "x".repeat(129);
    let error = insert(world, &[("USER", Value::Text(&long))]).unwrap_err();
    assert_eq!(
        (error.errno(), error.sqlstate(), error.to_string().as_str()),
        (1406, "22001", "Data too long for column 'USER' at row 1")
    );
    assert_eq!(insert(world, &[("USER", Value::Null)]).unwrap_err().errno(), 1048);
    assert_eq!(insert(world, &[("USER", Value::Unsigned(1))]).unwrap_err().errno(), 1265);
    assert_eq!(insert(world, &[("ENABLED", Value::Text("perhaps"))]).unwrap_err().errno(), 1265);
    assert_eq!(insert(world, &[("NAME", Value::Text("x"))]).unwrap_err().errno(), 1054);
    let longest = "x".repeat(128);
    assert_eq!(insert(world, &[("USER", Value::Text(&longest)), ("HISTORY", Value::Unsigned(2))]), Ok(()));
    let full = insert(world, &[("USER", Value::Text("bob"))]).unwrap_err();
    assert_eq!((full.errno(), full.sqlstate(), full.to_string().as_str()), (1114, "HY000", "The table 'setup_actors' is full"));
    world.expect("setup_actors", "USER,ENABLED,HISTORY", &["% YES YES", "ada YES YES", &format!("{longest} YES NO")]);
    assert_eq!(delete(world, "nobody"), Ok(0));
    assert_eq!(delete(world, "ada"), Ok(1));
    assert_eq!(insert(world, &[("USER", Value::Text("bob"))]), Ok(()));
    world.expect("setup_actors", "USER", &["%", "bob", &longest]);
    world.truncate("setup_actors");
    world.expect("setup_actors", "*", &[]);
    assert_eq!(insert(world, &[]), Ok(()));
    world.expect("setup_actors", "*", &["% % % YES YES"]);
}

#[test]
fn threads_show_who_they_are() {
    let world = World::on(&CONFIG);
    let identity = perfschema_core::ActorIdentity {
        name: "thread/test/main",
        thread_type: ThreadType::Background,
        os_id: 4711,
        parent_thread_id: 9,
        ..Default::default()
    };
    let actor = perfschema_core::Actor::attach(world.region, &identity);
    let user = world.user("ada", "db1");
    world.expect(
        "threads",
        "*",
        &[
            "1 thread/test/main BACKGROUND NULL NULL NULL NULL NULL NULL NULL NULL 9 NULL YES YES NULL 4711",
            "2 thread/test/user FOREGROUND 2 ada db1 NULL Sleep NULL NULL NULL NULL NULL YES YES NULL NULL",
        ],
    );
    actor.detach();
    user.detach();
    world.expect("threads", "*", &[]);
}

#[test]
fn an_update_of_a_thread_that_ends_meanwhile_changes_nobody() {
    let world = World::on(&CONFIG);
    let (ends, stays) = (world.actor("ends"), world.actor("stays"));
    // The condition is true of it, and when the row is changed it is gone, its slot taken by another one.
    let mut next = None;
    let updated = tables::find("threads").unwrap().update(
        world.region,
        &mut |row| {
            let chosen = row.cell(0) == Value::Unsigned(ends.thread_id());
            if chosen {
                ends.detach();
                next = Some(world.actor("next"));
            }
            chosen
        },
        &[("INSTRUMENTED", Value::Text("NO"))],
    );
    assert_eq!(updated, Ok(Updated { matched: 1, changed: 0 }));
    world.expect("threads", "NAME,INSTRUMENTED", &["next YES", "stays YES"]);
    stays.detach();
}

/// What a mask says of whom it is takes no place of what it leaves of the switches.
#[test]
fn a_thread_that_is_not_instrumented_records_nothing_whatever_its_number() {
    let world = World::on(&CONFIG);
    // So waits are timed by the shortest way, and not visible, or only visible.
    world.region.set_wait_timer(TimerName::Cycle);
    let (class, other) = (world.class(MUTEX), world.class(OTHER));
    world.region.set_consumer(Consumer::EventsWaitsCurrent, false);
    assert_eq!(delete(world, "%").unwrap(), 1);
    for number in 1..=3000 {
        let actor = world.user("u", "h");
        assert_eq!(actor.thread_id(), 2 * number - 1);
        let wait = world.begin(&actor, class);
        assert!(!wait.is_recorded(), "thread {}", actor.thread_id());
        world.end(&actor, wait);
        actor.detach();
        // Others are.
        let actor = world.actor("a");
        world.wait(&actor, other, 4);
        actor.detach();
    }
    world.expect(
        "events_waits_summary_global_by_event_name",
        "EVENT_NAME,COUNT_STAR",
        &[&format!("{MUTEX} 0"), &format!("{OTHER} 3000")],
    );
}

/// What an instrumentation point holds before it is registered sends it there; what it loads later is what `setup_instruments` says.
#[test]
fn switches_of_an_instrumentation_point() {
    let world = World::on(&CONFIG);
    let word = perfschema_core::Word::new(0);
    assert_eq!((word.switches(), word.switches().is_on()), (Switches::OFF, false));
    word.set_switches(Switches::UNREGISTERED);
    assert!(word.switches().is_on());

    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    assert_eq!(Class::from_bits(class.to_bits()), class);
    let wait = |switches| actor.begin(world.clock, switches, class, &WaitStart::new(Operation::Lock));
    // A point that records all the same records nothing.
    world.end(&actor, wait(Switches::UNREGISTERED));
    let recorded = wait(world.region.switches(class));
    assert!(recorded.is_recorded() && recorded.records_instance());
    world.end(&actor, recorded);
    world.region.set_consumer(Consumer::EventsWaitsSummaryByInstance, false);
    let recorded = wait(world.region.switches(class));
    assert!(recorded.is_recorded() && !recorded.records_instance());
    world.end(&actor, recorded);
    assert_eq!(actor.region().summary_by_event_name(class).count, 2);
}
