//! What SQLite has no words for, said in those that it has: trees of MySQL's dialect become others of MySQL's dialect, before they are
//! rewritten for SQLite.

use crate::copies::Copies;
use crate::dialect::{ident, literal, take};
use crate::kinds::is_star;
use crate::parse::template;
use crate::{Error, rollup};
use sqlparser::ast::{
    BinaryOperator, Expr, Ident, Query, Select, SelectItem, SetExpr, TableAlias, TableAliasColumnDef, TableFactor,
    TableWithJoins, Value, VisitMut, VisitorMut,
};
use std::ops::ControlFlow;

/// The same tree without WITH ROLLUP, names of columns in aliases of tables, ANY, ALL and rows that are compared with subqueries.
pub(crate) fn expand<T: VisitMut>(tree: &mut T, copies: &mut Copies) -> Result<(), Error> {
    tree.visit(&mut Expander { copies }).break_value().map_or(Ok(()), Err)
}

struct Expander<'c> {
    copies: &'c mut Copies,
}

impl VisitorMut for Expander<'_> {
    type Break = Error;

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        named_values(query);
        rollup::expand(query, self.copies).map_or_else(ControlFlow::Break, ControlFlow::Continue)
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
        if let TableFactor::Derived { lateral: false, subquery, alias: Some(alias), sample: None } = factor
            && !alias.columns.is_empty()
            && alias.at.is_none()
        {
            let columns = alias.columns.iter().map(|column| column.name.clone()).collect();
            *factor = renamed(std::mem::replace(subquery, Box::new(template("SELECT 1"))), &alias.name, columns);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        comparison_with_query(expr).map_or_else(ControlFlow::Break, ControlFlow::Continue)
    }
}

/// `(WITH name (columns) AS (query) SELECT * FROM name) AS name`: SQLite names the columns of WITH only.
pub(crate) fn renamed(query: Box<Query>, name: &Ident, columns: Vec<Ident>) -> TableFactor {
    let mut outer = template("WITH name (a) AS (SELECT 1) SELECT * FROM name");
    if let Some(cte) = outer.with.as_mut().and_then(|with| with.cte_tables.first_mut()) {
        cte.alias.name = name.clone();
        cte.alias.columns = columns.into_iter().map(|name| TableAliasColumnDef { name, data_type: None }).collect();
        cte.query = query;
    }
    if let SetExpr::Select(select) = &mut *outer.body
        && let Some(TableWithJoins { relation: TableFactor::Table { name: table, .. }, .. }) = select.from.first_mut()
    {
        *table = vec![name.clone()].into();
    }
    let alias = TableAlias { explicit: true, name: name.clone(), columns: Vec::new(), at: None };
    TableFactor::Derived { lateral: false, subquery: Box::new(outer), alias: Some(alias), sample: None }
}

/// `SELECT … FROM factor`, with this alone in it.
pub(crate) fn select_from(factor: TableFactor, projection: Vec<SelectItem>) -> Box<Select> {
    let SetExpr::Select(mut select) = *template("SELECT 1 FROM dual").body else { unreachable!("the template is a SELECT") };
    select.from = vec![TableWithJoins { relation: factor, joins: Vec::new() }];
    select.projection = projection;
    select
}

/// A query and nothing around it.
pub(crate) fn query_of(body: SetExpr) -> Box<Query> {
    let mut query = template("SELECT 1");
    query.body = Box::new(body);
    Box::new(query)
}

/// `VALUES ROW(1, 2)`: its columns are `column_0` and so on.
fn named_values(query: &mut Query) {
    let SetExpr::Values(values) = &mut *query.body else { return };
    if !std::mem::take(&mut values.explicit_row) {
        return;
    }
    let width = values.rows.first().map_or(0, |row| row.content.len());
    let columns = (0..width).map(|index| ident(&format!("column_{index}"))).collect();
    let rows = std::mem::replace(&mut *query.body, SetExpr::Select(select_from(empty_factor(), Vec::new())));
    let all = vec![SelectItem::Wildcard(Default::default())];
    *query.body = SetExpr::Select(select_from(renamed(query_of(rows), &ident("values"), columns), all));
}

pub(crate) fn empty_factor() -> TableFactor {
    TableFactor::Derived { lateral: false, subquery: Box::new(template("SELECT 1")), alias: None, sample: None }
}

/// The query that stands in parentheses, however many.
fn subquery_of(expr: &mut Expr) -> Option<&mut Box<Query>> {
    match expr {
        Expr::Nested(inner) => subquery_of(inner),
        Expr::Subquery(query) => Some(query),
        _ => None,
    }
}

fn width_of(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Nested(inner) => width_of(inner),
        Expr::Tuple(list) => Some(list.len()),
        _ => None,
    }
}

/// What a query within an expression is called, and its columns: names that nobody else has, so that they hide none.
pub(crate) const WITHIN: &str = "(subquery)";

