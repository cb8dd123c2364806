//! What there is to select from: the declared tables, `information_schema`, and the views of `sys`.
//!
//! The tables of `performance_schema` are those that the core lists; neither a table nor a column of theirs is named here.

use crate::state::State;
use crate::{variables, views};
use perfschema::core::table::{self, SqlType, Table};
use perfschema::render::OwnedValue;
use perfschema::tables;
use sqlparser::ast::Query;
use std::sync::OnceLock;

pub(crate) const INFORMATION_SCHEMA: &str = "information_schema";
pub(crate) const PERFORMANCE_SCHEMA: &str = table::SCHEMA;
pub(crate) const SYS: &str = "sys";
/// A schema of the session's own, for what it saves; gone with the session.
pub(crate) const TEST: &str = "test";

/// In the order of SHOW DATABASES.
pub(crate) const SCHEMAS: [&str; 4] = [INFORMATION_SCHEMA, PERFORMANCE_SCHEMA, SYS, TEST];

/// A column, as its table, its view or its SELECT has it.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) sql_type: SqlType,
    pub(crate) nullable: bool,
    pub(crate) doc: &'static str,
}

impl Column {
    fn new(name: &str, sql_type: SqlType, nullable: bool) -> Column {
        Column { name: name.to_owned(), sql_type, nullable, doc: "" }
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self.sql_type, SqlType::Varchar(_) | SqlType::Char(_) | SqlType::Longtext | SqlType::Enum(_))
    }
}

impl From<&table::Column> for Column {
    fn from(column: &table::Column) -> Column {
        Column { doc: column.doc, ..Column::new(column.name, column.sql_type, column.nullable) }
    }
}

/// A table or view.
#[derive(Debug)]
pub(crate) struct Relation {
    pub(crate) schema: &'static str,
    pub(crate) name: String,
    pub(crate) doc: &'static str,
    pub(crate) kind: Kind,
    /// Of a view they are found out by asking SQLite.
    columns: OnceLock<Vec<Column>>,
}

/// Where the rows come from.
pub(crate) enum Kind {
    /// The region.
    Table(&'static dyn Table),
    /// What this crate knows.
    Information(fn(&State) -> Vec<Vec<OwnedValue>>),
    /// A query, put in the place of the name.
    View(Box<Query>),
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::Table(_) => "Table",
            Kind::Information(_) => "Information",
            Kind::View(_) => "View",
        })
    }
}

impl Relation {
    pub(crate) fn columns(&self) -> &[Column] {
        self.columns.get().map_or(&[], Vec::as_slice)
    }

    pub(crate) fn set_columns(&self, columns: Vec<Column>) {
        let _ = self.columns.set(columns);
    }

    pub(crate) fn is_view(&self) -> bool {
        matches!(self.kind, Kind::View(_))
    }

    fn is(&self, schema: &str, name: &str) -> bool {
        self.schema.eq_ignore_ascii_case(schema) && self.name.eq_ignore_ascii_case(name)
    }
}

/// All relations but those of schema `test`.
#[derive(Debug)]
pub(crate) struct Catalog {
    pub(crate) relations: Vec<Relation>,
}

impl Catalog {
    pub(crate) fn new() -> Catalog {
        let relation = |schema, name: &str, doc, kind, columns: Option<Vec<Column>>| Relation {
            schema,
            name: name.to_owned(),
            doc,
            kind,
            columns: columns.map_or_else(OnceLock::new, OnceLock::from),
        };
        let declared = tables::ALL.iter().map(|table| {
            let declaration = table.declaration();
            let columns = declaration.columns.iter().map(Column::from).collect();
            relation(PERFORMANCE_SCHEMA, declaration.name, declaration.doc, Kind::Table(*table), Some(columns))
        });
        let information = INFORMATION.iter().map(|(name, columns, rows)| {
            let columns = columns.iter().map(|&(name, sql_type, nullable)| Column::new(name, sql_type, nullable)).collect();
            relation(INFORMATION_SCHEMA, name, "", Kind::Information(*rows), Some(columns))
        });
        let views = views::all().map(|(name, query)| relation(SYS, &name, "", Kind::View(query), None));
        let mut relations: Vec<Relation> = information.chain(declared).chain(views).collect();
        relations.sort_by(|a, b| (a.schema, &a.name).cmp(&(b.schema, &b.name)));
        Catalog { relations }
    }

    /// The relation and its number.
    pub(crate) fn find(&self, schema: &str, name: &str) -> Option<(usize, &Relation)> {
        self.relations.iter().enumerate().find(|(_, relation)| relation.is(schema, name))
    }
}

