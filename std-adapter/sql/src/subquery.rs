//! SELECT within SELECT, and what of a SELECT SQLite has no words for.

use crate::Error;
use crate::calls::name_of;
use crate::copies::Copies;
use crate::dialect::{call, heading, ident, take};
use crate::functions::AGGREGATES;
use crate::parse::template;
use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, Ident, LimitClause, Query, Select, SelectItem, SetExpr, TableFactor, TableWithJoins,
    Value, ValueWithSpan, Visit, VisitMut, Visitor, VisitorMut, visit_expressions,
};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

pub(crate) fn is_aggregate(expr: &Expr) -> bool {
    matches!(expr, Expr::Function(function) if function.over.is_none()
        && AGGREGATES.iter().any(|known| known.eq_ignore_ascii_case(name_of(function).0)))
}

/// The first of what is looked for that stands in it, and not in a query within.
pub(crate) fn search<R>(tree: &impl Visit, look: impl FnMut(&Expr) -> Option<R>) -> Option<R> {
    struct Search<L> {
        depth: usize,
        look: L,
    }
    impl<R, L: FnMut(&Expr) -> Option<R>> Visitor for Search<L> {
        type Break = R;
        fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<R> {
            self.depth += 1;
            ControlFlow::Continue(())
        }
        fn post_visit_query(&mut self, _: &Query) -> ControlFlow<R> {
            self.depth -= 1;
            ControlFlow::Continue(())
        }
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<R> {
            let found = if self.depth == 0 { (self.look)(expr) } else { None };
            found.map_or(ControlFlow::Continue(()), ControlFlow::Break)
        }
    }
    tree.visit(&mut Search { depth: 0, look }).break_value()
}

fn has_aggregate(tree: &impl Visit) -> bool {
    search(tree, |expr| is_aggregate(expr).then_some(())).is_some()
}

/// Refuses what is made of several rows: aggregates and windows, where one row is looked at.
pub(crate) fn check_of_one_row(expr: &Expr) -> Result<(), Error> {
    let refused = search(expr, |expr| match expr {
        Expr::Function(function) if function.over.is_some() => Some(Error::wrong_window(name_of(function).0)),
        expr => is_aggregate(expr).then(Error::wrong_group),
    });
    refused.map_or(Ok(()), Err)
}

fn has_groups(select: &Select) -> bool {
    !matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty())
}

/// What the name of a column consists of.
pub(crate) fn parts(expr: &Expr) -> Option<&[Ident]> {
    match expr {
        Expr::Identifier(name) => Some(std::slice::from_ref(name)),
        Expr::CompoundIdentifier(names) => Some(names),
        _ => None,
    }
}

pub(crate) fn without_parentheses(mut expr: &Expr) -> &Expr {
    while let Expr::Nested(inner) = expr {
        expr = inner;
    }
    expr
}

/// Whether it is a column of this name.
pub(crate) fn is_named(expr: &Expr, name: &Ident) -> bool {
    parts(expr).and_then(<[Ident]>::last).is_some_and(|last| last.value.eq_ignore_ascii_case(&name.value))
}

/// Puts what the columns of the result are in the place of their names, which are in lower case here.
pub(crate) fn without_aliases(expr: &mut Expr, aliases: &HashMap<String, &Expr>, copies: &mut Copies) -> Result<(), Error> {
    let meant = |expr: &Expr| match expr {
        Expr::Identifier(name) => aliases.get(&name.value.to_lowercase()).copied(),
        _ => None,
    };
    replace(expr, &meant, copies)
}

/// SQLite, too, puts what the columns of the result are in the place of their names: in WHERE, GROUP BY and ORDER BY.
pub(crate) fn spend_aliases<'e>(
    select: &Select,
    exprs: impl Iterator<Item = &'e Expr>,
    copies: &mut Copies,
) -> Result<(), Error> {
    let aliases: HashMap<String, &Expr> = select
        .projection
        .iter()
        .filter_map(|item| match item {
            SelectItem::ExprWithAlias { expr, alias } if parts(expr).is_none() => Some((alias.value.to_lowercase(), expr)),
            _ => None,
        })
        .collect();
    if aliases.is_empty() {
        return Ok(());
    }
    let mut times: HashMap<String, usize> = HashMap::new();
    for expr in exprs {
        let _ = visit_expressions(expr, |expr| {
            if let Expr::Identifier(name) = expr {
                *times.entry(name.value.to_lowercase()).or_default() += 1;
            }
            ControlFlow::<()>::Continue(())
        });
    }
    times
        .iter()
        .filter_map(|(name, times)| Some((aliases.get(name)?, *times)))
        .try_for_each(|(expr, times)| copies.spend(expr, times))
}

