//! `*` where columns of two tables are one, by USING or NATURAL: MySQL has those first, SQLite leaves them in their table.

use crate::Error;
use crate::catalog;
use crate::dialect::{Cte, Rewriter, heading, ident, last, qualified};
use crate::kinds::is_star;
use sqlparser::ast::{
    Expr, JoinConstraint, JoinOperator, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableFactor,
    TableWithJoins,
};
use std::collections::{HashMap, HashSet};

/// Columns that SQLite has in one result.
const MAX_COLUMNS: usize = 2000;

/// The name of a table or its alias, and the name of a column.
pub(crate) type Column = [String; 2];

/// The columns of what stands in FROM.
#[derive(Default)]
pub(crate) struct Columns {
    all: Vec<Column>,
    /// Those of `*`.
    shown: Vec<Column>,
}

/// How tables are joined, and whether the right one has all its rows.
pub(crate) fn constraint(join: &JoinOperator) -> Option<(&JoinConstraint, bool)> {
    match join {
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::CrossJoin(constraint)
        | JoinOperator::StraightJoin(constraint) => Some((constraint, false)),
        JoinOperator::Right(constraint) | JoinOperator::RightOuter(constraint) => Some((constraint, true)),
        _ => None,
    }
}

/// How they are joined, to be changed.
pub(crate) fn constraint_mut(join: &mut JoinOperator) -> Option<&mut JoinConstraint> {
    match join {
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::CrossJoin(constraint)
        | JoinOperator::StraightJoin(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint) => Some(constraint),
        _ => None,
    }
}

/// Whether `*` is not just all columns, or SQLite gives them names of its own.
pub(crate) fn is_merged(table: &TableWithJoins) -> bool {
    let is_nested = |factor: &TableFactor| matches!(factor, TableFactor::NestedJoin { .. });
    let merges = |join: &JoinOperator| matches!(constraint(join), Some((JoinConstraint::Using(_) | JoinConstraint::Natural, _)));
    is_nested(&table.relation) || table.joins.iter().any(|join| is_nested(&join.relation) || merges(&join.join_operator))
}

fn has(columns: &[Column], name: &str) -> bool {
    columns.iter().any(|[_, column]| column.eq_ignore_ascii_case(name))
}

impl Columns {
    fn add(&mut self, other: Columns) -> Option<()> {
        self.all.extend(other.all);
        self.shown.extend(other.shown);
        (self.all.len() <= MAX_COLUMNS).then_some(())
    }

    /// The names, in lower case, of columns that are one; the inner None: the join has none such.
    pub(crate) fn common(&self, other: &Columns, constraint: &JoinConstraint) -> Option<Option<HashSet<String>>> {
        Some(match constraint {
            JoinConstraint::On(_) | JoinConstraint::None => None,
            JoinConstraint::Using(names) => {
                Some(names.iter().map(|name| Some(last(name)?.to_lowercase())).collect::<Option<_>>()?)
            }
            JoinConstraint::Natural => {
                let names = self.shown.iter().map(|[_, name]| name);
                Some(names.filter(|name| has(&other.shown, name)).map(|name| name.to_lowercase()).collect())
            }
        })
    }

    /// What names without a table's mean, in lower case.
    pub(crate) fn all_named(&self) -> HashMap<String, &Column> {
        let mut found: HashMap<String, Option<&Column>> = HashMap::new();
        for column in &self.shown {
            found.entry(column[1].to_lowercase()).and_modify(|found| *found = None).or_insert(Some(column));
        }
        found.into_iter().filter_map(|(name, column)| Some((name, column?))).collect()
    }

    /// The one column that a name without a table's means.
    pub(crate) fn named(&self, name: &str) -> Option<&Column> {
        let mut found = self.shown.iter().filter(|[_, column]| column.eq_ignore_ascii_case(name));
        found.next().filter(|_| found.next().is_none())
    }

    pub(crate) fn join(&mut self, mut other: Columns, join: &JoinOperator) -> Option<()> {
        let (constraint, is_right) = constraint(join)?;
        let Some(common) = self.common(&other, constraint)? else { return self.add(other) };
        // The table that has all its rows is the first.
        if is_right {
            std::mem::swap(&mut self.shown, &mut other.shown);
        }
        let is_common = |[_, name]: &Column| common.contains(&name.to_lowercase());
        let (mut shown, rest): (Vec<Column>, Vec<Column>) = std::mem::take(&mut self.shown).into_iter().partition(is_common);
        if shown.len() != common.len() {
            return None;
        }
        shown.extend(rest);
        self.shown = shown;
        other.shown.retain(|column| !is_common(column));
        self.add(other)
    }

    /// Those that `*` or `t.*` means.
    fn of_star(&self, item: &SelectItem) -> Option<Vec<&Column>> {
        match item {
            SelectItem::Wildcard(_) => Some(self.shown.iter().collect()),
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                let wanted = last(name)?;
                let found: Vec<&Column> = self.all.iter().filter(|[table, _]| table.eq_ignore_ascii_case(wanted)).collect();
                (!found.is_empty()).then_some(found)
            }
            _ => None,
        }
    }

    pub(crate) fn are_distinct(&self) -> bool {
        let mut seen = HashSet::new();
        self.all.iter().all(|[table, column]| seen.insert((table.to_lowercase(), column.to_lowercase())))
    }
}

