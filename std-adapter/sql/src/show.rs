//! SHOW and DESCRIBE: each is a SELECT over `information_schema`, written here in MySQL's dialect.

use crate::catalog::{self, CHARACTER_SET, COLLATION, Column};
use crate::parse::{is_word, quote};
use crate::session::Warning;
use crate::state::State;
use crate::{Error, parse};
use perfschema::core::table::SqlType;
use perfschema::render::{ColumnHead, Grid};
use perfschema::tables;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::fmt::Write;

pub(crate) fn is_warnings(tokens: &[TokenWithSpan]) -> bool {
    is_word(tokens, 0, "SHOW") && (is_word(tokens, 1, "WARNINGS") || is_word(tokens, 1, "ERRORS"))
}

pub(crate) fn warnings(warnings: &[Warning]) -> Grid {
    let columns = vec![
        ColumnHead::new("Level", SqlType::Varchar(7)).not_null(),
        ColumnHead::new("Code", SqlType::IntUnsigned).not_null(),
        ColumnHead::new("Message", SqlType::Varchar(512)).not_null(),
    ];
    let row = |warning: &Warning| {
        vec![warning.level.into(), u64::from(warning.error.errno).into(), warning.error.message.as_str().into()]
    };
    Grid { columns, rows: warnings.iter().map(row).collect() }
}

/// The SELECT that a SHOW or DESCRIBE stands for; None: it is neither.
pub(crate) fn select(state: &State, tokens: &[TokenWithSpan], text: &str) -> Result<Option<String>, Error> {
    let mut words = Words::of(tokens, text);
    if words.take("DESCRIBE") || words.take("DESC") || words.take("EXPLAIN") {
        let (schema, table) = words.table(state)?;
        let column = match words.word().or_else(|| words.string()) {
            Some(column) => format!(" AND COLUMN_NAME LIKE {}", quote(&column)),
            None => String::new(),
        };
        words.end()?;
        return Ok(Some(columns_select(state, &schema, &table, false)? + &column + ORDER));
    }
    if !words.take("SHOW") {
        return Ok(None);
    }
    show(state, &mut words).map(Some)
}

/// Two words of a SHOW, and its headings in MySQL.
const EMPTY: [(&str, &str, &str); 4] = [
    ("TRIGGERS", "", "Trigger Event Table Statement Timing Created sql_mode Definer character_set_client collation_connection"),
    ("EVENTS", "", "Db Name Definer Type Status"),
    ("PROCEDURE", "STATUS", "Db Name Type Definer Modified Created Security_type Comment"),
    ("FUNCTION", "STATUS", "Db Name Type Definer Modified Created Security_type Comment"),
];

const ORDER: &str = " ORDER BY ORDINAL_POSITION";