/// Puts what names mean in their place. In an aggregate and in a query within it is a table's column that is meant.
pub(crate) fn replace<'m>(expr: &mut Expr, meant: &dyn Fn(&Expr) -> Option<&'m Expr>, copies: &mut Copies) -> Result<(), Error> {
    struct Replace<'a, 'm> {
        meant: &'a dyn Fn(&Expr) -> Option<&'m Expr>,
        copies: &'a mut Copies,
        /// Aggregates and queries that are around.
        depth: usize,
        /// All expressions that are.
        level: usize,
    }
    impl VisitorMut for Replace<'_, '_> {
        type Break = Error;
        fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
            self.depth += 1;
            ControlFlow::Continue(())
        }
        fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
            self.depth -= 1;
            ControlFlow::Continue(())
        }
        fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
            self.depth += usize::from(is_aggregate(expr));
            self.level += 1;
            ControlFlow::Continue(())
        }
        fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
            self.depth -= usize::from(is_aggregate(expr));
            if self.depth == 0
                && let Some(meant) = (self.meant)(expr)
            {
                match self.copies.copy(meant, self.level) {
                    Ok(copy) => *expr = Expr::Nested(Box::new(copy)),
                    Err(error) => return ControlFlow::Break(error),
                }
            }
            self.level -= 1;
            ControlFlow::Continue(())
        }
    }
    let mut replacer = Replace { meant, copies, depth: 0, level: 0 };
    VisitMut::visit(expr, &mut replacer).break_value().map_or(Ok(()), Err)
}

/// HAVING knows what the columns of the result are called, and takes them before those of the tables, but for what is grouped by. Where there
/// are no groups it chooses rows: it becomes part of WHERE.
pub(crate) fn having(select: &mut Select, copies: &mut Copies) -> Result<(), Error> {
    let Some(mut having) = select.having.take() else { return Ok(()) };
    let keys = match &select.group_by {
        GroupByExpr::Expressions(keys, _) => keys.as_slice(),
        GroupByExpr::All(_) => &[],
    };
    let aliases = select.projection.iter().filter_map(|item| match item {
        SelectItem::ExprWithAlias { expr, alias } if !keys.iter().any(|key| is_named(key, alias)) => {
            Some((alias.value.to_lowercase(), expr))
        }
        _ => None,
    });
    without_aliases(&mut having, &aliases.collect(), copies)?;
    let has_aggregates = has_aggregate(&select.projection);
    if has_groups(select) || has_aggregates || has_aggregate(&having) {
        if !has_groups(select) && !has_aggregates {
            count_too(select);
        }
        select.having = Some(having);
        return Ok(());
    }
    let having = Expr::Nested(Box::new(having));
    select.selection = Some(match select.selection.take() {
        Some(before) => {
            let left = Box::new(Expr::Nested(Box::new(before)));
            Expr::BinaryOp { left, op: BinaryOperator::And, right: Box::new(having) }
        }
        None => having,
    });
    Ok(())
}

/// All rows are one group if HAVING alone has an aggregate, too: SQLite wants to see one among the columns.
fn count_too(select: &mut Select) {
    let mut counted = template("SELECT CASE WHEN COUNT(*) >= 0 THEN 1 END");
    let case = match &mut *counted.body {
        SetExpr::Select(select) => match select.projection.as_mut_slice() {
            [SelectItem::UnnamedExpr(case)] => case,
            _ => return,
        },
        _ => return,
    };
    match select.projection.first_mut() {
        Some(item @ SelectItem::UnnamedExpr(_)) => {
            let SelectItem::UnnamedExpr(expr) = item else { return };
            let alias = ident(&heading(expr));
            let expr = put_into(take(case), take(expr));
            *item = SelectItem::ExprWithAlias { expr, alias };
        }
        Some(SelectItem::ExprWithAlias { expr, .. }) => *expr = put_into(take(case), take(expr)),
        _ => {}
    }
}

