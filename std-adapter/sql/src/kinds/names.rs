//! What the names of a statement mean: columns of tables and of views, aliases, columns of what it derives.

use super::{Kind, Kinds, Members, Width, dotted};
use crate::Error;
use crate::catalog::{self, Column, Kind as Source};
use crate::dialect::qualified;
use crate::state::State;
use crate::subquery::is_named;
use perfschema::core::table::SqlType;
use sqlparser::ast::{Cte, Expr, Ident, Query, Select, SelectItem, SetExpr, TableAlias, TableFactor, Visit, Visitor};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// Of tables that are derived of one another, each visit knows one more. What is derived more often is known by its name alone.
const MAX_VISITS: usize = 10;

/// The kinds of all names that a statement may mean.
pub(super) fn kinds(tree: &impl Visit, state: &State) -> Result<Kinds, Error> {
    let mut names = Names {
        state,
        seen: HashSet::new(),
        kinds: HashMap::new(),
        unsigned: HashMap::new(),
        enums: HashMap::new(),
        binary: HashMap::new(),
        widths: HashMap::new(),
        aliases: HashSet::new(),
    };
    tree.visit(&mut names).break_value().map_or(Ok(()), Err)?;
    let Names { kinds, mut unsigned, enums, binary, widths, aliases: names, .. } = names;
    // What an alias means is not asked of another: there may be circles of them.
    let named = names.iter().filter_map(|name| Some((name.clone(), *enums.get(name)?))).collect();
    let own_signs = names.iter().filter_map(|name| Some((name.clone(), unsigned.remove(name)?))).collect();
    let columns = Kinds { names: kinds, derived: HashMap::new(), unsigned, enums, binary, widths };
    let mut aliases = Aliases {
        state,
        columns,
        all: HashMap::new(),
        derived: HashMap::new(),
        others: HashSet::new(),
        unsigned: own_signs,
        enums: named,
        seen: HashSet::new(),
        ctes: Vec::new(),
    };
    for name in names {
        let column = aliases.columns.names.insert(name.clone(), Kind::Unknown);
        aliases.all.insert(name, column.unwrap_or(Kind::Null));
    }
    for _ in 0..MAX_VISITS {
        tree.visit(&mut aliases).break_value().map_or(Ok(()), Err)?;
        if !aliases.learn() {
            break;
        }
        state.check_time()?;
    }
    let Aliases { columns: mut kinds, all, unsigned, enums, .. } = aliases;
    kinds.names.extend(all);
    kinds.unsigned.extend(unsigned);
    kinds.enums.extend(enums);
    Ok(kinds)
}

/// An alias, and what it stands for.
fn alias(item: &SelectItem) -> Option<(&Ident, &Expr)> {
    match item {
        // `x AS x` says nothing new.
        SelectItem::ExprWithAlias { expr, alias } if !is_named(expr, alias) => Some((alias, expr)),
        _ => None,
    }
}

/// The members of a UNION, from the left; a SELECT is one of itself.
pub(crate) fn selects(body: &SetExpr) -> Vec<&Select> {
    fn collect<'b>(body: &'b SetExpr, all: &mut Vec<&'b Select>) {
        match body {
            SetExpr::Select(select) => all.push(select),
            SetExpr::SetOperation { left, right, .. } => {
                collect(left, all);
                collect(right, all);
            }
            SetExpr::Query(query) => collect(&query.body, all),
            _ => {}
        }
    }
    let mut all = Vec::new();
    collect(body, &mut all);
    all
}

/// What a column of a query is called, if it has a name and not only a text.
fn name_of_column(item: &SelectItem) -> Option<&Ident> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias),
        SelectItem::UnnamedExpr(Expr::Identifier(name)) => Some(name),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(names)) => names.last(),
        _ => None,
    }
}

/// The columns of a UNION are named by its first member, and may be something else in the others.
fn members(body: &SetExpr, found: &mut dyn FnMut(&Ident, &Expr)) {
    if !matches!(body, SetExpr::SetOperation { .. }) {
        return;
    }
    let all = selects(body);
    let Some((first, others)) = all.split_first() else { return };
    for (index, item) in first.projection.iter().enumerate() {
        let Some(name) = name_of_column(item) else { continue };
        for other in others {
            if let Some(expr) = expr_at(other, index)
                && !is_named(expr, name)
            {
                found(name, expr);
            }
        }
    }
}

