//! SHOW and DESCRIBE: each is a SELECT over `information_schema`, written here in MySQL's dialect.

use crate::catalog::{self, CHARACTER_SET, COLLATION, Column};
use crate::parse::{is_word, quote};
use crate::session::Warning;
use crate::state::State;
use crate::warnings::Warnings;
use crate::{Error, parse, routines};
use perfschema::core::table::SqlType;
use perfschema::render::{ColumnHead, Grid};
use perfschema::tables;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::fmt::Write;

/// SHOW WARNINGS, SHOW ERRORS and SHOW COUNT(*) of them; None: it is something else.
pub(crate) fn warnings(tokens: &[TokenWithSpan], text: &str, warnings: &Warnings) -> Result<Option<Grid>, Error> {
    let mut words = Words::of(tokens, text);
    if !words.take("SHOW") {
        return Ok(None);
    }
    let is_count = words.take("COUNT");
    if is_count {
        let star = [Token::LParen, Token::Mul, Token::RParen];
        if !star.iter().all(|token| words.take_token(token)) {
            return Err(words.wrong());
        }
    }
    let only_errors = words.take("ERRORS");
    if !only_errors && !words.take("WARNINGS") {
        return if is_count { Err(words.wrong()) } else { Ok(None) };
    }
    if is_count {
        words.end()?;
        let name = if only_errors { "@@session.error_count" } else { "@@session.warning_count" };
        let columns = vec![ColumnHead::new(name, SqlType::BigintUnsigned).not_null()];
        let count = if only_errors { warnings.errors() } else { warnings.count() };
        return Ok(Some(Grid { columns, rows: vec![vec![(count as u64).into()]] }));
    }
    let (mut skip, mut most) = (0, usize::MAX);
    if words.take("LIMIT") {
        most = words.number()?;
        if words.take_token(&Token::Comma) {
            skip = std::mem::replace(&mut most, words.number()?);
        } else if words.take("OFFSET") {
            skip = words.number()?;
        }
    }
    words.end()?;
    let chosen = warnings.kept().iter().filter(|warning| !only_errors || warning.level == "Error");
    let columns = vec![
        ColumnHead::new("Level", SqlType::Varchar(7)).not_null(),
        ColumnHead::new("Code", SqlType::IntUnsigned).not_null(),
        ColumnHead::new("Message", SqlType::Varchar(512)).not_null(),
    ];
    let row = |warning: &Warning| {
        vec![warning.level.into(), u64::from(warning.error.errno).into(), warning.error.message.as_str().into()]
    };
    Ok(Some(Grid { columns, rows: chosen.skip(skip).take(most).map(row).collect() }))
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
        return Ok(Some(columns_select(state, schema, &table, false)? + &column + ORDER));
    }
    if !words.take("SHOW") {
        return Ok(None);
    }
    show(state, &mut words).map(Some)
}

/// A SHOW of what a table of `information_schema` lists.
struct Listed {
    /// One word or two.
    words: (&'static str, &'static str),
    /// What is selected under MySQL's headings, and the table.
    select: &'static str,
    /// The column that LIKE is about.
    name: &'static str,
    /// The column with the schema, where FROM may say one.
    schema: Option<&'static str>,
}

const fn listed(
    words: (&'static str, &'static str),
    select: &'static str,
    name: &'static str,
    schema: Option<&'static str>,
) -> Listed {
    Listed { words, select, name, schema }
}

macro_rules! routines_of {
    ($kind:literal) => {
        concat!(
            "SELECT ROUTINE_SCHEMA AS Db, ROUTINE_NAME AS Name, ROUTINE_TYPE AS Type, DEFINER AS Definer, LAST_ALTERED AS Modified, \
             CREATED AS Created, SECURITY_TYPE AS Security_type, ROUTINE_COMMENT AS Comment, CHARACTER_SET_CLIENT AS \
             character_set_client, COLLATION_CONNECTION AS collation_connection, DATABASE_COLLATION AS `Database Collation` \
             FROM information_schema.ROUTINES WHERE ROUTINE_TYPE = '",
            $kind,
            "'"
        )
    };
}

