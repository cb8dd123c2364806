//! Of what kind the values of an expression are, as far as that is known before the statement runs.

mod names;
mod signs;
mod widths;

use crate::calls::{self, name_of};
use crate::collation::output;
use crate::decimal::{Decimal, MAX_DIGITS, MAX_SCALE, MORE};
use crate::functions;
use crate::state::State;
use crate::subquery::{parts, without_parentheses};
use crate::value::Number;
use crate::{Error, assigned, catalog::Column, documents, temporal, times};
pub(crate) use names::{expr_at, is_star, selects};
use perfschema::core::table::SqlType;
use rusqlite::types::{Value as SqliteValue, ValueRef};
use sqlparser::ast::{
    BinaryOperator, DataType, ExactNumberInfo, Expr, Function, Ident, Interval, UnaryOperator, Value, ValueWithSpan, Visit,
};
use std::collections::HashMap;
pub(crate) use widths::Width;

/// How many digits a sum has more than what is summed.
const MORE_OF_SUM: u8 = 22;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    /// Whole numbers.
    Integer,
    /// Exact numbers of so many digits, so many of them behind the point; without those they are as whole numbers are.
    Decimal(u8, u8),
    /// Fractions.
    Real,
    /// Any of these.
    Number,
    Text,
    /// Days.
    Date,
    /// Times of day, or how long something took; with so many digits of a fraction.
    Time(u8),
    /// Moments.
    Datetime(u8),
    /// Moments as a column of that type has them.
    Timestamp(u8),
    /// Days and moments, whose digits may differ: up to so many.
    Moment(u8),
    /// Documents.
    Json,
    Unknown,
}

impl Kind {
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Kind::Integer | Kind::Decimal(..) | Kind::Real | Kind::Number)
    }

    /// Whether there may be exact numbers with a point among them.
    pub(crate) fn has_decimals(self) -> bool {
        matches!(self, Kind::Decimal(..) | Kind::Number)
    }

    /// Digits before and behind the point together, and behind it, of exact numbers: whole ones have as many as fit into 64 bits.
    pub(crate) fn digits_and_scale(self) -> Option<(u8, u8)> {
        match self {
            Kind::Integer => Some((20, 0)),
            Kind::Decimal(digits, scale) => Some((digits, scale)),
            _ => None,
        }
    }

    /// Exact numbers with so many digits before the point and behind it, as far as there are so many.
    pub(crate) fn decimal(whole: u8, scale: u8) -> Kind {
        let scale = scale.min(MAX_SCALE);
        Kind::Decimal(whole.saturating_add(scale).clamp(1, MAX_DIGITS), scale)
    }

    /// What takes in both, if both are exact and one of them no whole number.
    fn of_decimals(self, other: Kind) -> Option<Kind> {
        let ((a, a_scale), (b, b_scale)) = (self.digits_and_scale()?, other.digits_and_scale()?);
        let is_decimal = self != Kind::Integer || other != Kind::Integer;
        is_decimal.then(|| Kind::decimal((a - a_scale).max(b - b_scale), a_scale.max(b_scale)))
    }

    /// Of digits as a statement has them: exact, but with an exponent.
    fn of_literal(digits: &str) -> Kind {
        match Decimal::literal(digits) {
            Some(_) if digits.parse::<u64>().is_ok() => Kind::Integer,
            Some(decimal) => Kind::Decimal(decimal.precision(), decimal.scale()),
            None => Kind::Real,
        }
    }

    fn of_column(column: &Column) -> Kind {
        match column.sql_type {
            // What is not known of a view's column is so declared.
            SqlType::Varchar(0) => Kind::Unknown,
            sql_type => Kind::of_result(sql_type),
        }
    }

    fn of_result(result: SqlType) -> Kind {
        match result {
            SqlType::Varchar(_) | SqlType::Char(_) | SqlType::Longtext | SqlType::Enum(_) => Kind::Text,
            SqlType::Double => Kind::Real,
            SqlType::Decimal(digits, scale) => Kind::Decimal(digits, scale),
            SqlType::Json => Kind::Json,
            other => Kind::of_moment(other).unwrap_or(Kind::Integer),
        }
    }

    /// What the column of a view is declared as, of which no more is known.
    pub(crate) fn column_type(self) -> SqlType {
        match self {
            Kind::Integer => SqlType::Bigint,
            Kind::Decimal(digits, scale) => SqlType::Decimal(digits, scale),
            Kind::Real | Kind::Number => SqlType::Double,
            Kind::Json => SqlType::Json,
            // NULL, too: what is not known of any program has no type of its own.
            Kind::Text | Kind::Null => SqlType::Longtext,
            other => other.moment_type().unwrap_or(SqlType::Varchar(0)),
        }
    }

    /// Where both may be.
    pub(crate) fn or(self, other: Kind) -> Kind {
        match (self, other) {
            (Kind::Null, kind) | (kind, Kind::Null) => kind,
            (one, other) if one == other => one,
            (one, other) if one.is_number() && other.is_number() => Kind::Number,
            (one, other) if one.is_date() && other.is_date() => one.any_moment(other),
            _ => Kind::Unknown,
        }
    }

    /// The one that becomes of several: see `one_kind`.
    pub(crate) fn result_of(kinds: impl Iterator<Item = Kind>) -> Kind {
        kinds.fold(Kind::Null, |all, kind| match (all, kind) {
            (Kind::Text, other) | (other, Kind::Text) if other.is_number() || other.is_moment() => Kind::Text,
            (all, kind) if all.is_moment() && kind.is_moment() => all.of_moments(kind),
            (moment, number) | (number, moment) if moment.is_moment() && number.is_number() => Kind::Text,
            (all, kind) => all.of_decimals(kind).unwrap_or_else(|| all.or(kind)),
        })
    }
}

