//! Functions that people use on such tables, beside those of `statements.rs`.

mod common;

use common::{World, check, run, session};
use perfschema_sql::{Account, Database, Limits};
use std::time::{Duration, Instant};

#[test]
fn of_times_and_bytes_for_people() {
    let mut session = session();
    for (expressions, expected) in [
        (
            "FORMAT_BYTES(1023.7), FORMAT_BYTES(-1.9), FORMAT_BYTES(200000 * POW(2, 60)), FORMAT_BYTES(99999 * POW(2, 60))",
            "1023 bytes,  -1 bytes,2.00e+05 EiB,99999.00 EiB",
        ),
        (
            "FORMAT_PICO_TIME(31843368), sys.format_time(43), FORMAT_BYTES(2048), FORMAT_PICO_TIME(NULL) IS NULL",
            "31.84 us,43 ps,2.00 KiB,1",
        ),
        // The transcripts of MySQL's own comment on it, but for the first, which is older than the function.
        ("sys.format_time(342342342342345), sys.format_time(342342342), sys.format_time(34234)", "5.71 m,342.34 us,34.23 ns"),
        (
            "sys.format_time(604800000000000000), sys.format_time('1e30'), sys.format_time(86399e12), sys.format_time(-5), sys.format_time(NULL) IS NULL",
            "1.00 w,1653439153439.15 w,24.00 h,-5 ps,1",
        ),
        // Any number is one of picoseconds: of a sum, an average, a difference.
        (
            "FORMAT_PICO_TIME(100000000000000000000), FORMAT_PICO_TIME('1e30'), FORMAT_PICO_TIME(999.9), FORMAT_PICO_TIME(1134.8)",
            "1157.41 d,1.16e+13 d,999 ps,1.13 ns",
        ),
        (
            "FORMAT_PICO_TIME(-43), FORMAT_PICO_TIME(-31843368), FORMAT_PICO_TIME(-0.5), FORMAT_PICO_TIME(86400000000000000 * 100000)",
            "-43 ps,-31.84 us,  0 ps,1.00e+05 d",
        ),
    ] {
        check(&mut session, &format!("SELECT {expressions}"), expected);
    }
}