const LISTED: &[Listed] = &[
    listed(
        ("TRIGGERS", ""),
        "SELECT TRIGGER_NAME AS `Trigger`, EVENT_MANIPULATION AS Event, EVENT_OBJECT_TABLE AS `Table`, ACTION_STATEMENT AS Statement, \
         ACTION_TIMING AS Timing, CREATED AS Created, SQL_MODE AS sql_mode, DEFINER AS Definer, CHARACTER_SET_CLIENT AS \
         character_set_client, COLLATION_CONNECTION AS collation_connection, DATABASE_COLLATION AS `Database Collation` FROM \
         information_schema.TRIGGERS",
        "EVENT_OBJECT_TABLE",
        Some("TRIGGER_SCHEMA"),
    ),
    listed(
        ("EVENTS", ""),
        "SELECT EVENT_SCHEMA AS Db, EVENT_NAME AS Name, DEFINER AS Definer, TIME_ZONE AS `Time zone`, EVENT_TYPE AS Type, EXECUTE_AT AS \
         `Execute at`, INTERVAL_VALUE AS `Interval value`, INTERVAL_FIELD AS `Interval field`, STARTS AS Starts, ENDS AS Ends, STATUS AS \
         Status, ORIGINATOR AS Originator, CHARACTER_SET_CLIENT AS character_set_client, COLLATION_CONNECTION AS collation_connection, \
         DATABASE_COLLATION AS `Database Collation` FROM information_schema.EVENTS",
        "EVENT_NAME",
        Some("EVENT_SCHEMA"),
    ),
    listed(("PROCEDURE", "STATUS"), routines_of!("PROCEDURE"), "ROUTINE_NAME", None),
    listed(("FUNCTION", "STATUS"), routines_of!("FUNCTION"), "ROUTINE_NAME", None),
    listed(
        ("CHARACTER", "SET"),
        "SELECT CHARACTER_SET_NAME AS Charset, DESCRIPTION AS Description, DEFAULT_COLLATE_NAME AS `Default collation`, MAXLEN AS Maxlen \
         FROM information_schema.CHARACTER_SETS",
        "CHARACTER_SET_NAME",
        None,
    ),
    listed(
        ("COLLATION", ""),
        "SELECT COLLATION_NAME AS Collation, CHARACTER_SET_NAME AS Charset, ID AS Id, IS_DEFAULT AS `Default`, IS_COMPILED AS Compiled, \
         SORTLEN AS Sortlen, PAD_ATTRIBUTE AS Pad_attribute FROM information_schema.COLLATIONS",
        "COLLATION_NAME",
        None,
    ),
    listed(
        ("ENGINES", ""),
        "SELECT ENGINE AS Engine, SUPPORT AS Support, COMMENT AS Comment, TRANSACTIONS AS Transactions, XA, SAVEPOINTS AS Savepoints FROM \
         information_schema.ENGINES",
        "ENGINE",
        None,
    ),
    listed(
        ("PLUGINS", ""),
        "SELECT PLUGIN_NAME AS Name, PLUGIN_STATUS AS Status, PLUGIN_TYPE AS Type, PLUGIN_LIBRARY AS Library, PLUGIN_LICENSE AS License \
         FROM information_schema.PLUGINS",
        "PLUGIN_NAME",
        None,
    ),
    listed(
        ("OPEN", "TABLES"),
        "SELECT TABLE_SCHEMA AS `Database`, TABLE_NAME AS `Table`, 0 AS In_use, 0 AS Name_locked FROM information_schema.TABLES WHERE 0",
        "TABLE_NAME",
        Some("TABLE_SCHEMA"),
    ),
    listed(("PROFILES", ""), "SELECT 0 AS Query_ID, 0.0 AS Duration, '' AS Query FROM dual WHERE 0", "Query", None),
];

