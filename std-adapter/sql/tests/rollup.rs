//! GROUP BY … WITH ROLLUP, and GROUPING().

mod common;

use common::{check, run, session};

const SALES: &str = "CREATE TABLE test.sales AS \
    SELECT 'Computer' AS product, 2 AS country, 2000 AS year, 1200 AS profit UNION ALL SELECT 'TV', 1, 1999, 150 UNION ALL \
    SELECT 'Calculator', 1, 1999, 50 UNION ALL SELECT 'Computer', 1, 1999, 1500 UNION ALL SELECT 'TV', NULL, 2000, 5";

#[test]
fn groups_are_summed_up_behind_them() {
    let mut session = session();
    check(&mut session, SALES, "Records: 5  Duplicates: 0  Warnings: 0");
    for (statement, expected) in [
        (
            "SELECT name, COUNT(*) FROM setup_timers GROUP BY name WITH ROLLUP",
            "idle,1\nstage,1\nstatement,1\ntransaction,1\nwait,1\n,5",
        ),
        (
            "SELECT product, country, year, SUM(profit) FROM test.sales GROUP BY product, country, year WITH ROLLUP",
            "Calculator,1,1999,50\nCalculator,1,,50\nCalculator,,,50\nComputer,1,1999,1500\nComputer,1,,1500\nComputer,2,2000,1200\n\
             Computer,2,,1200\nComputer,,,2700\nTV,,2000,5\nTV,,,5\nTV,1,1999,150\nTV,1,,150\nTV,,,155\n,,,2905",
        ),
        // The keys as places, as names of the result, and as what they are.
        ("SELECT product AS p, SUM(profit) FROM test.sales GROUP BY 1 WITH ROLLUP LIMIT 2, 2", "TV,155\n,2905"),
        ("SELECT LEFT(product, 2) AS p, MAX(profit) FROM test.sales GROUP BY p WITH ROLLUP", "Ca,50\nCo,1500\nTV,150\n,1500"),
        ("SELECT LOWER(product) AS product FROM test.sales GROUP BY product WITH ROLLUP", "calculator\ncomputer\ntv\n\"\""),
        ("SELECT country + 1, COUNT(*) FROM test.sales GROUP BY sales.country WITH ROLLUP", ",1\n2,3\n3,1\n,5"),
        ("SELECT 1 AS one, COUNT(*) + 1 FROM threads GROUP BY one WITH ROLLUP", ",1"),
        (
            "SELECT country AS a, country AS b, 1 + 1 FROM test.sales WHERE country = 2 GROUP BY 1, b WITH ROLLUP",
            "2,2,2\n2,,2\n,,2",
        ),
        (
            "SELECT a.product, b.product, COUNT(*) FROM test.sales a, test.sales b WHERE a.year < b.year GROUP BY a.product, b.product WITH ROLLUP \
             LIMIT 3",
            "Calculator,Computer,1\nCalculator,TV,1\nCalculator,,2",
        ),
        // One row of nothing.
        ("SELECT product, SUM(profit) FROM test.sales WHERE 0 GROUP BY product WITH ROLLUP", ","),
        ("SELECT DISTINCT COUNT(*) FROM test.sales GROUP BY product WITH ROLLUP ORDER BY 1", "1\n2\n5"),
        (
            "SELECT product, SUM(profit) AS total FROM test.sales GROUP BY product WITH ROLLUP HAVING total > 2000 ORDER BY total DESC",
            ",2905\nComputer,2700",
        ),
        (
            "SELECT s FROM (SELECT product, SUM(profit) AS s FROM test.sales GROUP BY product WITH ROLLUP) AS q WHERE product IS NULL",
            "2905",
        ),
        ("SELECT product FROM test.sales GROUP BY product WITH ROLLUP UNION SELECT 'z'", "\"\"\nCalculator\nComputer\nTV\nz"),
        (
            "SELECT product, (SELECT COUNT(*) FROM test.sales t WHERE t.product = s.product) AS c FROM test.sales s GROUP BY product WITH ROLLUP \
             LIMIT 2",
            "Calculator,1\nComputer,2",
        ),
        (
            "SELECT DISTINCT product FROM test.sales t WHERE EXISTS (SELECT 1 FROM test.sales u WHERE u.product = t.product \
             GROUP BY country WITH ROLLUP HAVING SUM(profit) > 2000)",
            "Computer",
        ),
    ] {
        check(&mut session, statement, expected);
    }
}

