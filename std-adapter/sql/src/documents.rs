//! Functions of documents. Between functions a document is its text; that it is one is known by where it comes from.

use crate::Error;
use crate::functions::{Arguments, MAX_TEXT};
use crate::json::{self, Json, Path};
use crate::state::State;
use crate::texts::{bounded, integer};
use crate::value::{self, Number};
use rusqlite::Result;
use rusqlite::types::{Value, ValueRef};

/// Functions whose results are documents, those that the dialect writes among them.
pub(crate) const RESULTS: &[&str] =
    &["json_array", "json_object", "json_extract", "json_keys", "json_arrayagg", "json_objectagg", "json_kept", "cast_as_json"];

pub(crate) fn null_name() -> Error {
    Error::new(3158, "22032", "JSON documents may not contain NULL member names.")
}

fn stored(json: &Json) -> Result<Value, Error> {
    bounded(json.to_string())
}

/// What a value is in a document.
fn of(value: ValueRef<'_>) -> Json {
    match value {
        ValueRef::Null => Json::Null,
        ValueRef::Integer(number) => Json::Integer(number.into()),
        ValueRef::Real(number) => Json::Double(number),
        ValueRef::Text(text) => Json::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(_) => match Number::of(value) {
            Some(Number::Integer(number)) => Json::Integer(number),
            Some(Number::Decimal(number)) if number.scale() == 0 => Json::Integer(number.whole()),
            Some(Number::Decimal(number)) => Json::Double(number.shown().real()),
            Some(Number::Real(number)) => Json::Double(number),
            None => Json::Null,
        },
    }
}

/// An argument that is to be a document, of the function of this name; None for NULL.
fn document(arguments: Arguments<'_>, index: usize, function: &str) -> Result<Option<Json>, Error> {
    match arguments[index] {
        ValueRef::Null => Ok(None),
        ValueRef::Text(text) => {
            Json::parse(&String::from_utf8_lossy(text)).map(Some).map_err(|wrong| wrong.of(index + 1, function))
        }
        _ => {
            let message = format!(
                "Invalid data type for JSON data in argument {} to function {function}; a JSON string or JSON type is required.",
                index + 1
            );
            Err(Error::new(3146, "22032", message))
        }
    }
}

/// The paths from an argument on; None if one is NULL.
fn paths(arguments: Arguments<'_>, first: usize) -> Result<Option<Vec<Path>>, Error> {
    let texts: Option<Vec<String>> = arguments[first.min(arguments.len())..].iter().map(|path| value::text(*path)).collect();
    texts.map(|texts| texts.iter().map(|text| Path::parse(text)).collect()).transpose()
}

/// The document, or what its one path finds in it; None if that is nothing.
fn at_path(arguments: Arguments<'_>, first: usize, function: &str) -> Result<Option<Json>, Error> {
    let Some((json, paths)) = document(arguments, 0, function)?.zip(paths(arguments, first)?) else { return Ok(None) };
    match paths.as_slice() {
        [] => Ok(Some(json)),
        [path, ..] if path.finds_many() => Err(Error::new(
            3149,
            "42000",
            "In this situation, path expressions may not contain the * and ** tokens or an array range.",
        )),
        [path, ..] => Ok(json.find(path)?.first().map(|found| (*found).clone())),
    }
}

/// Any value as a document; with a second argument, one that is 1 or 0 as true or false.
pub(crate) fn json_of(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    match arguments {
        [ValueRef::Integer(truth), _] => Ok(Value::Text((*truth != 0).to_string())),
        _ => stored(&of(arguments[0])),
    }
}

/// A document as it is; NULL as one.
pub(crate) fn json_kept(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    Ok(Value::Text(value::text(arguments[0]).unwrap_or_else(|| Json::Null.to_string())))
}

/// What a document is sorted by: a number as a number, a text without its quotation marks.
pub(crate) fn json_order(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some(text) = value::text(arguments[0]) else { return Ok(Value::Null) };
    match Json::parse(&text) {
        Ok(Json::Integer(number)) => Number::Integer(number).store(),
        Ok(Json::Double(number)) => Number::Real(number).store(),
        Ok(Json::Text(text)) => Ok(Value::Text(text)),
        _ => Ok(Value::Text(text)),
    }
}

/// Of documents.
pub(crate) fn json_array(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let elements: Vec<String> = arguments.iter().filter_map(|element| value::text(*element)).collect();
    made(format!("[{}]", elements.join(", ")), "json_array")
}

/// What was made of documents, each of which may be as deep as is allowed, if it is one itself.
fn made(text: String, function: &str) -> Result<Value, Error> {
    let made = bounded(text)?;
    if let Value::Text(text) = &made {
        Json::parse(text).map_err(|wrong| wrong.of(1, function))?;
    }
    Ok(made)
}

