//! SET of variables.

use crate::change::select_of;
use crate::collation::{check_character_set, check_collation};
use crate::dialect::literal;
use crate::session::{Outcome, Session};
use crate::show::Words;
use crate::state::lock;
use crate::variables::Checked;
use crate::{Error, parse, variables};
use perfschema::metric::MonitorCommand;
use perfschema::render::OwnedValue;
use sqlparser::ast::{ContextModifier, Expr, ObjectName, SelectItem, Set, Statement, Value};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// What a statement assigns, as far as it is known before anything is assigned: where one assignment cannot be, none is.
#[derive(Default)]
pub(crate) struct Assignments {
    /// To the user's variables: only these may still fail, all together.
    of_user: Vec<(String, OwnedValue)>,
    others: Vec<Assignment>,
}

impl From<Vec<Assignment>> for Assignments {
    fn from(others: Vec<Assignment>) -> Assignments {
        Assignments { of_user: Vec::new(), others }
    }
}

pub(crate) enum Assignment {
    Session(String, Checked),
    /// None where it is warned of that nothing is meant.
    Monitor(MonitorCommand, Option<String>),
}

impl Session {
    pub(crate) fn set(&mut self, set: Set, parameters: &[OwnedValue]) -> Result<Outcome, Error> {
        let assignments = self.assignments(set, parameters)?;
        self.assign(assignments)
    }

    fn assignments(&mut self, set: Set, parameters: &[OwnedValue]) -> Result<Assignments, Error> {
        let assignments: Vec<(bool, ObjectName, Expr)> = match set {
            Set::SetTransaction { .. } => Vec::new(),
            Set::SingleAssignment { scope, variable, mut values, .. } => match (values.pop(), values.is_empty()) {
                (Some(value), true) => vec![(is_global(scope.as_ref()), variable, value)],
                _ => return Err(Error::unsupported("SET of several values")),
            },
            Set::MultipleAssignments { assignments } => {
                assignments.into_iter().map(|one| (is_global(one.scope.as_ref()), one.name, one.value)).collect()
            }
            other => return Err(Error::unsupported(&other.to_string())),
        };
        let mut all = Assignments::default();
        if assignments.is_empty() {
            return Ok(all);
        }
        let values: Vec<SelectItem> = assignments
            .iter()
            .map(|(_, _, value)| match value {
                // `SET sql_mode = ansi`: a bare word is a text.
                Expr::Identifier(name) if !name.value.starts_with('@') => {
                    SelectItem::UnnamedExpr(literal(Value::SingleQuotedString(name.value.clone())))
                }
                other => SelectItem::UnnamedExpr(other.clone()),
            })
            .collect();
        let mut query = parse::template("SELECT 1");
        select_of(&mut query)?.projection = values;
        let grid = self.run(&mut query, parameters)?;
        let values = grid.rows.into_iter().next().unwrap_or_default();
        for ((global, name, _), value) in assignments.iter().zip(values) {
            self.add_assignment(&mut all, *global, name, value)?;
        }
        Ok(all)
    }

    fn add_assignment(&self, all: &mut Assignments, global: bool, name: &ObjectName, value: OwnedValue) -> Result<(), Error> {
        let parts: Vec<&str> = name.0.iter().filter_map(|part| part.as_ident()).map(|ident| ident.value.as_str()).collect();
        let (global, name) = match parts.as_slice() {
            [user] if user.starts_with('@') && !user.starts_with("@@") => {
                all.of_user.push((user[1..].to_owned(), value));
                return Ok(());
            }
            [name] => (global, name.trim_start_matches('@')),
            [scope, name] => (scope.eq_ignore_ascii_case("@@global"), *name),
            _ => return Err(Error::syntax(&name.to_string(), 1)),
        };
        if let Some(command) = MonitorCommand::from_variable(name) {
            all.others.push(Assignment::Monitor(command, self.monitored(command, global, value)?));
            return Ok(());
        }
        if !global {
            all.others.push(self.session_assignment(name, &value)?);
            return Ok(());
        }
        if self.state.variable(name).is_none() {
            return Err(Error::unknown_variable(name));
        }
        self.may_control("SUPER or SYSTEM_VARIABLES_ADMIN")?;
        let (errno, why) = match variables::is_session_only(name) {
            true => (1228, "SESSION variable and can't be used with SET GLOBAL"),
            false => (1238, "read only variable"),
        };
        Err(Error::new(errno, "HY000", format!("Variable '{name}' is a {why}")))
    }

    pub(crate) fn session_assignment(&self, name: &str, value: &OwnedValue) -> Result<Assignment, Error> {
        let name = name.to_ascii_lowercase();
        let checked = variables::check(&self.state, &name, value)?;
        Ok(Assignment::Session(name, checked))
    }

    pub(crate) fn assign(&mut self, all: Assignments) -> Result<Outcome, Error> {
        self.state.set_user_variables(all.of_user)?;
        for assignment in all.others {
            match assignment {
                Assignment::Session(name, value) => self.set_variable(name, value),
                Assignment::Monitor(command, target) => self.monitor(command, target.as_deref()),
            }
        }
        Ok(Outcome::done())
    }

