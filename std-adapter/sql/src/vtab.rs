//! The tables as SQLite sees them: virtual tables over the rows that the statement has copied.

use crate::catalog::Relation;
use crate::snapshot::Rows;
use crate::state::State;
use rusqlite::vtab::{
    Context, CreateVTab, Filters, IndexConstraintOp, IndexInfo, Module, VTab, VTabConfig, VTabConnection, VTabCursor, VTabKind,
    sqlite3_vtab, sqlite3_vtab_cursor,
};
use rusqlite::{Connection, Error, Result};
use std::borrow::Cow;
use std::ffi::{CStr, CString, c_int};
use std::fmt;
use std::sync::Arc;

const MODULE: &CStr = c"perfschema";

/// Tells the connection what [`create`] makes tables of.
pub(crate) fn register(connection: &Connection, state: &Arc<State>) -> Result<()> {
    const { assert!(std::mem::offset_of!(RelationTable, base) == 0 && std::mem::offset_of!(Cursor, base) == 0) };
    let module = const { &Module::<RelationTable>::read_only_module() };
    connection.create_module(MODULE, module, Some(Arc::clone(state)))
}

/// Makes the virtual table of a relation that is no view. Its schema must be attached.
pub(crate) fn create(connection: &Connection, number: usize, relation: &Relation) -> Result<()> {
    let sql = format!("CREATE VIRTUAL TABLE {}.`{}` USING perfschema({number})", relation.schema, relation.name);
    connection.execute_batch(&sql)
}

/// What a column is declared as in SQLite. SQLite tells it back for every result column that is such a column and nothing else, also
/// through subqueries: so the numbers in it say which column that is, and with it type and nullability.
pub(crate) fn declare(relation: usize, column: usize, of: &crate::catalog::Column) -> String {
    use perfschema::core::table::SqlType;
    let name = &of.name;
    // SQLite takes this word out of the type again.
    let hidden = if of.is_invisible { "HIDDEN " } else { "" };
    match of.sql_type {
        SqlType::BigintUnsigned | SqlType::Bigint | SqlType::Int | SqlType::IntUnsigned => {
            format!("`{name}` {hidden}INTEGER({relation},{column})")
        }
        SqlType::Decimal(..) => format!("`{name}` {hidden}NUMERIC({relation},{column})"),
        SqlType::Double => format!("`{name}` {hidden}REAL({relation},{column})"),
        _ if of.is_binary => format!("`{name}` {hidden}VARCHAR({relation},{column})"),
        _ => format!("`{name}` {hidden}VARCHAR({relation},{column}) COLLATE NOCASE"),
    }
}

/// The numbers of relation and column in a type made by [`declare`].
pub(crate) fn declared(decl_type: &str) -> Option<(usize, usize)> {
    let (relation, column) = decl_type.split_once('(')?.1.strip_suffix(')')?.split_once(',')?;
    Some((relation.parse().ok()?, column.parse().ok()?))
}

/// A column that is to be equal to something, as SQLite keeps it between plan and execution.
struct Equality {
    column: usize,
    /// NULL is equal to NULL: `<=>`, not `=`.
    also_null: bool,
}

impl Equality {
    fn of(column: c_int, operator: IndexConstraintOp) -> Option<Equality> {
        let also_null = match operator {
            IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ => false,
            IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_IS => true,
            _ => return None,
        };
        // Below 0: the number of the row.
        Some(Equality { column: usize::try_from(column).ok()?, also_null })
    }

    fn parse(text: &str) -> Option<Equality> {
        let also_null = text.ends_with('?');
        Some(Equality { column: text.trim_end_matches('?').parse().ok()?, also_null })
    }
}

impl fmt::Display for Equality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{};", self.column, if self.also_null { "?" } else { "" })
    }
}

#[repr(C)]
struct RelationTable {
    base: sqlite3_vtab,
    state: Arc<State>,
    relation: usize,
}

