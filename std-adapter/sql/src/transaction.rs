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
            let of_session = words.take("SESSION") || words.take("LOCAL");
            if words.take("TRANSACTION") {
                return self.set_transaction(&mut words, of_session).map(Some);
            }
            return self.set_characters(tokens, text, parameters);
        }
        let starts = words.take("START");
        if starts && !words.take("TRANSACTION") {
            return Ok(None);
        }
        if starts {
            skip_characteristics(&mut words)?;
            lock(&self.state.settings).savepoints = Some(Vec::new());
        } else if words.take("BEGIN") {
            let _ = words.take("WORK");
            words.end()?;
            lock(&self.state.settings).savepoints = Some(Vec::new());
        } else if words.take("COMMIT") {
            let _ = words.take("WORK");
            self.end_transaction(&mut words)?;
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
                self.end_transaction(&mut words)?;
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
            self.commit();
            self.lock_tables(&mut words)?;
        } else if words.take("DO") {
            let mut select = tokens.to_vec();
            select[0].token = Token::make_word("SELECT", None);
            if let Statement::Query(mut query) = parse::parse(select, text)? {
                self.run(&mut query, parameters)?;
            }
        } else if words.take("FLUSH") {
            let _ = words.take("LOCAL") || words.take("NO_WRITE_TO_BINLOG");
            let mut is_status = false;
            // Of tables more may be said: which, and that they are to be locked.
            if !(words.take("TABLES") || words.take("TABLE")) {
                loop {
                    let takes_status = words.take("STATUS");
                    is_status |= takes_status;
                    if !(takes_status || ["PRIVILEGES", "HOSTS", "LOGS"].iter().any(|what| words.take(what))) {
                        return Ok(None);
                    }
                    if !words.take_token(&Token::Comma) {
                        break;
                    }
                }
                words.end()?;
            }
            self.commit();
            self.may_control("RELOAD")?;
            if is_status {
                self.state.region().flush_status();
                self.state.counters.reset();
                self.state.clients.iter().for_each(|clients| clients.flush_status());
            }
        } else {
            return Ok(None);
        }
        Ok(Some(Outcome::done()))
    }

    /// `[AND [NO] CHAIN] [[NO] RELEASE]`: `AND CHAIN` begins another one.
    fn end_transaction(&self, words: &mut Words<'_>) -> Result<(), Error> {
        let says_more = words.take("AND");
        let chains = says_more && !words.take("NO");
        if says_more && !words.take("CHAIN") {
            return Err(words.wrong());
        }
        let keeps = words.take("NO");
        if !words.take("RELEASE") && keeps {
            return Err(words.wrong());
        }
        words.end()?;
        lock(&self.state.settings).savepoints = chains.then(Vec::new);
        Ok(())
    }

    /// As statements do that cannot be part of a transaction.
    pub(crate) fn commit(&self) {
        lock(&self.state.settings).savepoints = None;
    }

    /// `SET [SESSION] TRANSACTION …`: of the session it is kept, of the next transaction it is of no consequence.
    fn set_transaction(&mut self, words: &mut Words<'_>, of_session: bool) -> Result<Outcome, Error> {
        let mut found = Vec::new();
        loop {
            if words.take("ISOLATION") && words.take("LEVEL") {
                let level = match words.name()?.to_ascii_uppercase().as_str() {
                    "REPEATABLE" if words.take("READ") => "REPEATABLE-READ",
                    "READ" if words.take("COMMITTED") => "READ-COMMITTED",
                    "READ" if words.take("UNCOMMITTED") => "READ-UNCOMMITTED",
                    "SERIALIZABLE" => "SERIALIZABLE",
                    _ => return Err(words.wrong()),
                };
                found.push(("transaction_isolation", level));
            } else if words.take("READ") {
                let read_only = words.take("ONLY");
                if !read_only && !words.take("WRITE") {
                    return Err(words.wrong());
                }
                found.push(("transaction_read_only", if read_only { "1" } else { "0" }));
            } else {
                return Err(words.wrong());
            }
            if !words.take_token(&Token::Comma) {
                break;
            }
        }
        words.end()?;
        if !of_session && self.is_in_transaction() {
            let message = "Transaction characteristics can't be changed while a transaction is in progress";
            return Err(Error::new(1568, "25001", message));
        }
        let found = found.into_iter().filter(|_| of_session);
        let assignments = found.map(|(name, value)| self.session_assignment(name, &OwnedValue::Text(value.to_owned())));
        let assignments = assignments.collect::<Result<Vec<_>, _>>()?;
        self.assign(assignments.into())
    }

    fn savepoint(&self, name: String) -> Result<(), Error> {
        let commits_each = self.is_autocommit();
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
            let refusal = self.lock_refusal(schema, &table)?;
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
        const COMMAND: &str = "SELECT, LOCK TABLES";
        if schema == catalog::TEST {
            return self.state.scratch_name(table).map(|_| None).ok_or_else(|| Error::unknown_table(schema, table));
        }
        let (_, relation) = self.state.relation(schema, table, COMMAND)?;
        let denied = || self.state.command_denied(COMMAND, &relation.name);
        Ok(match relation.kind {
            Kind::View(_) => None,
            Kind::Information(_) if schema == catalog::INFORMATION_SCHEMA => Some(self.database_denied(schema)),
            Kind::Information(_) => Some(denied()),
            Kind::Table(table) => {
                let rights = &table.declaration().rights;
                let is_changed = rights.insert_delete || !rights.update.is_empty();
                let may_lock = is_changed && self.state.account.right == Right::Control;
                (!may_lock).then(denied)
            }
        })
    }
}

/// What may stand behind START TRANSACTION, of which nothing follows here.
fn skip_characteristics(words: &mut Words<'_>) -> Result<(), Error> {
    if words.end().is_ok() {
        return Ok(());
    }
    loop {
        let is_snapshot = words.take("WITH") && words.take("CONSISTENT") && words.take("SNAPSHOT");
        if !is_snapshot && !(words.take("READ") && (words.take("ONLY") || words.take("WRITE"))) {
            return Err(words.wrong());
        }
        if !words.take_token(&Token::Comma) {
            return words.end();
        }
    }
}
