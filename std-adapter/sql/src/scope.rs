//! Names of columns that MySQL refuses and SQLite takes: one that a derived table has twice.

use crate::Error;
use crate::dialect::Rewriter;
use sqlparser::ast::{Query, TableAlias};
use std::collections::HashSet;

/// What a query is called that is a member of a UNION in parentheses; nobody else is.
pub(crate) const MEMBER: &str = "(member)";

/// Of several names the first that was there before.
pub(crate) fn check_once<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<(), Error> {
    let mut seen = HashSet::new();
    match names.into_iter().find(|name| !seen.insert(name.to_lowercase())) {
        Some(twice) => Err(Error::new(1060, "42S21", format!("Duplicate column name '{twice}'"))),
        None => Ok(()),
    }
}

impl Rewriter<'_> {
    /// A derived table has no two columns of one name, as far as they are known.
    pub(crate) fn check_columns(&mut self, query: &Query, alias: &TableAlias) -> Result<(), Error> {
        // This is no table of the client's.
        if alias.name.value == MEMBER {
            return Ok(());
        }
        let columns = self.columns_of_query(query).unwrap_or_default();
        check_once(columns.iter().map(String::as_str))
    }

    /// Neither has what the innermost WITH defines.
    pub(crate) fn check_defined(&self) -> Result<(), Error> {
        let mut defined = self.ctes.last().into_iter().flatten().filter_map(|cte| cte.columns.as_ref());
        defined.try_for_each(|columns| check_once(columns.iter().map(String::as_str)))
    }
}