#[test]
fn of_moments_and_times() {
    let mut session = session();
    for (expressions, expected) in [
        (
            "LENGTH(NOW()), LENGTH(NOW(6)), LENGTH(NOW(3)), LENGTH(CURTIME(1)), LENGTH(SYSDATE(0)), NOW(6) >= NOW()",
            "19,26,23,10,19,1",
        ),
        (
            "TIMESTAMPDIFF(SECOND, '2026-01-01', '2026-01-02 00:00:01'), TIMESTAMPDIFF(month, '2026-01-31', '2026-02-28'), \
             TIMESTAMPDIFF(SQL_TSI_YEAR, '2026-01-01', '2020-01-02'), TIMESTAMPDIFF(MINUTE, 'x', '2026-01-01') IS NULL",
            "86401,0,-5,1",
        ),
        (
            "TIMESTAMPDIFF(MINUTE, '2026-01-01', '2026-01-01 02:03:59'), TIMESTAMPDIFF(HOUR, '2026-01-02', '2026-01-01 00:00:01'), \
             TIMESTAMPDIFF(WEEK, '2026-01-01', '2026-01-21'), TIMESTAMPDIFF(QUARTER, '2026-01-31', '2026-10-30')",
            "123,-23,2,2",
        ),
        (
            "EXTRACT(QUARTER FROM '2026-11-21'), EXTRACT(HOUR FROM '2026-11-21 17:31:54.25'), EXTRACT(MINUTE FROM '17:31:54'), \
             EXTRACT(SECOND FROM '17:31:54.25'), EXTRACT(MICROSECOND FROM '17:31:54.25')",
            "4,17,31,54,250000",
        ),
        ("TIMESTAMPADD(MINUTE, 90, '2026-01-01 00:00:00'), TIMESTAMP('2026-01-01')", "2026-01-01 01:30:00,2026-01-01 00:00:00"),
        ("TIMEDIFF('2026-01-02 01:00:00', '2026-01-01 00:00:01'), TIMEDIFF('01:00', '02:30:00.5')", "24:59:59,-01:30:00.5"),
        (
            "SEC_TO_TIME(3661), SEC_TO_TIME(-1.5), SEC_TO_TIME(1e9), SEC_TO_TIME(NULL) IS NULL",
            "01:01:01,-00:00:01.5,838:59:59.000000,1",
        ),
        (
            "TIME_TO_SEC('01:01:01'), TIME_TO_SEC('-100:00'), TIME_TO_SEC('2026-01-01 00:01:00'), TIME_TO_SEC('x') IS NULL",
            "3661,-360000,60,1",
        ),
        (
            "DAYOFWEEK('2026-11-21'), WEEKDAY('2026-11-21'), DAYOFYEAR('2026-11-21'), DAYNAME('2026-11-21'), MONTHNAME('2026-11-21')",
            "7,5,325,Saturday,November",
        ),
        (
            "WEEK('2008-02-20'), WEEK('2008-02-20', 1), WEEK('2008-12-31', 1), WEEKOFYEAR('2008-02-20'), YEARWEEK('1987-01-01'), \
             WEEK('2000-01-01', 2), YEARWEEK('2000-01-01'), WEEK('x') IS NULL, WEEK('2000-01-01', NULL) IS NULL",
            "7,8,53,8,198652,52,199952,1,1",
        ),
        (
            "DATE_FORMAT('1999-01-01', '%X %V'), DATE_FORMAT('1900-10-04 22:23:00', '%D %y %a %j'), DATE_FORMAT('2009-10-04', '%U %u %v %x %w')",
            "1998 52,4th 00 Thu 277,40 40 40 2009 0",
        ),
        (
            "DATE_FORMAT('2026-01-01', '%D'), DATE_FORMAT('2026-01-02', '%D'), DATE_FORMAT('2026-01-03', '%D'), DATE_FORMAT('2026-01-11', '%D'), \
             DATE_FORMAT('2026-01-12', '%D'), DATE_FORMAT('2026-01-13', '%D'), DATE_FORMAT('2026-01-22 01:02:03', '%D %c %s %S')",
            "1st,2nd,3rd,11th,12th,13th,22nd 1 03 03",
        ),
        (
            "STR_TO_DATE('01,5,2013', '%d,%m,%Y'), STR_TO_DATE('May 1, 2013', '%M %d,%Y'), STR_TO_DATE('a09:30:17', 'a%h:%i:%s'), \
             STR_TO_DATE('a09:30:17', '%h:%i:%s') IS NULL, STR_TO_DATE('2013-02-30', '%Y-%m-%d') IS NULL",
            "2013-05-01,2013-05-01,09:30:17,1,1",
        ),
        (
            "STR_TO_DATE('2020-01-02 03:04:05 PM.5', '%Y-%m-%d %r.%f'), STR_TO_DATE('é', '%p') IS NULL, STR_TO_DATE('366 2024', '%j %Y')",
            "2020-01-02 15:04:05.500000,1,2024-12-31",
        ),
        (
            "STR_TO_DATE('05.25 03:04', '%s.%f %H:%i'), STR_TO_DATE('12:05 am', '%h:%i %p'), STR_TO_DATE('11:05 XM', '%h:%i %p') IS NULL",
            "03:04:05.250000,00:05:00,1",
        ),
        (
            "MAKEDATE(2011, 31), MAKEDATE(2011, 0) IS NULL, MAKEDATE(9999, 1e9) IS NULL, MAKETIME(-1, 15, 30), MAKETIME(1, 99, 0) IS NULL",
            "2011-01-31,1,1,-01:15:30,1",
        ),
        (
            "TIME_FORMAT('100:00:00', '%H %k %h %I %l'), TIME_FORMAT('-1:02:03.5', '%T.%f %p'), TIME_FORMAT('13:00', '%r|%Y-%m-%d|%q%'), \
             TIME_FORMAT('13:00', '%M') IS NULL, TIME_FORMAT('x', '%H') IS NULL, TIME_FORMAT('2026-11-21 17:31:54', '%H:%i')",
            "100 100 04 04 4,-01:02:03.500000 AM,01:00:00 PM|0000-00-00|q,1,1,17:31",
        ),
        ("TIME_FORMAT('01:02:03', '%c %e %D')", "0 0 0th"),
        (
            "SEC_TO_TIME(1 + 1.25), SEC_TO_TIME(ROUND(1.256, 2)), SEC_TO_TIME(TRUNCATE(1.259, 1)), SEC_TO_TIME(ROUND(1.5))",
            "00:00:02.25,00:00:01.26,00:00:01.2,00:00:02",
        ),
        ("COALESCE(TIME '01:00:00', TIME '02:00:00.5'), extract(day_hour from '2026-11-21 05:00:00')", "01:00:00.0,2105"),
        (
            "CONVERT_TZ('2004-01-01 12:00:00', '+00:00', '+10:00'), CONVERT_TZ('2004-01-01', 'SYSTEM', '-05:30'), \
             CONVERT_TZ('2004-01-01 12:00:00', 'GMT', 'MET'), CONVERT_TZ('x', '+00:00', '+10:00') IS NULL, \
             CONVERT_TZ('1969-12-31 23:00:00', '+00:00', '+10:00'), CONVERT_TZ('1969-12-31 23:00:00', '-02:00', '+00:00'), \
             CONVERT_TZ('3001-01-18 23:59:59', '+00:00', '+01:00'), CONVERT_TZ('3001-01-19', '+00:00', '+01:00')",
            "2004-01-01 22:00:00,2003-12-31 18:30:00,2004-01-01 13:00:00,1,1969-12-31 23:00:00,1970-01-01 01:00:00,3001-01-19 00:59:59,3001-01-19 00:00:00",
        ),
        (
            // The manual's, of clocks that go forward; Django's question whether there are zones with names; and one that there is not.
            "CONVERT_TZ('2007-03-11 2:00:00', 'US/Eastern', 'US/Central'), CONVERT_TZ('2007-03-11 3:00:00', 'US/Eastern', 'US/Central'), \
             CONVERT_TZ('2026-07-01 00:30:00', 'UTC', 'America/Chicago'), CONVERT_TZ('2001-01-01 01:00:00', 'UTC', 'UTC') IS NOT NULL, \
             CONVERT_TZ('2026-07-01', 'UTC', 'Nowhere/Else') IS NULL",
            "2007-03-11 01:00:00,2007-03-11 01:00:00,2026-06-30 19:30:00,1,1",
        ),
        (
            "DATE('24-1-1'), DATE('70-12-31'), DATE('2024/01/02'), CAST('2024.01.01' AS DATE), DATE('2024-1-2 3:4:5'), DATE('2024:01:02'), \
             DATE('2024-+1-2'), DATE('2024-001-2'), TIMESTAMP('2024^3^4 05:06:07'), DATE('2024/02/30')",
            "2024-01-01,1970-12-31,2024-01-02,2024-01-01,2024-01-02,,,,2024-03-04 05:06:07,",
        ),
        (
            "TIME('1 10:00:00'), TIME('-1 10:00'), TIME('1 10'), TIME('34 22:59:59'), TIME('35 00:00:00'), HOUR('10:11:12'), TIME_TO_SEC('1 00:00:01')",
            "34:00:00,-34:00:00,34:00:00,838:59:59,,10,86401",
        ),
        (
            "FROM_UNIXTIME(-1), FROM_UNIXTIME(0), FROM_UNIXTIME(32536771199), FROM_UNIXTIME(32536771200), FROM_UNIXTIME(-1, '%Y')",
            ",1970-01-01 00:00:00,3001-01-18 23:59:59,,",
        ),
        (
            "MONTH('2024-00-15'), DAY('2024-00-15'), YEAR('2024-00-00'), QUARTER('2024-00-15'), DAYOFMONTH('2001-11-00'), MONTH('0000-00-00'), \
             MONTH('2024-02-30'), EXTRACT(YEAR_MONTH FROM '2024-00-00'), LAST_DAY('2024-00-15')",
            "0,15,2024,0,0,0,,202400,",
        ),
        ("LAST_DAY('2024-02-03'), TO_DAYS('2007-10-07'), FROM_UNIXTIME(86400, '%Y/%m/%d')", "2024-02-29,733321,1970/01/02"),
    ] {
        check(&mut session, &format!("SELECT {expressions}"), expected);
    }
    let error = "ERROR 1426 (42000): Too-big precision 7 specified for 'now'. Maximum is 6.";
    assert_eq!(run(&mut session, "SELECT NOW(7)"), error);
}

