//! MySQL's dialect in, SQLite's out.
//!
//! A statement is cut into tokens, parsed by `sqlparser` and rewritten as a tree. Nothing of a client's text reaches SQLite as text but
//! keywords, digits and quoted names: every literal is bound as a parameter. What the rewriter does not know it refuses, so neither
//! functions nor tables of SQLite's own can be reached; SQLite's authorizer is the second wall.

use crate::calls::name_of;
use crate::catalog::{self, Kind as Source};
use crate::collation::{check_character_set, check_collation, compare_without_case, is_column};
use crate::compare::is_binary;
use crate::copies::Copies;
use crate::decimal::Decimal;
use crate::functions::{PREFIX, SLEEP_ALONE};
use crate::kinds::{Kind, Kinds};
use crate::literals::{Bound, bound_value};
use crate::parse::template;
use crate::star::constraint_mut;
use crate::state::{State, lock};
use crate::value::Number;
use crate::{Error, assigned, expand, literals, operators, order, recursion, scope, subquery, variables};
use perfschema::render::OwnedValue;
use rusqlite::types::{Value as SqliteValue, ValueRef};
use sqlparser::ast::{
    BinaryOperator, CastKind, DateTimeField, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, GroupByExpr, Ident, JoinConstraint, JoinOperator, LimitClause, NamedWindowDefinition, NamedWindowExpr,
    ObjectName, OrderBy, OrderByKind, Query, Select, SelectItem, SetExpr, SetOperator, SetQuantifier, TableAlias, TableFactor,
    TableWithJoins, UnaryOperator, Value, ValueWithSpan, Visit, VisitMut, VisitorMut,
};
use std::fmt::Display;
use std::ops::ControlFlow;

/// Rewrites trees; collects what is to be bound.
pub(crate) struct Rewriter<'a> {
    pub(crate) state: &'a State,
    /// Values for the placeholders; NULL for one too many.
    pub(crate) parameters: &'a [OwnedValue],
    pub(crate) bound: Bound,
    /// What WITH defines, one list for each query around.
    pub(crate) ctes: Vec<Vec<Cte>>,
    views: usize,
    relations: Vec<usize>,
    pub(crate) kinds: Kinds,
    pub(crate) copies: Copies,
    /// Expressions around that have queries within.
    pub(crate) queries_within: usize,
}

/// A table that WITH defines.
pub(crate) struct Cte {
    pub(crate) name: String,
    /// Whether it may be defined by itself.
    pub(crate) is_recursive: bool,
    /// What its columns are called, if that is known.
    pub(crate) columns: Option<Vec<String>>,
}

type Flow = ControlFlow<Box<Error>>;

fn refuse<T>(error: Error) -> ControlFlow<Box<Error>, T> {
    ControlFlow::Break(Box::new(error))
}

/// Values that SQLite takes for one statement: literals, too, are bound.
const MAX_BOUND: usize = 32766;

/// What SQLite is given.
#[derive(Debug)]
pub(crate) struct Rewritten {
    pub(crate) sql: String,
    pub(crate) bound: Vec<SqliteValue>,
    /// The relations that it names, by their numbers.
    pub(crate) relations: Vec<usize>,
    pub(crate) kinds: Kinds,
}

impl Rewritten {
    /// Of what kind the values of an expression are.
    pub(crate) fn kind(&self, expr: &Expr) -> Kind {
        self.kinds.kind(expr, &|value| bound_value(&self.bound, value))
    }
}

/// Rewrites a query or statement, and prints it.
pub(crate) fn rewrite<T: Visit + VisitMut + std::fmt::Display>(
    tree: &mut T,
    state: &State,
    parameters: &[OwnedValue],
) -> Result<Rewritten, Error> {
    let (bound, ctes, relations) = (Bound::default(), Vec::new(), Vec::new());
    let mut copies = Copies::default();
    assigned::expand(tree);
    expand::expand(tree, &mut copies)?;
    literals::type_moments(tree, state, parameters);
    let kinds = Kinds::of(tree, state)?;
    let mut rewriter = Rewriter { state, parameters, bound, ctes, views: 0, relations, kinds, copies, queries_within: 0 };
    match tree.visit(&mut rewriter) {
        ControlFlow::Break(error) => Err(*error),
        ControlFlow::Continue(()) if rewriter.bound.values.len() > MAX_BOUND => Err(Error::too_many_values()),
        ControlFlow::Continue(()) => {
            let Rewriter { bound, relations, kinds, .. } = rewriter;
            operators::keep_order(tree);
            Ok(Rewritten { sql: tree.to_string(), bound: bound.values, relations, kinds })
        }
    }
}

