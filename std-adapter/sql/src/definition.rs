//! Statements that define something, be it a trigger, a view or a column: none is allowed, but those that make and drop tables of schema
//! `test`, which are in [`crate::change`].

use crate::Error;
use crate::session::Session;
use crate::show::Words;
use sqlparser::tokenizer::TokenWithSpan;

const VERBS: [&str; 4] = ["CREATE", "ALTER", "DROP", "RENAME"];

/// What is in a schema, or is one.
const KINDS: [&str; 10] = ["TABLE", "TABLES", "VIEW", "TRIGGER", "EVENT", "PROCEDURE", "FUNCTION", "INDEX", "DATABASE", "SCHEMA"];

impl Session {
    /// The refusal of such a statement, whether the parser knows all of it or not; None: it is another one.
    pub(crate) fn definition_denied(&self, tokens: &[TokenWithSpan], text: &str) -> Option<Error> {
        let mut words = Words::of(tokens, text);
        let verb = VERBS.into_iter().find(|verb| words.take(verb))?;
        let kind = loop {
            match KINDS.into_iter().find(|kind| words.take(kind)) {
                Some(kind) => break kind,
                // OR REPLACE, DEFINER = …, UNIQUE and the like are between them.
                None if matches!(verb, "CREATE" | "ALTER") => words.skip()?,
                None => return None,
            }
        };
        if kind.starts_with("TABLE") && matches!(verb, "CREATE" | "DROP") {
            return None;
        }
        if words.take("IF") {
            let _ = (words.take("NOT"), words.take("EXISTS"));
        }
        Some(self.schema_defined_in(kind, &mut words).map_or_else(|error| error, |schema| self.database_denied(&schema)))
    }

    fn schema_defined_in(&self, kind: &str, words: &mut Words<'_>) -> Result<String, Error> {
        if matches!(kind, "DATABASE" | "SCHEMA") {
            return words.name();
        }
        if kind == "INDEX" {
            words.name()?;
            while !words.take("ON") {
                words.skip().ok_or_else(|| words.wrong())?;
            }
        }
        words.table(&self.state).map(|(schema, _)| schema.to_owned())
    }
}