#[test]
fn of_numbers_and_texts() {
    let mut session = session();
    for (expressions, expected) in [
        (
            "ROUND(EXP(1), 4), LOG(2, 8), LOG(EXP(2)), LOG(0) IS NULL, LOG(1, 2) IS NULL, DEGREES(PI()), COS(0)",
            "2.7183,3,2,1,1,180,1",
        ),
        (
            "CRC32('MySQL'), CRC32('') , BIT_COUNT(29), BIN(12), OCT(12), ASCII('2'), ASCII(''), ORD('2'), ORD('é')",
            "3259397556,0,4,1100,14,50,0,50,50089",
        ),
        (
            "CAST(-1.5 AS UNSIGNED), CAST(1e30 AS UNSIGNED), CAST(99999999999999999999 AS UNSIGNED), 1e30 & -1",
            "18446744073709551614,18446744073709551615,18446744073709551615,18446744073709551615",
        ),
        ("CAST(18446744073709551615 AS SIGNED), CAST(1e30 AS SIGNED), CAST('-5x' AS SIGNED)", "-1,9223372036854775807,-5"),
        (
            "CAST('1.9' AS SIGNED), CAST('1e3' AS SIGNED), CAST('-5.9' AS SIGNED), CAST('-1.9' AS UNSIGNED), CAST(1.9 AS SIGNED), \
             CAST('99999999999999999999' AS UNSIGNED), CAST('-99999999999999999999' AS SIGNED), CAST('x' AS SIGNED), '1.9' & 3, CAST(-5.9 AS SIGNED)",
            "1,1,-5,18446744073709551615,2,18446744073709551615,-9223372036854775808,0,1,-6",
        ),
        ("1 << 4294967296, 1 << 63, 1 >> 1", "0,9223372036854775808,0"),
        ("7.5e0 DIV 2, -7.5e0 DIV 2, 7 DIV 2e0, 7.5e0 % 2, -7.5e0 MOD 2, 1e0 DIV 0 IS NULL", "3,-3,3,1.5,-1.5,1"),
        ("LAST_INSERT_ID()", "0"),
        ("LPAD('a', 5, ''), RPAD('a', 5, ''), LPAD('abc', 2, '')", "\"\",\"\",ab"),
        ("TRIM('' FROM 'abc'), TRIM(LEADING '' FROM 'abc'), TRIM(TRAILING '' FROM 'abc')", "abc,abc,abc"),
        (
            r"QUOTE('Don''t'), QUOTE('a\\b'), QUOTE(NULL), LENGTH(QUOTE('\0')), LENGTH(QUOTE(CHAR(26))), QUOTE(5)",
            r"'Don\'t','a\\b',NULL,4,4,'5'",
        ),
        (
            r"REGEXP_REPLACE('abc', '(b)', '$1x'), REGEXP_REPLACE('abc', '(b)', '$12'), REGEXP_REPLACE('abc', 'b', '\\$1'),
             REGEXP_REPLACE('abc', 'b', '[$0]'), REGEXP_REPLACE('abc', 'b', '$'), REGEXP_REPLACE('abc', '(?P<n>b)', '${n}${n}')",
            "abxc,ab2c,a$1c,a[b]c,a$c,abbc",
        ),
        (
            r"REGEXP_LIKE('CamelCase', 'CAMELCASE'), REGEXP_LIKE('CamelCase', 'CAMELCASE', 'c'), REGEXP_LIKE('a', 'A', 'ci'), REGEXP_LIKE('a', 'A', 'ic'),
             REGEXP_LIKE('a\nb', '^b$'), REGEXP_LIKE('a\nb', '^b$', 'm'), REGEXP_LIKE('a\nb', 'a.b'), REGEXP_LIKE('a\nb', 'A.B', 'n'),
             REGEXP_LIKE('a\nb', '^B$', 'mc'), REGEXP_LIKE('a', 'a', NULL) IS NULL",
            "1,0,1,0,0,1,0,1,0,1",
        ),
        ("REGEXP_SUBSTR('a/b/c', '[^/]+$'), REGEXP_REPLACE('a1b22', '[0-9]+', '-'), REGEXP_SUBSTR('a', 'b') IS NULL", "c,a-b-,1"),
        (
            "MD5('a'), SHA1('abc'), SHA('abc') = SHA1('abc'), LENGTH(SHA2('abc', 224)), SHA2('abc', 0) = SHA2('abc', 256), \
             LENGTH(SHA2('', 384)), LENGTH(SHA2('', 512)), SHA2('a', 1) IS NULL, MD5(NULL) IS NULL",
            "0cc175b9c0f1b6a831c399e269772661,a9993e364706816aba3e25717850c26c9cd0d89d,1,56,1,96,128,1,1",
        ),
        ("UUID() LIKE '________-____-1___-____-____________', UUID() <> UUID(), RAND() >= 0 AND RAND() < 1", "1,1,1"),
        (
            "MAKE_SET(1 | 4, 'hello', 'nice', 'world'), EXPORT_SET(5, 'Y', 'N', ',', 4), INSERT('Quadratic', 3, 4, 'What'), \
             INSERT('Quadratic', -1, 4, 'What'), INSERT('Quadratic', 3, 100, 'What'), UNHEX('4D7953514C'), UNHEX('+G') IS NULL",
            "\"hello,world\",\"Y,N,Y,N\",QuWhattic,Quadratic,QuWhat,MySQL,1",
        ),
        (
            "CONV('a', 16, 2), CONV('6E', 18, 8), CONV(-17, 10, -18), CONV('zz', 37, 2) IS NULL, CONV('-1', 10, 16)",
            "1010,172,-H,1,FFFFFFFFFFFFFFFF",
        ),
        ("CHARSET('x'), COLLATION('x')", "utf8mb4,utf8mb4_0900_ai_ci"),
    ] {
        check(&mut session, &format!("SELECT {expressions}"), expected);
    }
    assert!(run(&mut session, "SELECT REGEXP_LIKE('a', 'a', 'x')").starts_with("ERROR 1210 "));
    assert!(run(&mut session, "SELECT REGEXP_REPLACE('a', 'a', '$1')").starts_with("ERROR 3686 "));
    let statement = "SELECT REGEXP_REPLACE(REPEAT('a', 60000), '', REPEAT('b', 60000))";
    assert!(run(&mut session, statement).starts_with("ERROR 1153 "));
}

