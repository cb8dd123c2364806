//! CALL of the procedures of MySQL's schema `sys` that switch what is recorded, and set it back.

use crate::catalog::{Catalog, Kind, Relation};
use crate::change::select_of;
use crate::routines::Routine;
use crate::session::{Outcome, Session};
use crate::{Error, calls, catalog, dialect, parse};
use perfschema::core::table::SqlType;
use perfschema::render::{ColumnHead, Grid, OwnedValue};
use sqlparser::ast::{Function, FunctionArguments, SelectItem};

/// One that switches rows.
struct Switching {
    name: &'static str,
    parameter: &'static str,
    /// With one value: what the names of the rows contain.
    statement: &'static str,
    /// What it says that it did, and to what.
    summary: (&'static str, &'static str),
}

const fn switching(
    name: &'static str,
    parameter: &'static str,
    statement: &'static str,
    summary: (&'static str, &'static str),
) -> Switching {
    Switching { name, parameter, statement, summary }
}

const SWITCHING: [Switching; 4] = [
    switching(
        "ps_setup_enable_instrument",
        "in_pattern",
        "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE CONCAT('%', ?, '%')",
        ("Enabled", "instrument"),
    ),
    switching(
        "ps_setup_disable_instrument",
        "in_pattern",
        "UPDATE performance_schema.setup_instruments SET ENABLED = 'NO', TIMED = 'NO' WHERE NAME LIKE CONCAT('%', ?, '%')",
        ("Disabled", "instrument"),
    ),
    switching(
        "ps_setup_enable_consumer",
        "consumer",
        "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME LIKE CONCAT('%', ?, '%')",
        ("Enabled", "consumer"),
    ),
    switching(
        "ps_setup_disable_consumer",
        "consumer",
        "UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME LIKE CONCAT('%', ?, '%')",
        ("Disabled", "consumer"),
    ),
];

const TRUNCATE_ALL: &str = "ps_truncate_all_tables";

/// Those that there are, and what each does, as a statement.
pub(crate) fn all(catalog: &Catalog) -> Vec<Routine> {
    let switching = |known: &Switching| {
        let (done, what) = known.summary;
        let summary = format!("SELECT CONCAT('{done} ', ROW_COUNT(), ' {what}', IF(ROW_COUNT() <> 1, 's', '')) AS summary");
        let does = format!("BEGIN {}; {summary}; END", known.statement.replace('?', known.parameter));
        Routine { name: known.name, parameters: vec![(known.parameter, "varchar(128)")], returns: None, does }
    };
    let truncations = truncations(catalog);
    let does = format!("BEGIN {}; SELECT 'Truncated {} tables' AS summary; END", truncations.join("; "), truncations.len());
    let truncate = Routine { name: TRUNCATE_ALL, parameters: vec![("in_verbose", "tinyint(1)")], returns: None, does };
    SWITCHING.iter().map(switching).chain([truncate]).collect()
}

/// Of what has ended, in lists and in sums: not of what goes on, nor of what is set up: without rows of `setup_actors` nobody who comes is
/// recorded.
fn truncations(catalog: &Catalog) -> Vec<String> {
    let is_of_the_past = |name: &str| !name.ends_with("_current") && !name.starts_with("setup_");
    let truncation = |relation: &Relation| match relation.kind {
        Kind::Table(table) if table.declaration().rights.truncate && is_of_the_past(&relation.name) => {
            Some(format!("TRUNCATE TABLE {}.{}", relation.schema, relation.name))
        }
        _ => None,
    };
    catalog.relations.iter().filter_map(truncation).collect()
}

impl Session {
    pub(crate) fn call(&mut self, call: Function, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        let (schema, name) = dialect::qualified(&call.name)?;
        let schema = schema.or(self.state.schema()).ok_or_else(Error::no_database)?;
        let switching = SWITCHING.iter().find(|known| known.name.eq_ignore_ascii_case(name));
        let is_known = switching.is_some() || name.eq_ignore_ascii_case(TRUNCATE_ALL);
        if !is_known || !schema.eq_ignore_ascii_case(catalog::SYS) {
            return Err(Error::new(1305, "42000", format!("PROCEDURE {schema}.{name} does not exist")));
        }
        let arguments = match call.args {
            FunctionArguments::List(list) => calls::expressions(list.args),
            _ => Vec::new(),
        };
        if arguments.len() != 1 {
            let message =
                format!("Incorrect number of arguments for PROCEDURE {schema}.{name}; expected 1, got {}", arguments.len());
            return Err(Error::new(1318, "42000", message));
        }
        let mut query = parse::template("SELECT 1");
        select_of(&mut query)?.projection = arguments.into_iter().map(SelectItem::UnnamedExpr).collect();
        let argument = self.run(&mut query, parameters)?.rows.into_iter().next().unwrap_or_default();
        let summary = match switching {
            Some(switching) => self.switch(switching, &argument)?,
            None => self.truncate_all()?,
        };
        let columns = vec![ColumnHead::new("summary", SqlType::Varchar(64))];
        Ok(Outcome::Rows(Grid { columns, rows: vec![vec![summary.into()]] }))
    }

    fn switch(&mut self, switching: &Switching, argument: &[OwnedValue]) -> Result<String, Error> {
        let changed = match self.dispatch(switching.statement, argument)? {
            Outcome::Done { changed, .. } => changed,
            Outcome::Rows(_) => 0,
        };
        let ((done, what), plural) = (switching.summary, if changed == 1 { "" } else { "s" });
        Ok(format!("{done} {changed} {what}{plural}"))
    }

    /// Of the argument, whether to list the tables, only the sum is answered.
    fn truncate_all(&mut self) -> Result<String, Error> {
        let truncations = truncations(&self.state.catalog);
        for statement in &truncations {
            self.dispatch(statement, &[])?;
        }
        Ok(format!("Truncated {} tables", truncations.len()))
    }
}
