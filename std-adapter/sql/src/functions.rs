//! MySQL's functions, as SQLite is taught them. Each is registered under its name with [`PREFIX`], so that none of SQLite's own, which
//! behave otherwise, is meant by accident; [`crate::dialect`] writes the prefixed names, and lets through no function that is not here.

use crate::state::State;
use crate::value::{self, Number};
use crate::{Error, aggregates, compare, moment, snapshot, times};
use perfschema::core::pattern::LikePattern;
use perfschema::core::picotime::format_pico_time;
use perfschema::core::table::SqlType;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};
use std::cmp::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) const PREFIX: &str = "my_";
/// The longest text that a function makes.
pub(crate) const MAX_TEXT: usize = 1 << 20;
/// What a pattern may cost: its length times that of the text.
const MAX_MATCH: usize = 1 << 28;

pub(crate) type Arguments<'a> = &'a [ValueRef<'a>];
type Call = fn(Arguments<'_>, &State) -> Result<Value, Error>;

/// A function.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// Number of arguments, least and most.
    pub(crate) arguments: (usize, usize),
    /// What it returns; None: what its arguments are.
    pub(crate) result: Option<SqlType>,
    call: Call,
}

const TEXT: Option<SqlType> = Some(SqlType::Longtext);
const INTEGER: Option<SqlType> = Some(SqlType::Bigint);
const DOUBLE: Option<SqlType> = Some(SqlType::Double);
pub(crate) const MANY: usize = 100;

const fn function(name: &'static str, least: usize, most: usize, result: Option<SqlType>, call: Call) -> Function {
    Function { name, arguments: (least, most), result, call }
}

/// All that take their arguments one by one.
pub(crate) const FUNCTIONS: &[Function] = &[
    // What the dialect writes for operators.
    function("add", 2, 2, None, |a, _| arithmetic(a, i128::checked_add, |x, y| x + y)),
    function("subtract", 2, 2, None, |a, _| arithmetic(a, i128::checked_sub, |x, y| x - y)),
    function("multiply", 2, 2, None, |a, _| arithmetic(a, i128::checked_mul, |x, y| x * y)),
    function("divide", 2, 2, DOUBLE, |a, _| divide(a, |x, y| Number::Real(x.real() / y.real()))),
    function("div", 2, 2, INTEGER, |a, _| divide(a, integer_division)),
    function("mod", 2, 2, None, |a, _| divide(a, remainder)),
    function("negate", 1, 1, None, |a, _| arithmetic(&[ValueRef::Integer(0), a[0]], i128::checked_sub, |x, y| x - y)),
    function("xor", 2, 2, INTEGER, |a, _| both(a, |x, y| Number::Integer(((x.real() != 0.0) != (y.real() != 0.0)).into()))),
    function("bit_xor", 2, 2, INTEGER, |a, _| both(a, |x, y| bits(x, y, |x, y| x ^ y))),
    function("bit_and", 2, 2, INTEGER, |a, _| both(a, |x, y| bits(x, y, |x, y| x & y))),
    function("bit_or", 2, 2, INTEGER, |a, _| both(a, |x, y| bits(x, y, |x, y| x | y))),
    function("shift_left", 2, 2, INTEGER, |a, _| both(a, |x, y| bits(x, y, |x, y| x.checked_shl(y as u32).unwrap_or(0)))),
    function("shift_right", 2, 2, INTEGER, |a, _| both(a, |x, y| bits(x, y, |x, y| x.checked_shr(y as u32).unwrap_or(0)))),
    function("compare", 3, 3, INTEGER, |a, _| Ok(compare::compare(a))),
    function("same", 3, 3, INTEGER, |a, _| Ok(compare::same(a))),
    function("one_of", 3, MANY, INTEGER, |a, _| Ok(compare::one_of(a))),
    function("between", 4, 4, INTEGER, |a, _| Ok(compare::between(a))),
    function("which", 3, MANY, INTEGER, |a, _| Ok(compare::which(a))),
    function("nullif", 3, 3, None, |a, _| Ok(compare::nullif(a))),
    function("greatest", 3, MANY, None, |a, _| Ok(compare::extreme(a, Ordering::Greater))),
    function("least", 3, MANY, None, |a, _| Ok(compare::extreme(a, Ordering::Less))),
    function("like", 3, 4, INTEGER, like),
    function("regexp_like", 2, 3, INTEGER, regexp),
    // CAST and CONVERT.
    function("number", 1, 1, DOUBLE, |a, _| one(a, Ok)),
    function("signed", 1, 1, INTEGER, |a, _| one(a, |x| Ok(Number::Integer(to_signed(x).into())))),
    function("unsigned", 1, 1, Some(SqlType::BigintUnsigned), |a, _| one(a, |x| Ok(Number::Integer(to_unsigned(x).into())))),
    function("real", 1, 1, DOUBLE, |a, _| one(a, |x| Ok(Number::Real(x.real())))),
    function("char_of", 1, 2, TEXT, char_of),
    // Texts.
    function("concat", 1, MANY, TEXT, concat),
    function("concat_ws", 2, MANY, TEXT, concat_ws),
    function("left", 2, 2, TEXT, |a, _| part(a, |text, n| &text[..boundary(text, n)])),
    function("right", 2, 2, TEXT, |a, _| part(a, |text, n| &text[boundary(text, characters(text) - n.min(characters(text)))..])),
    function("substring", 2, 3, TEXT, substring),
    function("substring_index", 3, 3, TEXT, substring_index),
    function("lpad", 3, 3, TEXT, |a, _| pad(a, true)),
    function("rpad", 3, 3, TEXT, |a, _| pad(a, false)),
    function("repeat", 2, 2, TEXT, repeat),
    function("space", 1, 1, TEXT, |a, state| repeat(&[ValueRef::Text(b" "), a[0]], state)),
    function("replace", 3, 3, TEXT, replace),
    function("reverse", 1, 1, TEXT, |a, _| on_text(a, |text| text.chars().rev().collect())),
    function("upper", 1, 1, TEXT, |a, _| on_text(a, |text| text.to_uppercase())),
    function("lower", 1, 1, TEXT, |a, _| on_text(a, |text| text.to_lowercase())),
    function("trim", 1, 2, TEXT, |a, _| trim(a, true, true)),
    function("ltrim", 1, 2, TEXT, |a, _| trim(a, true, false)),
    function("rtrim", 1, 2, TEXT, |a, _| trim(a, false, true)),
    function("hex", 1, 1, TEXT, hex),
    function("quote", 1, 1, TEXT, |a, _| on_text(a, |text| crate::parse::quote(&text))),
    function("length", 1, 1, INTEGER, |a, _| Ok(on(a, 0, |text| integer(text.len())))),
    function("char_length", 1, 1, INTEGER, |a, _| Ok(on(a, 0, |text| integer(characters(&text))))),
    function("ascii", 1, 1, INTEGER, |a, _| Ok(on(a, 0, |text| Value::Integer(text.bytes().next().unwrap_or(0).into())))),
    function("ord", 1, 1, INTEGER, |a, _| Ok(on(a, 0, |text| Value::Integer(ord(&text))))),
    function("bin", 1, 1, TEXT, |a, _| one_text(a, |x| format!("{:b}", to_unsigned(x)))),
    function("oct", 1, 1, TEXT, |a, _| one_text(a, |x| format!("{:o}", to_unsigned(x)))),
    function("regexp_replace", 3, 3, TEXT, regexp_replace),
    function("regexp_substr", 2, 2, TEXT, regexp_substr),
    function("row", 1, MANY, TEXT, row),
    function("left_bytes", 2, 2, TEXT, left_bytes),
    function("charset", 1, 1, TEXT, |_, _| Ok(Value::Text(crate::catalog::CHARACTER_SET.to_owned()))),
    function("collation", 1, 1, TEXT, |_, _| Ok(Value::Text(crate::catalog::COLLATION.to_owned()))),
    function("locate", 2, 3, INTEGER, locate),
    function("instr", 2, 2, INTEGER, |a, state| locate(&[a[1], a[0]], state)),
    function("strcmp", 2, 2, INTEGER, strcmp),
    function("field", 2, MANY, INTEGER, field),
    function("elt", 2, MANY, TEXT, elt),
    function("find_in_set", 2, 2, INTEGER, find_in_set),
    function("format", 2, 3, TEXT, format_number),
    function("format_pico_time", 1, 1, TEXT, |a, _| one_text(a, |x| format_pico_time(to_unsigned(x)).to_string())),
    function("format_time", 1, 1, TEXT, |a, _| one_text(a, |x| format_pico_time(to_unsigned(x)).to_string())),
    function("format_bytes", 1, 1, TEXT, |a, _| one_text(a, |x| format_bytes(x.real()))),
    // Numbers.
    function("abs", 1, 1, None, |a, _| one(a, |x| Ok(map(x, i128::saturating_abs, f64::abs)))),
    function("sign", 1, 1, INTEGER, |a, _| {
        one(a, |x| Ok(Number::Integer(if x.real() == 0.0 { 0 } else { x.real().signum() as i128 })))
    }),
    function("ceiling", 1, 1, None, |a, _| one(a, |x| Ok(whole(x, f64::ceil)))),
    function("floor", 1, 1, None, |a, _| one(a, |x| Ok(whole(x, f64::floor)))),
    function("round", 1, 2, None, |a, _| rounded(a, f64::round)),
    function("truncate", 2, 2, None, |a, _| rounded(a, f64::trunc)),
    function("power", 2, 2, DOUBLE, |a, _| both(a, |x, y| Number::Real(x.real().powf(y.real())))),
    function("sqrt", 1, 1, DOUBLE, |a, _| positive(a, f64::sqrt)),
    function("ln", 1, 1, DOUBLE, |a, _| positive(a, f64::ln)),
    function("log", 1, 2, DOUBLE, log),
    function("exp", 1, 1, DOUBLE, |a, _| one(a, |x| Ok(Number::Real(x.real().exp())))),
    function("sin", 1, 1, DOUBLE, |a, _| one(a, |x| Ok(Number::Real(x.real().sin())))),
    function("cos", 1, 1, DOUBLE, |a, _| one(a, |x| Ok(Number::Real(x.real().cos())))),
    function("tan", 1, 1, DOUBLE, |a, _| one(a, |x| Ok(Number::Real(x.real().tan())))),
    function("degrees", 1, 1, DOUBLE, |a, _| one(a, |x| Ok(Number::Real(x.real().to_degrees())))),
    function("radians", 1, 1, DOUBLE, |a, _| one(a, |x| Ok(Number::Real(x.real().to_radians())))),
    function("bit_count", 1, 1, INTEGER, |a, _| one(a, |x| Ok(Number::Integer(to_unsigned(x).count_ones().into())))),
    function("crc32", 1, 1, INTEGER, |a, _| Ok(on(a, 0, |text| Value::Integer(crc32(text.as_bytes()).into())))),
    function("sleep", 1, 1, INTEGER, sleep),
    function("log10", 1, 1, DOUBLE, |a, _| positive(a, f64::log10)),
    function("log2", 1, 1, DOUBLE, |a, _| positive(a, f64::log2)),
    // Moments.
    function("date_add", 3, 3, TEXT, date_add),
    function("date", 1, 1, TEXT, |a, _| at(a, |moment| Value::Text(moment.date()))),
    function("time", 1, 1, TEXT, |a, _| at(a, |moment| Value::Text(moment.time()))),
    function("date_format", 2, 2, TEXT, |a, _| {
        Ok(on(a, 1, |format| at(&a[..1], |moment| Value::Text(moment.format(&format))).unwrap_or(Value::Null)))
    }),
    function("extract", 2, 2, INTEGER, |a, _| {
        Ok(on(a, 1, |unit| at(&a[..1], |moment| moment.part(&unit).map_or(Value::Null, Value::Integer)).unwrap_or(Value::Null)))
    }),
    function("unix_timestamp", 1, 1, INTEGER, |a, _| at(a, |moment| Value::Integer(moment.unix_seconds()))),
    function("from_unixtime", 1, 2, TEXT, times::from_unixtime),
    function("timestampdiff", 3, 3, INTEGER, times::timestampdiff),
    function("timediff", 2, 2, TEXT, times::timediff),
    function("sec_to_time", 1, 1, TEXT, |a, _| one_text(a, |x| times::time_of(x.real()))),
    function("time_to_sec", 1, 1, INTEGER, times::time_to_sec),
    function("timestamp", 1, 1, TEXT, |a, _| at(a, |moment| Value::Text(moment.with_time().to_string()))),
    function("dayofweek", 1, 1, INTEGER, |a, _| at(a, |moment| Value::Integer((moment.day() + 4).rem_euclid(7) + 1))),
    function("weekday", 1, 1, INTEGER, |a, _| at(a, |moment| Value::Integer((moment.day() + 3).rem_euclid(7)))),
    function("dayofyear", 1, 1, INTEGER, |a, _| at(a, |moment| Value::Integer(moment.format("%j").parse().unwrap_or(0)))),
    function("dayname", 1, 1, TEXT, |a, _| at(a, |moment| Value::Text(moment.format("%W")))),
    function("monthname", 1, 1, TEXT, |a, _| at(a, |moment| Value::Text(moment.format("%M")))),
    function("last_day", 1, 1, TEXT, |a, _| at(a, |moment| Value::Text(moment.last_day()))),
    function("to_days", 1, 1, INTEGER, |a, _| at(a, |moment| Value::Integer(moment.day() + 719_528))),
    function("datediff", 2, 2, INTEGER, datediff),
    // The region's clock, in picoseconds since its start as TIMER_START has it; NULL once the program has ended.
    function("timer_now", 0, 0, Some(SqlType::BigintUnsigned), |_, state| {
        Ok(state.timer_now().map_or(Value::Null, value::unsigned))
    }),
];

/// Other names of the same.
pub(crate) const ALIASES: &[(&str, &str)] = &[
    ("ucase", "upper"),
    ("lcase", "lower"),
    ("substr", "substring"),
    ("mid", "substring"),
    ("octet_length", "length"),
    ("character_length", "char_length"),
    ("ceil", "ceiling"),
    ("pow", "power"),
];

/// SQLite's own that do as MySQL's do.
pub(crate) const BUILT_IN: &[(&str, Option<SqlType>)] = &[
    ("count", INTEGER),
    ("min", None),
    ("max", None),
    ("coalesce", None),
    ("ifnull", None),
    ("group_concat", TEXT),
    ("row_number", INTEGER),
    ("rank", INTEGER),
    ("dense_rank", INTEGER),
    ("percent_rank", DOUBLE),
    ("cume_dist", DOUBLE),
    ("ntile", INTEGER),
    ("lag", None),
    ("lead", None),
    ("first_value", None),
    ("last_value", None),
    ("nth_value", None),
];

/// What makes one value of many rows.
pub(crate) const AGGREGATES: &[&str] = &[
    "count",
    "min",
    "max",
    "sum",
    "avg",
    "group_concat",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "variance",
    "var_pop",
    "var_samp",
];

/// The function of this name.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    let name = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name)).map_or(name, |(_, of)| of);
    FUNCTIONS.iter().find(|function| function.name.eq_ignore_ascii_case(name))
}