#[test]
fn of_addresses_and_angles() {
    let mut session = session();
    for (expressions, expected) in [
        (
            "TO_BASE64('abc'), FROM_BASE64('YWJj'), FROM_BASE64('YW Jj\\n'), FROM_BASE64('!') IS NULL, TO_BASE64(NULL) IS NULL, \
             LENGTH(TO_BASE64(REPEAT('a', 57))), LENGTH(TO_BASE64(REPEAT('a', 58))), FROM_BASE64(TO_BASE64(REPEAT('a', 99))) = REPEAT('a', 99)",
            "YWJj,abc,abc,1,1,76,81,1",
        ),
        (
            "INET_ATON('10.0.5.9'), INET_ATON('127.1'), INET_ATON('256.1'), INET_ATON('1.2.3.4.5'), INET_ATON(''), INET_NTOA(167773449), INET_NTOA(4294967296)",
            "167773449,2130706433,,,,10.0.5.9,",
        ),
        ("CHAR(77, 121, 83, 81, '76'), CHAR(77, 77.3, NULL, '77.3'), CHAR(50089), HEX(CHAR(0, 256 * 65))", "MySQL,MMM,é,004100"),
        (
            "ROUND(ATAN(2), 4), ROUND(ATAN(-2, 2), 4), ROUND(ATAN2(PI(), 0), 4), ROUND(ACOS(0), 4), ROUND(ASIN(0.2), 4), ACOS(1.0001), \
             ASIN('foo'), ROUND(COT(12), 4)",
            "1.1071,-0.7854,1.5708,1.5708,0.2014,,0,-1.5727",
        ),
        (
            "INTERVAL(23, 1, 15, 17, 30, 44, 200), INTERVAL(10, 1, 10, 100, 1000), INTERVAL(22, 23, 30), INTERVAL(NULL, 1), INTERVAL(5, 1 + (1), 7)",
            "3,2,0,-1,1",
        ),
        ("BIT_LENGTH('text'), UUID_SHORT() < UUID_SHORT(), BIT_LENGTH('é')", "32,1,16"),
        (
            "JSON_VALUE('{\"a\": \"b\", \"c\": [1], \"d\": 2.5, \"e\": true, \"f\": null}', '$.a'), JSON_VALUE('{\"c\": [1]}', '$.c'), \
             JSON_VALUE('[2.5, true, null]', '$[0]'), JSON_VALUE('[2.5, true, null]', '$[1]'), JSON_VALUE('[2.5, true, null]', '$[2]'), JSON_VALUE('1', '$.x')",
            "b,,2.5,true,,",
        ),
    ] {
        check(&mut session, &format!("SELECT {expressions}"), expected);
    }
    assert!(run(&mut session, "SELECT COT(0)").starts_with("ERROR 1690 "));
}

