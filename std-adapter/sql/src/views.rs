//! The views of `sys`: SQL text in `sys.sql`, in MySQL's dialect like any client's.

use crate::dialect::last;
use crate::parse;
use sqlparser::ast::{Query, Statement};

/// Name and query of each.
pub(crate) fn all() -> impl Iterator<Item = (String, Box<Query>)> {
    parse::statements(include_str!("sys.sql")).filter_map(|statement| match statement {
        Statement::CreateView(view) => Some((last(&view.name)?.to_owned(), view.query)),
        _ => None,
    })
}
