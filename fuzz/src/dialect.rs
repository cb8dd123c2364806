//! Statements that both dialects have, against SQLite itself: what the bytes choose is asked twice, in MySQL's words through the dialect
//! and the virtual tables, and in SQLite's words of ordinary tables with the same rows. The answers are the same.

use crate::sql;
use perfschema_core::table::{SqlType, Table, Value};
use perfschema_core::{Region, tables};
use perfschema_sql::{Account, Database, Outcome};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use std::cmp::Ordering;
use std::fmt::Write;
use std::sync::{LazyLock, Mutex, PoisonError};

/// A region of its own, in which nothing changes any more.
static REGION: LazyLock<&'static Region<'static>> = LazyLock::new(sql::region_in_use);
static DATABASE: LazyLock<Database> = LazyLock::new(|| sql::database(*REGION));

/// A table that statements are made of, with the columns that they name.
#[derive(Clone, Debug, Default)]
struct Relation {
    name: Words,
    numbers: Vec<String>,
    texts: Vec<String>,
}

/// The tables with few rows: of each, the columns in which SQLite has the same values, and its rows as SQLite has them.
static RELATIONS: LazyLock<Vec<Relation>> = LazyLock::new(|| {
    let connection = PEER.lock().unwrap_or_else(PoisonError::into_inner);
    tables::ALL.iter().filter_map(|table| relation(&connection, *table)).collect()
});

static PEER: LazyLock<Mutex<Connection>> = LazyLock::new(|| {
    let mut connection = Connection::open_in_memory().expect("there is memory");
    for schema in ["performance_schema", "information_schema"] {
        connection.execute_batch(&format!("ATTACH ':memory:' AS {schema}")).expect("it has room");
    }
    // As many steps as take some 100 ms.
    let mut steps = 0;
    connection
        .progress_handler(
            1000,
            Some(move || {
                steps += 1;
                steps % 2000 == 0
            }),
        )
        .expect("it takes one");
    Mutex::new(connection)
});

/// More rows than this make joins that no statement has the time for.
const MAX_ROWS: usize = 40;

fn relation(connection: &Connection, table: &'static dyn Table) -> Option<Relation> {
    let declaration = table.declaration();
    let mut rows: Vec<Vec<Option<rusqlite::types::Value>>> = Vec::new();
    table.scan(*REGION, &mut |row| {
        let value = |column| match row.cell(column) {
            Value::Null => Some(rusqlite::types::Value::Null),
            Value::Unsigned(number) => i64::try_from(number).ok().map(rusqlite::types::Value::Integer),
            Value::Signed(number) => Some(rusqlite::types::Value::Integer(number)),
            Value::Text(text) => Some(rusqlite::types::Value::Text(text.to_owned())),
            Value::Double(_) => None,
        };
        rows.push((0..declaration.columns.len()).map(value).collect());
    });
    // Of the timers it is measured anew how often they tick, each time; of the others sessions have more to say.
    let others: [&dyn Table; 3] = [&tables::PerformanceTimers, &tables::GlobalStatus, &tables::GlobalVariables];
    let is_other = others.iter().any(|other| other.declaration().name == declaration.name);
    if !(1..=MAX_ROWS).contains(&rows.len()) || is_other {
        return None;
    }
    let name = Words::same(&format!("{}.`{}`", table.schema(), declaration.name));
    let mut found = Relation { name, ..Relation::default() };
    let mut columns = Vec::new();
    for (index, column) in declaration.columns.iter().enumerate() {
        // An ENUM is sorted by numbers of which SQLite knows nothing, and a moment is more than a text.
        let differs = matches!(column.sql_type, SqlType::Double | SqlType::Enum(_)) || column.sql_type.is_moment();
        if rows.iter().all(|row| row[index].is_some()) && !differs {
            let is_number =
                matches!(column.sql_type, SqlType::BigintUnsigned | SqlType::Bigint | SqlType::Int | SqlType::IntUnsigned);
            if is_number { &mut found.numbers } else { &mut found.texts }.push(column.name.to_owned());
            columns.push((index, format!("`{}` {}", column.name, if is_number { "INTEGER" } else { "TEXT" })));
        }
    }
    let declared: Vec<&str> = columns.iter().map(|(_, declared)| declared.as_str()).collect();
    let (name, places) = (&found.name.sqlite, vec!["?"; columns.len()].join(","));
    connection.execute_batch(&format!("CREATE TABLE {name} ({})", declared.join(", "))).expect("its name is new");
    for row in &rows {
        let values = columns.iter().map(|(index, _)| row[*index].clone());
        connection
            .execute(&format!("INSERT INTO {name} VALUES ({places})"), rusqlite::params_from_iter(values))
            .expect("it fits");
    }
    Some(found)
}

