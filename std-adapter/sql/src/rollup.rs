//! GROUP BY … WITH ROLLUP: the groups by all keys, by all but the last, and so on down to one group of everything, one after the other
//! with UNION ALL. What is grouped by and left out is NULL in them, and GROUPING() tells it from a NULL of the table's.

use crate::Error;
use crate::calls::name_of;
use crate::copies::Copies;
use crate::dialect::{heading, ident, numeral};
use crate::expand::{null, query_of, renamed, select_from};
use crate::parse::template;
use crate::subquery::{is_aggregate, is_named, parts, search, without_aliases, without_parentheses};
use sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, GroupByWithModifier, Ident, OrderBy, OrderByExpr,
    OrderByKind, Query, Select, SelectItem, SetExpr, SetOperator, SetQuantifier, Value, ValueWithSpan, VisitMut, VisitorMut,
    visit_expressions,
};
use std::mem::{Discriminant, discriminant};
use std::ops::ControlFlow;

/// SELECTs that SQLite takes one after the other.
const MAX_LEVELS: usize = 100;

/// The name of all groups together; nobody else's, as those of its columns.
const ALL: &str = "(rollup)";

/// Puts the groups in the place of each SELECT … WITH ROLLUP of a query.
pub(crate) fn expand(query: &mut Query, copies: &mut Copies) -> Result<(), Error> {
    if let SetExpr::Select(select) = &mut *query.body {
        if is_rollup(select) {
            let order = match query.order_by.take().map(|order| order.kind) {
                Some(OrderByKind::Expressions(order)) => order,
                _ => Vec::new(),
            };
            let order = Rollup::of(select)?.replace(select, order, copies)?;
            query.order_by = Some(OrderBy { kind: OrderByKind::Expressions(order), interpolate: None });
        }
        return Ok(());
    }
    members(&mut query.body, copies)
}

