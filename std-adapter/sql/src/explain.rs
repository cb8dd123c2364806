//! EXPLAIN of a query: SQLite's plan under MySQL's headings.
//!
//! There are no indexes here, and nobody knows how many rows a table will have: so most columns are NULL. What can be learnt is in which
//! order tables are read, which selects are computed first, and where rows are sorted.

use crate::session::Session;
use crate::{Error, dialect, parse};
use perfschema::core::table::SqlType;
use perfschema::render::{ColumnHead, Grid, OwnedValue};
use rusqlite::params_from_iter;
use serde_json::json;
use sqlparser::ast::Statement;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;

const EXPLAIN: [&str; 3] = ["EXPLAIN", "DESCRIBE", "DESC"];

/// How a plan is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A row for each table that is read.
    Traditional,
    /// A line for each step, those that it needs indented below it.
    Tree,
    /// What is traditional, as a document.
    Json,
}

/// The query that shall be explained, and how; None if that is no such statement, but the name of a table.
pub(crate) fn explained(tokens: &[TokenWithSpan]) -> Result<Option<(&[TokenWithSpan], Format)>, Error> {
    let word = |index, expected| parse::is_word(tokens, index, expected);
    if !EXPLAIN.iter().any(|explain| word(0, explain)) {
        return Ok(None);
    }
    let (mut query, mut format) = (1, Format::Traditional);
    if word(1, "FORMAT") && tokens.get(2).is_some_and(|token| token.token == Token::Eq) {
        let known = [("TRADITIONAL", Format::Traditional), ("TREE", Format::Tree), ("JSON", Format::Json)];
        let Some((_, found)) = known.into_iter().find(|(name, _)| word(3, name)) else {
            let name = tokens.get(3).map_or(String::new(), |token| token.token.to_string());
            return Err(Error::new(1791, "HY000", format!("Unknown EXPLAIN format name: '{name}'")));
        };
        (query, format) = (4, found);
    }
    if word(query, "ANALYZE") {
        return Err(Error::unsupported("EXPLAIN ANALYZE"));
    }
    if ["UPDATE", "INSERT", "DELETE", "REPLACE"].iter().any(|other| word(query, other)) {
        return Err(Error::unsupported("EXPLAIN of anything but a query"));
    }
    let is_query =
        word(query, "SELECT") || word(query, "WITH") || tokens.get(query).is_some_and(|token| token.token == Token::LParen);
    Ok(is_query.then(|| (&tokens[query..], format)))
}

/// MySQL's headings.
pub(crate) fn columns(format: Format) -> Vec<ColumnHead> {
    if format != Format::Traditional {
        return vec![ColumnHead::new("EXPLAIN", SqlType::Longtext)];
    }
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
    pub(crate) fn explain(
        &mut self,
        (tokens, format): (&[TokenWithSpan], Format),
        text: &str,
        values: &[OwnedValue],
    ) -> Result<Grid, Error> {
        let Statement::Query(mut query) = parse::parse(tokens.to_vec(), text)? else {
            return Err(Error::unsupported("EXPLAIN of anything but a query"));
        };
        let rewritten = dialect::rewrite(&mut query, &self.state, values)?;
        let state = &self.state;
        let explain = |error| state.explain(error);
        let mut statement = self.prepare(&rewritten, "EXPLAIN QUERY PLAN ")?;
        let used = statement.parameter_count().min(rewritten.bound.len());
        let mut rows = statement.query(params_from_iter(&rewritten.bound[..used])).map_err(explain)?;
        let mut plan: Vec<Step> = Vec::new();
        while let Some(row) = rows.next().map_err(explain)? {
            plan.push((row.get(0).map_err(explain)?, row.get(1).map_err(explain)?, row.get(3).map_err(explain)?));
        }
        let rows = match format {
            Format::Traditional => tables(&plan).iter().map(Table::row).collect(),
            Format::Tree => vec![vec![tree(&plan).into()]],
            Format::Json => vec![vec![document(&tables(&plan)).into()]],
        };
        Ok(Grid { columns: columns(format), rows })
    }
}

/// Of SQLite's plan: a node, the node that it is part of, and what it does.
type Step = (i64, i64, String);
/// What it does where a select reads no table.
const CONSTANT_ROW: &str = "SCAN CONSTANT ROW";