/// SHOW of what a program has none of: one word or two, and MySQL's headings.
const EMPTY: &[(&str, &str, &str)] = &[
    ("BINLOG", "EVENTS", "Log_name Pos Event_type Server_id End_log_pos Info"),
    ("RELAYLOG", "EVENTS", "Log_name Pos Event_type Server_id End_log_pos Info"),
    ("MASTER", "STATUS", "File Position Binlog_Do_DB Binlog_Ignore_DB Executed_Gtid_Set"),
    ("REPLICAS", "", "Server_Id Host Port Source_Id Replica_UUID"),
    ("SLAVE", "HOSTS", "Server_id Host Port Master_id Slave_UUID"),
    (
        "REPLICA",
        "STATUS",
        "Replica_IO_State Source_Host Source_User Source_Port Connect_Retry Source_Log_File Read_Source_Log_Pos Relay_Log_File \
         Relay_Log_Pos Relay_Source_Log_File Replica_IO_Running Replica_SQL_Running Replicate_Do_DB Replicate_Ignore_DB \
         Replicate_Do_Table Replicate_Ignore_Table Replicate_Wild_Do_Table Replicate_Wild_Ignore_Table Last_Errno Last_Error \
         Skip_Counter Exec_Source_Log_Pos Relay_Log_Space Until_Condition Until_Log_File Until_Log_Pos Source_SSL_Allowed \
         Source_SSL_CA_File Source_SSL_CA_Path Source_SSL_Cert Source_SSL_Cipher Source_SSL_Key Seconds_Behind_Source \
         Source_SSL_Verify_Server_Cert Last_IO_Errno Last_IO_Error Last_SQL_Errno Last_SQL_Error Replicate_Ignore_Server_Ids \
         Source_Server_Id Source_UUID Source_Info_File SQL_Delay SQL_Remaining_Delay Replica_SQL_Running_State Source_Retry_Count \
         Source_Bind Last_IO_Error_Timestamp Last_SQL_Error_Timestamp Source_SSL_Crl Source_SSL_Crlpath Retrieved_Gtid_Set \
         Executed_Gtid_Set Auto_Position Replicate_Rewrite_DB Channel_Name Source_TLS_Version Source_public_key_path \
         Get_Source_public_key Network_Namespace",
    ),
];

const ORDER: &str = " ORDER BY ORDINAL_POSITION";

