//! PREPARE, EXECUTE and DEALLOCATE PREPARE as statements.

mod common;

use common::{World, check, run, session};
use perfschema::core::table::SqlType;
use perfschema::render::OwnedValue;
use perfschema_sql::Outcome;

#[test]
fn a_statement_is_kept_under_a_name() {
    let world = World::new();
    let mut session = world.session();
    check(&mut session, "PREPARE s FROM 'SELECT ? + 1, ?'", "Statement prepared");
    check(&mut session, "SET @a = 41, @b = 'x'", "0 changed");
    check(&mut session, "EXECUTE S USING @a, @b", "42,x");
    check(&mut session, "EXECUTE s USING @b, @nothing", "1,");
    check(&mut session, "SET @text = 'SELECT name FROM setup_timers WHERE name = ?', @name = 'wait'", "0 changed");
    check(&mut session, "PREPARE `s` FROM @text", "Statement prepared");
    check(&mut session, "EXECUTE s USING @name", "wait");
    check(
        &mut session,
        "PREPARE change FROM \"UPDATE setup_instruments SET enabled = ? WHERE name LIKE ?\"",
        "Statement prepared",
    );
    check(&mut session, "SET @no = 'NO', @all = '%cond%'", "0 changed");
    check(&mut session, "EXECUTE change USING @no, @all", "Rows matched: 3  Changed: 3  Warnings: 0");
    check(&mut session, "SELECT ROW_COUNT()", "3");
    check(&mut session, "PREPARE show_it FROM 'SHOW TABLES LIKE ''setup_timers'''", "Statement prepared");
    check(&mut session, "EXECUTE show_it", "setup_timers");
    check(&mut session, "DEALLOCATE PREPARE show_it", "0 changed");
    check(&mut session, "DROP PREPARE change", "0 changed");
}

#[test]
fn what_cannot_be_prepared_or_run() {
    let mut session = session();
    let unknown = |statement| format!("ERROR 1243 (HY000): Unknown prepared statement handler (s) given to {statement}");
    assert_eq!(run(&mut session, "EXECUTE s"), unknown("EXECUTE"));
    assert_eq!(run(&mut session, "DEALLOCATE PREPARE s"), unknown("DEALLOCATE PREPARE"));
    assert_eq!(run(&mut session, "DROP PREPARE s"), unknown("DEALLOCATE PREPARE"));
    let unsupported = "ERROR 1295 (HY000): This command is not supported in the prepared statement protocol yet";
    for statement in ["EXECUTE t", "PREPARE t FROM ''SELECT 1''", "DEALLOCATE PREPARE t"] {
        assert_eq!(run(&mut session, &format!("PREPARE s FROM '{statement}'")), unsupported, "{statement}");
    }
    check(&mut session, "PREPARE s FROM 'SELECT ?'", "Statement prepared");
    for wrong in ["EXECUTE s", "EXECUTE s USING @a, @b"] {
        assert_eq!(run(&mut session, wrong), "ERROR 1210 (HY000): Incorrect arguments to EXECUTE", "{wrong}");
    }
    for (wrong, error) in [
        ("EXECUTE s USING 1", "ERROR 1064 "),
        ("EXECUTE s USING @@version", "ERROR 1064 "),
        ("PREPARE FROM 'SELECT 1'", "ERROR 1064 "),
        ("DEALLOCATE s", "ERROR 1064 "),
        ("PREPARE s FROM 'SELECT 1; SELECT 2'", "ERROR 1064 "),
        ("PREPARE s FROM @nothing", "ERROR 1064 "),
        ("PREPARE s FROM ''", "ERROR 1065 "),
        ("PREPARE s FROM 'SELECT * FROM nothing'", "ERROR 1146 "),
    ] {
        assert!(run(&mut session, wrong).starts_with(error), "{wrong}: {}", run(&mut session, wrong));
    }
    // The one before is gone.
    assert_eq!(run(&mut session, "EXECUTE s"), unknown("EXECUTE"));
}