#[test]
fn of_periods_and_intervals() {
    let mut session = session();
    for (expressions, expected) in [
        (
            "UTC_TIMESTAMP = UTC_TIMESTAMP(), LENGTH(UTC_DATE), LENGTH(UTC_TIME), UTC_TIMESTAMP - INTERVAL 1 DAY < NOW(), UTC_DATE = UTC_DATE()",
            "1,10,8,1,1",
        ),
        ("EXTRACT(WEEK FROM '2024-02-03'), EXTRACT(week FROM '2024-02-04') = WEEK('2024-02-04')", "4,1"),
        (
            "PERIOD_ADD(200801, 2), PERIOD_ADD(9912, 1), PERIOD_ADD(200801, -1), PERIOD_DIFF(200802, 200703), PERIOD_DIFF(NULL, 200703)",
            "200803,200001,200712,11,",
        ),
        (
            "TO_SECONDS('2009-11-29'), TO_SECONDS('2009-11-29 13:43:32'), FROM_DAYS(730669), FROM_DAYS(1), FROM_DAYS(TO_DAYS('2024-02-29'))",
            "63426672000,63426721412,2000-07-03,0000-00-00,2024-02-29",
        ),
        (
            "ADDTIME('2007-12-31 23:59:59.999999', '1 1:1:1.000002'), ADDTIME('01:00:00.999999', '02:00:00.999998'), \
             SUBTIME('2007-12-31 23:59:59.999999', '1 1:1:1.000002'), SUBTIME('01:00:00.999999', '02:00:00.999998'), ADDTIME('x', '1:00'), \
             ADDTIME('1:00', '2024-01-01 00:00:00')",
            "2008-01-02 01:01:01.000001,03:00:01.999997,2007-12-30 22:58:58.999997,-00:59:59.999999,,",
        ),
        (
            "TIMESTAMP('2003-12-31', '12:00:00'), TIMESTAMP('2003-12-31 12:00:00', '12:00:00'), TIMESTAMP('2003-12-31 12:00:00', '00:00:00.5'), \
             ADDTIME(TIMESTAMP '2003-12-31 12:00:00', '1:00'), SUBTIME(TIME '12:00', '1:00'), TIMESTAMP('x', '1:00')",
            "2003-12-31 12:00:00,2004-01-01 00:00:00,2003-12-31 12:00:00.5,2003-12-31 13:00:00,11:00:00,",
        ),
        (
            "'2024-01-01 00:00:00' + INTERVAL '1:30' HOUR_MINUTE, DATE_ADD('2100-12-31 23:59:59', INTERVAL '1:1' MINUTE_SECOND), \
             DATE_SUB('2025-01-01 00:00:00', INTERVAL '1 1:1:1' DAY_SECOND), DATE_ADD('1900-01-01 00:00:00', INTERVAL '-1 10' DAY_HOUR), \
             DATE_ADD(DATE '2024-01-31', INTERVAL '1-1' YEAR_MONTH)",
            "2024-01-01 01:30:00,2101-01-01 00:01:00,2024-12-30 22:58:59,1899-12-30 14:00:00,2025-02-28",
        ),
        (
            "DATE_ADD('1992-12-31 23:59:59.000002', INTERVAL '1.999999' SECOND_MICROSECOND), DATE '2024-01-01' + INTERVAL '1:2.5' MINUTE_MICROSECOND, \
             DATE_ADD(DATE '2024-01-01', INTERVAL '1 1' DAY_HOUR), TIMESTAMP '2024-01-01 00:00:00' + INTERVAL '1:30' MINUTE_SECOND, \
             DATE_ADD('2024-01-01', INTERVAL '1 2 3' DAY_HOUR)",
            "1993-01-01 00:00:01.000001,2024-01-01 00:01:02.500000,2024-01-02 01:00:00,2024-01-01 00:01:30,",
        ),
        (
            "EXTRACT(YEAR_MONTH FROM '2019-07-02 01:02:03'), EXTRACT(DAY_MINUTE FROM '2019-07-02 01:02:03'), \
             EXTRACT(DAY_HOUR FROM '2019-07-02 11:02:03'), EXTRACT(HOUR_SECOND FROM '2019-07-02 01:02:03'), \
             EXTRACT(SECOND_MICROSECOND FROM '2003-01-02 10:30:01.00123'), EXTRACT(HOUR_MINUTE FROM '10:30'), EXTRACT(YEAR_MONTH FROM 'x')",
            "201907,20102,211,10203,1001230,1030,",
        ),
        // But functions say how long a time is, whatever its sign.
        (
            "EXTRACT(HOUR FROM TIME '-10:11:12'), EXTRACT(MINUTE FROM '-10:11:12'), EXTRACT(HOUR_SECOND FROM TIME '-10:11:12'), \
             EXTRACT(SECOND_MICROSECOND FROM '-10:11:12.5'), EXTRACT(HOUR FROM '-00:11:12'), HOUR(TIME '-10:11:12'), \
             MINUTE('-10:11:12'), SECOND('-10:11:12'), MICROSECOND('-10:11:12.5')",
            "-10,-11,-101112,-12500000,0,10,11,12,500000",
        ),
        ("HOUR('900:00:00'), EXTRACT(HOUR_MICROSECOND FROM '-4000000000:00:00')", "838,-8385959000000"),
    ] {
        check(&mut session, &format!("SELECT {expressions}"), expected);
    }
    for wrong in ["TIMESTAMPDIFF(CENTURY, '2024-01-01', '2025-01-01')", "TIMESTAMPADD(x, 1, '2024-01-01')"] {
        assert!(run(&mut session, &format!("SELECT {wrong}")).starts_with("ERROR 1064 "), "{wrong}");
    }
    for wrong in ["PERIOD_ADD(0, 1)", "PERIOD_ADD(202413, 1)", "PERIOD_DIFF('x', 202412)"] {
        assert!(run(&mut session, &format!("SELECT {wrong}")).starts_with("ERROR 1210 "), "{wrong}");
    }
}