/// A name of one or two parts: the schema, if it is given, and the rest.
pub(crate) fn qualified(name: &ObjectName) -> Result<(Option<&str>, &str), Error> {
    let parts: Option<Vec<&str>> = name.0.iter().map(|part| part.as_ident().map(|ident| ident.value.as_str())).collect();
    match parts.as_deref() {
        Some([table]) => Ok((None, table)),
        Some([schema, table]) => Ok((Some(schema), table)),
        _ => Err(Error::syntax(&name.to_string(), 1)),
    }
}

/// The last part of a name: without schema or table.
pub(crate) fn last(name: &ObjectName) -> Option<&str> {
    name.0.last()?.as_ident().map(|ident| ident.value.as_str())
}

pub(crate) fn ident(name: &str) -> Ident {
    Ident::with_quote('`', name)
}

/// The expression, with or without regard to letter case.
pub(crate) fn collate(expr: Expr, is_binary: bool) -> Expr {
    let collation = ObjectName::from(vec![ident(if is_binary { "BINARY" } else { "NOCASE" })]);
    Expr::Collate { expr: Box::new(Expr::Nested(Box::new(expr))), collation }
}

/// A call of one of this crate's functions.
pub(crate) fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    Expr::Function(Function {
        name: ObjectName::from(vec![ident(&format!("{PREFIX}{name}"))]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: arguments.into_iter().map(|argument| FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))).collect(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

pub(crate) fn literal(value: Value) -> Expr {
    Expr::Value(value.with_empty_span())
}

/// A whole number, as a literal.
pub(crate) fn numeral(number: impl Display) -> Expr {
    literal(Value::Number(number.to_string(), false))
}

pub(crate) fn not(negated: bool, expr: Expr) -> Expr {
    if !negated {
        return expr;
    }
    let not = Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(Expr::Nested(Box::new(expr))) };
    // NOT binds less than what it may stand in the place of.
    Expr::Nested(Box::new(not))
}

pub(crate) fn take(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, literal(Value::Null))
}