/// Collects the columns of all tables and the names of all aliases, through views.
struct Names<'a> {
    state: &'a State,
    seen: HashSet<usize>,
    kinds: HashMap<String, Kind>,
    unsigned: HashMap<String, bool>,
    enums: HashMap<String, Option<Members>>,
    binary: HashMap<String, bool>,
    widths: HashMap<String, Option<Width>>,
    aliases: HashSet<String>,
}

impl Names<'_> {
    /// It is the name of something else than a table's column, too.
    fn alias(&mut self, name: &Ident) {
        self.aliases.insert(name.value.to_lowercase());
        self.widths.insert(name.value.to_lowercase(), None);
        self.binary.insert(name.value.to_lowercase(), false);
    }

    fn columns(&mut self, columns: &[Column]) {
        for column in columns {
            let kind = Kind::of_column(column);
            let known = self.kinds.entry(column.name.to_lowercase()).or_insert(kind);
            *known = known.or(kind);
            *self.unsigned.entry(column.name.to_lowercase()).or_insert(true) &=
                matches!(column.sql_type, SqlType::BigintUnsigned | SqlType::IntUnsigned);
            *self.binary.entry(column.name.to_lowercase()).or_insert(true) &= column.is_binary;
            let width = Width::of_type(column.sql_type);
            let known = self.widths.entry(column.name.to_lowercase()).or_insert(width);
            *known = known.filter(|known| width == Some(*known));
            let members = match column.sql_type {
                SqlType::Enum(members) => Some(members),
                _ => None,
            };
            let known = self.enums.entry(column.name.to_lowercase()).or_insert(members);
            if *known != members {
                *known = None;
            }
        }
    }
}

/// The relation of this name, if there is one, with its number.
fn relation<'s>(state: &'s State, factor: &TableFactor) -> Option<(usize, &'s catalog::Relation)> {
    let TableFactor::Table { name, .. } = factor else { return None };
    let (schema, table) = qualified(name).ok()?;
    let schema = schema.or(state.schema())?;
    state.catalog.find(schema, table)
}

impl Visitor for Names<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            cte.alias.columns.iter().for_each(|column| self.alias(&column.name));
        }
        members(&query.body, &mut |name, _| {
            self.aliases.insert(name.value.to_lowercase());
        });
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Error> {
        select.projection.iter().filter_map(alias).for_each(|(name, _)| self.alias(name));
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Error> {
        if let Err(error) = self.state.check_time() {
            return ControlFlow::Break(error);
        }
        if let Some((number, relation)) = relation(self.state, factor) {
            if self.seen.insert(number) {
                self.columns(relation.all_columns());
                if let Source::View(query) = &relation.kind {
                    return query.visit(self);
                }
            }
        } else if let TableFactor::Table { name, .. } = factor
            && let Ok((_, table)) = qualified(name)
        {
            self.state.scratch_table(table).iter().for_each(|scratch| self.columns(&scratch.columns));
        }
        ControlFlow::Continue(())
    }
}

/// Finds out the kinds of aliases.
struct Aliases<'a> {
    state: &'a State,
    /// In which an alias is Unknown, but for what the visits before found of derived columns.
    columns: Kinds,
    all: HashMap<String, Kind>,
    /// By the table's alias and the column's name; and how other tables are called.
    derived: HashMap<(String, String), Kind>,
    others: HashSet<String>,
    /// Whether they are so, and so are the columns of that name.
    unsigned: HashMap<String, bool>,
    /// Those that are columns of an ENUM and nothing else.
    enums: HashMap<String, Option<Members>>,
    seen: HashSet<usize>,
    /// What WITH defines, of the queries around.
    ctes: Vec<String>,
}

