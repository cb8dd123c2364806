//! UPDATE assigns from left to right: what reads a column that was assigned before it reads the new value. SQLite has the old ones throughout,
//! so what was assigned is put in the place of the column.

use crate::Error;
use crate::dialect::{Copies, qualified};
use crate::subquery::{parts, replace};
use sqlparser::ast::{AssignmentTarget, Expr, Ident, ObjectName, TableFactor, Update, Visit, Visitor};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// How deep an expression may get that others were put into.
const MAX_DEPTH: usize = 200;

/// The name of the column that is assigned; None: it is something else that is.
pub(crate) fn assigned_column(target: &AssignmentTarget) -> Option<&str> {
    match target {
        AssignmentTarget::ColumnName(name) => column_of(name),
        AssignmentTarget::Tuple(_) => None,
    }
}

pub(crate) fn column_of(name: &ObjectName) -> Option<&str> {
    name.0.last()?.as_ident().map(|column| column.value.as_str())
}

/// Puts what was assigned in the place of the columns, in all assignments behind. A query within one has the old values.
pub(crate) fn in_order(update: &mut Update) -> Result<(), Error> {
    let TableFactor::Table { name, alias, .. } = &update.table.relation else { return Ok(()) };
    let (schema, table) = qualified(name)?;
    let (schema, table) = alias.as_ref().map_or((schema, table), |alias| (None, &alias.name.value));
    let is_of_table = |qualifiers: &[Ident]| match qualifiers {
        [] => true,
        [own] => own.value.eq_ignore_ascii_case(table),
        [first, own] => {
            own.value.eq_ignore_ascii_case(table) && schema.is_none_or(|schema| first.value.eq_ignore_ascii_case(schema))
        }
        _ => false,
    };
    let mut copies = Copies::default();
    let mut assigned: HashMap<String, Expr> = HashMap::new();
    for assignment in &mut update.assignments {
        let meant = |expr: &Expr| {
            let (column, qualifiers) = parts(expr)?.split_last()?;
            assigned.get(&column.value.to_lowercase()).filter(|_| is_of_table(qualifiers))
        };
        if replace(&mut assignment.value, &meant, &mut copies)? {
            check_depth(&assignment.value)?;
        }
        if let Some(column) = assigned_column(&assignment.target) {
            assigned.insert(column.to_lowercase(), assignment.value.clone());
        }
    }
    Ok(())
}

fn check_depth(expr: &Expr) -> Result<(), Error> {
    struct Depth(usize);
    impl Visitor for Depth {
        type Break = ();
        fn pre_visit_expr(&mut self, _: &Expr) -> ControlFlow<()> {
            self.0 += 1;
            if self.0 > MAX_DEPTH { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
        fn post_visit_expr(&mut self, _: &Expr) -> ControlFlow<()> {
            self.0 -= 1;
            ControlFlow::Continue(())
        }
    }
    if expr.visit(&mut Depth(0)).is_break() { Err(Error::too_complex()) } else { Ok(()) }
}