impl Rewriter<'_> {
    /// Of what kind the values of an expression are, after its parts were rewritten.
    pub(crate) fn kind(&self, expr: &Expr) -> Kind {
        self.kinds.kind(expr, &|value| self.bound_value(value))
    }

    fn binary(&mut self, left: Box<Expr>, op: BinaryOperator, right: Box<Expr>) -> Result<Expr, Error> {
        let (left, right) = (*left, *right);
        let mut arithmetic = |name: &str, left: Expr, right: Expr| {
            let (left, right) = (self.as_number(left), self.as_number(right));
            Ok(call(name, vec![left, right]))
        };
        match op {
            BinaryOperator::Plus | BinaryOperator::Minus => {
                let add = op == BinaryOperator::Plus;
                match (left, right) {
                    (moment, Expr::Interval(interval)) => self.date_add(moment, Expr::Interval(interval), add),
                    (Expr::Interval(interval), moment) if add => self.date_add(moment, Expr::Interval(interval), true),
                    (left, right) => arithmetic(if add { "add" } else { "subtract" }, left, right),
                }
            }
            BinaryOperator::Multiply => arithmetic("multiply", left, right),
            BinaryOperator::Divide => arithmetic("divide", left, right),
            BinaryOperator::MyIntegerDivide => arithmetic("div", left, right),
            BinaryOperator::Modulo => arithmetic("mod", left, right),
            BinaryOperator::Xor => arithmetic("xor", left, right),
            BinaryOperator::BitwiseXor => arithmetic("bitwise_xor", left, right),
            BinaryOperator::BitwiseAnd => arithmetic("bitwise_and", left, right),
            BinaryOperator::BitwiseOr => arithmetic("bitwise_or", left, right),
            BinaryOperator::PGBitwiseShiftLeft => arithmetic("shift_left", left, right),
            BinaryOperator::PGBitwiseShiftRight => arithmetic("shift_right", left, right),
            BinaryOperator::Eq
            | BinaryOperator::NotEq
            | BinaryOperator::Lt
            | BinaryOperator::LtEq
            | BinaryOperator::Gt
            | BinaryOperator::GtEq
            | BinaryOperator::Spaceship => self.comparison(left, op, right),
            BinaryOperator::Arrow => Ok(call("json_extract", vec![left, right])),
            BinaryOperator::LongArrow => Ok(call("json_unquote", vec![call("json_extract", vec![left, right])])),
            // Where sql_mode says so; it is OR before otherwise.
            BinaryOperator::StringConcat => Ok(call("concat", vec![left, right])),
            BinaryOperator::Or | BinaryOperator::And => {
                let (left, right) = (self.condition(left), self.condition(right));
                Ok(Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) })
            }
            other => Err(Error::unsupported(&other.to_string())),
        }
    }

    /// What is true or not: SQLite takes bytes for a text, and large numbers and exact ones are bytes; it takes texts, also of an ENUM, and
    /// moments for the digits that they begin with.
    pub(crate) fn condition(&mut self, expr: Expr) -> Expr {
        let expr = self.as_number(expr);
        let is_clear = is_truth(&expr) || matches!(self.kind(&expr), Kind::Null | Kind::Real | Kind::Text);
        if is_clear { expr } else { call("truth", vec![expr]) }
    }

    /// An exact number is computed with more digits than leave the expression.
    pub(crate) fn as_shown(&self, expr: &mut Expr) {
        let is_bound = |expr: &Expr| matches!(expr, Expr::Value(_)) || is_column(expr);
        if !is_bound(expr) && !matches!(self.kind(expr), Kind::Decimal(_, 0)) && self.kind(expr).has_decimals() {
            *expr = call("shown", vec![take(expr)]);
        }
    }

    fn variable(&mut self, names: &[Ident]) -> Result<Expr, Error> {
        let first = names.first().map_or("", |name| name.value.as_str());
        if let Some(user) = first.strip_prefix('@').filter(|user| !user.starts_with('@')) {
            return Ok(self.constant(&self.state.user_variable(user)));
        }
        let is_scope = |known: &str| first.eq_ignore_ascii_case(known);
        let name = match names {
            [name] => name.value.trim_start_matches('@'),
            [_, name] if ["@@global", "@@session", "@@local"].into_iter().any(is_scope) => name.value.as_str(),
            _ => return Err(Error::unknown_variable(first.trim_start_matches('@'))),
        };
        let is_scoped = names.len() == 2;
        let global = is_scoped && is_scope("@@global");
        let value = if global { self.state.global_variable(name) } else { self.state.variable(name) };
        let value = value.ok_or_else(|| Error::unknown_variable(name))?;
        let only = if global && variables::is_session_only(name) {
            "SESSION"
        } else if is_scoped && !global && variables::is_global_only(name) {
            "GLOBAL"
        } else {
            return Ok(self.constant(&value));
        };
        Err(Error::new(1238, "HY000", format!("Variable '{name}' is a {only} variable")))
    }

    /// The tree after its children were rewritten.
    fn expr(&mut self, expr: Expr) -> Result<Expr, Error> {
        match expr {
            Expr::Identifier(name) if name.value.starts_with('@') => self.variable(&[name]),
            Expr::CompoundIdentifier(names) if names.first().is_some_and(|name| name.value.starts_with('@')) => {
                self.variable(&names)
            }
            // A view is no table of SQLite's: it is known by its name or alias alone.
            Expr::CompoundIdentifier(mut names) => {
                if names.len() == 3 && names[0].value.eq_ignore_ascii_case(catalog::SYS) {
                    names.remove(0);
                }
                Ok(Expr::CompoundIdentifier(names))
            }
            Expr::BinaryOp { left, op, right } => self.binary(left, op, right),
            // A literal that has no integer of SQLite's.
            Expr::UnaryOp { op: UnaryOperator::Minus, expr } if matches!(self.bound_value(&expr), Some(SqliteValue::Blob(_))) => {
                let number = self.bound_value(&expr).and_then(|bound| Number::of(ValueRef::from(bound))?.decimal());
                let negative = Decimal::from(0).subtract(&number.unwrap_or_else(|| 0.into()))?;
                Ok(literal(self.bind(negative.store())))
            }
            // Two minus signs in a row begin a comment of SQLite's.
            Expr::UnaryOp { op: UnaryOperator::Minus, expr } if !is_digits(&expr) => {
                Ok(call("negate", vec![self.as_number(*expr)]))
            }
            Expr::UnaryOp { op: UnaryOperator::Plus, expr } => Ok(*expr),
            Expr::UnaryOp { op: UnaryOperator::Not | UnaryOperator::BangNot, expr } => Ok(not(true, self.condition(*expr))),
            Expr::UnaryOp { op: UnaryOperator::BitwiseNot, expr } => {
                let (number, all) = (self.as_number(*expr), self.constant(&u64::MAX.into()));
                Ok(call("bitwise_xor", vec![number, all]))
            }
            Expr::Like { negated, any: false, mut expr, mut pattern, escape_char } => {
                self.collate_columns(&mut [&mut expr, &mut pattern]);
                let how = literal(Value::Boolean(is_binary([&*expr, &*pattern].into_iter())));
                let arguments = [how, *expr, *pattern].into_iter().chain(escape_char.map(|escape| *escape));
                Ok(not(negated, call("like", arguments.collect())))
            }
            Expr::RLike { negated, mut expr, mut pattern, .. } => {
                self.collate_columns(&mut [&mut expr, &mut pattern]);
                let how = is_binary([&*expr, &*pattern].into_iter()).then(|| self.text("c"));
                Ok(not(negated, call("regexp_like", [*expr, *pattern].into_iter().chain(how).collect())))
            }
            Expr::InList { expr, list, negated } => self.in_list(*expr, list, negated),
            Expr::Between { expr, negated, low, high } => self.between(*expr, *low, *high, negated),
            Expr::Subquery(query) => Ok(subquery::single(query)),
            Expr::Convert { expr, data_type, charset, is_try: false, .. } => match data_type {
                Some(data_type) => self.cast(*expr, &data_type.to_string()),
                None => {
                    charset.map_or(Ok(()), |charset| check_character_set(charset.to_string().trim_matches('`')))?;
                    Ok(call("char_of", vec![*expr]))
                }
            },
            Expr::Cast { kind: CastKind::Cast, expr, data_type, format: None } => self.cast(*expr, &data_type.to_string()),
            Expr::Extract { field: DateTimeField::Week(None), expr, .. } => Ok(self.week(vec![*expr])),
            Expr::Extract { field, expr, .. } => {
                let unit = self.text(&field.to_string());
                Ok(call("extract", vec![*expr, unit]))
            }
            Expr::Ceil { expr, .. } => Ok(call("ceiling", vec![self.as_number(*expr)])),
            Expr::Floor { expr, .. } => Ok(call("floor", vec![self.as_number(*expr)])),
            Expr::Position { expr, r#in } => Ok(call("locate", vec![*expr, *r#in])),
            Expr::Substring { expr, substring_from: Some(from), substring_for, .. } => {
                let mut arguments = vec![*expr, self.as_number(*from)];
                arguments.extend(substring_for.map(|length| self.as_number(*length)));
                Ok(call("substring", arguments))
            }
            Expr::Trim { trim_where, trim_what, expr, trim_characters: None } => {
                use sqlparser::ast::TrimWhereField;
                let name = match trim_where {
                    None | Some(TrimWhereField::Both) => "trim",
                    Some(TrimWhereField::Leading) => "ltrim",
                    Some(TrimWhereField::Trailing) => "rtrim",
                };
                let mut arguments = vec![*expr];
                arguments.extend(trim_what.map(|what| *what));
                Ok(call(name, arguments))
            }
            Expr::Collate { expr, collation } => {
                let name = collation.to_string().trim_matches('`').to_ascii_lowercase();
                let is_binary = name == "binary" || ["_bin", "_cs"].iter().any(|end| name.ends_with(end));
                if !is_binary && !name.ends_with("_ci") {
                    return Err(Error::unknown_collation(&name));
                }
                check_collation(&name)?;
                Ok(collate(*expr, is_binary))
            }
            // What is no character set is a name, as it is for MySQL.
            Expr::Prefixed { prefix, value } => match check_character_set(prefix.value.trim_start_matches('_')) {
                Ok(()) => Ok(*value),
                Err(_) => Err(Error::unknown_column(&prefix.value, "field list")),
            },
            Expr::TypedString(typed) => self.typed_literal(typed),
            Expr::Function(function) => self.function(function),
            Expr::Case { operand, mut conditions, mut else_result, .. } => {
                let results = conditions.iter_mut().map(|when| &mut when.result);
                self.one_kind(results.chain(else_result.as_deref_mut()));
                if operand.is_none() {
                    conditions.iter_mut().for_each(|when| when.condition = self.condition(take(&mut when.condition)));
                }
                self.case(operand, conditions, else_result)
            }
            Expr::InSubquery { expr, subquery, negated } => self.in_subquery(*expr, subquery, negated),
            plain @ (Expr::Identifier(_)
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::UnaryOp { op: UnaryOperator::Minus, .. }
            | Expr::Nested(_)
            | Expr::Value(_)
            | Expr::Exists { .. }
            | Expr::Tuple(_)
            | Expr::Interval(_)
            | Expr::Wildcard(_)
            | Expr::QualifiedWildcard(..)) => Ok(plain),
            Expr::IsTrue(expr) => Ok(Expr::IsTrue(Box::new(self.condition(*expr)))),
            Expr::IsNotTrue(expr) => Ok(Expr::IsNotTrue(Box::new(self.condition(*expr)))),
            Expr::IsFalse(expr) => Ok(Expr::IsFalse(Box::new(self.condition(*expr)))),
            Expr::IsNotFalse(expr) => Ok(Expr::IsNotFalse(Box::new(self.condition(*expr)))),
            Expr::IsUnknown(expr) => Ok(Expr::IsNull(expr)),
            Expr::IsNotUnknown(expr) => Ok(Expr::IsNotNull(expr)),
            other => Err(Error::unsupported(&other.to_string())),
        }
    }

    /// The innermost table of this name that WITH defines.
    pub(crate) fn cte(&self, name: &str) -> Option<&Cte> {
        self.ctes.iter().rev().flatten().find(|cte| cte.name.eq_ignore_ascii_case(name))
    }

    /// JOIN binds closer than a comma: SQLite takes both from the left.
    fn join_before_commas(&self, from: &mut [TableWithJoins]) {
        for table in from.iter_mut().skip(1).filter(|table| !table.joins.is_empty()) {
            let is_recursive = |factor: &TableFactor| match factor {
                TableFactor::Table { name, .. } => {
                    matches!(qualified(name), Ok((None, name)) if self.cte(name).is_some_and(|cte| cte.is_recursive))
                }
                _ => false,
            };
            // What is defined by itself is nothing that SQLite finds in parentheses.
            if std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)).any(is_recursive) {
                continue;
            }
            let inner = TableWithJoins { relation: expand::empty_factor(), joins: Vec::new() };
            let inner = Box::new(std::mem::replace(table, inner));
            table.relation = TableFactor::NestedJoin { table_with_joins: inner, alias: None };
        }
    }

    /// What a table is joined on.
    fn conditions(&mut self, table: &mut TableWithJoins) {
        for join in &mut table.joins {
            if let Some(condition) = on(&mut join.join_operator) {
                *condition = self.condition(take(condition));
            }
        }
    }

    fn table(&mut self, factor: &mut TableFactor) -> Result<(), Error> {
        match factor {
            TableFactor::Table {
                name,
                alias,
                args: None,
                with_hints,
                version: None,
                with_ordinality: false,
                partitions,
                json_path: None,
                sample: None,
                index_hints,
            } if with_hints.is_empty() && partitions.is_empty() => {
                index_hints.clear();
                check_alias(alias.as_ref())?;
                let (schema, table) = qualified(name)?;
                if schema.is_none() && self.cte(table).is_some() {
                    return Ok(());
                }
                let schema = self.state.schema_or_current(schema)?;
                if schema == catalog::TEST {
                    let table = self.state.scratch_name(table).ok_or_else(|| Error::unknown_table(schema, table))?;
                    *name = ObjectName::from(vec![ident(schema), ident(&table)]);
                    return Ok(());
                }
                let (number, relation) = self.state.relation(schema, table, "SELECT")?;
                if let Source::View(query) = &relation.kind {
                    self.views += 1;
                    if self.views > 64 {
                        return Err(Error::too_complex());
                    }
                    let alias = alias.take().unwrap_or_else(|| TableAlias {
                        explicit: true,
                        name: ident(&relation.name),
                        columns: Vec::new(),
                        at: None,
                    });
                    *factor = TableFactor::Derived { lateral: false, subquery: query.clone(), alias: Some(alias), sample: None };
                } else {
                    self.relations.push(number);
                    *name = ObjectName::from(vec![ident(relation.schema), ident(&relation.name)]);
                }
                Ok(())
            }
            TableFactor::Derived { lateral: false, alias, sample: None, subquery } => match alias {
                Some(alias) => check_alias(Some(alias)).and_then(|()| self.check_columns(subquery, alias)),
                None => Err(Error::new(1248, "42000", "Every derived table must have its own alias")),
            },
            TableFactor::NestedJoin { table_with_joins, alias: None } => joins(table_with_joins),
            other => Err(Error::unsupported(&other.to_string())),
        }
    }

    fn query(&mut self, query: &mut Query) -> Result<(), Error> {
        let plain = query.fetch.is_none()
            && query.for_clause.is_none()
            && query.settings.is_none()
            && query.format_clause.is_none()
            && query.pipe_operators.is_empty()
            && !matches!(&query.limit_clause, Some(LimitClause::LimitOffset { limit_by, .. }) if !limit_by.is_empty());
        if !plain {
            return Err(Error::unsupported("this clause of SELECT"));
        }
        // FOR UPDATE and the like: there is nothing to lock.
        query.locks.clear();
        members(&mut query.body)?;
        if let (SetExpr::Select(select), Some(OrderBy { kind: OrderByKind::Expressions(order), .. })) =
            (&*query.body, &query.order_by)
        {
            order.iter().try_for_each(|by| order::check_place(select, &by.expr, "order clause"))?;
        }
        self.define(query);
        self.check_defined()?;
        let order = match &mut query.order_by {
            Some(OrderBy { kind: OrderByKind::Expressions(order), .. }) => order.as_mut_slice(),
            _ => &mut [],
        };
        self.name_common(&mut query.body, order)
    }

    fn select(&mut self, select: &mut Select) -> Result<(), Error> {
        let plain = select.into.is_none()
            && select.top.is_none()
            && select.exclude.is_none()
            && select.lateral_views.is_empty()
            && select.prewhere.is_none()
            && select.connect_by.is_empty()
            && select.cluster_by.is_empty()
            && select.distribute_by.is_empty()
            && select.sort_by.is_empty()
            && select.qualify.is_none()
            && select.value_table_mode.is_none()
            && matches!(&select.group_by, GroupByExpr::Expressions(_, modifiers) if modifiers.is_empty())
            && !matches!(select.distinct, Some(sqlparser::ast::Distinct::On(_)));
        if !plain {
            return Err(Error::unsupported("this clause of SELECT"));
        }
        select.optimizer_hints.clear();
        select.select_modifiers = None;
        if let [TableWithJoins { relation: TableFactor::Table { name, .. }, joins }] = select.from.as_slice()
            && joins.is_empty()
            && matches!(qualified(name), Ok((None, table)) if table.eq_ignore_ascii_case("dual"))
        {
            select.from.clear();
        }
        for table in &mut select.from {
            joins(table)?;
        }
        subquery::check_aliases(&select.from)?;
        if let GroupByExpr::Expressions(keys, _) = &select.group_by {
            keys.iter().try_for_each(|key| order::check_place(select, key, "group statement"))?;
        }
        self.check_where(select)?;
        self.check_having(select)?;
        self.join_before_commas(&mut select.from);
        subquery::having(select, &mut self.copies)?;
        self.expand_stars(select)?;
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expr) = item {
                let name = heading(expr);
                *item = SelectItem::ExprWithAlias { expr: take(expr), alias: ident(&name) };
            }
        }
        Ok(())
    }
}