/// Of names and documents.
pub(crate) fn json_object(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let mut members = json::Object::new();
    for pair in arguments.chunks_exact(2) {
        let name = value::text(pair[0]).ok_or_else(null_name)?;
        let document = Json::parse(&value::text(pair[1]).unwrap_or_default()).map_err(|wrong| wrong.of(1, "json_object"))?;
        members.insert(json::key(name), document);
    }
    made(Json::Object(members).to_string(), "json_object")
}

pub(crate) fn json_extract(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some((json, paths)) = document(arguments, 0, "json_extract")?.zip(paths(arguments, 1)?) else { return Ok(Value::Null) };
    let mut found = Vec::new();
    for path in &paths {
        found.extend(json.find(path)?);
    }
    match (found.as_slice(), paths.as_slice()) {
        ([], _) => Ok(Value::Null),
        ([one], [path]) if !path.finds_many() => stored(one),
        _ => {
            let mut all = String::from("[");
            for (index, one) in found.iter().enumerate() {
                all.push_str(if index > 0 { ", " } else { "" });
                all.push_str(&one.to_string());
                if all.len() > MAX_TEXT {
                    return Err(Error::too_long());
                }
            }
            bounded(all + "]")
        }
    }
}

/// What a path finds, if that is neither an object nor an array.
pub(crate) fn json_value(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    Ok(match at_path(arguments, 1, "json_value")? {
        None | Some(Json::Null | Json::Array(_) | Json::Object(_)) => Value::Null,
        Some(Json::Text(text)) => Value::Text(text),
        Some(other) => Value::Text(other.to_string()),
    })
}

pub(crate) fn json_unquote(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some(text) = value::text(arguments[0]) else { return Ok(Value::Null) };
    if text.len() < 2 || !text.starts_with('"') || !text.ends_with('"') {
        return Ok(Value::Text(text));
    }
    match Json::parse(&text).map_err(|wrong| wrong.of(1, "json_unquote"))? {
        Json::Text(text) => Ok(Value::Text(text)),
        other => stored(&other),
    }
}

pub(crate) fn json_quote(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    match arguments[0] {
        ValueRef::Null => Ok(Value::Null),
        _ => stored(&Json::Text(value::text(arguments[0]).unwrap_or_default())),
    }
}

pub(crate) fn json_valid(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    Ok(match arguments[0] {
        ValueRef::Null => Value::Null,
        ValueRef::Text(text) => Value::Integer(Json::parse(&String::from_utf8_lossy(text)).is_ok().into()),
        _ => Value::Integer(0),
    })
}

pub(crate) fn json_type(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    Ok(document(arguments, 0, "json_type")?.map_or(Value::Null, |json| Value::Text(json.type_name().to_owned())))
}

pub(crate) fn json_length(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    Ok(at_path(arguments, 1, "json_length")?.map_or(Value::Null, |json| integer(json.length())))
}

pub(crate) fn json_depth(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    Ok(document(arguments, 0, "json_depth")?.map_or(Value::Null, |json| integer(json.depth())))
}

pub(crate) fn json_keys(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    match at_path(arguments, 1, "json_keys")? {
        Some(Json::Object(members)) => stored(&Json::Array(members.into_keys().map(|(_, name)| Json::Text(name)).collect())),
        _ => Ok(Value::Null),
    }
}

pub(crate) fn json_contains(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let target = at_path(arguments, 2, "json_contains")?;
    Ok(match target.zip(document(arguments, 1, "json_contains")?) {
        Some((target, wanted)) => {
            // Each element is compared with each.
            let (pieces, others) = (target.to_string().len(), wanted.to_string().len());
            if pieces.saturating_mul(others) > 1 << 26 {
                return Err(Error::too_long());
            }
            Value::Integer(target.contains(&wanted).into())
        }
        None => Value::Null,
    })
}

pub(crate) fn json_contains_path(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some(how) = value::text(arguments[1]) else { return Ok(Value::Null) };
    let all = how.eq_ignore_ascii_case("all");
    if !all && !how.eq_ignore_ascii_case("one") {
        let message = "The oneOrAll argument to json_contains_path may take these values: 'one' or 'all'.";
        return Err(Error::new(3154, "42000", message));
    }
    let Some((json, paths)) = document(arguments, 0, "json_contains_path")?.zip(paths(arguments, 2)?) else {
        return Ok(Value::Null);
    };
    let mut found = Vec::new();
    for path in &paths {
        found.push(!json.find(path)?.is_empty());
    }
    Ok(Value::Integer(if all { found.iter().all(|found| *found) } else { found.contains(&true) }.into()))
}

pub(crate) fn json_pretty(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    document(arguments, 0, "json_pretty")?.map_or(Ok(Value::Null), |json| bounded(json.pretty()))
}

/// A text is read as a document, all else becomes one.
pub(crate) fn cast_as_json(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    match arguments[0] {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Text(_) => document(arguments, 0, "cast_as_json")?.map_or(Ok(Value::Null), |json| stored(&json)),
        other => stored(&of(other)),
    }
}
