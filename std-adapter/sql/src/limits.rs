//! LIMIT: whole numbers, written in the statement or given by the client.

use crate::Error;
use crate::dialect::{Rewriter, heading, numeral};
use crate::value::plain;
use perfschema::render::OwnedValue;
use sqlparser::ast::{Expr, LimitClause, Query, Value, ValueWithSpan};

impl Rewriter<'_> {
    /// Before the numbers are rewritten: a parameter may be a text, a literal may not, and both will be bound.
    pub(crate) fn limits(&self, query: &mut Query) -> Result<(), Error> {
        let numbers = match &mut query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, .. }) => {
                [limit.as_mut(), offset.as_mut().map(|offset| &mut offset.value)]
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => [Some(limit), Some(offset)],
            None => return Ok(()),
        };
        for number in numbers.into_iter().flatten() {
            let wrong = || Error::syntax(&heading(number), 1);
            let Expr::Value(ValueWithSpan { value, .. }) = &*number else { return Err(wrong()) };
            let rows = match value {
                Value::Number(digits, false) => of_digits(digits).ok_or_else(wrong)?,
                Value::Placeholder(name) => match self.parameter(name) {
                    // Of a statement that is only described.
                    OwnedValue::Null => continue,
                    given => of_parameter(&given).ok_or_else(|| Error::syntax(&given.as_value().to_string(), 1))?,
                },
                _ => return Err(wrong()),
            };
            // `LIMIT 5, 18446744073709551615`: more rows than SQLite has numbers for.
            let rows = i64::try_from(rows).unwrap_or(i64::MAX);
            *number = numeral(rows);
        }
        Ok(())
    }
}

fn of_digits(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Clients send numbers as texts, too, and as fractions that are none.
pub(crate) fn of_parameter(value: &OwnedValue) -> Option<u64> {
    match plain(value.clone()) {
        OwnedValue::Unsigned(number) => Some(number),
        OwnedValue::Signed(number) => number.try_into().ok(),
        OwnedValue::Double(number) => (number >= 0.0 && number.fract() == 0.0).then_some(number as u64),
        OwnedValue::Text(text) => of_digits(&text),
        OwnedValue::Null | OwnedValue::Decimal(_) => None,
    }
}
