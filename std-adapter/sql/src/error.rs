//! What a statement is refused with: MySQL's number, SQLSTATE and text.

use crate::catalog;
use crate::parse::PARSER_MEMORY;
use perfschema::core::table::{SqlType, TableError};
use std::fmt;

/// A refusal, as MySQL words it.
///
/// ```
/// # use perfschema_sql::{Account, Database};
/// # let process = perfschema::start()?;
/// let mut session = Database::new(process).session(Account::default())?;
/// let error = session.execute("SELECT * FROM performance_schema.nothing").unwrap_err();
/// assert_eq!(error.to_string(), "ERROR 1146 (42S02): Table 'performance_schema.nothing' doesn't exist");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// MySQL's number.
    pub errno: u16,
    /// The five characters that standard SQL gives this class of errors.
    pub sqlstate: &'static str,
    /// The text.
    pub message: String,
}

impl Error {
    /// What is compared with moments of this type, and is none.
    pub(crate) fn wrong_moment(sql_type: Option<SqlType>, text: &str) -> Error {
        let name = sql_type.map_or_else(String::new, |sql_type| sql_type.to_string().to_uppercase());
        let name = name.split('(').next().unwrap_or_default();
        Error::new(1525, "HY000", format!("Incorrect {name} value: '{text}'"))
    }

    pub(crate) fn new(errno: u16, sqlstate: &'static str, message: impl Into<String>) -> Error {
        Error { errno, sqlstate, message: message.into() }
    }

    /// `near`: the statement from where it is wrong.
    pub(crate) fn syntax(near: &str, line: u64) -> Error {
        let near: String = near.chars().take(80).collect();
        let message = format!(
            "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right \
             syntax to use near '{near}' at line {line}"
        );
        Error::new(1064, "42000", message)
    }

    pub(crate) fn empty() -> Error {
        Error::new(1065, "42000", "Query was empty")
    }

    pub(crate) fn unsupported(what: &str) -> Error {
        Error::new(1235, "42000", format!("This version of MySQL doesn't yet support '{what}'"))
    }

    pub(crate) fn no_database() -> Error {
        Error::new(1046, "3D000", "No database selected")
    }

    pub(crate) fn unknown_database(name: &str) -> Error {
        Error::new(1049, "42000", format!("Unknown database '{name}'"))
    }

    pub(crate) fn unknown_table(schema: &str, table: &str) -> Error {
        if schema == catalog::INFORMATION_SCHEMA {
            return Error::new(1109, "42S02", format!("Unknown table '{table}' in {schema}"));
        }
        Error::new(1146, "42S02", format!("Table '{schema}.{table}' doesn't exist"))
    }

    pub(crate) fn unknown_in_drop(schema: &str, table: &str) -> Error {
        Error::new(1051, "42S02", format!("Unknown table '{schema}.{table}'"))
    }

    pub(crate) fn ambiguous_column(column: &str, clause: &str) -> Error {
        Error::new(1052, "23000", format!("Column '{column}' in {clause} is ambiguous"))
    }

    pub(crate) fn unknown_column(column: &str, clause: &str) -> Error {
        Error::new(1054, "42S22", format!("Unknown column '{column}' in '{clause}'"))
    }

    pub(crate) fn no_default(column: &str) -> Error {
        Error::new(1364, "HY000", format!("Field '{column}' doesn't have a default value"))
    }

    pub(crate) fn unknown_function(schema: &str, name: &str) -> Error {
        Error::new(1305, "42000", format!("FUNCTION {schema}.{name} does not exist"))
    }

    pub(crate) fn parameter_count(name: &str) -> Error {
        Error::new(1582, "42000", format!("Incorrect parameter count in the call to native function '{name}'"))
    }

    pub(crate) fn unknown_variable(name: &str) -> Error {
        Error::new(1193, "HY000", format!("Unknown system variable '{name}'"))
    }

    pub(crate) fn column_count(wanted: usize) -> Error {
        Error::new(1241, "21000", format!("Operand should contain {wanted} column(s)"))
    }

    pub(crate) fn wrong_list() -> Error {
        let message = "In definition of view, derived table or common table expression, SELECT list and column names list have different \
                       column counts";
        Error::new(1353, "HY000", message)
    }

    pub(crate) fn unknown_collation(name: &str) -> Error {
        Error::new(1273, "HY000", format!("Unknown collation: '{name}'"))
    }

