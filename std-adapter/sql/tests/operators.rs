//! How tightly operators bind: "Operator Precedence" of MySQL's manual, and its grammar.

mod common;

use common::{World, run};

#[test]
fn operators_bind_as_mysqls() {
    let mut session = World::new().session();
    for (expression, expected) in [
        ("2 = 2 && 3 = 3", "1"),
        ("1 = 1 && 0 = 1", "0"),
        ("0 && 1 || 1", "1"),
        ("1 = 1 XOR 2 = 3", "1"),
        ("1 XOR 1 AND 0", "1"),
        ("1 OR 1 XOR 1", "1"),
        ("2 ^ 1 * 3", "9"),
        ("2 * 3 ^ 1", "4"),
        ("2 + 1 ^ 3", "4"),
        ("5 ^ 3 & 1", "0"),
        ("8 >> 1 & 4", "4"),
        ("1 << 2 + 1", "8"),
        ("1 | 2 & 2 << 1", "1"),
        ("-2 * 3 ^ 1", "-4"),
        ("- 1 ^ 1", "18446744073709551614"),
        ("~0 ^ 1", "18446744073709551614"),
        ("~5 / 3", "6148914691236517203.3333"),
        ("~3 DIV 5", "3689348814741910322"),
        ("~7 % 10", "8"),
        ("~ ~5 * 2", "10"),
        ("~~5 * 2", "10"),
        ("!~0", "0"),
        ("~-1 + 1", "1"),
        ("7 DIV 2 * 2", "6"),
        ("7 % 4 DIV 2", "1"),
        ("'a' LIKE 'b' = 0", "1"),
        ("'a' REGEXP 'b' = 0", "1"),
        ("0 = 'a' REGEXP 'b'", "1"),
        ("'a' REGEXP NULL", "\"\""),
        ("'a' NOT RLIKE NULL", "\"\""),
        ("'a' REGEXP NULL IS NULL", "1"),
        ("0 = 'a' REGEXP NULL OR 1", "1"),
        ("NULL REGEXP 'a' IS NULL", "1"),
        ("0 = 'a' LIKE 'b'", "1"),
        ("0 = 5 BETWEEN 1 AND 3", "1"),
        ("1 = 2 IN (1, 2)", "1"),
        ("2 = 2 IS NULL", "0"),
        ("(2 = 2) = (3 = 3)", "1"),
        ("3 = (2 > 1)", "0"),
        ("1 < 2 = 1", "1"),
        ("1 = 2 < 1", "1"),
        ("2 BETWEEN 1 AND 3 AND 0", "0"),
        ("(1 OR 0) AND 0", "0"),
        ("(1 AND 0) IS NULL", "0"),
        ("(NULL OR 0) IS NULL", "1"),
        ("(1 = 1) IN (1)", "1"),
        ("(1 IN (1)) BETWEEN 1 AND 1", "1"),
        ("NOT 1 = 2", "1"),
        ("NOT 0 AND 0", "0"),
        ("!1 = 0", "1"),
        ("!0", "1"),
        ("1 <=> NULL IS NULL", "0"),
        ("1 + '{\"a\": 2}'->'$.a'", "3"),
    ] {
        assert_eq!(run(&mut session, &format!("SELECT {expression} AS x")), format!("x\n{expected}\n"), "{expression}");
    }
}

#[test]
fn a_condition_of_two_parts_hits_what_both_hold_for() {
    let mut session = World::new().session();
    let statement = "SELECT COUNT(*) AS n FROM (SELECT 1 AS a, 2 AS b) AS t WHERE";
    for (condition, expected) in [("a = 1 && b = 2", 1), ("a = 1 && b <> 2", 0), ("a = 1 XOR b = 5", 1), ("a = 1 XOR b = 2", 0)] {
        assert_eq!(run(&mut session, &format!("{statement} {condition}")), format!("n\n{expected}\n"), "{condition}");
    }
    assert_eq!(run(&mut session, "DELETE FROM setup_actors WHERE HOST = 'nobody' && USER <> 'y'"), "0 changed");
}

#[test]
fn words_of_other_databases_are_names() {
    let mut session = World::new().session();
    for word in [
        "anti",
        "array",
        "asof",
        "cluster",
        "connect",
        "distribute",
        "end",
        "exclude",
        "format",
        "full",
        "global",
        "minus",
        "offset",
        "open",
        "output",
        "pivot",
        "qualify",
        "returning",
        "sample",
        "semi",
        "settings",
        "sort",
        "start",
        "top",
        "unpivot",
        "view",
    ] {
        let statement =
            format!("SELECT CASE WHEN 1 THEN MAX(a) END {word} FROM (SELECT 1 a) {word} WHERE a = 1 LIMIT 1 OFFSET 0");
        assert_eq!(run(&mut session, &statement), format!("{word}\n1\n"), "{statement}");
    }
}
