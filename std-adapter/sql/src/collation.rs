//! Texts compare without case, as MySQL's default collation has it. SQLite knows collations of columns only, and is told of everything else:
//! wherever two values are compared, one of them gets COLLATE.

use crate::Error;
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

/// The character sets of MySQL 8. A client may name each: nothing is converted.
const CHARACTER_SETS: &[&str] = &[
    "armscii8", "ascii", "big5", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866", "cp932", "dec8",
    "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "geostd8", "greek", "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin1",
    "latin2", "latin5", "latin7", "macce", "macroman", "sjis", "swe7", "tis620", "ucs2", "ujis", "utf16", "utf16le", "utf32",
    "utf8", "utf8mb3", "utf8mb4",
];

/// # Errors
/// 1115, there is no such character set.
pub(crate) fn check_character_set(name: &str) -> Result<(), Error> {
    let is_known = CHARACTER_SETS.iter().any(|known| known.eq_ignore_ascii_case(name));
    is_known.then_some(()).ok_or_else(|| Error::new(1115, "42000", format!("Unknown character set: '{name}'")))
}

/// # Errors
/// 1273, there is no such collation, as far as its character set tells.
pub(crate) fn check_collation(name: &str) -> Result<(), Error> {
    let is_known = match name.split_once('_') {
        Some((set, rest)) => check_character_set(set).is_ok() && !rest.is_empty(),
        None => name.eq_ignore_ascii_case("binary"),
    };
    is_known.then_some(()).ok_or_else(|| Error::unknown_collation(name))
}
