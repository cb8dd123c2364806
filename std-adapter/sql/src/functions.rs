//! MySQL's functions, as SQLite is taught them. Each is registered under its name with [`PREFIX`], so that none of SQLite's own, which
//! behave otherwise, is meant by accident; [`crate::dialect`] writes the prefixed names, and lets through no function that is not here.

use crate::decimal::Decimal;
use crate::numbers::{
    Generator, arithmetic, bits, both, comparable, decimal, digits_of, integer, integer_division, log, map, on_decimal, one,
    one_text, positive, quotient, remainder, rounded, shifted, to_signed, to_unsigned, whole, with_scale,
};
use crate::state::State;
use crate::value::{self, Number};
use crate::{Error, aggregates, compare, documents, encodings, numbers, order, recursion, snapshot, sys, texts, times};
use perfschema::core::digest::{self, digest_text};
use perfschema::core::picotime::{Amount, format_pico_real};
use perfschema::core::table::SqlType;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};
use sha1::Digest;
use std::cmp::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) const PREFIX: &str = "my_";
/// The longest text that a function makes.
pub(crate) const MAX_TEXT: usize = 1 << 20;

pub(crate) type Arguments<'a> = &'a [ValueRef<'a>];
type Call = fn(Arguments<'_>, &State) -> Result<Value, Error>;

/// A function.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// Number of arguments, least and most.
    pub(crate) arguments: (usize, usize),
    /// What it returns; None: what its arguments are.
    pub(crate) result: Option<SqlType>,
    /// Whether it stands for what MySQL has no function for: the dialect alone calls it.
    pub(crate) is_internal: bool,
    /// If it is one of `sys`: its parameters, and what it returns.
    pub(crate) sys: Option<(&'static [Parameter], &'static str)>,
    call: Call,
}

/// A parameter's name and type, as MySQL's `sys` has them.
pub(crate) type Parameter = (&'static str, &'static str);

/// Those whose arguments are numbers, whatever is written there.
const OF_NUMBERS: &[&str] = &[
    "abs",
    "sign",
    "ceiling",
    "floor",
    "round",
    "truncate",
    "mod",
    "power",
    "sqrt",
    "ln",
    "log",
    "log2",
    "log10",
    "exp",
    "bit_count",
];

/// Those of which some arguments are numbers, from 0.
const WITH_NUMBERS: &[(&str, &[usize])] = &[
    ("left", &[1]),
    ("right", &[1]),
    ("substring", &[1, 2]),
    ("substring_index", &[2]),
    ("lpad", &[1]),
    ("rpad", &[1]),
    ("repeat", &[1]),
    ("space", &[0]),
    ("insert", &[1, 2]),
    ("locate", &[2]),
    ("elt", &[0]),
    ("regexp_substr", &[2, 3]),
    ("regexp_replace", &[3, 4]),
    ("make_set", &[0]),
    ("format", &[0, 1]),
];

/// Those whose result is not made of their arguments alone, or that do more than to return one.
const OF_THE_MOMENT: &[&str] = &["assign", "rand", "sleep", SLEEP_ALONE, "user_variable"];

/// Whether a function gives another value for each row whatever its arguments are.
pub(crate) fn varies(name: &str) -> bool {
    OF_THE_MOMENT.iter().any(|known| *known != "user_variable" && known.eq_ignore_ascii_case(name))
}

/// SLEEP where a query does nothing else.
pub(crate) const SLEEP_ALONE: &str = "sleep_alone";

impl Function {
    /// Whether its argument of this number, from 0, is a number, whatever is written there.
    pub(crate) fn takes_number(&self, place: usize) -> bool {
        OF_NUMBERS.contains(&self.name) || WITH_NUMBERS.iter().any(|(name, places)| *name == self.name && places.contains(&place))
    }

    /// No client can call it.
    const fn internal(self) -> Function {
        Function { is_internal: true, ..self }
    }

    /// It is listed among the functions of `sys`.
    const fn of_sys(self, parameters: &'static [Parameter], returns: &'static str) -> Function {
        Function { sys: Some((parameters, returns)), ..self }
    }
}

const TEXT: Option<SqlType> = Some(SqlType::Longtext);
const INTEGER: Option<SqlType> = Some(SqlType::Bigint);
const UNSIGNED: Option<SqlType> = Some(SqlType::BigintUnsigned);
const DATE: Option<SqlType> = Some(SqlType::Date);
const DOUBLE: Option<SqlType> = Some(SqlType::Double);
pub(crate) const MANY: usize = 100;

const fn function(name: &'static str, least: usize, most: usize, result: Option<SqlType>, call: Call) -> Function {
    Function { name, arguments: (least, most), result, is_internal: false, sys: None, call }
}

/// All that take their arguments one by one.
pub(crate) const FUNCTIONS: &[Function] = &[
    // What the dialect writes for operators.
    function("add", 2, 2, None, |a, _| arithmetic(a, i128::checked_add, Decimal::add, |x, y| x + y)).internal(),
    function("subtract", 2, 2, None, |a, _| arithmetic(a, i128::checked_sub, Decimal::subtract, |x, y| x - y)).internal(),
    function("multiply", 2, 2, None, |a, _| arithmetic(a, i128::checked_mul, Decimal::multiply, |x, y| x * y)).internal(),
    function("divide", 2, 2, None, |a, _| quotient(a, Decimal::divide, |x, y| Number::Real(x.real() / y.real()))).internal(),
    function("div", 2, 2, INTEGER, |a, _| quotient(a, |x, y| Some(Ok(x.divide_whole(y)?)), integer_division)).internal(),
    function("mod", 2, 2, None, |a, _| quotient(a, Decimal::remainder, remainder)),
    function("negate", 1, 1, None, |a, _| {
        arithmetic(&[ValueRef::Integer(0), a[0]], i128::checked_sub, Decimal::subtract, |x, y| x - y)
    })
    .internal(),
    function("xor", 2, 2, INTEGER, |a, _| both(a, |x, y| Number::Integer(((x.real() != 0.0) != (y.real() != 0.0)).into())))
        .internal(),
    function("bitwise_xor", 2, 2, INTEGER, |a, _| bits(a, |x, y| x ^ y)).internal(),
    function("bitwise_and", 2, 2, INTEGER, |a, _| bits(a, |x, y| x & y)).internal(),
    function("bitwise_or", 2, 2, INTEGER, |a, _| bits(a, |x, y| x | y)).internal(),
    function("shift_left", 2, 2, INTEGER, |a, _| bits(a, |x, y| shifted(y, |y| x.checked_shl(y)))).internal(),
    function("shift_right", 2, 2, INTEGER, |a, _| bits(a, |x, y| shifted(y, |y| x.checked_shr(y)))).internal(),
    function("compare", 3, 3, INTEGER, |a, _| Ok(compare::compare(a))).internal(),
    function("same", 3, 3, INTEGER, |a, _| Ok(compare::same(a))).internal(),
    function("one_of", 3, MANY, INTEGER, |a, _| Ok(compare::one_of(a))).internal(),
    function("between", 4, 4, INTEGER, |a, _| Ok(compare::between(a))).internal(),
    function("which", 3, MANY, INTEGER, |a, _| Ok(compare::which(a))).internal(),
    function("nullif", 3, 3, None, |a, _| Ok(compare::nullif(a))),
    function("greatest", 3, MANY, None, |a, _| Ok(compare::extreme(a, Ordering::Greater))),
    function("least", 3, MANY, None, |a, _| Ok(compare::extreme(a, Ordering::Less))),
    function("like", 3, 4, INTEGER, texts::like).internal(),
    function("deeper", 2, 2, TEXT, recursion::deeper).internal(),
    function("number_key", 1, 1, None, order::number_key).internal(),
    function("number_of_key", 1, 1, None, order::number_of_key).internal(),
    function("regexp_like", 2, 3, INTEGER, texts::regexp),
    // CAST and CONVERT.
    function("number", 1, 1, DOUBLE, |a, _| one(a, |x| Ok(comparable(x)))).internal(),
    function("exact", 1, 1, None, |a, _| one(a, |x| Ok(x.decimal_or(|x| Number::Decimal(x.normal()))))).internal(),
    function("decimal", 4, 4, None, decimal).internal(),
    function("with_scale", 2, 2, None, with_scale).internal(),
    function("shown", 1, 1, None, |a, _| Ok(on_decimal(a[0], |x| x.shown()))).internal(),
    function("truth", 1, 1, INTEGER, |a, _| one(a, |x| Ok(Number::Integer((!x.is_zero()).into())))).internal(),
    function("signed", 1, 1, INTEGER, |a, _| integer(a, |x| to_signed(x).into())).internal(),
    function("unsigned", 1, 1, UNSIGNED, |a, _| integer(a, |x| to_unsigned(x).into())).internal(),
    function("real", 1, 1, DOUBLE, |a, _| one(a, |x| Ok(Number::Real(x.real())))).internal(),
    function("char_of", 1, 2, TEXT, texts::char_of).internal(),
    // Texts.
    function("concat", 1, MANY, TEXT, texts::concat),
    function("concat_ws", 2, MANY, TEXT, texts::concat_ws),
    function("left", 2, 2, TEXT, |a, _| texts::part(a, |text, n| &text[..texts::boundary(text, n)])),
    function("right", 2, 2, TEXT, |a, _| {
        texts::part(a, |text, n| &text[texts::boundary(text, texts::characters(text) - n.min(texts::characters(text)))..])
    }),
    function("substring", 2, 3, TEXT, texts::substring),
    function("substring_index", 3, 3, TEXT, texts::substring_index),
    function("lpad", 3, 3, TEXT, |a, _| texts::pad(a, true)),
    function("rpad", 3, 3, TEXT, |a, _| texts::pad(a, false)),
    function("repeat", 2, 2, TEXT, texts::repeat),
    function("space", 1, 1, TEXT, |a, state| texts::repeat(&[ValueRef::Text(b" "), a[0]], state)),
    function("replace", 3, 3, TEXT, texts::replace),
    function("reverse", 1, 1, TEXT, |a, _| texts::on_text(a, |text| text.chars().rev().collect())),
    function("upper", 1, 1, TEXT, |a, _| texts::on_text(a, |text| texts::upper(&text))),
    function("lower", 1, 1, TEXT, |a, _| texts::on_text(a, |text| texts::lower(&text))),
    function("trim", 1, 2, TEXT, |a, _| texts::trim(a, true, true)),
    function("ltrim", 1, 2, TEXT, |a, _| texts::trim(a, true, false)),
    function("rtrim", 1, 2, TEXT, |a, _| texts::trim(a, false, true)),
    function("hex", 1, 1, TEXT, texts::hex),
    function("quote", 1, 1, TEXT, texts::quote),
    function("length", 1, 1, INTEGER, |a, _| Ok(texts::on(a, 0, |text| texts::integer(text.len())))),
    function("bit_length", 1, 1, INTEGER, |a, _| Ok(texts::on(a, 0, |text| texts::integer(8 * text.len())))),
    function("char_length", 1, 1, INTEGER, |a, _| Ok(texts::on(a, 0, |text| texts::integer(texts::characters(&text))))),
    function("ascii", 1, 1, INTEGER, |a, _| Ok(texts::on(a, 0, |text| Value::Integer(text.bytes().next().unwrap_or(0).into())))),
    function("ord", 1, 1, INTEGER, |a, _| Ok(texts::on(a, 0, |text| Value::Integer(texts::ord(&text))))),
    function("bin", 1, 1, TEXT, |a, _| digits_of(a, |x| format!("{:b}", to_unsigned(x)))),
    function("oct", 1, 1, TEXT, |a, _| digits_of(a, |x| format!("{:o}", to_unsigned(x)))),
    function("regexp_replace", 3, 6, TEXT, texts::regexp_replace),
    function("regexp_substr", 2, 5, TEXT, texts::regexp_substr),
    function("row", 1, MANY, TEXT, texts::row).internal(),
    function("left_bytes", 2, 2, TEXT, texts::left_bytes).internal(),
    function("charset", 1, 1, TEXT, |_, _| Ok(Value::Text(crate::catalog::CHARACTER_SET.to_owned()))),
    function("collation", 1, 1, TEXT, |_, _| Ok(Value::Text(crate::catalog::COLLATION.to_owned()))),
    function("make_set", 2, MANY, TEXT, texts::make_set),
    function("export_set", 3, 5, TEXT, texts::export_set),
    function("insert", 4, 4, TEXT, texts::insert),
    function("unhex", 1, 1, TEXT, texts::unhex),
    function("conv", 3, 3, TEXT, texts::conv),
    function("md5", 1, 1, TEXT, |a, _| Ok(texts::on(a, 0, |text| Value::Text(texts::digits(&md5::Md5::digest(text)))))),
    function("sha1", 1, 1, TEXT, |a, _| Ok(texts::on(a, 0, |text| Value::Text(texts::digits(&sha1::Sha1::digest(text)))))),
    function("sha2", 2, 2, TEXT, texts::sha2),
    function("to_base64", 1, 1, TEXT, encodings::to_base64),
    function("from_base64", 1, 1, TEXT, encodings::from_base64),
    function("inet_aton", 1, 1, UNSIGNED, encodings::inet_aton),
    function("inet_ntoa", 1, 1, TEXT, encodings::inet_ntoa),
    function("char", 1, MANY, TEXT, encodings::char),
    function("uuid_short", 0, 0, UNSIGNED, |_, state| Ok(value::unsigned(state.uuid_short()))),
    function("uuid", 0, 0, TEXT, |_, state| Ok(Value::Text(state.uuid()))),
    function("locate", 2, 3, INTEGER, texts::locate),
    function("instr", 2, 2, INTEGER, |a, state| texts::locate(&[a[1], a[0]], state)),
    function("strcmp", 2, 2, INTEGER, texts::strcmp),
    function("field", 3, MANY, INTEGER, texts::field),
    function("elt", 2, MANY, TEXT, texts::elt),
    function("find_in_set", 2, 2, INTEGER, texts::find_in_set),
    function("format", 2, 3, TEXT, texts::format_number),
    function("format_pico_time", 1, 1, TEXT, |a, _| one_text(a, |x| format_pico_real(x.real()).to_string())),
    function("format_bytes", 1, 1, TEXT, |a, _| one_text(a, |x| format_bytes(x.real()))).of_sys(&[("bytes", "text")], "text"),
    // Documents.
    function("json_of", 1, 2, TEXT, documents::json_of).internal(),
    function("json_kept", 1, 1, TEXT, documents::json_kept).internal(),
    function("json_order", 1, 1, None, documents::json_order).internal(),
    function("json_array", 0, MANY, TEXT, documents::json_array),
    function("json_object", 0, MANY, TEXT, documents::json_object),
    function("json_extract", 2, MANY, TEXT, documents::json_extract),
    function("json_unquote", 1, 1, TEXT, documents::json_unquote),
    function("json_quote", 1, 1, TEXT, documents::json_quote),
    function("json_valid", 1, 1, INTEGER, documents::json_valid),
    function("json_type", 1, 1, TEXT, documents::json_type),
    function("json_length", 1, 2, INTEGER, documents::json_length),
    function("json_depth", 1, 1, INTEGER, documents::json_depth),
    function("json_value", 2, 2, TEXT, documents::json_value),
    function("json_keys", 1, 2, TEXT, documents::json_keys),
    function("json_contains", 2, 3, INTEGER, documents::json_contains),
    function("json_contains_path", 3, MANY, INTEGER, documents::json_contains_path),
    function("json_pretty", 1, 1, TEXT, documents::json_pretty),
    function("cast_as_json", 1, 1, TEXT, documents::cast_as_json).internal(),
    // Numbers.
    function("abs", 1, 1, None, |a, _| one(a, |x| Ok(map(x, i128::saturating_abs, Decimal::abs, f64::abs)))),
    function("sign", 1, 1, INTEGER, |a, _| {
        one(a, |x| Ok(Number::Integer(if x.real() == 0.0 { 0 } else { x.real().signum() as i128 })))
    }),
    function("ceiling", 1, 1, None, |a, _| one(a, |x| Ok(whole(x, |x| x.to_whole(true), f64::ceil)))),
    function("floor", 1, 1, None, |a, _| one(a, |x| Ok(whole(x, |x| x.to_whole(false), f64::floor)))),
    // As C's rint has it, a half goes to what is even; of an exact number it goes away from zero.
    function("round", 1, 2, None, |a, _| rounded(a, true, f64::round_ties_even)),
    function("truncate", 2, 2, None, |a, _| rounded(a, false, f64::trunc)),
    function("power", 2, 2, DOUBLE, |a, _| both(a, |x, y| Number::Real(x.real().powf(y.real())))),
    function("sqrt", 1, 1, DOUBLE, |a, _| positive(a, f64::sqrt)),
    function("ln", 1, 1, DOUBLE, |a, _| positive(a, f64::ln)),
    function("log", 1, 2, DOUBLE, log),
    function("exp", 1, 1, DOUBLE, |a, _| one(a, |x| Ok(Number::Real(x.real().exp())))),
    function("sin", 1, 1, DOUBLE, |a, _| one(a, |x| Ok(Number::Real(x.real().sin())))),
    function("cos", 1, 1, DOUBLE, |a, _| one(a, |x| Ok(Number::Real(x.real().cos())))),
    function("tan", 1, 1, DOUBLE, |a, _| one(a, |x| Ok(Number::Real(x.real().tan())))),
    function("cot", 1, 1, DOUBLE, |a, _| one(a, |x| Ok(Number::Real(x.real().tan().recip())))),
    function("asin", 1, 1, DOUBLE, |a, _| positive(a, f64::asin)),
    function("acos", 1, 1, DOUBLE, |a, _| positive(a, f64::acos)),
    function("atan", 1, 2, DOUBLE, |a, _| match a {
        [_] => one(a, |x| Ok(Number::Real(x.real().atan()))),
        _ => both(a, |y, x| Number::Real(y.real().atan2(x.real()))),
    }),
    function("degrees", 1, 1, DOUBLE, |a, _| one(a, |x| Ok(Number::Real(x.real().to_degrees())))),
    function("radians", 1, 1, DOUBLE, |a, _| one(a, |x| Ok(Number::Real(x.real().to_radians())))),
    function("bit_count", 1, 1, INTEGER, |a, _| one(a, |x| Ok(Number::Integer(to_unsigned(x).count_ones().into())))),
    // Which of the numbers, that are sorted, is the last that is not larger.
    function("interval", 2, MANY, INTEGER, |a, _| Ok(numbers::interval(a))),
    function("crc32", 1, 1, UNSIGNED, |a, _| Ok(texts::on(a, 0, |text| Value::Integer(crc32(text.as_bytes()).into())))),
    // The dialect gives a number to each that has one seed for all rows.
    function("rand", 0, 1, DOUBLE, |a, state| {
        Ok(Value::Real(match a {
            [] => random(),
            [seed] => Generator::of(*seed).next(),
            [seed, call, ..] => state.random(*call, *seed),
        }))
    }),
    function("sleep", 1, 1, INTEGER, sleep),
    function(SLEEP_ALONE, 1, 1, INTEGER, |a, state| {
        state.check_time()?;
        // Who is woken by KILL is told so by the value.
        sleep(a, state).or_else(|error| if error == Error::cancelled() { Ok(Value::Integer(1)) } else { Err(error) })
    })
    .internal(),
    function("assign", 2, 2, None, |a, state| {
        let value = value::load(a[1]);
        let stored = value::store_owned(&value);
        state.set_user_variable(&value::text(a[0]).unwrap_or_default(), value)?;
        Ok(stored)
    })
    .internal(),
    function("user_variable", 1, 1, None, |a, state| {
        Ok(value::store_owned(&state.user_variable(&value::text(a[0]).unwrap_or_default())))
    })
    .internal(),
    function("log10", 1, 1, DOUBLE, |a, _| positive(a, f64::log10)),
    function("log2", 1, 1, DOUBLE, |a, _| positive(a, f64::log2)),
    // Moments.
    function("date_add", 3, 4, TEXT, times::date_add),
    function("time_add", 4, 4, TEXT, times::time_add).internal(),
    function("date", 1, 1, DATE, times::date),
    // What is known of the digits of a moment when the statement is rewritten, its value is given.
    function("to_datetime", 2, 2, TEXT, times::to_datetime).internal(),
    function("to_time", 2, 2, TEXT, times::to_time).internal(),
    function("moment_key", 1, 1, INTEGER, times::moment_key).internal(),
    function("moment_number", 1, 1, None, times::moment_number).internal(),
    function("time_key", 1, 1, INTEGER, times::time_key).internal(),
    function("time_of_key", 1, 1, TEXT, times::time_of_key).internal(),
    // Of one argument the dialect calls to_time and to_datetime in the place of these.
    function("time", 1, 1, TEXT, |a, _| Ok(value::owned(a[0]))),
    function("timestamp", 1, 2, TEXT, |a, _| Ok(times::timestamp(a))),
    function("date_format", 2, 2, TEXT, |a, _| {
        Ok(texts::on(a, 1, |format| times::at(&a[..1], |moment| Value::Text(moment.format(&format))).unwrap_or(Value::Null)))
    }),
    function("time_format", 2, 2, TEXT, times::time_format),
    function("convert_tz", 3, 3, TEXT, times::convert_tz),
    function("extract", 2, 2, INTEGER, |a, _| {
        Ok(texts::on(a, 1, |unit| times::part(a[0], &unit).map_or(Value::Null, Value::Integer)))
    }),
    // YEAR, HOUR and their like: of a time they do not say its sign.
    function("part", 2, 2, INTEGER, |a, _| {
        Ok(texts::on(a, 1, |unit| times::part(a[0], &unit).map_or(Value::Null, |part| Value::Integer(part.abs()))))
    })
    .internal(),
    function("unix_timestamp", 1, 1, None, |a, state| times::at(a, |moment| state.time_zone().utc(moment).unix())),
    function("from_unixtime", 1, 2, TEXT, times::from_unixtime),
    function("timestampdiff", 3, 3, INTEGER, times::timestampdiff),
    function("timediff", 2, 2, TEXT, times::timediff),
    function("sec_to_time", 1, 1, TEXT, |a, _| one_text(a, |x| times::time_of(x.real()))),
    function("time_to_sec", 1, 1, INTEGER, times::time_to_sec),
    function("dayofweek", 1, 1, INTEGER, |a, _| times::at(a, |moment| Value::Integer((moment.day() + 4).rem_euclid(7) + 1))),
    function("weekday", 1, 1, INTEGER, |a, _| times::at(a, |moment| Value::Integer((moment.day() + 3).rem_euclid(7)))),
    function("dayofyear", 1, 1, INTEGER, |a, _| times::at(a, |moment| Value::Integer(moment.format("%j").parse().unwrap_or(0)))),
    function("week", 1, 2, INTEGER, |a, _| times::week(a, false)),
    function("weekofyear", 1, 1, INTEGER, |a, _| times::week(&[a[0], ValueRef::Integer(3)], false)),
    function("yearweek", 1, 2, INTEGER, |a, _| times::week(a, true)),
    function("str_to_date", 2, 2, TEXT, times::str_to_date),
    function("makedate", 2, 2, DATE, times::makedate),
    function("maketime", 3, 3, TEXT, times::maketime),
    function("dayname", 1, 1, TEXT, |a, _| times::at(a, |moment| Value::Text(moment.format("%W")))),
    function("monthname", 1, 1, TEXT, |a, _| times::at(a, |moment| Value::Text(moment.format("%M")))),
    function("last_day", 1, 1, DATE, |a, _| times::at(a, |moment| Value::Text(moment.last_day()))),
    function("to_days", 1, 1, INTEGER, |a, _| times::at(a, |moment| Value::Integer(moment.day() + 719_528))),
    function("to_seconds", 1, 1, INTEGER, |a, _| times::at(a, |moment| Value::Integer(moment.unix_seconds() + 719_528 * 86_400))),
    function("from_days", 1, 1, DATE, |a, _| Ok(times::from_days(a))),
    function("period_add", 2, 2, INTEGER, |a, _| times::period_add(a)),
    function("period_diff", 2, 2, INTEGER, |a, _| times::period_diff(a)),
    function("addtime", 2, 2, TEXT, |a, _| Ok(times::add_time(a, 1))),
    function("subtime", 2, 2, TEXT, |a, _| Ok(times::add_time(a, -1))),
    function("interval_of", 2, 2, INTEGER, |a, _| Ok(times::interval_of(a))).internal(),
    function("datediff", 2, 2, INTEGER, times::datediff),
    // Of statements.
    function("statement_digest", 1, 1, TEXT, |a, _| texts::on_text(a, |text| digest::Digest::of(&text).text().to_string())),
    function("statement_digest_text", 1, 1, TEXT, |a, _| texts::on_text(a, |text| digest_text(&text).to_string())),
    function("format_statement", 1, 1, TEXT, |a, _| texts::on_text(a, |text| format_statement(&text)))
        .of_sys(&[("statement", "longtext")], "longtext"),
    // Of `sys`. A session is no thread of the program that it looks at.
    function("ps_thread_id", 1, 1, UNSIGNED, sys::ps_thread_id)
        .of_sys(&[("in_connection_id", "bigint unsigned")], "bigint unsigned"),
    function("ps_current_thread_id", 0, 0, UNSIGNED, |_, _| Ok(Value::Null)),
    function("ps_thread_account", 1, 1, TEXT, sys::ps_thread_account).of_sys(&[("in_thread_id", "bigint unsigned")], "text"),
    function("ps_is_consumer_enabled", 1, 1, TEXT, sys::ps_is_consumer_enabled)
        .of_sys(&[("in_consumer", "varchar(64)")], "enum('YES','NO')"),
    function("version_major", 0, 0, INTEGER, |_, _| sys::version_part(0)).of_sys(&[], "tinyint unsigned"),
    function("version_minor", 0, 0, INTEGER, |_, _| sys::version_part(1)).of_sys(&[], "tinyint unsigned"),
    function("version_patch", 0, 0, INTEGER, |_, _| sys::version_part(2)).of_sys(&[], "tinyint unsigned"),
    function("quote_identifier", 1, 1, TEXT, |a, _| texts::on_text(a, |name| format!("`{}`", name.replace('`', "``"))))
        .of_sys(&[("in_identifier", "text")], "text"),
    function("format_time", 1, 1, TEXT, |a, _| Ok(sys::format_time(a))).of_sys(&[("picoseconds", "text")], "text"),
    function("list_add", 2, 2, TEXT, sys::list_add).of_sys(&[("in_list", "text"), ("in_add_value", "text")], "text"),
    function("list_drop", 2, 2, TEXT, sys::list_drop).of_sys(&[("in_list", "text"), ("in_drop_value", "text")], "text"),
    // How long ago the TIMER_START of an event was, by the timer that `setup_timers` has for its class; NULL once the program has ended. It
    // is for the views of `sys`, which are read as a client's text is: like this no client calls a function, unless it is quoted.
    function("@time_since", 2, 2, UNSIGNED, sys::time_since),
];

/// `sys.format_statement`: one line, of more than 64 characters the first and the last 30.
fn format_statement(text: &str) -> String {
    let text = text.replace('\n', " ");
    let count = texts::characters(&text);
    if count <= 64 {
        return text;
    }
    let (first, last) = (&text[..texts::boundary(&text, 30)], &text[texts::boundary(&text, count - 30)..]);
    format!("{first} ... {last}")
}

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
    ("sha", "sha1"),
    ("atan2", "atan"),
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

/// Those whose value is known when the statement is rewritten, and that are whole numbers.
const OF_THE_SESSION: &[(&str, SqlType)] = &[
    ("connection_id", SqlType::BigintUnsigned),
    ("last_insert_id", SqlType::BigintUnsigned),
    ("found_rows", SqlType::Bigint),
    ("row_count", SqlType::Bigint),
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
    "bit_and",
    "bit_or",
    "bit_xor",
    "json_arrayagg",
    "json_objectagg",
];

/// The function of this name.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    let name = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name)).map_or(name, |(_, of)| of);
    FUNCTIONS.iter().find(|function| function.name.eq_ignore_ascii_case(name))
}