/// What a join is ON.
fn on(join: &mut JoinOperator) -> Option<&mut Expr> {
    match constraint_mut(join) {
        Some(JoinConstraint::On(condition)) => Some(condition),
        _ => None,
    }
}

/// Whether it is 0, 1 or NULL for SQLite, too. What a table can look rows up by stays as it is.
fn is_truth(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_truth(inner),
        // A literal that has bytes is bound.
        Expr::Value(ValueWithSpan { value: Value::Number(..) | Value::Boolean(_) | Value::Null, .. }) => true,
        Expr::Exists { .. } => true,
        Expr::Function(function) => matches!(name_of(function), ("like" | "same" | "one_of" | "between" | "regexp_like", true)),
        other => operators::is_logical(other),
    }
}

/// SQLite's names of the number that every row has, which MySQL has not. Another quote than a client's: it is meant.
pub(crate) const ROW_NUMBERS: [&str; 3] = ["rowid", "_rowid_", "oid"];
pub(crate) const MEANT: char = '[';

fn is_digits(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(ValueWithSpan { value: Value::Number(..), .. }))
}

/// The name of a result column without an alias.
pub(crate) fn heading(expr: &Expr) -> String {
    match expr {
        Expr::Identifier(name) => name.value.clone(),
        Expr::CompoundIdentifier(names) if !names[0].value.starts_with('@') => {
            names.last().map_or_else(String::new, |name| name.value.clone())
        }
        Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text) | Value::DoubleQuotedString(text), .. }) => {
            text.replace(['`', '\0'], "")
        }
        other => other.to_string().replace(['`', '\0'], ""),
    }
}