fn show(state: &State, words: &mut Words<'_>) -> Result<String, Error> {
    let full = words.take("FULL");
    let _ = words.take("EXTENDED");
    let global = words.take("GLOBAL");
    let scoped = global || words.take("SESSION") || words.take("LOCAL");
    if words.take("DATABASES") || words.take("SCHEMAS") {
        return words.filtered(
            "SELECT SCHEMA_NAME AS `Database` FROM information_schema.SCHEMATA",
            "Database",
            "SCHEMA_NAME",
            "",
        );
    }
    if words.take("TABLES") {
        let schema = words.schema(state)?;
        let heading = format!("Tables_in_{schema}");
        let kind = if full { ", TABLE_TYPE AS Table_type" } else { "" };
        let select = format!(
            "SELECT TABLE_NAME AS `{heading}`{kind} FROM information_schema.TABLES WHERE TABLE_SCHEMA = {}",
            quote(&schema)
        );
        return words.filtered(&select, &heading, "TABLE_NAME", " ORDER BY TABLE_NAME");
    }
    if words.take("TABLE") && words.take("STATUS") {
        let schema = words.schema(state)?;
        let select = format!(
            "SELECT TABLE_NAME AS Name, ENGINE AS Engine, VERSION AS Version, ROW_FORMAT AS `Row_format`, TABLE_ROWS AS `Rows`, \
             TABLE_COLLATION AS Collation, TABLE_COMMENT AS Comment FROM information_schema.TABLES WHERE TABLE_SCHEMA = {}",
            quote(&schema)
        );
        return words.filtered(&select, "Name", "TABLE_NAME", " ORDER BY TABLE_NAME");
    }
    if words.take("COLUMNS") || words.take("FIELDS") {
        if !(words.take("FROM") || words.take("IN")) {
            return Err(words.wrong());
        }
        let (schema, table) = words.table(state)?;
        let schema = if words.take("FROM") || words.take("IN") { words.known_schema()? } else { schema };
        let select = columns_select(state, &schema, &table, full)?;
        return words.filtered(&select, "Field", "COLUMN_NAME", ORDER);
    }
    if words.take("INDEX") || words.take("INDEXES") || words.take("KEYS") {
        words.next = words.tokens.len();
        return Ok(
            "SELECT '' AS `Table`, 0 AS Non_unique, '' AS Key_name, 0 AS Seq_in_index, '' AS Column_name FROM dual WHERE 0"
                .to_owned(),
        );
    }
    if words.take("CREATE") {
        let view = words.take("VIEW");
        if !view && !words.take("TABLE") {
            return Err(words.wrong());
        }
        let (schema, table) = words.table(state)?;
        words.end()?;
        return create(state, &schema, &table);
    }
    if words.take("VARIABLES") {
        let table = if global { "GLOBAL_VARIABLES" } else { "SESSION_VARIABLES" };
        let select = format!("SELECT VARIABLE_NAME AS Variable_name, VARIABLE_VALUE AS Value FROM information_schema.{table}");
        return words.filtered(&select, "Variable_name", "VARIABLE_NAME", "");
    }
    if words.take("STATUS") {
        let select = "SELECT VARIABLE_NAME AS Variable_name, VARIABLE_VALUE AS Value FROM information_schema.SESSION_STATUS";
        return words.filtered(select, "Variable_name", "VARIABLE_NAME", "");
    }
    if scoped {
        return Err(words.wrong());
    }
    if words.take("PROCESSLIST") {
        words.end()?;
        let info = if full { "INFO" } else { "LEFT(INFO, 100)" };
        return Ok(format!(
            "SELECT ID AS Id, USER AS User, HOST AS Host, DB AS db, COMMAND AS Command, TIME AS Time, STATE AS State, {info} AS Info \
             FROM information_schema.PROCESSLIST ORDER BY ID"
        ));
    }
    if words.take("ENGINE") {
        if !(words.take("PERFORMANCE_SCHEMA") && words.take("STATUS")) {
            return Err(Error::unsupported("SHOW ENGINE of another engine"));
        }
        words.end()?;
        return Ok(engine_status(state));
    }
    if words.take("ENGINES") || (words.take("STORAGE") && words.take("ENGINES")) {
        words.end()?;
        return Ok("SELECT 'PERFORMANCE_SCHEMA' AS Engine, 'DEFAULT' AS Support, 'Performance Schema' AS Comment, 'NO' AS Transactions, \
                   'NO' AS XA, 'NO' AS Savepoints"
            .to_owned());
    }
    if words.take("CHARSET") || (words.take("CHARACTER") && words.take("SET")) {
        let select = format!(
            "SELECT * FROM (SELECT '{CHARACTER_SET}' AS Charset, 'UTF-8 Unicode' AS Description, '{COLLATION}' AS `Default collation`, 4 AS Maxlen) AS c"
        );
        return words.filtered(&select, "Charset", "Charset", "");
    }
    if words.take("COLLATION") {
        let select = format!(
            "SELECT * FROM (SELECT '{COLLATION}' AS Collation, '{CHARACTER_SET}' AS Charset, 255 AS Id, 'Yes' AS `Default`, 'Yes' AS Compiled, \
             0 AS Sortlen, 'NO PAD' AS Pad_attribute) AS c"
        );
        return words.filtered(&select, "Collation", "Collation", "");
    }
    // There are none, and clients that draw trees of everything ask.
    for (first, second, heads) in EMPTY {
        if words.take(first) && (second.is_empty() || words.take(second)) {
            words.next = words.tokens.len();
            let heads = heads.split(' ').map(|head| format!("'' AS `{head}`")).collect::<Vec<_>>().join(", ");
            return Ok(format!("SELECT {heads} FROM dual WHERE 0"));
        }
    }
    if words.take("GRANTS") {
        words.next = words.tokens.len();
        return Ok(grants(state));
    }
    Err(words.wrong())
}

