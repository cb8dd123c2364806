//! Of what kind the values of an expression are, as far as that is known before the statement runs.

mod names;

use crate::calls::name_of;
use crate::collation::output;
use crate::functions;
use crate::state::State;
use crate::{Error, catalog::Column, documents, temporal};
pub(crate) use names::{is_star, selects};
use perfschema::core::table::SqlType;
use rusqlite::types::Value as SqliteValue;
use sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Interval, UnaryOperator,
    Value, ValueWithSpan, Visit,
};
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    /// Whole numbers.
    Integer,
    /// Fractions.
    Real,
    /// Either of these.
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
        matches!(self, Kind::Integer | Kind::Real | Kind::Number)
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
            other => Kind::of_moment(other).unwrap_or(Kind::Integer),
        }
    }

    /// What the column of a view is declared as, of which no more is known.
    pub(crate) fn column_type(self) -> SqlType {
        match self {
            Kind::Integer => SqlType::Bigint,
            Kind::Real | Kind::Number => SqlType::Double,
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
            (all, kind) => all.or(kind),
        })
    }
}

/// The kinds of all names that a statement may mean, columns and aliases: of one that means several things, what they have in common.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    names: HashMap<String, Kind>,
    /// The columns of tables that the statement derives, as `x.c`: of one alias other tables may have a column that is something else.
    derived: HashMap<String, Kind>,
    /// The columns of texts that have a number each; None if the name means something else, too.
    enums: HashMap<String, Option<Members>>,
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

    /// Of what kind all columns and aliases of this name are.
    pub(crate) fn of_column_named(&self, name: &str) -> Kind {
        self.names.get(&name.to_lowercase()).copied().unwrap_or(Kind::Unknown)
    }

    /// The members of an ENUM, if the expression is a column that is one.
    pub(crate) fn members(&self, expr: &Expr) -> Option<Members> {
        let name = match expr {
            Expr::Nested(inner) => return self.members(inner),
            Expr::Identifier(name) => name,
            Expr::CompoundIdentifier(names) => names.last()?,
            _ => return None,
        };
        self.enums.get(&name.value.to_lowercase()).copied().flatten()
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
                Value::Number(digits, _) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Kind::Integer,
                Value::Number(..) => Kind::Real,
                Value::Placeholder(_) => match bound(expr) {
                    None => Kind::Unknown,
                    Some(SqliteValue::Null) => Kind::Null,
                    Some(SqliteValue::Integer(_) | SqliteValue::Blob(_)) => Kind::Integer,
                    Some(SqliteValue::Real(_)) => Kind::Real,
                    Some(SqliteValue::Text(_)) => Kind::Text,
                },
                _ => Kind::Text,
            },
            Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr } => arithmetic([kind(expr)].into_iter()),
            Expr::BinaryOp { left, op, right } => match op {
                BinaryOperator::Plus | BinaryOperator::Minus | BinaryOperator::Multiply | BinaryOperator::Modulo => {
                    let later = |moment: &Expr, interval: &Interval| {
                        let unit = interval.leading_field.as_ref().map_or_else(String::new, ToString::to_string);
                        kind(moment).later(&unit, temporal::number_digits(&interval.value, &text, &kind))
                    };
                    match (&**left, &**right) {
                        (moment, Expr::Interval(interval)) | (Expr::Interval(interval), moment) => {
                            return later(moment, interval);
                        }
                        _ => {}
                    }
                    arithmetic([kind(left), kind(right)].into_iter())
                }
                BinaryOperator::Divide => Kind::Real,
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
            Expr::Substring { .. } | Expr::Trim { .. } | Expr::Prefixed { .. } => Kind::Text,
            Expr::Cast { data_type, .. } | Expr::Convert { data_type: Some(data_type), .. } => match data_type {
                DataType::Signed | DataType::SignedInteger | DataType::Unsigned | DataType::UnsignedInteger => Kind::Integer,
                DataType::Char(_) | DataType::Binary(_) => Kind::Text,
                DataType::JSON => Kind::Json,
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
                temporal::result(function, &text, &kind).unwrap_or_else(|| self.of_function(function, &kind))
            }
            _ => Kind::Unknown,
        }
    }

    fn of_function(&self, function: &Function, kind: &dyn Fn(&Expr) -> Kind) -> Kind {
        let (name, is_rewritten) = name_of(function);
        let name = name.to_ascii_lowercase();
        // Of those that compare, the first argument says how, once they are rewritten.
        let compared = usize::from(is_rewritten);
        let list = match &function.args {
            FunctionArguments::List(list) => list.args.as_slice(),
            _ => &[],
        };
        let arguments = list.iter().filter_map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(kind(expr)),
            _ => None,
        });
        match name.as_str() {
            "add" | "subtract" | "multiply" | "mod" | "negate" | "abs" | "sum" | "ceiling" | "ceil" | "floor" => {
                arithmetic(arguments)
            }
            "round" | "truncate" | "number" | "number_of_key" => Kind::Number,
            "avg" | "std" | "stddev" | "stddev_pop" | "stddev_samp" | "variance" | "var_pop" | "var_samp" => Kind::Real,
            "unix_timestamp" => Kind::Number,
            "min" | "max" | "any_value" | "single" | "first_value" | "last_value" | "nth_value" | "lag" | "lead" => {
                arguments.take(1).fold(Kind::Null, Kind::or)
            }
            "coalesce" | "ifnull" => Kind::result_of(arguments),
            "if" => Kind::result_of(arguments.skip(1)),
            _ if documents::RESULTS.contains(&name.as_str()) => Kind::Json,
            "nullif" => arguments.skip(compared).take(1).fold(Kind::Null, Kind::or),
            "greatest" | "least" => Kind::result_of(arguments.skip(compared)),
            _ => functions::result(&name).map_or(Kind::Unknown, Kind::of_result),
        }
    }
}

/// A column of a table as it is looked for.
fn dotted(table: &str, column: &str) -> String {
    format!("{table}.{column}").to_lowercase()
}

fn arithmetic(mut operands: impl Iterator<Item = Kind>) -> Kind {
    if operands.all(|kind| kind == Kind::Integer) { Kind::Integer } else { Kind::Number }
}