/// What a function returns, if that does not depend on its arguments.
pub(crate) fn result(name: &str) -> Option<SqlType> {
    let built_in = BUILT_IN.iter().find(|(built_in, _)| built_in.eq_ignore_ascii_case(name)).and_then(|(_, result)| *result);
    built_in.or_else(|| find(name)?.result)
}

pub(crate) fn register(connection: &Connection, state: &Arc<State>) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
    for function in FUNCTIONS {
        let state = Arc::clone(state);
        let flags = if function.arguments.1 == 0 || function.name == "sleep" {
            flags
        } else {
            flags | FunctionFlags::SQLITE_DETERMINISTIC
        };
        connection.create_scalar_function(format!("{PREFIX}{}", function.name).as_str(), -1, flags, move |context| {
            let arguments: Vec<ValueRef<'_>> = (0..context.len()).map(|index| context.get_raw(index)).collect();
            // SQLite looks at the time every few thousand steps; long texts take long within one step.
            let bytes: usize =
                arguments.iter().map(|argument| if let ValueRef::Text(text) = argument { text.len() } else { 0 }).sum();
            let result = if bytes > 4096 { state.check_time() } else { Ok(()) };
            result.and_then(|()| (function.call)(&arguments, &state)).map_err(|error| state.fail(error))
        })?;
    }
    aggregates::register(connection, state, flags | FunctionFlags::SQLITE_DETERMINISTIC)?;
    connection.create_collation("NOCASE", snapshot::compare)
}

