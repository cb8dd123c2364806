//! What the Tab key offers: schemas, tables and columns as `information_schema` has them, so those that are declared, and words
//! of SQL.

use perfschema::render::OwnedValue;
use perfschema_sql::{Outcome, Session};
use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};
use std::collections::HashMap;

/// Words of statements that the dialect knows; those before which a table's name is expected are in [`BEFORE_TABLES`], too.
const WORDS: &str = "SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT OFFSET DISTINCT AS AND OR NOT NULL IS IN LIKE REGEXP BETWEEN EXISTS \
    CASE WHEN THEN ELSE END JOIN LEFT INNER CROSS ON USING UNION ALL WITH RECURSIVE OVER PARTITION ASC DESC UPDATE SET INSERT INTO VALUES \
    DELETE TRUNCATE TABLE CREATE DROP USE SHOW DATABASES TABLES FULL COLUMNS VARIABLES STATUS WARNINGS ENGINE PERFORMANCE_SCHEMA DESCRIBE \
    EXPLAIN GLOBAL SESSION INTERVAL SECOND MINUTE HOUR DAY COUNT( SUM( MIN( MAX( AVG( CONCAT( IF( IFNULL( ROUND( FORMAT_PICO_TIME( \
    FORMAT_BYTES( SUBSTRING_INDEX( NOW( LOWER( UPPER( LENGTH( REPLACE( COALESCE(";
const BEFORE_TABLES: [&str; 8] = ["FROM", "JOIN", "UPDATE", "INTO", "TABLE", "TRUNCATE", "DESC", "DESCRIBE"];

/// What can be named.
#[derive(Debug, Default)]
pub(super) struct Completion {
    /// The current schema.
    pub(super) schema: String,
    /// The lines of the statement before the one that is typed.
    pub(super) before: String,
    schemas: Vec<String>,
    /// Schema, table, column.
    columns: Vec<[String; 3]>,
}

impl Completion {
    /// Reads anew what there is.
    pub(super) fn read(&mut self, session: &mut Session) {
        self.schema = session.schema().unwrap_or_default().to_owned();
        let schemas = "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA";
        self.schemas = rows(session, schemas).into_iter().map(|[schema]| schema).collect();
        let columns = "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS \
                       ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION";
        self.columns = rows(session, columns);
    }

    /// The tables of a schema.
    fn tables<'a>(&'a self, schema: &'a str) -> impl Iterator<Item = &'a String> {
        let mut last: Option<&String> = None;
        self.columns.iter().filter(move |[of, ..]| of.eq_ignore_ascii_case(schema)).filter_map(move |[_, table, _]| {
            let is_new = last != Some(table);
            last = Some(table);
            is_new.then_some(table)
        })
    }

    fn columns_of<'a>(&'a self, schema: &'a str, table: &'a str) -> impl Iterator<Item = &'a String> {
        let of = move |names: &&[String; 3]| names[0].eq_ignore_ascii_case(schema) && names[1].eq_ignore_ascii_case(table);
        self.columns.iter().filter(of).map(|names| &names[2])
    }

    /// The tables that a statement names, as (schema, table), by what it calls them.
    fn named(&self, statement: &str) -> HashMap<String, (String, String)> {
        let mut named = HashMap::new();
        let words: Vec<&str> = statement.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).collect();
        for (index, word) in words.iter().enumerate() {
            let word = word.replace('`', "");
            let (schema, table) = word.rsplit_once('.').unwrap_or((&self.schema, &word));
            let Some(table) = self.tables(schema).find(|other| other.eq_ignore_ascii_case(table)) else { continue };
            let place = (schema.to_owned(), table.clone());
            // FROM threads t, FROM threads AS t
            let next = |on: usize| words.get(index + on).map(|word| word.to_lowercase());
            let alias = next(1).and_then(|word| if word == "as" { next(2) } else { Some(word) });
            named.extend(alias.map(|alias| (alias, place.clone())));
            named.insert(table.to_lowercase(), place);
        }
        named
    }

    /// What could stand at the end of a text in the place of its last word, and where that begins.
    pub(super) fn candidates(&self, line: &str, end: usize) -> (usize, Vec<String>) {
        let typed = line.get(..end).unwrap_or(line);
        let start = typed.rfind(|c: char| !is_word(c)).map_or(0, |at| at + typed[at..].chars().next().map_or(1, char::len_utf8));
        let word = &typed[start..];
        let named = self.named(&format!("{} {line}", self.before));
        let earlier = format!("{} {}", self.before, &typed[..start]);
        let previous = earlier.split(|c: char| !is_word(c)).rfind(|word| !word.is_empty()).unwrap_or("").to_uppercase();
        let comma_after_from = earlier.trim_end().ends_with(',') && is_in_from(&earlier);
        let mut found: Vec<String> = Vec::new();
        if let Some((before, part)) = word.rsplit_once('.') {
            let before_plain = before.replace('`', "");
            let qualified = |name: &String| format!("{before}.{name}");
            let columns = named.get(&before_plain.to_lowercase()).map(|(schema, table)| self.columns_of(schema, table));
            found.extend(columns.into_iter().flatten().filter(|name| starts(name, part)).map(qualified));
            found.extend(self.tables(&before_plain).filter(|name| starts(name, part)).map(qualified));
        } else if previous == "USE" {
            found.extend(self.schemas.iter().filter(|name| starts(name, word)).cloned());
        } else if BEFORE_TABLES.contains(&previous.as_str()) || comma_after_from {
            found.extend(self.tables(&self.schema).filter(|name| starts(name, word)).cloned());
            found.extend(self.schemas.iter().filter(|name| starts(name, word)).map(|name| format!("{name}.")));
        } else if !word.is_empty() || !named.is_empty() {
            let mut tables: Vec<&(String, String)> = named.values().collect();
            tables.sort();
            tables.dedup();
            if tables.is_empty() {
                let all = self.columns.iter().filter(|names| names[0] == self.schema).map(|names| &names[2]);
                found.extend(all.filter(|name| starts(name, word)).cloned());
            }
            for (schema, table) in tables {
                found.extend(self.columns_of(schema, table).filter(|name| starts(name, word)).cloned());
            }
            found.sort();
            if !word.is_empty() {
                // As it was begun.
                let lower = word.chars().all(|c| !c.is_uppercase());
                let words = WORDS.split(' ').filter(|other| !other.is_empty() && starts(other, word));
                found.extend(words.map(|word| if lower { word.to_lowercase() } else { word.to_owned() }));
                found.extend(self.tables(&self.schema).filter(|name| starts(name, word)).cloned());
            }
        }
        found.dedup();
        (start, found)
    }
}