/// The kinds of all names that a statement may mean, columns and aliases: of one that means several things, what they have in common.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    names: HashMap<String, Kind>,
    /// The columns of tables that the statement derives, as `x.c`: of one alias other tables may have a column that is something else.
    derived: HashMap<String, Kind>,
    /// Whether what has this name is BIGINT UNSIGNED, whichever it means.
    unsigned: HashMap<String, bool>,
    /// The columns of texts that have a number each; None if the name means something else, too.
    enums: HashMap<String, Option<Members>>,
    /// Whether letter case counts in what has this name, whichever column it means; none, if it means something else, too.
    binary: HashMap<String, bool>,
    /// How wide the columns of tables of this name are; None if they differ, or if the name means something else, too.
    widths: HashMap<String, Option<Width>>,
}

/// The texts of an ENUM: the first is number 1.
pub(crate) type Members = &'static [&'static str];

impl Kinds {
    pub(crate) fn of(tree: &impl Visit, state: &State) -> Result<Kinds, Error> {
        names::kinds(tree, state)
    }

    fn of_name(&self, name: &Ident) -> Kind {
        if name.value.starts_with('@') { Kind::Unknown } else { self.of_column_named(&name.value) }
    }

    /// Whether there is a column or an alias of this name.
    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.names.contains_key(&name.to_lowercase())
    }

    /// Whether a table that the statement derives has a column of exact numbers, or one that is always NULL.
    pub(crate) fn derives_decimals_or_nulls(&self) -> bool {
        self.derived.values().any(|kind| kind.has_decimals() || *kind == Kind::Null)
    }

    /// Of what kind all columns and aliases of this name are.
    pub(crate) fn of_column_named(&self, name: &str) -> Kind {
        self.names.get(&name.to_lowercase()).copied().unwrap_or(Kind::Unknown)
    }

    /// The members of an ENUM, if the expression is a column that is one.
    pub(crate) fn members(&self, expr: &Expr) -> Option<Members> {
        self.enums.get(&column_name(expr)?).copied().flatten()
    }

    /// Whether it is a column in which letter case counts.
    pub(crate) fn is_binary(&self, expr: &Expr) -> bool {
        column_name(expr).is_some_and(|name| self.binary.get(&name).is_some_and(|binary| *binary))
    }

    /// The kind of an expression, be it rewritten or not. `bound` knows the values of placeholders.
    pub(crate) fn kind<'b>(&self, expr: &Expr, bound: &impl Fn(&Expr) -> Option<&'b SqliteValue>) -> Kind {
        let kind = |expr: &Expr| self.kind(expr, bound);
        let text = |expr: &Expr| match (expr, bound(expr)) {
            (_, Some(SqliteValue::Text(text))) => Some(text.clone()),
            (Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text) | Value::DoubleQuotedString(text), .. }), _) => {
                Some(text.clone())
            }
            _ => None,
        };
        match expr {
            Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => kind(inner),
            Expr::Identifier(name) => self.of_name(name),
            Expr::CompoundIdentifier(names) => match names.as_slice() {
                [table, column] => {
                    let derived = self.derived.get(&dotted(&table.value, &column.value));
                    derived.copied().unwrap_or_else(|| self.of_name(column))
                }
                names => names.last().map_or(Kind::Unknown, |name| self.of_name(name)),
            },
            Expr::Value(value) => match &value.value {
                Value::Null => Kind::Null,
                Value::Boolean(_) => Kind::Integer,
                Value::Number(digits, _) => Kind::of_literal(digits),
                Value::Placeholder(_) => match bound(expr) {
                    None => Kind::Unknown,
                    Some(SqliteValue::Null) => Kind::Null,
                    Some(SqliteValue::Integer(_)) => Kind::Integer,
                    Some(SqliteValue::Blob(bytes)) => match Number::of(ValueRef::Blob(bytes)) {
                        Some(Number::Decimal(decimal)) => Kind::Decimal(decimal.precision(), decimal.scale()),
                        _ => Kind::Integer,
                    },
                    Some(SqliteValue::Real(_)) => Kind::Real,
                    Some(SqliteValue::Text(_)) => Kind::Text,
                },
                _ => Kind::Text,
            },
            Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr } => exact_or_number(kind(expr)),
            Expr::BinaryOp { left, op, right } => match op {
                BinaryOperator::Plus | BinaryOperator::Minus | BinaryOperator::Multiply | BinaryOperator::Modulo => {
                    let later = |moment: &Expr, interval: &Interval| {
                        let unit = temporal::unit_of(interval);
                        kind(moment).later(times::compound_unit(&unit), temporal::number_digits(&interval.value, &text, &kind))
                    };
                    match (&**left, &**right) {
                        (moment, Expr::Interval(interval)) | (Expr::Interval(interval), moment) => {
                            return later(moment, interval);
                        }
                        _ => {}
                    }
                    arithmetic(op, (left, kind(left)), (right, kind(right)))
                }
                BinaryOperator::Divide => arithmetic(op, (left, kind(left)), (right, kind(right))),
                BinaryOperator::Arrow => Kind::Json,
                BinaryOperator::LongArrow => Kind::Text,
                BinaryOperator::StringConcat => Kind::Unknown,
                _ => Kind::Integer,
            },
            Expr::UnaryOp { .. }
            | Expr::IsFalse(_)
            | Expr::IsNotFalse(_)
            | Expr::IsTrue(_)
            | Expr::IsNotTrue(_)
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::IsUnknown(_)
            | Expr::IsNotUnknown(_)
            | Expr::IsNotDistinctFrom(..)
            | Expr::InList { .. }
            | Expr::InSubquery { .. }
            | Expr::Between { .. }
            | Expr::Like { .. }
            | Expr::RLike { .. }
            | Expr::AnyOp { .. }
            | Expr::Extract { .. }
            | Expr::Position { .. }
            | Expr::Exists { .. } => Kind::Integer,
            Expr::Ceil { expr, .. } | Expr::Floor { expr, .. } => whole(kind(expr)),
            Expr::Substring { .. } | Expr::Trim { .. } | Expr::Prefixed { .. } => Kind::Text,
            Expr::Cast { data_type, .. } | Expr::Convert { data_type: Some(data_type), .. } => match data_type {
                DataType::Signed | DataType::SignedInteger | DataType::Unsigned | DataType::UnsignedInteger => Kind::Integer,
                DataType::Char(_) | DataType::Binary(_) => Kind::Text,
                DataType::JSON => Kind::Json,
                DataType::Decimal(size) | DataType::Dec(size) | DataType::Numeric(size) => of_size(size),
                DataType::Double(_) | DataType::DoublePrecision | DataType::Float(_) | DataType::Real => Kind::Real,
                other => temporal::of_data_type(other).unwrap_or(Kind::Unknown),
            },
            Expr::TypedString(typed) => match temporal::of_data_type(&typed.data_type) {
                Some(Kind::Date) => Kind::Date,
                Some(moment) => moment.with_digits(&typed.value.value.to_string()),
                None => Kind::Text,
            },
            Expr::Case { conditions, else_result, .. } => {
                Kind::result_of(conditions.iter().map(|when| &when.result).chain(else_result.as_deref()).map(kind))
            }
            Expr::Subquery(query) => output(&query.body).map_or(Kind::Unknown, kind),
            Expr::Function(function) => {
                temporal::result(function, &text, &kind).unwrap_or_else(|| self.of_function(function, &kind, bound))
            }
            _ => Kind::Unknown,
        }
    }

    fn of_function<'b>(
        &self,
        function: &Function,
        kind: &dyn Fn(&Expr) -> Kind,
        bound: &impl Fn(&Expr) -> Option<&'b SqliteValue>,
    ) -> Kind {
        let (name, is_rewritten) = name_of(function);
        let name = name.to_ascii_lowercase();
        // Of those that compare, the first argument says how, once they are rewritten.
        let compared = usize::from(is_rewritten);
        let exprs: Vec<&Expr> = calls::arguments(function).collect();
        let mut arguments = exprs.iter().map(|expr| kind(expr));
        let both = |op| match exprs.as_slice() {
            [left, right] => arithmetic(&op, (left, kind(left)), (right, kind(right))),
            _ => Kind::Number,
        };
        match name.as_str() {
            "assign" | assigned::ASSIGN => arguments.nth(1).unwrap_or(Kind::Unknown),
            "user_variable" | assigned::READ => Kind::Unknown,
            "add" => both(BinaryOperator::Plus),
            "subtract" => both(BinaryOperator::Minus),
            "multiply" => both(BinaryOperator::Multiply),
            "divide" => both(BinaryOperator::Divide),
            "mod" => both(BinaryOperator::Modulo),
            "negate" | "abs" => arguments.next().map_or(Kind::Unknown, exact_or_number),
            "sum" | "avg" => match arguments.next().map_or((Kind::Unknown, None), |kind| (kind, kind.digits_and_scale())) {
                (_, Some((digits, scale))) if name == "sum" => Kind::decimal(digits - scale + MORE_OF_SUM, scale),
                (_, Some((digits, scale))) => Kind::decimal(digits - scale, scale + MORE),
                (Kind::Real | Kind::Text, None) => Kind::Real,
                _ => Kind::Number,
            },
            "ceiling" | "ceil" | "floor" => arguments.next().map_or(Kind::Unknown, whole),
            "round" | "truncate" => rounded(
                &arguments.next().unwrap_or(Kind::Unknown),
                name == "round",
                match exprs.get(1) {
                    Some(places) => whole_literal(places, bound),
                    None => Some(0),
                },
            ),
            "decimal" => match (
                exprs.get(1).map(|digits| whole_literal(digits, bound)),
                exprs.get(2).map(|scale| whole_literal(scale, bound)),
            ) {
                (Some(Some(digits)), Some(Some(scale))) => Kind::Decimal(digits as u8, scale as u8),
                _ => Kind::Number,
            },
            "with_scale" => match (arguments.next(), exprs.get(1).and_then(|scale| whole_literal(scale, bound))) {
                (Some(kind), Some(scale)) => match kind.digits_and_scale() {
                    Some((digits, own)) => Kind::decimal(digits - own, scale.clamp(0, MAX_SCALE.into()) as u8),
                    None => kind,
                },
                _ => Kind::Number,
            },
            "shown" | "number_key" | "number_of_key" => arguments.take(1).fold(Kind::Null, Kind::or),
            "number" | "exact" => Kind::Number,
            "std" | "stddev" | "stddev_pop" | "stddev_samp" | "variance" | "var_pop" | "var_samp" => Kind::Real,
            "min" | "max" | "any_value" | "single" | "first_value" | "last_value" | "nth_value" | "lag" | "lead" => {
                arguments.take(1).fold(Kind::Null, Kind::or)
            }
            "bit_and" | "bit_or" | "bit_xor" => Kind::Integer,
            "coalesce" | "ifnull" => Kind::result_of(arguments),
            "if" => Kind::result_of(arguments.skip(1)),
            _ if documents::RESULTS.contains(&name.as_str()) => Kind::Json,
            "nullif" => arguments.skip(compared).take(1).fold(Kind::Null, Kind::or),
            "greatest" | "least" => Kind::result_of(arguments.skip(compared)),
            _ => functions::result(&name).map_or(Kind::Unknown, Kind::of_result),
        }
    }
}