fn grants(state: &State) -> String {
    let account = state.account();
    let rights = match account.right {
        crate::Right::Read => "SELECT",
        crate::Right::Control => "SELECT, INSERT, UPDATE, DELETE, DROP",
    };
    let name = format!("`{}`@`{}`", account.user, account.host);
    let grant = format!("GRANT {rights} ON `{}`.* TO {name}", catalog::PERFORMANCE_SCHEMA);
    // The heading has the account in it; whatever is in that.
    format!("SELECT {} AS `Grants for {}`", quote(&grant), account.to_string().replace('`', ""))
}

/// Columns of a table that exists.
fn columns_select(state: &State, schema: &str, table: &str, full: bool) -> Result<String, Error> {
    columns(state, schema, table)?;
    let (collation, rest) =
        if full { ("COLLATION_NAME AS Collation, ", ", PRIVILEGES AS Privileges, COLUMN_COMMENT AS Comment") } else { ("", "") };
    Ok(format!(
        "SELECT COLUMN_NAME AS Field, COLUMN_TYPE AS Type, {collation}IS_NULLABLE AS `Null`, COLUMN_KEY AS `Key`, COLUMN_DEFAULT AS `Default`, \
         EXTRA AS Extra{rest} FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {}",
        quote(schema),
        quote(table)
    ))
}

/// The columns, and whether it is a view.
fn columns(state: &State, schema: &str, table: &str) -> Result<(String, Vec<Column>, bool), Error> {
    if schema == catalog::TEST {
        let found = state.scratch().into_iter().find(|found| found.name.eq_ignore_ascii_case(table));
        let found = found.ok_or_else(|| Error::unknown_table(schema, table))?;
        return Ok((found.name, found.columns, false));
    }
    let (_, relation) = state.catalog.find(schema, table).ok_or_else(|| Error::unknown_table(schema, table))?;
    Ok((relation.name.clone(), relation.columns().to_vec(), relation.is_view()))
}

/// SHOW CREATE TABLE
fn create(state: &State, schema: &str, table: &str) -> Result<String, Error> {
    let (name, columns, is_view) = columns(state, schema, table)?;
    if is_view {
        let query = match state.catalog.find(schema, table).map(|(_, relation)| &relation.kind) {
            Some(catalog::Kind::View(query)) => query.to_string(),
            _ => String::new(),
        };
        let sql = format!("CREATE VIEW `{schema}`.`{name}` AS {query}");
        return Ok(format!(
            "SELECT {} AS View, {} AS `Create View`, '{CHARACTER_SET}' AS character_set_client, '{COLLATION}' AS collation_connection",
            quote(&name),
            quote(&sql)
        ));
    }
    let mut sql = format!("CREATE TABLE `{name}` (\n");
    for (index, column) in columns.iter().enumerate() {
        let null = if column.nullable { "DEFAULT NULL" } else { "NOT NULL" };
        let comma = if index + 1 < columns.len() { "," } else { "" };
        let _ = writeln!(sql, "  `{}` {} {null}{comma}", column.name, column.sql_type);
    }
    let engine = if schema == catalog::PERFORMANCE_SCHEMA { "PERFORMANCE_SCHEMA" } else { "MEMORY" };
    let _ = write!(sql, ") ENGINE={engine} DEFAULT CHARSET={CHARACTER_SET} COLLATE={COLLATION}");
    Ok(format!("SELECT {} AS `Table`, {} AS `Create Table`", quote(&name), quote(&sql)))
}

