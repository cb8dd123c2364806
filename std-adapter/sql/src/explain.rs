//! EXPLAIN of a query: SQLite's plan under MySQL's headings.
//!
//! There are no indexes here, and nobody knows how many rows a table will have: so most columns are NULL. What can be learnt is in which
//! order tables are read, which selects are computed first, and where rows are sorted.

use crate::session::Session;
use crate::{Error, dialect, parse};
use perfschema::core::table::SqlType;
use perfschema::render::{ColumnHead, Grid, OwnedValue};
use rusqlite::params_from_iter;
use sqlparser::ast::Statement;
use sqlparser::tokenizer::{Token, TokenWithSpan};

const EXPLAIN: [&str; 3] = ["EXPLAIN", "DESCRIBE", "DESC"];

/// The tokens of the query that shall be explained; None if that is no such statement, but the name of a table.
pub(crate) fn explained(tokens: &[TokenWithSpan]) -> Result<Option<&[TokenWithSpan]>, Error> {
    let word = |index, expected| parse::is_word(tokens, index, expected);
    if !EXPLAIN.iter().any(|explain| word(0, explain)) {
        return Ok(None);
    }
    let mut query = 1;
    if word(1, "FORMAT") && tokens.get(2).is_some_and(|token| token.token == Token::Eq) {
        if !word(3, "TRADITIONAL") {
            return Err(Error::unsupported("EXPLAIN in another format than TRADITIONAL"));
        }
        query = 4;
    }
    if word(query, "ANALYZE") {
        return Err(Error::unsupported("EXPLAIN ANALYZE"));
    }
    if ["UPDATE", "INSERT", "DELETE", "REPLACE"].iter().any(|other| word(query, other)) {
        return Err(Error::unsupported("EXPLAIN of anything but a query"));
    }
    let is_query =
        word(query, "SELECT") || word(query, "WITH") || tokens.get(query).is_some_and(|token| token.token == Token::LParen);
    Ok(is_query.then(|| &tokens[query..]))
}

/// MySQL's headings.
pub(crate) fn columns() -> Vec<ColumnHead> {
    let text = |name| ColumnHead::new(name, SqlType::Varchar(64));
    let number = |name| ColumnHead::new(name, SqlType::BigintUnsigned);
    vec![
        number("id"),
        text("select_type"),
        text("table"),
        text("partitions"),
        text("type"),
        text("possible_keys"),
        text("key"),
        text("key_len"),
        text("ref"),
        number("rows"),
        ColumnHead::new("filtered", SqlType::Double),
        text("Extra"),
    ]
}

/// A SELECT of the statement.
struct Select {
    /// The node of the plan below which its tables are.
    node: i64,
    kind: &'static str,
}

impl Session {
    pub(crate) fn explain(&mut self, tokens: &[TokenWithSpan], text: &str, values: &[OwnedValue]) -> Result<Grid, Error> {
        let Statement::Query(mut query) = parse::parse(tokens.to_vec(), text)? else {
            return Err(Error::unsupported("EXPLAIN of anything but a query"));
        };
        let rewritten = dialect::rewrite(&mut query, &self.state, values)?;
        let state = &self.state;
        let explain = |error| state.explain(error);
        let mut statement = self.prepare(&rewritten, "EXPLAIN QUERY PLAN ")?;
        let used = statement.parameter_count().min(rewritten.bound.len());
        let mut rows = statement.query(params_from_iter(&rewritten.bound[..used])).map_err(explain)?;
        // Node, the node that it is part of, and what it does.
        let mut plan: Vec<(i64, i64, String)> = Vec::new();
        while let Some(row) = rows.next().map_err(explain)? {
            plan.push((row.get(0).map_err(explain)?, row.get(1).map_err(explain)?, row.get(3).map_err(explain)?));
        }
        Ok(Grid { columns: columns(), rows: under_mysqls_headings(&plan) })
    }
}

fn under_mysqls_headings(plan: &[(i64, i64, String)]) -> Vec<Vec<OwnedValue>> {
    let mut selects = vec![Select { node: 0, kind: "PRIMARY" }];
    for (node, _, what) in plan {
        let kind = match what.split(' ').next().unwrap_or_default() {
            "MATERIALIZE" | "CO-ROUTINE" => "DERIVED",
            "CORRELATED" => "DEPENDENT SUBQUERY",
            "SCALAR" | "LIST" => "SUBQUERY",
            "UNION" | "EXCEPT" | "INTERSECT" | "RECURSIVE" => "UNION",
            _ => continue,
        };
        selects.push(Select { node: *node, kind });
    }
    if selects.len() == 1 {
        selects[0].kind = "SIMPLE";
    }
    let parent = |node: i64| plan.iter().find(|step| step.0 == node).map_or(0, |step| step.1);
    let select_of = |mut node: i64| {
        // A node's parent comes before it, so this ends at 0.
        loop {
            match selects.iter().position(|select| select.node == node) {
                Some(select) => return select,
                None => node = parent(node),
            }
        }
    };
    // Select, row, and what is said at the end of it.
    let mut rows: Vec<(usize, Vec<OwnedValue>, Vec<&str>)> = Vec::new();
    for (_, above, what) in plan {
        let select = select_of(*above);
        let (how, rest) = what.split_once(' ').unwrap_or((what, ""));
        let extra = match how {
            "SCAN" | "SEARCH" => {
                let end = [" VIRTUAL TABLE", " USING ", " LEFT-JOIN"].iter().filter_map(|after| rest.find(after)).min();
                let name = &rest[..end.unwrap_or(rest.len())];
                // A table without another name is called by its schema, too.
                let name = name.split_once('.').map_or(name, |(_, name)| name);
                let table = if what == "SCAN CONSTANT ROW" { OwnedValue::Null } else { name.into() };
                // Looked up in what SQLite makes for a join, or in what a table does when it is first asked.
                let is_automatic = what.contains("AUTOMATIC")
                    || what.split(" VIRTUAL TABLE INDEX ").nth(1).is_some_and(|index| !index.starts_with("0:"));
                let mut row =
                    vec![OwnedValue::from(select as u64 + 1), selects[select].kind.into(), table.clone(), OwnedValue::Null];
                let access = if is_automatic { "ref" } else { "ALL" };
                row.push(if table == OwnedValue::Null { OwnedValue::Null } else { access.into() });
                // As MySQL calls what it makes.
                row.extend([OwnedValue::Null, is_automatic.then_some("<auto_key0>").into()]);
                row.resize(11, OwnedValue::Null);
                rows.push((select, row, if table == OwnedValue::Null { vec!["No tables used"] } else { Vec::new() }));
                continue;
            }
            _ if what.starts_with("USE TEMP B-TREE") && what.contains("ORDER BY") => "Using filesort",
            _ if what.starts_with("USE TEMP B-TREE") => "Using temporary",
            _ => continue,
        };
        // MySQL says it of the first table of the select.
        if let Some(row) = rows.iter_mut().find(|row| row.0 == select)
            && !row.2.contains(&extra)
        {
            row.2.push(extra);
        }
    }
    rows.sort_by_key(|row| row.0);
    let finish = |(_, mut row, extra): (usize, Vec<OwnedValue>, Vec<&str>)| {
        row.push(if extra.is_empty() { OwnedValue::Null } else { extra.join("; ").into() });
        row
    };
    rows.into_iter().map(finish).collect()
}