// SAFETY: the structure is `repr(C)` and begins with `sqlite3_vtab`, as `register` asserts.
unsafe impl VTab<'_> for RelationTable {
    type Aux = Arc<State>;
    type Cursor = Cursor;

    fn connect(
        db: &mut VTabConnection,
        state: Option<&Arc<State>>,
        _: &[u8],
        _: &[u8],
        _: &[u8],
        args: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, RelationTable)> {
        let wrong = || Error::ModuleError("a table of this module is made by `create` only".to_owned());
        let state = Arc::clone(state.ok_or_else(wrong)?);
        let argument = args.last().and_then(|text| std::str::from_utf8(text).ok());
        let relation: usize = argument.and_then(|text| text.trim().parse().ok()).ok_or_else(wrong)?;
        let columns = state.catalog.relations.get(relation).ok_or_else(wrong)?.all_columns();
        let columns: Vec<String> = columns.iter().enumerate().map(|(index, column)| declare(relation, index, column)).collect();
        let schema = CString::new(format!("CREATE TABLE x({})", columns.join(", "))).map_err(|_| wrong())?;
        db.config(VTabConfig::Innocuous)?;
        Ok((Cow::Owned(schema), RelationTable { base: sqlite3_vtab::default(), state, relation }))
    }

    /// Equalities can be looked up; everything else is a look at all rows.
    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        self.state.will_read(self.relation, info.col_used());
        let mut plan = String::new();
        let mut found: Vec<(usize, Equality)> = info
            .constraints()
            .enumerate()
            .filter(|(_, constraint)| constraint.is_usable())
            .filter_map(|(index, constraint)| Some((index, Equality::of(constraint.column(), constraint.operator())?)))
            .collect();
        // One of several values (IN) is looked up where it is the first: rows come in the order of the values then, and not of the table.
        let first = found.first().map(|(index, _)| *index);
        found.retain(|(index, _)| Some(*index) == first || info.is_in_constraint(*index).is_ok_and(|is_in| !is_in));
        for (argument, (index, equality)) in (1..).zip(&found) {
            info.constraint_usage(*index).set_argv_index(argument);
            plan.push_str(&equality.to_string());
        }
        // EXPLAIN shows how many.
        info.set_idx_num(found.len() as c_int);
        info.set_idx_str(&plan);
        let cost = if found.is_empty() { 1000 } else { 10 };
        info.set_estimated_cost(cost.into());
        info.set_estimated_rows(cost.into());
        Ok(true)
    }

    fn open(&mut self) -> Result<Cursor> {
        let rows = self.state.rows(self.relation).map_err(|error| self.state.fail(error))?;
        let all = rows.len();
        Ok(Cursor { base: sqlite3_vtab_cursor::default(), rows, chosen: None, position: 0, end: all })
    }
}

impl CreateVTab<'_> for RelationTable {
    const KIND: VTabKind = VTabKind::Default;
}

#[repr(C)]
struct Cursor {
    base: sqlite3_vtab_cursor,
    rows: Arc<Rows>,
    /// The rows that were looked up; without them, all.
    chosen: Option<Arc<[u32]>>,
    position: usize,
    end: usize,
}

impl Cursor {
    fn row(&self) -> usize {
        self.chosen.as_ref().map_or(self.position, |chosen| chosen.get(self.position).map_or(0, |row| *row as usize))
    }
}

// SAFETY: the structure is `repr(C)` and begins with `sqlite3_vtab_cursor`, as `register` asserts.
unsafe impl VTabCursor for Cursor {
    fn filter(&mut self, _: c_int, plan: Option<&str>, args: &Filters<'_>) -> Result<()> {
        /// So many rows are looked at sooner than another column is.
        const FEW: usize = 16;
        self.chosen = None;
        for (equality, value) in plan.unwrap_or_default().split_terminator(';').filter_map(Equality::parse).zip(args.iter()) {
            let fewer = |found: &Arc<[u32]>| self.chosen.as_ref().is_none_or(|chosen| found.len() < chosen.len());
            if let Some(found) = self.rows.find(equality.column, value, equality.also_null).filter(fewer) {
                self.chosen = Some(found);
            }
            // EVENT_ID alone has as many rows as there are threads, THREAD_ID and EVENT_ID have one: whichever comes first.
            if self.chosen.as_ref().is_some_and(|chosen| chosen.len() <= FEW) {
                break;
            }
        }
        self.end = self.chosen.as_ref().map_or(self.rows.len(), |chosen| chosen.len());
        self.position = 0;
        Ok(())
    }

    fn next(&mut self) -> Result<()> {
        self.position += 1;
        Ok(())
    }

    fn eof(&self) -> bool {
        self.position >= self.end
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        let column = usize::try_from(column).unwrap_or(0);
        let cell = self.rows.get(self.row(), column);
        context.set_result(cell.ok_or_else(|| Error::ModuleError(format!("column {column} was not asked for")))?)
    }

    fn rowid(&self) -> Result<i64> {
        Ok(self.row() as i64)
    }
}
