//! Calls of functions: MySQL's names and arguments in, those of SQLite's functions and of our own out.

use crate::collation::{first_without_case, is_column};
use crate::decimal::{MAX_DIGITS, MAX_SCALE};
use crate::dialect::{Rewriter, call, collate, heading, ident, last, literal, numeral, qualified, take};
use crate::functions::{self, BUILT_IN, PREFIX};
use crate::kinds::Kind;
use crate::moment::Moment;
use crate::spelling::COMPOUND_UNITS;
use crate::subquery::is_aggregate;
use crate::temporal::unit_of;
use crate::{Error, assigned, catalog, found, times};
use perfschema::core::table::SqlType;
use perfschema::render::OwnedValue;
use rusqlite::types::Value as SqliteValue;
use sqlparser::ast::{
    BinaryOperator, CaseWhen, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause,
    FunctionArgumentList, FunctionArguments, ObjectName, Value, ValueWithSpan, WindowType, visit_expressions,
};
use std::ops::ControlFlow;

/// What stands for a comma that is part of a text, where commas separate them: no character, so in no text.
const STAND_IN: &str = "\u{10ffff}";

const UNITS: [&str; 9] = ["MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"];

impl Rewriter<'_> {
    pub(crate) fn date_add(&mut self, moment: Expr, interval: Expr, add: bool) -> Result<Expr, Error> {
        let (number, unit) = match interval {
            Expr::Interval(interval) => {
                let unit = unit_of(&interval);
                if COMPOUND_UNITS.contains(&unit.as_str()) {
                    let name = self.text(&unit);
                    (call("interval_of", vec![*interval.value, name]), times::compound_unit(&unit).to_owned())
                } else if UNITS.contains(&unit.as_str()) {
                    (self.as_number(*interval.value), unit)
                } else {
                    return Err(Error::unsupported(&format!("INTERVAL … {unit}")));
                }
            }
            days => (days, "DAY".to_owned()),
        };
        let unit = if add { unit } else { format!("-{unit}") };
        Ok(self.later(moment, number, &unit))
    }

    pub(crate) fn cast(&mut self, expr: Expr, data_type: &str) -> Result<Expr, Error> {
        let upper = data_type.to_ascii_uppercase();
        let (name, rest) = upper.split_once('(').map_or((upper.as_str(), ""), |(name, rest)| (name, rest.trim_end_matches(')')));
        let number = |text: &str| text.trim().parse::<i64>().unwrap_or(0);
        match name.split(' ').next().unwrap_or_default() {
            kind @ ("CHAR" | "NCHAR" | "VARCHAR" | "CHARACTER" | "BINARY" | "TEXT") => {
                let length = (!rest.is_empty()).then(|| numeral(number(rest)));
                let text = call("char_of", [expr].into_iter().chain(length).collect());
                Ok(if kind == "BINARY" { collate(text, true) } else { text })
            }
            "SIGNED" => Ok(call("signed", vec![self.as_number(expr)])),
            "UNSIGNED" => Ok(call("unsigned", vec![self.as_number(expr)])),
            "DECIMAL" | "DEC" | "NUMERIC" => {
                let (digits, scale) = rest.split_once(',').unwrap_or((rest, "0"));
                let digits = if number(digits) == 0 { 10 } else { number(digits) };
                // As far as it is known how it was written.
                let written =
                    self.written(&expr).unwrap_or_else(|| if is_column(&expr) { heading(&expr) } else { "…".to_owned() });
                let (digits, scale) = check_decimal(&written, digits, number(scale))?;
                let name = self.text(&format!("CAST({written} AS {upper})"));
                let expr = self.as_number(expr);
                Ok(call("decimal", vec![expr, numeral(digits), numeral(scale), name]))
            }
            "DOUBLE" | "FLOAT" | "REAL" => Ok(call("real", vec![self.as_number(expr)])),
            "JSON" => Ok(match self.kind(&expr) {
                Kind::Json => expr,
                _ => call("cast_as_json", vec![expr]),
            }),
            "DATE" => Ok(self.as_moment(expr, Kind::Date)),
            kind @ ("TIME" | "DATETIME") => {
                let digits = check_digits("CAST", number(rest).try_into().unwrap_or(usize::MAX))?;
                Ok(self.as_moment(expr, if kind == "TIME" { Kind::Time(digits) } else { Kind::Datetime(digits) }))
            }
            _ => Err(Error::unsupported(&format!("CAST … AS {data_type}"))),
        }
    }

    pub(crate) fn function(&mut self, mut function: Function) -> Result<Expr, Error> {
        let (schema, name) = qualified(&function.name)?;
        let name = name.to_ascii_lowercase();
        let unknown = || Error::unknown_function(schema.or(self.state.schema()).unwrap_or(catalog::PERFORMANCE_SCHEMA), &name);
        if schema.is_some_and(|schema| !schema.eq_ignore_ascii_case(catalog::SYS)) {
            return Err(unknown());
        }
        let plain = function.filter.is_none()
            && function.null_treatment.is_none()
            && function.within_group.is_empty()
            && matches!(function.parameters, FunctionArguments::None);
        if !plain {
            return Err(Error::unsupported(&name));
        }
        let list = match std::mem::replace(&mut function.args, FunctionArguments::None) {
            FunctionArguments::None => FunctionArgumentList { duplicate_treatment: None, args: Vec::new(), clauses: Vec::new() },
            FunctionArguments::List(list) => list,
            FunctionArguments::Subquery(_) => return Err(unknown()),
        };
        match name.as_str() {
            assigned::ASSIGN => return Ok(call("assign", expressions(list.args))),
            assigned::READ => return Ok(call("user_variable", expressions(list.args))),
            _ => {}
        }
        if BUILT_IN.iter().any(|(built_in, _)| *built_in == name) {
            return self.built_in(function, &name, list);
        }
        if functions::AGGREGATES.contains(&name.as_str()) {
            return self.aggregate(function, &name, list);
        }
        // Those of WITH ROLLUP are numbers by now.
        if name == "grouping" || function.over.is_some() || list.duplicate_treatment.is_some() || !list.clauses.is_empty() {
            return Err(Error::wrong_group());
        }
        self.scalar(&name, list, unknown())
    }

    /// What SQLite does itself. `count(*)` alone has no expressions for arguments.
    fn built_in(&mut self, function: Function, name: &str, mut list: FunctionArgumentList) -> Result<Expr, Error> {
        let is_distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        let mut separator = None;
        match name {
            "count" if is_distinct && list.args.len() > 1 => {
                let row = call("row", expressions(std::mem::take(&mut list.args)));
                list.args.push(FunctionArg::Unnamed(FunctionArgExpr::Expr(row)));
            }
            "count" | "min" | "max" => check_count(name, list.args.len(), 1, 1)?,
            // SQLite asks for two.
            "coalesce" if list.args.len() == 1 => {
                list.args.push(FunctionArg::Unnamed(FunctionArgExpr::Expr(literal(Value::Null))));
            }
            "group_concat" => {
                check_count(name, list.args.len(), 1, functions::MAX_TEXT)?;
                separator = self.group_concat(&mut list)?;
            }
            _ => {}
        }
        if arguments_missing(&list) && name != "count" {
            return Err(Error::parameter_count(name));
        }
        // Some of them SQLite would take for larger than all others.
        let of_numbers = matches!(name, "min" | "max") && list_mut(&mut list).any(|argument| self.kind(argument).has_decimals());
        if of_numbers {
            list_mut(&mut list).for_each(|argument| *argument = call("number_key", vec![take(argument)]));
        }
        let of_times = match list_mut(&mut list).map(|argument| self.kind(argument)).next() {
            Some(Kind::Time(digits)) if matches!(name, "min" | "max") => Some(Kind::Time(digits)),
            _ => None,
        };
        if of_times.is_some() {
            list_mut(&mut list).for_each(|argument| *argument = call("time_key", vec![take(argument)]));
        }
        // What compares its arguments.
        if list.duplicate_treatment.is_some() {
            list_mut(&mut list).for_each(|argument| self.as_shown(argument));
        }
        if matches!(name, "min" | "max") || list.duplicate_treatment.is_some() {
            list_mut(&mut list).take(1).for_each(|argument| self.collate_columns(&mut [argument]));
            first_without_case(&mut list.args);
        }
        if matches!(name, "coalesce" | "ifnull") {
            self.one_kind(list_mut(&mut list));
        }
        let is_concatenation = name == "group_concat" && function.over.is_none();
        let mut value = self.named(function, name, list)?;
        if of_numbers {
            value = call("number_of_key", vec![value]);
        }
        if let Some(kind) = of_times {
            value = self.as_moment(call("time_of_key", vec![value]), kind);
        }
        if is_concatenation {
            if let Some(separator) = separator {
                let (comma, stand_in) = (self.text(","), self.text(STAND_IN));
                value = call("replace", vec![value, comma.clone(), separator]);
                value = call("replace", vec![value, stand_in, comma]);
            }
            let most = self.state.variable("group_concat_max_len").unwrap_or_default();
            value = call("left_bytes", vec![value, self.constant(&most)]);
        }
        Ok(value)
    }

    /// An aggregate of this crate's: of numbers, or what makes documents.
    fn aggregate(&mut self, function: Function, name: &str, mut list: FunctionArgumentList) -> Result<Expr, Error> {
        let arguments = if name == "json_objectagg" { 2 } else { 1 };
        check_count(name, list.args.len(), arguments, arguments)?;
        if arguments_missing(&list) {
            return Err(Error::parameter_count(name));
        }
        if name.starts_with("json_") {
            if function.over.is_some() || list.duplicate_treatment.is_some() {
                return Err(Error::unsupported(&format!("{name} of a window or DISTINCT")));
            }
            list_mut(&mut list).skip(arguments - 1).for_each(|value| self.as_json(value));
            return self.named(function, &format!("{PREFIX}{name}"), list);
        }
        list_mut(&mut list).for_each(|argument| *argument = self.as_number(take(argument)));
        if list.duplicate_treatment.is_some() {
            list_mut(&mut list).for_each(|argument| self.as_shown(argument));
            list_mut(&mut list).take(1).for_each(|argument| self.collate_columns(&mut [argument]));
            first_without_case(&mut list.args);
        }
        self.named(function, &format!("{PREFIX}{name}"), list)
    }

    /// A function of this crate's, of the values of one row.
    fn scalar(&mut self, name: &str, list: FunctionArgumentList, unknown: Error) -> Result<Expr, Error> {
        if arguments_missing(&list) {
            return Err(Error::parameter_count(name));
        }
        let mut arguments = expressions(list.args);
        let given = arguments.len();
        let wrong_count = || Error::parameter_count(name);
        let count = |least: usize, most: usize| check_count(name, given, least, most);
        if let Some((value, kind)) = self.now(name, &arguments)? {
            let value = self.text(&value);
            return Ok(self.as_moment(value, kind));
        }
        if let Some(value) = self.constant_function(name, given) {
            let value = self.constant(&value);
            // Of a number alone it would not be known.
            let is_unsigned = functions::result(name) == Some(SqlType::BigintUnsigned);
            return Ok(if is_unsigned { call("unsigned", vec![value]) } else { value });
        }
        match name {
            "if" => {
                count(3, 3)?;
                self.one_kind(arguments.iter_mut().skip(1));
                let otherwise = arguments.pop().map(Box::new);
                let result = arguments.pop().ok_or_else(wrong_count)?;
                let condition = self.condition(arguments.pop().ok_or_else(wrong_count)?);
                self.case(None, vec![CaseWhen { condition, result }], otherwise)
            }
            "json_array" | "json_object" => {
                if name == "json_object" && given % 2 == 1 {
                    return Err(wrong_count());
                }
                let step = if name == "json_object" { 2 } else { 1 };
                arguments.iter_mut().skip(step - 1).step_by(step).for_each(|value| self.as_json(value));
                count(0, functions::MANY)?;
                Ok(call(name, arguments))
            }
            "isnull" => {
                count(1, 1)?;
                let expr = arguments.pop().ok_or_else(wrong_count)?;
                Ok(Expr::Nested(Box::new(Expr::IsNull(Box::new(Expr::Nested(Box::new(expr)))))))
            }
            "any_value" => {
                count(1, 1)?;
                arguments.pop().ok_or_else(wrong_count)
            }
            "greatest" | "least" => {
                count(2, functions::MANY - 1)?;
                self.one_kind(arguments.iter_mut());
                Ok(self.comparing_call(name, arguments))
            }
            "field" => {
                count(2, functions::MANY - 1)?;
                Ok(self.comparing_call(name, arguments))
            }
            "nullif" => {
                count(2, 2)?;
                if arguments.iter().any(|argument| self.kind(argument).is_moment()) {
                    let other = arguments.pop().ok_or_else(wrong_count)?;
                    let first = arguments.pop().ok_or_else(wrong_count)?;
                    self.copies.spend(&first, 1)?;
                    let condition = self.comparison(first.clone(), BinaryOperator::Eq, other)?;
                    let conditions = vec![CaseWhen { condition, result: literal(Value::Null) }];
                    return self.case(None, conditions, Some(Box::new(first)));
                }
                Ok(self.comparing_call(name, arguments))
            }
            "timestampdiff" | "timestampadd" => {
                count(3, 3)?;
                let unit = match &arguments[0] {
                    Expr::Identifier(unit) => unit.value.to_ascii_uppercase(),
                    other => return Err(Error::syntax(&other.to_string(), 1)),
                };
                let unit = unit.strip_prefix("SQL_TSI_").unwrap_or(&unit);
                if !UNITS.contains(&unit) {
                    return Err(Error::syntax(&arguments[0].to_string().replace('`', ""), 1));
                }
                if name == "timestampdiff" {
                    arguments[0] = self.text(unit);
                    return Ok(call(name, arguments));
                }
                let moment = arguments.pop().ok_or_else(wrong_count)?;
                let number = arguments.pop().ok_or_else(wrong_count)?;
                Ok(self.later(moment, number, unit))
            }
            "rand" if given == 1 => {
                let is_of_row = |expr: &Expr| match expr {
                    Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Subquery(_) => true,
                    Expr::Function(function) => {
                        function.over.is_some() || is_aggregate(expr) || functions::varies(name_of(function).0)
                    }
                    _ => false,
                };
                let varies = visit_expressions(&arguments[0], |expr| match is_of_row(expr) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                });
                let mut arguments = vec![self.as_number(take(&mut arguments[0]))];
                // With the same seed for all rows they are one sequence.
                if varies.is_continue() {
                    arguments.push(numeral(self.state.number_of_seeded()));
                }
                Ok(call(name, arguments))
            }
            // So EXTRACT of several units is spelled.
            "extract" => {
                count(2, 2)?;
                arguments.swap(0, 1);
                Ok(call(name, arguments))
            }
            "date_add" | "adddate" | "date_sub" | "subdate" => {
                count(2, 2)?;
                let interval = arguments.pop().ok_or_else(wrong_count)?;
                let moment = arguments.pop().ok_or_else(wrong_count)?;
                self.date_add(moment, interval, name.ends_with("add") || name == "adddate")
            }
            "year" | "quarter" | "month" | "day" | "dayofmonth" | "hour" | "minute" | "second" | "microsecond" => {
                count(1, 1)?;
                let unit = self.text(if name == "dayofmonth" { "day" } else { name });
                arguments.push(unit);
                Ok(call("part", arguments))
            }
            "week" => {
                count(1, 2)?;
                Ok(self.week(arguments))
            }
            _ => {
                let known = functions::find(name).filter(|known| !known.is_internal).ok_or(unknown)?;
                let (least, most) = known.arguments;
                count(least, most)?;
                for (_, argument) in arguments.iter_mut().enumerate().filter(|(place, _)| known.takes_number(*place)) {
                    *argument = self.as_number(take(argument));
                }
                if let ("round" | "truncate", [number, places]) = (known.name, arguments.as_slice())
                    && let (Kind::Decimal(_, scale), None) = (self.kind(number), self.whole_literal(places))
                {
                    // It is shown with as many digits as before.
                    return Ok(call("with_scale", vec![call(known.name, arguments), numeral(scale)]));
                }
                Ok(self.moment_call(known.name, arguments))
            }
        }
    }

    /// WEEK, by the session's mode if none is given.
    pub(crate) fn week(&mut self, mut arguments: Vec<Expr>) -> Expr {
        if arguments.len() == 1 {
            let mode = self.state.variable("default_week_format").unwrap_or_default();
            arguments.push(self.constant(&mode));
        }
        self.moment_call("week", arguments)
    }

    /// The value as part of a document: what is one stays one, all else becomes one.
    fn as_json(&self, value: &mut Expr) {
        let truth = matches!(value, Expr::Value(ValueWithSpan { value: Value::Boolean(_), .. }));
        let name = if self.kind(value) == Kind::Json { "json_kept" } else { "json_of" };
        *value = call(name, std::iter::once(take(value)).chain(truth.then(|| literal(Value::Null))).collect());
    }

    /// `GROUP_CONCAT(x ORDER BY y SEPARATOR z)`: SQLite has the separator as a second argument.
    /// Given back is a separator that is still to be put in the place of the comma.
    fn group_concat(&mut self, list: &mut FunctionArgumentList) -> Result<Option<Expr>, Error> {
        let mut separator = None;
        let mut clauses = Vec::new();
        for clause in std::mem::take(&mut list.clauses) {
            match clause {
                FunctionArgumentClause::Separator(value) => separator = Some(Expr::Value(value)),
                FunctionArgumentClause::OrderBy(mut order) => {
                    for by in &mut order {
                        self.argument_by_place(&mut by.expr, list)?;
                    }
                    self.order(&mut order, None)?;
                    clauses.push(FunctionArgumentClause::OrderBy(order));
                }
                other => return Err(Error::unsupported(&other.to_string())),
            }
        }
        list.clauses = clauses;
        let arguments = expressions(std::mem::take(&mut list.args));
        let text = call("concat", arguments);
        list.args.push(FunctionArg::Unnamed(FunctionArgExpr::Expr(text)));
        match separator {
            // SQLite has none with DISTINCT but a comma.
            Some(other) if list.duplicate_treatment == Some(DuplicateTreatment::Distinct) && !self.is_comma(&other) => {
                let (comma, stand_in) = (self.text(","), self.text(STAND_IN));
                if let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(text))) = list.args.first_mut() {
                    *text = call("replace", vec![take(text), comma, stand_in]);
                }
                return Ok(Some(other));
            }
            Some(separator) if list.duplicate_treatment != Some(DuplicateTreatment::Distinct) => {
                list.args.push(FunctionArg::Unnamed(FunctionArgExpr::Expr(separator)));
            }
            _ => {}
        }
        Ok(None)
    }

    /// What GROUP_CONCAT is sorted by: a number stands for one of its arguments.
    fn argument_by_place(&mut self, by: &mut Expr, list: &mut FunctionArgumentList) -> Result<(), Error> {
        let Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. }) = by else { return Ok(()) };
        let place = digits.parse::<usize>().ok().and_then(|place| place.checked_sub(1));
        let argument = place.and_then(|place| list_mut(list).nth(place));
        let argument = argument.ok_or_else(|| Error::unknown_column(digits, "order clause"))?;
        self.copies.spend(argument, 1)?;
        *by = argument.clone();
        Ok(())
    }

    /// The call under this name, with these arguments.
    fn named(&mut self, mut function: Function, name: &str, list: FunctionArgumentList) -> Result<Expr, Error> {
        if let Some(WindowType::WindowSpec(window)) = &mut function.over {
            self.order_window(window)?;
        }
        function.name = ObjectName::from(vec![ident(name)]);
        function.args = FunctionArguments::List(list);
        Ok(Expr::Function(function))
    }

    fn is_comma(&self, expr: &Expr) -> bool {
        matches!(self.bound_value(expr), Some(SqliteValue::Text(text)) if text == ",")
    }

    /// The moment of the statement, with as many digits of a fraction as are asked for.
    fn now(&self, name: &str, arguments: &[Expr]) -> Result<Option<(String, Kind)>, Error> {
        let now = || match name {
            _ if name.starts_with("utc_") => self.state.now(),
            "sysdate" if self.state.set_moment().is_some() => self.state.time_zone().at(Moment::now()),
            _ => self.state.time_zone().at(self.state.now()),
        };
        let is_time = match name {
            "curdate" | "current_date" | "utc_date" => {
                check_count(name, arguments.len(), 0, 0)?;
                return Ok(Some((now().date(), Kind::Date)));
            }
            "now" | "current_timestamp" | "localtime" | "localtimestamp" | "sysdate" | "utc_timestamp" => false,
            "curtime" | "current_time" | "utc_time" => true,
            _ => return Ok(None),
        };
        let digits = match arguments {
            [] => 0,
            [Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. })] => digits.parse::<usize>().unwrap_or(usize::MAX),
            _ => return Err(Error::parameter_count(name)),
        };
        let digits = check_digits(name, digits)?;
        let (moment, time) = now().rounded_down(digits.into());
        Ok(Some(if is_time { (time, Kind::Time(digits)) } else { (moment, Kind::Datetime(digits)) }))
    }

    /// Functions whose value is one and the same throughout a statement.
    fn constant_function(&self, name: &str, arguments: usize) -> Option<OwnedValue> {
        let now = self.state.now();
        Some(match (name, arguments) {
            ("database" | "schema", 0) => self.state.schema().into(),
            ("version", 0) => self.state.variable("version").unwrap_or_default(),
            ("user" | "session_user" | "system_user" | "current_user", 0) => self.state.account.to_string().into(),
            ("connection_id", 0) => self.state.connection_id.into(),
            ("unix_timestamp", 0) => now.unix_seconds().into(),
            ("last_insert_id", 0) => 0_i64.into(),
            ("row_count", 0) => self.state.row_count().into(),
            ("found_rows", 0) => {
                let message =
                    "FOUND_ROWS() is deprecated and will be removed in a future release. Consider using COUNT(*) instead.";
                found::warn(self.state, message);
                self.state.found_rows().into()
            }
            ("pi", 0) => std::f64::consts::PI.into(),
            _ => return None,
        })
    }
}

