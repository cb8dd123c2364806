//! WITH RECURSIVE ends: each row knows how many steps it took, in a column that nobody sees, and `cte_max_recursion_depth` says how many
//! there may be.
//!
//! `n AS (SELECT 1 AS i UNION SELECT i + 1 FROM n)` becomes, in SQLite's words,
//!
//! ```sql
//! n AS (WITH RECURSIVE "(n)" AS (SELECT 1 AS i, '1' AS "(depth)" UNION SELECT i + 1, deeper("(depth)") FROM "(n)" AS n
//!                                WHERE deeper("(depth)") IS NOT NULL)
//!       SELECT i FROM "(n)")
//! ```
//!
//! By the collation of that column all depths are equal, so UNION finds the rows that were there already.

use crate::Error;
use crate::dialect::{call, ident, literal, numeral, qualified};
use crate::expand::{query_of, renamed, select_from};
use crate::functions::Arguments;
use crate::kinds::selects;
use crate::parse::template;
use crate::state::State;
use crate::value::Number;
use rusqlite::types::Value;
use sqlparser::ast::{
    BinaryOperator, Cte, Expr, Ident, ObjectName, Query, Select, SelectItem, SetExpr, TableAlias, TableFactor, TableWithJoins,
    Value as Literal,
};

/// In which all texts are equal.
pub(crate) const COLLATION: &str = "DEPTH";
const DEPTH: &str = "(depth)";
const NAME: &str = "(recursive)";

/// One more step, if the second argument allows it.
pub(crate) fn deeper(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some((depth, most)) = Number::of(arguments[0]).zip(Number::of(arguments[1])) else { return Ok(Value::Null) };
    let (depth, most) = (depth.whole(), most.whole());
    if depth > most {
        let message = format!(
            "Recursive query aborted after {depth} iterations. Try increasing @@cte_max_recursion_depth to a larger value."
        );
        return Err(Error::new(3636, "HY000", message));
    }
    Ok(Value::Text((depth + 1).to_string()))
}

/// Bounds the steps of each recursion that a query begins with, after it was rewritten. One of columns that are not known, as `*` is,
/// is bounded by the time and the memory of its statement.
pub(crate) fn limit_depth(query: &mut Query, most: u64) {
    let Some(with) = query.with.as_mut().filter(|with| with.recursive) else { return };
    for cte in &mut with.cte_tables {
        if let Some(columns) = columns(cte) {
            limit(cte, columns, most);
        }
    }
}

/// What the columns of a recursion are called; None if it is none.
fn columns(cte: &Cte) -> Option<Vec<Ident>> {
    let members = selects(&cte.query.body);
    if !is_union_of_selects(&cte.query.body) || !members.iter().any(|select| is_step(select, &cte.alias.name)) {
        return None;
    }
    let name = |item: &SelectItem| match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias.clone()),
        _ => None,
    };
    let mut all = members.iter().map(|select| select.projection.iter().map(name).collect::<Option<Vec<Ident>>>());
    let first = all.next()??;
    if !all.all(|columns| columns.is_some_and(|columns| columns.len() == first.len())) {
        return None;
    }
    match cte.alias.columns.len() {
        0 => Some(first),
        named if named == first.len() => Some(cte.alias.columns.iter().map(|column| column.name.clone()).collect()),
        // It will be refused.
        _ => None,
    }
}

fn is_union_of_selects(body: &SetExpr) -> bool {
    match body {
        SetExpr::Select(_) => true,
        SetExpr::SetOperation { left, right, .. } => is_union_of_selects(left) && is_union_of_selects(right),
        _ => false,
    }
}

fn factors(select: &mut Select) -> impl Iterator<Item = &mut TableFactor> {
    select
        .from
        .iter_mut()
        .flat_map(|table| std::iter::once(&mut table.relation).chain(table.joins.iter_mut().map(|join| &mut join.relation)))
}

fn is_named(factor: &TableFactor, wanted: &Ident) -> bool {
    matches!(factor, TableFactor::Table { name, .. }
        if matches!(qualified(name), Ok((None, name)) if name.eq_ignore_ascii_case(&wanted.value)))
}

fn is_step(select: &Select, name: &Ident) -> bool {
    let of_table =
        |table: &TableWithJoins| is_named(&table.relation, name) || table.joins.iter().any(|join| is_named(&join.relation, name));
    select.from.iter().any(of_table)
}

fn limit(cte: &mut Cte, columns: Vec<Ident>, most: u64) {
    add_depth(&mut cte.query.body, &cte.alias.name, most);
    let query = std::mem::replace(&mut cte.query, Box::new(template("SELECT 1")));
    let names = columns.iter().cloned().chain([ident(DEPTH)]).collect();
    let column = |name: &Ident| SelectItem::ExprWithAlias {
        expr: Expr::CompoundIdentifier(vec![ident(NAME), name.clone()]),
        alias: name.clone(),
    };
    let projection = columns.iter().map(column).collect();
    let mut factor = renamed(query, &ident(NAME), names);
    if let TableFactor::Derived { subquery, .. } = &mut factor
        && let Some(with) = &mut subquery.with
    {
        with.recursive = true;
    }
    cte.query = query_of(SetExpr::Select(select_from(factor, projection)));
}

fn add_depth(body: &mut SetExpr, name: &Ident, most: u64) {
    match body {
        SetExpr::SetOperation { left, right, .. } => {
            add_depth(left, name, most);
            add_depth(right, name, most);
        }
        SetExpr::Select(select) => {
            let step = factors(select).find(|factor| is_named(factor, name));
            let expr = match step {
                None => literal(Literal::SingleQuotedString("1".to_owned())),
                Some(factor) => {
                    let depth = step_of(factor, name, most);
                    let is_allowed = Expr::IsNotNull(Box::new(depth.clone()));
                    // First of all: what the others choose was read already.
                    select.selection = Some(match select.selection.take() {
                        None => is_allowed,
                        Some(others) => Expr::BinaryOp {
                            left: Box::new(is_allowed),
                            op: BinaryOperator::And,
                            right: Box::new(Expr::Nested(Box::new(others))),
                        },
                    });
                    depth
                }
            };
            let expr = Expr::Collate { expr: Box::new(expr), collation: ObjectName::from(vec![ident(COLLATION)]) };
            select.projection.push(SelectItem::ExprWithAlias { expr, alias: ident(DEPTH) });
        }
        _ => {}
    }
}

/// The table of the rows so far, under its new name, and how deep what is made of one of them is.
fn step_of(factor: &mut TableFactor, cte: &Ident, most: u64) -> Expr {
    let mut known = cte.clone();
    if let TableFactor::Table { name, alias, .. } = factor {
        *name = ObjectName::from(vec![ident(NAME)]);
        let alias = alias.get_or_insert_with(|| TableAlias { explicit: true, name: cte.clone(), columns: Vec::new(), at: None });
        known = alias.name.clone();
    }
    let depth = Expr::CompoundIdentifier(vec![known, ident(DEPTH)]);
    call("deeper", vec![depth, numeral(most)])
}
