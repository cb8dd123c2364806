//! Statements about transactions and locks, of which there are none here, and others that change nothing but the session.

use crate::catalog::Kind;
use crate::database::Right;
use crate::session::{Outcome, Session};
use crate::show::Words;
use crate::state::lock;
use crate::{Error, catalog, parse};
use perfschema::render::OwnedValue;
use sqlparser::ast::Statement;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Savepoints that a session keeps.
const MAX_SAVEPOINTS: usize = 1000;

impl Session {
    /// What the parser does not know, or would read otherwise; None if it is to read it.
    pub(crate) fn session_statement(
        &mut self,
        tokens: &[TokenWithSpan],
        text: &str,
        parameters: &[OwnedValue],
    ) -> Result<Option<Outcome>, Error> {
        let mut words = Words::of(tokens, text);
        if words.take("SET") {
            let is_transaction =
                words.take("TRANSACTION") || ((words.take("SESSION") || words.take("LOCAL")) && words.take("TRANSACTION"));
            if is_transaction {
                return Ok(Some(Outcome::done()));
            }
            return self.set_characters(tokens, text, parameters);
        }
        let starts = words.take("START");
        if starts && !words.take("TRANSACTION") {
            return Ok(None);
        }
        if starts || words.take("BEGIN") {
            lock(&self.state.settings).savepoints = Some(Vec::new());
        } else if words.take("COMMIT") {
            lock(&self.state.settings).savepoints = None;
        } else if words.take("SAVEPOINT") {
            let name = words.name()?;
            words.end()?;
            self.savepoint(name)?;
        } else if words.take("RELEASE") {
            if !words.take("SAVEPOINT") {
                return Err(words.wrong());
            }
            let name = words.name()?;
            words.end()?;
            let found = self.find_savepoint(&name)?;
            self.forget_savepoints(found);
        } else if words.take("ROLLBACK") {
            let _ = words.take("WORK");
            if words.take("TO") {
                let _ = words.take("SAVEPOINT");
                let name = words.name()?;
                words.end()?;
                let found = self.find_savepoint(&name)?;
                self.forget_savepoints(found + 1);
            } else {
                lock(&self.state.settings).savepoints = None;
            }
        } else if words.take("UNLOCK") {
            if !(words.take("TABLES") || words.take("TABLE")) {
                return Err(words.wrong());
            }
            words.end()?;
        } else if words.take("LOCK") {
            if !(words.take("TABLES") || words.take("TABLE")) {
                return Err(words.wrong());
            }
            self.lock_tables(&mut words)?;
        } else if words.take("DO") {
            let mut select = tokens.to_vec();
            select[0].token = Token::make_word("SELECT", None);
            if let Statement::Query(mut query) = parse::parse(select, text)? {
                self.run(&mut query, parameters)?;
            }
        } else if words.take("FLUSH") {
            let _ = words.take("LOCAL") || words.take("NO_WRITE_TO_BINLOG");
            let is_status = words.take("STATUS");
            if !(is_status || ["TABLES", "TABLE", "PRIVILEGES", "HOSTS", "LOGS"].iter().any(|what| words.take(what))) {
                return Ok(None);
            }
            self.may_control("RELOAD")?;
            if is_status {
                self.state.region().flush_status();
            }
        } else {
            return Ok(None);
        }
        Ok(Some(Outcome::done()))
    }

    fn savepoint(&self, name: String) -> Result<(), Error> {
        let commits_each = self.state.variable("autocommit") != Some(0_i64.into());
        let mut settings = lock(&self.state.settings);
        let savepoints = match &mut settings.savepoints {
            Some(savepoints) => savepoints,
            // It is over with the statement.
            None if commits_each => return Ok(()),
            none => none.insert(Vec::new()),
        };
        savepoints.retain(|other| !other.eq_ignore_ascii_case(&name));
        if savepoints.len() >= MAX_SAVEPOINTS || name.len() > 64 {
            return Err(Error::out_of_memory());
        }
        savepoints.push(name);
        Ok(())
    }

    fn find_savepoint(&self, name: &str) -> Result<usize, Error> {
        let settings = lock(&self.state.settings);
        let found = settings.savepoints.iter().flatten().position(|other| other.eq_ignore_ascii_case(name));
        found.ok_or_else(|| Error::new(1305, "42000", format!("SAVEPOINT {name} does not exist")))
    }

    fn forget_savepoints(&self, from: usize) {
        lock(&self.state.settings).savepoints.iter_mut().for_each(|savepoints| savepoints.truncate(from));
    }

    /// `LOCK TABLES a READ, b WRITE`: nobody keeps a reader of them waiting, and what is written is written at once.
    fn lock_tables(&self, words: &mut Words<'_>) -> Result<(), Error> {
        loop {
            let (schema, table) = words.table(&self.state)?;
            let refusal = self.lock_refusal(&schema, &table)?;
            let kinds = ["READ", "WRITE", "LOW_PRIORITY"];
            if words.take("AS") || !kinds.iter().any(|kind| words.is_next(kind)) {
                let _alias = words.name()?;
            }
            if words.take("READ") {
                let _ = words.take("LOCAL");
            } else {
                let _ = words.take("LOW_PRIORITY");
                if !words.take("WRITE") {
                    return Err(words.wrong());
                }
            }
            if let Some(refusal) = refusal {
                return Err(refusal);
            }
            if !words.take_token(&Token::Comma) {
                return words.end();
            }
        }
    }

    /// Why a table cannot be locked: as in MySQL, tables that nobody can change are only read, and nobody locks `information_schema`.
    fn lock_refusal(&self, schema: &str, table: &str) -> Result<Option<Error>, Error> {
        let unknown = || Error::unknown_table(schema, table);
        if schema == catalog::TEST {
            return self.state.scratch_name(table).map(|_| None).ok_or_else(unknown);
        }
        let (_, relation) = self.state.catalog.find(schema, table).ok_or_else(unknown)?;
        Ok(match relation.kind {
            Kind::Table(table) => {
                let rights = &table.declaration().rights;
                let is_changed = rights.insert_delete || !rights.update.is_empty();
                let may_lock = is_changed && self.state.account.right == Right::Control;
                (!may_lock).then(|| self.command_denied("SELECT, LOCK TABLES", &relation.name))
            }
            Kind::Information(_) => Some(self.database_denied(schema)),
            Kind::View(_) => None,
        })
    }
}