/// The plan in words like MySQL's.
fn tree(plan: &[Step]) -> String {
    let mut text = String::new();
    let mut depths: Vec<(i64, usize)> = Vec::new();
    for (node, above, what) in plan {
        // A node's parent comes before it.
        let depth = depths.iter().find(|(other, _)| other == above).map_or(0, |(_, depth)| depth + 1);
        depths.push((*node, depth));
        let (first, rest) = what.split_once(' ').unwrap_or((what, ""));
        let words = match first {
            "SCAN" if what == CONSTANT_ROW => "Rows fetched before execution".to_owned(),
            "SCAN" | "SEARCH" if is_lookup(what) => format!("Index lookup on {} using {AUTOMATIC_KEY}", table_of(rest)),
            "SCAN" | "SEARCH" => format!("Table scan on {}", table_of(rest)),
            "MATERIALIZE" => format!("Materialize {rest}"),
            "CO-ROUTINE" => format!("Rows of {rest}, one by one"),
            "CORRELATED" => "Subquery (dependent)".to_owned(),
            "SCALAR" | "LIST" => "Subquery (run only once)".to_owned(),
            "USE" if what.contains("ORDER BY") => "Sort".to_owned(),
            "USE" if what.contains("GROUP BY") => "Aggregate using temporary table".to_owned(),
            "USE" => "Deduplicate using temporary table".to_owned(),
            // Of parts that are put together: UNION ALL, MERGE (UNION), RECURSIVE STEP and the like.
            _ => {
                let mut words = what.to_ascii_lowercase();
                words.get_mut(..1).into_iter().for_each(|first| first.make_ascii_uppercase());
                words
            }
        };
        let _ = writeln!(text, "{:indent$}-> {words}", "", indent = 4 * depth);
    }
    text
}

/// The same as rows, as a document.
fn document(tables: &[Table<'_>]) -> String {
    let mut blocks = tables.chunk_by(|one, other| (one.select, one.kind) == (other.select, other.kind)).map(|tables| {
        let read = |table: &Table<'_>| match &table.name {
            None => json!({ "message": NO_TABLE }),
            Some(name) => json!({ "table": { "table_name": name, "access_type": table.access(), "key": table.key() } }),
        };
        let says = |extra| tables.iter().any(|table| table.extra.contains(&extra));
        json!({ "query_block": {
            "select_id": tables[0].id(),
            "select_type": tables[0].kind,
            "using_filesort": says(FILESORT),
            "using_temporary_table": says(TEMPORARY),
            "nested_loop": tables.iter().map(read).collect::<Vec<_>>(),
        } })
    });
    let mut document = blocks.next().unwrap_or_else(|| json!({ "query_block": {} }));
    let others: Vec<_> = blocks.collect();
    if !others.is_empty() {
        document["query_block"]["query_specifications"] = others.into();
    }
    format!("{document:#}")
}

/// The table that a step reads.
fn table_of(rest: &str) -> &str {
    let end = [" VIRTUAL TABLE", " USING ", " LEFT-JOIN"].iter().filter_map(|after| rest.find(after)).min();
    let name = &rest[..end.unwrap_or(rest.len())];
    // A table without another name is called by its schema, too.
    name.split_once('.').map_or(name, |(_, name)| name)
}

/// Whether a table's rows are looked up in what SQLite makes for a join, or in what a table does when it is first asked.
fn is_lookup(what: &str) -> bool {
    what.contains("AUTOMATIC") || what.split(" VIRTUAL TABLE INDEX ").nth(1).is_some_and(|index| !index.starts_with("0:"))
}

/// As MySQL calls what it makes.
const AUTOMATIC_KEY: &str = "<auto_key0>";
/// What MySQL says under Extra.
const NO_TABLE: &str = "No tables used";
const FILESORT: &str = "Using filesort";
const TEMPORARY: &str = "Using temporary";

/// A table that a select reads, or what several selects are put together in.
struct Table<'p> {
    /// Which select, from 0; of several the last.
    select: usize,
    kind: &'static str,
    /// None where it reads none.
    name: Option<Cow<'p, str>>,
    is_lookup: bool,
    extra: Vec<&'static str>,
}

impl Table<'_> {
    /// MySQL's number of the select; what several are put together in has none.
    fn id(&self) -> Option<u64> {
        (!self.kind.ends_with(RESULT)).then_some(self.select as u64 + 1)
    }

    fn access(&self) -> Option<&'static str> {
        self.name.as_ref().map(|_| if self.is_lookup { "ref" } else { "ALL" })
    }

    fn key(&self) -> Option<&'static str> {
        self.is_lookup.then_some(AUTOMATIC_KEY)
    }

    /// Under MySQL's headings.
    fn row(&self) -> Vec<OwnedValue> {
        let mut row: Vec<OwnedValue> = vec![self.id().into(), self.kind.into(), self.name.as_deref().into(), OwnedValue::Null];
        row.extend([self.access().into(), OwnedValue::Null, self.key().into()]);
        row.resize(11, OwnedValue::Null);
        row.push(if self.extra.is_empty() { OwnedValue::Null } else { self.extra.join("; ").into() });
        row
    }
}

