//! DECIMAL: the manual's chapter on precision math, what clients are told of it, and arithmetic beside a model of digits on paper.

mod common;

use common::{check, run, session};
use perfschema::render::ColumnHead;
use perfschema_sql::{Outcome, Session};
use std::cmp::Ordering;

fn columns(session: &mut Session, statement: &str) -> Vec<ColumnHead> {
    match session.execute(statement) {
        Ok(Outcome::Rows(grid)) => grid.columns,
        other => panic!("{statement}: {other:?}"),
    }
}

#[track_caller]
fn types(session: &mut Session, expressions: &str, expected: &str) {
    let heads = columns(session, &format!("SELECT {expressions}"));
    let found: Vec<String> = heads.iter().map(|head| head.sql_type.to_string()).collect();
    assert_eq!(found.join(" "), expected, "{expressions}");
}

/// "Precision Math Examples", "Rounding Behavior", and what is said of ROUND and TRUNCATE.
#[test]
fn the_manual() {
    let mut session = session();
    for (expressions, expected) in [
        ("(.1 + .2) = .3, (.1E0 + .2E0) = .3E0", "1,0"),
        (".01 * .01, 0.1 + 0.2, 1.50, -1.50, - .5", "0.0001,0.3,1.50,-1.50,-0.5"),
        ("ROUND(2.5), ROUND(-2.5), ROUND(25E-1), ROUND(1.58), ROUND(-1.23)", "3,-3,2,2,-1"),
        ("ROUND(1.298, 1), ROUND(1.298, 0), ROUND(23.298, -1), ROUND(150, -2), ROUND(-150, -2)", "1.3,1,20,200,-200"),
        ("ROUND(.12345678901234567890123456789012345, 35)", "0.123456789012345678901234567890"),
        ("ROUND(99.999, 2), ROUND(99.999, -1), ROUND(99.999, -3), ROUND(5.2, 4), ROUND(1.5, 1000000)", "100.00,100,0,5.2,1.5"),
        // No number is less than the least.
        (
            "ROUND(1.5, -170141183460469231731687303715884105728), TRUNCATE(1.5, -1e99), ROUND(7, -1e99), ROUND(1.5, 1e99)",
            "0.0,0.0,0,1.5",
        ),
        ("TRUNCATE(1.223, 1), TRUNCATE(1.999, 1), TRUNCATE(1.999, 0), TRUNCATE(-1.999, 1)", "1.2,1.9,1,-1.9"),
        ("TRUNCATE(122, -2), TRUNCATE(10.28 * 100, 0)", "100,1028"),
        (
            "5 / 2, 1 / 3, 2 / 3, 3 / 5, 102 / (1 - 1), 14620 / 9432456, 24250 / 9432456",
            "2.5000,0.3333,0.6667,0.6000,,0.0015,0.0026",
        ),
        (
            "1.0 / 3, 0.05 / 2, 1 / 3 * 3, 2 / 3 * 100, 100 * 2 / 3, ROUND(2 / 3 * 100, 2)",
            "0.33333,0.025000,1.0000,66.6667,66.6667,66.67",
        ),
        ("29.5 MOD 3, -7.5 % 2, 7.5 DIV 2, -7.5 DIV 2, 1.5 MOD 0, 1.5 DIV 0", "2.5,-1.5,3,-3,,"),
        (
            "FORMAT(12332.123456, 4), FORMAT(12332.1, 4), FORMAT(12332.2, 0), FORMAT(1.005, 2)",
            "\"12,332.1235\",\"12,332.1000\",\"12,332\",1.01",
        ),
        ("CEILING(1.23), CEILING(-1.23), FLOOR(1.23), FLOOR(-1.23), ABS(-1.50), SIGN(-0.01), SIGN(0.0)", "2,-1,1,-2,1.50,-1,0"),
        (
            "IFNULL(1 / 0, 0), IF(0, 0.25, 3), COALESCE(NULL, 1.5, 2.25), CASE WHEN 1 THEN 2 ELSE 0.125 END",
            "0.0000,3.00,1.50,2.000",
        ),
        ("GREATEST(1, 2.5), LEAST(1.50, 2), NULLIF(1.5, 1.50), NULLIF(1.5, 2)", "2.5,1.50,,1.5"),
        ("CONCAT(1.50, ''), LENGTH(2 / 3), CAST(1.50 AS CHAR), CAST(2.5 AS SIGNED), CAST(-2.5 AS SIGNED)", "1.50,6,1.50,3,-3"),
        ("'1.5' + 1.5, 1.5 + 1e0, 1.5 * '2', '5' / 2, 5 / 2e0", "3,2.5,3,2.5,2.5"),
    ] {
        check(&mut session, &format!("SELECT {expressions}"), expected);
    }
}