/// Digits of a DECIMAL, all and those behind the point.
fn check_decimal(name: &str, digits: i64, scale: i64) -> Result<(u8, u8), Error> {
    let too_many = |what: &str, given: i64, most: u8| {
        Error::new(
            if most == MAX_SCALE { 1425 } else { 1426 },
            "42000",
            format!("{what} {given} specified for '{name}'. Maximum is {most}."),
        )
    };
    match (u8::try_from(digits), u8::try_from(scale)) {
        (_, scale_given) if !scale_given.is_ok_and(|scale| scale <= MAX_SCALE) => {
            Err(too_many("Too big scale", scale, MAX_SCALE))
        }
        (digits_given, _) if !digits_given.is_ok_and(|digits| digits <= MAX_DIGITS) => {
            Err(too_many("Too-big precision", digits, MAX_DIGITS))
        }
        (Ok(digits), Ok(scale)) if scale > digits => {
            let message = "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '').";
            Err(Error::new(1427, "42000", message))
        }
        (digits, scale) => Ok((digits.unwrap_or(MAX_DIGITS), scale.unwrap_or(MAX_SCALE))),
    }
}

/// Digits of a fraction: MySQL has no more than six.
fn check_digits(name: &str, digits: usize) -> Result<u8, Error> {
    match u8::try_from(digits) {
        Ok(digits @ 0..=6) => Ok(digits),
        _ => Err(Error::new(1426, "42000", format!("Too-big precision {digits} specified for '{name}'. Maximum is 6."))),
    }
}

