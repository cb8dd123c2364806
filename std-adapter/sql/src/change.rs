//! Statements that change something: UPDATE, INSERT, DELETE and TRUNCATE of the tables, and everything within schema `test`.

use crate::catalog::{self, Column, Kind};
use crate::columns::Clauses;
use crate::database::{Account, Right};
use crate::decimal::MAX_DIGITS;
use crate::dialect::{self, MEANT, ROW_NUMBERS};
use crate::functions::PREFIX;
use crate::session::{Outcome, Session};
use crate::state::{SCRATCH, ScratchTable, lock};
use crate::{Error, assigned, assignments, defaults, parse, scope, subquery, value, vtab};
use perfschema::core::table::{self, Row, SqlType, Table, TableError, Value};
use perfschema::render::{Grid, OwnedValue};
use rusqlite::params_from_iter;
use sqlparser::ast::{
    AssignmentTarget, CastKind, CreateTable, DataType, Delete, Expr, FromTable, Ident, Insert, LimitClause, ObjectName,
    ObjectNamePart, OrderBy, OrderByExpr, OrderByKind, Query, Select, SelectItem, SetExpr, Statement, TableAlias, TableFactor,
    TableObject, TableWithJoins, Truncate, Update, VisitMut, VisitorMut,
};
use std::collections::HashSet;
use std::fmt::Write;
use std::ops::ControlFlow;

/// Bytes of a page of SQLite's.
const PAGE: usize = 4096;
/// Bytes that a statement is first given for the tables of schema `test`.
const STEP: usize = 8 << 20;

impl Session {
    pub(crate) fn may_control(&self, privilege: &str) -> Result<(), Error> {
        match (self.state.account.right, self.state.is_read_only()) {
            (Right::Read, _) => {
                let message =
                    format!("Access denied; you need (at least one of) the {privilege} privilege(s) for this operation");
                Err(Error::new(1227, "42000", message))
            }
            (Right::Control, true) => Err(Error::read_only()),
            (Right::Control, false) => Ok(()),
        }
    }

    pub(crate) fn database_denied(&self, schema: &str) -> Error {
        let Account { user, host, .. } = &self.state.account;
        Error::new(1044, "42000", format!("Access denied for user '{user}'@'{host}' to database '{schema}'"))
    }

    /// The table that a statement changes.
    fn target(&self, name: &ObjectName, command: &'static str) -> Result<Target, Error> {
        let (schema, table) = dialect::qualified(name)?;
        let schema = self.state.schema_or_current(schema)?;
        if schema == catalog::TEST {
            return self.state.scratch_name(table).map(Target::Scratch).ok_or_else(|| Error::unknown_table(schema, table));
        }
        let (_, relation) = self.state.relation(schema, table, command)?;
        match relation.kind {
            Kind::Table(_) if schema == catalog::INFORMATION_SCHEMA => Err(self.database_denied(schema)),
            Kind::Table(_) if self.state.account.right == Right::Read => Err(self.state.command_denied(command, &relation.name)),
            Kind::Table(_) if self.state.is_read_only() => Err(Error::read_only()),
            Kind::Table(table) => Ok(Target::Table(table)),
            Kind::Information(_) if schema == catalog::PERFORMANCE_SCHEMA => {
                Err(self.state.command_denied(command, &relation.name))
            }
            Kind::Information(_) => Err(self.database_denied(schema)),
            Kind::View(_) => {
                Err(Error::new(1288, "HY000", format!("The target table {} of the {command} is not updatable", relation.name)))
            }
        }
    }

    /// What `sql_safe_updates` is there for: a change of all rows that somebody did not mean.
    fn check_safe(&self, has_where: bool, has_limit: bool) -> Result<(), Error> {
        let is_safe = self.state.variable("sql_safe_updates") == Some(1_i64.into());
        if is_safe && !has_where && !has_limit {
            let message =
                "You are using safe update mode and you tried to update a table without a WHERE that uses a KEY column.";
            return Err(Error::new(1175, "HY000", message));
        }
        Ok(())
    }

    /// A refusal of a table, with the session's user in it.
    fn refusal(&self, error: TableError) -> Error {
        match error {
            TableError::CommandDenied { command, table } => self.state.command_denied(command, table),
            other => other.into(),
        }
    }