/// What MySQL calls where the rows of several selects are put together.
const RESULT: &str = " RESULT";

/// How a step puts rows of several selects together, as MySQL calls the second of them, and as it calls what they come together in: `MERGE (UNION)`.
fn merged(what: &str) -> Option<(&'static str, &'static str)> {
    Some(match what.strip_prefix("MERGE (")?.strip_suffix(')')? {
        "EXCEPT" => ("EXCEPT", "EXCEPT RESULT"),
        "INTERSECT" => ("INTERSECT", "INTERSECT RESULT"),
        _ => ("UNION", "UNION RESULT"),
    })
}

/// What the selects of each set of them come together in, behind all that is read for them: `<union1,2>`.
fn results<'p>(plan: &[Step], select_of: impl Fn(i64) -> usize) -> Vec<Table<'p>> {
    let is_part = |what: &str| matches!(what, "LEFT" | "RIGHT") || merged(what).is_some();
    let is_within_set = |node: i64| plan.iter().any(|(other, _, what)| *other == node && is_part(what));
    let result = |(place, (merge, above, what)): (usize, &Step)| {
        let (op, kind) = merged(what)?;
        // Several of them are put together as one.
        if is_within_set(*above) {
            return None;
        }
        let (mut all, mut parts) = (HashSet::from([*merge]), HashSet::from([*merge]));
        let (mut numbers, mut last) = (BTreeSet::new(), 0);
        // What is below a step follows it at once.
        for (node, above, what) in
            plan[place + 1..].iter().take_while(|(node, above, _)| all.contains(above) && all.insert(*node))
        {
            let select = select_of(*node);
            last = last.max(select);
            if parts.contains(above) && is_part(what) {
                parts.insert(*node);
                numbers.insert(select + 1);
            }
        }
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        let name = Some(format!("<{}{}>", op.to_lowercase(), numbers.join(",")).into());
        Some(Table { select: last, kind, name, is_lookup: false, extra: vec![TEMPORARY] })
    };
    // Those that lie within others first.
    plan.iter().enumerate().rev().filter_map(result).collect()
}

/// In the order of the selects, and in each in that in which they are read.
fn tables(plan: &[Step]) -> Vec<Table<'_>> {
    let mut selects = vec![Select { node: 0, kind: "PRIMARY" }];
    let merge_of = |node: i64| plan.iter().find(|step| step.0 == node).and_then(|step| merged(&step.2));
    for (node, above, what) in plan {
        let kind = match what.split(' ').next().unwrap_or_default() {
            "MATERIALIZE" | "CO-ROUTINE" => "DERIVED",
            "CORRELATED" => "DEPENDENT SUBQUERY",
            "SCALAR" | "LIST" => "SUBQUERY",
            "UNION" | "RECURSIVE" => "UNION",
            // The left side is the select that is there already.
            "RIGHT" => match merge_of(*above) {
                Some((kind, _)) => kind,
                None => continue,
            },
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
    let mut tables: Vec<Table<'_>> = Vec::new();
    for (_, above, what) in plan {
        let select = select_of(*above);
        let (how, rest) = what.split_once(' ').unwrap_or((what, ""));
        let extra = match how {
            "SCAN" | "SEARCH" => {
                let name = (what != CONSTANT_ROW).then(|| table_of(rest).into());
                let extra = if name.is_none() { vec![NO_TABLE] } else { Vec::new() };
                tables.push(Table { select, kind: selects[select].kind, name, is_lookup: is_lookup(what), extra });
                continue;
            }
            _ if what.starts_with("USE TEMP B-TREE") && what.contains("ORDER BY") => FILESORT,
            _ if what.starts_with("USE TEMP B-TREE") => TEMPORARY,
            _ => continue,
        };
        // MySQL says it of the first table of the select.
        if let Some(table) = tables.iter_mut().find(|table| table.select == select)
            && !table.extra.contains(&extra)
        {
            table.extra.push(extra);
        }
    }
    tables.extend(results(plan, select_of));
    tables.sort_by_key(|table| table.select);
    tables
}