fn integer(number: usize) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

fn bounded(text: String) -> Result<Value, Error> {
    if text.len() > MAX_TEXT { Err(Error::too_long()) } else { Ok(Value::Text(text)) }
}

/// A function of one number; NULL of NULL.
fn one(arguments: Arguments<'_>, f: impl Fn(Number) -> Result<Number, Error>) -> Result<Value, Error> {
    Number::of(arguments[0]).map_or(Ok(Value::Null), |number| f(number)?.store())
}

pub(crate) fn one_text(arguments: Arguments<'_>, f: impl Fn(Number) -> String) -> Result<Value, Error> {
    Ok(Number::of(arguments[0]).map_or(Value::Null, |number| Value::Text(f(number))))
}

pub(crate) fn both(arguments: Arguments<'_>, f: impl Fn(Number, Number) -> Number) -> Result<Value, Error> {
    match (Number::of(arguments[0]), Number::of(arguments[1])) {
        (Some(a), Some(b)) => f(a, b).store(),
        _ => Ok(Value::Null),
    }
}

fn arithmetic(
    arguments: Arguments<'_>,
    integers: fn(i128, i128) -> Option<i128>,
    reals: fn(f64, f64) -> f64,
) -> Result<Value, Error> {
    match (Number::of(arguments[0]), Number::of(arguments[1])) {
        (Some(Number::Integer(a)), Some(Number::Integer(b))) => {
            Number::Integer(integers(a, b).ok_or_else(|| Error::out_of_range("BIGINT UNSIGNED"))?).store()
        }
        (Some(a), Some(b)) => Number::Real(reals(a.real(), b.real())).store(),
        _ => Ok(Value::Null),
    }
}

