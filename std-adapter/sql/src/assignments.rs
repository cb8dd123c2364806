//! UPDATE assigns from left to right: what reads a column that was assigned before it reads the new value. SQLite has the old ones throughout,
//! so the rows are looked at in stages: each knows the values of those within it as columns of its own.

use crate::Error;
use crate::catalog::Column;
use crate::change::select_of;
use crate::copies::Copies;
use crate::dialect::{ident, last, numeral, qualified, take};
use crate::expand::{query_of, select_from};
use crate::parse::{quote, template};
use crate::subquery::{parts, replace};
use perfschema::core::table::SqlType;
use sqlparser::ast::{AssignmentTarget, Expr, Ident, LimitClause, Query, SelectItem, SetExpr, TableAlias, TableFactor};
use std::cell::Cell;
use std::collections::HashMap;

/// How many stages there may be: each is a query within the next.
const MAX_STAGES: usize = 40;

/// The table that is updated, as names of its columns may say it.
#[derive(Debug)]
pub(crate) struct Target {
    schema: Option<String>,
    /// Its alias, if it has one.
    name: String,
}

impl Target {
    /// Without a schema it is in the session's.
    pub(crate) fn of(relation: &TableFactor, own_schema: Option<&str>) -> Result<Target, Error> {
        let TableFactor::Table { name, alias, .. } = relation else { return Err(Error::unsupported("this kind of UPDATE")) };
        let (schema, table) = qualified(name)?;
        let name = alias.as_ref().map_or(table, |alias| &alias.name.value).to_owned();
        Ok(Target { schema: schema.or(own_schema).map(str::to_owned), name })
    }

    /// Whether what stands before the name of a column means it.
    fn is_meant(&self, qualifiers: &[Ident]) -> bool {
        let is_name = |own: &Ident| own.value.eq_ignore_ascii_case(&self.name);
        match qualifiers {
            [] => true,
            [own] => is_name(own),
            [schema, own] => is_name(own) && self.schema.as_ref().is_some_and(|known| schema.value.eq_ignore_ascii_case(known)),
            _ => false,
        }
    }

    /// The name of the column of this table that is assigned.
    pub(crate) fn assigned<'a>(&self, target: &'a AssignmentTarget) -> Result<&'a str, Error> {
        let AssignmentTarget::ColumnName(name) = target else { return Err(Error::unsupported("this kind of SET")) };
        let names: Option<Vec<&Ident>> = name.0.iter().map(|part| part.as_ident()).collect();
        let names: Vec<Ident> = names.unwrap_or_default().into_iter().cloned().collect();
        match names.split_last() {
            Some((_, qualifiers)) if self.is_meant(qualifiers) => last(name).ok_or_else(Error::empty),
            _ => Err(Error::unknown_column(&name.to_string().replace('`', ""), "field list")),
        }
    }
}

/// Where the last value of each column is among those that are assigned: only that one is kept.
pub(crate) fn lasts(columns: &[&str]) -> Vec<usize> {
    let places: HashMap<String, usize> =
        columns.iter().enumerate().map(|(index, column)| (column.to_lowercase(), index)).collect();
    let mut lasts: Vec<usize> = places.into_values().collect();
    lasts.sort_unstable();
    lasts
}

/// Makes each assigned value, which are the first columns of the query, read those before it. `assigned` are their columns, `all` those of the
/// table. A query within an assignment has the old values.
pub(crate) fn in_order(query: &mut Query, target: &Target, assigned: &[&Column], all: &[Column]) -> Result<(), Error> {
    let mut stages = Stages::of(target, all);
    for (item, column) in select_of(query)?.projection.iter().zip(assigned) {
        if let SelectItem::UnnamedExpr(value) = item {
            stages.add(value.clone(), column)?;
        }
    }
    // Without any that reads another one the query is right as it is.
    if stages.values.len() > 1 { stages.put_around(query, assigned.len()) } else { Ok(()) }
}

struct Stages<'a> {
    target: &'a Target,
    all: &'a [Column],
    /// What a column is now, by its name in lower case, and in which stage it was assigned, from 1.
    now: HashMap<String, (usize, Expr)>,
    /// The values of each stage.
    values: Vec<Vec<Expr>>,
    count: usize,
    copies: Copies,
}