/// The schema's name as it is written here.
pub(crate) fn schema(name: &str) -> Option<&'static str> {
    SCHEMAS.iter().copied().find(|schema| schema.eq_ignore_ascii_case(name))
}

type Information = (&'static str, &'static [(&'static str, SqlType, bool)], fn(&State) -> Vec<Vec<OwnedValue>>);

const NAME: SqlType = SqlType::Varchar(64);
const NUMBER: SqlType = SqlType::BigintUnsigned;

/// Names, columns and their order are MySQL's.
const INFORMATION: &[Information] = &[
    (
        "SCHEMATA",
        &[
            ("CATALOG_NAME", NAME, false),
            ("SCHEMA_NAME", NAME, false),
            ("DEFAULT_CHARACTER_SET_NAME", NAME, false),
            ("DEFAULT_COLLATION_NAME", NAME, false),
            ("SQL_PATH", NAME, true),
            ("DEFAULT_ENCRYPTION", SqlType::Enum(&["NO", "YES"]), false),
        ],
        schemata,
    ),
    (
        "TABLES",
        &[
            ("TABLE_CATALOG", NAME, false),
            ("TABLE_SCHEMA", NAME, false),
            ("TABLE_NAME", NAME, false),
            ("TABLE_TYPE", SqlType::Enum(&["BASE TABLE", "VIEW", "SYSTEM VIEW"]), false),
            ("ENGINE", NAME, true),
            ("VERSION", NUMBER, true),
            ("ROW_FORMAT", SqlType::Varchar(10), true),
            ("TABLE_ROWS", NUMBER, true),
            ("AVG_ROW_LENGTH", NUMBER, true),
            ("DATA_LENGTH", NUMBER, true),
            ("MAX_DATA_LENGTH", NUMBER, true),
            ("INDEX_LENGTH", NUMBER, true),
            ("DATA_FREE", NUMBER, true),
            ("AUTO_INCREMENT", NUMBER, true),
            ("CREATE_TIME", SqlType::Varchar(19), true),
            ("UPDATE_TIME", SqlType::Varchar(19), true),
            ("CHECK_TIME", SqlType::Varchar(19), true),
            ("TABLE_COLLATION", NAME, true),
            ("CHECKSUM", NUMBER, true),
            ("CREATE_OPTIONS", SqlType::Varchar(256), true),
            ("TABLE_COMMENT", SqlType::Longtext, true),
        ],
        all_tables,
    ),
    (
        "COLUMNS",
        &[
            ("TABLE_CATALOG", NAME, false),
            ("TABLE_SCHEMA", NAME, false),
            ("TABLE_NAME", NAME, false),
            ("COLUMN_NAME", NAME, false),
            ("ORDINAL_POSITION", SqlType::IntUnsigned, false),
            ("COLUMN_DEFAULT", SqlType::Longtext, true),
            ("IS_NULLABLE", SqlType::Varchar(3), false),
            ("DATA_TYPE", SqlType::Longtext, false),
            ("CHARACTER_MAXIMUM_LENGTH", SqlType::Bigint, true),
            ("CHARACTER_OCTET_LENGTH", SqlType::Bigint, true),
            ("NUMERIC_PRECISION", NUMBER, true),
            ("NUMERIC_SCALE", NUMBER, true),
            ("DATETIME_PRECISION", SqlType::IntUnsigned, true),
            ("CHARACTER_SET_NAME", NAME, true),
            ("COLLATION_NAME", NAME, true),
            ("COLUMN_TYPE", SqlType::Longtext, false),
            ("COLUMN_KEY", SqlType::Enum(&["", "PRI", "UNI", "MUL"]), false),
            ("EXTRA", SqlType::Varchar(256), false),
            ("PRIVILEGES", SqlType::Varchar(154), false),
            ("COLUMN_COMMENT", SqlType::Longtext, false),
            ("GENERATION_EXPRESSION", SqlType::Longtext, false),
            ("SRS_ID", SqlType::IntUnsigned, true),
        ],
        all_columns,
    ),
    (
        "PROCESSLIST",
        &[
            ("ID", NUMBER, false),
            ("USER", SqlType::Varchar(32), false),
            ("HOST", SqlType::Varchar(261), false),
            ("DB", NAME, true),
            ("COMMAND", SqlType::Varchar(16), false),
            ("TIME", NUMBER, false),
            ("STATE", NAME, true),
            ("INFO", SqlType::Longtext, true),
        ],
        variables::processlist_rows,
    ),
    ("GLOBAL_VARIABLES", NAMED_VALUES, variables::global_rows),
    ("SESSION_VARIABLES", NAMED_VALUES, variables::session_rows),
    ("SESSION_STATUS", NAMED_VALUES, variables::status_rows),
];

const NAMED_VALUES: &[(&str, SqlType, bool)] =
    &[("VARIABLE_NAME", NAME, false), ("VARIABLE_VALUE", SqlType::Varchar(1024), true)];

pub(crate) const CHARACTER_SET: &str = "utf8mb4";
pub(crate) const COLLATION: &str = "utf8mb4_0900_ai_ci";

fn schemata(_: &State) -> Vec<Vec<OwnedValue>> {
    let row = |schema: &&str| {
        vec!["def".into(), (*schema).into(), CHARACTER_SET.into(), COLLATION.into(), OwnedValue::Null, "NO".into()]
    };
    SCHEMAS.iter().map(row).collect()
}

fn all_tables(state: &State) -> Vec<Vec<OwnedValue>> {
    let row = |schema: &str, name: &str, table_type: &str, engine: Option<&str>, doc: &str| {
        let mut row: Vec<OwnedValue> =
            vec!["def".into(), schema.into(), name.into(), table_type.into(), engine.into(), 10_u64.into(), "Dynamic".into()];
        row.resize_with(17, OwnedValue::default);
        row.extend([COLLATION.into(), OwnedValue::Null, "".into(), doc.into()]);
        row
    };
    let mut rows: Vec<_> = state
        .catalog
        .relations
        .iter()
        .map(|relation| {
            let (table_type, engine) = match relation.kind {
                Kind::Table(_) => ("BASE TABLE", Some("PERFORMANCE_SCHEMA")),
                Kind::Information(_) => ("SYSTEM VIEW", None),
                Kind::View(_) => ("VIEW", None),
            };
            row(relation.schema, &relation.name, table_type, engine, relation.doc)
        })
        .collect();
    rows.extend(state.scratch().iter().map(|table| row(TEST, &table.name, "BASE TABLE", Some("MEMORY"), "")));
    rows
}

fn all_columns(state: &State) -> Vec<Vec<OwnedValue>> {
    let mut rows = Vec::new();
    let mut add = |schema: &str, table: &str, columns: &[Column]| {
        rows.extend((1_u64..).zip(columns).map(|(ordinal, column)| column_row(schema, table, ordinal, column)));
    };
    for relation in &state.catalog.relations {
        add(relation.schema, &relation.name, relation.columns());
    }
    for table in state.scratch().iter() {
        add(TEST, &table.name, &table.columns);
    }
    rows
}

fn column_row(schema: &str, table: &str, ordinal: u64, column: &Column) -> Vec<OwnedValue> {
    let column_type = column.sql_type.to_string();
    let data_type = column_type.split(['(', ' ']).next().unwrap_or_default().to_owned();
    let characters: Option<i64> = match column.sql_type {
        SqlType::Varchar(length) | SqlType::Char(length) => Some(length.into()),
        SqlType::Longtext => Some(u32::MAX.into()),
        SqlType::Enum(names) => names.iter().map(|name| name.len() as i64).max(),
        _ => None,
    };
    let bytes = if column.sql_type == SqlType::Longtext { characters } else { characters.map(|characters| characters * 4) };
    let precision: Option<u64> = match column.sql_type {
        SqlType::BigintUnsigned => Some(20),
        SqlType::Bigint => Some(19),
        SqlType::Int | SqlType::IntUnsigned => Some(10),
        SqlType::Double => Some(22),
        _ => None,
    };
    let scale = precision.filter(|_| column.sql_type != SqlType::Double).map(|_| 0_u64);
    let text = |text: &'static str| if column.is_text() { text.into() } else { OwnedValue::Null };
    vec![
        "def".into(),
        schema.into(),
        table.into(),
        column.name.as_str().into(),
        ordinal.into(),
        OwnedValue::Null,
        if column.nullable { "YES" } else { "NO" }.into(),
        data_type.into(),
        characters.into(),
        bytes.into(),
        precision.into(),
        scale.into(),
        OwnedValue::Null,
        text(CHARACTER_SET),
        text(COLLATION),
        column_type.into(),
        "".into(),
        "".into(),
        "select,insert,update,references".into(),
        column.doc.into(),
        "".into(),
        OwnedValue::Null,
    ]
}