/// Digits and decimals, as drivers ask for them.
#[test]
fn the_types_are_known_without_rows() {
    let mut session = session();
    for (expressions, expected) in [
        (
            "1.5, 0.05, 1 / 3, 1.5 * 2.25, 1.5 + 10, - 1.5, 18446744073709551616",
            "decimal(2,1) decimal(3,2) decimal(5,4) decimal(5,3) decimal(4,1) decimal(2,1) decimal(20,0)",
        ),
        (
            "SUM(thread_id), AVG(thread_id), SUM(thread_id) / 1e12, SUM(thread_id / 2) FROM threads",
            "decimal(42,0) decimal(24,4) double decimal(46,4)",
        ),
        ("ROUND(SUM(thread_id) / SUM(1), 2), MAX(thread_id / 2), COUNT(*) FROM threads", "decimal(45,2) decimal(24,4) bigint"),
        ("FLOOR(thread_id / 2), thread_id * 1e0 FROM threads", "decimal(21,0) double"),
        (
            "CAST('x' AS DECIMAL), CAST(1 AS DECIMAL(7)), CAST(1 AS DECIMAL(7,3)), CONVERT(1, DECIMAL(7,3))",
            "decimal(10,0) decimal(7,0) decimal(7,3) decimal(7,3)",
        ),
        ("x, y FROM (SELECT 1 AS x, NULL AS y UNION ALL SELECT 2.25, 1.5) AS t", "decimal(3,2) decimal(2,1)"),
    ] {
        types(&mut session, expressions, expected);
    }
    for (expressions, expected) in [
        (
            "SUM(thread_id) / COUNT(*) AS a, AVG(thread_id) AS b, IFNULL(thread_id / 2, 0) AS c FROM threads",
            "decimal(46,4) decimal(24,4) decimal(24,4)",
        ),
        (
            "x.a, x.b FROM (SELECT thread_id / 2 AS a, SUM(thread_id) AS b FROM threads GROUP BY thread_id) AS x",
            "decimal(24,4) decimal(42,0)",
        ),
    ] {
        for statement in [format!("SELECT {expressions}"), format!("SELECT * FROM (SELECT {expressions}) AS t WHERE 1 = 0")] {
            let described = session.describe(&statement).expect("it is valid").columns;
            let found: Vec<String> = described.iter().map(|head| head.sql_type.to_string()).collect();
            assert_eq!(found.join(" "), expected, "{statement}");
        }
    }
}