/// The rows of a query that has only texts; none if it is refused.
fn rows<const COLUMNS: usize>(session: &mut Session, select: &str) -> Vec<[String; COLUMNS]> {
    let Ok(Outcome::Rows(grid)) = session.execute(select) else { return Vec::new() };
    let text = |value: OwnedValue| if let OwnedValue::Text(text) = value { text } else { String::new() };
    grid.rows.into_iter().filter_map(|row| <[OwnedValue; COLUMNS]>::try_from(row).ok()).map(|row| row.map(text)).collect()
}

/// Of names and paths of names: `sys.x$waits`, `@@version`.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '`' | '@')
}

fn starts(name: &str, with: &str) -> bool {
    let with = with.trim_start_matches('`');
    name.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with))
}

/// Whether the last of these words before the end is FROM.
fn is_in_from(text: &str) -> bool {
    let clauses = ["SELECT", "FROM", "WHERE", "GROUP", "ORDER", "SET", "HAVING", "BY", "ON", "USING", "LIMIT"];
    let last = text.split(|c: char| !is_word(c)).rfind(|word| clauses.contains(&word.to_uppercase().as_str()));
    last.is_some_and(|word| word.eq_ignore_ascii_case("FROM"))
}

impl Completer for Completion {
    type Candidate = String;

    fn complete(&self, line: &str, end: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.candidates(line, end))
    }
}

impl Helper for Completion {}
impl Highlighter for Completion {}
impl Validator for Completion {}
impl Hinter for Completion {
    type Hint = String;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completion() -> Completion {
        let column = |schema: &str, table: &str, column: &str| [schema, table, column].map(str::to_owned);
        Completion {
            schema: "performance_schema".into(),
            before: String::new(),
            schemas: ["performance_schema", "sys"].map(str::to_owned).into(),
            columns: vec![
                column("performance_schema", "setup_timers", "NAME"),
                column("performance_schema", "setup_timers", "TIMER_NAME"),
                column("performance_schema", "threads", "THREAD_ID"),
                column("performance_schema", "threads", "TYPE"),
                column("sys", "lock_waits", "waiting_source"),
                column("sys", "lock_waits", "wait_so_far"),
            ],
        }
    }

    #[track_caller]
    fn check(before: &str, line: &str, start: usize, expected: &[&str]) {
        let completion = Completion { before: before.into(), ..completion() };
        // The cursor is where the bar stands.
        let at = line.find('|').unwrap_or(line.len());
        let (found_start, found) = completion.candidates(&line.replace('|', ""), at);
        assert_eq!(
            (found_start, found.as_slice()),
            (start, expected.iter().map(|&name| name.to_owned()).collect::<Vec<_>>().as_slice()),
            "{line}"
        );
    }

    #[test]
    fn tables_columns_words() {
        check("", "SELECT * FROM set", 14, &["setup_timers"]);
        check("", "SELECT * FROM ", 14, &["setup_timers", "threads", "performance_schema.", "sys."]);
        check("", "SELECT * FROM sys.", 14, &["sys.lock_waits"]);
        check("", "SELECT * FROM threads, s", 23, &["setup_timers", "sys."]);
        check("", "SELECT T| FROM threads", 7, &["THREAD_ID", "TYPE", "THEN", "TRUNCATE", "TABLE", "TABLES", "threads"]);
        check("", "SELECT t.ty| FROM threads t", 7, &["t.TYPE"]);
        check("SELECT * FROM sys.lock_waits AS l\n", "WHERE l.wait_s", 6, &["l.wait_so_far"]);
        check("SELECT * FROM sys.lock_waits\n", "WHERE waiting", 6, &["waiting_source"]);
        check("", "sel", 0, &["select"]);
        check("", "USE s", 4, &["sys"]);
        check("", "SELECT sum", 7, &["sum("]);
        check("", "", 0, &[]);
        check("", "SELECT é", 7, &[]);
    }
}
