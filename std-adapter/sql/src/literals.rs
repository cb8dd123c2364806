//! Literals: none reaches SQLite as text but plain numbers, all others are bound.

use crate::decimal::Decimal;
use crate::dialect::{Rewriter, literal};
use crate::moment::Moment;
use crate::state::{State, lock};
use crate::{Error, kinds, texts, times};
use perfschema::core::table::SqlType;
use perfschema::render::OwnedValue;
use rusqlite::types::Value as SqliteValue;
use sqlparser::ast::{DataType, Expr, TimezoneInfo, TypedString, Value, ValueWithSpan, VisitMut, visit_expressions_mut};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// What is bound.
#[derive(Default)]
pub(crate) struct Bound {
    pub(crate) values: Vec<SqliteValue>,
    /// Where a value is among them, from 1.
    places: HashMap<Vec<u8>, usize>,
    /// The numbers that hexadecimal and binary literals are where one is asked for, by those places.
    numbers: HashMap<usize, u64>,
}

/// Of the client's values those that are moments become literals that say so.
pub(crate) fn type_moments(tree: &mut impl VisitMut, state: &State, parameters: &[OwnedValue]) {
    let types = lock(&state.statement).types.clone();
    if types.iter().all(Option::is_none) {
        return;
    }
    let typed = |name: &str| {
        let place = index(name)?;
        let (OwnedValue::Text(text), Some(sql_type)) = (parameters.get(place)?, *types.get(place)?) else { return None };
        let data_type = match sql_type {
            SqlType::Time(_) => times::time_micros(text).map(|_| DataType::Time(None, TimezoneInfo::None)),
            SqlType::Date => Moment::parse_or_zero(text).map(|_| DataType::Date),
            _ => Moment::parse_or_zero(text).map(|_| DataType::Datetime(None)),
        };
        let value = Value::SingleQuotedString(text.clone()).with_empty_span();
        Some(TypedString { data_type: data_type?, value, uses_odbc_syntax: false })
    };
    let _ = visit_expressions_mut(tree, |expr| {
        if let Expr::Value(ValueWithSpan { value: Value::Placeholder(name), .. }) = expr
            && let Some(typed) = typed(name)
        {
            *expr = Expr::TypedString(typed);
        }
        ControlFlow::<()>::Continue(())
    });
}

/// Of the client's values the place of that which a placeholder stands for.
pub(crate) fn index(placeholder: &str) -> Option<usize> {
    placeholder.trim_start_matches('?').parse::<usize>().ok()?.checked_sub(1)
}

/// What is the same is bound once: the first letter of a value's type, and its bytes.
fn identity(value: &SqliteValue) -> Vec<u8> {
    match value {
        SqliteValue::Null => b"n".to_vec(),
        SqliteValue::Integer(number) => [b"i", number.to_ne_bytes().as_slice()].concat(),
        SqliteValue::Real(number) => [b"r", number.to_bits().to_ne_bytes().as_slice()].concat(),
        SqliteValue::Text(text) => [b"t", text.as_bytes()].concat(),
        SqliteValue::Blob(bytes) => [b"b", bytes.as_slice()].concat(),
    }
}

/// The place of what is bound, from 1.
fn place(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Value(ValueWithSpan { value: Value::Placeholder(name), .. }) => name.strip_prefix('?')?.parse().ok(),
        Expr::Nested(inner) => place(inner),
        _ => None,
    }
}

pub(crate) fn bound_value<'b>(bound: &'b [SqliteValue], expr: &Expr) -> Option<&'b SqliteValue> {
    bound.get(place(expr)?.checked_sub(1)?)
}

impl Rewriter<'_> {
    pub(crate) fn bind(&mut self, value: SqliteValue) -> Value {
        let place = self.place_of(identity(&value), value);
        Value::Placeholder(format!("?{place}"))
    }

    fn place_of(&mut self, identity: Vec<u8>, value: SqliteValue) -> usize {
        let Bound { values, places, .. } = &mut self.bound;
        *places.entry(identity).or_insert_with(|| {
            values.push(value);
            values.len()
        })
    }

    /// A hexadecimal or binary literal: a text, and a number where one is asked for.
    fn bytes(&mut self, bytes: &[u8]) -> Value {
        // A text that looks the same is no number.
        let identity = [b"h", bytes].concat();
        let place = self.place_of(identity, SqliteValue::Text(String::from_utf8_lossy(bytes).into_owned()));
        // As in MySQL, the last eight bytes count.
        let number = bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        self.bound.numbers.insert(place, number);
        Value::Placeholder(format!("?{place}"))
    }

    /// The number that a hexadecimal or binary literal is.
    pub(crate) fn number_of_bytes(&mut self, expr: &Expr) -> Option<Expr> {
        let number = *self.bound.numbers.get(&place(expr)?)?;
        Some(self.constant(&number.into()))
    }

    pub(crate) fn constant(&mut self, value: &OwnedValue) -> Expr {
        literal(self.bind(crate::value::store_owned(value)))
    }

    pub(crate) fn text(&mut self, text: &str) -> Expr {
        literal(self.bind(SqliteValue::Text(text.to_owned())))
    }

    pub(crate) fn bound_value(&self, expr: &Expr) -> Option<&SqliteValue> {
        bound_value(&self.bound.values, expr)
    }

    /// A whole number that is written in the statement.
    pub(crate) fn whole_literal(&self, expr: &Expr) -> Option<i64> {
        kinds::whole_literal(expr, &|value| self.bound_value(value))
    }

    /// What the client gave for a placeholder; NULL if nothing.
    pub(crate) fn parameter(&self, name: &str) -> OwnedValue {
        index(name).and_then(|index| self.parameters.get(index)).cloned().unwrap_or_default()
    }

    pub(crate) fn value(&mut self, value: &Value) -> Result<Value, Error> {
        match value {
            Value::Number(digits, false) => {
                let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit());
                match digits.parse::<f64>() {
                    Err(_) if !is_whole => return Err(Error::syntax(digits, 1)),
                    Ok(number) if number.is_infinite() => {
                        let message = format!("Illegal double '{digits}' value found during parsing");
                        return Err(Error::new(1367, "22007", message));
                    }
                    _ => {}
                }
                if is_whole && digits.parse::<i64>().is_err() {
                    return Ok(self.bind(match Decimal::literal(digits) {
                        Some(decimal) => decimal.store(),
                        None => SqliteValue::Real(digits.parse().unwrap_or(f64::MAX)),
                    }));
                }
                if !is_whole && let Some(decimal) = Decimal::literal(digits) {
                    return Ok(self.bind(decimal.store()));
                }
                Ok(Value::Number(digits.clone(), false))
            }
            Value::Boolean(_) | Value::Null => Ok(value.clone()),
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) | Value::NationalStringLiteral(text) => {
                Ok(self.bind(SqliteValue::Text(text.clone())))
            }
            Value::HexStringLiteral(digits) => {
                let bytes = texts::bytes_of_digits(digits).ok_or_else(|| Error::syntax(digits, 1))?;
                Ok(self.bytes(&bytes))
            }
            Value::Placeholder(name) => {
                let value = self.parameter(name);
                Ok(self.bind(crate::value::store_owned(&value)))
            }
            other => Err(Error::syntax(&other.to_string(), 1)),
        }
    }
}