#[test]
fn sums_are_exact() {
    let mut session = session();
    let large = "(SELECT 18446744073709551615 AS x UNION ALL SELECT 18446744073709551615 UNION ALL SELECT NULL) AS t";
    let expected = "36893488147419103230,18446744073709551615.0000,36893488147419103231,1,36893488147419103230";
    check(
        &mut session,
        &format!("SELECT SUM(x), AVG(x), SUM(x) + 1, SUM(x) > 36893488147419103229.5, 0 + SUM(x) FROM {large}"),
        expected,
    );
    check(
        &mut session,
        &format!("SELECT SUM(0 - x / 1), AVG(1.5), SUM(DISTINCT 1.50) FROM {large}"),
        "-36893488147419103230.0000,1.50000,1.50",
    );
    check(
        &mut session,
        "SELECT SUM(x) < -36893488147419103229, SUM(x) FROM (SELECT -18446744073709551615.0 AS x UNION ALL SELECT -18446744073709551615 UNION ALL SELECT - 0) AS t WHERE -18446744073709551615 < -1",
        "1,-36893488147419103230.0",
    );
    // Ten thousand times, as the manual has it.
    let many = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 10000)";
    check(&mut session, "SET cte_max_recursion_depth = 100000", "0 changed");
    check(
        &mut session,
        &format!("{many} SELECT SUM(0.0001), SUM(0.0001) = 1, AVG(i), SUM(i * 0.0001e0) = 5000.5 FROM n"),
        "1.0000,1,5000.5000,0",
    );
    let moving = "SELECT SUM(x) OVER w, AVG(x) OVER w FROM (SELECT 1.5 AS x UNION ALL SELECT 3 UNION ALL SELECT 7.25) AS t WINDOW w AS (ORDER BY x ROWS 1 PRECEDING)";
    check(&mut session, moving, "1.50,1.500000\n4.50,2.250000\n10.25,5.125000");
    check(&mut session, "SELECT SUM(x), AVG(x) FROM (SELECT 1.5 AS x UNION ALL SELECT '2.5') AS t", "4,2");
    check(
        &mut session,
        "SELECT MIN(x), MAX(x) FROM (SELECT 1.5 AS x UNION ALL SELECT -20 UNION ALL SELECT 100.25) AS t",
        "-20.00,100.25",
    );
    let most = "9".repeat(65);
    assert!(run(&mut session, &format!("SELECT {most} + 1")).starts_with("ERROR 1690 (22003): DECIMAL value is out of range"));
    assert!(
        run(&mut session, &format!("SELECT SUM(x) FROM (SELECT {most} AS x UNION ALL SELECT {most}) AS t"))
            .starts_with("ERROR 1690 ")
    );
    check(&mut session, &format!("SELECT {most}, {most} - 1 < {most}, {most}9"), &format!("{most},1,1e66"));
}

#[test]
fn casts() {
    let mut session = session();
    check(
        &mut session,
        "SELECT CAST('12.345' AS DECIMAL(5,2)), CAST(1 AS DECIMAL(10,2)), CAST(-2.5 AS DECIMAL), CAST(NULL AS DECIMAL) IS NULL",
        "12.35,1.00,-3,1",
    );
    check(
        &mut session,
        "SELECT CAST('1e2x' AS DECIMAL(6,1)), CAST(12.5e-1 AS DECIMAL(6,1)), CAST('abc' AS DECIMAL), CAST(' -.5' AS DECIMAL(2,1))",
        "100.0,1.3,0,-0.5",
    );
    assert!(session.warnings().is_empty());
    check(
        &mut session,
        "SELECT CAST(1000 AS DECIMAL(5,2)), CAST('-1e400' AS DECIMAL(5,2)), CAST(1e300 AS DECIMAL(65,30)) > 1e34",
        "999.99,-999.99,1",
    );
    let warnings: Vec<String> =
        session.warnings().iter().map(|warning| format!("{} {}", warning.error.errno, warning.error.message)).collect();
    assert_eq!(warnings[0], "1264 Out of range value for column 'CAST(1000 AS DECIMAL(5,2))' at row 1");
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    // However many rows there are.
    let many = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT SUM(CAST(a.i + 1000 AS DECIMAL(3,0)) = 999) FROM n a, n b WHERE b.i < 4";
    check(&mut session, many, "2700");
    assert_eq!(session.warnings().len(), 1024);
    for (data_type, error) in [
        ("DECIMAL(66)", "ERROR 1426 (42000): Too-big precision 66 specified for '1'. Maximum is 65."),
        ("DECIMAL(40,31)", "ERROR 1425 (42000): Too big scale 31 specified for '1'. Maximum is 30."),
        ("DECIMAL(3,4)", "ERROR 1427 (42000): For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '')."),
    ] {
        assert_eq!(run(&mut session, &format!("SELECT CAST(1 AS {data_type})")), error);
    }
}