fn show(state: &State, words: &mut Words<'_>) -> Result<String, Error> {
    let _ = words.take("EXTENDED");
    let full = words.take("FULL");
    let global = words.take("GLOBAL");
    let scoped = global || words.take("SESSION") || words.take("LOCAL");
    if words.take("DATABASES") || words.take("SCHEMAS") {
        return words.filtered("SELECT SCHEMA_NAME AS `Database` FROM information_schema.SCHEMATA", "SCHEMA_NAME", "");
    }
    if words.take("TABLES") {
        let schema = words.schema(state)?;
        let heading = format!("Tables_in_{schema}");
        let kind = if full { ", TABLE_TYPE AS Table_type" } else { "" };
        let select = format!(
            "SELECT TABLE_NAME AS `{heading}`{kind} FROM information_schema.TABLES WHERE TABLE_SCHEMA = {}",
            quote(schema)
        );
        return words.filtered(&select, "TABLE_NAME", " ORDER BY TABLE_NAME");
    }
    if words.take("TABLE") && words.take("STATUS") {
        let schema = words.schema(state)?;
        let select = format!(
            "SELECT TABLE_NAME AS Name, ENGINE AS Engine, VERSION AS Version, ROW_FORMAT AS `Row_format`, TABLE_ROWS AS `Rows`, \
             AVG_ROW_LENGTH AS Avg_row_length, DATA_LENGTH AS Data_length, MAX_DATA_LENGTH AS Max_data_length, INDEX_LENGTH AS \
             Index_length, DATA_FREE AS Data_free, AUTO_INCREMENT AS Auto_increment, CREATE_TIME AS Create_time, UPDATE_TIME AS \
             Update_time, CHECK_TIME AS Check_time, TABLE_COLLATION AS Collation, CHECKSUM AS Checksum, CREATE_OPTIONS AS \
             Create_options, TABLE_COMMENT AS Comment FROM information_schema.TABLES WHERE TABLE_SCHEMA = {}",
            quote(schema)
        );
        return words.filtered(&select, "TABLE_NAME", " ORDER BY TABLE_NAME");
    }
    if words.take("COLUMNS") || words.take("FIELDS") {
        let (schema, table) = words.table_from(state)?;
        let select = columns_select(state, schema, &table, full)?;
        return words.filtered(&select, "COLUMN_NAME", ORDER);
    }
    if words.take("INDEX") || words.take("INDEXES") || words.take("KEYS") {
        let (schema, table) = words.table_from(state)?;
        columns(state, schema, &table)?;
        let select = format!(
            "SELECT TABLE_NAME AS `Table`, NON_UNIQUE AS Non_unique, INDEX_NAME AS Key_name, SEQ_IN_INDEX AS Seq_in_index, COLUMN_NAME AS \
             Column_name, COLLATION AS Collation, CARDINALITY AS Cardinality, SUB_PART AS Sub_part, PACKED AS Packed, NULLABLE AS `Null`, \
             INDEX_TYPE AS Index_type, COMMENT AS Comment, INDEX_COMMENT AS Index_comment, IS_VISIBLE AS Visible, EXPRESSION AS \
             Expression FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {}",
            quote(schema),
            quote(&table)
        );
        return words.filtered(&select, "INDEX_NAME", "");
    }
    if words.take("CREATE") {
        if words.take("DATABASE") || words.take("SCHEMA") {
            let _ = words.take("IF") && words.take("NOT") && words.take("EXISTS");
            let schema = catalog::known_schema(&words.name()?)?;
            words.end()?;
            let sql = format!(
                "CREATE DATABASE `{schema}` /*!40100 DEFAULT CHARACTER SET {CHARACTER_SET} COLLATE {COLLATION} */ /*!80016 DEFAULT \
                 ENCRYPTION='N' */"
            );
            return Ok(format!("SELECT {} AS `Database`, {} AS `Create Database`", quote(schema), quote(&sql)));
        }
        for kind in ["PROCEDURE", "FUNCTION"] {
            if words.take(kind) {
                let (schema, name) = words.table(state)?;
                words.end()?;
                return routines::create(state, kind, schema, &name);
            }
        }
        let view = words.take("VIEW");
        if !view && !words.take("TABLE") {
            return Err(words.wrong());
        }
        let (schema, table) = words.table(state)?;
        words.end()?;
        return create(state, schema, &table);
    }
    for what in ["STATUS", "VARIABLES"] {
        if words.take(what) {
            let scope = if global { "GLOBAL" } else { "SESSION" };
            let select = "SELECT VARIABLE_NAME AS Variable_name, VARIABLE_VALUE AS Value FROM information_schema";
            return words.filtered(&format!("{select}.{scope}_{what}"), "VARIABLE_NAME", "");
        }
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
        let engine = words.name()?;
        let is_disabled = engine.eq_ignore_ascii_case("InnoDB");
        if !is_disabled && !engine.eq_ignore_ascii_case("PERFORMANCE_SCHEMA") {
            return Err(Error::new(1286, "42000", format!("Unknown storage engine '{engine}'")));
        }
        if !(words.take("STATUS") || is_disabled && words.take("MUTEX")) {
            return Err(words.wrong());
        }
        words.end()?;
        return Ok(if is_disabled { DISABLED_STATUS.to_owned() } else { engine_status(state) });
    }
    if let Some(select) = empty(words)? {
        return Ok(select);
    }
    if (words.take("BINARY") || words.take("MASTER")) && words.take("LOGS") {
        return Err(Error::new(1381, "HY000", "You are not using binary logging"));
    }
    let _ = words.take("STORAGE");
    let is_short = words.take("CHARSET");
    for listed in LISTED {
        if is_short && listed.words.0 == "CHARACTER" {
            return words.listed(state, listed);
        }
        if words.take(listed.words.0) {
            if !listed.words.1.is_empty() && !words.take(listed.words.1) {
                return Err(words.wrong());
            }
            return words.listed(state, listed);
        }
    }
    if words.take("PROFILE") {
        // Of what kind, of which query: there is none of any.
        words.next = words.tokens.len();
        return Ok("SELECT STATE AS Status, DURATION AS Duration FROM information_schema.PROFILING".to_owned());
    }
    if words.take("GRANTS") {
        words.next = words.tokens.len();
        return Ok(grants(state));
    }
    Err(words.wrong())
}