    pub(crate) fn not_unique_alias(name: &str) -> Error {
        Error::new(1066, "42000", format!("Not unique table/alias: '{name}'"))
    }

    pub(crate) fn several_rows() -> Error {
        Error::new(1242, "21000", "Subquery returns more than 1 row")
    }

    pub(crate) fn full() -> Error {
        Error::new(1114, "HY000", "The table is full")
    }

    pub(crate) fn wrong_group() -> Error {
        Error::new(1111, "HY000", "Invalid use of group function")
    }

    /// The quote at the end is MySQL's.
    pub(crate) fn wrong_window(function: &str) -> Error {
        let function = function.to_ascii_lowercase();
        Error::new(3593, "HY000", format!("You cannot use the window function '{function}' in this context.'"))
    }

    pub(crate) fn out_of_range(what: &str) -> Error {
        Error::new(1690, "22003", format!("{what} value is out of range"))
    }

    pub(crate) fn wrong_usage() -> Error {
        TableError::WrongUsage.into()
    }

    pub(crate) fn read_only() -> Error {
        let message = "The MySQL server is running with the --read-only option so it cannot execute this statement";
        Error::new(1290, "HY000", message)
    }

    pub(crate) fn cancelled() -> Error {
        Error::new(1317, "70100", "Query execution was interrupted")
    }

    pub(crate) fn too_slow() -> Error {
        Error::new(3024, "HY000", "Query execution was interrupted, maximum statement execution time exceeded")
    }

    pub(crate) fn out_of_memory() -> Error {
        Error::new(1041, "HY000", "Out of memory; the statement needs more than a session may take")
    }

    pub(crate) fn all_out_of_memory() -> Error {
        Error::new(1041, "HY000", "Out of memory; what all sessions may take together is taken")
    }

    pub(crate) fn too_long() -> Error {
        Error::new(1153, "08S01", "Got a packet bigger than 'max_allowed_packet' bytes")
    }

    pub(crate) fn too_many_tokens() -> Error {
        let capacity = format!("Memory capacity of {PARSER_MEMORY} bytes for 'parser_max_mem_size' exceeded.");
        Error::new(3170, "HY000", format!("{capacity} Parser bailed out for this query."))
    }

    pub(crate) fn too_many_values() -> Error {
        Error::new(1390, "HY000", "Prepared statement contains too many placeholders")
    }

    pub(crate) fn too_complex() -> Error {
        Error::new(1436, "HY000", "Thread stack overrun: the statement is nested too deeply")
    }
}

impl fmt::Display for Error {
    /// As the `mysql` client prints it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.errno, self.sqlstate, self.message)
    }
}

impl std::error::Error for Error {}

impl From<TableError> for Error {
    fn from(error: TableError) -> Error {
        Error::new(error.errno(), error.sqlstate(), error.to_string())
    }
}