/// `t AS a (b, c)` is more than SQLite knows.
fn check_alias(alias: Option<&TableAlias>) -> Result<(), Error> {
    match alias {
        Some(alias) if !alias.columns.is_empty() || alias.at.is_some() => Err(Error::unsupported("columns in an alias")),
        _ => Ok(()),
    }
}

fn joins(table: &mut TableWithJoins) -> Result<(), Error> {
    for join in &mut table.joins {
        match &mut join.join_operator {
            JoinOperator::Join(_)
            | JoinOperator::Inner(_)
            | JoinOperator::Left(_)
            | JoinOperator::LeftOuter(_)
            | JoinOperator::Right(_)
            | JoinOperator::RightOuter(_)
            | JoinOperator::CrossJoin(_) => {}
            JoinOperator::StraightJoin(constraint) => join.join_operator = JoinOperator::Join(constraint.clone()),
            _ => return Err(Error::unsupported("this kind of join")),
        }
    }
    Ok(())
}

/// The members of a UNION: SQLite has no parentheses around them.
fn members(body: &mut SetExpr) -> Result<(), Error> {
    match body {
        SetExpr::Select(_) | SetExpr::Values(_) => Ok(()),
        SetExpr::SetOperation { left, right, op, set_quantifier } => {
            if *op != SetOperator::Union && matches!(set_quantifier, SetQuantifier::All) {
                return Err(Error::unsupported(&format!("{op} ALL")));
            }
            // So it is where nothing is said; SQLite has no word for it.
            if *set_quantifier == SetQuantifier::Distinct {
                *set_quantifier = SetQuantifier::None;
            }
            members(left)?;
            members(right)?;
            // SQLite takes them one after the other, whatever they are.
            if let SetExpr::SetOperation { .. } = &**right {
                let inner = std::mem::replace(&mut **right, *empty().body);
                **right = derived(expand::query_of(inner));
            }
            Ok(())
        }
        SetExpr::Query(query) => {
            let bare = query.with.is_none() && query.order_by.is_none() && query.limit_clause.is_none();
            if bare {
                let mut inner = std::mem::replace(&mut *query.body, *empty().body);
                members(&mut inner)?;
                *body = inner;
                Ok(())
            } else {
                *body = derived(std::mem::replace(query, Box::new(empty())));
                Ok(())
            }
        }
        other => Err(Error::unsupported(&other.to_string())),
    }
}

