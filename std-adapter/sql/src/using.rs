//! Columns that are one, by USING and NATURAL: SQLite compares what is stored of them, and equal values of different kinds are stored
//! differently. Such a join becomes one with ON, and names without a table's get that of the column that is shown.

use crate::Error;
use crate::compare::joined;
use crate::dialect::{Rewriter, ident};
use crate::kinds::Kind;
use crate::scope::begins_with_unit;
use crate::star::{Column, Columns, constraint, constraint_mut, is_merged};
use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, Ident, JoinConstraint, OrderByExpr, Query, Select, SelectItem, SetExpr, TableFactor,
    TableWithJoins, Visit, VisitMut, Visitor, VisitorMut, visit_expressions,
};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

fn column([table, name]: &Column) -> Expr {
    Expr::CompoundIdentifier(vec![ident(table), ident(name)])
}

/// The columns that are one in the joins of a FROM.
#[derive(Default)]
struct Common {
    /// By their names in lower case: which is shown.
    shown: HashMap<String, Expr>,
    /// Whether SQLite compares some of them as MySQL does not, at times.
    differ: bool,
    /// Whether it does so because they are of two kinds.
    kinds_differ: bool,
}

/// Whether equal values of both kinds may be stored differently.
fn may_differ(one: Kind, other: Kind) -> bool {
    let is_plain = matches!(
        one,
        Kind::Null
            | Kind::Integer
            | Kind::Real
            | Kind::Text
            | Kind::Date
            | Kind::Time(_)
            | Kind::Datetime(_)
            | Kind::Timestamp(_)
    );
    one != other || !is_plain
}

/// Gives names of common columns that of their table.
struct Namer<'a, 'r, 's> {
    rewriter: &'r mut Rewriter<'s>,
    shown: &'a HashMap<String, Expr>,
    /// What means a column of the result.
    aliases: HashSet<String>,
    depth: usize,
    /// What is looked at next is a unit, and what is looked at now.
    unit: bool,
    is_unit: bool,
}

impl<'a, 'r, 's> Namer<'a, 'r, 's> {
    fn new(rewriter: &'r mut Rewriter<'s>, shown: &'a HashMap<String, Expr>) -> Self {
        Namer { rewriter, shown, aliases: HashSet::new(), depth: 0, unit: false, is_unit: false }
    }
}

impl VisitorMut for Namer<'_, '_, '_> {
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
        self.is_unit = std::mem::replace(&mut self.unit, begins_with_unit(expr));
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if let (0, false, Expr::Identifier(name)) = (self.depth, std::mem::take(&mut self.is_unit), &*expr) {
            let lower = name.value.to_lowercase();
            if let Some(shown) = self.shown.get(&lower).filter(|_| !self.aliases.contains(&lower)) {
                if let Err(error) = self.rewriter.copies.spend(shown, 1) {
                    return ControlFlow::Break(error);
                }
                *expr = as_written(shown.clone(), name);
            }
        }
        ControlFlow::Continue(())
    }
}

/// The column, its name as the client wrote it, which heads the result.
fn as_written(mut column: Expr, name: &Ident) -> Expr {
    if let Expr::CompoundIdentifier(parts) = &mut column
        && let Some(last) = parts.last_mut()
    {
        *last = ident(&name.value);
    }
    column
}

/// What the joins of a FROM say by ON.
fn conditions<'t>(table: &'t TableWithJoins, found: &mut Vec<&'t Expr>) {
    let joins = table.joins.iter();
    for factor in joins.clone().map(|join| &join.relation).chain([&table.relation]) {
        if let TableFactor::NestedJoin { table_with_joins, .. } = factor {
            conditions(table_with_joins, found);
        }
    }
    found.extend(joins.filter_map(|join| match constraint(&join.join_operator) {
        Some((JoinConstraint::On(condition), _)) => Some(condition),
        _ => None,
    }));
}

/// Whether a query within an expression has one of the names: it may be of that query's tables, or of those around.
fn is_named_within(tree: &impl Visit, names: &HashMap<String, Expr>) -> bool {
    struct Within<'a>(&'a HashMap<String, Expr>);
    impl Visitor for Within<'_> {
        type Break = ();
        fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
            visit_expressions(query, |expr| match expr {
                Expr::Identifier(name) if self.0.contains_key(&name.value.to_lowercase()) => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            })
        }
    }
    tree.visit(&mut Within(names)).is_break()
}

