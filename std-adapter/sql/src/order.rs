//! What is sorted by: a column of an ENUM by the numbers of its texts, numbers of which some have no integer of SQLite's by their size, a
//! document by what it holds.

use crate::collation::compare_without_case;
use crate::compare::is_binary;
use crate::dialect::{Rewriter, call, collate, derived, ident, take};
use crate::expand::query_of;
use crate::functions::Arguments;
use crate::kinds::{Kind, is_star, selects};
use crate::parse::template;
use crate::state::State;
use crate::subquery::spend_aliases;
use crate::value::{self, Number};
use crate::{Error, assigned};
use rusqlite::types::{Value, ValueRef};
use sqlparser::ast::{
    Expr, Ident, OrderBy, OrderByExpr, OrderByKind, Query, Select, SelectItem, SetExpr, Value as Literal, ValueWithSpan,
    WindowSpec,
};

/// What a column of the result is, and what it is called.
fn item(select: &Select, place: usize) -> Option<(&Ident, &Expr)> {
    match select.projection.get(place)? {
        SelectItem::ExprWithAlias { expr, alias } => Some((alias, expr)),
        _ => None,
    }
}

/// The column of the result that is meant by its place or its name.
fn place(select: &Select, expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Value(ValueWithSpan { value: Literal::Number(digits, _), .. }) => digits.parse::<usize>().ok()?.checked_sub(1),
        Expr::Identifier(name) => (0..select.projection.len())
            .find(|place| item(select, *place).is_some_and(|(alias, _)| alias.value.eq_ignore_ascii_case(&name.value))),
        _ => None,
    }
}

/// What the selects of a UNION have in the column that is meant.
fn of_union<'b>(body: &'b SetExpr, expr: &Expr) -> impl Iterator<Item = (&'b Ident, &'b Expr)> {
    let all = selects(body);
    let place = all.first().and_then(|first| place(first, expr));
    all.into_iter().filter_map(move |select| item(select, place?))
}

fn take_body(body: &mut SetExpr) -> SetExpr {
    std::mem::replace(body, *template("SELECT 1").body)
}

/// The function of ours that makes of a value what SQLite sorts as MySQL sorts the value.
fn sort_key(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Number | Kind::Decimal(..) => Some("number_key"),
        Kind::Json => Some("json_order"),
        Kind::Time(_) => Some("time_key"),
        _ => None,
    }
}

/// A number stands for a column of the result, which must be there; how many `*` stands for, SQLite knows.
pub(crate) fn check_place(select: &Select, expr: &Expr, clause: &str) -> Result<(), Error> {
    let Expr::Value(ValueWithSpan { value: Literal::Number(digits, _), .. }) = expr else { return Ok(()) };
    let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_there = digits.parse().is_ok_and(|place| (1..=select.projection.len()).contains(&place));
    if !is_whole || is_there || select.projection.iter().any(is_star) {
        Ok(())
    } else {
        Err(Error::unknown_column(digits, clause))
    }
}