#[test]
fn of_many_rows() {
    let mut session = session();
    let numbers = "(SELECT 2 AS x, 'a' AS y UNION ALL SELECT 4, 'b,' UNION ALL SELECT 4, 'B,' UNION ALL SELECT 6, 'a' UNION ALL SELECT NULL, 'c') AS t";
    for (expressions, expected) in [
        (
            "STDDEV(x), STDDEV_POP(x) = STD(x), VARIANCE(x), VAR_POP(x), ROUND(STDDEV_SAMP(x), 3), ROUND(VAR_SAMP(x), 3)",
            "1.4142135623730951,1,2,2,1.633,2.667",
        ),
        ("COUNT(DISTINCT x, y), COUNT(DISTINCT y), COUNT(DISTINCT x, 1)", "3,3,3"),
        (
            "GROUP_CONCAT(DISTINCT y SEPARATOR '; '), GROUP_CONCAT(DISTINCT x), GROUP_CONCAT(x ORDER BY x DESC SEPARATOR '')",
            "\"a; b,; c\",\"2,4,6\",6442",
        ),
        ("MAX(x) > STDDEV(x), VAR_SAMP(NULL) IS NULL", "1,1"),
        ("BIT_AND(x), BIT_OR(x), BIT_XOR(x), BIT_AND(NULL), BIT_OR(NULL), BIT_XOR('7x')", "0,6,4,18446744073709551615,0,7"),
    ] {
        check(&mut session, &format!("SELECT {expressions} FROM {numbers}"), expected);
    }
    check(&mut session, "SELECT VAR_SAMP(1) IS NULL, STDDEV(1)", "1,0");
    let moving =
        "SELECT VAR_POP(x) OVER (ORDER BY x ROWS 1 PRECEDING) FROM (SELECT 1 AS x UNION ALL SELECT 3 UNION ALL SELECT 7) AS t";
    check(&mut session, moving, "0\n1\n4");
    check(&mut session, &moving.replace("VAR_POP", "BIT_OR"), "1\n3\n7");
    check(&mut session, &moving.replace("VAR_POP", "BIT_AND"), "1\n1\n3");
    check(&mut session, "SET group_concat_max_len = 5", "0 changed");
    check(&mut session, "SELECT GROUP_CONCAT('xx', 'éé'), GROUP_CONCAT('ab') FROM dual", "xxé,ab");
    assert!(run(&mut session, "SELECT COUNT(1, 2)").starts_with("ERROR 1582 "));
    assert!(run(&mut session, "SELECT 1 FROM threads HAVING STDDEV(thread_id) > x").starts_with("ERROR 1054 "));
}

/// It sleeps, and is woken in time.
#[test]
fn sleep() {
    let limits = Limits { time: Duration::from_millis(300), ..Limits::default() };
    let mut session = Database::new(World::new().region).limits(limits).session(Account::default()).expect("there is memory");
    let start = Instant::now();
    check(&mut session, "SELECT SLEEP(0.05), SLEEP('0')", "0,0");
    assert!(start.elapsed() >= Duration::from_millis(50));
    for statement in ["SELECT SLEEP(1e18)", "DO SLEEP(100)"] {
        let start = Instant::now();
        assert!(run(&mut session, statement).starts_with("ERROR 3024 "), "{statement}");
        assert!(start.elapsed() < Duration::from_secs(60), "{statement}");
    }
    for wrong in ["NULL", "-1"] {
        assert_eq!(run(&mut session, &format!("SELECT SLEEP({wrong})")), "ERROR 1210 (HY000): Incorrect arguments to sleep.");
    }
    // One that does nothing else tells who is woken.
    for (statement, woken) in [
        ("SELECT SLEEP(60), 1", "ERROR 1317 "),
        ("SELECT SLEEP(60) FROM setup_timers", "ERROR 1317 "),
        ("SELECT SLEEP(60) s", "s\n1"),
    ] {
        let wake = || {
            let mut session = Database::new(World::new().region).session(Account::default()).expect("there is memory");
            session.use_schema("performance_schema").expect("it is there");
            let canceller = session.canceller();
            let sleeper = std::thread::spawn(move || run(&mut session, statement));
            // It may not have begun.
            while !sleeper.is_finished() {
                std::thread::sleep(Duration::from_millis(50));
                canceller.cancel();
            }
            sleeper.join().expect("it ends")
        };
        // Before it sleeps it is interrupted as all others are.
        let found = (0..100).map(|_| wake()).find(|found| found.starts_with(woken));
        assert!(found.is_some(), "{statement}: {}", wake());
    }
}

/// MID with FROM is a function; a table may have its name, as that of all others that are no reserved words.
#[test]
fn mid_is_a_name_too() {
    let mut session = session();
    check(
        &mut session,
        "SELECT MID('abc' FROM 2 FOR 1), MID('abc' FROM 2), MID('abc', 2), !~~1, ~!~0",
        "b,bc,bc,0,18446744073709551615",
    );
    check(&mut session, "CREATE TABLE test.mid AS SELECT 1 AS a", "Records: 1  Duplicates: 0  Warnings: 0");
    check(&mut session, "INSERT INTO test.mid (a) VALUES (2)", "1 changed");
    check(&mut session, "WITH mid (a) AS (SELECT 1) SELECT a FROM mid", "1");
}

#[test]
fn nothing_has_no_digits_and_escapes_are_one_character() {
    let mut session = session();
    check(&mut session, "SELECT BIN(''), OCT(''), CONV('', 10, 2), BIN('x'), CONV(' ', 10, 2)", ",,,0,0");
    let wrong = "ERROR 1210 (HY000): Incorrect arguments to ESCAPE";
    check(&mut session, "SELECT 'ab' LIKE 'a%' ESCAPE 'aa'", wrong);
    check(&mut session, "SELECT 'ab' LIKE 'a%' ESCAPE '', 'a%' LIKE 'aé%' ESCAPE 'é'", "1,1");
}