/// SQLite's refusals in MySQL's words. What the dialect lets through and SQLite refuses is one of these.
impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Error {
        use rusqlite::ErrorCode;
        let (code, text) = match &error {
            rusqlite::Error::SqliteFailure(code, text) => (Some(code.code), text.clone().unwrap_or_default()),
            rusqlite::Error::SqlInputError { error, msg, .. } => (Some(error.code), msg.clone()),
            other => (None, other.to_string()),
        };
        match code {
            Some(ErrorCode::OutOfMemory) => return Error::out_of_memory(),
            Some(ErrorCode::TooBig) => return Error::too_long(),
            Some(ErrorCode::OperationInterrupted) => return Error::cancelled(),
            Some(ErrorCode::DiskFull) => return Error::full(),
            _ => {}
        }
        let after = |prefix: &str| text.strip_prefix(prefix).map(|rest| rest.trim_matches('"').to_owned());
        if let Some(column) = after("no such column: ") {
            return Error::unknown_column(&column, "field list");
        }
        // Of `x.*`: what else names a table was looked at before.
        if let Some(table) = after("no such table: ") {
            return Error::new(1051, "42S02", format!("Unknown table '{table}'"));
        }
        if text.contains("not allowed in the GROUP BY clause") {
            return Error::wrong_group();
        }
        if let Some(column) = after("ambiguous column name: ") {
            return Error::ambiguous_column(&column, "field list");
        }
        if let Some(function) = text.strip_prefix("wrong number of arguments to function ") {
            return Error::parameter_count(function.trim_end_matches("()").trim_start_matches(crate::functions::PREFIX));
        }
        if text.contains("misuse of") && (text.contains("aggregate") || text.contains("window")) {
            return Error::wrong_group();
        }
        if let Some(error) = of_window(&text) {
            return error;
        }
        // Of a number, where `*` stands for columns: otherwise it was looked at before.
        if let Some(clause) = [("ORDER", "order clause"), ("GROUP", "group statement")]
            .into_iter()
            .find_map(|(by, clause)| text.contains(&format!("{by} BY term")).then_some(clause))
        {
            return Error::new(1054, "42S22", format!("Unknown column in '{clause}'"));
        }
        if text.contains("do not have the same number of result columns") {
            return Error::new(1222, "21000", "The used SELECT statements have a different number of columns");
        }
        if text.contains("columns - expected") || text.contains("row value misused") {
            return Error::column_count(1);
        }
        if text.contains("no tables specified") {
            return Error::new(1096, "HY000", "No tables used");
        }
        if let Some(column) = text.strip_prefix("cannot join using column ").and_then(|rest| rest.split(" - ").next()) {
            return Error::unknown_column(column, "from clause");
        }
        if text.contains("tables in a join") {
            return Error::new(1116, "HY000", "Too many tables; MySQL can only use 61 tables in a join");
        }
        if let Some((_, columns)) = text.strip_prefix("table ").and_then(|table| table.split_once(" values for ")) {
            let columns = columns.trim_end_matches(" columns").parse();
            return match columns {
                Ok(columns) if text.starts_with(&format!("table {} ", crate::expand::WITHIN)) => Error::column_count(columns),
                _ => Error::wrong_list(),
            };
        }
        if let Some(name) = after("duplicate WITH table name: ") {
            return Error::not_unique_alias(&name);
        }
        if text.contains("values were supplied")
            || text.contains("has no column named")
            || text.contains("values for")
            || text.contains("the same number of terms")
        {
            return Error::new(1136, "21S01", "Column count doesn't match value count at row 1");
        }
        if text.contains("too large")
            || text.contains("too many")
            || text.contains("parser stack overflow")
            || text.contains("Recursion limit")
        {
            return Error::too_complex();
        }
        if text.contains("datatype mismatch") {
            return Error::new(1210, "HY000", "Incorrect arguments to LIMIT");
        }
        if text == "incomplete input" {
            return Error::syntax("", 1);
        }
        if let Some(near) = text.strip_prefix("near \"").and_then(|rest| rest.split('"').next()) {
            return Error::syntax(near, 1);
        }
        Error::new(1105, "HY000", text)
    }
}

/// What SQLite says of windows.
fn of_window(text: &str) -> Option<Error> {
    const UNNAMED: &str = "<unnamed window>";
    let refused = |errno, message: String| Some(Error::new(errno, "HY000", message));
    if let Some(name) = text.strip_prefix("no such window: ") {
        return refused(3579, format!("Window name '{}' is not defined.", name.trim_matches('`')));
    }
    if text == "DISTINCT is not supported for window functions" {
        return Some(Error::unsupported("<window function>(DISTINCT ..)"));
    }
    if text.ends_with("requires one ORDER BY expression") {
        let what = "RANGE N PRECEDING/FOLLOWING frame requires exactly one ORDER BY expression, of numeric or temporal type";
        return refused(3587, format!("Window '{UNNAMED}' with {what}"));
    }
    if text.starts_with("frame ") || text == "unsupported frame specification" {
        return refused(3586, format!("Window '{UNNAMED}': frame start or end is negative, NULL or of non-integral type"));
    }
    if let Some((what, name)) = text.strip_prefix("cannot override ").and_then(|rest| rest.split_once(" of window: ")) {
        let name = name.trim_matches('`');
        return match what {
            "PARTITION clause" => refused(3581, "A window which depends on another cannot define partitioning.".to_owned()),
            "ORDER BY clause" => {
                refused(3583, format!("Window '{UNNAMED}' cannot inherit '{name}' since both contain an ORDER BY clause."))
            }
            _ => refused(3582, format!("Window '{name}' has a frame definition, so cannot be referenced by another window.")),
        };
    }
    let wrong_argument = ["ntile", "nth_value"]
        .into_iter()
        .find(|name| text.ends_with("must be a positive integer") && text.contains(&format!(" {name} ")));
    wrong_argument.map(|name| Error::new(1210, "HY000", format!("Incorrect arguments to {name}")))
}