/// What a function returns, if that does not depend on its arguments.
pub(crate) fn result(name: &str) -> Option<SqlType> {
    let built_in = BUILT_IN.iter().find(|(built_in, _)| built_in.eq_ignore_ascii_case(name)).and_then(|(_, result)| *result);
    let of_session = || OF_THE_SESSION.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, result)| *result);
    built_in.or_else(|| find(name)?.result).or_else(of_session)
}

pub(crate) fn register(connection: &Connection, state: &Arc<State>) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
    for function in FUNCTIONS {
        let state = Arc::clone(state);
        let flags = if function.arguments.1 == 0 || OF_THE_MOMENT.contains(&function.name) {
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
    // What is deeper is not another row.
    connection.create_collation(recursion::COLLATION, |_, _| Ordering::Equal)?;
    connection.create_collation("NOCASE", snapshot::compare)
}

/// CRC-32 as in Ethernet and zip.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 })
    };
    !bytes.iter().fold(u32::MAX, step)
}

/// From 0 to 1, and not 1.
fn random() -> f64 {
    // Each RandomState has keys of its own: no source of secrets, and none of ours to keep.
    let bits = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0_u8);
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// Waits, and is woken by what stops the statement.
fn sleep(arguments: Arguments<'_>, state: &State) -> Result<Value, Error> {
    let seconds = Number::of(arguments[0]).map(|seconds| seconds.real()).filter(|seconds| *seconds >= 0.0);
    let seconds = seconds.ok_or_else(|| Error::new(1210, "HY000", "Incorrect arguments to sleep."))?;
    let (start, wanted) = (Instant::now(), Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    while let Some(left) = wanted.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) {
        std::thread::sleep(left.min(Duration::from_millis(20)));
        state.check_time()?;
    }
    Ok(Value::Integer(0))
}

/// As MySQL's FORMAT_BYTES.
fn format_bytes(bytes: f64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let Some(power) = (1..=units.len()).rev().find(|power| bytes.abs() >= 1024_f64.powi(*power as i32)) else {
        // Cut, not rounded: 1023.7 is not yet a KiB.
        return format!("{:>4} bytes", bytes as i64);
    };
    format!("{} {}", Amount(bytes / 1024_f64.powi(power as i32)), units[power - 1])
}
