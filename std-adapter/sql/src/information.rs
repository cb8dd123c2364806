//! The tables of `information_schema`, and those of `performance_schema` that are of sessions, or of which sessions and servers know more than
//! the core: what this crate knows, in MySQL's columns. Those that are always empty are in `empty.sql`.

use crate::catalog::{CHARACTER_SET, COLLATION, Column, Kind, PERFORMANCE_SCHEMA, Relation, SCHEMAS, SYS, TEST};
use crate::state::State;
use crate::{Right, reserved, routines, status, variables};
use perfschema::core::table::SqlType;
use perfschema::render::OwnedValue;
use sqlparser::keywords::ALL_KEYWORDS;
use std::collections::BTreeMap;

/// Makes all rows of a table, for the session that asks.
pub(crate) type MakeRows = fn(&State) -> Vec<Vec<OwnedValue>>;

pub(crate) type Information = (&'static str, &'static [(&'static str, SqlType, bool)], MakeRows);

const NAME: SqlType = SqlType::Varchar(64);
const NUMBER: SqlType = SqlType::BigintUnsigned;

/// Names, columns and their order are MySQL's.
pub(crate) const INFORMATION: &[Information] = &[
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
            ("CREATE_TIME", SqlType::Timestamp(0), true),
            ("UPDATE_TIME", SqlType::Datetime(0), true),
            ("CHECK_TIME", SqlType::Datetime(0), true),
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
    (
        "CHARACTER_SETS",
        &[
            ("CHARACTER_SET_NAME", NAME, false),
            ("DEFAULT_COLLATE_NAME", NAME, false),
            ("DESCRIPTION", SqlType::Longtext, false),
            ("MAXLEN", SqlType::IntUnsigned, false),
        ],
        character_sets,
    ),
    (
        "COLLATIONS",
        &[
            ("COLLATION_NAME", NAME, false),
            ("CHARACTER_SET_NAME", NAME, false),
            ("ID", NUMBER, false),
            ("IS_DEFAULT", SqlType::Varchar(3), false),
            ("IS_COMPILED", SqlType::Varchar(3), false),
            ("SORTLEN", SqlType::IntUnsigned, false),
            ("PAD_ATTRIBUTE", NAME, false),
        ],
        collations,
    ),
    (
        "COLLATION_CHARACTER_SET_APPLICABILITY",
        &[("COLLATION_NAME", NAME, false), ("CHARACTER_SET_NAME", NAME, false)],
        applicable,
    ),
    (
        "ENGINES",
        &[
            ("ENGINE", NAME, false),
            ("SUPPORT", NAME, false),
            ("COMMENT", SqlType::Varchar(80), false),
            ("TRANSACTIONS", SqlType::Varchar(3), true),
            ("XA", SqlType::Varchar(3), true),
            ("SAVEPOINTS", SqlType::Varchar(3), true),
        ],
        engines,
    ),
    ("KEYWORDS", &[("WORD", SqlType::Varchar(80), true), ("RESERVED", SqlType::IntUnsigned, true)], keywords),
    (
        "KEY_COLUMN_USAGE",
        &[
            ("CONSTRAINT_CATALOG", NAME, false),
            ("CONSTRAINT_SCHEMA", NAME, false),
            ("CONSTRAINT_NAME", NAME, true),
            ("TABLE_CATALOG", NAME, false),
            ("TABLE_SCHEMA", NAME, false),
            ("TABLE_NAME", NAME, false),
            ("COLUMN_NAME", NAME, true),
            ("ORDINAL_POSITION", SqlType::IntUnsigned, false),
            ("POSITION_IN_UNIQUE_CONSTRAINT", SqlType::IntUnsigned, true),
            ("REFERENCED_TABLE_SCHEMA", NAME, true),
            ("REFERENCED_TABLE_NAME", NAME, true),
            ("REFERENCED_COLUMN_NAME", NAME, true),
        ],
        key_columns,
    ),
    (
        "PARAMETERS",
        &[
            ("SPECIFIC_CATALOG", NAME, false),
            ("SPECIFIC_SCHEMA", NAME, false),
            ("SPECIFIC_NAME", NAME, false),
            ("ORDINAL_POSITION", NUMBER, false),
            ("PARAMETER_MODE", NAME, true),
            ("PARAMETER_NAME", NAME, true),
            ("DATA_TYPE", SqlType::Longtext, false),
            ("CHARACTER_MAXIMUM_LENGTH", SqlType::Bigint, true),
            ("CHARACTER_OCTET_LENGTH", SqlType::Bigint, true),
            ("NUMERIC_PRECISION", SqlType::IntUnsigned, true),
            ("NUMERIC_SCALE", SqlType::Bigint, true),
            ("DATETIME_PRECISION", SqlType::IntUnsigned, true),
            ("CHARACTER_SET_NAME", NAME, true),
            ("COLLATION_NAME", NAME, true),
            ("DTD_IDENTIFIER", SqlType::Longtext, false),
            ("ROUTINE_TYPE", NAME, false),
        ],
        routines::parameters,
    ),
    (
        "PARTITIONS",
        &[
            ("TABLE_CATALOG", NAME, false),
            ("TABLE_SCHEMA", NAME, false),
            ("TABLE_NAME", NAME, false),
            ("PARTITION_NAME", NAME, true),
            ("SUBPARTITION_NAME", NAME, true),
            ("PARTITION_ORDINAL_POSITION", SqlType::IntUnsigned, true),
            ("SUBPARTITION_ORDINAL_POSITION", SqlType::IntUnsigned, true),
            ("PARTITION_METHOD", NAME, true),
            ("SUBPARTITION_METHOD", NAME, true),
            ("PARTITION_EXPRESSION", SqlType::Longtext, true),
            ("SUBPARTITION_EXPRESSION", SqlType::Longtext, true),
            ("PARTITION_DESCRIPTION", SqlType::Longtext, true),
            ("TABLE_ROWS", NUMBER, true),
            ("AVG_ROW_LENGTH", NUMBER, true),
            ("DATA_LENGTH", NUMBER, true),
            ("MAX_DATA_LENGTH", NUMBER, true),
            ("INDEX_LENGTH", NUMBER, true),
            ("DATA_FREE", NUMBER, true),
            ("CREATE_TIME", SqlType::Timestamp(0), true),
            ("UPDATE_TIME", SqlType::Datetime(0), true),
            ("CHECK_TIME", SqlType::Datetime(0), true),
            ("CHECKSUM", NUMBER, true),
            ("PARTITION_COMMENT", SqlType::Longtext, false),
            ("NODEGROUP", NAME, true),
            ("TABLESPACE_NAME", NAME, true),
        ],
        partitions,
    ),
    (
        "PLUGINS",
        &[
            ("PLUGIN_NAME", NAME, false),
            ("PLUGIN_VERSION", NAME, false),
            ("PLUGIN_STATUS", NAME, false),
            ("PLUGIN_TYPE", NAME, false),
            ("PLUGIN_TYPE_VERSION", NAME, false),
            ("PLUGIN_LIBRARY", NAME, true),
            ("PLUGIN_LIBRARY_VERSION", NAME, true),
            ("PLUGIN_AUTHOR", NAME, true),
            ("PLUGIN_DESCRIPTION", SqlType::Longtext, true),
            ("PLUGIN_LICENSE", SqlType::Varchar(80), true),
            ("LOAD_OPTION", NAME, false),
        ],
        plugins,
    ),
    (
        "ROUTINES",
        &[
            ("SPECIFIC_NAME", NAME, false),
            ("ROUTINE_CATALOG", NAME, false),
            ("ROUTINE_SCHEMA", NAME, false),
            ("ROUTINE_NAME", NAME, false),
            ("ROUTINE_TYPE", NAME, false),
            ("DATA_TYPE", SqlType::Longtext, false),
            ("CHARACTER_MAXIMUM_LENGTH", SqlType::Bigint, true),
            ("CHARACTER_OCTET_LENGTH", SqlType::Bigint, true),
            ("NUMERIC_PRECISION", SqlType::IntUnsigned, true),
            ("NUMERIC_SCALE", SqlType::IntUnsigned, true),
            ("DATETIME_PRECISION", SqlType::IntUnsigned, true),
            ("CHARACTER_SET_NAME", NAME, true),
            ("COLLATION_NAME", NAME, true),
            ("DTD_IDENTIFIER", SqlType::Longtext, true),
            ("ROUTINE_BODY", NAME, false),
            ("ROUTINE_DEFINITION", SqlType::Longtext, true),
            ("EXTERNAL_NAME", NAME, true),
            ("EXTERNAL_LANGUAGE", NAME, false),
            ("PARAMETER_STYLE", NAME, false),
            ("IS_DETERMINISTIC", SqlType::Varchar(3), false),
            ("SQL_DATA_ACCESS", NAME, false),
            ("SQL_PATH", NAME, true),
            ("SECURITY_TYPE", NAME, false),
            ("CREATED", SqlType::Timestamp(0), false),
            ("LAST_ALTERED", SqlType::Timestamp(0), false),
            ("SQL_MODE", SqlType::Longtext, false),
            ("ROUTINE_COMMENT", SqlType::Longtext, false),
            ("DEFINER", SqlType::Varchar(80), false),
            ("CHARACTER_SET_CLIENT", NAME, false),
            ("COLLATION_CONNECTION", NAME, false),
            ("DATABASE_COLLATION", NAME, false),
        ],
        routines::routines,
    ),
    (
        "SCHEMA_PRIVILEGES",
        &[
            ("GRANTEE", SqlType::Varchar(80), false),
            ("TABLE_CATALOG", NAME, false),
            ("TABLE_SCHEMA", NAME, false),
            ("PRIVILEGE_TYPE", NAME, false),
            ("IS_GRANTABLE", SqlType::Varchar(3), false),
        ],
        schema_privileges,
    ),
    (
        "STATISTICS",
        &[
            ("TABLE_CATALOG", NAME, false),
            ("TABLE_SCHEMA", NAME, false),
            ("TABLE_NAME", NAME, false),
            ("NON_UNIQUE", SqlType::Bigint, false),
            ("INDEX_SCHEMA", NAME, false),
            ("INDEX_NAME", NAME, true),
            ("SEQ_IN_INDEX", SqlType::IntUnsigned, false),
            ("COLUMN_NAME", NAME, true),
            ("COLLATION", NAME, true),
            ("CARDINALITY", SqlType::Bigint, true),
            ("SUB_PART", SqlType::Bigint, true),
            ("PACKED", NAME, true),
            ("NULLABLE", SqlType::Varchar(3), false),
            ("INDEX_TYPE", NAME, false),
            ("COMMENT", NAME, false),
            ("INDEX_COMMENT", SqlType::Longtext, false),
            ("IS_VISIBLE", SqlType::Varchar(3), false),
            ("EXPRESSION", SqlType::Longtext, true),
        ],
        indexes,
    ),
    (
        "TABLE_CONSTRAINTS",
        &[
            ("CONSTRAINT_CATALOG", NAME, false),
            ("CONSTRAINT_SCHEMA", NAME, false),
            ("CONSTRAINT_NAME", NAME, true),
            ("TABLE_SCHEMA", NAME, false),
            ("TABLE_NAME", NAME, false),
            ("CONSTRAINT_TYPE", NAME, false),
            ("ENFORCED", SqlType::Varchar(3), false),
        ],
        constraints,
    ),
    (
        "USER_PRIVILEGES",
        &[
            ("GRANTEE", SqlType::Varchar(80), false),
            ("TABLE_CATALOG", NAME, false),
            ("PRIVILEGE_TYPE", NAME, false),
            ("IS_GRANTABLE", SqlType::Varchar(3), false),
        ],
        user_privileges,
    ),
    (
        "VIEWS",
        &[
            ("TABLE_CATALOG", NAME, false),
            ("TABLE_SCHEMA", NAME, false),
            ("TABLE_NAME", NAME, false),
            ("VIEW_DEFINITION", SqlType::Longtext, true),
            ("CHECK_OPTION", NAME, true),
            ("IS_UPDATABLE", SqlType::Varchar(3), true),
            ("DEFINER", SqlType::Varchar(80), true),
            ("SECURITY_TYPE", NAME, true),
            ("CHARACTER_SET_CLIENT", NAME, false),
            ("COLLATION_CONNECTION", NAME, false),
        ],
        views,
    ),
    ("GLOBAL_VARIABLES", NAMED_VALUES, variables::global_rows),
    ("SESSION_VARIABLES", NAMED_VALUES, variables::session_rows),
    ("GLOBAL_STATUS", NAMED_VALUES, status::global_rows),
    ("SESSION_STATUS", NAMED_VALUES, status::session_rows),
];

/// What MySQL has in `performance_schema` of sessions, of which the core knows nothing.
pub(crate) const OF_SESSIONS: &[Information] =
    &[("session_status", NAMED_VALUES, status::session_rows), ("session_variables", NAMED_VALUES, variables::session_rows)];

/// Tables of the core's to which this crate has more to say: all of their rows.
pub(crate) const BESIDE_THE_CORE: &[(&str, MakeRows)] =
    &[("global_status", status::global_rows), ("global_variables", variables::global_rows)];

const NAMED_VALUES: &[(&str, SqlType, bool)] =
    &[("VARIABLE_NAME", NAME, false), ("VARIABLE_VALUE", SqlType::Varchar(1024), true)];

fn schemata(_: &State) -> Vec<Vec<OwnedValue>> {
    let row = |schema: &&str| {
        vec!["def".into(), (*schema).into(), CHARACTER_SET.into(), COLLATION.into(), OwnedValue::Null, "NO".into()]
    };
    SCHEMAS.iter().map(row).collect()
}

fn all_tables(state: &State) -> Vec<Vec<OwnedValue>> {
    let row = |schema: &str, name: &str, table_type: &str, engine: Option<&str>, doc: &str| {
        // Of a view MySQL says no more than that it is one.
        let is_view = table_type == "VIEW";
        let unless_view = |value: OwnedValue| if is_view { OwnedValue::Null } else { value };
        let mut row: Vec<OwnedValue> = ["def", schema, name, table_type].map(OwnedValue::from).into();
        row.extend([engine.into(), unless_view(10_u64.into()), engine.map(|_| "Dynamic").into()]);
        row.resize_with(17, OwnedValue::default);
        let comment = if is_view { table_type } else { doc };
        row.extend([unless_view(COLLATION.into()), OwnedValue::Null, unless_view("".into()), comment.into()]);
        row
    };
    let mut rows: Vec<_> = state
        .catalog
        .relations
        .iter()
        .map(|relation| {
            let (table_type, engine) = match relation.kind {
                Kind::View(_) => ("VIEW", None),
                _ if relation.schema == PERFORMANCE_SCHEMA => ("BASE TABLE", Some("PERFORMANCE_SCHEMA")),
                Kind::Table(_) | Kind::Information(_) => ("SYSTEM VIEW", None),
            };
            row(relation.schema, &relation.name, table_type, engine, relation.doc)
        })
        .collect();
    rows.extend(state.scratch().iter().map(|table| row(TEST, &table.name, "BASE TABLE", Some("MEMORY"), "")));
    rows
}

fn all_columns(state: &State) -> Vec<Vec<OwnedValue>> {
    let mut rows = Vec::new();
    let mut add = |schema: &str, table: &str, columns: &[Column], primary_key: &[&str]| {
        let is_read = state.account.right == Right::Read && schema != TEST;
        let privileges = if is_read { "select" } else { "select,insert,update,references" };
        let row = |(ordinal, column): (u64, &Column)| {
            let key = if primary_key.contains(&column.name.as_str()) { "PRI" } else { "" };
            column_row(schema, table, ordinal, column, key, privileges)
        };
        rows.extend((1_u64..).zip(columns).map(row));
    };
    for relation in &state.catalog.relations {
        add(relation.schema, &relation.name, relation.columns(), relation.primary_key);
    }
    for table in state.scratch().iter() {
        add(TEST, &table.name, &table.columns, &[]);
    }
    rows
}

fn column_row(schema: &str, table: &str, ordinal: u64, column: &Column, key: &str, privileges: &str) -> Vec<OwnedValue> {
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
        SqlType::Decimal(digits, _) => Some(digits.into()),
        _ => None,
    };
    let scale: Option<u64> = match column.sql_type {
        SqlType::Double => None,
        SqlType::Decimal(_, scale) => Some(scale.into()),
        _ => precision.map(|_| 0),
    };
    let text = |text: &'static str| if column.is_text() { text.into() } else { OwnedValue::Null };
    vec![
        "def".into(),
        schema.into(),
        table.into(),
        column.name.as_str().into(),
        ordinal.into(),
        column.default.into(),
        if column.nullable { "YES" } else { "NO" }.into(),
        data_type.into(),
        characters.into(),
        bytes.into(),
        precision.into(),
        scale.into(),
        column.sql_type.fraction_digits().filter(|_| column.sql_type != SqlType::Date).map(u64::from).into(),
        text(CHARACTER_SET),
        text(column.collation()),
        column_type.into(),
        key.into(),
        "".into(),
        privileges.into(),
        column.doc.into(),
        "".into(),
        OwnedValue::Null,
    ]
}

/// The only constraints that there are.
const PRIMARY: &str = "PRIMARY";

fn constraints(state: &State) -> Vec<Vec<OwnedValue>> {
    let keyed = state.catalog.relations.iter().filter(|relation| !relation.primary_key.is_empty());
    let row = |relation: &Relation| {
        ["def", relation.schema, PRIMARY, relation.schema, &relation.name, "PRIMARY KEY", "YES"].map(OwnedValue::from).into()
    };
    keyed.map(row).collect()
}

/// A row for each column of a key, of its table, its number within the key, and its name.
fn of_keys(state: &State, row: impl Fn(&Relation, u64, &str) -> Vec<OwnedValue>) -> Vec<Vec<OwnedValue>> {
    let columns = |relation: &Relation| {
        let columns = (1..).zip(relation.primary_key);
        columns.map(|(ordinal, column)| row(relation, ordinal, column)).collect::<Vec<_>>()
    };
    state.catalog.relations.iter().flat_map(columns).collect()
}

fn key_columns(state: &State) -> Vec<Vec<OwnedValue>> {
    of_keys(state, |relation, ordinal, column| {
        let (schema, table) = (relation.schema, relation.name.as_str());
        let mut row: Vec<OwnedValue> = ["def", schema, PRIMARY, "def", schema, table, column].map(OwnedValue::from).into();
        row.push(ordinal.into());
        row.resize_with(12, OwnedValue::default);
        row
    })
}

/// No row is found by them: they say how rows are told apart.
fn indexes(state: &State) -> Vec<Vec<OwnedValue>> {
    of_keys(state, |relation, ordinal, column| {
        let mut row: Vec<OwnedValue> = ["def", relation.schema, &relation.name].map(OwnedValue::from).into();
        row.extend([0_i64.into(), relation.schema.into(), PRIMARY.into(), ordinal.into(), column.into()]);
        // COLLATION, CARDINALITY, SUB_PART, PACKED
        row.resize_with(12, OwnedValue::default);
        row.extend(["", "HASH", "", "", "YES"].map(OwnedValue::from));
        row.push(OwnedValue::Null);
        row
    })
}

fn character_sets(_: &State) -> Vec<Vec<OwnedValue>> {
    vec![vec![CHARACTER_SET.into(), COLLATION.into(), "UTF-8 Unicode".into(), 4_u64.into()]]
}

fn collations(_: &State) -> Vec<Vec<OwnedValue>> {
    let row = |name: &str, id: u64, is_default: &str, sort_length: u64, pad: &str| {
        let compiled = OwnedValue::from("Yes");
        vec![name.into(), CHARACTER_SET.into(), id.into(), is_default.into(), compiled, sort_length.into(), pad.into()]
    };
    vec![row(COLLATION, 255, "Yes", 0, "NO PAD"), row("utf8mb4_bin", 46, "", 1, "PAD SPACE")]
}

fn applicable(state: &State) -> Vec<Vec<OwnedValue>> {
    let first_two = |mut row: Vec<OwnedValue>| {
        row.truncate(2);
        row
    };
    collations(state).into_iter().map(first_two).collect()
}

fn engines(_: &State) -> Vec<Vec<OwnedValue>> {
    let row = |engine: &str, support: &str, comment: &str, rest: Option<&str>| {
        vec![engine.into(), support.into(), comment.into(), rest.into(), rest.into(), rest.into()]
    };
    vec![
        row("InnoDB", "DISABLED", "Supports transactions, row-level locking, and foreign keys", None),
        row("MEMORY", "YES", "Hash based, stored in memory, useful for temporary tables", Some("NO")),
        row("PERFORMANCE_SCHEMA", "DEFAULT", "Performance Schema", Some("NO")),
    ]
}

/// The words that the parser knows, and those that MySQL reserves.
fn keywords(_: &State) -> Vec<Vec<OwnedValue>> {
    let mut words: BTreeMap<&str, u64> = ALL_KEYWORDS.iter().map(|word| (*word, 0)).collect();
    words.extend(reserved::words().map(|word| (word, 1)));
    words.into_iter().map(|(word, is_reserved)| vec![word.into(), is_reserved.into()]).collect()
}

/// A table that has none is one of its own.
fn partitions(state: &State) -> Vec<Vec<OwnedValue>> {
    let row = |table: Vec<OwnedValue>| {
        let mut row: Vec<OwnedValue> = table.into_iter().take(3).collect();
        row.resize_with(22, OwnedValue::default);
        row.extend(["".into(), OwnedValue::Null, OwnedValue::Null]);
        row
    };
    all_tables(state).into_iter().map(row).collect()
}

fn plugins(_: &State) -> Vec<Vec<OwnedValue>> {
    let row = |name: &str, kind: &str, type_version: &str, description: &str| {
        let (none, version) = (OwnedValue::Null, "0.1".into());
        let (active, license, force) = ("ACTIVE".into(), "MIT OR Apache-2.0".into(), "FORCE".into());
        let (name, kind, type_version) = (name.into(), kind.into(), type_version.into());
        let description = description.into();
        vec![name, version, active, kind, type_version, none.clone(), none, "".into(), description, license, force]
    };
    vec![
        row("caching_sha2_password", "AUTHENTICATION", "2.1", "Caching sha2 authentication"),
        row("mysql_native_password", "AUTHENTICATION", "2.1", "Native MySQL authentication"),
        row("PERFORMANCE_SCHEMA", "STORAGE ENGINE", &format!("{}.0", variables::VERSION_NUMBER), "Performance Schema"),
    ]
}

fn grantee(state: &State) -> OwnedValue {
    let account = &state.account;
    format!("'{}'@'{}'", account.user, account.host).into()
}

fn schema_privileges(state: &State) -> Vec<Vec<OwnedValue>> {
    let privileges: &[&str] = match state.account.right {
        Right::Read => &["SELECT"],
        Right::Control => &["SELECT", "INSERT", "UPDATE", "DELETE", "DROP"],
    };
    let row = |privilege: &&str| {
        let schema = PERFORMANCE_SCHEMA.into();
        vec![grantee(state), "def".into(), schema, (*privilege).into(), "NO".into()]
    };
    privileges.iter().map(row).collect()
}

fn user_privileges(state: &State) -> Vec<Vec<OwnedValue>> {
    let row = |privilege: &&str| vec![grantee(state), "def".into(), (*privilege).into(), "NO".into()];
    state.account.right.global_privileges().iter().map(row).collect()
}

fn views(state: &State) -> Vec<Vec<OwnedValue>> {
    let row = |relation: &Relation| {
        let Kind::View(query) = &relation.kind else { return None };
        let mut row: Vec<OwnedValue> = vec!["def".into(), SYS.into(), relation.name.as_str().into(), query.to_string().into()];
        row.extend(["NONE", "NO", "mysql.sys@localhost", "INVOKER", CHARACTER_SET, COLLATION].map(OwnedValue::from));
        Some(row)
    };
    state.catalog.relations.iter().filter_map(row).collect()
}