/// The name of a column, without its table, as it is looked for.
fn column_name(expr: &Expr) -> Option<String> {
    parts(without_parentheses(expr))?.last().map(|name| name.value.to_lowercase())
}

/// A column of a table as it is looked for.
fn dotted(table: &str, column: &str) -> String {
    format!("{table}.{column}").to_lowercase()
}

/// What is negated, or the like: whole and exact numbers stay so.
fn exact_or_number(operand: Kind) -> Kind {
    if operand.digits_and_scale().is_some() || operand == Kind::Real { operand } else { Kind::Number }
}

/// Of `left op right`, as MySQL counts digits.
fn arithmetic(op: &BinaryOperator, left: (&Expr, Kind), right: (&Expr, Kind)) -> Kind {
    let is_division = *op == BinaryOperator::Divide;
    let of = |(expr, kind): (&Expr, Kind)| match (expr, kind.digits_and_scale()) {
        (Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. }), Some((_, 0))) => {
            Some((u8::try_from(digits.len()).unwrap_or(MAX_DIGITS).min(MAX_DIGITS), 0))
        }
        (_, known) => known,
    };
    if (left.1, right.1) == (Kind::Integer, Kind::Integer) && !is_division {
        return Kind::Integer;
    }
    // A text may be taken for a whole number, but for division.
    let is_inexact = |kind| kind == Kind::Real || is_division && kind == Kind::Text;
    if is_inexact(left.1) || is_inexact(right.1) {
        return Kind::Real;
    }
    let (Some((a, a_scale)), Some((b, b_scale))) = (of(left), of(right)) else { return Kind::Number };
    let scale = a_scale.max(b_scale);
    match op {
        BinaryOperator::Multiply => {
            let scale = (a_scale + b_scale).min(MAX_SCALE);
            Kind::Decimal((a + b).clamp(scale.max(1), MAX_DIGITS), scale)
        }
        BinaryOperator::Divide => {
            let scale = (a_scale + MORE).min(MAX_SCALE);
            Kind::Decimal((a + b_scale + MORE).clamp(scale.max(1), MAX_DIGITS), scale)
        }
        BinaryOperator::Modulo => Kind::Decimal(a.max(b).max(scale), scale),
        _ => Kind::decimal((a - a_scale).max(b - b_scale) + 1, scale),
    }
}