#[test]
fn what_is_kept_is_bounded() {
    let mut session = session();
    for number in 0..1024 {
        check(&mut session, &format!("PREPARE s{number} FROM 'SELECT 1'"), "Statement prepared");
    }
    let full = "ERROR 1461 (42000): Can't create more than max_prepared_stmt_count statements (current value: 1024)";
    assert_eq!(run(&mut session, "PREPARE s FROM 'SELECT 1'"), full);
    check(&mut session, "PREPARE s0 FROM 'SELECT 1'", "Statement prepared");
    for number in 0..1024 {
        check(&mut session, &format!("DROP PREPARE s{number}"), "0 changed");
    }
    let long = format!("SELECT LENGTH(\"{}\")", "x".repeat(1_000_000));
    for number in 0..8 {
        check(&mut session, &format!("PREPARE s{number} FROM '{long}'"), "Statement prepared");
    }
    assert!(run(&mut session, &format!("PREPARE s8 FROM '{long}'")).starts_with("ERROR 1041 "));
    check(&mut session, &format!("PREPARE s7 FROM '{long}'"), "Statement prepared");
    check(&mut session, "EXECUTE s7", "1000000");
}

/// As MySQL names them: clients look values up by their headings.
#[test]
fn placeholders_are_headed_as_written() {
    let mut session = session();
    let columns = session.describe("SELECT ?, ? + 1, ?").expect("it can be prepared").columns;
    assert_eq!(columns.iter().map(|head| head.name.as_str()).collect::<Vec<_>>(), ["?", "? + 1", "?"]);
    check(&mut session, "PREPARE s FROM 'SELECT ?'", "Statement prepared");
    check(&mut session, "SET @a = 1", "0 changed");
    assert_eq!(run(&mut session, "EXECUTE s USING @a").lines().next(), Some("?"));
}

#[test]
fn literals_are_headed_as_written() {
    let mut session = session();
    for (written, headings) in [
        ("TRUE, false, Null, 0x4A, b'101', x'41'", "TRUE,false,NULL,0x4A,b'101',x'41'"),
        ("1.50, 'text', `NAME`, current_user, Current_User()", "1.50,text,NAME,current_user,Current_User()"),
    ] {
        let found = run(&mut session, &format!("SELECT {written} FROM setup_timers"));
        assert_eq!(found.lines().next(), Some(headings), "{written}");
    }
}

/// What a client has as a moment is one, not the text that says so.
#[test]
fn moments_among_the_values_are_known() {
    let mut session = session();
    let (datetime, date, time) = (Some(SqlType::Datetime(6)), Some(SqlType::Date), Some(SqlType::Time(6)));
    for (statement, values, types, expected) in [
        ("SELECT ? + 0", &["2020-01-02 03:04:05"][..], &[datetime][..], "20200102030405"),
        ("SELECT ? = ?", &["2020-01-02 00:00:00", "2020-01-02"], &[datetime, date], "1"),
        ("SELECT ? = ?", &["2020-01-01", "2020-1-1"], &[date, None], "1"),
        ("SELECT ? + 0, ? < ?", &["01:02:03", "9:00:00", "10:00:00"], &[time, time, None], "10203,1"),
        ("SELECT ? < NOW() FROM setup_timers LIMIT 1", &["2020-01-02 03:04:05.5"], &[datetime], "1"),
        ("SELECT CONCAT(?), ?", &["2020-01-02", "0000-00-00 00:00:00"], &[date, datetime], "2020-01-02,0000-00-00 00:00:00"),
        ("SELECT ?, CONCAT(?)", &["nonsense", "2020-1-1"], &[datetime, None], "nonsense,2020-1-1"),
    ] {
        let values: Vec<OwnedValue> = values.iter().map(|text| (*text).into()).collect();
        match session.execute_typed(statement, &values, types) {
            Ok(Outcome::Rows(grid)) => {
                let rows = grid.csv().to_string();
                assert_eq!(rows.lines().nth(1), Some(expected), "{statement}");
            }
            other => panic!("{statement}: {other:?}"),
        }
    }
}