fn put_into(mut case: Expr, expr: Expr) -> Expr {
    if let Expr::Case { conditions, .. } = &mut case
        && let Some(when) = conditions.first_mut()
    {
        when.result = expr;
    }
    case
}

/// Two tables of a FROM cannot go by the same name.
pub(crate) fn check_aliases(from: &[TableWithJoins]) -> Result<(), Error> {
    fn names<'f>(table: &'f TableWithJoins, all: &mut Vec<(Option<&'f str>, &'f str)>) {
        for factor in std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)) {
            match factor {
                TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
                    all.push((None, &alias.name.value));
                }
                TableFactor::Table { name, .. } => {
                    if let Ok((schema, name)) = crate::dialect::qualified(name) {
                        all.push((schema, name));
                    }
                }
                TableFactor::NestedJoin { table_with_joins, .. } => names(table_with_joins, all),
                _ => {}
            }
        }
    }
    let mut all = Vec::new();
    from.iter().for_each(|table| names(table, &mut all));
    let mut seen = HashSet::new();
    for (schema, name) in all {
        if !seen.insert((schema.map(str::to_lowercase), name.to_lowercase())) {
            return Err(Error::not_unique_alias(name));
        }
    }
    Ok(())
}

/// `= ANY (SELECT …)` is IN, `<> ALL (SELECT …)` is NOT IN; so is a query within more parentheses than needed.
pub(crate) fn any_as_in(expr: &mut Expr) {
    let query = |expr: &mut Expr| {
        let mut inner = expr;
        while let Expr::Nested(nested) = inner {
            inner = nested;
        }
        match inner {
            Expr::Subquery(_) => match take(inner) {
                Expr::Subquery(query) => Some(query),
                _ => None,
            },
            _ => None,
        }
    };
    let (left, subquery, negated) = match expr {
        Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } => (left, query(right), false),
        Expr::AllOp { left, compare_op: BinaryOperator::NotEq, right } => (left, query(right), true),
        Expr::InList { expr, list, negated } if list.len() == 1 => (expr, list.first_mut().and_then(query), *negated),
        _ => return,
    };
    if let Some(subquery) = subquery {
        *expr = Expr::InSubquery { expr: Box::new(take(left)), subquery, negated };
    }
}

/// A query that stands for a value: SQLite takes the first of several rows, MySQL refuses them.
pub(crate) fn single(mut query: Box<Query>) -> Expr {
    let Some(name) = column(&mut query) else { return Expr::Subquery(query) };
    if has_one_row(&query) {
        return Expr::Subquery(query);
    }
    let mut outer = template("SELECT 1 FROM (SELECT 1) AS `(subquery)`");
    if let SetExpr::Select(select) = &mut *outer.body
        && let Some(TableWithJoins { relation: TableFactor::Derived { subquery, .. }, .. }) = select.from.first_mut()
    {
        *subquery = query;
        let value = Expr::CompoundIdentifier(vec![ident("(subquery)"), name.clone()]);
        select.projection = vec![SelectItem::ExprWithAlias { expr: call("single", vec![value]), alias: name }];
    }
    Expr::Subquery(Box::new(outer))
}

/// What the one column of a query is called; None if that is not known, or if there are several.
fn column(query: &mut Query) -> Option<Ident> {
    let mut body = &mut *query.body;
    loop {
        body = match body {
            SetExpr::SetOperation { left, .. } => left,
            SetExpr::Query(query) => &mut query.body,
            SetExpr::Select(select) => {
                return match select.projection.as_mut_slice() {
                    [SelectItem::ExprWithAlias { alias, .. }] => Some(alias.clone()),
                    [SelectItem::UnnamedExpr(expr)] => Some(ident(&heading(expr))),
                    _ => None,
                };
            }
            _ => return None,
        }
    }
}

fn has_one_row(query: &Query) -> bool {
    let limit = match &query.limit_clause {
        Some(LimitClause::LimitOffset { limit, .. }) => limit.as_ref(),
        Some(LimitClause::OffsetCommaLimit { limit, .. }) => Some(limit),
        None => None,
    };
    let is_limited = matches!(limit, Some(Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. }))
        if digits == "0" || digits == "1");
    is_limited
        || matches!(&*query.body, SetExpr::Select(select)
            if select.from.is_empty() || (!has_groups(select) && has_aggregate(&select.projection)))
}
