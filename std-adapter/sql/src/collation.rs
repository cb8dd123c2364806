//! Texts compare without case, as MySQL's default collation has it. SQLite knows collations of columns only, and is told of everything else:
//! wherever two values are compared, one of them gets COLLATE.

use crate::dialect::{ident, take};
use sqlparser::ast::{Expr, FunctionArg, FunctionArgExpr, ObjectName, SelectItem, SetExpr, Value, ValueWithSpan};

/// The same, compared without case if it is a text.
pub(crate) fn without_case(expr: Expr) -> Expr {
    let expr = match expr {
        Expr::Collate { .. }
        | Expr::Value(ValueWithSpan { value: Value::Number(..) | Value::Boolean(_) | Value::Null, .. })
        | Expr::Wildcard(_)
        | Expr::QualifiedWildcard(..) => return expr,
        Expr::Tuple(list) => return Expr::Tuple(list.into_iter().map(without_case).collect()),
        Expr::Nested(inner) if is_row(&inner) => return Expr::Nested(Box::new(without_case(*inner))),
        Expr::Nested(inner) if is_collated(&inner) => return Expr::Nested(inner),
        Expr::Subquery(query) if output(&query.body).is_none() => return Expr::Subquery(query),
        Expr::Identifier(_)
        | Expr::CompoundIdentifier(_)
        | Expr::Function(_)
        | Expr::Value(_)
        | Expr::Nested(_)
        | Expr::Subquery(_)
        | Expr::Case { .. } => expr,
        // COLLATE binds closer than any operator.
        operator => Expr::Nested(Box::new(operator)),
    };
    Expr::Collate { expr: Box::new(expr), collation: ObjectName::from(vec![ident("NOCASE")]) }
}

pub(crate) fn compare_without_case(expr: &mut Expr) {
    *expr = without_case(take(expr));
}

pub(crate) fn first_without_case(arguments: &mut [FunctionArg]) {
    if let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))) = arguments.first_mut() {
        compare_without_case(expr);
    }
}

/// What a query gives, if that is one column.
pub(crate) fn output(body: &SetExpr) -> Option<&Expr> {
    match body {
        SetExpr::Select(select) => match select.projection.as_slice() {
            [SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }] => Some(expr),
            _ => None,
        },
        SetExpr::SetOperation { left, .. } => output(left),
        SetExpr::Query(query) => output(&query.body),
        _ => None,
    }
}

/// Whether it is several values: no collation can be said of those together.
pub(crate) fn is_row(expr: &Expr) -> bool {
    match expr {
        Expr::Tuple(_) => true,
        Expr::Nested(inner) => is_row(inner),
        Expr::Subquery(query) => output(&query.body).is_none(),
        _ => false,
    }
}

/// Whether it is a column and nothing else, be it that of a subquery: SQLite knows what that was declared as.
pub(crate) fn is_column(expr: &Expr) -> bool {
    match expr {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => true,
        Expr::Nested(inner) => is_column(inner),
        Expr::Subquery(query) => output(&query.body).is_some_and(is_column),
        _ => false,
    }
}

/// Whether the client says how it is compared.
pub(crate) fn is_collated(expr: &Expr) -> bool {
    match expr {
        Expr::Collate { .. } => true,
        Expr::Nested(inner) => is_collated(inner),
        _ => false,
    }
}