/// Division of any kind: by zero it is NULL.
fn divide(arguments: Arguments<'_>, f: impl Fn(Number, Number) -> Number) -> Result<Value, Error> {
    if Number::of(arguments[1]).is_some_and(|divisor| divisor.real() == 0.0) {
        return Ok(Value::Null);
    }
    both(arguments, f)
}

fn integer_division(a: Number, b: Number) -> Number {
    match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => Number::Integer(a.checked_div(b).unwrap_or(0)),
        (a, b) => Number::Integer((a.real() / b.real()).trunc() as i128),
    }
}

fn remainder(a: Number, b: Number) -> Number {
    match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => Number::Integer(a.checked_rem(b).unwrap_or(0)),
        (a, b) => Number::Real(a.real() % b.real()),
    }
}

fn to_unsigned(number: Number) -> u64 {
    let whole = number.whole();
    // A negative number wraps round, as MySQL's CAST does.
    u64::try_from(whole).unwrap_or(if whole < 0 { whole as u64 } else { u64::MAX })
}

fn to_signed(number: Number) -> i64 {
    match number {
        // One that only fits unsigned wraps round, as in MySQL.
        Number::Integer(whole) => i64::try_from(whole).or(u64::try_from(whole).map(|whole| whole as i64)),
        Number::Real(_) => i64::try_from(number.whole()),
    }
    .unwrap_or(if number.real() < 0.0 { i64::MIN } else { i64::MAX })
}