/// Numbers are the same, whatever their digits are; a value of a column has no more than are shown.
#[test]
fn compared_sorted_and_grouped() {
    let mut session = session();
    for (expressions, expected) in [
        (
            "1.5 = 1.50, 2.0 = 2, 1.5 = '1.5', 0.1 = 0.1e0, 1.5 <=> 1.50, 1.5 <=> NULL, 1.5 < 2, -1.5 < -1, 1.5 > 1.49e0",
            "1,1,1,1,1,0,1,1,1",
        ),
        (
            "2 IN (1.5, 2.0), 1.5 NOT IN (1, 1.50), 1.5 BETWEEN 1 AND 1.50, CASE 1.5 WHEN 1.50 THEN 'a' END, (1, 2.5) = (1.0, 2.50)",
            "1,0,1,a,1",
        ),
        (
            "2 IN (SELECT 2.0), 1.5 IN (SELECT 1.50), 1.5 IN (SELECT 1.5e0), 1.5 IN (SELECT '1.50'), '1.5' IN (SELECT 1.50), 18446744073709551615 IN (SELECT 18446744073709551615.0)",
            "1,1,1,1,1,1",
        ),
        ("18446744073709551615.5 > 18446744073709551615, 9007199254740993.5 = 9007199254740993.4", "1,0"),
        (
            "NOT 0.5, 0.5 AND 1, 0.0 OR 0, 0.5 XOR 1, 0.5 IS TRUE, 0.0 IS FALSE, IF(0.5, 1, 2), IF(0.0, 1, 2), CASE WHEN 0.1 THEN 1 END",
            "0,1,0,0,1,1,1,2,1",
        ),
        ("COUNT(*) FROM threads WHERE 0.0", "0"),
        ("COUNT(*) FROM (SELECT 1) AS a JOIN (SELECT 2) AS b ON 0.1 WHERE 0.5 HAVING 0.5", "1"),
    ] {
        check(&mut session, &format!("SELECT {expressions}"), expected);
    }
    let numbers = "(SELECT 10 AS x UNION ALL SELECT 9.50 UNION ALL SELECT -1.5 UNION ALL SELECT -1.25 UNION ALL SELECT NULL UNION ALL SELECT 9.5) AS t";
    check(&mut session, &format!("SELECT x FROM {numbers} ORDER BY x"), "\"\"\n-1.50\n-1.25\n9.50\n9.50\n10.00");
    check(&mut session, &format!("SELECT DISTINCT x FROM {numbers} ORDER BY x DESC"), "10.00\n9.50\n-1.25\n-1.50\n\"\"");
    check(&mut session, &format!("SELECT x, COUNT(*) FROM {numbers} GROUP BY x HAVING COUNT(*) > 1"), "9.50,2");
    check(
        &mut session,
        &format!("SELECT x, RANK() OVER (ORDER BY x) FROM {numbers} WHERE x < 10 ORDER BY x"),
        "-1.50,1\n-1.25,2\n9.50,3\n9.50,3",
    );
    check(&mut session, "SELECT 1.5 UNION SELECT 1.50 UNION SELECT 2 ORDER BY 1", "1.50\n2.00");
    check(&mut session, "SELECT 1 AS x UNION SELECT 1.5 UNION SELECT 1.5e0 ORDER BY x", "1\n1.5");
    let thirds = "(SELECT 1 / 3 AS x UNION ALL SELECT 0.3333 UNION ALL SELECT 3333 / 10000) AS t";
    check(&mut session, &format!("SELECT x, COUNT(*), COUNT(DISTINCT x) FROM {thirds} GROUP BY x"), "0.3333,3,1");
    check(&mut session, "SELECT i / 3, COUNT(*) FROM (SELECT 1 AS i UNION ALL SELECT 1) AS t GROUP BY i / 3", "0.3333,2");
}

