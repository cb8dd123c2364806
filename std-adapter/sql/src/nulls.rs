//! Which columns of a result may be NULL: one that is declared otherwise may where an outer join finds nothing, and what is counted never is.
//! Clients that are typed, as those of Rust and Go, take the one for an option and the other for a number.

use crate::calls::name_of;
use crate::dialect::last;
use crate::kinds;
use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, JoinOperator, ObjectName, Query, Select, TableFactor, TableWithJoins, UnaryOperator,
    Value, Visit, Visitor,
};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// What the form of an expression says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// As the column is declared.
    Column,
    Never,
    Perhaps,
}

impl Form {
    fn of(expr: &Expr) -> Form {
        match expr {
            Expr::Identifier(name) if name.value.starts_with('@') => Form::Perhaps,
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => Form::Column,
            Expr::Nested(expr) => Form::of(expr),
            _ if is_never_null(expr) => Form::Never,
            _ => Form::Perhaps,
        }
    }
}

/// In small letters, without the table.
fn column_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(name) => Some(name.value.to_lowercase()),
        Expr::CompoundIdentifier(names) => Some(names.last()?.value.to_lowercase()),
        Expr::Nested(expr) => column_name(expr),
        _ => None,
    }
}

fn is_never_null(expr: &Expr) -> bool {
    match expr {
        Expr::Value(value) => !matches!(value.value, Value::Null | Value::Placeholder(_)),
        Expr::Nested(expr) => is_never_null(expr),
        Expr::Function(function) => {
            let (name, _) = name_of(function);
            ["count", "row_number", "rank", "dense_rank"].iter().any(|known| name.eq_ignore_ascii_case(known))
        }
        Expr::IsNull(_) | Expr::IsNotNull(_) | Expr::IsTrue(_) | Expr::IsFalse(_) | Expr::IsNotTrue(_) | Expr::IsNotFalse(_) => {
            true
        }
        Expr::Exists { .. } => true,
        Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus | UnaryOperator::Not, expr } => is_never_null(expr),
        Expr::BinaryOp { left, op, right } => match op {
            BinaryOperator::Spaceship => true,
            // Not what is divided: by zero it is NULL.
            BinaryOperator::Plus
            | BinaryOperator::Minus
            | BinaryOperator::Multiply
            | BinaryOperator::Eq
            | BinaryOperator::NotEq
            | BinaryOperator::Lt
            | BinaryOperator::LtEq
            | BinaryOperator::Gt
            | BinaryOperator::GtEq
            | BinaryOperator::And
            | BinaryOperator::Or => is_never_null(left) && is_never_null(right),
            _ => false,
        },
        _ => false,
    }
}

/// The columns of a query as it was written, before constants are parameters.
#[derive(Debug)]
pub(crate) struct Nulls {
    /// Of each member of a UNION; None where `*` stands among them.
    members: Vec<Option<Vec<Form>>>,
    /// The tables of which there may be no row.
    outside: HashSet<String>,
}

impl Nulls {
    pub(crate) fn of(query: &Query) -> Nulls {
        let selects = kinds::selects(&query.body);
        let first = selects.first().copied();
        let forms = |select: &&Select| {
            // WITH ROLLUP has rows in which what is grouped by is NULL.
            let is_rolled = matches!(&select.group_by, GroupByExpr::Expressions(_, modifiers) if !modifiers.is_empty());
            let form = |(place, expr)| match Form::of(expr) {
                Form::Column if is_rolled => Form::Perhaps,
                // Of the first member's column it is known how it is declared; another's of the same name is mostly the same.
                Form::Column if column_name(expr) != first.and_then(|first| column_name(kinds::expr_at(first, place)?)) => {
                    Form::Perhaps
                }
                form => form,
            };
            let is_whole = !select.projection.iter().any(kinds::is_star);
            is_whole.then(|| {
                (0..select.projection.len()).filter_map(|place| Some((place, kinds::expr_at(select, place)?))).map(form).collect()
            })
        };
        Nulls { members: selects.iter().map(forms).collect(), outside: HashSet::new() }
    }

    /// The same query after it was rewritten, with its views in it.
    pub(crate) fn joined(mut self, query: &Query) -> Nulls {
        let mut joins = Joins { outside: &mut self.outside, defined: HashMap::new() };
        // It goes on to the end.
        let _ = query.visit(&mut joins);
        let defined = joins.defined;
        self.add_defined(defined);
        self
    }

    /// Of what WITH defines and there may be no row of, there may be none of the tables in it either.
    fn add_defined(&mut self, mut defined: HashMap<String, HashSet<String>>) {
        let mut open: Vec<String> = self.outside.iter().cloned().collect();
        while let Some(name) = open.pop() {
            let tables = defined.remove(&name).unwrap_or_default();
            open.extend(tables.into_iter().filter(|table| self.outside.insert(table.clone())));
        }
    }

    pub(crate) fn is_union(&self) -> bool {
        self.members.len() > 1
    }

    /// Whether all members have a column at this place, as far as it is known.
    pub(crate) fn are_columns(&self, place: usize) -> bool {
        let form = |member: &Option<Vec<Form>>| member.as_ref().and_then(|forms| forms.get(place)).copied();
        self.members.iter().all(|member| matches!(form(member), None | Some(Form::Column)))
    }

    /// Whether the column at this place may be NULL, which is one of a table's that is declared so, or else an expression.
    pub(crate) fn may_be(&self, place: usize, declared: Option<(&str, bool)>) -> bool {
        let as_declared = declared.is_none_or(|(table, nullable)| nullable || self.outside.contains(&table.to_ascii_lowercase()));
        let of_member = |member: &Option<Vec<Form>>| match member.as_ref().and_then(|forms| forms.get(place)) {
            None | Some(Form::Column) => as_declared,
            Some(Form::Never) => false,
            Some(Form::Perhaps) => true,
        };
        if self.members.is_empty() { as_declared } else { self.members.iter().any(of_member) }
    }
}

/// Finds the tables that an outer join may find no row of.
struct Joins<'a> {
    outside: &'a mut HashSet<String>,
    /// The tables that are in what WITH defines, by its name.
    defined: HashMap<String, HashSet<String>>,
}

impl Visitor for Joins<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            let names = self.defined.entry(cte.alias.name.value.to_ascii_lowercase()).or_default();
            // It goes on to the end.
            let _ = cte.query.visit(&mut Tables { names });
        }
        for select in kinds::selects(&query.body) {
            select.from.iter().for_each(|table| self.look_at(table));
        }
        ControlFlow::Continue(())
    }
}

impl Joins<'_> {
    fn look_at(&mut self, table: &TableWithJoins) {
        let mut before = vec![&table.relation];
        for join in &table.joins {
            match join.join_operator {
                JoinOperator::Left(_) | JoinOperator::LeftOuter(_) => self.may_have_none(&[&join.relation]),
                JoinOperator::Right(_) | JoinOperator::RightOuter(_) => self.may_have_none(&before),
                _ => {}
            }
            before.push(&join.relation);
        }
        for factor in before {
            if let TableFactor::NestedJoin { table_with_joins, .. } = factor {
                self.look_at(table_with_joins);
            }
        }
    }

    /// All tables in these.
    fn may_have_none(&mut self, factors: &[&TableFactor]) {
        for factor in factors {
            // It goes on to the end.
            let _ = factor.visit(&mut Tables { names: self.outside });
        }
    }
}

struct Tables<'a> {
    names: &'a mut HashSet<String>,
}

impl Visitor for Tables<'_> {
    type Break = ();

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        self.names.extend(last(relation).map(str::to_ascii_lowercase));
        ControlFlow::Continue(())
    }
}
