//! What a table refuses, with MySQL's number, SQLSTATE and text.

use crate::region::Text;
use core::fmt;

/// A refusal. [`errno`](Self::errno), [`sqlstate`](Self::sqlstate) and the text are those of shipped MySQL.
///
/// ```
/// use perfschema_core::table::TableError;
/// let error = TableError::NotNull { column: "ENABLED" };
/// assert_eq!((error.errno(), error.sqlstate()), (1048, "23000"));
/// assert_eq!(error.to_string(), "Column 'ENABLED' cannot be null");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableError {
    /// A table that does not exist.
    UnknownTable {
        /// Its name, as far as it fits.
        table: Text<64>,
    },
    /// A column that does not exist.
    UnknownColumn {
        /// Its name, as far as it fits.
        column: Text<64>,
    },
    /// A value that is not one of an enum's.
    Truncated {
        /// The column.
        column: &'static str,
    },
    /// NULL for a column that cannot be NULL.
    NotNull {
        /// The column.
        column: &'static str,
    },
    /// An update of a column that is not updatable, TRUNCATE of a table that does not have it.
    WrongUsage,
    /// A command that the table never allows.
    CommandDenied {
        /// `INSERT`, `UPDATE` or `DELETE`.
        command: &'static str,
        /// The table.
        table: &'static str,
    },
    /// No room for another row.
    TableFull {
        /// The table.
        table: &'static str,
    },
    /// A row with this key exists.
    DuplicateKey {
        /// The table.
        table: &'static str,
    },
    /// A number that the column cannot hold.
    OutOfRange {
        /// The column.
        column: &'static str,
    },
    /// A text for a column of numbers.
    NotANumber {
        /// The column.
        column: &'static str,
        /// The text, as far as it fits.
        value: Text<64>,
    },
    /// A text longer than the column.
    DataTooLong {
        /// The column.
        column: &'static str,
    },
}

impl TableError {
    /// MySQL's error number.
    pub fn errno(&self) -> u16 {
        match self {
            TableError::UnknownTable { .. } => 1146,
            TableError::UnknownColumn { .. } => 1054,
            TableError::Truncated { .. } => 1265,
            TableError::NotNull { .. } => 1048,
            TableError::WrongUsage => 1683,
            TableError::CommandDenied { .. } => 1142,
            TableError::TableFull { .. } => 1114,
            TableError::DuplicateKey { .. } => 1022,
            TableError::OutOfRange { .. } => 1264,
            TableError::NotANumber { .. } => 1366,
            TableError::DataTooLong { .. } => 1406,
        }
    }

    /// The five characters that standard SQL gives this class of errors.
    pub fn sqlstate(&self) -> &'static str {
        match self {
            TableError::UnknownTable { .. } => "42S02",
            TableError::UnknownColumn { .. } => "42S22",
            TableError::Truncated { .. } => "01000",
            TableError::NotNull { .. } | TableError::DuplicateKey { .. } => "23000",
            TableError::WrongUsage | TableError::TableFull { .. } | TableError::NotANumber { .. } => "HY000",
            TableError::OutOfRange { .. } => "22003",
            TableError::CommandDenied { .. } => "42000",
            TableError::DataTooLong { .. } => "22001",
        }
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::UnknownTable { table } => write!(f, "Table 'performance_schema.{table}' doesn't exist"),
            TableError::UnknownColumn { column } => write!(f, "Unknown column '{column}' in 'field list'"),
            TableError::Truncated { column } => write!(f, "Data truncated for column '{column}' at row 1"),
            TableError::NotNull { column } => write!(f, "Column '{column}' cannot be null"),
            TableError::WrongUsage => f.write_str("Invalid performance_schema usage."),
            TableError::CommandDenied { command, table } => {
                write!(f, "{command} command denied to user 'root'@'localhost' for table '{table}'")
            }
            TableError::TableFull { table } => write!(f, "The table '{table}' is full"),
            TableError::DuplicateKey { table } => write!(f, "Can't write; duplicate key in table '{table}'"),
            TableError::OutOfRange { column } => write!(f, "Out of range value for column '{column}' at row 1"),
            TableError::NotANumber { column, value } => {
                write!(f, "Incorrect integer value: '{value}' for column '{column}' at row 1")
            }
            TableError::DataTooLong { column } => write!(f, "Data too long for column '{column}' at row 1"),
        }
    }
}

impl core::error::Error for TableError {}