fn empty() -> Query {
    template("SELECT 1")
}

/// `SELECT * FROM (query)`
pub(crate) fn derived(query: Box<Query>) -> SetExpr {
    let mut outer = template(&format!("SELECT * FROM (SELECT 1) AS `{}`", scope::MEMBER));
    if let SetExpr::Select(select) = &mut *outer.body
        && let Some(TableWithJoins { relation: TableFactor::Derived { subquery, .. }, .. }) = select.from.first_mut()
    {
        *subquery = query;
    }
    *outer.body
}

impl VisitorMut for Rewriter<'_> {
    type Break = Box<Error>;

    fn pre_visit_query(&mut self, query: &mut Query) -> Flow {
        self.query(query).and_then(|()| self.limits(query)).map_or_else(refuse, ControlFlow::Continue)
    }

    fn post_visit_query(&mut self, query: &mut Query) -> Flow {
        self.ctes.pop();
        self.one_kind_each(&mut query.body);
        recursion::limit_depth(query, self.state.number("cte_max_recursion_depth"));
        self.order_query(query).map_or_else(refuse, ControlFlow::Continue)
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> Flow {
        self.select(select).map_or_else(refuse, ControlFlow::Continue)
    }

    /// What is compared by DISTINCT, UNION, GROUP BY, and by the query around.
    fn post_visit_select(&mut self, select: &mut Select) -> Flow {
        if let (1, [], [SelectItem::ExprWithAlias { expr: Expr::Function(function), .. }]) =
            (self.ctes.len(), select.from.as_slice(), select.projection.as_mut_slice())
            && name_of(function) == ("sleep", true)
            && lock(&self.state.statement).is_select
        {
            function.name = ObjectName::from(vec![ident(&format!("{PREFIX}{SLEEP_ALONE}"))]);
        }
        for item in &mut select.projection {
            if let SelectItem::ExprWithAlias { expr, .. } = item
                // A column is compared as it was declared; and what it is, SQLite says only if it stands alone.
                && !is_column(expr)
            {
                self.as_shown(expr);
                compare_without_case(expr);
            }
        }
        let keys: &[Expr] = if let GroupByExpr::Expressions(keys, _) = &select.group_by { keys } else { &[] };
        if let Err(error) = subquery::spend_aliases(select, select.selection.iter().chain(keys), &mut self.copies) {
            return refuse(error);
        }
        if let GroupByExpr::Expressions(keys, _) = &mut select.group_by {
            keys.iter_mut().for_each(|key| {
                self.as_shown(key);
                self.collate_key(key);
            });
        }
        for condition in select.selection.iter_mut().chain(&mut select.having) {
            *condition = self.condition(take(condition));
        }
        select.from.iter_mut().for_each(|table| self.conditions(table));
        for NamedWindowDefinition(_, window) in &mut select.named_window {
            if let NamedWindowExpr::WindowSpec(window) = window
                && let Err(error) = self.order_window(window)
            {
                return refuse(error);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> Flow {
        let in_time = self.state.check_time();
        in_time.and_then(|()| self.table(factor)).map_or_else(refuse, ControlFlow::Continue)
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> Flow {
        if let TableFactor::NestedJoin { table_with_joins, .. } = factor {
            self.conditions(table_with_joins);
            // SQLite makes a query of it, which has them.
            self.state.mean_row_numbers();
        }
        ControlFlow::Continue(())
    }

    /// Every name is quoted, so that none is a keyword of SQLite's.
    fn pre_visit_ident(&mut self, name: &mut Ident) -> Flow {
        if name.value.contains(['`', '\0']) {
            return refuse(Error::syntax(&name.value, 1));
        }
        name.quote_style = Some('`');
        ControlFlow::Continue(())
    }

    fn pre_visit_value(&mut self, value: &mut ValueWithSpan) -> Flow {
        match self.value(&value.value) {
            Ok(new) => {
                value.value = new;
                ControlFlow::Continue(())
            }
            Err(error) => refuse(error),
        }
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        if let Some([.., name]) = subquery::parts(expr)
            && ROW_NUMBERS.iter().any(|known| name.value.eq_ignore_ascii_case(known))
        {
            let written = expr.to_string().replace('`', "");
            match name.quote_style {
                Some(MEANT) => self.state.mean_row_numbers(),
                // SQLite finds out which table it means.
                _ if self.kinds.has_name(&name.value) => self.state.note_row_number(written),
                _ => return refuse(Error::unknown_column(&written, "field list")),
            }
        }
        subquery::any_as_in(expr);
        self.queries_within += usize::from(scope::has_query(expr));
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        self.queries_within -= usize::from(scope::has_query(expr));
        match self.state.check_time().and_then(|()| self.expr(take(expr))) {
            Ok(new) => {
                *expr = new;
                ControlFlow::Continue(())
            }
            Err(error) => refuse(error),
        }
    }
}
