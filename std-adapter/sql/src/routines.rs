//! The procedures and functions of `sys`, as `information_schema` and SHOW list them: clients that call one look first for its parameters.

use crate::catalog::{CHARACTER_SET, COLLATION, SYS};
use crate::functions::{FUNCTIONS, Function, Parameter};
use crate::parse::quote;
use crate::state::State;
use crate::{Error, procedures};
use perfschema::render::OwnedValue;

/// The account that MySQL's own have.
const DEFINER: &str = "mysql.sys@localhost";
/// They are as old as the server, and nobody knows how old that is.
const CREATED: &str = "1970-01-01 00:00:00";

/// A procedure or function.
pub(crate) struct Routine {
    pub(crate) name: &'static str,
    pub(crate) parameters: Vec<Parameter>,
    /// None of a procedure.
    pub(crate) returns: Option<&'static str>,
    /// In SQL.
    pub(crate) does: String,
}

impl Routine {
    fn kind(&self) -> &'static str {
        if self.returns.is_some() { "FUNCTION" } else { "PROCEDURE" }
    }

    fn definition(&self) -> String {
        let mode = if self.returns.is_some() { "" } else { "IN " };
        let parameters: Vec<String> = self.parameters.iter().map(|(name, kind)| format!("{mode}{name} {kind}")).collect();
        let returns = self.returns.map(|kind| format!(" RETURNS {kind}")).unwrap_or_default();
        format!("CREATE {} `{}`({}){returns}\n{}", self.kind(), self.name, parameters.join(", "), self.does)
    }
}

fn all(state: &State) -> Vec<Routine> {
    let function = |function: &Function| {
        let (parameters, returns) = function.sys?;
        let names: Vec<&str> = parameters.iter().map(|(name, _)| *name).collect();
        // They are there without a schema, too.
        let does = format!("RETURN {}({})", function.name, names.join(", "));
        Some(Routine { name: function.name, parameters: parameters.to_vec(), returns: Some(returns), does })
    };
    let mut routines = procedures::all(&state.catalog);
    routines.extend(FUNCTIONS.iter().filter_map(function));
    routines.sort_by_key(|routine| routine.name);
    routines
}

/// What `information_schema` says of a type, from DATA_TYPE to DTD_IDENTIFIER; of none it is NULL, but for the first.
fn of_type(dtd: Option<&str>) -> Vec<OwnedValue> {
    let Some(dtd) = dtd else { return std::iter::once("".into()).chain(vec![OwnedValue::Null; 8]).collect() };
    let data_type = dtd.split(['(', ' ']).next().unwrap_or_default();
    let (characters, bytes, precision): (Option<u64>, Option<u64>, Option<u64>) = match data_type {
        "tinyint" => (None, None, Some(3)),
        "bigint" => (None, None, Some(20)),
        "longtext" => (Some(u32::MAX.into()), Some(u32::MAX.into()), None),
        "text" => (Some(u16::MAX.into()), Some(u16::MAX.into()), None),
        _ => {
            let within = dtd.split(['(', ')']).nth(1).unwrap_or_default();
            let longest = || within.split(',').map(|name| name.trim_matches('\'').len() as u64).max();
            let characters = within.parse().ok().or_else(longest);
            (characters, characters.map(|characters| 4 * characters), None)
        }
    };
    let scale = precision.map(|_| 0_u64);
    let text = |text: &str| if characters.is_some() { text.into() } else { OwnedValue::Null };
    vec![
        data_type.into(),
        characters.into(),
        bytes.into(),
        precision.into(),
        scale.into(),
        OwnedValue::Null,
        text(CHARACTER_SET),
        text(COLLATION),
        dtd.into(),
    ]
}

/// `information_schema.ROUTINES`
pub(crate) fn routines(state: &State) -> Vec<Vec<OwnedValue>> {
    let sql_mode = state.variable("sql_mode").unwrap_or_default();
    let row = |routine: Routine| {
        let kind = routine.kind();
        let mut row: Vec<OwnedValue> = vec![routine.name.into(), "def".into(), SYS.into(), routine.name.into(), kind.into()];
        row.extend(of_type(routine.returns));
        row.extend(["SQL".into(), routine.does.into(), OwnedValue::Null, "SQL".into(), "SQL".into(), "NO".into()]);
        let access = if routine.returns.is_some() { "READS SQL DATA" } else { "MODIFIES SQL DATA" };
        row.extend([access.into(), OwnedValue::Null, "INVOKER".into(), CREATED.into(), CREATED.into(), sql_mode.clone()]);
        row.extend(["", DEFINER, CHARACTER_SET, COLLATION, COLLATION].map(OwnedValue::from));
        row
    };
    all(state).into_iter().map(row).collect()
}

/// `information_schema.PARAMETERS`; what a function returns comes before them, without a name.
pub(crate) fn parameters(state: &State) -> Vec<Vec<OwnedValue>> {
    let mut rows = Vec::new();
    for routine in all(state) {
        let returned = routine.returns.map(|kind| (0, OwnedValue::Null, OwnedValue::Null, kind));
        let given =
            (1_u64..).zip(&routine.parameters).map(|(ordinal, (name, kind))| (ordinal, "IN".into(), (*name).into(), *kind));
        for (ordinal, mode, name, kind) in returned.into_iter().chain(given) {
            let mut row: Vec<OwnedValue> = vec!["def".into(), SYS.into(), routine.name.into(), ordinal.into(), mode, name];
            row.extend(of_type(Some(kind)));
            row.push(routine.kind().into());
            rows.push(row);
        }
    }
    rows
}

/// What SHOW CREATE PROCEDURE and SHOW CREATE FUNCTION stand for.
pub(crate) fn create(state: &State, kind: &str, schema: &str, name: &str) -> Result<String, Error> {
    let is_meant = |routine: &Routine| routine.kind() == kind && routine.name.eq_ignore_ascii_case(name);
    let found = if schema == SYS { all(state).into_iter().find(is_meant) } else { None };
    let routine = found.ok_or_else(|| Error::new(1305, "42000", format!("{kind} {name} does not exist")))?;
    let heading = if routine.returns.is_some() { "Function" } else { "Procedure" };
    Ok(format!(
        "SELECT {} AS {heading}, @@sql_mode AS sql_mode, {} AS `Create {heading}`, '{CHARACTER_SET}' AS character_set_client, '{COLLATION}' AS \
         collation_connection, '{COLLATION}' AS `Database Collation`",
        quote(routine.name),
        quote(&routine.definition())
    ))
}