/// Those of a UNION have no order.
fn members(body: &mut SetExpr, copies: &mut Copies) -> Result<(), Error> {
    match body {
        SetExpr::SetOperation { left, right, .. } => {
            members(left, copies)?;
            members(right, copies)
        }
        SetExpr::Select(select) if is_rollup(select) => {
            Rollup::of(select)?.replace(select, Vec::new(), copies)?;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn is_rollup(select: &Select) -> bool {
    matches!(&select.group_by, GroupByExpr::Expressions(keys, modifiers)
        if !keys.is_empty() && modifiers.as_slice() == [GroupByWithModifier::Rollup])
}

/// What is grouped by.
struct Key {
    /// As it was written.
    written: Expr,
    /// What that means.
    expr: Expr,
    /// The column of the result that it names.
    item: Option<usize>,
    /// How both are found again.
    forms: Vec<Form>,
}

/// What an expression is told from others by.
enum Form {
    Column(Vec<Ident>),
    Other(Discriminant<Expr>, String),
}

impl Form {
    /// A literal is like any other of its kind, and stands for no key.
    fn of(expr: &Expr) -> Option<Form> {
        let expr = without_parentheses(expr);
        match (parts(expr), expr) {
            (Some(parts), _) => Some(Form::Column(parts.to_vec())),
            (None, Expr::Value(_)) => None,
            (None, expr) => Some(Form::Other(discriminant(expr), expr.to_string().to_lowercase())),
        }
    }
}

/// A column that is sorted by and that no client sees.
enum Hidden {
    /// Whether the key of this number is left out.
    IsLeftOut(usize),
    Expr(Box<Expr>),
}

struct Rollup {
    keys: Vec<Key>,
    /// What the columns of the result are called, and what they are.
    items: Vec<(String, Expr)>,
}

impl Rollup {
    fn of(select: &mut Select) -> Result<Rollup, Error> {
        // One window is over all groups together.
        let is_window = |expr: &Expr| matches!(expr, Expr::Function(function) if function.over.is_some());
        if search(&select.projection, |expr| is_window(expr).then_some(())).is_some() {
            return Err(Error::unsupported("window functions with ROLLUP"));
        }
        let mut items = Vec::new();
        for item in &select.projection {
            items.push(match item {
                SelectItem::ExprWithAlias { expr, alias } => (alias.value.clone(), expr.clone()),
                SelectItem::UnnamedExpr(expr) => (heading(expr), expr.clone()),
                _ => return Err(Error::unsupported("* with ROLLUP")),
            });
        }
        let written = match std::mem::replace(&mut select.group_by, GroupByExpr::Expressions(Vec::new(), Vec::new())) {
            GroupByExpr::Expressions(keys, _) => keys,
            GroupByExpr::All(_) => Vec::new(),
        };
        let mut keys = Vec::new();
        for written in written {
            let item = match &written {
                Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. }) => {
                    let place = digits.parse().ok().and_then(|number: usize| number.checked_sub(1));
                    let place = place.filter(|place| *place < items.len());
                    Some(place.ok_or_else(|| Error::unknown_column(digits, "group statement"))?)
                }
                Expr::Identifier(name) => items.iter().position(|(alias, expr)| {
                    // In `LOWER(x) AS x` it is the column that is meant.
                    alias.eq_ignore_ascii_case(&name.value) && !is_named(expr, name) && !mentions(expr, name)
                }),
                _ => None,
            };
            let expr = item.map_or_else(|| written.clone(), |item| items[item].1.clone());
            let forms = Form::of(&expr).into_iter().chain(Form::of(&written)).collect();
            keys.push(Key { written, expr, item, forms });
        }
        Ok(Rollup { keys, items })
    }

    /// Makes the SELECT one of all groups together; what it is to be sorted by is given back.
    fn replace(self, select: &mut Select, order: Vec<OrderByExpr>, copies: &mut Copies) -> Result<Vec<OrderByExpr>, Error> {
        let mut hidden = Vec::new();
        let order = match order.is_empty() {
            true => self.by_groups(&mut hidden),
            false => self.ordered(order, &mut hidden, copies)?,
        };
        let distinct = select.distinct.take();
        let levels = self.keys.len() + 1;
        if levels > MAX_LEVELS {
            return Err(Error::too_complex());
        }
        let written = Expr::Subquery(query_of(SetExpr::Select(Box::new(select.clone()))));
        copies.spend(&written, levels - 1)?;
        for by in &hidden {
            if let Hidden::Expr(expr) = by {
                copies.spend(expr, levels)?;
            }
        }
        let mut all: Option<SetExpr> = None;
        for kept in (0..levels).rev() {
            let level = SetExpr::Select(Box::new(self.level(select.clone(), &hidden, kept)?));
            all = Some(match all.take() {
                None => level,
                Some(before) => SetExpr::SetOperation {
                    left: Box::new(before),
                    op: SetOperator::Union,
                    set_quantifier: SetQuantifier::All,
                    right: Box::new(level),
                },
            });
        }
        let Some(all) = all else { return Ok(order) };
        let columns = (0..self.items.len() + hidden.len() + 1).map(column_name).collect();
        let projection = self.items.iter().enumerate();
        let projection =
            projection.map(|(index, (name, _))| SelectItem::ExprWithAlias { expr: column(index), alias: ident(name) });
        let projection = projection.collect();
        *select = *select_from(renamed(query_of(all), &ident(ALL), columns), projection);
        select.distinct = distinct;
        Ok(order)
    }

    /// As MySQL finds the groups: by their keys, each sum behind what it sums up.
    fn by_groups(&self, hidden: &mut Vec<Hidden>) -> Vec<OrderByExpr> {
        let mut order = Vec::new();
        for (place, key) in self.keys.iter().enumerate() {
            for by in [Hidden::IsLeftOut(place), Hidden::Expr(Box::new(key.expr.clone()))] {
                let expr = column(self.items.len() + hidden.len());
                order.push(OrderByExpr { expr, options: Default::default(), with_fill: None });
                hidden.push(by);
            }
        }
        order
    }

    /// As the client wants them: by columns of the result, or by more than is in it.
    fn ordered(&self, order: Vec<OrderByExpr>, hidden: &mut Vec<Hidden>, copies: &mut Copies) -> Result<Vec<OrderByExpr>, Error> {
        let mut ordered = Vec::new();
        for mut by in order {
            let place = match &by.expr {
                Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. }) => {
                    let place = digits.parse().ok().and_then(|number: usize| number.checked_sub(1));
                    let place = place.filter(|place| *place < self.items.len());
                    Some(place.ok_or_else(|| Error::unknown_column(digits, "order clause"))?)
                }
                Expr::Identifier(name) => self.items.iter().position(|(alias, _)| alias.eq_ignore_ascii_case(&name.value)),
                _ => None,
            };
            let expr = std::mem::replace(&mut by.expr, column(place.unwrap_or(self.items.len() + hidden.len())));
            if place.is_none() {
                hidden.push(Hidden::Expr(Box::new(self.without_aliases(expr, copies)?)));
            }
            ordered.push(by);
        }
        Ok(ordered)
    }

    /// The expression, with what the columns of the result are in the place of their names.
    fn without_aliases(&self, mut expr: Expr, copies: &mut Copies) -> Result<Expr, Error> {
        let named = self.items.iter().filter(|(alias, expr)| !mentions(expr, &ident(alias)));
        without_aliases(&mut expr, &named.map(|(alias, expr)| (alias.to_lowercase(), expr)).collect(), copies)?;
        Ok(expr)
    }

    /// The groups by the first keys.
    fn level(&self, mut select: Select, hidden: &[Hidden], kept: usize) -> Result<Select, Error> {
        let mut replace = LeftOut { keys: &self.keys, kept, within: 0, queries: 0 };
        let mut projection = Vec::new();
        for (index, (name, expr)) in self.items.iter().enumerate() {
            let is_left_out = self.keys[kept..].iter().any(|key| key.item == Some(index));
            let expr = if is_left_out { null() } else { replace.expr(expr.clone())? };
            projection.push(SelectItem::ExprWithAlias { expr, alias: ident(name) });
        }
        for (index, by) in hidden.iter().enumerate() {
            let expr = match by {
                Hidden::IsLeftOut(place) => numeral(u8::from(*place >= kept)),
                Hidden::Expr(expr) => replace.expr((**expr).clone())?,
            };
            projection.push(SelectItem::ExprWithAlias { expr, alias: column_name(self.items.len() + index) });
        }
        // One row of everything, even if that is nothing.
        let SetExpr::Select(counted) = *template("SELECT COUNT(*) AS `(count)`").body else { return Ok(select) };
        projection.extend(counted.projection);
        select.projection = projection;
        if let Some(having) = select.having.take() {
            select.having = Some(replace.expr(having)?);
        }
        let key = |key: &Key| match key.expr {
            // A number would be the place of a column.
            Expr::Value(_) => key.written.clone(),
            _ => key.expr.clone(),
        };
        select.group_by = GroupByExpr::Expressions(self.keys[..kept].iter().map(key).collect(), Vec::new());
        Ok(select)
    }
}