fn bits(a: Number, b: Number, f: impl Fn(u64, u64) -> u64) -> Number {
    Number::Integer(f(to_unsigned(a), to_unsigned(b)).into())
}

fn map(number: Number, integer: fn(i128) -> i128, real: fn(f64) -> f64) -> Number {
    match number {
        Number::Integer(number) => Number::Integer(integer(number)),
        Number::Real(number) => Number::Real(real(number)),
    }
}

/// Rounded to a whole number, which stays one.
fn whole(number: Number, round: fn(f64) -> f64) -> Number {
    match number {
        Number::Real(number) if round(number).abs() < 1e18 => Number::Integer(round(number) as i128),
        other => map(other, |number| number, round),
    }
}

fn rounded(arguments: Arguments<'_>, round: fn(f64) -> f64) -> Result<Value, Error> {
    let places = match arguments.get(1) {
        None => 0,
        Some(places) => match Number::of(*places) {
            None => return Ok(Value::Null),
            Some(places) => places.whole().clamp(-30, 30) as i32,
        },
    };
    one(arguments, |number| match number {
        Number::Integer(_) if places >= 0 => Ok(number),
        Number::Integer(number) => {
            let unit = 10_i128.pow(places.unsigned_abs());
            let rounded = round(number as f64 / unit as f64);
            // Beyond what there are whole numbers for, near enough.
            Ok((rounded as i128).checked_mul(unit).map_or(Number::Real(rounded * unit as f64), Number::Integer))
        }
        Number::Real(number) if places == 0 => Ok(whole(Number::Real(number), round)),
        Number::Real(number) => Ok(Number::Real(round(number * 10_f64.powi(places)) / 10_f64.powi(places))),
    })
}

fn positive(arguments: Arguments<'_>, f: fn(f64) -> f64) -> Result<Value, Error> {
    one(arguments, |number| Ok(Number::Real(f(number.real())))).or(Ok(Value::Null))
}

/// Of one number to the base e, or of the second to the base of the first.
fn log(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    match arguments {
        [number] => positive(&[*number], f64::ln),
        _ => both(arguments, |base, number| Number::Real(number.real().log(base.real()))).or(Ok(Value::Null)),
    }
}

/// CRC-32 as in Ethernet and zip.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 })
    };
    !bytes.iter().fold(u32::MAX, step)
}

/// The bytes of the first character as one number.
fn ord(text: &str) -> i64 {
    let first = text.chars().next().map_or(0, char::len_utf8);
    text.bytes().take(first).fold(0, |number, byte| number << 8 | i64::from(byte))
}

/// Waits, and is woken by what stops the statement.
fn sleep(arguments: Arguments<'_>, state: &State) -> Result<Value, Error> {
    let seconds = Number::of(arguments[0]).map(Number::real).filter(|seconds| *seconds >= 0.0);
    let seconds = seconds.ok_or_else(|| Error::new(1210, "HY000", "Incorrect arguments to sleep."))?;
    let (start, wanted) = (Instant::now(), Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    while let Some(left) = wanted.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) {
        std::thread::sleep(left.min(Duration::from_millis(20)));
        state.check_time()?;
    }
    Ok(Value::Integer(0))
}