/// A key of which a column is a later key.
#[test]
fn a_key_is_kept_as_a_whole() {
    let mut session = session();
    let table = "(SELECT 'stage' AS e UNION ALL SELECT 'wait1' UNION ALL SELECT 'wait2') AS t";
    let all = "stag,stage,1\nstag,,1\nwait,wait1,1\nwait,wait2,1\nwait,,2\n,,3";
    for (select, rest, expected) in [
        ("LEFT(e, 4) AS x, e, COUNT(*)", "GROUP BY LEFT(e, 4), e WITH ROLLUP", all),
        ("LEFT(e, 4) AS x, e, COUNT(*)", "GROUP BY x, e WITH ROLLUP", all),
        ("LEFT(e, 4), e, COUNT(e)", "GROUP BY 1, 2 WITH ROLLUP", all),
        (
            "UPPER((LEFT(e, 4))), GROUPING(LEFT(e, 4), e), MAX(e)",
            "GROUP BY LEFT(e, 4), e WITH ROLLUP HAVING GROUPING(e) AND LEFT(e, 4) <> 'stag' ORDER BY LEFT(e, 4)",
            "WAIT,1,wait2",
        ),
        // The later key is what has the column in it.
        ("e, LEFT(e, 4) AS x, COUNT(*)", "GROUP BY e, x WITH ROLLUP LIMIT 2", "stage,stag,1\nstage,,1"),
    ] {
        check(&mut session, &format!("SELECT {select} FROM {table} {rest}"), expected);
    }
}

#[test]
fn grouping() {
    let mut session = session();
    check(&mut session, SALES, "Records: 5  Duplicates: 0  Warnings: 0");
    for (statement, expected) in [
        (
            "SELECT IF(GROUPING(product), 'all', product), country, GROUPING(product, country) AS g FROM test.sales \
             GROUP BY product, country WITH ROLLUP HAVING g > 0 OR country IS NULL",
            "Calculator,,1\nComputer,,1\nTV,,0\nTV,,1\nall,,3",
        ),
        (
            "SELECT product, country, SUM(profit) FROM test.sales GROUP BY product, country WITH ROLLUP \
             ORDER BY product DESC, GROUPING(country), country LIMIT 4",
            "TV,,5\nTV,1,150\nTV,,155\nComputer,1,1500",
        ),
        ("SELECT year AS y FROM test.sales GROUP BY y WITH ROLLUP HAVING GROUPING(y) = 0", "1999\n2000"),
    ] {
        check(&mut session, statement, expected);
    }
    for (statement, error) in [
        (
            "SELECT GROUPING(year) FROM test.sales GROUP BY product WITH ROLLUP",
            "ERROR 3602 (HY000): Argument #1 of GROUPING function is not in GROUP BY",
        ),
        ("SELECT GROUPING(product) FROM test.sales GROUP BY product", "ERROR 1111 (HY000): Invalid use of group function"),
        ("SELECT product FROM test.sales GROUP BY 2 WITH ROLLUP", "ERROR 1054 (42S22): Unknown column '2' in 'group statement'"),
        (
            "SELECT product FROM test.sales GROUP BY product WITH ROLLUP ORDER BY 2",
            "ERROR 1054 (42S22): Unknown column '2' in 'order clause'",
        ),
        ("SELECT x FROM test.sales GROUP BY product WITH ROLLUP", "ERROR 1054 (42S22): Unknown column 'x' in 'field list'"),
    ] {
        assert_eq!(run(&mut session, statement), error, "{statement}");
    }
}

/// One within the other, each is written several times.
#[test]
fn however_deep_it_is_bounded() {
    let mut session = session();
    let keys: Vec<String> = (0..90).map(|number| format!("name + {number}")).collect();
    let many = format!("SELECT COUNT(*) FROM setup_timers GROUP BY {} WITH ROLLUP", keys.join(", "));
    assert!(run(&mut session, &many).lines().count() > 90);
    let many = format!("SELECT COUNT(*) FROM setup_timers GROUP BY {}name WITH ROLLUP", "name,".repeat(20_000));
    assert!(run(&mut session, &many).starts_with("ERROR 1436 "));
    let items: Vec<String> = (0..1_500).map(|number| format!("name+{number}")).collect();
    let many = format!("SELECT {} FROM setup_timers GROUP BY {} WITH ROLLUP", items.join(","), keys.join(", "));
    let start = std::time::Instant::now();
    assert!(run(&mut session, &many).starts_with("ERROR 1436 "));
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
    let mut nested = "setup_timers".to_owned();
    for _ in 0..12 {
        nested = format!("(SELECT name FROM {nested} AS q GROUP BY name, name + 1, name + 2, name + 3, name + 4 WITH ROLLUP)");
    }
    assert!(run(&mut session, &format!("SELECT * FROM {nested} AS q")).starts_with("ERROR 1436 "));
}