fn column_name(index: usize) -> Ident {
    ident(&format!("(rollup {index})"))
}

fn column(index: usize) -> Expr {
    Expr::CompoundIdentifier(vec![ident(ALL), column_name(index)])
}

/// Whether the name stands in it.
fn mentions(expr: &Expr, name: &Ident) -> bool {
    let look = |expr: &Expr| if is_named(expr, name) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    visit_expressions(expr, look).is_break()
}

/// Replaces the keys that are left out by NULL, but not in what is counted or summed up nor in keys that are kept, and GROUPING() by its
/// number.
struct LeftOut<'k> {
    keys: &'k [Key],
    kept: usize,
    /// How deep it is in an aggregate or in a key that is kept.
    within: usize,
    queries: usize,
}

impl LeftOut<'_> {
    fn expr(&mut self, mut expr: Expr) -> Result<Expr, Error> {
        VisitMut::visit(&mut expr, self).break_value().map_or(Ok(expr), Err)
    }

    /// The first key that is the same column, or written the same.
    fn place(&self, expr: &Expr) -> Option<usize> {
        let expr = without_parentheses(expr);
        if let Some(parts) = parts(expr) {
            let is_same = |form: &Form| match form {
                Form::Column(known) => {
                    known.iter().rev().zip(parts.iter().rev()).all(|(a, b)| a.value.eq_ignore_ascii_case(&b.value))
                }
                Form::Other(..) => false,
            };
            return self.keys.iter().position(|key| key.forms.iter().any(is_same));
        }
        // It is printed only if it may be one.
        let kind = discriminant(expr);
        let may_be = |form: &Form| matches!(form, Form::Other(known, _) if *known == kind);
        self.keys.iter().any(|key| key.forms.iter().any(may_be)).then(|| {
            let text = expr.to_string().to_lowercase();
            let is_same = |form: &Form| matches!(form, Form::Other(_, known) if *known == text);
            self.keys.iter().position(|key| key.forms.iter().any(is_same))
        })?
    }

    /// A bit for each argument, 1 if it is left out.
    fn grouping(&self, arguments: &FunctionArguments) -> Result<Expr, Error> {
        let arguments = match arguments {
            FunctionArguments::List(list) => list.args.as_slice(),
            _ => &[],
        };
        if !(1..=63).contains(&arguments.len()) {
            return Err(Error::parameter_count("grouping"));
        }
        let mut bits = 0_u64;
        for (index, argument) in arguments.iter().enumerate() {
            let place = match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => self.place(expr),
                _ => None,
            };
            let wrong = || {
                let message = format!("Argument #{} of GROUPING function is not in GROUP BY", index + 1);
                Error::new(3602, "HY000", message)
            };
            bits = bits << 1 | u64::from(place.ok_or_else(wrong)? >= self.kept);
        }
        Ok(numeral(bits))
    }
}

impl VisitorMut for LeftOut<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.queries -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if self.queries > 0 {
            return ControlFlow::Continue(());
        }
        if let Expr::Function(function) = expr
            && name_of(function).0.eq_ignore_ascii_case("grouping")
        {
            match self.grouping(&function.args) {
                Ok(number) => *expr = number,
                Err(error) => return ControlFlow::Break(error),
            }
        }
        if self.within > 0 || is_aggregate(expr) {
            self.within += 1;
        } else if let Some(place) = self.place(expr) {
            if place < self.kept {
                self.within = 1;
            } else {
                *expr = null();
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, _: &mut Expr) -> ControlFlow<Error> {
        if self.queries == 0 {
            self.within = self.within.saturating_sub(1);
        }
        ControlFlow::Continue(())
    }
}