/// What there is none of. The old names of REPLICA STATUS and its columns say slave and master.
fn empty(words: &mut Words<'_>) -> Result<Option<String>, Error> {
    for (first, second, headings) in EMPTY {
        let is_old = *first == "REPLICA" && words.is_followed("SLAVE", second);
        if !is_old && !words.is_followed(first, second) {
            continue;
        }
        words.next += if second.is_empty() { 1 } else { 2 };
        if *second == "EVENTS" {
            words.part_of_log()?;
        }
        if words.take("FOR") && !(words.take("CHANNEL") && words.string().is_some()) {
            return Err(words.wrong());
        }
        words.end()?;
        let headings = if is_old {
            headings.replace("Replica_", "Slave_").replace("Get_Source", "Get_master").replace("Source", "Master")
        } else {
            (*headings).to_owned()
        };
        let columns: Vec<String> = headings.split(' ').map(|heading| format!("NULL AS `{heading}`")).collect();
        return Ok(Some(format!("SELECT {} FROM dual WHERE 0", columns.join(", "))));
    }
    Ok(None)
}

fn grants(state: &State) -> String {
    let account = &state.account;
    let rights = match account.right {
        crate::Right::Read => "SELECT",
        crate::Right::Control => "SELECT, INSERT, UPDATE, DELETE, DROP",
    };
    let name = format!("`{}`@`{}`", account.user, account.host);
    let global = quote(&format!("GRANT {} ON *.* TO {name}", account.right.global_privileges().join(", ")));
    let grant = quote(&format!("GRANT {rights} ON `{}`.* TO {name}", catalog::PERFORMANCE_SCHEMA));
    // The heading has the account in it; whatever is in that.
    format!("SELECT {global} AS `Grants for {}` UNION ALL SELECT {grant}", account.to_string().replace('`', ""))
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
        let found = state.scratch_table(table).ok_or_else(|| Error::unknown_table(schema, table))?;
        return Ok((found.name, found.columns, false));
    }
    let (_, relation) = state.relation(schema, table, "SELECT")?;
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
    let definition = |column: &Column| {
        let null = match (column.nullable, column.default) {
            (true, None) => "DEFAULT NULL".to_owned(),
            (false, None) => "NOT NULL".to_owned(),
            (true, Some(default)) => format!("DEFAULT {}", quote(default)),
            (false, Some(default)) => format!("NOT NULL DEFAULT {}", quote(default)),
        };
        let comment = if column.doc.is_empty() { String::new() } else { format!(" COMMENT {}", quote(column.doc)) };
        let collation = if column.is_binary {
            format!(" CHARACTER SET {CHARACTER_SET} COLLATE {}", column.collation())
        } else {
            String::new()
        };
        format!("  `{}` {}{collation} {null}{comment}", column.name, column.sql_type)
    };
    let mut definitions: Vec<String> = columns.iter().map(definition).collect();
    let (key, doc) =
        state.catalog.find(schema, table).map_or((&[][..], ""), |(_, relation)| (relation.primary_key, relation.doc));
    if !key.is_empty() {
        definitions.push(format!("  PRIMARY KEY (`{}`)", key.join("`,`")));
    }
    let mut sql = format!("CREATE TABLE `{name}` (\n{}\n", definitions.join(",\n"));
    let engine = if schema == catalog::PERFORMANCE_SCHEMA { "PERFORMANCE_SCHEMA" } else { "MEMORY" };
    let _ = write!(sql, ") ENGINE={engine} DEFAULT CHARSET={CHARACTER_SET} COLLATE={COLLATION}");
    if !doc.is_empty() {
        let _ = write!(sql, " COMMENT={}", quote(doc));
    }
    Ok(format!("SELECT {} AS `Table`, {} AS `Create Table`", quote(&name), quote(&sql)))
}