    /// The rows that a condition chooses are found by SQLite; the changes are the table's own. A row is known by the columns that no UPDATE
    /// can change.
    pub(crate) fn update(&mut self, mut update: Update, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        let plain = update.table.joins.is_empty()
            && update.from.is_none()
            && update.returning.is_none()
            && update.output.is_none()
            && update.or.is_none();
        let TableFactor::Table { name, .. } = &update.table.relation else {
            return Err(Error::unsupported("this kind of UPDATE"));
        };
        if !plain {
            return Err(Error::unsupported("multi-table UPDATE"));
        }
        self.check_safe(update.selection.is_some(), update.limit.is_some())?;
        let target = self.target(name, "UPDATE")?;
        let table = match target {
            Target::Table(table) => table,
            Target::Scratch(name) => return self.update_scratch(&name, update, parameters),
        };
        let declaration = table.declaration();
        if declaration.rights.update.is_empty() {
            return Err(self.state.command_denied("UPDATE", declaration.name));
        }
        let mut columns = Vec::new();
        for name in self.assigned(&update)? {
            let column = &declaration.columns[declaration.column(&name)?];
            if !declaration.rights.update.contains(&column.name) {
                return Err(Error::wrong_usage());
            }
            columns.push(column.name);
        }
        let adopted = adopted_alias(&mut update);
        if let (Some(adopted), TableFactor::Table { alias: alias @ None, .. }) = (adopted, &mut update.table.relation) {
            *alias = Some(TableAlias { explicit: true, name: Ident::with_quote('`', adopted), columns: Vec::new(), at: None });
        }
        let key = key_columns(table, update.table.relation.clone());
        let keys = key.columns.len();
        let (_, relation) = self.state.relation(table.schema(), declaration.name, "UPDATE")?;
        let all = relation.all_columns().to_vec();
        let grid = self.assigned_rows(update, &columns, &all, key.items, parameters)?;

        // Rows that get the same values are changed together.
        type Chosen = Vec<Vec<OwnedValue>>;
        let mut groups: Vec<(Vec<OwnedValue>, Chosen)> = Vec::new();
        for row in grid.rows {
            let mut row: Vec<OwnedValue> = row.into_iter().map(value::plain).collect();
            let key = row.split_off(row.len() - keys);
            match groups.iter_mut().find(|(values, _)| *values == row) {
                Some((_, chosen)) => chosen.push(key),
                None => groups.push((row, vec![key])),
            }
        }
        // All are looked at before the first is changed.
        for (values, _) in &groups {
            for (column, value) in columns.iter().zip(values) {
                let column = &declaration.columns[declaration.column(column)?];
                column.check(&value.as_value()).map_err(|error| self.refusal(error))?;
            }
        }
        let lasts = assignments::lasts(&columns);
        let (mut matched, mut changed) = (0, 0);
        for (values, chosen) in &groups {
            let chosen: HashSet<String> = chosen.iter().map(|key| key_text(key.iter().map(OwnedValue::as_value))).collect();
            let new: Vec<(&str, Value<'_>)> = lasts.iter().map(|&last| (columns[last], values[last].as_value())).collect();
            let mut choose = |row: &dyn Row| chosen.contains(&key_text(key.columns.iter().map(|&column| row.cell(column))));
            let updated = table.update(self.state.region(), &mut choose, &new).map_err(|error| self.refusal(error))?;
            matched += updated.matched;
            changed += updated.changed;
        }
        Ok(self.updated(matched, changed))
    }

    /// What an UPDATE says of itself.
    fn updated(&self, matched: u64, changed: u64) -> Outcome {
        let warnings = lock(&self.state.settings).warnings.count();
        Outcome::Done { matched, changed, info: format!("Rows matched: {matched}  Changed: {changed}  Warnings: {warnings}") }
    }

    /// The columns that are assigned.
    fn assigned(&self, update: &Update) -> Result<Vec<String>, Error> {
        let target = assignments::Target::of(&update.table.relation, self.state.schema())?;
        update.assignments.iter().map(|assignment| target.assigned(&assignment.target).map(str::to_owned)).collect()
    }

    /// What is assigned to each row that is chosen, and what else is to be known of it. `columns` are assigned, of `all` that the table has.
    fn assigned_rows(
        &mut self,
        mut update: Update,
        columns: &[&str],
        all: &[Column],
        rest: Vec<SelectItem>,
        parameters: &[OwnedValue],
    ) -> Result<Grid, Error> {
        // Anew: the table may have got an alias since its columns were looked for.
        let target = assignments::Target::of(&update.table.relation, self.state.schema())?;
        let column = |name: &&str| all.iter().find(|column| column.is(name));
        let assigned: Vec<&Column> = columns.iter().filter_map(column).collect();
        for (assignment, column) in update.assignments.iter_mut().zip(&assigned) {
            defaults::put_in(&mut assignment.value, column, all)?;
        }
        let values = update.assignments.into_iter().map(|assignment| SelectItem::UnnamedExpr(assignment.value));
        let items = values.chain(rest).collect();
        let mut query = query_of_rows(items, update.table, update.selection, update.order_by, update.limit)?;
        let clauses = Clauses::of(&query);
        assignments::in_order(&mut query, &target, &assigned, all)?;
        self.run_as(&mut query, &clauses, parameters)
    }

    /// The same of a table in schema `test`: there a row is known by its number.
    fn update_scratch(&mut self, table: &str, update: Update, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        let columns = self.assigned(&update)?;
        self.check_columns(table, columns.iter().map(String::as_str))?;
        let all = self.scratch_columns(table);
        let old = columns.iter().map(|name| Expr::Identifier(dialect::ident(name)));
        let rest = old.chain([self.row_number(table)?]).map(SelectItem::UnnamedExpr).collect();
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        let grid = self.assigned_rows(update, &names, &all, rest, parameters)?;
        let lasts = assignments::lasts(&names);
        let assigned: Vec<&Column> = lasts.iter().filter_map(|&last| all.iter().find(|column| column.is(names[last]))).collect();
        let sets: Vec<String> = assigned.iter().map(|column| format!("`{}` = ?", column.name)).collect();
        let number = self.row_number_name(table)?;
        let sql = format!("UPDATE test.`{table}` SET {} WHERE {number} = ?", sets.join(", "));
        let explain = |error| self.state.explain(error);
        let changed = self.growing_scratch(STEP, || {
            self.at_once(|| {
                let mut statement = self.connection.prepare(&sql).map_err(explain)?;
                let mut changed = 0;
                for row in &grid.rows {
                    let (values, old) = row.split_at(names.len());
                    let value = |(&last, column): (&usize, &&Column)| {
                        value::in_column(value::store_owned(&values[last]), column, &self.state)
                    };
                    let new: Vec<_> = lasts.iter().zip(&assigned).map(value).collect();
                    let before = lasts.iter().map(|&last| value::store_owned(&old[last]));
                    if !before.eq(new.iter().cloned()) {
                        self.state.check_time()?;
                        let number = value::store_owned(&old[names.len()]);
                        statement.execute(params_from_iter(new.iter().chain([&number]))).map_err(explain)?;
                        changed += 1;
                    }
                }
                Ok(changed)
            })
        })?;
        Ok(self.updated(grid.rows.len() as u64, changed))
    }

    pub(crate) fn insert(&mut self, mut insert: Insert, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        let TableObject::TableName(name) = &insert.table else { return Err(Error::unsupported("this kind of INSERT")) };
        let plain = insert.or.is_none()
            && insert.returning.is_none()
            && insert.table_alias.is_none()
            && insert.partitioned.is_none()
            && !insert.overwrite;
        if !plain {
            return Err(Error::unsupported("this kind of INSERT"));
        }
        // All that it may come to must be allowed.
        let (command, is_plain) = match &insert {
            Insert { replace_into: true, .. } => ("INSERT, DELETE", false),
            Insert { on: Some(_), .. } => ("INSERT, UPDATE", false),
            _ => ("INSERT", true),
        };
        let table = match self.target(name, command)? {
            Target::Table(table) => table,
            // No table there has a key: nothing is replaced, and nothing updated.
            Target::Scratch(name) => {
                let columns = self.scratch_columns(&name);
                defaults::put_in_insert(&mut insert, &columns)?;
                as_lists(&mut insert, &columns)?;
                self.check_columns(&name, insert.columns.iter().filter_map(dialect::last))?;
                return self.change_scratch(&mut Statement::Insert(Insert { on: None, ..insert }), parameters);
            }
        };
        let declaration = table.declaration();
        if !declaration.rights.insert_delete {
            return Err(self.state.command_denied(command, declaration.name));
        }
        if !is_plain {
            return Err(Error::unsupported("this kind of INSERT"));
        }
        let (_, relation) = self.state.relation(table.schema(), declaration.name, command)?;
        defaults::put_in_insert(&mut insert, relation.columns())?;
        as_lists(&mut insert, relation.columns())?;
        let mut names = Vec::new();
        for column in &insert.columns {
            names.push(dialect::qualified(column)?.1);
        }
        let mut query = *insert.source.ok_or_else(Error::empty)?;
        let mut columns = Vec::new();
        for name in &names {
            columns.push(declaration.columns[declaration.column(name)?].name);
        }
        if names.is_empty() {
            columns = declaration.columns.iter().map(|column| column.name).collect();
        }
        let grid = self.run(&mut query, parameters)?;
        // MySQL's own SETUP_ACTORS has fewer columns in the worklog: values for the first columns, defaults for the rest.
        let fits = |row: &Vec<OwnedValue>| row.len() == columns.len() || (names.is_empty() && row.len() < columns.len());
        if !grid.rows.iter().all(fits) {
            return Err(Error::new(1136, "21S01", "Column count doesn't match value count at row 1"));
        }
        let mut inserted = 0;
        for row in grid.rows {
            let row: Vec<OwnedValue> = row.into_iter().map(value::plain).collect();
            let values: Vec<(&str, Value<'_>)> = columns.iter().copied().zip(row.iter().map(OwnedValue::as_value)).collect();
            match table.insert(self.state.region(), &values).map_err(|error| self.refusal(error)) {
                Ok(()) => inserted += 1,
                // What is there already needs no second row.
                Err(error) if insert.ignore && error.errno == 1022 => {
                    self.state.warn("Warning", error);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Outcome::changed(inserted))
    }

    pub(crate) fn delete(&mut self, delete: Delete, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        let ([target @ TableWithJoins { relation: TableFactor::Table { name, .. }, joins }], [], None) =
            (from.as_slice(), delete.tables.as_slice(), &delete.using)
        else {
            return Err(Error::unsupported("multi-table DELETE"));
        };
        if !joins.is_empty() || delete.returning.is_some() || delete.output.is_some() {
            return Err(Error::unsupported("this kind of DELETE"));
        }
        self.check_safe(delete.selection.is_some(), delete.limit.is_some())?;
        let table = match self.target(name, "DELETE")? {
            Target::Table(table) => table,
            Target::Scratch(name) => {
                let (order_by, limit) = (delete.order_by.clone(), delete.limit.clone());
                let selection = self.choose(&name, target, delete.selection.clone(), order_by, limit)?;
                let delete = Delete { selection, order_by: Vec::new(), limit: None, ..delete };
                return self.change_scratch(&mut Statement::Delete(delete), parameters);
            }
        };
        let declaration = table.declaration();
        if !declaration.rights.insert_delete {
            return Err(self.state.command_denied("DELETE", declaration.name));
        }
        let key = key_columns(table, target.relation.clone());
        let mut query = query_of_rows(key.items, target.clone(), delete.selection, delete.order_by, delete.limit)?;
        let grid = self.run(&mut query, parameters)?;
        let chosen: HashSet<String> = grid.rows.iter().map(|row| key_text(row.iter().map(OwnedValue::as_value))).collect();
        let mut choose = |row: &dyn Row| chosen.contains(&key_text(key.columns.iter().map(|&column| row.cell(column))));
        let deleted = table.delete(self.state.region(), &mut choose).map_err(|error| self.refusal(error))?;
        Ok(Outcome::changed(deleted))
    }

    pub(crate) fn truncate(&mut self, truncate: &Truncate) -> Result<Outcome, Error> {
        let [target] = truncate.table_names.as_slice() else { return Err(Error::syntax("", 1)) };
        match self.target(&target.name, "DROP")? {
            Target::Table(table) => table.truncate(self.state.region()).map_err(|error| self.refusal(error))?,
            Target::Scratch(name) => {
                self.batch(&format!("DELETE FROM test.`{name}`"))?;
                self.give_scratch_back()?;
            }
        }
        Ok(Outcome::done())
    }

    /// The condition of a change in schema `test`: SQLite has neither ORDER BY nor LIMIT there, so the rows are chosen by a query.
    fn choose(
        &self,
        table: &str,
        from: &TableWithJoins,
        selection: Option<Expr>,
        order_by: Vec<OrderByExpr>,
        limit: Option<Expr>,
    ) -> Result<Option<Expr>, Error> {
        if order_by.is_empty() && limit.is_none() {
            return Ok(selection);
        }
        let number = self.row_number(table)?;
        let item = vec![SelectItem::UnnamedExpr(number.clone())];
        let expr = Box::new(number);
        let subquery = query_of_rows(item, from.clone(), selection, order_by, limit)?;
        Ok(Some(Expr::InSubquery { expr, subquery: Box::new(subquery), negated: false }))
    }

    /// SQLite's name of the number of a row, in a table of schema `test`: one that no column has.
    fn row_number_name(&self, table: &str) -> Result<&'static str, Error> {
        let columns = self.scratch_columns(table);
        let is_free = |name: &&str| !columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
        ROW_NUMBERS.into_iter().find(is_free).ok_or_else(|| Error::unsupported("a change of a table with these columns"))
    }

    /// The number of a row there.
    fn row_number(&self, table: &str) -> Result<Expr, Error> {
        let name = Ident::with_quote(MEANT, self.row_number_name(table)?);
        let expr = Box::new(Expr::Identifier(name));
        // As a number, so that it is compared as one.
        Ok(Expr::Cast { kind: CastKind::Cast, expr, data_type: DataType::Signed, format: None })
    }

    /// The columns of a table in schema `test`.
    fn scratch_columns(&self, table: &str) -> Vec<Column> {
        self.state.scratch_table(table).map_or_else(Vec::new, |table| table.columns)
    }

    /// The columns that a change of a table in schema `test` assigns are there: SQLite would take the number of a row for one.
    fn check_columns<'c>(&self, table: &str, mut columns: impl Iterator<Item = &'c str>) -> Result<(), Error> {
        let known = self.scratch_columns(table);
        let is_known = |name: &str| known.iter().any(|column| column.is(name));
        let unknown = columns.find(|name| !is_known(name));
        unknown.map_or(Ok(()), |name| Err(Error::unknown_column(name, "field list")))
    }

    /// INSERT and DELETE of a table in schema `test` are SQLite's business.
    fn change_scratch(&mut self, statement: &mut Statement, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        let mut fitted = None;
        // The target's name is no table factor in every statement, and is put in by hand.
        if let Statement::Insert(Insert { table: TableObject::TableName(name), .. }) = statement
            && let Target::Scratch(table) = self.target(name, "INSERT")?
        {
            fitted = self.fitting(&table);
            *name = ObjectName::from(vec![Ident::with_quote('`', catalog::TEST), Ident::with_quote('`', table)]);
        }
        // What counts rows by a variable is not run again.
        let step = if assigned::is_in(statement) { usize::MAX } else { STEP };
        let rewritten = dialect::rewrite(statement, &self.state, parameters)?;
        let (state, bound) = (&self.state, &rewritten.bound);
        self.make_relations(&rewritten)?;
        let change = || {
            state.seed_again();
            let mut statement = self.prepare(&rewritten, "")?;
            let used = statement.parameter_count().min(bound.len());
            statement.execute(params_from_iter(&bound[..used])).map_err(|error| state.explain(error))
        };
        let changed = self.growing_scratch(step, || match &fitted {
            Some(fit) => self.at_once(|| {
                let changed = change()?;
                state.as_own(|| self.batch(fit))?;
                Ok(changed)
            }),
            None => change(),
        })?;
        Ok(Outcome::changed(changed as u64))
    }

    /// What gives numbers in the columns of exact ones that were inserted as many digits behind the point as these have, and writes moments as their
    /// columns have them; None if there are no such columns.
    fn fitting(&self, table: &str) -> Option<String> {
        let columns = self.scratch_columns(table);
        let sets: Vec<String> = columns
            .iter()
            .filter_map(|column| {
                let moment = |call: String| Some(format!("`{0}` = COALESCE({PREFIX}{call}, `{0}`)", column.name));
                match column.sql_type {
                    SqlType::Decimal(_, scale) => {
                        let name = column.name.replace('\'', "''");
                        Some(format!("`{0}` = {PREFIX}decimal(`{0}`, {MAX_DIGITS}, {scale}, '{name}')", column.name))
                    }
                    SqlType::Date => moment(format!("date(`{}`)", column.name)),
                    SqlType::Time(digits) => moment(format!("to_time(`{}`, {digits})", column.name)),
                    SqlType::Datetime(digits) => moment(format!("to_datetime(`{}`, {digits})", column.name)),
                    _ => None,
                }
            })
            .collect();
        if sets.is_empty() {
            return None;
        }
        // Where the numbers of rows have a name, those are left alone that were there before.
        let new = self.row_number_name(table).ok().and_then(|number| {
            let last = format!("SELECT COALESCE(MAX({number}), 0) FROM test.`{table}`");
            let last: i64 = self.state.as_own(|| self.connection.query_row(&last, [], |row| row.get(0))).ok()?;
            Some(format!(" WHERE {number} > {last}"))
        });
        Some(format!("UPDATE test.`{table}` SET {}{}", sets.join(", "), new.unwrap_or_default()))
    }

    /// Bytes that the tables of schema `test` take.
    fn scratch_bytes(&self) -> Result<usize, Error> {
        let pages = || self.connection.query_row("PRAGMA test.page_count", [], |row| row.get::<_, u32>(0));
        Ok(self.state.as_own(pages)? as usize * PAGE)
    }

    /// What these no longer take, others may have.
    fn give_scratch_back(&self) -> Result<(), Error> {
        let bytes = self.scratch_bytes()?;
        let taken = &mut lock(&self.state.settings).scratch_bytes;
        taken.shrink(taken.bytes().saturating_sub(bytes));
        Ok(())
    }

    /// Runs what may make the tables of schema `test` larger. It may take `step` more at first, and is run again with twice as much where that was
    /// too little, as long as some is left of the session's share and of that of all: so nothing may have come of it when it fails.
    fn growing_scratch<R>(&self, step: usize, mut run: impl FnMut() -> Result<R, Error>) -> Result<R, Error> {
        self.give_scratch_back()?;
        let limits = &self.state.limits;
        let all = limits.scratch_bytes() - self.state.kept_for_control(limits.scratch_bytes());
        let (mut limit, mut step) = (self.scratch_bytes()?, step);
        let mut taken = std::mem::take(&mut lock(&self.state.settings).scratch_bytes);
        let result = loop {
            let wanted = step.min(limits.scratch_bytes_of_session().saturating_sub(limit));
            let granted = taken.grow_by_what_is_left(&self.state.scratch_budget, wanted, all);
            limit += granted;
            // 0 would be no limit.
            let pages = (limit / PAGE).max(1);
            let set = self.state.as_own(|| self.batch(&format!("PRAGMA test.max_page_count = {pages}")));
            match set.and_then(|()| run()) {
                Err(error) if error == Error::full() && granted > 0 => step = step.max(limit),
                result => break result,
            }
        };
        lock(&self.state.settings).scratch_bytes = taken;
        self.give_scratch_back()?;
        result
    }

    /// Several statements of SQLite's in schema `test`: all of them, or none.
    fn at_once<R>(&self, run: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        let own = |sql: &str| self.state.as_own(|| self.batch(sql));
        own("BEGIN")?;
        let result = run().and_then(|result| own("COMMIT").map(|()| result));
        // SQLite has taken it back itself where it had no room.
        if !self.connection.is_autocommit() {
            own("ROLLBACK")?;
        }
        result
    }

    fn batch(&self, sql: &str) -> Result<(), Error> {
        self.connection.execute_batch(sql).map_err(|error| self.state.explain(error))
    }

    /// `CREATE TABLE test.x AS SELECT …`
    pub(crate) fn create_table(&mut self, create: CreateTable, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        let (schema, name) = dialect::qualified(&create.name)?;
        let schema = self.state.schema_or_current(schema)?;
        if schema != catalog::TEST {
            return Err(self.database_denied(schema));
        }
        let name = name.to_owned();
        if name.contains(['`', '\0']) || name.to_ascii_lowercase().starts_with("sqlite_") || name.len() > 64 {
            return Err(Error::new(1103, "42000", format!("Incorrect table name '{name}'")));
        }
        if self.state.scratch_name(&name).is_some() {
            let error = Error::new(1050, "42S01", format!("Table '{name}' already exists"));
            if create.if_not_exists {
                self.state.warn("Note", error);
                return Ok(Outcome::done());
            }
            return Err(error);
        }
        let (Some(mut query), true) = (create.query, create.columns.is_empty() && create.constraints.is_empty()) else {
            return Err(Error::unsupported("CREATE TABLE other than AS SELECT"));
        };
        let grid = self.run(&mut query, parameters)?;
        let columns: Vec<Column> =
            grid.columns.iter().map(|head| Column::new(&head.name, head.sql_type, head.nullable)).collect();
        scope::check_once(columns.iter().map(|column| column.name.as_str()))?;
        let number = {
            let mut settings = lock(&self.state.settings);
            settings.scratch_made += 1;
            SCRATCH + settings.scratch_made
        };
        let declared: Vec<String> =
            columns.iter().enumerate().map(|(index, column)| vtab::declare(number, index, column)).collect();
        let places = vec!["?"; columns.len()].join(", ");
        let fill = || {
            self.batch(&format!("CREATE TABLE test.`{name}` ({})", declared.join(", ")))?;
            let mut insert = self.connection.prepare(&format!("INSERT INTO test.`{name}` VALUES ({places})"))?;
            for row in &grid.rows {
                insert
                    .execute(params_from_iter(row.iter().map(value::store_owned)))
                    .map_err(|error| self.state.explain(error))?;
            }
            Ok(())
        };
        self.growing_scratch(STEP, || self.at_once(fill))?;
        lock(&self.state.settings).scratch.push(ScratchTable { number, name, columns });
        let count = grid.rows.len() as u64;
        Ok(Outcome::Done { matched: count, changed: count, info: format!("Records: {count}  Duplicates: 0  Warnings: 0") })
    }

    pub(crate) fn drop_tables(&mut self, names: &[ObjectName], if_exists: bool) -> Result<Outcome, Error> {
        for name in names {
            let (schema, table) = dialect::qualified(name)?;
            let schema = self.state.schema_or_current(schema)?;
            if schema != catalog::TEST {
                return Err(self.database_denied(schema));
            }
            match self.state.scratch_name(table) {
                Some(name) => {
                    self.batch(&format!("DROP TABLE test.`{name}`"))?;
                    lock(&self.state.settings).scratch.retain(|table| table.name != name);
                    self.give_scratch_back()?;
                }
                None if if_exists => {
                    self.state.warn("Note", Error::unknown_in_drop(schema, table));
                }
                None => return Err(Error::unknown_in_drop(schema, table)),
            }
        }
        Ok(Outcome::done())
    }
}

enum Target {
    Table(&'static dyn Table),
    /// A table of schema `test`, by its name as it was made.
    Scratch(String),
}

/// Makes what SET gives a list of columns and one of values, as other INSERTs have them. `all` are the table's columns.
///
/// # Errors
/// 1110: a column is named twice, so that nobody knows which value it gets.
fn as_lists(insert: &mut Insert, all: &[Column]) -> Result<(), Error> {
    if !insert.assignments.is_empty() {
        let mut query = parse::template("SELECT 1");
        let mut items = Vec::new();
        for assignment in std::mem::take(&mut insert.assignments) {
            let AssignmentTarget::ColumnName(name) = assignment.target else {
                return Err(Error::unsupported("this kind of SET"));
            };
            insert.columns.push(name);
            items.push(SelectItem::UnnamedExpr(assignment.value));
        }
        select_of(&mut query)?.projection = items;
        insert.source = Some(Box::new(query));
    }
    let mut named = HashSet::new();
    for name in insert.columns.iter().filter_map(dialect::last) {
        if let Some(column) = all.iter().find(|column| column.is(name))
            && !named.insert(&column.name)
        {
            return Err(Error::new(1110, "42000", format!("Column '{}' specified twice", column.name)));
        }
    }
    Ok(())
}

pub(crate) fn select_of(query: &mut Query) -> Result<&mut Select, Error> {
    match &mut *query.body {
        SetExpr::Select(select) => Ok(select),
        other => Err(Error::unsupported(&other.to_string())),
    }
}

/// A query for what is to be changed, row by row: what is made of several would choose others.
fn query_of_rows(
    items: Vec<SelectItem>,
    from: TableWithJoins,
    selection: Option<Expr>,
    order_by: Vec<OrderByExpr>,
    limit: Option<Expr>,
) -> Result<Query, Error> {
    let order = order_by.iter().map(|by| &by.expr);
    let values = items.iter().filter_map(|item| if let SelectItem::UnnamedExpr(value) = item { Some(value) } else { None });
    values.chain(&selection).chain(order).try_for_each(subquery::check_of_one_row)?;
    let mut query = parse::template("SELECT 1 FROM dual");
    query.order_by = (!order_by.is_empty()).then_some(OrderBy { kind: OrderByKind::Expressions(order_by), interpolate: None });
    query.limit_clause = limit.map(|limit| LimitClause::LimitOffset { limit: Some(limit), offset: None, limit_by: Vec::new() });
    let select = select_of(&mut query)?;
    select.projection = items;
    select.from = vec![from];
    select.selection = selection;
    Ok(query)
}

/// The columns that tell rows apart: those that are never NULL and that no UPDATE changes.
struct Key {
    columns: Vec<usize>,
    items: Vec<SelectItem>,
}

fn key_columns(table: &dyn Table, relation: TableFactor) -> Key {
    let declaration = table.declaration();
    let qualifier = match relation {
        TableFactor::Table { alias: Some(alias), .. } => alias.name,
        _ => Ident::with_quote('`', declaration.name),
    };
    let is_key = |column: &table::Column| !column.nullable && !declaration.rights.update.contains(&column.name);
    let columns: Vec<usize> = (0..declaration.columns.len()).filter(|&index| is_key(&declaration.columns[index])).collect();
    let item = |&index: &usize| {
        let column = Ident::with_quote('`', declaration.columns[index].name);
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(vec![qualifier.clone(), column]))
    };
    Key { items: columns.iter().map(item).collect(), columns }
}

/// A key as text that no other key has.
fn key_text<'a>(values: impl Iterator<Item = Value<'a>>) -> String {
    let mut text = String::new();
    for value in values {
        let _ = match value {
            Value::Text(part) => write!(text, "{}:{part}", part.len()),
            other => write!(text, "{other},"),
        };
    }
    text
}

/// Looks for a qualifier that stands for no table of the statement: `x` in
/// `UPDATE setup_instruments SET ENABLED=(SELECT ENABLED FROM test.saved y WHERE x.NAME=y.NAME)`, as WL#2360 writes it. If there is exactly
/// one, the table that is updated is meant.
fn adopted_alias(update: &mut Update) -> Option<String> {
    #[derive(Default)]
    struct Names {
        known: Vec<String>,
        used: Vec<String>,
    }
    impl VisitorMut for Names {
        type Break = ();
        fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
            match factor {
                TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
                    self.known.push(alias.name.value.to_lowercase());
                }
                TableFactor::Table { name, .. } => {
                    let last = name.0.last().and_then(ObjectNamePart::as_ident);
                    self.known.extend(last.map(|name| name.value.to_lowercase()));
                }
                _ => {}
            }
            ControlFlow::Continue(())
        }
        fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            if let Expr::CompoundIdentifier(names) = expr
                && let [qualifier, _] = names.as_slice()
                && !qualifier.value.starts_with('@')
            {
                self.used.push(qualifier.value.to_lowercase());
            }
            ControlFlow::Continue(())
        }
    }
    let mut names = Names::default();
    let _ = update.visit(&mut names);
    names.used.retain(|name| !names.known.contains(name));
    names.used.sort();
    names.used.dedup();
    match names.used.as_slice() {
        [one] => Some(one.clone()),
        _ => None,
    }
}
