//! `@a := b` within a statement: what a variable is then changes from row to row. ODBC's drivers ask for columns this way, and people number
//! rows by it.
//!
//! A variable that a statement assigns is a function's result wherever the statement reads it; one that it only reads is a constant. As in
//! MySQL, nothing but the order of the columns of one row is promised: here rows are numbered before they are sorted.

use crate::assignments;
use crate::calls::name_of;
use crate::dialect::{call, ident, literal, take};
use sqlparser::ast::{
    BinaryOperator, Distinct, Expr, Query, SelectItem, SetExpr, TableFactor, Value, Visit, VisitMut, VisitorMut,
    visit_expressions,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// No names of functions: what begins so is a variable's, unless it is quoted, and then it does no more than the operator.
pub(crate) const ASSIGN: &str = "@assign";
pub(crate) const READ: &str = "@read";

/// The same tree with calls in the place of such variables.
pub(crate) fn expand<T: Visit + VisitMut>(tree: &mut T) {
    let names = assigned_in(tree);
    if !names.is_empty() {
        let _ = VisitMut::visit(tree, &mut Calls(names));
    }
}

fn assigned_in(tree: &impl Visit) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let _ = visit_expressions(tree, |expr| {
        if let Expr::BinaryOp { left, op: BinaryOperator::Assignment, .. } = expr {
            names.extend(user_variable(left));
        }
        ControlFlow::<()>::Continue(())
    });
    names
}

/// Whether a statement assigns one.
pub(crate) fn is_in(tree: &impl Visit) -> bool {
    !assigned_in(tree).is_empty()
}

/// Whether an expression assigns one, once it is rewritten.
pub(crate) fn assigns(expr: &Expr) -> bool {
    let is_call = |expr: &Expr| matches!(expr, Expr::Function(function) if name_of(function) == ("assign", true));
    visit_expressions(expr, |expr| if is_call(expr) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }).is_break()
}

/// The name of a variable of the session's own.
fn user_variable(expr: &Expr) -> Option<String> {
    let Expr::Identifier(name) = expr else { return None };
    let name = name.value.strip_prefix('@').filter(|name| !name.starts_with('@'))?;
    Some(name.to_ascii_lowercase())
}

/// Writes calls in the place of these.
struct Calls(BTreeSet<String>);

impl VisitorMut for Calls {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let text = |name: String| literal(Value::SingleQuotedString(name));
        if let Expr::BinaryOp { left, op: BinaryOperator::Assignment, right } = expr
            && let Some(name) = user_variable(left)
        {
            *expr = named(ASSIGN, vec![text(name), take(right)]);
        } else if let Some(name) = user_variable(expr).filter(|name| self.0.contains(name)) {
            *expr = named(READ, vec![text(name)]);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let SetExpr::Select(select) = &mut *query.body else { return ControlFlow::Continue(()) };
        for item in &mut select.projection {
            // Its heading is what was written.
            if let SelectItem::UnnamedExpr(expr @ Expr::Identifier(_)) = item
                && user_variable(expr).is_some_and(|name| self.0.contains(&name))
            {
                let alias = ident(&expr.to_string());
                *item = SelectItem::ExprWithAlias { expr: take(expr), alias };
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Derived { subquery, .. } = factor
            && !assigned_in(&**subquery).is_empty()
        {
            evaluate_once(subquery);
        }
        ControlFlow::Continue(())
    }
}

/// SQLite would put its expressions where they are read, several times, or leave out what nobody reads; but neither of what has a LIMIT, and
/// is DISTINCT. Of one row, `(SELECT @a := 0)`, that is no difference.
pub(crate) fn evaluate_once(query: &mut Query) {
    assignments::limit(query);
    if let SetExpr::Select(select) = &mut *query.body
        && select.from.is_empty()
        && select.distinct.is_none()
    {
        select.distinct = Some(Distinct::Distinct);
    }
}

fn named(name: &str, arguments: Vec<Expr>) -> Expr {
    let mut expr = call("", arguments);
    if let Expr::Function(function) = &mut expr {
        function.name = vec![ident(name)].into();
    }
    expr
}