fn arguments_missing(list: &FunctionArgumentList) -> bool {
    list.args.iter().any(|argument| !matches!(argument, FunctionArg::Unnamed(FunctionArgExpr::Expr(_))))
}

pub(crate) fn expressions(arguments: Vec<FunctionArg>) -> Vec<Expr> {
    let expr = |argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    };
    arguments.into_iter().filter_map(expr).collect()
}

fn check_count(name: &str, given: usize, least: usize, most: usize) -> Result<(), Error> {
    if (least..=most).contains(&given) { Ok(()) } else { Err(Error::parameter_count(name)) }
}

/// The name of a function, as it was written, and whether that is one of this crate's, as those of a tree that was rewritten are.
pub(crate) fn name_of(function: &Function) -> (&str, bool) {
    let name = last(&function.name).unwrap_or_default();
    name.strip_prefix(PREFIX).map_or((name, false), |own| (own, true))
}

/// The arguments of a function that are expressions.
pub(crate) fn arguments(function: &Function) -> impl Iterator<Item = &Expr> {
    let list = match &function.args {
        FunctionArguments::List(list) => list.args.as_slice(),
        _ => &[],
    };
    list.iter().filter_map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    })
}

/// The arguments that are expressions.
fn list_mut(list: &mut FunctionArgumentList) -> impl Iterator<Item = &mut Expr> {
    list.args.iter_mut().filter_map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    })
}