/// What is kept of them: in variables, in tables of schema `test`, as values for placeholders.
#[test]
fn kept() {
    let mut session = session();
    check(&mut session, "SET @x = 1.50, @y = 2 / 3", "0 changed");
    check(&mut session, "SELECT @x, @x + 1, @x < 2, @y * 3", "1.50,2.50,1,2.0001");
    types(&mut session, "@x, @y", "decimal(3,2) decimal(5,4)");
    check(&mut session, "PREPARE p FROM 'SELECT ? + 0.25'", "Statement prepared");
    check(&mut session, "EXECUTE p USING @x", "1.75");
    check(
        &mut session,
        "CREATE TABLE test.d AS SELECT 1 / 3 AS a, SUM(2) AS b, 1.50 AS c",
        "Records: 1  Duplicates: 0  Warnings: 0",
    );
    check(&mut session, "SELECT a + c, a, b, c FROM test.d WHERE a = 0.3333 AND b = 2", "1.8333,0.3333,2,1.50");
    types(&mut session, "* FROM test.d", "decimal(5,4) decimal(42,0) decimal(3,2)");
    let columns = "SELECT DATA_TYPE, COLUMN_TYPE, NUMERIC_PRECISION, NUMERIC_SCALE FROM information_schema.COLUMNS WHERE TABLE_NAME = 'd' AND COLUMN_NAME = 'a'";
    check(&mut session, columns, "decimal,\"decimal(5,4)\",5,4");
    // The tables have whole numbers.
    let half = session.execute_with(
        "UPDATE performance_schema.setup_instruments SET timed_one_in = ?",
        &[perfschema::render::OwnedValue::Decimal("16.0".to_owned())],
    );
    assert!(half.is_ok(), "{half:?}");
    assert!(run(&mut session, "SELECT 1 LIMIT 1.5").starts_with("ERROR 1064 "));
    check(
        &mut session,
        "SELECT JSON_ARRAY(1.5, SUM(9007199254740993)), JSON_EXTRACT('[1.5]', '$[0]')",
        "\"[1.5, 9007199254740993]\",1.5",
    );
}

/// A number as people write it: its digits from the first, those behind the point, and how many of these are shown.
#[derive(Clone, Debug)]
struct Paper {
    is_negative: bool,
    digits: Vec<u8>,
    kept: usize,
    scale: usize,
}

/// Adds, and the like, digit by digit from the last.
mod on_paper {
    use super::Paper;
    use std::cmp::Ordering;

    pub(super) fn trimmed(mut digits: Vec<u8>) -> Vec<u8> {
        while digits.first() == Some(&0) {
            digits.remove(0);
        }
        digits
    }

    pub(super) fn order(a: &[u8], b: &[u8]) -> Ordering {
        let (a, b) = (trimmed(a.to_vec()), trimmed(b.to_vec()));
        a.len().cmp(&b.len()).then_with(|| a.cmp(&b))
    }

    pub(super) fn sum(a: &[u8], b: &[u8]) -> Vec<u8> {
        let (mut carry, mut all) = (0, Vec::new());
        for place in 0..=a.len().max(b.len()) {
            let digit = |digits: &[u8]| digits.iter().rev().nth(place).copied().unwrap_or(0);
            let sum = digit(a) + digit(b) + carry;
            all.insert(0, sum % 10);
            carry = sum / 10;
        }
        trimmed(all)
    }

    /// Of the larger one first.
    pub(super) fn difference(a: &[u8], b: &[u8]) -> Vec<u8> {
        let (mut borrowed, mut all) = (0, Vec::new());
        for place in 0..a.len() {
            let digit = |digits: &[u8]| i16::from(digits.iter().rev().nth(place).copied().unwrap_or(0));
            let difference = digit(a) - digit(b) - borrowed;
            borrowed = i16::from(difference < 0);
            all.insert(0, u8::try_from(difference + 10 * borrowed).expect("a digit"));
        }
        trimmed(all)
    }