/// Several values as one that no others make; NULL if one is.
fn row(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let texts: Option<Vec<String>> =
        arguments.iter().map(|value| value::text(*value).map(|text| format!("{}:{text}", text.len()))).collect();
    texts.map_or(Ok(Value::Null), |texts| bounded(texts.concat()))
}

/// As many whole characters as fit into so many bytes.
fn left_bytes(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let most = Number::of(arguments[1]).and_then(|most| usize::try_from(most.whole()).ok()).unwrap_or(usize::MAX);
    on_text(arguments, |text| {
        let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text[..end].to_owned()
    })
}

/// A function of one text; NULL of NULL.
fn on(arguments: Arguments<'_>, index: usize, f: impl FnOnce(String) -> Value) -> Value {
    value::text(arguments[index]).map_or(Value::Null, f)
}

fn on_text(arguments: Arguments<'_>, f: impl FnOnce(String) -> String) -> Result<Value, Error> {
    value::text(arguments[0]).map_or(Ok(Value::Null), |text| bounded(f(text)))
}

fn characters(text: &str) -> usize {
    text.chars().count()
}

/// Where the character of this number begins.
fn boundary(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(index, _)| index)
}

/// Whether letter case counts, text, pattern and escape.
fn like(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let is_binary = matches!(arguments[0], ValueRef::Integer(1));
    let (Some(text), Some(pattern)) = (value::text(arguments[1]), value::text(arguments[2])) else { return Ok(Value::Null) };
    if text.len().saturating_mul(pattern.len()) > MAX_MATCH {
        return Err(Error::too_long());
    }
    let escape = arguments.get(3).map_or(Some("\\".to_owned()), |escape| value::text(*escape));
    let pattern = match escape.as_deref() {
        Some("\\") => pattern,
        // The matcher knows one escape; any other, or none, is put in its words.
        other => {
            let escape = other.and_then(|other| other.chars().next());
            let mut translated = String::with_capacity(pattern.len());
            let mut chars = pattern.chars();
            while let Some(c) = chars.next() {
                let (c, escaped) = if Some(c) == escape { (chars.next().unwrap_or(c), true) } else { (c, false) };
                if escaped || c == '\\' {
                    translated.push('\\');
                }
                translated.push(c);
            }
            translated
        }
    };
    if is_binary {
        return Ok(Value::Integer(LikePattern::new(&pattern).binary().matches(&text).into()));
    }
    // The matcher folds ASCII, which is nearly all there is.
    let matches = if text.is_ascii() && pattern.is_ascii() {
        LikePattern::new(&pattern).matches(&text)
    } else {
        LikePattern::new(&snapshot::fold(&pattern)).matches(&snapshot::fold(&text))
    };
    Ok(Value::Integer(matches.into()))
}

fn regexp(arguments: Arguments<'_>, state: &State) -> Result<Value, Error> {
    let (Some(text), Some(pattern)) = (value::text(arguments[0]), value::text(arguments[1])) else { return Ok(Value::Null) };
    let flags = arguments.get(2).and_then(|flags| value::text(*flags)).unwrap_or_default();
    let regex = state.regex(&pattern, !flags.contains('c'))?;
    // Time is proportional to the size of the compiled pattern, which is bounded, and to the text.
    if text.len() > MAX_TEXT / 16 {
        return Err(Error::too_long());
    }
    Ok(Value::Integer(regex.is_match(&text).into()))
}

fn regexp_substr(arguments: Arguments<'_>, state: &State) -> Result<Value, Error> {
    let (Some(text), Some(pattern)) = (value::text(arguments[0]), value::text(arguments[1])) else { return Ok(Value::Null) };
    if text.len() > MAX_TEXT / 16 {
        return Err(Error::too_long());
    }
    let found = state.regex(&pattern, true)?.find(&text).map(|found| found.as_str().to_owned());
    Ok(found.map_or(Value::Null, Value::Text))
}

fn regexp_replace(arguments: Arguments<'_>, state: &State) -> Result<Value, Error> {
    let (Some(text), Some(pattern), Some(by)) = (value::text(arguments[0]), value::text(arguments[1]), value::text(arguments[2]))
    else {
        return Ok(Value::Null);
    };
    let regex = state.regex(&pattern, true)?;
    // Every place may be one, and each group of the pattern may be written many times.
    if text.len() > MAX_TEXT / 16 || (text.len() + 1).saturating_mul(by.len() + 1) > MAX_TEXT {
        return Err(Error::too_long());
    }
    bounded(regex.replace_all(&text, by.as_str()).into_owned())
}

