//! Names of columns that MySQL refuses and SQLite takes: one that a derived table has twice, one of the result in WHERE, and one that HAVING
//! has no value of.

use crate::Error;
use crate::calls::name_of;
use crate::catalog;
use crate::dialect::{Rewriter, qualified};
use crate::kinds::is_star;
use crate::subquery::{is_aggregate, parts, without_parentheses};
use sqlparser::ast::{
    Expr, GroupByExpr, Ident, Query, Select, SelectItem, TableAlias, TableFactor, TableWithJoins, Visit, Visitor,
};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// What a query is called that is a member of a UNION in parentheses; nobody else is.
pub(crate) const MEMBER: &str = "(member)";

/// Of several names the first that was there before.
pub(crate) fn check_once<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<(), Error> {
    let mut seen = HashSet::new();
    match names.into_iter().find(|name| !seen.insert(name.to_lowercase())) {
        Some(twice) => Err(Error::new(1060, "42S21", format!("Duplicate column name '{twice}'"))),
        None => Ok(()),
    }
}

/// The names of columns that stand in a condition, but in no query within it, where they may be of that query's tables, and in no aggregate.
fn names_in(condition: &Expr) -> Vec<Vec<Ident>> {
    #[derive(Default)]
    struct Names {
        depth: usize,
        /// What is looked at next is a unit, as in `TIMESTAMPDIFF(DAY, …)`.
        unit: bool,
        found: Vec<Vec<Ident>>,
    }
    impl Visitor for Names {
        type Break = ();
        fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            self.depth += 1;
            ControlFlow::Continue(())
        }
        fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            self.depth -= 1;
            ControlFlow::Continue(())
        }
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            let is_unit = std::mem::replace(&mut self.unit, begins_with_unit(expr));
            self.depth += usize::from(is_aggregate(expr));
            if let (0, false, Some(names)) = (self.depth, is_unit, parts(expr)) {
                self.found.push(names.to_vec());
            }
            ControlFlow::Continue(())
        }
        fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            self.depth -= usize::from(is_aggregate(expr));
            ControlFlow::Continue(())
        }
    }
    let mut names = Names::default();
    // It goes on to the end.
    let _ = condition.visit(&mut names);
    names.found
}

/// Whether it is a call whose first argument is a word that is no column.
pub(crate) fn begins_with_unit(expr: &Expr) -> bool {
    matches!(expr, Expr::Function(function)
        if ["timestampdiff", "timestampadd", "get_format"].iter().any(|name| name.eq_ignore_ascii_case(name_of(function).0)))
}