/// The same in MySQL's words and in SQLite's.
#[derive(Clone, Debug, Default)]
struct Words {
    mysql: String,
    sqlite: String,
}

impl Words {
    fn same(text: &str) -> Words {
        Words { mysql: text.to_owned(), sqlite: text.to_owned() }
    }

    /// A text for each dialect, in which `#` stands for the parts, one after the other.
    fn each(mysql: &str, sqlite: &str, parts: &[&Words]) -> Words {
        let fill = |template: &str, part: fn(&Words) -> &str| {
            let mut pieces = template.split('#');
            let mut text = pieces.next().unwrap_or_default().to_owned();
            assert_eq!(pieces.clone().count(), parts.len(), "{template}");
            pieces.zip(parts).for_each(|(piece, words)| write!(text, "{}{piece}", part(words)).expect("a String"));
            text
        };
        Words { mysql: fill(mysql, |words| &words.mysql), sqlite: fill(sqlite, |words| &words.sqlite) }
    }

    fn of(template: &str, parts: &[&Words]) -> Words {
        Words::each(template, template, parts)
    }

    fn joined(list: &[Words], between: &str) -> Words {
        let join = |part: fn(&Words) -> &str| list.iter().map(part).collect::<Vec<_>>().join(between);
        Words { mysql: join(|words| &words.mysql), sqlite: join(|words| &words.sqlite) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Number,
    Text,
}

/// Makes statements of choices. When the bytes end, the first choice is taken everywhere, and what lies within is less deep each time until
/// it is a column.
struct Maker<'a> {
    bytes: std::slice::Iter<'a, u8>,
    /// Tables that can be named, those of the queries around too.
    scope: Vec<Relation>,
    aliases: usize,
}

impl Maker<'_> {
    fn below(&mut self, end: usize) -> usize {
        self.bytes.next().map_or(0, |byte| usize::from(*byte) % end)
    }