fn char_of(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let length =
        arguments.get(1).and_then(|length| Number::of(*length)).map(|length| usize::try_from(length.whole()).unwrap_or(0));
    on_text(arguments, |text| text[..length.map_or(text.len(), |length| boundary(&text, length))].to_owned())
}

fn concat(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let texts: Option<Vec<String>> = arguments.iter().map(|argument| value::text(*argument)).collect();
    texts.map_or(Ok(Value::Null), |texts| bounded(texts.concat()))
}

fn concat_ws(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some(separator) = value::text(arguments[0]) else { return Ok(Value::Null) };
    let texts: Vec<String> = arguments[1..].iter().filter_map(|argument| value::text(*argument)).collect();
    bounded(texts.join(&separator))
}

fn part(arguments: Arguments<'_>, f: impl Fn(&str, usize) -> &str) -> Result<Value, Error> {
    match (value::text(arguments[0]), Number::of(arguments[1])) {
        (Some(text), Some(number)) => {
            Ok(Value::Text(f(&text, usize::try_from(number.whole().max(0)).unwrap_or(usize::MAX)).to_owned()))
        }
        _ => Ok(Value::Null),
    }
}

fn substring(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let (Some(text), Some(position)) = (value::text(arguments[0]), Number::of(arguments[1])) else { return Ok(Value::Null) };
    let length = match arguments.get(2).map(|length| Number::of(*length)) {
        Some(None) => return Ok(Value::Null),
        Some(Some(length)) => usize::try_from(length.whole().max(0)).unwrap_or(usize::MAX),
        None => usize::MAX,
    };
    let count = characters(&text) as i128;
    let position = position.whole();
    // From 1; a negative one counts from the end; 0 is nowhere.
    let start = if position < 0 { count + position } else { position - 1 };
    if position == 0 || start < 0 || start >= count {
        return Ok(Value::Text(String::new()));
    }
    let from = boundary(&text, start as usize);
    let to = from + boundary(&text[from..], length);
    Ok(Value::Text(text[from..to].to_owned()))
}

fn substring_index(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let (Some(text), Some(delimiter), Some(count)) =
        (value::text(arguments[0]), value::text(arguments[1]), Number::of(arguments[2]))
    else {
        return Ok(Value::Null);
    };
    let count = count.whole();
    if delimiter.is_empty() || count == 0 {
        return Ok(Value::Text(String::new()));
    }
    let nth = usize::try_from(count.unsigned_abs() - 1).unwrap_or(usize::MAX);
    let part = if count > 0 {
        text.match_indices(&delimiter).nth(nth).map_or(text.as_str(), |(index, _)| &text[..index])
    } else {
        text.rmatch_indices(&delimiter).nth(nth).map_or(text.as_str(), |(index, found)| &text[index + found.len()..])
    };
    Ok(Value::Text(part.to_owned()))
}

fn pad(arguments: Arguments<'_>, left: bool) -> Result<Value, Error> {
    let (Some(text), Some(length), Some(fill)) = (value::text(arguments[0]), Number::of(arguments[1]), value::text(arguments[2]))
    else {
        return Ok(Value::Null);
    };
    let Ok(length) = usize::try_from(length.whole()) else { return Ok(Value::Null) };
    let count = characters(&text);
    if length <= count {
        return Ok(Value::Text(text[..boundary(&text, length)].to_owned()));
    }
    if length > MAX_TEXT {
        return Err(Error::too_long());
    }
    if fill.is_empty() {
        return Ok(Value::Text(String::new()));
    }
    let filling: String = fill.chars().cycle().take(length - count).collect();
    bounded(if left { filling + &text } else { text + &filling })
}

fn repeat(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let (Some(text), Some(count)) = (value::text(arguments[0]), Number::of(arguments[1])) else { return Ok(Value::Null) };
    let count = usize::try_from(count.whole().max(0)).unwrap_or(usize::MAX);
    if text.len().saturating_mul(count) > MAX_TEXT {
        return Err(Error::too_long());
    }
    Ok(Value::Text(text.repeat(count)))
}

fn replace(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    match (value::text(arguments[0]), value::text(arguments[1]), value::text(arguments[2])) {
        (Some(text), Some(from), Some(_)) if from.is_empty() => Ok(Value::Text(text)),
        (Some(text), Some(from), Some(to)) => {
            let found = text.matches(&from).count();
            if found.saturating_mul(to.len()) > MAX_TEXT {
                return Err(Error::too_long());
            }
            bounded(text.replace(&from, &to))
        }
        _ => Ok(Value::Null),
    }
}