    pub(super) fn product(a: &[u8], b: &[u8]) -> Vec<u8> {
        let mut all = Vec::new();
        for &digit in b {
            all.push(0);
            (0..digit).for_each(|_| all = sum(&all, a));
        }
        trimmed(all)
    }

    /// The quotient without what remains, and that.
    pub(super) fn quotient(a: &[u8], b: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let (mut all, mut rest) = (Vec::new(), Vec::new());
        for &digit in a {
            rest.push(digit);
            let mut times = 0;
            while order(&rest, b).is_ge() {
                rest = difference(&rest, b);
                times += 1;
            }
            all.push(times);
        }
        (trimmed(all), trimmed(rest))
    }

    /// With so many digits behind the point, half away from zero.
    pub(super) fn rounded(paper: &Paper, scale: usize) -> Vec<u8> {
        let mut digits = [vec![0; scale + 1], paper.digits.clone()].concat();
        if paper.kept <= scale {
            digits.extend(vec![0; scale - paper.kept]);
            return trimmed(digits);
        }
        let padded = [vec![0; paper.kept + 1], digits].concat();
        let (before, behind) = padded.split_at(padded.len() - (paper.kept - scale));
        if behind[0] >= 5 { sum(before, &[1]) } else { trimmed(before.to_vec()) }
    }
}

impl Paper {
    fn literal(text: &str) -> Paper {
        let kept = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let digits = text.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
        Paper { is_negative: text.starts_with('-'), digits: on_paper::trimmed(digits), kept, scale: kept }
    }

    fn with(&self, kept: usize) -> Vec<u8> {
        [self.digits.clone(), vec![0; kept - self.kept]].concat()
    }

    fn plus(&self, other: &Paper) -> Paper {
        let (kept, scale) = (self.kept.max(other.kept), self.scale.max(other.scale));
        let (a, b) = (self.with(kept), other.with(kept));
        let (is_negative, digits) = match (self.is_negative == other.is_negative, on_paper::order(&a, &b)) {
            (true, _) => (self.is_negative, on_paper::sum(&a, &b)),
            (false, Ordering::Less) => (other.is_negative, on_paper::difference(&b, &a)),
            (false, _) => (self.is_negative, on_paper::difference(&a, &b)),
        };
        Paper { is_negative, digits, kept, scale }
    }

    fn negative(&self) -> Paper {
        Paper { is_negative: !self.is_negative, ..self.clone() }
    }

    fn times(&self, other: &Paper) -> Paper {
        let is_negative = self.is_negative != other.is_negative;
        let digits = on_paper::product(&self.digits, &other.digits);
        Paper { is_negative, digits, kept: self.kept + other.kept, scale: self.scale + other.scale }
    }

    /// MySQL has words of nine digits: of the dividend's, of the divisor's, and of the four that come on top if those were not enough.
    fn over(&self, other: &Paper) -> Option<Paper> {
        let words = |digits: usize| digits.div_ceil(9) * 9;
        let spare = words(self.kept) - self.kept + words(other.kept) - other.kept;
        let kept = words(words(self.kept) + words(other.kept) + 4_usize.saturating_sub(spare));
        let dividend = [self.digits.clone(), vec![0; kept + other.kept]].concat();
        let divisor = [other.digits.clone(), vec![0; self.kept]].concat();
        let is_negative = self.is_negative != other.is_negative;
        (!on_paper::trimmed(divisor.clone()).is_empty()).then(|| Paper {
            is_negative,
            digits: on_paper::quotient(&dividend, &divisor).0,
            kept,
            scale: self.scale + 4,
        })
    }

    fn remainder(&self, other: &Paper) -> Option<Paper> {
        let kept = self.kept.max(other.kept);
        let divisor = on_paper::trimmed(other.with(kept));
        let digits = || on_paper::quotient(&self.with(kept), &divisor).1;
        (!divisor.is_empty()).then(|| Paper { digits: digits(), kept, scale: self.scale.max(other.scale), ..self.clone() })
    }

