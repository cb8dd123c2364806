//! Names of columns that MySQL refuses and SQLite takes: one that a derived table has twice, and one of the result in WHERE.

use crate::Error;
use crate::catalog;
use crate::dialect::{Rewriter, qualified};
use sqlparser::ast::{Expr, Ident, Query, Select, SelectItem, TableAlias, TableFactor, TableWithJoins, Visit, Visitor};
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

/// The names without a table's that stand in a condition, but in no query within it: there they may be of that query's tables.
fn names_in(condition: &Expr) -> Vec<Ident> {
    #[derive(Default)]
    struct Names {
        depth: usize,
        found: Vec<Ident>,
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
            if let (0, Expr::Identifier(name)) = (self.depth, expr) {
                self.found.push(name.clone());
            }
            ControlFlow::Continue(())
        }
    }
    let mut names = Names::default();
    // It goes on to the end.
    let _ = condition.visit(&mut names);
    names.found
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
        for name in names_in(condition).into_iter().filter(|name| aliases.remove(&name.value.to_lowercase())) {
            self.state.check_time()?;
            let found = select.from.iter().map(|table| self.has_column(table, &name.value));
            // None: it is not known of one.
            if found.reduce(either).unwrap_or(Some(false)) == Some(false) {
                return Err(Error::unknown_column(&name.value, "where clause"));
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
