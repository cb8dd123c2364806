//! CALL of the procedures of MySQL's schema `sys` that switch what is recorded, and set it back.

use crate::change::select_of;
use crate::session::{Outcome, Session};
use crate::{Error, calls, catalog, dialect, parse};
use perfschema::core::table::SqlType;
use perfschema::render::{ColumnHead, Grid, OwnedValue};
use sqlparser::ast::{Function, FunctionArguments, SelectItem};

/// One that switches rows.
struct Switching {
    name: &'static str,
    /// With one value: what the names of the rows contain.
    statement: &'static str,
    /// What it says that it did, and to what.
    summary: (&'static str, &'static str),
}

const fn switching(name: &'static str, statement: &'static str, summary: (&'static str, &'static str)) -> Switching {
    Switching { name, statement, summary }
}

const SWITCHING: [Switching; 4] = [
    switching(
        "ps_setup_enable_instrument",
        "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE CONCAT('%', ?, '%')",
        ("Enabled", "instrument"),
    ),
    switching(
        "ps_setup_disable_instrument",
        "UPDATE performance_schema.setup_instruments SET ENABLED = 'NO', TIMED = 'NO' WHERE NAME LIKE CONCAT('%', ?, '%')",
        ("Disabled", "instrument"),
    ),
    switching(
        "ps_setup_enable_consumer",
        "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME LIKE CONCAT('%', ?, '%')",
        ("Enabled", "consumer"),
    ),
    switching(
        "ps_setup_disable_consumer",
        "UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME LIKE CONCAT('%', ?, '%')",
        ("Disabled", "consumer"),
    ),
];

const TRUNCATE_ALL: &str = "ps_truncate_all_tables";

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

    /// What has ended, in lists and in sums: not what goes on. Of the argument, whether to list the tables, only the sum is answered.
    fn truncate_all(&mut self) -> Result<String, Error> {
        let catalog = std::sync::Arc::clone(&self.state.catalog);
        let mut count = 0;
        for relation in &catalog.relations {
            if let catalog::Kind::Table(table) = relation.kind
                && table.declaration().rights.truncate
                && !relation.name.ends_with("_current")
            {
                self.dispatch(&format!("TRUNCATE TABLE {}.{}", relation.schema, relation.name), &[])?;
                count += 1;
            }
        }
        Ok(format!("Truncated {count} tables"))
    }
}
