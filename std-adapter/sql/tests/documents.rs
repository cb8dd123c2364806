//! Documents of JSON: made of rows, looked into, compared.

mod common;

use common::{World, check, run};
use perfschema::core::table::SqlType;
use perfschema_sql::{Account, Database, Limits, Outcome};

#[test]
fn documents_are_made_of_rows() {
    let world = World::new();
    let _actors = [world.actor("thread/test/a"), world.actor("thread/test/b")];
    let mut session = world.session();
    for (statement, expected) in [
        (
            "SELECT JSON_OBJECT('bb', 1, 'a', 'x\"', 'c', NULL, 'd', 1.5, 'e', TRUE, 'f', JSON_ARRAY(1, '2', NULL))",
            r#""{""a"": ""x\"""", ""c"": null, ""d"": 1.5, ""e"": true, ""f"": [1, ""2"", null], ""bb"": 1}""#,
        ),
        ("SELECT JSON_ARRAY(), JSON_OBJECT(), JSON_ARRAY(18446744073709551615, 2.0e0)", r#"[],{},"[18446744073709551615, 2.0]""#),
        (
            "SELECT JSON_ARRAYAGG(thread_id), JSON_OBJECTAGG(name, thread_id) FROM threads",
            r#""[1, 2]","{""thread/test/a"": 1, ""thread/test/b"": 2}""#,
        ),
        (
            "SELECT JSON_ARRAYAGG(j) FROM (SELECT JSON_OBJECT('id', thread_id) AS j FROM threads) AS q",
            r#""[{""id"": 1}, {""id"": 2}]""#,
        ),
        ("SELECT JSON_OBJECTAGG('k', thread_id), JSON_ARRAYAGG(NULL) FROM threads", r#""{""k"": 2}","[null, null]""#),
        ("SELECT JSON_ARRAYAGG(1) IS NULL, JSON_OBJECTAGG(1, 2) IS NULL FROM threads WHERE 0", "1,1"),
        ("SELECT CAST('{\"b\":1,\"a\":2}' AS JSON), CAST(1 AS JSON)", r#""{""a"": 2, ""b"": 1}",1"#),
    ] {
        check(&mut session, statement, expected);
    }
}

#[test]
fn documents_are_looked_into() {
    let mut session = World::new().session();
    for (expressions, expected) in [
        (
            r#"d->'$.a.b[1]', d->>'$.a.b[1]', JSON_EXTRACT(d, '$.a.b[0]', '$.c') FROM (SELECT '{"a": {"b": [1, "x"]}, "c": 2}' AS d) AS q"#,
            r#""""x""",x,"[1, 2]""#,
        ),
        (
            r#"JSON_EXTRACT('[1,2]', '$[7]') IS NULL, JSON_EXTRACT('[1,2]', '$[*]'), JSON_EXTRACT(NULL, '$') IS NULL"#,
            r#"1,"[1, 2]",1"#,
        ),
        (
            r#"JSON_EXTRACT('{"a":"x"}', '$.a') = 'X', JSON_EXTRACT('{"a":5}', '$.a') > 10, JSON_EXTRACT('{"a":"x"}', '$.a') IN ('y', 'x')"#,
            "1,0,1",
        ),
        (r#"JSON_EXTRACT('{"a":5}', '$.a') + 1, 10 > JSON_EXTRACT('{"a":5}', '$.a')"#, "6,1"),
        (
            r#"JSON_VALID('{}'), JSON_VALID('x'), JSON_VALID(1), JSON_TYPE('[1]'), JSON_TYPE('1.5'), JSON_DEPTH('[[]]')"#,
            "1,0,0,ARRAY,DOUBLE,2",
        ),
        (r#"JSON_LENGTH('[1,2]'), JSON_LENGTH('{"a":[1,2,3]}', '$.a'), JSON_KEYS('{"bb":1,"a":2}')"#, r#"2,3,"[""a"", ""bb""]""#),
        (r#"JSON_CONTAINS('[1,{"a":2,"b":3}]', '{"a":2}'), JSON_CONTAINS('{"a":1}', '2', '$.a')"#, "1,0"),
        (
            r#"JSON_CONTAINS('{"a":1,"b":{"c":[1,2]}}', '{"b":{"c":2}}'), JSON_CONTAINS('{"a":1}', '{"a":1,"b":2}'), JSON_CONTAINS('[1,[2,3]]', '[1,3]')"#,
            "1,0,1",
        ),
        (r#"JSON_CONTAINS('[1,2]', '[1,4]'), JSON_CONTAINS('1', '1.0'), JSON_CONTAINS('{"a":1}', '{"b":1}')"#, "0,1,0"),
        (r#"JSON_PRETTY('[]'), JSON_PRETTY('{}')"#, "[],{}"),
        (
            r#"JSON_EXTRACT('5', '$[0 to last]'), JSON_EXTRACT('5', '$[0 to 3]'), JSON_EXTRACT('5', '$[1 to 2]') IS NULL"#,
            "[5],[5],1",
        ),
        (
            r#"j FROM (SELECT JSON_EXTRACT('[10.5]', '$[0]') AS j UNION ALL SELECT JSON_EXTRACT('[9.5]', '$[0]')) AS q ORDER BY j"#,
            "9.5\n10.5",
        ),
        (r#"JSON_CONTAINS_PATH('{"a":1}', 'one', '$.a', '$.b'), JSON_CONTAINS_PATH('{"a":1}', 'ALL', '$.a', '$.b')"#, "1,0"),
        (r#"JSON_QUOTE('a"b'), JSON_UNQUOTE('"a\\nb"') = 'a\nb', JSON_UNQUOTE('x')"#, r#""""a\""b""",1,x"#),
        (r#"JSON_PRETTY('{"a":[1,{}]}') = '{\n  "a": [\n    1,\n    {}\n  ]\n}'"#, "1"),
    ] {
        check(&mut session, &format!("SELECT {expressions}"), expected);
    }
    for (expression, error) in [
        ("JSON_OBJECT('a')", "ERROR 1582 (42000): Incorrect parameter count in the call to native function 'json_object'"),
        ("JSON_OBJECT(NULL, 1)", "ERROR 3158 (22032): JSON documents may not contain NULL member names."),
        ("JSON_OBJECTAGG(NULL, 1)", "ERROR 3158 (22032): JSON documents may not contain NULL member names."),
        (
            "JSON_EXTRACT('{}', '$.')",
            "ERROR 3143 (42000): Invalid JSON path expression. The error is around character position 2.",
        ),
        (
            "CAST('x' AS JSON)",
            "ERROR 3141 (22032): Invalid JSON text in argument 1 to function cast_as_json: \"expected value\" at position 0.",
        ),
        (
            "JSON_EXTRACT(1, '$')",
            "ERROR 3146 (22032): Invalid data type for JSON data in argument 1 to function json_extract; a JSON string or JSON type is \
             required.",
        ),
        (
            "JSON_LENGTH('[]', '$[*]')",
            "ERROR 3149 (42000): In this situation, path expressions may not contain the * and ** tokens or an array range.",
        ),
        ("json_of(1)", "ERROR 1305 (42000): FUNCTION performance_schema.json_of does not exist"),
        (
            "JSON_ARRAYAGG(1) OVER ()",
            "ERROR 1235 (42000): This version of MySQL doesn't yet support 'json_arrayagg of a window or DISTINCT'",
        ),
    ] {
        assert_eq!(run(&mut session, &format!("SELECT {expression}")), error, "{expression}");
    }
}

#[test]
fn documents_are_bounded() {
    let limits = Limits { memory_bytes: 4 << 20, ..Limits::default() };
    let mut session = Database::new(World::new().region).limits(limits).session(Account::default()).expect("there is memory");
    let numbers = "(SELECT a.x FROM (VALUES ROW(1), ROW(2), ROW(3), ROW(4)) AS a (x), (VALUES ROW(1), ROW(2), ROW(3), ROW(4)) AS b (x)) AS n";
    let long = format!("SELECT JSON_ARRAYAGG(REPEAT('x', 100000)) FROM {numbers}");
    assert!(run(&mut session, &long).starts_with("ERROR 1153 "));
    let many = ["JSON_ARRAYAGG(REPEAT('x', 60000))"; 9].join(", ");
    assert!(run(&mut session, &format!("SELECT {many} FROM {numbers}")).starts_with("ERROR 1041 "));
    for (statement, error) in [
        ("SELECT JSON_DEPTH(CONCAT(REPEAT('[', 1000), REPEAT(']', 1000)))", "ERROR 3157 "),
        ("SELECT JSON_ARRAY(CAST(CONCAT(REPEAT('[', 100), REPEAT(']', 100)) AS JSON))", "ERROR 3157 "),
        ("SELECT JSON_EXTRACT(CONCAT('[', REPEAT('[1],', 200000), '1]'), '$**[0]')", "ERROR 1153 "),
        ("SELECT JSON_CONTAINS(CONCAT('[', REPEAT('1,', 200000), '1]'), CONCAT('[', REPEAT('2,', 200000), '2]'))", "ERROR 1153 "),
    ] {
        let found = run(&mut session, statement);
        assert!(found.starts_with(error), "{statement}: {found:.100}");
    }
    check(&mut session, "SELECT 1", "1");
}

/// A document is described as one, with rows and without, and stays one in a table of `test`.
#[test]
fn documents_have_their_type() {
    let world = World::new();
    let mut session = world.session();
    let is_document = [true, true, true, true, true, false, false, false];
    let statement = "SELECT JSON_OBJECT('a', 1), JSON_EXTRACT('[7]', '$[0]'), JSON_EXTRACT('[7]', '$.x'), JSON_ARRAYAGG(name), \
                     IF(COUNT(*), JSON_ARRAY(), NULL), JSON_UNQUOTE('\"a\"'), JSON_TYPE('1'), JSON_QUOTE('a') FROM threads";
    let described = session.describe(statement).expect("it is right").columns;
    let Ok(Outcome::Rows(grid)) = session.execute(statement) else { panic!("{statement}") };
    for heads in [described, grid.columns] {
        let found: Vec<bool> = heads.iter().map(|head| head.sql_type == SqlType::Json).collect();
        assert_eq!(found, is_document, "{heads:?}");
    }
    check(
        &mut session,
        "CREATE TABLE test.d AS SELECT JSON_OBJECT('b', 1, 'a', 2) AS o, 'x' AS t",
        "Records: 1  Duplicates: 0  Warnings: 0",
    );
    let columns =
        "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, CHARACTER_MAXIMUM_LENGTH, COLLATION_NAME FROM information_schema.COLUMNS";
    check(&mut session, &format!("{columns} WHERE TABLE_NAME = 'd' AND COLUMN_NAME = 'o'"), "o,json,json,,");
    check(&mut session, "SELECT JSON_EXTRACT(o, '$.b'), JSON_ARRAY(o) FROM test.d", r#"1,"[{""a"": 2, ""b"": 1}]""#);
    let Ok(Outcome::Rows(grid)) = session.execute("SELECT o FROM test.d") else { panic!("it was made") };
    assert_eq!(grid.columns[0].sql_type, SqlType::Json);
}