impl Aliases<'_> {
    fn add(&mut self, name: &Ident, expr: &Expr) {
        let kind = self.columns.kind(expr, &|_| None);
        let known = self.all.entry(name.value.to_lowercase()).or_insert(kind);
        *known = known.or(kind);
        if kind != Kind::Null {
            let is_unsigned = self.columns.is_unsigned(expr);
            *self.unsigned.entry(name.value.to_lowercase()).or_insert(true) &= is_unsigned;
            let members = self.columns.members(expr);
            let known = self.enums.entry(name.value.to_lowercase()).or_insert(members);
            if *known != members {
                *known = None;
            }
        }
    }

    /// Takes over what was found of derived columns; whether another visit may find more by it.
    fn learn(&mut self) -> bool {
        let others = &self.others;
        let found = std::mem::take(&mut self.derived).into_iter().filter(|((table, _), _)| !others.contains(table));
        let (unknown, known): (Vec<_>, Vec<_>) = found.partition(|(_, kind)| *kind == Kind::Unknown);
        let is_new = known.len() > self.columns.derived.len();
        self.columns.derived = known.into_iter().map(|((table, column), kind)| (dotted(&table, &column), kind)).collect();
        self.seen.clear();
        is_new && !unknown.is_empty()
    }

    fn is_table(&self, factor: &TableFactor) -> bool {
        let is_of_test = |table: &str| self.state.scratch_name(table).is_some();
        relation(self.state, factor).is_some()
            || matches!(factor, TableFactor::Table { name, .. } if qualified(name).is_ok_and(|(_, table)| is_of_test(table)))
    }

    /// The columns of `WITH name (columns) AS (query)`, as the query has them.
    fn named_columns(&mut self, cte: &Cte) {
        let all = selects(&cte.query.body);
        for (index, column) in cte.alias.columns.iter().enumerate() {
            match in_column(&all, index) {
                Some(exprs) => exprs.into_iter().for_each(|expr| self.add(&column.name, expr)),
                None => {
                    self.all.insert(column.name.value.to_lowercase(), Kind::Unknown);
                    self.unsigned.insert(column.name.value.to_lowercase(), false);
                    self.enums.insert(column.name.value.to_lowercase(), None);
                }
            }
        }
    }

    /// The columns of `(query) AS alias (names)`.
    fn derived_columns(&mut self, query: &Query, table: &TableAlias) {
        let all = selects(&query.body);
        let Some(first) = all.first() else { return };
        for (index, item) in first.projection.iter().enumerate() {
            let renamed = table.columns.get(index).map(|column| &column.name);
            let Some(name) = renamed.or_else(|| name_of_column(item)) else { continue };
            let kinds = in_column(&all, index).into_iter().flatten().map(|expr| self.columns.kind(expr, &|_| None));
            // All of them are given the digits of what takes in all.
            let both = |one: Kind, other: Kind| one.of_decimals(other).unwrap_or_else(|| one.or(other));
            let Some(kind) = kinds.reduce(both) else { continue };
            let known = self.derived.entry((table.name.value.to_lowercase(), name.value.to_lowercase())).or_insert(kind);
            *known = known.or(kind);
        }
    }
}

/// What all members of a UNION have in the column of this number; None if that is not known, because of a `*` before it.
fn in_column<'b>(all: &[&'b Select], index: usize) -> Option<Vec<&'b Expr>> {
    let has_star = |select: &&&Select| select.projection.iter().take(index + 1).any(is_star);
    let is_known = !all.is_empty() && !all.iter().any(|select| has_star(&select));
    all.iter().map(|select| expr_at(select, index)).collect::<Option<Vec<&Expr>>>().filter(|_| is_known)
}

/// What a SELECT has in the column of this number, if no `*` is there.
pub(crate) fn expr_at(select: &Select, index: usize) -> Option<&Expr> {
    match select.projection.get(index) {
        Some(SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) => Some(expr),
        _ => None,
    }
}

pub(crate) fn is_star(item: &SelectItem) -> bool {
    !matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. })
}

impl Visitor for Aliases<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.named_columns(cte);
            self.derived_columns(&cte.query, &cte.alias);
            self.ctes.push(cte.alias.name.value.to_lowercase());
        }
        members(&query.body, &mut |name, expr| self.add(name, expr));
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Error> {
        for (name, expr) in select.projection.iter().filter_map(alias) {
            self.add(name, expr);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Error> {
        if let Some((number, relation)) = relation(self.state, factor)
            && let Source::View(query) = &relation.kind
            && self.seen.insert(number)
        {
            query.visit(self)?;
        }
        match factor {
            TableFactor::Derived { subquery, alias: Some(alias), .. } => self.derived_columns(subquery, alias),
            TableFactor::Table { name, alias, .. } => {
                let (schema, own) = qualified(name).unwrap_or_default();
                let alias = alias.as_ref().map_or(own, |alias| &alias.name.value).to_lowercase();
                let own = own.to_lowercase();
                // It is not told from a table that has its name.
                if schema.is_some() || !self.ctes.contains(&own) || self.is_table(factor) {
                    self.others.insert(alias);
                } else if alias != own {
                    let columns = self.derived.iter().filter(|((table, _), _)| *table == own);
                    let columns: Vec<_> = columns.map(|((_, column), kind)| (column.clone(), *kind)).collect();
                    for (column, kind) in columns {
                        let known = self.derived.entry((alias.clone(), column)).or_insert(kind);
                        *known = known.or(kind);
                    }
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        let defined = query.with.iter().flat_map(|with| &with.cte_tables).count();
        self.ctes.truncate(self.ctes.len() - defined);
        ControlFlow::Continue(())
    }
}