    fn text(&self) -> String {
        let digits = on_paper::rounded(self, self.scale);
        let sign = if self.is_negative && !digits.is_empty() { "-" } else { "" };
        let digits: String = digits.iter().map(u8::to_string).collect();
        let digits = format!("{digits:0>width$}", width = self.scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - self.scale);
        format!("{sign}{whole}{}{fraction}", if self.scale > 0 { "." } else { "" })
    }
}

/// Expressions by chance: what the session answers is what comes out on paper, digit by digit.
#[test]
fn as_on_paper() {
    let mut session = session();
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |end: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % end
    };
    let literal = |random: &mut dyn FnMut(u64) -> u64| {
        let digits =
            |random: &mut dyn FnMut(u64) -> u64, count: u64| (0..count).map(|_| random(10).to_string()).collect::<String>();
        let count = random(12) + 1;
        let whole = digits(random, count);
        let places = random(6);
        // One that may be sorted and summed together with others, so it always has a point.
        format!("{whole}.{}", digits(random, places + 1))
    };
    for _ in 0..60 {
        let (mut expressions, mut expected) = (Vec::new(), Vec::new());
        for _ in 0..20 {
            let (a, b, c) = (literal(&mut random), literal(&mut random), literal(&mut random));
            let (x, y, z) = (Paper::literal(&a), Paper::literal(&b), Paper::literal(&c));
            let (expression, result) = match random(7) {
                0 => (format!("{a} + {b} - {c}"), Some(x.plus(&y).plus(&z.negative()))),
                1 => (format!("{a} - {b} * {c}"), Some(x.plus(&y.times(&z).negative()))),
                2 => (format!("{a} / {b}"), x.over(&y)),
                3 => (format!("({a} - {b}) / {c} * {b}"), x.plus(&y.negative()).over(&z).map(|quotient| quotient.times(&y))),
                4 => (format!("- {a} % {b}"), x.negative().remainder(&y)),
                5 => (format!("({a} / {b}) / {c}"), x.over(&y).and_then(|quotient| quotient.over(&z))),
                _ => {
                    let place = random(5) as usize;
                    let digits = on_paper::rounded(&x, place.min(x.scale));
                    let (kept, scale) = (place.min(x.scale), place.min(x.scale));
                    (format!("ROUND({a}, {place})"), Some(Paper { digits, kept, scale, ..x.clone() }))
                }
            };
            expected.push(result.map_or_else(String::new, |result| result.text()));
            expressions.push(expression);
        }
        let found = run(&mut session, &format!("SELECT {}", expressions.join(", ")));
        let found = found.split_once('\n').map_or("", |(_, row)| row).trim_end();
        for ((found, expected), expression) in found.split(',').zip(&expected).zip(&expressions) {
            assert_eq!(found, expected, "{expression}");
        }
        assert_eq!(found, expected.join(","));
        // The same numbers, sorted and summed.
        let mut numbers: Vec<(String, Paper)> =
            (0..12).map(|_| literal(&mut random)).map(|text| (text.clone(), Paper::literal(&text))).collect();
        let rows = numbers.iter().map(|(text, _)| format!("SELECT {text} AS x")).collect::<Vec<_>>().join(" UNION ALL ");
        let scale = numbers.iter().map(|(_, paper)| paper.scale).max().unwrap_or(0);
        let sum = numbers.iter().fold(Paper::literal("0"), |sum, (_, paper)| sum.plus(paper));
        check(
            &mut session,
            &format!("SELECT SUM(x), AVG(x) FROM ({rows}) AS t"),
            &format!("{},{}", sum.text(), sum.over(&Paper::literal("12")).expect("twelve").text()),
        );
        numbers.sort_by(|(_, a), (_, b)| on_paper::order(&a.with(scale), &b.with(scale)));
        let sorted: Vec<String> = numbers.iter().map(|(_, paper)| Paper { scale, ..paper.clone() }.text()).collect();
        check(&mut session, &format!("SELECT x FROM ({rows}) AS t ORDER BY x"), &sorted.join("\n"));
    }
}

