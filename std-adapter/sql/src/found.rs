//! SQL_CALC_FOUND_ROWS: the rows beyond LIMIT are counted, for FOUND_ROWS().

use crate::Error;
use crate::columns::leftmost;
use crate::limits::of_parameter;
use crate::literals::index;
use crate::state::{State, lock};
use perfschema::render::OwnedValue;
use sqlparser::ast::{Expr, LimitClause, Query, SetExpr, Value, ValueWithSpan};

/// The rows of a statement, and which of them are given to the client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) rows: u64,
    skip: u64,
    most: u64,
}

impl Found {
    /// Counts a row, and says whether it is given to the client.
    pub(crate) fn is_wanted(&mut self) -> bool {
        let place = self.rows;
        self.rows += 1;
        place >= self.skip && place - self.skip < self.most
    }
}

/// What is deprecated is still done.
pub(crate) fn warn(state: &State, message: &str) {
    state.warn("Warning", Error::new(1287, "HY000", message));
}

/// Takes the LIMIT of a query that is to count all of its rows.
pub(crate) fn count_all(query: &mut Query, parameters: &[OwnedValue], state: &State) {
    let SetExpr::Select(select) = leftmost(&mut query.body) else { return };
    if !select.select_modifiers.as_ref().is_some_and(|modifiers| modifiers.sql_calc_found_rows) {
        return;
    }
    let message =
        "SQL_CALC_FOUND_ROWS is deprecated and will be removed in a future release. Consider using two separate queries instead.";
    warn(state, message);
    let number = |expr: Option<&Expr>| match expr {
        Some(Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. })) => digits.parse().ok(),
        Some(Expr::Value(ValueWithSpan { value: Value::Placeholder(name), .. })) => of_parameter(parameters.get(index(name)?)?),
        _ => None,
    };
    let (skip, most) = match &query.limit_clause {
        Some(LimitClause::LimitOffset { limit, offset, .. }) => {
            (offset.as_ref().map_or(Some(0), |offset| number(Some(&offset.value))), number(limit.as_ref()))
        }
        Some(LimitClause::OffsetCommaLimit { offset, limit }) => (number(Some(offset)), number(Some(limit))),
        None => return,
    };
    // What is no number is refused as in other queries.
    if let (Some(skip), Some(most)) = (skip, most) {
        query.limit_clause = None;
        lock(&state.statement).found = Some(Found { rows: 0, skip, most });
    }
}