#[test]
fn of_each_character_and_each_number() {
    let mut session = session();
    for (expressions, expected) in [
        ("UPPER('straße'), LOWER('ÉTÉ İ'), UPPER('ﬁn'), LOWER('ΣΑΣ'), CHAR_LENGTH(UPPER('ß'))", "STRAßE,été i,ﬁN,σασ,1"),
        (
            "FIELD(1, '1.0', 1), FIELD('1', 1.0), FIELD('a', 0), FIELD(2, 1, '2x'), FIELD(NULL, 0), FIELD(1, NULL, 1)",
            "1,1,1,2,0,2",
        ),
        ("FIELD('B', 'a', 'b'), FIELD('1', '1.0', '1'), FIELD('a', NULL, 'A'), FIELD(NULL, NULL)", "2,2,2,0"),
        (
            "FIELD('a' COLLATE utf8mb4_bin, 'A'), FIELD(BINARY 'a', 'A', 'a'), FIELD('a', BINARY 'A', 'a'), FIELD(BINARY 1, '1.0', 1)",
            "0,2,2,1",
        ),
        ("ROUND(1e300, 10), ROUND(-1e300, 10), TRUNCATE(1e300, 400), ROUND(1.5e300, 9999)", "1e300,-1e300,1e300,1.5e300"),
        (
            "ROUND(1.25e-40, 41) = 1.2e-40, ROUND(0e0, 400), ROUND(1e300, -400), ROUND(1234.5e0, -2), ROUND(1e300, -299)",
            "1,0,0,1200,1e300",
        ),
    ] {
        check(&mut session, &format!("SELECT {expressions}"), expected);
    }
}

/// What stands for operators, for parts of CAST and for the views of `sys` is no function of MySQL's.
#[test]
fn of_nobody() {
    let mut session = session();
    for call in [
        "number('12abc')",
        "`real`('1.5')",
        "`unsigned`('-1')",
        "cast_as_json('[1]')",
        "sys.time_since('wait', 0)",
        "`add`(1, 2)",
        "`row`(1)",
        "my_number(1)",
    ] {
        let found = run(&mut session, &format!("SELECT {call}"));
        assert!(found.starts_with("ERROR 1305 (42000): FUNCTION"), "{call}: {found}");
    }
}

#[test]
fn many_rows_joined_by_place() {
    let mut session = session();
    let table = "(SELECT 2 AS a, 'x' AS b UNION ALL SELECT 3, 'z' UNION ALL SELECT 1, 'y') AS t";
    for (expressions, expected) in [
        ("GROUP_CONCAT(a ORDER BY 1 DESC)", "\"3,2,1\""),
        ("GROUP_CONCAT(a, b ORDER BY 2 DESC SEPARATOR ';')", "3z;1y;2x"),
        ("GROUP_CONCAT(DISTINCT a ORDER BY 1 SEPARATOR ';')", "1;2;3"),
    ] {
        check(&mut session, &format!("SELECT {expressions} FROM {table}"), expected);
    }
    for place in [0, 2] {
        let error = format!("ERROR 1054 (42S22): Unknown column '{place}' in 'order clause'");
        assert_eq!(run(&mut session, &format!("SELECT GROUP_CONCAT(a ORDER BY {place}) FROM {table}")), error);
    }
}

#[test]
fn numbers_as_locales_write_them() {
    let mut session = session();
    for (locale, expected) in [
        ("'en_US'", "\"1,234,567.50\""),
        ("'de_DE'", "\"1.234.567,50\""),
        ("'DE_de'", "\"1.234.567,50\""),
        ("'fr_FR'", "\"1234567,50\""),
        ("'de_CH'", "1'234'567.50"),
        ("'pl_PL'", "\"1234567,50\""),
        ("'cs_CZ'", "\"1 234 567,50\""),
        ("'en_IN'", "\"12,34,567.50\""),
        ("'es_MX'", "1234567.50"),
        ("'ja_JP'", "\"1,234,567.50\""),
        ("'nb_NO'", "\"1.234.567,50\""),
        ("'de_AT'", "\"1234567,50\""),
        ("NULL", "\"1,234,567.50\""),
    ] {
        check(&mut session, &format!("SELECT FORMAT(1234567.5, 2, {locale})"), expected);
    }
    check(&mut session, "SELECT FORMAT(-1234, 0, 'de_DE'), FORMAT(12, 1, 'fr_FR')", "-1.234,\"12,0\"");
    check(&mut session, "SELECT FORMAT(1234.5, 2, 'nowhere')", "\"1,234.50\"");
    check(&mut session, "SHOW WARNINGS", "Warning,1649,Unknown locale: 'nowhere'");
}

/// MySQL's generator, by its seed.
#[test]
fn random_numbers_of_a_seed() {
    let mut session = session();
    for (statement, expected) in [
        ("SELECT RAND(1), RAND(1) = RAND(1)", "0.40540353712197724,1"),
        ("SELECT RAND(1) FROM (SELECT 1 AS a UNION SELECT 2) AS t", "0.40540353712197724\n0.8716141803857071"),
        ("SELECT RAND(3), RAND(0), RAND(NULL) = RAND(0), RAND(-1) < 1", "0.9057697559760601,0.15522042769493574,1,1"),
        ("SELECT RAND(a) = RAND(1) FROM (SELECT 1 AS a) AS t", "1"),
        // Seeds that change from row to row.
        (
            "SELECT RAND(COUNT(*)) IN (RAND(1), RAND(2)) FROM (SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 2) AS t GROUP BY a",
            "1\n1",
        ),
        ("SELECT RAND(@s := @s + 1) = RAND(3) FROM (SELECT @s := 2) AS t", "1"),
        ("SELECT COUNT(*) FROM (SELECT 1 AS a UNION SELECT 2 UNION SELECT 3) AS t ORDER BY RAND(1)", "3"),
        ("SELECT a FROM (SELECT 1 AS a UNION SELECT 2) AS t ORDER BY RAND(1) DESC", "2\n1"),
    ] {
        check(&mut session, statement, expected);
        // Once more from the beginning.
        check(&mut session, statement, expected);
    }
}