impl Rewriter<'_> {
    /// ORDER BY of a query, after its parts were rewritten.
    pub(crate) fn order_query(&mut self, query: &mut Query) -> Result<(), Error> {
        let Some(OrderBy { kind: OrderByKind::Expressions(order), .. }) = &mut query.order_by else { return Ok(()) };
        if let SetExpr::SetOperation { .. } = &*query.body {
            let columns: Vec<Option<Ident>> = order.iter().map(|by| self.number_of_union(&query.body, &by.expr)).collect();
            for by in order.iter_mut() {
                if of_union(&query.body, &by.expr).any(|(_, expr)| self.counts_case(expr)) {
                    by.expr = collate(take(&mut by.expr), true);
                }
            }
            if columns.iter().all(Option::is_none) {
                order.iter_mut().for_each(|by| compare_without_case(&mut by.expr));
                return Ok(());
            }
            // SQLite sorts a UNION by its columns and nothing else.
            for (by, column) in order.iter_mut().zip(columns) {
                match column {
                    Some(column) => by.expr = call("number_key", vec![Expr::Identifier(column)]),
                    None => compare_without_case(&mut by.expr),
                }
            }
            *query.body = derived(query_of(take_body(&mut query.body)));
            return Ok(());
        }
        let select = match &*query.body {
            SetExpr::Select(select) => Some(&**select),
            _ => None,
        };
        if let Some(select) = select {
            spend_aliases(select, order.iter().map(|by| &by.expr), &mut self.copies)?;
        }
        let Some(columns) = select.and_then(|select| self.assigned_columns(select, order)) else {
            return self.order(order, select);
        };
        // What is assigned is not assigned once more to be sorted by.
        for (by, (column, key)) in order.iter_mut().zip(columns) {
            by.expr = match key {
                Some(function) => call(function, vec![Expr::Identifier(column)]),
                None => Expr::Identifier(column),
            };
            self.collate_key(&mut by.expr);
        }
        let mut inner = query_of(take_body(&mut query.body));
        assigned::evaluate_once(&mut inner);
        *query.body = derived(inner);
        Ok(())
    }

    /// The columns that are sorted by, and the functions of their keys, where some assign variables and all can be named from outside.
    fn assigned_columns(&self, select: &Select, order: &[OrderByExpr]) -> Option<Vec<(Ident, Option<&'static str>)>> {
        let columns: Option<Vec<_>> = order.iter().map(|by| item(select, place(select, &by.expr)?)).collect();
        let columns = columns?;
        // The number of an ENUM's text is that of its column.
        let is_meant = columns.iter().any(|(_, expr)| assigned::assigns(expr))
            && columns.iter().all(|(_, expr)| self.kinds.members(expr).is_none());
        is_meant.then(|| columns.iter().map(|(name, expr)| (ident(&name.value), sort_key(self.kind(expr)))).collect())
    }

    /// The name of a UNION's column that is of numbers of all kinds.
    fn number_of_union(&self, body: &SetExpr, expr: &Expr) -> Option<Ident> {
        let (name, _) = of_union(body, expr).next()?;
        Kind::result_of(of_union(body, expr).map(|(_, expr)| self.kind(expr))).has_decimals().then(|| ident(&name.value))
    }

    /// Whether letter case counts in it: it is a column in which it does, or the client says so.
    fn counts_case(&self, expr: &Expr) -> bool {
        self.kinds.is_binary(expr) || is_binary(std::iter::once(expr))
    }

    /// ORDER BY, of a query with these columns or within something else.
    pub(crate) fn order(&mut self, order: &mut [OrderByExpr], select: Option<&Select>) -> Result<(), Error> {
        for by in order {
            let column = select.and_then(|select| item(select, place(select, &by.expr)?)).map(|(_, expr)| expr);
            let sorted = column.unwrap_or(&by.expr);
            let is_enum = self.kinds.members(sorted).is_some();
            let function = sort_key(self.kind(sorted));
            if is_enum || function.is_some() {
                if column.is_some() {
                    self.copies.spend(sorted, 1)?;
                }
                let sorted = sorted.clone();
                by.expr = match function {
                    Some(function) if !is_enum => call(function, vec![sorted]),
                    _ => self.as_number(sorted),
                };
            } else if self.counts_case(sorted) {
                by.expr = collate(take(&mut by.expr), true);
            }
            compare_without_case(&mut by.expr);
        }
        Ok(())
    }

    pub(crate) fn order_window(&mut self, window: &mut WindowSpec) -> Result<(), Error> {
        window.partition_by.iter_mut().for_each(|key| self.collate_key(key));
        self.order(&mut window.order_by, None)
    }
}

/// Bytes in the order of the numbers, whole or not: what is below the point, what is above it, and of a fraction or of an exact number its
/// own bytes.
pub(crate) fn number_key(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let number = match arguments[0] {
        ValueRef::Null => return Ok(Value::Null),
        value @ ValueRef::Text(_) => return Ok(value::owned(value)),
        value => Number::of(value),
    };
    let in_order = |real: f64| {
        let bits = real.to_bits();
        if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
    };
    let (whole, rest, own) = match number {
        None => return Ok(Value::Null),
        Some(Number::Integer(number)) => (number, 0.0, Vec::new()),
        Some(Number::Decimal(number)) => {
            let own = if let Value::Blob(bytes) = number.store() { bytes } else { Vec::new() };
            let (whole, rest) = number.parts();
            // A whole number of 16 bytes is the same number without them.
            (whole, rest, if own.len() == 16 { Vec::new() } else { own })
        }
        Some(Number::Real(number)) => {
            // Larger ones than there are integers for are all rest.
            let whole = number.floor() as i128;
            let is_largest = whole == i128::MAX || whole == i128::MIN;
            (whole, if is_largest { number } else { number - number.floor() }, number.to_bits().to_be_bytes().to_vec())
        }
    };
    let mut key = (whole as u128 ^ 1 << 127).to_be_bytes().to_vec();
    key.extend(in_order(rest).to_be_bytes());
    key.extend(own);
    Ok(Value::Blob(key))
}

/// The number again.
pub(crate) fn number_of_key(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let ValueRef::Blob(key) = arguments[0] else { return Ok(value::owned(arguments[0])) };
    if let Some(own) = key.get(24..).filter(|own| own.len() > 8) {
        return Ok(Value::Blob(own.to_vec()));
    }
    if let Some(bits) = key.get(24..).and_then(|bits| bits.try_into().ok()) {
        return Ok(Value::Real(f64::from_bits(u64::from_be_bytes(bits))));
    }
    let whole = key.get(..16).and_then(|whole| whole.try_into().ok()).map(u128::from_be_bytes);
    whole.map_or(Ok(Value::Null), |whole| Number::Integer((whole ^ 1 << 127) as i128).store())
}