/// What is inserted has the digits behind the point that its column has.
#[test]
fn what_is_inserted_is_as_its_column() {
    let mut session = session();
    check(
        &mut session,
        "CREATE TABLE test.i AS SELECT 1.00 AS b, 'x' AS c UNION ALL SELECT 2.50, NULL",
        "Records: 2  Duplicates: 0  Warnings: 0",
    );
    check(&mut session, "INSERT INTO test.i VALUES (1, 'y'), (2.5, 'z'), (NULL, '1'), (0, NULL)", "4 changed");
    check(&mut session, "INSERT INTO test.i (b) SELECT b * 10 FROM test.i WHERE b = 2.5", "2 changed");
    check(&mut session, "INSERT INTO test.i (c) VALUES (7)", "1 changed");
    // What fails leaves the tables that it was the first to name.
    let fails = run(&mut session, "INSERT INTO test.i (b) SELECT 1e308 * 10 FROM performance_schema.setup_timers");
    assert!(fails.starts_with("ERROR 1690 "), "{fails}");
    check(&mut session, "SELECT COUNT(*) FROM performance_schema.setup_timers", "5");
    for (query, expected) in [
        ("SELECT CONCAT(b), COUNT(*) FROM test.i GROUP BY b ORDER BY b", ",2\n0.00,1\n1.00,2\n2.50,2\n25.00,2"),
        ("SELECT COUNT(DISTINCT b), SUM(b) FROM test.i", "4,57.00"),
        ("SELECT c FROM test.i WHERE b = 1", "x\ny"),
    ] {
        check(&mut session, query, expected);
    }
}

/// A zero has the digits behind the point that its column has.
#[test]
fn zero_keeps_its_digits() {
    let mut session = session();
    let create = "CREATE TABLE test.z AS SELECT 1 AS a, 0.00 AS b UNION ALL SELECT 2, 1.50 UNION ALL SELECT 3, NULL";
    check(&mut session, create, "Records: 3  Duplicates: 0  Warnings: 0");
    for (query, expected) in [
        ("SELECT b, CONCAT(b) FROM test.z WHERE b = 0", "0.00,0.00"),
        ("SELECT COALESCE(b, 0), COUNT(*) FROM test.z GROUP BY COALESCE(b, 0)", "0.00,2\n1.50,1"),
        ("SELECT COUNT(DISTINCT COALESCE(b, 0)), COUNT(*) FROM test.z", "2,3"),
        ("SELECT DISTINCT COALESCE(b, 0) FROM test.z ORDER BY 1", "0.00\n1.50"),
    ] {
        check(&mut session, query, expected);
    }
}

/// Equal numbers are one row, also where a column is among the members.
#[test]
fn unions_of_columns_know_equal_numbers() {
    let mut session = session();
    for (statement, expected) in [
        ("SELECT b FROM (SELECT 1.00 b UNION ALL SELECT 2.50) t UNION SELECT 1 UNION SELECT 2.5", "1.00\n2.50"),
        ("SELECT a FROM (SELECT 1.00 a) t INTERSECT SELECT 1", "1.00"),
        ("SELECT a FROM (SELECT 1.00 a) t EXCEPT SELECT 1", ""),
        ("SELECT 1 UNION SELECT a FROM (SELECT 1.00 a) t", "1.00"),
        ("WITH c AS (SELECT 1.5 a), d AS (SELECT 1.50 a) SELECT * FROM c UNION SELECT * FROM d", "1.50"),
        ("WITH c (x) AS (SELECT 1.5 a), d AS (SELECT 1.50 a) SELECT e.x FROM c e UNION SELECT a FROM d", "1.50"),
        ("SELECT a FROM (SELECT 1.50 a) t UNION SELECT 15e-1", "1.5"),
    ] {
        check(&mut session, statement, expected);
    }
}