#[test]
fn words_within_calls() {
    let mut session = session();
    for (expressions, expected) in [
        ("0b11 + 0, 0b1000001, 0b11 = 3", "3,A,1"),
        ("TRIM(LEADING FROM '  x '), CONCAT(TRIM(TRAILING FROM ' x  '), '|'), TRIM(BOTH FROM '  x ')", "x , x|,x"),
        ("ROW(1, 2) = ROW(1, 2), ROW(1, 2) IN (ROW(1, 3), ROW(1, 2)), (1, 2) <> ROW(1, 2)", "1,1,0"),
        ("CHAR(65, 66 USING utf8mb4), CONVERT('a' USING utf8mb4), CHAR(65 USING utf8)", "AB,a,A"),
        ("MID('abc' FROM 2 FOR 1), MID('abc' FROM 2), MID('abc', 2, 1)", "b,bc,b"),
        ("CAST(1.5 AS SIGNED INT), CAST('7' AS UNSIGNED INTEGER), CAST(1 AS SIGNED INTEGER), CAST(1 AS UNSIGNED INT)", "2,7,1,1"),
        ("CONVERT('12', SIGNED INT), CONVERT('12', UNSIGNED INT)", "12,12"),
    ] {
        check(&mut session, &format!("SELECT {expressions}"), expected);
    }
    check(&mut session, "VALUES ROW(1, 2), ROW(3, 4)", "1,2\n3,4");
    let found = run(&mut session, "SELECT TRIM(LEADING FROM ' x'), MID('abc' FROM 2)");
    assert!(found.starts_with("TRIM(LEADING FROM ' x'),MID('abc' FROM 2)\n"), "{found}");
}

/// From a place on, which of those found, and how they are looked for.
#[test]
fn patterns_from_a_place_on() {
    let mut session = session();
    for (expressions, expected) in [
        ("REGEXP_LIKE('a', 'A', 'c'), REGEXP_LIKE('a', 'A', 'u')", "0,1"),
        (
            "REGEXP_SUBSTR('abcabd', 'b.', 1, 2), REGEXP_SUBSTR('abcabd', 'b.', 3), REGEXP_SUBSTR('abc', 'b.', 1, 2) IS NULL",
            "bd,bd,1",
        ),
        (
            "REGEXP_SUBSTR('éaéb', 'é.', 2), REGEXP_SUBSTR('aB', 'b', 1, 1, 'c') IS NULL, REGEXP_SUBSTR('aB', 'b', 1, 1, 'i')",
            "éb,1,B",
        ),
        (
            "REGEXP_SUBSTR('abc', 'b.', 1, NULL) IS NULL, REGEXP_SUBSTR('abc', '^b', 2) IS NULL, REGEXP_SUBSTR('abc', 'b', 1, 0)",
            "1,1,b",
        ),
        (
            "REGEXP_REPLACE('aaa', 'a', 'b', 1, 2), REGEXP_REPLACE('aaa', 'a', 'b', 2), REGEXP_REPLACE('aaa', 'a', 'b', 2, 2)",
            "aba,abb,aab",
        ),
        (
            "REGEXP_REPLACE('aAa', 'a', 'b', 1, 0, 'c'), REGEXP_REPLACE('aaa', 'a', 'b', 1, 4), REGEXP_REPLACE('a', 'a', 'b', NULL) IS NULL",
            "bAb,aaa,1",
        ),
        ("REGEXP_REPLACE('abc', 'b*', 'x'), REGEXP_REPLACE('', 'b*', 'x'), REGEXP_SUBSTR('abc', 'x*', 1, 4)", "xaxxcx,x,\"\""),
        ("REGEXP_REPLACE('abab', '(a)(b)', '$2$1', 3), REGEXP_SUBSTR('ab', 'c', 3) IS NULL", "abba,1"),
    ] {
        check(&mut session, &format!("SELECT {expressions}"), expected);
    }
    let beyond = "ERROR 3686 (HY000): Index out of bounds in regular expression search.";
    let wrong = "ERROR 1583 (42000): Incorrect parameters in the call to native function 'regexp_replace'";
    for (call, error) in [
        ("REGEXP_SUBSTR('abc', 'b', 5)", beyond),
        ("REGEXP_REPLACE('a', 'a+', 'b', 3)", beyond),
        ("REGEXP_REPLACE('aaa', 'a', 'X', 0)", wrong),
        ("REGEXP_SUBSTR('abc', 'b', 1, 1, 'x')", "ERROR 1210 (HY000): Incorrect arguments to regexp_substr"),
    ] {
        assert_eq!(run(&mut session, &format!("SELECT {call}")), error, "{call}");
    }
}

/// A text that is too large a number is the largest; arithmetic beyond it is refused.
#[test]
fn texts_are_no_larger_than_numbers() {
    let mut session = session();
    let most = "1.7976931348623157e308";
    check(&mut session, "SELECT '1e999' + 0, -'1e999', ABS('-1e999')", &format!("{most},-{most},{most}"));
    check(&mut session, "SELECT SUM('1e999'), CAST('1e999' AS DOUBLE), '1e999' > 1e308", &format!("{most},{most},1"));
    for overflow in ["'1e999' * 10", "1e308 * 10"] {
        let found = run(&mut session, &format!("SELECT {overflow}"));
        assert_eq!(found, "ERROR 1690 (22003): DOUBLE value is out of range", "{overflow}");
    }
}