impl<'a> Stages<'a> {
    fn of(target: &'a Target, all: &'a [Column]) -> Stages<'a> {
        let now = |column: &Column| (column.name.to_lowercase(), (0, of_table(target, column)));
        let (now, values) = (all.iter().map(now).collect(), vec![Vec::new()]);
        Stages { target, all, now, values, count: 0, copies: Copies::default() }
    }

    fn add(&mut self, mut value: Expr, column: &Column) -> Result<(), Error> {
        let latest = Cell::new(0);
        let meant = |expr: &Expr| {
            let (column, qualifiers) = parts(expr)?.split_last()?;
            let (stage, now) = self.now.get(&column.value.to_lowercase()).filter(|_| self.target.is_meant(qualifiers))?;
            latest.set(latest.get().max(*stage));
            Some(now)
        };
        replace(&mut value, &meant, &mut self.copies)?;
        if latest.get() == self.values.len() {
            if self.values.len() == MAX_STAGES {
                return Err(Error::too_complex());
            }
            self.values.push(Vec::new());
        }
        let now = as_column(Expr::Identifier(assigned_name(self.count)), column.sql_type);
        self.now.insert(column.name.to_lowercase(), (self.values.len(), now));
        self.values.last_mut().expect("there is one from the start").push(value);
        self.count += 1;
        Ok(())
    }

    /// The rows that the query chooses within the stages, and the values of these, and the query's other columns, around.
    fn put_around(self, query: &mut Query, assigned: usize) -> Result<(), Error> {
        let projection = &mut select_of(query)?.projection;
        let named = |(index, item)| match item {
            SelectItem::UnnamedExpr(expr) => SelectItem::ExprWithAlias { expr, alias: rest_name(index) },
            other => other,
        };
        let rest: Vec<SelectItem> = projection.drain(..).skip(assigned).enumerate().map(named).collect();
        let rest_names: Vec<Ident> = (0..rest.len()).map(rest_name).collect();
        projection.extend(self.all.iter().map(|column| SelectItem::UnnamedExpr(of_table(self.target, column))));
        projection.extend(rest);
        let mut inner = Box::new(std::mem::replace(query, template("SELECT 1")));
        let mut names = (0..).map(assigned_name);
        for values in self.values {
            let star = SelectItem::Wildcard(Default::default());
            let values = values.into_iter().zip(&mut names).map(|(expr, alias)| SelectItem::ExprWithAlias { expr, alias });
            inner = self.target.stage(inner, std::iter::once(star).chain(values).collect());
        }
        let found = (0..self.count).map(assigned_name).chain(rest_names);
        *query = *self.target.stage(inner, found.map(|name| SelectItem::UnnamedExpr(Expr::Identifier(name))).collect());
        Ok(())
    }
}

impl Target {
    /// `SELECT items FROM (query) AS target`. SQLite puts what has a LIMIT into nothing that has one, too: it computes each row of it once.
    fn stage(&self, mut query: Box<Query>, items: Vec<SelectItem>) -> Box<Query> {
        limit(&mut query);
        let alias = TableAlias { explicit: true, name: ident(&self.name), columns: Vec::new(), at: None };
        let factor = TableFactor::Derived { lateral: false, subquery: query, alias: Some(alias), sample: None };
        let mut outer = query_of(SetExpr::Select(select_from(factor, items)));
        limit(&mut outer);
        outer
    }
}

/// One that has none gets that of as many rows as there can be.
pub(crate) fn limit(query: &mut Query) {
    let limit = || LimitClause::LimitOffset { limit: Some(numeral(i64::MAX)), offset: None, limit_by: Vec::new() };
    query.limit_clause.get_or_insert_with(limit);
}

/// Names that no column has.
fn assigned_name(index: usize) -> Ident {
    ident(&format!("(assigned {index})"))
}

fn rest_name(index: usize) -> Ident {
    ident(&format!("(rest {index})"))
}

fn of_table(target: &Target, column: &Column) -> Expr {
    Expr::CompoundIdentifier(vec![ident(&target.name), ident(&column.name)])
}

/// What is read of a column once the value was assigned: it has the column's type.
fn as_column(value: Expr, sql_type: SqlType) -> Expr {
    let made = match sql_type {
        SqlType::BigintUnsigned | SqlType::IntUnsigned => "CAST(v AS UNSIGNED)".to_owned(),
        SqlType::Bigint | SqlType::Int => "CAST(v AS SIGNED)".to_owned(),
        SqlType::Double => "CAST(v AS DOUBLE)".to_owned(),
        SqlType::Varchar(1..) | SqlType::Char(_) | SqlType::Longtext => "CAST(v AS CHAR)".to_owned(),
        SqlType::Decimal(..) | SqlType::Date | SqlType::Time(_) | SqlType::Datetime(_) => format!("CAST(v AS {sql_type})"),
        // By its text, or else by its number.
        SqlType::Enum(members) => {
            let members = members.iter().map(|member| quote(member)).collect::<Vec<_>>().join(", ");
            format!("COALESCE(ELT(FIELD(v, {members}), {members}), ELT(v, {members}))")
        }
        _ => return value,
    };
    let mut template = template(&format!("SELECT {made}"));
    let made = match select_of(&mut template).map(|select| select.projection.first_mut()) {
        Ok(Some(SelectItem::UnnamedExpr(made))) => made,
        _ => return value,
    };
    let of_template = |expr: &Expr| matches!(expr, Expr::Identifier(name) if name.value == "v").then_some(&value);
    // Nothing to speak of is written again.
    let _ = replace(made, &of_template, &mut Copies::default());
    take(made)
}
