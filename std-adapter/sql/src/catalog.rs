//! What there is to select from: the declared tables, `information_schema`, and the views of `sys`.
//!
//! The tables of `performance_schema` are those that the core lists, and those of sessions; neither a table nor a column of the core's is
//! named here.

use crate::information::{BESIDE_THE_CORE, INFORMATION, Information, MakeRows, OF_SESSIONS};
use crate::{Error, empty, views};
use perfschema::core::table::{self, SqlType, Table};
use perfschema::tables;
use sqlparser::ast::{ObjectNamePart, Query, SetExpr, TableFactor, TableWithJoins};
use std::sync::OnceLock;

pub(crate) const INFORMATION_SCHEMA: &str = "information_schema";
/// MySQL's own: agents go there first, and nobody may see what is in it.
pub(crate) const MYSQL: &str = "mysql";
pub(crate) const PERFORMANCE_SCHEMA: &str = table::SCHEMA;
pub(crate) const CHARACTER_SET: &str = "utf8mb4";
pub(crate) const COLLATION: &str = "utf8mb4_0900_ai_ci";
/// That of columns in which letter case counts.
const BINARY_COLLATION: &str = "utf8mb4_bin";
pub(crate) const SYS: &str = "sys";
/// A schema of the session's own, for what it saves; gone with the session.
pub(crate) const TEST: &str = "test";

/// In the order of SHOW DATABASES.
pub(crate) const SCHEMAS: [&str; 5] = [INFORMATION_SCHEMA, MYSQL, PERFORMANCE_SCHEMA, SYS, TEST];

/// A column, as its table, its view or its SELECT has it.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) sql_type: SqlType,
    pub(crate) nullable: bool,
    /// See [`table::Column::default`].
    pub(crate) default: Option<&'static str>,
    /// See [`table::Column::is_binary`].
    pub(crate) is_binary: bool,
    pub(crate) doc: &'static str,
    /// Whether it is there only where it is named.
    pub(crate) is_invisible: bool,
}

impl Column {
    pub(crate) fn new(name: &str, sql_type: SqlType, nullable: bool) -> Column {
        Column { name: name.to_owned(), sql_type, nullable, default: None, is_binary: false, doc: "", is_invisible: false }
    }

    pub(crate) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// How it is compared, if it is a text.
    pub(crate) fn collation(&self) -> &'static str {
        if self.is_binary { BINARY_COLLATION } else { COLLATION }
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self.sql_type, SqlType::Varchar(_) | SqlType::Char(_) | SqlType::Longtext | SqlType::Enum(_))
    }
}

impl From<&table::Column> for Column {
    fn from(column: &table::Column) -> Column {
        let known = Column::new(column.name, column.sql_type, column.nullable);
        Column { default: column.default, is_binary: column.is_binary, doc: column.doc, ..known }
    }
}

/// A table or view.
#[derive(Debug)]
pub(crate) struct Relation {
    pub(crate) schema: &'static str,
    pub(crate) name: String,
    pub(crate) doc: &'static str,
    pub(crate) kind: Kind,
    /// The names of the columns that tell its rows apart; none of what has no key.
    pub(crate) primary_key: &'static [&'static str],
    /// Those that are invisible last. Of a view they are found out by asking SQLite.
    columns: OnceLock<Vec<Column>>,
}

/// Where the rows come from.
pub(crate) enum Kind {
    /// The region.
    Table(&'static dyn Table),
    /// What this crate knows.
    Information(MakeRows),
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
    /// Those that `*`, SHOW and `information_schema` know of.
    pub(crate) fn columns(&self) -> &[Column] {
        let all = self.all_columns();
        all.split(|column| column.is_invisible).next().unwrap_or(all)
    }

    pub(crate) fn all_columns(&self) -> &[Column] {
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
            primary_key: &[],
            columns: columns.map_or_else(OnceLock::new, OnceLock::from),
        };
        let declared = tables::ALL.iter().map(|table| {
            let declaration = table.declaration();
            let invisible = table.invisible().iter().map(|column| Column { is_invisible: true, ..Column::from(column) });
            let columns = declaration.columns.iter().map(Column::from).chain(invisible).collect();
            // The schema of MySQL's dictionary has its tables in capitals.
            let name = if table.schema() == INFORMATION_SCHEMA { &declaration.name.to_uppercase() } else { declaration.name };
            let beside = BESIDE_THE_CORE.iter().find(|(name, _)| *name == declaration.name);
            let kind = beside.map_or(Kind::Table(*table), |(_, rows)| Kind::Information(*rows));
            let primary_key = declaration.primary_key;
            Relation { primary_key, ..relation(table.schema(), name, declaration.doc, kind, Some(columns)) }
        });
        let known = |schema, (name, columns, rows): &Information| {
            let columns = columns.iter().map(|&(name, sql_type, nullable)| Column::new(name, sql_type, nullable)).collect();
            relation(schema, name, "", Kind::Information(*rows), Some(columns))
        };
        let information = INFORMATION.iter().map(|table| known(INFORMATION_SCHEMA, table));
        let of_sessions = OF_SESSIONS.iter().map(|table| known(PERFORMANCE_SCHEMA, table));
        let empty = empty::ALL.iter().filter_map(|table| {
            let (columns, kind) = (table.columns.clone(), Kind::Information(|_| Vec::new()));
            Some(relation(schema(&table.schema)?, &table.name, empty::DOC, kind, Some(columns)))
        });
        let views = views::all().map(|(name, query)| relation(SYS, &name, "", Kind::View(query), None));
        let mut relations: Vec<Relation> = information.chain(of_sessions).chain(empty).chain(declared).chain(views).collect();
        relations.sort_by(|a, b| (a.schema, &a.name).cmp(&(b.schema, &b.name)));
        Catalog { relations }
    }

    /// The relation and its number.
    pub(crate) fn find(&self, schema: &str, name: &str) -> Option<(usize, &Relation)> {
        self.relations.iter().enumerate().find(|(_, relation)| relation.is(schema, name))
    }

    /// The view that a view's query takes its rows from, if it is the only relation there.
    pub(crate) fn only_view(&self, query: &Query) -> Option<&Relation> {
        let SetExpr::Select(select) = &*query.body else { return None };
        let [TableWithJoins { relation: TableFactor::Table { name, .. }, joins }] = select.from.as_slice() else { return None };
        let [_, ObjectNamePart::Identifier(name)] = name.0.as_slice() else { return None };
        self.find(SYS, &name.value).map(|(_, relation)| relation).filter(|_| joins.is_empty())
    }
}

/// The schema's name as it is written here.
pub(crate) fn schema(name: &str) -> Option<&'static str> {
    SCHEMAS.iter().copied().find(|schema| schema.eq_ignore_ascii_case(name))
}

pub(crate) fn known_schema(name: &str) -> Result<&'static str, Error> {
    schema(name).ok_or_else(|| Error::unknown_database(name))
}