    fn one_of<'t, T: ?Sized>(&mut self, list: &[&'t T]) -> &'t T {
        list[self.below(list.len())]
    }

    fn column(&mut self, kind: Kind) -> Option<Words> {
        let columns = |relation: &Relation| match kind {
            Kind::Number => relation.numbers.clone(),
            Kind::Text => relation.texts.clone(),
        };
        let named = |relation: &Relation| {
            columns(relation).into_iter().map(|column| format!("{}.`{column}`", relation.name.mysql)).collect::<Vec<_>>()
        };
        let all: Vec<String> = self.scope.iter().flat_map(named).collect();
        (!all.is_empty()).then(|| Words::same(&all[self.below(all.len())]))
    }

    fn expression(&mut self, kind: Kind, depth: usize) -> Words {
        match kind {
            Kind::Number => self.number(depth),
            Kind::Text => self.text(depth),
        }
    }

    fn number(&mut self, depth: usize) -> Words {
        let choices = if depth == 0 { 3 } else { 17 };
        let choice = self.below(choices);
        let part = |maker: &mut Self| maker.number(depth - 1);
        match choice {
            0 => self.column(Kind::Number).unwrap_or_else(|| Words::same("1")),
            1 => Words::same(&self.below(10).to_string()),
            2 => Words::same("NULL"),
            3 => Words::of("(# + #)", &[&part(self), &part(self)]),
            4 => Words::of("(# - #)", &[&part(self), &part(self)]),
            5 => Words::of("(# * #)", &[&part(self), &Words::same(&self.below(10).to_string())]),
            6 => Words::of("(- #)", &[&part(self)]),
            7 => Words::each("(# DIV #)", "(# / #)", &[&part(self), &part(self)]),
            8 => Words::of("(# % #)", &[&part(self), &part(self)]),
            9 => Words::of("COALESCE(#, #)", &[&part(self), &part(self)]),
            10 => Words::of("NULLIF(#, #)", &[&part(self), &part(self)]),
            11 => Words::each("LENGTH(#)", "length(CAST(# AS BLOB))", &[&self.text(depth - 1)]),
            12 => Words::each("GREATEST(#, #)", "max(#, #)", &[&part(self), &part(self)]),
            13 => Words::of("ABS(#)", &[&part(self)]),
            14 => {
                let aggregate = self.one_of(&["MAX", "MIN", "COUNT", "SUM"]);
                self.subquery(depth, &mut |maker| Words::of(&format!("{aggregate}(#)"), &[&maker.number(depth - 1)]))
            }
            15 => Words::of("(#)", &[&self.condition(depth - 1)]),
            _ => self.case(Kind::Number, depth),
        }
    }

    fn text(&mut self, depth: usize) -> Words {
        let choices = if depth == 0 { 3 } else { 11 };
        let choice = self.below(choices);
        let part = |maker: &mut Self| maker.text(depth - 1);
        match choice {
            0 => self.column(Kind::Text).unwrap_or_else(|| Words::same("'a'")),
            1 => Words::same(self.one_of(&["''", "'yes'", "'No'", "'it''s'", "'wait/synch/MUTEX/fuzz/LOCK'", "'1'"])),
            2 => Words::same("NULL"),
            3 => Words::each("CONCAT(#, #)", "(# || #)", &[&part(self), &part(self)]),
            4 => Words::each("LEFT(#, #)", "substr(#, 1, #)", &[&part(self), &Words::same(&self.below(10).to_string())]),
            5 => Words::of("UPPER(#)", &[&part(self)]),
            6 => Words::of("LOWER(#)", &[&part(self)]),
            7 => Words::of("COALESCE(#, #)", &[&part(self), &part(self)]),
            8 => Words::each("NULLIF(#, #)", "NULLIF(# COLLATE NOCASE, #)", &[&part(self), &part(self)]),
            // The same in two letter cases.
            9 => {
                let (condition, text) = (self.condition(depth - 1), part(self));
                Words::each("IF(#, UPPER(#), #)", "iif(#, UPPER(#), #)", &[&condition, &text, &text])
            }
            _ => self.case(Kind::Text, depth),
        }
    }

    fn case(&mut self, kind: Kind, depth: usize) -> Words {
        let parts = [self.condition(depth - 1), self.expression(kind, depth - 1), self.expression(kind, depth - 1)];
        let parts: Vec<&Words> = parts.iter().collect();
        match self.below(2) {
            0 => Words::each("IF(#, #, #)", "iif(#, #, #)", &parts),
            _ => Words::of("CASE WHEN # THEN # ELSE # END", &parts),
        }
    }

    /// 1, 0 or NULL.
    fn condition(&mut self, depth: usize) -> Words {
        let choices = if depth == 0 { 3 } else { 13 };
        let (choice, below) = (self.below(choices), depth.saturating_sub(1));
        let not = if choice >= 3 { self.one_of(&["", "NOT "]) } else { "" };
        match choice {
            0 | 1 => {
                let (kind, collate) = [(Kind::Number, ""), (Kind::Text, " COLLATE NOCASE")][choice];
                let operator = self.one_of(&["=", "<>", "<", "<=", ">", ">=", "<=>"]);
                let theirs = if operator == "<=>" { "IS" } else { operator };
                let parts = [self.expression(kind, below), self.expression(kind, below)];
                Words::each(&format!("(# {operator} #)"), &format!("(#{collate} {theirs} #)"), &[&parts[0], &parts[1]])
            }
            2 => Words::of("(# IS NULL)", &[&self.text(below)]),
            3 => Words::of("(# IS NOT NULL)", &[&self.number(below)]),
            4 => Words::of("(# AND #)", &[&self.condition(below), &self.condition(below)]),
            5 => Words::of("(# OR #)", &[&self.condition(below), &self.condition(below)]),
            6 => Words::of("(NOT #)", &[&self.condition(below)]),
            7 => Words::each("(# XOR #)", "((NOT #) <> (NOT #))", &[&self.condition(below), &self.condition(below)]),
            8 => {
                let parts = [self.number(below), self.number(below), self.number(below)];
                Words::of(&format!("(# {not}BETWEEN # AND #)"), &[&parts[0], &parts[1], &parts[2]])
            }
            9 => {
                let parts = [self.text(below), self.text(below), self.text(below)];
                let (ours, theirs) = (format!("(# {not}IN (#, #))"), format!("(# COLLATE NOCASE {not}IN (#, #))"));
                Words::each(&ours, &theirs, &[&parts[0], &parts[1], &parts[2]])
            }
            10 => {
                let pattern = self.one_of(&["%", "", "wait%", "%L_CK%", "%S", "_%o%"]);
                Words::of(&format!("(# {not}LIKE '{pattern}')"), &[&self.text(below)])
            }
            11 => Words::of(&format!("({not}EXISTS #)"), &[&self.subquery(depth, &mut |_| Words::same("1"))]),
            _ => {
                let number = self.number(below);
                let list = self.subquery(depth, &mut |maker| maker.number(below));
                Words::of(&format!("(# {not}IN #)"), &[&number, &list])
            }
        }
    }

    /// A query of one column, in which the tables around can be named.
    fn subquery(&mut self, depth: usize, output: &mut dyn FnMut(&mut Self) -> Words) -> Words {
        let around = std::mem::take(&mut self.scope);
        let from = self.from(0);
        // Of its own tables only: an aggregate of what is around would be one of the query around.
        let output = output(self);
        self.scope.splice(0..0, around.iter().cloned());
        let words = [output, from, self.condition(depth - 1)];
        self.scope = around;
        Words::of("(SELECT # FROM # WHERE #)", &[&words[0], &words[1], &words[2]])
    }

    /// One table or two; their names can be used from then on.
    fn from(&mut self, depth: usize) -> Words {
        let first = self.factor(depth);
        if depth == 0 {
            return first;
        }
        match self.below(4) {
            0 => first,
            1 => Words::of("#, #", &[&first, &self.factor(depth - 1)]),
            choice => {
                let join = ["JOIN", "LEFT JOIN"][choice - 2];
                let second = self.factor(depth - 1);
                Words::of(&format!("# {join} # ON #"), &[&first, &second, &self.condition(depth - 1)])
            }
        }
    }

    fn factor(&mut self, depth: usize) -> Words {
        self.aliases += 1;
        let alias = format!("x{}", self.aliases);
        let name = Words::same(&alias);
        let (words, relation) = if depth > 0 && self.below(4) == 3 {
            // What is around cannot be named within it.
            let around = std::mem::take(&mut self.scope);
            let (query, kinds) = self.query(depth - 1, None);
            self.scope = around;
            let mut relation = Relation { name: name.clone(), ..Relation::default() };
            for (number, kind) in kinds.iter().enumerate() {
                match kind {
                    Kind::Number => &mut relation.numbers,
                    Kind::Text => &mut relation.texts,
                }
                .push(format!("c{number}"));
            }
            (Words::of("(#) AS #", &[&query, &name]), relation)
        } else {
            let table = &RELATIONS[self.below(RELATIONS.len())];
            (Words::of("# AS #", &[&table.name, &name]), Relation { name, ..table.clone() })
        };
        self.scope.push(relation);
        words
    }

    /// A query and what its columns are: those that are asked for, or any. They are named c0, c1, ….
    fn query(&mut self, depth: usize, wanted: Option<&[Kind]>) -> (Words, Vec<Kind>) {
        let from = self.from(depth);
        let condition = self.condition(depth);
        let kinds = match wanted {
            Some(kinds) => kinds.to_vec(),
            None => (0..=self.below(3)).map(|_| *self.one_of(&[&Kind::Number, &Kind::Text])).collect(),
        };
        let shape = self.below(4);
        let (mut outputs, mut keys) = (Vec::new(), Vec::new());
        for (number, kind) in kinds.iter().enumerate() {
            let mut value = self.expression(*kind, depth);
            let collated = |words: &Words| match kind {
                Kind::Number => words.clone(),
                Kind::Text => Words::each("#", "# COLLATE NOCASE", &[words]),
            };
            if shape == 2 && number == 0 {
                // A number alone would be that of a column.
                value = match kind {
                    Kind::Number => Words::of("(0 + #)", &[&value]),
                    Kind::Text => value,
                };
                keys.push(collated(&value));
            } else if shape == 2 || shape == 3 {
                let aggregate = match kind {
                    Kind::Number => self.one_of(&["MAX", "MIN", "COUNT", "SUM", "COUNT(DISTINCT"]),
                    Kind::Text => self.one_of(&["MAX", "MIN"]),
                };
                let open = if aggregate.ends_with("DISTINCT") { " " } else { "(" };
                value = Words::of(&format!("{aggregate}{open}#)"), &[&collated(&value)]);
            }
            outputs.push(Words::of(&format!("# AS c{number}"), &[&collated(&value)]));
        }
        let distinct = if shape == 1 { "DISTINCT " } else { "" };
        let mut query =
            Words::of(&format!("SELECT {distinct}# FROM # WHERE #"), &[&Words::joined(&outputs, ", "), &from, &condition]);
        if !keys.is_empty() {
            query = Words::of("# GROUP BY #", &[&query, &Words::joined(&keys, ", ")]);
            if self.below(2) == 1 {
                query = Words::of(&format!("# HAVING COUNT(*) > {}", self.below(4)), &[&query]);
            }
        }
        self.scope.clear();
        (query, kinds)
    }

    /// A whole statement, and whether its rows have an order.
    fn statement(&mut self) -> (Words, bool) {
        let (mut words, kinds) = self.query(3, None);
        if self.below(4) == 3 {
            let union = self.one_of(&["UNION", "UNION ALL"]);
            words = Words::of(&format!("# {union} #"), &[&words, &self.query(2, Some(&kinds)).0]);
        }
        let is_ordered = self.below(2) == 1;
        if is_ordered {
            let order: Vec<String> = (1..=kinds.len()).map(|number| format!("{number}{}", self.one_of(&["", " DESC"]))).collect();
            words = Words::of(&format!("# ORDER BY {}", order.join(", ")), &[&words]);
            if self.below(2) == 1 {
                let (limit, offset) = (self.below(20), self.below(10));
                let (ours, theirs) = (format!("# LIMIT {offset}, {limit}"), format!("# LIMIT {limit} OFFSET {offset}"));
                words = Words::each(&ours, &theirs, &[&words]);
            }
        }
        (words, is_ordered)
    }
}