fn trim(arguments: Arguments<'_>, start: bool, end: bool) -> Result<Value, Error> {
    let what = match arguments.get(1) {
        None => " ".to_owned(),
        Some(what) => match value::text(*what) {
            None => return Ok(Value::Null),
            Some(what) => what,
        },
    };
    on_text(arguments, |text| {
        let mut rest = text.as_str();
        while start && !what.is_empty() && rest.starts_with(&what) {
            rest = &rest[what.len()..];
        }
        while end && !what.is_empty() && rest.ends_with(&what) {
            rest = &rest[..rest.len() - what.len()];
        }
        rest.to_owned()
    })
}

fn hex(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    match arguments[0] {
        ValueRef::Text(_) => on_text(arguments, |text| text.bytes().map(|byte| format!("{byte:02X}")).collect()),
        _ => one_text(arguments, |number| format!("{:X}", to_unsigned(number))),
    }
}

fn locate(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let (Some(what), Some(text)) = (value::text(arguments[0]), value::text(arguments[1])) else { return Ok(Value::Null) };
    let from = arguments.get(2).and_then(|from| Number::of(*from)).map_or(1, Number::whole);
    let Some(skip) = from.checked_sub(1).and_then(|skip| usize::try_from(skip).ok()).filter(|skip| *skip <= characters(&text))
    else {
        return Ok(Value::Integer(0));
    };
    let (what, text) = (snapshot::fold(&what), snapshot::fold(&text));
    let start = boundary(&text, skip);
    let found = text[start..].find(&what).map(|index| characters(&text[..start + index]) + 1);
    Ok(integer(found.unwrap_or(0)))
}

fn strcmp(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    match (value::text(arguments[0]), value::text(arguments[1])) {
        (Some(a), Some(b)) => Ok(Value::Integer(snapshot::compare(&a, &b) as i64)),
        _ => Ok(Value::Null),
    }
}

fn field(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some(what) = value::text(arguments[0]).map(|what| snapshot::fold(&what)) else { return Ok(Value::Integer(0)) };
    let found = arguments[1..].iter().position(|other| value::text(*other).is_some_and(|other| snapshot::fold(&other) == what));
    Ok(integer(found.map_or(0, |index| index + 1)))
}

fn elt(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let index = Number::of(arguments[0]).and_then(|number| usize::try_from(number.whole()).ok()).filter(|index| *index > 0);
    let found = index.and_then(|index| arguments.get(index)).and_then(|found| value::text(*found));
    Ok(found.map_or(Value::Null, Value::Text))
}

fn find_in_set(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    match (value::text(arguments[0]), value::text(arguments[1])) {
        (Some(what), Some(list)) => {
            let what = snapshot::fold(&what);
            let found = snapshot::fold(&list).split(',').position(|entry| entry == what);
            Ok(integer(found.filter(|_| !list.is_empty()).map_or(0, |index| index + 1)))
        }
        _ => Ok(Value::Null),
    }
}

fn format_number(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let (Some(number), Some(places)) = (Number::of(arguments[0]), Number::of(arguments[1])) else { return Ok(Value::Null) };
    let places = usize::try_from(places.whole().clamp(0, 30)).unwrap_or(0);
    let text = match number {
        Number::Integer(number) if places == 0 => number.to_string(),
        Number::Integer(number) => format!("{number}.{}", "0".repeat(places)),
        Number::Real(number) => format!("{number:.places$}"),
    };
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
    let (whole, fraction) = digits.find('.').map_or((digits, ""), |point| digits.split_at(point));
    let mut grouped = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    Ok(Value::Text(grouped + fraction))
}

/// As MySQL's FORMAT_BYTES.
fn format_bytes(bytes: f64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    match (1..=units.len()).rev().find(|power| bytes.abs() >= 1024_f64.powi(*power as i32)) {
        Some(power) => format!("{:.2} {}", bytes / 1024_f64.powi(power as i32), units[power - 1]),
        None => format!("{bytes:>4.0} bytes"),
    }
}

/// A function of a moment; NULL of what is none.
pub(crate) fn at(arguments: Arguments<'_>, f: impl Fn(moment::Moment) -> Value) -> Result<Value, Error> {
    Ok(value::text(arguments[0]).and_then(|text| moment::Moment::parse(&text)).map_or(Value::Null, f))
}

fn date_add(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let (Some(number), Some(unit)) = (Number::of(arguments[1]), value::text(arguments[2])) else { return Ok(Value::Null) };
    at(arguments, |moment| moment.add(number.real(), &unit).map_or(Value::Null, |moment| Value::Text(moment.to_string())))
}

fn datediff(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let day =
        |index: usize| value::text(arguments[index]).and_then(|text| moment::Moment::parse(&text)).map(|moment| moment.day());
    Ok(day(0).zip(day(1)).map_or(Value::Null, |(a, b)| Value::Integer(a - b)))
}