impl Rewriter<'_> {
    /// Of a query, or of the members of a UNION, before they are rewritten.
    pub(crate) fn name_common(&mut self, body: &mut SetExpr, order: &mut [OrderByExpr]) -> Result<(), Error> {
        match body {
            SetExpr::Select(select) => self.join_on_common(select, order),
            SetExpr::SetOperation { left, right, .. } => {
                for member in [left, right] {
                    self.name_common(member, &mut [])?;
                    if let SetExpr::Select(select) = &mut **member {
                        self.name_tables(select)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn join_on_common(&mut self, select: &mut Select, order: &mut [OrderByExpr]) -> Result<(), Error> {
        if !select.from.iter().any(is_merged) || !self.columns_of_from(&select.from).is_some_and(|all| all.are_distinct()) {
            return Ok(());
        }
        let (mut from, mut common) = (select.from.clone(), Common::default());
        if from.iter_mut().any(|table| self.join_on(table, &mut common).is_none()) || !common.differ {
            return Ok(());
        }
        let mut on = Vec::new();
        select.from.iter().for_each(|table| conditions(table, &mut on));
        // What other tables have, too, is ambiguous, and SQLite says so.
        let Some(all) = self.columns_of_from(&select.from) else { return Ok(()) };
        common.shown.retain(|name, _| all.named(name).is_some());
        let shown = &common.shown;
        let is_within = is_named_within(&select.projection, shown)
            || on.into_iter().any(|condition| is_named_within(condition, shown))
            || is_named_within(&select.group_by, shown)
            || is_named_within(&select.selection, shown)
            || is_named_within(&select.having, shown)
            || order.iter().any(|by| is_named_within(by, shown));
        // It may mean that one, or a column of the query's own. Left to itself, SQLite compares what is stored.
        if is_within {
            let unsupported = || Error::unsupported("a column of USING of different types, named by a query within");
            return if common.kinds_differ { Err(unsupported()) } else { Ok(()) };
        }
        self.expand_stars(select)?;
        select.from = from;
        let GroupByExpr::Expressions(keys, _) = &mut select.group_by else { return Ok(()) };
        let alias = |item: &SelectItem| match item {
            SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.to_lowercase()),
            _ => None,
        };
        let aliases: HashSet<String> = select.projection.iter().filter_map(alias).collect();
        let mut namer = Namer::new(self, shown);
        let rows = [
            VisitMut::visit(&mut select.projection, &mut namer),
            VisitMut::visit(&mut select.selection, &mut namer),
            VisitMut::visit(keys, &mut namer),
        ];
        namer.aliases = aliases;
        let others = [VisitMut::visit(&mut select.having, &mut namer), VisitMut::visit(&mut select.named_window, &mut namer)];
        let order = order.iter_mut().map(|by| VisitMut::visit(by, &mut namer));
        match rows.into_iter().chain(others).chain(order).find_map(ControlFlow::break_value) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Columns of a UNION's member are known by their tables, as far as there are decimals or NULLs among what is derived: a name alone may be
    /// that of others, too.
    fn name_tables(&mut self, select: &mut Select) -> Result<(), Error> {
        if !self.kinds.derives_decimals_or_nulls() {
            return Ok(());
        }
        self.expand_all_stars(select)?;
        let Some(columns) = self.columns_of_from(&select.from).filter(Columns::are_distinct) else { return Ok(()) };
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item
                && let Expr::Identifier(name) = expr
                && let Some(found) = columns.named(&name.value)
            {
                let named = column(found);
                self.copies.spend(&named, 1)?;
                *expr = as_written(named, name);
            }
        }
        Ok(())
    }

    /// The joins become such with ON; None if not all columns are known.
    fn join_on(&mut self, table: &mut TableWithJoins, common: &mut Common) -> Option<Columns> {
        let mut left = self.factor(&mut table.relation, common)?;
        for join in &mut table.joins {
            let right = self.factor(&mut join.relation, common)?;
            let (constraint, is_right) = constraint(&join.join_operator)?;
            let Some(names) = left.common(&right, constraint)? else {
                left.join(right, &join.join_operator)?;
                // Its names mean what there is so far, and nothing of what is joined later.
                let shown = left.all_named().into_iter().map(|(name, found)| (name, column(found))).collect();
                if let Some(JoinConstraint::On(condition)) = constraint_mut(&mut join.join_operator) {
                    VisitMut::visit(condition, &mut Namer::new(self, &shown)).is_continue().then_some(())?;
                }
                continue;
            };
            let mut conditions = Vec::with_capacity(names.len());
            for name in names {
                let (one, other) = (column(left.named(&name)?), column(right.named(&name)?));
                let kinds = [&one, &other].map(|column| self.kind(column));
                common.differ |= may_differ(kinds[0], kinds[1]);
                common.kinds_differ |= kinds[0] != kinds[1];
                common.shown.insert(name, if is_right { other.clone() } else { one.clone() });
                conditions.push(Expr::BinaryOp { left: Box::new(one), op: BinaryOperator::Eq, right: Box::new(other) });
            }
            left.join(right, &join.join_operator)?;
            *constraint_mut(&mut join.join_operator)? = match conditions.as_slice() {
                [] => JoinConstraint::None,
                _ => JoinConstraint::On(joined(conditions, &BinaryOperator::And)),
            };
        }
        Some(left)
    }

    fn factor(&mut self, factor: &mut TableFactor, common: &mut Common) -> Option<Columns> {
        match factor {
            TableFactor::NestedJoin { table_with_joins, .. } => self.join_on(table_with_joins, common),
            other => self.columns_of_factor(other),
        }
    }
}