/// A value without what the two may differ in: letter case, which of several equal texts is kept, and the type of a number.
#[derive(Clone, Debug)]
enum Seen {
    Null,
    Integer(i128),
    Real(f64),
    Text(String),
}

impl Seen {
    fn number(&self) -> Option<f64> {
        match self {
            Seen::Integer(number) => Some(*number as f64),
            Seen::Real(number) => Some(*number),
            Seen::Null | Seen::Text(_) => None,
        }
    }

    fn compare(&self, other: &Seen) -> Ordering {
        match (self, other) {
            (Seen::Integer(a), Seen::Integer(b)) => a.cmp(b),
            (Seen::Text(a), Seen::Text(b)) => a.cmp(b),
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                (a, b) => (a.is_some(), matches!(self, Seen::Text(_))).cmp(&(b.is_some(), matches!(other, Seen::Text(_)))),
            },
        }
    }
}

fn ours(value: Value<'_>, sql_type: SqlType) -> Seen {
    match value {
        // A sum.
        Value::Text(digits) if matches!(sql_type, SqlType::Decimal(..)) => {
            digits.parse().map_or_else(|_| Seen::Text(digits.to_owned()), Seen::Integer)
        }
        Value::Null => Seen::Null,
        Value::Unsigned(number) => Seen::Integer(number.into()),
        Value::Signed(number) => Seen::Integer(number.into()),
        Value::Double(number) => Seen::Real(number),
        Value::Text(text) => Seen::Text(text.to_ascii_lowercase()),
    }
}

