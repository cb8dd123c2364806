//! The views of `sys`: SQL text in `sys.sql`, in MySQL's dialect like any client's.

use crate::parse;
use sqlparser::ast::{Query, Statement};

const SYS: &str = include_str!("sys.sql");

/// Name and query of each.
pub(crate) fn all() -> impl Iterator<Item = (String, Box<Query>)> {
    let statements = parse::split(SYS).into_iter().map(|statement| {
        let tokens = parse::tokens(&statement.text).expect("sys.sql is tested");
        parse::parse(tokens, &statement.text).expect("sys.sql is tested")
    });
    statements.filter_map(|statement| match statement {
        Statement::CreateView(view) => {
            let name = view.name.0.last()?.as_ident()?.value.clone();
            Some((name, view.query))
        }
        _ => None,
    })
}