/// SHOW ENGINE of one that MySQL knows, and that is not there: what it says of one that is switched off.
const DISABLED_STATUS: &str = "SELECT 'InnoDB' AS Type, '' AS Name, 'DISABLED' AS Status";

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

    /// Whether these two words are next, or the one, if the second is empty.
    fn is_followed(&self, first: &str, second: &str) -> bool {
        self.is_next(first) && (second.is_empty() || is_word(self.tokens, self.next + 1, second))
    }

    pub(crate) fn take_token(&mut self, expected: &Token) -> bool {
        let found = self.token() == Some(expected);
        self.next += usize::from(found);
        found
    }

    /// Where in a log: `IN 'name' FROM 4 LIMIT 0, 25`.
    fn part_of_log(&mut self) -> Result<(), Error> {
        if self.take("IN") && self.string().is_none() {
            return Err(self.wrong());
        }
        if self.take("FROM") {
            self.number()?;
        }
        if self.take("LIMIT") {
            self.number()?;
            if self.take_token(&Token::Comma) {
                self.number()?;
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<usize, Error> {
        let Some(Token::Number(digits, _)) = self.token() else { return Err(self.wrong()) };
        // More than there can be.
        let number = digits.parse().unwrap_or(usize::MAX);
        self.next += 1;
        Ok(number)
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

    /// Leaves out whatever is next; None at the end.
    pub(crate) fn skip(&mut self) -> Option<()> {
        self.token()?;
        self.next += 1;
        Some(())
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

    pub(crate) fn string(&mut self) -> Option<String> {
        let (Some(Token::SingleQuotedString(text)) | Some(Token::DoubleQuotedString(text))) = self.token() else { return None };
        let text = text.clone();
        self.next += 1;
        Some(text)
    }

    /// `@name`, without the `@`.
    pub(crate) fn user_variable(&mut self) -> Result<String, Error> {
        let name = match self.token() {
            Some(Token::Word(word)) => word.value.strip_prefix('@').filter(|name| !name.starts_with('@')).map(str::to_owned),
            _ => None,
        };
        let name = name.ok_or_else(|| self.wrong())?;
        self.next += 1;
        Ok(name)
    }

    pub(crate) fn wrong(&self) -> Error {
        parse::near_token(self.tokens, self.next, self.text)
    }

    pub(crate) fn end(&self) -> Result<(), Error> {
        if self.next >= self.tokens.len() { Ok(()) } else { Err(self.wrong()) }
    }

    /// `[FROM schema]`, or the current one.
    fn schema(&mut self, state: &State) -> Result<&'static str, Error> {
        let name = if self.take("FROM") || self.take("IN") { Some(self.name()?) } else { None };
        state.schema_or_current(name.as_deref())
    }

    /// `[schema.]table`
    pub(crate) fn table(&mut self, state: &State) -> Result<(&'static str, String), Error> {
        let (schema, table) = self.qualified()?;
        Ok((schema.map_or_else(|| state.schema_or_current(None), Ok)?, table))
    }

    /// `FROM [schema.]table [FROM schema]`: the last one that is said, or else the current one.
    fn table_from(&mut self, state: &State) -> Result<(&'static str, String), Error> {
        if !(self.take("FROM") || self.take("IN")) {
            return Err(self.wrong());
        }
        let (schema, table) = self.qualified()?;
        let schema = if self.is_next("FROM") || self.is_next("IN") { Some(self.schema(state)?) } else { schema };
        Ok((schema.map_or_else(|| state.schema_or_current(None), Ok)?, table))
    }

    fn qualified(&mut self) -> Result<(Option<&'static str>, String), Error> {
        let first = self.name()?;
        if !self.take_token(&Token::Period) {
            return Ok((None, first));
        }
        Ok((Some(catalog::known_schema(&first)?), self.name()?))
    }

    fn listed(&mut self, state: &State, listed: &Listed) -> Result<String, Error> {
        let mut select = listed.select.to_owned();
        if let Some(column) = listed.schema {
            let schema = if self.is_next("FROM") || self.is_next("IN") { Some(self.schema(state)?) } else { None };
            let condition = if select.contains(" WHERE ") { "AND" } else { "WHERE" };
            let _ = schema.map(|schema| write!(select, " {condition} {column} = {}", quote(schema)));
        }
        self.filtered(&select, listed.name, "")
    }

    /// The SELECT with `LIKE 'pattern'` or `WHERE condition`, if one follows.
    fn filtered(&mut self, select: &str, column: &str, order: &str) -> Result<String, Error> {
        let condition = if select.contains(" WHERE ") { "AND" } else { "WHERE" };
        if self.take("LIKE") {
            let pattern = self.string().ok_or_else(|| self.wrong())?;
            self.end()?;
            return Ok(format!("{select} {condition} {column} LIKE {}{order}", quote(&pattern)));
        }
        if self.take("WHERE") {
            let rest = parse::rest(self.tokens, self.next, self.text);
            // SQLite keeps the order of rows that it takes from a query, and what is sorted by need not be among the headings.
            return Ok(format!("SELECT * FROM ({select}{order}) AS `show` WHERE {rest}"));
        }
        self.end()?;
        Ok(format!("{select}{order}"))
    }
}