fn theirs(value: ValueRef<'_>) -> Seen {
    match value {
        ValueRef::Null => Seen::Null,
        ValueRef::Integer(number) => Seen::Integer(number.into()),
        ValueRef::Real(number) => Seen::Real(number),
        ValueRef::Text(text) | ValueRef::Blob(text) => Seen::Text(String::from_utf8_lossy(text).to_ascii_lowercase()),
    }
}

/// The rows that SQLite has; None if it gave up, which says nothing.
fn peer(statement: &str) -> Option<Vec<Vec<Seen>>> {
    let connection = PEER.lock().unwrap_or_else(PoisonError::into_inner);
    let mut prepared = connection.prepare(statement).unwrap_or_else(|error| panic!("{error}: {statement}"));
    let width = prepared.column_count();
    let mut rows = prepared.query([]).expect("it has no parameters");
    let mut found = Vec::new();
    loop {
        match rows.next() {
            Ok(Some(row)) => {
                found.push((0..width).map(|column| theirs(row.get_ref(column).expect("it is there"))).collect());
                if found.len() > 10_000 {
                    return None;
                }
            }
            Ok(None) => return Some(found),
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) => return None,
            Err(error) if error.to_string().contains("integer overflow") => return None,
            Err(error) => panic!("{error}: {statement}"),
        }
    }
}