/// SHOW ENGINE PERFORMANCE_SCHEMA STATUS: every size, and the memory that they make together.
fn engine_status(state: &State) -> String {
    let mut rows = Vec::new();
    state.region().scan(&tables::GlobalVariables, |row| {
        if let (Some(name), Some(value)) = (row.variable_name.strip_prefix("performance_schema_"), row.variable_value) {
            rows.push((name.to_owned(), value.as_str().to_owned()));
        }
    });
    rows.push(("performance_schema.memory".to_owned(), state.region().size_bytes().to_string()));
    let row = |(name, status): &(String, String)| {
        format!("SELECT 'performance_schema' AS Type, {} AS Name, {} AS Status", quote(name), quote(status))
    };
    rows.iter().map(row).collect::<Vec<_>>().join(" UNION ALL ")
}

/// The words of a statement that the parser is not asked of.
pub(crate) struct Words<'a> {
    tokens: &'a [TokenWithSpan],
    next: usize,
    text: &'a str,
}

impl<'a> Words<'a> {
    pub(crate) fn of(tokens: &'a [TokenWithSpan], text: &'a str) -> Words<'a> {
        Words { tokens, next: 0, text }
    }

    pub(crate) fn is_next(&self, word: &str) -> bool {
        is_word(self.tokens, self.next, word)
    }

    pub(crate) fn take_comma(&mut self) -> bool {
        let found = self.token() == Some(&Token::Comma);
        self.next += usize::from(found);
        found
    }

    /// A name, or what is wrong.
    pub(crate) fn name(&mut self) -> Result<String, Error> {
        self.word().ok_or_else(|| self.wrong())
    }

    pub(crate) fn take(&mut self, word: &str) -> bool {
        let found = self.is_next(word);
        self.next += usize::from(found);
        found
    }

    fn token(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|token| &token.token)
    }

    /// A name.
    fn word(&mut self) -> Option<String> {
        let Some(Token::Word(word)) = self.token() else { return None };
        let word = word.value.clone();
        self.next += 1;
        Some(word)
    }

    fn string(&mut self) -> Option<String> {
        let (Some(Token::SingleQuotedString(text)) | Some(Token::DoubleQuotedString(text))) = self.token() else { return None };
        let text = text.clone();
        self.next += 1;
        Some(text)
    }

    pub(crate) fn wrong(&self) -> Error {
        parse::near_token(self.tokens, self.next, self.text)
    }

    pub(crate) fn end(&self) -> Result<(), Error> {
        if self.next >= self.tokens.len() { Ok(()) } else { Err(self.wrong()) }
    }

    fn known_schema(&mut self) -> Result<String, Error> {
        let name = self.name()?;
        catalog::schema(&name).map(str::to_owned).ok_or_else(|| Error::unknown_database(&name))
    }

    /// `[FROM schema]`, or the current one.
    fn schema(&mut self, state: &State) -> Result<String, Error> {
        if self.take("FROM") || self.take("IN") {
            return self.known_schema();
        }
        state.schema().map(str::to_owned).ok_or_else(Error::no_database)
    }

    /// `[schema.]table`
    pub(crate) fn table(&mut self, state: &State) -> Result<(String, String), Error> {
        let first = self.name()?;
        if self.token() == Some(&Token::Period) {
            self.next += 1;
            let schema = catalog::schema(&first).ok_or_else(|| Error::unknown_database(&first))?;
            return Ok((schema.to_owned(), self.name()?));
        }
        Ok((state.schema().ok_or_else(Error::no_database)?.to_owned(), first))
    }

    /// The SELECT with `LIKE 'pattern'` or `WHERE condition`, if one follows.
    fn filtered(&mut self, select: &str, heading: &str, column: &str, order: &str) -> Result<String, Error> {
        let condition = if select.contains(" WHERE ") { "AND" } else { "WHERE" };
        if self.take("LIKE") {
            let pattern = self.string().ok_or_else(|| self.wrong())?;
            self.end()?;
            return Ok(format!("{select} {condition} {column} LIKE {}{order}", quote(&pattern)));
        }
        if self.take("WHERE") {
            let rest = parse::rest(self.tokens, self.next, self.text);
            return Ok(format!("SELECT * FROM ({select}{order}) AS `show` WHERE {rest} ORDER BY `{heading}`"));
        }
        self.end()?;
        Ok(format!("{select}{order}"))
    }
}