impl Rewriter<'_> {
    /// A derived table has no two columns of one name, as far as they are known.
    pub(crate) fn check_columns(&mut self, query: &Query, alias: &TableAlias) -> Result<(), Error> {
        // This is no table of the client's.
        if alias.name.value == MEMBER {
            return Ok(());
        }
        let columns = self.columns_of_query(query).unwrap_or_default();
        check_once(columns.iter().map(String::as_str))
    }

    /// Neither has what the innermost WITH defines.
    pub(crate) fn check_defined(&self) -> Result<(), Error> {
        let mut defined = self.ctes.last().into_iter().flatten().filter_map(|cte| cte.columns.as_ref());
        defined.try_for_each(|columns| check_once(columns.iter().map(String::as_str)))
    }

    /// WHERE chooses rows before there is a result: what its columns are called means nothing there. SQLite looks for a name among them
    /// if no table has such a column.
    pub(crate) fn check_where(&mut self, select: &Select) -> Result<(), Error> {
        // It may be a column of a query around.
        if self.queries_within > 0 {
            return Ok(());
        }
        let Some(condition) = &select.selection else { return Ok(()) };
        let alias = |item: &SelectItem| match item {
            SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.to_lowercase()),
            _ => None,
        };
        // Each is asked for once.
        let mut aliases: HashSet<String> = select.projection.iter().filter_map(alias).collect();
        let alone = names_in(condition).into_iter().filter(|names| names.len() == 1).flatten();
        for name in alone.filter(|name| aliases.remove(&name.value.to_lowercase())) {
            self.state.check_time()?;
            let found = select.from.iter().map(|table| self.has_column(table, &name.value));
            // None: it is not known of one.
            if found.reduce(either).unwrap_or(Some(false)) == Some(false) {
                return Err(Error::unknown_column(&name.value, "where clause"));
            }
        }
        Ok(())
    }

    /// HAVING chooses among groups, of which there are the columns of the result and what is grouped by.
    pub(crate) fn check_having(&mut self, select: &Select) -> Result<(), Error> {
        let (Some(having), GroupByExpr::Expressions(keys, _)) = (&select.having, &select.group_by) else { return Ok(()) };
        // It may be a column of a query around, or of `*`.
        if self.queries_within > 0 || select.projection.iter().any(is_star) {
            return Ok(());
        }
        let mut known: HashSet<String> = HashSet::new();
        for item in &select.projection {
            if let SelectItem::ExprWithAlias { alias, .. } = item {
                known.insert(alias.value.to_lowercase());
            }
            if let SelectItem::ExprWithAlias { expr, .. } | SelectItem::UnnamedExpr(expr) = item {
                known.extend(parts(without_parentheses(expr)).and_then(<[Ident]>::last).map(|name| name.value.to_lowercase()));
            }
        }
        // Also within expressions, which MySQL knows only with ROLLUP.
        known.extend(keys.iter().flat_map(names_in).filter_map(|names| Some(names.last()?.value.to_lowercase())));
        for names in names_in(having) {
            self.state.check_time()?;
            let Some(name) = names.last().filter(|_| !names[0].value.starts_with('@')) else { continue };
            // Each is asked for once; what no table has SQLite refuses.
            if known.insert(name.value.to_lowercase())
                && select.from.iter().any(|table| self.has_column(table, &name.value) == Some(true))
            {
                let names: Vec<&str> = names.iter().map(|name| name.value.as_str()).collect();
                return Err(Error::unknown_column(&names.join("."), "having clause"));
            }
        }
        Ok(())
    }

    /// Whether one of these tables has such a column; None if that is not known.
    fn has_column(&mut self, table: &TableWithJoins, name: &str) -> Option<bool> {
        let factors = std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation));
        factors.map(|factor| self.factor_has_column(factor, name)).reduce(either).flatten()
    }

    fn factor_has_column(&mut self, factor: &TableFactor, name: &str) -> Option<bool> {
        let has = |columns: &[String]| columns.iter().any(|column| column.eq_ignore_ascii_case(name));
        match factor {
            TableFactor::Table { name: table, .. } => {
                let (schema, table) = qualified(table).ok()?;
                let invisible = schema.or(self.state.schema()).and_then(|schema| self.state.catalog.find(schema, table));
                let all: &[catalog::Column] = invisible.map_or(&[], |(_, relation)| relation.all_columns());
                if all.iter().any(|column| column.name.eq_ignore_ascii_case(name)) {
                    return Some(true);
                }
                if schema.is_none() && table.eq_ignore_ascii_case("dual") {
                    return Some(false);
                }
                self.columns_of_table(schema, table).map(|columns| has(&columns))
            }
            TableFactor::Derived { subquery, .. } => self.columns_of_query(subquery).map(|columns| has(&columns)),
            TableFactor::NestedJoin { table_with_joins, .. } => self.has_column(table_with_joins, name),
            _ => None,
        }
    }
}

/// Whether one of two is so, as far as it is known.
fn either(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

/// Whether an expression has a query within, whose names may mean columns of what is around.
pub(crate) fn has_query(expr: &Expr) -> bool {
    matches!(expr, Expr::Subquery(_) | Expr::InSubquery { .. } | Expr::Exists { .. })
}