/// Asks both.
///
/// # Panics
/// If the answers differ.
pub fn dialect(data: &[u8]) {
    let mut maker = Maker { bytes: data.iter(), scope: Vec::new(), aliases: 0 };
    let (words, is_ordered) = maker.statement();
    let mut session = DATABASE.session(Account::default()).expect("there is memory");
    let mut found: Vec<Vec<Seen>> = match session.execute(&words.mysql) {
        Ok(Outcome::Rows(grid)) => {
            let types: Vec<SqlType> = grid.columns.iter().map(|head| head.sql_type).collect();
            let mut rows = Vec::new();
            for row in &grid.rows {
                rows.push(row.iter().zip(&types).map(|(value, sql_type)| ours(value.as_value(), *sql_type)).collect());
            }
            rows
        }
        // It had its time, or its memory.
        Err(error) if [3024, 1038, 1041].contains(&error.errno) => return,
        other => panic!("{other:?}: {}", words.mysql),
    };
    let Some(mut expected) = peer(&words.sqlite) else { return };
    let compare = |a: &Vec<Seen>, b: &Vec<Seen>| {
        a.iter().zip(b).map(|(a, b)| a.compare(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    if !is_ordered {
        found.sort_by(compare);
        expected.sort_by(compare);
    }
    let is_same = found.len() == expected.len() && found.iter().zip(&expected).all(|(a, b)| compare(a, b).is_eq());
    assert!(is_same, "{}\n{}\n{found:?}\n{expected:?}", words.mysql, words.sqlite);
}