/// Of CEILING and FLOOR.
fn whole(kind: Kind) -> Kind {
    match kind {
        Kind::Decimal(digits, scale) if digits - scale > 18 => Kind::decimal(digits - scale + 1, 0),
        Kind::Integer | Kind::Decimal(..) => Kind::Integer,
        _ => Kind::Number,
    }
}

/// Of ROUND and TRUNCATE to so many places; None: that is not known before.
fn rounded(kind: &Kind, is_rounded: bool, places: Option<i64>) -> Kind {
    match *kind {
        Kind::Decimal(digits, scale) => match places {
            Some(places) if places < scale.into() => {
                let whole = digits - scale + u8::from(is_rounded);
                Kind::decimal(whole, u8::try_from(places.max(0)).unwrap_or(0))
            }
            _ => Kind::Decimal(digits, scale),
        },
        Kind::Integer => Kind::Integer,
        _ => Kind::Number,
    }
}

/// A whole number that is written in the statement.
pub(crate) fn whole_literal<'b>(expr: &Expr, bound: &impl Fn(&Expr) -> Option<&'b SqliteValue>) -> Option<i64> {
    match (expr, bound(expr)) {
        (_, Some(SqliteValue::Integer(number))) => Some(*number),
        (Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. }), _) => digits.parse().ok(),
        (Expr::Nested(inner), _) => whole_literal(inner, bound),
        (Expr::UnaryOp { op: UnaryOperator::Minus, expr }, _) => whole_literal(expr, bound).map(i64::saturating_neg),
        _ => None,
    }
}

/// DECIMAL(digits, scale), which has ten digits where nothing is said.
fn of_size(size: &ExactNumberInfo) -> Kind {
    let (digits, scale) = match size {
        ExactNumberInfo::None => (10, 0),
        ExactNumberInfo::Precision(digits) => (*digits, 0),
        ExactNumberInfo::PrecisionAndScale(digits, scale) => (*digits, *scale),
    };
    let scale = u8::try_from(scale).unwrap_or(0).min(MAX_SCALE);
    Kind::Decimal(u8::try_from(digits).unwrap_or(MAX_DIGITS).clamp(scale.max(1), MAX_DIGITS), scale)
}