impl Rewriter<'_> {
    /// Puts the columns in the place of `*`. What is not known is left to SQLite.
    pub(crate) fn expand_stars(&mut self, select: &mut Select) -> Result<(), Error> {
        if select.from.iter().any(is_merged) { self.expand_all_stars(select) } else { Ok(()) }
    }

    /// The same where SQLite, too, would do.
    pub(crate) fn expand_all_stars(&mut self, select: &mut Select) -> Result<(), Error> {
        if !select.projection.iter().any(is_star) {
            return Ok(());
        }
        let Some(columns) = self.columns_of_from(&select.from).filter(Columns::are_distinct) else { return Ok(()) };
        let mut projection = Vec::new();
        for item in std::mem::take(&mut select.projection) {
            let Some(meant) = columns.of_star(&item) else {
                projection.push(item);
                continue;
            };
            for [table, column] in meant {
                let column = Expr::CompoundIdentifier(vec![ident(table), ident(column)]);
                self.copies.spend(&column, 1)?;
                projection.push(SelectItem::UnnamedExpr(column));
            }
        }
        select.projection = projection;
        Ok(())
    }

    /// From here on the tables are known that the query's WITH defines.
    pub(crate) fn define(&mut self, query: &Query) {
        self.ctes.push(Vec::new());
        let Some(with) = &query.with else { return };
        for cte in &with.cte_tables {
            let columns = match cte.alias.columns.as_slice() {
                [] => self.columns_of_query(&cte.query),
                columns => Some(columns.iter().map(|column| column.name.value.clone()).collect()),
            };
            let cte = Cte { name: cte.alias.name.value.clone(), is_recursive: with.recursive, columns };
            self.ctes.last_mut().expect("it was just added").push(cte);
        }
    }

    /// What the columns of a query are called, if that is known.
    pub(crate) fn columns_of_query(&mut self, query: &Query) -> Option<Vec<String>> {
        self.define(query);
        let columns = self.columns_of_body(&query.body);
        self.ctes.pop();
        columns
    }

    fn columns_of_body(&mut self, body: &SetExpr) -> Option<Vec<String>> {
        let select = match body {
            SetExpr::Select(select) => select,
            SetExpr::SetOperation { left, .. } => return self.columns_of_body(left),
            SetExpr::Query(query) => return self.columns_of_query(query),
            _ => return None,
        };
        let from = match select.projection.iter().any(is_star) {
            true => self.columns_of_from(&select.from)?,
            false => Columns::default(),
        };
        let mut names = Vec::new();
        for item in &select.projection {
            match item {
                SelectItem::UnnamedExpr(expr) => names.push(heading(expr)),
                SelectItem::ExprWithAlias { alias, .. } => names.push(alias.value.clone()),
                star => names.extend(from.of_star(star)?.into_iter().map(|[_, name]| name.clone())),
            }
            if names.len() > MAX_COLUMNS {
                return None;
            }
        }
        Some(names)
    }

    pub(crate) fn columns_of_from(&mut self, from: &[TableWithJoins]) -> Option<Columns> {
        let mut columns = Columns::default();
        for table in from {
            columns.add(self.columns_of_joins(table)?)?;
        }
        Some(columns)
    }

    fn columns_of_joins(&mut self, table: &TableWithJoins) -> Option<Columns> {
        let mut columns = self.columns_of_factor(&table.relation)?;
        for join in &table.joins {
            columns.join(self.columns_of_factor(&join.relation)?, &join.join_operator)?;
        }
        Some(columns)
    }

    pub(crate) fn columns_of_factor(&mut self, factor: &TableFactor) -> Option<Columns> {
        let (table, names) = match factor {
            TableFactor::Table { name, alias, .. } => {
                let (schema, table) = qualified(name).ok()?;
                (alias.as_ref().map_or(table, |alias| &alias.name.value), self.columns_of_table(schema, table)?)
            }
            TableFactor::Derived { subquery, alias: Some(alias), .. } => {
                (alias.name.value.as_str(), self.columns_of_query(subquery)?)
            }
            TableFactor::NestedJoin { table_with_joins, .. } => return self.columns_of_joins(table_with_joins),
            _ => return None,
        };
        let all: Vec<Column> = names.into_iter().map(|name| [table.to_owned(), name]).collect();
        Some(Columns { shown: all.clone(), all })
    }

    pub(crate) fn columns_of_table(&self, schema: Option<&str>, table: &str) -> Option<Vec<String>> {
        if schema.is_none()
            && let Some(cte) = self.cte(table)
        {
            return cte.columns.clone();
        }
        let schema = schema.or(self.state.schema())?;
        let names = |columns: &[catalog::Column]| columns.iter().map(|column| column.name.clone()).collect();
        if schema.eq_ignore_ascii_case(catalog::TEST) {
            return self.state.scratch_table(table).map(|known| names(&known.columns));
        }
        let (_, relation) = self.state.catalog.find(schema, table)?;
        Some(names(relation.columns())).filter(|names: &Vec<String>| !names.is_empty())
    }
}