    /// `SET NAMES …` and `SET CHARACTER SET …`; None if there is neither.
    pub(crate) fn set_characters(
        &mut self,
        tokens: &[TokenWithSpan],
        text: &str,
        parameters: &[OwnedValue],
    ) -> Result<Option<Outcome>, Error> {
        let Some(Characters { variables, others }) = Characters::of(tokens, text)? else { return Ok(None) };
        let mut all = match others {
            Some(set) => self.assignments(set, parameters)?,
            None => Assignments::default(),
        };
        for (name, value) in variables {
            all.others.push(self.session_assignment(name, &OwnedValue::Text(value))?);
        }
        self.assign(all).map(Some)
    }

    fn set_variable(&mut self, name: String, value: Checked) {
        let (text, warning) = match value {
            Checked::Default => (None, None),
            Checked::Value(text) => (Some(text), None),
            Checked::Nearest(text, error) => (Some(text), Some(error)),
        };
        // What was not committed each by itself is so now.
        if name == "autocommit" && text.as_deref() != Some("0") && !self.is_autocommit() {
            self.commit();
        }
        if let Some(error) = warning {
            self.state.warn("Warning", error);
        }
        let mut settings = lock(&self.state.settings);
        // The old names of what has a new one.
        let other = match name.as_str() {
            "transaction_isolation" => Some("tx_isolation"),
            "tx_isolation" => Some("transaction_isolation"),
            "transaction_read_only" => Some("tx_read_only"),
            "tx_read_only" => Some("transaction_read_only"),
            _ => None,
        };
        for name in other.map(str::to_owned).into_iter().chain([name]) {
            match &text {
                None => settings.variables.remove(&name),
                Some(text) => settings.variables.insert(name, text.clone()),
            };
        }
    }
}

/// What `SET NAMES …` and `SET CHARACTER SET …` set, and the assignments among which they stand.
pub(crate) struct Characters {
    variables: Vec<(&'static str, String)>,
    others: Option<Set>,
}

impl Characters {
    /// None if it is another statement.
    pub(crate) fn of(tokens: &[TokenWithSpan], text: &str) -> Result<Option<Characters>, Error> {
        if !parse::is_word(tokens, 0, "SET") {
            return Ok(None);
        }
        let mut depth = 0_usize;
        let is_comma = |token: &TokenWithSpan| {
            match token.token {
                Token::LParen => depth += 1,
                Token::RParen => depth = depth.saturating_sub(1),
                _ => {}
            }
            token.token == Token::Comma && depth == 0
        };
        let (mut variables, mut assignments) = (Vec::new(), Vec::new());
        for part in tokens.get(1..).unwrap_or_default().split(is_comma) {
            let mut words = Words::of(part, text);
            let is_names = words.take("NAMES");
            if !(is_names || words.take("CHARSET") || words.take("CHARACTER") && words.take("SET")) {
                assignments.push(part);
                continue;
            }
            let name = |words: &mut Words<'_>| words.string().map_or_else(|| words.name(), Ok);
            let characters = name(&mut words)?;
            let collation = if is_names && words.take("COLLATE") { name(&mut words)? } else { "default".to_owned() };
            words.end()?;
            let is_default = |name: &str| name.eq_ignore_ascii_case("default");
            let unless_default = |name, check: fn(&str) -> Result<(), Error>| if is_default(name) { Ok(()) } else { check(name) };
            unless_default(&characters, check_character_set)?;
            unless_default(&collation, check_collation)?;
            let is_of = |collation: &str, characters: &str| {
                collation.strip_prefix(characters).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
            };
            let (lower, of) = (collation.to_ascii_lowercase(), characters.to_ascii_lowercase());
            let of = if of == "utf8" { "utf8mb3".to_owned() } else { of };
            if lower != "default" && !is_of(&lower, &of) && !(of == "utf8mb3" && is_of(&lower, "utf8")) {
                let message = format!("COLLATION '{collation}' is not valid for CHARACTER SET '{characters}'");
                return Err(Error::new(1253, "42000", message));
            }
            variables.extend(["character_set_client", "character_set_results"].map(|name| (name, characters.clone())));
            // SET CHARACTER SET leaves the connection that of the schema.
            let connection = if is_names { characters } else { "default".to_owned() };
            variables.extend([("character_set_connection", connection), ("collation_connection", collation)]);
        }
        if variables.is_empty() {
            return Ok(None);
        }
        if assignments.is_empty() {
            return Ok(Some(Characters { variables, others: None }));
        }
        let comma = |mut token: TokenWithSpan| {
            token.token = Token::Comma;
            token
        };
        let set = tokens[..1].to_vec();
        let rest = assignments.join(&comma(tokens[0].clone()));
        match parse::parse([set, rest].concat(), text)? {
            Statement::Set(others) => Ok(Some(Characters { variables, others: Some(others) })),
            other => Err(Error::unsupported(&other.to_string())),
        }
    }
}

fn is_global(scope: Option<&ContextModifier>) -> bool {
    matches!(scope, Some(ContextModifier::Global))
}