/// Whether one of the comparisons is true, and whether all are; NULL where that is not known.
pub(crate) const ANY: &str = "SELECT CASE WHEN MAX(e) = 1 THEN 1 WHEN COUNT(*) > COUNT(e) THEN NULL ELSE 0 END";
const ALL: &str = "SELECT CASE WHEN MIN(e) = 0 THEN 0 WHEN COUNT(*) > COUNT(e) THEN NULL ELSE 1 END";

fn column(index: usize) -> Ident {
    ident(&format!("({index})"))
}

/// The columns of a query as the operand of a comparison.
pub(crate) fn operand(width: usize) -> Expr {
    let column = |index| Expr::CompoundIdentifier(vec![ident(WITHIN), column(index)]);
    if width == 1 { column(0) } else { Expr::Tuple((0..width).map(column).collect()) }
}

fn is_comparison(op: &BinaryOperator) -> bool {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq, Spaceship};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq | Spaceship)
}

/// How many columns a query has; None if that is not known before it is run.
pub(crate) fn columns_of(body: &SetExpr) -> Option<usize> {
    match body {
        SetExpr::Select(select) => (!select.projection.iter().any(is_star)).then_some(select.projection.len()),
        SetExpr::SetOperation { left, .. } => columns_of(left),
        SetExpr::Query(query) => columns_of(&query.body),
        _ => None,
    }
}

/// `query AS (subquery)`, of so many columns.
fn named(query: &mut Box<Query>, width: usize) -> Result<TableFactor, Error> {
    within(std::mem::replace(query, Box::new(template("SELECT 1"))), width)
}

/// The same of a query that stands nowhere any more.
pub(crate) fn within(query: Box<Query>, width: usize) -> Result<TableFactor, Error> {
    if columns_of(&query.body).is_some_and(|columns| columns != width) {
        return Err(Error::column_count(width));
    }
    Ok(renamed(query, &ident(WITHIN), (0..width).map(column).collect()))
}

/// `(a, b) = (SELECT x, y …)`, `a > ALL (SELECT …)`.
fn comparison_with_query(expr: &mut Expr) -> Result<(), Error> {
    match expr {
        Expr::BinaryOp { left, op, right } if is_comparison(op) => {
            let turned = width_of(left).is_none();
            let (row, other) = if turned { (right, left) } else { (left, right) };
            let (Some(width), Some(query)) = (width_of(row), subquery_of(other)) else { return Ok(()) };
            let (row, found) = (Box::new(take(row)), Box::new(operand(width)));
            let (left, right) = if turned { (found, row) } else { (row, found) };
            let compared = Expr::BinaryOp { left, op: op.clone(), right };
            *expr = Expr::Subquery(select_within(named(query, width)?, compared));
        }
        Expr::AnyOp { left, compare_op, right, .. } if *compare_op != BinaryOperator::Eq => {
            quantified(left, compare_op, right, ANY)?.into_iter().for_each(|any| *expr = any);
        }
        Expr::AllOp { left, compare_op, right } if *compare_op != BinaryOperator::NotEq => {
            quantified(left, compare_op, right, ALL)?.into_iter().for_each(|all| *expr = all);
        }
        _ => {}
    }
    Ok(())
}

/// `SELECT compared AS e FROM query`
pub(crate) fn select_within(query: TableFactor, compared: Expr) -> Box<Query> {
    query_of(SetExpr::Select(select_from(query, vec![SelectItem::ExprWithAlias { expr: compared, alias: ident("e") }])))
}

/// The comparisons with each row of a query, taken together; None if it is no query.
fn quantified(left: &mut Expr, op: &BinaryOperator, right: &mut Expr, how: &str) -> Result<Option<Expr>, Error> {
    let width = width_of(left).unwrap_or(1);
    let Some(query) = subquery_of(right) else { return Ok(None) };
    let found = named(query, width)?;
    let left = Box::new(Expr::Nested(Box::new(take(left))));
    let compared = Expr::BinaryOp { left, op: op.clone(), right: Box::new(operand(width)) };
    Ok(Some(together(how, select_within(found, compared))))
}

/// `(SELECT … FROM query)`, in which `e` is a column of the query.
pub(crate) fn together(sql: &str, compared: Box<Query>) -> Expr {
    let mut query = template(sql);
    if let SetExpr::Select(select) = &mut *query.body {
        let alias = TableAlias { explicit: true, name: ident("e"), columns: Vec::new(), at: None };
        let factor = TableFactor::Derived { lateral: false, subquery: compared, alias: Some(alias), sample: None };
        select.from = vec![TableWithJoins { relation: factor, joins: Vec::new() }];
    }
    Expr::Subquery(Box::new(query))
}

pub(crate) fn null() -> Expr {
    literal(Value::Null)
}
