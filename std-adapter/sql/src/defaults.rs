//! DEFAULT in the place of a value: what the column is declared to have.

use crate::Error;
use crate::catalog::Column;
use crate::dialect::{last, literal};
use crate::subquery::parts;
use sqlparser::ast::{
    AssignmentTarget, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Insert, ObjectName, SetExpr, Value,
};

/// Puts in what DEFAULT says where a value is that `column` gets; `all` are those that it may name, as in `DEFAULT(host)`.
///
/// # Errors
/// 1364: it has none, and may not be NULL. 1054: there is no such column.
pub(crate) fn put_in(value: &mut Expr, column: &Column, all: &[Column]) -> Result<(), Error> {
    let of = match value {
        Expr::Identifier(name) if name.quote_style.is_none() && is_default(&name.value) => column,
        Expr::Function(function) if is_default(&function.name.to_string()) => {
            let FunctionArguments::List(list) = &function.args else { return Ok(()) };
            let [FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))] = list.args.as_slice() else { return Ok(()) };
            let Some(name) = parts(argument).and_then(<[_]>::last) else { return Ok(()) };
            let named = all.iter().find(|column| column.is(&name.value));
            named.ok_or_else(|| Error::unknown_column(&name.value, "field list"))?
        }
        _ => return Ok(()),
    };
    *value = literal(match of.default {
        Some(default) => Value::SingleQuotedString(default.to_owned()),
        None if of.nullable => Value::Null,
        None => return Err(Error::no_default(&of.name)),
    });
    Ok(())
}

fn is_default(name: &str) -> bool {
    name.eq_ignore_ascii_case("DEFAULT")
}

/// The same of all values of an INSERT into a table that has these columns.
pub(crate) fn put_in_insert(insert: &mut Insert, all: &[Column]) -> Result<(), Error> {
    let find = |name: &ObjectName| all.iter().find(|column| last(name).is_some_and(|name| column.is(name)));
    for assignment in &mut insert.assignments {
        if let AssignmentTarget::ColumnName(name) = &assignment.target
            && let Some(column) = find(name)
        {
            put_in(&mut assignment.value, column, all)?;
        }
    }
    let Some(SetExpr::Values(values)) = insert.source.as_mut().map(|source| &mut *source.body) else { return Ok(()) };
    let named: Vec<Option<&Column>> =
        if insert.columns.is_empty() { all.iter().map(Some).collect() } else { insert.columns.iter().map(find).collect() };
    for row in &mut values.rows {
        for (value, column) in row.content.iter_mut().zip(&named) {
            column.map_or(Ok(()), |column| put_in(value, column, all))?;
        }
    }
    Ok(())
}
