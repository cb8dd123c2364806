//! PREPARE, EXECUTE and DEALLOCATE PREPARE: statements that a session keeps under a name.

use crate::session::{Outcome, Session};
use crate::show::Words;
use crate::state::lock;
use crate::status::Counter;
use crate::{Error, parse};
use perfschema::render::OwnedValue;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::collections::HashMap;

/// Statements that a session keeps.
const MAX_STATEMENTS: usize = 1024;
/// Bytes that their texts and names may take.
const MAX_BYTES: usize = 8 << 20;

/// The statements of a session: each by its name in lower case.
#[derive(Debug, Default)]
pub(crate) struct Statements {
    texts: HashMap<String, String>,
    bytes: usize,
}

impl Statements {
    fn add(&mut self, name: String, text: String) -> Result<(), Error> {
        if self.texts.len() >= MAX_STATEMENTS {
            let message = format!("Can't create more than max_prepared_stmt_count statements (current value: {MAX_STATEMENTS})");
            return Err(Error::new(1461, "42000", message));
        }
        let bytes = self.bytes + name.len() + text.len();
        if bytes > MAX_BYTES {
            return Err(Error::out_of_memory());
        }
        self.bytes = bytes;
        self.texts.insert(name, text);
        Ok(())
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn remove(&mut self, name: &str) -> bool {
        let removed = self.texts.remove(name);
        self.bytes -= removed.as_ref().map_or(0, |text| name.len() + text.len());
        removed.is_some()
    }
}

/// Whether it is one of these statements, which cannot be prepared themselves.
pub(crate) fn is_about_prepared(tokens: &[TokenWithSpan]) -> bool {
    let is = |index, word| parse::is_word(tokens, index, word);
    is(0, "PREPARE") || is(0, "EXECUTE") || is(0, "DEALLOCATE") || (is(0, "DROP") && is(1, "PREPARE"))
}

pub(crate) fn not_preparable() -> Error {
    Error::new(1295, "HY000", "This command is not supported in the prepared statement protocol yet")
}

fn unknown(name: &str, statement: &str) -> Error {
    Error::new(1243, "HY000", format!("Unknown prepared statement handler ({name}) given to {statement}"))
}

impl Session {
    /// Whether there was one of this name.
    fn forget_prepared(&self, name: &str) -> Result<bool, Error> {
        let mut settings = lock(&self.state.settings);
        let was_there = settings.prepared.remove(name);
        self.state.count_kept(&mut settings)?;
        Ok(was_there)
    }

    /// None: it is another statement.
    pub(crate) fn prepared_statement(&mut self, tokens: &[TokenWithSpan], text: &str) -> Result<Option<Outcome>, Error> {
        if !is_about_prepared(tokens) {
            return Ok(None);
        }
        let mut words = Words::of(tokens, text);
        if words.take("PREPARE") {
            self.count(Counter::ComStmtPrepare, 1);
            let name = words.name()?.to_lowercase();
            if !words.take("FROM") {
                return Err(words.wrong());
            }
            let statement = match words.string() {
                Some(statement) => statement,
                None => self.text_of(&words.user_variable()?),
            };
            words.end()?;
            return self.keep_prepared(name, statement).map(Some);
        }
        if words.take("EXECUTE") {
            self.count(Counter::ComStmtExecute, 1);
            let name = words.name()?;
            let mut values = Vec::new();
            if words.take("USING") {
                values.push(self.state.user_variable(&words.user_variable()?));
                while words.take_token(&Token::Comma) {
                    values.push(self.state.user_variable(&words.user_variable()?));
                }
            }
            words.end()?;
            let kept = lock(&self.state.settings).prepared.texts.get(&name.to_lowercase()).cloned();
            let kept = kept.ok_or_else(|| unknown(&name, "EXECUTE"))?;
            return self.dispatch(&kept, &values).map(Some);
        }
        let _ = words.take("DEALLOCATE") || words.take("DROP");
        if !words.take("PREPARE") {
            return Err(words.wrong());
        }
        self.count(Counter::ComStmtClose, 1);
        let name = words.name()?;
        words.end()?;
        match self.forget_prepared(&name.to_lowercase())? {
            true => Ok(Some(Outcome::done())),
            false => Err(unknown(&name, "DEALLOCATE PREPARE")),
        }
    }

    /// What the variable says as a statement: NULL is a statement that is wrong.
    fn text_of(&self, variable: &str) -> String {
        match self.state.user_variable(variable) {
            OwnedValue::Null => "NULL".to_owned(),
            value => value.as_value().to_string(),
        }
    }

    /// The one before of the same name is gone, even if this one is wrong.
    fn keep_prepared(&mut self, name: String, statement: String) -> Result<Outcome, Error> {
        self.forget_prepared(&name)?;
        self.describe_here(&statement)?;
        let mut settings = lock(&self.state.settings);
        settings.prepared.add(name.clone(), statement)?;
        if let Err(error) = self.state.count_kept(&mut settings) {
            settings.prepared.remove(&name);
            return Err(error);
        }
        Ok(Outcome::Done { matched: 0, changed: 0, info: "Statement prepared".to_owned() })
    }
}
